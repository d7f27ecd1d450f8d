//! The text that recorded lexemes under way have read.
//!
//! Sets hold no positions, so a thread in which a lexeme is recorded carries the position where it began, and whoever
//! steps the machine keeps the bytes from there on: a matcher from its history, a walk from its path. In grammars that
//! record nothing the tape stays empty and nothing is kept.

use crate::error::Fault;

/// Bytes up to a place in the text.
#[derive(Clone, Default, Debug)]
pub(crate) struct Tape {
    /// Whether the grammar records any lexeme.
    is_on: bool,
    /// Position of the first byte that is kept.
    start: usize,
    bytes: Vec<u8>,
}

impl Tape {
    pub fn new(is_on: bool) -> Self {
        Self { is_on, ..Self::default() }
    }

    pub fn is_on(&self) -> bool {
        self.is_on
    }

    /// Puts the tape at `start` and these bytes after it.
    pub fn set(&mut self, start: usize, bytes: Vec<u8>) {
        if self.is_on {
            (self.start, self.bytes) = (start, bytes);
        }
    }

    /// The same with bytes that `write` puts into a list, which may hold others.
    pub fn refill(&mut self, start: usize, write: impl FnOnce(&mut Vec<u8>)) {
        if self.is_on {
            self.start = start;
            write(&mut self.bytes);
        }
    }

    /// Where the next byte will stand.
    pub fn end(&self) -> usize {
        self.start + self.bytes.len()
    }

    /// [`Self::end`] as threads hold it.
    ///
    /// Errors: `text_bytes_max` past what they can hold.
    pub fn place(&self) -> Result<u32, Fault> {
        u32::try_from(self.end()).map_err(|_| Fault::exceeded("text_bytes_max", u32::MAX.into()))
    }

    #[inline]
    pub fn push(&mut self, byte: u8) {
        if self.is_on {
            self.bytes.push(byte);
        }
    }

    pub fn extend(&mut self, bytes: &[u8]) {
        if self.is_on {
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Takes back what stands from `end` on.
    pub fn truncate(&mut self, end: usize) {
        if !self.is_on {
            return;
        }
        match end.checked_sub(self.start) {
            Some(len) => self.bytes.truncate(len),
            None => self.set(end, Vec::new()),
        }
    }

    /// What was read from `began` on.
    pub fn from(&self, began: u32) -> &[u8] {
        debug_assert!(began as usize >= self.start, "what was read is kept");
        &self.bytes[began as usize - self.start..]
    }
}
