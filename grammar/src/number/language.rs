//! Intervals of numbers from 0 up as regexes over their digits.
//!
//! Everything is built from the last digit to the first: "the digits from here on are at least these", and so on.

use std::cmp::Ordering;

use super::digits::{compare, decrement, increment};
use super::{Bound, Interval, NumberKind};
use crate::regex::{ByteSet, RegexId, RegexSet};

/// Texts of digits behind the point, with the empty one told apart: where there are none, there is no point either.
#[derive(Clone, Copy)]
struct Fraction {
    /// Whether no digits at all will do.
    empty: bool,
    /// The texts of at least one digit.
    digits: RegexId,
}

/// The texts without sign of the numbers in a non-empty interval.
pub(super) fn numbers(interval: &Interval, kind: NumberKind, set: &mut RegexSet) -> RegexId {
    match kind {
        NumberKind::Integer => {
            let low = first_integer(&interval.low);
            let high = interval.high.as_ref().map(last_integer);
            integers(&low, high.as_deref(), set)
        }
        NumberKind::Number => decimals(interval, set),
    }
}

/// `[eE][+-]?[0-9]+`, or nothing.
pub(super) fn exponent(set: &mut RegexSet) -> RegexId {
    let mut bytes = |text: &[u8]| {
        let mut all = ByteSet::EMPTY;
        text.iter().for_each(|&byte| all.insert(byte));
        set.bytes(all)
    };
    let (e, sign) = (bytes(b"eE"), bytes(b"+-"));
    let sign = set.optional(sign);
    let digits = some_digits(set);
    let exponent = set.concat(&[e, sign, digits]);
    set.optional(exponent)
}

fn first_integer(low: &Bound) -> Vec<u8> {
    let whole = low.value.whole();
    if low.exclusive || !low.value.is_integer() { increment(&whole) } else { whole }
}

/// Of a bound with an integer from 0 up below it.
fn last_integer(high: &Bound) -> Vec<u8> {
    let whole = high.value.whole();
    if high.exclusive && high.value.is_integer() { decrement(&whole).unwrap_or_else(|| vec![0]) } else { whole }
}

pub(super) fn digit(low: u8, high: u8, set: &mut RegexSet) -> RegexId {
    set.bytes(ByteSet::range(b'0' + low, b'0' + high))
}
pub(super) fn any_digits(set: &mut RegexSet) -> RegexId {
    let digit = digit(0, 9, set);
    set.repeat(digit, 0, None)
}
fn some_digits(set: &mut RegexSet) -> RegexId {
    let digit = digit(0, 9, set);
    set.repeat(digit, 1, None)
}
/// At least one digit.
pub(super) fn digits_up_to(max: u32, set: &mut RegexSet) -> RegexId {
    let digit = digit(0, 9, set);
    set.repeat(digit, 1, Some(max))
}
fn digits(count: usize, set: &mut RegexSet) -> RegexId {
    let digit = digit(0, 9, set);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    set.repeat(digit, count, Some(count))
}
fn text(digits: &[u8], set: &mut RegexSet) -> RegexId {
    let text: Vec<u8> = digits.iter().map(|digit| b'0' + digit).collect();
    set.literal(&text)
}

/// The integers from `low` to `high`, which is not below it.
fn integers(low: &[u8], high: Option<&[u8]>, set: &mut RegexSet) -> RegexId {
    let longer = |min: usize, max: Option<usize>, set: &mut RegexSet| {
        let (first, digit) = (digit(1, 9, set), digit(0, 9, set));
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let rest = set.repeat(digit, count(min), max.map(count));
        set.concat(&[first, rest])
    };
    let Some(high) = high else {
        let (same, longer) = (at_least(low, set), longer(low.len(), None, set));
        return set.or(&[same, longer]);
    };
    if low.len() == high.len() {
        return between(low, high, set);
    }
    let mut least = vec![0; high.len()];
    least[0] = 1;
    let mut parts = vec![at_least(low, set), between(&least, high, set)];
    if high.len() - low.len() >= 2 {
        parts.push(longer(low.len(), Some(high.len() - 2), set));
    }
    set.or(&parts)
}

/// As many digits, not below these.
fn at_least(low: &[u8], set: &mut RegexSet) -> RegexId {
    one_sided(low, 0, |d| (d < 9).then_some((d + 1, 9)), |d| (d, 9), set)
}
/// As many digits, not above these.
fn at_most(high: &[u8], set: &mut RegexSet) -> RegexId {
    one_sided(high, 9, |d| (d > 0).then(|| (0, d - 1)), |d| (0, d), set)
}

