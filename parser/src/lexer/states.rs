//! States of the lexer, rows of their automaton, and which lexemes end in each.
//!
//! A state is a sorted list of (lexeme, what is left of it). What is left is an expression of the shared arena, an
//! offset into a literal, or a node of a literal trie, so that 100,000 literals cost child look-ups, not derivatives; of
//! a recorded lexeme with exceptions an expression and a node of a trie of texts. A lexeme may be there several times,
//! with other exceptions.

use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, IndexVec, LexerMode, Limits, define_id};
use rustc_hash::{FxHashMap, FxHashSet};

use super::arena::{Arena, Expr, ExprRow};
use super::exceptions::{NO_TEXTS, TrieId, Tries};
use super::past::{Past, Pasts};
use crate::cfg::{Cfg, LexemeId, Pattern};
use crate::error::Fault;

define_id! {
    /// A state of a [`Lexer`].
    pub(crate) struct LexStateId = "q";
}
define_id! {
    /// An interned set of lexemes.
    pub(crate) struct LexemeSetId = "xs";
}

/// No lexeme is live.
pub(crate) const DEAD: LexStateId = LexStateId(0);
/// The empty set of lexemes.
pub(crate) const NO_LEXEMES: LexemeSetId = LexemeSetId(0);

/// In a quick row: no lexeme takes the byte and none can end before it.
pub(crate) const REFUSED: u32 = u32::MAX;
/// In a quick row: the byte is more than a step inside lexemes.
pub(crate) const ASK: u32 = u32::MAX - 1;

/// What is left of a lexeme: an [`Expr`] (with [`EXCEPTED`] an expression and texts that are left out), an offset or a
/// trie node, by the lexeme's [`Pattern`].
pub(crate) type Rest = u32;

/// Set in a [`Rest`] that is a number in [`Lexer::excepted`].
pub(super) const EXCEPTED: Rest = 1 << 31;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct StateKey {
    pub entries: Box<[(LexemeId, Rest)]>,
    pub kind: StateKind,
    pub guard: Guard,
}

/// What look-around knows at a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Guard {
    /// What the text that follows must be, by what look-aheads of lexemes that have ended saw; [`Expr::ALL`] is any.
    pub owed: Expr,
    /// What look-behinds need to know of the text before; [`Past::NONE`] in grammars without.
    pub past: Past,
}

