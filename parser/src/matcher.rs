//! One generated sequence: what was consumed, where that leads, and what may follow.

use std::sync::{Arc, MutexGuard, OnceLock};

use larkspur_grammar::ByteSet;
use larkspur_toktrie::{TokenId, TokenMask, Vocabulary};

use crate::captures::Capture;
use crate::cfg::LexemeId;
use crate::engine::{CompiledGrammar, Epoch, Session};
use crate::error::{Fault, MatcherError};
use crate::history::PersistentVec;
use crate::lexer::states::{DEAD, StateKind};
use crate::machine::{Cursor, Machine};

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
    steps: PersistentVec<Step>,
    /// Bytes of the text so far.
    text: PersistentVec<u8>,
    /// Bytes that were read, also those that were taken back from the text since; kept only if the grammar records
    /// lexemes. Places in it are those of the machine's tape.
    read: PersistentVec<u8>,
    /// What else there is to a text.
    events: PersistentVec<Event>,
    /// The captures of the text so far, if somebody asked for them.
    pub(crate) captured: OnceLock<Arc<[Capture]>>,
}

/// Where a matcher is, without its history.
#[derive(Clone, Debug)]
struct Now {
    cursor: Cursor,
    /// Bytes that belong to the text already and that the next tokens must still spell: after token healing and after
    /// tokens were taken back in the middle of one.
    pending: Arc<[u8]>,
    /// Tokens consumed.
    tokens: u32,
    stop: Option<StopReason>,
    /// Where the lexemes of the only thread began.
    lexeme_start: usize,
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

/// A token or a text being read.
struct Reading {
    now: Now,
    text: Vec<u8>,
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
    pub fn new(grammar: &CompiledGrammar, options: MatcherOptions) -> Result<Self, MatcherError> {
        let epoch = grammar.epoch();
        let cursor = epoch.lock().machine.start()?;
        let now = Now { cursor, pending: Arc::new([]), tokens: 0, stop: None, lexeme_start: 0 };
        Ok(Self {
            grammar: grammar.clone(),
            epoch,
            options,
            now,
            steps: PersistentVec::default(),
            text: PersistentVec::default(),
            read: PersistentVec::default(),
            events: PersistentVec::default(),
            captured: OnceLock::new(),
        })
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
        let shared = self.grammar.shared();
        let vocabulary = shared.vocabulary();
        let mut session = self.session();
        let Session { machine, masks, .. } = &mut *session;
        if self.now.pending.is_empty() {
            masks.mask(machine, vocabulary, shared.slicer(), self.now.cursor, mask)?;
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
        if mask.is_empty() { Err(MatcherError::NoToken) } else { Ok(()) }
    }

    /// Whether a token is allowed, without making a mask. Cost: its bytes.
    pub fn is_allowed(&self, token: TokenId) -> Result<bool, MatcherError> {
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
        let reading = self.read_token(token)?;
        let hidden = reading.hidden;
        self.commit(reading);
        let settled = self.settle(hidden);
        if settled.is_err() {
            self.rollback(1)?;
        }
        settled
    }

    /// What a token that was committed has done besides.
    fn settle(&mut self, hidden: Option<Hidden>) -> Result<Consumed, MatcherError> {
        let backtrack_tokens = match hidden {
            Some(hidden) if self.options.backtracking => {
                let len = match hidden {
                    Hidden::Token => 0,
                    Hidden::Stop(lexeme) => self.tail_len(lexeme)?,
                };
                self.take_back(len)
            }
            _ => 0,
        };
        if self.now.stop.is_none() {
            self.now.stop = self.stop_after_token()?;
        }
        Ok(Consumed { stopped: self.now.stop.is_some(), backtrack_tokens })
    }

    /// Consumes tokens one after the other; all or none.
    ///
    /// Errors: as [`consume_token`](Self::consume_token), for the first token that cannot be consumed. The matcher then
    /// stays where it was.
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
        let read = read_bytes(&mut session.machine, &mut reading, self.text.len(), bytes, &self.options);
        drop(session);
        if let Some(at_byte) = read? {
            return Err(MatcherError::TextRejected { at_byte });
        }
        self.commit(reading);
        Ok(())
    }

