//! Deterministic automata over letters, whose states are made as they are reached: regular languages that as operations
//! on smaller ones would be out of reach, such as valid regexes with bounded nesting.
//!
//! A [`Dfa`] reads *letters*; which texts are a letter is said where it is used, by one regex for each (see
//! [`RegexSet::dfa`]), so that the same automaton reads characters in UTF-8 or as JSON spells them. Beside
//! [`Automaton`](crate::Automaton), which is a nonterminal: this is a regex, and all operations of regexes take it.

mod table;

use std::fmt::Debug;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::regex::{ByteSet, RegexId, RegexNode, RegexSet};
use crate::saved::SavedAutomaton;
pub(crate) use table::Table;

/// A deterministic automaton over the letters `0..letters()`. Nothing in it may change.
pub trait Dfa: Debug + Send + Sync {
    /// Tells automata apart: equal names are equal automata.
    fn name(&self) -> &str;
    /// Number of letters; at most 256.
    fn letters(&self) -> usize;
    /// Where it starts.
    fn start(&self) -> u128;
    /// The state behind a letter. `None` where no word goes on so: from every state that is given, an accepting one can
    /// be reached.
    fn next(&self, state: u128, letter: u8) -> Option<u128>;
    /// Whether a word may end in this state.
    fn is_accepting(&self, state: u128) -> bool;
    /// No fewer letters are in a word's rest from this state. The nearer to the truth, the sooner a search for a text of
    /// this automaton and something else looks in the right place.
    fn letters_min(&self, state: u128) -> u32 {
        self.shortest_rest(state).unwrap_or(0)
    }
    /// How many letters are in the shortest rest of a word from this state. `None` if the automaton does not say.
    fn shortest_rest(&self, state: u128) -> Option<u32> {
        let _ = state;
        None
    }
    /// From each state that words lead to, the shortest rest has no more letters. `None` if the automaton does not say.
    fn shortest_rest_max(&self) -> Option<u32> {
        None
    }
    /// No more letters are in a word's rest from this state. The nearer to the truth, the sooner a search for a long text gives up.
    fn letters_max(&self, state: u128) -> u32 {
        let _ = state;
        u32::MAX
    }
    /// What it is made from, for a saved grammar. `None` if it does not say: then grammars with it cannot be saved.
    fn save(&self) -> Option<SavedAutomaton> {
        None
    }
    /// A state from which each of these letters leads to the same as from `state`: the fewer such states there are, the
    /// fewer are made in the middle of letters.
    fn before_letters(&self, state: u128, letters: &ByteSet) -> u128 {
        let _ = letters;
        state
    }
}

/// An automaton that others refer to; equal if the names are.
#[derive(Clone, Debug)]
pub struct DfaRef(Arc<dyn Dfa>);

impl DfaRef {
    /// Wraps an automaton.
    ///
    /// Panics if it has over 256 letters.
    pub fn new(dfa: Arc<dyn Dfa>) -> Self {
        assert!(dfa.letters() <= 256, "letters are bytes");
        Self(dfa)
    }
    /// No fewer letters are in a word's rest from this state.
    pub fn letters_min(&self, state: u128) -> u32 {
        self.0.letters_min(state)
    }
    /// The letters that lead on from a state.
    pub fn live_letters(&self, state: u128) -> ByteSet {
        let mut live = ByteSet::EMPTY;
        for letter in 0..self.letters() {
            // At most 256, see `new`.
            let letter = letter as u8;
            if self.next(state, letter).is_some() {
                live.insert(letter);
            }
        }
        live
    }
}

impl std::ops::Deref for DfaRef {
    type Target = dyn Dfa;
    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for DfaRef {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.name() == other.name()
    }
}

impl Eq for DfaRef {}

impl Hash for DfaRef {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.name().hash(hasher);
    }
}

impl RegexSet {
    /// The words of an automaton, with the texts of each letter. These are finitely many each, none is empty, and none
    /// is the beginning of another, of the same letter or of two.
    ///
    /// Panics if a letter has no text, may be empty or is without bound, or if there are not as many as the automaton reads.
    pub fn dfa(&mut self, dfa: &DfaRef, letters: &[RegexId]) -> RegexId {
        assert_eq!(letters.len(), dfa.letters(), "a text for each letter");
        for &letter in letters {
            let info = self.info(letter);
            assert!(!info.nullable && info.len_max.is_some() && *self.node(letter) != RegexNode::Nothing);
        }
        self.intern(RegexNode::Dfa(dfa.clone(), letters.into()))
    }
}
