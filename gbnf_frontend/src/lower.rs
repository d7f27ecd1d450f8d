//! [`Ast`] to [`Grammar`]: names are resolved, what is regular becomes terminals, the rest rules.

use larkspur_grammar::definitions::{ReadOptions, Terminals, is_too_large};
use larkspur_grammar::diagnostic::one_character_each;
use larkspur_grammar::{
    ExprId, ExprKind, Grammar, GrammarOptions, IgnoreEdges, LexerMode, RegexNode, Rule, RuleId, Span, Terminal,
    TokenItem, TokenSet, Unproductive, index::Id, name_in_groups,
};
use rustc_hash::FxHashMap;

use crate::START;
use crate::ast::{Definition, NodeId, NodeKind, Symbol, Tree};
use crate::error::{Mistake, Sink};
use crate::regular::{Regular, nodes, reached, regular_rules};

/// A node: a regex that may be joined with its neighbours, or an expression.
#[derive(Clone)]
enum Lowered {
    /// With the text's part that it is, for its name.
    Regex(Regular, Span),
    Expr(ExprId),
}

struct Lowerer<'a, 's> {
    text: &'a str,
    ast: &'a Tree,
    options: &'a ReadOptions<'a>,
    sink: &'s mut Sink,
    grammar: Grammar,
    /// The definition that counts for each name.
    of_name: FxHashMap<&'a str, usize>,
    regular_rules: Vec<Option<Regular>>,
    /// The rules of definitions that are none of terminals.
    rules: Vec<Option<RuleId>>,
    terminals: Terminals,
}

/// Lowers a text. `whole` is where a mistake without a place of its own is shown.
pub(crate) fn lower(text: &str, ast: &Tree, options: &ReadOptions, whole: Span, sink: &mut Sink) -> Grammar {
    let mut grammar = Grammar::new(options.name);
    grammar.options = GrammarOptions {
        lexer: LexerMode::Exact,
        ignore_edges: IgnoreEdges::None,
        unproductive: Unproductive::Allow,
        ..GrammarOptions::default()
    };
    let of_name = names(ast, sink);
    let regular_rules = regular_rules(ast, &of_name, &mut grammar.regexes);
    let rules = vec![None; ast.definitions.len()];
    let mut lowerer =
        Lowerer { text, ast, options, sink, grammar, of_name, regular_rules, rules, terminals: Terminals::default() };
    lowerer.check_names();
    let Some(start) = lowerer.start(whole) else { return lowerer.grammar };
    if lowerer.sink.has_errors() {
        return lowerer.grammar;
    }
    lowerer.make_rules(start);
    lowerer.grammar
}

/// The last definition of each name; the others are reported.
fn names<'a>(ast: &'a Tree, sink: &mut Sink) -> FxHashMap<&'a str, usize> {
    let mut of_name: FxHashMap<&str, usize> = FxHashMap::default();
    for (index, definition) in ast.definitions.iter().enumerate() {
        if let Some(before) = of_name.insert(&definition.name, index) {
            let mistake =
                Mistake::DefinedTwice { name: definition.name.clone(), first: ast.definitions[before].name_span };
            sink.report(definition.name_span, mistake);
        }
    }
    of_name
}

