//! Recorded lexemes whose exceptions are looked at *late*: when their text is whole.
//!
//! Until then exceptions need not count if they cannot use up what a text that has begun may become: endlessly many texts
//! begin with it. And if no text that the lexeme matches is the beginning of another one, nothing is left but to end when
//! it is whole. JSON strings are such: all sets of names that an object has share the lexer states of one string.

use larkspur_grammar::index::Id;
use rustc_hash::FxHashMap;

use super::arena::Expr;
use super::states::{LeftOutTexts, LexStateId, Lexer, lower_but_for};
use crate::cfg::LexemeId;
use crate::error::Fault;

/// Derivatives of a lexeme that are looked at at most, some milliseconds' worth; with more it counts as not late, which costs
/// lexer states for each exception.
const LATE_EXPRS_MAX: usize = 4_096;

impl Lexer {
    /// Whether the exceptions of a recorded lexeme are looked at late.
    pub fn is_late(&mut self, lexeme: LexemeId) -> bool {
        if let Some(&Some(known)) = self.late.get(lexeme.index()) {
            return known;
        }
        let is_regex = self.cfg.lexemes[lexeme].pattern.is_regex();
        let is_late = is_regex && {
            // Finitely many texts more or less change nothing, so that all objects share one answer, whatever they list.
            let whole = self.arena().but_for_finitely_many(Expr::from_raw(self.whole(lexeme)));
            self.may_wait(whole)
        };
        self.late.resize(self.cfg.lexemes.len(), None);
        self.late[lexeme.index()] = Some(is_late);
        is_late
    }

    /// Whether exceptions may wait in this language.
    fn may_wait(&mut self, whole: Expr) -> bool {
        if let Some(known) = self.arena().late(whole) {
            return known;
        }
        // That endlessly many texts are left shows of most patterns as they stand; that none is the beginning of another one is
        // so as well in a larger language, mostly that of all strings. It stands within fewer intersections, of which a source
        // can nest some hundred.
        let relaxed = self.arena().relaxed_if_pumped(whole);
        let may_wait = relaxed.is_some_and(|relaxed| self.may_wait(relaxed)) || self.is_endless_until_whole(whole);
        // Where the question's work was used up, another grammar may find it out.
        if self.work < self.limits.lexer_work_max {
            self.arena().set_late(whole, may_wait);
        }
        may_wait
    }

    /// Takes from lexemes the texts that they leave out wherever they stand, if these may be looked at late: what is left is
    /// the same in many grammars.
    pub(super) fn leave_out(&mut self) -> Result<(), Fault> {
        let cfg = self.cfg.clone();
        for (lexeme, pattern) in lower_but_for(&cfg, self.arena())? {
            let own = std::mem::replace(&mut self.initial[lexeme], pattern.to_raw());
            if self.is_late(lexeme) {
                let but_for = cfg.lexemes[lexeme].but_for.as_ref().expect("it was lowered");
                self.left_out.insert(lexeme, but_for.texts.clone());
            } else {
                self.initial[lexeme] = own;
                self.late[lexeme.index()] = None;
            }
        }
        Ok(())
    }

    /// Texts that a late lexeme leaves out wherever it stands, if there are any.
    pub fn left_out(&self, lexeme: LexemeId) -> Option<&LeftOutTexts> {
        self.left_out.get(&lexeme)
    }

    /// Whether a text is one of those.
    pub fn leaves_out(&self, lexeme: LexemeId, text: &[u8]) -> bool {
        self.left_out(lexeme).is_some_and(|texts| texts.binary_search_by(|other| (**other).cmp(text)).is_ok())
    }

    /// Whether it is known that the exceptions of a lexeme are looked at late.
    pub fn is_known_late(&self, lexeme: LexemeId) -> bool {
        self.late.get(lexeme.index()) == Some(&Some(true))
    }

    /// Lexemes with late exceptions that match in a state.
    pub fn late_lexemes(&self, id: LexStateId) -> Vec<LexemeId> {
        let matched = self.lexemes(self.state(id).matched);
        matched.iter().copied().filter(|&lexeme| self.is_known_late(lexeme)).collect()
    }

    /// Whether each text is the beginning of none that the expression matches, of endlessly many, or the only one.
    /// False if that takes too long to see or meets a limit. Depth first, so that most finite languages show at once.
    fn is_endless_until_whole(&mut self, whole: Expr) -> bool {
        // Whether endlessly many texts are left; `None` while that is being found out, and then they are: it is a circle.
        let mut is_endless: FxHashMap<Expr, Option<bool>> = FxHashMap::default();
        let mut path: Vec<Step> = Vec::new();
        let mut next = Some(whole);
        loop {
            if let Some(expr) = next.take() {
                let Ok(row) = self.expr_row(expr) else { return false };
                let left: Vec<Expr> = row.next.iter().copied().filter(|&next| next != Expr::NOTHING).collect();
                let is_whole = self.is_nullable(expr);
                if is_whole && !left.is_empty() || is_endless.len() >= LATE_EXPRS_MAX {
                    return false;
                }
                is_endless.insert(expr, None);
                path.push(Step { expr, is_whole, left, is_endless: false });
            }
            let Some(step) = path.last_mut() else { return true };
            if let Some(expr) = step.left.pop() {
                match is_endless.get(&expr) {
                    Some(known) => step.is_endless |= known.unwrap_or(true),
                    None => next = Some(expr),
                }
                continue;
            }
            let done = path.pop().expect("a step");
            if !done.is_endless && !done.is_whole {
                return false;
            }
            is_endless.insert(done.expr, Some(done.is_endless));
            if let Some(before) = path.last_mut() {
                before.is_endless |= done.is_endless;
            }
        }
    }
}

/// An expression that is being looked at.
struct Step {
    expr: Expr,
    is_whole: bool,
    /// Derivatives that are still to be looked at.
    left: Vec<Expr>,
    /// One that was leads into a circle.
    is_endless: bool,
}
