//! Lints over the structure of a grammar: what is unused, what derives nothing, what should be a terminal.
//!
//! Each pass is a work list over the tables: linear in the grammar, no recursion. Emptiness of regexes is decided
//! elsewhere; here only [`RegexNode::Nothing`] counts as empty.

use rustc_hash::FxHashSet;

use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::dump::children;
use crate::index::IndexVec;
use crate::ir::{EmbedKind, ExprId, ExprKind, Grammar, LexerMode, RuleId, TerminalId, TokenSet, Unproductive};
use crate::regex::{RegexId, RegexNode};
use crate::span::Span;

/// Says that not all is shown.
pub const MORE: &str = "G099";

/// Codes of this module. The examples are Lark; the Lark front end's tests run them.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::new(
        MORE,
        "more problems",
        "There are more problems of the grammar's structure than `diagnostics_max`.",
        "",
        "",
    ),
    CodeInfo {
        code: "G101",
        title: "unused rule",
        explanation: "The start rule does not lead to this rule. A name that begins with `_` is not reported, nor is anything \
                      where the caller chooses the start rule, since others may begin elsewhere.",
        bad: "start: \"a\"\nother: \"b\"\n",
        good: "start: \"a\" other\nother: \"b\"\n",
    },
    CodeInfo {
        code: "G102",
        title: "unused terminal",
        explanation: "No rule and no terminal uses this terminal, and it is not ignored.",
        bad: "start: \"a\"\nWS: /[ \\t]+/\n",
        good: "start: \"a\"\nWS: /[ \\t]+/\n%ignore WS\n",
    },
    CodeInfo {
        code: "G103",
        title: "rule that derives nothing",
        explanation: "No text can ever finish this rule, for instance because each alternative needs the rule itself.",
        bad: "start: \"a\" | list\nlist: \"x\" list\n",
        good: "start: \"a\" | list\nlist: \"x\" list | \"x\"\n",
    },
    CodeInfo {
        code: "G104",
        title: "grammar without texts",
        explanation: "No text can ever finish the start rule. With the option `unproductive` set to `allow` this is a warning.",
        bad: "start: \"a\" start\n",
        good: "start: \"a\" start | \"a\"\n",
    },
    CodeInfo {
        code: "G105",
        title: "repetition of a character in a rule",
        explanation: "Each character becomes a lexeme of its own: slower, and with ignored text between them. Repeat inside the \
                      regex, or name it in upper case.",
        bad: "start: /[a-z]/+\n",
        good: "start: /[a-z]+/\n",
    },
    CodeInfo {
        code: "G106",
        title: "rule that derives itself",
        explanation: "The rule stands for itself without anything besides, which adds no text.",
        bad: "start: \"a\" | start\n",
        good: "start: \"a\"\n",
    },
];

/// Lints of a grammar and of those that stand inside it. Only `G104` can be an error.
pub fn lint(grammar: &Grammar) -> Vec<Diagnostic> {
    // Outer grammars before the ones inside them.
    let mut grammars = vec![grammar];
    let mut next = 0;
    while next < grammars.len() {
        let inner = grammars[next].embeds.iter().filter_map(|embed| match &embed.kind {
            EmbedKind::Inline(inner) => Some(inner.as_ref()),
            _ => None,
        });
        grammars.extend(inner.collect::<Vec<_>>());
        next += 1;
    }
    let allow = grammar.options.unproductive == Unproductive::Allow;
    let mut empty: FxHashSet<*const Grammar> = FxHashSet::default();
    let mut found = Vec::new();
    for inner in grammars.into_iter().rev() {
        let mut diagnostics = Vec::new();
        unused(inner, &mut diagnostics);
        let (productive, missing) = productive_rules(inner, &empty);
        if !productive[inner.start] {
            empty.insert(std::ptr::from_ref(inner));
        }
        unproductive(inner, (&productive, &missing), allow, &mut diagnostics);
        if grammar.options.lexer == LexerMode::Longest {
            character_repetitions(inner, &mut diagnostics);
        }
        unit_cycles(inner, &productive, &mut diagnostics);
        found.push(diagnostics);
    }
    found.into_iter().rev().flatten().collect()
}

