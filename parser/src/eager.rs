//! One generated sequence that ends by itself, as KBNF's engine ends it: at the first place at which the text is complete.

use larkspur_toktrie::{TokenId, TokenMask};

use crate::engine::{CompiledGrammar, Session};
use crate::error::MatcherError;
use crate::matcher::{Matcher, MatcherOptions};

/// One sequence whose texts are those of the grammar of which no beginning is one but the empty text: `min(L \ {ε})`.
/// A token that runs past the end is not allowed, and EOS tokens never are.
#[derive(Clone, Debug)]
pub struct EagerMatcher {
    matcher: Matcher,
    is_finished: bool,
}

impl EagerMatcher {
    /// A matcher at the start of a text.
    ///
    /// Panics if the grammar names tokens, has budgets of tokens or compares texts that it has read, of which KBNF's
    /// grammars do nothing.
    pub fn new(grammar: &CompiledGrammar) -> Result<Self, MatcherError> {
        let cfg = grammar.cfg();
        let is_plain = cfg.token_letters.is_empty() && !cfg.has_recorded && !cfg.has_scopes;
        assert!(is_plain, "a grammar of bytes whose places are known by their sets");
        let matcher = Matcher::new(grammar, MatcherOptions::default())?;
        Ok(Self { matcher, is_finished: false })
    }

    /// Writes the allowed tokens into `mask`; every bit is overwritten. At the end there are none.
    ///
    /// Panics if `mask` is not of the vocabulary's length.
    /// Errors: [`MatcherError::NoToken`] if the vocabulary cannot spell what must follow;
    /// [`MatcherError::LimitExceeded`]. The mask is then empty.
    /// Cost: a copy if the mask is known, else a walk over the trie nodes that can follow.
    pub fn compute_mask(&mut self, mask: &mut TokenMask) -> Result<(), MatcherError> {
        let vocabulary = self.matcher.grammar().shared().vocabulary();
        assert_eq!(mask.vocabulary_len(), vocabulary.len(), "the mask is of another vocabulary");
        if self.is_finished {
            mask.clear();
            return Ok(());
        }
        let made = self.matcher.with_session(|session, cursor, _| {
            let Session { machine, masks, eager_masks, .. } = session;
            let eager_masks = eager_masks.get_or_insert_with(|| Box::new(masks.another()));
            eager_masks.eager_mask(machine, vocabulary, cursor, mask)
        });
        if made.is_err() {
            mask.clear();
        }
        made?;
        if mask.is_empty() { Err(MatcherError::NoToken) } else { Ok(()) }
    }

    /// Consumes a token. Returns whether the text is complete now.
    ///
    /// Errors: [`MatcherError::TokenRejected`], [`MatcherError::UnknownToken`], [`MatcherError::Stopped`],
    /// [`MatcherError::LimitExceeded`]. The matcher then stays where it was.
    pub fn consume_token(&mut self, token: TokenId) -> Result<bool, MatcherError> {
        let vocabulary = self.matcher.grammar().shared().vocabulary().clone();
        if token as usize >= vocabulary.len() {
            return Err(MatcherError::UnknownToken { token, vocabulary_len: vocabulary.len() });
        }
        let Some(bytes) = vocabulary.token_bytes(token) else {
            return Err(if self.is_finished {
                MatcherError::Stopped
            } else {
                MatcherError::TokenRejected { token, at_byte: 0 }
            });
        };
        self.consume_bytes(bytes).map_err(|error| match error {
            MatcherError::TextRejected { at_byte } => MatcherError::TokenRejected { token, at_byte },
            other => other,
        })
    }

    /// Consumes text. Returns whether the text is complete now.
    ///
    /// Errors: [`MatcherError::TextRejected`], also of what stands behind the end, [`MatcherError::Stopped`],
    /// [`MatcherError::LimitExceeded`]. The matcher then stays where it was.
    pub fn consume_bytes(&mut self, bytes: &[u8]) -> Result<bool, MatcherError> {
        if self.is_finished {
            return Err(MatcherError::Stopped);
        }
        let end = self.matcher.with_session(|session, mut cursor, _| {
            let machine = &mut session.machine;
            for (index, &byte) in bytes.iter().enumerate() {
                // What cannot follow is for the matcher to say.
                let Some(next) = machine.step(cursor, byte)? else { return Ok(None) };
                if machine.ends_lexeme(next) && machine.accepts(next)? {
                    return Ok(Some(index + 1));
                }
                cursor = next;
            }
            Ok(None)
        })?;
        if let Some(end) = end.filter(|&end| end < bytes.len()) {
            return Err(MatcherError::TextRejected { at_byte: end });
        }
        self.matcher.consume_bytes(bytes)?;
        self.is_finished = end.is_some();
        Ok(self.is_finished)
    }

    /// Whether the text is complete.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Back to the start of a text. What was learnt of the grammar stays.
    pub fn reset(&mut self) -> Result<(), MatcherError> {
        self.matcher.reset()?;
        self.is_finished = false;
        Ok(())
    }
}
