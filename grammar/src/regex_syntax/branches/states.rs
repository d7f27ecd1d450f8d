//! The sets of branches of a graph as the states of an automaton, and the steps from one to the next.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::super::ast::Sign;
use super::super::error::LookFault;
use super::super::follow::Automaton;
use super::graph::{Edge, Graph, TooMany};
use crate::regex::ByteSet;

/// States of what is made of a graph at most, and branches of each.
pub(super) const STATES_MAX: usize = 4_000;
const BRANCHES_MAX: usize = 256;
/// A branch's conditions on what stands around the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(super) struct Wants {
    /// Automata and states from which what follows must be accepted. Ascending.
    pub ahead: Vec<(usize, usize)>,
    /// Automata, and to which of their states what stands before the text must lead: a bit each, as in
    /// [`Graph::looks_behind`]. Ascending.
    pub behind: Vec<(usize, u64)>,
}

impl Wants {
    /// Whether all that meets the other meets this.
    fn follows_from(&self, other: &Self) -> bool {
        let allows =
            |&(at, states): &(usize, u64)| other.behind.iter().any(|&(of, own)| of == at && own & !states == 0);
        self.ahead.iter().all(|ahead| other.ahead.binary_search(ahead).is_ok()) && self.behind.iter().all(allows)
    }

    /// Adds a condition on what stands before the text; false if none of the states is left.
    fn add_behind(&mut self, automaton: usize, states: u64) -> bool {
        let index = self.behind.partition_point(|&(at, _)| at < automaton);
        match self.behind.get_mut(index) {
            Some((at, known)) if *at == automaton => {
                *known &= states;
                *known != 0
            }
            _ => {
                self.behind.insert(index, (automaton, states));
                states != 0
            }
        }
    }

    fn add_ahead(&mut self, automaton: usize, state: usize) {
        if let Err(index) = self.ahead.binary_search(&(automaton, state)) {
            self.ahead.insert(index, (automaton, state));
        }
    }
}

/// Conditions one of which must be met; none follows from another. Ascending.
pub(super) type Either = Vec<Wants>;

/// Adds a condition; false if that adds nothing.
pub(super) fn add(either: &mut Either, wants: Wants) -> bool {
    if either.iter().any(|known| known.follows_from(&wants)) {
        return false;
    }
    either.retain(|known| !wants.follows_from(known));
    let index = either.partition_point(|known| *known < wants);
    either.insert(index, wants);
    true
}

/// All branches of a text.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    /// In the middle of a text: its automaton and state, and the place where it leads.
    pub open: BTreeMap<(usize, usize, usize), Either>,
    /// At the end.
    pub ends: Either,
    /// As [`Graph::looks_behind`]: by the state at the text's start the state in which an automaton is.
    pub pasts: Vec<Vec<usize>>,
}

/// A graph while its states are explored.
pub(super) struct Reading<'a> {
    pub graph: &'a Graph,
    pub end: usize,
    /// The place behind which all texts lead to the end.
    pub found: Option<usize>,
    /// Bytes that all automata treat alike.
    pub classes: Vec<ByteSet>,
    /// By class and automaton, the automaton's own class.
    pub own_classes: Vec<Vec<usize>>,
}

impl<'a> Reading<'a> {
    pub fn new(graph: &'a Graph, end: usize) -> Self {
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let (mut classes, mut own_classes) = (Vec::new(), Vec::new());
        for byte in 0..=255u8 {
            let own: Vec<usize> = graph.automata.iter().map(|automaton| automaton.class_of(byte)).collect();
            let class = *known.entry(own).or_insert_with_key(|own| {
                classes.push(ByteSet::EMPTY);
                own_classes.push(own.clone());
                classes.len() - 1
            });
            classes[class].insert(byte);
        }
        Self { graph, end, found: None, classes, own_classes }
    }

    /// The automaton of all states, and these; the first is the start. `check` ends it early.
    pub fn explore(
        self,
        steps: &mut usize,
        check: impl Fn(&State) -> Result<(), LookFault>,
    ) -> Result<(Automaton, Vec<State>), LookFault> {
        let start = self.start(steps)?;
        let mut ids: FxHashMap<State, usize> = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut states = vec![start];
        let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
        while let Some(state) = states.get(rows.len()).cloned() {
            check(&state)?;
            let mut row = Vec::with_capacity(self.classes.len());
            for class in 0..self.classes.len() {
                let next = self.step(&state, class, steps)?;
                row.push(next.map(|next| {
                    *ids.entry(next).or_insert_with_key(|next| {
                        states.push(next.clone());
                        states.len() - 1
                    })
                }));
            }
            if states.len() > STATES_MAX {
                return Err(TooMany.into());
            }
            rows.push(row);
        }
        Ok((Automaton::of(self.classes, rows), states))
    }

    fn start(&self, steps: &mut usize) -> Result<State, TooMany> {
        let pasts = self.graph.looks_behind.values().cloned().collect();
        let mut state = State { open: BTreeMap::new(), ends: Either::new(), pasts };
        self.close(vec![(0, Wants::default())], &mut state, steps)?;
        Ok(state)
    }