impl Guard {
    /// Anything may follow, and what was before does not count.
    pub const NONE: Guard = Guard { owed: Expr::ALL, past: Past::NONE };
    /// Anything may follow.
    pub fn after(past: Past) -> Self {
        Guard { past, ..Guard::NONE }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum StateKind {
    /// No byte of a lexeme was read yet.
    Fresh,
    /// In the middle of lexemes.
    Inside,
    /// In `longest` mode: lazy lexemes matched, so they end here and nothing else is live.
    LazyEnd,
}

/// What is known of a state besides its row.
#[derive(Debug)]
pub(crate) struct LexState {
    key: Arc<StateKey>,
    pub kind: StateKind,
    /// Lexemes that match here.
    pub(super) matched: LexemeSetId,
    /// Lexemes that end if the next letter ends lexemes: those that match, by the mode's rule of priority.
    pub ends: LexemeSetId,
    /// Whether one of those is ignored text.
    ends_ignored: bool,
    /// Whether what is live is bound to what follows: all of it is ignored text, which is taken whole, or ends only before
    /// certain texts, or only certain texts may follow.
    pub is_bound: bool,
    /// Whether what is live may lead nowhere: it is bound, or what the grammar needs next may not begin after it.
    pub may_be_stuck: bool,
    /// Whether what follows the lexemes that end here may depend on look-around.
    pub looks_ahead: bool,
    /// Whether a lexeme is live that [competes](crate::cfg::Lexeme::competes).
    pub competes: bool,
    /// Whether the text of a live lexeme is recorded: what it was so far counts.
    pub records: bool,
    /// Whether a lexeme matches that may leave out its text: see [`Lexer::is_late`].
    pub is_late: bool,
    /// See [`Lexer::surely_grows`].
    surely_grows: bool,
}

/// Something with what look-around knows where it stands.
pub(crate) type Guarded<T> = (Guard, T);

/// Lexemes that end together, with what may then follow; most often anything.
pub(crate) enum Ends {
    One([Guarded<LexemeSetId>; 1]),
    Many(Arc<[Guarded<LexemeSetId>]>),
}

impl std::ops::Deref for Ends {
    type Target = [Guarded<LexemeSetId>];

    fn deref(&self) -> &Self::Target {
        match self {
            Ends::One(ends) => ends,
            Ends::Many(ends) => ends,
        }
    }
}

/// A row of the automaton.
#[derive(Debug)]
pub(crate) struct Row {
    /// State after each byte.
    pub next: [LexStateId; 256],
    /// Bytes that some live lexeme takes.
    pub live: ByteSet,
    /// In `exact` mode: bytes before which an ignored lexeme that matches here may not end, since it goes on.
    pub ignored_goes_on: ByteSet,
}

/// A step from a state that has no row yet: the way of a text through states that are met once, as those of a name of
/// 100,000 characters, of which each row has 2 kB and one state more than the text.
#[derive(Clone, Copy, Default, Debug)]
struct Step {
    /// The last one that was taken.
    byte: u8,
    /// How often steps were taken; 0 if none is known.
    taken: u8,
    next: u32,
}

/// A step that was taken so often is worth a row, unless these are many.
const STEPS_TAKEN_MAX: u8 = 3;
const ROWS_FOR_STEPS_MAX: usize = 10_000;

/// The automaton of one grammar and epoch.
#[derive(Debug)]
pub(crate) struct Lexer {
    pub(super) cfg: Arc<Cfg>,
    arena: Arc<Arena>,
    limits: Limits,
    /// What is left of each whole lexeme. Indexed by lexeme.
    pub(super) initial: IndexVec<LexemeId, Rest>,
    states: IndexVec<LexStateId, LexState>,
    state_ids: FxHashMap<Arc<StateKey>, LexStateId>,
    rows: Vec<Row>,
    /// For the trie walk, one load a byte: the state after it if the step stays inside lexemes, [`REFUSED`] or [`ASK`].
    /// Parallel to `rows`. Asking the state for its kind and its ends took twice the time of a walk.
    quick_rows: Vec<[u32; 256]>,
    /// Index into `rows` of each state, or `u32::MAX`. Indexed by state.
    row_of: Vec<u32>,
    /// The step that was taken from each state, until it has a row. Indexed by state.
    steps: Vec<Step>,
    expr_rows: FxHashMap<Expr, Arc<ExprRow>>,
    nullable: FxHashMap<Expr, bool>,
    lexeme_sets: IndexVec<LexemeSetId, Box<[LexemeId]>>,
    lexeme_set_ids: FxHashMap<Box<[LexemeId]>, LexemeSetId>,
    pub tries: Tries,
    /// What is left of lexemes with exceptions.
    excepted: Vec<(Expr, TrieId)>,
    excepted_ids: FxHashMap<(Expr, TrieId), Rest>,
    /// Whether the expression matches a text that is not in the trie.
    has_others: FxHashMap<(Expr, TrieId), bool>,
    /// What may follow each lexeme, empty if nothing depends on it. Indexed by lexeme.
    follows: Vec<Expr>,
    /// [`Lexer::by_follow`].
    by_follow: FxHashMap<(LexStateId, LexemeSetId), Arc<[Guarded<LexemeSetId>]>>,
    /// [`Lexer::guarded`].
    guarded: FxHashMap<(LexStateId, Guard), LexStateId>,
    /// What look-behinds know of the text so far.
    pub pasts: Pasts,
    /// Whether everything matches.
    is_all: FxHashMap<Expr, bool>,
    /// States with counts clamped: see [`Lexer::clamped`].
    clamped: FxHashMap<LexStateId, LexStateId>,
    /// [`Lexer::is_late`] as far as it is known. Indexed by lexeme; empty if none is.
    pub(super) late: Vec<Option<bool>>,
    /// Texts that late lexemes leave out wherever they stand: see [`Lexer::left_out`].
    pub(super) left_out: FxHashMap<LexemeId, LeftOutTexts>,
    pub(super) no_texts: LeftOutTexts,
}

/// Texts that a lexeme leaves out, sorted.
pub(crate) type LeftOutTexts = Arc<[Box<[u8]>]>;

impl Lexer {
    /// Errors: see [`Arena::lower`].
    pub fn new(cfg: Arc<Cfg>, arena: Arc<Arena>, limits: &Limits) -> Result<Self, Fault> {
        let roots: Vec<_> = cfg
            .lexemes
            .iter()
            .filter_map(|lexeme| match lexeme.pattern {
                Pattern::Regex(regex) => Some(regex),
                _ => None,
            })
            .collect();
        let mut exprs = arena.lower(&cfg.regexes, &roots)?.into_iter();
        let initial: Vec<Rest> = cfg
            .lexemes
            .iter()
            .map(|lexeme| match lexeme.pattern {
                Pattern::Regex(_) => exprs.next().expect("one expression for each regex").to_raw(),
                _ => 0,
            })
            .collect();
        let mut follows = Vec::new();
        if cfg.has_follows {
            for lexeme in cfg.lexemes.iter() {
                follows.push(match lexeme.follow {
                    Some(follow) => arena.lower(&cfg.regexes, &[follow])?[0],
                    None => Expr::ALL,
                });
            }
        }
        let pasts = Pasts::new(&cfg, &arena)?;
        let mut lexer = Self {
            pasts,
            cfg,
            arena,
            limits: limits.clone(),
            initial: initial.into(),
            states: IndexVec::new(),
            state_ids: FxHashMap::default(),
            rows: Vec::new(),
            quick_rows: Vec::new(),
            row_of: Vec::new(),
            steps: Vec::new(),
            expr_rows: FxHashMap::default(),
            nullable: FxHashMap::default(),
            lexeme_sets: IndexVec::new(),
            lexeme_set_ids: FxHashMap::default(),
            tries: Tries::new(),
            excepted: Vec::new(),
            excepted_ids: FxHashMap::default(),
            has_others: FxHashMap::default(),
            follows,
            by_follow: FxHashMap::default(),
            guarded: FxHashMap::default(),
            is_all: FxHashMap::default(),
            clamped: FxHashMap::default(),
            late: Vec::new(),
            left_out: FxHashMap::default(),
            no_texts: Arc::new([]),
        };
        lexer.lexeme_set(&[]);
        let dead = StateKey { entries: Box::new([]), kind: StateKind::Inside, guard: Guard::NONE };
        lexer.intern(dead)?;
        lexer.leave_out()?;
        Ok(lexer)
    }

    /// Whether the lexeme matches no text at all.
    ///
    /// Errors: `regex_emptiness_fuel`.
    pub fn is_empty(&self, lexeme: LexemeId) -> Result<bool, Fault> {
        match self.cfg.lexemes[lexeme].pattern {
            Pattern::Regex(_) => {
                let expr = Expr::from_raw(self.initial[lexeme]);
                Ok(!self.arena.is_non_empty(expr, self.limits.regex_emptiness_fuel)?)
            }
            _ => Ok(false),
        }
    }

    pub fn mode(&self) -> LexerMode {
        self.cfg.mode
    }

    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    pub fn state(&self, id: LexStateId) -> &LexState {
        &self.states[id]
    }

    pub fn lexemes(&self, id: LexemeSetId) -> &[LexemeId] {
        &self.lexeme_sets[id]
    }

    /// Interns a sorted list of lexemes.
    pub fn lexeme_set(&mut self, lexemes: &[LexemeId]) -> LexemeSetId {
        if let Some(&id) = self.lexeme_set_ids.get(lexemes) {
            return id;
        }
        let id = self.lexeme_sets.push(lexemes.into());
        self.lexeme_set_ids.insert(lexemes.into(), id);
        id
    }

    /// Lexemes that are live in the state.
    pub fn live_lexemes(&self, id: LexStateId) -> impl Iterator<Item = LexemeId> + '_ {
        self.states[id].key.entries.iter().map(|&(lexeme, _)| lexeme)
    }

    /// Whether some byte can follow since not all that is live matches: what is left of a lexeme is never nothing. Spares
    /// a row for most states that are met once.
    pub fn surely_grows(&self, id: LexStateId) -> bool {
        self.states[id].surely_grows
    }

    /// Lexemes of the state that take some byte.
    pub fn growing_lexemes(&mut self, id: LexStateId) -> Result<Vec<LexemeId>, Fault> {
        let key = self.states[id].key.clone();
        let cfg = self.cfg.clone();
        let mut growing = Vec::new();
        for &(lexeme, rest) in &key.entries {
            let grows = match &cfg.lexemes[lexeme].pattern {
                Pattern::Literal(bytes) => (rest as usize) < bytes.len(),
                Pattern::Literals(trie) => trie.children(rest).next().is_some(),
                Pattern::Regex(_) => {
                    let mut grows = false;
                    for byte in 0..=255 {
                        grows = grows || self.rest_after(rest, byte)?.is_some();
                    }
                    grows
                }
            };
            if grows {
                growing.push(lexeme);
            }
        }
        Ok(growing)
    }

    /// The regex algebra that the lexemes are in.
    pub fn arena(&self) -> &Arena {
        &self.arena
    }

    /// The state in which each of `lexemes` (sorted) is whole.
    pub fn start(&mut self, lexemes: &[LexemeId]) -> Result<LexStateId, Fault> {
        let entries = lexemes.iter().map(|&lexeme| (lexeme, self.initial[lexeme])).collect();
        self.intern(StateKey { entries, kind: StateKind::Fresh, guard: Guard::NONE })
    }

    pub(super) fn key(&self, id: LexStateId) -> &StateKey {
        &self.states[id].key
    }

    /// The state of a single lexeme.
    pub fn single(&mut self, entry: (LexemeId, Rest), is_fresh: bool) -> Result<LexStateId, Fault> {
        let kind = if is_fresh { StateKind::Fresh } else { StateKind::Inside };
        self.intern(StateKey { entries: [entry].into(), kind, guard: Guard::NONE })
    }

    /// The state in which this is left of lexemes.
    pub fn start_with(&mut self, mut entries: Vec<(LexemeId, Rest)>) -> Result<LexStateId, Fault> {
        entries.sort_unstable();
        entries.dedup();
        self.intern(StateKey { entries: entries.into(), kind: StateKind::Fresh, guard: Guard::NONE })
    }

    /// For a state of several lexemes, the states of those that are regexes, each alone. `None` if it is of one only, or
    /// if one could end the others.
    pub fn alone(&mut self, id: LexStateId) -> Result<Option<Vec<LexStateId>>, Fault> {
        let key = self.states[id].key.clone();
        let cfg = self.cfg.clone();
        let mut lexemes: Vec<LexemeId> = key.entries.iter().map(|&(lexeme, _)| lexeme).collect();
        lexemes.dedup();
        if lexemes.len() < 2 || lexemes.iter().any(|&lexeme| cfg.lexemes[lexeme].lazy) {
            return Ok(None);
        }
        lexemes.retain(|&lexeme| matches!(cfg.lexemes[lexeme].pattern, Pattern::Regex(_)));
        lexemes.into_iter().map(|alone| self.retain(id, |lexeme| lexeme == alone)).collect::<Result<_, _>>().map(Some)
    }

    /// What is left of a whole lexeme.
    pub fn whole(&self, lexeme: LexemeId) -> Rest {
        self.initial[lexeme]
    }

    /// The state with only those live lexemes that `keep` says. `DEAD` if none stays.
    pub fn retain(&mut self, id: LexStateId, keep: impl Fn(LexemeId) -> bool) -> Result<LexStateId, Fault> {
        let key = self.states[id].key.clone();
        let entries: Box<[_]> = key.entries.iter().copied().filter(|&(lexeme, _)| keep(lexeme)).collect();
        if entries.is_empty() { Ok(DEAD) } else { self.intern(StateKey { entries, ..*key }) }
    }

    /// A step of the trie walk: the state after the byte, [`REFUSED`] or [`ASK`].
    #[inline]
    pub fn quick(&self, id: LexStateId, byte: u8) -> u32 {
        let row = self.row_of.get(id.index()).and_then(|&row| self.quick_rows.get(row as usize));
        row.map_or(ASK, |row| row[usize::from(byte)])
    }

    /// State after a byte; builds the row when it was asked for some times.
    #[inline]
    pub fn next(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        let row = self.row_of[id.index()];
        if row != u32::MAX {
            return Ok(self.rows[row as usize].next[usize::from(byte)]);
        }
        self.next_without_row(id, byte)
    }

    fn next_without_row(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        let step = self.steps[id.index()];
        let is_rare = step.taken < STEPS_TAKEN_MAX || self.rows.len() >= ROWS_FOR_STEPS_MAX;
        if step.taken == 0 {
            let next = self.single_step(id, byte)?;
            self.steps[id.index()] = Step { byte, taken: 1, next: next.0 };
            Ok(next)
        } else if step.byte == byte && is_rare {
            self.steps[id.index()].taken = step.taken.saturating_add(1);
            Ok(LexStateId(step.next))
        } else if step.taken < STEPS_TAKEN_MAX {
            // The start of names is left by few bytes, each of which takes a fraction of a row.
            let next = self.single_step(id, byte)?;
            self.steps[id.index()] = Step { byte, taken: step.taken + 1, next: next.0 };
            Ok(next)
        } else {
            Ok(self.row(id)?.next[usize::from(byte)])
        }
    }

    /// What [`row`](Self::row) would say of one byte.
    fn single_step(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        let key = self.states[id].key.clone();
        if key.kind == StateKind::LazyEnd {
            return Ok(DEAD);
        }
        let cfg = self.cfg.clone();
        let mut entries: Vec<(LexemeId, Rest)> = Vec::with_capacity(key.entries.len());
        for &(lexeme, rest) in &key.entries {
            match &cfg.lexemes[lexeme].pattern {
                Pattern::Literal(bytes) if bytes.get(rest as usize) == Some(&byte) => entries.push((lexeme, rest + 1)),
                Pattern::Literal(_) => {}
                Pattern::Literals(trie) => {
                    entries.extend(trie.children(rest).find(|child| child.0 == byte).map(|child| (lexeme, child.1)));
                }
                Pattern::Regex(_) => {
                    let (expr, texts) = self.parts(rest);
                    let next = match self.expr_rows.get(&expr) {
                        Some(row) => row.next(byte),
                        None => self.arena.step(expr, byte, &self.limits)?,
                    };
                    if next != Expr::NOTHING {
                        let rest = self.excepting(next, self.tries.child(texts, byte))?;
                        entries.extend(rest.map(|rest| (lexeme, rest)));
                    }
                }
            }
        }
        entries.sort_unstable();
        entries.dedup();
        let guard = self.guard_after(key.guard, byte)?;
        self.enter(entries, guard)
    }

    /// The row of a state. Cost: microseconds the first time.
    ///
    /// Errors: `lexer_states_max`, `expressions_max`, `lexer_row_emptiness_fuel`.
    pub fn row(&mut self, id: LexStateId) -> Result<&Row, Fault> {
        if self.row_of[id.index()] == u32::MAX {
            let row = self.build_row(id)?;
            let quick = self.quick_row(id, &row);
            self.row_of[id.index()] = self.rows.len() as u32;
            self.quick_rows.push(quick);
            self.rows.push(row);
        }
        Ok(&self.rows[self.row_of[id.index()] as usize])
    }

    fn quick_row(&self, id: LexStateId, row: &Row) -> [u32; 256] {
        let ends = self.states[id].ends;
        let can_end = ends != NO_LEXEMES;
        let is_longest = self.cfg.mode == LexerMode::Longest;
        let all_compete = self.lexeme_sets[ends].iter().all(|&lexeme| self.cfg.lexemes[lexeme].competes);
        let records = self.states[id].records;
        row.next.map(|next| {
            let state = &self.states[next];
            // In `exact` mode a lexeme may end where another goes on, and ignored text must be able to end.
            let stays = state.kind == StateKind::Inside
                && (is_longest || !state.may_be_stuck && (!can_end || all_compete && state.competes))
                // Where nothing is recorded any more, it is forgotten where that began.
                && state.records == records
                && !state.is_late;
            match next {
                DEAD if can_end => ASK,
                DEAD => REFUSED,
                _ if stays => next.0,
                _ => ASK,
            }
        })
    }

    /// In `exact` mode: lexemes that end in the state before a byte, after which the thread is in the state `next`.
    #[inline]
    pub fn ends_before(&mut self, id: LexStateId, byte: u8, next: LexStateId) -> Result<LexemeSetId, Fault> {
        let LexState { ends, ends_ignored, .. } = self.states[id];
        let competes = self.states[next].competes;
        let is_held = competes || ends_ignored && self.row(id)?.ignored_goes_on.contains(byte);
        if ends == NO_LEXEMES || !is_held {
            return Ok(ends);
        }
        let key = self.states[id].key.clone();
        let mut left = Vec::new();
        for &lexeme in &self.lexeme_sets[ends].to_vec() {
            let rest = key.entries.iter().find(|(live, _)| *live == lexeme).expect("a lexeme that ends is live").1;
            let (is_ignored, is_competing) =
                (self.cfg.lexemes[lexeme].ignored_by.is_some(), self.cfg.lexemes[lexeme].competes);
            let is_held = match is_competing {
                true => competes,
                false => is_ignored && self.takes(lexeme, rest, byte)?,
            };
            if !is_held {
                left.push(lexeme);
            }
        }
        Ok(self.lexeme_set(&left))
    }

    fn takes(&mut self, lexeme: LexemeId, rest: Rest, byte: u8) -> Result<bool, Fault> {
        let cfg = self.cfg.clone();
        Ok(match &cfg.lexemes[lexeme].pattern {
            Pattern::Literal(bytes) => bytes.get(rest as usize) == Some(&byte),
            Pattern::Literals(trie) => trie.children(rest).any(|(edge, _)| edge == byte),
            Pattern::Regex(_) => self.rest_after(rest, byte)?.is_some(),
        })
    }

    /// All derivatives of an expression.
    pub fn expr_row(&mut self, expr: Expr) -> Result<Arc<ExprRow>, Fault> {
        if let Some(row) = self.expr_rows.get(&expr) {
            return Ok(row.clone());
        }
        let row = self.arena.row(expr, &self.limits)?;
        self.expr_rows.insert(expr, row.clone());
        Ok(row)
    }

    fn matches(&mut self, lexeme: LexemeId, rest: Rest) -> bool {
        match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Literal(bytes) => rest as usize == bytes.len(),
            Pattern::Literals(trie) => trie.is_leaf(rest),
            Pattern::Regex(_) => self.rest_matches(rest),
        }
    }

