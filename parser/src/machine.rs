//! The recogniser: from a place in the text to the next, letter by letter, in both lexer modes.
//!
//! A place is a [`Cursor`]: one thread, or an interned list of threads. A thread is a lexer state and the Earley set in
//! which its lexemes began. Where threads of one lexer state meet, their sets are united: the union of two sets expects
//! and leads to what the two do, so one set per thread is enough and no bundles are needed.
//! That a lexeme ends is decided at the letter after it, so that in `exact` mode a thread is split only where a lexeme
//! can both go on and be followed by that very byte; for JSON that is nowhere. Where grammars of both modes stand in each
//! other it is `exact` mode in which the lexemes of the others compete.
//! The definitions are those of `docs/semantics.md`.

mod answers;
mod budget;
mod exact;
mod lists;
mod repeats;
mod reread;
mod steps;
mod stuck;
pub(crate) mod tail;
mod tape;
pub(crate) mod ways;

use std::ops::Deref;
use std::sync::Arc;

use larkspur_grammar::{LexerMode, Limits};
use rustc_hash::FxHashMap;

use crate::cfg::Cfg;
use crate::earley::sets::{NO_SET, SetId, Sets};
use crate::error::Fault;
use crate::growing::GrowingMap;
use crate::lexer::arena::Arena;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::rows::{ASK, REFUSED};
use crate::lexer::states::{DEAD, LexStateId, LexemeExprs, LexemeSetId, Lexer, NO_LEXEMES, StateKind};
use lists::Lists;
pub(crate) use reread::REREAD_DEPTH_MAX;
use reread::Rereading;
use steps::{Asked, Steps};
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
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
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
    /// Some place, the same for a number.
    #[cfg(test)]
    pub fn numbered(number: u32) -> Self {
        Self::from_word(Word(number.into()), 0)
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

/// All that grows while a grammar is used, within one epoch.
#[derive(Debug)]
pub(crate) struct Machine {
    pub cfg: Arc<Cfg>,
    pub limits: Limits,
    pub lexer: Lexer,
    pub sets: Sets,
    lists: Lists,
    steps: Steps,
    /// What the last step in `exact` mode has asked of its byte.
    asked: Asked,
    /// Threads of lists that were stepped, for who counts work.
    pub stepped: u64,
    lazy_ends: GrowingMap<Thread, Cursor>,
    leads_on: GrowingMap<Thread, bool>,
    /// [`Machine::repeated`] where something may be.
    repeated: GrowingMap<(LexStateId, SetId), LexStateId>,
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
    pub fn new(cfg: Arc<Cfg>, lowered: &LexemeExprs, arena: Arc<Arena>, limits: &Limits) -> Result<Box<Self>, Fault> {
        Ok(Box::new(Self {
            lexer: Lexer::new(cfg.clone(), lowered, arena, limits)?,
            sets: Sets::new(cfg.clone(), limits),
            tape: Tape::new(cfg.has_recorded),
            cfg,
            limits: limits.clone(),
            lists: Lists::default(),
            steps: Steps::default(),
            asked: Asked::default(),
            stepped: 0,
            lazy_ends: GrowingMap::default(),
            leads_on: GrowingMap::default(),
            repeated: GrowingMap::default(),
            ways: Ways::default(),
            recent_ends: [(NO_SET, NO_LEXEMES, NO_SET, DEAD); RECENT_ENDS],
            reread_depth: 0,
            rereadings: FxHashMap::default(),
            start: None,
        }))
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

    /// Whether steps depend on nothing but what [`Steps`] knows, so that a walk over the whole trie may remember them.
    pub fn may_remember(&self) -> bool {
        !self.tape.is_on()
    }

    /// The step when it takes more than a look-up, if a walk remembers it.
    #[inline]
    pub fn remembered(&self, place: Word, byte: u8) -> Quick {
        if self.steps.hold_in(self.context()) { self.steps.get(place, byte) } else { Quick::Ask }
    }

    /// What steps depend on besides the place and the byte: the token that they are in.
    #[inline]
    fn context(&self) -> u32 {
        if self.cfg.has_scopes { self.sets.token_now } else { 0 }
    }

    /// As [`Self::step_slow`], where steps may be remembered, and remembers it.
    pub fn step_of_walk(&mut self, cursor: Cursor, byte: u8) -> Result<Option<Cursor>, Fault> {
        let next = match Self::single(cursor) {
            Some(_) => self.step_slow(cursor, byte)?,
            None => self.step_threads(&self.threads(cursor), byte)?,
        };
        let alike = self.alike(byte)?;
        self.steps.insert(self.context(), cursor.word(), &alike, next);
        Ok(next)
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
            if begun.lex != DEAD && (inside.is_none() || self.goes_on_behind_cut(begun.lex, byte)?) {
                next.push(self.enter(begun, byte)?);
            }
        }
        self.join(&next)
    }

    /// Whether the way to read the text that begins with a byte at a cut goes on over some character. Else it ends within one, before
    /// which only the end of a scope could find it.
    pub fn goes_on_behind_cut(&mut self, begun: LexStateId, byte: u8) -> Result<bool, Fault> {
        Ok(!self.cfg.has_scopes || self.lexer.reads_rest(begun, byte)?)
    }

    /// The lexer state of a thread after a byte, without recorded lexemes that leave out what is then their text, or all texts
    /// that begin with it.
    pub fn goes_on(&mut self, thread: Thread, byte: u8) -> Result<LexStateId, Fault> {
        let next = self.lexer.next(thread.lex, byte)?;
        if !self.lexer.state(next).is_watched() {
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
}
