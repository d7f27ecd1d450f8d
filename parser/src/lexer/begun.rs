//! Rows that are made by parts: each class of bytes when it is asked for.
//!
//! A walk over the trie leaves most states by few bytes, and to ask whether words of some letters are taken takes these letters.
//! Of the derivatives that whole rows took nine tenths were never looked at.

use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, LexerMode};
use smallvec::SmallVec;

use super::classes::{ByteClasses, ONE, Runs, with_alone};
use super::guards::Guard;
use super::rows::{Row, UNKNOWN};
use super::states::{LexStateId, Lexer, NO_LEXEMES, StateKind};
use crate::cfg::Pattern;
use crate::error::Fault;

/// Live lexemes of a state whose row is made by parts, at most: each of its classes asks all of them.
const ENTRIES_MAX: usize = 32;

/// What is left to make of a row.
#[derive(Debug)]
pub(super) struct Left {
    /// Classes of bytes.
    runs: Runs,
    /// Bytes that nobody has asked for.
    bytes: ByteSet,
    /// See [`Lexer::settled_before`].
    settled_before: ByteSet,
}

impl Lexer {
    /// The row of a state, of which the bytes from `first` up to `last` are known.
    ///
    /// Errors: as [`row`](Self::row), for these bytes.
    pub fn row_of(&mut self, id: LexStateId, first: u8, last: u8) -> Result<&Row, Fault> {
        if self.rows[id.index()].is_none() {
            if !self.is_made_by_parts(id) {
                return self.row(id);
            }
            self.begin_row(id)?;
        }
        if self.known_row(id).left.is_some() {
            for byte in first..=last {
                if self.known_row(id).next[usize::from(byte)] == UNKNOWN {
                    self.fill(id, byte)?;
                }
            }
        }
        Ok(self.known_row(id))
    }

    /// Whether all that a row says of a byte hangs on that byte, and few lexemes have to be asked.
    fn is_made_by_parts(&self, id: LexStateId) -> bool {
        let state = &self.states[id];
        let entries = &state.key.entries;
        let is_cut = self.cfg.mode == LexerMode::Longest && state.ends != NO_LEXEMES;
        let is_ignored = || self.lexeme_sets[state.matched].iter().any(|&id| self.cfg.lexemes[id].ignored_by.is_some());
        state.kind != StateKind::LazyEnd
            && state.key.guard == Guard::NONE
            && entries.len() <= ENTRIES_MAX
            && entries.iter().any(|entry| self.cfg.lexemes[entry.0].pattern.is_regex())
            && !is_cut
            && !is_ignored()
    }

    fn begin_row(&mut self, id: LexStateId) -> Result<(), Fault> {
        let (key, cfg) = (self.states[id].key.clone(), self.cfg.clone());
        let mut classes: SmallVec<[_; 8]> = SmallVec::new();
        let mut alone = ByteSet::EMPTY;
        for &(lexeme, rest) in &key.entries {
            match &cfg.lexemes[lexeme].pattern {
                Pattern::Regex(_) => {
                    let (expr, texts) = self.parts(rest);
                    alone = alone.union(&self.tries.bytes_of(texts));
                    classes.push(match self.expr_rows.get(&expr) {
                        Some(row) => row.classes.clone(),
                        None => self.arena.classes(expr, &mut self.work, &self.limits)?,
                    });
                }
                literal => literal.literal_children(rest).for_each(|(byte, _)| alone.insert(byte)),
            }
        }
        let classes = ByteClasses::common(classes.iter());
        let runs = with_alone(classes.as_ref().map_or(&ONE, |classes| &classes.runs), &alone);
        let settled_before = self.settled_before(id, &ByteSet::EMPTY);
        let mut row = Box::new(Row::new(ByteSet::EMPTY));
        row.left = Some(Box::new(Left { runs, bytes: ByteSet::ALL, settled_before }));
        self.rows[id.index()] = Some(row);
        self.rows_len += 1;
        Ok(())
    }

    /// The state after a byte of which a row that was begun says nothing yet.
    pub(super) fn fill(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        let to = self.single_step(id, byte)?;
        let mut row = self.rows[id.index()].take().expect("it was begun");
        let mut left = row.left.take().expect("something is left");
        let class = left.runs[left.runs.partition_point(|run| run.last < byte)].class;
        for run in left.runs.iter().filter(|run| run.class == class) {
            self.note(id, &mut row, run, to, &left.settled_before);
            left.bytes = left.bytes.intersect(&ByteSet::range(run.first, run.last).negate());
        }
        row.left = Some(left).filter(|left| !left.bytes.is_empty());
        self.rows[id.index()] = Some(row);
        Ok(to)
    }
}
