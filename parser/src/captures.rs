//! Captures: which part of a text belongs to which rule.
//!
//! In: a matcher's history, that is its text and events. Out: [`Capture`]s. The engine's own sets hold no positions, so
//! the text is read again into positional Earley sets ([`chart`], [`replay`]), only in grammars with captures and only
//! when somebody asks; then the preferred derivation is followed through them ([`derive`], [`divide`]).
//! Since the history is the only input, rollback and fork need nothing but to forget the answer that was kept.
//! What is preferred is defined in `docs/semantics.md`.

mod chart;
mod derive;
mod divide;
mod plan;
mod replay;

pub(crate) use plan::Plan;

use crate::error::MatcherError;
use crate::matcher::Matcher;

/// The text of a captured rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Capture {
    /// The name to capture under, `capture="name"`; the rule's own if none is given.
    pub name: String,
    /// First byte in [`Matcher::text`].
    pub start: usize,
    /// One past the last byte in [`Matcher::text`].
    pub end: usize,
    /// The text. Differs from that between `start` and `end` where the text of a `stop` is hidden: what stays in the
    /// output is not in here, and what was taken back and is captured itself (`stop_capture`) is only here.
    pub bytes: Vec<u8>,
}

impl Matcher {
    /// The captures of rules that have ended, in the order of their ends; of those that end together the inner ones
    /// come first.
    ///
    /// Errors: [`MatcherError::LimitExceeded`], with `capture_work_max` if the text is too long or too ambiguous.
    /// Cost: proportional to the text for grammars that can be parsed without ambiguity: about 100 ns for each item, with
    /// the matcher's grammar locked. The answer is kept until the text changes.
    pub fn captures(&self) -> Result<Vec<Capture>, MatcherError> {
        if !self.grammar().cfg().has_captures {
            return Ok(Vec::new());
        }
        if let Some(captured) = self.captured.get() {
            return Ok(captured.to_vec());
        }
        let captures = self.derive_captures()?;
        Ok(self.captured.get_or_init(|| captures.into()).to_vec())
    }

    fn derive_captures(&self) -> Result<Vec<Capture>, MatcherError> {
        let plan = self.grammar().capture_plan();
        let (text, events) = (self.text(), self.events());
        self.with_session(|session, _, _| {
            let machine = &mut session.machine;
            let token_now = machine.sets.token_now;
            let captures = replay::Replay::new(machine).and_then(|mut replay| {
                replay.read(&text, &events)?;
                derive::derive(replay, plan, &text)
            });
            machine.sets.token_now = token_now;
            captures
        })
    }

    /// The last capture of that name. Errors and cost: as [`captures`](Self::captures).
    pub fn capture(&self, name: &str) -> Result<Option<Vec<u8>>, MatcherError> {
        let captures = self.captures()?;
        Ok(captures.into_iter().rev().find(|capture| capture.name == name).map(|capture| capture.bytes))
    }
}
