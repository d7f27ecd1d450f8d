//! What of a grammar matters for captures, and in which order its alternatives are preferred. Made once per grammar.

use larkspur_grammar::index::Id;
use larkspur_grammar::{IndexVec, components};

use crate::cfg::{Cfg, DOT_END, Dot, DotId, LoweredAlternative, NonterminalId, Symbol};

/// Facts about each nonterminal.
#[derive(Debug)]
pub(crate) struct Plan {
    rules: IndexVec<NonterminalId, PlannedRule>,
}

#[derive(Debug)]
pub(super) struct PlannedRule {
    /// Something in its right-hand sides is captured or hidden, however deep.
    pub is_captured_inside: bool,
    /// It is captured itself, or something inside.
    pub is_wanted: bool,
    /// Its alternatives, the preferred ones first.
    pub alternatives: Box<[LoweredAlternative]>,
    /// It was made for `x+`: the dot before the `x`.
    pub repeats: Option<DotId>,
    /// Rules that derive each other over the same text have the same number; 0 for all others.
    pub circle: u32,
    /// The same for rules that begin with each other.
    pub corner_circle: u32,
}

impl Plan {
    /// Cost: O(symbols of the grammar).
    pub fn new(cfg: &Cfg) -> Self {
        let users = users(cfg);
        let captured_inside = captured_inside(cfg, &users);
        let priorities = priorities(cfg, &users);
        let whole_circles = circles(cfg, same_text);
        let corner_circles = circles(cfg, corners);
        let rules = cfg.nonterminals.iter_enumerated().map(|(id, nonterminal)| {
            let mut alternatives = nonterminal.alternatives.clone();
            alternatives.sort_by_key(|alternative| {
                std::cmp::Reverse(alternative_priority(cfg, &priorities, alternative.dot).unwrap_or(0))
            });
            PlannedRule {
                is_captured_inside: captured_inside[id],
                is_wanted: captured_inside[id] || nonterminal.capture.is_some(),
                alternatives: alternatives.into_vec().into(),
                repeats: repeats(cfg, id),
                circle: whole_circles[id],
                corner_circle: corner_circles[id],
            }
        });
        Self { rules: rules.collect::<Vec<_>>().into() }
    }

    pub(super) fn rule(&self, id: NonterminalId) -> &PlannedRule {
        &self.rules[id]
    }
}

/// The dots of a right-hand side.
pub(super) fn dots(cfg: &Cfg, first: DotId) -> impl Iterator<Item = DotId> + '_ {
    let next = |dot: &DotId| Some(cfg.dots[*dot].next);
    std::iter::successors(Some(first), next).take_while(|&dot| dot != DOT_END)
}

/// The nonterminals in whose right-hand sides each stands.
fn users(cfg: &Cfg) -> IndexVec<NonterminalId, Vec<NonterminalId>> {
    let mut users: IndexVec<NonterminalId, Vec<NonterminalId>> = vec![Vec::new(); cfg.nonterminals.len()].into();
    for (id, nonterminal) in cfg.nonterminals.iter_enumerated() {
        for dot in nonterminal.alternatives.iter().flat_map(|alternative| dots(cfg, alternative.dot)) {
            if let Symbol::Nonterminal(child) = cfg.dots[dot].symbol
                && users[child].last() != Some(&id)
            {
                users[child].push(id);
            }
        }
    }
    users
}

fn captured_inside(cfg: &Cfg, users: &IndexVec<NonterminalId, Vec<NonterminalId>>) -> IndexVec<NonterminalId, bool> {
    let is_captured = |dot: &Dot| match dot.symbol {
        Symbol::Lexeme(lexeme) => cfg.lexemes[lexeme].tail.is_some(),
        Symbol::Nonterminal(child) => cfg.nonterminals[child].capture.is_some(),
        _ => false,
    };
    let mut inside: IndexVec<NonterminalId, bool> = vec![false; cfg.nonterminals.len()].into();
    let mut agenda: Vec<NonterminalId> = Vec::new();
    for (id, nonterminal) in cfg.nonterminals.iter_enumerated() {
        let mut all = nonterminal.alternatives.iter().flat_map(|alternative| dots(cfg, alternative.dot));
        if all.any(|dot| is_captured(&cfg.dots[dot])) {
            inside[id] = true;
            agenda.push(id);
        }
    }
    while let Some(id) = agenda.pop() {
        for &user in &users[id] {
            if !std::mem::replace(&mut inside[user], true) {
                agenda.push(user);
            }
        }
    }
    inside
}

