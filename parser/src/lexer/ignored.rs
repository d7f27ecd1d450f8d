//! Ignored text that ends wherever it stands.
//!
//! It is taken as long as it goes on, so that it never ends where all that may follow begins with bytes that it goes on with
//! (`machine/stuck.rs` asks for that, place by place). In most grammars that cannot be: each lexeme can begin with a byte that
//! white space does not go on with, and a comment ends where a line does, which is white space.

use larkspur_grammar::ByteSet;
use rustc_hash::FxHashSet;

use super::states::{Lexer, Rest};
use crate::cfg::{LexemeId, Pattern};
use crate::error::Fault;
use crate::lexer::arena::Expr;

/// Derivatives of an ignored lexeme that are looked at at most; with more it is asked place by place.
const DERIVATIVES_MAX: usize = 64;

impl Lexer {
    /// Whether ignored text ends in every place. False if that is not plain to see. Cost: the first derivatives of all
    /// lexemes, the first time.
    pub(super) fn ignored_always_ends(&mut self) -> bool {
        if let Some(known) = self.ignored_always_ends {
            return known;
        }
        let found = self.sees_that_ignored_ends().unwrap_or(false);
        self.ignored_always_ends = Some(found);
        found
    }

    fn sees_that_ignored_ends(&mut self) -> Result<bool, Fault> {
        let cfg = self.cfg.clone();
        let competes = |&id: &LexemeId| cfg.lexemes[id].competes;
        if cfg.has_follows || cfg.has_behinds || cfg.has_traps || cfg.ignored.iter().flatten().any(competes) {
            return Ok(false);
        }
        let mut begins = Vec::with_capacity(cfg.lexemes.len());
        for id in cfg.lexemes.ids() {
            begins.push(self.after(id, self.whole(id))?.0);
        }
        // Whether what else there is begins otherwise.
        let lets_all_begin = |goes_on: &ByteSet| {
            cfg.lexemes.iter_enumerated().filter(|(_, lexeme)| lexeme.ignored_by.is_none()).all(|(id, lexeme)| {
                let own = &begins[id.0 as usize];
                let others = own.intersect(&goes_on.negate());
                if lexeme.recorded { others == *own } else { others != ByteSet::EMPTY }
            })
        };
        for (grammar, ignored) in cfg.ignored.iter_enumerated() {
            // What ignored text that ends begins with, which can follow other ignored text.
            let mut ending = ByteSet::EMPTY;
            let mut left: Vec<(LexemeId, ByteSet)> = Vec::new();
            for &id in ignored {
                let Some(goes_on) = self.bytes_that_go_on(id)? else { return Ok(false) };
                match lets_all_begin(&goes_on) {
                    true => ending = ending.union(&begins[id.0 as usize]),
                    false => left.push((id, goes_on)),
                }
            }
            if cfg.ignore_once[grammar] && !left.is_empty() {
                return Ok(false);
            }
            while !left.is_empty() {
                let before = left.len();
                left.retain(|(id, goes_on)| {
                    let does_end = ending.intersect(&goes_on.negate()) != ByteSet::EMPTY;
                    if does_end {
                        ending = ending.union(&begins[id.0 as usize]);
                    }
                    !does_end
                });
                if left.len() == before {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The bytes that a lexeme goes on with somewhere where it matches. `None` if it has too many states.
    fn bytes_that_go_on(&mut self, id: LexemeId) -> Result<Option<ByteSet>, Fault> {
        let mut bytes = ByteSet::EMPTY;
        let mut agenda = vec![self.whole(id)];
        let mut seen: FxHashSet<Rest> = agenda.iter().copied().collect();
        while let Some(rest) = agenda.pop() {
            let (goes_on, next) = self.after(id, rest)?;
            if self.matches(id, rest) {
                bytes = bytes.union(&goes_on);
            }
            agenda.extend(next.into_iter().filter(|&next| seen.insert(next)));
            if seen.len() > DERIVATIVES_MAX {
                return Ok(None);
            }
        }
        Ok(Some(bytes))
    }

    /// The bytes that this rest of a lexeme takes, and what they leave.
    fn after(&mut self, id: LexemeId, rest: Rest) -> Result<(ByteSet, Vec<Rest>), Fault> {
        let cfg = self.cfg.clone();
        let mut bytes = ByteSet::EMPTY;
        let pattern = &cfg.lexemes[id].pattern;
        if !matches!(pattern, Pattern::Regex(_)) {
            let next = pattern.literal_children(rest).inspect(|(byte, _)| bytes.insert(*byte));
            let next = next.map(|(_, next)| next).collect();
            return Ok((bytes, next));
        }
        let row = self.expr_row(self.parts(rest).0)?;
        (0..=255).filter(|&byte| row.next(byte) != Expr::NOTHING).for_each(|byte| bytes.insert(byte));
        let next = row.next.iter().filter(|&&next| next != Expr::NOTHING).map(|next| next.to_raw()).collect();
        Ok((bytes, next))
    }
}
