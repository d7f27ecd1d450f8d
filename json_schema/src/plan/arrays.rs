//! Arrays whose elements are counted.

use std::cmp::Reverse;

use larkspur_grammar::json::JsonId;
use larkspur_grammar::saved::Inconsistent;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

use super::Trouble;
use super::alike::Alike;
use crate::ir::{ANY, ArrayId, Count, NEVER, NodeId};
use crate::normal::Normalizer;

/// Counts of one array at most, one bit each.
const COUNTS_MAX: usize = 64;

/// Up to so many counts, elements that count for one and those that need not are followed side by side: to tell them apart takes
/// longer to compile.
const FEW_COUNTS: usize = 2;
/// Up to so many, they are told apart only by constants. More would be too many side by side.
const COUNTS_BESIDE_MAX: usize = 6;

/// Choices of an element count as so many of `schema_choices_max`: which of them may come is asked for each number of elements so far.
const CHOICE_WEIGHT: usize = 16;
/// To add a count to a choice counts as so much work.
const CHOICE_WORK: u64 = 16;

/// What may stand where in an array.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ArrayPlan {
    /// Choices of each of the first elements; the last list is that of all further ones, too. At least one.
    pub cells: Vec<Vec<ArrayChoice>>,
    /// What each cell's elements are whatever they count for.
    pub nodes: Vec<NodeId>,
    counts: Box<[(u64, Option<u64>)]>,
    pub min: u64,
    pub max: Option<u64>,
    pub unique: bool,
    #[serde(skip)]
    search_max: usize,
}

/// What an element may be.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ArrayChoice {
    pub node: NodeId,
    /// The counts that it adds to, one bit each.
    adds: u64,
}

/// How much of an array there is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ArrayProgress {
    /// Elements so far, as far as they are told apart.
    len: u64,
    counts: Box<[u64]>,
}

/// What the element at an index may be that is of `base` whatever it counts for. What counts for more is better, and comes first;
/// of choices with the same values it is the only one.
fn choices(
    normalizer: &mut Normalizer<'_>,
    alike: &mut Alike,
    (base, index): (NodeId, u64),
    counts: &[Count],
    origin: JsonId,
) -> Result<Vec<ArrayChoice>, Trouble> {
    let choices_max = (normalizer.limits.schema_choices_max / CHOICE_WEIGHT).max(1 << FEW_COUNTS);
    let mut choices = vec![ArrayChoice { node: base, adds: 0 }];
    for (bit, count) in counts.iter().enumerate().filter(|(_, count)| count.from <= index) {
        // What may count as often as it likes may be read as if it did not, which is followed beside it.
        let is_told_apart =
            counts.len() > COUNTS_BESIDE_MAX || counts.len() > FEW_COUNTS && normalizer.is_of_constants(count.node);
        let other = match count.max {
            None if !is_told_apart => normalizer.constants_besides(count.node, origin),
            None | Some(_) => Some(normalizer.ir.not(count.node, origin)),
        };
        let mut next = Vec::with_capacity(2 * choices.len());
        for &ArrayChoice { node, adds } in &choices {
            let with = normalizer.ir.all(&[node, count.node], origin);
            let without = other.map_or(node, |other| normalizer.ir.all(&[node, other], origin));
            next.push(ArrayChoice { node: alike.node(normalizer, with), adds: adds | 1 << bit });
            next.push(ArrayChoice { node: alike.node(normalizer, without), adds });
        }
        next.retain(|choice| choice.node != NEVER);
        next.sort_by_key(|choice| Reverse(choice.adds));
        let mut seen = FxHashSet::default();
        next.retain(|choice| seen.insert(choice.node));
        if next.len() > choices_max {
            return Err(Trouble::TooManyChoices);
        }
        if !normalizer.charge(CHOICE_WORK * next.len() as u64) {
            return Err(Trouble::Reported);
        }
        choices = next;
    }
    Ok(choices)
}

