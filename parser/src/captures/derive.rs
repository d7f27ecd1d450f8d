//! The preferred derivation of a text, and the captures in it.
//!
//! Top down with an explicit stack; only rules in which something is captured are looked into.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Capture;
use super::chart::{Chart, Frontier, GoalId, NodeId, ROOT};
use super::divide::{Circle, Division, Part, divide, elements};
use super::plan::{Plan, dots};
use super::replay::{Outcome, Replay};
use crate::cfg::{Cfg, DOT_ACCEPT, DotId, LexemeId, LoweredAlternative, NonterminalId, Symbol};
use crate::earley::sets::ParamId;
use crate::error::Fault;

/// What is in progress.
#[derive(Default, Debug)]
struct Marks {
    /// Items, by their goal: the dot, and the node that the item is in.
    items: FxHashMap<GoalId, Vec<(DotId, NodeId)>>,
    /// For rules that begin with each other at one node, how far each is from what has really begun. Made on demand.
    ranks: RefCell<FxHashMap<GoalId, u32>>,
}

/// What is still to be looked into. What comes first in the text is on top.
#[derive(Debug)]
enum Task {
    /// A rule that has ended.
    Closed(GoalId, NodeId),
    /// A rule in progress.
    Open(Rc<Marks>, GoalId),
    /// A rule that derives the empty text for this parameter, at a position.
    Empty(NonterminalId, u64, usize),
    /// A lexeme with a tail.
    Tail(LexemeId, NodeId, NodeId),
    /// All that is inside a captured rule is done.
    Capture(NonterminalId, Range<usize>),
}

/// Where the text of a lexeme divides.
struct Split {
    /// Where the tail begins.
    at: usize,
    /// Where it ends, the same if it was taken back.
    end: usize,
    tail: Vec<u8>,
    /// Where what follows begins.
    next: usize,
}

struct Derivation<'r, 'a> {
    chart: &'r mut Chart<'a>,
    cfg: std::sync::Arc<Cfg>,
    plan: &'r Plan,
    text: &'r [u8],
    /// Tails that were taken back from the text, by the nodes that they led to.
    taken_back: FxHashMap<NodeId, Vec<u8>>,
    /// What was in progress in scopes when they ended by their budget.
    cuts: FxHashMap<usize, Rc<Marks>>,
    tasks: Vec<Task>,
    /// Parts of the text that are hidden, from left to right.
    hidden: Vec<Range<usize>>,
    captures: Vec<Capture>,
}

/// The captures of a text that was read, in the order of their ends.
pub(super) fn derive(mut replay: Replay, plan: &Plan, text: &[u8]) -> Result<Vec<Capture>, Fault> {
    let outcome = replay.finish()?;
    let mut derivation = Derivation {
        cfg: replay.chart.cfg.clone(),
        chart: &mut replay.chart,
        plan,
        text,
        taken_back: replay.hidden.into_iter().collect(),
        cuts: FxHashMap::default(),
        tasks: Vec::new(),
        hidden: Vec::new(),
        captures: Vec::new(),
    };
    match outcome {
        Outcome::Accepted(node) => {
            let dots = [derivation.cfg.start];
            let parts = derivation.divide(ROOT, &dots, DOT_ACCEPT, node, None)?;
            debug_assert!(parts.is_some(), "an accepted text has a derivation");
            derivation.push_parts(&parts.unwrap_or_default(), ParamId(0))?;
        }
        Outcome::Open(frontiers) => {
            let marks = derivation.marks(&frontiers)?;
            derivation.tasks.push(Task::Open(marks, ROOT));
        }
    }
    derivation.run()?;
    let mut captures = derivation.captures;
    captures.sort_by_key(|capture| capture.end);
    Ok(captures)
}

impl Derivation<'_, '_> {
    fn run(&mut self) -> Result<(), Fault> {
        while let Some(task) = self.tasks.pop() {
            self.chart.step(1)?;
            match task {
                Task::Closed(goal, end) => self.closed(goal, end)?,
                Task::Open(marks, goal) => self.open(&marks, goal)?,
                Task::Empty(id, value, pos) => self.empty(id, value, pos)?,
                Task::Tail(lexeme, from, to) => self.tail(lexeme, from, to)?,
                Task::Capture(id, span) => self.capture(id, span)?,
            }
        }
        Ok(())
    }

