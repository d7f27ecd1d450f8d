//! Sets of numbers as ranges: first and last, ascending, with a gap between each two.

/// Such ranges of these, which may overlap and stand in any order.
pub fn merged(mut ranges: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u32, u32)> = Vec::with_capacity(ranges.len());
    for (first, last) in ranges {
        match merged.last_mut() {
            Some(before) if first <= before.1.saturating_add(1) => before.1 = before.1.max(last),
            _ => merged.push((first, last)),
        }
    }
    merged
}

/// The numbers below `len` that are in none of the ranges, which have none beyond.
pub fn gaps(ranges: &[(u32, u32)], len: u32) -> Vec<(u32, u32)> {
    let mut next = 0;
    let mut gaps = Vec::with_capacity(ranges.len() + 1);
    for &(first, last) in ranges {
        if next < first {
            gaps.push((next, first - 1));
        }
        next = last + 1;
    }
    if next < len {
        gaps.push((next, len - 1));
    }
    gaps
}

/// Whether a number is in one of the ranges. Cost: logarithmic.
pub fn contains(ranges: &[(u32, u32)], number: u32) -> bool {
    let at = ranges.partition_point(|&(_, last)| last < number);
    ranges.get(at).is_some_and(|&(first, _)| first <= number)
}