/// Rules that the start does not lead to, and terminals without a use.
fn unused(grammar: &Grammar, diagnostics: &mut Vec<Diagnostic>) {
    let mut reached: IndexVec<RuleId, bool> = vec![false; grammar.rules.len()].into();
    let mut seen: IndexVec<ExprId, bool> = vec![false; grammar.exprs.len()].into();
    let mut rules = vec![grammar.start];
    reached[grammar.start] = true;
    while let Some(rule) = rules.pop() {
        let mut exprs = vec![grammar.rules[rule].body];
        while let Some(expr) = exprs.pop() {
            if std::mem::replace(&mut seen[expr], true) {
                continue;
            }
            let kind = &grammar.exprs[expr].kind;
            if let ExprKind::Rule(called, _) = *kind
                && !std::mem::replace(&mut reached[called], true)
            {
                rules.push(called);
            }
            if let ExprKind::Automaton(automaton, _) = *kind {
                for &called in grammar.automata[automaton].rules() {
                    if !std::mem::replace(&mut reached[called], true) {
                        rules.push(called);
                    }
                }
            }
            exprs.extend(children(kind));
        }
    }
    // Rules that lowering added share their place with the written one.
    let mut places: FxHashSet<Span> = FxHashSet::default();
    for (id, rule) in grammar.rules.iter_enumerated() {
        if !reached[id] && !rule.name.starts_with('_') && places.insert(rule.span) {
            diagnostics.push(Diagnostic::warning("G101", rule.span, format!("rule `{}` is never used", rule.name)));
        }
    }
    let mut used: FxHashSet<TerminalId> = grammar.ignore.iter().copied().collect();
    used.extend(grammar.exprs.iter().filter_map(|expr| match expr.kind {
        ExprKind::Terminal(id) => Some(id),
        _ => None,
    }));
    used.extend(grammar.automata.iter().flat_map(|automaton| automaton.terminals()));
    // As do the terminals that one in `%ignore` consists of.
    let used: FxHashSet<(&str, Span)> =
        used.into_iter().map(|id| (&*grammar.terminals[id].name, grammar.terminals[id].span)).collect();
    for terminal in grammar.terminals.iter() {
        if !used.contains(&(&*terminal.name, terminal.span)) && terminal.name.starts_with(char::is_alphabetic) {
            let message = format!("terminal `{}` is never used", terminal.name);
            diagnostics.push(Diagnostic::warning("G102", terminal.span, message));
        }
    }
}

/// Which rules some text finishes, if the embedded grammars are left out of account.
pub fn productive(grammar: &Grammar) -> IndexVec<RuleId, bool> {
    productive_rules(grammar, &FxHashSet::default()).0
}

/// Which rules some text finishes, and for how many children each node waits in vain. `empty` has the embedded grammars that no
/// text finishes.
fn productive_rules(
    grammar: &Grammar,
    empty: &FxHashSet<*const Grammar>,
) -> (IndexVec<RuleId, bool>, IndexVec<ExprId, usize>) {
    let mut productive: IndexVec<RuleId, bool> = vec![false; grammar.rules.len()].into();
    // Children that a node still waits for. Length: nodes.
    let mut missing: IndexVec<ExprId, usize> = vec![0; grammar.exprs.len()].into();
    let mut waiting = Waiting::new(grammar);
    let mut ready: Vec<ExprId> = Vec::new();
    for (id, expr) in grammar.exprs.iter_enumerated() {
        missing[id] = match &expr.kind {
            ExprKind::Sequence(parts) => parts.len(),
            ExprKind::Choice(_) => 1,
            ExprKind::Repeat(_, 0, _) => 0,
            ExprKind::Repeat(..) | ExprKind::Rule(..) => 1,
            kind => usize::from(!leaf_is_productive(grammar, kind, empty)),
        };
        children(&expr.kind).for_each(|child| waiting.on_expr(child, id));
        if let ExprKind::Rule(rule, _) = expr.kind {
            waiting.on_rule(rule, id);
        }
        if missing[id] == 0 {
            ready.push(id);
        }
    }
    let mut bodies: IndexVec<ExprId, Vec<RuleId>> = vec![Vec::new(); grammar.exprs.len()].into();
    let mut finished: Vec<RuleId> = Vec::new();
    for (id, rule) in grammar.rules.iter_enumerated() {
        bodies[rule.body].push(id);
        // A budget ends the rule, matched or not.
        if rule.max_tokens.is_some() {
            finished.push(id);
        }
    }
    loop {
        let freed = if let Some(rule) = finished.pop() {
            if std::mem::replace(&mut productive[rule], true) {
                continue;
            }
            waiting.take_rule(rule)
        } else if let Some(expr) = ready.pop() {
            finished.extend(&bodies[expr]);
            waiting.take_expr(expr)
        } else {
            return (productive, missing);
        };
        for node in freed {
            // A choice that is finished already waits for nothing more.
            if missing[node] > 0 {
                missing[node] -= 1;
                if missing[node] == 0 {
                    ready.push(node);
                }
            }
        }
    }
}

