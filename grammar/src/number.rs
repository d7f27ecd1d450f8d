//! Numbers in a range, as regexes over their decimal texts: `%regex {"type": "number", "minimum": …}` and JSON Schema.
//!
//! All arithmetic is on digit strings of any length; nothing is rounded. A language is built digit by digit from the
//! right, as in any comparison of equally long numerals: "equal so far and then less", and so on.

mod algebra;
mod automaton;
mod digits;
mod language;
mod multiples;

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::json::check_number;
use crate::limits::Limits;
use crate::regex::{RegexId, RegexSet};
pub use automaton::{NumberCombination, NumberLeaf, PlainText, combined_numbers, is_number_in};

/// The largest exponent that is read.
const EXPONENT_MAX: u64 = 100_000_000_000_000_000;

/// A decimal number of any size: `±0.d₁d₂…dₙ · 10^point`.
#[derive(Clone, PartialEq, Eq, Debug, Hash, Serialize, Deserialize)]
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
        if exponent.unsigned_abs() > EXPONENT_MAX {
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
    /// Whether its digits are as said above, and its exponent is one that [`parse`](Self::parse) takes. For what was read.
    pub(crate) fn is_normal(&self) -> bool {
        let ends = [self.digits.first(), self.digits.last()];
        let is_nonzero = ends.iter().all(|end| end.is_some_and(|&digit| digit != 0));
        let is_zero = self.digits.is_empty() && !self.negative && self.point == 0;
        let is_near = self.point.unsigned_abs() <= EXPONENT_MAX + self.digits.len() as u64;
        (is_nonzero || is_zero) && self.digits.iter().all(|&digit| digit <= 9) && is_near
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

impl Decimal {
    /// The digits before the point, without leading zeros; `0` for none.
    fn whole(&self) -> Vec<u8> {
        let len = usize::try_from(self.point).unwrap_or(0);
        let digits = self.digits.iter().copied().chain(std::iter::repeat(0)).take(len);
        if len == 0 { vec![0] } else { digits.collect() }
    }
    /// The digits behind the point, without zeros at the end.
    fn fraction(&self) -> Vec<u8> {
        let zeros = usize::try_from(-self.point).unwrap_or(0);
        let skip = usize::try_from(self.point).unwrap_or(0);
        let digits = self.digits.iter().copied().skip(skip);
        if self.digits.is_empty() { Vec::new() } else { std::iter::repeat_n(0, zeros).chain(digits).collect() }
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

/// Which texts count as numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumberKind {
    /// `-?(0|[1-9][0-9]*)`.
    Integer,
    /// `-?(0|[1-9][0-9]*)(\.[0-9]+)?`, and only where there are no constraints also `([eE][+-]?[0-9]+)?`.
    Number,
}

/// One end of a range.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Bound {
    /// The value.
    pub value: Decimal,
    /// Whether the value itself is outside.
    pub exclusive: bool,
}

/// Which numbers: JSON Schema's numeric keywords.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
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
    /// The divisor has more significant digits than 64 bits hold, or an exponent beyond 32 bits.
    DivisorTooLong,
    /// Writing a bound out takes too many regex nodes.
    TooLarge {
        /// [`Limits::regex_nodes_max`].
        limit: usize,
        /// Nodes needed, about.
        used: usize,
    },
}

/// The numbers of `range` as a regex: all texts of its kind whose value is in it. `-0` has the value 0, and zeros at the
/// end of a fraction do not count.
///
/// Errors: [`NumberError`]. Cost: linear in the digits of the bounds written out without exponents.
pub fn number_regex(range: &NumberRange, limits: &Limits, set: &mut RegexSet) -> Result<RegexId, NumberError> {
    regex_of_parts(range, range.negative(), limits, set)
}

/// The same without `-0`, whatever its fraction of zeros.
pub fn number_regex_without_minus_zero(
    range: &NumberRange,
    limits: &Limits,
    set: &mut RegexSet,
) -> Result<RegexId, NumberError> {
    let mut negative = range.negative();
    if let Some(interval) = &mut negative {
        interval.low.exclusive |= interval.low.value.is_zero();
    }
    regex_of_parts(range, negative, limits, set)
}

/// The numbers of `range`, those with a sign as in `negative`.
fn regex_of_parts(
    range: &NumberRange,
    negative: Option<Interval>,
    limits: &Limits,
    set: &mut RegexSet,
) -> Result<RegexId, NumberError> {
    let multiple = match &range.multiple_of {
        Some(divisor) if divisor.is_zero() || divisor.negative => return Err(NumberError::DivisorNotPositive),
        Some(divisor) => Some(Multiple::new(divisor, range.kind)?),
        None => None,
    };
    check_size(range, limits, set)?;
    let multiples = match &multiple {
        Some(multiple) => Some(multiples::multiples(multiple, set).ok_or(NumberError::DivisorTooLong)?),
        None => None,
    };
    let minus = set.literal(b"-");
    let mut regex_of = |interval: Option<Interval>| {
        let interval = interval.filter(|interval| !interval.is_empty(range.kind, multiple.as_ref()))?;
        let is_free = interval.high.is_none() && interval.low.value.is_zero() && !interval.low.exclusive;
        Some(match multiples {
            Some(multiples) if is_free && range.kind == NumberKind::Number => multiples,
            _ => {
                let numbers = language::numbers(&interval, range.kind, set);
                multiples.map_or(numbers, |multiples| set.and(&[numbers, multiples]))
            }
        })
    };
    let positive = regex_of(range.positive());
    let negative = regex_of(negative);
    let regex = match (positive, negative) {
        (None, None) => return Err(NumberError::Empty),
        (Some(positive), None) => positive,
        (None, Some(negative)) => set.concat(&[minus, negative]),
        (Some(positive), Some(negative)) if positive == negative => {
            let sign = set.optional(minus);
            set.concat(&[sign, positive])
        }
        (Some(positive), Some(negative)) => {
            let negative = set.concat(&[minus, negative]);
            set.or(&[positive, negative])
        }
    };
    let free = range.minimum.is_none() && range.maximum.is_none() && multiple.is_none();
    if free && range.kind == NumberKind::Number {
        let exponent = language::exponent(set);
        return Ok(set.concat(&[regex, exponent]));
    }
    Ok(regex)
}

impl NumberRange {
    /// Whether no number is in the range; `false` where the divisor has too many digits to tell.
    pub fn is_empty(&self) -> bool {
        let multiple = match self.multiple_of.as_ref().map(|divisor| Multiple::new(divisor, self.kind)) {
            Some(Err(_)) => return false,
            Some(Ok(multiple)) => Some(multiple),
            None => None,
        };
        let is_empty = |interval: Option<Interval>| {
            interval.is_none_or(|interval| interval.is_empty(self.kind, multiple.as_ref()))
        };
        is_empty(self.positive()) && is_empty(self.negative())
    }
    /// The same numbers with bounds from 0 outwards that are multiples themselves. The divisor of integers is one.
    pub fn tightened(mut self) -> Self {
        if self.kind == NumberKind::Integer
            && self.multiple_of.is_some()
            && let Ok(unit) = self.unit()
        {
            self.multiple_of = unit.filter(|unit| *unit != Decimal::from(1));
        }
        let one = Decimal::from(1);
        let divisor = match (&self.multiple_of, self.kind) {
            (Some(divisor), _) => divisor,
            (None, NumberKind::Integer) => &one,
            (None, NumberKind::Number) => return self,
        };
        let Ok(Multiple { digits, exponent, .. }) = Multiple::new(divisor, self.kind) else { return self };
        let tight = |bound: Bound| match digits::largest_multiple(&bound, digits, exponent) {
            Some(value) => Bound { value, exclusive: false },
            None => bound,
        };
        self.maximum = self.maximum.map(|bound| if bound.value.is_negative() { bound } else { tight(bound) });
        self.minimum = self.minimum.map(|Bound { value, exclusive }| {
            if !value.is_negative() {
                return Bound { value, exclusive };
            }
            let Bound { value, exclusive } = tight(Bound { value: value.negate(), exclusive });
            Bound { value: value.negate(), exclusive }
        });
        self
    }
    /// Whether the multiples are found by their last digits or by one remainder, so that intersections of them with
    /// bounds are decided at once.
    pub fn has_cheap_multiples(&self) -> bool {
        match self.multiple_of.as_ref().map(|divisor| Multiple::new(divisor, self.kind)) {
            Some(Ok(multiple)) => multiples::are_cheap(&multiple),
            Some(Err(_)) => false,
            None => true,
        }
    }
    /// Whether remainders tell the multiples apart, and not the last digits alone.
    pub fn has_remainders(&self) -> bool {
        let multiple = self.multiple_of.as_ref().map(|divisor| Multiple::new(divisor, self.kind));
        multiple.is_some_and(|multiple| multiple.is_ok_and(|multiple| !multiples::are_by_endings(&multiple)))
    }
    /// Whether the multiples can be written: the divisor's digits fit 64 bits, and its exponent 32.
    pub fn can_be_written(&self) -> bool {
        match self.multiple_of.as_ref().map(|divisor| Multiple::new(divisor, self.kind)) {
            Some(Ok(multiple)) => multiples::can_be_written(&multiple),
            Some(Err(_)) => false,
            None => true,
        }
    }
}

/// Numbers from 0 up, between two bounds.
struct Interval {
    low: Bound,
    high: Option<Bound>,
}

/// `digits · 10^exponent` and its multiples.
struct Multiple {
    digits: u64,
    exponent: i64,
    /// The multiples that are integers: those of `integer_digits · 10^integer_exponent`.
    integer_digits: u64,
    integer_exponent: i64,
}

impl NumberRange {
    /// The part from 0 up.
    fn positive(&self) -> Option<Interval> {
        let zero = Decimal::zero();
        let low = self.minimum.clone().filter(|bound| bound.value >= zero);
        let low = low.unwrap_or(Bound { value: zero.clone(), exclusive: false });
        self.maximum
            .as_ref()
            .is_none_or(|bound| bound.value >= zero)
            .then(|| Interval { low, high: self.maximum.clone() })
    }
    /// The part from 0 down, without its signs.
    fn negative(&self) -> Option<Interval> {
        let mirror = |bound: &Option<Bound>| {
            bound.as_ref().map(|bound| Bound { value: bound.value.negate(), exclusive: bound.exclusive })
        };
        let mirrored = NumberRange {
            minimum: mirror(&self.maximum),
            maximum: mirror(&self.minimum),
            kind: self.kind,
            multiple_of: None,
        };
        mirrored.positive()
    }
}

impl Multiple {
    fn new(divisor: &Decimal, kind: NumberKind) -> Result<Self, NumberError> {
        let digits =
            divisor.digits.iter().try_fold(0u64, |value, &digit| value.checked_mul(10)?.checked_add(u64::from(digit)));
        let digits = digits.ok_or(NumberError::DivisorTooLong)?;
        let exponent = divisor.point - divisor.digits.len() as i64;
        if kind == NumberKind::Number && exponent < -i64::from(u32::MAX) {
            return Err(NumberError::DivisorTooLong);
        }
        // An integer multiple of d / 10^s is one of d / gcd(d, 10^s).
        let mut integer_digits = digits;
        for prime in [2, 5] {
            let mut left = (-exponent).max(0);
            while left > 0 && integer_digits.is_multiple_of(prime) {
                integer_digits /= prime;
                left -= 1;
            }
        }
        let multiple = Self { digits, exponent, integer_digits, integer_exponent: exponent.max(0) };
        Ok(match kind {
            NumberKind::Number => multiple,
            NumberKind::Integer => {
                Self { digits: multiple.integer_digits, exponent: multiple.integer_exponent, ..multiple }
            }
        })
    }
}

impl Interval {
    fn is_empty(&self, kind: NumberKind, multiple: Option<&Multiple>) -> bool {
        let Some(high) = &self.high else { return false };
        let inside = |value: &Decimal| match value.cmp(&self.low.value) {
            Ordering::Less => false,
            Ordering::Equal => !self.low.exclusive,
            Ordering::Greater => true,
        };
        // The largest number below the upper bound that is a multiple of this unit.
        let (digits, exponent) = match (multiple, kind) {
            (Some(multiple), _) => (multiple.digits, multiple.exponent),
            (None, NumberKind::Integer) => (1, 0),
            (None, NumberKind::Number) => {
                return !(inside(&high.value) && (!high.exclusive || high.value > self.low.value));
            }
        };
        match digits::largest_multiple(high, digits, exponent) {
            Some(largest) => !inside(&largest),
            None => true,
        }
    }
}

/// Whether the bounds can be written out.
fn check_size(range: &NumberRange, limits: &Limits, set: &RegexSet) -> Result<(), NumberError> {
    let limit = limits.regex_nodes_max;
    let exponent = |value: &Decimal| value.point - value.digits.len() as i64;
    let mut values: Vec<&Decimal> = range.minimum.iter().chain(&range.maximum).map(|bound| &bound.value).collect();
    values.extend(&range.multiple_of);
    // A common scale for all of them, as the search for multiples needs.
    let top = values.iter().map(|value| value.point).max().unwrap_or(0).max(1);
    let bottom = values.iter().map(|value| exponent(value)).min().unwrap_or(0).min(0);
    let digits = usize::try_from(top - bottom).unwrap_or(usize::MAX);
    // Each digit of each bound takes up to four nodes in either sign's part.
    let used = set.len().saturating_add(digits.saturating_mul(16)).saturating_add(64);
    if used > limit { Err(NumberError::TooLarge { limit, used }) } else { Ok(()) }
}