    /// Follows the edges that read nothing.
    fn close(&self, mut agenda: Vec<(usize, Wants)>, state: &mut State, steps: &mut usize) -> Result<(), TooMany> {
        let mut seen: FxHashMap<usize, Either> = FxHashMap::default();
        let mut branches = 0;
        agenda.retain(|(place, wants)| add(seen.entry(*place).or_default(), wants.clone()));
        while let Some((place, wants)) = agenda.pop() {
            if Some(place) == self.found && wants == Wants::default() {
                self.forget_all(state, place);
                return Ok(());
            }
            if place == self.end {
                add(&mut state.ends, wants.clone());
            }
            for &(edge, to) in &self.graph.edges[place] {
                *steps = steps.checked_sub(1).ok_or(TooMany)?;
                if let Edge::Text(text) = edge {
                    if self.graph.automata[text].goes_on(0) {
                        add(state.open.entry((text, 0, to)).or_default(), wants.clone());
                    }
                    if !self.graph.automata[text].accepts(0) {
                        continue;
                    }
                }
                let Some(wants) = self.with(wants.clone(), edge, state) else { continue };
                if add(seen.entry(to).or_default(), wants.clone()) {
                    branches += 1;
                    agenda.push((to, wants));
                }
            }
            if branches > BRANCHES_MAX.max(self.graph.edges.len()) {
                return Err(TooMany);
            }
        }
        Ok(())
    }

    /// Leaves of a state only that a match was found, so that all these states are one.
    fn forget_all(&self, state: &mut State, found: usize) {
        let nowhere = |(&at, past): (&usize, &mut Vec<usize>)| past.fill(self.graph.automata[at].states());
        self.graph.looks_behind.keys().zip(&mut state.pasts).for_each(nowhere);
        state.open.clear();
        for &(edge, to) in &self.graph.edges[found] {
            if let Edge::Text(text) = edge {
                state.open.insert((text, 0, to), vec![Wants::default()]);
            }
        }
        state.ends = vec![Wants::default()];
    }

    /// What a branch wants behind an edge; [`None`] if that cannot be met.
    fn with(&self, mut wants: Wants, edge: Edge, state: &State) -> Option<Wants> {
        match edge {
            Edge::Nothing | Edge::Text(_) => {}
            Edge::Ahead(at) => {
                let automaton = &self.graph.automata[at];
                if !automaton.accepts(0) && !automaton.goes_on(0) {
                    return None;
                }
                if !automaton.is_all(0) {
                    wants.add_ahead(at, 0);
                }
            }
            Edge::Behind(at, sign) => {
                let automaton = &self.graph.automata[at];
                let mut pasts = self.graph.looks_behind.keys().zip(&state.pasts);
                let (_, past) = pasts.find(|(other, _)| **other == at).expect("it looks behind");
                let is_found = |state| state < automaton.states() && automaton.accepts(state);
                let holds = |&state: &usize| is_found(state) == (sign == Sign::Positive);
                let allowed = past.iter().enumerate().filter(|(_, state)| holds(state));
                let allowed = allowed.fold(0, |all, (bit, _)| all | 1 << bit);
                let is_any = past.iter().all(holds);
                if !is_any && !wants.add_behind(at, allowed) {
                    return None;
                }
            }
        }
        Some(wants)
    }

    /// The state behind a byte of a class.
    fn step(&self, state: &State, class: usize, steps: &mut usize) -> Result<Option<State>, TooMany> {
        let own = &self.own_classes[class];
        *steps = steps.checked_sub(1).ok_or(TooMany)?;
        // One behind the last of an automaton's states is where nothing matches any more.
        let past = |((&at, _), past): ((&usize, &Vec<usize>), &Vec<usize>)| {
            let automaton = &self.graph.automata[at];
            let next = |&state: &usize| match state {
                state if state < automaton.states() => automaton.step(state, own[at]).unwrap_or(automaton.states()),
                nowhere => nowhere,
            };
            past.iter().map(next).collect()
        };
        let pasts = self.graph.looks_behind.iter().zip(&state.pasts).map(past).collect();
        let mut next = State { open: BTreeMap::new(), ends: Either::new(), pasts };
        let mut arrived = Vec::new();
        for (&(text, at, to), either) in &state.open {
            *steps = steps.checked_sub(either.len()).ok_or(TooMany)?;
            let Some(at) = self.graph.automata[text].step(at, own[text]) else { continue };
            for wants in either.iter().filter_map(|wants| self.behind_byte(wants, own)) {
                if self.graph.automata[text].accepts(at) {
                    arrived.push((to, wants.clone()));
                }
                if self.graph.automata[text].goes_on(at) {
                    add(next.open.entry((text, at, to)).or_default(), wants);
                }
            }
        }
        self.close(arrived, &mut next, steps)?;
        if next.open.values().map(Vec::len).sum::<usize>() + next.ends.len() > BRANCHES_MAX {
            return Err(TooMany);
        }
        Ok((!next.open.is_empty() || !next.ends.is_empty()).then_some(next))
    }

    /// What is left of what a branch wants; [`None`] if the byte may not follow.
    fn behind_byte(&self, wants: &Wants, own: &[usize]) -> Option<Wants> {
        let mut left = Wants { ahead: Vec::new(), behind: wants.behind.clone() };
        for &(at, state) in &wants.ahead {
            let automaton = &self.graph.automata[at];
            let next = automaton.step(state, own[at])?;
            if !automaton.is_all(next) {
                left.add_ahead(at, next);
            }
        }
        Some(left)
    }
}
