//! Intersections that are empty at a glance: an operand is all but any number of letters, another one is of such letters.
//!
//! Such is what is left of `char{2,9} & ~(.*--.*)` behind two hyphens, where a search would try all lengths. Or an operand is all but
//! what ends with one of some characters, another one ends with such, as `(?<=b)\b` before a letter, where a search would try
//! all beginnings of characters.

use super::letters::Count;
use super::{Algebra, Expr, MANY, Node, Tag};

/// Ways of a union that are looked at.
const WAYS_MAX: usize = 8;

/// Pairs of an operand and of a complement's way that are compared: enough for forty of each.
const PAIRS_MAX: usize = 2_048;

/// Bytes that are tried to find out whether one ending is another.
const ENDING_STEPS_MAX: usize = 64;

impl Algebra {
    /// Whether an intersection is one of these.
    pub(super) fn is_outside_itself(&mut self, intersection: Expr) -> bool {
        if self.tag(intersection) != Tag::And {
            return false;
        }
        let parts = self.operands(intersection).to_vec();
        self.pay(parts.len());
        let mut pairs = PAIRS_MAX;
        // Of the parts, once one is asked for.
        let mut runs: Option<Vec<Option<Count>>> = None;
        for &part in &parts {
            let Node::Not(not) = self.node(part) else { continue };
            let ways = if self.tag(not) == Tag::Or { self.operands(not) } else { &[not] };
            let ways: Vec<Expr> = ways.iter().copied().take(WAYS_MAX).collect();
            for way in ways {
                let Some(left) = pairs.checked_sub(parts.len()) else { return false };
                pairs = left;
                self.pay(parts.len());
                if let Node::Concat(Expr::ALL, ending) = self.node(way)
                    && parts.iter().any(|&part| self.ends_within(part, ending))
                {
                    return true;
                }
                let Some(run) = self.run_in(way).filter(|run| run.max == MANY) else { continue };
                let runs = runs.get_or_insert_with(|| parts.iter().map(|&part| self.run_in(part)).collect());
                if parts.iter().zip(runs).any(|(&part, own)| self.is_in_run(part, own.as_ref(), &run)) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether an expression is anything before an ending which itself ends with another one.
    fn ends_within(&mut self, expr: Expr, ending: Expr) -> bool {
        let Node::Concat(Expr::ALL, mut own) = self.node(expr) else { return false };
        let mut steps = ENDING_STEPS_MAX;
        loop {
            match self.is_found_within(own, ending, &mut steps) {
                None => return false,
                Some(true) => return true,
                Some(false) => {}
            }
            own = match self.node(own) {
                Node::Concat(_, rest) => rest,
                Node::Literal(&[first, ..], _) => match self.derivative(own, first, u64::MAX) {
                    Ok(rest) => rest,
                    Err(_) => return false,
                },
                _ => return false,
            };
        }
    }

    /// Whether all texts of an expression are texts of another one, if that is found out in so many steps.
    fn is_found_within(&mut self, expr: Expr, other: Expr, steps: &mut usize) -> Option<bool> {
        if expr == other || expr == Expr::NOTHING {
            return Some(true);
        }
        if other == Expr::NOTHING || self.is_nullable(expr) && !self.is_nullable(other) {
            return Some(false);
        }
        for byte in self.first_bytes(expr).iter() {
            *steps = steps.checked_sub(1)?;
            let left = self.derivative(expr, byte, u64::MAX).ok()?;
            let of_other = self.derivative(other, byte, u64::MAX).ok()?;
            if !self.is_found_within(left, of_other, steps)? {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Whether all texts of an expression, which is perhaps a run of its own, are seen to be in a run without an end.
    fn is_in_run(&mut self, expr: Expr, own: Option<&Count>, run: &Count) -> bool {
        if let Node::Dfa(&place) = self.node(expr) {
            let fewest = u32::from(place.partial != self.dfas[place.dfa as usize].whole);
            return run.min <= fewest && self.has_words_within(&place, run);
        }
        let Some(own) = own.filter(|own| run.min <= own.min) else { return false };
        let may_be = self.may_be_within(own.begun, run.begun) && self.may_be_within(own.unit, run.unit);
        may_be && self.has_letters_of(run, own)
    }

    /// Whether the lengths and the first bytes of one expression are those of another: to find out more takes a search, of which each
    /// state of another would need one.
    fn may_be_within(&self, expr: Expr, other: Expr) -> bool {
        let (own, others) = (self.cell(expr), self.cell(other));
        let is_first_within = || self.first_bytes(expr).intersect(&self.first_bytes(other).negate()).is_empty();
        expr == other || own.len_min >= others.len_min && own.len_max <= others.len_max && is_first_within()
    }
}
