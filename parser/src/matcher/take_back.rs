//! What is taken back from the output: the text of a `stop`, or the token that ended it.

use std::sync::Arc;

use super::Matcher;
use super::history::{Event, EventKind, Now};
use super::read::Hidden;
use crate::cfg::LexemeId;
use crate::error::MatcherError;

impl Matcher {
    /// Takes back what a token that was committed has ended. Returns how many tokens that are.
    pub(super) fn hide(&mut self, hidden: Hidden) -> Result<usize, MatcherError> {
        let len = match hidden {
            Hidden::Token => 0,
            Hidden::Stop(lexeme) => self.tail_len(lexeme)?,
        };
        let taken = self.take_back(len);
        let stop = self.stop_after_token(&mut self.session().machine, &self.now)?;
        self.now.stop = stop;
        Ok(taken)
    }

    /// Whether the text of a `stop` is taken back.
    pub(crate) fn can_take_back(&self) -> bool {
        self.options.backtracking && self.grammar.cfg().has_hidden
    }

    /// The text of the lexeme that is being read, if there is only one thread and text can be taken back.
    pub(crate) fn lexeme_text(&self) -> Vec<u8> {
        self.history.text.suffix(self.now.lexeme_start)
    }

    /// Length of the tail of the lexeme that has ended with the text.
    fn tail_len(&self, lexeme: LexemeId) -> Result<usize, MatcherError> {
        let text = self.lexeme_text();
        Ok(self.session().machine.tail_len(lexeme, &text)?)
    }

    /// Takes back the tokens that the last `len` bytes of text touch (none: the last token), which ended a `stop`.
    /// Returns how many tokens that are.
    fn take_back(&mut self, len: usize) -> usize {
        let kept_len = self.history.text.len() - len;
        let (cursor, tokens) = (self.now.cursor, self.now.tokens);
        let mut taken = 1;
        let mut first = self.history.steps.get(self.history.steps.len() - 1).clone();
        while first.text_len > kept_len && taken < self.history.steps.len() {
            taken += 1;
            first = self.history.steps.get(self.history.steps.len() - taken).clone();
        }
        let mut again = self.history.text.suffix(first.text_len.min(kept_len));
        let hidden = again.split_off(again.len() - len);
        let mut pending: Vec<u8> = first.before.pending.to_vec();
        pending.extend(again);
        let history = Arc::make_mut(&mut self.history);
        history.steps.truncate(history.steps.len() - taken);
        history.text.truncate(kept_len);
        if len > 0 {
            history.events.push(Event { at: kept_len, kind: EventKind::Hidden(hidden.into()) });
        }
        self.captured.take();
        self.now = Now { cursor, pending: pending[..].into(), tokens, stop: None, lexeme_start: kept_len };
        taken
    }
}
