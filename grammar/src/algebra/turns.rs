//! Where one text of an expression may end and the next one begin, as far as the bytes there tell.
//!
//! Thirty words may stand in sixty bytes, but no token of o200k has the ends of three. Who knows the tokens counts in how many
//! places of one a word may end and the next begin, and so how many it goes through at most.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::horizon::PARTS_MAX;
use super::{Algebra, Expr, MANY, Node, OverLimit};
use crate::regex::ByteSet;

/// What tells where a text may end and another of the same kind begin.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Turn {
    /// The last bytes of texts, ascending, each with those that may stand before it.
    pub ends: Vec<(u8, ByteSet)>,
    /// First bytes of texts.
    pub begins: ByteSet,
    /// What no text begins with.
    pub idle: Idle,
}

impl Turn {
    /// In how many places of a token it comes at most, whatever stands before and behind the token. Who counts in many tokens at
    /// once says the same of each.
    pub fn count(&self, token: &[u8]) -> u32 {
        let is_end = |place: usize| match self.ends.binary_search_by_key(&token[place - 1], |&(last, _)| last) {
            Ok(index) => place == 1 || self.ends[index].1.contains(token[place - 2]),
            Err(_) => false,
        };
        let is_idle = |rest: &[u8]| {
            let mut state = Idle::START;
            for &byte in rest {
                match self.idle.step(state, byte) {
                    IdleStep::At(next) => state = next,
                    step => return step == IdleStep::Read,
                }
            }
            false
        };
        let comes = |&place: &usize| is_end(place) && self.begins.contains(token[place]) && !is_idle(&token[place..]);
        (1..token.len()).filter(comes).count() as u32
    }
}

/// Texts of which none may be read where a text begins, as an automaton: what ends a text is often not what begins one.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Idle {
    /// States after each byte: 0 is none, 1 the start.
    rows: Vec<[u8; 256]>,
    /// States in which one of the texts was read.
    read: Vec<bool>,
}

/// Where a look for idle texts is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum IdleStep {
    /// Behind one.
    Read,
    /// In one.
    At(u8),
    /// In none.
    Over,
}

impl Idle {
    /// Where no byte was read.
    pub const START: u8 = 1;

    /// Reads a byte.
    #[inline]
    pub fn step(&self, state: u8, byte: u8) -> IdleStep {
        match self.rows.get(usize::from(state)).map_or(0, |row| row[usize::from(byte)]) {
            0 => IdleStep::Over,
            next if self.read[usize::from(next)] => IdleStep::Read,
            next => IdleStep::At(next),
        }
    }
}

/// Turns of which it is kept how often they come, at most. Each was counted in all tokens.
const TURNS_MAX: usize = 64;

/// Work to see where texts turn into each other, of all expressions together: 40 ms, enough for some hundred.
const TURNS_WORK: u64 = 2_000_000;

/// States of an automaton of idle texts, and work to see that they are idle. White space in JSON has a dozen.
const IDLE_STATES_MAX: usize = 32;
const IDLE_WORK: u64 = 20_000;

/// What is known of turns.
#[derive(Default, Debug)]
pub(super) struct Known {
    /// How often texts of an expression turn into each other in a token.
    of: FxHashMap<Expr, Option<u32>>,
    /// How often turns come; `None` if they were not counted.
    counts: FxHashMap<Turn, Option<u32>>,
    /// Work that was spent on them.
    work: u64,
}

impl Algebra {
    /// How often the texts of an expression, one behind the other, turn into each other in a token at most; `None` if that is
    /// not to be told.
    ///
    /// Errors: the turn is to be counted first, for [`note_turns`](Self::note_turns).
    pub(super) fn turns(&mut self, expr: Expr) -> Result<Option<u32>, Turn> {
        if let Some(&known) = self.turns.of.get(&expr) {
            return Ok(known);
        }
        let before = self.work();
        let turn = if self.turns.work < TURNS_WORK { self.turn(expr) } else { None };
        self.turns.work += self.work() - before;
        let counted = match turn {
            None => None,
            Some(turn) => match self.turns.counts.get(&turn) {
                None if self.turns.counts.len() < TURNS_MAX => return Err(turn),
                counted => counted.copied().flatten(),
            },
        };
        self.turns.of.insert(expr, counted);
        Ok(counted)
    }

    /// The same if it is known.
    pub(super) fn known_turns(&self, expr: Expr) -> Option<u32> {
        self.turns.of.get(&expr).copied().flatten()
    }

    /// Notes how often a turn comes in a token at most, or that it was not counted.
    pub fn note_turns(&mut self, turn: Turn, count: Option<u32>) {
        self.turns.counts.insert(turn, count);
    }

