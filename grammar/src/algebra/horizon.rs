//! What can be told of an expression within a horizon: counts that cannot end there do not count.
//!
//! Who looks at most so many bytes ahead cannot reach the end of `x{0,1000}`, nor what may follow `x{1000,}`. So all
//! the expressions that differ in such counts only are one, and a text within `maxLength: 100000` stays where it is. Of words
//! even fewer are in reach than their bytes say ([`turns`](super::turns)).
//! That holds below sequences, unions and repetitions; an intersection or a complement may well tell them apart:
//! `(ab)*c{200,} & [a-z]{0,350}` is empty after `(ab)^76`. But where all of one operand's texts are such as the other
//! counts, and it can always be ended in a few bytes, as words are in `([a-z]+ ){0,29}[a-z]+ & [a-z ]{0,300}`, a count
//! that is far off does not matter: the intersection is that operand. Nor does it where a text that may go on may end, too:
//! `[a-z ]{0,300} & ~(.*(if|else).*)` is without these words as far as it was read.

use rustc_hash::FxHashMap;

use super::{Algebra, Expr, LARGE, MANY, Node, Turn};
use crate::regex::ByteSet;

/// How far ahead somebody looks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Horizon {
    /// So many bytes.
    pub bytes: u32,
    /// Of these so many begin a character of UTF-8: those that are no continuation bytes.
    pub chars: u32,
}

impl Horizon {
    /// One that knows nothing of characters.
    pub fn bytes(bytes: u32) -> Self {
        Self { bytes, chars: bytes }
    }
}

/// Counts below this are reached whatever the tokens are.
const REACHED_MIN: u32 = 3;

/// Work to see that all texts of an operand are such as the other counts: thirty words of the letters of Unicode in JSON
/// take half of it. What is seen on the way holds for what is then left of the operand.
const INCLUSION_WORK: u64 = 200_000;

/// Work to see that what is left out is left out of all longer texts, too, 4 ms: enough for some words. A hundred take fifteen times as
/// much, once: what is seen on the way holds for what is then left. So much more may be spent with each question, 2 ms: those who ask
/// look at all tokens in a state for each count otherwise.
const CLOSURE_WORK: u64 = 200_000;
const CLOSURE_WORK_PER_QUESTION: u64 = 100_000;

/// Work for questions that take long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Allowance {
    /// What may be spent.
    left: u64,
    /// With less it is not tried again: half as much was not enough.
    least: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { left: CLOSURE_WORK, least: 0 }
    }
}

/// Parts of an expression that are looked at for how it can be ended, or begins, or ends.
pub(super) const PARTS_MAX: usize = 1_000;

impl Algebra {
    /// An expression that has the same beginnings as far as the horizon, of which the same ones match, with counts beyond
    /// that clamped. Cost: a look-up if it has none; else linear in the parts that have, of which `known` holds
    /// those that were clamped before with this horizon.
    ///
    /// Errors: it depends on how often a turn comes in a token. To be asked again when that is [noted](Self::note_turns).
    pub fn clamped(&mut self, expr: Expr, horizon: Horizon, known: &mut FxHashMap<Expr, Expr>) -> Result<Expr, Turn> {
        if !self.is_large(expr) {
            return Ok(expr);
        }
        let mut agenda = vec![expr];
        while let Some(&at) = agenda.last() {
            if !self.is_large(at) || known.contains_key(&at) {
                agenda.pop();
                continue;
            }
            let parts: Vec<Expr> = match self.node(at) {
                Node::Literal(_, tail) => vec![tail],
                Node::Repeat(child, ..) => vec![child],
                Node::Concat(first, rest) => vec![first, rest],
                Node::Or(parts) => parts.to_vec(),
                Node::And(_) => self.within_bounds(at, horizon).into_iter().collect(),
                _ => unreachable!("no other expression has large counts"),
            };
            let of = |part: Expr| if self.is_large(part) { known.get(&part).copied() } else { Some(part) };
            let before = agenda.len();
            agenda.extend(parts.iter().copied().filter(|&part| of(part).is_none()));
            if agenda.len() > before {
                continue;
            }
            let parts: Vec<Expr> = parts.into_iter().map(|part| of(part).expect("it was clamped")).collect();
            let clamped = self.clamp(at, parts, horizon)?;
            known.insert(at, clamped);
            agenda.pop();
        }
        Ok(known.get(&expr).copied().unwrap_or(expr))
    }

