//! Words of an automaton within an intersection, such as `idn-hostname & char{40,} & ~(.*a.*)`: a search letter by letter. By bytes it
//! would take a step for each beginning of a letter, of which there may be hundreds.
//!
//! Operands that only count letters are bounds of the search, in numbers; the others are derived by one text of each letter, or by all
//! of a single byte. So a word that is found is one, and without such others the search is complete.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::dfa::{Place, WITHIN_WORK_MAX};
use super::letters::Count;
use super::{Algebra, Expr, MANY, Node, Tag};
use crate::regex::ByteSet;

/// Work of one search at most: that, and this share of what the search by bytes has that goes on where nothing is found.
const WORD_WORK_MAX: u64 = 150_000;
const WORD_SHARE: u64 = 4;
/// The same for one that asks for a number of letters alone.
const LENGTH_WORK_MAX: u64 = 1_000;
/// Work to find the texts of one expression that are the shortest.
const SHORT_TEXT_WORK_MAX: u64 = 10 * WITHIN_WORK_MAX;
/// Places from which words are known, after which all are forgotten.
const PLACES_KEPT: usize = 20_000;
/// Numbers of letters that are known of one place.
const LENGTHS_KEPT: usize = 8;

/// How many letters words have from places on: an automaton, its state, and what is left of the other operands.
pub(super) type KnownWords = FxHashMap<(u32, u128, Expr), Vec<u32>>;

/// What is left of the second expression behind texts of the first.
pub(super) type BehindTexts = FxHashMap<(Expr, Expr), Arc<[Expr]>>;

/// Texts of an expression: all of one byte, and one of the shortest.
pub(super) type ShortTexts = FxHashMap<Expr, Option<(ByteSet, Box<[u8]>)>>;

/// What an intersection asks of an automaton's words.
struct Asked {
    dfa: u32,
    /// How many letters they have, what is left of one that was begun included.
    min: u32,
    max: u32,
    /// The operands that do more than count letters.
    others: Expr,
}

/// Where a search is.
struct Step {
    /// Index of the step before; the first have none.
    from: Option<usize>,
    state: u128,
    others: Expr,
    /// Letters read.
    len: u32,
    /// Letters that were tried from here, in the order of [`Words::order`](super::dfa::Words).
    tried: usize,
}

impl Algebra {
    /// Whether an intersection with an automaton has a word, if it is found out with a quarter of so much work; `None`: on the way of a
    /// search, where little is looked at. `None` if it is not, or if there is no automaton whose letters are more than bytes.
    pub(super) fn has_word(&mut self, intersection: Expr, work: Option<u64>) -> Option<bool> {
        let place = self.place_in(intersection)?;
        if self.dfas[place.dfa as usize].reads_bytes {
            return None;
        }
        let (counted, others) = self.asked_of(intersection, &place);
        let work = work.map(|work| (work / WORD_SHARE).min(WORD_WORK_MAX));
        if others.is_empty() {
            return self.find_word(&place, &counted, work.unwrap_or(LENGTH_WORK_MAX));
        }
        // What counts leave no room for is soon known to be empty.
        let is_bound = counted.min > 0 || counted.max != MANY;
        if is_bound && self.find_word(&place, &counted, LENGTH_WORK_MAX) == Some(false) {
            return Some(false);
        }
        let others = work.map(|_| self.and(others))?;
        self.find_word(&place, &Asked { others, ..counted }, work?)
    }

    /// The same of what is asked.
    fn find_word(&mut self, place: &Place, asked: &Asked, work: u64) -> Option<bool> {
        let starts = if place.partial == self.dfas[place.dfa as usize].whole {
            vec![(place.state, asked.others, 0)]
        } else {
            self.behind_partial(place, asked.others, self.work + work)?
        };
        self.search_word(asked, starts, self.work + work)
    }

