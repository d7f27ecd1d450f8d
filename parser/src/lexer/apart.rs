//! `longest` mode: lexemes that do not get in each other's way.
//!
//! While some lexeme takes the next byte, none ends. But where no text of one lexeme is that of another or the beginning of one, all
//! others are over when one matches, and the state does what each of its lexemes does alone: a comma after an array's
//! element with the blanks around it, and the bracket that closes the array. And a lexeme of which no text is the
//! beginning of another one ends in `longest` mode where it ends in `exact` mode: a JSON string.

use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, Limits};
use rustc_hash::FxHashSet;

use super::arena::{Expr, ExprRow};
use super::split::Entry;
use super::states::{LexStateId, Lexer, Rest, StateKind};
use crate::cfg::{LexemeId, Pattern};

/// Regexes of a state that are compared with each other at most.
const REGEXES_MAX: usize = 16;

/// Bytes of literals that are read in regexes, for one state.
const LITERAL_BYTES_MAX: usize = 4_096;

/// Pairs of expressions that are looked at to compare two regexes. Blanks as JSON's separators have them take a hundred.
const PAIRS_MAX: usize = 512;

/// Expressions that are looked at to see whether a lexeme ends by itself.
const EXPRS_MAX: usize = 64;

/// What one such question may take, as [`Limits::lexer_work_max`] counts it: a millisecond. JSON's separators take a tenth.
const WORK_MAX: u64 = 50_000;

/// What a pair counts besides its rows, which may be known.
const PAIR_WORK: u64 = 32;

/// What all questions of a grammar may take to which the answer was no.
const VAIN_WORK_MAX: u64 = 500_000;

/// What one question has taken of [`WORK_MAX`], and the limits that it is asked within.
struct Budget {
    limits: Limits,
    work: u64,
}

impl Budget {
    fn has_some_left(&self) -> bool {
        self.work < self.limits.lexer_work_max
    }
}

/// What is left of a literal, all of which began where the regex did.
struct LiteralRest<'a> {
    whole: &'a [u8],
    read: usize,
}

impl LiteralRest<'_> {
    fn left(&self) -> &[u8] {
        &self.whole[self.read..]
    }
}

impl Lexer {
    /// Whether no text that is left of a lexeme in a state is one that is left of another, or the beginning of one. False also if
    /// that takes too long to see.
    pub(super) fn are_apart(&mut self, id: LexStateId) -> bool {
        if self.key(id).entries.len() < 2 {
            return true;
        }
        if let Some(&known) = self.apart.get(&id) {
            return known;
        }
        let are_apart = self.vain_work < VAIN_WORK_MAX && self.look_whether_apart(id);
        self.apart.insert(id, are_apart);
        are_apart
    }

    fn look_whether_apart(&mut self, id: LexStateId) -> bool {
        let key = self.states[id].key.clone();
        let cfg = self.cfg.clone();
        let (mut literals, mut regexes, mut many) = (Vec::new(), Vec::new(), Vec::new());
        for &(lexeme, rest) in &key.entries {
            if key.kind != StateKind::Fresh && self.matches(lexeme, rest) {
                return false;
            }
            match &cfg.lexemes[lexeme].pattern {
                Pattern::Regex(_) => regexes.push(((lexeme, rest), self.arena.first_bytes(self.parts(rest).0))),
                Pattern::Literal(whole) => literals.push(LiteralRest { whole, read: rest as usize }),
                literals => many.push(literals.literal_bytes(rest)),
            }
        }
        literals.sort_unstable_by(|a, b| a.left().cmp(b.left()));
        let is_prefix = literals.windows(2).any(|pair| pair[1].left().starts_with(pair[0].left()));
        // Many literals in one lexeme are not compared byte by byte.
        let meets_many = |first: &ByteSet| many.iter().any(|bytes| !bytes.intersect(first).is_empty());
        if is_prefix
            || regexes.len() > REGEXES_MAX
            || many.len() > 1
            || literals.iter().any(|literal| many.iter().any(|bytes| bytes.contains(literal.left()[0])))
            || regexes.iter().any(|(_, first)| meets_many(first))
        {
            return false;
        }
        let (mut bytes, mut budget) = (0, self.budget());
        let mut are_apart = true;
        for (index, &(entry, first)) in regexes.iter().enumerate() {
            let mut others = regexes[index + 1..].iter().filter(|(_, others)| !first.intersect(others).is_empty());
            let mut literals = literals.iter().filter(|literal| first.contains(literal.left()[0]));
            are_apart = are_apart
                && others.all(|(other, _)| self.are_regexes_apart(entry.1, other.1, &mut budget))
                && literals.all(|literal| {
                    bytes += literal.left().len();
                    bytes <= LITERAL_BYTES_MAX && self.is_literal_apart(literal, entry, &mut budget)
                });
        }
        self.work += budget.work;
        if !are_apart {
            self.vain_work += budget.work;
        }
        are_apart
    }