/// The priority of what each nonterminal leads to: a rule's own, for a part of a rule the highest of the rules in it.
fn priorities(cfg: &Cfg, users: &IndexVec<NonterminalId, Vec<NonterminalId>>) -> IndexVec<NonterminalId, Option<i32>> {
    let mut priorities: IndexVec<NonterminalId, Option<i32>> =
        cfg.nonterminals.iter().map(|n| n.is_rule.then_some(n.priority)).collect::<Vec<_>>().into();
    // From the highest down, so that each part of a rule is set once.
    let mut rules: Vec<NonterminalId> =
        cfg.nonterminals.iter_enumerated().filter(|(_, n)| n.is_rule).map(|(id, _)| id).collect();
    rules.sort_by_key(|&id| std::cmp::Reverse(priorities[id]));
    for rule in rules {
        let mut agenda = vec![rule];
        while let Some(id) = agenda.pop() {
            for &user in &users[id] {
                if !cfg.nonterminals[user].is_rule && priorities[user].is_none() {
                    priorities[user] = priorities[rule];
                    agenda.push(user);
                }
            }
        }
    }
    priorities
}

fn alternative_priority(cfg: &Cfg, priorities: &IndexVec<NonterminalId, Option<i32>>, first: DotId) -> Option<i32> {
    let of_symbol = |dot: DotId| match cfg.dots[dot].symbol {
        Symbol::Nonterminal(child) => priorities[child],
        _ => None,
    };
    dots(cfg, first).filter_map(of_symbol).max()
}

/// The dot before `x` if the nonterminal is what lowering makes for `x+`.
fn repeats(cfg: &Cfg, id: NonterminalId) -> Option<DotId> {
    let nonterminal = &cfg.nonterminals[id];
    let &[once, again] = nonterminal.alternatives.as_slice() else { return None };
    let (one, many) = (once.dot, cfg.dots[again.dot]);
    let fits = !nonterminal.is_rule
        && one != DOT_END
        && cfg.dots[one].next == DOT_END
        && many.symbol == Symbol::Nonterminal(id)
        && many.next == one
        && once.condition.is_none()
        && again.condition.is_none();
    fits.then_some(one)
}

fn may_be_empty(cfg: &Cfg, dot: DotId) -> bool {
    let Dot { symbol, optional, .. } = cfg.dots[dot];
    optional
        || cfg.starts_final(&cfg.dots[dot])
        || matches!(symbol, Symbol::Nonterminal(child) if cfg.nonterminals[child].nullable)
}

/// The child nonterminals that can begin the text of `id`.
fn corners(cfg: &Cfg, id: NonterminalId) -> Vec<NonterminalId> {
    let mut children = Vec::new();
    for alternative in &cfg.nonterminals[id].alternatives {
        for dot in dots(cfg, alternative.dot) {
            if let Symbol::Nonterminal(child) = cfg.dots[dot].symbol {
                children.push(child);
            }
            if !may_be_empty(cfg, dot) {
                break;
            }
        }
    }
    children
}

/// The child nonterminals that can have the whole text of `id`.
fn same_text(cfg: &Cfg, id: NonterminalId) -> Vec<NonterminalId> {
    let mut children = Vec::new();
    for alternative in &cfg.nonterminals[id].alternatives {
        let needed = dots(cfg, alternative.dot).filter(|&dot| !may_be_empty(cfg, dot)).take(2).count();
        if needed > 1 {
            continue;
        }
        for dot in dots(cfg, alternative.dot) {
            if let Symbol::Nonterminal(child) = cfg.dots[dot].symbol
                && (needed == 0 || !may_be_empty(cfg, dot))
            {
                children.push(child);
            }
        }
    }
    children
}

/// Strongly connected components of a relation, numbered from 1; 0 for nonterminals that are in no circle.
fn circles(cfg: &Cfg, related: impl Fn(&Cfg, NonterminalId) -> Vec<NonterminalId>) -> IndexVec<NonterminalId, u32> {
    let children: Vec<Vec<NonterminalId>> = cfg.nonterminals.ids().map(|id| related(cfg, id)).collect();
    let mut circles: IndexVec<NonterminalId, u32> = vec![0; children.len()].into();
    let mut circle = 0;
    for component in components(children.len(), |node, edge| children[node].get(edge).map(|child| child.index())) {
        if component.len() > 1 || children[component[0]].contains(&NonterminalId::from_index(component[0])) {
            circle += 1;
            component.into_iter().for_each(|node| circles[NonterminalId::from_index(node)] = circle);
        }
    }
    circles
}
