//! Look-aheads that see beyond their terminal: what is left of them where it ends.
//!
//! A look-ahead before a rest `r` of the terminal is decided by `r` and what follows it, `f`: `r f` must be in a language
//! `A`. So the texts of the rest are told apart by what they leave of `A`, its derivative by `r`: there are as many classes
//! of them as a deterministic automaton of `A` has states. Those that leave everything are decided. The others are
//! lexemes only where what follows is in what they leave, which is [`Terminal::follow`](crate::Terminal::follow).

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::error::LookFault;
use crate::algebra::{Algebra, Expr, Lowered, OverLimit};
use crate::dfa::Table;
use crate::regex::{ByteSet, Ending, RegexId, RegexSet};

/// States of the automaton of what is looked for at most: a word's character has 400.
const STATES_MAX: usize = 2_000;
/// States that are told apart by the texts of one rest at most.
const WAYS_MAX: usize = 256;
/// Places of a rest beside states at most.
const PAIRS_MAX: usize = 20_000;
/// Expressions and steps (of 20 ns) to make it at most; there may be less left of those for all regexes.
const EXPRESSIONS_MAX: usize = 200_000;
const WORK_MAX: u64 = 5_000_000;
/// Steps (of 20 ns) to tell the texts of all rests of one regex apart at most: look-aheads beside each other multiply these.
pub(super) const SPLITS_WORK_MAX: u64 = 10_000_000;

/// How a message calls units of work.
const STEPS: &str = "steps to be decided";

fn too_large(over: OverLimit) -> LookFault {
    match over {
        OverLimit::Work => LookFault::TooLarge { limit: WORK_MAX, of: STEPS },
        OverLimit::Size => LookFault::TooLarge { limit: EXPRESSIONS_MAX as u64, of: "parts" },
    }
}

/// Work that is left of so much in all.
fn left(algebra: &Algebra, work_max: u64) -> u64 {
    work_max.saturating_sub(algebra.work())
}

/// The automaton of a language of bytes.
pub(crate) struct Automaton {
    classes: Vec<ByteSet>,
    /// By state and class; `None` where nothing matches any more.
    next: Vec<Vec<Option<usize>>>,
    accepting: Vec<bool>,
    /// Whether every text matches from there on.
    all: Vec<bool>,
}

impl Automaton {
    /// Errors: it is too large, or the regexes before it have taken all the work that there is for look-arounds.
    pub fn new(set: &mut RegexSet, language: RegexId) -> Result<Self, LookFault> {
        let mut algebra = Algebra::new(EXPRESSIONS_MAX);
        let left = set.look_work_left();
        let made = Self::made(set, language, &mut algebra, left.min(WORK_MAX));
        set.look_work += algebra.work();
        match made {
            Err(LookFault::TooLarge { limit: WORK_MAX, .. }) if left < WORK_MAX => Err(LookFault::NothingLeft),
            made => made,
        }
    }