    fn pos(&self, node: NodeId) -> usize {
        self.chart.nodes[node].pos
    }

    /// A rule that has ended.
    fn closed(&mut self, goal: GoalId, end: NodeId) -> Result<(), Fault> {
        let (id, param, node) = (self.chart.goals[goal].id, self.chart.goals[goal].param, self.chart.goals[goal].node);
        let mut span = self.pos(node)..self.pos(end);
        let is_captured = self.cfg.nonterminals[id].capture.is_some();
        if !self.plan.rule(id).is_captured_inside {
            if is_captured {
                self.tasks.push(Task::Capture(id, span));
            }
            return Ok(());
        }
        if let Some(cut) = self.chart.cut_of(goal, end) {
            if is_captured {
                self.tasks.push(Task::Capture(id, span));
            }
            let marks = match self.cuts.get(&cut) {
                Some(marks) => marks.clone(),
                None => {
                    let frontier = self.chart.cuts[cut].clone();
                    let marks = self.marks(&[frontier])?;
                    self.cuts.insert(cut, marks.clone());
                    marks
                }
            };
            self.tasks.push(Task::Open(marks, goal));
            return Ok(());
        }
        let ranks = self.ranks(goal, end)?;
        let circle = ranks.as_ref().map(|ranks| Circle { ranks, below: ranks.get(&goal).copied().unwrap_or(0) });
        let parts = self.parts(goal, end, circle.as_ref())?;
        debug_assert!(parts.is_some(), "what has ended has a derivation");
        let parts = parts.unwrap_or_default();
        if is_captured {
            // Where the rule is a terminal with a tail, the tail is not its own.
            if let &[Part { dot, start, end }] = parts.as_slice()
                && let Symbol::Lexeme(lexeme) = self.cfg.dots[dot].symbol
                && self.cfg.lexemes[lexeme].tail.is_some()
                && start != end
                && let Some(split) = self.split(lexeme, start, end)?
            {
                span.end = split.at;
                self.push_parts(&parts, param)?;
                self.tasks.push(Task::Capture(id, span));
                return Ok(());
            }
            self.tasks.push(Task::Capture(id, span));
        }
        self.push_parts(&parts, param)
    }

    /// The symbols of a rule that has ended.
    fn parts(&mut self, goal: GoalId, end: NodeId, circle: Option<&Circle>) -> Result<Option<Vec<Part>>, Fault> {
        let plan = self.plan;
        let rule = plan.rule(self.chart.goals[goal].id);
        if let Some(dot) = rule.repeats {
            let found = elements(self.chart, plan, goal, dot, &[end], circle)?;
            return Ok(found.map(|(parts, _)| parts));
        }
        for alternative in self.possible(goal) {
            let dots: Vec<DotId> = dots(&self.cfg, alternative.dot).collect();
            let circle = circle.map(|&Circle { ranks, below }| Circle { ranks, below });
            if let Some(parts) = self.divide(goal, &dots, crate::cfg::DOT_END, end, circle)? {
                return Ok(Some(parts));
            }
        }
        Ok(None)
    }

    /// The alternatives that a goal's parameter leaves, the preferred ones first.
    fn possible(&self, goal: GoalId) -> Vec<LoweredAlternative> {
        let value = self.chart.machine.sets.param_value(self.chart.goals[goal].param).value;
        let all = &self.plan.rule(self.chart.goals[goal].id).alternatives;
        all.iter().copied().filter(|&alternative| self.cfg.holds(alternative, value)).collect()
    }

    /// Divides what a goal, or the part of it before the dot `after`, has up to `to`.
    fn divide(
        &mut self,
        goal: GoalId,
        dots: &[DotId],
        after: DotId,
        to: NodeId,
        circle: Option<Circle>,
    ) -> Result<Option<Vec<Part>>, Fault> {
        let is_root = goal == ROOT;
        // A rule ends with its last symbol; an item in the middle of one may have been carried over ignored text.
        let trail = is_root || after != crate::cfg::DOT_END && !dots.is_empty();
        divide(self.chart, self.plan, &Division { goal, dots, after, to, lead: is_root, trail, circle })
    }

