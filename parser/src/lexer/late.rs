//! Recorded lexemes whose exceptions are looked at *late*: when their text is whole.
//!
//! Until then exceptions need not count if they cannot use up what a text that has begun may become: endlessly many texts
//! begin with it. And if no text that the lexeme matches is the beginning of another one, nothing is left but to end when
//! it is whole. JSON strings are such: all sets of names that an object has share the lexer states of one string.

use larkspur_grammar::index::Id;
use rustc_hash::FxHashMap;

use super::arena::Expr;
use super::states::{LexStateId, Lexer};
use crate::cfg::{LexemeId, Pattern};

/// Derivatives of a lexeme that are looked at, some milliseconds' worth; with more it counts as not late, which costs
/// lexer states for each exception.
const LATE_EXPRS_MAX: usize = 4_096;

impl Lexer {
    /// Whether the exceptions of a recorded lexeme are looked at late.
    pub fn is_late(&mut self, lexeme: LexemeId) -> bool {
        if let Some(&Some(known)) = self.late.get(lexeme.index()) {
            return known;
        }
        let is_regex = matches!(self.cfg.lexemes[lexeme].pattern, Pattern::Regex(_));
        let is_late = is_regex && self.is_endless_until_whole(Expr::from_raw(self.whole(lexeme)));
        self.late.resize(self.cfg.lexemes.len(), None);
        self.late[lexeme.index()] = Some(is_late);
        is_late
    }

    /// Lexemes with late exceptions that match in a state.
    pub fn late_lexemes(&self, id: LexStateId) -> Vec<LexemeId> {
        let matched = self.lexemes(self.state(id).matched);
        matched.iter().copied().filter(|lexeme| self.late.get(lexeme.index()) == Some(&Some(true))).collect()
    }

    /// Whether each text is the beginning of none that the expression matches, of endlessly many, or the only one.
    /// False if that takes too long to see or meets a limit.
    fn is_endless_until_whole(&mut self, whole: Expr) -> bool {
        let mut numbers: FxHashMap<Expr, usize> = FxHashMap::from_iter([(whole, 0)]);
        let mut exprs = vec![whole];
        let mut is_whole = Vec::new();
        let mut before: Vec<Vec<usize>> = vec![Vec::new()];
        // Derivatives of each that are not known to be finite.
        let mut open: Vec<usize> = Vec::new();
        while let Some(&expr) = exprs.get(open.len()) {
            let number = open.len();
            let Ok(row) = self.expr_row(expr) else { return false };
            let mut next: Vec<Expr> = row.next.iter().copied().filter(|&next| next != Expr::NOTHING).collect();
            next.sort_unstable();
            next.dedup();
            is_whole.push(self.is_nullable(expr));
            if is_whole[number] && !next.is_empty() {
                return false;
            }
            open.push(next.len());
            for expr in next {
                let other = *numbers.entry(expr).or_insert(exprs.len());
                if other == exprs.len() {
                    exprs.push(expr);
                    before.push(Vec::new());
                }
                before[other].push(number);
            }
            if exprs.len() > LATE_EXPRS_MAX {
                return false;
            }
        }
        // What leads only to finite ones is finite; what stays leads into a circle.
        let mut agenda: Vec<usize> = (0..exprs.len()).filter(|&number| open[number] == 0).collect();
        while let Some(finite) = agenda.pop() {
            if !is_whole[finite] {
                return false;
            }
            for &number in &before[finite] {
                open[number] -= 1;
                if open[number] == 0 {
                    agenda.push(number);
                }
            }
        }
        true
    }
}
