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
    pub fn is_pumped(&mut self, expr: Expr) -> bool {
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
            let (first, tail) = match self.node(rest) {
                Node::Literal(bytes, tail) => {
                    let bytes = bytes.to_vec();
                    (self.literal(&bytes, Expr::EPSILON), tail)
                }
                Node::Concat(first, tail) => (first, tail),
                _ => (rest, Expr::EPSILON),
            };
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
    use super::*;
    use crate::algebra::Lowered;
    use crate::regex::{ByteSet, RegexId, RegexSet};

    const LETTERS: [u8; 3] = [b'a', b'b', 0x7F];

    fn set_of(bytes: &[u8]) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        bytes.iter().for_each(|&byte| set.insert(byte));
        set
    }

    /// Numbers below a bound, of a linear congruence.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % bound
        }
    }

    fn regex(set: &mut RegexSet, random: &mut Random, depth: u32) -> RegexId {
        if depth == 0 || random.below(5) == 0 {
            let byte = LETTERS[random.below(3) as usize];
            return match random.below(5) {
                0 => set.literal(&[byte, LETTERS[random.below(3) as usize]]),
                1 => set.bytes(set_of(&LETTERS[..1 + random.below(3) as usize])),
                2 => {
                    let any = set.bytes(set_of(&LETTERS));
                    set.repeat(any, 0, None)
                }
                _ => set.literal(&[byte]),
            };
        }
        let a = regex(set, random, depth - 1);
        match random.below(6) {
            0 => set.repeat(a, random.below(2) as u32, None),
            1 => set.repeat(a, 0, Some(1 + random.below(3) as u32)),
            2 => set.not(a),
            kind => {
                let b = regex(set, random, depth - 1);
                match kind {
                    3 => set.or(&[a, b]),
                    4 => set.and(&[a, b]),
                    _ => set.concat(&[a, b]),
                }
            }
        }
    }

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

    #[test]
    fn laws_hold_for_all_short_texts() {
        let mut random = Random(1);
        let texts = texts(4);
        let mut found = [0; 2];
        for _ in 0..2_000 {
            let mut set = RegexSet::new();
            let regex = regex(&mut set, &mut random, 3);
            let mut algebra = Algebra::new(100_000);
            let expr = algebra.lower(&set, regex, &mut Lowered::default()).expect("small");
            for byte in [b'b', 0x7F] {
                for (law, found) in [Law::Appends, Law::Strips].into_iter().zip(&mut found) {
                    if !(Pump { byte, parts: PARTS_MAX }).holds(&algebra, law, expr, DEPTH_MAX) {
                        continue;
                    }
                    *found += 1;
                    for text in &texts {
                        let longer = [&text[..], &[byte]].concat();
                        let (short, long) = (matches(&mut algebra, expr, text), matches(&mut algebra, expr, &longer));
                        let (given, follows) = if let Law::Appends = law { (short, long) } else { (long, short) };
                        assert!(!given || follows, "{text:?} {byte} in {:?}", set.node(regex));
                    }
                }
            }
        }
        assert!(found.iter().all(|&found| found > 200), "{found:?} laws were seen");
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