/// Who waits for a node or a rule to be finished.
struct Waiting {
    exprs: IndexVec<ExprId, Vec<ExprId>>,
    rules: IndexVec<RuleId, Vec<ExprId>>,
}

impl Waiting {
    fn new(grammar: &Grammar) -> Self {
        Self {
            exprs: vec![Vec::new(); grammar.exprs.len()].into(),
            rules: vec![Vec::new(); grammar.rules.len()].into(),
        }
    }
    fn on_expr(&mut self, child: ExprId, parent: ExprId) {
        self.exprs[child].push(parent);
    }
    fn on_rule(&mut self, rule: RuleId, caller: ExprId) {
        self.rules[rule].push(caller);
    }
    fn take_expr(&mut self, expr: ExprId) -> Vec<ExprId> {
        std::mem::take(&mut self.exprs[expr])
    }
    fn take_rule(&mut self, rule: RuleId) -> Vec<ExprId> {
        std::mem::take(&mut self.rules[rule])
    }
}

fn leaf_is_productive(grammar: &Grammar, kind: &ExprKind, empty: &FxHashSet<*const Grammar>) -> bool {
    let is_nothing = |regex: RegexId| matches!(grammar.regexes.node(regex), RegexNode::Nothing);
    match kind {
        ExprKind::Terminal(id) => {
            let terminal = &grammar.terminals[*id];
            !is_nothing(terminal.regex) && !terminal.tail.as_ref().is_some_and(|tail| is_nothing(tail.regex))
        }
        ExprKind::Tokens(id) => {
            let TokenSet { items, negated, .. } = &grammar.token_sets[*id];
            *negated || !items.is_empty()
        }
        ExprKind::Embed(id) => match &grammar.embeds[*id].kind {
            EmbedKind::Inline(inner) => !empty.contains(&std::ptr::from_ref(inner.as_ref())),
            _ => true,
        },
        _ => true,
    }
}

fn unproductive(
    grammar: &Grammar,
    (productive, missing): (&IndexVec<RuleId, bool>, &IndexVec<ExprId, usize>),
    allow: bool,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut places: FxHashSet<Span> = FxHashSet::default();
    let causes = causes(grammar, productive, missing);
    let may_go_on = (allow && !productive.iter().all(|&ends| ends)).then(|| reach_text(grammar));
    let may_go_on = |rule: RuleId| may_go_on.as_ref().is_some_and(|reach| reach[rule]);
    // Where the start has no text, the rule that is the cause is shown there.
    let shown = (!productive[grammar.start]).then(|| causes[grammar.start]).flatten();
    places.extend(shown.filter(|&cause| cause != grammar.start).map(|cause| grammar.rules[cause].span));
    for (id, rule) in grammar.rules.iter_enumerated() {
        // What only waits for another rule is not the cause.
        let waits = causes[id].is_some_and(|cause| cause != id) && id != grammar.start;
        if productive[id] || waits || !places.insert(rule.span) {
            continue;
        }
        let help = "add an alternative without recursion";
        // What cannot even begin is an error for whoever compiles it.
        if id == grammar.start && allow && !may_go_on(id) {
            continue;
        }
        if id == grammar.start {
            let message = format!("no text finishes the start rule `{}`", rule.name);
            let diagnostic = match allow {
                true => Diagnostic::warning("G104", rule.span, message),
                false => Diagnostic::error("G104", rule.span, message),
            };
            diagnostics.push(match shown.filter(|&cause| cause != id).map(|cause| &grammar.rules[cause]) {
                Some(cause) => diagnostic
                    .also(cause.span, "each alternative of this needs the rule itself")
                    .help(format!("add an alternative without recursion to `{}`", cause.name)),
                None if causes[id].is_none() => diagnostic,
                None => diagnostic.help(help),
            });
        } else if !may_go_on(id) {
            let message = format!("rule `{}` derives nothing", rule.name);
            let diagnostic = Diagnostic::warning("G103", rule.span, message);
            diagnostics.push(if causes[id].is_some() { diagnostic.help(help) } else { diagnostic });
        }
    }
}

