//! How much of a text may be taken back yet, for clients that show the text while it is made.

use crate::cfg::LexemeId;
use crate::error::{Fault, MatcherError};
use crate::machine::Machine;
use crate::machine::tail::OpenTails;
use crate::matcher::Matcher;

impl Matcher {
    /// Bytes at the end of the text that may be the beginning of a `stop`, which would be taken back.
    /// 0 without [`MatcherOptions::backtracking`](crate::MatcherOptions::backtracking).
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    /// Cost: the text of the lexeme that is being read, each byte times the rests that a `stop` which began before it may have
    /// there: a few, but as many as its longest match for one such as `/a[ab]{1000}/`. Nothing in grammars without `stop`.
    pub fn unsettled_len(&self) -> Result<usize, MatcherError> {
        if self.is_stopped() || !self.can_take_back() {
            return Ok(0);
        }
        let text = self.lexeme_text();
        self.with_session(|session, cursor, _| {
            let machine = &mut session.machine;
            let Some(thread) = Machine::single(cursor) else { return Ok(0) };
            let lexemes: Vec<LexemeId> = machine.lexer.live_lexemes(thread.lex).collect();
            let mut longest = 0;
            for lexeme in lexemes {
                longest = longest.max(machine.open_tail_len(lexeme, &text)?);
            }
            Ok(longest)
        })
    }
}

impl Machine {
    /// Length of the longest end of a lexeme's text that can be the beginning of its hidden tail.
    fn open_tail_len(&mut self, lexeme: LexemeId, text: &[u8]) -> Result<usize, Fault> {
        let cfg = self.cfg.clone();
        let Some(tail) = cfg.lexemes[lexeme].tail.as_ref().filter(|tail| tail.hidden) else { return Ok(0) };
        if let Some(literal) = &tail.literal {
            let lens = (1..=text.len().min(literal.len())).rev();
            return Ok(lens.into_iter().find(|&len| text.ends_with(&literal[..len])).unwrap_or(0));
        }
        let whole = self.lexer.arena().lower(&cfg.regexes, &[tail.tail])?[0];
        let mut tails = OpenTails::new(whole);
        for (start, &byte) in text.iter().enumerate() {
            tails.begin(start);
            tails.read(self, byte)?;
        }
        Ok(tails.first().map_or(0, |began| text.len() - began))
    }
}
