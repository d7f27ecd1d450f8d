//! Small automata over symbols: what a rule derives that is regular over what it calls.

use std::hash::Hash;

use larkspur_grammar::define_id;
use larkspur_grammar::hashing::hash_in;
use rustc_hash::{FxHashMap, FxHasher};
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
#[derive(Debug)]
pub(super) struct State {
    /// By letter.
    pub edges: Vec<(Letter, u32)>,
    pub is_final: bool,
}

impl State {
    /// The edges, with the classes of the states that they lead to.
    fn behind(&self, class_of: &[u32]) -> impl Iterator<Item = (Letter, u32)> {
        self.edges.iter().map(|&(letter, to)| (letter, class_of[to as usize]))
    }
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
        Some(merged(&live(self.deterministic(from, to)?)?))
    }

    fn deterministic(&self, from: u32, to: u32) -> Option<Vec<State>> {
        let mut subsets =
            Subsets { draft: self, ids: FxHashMap::default(), sets: Vec::new(), seen: Vec::new(), turn: 0 };
        subsets.seen.resize(self.states.len(), 0);
        subsets.id(&[from]);
        // Most letters lead to one state, and many to the same.
        let mut singles: Vec<Option<u32>> = vec![None; self.states.len()];
        let (mut states, mut edges_len) = (Vec::new(), 0);
        let mut next: Vec<(Letter, u32)> = Vec::new();
        let mut reached: Vec<u32> = Vec::new();
        while let Some(set) = subsets.sets.get(states.len()) {
            next.clear();
            next.extend(set.iter().flat_map(|&state| self.states[state as usize].edges.iter().copied()));
            next.sort_unstable();
            next.dedup();
            let is_final = set.binary_search(&to).is_ok();
            let mut edges = Vec::new();
            for same in next.chunk_by(|a, b| a.0 == b.0) {
                let id = match same {
                    &[(_, only)] => *singles[only as usize].get_or_insert_with(|| subsets.id(&[only])),
                    _ => {
                        reached.clear();
                        reached.extend(same.iter().map(|&(_, to)| to));
                        subsets.id(&reached)
                    }
                };
                edges.push((same[0].0, id));
            }
            edges_len += edges.len();
            states.push(State { edges, is_final });
            if subsets.sets.len() > STATES_MAX || edges_len > EDGES_MAX {
                return None;
            }
        }
        Some(states)
    }
}

/// Sets of states in which a draft is at once (M. O. Rabin and D. Scott, Finite Automata and Their Decision Problems, 1959).
struct Subsets<'a> {
    draft: &'a Draft,
    ids: FxHashMap<Vec<u32>, u32>,
    sets: Vec<Vec<u32>>,
    /// The turn in which each state was met last.
    seen: Vec<u32>,
    turn: u32,
}

impl Subsets<'_> {
    /// The number of some states with those that are reached from them without a symbol.
    fn id(&mut self, states: &[u32]) -> u32 {
        let Self { draft, ids, sets, seen, turn } = self;
        *turn += 1;
        let mut is_new = |state: u32| std::mem::replace(&mut seen[state as usize], *turn) != *turn;
        let mut all: Vec<u32> = states.iter().copied().filter(|&state| is_new(state)).collect();
        let mut next = 0;
        while let Some(&state) = all.get(next) {
            all.extend(draft.states[state as usize].skips.iter().copied().filter(|&to| is_new(to)));
            next += 1;
        }
        all.sort_unstable();
        *ids.entry(all).or_insert_with_key(|all| {
            sets.push(all.clone());
            sets.len() as u32 - 1
        })
    }
}

/// The states from which a final one can be reached; `None` if the first is not one.
fn live(states: Vec<State>) -> Option<Vec<State>> {
    let mut is_live: Vec<bool> = states.iter().map(|state| state.is_final).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for (id, state) in states.iter().enumerate() {
            if !is_live[id] && state.edges.iter().any(|&(_, to)| is_live[to as usize]) {
                (is_live[id], changed) = (true, true);
            }
        }
    }
    if !is_live.contains(&false) {
        return Some(states);
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
    let mut class_of: Vec<u32> = states.iter().map(|state| u32::from(state.is_final != states[0].is_final)).collect();
    let mut classes_len = 0;
    loop {
        // The first state of each class.
        let mut firsts: Vec<usize> = Vec::new();
        let mut by_hash: FxHashMap<u64, SmallVec<[u32; 1]>> = FxHashMap::default();
        let mut next = Vec::with_capacity(states.len());
        for (id, state) in states.iter().enumerate() {
            let mut hasher = FxHasher::default();
            class_of[id].hash(&mut hasher);
            state.behind(&class_of).for_each(|edge| edge.hash(&mut hasher));
            let classes = by_hash.entry(hash_in(&hasher)).or_default();
            let is_it = |&&class: &&u32| {
                let first = firsts[class as usize];
                class_of[first] == class_of[id] && states[first].behind(&class_of).eq(state.behind(&class_of))
            };
            let class = classes.iter().find(is_it).copied().unwrap_or_else(|| {
                firsts.push(id);
                classes.push(firsts.len() as u32 - 1);
                firsts.len() as u32 - 1
            });
            next.push(class);
        }
        if firsts.len() == classes_len {
            let states = firsts
                .iter()
                .map(|&first| State { edges: states[first].behind(&next).collect(), is_final: states[first].is_final });
            return Minimal { states: states.collect() };
        }
        (class_of, classes_len) = (next, firsts.len());
    }
}