impl ArrayPlan {
    pub fn new(normalizer: &mut Normalizer, array: ArrayId, origin: JsonId) -> Result<Self, Trouble> {
        let spec = normalizer.ir.arrays.get(array).clone();
        if spec.counts.len() > COUNTS_MAX {
            return Err(Trouble::TooManyChoices);
        }
        let mut alike = Alike::default();
        let first = spec.counts.iter().map(|count| count.from).max().unwrap_or(0);
        let last = (spec.prefix.len() as u64).max(first) as usize;
        let mut cells = Vec::with_capacity(last + 1);
        let mut nodes = Vec::with_capacity(last + 1);
        for index in 0..=last {
            let base = spec.prefix.get(index).copied().unwrap_or(spec.rest);
            cells.push(choices(normalizer, &mut alike, (base, index as u64), &spec.counts, origin)?);
            nodes.push(base);
        }
        let counts = spec.counts.iter().map(|count| (count.min, count.max)).collect();
        let (min, max, unique, search_max) = (spec.min, spec.max, spec.unique, normalizer.limits.schema_search_max);
        Ok(Self { cells, nodes, counts, min, max, unique, search_max })
    }

    /// All nodes that an element may be of.
    pub fn choices(&self) -> impl Iterator<Item = NodeId> {
        self.cells.iter().flatten().map(|choice| choice.node).filter(|&node| node != ANY)
    }
    /// The same with "anything".
    pub fn choices_and_any(&self) -> impl Iterator<Item = NodeId> {
        self.cells.iter().flatten().map(|choice| choice.node)
    }
    pub fn is_counted(&self) -> bool {
        !self.counts.is_empty()
    }
    /// Leaves out the choices whose nodes have no value.
    pub fn prune(&mut self, mut is_inhabited: impl FnMut(NodeId) -> bool) {
        self.cells.iter_mut().for_each(|cell| cell.retain(|choice| is_inhabited(choice.node)));
    }

    /// Makes a plan that was read ready for use.
    ///
    /// Errors: what [`new`](Self::new) does not make.
    pub fn read(&mut self, search_max: usize) -> Result<(), Inconsistent> {
        self.search_max = search_max;
        let choices = || self.cells.iter().flatten();
        let holds = !self.cells.is_empty()
            && self.nodes.len() == self.cells.len()
            && self.counts.len() <= COUNTS_MAX
            && choices().all(|choice| choice.adds.checked_shr(self.counts.len() as u32).unwrap_or(0) == 0);
        Inconsistent::unless(holds, "an array's plan has no such elements")
    }

    pub fn start(&self) -> ArrayProgress {
        ArrayProgress { len: 0, counts: vec![0; self.counts.len()].into() }
    }
    /// The choices of the next element, and where each leads.
    pub fn next(&self, progress: &ArrayProgress) -> impl DoubleEndedIterator<Item = (NodeId, ArrayProgress)> {
        let is_full = self.max.is_some_and(|max| progress.len >= max);
        let cell = if is_full { &[][..] } else { &self.cells[self.cell(progress.len)] };
        cell.iter().filter_map(|choice| Some((choice.node, self.after(progress, choice.adds)?)))
    }
    /// One of these, by its place.
    pub fn choice(&self, progress: &ArrayProgress, index: u32) -> (NodeId, ArrayProgress) {
        self.next(progress).nth(index as usize).expect("a choice that is offered")
    }
    /// The cell of the element at an index.
    pub fn cell(&self, index: u64) -> usize {
        usize::try_from(index).unwrap_or(usize::MAX).min(self.cells.len() - 1)
    }
    /// The index of the next element; exact below both `min` and the number of cells.
    pub fn index(&self, progress: &ArrayProgress) -> u64 {
        progress.len
    }
    fn after(&self, progress: &ArrayProgress, adds: u64) -> Option<ArrayProgress> {
        let mut next = progress.clone();
        let told_apart = self.max.unwrap_or(self.min).max(self.cells.len() as u64);
        next.len = (next.len + 1).min(told_apart);
        for (bit, (count, &(min, max))) in next.counts.iter_mut().zip(&self.counts).enumerate() {
            if adds >> bit & 1 == 1 {
                if max.is_some_and(|max| *count >= max) {
                    return None;
                }
                *count = (*count + 1).min(max.unwrap_or(min));
            }
        }
        Some(next)
    }
    pub fn can_close(&self, progress: &ArrayProgress) -> bool {
        progress.len >= self.min && progress.counts.iter().zip(&self.counts).all(|(&count, &(min, _))| count >= min)
    }

