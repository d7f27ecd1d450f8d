//! Simplifications of the IR before it is lowered, each by itself and by name (`larkspur dump --stage ir --pass NAME`).
//!
//! They keep the language in both lexer modes, and the captures: those that might choose another derivation leave grammars
//! with captures as they are. What is not used any more stays in the tables, since nothing but what is reached from the
//! start is lowered. Lowering itself flattens groups, joins strings that are alternatives in one trie, steps over what may
//! be empty and removes what can never be finished.
//!
//! - `units`: a rule that is only another rule's name is that rule.
//! - `strings`: in lexer mode `exact`, strings that stand side by side are one, if no ignored text may stand between.
//! - `equal`: rules, and parts of rules, that are equal up to what they are called are one: the coarsest partition, refined
//!   round by round, as states of automata are made one (E. F. Moore, 1956). Grammars of JSON Schemas have
//!   one rule for each shape, and stay as they are: the pass took a seventh of the time to compile them.
//! - `runs`: in lexer mode `exact`, of alternatives that are repeated, with or without blanks behind them, a run of something
//!   (`[^()]+`) does not stand beside itself, since that is one run: else each of its characters may be the last one, and the
//!   first one.
//!
//! Cost: linear in the grammar, `equal` for each of at most 50 rounds.

use rustc_hash::FxHashMap;

use crate::index::{Id, IndexVec};
use crate::ir::{Alternative, Alternatives, Expr, ExprId, ExprKind, Grammar, LexerMode, RuleId, Terminal, TerminalId};
use crate::link::LinkedGrammar;
use crate::param::{ConditionId, ParamExpr};
use crate::regex::{RegexId, RegexNode};

/// A simplification.
pub struct Pass {
    /// As the command line has it.
    pub name: &'static str,
    /// What it does, in a sentence.
    pub title: &'static str,
    run: fn(&mut Grammar, Keeps),
}

/// What must be kept besides the language.
#[derive(Clone, Copy)]
struct Keeps {
    /// Which derivation is preferred, for captures.
    derivations: bool,
    /// Where lexemes end, for `max_tokens`.
    lexemes: bool,
}

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "units", title: "Rules that are only another rule's name are that rule.", run: units },
    Pass { name: "strings", title: "Strings side by side are one string (lexer mode `exact`).", run: strings },
    Pass { name: "equal", title: "Rules and parts of rules that are equal are one.", run: equal },
    Pass { name: "runs", title: "A repeated run does not stand beside itself (lexer mode `exact`).", run: runs },
];

/// Rounds of `equal` at most; rules that can be told apart only later stay apart.
const ROUNDS_MAX: usize = 50;
/// Bytes of a string that is joined at most.
const STRING_BYTES_MAX: usize = 1_000;

/// Runs all passes, or those up to the one of this name, which must be there.
pub fn simplify(linked: &mut LinkedGrammar, last: Option<&str>) {
    let keeps = Keeps {
        derivations: linked.grammars.iter().any(|grammar| {
            grammar.rules.iter().any(|rule| rule.capture.is_some())
                || grammar
                    .terminals
                    .iter()
                    .any(|terminal| terminal.tail.as_ref().is_some_and(|tail| tail.capture.is_some()))
        }),
        lexemes: linked.grammars.iter().any(|grammar| grammar.rules.iter().any(|rule| rule.max_tokens.is_some())),
    };
    for pass in PASSES {
        linked.grammars.iter_mut().for_each(|grammar| (pass.run)(grammar, keeps));
        if last == Some(pass.name) {
            break;
        }
    }
}

