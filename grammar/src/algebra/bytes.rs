//! Intersections that are seen to be empty: each text of one operand has a byte that none of another's has, such as the
//! letters of a word that no date has, or is longer than those of another that have only bytes of both, such as 19
//! characters where all are digits and signs.

use smallvec::SmallVec;

use super::{Algebra, Expr, MANY, Node, Remainder};
use crate::regex::ByteSet;

/// Expressions that are looked at in an operand, at most.
const ROOM: u32 = 4_096;
/// Operations within each other at most.
const DEPTH_MAX: u32 = 16;
/// Sets that are found of an operand, at most.
const NEEDED_MAX: usize = 32;

/// Sets of which each text has a byte.
type Needed = SmallVec<[ByteSet; 4]>;

impl Algebra {
    /// Whether an intersection has no text since of the bytes that its operands share one needs others, or more than another may
    /// have. Cost: some microseconds at most; no expression is made.
    pub(super) fn lacks_bytes(&self, intersection: Expr) -> bool {
        let Node::And(parts) = self.node(intersection) else { return false };
        let mut common = ByteSet::ALL;
        for &part in parts {
            common = common.intersect(&self.bytes_within(part, DEPTH_MAX, &mut ROOM.clone()));
        }
        if common == ByteSet::ALL {
            return false;
        }
        let needs_others = |part: Expr| {
            let mut needed = Needed::new();
            self.needed_within(part, DEPTH_MAX, &mut ROOM.clone(), &mut needed);
            needed.iter().any(|set| set.intersect(&common).is_empty())
        };
        let longest = parts.iter().map(|&part| self.longest_of(&common, part, DEPTH_MAX, &mut ROOM.clone()));
        let longest = longest.min().unwrap_or(Some(MANY));
        longest.is_none_or(|longest| parts.iter().any(|&part| self.cell(part).len_min > longest || needs_others(part)))
    }

    /// No text of these bytes alone is longer; `None` if there is none.
    fn longest_of(&self, bytes: &ByteSet, mut expr: Expr, depth: u32, room: &mut u32) -> Option<u32> {
        let mut before = 0u32;
        loop {
            if depth == 0 || *room == 0 {
                return Some(MANY);
            }
            *room -= 1;
            let mut of = |part: Expr| self.longest_of(bytes, part, depth - 1, room);
            let more = match self.node(expr) {
                Node::Set(set) => (!set.intersect(bytes).is_empty()).then_some(1),
                Node::Literal(text, tail) => {
                    if text.iter().any(|&byte| !bytes.contains(byte)) {
                        return None;
                    }
                    before = before.saturating_add(text.len() as u32);
                    expr = tail;
                    continue;
                }
                Node::Repeat(child, min, max) => match of(child) {
                    None => (min == 0).then_some(0),
                    Some(0) => Some(0),
                    Some(len) => Some(len.saturating_mul(max)),
                },
                // `None` is less than any length.
                Node::Or(parts) => parts.iter().map(|&part| of(part)).max().flatten(),
                Node::And(parts) => parts.iter().map(|&part| of(part)).min().flatten(),
                Node::Concat(head, tail) => {
                    before = before.saturating_add(of(head)?);
                    expr = tail;
                    continue;
                }
                _ => Some(self.cell(expr).len_max),
            };
            return Some(before.saturating_add(more?));
        }
    }

    /// All bytes that texts have, and perhaps others.
    pub(super) fn bytes_within(&self, mut expr: Expr, depth: u32, room: &mut u32) -> ByteSet {
        let mut bytes = ByteSet::EMPTY;
        loop {
            if depth == 0 || *room == 0 {
                return ByteSet::ALL;
            }
            *room -= 1;
            let mut of = |part: Expr| self.bytes_within(part, depth - 1, room);
            let more = match self.node(expr) {
                Node::Nothing | Node::Epsilon => ByteSet::EMPTY,
                Node::Set(set) => set,
                Node::Literal(text, tail) => {
                    text.iter().for_each(|&byte| bytes.insert(byte));
                    expr = tail;
                    continue;
                }
                Node::Repeat(child, ..) => of(child),
                Node::Or(parts) => parts.iter().fold(ByteSet::EMPTY, |all, &part| all.union(&of(part))),
                Node::And(parts) => parts.iter().fold(ByteSet::ALL, |all, &part| all.intersect(&of(part))),
                Node::Concat(head, tail) => {
                    bytes = bytes.union(&of(head));
                    expr = tail;
                    continue;
                }
                Node::Dfa(place) => {
                    let texts = self.texts_of_letters(place);
                    texts.iter().fold(ByteSet::EMPTY, |all, &text| all.union(&of(text)))
                }
                Node::Remainder(_) => {
                    let mut letters = ByteSet::EMPTY;
                    Remainder::letters().for_each(|letter| letters.insert(letter));
                    letters
                }
                Node::Not(_) | Node::Values(_) => ByteSet::ALL,
            };
            return bytes.union(&more);
        }
    }

