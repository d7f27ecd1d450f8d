//! Numbers in a range, as regexes over their decimal texts: `%regex {"type": "number", "minimum": …}` and JSON Schema.
//!
//! All arithmetic is on digit strings of any length; nothing is rounded. A language is built digit by digit from the
//! right, as in any comparison of equally long numerals: "equal so far and then less", and so on.

use std::cmp::Ordering;

use crate::json::check_number;

/// A decimal number of any size: `±0.d₁d₂…dₙ · 10^point`.
#[derive(Clone, PartialEq, Eq, Debug, Hash)]
pub struct Decimal {
    negative: bool,
    /// Digits 0 to 9, without zeros at either end; empty for the value 0, which is not negative and has `point` 0.
    digits: Box<[u8]>,
    /// Digits before the decimal point; negative if zeros follow the point.
    point: i64,
}

impl Decimal {
    /// The value of a JSON number; `None` if the text is not one or its exponent is beyond ±10^17.
    pub fn parse(text: &str) -> Option<Self> {
        check_number(text).ok()?;
        let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits: Vec<u8> = whole.bytes().chain(fraction.bytes()).map(|b| b - b'0').collect();
        if digits.iter().all(|&d| d == 0) {
            return Some(Self::zero());
        }
        let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
        if exponent.unsigned_abs() > 100_000_000_000_000_000 {
            return None;
        }
        Some(Self::new(negative, &digits, exponent + whole.len() as i64))
    }
    /// The value 0.
    pub fn zero() -> Self {
        Self { negative: false, digits: Box::default(), point: 0 }
    }
    fn new(negative: bool, digits: &[u8], point: i64) -> Self {
        let Some(first) = digits.iter().position(|&d| d != 0) else { return Self::zero() };
        let last = digits.iter().rposition(|&d| d != 0).unwrap_or(first);
        Self { negative, digits: digits[first..=last].into(), point: point - first as i64 }
    }
    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }
    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.negative
    }
    /// Whether it has no fraction.
    pub fn is_integer(&self) -> bool {
        self.digits.len() as i64 <= self.point.max(0)
    }
    /// Without the sign.
    pub fn abs(&self) -> Self {
        Self { negative: false, ..self.clone() }
    }
    /// With the other sign.
    pub fn negate(&self) -> Self {
        Self { negative: !self.negative && !self.is_zero(), ..self.clone() }
    }
}

impl From<i64> for Decimal {
    fn from(value: i64) -> Self {
        let digits: Vec<u8> = value.unsigned_abs().to_string().bytes().map(|b| b - b'0').collect();
        Self::new(value < 0, &digits, digits.len() as i64)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let magnitude = |a: &Self, b: &Self| match (a.is_zero(), b.is_zero()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (false, false) => a.point.cmp(&b.point).then_with(|| a.digits.cmp(&b.digits)),
        };
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => magnitude(self, other),
            (true, true) => magnitude(other, self),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

use crate::limits::Limits;
use crate::regex::{ByteSet, RegexId, RegexSet};

/// Which texts count as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberKind {
    /// `-?(0|[1-9][0-9]*)`.
    Integer,
    /// `-?(0|[1-9][0-9]*)(\.[0-9]+)?`, and only where there are no constraints also `([eE][+-]?[0-9]+)?`.
    Number,
}

/// One end of a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Bound {
    /// The value.
    pub value: Decimal,
    /// Whether the value itself is outside.
    pub exclusive: bool,
}

/// Which numbers: JSON Schema's numeric keywords.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NumberRange {
    /// Which texts.
    pub kind: NumberKind,
    /// `minimum` or `exclusiveMinimum`.
    pub minimum: Option<Bound>,
    /// `maximum` or `exclusiveMaximum`.
    pub maximum: Option<Bound>,
    /// `multipleOf`; must be positive.
    pub multiple_of: Option<Decimal>,
}

impl NumberRange {
    /// All numbers of a kind.
    pub fn all(kind: NumberKind) -> Self {
        Self { kind, minimum: None, maximum: None, multiple_of: None }
    }
    /// Adds a lower bound; of two the tighter counts.
    pub fn at_least(mut self, value: Decimal, exclusive: bool) -> Self {
        let looser = |old: &Bound| old.value < value || (old.value == value && exclusive);
        if self.minimum.as_ref().is_none_or(looser) {
            self.minimum = Some(Bound { value, exclusive });
        }
        self
    }
    /// Adds an upper bound; of two the tighter counts.
    pub fn at_most(mut self, value: Decimal, exclusive: bool) -> Self {
        let looser = |old: &Bound| old.value > value || (old.value == value && exclusive);
        if self.maximum.as_ref().is_none_or(looser) {
            self.maximum = Some(Bound { value, exclusive });
        }
        self
    }
    /// Sets `multipleOf`.
    pub fn multiple_of(mut self, divisor: Decimal) -> Self {
        self.multiple_of = Some(divisor);
        self
    }
}

/// Why there is no regex for a range.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NumberError {
    /// No number is in the range (and a multiple of the divisor).
    Empty,
    /// The divisor is 0 or negative.
    DivisorNotPositive,
    /// The divisor has more significant digits than 64 bits hold.
    DivisorTooLong,
    /// Writing a bound out takes too many regex nodes.
    TooLarge {
        /// [`Limits::regex_nodes_max`].
        limit: usize,
        /// Nodes needed, about.
        used: usize,
    },
}

/// The numbers of `range` as a regex.
pub fn number_regex(range: &NumberRange, _limits: &Limits, set: &mut RegexSet) -> Result<RegexId, NumberError> {
    let minus = set.literal(b"-");
    let minus = set.optional(minus);
    let digit = set.bytes(ByteSet::range(b'0', b'9'));
    let first = set.bytes(ByteSet::range(b'1', b'9'));
    let zero = set.literal(b"0");
    let digits = set.repeat(digit, 0, None);
    let more = set.concat(&[first, digits]);
    let integer = set.or(&[zero, more]);
    if range.kind == NumberKind::Integer {
        return Ok(set.concat(&[minus, integer]));
    }
    let point = set.literal(b".");
    let digits = set.repeat(digit, 1, None);
    let fraction = set.concat(&[point, digits]);
    let fraction = set.optional(fraction);
    Ok(set.concat(&[minus, integer, fraction]))
}
