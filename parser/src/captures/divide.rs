//! How the text of a rule divides among the symbols of one of its alternatives.
//!
//! Each symbol in turn takes as much as it can. What is possible is found from both ends, always on the side where less
//! is to be looked at, so that neither a left- nor a right-recursive list costs more than its length.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::chart::{Chart, GoalId, NodeId};
use super::plan::Plan;
use crate::cfg::{DOT_END, DotId, Symbol};
use crate::earley::sets::ParamId;
use crate::error::Fault;

/// The text that a symbol has: from node to node. Nothing if they are the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Part {
    /// The dot before the symbol.
    pub dot: DotId,
    pub start: NodeId,
    pub end: NodeId,
}

/// Which rules of a circle may have the whole text of another: those that can do without it.
pub(super) type Grounded = FxHashSet<GoalId>;

/// What is to be divided.
pub(super) struct Division<'q> {
    pub goal: GoalId,
    /// The dots before the symbols.
    pub dots: &'q [DotId],
    /// The dot after them.
    pub after: DotId,
    /// Where the last symbol ends, or, with `trail`, where the item with the dot `after` was carried to.
    pub to: NodeId,
    /// Ignored text may stand before the first symbol.
    pub lead: bool,
    pub trail: bool,
    /// Set if the goal is in a circle.
    pub grounded: Option<&'q Grounded>,
}

/// A symbol from `start` to `end`, when the symbol before it ended at `before`.
#[derive(Clone, Copy)]
struct Step {
    before: NodeId,
    start: NodeId,
    end: NodeId,
}

/// The preferred way to divide; `None` if there is none.
pub(super) fn divide(chart: &mut Chart, plan: &Plan, division: &Division) -> Result<Option<Vec<Part>>, Fault> {
    let count = division.dots.len();
    let mut divider = Divider {
        from: chart.goals[division.goal].node,
        param: chart.goals[division.goal].param,
        steps: vec![Vec::new(); count],
        chart,
        plan,
        division,
    };
    let mut first = vec![divider.from];
    let mut last = if division.trail { divider.chart.gaps_to(division.to, division.after)? } else { vec![division.to] };
    let (mut low, mut high) = (0, count);
    let mut costs = (None, None);
    while low < high {
        if first.is_empty() || last.is_empty() {
            return Ok(None);
        }
        let forward = match costs.0 {
            Some(cost) => cost,
            None => divider.forward_cost(low, &first)?,
        };
        let backward = match costs.1 {
            Some(cost) => cost,
            None => divider.backward_cost(high - 1, &last)?,
        };
        if forward <= backward {
            first = divider.forward(low, &first, &last)?;
            low += 1;
            costs = (None, Some(backward));
        } else {
            high -= 1;
            last = divider.backward(high, &last)?;
            costs = (Some(forward), None);
        }
    }
    let meeting: FxHashSet<NodeId> = last.into_iter().filter(|node| first.binary_search(node).is_ok()).collect();
    Ok(if meeting.is_empty() { None } else { divider.choose(low, meeting) })
}

struct Divider<'c, 'a, 'q> {
    chart: &'c mut Chart<'a>,
    plan: &'q Plan,
    division: &'q Division<'q>,
    from: NodeId,
    param: ParamId,
    /// Possible steps of each symbol.
    steps: Vec<Vec<Step>>,
}