    fn made(set: &RegexSet, language: RegexId, algebra: &mut Algebra, work_max: u64) -> Result<Self, LookFault> {
        let mut start = algebra.lower(set, language, &mut Lowered::default()).map_err(too_large)?;
        if Self::is_everything(algebra, start, work_max)? {
            start = Expr::ALL;
        }
        let mut states = vec![start];
        // Which state each derivative is; `None` where nothing matches any more.
        let mut ids: FxHashMap<Expr, Option<usize>> = FxHashMap::from_iter([(start, Some(0))]);
        let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
        let mut at = 0;
        while let Some(&state) = states.get(at) {
            at += 1;
            let mut row = vec![None; 256];
            for class in algebra.first_classes(state, work_max).map_err(too_large)? {
                let byte = class.iter().next().expect("classes are not empty");
                let next = algebra.derivative(state, byte, work_max).map_err(too_large)?;
                let id = match ids.get(&next) {
                    Some(&known) => known,
                    None => {
                        let id = if !algebra.is_non_empty(next, left(algebra, work_max)).map_err(too_large)? {
                            None
                        } else {
                            let state = if Self::is_everything(algebra, next, work_max)? { Expr::ALL } else { next };
                            *ids.entry(state).or_insert_with(|| {
                                states.push(state);
                                Some(states.len() - 1)
                            })
                        };
                        ids.insert(next, id);
                        id
                    }
                };
                class.iter().for_each(|byte| row[usize::from(byte)] = id);
            }
            if states.len() > STATES_MAX {
                return Err(LookFault::TooLarge { limit: STATES_MAX as u64, of: "states" });
            }
            rows.push(row);
        }
        // Classes of bytes that lead to the same from every state.
        let mut columns: FxHashMap<Vec<Option<usize>>, usize> = FxHashMap::default();
        let mut classes: Vec<ByteSet> = Vec::new();
        for byte in 0..=255u8 {
            let column: Vec<Option<usize>> = rows.iter().map(|row| row[usize::from(byte)]).collect();
            let class = *columns.entry(column).or_insert_with(|| {
                classes.push(ByteSet::EMPTY);
                classes.len() - 1
            });
            classes[class].insert(byte);
        }
        let first = |class: &ByteSet| usize::from(class.iter().next().expect("classes are not empty"));
        let next = rows.iter().map(|row| classes.iter().map(|class| row[first(class)]).collect()).collect();
        let accepting = states.iter().map(|&state| algebra.is_nullable(state)).collect();
        let all = states.iter().map(|&state| state == Expr::ALL).collect();
        Ok(Self { classes, next, accepting, all })
    }

    /// One of rows by state and class, in which no state accepts.
    pub fn of(classes: Vec<ByteSet>, next: Vec<Vec<Option<usize>>>) -> Self {
        let none = vec![false; next.len()];
        Self { classes, next, accepting: none.clone(), all: none }
    }

    /// The number of its states; 0 is the start.
    pub fn states(&self) -> usize {
        self.next.len()
    }

    /// Bytes that it treats alike.
    pub fn classes(&self) -> &[ByteSet] {
        &self.classes
    }

    /// The class of a byte.
    pub fn class_of(&self, byte: u8) -> usize {
        self.classes.iter().position(|class| class.contains(byte)).expect("all bytes are in one")
    }

    /// The state behind a byte of a class; [`None`] where nothing matches any more.
    pub fn step(&self, state: usize, class: usize) -> Option<usize> {
        self.next[state][class]
    }

    /// Whether the text that led to a state matches.
    pub fn accepts(&self, state: usize) -> bool {
        self.accepting[state]
    }

    /// Whether a longer text may match.
    pub fn goes_on(&self, state: usize) -> bool {
        self.next[state].iter().any(Option::is_some)
    }

    /// Whether every text matches from a state on.
    pub fn is_all(&self, state: usize) -> bool {
        self.all[state]
    }

    /// The states to which texts of the other automaton lead, and the number of all states if some lead to none.
    pub fn led_to(&self, other: &Self) -> BTreeSet<usize> {
        let pairs: BTreeSet<(usize, usize)> =
            (0..=255).map(|byte| (self.class_of(byte), other.class_of(byte))).collect();
        let mut seen: FxHashSet<(usize, usize)> = FxHashSet::from_iter([(0, 0)]);
        let mut agenda = vec![(0, 0)];
        while let Some((state, of_other)) = agenda.pop() {
            for &(class, class_of_other) in &pairs {
                let Some(of_other) = other.next[of_other][class_of_other] else { continue };
                let state = if state < self.states() { self.next[state][class] } else { None };
                let next = (state.unwrap_or(self.states()), of_other);
                if seen.insert(next) {
                    agenda.push(next);
                }
            }
        }
        seen.into_iter().filter(|&(_, of_other)| other.accepting[of_other]).map(|(state, _)| state).collect()
    }

    /// What a state leaves of the language.
    pub fn left(&self, state: usize, set: &mut RegexSet) -> RegexId {
        self.texts(state, self.accepting.clone(), set)
    }

