//! Rows of the lexer's automaton: the state after each byte, built when a state has been left some times, of most states
//! [by parts](super::begun).

use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{ByteSet, LexerMode};
use smallvec::{SmallVec, smallvec};

use super::arena::{Expr, ExprRow};
use super::begun::Left;
use super::classes::{ByteClasses, ONE, Run, Runs, with_alone};
use super::exceptions::{NO_TEXTS, TrieId};
use super::guards::Guard;
use super::split::{Entries, Entry};
use super::states::{DEAD, LexState, LexStateId, LexemeSetId, Lexer, NO_LEXEMES, Rest, StateKey, StateKind};
use crate::cfg::{Lexeme, LexemeId, Pattern};
use crate::error::Fault;

/// In a quick row: no lexeme takes the byte and none can end before it.
pub(crate) const REFUSED: u32 = u32::MAX;
/// In a quick row: the byte is more than a step inside lexemes.
pub(crate) const ASK: u32 = u32::MAX - 1;

/// A row of the automaton.
#[derive(Debug)]
pub(crate) struct Row {
    /// State after each byte; [`UNKNOWN`] for what is `left`.
    pub next: [LexStateId; 256],
    /// What nobody has asked for yet.
    pub(super) left: Option<Box<Left>>,
    /// Bytes that some live lexeme takes.
    pub live: ByteSet,
    /// In `exact` mode: bytes before which an ignored lexeme that matches here may not end, since it goes on.
    pub ignored_goes_on: ByteSet,
    /// For the trie walk, one load a byte: the state after it if the step stays inside lexemes, [`REFUSED`] or [`ASK`].
    /// Asking the state for its kind and its ends took twice the time of a walk.
    pub(super) quick: [u32; 256],
    /// Where a step is known in this grammar though not in all: see [`Lexer::settled`].
    settled: ByteSet,
    /// Bytes of [`ASK`] of which nothing is to be asked but whether texts are used up: see [`Lexer::quick_inside`].
    pub(super) near: ByteSet,
}

/// A step from a state that has no row yet: the way of a text through states that are met once, as those of a name of
/// 100,000 characters, of which each row has 2 kB and one state more than the text.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Step {
    /// The last one that was taken, and where it leads.
    pub(super) last: Option<(u8, LexStateId)>,
    /// What steps would have been spared by a row.
    pub(super) spared: u8,
    /// Bytes that some live lexeme may take, and no others, if that was asked.
    first: Option<ByteSet>,
    /// Whether a leap from here is remembered.
    pub(super) has_leap: bool,
}

impl Step {
    /// Counts one that was made, and that a row would have spared.
    pub(super) fn count_new(&mut self) {
        self.spared = self.spared.saturating_add(SPARED_BY_NEW_STEP);
    }
}

/// A row spares a look at the last step where that is taken again, a look at the first bytes, which comes with all that is asked
/// about a step besides, or else the making of a step.
const SPARED_BY_STEP: u8 = 1;
const SPARED_BY_REFUSAL: u8 = 3;
const SPARED_BY_NEW_STEP: u8 = 16;

/// Live lexemes of a state that are asked for their first bytes, at most.
const LEXEMES_ASKED_MAX: usize = 64;

/// A row is worth so much, unless these are many: it takes some microseconds, and most states of a text are left by one
/// byte.
pub(super) const ROW_COST: u8 = 48;
const ROWS_FOR_STEPS_MAX: usize = 10_000;

impl Lexer {
    /// A step of the trie walk: the state after the byte, [`REFUSED`] or [`ASK`].
    #[inline]
    pub fn quick(&self, id: LexStateId, byte: u8) -> u32 {
        match self.rows.get(id.index()) {
            Some(Some(row)) => row.quick[usize::from(byte)],
            _ => ASK,
        }
    }

    /// The same for one who knows where texts are used up, or does not care.
    #[inline]
    pub fn quick_inside(&self, id: LexStateId, byte: u8) -> u32 {
        match self.rows.get(id.index()) {
            Some(Some(row)) => match row.quick[usize::from(byte)] {
                ASK if row.near.contains(byte) => row.next[usize::from(byte)].0,
                quick => quick,
            },
            _ => ASK,
        }
    }

