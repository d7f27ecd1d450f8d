//! Multiples of a divisor in decimal digits, as an expression: what is left of the number, given the remainder so far.

use super::{Algebra, Expr, MANY, Node};
use crate::regex::ByteSet;

/// Where in the number a remainder stands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Place {
    /// Before the first digit.
    Start,
    /// After a digit before the point.
    Whole,
    /// After the point.
    Point,
    /// After a digit behind the point.
    Fraction,
}

/// What may follow so that the value is a multiple of `divisor / 10^scale`: digits, and a point with digits if none
/// was there. Leading zeros are not told apart here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Remainder {
    pub divisor: u64,
    /// Of the value so far, times `10^scale` where the divisor was given; below the divisor.
    pub remainder: u64,
    /// Digits behind the point that still count; after them only zeros may stand.
    pub scale: u32,
    pub place: Place,
}

impl Remainder {
    pub fn is_nullable(self) -> bool {
        self.remainder == 0 && matches!(self.place, Place::Whole | Place::Fraction)
    }

    /// Bytes that no two of which lead to the same, in general: the digits and the point.
    pub fn letters() -> impl Iterator<Item = u8> {
        b"0123456789.".iter().copied()
    }

    /// What is left after a byte.
    pub fn after(self, byte: u8) -> Option<Self> {
        let is_whole = matches!(self.place, Place::Start | Place::Whole);
        match byte {
            b'0'..=b'9' if is_whole => {
                let remainder = self.plus(10, byte - b'0', self.scale);
                Some(Self { remainder, place: Place::Whole, ..self })
            }
            b'0'..=b'9' => {
                let digit = byte - b'0';
                match self.scale.checked_sub(1) {
                    None => (digit == 0).then_some(Self { place: Place::Fraction, ..self }),
                    Some(scale) => {
                        Some(Self { remainder: self.plus(1, digit, scale), scale, place: Place::Fraction, ..self })
                    }
                }
            }
            b'.' if self.place == Place::Whole => Some(Self { place: Place::Point, ..self }),
            _ => None,
        }
    }

    /// `remainder * factor + digit * 10^scale`, modulo the divisor.
    fn plus(self, factor: u64, digit: u8, scale: u32) -> u64 {
        let divisor = u128::from(self.divisor);
        let sum = u128::from(self.remainder) * u128::from(factor)
            + u128::from(digit) * u128::from(power(10, scale, self.divisor));
        (sum % divisor) as u64
    }

    /// The same with more digits behind the point, before the first digit only.
    fn with_scale(self, scale: u32) -> Option<Self> {
        if self.scale == scale {
            return Some(self);
        }
        let factor = 10u64.checked_pow(scale - self.scale)?;
        let divisor = self.divisor.checked_mul(factor)?;
        (self.place == Place::Start && self.remainder == 0).then_some(Self { divisor, scale, ..self })
    }

    /// The least value of `len` digits that makes a multiple of what was read. For whole numbers.
    fn least_after(self, len: u32) -> Option<i128> {
        let divisor = i128::from(self.divisor);
        // Wanted: v * 10^scale = -remainder * 10^len, modulo the divisor, with v < 10^len.
        let factor = i128::from(power(10, self.scale, self.divisor));
        let shifted = u128::from(self.remainder) * u128::from(power(10, len, self.divisor)) % u128::from(self.divisor);
        let wanted = (divisor - shifted as i128) % divisor;
        let (gcd, inverse) = extended_gcd(factor, divisor);
        if wanted % gcd != 0 {
            return None;
        }
        let modulus = divisor / gcd;
        let least = product(wanted / gcd, inverse, modulus);
        10i128.checked_pow(len).is_none_or(|bound| least < bound).then_some(least)
    }
}

/// `base^exponent` modulo `modulus`.
fn power(base: u64, mut exponent: u32, modulus: u64) -> u64 {
    let modulus = u128::from(modulus);
    let mut square = u128::from(base) % modulus;
    let mut result = 1 % modulus;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        exponent >>= 1;
    }
    result as u64
}