    fn is_large(&self, expr: Expr) -> bool {
        self.cell(expr).flags & LARGE != 0
    }

    /// The expression with its parts clamped.
    fn clamp(&mut self, expr: Expr, parts: Vec<Expr>, horizon: Horizon) -> Result<Expr, Turn> {
        Ok(match self.node(expr) {
            Node::Literal(bytes, _) => {
                let bytes = bytes.to_vec();
                self.literal(&bytes, parts[0])
            }
            Node::Repeat(child, min, max) => {
                let reached = self.reached(child, [min, max], horizon)?;
                let max = if max > reached { MANY } else { max };
                self.repeat(parts[0], min.min(reached), max)
            }
            Node::Concat(..) => self.concat(parts[0], parts[1]),
            Node::And(_) => parts.first().copied().unwrap_or(expr),
            _ => self.or(parts),
        })
    }

    /// Counts of a repetition above this cannot be told from each other. With `counts` of which none may be reached, it is not asked
    /// how far tokens reach.
    fn reached(&mut self, child: Expr, counts: [u32; 2], horizon: Horizon) -> Result<u32, Turn> {
        let Some(begun) = self.begun_by_length(child, horizon) else { return Ok(MANY) };
        // One repetition may be under way, and one more begun.
        let reached = begun.saturating_add(2);
        let is_reached = |count: &u32| *count != MANY && (REACHED_MIN..=reached).contains(count);
        let turns = match counts.iter().any(is_reached) {
            true => self.turns(child)?,
            false => self.known_turns(child),
        };
        // What begins behind each turn, one before them, and one more.
        Ok(turns.map_or(reached, |turns| reached.min(turns + 2)))
    }

    /// An intersection without an operand that only says that something may not be repeated too often, if that does not matter within
    /// the horizon.
    fn within_bounds(&mut self, and: Expr, horizon: Horizon) -> Option<Expr> {
        self.of_counted(and, horizon).or_else(|| self.but_for_closed(and, horizon))
    }

    /// An operand of an intersection of two, if its texts are such as the other one counts, and are soon at an end.
    fn of_counted(&mut self, and: Expr, horizon: Horizon) -> Option<Expr> {
        let Node::And(&[one, other]) = self.node(and) else { return None };
        [(one, other), (other, one)].into_iter().find_map(|(operand, bound)| {
            let (before, child, max) = self.upper_bound(bound)?;
            // What is begun in what is read ahead and in what is then left of the operand, and what was begun on either side.
            let begun = self.begun(child, horizon)?;
            let left = self.completion(operand)? / self.cell(child).len_min;
            if max <= begun.checked_add(left)?.checked_add(2)? {
                return None;
            }
            let is_counted = match self.node(operand) {
                Node::Concat(first, rest) if first == before => self.is_made_of(rest, child, INCLUSION_WORK),
                _ if before == Expr::EPSILON => self.is_made_of(operand, child, INCLUSION_WORK),
                _ => self.is_within_some(operand, (before, child), &mut INCLUSION_WORK.clone()),
            };
            is_counted.then_some(operand)
        })
    }