    /// State after a byte; builds the row when it was asked for some times.
    #[inline]
    pub fn next(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        match self.rows[id.index()].as_ref().map(|row| row.next[usize::from(byte)]) {
            Some(UNKNOWN) => self.fill(id, byte),
            Some(next) => Ok(next),
            None => self.next_without_row(id, byte),
        }
    }

    fn next_without_row(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        let Step { last, spared, .. } = self.steps[id.index()];
        let is_rare = spared < ROW_COST || self.rows_len >= ROWS_FOR_STEPS_MAX;
        if let Some((_, next)) = last.filter(|last| is_rare && last.0 == byte) {
            self.steps[id.index()].spared = spared.saturating_add(SPARED_BY_STEP);
            Ok(next)
        } else if is_rare && !self.first_bytes(id).contains(byte) {
            // What stands at one place of a date goes on with one byte or ten.
            self.steps[id.index()].spared = spared.saturating_add(SPARED_BY_REFUSAL);
            Ok(DEAD)
        } else if spared < ROW_COST {
            // The start of names is left by few bytes, each of which takes a fraction of a row.
            let next = self.single_step(id, byte)?;
            self.note_step(id, byte, next);
            Ok(next)
        } else {
            Ok(self.row_of(id, byte, byte)?.next[usize::from(byte)])
        }
    }

    /// Remembers a step that was made.
    pub(super) fn note_step(&mut self, id: LexStateId, byte: u8, next: LexStateId) {
        let step = &mut self.steps[id.index()];
        step.last = Some((byte, next));
        step.count_new();
    }

    /// The bytes that some live lexeme may take, and perhaps others.
    pub(crate) fn first_bytes(&mut self, id: LexStateId) -> ByteSet {
        if let Some(known) = self.steps[id.index()].first {
            return known;
        }
        // A step in literals is as fast.
        let is_regex = |entry: &Entry| self.cfg.lexemes[entry.0].pattern.is_regex();
        let is_asked = self.states[id].key.entries.iter().any(is_regex);
        let first = if is_asked { self.all_first_bytes(id) } else { ByteSet::ALL };
        self.steps[id.index()].first = Some(first);
        first
    }

    /// The same also where all live lexemes are literals.
    pub fn all_first_bytes(&self, id: LexStateId) -> ByteSet {
        let entries = &self.states[id].key.entries;
        // Of many lexemes some take most bytes.
        match entries.len() <= LEXEMES_ASKED_MAX {
            true => entries.iter().fold(ByteSet::EMPTY, |all, entry| all.union(&self.first_of(entry))),
            false => ByteSet::ALL,
        }
    }

