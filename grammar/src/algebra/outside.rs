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
                let Some(count) = self.count_in(way).filter(|count| count.max == MANY) else { continue };
                if parts.iter().any(|&part| self.counts_within(part, &count)) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether all texts of an expression are found to be as many letters as is counted.
    fn counts_within(&mut self, expr: Expr, count: &Count) -> bool {
        if let Node::Dfa(&place) = self.node(expr) {
            let fewest = u32::from(place.partial != self.dfas[place.dfa as usize].whole);
            return count.min <= fewest && self.has_words_within(&place, count);
        }
        self.count_in(expr).is_some_and(|ours| count.min <= ours.min && self.has_letters_of(count, &ours))
    }
}
