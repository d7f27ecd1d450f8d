//! What a saved grammar says of automata, which are code: each writes what it was made from, and who knows its kind makes
//! it again.
//!
//! Tables of a saved grammar are written by serde. Whoever reads them checks all that the code takes for granted of them,
//! since the bytes may be anything: what is not so is [`Inconsistent`].

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::automaton::Automaton;
use crate::dfa::DfaRef;
use crate::limits::Limits;

/// What an [`Automaton`] or a [`Dfa`](crate::Dfa) is made from.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct SavedAutomaton {
    /// Which code it is for.
    pub kind: String,
    /// What that code reads.
    pub bytes: Vec<u8>,
}

impl SavedAutomaton {
    /// What a value of that kind is made from. `None` if it cannot be written.
    pub fn new(kind: &str, value: &impl Serialize) -> Option<Self> {
        Some(Self { kind: kind.to_owned(), bytes: encoded(value)? })
    }
}

/// Makes automata again.
pub trait AutomatonReader {
    /// The automaton that wrote this.
    ///
    /// Errors: a kind that is not known, or bytes that no automaton wrote.
    fn automaton(&self, saved: &SavedAutomaton, limits: &Limits) -> Result<Arc<dyn Automaton>, Inconsistent>;
    /// The same for those that are regexes.
    ///
    /// Errors: as of [`automaton`](Self::automaton).
    fn dfa(&self, saved: &SavedAutomaton) -> Result<DfaRef, Inconsistent>;
}

/// An automaton that cannot be saved: its code does not say what it is made from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotSavable {
    /// Its name, or how it shows in dumps.
    pub what: String,
}

/// What was read cannot have been saved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Inconsistent {
    /// What is wrong.
    pub what: &'static str,
}

impl Inconsistent {
    /// An error unless that holds; `what` is wrong otherwise.
    pub fn unless(holds: bool, what: &'static str) -> Result<(), Self> {
        if holds { Ok(()) } else { Err(Self { what }) }
    }
}

/// A value as bytes. `None` if it cannot be written.
pub fn encoded(value: &impl Serialize) -> Option<Vec<u8>> {
    postcard::to_allocvec(value).ok()
}

/// The value that [`encoded`] wrote.
///
/// Errors: bytes that it did not write, or more of them. Cost: memory is a constant times the bytes.
pub fn decoded<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, Inconsistent> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(Inconsistent { what: "there are bytes behind the last one" }),
        Err(_) => Err(Inconsistent { what: "the bytes are no values of these types" }),
    }
}
