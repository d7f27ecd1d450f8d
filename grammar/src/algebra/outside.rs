//! Intersections that are empty at a glance: an operand is all but any number of letters, another one is of such letters.
//!
//! Such is what is left of `char{2,9} & ~(.*--.*)` behind two hyphens, where a search would try all lengths.

use super::letters::Count;
use super::{Algebra, Expr, MANY, Node, Tag};

/// Ways of a union that are looked at.
const WAYS_MAX: usize = 8;

impl Algebra {
    /// Whether an intersection is one of these.
    pub(super) fn is_outside_itself(&mut self, intersection: Expr) -> bool {
        if self.tag(intersection) != Tag::And {
            return false;
        }
        let parts = self.operands(intersection).to_vec();
        self.pay(parts.len());
        for &part in &parts {
            let Node::Not(not) = self.node(part) else { continue };
            let ways = if self.tag(not) == Tag::Or { self.operands(not) } else { &[not] };
            let ways: Vec<Expr> = ways.iter().copied().take(WAYS_MAX).collect();
            for way in ways {
                let Some(run) = self.run_in(way).filter(|run| run.max == MANY) else { continue };
                if parts.iter().any(|&part| self.is_in_run(part, &run)) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether all texts of an expression are seen to be in a run without an end.
    fn is_in_run(&mut self, expr: Expr, run: &Count) -> bool {
        if let Node::Dfa(&place) = self.node(expr) {
            let fewest = u32::from(place.partial != self.dfas[place.dfa as usize].whole);
            return run.min <= fewest && self.has_words_within(&place, run);
        }
        let Some(own) = self.run_in(expr).filter(|own| run.min <= own.min) else { return false };
        let may_be = self.may_be_within(own.begun, run.begun) && self.may_be_within(own.unit, run.unit);
        may_be && self.has_letters_of(run, &own)
    }

    /// Whether the lengths and the first bytes of one expression are those of another: to find out more takes a search, of which each
    /// state of another would need one.
    fn may_be_within(&self, expr: Expr, other: Expr) -> bool {
        let (own, others) = (self.cell(expr), self.cell(other));
        let is_first_within = || self.first_bytes(expr).intersect(&self.first_bytes(other).negate()).is_empty();
        expr == other || own.len_min >= others.len_min && own.len_max <= others.len_max && is_first_within()
    }
}
