//! Small automata over symbols: what a rule derives that is regular over what it calls.

use larkspur_grammar::define_id;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

define_id! {
    /// A symbol that an automaton reads.
    pub(super) struct Letter = "a";
}

/// States that an automaton has at most before it is made deterministic, and edges after that.
const DRAFT_STATES_MAX: usize = 512;
const EDGES_MAX: usize = 512;

/// States that it has at most after that.
const STATES_MAX: usize = 64;

/// An automaton that is being made: it may be in several states at once.
#[derive(Default, Debug)]
pub(super) struct Draft {
    states: Vec<DraftState>,
}

#[derive(Clone, Default, Debug)]
struct DraftState {
    edges: SmallVec<[(Letter, u32); 2]>,
    /// States that are reached without a symbol.
    skips: SmallVec<[u32; 2]>,
}

/// A deterministic automaton with the fewest states, which begins in the first one. From each state a final one can be reached.
#[derive(Debug)]
pub(super) struct Minimal {
    pub states: Vec<State>,
}

/// A state of a deterministic automaton.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct State {
    /// By letter.
    pub edges: Vec<(Letter, u32)>,
    pub is_final: bool,
}

impl Draft {
    /// States and edges.
    pub fn size(&self) -> usize {
        self.states.len() + self.states.iter().map(|state| state.edges.len()).sum::<usize>()
    }

    /// Whether there are more states than an automaton may have.
    pub fn is_too_large(&self) -> bool {
        self.states.len() > DRAFT_STATES_MAX
    }

    pub fn state(&mut self) -> u32 {
        self.states.push(DraftState::default());
        self.states.len() as u32 - 1
    }

    pub fn edge(&mut self, from: u32, letter: Letter, to: u32) {
        self.states[from as usize].edges.push((letter, to));
    }

    pub fn skip(&mut self, from: u32, to: u32) {
        self.states[from as usize].skips.push(to);
    }

    /// Adds a copy of an automaton between two states.
    pub fn splice(&mut self, from: u32, automaton: &Minimal, to: u32) {
        let first = self.states.len() as u32;
        for State { edges, is_final } in &automaton.states {
            let edges = edges.iter().map(|&(letter, to)| (letter, first + to)).collect();
            let skips = if *is_final { SmallVec::from_slice(&[to]) } else { SmallVec::new() };
            self.states.push(DraftState { edges, skips });
        }
        self.skip(from, first);
    }

    /// What is read on all ways from a state to another one. `None` if that is nothing, or takes too many states.
    pub fn minimal(&self, from: u32, to: u32) -> Option<Minimal> {
        Some(merged(&live(&self.deterministic(from, to)?)?))
    }

    fn deterministic(&self, from: u32, to: u32) -> Option<Vec<State>> {
        let start = self.closure(vec![from]);
        let mut ids = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut sets = vec![start];
        let (mut states, mut edges_len) = (Vec::new(), 0);
        while let Some(set) = sets.get(states.len()) {
            let mut next: FxHashMap<Letter, Vec<u32>> = FxHashMap::default();
            for &state in set {
                let edges = &self.states[state as usize].edges;
                edges.iter().for_each(|&(letter, to)| next.entry(letter).or_default().push(to));
            }
            let is_final = set.binary_search(&to).is_ok();
            let mut next: Vec<(Letter, Vec<u32>)> = next.into_iter().collect();
            next.sort_unstable_by_key(|&(letter, _)| letter);
            edges_len += next.len();
            let mut edges = Vec::with_capacity(next.len());
            for (letter, reached) in next {
                let reached = self.closure(reached);
                let id = *ids.entry(reached).or_insert_with_key(|reached| {
                    sets.push(reached.clone());
                    sets.len() as u32 - 1
                });
                edges.push((letter, id));
            }
            states.push(State { edges, is_final });
            if sets.len() > STATES_MAX || edges_len > EDGES_MAX {
                return None;
            }
        }
        Some(states)
    }

    /// States and what is reached from them without a symbol, ascending.
    fn closure(&self, mut states: Vec<u32>) -> Vec<u32> {
        let mut is_in = vec![false; self.states.len()];
        states.retain(|&state| !std::mem::replace(&mut is_in[state as usize], true));
        let mut next = 0;
        while let Some(&state) = states.get(next) {
            let skips = &self.states[state as usize].skips;
            states.extend(skips.iter().copied().filter(|&to| !std::mem::replace(&mut is_in[to as usize], true)));
            next += 1;
        }
        states.sort_unstable();
        states
    }
}

/// The states from which a final one can be reached; `None` if the first is not one.
fn live(states: &[State]) -> Option<Vec<State>> {
    let mut is_live: Vec<bool> = states.iter().map(|state| state.is_final).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (id, state) in states.iter().enumerate() {
            if !is_live[id] && state.edges.iter().any(|&(_, to)| is_live[to as usize]) {
                (is_live[id], changed) = (true, true);
            }
        }
    }
    let numbers = is_live.iter().scan(0, |number, &is_live| {
        *number += u32::from(is_live);
        Some(*number - u32::from(is_live))
    });
    let numbers: Vec<u32> = numbers.collect();
    let edge = |&(letter, to): &(Letter, u32)| is_live[to as usize].then(|| (letter, numbers[to as usize]));
    let live = states.iter().zip(&is_live).filter(|&(_, &is_live)| is_live).map(|(State { edges, is_final }, _)| {
        State { edges: edges.iter().filter_map(edge).collect(), is_final: *is_final }
    });
    is_live[0].then(|| live.collect())
}

/// One state for all from which the same is read (E. F. Moore, Gedanken-experiments on Sequential Machines, 1956).
fn merged(states: &[State]) -> Minimal {
    let mut class_of: Vec<u32> = vec![0; states.len()];
    let mut classes_len = 0;
    loop {
        let mut classes: FxHashMap<(u32, State), u32> = FxHashMap::default();
        let mut merged = Vec::new();
        let mut next = Vec::with_capacity(states.len());
        for (state, &class) in states.iter().zip(&class_of) {
            let edges = state.edges.iter().map(|&(letter, to)| (letter, class_of[to as usize])).collect();
            let state = State { edges, is_final: state.is_final };
            next.push(*classes.entry((class, state)).or_insert_with_key(|(_, state)| {
                merged.push(state.clone());
                merged.len() as u32 - 1
            }));
        }
        // Classes are told by the numbers from before, which are those of now when none was split.
        if classes.len() == classes_len {
            return Minimal { states: merged };
        }
        (class_of, classes_len) = (next, classes.len());
    }
}
