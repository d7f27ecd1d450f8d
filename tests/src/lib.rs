//! Tests of the whole: cases as data, random grammars, and the oracle that both are checked against.
//!
//! In: grammars and texts, from `tests/cases` and from generators. Out: the verdicts of [`oracle`], which knows nothing
//! of the engine's algorithms.

pub mod oracle;