    /// What the operands ask that count letters, and the others.
    fn asked_of(&mut self, intersection: Expr, place: &Place) -> (Asked, Vec<Expr>) {
        let (mut min, mut max, mut others) = (0, MANY, Vec::new());
        for part in self.operands(intersection).to_vec() {
            if matches!(self.node(part), Node::Dfa(other) if other == place) {
                continue;
            }
            match self.letters_counted(part, place) {
                Some((least, most)) => (min, max) = (min.max(least), max.min(most)),
                None => others.push(part),
            }
        }
        (Asked { dfa: place.dfa, min, max, others: Expr::ALL }, others)
    }

    /// How many letters an operand allows from a place on, if it only counts them. Within a letter, it has counted its beginning.
    fn letters_counted(&mut self, part: Expr, place: &Place) -> Option<(u32, u32)> {
        // What asks for more work comes last: each state may bring another beginning of a letter.
        let count = self.run_in(part)?;
        let is_begun = place.partial != self.dfas[place.dfa as usize].whole;
        let holds = is_begun == (count.begun != Expr::EPSILON) && self.has_words_within(place, &count);
        (holds && self.is_count(&count)).then_some((count.min, count.max))
    }

    /// Whether the letters of an automaton from a place on are letters that are counted, one for one.
    pub(super) fn has_words_within(&mut self, place: &Place, count: &Count) -> bool {
        if !self.has_letters(place.dfa, count.unit) {
            return false;
        }
        if place.partial == self.dfas[place.dfa as usize].whole {
            return count.begun == Expr::EPSILON;
        }
        let ways = self.partials[place.partial as usize].ways.clone();
        count.begun != Expr::EPSILON && ways.iter().all(|&(_, rest)| self.has_texts_within(rest, count.begun))
    }

    /// Where the letters that were begun lead, with what is left of the other operands and one letter read.
    fn behind_partial(&mut self, place: &Place, others: Expr, work_max: u64) -> Option<Vec<(u128, Expr, u32)>> {
        let ways = self.partials[place.partial as usize].ways.clone();
        let mut starts = Vec::with_capacity(ways.len());
        self.pay(ways.len());
        for &(letter, rest) in &ways {
            let Some(state) = self.dfas[place.dfa as usize].dfa.next(place.state, letter) else { continue };
            for &others in &*self.behind_texts(rest, others, work_max)? {
                starts.push((state, others, 1));
            }
        }
        Some(starts)
    }

    /// A word from one of several beginnings: state, what is left of the other operands, letters read.
    fn search_word(&mut self, asked: &Asked, starts: Vec<(u128, Expr, u32)>, work_max: u64) -> Option<bool> {
        let words = &self.dfas[asked.dfa as usize];
        let (dfa, letters, order) = (words.dfa.clone(), words.letters.clone(), words.order.clone());
        let mut steps: Vec<Step> = Vec::new();
        let mut seen = FxHashSet::default();
        // First where the least is left in sum, of those the longest beginnings.
        let mut open = BinaryHeap::new();
        let mut add = |this: &Self, open: &mut BinaryHeap<_>, steps: &mut Vec<Step>, step: Step| {
            let parts = if this.tag(step.others) == Tag::And { this.operands(step.others) } else { &[step.others] };
            let left = parts.iter().map(|&part| this.cell(part).len_min).fold(0, u32::saturating_add);
            let least = step.len.saturating_add(dfa.letters_min(step.state));
            let most = step.len.saturating_add(dfa.letters_max(step.state));
            if least > asked.max || most < asked.min || !seen.insert((step.state, step.others, step.len)) {
                return None;
            }
            let len = least.saturating_add(left).max(asked.min);
            open.push((Reverse(len), step.len, Reverse(steps.len())));
            steps.push(step);
            Some(len)
        };
        for (state, others, len) in starts {
            add(self, &mut open, &mut steps, Step { from: None, state, others, len, tried: 0 });
        }
        while let Some((Reverse(len_min), len, Reverse(at))) = open.pop() {
            let Step { state, others, tried, .. } = steps[at];
            if tried == 0 {
                let ends = dfa.is_accepting(state) && self.is_nullable(others);
                let left = match self.known_words.get(&(asked.dfa, state, others)) {
                    _ if ends && len >= asked.min => Some(0),
                    Some(known) => known.iter().copied().find(|more| (asked.min..=asked.max).contains(&(len + more))),
                    None => None,
                };
                if let Some(left) = left {
                    self.note_word(asked.dfa, &steps, at, len + left);
                    return Some(true);
                }
            }
            while let Some(&letter) = order.get(steps[at].tried) {
                steps[at].tried += 1;
                self.pay(1);
                self.check(work_max).ok()?;
                let Some(next) = dfa.next(state, letter) else { continue };
                let mut is_nearer = false;
                let text = letters[usize::from(letter)];
                for &others in &*self.behind_texts(text, others, work_max)? {
                    let step = Step { from: Some(at), state: next, others, len: len + 1, tried: 0 };
                    is_nearer |= add(self, &mut open, &mut steps, step).is_some_and(|len| len <= len_min);
                }
                // As soon as one letter leads nearer to an end, the search goes there; the others wait.
                if is_nearer {
                    open.push((Reverse(len_min), len, Reverse(at)));
                    break;
                }
            }
        }
        (asked.others == Expr::ALL).then_some(false)
    }

