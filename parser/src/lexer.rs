//! The lexer: a lazily built automaton whose states are sets of lexemes with what is left of each.

mod apart;
pub(crate) mod arena;
mod begun;
mod classes;
pub(crate) mod cuts;
pub(crate) mod exceptions;
pub(crate) mod guards;
mod ignored;
pub(crate) mod joint;
pub(crate) mod late;
mod leaps;
mod past;
pub(crate) mod repeats;
pub(crate) mod rows;
pub(crate) mod split;
pub(crate) mod states;
