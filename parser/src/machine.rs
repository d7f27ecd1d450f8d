//! The recogniser: from a place in the text to the next, letter by letter, in both lexer modes.
//!
//! A place is a [`Cursor`]: one thread, or an interned list of threads. A thread is a lexer state and the Earley set in
//! which its lexemes began. Where threads of one lexer state meet, their sets are united: the union of two sets expects
//! and leads to what the two do, so one set per thread is enough and no bundles are needed.
//! That a lexeme ends is decided at the letter after it, so that in `exact` mode a thread is split only where a lexeme
//! can both go on and be followed by that very byte; for JSON that is nowhere. Where grammars of both modes stand in each
//! other it is `exact` mode in which the lexemes of the others compete.
//! The definitions are those of `docs/semantics.md`.

mod budget;
mod lists;
mod stuck;
pub(crate) mod tail;
mod tape;
pub(crate) mod ways;

use std::ops::Deref;
use std::sync::Arc;

use larkspur_grammar::{ByteSet, IndexVec, LexerMode, Limits};
use rustc_hash::FxHashMap;

use crate::cfg::{Cfg, LexemeId, TokenLetterId};
use crate::earley::sets::{NO_SET, SetId, Sets};
use crate::error::Fault;
use crate::lexer::arena::{Arena, Expr};
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::rows::{ASK, REFUSED};
use crate::lexer::states::{DEAD, LexStateId, LexemeSetId, Lexer, NO_LEXEMES, StateKind};
use lists::Lists;
pub(crate) use tape::Tape;
use ways::Ways;

/// A thread: where its lexemes are, and where they began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Thread {
    pub lex: LexStateId,
    pub set: SetId,
    /// Where its lexemes began in the text, if one of them is recorded; otherwise 0.
    pub began: u32,
}

/// A place in the text: a thread, or a list of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Cursor(Thread);

/// A [`Cursor`] as a word, without where its lexemes began: the lexer state, then the set. The walk over the trie keeps one
/// for each byte, and three numbers side by side went through memory: a load that spans two stores waits for both, which
/// made 38 ns a node of 10.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word(u64);

impl Cursor {
    pub fn word(self) -> Word {
        Word(u64::from(self.0.set.0) << 32 | u64::from(self.0.lex.0))
    }
    /// The place as a number, without where its lexemes began.
    pub fn key(self) -> u64 {
        self.word().0
    }
    /// The place without where its lexemes began, of a single thread.
    pub fn without_text(self) -> Cursor {
        Cursor(Thread { began: 0, ..self.0 })
    }
    /// Whether both are places of one thread, within the same lexemes.
    pub fn is_in_set_of(self, other: Cursor) -> bool {
        self.0.lex != LIST && other.0.lex != LIST && self.0.set == other.0.set
    }
    /// Where its lexemes began, if one is recorded; otherwise 0.
    pub fn began(self) -> u32 {
        self.0.began
    }
    pub fn from_word(Word(word): Word, began: u32) -> Self {
        Cursor(Thread { lex: LexStateId(word as u32), set: SetId((word >> 32) as u32), began })
    }
}

/// In place of a lexer state: the cursor is a list, its number stands in place of the set.
const LIST: LexStateId = LexStateId(u32::MAX);

/// The threads of a place with the text of their recorded lexemes.
pub(crate) type Contents = Box<[(LexStateId, SetId, Box<[u8]>)]>;

/// A step that may take no more than a look-up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Quick {
    To(Word),
    Refused,
    /// It takes more: [`Machine::step_slow`].
    Ask,
}

/// Lexeme ends that are remembered beside the memo of scans, so that a walk finds the same ones in a load.
const RECENT_ENDS: usize = 16;

/// A lexeme end: where the lexemes began and which ended, the set that it leads to and the lexer state that starts there.
type RecentEnd = (SetId, LexemeSetId, SetId, LexStateId);

/// How often the text of a `stop` may be read again within one byte.
pub(crate) const REREAD_DEPTH_MAX: u32 = 16;

/// A text of a `stop` that was to be read again: within how many others, in which token, by which set, with what look-around
/// knew before it, and whose it is.
type Rereading = (u32, u32, SetId, Guard, LexemeId);

/// How many of them are remembered; then all are forgotten.
const REREADINGS_MAX: usize = 1 << 14;

