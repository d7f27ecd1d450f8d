//! The regex algebra as the engine shares it: one set of expressions for all grammars, so that an expression id means
//! the same in each of them, and the rows of derivatives.

use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use larkspur_grammar::algebra::{Algebra, Bounded, Horizon, Lowered, OverLimit, Run, Shape};
use larkspur_grammar::{ByteSet, Limits, RegexId, RegexSet};
use larkspur_toktrie::Vocabulary;
use rustc_hash::{FxHashMap, FxHashSet};

use super::classes::ByteClasses;
use super::late::Lateness;
use crate::error::Fault;
use crate::reach;
use crate::shortcut::Shortcuts;

pub(crate) use larkspur_grammar::algebra::Expr;

/// All derivatives of one expression.
#[derive(Debug)]
pub(crate) struct ExprRow {
    /// Classes of bytes that it does not tell apart; one for all rows that have the same, which are most.
    pub classes: Arc<ByteClasses>,
    /// Derivative by each class; [`Expr::NOTHING`] if it is empty.
    pub next: Box<[Expr]>,
}

impl ExprRow {
    pub fn next(&self, byte: u8) -> Expr {
        self.next[usize::from(self.classes.of[usize::from(byte)])]
    }
}

/// A row of which the derivatives are known that somebody has asked for.
struct BegunRow {
    classes: Arc<ByteClasses>,
    /// By class.
    next: Box<[Option<Expr>]>,
    /// What it has taken of `Limits::lexer_row_work_max`.
    spent: u64,
}

impl BegunRow {
    fn new(classes: Arc<ByteClasses>, spent: u64) -> Self {
        Self { next: vec![None; classes.count].into(), classes, spent }
    }
}

/// Expressions whose first bytes are kept at most, half a megabyte.
const FIRST_BYTES_KEPT: usize = 8_192;

/// Answers about expressions, and about pairs of them, that are kept at most, of each kind.
const ANSWERS_KEPT: usize = 8_192;

/// Beginnings of tables whose expressions are kept at most.
const BASES_KEPT: usize = 32;

/// Expressions shared by the grammars of an engine, within one epoch.
pub(crate) struct Arena {
    inner: Mutex<Inner>,
    expressions_max: usize,
    vocabulary: Arc<Vocabulary>,
    horizon: Horizon,
    /// Whether counts are clamped to it.
    clamps: bool,
}

struct Inner {
    algebra: Algebra,
    /// Work of all searches for emptiness.
    searched: u64,
    rows: FxHashMap<Expr, Arc<ExprRow>>,
    /// Of expressions that have no row.
    begun: FxHashMap<Expr, BegunRow>,
    /// What rows have for [`ExprRow::classes`].
    class_maps: FxHashMap<[u8; 256], Arc<ByteClasses>>,
    /// Expressions whose row or a step took more work than allowed. Remembered, since a second attempt finds derivatives
    /// cached.
    too_dear: FxHashSet<Expr>,
    /// [`Algebra::first_bytes`], dropped when they are many.
    first_bytes: FxHashMap<Expr, ByteSet>,
    /// How long exceptions of a lexeme with this language may wait: see [`super::late`].
    late: FxHashMap<Expr, Lateness>,
    /// Whether two expressions are apart, and whether one ends by itself: see [`super::apart`]. Dropped when they are many.
    apart: FxHashMap<(Expr, Expr), bool>,
    ends_itself: FxHashMap<Expr, bool>,
    /// The expressions of the nodes that tables begin with, by the base's number, dropped when they are many.
    bases: FxHashMap<u64, Lowered>,
    /// [`Arena::clamped`] of parts that have large counts, by horizon.
    clamped: FxHashMap<Horizon, FxHashMap<Expr, Expr>>,
}

impl std::fmt::Debug for Arena {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Arena({} expressions)", self.len())
    }
}

/// A new row of derivatives takes so much work besides that of the algebra, and as much memory as so many expressions.
const ROW_WORK: u64 = 50;
const ROW_SIZE: usize = 4;

