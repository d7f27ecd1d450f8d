//! Leaps: several bytes inside lexemes at once. Nobody else meets the states within a token in the middle of a name, and to make
//! each of them was a fifth of what it takes to consume tokens. Where nothing may stand behind a lexeme, as behind a regex that is
//! all of the grammar, it is no matter that it could end on the way.

use larkspur_grammar::index::Id;

use super::guards::Guard;
use super::rows::ROW_COST;
use super::split::{Entries, Entry};
use super::states::{LexStateId, Lexer, StateKind};
use crate::cfg::LexemeId;
use crate::error::Fault;

/// Bytes of a leap at most: few tokens have more.
const LEAP_MAX: usize = 15;

/// The last leap from a state: its first `len` bytes, and where they lead.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leap {
    len: u8,
    bytes: [u8; LEAP_MAX],
    to: LexStateId,
}

impl Leap {
    fn new(bytes: &[u8], to: LexStateId) -> Self {
        let mut leap = Self { len: bytes.len() as u8, bytes: [0; LEAP_MAX], to };
        leap.bytes[..bytes.len()].copy_from_slice(bytes);
        leap
    }

    fn is_over(&self, bytes: &[u8]) -> bool {
        bytes.starts_with(&self.bytes[..usize::from(self.len)])
    }
}

impl Lexer {
    /// The state after as many of the bytes as stay inside its lexemes and end none of them, if there are several, and how many.
    /// `None` also where single steps are known.
    ///
    /// Errors: as [`next`](Self::next).
    #[inline]
    pub fn leap(&mut self, id: LexStateId, bytes: &[u8]) -> Result<Option<(usize, LexStateId)>, Fault> {
        // What is no state is the place of a list.
        match self.rows.get(id.index()) {
            Some(None) => self.leap_without_row(id, bytes),
            _ => Ok(None),
        }
    }

    /// Whether the end of a lexeme is that of all text, and it goes on where it can.
    fn ends_all(&self, lexeme: LexemeId) -> bool {
        self.is_last(lexeme) && !self.cfg.lexemes[lexeme].lazy
    }

    fn leap_without_row(&mut self, id: LexStateId, bytes: &[u8]) -> Result<Option<(usize, LexStateId)>, Fault> {
        let step = &self.steps[id.index()];
        if step.has_leap
            && let Some(leap) = self.leaps.get(&id).filter(|leap| leap.is_over(bytes))
        {
            return Ok(Some((usize::from(leap.len), leap.to)));
        }
        let state = &self.states[id];
        // What look-around has to say it says byte by byte.
        let is_plain = !self.cfg.has_follows && !self.cfg.has_hidden && state.key.guard == Guard::NONE;
        let is_inside =
            state.kind != StateKind::LazyEnd && self.lexeme_sets[state.ends].iter().all(|&id| self.ends_all(id));
        let is_known = step.last.is_some_and(|(byte, _)| bytes.first() == Some(&byte));
        if !is_plain || !is_inside || is_known || bytes.len() < 2 || step.spared >= ROW_COST {
            return Ok(None);
        }
        let records = state.records;
        let mut left: Entries = state.key.entries.as_slice().into();
        let mut len = 0;
        for &byte in &bytes[..bytes.len().min(LEAP_MAX)] {
            let next = self.entries_after(&left, byte)?;
            let ends = |&(lexeme, rest): &Entry| !self.ends_all(lexeme) && self.matches(lexeme, rest);
            if next.is_empty() || next.iter().any(ends) || self.are_near(&next) {
                if len == 0 {
                    let to = self.enter(next, Guard::NONE)?;
                    self.note_step(id, byte, to);
                    return Ok(None);
                }
                break;
            }
            self.work += next.len() as u64 - 1;
            left = next;
            len += 1;
        }
        let to = self.intern(&left, StateKind::Inside, Guard::NONE)?;
        if len == 1 {
            self.note_step(id, bytes[0], to);
            return Ok(None);
        }
        let state = &self.states[to];
        let is_inside = !state.may_be_stuck && state.records == records;
        let step = &mut self.steps[id.index()];
        step.count_new();
        if is_inside {
            step.has_leap = true;
            self.leaps.insert(id, Leap::new(&bytes[..len], to));
        }
        Ok(is_inside.then_some((len, to)))
    }
}
