//! Counts: sequences, unions and intersections of repetitions as intervals.
//!
//! A derivative of `(a{1,50}b?){1,50}` is a union over where each of the two counts stands. Without these rules it has
//! thousands of operands after some bytes; with them, those that no other contains.

use smallvec::SmallVec;

use super::{Algebra, Expr, MANY, Node, Tag, add};
use crate::regex::ByteSet;

/// Operands of a union up to which each is compared with each.
const COMPARED_MAX: usize = 48;
/// Parts of two sequences compared at most.
const SPINE_MAX: usize = 12;
/// Parts that are looked at to see that texts are made of something.
const PLAIN_STEPS_MAX: u32 = 32;
/// Longest text in bytes of what is looked at as a code. 16: a character, spelled in any way.
const CODE_LEN_MAX: u32 = 16;
/// Work to find out whether an expression is a code.
const CODE_WORK_MAX: u64 = 5_000;

/// `child{min,max}` and what follows.
struct Counted {
    child: Expr,
    tail: Expr,
    min: u32,
    max: u32,
}

/// What was found out of pairs of expressions, the last of each place in the table.
#[derive(Default, Debug)]
pub(super) struct Answers(Vec<(Expr, Expr, bool)>);

/// Some 12 kB, once something was asked.
const ANSWERS_LEN: usize = 1 << 10;

impl Answers {
    fn get(&self, pair: (Expr, Expr)) -> Option<bool> {
        let &(a, b, answer) = self.0.get(Self::place(pair))?;
        ((a, b) == pair).then_some(answer)
    }
    fn put(&mut self, pair: (Expr, Expr), answer: bool) {
        // Of nothing is not asked.
        debug_assert_ne!(pair, (Expr::NOTHING, Expr::NOTHING));
        self.0.resize(ANSWERS_LEN, (Expr::NOTHING, Expr::NOTHING, false));
        self.0[Self::place(pair)] = (pair.0, pair.1, answer);
    }
    fn place((a, b): (Expr, Expr)) -> usize {
        (a.0 ^ b.0.wrapping_mul(0x9E37_79B9)) as usize % ANSWERS_LEN
    }
}

impl Algebra {
    pub(super) fn repeat(&mut self, child: Expr, min: u32, max: u32) -> Expr {
        self.pay(2);
        assert!(min <= max, "a repetition's minimum is at most its maximum");
        if max == 0 || child == Expr::EPSILON || (child == Expr::NOTHING && min == 0) {
            return Expr::EPSILON;
        }
        if child == Expr::NOTHING {
            return Expr::NOTHING;
        }
        let min = if self.is_nullable(child) { 0 } else { min };
        if (min, max) == (1, 1) || (max == 1 && self.is_nullable(child)) {
            return child;
        }
        if let Node::Repeat(inner, low, high) = self.node(child)
            && let Some((min, max)) = nested((low, high), (min, max))
        {
            return self.intern(Node::Repeat(inner, min, max));
        }
        self.intern(Node::Repeat(child, min, max))
    }

    /// `first rest` where both repeat the same: `c{1,2} c{3} d` is `c{4,5} d`.
    pub(super) fn join_counts(&mut self, first: Expr, rest: Expr) -> Option<Expr> {
        let (head, tail) = match self.node(rest) {
            Node::Concat(head, tail) => (head, tail),
            _ => (rest, Expr::EPSILON),
        };
        let (a, b) = (self.counted(first), self.counted(head));
        // Two equal parts are a repetition only where it is worth it: texts of bytes stay literals.
        let is_plain = self.single(first).is_some() && self.single(head).is_some();
        if a.0 != b.0 || is_plain {
            return None;
        }
        let min = a.1.checked_add(b.1)?;
        let max = if a.2 == MANY || b.2 == MANY { MANY } else { a.2.checked_add(b.2).filter(|&max| max < MANY)? };
        let repeated = self.repeat(a.0, min, max);
        Some(if tail == Expr::EPSILON { repeated } else { self.before(repeated, tail) })
    }

