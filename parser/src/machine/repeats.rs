//! Lexemes that lead back to the set in which they begin: see [`lexer::repeats`](crate::lexer::repeats).

use super::Machine;
use crate::earley::sets::SetId;
use crate::error::Fault;
use crate::lexer::states::LexStateId;

impl Machine {
    /// The lexer state for one who looks ahead from where the lexemes of a set start: those of which any number leads back there are
    /// one.
    #[inline]
    pub fn repeated(&mut self, lex: LexStateId, set: SetId) -> Result<LexStateId, Fault> {
        if self.lexer.may_repeat(lex) { self.repeated_slow(lex, set) } else { Ok(lex) }
    }

    fn repeated_slow(&mut self, lex: LexStateId, set: SetId) -> Result<LexStateId, Fault> {
        if let Some(&known) = self.repeated.get(&(lex, set)) {
            return Ok(known);
        }
        let mut lexemes = Vec::new();
        if self.sets.start_state(set, &mut self.lexer)? == lex {
            for lexeme in self.lexer.repeatable(lex) {
                let ended = self.lexer.lexeme_set(&[lexeme]);
                if self.sets.scan(set, ended, &[], &mut self.lexer)? == set {
                    lexemes.push(lexeme);
                }
            }
        }
        let repeated = if lexemes.is_empty() { lex } else { self.lexer.with_repeated(lex, &lexemes)? };
        self.repeated.insert((lex, set), repeated);
        Ok(repeated)
    }
}