impl Divider<'_, '_, '_> {
    /// Whether symbol `index` is a nonterminal that ends the rule: what it ends with is known, and the chart may have
    /// jumped over it.
    fn ends_rule(&self, index: usize) -> bool {
        let info = self.chart.cfg.dots[self.division.dots[index]];
        matches!(info.symbol, Symbol::Nonterminal(_)) && info.next == DOT_END
    }

    fn starts(&mut self, index: usize, before: NodeId) -> Result<Vec<NodeId>, Fault> {
        if index == 0 && !self.division.lead {
            return Ok(vec![before]);
        }
        self.chart.gaps_from(before, self.division.dots[index])
    }

    fn forward_cost(&mut self, index: usize, nodes: &[NodeId]) -> Result<usize, Fault> {
        self.chart.step(nodes.len())?;
        let mut cost = nodes.len();
        if !self.ends_rule(index) {
            for &node in nodes {
                for start in self.starts(index, node)? {
                    cost += self.chart.ends_cost(start, self.division.dots[index], self.param)?;
                }
            }
        }
        Ok(cost)
    }

    fn backward_cost(&mut self, index: usize, nodes: &[NodeId]) -> Result<usize, Fault> {
        self.chart.step(nodes.len())?;
        let dot = self.division.dots[index];
        Ok(nodes.len() + nodes.iter().map(|&node| self.chart.starts_cost(node, dot)).sum::<usize>())
    }

    /// Adds the steps of symbol `index` from `nodes`. Returns where they end, sorted.
    fn forward(&mut self, index: usize, nodes: &[NodeId], last: &[NodeId]) -> Result<Vec<NodeId>, Fault> {
        let dot = self.division.dots[index];
        let can_skip = self.chart.machine.sets.can_skip(dot, self.param)?;
        let mut steps = Vec::new();
        let mut ends = Vec::new();
        for &before in nodes {
            for start in self.starts(index, before)? {
                ends.clear();
                if self.ends_rule(index) {
                    if let Some(goal) = self.chart.goal_at(start, dot, self.param)? {
                        for &end in last {
                            if self.chart.has_fact(goal, end)? {
                                ends.push(end);
                            }
                        }
                    }
                } else {
                    self.chart.ends_from(start, dot, self.param, &mut ends)?;
                }
                for &end in &ends {
                    if self.is_allowed(dot, start, end)? {
                        steps.push(Step { before, start, end });
                    }
                }
            }
            if can_skip {
                steps.push(Step { before, start: before, end: before });
            }
        }
        self.chart.step(steps.len())?;
        let mut reached: Vec<NodeId> = steps.iter().map(|step| step.end).collect();
        reached.sort_unstable();
        reached.dedup();
        self.steps[index] = steps;
        Ok(reached)
    }

    /// Adds the steps of symbol `index` to `nodes`. Returns where they come from, sorted.
    fn backward(&mut self, index: usize, nodes: &[NodeId]) -> Result<Vec<NodeId>, Fault> {
        let dot = self.division.dots[index];
        let can_skip = self.chart.machine.sets.can_skip(dot, self.param)?;
        let mut steps = Vec::new();
        let mut starts = Vec::new();
        for &end in nodes {
            starts.clear();
            self.chart.starts_to(end, dot, self.param, &mut starts)?;
            for &start in &starts {
                if !self.is_allowed(dot, start, end)? {
                    continue;
                }
                if index == 0 && !self.division.lead {
                    if start == self.from {
                        steps.push(Step { before: start, start, end });
                    }
                    continue;
                }
                let befores = self.chart.gaps_to(start, dot)?;
                steps.extend(befores.into_iter().map(|before| Step { before, start, end }));
            }
            if can_skip {
                steps.push(Step { before: end, start: end, end });
            }
        }
        self.chart.step(steps.len())?;
        let mut reached: Vec<NodeId> = steps.iter().map(|step| step.before).collect();
        reached.sort_unstable();
        reached.dedup();
        self.steps[index] = steps;
        Ok(reached)
    }

    /// Whether the symbol may have this text: a rule of a circle not that of a rule that derives it.
    fn is_allowed(&mut self, dot: DotId, start: NodeId, end: NodeId) -> Result<bool, Fault> {
        let Some(grounded) = self.division.grounded else { return Ok(true) };
        if start != self.from || end != self.division.to {
            return Ok(true);
        }
        is_grounded(self.chart, self.plan, grounded, self.division.goal, dot, start)
    }

    /// Takes the longest step each time, of those that lead to `meeting` after `middle` symbols.
    fn choose(&self, middle: usize, meeting: FxHashSet<NodeId>) -> Option<Vec<Part>> {
        let mut leads: Vec<FxHashSet<NodeId>> = vec![FxHashSet::default(); middle + 1];
        leads[middle] = meeting;
        for index in (1..middle).rev() {
            let before = self.steps[index].iter().filter(|step| leads[index + 1].contains(&step.end));
            leads[index] = before.map(|step| step.before).collect();
        }
        let mut parts = Vec::with_capacity(self.steps.len());
        let mut at = self.from;
        for (index, steps) in self.steps.iter().enumerate() {
            let possible = steps
                .iter()
                .filter(|step| step.before == at && (index >= middle || leads[index + 1].contains(&step.end)));
            let longest = possible.max_by_key(|step| longest_first(self.chart, step.start, step.end))?;
            parts.push(Part { dot: self.division.dots[index], start: longest.start, end: longest.end });
            at = longest.end;
        }
        Some(parts)
    }
}