    /// What a rest of a regex consists of.
    fn parts(&self, rest: Rest) -> (Expr, TrieId) {
        if rest & EXCEPTED == 0 { (Expr::from_raw(rest), NO_TEXTS) } else { self.excepted[(rest & !EXCEPTED) as usize] }
    }

    /// What is left of an expression, which matches something, without texts. `None` if that is nothing.
    fn excepting(&mut self, expr: Expr, texts: TrieId) -> Result<Option<Rest>, Fault> {
        if texts == NO_TEXTS {
            return Ok(Some(expr.to_raw()));
        }
        if !self.has_other(expr, texts)? {
            return Ok(None);
        }
        let next = EXCEPTED | self.excepted.len() as Rest;
        let rest = *self.excepted_ids.entry((expr, texts)).or_insert(next);
        if rest == next {
            self.excepted.push((expr, texts));
        }
        Ok(Some(rest))
    }

    /// What is left of a whole recorded lexeme without texts and without those of an expression. `None` if that is nothing.
    ///
    /// Errors: `lexer_row_emptiness_fuel`, `expressions_max`.
    pub fn whole_without(&mut self, lexeme: LexemeId, texts: TrieId, others: Expr) -> Result<Option<Rest>, Fault> {
        let mut expr = Expr::from_raw(self.initial[lexeme]);
        if others != Expr::NOTHING {
            expr = self.arena.without(expr, others, &self.limits)?;
        }
        if expr == Expr::NOTHING { Ok(None) } else { self.excepting(expr, texts) }
    }

