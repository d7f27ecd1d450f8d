//! Sets of numbers, as languages of texts that are closed under spelling: with a text, every plain text of the same value.
//!
//! So the Boolean operations on texts are those on values: "not an integer" leaves out `1.0`, too. What is written is
//! cut down only at the end, to the *profile* of the set (integers and constants without a fraction of zeros), which
//! always holds the shortest spelling of each value. Plain texts have no exponent; those with one are written only
//! where all numbers are allowed.

use larkspur_grammar::number::{Decimal, NumberError, NumberKind, NumberRange, number_regex};
use larkspur_grammar::{ByteSet, Limits, RegexId, RegexNode, RegexSet};

/// Digits of a constant, a count or a bound written out, at most.
const DIGITS_MAX: i64 = 10_000;

/// A set of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Numbers {
    /// All plain texts of its values.
    pub closed: RegexId,
    /// The plain texts that may be written, of any value; holds the shortest of each value.
    pub profile: RegexId,
    /// Texts with an exponent may be written: only if the set is that of all numbers.
    pub exponents: bool,
}

impl Numbers {
    /// No number.
    pub fn none(set: &mut RegexSet) -> Self {
        let profile = all_plain(set);
        Self { closed: set.nothing(), profile, exponents: false }
    }
    /// Every number.
    pub fn all(set: &mut RegexSet) -> Self {
        let closed = all_plain(set);
        Self { closed, profile: closed, exponents: true }
    }
    /// Numbers without a fraction.
    pub fn integers(set: &mut RegexSet) -> Self {
        let integer = integer(set);
        Self { closed: with_zeros(set, integer), profile: integer, exponents: false }
    }
    /// The numbers of a range, which is one that has constraints.
    ///
    /// Errors: the keyword that cannot be written as a regex, and why.
    pub fn range(set: &mut RegexSet, range: &NumberRange, limits: &Limits) -> Result<Self, RangeError> {
        let before = set.len();
        let regex = match number_regex(range, limits, set) {
            Ok(regex) => regex,
            Err(NumberError::Empty) => return Ok(Self::none(set)),
            Err(NumberError::DivisorNotPositive) => return Err(RangeError::NotPositive),
            Err(NumberError::DivisorTooLong) => return Err(RangeError::DivisorTooLarge),
            Err(NumberError::TooLarge { limit, .. }) => return Err(RangeError::TooLarge { limit }),
        };
        // The engine computes remainders in 32 bits.
        let most = u64::from(u32::MAX);
        let too_large = |node: &RegexNode| match *node {
            RegexNode::MultipleOf { divisor, scale } => {
                let scaled = 10u64.checked_pow(scale).and_then(|power| power.checked_mul(divisor.max(9)));
                scaled.is_none_or(|x| x >= most) || divisor.checked_mul(20).is_none_or(|x| x >= most)
            }
            _ => false,
        };
        if range.multiple_of.is_some() && set.iter().skip(before).any(|(_, node)| too_large(node)) {
            return Err(RangeError::DivisorTooLarge);
        }
        Ok(match range.kind {
            NumberKind::Integer => Self { closed: with_zeros(set, regex), profile: integer(set), exponents: false },
            NumberKind::Number => Self { closed: regex, profile: all_plain(set), exponents: false },
        })
    }
    /// These values, each given as its shortest plain text.
    pub fn values(set: &mut RegexSet, texts: &[String]) -> Self {
        let literals = |set: &mut RegexSet, fractions: bool| {
            let texts = texts.iter().filter(|text| text.contains('.') == fractions);
            let literals: Vec<RegexId> = texts.map(|text| set.literal(text.as_bytes())).collect();
            set.or(&literals)
        };
        let whole = literals(set, false);
        let fractions = literals(set, true);
        let profile = set.or(&[whole, fractions]);
        let zero = set.literal(b"0");
        let zeros = set.repeat(zero, 0, None);
        let mut closed = vec![with_zeros(set, whole), set.concat(&[fractions, zeros])];
        if texts.iter().any(|text| text == "0") {
            let minus_zero = set.literal(b"-0");
            closed.push(with_zeros(set, minus_zero));
        }
        let any = all_plain(set);
        let none = texts.is_empty();
        Self { closed: set.or(&closed), profile: if none { any } else { profile }, exponents: false }
    }
    /// Numbers of both.
    pub fn and(set: &mut RegexSet, a: Self, b: Self) -> Self {
        let any = all_plain(set);
        Self {
            closed: within(set, any, a.closed, b.closed),
            profile: within(set, any, a.profile, b.profile),
            exponents: a.exponents && b.exponents,
        }
    }
    /// Numbers of either.
    pub fn or(set: &mut RegexSet, a: Self, b: Self) -> Self {
        let any = all_plain(set);
        let none = set.nothing();
        if a.closed == none {
            return b;
        }
        if b.closed == none {
            return a;
        }
        let either = |set: &mut RegexSet, a, b| if a == any || b == any { any } else { set.or(&[a, b]) };
        // A text may be written if its own side writes it so.
        let (written_a, written_b) = (a.written(set), b.written(set));
        let closed = either(set, a.closed, b.closed);
        let written = either(set, written_a, written_b);
        Self { closed, profile: written, exponents: a.exponents || b.exponents }
    }
    /// Numbers that are not in the set.
    pub fn not(self, set: &mut RegexSet) -> Self {
        let any = all_plain(set);
        if self.closed == any {
            return Self::none(set);
        }
        if *set.node(self.closed) == RegexNode::Nothing {
            return Self::all(set);
        }
        let not = set.not(self.closed);
        Self { closed: set.and(&[not, any]), profile: any, exponents: false }
    }
    /// The plain texts that are written.
    fn written(self, set: &mut RegexSet) -> RegexId {
        let any = all_plain(set);
        within(set, any, self.closed, self.profile)
    }
    /// The texts that are written.
    pub fn texts(self, set: &mut RegexSet) -> RegexId {
        let plain = self.written(set);
        if !self.exponents {
            return plain;
        }
        let all = NumberRange::all(NumberKind::Number);
        number_regex(&all, &Limits::default(), set).expect("all numbers have a regex")
    }
}

