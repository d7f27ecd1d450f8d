//! Texts that can be made longer by one character as often as one likes, seen from the operations without a search.
//!
//! `w ∈ L ⇒ wc ∈ L` (*appends*) holds for a complement exactly if `wc ∈ L ⇒ w ∈ L` (*strips*) holds for what it leaves out,
//! and the other way round; unions and intersections have either where all their parts have it, a sequence as its end has it.
//! So it shows of most unanchored patterns, of those that match as of those that must not, where a search through their
//! product would take milliseconds.

use super::{Algebra, Expr, MANY, Node};

/// Characters that are tried. Few patterns end with the first one.
const CHARACTERS: [u8; 4] = [0x7F, b' ', b'0', b'z'];
/// Operations within each other that are looked at.
const DEPTH_MAX: usize = 16;
/// Parts that are looked at for one character.
const PARTS_MAX: usize = 4_096;

/// What is known of all texts `w` and one character `c`.
#[derive(Clone, Copy)]
enum Law {
    /// If `w` is one of them, so is `wc`.
    Appends,
    /// If `wc` is one of them, so is `w`.
    Strips,
}

/// What a sequence may end with.
#[derive(Clone, Copy)]
enum End {
    Part(Expr),
    /// The last byte of a literal.
    Byte(u8),
}

/// A question about one character.
struct Pump {
    byte: u8,
    parts: usize,
}

impl Algebra {
    /// Whether each beginning of a text is the beginning of endlessly many, or whole, since what stands before the last byte
    /// of a sequence can be made longer by a character. False says nothing. Cost: linear, some thousand parts at most.
    pub fn is_pumped(&self, expr: Expr) -> bool {
        let (mut before, mut rest) = (None, expr);
        loop {
            match self.node(rest) {
                Node::Concat(first, tail) => (before, rest) = (Some(first), tail),
                Node::Literal(_, tail) if tail != Expr::EPSILON => (before, rest) = (None, tail),
                Node::Set(_) => break,
                _ => return false,
            }
        }
        before.is_some_and(|before| {
            CHARACTERS.iter().any(|&byte| Pump { byte, parts: PARTS_MAX }.holds(self, Law::Appends, before, DEPTH_MAX))
        })
    }

    /// An expression of the same texts and more, as plain as a look at the outermost sequence gives it: of intersections one
    /// part. Itself if there is none. Cost: linear in the sequence.
    pub fn relaxed(&mut self, expr: Expr) -> Expr {
        let mut before: Vec<Expr> = Vec::new();
        let (mut rest, mut is_relaxed) = (expr, false);
        loop {
            let (first, tail) = self.split_first(rest);
            let plain = self.plainest(first);
            is_relaxed |= plain.is_some();
            before.push(plain.unwrap_or(first));
            if tail == Expr::EPSILON {
                break;
            }
            rest = tail;
        }
        if !is_relaxed {
            return expr;
        }
        before.into_iter().rev().fold(Expr::EPSILON, |behind, part| self.concat(part, behind))
    }

    /// The plainest part of an intersection.
    fn plainest(&self, expr: Expr) -> Option<Expr> {
        let Node::And(parts) = self.node(expr) else { return None };
        let rank = |part: &Expr| match self.node(*part) {
            Node::Repeat(..) => 0,
            Node::Not(_) | Node::And(_) | Node::Dfa(_) => 2,
            _ => 1,
        };
        parts.iter().copied().min_by_key(rank).filter(|part| rank(part) < 2)
    }
}