    /// Where texts of an expression turn into each other, if that is not so at bytes that stand side by side in a text.
    fn turn(&mut self, expr: Expr) -> Option<Turn> {
        // For the first bytes, and the table.
        self.pay(256);
        let begins = self.first_bytes(expr);
        let mut befores = [ByteSet::EMPTY; 256];
        // What texts end with, and the bytes that may stand before that.
        let mut agenda = vec![(expr, ByteSet::ALL)];
        let mut seen = 0;
        while let Some((at, before)) = agenda.pop() {
            seen += 1;
            self.pay(1);
            let (before, last) = match self.node(at) {
                _ if seen > PARTS_MAX => return None,
                Node::Nothing | Node::Epsilon => continue,
                Node::Set(last) => (before, last),
                Node::Literal(bytes, tail) => {
                    let one = |byte: u8| ByteSet::range(byte, byte);
                    let last = one(bytes[bytes.len() - 1]);
                    agenda.push((tail, last));
                    if !self.is_nullable(tail) {
                        continue;
                    }
                    (bytes.len().checked_sub(2).map_or(before, |index| one(bytes[index])), last)
                }
                Node::Repeat(child, ..) => {
                    agenda.push((child, ByteSet::ALL));
                    continue;
                }
                Node::Or(parts) => {
                    agenda.extend(parts.iter().map(|&part| (part, before)));
                    continue;
                }
                Node::Concat(first, rest) => {
                    let before_rest = if let Node::Set(bytes) = self.node(first) { bytes } else { ByteSet::ALL };
                    agenda.push((rest, before_rest));
                    agenda.extend(self.is_nullable(rest).then_some((first, before)));
                    continue;
                }
                _ => return None,
            };
            if before == ByteSet::ALL && !last.intersect(&begins).is_empty() {
                return None;
            }
            last.iter().for_each(|byte| befores[usize::from(byte)] = befores[usize::from(byte)].union(&before));
        }
        let ends = (0..=255u8).zip(befores).filter(|(_, before)| !before.is_empty()).collect();
        let idle = self.idle_end(expr).and_then(|end| self.idle(end).ok().flatten()).unwrap_or_default();
        Some(Turn { ends, begins, idle })
    }

    /// What texts of an expression may end with any number of, if none begins with it, nor it with one.
    fn idle_end(&mut self, expr: Expr) -> Option<Expr> {
        let mut at = expr;
        let end = loop {
            match self.node(at) {
                Node::Concat(_, rest) | Node::Literal(_, rest) => at = rest,
                Node::Repeat(child, _, MANY) => break child,
                _ => return None,
            }
        };
        let [text, end_text] = [expr, end].map(|expr| self.concat(expr, Expr::ALL));
        let both = self.and(vec![text, end_text]);
        let is_some = self.is_non_empty(both, IDLE_WORK);
        (is_some == Ok(false)).then_some(end)
    }