/// A rule without attributes whose body is a rule without parameter stands for that one.
fn units(grammar: &mut Grammar, _: Keeps) {
    let mut stands_for: IndexVec<RuleId, Option<RuleId>> = IndexVec::new();
    for rule in grammar.rules.iter() {
        let is_plain = !rule.parametric && rule.capture.is_none() && rule.max_tokens.is_none();
        let only = sole_rule(grammar, rule.body).filter(|&only| {
            // The order of alternatives depends on priorities.
            !grammar.rules[only].parametric && grammar.rules[only].priority == rule.priority
        });
        stands_for.push(only.filter(|_| is_plain && rule.temperature.is_none()));
    }
    if stands_for.iter().all(Option::is_none) {
        return;
    }
    let ends: Vec<RuleId> = grammar
        .rules
        .ids()
        .map(|rule| {
            // Rules that stand for each other in a circle derive nothing, and stay.
            let mut at = rule;
            for _ in 0..=CHAIN_MAX {
                match stands_for[at] {
                    Some(next) if next != rule => at = next,
                    Some(_) => return rule,
                    None => return at,
                }
            }
            rule
        })
        .collect();
    for expr in grammar.exprs.iter_mut() {
        if let ExprKind::Rule(rule, None) = &mut expr.kind {
            *rule = ends[rule.index()];
        }
    }
}

/// Names of names that are followed at most.
const CHAIN_MAX: usize = 1_000;
/// Names of names that are followed at most to see what is repeated.
const NAMES_MAX: usize = 100;

/// The rule that an expression is, if it is nothing else.
fn sole_rule(grammar: &Grammar, mut expr: ExprId) -> Option<RuleId> {
    loop {
        expr = match &grammar.exprs[expr].kind {
            &ExprKind::Rule(rule, None) => return Some(rule),
            ExprKind::Sequence(parts) if parts.len() == 1 => parts[0],
            ExprKind::Choice(alternatives) => match alternatives.as_slice() {
                &[Alternative { expr, condition: None }] => expr,
                _ => return None,
            },
            &ExprKind::Repeat(child, 1, Some(1)) => child,
            _ => return None,
        };
    }
}

/// Strings side by side become one.
fn strings(grammar: &mut Grammar, keeps: Keeps) {
    let is_exact = grammar.options.lexer == LexerMode::Exact;
    if !is_exact || !grammar.ignore.is_empty() || keeps.derivations || keeps.lexemes {
        return;
    }
    let has_neighbours = grammar.exprs.iter().any(|expr| match &expr.kind {
        ExprKind::Sequence(parts) => {
            parts.windows(2).any(|two| two.iter().all(|&part| string(grammar, part).is_some()))
        }
        _ => false,
    });
    if !has_neighbours {
        return;
    }
    let mut uses: IndexVec<ExprId, u32> = vec![0; grammar.exprs.len()].into();
    for rule in grammar.rules.iter() {
        uses[rule.body] += 1;
    }
    for expr in grammar.exprs.iter() {
        children(&expr.kind).for_each(|child| uses[child] += 1);
    }
    let mut joined: FxHashMap<Vec<u8>, TerminalId> = FxHashMap::default();
    for id in grammar.exprs.ids() {
        let ExprKind::Sequence(parts) = &grammar.exprs[id].kind else { continue };
        let parts = parts.clone();
        let mut kept: Vec<ExprId> = Vec::with_capacity(parts.len());
        let mut at = 0;
        while at < parts.len() {
            let mut bytes: Vec<u8> = Vec::new();
            let mut names: Vec<String> = Vec::new();
            let mut end = at;
            while let Some((name, text)) =
                parts.get(end).filter(|&&part| uses[part] == 1).and_then(|&part| string(grammar, part))
                && bytes.len() + text.len() <= STRING_BYTES_MAX
            {
                bytes.extend_from_slice(text);
                names.push(name.to_owned());
                end += 1;
            }
            kept.push(parts[at]);
            if end > at + 1 {
                // The first part's node becomes the string: nothing else refers to it.
                let span = grammar.exprs[parts[at]].span;
                let terminal = *joined.entry(bytes).or_insert_with_key(|bytes| {
                    let regex = grammar.regexes.literal(bytes);
                    let name = Terminal::name_as_written(&joined_name(&names));
                    grammar.terminals.push(Terminal { is_literal: true, ..Terminal::new(name, span, regex) })
                });
                grammar.exprs[parts[at]].kind = ExprKind::Terminal(terminal);
            }
            at = end.max(at + 1);
        }
        if kept.len() < parts.len() {
            grammar.exprs[id].kind = ExprKind::sequence(kept);
        }
    }
}