    /// The intersection without the bound of one operand, if what the others leave out they leave out however a text goes on: then each
    /// beginning of a text is one, too. Of others but complements, and of characters in UTF-8, that is seldom so.
    fn but_for_closed(&mut self, and: Expr, horizon: Horizon) -> Option<Expr> {
        let Node::And(parts) = self.node(and) else { return None };
        let mut parts = parts.to_vec();
        let bounded = |(at, &part): (usize, &Expr)| Some((at, self.upper_bound(part)?));
        let (at, (before, child, max)) = parts.iter().enumerate().find_map(bounded)?;
        // What is begun in what is read ahead, and what was begun on either side.
        if max <= self.begun(child, horizon)?.checked_add(2)? {
            return None;
        }
        let some = self.repeat(child, 0, MANY);
        parts[at] = self.concat(before, some);
        for other in (0..parts.len()).filter(|&other| other != at) {
            let left_out = match self.node(parts[other]) {
                Node::Not(left_out) => left_out,
                Node::Repeat(_, 0, MANY) => self.not(parts[other]),
                _ => return None,
            };
            if !self.is_closed(left_out, parts[at], some) {
                return None;
            }
        }
        Some(self.and(parts))
    }

    /// Whether what is in an expression, of texts of `all`, is so with some of `more` behind it, as far as a search finds that out.
    fn is_closed(&mut self, expr: Expr, all: Expr, more: Expr) -> bool {
        let within = self.and(vec![expr, all]);
        let longer = self.concat(within, more);
        let not = self.not(expr);
        let outside = self.and(vec![longer, not]);
        if let Some(has_outside) = self.noted_non_empty(outside) {
            return !has_outside;
        }
        self.closure.left += CLOSURE_WORK_PER_QUESTION;
        let Allowance { left, least } = self.closure;
        if left < least {
            return false;
        }
        let begun = self.work();
        let has_outside = self.is_non_empty(outside, left);
        self.closure = match has_outside {
            Ok(_) => Allowance { left: left.saturating_sub(self.work() - begun), least },
            Err(_) => Allowance { left: 0, least: 2 * left },
        };
        has_outside == Ok(false)
    }

    /// Whether each text is some of `child`, one behind the other, as far as that is found out by a look at all parts, and with so
    /// much work by searches for those that do not show it themselves.
    pub fn is_made_of(&mut self, expr: Expr, child: Expr, mut work: u64) -> bool {
        self.is_some_of(expr, child, &mut work)
    }

    fn is_some_of(&mut self, expr: Expr, child: Expr, work: &mut u64) -> bool {
        let mut rest = expr;
        while let Some(behind) = self.behind_some(rest, child, work) {
            rest = behind;
        }
        let shows = match self.node(rest) {
            Node::Epsilon => true,
            _ if rest == child => true,
            Node::Repeat(part, ..) => self.is_some_of(part, child, work),
            Node::Or(parts) => {
                let parts = parts.to_vec();
                parts.into_iter().all(|part| self.is_some_of(part, child, work))
            }
            Node::And(parts) => {
                let parts = parts.to_vec();
                parts.into_iter().any(|part| self.is_some_of(part, child, work))
            }
            Node::Dfa(place) if self.is_before_letter(place) => self.has_letters(place.dfa, child),
            _ => false,
        };
        shows || self.is_within_some(rest, (Expr::EPSILON, child), work)
    }

    /// What stands behind a first part that is made of `child`.
    fn behind_some(&mut self, expr: Expr, child: Expr, work: &mut u64) -> Option<Expr> {
        self.pay(1);
        match self.node(expr) {
            Node::Concat(first, rest) => self.is_some_of(first, child, work).then_some(rest),
            Node::Literal(text, rest) => {
                let text = text.to_vec();
                let endless = self.repeat(child, 0, MANY);
                let behind = text.iter().try_fold(endless, |left, &byte| self.derivative(left, byte, u64::MAX));
                (behind == Ok(endless)).then_some(rest)
            }
            _ => None,
        }
    }

    /// Whether each text is `before` and some of `child`, as far as a search with so much work finds that out.
    fn is_within_some(&mut self, expr: Expr, (before, child): (Expr, Expr), work: &mut u64) -> bool {
        let endless = self.repeat(child, 0, MANY);
        let endless = self.concat(before, endless);
        let not = self.not(endless);
        let outside = self.and(vec![expr, not]);
        let begun = self.work();
        let is_outside = self.is_non_empty(outside, *work);
        *work = work.saturating_sub(self.work() - begun);
        is_outside == Ok(false)
    }

