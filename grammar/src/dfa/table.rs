//! Finite automata whose states are listed.

use std::collections::VecDeque;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Dfa, DfaRef};
use crate::saved::{Inconsistent, SavedAutomaton, decoded, encoded};

/// In place of a state: no word goes on so.
const NONE: u32 = u32::MAX;

/// A finite automaton over a few letters.
#[derive(Debug)]
pub(crate) struct Table {
    /// A hash of all that is in it.
    name: String,
    states: States,
    /// The fewest letters from each state to an accepting one.
    shortest_rests: Vec<u32>,
}

#[derive(Debug, Serialize, Deserialize)]
struct States {
    letters: usize,
    start: u32,
    /// The next state by state and letter, where an accepting one can be reached from it; otherwise [`NONE`].
    next: Vec<u32>,
    accepting: Vec<bool>,
}

impl Table {
    /// How it is called in a saved grammar.
    pub const KIND: &str = "table";

    /// `next` is by state and letter: the state behind it, where that leads to an accepting one. There is a state, and at least
    /// one letter and at most 256.
    #[allow(clippy::new_ret_no_self, reason = "automata are met as references to them")]
    pub fn new(
        letters: usize,
        start: usize,
        next: impl IntoIterator<Item = Option<usize>>,
        accepting: Vec<bool>,
    ) -> DfaRef {
        let next = next.into_iter().map(|next| next.map_or(NONE, |next| next as u32)).collect();
        Self::of(States { letters, start: start as u32, next, accepting })
    }

    fn of(states: States) -> DfaRef {
        let bytes = encoded(&states).expect("numbers can be written");
        let name = format!("table {}", blake3::hash(&bytes).to_hex());
        let shortest_rests = states.shortest_rests();
        DfaRef::new(Arc::new(Self { name, states, shortest_rests }))
    }

    /// The automaton that [`save`](Dfa::save) wrote.
    ///
    /// Errors: numbers that are none of its states', rows of other lengths.
    pub fn read(bytes: &[u8]) -> Result<DfaRef, Inconsistent> {
        let states: States = decoded(bytes)?;
        let len = states.accepting.len();
        let holds = (1..=256).contains(&states.letters)
            && (states.start as usize) < len
            && len.checked_mul(states.letters) == Some(states.next.len())
            && states.next.iter().all(|&next| next == NONE || (next as usize) < len);
        Inconsistent::unless(holds, "a finite automaton leads out of its table")?;
        Ok(Self::of(states))
    }
}

impl States {
    /// The fewest letters from each state to an accepting one; 0 where none can be reached, which is only where somebody made up
    /// a saved grammar. Cost: linear.
    fn shortest_rests(&self) -> Vec<u32> {
        let edges = || self.next.iter().enumerate().filter(|(_, next)| **next != NONE);
        // The states that lead to each one stand side by side, its own end where the next one's begin.
        let mut ends = vec![0; self.accepting.len() + 1];
        edges().for_each(|(_, &next)| ends[next as usize + 1] += 1);
        for state in 1..ends.len() {
            ends[state] += ends[state - 1];
        }
        let mut from = vec![0; ends[self.accepting.len()]];
        let mut filled = ends.clone();
        for (at, &next) in edges() {
            from[filled[next as usize]] = at / self.letters;
            filled[next as usize] += 1;
        }
        let mut least: Vec<u32> = self.accepting.iter().map(|&accepts| if accepts { 0 } else { NONE }).collect();
        let mut agenda: VecDeque<usize> = (0..least.len()).filter(|&state| least[state] == 0).collect();
        while let Some(state) = agenda.pop_front() {
            for &before in &from[ends[state]..ends[state + 1]] {
                if least[before] == NONE {
                    least[before] = least[state] + 1;
                    agenda.push_back(before);
                }
            }
        }
        least.iter_mut().filter(|least| **least == NONE).for_each(|least| *least = 0);
        least
    }
}

impl Dfa for Table {
    fn name(&self) -> &str {
        &self.name
    }
    fn letters(&self) -> usize {
        self.states.letters
    }
    fn start(&self) -> u128 {
        u128::from(self.states.start)
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        let next = self.states.next[state as usize * self.states.letters + usize::from(letter)];
        (next != NONE).then_some(u128::from(next))
    }
    fn is_accepting(&self, state: u128) -> bool {
        self.states.accepting[state as usize]
    }
    fn shortest_rest(&self, state: u128) -> Option<u32> {
        Some(self.shortest_rests[state as usize])
    }
    fn shortest_rest_max(&self) -> Option<u32> {
        self.shortest_rests.iter().copied().max()
    }
    fn save(&self) -> Option<SavedAutomaton> {
        SavedAutomaton::new(Self::KIND, &self.states)
    }
}