/// `"ab"` of `"a"` and `"b"`.
fn joined_name(names: &[String]) -> String {
    let inner = |name: &'_ str| name.strip_prefix('"').and_then(|name| name.strip_suffix('"')).map(str::to_owned);
    match names.iter().map(|name| inner(name)).collect::<Option<Vec<String>>>() {
        Some(inner) => format!("\"{}\"", inner.concat()),
        None => names.join(" "),
    }
}

/// The name and text of a node that is a plain string.
fn string(grammar: &Grammar, expr: ExprId) -> Option<(&str, &[u8])> {
    let ExprKind::Terminal(id) = grammar.exprs[expr].kind else { return None };
    let terminal = &grammar.terminals[id];
    match grammar.regexes.node(terminal.regex) {
        RegexNode::Literal(bytes) if terminal.is_plain() && !bytes.is_empty() => Some((&terminal.name, bytes)),
        _ => None,
    }
}

/// `(A | r+)*` is `(r+? A)* r+?`, and `((A | r+) w*)*` is `(r+? A w* | r+ w+)* r+?`.
fn runs(grammar: &mut Grammar, keeps: Keeps) {
    let is_exact = grammar.options.lexer == LexerMode::Exact;
    if !is_exact || !grammar.ignore.is_empty() || keeps.derivations || keeps.lexemes || grammar.options.is_made {
        return;
    }
    for id in grammar.exprs.ids() {
        let ExprKind::Repeat(child, min @ (0 | 1), None) = grammar.exprs[id].kind else { continue };
        let Some(Repeated { run, others, behind }) = repeated(grammar, child) else { continue };
        let span = grammar.exprs[id].span;
        let some_behind = behind.and_then(|behind| not_empty(grammar, behind));
        if others.is_empty() && behind.is_none() || behind.is_some() != some_behind.is_some() {
            continue;
        }
        let mut push = |kind| grammar.exprs.push(Expr { kind, span });
        let one = |expr| Alternative { expr, condition: None };
        let maybe = push(ExprKind::Repeat(run, 0, Some(1)));
        let mut ways = Vec::new();
        if !others.is_empty() {
            let others = push(ExprKind::choice(others));
            ways.push(one(push(ExprKind::Sequence([maybe, others].into_iter().chain(behind).collect()))));
        }
        if let Some(some_behind) = some_behind {
            ways.push(one(push(ExprKind::sequence([run, some_behind]))));
        }
        let step = match &*ways {
            [way] => way.expr,
            _ => push(ExprKind::choice(ways)),
        };
        let steps = push(ExprKind::Repeat(step, min, None));
        let last = push(ExprKind::Repeat(run, 0, Some(1)));
        let all = ExprKind::sequence([steps, last]);
        grammar.exprs[id].kind = match min {
            0 => all,
            _ => ExprKind::choice([push(all), run].map(one)),
        };
    }
}

/// What is repeated: a run or something else, and what may stand behind either.
struct Repeated {
    run: ExprId,
    others: Alternatives,
    behind: Option<ExprId>,
}

fn repeated(grammar: &Grammar, expr: ExprId) -> Option<Repeated> {
    let mut expr = seen_through(grammar, expr);
    let mut behind = None;
    if let ExprKind::Sequence(parts) = &grammar.exprs[expr].kind {
        let &[first, last] = &**parts else { return None };
        (expr, behind) = (seen_through(grammar, first), Some(last));
    }
    match &grammar.exprs[expr].kind {
        ExprKind::Choice(alternatives) if alternatives.iter().all(|one| one.condition.is_none()) => {
            let at = alternatives.iter().position(|one| is_run(grammar, one.expr))?;
            let mut others = alternatives.clone();
            let run = others.remove(at).expr;
            Some(Repeated { run, others, behind })
        }
        _ => is_run(grammar, expr).then_some(Repeated { run: expr, others: Alternatives::new(), behind }),
    }
}

