//! States of the lexer, rows of their automaton, and which lexemes end in each.
//!
//! A state is a sorted list of (lexeme, what is left of it). What is left is an expression of the shared arena, an
//! offset into a literal, or a node of a literal trie, so that 100,000 literals cost child look-ups, not derivatives; of
//! a recorded lexeme with exceptions an expression and a node of a trie of texts. A lexeme may be there several times,
//! with other exceptions.

use std::sync::Arc;

use larkspur_grammar::algebra::Horizon;
use larkspur_grammar::hashing::hash_of;
use larkspur_grammar::index::Id;
use larkspur_grammar::{IndexVec, LexerMode, Limits, define_id};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::arena::{Arena, Expr, ExprRow};
use super::cuts::Characters;
use super::exceptions::{NO_TEXTS, TrieId, Tries};
use super::guards::{Guard, Guarded};
use super::late::Lateness;
use super::leaps::Leap;
use super::past::Pasts;
use super::rows::{Row, Step};
use super::split::{Entries, Entry};
use crate::cfg::{Cfg, LexemeId, Pattern};
use crate::error::Fault;
use crate::growing::{GrowingIds, GrowingMap};

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

/// What is left of a lexeme: an [`Expr`] (with [`EXCEPTED`] an expression and texts that are left out), an offset or a
/// trie node, by the lexeme's [`Pattern`].
pub(crate) type Rest = u32;

/// Set in a [`Rest`] that is a number in [`Lexer::excepted`].
pub(super) const EXCEPTED: Rest = 1 << 31;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct StateKey {
    /// Sorted, each once.
    pub entries: SmallVec<[Entry; 2]>,
    pub kind: StateKind,
    pub guard: Guard,
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
    pub(super) key: Arc<StateKey>,
    pub kind: StateKind,
    /// Lexemes that match here.
    pub(super) matched: LexemeSetId,
    /// Lexemes that end if the next letter ends lexemes: those that match, by the mode's rule of priority.
    pub ends: LexemeSetId,
    /// Of these, the ones behind which the grammar may have more bytes.
    pub ends_before_more: LexemeSetId,
    /// Whether one of those is ignored text.
    pub(super) ends_ignored: bool,
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
    /// Whether a lexeme matches that may leave out its text: see [`Lexer::lateness`].
    pub is_late: bool,
    /// Whether a lexeme is live of which so few texts are left that those it leaves out may be all: see [`super::late`].
    pub is_near: bool,
    /// Whether some byte can follow, if that is seen without a row: it can if not all that is live matches, since what is left
    /// of a lexeme is never nothing, or if longer texts show, and it cannot where nothing is left of any.
    grows: Option<bool>,
}

impl LexState {
    /// Whether lexemes must be asked there for what they leave out.
    pub fn is_watched(&self) -> bool {
        self.is_late || self.is_near
    }
}

