//! The graph of places that a regex becomes, and what is made of it: texts, by what must stand around them.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::super::ast::Sign;
use super::super::error::LookFault;
use super::super::follow::Automaton;
use super::super::look::Way;
use super::super::undecided::Questions;
use super::states::{Reading, STATES_MAX, Wants};
use crate::regex::{RegexId, RegexNode, RegexSet};

/// Places of a graph at most.
const PLACES_MAX: usize = 5_000;
/// States of all automata of a graph at most.
const AUTOMATA_STATES_MAX: usize = 10_000;
/// What may have to stand around texts, in different cases, at most.
const WAYS_MAX: usize = 64;
/// What leads from one place to another.
#[derive(Clone, Copy)]
pub(super) enum Edge {
    Nothing,
    /// A text of this automaton.
    Text(usize),
    /// What follows must be one of this automaton's texts.
    Ahead(usize),
    /// What stands before must be one of this automaton's texts or, if negative, must be none.
    Behind(usize, Sign),
}

/// A graph; it begins at place 0.
pub(super) struct Graph {
    pub edges: Vec<Vec<(Edge, usize)>>,
    pub automata: Vec<Automaton>,
    by_language: FxHashMap<RegexId, usize>,
    /// Automata that look behind, and the states to which what stands before the text may lead, at most 64.
    pub looks_behind: BTreeMap<usize, Vec<usize>>,
}

/// A graph, or what is made of it, is too large.
#[derive(Debug)]
pub(super) struct TooMany;

impl From<TooMany> for LookFault {
    fn from(_: TooMany) -> Self {
        LookFault::TooManyWays { limit: STATES_MAX }
    }
}

impl Graph {
    pub fn new() -> Self {
        Self {
            edges: vec![Vec::new()],
            automata: Vec::new(),
            by_language: FxHashMap::default(),
            looks_behind: BTreeMap::new(),
        }
    }

    pub fn place(&mut self) -> Result<usize, TooMany> {
        self.edges.push(Vec::new());
        if self.edges.len() > PLACES_MAX { Err(TooMany) } else { Ok(self.edges.len() - 1) }
    }

    pub fn edge(&mut self, from: usize, edge: Edge) -> Result<usize, TooMany> {
        let to = self.place()?;
        self.edges[from].push((edge, to));
        Ok(to)
    }

    fn automaton(&mut self, language: RegexId, set: &mut RegexSet) -> Result<usize, TooMany> {
        if let Some(&known) = self.by_language.get(&language) {
            return Ok(known);
        }
        self.automata.push(Automaton::new(set, language).map_err(|_| TooMany)?);
        if self.automata.iter().map(Automaton::states).sum::<usize>() > AUTOMATA_STATES_MAX {
            return Err(TooMany);
        }
        self.by_language.insert(language, self.automata.len() - 1);
        Ok(self.automata.len() - 1)
    }

    /// A text of a language from a place on; where it leads to.
    pub fn text(&mut self, from: usize, language: RegexId, set: &mut RegexSet) -> Result<usize, TooMany> {
        if matches!(set.node(language), RegexNode::Literal(bytes) if bytes.is_empty()) {
            return self.edge(from, Edge::Nothing);
        }
        let automaton = self.automaton(language, set)?;
        self.edge(from, Edge::Text(automaton))
    }

    /// What follows a place is one of `allowed`, a language of any bytes.
    pub fn ahead(&mut self, from: usize, allowed: RegexId, set: &mut RegexSet) -> Result<usize, TooMany> {
        let automaton = self.automaton(allowed, set)?;
        self.edge(from, Edge::Ahead(automaton))
    }

    /// What stands before a place is (or is not) one of `found`, a language of any bytes; before the text `any`
    /// may stand.
    pub fn behind(
        &mut self,
        from: usize,
        (found, sign): (RegexId, Sign),
        any: RegexId,
        set: &mut RegexSet,
    ) -> Result<usize, TooMany> {
        let automaton = self.automaton(found, set)?;
        if !self.looks_behind.contains_key(&automaton) {
            let any = self.automaton(any, set)?;
            let starts = self.automata[automaton].led_to(&self.automata[any]);
            if starts.len() > u64::BITS as usize {
                return Err(TooMany);
            }
            self.looks_behind.insert(automaton, starts.into_iter().collect());
        }
        self.edge(from, Edge::Behind(automaton, sign))
    }

    /// The end of a part that is any of several.
    pub fn join(&mut self, ends: &[usize]) -> Result<usize, TooMany> {
        let end = self.place()?;
        ends.iter().for_each(|&from| self.edges[from].push((Edge::Nothing, end)));
        Ok(end)
    }

