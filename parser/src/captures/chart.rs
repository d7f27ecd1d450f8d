//! Positional Earley sets: nodes, the items in them, and what was completed between which nodes.
//!
//! Follows J. Earley, CACM 13(2), 1970; nullable symbols are stepped over as in Aycock & Horspool, Computer Journal
//! 45(6), 2002; a completion that only leads to another completion jumps to the topmost, as in J. Leo, TCS 82, 1991.
//! What was jumped over is filled in for a node when the derivation asks for it ([`Chart::expand`]), so that right
//! recursion is linear, too.
//! A node is a place where lexemes begin; nodes are numbered in the order in which they were made, so that all that
//! leads to a node is older. An item is (dot, [`Goal`]), a goal is a predicted nonterminal with its node.

mod lookup;
mod scopes;

use std::ops::Range;
use std::sync::Arc;

use larkspur_grammar::{GrammarId, IndexVec, define_id};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::cfg::{Cfg, DOT_ACCEPT, DOT_END, DotId, LexemeId, LoweredAutomaton, NonterminalId, Symbol, TokenLetterId};
use crate::earley::automata::{LiveSymbol, StateId};
use crate::earley::sets::{Param, ParamId};
use crate::error::Fault;
use crate::machine::Machine;

pub(super) use scopes::{Frontier, Live};

define_id! {
    /// A positional Earley set.
    pub(super) struct NodeId = "n";
}
define_id! {
    /// A nonterminal predicted at a node.
    pub(super) struct GoalId = "g";
}

/// The goal of the item that a text starts with.
pub(super) const ROOT: GoalId = GoalId(0);
/// No entry, in a chain or a memo.
const NONE: u32 = u32::MAX;
/// Steps that an item, a fact or an edge counts: what it costs to keep, so that the limit bounds memory as well.
const ENTRY_COST: u64 = 8;

/// An Earley item.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub dot: DotId,
    pub goal: GoalId,
    /// The goal's parameter, or that behind an edge of an automaton.
    pub param: ParamId,
    /// Ignored text has ended before it and may not start again.
    pub after_ignored: bool,
}

/// An item that waits for a lexeme or a token set, its goal's node being this one or an older one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scan<S> {
    pub symbol: S,
    /// The dot before the symbol; for an edge of an automaton that behind it.
    pub dot: DotId,
    pub goal: GoalId,
    /// The dot behind the symbol.
    next: DotId,
    /// The item's parameter behind the symbol, or before it if that is `recorded`.
    param: ParamId,
    /// Number of the edge whose next state the lexeme's text decides.
    recorded: Option<u32>,
}

/// An item that waits for a goal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Waiter {
    /// The dot before the nonterminal; for an edge of an automaton that behind it.
    pub dot: DotId,
    pub parent: GoalId,
    /// The dot behind the nonterminal, and the item's parameter there.
    next: DotId,
    param: ParamId,
}

#[derive(Debug)]
pub(super) struct Node {
    /// Bytes of text before it.
    pub pos: usize,
    /// Number of the token in which scopes predicted here begin.
    pub token: u32,
    /// A token letter leads here.
    pub is_after_token: bool,
    items: Range<usize>,
    scans: Range<usize>,
    token_scans: Range<usize>,
    facts: Range<usize>,
    edges: Range<usize>,
    gaps: Range<usize>,
    /// The newest edge and gap that leave the node, and how many edges do.
    last_edge: u32,
    last_gap: u32,
    edges_out: usize,
}

#[derive(Debug)]
pub(super) struct Goal {
    pub node: NodeId,
    pub id: NonterminalId,
    pub param: ParamId,
    /// In [`Chart::waiters`].
    waiters: Range<usize>,
    /// The newest fact, and how many there are.
    last_fact: u32,
    facts: usize,
    /// Where the jump from this goal's completion ends, itself if there is none; [`NONE`] if not known yet.
    top: u32,
}

/// A goal completed at a node.
#[derive(Clone, Copy, Debug)]
struct Fact {
    goal: GoalId,
    node: NodeId,
    /// The next older fact of the goal.
    before: u32,
}

/// A lexeme or a token between two nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edge {
    pub symbol: Symbol,
    pub from: NodeId,
    pub to: NodeId,
    /// Where its text ends: behind the node that it leads to if its tail is read again.
    pub end: usize,
    /// The next older edge that leaves `from`.
    before: u32,
}

