//! Automata of schemas in saved grammars: who reads them back.

use std::sync::Arc;

use larkspur_grammar::saved::{Inconsistent, SavedAutomaton};
use larkspur_grammar::{Automaton, DfaRef, Limits};

use crate::automata::saved::{KIND, read};
use crate::formats;

/// The automaton of arrays and objects that wrote this; `None` if it is of another kind.
///
/// Errors: bytes that it did not write. Cost: linear in them.
pub fn read_automaton(saved: &SavedAutomaton, limits: &Limits) -> Option<Result<Arc<dyn Automaton>, Inconsistent>> {
    (saved.kind == KIND)
        .then(|| read(&saved.bytes, limits).map(|containers| Arc::new(containers) as Arc<dyn Automaton>))
}

/// The automaton of a format that wrote this; `None` if it is of another kind.
pub fn read_dfa(saved: &SavedAutomaton) -> Option<DfaRef> {
    formats::automaton(&saved.kind).filter(|_| saved.bytes.is_empty())
}