/// The greatest common divisor, and what times `a` is it, modulo `b`. `b` is positive.
fn extended_gcd(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old
}

/// `a * b` modulo `modulus`, which is positive and of 64 bits.
fn product(a: i128, b: i128, modulus: i128) -> i128 {
    (a.rem_euclid(modulus) as u128 * b.rem_euclid(modulus) as u128 % modulus as u128) as i128
}

/// Lengths tried to find a multiple among digits. 80: beyond twice the digits of a divisor every length has one.
const LENGTHS_MAX: u32 = 80;
/// Divisors below which a search finds the multiples at once.
const DIVISOR_SMALL: u64 = 1_000;
/// Multiples of each of two lengths that are tried where other operands restrict them.
const MULTIPLES_TRIED: i128 = 12;

impl Algebra {
    /// The numbers without sign and exponent that are multiples of `divisor / 10^scale`.
    pub(super) fn multiple_of(&mut self, divisor: u64, scale: u32) -> Expr {
        let digit = self.byte_set(ByteSet::range(b'0', b'9'));
        let digits = self.repeat(digit, 0, MANY);
        let first = self.byte_set(ByteSet::range(b'1', b'9'));
        let long = self.concat(first, digits);
        let zero = self.byte_set(ByteSet::range(b'0', b'0'));
        let integer = self.or(vec![zero, long]);
        let some_digits = self.repeat(digit, 1, MANY);
        let fraction = self.literal(b".", some_digits);
        let fraction = self.repeat(fraction, 0, 1);
        let number = self.concat(integer, fraction);
        let multiple = self.remainder(Remainder { divisor, remainder: 0, scale, place: Place::Start });
        self.and(vec![multiple, number])
    }

    pub(super) fn remainder(&mut self, remainder: Remainder) -> Expr {
        self.pay(1);
        if matches!(remainder.place, Place::Point | Place::Fraction) {
            let missing = (remainder.divisor - remainder.remainder) % remainder.divisor;
            if 10u64.checked_pow(remainder.scale).is_some_and(|bound| bound <= missing) {
                return Expr::NOTHING;
            }
            if remainder.scale == 0 {
                let zero = self.byte_set(ByteSet::range(b'0', b'0'));
                return self.repeat(zero, u32::from(remainder.place == Place::Point), MANY);
            }
        }
        self.intern(Node::Remainder(remainder))
    }

    /// In an intersection: several divisors become their least common multiple, as far as 64 bits hold it, and a
    /// multiple that must not be one of its divisors' is nothing.
    pub(super) fn merge_remainders(&mut self, parts: &mut Vec<Expr>) {
        let of = |this: &Self, part: Expr| match this.node(part) {
            Node::Remainder(remainder) => Some(remainder),
            _ => None,
        };
        let known: Vec<(Expr, Remainder)> = parts.iter().filter_map(|&part| Some((part, of(self, part)?))).collect();
        let Some(&(mut kept_as, mut kept)) = known.first() else { return };
        for &(part, other) in &known[1..] {
            let Some(both) = merged(kept, other) else { continue };
            parts.retain(|&p| p != part && p != kept_as);
            kept = both;
            kept_as = self.remainder(both);
            super::add(parts, kept_as);
        }
        let is_excluded = parts.iter().any(|&part| match self.node(part) {
            Node::Not(child) => of(self, child).is_some_and(|not| {
                let alike = not.scale == kept.scale && not.place == kept.place;
                alike && kept.divisor.is_multiple_of(not.divisor) && kept.remainder % not.divisor == not.remainder
            }),
            _ => false,
        });
        if is_excluded {
            *parts = vec![Expr::NOTHING];
        }
    }

