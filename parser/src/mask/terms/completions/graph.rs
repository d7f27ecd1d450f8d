//! Units to the end of texts, from each state of an expression's automaton.

use larkspur_grammar::algebra::{Bounded, Shape};
use larkspur_grammar::index::Id;
use larkspur_grammar::{IndexVec, define_id};
use rustc_hash::FxHashMap;

use super::{Completion, Completions, NEVER};
use crate::counting_sort::Lists;
use crate::lexer::arena::Expr;
use crate::lexer::states::Lexer;
use crate::mask::units::{UnitMap, UnitStep};

/// Places at most: of eighty words that a text must not have there are 721.
const PLACES_MAX: usize = 8_192;

/// Numbers of units that are told apart; the last one stands for all from there on.
const LENGTHS: u32 = 64;

/// Of expressions that are larger, as [`size`] says, the automaton has too many states; of those of more parts it is not asked.
const SIZE_MAX: usize = 65_536;
const PARTS_MAX: usize = 2_048;

/// Edges that are followed backwards in the time of one step of the lexer's work.
const EDGES_PER_WORK: usize = 8;

define_id! {
    /// What is left of an expression, and how far a unit is begun there.
    struct PlaceId = "p";
}

#[derive(Default)]
struct Graph {
    /// Those where no unit is begun have 0 for it.
    places: IndexVec<PlaceId, (Expr, u8)>,
    /// Where bytes lead, and from where.
    edges: Vec<(PlaceId, PlaceId)>,
    /// Where a text may end.
    ends: Vec<PlaceId>,
}

impl Completions {
    /// How many units it takes to match an expression, by a look at all states of its automaton, of which each is noted. `None` if
    /// these are too many, texts are not made of whole units, or the numbers of units of long texts do not settle; and, put off,
    /// if it takes too much work.
    pub(super) fn in_graph(
        &mut self,
        expr: Expr,
        (units, bounded): (&UnitMap, &Bounded),
        end: Option<Expr>,
        lexer: &mut Lexer,
    ) -> Option<Completion> {
        if let Some(&known) = self.known.get(&(bounded.unit, expr)) {
            return known;
        }
        if size(expr, units, lexer, &mut PARTS_MAX.clone()) > SIZE_MAX {
            self.known.insert((bounded.unit, expr), None);
            return None;
        }
        let mut graph = Graph::default();
        let begun = lexer.work;
        let filled = graph.fill(expr, (units, bounded, end), lexer, begun.saturating_add(self.work));
        self.work = self.work.saturating_sub(lexer.work - begun);
        if self.work == 0 {
            self.is_put_off = true;
            return None;
        }
        let lengths = filled.and_then(|()| graph.lengths(&mut lexer.work));
        let all = || lengths.iter().flatten().copied();
        let rest = all().map(least).max().unwrap_or(NEVER);
        let rest_dense = all().map(dense).max().unwrap_or(NEVER);
        for (index, &(expr, begun)) in graph.places.iter().enumerate() {
            if begun == 0 {
                let completion = lengths.as_ref().map(|lengths| {
                    let lengths = lengths[index];
                    Completion { least: least(lengths), is_exact: true, rest, dense: dense(lengths), rest_dense }
                });
                self.known.insert((bounded.unit, expr), completion);
            }
        }
        self.known[&(bounded.unit, expr)]
    }
}

