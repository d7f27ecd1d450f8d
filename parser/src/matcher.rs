//! One generated sequence: what was consumed, where that leads, and what may follow.

mod drafts;
mod history;
mod read;
mod take_back;

use std::sync::{Arc, MutexGuard, OnceLock};

use larkspur_grammar::ByteSet;
use larkspur_toktrie::{TokenId, TokenMask, Vocabulary};

use crate::captures::Capture;
use crate::engine::{CompiledGrammar, Epoch, Session};
use crate::error::{Fault, MatcherError};
use crate::history::PersistentVec;
use crate::machine::{Cursor, Machine};
use crate::mask::{MaskCache, MaskId};
use crate::published::Published;
pub(crate) use history::{Event, EventKind};
use history::{History, Now, Pending};
use read::{Plain, read_bytes};

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
        self.set_out(&mut session.machine);
        session
    }

    /// Sets the machine to where the matcher is.
    fn set_out(&self, machine: &mut Machine) {
        machine.sets.token_now = self.now.tokens;
        machine.begin_question();
        if machine.tape.is_on() {
            let from = machine.recorded_from(self.now.cursor).unwrap_or(self.history.read.len());
            machine.tape.refill(from, |bytes| self.history.read.suffix_into(from, bytes));
        }
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
}