/// Ignored text, or a token's end: kernel items go over unchanged.
#[derive(Clone, Copy, Debug)]
struct Gap {
    from: NodeId,
    to: NodeId,
    /// Whose ignored text; `None` if all items go over.
    grammar: Option<GrammarId>,
    before: u32,
}

#[derive(Debug)]
pub(super) struct Chart<'a> {
    pub machine: &'a mut Machine,
    pub cfg: Arc<Cfg>,
    pub nodes: IndexVec<NodeId, Node>,
    pub goals: IndexVec<GoalId, Goal>,
    goal_ids: FxHashMap<(NodeId, NonterminalId, ParamId), GoalId>,
    /// Goal after goal.
    waiters: Vec<Waiter>,
    /// Node after node, like all that follows; kernel items only.
    items: Vec<Item>,
    /// Sorted by lexeme within a node.
    scans: Vec<Scan<LexemeId>>,
    token_scans: Vec<Scan<TokenLetterId>>,
    facts: Vec<Fact>,
    edges: Vec<Edge>,
    gaps: Vec<Gap>,
    /// Facts that were jumped over, by node.
    expanded: FxHashMap<NodeId, Vec<GoalId>>,
    expanded_facts: FxHashSet<(GoalId, NodeId)>,
    /// Scopes that ended by their budget, and what was in progress in them.
    cut_facts: FxHashMap<(GoalId, NodeId), usize>,
    pub cuts: Vec<Frontier>,
    /// Scopes that a node does not predict again. Sparse.
    expired: FxHashMap<NodeId, Vec<NonterminalId>>,
    /// Items of the node being made.
    seen: FxHashSet<(DotId, GoalId, ParamId, u8)>,
    agenda: Vec<(DotId, GoalId, ParamId)>,
    work: u64,
    work_max: u64,
}

impl<'a> Chart<'a> {
    /// A chart with the node that every text starts at.
    pub fn new(machine: &'a mut Machine) -> Result<Self, Fault> {
        let cfg = machine.cfg.clone();
        let work_max = machine.limits.capture_work_max;
        let mut chart = Self {
            machine,
            cfg,
            nodes: IndexVec::new(),
            goals: IndexVec::new(),
            goal_ids: FxHashMap::default(),
            waiters: Vec::new(),
            items: Vec::new(),
            scans: Vec::new(),
            token_scans: Vec::new(),
            facts: Vec::new(),
            edges: Vec::new(),
            gaps: Vec::new(),
            expanded: FxHashMap::default(),
            expanded_facts: FxHashSet::default(),
            cut_facts: FxHashMap::default(),
            cuts: Vec::new(),
            expired: FxHashMap::default(),
            seen: FxHashSet::default(),
            agenda: Vec::new(),
            work: 0,
            work_max,
        };
        let Symbol::Nonterminal(start) = chart.cfg.dots[chart.cfg.start].symbol else {
            unreachable!("start is a nonterminal")
        };
        chart.goals.push(Goal {
            node: NodeId(0),
            id: start,
            param: ParamId(0),
            waiters: 0..0,
            last_fact: NONE,
            facts: 0,
            top: ROOT.0,
        });
        chart.begin(0, 0);
        chart.add(chart.cfg.start, ROOT, ParamId(0))?;
        chart.finish(&[])?;
        Ok(chart)
    }

