//! Where a matcher is, and what it has consumed on the way there.

use std::ops::Deref;
use std::sync::Arc;

use larkspur_toktrie::TokenId;

use super::StopReason;
use super::read::Reading;
use crate::history::PersistentVec;
use crate::machine::Cursor;

/// Bytes of a text that are side by side: some fifty tokens.
const TEXT_LEN: usize = 256;

/// What a matcher has consumed.
#[derive(Clone, Default, Debug)]
pub(super) struct History {
    pub steps: PersistentVec<Step>,
    /// Bytes of the text so far.
    pub text: PersistentVec<u8, TEXT_LEN>,
    /// Bytes that were read, also those that were taken back from the text since; kept only if the grammar records
    /// lexemes. Places in it are those of the machine's tape.
    pub read: PersistentVec<u8, TEXT_LEN>,
    /// What else there is to a text.
    pub events: PersistentVec<Event>,
}

impl History {
    /// Goes on to where a token or a text of these bytes leads.
    pub fn add(&mut self, now: &mut Now, reading: Reading, bytes: &[u8], has_recorded: bool) {
        let before = std::mem::replace(now, reading.now);
        self.push(&before, &bytes[reading.text], has_recorded);
        self.events.extend(&reading.events);
    }

    /// Goes on by a text, from where the matcher was before.
    pub fn push(&mut self, before: &Now, text: &[u8], has_recorded: bool) {
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
pub(super) struct Now {
    pub cursor: Cursor,
    /// Bytes that belong to the text already and that the next tokens must still spell: after token healing and after
    /// tokens were taken back in the middle of one.
    pub pending: Pending,
    /// Tokens consumed.
    pub tokens: u32,
    pub stop: Option<StopReason>,
    /// Where the lexemes of the only thread began.
    pub lexeme_start: usize,
}

/// Bytes that are most often none, which takes no reference to count.
#[derive(Clone, Default, Debug)]
pub(super) struct Pending(Option<Arc<[u8]>>);

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
pub(super) struct Step {
    pub before: Now,
    pub text_len: usize,
    pub read_len: usize,
    pub events_len: usize,
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