/// The automaton of one grammar and epoch.
#[derive(Debug)]
pub(crate) struct Lexer {
    pub(super) cfg: Arc<Cfg>,
    pub(super) arena: Arc<Arena>,
    pub(super) limits: Limits,
    /// What is left of each whole lexeme. Indexed by lexeme.
    pub(super) initial: IndexVec<LexemeId, Rest>,
    pub(super) states: IndexVec<LexStateId, LexState>,
    /// Lexemes of all states.
    entries_len: usize,
    /// States by their keys.
    state_ids: GrowingIds<LexStateId>,
    /// Indexed by state.
    pub(super) rows: Vec<Option<Box<Row>>>,
    /// How many states have a row.
    pub(super) rows_len: usize,
    /// The step that was taken from each state, until it has a row. Indexed by state.
    pub(super) steps: Vec<Step>,
    /// The last leap from each state of which a [`Step`] says that there is one.
    pub(super) leaps: GrowingMap<LexStateId, Leap>,
    pub(super) expr_rows: GrowingMap<Expr, Arc<ExprRow>>,
    pub(super) nullable: GrowingMap<Expr, bool>,
    pub(super) lexeme_sets: IndexVec<LexemeSetId, Box<[LexemeId]>>,
    /// Work of the regex algebra for the question that is being answered, as `Limits::lexer_work_max` counts it.
    pub work: u64,
    /// Whether the text of one of the lexemes of a set is recorded.
    recorded_sets: IndexVec<LexemeSetId, bool>,
    pub(super) lexeme_set_ids: FxHashMap<Box<[LexemeId]>, LexemeSetId>,
    pub tries: Tries,
    /// What is left of lexemes with exceptions.
    pub(super) excepted: Vec<(Expr, TrieId)>,
    pub(super) excepted_ids: GrowingMap<(Expr, TrieId), Rest>,
    /// Whether the expression matches a text that is not in the trie.
    pub(super) has_others: GrowingMap<(Expr, TrieId), bool>,
    /// What may follow each lexeme, empty if nothing depends on it. Indexed by lexeme.
    pub(super) follows: Vec<Expr>,
    /// [`Lexer::by_follow`].
    pub(super) by_follow: GrowingMap<(LexStateId, LexemeSetId), Arc<[Guarded<LexemeSetId>]>>,
    /// [`Lexer::guarded`].
    pub(super) guarded: GrowingMap<(LexStateId, Guard), LexStateId>,
    pub(super) characters: Characters,
    /// What look-behinds know of the text so far.
    pub pasts: Pasts,
    /// Whether everything matches.
    pub(super) is_all: FxHashMap<Expr, bool>,
    /// States with counts clamped: see [`Lexer::clamped`].
    pub(super) clamped: GrowingMap<(LexStateId, Horizon), LexStateId>,
    /// [`Lexer::lateness`] as far as it is known. Indexed by lexeme; empty if none is.
    pub(super) late: Vec<Option<Lateness>>,
    /// Whether texts of some lexeme are counted.
    pub(super) has_counted: bool,
    /// [`Lexer::texts_left`].
    pub(super) texts_left: GrowingMap<Expr, u32>,
    /// Texts that late lexemes leave out wherever they stand: see [`Lexer::left_out`].
    pub(super) left_out: FxHashMap<LexemeId, LeftOutTexts>,
    /// [`Lexer::are_apart`] of states with several lexemes.
    pub(super) apart: GrowingMap<LexStateId, bool>,
    /// What it took to find that lexemes are not apart.
    pub(super) vain_work: u64,
    /// [`Lexer::may_be_cut`] as far as it was seen. Indexed by lexeme; empty if it was of none.
    pub(super) may_be_cut: Vec<bool>,
    /// Lexemes that may stand in a token several times: see [`super::repeats`]. Indexed by lexeme; empty if none may.
    pub(super) short: Vec<bool>,
    /// [`Lexer::ignored_always_ends`], if that was asked.
    pub(super) ignored_always_ends: Option<bool>,
}

/// Texts that a lexeme leaves out, sorted.
pub(crate) type LeftOutTexts = Arc<[Box<[u8]>]>;

/// Lexemes of a state.
type Lexemes = SmallVec<[LexemeId; 8]>;

/// So many lexemes in states take as much memory as a state.
const ENTRIES_PER_STATE: usize = 128;

/// Lexemes that [`Lexer::alone`] tells apart at most.
const ALONE_MAX: usize = 5_000;

/// The lexemes of a state that are regexes.
pub(crate) enum Alone {
    /// The state is of one lexeme only, or one could end the others.
    Whole,
    /// A state for each.
    Each(Vec<LexStateId>),
    /// There are more than are told apart.
    TooMany,
}

/// The expressions of lexemes.
pub(crate) struct LexemeExprs {
    /// Of all that are regexes; `None` for others.
    pub exprs: IndexVec<LexemeId, Option<Expr>>,
    /// Of those that leave out texts, without that.
    but_for: Vec<(LexemeId, Expr)>,
}

/// The expressions of a grammar's lexemes.
///
/// Errors: see [`Arena::lower`].
pub(crate) fn lower(cfg: &Cfg, arena: &Arena) -> Result<LexemeExprs, Fault> {
    let regex = |pattern: &Pattern| match *pattern {
        Pattern::Regex(regex) => Some(regex),
        _ => None,
    };
    let mut exprs: IndexVec<LexemeId, Option<Expr>> = vec![None; cfg.lexemes.len()].into();
    // Texts that are left out late need no expression: see `Lexer::leave_out`.
    let but_for = lower_but_for(cfg, arena)?;
    for &(id, pattern) in &but_for {
        let is_endless = arena.late(arena.but_for_finitely_many(pattern)) == Some(Lateness::Endless);
        exprs[id] = is_endless.then_some(pattern);
    }
    let others = cfg.lexemes.iter_enumerated().filter(|(id, _)| exprs[*id].is_none());
    let others = others.filter_map(|(id, lexeme)| Some((id, regex(&lexeme.pattern)?)));
    let (ids, regexes): (SmallVec<[_; 16]>, SmallVec<[_; 16]>) = others.unzip();
    for (id, expr) in ids.into_iter().zip(arena.lower(&cfg.regexes, &regexes)?) {
        exprs[id] = Some(expr);
    }
    Ok(LexemeExprs { exprs, but_for })
}