/// Why each rule that no text finishes has none: the first rule, on the way from it, that comes back to itself. None where a
/// terminal or an embedded grammar has no text.
fn causes(
    grammar: &Grammar,
    productive: &IndexVec<RuleId, bool>,
    missing: &IndexVec<ExprId, usize>,
) -> IndexVec<RuleId, Option<RuleId>> {
    let mut causes: IndexVec<RuleId, Option<RuleId>> = vec![None; grammar.rules.len()].into();
    let mut is_done: IndexVec<RuleId, bool> = productive.clone();
    for root in grammar.rules.ids() {
        // From each rule on to one that it waits for.
        let mut path: Vec<RuleId> = Vec::new();
        let mut is_on_path: FxHashSet<RuleId> = FxHashSet::default();
        let mut next = Some(root);
        let mut cause = None;
        while let Some(rule) = next.filter(|&rule| !is_done[rule]) {
            if !is_on_path.insert(rule) {
                // All that stand in the circle wait for each other: the first is shown.
                let start = path.iter().position(|&one| one == rule).unwrap_or(0);
                cause = path[start..].iter().copied().min();
                break;
            }
            path.push(rule);
            next = waited_for(grammar, rule, productive, missing);
        }
        cause = cause.or_else(|| next.filter(|&rule| !productive[rule]).and_then(|rule| causes[rule]));
        path.into_iter().for_each(|one| (causes[one], is_done[one]) = (cause, true));
    }
    causes
}

/// A rule without text that this one needs: itself if it is one.
fn waited_for(
    grammar: &Grammar,
    rule: RuleId,
    productive: &IndexVec<RuleId, bool>,
    missing: &IndexVec<ExprId, usize>,
) -> Option<RuleId> {
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut exprs = vec![grammar.rules[rule].body];
    let mut found = None;
    while let Some(expr) = exprs.pop() {
        match &grammar.exprs[expr].kind {
            _ if !seen.insert(expr) => {}
            // What some text finishes waits for nothing.
            _ if missing[expr] == 0 => {}
            &ExprKind::Rule(called, _) if called == rule => return Some(rule),
            &ExprKind::Rule(called, _) if !productive[called] => found = Some(called),
            kind => exprs.extend(children(kind)),
        }
    }
    found
}

/// `x*` in a rule, where `x` is one character of several.
fn character_repetitions(grammar: &Grammar, diagnostics: &mut Vec<Diagnostic>) {
    // What each node is. Children are older, so one pass decides; of rules only those that are a terminal.
    let mut shapes: IndexVec<ExprId, Shape> = IndexVec::new();
    for (_, expr) in grammar.exprs.iter_enumerated() {
        let shape = match &expr.kind {
            ExprKind::Terminal(id) => terminal_shape(grammar, *id),
            ExprKind::Rule(rule, None) => {
                let rule = &grammar.rules[*rule];
                let plain = rule.capture.is_none() && rule.max_tokens.is_none() && rule.temperature.is_none();
                match grammar.exprs[rule.body].kind {
                    ExprKind::Terminal(id) if plain => terminal_shape(grammar, id),
                    _ => Shape::Other,
                }
            }
            ExprKind::Sequence(parts) if parts.len() == 1 => shapes[parts[0]],
            ExprKind::Choice(alternatives) => {
                let plain = alternatives.iter().all(|a| a.condition.is_none() && shapes[a.expr] != Shape::Other);
                if plain && alternatives.len() > 1 { Shape::Class } else { Shape::Other }
            }
            _ => Shape::Other,
        };
        shapes.push(shape);
    }
    for (_, expr) in grammar.exprs.iter_enumerated() {
        let ExprKind::Repeat(child, _, max) = expr.kind else { continue };
        if shapes[child] == Shape::Class && max.is_none_or(|max| max > 1) {
            let message = "each character of this repetition is a lexeme of its own";
            let help = "repeat inside the regex (`/[a-z]+/`), or make it a terminal, in upper case";
            diagnostics.push(Diagnostic::warning("G105", expr.span, message).help(help));
        }
    }
}