    /// Whether the end can be reached with the choices that `is_usable` (or that are left, after [`prune`](Self::prune)).
    pub fn is_live(&self, progress: &ArrayProgress, is_usable: &dyn Fn(NodeId) -> bool) -> Result<bool, Trouble> {
        self.is_live_with(progress, is_usable, &mut 0)
    }

    /// The same; what that takes is added to `work`, as `Limits::schema_work_max` counts it.
    pub fn is_live_with(
        &self,
        progress: &ArrayProgress,
        is_usable: &dyn Fn(NodeId) -> bool,
        work: &mut u64,
    ) -> Result<bool, Trouble> {
        match self.counts.len() {
            0 | 1 => Ok(self.is_live_with_one(progress, is_usable)),
            _ => self.search(progress, is_usable, work),
        }
    }

    /// With at most one count: the sums that a number of further elements can reach are an interval.
    fn is_live_with_one(&self, progress: &ArrayProgress, is_usable: &dyn Fn(NodeId) -> bool) -> bool {
        let (need, budget) = match (self.counts.first(), progress.counts.first()) {
            (Some(&(min, max)), Some(&count)) => (min.saturating_sub(count), max.map(|max| max - count)),
            _ => (0, None),
        };
        let fewest = self.min.saturating_sub(progress.len);
        let most = self.max.map(|max| max - progress.len);
        let mut sums = (0, 0);
        let mut more = 0;
        let tail = self.cells.len() as u64 - 1;
        loop {
            let is_in_budget = budget.is_none_or(|budget| sums.0 <= budget);
            if more >= fewest && sums.1 >= need && is_in_budget {
                return true;
            }
            if most.is_some_and(|most| more >= most) || !is_in_budget {
                return false;
            }
            let index = progress.len.saturating_add(more);
            let cell = &self.cells[self.cell(index)];
            let mut adds = cell.iter().filter(|choice| is_usable(choice.node)).map(|choice| choice.adds & 1);
            let Some(first) = adds.next() else { return false };
            let (low, high) = adds.fold((first, first), |(low, high), add| (low.min(add), high.max(add)));
            // In the tail all further elements are alike: as many at once as it takes.
            let mut step = 1;
            if index >= tail {
                if high == 0 && sums.1 < need {
                    return false;
                }
                step = fewest.saturating_sub(more).max(need.saturating_sub(sums.1)).max(1);
            }
            if most.is_some_and(|most| step > most - more) {
                return false;
            }
            sums = (sums.0.saturating_add(low * step), sums.1.saturating_add(high * step));
            more += step;
        }
    }

    fn search(
        &self,
        progress: &ArrayProgress,
        is_usable: &dyn Fn(NodeId) -> bool,
        work: &mut u64,
    ) -> Result<bool, Trouble> {
        let mut seen: FxHashSet<ArrayProgress> = FxHashSet::default();
        let mut stack = vec![progress.clone()];
        while let Some(progress) = stack.pop() {
            if self.can_close(&progress) {
                return Ok(true);
            }
            *work += 1 + self.cells[self.cell(progress.len)].len() as u64;
            if seen.len() > self.search_max {
                return Err(Trouble::SearchGivenUp);
            }
            // The choices that count for most are tried first.
            for (node, next) in self.next(&progress).rev() {
                if is_usable(node) && !seen.contains(&next) {
                    stack.push(next);
                }
            }
            seen.insert(progress);
        }
        Ok(false)
    }
}
