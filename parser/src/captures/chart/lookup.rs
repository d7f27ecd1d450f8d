//! What the derivation asks a chart: where symbols begin and end, and what was completed.

use std::ops::Range;

use larkspur_grammar::GrammarId;
use rustc_hash::FxHashSet;

use super::{Chart, Edge, Goal, GoalId, Item, NONE, NodeId, Scan, Waiter};
use crate::cfg::{DOT_END, DotId, LexemeId, Symbol, TokenLetterId};
use crate::earley::sets::ParamId;
use crate::error::Fault;

impl Chart<'_> {
    pub fn items(&self, node: NodeId) -> &[Item] {
        &self.items[self.nodes[node].items.clone()]
    }

    pub fn scans(&self, node: NodeId) -> &[Scan<LexemeId>] {
        &self.scans[self.nodes[node].scans.clone()]
    }

    pub fn token_scans(&self, node: NodeId) -> &[Scan<TokenLetterId>] {
        &self.token_scans[self.nodes[node].token_scans.clone()]
    }

    pub fn waiters(&self, goal: GoalId) -> &[Waiter] {
        &self.waiters[self.goals[goal].waiters.clone()]
    }

    /// How the goal ended at the node if that was by its budget: the number of the frontier in it.
    pub fn cut_of(&self, goal: GoalId, node: NodeId) -> Option<usize> {
        self.cut_facts.get(&(goal, node)).copied()
    }

    /// The goal of the nonterminal after `dot` at a node, for an item with the parameter `caller`.
    pub fn goal_at(&mut self, node: NodeId, dot: DotId, caller: ParamId) -> Result<Option<GoalId>, Fault> {
        let Symbol::Nonterminal(id) = self.cfg.dots[dot].symbol else { return Ok(None) };
        let param = self.passed(node, dot, caller)?;
        Ok(self.goal_ids.get(&(node, id, param)).copied())
    }

    /// How many places [`ends_from`](Self::ends_from) visits.
    pub fn ends_cost(&mut self, node: NodeId, dot: DotId, caller: ParamId) -> Result<usize, Fault> {
        Ok(match self.cfg.dots[dot].symbol {
            Symbol::Nonterminal(_) => self.goal_at(node, dot, caller)?.map_or(0, |goal| self.goals[goal].facts),
            _ => self.nodes[node].edges_out,
        })
    }

    /// Where the symbol after `dot` ends that begins at `node`. Of a nonterminal that ends its rule only some.
    pub fn ends_from(
        &mut self,
        node: NodeId,
        dot: DotId,
        caller: ParamId,
        ends: &mut Vec<NodeId>,
    ) -> Result<(), Fault> {
        let symbol = self.cfg.dots[dot].symbol;
        match symbol {
            Symbol::Nonterminal(_) => {
                let Some(goal) = self.goal_at(node, dot, caller)? else { return Ok(()) };
                self.step(1 + self.goals[goal].facts)?;
                let mut next = self.goals[goal].last_fact;
                while next != NONE {
                    let fact = self.facts[next as usize];
                    ends.push(fact.node);
                    next = fact.before;
                }
            }
            _ => {
                self.step(1 + self.nodes[node].edges_out)?;
                let mut next = self.nodes[node].last_edge;
                while next != NONE {
                    let edge = self.edges[next as usize];
                    if edge.symbol == symbol {
                        ends.push(edge.to);
                    }
                    next = edge.before;
                }
            }
        }
        Ok(())
    }

    /// How many places [`starts_to`](Self::starts_to) visits.
    pub fn starts_cost(&mut self, node: NodeId, dot: DotId) -> usize {
        match self.cfg.dots[dot].symbol {
            Symbol::Nonterminal(_) => self.nodes[node].facts.len() + self.expanded.get(&node).map_or(0, Vec::len),
            _ => self.nodes[node].edges.len(),
        }
    }

    /// Where the symbol after `dot` begins that ends at `node`, all of them.
    pub fn starts_to(
        &mut self,
        node: NodeId,
        dot: DotId,
        caller: ParamId,
        starts: &mut Vec<NodeId>,
    ) -> Result<(), Fault> {
        let symbol = self.cfg.dots[dot].symbol;
        let Symbol::Nonterminal(id) = symbol else {
            self.step(1 + self.nodes[node].edges.len())?;
            let edges = &self.edges[self.nodes[node].edges.clone()];
            starts.extend(edges.iter().filter(|edge| edge.symbol == symbol).map(|edge| edge.from));
            return Ok(());
        };
        if self.cfg.dots[dot].next == DOT_END {
            self.expand(node)?;
        }
        let facts = self.nodes[node].facts.clone();
        let recorded = facts.len();
        let more = self.expanded.get(&node).map_or(0, Vec::len);
        self.step(1 + recorded + more)?;
        for index in 0..recorded + more {
            let goal = match index.checked_sub(recorded) {
                None => self.facts[facts.start + index].goal,
                Some(index) => self.expanded[&node][index],
            };
            let Goal { node: start, id: found, param, .. } = self.goals[goal];
            if found == id && self.passed(start, dot, caller)? == param {
                starts.push(start);
            }
        }
        Ok(())
    }

    /// Whether the goal was completed at the node.
    pub fn has_fact(&mut self, goal: GoalId, node: NodeId) -> Result<bool, Fault> {
        let Range { start, end } = self.nodes[node].facts;
        self.step(1 + (end - start).min(self.goals[goal].facts))?;
        if end - start <= self.goals[goal].facts {
            if self.facts[start..end].iter().any(|fact| fact.goal == goal) {
                return Ok(true);
            }
        } else {
            let mut next = self.goals[goal].last_fact;
            while next != NONE {
                let fact = self.facts[next as usize];
                if fact.node <= node {
                    if fact.node == node {
                        return Ok(true);
                    }
                    break;
                }
                next = fact.before;
            }
        }
        if self.leads_only_to(goal).is_none() {
            return Ok(false);
        }
        self.expand(node)?;
        Ok(self.expanded_facts.contains(&(goal, node)))
    }

    /// Fills in the facts at a node that were jumped over.
    fn expand(&mut self, node: NodeId) -> Result<(), Fault> {
        if self.expanded.contains_key(&node) {
            return Ok(());
        }
        let mut found = Vec::new();
        for index in self.nodes[node].facts.clone() {
            let mut goal = self.facts[index].goal;
            while let Some(parent) = self.leads_only_to(goal) {
                // The topmost is recorded itself.
                if self.leads_only_to(parent).is_none() || !self.expanded_facts.insert((parent, node)) {
                    break;
                }
                self.entry()?;
                found.push(parent);
                goal = parent;
            }
        }
        self.expanded.insert(node, found);
        Ok(())
    }

    /// The edge of a symbol between two nodes.
    pub fn edge_between(&mut self, symbol: Symbol, from: NodeId, to: NodeId) -> Result<Option<Edge>, Fault> {
        let range = self.nodes[to].edges.clone();
        self.step(1 + range.len())?;
        Ok(self.edges[range].iter().find(|edge| edge.symbol == symbol && edge.from == from).copied())
    }

    /// `node` and the nodes that an item before `dot` is carried to from there.
    pub fn gaps_from(&mut self, node: NodeId, dot: DotId) -> Result<Vec<NodeId>, Fault> {
        self.gap_closure(node, dot, |chart, node, next| {
            let mut at = chart.nodes[node].last_gap;
            while at != NONE {
                let gap = chart.gaps[at as usize];
                next.push((gap.to, gap.grammar));
                at = gap.before;
            }
        })
    }

    /// `node` and the nodes that an item before `dot` is carried from to there.
    pub fn gaps_to(&mut self, node: NodeId, dot: DotId) -> Result<Vec<NodeId>, Fault> {
        self.gap_closure(node, dot, |chart, node, next| {
            next.extend(chart.gaps[chart.nodes[node].gaps.clone()].iter().map(|gap| (gap.from, gap.grammar)));
        })
    }

    fn gap_closure(
        &mut self,
        node: NodeId,
        dot: DotId,
        neighbours: impl Fn(&Self, NodeId, &mut Vec<(NodeId, Option<GrammarId>)>),
    ) -> Result<Vec<NodeId>, Fault> {
        let mut reached = vec![node];
        let mut found = Vec::new();
        neighbours(self, node, &mut found);
        if found.is_empty() {
            return Ok(reached);
        }
        let grammar = self.cfg.dots[dot].grammar;
        let once = grammar.is_some_and(|grammar| self.cfg.ignore_once[grammar]);
        let mut seen = FxHashSet::from_iter([(node, false)]);
        let mut agenda = vec![(node, false)];
        while let Some((node, was_ignored)) = agenda.pop() {
            found.clear();
            neighbours(self, node, &mut found);
            self.step(1 + found.len())?;
            for &(next, by) in &found {
                let is_ignored = by.is_some();
                if is_ignored && (by != grammar || once && was_ignored) {
                    continue;
                }
                if seen.insert((next, was_ignored || is_ignored)) {
                    reached.push(next);
                    agenda.push((next, was_ignored || is_ignored));
                }
            }
        }
        reached.sort_unstable();
        reached.dedup();
        Ok(reached)
    }
}
