//! One generated sequence: what was consumed, where that leads, and what may follow.

use std::ops::{Deref, Range};
use std::sync::{Arc, MutexGuard, OnceLock};

use larkspur_grammar::ByteSet;
use larkspur_toktrie::{TokenId, TokenMask, Vocabulary};

use crate::captures::Capture;
use crate::cfg::LexemeId;
use crate::engine::{CompiledGrammar, Epoch, Session};
use crate::error::{Fault, MatcherError};
use crate::history::PersistentVec;
use crate::lexer::guards::Guard;
use crate::lexer::states::{DEAD, StateKind};
use crate::machine::{Cursor, Machine};
use crate::mask::{MaskCache, MaskId};
use crate::published::{Published, PublishedStep};

/// What a client of the matcher can do, and what it wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MatcherOptions {
    /// The client can take tokens back: the text of a `stop` is then taken back from the output. Without it, that text
    /// stays, and only captures leave it out; so it does in `exact` mode, and where the text can also be something else.
    pub backtracking: bool,
    /// Stop after this many tokens in all.
    pub max_tokens: Option<u32>,
}

/// Why a text has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum StopReason {
    /// An EOS token was consumed.
    EndOfSentence,
    /// The text is complete and nothing can follow.
    NoExtension,
    /// [`MatcherOptions::max_tokens`] is used up.
    MaxTokens,
}

/// What consuming a token has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Consumed {
    /// Whether the text has ended: see [`Matcher::stop_reason`].
    pub stopped: bool,
    /// How many tokens to take back from the output, this one included: the text of a `stop`. Only with
    /// [`MatcherOptions::backtracking`].
    pub backtrack_tokens: usize,
}

/// One generated sequence. About 200 bytes plus history; [`fork`](Self::fork) and [`rollback`](Self::rollback) do not
/// depend on the text's length.
#[derive(Clone, Debug)]
pub struct Matcher {
    grammar: CompiledGrammar,
    epoch: Arc<Epoch>,
    options: MatcherOptions,
    now: Now,
    /// Shared with forks until one of them goes on.
    history: Arc<History>,
    /// The captures of the text so far, if somebody asked for them.
    pub(crate) captured: OnceLock<Arc<[Capture]>>,
}

/// What a matcher has consumed.
#[derive(Clone, Default, Debug)]
struct History {
    steps: PersistentVec<Step>,
    /// Bytes of the text so far.
    text: PersistentVec<u8>,
    /// Bytes that were read, also those that were taken back from the text since; kept only if the grammar records
    /// lexemes. Places in it are those of the machine's tape.
    read: PersistentVec<u8>,
    /// What else there is to a text.
    events: PersistentVec<Event>,
}

impl History {
    /// Goes on to where a token or a text of these bytes leads.
    fn add(&mut self, now: &mut Now, reading: Reading, bytes: &[u8], has_recorded: bool) {
        let before = std::mem::replace(now, reading.now);
        self.push(&before, &bytes[reading.text], has_recorded);
        self.events.extend(&reading.events);
    }

    /// Goes on by a text, from where the matcher was before.
    fn push(&mut self, before: &Now, text: &[u8], has_recorded: bool) {
        let (text_len, read_len, events_len) = (self.text.len(), self.read.len(), self.events.len());
        self.steps.push_with(|| Step { before: before.clone(), text_len, read_len, events_len });
        if has_recorded {
            self.read.extend(text);
        }
        self.text.extend(text);
    }
}

/// Where a matcher is, without its history.
#[derive(Clone, Debug)]
struct Now {
    cursor: Cursor,
    /// Bytes that belong to the text already and that the next tokens must still spell: after token healing and after
    /// tokens were taken back in the middle of one.
    pending: Pending,
    /// Tokens consumed.
    tokens: u32,
    stop: Option<StopReason>,
    /// Where the lexemes of the only thread began.
    lexeme_start: usize,
}

/// Bytes that are most often none, which takes no reference to count.
#[derive(Clone, Default, Debug)]
struct Pending(Option<Arc<[u8]>>);