    /// The automaton of idle texts; `None` if it is too large.
    fn idle(&mut self, texts: Expr) -> Result<Option<Idle>, OverLimit> {
        let mut idle = Idle { rows: vec![[0; 256]], read: vec![false] };
        let mut states: FxHashMap<Expr, u8> = FxHashMap::from_iter([(Expr::NOTHING, 0), (texts, Idle::START)]);
        let mut agenda = VecDeque::from([texts]);
        let work_max = self.work + IDLE_WORK;
        while let Some(at) = agenda.pop_front() {
            let mut row = [0; 256];
            for class in self.first_classes(at, work_max)? {
                let Some(byte) = class.iter().next() else { continue };
                let next = self.derivative(at, byte, work_max)?;
                let count = states.len();
                if count > IDLE_STATES_MAX {
                    return Ok(None);
                }
                let state = *states.entry(next).or_insert_with(|| {
                    agenda.push_back(next);
                    count as u8
                });
                class.iter().for_each(|byte| row[usize::from(byte)] = state);
            }
            idle.rows.push(row);
            idle.read.push(self.is_nullable(at));
        }
        Ok(Some(idle))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::algebra::random::{LETTERS, expr};
    use crate::algebra::{Horizon, Lowered};
    use crate::regex::RegexSet;

    /// The expression as tokens show it.
    fn clamped(algebra: &mut Algebra, expr: Expr, tokens: &[Vec<u8>]) -> Expr {
        let bytes = tokens.iter().map(Vec::len).max().unwrap_or(0) as u32;
        loop {
            match algebra.clamped(expr, Horizon::bytes(bytes), &mut FxHashMap::default()) {
                Ok(clamped) => return clamped,
                Err(turn) => {
                    let most = tokens.iter().map(|token| turn.count(token)).max();
                    algebra.note_turns(turn, most);
                }
            }
        }
    }

    /// Both go on alike with each token, and match or not behind it.
    fn look_the_same(algebra: &mut Algebra, (one, other): (Expr, Expr), tokens: &[Vec<u8>]) -> bool {
        tokens.iter().all(|token| {
            let (mut one, mut other) = (one, other);
            token.iter().all(|&byte| {
                [one, other] = [one, other].map(|expr| algebra.derivative(expr, byte, u64::MAX).expect("small"));
                let [is_one, is_other] = [one, other].map(|expr| algebra.is_non_empty(expr, u64::MAX));
                is_one == is_other && algebra.is_nullable(one) == algebra.is_nullable(other)
            })
        })
    }

    fn text(len: usize) -> impl Strategy<Value = Vec<u8>> {
        vec(prop::sample::select(&LETTERS[..]), 1..len)
    }

    /// Some texts, and then some others.
    fn words(firsts: &[Vec<u8>], lasts: &[Vec<u8>]) -> (Algebra, Expr) {
        let mut algebra = Algebra::new(100_000);
        let mut some = |texts: &[Vec<u8>]| {
            let texts = texts.iter().map(|text| algebra.literal(text, Expr::EPSILON)).collect();
            let one = algebra.or(texts);
            algebra.repeat(one, 1, MANY)
        };
        let (first, last) = (some(firsts), some(lasts));
        let word = algebra.concat(first, last);
        (algebra, word)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn counts_that_no_token_ends_do_not_matter(
            program in prop::option::of(vec(any::<u8>(), 1..8)),
            (firsts, lasts) in (vec(text(3), 1..3), vec(text(4), 1..4)),
            (min, max) in (0..9u32, 4..24u32),
            tokens in vec((vec(any::<prop::sample::Index>(), 1..7), 0..3usize), 1..6),
            way in vec(any::<u8>(), 0..24),
        ) {
            let pieces: Vec<&Vec<u8>> = firsts.iter().chain(&lasts).collect();
            let of_pieces = |(indices, cut): (Vec<prop::sample::Index>, usize)| {
                let all: Vec<u8> = indices.iter().flat_map(|index| (*index.get(&pieces)).clone()).collect();
                all[cut.min(all.len() - 1)..].to_vec()
            };
            let tokens: Vec<Vec<u8>> = tokens.into_iter().map(of_pieces).collect();
            let (mut algebra, unit) = program.map_or_else(|| words(&firsts, &lasts), |program| expr(&program));
            let counted = algebra.repeat(unit, min.min(max), max);
            let last = algebra.literal(b"b", Expr::EPSILON);
            let mut place = algebra.concat(counted, last);
            for step in way {
                let clamped = clamped(&mut algebra, place, &tokens);
                prop_assert!(look_the_same(&mut algebra, (place, clamped), &tokens));
                for letter in 0..3 {
                    let byte = LETTERS[usize::from(step.wrapping_add(letter)) % 3];
                    let next = algebra.derivative(place, byte, u64::MAX).expect("small");
                    if algebra.is_non_empty(next, u64::MAX) == Ok(true) {
                        place = next;
                        break;
                    }
                }
            }
        }
    }

    #[test]
    fn words_turn_into_each_other_behind_all_of_a_space() {
        let mut set = RegexSet::new();
        let mut algebra = Algebra::new(1_000);
        let spaces = [&b" "[..], b"\\n", "\u{3000}".as_bytes()].map(|text| set.literal(text));
        let letters = [&b"w"[..], b"n", b"\\\"", "\u{3001}".as_bytes()].map(|text| set.literal(text));
        let (space, letter) = (set.or(&spaces), set.or(&letters));
        let (spaces, letters) = (set.repeat(space, 1, None), set.repeat(letter, 1, None));
        let word = set.concat(&[letters, spaces]);
        let word = algebra.lower(&set, word, &mut Lowered::default()).expect("small");
        let Err(turn) = algebra.turns(word) else { panic!("it is to be counted") };
        let counts = [
            (" w w", 2),
            ("   ", 0),
            ("w \\n\\nw", 1),
            ("nwnwn", 1),
            ("\\n\\\"\\n", 1),
            (" \u{3000}\u{3000}\u{3001}", 1),
            ("\u{3000}\u{3001}\u{3000}\u{3001}", 2),
        ];
        for (token, count) in counts {
            assert_eq!(turn.count(token.as_bytes()), count, "{token:?}");
        }
        algebra.note_turns(turn, Some(2));
        assert_eq!(algebra.turns(word), Ok(Some(2)));
    }
}
