//! Which bytes may come first, and whether any may, as far as that shows without a derivative.

use super::{Algebra, Expr, Node, REACHED};
use crate::regex::ByteSet;

/// Expressions that are looked at at most. What any letter of Unicode begins with takes some hundred.
const ROOM: u32 = 4_096;

/// Operations within each other at most.
const DEPTH_MAX: u32 = 16;

impl Algebra {
    /// All bytes that a text may begin with, and perhaps others.
    ///
    /// Cost: at most some 20 us, mostly nanoseconds; no expression is made.
    pub fn first_bytes(&self, expr: Expr) -> ByteSet {
        self.first_within(expr, DEPTH_MAX, &mut ROOM.clone())
    }

    /// Whether it shows without a derivative that a text matches that is not empty.
    pub fn has_more(&self, expr: Expr) -> bool {
        let cell = self.cell(expr);
        cell.flags & REACHED != 0 && cell.len_max > 0
    }

    fn first_within(&self, mut expr: Expr, depth: u32, room: &mut u32) -> ByteSet {
        let mut first = ByteSet::EMPTY;
        loop {
            if depth == 0 || *room == 0 {
                return ByteSet::ALL;
            }
            *room -= 1;
            let mut of = |part: Expr| self.first_within(part, depth - 1, room);
            let more = match self.node(expr) {
                Node::Nothing | Node::Epsilon => ByteSet::EMPTY,
                Node::Set(set) => set,
                Node::Literal(bytes, _) => ByteSet::range(bytes[0], bytes[0]),
                Node::Repeat(child, ..) => of(child),
                Node::Or(parts) if parts.len() > ROOM as usize => ByteSet::ALL,
                Node::Or(parts) => parts.iter().fold(ByteSet::EMPTY, |all, &part| all.union(&of(part))),
                Node::And(parts) => {
                    let some = parts.iter().take(ROOM as usize);
                    some.fold(ByteSet::ALL, |all, &part| all.intersect(&of(part)))
                }
                Node::Concat(head, tail) => {
                    first = first.union(&of(head));
                    if !self.is_nullable(head) {
                        return first;
                    }
                    expr = tail;
                    continue;
                }
                Node::Dfa(place) => self.place_first(place),
                Node::Not(_) | Node::Remainder(_) | Node::Values(_) => ByteSet::ALL,
            };
            return first.union(&more);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::Lowered;
    use crate::algebra::random::{LETTERS, expr};
    use crate::regex::RegexSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn nothing_follows_other_bytes(program in vec(any::<u8>(), 1..14)) {
            let (mut algebra, expr) = expr(&program);
            let first = algebra.first_bytes(expr);
            for byte in LETTERS.into_iter().chain([0, 0xFF]).filter(|&byte| !first.contains(byte)) {
                let left = algebra.derivative(expr, byte, u64::MAX).expect("small");
                prop_assert_eq!(algebra.is_non_empty(left, u64::MAX), Ok(false));
            }
        }

        #[test]
        fn where_more_is_seen_a_byte_may_follow(program in vec(any::<u8>(), 1..14)) {
            let (mut algebra, expr) = expr(&program);
            let mut may_follow = |byte: u8| {
                let left = algebra.derivative(expr, byte, u64::MAX).expect("small");
                algebra.is_non_empty(left, u64::MAX) == Ok(true)
            };
            let is_more = LETTERS.into_iter().chain([0, 0xFF]).any(&mut may_follow);
            prop_assert!(is_more || !algebra.has_more(expr));
        }
    }

    #[test]
    fn more_is_seen_where_a_text_may_end_and_go_on() {
        let mut set = RegexSet::new();
        let [a, b] = [b"a", b"b"].map(|text| set.literal(text));
        let (some, empty) = (set.repeat(a, 0, None), set.epsilon());
        let word = set.concat(&[a, some, b]);
        let words = set.repeat(word, 0, Some(3));
        let mut algebra = Algebra::new(1_000);
        for (regex, expected) in [(some, true), (words, true), (word, true), (empty, false)] {
            let expr = algebra.lower(&set, regex, &mut Lowered::default()).expect("small");
            assert_eq!(algebra.has_more(expr), expected);
        }
    }

    #[test]
    fn first_bytes_show_through_what_may_be_left_out() {
        let mut set = RegexSet::new();
        let [a, b, c] = [b"ax", b"bx", b"cx"].map(|text| set.literal(text));
        let (perhaps, many) = (set.optional(a), set.repeat(b, 0, None));
        let all = set.concat(&[perhaps, many, c]);
        let mut algebra = Algebra::new(1_000);
        let expr = algebra.lower(&set, all, &mut Lowered::default()).expect("small");
        assert_eq!(algebra.first_bytes(expr), ByteSet::range(b'a', b'c'));
    }
}