/// As many digits as `bound`: equal so far and then `beyond` its digit, or equal to the end. Where the rest of the bound
/// is `extreme` (zeros, nines), any digits do, after its own digit too (`with_own`).
fn one_sided(
    bound: &[u8],
    extreme: u8,
    beyond: impl Fn(u8) -> Option<(u8, u8)>,
    with_own: impl Fn(u8) -> (u8, u8),
    set: &mut RegexSet,
) -> RegexId {
    let free = bound.iter().rev().take_while(|&&digit| digit == extreme).count();
    let mut result = digits(free, set);
    // Digits with nothing beyond them, the last one first: as one text, since each sequence holds all that it is made of.
    let mut run: Vec<u8> = Vec::new();
    for (at, &own) in bound.iter().enumerate().rev().skip(free) {
        let rest = bound.len() - at - 1;
        if rest == free {
            let (from, to) = with_own(own);
            let any = digit(from, to, set);
            result = set.concat(&[any, result]);
            continue;
        }
        run.push(own);
        if let Some((from, to)) = beyond(own) {
            let equal = after_run(&mut run, result, set);
            let (first, rest) = (digit(from, to, set), digits(rest, set));
            let other = set.concat(&[first, rest]);
            result = set.or(&[equal, other]);
        }
    }
    after_run(&mut run, result, set)
}

/// Digits, of which the last one comes first, and then the rest.
fn after_run(run: &mut Vec<u8>, rest: RegexId, set: &mut RegexSet) -> RegexId {
    run.reverse();
    let own = text(run, set);
    run.clear();
    set.concat(&[own, rest])
}

/// As many digits, between these two of equal length.
fn between(low: &[u8], high: &[u8], set: &mut RegexSet) -> RegexId {
    let Some(split) = low.iter().zip(high).position(|(a, b)| a != b) else { return text(low, set) };
    let (from, to) = (low[split], high[split]);
    let rest = low.len() - split - 1;
    // An end whose remaining digits are as far out as can be joins the digits in between.
    let low_free = low[split + 1..].iter().all(|&digit| digit == 0);
    let high_free = high[split + 1..].iter().all(|&digit| digit == 9);
    let (inner_from, inner_to) = (from + u8::from(!low_free), to - u8::from(!high_free));
    let mut parts: Vec<RegexId> = Vec::with_capacity(3);
    if !low_free {
        let (own, more) = (text(&[from], set), at_least(&low[split + 1..], set));
        parts.push(set.concat(&[own, more]));
    }
    if inner_from <= inner_to {
        let (first, more) = (digit(inner_from, inner_to, set), digits(rest, set));
        parts.push(set.concat(&[first, more]));
    }
    if !high_free {
        let (own, more) = (text(&[to], set), at_most(&high[split + 1..], set));
        parts.push(set.concat(&[own, more]));
    }
    let prefix = text(&low[..split], set);
    let rest = set.or(&parts);
    set.concat(&[prefix, rest])
}

/// The numbers of the interval with or without a fraction.
fn decimals(interval: &Interval, set: &mut RegexSet) -> RegexId {
    let Interval { low, high } = interval;
    let (low_whole, low_fraction) = (low.value.whole(), low.value.fraction());
    // What follows a whole part strictly inside: anything.
    let free = Fraction { empty: true, digits: some_digits(set) };
    let free = with_point(free, set);
    let mut parts: Vec<RegexId> = Vec::with_capacity(3);
    let joined = |whole: &[u8], fraction: Fraction, set: &mut RegexSet| {
        let (whole, fraction) = (text(whole, set), with_point(fraction, set));
        set.concat(&[whole, fraction])
    };
    let high_parts = high.as_ref().map(|high| (high.value.whole(), high.value.fraction(), high.exclusive));
    if let Some((high_whole, high_fraction, high_exclusive)) = &high_parts
        && *high_whole == low_whole
    {
        let ends = (low.exclusive, *high_exclusive);
        let fraction = fraction_between(&low_fraction, high_fraction, ends, set);
        return joined(&low_whole, fraction, set);
    }
    let first_free = if low_fraction.is_empty() && !low.exclusive {
        low_whole
    } else {
        let fraction = fraction_at_least(&low_fraction, low.exclusive, set);
        parts.push(joined(&low_whole, fraction, set));
        increment(&low_whole)
    };
    let last_free = high_parts.as_ref().and_then(|(whole, ..)| decrement(whole));
    if high_parts.is_none() || last_free.as_ref().is_some_and(|last| compare(&first_free, last) != Ordering::Greater) {
        let whole = integers(&first_free, last_free.as_deref(), set);
        parts.push(set.concat(&[whole, free]));
    }
    if let Some((whole, fraction, exclusive)) = &high_parts {
        let fraction = fraction_at_most(fraction, *exclusive, set);
        parts.push(joined(whole, fraction, set));
    }
    set.or(&parts)
}