/// What an expression is behind names of rules that say no more, and behind nodes of one child.
fn seen_through(grammar: &Grammar, mut expr: ExprId) -> ExprId {
    for _ in 0..NAMES_MAX {
        expr = match &grammar.exprs[expr].kind {
            ExprKind::Sequence(parts) if parts.len() == 1 => parts[0],
            &ExprKind::Rule(rule, None) => {
                let rule = &grammar.rules[rule];
                if rule.parametric || rule.temperature.is_some() {
                    break;
                }
                rule.body
            }
            ExprKind::Choice(alternatives) => match alternatives.as_slice() {
                [Alternative { expr, condition: None }] => *expr,
                _ => break,
            },
            _ => break,
        };
    }
    expr
}

/// Whether it is a plain terminal of which two side by side are one.
fn is_run(grammar: &Grammar, expr: ExprId) -> bool {
    let ExprKind::Terminal(id) = grammar.exprs[seen_through(grammar, expr)].kind else { return false };
    let regex = grammar.regexes.node(grammar.terminals[id].regex);
    grammar.terminals[id].is_plain() && matches!(regex, RegexNode::Repeat(_, 0 | 1, None))
}

/// What may be repeated, at least once.
fn not_empty(grammar: &mut Grammar, expr: ExprId) -> Option<ExprId> {
    let expr = seen_through(grammar, expr);
    let Expr { kind, span } = &grammar.exprs[expr];
    let (span, kind) = (
        *span,
        match *kind {
            ExprKind::Repeat(child, 0, None) => ExprKind::Repeat(child, 1, None),
            ExprKind::Terminal(id) if grammar.terminals[id].is_plain() => {
                let &RegexNode::Repeat(child, 0, None) = grammar.regexes.node(grammar.terminals[id].regex) else {
                    return None;
                };
                let regex = grammar.regexes.repeat(child, 1, None);
                ExprKind::Terminal(grammar.terminals.push(Terminal { regex, ..grammar.terminals[id].clone() }))
            }
            _ => return None,
        },
    );
    Some(grammar.exprs.push(Expr { kind, span }))
}

fn children(kind: &ExprKind) -> Box<dyn Iterator<Item = ExprId> + '_> {
    match kind {
        ExprKind::Sequence(parts) => Box::new(parts.iter().copied()),
        ExprKind::Choice(alternatives) => Box::new(alternatives.iter().map(|alternative| alternative.expr)),
        ExprKind::Repeat(child, ..) => Box::new(std::iter::once(*child)),
        _ => Box::new(std::iter::empty()),
    }
}

/// A class of rules, terminals or nodes.
type Class = u32;

/// What a node is, up to equal rules and nodes.
#[derive(PartialEq, Eq, Hash)]
enum Shape {
    Sequence(Vec<Class>),
    Choice(Vec<(Class, Option<ConditionId>)>),
    Repeat(Class, u32, Option<u32>),
    Rule(Class, Option<ParamExpr>),
    Terminal(Class),
    /// Tokens, embedded grammars and automata are themselves.
    Other(ExprId),
}

/// What a terminal is besides its name; those with a tail are themselves.
#[derive(PartialEq, Eq, Hash)]
enum Kind {
    Plain { regex: RegexId, priority: i32, is_literal: bool, lazy: bool, around: [Option<RegexId>; 2] },
    Tailed(TerminalId),
}

