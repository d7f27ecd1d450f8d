//! Lazy quantifiers of a lexeme: `X Y*? Z` is `X·min(Y* Z)`, where that is what the order of attempts gives.
//!
//! A lexeme is what is matched where it begins, so it ends where the first `Z` lets it. `min` is exact if
//!
//! - the texts of `Y` have one length, in characters, so that each place can be reached in one way; or `Y` is a choice of a
//!   few such, each round takes the first that fits, and the texts of `Z` have one length;
//! - no text of `Z` goes on to another one, and none holds, further on, one that ends before it. What may be left out at the
//!   end of `Z` does not count: the quantifier ends without it;
//! - `X` ends in one place only: no text of `X` goes on to another one, but for a greedy repetition of a class at its end,
//!   which tries the longest first, and whatever it leaves out, `Y*?` can make up for.
//!
//! Of a choice, what was taken is not given up again where no `Z` follows at all. What cannot be shown to be so is an error
//! with the reason. Alternatives are each a branch of their own, with what
//! stands around them. Assertions only take texts away, so that the conditions are looked at without them.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use super::ast::{Ast, AstId, Tree};
use super::error::LazyFault;
use super::loops::Loop;
use super::undecided::Questions;
use crate::algebra::{Algebra, Lowered};
use crate::index::IndexVec;
use crate::limits::Limits;
use crate::regex::{RegexId, RegexNode, RegexSet};

/// Branches and quantifiers looked at in one regex at most.
const STEPS_MAX: usize = 500;
/// Lazy quantifiers one behind the other at most.
const DEPTH_MAX: usize = 16;
/// Nodes of a regex with lazy quantifiers at most, and that times its branches where each is lowered by itself.
pub(super) const TREE_NODES_MAX: usize = 50_000;
/// Nodes of what stands before or after a lazy quantifier at most.
const NODES_MAX: usize = 2_000;
/// Expressions and steps of one decision at most.
const EXPRESSIONS_MAX: usize = 100_000;
const WORK_MAX: u64 = 20_000;

/// A lexeme that ends with a lazy quantifier: what follows it in its terminal ends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LazyTail {
    /// What stands before the quantifier.
    pub before: RegexId,
    /// What is repeated.
    pub body: RegexId,
    /// The whole repetition.
    pub repeated: RegexId,
}

/// What stands before a lazy quantifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Beginning {
    /// It must end in one place only.
    EndsOnce,
    /// It may also end with a repetition of a class.
    MayEndGreedily,
}

/// Why a lazy quantifier has no exact meaning here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LazyError(LazyFault);

impl LazyError {
    /// The reason, as the second half of a sentence.
    pub fn reason(self) -> &'static str {
        self.0.reason()
    }
}

impl LazyTail {
    /// The lexeme with `rest` behind it.
    ///
    /// Errors: what the module says.
    pub fn then(self, rest: RegexId, set: &mut RegexSet, limits: &Limits) -> Result<RegexId, LazyError> {
        close(self, rest, None, Beginning::MayEndGreedily, set, limits).map_err(LazyError)
    }
}

/// A way through the alternatives: what stands before the first lazy quantifier, that, and what follows.
pub(super) struct Branch {
    pub parts: Vec<AstId>,
    /// Where in `parts` the first lazy quantifier is.
    lazy: Option<usize>,
}

/// A fault and the quantifier it is about.
type Fault = (LazyFault, Range<usize>);

pub(super) struct Lazy<'a> {
    tree: &'a Tree,
    limits: &'a Limits,
    /// Languages of the nodes, in which assertions say nothing and all quantifiers are greedy.
    plain: IndexVec<AstId, RegexId>,
    steps: usize,
}

impl<'a> Lazy<'a> {
    /// `plain` makes a node of its children's languages.
    pub fn new(tree: &'a Tree, limits: &'a Limits, plain: IndexVec<AstId, RegexId>) -> Self {
        Self { tree, limits, plain, steps: 0 }
    }

    /// The ways through the alternatives around the first lazy quantifiers.
    pub fn branches(&mut self, parts: Vec<AstId>) -> Result<Vec<Branch>, Fault> {
        if self.tree.nodes.len() > TREE_NODES_MAX {
            return Err((LazyFault::TooMany, self.first_span(parts[0])));
        }
        let mut open = vec![parts];
        let mut branches = Vec::new();
        while let Some(mut parts) = open.pop() {
            let Some(at) = parts.iter().position(|&part| self.tree.infos[part].lazy) else {
                branches.push(Branch { parts, lazy: None });
                continue;
            };
            let id = parts[at];
            self.steps += 1;
            if self.steps > STEPS_MAX {
                return Err((LazyFault::TooMany, self.first_span(id)));
            }
            match &self.tree.nodes[id] {
                Ast::Concat(inner) => {
                    parts.splice(at..=at, inner.iter().copied());
                    open.push(parts);
                }
                Ast::Or(alternatives) => {
                    open.extend(alternatives.iter().rev().map(|&alternative| {
                        let mut parts = parts.clone();
                        parts[at] = alternative;
                        parts
                    }));
                }
                &Ast::Repeat(child, ..) if self.tree.lazy.contains_key(&id) => {
                    if self.tree.infos[child].lazy {
                        return Err((LazyFault::Inside, self.first_span(child)));
                    }
                    branches.push(Branch { parts, lazy: Some(at) });
                }
                &Ast::Repeat(child, 0, Some(1)) => {
                    let mut without = parts.clone();
                    without.remove(at);
                    parts[at] = child;
                    open.extend([without, parts]);
                }
                _ => return Err((LazyFault::Inside, self.first_span(id))),
            }
        }
        Ok(branches)
    }

