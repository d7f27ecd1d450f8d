//! Earley recognition over lexemes, with sets that are addressed by their content.
//!
//! Follows J. Earley, CACM 13(2), 1970; nullable symbols are stepped over when an item is added, as in
//! Aycock & Horspool, Computer Journal 45(6), 2002.
//! Differs: an item holds no origin. In its place stands its *continuation*: the items that wait for its left-hand side
//! in the origin, advanced, with finished ones replaced by the contents of their own continuations. A continuation is a
//! set like any other. Sets are interned, finished items are not kept, so equal futures have equal ids and lists repeat;
//! with the memo of scans this is a lazily built LR automaton. Leo items (J. Leo, TCS 82, 1991) are subsumed: of a right
//! recursion only the outer continuation is left.

pub(crate) mod ahead;
pub(crate) mod automata;
pub(crate) mod closure;
mod goto;
mod items;
pub(crate) mod sets;