    /// For a rule that may derive itself: how far each rule of its circle is from the way out, for this text.
    fn ranks(&mut self, goal: GoalId, end: NodeId) -> Result<Option<FxHashMap<GoalId, u32>>, Fault> {
        let circle = self.plan.rule(self.chart.goals[goal].id).circle;
        if circle == 0 {
            return Ok(None);
        }
        let mut all = vec![goal];
        let mut next = 0;
        let mut seen = FxHashSet::from_iter([goal]);
        while next < all.len() {
            let at = all[next];
            next += 1;
            let (node, param) = (self.chart.goals[at].node, self.chart.goals[at].param);
            for alternative in self.possible(at) {
                for dot in dots(&self.cfg.clone(), alternative.dot) {
                    self.chart.step(1)?;
                    if let Symbol::Nonterminal(child) = self.cfg.dots[dot].symbol
                        && self.plan.rule(child).circle == circle
                        && let Some(child) = self.chart.goal_at(node, dot, param)
                        && !seen.contains(&child)
                        && self.chart.has_fact(child, end)?
                    {
                        seen.insert(child);
                        all.push(child);
                    }
                }
            }
        }
        let mut ranks = FxHashMap::default();
        all.retain(|&goal| {
            let is_cut = self.chart.cut_of(goal, end).is_some();
            if is_cut {
                ranks.insert(goal, 0);
            }
            !is_cut
        });
        let mut rank = 0;
        while !all.is_empty() {
            let mut found = Vec::new();
            for &goal in &all {
                if self.parts(goal, end, Some(&Circle { ranks: &ranks, below: rank }))?.is_some() {
                    found.push(goal);
                }
            }
            if found.is_empty() && rank > 0 {
                break;
            }
            all.retain(|goal| !found.contains(goal));
            ranks.extend(found.into_iter().map(|goal| (goal, rank)));
            rank += 1;
        }
        Ok(Some(ranks))
    }

