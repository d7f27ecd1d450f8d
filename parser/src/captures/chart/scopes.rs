//! Scopes with budgets: which items of a node end when a scope's tokens are used up.

use rustc_hash::FxHashSet;

use super::{Chart, GoalId, Item, NodeId, ROOT, Waiter};
use crate::cfg::{DotId, LexemeId, NonterminalId};
use crate::earley::sets::Scope;
use crate::error::Fault;

/// Where a scope was when its tokens were used up, or where the text ends.
#[derive(Clone, Debug)]
pub(in crate::captures) struct Frontier {
    pub nodes: Vec<NodeId>,
    pub live: Live,
}

/// What is in progress at a frontier.
#[derive(Clone, Debug)]
pub(in crate::captures) enum Live {
    /// Nothing yet: all that the nodes expect may come.
    All,
    /// These lexemes, sorted.
    Lexemes(Vec<LexemeId>),
}

/// A goal whose scope has ended by its budget.
#[derive(Clone, Copy, Debug)]
pub(in crate::captures) struct Ended {
    goal: GoalId,
    scope: u32,
}

/// What the end of scopes makes of a node.
#[derive(Default, Debug)]
pub(in crate::captures) struct Cut {
    pub kept: Vec<Item>,
    pub ended: Vec<Ended>,
    pub expired: Vec<NonterminalId>,
}