    /// How many texts of an expression, one behind the other, can begin within the horizon; `None` if endlessly many can.
    fn begun(&self, child: Expr, horizon: Horizon) -> Option<u32> {
        let by_length = self.begun_by_length(child, horizon)?;
        Some(self.known_turns(child).map_or(by_length, |turns| by_length.min(turns + 1)))
    }

    fn begun_by_length(&self, child: Expr, horizon: Horizon) -> Option<u32> {
        let by_length = horizon.bytes.checked_div(self.cell(child).len_min)?;
        Some(if self.begins_characters(child) { by_length.min(horizon.chars) } else { by_length })
    }

    /// Whether each text, of which none is empty, begins with a byte that begins a character, as far as that is plain to see.
    fn begins_characters(&self, expr: Expr) -> bool {
        let begins_one = |byte: u8| !(0x80..0xC0).contains(&byte);
        let mut agenda = vec![expr];
        let mut seen = 0;
        while let Some(at) = agenda.pop() {
            seen += 1;
            match self.node(at) {
                _ if seen > PARTS_MAX => return false,
                Node::Nothing | Node::Epsilon => {}
                Node::Set(set) if set.intersect(&ByteSet::range(0x80, 0xBF)).is_empty() => {}
                Node::Literal(bytes, _) if begins_one(bytes[0]) => {}
                Node::Repeat(child, ..) => agenda.push(child),
                Node::Concat(first, rest) => {
                    agenda.push(first);
                    agenda.extend(self.is_nullable(first).then_some(rest));
                }
                Node::Or(parts) => agenda.extend(parts),
                _ => return false,
            }
        }
        true
    }

    /// The parts of `before child{0,max}`.
    fn upper_bound(&self, expr: Expr) -> Option<(Expr, Expr, u32)> {
        let (before, repeat) = match self.node(expr) {
            Node::Concat(before, repeat) => (before, repeat),
            _ => (Expr::EPSILON, expr),
        };
        match self.node(repeat) {
            Node::Repeat(child, 0, max) if max != MANY => Some((before, child, max)),
            _ => None,
        }
    }

    /// A number of bytes in which each text can be made whole that the expression matches the beginning of. `None` if that
    /// is not plain to see.
    fn completion(&self, expr: Expr) -> Option<u32> {
        // The most bytes for what is looked at, with what stands behind it.
        let mut most = 0u32;
        let mut agenda = vec![(expr, 0u32)];
        let mut seen = 0;
        while let Some((at, behind)) = agenda.pop() {
            seen += 1;
            let cell = self.cell(at);
            // The shortest text of such parts is as long as their sum says; of intersections it may be longer.
            most = most.max(cell.len_min.checked_add(behind)?);
            match self.node(at) {
                _ if seen > PARTS_MAX => return None,
                Node::Nothing | Node::Epsilon | Node::Set(_) => {}
                Node::Literal(_, tail) => agenda.push((tail, behind)),
                Node::Repeat(child, min, _) => {
                    let others = self.cell(child).len_min.checked_mul(min.saturating_sub(1))?;
                    agenda.push((child, behind.checked_add(others)?));
                }
                Node::Concat(first, rest) => {
                    agenda.push((first, behind.checked_add(self.cell(rest).len_min)?));
                    agenda.push((rest, behind));
                }
                Node::Or(parts) => agenda.extend(parts.iter().map(|&part| (part, behind))),
                Node::Dfa(place) => most = most.max(self.word_completion(place)?.checked_add(behind)?),
                _ => return None,
            }
        }
        Some(most)
    }
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashMap;

    use super::*;

    /// Of those who do not count turns.
    fn clamped(algebra: &mut Algebra, expr: Expr, horizon: Horizon, known: &mut FxHashMap<Expr, Expr>) -> Expr {
        loop {
            match algebra.clamped(expr, horizon, known) {
                Ok(clamped) => return clamped,
                Err(turn) => algebra.note_turns(turn, None),
            }
        }
    }

