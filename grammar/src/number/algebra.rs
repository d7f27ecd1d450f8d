//! Ranges of numbers as sets of values: membership, intersection, and the same numbers with the point moved.

use std::cmp::Ordering;

use super::digits::largest_multiple;
use super::{Bound, Decimal, Multiple, NumberKind, NumberRange};

impl Decimal {
    /// The digits without zeros at either end, each 0 to 9; none for 0. The value is `0.digits * 10^point`.
    pub fn digits(&self) -> &[u8] {
        &self.digits
    }
    /// How many digits stand before the decimal point; negative if zeros follow the point.
    pub fn point(&self) -> i64 {
        self.point
    }
    /// The value times `10^power`.
    pub fn times_power_of_ten(&self, power: i64) -> Self {
        if self.is_zero() {
            return self.clone();
        }
        Self { point: self.point.saturating_add(power), ..self.clone() }
    }
    /// The exponent of the last digit.
    pub(super) fn exponent(&self) -> i64 {
        self.point - self.digits.len() as i64
    }
    /// The digits as an integer, if that fits.
    pub(super) fn mantissa(&self) -> Option<u64> {
        self.digits.iter().try_fold(0u64, |value, &digit| value.checked_mul(10)?.checked_add(u64::from(digit)))
    }
    fn from_parts(mantissa: u64, exponent: i64) -> Self {
        let digits: Vec<u8> = mantissa.to_string().bytes().map(|byte| byte - b'0').collect();
        Self::new(false, &digits, digits.len() as i64).times_power_of_ten(exponent)
    }
    /// Whether it is a multiple of a positive divisor; `None` if the divisor has too many digits.
    fn is_multiple_of(&self, divisor: &Decimal) -> Option<bool> {
        if self.is_zero() {
            return Some(true);
        }
        let unit = u128::from(divisor.mantissa()?);
        let zeros = self.exponent() - divisor.exponent();
        if zeros < 0 {
            // 10 would divide the digits, whose last one is not 0.
            return Some(false);
        }
        let step = |rest: u128, &digit: &u8| (rest * 10 + u128::from(digit)) % unit;
        let rest = self.digits.iter().fold(0, step);
        Some((rest * power_of_ten(zeros as u64, unit)).is_multiple_of(unit))
    }
}

/// `10^power` modulo a number of at most 64 bits.
fn power_of_ten(mut power: u64, modulus: u128) -> u128 {
    let (mut result, mut square) = (1 % modulus, 10 % modulus);
    while power > 0 {
        if power & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        power >>= 1;
    }
    result
}

fn least_common_multiple(a: &Decimal, b: &Decimal) -> Option<Decimal> {
    let exponent = a.exponent().min(b.exponent());
    let scaled = |value: &Decimal| {
        let power = u32::try_from(value.exponent() - exponent).ok()?;
        value.mantissa()?.checked_mul(10u64.checked_pow(power)?)
    };
    let (a, b) = (scaled(a)?, scaled(b)?);
    let mut rest = (a, b);
    while rest.1 != 0 {
        rest = (rest.1, rest.0 % rest.1);
    }
    Some(Decimal::from_parts(a.checked_mul(b / rest.0)?, exponent))
}

impl NumberRange {
    /// What the values are multiples of, 1 for integers; `Err` if that has too many digits.
    pub(super) fn unit(&self) -> Result<Option<Decimal>, ()> {
        match (&self.multiple_of, self.kind) {
            (None, NumberKind::Number) => Ok(None),
            (None, NumberKind::Integer) => Ok(Some(Decimal::from(1))),
            (Some(divisor), NumberKind::Number) => Ok(Some(divisor.clone())),
            (Some(divisor), NumberKind::Integer) => match Multiple::new(divisor, self.kind) {
                Ok(Multiple { digits, exponent, .. }) => Ok(Some(Decimal::from_parts(digits, exponent))),
                Err(_) => Err(()),
            },
        }
    }

