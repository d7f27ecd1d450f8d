//! `longest` mode: lexemes of a character or so, of which a token holds many: `char*` with `char: /[^"\\]/ | "\\" /["\\bfnrt]/`.
//!
//! Where such lexemes lead to a set from which they lead back to it, any number of them is as one. A term of all of them takes slices
//! as a whole, where each by itself ends at each of its characters, and so does what is left of tokens behind each end: twenty
//! terms of the whole trie. Only texts count with whose first bytes no other lexeme begins: of `/[^"]/ | "\"\""` all but quotes. Since
//! none is the beginning of another, it does not matter where in the text they end.

use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, LexerMode};

use super::arena::Expr;
use super::guards::Guard;
use super::split::{Entries, Entry};
use super::states::{LexStateId, Lexer, StateKind};
use crate::cfg::{Lexeme, LexemeId};
use crate::error::Fault;

/// Bytes of such a lexeme at most: a character, or one of JSON's with its escape.
const BYTES_MAX: u32 = 12;

/// Of lexemes that are worth it some begin with so many bytes: what digits, letters and characters are, and operators are not, of which
/// a token holds few.
const FIRST_BYTES_MIN: u32 = 8;

/// A lexeme that may be repeated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Repeatable {
    pub lexeme: LexemeId,
    /// Its texts with whose first bytes no other lexeme begins, and the others.
    own: Expr,
    others: Expr,
}

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
        let mut are_short = short.iter().enumerate().filter(|&(_, is_short)| *is_short);
        let is_wide = |id: LexemeId| self.first_of(&(id, self.whole(id))).len() >= FIRST_BYTES_MIN;
        if are_short.any(|(index, _)| is_wide(LexemeId::from_index(index))) {
            self.short = short;
        }
    }

    /// Whether lexemes may start in a state of which several may be as one.
    #[inline]
    pub fn may_repeat(&self, id: LexStateId) -> bool {
        !self.short.is_empty() && self.state(id).kind == StateKind::Fresh
    }

    /// Of the lexemes that start in a state those that may be repeated, as far as that is seen without the sets that they lead to: those
    /// of their texts with whose first bytes no other lexeme begins.
    ///
    /// Errors: as of [`Arena::both`](super::arena::Arena::both).
    pub fn repeatable(&mut self, id: LexStateId) -> Result<Vec<Repeatable>, Fault> {
        let entries = self.key(id).entries.clone();
        if self.key(id).guard != Guard::NONE || !entries.iter().any(|entry| self.short[entry.0.index()]) {
            return Ok(Vec::new());
        }
        let first: Vec<ByteSet> = entries.iter().map(|entry| self.first_of(entry)).collect();
        let (mut once, mut twice) = (ByteSet::EMPTY, ByteSet::EMPTY);
        for bytes in &first {
            twice = twice.union(&once.intersect(bytes));
            once = once.union(bytes);
        }
        let is_wide = |(entry, first): (&Entry, &ByteSet)| {
            self.short[entry.0.index()] && first.intersect(&twice.negate()).len() >= FIRST_BYTES_MIN
        };
        if !entries.iter().zip(&first).any(is_wide) {
            return Ok(Vec::new());
        }
        let mut repeatable = Vec::new();
        for (&(lexeme, rest), first) in entries.iter().zip(&first) {
            let own = first.intersect(&twice.negate());
            let is_whole = self.short[lexeme.index()] && rest == self.whole(lexeme) && !own.is_empty();
            let Some(expr) = self.plain(rest).filter(|_| is_whole) else { continue };
            if !self.ends_itself(expr) {
                continue;
            }
            let (arena, limits) = (self.arena.clone(), &self.limits);
            let (own, others) = match own == *first {
                true => (expr, Expr::NOTHING),
                false => (arena.beginning_with(expr, own, limits)?, arena.beginning_with(expr, own.negate(), limits)?),
            };
            if own != Expr::NOTHING {
                repeatable.push(Repeatable { lexeme, own, others });
            }
        }
        Ok(repeatable)
    }

    /// The state in which the first of some lexemes stands for each of them, with any number of others behind it.
    ///
    /// Errors: as of [`intern`](Self::intern); `expressions_max`.
    pub fn with_repeated(
        &mut self,
        id: LexStateId,
        lexemes: &[Repeatable],
        others: &[Repeatable],
    ) -> Result<LexStateId, Fault> {
        let own = |lexemes: &[Repeatable]| lexemes.iter().map(|lexeme| lexeme.own).collect();
        let repeated = self.arena.before_some(own(lexemes), own(others))?;
        let is_other = |entry: &Entry| !lexemes.iter().any(|lexeme| lexeme.lexeme == entry.0);
        let mut entries: Entries = self.key(id).entries.iter().copied().filter(is_other).collect();
        let left = lexemes.iter().filter(|lexeme| lexeme.others != Expr::NOTHING);
        entries.extend(left.map(|lexeme| (lexeme.lexeme, lexeme.others.to_raw())));
        entries.push((lexemes[0].lexeme, repeated.to_raw()));
        entries.sort_unstable();
        self.intern(&entries, StateKind::Fresh, Guard::NONE)
    }
}
