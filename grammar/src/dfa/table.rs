//! Finite automata whose states are listed.

use std::fmt::Write;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Dfa, DfaRef};
use crate::saved::{Inconsistent, SavedAutomaton, decoded};

/// A finite automaton over classes of bytes.
#[derive(Debug)]
pub(crate) struct Table {
    /// All that is in it.
    name: String,
    states: States,
}

#[derive(Debug, Serialize, Deserialize)]
struct States {
    start: usize,
    /// The next state by state and class, where an accepting one can be reached from it.
    next: Vec<Vec<Option<usize>>>,
    accepting: Vec<bool>,
}

impl Table {
    /// How it is called in a saved grammar.
    pub const KIND: &str = "table";

    /// `next` is by state and letter: where an accepting state can be reached. There is a state, and of each the letters
    /// are as many, at least one and at most 256.
    #[allow(clippy::new_ret_no_self, reason = "automata are met as references to them")]
    pub fn new(start: usize, next: Vec<Vec<Option<usize>>>, accepting: Vec<bool>) -> DfaRef {
        Self::of(States { start, next, accepting })
    }

    fn of(states: States) -> DfaRef {
        let mut name = format!("look-ahead {}", states.start);
        for (row, accepts) in states.next.iter().zip(&states.accepting) {
            let _ = write!(name, " {}", if *accepts { "!" } else { "-" });
            row.iter().for_each(|next| {
                let _ = match next {
                    Some(next) => write!(name, " {next}"),
                    None => write!(name, " ."),
                };
            });
        }
        DfaRef::new(Arc::new(Self { name, states }))
    }

    /// The automaton that [`save`](Dfa::save) wrote.
    ///
    /// Errors: numbers that are none of its states', rows of other lengths.
    pub fn read(bytes: &[u8]) -> Result<DfaRef, Inconsistent> {
        let states: States = decoded(bytes)?;
        let len = states.next.len();
        let letters = states.next.first().map_or(0, Vec::len);
        let is_row = |row: &Vec<Option<usize>>| row.len() == letters && row.iter().flatten().all(|&next| next < len);
        let holds = (1..=256).contains(&letters)
            && states.start < len
            && states.accepting.len() == len
            && states.next.iter().all(is_row);
        Inconsistent::unless(holds, "a finite automaton leads out of its table")?;
        Ok(Self::of(states))
    }
}

impl Dfa for Table {
    fn name(&self) -> &str {
        &self.name
    }
    fn letters(&self) -> usize {
        self.states.next[0].len()
    }
    fn start(&self) -> u128 {
        self.states.start as u128
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        self.states.next[state as usize][usize::from(letter)].map(|next| next as u128)
    }
    fn is_accepting(&self, state: u128) -> bool {
        self.states.accepting[state as usize]
    }
    fn save(&self) -> Option<SavedAutomaton> {
        SavedAutomaton::new(Self::KIND, &self.states)
    }
}