impl Deref for Pending {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl From<&[u8]> for Pending {
    fn from(bytes: &[u8]) -> Self {
        Self((!bytes.is_empty()).then(|| bytes.into()))
    }
}

/// A token or a text that was consumed, and where the matcher was before.
#[derive(Clone, Debug)]
struct Step {
    before: Now,
    text_len: usize,
    read_len: usize,
    events_len: usize,
}

/// What a text holds besides bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Event {
    /// Bytes of text before it.
    pub at: usize,
    pub kind: EventKind,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum EventKind {
    /// A token that was read as a letter.
    Token(TokenId),
    /// A token ended, and what was read as bytes also as a letter: its number.
    TokenEnd(u32),
    /// The bytes that ended a `stop` were taken back.
    Hidden(Arc<[u8]>),
}

/// Where a token leads that is read as bytes and nothing else, as nearly all are.
#[derive(Clone, Copy)]
struct Plain {
    cursor: Cursor,
    stop: Option<StopReason>,
}

/// A token or a text being read.
struct Reading {
    now: Now,
    /// The part of its bytes that is new text: what was pending is not.
    text: Range<usize>,
    events: Vec<Event>,
    /// What ended with the last letter that was read and is to be taken back.
    hidden: Option<Hidden>,
}

/// What is taken back from the output.
#[derive(Clone, Copy, Debug)]
enum Hidden {
    /// The token that was read as a letter.
    Token,
    /// The tail of this lexeme.
    Stop(LexemeId),
}

impl Matcher {
    /// A matcher at the start of a text.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    /// Cost: the first one of an epoch builds where every text starts.
    pub fn new(grammar: &CompiledGrammar, options: MatcherOptions) -> Result<Self, MatcherError> {
        let epoch = grammar.epoch();
        let cursor = epoch.lock().machine.start()?;
        let stop = (options.max_tokens == Some(0)).then_some(StopReason::MaxTokens);
        let now = Now { cursor, pending: Pending::default(), tokens: 0, stop, lexeme_start: 0 };
        Ok(Self { grammar: grammar.clone(), epoch, options, now, history: Arc::default(), captured: OnceLock::new() })
    }

    /// The grammar.
    pub fn grammar(&self) -> &CompiledGrammar {
        &self.grammar
    }

    fn vocabulary(&self) -> &Arc<Vocabulary> {
        self.grammar.shared().vocabulary()
    }

    /// Writes the allowed tokens into `mask`; every bit is overwritten. After a stop these are the EOS tokens.
    ///
    /// Panics if `mask` is not of the vocabulary's length.
    /// Errors: [`MatcherError::NoToken`] if no token is allowed, since the vocabulary cannot spell what must follow;
    /// [`MatcherError::LimitExceeded`]. The mask is then empty.
    /// Cost: a copy if the mask is known, else a walk over the trie nodes that can follow.
    pub fn compute_mask(&mut self, mask: &mut TokenMask) -> Result<(), MatcherError> {
        assert_eq!(mask.vocabulary_len(), self.vocabulary().len(), "the mask is of another vocabulary");
        if self.now.stop.is_some() {
            mask.clear();
            self.vocabulary().eos().iter().for_each(|&eos| mask.allow(eos));
            return Ok(());
        }
        let result = self.compute_mask_inner(mask);
        if result.is_err() {
            mask.clear();
        }
        result
    }

    fn compute_mask_inner(&mut self, mask: &mut TokenMask) -> Result<(), MatcherError> {
        if let Some(published) = self.published()
            && published.write_mask(self.now.cursor, mask)
        {
            return Ok(());
        }
        let shared = self.grammar.shared();
        let vocabulary = shared.vocabulary();
        let mut session = self.session();
        let Session { machine, masks, .. } = &mut *session;
        let mut id = None;
        if self.now.pending.is_empty() {
            id = masks.mask(machine, vocabulary, shared.slicer(), self.now.cursor, mask)?;
        } else {
            mask.clear();
            let trie = vocabulary.trie();
            let mut node = Some(0);
            for &byte in self.now.pending.iter() {
                node = node.and_then(|node| trie.child(node, byte));
                if let Some(token) = node.and_then(|node| trie.token(node)) {
                    mask.allow(token);
                }
            }
            if let Some(node) = node {
                masks.walk(machine, trie, node, self.now.cursor, mask)?;
            }
            trie.finish_mask(mask);
        }
        if mask.is_empty() {
            return Err(MatcherError::NoToken);
        }
        self.publish_mask(machine, masks, id);
        Ok(())
    }