impl Pump {
    /// Whether a law certainly holds.
    fn holds(&mut self, algebra: &Algebra, law: Law, expr: Expr, depth: usize) -> bool {
        if depth == 0 || self.parts == 0 {
            return false;
        }
        self.parts -= 1;
        if let Law::Strips = law
            && !self.may_end(algebra, expr, depth)
        {
            return true;
        }
        match (algebra.node(expr), law) {
            (Node::Or(parts) | Node::And(parts), _) => {
                parts.iter().all(|&part| self.holds(algebra, law, part, depth - 1))
            }
            (Node::Not(child), Law::Appends) => self.holds(algebra, Law::Strips, child, depth - 1),
            (Node::Not(child), Law::Strips) => self.holds(algebra, Law::Appends, child, depth - 1),
            (Node::Repeat(child, _, MANY), Law::Appends) => self.is_character(algebra, child),
            (Node::Repeat(child, 0, _), Law::Strips) => self.is_only_character(algebra, child, depth),
            (Node::Concat(..) | Node::Literal(..), Law::Appends) => {
                self.ends(algebra, expr).is_some_and(|ends| self.holds_at(algebra, law, ends[0], depth - 1))
            }
            (Node::Concat(..) | Node::Literal(..), Law::Strips) => self
                .ends(algebra, expr)
                .is_some_and(|ends| ends.iter().all(|&end| self.holds_at(algebra, law, end, depth - 1))),
            _ => false,
        }
    }

    fn holds_at(&mut self, algebra: &Algebra, law: Law, end: End, depth: usize) -> bool {
        match (end, law) {
            (End::Part(part), _) => self.holds(algebra, law, part, depth),
            (End::Byte(_), Law::Appends) => false,
            (End::Byte(byte), Law::Strips) => byte != self.byte,
        }
    }

    /// What a sequence may end with: the last part first, then those before parts that may be empty. `None` if it is too long.
    fn ends(&mut self, algebra: &Algebra, sequence: Expr) -> Option<Vec<End>> {
        let (mut parts, mut rest) = (Vec::new(), sequence);
        while rest != Expr::EPSILON {
            self.parts = self.parts.checked_sub(1)?;
            let (part, tail) = match algebra.node(rest) {
                Node::Concat(first, tail) => (End::Part(first), tail),
                Node::Literal(bytes, tail) => (End::Byte(*bytes.last()?), tail),
                _ => (End::Part(rest), Expr::EPSILON),
            };
            parts.push(part);
            rest = tail;
        }
        let may_be_empty = |end: &End| matches!(*end, End::Part(part) if algebra.is_nullable(part));
        let first = parts.iter().rposition(|end| !may_be_empty(end)).unwrap_or(0);
        Some(parts.drain(first..).rev().collect())
    }

    /// Whether a text may end with the character.
    fn may_end(&mut self, algebra: &Algebra, expr: Expr, depth: usize) -> bool {
        if depth == 0 || self.parts == 0 {
            return true;
        }
        self.parts -= 1;
        match algebra.node(expr) {
            Node::Nothing | Node::Epsilon => false,
            Node::Set(set) => set.contains(self.byte),
            Node::Or(parts) => parts.iter().any(|&part| self.may_end(algebra, part, depth - 1)),
            Node::And(parts) => parts.iter().all(|&part| self.may_end(algebra, part, depth - 1)),
            Node::Repeat(child, ..) => self.may_end(algebra, child, depth - 1),
            Node::Concat(..) | Node::Literal(..) => {
                let ends = self.ends(algebra, expr);
                ends.is_none_or(|ends| {
                    ends.into_iter().any(|end| match end {
                        End::Part(part) => self.may_end(algebra, part, depth - 1),
                        End::Byte(byte) => byte == self.byte,
                    })
                })
            }
            _ => true,
        }
    }

    /// Whether the character is one of the texts.
    fn is_character(&self, algebra: &Algebra, expr: Expr) -> bool {
        let is_in = |part: Expr| matches!(algebra.node(part), Node::Set(set) if set.contains(self.byte));
        match algebra.node(expr) {
            Node::Or(parts) => parts.iter().any(|&part| is_in(part)),
            _ => is_in(expr),
        }
    }