    /// Whether an intersection of one remainder with others that take some number of any digits has a text; `None` if
    /// these numbers of digits do not say.
    pub(super) fn has_multiple(&mut self, intersection: Expr) -> Option<bool> {
        let among = self.digits_wanted(intersection)?;
        if matches!(among.remainder.place, Place::Point | Place::Fraction) {
            return self.has_multiple_behind_point(intersection, &among);
        }
        let min = among.lengths.min.max(u32::from(among.remainder.place == Place::Start));
        let last = among.lengths.max.min(min.saturating_add(LENGTHS_MAX));
        self.pay(8);
        if among.is_all {
            if (min..=last).any(|len| among.remainder.least_after(len).is_some()) {
                return Some(true);
            }
            let exact = among.lengths.only_digits && among.lengths.exact;
            return (exact && last == among.lengths.max).then_some(false);
        }
        if among.remainder.divisor < DIVISOR_SMALL {
            return None;
        }
        // Others restrict the digits in ways that are not seen here: some multiples are tried.
        let lengths = (min..=last).filter(|&len| among.remainder.least_after(len).is_some());
        for len in lengths.take(2).collect::<Vec<_>>() {
            let least = among.remainder.least_after(len).expect("these have one");
            for step in 0..MULTIPLES_TRIED {
                let value = least + step * i128::from(among.remainder.divisor);
                let digits = format!("{value:0width$}", width = len as usize);
                if digits.len() == len as usize && self.matches(intersection, digits.as_bytes()) {
                    return Some(true);
                }
            }
        }
        None
    }

    /// The same behind the point, where the digits that count are at most as many as the scale has left.
    fn has_multiple_behind_point(&mut self, intersection: Expr, among: &Among) -> Option<bool> {
        let Remainder { divisor, remainder, scale, place } = among.remainder;
        let least = (divisor - remainder) % divisor;
        self.pay(8);
        if among.is_all {
            // What is missing, with zeros before it, and with zeros behind it if there must be more digits. That it is
            // not too long was seen when the remainder was made.
            let len = scale.max(among.lengths.min).max(u32::from(place == Place::Point));
            return (len <= among.lengths.max).then_some(true);
        }
        let bound = 10u64.checked_pow(scale)?;
        let last = (bound - 1).checked_sub(least)? / divisor;
        for step in 0..MULTIPLES_TRIED as u64 {
            for step in [step, last.saturating_sub(step)] {
                let digits = format!("{:0width$}", least + step.min(last) * divisor, width = scale as usize);
                if self.matches(intersection, digits.as_bytes()) {
                    return Some(true);
                }
            }
        }
        None
    }

    pub(super) fn matches(&mut self, expr: Expr, text: &[u8]) -> bool {
        let mut state = expr;
        for &byte in text {
            match self.derivative(state, byte, u64::MAX) {
                Ok(next) if next != Expr::NOTHING => state = next,
                _ => return false,
            }
        }
        self.is_nullable(state)
    }

    /// The remainder in an intersection, and how many digits the other operands take. `None` if there is no remainder,
    /// or several.
    fn digits_wanted(&self, intersection: Expr) -> Option<Among> {
        let mut remainder = None;
        let mut lengths = Lengths { min: 0, max: MANY, only_digits: false, exact: true };
        let mut is_all = true;
        let mut parts = self.operands(intersection).to_vec();
        while let Some(part) = parts.pop() {
            if let Node::Remainder(one) = self.node(part) {
                if remainder.replace(one).is_some() {
                    return None;
                }
                continue;
            }
            // An intersection before what may be left out, as a fraction of zeros is.
            if let Node::Concat(head, tail) = self.node(part)
                && let Node::And(inner) = self.node(head)
                && self.is_nullable(tail)
            {
                lengths.exact &= self.begins_outside(tail, &ByteSet::range(b'0', b'9'));
                parts.extend(inner);
                continue;
            }
            let Some(of_part) = self.any_digits(part) else {
                is_all = false;
                continue;
            };
            lengths.only_digits |= of_part.only_digits;
            lengths.exact &= of_part.exact;
            lengths.min = lengths.min.max(of_part.min);
            lengths.max = lengths.max.min(of_part.max);
        }
        Some(Among { remainder: remainder?, lengths, is_all })
    }