impl Chart<'_> {
    /// The tokens of a scope are used up: it has ended at the node being made.
    pub fn complete_cut(&mut self, Ended { goal, scope }: Ended, cut: usize) -> Result<(), Fault> {
        if !self.record(goal)? {
            return Ok(());
        }
        self.cut_facts.insert((goal, self.making()), cut);
        for index in self.goals[goal].waiters.clone() {
            let Waiter { parent, next, param, .. } = self.waiters[index];
            if !self.is_inside(parent, scope)? {
                self.agenda.push((next, parent, param));
            }
        }
        self.run_agenda()
    }

    /// Splits a node's items at the end of token number `token`. In the middle of lexemes, those in `live`, only what is
    /// under way ends, scopes that the node itself predicts included.
    pub fn cut(&mut self, node: NodeId, token: u32, live: Option<&Live>) -> Result<Cut, Fault> {
        let mut cut = Cut { expired: self.expired.get(&node).cloned().unwrap_or_default(), ..Cut::default() };
        let mut climbed: FxHashSet<GoalId> = FxHashSet::default();
        let under_way = match live {
            Some(live) => Some(self.under_way(node, live)?),
            None => None,
        };
        for index in self.nodes[node].items.clone() {
            let item = self.items[index];
            match self.outermost(self.scope(item.goal), token)? {
                None => cut.kept.push(item),
                Some(scope) => {
                    if under_way.as_ref().is_none_or(|under_way| under_way.contains(&(item.dot, item.goal))) {
                        self.climb(item.goal, scope, &mut climbed, &mut cut.ended)?;
                    }
                }
            }
        }
        let Some(under_way) = under_way else { return Ok(cut) };
        let under_way: FxHashSet<GoalId> = under_way.into_iter().map(|(_, goal)| goal).collect();
        // The goals of a node follow one another.
        let from = self.goals.as_slice().partition_point(|goal| goal.node < node);
        let len = self.goals.as_slice()[from..].partition_point(|goal| goal.node == node);
        for goal in (from..from + len).map(|index| GoalId(index as u32)).filter(|&goal| goal != ROOT) {
            self.step(1)?;
            let (id, scope) = (self.goals[goal].id, self.scope(goal));
            if self.cfg.nonterminals[id].max_tokens.is_none() || !self.is_used_up(scope, token) {
                continue;
            }
            cut.expired.push(id);
            // A scope within one that has ended is left with it.
            if under_way.contains(&goal)
                && let Some(outermost) = self.outermost(scope, token)?
            {
                self.climb(goal, outermost, &mut climbed, &mut cut.ended)?;
            }
        }
        Ok(cut)
    }

    /// The items of a node that live lexemes belong to, and those that wait for the goals of these at the same node.
    fn under_way(&mut self, node: NodeId, live: &Live) -> Result<FxHashSet<(DotId, GoalId)>, Fault> {
        let mut items = self.in_progress(node, live)?;
        let mut under_way = FxHashSet::default();
        while let Some((dot, goal)) = items.pop() {
            self.step(1)?;
            if under_way.insert((dot, goal)) && self.goals[goal].node == node {
                items.extend(self.waiters(goal).iter().map(|waiter| (waiter.dot, waiter.parent)));
            }
        }
        Ok(under_way)
    }

    /// The items of a node whose next symbol is in progress.
    pub fn in_progress(&mut self, node: NodeId, live: &Live) -> Result<Vec<(DotId, GoalId)>, Fault> {
        self.step(1 + self.scans(node).len())?;
        let scans = self.scans(node).iter();
        let Live::Lexemes(lexemes) = live else {
            let tokens = self.token_scans(node).iter().map(|scan| (scan.dot, scan.goal));
            return Ok(scans.map(|scan| (scan.dot, scan.goal)).chain(tokens).collect());
        };
        let is_live = |lexeme: LexemeId| lexemes.binary_search(&lexeme).is_ok();
        let mut items: Vec<_> = scans.filter(|scan| is_live(scan.symbol)).map(|scan| (scan.dot, scan.goal)).collect();
        for grammar in lexemes.iter().filter_map(|&lexeme| self.cfg.lexemes[lexeme].ignored_by) {
            let of_grammar = self.items(node).iter().filter(|&&item| self.may_follow_ignored(item, grammar));
            items.extend(of_grammar.map(|item| (item.dot, item.goal)));
        }
        Ok(items)
    }

    fn scope(&self, goal: GoalId) -> u32 {
        self.machine.sets.param_value(self.goals[goal].param).scope
    }

    /// Whether a goal is inside a scope, or the scope itself.
    fn is_inside(&mut self, goal: GoalId, scope: u32) -> Result<bool, Fault> {
        let mut inner = self.scope(goal);
        while inner != 0 && inner != scope {
            self.step(1)?;
            inner = self.machine.sets.scope(inner).parent;
        }
        Ok(inner != 0)
    }

    fn is_used_up(&self, scope: u32, token: u32) -> bool {
        let Scope { rule, token: entered, .. } = self.machine.sets.scope(scope);
        self.cfg.nonterminals[rule].max_tokens.is_some_and(|max| token >= entered && token - entered + 1 >= max)
    }

    /// The outermost scope from `scope` outwards that is used up.
    fn outermost(&mut self, mut scope: u32, token: u32) -> Result<Option<u32>, Fault> {
        let mut outermost = None;
        while scope != 0 {
            self.step(1)?;
            if self.is_used_up(scope, token) {
                outermost = Some(scope);
            }
            scope = self.machine.sets.scope(scope).parent;
        }
        Ok(outermost)
    }

    /// The goals that a scope was entered with, of those that something inside it belongs to.
    fn climb(
        &mut self,
        goal: GoalId,
        scope: u32,
        climbed: &mut FxHashSet<GoalId>,
        ended: &mut Vec<Ended>,
    ) -> Result<(), Fault> {
        let mut agenda = vec![goal];
        while let Some(goal) = agenda.pop() {
            if !climbed.insert(goal) {
                continue;
            }
            let mut is_entered = false;
            for index in self.goals[goal].waiters.clone() {
                self.step(1)?;
                let parent = self.waiters[index].parent;
                if self.is_inside(parent, scope)? {
                    agenda.push(parent);
                } else {
                    is_entered = true;
                }
            }
            if is_entered {
                ended.push(Ended { goal, scope });
            }
        }
        Ok(())
    }
}