    /// Of one lexeme the same.
    pub fn first_of(&self, &(lexeme, rest): &Entry) -> ByteSet {
        match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Regex(_) => self.arena.first_bytes(self.parts(rest).0),
            literal => literal.literal_bytes(rest),
        }
    }

    /// What [`row`](Self::row) would say of one byte.
    pub(super) fn single_step(&mut self, id: LexStateId, byte: u8) -> Result<LexStateId, Fault> {
        let state = &self.states[id];
        if state.kind == StateKind::LazyEnd {
            return Ok(DEAD);
        }
        let key = state.key.clone();
        let entries = self.entries_after(&key.entries, byte)?;
        let guard = self.guard_after(key.guard, byte)?;
        self.enter(entries, guard)
    }

    /// What is left of lexemes after a byte, sorted, each once.
    pub(super) fn entries_after(&mut self, before: &[Entry], byte: u8) -> Result<Entries, Fault> {
        let mut entries = Entries::new();
        self.work += before.len() as u64;
        for &(lexeme, rest) in before {
            let pattern = &self.cfg.lexemes[lexeme].pattern;
            let next = match pattern.is_regex() {
                false => pattern.literal_after(rest, byte),
                true => {
                    let (expr, texts) = self.parts(rest);
                    let left = match self.expr_rows.get(&expr) {
                        Some(row) => row.next(byte),
                        None => self.arena.step(expr, byte, &mut self.work, &self.limits)?,
                    };
                    match left {
                        Expr::NOTHING => None,
                        left => self.excepting(left, self.tries.child(texts, byte))?,
                    }
                }
            };
            entries.extend(next.map(|next| (lexeme, next)));
        }
        entries.sort_unstable();
        entries.dedup();
        Ok(entries)
    }

    /// The row of a state. Cost: microseconds the first time.
    ///
    /// Errors: `lexer_states_max`, `expressions_max`, `lexer_row_emptiness_fuel`.
    pub fn row(&mut self, id: LexStateId) -> Result<&Row, Fault> {
        match &self.rows[id.index()] {
            Some(row) if row.left.is_none() => {}
            Some(_) => drop(self.row_of(id, 0, u8::MAX)?),
            None => {
                let by_class = self.row_by_class(id)?;
                let mut row = self.spread(id, &by_class);
                self.mark_cuts(id, &mut row)?;
                self.rows[id.index()] = Some(row);
                self.rows_len += 1;
            }
        }
        Ok(self.known_row(id))
    }

    /// What is known of a row that was made or begun: see [`row`](Self::row) and [`row_of`](Self::row_of).
    pub fn known_row(&self, id: LexStateId) -> &Row {
        self.rows[id.index()].as_ref().expect("a row was made")
    }

    /// The row of a state of which each class of bytes is known.
    fn spread(&self, id: LexStateId, RowByClass { runs, next, ignored_goes_on }: &RowByClass) -> Box<Row> {
        let mut row = Box::new(Row::new(*ignored_goes_on));
        let settled_before = self.settled_before(id, ignored_goes_on);
        runs.iter().for_each(|run| self.note(id, &mut row, run, next[usize::from(run.class)], &settled_before));
        row
    }

    /// Notes where bytes lead, and what is to be asked about them.
    pub(super) fn note(
        &self,
        id: LexStateId,
        row: &mut Row,
        &Run { first, last, .. }: &Run,
        to: LexStateId,
        settled_before: &ByteSet,
    ) {
        let state = &self.states[id];
        let can_end = state.ends_before_more != NO_LEXEMES;
        let (bytes, range) = (ByteSet::range(first, last), usize::from(first)..=usize::from(last));
        row.next[range.clone()].fill(to);
        if to == DEAD {
            row.quick[range].fill(if can_end { ASK } else { REFUSED });
            if can_end {
                row.settled = row.settled.union(&bytes.intersect(settled_before));
            }
            return;
        }
        let after = &self.states[to];
        let is_inside = after.kind == StateKind::Inside && after.records == state.records;
        let all_compete = || {
            let mut ends = self.lexeme_sets[state.ends_before_more].iter();
            ends.all(|&lexeme| self.cfg.lexemes[lexeme].competes)
        };
        // In `exact` mode a lexeme may end where another goes on, and ignored text must be able to end.
        let is_longest = self.cfg.mode == LexerMode::Longest;
        let stays = is_inside
            && (is_longest || !after.may_be_stuck && (!can_end || after.competes && all_compete()))
            // Where nothing is recorded any more, it is forgotten where that began.
            && !after.is_late;
        let quick = if stays && !after.is_near { to.0 } else { ASK };
        if quick == ASK && is_inside && !after.may_be_stuck && !after.is_watched() {
            row.settled = row.settled.union(&bytes.intersect(settled_before));
        }
        if stays && after.is_near && !can_end {
            row.near = row.near.union(&bytes);
        }
        row.live = row.live.union(&bytes);
        row.quick[range].fill(quick);
    }

    /// The bytes before which what ends in the state cannot end in this grammar ([`Cfg::after`]), or is ignored text that goes
    /// on with them, so that a step is one inside lexemes, or none.
    ///
    /// [`Cfg::after`]: crate::cfg::Cfg::after
    pub(super) fn settled_before(&self, id: LexStateId, ignored_goes_on: &ByteSet) -> ByteSet {
        let ends = self.states[id].ends_before_more;
        let mut before = ByteSet::EMPTY;
        if ends == NO_LEXEMES {
            return before;
        }
        if !self.cfg.after.is_empty() {
            let after = self.lexeme_sets[ends].iter().map(|id| &self.cfg.after[id.index()]);
            before = after.fold(ByteSet::EMPTY, |all, after| all.union(after)).negate();
        }
        if let [only] = *self.lexeme_sets[ends]
            && self.cfg.lexemes[only].ignored_by.is_some()
        {
            before = before.union(ignored_goes_on);
        }
        before
    }

    /// Whether it is known which bytes may stand behind lexemes.
    pub fn knows_after(&self) -> bool {
        !self.cfg.after.is_empty()
    }

    /// Whether no byte may stand behind a lexeme, wherever in the grammar it stands.
    pub fn is_last(&self, lexeme: LexemeId) -> bool {
        self.cfg.after.get(lexeme.index()).is_some_and(ByteSet::is_empty)
    }

    /// As [`quick`](Self::quick), where that says [`ASK`], for a text of this grammar.
    #[inline]
    pub fn settled(&self, id: LexStateId, byte: u8) -> u32 {
        match self.rows.get(id.index()) {
            Some(Some(row)) if row.settled.contains(byte) => match row.next[usize::from(byte)] {
                DEAD => REFUSED,
                next => next.0,
            },
            _ => ASK,
        }
    }

    /// In `exact` mode: lexemes that end in the state before a byte, after which the thread is in the state `next`.
    #[inline]
    pub fn ends_before(&mut self, id: LexStateId, byte: u8, next: LexStateId) -> Result<LexemeSetId, Fault> {
        let LexState { ends_before_more: ends, ends_ignored, .. } = self.states[id];
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

    /// Whether it takes more to say what ends before a byte than what ends in the state: see [`Self::ends_before`].
    #[inline]
    pub fn may_be_held(&self, id: LexStateId, next: LexStateId) -> bool {
        self.states[next].competes || self.states[id].ends_ignored
    }

    /// The bytes that a lexeme which matches in a state goes on with.
    pub fn goes_on_with(&mut self, id: LexStateId, lexeme: LexemeId) -> Result<ByteSet, Fault> {
        let key = self.states[id].key.clone();
        let rest = key.entries.iter().find(|(live, _)| *live == lexeme).expect("a match is live").1;
        if self.cfg.lexemes[lexeme].pattern.is_regex() && self.parts(rest).1 == NO_TEXTS {
            let row = self.expr_row(self.parts(rest).0)?;
            return Ok(row.classes.bytes(|class| row.next[class] != Expr::NOTHING));
        }
        let mut bytes = ByteSet::EMPTY;
        for byte in 0..=255u8 {
            if self.takes(lexeme, rest, byte)? {
                bytes.insert(byte);
            }
        }
        Ok(bytes)
    }

    fn takes(&mut self, lexeme: LexemeId, rest: Rest, byte: u8) -> Result<bool, Fault> {
        let cfg = self.cfg.clone();
        Ok(match &cfg.lexemes[lexeme].pattern {
            Pattern::Regex(_) => self.rest_after(rest, byte)?.is_some(),
            literal => literal.literal_after(rest, byte).is_some(),
        })
    }

    /// All derivatives of an expression.
    pub fn expr_row(&mut self, expr: Expr) -> Result<Arc<ExprRow>, Fault> {
        if let Some(row) = self.expr_rows.get(&expr) {
            return Ok(row.clone());
        }
        let row = self.arena.row(expr, &mut self.work, &self.limits)?;
        self.expr_rows.insert(expr, row.clone());
        Ok(row)
    }

    /// Bytes that a state does not tell apart, if that depends on the derivatives of its lexemes only.
    pub(super) fn classes_of_rests(&mut self, id: LexStateId) -> Result<Option<[u8; 256]>, Fault> {
        let key = self.states[id].key.clone();
        let StateKey { entries, kind, guard } = &*key;
        let is_plain =
            |&(lexeme, rest): &Entry| self.cfg.lexemes[lexeme].pattern.is_regex() && self.parts(rest).1 == NO_TEXTS;
        let depends = *guard == Guard::NONE && *kind != StateKind::LazyEnd && entries.iter().all(is_plain);
        if !depends {
            return Ok(None);
        }
        let rows: Vec<_> =
            entries.iter().map(|&(_, rest)| self.expr_row(self.parts(rest).0)).collect::<Result<_, _>>()?;
        Ok(Some(ByteClasses::common(rows.iter().map(|row| &row.classes)).map_or([0; 256], |classes| classes.of)))
    }

    /// The state after bytes; `DEAD` if they cannot follow.
    pub fn run(&mut self, mut id: LexStateId, bytes: &[u8]) -> Result<LexStateId, Fault> {
        for &byte in bytes {
            id = self.next(id, byte)?;
        }
        Ok(id)
    }

    fn row_by_class(&mut self, id: LexStateId) -> Result<RowByClass, Fault> {
        let key = self.states[id].key.clone();
        if key.kind == StateKind::LazyEnd {
            let runs = Runs::from_slice(&ONE);
            return Ok(RowByClass { runs, next: smallvec![DEAD], ignored_goes_on: ByteSet::EMPTY });
        }
        let cfg = self.cfg.clone();
        // Literals are gathered by byte; regexes split the bytes into classes.
        let mut literals: Vec<(u8, (LexemeId, Rest))> = Vec::new();
        let mut regexes: Vec<(LexemeId, Arc<ExprRow>, TrieId)> = Vec::new();
        // Bytes that literals take, or after which exceptions count.
        let mut alone = ByteSet::EMPTY;
        for &(lexeme, rest) in &key.entries {
            match &cfg.lexemes[lexeme].pattern {
                Pattern::Regex(_) => {
                    let (expr, texts) = self.parts(rest);
                    alone = alone.union(&self.tries.bytes_of(texts));
                    regexes.push((lexeme, self.expr_row(expr)?, texts));
                }
                literal => {
                    let children = literal.literal_children(rest);
                    literals.extend(children.map(|(byte, next)| (byte, (lexeme, next))));
                }
            }
        }
        literals.sort_unstable();
        literals.iter().for_each(|&(byte, _)| alone.insert(byte));
        let mut around: Vec<Arc<ExprRow>> = Vec::new();
        let owed = Some(key.guard.owed).filter(|&owed| owed != Expr::ALL);
        for expr in owed.into_iter().chain(self.pasts.exprs(key.guard.past).to_vec()) {
            around.push(self.expr_row(expr)?);
        }
        let rows = regexes.iter().map(|regex| &regex.1).chain(&around);
        let classes = ByteClasses::common(rows.map(|row| &row.classes));
        let runs = with_alone(classes.as_ref().map_or(&ONE, |classes| &classes.runs), &alone);
        let mut next: SmallVec<[LexStateId; 16]> = SmallVec::new();
        for run in &runs {
            let (byte, class) = (run.first, usize::from(run.class));
            if next.len() <= class {
                next.resize(class + 1, UNKNOWN);
            }
            if next[class] != UNKNOWN {
                continue;
            }
            self.work += regexes.len() as u64;
            let taken = &literals[literals.partition_point(|literal| literal.0 < byte)..];
            let taken = taken.iter().take_while(|literal| literal.0 == byte);
            let mut entries: Entries = taken.map(|literal| literal.1).collect();
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
            next[class] = self.enter(entries, guard)?;
        }
        let mut ignored_goes_on = ByteSet::EMPTY;
        if cfg.mode == LexerMode::Exact {
            let matched = self.lexeme_sets[self.states[id].matched].clone();
            for &lexeme in &matched {
                if cfg.lexemes[lexeme].ignored_by.is_some() && !cfg.lexemes[lexeme].competes {
                    ignored_goes_on = ignored_goes_on.union(&self.goes_on_with(id, lexeme)?);
                }
            }
        }
        Ok(RowByClass { runs, next, ignored_goes_on })
    }

    /// The state of these entries after a byte: lazy lexemes that match end all others that compete with them.
    pub(super) fn enter(&mut self, mut entries: Entries, guard: Guard) -> Result<LexStateId, Fault> {
        if entries.is_empty() || guard.owed == Expr::NOTHING {
            return Ok(DEAD);
        }
        let mut kind = StateKind::Inside;
        let may_end_others = |lexeme: &Lexeme| lexeme.competes && lexeme.lazy;
        if entries.iter().any(|&(lexeme, _)| may_end_others(&self.cfg.lexemes[lexeme])) {
            let cfg = self.cfg.clone();
            let mut ends_now =
                |&(lexeme, rest): &Entry| may_end_others(&cfg.lexemes[lexeme]) && self.matches(lexeme, rest);
            if entries.iter().any(&mut ends_now) {
                entries.retain(|entry| !cfg.lexemes[entry.0].competes || ends_now(entry));
                if cfg.mode == LexerMode::Longest {
                    kind = StateKind::LazyEnd;
                }
            }
        }
        self.intern(&entries, kind, guard)
    }
}