impl Inner {
    fn len(&self) -> usize {
        self.algebra.size() + ROW_SIZE * (self.rows.len() + self.begun.len())
    }

    /// The expressions of a table's nodes that are known from other tables.
    fn known(&self, regexes: &RegexSet) -> Lowered {
        let known = regexes.base().and_then(|base| self.bases.get(&base.number));
        known.map(|known| known.with_room(regexes.len())).unwrap_or_default()
    }

    /// Notes what other tables may begin with.
    fn note(&mut self, regexes: &RegexSet, lowered: &Lowered) {
        let Some(base) = regexes.base() else { return };
        let known = self.bases.get(&base.number).map_or(0, |known| known.count(base.len));
        if known < lowered.count(base.len) {
            if self.bases.len() >= BASES_KEPT {
                self.bases.clear();
            }
            self.bases.insert(base.number, lowered.first(base.len));
        }
    }
}

impl Arena {
    /// An arena for those who look no further ahead of a place than a token.
    pub fn new(limits: &Limits, vocabulary: Arc<Vocabulary>, without: Shortcuts) -> Self {
        let mut algebra = Algebra::new(limits.expressions_max);
        algebra.reserve();
        Self {
            inner: Mutex::new(Inner {
                algebra,
                searched: 0,
                rows: FxHashMap::default(),
                begun: FxHashMap::default(),
                class_maps: FxHashMap::default(),
                too_dear: FxHashSet::default(),
                first_bytes: FxHashMap::default(),
                late: FxHashMap::default(),
                apart: FxHashMap::default(),
                ends_itself: FxHashMap::default(),
                bases: FxHashMap::default(),
                clamped: FxHashMap::default(),
            }),
            expressions_max: limits.expressions_max,
            horizon: reach::horizon(vocabulary.trie()),
            vocabulary,
            clamps: !without.contains(Shortcuts::HORIZON),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // The lock guards caches that are valid after each call; a panic inside one is a bug of ours elsewhere.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of expressions; a row of derivatives counts as some.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether a new epoch should begin: half of the budget is spent.
    pub fn is_worn(&self) -> bool {
        self.len() > self.expressions_max / 2
    }

    /// The expressions of `roots`, lowered together.
    ///
    /// Errors: `expressions_max`.
    pub fn lower(&self, regexes: &RegexSet, roots: &[RegexId]) -> Result<Vec<Expr>, Fault> {
        if roots.is_empty() {
            return Ok(Vec::new());
        }
        let mut inner = self.lock();
        let mut lowered = inner.known(regexes);
        let lower = |&root: &RegexId| inner.algebra.lower(regexes, root, &mut lowered);
        let exprs = roots.iter().map(lower).collect::<Result<_, _>>().map_err(|_| self.full())?;
        inner.note(regexes, &lowered);
        Ok(exprs)
    }

    /// A regex or an expression.
    ///
    /// Errors: `expressions_max`.
    pub fn lower_beside(&self, regexes: &RegexSet, root: RegexId, other: Expr) -> Result<Expr, Fault> {
        let mut inner = self.lock();
        let mut lowered = inner.known(regexes);
        let expr = inner.algebra.lower(regexes, root, &mut lowered);
        expr.and_then(|expr| inner.algebra.union(other, expr)).map_err(|_| self.full())
    }

    /// The expression without the texts of another; [`Expr::NOTHING`] if none is left.
    ///
    /// Errors: `expressions_max`, `lexer_row_emptiness_fuel`.
    pub fn without(&self, expr: Expr, other: Expr, limits: &Limits) -> Result<Expr, Fault> {
        let left = self.lock().algebra.without(expr, other).map_err(|_| self.full())?;
        let fuel = limits.lexer_row_emptiness_fuel;
        let is_left = self.lock().algebra.is_non_empty(left, fuel);
        let is_left = is_left.map_err(|over| self.fault(over, "lexer_row_emptiness_fuel", fuel))?;
        Ok(if is_left { left } else { Expr::NOTHING })
    }

    /// The texts of both expressions; [`Expr::NOTHING`] if there are none.
    ///
    /// Errors: `expressions_max`, `lexer_row_emptiness_fuel`.
    pub fn both(&self, a: Expr, b: Expr, limits: &Limits) -> Result<Expr, Fault> {
        let both = self.lock().algebra.intersection(a, b).map_err(|_| self.full())?;
        let fuel = limits.lexer_row_emptiness_fuel;
        let is_some = self.lock().algebra.is_non_empty(both, fuel);
        let is_some = is_some.map_err(|over| self.fault(over, "lexer_row_emptiness_fuel", fuel))?;
        Ok(if is_some { both } else { Expr::NOTHING })
    }

    /// Whether the expression matches some text, and the steps that it took to find out.
    ///
    /// Errors: `regex_emptiness_fuel` if `fuel` steps do not decide; `expressions_max`.
    pub fn is_non_empty(&self, expr: Expr, fuel: u64) -> (Result<bool, Fault>, u64) {
        let mut inner = self.lock();
        let before = inner.algebra.work();
        let answer = inner.algebra.is_non_empty(expr, fuel);
        let spent = inner.algebra.work() - before;
        drop(inner);
        (answer.map_err(|over| self.fault(over, "regex_emptiness_fuel", fuel)), spent)
    }

    /// See [`Algebra::but_for_finitely_many`].
    pub fn but_for_finitely_many(&self, expr: Expr) -> Expr {
        self.lock().algebra.but_for_finitely_many(expr)
    }

    /// See [`Algebra::relaxed`], if the expression [is pumped](Algebra::is_pumped) and not so plain itself.
    pub fn relaxed_if_pumped(&self, expr: Expr) -> Option<Expr> {
        let mut inner = self.lock();
        let relaxed = inner.algebra.relaxed(expr);
        (relaxed != expr && inner.algebra.is_pumped(expr)).then_some(relaxed)
    }

    /// How long exceptions of a lexeme with this language may wait, if that is known.
    pub fn late(&self, expr: Expr) -> Option<Lateness> {
        self.lock().late.get(&expr).copied()
    }

    pub fn set_late(&self, expr: Expr, lateness: Lateness) {
        self.lock().late.insert(expr, lateness);
    }

    /// Whether two expressions are apart, if that is known.
    pub fn apart(&self, pair: (Expr, Expr)) -> Option<bool> {
        self.lock().apart.get(&pair).copied()
    }

    pub fn set_apart(&self, pair: (Expr, Expr), are_apart: bool) {
        keep(&mut self.lock().apart, pair, are_apart);
    }

    /// Whether an expression ends by itself, if that is known.
    pub fn ends_itself(&self, expr: Expr) -> Option<bool> {
        self.lock().ends_itself.get(&expr).copied()
    }

    pub fn set_ends_itself(&self, expr: Expr, ends_itself: bool) {
        keep(&mut self.lock().ends_itself, expr, ends_itself);
    }

    /// See [`Algebra::relaxed`].
    pub fn relaxed(&self, expr: Expr) -> Expr {
        self.lock().algebra.relaxed(expr)
    }

    /// See [`Algebra::first_bytes`].
    pub fn first_bytes(&self, expr: Expr) -> ByteSet {
        let Inner { algebra, first_bytes, .. } = &mut *self.lock();
        if first_bytes.len() >= FIRST_BYTES_KEPT {
            first_bytes.clear();
        }
        *first_bytes.entry(expr).or_insert_with(|| algebra.first_bytes(expr))
    }

    /// How far masks look ahead: no token is longer.
    pub fn horizon(&self) -> Horizon {
        self.horizon
    }

    /// See [`Algebra::clamped`]. Cost: a third of a millisecond for a kind of turn that was not met before, of which some are counted.
    pub fn clamped(&self, expr: Expr, horizon: Horizon) -> Expr {
        if !self.clamps {
            return expr;
        }
        loop {
            let asked = {
                let Inner { algebra, clamped, .. } = &mut *self.lock();
                algebra.clamped(expr, horizon, clamped.entry(horizon).or_default())
            };
            let turn = match asked {
                Ok(clamped) => return clamped,
                Err(turn) => turn,
            };
            let count = reach::most_turns(self.vocabulary.trie(), &turn);
            self.lock().algebra.note_turns(turn, count);
        }
    }

    /// See [`Algebra::has_ways`].
    pub fn has_ways(&self, expr: Expr) -> bool {
        self.lock().algebra.has_ways(expr)
    }

    /// See [`Algebra::plain_ways`]; none if the arena is full. Adds to `work`.
    pub fn plain_ways(&self, expr: Expr, first: &ByteSet, work: &mut u64) -> Vec<Expr> {
        self.lock().counting(work, |algebra| algebra.plain_ways(expr, first)).unwrap_or_default()
    }

    /// See [`Algebra::leading_repetitions`]. Adds to `work`.
    pub fn leading_repetitions(&self, expr: Expr, work: &mut u64) -> Vec<Expr> {
        self.lock().counting(work, |algebra| algebra.leading_repetitions(expr))
    }

    /// See [`Algebra::is_open_behind`]. Adds to `work`.
    pub fn is_open_behind(&self, expr: Expr, repetitions: &[Expr], work: &mut u64) -> bool {
        self.lock().counting(work, |algebra| algebra.is_open_behind(expr, repetitions))
    }

    /// See [`Algebra::runs`]; `None` if the arena is full.
    pub fn runs(&self, expr: Expr) -> Option<(Vec<Run>, Expr)> {
        self.lock().algebra.runs(expr).ok()
    }

    /// See [`Algebra::bounded`]; none also if the arena is full.
    pub fn bounded(&self, expr: Expr) -> Vec<Bounded> {
        self.lock().algebra.bounded(expr).unwrap_or_default()
    }

    /// See [`Algebra::is_made_of`]. Adds to `work`.
    pub fn is_made_of(&self, expr: Expr, child: Expr, work_max: u64, work: &mut u64) -> bool {
        self.lock().counting(work, |algebra| algebra.is_made_of(expr, child, work_max))
    }

    /// See [`Algebra::without_complements`]; `None` also if the arena is full.
    pub fn without_complements(&self, expr: Expr) -> Option<Expr> {
        self.lock().algebra.without_complements(expr).ok().flatten()
    }

    /// See [`Algebra::shape`].
    pub fn shape(&self, expr: Expr) -> Shape {
        self.lock().algebra.shape(expr)
    }

    /// The texts of an expression that begin with one of these bytes; [`Expr::NOTHING`] if there are none.
    ///
    /// Errors: as of [`both`](Self::both).
    pub fn beginning_with(&self, expr: Expr, bytes: ByteSet, limits: &Limits) -> Result<Expr, Fault> {
        let begins = self.lock().algebra.beginning_with(bytes).map_err(|_| self.full())?;
        self.both(expr, begins, limits)
    }

    /// No text of the expression has more bytes; `u32::MAX` is without bound.
    pub fn len_max(&self, expr: Expr) -> u32 {
        self.lock().algebra.len_max(expr)
    }

    /// See [`Algebra::before_some`].
    ///
    /// Errors: `expressions_max`.
    pub fn before_some(&self, first: Vec<Expr>, others: Vec<Expr>) -> Result<Expr, Fault> {
        self.lock().algebra.before_some(first, others).map_err(|_| self.full())
    }

    /// Whether the expression matches the empty text.
    pub fn nullable(&self, expr: Expr) -> bool {
        self.lock().algebra.is_nullable(expr)
    }

    /// See [`Algebra::has_more`].
    pub fn has_more(&self, expr: Expr) -> bool {
        self.lock().algebra.has_more(expr)
    }

    /// All derivatives of the expression. Cost: 2 to 3 us the first time, which is added to `work`.
    ///
    /// Errors: `expressions_max`, `lexer_row_emptiness_fuel`, `lexer_row_work_max`, `lexer_work_max`.
    pub fn row(&self, expr: Expr, work: &mut u64, limits: &Limits) -> Result<Arc<ExprRow>, Fault> {
        let mut inner = self.lock();
        if let Some(row) = inner.rows.get(&expr) {
            return Ok(row.clone());
        }
        inner.check_price(expr, limits)?;
        if inner.len() > self.expressions_max {
            return Err(self.full());
        }
        *work += ROW_WORK;
        let before = inner.algebra.work();
        let built = inner.build_row(expr, before.saturating_add(limits.lexer_work_max.saturating_sub(*work)), limits);
        *work += inner.algebra.work() - before;
        let built = built.map_err(|(over, limit, value)| self.fault(over, limit, value));
        let row = Arc::new(inner.note_price(expr, limits, built)?);
        inner.rows.insert(expr, row.clone());
        Ok(row)
    }

    /// Classes of bytes that the expression does not tell apart. One [`step`](Self::step) for each is remembered from then on. Cost: a
    /// tenth of [`row`](Self::row).
    ///
    /// Errors: as of `row`.
    pub fn classes(&self, expr: Expr, work: &mut u64, limits: &Limits) -> Result<Arc<ByteClasses>, Fault> {
        let mut inner = self.lock();
        let begun = inner.begun.get(&expr).map(|row| &row.classes);
        if let Some(classes) = begun.or(inner.rows.get(&expr).map(|row| &row.classes)) {
            return Ok(classes.clone());
        }
        inner.check_price(expr, limits)?;
        if inner.len() > self.expressions_max {
            return Err(self.full());
        }
        *work += ROW_WORK;
        let before = inner.algebra.work();
        let classes = inner.classes_of(expr, before.saturating_add(limits.lexer_row_work_max));
        let spent = inner.algebra.work() - before;
        *work += spent;
        let classes = classes.map_err(|over| self.fault(over, "lexer_row_work_max", limits.lexer_row_work_max));
        let classes = inner.note_price(expr, limits, classes)?;
        inner.begun.insert(expr, BegunRow::new(classes.clone(), spent));
        Ok(classes)
    }

    /// The derivative by one byte; [`Expr::NOTHING`] if it is empty. Cost: a tenth of [`row`](Self::row).
    ///
    /// Errors: as of `row`.
    pub fn step(&self, expr: Expr, byte: u8, work: &mut u64, limits: &Limits) -> Result<Expr, Fault> {
        let mut inner = self.lock();
        if let Some(row) = inner.rows.get(&expr) {
            return Ok(row.next(byte));
        }
        let (mut class, mut byte, mut spent) = (None, byte, 0);
        if let Some(row) = inner.begun.get(&expr) {
            let own = usize::from(row.classes.of[usize::from(byte)]);
            if let Some(known) = row.next[own] {
                return Ok(known);
            }
            // Of all bytes of a class the same one, which parts of other expressions know.
            (class, byte, spent) = (Some(own), row.classes.first[own], row.spent);
        }
        inner.check_price(expr, limits)?;
        let (before, searched) = (inner.algebra.work(), inner.searched);
        let stop = before.saturating_add(limits.lexer_row_work_max).saturating_sub(spent);
        let derived = match *work < limits.lexer_work_max {
            true => inner.live_derivative(expr, byte, stop, limits),
            false => Err(all_work(limits)),
        };
        let taken = inner.algebra.work() - before;
        *work += taken;
        let derived = derived.map_err(|(over, limit, value)| self.fault(over, limit, value));
        let derived = inner.note_price(expr, limits, derived)?;
        // Searches for emptiness count for each derivative alone.
        let searched = inner.searched - searched;
        if let (Some(class), Some(row)) = (class, inner.begun.get_mut(&expr)) {
            row.next[class] = Some(derived);
            row.spent += taken - searched;
        }
        Ok(derived)
    }

    fn fault(&self, over: OverLimit, limit: &'static str, value: u64) -> Fault {
        match over {
            OverLimit::Work => Fault::exceeded(limit, value),
            OverLimit::Size => self.full(),
        }
    }
    fn full(&self) -> Fault {
        Fault::exceeded("expressions_max", self.expressions_max as u64)
    }
}

/// Keeps an answer, alone if there are many.
fn keep<Key: Eq + Hash>(answers: &mut FxHashMap<Key, bool>, key: Key, answer: bool) {
    if answers.len() >= ANSWERS_KEPT {
        answers.clear();
    }
    answers.insert(key, answer);
}

fn too_dear(limits: &Limits) -> Fault {
    Fault::exceeded("lexer_row_work_max", limits.lexer_row_work_max)
}

/// More work than all rows of a question may take.
fn all_work(limits: &Limits) -> (OverLimit, &'static str, u64) {
    (OverLimit::Work, "lexer_work_max", limits.lexer_work_max)
}

impl Inner {
    /// An answer of the algebra, whose work is added.
    fn counting<T>(&mut self, work: &mut u64, ask: impl FnOnce(&mut Algebra) -> T) -> T {
        let before = self.algebra.work();
        let answer = ask(&mut self.algebra);
        *work += self.algebra.work() - before;
        answer
    }

    fn check_price(&self, expr: Expr, limits: &Limits) -> Result<(), Fault> {
        if self.too_dear.contains(&expr) { Err(too_dear(limits)) } else { Ok(()) }
    }

    /// Remembers what was too dear.
    fn note_price<T>(&mut self, expr: Expr, limits: &Limits, made: Result<T, Fault>) -> Result<T, Fault> {
        if made.as_ref().is_err_and(|fault| *fault == too_dear(limits)) {
            self.too_dear.insert(expr);
        }
        made
    }

    /// One derivative for each class of bytes. The work of the searches for emptiness counts for each alone. No class is begun
    /// behind `last`, as the algebra counts its work.
    fn build_row(&mut self, expr: Expr, last: u64, limits: &Limits) -> Result<ExprRow, (OverLimit, &'static str, u64)> {
        let work_max = limits.lexer_row_work_max;
        let dear = |over| (over, "lexer_row_work_max", work_max);
        let mut stop = self.algebra.work().saturating_add(work_max);
        let BegunRow { classes, next: known, spent } = match self.begun.remove(&expr) {
            Some(begun) => begun,
            None => BegunRow::new(self.classes_of(expr, stop).map_err(dear)?, 0),
        };
        stop = stop.saturating_sub(spent);
        let mut next = Vec::with_capacity(classes.count);
        for (&byte, &known) in classes.first.iter().zip(&known) {
            if let Some(known) = known {
                next.push(known);
                continue;
            }
            if self.algebra.work() >= last {
                return Err(all_work(limits));
            }
            let before = self.searched;
            next.push(self.live_derivative(expr, byte, stop, limits)?);
            stop = stop.saturating_add(self.searched - before);
        }
        Ok(ExprRow { classes, next: next.into() })
    }

    fn classes_of(&mut self, expr: Expr, work_max: u64) -> Result<Arc<ByteClasses>, OverLimit> {
        let mut class_of = [0; 256];
        for (index, class) in self.algebra.first_classes(expr, work_max)?.iter().enumerate() {
            class.iter().for_each(|byte| class_of[usize::from(byte)] = index as u8);
        }
        Ok(self.class_map(class_of))
    }

    fn class_map(&mut self, class_of: [u8; 256]) -> Arc<ByteClasses> {
        self.class_maps.entry(class_of).or_insert_with(|| Arc::new(ByteClasses::new(class_of))).clone()
    }

    /// The derivative by a byte; [`Expr::NOTHING`] if it is empty.
    fn live_derivative(
        &mut self,
        expr: Expr,
        byte: u8,
        work_max: u64,
        limits: &Limits,
    ) -> Result<Expr, (OverLimit, &'static str, u64)> {
        let dear = |over| (over, "lexer_row_work_max", limits.lexer_row_work_max);
        let derivative = self.algebra.derivative(expr, byte, work_max).map_err(dear)?;
        let fuel = limits.lexer_row_emptiness_fuel;
        let before = self.algebra.work();
        let alive = self.algebra.is_non_empty(derivative, fuel);
        self.searched += self.algebra.work() - before;
        let alive = alive.map_err(|over| (over, "lexer_row_emptiness_fuel", fuel))?;
        Ok(if alive { derivative } else { Expr::NOTHING })
    }
}
