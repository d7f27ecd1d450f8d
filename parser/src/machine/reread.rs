//! Reading the text of a `stop` again behind the lexeme that it has ended.

use super::{Cursor, Machine, Thread};
use crate::cfg::LexemeId;
use crate::earley::sets::{NO_SET, SetId};
use crate::error::Fault;
use crate::lexer::guards::Guard;
use crate::lexer::states::LexemeSetId;

/// How often the text of a `stop` may be read again within one byte.
pub(crate) const REREAD_DEPTH_MAX: u32 = 16;

/// A text of a `stop` that was to be read again: within how many others, in which token, by which set, with what look-around
/// knew before it, and whose it is.
pub(super) type Rereading = (u32, u32, SetId, Guard, LexemeId);

/// How many of them are remembered; then all are forgotten.
const REREADINGS_MAX: usize = 1 << 14;

impl Machine {
    /// Whether the text of a `stop` among lexemes that end may be read again.
    pub fn may_read_again(&self, ends: LexemeSetId) -> bool {
        self.cfg.has_hidden && self.lexer.lexemes(ends).iter().any(|&id| self.cfg.lexemes[id].may_read_again())
    }

    /// Ends lexemes of a thread, which is there since texts were read again `times` within this byte: threads that have
    /// read the text of a `stop` again, and the set that the others lead to.
    pub(super) fn end(&mut self, thread: Thread, ends: LexemeSetId, times: u32) -> Result<(Vec<Thread>, SetId), Fault> {
        if !self.cfg.has_hidden {
            return Ok((Vec::new(), self.scan(thread, ends)?));
        }
        let (stops, plain): (Vec<LexemeId>, Vec<LexemeId>) =
            self.lexer.lexemes(ends).iter().partition(|&&id| self.cfg.lexemes[id].may_read_again());
        let mut reached = NO_SET;
        if !plain.is_empty() {
            let plain = self.lexer.lexeme_set(&plain);
            reached = self.scan(thread, plain)?;
        }
        let mut reread = Vec::new();
        for stop in stops {
            let alone = self.lexer.lexeme_set(&[stop]);
            let after = self.scan(thread, alone)?;
            let guard = Guard::after(self.lexer.guard(thread.lex).past);
            match self.reread(after, guard, stop, times)? {
                Some(cursor) => reread.extend(self.threads(cursor).iter().copied()),
                None => reached = self.sets.union(reached, after)?,
            }
        }
        Ok((reread, reached))
    }

    /// The place after the text of a `stop` if `set` forces it: each byte is the only letter that can follow. `times` texts
    /// were read again within this byte before. Look-behinds see the text as it is read, twice.
    pub fn reread(&mut self, set: SetId, guard: Guard, stop: LexemeId, times: u32) -> Result<Option<Cursor>, Fault> {
        let outer = self.reread_depth;
        let depth = outer + times;
        let cfg = self.cfg.clone();
        let text = cfg.lexemes[stop].tail.as_ref().and_then(|tail| tail.literal.as_deref());
        let Some(text) = text.filter(|_| depth < REREAD_DEPTH_MAX) else { return Ok(None) };
        let rereading = (depth, self.sets.token_now, set, guard, stop);
        if let Some(&known) = self.rereadings.get(&rereading) {
            return Ok(known);
        }
        self.reread_depth = depth + 1;
        // What is remembered of it is for all.
        let looks_ahead = std::mem::take(&mut self.sets.ahead.is_on);
        let here = self.tape.end();
        self.tape.truncate(here.saturating_sub(text.len()));
        let began = self.tape.end();
        let result = self.reread_inner(set, guard, text);
        self.tape.truncate(began);
        self.tape.extend(text);
        self.sets.ahead.is_on = looks_ahead;
        self.reread_depth = outer;
        let result = result?;
        // Where texts are recorded, where they begin counts too.
        if !self.tape.is_on() {
            if self.rereadings.len() >= REREADINGS_MAX {
                self.rereadings.clear();
            }
            self.rereadings.insert(rereading, result);
        }
        Ok(result)
    }

    /// Threads that have read texts again, which are looked at next. There are `before` others.
    pub(super) fn next_readers(&self, mut threads: Vec<Thread>, before: usize) -> Result<Vec<Thread>, Fault> {
        threads.sort_unstable();
        threads.dedup();
        if !threads.is_empty() && before + threads.len() > self.limits.threads_max {
            return Err(Fault::exceeded("threads_max", self.limits.threads_max as u64));
        }
        Ok(threads)
    }

    pub(super) fn reread_inner(&mut self, set: SetId, guard: Guard, text: &[u8]) -> Result<Option<Cursor>, Fault> {
        let mut cursor = Cursor(self.fresh_guarded(set, guard)?);
        for &byte in text {
            if self.forced_byte(cursor)? != Some(byte) {
                return Ok(None);
            }
            cursor = self.step(cursor, byte)?.expect("a forced byte can follow");
            self.tape.push(byte);
        }
        Ok(Some(cursor))
    }
}