    /// Whether the expression matches a text that is not among these.
    fn has_other(&mut self, expr: Expr, texts: TrieId) -> Result<bool, Fault> {
        if let Some(&known) = self.has_others.get(&(expr, texts)) {
            return Ok(known);
        }
        let mut seen: FxHashSet<(Expr, TrieId)> = FxHashSet::from_iter([(expr, texts)]);
        let mut agenda = vec![(expr, texts)];
        let mut found = false;
        while let Some((expr, texts)) = agenda.pop() {
            if seen.len() as u64 > self.limits.lexer_row_emptiness_fuel {
                return Err(Fault::exceeded("lexer_row_emptiness_fuel", self.limits.lexer_row_emptiness_fuel));
            }
            let known = self.has_others.get(&(expr, texts)).copied();
            found = known == Some(true) || self.is_nullable(expr) && !self.tries.is_leaf(texts);
            if found {
                break;
            }
            if known == Some(false) {
                continue;
            }
            let row = self.expr_row(expr)?;
            let within = self.tries.bytes_of(texts);
            found = (0..=255).any(|byte| !within.contains(byte) && row.next(byte) != Expr::NOTHING);
            if found {
                break;
            }
            for &(byte, child) in self.tries.children(texts) {
                let next = (row.next(byte), child);
                if next.0 != Expr::NOTHING && seen.insert(next) {
                    agenda.push(next);
                }
            }
        }
        if found {
            self.has_others.insert((expr, texts), true);
        } else {
            self.has_others.extend(seen.into_iter().map(|at| (at, false)));
        }
        Ok(found)
    }