    /// Notes that there is a word of so many letters through a step, for all those before.
    fn note_word(&mut self, dfa: u32, steps: &[Step], last: usize, letters: u32) {
        if self.known_words.len() > PLACES_KEPT {
            self.known_words.clear();
        }
        let mut next = Some(last);
        while let Some(at) = next {
            let step = &steps[at];
            let known = self.known_words.entry((dfa, step.state, step.others)).or_default();
            let left = letters - step.len;
            if !known.contains(&left) && known.len() < LENGTHS_KEPT {
                known.push(left);
            }
            next = step.from;
        }
    }

    /// Texts of an expression: all of one byte, and one of the shortest. `None` if they take too many steps to find.
    fn short_texts(&mut self, expr: Expr) -> Option<(ByteSet, Box<[u8]>)> {
        if !self.short_texts.contains_key(&expr) {
            let texts = self.unpaid(|this| this.find_short_texts(expr));
            self.short_texts.insert(expr, texts);
        }
        self.short_texts[&expr].clone()
    }

    fn find_short_texts(&mut self, mut expr: Expr) -> Option<(ByteSet, Box<[u8]>)> {
        let (mut bytes, mut text) = (ByteSet::EMPTY, Vec::new());
        let all_work_max = self.work + SHORT_TEXT_WORK_MAX;
        while !self.is_nullable(expr) {
            let work_max = all_work_max.min(self.work + WITHIN_WORK_MAX);
            let mut nearest: Option<(u32, u8, Expr)> = None;
            for class in self.first_classes(expr, work_max).ok()? {
                let byte = class.iter().next()?;
                let next = self.derivative(expr, byte, work_max).ok()?;
                if text.is_empty() && self.is_nullable(next) {
                    bytes = bytes.union(&class);
                }
                let len_min = self.cell(next).len_min;
                if next != Expr::NOTHING && nearest.is_none_or(|(other, ..)| len_min < other) {
                    nearest = Some((len_min, byte, next));
                }
            }
            let (_, byte, next) = nearest?;
            text.push(byte);
            expr = next;
        }
        Some((bytes, text.into()))
    }

