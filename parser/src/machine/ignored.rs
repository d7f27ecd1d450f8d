//! `exact` mode: whether ignored text that has begun can end.
//!
//! Ignored text is taken whole: it ends only before a byte that does not go on with it. If all that may follow begins
//! with bytes that do go on, it can never end, and a token must not lead into it.

use rustc_hash::FxHashSet;

use super::{Machine, Thread};
use crate::error::Fault;
use crate::lexer::states::{DEAD, NO_LEXEMES};

impl Machine {
    /// Whether a thread in which only ignored text is live leads to something else.
    ///
    /// Errors: `ignored_places_max`, which any sensible `%ignore` is far from.
    pub fn ignored_can_end(&mut self, thread: Thread) -> Result<bool, Fault> {
        if let Some(&known) = self.ignored_can_end.get(&thread) {
            return Ok(known);
        }
        let mut visited: FxHashSet<Thread> = FxHashSet::default();
        let mut agenda = vec![thread];
        let mut found = false;
        while let Some(at) = agenda.pop() {
            if !visited.insert(at) {
                continue;
            }
            if visited.len() > self.limits.ignored_places_max {
                return Err(Fault::exceeded("ignored_places_max", self.limits.ignored_places_max as u64));
            }
            if self.can_end_at(at, &mut agenda)? {
                found = true;
                break;
            }
        }
        self.ignored_can_end.insert(thread, found);
        Ok(found)
    }

    /// Whether the ignored text can end right here; otherwise adds where it can go.
    fn can_end_at(&mut self, at: Thread, agenda: &mut Vec<Thread>) -> Result<bool, Fault> {
        let ends = self.lexer.state(at.lex).ends;
        if ends != NO_LEXEMES {
            let set = self.scan(at, ends)?;
            let closure = self.sets.closure(set, &mut self.lexer)?;
            if closure.accepts || !closure.token_scans.is_empty() {
                return Ok(true);
            }
        }
        for byte in 0..=255u8 {
            let goes_on = self.lexer.next(at.lex, byte)?;
            if goes_on != DEAD {
                agenda.push(self.moved(at, goes_on));
            }
            let ends = self.lexer.ends_before(at.lex, byte, goes_on)?;
            if ends == NO_LEXEMES {
                continue;
            }
            let set = self.scan(at, ends)?;
            let closure = self.sets.closure(set, &mut self.lexer)?;
            if self.lexer.next(closure.start_unignored, byte)? != DEAD {
                return Ok(true);
            }
            let lex = self.lexer.next(closure.start, byte)?;
            if lex != DEAD && !self.lexer.state(lex).only_ignored {
                return Ok(true);
            }
            if lex != DEAD {
                // Nothing but ignored text: no text is recorded.
                agenda.push(Thread { lex, set, began: 0 });
            }
        }
        Ok(false)
    }
}