    /// What is left of a regex after a byte; `None` if it does not take it.
    fn rest_after(&mut self, rest: Rest, byte: u8) -> Result<Option<Rest>, Fault> {
        let (expr, texts) = self.parts(rest);
        match self.expr_row(expr)?.next(byte) {
            Expr::NOTHING => Ok(None),
            next => self.excepting(next, self.tries.child(texts, byte)),
        }
    }

    fn rest_matches(&mut self, rest: Rest) -> bool {
        let (expr, texts) = self.parts(rest);
        self.is_nullable(expr) && !self.tries.is_leaf(texts)
    }

    pub(super) fn is_nullable(&mut self, expr: Expr) -> bool {
        let arena = &self.arena;
        *self.nullable.entry(expr).or_insert_with(|| arena.nullable(expr))
    }

    /// Whether what is left of a recorded lexeme matches a text.
    pub fn takes_text(&mut self, mut rest: Rest, text: &[u8]) -> Result<bool, Fault> {
        for &byte in text {
            match self.rest_after(rest, byte)? {
                Some(next) => rest = next,
                None => return Ok(false),
            }
        }
        Ok(self.rest_matches(rest))
    }

    /// The state without exceptions; `None` if it has none.
    pub fn without_exceptions(&mut self, id: LexStateId) -> Result<Option<LexStateId>, Fault> {
        let key = self.states[id].key.clone();
        let is_excepted = |(lexeme, rest): &(LexemeId, Rest)| {
            matches!(self.cfg.lexemes[*lexeme].pattern, Pattern::Regex(_)) && rest & EXCEPTED != 0
        };
        if !key.entries.iter().any(is_excepted) {
            return Ok(None);
        }
        let plain = |entry: &(LexemeId, Rest)| {
            if is_excepted(entry) { (entry.0, self.parts(entry.1).0.to_raw()) } else { *entry }
        };
        let mut entries: Vec<(LexemeId, Rest)> = key.entries.iter().map(plain).collect();
        entries.sort_unstable();
        entries.dedup();
        self.intern(StateKey { entries: entries.into(), ..*key }).map(Some)
    }

