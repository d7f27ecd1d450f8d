//! Which parametric nonterminals can be empty and which can be finished, for the parameter values that occur.
//!
//! A value space may be huge, so facts are proved on demand: depth first from the question, each alternative waiting
//! for its first symbol without an answer, and a proof wakes those that wait for it. A question whose search ends
//! without a proof has closed the region that it visited, so everything unproved there is false.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Cfg, DOT_END, Dot, DotId, NonterminalId, Symbol};
use crate::error::Fault;

/// A nonterminal with its parameter.
type Node = (NonterminalId, u64);

/// What is being asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Question {
    Nullable,
    Productive,
}

/// Answers so far.
#[derive(Default, Debug)]
pub(crate) struct ParamFacts {
    nullable: FxHashMap<Node, bool>,
    productive: FxHashMap<Node, bool>,
}

struct Search {
    /// Alternatives that wait for a node: their own node and the dot to go on from.
    waiting: FxHashMap<Node, Vec<(Node, DotId)>>,
    /// Alternatives to try, newest first.
    agenda: Vec<(Node, DotId)>,
    visited: FxHashSet<Node>,
}

impl ParamFacts {
    /// Whether the nonterminal derives the empty text for the value.
    pub fn nullable(&mut self, cfg: &Cfg, id: NonterminalId, value: u64, fuel: usize) -> Result<bool, Fault> {
        if !cfg.has_conditions || !cfg.nonterminals[id].nullable {
            return Ok(cfg.nonterminals[id].nullable);
        }
        self.ask(cfg, Question::Nullable, (id, value), fuel)
    }

    /// Whether the nonterminal derives some text for the value.
    pub fn productive(&mut self, cfg: &Cfg, id: NonterminalId, value: u64, fuel: usize) -> Result<bool, Fault> {
        if !cfg.has_conditions || !cfg.nonterminals[id].productive {
            return Ok(cfg.nonterminals[id].productive);
        }
        self.ask(cfg, Question::Productive, (id, value), fuel)
    }

    fn facts(&mut self, question: Question) -> &mut FxHashMap<Node, bool> {
        match question {
            Question::Nullable => &mut self.nullable,
            Question::Productive => &mut self.productive,
        }
    }

    fn ask(&mut self, cfg: &Cfg, question: Question, target: Node, fuel: usize) -> Result<bool, Fault> {
        if let Some(&known) = self.facts(question).get(&target) {
            return Ok(known);
        }
        let mut search = Search { waiting: FxHashMap::default(), agenda: Vec::new(), visited: FxHashSet::default() };
        search.visit(cfg, target);
        let mut steps = 0;
        while let Some((node, dot)) = search.agenda.pop() {
            steps += 1;
            if steps > fuel {
                return Err(Fault::exceeded("param_fuel", fuel as u64));
            }
            if self.facts(question).get(&node) == Some(&true)
                || !self.try_alternative(cfg, question, &mut search, node, dot)
            {
                continue;
            }
            self.facts(question).insert(node, true);
            if node == target {
                return Ok(true);
            }
            search.agenda.extend(search.waiting.remove(&node).unwrap_or_default());
        }
        for node in search.visited {
            self.facts(question).entry(node).or_insert(false);
        }
        Ok(false)
    }

    /// Goes on with an alternative; true if its end was reached, otherwise it fails or waits.
    fn try_alternative(
        &mut self,
        cfg: &Cfg,
        question: Question,
        search: &mut Search,
        node: Node,
        mut dot: DotId,
    ) -> bool {
        while dot != DOT_END {
            let Dot { symbol, arg, optional, next, .. } = cfg.dots[dot];
            if !optional {
                match symbol {
                    Symbol::Nonterminal(child) if cfg.nonterminals[child].automaton.is_some() => {
                        let holds = question == Question::Productive || cfg.starts_final(&cfg.dots[dot]);
                        if !holds {
                            return false;
                        }
                    }
                    Symbol::Nonterminal(child) => {
                        let child = (child, arg.eval(node.1));
                        match self.facts(question).get(&child) {
                            Some(true) => {}
                            Some(false) => return false,
                            None => {
                                search.waiting.entry(child).or_default().push((node, dot));
                                search.visit(cfg, child);
                                return false;
                            }
                        }
                    }
                    _ if question == Question::Nullable => return false,
                    _ => {}
                }
            }
            dot = next;
        }
        true
    }
}

impl Search {
    fn visit(&mut self, cfg: &Cfg, node: Node) {
        if !self.visited.insert(node) {
            return;
        }
        // The newest is tried first: alternatives without nonterminals prove at once, whatever stands before them.
        let alternatives = || {
            let all = cfg.nonterminals[node.0].alternatives.iter().rev();
            all.filter(|alternative| cfg.holds(**alternative, node.1)).map(|alternative| alternative.dot)
        };
        self.agenda.extend(alternatives().filter(|&dot| calls(cfg, dot)).map(|dot| (node, dot)));
        self.agenda.extend(alternatives().filter(|&dot| !calls(cfg, dot)).map(|dot| (node, dot)));
    }
}

/// Whether a right-hand side has a nonterminal.
fn calls(cfg: &Cfg, mut dot: DotId) -> bool {
    while dot != DOT_END {
        if matches!(cfg.dots[dot].symbol, Symbol::Nonterminal(_)) {
            return true;
        }
        dot = cfg.dots[dot].next;
    }
    false
}
