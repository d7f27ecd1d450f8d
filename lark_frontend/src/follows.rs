//! Terminals whose look-aheads see beyond them: further texts, each with what may follow it.
//!
//! The regex of a node are the texts that anything may follow. Beside them the node may have others; where something
//! follows it in its terminal, they are told apart by what that decides. What is left becomes a terminal of its own, which
//! stands beside the one with the regex wherever that stands.

use larkspur_grammar::regex_syntax::split_follow;
use larkspur_grammar::{Alternative, ExprKind, RegexId, RegexNode, Span, Terminal, TerminalId};

use crate::ast::{NodeId, NodeKind};
use crate::error::Mistake;
use crate::lower::Lowerer;

/// Texts, and what may follow them.
pub(crate) type Follows = Vec<(RegexId, RegexId)>;

/// Ways to end, for one terminal, at most.
const WAYS_MAX: usize = 64;

impl Lowerer<'_, '_> {
    /// Texts of a node that not everything may follow.
    pub fn follows_of(&self, mut node: NodeId) -> &[(RegexId, RegexId)] {
        while let NodeKind::Group(inner) = self.setting.ast.nodes[node].kind {
            node = inner;
        }
        match self.only_terminal(node) {
            Some(index) => &self.terminals[index].follows,
            None => self.follows.get(&node).map_or(&[], Vec::as_slice),
        }
    }

    /// Reports look-aheads that see beyond a node whose end must be clear.
    pub fn no_follows(&mut self, node: NodeId) {
        if !self.follows_of(node).is_empty() {
            self.sink.report(self.setting.ast.nodes[node].span, Mistake::LookUnclear);
        }
    }

    /// The same for a choice of nodes.
    pub fn choice_follows(&mut self, node: NodeId, parts: &[NodeId]) {
        let follows: Follows = parts.iter().flat_map(|&part| self.follows_of(part).to_vec()).collect();
        self.set_follows(node, follows);
    }

    /// The regex of a sequence in which some part has further texts, which are told apart by what follows them.
    pub fn sequence_follows(&mut self, node: NodeId, parts: &[NodeId], regexes: &[RegexId]) -> RegexId {
        let mut rest = self.grammar.regexes.epsilon();
        let mut rest_follows: Follows = Vec::new();
        for (&part, &regex) in parts.iter().zip(regexes).rev() {
            let own = self.follows_of(part).to_vec();
            let set = &mut self.grammar.regexes;
            let mut all = vec![set.concat(&[regex, rest])];
            let mut follows: Follows =
                rest_follows.iter().map(|&(texts, follow)| (set.concat(&[regex, texts]), follow)).collect();
            for (texts, allowed) in own {
                let rests = std::iter::once((rest, None)).chain(rest_follows.iter().map(|&(r, f)| (r, Some(f))));
                for (rest, after) in rests.collect::<Vec<_>>() {
                    let Ok(split) = split_follow(rest, allowed, &mut self.grammar.regexes) else {
                        self.sink.report(self.setting.ast.nodes[part].span, Mistake::LookUnclear);
                        return regex;
                    };
                    let set = &mut self.grammar.regexes;
                    let decided = set.concat(&[texts, split.decided]);
                    match after {
                        None => all.push(decided),
                        Some(after) if *set.node(decided) != RegexNode::Nothing => follows.push((decided, after)),
                        Some(_) => {}
                    }
                    for (rest, left) in split.follows {
                        let left = after.map_or(left, |after| set.and(&[left, after]));
                        follows.push((set.concat(&[texts, rest]), left));
                    }
                }
            }
            rest = self.grammar.regexes.or(&all);
            rest_follows = self.united(follows);
            if rest_follows.len() > WAYS_MAX {
                self.sink.report(self.setting.ast.nodes[part].span, Mistake::LookUnclear);
                rest_follows.clear();
            }
        }
        self.set_follows(node, rest_follows);
        rest
    }

    fn united(&mut self, follows: Follows) -> Follows {
        let mut united: Vec<(RegexId, Vec<RegexId>)> = Vec::new();
        for (texts, follow) in follows {
            match united.iter_mut().find(|(other, _)| *other == follow) {
                Some((_, all)) => all.push(texts),
                None => united.push((follow, vec![texts])),
            }
        }
        united.into_iter().map(|(follow, texts)| (self.grammar.regexes.or(&texts), follow)).collect()
    }

    pub fn set_follows(&mut self, node: NodeId, follows: Follows) {
        if !follows.is_empty() {
            let follows = self.united(follows);
            self.follows.insert(node, follows);
        }
    }

    /// Makes the terminals of further texts. If there are no others, the terminal itself becomes the first.
    pub fn add_follows(&mut self, id: TerminalId, mut follows: Follows) {
        if follows.is_empty() {
            return;
        }
        let own = self.grammar.terminals[id].clone();
        if *self.grammar.regexes.node(own.regex) == RegexNode::Nothing {
            let (regex, follow) = follows.remove(0);
            self.grammar.terminals[id] = Terminal { regex, follow: Some(follow), ..own.clone() };
        }
        let beside = follows.into_iter().map(|(regex, follow)| {
            self.grammar.terminals.push(Terminal { regex, follow: Some(follow), ..own.clone() })
        });
        let beside: Vec<TerminalId> = beside.collect();
        self.beside.insert(id, beside);
    }

    /// A terminal and those beside it.
    pub fn with_beside(&self, id: TerminalId) -> Vec<TerminalId> {
        let beside = self.beside.get(&id).map_or(&[][..], Vec::as_slice);
        std::iter::once(id).chain(beside.iter().copied()).collect()
    }

    /// A terminal where it stands in a rule.
    pub fn terminal_kind(&mut self, id: TerminalId, span: Span) -> ExprKind {
        if !self.beside.contains_key(&id) {
            return ExprKind::Terminal(id);
        }
        let all = self.with_beside(id);
        let is_empty = |&id: &TerminalId| {
            let terminal = &self.grammar.terminals[id];
            terminal.follow.is_some() && self.grammar.regexes.info(terminal.regex).nullable
        };
        if all.iter().any(is_empty) {
            self.sink.report(span, Mistake::LookEmpty);
        }
        match all.as_slice() {
            &[only] => ExprKind::Terminal(only),
            _ => {
                let expr = |id| Alternative { expr: self.grammar.expr(ExprKind::Terminal(id), span), condition: None };
                ExprKind::Choice(all.into_iter().map(expr).collect())
            }
        }
    }
}