/// With a point before the digits.
fn with_point(fraction: Fraction, set: &mut RegexSet) -> RegexId {
    let point = set.literal(b".");
    let digits = set.concat(&[point, fraction.digits]);
    if fraction.empty { set.optional(digits) } else { digits }
}

/// The digit, then the rest.
fn before(digit: u8, rest: Fraction, set: &mut RegexSet) -> RegexId {
    let first = text(&[digit], set);
    let rest = if rest.empty { set.optional(rest.digits) } else { rest.digits };
    set.concat(&[first, rest])
}

/// A digit of a range, then any digits; none if the range is empty.
fn free_after(from: u8, to: u8, set: &mut RegexSet) -> RegexId {
    if from > to {
        return set.nothing();
    }
    let (first, rest) = (digit(from, to, set), any_digits(set));
    set.concat(&[first, rest])
}

/// Fractions not below (if `exclusive`: above) this one, which has no zeros at its end.
fn fraction_at_least(low: &[u8], exclusive: bool, set: &mut RegexSet) -> Fraction {
    let mut result = if exclusive {
        let zero = set.literal(b"0");
        let zeros = set.repeat(zero, 0, None);
        let positive = free_after(1, 9, set);
        Fraction { empty: false, digits: set.concat(&[zeros, positive]) }
    } else {
        Fraction { empty: true, digits: some_digits(set) }
    };
    let mut run: Vec<u8> = Vec::new();
    for &own in low.iter().rev() {
        if own == 9 && !result.empty {
            run.push(own);
            continue;
        }
        result.digits = after_run(&mut run, result.digits, set);
        let (equal, above) = (before(own, result, set), free_after(own + 1, 9, set));
        result = Fraction { empty: false, digits: set.or(&[equal, above]) };
    }
    Fraction { digits: after_run(&mut run, result.digits, set), ..result }
}

/// Fractions not above (if `exclusive`: below) this one, which has no zeros at its end.
fn fraction_at_most(high: &[u8], exclusive: bool, set: &mut RegexSet) -> Fraction {
    let mut result = if exclusive {
        Fraction { empty: false, digits: set.nothing() }
    } else {
        let zero = set.literal(b"0");
        Fraction { empty: true, digits: set.repeat(zero, 1, None) }
    };
    for &own in high.iter().rev() {
        let equal = before(own, result, set);
        let below = if own == 0 { set.nothing() } else { free_after(0, own - 1, set) };
        // The bound has digits other than 0 from here on, so nothing more is below it.
        result = Fraction { empty: true, digits: set.or(&[equal, below]) };
    }
    result
}

/// Fractions between two, of which the first is not above the second; `exclusive` says which are outside themselves.
fn fraction_between(low: &[u8], high: &[u8], exclusive: (bool, bool), set: &mut RegexSet) -> Fraction {
    let len = low.len().max(high.len());
    let at = |digits: &[u8], index: usize| digits.get(index).copied().unwrap_or(0);
    let rest = |digits: &[u8], index: usize| digits.get(index + 1..).unwrap_or_default().to_vec();
    // Once the lower one has ended, it is itself the text so far.
    let empty = |index: usize| index >= low.len() && !exclusive.0;
    let split = (0..len).find(|&index| at(low, index) != at(high, index));
    let mut result = match split {
        None => {
            let zero = set.literal(b"0");
            Fraction { empty: true, digits: set.repeat(zero, 1, None) }
        }
        Some(index) => {
            let (from, to) = (at(low, index), at(high, index));
            let above = fraction_at_least(&rest(low, index), exclusive.0, set);
            let below = fraction_at_most(&rest(high, index), exclusive.1, set);
            let (above, below) = (before(from, above, set), before(to, below, set));
            let inside = free_after(from + 1, to.saturating_sub(1), set);
            Fraction { empty: empty(index), digits: set.or(&[above, inside, below]) }
        }
    };
    let mut run: Vec<u8> = Vec::new();
    for index in (0..split.unwrap_or(len)).rev() {
        let own = at(low, index);
        if !result.empty && !empty(index) {
            run.push(own);
            continue;
        }
        result.digits = after_run(&mut run, result.digits, set);
        result = Fraction { empty: empty(index), digits: before(own, result, set) };
    }
    Fraction { digits: after_run(&mut run, result.digits, set), ..result }
}