/// Why a range has no regex.
pub(crate) enum RangeError {
    NotPositive,
    DivisorTooLarge,
    TooLarge { limit: usize },
}

/// `a & b` of languages within `any`, left out where one of them is `any`.
fn within(set: &mut RegexSet, any: RegexId, a: RegexId, b: RegexId) -> RegexId {
    match (a == any, b == any) {
        (true, _) => b,
        (_, true) => a,
        _ => set.and(&[a, b]),
    }
}

/// `-?(0|[1-9][0-9]*)`.
fn integer(set: &mut RegexSet) -> RegexId {
    let minus = set.literal(b"-");
    let sign = set.optional(minus);
    let first = set.bytes_class(b'1', b'9');
    let digit = set.bytes_class(b'0', b'9');
    let digits = set.repeat(digit, 0, None);
    let long = set.concat(&[first, digits]);
    let zero = set.literal(b"0");
    let whole = set.or(&[zero, long]);
    set.concat(&[sign, whole])
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?`.
fn all_plain(set: &mut RegexSet) -> RegexId {
    let integer = integer(set);
    let digit = set.bytes_class(b'0', b'9');
    let digits = set.repeat(digit, 1, None);
    let point = set.literal(b".");
    let fraction = set.concat(&[point, digits]);
    let fraction = set.optional(fraction);
    set.concat(&[integer, fraction])
}

/// `integers(\.0+)?`.
fn with_zeros(set: &mut RegexSet, integers: RegexId) -> RegexId {
    let zero = set.literal(b"0");
    let zeros = set.repeat(zero, 1, None);
    let point = set.literal(b".");
    let fraction = set.concat(&[point, zeros]);
    let fraction = set.optional(fraction);
    set.concat(&[integers, fraction])
}

/// Classes of digits that the emptiness search can read.
trait Digits {
    fn bytes_class(&mut self, low: u8, high: u8) -> RegexId;
}

impl Digits for RegexSet {
    fn bytes_class(&mut self, low: u8, high: u8) -> RegexId {
        self.bytes(ByteSet::range(low, high))
    }
}

/// The shortest plain text of a JSON number; `None` if it has over [`DIGITS_MAX`] digits.
pub(crate) fn shortest_text(number: &str) -> Option<String> {
    let value = Decimal::parse(number)?;
    if value.is_zero() {
        return Some("0".to_owned());
    }
    let (sign, text) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let digits = format!("{whole}{fraction}");
    let first = digits.find(|c| c != '0')?;
    let point = (whole.len() as i64).checked_add(exponent)?.checked_sub(first as i64)?;
    let digits = digits[first..].trim_end_matches('0');
    let len = digits.len() as i64;
    if point.abs() > DIGITS_MAX || len > DIGITS_MAX {
        return None;
    }
    Some(if point <= 0 {
        format!("{sign}0.{}{digits}", "0".repeat(-point as usize))
    } else if point >= len {
        format!("{sign}{digits}{}", "0".repeat((point - len) as usize))
    } else {
        let (whole, fraction) = digits.split_at(point as usize);
        format!("{sign}{whole}.{fraction}")
    })
}

/// A count (`minLength` and the like): a whole number from 0 up, `2.0` included; past 64 bits it is the greatest there.
/// `None` if the number is none.
pub(crate) fn count(number: &str) -> Option<u64> {
    let value = Decimal::parse(number)?;
    if value.is_negative() || !value.is_integer() {
        return None;
    }
    match shortest_text(number) {
        Some(text) => Some(text.parse().unwrap_or(u64::MAX)),
        None => Some(u64::MAX),
    }
}