    /// The id of the mask that [`compute_mask`](Self::compute_mask) would write, for servers that keep a table of masks: where
    /// the id is that of a mask they have, nothing is copied. [`mask_by_id`](Self::mask_by_id) has the mask.
    ///
    /// Errors: as of `compute_mask`. Cost: a look-up if the mask is known, else as of `compute_mask`.
    pub fn compute_mask_id(&mut self) -> Result<MaskId, MatcherError> {
        if self.now.stop.is_none() && self.now.pending.is_empty() {
            if let Some(known) = self.published().and_then(|published| published.mask_id(self.now.cursor)) {
                return Ok(known);
            }
            let shared = self.grammar.shared();
            let mut session = self.session();
            let Session { machine, masks, .. } = &mut *session;
            let id = masks.mask_id(machine, shared.vocabulary(), shared.slicer(), self.now.cursor)?;
            self.publish_mask(machine, masks, id);
            return id.ok_or(MatcherError::NoToken);
        }
        let mut mask = TokenMask::new(self.vocabulary().len());
        self.compute_mask(&mut mask)?;
        self.epoch.lock().masks.keep(&mask).ok_or(MatcherError::NoToken)
    }

    /// Overwrites a mask with the one of which a matcher of the same grammar told the id. False if that was dropped since;
    /// the mask is then as it was.
    ///
    /// Panics if the mask is not of the vocabulary's length.
    pub fn mask_by_id(&self, id: MaskId, mask: &mut TokenMask) -> bool {
        assert_eq!(mask.vocabulary_len(), self.vocabulary().len(), "the mask is of another vocabulary");
        let is_published = self.epoch.published().is_some_and(|published| published.write_numbered(id, mask));
        is_published || self.epoch.lock().masks.write(id, mask)
    }

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