    fn budget(&self) -> Budget {
        let work_max = WORK_MAX.min(self.limits.lexer_work_max / 4);
        Budget { limits: Limits { lexer_work_max: work_max, ..self.limits.clone() }, work: 0 }
    }

    /// All derivatives of an expression, if that is within a budget.
    fn row_within(&mut self, expr: Expr, budget: &mut Budget) -> Option<Arc<ExprRow>> {
        if !budget.has_some_left() {
            return None;
        }
        if let Some(row) = self.expr_rows.get(&expr) {
            return Some(row.clone());
        }
        let row = self.arena.row(expr, &mut budget.work, &budget.limits).ok()?;
        self.expr_rows.insert(expr, row.clone());
        Some(row)
    }

    /// Whether a regex matches no beginning of a literal, and not the literal or something longer, but for texts that it leaves
    /// out.
    fn is_literal_apart(&mut self, literal: &LiteralRest, (lexeme, rest): Entry, budget: &mut Budget) -> bool {
        let mut expr = self.parts(rest).0;
        for &byte in literal.left() {
            // The literal goes on.
            if self.is_nullable(expr) {
                return false;
            }
            let next = match self.expr_rows.get(&expr) {
                Some(row) => Ok(row.next(byte)),
                None => self.arena.step(expr, byte, &mut budget.work, &budget.limits),
            };
            match next {
                Ok(Expr::NOTHING) => return true,
                Ok(next) => expr = next,
                Err(_) => return false,
            }
        }
        expr == Expr::EPSILON && self.leaves_out(lexeme, literal.whole)
    }

    fn are_regexes_apart(&mut self, a: Rest, b: Rest, budget: &mut Budget) -> bool {
        let (a, b) = (self.parts(a).0, self.parts(b).0);
        let pair = (a.min(b), a.max(b));
        if let Some(known) = self.arena.apart(pair) {
            return known;
        }
        let mut seen: FxHashSet<(Expr, Expr)> = FxHashSet::from_iter([pair]);
        let mut agenda = vec![pair];
        let mut are_apart = true;
        while let Some((a, b)) = agenda.pop() {
            if self.is_nullable(a) || self.is_nullable(b) || seen.len() > PAIRS_MAX {
                are_apart = false;
                break;
            }
            budget.work += PAIR_WORK;
            let (Some(row), Some(other)) = (self.row_within(a, budget), self.row_within(b, budget)) else {
                are_apart = false;
                break;
            };
            let mut last = (Expr::NOTHING, Expr::NOTHING);
            for byte in 0..=255 {
                let next = (row.next(byte), other.next(byte));
                if next != last && next.0 != Expr::NOTHING && next.1 != Expr::NOTHING && seen.insert(next) {
                    agenda.push(next);
                }
                last = next;
            }
        }
        // With more left of the budget the answer may be another one.
        if budget.has_some_left() {
            self.arena.set_apart(pair, are_apart);
        }
        are_apart
    }

    /// Whether no text of an expression is the beginning of another one. False also if that takes too long to see.
    pub fn ends_itself(&mut self, expr: Expr) -> bool {
        if let Some(known) = self.arena.ends_itself(expr) {
            return known;
        }
        // It is so as well in a larger language, mostly that of all strings.
        let wider = self.arena.bounded(expr).first().map_or(expr, |bounded| bounded.unbounded);
        let wider = self.arena.relaxed(wider);
        let mut seen: FxHashSet<Expr> = FxHashSet::from_iter([wider]);
        let mut agenda = vec![wider];
        let (mut ends_itself, mut budget) = (true, self.budget());
        while let Some(expr) = agenda.pop() {
            let row = self.row_within(expr, &mut budget);
            let goes_on = |row: &ExprRow| row.next.iter().any(|&next| next != Expr::NOTHING);
            let Some(row) = row.filter(|row| !self.is_nullable(expr) || !goes_on(row)) else {
                ends_itself = false;
                break;
            };
            agenda.extend(row.next.iter().copied().filter(|&next| next != Expr::NOTHING && seen.insert(next)));
            ends_itself = seen.len() <= EXPRS_MAX;
            if !ends_itself {
                break;
            }
        }
        self.work += budget.work;
        self.arena.set_ends_itself(expr, ends_itself);
        ends_itself
    }

    /// Notes lexemes that end in a state where they, or others, may go on over a part of a character.
    pub(super) fn note_cuts(&mut self, id: LexStateId) {
        self.may_be_cut.resize(self.cfg.lexemes.len(), false);
        for &lexeme in &self.lexeme_sets[self.states[id].ends] {
            self.may_be_cut[lexeme.index()] = true;
        }
    }

    /// Whether a lexeme was seen to end where characters count, which depends on what the grammar may have next.
    pub fn may_be_cut(&self, lexeme: LexemeId) -> bool {
        self.may_be_cut.get(lexeme.index()).is_some_and(|&may_be| may_be)
    }
}