    /// Whether the value is in the range; `None` if the divisor has more digits than 64 bits hold.
    pub fn contains(&self, value: &Decimal) -> Option<bool> {
        let below = self.minimum.as_ref().is_some_and(|bound| match value.cmp(&bound.value) {
            Ordering::Less => true,
            Ordering::Equal => bound.exclusive,
            Ordering::Greater => false,
        });
        let above = self.maximum.as_ref().is_some_and(|bound| match value.cmp(&bound.value) {
            Ordering::Greater => true,
            Ordering::Equal => bound.exclusive,
            Ordering::Less => false,
        });
        let fraction = self.kind == NumberKind::Integer && !value.is_integer();
        if below || above || fraction {
            return Some(false);
        }
        match &self.multiple_of {
            Some(divisor) => value.is_multiple_of(divisor),
            None => Some(true),
        }
    }

    /// Numbers of both; `None` if their common divisor has too many digits.
    pub fn intersection(&self, other: &NumberRange) -> Option<NumberRange> {
        let mut both = self.clone();
        if other.kind == NumberKind::Integer {
            both.kind = NumberKind::Integer;
        }
        if let Some(Bound { value, exclusive }) = other.minimum.clone() {
            both = both.at_least(value, exclusive);
        }
        if let Some(Bound { value, exclusive }) = other.maximum.clone() {
            both = both.at_most(value, exclusive);
        }
        both.multiple_of = match (&self.multiple_of, &other.multiple_of) {
            (Some(a), Some(b)) if a != b => Some(least_common_multiple(a, b)?),
            (a, b) => a.clone().or(b.clone()),
        };
        Some(both)
    }

    /// The numbers of the range, from the least, where these are at most `count_max` multiples of one number that lie between two
    /// bounds; `None` if there are more, or their digits do not fit 64 bits.
    pub fn few_values(&self, count_max: u64) -> Option<Vec<Decimal>> {
        let unit = self.unit().ok()??;
        let (digits, exponent) = (unit.mantissa()?, unit.exponent());
        // How many units a bound is away from 0, rounded towards it.
        let units = |bound: &Bound| {
            let outward = Bound { value: bound.value.abs(), exclusive: false };
            let multiple = largest_multiple(&outward, digits, exponent)?;
            if multiple.is_zero() {
                return Some(0);
            }
            let zeros = u32::try_from(multiple.exponent() - exponent).ok()?;
            let count = multiple.mantissa()?.checked_mul(10u64.checked_pow(zeros)?)? / digits;
            let count = i64::try_from(count).ok()?;
            Some(if bound.value.is_negative() { -count } else { count })
        };
        let (first, last) = (units(self.minimum.as_ref()?)?, units(self.maximum.as_ref()?)?);
        if first <= last && last.abs_diff(first) >= count_max {
            return None;
        }
        let multiples = (first..=last).map(|count| {
            let multiple = Decimal::from_parts(digits.checked_mul(count.unsigned_abs())?, exponent);
            Some(if count < 0 { multiple.negate() } else { multiple })
        });
        let multiples: Vec<Decimal> = multiples.collect::<Option<_>>()?;
        Some(multiples.into_iter().filter(|value| self.contains(value) == Some(true)).collect())
    }

    /// The numbers of the range, each times `10^power`: of kind [`NumberKind::Number`]. `None` if the divisor has too
    /// many digits.
    pub fn times_power_of_ten(&self, power: i64) -> Option<NumberRange> {
        let bound = |bound: &Option<Bound>| {
            bound
                .as_ref()
                .map(|bound| Bound { value: bound.value.times_power_of_ten(power), exclusive: bound.exclusive })
        };
        Some(NumberRange {
            kind: NumberKind::Number,
            minimum: bound(&self.minimum),
            maximum: bound(&self.maximum),
            multiple_of: self.unit().ok()?.map(|unit| unit.times_power_of_ten(power)),
        })
    }
}