    /// The expression as (child, least, most).
    fn counted(&self, expr: Expr) -> (Expr, u32, u32) {
        match self.node(expr) {
            Node::Repeat(child, min, max) => (child, min, max),
            _ => (expr, 1, 1),
        }
    }

    /// In a union: counts of the same before the same are joined where they meet, and what is contained in another
    /// operand is left out.
    pub(super) fn merge_counts(&mut self, parts: &mut Vec<Expr>) {
        let mut counted: Vec<Counted> = parts
            .iter()
            .filter(|&&part| self.counts(part))
            .filter_map(|&part| {
                let (head, tail) = match self.node(part) {
                    Node::Concat(head, tail) => (head, tail),
                    _ => (part, Expr::EPSILON),
                };
                match self.node(head) {
                    Node::Repeat(child, min, max) => Some(Counted { child, tail, min, max }),
                    _ => None,
                }
            })
            .collect();
        self.pay(counted.len());
        counted.sort_unstable_by_key(|c| (c.child, c.tail, c.min));
        for run in counted.chunk_by(|a, b| a.child == b.child && a.tail == b.tail).filter(|run| run.len() > 1) {
            let mut merged: Vec<(u32, u32)> = Vec::with_capacity(run.len());
            for one in run {
                match merged.last_mut() {
                    Some(last) if one.min <= last.1.saturating_add(1) => last.1 = last.1.max(one.max),
                    _ => merged.push((one.min, one.max)),
                }
            }
            if merged.len() == run.len() {
                continue;
            }
            for one in run {
                let repeated = self.repeat(one.child, one.min, one.max);
                let old = self.concat(repeated, one.tail);
                if let Ok(at) = parts.binary_search(&old) {
                    parts.remove(at);
                }
            }
            for (min, max) in merged {
                let repeated = self.repeat(run[0].child, min, max);
                let new = self.concat(repeated, run[0].tail);
                add(parts, new);
            }
        }
        self.drop_contained(parts);
    }

    /// `first` before `rest` is `rest` if that begins with any number of what `first` is some or none of.
    pub(super) fn is_said_by(&mut self, first: Expr, rest: Expr) -> bool {
        self.is_nullable(first) && self.begins_endless(rest).is_some_and(|unit| self.is_plainly_some(first, unit))
    }

    /// Whether each text is some of `unit`, or none, as far as that shows of few parts. Those that follow on each other in a row
    /// of derivatives are asked for time and again.
    fn is_plainly_some(&mut self, expr: Expr, unit: Expr) -> bool {
        if let Some(known) = self.plainly_some.get((expr, unit)) {
            return known;
        }
        let mut left = PLAIN_STEPS_MAX;
        let is_some = self.shows_to_be_some(expr, unit, &mut left);
        self.pay((PLAIN_STEPS_MAX - left) as usize);
        self.plainly_some.put((expr, unit), is_some);
        is_some
    }

    /// The same, looked at.
    fn shows_to_be_some(&self, expr: Expr, unit: Expr, steps: &mut u32) -> bool {
        let mut at = expr;
        loop {
            let Some(left) = steps.checked_sub(1) else { return false };
            *steps = left;
            match self.node(at) {
                Node::Epsilon => return true,
                _ if self.is_unit(at, unit) => return true,
                Node::Set(set) => return set.intersect(&self.bytes_of_one(unit)) == set,
                Node::Repeat(child, ..) => at = child,
                Node::Concat(head, tail) => {
                    if !self.shows_to_be_some(head, unit, steps) {
                        return false;
                    }
                    at = tail;
                }
                Node::Literal(bytes, tail) => {
                    if !self.are_units(bytes, unit) {
                        return false;
                    }
                    at = tail;
                }
                Node::Or(parts) => return parts.iter().all(|&part| self.shows_to_be_some(part, unit, steps)),
                Node::And(parts) => return parts.iter().any(|&part| self.shows_to_be_some(part, unit, steps)),
                _ => return false,
            }
        }
    }