/// All that grows while a grammar is used, within one epoch.
#[derive(Debug)]
pub(crate) struct Machine {
    pub cfg: Arc<Cfg>,
    pub limits: Limits,
    pub lexer: Lexer,
    pub sets: Sets,
    lists: Lists,
    /// Threads of lists that were stepped, for who counts work.
    pub stepped: u64,
    lazy_ends: FxHashMap<Thread, Cursor>,
    leads_on: FxHashMap<Thread, bool>,
    ways: Ways,
    recent_ends: [RecentEnd; RECENT_ENDS],
    /// Texts of a `stop` that are being read again, each within the one before.
    reread_depth: u32,
    rereadings: FxHashMap<Rereading, Option<Cursor>>,
    start: Option<Cursor>,
    /// The text up to where the next byte is read; kept by whoever steps.
    pub tape: Tape,
}

/// The threads of a [`Cursor`], which is most often one.
pub(crate) enum Threads {
    One([Thread; 1]),
    Many(Arc<[Thread]>),
}

impl Deref for Threads {
    type Target = [Thread];

    fn deref(&self) -> &[Thread] {
        match self {
            Threads::One(thread) => thread,
            Threads::Many(threads) => threads,
        }
    }
}

impl Machine {
    /// A machine of the lexemes as [`lexer::states::lower`](crate::lexer::states::lower) gives them.
    ///
    /// Errors: see [`Arena::lower`].
    pub fn new(
        cfg: Arc<Cfg>,
        exprs: &IndexVec<LexemeId, Option<Expr>>,
        arena: Arc<Arena>,
        limits: &Limits,
    ) -> Result<Self, Fault> {
        Ok(Self {
            lexer: Lexer::new(cfg.clone(), exprs, arena, limits)?,
            sets: Sets::new(cfg.clone(), limits),
            tape: Tape::new(cfg.has_recorded),
            cfg,
            limits: limits.clone(),
            lists: Lists::default(),
            stepped: 0,
            lazy_ends: FxHashMap::default(),
            leads_on: FxHashMap::default(),
            ways: Ways::default(),
            recent_ends: [(NO_SET, NO_LEXEMES, NO_SET, DEAD); RECENT_ENDS],
            reread_depth: 0,
            rereadings: FxHashMap::default(),
            start: None,
        })
    }

    /// What follows may take as much work as one question may.
    pub fn begin_question(&mut self) {
        self.sets.work = 0;
        self.lexer.work = 0;
    }

    /// Where every text starts.
    pub fn start(&mut self) -> Result<Cursor, Fault> {
        if let Some(start) = self.start {
            return Ok(start);
        }
        self.sets.token_now = 0;
        self.begin_question();
        self.tape.set(0, Vec::new());
        let set = self.sets.start(&mut self.lexer)?;
        let start = Cursor(self.fresh_guarded(set, self.outset())?);
        self.start = Some(start);
        Ok(start)
    }

    /// What look-around knows where the text begins, or goes on behind a token letter.
    pub fn outset(&self) -> Guard {
        Guard::after(self.lexer.pasts.start())
    }

    /// A thread at the start of the lexemes that a set expects, here.
    fn fresh_guarded(&mut self, set: SetId, guard: Guard) -> Result<Thread, Fault> {
        let lex = self.guarded_start(set, guard)?;
        self.thread(lex, set)
    }

    /// The lexer state that starts in a set.
    pub fn guarded_start(&mut self, set: SetId, guard: Guard) -> Result<LexStateId, Fault> {
        let lex = self.sets.start_state(set, &mut self.lexer)?;
        self.lexer.guarded(lex, guard)
    }

    /// Threads where only certain texts may follow; those of which none is left are left out.
    fn guard(&mut self, threads: Vec<Thread>, guard: Guard) -> Result<Vec<Thread>, Fault> {
        if guard == Guard::NONE {
            return Ok(threads);
        }
        let mut guarded = Vec::with_capacity(threads.len());
        for thread in threads {
            let lex = self.lexer.guarded(thread.lex, guard)?;
            if lex != DEAD {
                guarded.push(self.moved(thread, lex));
            }
        }
        Ok(guarded)
    }

    /// A thread whose lexemes began at the tape's end.
    fn thread(&self, lex: LexStateId, set: SetId) -> Result<Thread, Fault> {
        let began = if self.lexer.state(lex).records { self.tape.place()? } else { 0 };
        Ok(Thread { lex, set, began })
    }