    /// The texts that lead to one of these; to no state, if the number of all is one of them.
    pub fn leading_to(&self, states: &BTreeSet<usize>, set: &mut RegexSet) -> RegexId {
        let to_none = states.contains(&self.states());
        let ends = (0..self.states()).map(|state| states.contains(&state) != to_none).collect();
        let texts = self.texts(0, ends, set);
        if to_none { set.not(texts) } else { texts }
    }

    fn is_everything(algebra: &mut Algebra, expr: Expr, work_max: u64) -> Result<bool, LookFault> {
        if expr == Expr::ALL || !algebra.is_nullable(expr) {
            return Ok(expr == Expr::ALL);
        }
        let others = algebra.without(Expr::ALL, expr).map_err(too_large)?;
        let is_some = algebra.is_non_empty(others, left(algebra, work_max)).map_err(too_large)?;
        Ok(!is_some)
    }

    /// The states that lead to one of these, with them. Cost: linear.
    pub fn reaching(&self, mut reaches: Vec<bool>) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.next.len()];
        for (state, row) in self.next.iter().enumerate() {
            row.iter().flatten().for_each(|&next| before[next].push(state));
        }
        let mut agenda: Vec<usize> = (0..reaches.len()).filter(|&state| reaches[state]).collect();
        while let Some(state) = agenda.pop() {
            for &state in &before[state] {
                if !std::mem::replace(&mut reaches[state], true) {
                    agenda.push(state);
                }
            }
        }
        reaches
    }

    /// The texts that lead from a state to one of these.
    pub fn texts(&self, start: usize, accepting: Vec<bool>, set: &mut RegexSet) -> RegexId {
        // Only where an accepting state can be reached.
        let reaches = self.reaching(accepting.clone());
        if !reaches[start] {
            return set.nothing();
        }
        let next = self.next.iter().flatten().map(|next| next.filter(|&next| reaches[next]));
        let letters: Vec<RegexId> = self.classes.iter().map(|&class| set.bytes(class)).collect();
        let dfa = Table::new(letters.len(), start, next, accepting);
        set.dfa(&dfa, &letters)
    }

    /// The language's texts by the bytes that go on with them, as the states where they end, and what follows those that are taken
    /// whole: any other byte.
    pub fn whole(&self, set: &mut RegexSet) -> Vec<(Vec<bool>, Option<RegexId>)> {
        let mut states: FxHashMap<Vec<bool>, Vec<bool>> = FxHashMap::default();
        for (state, row) in self.next.iter().enumerate().filter(|(state, _)| self.accepting[*state]) {
            let live = row.iter().map(Option::is_some).collect();
            states.entry(live).or_insert_with(|| vec![false; self.next.len()])[state] = true;
        }
        let mut ways: Vec<(Vec<bool>, Vec<bool>)> = states.into_iter().collect();
        ways.sort_unstable();
        let ways = ways.into_iter().map(|(live, states)| {
            let other = self.classes.iter().zip(&live).filter(|(_, live)| !**live);
            let other = other.fold(ByteSet::EMPTY, |other, (class, _)| other.union(class));
            let (other, any) = (set.bytes(other), set.any_byte());
            let any = set.repeat(any, 0, None);
            let behind = set.concat(&[other, any]);
            (states, Some(set.optional(behind)))
        });
        ways.collect()
    }

    /// Whether what goes on with a text leads to the state behind this byte again, the same from everywhere.
    pub fn returns_to(&self, byte: u8) -> bool {
        let class = self.class_of(byte);
        let mut behind = self.next.iter().filter_map(|row| row[class]);
        let Some(first) = behind.next() else { return false };
        if behind.any(|other| other != first) {
            return false;
        }
        let reaches = self.reaching(self.next.iter().map(|row| row[class].is_some()).collect());
        let accepting = self.next.iter().zip(&self.accepting).filter(|(_, accepting)| **accepting);
        accepting.flat_map(|(row, _)| row.iter().flatten()).all(|&next| reaches[next])
    }

    /// The texts that are not empty and after which not everything may follow.
    pub fn undecided(&self, set: &mut RegexSet) -> RegexId {
        let decided = self.texts(0, self.all.clone(), set);
        let undecided = set.not(decided);
        let byte = set.any_byte();
        let some = set.repeat(byte, 1, None);
        set.and(&[undecided, some])
    }

    /// The texts of `rest` by what they leave of the language, which is `allowed`. `work` is what is left of [`SPLITS_WORK_MAX`].
    ///
    /// Errors: there are too many.
    pub fn split(
        &self,
        rest: RegexId,
        allowed: RegexId,
        set: &mut RegexSet,
        work: &mut u64,
    ) -> Result<Vec<Ending>, LookFault> {
        let mut ways = Vec::new();
        let ends = self.ends(rest, set, work)?;
        if self.all.contains(&true) {
            let decided = self.texts(0, self.all.clone(), set);
            ways.push((set.and(&[rest, decided]), None));
        }
        for state in (0..self.next.len()).filter(|&state| !self.all[state] && ends[state]) {
            let texts = self.texts(0, (0..self.next.len()).map(|other| other == state).collect(), set);
            let texts = if set.info(rest).len_max == Some(0) {
                // Nothing but the empty text, which leads nowhere.
                if state == 0 { rest } else { continue }
            } else {
                set.and(&[rest, texts])
            };
            let left = if state == 0 { allowed } else { self.left(state, set) };
            ways.push((texts, Some(left)));
        }
        Ok(ways)
    }

    /// The states in which texts of `rest` end.
    fn ends(&self, rest: RegexId, set: &mut RegexSet, work: &mut u64) -> Result<Vec<bool>, LookFault> {
        let mut algebra = Algebra::new(EXPRESSIONS_MAX);
        let found = self.ends_within(rest, set, &mut algebra, *work);
        let spent = algebra.work();
        (*work, set.look_work) = (work.saturating_sub(spent), set.look_work + spent);
        found
    }

    fn ends_within(
        &self,
        rest: RegexId,
        set: &RegexSet,
        algebra: &mut Algebra,
        work: u64,
    ) -> Result<Vec<bool>, LookFault> {
        let start = algebra.lower(set, rest, &mut Lowered::default()).map_err(too_large)?;
        let class_of: Vec<usize> = (0..=255).map(|byte| self.class_of(byte)).collect();
        let mut seen: FxHashSet<(Expr, usize)> = FxHashSet::from_iter([(start, 0)]);
        let mut agenda = vec![(start, 0)];
        let mut ends = vec![false; self.next.len()];
        while let Some((expr, state)) = agenda.pop() {
            ends[state] |= algebra.is_nullable(expr);
            if self.all[state] {
                continue;
            }
            for bytes in algebra.first_classes(expr, WORK_MAX).map_err(too_large)? {
                let byte = bytes.iter().next().expect("classes are not empty");
                let next = algebra.derivative(expr, byte, WORK_MAX).map_err(too_large)?;
                if next == Expr::NOTHING {
                    continue;
                }
                let mut classes: Vec<usize> = bytes.iter().map(|byte| class_of[usize::from(byte)]).collect();
                classes.sort_unstable();
                classes.dedup();
                for to in classes.into_iter().filter_map(|class| self.next[state][class]) {
                    if seen.insert((next, to)) {
                        agenda.push((next, to));
                    }
                }
                if seen.len() > PAIRS_MAX {
                    return Err(LookFault::TooLarge { limit: PAIRS_MAX as u64, of: "states beside what follows it" });
                }
                if algebra.work() > work {
                    return Err(LookFault::TooLarge { limit: SPLITS_WORK_MAX, of: STEPS });
                }
                if algebra.work() > set.look_work_left() {
                    return Err(LookFault::NothingLeft);
                }
            }
        }
        let many = ends.iter().zip(&self.all).filter(|(ends, all)| **ends && !**all).count() > WAYS_MAX;
        match many {
            true => Err(LookFault::TooLarge { limit: WAYS_MAX as u64, of: "states that differ in what may follow" }),
            false => Ok(ends),
        }
    }
}