    /// Whether a token is allowed, without making a mask.
    ///
    /// Errors: [`MatcherError::UnknownToken`], [`MatcherError::LimitExceeded`].
    /// Cost: its bytes.
    pub fn is_allowed(&self, token: TokenId) -> Result<bool, MatcherError> {
        if self.read_plain(token)?.is_some() {
            return Ok(true);
        }
        match self.read_token(token) {
            Ok(_) => Ok(true),
            Err(MatcherError::TokenRejected { .. } | MatcherError::Stopped) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Consumes a token.
    ///
    /// Errors: [`MatcherError::TokenRejected`], [`MatcherError::UnknownToken`], [`MatcherError::Stopped`],
    /// [`MatcherError::LimitExceeded`]. The matcher then stays where it was.
    pub fn consume_token(&mut self, token: TokenId) -> Result<Consumed, MatcherError> {
        if let Some(plain) = self.read_plain(token)? {
            self.add_plain(token, plain);
            return Ok(Consumed { stopped: plain.stop.is_some(), backtrack_tokens: 0 });
        }
        let reading = self.read_token(token)?;
        let hidden = reading.hidden.filter(|_| self.options.backtracking);
        let bytes = self.grammar.shared().vocabulary().token_bytes(token).unwrap_or_default();
        Arc::make_mut(&mut self.history).add(&mut self.now, reading, bytes, self.grammar.cfg().has_recorded);
        self.captured.take();
        let backtrack_tokens = match hidden {
            Some(hidden) => self.hide(hidden).or_else(|error| self.rollback(1).and(Err(error)))?,
            None => 0,
        };
        Ok(Consumed { stopped: self.now.stop.is_some(), backtrack_tokens })
    }

    /// Goes on to where a token leads that is bytes and nothing else. What is known of the place is changed where it stands:
    /// to move it about took a third of the time.
    fn add_plain(&mut self, token: TokenId, plain: Plain) {
        let bytes = self.grammar.shared().vocabulary().token_bytes(token).unwrap_or_default();
        Arc::make_mut(&mut self.history).push(&self.now, bytes, self.grammar.cfg().has_recorded);
        self.now.cursor = plain.cursor;
        self.now.tokens += 1;
        self.now.stop = plain.stop;
        self.captured.take();
    }

    /// Takes back what a token that was committed has ended. Returns how many tokens that are.
    fn hide(&mut self, hidden: Hidden) -> Result<usize, MatcherError> {
        let len = match hidden {
            Hidden::Token => 0,
            Hidden::Stop(lexeme) => self.tail_len(lexeme)?,
        };
        let taken = self.take_back(len);
        let stop = self.stop_after_token(&mut self.session().machine, &self.now)?;
        self.now.stop = stop;
        Ok(taken)
    }

    /// Consumes tokens one after the other; all or none.
    ///
    /// Errors: as [`consume_token`](Self::consume_token), for the first token that cannot be consumed. The matcher then
    /// stays where it was.
    /// Cost: that of each token, and a fork, which copies the end of the history once (some hundred bytes).
    pub fn consume_tokens(&mut self, tokens: &[TokenId]) -> Result<Consumed, MatcherError> {
        let mut after = self.clone();
        let mut total = Consumed::default();
        for &token in tokens {
            let consumed = after.consume_token(token)?;
            total.stopped = consumed.stopped;
            total.backtrack_tokens += consumed.backtrack_tokens;
        }
        *self = after;
        Ok(total)
    }

    /// Consumes tokens up to the first that is not allowed. Returns how many.
    ///
    /// Errors: all but rejections; the matcher then stays where it was.
    pub fn try_consume_tokens(&mut self, tokens: &[TokenId]) -> Result<usize, MatcherError> {
        let mut after = self.clone();
        for (index, &token) in tokens.iter().enumerate() {
            match after.consume_token(token) {
                Ok(_) => {}
                Err(MatcherError::TokenRejected { .. } | MatcherError::Stopped) => {
                    *self = after;
                    return Ok(index);
                }
                Err(error) => return Err(error),
            }
        }
        *self = after;
        Ok(tokens.len())
    }

    /// How many of the tokens could be consumed, one after the other. The matcher stays where it is.
    ///
    /// Errors and cost: as of [`try_consume_tokens`](Self::try_consume_tokens).
    pub fn validate_tokens(&self, tokens: &[TokenId]) -> Result<usize, MatcherError> {
        self.fork().try_consume_tokens(tokens)
    }

    /// Consumes text that belongs to no token: for checking texts without a tokenizer. One step of
    /// [`rollback`](Self::rollback).
    ///
    /// Errors: [`MatcherError::TextRejected`] and as [`consume_token`](Self::consume_token).
    pub fn consume_bytes(&mut self, bytes: &[u8]) -> Result<(), MatcherError> {
        if self.now.stop.is_some_and(|stop| stop != StopReason::NoExtension || !bytes.is_empty()) {
            return Err(if self.now.stop == Some(StopReason::NoExtension) {
                MatcherError::TextRejected { at_byte: 0 }
            } else {
                MatcherError::Stopped
            });
        }
        let mut session = self.session();
        let mut reading = self.reading();
        let read = read_bytes(&mut session.machine, &mut reading, self.history.text.len(), bytes, &self.options);
        drop(session);
        if let Some(at_byte) = read? {
            return Err(MatcherError::TextRejected { at_byte });
        }
        Arc::make_mut(&mut self.history).add(&mut self.now, reading, bytes, self.grammar.cfg().has_recorded);
        self.captured.take();
        Ok(())
    }

    /// Takes back the last steps, each a token or what [`consume_bytes`](Self::consume_bytes) took: everything is as it was before
    /// them.
    ///
    /// Errors: [`MatcherError::RollbackTooFar`] past [`step_count`](Self::step_count).
    pub fn rollback(&mut self, steps: usize) -> Result<(), MatcherError> {
        let available = self.history.steps.len();
        if steps > available {
            return Err(MatcherError::RollbackTooFar { wanted: steps, available });
        }
        if steps > 0 {
            let history = Arc::make_mut(&mut self.history);
            let step = history.steps.get(available - steps).clone();
            history.steps.truncate(available - steps);
            history.text.truncate(step.text_len);
            history.read.truncate(step.read_len);
            history.events.truncate(step.events_len);
            self.captured.take();
            self.now = step.before;
        }
        Ok(())
    }

    /// Another matcher at the same place, from which both go on alone. Cost: O(1) in the text's length.
    pub fn fork(&self) -> Matcher {
        self.clone()
    }

    /// Back to the start of a text.
    ///
    /// Errors: [`MatcherError::LimitExceeded`]; the matcher then stays where it was.
    /// Cost: as of [`new`](Self::new).
    pub fn reset(&mut self) -> Result<(), MatcherError> {
        *self = Matcher::new(&self.grammar, self.options)?;
        Ok(())
    }

    /// Whether the text may end here.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    /// Cost: one look-up for each thread; more where a lexeme ends here and what follows it is not known yet.
    pub fn is_accepting(&self) -> Result<bool, MatcherError> {
        if self.now.stop.is_some_and(|stop| stop != StopReason::MaxTokens) {
            return Ok(true);
        }
        Ok(self.now.pending.is_empty() && self.session().machine.accepts(self.now.cursor)?)
    }

    /// Whether the text has ended.
    pub fn is_stopped(&self) -> bool {
        self.now.stop.is_some()
    }

    /// Why the text has ended, if it has.
    pub fn stop_reason(&self) -> Option<StopReason> {
        self.now.stop
    }

    /// Number of tokens and texts consumed: as far as [`rollback`](Self::rollback) goes.
    pub fn step_count(&self) -> usize {
        self.history.steps.len()
    }

    /// How many tokens may be consumed yet; `None` if there is no bound.
    pub fn tokens_left(&self) -> Option<u32> {
        self.options.max_tokens.map(|max| max.saturating_sub(self.now.tokens))
    }

    /// The highest sampling temperature of what can follow; `None` if none is set.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    /// Cost: the lexemes that can go on or follow.
    pub fn temperature(&self) -> Result<Option<f32>, MatcherError> {
        if self.now.stop.is_some() {
            return Ok(None);
        }
        Ok(self.session().machine.temperature(self.now.cursor)?)
    }

    /// The bytes consumed so far, without special tokens and without what was taken back. Cost: O(length).
    pub fn text(&self) -> Vec<u8> {
        self.history.text.to_vec()
    }

    /// Bytes that can follow, whatever the vocabulary.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    /// Cost: a row of the lexer for each thread.
    pub fn allowed_bytes(&self) -> Result<ByteSet, MatcherError> {
        if self.now.stop.is_some() {
            return Ok(ByteSet::EMPTY);
        }
        match self.now.pending.first() {
            Some(&byte) => Ok(ByteSet::range(byte, byte)),
            None => Ok(self.session().machine.live_bytes(self.now.cursor)?),
        }
    }

    /// Names of the terminals and tokens that can follow or go on here, for messages.
    ///
    /// Errors: [`MatcherError::LimitExceeded`].
    /// Cost: the lexemes that can go on or follow; allocates.
    pub fn expected(&self) -> Result<Vec<String>, MatcherError> {
        if self.now.stop.is_some() {
            return Ok(Vec::new());
        }
        Ok(self.session().machine.expected(self.now.cursor)?)
    }

    /// Whether the text of a `stop` is taken back.
    pub(crate) fn can_take_back(&self) -> bool {
        self.options.backtracking && self.grammar.cfg().has_hidden
    }

    /// The text of the lexeme that is being read, if there is only one thread and text can be taken back.
    pub(crate) fn lexeme_text(&self) -> Vec<u8> {
        self.history.text.suffix(self.now.lexeme_start)
    }

    /// Runs `f` on the tables and the place, for the parts of the matcher in other files.
    pub(crate) fn with_session<T>(
        &self,
        f: impl FnOnce(&mut Session, Cursor, &[u8]) -> Result<T, Fault>,
    ) -> Result<T, MatcherError> {
        let mut session = self.session();
        Ok(f(&mut session, self.now.cursor, &self.now.pending)?)
    }

    /// The tables, set to where the matcher is.
    fn session(&self) -> MutexGuard<'_, Session> {
        let mut session = self.epoch.lock();
        let machine = &mut session.machine;
        machine.sets.token_now = self.now.tokens;
        machine.begin_question();
        if machine.tape.is_on() {
            let from = machine.recorded_from(self.now.cursor).unwrap_or(self.history.read.len());
            machine.tape.refill(from, |bytes| self.history.read.suffix_into(from, bytes));
        }
        session
    }

    /// Publishes from now on what matchers of the grammar find out.
    pub(crate) fn publish(&self) {
        self.epoch.publish();
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.history.events.to_vec()
    }

    /// Puts the matcher, which has consumed nothing, at a place with bytes to spell again.
    pub(crate) fn set_pending(&mut self, pending: Vec<u8>) {
        self.now.pending = pending[..].into();
    }

    /// Puts the matcher, which has consumed nothing, after text that the prompt holds already. Not a step: a rollback
    /// does not go back before it.
    pub(crate) fn start_after(&mut self, text: &[u8]) -> Result<(), MatcherError> {
        self.consume_bytes(text)?;
        Arc::make_mut(&mut self.history).steps = PersistentVec::default();
        Ok(())
    }

    /// The same for tokens behind that text. They count for `max_tokens`.
    pub(crate) fn start_after_tokens(&mut self, tokens: &[TokenId]) -> Result<(), MatcherError> {
        self.consume_tokens(tokens)?;
        Arc::make_mut(&mut self.history).steps = PersistentVec::default();
        Ok(())
    }

    /// What is read without the tables, if that is all there is to the place.
    #[inline]
    fn published(&self) -> Option<&Published> {
        self.epoch.published().filter(|_| self.now.pending.is_empty())
    }

    /// Publishes the mask of the place, if others are to read it.
    fn publish_mask(&self, machine: &Machine, masks: &MaskCache, id: Option<MaskId>) {
        if let (Some(published), Some(id)) = (self.published(), id)
            && !machine.records(self.now.cursor)
        {
            published.add_mask(self.now.cursor, id, || masks.share(id));
        }
    }

    /// Where a token leads, if that was published.
    #[inline(never)]
    fn published_step(&self, published: &Published, token: TokenId) -> Option<Plain> {
        let step = published.step(self.now.cursor, token)?;
        let ended = step.is_last.then_some(StopReason::NoExtension);
        let stop = if self.is_last_token(self.now.tokens + 1) { Some(StopReason::MaxTokens) } else { ended };
        Some(Plain { cursor: step.to, stop })
    }

    /// Publishes where a token has led.
    #[inline(never)]
    fn publish_step(&self, published: &Published, machine: &Machine, token: TokenId, plain: Plain) {
        let Plain { cursor, stop } = plain;
        let is_known = matches!(stop, None | Some(StopReason::NoExtension));
        if is_known && !machine.records(self.now.cursor) && !machine.records(cursor) {
            let is_last = stop == Some(StopReason::NoExtension);
            published.add_step(self.now.cursor, token, PublishedStep { to: cursor, is_last });
        }
    }

    fn is_last_token(&self, tokens: u32) -> bool {
        self.options.max_tokens.is_some_and(|max| tokens >= max)
    }

    fn reading(&self) -> Reading {
        Reading { now: self.now.clone(), text: 0..0, events: Vec::new(), hidden: None }
    }

    /// Where a token leads, if it is allowed and nothing about the place or the grammar asks for more than its bytes. Otherwise
    /// [`Self::read_token`] says what there is to say.
    fn read_plain(&self, token: TokenId) -> Result<Option<Plain>, Fault> {
        let shared = self.grammar.shared();
        let Some(bytes) = shared.vocabulary().token_bytes(token) else { return Ok(None) };
        let text_room = shared.limits().text_bytes_max.saturating_sub(self.history.text.len());
        let is_taken_back = self.options.backtracking && self.grammar.cfg().has_hidden;
        let is_plain = self.now.stop.is_none() && self.now.pending.is_empty() && !self.grammar.cfg().has_scopes;
        if !is_plain || is_taken_back || bytes.len() > text_room {
            return Ok(None);
        }
        if let Some(published) = self.epoch.published()
            && let Some(known) = self.published_step(published, token)
        {
            return Ok(Some(known));
        }
        let mut session = self.session();
        let machine = &mut session.machine;
        let mut cursor = self.now.cursor;
        if machine.step_token(cursor, token)?.is_some() {
            return Ok(None);
        }
        for mut bytes in bytes.chunks(BYTES_OF_A_QUESTION) {
            machine.begin_question();
            while let &[byte, ..] = bytes {
                let (len, next) = match machine.leap(cursor, bytes)? {
                    Some(leap) => leap,
                    None => match machine.step(cursor, byte)? {
                        Some(next) => (1, next),
                        None => return Ok(None),
                    },
                };
                cursor = next;
                machine.tape.extend(&bytes[..len]);
                bytes = &bytes[len..];
            }
        }
        let plain = Plain { cursor, stop: self.stop_at(machine, cursor, self.now.tokens + 1)? };
        if let Some(published) = self.epoch.published() {
            self.publish_step(published, machine, token, plain);
        }
        Ok(Some(plain))
    }

    /// What consuming the token leads to, without doing it.
    fn read_token(&self, token: TokenId) -> Result<Reading, MatcherError> {
        let vocabulary = self.vocabulary();
        if token as usize >= vocabulary.len() {
            return Err(MatcherError::UnknownToken { token, vocabulary_len: vocabulary.len() });
        }
        let mut reading = self.reading();
        let is_eos = vocabulary.eos().contains(&token);
        if let Some(stop) = self.now.stop {
            if !is_eos || stop == StopReason::EndOfSentence {
                return Err(MatcherError::Stopped);
            }
            reading.now.stop = Some(StopReason::EndOfSentence);
            return Ok(reading);
        }
        let mut session = self.session();
        let machine = &mut session.machine;
        let here = machine.tape.end();

        let mut read = None;
        let mut letter = if self.now.pending.is_empty() { machine.step_token(self.now.cursor, token)? } else { None };
        let mut rejected = MatcherError::TokenRejected { token, at_byte: 0 };
        if let Some(bytes) = vocabulary.token_bytes(token) {
            match read_bytes(machine, &mut reading, self.history.text.len(), bytes, &self.options)? {
                None => {
                    read = Some(reading.now.cursor);
                    if let Some((cursor, _)) = &mut letter {
                        *cursor = machine.restarted(*cursor)?;
                    }
                }
                Some(at_byte) => {
                    machine.tape.truncate(here);
                    rejected = MatcherError::TokenRejected { token, at_byte };
                    reading = self.reading();
                }
            }
        }
        if let Some((_, hidden)) = letter {
            reading.events.push(Event { at: self.history.text.len(), kind: EventKind::Token(token) });
            if hidden && read.is_none() {
                reading.hidden = Some(Hidden::Token);
            }
        }
        let joined = match (read, letter) {
            (Some(read), None) => Some(read),
            (read, letter) => {
                let cursors: Vec<Cursor> = read.into_iter().chain(letter.map(|(cursor, _)| cursor)).collect();
                machine.join(&cursors)?
            }
        };
        let Some(joined) = joined else {
            if is_eos && self.now.pending.is_empty() && machine.accepts(self.now.cursor)? {
                reading.now.stop = Some(StopReason::EndOfSentence);
                return Ok(reading);
            }
            return Err(rejected);
        };
        reading.now.cursor = machine.end_token(joined, self.now.tokens)?;
        let at = self.history.text.len() + reading.text.len();
        if machine.cfg.has_scopes || letter.is_some() {
            reading.events.push(Event { at, kind: EventKind::TokenEnd(self.now.tokens) });
        }
        if letter.is_some() {
            reading.now.lexeme_start = at;
        }
        reading.now.tokens += 1;
        machine.sets.token_now = reading.now.tokens;
        // What is taken back decides where the text is.
        if !(self.options.backtracking && reading.hidden.is_some()) {
            reading.now.stop = self.stop_after_token(machine, &reading.now)?;
        }
        Ok(reading)
    }

    /// Whether the text ends by itself after a token, at a place that the machine is set to.
    fn stop_after_token(&self, machine: &mut Machine, now: &Now) -> Result<Option<StopReason>, MatcherError> {
        if now.pending.is_empty() {
            Ok(self.stop_at(machine, now.cursor, now.tokens)?)
        } else {
            Ok(self.is_last_token(now.tokens).then_some(StopReason::MaxTokens))
        }
    }

    /// The same where nothing is pending, after so many tokens.
    fn stop_at(&self, machine: &mut Machine, cursor: Cursor, tokens: u32) -> Result<Option<StopReason>, Fault> {
        if self.is_last_token(tokens) {
            return Ok(Some(StopReason::MaxTokens));
        }
        if machine.grows(cursor)? {
            return Ok(None);
        }
        let ended = machine.accepts(cursor)?
            && machine.token_letters(cursor)?.is_empty()
            && machine.live_bytes(cursor)?.is_empty();
        Ok(ended.then_some(StopReason::NoExtension))
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

/// Bytes of a text, which may be long, that have the bound of one token: no token has many more.
const BYTES_OF_A_QUESTION: usize = 128;

/// Reads bytes after `text_len` bytes of text. Returns the place of the first that cannot follow.
fn read_bytes(
    machine: &mut Machine,
    reading: &mut Reading,
    text_len: usize,
    bytes: &[u8],
    options: &MatcherOptions,
) -> Result<Option<usize>, MatcherError> {
    let text_max = machine.limits.text_bytes_max;
    if bytes.len() > text_max.saturating_sub(text_len) {
        return Err(Fault::exceeded("text_bytes_max", text_max as u64).into());
    }
    let pending = &reading.now.pending;
    let common = pending.iter().zip(bytes).take_while(|(a, b)| a == b).count();
    if common < pending.len().min(bytes.len()) {
        return Ok(Some(common));
    }
    if common > 0 {
        reading.now.pending = pending[common..].into();
    }
    let track = options.backtracking && machine.cfg.has_hidden;
    reading.text = common..common;
    for (index, &byte) in bytes.iter().enumerate().skip(common) {
        if index % BYTES_OF_A_QUESTION == 0 {
            machine.begin_question();
        }
        let before = reading.now.cursor;
        let Some(next) = machine.step(before, byte)? else { return Ok(Some(index)) };
        reading.now.cursor = next;
        reading.text.end = index + 1;
        machine.tape.push(byte);
        if track && let Some(lexeme) = track_lexeme(machine, reading, text_len + index - common, before, byte)? {
            reading.hidden = Some(Hidden::Stop(lexeme));
            let kept = machine.tape.end();
            let rejected = reads_on(machine, next, &bytes[index + 1..])?;
            machine.tape.truncate(kept);
            return Ok(rejected.map(|more| index + 1 + more));
        }
    }
    Ok(None)
}

/// Whether what a token holds after the text of a `stop`, which is taken back with it, may follow there: else the mask does
/// not have the token. Returns the place of the first byte that cannot follow.
fn reads_on(machine: &mut Machine, mut cursor: Cursor, bytes: &[u8]) -> Result<Option<usize>, Fault> {
    for (index, &byte) in bytes.iter().enumerate() {
        let Some(next) = machine.step(cursor, byte)? else { return Ok(Some(index)) };
        cursor = next;
        machine.tape.push(byte);
    }
    Ok(None)
}

/// Follows where the lexemes of a single thread began, and finds the end of a `stop` whose text is not read again:
/// the lexeme. Only in `longest` mode, where lexemes end at once.
fn track_lexeme(
    machine: &mut Machine,
    reading: &mut Reading,
    at: usize,
    before: Cursor,
    byte: u8,
) -> Result<Option<LexemeId>, Fault> {
    let Some(thread) = Machine::single(before) else { return Ok(None) };
    let inside = machine.lexer.next(thread.lex, byte)?;
    let is_fresh = machine.lexer.state(thread.lex).kind == StateKind::Fresh;
    if is_fresh || inside == DEAD {
        reading.now.lexeme_start = at;
    }
    if inside == DEAD || machine.lexer.state(inside).kind != StateKind::LazyEnd {
        return Ok(None);
    }
    let cfg = machine.cfg.clone();
    let ends = machine.lexer.state(inside).ends;
    let &[lexeme] = machine.lexer.lexemes(ends) else { return Ok(None) };
    let Some(tail) = cfg.lexemes[lexeme].tail.as_ref().filter(|tail| tail.hidden) else { return Ok(None) };
    // A lexeme with a tail is never recorded.
    let after = machine.sets.scan(thread.set, ends, &[], &mut machine.lexer)?;
    let is_read_again = match &tail.literal {
        Some(_) => {
            let guard = Guard::after(machine.lexer.guard(thread.lex).past);
            machine.reread(after, guard, lexeme, 0)?.is_some()
        }
        None => false,
    };
    Ok((!is_read_again).then_some(lexeme))
}
