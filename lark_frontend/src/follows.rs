//! Terminals whose look-around sees beyond them: further texts, each with what may stand around it.
//!
//! The regex of a node are the texts around which anything may stand. Beside them the node may have others; where something
//! follows it in its terminal, they are told apart by what that decides, and where something stands before it, that must
//! decide what they look for there. What is left becomes a terminal of its own, which stands beside the one with the regex
//! wherever that stands.

use larkspur_grammar::regex_syntax::{Looking, split_behind, split_follow};
use larkspur_grammar::{Alternative, ExprKind, RegexId, RegexNode, RegexSet, Span, Terminal, TerminalId};

use crate::ast::{NodeId, NodeKind};
use crate::error::TerminalMistake;
use crate::lower::Lowerer;

/// Texts, and what may stand around them.
pub(crate) type Follows = Vec<Looking>;

/// Ways to end, for one terminal, at most.
const WAYS_MAX: usize = 256;

impl Lowerer<'_, '_> {
    /// Texts of a node around which not everything may stand.
    pub fn follows_of(&self, mut node: NodeId) -> &[Looking] {
        while let NodeKind::Group(inner) = self.setting.ast.nodes[node].kind {
            node = inner;
        }
        match self.only_terminal(node) {
            Some(index) => &self.terminals[index].follows,
            None => self.follows.get(&node).map_or(&[], Vec::as_slice),
        }
    }

    /// Reports look-around that sees beyond a node whose edges must be clear.
    pub fn no_follows(&mut self, node: NodeId) {
        if !self.follows_of(node).is_empty() {
            self.sink.report(self.setting.ast.nodes[node].span, TerminalMistake::LookUnclear);
        }
    }

    /// The same for a choice of nodes.
    pub fn choice_follows(&mut self, node: NodeId, parts: &[NodeId]) {
        let follows: Follows = parts.iter().flat_map(|&part| self.follows_of(part).to_vec()).collect();
        self.set_follows(node, follows);
    }

    /// The regex of a sequence in which some part has further texts, which are told apart by what stands around them.
    pub fn sequence_follows(&mut self, node: NodeId, parts: &[NodeId], regexes: &[RegexId]) -> RegexId {
        let plain = |texts| Looking { texts, behind: None, follow: None };
        let mut rests: Follows = vec![plain(self.grammar.regexes.epsilon())];
        for (&part, &regex) in parts.iter().zip(regexes).rev() {
            let mut all: Follows = Vec::new();
            let own = self.follows_of(part).to_vec();
            for before in std::iter::once(plain(regex)).chain(own) {
                for &rest in &rests {
                    if !self.join_follows(before, rest, &mut all) {
                        self.sink.report(self.setting.ast.nodes[part].span, TerminalMistake::LookUnclear);
                        return regex;
                    }
                }
            }
            rests = self.united(all);
            if rests.len() > WAYS_MAX {
                self.sink.report(self.setting.ast.nodes[part].span, TerminalMistake::LookUnclear);
                rests.truncate(1);
            }
        }
        let is_plain = |rest: &Looking| rest.behind.is_none() && rest.follow.is_none();
        let (plain, follows): (Follows, Follows) = rests.into_iter().partition(is_plain);
        self.set_follows(node, follows);
        match plain.as_slice() {
            [only] => only.texts,
            _ => self.grammar.regexes.nothing(),
        }
    }

