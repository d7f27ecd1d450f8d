//! Look-around in lexer states: what must follow, by look-aheads of lexemes that have ended, and what was before, for
//! look-behinds of those that begin.

use std::sync::Arc;

use larkspur_grammar::index::Id;

use super::arena::Expr;
use super::past::Past;
use super::states::{DEAD, LexStateId, LexemeSetId, Lexer, StateKind};
use crate::cfg::LexemeId;
use crate::error::Fault;

/// What look-around knows at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Guard {
    /// What the text that follows must be, by what look-aheads of lexemes that have ended saw; [`Expr::ALL`] is any.
    pub owed: Expr,
    /// What look-behinds need to know of the text before; [`Past::NONE`] in grammars without.
    pub past: Past,
}

impl Guard {
    /// Anything may follow, and what was before does not count.
    pub const NONE: Guard = Guard { owed: Expr::ALL, past: Past::NONE };
    /// Anything may follow.
    pub fn after(past: Past) -> Self {
        Guard { past, ..Guard::NONE }
    }
}

/// Something with what look-around knows where it stands.
pub(crate) type Guarded<T> = (Guard, T);

/// Lexemes that end together, with what may then follow; most often anything.
pub(crate) enum Ends {
    One([Guarded<LexemeSetId>; 1]),
    Many(Arc<[Guarded<LexemeSetId>]>),
}

impl std::ops::Deref for Ends {
    type Target = [Guarded<LexemeSetId>];

    fn deref(&self) -> &Self::Target {
        match self {
            Ends::One(ends) => ends,
            Ends::Many(ends) => ends,
        }
    }
}

impl Lexer {
    /// Lexemes that end in a state, by what may then follow.
    pub fn by_follow(&mut self, id: LexStateId, ends: LexemeSetId) -> Result<Ends, Fault> {
        if !self.states[id].looks_ahead {
            return Ok(Ends::One([(Guard::NONE, ends)]));
        }
        if let Some(known) = self.by_follow.get(&(id, ends)) {
            return Ok(Ends::Many(known.clone()));
        }
        let guard = self.states[id].key.guard;
        let mut groups: Vec<(Expr, Vec<LexemeId>)> = Vec::new();
        for &lexeme in &self.lexeme_sets[ends].to_vec() {
            let follow = self.follows.get(lexeme.index()).copied().unwrap_or(Expr::ALL);
            let both = self.both(guard.owed, follow)?;
            match groups.iter_mut().find(|(follow, _)| *follow == both) {
                _ if both == Expr::NOTHING => {}
                Some((_, lexemes)) => lexemes.push(lexeme),
                None => groups.push((both, vec![lexeme])),
            }
        }
        let groups: Arc<[_]> =
            groups.into_iter().map(|(owed, ends)| (Guard { owed, ..guard }, self.lexeme_set(&ends))).collect();
        self.by_follow.insert((id, ends), groups.clone());
        Ok(Ends::Many(groups))
    }

    /// The state in which besides only these texts may follow; [`DEAD`] if none is left. Where lexemes begin, those are left
    /// out that do not begin after what was before; a state further on knows that itself.
    pub fn guarded(&mut self, id: LexStateId, guard: Guard) -> Result<LexStateId, Fault> {
        if guard == Guard::NONE {
            return Ok(id);
        }
        if let Some(&known) = self.guarded.get(&(id, guard)) {
            return Ok(known);
        }
        let key = self.states[id].key.clone();
        let owed = self.both(key.guard.owed, guard.owed)?;
        let past = if key.guard.past == Past::NONE { guard.past } else { key.guard.past };
        let begins = key.guard.past != past && key.kind == StateKind::Fresh;
        let next = match owed {
            Expr::NOTHING => DEAD,
            _ => {
                let mut entries = key.entries.clone();
                if begins {
                    let arena = &self.arena;
                    entries.retain(|&mut (lexeme, _)| self.pasts.may_begin(past, lexeme, arena));
                }
                self.intern(&entries, key.kind, Guard { owed, past })?
            }
        };
        self.guarded.insert((id, guard), next);
        Ok(next)
    }

    /// What look-around knows in a state.
    pub fn guard(&self, id: LexStateId) -> Guard {
        self.states[id].key.guard
    }

    pub(super) fn both(&self, a: Expr, b: Expr) -> Result<Expr, Fault> {
        match (a, b) {
            (Expr::ALL, other) | (other, Expr::ALL) => Ok(other),
            _ if a == b => Ok(a),
            _ => self.arena.both(a, b, &self.limits),
        }
    }

    /// What look-around knows after a byte.
    pub(super) fn guard_after(&mut self, guard: Guard, byte: u8) -> Result<Guard, Fault> {
        Ok(Guard { owed: self.owed_after(guard.owed, byte)?, past: self.past_after(guard.past, byte)? })
    }

    fn past_after(&mut self, past: Past, byte: u8) -> Result<Past, Fault> {
        if past == Past::NONE {
            return Ok(past);
        }
        if let Some(known) = self.pasts.known_after(past, byte) {
            return Ok(known);
        }
        let exprs = self.pasts.exprs(past).to_vec();
        let next =
            exprs.into_iter().map(|expr| Ok(self.expr_row(expr)?.next(byte))).collect::<Result<Vec<_>, Fault>>()?;
        self.pasts.step(past, byte, next, self.limits.lexer_states_max)
    }

    fn owed_after(&mut self, owed: Expr, byte: u8) -> Result<Expr, Fault> {
        if owed == Expr::ALL {
            return Ok(owed);
        }
        let next = self.expr_row(owed)?.next(byte);
        let is_all = match self.is_all.get(&next) {
            Some(&known) => known,
            None => {
                let is_all = self.arena.without(Expr::ALL, next, &self.limits)? == Expr::NOTHING;
                self.is_all.insert(next, is_all);
                is_all
            }
        };
        Ok(if is_all { Expr::ALL } else { next })
    }
}
