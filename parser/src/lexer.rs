//! The lexer: a lazily built automaton whose states are sets of lexemes with what is left of each.

pub(crate) mod arena;
pub(crate) mod exceptions;
pub(crate) mod states;