    /// Whether the expression is `unit` or one of its alternatives.
    fn is_unit(&self, expr: Expr, unit: Expr) -> bool {
        expr == unit || self.tag(unit) == Tag::Or && self.operands(unit).binary_search(&expr).is_ok()
    }

    /// Whether each byte is a text of `unit`.
    fn are_units(&self, bytes: &[u8], unit: Expr) -> bool {
        let ones = self.bytes_of_one(unit);
        bytes.iter().all(|&byte| ones.contains(byte))
    }

    /// Bytes that are texts by themselves, as far as that is plain.
    fn bytes_of_one(&self, expr: Expr) -> ByteSet {
        let of = |part: &Expr| match self.node(*part) {
            Node::Set(set) => set,
            _ => ByteSet::EMPTY,
        };
        match self.node(expr) {
            // Those of characters have a dozen.
            Node::Or(parts) => parts.iter().take(COMPARED_MAX).fold(ByteSet::EMPTY, |all, part| all.union(&of(part))),
            _ => of(&expr),
        }
    }

    /// What a sequence that begins with `u*` repeats there.
    fn begins_endless(&self, sequence: Expr) -> Option<Expr> {
        match self.node(self.parted(sequence).0) {
            Node::Repeat(child, 0, MANY) => Some(child),
            _ => None,
        }
    }

    fn parted(&self, sequence: Expr) -> (Expr, Expr) {
        match self.node(sequence) {
            Node::Concat(head, tail) => (head, tail),
            _ => (sequence, Expr::EPSILON),
        }
    }

    /// Leaves out operands that another contains.
    fn drop_contained(&mut self, parts: &mut Vec<Expr>) {
        if parts.len() < 2 || parts.len() > COMPARED_MAX {
            return;
        }
        let mut bigs: SmallVec<[Expr; 8]> = parts.iter().copied().filter(|&part| self.may_contain(part)).collect();
        self.pay(4 * bigs.len() * parts.len());
        let mut at = 0;
        while at < parts.len() {
            let small = parts[at];
            if bigs.iter().any(|&big| big != small && self.is_within(small, big)) {
                parts.remove(at);
                // Of two that contain each other, one stays.
                bigs.retain(|&mut big| big != small);
            } else {
                at += 1;
            }
        }
    }

    /// Whether another operand of a union may be contained in this one.
    pub(super) fn may_contain(&self, expr: Expr) -> bool {
        self.counts(expr) || self.begins_endless(expr).is_some()
    }

    /// Whether one sequence is contained in another part by part; false says nothing. What is made of `u` is in what begins with
    /// `u*`: so a text in which something is sought is any text once it was found. Most of a state's unions are of what stood in
    /// those before.
    fn is_within(&mut self, small: Expr, big: Expr) -> bool {
        if let Some(known) = self.within.get((small, big)) {
            return known;
        }
        let is_within = self.shows_to_be_within(small, big);
        self.within.put((small, big), is_within);
        is_within
    }

    /// The same, looked at.
    fn shows_to_be_within(&mut self, mut small: Expr, mut big: Expr) -> bool {
        for _ in 0..SPINE_MAX {
            if small == big {
                return true;
            }
            if small == Expr::EPSILON {
                return self.is_nullable(big);
            }
            let (big_head, big_tail) = self.parted(big);
            if let Some(unit) = self.begins_endless(big) {
                if small == big_tail {
                    return true;
                }
                if let Some(rest) = self.behind_units(small, unit) {
                    small = rest;
                    continue;
                }
            }
            let (small_head, small_tail) = self.parted(small);
            let (a, b) = (self.counted(small_head), self.counted(big_head));
            if small_head == big_head || (a.0 == b.0 && b.1 <= a.1 && a.2 <= b.2) {
                (small, big) = (small_tail, big_tail);
            } else if self.is_nullable(big_head) && big != big_head {
                big = big_tail;
            } else {
                return false;
            }
        }
        false
    }

