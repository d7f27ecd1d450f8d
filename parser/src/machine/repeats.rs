//! Lexemes of which any number leads to the same set: see [`lexer::repeats`](crate::lexer::repeats).

use super::Machine;
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::repeats::Repeatable;
use crate::lexer::states::{DEAD, LexStateId};

impl Machine {
    /// The lexer state for one who looks ahead from where the lexemes of a set start: those of which any number leads to the same set
    /// are one.
    #[inline]
    pub fn repeated(&mut self, lex: LexStateId, set: SetId) -> Result<LexStateId, Fault> {
        if self.lexer.may_repeat(lex) { self.repeated_slow(lex, set) } else { Ok(lex) }
    }

    fn repeated_slow(&mut self, lex: LexStateId, set: SetId) -> Result<LexStateId, Fault> {
        if let Some(&known) = self.repeated.get(&(lex, set)) {
            return Ok(known);
        }
        let mut repeated = lex;
        for (next, lexemes) in self.repeatable(lex, set)? {
            let start = if next == NO_SET { DEAD } else { self.sets.start_state(next, &mut self.lexer)? };
            let behind = self.repeatable(start, next)?.into_iter().find(|(behind, _)| *behind == next);
            if let Some((_, others)) = behind {
                repeated = self.lexer.with_repeated(repeated, &lexemes, &others)?;
            }
        }
        self.repeated.insert((lex, set), repeated);
        Ok(repeated)
    }

    /// The lexemes that may be repeated of those that start in a set, in this state, by the sets that they lead to.
    fn repeatable(&mut self, lex: LexStateId, set: SetId) -> Result<Vec<(SetId, Vec<Repeatable>)>, Fault> {
        let mut by_next: Vec<(SetId, Vec<Repeatable>)> = Vec::new();
        if lex == DEAD || self.sets.start_state(set, &mut self.lexer)? != lex {
            return Ok(by_next);
        }
        for lexeme in self.lexer.repeatable(lex)? {
            let ended = self.lexer.lexeme_set(&[lexeme.lexeme]);
            let next = self.sets.scan(set, ended, &[], &mut self.lexer)?;
            match by_next.iter_mut().find(|(other, _)| *other == next) {
                Some((_, lexemes)) => lexemes.push(lexeme),
                None => by_next.push((next, vec![lexeme])),
            }
        }
        Ok(by_next)
    }
}