impl Graph {
    /// All places that texts lead to.
    fn fill(
        &mut self,
        expr: Expr,
        (units, bounded, end): (&UnitMap, &Bounded, Option<Expr>),
        lexer: &mut Lexer,
        work_max: u64,
    ) -> Option<()> {
        let first = self.places.push((expr, 0));
        let mut known = FxHashMap::from_iter([((expr, 0), first)]);
        let mut agenda = vec![first];
        while let Some(from) = agenda.pop() {
            let (expr, begun) = self.places[from];
            if end.is_none() && lexer.arena().nullable(expr) {
                if begun != 0 {
                    return None;
                }
                self.ends.push(from);
            }
            if lexer.work >= work_max {
                return None;
            }
            let row = lexer.expr_row(expr).ok()?;
            let mut last = None;
            for byte in 0..=255u8 {
                let next = row.next(byte);
                if next == Expr::NOTHING {
                    continue;
                }
                if end.is_some() && begun == 0 && byte == bounded.tail {
                    if next != Expr::EPSILON {
                        return None;
                    }
                    self.ends.push(from);
                    continue;
                }
                let place = match units.step(begun, byte) {
                    UnitStep::Dead => return None,
                    UnitStep::Whole => (next, 0),
                    UnitStep::Inside(begun) => (next, begun),
                };
                if last.replace(place) == Some(place) {
                    continue;
                }
                let to = *known.entry(place).or_insert_with(|| {
                    let to = self.places.push(place);
                    agenda.push(to);
                    to
                });
                if self.places.len() > PLACES_MAX {
                    return None;
                }
                self.edges.push((to, from));
            }
        }
        Some(())
    }

    /// For each place which numbers of units, as bits, texts have that begin there; what is begun of one counts as nothing.
    fn lengths(&self, work: &mut u64) -> Option<Vec<u64>> {
        let before = Lists::new(self.places.len(), &self.edges);
        let mut lengths = vec![0u64; self.places.len()];
        let mut last = Vec::new();
        let mut agenda = self.ends.clone();
        for length in 0..LENGTHS {
            *work += (self.edges.len() / EDGES_PER_WORK) as u64;
            let mut level = vec![false; self.places.len()];
            let mut next = Vec::new();
            while let Some(place) = agenda.pop() {
                if std::mem::replace(&mut level[place.index()], true) {
                    continue;
                }
                for &before in before.of(place) {
                    // A byte ends the unit that was begun there, or begins one.
                    let is_begun = self.places[before].1 != 0;
                    if is_begun { &mut agenda } else { &mut next }.push(before);
                }
            }
            // What is so of one number and the next is so of all that follow.
            let is_settled = level == last;
            let bits = if is_settled { u64::MAX << length } else { 1 << length };
            let with_text = lengths.iter_mut().zip(&level).filter(|(_, has_text)| **has_text);
            with_text.for_each(|(lengths, _)| *lengths |= bits);
            if is_settled {
                return Some(lengths);
            }
            (last, agenda) = (level, next);
        }
        None
    }
}

/// Roughly how many states the automaton of an expression has, at most, if units have one; of no more parts than are left.
fn size(expr: Expr, units: &UnitMap, lexer: &mut Lexer, parts_left: &mut usize) -> usize {
    let Some(left) = parts_left.checked_sub(1) else { return usize::MAX };
    *parts_left = left;
    let shape = lexer.arena().shape(expr);
    if matches!(shape, Shape::Union(_)) && units.are_all_of(expr, lexer) {
        return 1;
    }
    let mut of = |part: Expr| size(part, units, lexer, parts_left);
    match shape {
        Shape::Empty | Shape::Words(_) | Shape::Other => 1,
        Shape::Literal(text, rest) => text.len().saturating_add(of(rest)),
        Shape::Sequence(first, rest) => of(first).saturating_add(of(rest)),
        Shape::Complement(child) => of(child),
        Shape::Intersection(parts) => parts.iter().fold(1, |all, &part| all.saturating_mul(of(part))),
        Shape::Union(parts) => parts.iter().fold(0, |all, &part| all.saturating_add(of(part))),
        Shape::Repetition(child, min, max) => {
            let times = if max == u32::MAX { min.max(1) } else { max };
            of(child).saturating_mul(times as usize)
        }
    }
}

/// The least of some numbers of units.
fn least(lengths: u64) -> u32 {
    if lengths == 0 { NEVER } else { lengths.trailing_zeros() }
}

/// From where on all numbers are among them.
fn dense(lengths: u64) -> u32 {
    match lengths.leading_ones() {
        0 => NEVER,
        ones => LENGTHS - ones,
    }
}