    /// What is left of an expression behind texts of another: behind all of one byte, or else behind one of the shortest. `None` if it
    /// takes too much work.
    fn behind_texts(&mut self, texts: Expr, expr: Expr, work_max: u64) -> Option<Arc<[Expr]>> {
        if expr == Expr::ALL {
            return Some(Arc::new([expr]));
        }
        if let Some(known) = self.behind_texts.get(&(texts, expr)) {
            return Some(known.clone());
        }
        let mut behind = Vec::new();
        let (bytes, text) = self.short_texts(texts)?;
        if bytes.is_empty() {
            let mut state = expr;
            for byte in text {
                state = self.derivative(state, byte, work_max).ok()?;
            }
            behind.push(state);
        } else {
            for class in self.first_classes(expr, work_max).ok()? {
                if let Some(byte) = class.intersect(&bytes).iter().next() {
                    behind.push(self.derivative(expr, byte, work_max).ok()?);
                }
            }
        }
        behind.retain(|&state| state != Expr::NOTHING);
        behind.sort_unstable();
        behind.dedup();
        let behind: Arc<[Expr]> = behind.into();
        if self.behind_texts.len() > PLACES_KEPT {
            self.behind_texts.clear();
        }
        self.behind_texts.insert((texts, expr), behind.clone());
        Some(behind)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::letters::tests::has_text;
    use crate::algebra::random::{LETTERS, expr, set_of};
    use crate::dfa::{DfaRef, Table};

    /// States, of which each has a step or none by every letter.
    const STATES: usize = 4;

    /// The automaton of these steps, without those behind which no word ends. `None` if there is no word.
    fn table(steps: &[u8], accepting: &[bool]) -> Option<DfaRef> {
        let step = |at: usize| Some(usize::from(steps[at])).filter(|&next| next < STATES);
        let mut is_live = accepting.to_vec();
        for _ in 0..STATES {
            for at in 0..steps.len() {
                is_live[at / 4] |= step(at).is_some_and(|next| is_live[next]);
            }
        }
        let next = (0..steps.len()).map(|at| step(at).filter(|&next| is_live[next]));
        is_live[0].then(|| Table::new(4, 0, next, accepting.to_vec()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]
        #[test]
        fn words_are_what_derivatives_find(
            program in vec(any::<u8>(), 1..10),
            steps in vec(0u8..6, STATES * 4),
            accepting in vec(any::<bool>(), STATES),
            (min, more) in (0u32..6, 0u32..5),
        ) {
            let Some(dfa) = table(&steps, &accepting) else { return Ok(()) };
            let (mut algebra, body) = expr(&program);
            // Four letters: a byte, several of which each is one, and two of two and three bytes.
            let (a, b, long) = (set_of(b"a"), set_of(b"bc"), set_of(b"\x7F"));
            let (a, b, long) = (algebra.byte_set(a), algebra.byte_set(b), algebra.byte_set(long));
            let long_a = algebra.concat(long, a);
            let longer = algebra.concat(long, long);
            let longer = algebra.concat(longer, b);
            let letters = [a, b, long_a, longer];
            let unit = algebra.or(letters.to_vec());
            let words = algebra.dfa(&dfa, letters.to_vec());
            let count = algebra.repeat(unit, min, min + more);
            let any = algebra.repeat(unit, more % 3, MANY);
            let count_more = algebra.repeat(unit, min + 1, min + 2);
            // All but letters, and some of them.
            let all_but = algebra.or(vec![any, body]);
            let all_but = algebra.not(all_but);
            let not = algebra.not(body);
            let all_others =
                [vec![count], vec![count_more], vec![count, body], vec![body], vec![all_but], vec![all_but, count, not]];
            for (others, with_words) in all_others.iter().flat_map(|others| [(others, true), (others, false)]) {
                let mut parts = others.clone();
                parts.extend(with_words.then_some(words));
                let mut at = algebra.and(parts);
                for byte in [LETTERS[0], LETTERS[2], LETTERS[2], b'c', LETTERS[2], LETTERS[0]] {
                    let Some(expected) = has_text(&mut algebra, at) else { break };
                    for work in [None, Some(120_000)] {
                        if let Some(answer) = algebra.has_word(at, work) {
                            prop_assert_eq!(answer, expected);
                        }
                    }
                    prop_assert!(!expected || !algebra.is_outside_itself(at));
                    at = algebra.derivative(at, byte, u64::MAX).expect("small");
                }
            }
        }
    }
}