    /// What is behind the first part of a sequence, if that is some of `unit`.
    fn behind_units(&mut self, sequence: Expr, unit: Expr) -> Option<Expr> {
        match self.node(sequence) {
            Node::Literal(bytes, tail) => self.are_units(bytes, unit).then_some(tail),
            _ => {
                let (head, tail) = self.parted(sequence);
                self.is_plainly_some(head, unit).then_some(tail)
            }
        }
    }

    /// In an intersection: repetitions of the same code, whose counts the text determines, and complements of such, but for those
    /// that would leave two intervals of counts.
    pub(super) fn merge_lengths(&mut self, parts: &mut Vec<Expr>) {
        let mut repeats: SmallVec<[Repeat; 4]> = parts.iter().filter_map(|&part| self.repeat_in(part)).collect();
        repeats.sort_unstable();
        for run in repeats.chunk_by(|a, b| a.0 == b.0) {
            let child = run[0].0;
            let refused =
                parts.iter().filter_map(|&part| self.refused_repeat(part)).filter(|refused| refused.0 == child);
            let refused: SmallVec<[Repeat; 4]> = refused.collect();
            if run.len() + refused.len() < 2 || !self.is_code(child) {
                continue;
            }
            let min = run.iter().map(|r| r.1).max().unwrap_or(0);
            let max = run.iter().map(|r| r.2).min().unwrap_or(MANY);
            let left = narrowed((min, max), &refused);
            parts.retain(|&part| match (self.repeat_in(part), self.refused_repeat(part)) {
                (Some(repeat), _) => repeat.0 != child,
                (_, Some((other, low, high))) => {
                    other != child || left.is_some_and(|left| left.0 < low && high < left.1)
                }
                _ => true,
            });
            let merged = left.map_or(Expr::NOTHING, |(min, max)| self.repeat(child, min, max));
            add(parts, merged);
        }
    }
    fn repeat_in(&self, expr: Expr) -> Option<Repeat> {
        match self.node(expr) {
            Node::Repeat(child, min, max) => Some((child, min, max)),
            _ => None,
        }
    }
    fn refused_repeat(&self, expr: Expr) -> Option<Repeat> {
        match self.node(expr) {
            Node::Not(child) => self.repeat_in(child),
            _ => None,
        }
    }

    /// Whether no text of the expression is the beginning of another, so that a text is a sequence of them in one way.
    /// All classes of characters are such codes, and their spellings in JSON. False if that is not found out quickly.
    pub(super) fn is_code(&mut self, expr: Expr) -> bool {
        if let Some(&known) = self.codes.get(&expr) {
            return known;
        }
        // What is asked meanwhile is taken for no code.
        self.codes.insert(expr, false);
        if self.cell(expr).len_max > CODE_LEN_MAX || self.is_nullable(expr) {
            return false;
        }
        let longer = self.concat(expr, Expr::NON_EMPTY);
        let both = self.and(vec![expr, longer]);
        let answer = self.is_non_empty(both, CODE_WORK_MAX) == Ok(false);
        self.codes.insert(expr, answer);
        answer
    }
}

/// A repetition: of what, least, most.
type Repeat = (Expr, u32, u32);

/// Counts without those of others that stand at their edges; `None` if none is left.
fn narrowed((mut min, mut max): (u32, u32), refused: &[Repeat]) -> Option<(u32, u32)> {
    while min <= max {
        let before = (min, max);
        for &(_, low, high) in refused {
            match (low <= min && min <= high, low <= max && max <= high) {
                (true, true) => return None,
                (true, false) => min = high + 1,
                (false, true) => max = low - 1,
                (false, false) => {}
            }
        }
        if (min, max) == before {
            return Some(before);
        }
    }
    None
}