    /// A thread with its lexemes further on.
    fn moved(&self, thread: Thread, lex: LexStateId) -> Thread {
        let began = if self.lexer.state(lex).records { thread.began } else { 0 };
        Thread { lex, began, ..thread }
    }

    /// What the recorded lexemes of a thread have read.
    pub fn text(&self, thread: Thread) -> &[u8] {
        if self.lexer.state(thread.lex).records { self.tape.from(thread.began) } else { &[] }
    }

    /// Whether the text so far counts for a place.
    pub fn records(&self, cursor: Cursor) -> bool {
        self.tape.is_on() && self.threads(cursor).iter().any(|thread| self.lexer.state(thread.lex).records)
    }

    /// Where the text begins that counts for a place.
    pub fn recorded_from(&self, cursor: Cursor) -> Option<usize> {
        if !self.tape.is_on() {
            return None;
        }
        if let Some(thread) = Self::single(cursor) {
            return self.lexer.state(thread.lex).records.then_some(thread.began as usize);
        }
        let threads = self.threads(cursor);
        let recording = threads.iter().filter(|thread| self.lexer.state(thread.lex).records);
        recording.map(|thread| thread.began as usize).min()
    }

    /// The threads of a place with what their recorded lexemes have read, which is all that counts.
    pub fn contents(&self, cursor: Cursor) -> Contents {
        let threads = self.threads(cursor);
        threads.iter().map(|&thread| (thread.lex, thread.set, self.text(thread).into())).collect()
    }

    /// A place where all lexemes are whole, moved to where the tape stands now.
    pub fn restarted(&mut self, cursor: Cursor) -> Result<Cursor, Fault> {
        if !self.records(cursor) {
            return Ok(cursor);
        }
        let threads = self.threads(cursor);
        let threads = threads.iter().map(|thread| self.thread(thread.lex, thread.set)).collect::<Result<_, _>>()?;
        Ok(self.cursor(threads)?.expect("there are threads"))
    }

    /// The place for one who looks ahead from there: what it was that recorded lexemes have read is forgotten where
    /// little depends on it, so that many places are one.
    pub fn ahead(&mut self, cursor: Cursor) -> Result<Cursor, Fault> {
        if !self.tape.is_on() {
            return Ok(cursor);
        }
        if let Some(thread) = Self::single(cursor) {
            let set = self.sets.untold(thread.set, &mut self.lexer)?;
            return Ok(Cursor(Thread { set, ..thread }));
        }
        let mut threads = self.threads(cursor).to_vec();
        for thread in &mut threads {
            thread.set = self.sets.untold(thread.set, &mut self.lexer)?;
        }
        Ok(self.cursor(threads)?.expect("there are threads"))
    }

    /// The threads of a cursor.
    pub fn threads(&self, cursor: Cursor) -> Threads {
        if cursor.0.lex == LIST {
            Threads::Many(self.lists.get(cursor.0.set.0).clone())
        } else {
            Threads::One([cursor.0])
        }
    }

    /// The only thread of a cursor, if it is one.
    pub fn single(cursor: Cursor) -> Option<Thread> {
        (cursor.0.lex != LIST).then_some(cursor.0)
    }