/// What is repeated.
#[derive(Clone, Copy, PartialEq)]
enum Shape {
    /// One certain character.
    Character,
    /// One character of several.
    Class,
    /// More than a character.
    Other,
}

fn terminal_shape(grammar: &Grammar, id: TerminalId) -> Shape {
    let terminal = &grammar.terminals[id];
    match grammar.regexes.node(terminal.regex) {
        _ if terminal.tail.is_some() => Shape::Other,
        RegexNode::Class(_) | RegexNode::Bytes(_) => Shape::Class,
        RegexNode::Literal(bytes) if std::str::from_utf8(bytes).is_ok_and(|text| text.chars().count() == 1) => {
            Shape::Character
        }
        _ => Shape::Other,
    }
}

/// From which rules anything but rules can be reached. Where none can, nothing goes on for ever either.
fn reach_text(grammar: &Grammar) -> IndexVec<RuleId, bool> {
    let mut callers: IndexVec<RuleId, Vec<RuleId>> = vec![Vec::new(); grammar.rules.len()].into();
    let mut reach: IndexVec<RuleId, bool> = vec![false; grammar.rules.len()].into();
    let mut agenda = Vec::new();
    for (rule, definition) in grammar.rules.iter_enumerated() {
        let mut exprs = vec![definition.body];
        while let Some(expr) = exprs.pop() {
            match &grammar.exprs[expr].kind {
                ExprKind::Rule(called, _) => callers[*called].push(rule),
                kind @ (ExprKind::Sequence(_) | ExprKind::Choice(_) | ExprKind::Repeat(..)) => {
                    exprs.extend(children(kind))
                }
                _ => agenda.push(rule),
            }
        }
    }
    while let Some(rule) = agenda.pop() {
        if !std::mem::replace(&mut reach[rule], true) {
            agenda.extend(&callers[rule]);
        }
    }
    reach
}

/// Rules that derive themselves and nothing besides, through alternatives that are only a rule.
/// Of those that have no text more was said.
fn unit_cycles(grammar: &Grammar, productive: &IndexVec<RuleId, bool>, diagnostics: &mut Vec<Diagnostic>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Visit {
        New,
        Open,
        Done,
    }
    let mut visits: IndexVec<RuleId, Visit> = vec![Visit::New; grammar.rules.len()].into();
    for root in grammar.rules.ids() {
        if visits[root] != Visit::New {
            continue;
        }
        visits[root] = Visit::Open;
        let mut path = vec![(root, units(grammar, root))];
        while let Some((rule, pending)) = path.last_mut() {
            let Some((called, span)) = pending.pop() else {
                visits[*rule] = Visit::Done;
                path.pop();
                continue;
            };
            match visits[called] {
                Visit::Done => {}
                Visit::Open if !productive[called] => {}
                Visit::New => {
                    visits[called] = Visit::Open;
                    path.push((called, units(grammar, called)));
                }
                Visit::Open => {
                    let name = &grammar.rules[called].name;
                    let message = format!("rule `{name}` derives itself and nothing besides");
                    let diagnostic = Diagnostic::warning("G106", span, message).help("drop this alternative");
                    diagnostics.push(diagnostic.also(grammar.rules[called].span, format!("`{name}` is defined here")));
                }
            }
        }
    }
}

/// Rules that an alternative of this one consists of, last first.
fn units(grammar: &Grammar, rule: RuleId) -> Vec<(RuleId, Span)> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<ExprId> = FxHashSet::default();
    let mut stack = vec![grammar.rules[rule].body];
    while let Some(expr) = stack.pop() {
        if !seen.insert(expr) {
            continue;
        }
        match &grammar.exprs[expr].kind {
            ExprKind::Rule(called, None) => found.push((*called, grammar.exprs[expr].span)),
            ExprKind::Choice(alternatives) => {
                stack.extend(alternatives.iter().filter(|a| a.condition.is_none()).map(|a| a.expr));
            }
            ExprKind::Sequence(parts) if parts.len() == 1 => stack.push(parts[0]),
            _ => {}
        }
    }
    found
}