    /// Takes back the last `tokens` tokens (or texts): everything is as it was before them.
    ///
    /// Errors: [`MatcherError::RollbackTooFar`].
    pub fn rollback(&mut self, tokens: usize) -> Result<(), MatcherError> {
        let available = self.steps.len();
        if tokens > available {
            return Err(MatcherError::RollbackTooFar { wanted: tokens, available });
        }
        if tokens > 0 {
            let step = self.steps.get(available - tokens).clone();
            self.steps.truncate(available - tokens);
            self.text.truncate(step.text_len);
            self.read.truncate(step.read_len);
            self.events.truncate(step.events_len);
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
    pub fn reset(&mut self) -> Result<(), MatcherError> {
        *self = Matcher::new(&self.grammar, self.options)?;
        Ok(())
    }

    /// Whether the text may end here.
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
        self.steps.len()
    }

    /// How many tokens may be consumed yet; `None` if there is no bound.
    pub fn tokens_left(&self) -> Option<u32> {
        self.options.max_tokens.map(|max| max.saturating_sub(self.now.tokens))
    }

    /// The highest sampling temperature of what can follow; `None` if none is set.
    pub fn temperature(&self) -> Result<Option<f32>, MatcherError> {
        if self.now.stop.is_some() {
            return Ok(None);
        }
        Ok(self.session().machine.temperature(self.now.cursor)?)
    }

    /// The bytes consumed so far, without special tokens and without what was taken back. Cost: O(length).
    pub fn text(&self) -> Vec<u8> {
        self.text.to_vec()
    }

    /// Bytes that can follow, whatever the vocabulary.
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
        self.text.suffix(self.now.lexeme_start)
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
        if machine.tape.is_on() {
            let from = machine.recorded_from(self.now.cursor).unwrap_or(self.read.len());
            machine.tape.set(from, self.read.suffix(from));
        }
        session
    }

    pub(crate) fn events(&self) -> Vec<Event> {
        self.events.to_vec()
    }

    /// Puts the matcher, which has consumed nothing, at a place with bytes to spell again.
    pub(crate) fn set_pending(&mut self, pending: Vec<u8>) {
        self.now.pending = pending.into();
    }

    /// Puts the matcher, which has consumed nothing, after text that the prompt holds already. Not a step: a rollback
    /// does not go back before it.
    pub(crate) fn start_after(&mut self, text: &[u8]) -> Result<(), MatcherError> {
        self.consume_bytes(text)?;
        self.steps = PersistentVec::default();
        Ok(())
    }

    fn reading(&self) -> Reading {
        Reading { now: self.now.clone(), text: Vec::new(), events: Vec::new(), hidden: None }
    }