impl<'a> Lowerer<'a, '_> {
    fn check_names(&mut self) {
        for node in self.ast.nodes.iter() {
            if let NodeKind::Name(name) = &node.kind
                && !self.of_name.contains_key(name.as_str())
                && !self.ast.is_unread(name)
            {
                let span = name_in_groups(self.text, name, node.span);
                if let Some(mistake) = self.flag(name, span) {
                    self.sink.report(span, mistake);
                    continue;
                }
                // What is only counted needs no help.
                let near = if self.sink.has_room() { self.ast.near(name) } else { None };
                self.sink.report(span, Mistake::RuleUndefined { name: name.clone(), near });
            }
        }
    }

    /// A name of one letter right behind a string or class was likely meant as a flag, a `-` between strings as a range.
    fn flag(&self, name: &str, span: Span) -> Option<Mistake> {
        let before = &self.text[..span.start as usize];
        if name == "-" {
            let (low, high) = one_character_each(before, &self.text[span.end as usize..])?;
            return Some(Mistake::RangeDash { low: low.to_owned(), high: high.to_owned() });
        }
        if name.len() > 1 || !before.ends_with(['"', ']']) {
            return None;
        }
        let both_cases = |c: char| match c.is_ascii_alphabetic() {
            true => format!("[{}{}]", c.to_ascii_lowercase(), c.to_ascii_uppercase()),
            false => format!("\"{c}\""),
        };
        let literal = before.strip_suffix('"').and_then(|text| text.rsplit_once('"')).map(|(_, literal)| literal);
        let short = literal.filter(|literal| name == "i" && literal.len() <= 12 && !literal.contains(['\\', '\n']));
        let meant = short.map(|literal| literal.chars().map(both_cases).collect::<Vec<_>>().join(" "));
        Some(Mistake::Flag { flag: name.to_owned(), meant: meant.filter(|meant| !meant.is_empty()) })
    }

    fn start(&mut self, whole: Span) -> Option<usize> {
        let found = self.of_name.get(self.options.start.unwrap_or(START)).copied();
        if found.is_none() {
            self.ast.report_no_start(self.options, START, whole, self.sink);
        }
        found
    }

    /// What nothing leads to from the start stays a rule, so that it is reported as any other one.
    fn make_rules(&mut self, start: usize) {
        let reached = reached(self.ast, start, &self.of_name);
        let placeholder = self.grammar.empty(self.ast.definitions[start].name_span);
        let wanted: Vec<usize> = (0..self.ast.definitions.len())
            .filter(|&index| self.of_name[self.ast.definitions[index].name.as_str()] == index)
            .filter(|&index| index == start || self.regular_rules[index].is_none() || !reached[index])
            .collect();
        for &index in &wanted {
            let Definition { name, name_span, .. } = &self.ast.definitions[index];
            let rule = Rule::new(name.clone(), *name_span, placeholder);
            self.rules[index] = Some(self.grammar.rules.push(rule));
        }
        self.grammar.start = self.rules[start].expect("the start is a rule");
        for index in wanted {
            let body = self.body(index);
            let rule = self.rules[index].expect("it was just made");
            self.grammar.rules[rule].body = body;
            if is_too_large(&self.grammar, self.ast.definitions[index].name_span, self.options.limits, self.sink) {
                return;
            }
        }
    }

    /// A definition's right-hand side.
    fn body(&mut self, index: usize) -> ExprId {
        let Definition { first, name_span, .. } = &self.ast.definitions[index];
        if let Some(regular) = self.regular_rules[index] {
            let name = self.ast.definitions[index].name.clone();
            return self.terminal(regular, *name_span, || name);
        }
        let plain = nodes(self.ast, index, &self.of_name, &self.regular_rules, &mut self.grammar.regexes);
        let mut lowered: Vec<Lowered> = Vec::with_capacity(plain.len());
        for (at, regular) in plain.into_iter().enumerate() {
            let id = NodeId::from_index(first.index() + at);
            let span = self.ast.nodes[id].span;
            let of = |child: &NodeId| lowered[child.index() - first.index()].clone();
            let node = match (regular, &self.ast.nodes[id].kind) {
                (Some(regular), _) => Lowered::Regex(regular, span),
                (None, NodeKind::Name(name)) => {
                    let rule = self.rules[self.of_name[name.as_str()]].expect("what is not regular is a rule");
                    Lowered::Expr(self.grammar.expr(ExprKind::Rule(rule, None), span))
                }
                (None, NodeKind::Symbol(Symbol::Token { text, negated })) => {
                    Lowered::Expr(self.token(text, *negated, span))
                }
                (None, NodeKind::Sequence(parts)) => {
                    let parts = parts.iter().map(of).collect();
                    Lowered::Expr(self.sequence(parts, span))
                }
                (None, NodeKind::Choice(parts)) => {
                    let parts = parts.iter().map(of).collect();
                    Lowered::Expr(self.choice(parts, span))
                }
                (None, NodeKind::Repeat(child, min, max)) => {
                    let child = self.expr(of(child));
                    Lowered::Expr(self.grammar.expr(ExprKind::Repeat(child, *min, *max), span))
                }
                // A class or string is too large only with what it stands beside.
                (None, NodeKind::Symbol(Symbol::Literal(_) | Symbol::Class(_))) => {
                    unreachable!("what is written in one piece is regular")
                }
            };
            lowered.push(node);
        }
        let whole = lowered.pop().expect("the body");
        self.expr(whole)
    }

    fn expr(&mut self, lowered: Lowered) -> ExprId {
        match lowered {
            Lowered::Expr(expr) => expr,
            Lowered::Regex(regular, span) => self.regex(regular, span),
        }
    }

    /// A terminal named by the text's part that it is.
    fn regex(&mut self, regular: Regular, span: Span) -> ExprId {
        let written = &self.text[span.start as usize..span.end as usize];
        self.terminal(regular, span, || Terminal::name_as_written(written))
    }

    fn terminal(&mut self, regular: Regular, span: Span, name: impl FnOnce() -> String) -> ExprId {
        self.terminals.expr(&mut self.grammar, regular.regex, span, name)
    }

    /// What stands side by side, with regexes joined as far as they do not get too large. A lexeme ends behind what is wide, so
    /// that what is left of it there is the same wherever it stands: a number, whatever its field is called.
    fn sequence(&mut self, parts: Vec<Lowered>, span: Span) -> ExprId {
        let mut joined: Vec<Lowered> = Vec::with_capacity(parts.len());
        for part in parts {
            let both = match (joined.last(), &part) {
                (Some(&Lowered::Regex(left, from)), &Lowered::Regex(right, to)) if left.wide == 0 => {
                    Regular::concat(&[left, right], &mut self.grammar.regexes).map(|both| (both, from.to(to)))
                }
                _ => None,
            };
            match both {
                Some((both, span)) => *joined.last_mut().expect("the left one") = Lowered::Regex(both, span),
                None => joined.push(part),
            }
        }
        let parts: Vec<ExprId> = joined.into_iter().map(|part| self.expr(part)).collect();
        self.grammar.sequence(parts, span)
    }

    /// Alternatives, with regexes put together as far as they do not get too large. One that repeats stays by itself: where the
    /// alternatives are repeated, two of it side by side are one.
    fn choice(&mut self, parts: Vec<Lowered>, span: Span) -> ExprId {
        let mut ways: Vec<Lowered> = Vec::with_capacity(parts.len());
        let mut place: Option<usize> = None;
        for part in parts {
            if self.is_run(&part) {
                ways.push(part);
                continue;
            }
            let both = match (place.map(|at| &ways[at]), &part) {
                (Some(&Lowered::Regex(one, from)), &Lowered::Regex(other, to)) => {
                    Regular::or(&[one, other], &mut self.grammar.regexes).map(|both| (both, from.to(to)))
                }
                _ => None,
            };
            match (both, place) {
                (Some((both, span)), Some(at)) => ways[at] = Lowered::Regex(both, span),
                _ => {
                    if matches!(part, Lowered::Regex(..)) {
                        place = Some(ways.len());
                    }
                    ways.push(part);
                }
            }
        }
        let ways: Vec<ExprId> = ways.into_iter().map(|way| self.expr(way)).collect();
        self.grammar.choice(ways, span)
    }

    fn is_run(&self, part: &Lowered) -> bool {
        let Lowered::Regex(regular, _) = part else { return false };
        matches!(self.grammar.regexes.node(regular.regex), RegexNode::Repeat(_, 0 | 1, None))
    }

    fn token(&mut self, text: &str, negated: bool, span: Span) -> ExprId {
        let id = text.strip_prefix("<[").and_then(|rest| rest.strip_suffix("]>")).and_then(|id| id.parse().ok());
        let item = id.map_or_else(|| TokenItem::Name(text.to_owned()), |id| TokenItem::Range(id, id));
        let text = if negated { format!("!{text}") } else { text.to_owned() };
        let set = TokenSet { text, span, items: vec![item], negated, hidden: false };
        let set = self.grammar.token_sets.push(set);
        self.grammar.expr(ExprKind::Tokens(set), span)
    }
}