    /// The texts that lead to place `end`, by what must stand around them. Of those that everything may stand around there is
    /// one way at most. `steps` are those that are left.
    pub fn ways(&self, end: usize, set: &mut RegexSet, steps: &mut usize) -> Result<Vec<Way>, LookFault> {
        let (automaton, states) = Reading::new(self, end).explore(steps, |_| Ok(()))?;
        // By what must stand before, and by what must follow, in one of several cases.
        type Around<'a> = (&'a [(usize, u64)], BTreeSet<&'a [(usize, usize)]>);
        let mut ways: BTreeMap<Around, Vec<bool>> = BTreeMap::new();
        for (index, state) in states.iter().enumerate() {
            let mut cases: BTreeMap<&[_], BTreeSet<&[_]>> = BTreeMap::new();
            for Wants { ahead, behind } in &state.ends {
                cases.entry(behind).or_default().insert(ahead);
            }
            for around in cases {
                ways.entry(around).or_insert_with(|| vec![false; states.len()])[index] = true;
            }
            if ways.len() > WAYS_MAX {
                return Err(TooMany.into());
            }
        }
        let mut questions = Questions::new();
        let mut found: BTreeMap<(Option<RegexId>, Option<RegexId>), Vec<bool>> = BTreeMap::new();
        for ((behind, cases), ends) in ways {
            let before = behind.iter().map(|&(at, states)| {
                let starts = self.looks_behind[&at].iter().enumerate();
                let starts = starts.filter(|(bit, _)| states >> bit & 1 == 1).map(|(_, &start)| start).collect();
                self.automata[at].leading_to(&starts, set)
            });
            let before: Vec<RegexId> = before.collect();
            let before = (!before.is_empty()).then(|| set.and(&before));
            let after = (!cases.iter().any(|case| case.is_empty())).then(|| {
                let each = cases.iter().map(|case| {
                    let all: Vec<RegexId> =
                        case.iter().map(|&(at, state)| self.automata[at].left(state, set)).collect();
                    set.and(&all)
                });
                let each: Vec<RegexId> = each.collect();
                set.or(&each)
            });
            // Some conditions are met by everything, or by nothing.
            let mut around = [before, after];
            let mut is_possible = true;
            for side in &mut around {
                let Some(allowed) = *side else { continue };
                is_possible &= !questions.is_empty(set, allowed);
                let forbidden = set.not(allowed);
                if questions.is_empty(set, forbidden) {
                    *side = None;
                }
            }
            if !is_possible {
                continue;
            }
            let all = found.entry((around[0], around[1])).or_insert_with(|| vec![false; states.len()]);
            all.iter_mut().zip(ends).for_each(|(all, ends)| *all |= ends);
        }
        let ways = found.into_iter();
        Ok(ways.map(|((behind, follow), ends)| Way { texts: automaton.texts(0, ends, set), behind, follow }).collect())
    }

    /// The texts that lead to place `end`.
    ///
    /// Errors: it is too large, or what stands around some texts decides whether they match.
    pub fn texts(&self, end: usize, set: &mut RegexSet, steps: &mut usize) -> Result<RegexId, LookFault> {
        // No other condition stands beside the one that everything meets.
        let (automaton, states) = Reading::new(self, end).explore(steps, |state| match state.ends.first() {
            Some(Wants { behind, .. }) if !behind.is_empty() => Err(LookFault::Before),
            Some(Wants { ahead, .. }) if !ahead.is_empty() => Err(LookFault::After),
            _ => Ok(()),
        })?;
        let ends = states.iter().map(|state| !state.ends.is_empty()).collect();
        Ok(automaton.texts(0, ends, set))
    }

    /// An automaton, and its states to which the texts lead that lead to place `end` where nothing stands around them, as it
    /// does not before them; behind `found`, if that is a place, all texts match.
    pub fn whole(
        &self,
        end: usize,
        found: Option<usize>,
        steps: &mut usize,
    ) -> Result<(Automaton, Vec<bool>), LookFault> {
        let reading = Reading { found, ..Reading::new(self, end) };
        let (automaton, states) = reading.explore(steps, |_| Ok(()))?;
        let is_met = |wants: &Wants| wants.ahead.iter().all(|&(at, state)| self.automata[at].accepts(state));
        let ends = states.iter().map(|state| state.ends.iter().any(is_met)).collect();
        Ok((automaton, ends))
    }
}