/// Equal rules and equal parts of rules become one: the first of them.
fn equal(grammar: &mut Grammar, keeps: Keeps) {
    if keeps.derivations || grammar.options.is_made {
        return;
    }
    let terminals = classes(grammar.terminals.iter_enumerated().map(|(id, terminal)| match terminal.tail {
        Some(_) => Kind::Tailed(id),
        None => Kind::Plain {
            regex: terminal.regex,
            priority: terminal.priority,
            is_literal: terminal.is_literal,
            lazy: terminal.lazy,
            around: [terminal.behind, terminal.follow],
        },
    }));
    // Rules with a budget are themselves: one within itself is another than two.
    let mut rules = classes(grammar.rules.iter_enumerated().map(|(id, rule)| {
        let budget = rule.max_tokens.map(|_| id);
        (rule.parametric, rule.temperature.map(f32::to_bits), budget)
    }));
    for _ in 0..ROUNDS_MAX {
        let exprs = shapes(grammar, &terminals, &rules);
        let refined = classes(grammar.rules.iter_enumerated().map(|(id, rule)| {
            let class = exprs[rule.body.index()];
            (rules[id.index()], class)
        }));
        let count = |classes: &[Class]| classes.iter().max().copied();
        let is_stable = count(&refined) == count(&rules);
        rules = refined;
        if is_stable {
            return unite(grammar, &rules, &exprs);
        }
    }
}

/// The class of each item: equal ones have the same number.
fn classes<T: Eq + std::hash::Hash>(items: impl Iterator<Item = T>) -> Vec<Class> {
    let mut known: FxHashMap<T, Class> = FxHashMap::default();
    items
        .map(|item| {
            let next = known.len() as Class;
            *known.entry(item).or_insert(next)
        })
        .collect()
}

/// The class of each node, given those of rules.
fn shapes(grammar: &Grammar, terminals: &[Class], rules: &[Class]) -> Vec<Class> {
    let mut known: FxHashMap<Shape, Class> = FxHashMap::default();
    let mut classes: Vec<Class> = Vec::with_capacity(grammar.exprs.len());
    // Children are older than their parents, until `runs` has been here.
    for (id, expr) in grammar.exprs.iter_enumerated() {
        let class = |child: ExprId| classes[child.index()];
        let shape = match &expr.kind {
            ExprKind::Sequence(parts) => Shape::Sequence(parts.iter().map(|&part| class(part)).collect()),
            ExprKind::Choice(alternatives) => {
                Shape::Choice(alternatives.iter().map(|one| (class(one.expr), one.condition)).collect())
            }
            &ExprKind::Repeat(child, min, max) => Shape::Repeat(class(child), min, max),
            &ExprKind::Rule(rule, arg) => Shape::Rule(rules[rule.index()], arg),
            &ExprKind::Terminal(terminal) => Shape::Terminal(terminals[terminal.index()]),
            ExprKind::Tokens(_) | ExprKind::Embed(_) | ExprKind::Automaton(..) => Shape::Other(id),
        };
        let next = known.len() as Class;
        classes.push(*known.entry(shape).or_insert(next));
    }
    classes
}

/// Refers to the first of each class only.
fn unite(grammar: &mut Grammar, rules: &[Class], exprs: &[Class]) {
    let first = |classes: &[Class]| {
        let mut first: FxHashMap<Class, usize> = FxHashMap::default();
        classes.iter().enumerate().map(|(at, &class)| *first.entry(class).or_insert(at)).collect::<Vec<usize>>()
    };
    let (first_rule, first_expr) = (first(rules), first(exprs));
    let rule_of = |rule: RuleId| RuleId::from_index(first_rule[rule.index()]);
    let expr_of = |expr: ExprId| ExprId::from_index(first_expr[expr.index()]);
    for expr in grammar.exprs.iter_mut() {
        match &mut expr.kind {
            ExprKind::Sequence(parts) => parts.iter_mut().for_each(|part| *part = expr_of(*part)),
            ExprKind::Choice(all) => all.iter_mut().for_each(|one| one.expr = expr_of(one.expr)),
            ExprKind::Repeat(child, ..) => *child = expr_of(*child),
            ExprKind::Rule(rule, _) => *rule = rule_of(*rule),
            _ => {}
        }
    }
    for rule in grammar.rules.iter_mut() {
        rule.body = expr_of(rule.body);
    }
}
