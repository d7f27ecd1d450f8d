//! The preferred derivation of a text, and the captures in it.
//!
//! Top down with an explicit stack; only rules in which something is captured are looked into.

use std::ops::Range;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Capture;
use super::chart::{Chart, Frontier, GoalId, NodeId, ROOT};
use super::divide::{Division, Grounded, Part, divide, elements};
use super::plan::{Plan, dots};
use super::replay::{Outcome, Replay};
use crate::cfg::{Cfg, DOT_ACCEPT, DOT_END, DotId, LexemeId, LoweredAlternative, NonterminalId, Symbol};
use crate::earley::sets::ParamId;
use crate::error::Fault;

/// Items in progress, by their goal: the dot, and the node that the item is in.
type Marks = FxHashMap<GoalId, Vec<(DotId, NodeId)>>;

/// A nonterminal that derives the empty text, and its parameter.
type Empty = (NonterminalId, u64);

/// The rules of one circle that have the same text (or begin at the same node, if they are in progress) as what stands
/// below them in the derivation. None of them derives itself.
type Above<T> = Option<Rc<[T]>>;

/// What is still to be looked into. What comes first in the text is on top.
#[derive(Debug)]
enum Task {
    /// A rule that has ended.
    Closed(GoalId, NodeId, Above<GoalId>),
    /// A rule in progress.
    Open(Rc<Marks>, GoalId, Above<GoalId>),
    /// A rule that derives the empty text, at a position.
    Empty(Empty, usize, Above<Empty>),
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
            derivation.push_parts(&parts.unwrap_or_default(), ParamId(0), None)?;
        }
        Outcome::Open(frontiers) => {
            let marks = derivation.marks(&frontiers)?;
            derivation.tasks.push(Task::Open(marks, ROOT, None));
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
                Task::Closed(goal, end, above) => self.closed(goal, end, above)?,
                Task::Open(marks, goal, above) => self.open(&marks, goal, above)?,
                Task::Empty(empty, pos, above) => self.empty(empty, pos, above)?,
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
    fn closed(&mut self, goal: GoalId, end: NodeId, above: Above<GoalId>) -> Result<(), Fault> {
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
            self.tasks.push(Task::Open(marks, goal, None));
            return Ok(());
        }
        let above = (self.plan.rule(id).circle > 0).then(|| extend(above, goal));
        let grounded = match &above {
            Some(above) => Some(self.grounded(goal, end, above)?),
            None => None,
        };
        let parts = self.parts(goal, end, grounded.as_ref())?;
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
                self.push_parts(&parts, param, None)?;
                self.tasks.push(Task::Capture(id, span));
                return Ok(());
            }
            self.tasks.push(Task::Capture(id, span));
        }
        self.push_parts(&parts, param, above.map(|above| (goal, end, above)))
    }

    /// The symbols of a rule that has ended.
    fn parts(&mut self, goal: GoalId, end: NodeId, grounded: Option<&Grounded>) -> Result<Option<Vec<Part>>, Fault> {
        let plan = self.plan;
        let rule = plan.rule(self.chart.goals[goal].id);
        if let Some(dot) = rule.repeats {
            let found = elements(self.chart, plan, goal, dot, &[end], grounded)?;
            return Ok(found.map(|(parts, _)| parts));
        }
        for alternative in self.possible(goal) {
            let dots: Vec<DotId> = dots(&self.cfg, alternative.dot).collect();
            if let Some(parts) = self.divide(goal, &dots, DOT_END, end, grounded)? {
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
        grounded: Option<&Grounded>,
    ) -> Result<Option<Vec<Part>>, Fault> {
        let is_root = goal == ROOT;
        // A rule ends with its last symbol; an item in the middle of one may have been carried over ignored text.
        let trail = is_root || after != DOT_END && !dots.is_empty();
        divide(self.chart, self.plan, &Division { goal, dots, after, to, lead: is_root, trail, grounded })
    }

    /// For a rule of a circle: those rules of it that can derive its text without it and the rules above it.
    fn grounded(&mut self, goal: GoalId, end: NodeId, above: &[GoalId]) -> Result<Grounded, Fault> {
        let circle = self.plan.rule(self.chart.goals[goal].id).circle;
        let mut all: Vec<GoalId> = Vec::new();
        let mut seen: FxHashSet<GoalId> = above.iter().copied().collect();
        let (mut at, mut visited) = (goal, 0);
        let cfg = self.cfg.clone();
        loop {
            let (node, param) = (self.chart.goals[at].node, self.chart.goals[at].param);
            for dot in self.possible(at).into_iter().flat_map(|alternative| dots(&cfg, alternative.dot)) {
                self.chart.step(1)?;
                if let Symbol::Nonterminal(child) = cfg.dots[dot].symbol
                    && self.plan.rule(child).circle == circle
                    && let Some(child) = self.chart.goal_at(node, dot, param)?
                    && !seen.contains(&child)
                    && self.chart.has_fact(child, end)?
                {
                    seen.insert(child);
                    all.push(child);
                }
            }
            let Some(&next) = all.get(visited) else { break };
            at = next;
            visited += 1;
        }
        let mut grounded: Grounded =
            all.iter().copied().filter(|&goal| self.chart.cut_of(goal, end).is_some()).collect();
        loop {
            let before = grounded.len();
            for &goal in &all {
                if !grounded.contains(&goal) && self.parts(goal, end, Some(&grounded))?.is_some() {
                    grounded.insert(goal);
                }
            }
            if grounded.len() == before {
                return Ok(grounded);
            }
        }
    }

    /// Queues the symbols of a rule with this parameter, the last one first. `circle` is the rule, where it ends and what
    /// is above its symbols, if it is in a circle.
    fn push_parts(
        &mut self,
        parts: &[Part],
        param: ParamId,
        circle: Option<(GoalId, NodeId, Rc<[GoalId]>)>,
    ) -> Result<(), Fault> {
        for &Part { dot, start, end } in parts.iter().rev() {
            self.chart.step(1)?;
            match self.cfg.dots[dot].symbol {
                Symbol::Nonterminal(child) if self.plan.rule(child).is_wanted => {
                    if start == end {
                        let value = self.chart.machine.sets.param_value(param).value;
                        let value = self.cfg.dots[dot].arg.eval(value);
                        self.tasks.push(Task::Empty((child, value), self.pos(end), None));
                    } else if let Some(goal) = self.chart.goal_at(start, dot, param)? {
                        let is_same = |&(parent, to, _): &(GoalId, NodeId, _)| {
                            let parent = &self.chart.goals[parent];
                            (parent.node, to) == (start, end)
                                && self.plan.rule(parent.id).circle == self.plan.rule(child).circle
                        };
                        let above = circle.as_ref().filter(|circle| is_same(circle)).map(|circle| circle.2.clone());
                        self.tasks.push(Task::Closed(goal, end, above));
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
            let of_goal = marks.entry(goal).or_default();
            of_goal.push((dot, node));
            if of_goal.len() == 1 {
                let node = self.chart.goals[goal].node;
                items.extend(self.chart.waiters(goal).iter().map(|waiter| (waiter.parent, waiter.dot, node)));
            }
        }
        Ok(Rc::new(marks))
    }

    /// A rule in progress.
    fn open(&mut self, marks: &Rc<Marks>, goal: GoalId, above: Above<GoalId>) -> Result<(), Fault> {
        let (id, from) = (self.chart.goals[goal].id, self.chart.goals[goal].node);
        let plan = self.plan;
        let rule = plan.rule(id);
        let above = (rule.corner_circle > 0 && goal != ROOT).then(|| extend(above, goal));
        let Some(items) = self.begun(marks, goal, above.as_deref())? else { return Ok(()) };
        if goal == ROOT {
            let start = [self.cfg.start];
            let found = self.open_alternative(goal, &start, &items)?;
            return self.push_open(marks, goal, above, found);
        }
        if !rule.is_captured_inside {
            return Ok(());
        }
        if let Some(dot) = rule.repeats {
            let found = self.open_elements(goal, dot, &items, from)?;
            return self.push_open(marks, goal, above, found);
        }
        for alternative in self.possible(goal) {
            let dots: Vec<DotId> = dots(&self.cfg, alternative.dot).collect();
            let found = self.open_alternative(goal, &dots, &items)?;
            if found.is_some() {
                return self.push_open(marks, goal, above, found);
            }
        }
        debug_assert!(false, "what is in progress has a derivation");
        Ok(())
    }

    /// The items of a rule in progress, without those that wait for a rule that is in progress at the same node only
    /// since this one or one above it is.
    fn begun(
        &mut self,
        marks: &Marks,
        goal: GoalId,
        above: Option<&[GoalId]>,
    ) -> Result<Option<Vec<(DotId, NodeId)>>, Fault> {
        let Some(items) = marks.get(&goal) else { return Ok(None) };
        let Some(above) = above else { return Ok(Some(items.clone())) };
        let grounded = self.grounded_open(marks, goal, above)?;
        let mut begun = Vec::with_capacity(items.len());
        for &(dot, node) in items {
            if self.circle_child(marks, goal, dot, node)?.is_none_or(|child| grounded.contains(&child)) {
                begun.push((dot, node));
            }
        }
        Ok(Some(begun))
    }

    /// For a rule in progress: those that begin at the same node in the same circle and are in progress without it and
    /// the rules above it.
    fn grounded_open(&mut self, marks: &Marks, goal: GoalId, above: &[GoalId]) -> Result<Grounded, Fault> {
        let mut seen: FxHashSet<GoalId> = above.iter().copied().collect();
        let mut all = vec![goal];
        // What each goal waits for.
        let mut children: Vec<Vec<Option<GoalId>>> = Vec::new();
        while let Some(&goal) = all.get(children.len()) {
            let mut found = Vec::new();
            for &(dot, node) in &marks[&goal] {
                found.push(self.circle_child(marks, goal, dot, node)?);
            }
            all.extend(found.iter().flatten().filter(|&&child| seen.insert(child)));
            children.push(found);
        }
        let mut grounded = Grounded::default();
        loop {
            let before = grounded.len();
            for (goal, children) in all.iter().zip(&children).skip(1) {
                self.chart.step(1 + children.len())?;
                if children.iter().any(|child| child.is_none_or(|child| grounded.contains(&child))) {
                    grounded.insert(*goal);
                }
            }
            if grounded.len() == before {
                return Ok(grounded);
            }
        }
    }

    /// The goal in progress that an item waits for, if it stands at the same node and in the same circle as its own goal.
    fn circle_child(&mut self, marks: &Marks, goal: GoalId, dot: DotId, node: NodeId) -> Result<Option<GoalId>, Fault> {
        self.chart.step(1)?;
        let (id, param) = (self.chart.goals[goal].id, self.chart.goals[goal].param);
        if node != self.chart.goals[goal].node {
            return Ok(None);
        }
        let Some(child) = self.chart.goal_at(node, dot, param)? else { return Ok(None) };
        let circle = |id: NonterminalId| self.plan.rule(id).corner_circle;
        let is_in_circle = circle(self.chart.goals[child].id) == circle(id) && marks.contains_key(&child);
        Ok(is_in_circle.then_some(child))
    }

    fn push_open(
        &mut self,
        marks: &Rc<Marks>,
        goal: GoalId,
        above: Above<GoalId>,
        found: Option<(Vec<Part>, DotId, NodeId)>,
    ) -> Result<(), Fault> {
        let Some((parts, dot, node)) = found else { return Ok(()) };
        let param = self.chart.goals[goal].param;
        if let Some(child) = self.chart.goal_at(node, dot, param)? {
            let is_circle = self.circle_child(marks, goal, dot, node)?.is_some();
            self.tasks.push(Task::Open(marks.clone(), child, above.filter(|_| is_circle)));
        }
        self.push_parts(&parts, param, None)
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
    fn empty(&mut self, (id, value): Empty, pos: usize, above: Above<Empty>) -> Result<(), Fault> {
        if !self.is_nullable(id, value)? {
            return Ok(());
        }
        if self.cfg.nonterminals[id].capture.is_some() {
            self.tasks.push(Task::Capture(id, pos..pos));
        }
        let plan = self.plan;
        if !plan.rule(id).is_captured_inside {
            return Ok(());
        }
        let circle = plan.rule(id).circle;
        let above = (circle > 0).then(|| extend(above, (id, value)));
        let grounded = match &above {
            Some(above) => self.grounded_empty((id, value), above)?,
            None => FxHashSet::default(),
        };
        let is_circle = |child: &Empty| circle > 0 && plan.rule(child.0).circle == circle;
        for &alternative in &plan.rule(id).alternatives {
            let Some(children) = self.empty_children(alternative, value)? else { continue };
            if children.iter().all(|child| !is_circle(child) || grounded.contains(child)) {
                for child in children.into_iter().rev().filter(|child| plan.rule(child.0).is_wanted) {
                    self.tasks.push(Task::Empty(child, pos, above.clone().filter(|_| is_circle(&child))));
                }
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
    fn empty_children(&mut self, alternative: LoweredAlternative, value: u64) -> Result<Option<Vec<Empty>>, Fault> {
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
                _ if info.optional || cfg.starts_final(&info) => {}
                _ => return Ok(None),
            }
        }
        Ok(Some(children))
    }

    /// For a rule of a circle: those rules of it that derive the empty text without it and the rules above it.
    fn grounded_empty(&mut self, empty: Empty, above: &[Empty]) -> Result<FxHashSet<Empty>, Fault> {
        let plan = self.plan;
        let circle = plan.rule(empty.0).circle;
        let mut seen: FxHashSet<Empty> = above.iter().copied().collect();
        let mut all = vec![empty];
        // For each, the rules of the circle in each of its ways to be empty.
        let mut ways: Vec<Vec<Vec<Empty>>> = Vec::new();
        while let Some(&(id, value)) = all.get(ways.len()) {
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
        let mut grounded: FxHashSet<Empty> = FxHashSet::default();
        loop {
            let before = grounded.len();
            for (empty, ways) in all.iter().zip(&ways).skip(1) {
                self.chart.step(1 + ways.iter().map(Vec::len).sum::<usize>())?;
                if ways.iter().any(|way| way.iter().all(|child| grounded.contains(child))) {
                    grounded.insert(*empty);
                }
            }
            if grounded.len() == before {
                return Ok(grounded);
            }
        }
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
        self.chart.machine.begin_question();
        let len = self.chart.machine.tail_len(lexeme, &whole)?;
        // `capture_work_max` bounds all lexemes together.
        self.chart.step(self.chart.machine.lexer.work as usize)?;
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

/// What is above the symbols of `last`.
fn extend<T: Copy>(above: Above<T>, last: T) -> Rc<[T]> {
    above.iter().flat_map(|above| above.iter().copied()).chain([last]).collect()
}