/// A row before it is spread over the bytes.
struct RowByClass {
    runs: Runs,
    /// State after the bytes of each class.
    next: SmallVec<[LexStateId; 16]>,
    ignored_goes_on: ByteSet,
}

/// In a row where nobody has asked yet.
pub(super) const UNKNOWN: LexStateId = LexStateId(u32::MAX);

impl Row {
    /// Nothing is known.
    pub(super) fn new(ignored_goes_on: ByteSet) -> Self {
        Self {
            next: [UNKNOWN; 256],
            left: None,
            live: ByteSet::EMPTY,
            ignored_goes_on,
            quick: [ASK; 256],
            settled: ByteSet::EMPTY,
            near: ByteSet::EMPTY,
        }
    }
}

#[cfg(test)]
mod tests {
    use larkspur_grammar::{Limits, SourceMap, link};
    use larkspur_lark_frontend::{LarkOptions, parse};
    use larkspur_test_support::Random;
    use larkspur_toktrie::Vocabulary;

    use super::*;
    use crate::engine::{CompiledGrammar, EngineOptions, Shared};

    fn compiled(text: &str, mode: LexerMode) -> CompiledGrammar {
        let mut sources = SourceMap::new();
        let source = sources.add("", text);
        let limits = Limits::default();
        let mut grammar = parse(&mut sources, source, &LarkOptions::new(&limits)).grammar.expect("it is right");
        grammar.options.lexer = mode;
        let linked = link(vec![grammar], |_, _| Err(Vec::new())).expect("it links");
        let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &EngineOptions::default()).expect("no slices");
        CompiledGrammar::compile(&shared, linked).expect("it compiles")
    }

    #[test]
    fn rows_made_by_parts_are_those_made_at_once() {
        let texts = [
            r#"start: /[a-z]+/ | "if" | "of" /[^"\\]{2,9}/ | /é+|ü/"#,
            "start: A B?\nA: /(a|b)*abb?/\nB: /[ab]+c/\n%ignore / +/",
            "start: a | B\na[lazy]: /[a-z]+;/\nB: /[^;]+!/",
        ];
        let mut random = Random::new(1);
        let mut count = 0;
        for (text, mode) in
            texts.into_iter().flat_map(|text| [LexerMode::Exact, LexerMode::Longest].map(|mode| (text, mode)))
        {
            let compiled = compiled(text, mode);
            let epoch = compiled.epoch();
            let lexer = &mut epoch.lock().machine.lexer;
            let lexemes: Vec<LexemeId> = lexer.cfg.lexemes.ids().collect();
            lexer.start(&lexemes).expect("small");
            for id in (0..60).map(LexStateId).filter(|&id| id != DEAD) {
                if id.index() >= lexer.states.len() {
                    break;
                }
                for _ in 0..6 {
                    let first = random.below(256) as u8;
                    let last = first.saturating_add(random.below(9) as u8);
                    lexer.row_of(id, first, last).expect("small");
                }
                count += usize::from(lexer.known_row(id).left.is_some());
                lexer.row(id).expect("small");
                let parts = lexer.rows[id.index()].take().expect("it was made");
                assert!(parts.left.is_none());
                let whole = lexer.row(id).expect("small");
                assert!(parts.next == whole.next && parts.quick == whole.quick, "{text} {mode:?} {id:?}");
                let sets = |row: &Row| [row.live, row.ignored_goes_on, row.settled, row.near];
                assert_eq!(sets(&parts), sets(whole), "{text} {mode:?} {id:?}");
            }
        }
        assert!(count > 50, "{count}");
    }
}
