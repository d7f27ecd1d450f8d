//! Arithmetic on strings of decimal digits, most significant first, without leading zeros (`[0]` is 0).

use std::cmp::Ordering;

use super::{Bound, Decimal};

/// Which of two numbers is larger.
pub(super) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

/// One more.
pub(super) fn increment(digits: &[u8]) -> Vec<u8> {
    let mut digits = digits.to_vec();
    for digit in digits.iter_mut().rev() {
        if *digit < 9 {
            *digit += 1;
            return digits;
        }
        *digit = 0;
    }
    digits.insert(0, 1);
    digits
}

/// One less; `None` for 0.
pub(super) fn decrement(digits: &[u8]) -> Option<Vec<u8>> {
    subtract(digits, 1)
}

/// The difference, if it is not negative.
fn subtract(digits: &[u8], amount: u64) -> Option<Vec<u8>> {
    let mut digits = digits.to_vec();
    let mut rest = amount;
    for digit in digits.iter_mut().rev() {
        let low = (rest % 10) as u8;
        rest /= 10;
        if *digit < low {
            *digit += 10;
            rest += 1;
        }
        *digit -= low;
    }
    let zeros = digits.iter().take_while(|&&d| d == 0).count().min(digits.len().saturating_sub(1));
    digits.drain(..zeros);
    (rest == 0).then_some(digits)
}

fn remainder(digits: &[u8], divisor: u64) -> u64 {
    let step = |rest: u128, &digit: &u8| (rest * 10 + u128::from(digit)) % u128::from(divisor);
    digits.iter().fold(0, step) as u64
}

/// The largest multiple of `divisor · 10^exponent` from 0 up to `high`, which is not negative.
pub(super) fn largest_multiple(high: &Bound, divisor: u64, exponent: i64) -> Option<Decimal> {
    let scaled = if high.value.is_zero() {
        Decimal::zero()
    } else {
        Decimal { point: high.value.point - exponent, ..high.value.clone() }
    };
    let units = scaled.whole();
    let rest = remainder(&units, divisor);
    let excluded = high.exclusive && rest == 0 && scaled.is_integer();
    let multiple = subtract(&units, if excluded { divisor } else { rest })?;
    let point = multiple.len() as i64 + exponent;
    Some(Decimal::new(false, &multiple, point))
}
