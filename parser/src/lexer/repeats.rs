//! `longest` mode: lexemes of a character or so, of which a token holds many: `char*` with `char: /[^"\\]/ | "\\" /["\\bfnrt]/`.
//!
//! Where such lexemes lead to a set from which they lead back to it, any number of them is as one. A term of all of them takes slices
//! as a whole, where each by itself ends at each of its characters, and so does what is left of tokens behind each end: twenty
//! terms of the whole trie. Since no other lexeme begins with the same bytes and none is the beginning of another, it does not
//! matter where in the text they end.

use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, LexerMode};

use super::guards::Guard;
use super::split::{Entries, Entry};
use super::states::{LexStateId, Lexer, StateKind};
use crate::cfg::{Lexeme, LexemeId};
use crate::error::Fault;

/// Bytes of such a lexeme at most: a character, or one of JSON's with its escape.
const BYTES_MAX: u32 = 12;

impl Lexer {
    /// Lexemes, by their number, that are short enough to stand in a token several times; none where several are never as one.
    pub(super) fn find_short(&mut self) {
        let cfg = &self.cfg;
        let is_plain = !(cfg.has_traps || cfg.has_follows || cfg.has_behinds || cfg.has_scopes || cfg.has_hidden);
        if cfg.mode != LexerMode::Longest || !is_plain {
            return;
        }
        let is_short = |(id, lexeme): (LexemeId, &Lexeme)| {
            let is_alone = lexeme.ignored_by.is_none() && !lexeme.lazy && !lexeme.recorded;
            let expr = self.plain(self.initial[id]).filter(|_| is_alone && lexeme.pattern.is_regex());
            expr.is_some_and(|expr| self.arena.len_max(expr) <= BYTES_MAX)
        };
        let short: Vec<bool> = cfg.lexemes.iter_enumerated().map(is_short).collect();
        if short.contains(&true) {
            self.short = short;
        }
    }

    /// Whether lexemes may start in a state of which several may be as one.
    #[inline]
    pub fn may_repeat(&self, id: LexStateId) -> bool {
        !self.short.is_empty() && self.state(id).kind == StateKind::Fresh
    }

    /// Of the lexemes that start in a state those that may be repeated, as far as that is seen without the sets that they lead to.
    pub fn repeatable(&mut self, id: LexStateId) -> Vec<LexemeId> {
        let entries = self.key(id).entries.clone();
        if self.key(id).guard != Guard::NONE || !entries.iter().any(|entry| self.short[entry.0.index()]) {
            return Vec::new();
        }
        let first: Vec<ByteSet> = entries.iter().map(|entry| self.first_of(entry)).collect();
        let (mut once, mut twice) = (ByteSet::EMPTY, ByteSet::EMPTY);
        for bytes in &first {
            twice = twice.union(&once.intersect(bytes));
            once = once.union(bytes);
        }
        let repeatable = entries.iter().zip(&first).filter(|&(&(lexeme, rest), first)| {
            self.short[lexeme.index()] && rest == self.whole(lexeme) && first.intersect(&twice).is_empty()
        });
        let repeatable: Vec<Entry> = repeatable.map(|(&entry, _)| entry).collect();
        let ends_itself = |&(_, rest): &Entry| self.plain(rest).is_some_and(|expr| self.ends_itself(expr));
        repeatable.into_iter().filter(ends_itself).map(|(lexeme, _)| lexeme).collect()
    }

    /// The state in which the first of some lexemes stands for each of them, with any number of others behind it.
    ///
    /// Errors: as of [`intern`](Self::intern); `expressions_max`.
    pub fn with_repeated(
        &mut self,
        id: LexStateId,
        lexemes: &[LexemeId],
        others: &[LexemeId],
    ) -> Result<LexStateId, Fault> {
        let exprs =
            |lexemes: &[LexemeId]| lexemes.iter().filter_map(|&lexeme| self.plain(self.whole(lexeme))).collect();
        let repeated = self.arena.before_some(exprs(lexemes), exprs(others))?;
        let left = self.key(id).entries.iter().copied().filter(|entry| !lexemes.contains(&entry.0));
        let mut entries: Entries = left.chain([(lexemes[0], repeated.to_raw())]).collect();
        entries.sort_unstable();
        self.intern(&entries, StateKind::Fresh, Guard::NONE)
    }
}
