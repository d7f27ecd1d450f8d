//! Multiples of a number as regexes over their digits.
//!
//! Where the divisor has no prime factor but 2 and 5, the last digits decide: multiples of 0.25 end in a fraction of
//! nothing, 5, 25, 75, … . Other divisors are leaves of the algebra ([`RegexNode::MultipleOf`](crate::RegexNode)).

use super::Multiple;
use super::language::{any_digits, digit, digits_up_to};
use crate::regex::{RegexId, RegexSet};

/// Endings of the multiples of one divisor, at most; beyond it remainders are computed.
const ENDINGS_MAX: u64 = 128;
/// Divisors below which all remainders are walked at once.
const DIVISOR_SMALL: u64 = 1_000;

/// The texts without sign of all multiples; `None` if [`can_be_written`] says so.
pub(super) fn multiples(multiple: &Multiple, set: &mut RegexSet) -> Option<RegexId> {
    let scale = u32::try_from(multiple.exponent.unsigned_abs()).ok()?;
    if multiple.exponent <= 0 {
        return Some(of_divisor(multiple.digits, scale, set));
    }
    if let Some(divisor) = with_zeros(multiple) {
        return Some(of_divisor(divisor, 0, set));
    }
    // The zeros at the end apart, and 0 itself.
    let (first, more) = (digit(1, 9, set), any_digits(set));
    let positive = set.concat(&[first, more]);
    let factor = match multiple.digits {
        1 => positive,
        divisor => {
            let factor = of_divisor(divisor, 0, set);
            set.and(&[positive, factor])
        }
    };
    let zero = set.literal(b"0");
    let zeros = set.repeat(zero, scale, Some(scale));
    let whole = set.concat(&[factor, zeros]);
    let whole = set.or(&[zero, whole]);
    let tail = zero_fraction(set);
    Some(set.concat(&[whole, tail]))
}

/// The divisor with its zeros, where remainders by it are computed and fit 64 bits. Of small ones a search finds the
/// multiples sooner if the zeros are apart.
fn with_zeros(multiple: &Multiple) -> Option<u64> {
    let zeros = u32::try_from(multiple.exponent).ok().filter(|_| multiple.digits >= DIVISOR_SMALL)?;
    multiple.digits.checked_mul(10u64.checked_pow(zeros)?)
}

/// Whether the multiples are found by their last digits or by one remainder.
pub(super) fn are_cheap(multiple: &Multiple) -> bool {
    multiple.exponent <= 0 || multiple.digits < DIVISOR_SMALL || with_zeros(multiple).is_some()
}

/// Whether the last digits decide, of which there are few.
pub(super) fn are_by_endings(multiple: &Multiple) -> bool {
    has_few_endings(multiple.digits)
}

/// Whether [`multiples`] has an answer.
pub(super) fn can_be_written(multiple: &Multiple) -> bool {
    u32::try_from(multiple.exponent.unsigned_abs()).is_ok()
}

/// Multiples of `divisor / 10^scale`.
fn of_divisor(divisor: u64, scale: u32, set: &mut RegexSet) -> RegexId {
    if has_few_endings(divisor) { endings(divisor, scale, set) } else { set.multiple_of(divisor, scale) }
}

fn has_few_endings(divisor: u64) -> bool {
    places(divisor).is_some_and(|places| 10u64.pow(places) / divisor <= ENDINGS_MAX)
}

/// How many last digits of an integer decide whether it is a multiple; `None` if all do, or more than 18.
fn places(divisor: u64) -> Option<u32> {
    let (twos, fives) = (divisor.trailing_zeros(), powers_in(divisor, 5));
    let rest = (divisor >> twos) / 5u64.pow(fives);
    Some(twos.max(fives)).filter(|&places| rest == 1 && places <= 18)
}

fn powers_in(mut number: u64, prime: u64) -> u32 {
    let mut count = 0;
    while number.is_multiple_of(prime) {
        number /= prime;
        count += 1;
    }
    count
}

