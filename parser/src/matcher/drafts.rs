//! Masks of drafts, for speculative decoding.

use larkspur_toktrie::{TokenId, TokenMask};

use super::{Matcher, StopReason};
use crate::error::MatcherError;

impl Matcher {
    /// Masks before a draft and after each of its tokens, for speculative decoding: `masks[i]` is that of what may stand in
    /// place of `draft[i]`, and the last one of what may follow all. Returns how many were written: one more than tokens
    /// that can be consumed, or as many if the text ends with the last of those. The matcher stays where it is.
    ///
    /// Panics if there are fewer masks than tokens and one more, or a mask is not of the vocabulary's length.
    /// Errors: as of [`compute_mask`](Self::compute_mask) and [`consume_token`](Self::consume_token) but for rejections.
    pub fn compute_draft_masks(&self, draft: &[TokenId], masks: &mut [TokenMask]) -> Result<usize, MatcherError> {
        assert!(masks.len() > draft.len(), "a draft of {} tokens has one mask more", draft.len());
        let mut ahead = self.fork();
        for (index, mask) in masks.iter_mut().enumerate() {
            ahead.compute_mask(mask)?;
            let Some(&token) = draft.get(index) else { return Ok(index + 1) };
            match ahead.consume_token(token) {
                Ok(_) if ahead.stop_reason() != Some(StopReason::EndOfSentence) => {}
                Ok(_) | Err(MatcherError::TokenRejected { .. } | MatcherError::Stopped) => return Ok(index + 1),
                Err(error) => return Err(error),
            }
        }
        Ok(masks.len())
    }

    /// Masks for a tree of drafts: `tree[i]` is a token and the index of the one before it, which is less than `i`, or
    /// `None` for one that follows the text so far. `masks[i]` is that of what may follow `tree[i]`. Returns for each
    /// whether it and all before it can be consumed; the masks of others are empty. The matcher stays where it is.
    ///
    /// Panics if there are not as many masks as tokens, a mask is not of the vocabulary's length, or a token stands before one
    /// that it follows.
    /// Errors: as of [`compute_draft_masks`](Self::compute_draft_masks).
    pub fn compute_tree_masks(
        &self,
        tree: &[(TokenId, Option<usize>)],
        masks: &mut [TokenMask],
    ) -> Result<Vec<bool>, MatcherError> {
        assert_eq!(tree.len(), masks.len(), "each token has a mask");
        let mut after: Vec<Option<Matcher>> = Vec::with_capacity(tree.len());
        for (&(token, before), mask) in tree.iter().zip(masks) {
            let from = before.map_or(Some(self), |before| after[before].as_ref());
            mask.clear();
            let mut next = from.map(Matcher::fork);
            if let Some(matcher) = &mut next {
                match matcher.consume_token(token) {
                    Ok(_) => matcher.compute_mask(mask)?,
                    Err(MatcherError::TokenRejected { .. } | MatcherError::Stopped) => next = None,
                    Err(error) => return Err(error),
                }
            }
            after.push(next);
        }
        Ok(after.iter().map(Option::is_some).collect())
    }
}
