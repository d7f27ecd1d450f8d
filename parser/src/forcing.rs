//! Forced text: what must follow, as bytes and as tokens; and token healing at the end of a prompt.
//!
//! Forcing is an answer of its own. It never narrows a mask: a mask allows every token that the grammar allows.

use larkspur_toktrie::{TokenId, TokenTrie, Vocabulary};

use crate::error::{Fault, MatcherError};
use crate::machine::{Cursor, Machine};
use crate::matcher::Matcher;

/// A share of the items that a set may have: so many may all sets of a forced text.
const FORCED_SHARE: usize = 4;

/// The tokens of forced bytes.
struct Spelling {
    tokens: Vec<TokenId>,
    /// Whether they are those of all the bytes.
    is_whole: bool,
}

impl Matcher {
    /// The bytes that must follow, up to the first place where there is a choice, where a token may be given as a
    /// token, where the text may end, or where the end of a token could end a rule with `max_tokens`. At most
    /// `Limits::forced_bytes_max`, and fewer where the Earley sets on the way have more than a quarter of
    /// `Limits::earley_set_work_max` items between them. Empty with `no_forcing`.
    pub fn forced_bytes(&self) -> Result<Vec<u8>, MatcherError> {
        if self.is_stopped() || self.no_forcing() {
            return Ok(Vec::new());
        }
        self.with_session(|session, cursor, pending| {
            let mut bytes = pending.to_vec();
            forced(&mut session.machine, cursor, &mut bytes)?;
            Ok(bytes)
        })
    }

    /// The tokens that must follow: those in which the vocabulary's tokenizer spells the forced bytes, without those at the
    /// end that it could cut otherwise with what follows (without a tokenizer, none), and tokens that the grammar names by
    /// themselves, where nothing else may stand. No more than `MatcherOptions::max_tokens` leaves room for and
    /// `Limits::forced_bytes_max`, and none behind one that ends a `stop` which is taken back. Empty with `no_forcing`.
    pub fn forced_tokens(&self) -> Result<Vec<TokenId>, MatcherError> {
        if self.is_stopped() || self.no_forcing() {
            return Ok(Vec::new());
        }
        let cfg = self.grammar().cfg();
        if cfg.token_letters.is_empty() && !self.can_take_back() {
            return Ok(self.forced_spelling()?.tokens);
        }
        let tokens_max = self.grammar().shared().limits().forced_bytes_max;
        let mut forced = Vec::new();
        let mut ahead = self.fork();
        while !ahead.is_stopped() && forced.len() < tokens_max {
            let Spelling { mut tokens, is_whole } = ahead.forced_spelling()?;
            if tokens.is_empty() && is_whole {
                tokens.extend(ahead.forced_letter()?);
            }
            let is_last = tokens.is_empty() || !is_whole;
            for token in tokens {
                let consumed = ahead.consume_token(token)?;
                forced.push(token);
                if consumed.backtrack_tokens > 0 {
                    return Ok(forced);
                }
            }
            if is_last {
                break;
            }
        }
        Ok(forced)
    }

    /// The forced bytes as tokens.
    fn forced_spelling(&self) -> Result<Spelling, MatcherError> {
        let vocabulary = self.grammar().shared().vocabulary().clone();
        let tokens_left = self.tokens_left().map_or(usize::MAX, |left| left as usize);
        self.with_session(|session, cursor, pending| {
            let mut bytes = pending.to_vec();
            let after = forced(&mut session.machine, cursor, &mut bytes)?;
            let Some(mut tokens) = vocabulary.tokenize(&bytes).filter(|tokens| vocabulary.decode(tokens) == bytes)
            else {
                return Ok(Spelling { tokens: Vec::new(), is_whole: bytes.is_empty() });
            };
            let kept = keep(&mut session.machine, &vocabulary, &tokens, &bytes, after)?.min(tokens_left);
            let is_whole = kept == tokens.len();
            tokens.truncate(kept);
            Ok(Spelling { tokens, is_whole })
        })
    }

    /// The token that the grammar names and that is the only letter that can follow, the end of the text included.
    fn forced_letter(&self) -> Result<Option<TokenId>, MatcherError> {
        self.with_session(
            |session, cursor, pending| {
                if pending.is_empty() { session.machine.forced_token(cursor) } else { Ok(None) }
            },
        )
    }

