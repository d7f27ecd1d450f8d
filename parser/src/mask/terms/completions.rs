//! How many units it takes to end a text, whatever it begins with.
//!
//! Mostly that is seen from what an expression is made of: unions, sequences and repetitions of units. Of intersections and
//! complements the automaton says it, from each state of which the texts to its end are counted ([`graph`]).

mod graph;

use larkspur_grammar::algebra::{Bounded, Shape, WordsLeft};
use rustc_hash::FxHashMap;

use crate::lexer::arena::Expr;
use crate::lexer::states::Lexer;
use crate::mask::units::UnitMap;

/// What is looked at of an expression: parts within each other, and all parts.
const DEPTH_MAX: u32 = 32;
const PARTS_MAX: usize = 4_096;

/// More units than any text has.
pub(super) const NEVER: u32 = u32::MAX;

/// How many units it takes to match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Completion {
    /// Some text has no more.
    pub least: u32,
    /// Whether none has fewer than `least`.
    pub is_exact: bool,
    /// The fewest behind what a text begins with, at most, whatever that is but nothing; its last unit, if it is begun, is counted
    /// with what is before.
    pub rest: u32,
    /// From so many on there is a text of each number; [`NEVER`] if that is not seen.
    pub dense: u32,
    /// The same behind what a text begins with, at most.
    pub rest_dense: u32,
}

impl Completion {
    const EMPTY: Self = Self { least: 0, is_exact: true, rest: 0, dense: NEVER, rest_dense: 0 };

    /// So many units, each time.
    fn units(count: u32) -> Self {
        Self { least: count, is_exact: true, rest: count - 1, dense: NEVER, rest_dense: NEVER }
    }

    fn before(self, rest: Self) -> Self {
        let behind_first = self.rest_dense.saturating_add(rest.least).min(self.rest.saturating_add(rest.dense));
        Self {
            least: self.least.saturating_add(rest.least),
            is_exact: self.is_exact && rest.is_exact,
            rest: rest.rest.max(self.rest.saturating_add(rest.least)),
            dense: self.dense.saturating_add(rest.least).min(self.least.saturating_add(rest.dense)),
            rest_dense: behind_first.max(rest.rest_dense),
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            least: self.least.min(other.least),
            is_exact: self.is_exact && other.is_exact,
            rest: self.rest.max(other.rest),
            dense: self.dense.min(other.dense),
            rest_dense: self.rest_dense.max(other.rest_dense),
        }
    }

    fn repeated(self, min: u32, max: u32) -> Self {
        let least = |count: u32| self.least.saturating_mul(count);
        let dense = |min: u32| match self.least {
            1 if max == u32::MAX && self.is_exact => min,
            _ => self.dense.saturating_add(least(min.saturating_sub(1))),
        };
        let others = min.saturating_sub(1);
        let behind_last = self.rest_dense.saturating_add(least(others));
        Self {
            least: least(min),
            is_exact: self.is_exact,
            rest: self.rest.saturating_add(least(others)),
            dense: dense(min),
            rest_dense: match max {
                u32::MAX => behind_last.min(self.rest.saturating_add(dense(others))),
                _ => behind_last,
            },
        }
    }
}

/// Work of the lexer for automata that may be spent at once, 1 ms.
const WORK_MIN: u64 = 60_000;

/// How many units it takes to match expressions.
#[derive(Debug)]
pub(super) struct Completions {
    /// By what the unit is.
    known: FxHashMap<(Expr, Expr), Option<Completion>>,
    /// Work of the lexer that may be spent for automata.
    work: u64,
    /// More than that was asked for.
    is_put_off: bool,
}

impl Default for Completions {
    fn default() -> Self {
        Self { known: FxHashMap::default(), work: WORK_MIN, is_put_off: false }
    }
}

impl Completions {
    /// Notes the work that a term took which was made without them because they were too dear: so much may be spent now, so that
    /// next ones take less.
    pub fn missed(&mut self, work: u64) {
        if std::mem::take(&mut self.is_put_off) {
            self.work = self.work.saturating_add(work);
        }
    }