    /// A state that is like this one for all who look no further than to the arena's horizon: counts that cannot end there
    /// do not count.
    pub fn clamped(&mut self, id: LexStateId) -> Result<LexStateId, Fault> {
        if let Some(&known) = self.clamped.get(&id) {
            return Ok(known);
        }
        let key = self.states[id].key.clone();
        let mut entries = key.entries.clone();
        for (lexeme, rest) in &mut entries {
            if matches!(self.cfg.lexemes[*lexeme].pattern, Pattern::Regex(_)) && *rest & EXCEPTED == 0 {
                *rest = self.arena.clamped(Expr::from_raw(*rest)).to_raw();
            }
        }
        let clamped = match entries == key.entries {
            true => id,
            false => {
                let mut entries = entries.into_vec();
                entries.sort_unstable();
                entries.dedup();
                self.intern(StateKey { entries: entries.into(), ..*key })?
            }
        };
        self.clamped.insert(id, clamped);
        Ok(clamped)
    }

    /// Whether of a state without exceptions something stays live whatever finitely many texts recorded lexemes leave out:
    /// a lexeme that is not recorded, or one that some byte leads to itself and that so matches endlessly many texts.
    pub fn is_endless(&mut self, id: LexStateId) -> Result<bool, Fault> {
        let key = self.states[id].key.clone();
        for &(lexeme, rest) in &key.entries {
            let info = &self.cfg.lexemes[lexeme];
            if info.ignored_by.is_some() {
                continue;
            }
            let expr = Expr::from_raw(rest);
            if !info.recorded || self.expr_row(expr)?.next.contains(&expr) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the text of one of the lexemes is recorded.
    pub fn records(&self, id: LexemeSetId) -> bool {
        self.cfg.has_recorded && self.lexeme_sets[id].iter().any(|&lexeme| self.cfg.lexemes[lexeme].recorded)
    }

    /// Lexemes that end in a state, by what may then follow.
    pub fn by_follow(&mut self, id: LexStateId, ends: LexemeSetId) -> Result<Ends, Fault> {
        if !self.states[id].looks_ahead {
            return Ok(Ends::One([(Guard::NONE, ends)]));
        }
        if let Some(known) = self.by_follow.get(&(id, ends)) {
            return Ok(Ends::Many(known.clone()));
        }
        let guard = self.states[id].key.guard;
        let mut groups: Vec<(Expr, Vec<LexemeId>)> = Vec::new();
        for &lexeme in &self.lexeme_sets[ends].to_vec() {
            let follow = self.follows.get(lexeme.index()).copied().unwrap_or(Expr::ALL);
            let both = self.both(guard.owed, follow)?;
            match groups.iter_mut().find(|(follow, _)| *follow == both) {
                _ if both == Expr::NOTHING => {}
                Some((_, lexemes)) => lexemes.push(lexeme),
                None => groups.push((both, vec![lexeme])),
            }
        }
        let groups: Arc<[_]> =
            groups.into_iter().map(|(owed, ends)| (Guard { owed, ..guard }, self.lexeme_set(&ends))).collect();
        self.by_follow.insert((id, ends), groups.clone());
        Ok(Ends::Many(groups))
    }

    /// The state in which besides only these texts may follow; [`DEAD`] if none is left. Where lexemes begin, those are left
    /// out that do not begin after what was before; a state further on knows that itself.
    pub fn guarded(&mut self, id: LexStateId, guard: Guard) -> Result<LexStateId, Fault> {
        if guard == Guard::NONE {
            return Ok(id);
        }
        if let Some(&known) = self.guarded.get(&(id, guard)) {
            return Ok(known);
        }
        let key = self.states[id].key.clone();
        let owed = self.both(key.guard.owed, guard.owed)?;
        let past = if key.guard.past == Past::NONE { guard.past } else { key.guard.past };
        let begins = key.guard.past != past && key.kind == StateKind::Fresh;
        let next = match owed {
            Expr::NOTHING => DEAD,
            _ => {
                let mut entries = key.entries.to_vec();
                if begins {
                    let arena = &self.arena;
                    entries.retain(|&(lexeme, _)| self.pasts.may_begin(past, lexeme, arena));
                }
                self.intern(StateKey { entries: entries.into(), kind: key.kind, guard: Guard { owed, past } })?
            }
        };
        self.guarded.insert((id, guard), next);
        Ok(next)
    }

    /// What look-around knows in a state.
    pub fn guard(&self, id: LexStateId) -> Guard {
        self.states[id].key.guard
    }

    fn both(&self, a: Expr, b: Expr) -> Result<Expr, Fault> {
        match (a, b) {
            (Expr::ALL, other) | (other, Expr::ALL) => Ok(other),
            _ if a == b => Ok(a),
            _ => self.arena.both(a, b, &self.limits),
        }
    }

    /// What look-around knows after a byte.
    fn guard_after(&mut self, guard: Guard, byte: u8) -> Result<Guard, Fault> {
        Ok(Guard { owed: self.owed_after(guard.owed, byte)?, past: self.past_after(guard.past, byte)? })
    }

    fn past_after(&mut self, past: Past, byte: u8) -> Result<Past, Fault> {
        if past == Past::NONE {
            return Ok(past);
        }
        if let Some(known) = self.pasts.known_after(past, byte) {
            return Ok(known);
        }
        let exprs = self.pasts.exprs(past).to_vec();
        let next =
            exprs.into_iter().map(|expr| Ok(self.expr_row(expr)?.next(byte))).collect::<Result<Vec<_>, Fault>>()?;
        self.pasts.step(past, byte, next, self.limits.lexer_states_max)
    }

    fn owed_after(&mut self, owed: Expr, byte: u8) -> Result<Expr, Fault> {
        if owed == Expr::ALL {
            return Ok(owed);
        }
        let next = self.expr_row(owed)?.next(byte);
        let is_all = match self.is_all.get(&next) {
            Some(&known) => known,
            None => {
                let is_all = self.arena.without(Expr::ALL, next, &self.limits)? == Expr::NOTHING;
                self.is_all.insert(next, is_all);
                is_all
            }
        };
        Ok(if is_all { Expr::ALL } else { next })
    }

    /// The state after bytes; `DEAD` if they cannot follow.
    pub fn run(&mut self, mut id: LexStateId, bytes: &[u8]) -> Result<LexStateId, Fault> {
        for &byte in bytes {
            id = self.next(id, byte)?;
        }
        Ok(id)
    }

    fn intern(&mut self, key: StateKey) -> Result<LexStateId, Fault> {
        if let Some(&id) = self.state_ids.get(&key) {
            return Ok(id);
        }
        if self.states.len() >= self.limits.lexer_states_max {
            return Err(Fault::exceeded("lexer_states_max", self.limits.lexer_states_max as u64));
        }
        let mut matched = Vec::new();
        let mut all_match = true;
        for &(lexeme, rest) in &key.entries {
            if key.kind == StateKind::Fresh || !self.matches(lexeme, rest) {
                all_match = false;
            } else if matched.last() != Some(&lexeme) {
                matched.push(lexeme);
            }
        }
        let surely_grows = !all_match && key.guard == Guard::NONE && key.kind != StateKind::LazyEnd;
        let ends = if key.kind == StateKind::LazyEnd { matched.clone() } else { self.ends(&matched) };
        let is_mixed = self.cfg.mode == LexerMode::Exact;
        let competes = is_mixed && key.entries.iter().any(|(lexeme, _)| self.cfg.lexemes[*lexeme].competes);
        let records = self.cfg.has_recorded && key.entries.iter().any(|(lexeme, _)| self.cfg.lexemes[*lexeme].recorded);
        let has_follow = |lexeme: LexemeId| self.follows.get(lexeme.index()).is_some_and(|&follow| follow != Expr::ALL);
        let is_guarded = key.guard.owed != Expr::ALL;
        let looks_ahead =
            key.guard != Guard::NONE || self.cfg.has_follows && matched.iter().any(|&lexeme| has_follow(lexeme));
        // What recorded texts lead to is not asked.
        let is_asked = !competes && !records && !key.entries.is_empty();
        let is_bound = is_asked
            && (is_guarded
                || key.entries.iter().all(|&(lexeme, _)| {
                    self.cfg.lexemes[lexeme].ignored_by.is_some() || self.cfg.has_follows && has_follow(lexeme)
                }));
        let is_late = records && matched.iter().any(|&lexeme| self.late.get(lexeme.index()) == Some(&Some(true)));
        let ends_ignored = ends.iter().any(|&lexeme| self.cfg.lexemes[lexeme].ignored_by.is_some());
        let state = LexState {
            kind: key.kind,
            ends_ignored,
            surely_grows,
            records,
            is_late,
            matched: self.lexeme_set(&matched),
            ends: self.lexeme_set(&ends),
            is_bound,
            may_be_stuck: is_bound || is_asked && self.cfg.has_behinds,
            looks_ahead,
            competes,
            key: Arc::new(key),
        };
        let key = state.key.clone();
        let id = self.states.push(state);
        self.row_of.push(u32::MAX);
        self.steps.push(Step::default());
        self.state_ids.insert(key, id);
        Ok(id)
    }

    /// Of the lexemes that match, those that end: of those that compete the ones of the highest priority, and all others.
    fn ends(&self, matched: &[LexemeId]) -> Vec<LexemeId> {
        let lexemes = &self.cfg.lexemes;
        let mut ends = matched.to_vec();
        let competing = || matched.iter().filter(|&&lexeme| lexemes[lexeme].competes);
        let highest = competing().map(|&lexeme| lexemes[lexeme].priority).max();
        ends.retain(|&lexeme| !lexemes[lexeme].competes || Some(lexemes[lexeme].priority) == highest);
        let is_keyword = |&lexeme: &LexemeId| lexemes[lexeme].competes && lexemes[lexeme].is_literal;
        if self.cfg.keywords && ends.iter().any(is_keyword) {
            ends.retain(|&lexeme| !lexemes[lexeme].competes || lexemes[lexeme].is_literal);
        }
        ends
    }

    fn build_row(&mut self, id: LexStateId) -> Result<Row, Fault> {
        let key = self.states[id].key.clone();
        let mut row = Row { next: [DEAD; 256], live: ByteSet::EMPTY, ignored_goes_on: ByteSet::EMPTY };
        if key.kind == StateKind::LazyEnd {
            return Ok(row);
        }
        let cfg = self.cfg.clone();
        // Literals are gathered by byte; regexes split the bytes into classes.
        let mut literals: Vec<(u8, (LexemeId, Rest))> = Vec::new();
        let mut regexes: Vec<(LexemeId, Arc<ExprRow>, TrieId)> = Vec::new();
        // Bytes after which exceptions count.
        let mut excepted = ByteSet::EMPTY;
        for &(lexeme, rest) in &key.entries {
            match &cfg.lexemes[lexeme].pattern {
                Pattern::Literal(bytes) => {
                    literals.extend(bytes.get(rest as usize).map(|&byte| (byte, (lexeme, rest + 1))));
                }
                Pattern::Literals(trie) => {
                    literals.extend(trie.children(rest).map(|(byte, child)| (byte, (lexeme, child))));
                }
                Pattern::Regex(_) => {
                    let (expr, texts) = self.parts(rest);
                    excepted = excepted.union(&self.tries.bytes_of(texts));
                    regexes.push((lexeme, self.expr_row(expr)?, texts));
                }
            }
        }
        literals.sort_unstable();
        let mut literals = &literals[..];
        let mut around: Vec<Arc<ExprRow>> = Vec::new();
        let owed = Some(key.guard.owed).filter(|&owed| owed != Expr::ALL);
        for expr in owed.into_iter().chain(self.pasts.exprs(key.guard.past).to_vec()) {
            around.push(self.expr_row(expr)?);
        }
        let class_of = common_classes(regexes.iter().map(|regex| &regex.1).chain(&around));
        let mut by_class = [None; 256];
        for byte in 0..=255u8 {
            let class = usize::from(class_of[usize::from(byte)]);
            let (taken, others) = literals.split_at(literals.partition_point(|literal| literal.0 == byte));
            literals = others;
            let is_plain = taken.is_empty() && !excepted.contains(byte);
            if is_plain && let Some(known) = by_class[class] {
                row.next[usize::from(byte)] = known;
                continue;
            }
            let mut entries: Vec<(LexemeId, Rest)> = taken.iter().map(|literal| literal.1).collect();
            for (lexeme, expr_row, texts) in &regexes {
                let next = expr_row.next(byte);
                if next != Expr::NOTHING {
                    let rest = self.excepting(next, self.tries.child(*texts, byte))?;
                    entries.extend(rest.map(|rest| (*lexeme, rest)));
                }
            }
            entries.sort_unstable();
            entries.dedup();
            let guard = self.guard_after(key.guard, byte)?;
            let next = self.enter(entries, guard)?;
            row.next[usize::from(byte)] = next;
            if is_plain {
                by_class[class] = Some(next);
            }
        }
        (0..=255u8).filter(|&byte| row.next[usize::from(byte)] != DEAD).for_each(|byte| row.live.insert(byte));
        if cfg.mode == LexerMode::Exact {
            let matched = self.lexeme_sets[self.states[id].matched].clone();
            for &lexeme in &matched {
                if cfg.lexemes[lexeme].ignored_by.is_some() && !cfg.lexemes[lexeme].competes {
                    let rest = key.entries.iter().find(|(live, _)| *live == lexeme).expect("a match is live").1;
                    for byte in 0..=255u8 {
                        if self.takes(lexeme, rest, byte)? {
                            row.ignored_goes_on.insert(byte);
                        }
                    }
                }
            }
        }
        Ok(row)
    }

    /// The state of these entries after a byte: lazy lexemes that match end all others that compete with them.
    fn enter(&mut self, mut entries: Vec<(LexemeId, Rest)>, guard: Guard) -> Result<LexStateId, Fault> {
        if entries.is_empty() || guard.owed == Expr::NOTHING {
            return Ok(DEAD);
        }
        let cfg = self.cfg.clone();
        let mut ends_now = |&(lexeme, rest): &(LexemeId, Rest)| {
            cfg.lexemes[lexeme].competes && cfg.lexemes[lexeme].lazy && self.matches(lexeme, rest)
        };
        let mut kind = StateKind::Inside;
        if entries.iter().any(&mut ends_now) {
            entries.retain(|entry| !cfg.lexemes[entry.0].competes || ends_now(entry));
            if cfg.mode == LexerMode::Longest {
                kind = StateKind::LazyEnd;
            }
        }
        self.intern(StateKey { entries: entries.into(), kind, guard })
    }
}

/// The coarsest classes of bytes that are within the classes of each row.
fn common_classes<'a>(rows: impl Iterator<Item = &'a Arc<ExprRow>>) -> [u8; 256] {
    let mut class_of = [0; 256];
    let mut count = 1;
    for row in rows {
        // Numbers of pairs of an old class and one of the row. There are no more pairs than bytes.
        let mut ids = vec![None; count * row.next.len()];
        count = 0;
        for (class, &other) in class_of.iter_mut().zip(&row.class_of) {
            let id = &mut ids[usize::from(*class) * row.next.len() + usize::from(other)];
            *class = *id.get_or_insert_with(|| {
                count += 1;
                (count - 1) as u8
            });
        }
    }
    class_of
}