    /// Prepares for a prompt that ends in the middle of what the tokenizer would make one token with the text that
    /// follows (*token healing*). Returns the tokens to feed the model in place of `prompt`; the bytes of those that
    /// were dropped are spelled again by the first tokens generated, which masks then require.
    ///
    /// If the tokens returned reach into text that the grammar forces, that text is consumed; where they hold all of it, so
    /// are the [forced tokens](Self::forced_tokens) behind it, which are returned with them.
    /// Errors: [`MatcherError::UnknownToken`], [`MatcherError::LimitExceeded`]; the matcher must not have consumed
    /// anything, otherwise the prompt is returned as it is.
    pub fn process_prompt(&mut self, prompt: &[TokenId]) -> Result<Vec<TokenId>, MatcherError> {
        let vocabulary = self.grammar().shared().vocabulary().clone();
        if let Some(&token) = prompt.iter().find(|&&token| token as usize >= vocabulary.len()) {
            return Err(MatcherError::UnknownToken { token, vocabulary_len: vocabulary.len() });
        }
        if self.step_count() > 0 || self.is_stopped() {
            return Ok(prompt.to_vec());
        }
        // Special tokens are never tokenized anew: only the text after the last one is.
        let text_start =
            prompt.iter().rposition(|&token| vocabulary.token_bytes(token).is_none()).map_or(0, |at| at + 1);
        let (before, tail) = prompt.split_at(text_start);
        let prompt_text = vocabulary.decode(tail);
        let forced_text = self.forced_bytes()?;
        let bytes = [&prompt_text[..], &forced_text[..]].concat();
        let (tokens, bytes) = match vocabulary.tokenize(&bytes) {
            Some(tokens) if vocabulary.decode(&tokens) == bytes => (tokens, bytes),
            // Without a tokenizer the prompt's own tokens are all there is.
            _ => (tail.to_vec(), prompt_text.clone()),
        };
        let kept = self.with_session(|session, cursor, _| {
            let mut after = cursor;
            for &byte in &bytes[prompt_text.len()..] {
                after = session.machine.step(after, byte)?.expect("forced bytes can follow");
                session.machine.tape.push(byte);
            }
            keep(&mut session.machine, &vocabulary, &tokens, &bytes, after)
        })?;
        let kept_len = vocabulary.decode(&tokens[..kept]).len();
        if kept_len >= prompt_text.len() {
            self.start_after(&forced_text[..kept_len - prompt_text.len()])?;
        } else {
            self.set_pending(prompt_text[kept_len..].to_vec());
        }
        let behind = if kept_len == bytes.len() { self.forced_tokens()? } else { Vec::new() };
        self.start_after_tokens(&behind)?;
        Ok([before, &tokens[..kept], &behind].concat())
    }

    fn no_forcing(&self) -> bool {
        self.grammar().cfg().no_forcing
    }
}

/// Appends the bytes that must follow at `cursor`, and returns the place after them. Each byte may be a token: behind a
/// place where so many tokens end a scope, other text may follow.
///
/// It ends early where the sets on the way take a good part of the items that a single one may: in ambiguous rules each byte
/// may make a set that is larger than the one before, and what follows its symbols is several more of that size. What is
/// counted does not depend on which of them were there already.
fn forced(machine: &mut Machine, mut cursor: Cursor, bytes: &mut Vec<u8>) -> Result<Cursor, Fault> {
    let first_token = machine.sets.token_now;
    let mut touched = 0;
    let touched_max = machine.limits.earley_set_work_max / FORCED_SHARE;
    while bytes.len() < machine.limits.forced_bytes_max && touched <= touched_max {
        if let Some(last) = bytes.len().checked_sub(1)
            && machine.ends_scope(cursor, first_token.saturating_add(last as u32))?
        {
            break;
        }
        let Some(byte) = machine.forced_byte(cursor)? else { break };
        let next = machine.step(cursor, byte)?.expect("a forced byte can follow");
        if !next.is_in_set_of(cursor) {
            touched += machine.touched(next);
        }
        cursor = next;
        machine.tape.push(byte);
        bytes.push(byte);
    }
    Ok(cursor)
}

/// How many of the tokens of `bytes` to keep: those that the tokenizer would give whatever text can follow at `after`.
fn keep(
    machine: &mut Machine,
    vocabulary: &Vocabulary,
    tokens: &[TokenId],
    bytes: &[u8],
    after: Cursor,
) -> Result<usize, Fault> {
    vocabulary.stable_tokens(tokens, bytes, |node, max| tokens_below(machine, vocabulary.trie(), node, after, max))
}

/// The tokens below `node` that can follow at `cursor`, or `max` of them.
fn tokens_below(
    machine: &mut Machine,
    trie: &TokenTrie,
    node: u32,
    cursor: Cursor,
    max: usize,
) -> Result<Vec<TokenId>, Fault> {
    let here = machine.tape.end();
    let mut tokens = Vec::new();
    let done = push_tokens_below(machine, trie, node, cursor, max, &mut tokens);
    machine.tape.truncate(here);
    done.map(|()| tokens)
}

fn push_tokens_below(
    machine: &mut Machine,
    trie: &TokenTrie,
    root: u32,
    cursor: Cursor,
    max: usize,
    tokens: &mut Vec<TokenId>,
) -> Result<(), Fault> {
    let here = machine.tape.end();
    let depth = |node: u32| usize::from(trie.depths()[node as usize] - trie.depths()[root as usize]);
    let mut agenda: Vec<(u32, Cursor)> = vec![(root, cursor)];
    while let Some((node, cursor)) = agenda.pop() {
        if node != root {
            // What is further up is there still: depth first, all else has written further down.
            machine.tape.truncate(here + depth(node) - 1);
            machine.tape.push(trie.bytes()[node as usize]);
        }
        for child in trie.children(node) {
            if let Some(next) = machine.step(cursor, trie.bytes()[child as usize])? {
                tokens.extend(trie.token(child));
                if tokens.len() >= max {
                    return Ok(());
                }
                agenda.push((child, next));
            }
        }
    }
    Ok(())
}