/// Orders texts: one that ends later is preferred, then a token read as text, then one that begins earlier.
pub(super) fn longest_first(chart: &Chart, start: NodeId, end: NodeId) -> impl Ord + use<> {
    let (first, last) = (&chart.nodes[start], &chart.nodes[end]);
    (last.pos, !last.is_after_token, end, Reverse((first.pos, start)))
}

/// Whether the nonterminal after `dot`, with the same text as `goal`, is in no circle with it or can do without it.
fn is_grounded(
    chart: &mut Chart,
    plan: &Plan,
    grounded: &Grounded,
    goal: GoalId,
    dot: DotId,
    start: NodeId,
) -> Result<bool, Fault> {
    let (id, param) = (chart.goals[goal].id, chart.goals[goal].param);
    let Symbol::Nonterminal(child) = chart.cfg.dots[dot].symbol else { return Ok(true) };
    Ok(plan.rule(child).circle != plan.rule(id).circle
        || chart.goal_at(start, dot, param)?.is_some_and(|child| grounded.contains(&child)))
}

/// The elements of a repetition whose text ends at one of `ends`, each as long as it can be; and the end that they lead
/// to. `dot` stands before the repeated symbol.
pub(super) fn elements(
    chart: &mut Chart,
    plan: &Plan,
    goal: GoalId,
    dot: DotId,
    ends: &[NodeId],
    grounded: Option<&Grounded>,
) -> Result<Option<(Vec<Part>, NodeId)>, Fault> {
    let (from, param) = (chart.goals[goal].node, chart.goals[goal].param);
    let mut seen: FxHashSet<NodeId> = ends.iter().copied().collect();
    let mut agenda = ends.to_vec();
    // The longest element after each.
    let mut next: FxHashMap<NodeId, Part> = FxHashMap::default();
    let mut starts = Vec::new();
    while let Some(end) = agenda.pop() {
        starts.clear();
        chart.starts_to(end, dot, param, &mut starts)?;
        for &start in &starts {
            let befores = if start == from { vec![from] } else { chart.gaps_to(start, dot)? };
            for before in befores {
                chart.step(1)?;
                if start == from {
                    let is_whole = ends == [end];
                    if let Some(grounded) = grounded.filter(|_| is_whole)
                        && !is_grounded(chart, plan, grounded, goal, dot, start)?
                    {
                        continue;
                    }
                } else if !chart.has_fact(goal, before)? {
                    continue;
                }
                let part = Part { dot, start, end };
                let best = next.entry(before).or_insert(part);
                if longest_first(chart, start, end) > longest_first(chart, best.start, best.end) {
                    *best = part;
                }
                if before != from && seen.insert(before) {
                    agenda.push(before);
                }
            }
        }
    }
    let ends: FxHashSet<NodeId> = ends.iter().copied().collect();
    let mut parts = Vec::new();
    let mut at = from;
    while let Some(&part) = next.get(&at) {
        parts.push(part);
        at = part.end;
        if ends.contains(&at) {
            return Ok(Some((parts, at)));
        }
    }
    Ok(None)
}