/// The counts of `(c{low,high}){min,max}`, if they are an interval.
fn nested((low, high): (u32, u32), (min, max): (u32, u32)) -> Option<(u32, u32)> {
    let product = |a: u32, b: u32| a.checked_mul(b).filter(|&count| count < MANY);
    let least = product(low, min)?;
    let most = if high == MANY || max == MANY { MANY } else { product(high, max)? };
    let meets = match min {
        _ if min == max => true,
        0 => low <= 1,
        _ if high == MANY => true,
        // `min` times at most is at least one less than `min + 1` times at least; so it is for more.
        _ => u64::from(min) * u64::from(high) + 1 >= (u64::from(min) + 1) * u64::from(low),
    };
    meets.then_some((least, most))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::random::LETTERS;

    fn text(len: usize) -> impl Strategy<Value = Vec<u8>> {
        vec(prop::sample::select(&LETTERS[..]), 1..len)
    }

    /// A sequence of repetitions: of which of some texts (a bit each), and of what kind.
    fn sequence() -> impl Strategy<Value = Vec<(u8, u8)>> {
        vec((any::<u8>(), any::<u8>()), 0..4)
    }

    fn one_of<'a>(algebra: &mut Algebra, texts: impl Iterator<Item = &'a Vec<u8>>) -> Expr {
        let texts = texts.map(|text| algebra.literal(text, Expr::EPSILON)).collect();
        algebra.or(texts)
    }

    fn make(algebra: &mut Algebra, texts: &[Vec<u8>], parts: &[(u8, u8)]) -> Expr {
        parts.iter().fold(Expr::EPSILON, |rest, &(which, kind)| {
            let among = texts.iter().enumerate().filter(|(bit, _)| which >> bit & 1 != 0);
            let one = one_of(algebra, among.map(|(_, text)| text));
            let one = match kind / 6 % 4 {
                0 => {
                    let (not, any) = (algebra.not(one), one_of(algebra, texts.iter()));
                    algebra.and(vec![not, any])
                }
                // As in a look-ahead.
                1 => {
                    let begun = algebra.literal(&texts[usize::from(which) % texts.len()], Expr::ALL);
                    let not = algebra.not(begun);
                    algebra.and(vec![not, one])
                }
                _ => one,
            };
            let (min, max) = [(0, MANY), (0, MANY), (1, MANY), (0, 2), (1, 1), (2, 3)][usize::from(kind % 6)];
            let part = algebra.repeat(one, min, max);
            algebra.concat(part, rest)
        })
    }

    fn has(algebra: &mut Algebra, expr: Expr, text: &[u8]) -> bool {
        let end = text.iter().fold(expr, |at, &byte| algebra.derivative(at, byte, u64::MAX).expect("small"));
        algebra.is_nullable(end)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]
        #[test]
        fn unions_and_sequences_have_the_texts_of_their_operands(
            texts in vec(text(4), 1..5), (first, second) in (sequence(), sequence()), tried in vec(text(8), 20),
        ) {
            let mut algebra = Algebra::new(100_000);
            let [first, second] = [&first, &second].map(|parts| make(&mut algebra, &texts, parts));
            let either = algebra.or(vec![first, second]);
            let both = algebra.concat(first, second);
            for text in tried.iter().map(Vec::as_slice).chain([&[][..]]) {
                let in_one = has(&mut algebra, first, text) || has(&mut algebra, second, text);
                prop_assert_eq!(has(&mut algebra, either, text), in_one);
                let mut is_split =
                    |at: usize| has(&mut algebra, first, &text[..at]) && has(&mut algebra, second, &text[at..]);
                let in_both = (0..=text.len()).any(&mut is_split);
                prop_assert_eq!(has(&mut algebra, both, text), in_both);
            }
        }
    }
}