    /// Whether of the texts only the character itself ends with it.
    fn is_only_character(&mut self, algebra: &Algebra, expr: Expr, depth: usize) -> bool {
        let mut is_only =
            |part: Expr| matches!(algebra.node(part), Node::Set(_)) || !self.may_end(algebra, part, depth - 1);
        match algebra.node(expr) {
            Node::Or(parts) => parts.iter().all(|&part| is_only(part)),
            _ => is_only(expr),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::Lowered;
    use crate::algebra::random::{LETTERS, expr, set_of};
    use crate::regex::RegexSet;

    fn matches(algebra: &mut Algebra, expr: Expr, text: &[u8]) -> bool {
        let end = text.iter().fold(expr, |at, &byte| algebra.derivative(at, byte, u64::MAX).expect("small"));
        algebra.is_nullable(end)
    }

    /// All texts of so many letters at most.
    fn texts(len_max: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        let mut from = 0;
        for _ in 0..len_max {
            let to = all.len();
            for at in from..to {
                all.extend(LETTERS.map(|letter| [&all[at][..], &[letter]].concat()));
            }
            from = to;
        }
        all
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn laws_hold_for_all_short_texts(program in vec(any::<u8>(), 1..14)) {
            let (mut algebra, expr) = expr(&program);
            for (byte, law) in [b'b', 0x7F].into_iter().flat_map(|byte| [(byte, Law::Appends), (byte, Law::Strips)]) {
                if !(Pump { byte, parts: PARTS_MAX }).holds(&algebra, law, expr, DEPTH_MAX) {
                    continue;
                }
                for text in texts(4) {
                    let longer = [&text[..], &[byte]].concat();
                    let (short, long) = (matches(&mut algebra, expr, &text), matches(&mut algebra, expr, &longer));
                    let (given, follows) = if let Law::Appends = law { (short, long) } else { (long, short) };
                    prop_assert!(!given || follows, "{text:?} {byte}");
                }
            }
        }
    }

    #[test]
    fn laws_are_seen_of_each_operation() {
        let mut set = RegexSet::new();
        let (b, c) = (set.literal(b"b"), set.literal(b"\x7F"));
        let letters = set.bytes(set_of(&LETTERS));
        let any = set.repeat(letters, 0, None);
        let within = set.concat(&[any, b, any]);
        let not_within = set.not(within);
        let a = set.literal(b"a");
        let other = set.concat(&[any, a, any]);
        let ends = set.concat(&[any, c]);
        let not_ends = set.not(ends);
        // (regex, whether it appends the character, whether it strips it)
        let cases = [
            (b, false, true),
            (c, false, false),
            (any, true, true),
            (within, true, true),
            (not_within, true, true),
            (ends, false, false),
            (not_ends, false, false),
            (set.or(&[within, any]), true, true),
            (set.and(&[other, not_within]), true, true),
            (set.or(&[within, b]), false, true),
        ];
        let (mut algebra, mut lowered) = (Algebra::new(100_000), Lowered::default());
        for (number, (regex, appends, strips)) in cases.into_iter().enumerate() {
            let expr = algebra.lower(&set, regex, &mut lowered).expect("small");
            let holds = |law| Pump { byte: 0x7F, parts: PARTS_MAX }.holds(&algebra, law, expr, DEPTH_MAX);
            assert_eq!((holds(Law::Appends), holds(Law::Strips)), (appends, strips), "case {number}");
        }
    }

    #[test]
    fn unanchored_patterns_are_pumped_and_relaxed_to_any_text() {
        let mut set = RegexSet::new();
        let letters = set.bytes(set_of(b"ab \x7F"));
        let any = set.repeat(letters, 0, None);
        let within = |set: &mut RegexSet, text: &[u8]| {
            let text = set.literal(text);
            set.concat(&[any, text, any])
        };
        let (ab, ba, end) = (within(&mut set, b"ab"), within(&mut set, b"ba"), set.literal(b"b"));
        let (not_ab, not_ba) = (set.not(ab), set.not(ba));
        let neither = set.and(&[not_ab, not_ba, any]);
        // What must end with `b` is not made longer.
        let ends = set.concat(&[any, end]);
        let quote = set.literal(b"\"");
        let quoted = [neither, any, ends].map(|inner| set.concat(&[quote, inner, quote]));
        let (mut algebra, mut lowered) = (Algebra::new(100_000), Lowered::default());
        let [neither, any, ends] = quoted.map(|regex| algebra.lower(&set, regex, &mut lowered).expect("small"));
        assert!(algebra.is_pumped(neither) && algebra.is_pumped(any));
        assert_eq!((algebra.relaxed(neither), algebra.relaxed(any)), (any, any));
        assert!(!algebra.is_pumped(ends));
    }
}
