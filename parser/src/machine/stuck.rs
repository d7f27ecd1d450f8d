//! `exact` mode: whether what has begun can lead to something.
//!
//! Ignored text is taken whole: it ends only before a byte that does not go on with it. If all that may follow begins
//! with bytes that do go on, it can never end, and a token must not lead into it. Likewise a lexeme whose look-ahead sees
//! beyond it: what may follow in the grammar may never be what it wants. Where something else is live besides, the way out
//! is known: what the grammar needs can follow that, unless look-behinds say where that may begin; then there must be a way to
//! the next lexeme. In grammars with [traps](super::ways) all that begins must lead to the end of the text.

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::{Machine, Thread};
use crate::cfg::LexemeId;
use crate::error::Fault;
use crate::lexer::states::{DEAD, NO_LEXEMES};

/// New items of sets that take as long as a place: where rules nest, each place may have larger sets than the one before.
const ITEMS_PER_PLACE: usize = 64;

impl Machine {
    /// Whether a thread that may be stuck leads to one that may not, or to the text's end.
    ///
    /// Errors: `ignored_places_max`, which any sensible `%ignore` and look-ahead is far from.
    pub fn leads_on(&mut self, thread: Thread) -> Result<bool, Fault> {
        if let Some(&known) = self.leads_on.get(&thread) {
            return Ok(known);
        }
        if self.cfg.has_traps {
            let found = self.leads_to_an_end(thread)?;
            self.leads_on.insert(thread, found);
            return Ok(found);
        }
        let mut visited: FxHashSet<Thread> = FxHashSet::default();
        let mut agenda = VecDeque::from([thread]);
        if self.cfg.has_behinds && self.leads_to_anywhere(thread)? {
            self.leads_on.insert(thread, true);
            return Ok(true);
        }
        let items_before = self.sets.item_count();
        let mut found = false;
        while let Some(at) = agenda.pop_front() {
            if !visited.insert(at) {
                continue;
            }
            let items = self.sets.item_count() - items_before;
            if visited.len() + items / ITEMS_PER_PLACE > self.limits.ignored_places_max {
                return Err(Fault::exceeded("ignored_places_max", self.limits.ignored_places_max as u64));
            }
            if self.leads_on_at(at, &mut agenda)? {
                found = true;
                break;
            }
        }
        self.leads_on.insert(thread, found);
        Ok(found)
    }

    /// Whether behind a lexeme that is not bound another one may stand that begins anywhere, or a token letter, or nothing.
    /// Spares a search through the lexeme's texts.
    fn leads_to_anywhere(&mut self, thread: Thread) -> Result<bool, Fault> {
        if self.lexer.state(thread.lex).is_bound {
            return Ok(false);
        }
        let cfg = self.cfg.clone();
        let is_free = |lexeme: LexemeId| {
            let lexeme = &cfg.lexemes[lexeme];
            lexeme.ignored_by.is_none() && lexeme.follow.is_none()
        };
        let live: Vec<LexemeId> = self.lexer.live_lexemes(thread.lex).filter(|&lexeme| is_free(lexeme)).collect();
        for lexeme in live {
            let ends = self.lexer.lexeme_set(&[lexeme]);
            let set = self.scan(thread, ends)?;
            let closure = self.sets.closure(set, &mut self.lexer)?;
            let begins_anywhere = |lexeme: LexemeId| is_free(lexeme) && cfg.lexemes[lexeme].behind.is_none();
            if closure.accepts
                || !closure.token_scans.is_empty()
                || self.lexer.live_lexemes(closure.start).any(begins_anywhere)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the thread ends right here or leads to one that is not stuck; otherwise adds where it can go.
    fn leads_on_at(&mut self, at: Thread, agenda: &mut VecDeque<Thread>) -> Result<bool, Fault> {
        let ends = self.lexer.state(at.lex).ends;
        for &(guard, ends) in self.lexer.by_follow(at.lex, ends)?.iter() {
            if ends == NO_LEXEMES || !self.may_end(guard) {
                continue;
            }
            let set = self.scan(at, ends)?;
            let closure = self.sets.closure(set, &mut self.lexer)?;
            if closure.accepts || !closure.token_scans.is_empty() {
                return Ok(true);
            }
        }
        for byte in 0..=255u8 {
            let goes_on = self.lexer.next(at.lex, byte)?;
            if goes_on != DEAD {
                if !self.lexer.state(goes_on).may_be_stuck {
                    return Ok(true);
                }
                agenda.push_back(self.moved(at, goes_on));
            }
            let ends = self.lexer.ends_before(at.lex, byte, goes_on)?;
            if ends == NO_LEXEMES {
                continue;
            }
            for &(guard, ends) in self.lexer.by_follow(at.lex, ends)?.iter() {
                let set = self.scan(at, ends)?;
                let closure = self.sets.closure(set, &mut self.lexer)?;
                // Without ignored text first: it is most often enough, and fewer states.
                let start = self.lexer.guarded(closure.start_unignored, guard)?;
                let lex = self.lexer.next(start, byte)?;
                if lex != DEAD && !self.lexer.state(lex).is_bound {
                    return Ok(true);
                }
                let start = self.lexer.guarded(closure.start, guard)?;
                let lex = self.lexer.next(start, byte)?;
                if lex != DEAD && !self.lexer.state(lex).is_bound {
                    return Ok(true);
                }
                if lex != DEAD {
                    agenda.push_back(Thread { lex, set, began: 0 });
                }
            }
        }
        Ok(false)
    }
}