    /// Adds sets of which each text has a byte.
    fn needed_within(&self, mut expr: Expr, depth: u32, room: &mut u32, needed: &mut Needed) {
        loop {
            if depth == 0 || *room == 0 || needed.len() >= NEEDED_MAX {
                return;
            }
            *room -= 1;
            let (head, tail) = match self.node(expr) {
                Node::Literal(text, tail) => {
                    needed.extend(text.iter().map(|&byte| ByteSet::range(byte, byte)));
                    expr = tail;
                    continue;
                }
                Node::Concat(head, tail) => (head, tail),
                _ => (expr, Expr::EPSILON),
            };
            match self.node(head) {
                Node::Set(set) => needed.push(set),
                Node::Repeat(child, 1.., _) => self.needed_within(child, depth - 1, room, needed),
                Node::And(parts) => {
                    parts.iter().for_each(|&part| self.needed_within(part, depth - 1, room, needed));
                }
                Node::Or(parts) => {
                    // One of the bytes that some way needs.
                    let mut either = ByteSet::EMPTY;
                    let have_all = parts.iter().all(|&part| {
                        let mut of_way = Needed::new();
                        self.needed_within(part, depth - 1, room, &mut of_way);
                        let fewest = of_way.iter().min_by_key(|set| set.len());
                        fewest.inspect(|set| either = either.union(set)).is_some()
                    });
                    if have_all {
                        needed.push(either);
                    }
                }
                _ => {}
            }
            if tail == Expr::EPSILON {
                return;
            }
            expr = tail;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::Lowered;
    use crate::algebra::random::expr;
    use crate::regex::RegexSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn what_lacks_bytes_is_empty(program in vec(any::<u8>(), 1..14)) {
            let (mut algebra, expr) = expr(&program);
            let parts = match algebra.node(expr) {
                Node::And(parts) => parts.to_vec(),
                _ => vec![expr],
            };
            for part in parts {
                let intersection = algebra.and(vec![part, expr]);
                if algebra.lacks_bytes(intersection) {
                    prop_assert_eq!(algebra.is_non_empty(intersection, u64::MAX), Ok(false));
                }
                let has_one_of = |algebra: &mut Algebra, set: ByteSet| {
                    let one = algebra.byte_set(set);
                    let rest = algebra.concat(one, Expr::ALL);
                    algebra.concat(Expr::ALL, rest)
                };
                let within = algebra.bytes_within(part, DEPTH_MAX, &mut ROOM.clone());
                let mut others = vec![has_one_of(&mut algebra, within.negate())];
                if within.len() > 1 {
                    // Without one of its bytes.
                    let one = within.iter().next().expect("it has two");
                    let mut fewer = ByteSet::EMPTY;
                    within.iter().filter(|&byte| byte != one).for_each(|byte| fewer.insert(byte));
                    let any = algebra.byte_set(fewer);
                    match algebra.longest_of(&fewer, part, DEPTH_MAX, &mut ROOM.clone()) {
                        Some(MANY) => {}
                        None => others.push(algebra.repeat(any, 0, MANY)),
                        Some(longest) => others.push(algebra.repeat(any, longest + 1, MANY)),
                    }
                }
                let mut needed = Needed::new();
                algebra.needed_within(part, DEPTH_MAX, &mut ROOM.clone(), &mut needed);
                for set in needed {
                    let has = has_one_of(&mut algebra, set);
                    others.push(algebra.not(has));
                }
                for other in others {
                    let contradiction = algebra.and(vec![part, other]);
                    prop_assert_eq!(algebra.is_non_empty(contradiction, u64::MAX), Ok(false));
                }
            }
        }
    }

    #[test]
    fn characters_that_are_single_bytes() {
        let mut set = RegexSet::new();
        let (digit, any) = (set.bytes(ByteSet::range(b'0', b'9')), set.any_char());
        let date = set.repeat(digit, 3, Some(20));
        let mut algebra = Algebra::new(1_000);
        for (chars, is_seen) in [(2, true), (3, false)] {
            let short = set.repeat(any, 0, Some(chars));
            let both = set.and(&[date, short]);
            let expr = algebra.lower(&set, both, &mut Lowered::default()).expect("small");
            assert_eq!(algebra.lacks_bytes(expr), is_seen);
        }
    }

    #[test]
    fn a_word_that_numbers_lack() {
        let mut set = RegexSet::new();
        let digit = set.bytes(ByteSet::range(b'0', b'9'));
        let any = set.bytes(ByteSet::ALL);
        let (digits, anything, word) = (set.repeat(digit, 1, None), set.repeat(any, 0, None), set.literal(b"7x"));
        let has_word = set.concat(&[anything, word, anything]);
        let both = set.and(&[digits, has_word]);
        let mut algebra = Algebra::new(1_000);
        let expr = algebra.lower(&set, both, &mut Lowered::default()).expect("small");
        assert!(algebra.lacks_bytes(expr));
        assert_eq!(algebra.is_non_empty(expr, 1_000), Ok(false));
    }
}
