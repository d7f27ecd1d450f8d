//! Regexes that GBNF has no words for, with `&`, `~` and look-around, as automata over characters: a rule for each state.

use std::rc::Rc;

use larkspur_grammar::algebra::{Algebra, Expr, Lowered, OverLimit};
use larkspur_grammar::{ByteSet, CharClass, RegexId, RegexSet};
use rustc_hash::FxHashMap;

/// States of one automaton at most, and what may be done to make it.
const STATES_MAX: usize = 1_000;
const EXPRESSIONS_MAX: usize = 200_000;
const WORK_MAX: u64 = 10_000_000;

/// A state: whether a text may end there, and by which characters it goes on, to which states.
#[derive(Debug)]
pub(crate) struct State {
    pub accepts: bool,
    pub next: Vec<(CharClass, usize)>,
}

/// Ranges of what is left of a character's code, and what is left of the language behind each.
type Ranges = Rc<[(u32, u32, Expr)]>;

/// Why a regex has no automaton over characters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Refused {
    TooLarge,
    NotUtf8,
}

impl From<OverLimit> for Refused {
    fn from(_: OverLimit) -> Self {
        Refused::TooLarge
    }
}

struct Reader {
    algebra: Algebra,
    /// By what is left of the language, and of the character in bytes.
    known: FxHashMap<(Expr, u32), Result<Ranges, Refused>>,
}

/// The automaton of a regex, which starts in state 0.
///
/// Errors: if it is too large, or has texts that are not UTF-8.
pub(crate) fn automaton(set: &RegexSet, regex: RegexId) -> Result<Vec<State>, Refused> {
    let mut reader = Reader { algebra: Algebra::new(EXPRESSIONS_MAX), known: FxHashMap::default() };
    let start = reader.algebra.lower(set, regex, &mut Lowered::default())?;
    let mut ids = FxHashMap::from_iter([(start, 0)]);
    let mut exprs = vec![start];
    let mut states = Vec::new();
    while let Some(&expr) = exprs.get(states.len()) {
        // In the order of the text, so that the result is always the same.
        let mut next: Vec<(usize, Vec<(u32, u32)>)> = Vec::new();
        for &(low, high, left) in reader.characters(expr)?.iter() {
            let id = *ids.entry(left).or_insert_with(|| {
                exprs.push(left);
                exprs.len() - 1
            });
            match next.iter_mut().find(|(other, _)| *other == id) {
                Some((_, ranges)) => ranges.push((low, high)),
                None => next.push((id, vec![(low, high)])),
            }
        }
        let next = next.into_iter().map(|(id, ranges)| (CharClass::from_ranges(ranges), id));
        states.push(State { accepts: reader.algebra.is_nullable(expr), next: next.collect() });
        if exprs.len() > STATES_MAX {
            return Err(Refused::TooLarge);
        }
    }
    Ok(states)
}

impl Reader {
    /// The characters that a language goes on with.
    fn characters(&mut self, expr: Expr) -> Result<Vec<(u32, u32, Expr)>, Refused> {
        // The bytes that a character of so many more begins with, and the least one of them.
        const LEADS: [(u8, u8, u32, u32); 4] =
            [(0x00, 0x7F, 0, 0), (0xC2, 0xDF, 1, 0x80), (0xE0, 0xEF, 2, 0x800), (0xF0, 0xF4, 3, 0x1_0000)];
        let mut all = Vec::new();
        let mut seen = ByteSet::EMPTY;
        for (low, high, more, least) in LEADS {
            let leads = ByteSet::range(low, high);
            seen = seen.union(&leads);
            let bits = if more == 0 { 0x7F } else { 0x3F >> more };
            for &(low, high, left) in self.ranges(expr, more, leads, bits)?.iter() {
                let is_character = low >= least && char::from_u32(low).is_some() && char::from_u32(high).is_some();
                let is_split = low < 0xD800 && high > 0xDFFF;
                if !is_character || is_split {
                    return Err(Refused::NotUtf8);
                }
                all.push((low, high, left));
            }
        }
        let others = self.live(expr)?.into_iter().any(|(class, _)| !class.intersect(&seen.negate()).is_empty());
        if others { Err(Refused::NotUtf8) } else { Ok(all) }
    }

    /// What is left of a language by the bytes that it goes on with.
    fn live(&mut self, expr: Expr) -> Result<Vec<(ByteSet, Expr)>, OverLimit> {
        let mut live = Vec::new();
        for class in self.algebra.first_classes(expr, WORK_MAX)? {
            let byte = class.iter().next().expect("classes are not empty");
            let next = self.algebra.derivative(expr, byte, WORK_MAX)?;
            if self.algebra.is_non_empty(next, WORK_MAX)? {
                live.push((class, next));
            }
        }
        Ok(live)
    }

    /// Ranges of codes made of a byte of `bytes`, of which `bits` count, and `more` bytes behind it.
    fn ranges(&mut self, expr: Expr, more: u32, bytes: ByteSet, bits: u32) -> Result<Vec<(u32, u32, Expr)>, Refused> {
        let mut all = Vec::new();
        let size = 1 << (6 * more);
        for (class, next) in self.live(expr)? {
            let class = class.intersect(&bytes);
            if class.is_empty() {
                continue;
            }
            let rest = if more == 0 { Rc::from([(0, 0, next)]) } else { self.rest(next, more)? };
            let bytes: Vec<u32> = class.iter().map(|byte| u32::from(byte) & bits).collect();
            if let &[(0, high, left)] = &*rest
                && high + 1 == size
            {
                for run in bytes.chunk_by(|a, b| a + 1 == *b) {
                    all.push((run[0] * size, (run[run.len() - 1] + 1) * size - 1, left));
                }
                continue;
            }
            for byte in bytes {
                all.extend(rest.iter().map(|&(low, high, left)| (byte * size + low, byte * size + high, left)));
            }
        }
        all.sort_unstable_by_key(|&(low, ..)| low);
        // Neighbours that lead to the same are one.
        let mut merged: Vec<(u32, u32, Expr)> = Vec::with_capacity(all.len());
        for (low, high, left) in all {
            match merged.last_mut() {
                Some(last) if last.1 + 1 == low && last.2 == left => last.1 = high,
                _ => merged.push((low, high, left)),
            }
        }
        Ok(merged)
    }

    /// The same behind a character's first byte; `more` bytes are left of it.
    fn rest(&mut self, expr: Expr, more: u32) -> Result<Ranges, Refused> {
        if let Some(known) = self.known.get(&(expr, more)) {
            return known.clone();
        }
        // At most three deep.
        let ranges = self.ranges(expr, more - 1, ByteSet::range(0x80, 0xBF), 0x3F).map(Rc::from);
        self.known.insert((expr, more), ranges.clone());
        ranges
    }
}
