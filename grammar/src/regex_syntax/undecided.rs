//! Whether an assertion at the edge of what a walk sees can depend on what stands beyond it.
//!
//! A look-ahead for `X` before a rest `r` depends on more than `r` if `r` begins no text of `X` whole, and is the beginning
//! of one. So the texts in question are those of the rest that are beginnings of `X`, and in which `X` was not found; an
//! assertion is decided if there are none. Look-behinds likewise, with endings.

use crate::algebra::{Algebra, Lowered};
use crate::regex::{RegexId, RegexNode, RegexSet};

/// Work of all questions about one regex, in steps of 20 ns; past it every assertion counts as undecided.
const WORK_MAX: u64 = 1_000_000;
/// Expressions of these questions at most.
const EXPRESSIONS_MAX: usize = 200_000;
/// Bytes of a literal whose beginnings are told apart; longer ones may begin with anything.
const LITERAL_MAX: usize = 64;

/// Which parts of a text: those at its start or at its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Beginnings,
    Endings,
}

/// Questions about languages, within a budget.
pub(crate) struct Questions {
    algebra: Algebra,
    lowered: Lowered,
}

impl Questions {
    pub fn new() -> Self {
        Self { algebra: Algebra::new(EXPRESSIONS_MAX), lowered: Lowered::default() }
    }

    /// Whether it is certain that the regex matches nothing.
    pub fn is_empty(&mut self, set: &mut RegexSet, regex: RegexId) -> bool {
        if set.info(regex).nullable {
            return false;
        }
        let before = self.algebra.work();
        let Ok(expr) = self.algebra.lower(set, regex, &mut self.lowered) else { return false };
        let work = WORK_MAX.saturating_sub(self.algebra.work()).min(set.look_work_left());
        let answer = self.algebra.is_non_empty(expr, work);
        set.look_work += self.algebra.work() - before;
        matches!(answer, Ok(false))
    }
}

/// A language that holds every beginning (ending) of every text of the regex, the whole ones included, and `any` where
/// that is not known. Recursive over what is nested, as deep as `grammar_depth_max`.
pub(super) fn parts(set: &mut RegexSet, regex: RegexId, side: Side, any: RegexId) -> RegexId {
    let node = set.node(regex).clone();
    match node {
        RegexNode::Nothing => regex,
        RegexNode::Literal(bytes) if bytes.len() > LITERAL_MAX => any,
        RegexNode::Literal(bytes) => {
            let cuts = (0..=bytes.len()).map(|at| match side {
                Side::Beginnings => &bytes[..at],
                Side::Endings => &bytes[at..],
            });
            let cuts: Vec<RegexId> = cuts.map(|part| set.literal(part)).collect();
            set.or(&cuts)
        }
        RegexNode::Class(_) | RegexNode::Bytes(_) => set.optional(regex),
        RegexNode::Concat(children) => {
            let ways: Vec<RegexId> = (0..children.len())
                .map(|at| {
                    let cut = parts(set, children[at], side, any);
                    match side {
                        Side::Beginnings => set.concat(&[&children[..at], &[cut]].concat()),
                        Side::Endings => set.concat(&[&[cut], &children[at + 1..]].concat()),
                    }
                })
                .collect();
            set.or(&ways)
        }
        RegexNode::Or(children) => {
            let ways: Vec<RegexId> = children.iter().map(|&child| parts(set, child, side, any)).collect();
            set.or(&ways)
        }
        RegexNode::And(children) => {
            let ways: Vec<RegexId> = children.iter().map(|&child| parts(set, child, side, any)).collect();
            set.and(&ways)
        }
        RegexNode::Repeat(child, _, max) => {
            let cut = parts(set, child, side, any);
            let some = set.repeat(child, 0, max);
            match side {
                Side::Beginnings => set.concat(&[some, cut]),
                Side::Endings => set.concat(&[cut, some]),
            }
        }
        RegexNode::Not(_)
        | RegexNode::Shortest(_)
        | RegexNode::MultipleOf { .. }
        | RegexNode::Values { .. }
        | RegexNode::Dfa(..) => any,
    }
}