    /// A few expressions with counts around a horizon of 3 bytes, and within others.
    fn samples(algebra: &mut Algebra) -> Vec<Expr> {
        let letter = |algebra: &mut Algebra, byte: u8| algebra.byte_set(ByteSet::range(byte, byte));
        let (a, b) = (letter(algebra, b'a'), letter(algebra, b'b'));
        let ab = algebra.concat(a, b);
        let mut samples = Vec::new();
        for child in [a, ab] {
            for (min, max) in [(0, 20), (20, 30), (17, MANY), (2, 40), (0, 17), (20, 20)] {
                let counted = algebra.repeat(child, min, max);
                let behind = algebra.concat(counted, b);
                let before = algebra.literal(b"ba", behind);
                let twice = algebra.repeat(before, 0, 30);
                let either = algebra.or(vec![twice, counted, a]);
                let within = algebra.and(vec![counted, either]);
                samples.extend([counted, behind, before, twice, either, within]);
                // Bounds of what can be ended soon, of what cannot, and of what is not all counted.
                let few = algebra.repeat(counted, 0, 1);
                let words = algebra.repeat(behind, 0, 3);
                for bounded in [few, words, before] {
                    let any = algebra.byte_set(ByteSet::range(b'a', b'b'));
                    for unit in [any, a, ab] {
                        let bound = algebra.repeat(unit, 0, 19);
                        samples.push(algebra.and(vec![bounded, bound]));
                        for not in complements(algebra) {
                            samples.push(algebra.and(vec![bound, not]));
                            let behind = algebra.concat(a, bound);
                            samples.push(algebra.and(vec![behind, not]));
                        }
                    }
                }
            }
        }
        samples
    }

    /// What leaves out texts with `bb` in them, and in the last three cases only some of the longer ones.
    fn complements(algebra: &mut Algebra) -> [Expr; 4] {
        let any = algebra.byte_set(ByteSet::range(b'a', b'b'));
        let (some, two) = (algebra.repeat(any, 0, MANY), algebra.repeat(any, 2, 2));
        let (bb, bb_last) = (algebra.literal(b"bb", some), algebra.literal(b"bb", Expr::EPSILON));
        let b_third = algebra.literal(b"b", two);
        let left_out =
            [algebra.concat(some, bb), algebra.concat(some, bb_last), bb_last, algebra.concat(some, b_third)];
        left_out.map(|left_out| algebra.not(left_out))
    }

    #[test]
    fn clamped_expressions_look_the_same_up_to_the_horizon() {
        let mut algebra = Algebra::new(1_000_000);
        let samples = samples(&mut algebra);
        for horizon in [1, 3, 4, 7] {
            let mut known = FxHashMap::default();
            let mut changed = 0;
            for &sample in &samples {
                let clamped = clamped(&mut algebra, sample, Horizon::bytes(horizon), &mut known);
                changed += usize::from(clamped != sample);
                let mut pairs = vec![(sample, clamped)];
                for _ in 0..=horizon {
                    let mut next = Vec::new();
                    for &(one, other) in &pairs {
                        assert_eq!(algebra.is_nullable(one), algebra.is_nullable(other), "{horizon}");
                        let is_left = |algebra: &mut Algebra, expr| algebra.is_non_empty(expr, 100_000).unwrap();
                        assert_eq!(is_left(&mut algebra, one), is_left(&mut algebra, other), "{horizon}");
                        for byte in *b"abc" {
                            let derived =
                                |algebra: &mut Algebra, expr| algebra.derivative(expr, byte, u64::MAX).unwrap();
                            next.push((derived(&mut algebra, one), derived(&mut algebra, other)));
                        }
                    }
                    next.sort_unstable();
                    next.dedup();
                    pairs = next;
                }
            }
            assert!(changed > samples.len() / 3, "{changed} of {}", samples.len());
        }
    }