    /// The texts of `before` with those of `rest` behind them. Returns whether what they look for is decided.
    fn join_follows(&mut self, before: Looking, rest: Looking, all: &mut Follows) -> bool {
        let set = &mut self.grammar.regexes;
        // What the rest looks for behind it is decided by `before`, or that is empty.
        let mut pasts: Vec<(RegexId, Option<RegexId>)> = vec![(before.texts, None)];
        if let Some(behind) = rest.behind {
            let Ok(split) = split_behind(before.texts, behind, set) else { return false };
            pasts = vec![(split.decided, None)];
            pasts.extend(split.may_be_empty.then(|| (set.epsilon(), Some(behind))));
        }
        let both = |a: Option<RegexId>, b: Option<RegexId>, set: &mut RegexSet| match (a, b) {
            (Some(a), Some(b)) => Some(set.and(&[a, b])),
            (a, b) => a.or(b),
        };
        // What `before` looks for ahead is decided by the rest, or by what follows that.
        let mut rests: Vec<(RegexId, Option<RegexId>)> = vec![(rest.texts, None)];
        if let Some(allowed) = before.follow {
            let Ok(split) = split_follow(rest.texts, allowed, set) else { return false };
            rests = vec![(split.decided, None)];
            rests.extend(split.follows.into_iter().map(|(texts, left)| (texts, Some(left))));
        }
        for &(past, behind) in &pasts {
            for &(texts, left) in &rests {
                let texts = set.concat(&[past, texts]);
                if *set.node(texts) != RegexNode::Nothing {
                    let (behind, follow) = (both(before.behind, behind, set), both(left, rest.follow, set));
                    all.push(Looking { texts, behind, follow });
                }
            }
        }
        true
    }

    fn united(&mut self, follows: Follows) -> Follows {
        let mut united: Vec<(Looking, Vec<RegexId>)> = Vec::new();
        for looking in follows {
            let around = (looking.behind, looking.follow);
            match united.iter_mut().find(|(other, _)| (other.behind, other.follow) == around) {
                Some((_, all)) => all.push(looking.texts),
                None => united.push((looking, vec![looking.texts])),
            }
        }
        let regexes = &mut self.grammar.regexes;
        united.into_iter().map(|(looking, texts)| Looking { texts: regexes.or(&texts), ..looking }).collect()
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
            let Looking { texts: regex, behind, follow } = follows.remove(0);
            self.grammar.terminals[id] = Terminal { regex, behind, follow, ..own.clone() };
        }
        let beside = follows.into_iter().map(|Looking { texts: regex, behind, follow }| {
            self.grammar.terminals.push(Terminal { regex, behind, follow, ..own.clone() })
        });
        let beside: Vec<TerminalId> = beside.collect();
        self.beside.insert(id, beside);
    }

    /// A terminal and those beside it.
    pub fn with_beside(&self, id: TerminalId) -> Vec<TerminalId> {
        let beside = self.beside.get(&id).map_or(&[][..], Vec::as_slice);
        std::iter::once(id).chain(beside.iter().copied()).collect()
    }

    /// The regex at `span` without `^` at its beginning and `$` at its end, if these are all the look-around that it has.
    fn without_edges(&self, span: Span) -> Option<String> {
        let text = self.text(span);
        let (inner, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
        let start = inner.strip_prefix('^');
        let inner = start.unwrap_or(inner);
        let end = inner.strip_suffix('$').filter(|inner| !inner.ends_with('\\'));
        let bare = end.unwrap_or(inner);
        let looks = ["(?=", "(?!", "(?<", "\\b", "\\B", "$", "\\A", "\\Z"].iter().any(|look| bare.contains(look));
        let is_edge = (start.is_some() || end.is_some()) && !looks && !bare.contains('|') && !flags.contains('m');
        is_edge.then(|| format!("/{bare}/{flags}"))
    }

    /// A terminal where it stands in a rule.
    pub fn terminal_kind(&mut self, id: TerminalId, span: Span) -> ExprKind {
        if !self.beside.contains_key(&id) {
            return ExprKind::Terminal(id);
        }
        let all = self.with_beside(id);
        let is_empty = |&id: &TerminalId| {
            let terminal = &self.grammar.terminals[id];
            (terminal.follow.is_some() || terminal.behind.is_some())
                && self.grammar.regexes.info(terminal.regex).nullable
        };
        if all.iter().any(is_empty) {
            let meant = self.without_edges(span);
            self.sink
                .report(span, meant.map_or(TerminalMistake::LookEmpty, |meant| TerminalMistake::LookEdges { meant }));
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