    fn commit(&mut self, reading: Reading) {
        let before = std::mem::replace(&mut self.now, reading.now);
        self.captured.take();
        let (text_len, read_len, events_len) = (self.text.len(), self.read.len(), self.events.len());
        self.steps.push(Step { before, text_len, read_len, events_len });
        if self.grammar.cfg().has_recorded {
            reading.text.iter().for_each(|&byte| self.read.push(byte));
        }
        reading.text.into_iter().for_each(|byte| self.text.push(byte));
        reading.events.into_iter().for_each(|event| self.events.push(event));
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

        let mut cursors: Vec<Cursor> = Vec::new();
        let mut letter = if self.now.pending.is_empty() { machine.step_token(self.now.cursor, token)? } else { None };
        let mut rejected = MatcherError::TokenRejected { token, at_byte: 0 };
        if let Some(bytes) = vocabulary.token_bytes(token) {
            match read_bytes(machine, &mut reading, self.text.len(), bytes, &self.options)? {
                None => {
                    cursors.push(reading.now.cursor);
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
        if let Some((cursor, hidden)) = letter {
            reading.events.push(Event { at: self.text.len(), kind: EventKind::Token(token) });
            if hidden && cursors.is_empty() {
                reading.hidden = Some(Hidden::Token);
            }
            cursors.push(cursor);
        }
        let Some(joined) = machine.join(&cursors)? else {
            if is_eos && self.now.pending.is_empty() && machine.accepts(self.now.cursor)? {
                reading.now.stop = Some(StopReason::EndOfSentence);
                return Ok(reading);
            }
            return Err(rejected);
        };
        reading.now.cursor = machine.end_token(joined, self.now.tokens)?;
        let at = self.text.len() + reading.text.len();
        if machine.cfg.has_scopes || letter.is_some() {
            reading.events.push(Event { at, kind: EventKind::TokenEnd(self.now.tokens) });
        }
        if letter.is_some() {
            reading.now.lexeme_start = at;
        }
        reading.now.tokens += 1;
        Ok(reading)
    }

    /// Whether the text ends by itself after a token.
    fn stop_after_token(&self) -> Result<Option<StopReason>, MatcherError> {
        if self.options.max_tokens.is_some_and(|max| self.now.tokens >= max) {
            return Ok(Some(StopReason::MaxTokens));
        }
        if !self.now.pending.is_empty() {
            return Ok(None);
        }
        let mut session = self.session();
        let machine = &mut session.machine;
        for thread in machine.threads(self.now.cursor).iter() {
            if machine.lexer.surely_grows(thread.lex) || !machine.lexer.row(thread.lex)?.live.is_empty() {
                return Ok(None);
            }
        }
        let ended = machine.accepts(self.now.cursor)?
            && machine.token_letters(self.now.cursor)?.is_empty()
            && machine.live_bytes(self.now.cursor)?.is_empty();
        Ok(ended.then_some(StopReason::NoExtension))
    }

    /// Length of the tail of the lexeme that has ended with the text.
    fn tail_len(&self, lexeme: LexemeId) -> Result<usize, MatcherError> {
        let start = self.now.lexeme_start;
        let text = &self.text.to_vec()[start..];
        Ok(self.epoch.lock().machine.tail_len(lexeme, text)?)
    }

    /// Takes back the tokens that the last `len` bytes of text touch (none: the last token), which ended a `stop`.
    /// Returns how many tokens that are.
    fn take_back(&mut self, len: usize) -> usize {
        let text = self.text.to_vec();
        let kept_len = text.len() - len;
        let (cursor, tokens) = (self.now.cursor, self.now.tokens);
        let mut taken = 1;
        let mut first = self.steps.get(self.steps.len() - 1).clone();
        while first.text_len > kept_len && taken < self.steps.len() {
            taken += 1;
            first = self.steps.get(self.steps.len() - taken).clone();
        }
        let mut pending: Vec<u8> = first.before.pending.to_vec();
        pending.extend_from_slice(&text[first.text_len.min(kept_len)..kept_len]);
        self.steps.truncate(self.steps.len() - taken);
        self.text.truncate(kept_len);
        self.captured.take();
        if len > 0 {
            self.events.push(Event { at: kept_len, kind: EventKind::Hidden(text[kept_len..].into()) });
        }
        self.now = Now { cursor, pending: pending.into(), tokens, stop: None, lexeme_start: kept_len };
        taken
    }
}

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
    for (index, &byte) in bytes.iter().enumerate().skip(common) {
        let before = reading.now.cursor;
        let Some(next) = machine.step(before, byte)? else { return Ok(Some(index)) };
        reading.now.cursor = next;
        reading.text.push(byte);
        machine.tape.push(byte);
        if track && let Some(lexeme) = track_lexeme(machine, reading, text_len + reading.text.len() - 1, before, byte)?
        {
            // What the token holds after the text of a `stop` is taken back with it.
            reading.hidden = Some(Hidden::Stop(lexeme));
            return Ok(None);
        }
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
        Some(text) => machine.reread(after, text)?.is_some(),
        None => false,
    };
    Ok((!is_read_again).then_some(lexeme))
}