    /// Whether some lexeme of a place takes a byte.
    pub fn grows(&mut self, cursor: Cursor) -> Result<bool, Fault> {
        if let Some(thread) = Self::single(cursor) {
            return self.lexer.grows(thread.lex);
        }
        for thread in self.threads(cursor).iter() {
            if self.lexer.grows(thread.lex)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The cursor of some threads; `None` if there are none.
    fn cursor(&mut self, mut threads: Vec<Thread>) -> Result<Option<Cursor>, Fault> {
        threads.sort_unstable_by_key(|thread| (thread.lex, thread.began, thread.set));
        threads.dedup();
        if self.cfg.mode == LexerMode::Exact {
            let mut merged: Vec<Thread> = Vec::with_capacity(threads.len());
            for thread in threads {
                // A thread at a lexeme's start is where its set is, and scopes begin at a set's time.
                let meets = |other: &&mut Thread| {
                    other.lex == thread.lex
                        && other.began == thread.began
                        && self.lexer.state(thread.lex).kind != StateKind::Fresh
                        && (!self.cfg.has_scopes || self.sets.time(other.set) == self.sets.time(thread.set))
                };
                match merged.iter_mut().rev().take_while(|other| other.lex == thread.lex).find(meets) {
                    Some(other) => other.set = self.sets.union(other.set, thread.set)?,
                    None => merged.push(thread),
                }
            }
            threads = merged;
        }
        match threads.as_slice() {
            [] => Ok(None),
            &[only] => Ok(Some(Cursor(only))),
            _ if threads.len() > self.limits.threads_max => {
                Err(Fault::exceeded("threads_max", self.limits.threads_max as u64))
            }
            _ => {
                let id = self.lists.intern(threads, &self.limits)?;
                Ok(Some(Cursor(Thread { lex: LIST, set: SetId(id), began: 0 })))
            }
        }
    }

    /// The place that holds all threads of several.
    pub fn join(&mut self, cursors: &[Cursor]) -> Result<Option<Cursor>, Fault> {
        if let &[only] = cursors {
            return Ok(Some(only));
        }
        let threads = cursors.iter().flat_map(|&cursor| self.threads(cursor).to_vec()).collect();
        self.cursor(threads)
    }

    /// The place after a byte; `None` if the byte cannot follow. The tape stands before the byte, and stays there. Cost:
    /// two loads if the byte is inside a lexeme and the row is known.
    #[inline]
    pub fn step(&mut self, cursor: Cursor, byte: u8) -> Result<Option<Cursor>, Fault> {
        match self.quick(cursor.word(), byte) {
            Quick::To(next) => Ok(Some(Cursor::from_word(next, cursor.began()))),
            Quick::Refused => Ok(None),
            Quick::Ask => self.step_slow(cursor, byte),
        }
    }

    /// The place after several bytes at once, and how many, where they stay inside lexemes and it saves steps. The tape stands
    /// before them, and stays there.
    #[inline]
    pub fn leap(&mut self, cursor: Cursor, bytes: &[u8]) -> Result<Option<(usize, Cursor)>, Fault> {
        let Cursor(thread) = cursor;
        Ok(self.lexer.leap(thread.lex, bytes)?.map(|(len, lex)| (len, Cursor(Thread { lex, ..thread }))))
    }

    /// The step if it takes no more than a look-up.
    #[inline]
    pub fn quick(&self, Word(word): Word, byte: u8) -> Quick {
        // The place of a list is no lexer state, so that it has no row.
        let to = |next: u32| Quick::To(Word(word >> 32 << 32 | u64::from(next)));
        match self.lexer.quick(LexStateId(word as u32), byte) {
            REFUSED => Quick::Refused,
            ASK => match self.lexer.settled(LexStateId(word as u32), byte) {
                REFUSED => Quick::Refused,
                ASK => Quick::Ask,
                next => to(next),
            },
            next => to(next),
        }
    }

    /// The step when it takes more than a look-up.
    #[inline(never)]
    pub fn step_slow(&mut self, cursor: Cursor, byte: u8) -> Result<Option<Cursor>, Fault> {
        match (self.cfg.mode, Self::single(cursor)) {
            (_, None) => self.step_list(cursor.0.set.0, byte),
            (LexerMode::Longest, Some(thread)) => self.step_longest(thread, byte),
            (LexerMode::Exact, Some(thread)) => self.step_exact_single(thread, byte),
        }
    }

    fn step_longest(&mut self, thread: Thread, byte: u8) -> Result<Option<Cursor>, Fault> {
        let next = self.goes_on(thread, byte)?;
        if next != DEAD {
            let inside = self.enter(self.moved(thread, next), byte)?;
            return match self.lexer.cut(thread.lex, byte, next)? {
                Some(cut) => self.step_before_some(thread, &cut, byte, Some(inside)),
                None => Ok(Some(inside)),
            };
        }
        let ends = self.lexer.state(thread.lex).ends;
        if ends == NO_LEXEMES {
            return Ok(None);
        }
        if !self.may_follow(thread, ends, byte)? {
            return Ok(None);
        }
        if self.lexer.state(thread.lex).looks_ahead {
            let ends = self.lexer.by_follow(thread.lex, ends)?;
            return self.step_before_some(thread, &ends, byte, None);
        }
        // Lazy lexemes end at their first match, so these are not lazy and have no text to read again.
        let (set, start) = self.end_plain(thread, ends)?;
        match self.lexer.quick(start, byte) {
            REFUSED => Ok(None),
            ASK => match self.begin(set, byte)? {
                Thread { lex: DEAD, .. } => Ok(None),
                begun => self.enter(begun, byte).map(Some),
            },
            next => Ok(Some(Cursor(self.thread(LexStateId(next), set)?))),
        }
    }

    /// The step where lexemes end before certain texts only; `inside` is where others go on.
    #[inline(never)]
    fn step_before_some(
        &mut self,
        thread: Thread,
        ends: &[Guarded<LexemeSetId>],
        byte: u8,
        inside: Option<Cursor>,
    ) -> Result<Option<Cursor>, Fault> {
        let mut next = Vec::from_iter(inside);
        for &(guard, ends) in ends {
            if !self.may_follow(thread, ends, byte)? {
                continue;
            }
            let set = self.scan(thread, ends)?;
            let begun = self.begin_guarded(set, guard, byte)?;
            if begun.lex != DEAD {
                next.push(self.enter(begun, byte)?);
            }
        }
        self.join(&next)
    }

    /// The lexer state of a thread after a byte, without recorded lexemes that leave out what is then their text.
    pub fn goes_on(&mut self, thread: Thread, byte: u8) -> Result<LexStateId, Fault> {
        let next = self.lexer.next(thread.lex, byte)?;
        if !self.lexer.state(next).is_late {
            return Ok(next);
        }
        let here = self.tape.end();
        self.tape.push(byte);
        let text = self.tape.from(thread.began);
        let next = self.sets.without_left_out(thread.set, next, text, &mut self.lexer);
        self.tape.truncate(here);
        next
    }

    /// A thread whose lexemes begin in a set with a byte; in the state [`DEAD`] if none does.
    pub fn begin(&mut self, set: SetId, byte: u8) -> Result<Thread, Fault> {
        self.begin_guarded(set, Guard::NONE, byte)
    }

    /// The same where look-around counts.
    pub fn begin_guarded(&mut self, set: SetId, guard: Guard, byte: u8) -> Result<Thread, Fault> {
        let fresh = self.fresh_guarded(set, guard)?;
        let lex = self.goes_on(fresh, byte)?;
        Ok(self.moved(fresh, lex))
    }

    /// The set after lexemes without a text that is read again, and the lexer state that starts there.
    fn end_plain(&mut self, thread: Thread, ends: LexemeSetId) -> Result<(SetId, LexStateId), Fault> {
        let set = thread.set;
        let slot = (set.0 ^ ends.0.wrapping_mul(5)) as usize % RECENT_ENDS;
        let (from, ended, next, start) = self.recent_ends[slot];
        if (from, ended) == (set, ends) && !self.cfg.has_scopes {
            return Ok((next, start));
        }
        let next = self.scan(thread, ends)?;
        let start = self.sets.start_state(next, &mut self.lexer)?;
        if !self.lexer.records(ends) {
            self.recent_ends[slot] = (set, ends, next, start);
        }
        Ok((next, start))
    }

    /// The set after lexemes of a thread that end here.
    fn scan(&mut self, thread: Thread, ends: LexemeSetId) -> Result<SetId, Fault> {
        let text = if self.lexer.records(ends) { self.tape.from(thread.began) } else { &[] };
        self.sets.scan(thread.set, ends, text, &mut self.lexer)
    }

    /// Whether a byte may follow lexemes of a thread that end here; true if that is not known without making sets.
    fn may_follow(&mut self, thread: Thread, ends: LexemeSetId, byte: u8) -> Result<bool, Fault> {
        if !self.lexer.records(ends) {
            return Ok(true);
        }
        self.sets.may_follow(thread.set, ends, self.tape.from(thread.began), byte, &mut self.lexer)
    }

    /// A thread after a byte in `longest` mode: lazy lexemes that match have ended.
    fn enter(&mut self, thread: Thread, byte: u8) -> Result<Cursor, Fault> {
        if self.lexer.state(thread.lex).kind != StateKind::LazyEnd {
            return Ok(Cursor(thread));
        }
        if let Some(&known) = self.lazy_ends.get(&thread) {
            return Ok(known);
        }
        let here = self.tape.end();
        self.tape.push(byte);
        let entered = self.enter_lazy_end(thread);
        self.tape.truncate(here);
        entered
    }

    fn enter_lazy_end(&mut self, thread: Thread) -> Result<Cursor, Fault> {
        let ends = self.lexer.state(thread.lex).ends;
        let guard = self.lexer.guard(thread.lex);
        let (threads, set) = self.end(thread, ends, 0)?;
        let mut threads = self.guard(threads, guard)?;
        if set != NO_SET {
            threads.push(self.fresh_guarded(set, guard)?);
        }
        let cursor = self.cursor(threads)?.expect("a lexeme that ends leads somewhere");
        // Within a text that is read again, others may be read again fewer times.
        if !self.cfg.has_scopes && !self.records(cursor) && self.reread_depth == 0 {
            self.lazy_ends.insert(thread, cursor);
        }
        Ok(cursor)
    }

    /// Whether the text of a `stop` among lexemes that end may be read again.
    pub fn may_read_again(&self, ends: LexemeSetId) -> bool {
        self.cfg.has_hidden && self.lexer.lexemes(ends).iter().any(|&id| self.cfg.lexemes[id].may_read_again())
    }

    /// Ends lexemes of a thread, which is there since texts were read again `times` within this byte: threads that have
    /// read the text of a `stop` again, and the set that the others lead to.
    fn end(&mut self, thread: Thread, ends: LexemeSetId, times: u32) -> Result<(Vec<Thread>, SetId), Fault> {
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
    fn next_readers(&self, mut threads: Vec<Thread>, before: usize) -> Result<Vec<Thread>, Fault> {
        threads.sort_unstable();
        threads.dedup();
        if !threads.is_empty() && before + threads.len() > self.limits.threads_max {
            return Err(Fault::exceeded("threads_max", self.limits.threads_max as u64));
        }
        Ok(threads)
    }

    fn reread_inner(&mut self, set: SetId, guard: Guard, text: &[u8]) -> Result<Option<Cursor>, Fault> {
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

    /// A step of a single thread, which most often stays one; without lists.
    fn step_exact_single(&mut self, thread: Thread, byte: u8) -> Result<Option<Cursor>, Fault> {
        if self.cfg.has_hidden || self.lexer.state(thread.lex).looks_ahead {
            return self.step_exact(vec![thread], byte);
        }
        let goes_on = self.goes_on(thread, byte)?;
        let ends = self.lexer.ends_before(thread.lex, byte, goes_on)?;
        let mut begun = None;
        if ends != NO_LEXEMES && self.may_follow(thread, ends, byte)? {
            let (set, start) = self.end_plain(thread, ends)?;
            if goes_on == DEAD {
                match self.lexer.quick(start, byte) {
                    REFUSED => return Ok(None),
                    ASK => {}
                    next => return Ok(Some(Cursor(self.thread(LexStateId(next), set)?))),
                }
            }
            let fresh = self.thread(start, set)?;
            let lex = self.goes_on(fresh, byte)?;
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

    /// The place of those threads that lead somewhere.
    fn viable(&mut self, threads: Vec<Thread>) -> Result<Option<Cursor>, Fault> {
        let mut viable = Vec::with_capacity(threads.len());
        for thread in threads {
            if !self.lexer.state(thread.lex).may_be_stuck || self.leads_on(thread)? {
                viable.push(thread);
            }
        }
        self.cursor(viable)
    }

    fn step_exact(&mut self, threads: Vec<Thread>, byte: u8) -> Result<Option<Cursor>, Fault> {
        let mut next = Vec::with_capacity(threads.len() + 1);
        let mut agenda = threads;
        let mut times = 0;
        let mut reached = NO_SET;
        // The same where only certain texts may follow.
        let mut guarded: Vec<Guarded<SetId>> = Vec::new();
        while !agenda.is_empty() {
            let mut readers = Vec::new();
            for thread in agenda {
                let goes_on = self.goes_on(thread, byte)?;
                if goes_on != DEAD {
                    next.push(self.moved(thread, goes_on));
                }
                let ends = self.lexer.ends_before(thread.lex, byte, goes_on)?;
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
            let begun = self.begin(reached, byte)?;
            if begun.lex != DEAD {
                next.push(begun);
            }
        }
        for (guard, set) in guarded {
            if set != NO_SET {
                next.extend(Some(self.begin_guarded(set, guard, byte)?).filter(|begun| begun.lex != DEAD));
            }
        }
        self.viable(next)
    }

    /// The sets that the text may be in here, at a token letter or at its end: all lexemes that match have ended.
    pub fn boundary(&mut self, cursor: Cursor) -> Result<Vec<SetId>, Fault> {
        let mut sets = Vec::new();
        if let Some(thread) = Self::single(cursor) {
            let state = self.lexer.state(thread.lex);
            if state.kind != StateKind::Fresh && state.ends == NO_LEXEMES {
                return Ok(sets);
            }
        }
        for (guard, set) in self.place(cursor)?.1 {
            if self.may_end(guard) {
                sets.push(set);
            }
        }
        sets.sort_unstable();
        sets.dedup();
        Ok(sets)
    }

    /// Whether the text may end there, or a token letter follow, as far as look-aheads say.
    pub fn may_end(&self, guard: Guard) -> bool {
        guard.owed == Expr::ALL || self.lexer.arena().nullable(guard.owed)
    }

    /// All threads of a place, those that have read the text of a `stop` again included, and the sets reached, with what
    /// may follow.
    fn place(&mut self, cursor: Cursor) -> Result<(Vec<Thread>, Vec<Guarded<SetId>>), Fault> {
        let mut sets = Vec::new();
        let mut threads = Vec::new();
        let mut agenda = self.threads(cursor).to_vec();
        let mut times = 0;
        while !agenda.is_empty() {
            let mut readers = Vec::new();
            for &thread in &agenda {
                let state = self.lexer.state(thread.lex);
                if state.kind == StateKind::Fresh {
                    sets.push((self.lexer.guard(thread.lex), thread.set));
                } else if state.ends != NO_LEXEMES {
                    let ends = state.ends;
                    for &(guard, ends) in self.lexer.by_follow(thread.lex, ends)?.iter() {
                        let (reread, set) = self.end(thread, ends, times)?;
                        readers.extend(self.guard(reread, guard)?);
                        if set != NO_SET {
                            sets.push((guard, set));
                        }
                    }
                }
            }
            threads.append(&mut agenda);
            agenda = self.next_readers(readers, threads.len())?;
            times += 1;
        }
        sets.sort_unstable();
        sets.dedup();
        Ok((threads, sets))
    }

    /// The lexer states that the next byte can be read in.
    fn lexer_states(&mut self, cursor: Cursor) -> Result<Vec<LexStateId>, Fault> {
        let (threads, sets) = self.place(cursor)?;
        let mut states: Vec<LexStateId> = threads.iter().map(|thread| thread.lex).collect();
        for (guard, set) in sets {
            states.push(self.guarded_start(set, guard)?);
        }
        states.sort_unstable();
        states.dedup();
        Ok(states)
    }

    /// Whether some lexeme may end here, without which the text may not either.
    pub fn ends_lexeme(&self, cursor: Cursor) -> bool {
        self.threads(cursor).iter().any(|thread| {
            let state = self.lexer.state(thread.lex);
            state.kind == StateKind::Fresh || state.ends != NO_LEXEMES
        })
    }

    /// Whether the text may end here.
    pub fn accepts(&mut self, cursor: Cursor) -> Result<bool, Fault> {
        Ok(self.boundary(cursor)?.iter().any(|&set| self.sets.accepts(set)))
    }

    /// Token letters that can follow.
    pub fn token_letters(&mut self, cursor: Cursor) -> Result<Vec<TokenLetterId>, Fault> {
        if self.cfg.token_letters.is_empty() {
            return Ok(Vec::new());
        }
        let mut letters = Vec::new();
        for set in self.boundary(cursor)? {
            letters.extend(self.sets.token_letters(set, &mut self.lexer)?);
        }
        letters.sort_unstable();
        letters.dedup();
        Ok(letters)
    }

    /// The place after a token letter, and whether the token is to be hidden; `None` if it cannot follow.
    pub fn step_token(&mut self, cursor: Cursor, token: u32) -> Result<Option<(Cursor, bool)>, Fault> {
        if self.cfg.token_letters.is_empty() {
            return Ok(None);
        }
        let mut threads = Vec::new();
        let mut hidden = false;
        let mut reached = NO_SET;
        for set in self.boundary(cursor)? {
            let (next, hide) = self.sets.scan_token(set, token, &mut self.lexer)?;
            if next == NO_SET {
                continue;
            }
            hidden |= hide;
            match self.cfg.mode {
                LexerMode::Longest => threads.push(self.fresh_guarded(next, self.outset())?),
                LexerMode::Exact => reached = self.sets.union(reached, next)?,
            }
        }
        if reached != NO_SET {
            threads.push(self.fresh_guarded(reached, self.outset())?);
        }
        Ok(self.cursor(threads)?.map(|cursor| (cursor, hidden)))
    }

    /// Bytes that can follow.
    pub fn live_bytes(&mut self, cursor: Cursor) -> Result<ByteSet, Fault> {
        let mut candidates = ByteSet::EMPTY;
        for state in self.lexer_states(cursor)? {
            candidates = candidates.union(&self.lexer.row(state)?.live);
        }
        let mut live = ByteSet::EMPTY;
        for byte in candidates.iter() {
            if self.step(cursor, byte)?.is_some() {
                live.insert(byte);
            }
        }
        Ok(live)
    }

    /// Whether nothing can follow where the text starts, nor the text end there.
    pub fn is_stuck_at_start(&mut self) -> Result<bool, Fault> {
        let start = self.start()?;
        Ok(!self.accepts(start)? && self.token_letters(start)?.is_empty() && self.live_bytes(start)?.is_empty())
    }

    /// The byte that is the only letter that can follow, the end of the text included.
    pub fn forced_byte(&mut self, cursor: Cursor) -> Result<Option<u8>, Fault> {
        if let Some(thread) = Self::single(cursor)
            && self.lexer.state(thread.lex).ends == NO_LEXEMES
            && self.lexer.row(thread.lex)?.live.len() > 1
            && self.cfg.mode == LexerMode::Longest
        {
            return Ok(None);
        }
        if self.accepts(cursor)? || !self.token_letters(cursor)?.is_empty() {
            return Ok(None);
        }
        let live = self.live_bytes(cursor)?;
        Ok(if live.len() == 1 { live.iter().next() } else { None })
    }

    /// The token that is the only letter that can follow, the end of the text included.
    pub fn forced_token(&mut self, cursor: Cursor) -> Result<Option<u32>, Fault> {
        let letters = self.token_letters(cursor)?;
        if letters.is_empty() || self.accepts(cursor)? || !self.live_bytes(cursor)?.is_empty() {
            return Ok(None);
        }
        let mut tokens = letters.iter().flat_map(|&letter| self.cfg.token_letters[letter].tokens());
        let first = tokens.next();
        Ok(first.filter(|&first| tokens.all(|token| token == first)))
    }

    /// Items that were touched to build the sets of a place and those that follow their items, and one for each thread.
    pub fn touched(&self, cursor: Cursor) -> usize {
        self.threads(cursor).iter().map(|thread| 1 + self.sets.touched(thread.set)).sum()
    }

    /// Names of what can follow: live lexemes, and what may start if those end here.
    pub fn expected(&mut self, cursor: Cursor) -> Result<Vec<String>, Fault> {
        let mut lexemes: Vec<LexemeId> = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for state in self.lexer_states(cursor)? {
            lexemes.extend(self.lexer.growing_lexemes(state)?);
        }
        lexemes.sort_unstable();
        lexemes.dedup();
        names.extend(lexemes.iter().map(|&lexeme| self.cfg.lexemes[lexeme].name.clone()));
        for letter in self.token_letters(cursor)? {
            names.push(self.cfg.token_letters[letter].text.clone());
        }
        let mut seen = rustc_hash::FxHashSet::default();
        names.retain(|name| seen.insert(name.clone()));
        Ok(names)
    }

    /// The highest temperature of the lexemes that can follow.
    pub fn temperature(&mut self, cursor: Cursor) -> Result<Option<f32>, Fault> {
        let mut highest: Option<f32> = None;
        for state in self.lexer_states(cursor)? {
            for lexeme in self.lexer.live_lexemes(state) {
                if let Some(temperature) = self.cfg.lexemes[lexeme].temperature {
                    highest = Some(highest.map_or(temperature, |highest| highest.max(temperature)));
                }
            }
        }
        Ok(highest)
    }
}
