//! Whether a grammar matches the empty text and nothing else, not even a text without end.

use larkspur_grammar::index::Id;
use larkspur_grammar::lints::productive;
use larkspur_grammar::{ExprId, ExprKind, Grammar, IndexVec, RuleId, components};

/// What a node derives.
#[derive(Clone, Copy, Default)]
struct Derives {
    /// Some finite text.
    finite: bool,
    /// Some finite text that is not empty.
    letters: bool,
}

/// Regexes count by what shows of them. Cost: linear in the grammar.
pub(crate) fn is_only_empty(grammar: &Grammar) -> bool {
    let rules = productive(grammar);
    if !rules[grammar.start] {
        return false;
    }
    let facts = facts(grammar, &rules);
    !facts[grammar.rules[grammar.start].body].letters && !is_endless(grammar, &facts)
}

fn facts(grammar: &Grammar, rules: &IndexVec<RuleId, bool>) -> IndexVec<ExprId, Derives> {
    let mut facts: IndexVec<ExprId, Derives> = IndexVec::new();
    // Whom a node's letters are passed on to.
    let mut users: Vec<Vec<ExprId>> = vec![Vec::new(); grammar.exprs.len()];
    let mut found: Vec<ExprId> = Vec::new();
    for (id, expr) in grammar.exprs.iter_enumerated() {
        let mut derives = Derives { finite: true, letters: false };
        match &expr.kind {
            ExprKind::Sequence(parts) => {
                derives.finite = parts.iter().all(|&part| facts[part].finite);
                if derives.finite {
                    parts.iter().for_each(|part| users[part.index()].push(id));
                }
            }
            ExprKind::Choice(ways) => {
                derives.finite = ways.iter().any(|way| facts[way.expr].finite);
                ways.iter().for_each(|way| users[way.expr.index()].push(id));
            }
            ExprKind::Repeat(child, min, _) => {
                derives.finite = *min == 0 || facts[*child].finite;
                users[child.index()].push(id);
            }
            ExprKind::Rule(rule, _) => {
                derives.finite = rules[*rule];
                users[grammar.rules[*rule].body.index()].push(id);
            }
            ExprKind::Terminal(terminal) => {
                let info = grammar.regexes.info(grammar.terminals[*terminal].regex);
                if info.len_max != Some(0) {
                    found.push(id);
                }
            }
            _ => found.push(id),
        }
        facts.push(derives);
    }
    while let Some(id) = found.pop() {
        if facts[id].finite && !std::mem::replace(&mut facts[id].letters, true) {
            found.extend(&users[id.index()]);
        }
    }
    facts
}

/// Whether the start derives a text without end: rules follow each other in a circle that reads something, and what
/// stands before each of them derives finite texts.
fn is_endless(grammar: &Grammar, facts: &IndexVec<ExprId, Derives>) -> bool {
    let steps: Vec<Vec<(usize, bool)>> = grammar.rules.ids().map(|rule| steps(grammar, rule, facts)).collect();
    let mut reached = vec![false; steps.len()];
    let mut open = vec![grammar.start.index()];
    while let Some(rule) = open.pop() {
        if !std::mem::replace(&mut reached[rule], true) {
            open.extend(steps[rule].iter().map(|&(next, _)| next));
        }
    }
    let mut component_of = vec![0; steps.len()];
    let found = components(steps.len(), |rule, number| steps[rule].get(number).map(|&(next, _)| next));
    for (number, component) in found.iter().enumerate() {
        component.iter().for_each(|&rule| component_of[rule] = number);
    }
    let is_circle = |rule: usize, next: usize| reached[rule] && component_of[rule] == component_of[next];
    steps.iter().enumerate().any(|(rule, steps)| steps.iter().any(|&(next, reads)| reads && is_circle(rule, next)))
}

/// The rules that may follow a rule on a path, and whether something may be read before each.
fn steps(grammar: &Grammar, rule: RuleId, facts: &IndexVec<ExprId, Derives>) -> Vec<(usize, bool)> {
    let mut steps = Vec::new();
    let mut open = vec![(grammar.rules[rule].body, false)];
    while let Some((expr, reads)) = open.pop() {
        match &grammar.exprs[expr].kind {
            ExprKind::Sequence(parts) => {
                let mut reads = reads;
                for &part in parts {
                    open.push((part, reads));
                    if !facts[part].finite {
                        break;
                    }
                    reads |= facts[part].letters;
                }
            }
            ExprKind::Choice(ways) => open.extend(ways.iter().map(|way| (way.expr, reads))),
            &ExprKind::Repeat(child, _, max) => open.push((child, reads || max != Some(1) && facts[child].letters)),
            &ExprKind::Rule(next, _) => steps.push((next.index(), reads)),
            _ => {}
        }
    }
    steps
}