    /// Queues the symbols of a rule with this parameter, the last one first.
    fn push_parts(&mut self, parts: &[Part], param: ParamId) -> Result<(), Fault> {
        for &Part { dot, start, end } in parts.iter().rev() {
            self.chart.step(1)?;
            match self.cfg.dots[dot].symbol {
                Symbol::Nonterminal(child) if self.plan.rule(child).is_wanted => {
                    if start == end {
                        let value = self.chart.machine.sets.param_value(param).value;
                        let value = self.cfg.dots[dot].arg.eval(value);
                        self.tasks.push(Task::Empty(child, value, self.pos(end)));
                    } else if let Some(goal) = self.chart.goal_at(start, dot, param) {
                        self.tasks.push(Task::Closed(goal, end));
                    }
                }
                Symbol::Lexeme(lexeme) if start != end && self.cfg.lexemes[lexeme].tail.is_some() => {
                    self.tasks.push(Task::Tail(lexeme, start, end));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Items in progress, given what is in progress at the end of the text.
    fn marks(&mut self, frontiers: &[Frontier]) -> Result<Rc<Marks>, Fault> {
        let mut items: Vec<(GoalId, DotId, NodeId)> = Vec::new();
        for Frontier { nodes, live } in frontiers {
            for &node in nodes {
                let in_progress = self.chart.in_progress(node, live)?;
                items.extend(in_progress.into_iter().map(|(dot, goal)| (goal, dot, node)));
            }
        }
        let mut marks = Marks::default();
        let mut seen = FxHashSet::default();
        while let Some(item) = items.pop() {
            self.chart.step(2)?;
            let (goal, dot, node) = item;
            if !seen.insert(item) {
                continue;
            }
            let of_goal = marks.items.entry(goal).or_default();
            of_goal.push((dot, node));
            if of_goal.len() == 1 {
                let node = self.chart.goals[goal].node;
                items.extend(self.chart.waiters(goal).iter().map(|waiter| (waiter.parent, waiter.dot, node)));
            }
        }
        Ok(Rc::new(marks))
    }

    /// A rule in progress.
    fn open(&mut self, marks: &Rc<Marks>, goal: GoalId) -> Result<(), Fault> {
        let (id, param, from) = (self.chart.goals[goal].id, self.chart.goals[goal].param, self.chart.goals[goal].node);
        let plan = self.plan;
        let rule = plan.rule(id);
        let Some(items) = self.begun(marks, goal)? else { return Ok(()) };
        if goal == ROOT {
            let start = [self.cfg.start];
            let found = self.open_alternative(goal, &start, &items)?;
            return self.push_open(marks, param, found);
        }
        if !rule.is_captured_inside {
            return Ok(());
        }
        if let Some(dot) = rule.repeats {
            let found = self.open_elements(goal, dot, &items, from)?;
            return self.push_open(marks, param, found);
        }
        for alternative in self.possible(goal) {
            let dots: Vec<DotId> = dots(&self.cfg, alternative.dot).collect();
            let found = self.open_alternative(goal, &dots, &items)?;
            if found.is_some() {
                return self.push_open(marks, param, found);
            }
        }
        debug_assert!(false, "what is in progress has a derivation");
        Ok(())
    }

    /// The items of a rule in progress, without those that wait for a rule that is in progress there only since this one
    /// is: left recursion goes back to what has really begun.
    fn begun(&mut self, marks: &Marks, goal: GoalId) -> Result<Option<Vec<(DotId, NodeId)>>, Fault> {
        let Some(items) = marks.items.get(&goal) else { return Ok(None) };
        let plan = self.plan;
        if plan.rule(self.chart.goals[goal].id).corner_circle == 0 || goal == ROOT {
            return Ok(Some(items.clone()));
        }
        if !marks.ranks.borrow().contains_key(&goal) {
            self.rank_corners(marks, goal)?;
        }
        let ranks = marks.ranks.borrow();
        let mut begun = Vec::with_capacity(items.len());
        for &(dot, node) in items {
            if self.circle_child(marks, goal, dot, node)?.is_none_or(|child| ranks.get(&child) < ranks.get(&goal)) {
                begun.push((dot, node));
            }
        }
        Ok(Some(begun))
    }

    /// The goal in progress that an item waits for, if it stands at the same node and in the same circle as its own goal.
    fn circle_child(
        &mut self,
        marks: &Marks,
        goal: GoalId,
        dot: DotId,
        node: NodeId,
    ) -> Result<Option<GoalId>, Fault> {
        self.chart.step(1)?;
        let (id, param) = (self.chart.goals[goal].id, self.chart.goals[goal].param);
        if node != self.chart.goals[goal].node {
            return Ok(None);
        }
        let Some(child) = self.chart.goal_at(node, dot, param) else { return Ok(None) };
        let circle = |id: NonterminalId| self.plan.rule(id).corner_circle;
        let is_in_circle = circle(self.chart.goals[child].id) == circle(id) && marks.items.contains_key(&child);
        Ok(is_in_circle.then_some(child))
    }

    fn rank_corners(&mut self, marks: &Marks, goal: GoalId) -> Result<(), Fault> {
        let mut all = vec![goal];
        let mut seen = FxHashSet::from_iter([goal]);
        // What each goal waits for; nothing if it has an item that has really begun.
        let mut children: Vec<Vec<GoalId>> = Vec::new();
        while let Some(&goal) = all.get(children.len()) {
            let mut found = Vec::new();
            for &(dot, node) in &marks.items[&goal] {
                match self.circle_child(marks, goal, dot, node)? {
                    Some(child) => found.push(child),
                    None => marks.ranks.borrow_mut().extend([(goal, 0)]),
                }
            }
            all.extend(found.iter().filter(|&&child| seen.insert(child)));
            children.push(found);
        }
        for rank in 1.. {
            let mut found = Vec::new();
            for (goal, children) in all.iter().zip(&children) {
                self.chart.step(1 + children.len())?;
                let ranks = marks.ranks.borrow();
                if !ranks.contains_key(goal) && children.iter().any(|child| ranks.contains_key(child)) {
                    found.push((*goal, rank));
                }
            }
            if found.is_empty() {
                break;
            }
            marks.ranks.borrow_mut().extend(found);
        }
        Ok(())
    }

    fn push_open(
        &mut self,
        marks: &Rc<Marks>,
        param: ParamId,
        found: Option<(Vec<Part>, DotId, NodeId)>,
    ) -> Result<(), Fault> {
        let Some((parts, dot, node)) = found else { return Ok(()) };
        if let Some(child) = self.chart.goal_at(node, dot, param) {
            self.tasks.push(Task::Open(marks.clone(), child));
        }
        self.push_parts(&parts, param)
    }

    /// The preferred way in which an alternative is in progress: the symbols that have ended, and where the next began.
    fn open_alternative(
        &mut self,
        goal: GoalId,
        dots: &[DotId],
        items: &[(DotId, NodeId)],
    ) -> Result<Option<(Vec<Part>, DotId, NodeId)>, Fault> {
        let mut best: Option<(Vec<usize>, Vec<Part>, DotId, NodeId)> = None;
        for &(dot, node) in items {
            self.chart.step(1 + dots.len())?;
            let index = match dots.iter().position(|&other| other == dot) {
                Some(index) => index,
                None if goal == ROOT && dot == DOT_ACCEPT => dots.len(),
                None => continue,
            };
            let Some(parts) = self.divide(goal, &dots[..index], dot, node, None)? else { continue };
            // The symbol in progress takes all that is left.
            let ends: Vec<usize> = parts.iter().map(|part| self.pos(part.end)).chain([usize::MAX]).collect();
            if best.as_ref().is_none_or(|(other, ..)| ends > *other) {
                best = Some((ends, parts, dot, node));
            }
        }
        Ok(best.map(|(_, parts, dot, node)| (parts, dot, node)))
    }

    /// The elements of a repetition in progress that have ended, and where the next began.
    fn open_elements(
        &mut self,
        goal: GoalId,
        dot: DotId,
        items: &[(DotId, NodeId)],
        from: NodeId,
    ) -> Result<Option<(Vec<Part>, DotId, NodeId)>, Fault> {
        let mut begun: FxHashMap<NodeId, NodeId> = FxHashMap::default();
        for &(_, node) in items.iter().filter(|item| item.0 == dot) {
            if node == from {
                return Ok(Some((Vec::new(), dot, node)));
            }
            for end in self.chart.gaps_to(node, dot)? {
                if self.chart.has_fact(goal, end)? {
                    begun.entry(end).or_insert(node);
                }
            }
        }
        let mut ends: Vec<NodeId> = begun.keys().copied().collect();
        ends.sort_unstable();
        let found = elements(self.chart, self.plan, goal, dot, &ends, None)?;
        Ok(found.map(|(parts, end)| (parts, dot, begun[&end])))
    }

    /// A rule that derives the empty text.
    fn empty(&mut self, id: NonterminalId, value: u64, pos: usize) -> Result<(), Fault> {
        if !self.is_nullable(id, value)? {
            return Ok(());
        }
        if self.cfg.nonterminals[id].capture.is_some() {
            self.tasks.push(Task::Capture(id, pos..pos));
        }
        if !self.plan.rule(id).is_captured_inside {
            return Ok(());
        }
        let circle = self.plan.rule(id).circle;
        let ranks = if circle == 0 { FxHashMap::default() } else { self.empty_ranks(id, value)? };
        let below = ranks.get(&(id, value)).copied().unwrap_or(0);
        let plan = self.plan;
        for &alternative in &plan.rule(id).alternatives {
            let Some(children) = self.empty_children(alternative, value)? else { continue };
            let is_closer = |child: &(NonterminalId, u64)| ranks.get(child).is_some_and(|&rank| rank < below);
            if children.iter().all(|child| circle == 0 || plan.rule(child.0).circle != circle || is_closer(child)) {
                let wanted = children.into_iter().rev().filter(|(child, _)| plan.rule(*child).is_wanted);
                self.tasks.extend(wanted.map(|(child, value)| Task::Empty(child, value, pos)));
                break;
            }
        }
        Ok(())
    }

    fn is_nullable(&mut self, id: NonterminalId, value: u64) -> Result<bool, Fault> {
        let fuel = self.chart.machine.limits.param_fuel;
        self.chart.machine.sets.facts.nullable(&self.cfg, id, value, fuel)
    }

    /// The rules that an alternative consists of if it is empty; `None` if it cannot be.
    fn empty_children(
        &mut self,
        alternative: LoweredAlternative,
        value: u64,
    ) -> Result<Option<Vec<(NonterminalId, u64)>>, Fault> {
        if !self.cfg.holds(alternative, value) {
            return Ok(None);
        }
        let cfg = self.cfg.clone();
        let mut children = Vec::new();
        for dot in dots(&cfg, alternative.dot) {
            self.chart.step(1)?;
            let info = cfg.dots[dot];
            match info.symbol {
                Symbol::Nonterminal(child) if self.is_nullable(child, info.arg.eval(value))? => {
                    children.push((child, info.arg.eval(value)));
                }
                _ if info.optional => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(children))
    }

    /// For a rule that may derive itself: how far each rule of its circle is from the empty text.
    fn empty_ranks(&mut self, id: NonterminalId, value: u64) -> Result<FxHashMap<(NonterminalId, u64), u32>, Fault> {
        let plan = self.plan;
        let circle = plan.rule(id).circle;
        let mut all = vec![(id, value)];
        let mut ways: Vec<Vec<Vec<(NonterminalId, u64)>>> = Vec::new();
        let mut seen = FxHashSet::from_iter([(id, value)]);
        while ways.len() < all.len() {
            let (id, value) = all[ways.len()];
            let mut found = Vec::new();
            for &alternative in &plan.rule(id).alternatives {
                if let Some(mut children) = self.empty_children(alternative, value)? {
                    children.retain(|child| plan.rule(child.0).circle == circle);
                    all.extend(children.iter().filter(|&&child| seen.insert(child)));
                    found.push(children);
                }
            }
            ways.push(found);
        }
        let mut ranks: FxHashMap<(NonterminalId, u64), u32> = FxHashMap::default();
        for rank in 0.. {
            let mut found = Vec::new();
            for (node, ways) in all.iter().zip(&ways) {
                self.chart.step(1 + ways.len())?;
                let is_way = |way: &Vec<_>| way.iter().all(|child| ranks.contains_key(child));
                if !ranks.contains_key(node) && ways.iter().any(is_way) {
                    found.push((*node, rank));
                }
            }
            if found.is_empty() {
                break;
            }
            ranks.extend(found);
        }
        Ok(ranks)
    }

    /// Where a lexeme divides into its body and its tail.
    fn split(&mut self, lexeme: LexemeId, from: NodeId, to: NodeId) -> Result<Option<Split>, Fault> {
        let Some(edge) = self.chart.edge_between(Symbol::Lexeme(lexeme), from, to)? else { return Ok(None) };
        let (start, next) = (self.pos(from), self.pos(to));
        let taken_back = self.taken_back.get(&to);
        let end = if taken_back.is_some() { next } else { edge.end };
        let mut whole = self.text.get(start..end).unwrap_or_default().to_vec();
        whole.extend_from_slice(taken_back.map_or(&[], |bytes| bytes));
        self.chart.step(whole.len())?;
        let len = self.chart.machine.tail_len(lexeme, &whole)?;
        let at = start + whole.len() - len;
        let tail = whole.split_off(whole.len() - len);
        Ok(Some(Split { at, end: end.max(at), tail, next }))
    }

    /// Captures the tail of a lexeme under its own name, and notes where it is hidden.
    fn tail(&mut self, lexeme: LexemeId, from: NodeId, to: NodeId) -> Result<(), Fault> {
        let Some(split) = self.split(lexeme, from, to)? else { return Ok(()) };
        let cfg = self.cfg.clone();
        let Some(tail) = &cfg.lexemes[lexeme].tail else { return Ok(()) };
        if tail.hidden && split.next > split.at {
            self.hidden.push(split.at..split.next);
        }
        if let Some(name) = &tail.capture {
            let (start, end) = (split.at, split.end);
            self.captures.push(Capture { name: name.clone(), start, end, bytes: split.tail });
        }
        Ok(())
    }

    /// Captures a rule's text, without what is hidden in it.
    fn capture(&mut self, id: NonterminalId, span: Range<usize>) -> Result<(), Fault> {
        let Some(name) = &self.cfg.nonterminals[id].capture else { return Ok(()) };
        let Range { start, mut end } = span;
        let first = self.hidden.partition_point(|hidden| hidden.start < start);
        let inside = &self.hidden[first..];
        self.chart.step(1 + inside.len() + (end - start) / 4)?;
        while let Some(hidden) = inside.iter().rfind(|hidden| hidden.end == end && hidden.start < end) {
            end = hidden.start;
        }
        let mut bytes = Vec::with_capacity(end - start);
        let mut at = start;
        for hidden in inside.iter().filter(|hidden| hidden.end <= end) {
            bytes.extend_from_slice(self.text.get(at..hidden.start).unwrap_or_default());
            at = hidden.end;
        }
        bytes.extend_from_slice(self.text.get(at..end).unwrap_or_default());
        self.captures.push(Capture { name: name.clone(), start, end, bytes });
        Ok(())
    }
}