/// Multiples of `divisor / 10^scale`, which has no prime factor but 2 and 5: by their last digits.
fn endings(divisor: u64, scale: u32, set: &mut RegexSet) -> RegexId {
    let zero = set.literal(b"0");
    let zeros = set.repeat(zero, 0, None);
    let needed = places(divisor).unwrap_or(0);
    let mut ways = Vec::new();
    // So far from the end of the scale, any digits will do.
    let free = scale.checked_sub(needed);
    if let Some(free) = free {
        let whole = integer(set);
        let fraction = if free == 0 { set.nothing() } else { digits_up_to(free, set) };
        let fraction = if needed == 0 { set.concat(&[fraction, zeros]) } else { fraction };
        let point = set.literal(b".");
        let fraction = set.concat(&[point, fraction]);
        let fraction = set.optional(fraction);
        ways.push(set.concat(&[whole, fraction]));
    }
    for places in free.map_or(0, |free| free + 1)..=scale {
        // `scale - places` is less than `needed`, so that the power fits.
        let unit = divisor / gcd(divisor, 10u64.pow(scale - places));
        let way = with_places(unit, places, set);
        ways.push(if places == scale && scale > 0 { set.concat(&[way, zeros]) } else { way });
    }
    let all = set.or(&ways);
    if scale > 0 {
        return all;
    }
    let tail = zero_fraction(set);
    set.concat(&[all, tail])
}

/// Numbers with so many digits behind the point that are multiples of `unit` if the point is left out.
fn with_places(unit: u64, places: u32, set: &mut RegexSet) -> RegexId {
    let needed = self::places(unit).unwrap_or(0);
    let last = (0..10u64.pow(needed)).step_by(unit as usize);
    let padded = |number: u64, len: u32| match len {
        0 => String::new(),
        _ => format!("{number:0len$}", len = len as usize),
    };
    if places >= needed {
        let whole = integer(set);
        let digit = digit(0, 9, set);
        let before = set.repeat(digit, places - needed, Some(places - needed));
        let last: Vec<RegexId> = last.map(|number| set.literal(padded(number, needed).as_bytes())).collect();
        let last = set.or(&last);
        let point = set.literal(if places == 0 { b"" } else { b"." });
        return set.concat(&[whole, point, before, last]);
    }
    let (first, more) = (digit(1, 9, set), any_digits(set));
    let long = set.concat(&[first, more]);
    let mut ways: Vec<(u64, Vec<RegexId>)> = Vec::new();
    for number in last {
        let (whole, fraction) = (number / 10u64.pow(places), number % 10u64.pow(places));
        let fraction = if places == 0 { String::new() } else { format!(".{}", padded(fraction, places)) };
        let fraction = set.literal(fraction.as_bytes());
        match ways.last_mut() {
            Some((known, fractions)) if *known == whole => fractions.push(fraction),
            _ => ways.push((whole, vec![fraction])),
        }
    }
    let mut out = Vec::with_capacity(ways.len());
    for (whole, fractions) in ways {
        let short = set.literal(whole.to_string().as_bytes());
        let ending = set.literal(padded(whole, needed - places).as_bytes());
        let longer = set.concat(&[long, ending]);
        let (whole, fraction) = (set.or(&[short, longer]), set.or(&fractions));
        out.push(set.concat(&[whole, fraction]));
    }
    set.or(&out)
}

/// `0|[1-9][0-9]*`.
fn integer(set: &mut RegexSet) -> RegexId {
    let (zero, first, more) = (set.literal(b"0"), digit(1, 9, set), any_digits(set));
    let long = set.concat(&[first, more]);
    set.or(&[zero, long])
}

/// `(\.0+)?`.
fn zero_fraction(set: &mut RegexSet) -> RegexId {
    let (point, zero) = (set.literal(b"."), set.literal(b"0"));
    let zeros = set.repeat(zero, 1, None);
    let fraction = set.concat(&[point, zeros]);
    set.optional(fraction)
}

pub(super) fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}
