//! Slices that an expression takes in a plain way: whatever else it may do, some of its texts begin with every text of the slice,
//! and a few states tell that.

use larkspur_grammar::{ByteSet, Limits};
use rustc_hash::FxHashSet;

use super::Automaton;
use crate::lexer::arena::{Arena, Expr};
use crate::lexer::states::{LexStateId, Lexer};

/// Pairs of states visited in all ways of an expression together, and work of the regex algebra for their rows: two milliseconds,
/// where rows are so dear that a search through all that the expression does would take ten times as long.
const PAIRS_MAX: usize = 256;
const WORK_MAX: u64 = 100_000;
/// Work to find out whether one derivative is empty.
const EMPTINESS_FUEL: u64 = 20_000;

/// What one question may take.
struct Search<'a> {
    arena: &'a Arena,
    limits: Limits,
    work: u64,
    pairs: usize,
}

/// What a state goes on with behind any texts, if it does: see [`Algebra::is_open_behind`].
///
/// [`Algebra::is_open_behind`]: larkspur_grammar::algebra::Algebra::is_open_behind
pub(super) struct Behind {
    expr: Expr,
    repetitions: Vec<Expr>,
}

impl Behind {
    pub fn of(lexer: &mut Lexer, lex: LexStateId) -> Option<Self> {
        let expr = lexer.only_expr(lex)?;
        let arena = lexer.arena().clone();
        let repetitions = arena.leading_repetitions(expr, &mut lexer.work);
        (!repetitions.is_empty()).then_some(Self { expr, repetitions })
    }
}

impl<'a> Search<'a> {
    fn new(lexer: &Lexer, arena: &'a Arena) -> Self {
        let mut limits = lexer.limits().clone();
        limits.lexer_work_max = WORK_MAX;
        limits.lexer_row_emptiness_fuel = limits.lexer_row_emptiness_fuel.min(EMPTINESS_FUEL);
        Self { arena, limits, work: 0, pairs: PAIRS_MAX }
    }
}

impl Automaton {
    /// Whether all texts of whole characters may stand before some of those of a state. Cost: some microseconds; what rows take
    /// is added to the lexer's work.
    pub(super) fn is_before(&self, behind: &Behind, lexer: &mut Lexer) -> bool {
        let arena = lexer.arena().clone();
        let mut search = Search::new(lexer, &arena);
        let mut repetitions = behind.repetitions.clone();
        repetitions.retain(|&repetition| self.is_in_way(repetition, Some(repetition), &mut search));
        lexer.work += search.work;
        match repetitions.len() {
            0 => false,
            len => len == behind.repetitions.len() || arena.is_open_behind(behind.expr, &repetitions, &mut lexer.work),
        }
    }

    /// Whether each text of a slice `X+` of characters is the beginning of a text of a state, if that shows of its plain ways.
    /// Cost: nanoseconds where there are none; what rows take is added to the lexer's work.
    pub(super) fn is_in_some_way(&self, lexer: &mut Lexer, lex: LexStateId) -> bool {
        let arena = lexer.arena().clone();
        let Some(expr) = lexer.only_expr(lex).filter(|&expr| arena.has_ways(expr)) else { return false };
        let mut first = ByteSet::EMPTY;
        self.live[1].iter().for_each(|live| first = first.union(&ByteSet::range(live.first, live.last)));
        if arena.first_bytes(expr).intersect(&first) != first {
            return false;
        }
        let mut search = Search::new(lexer, &arena);
        let ways = arena.plain_ways(expr, &first, &mut search.work);
        let is_taken = ways.into_iter().any(|way| self.is_in_way(way, None, &mut search));
        lexer.work += search.work;
        is_taken
    }

    /// Whether each text is the beginning of a text of an expression, and what is left behind each is `whole`, if that is given.
    /// False also if that takes too long to see.
    fn is_in_way(&self, way: Expr, whole: Option<Expr>, search: &mut Search<'_>) -> bool {
        let mut visited: FxHashSet<(u16, Expr)> = FxHashSet::from_iter([(1, way)]);
        let mut agenda = vec![(1u16, way)];
        while let Some((state, expr)) = agenda.pop() {
            let Some(left) = search.pairs.checked_sub(1) else { return false };
            search.pairs = left;
            // A limit that is met here may be far from that of what is asked else.
            let Ok(classes) = search.arena.classes(expr, &mut search.work, &search.limits) else { return false };
            for live in &self.live[usize::from(state)] {
                for class in live.of_row(&classes.of).chunk_by(|a, b| a == b) {
                    let byte = classes.first[usize::from(class[0])];
                    let Ok(next) = search.arena.step(expr, byte, &mut search.work, &search.limits) else {
                        return false;
                    };
                    let is_other = self.accepting[usize::from(live.to)] && whole.is_some_and(|whole| next != whole);
                    if next == Expr::NOTHING || is_other {
                        return false;
                    }
                    if visited.insert((live.to, next)) {
                        agenda.push((live.to, next));
                    }
                }
            }
        }
        true
    }
}