    /// Lengths of which all digits are in the expression, if it has the form that bounds of numbers leave.
    fn any_digits(&self, expr: Expr) -> Option<Lengths> {
        let digits = ByteSet::range(b'0', b'9');
        let is_digit = |child: Expr| matches!(self.node(child), Node::Set(set) if set == digits);
        let (head, tail) = match self.node(expr) {
            Node::Concat(head, tail) if self.is_nullable(tail) => (head, tail),
            _ => (expr, Expr::EPSILON),
        };
        let (min, max) = match self.node(head) {
            Node::Repeat(child, min, max) if is_digit(child) => (min, max),
            Node::Set(_) if is_digit(head) => (1, 1),
            Node::Epsilon => (0, 0),
            // A fraction that may be left out.
            _ if self.is_nullable(head) && tail == Expr::EPSILON && self.begins_outside(head, &digits) => {
                return Some(Lengths { min: 0, max: 0, only_digits: false, exact: true });
            }
            _ => return None,
        };
        let only_digits = tail == Expr::EPSILON;
        Some(Lengths { min, max, only_digits, exact: only_digits || self.begins_outside(tail, &digits) })
    }

    /// Whether what may be left out begins with none of these bytes, as far as that is easily seen.
    fn begins_outside(&self, optional: Expr, bytes: &ByteSet) -> bool {
        let Node::Repeat(child, ..) = self.node(optional) else { return false };
        match self.node(child) {
            Node::Literal(text, _) => !bytes.contains(text[0]),
            Node::Set(set) => set.intersect(bytes).is_empty(),
            Node::Concat(head, _) => matches!(self.node(head), Node::Set(set) if set.intersect(bytes).is_empty()),
            _ => false,
        }
    }
}

/// A remainder among expressions that take digits.
struct Among {
    remainder: Remainder,
    lengths: Lengths,
    /// The lengths say all of the other operands.
    is_all: bool,
}

/// Lengths of digits.
struct Lengths {
    min: u32,
    max: u32,
    /// The expression holds no other texts than digits.
    only_digits: bool,
    /// It holds digits of no other lengths.
    exact: bool,
}

/// Both remainders as one, if they are at the same place and of one value.
fn merged(a: Remainder, b: Remainder) -> Option<Remainder> {
    let (a, b) = (a.with_scale(a.scale.max(b.scale))?, b.with_scale(a.scale.max(b.scale))?);
    if a.place != b.place {
        return None;
    }
    let (x, y) = (i128::from(a.divisor), i128::from(b.divisor));
    let (gcd, inverse) = extended_gcd(x % y, y);
    let lcm = u64::try_from((x / gcd).checked_mul(y)?).ok()?;
    let difference = i128::from(b.remainder) - i128::from(a.remainder);
    if difference % gcd != 0 {
        return None;
    }
    let modulus = y / gcd;
    let steps = product(difference / gcd, inverse, modulus);
    let remainder = u64::try_from(i128::from(a.remainder) + x * steps).ok()?;
    Some(Remainder { divisor: lcm, remainder, ..a })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_among_digits_are_those_found_by_trying() {
        for divisor in [1, 2, 3, 7, 10, 12, 25, 40, 99, 125, 1000] {
            for scale in 0..3 {
                for remainder in (0..divisor).step_by(1 + divisor as usize / 7) {
                    let state = Remainder { divisor, remainder, scale, place: Place::Whole };
                    for len in 0..4u32 {
                        let found = (0..10u64.pow(len))
                            .any(|v| (remainder * 10u64.pow(len) + v * 10u64.pow(scale)).is_multiple_of(divisor));
                        assert_eq!(state.least_after(len).is_some(), found, "{state:?} {len}");
                    }
                }
            }
        }
    }
}