    /// Characters of two bytes and of one, and what begins within one.
    #[test]
    fn counts_of_characters_are_clamped_by_characters() {
        let mut algebra = Algebra::new(1_000_000);
        let horizon = Horizon { bytes: 40, chars: 3 };
        let set = |algebra: &mut Algebra, low, high| algebra.byte_set(ByteSet::range(low, high));
        let (a, first, second) =
            (set(&mut algebra, b'a', b'a'), set(&mut algebra, 0xC3, 0xC3), set(&mut algebra, 0xA0, 0xA1));
        let wide = algebra.concat(first, second);
        let char = algebra.or(vec![a, wide]);
        let word = algebra.repeat(wide, 1, MANY);
        let spaced = algebra.concat(word, a);
        let words = algebra.repeat(spaced, 0, 2);
        let words = algebra.concat(words, word);
        let mut samples = Vec::new();
        for (min, max) in [(0, 20), (18, 30), (20, MANY)] {
            let counted = algebra.repeat(char, min, max);
            let within = algebra.concat(second, counted);
            let bounded = algebra.and(vec![words, counted]);
            samples.extend([(counted, true), (within, true), (bounded, min == 0)]);
            // Bytes are counted by bytes.
            let byte = algebra.byte_set(ByteSet::ALL);
            samples.push((algebra.repeat(byte, min, max), false));
        }
        for (sample, is_clamped) in samples {
            let clamped = clamped(&mut algebra, sample, horizon, &mut FxHashMap::default());
            assert_eq!(clamped != sample, is_clamped);
            let mut places = vec![(sample, clamped, 0)];
            while let Some((one, other, chars)) = places.pop() {
                assert_eq!(algebra.is_nullable(one), algebra.is_nullable(other));
                let is_left = |algebra: &mut Algebra, expr| algebra.is_non_empty(expr, 100_000).unwrap();
                assert_eq!(is_left(&mut algebra, one), is_left(&mut algebra, other));
                for (byte, begins) in [(b'a', 1), (0xC3, 1), (0xA0, 0)] {
                    let derived = |algebra: &mut Algebra, expr| algebra.derivative(expr, byte, u64::MAX).unwrap();
                    let next = (derived(&mut algebra, one), derived(&mut algebra, other), chars + begins);
                    if next.2 <= horizon.chars && next.0 != Expr::NOTHING && is_clamped {
                        places.push(next);
                    }
                }
            }
        }
    }

    #[test]
    fn a_bound_that_is_far_off_does_not_matter() {
        let mut algebra = Algebra::new(1_000_000);
        let letter = algebra.byte_set(ByteSet::range(b'a', b'z'));
        let space = algebra.byte_set(ByteSet::range(b' ', b' '));
        let word = algebra.repeat(letter, 1, MANY);
        let spaced = algebra.concat(word, space);
        let words = algebra.repeat(spaced, 0, 5);
        let words = algebra.concat(words, word);
        let either = algebra.or(vec![letter, space]);
        for (unit, max, is_dropped) in [(either, 40, true), (either, 12, false), (letter, 40, false)] {
            let bound = algebra.repeat(unit, 0, max);
            let both = algebra.and(vec![words, bound]);
            let expected = if is_dropped { words } else { both };
            let clamped = clamped(&mut algebra, both, Horizon::bytes(10), &mut FxHashMap::default());
            assert_eq!(clamped, expected, "{max}");
        }
    }

    #[test]
    fn a_bound_does_not_matter_beside_what_no_text_may_have() {
        let mut algebra = Algebra::new(1_000_000);
        let any = algebra.byte_set(ByteSet::range(b'a', b'b'));
        let some = algebra.repeat(any, 0, MANY);
        let (far, near) = (algebra.repeat(any, 0, 40), algebra.repeat(any, 0, 12));
        for (index, not) in complements(&mut algebra).into_iter().enumerate() {
            for (bound, is_dropped) in [(far, index == 0), (near, false)] {
                let bounded = algebra.and(vec![bound, not]);
                let expected = if is_dropped { algebra.and(vec![some, not]) } else { bounded };
                let clamped = clamped(&mut algebra, bounded, Horizon::bytes(10), &mut FxHashMap::default());
                assert_eq!(clamped, expected, "{index}");
            }
        }
    }
}