    /// Counts steps.
    ///
    /// Errors: `capture_work_max`.
    pub fn step(&mut self, steps: usize) -> Result<(), Fault> {
        self.work = self.work.saturating_add(steps as u64);
        if self.work > self.work_max {
            return Err(Fault::exceeded("capture_work_max", self.work_max));
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<(), Fault> {
        self.step(ENTRY_COST as usize)
    }

    // Making a node: begin, then what leads to it, then finish.

    /// Begins a node.
    pub fn begin(&mut self, pos: usize, token: u32) -> NodeId {
        self.seen.clear();
        self.nodes.push(Node {
            pos,
            token,
            is_after_token: false,
            items: self.items.len()..0,
            scans: self.scans.len()..0,
            token_scans: self.token_scans.len()..0,
            facts: self.facts.len()..0,
            edges: self.edges.len()..0,
            gaps: self.gaps.len()..0,
            last_edge: NONE,
            last_gap: NONE,
            edges_out: 0,
        })
    }

    fn making(&self) -> NodeId {
        NodeId(self.nodes.len() as u32 - 1)
    }

    /// A lexeme that began at `from` and whose text ends at `end` leads to the node being made. What it is matters only if
    /// it is recorded.
    pub fn scan(&mut self, from: NodeId, lexeme: LexemeId, end: usize, text: &[u8]) -> Result<(), Fault> {
        if let Some(grammar) = self.cfg.lexemes[lexeme].ignored_by {
            return self.ignore(from, grammar);
        }
        let range = self.scans_of(from, lexeme);
        if range.is_empty() {
            return Ok(());
        }
        self.edge(Symbol::Lexeme(lexeme), from, end)?;
        for index in range {
            let Scan { goal, next, param, recorded, .. } = self.scans[index];
            let Machine { sets, lexer, .. } = &mut *self.machine;
            if let Some(param) = sets.scanned(param, recorded, text, lexer)? {
                self.add(next, goal, param)?;
            }
        }
        Ok(())
    }

    fn scans_of(&self, node: NodeId, lexeme: LexemeId) -> Range<usize> {
        let range = self.nodes[node].scans.clone();
        let scans = &self.scans[range.clone()];
        let from = scans.partition_point(|scan| scan.symbol < lexeme);
        let len = scans[from..].partition_point(|scan| scan.symbol == lexeme);
        range.start + from..range.start + from + len
    }

    /// A token letter leads to the node being made.
    pub fn scan_token(&mut self, from: NodeId, token: u32, end: usize) -> Result<(), Fault> {
        let mut last = None;
        for index in self.nodes[from].token_scans.clone() {
            let Scan { symbol, goal, next, param, .. } = self.token_scans[index];
            if self.cfg.token_letters[symbol].tokens.contains(token) {
                if last != Some(symbol) {
                    let node = self.making();
                    self.nodes[node].is_after_token = true;
                    self.edge(Symbol::Tokens(symbol), from, end)?;
                    last = Some(symbol);
                }
                self.add(next, goal, param)?;
            }
        }
        Ok(())
    }

    fn edge(&mut self, symbol: Symbol, from: NodeId, end: usize) -> Result<(), Fault> {
        let to = self.making();
        let index = self.edges.len() as u32;
        let node = &mut self.nodes[from];
        let before = std::mem::replace(&mut node.last_edge, index);
        node.edges_out += 1;
        self.edges.push(Edge { symbol, from, to, end, before });
        self.entry()
    }

    fn ignore(&mut self, from: NodeId, grammar: GrammarId) -> Result<(), Fault> {
        let once = self.cfg.ignore_once[grammar];
        let mut is_gap = false;
        for index in self.nodes[from].items.clone() {
            let item = self.items[index];
            if self.may_follow_ignored(item, grammar) {
                self.carry(Item { after_ignored: once, ..item })?;
                is_gap = true;
            }
        }
        if is_gap { self.gap(from, Some(grammar)) } else { Ok(()) }
    }

    /// Whether ignored text of the grammar may stand before what a kernel item waits for.
    fn may_follow_ignored(&self, item: Item, grammar: GrammarId) -> bool {
        !item.after_ignored
            && self.cfg.dots[item.dot].grammar == Some(grammar)
            && (item.dot == DOT_ACCEPT || self.cfg.reads[item.dot.0 as usize])
    }

    /// Items that go over from `from` to the node being made unchanged.
    pub fn carry_all(&mut self, from: NodeId, items: &[Item]) -> Result<(), Fault> {
        if items.is_empty() {
            return Ok(());
        }
        items.iter().try_for_each(|&item| self.carry(item))?;
        self.gap(from, None)
    }

    fn carry(&mut self, item: Item) -> Result<(), Fault> {
        // A carried item has been stepped over and completed already, where it comes from.
        if self.seen.insert((item.dot, item.goal, item.param, 1 + u8::from(item.after_ignored))) {
            self.items.push(item);
            self.entry()?;
        }
        Ok(())
    }

    fn gap(&mut self, from: NodeId, grammar: Option<GrammarId>) -> Result<(), Fault> {
        let to = self.making();
        let index = self.gaps.len() as u32;
        let before = std::mem::replace(&mut self.nodes[from].last_gap, index);
        self.gaps.push(Gap { from, to, grammar, before });
        self.entry()
    }

    /// Adds an item to the node being made, and all that follows from it but predictions.
    fn add(&mut self, dot: DotId, goal: GoalId, param: ParamId) -> Result<(), Fault> {
        self.agenda.push((dot, goal, param));
        self.run_agenda()
    }

    fn run_agenda(&mut self) -> Result<(), Fault> {
        while let Some((mut dot, goal, param)) = self.agenda.pop() {
            loop {
                self.step(1)?;
                if dot == DOT_END {
                    self.complete(goal)?;
                    break;
                }
                if !self.seen.insert((dot, goal, param, 0)) {
                    break;
                }
                let Machine { sets, lexer, .. } = &mut *self.machine;
                if !sets.is_over(dot, param, lexer)? {
                    self.items.push(Item { dot, goal, param, after_ignored: false });
                    self.entry()?;
                }
                if !self.machine.sets.can_skip(dot, param)? {
                    break;
                }
                dot = self.cfg.dots[dot].next;
            }
        }
        Ok(())
    }

    fn complete(&mut self, goal: GoalId) -> Result<(), Fault> {
        if !self.record(goal)? {
            return Ok(());
        }
        let top = self.top(goal)?;
        if top == goal || self.record(top)? {
            for waiter in &self.waiters[self.goals[top].waiters.clone()] {
                self.agenda.push((waiter.next, waiter.parent, waiter.param));
            }
        }
        Ok(())
    }

    /// Notes that a goal is completed at the node being made. False if that is known.
    fn record(&mut self, goal: GoalId) -> Result<bool, Fault> {
        let node = self.making();
        let info = &mut self.goals[goal];
        let before = info.last_fact;
        if before != NONE && self.facts[before as usize].node == node {
            return Ok(false);
        }
        info.last_fact = self.facts.len() as u32;
        info.facts += 1;
        self.facts.push(Fact { goal, node, before });
        self.entry()?;
        Ok(true)
    }

    /// The goal whose completion is all that the completion of this one leads to, if there is one.
    fn leads_only_to(&self, goal: GoalId) -> Option<GoalId> {
        match self.waiters[self.goals[goal].waiters.clone()] {
            [Waiter { next: DOT_END, parent, .. }] => Some(parent),
            _ => None,
        }
    }

    fn top(&mut self, goal: GoalId) -> Result<GoalId, Fault> {
        let mut path = Vec::new();
        let mut at = goal;
        // The only one that waits for a goal is what predicted it, so the way up is without circles.
        let top = loop {
            if self.goals[at].top != NONE {
                break self.goals[at].top;
            }
            self.step(1)?;
            path.push(at);
            match self.leads_only_to(at) {
                Some(parent) => at = parent,
                None => break at.0,
            }
        };
        path.into_iter().for_each(|goal| self.goals[goal].top = top);
        Ok(GoalId(top))
    }

    /// Ends the making of a node: predicts. The scopes in `expired` are not predicted.
    pub fn finish(&mut self, expired: &[NonterminalId]) -> Result<NodeId, Fault> {
        let id = self.making();
        let mut waiting: Vec<(GoalId, Waiter)> = Vec::new();
        let first = self.goals.next_id();
        for index in self.nodes[id].items.start..self.items.len() {
            let Item { dot, goal, param, .. } = self.items[index];
            self.expect(dot, goal, param, expired, &mut waiting)?;
        }
        let mut next = first;
        while next < self.goals.next_id() {
            self.predict(next, expired, &mut waiting)?;
            next.0 += 1;
        }
        waiting.sort_unstable();
        waiting.dedup();
        self.step(waiting.len())?;
        for group in waiting.chunk_by(|a, b| a.0 == b.0) {
            let from = self.waiters.len();
            self.waiters.extend(group.iter().map(|(_, waiter)| *waiter));
            self.goals[group[0].0].waiters = from..self.waiters.len();
        }
        let node = &mut self.nodes[id];
        node.items.end = self.items.len();
        node.scans.end = self.scans.len();
        node.token_scans.end = self.token_scans.len();
        node.facts.end = self.facts.len();
        node.edges.end = self.edges.len();
        node.gaps.end = self.gaps.len();
        self.scans[node.scans.clone()].sort_unstable_by_key(|scan| scan.symbol);
        self.token_scans[node.token_scans.clone()].sort_unstable_by_key(|scan| scan.symbol);
        if !expired.is_empty() {
            self.expired.insert(id, expired.to_vec());
        }
        Ok(id)
    }

    fn expect(
        &mut self,
        dot: DotId,
        goal: GoalId,
        param: ParamId,
        expired: &[NonterminalId],
        waiting: &mut Vec<(GoalId, Waiter)>,
    ) -> Result<(), Fault> {
        self.step(4)?;
        let info = self.cfg.dots[dot];
        let next = info.next;
        match info.symbol {
            Symbol::Lexeme(symbol) => self.scans.push(Scan { symbol, dot, goal, next, param, recorded: None }),
            Symbol::Tokens(symbol) => self.token_scans.push(Scan { symbol, dot, goal, next, param, recorded: None }),
            Symbol::Nothing => {}
            Symbol::Nonterminal(id) => {
                if expired.contains(&id) {
                    return Ok(());
                }
                let passed = self.passed(self.making(), dot, param)?;
                self.wait(id, passed, Waiter { dot, parent: goal, next, param }, waiting)?;
            }
        }
        Ok(())
    }

    /// Something waits for a goal at the node being made.
    fn wait(
        &mut self,
        id: NonterminalId,
        param: ParamId,
        waiter: Waiter,
        waiting: &mut Vec<(GoalId, Waiter)>,
    ) -> Result<(), Fault> {
        let (node, next) = (self.making(), self.goals.next_id());
        let child = *self.goal_ids.entry((node, id, param)).or_insert(next);
        if child == next {
            self.entry()?;
            self.goals.push(Goal { node, id, param, waiters: 0..0, last_fact: NONE, facts: 0, top: NONE });
        }
        waiting.push((child, waiter));
        Ok(())
    }

    fn predict(
        &mut self,
        goal: GoalId,
        expired: &[NonterminalId],
        waiting: &mut Vec<(GoalId, Waiter)>,
    ) -> Result<(), Fault> {
        let cfg = self.cfg.clone();
        let Goal { id, param, .. } = self.goals[goal];
        let Param { value, state, .. } = self.machine.sets.param_value(param);
        if let (Some(automaton), Some(state)) = (&cfg.nonterminals[id].automaton, state) {
            return self.predict_edges(automaton, state, goal, expired, waiting);
        }
        for &alternative in &cfg.nonterminals[id].alternatives {
            self.step(1)?;
            if !cfg.holds(alternative, value) || !self.machine.sets.is_productive(alternative.dot, value)? {
                continue;
            }
            let mut dot = alternative.dot;
            while dot != DOT_END {
                if self.machine.sets.symbol_is_productive(dot, value)? {
                    self.expect(dot, goal, param, expired, waiting)?;
                }
                if !self.machine.sets.can_skip(dot, param)? {
                    break;
                }
                dot = cfg.dots[dot].next;
            }
        }
        Ok(())
    }

    /// The edges that leave a state of an automaton.
    fn predict_edges(
        &mut self,
        automaton: &LoweredAutomaton,
        state: StateId,
        goal: GoalId,
        expired: &[NonterminalId],
        waiting: &mut Vec<(GoalId, Waiter)>,
    ) -> Result<(), Fault> {
        let (tail, before) = (automaton.tail, self.goals[goal].param);
        let edges = self.machine.sets.edges(state, &mut self.machine.lexer)?;
        for (number, edge) in edges.iter().enumerate() {
            self.step(4)?;
            let (dot, next) = (tail, tail);
            match edge.symbol {
                LiveSymbol::Lexeme(symbol, state) => {
                    let param = self.machine.sets.param_in(before, state);
                    self.scans.push(Scan { symbol, dot, goal, next, param, recorded: None });
                }
                LiveSymbol::Recorded(symbol, _) => {
                    let recorded = Some(number as u32);
                    self.scans.push(Scan { symbol, dot, goal, next, param: before, recorded });
                }
                LiveSymbol::Rule(id, state) => {
                    if !expired.contains(&id) {
                        let param = self.machine.sets.param_in(before, state);
                        let token = self.nodes[self.making()].token;
                        let value = self.machine.sets.param_value(before).value;
                        let passed = self.machine.sets.passed(id, value, before, token);
                        self.wait(id, passed, Waiter { dot, parent: goal, next, param }, waiting)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The parameter that the nonterminal after `dot` gets at a node.
    fn passed(&mut self, node: NodeId, dot: DotId, caller: ParamId) -> Result<ParamId, Fault> {
        self.machine.sets.child_param(dot, caller, self.nodes[node].token)
    }
}