    /// Some lazy quantifier in a node.
    fn first_span(&self, id: AstId) -> Range<usize> {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            if let Some(span) = self.tree.lazy.get(&id) {
                return span.clone();
            }
            match &self.tree.nodes[id] {
                Ast::Concat(parts) | Ast::Or(parts) => stack.extend(parts.iter().rev()),
                Ast::Repeat(child, ..) => stack.push(*child),
                _ => {}
            }
        }
        0..0
    }

    /// Whether no assertion stands in the first lazy quantifier or behind it.
    pub fn ends_plainly(&self, branch: &Branch) -> bool {
        branch.lazy.is_some_and(|at| branch.parts[at..].iter().all(|&part| !self.tree.infos[part].anchored))
    }

    /// The language of a branch without assertions, and how it goes on if its lazy quantifier is its end.
    pub fn language(
        &mut self,
        branch: &Branch,
        beginning: Beginning,
        depth: usize,
        set: &mut RegexSet,
    ) -> Result<(RegexId, Option<LazyTail>), Fault> {
        let of = |plain: &IndexVec<AstId, RegexId>, parts: &[AstId]| -> Vec<RegexId> {
            parts.iter().map(|&part| plain[part]).collect()
        };
        let Some(at) = branch.lazy else { return Ok((set.concat(&of(&self.plain, &branch.parts)), None)) };
        let id = branch.parts[at];
        let span = self.tree.lazy[&id].clone();
        let &Ast::Repeat(child, ..) = &self.tree.nodes[id] else { unreachable!("a quantifier is a repetition") };
        if depth > DEPTH_MAX {
            return Err((LazyFault::TooMany, span));
        }
        let before = set.concat(&of(&self.plain, &branch.parts[..at]));
        let tail = LazyTail { before, body: self.plain[child], repeated: self.plain[id] };
        let rest = &branch.parts[at + 1..];
        let is_end = |node: &Ast| matches!(node, Ast::Anchor(anchor, _) if !anchor.is_start());
        if self.tree.nodes.iter().any(is_end) {
            return Err((LazyFault::Anchor, span));
        }
        let mut ways = Vec::new();
        for branch in self.branches(rest.to_vec())? {
            ways.push(self.language(&branch, Beginning::MayEndGreedily, depth + 1, set)?.0);
        }
        let language = set.or(&ways);
        let is_plain = self.ends_plainly(branch);
        let (last, left_out) = if is_plain { without_optional_end(set, language) } else { (language, set.epsilon()) };
        let all = match Loop::ordered(self.tree, child) {
            Some(body) if is_plain && !rest.is_empty() && width(set, tail.body).is_none() => {
                Some(self.in_order(&body, id, last, set).ok_or_else(|| (LazyFault::Body, span.clone()))?)
            }
            _ => None,
        };
        let closed = close(tail, last, all, beginning, set, self.limits).map_err(|fault| (fault, span))?;
        Ok((set.concat(&[closed, left_out]), rest.is_empty().then_some(tail)))
    }
}

impl Lazy<'_> {
    /// The rounds of a body, in each of which the first alternative that fits was taken, and then `rest`.
    fn in_order(&self, body: &Loop, id: AstId, rest: RegexId, set: &mut RegexSet) -> Option<RegexId> {
        let &Ast::Repeat(_, min @ 0..=1, None) = &self.tree.nodes[id] else { return None };
        width(set, rest)?;
        let any = set.any_byte();
        let any = set.repeat(any, 0, None);
        // Where a longer text could be forbidden, more than the rest would decide.
        let mut questions = Questions::new();
        body.solve(set, min == 1, rest, any, |set, undecided| !questions.is_empty(set, undecided))
    }
}

/// A language as what may not be left out of it and what may be, at its end.
fn without_optional_end(set: &mut RegexSet, regex: RegexId) -> (RegexId, RegexId) {
    let RegexNode::Concat(parts) = set.node(regex).clone() else { return (regex, set.epsilon()) };
    let needed = parts.iter().rposition(|&part| !set.info(part).nullable).map_or(0, |last| last + 1);
    if needed == 0 {
        return (regex, set.epsilon());
    }
    (set.concat(&parts[..needed]), set.concat(&parts[needed..]))
}