/// The expressions of lexemes that leave out texts, without that.
fn lower_but_for(cfg: &Cfg, arena: &Arena) -> Result<Vec<(LexemeId, Expr)>, Fault> {
    let but_for = cfg.lexemes.iter_enumerated().filter_map(|(id, lexeme)| Some((id, lexeme.but_for.as_ref()?.pattern)));
    let (ids, patterns): (Vec<_>, Vec<_>) = but_for.unzip();
    Ok(ids.into_iter().zip(arena.lower(&cfg.regexes, &patterns)?).collect())
}

impl Lexer {
    /// A lexer of the lexemes as [`lower`] gives them.
    ///
    /// Errors: see [`Arena::lower`].
    pub fn new(cfg: Arc<Cfg>, lowered: &LexemeExprs, arena: Arc<Arena>, limits: &Limits) -> Result<Self, Fault> {
        let initial: Vec<Rest> = lowered.exprs.iter().map(|expr| expr.map_or(0, Expr::to_raw)).collect();
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
            entries_len: 0,
            state_ids: GrowingIds::default(),
            rows: Vec::new(),
            rows_len: 0,
            steps: Vec::new(),
            leaps: GrowingMap::default(),
            expr_rows: GrowingMap::default(),
            nullable: GrowingMap::default(),
            lexeme_sets: IndexVec::new(),
            work: 0,
            recorded_sets: IndexVec::new(),
            lexeme_set_ids: FxHashMap::default(),
            tries: Tries::new(),
            excepted: Vec::new(),
            excepted_ids: GrowingMap::default(),
            has_others: GrowingMap::default(),
            follows,
            by_follow: GrowingMap::default(),
            guarded: GrowingMap::default(),
            characters: Characters::default(),
            is_all: FxHashMap::default(),
            clamped: GrowingMap::default(),
            late: Vec::new(),
            has_counted: false,
            texts_left: GrowingMap::default(),
            left_out: FxHashMap::default(),
            apart: GrowingMap::default(),
            vain_work: 0,
            may_be_cut: Vec::new(),
            short: Vec::new(),
            ignored_always_ends: None,
        };
        lexer.lexeme_set(&[]);
        lexer.intern(&[], StateKind::Inside, Guard::NONE)?;
        lexer.leave_out(&lowered.but_for);
        lexer.find_short();
        Ok(lexer)
    }

    pub fn mode(&self) -> LexerMode {
        self.cfg.mode
    }

    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Bytes of states and rows, roughly.
    pub fn bytes(&self) -> usize {
        self.states.len() * (size_of::<LexState>() + size_of::<StateKey>()) + self.rows_len * size_of::<Row>()
    }

    pub fn state(&self, id: LexStateId) -> &LexState {
        &self.states[id]
    }

    pub fn lexemes(&self, id: LexemeSetId) -> &[LexemeId] {
        &self.lexeme_sets[id]
    }

    /// Interns a sorted list of lexemes.
    pub fn lexeme_set(&mut self, lexemes: &[LexemeId]) -> LexemeSetId {
        if lexemes.is_empty() && !self.lexeme_sets.is_empty() {
            return NO_LEXEMES;
        }
        if let Some(&id) = self.lexeme_set_ids.get(lexemes) {
            return id;
        }
        let id = self.lexeme_sets.push(lexemes.into());
        self.recorded_sets.push(lexemes.iter().any(|&lexeme| self.cfg.lexemes[lexeme].recorded));
        self.lexeme_set_ids.insert(lexemes.into(), id);
        id
    }

    /// Lexemes that are live in the state.
    pub fn live_lexemes(&self, id: LexStateId) -> impl Iterator<Item = LexemeId> + '_ {
        self.states[id].key.entries.iter().map(|&(lexeme, _)| lexeme)
    }

    /// Whether some lexeme takes a byte. Seldom needs a row, which most states that are met once are spared.
    pub fn grows(&mut self, id: LexStateId) -> Result<bool, Fault> {
        match self.states[id].grows {
            Some(known) => Ok(known),
            None => Ok(!self.row(id)?.live.is_empty()),
        }
    }

    /// Lexemes of the state that take some byte.
    pub fn growing_lexemes(&mut self, id: LexStateId) -> Result<Vec<LexemeId>, Fault> {
        let key = self.states[id].key.clone();
        let cfg = self.cfg.clone();
        let mut growing = Vec::new();
        for &(lexeme, rest) in &key.entries {
            let mut grows = cfg.lexemes[lexeme].pattern.literal_children(rest).next().is_some();
            if cfg.lexemes[lexeme].pattern.is_regex() {
                for byte in 0..=255 {
                    grows = grows || self.rest_after(rest, byte)?.is_some();
                }
            }
            if grows {
                growing.push(lexeme);
            }
        }
        Ok(growing)
    }

    /// The regex algebra that the lexemes are in.
    pub fn arena(&self) -> &Arc<Arena> {
        &self.arena
    }

    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The state in which each of `lexemes` (sorted) is whole.
    pub fn start(&mut self, lexemes: &[LexemeId]) -> Result<LexStateId, Fault> {
        let entries: Entries = lexemes.iter().map(|&lexeme| (lexeme, self.initial[lexeme])).collect();
        self.intern(&entries, StateKind::Fresh, Guard::NONE)
    }

    pub(super) fn key(&self, id: LexStateId) -> &StateKey {
        &self.states[id].key
    }

    /// The state of a single lexeme.
    pub fn single(&mut self, entry: (LexemeId, Rest), is_fresh: bool) -> Result<LexStateId, Fault> {
        let kind = if is_fresh { StateKind::Fresh } else { StateKind::Inside };
        self.intern(&[entry], kind, Guard::NONE)
    }

    /// The state in which this is left of lexemes; sorts them.
    pub fn start_with(&mut self, entries: &mut Vec<Entry>) -> Result<LexStateId, Fault> {
        entries.sort_unstable();
        entries.dedup();
        self.intern(entries, StateKind::Fresh, Guard::NONE)
    }

    /// The lexemes of a state that are regexes, each alone.
    pub fn alone(&mut self, id: LexStateId) -> Result<Alone, Fault> {
        let key = self.states[id].key.clone();
        let cfg = self.cfg.clone();
        // Those of one lexeme stand together.
        let each = || key.entries.chunk_by(|(one, _), (other, _)| one == other);
        if each().nth(1).is_none() || each().any(|entries| cfg.lexemes[entries[0].0].lazy) {
            return Ok(Alone::Whole);
        }
        let regexes = each().filter(|entries| cfg.lexemes[entries[0].0].pattern.is_regex());
        if regexes.clone().count() > ALONE_MAX {
            return Ok(Alone::TooMany);
        }
        regexes.map(|entries| self.intern(entries, key.kind, key.guard)).collect::<Result<_, _>>().map(Alone::Each)
    }

    /// What is left of a whole lexeme.
    pub fn whole(&self, lexeme: LexemeId) -> Rest {
        self.initial[lexeme]
    }

    /// The state with only those live lexemes that `keep` says. `DEAD` if none stays.
    pub fn retain(&mut self, id: LexStateId, keep: impl Fn(LexemeId) -> bool) -> Result<LexStateId, Fault> {
        let key = self.states[id].key.clone();
        let entries: Entries = key.entries.iter().copied().filter(|&(lexeme, _)| keep(lexeme)).collect();
        if entries.is_empty() { Ok(DEAD) } else { self.intern(&entries, key.kind, key.guard) }
    }

    pub(super) fn matches(&mut self, lexeme: LexemeId, rest: Rest) -> bool {
        match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Regex(_) => self.rest_matches(rest),
            literal => literal.is_literal_end(rest),
        }
    }

    /// What a rest of a regex consists of.
    pub(super) fn parts(&self, rest: Rest) -> (Expr, TrieId) {
        if rest & EXCEPTED == 0 { (Expr::from_raw(rest), NO_TEXTS) } else { self.excepted[(rest & !EXCEPTED) as usize] }
    }

    /// What is left of an expression, which matches something, without texts. `None` if that is nothing.
    pub(super) fn excepting(&mut self, expr: Expr, texts: TrieId) -> Result<Option<Rest>, Fault> {
        if texts == NO_TEXTS {
            return Ok(Some(expr.to_raw()));
        }
        if !self.has_other(expr, texts)? {
            return Ok(None);
        }
        let next = EXCEPTED | self.excepted.len() as Rest;
        let rest = self.excepted_ids.get_or_insert_with((expr, texts), || next);
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
    pub fn has_other(&mut self, expr: Expr, texts: TrieId) -> Result<bool, Fault> {
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
    pub(super) fn rest_after(&mut self, rest: Rest, byte: u8) -> Result<Option<Rest>, Fault> {
        let (expr, texts) = self.parts(rest);
        match self.expr_row(expr)?.next(byte) {
            Expr::NOTHING => Ok(None),
            next => self.excepting(next, self.tries.child(texts, byte)),
        }
    }

    pub(super) fn rest_matches(&mut self, rest: Rest) -> bool {
        let (expr, texts) = self.parts(rest);
        self.is_nullable(expr) && !self.tries.is_leaf(texts)
    }

    pub(super) fn is_nullable(&mut self, expr: Expr) -> bool {
        let arena = &self.arena;
        self.nullable.get_or_insert_with(expr, || arena.nullable(expr))
    }

    /// Whether what is left of a recorded lexeme matches a text.
    pub fn takes_text(&mut self, rest: Rest, text: &[u8]) -> Result<bool, Fault> {
        Ok(self.rest_behind(rest, text)?.is_some_and(|rest| self.rest_matches(rest)))
    }

    /// Whether it matches a text that begins so.
    pub fn begins_with(&mut self, rest: Rest, text: &[u8]) -> Result<bool, Fault> {
        Ok(self.rest_behind(rest, text)?.is_some())
    }

    fn rest_behind(&mut self, mut rest: Rest, text: &[u8]) -> Result<Option<Rest>, Fault> {
        for &byte in text {
            match self.rest_after(rest, byte)? {
                Some(next) => rest = next,
                None => return Ok(None),
            }
        }
        Ok(Some(rest))
    }

    /// The state without exceptions; `None` if it has none.
    pub fn without_exceptions(&mut self, id: LexStateId) -> Result<Option<LexStateId>, Fault> {
        let key = self.states[id].key.clone();
        let is_excepted =
            |(lexeme, rest): &(LexemeId, Rest)| self.cfg.lexemes[*lexeme].pattern.is_regex() && rest & EXCEPTED != 0;
        if !key.entries.iter().any(is_excepted) {
            return Ok(None);
        }
        let plain = |entry: &(LexemeId, Rest)| {
            if is_excepted(entry) { (entry.0, self.parts(entry.1).0.to_raw()) } else { *entry }
        };
        let mut entries: Vec<(LexemeId, Rest)> = key.entries.iter().map(plain).collect();
        entries.sort_unstable();
        entries.dedup();
        self.intern(&entries, key.kind, key.guard).map(Some)
    }

    /// A state that is like this one for all tokens: see [`clamped_to`](Self::clamped_to).
    pub fn clamped(&mut self, id: LexStateId) -> Result<LexStateId, Fault> {
        self.clamped_to(id, self.arena.horizon())
    }

    /// A state that is like this one for all who look no further ahead than a horizon: counts that cannot end there do not
    /// count.
    pub fn clamped_to(&mut self, id: LexStateId, horizon: Horizon) -> Result<LexStateId, Fault> {
        if let Some(&known) = self.clamped.get(&(id, horizon)) {
            return Ok(known);
        }
        let key = self.states[id].key.clone();
        let mut entries = key.entries.clone();
        for (lexeme, rest) in &mut entries {
            if self.cfg.lexemes[*lexeme].pattern.is_regex() && *rest & EXCEPTED == 0 {
                *rest = self.arena.clamped(Expr::from_raw(*rest), horizon).to_raw();
            }
        }
        let clamped = match entries == key.entries {
            true => id,
            false => {
                entries.sort_unstable();
                entries.dedup();
                self.intern(&entries, key.kind, key.guard)?
            }
        };
        self.clamped.insert((id, horizon), clamped);
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
        self.recorded_sets[id]
    }

    /// The state of these entries, which are sorted, each once.
    ///
    /// Errors: `lexer_states_max`; `lexer_work_max`, as which each entry beside the first one of a new state counts.
    pub(super) fn intern(&mut self, entries: &[Entry], kind: StateKind, guard: Guard) -> Result<LexStateId, Fault> {
        let hash = hash_of(&(entries, kind, guard));
        let is_same = |id| {
            let key = &self.states[id].key;
            *key.entries == *entries && (key.kind, key.guard) == (kind, guard)
        };
        if let Some(id) = self.state_ids.find(hash, is_same) {
            return Ok(id);
        }
        self.work += entries.len().saturating_sub(1) as u64;
        if self.work > self.limits.lexer_work_max {
            return Err(Fault::exceeded("lexer_work_max", self.limits.lexer_work_max));
        }
        let entries_len = self.entries_len + entries.len();
        if self.states.len() + entries_len / ENTRIES_PER_STATE >= self.limits.lexer_states_max {
            return Err(Fault::exceeded("lexer_states_max", self.limits.lexer_states_max as u64));
        }
        self.entries_len = entries_len;
        let key = StateKey { entries: entries.into(), kind, guard };
        let mut matched = Lexemes::new();
        let mut all_match = true;
        for &(lexeme, rest) in &key.entries {
            if key.kind == StateKind::Fresh || !self.matches(lexeme, rest) {
                all_match = false;
            } else if matched.last() != Some(&lexeme) {
                matched.push(lexeme);
            }
        }
        let is_read = |&(lexeme, rest): &(LexemeId, Rest)| match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Regex(_) => self.plain(rest) == Some(Expr::EPSILON),
            literal => literal.literal_children(rest).next().is_none(),
        };
        let has_more = |&(lexeme, rest): &Entry| {
            let pattern = &self.cfg.lexemes[lexeme].pattern;
            pattern.is_regex() && self.plain(rest).is_some_and(|expr| self.arena.has_more(expr))
        };
        let grows = match key.kind {
            StateKind::LazyEnd => Some(false),
            _ if !all_match => (key.guard == Guard::NONE).then_some(true),
            _ if key.entries.iter().all(is_read) => Some(false),
            _ => (key.guard == Guard::NONE && key.entries.iter().any(has_more)).then_some(true),
        };
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
        let (mut is_late, mut is_near) = (false, false);
        if records && key.kind != StateKind::Fresh {
            // One whose texts nobody has left out yet may be asked for what can follow.
            let recorded = key.entries.iter().filter(|(lexeme, _)| self.cfg.lexemes[*lexeme].recorded);
            let recorded: SmallVec<[LexemeId; 4]> = recorded.map(|&(lexeme, _)| lexeme).collect();
            recorded.into_iter().for_each(|lexeme| _ = self.lateness(lexeme));
            is_late = matched.iter().any(|&lexeme| self.is_known_late(lexeme));
            is_near = self.are_near(&key.entries);
        }
        let is_in_doubt = is_bound && !(is_mixed && self.ignored_always_ends());
        let ends_ignored = ends.iter().any(|&lexeme| self.cfg.lexemes[lexeme].ignored_by.is_some());
        let before_more: SmallVec<[LexemeId; 4]> =
            ends.iter().copied().filter(|&lexeme| !self.is_last(lexeme)).collect();
        let (ends, are_all) = (self.lexeme_set(&ends), before_more.len() == ends.len());
        let state = LexState {
            kind: key.kind,
            ends_ignored,
            grows,
            records,
            is_late,
            is_near,
            matched: self.lexeme_set(&matched),
            ends,
            ends_before_more: if are_all { ends } else { self.lexeme_set(&before_more) },
            is_bound,
            may_be_stuck: is_in_doubt || is_asked && (self.cfg.has_behinds || self.cfg.has_traps),
            looks_ahead,
            competes,
            key: Arc::new(key),
        };
        let id = self.states.push(state);
        self.rows.push(None);
        self.steps.push(Step::default());
        self.state_ids.insert(hash, id);
        Ok(id)
    }

    /// Of the lexemes that match, those that end: of those that compete the ones of the highest priority, and all others.
    fn ends(&self, matched: &[LexemeId]) -> Lexemes {
        let lexemes = &self.cfg.lexemes;
        let mut ends = Lexemes::from(matched);
        let competing = || matched.iter().filter(|&&lexeme| lexemes[lexeme].competes);
        let highest = competing().map(|&lexeme| lexemes[lexeme].priority).max();
        ends.retain(|&mut lexeme| !lexemes[lexeme].competes || Some(lexemes[lexeme].priority) == highest);
        let is_keyword = |&lexeme: &LexemeId| lexemes[lexeme].competes && lexemes[lexeme].is_literal;
        if self.cfg.keywords && ends.iter().any(is_keyword) {
            ends.retain(|&mut lexeme| !lexemes[lexeme].competes || lexemes[lexeme].is_literal);
        }
        ends
    }
}
