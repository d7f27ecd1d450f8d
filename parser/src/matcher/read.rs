//! Reading a token or a text: where it leads, without going there.

use std::ops::Range;

use larkspur_toktrie::TokenId;

use super::history::{Event, EventKind, Now};
use super::{Matcher, MatcherOptions, StopReason};
use crate::cfg::LexemeId;
use crate::engine::Session;
use crate::error::{Fault, MatcherError};
use crate::lexer::guards::Guard;
use crate::lexer::states::{DEAD, StateKind};
use crate::machine::{Cursor, Machine};
use crate::token_steps::TokenStep;

/// Where a token leads that is read as bytes and nothing else, as nearly all are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Plain {
    pub cursor: Cursor,
    pub stop: Option<StopReason>,
}

/// A token or a text being read.
pub(super) struct Reading {
    pub now: Now,
    /// The part of its bytes that is new text: what was pending is not.
    pub text: Range<usize>,
    pub events: Vec<Event>,
    /// What ended with the last letter that was read and is to be taken back.
    pub hidden: Option<Hidden>,
}

/// What is taken back from the output.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hidden {
    /// The token that was read as a letter.
    Token,
    /// The tail of this lexeme.
    Stop(LexemeId),
}

impl Matcher {
    pub(super) fn reading(&self) -> Reading {
        Reading { now: self.now.clone(), text: 0..0, events: Vec::new(), hidden: None }
    }

    /// Where a token leads, if it is allowed and nothing about the place or the grammar asks for more than its bytes. Otherwise
    /// [`Self::read_token`] says what there is to say.
    pub(super) fn read_plain(&self, token: TokenId) -> Result<Option<Plain>, Fault> {
        let shared = self.grammar.shared();
        let Some(bytes) = shared.vocabulary().token_bytes(token) else { return Ok(None) };
        let text_room = shared.limits().text_bytes_max.saturating_sub(self.history.text.len());
        let is_taken_back = self.options.backtracking && self.grammar.cfg().has_hidden;
        let is_plain = self.now.stop.is_none() && self.now.pending.is_empty() && !self.grammar.cfg().has_scopes;
        if !is_plain || is_taken_back || bytes.len() > text_room {
            return Ok(None);
        }
        let published = self.epoch.published();
        if let Some(step) = published.and_then(|published| published.step(self.now.cursor, token)) {
            return Ok(Some(self.plain(step)));
        }
        let mut session = self.epoch.lock();
        if let Some(step) = session.steps.get(self.now.cursor, token) {
            let plain = self.plain(step);
            if cfg!(debug_assertions) {
                self.set_out(&mut session.machine);
                let again = self.step_plain(&mut session.machine, token, bytes);
                assert!(again.is_err() || again == Ok(Some(plain)), "a known step is not what the bytes say");
            }
            if let Some(published) = published {
                published.add_step(self.now.cursor, token, step);
            }
            return Ok(Some(plain));
        }
        self.set_out(&mut session.machine);
        let plain = self.step_plain(&mut session.machine, token, bytes)?;
        if let Some(plain) = plain {
            self.remember_step(&mut session, token, plain);
        }
        Ok(plain)
    }

    /// Where the bytes of a token lead. The machine is set to where the matcher is.
    fn step_plain(&self, machine: &mut Machine, token: TokenId, bytes: &[u8]) -> Result<Option<Plain>, Fault> {
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
        Ok(Some(Plain { cursor, stop: self.stop_at(machine, cursor, self.now.tokens + 1)? }))
    }

    /// What consuming the token leads to, without doing it.
    pub(super) fn read_token(&self, token: TokenId) -> Result<Reading, MatcherError> {
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

    /// Where a step leads that is known.
    fn plain(&self, TokenStep { to, is_last }: TokenStep) -> Plain {
        let ended = is_last.then_some(StopReason::NoExtension);
        let stop = if self.is_last_token(self.now.tokens + 1) { Some(StopReason::MaxTokens) } else { ended };
        Plain { cursor: to, stop }
    }

    /// Remembers where a token has led, if nothing counts but the place.
    fn remember_step(&self, session: &mut Session, token: TokenId, Plain { cursor, stop }: Plain) {
        let is_said = matches!(stop, None | Some(StopReason::NoExtension));
        if is_said && !session.machine.records(self.now.cursor) && !session.machine.records(cursor) {
            let step = TokenStep { to: cursor, is_last: stop.is_some() };
            match self.epoch.published() {
                Some(published) => published.add_step(self.now.cursor, token, step),
                None => session.steps.add(self.now.cursor, token, step),
            }
        }
    }

    fn is_last_token(&self, tokens: u32) -> bool {
        self.options.max_tokens.is_some_and(|max| tokens >= max)
    }

    /// Whether the text ends by itself after a token, at a place that the machine is set to.
    pub(super) fn stop_after_token(
        &self,
        machine: &mut Machine,
        now: &Now,
    ) -> Result<Option<StopReason>, MatcherError> {
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
}

/// Bytes of a text, which may be long, that have the bound of one token: no token has many more.
const BYTES_OF_A_QUESTION: usize = 128;

/// Reads bytes after `text_len` bytes of text. Returns the place of the first that cannot follow.
pub(super) fn read_bytes(
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
