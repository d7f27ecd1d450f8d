//! Random regexes in a table, made of others step by step, so that parts are shared.

use std::ops::Range;

use larkspur_grammar::{RegexId, RegexSet};

use crate::Random;

/// What is made of the parts.
#[derive(Clone, Debug)]
pub struct Steps {
    /// How many.
    pub count: Range<usize>,
    /// The smallest numbers of repetitions.
    pub min: Range<u32>,
    /// How many more there may be.
    pub more: Range<u32>,
    /// Whether texts without a shorter match are made, too.
    pub shortest: bool,
}

/// A regex of `parts` with all operations of the algebra, those made last more often.
pub fn regex(set: &mut RegexSet, parts: Vec<RegexId>, steps: &Steps, random: &mut Random) -> RegexId {
    let number = |random: &mut Random, range: &Range<u32>| range.start + random.below(range.len()) as u32;
    let mut known = parts;
    for _ in 0..steps.count.start + random.below(steps.count.len()) {
        let mut pick = || {
            let recent = match random.below(4) {
                0 => known.len(),
                1 => 4.min(known.len()),
                _ => 8.min(known.len()),
            };
            known[known.len() - 1 - random.below(recent)]
        };
        let (a, b, c) = (pick(), pick(), pick());
        let (min, more) = (number(random, &steps.min), number(random, &steps.more));
        known.push(match random.below(13) {
            0 | 1 => set.concat(&[a, b]),
            2 => set.concat(&[a, b, c]),
            3 | 4 => set.or(&[a, b]),
            5 => set.or(&[a, b, c]),
            6 => set.and(&[a, b]),
            7 => {
                let not = set.not(b);
                set.and(&[a, not])
            }
            8 => set.not(a),
            9 => set.repeat(a, min, None),
            12 if steps.shortest => set.shortest(a),
            _ => set.repeat(a, min, Some(min + more)),
        });
    }
    *known.last().expect("some were made")
}