    /// How many units it takes to match what is left of a bounded text without its bounds, if that is known or found out without
    /// more work than was missed.
    pub fn of(&mut self, left: Expr, bounded: &Bounded, units: &UnitMap, lexer: &mut Lexer) -> Option<Completion> {
        let key = (bounded.unit, left);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        self.is_put_off = false;
        let completion = self.found(left, (units, bounded), Some(bounded.end), lexer, (0, &mut PARTS_MAX.clone()));
        if !self.is_put_off {
            self.known.insert(key, completion);
        }
        completion
    }

    /// Bytes of all, roughly.
    pub fn bytes(&self) -> usize {
        self.known.capacity() * size_of::<((Expr, Expr), Option<Completion>)>()
    }

    /// How many units it takes to match an expression, and its end, if it has one, which is no unit; `None` if it is not made of
    /// whole units, as far as that is easily seen.
    fn found(
        &mut self,
        expr: Expr,
        (units, bounded): (&UnitMap, &Bounded),
        end: Option<Expr>,
        lexer: &mut Lexer,
        (depth, parts_left): (u32, &mut usize),
    ) -> Option<Completion> {
        *parts_left = parts_left.checked_sub(1).filter(|_| depth <= DEPTH_MAX)?;
        if Some(expr) == end {
            return Some(Completion::EMPTY);
        }
        if expr == bounded.unit || !lexer.arena().nullable(expr) && units.are_all_of(expr, lexer) {
            return Some(Completion::units(1));
        }
        let shape = lexer.arena().shape(expr);
        let mut of =
            |part: Expr, end: Option<Expr>| self.found(part, (units, bounded), end, lexer, (depth + 1, parts_left));
        match shape {
            Shape::Empty => Some(Completion::EMPTY),
            Shape::Literal(text, rest) if let Some(count) = units.count(&text) => {
                Some(Completion::units(count).before(of(rest, end)?))
            }
            Shape::Sequence(first, rest) => Some(of(first, None)?.before(of(rest, end)?)),
            Shape::Union(parts) => {
                let mut parts = parts.iter();
                let first = of(*parts.next()?, end)?;
                parts.try_fold(first, |all, &part| Some(all.or(of(part, end)?)))
            }
            Shape::Repetition(child, min, max) => Some(of(child, None)?.repeated(min, max)),
            Shape::Intersection(parts) if let Some((text, min)) = few(&parts, units, lexer, &mut self.work) => {
                let text = self.found(text, (units, bounded), None, lexer, (depth + 1, parts_left))?;
                (text.is_exact && text.least >= min).then_some(Completion { dense: NEVER, rest_dense: NEVER, ..text })
            }
            Shape::Words(WordsLeft { letters, least, least_max })
                if self.are_units(&letters, (units, bounded.unit), lexer) =>
            {
                Some(Completion {
                    least: least.unwrap_or(least_max),
                    is_exact: least.is_some(),
                    rest: least_max,
                    dense: NEVER,
                    rest_dense: NEVER,
                })
            }
            _ => self.in_graph(expr, (units, bounded), end, lexer),
        }
    }
}

impl Completions {
    /// Whether each text of these is one whole unit.
    pub fn are_units(&mut self, exprs: &[Expr], (units, unit): (&UnitMap, Expr), lexer: &mut Lexer) -> bool {
        let one = Some(Completion::units(1));
        exprs.iter().all(|&expr| {
            let of = |_: &_| units.are_all_of(expr, lexer).then_some(Completion::units(1));
            *self.known.entry((unit, expr)).or_insert_with_key(of) == one
        })
    }
}

