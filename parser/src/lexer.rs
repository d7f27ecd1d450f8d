//! The lexer: a lazily built automaton whose states are sets of lexemes with what is left of each.

pub(crate) mod arena;
pub(crate) mod exceptions;
mod late;
mod past;
pub(crate) mod split;
pub(crate) mod states;