/// `before`, then the first match of `repeated` and `rest`, which is `all` if that is given.
fn close(
    tail: LazyTail,
    rest: RegexId,
    all: Option<RegexId>,
    beginning: Beginning,
    set: &mut RegexSet,
    limits: &Limits,
) -> Result<RegexId, LazyFault> {
    if [tail.before, tail.repeated, rest].iter().any(|&part| below(set, part).is_none()) {
        return Err(LazyFault::Undecided);
    }
    if all.is_none() && width(set, tail.body).is_none_or(|width| width == 0) {
        return Err(LazyFault::Body);
    }
    let start = match beginning {
        Beginning::EndsOnce => tail.before,
        Beginning::MayEndGreedily => without_greedy_end(set, tail.before),
    };
    if !is_prefix_free(set, start, limits)? {
        return Err(LazyFault::Before);
    }
    // Of texts of one length none goes on to another or holds another.
    if width(set, rest).is_none() {
        if !is_prefix_free(set, rest, limits)? {
            return Err(LazyFault::After);
        }
        let more = more(set);
        let some = set.repeat(tail.body, 1, None);
        let later = set.concat(&[some, rest, more]);
        if !are_disjoint(set, rest, later, limits)? {
            return Err(LazyFault::Overlap);
        }
    }
    let all = all.unwrap_or_else(|| set.concat(&[tail.repeated, rest]));
    let shortest = set.shortest(all);
    Ok(set.concat(&[tail.before, shortest]))
}

/// At least one byte.
fn more(set: &mut RegexSet) -> RegexId {
    let any = set.any_byte();
    set.repeat(any, 1, None)
}

/// Whether no text of the language begins another one.
fn is_prefix_free(set: &mut RegexSet, regex: RegexId, limits: &Limits) -> Result<bool, LazyFault> {
    if width(set, regex).is_some() {
        return Ok(true);
    }
    let more = more(set);
    let longer = set.concat(&[regex, more]);
    are_disjoint(set, regex, longer, limits)
}

fn are_disjoint(set: &mut RegexSet, one: RegexId, other: RegexId, limits: &Limits) -> Result<bool, LazyFault> {
    let both = set.and(&[one, other]);
    let mut algebra = Algebra::new(EXPRESSIONS_MAX);
    let work = limits.regex_emptiness_fuel.min(WORK_MAX).min(set.look_work_left());
    let lowered = algebra.lower(set, both, &mut Lowered::default());
    let empty = lowered.and_then(|expr| algebra.is_non_empty(expr, work));
    set.look_work += algebra.work();
    empty.map(|non_empty| !non_empty).map_err(|_| LazyFault::Undecided)
}

/// The language without a repetition of a class at its end.
fn without_greedy_end(set: &mut RegexSet, regex: RegexId) -> RegexId {
    let is_run = |set: &RegexSet, id: RegexId| match set.node(id) {
        RegexNode::Repeat(child, ..) => width(set, *child) == Some(1),
        _ => false,
    };
    match set.node(regex).clone() {
        RegexNode::Concat(parts) if is_run(set, parts[parts.len() - 1]) => set.concat(&parts[..parts.len() - 1]),
        _ if is_run(set, regex) => set.epsilon(),
        _ => regex,
    }
}

/// The nodes of a regex, children first. `None` if there are too many.
fn below(set: &RegexSet, root: RegexId) -> Option<Vec<RegexId>> {
    let mut found = vec![root];
    let mut seen = FxHashSet::default();
    let mut next = 0;
    while let Some(&id) = found.get(next) {
        next += 1;
        found.extend(set.node(id).children().iter().copied().filter(|&child| seen.insert(child)));
        if found.len() > NODES_MAX {
            return None;
        }
    }
    // Children are older than their parents.
    found.sort_unstable();
    Some(found)
}

/// The number of characters of each text, if all have the same.
fn width(set: &RegexSet, root: RegexId) -> Option<u64> {
    let mut widths: FxHashMap<RegexId, Option<u64>> = FxHashMap::default();
    for id in below(set, root)? {
        let of = |id: &RegexId| widths[id];
        let width = match set.node(id) {
            RegexNode::Literal(bytes) => Some(bytes.iter().filter(|&&byte| (byte as i8) >= -0x40).count() as u64),
            RegexNode::Class(_) | RegexNode::Bytes(_) => Some(1),
            RegexNode::Concat(parts) => parts.iter().try_fold(0u64, |sum, part| sum.checked_add(of(part)?)),
            RegexNode::Or(parts) => {
                let first = of(&parts[0]);
                first.filter(|_| parts.iter().all(|part| of(part) == first))
            }
            RegexNode::Repeat(child, min, Some(max)) if min == max => {
                of(child).and_then(|width| width.checked_mul(u64::from(*min)))
            }
            _ => None,
        };
        widths.insert(id, width);
    }
    widths[&root]
}