/// Of two parts of an intersection one that the other one only says to be of at most so many units, and of `min` at least, which
/// is no more than what a text begins with: where a text can go on at all, it can in the shortest way. Takes what it costs off the
/// work that is left.
fn few(parts: &[Expr], units: &UnitMap, lexer: &mut Lexer, left: &mut u64) -> Option<(Expr, u32)> {
    let &[a, b] = parts else { return None };
    let arena = lexer.arena().clone();
    [(a, b), (b, a)].into_iter().find_map(|(text, bound)| match arena.shape(bound) {
        Shape::Repetition(unit, min @ 0..=1, max) if max != u32::MAX => {
            let begun = lexer.work;
            let is_only_counted = units.are_all_of(unit, lexer) && arena.is_made_of(text, unit, *left, &mut lexer.work);
            *left = left.saturating_sub(lexer.work - begun);
            is_only_counted.then_some((text, min))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use larkspur_test_support::Random;

    use super::*;

    /// Units of the longest texts that are looked at.
    const UNITS_MAX: usize = 9;

    /// A random expression of the units `a` and `b`: its texts up to some length, and what is said of it.
    fn random(random: &mut Random, depth: usize) -> (BTreeSet<String>, Completion) {
        let both = |texts: &BTreeSet<String>, others: &BTreeSet<String>| {
            let pairs = texts.iter().flat_map(|text| others.iter().map(move |other| format!("{text}{other}")));
            pairs.filter(|text| text.len() <= UNITS_MAX).collect::<BTreeSet<_>>()
        };
        match if depth == 0 { random.below(3) } else { random.below(8) } {
            0 => (BTreeSet::from([String::new()]), Completion::EMPTY),
            1 => (BTreeSet::from(["a".to_owned()]), Completion::units(1)),
            2 => (BTreeSet::from(["bab".to_owned()]), Completion::units(3)),
            3 | 4 => {
                let ((texts, first), (others, rest)) =
                    (self::random(random, depth - 1), self::random(random, depth - 1));
                (both(&texts, &others), first.before(rest))
            }
            5 => {
                let ((texts, one), (others, other)) =
                    (self::random(random, depth - 1), self::random(random, depth - 1));
                (texts.union(&others).cloned().collect(), one.or(other))
            }
            _ => {
                let (texts, child) = self::random(random, depth - 1);
                let min = random.below(3);
                let more = [usize::from(min == 0), 1, 2, UNITS_MAX][random.below(4)];
                let mut repeated = BTreeSet::from([String::new()]);
                for _ in 0..min {
                    repeated = both(&repeated, &texts);
                }
                for _ in 0..more {
                    repeated.extend(both(&repeated, &texts));
                }
                let max = if more == UNITS_MAX { u32::MAX } else { (min + more) as u32 };
                (repeated, child.repeated(min as u32, max))
            }
        }
    }

    #[test]
    fn what_is_said_of_expressions_is_so_of_their_texts() {
        let mut random = Random::new(1);
        // How often something is said.
        let (mut dense, mut behind) = (0, 0);
        for _ in 0..4_000 {
            let (texts, said) = self::random(&mut random, 4);
            // None is as short as what is looked at.
            let Some(least) = texts.iter().map(String::len).min() else { continue };
            assert_eq!(least, said.least as usize, "{texts:?}");
            dense += usize::from(said.dense != NEVER);
            behind += usize::from(said.rest_dense != NEVER);
            let begins: BTreeSet<&str> =
                texts.iter().flat_map(|text| (0..=text.len().min(4)).map(move |len| &text[..len])).collect();
            for begin in begins {
                let left: BTreeSet<usize> =
                    texts.iter().filter(|text| text.starts_with(begin)).map(|text| text.len() - begin.len()).collect();
                let (rest, from) = match begin {
                    "" => (said.least, said.dense),
                    _ => (said.rest, said.rest_dense),
                };
                assert!(left.first().is_some_and(|&fewest| fewest <= rest as usize), "{begin} {said:?} {texts:?}");
                let all = (from as usize..=UNITS_MAX - begin.len()).all(|len| left.contains(&len));
                assert!(all, "{begin} {said:?} {texts:?}");
            }
        }
        assert!(dense > 200 && behind > 200, "{dense} {behind}");
    }
}
