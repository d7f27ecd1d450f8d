//! Steps in `exact` mode.

use super::{Cursor, Machine, Thread};
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::rows::{ASK, REFUSED};
use crate::lexer::states::{DEAD, LexStateId, LexemeSetId, NO_LEXEMES};

impl Machine {
    /// A step of a single thread, which most often stays one; without lists.
    pub(super) fn step_exact_single(&mut self, thread: Thread, byte: u8) -> Result<Option<Cursor>, Fault> {
        if self.cfg.has_hidden || self.lexer.state(thread.lex).looks_ahead {
            return self.step_exact(vec![thread], byte);
        }
        self.asked.clear();
        let goes_on = self.goes_on_asked(thread, byte)?;
        let ends = self.ends_before(thread.lex, byte, goes_on)?;
        let mut begun = None;
        if ends != NO_LEXEMES && self.may_follow(thread, ends, byte)? {
            let (set, start) = self.end_plain(thread, ends)?;
            if goes_on == DEAD {
                self.asked.add(start);
                match self.lexer.quick(start, byte) {
                    REFUSED => return Ok(None),
                    ASK => {}
                    next => return Ok(Some(Cursor(self.thread(LexStateId(next), set)?))),
                }
            }
            let fresh = self.thread(start, set)?;
            let lex = self.goes_on_asked(fresh, byte)?;
            begun = (lex != DEAD).then(|| self.moved(fresh, lex));
        }
        let only = match (goes_on, begun) {
            (DEAD, None) => return Ok(None),
            (DEAD, Some(begun)) => begun,
            (_, None) => self.moved(thread, goes_on),
            (_, Some(begun)) => {
                let both = vec![self.moved(thread, goes_on), begun];
                return self.viable(both);
            }
        };
        let is_viable = !self.lexer.state(only.lex).may_be_stuck || self.leads_on(only)?;
        Ok(is_viable.then_some(Cursor(only)))
    }

    /// As [`Machine::goes_on`], and notes what was asked.
    fn goes_on_asked(&mut self, thread: Thread, byte: u8) -> Result<LexStateId, Fault> {
        self.asked.add(thread.lex);
        self.goes_on(thread, byte)
    }

    /// As [`Machine::begin_guarded`], and notes what was asked.
    fn begin_asked(&mut self, set: SetId, guard: Guard, byte: u8) -> Result<Thread, Fault> {
        let fresh = self.fresh_guarded(set, guard)?;
        let lex = self.goes_on_asked(fresh, byte)?;
        Ok(self.moved(fresh, lex))
    }

    /// Lexemes that end before a byte, after which the thread is in the state `next`.
    fn ends_before(&mut self, lex: LexStateId, byte: u8, next: LexStateId) -> Result<LexemeSetId, Fault> {
        if self.lexer.may_be_held(lex, next) {
            self.asked.add_more();
        }
        self.lexer.ends_before(lex, byte, next)
    }

    /// The place of those threads that lead somewhere.
    pub(super) fn viable(&mut self, threads: Vec<Thread>) -> Result<Option<Cursor>, Fault> {
        let mut viable = Vec::with_capacity(threads.len());
        for thread in threads {
            if !self.lexer.state(thread.lex).may_be_stuck || self.leads_on(thread)? {
                viable.push(thread);
            }
        }
        self.cursor(viable)
    }

    pub(super) fn step_exact(&mut self, threads: Vec<Thread>, byte: u8) -> Result<Option<Cursor>, Fault> {
        self.asked.clear();
        let mut next = Vec::with_capacity(threads.len() + 1);
        let mut agenda = threads;
        let mut times = 0;
        let mut reached = NO_SET;
        // The same where only certain texts may follow.
        let mut guarded: Vec<Guarded<SetId>> = Vec::new();
        while !agenda.is_empty() {
            let mut readers = Vec::new();
            for thread in agenda {
                let goes_on = self.goes_on_asked(thread, byte)?;
                if goes_on != DEAD {
                    next.push(self.moved(thread, goes_on));
                }
                let ends = self.ends_before(thread.lex, byte, goes_on)?;
                if ends == NO_LEXEMES || !self.may_follow(thread, ends, byte)? {
                    continue;
                }
                for &(guard, ends) in self.lexer.by_follow(thread.lex, ends)?.iter() {
                    let (reread, set) = self.end(thread, ends, times)?;
                    readers.extend(self.guard(reread, guard)?);
                    match guarded.iter_mut().find(|(other, _)| *other == guard) {
                        _ if guard == Guard::NONE => reached = self.sets.union(reached, set)?,
                        Some((_, all)) => *all = self.sets.union(*all, set)?,
                        None => guarded.push((guard, set)),
                    }
                }
            }
            agenda = self.next_readers(readers, next.len())?;
            times += 1;
        }
        if reached != NO_SET {
            let begun = self.begin_asked(reached, Guard::NONE, byte)?;
            if begun.lex != DEAD {
                next.push(begun);
            }
        }
        for (guard, set) in guarded {
            if set != NO_SET {
                next.extend(Some(self.begin_asked(set, guard, byte)?).filter(|begun| begun.lex != DEAD));
            }
        }
        self.viable(next)
    }
}
