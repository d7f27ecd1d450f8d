//! [`Ast`] to [`Grammar`]: names are resolved, what is regular becomes terminals, the rest rules.

use larkspur_grammar::diagnostic::{Near, names_there_are, near};
use larkspur_grammar::{
    Alternative, ExprId, ExprKind, Grammar, GrammarOptions, IgnoreEdges, LexerMode, RegexId, RegexNode, Rule, RuleId,
    Span, Terminal, TerminalId, TokenItem, TokenSet, Unproductive, index::Id, name_in_groups,
};
use rustc_hash::FxHashMap;

use crate::GbnfOptions;
use crate::ast::{Ast, Definition, NodeId, NodeKind};
use crate::error::{Mistake, Sink};
use crate::regular::{Regular, nodes, regular_rules};

/// A node: a regex that may be joined with its neighbours, or an expression.
#[derive(Clone)]
enum Lowered {
    /// With the text's part that it is, for its name.
    Regex(Regular, Span),
    Expr(ExprId),
}

struct Lowerer<'a, 's> {
    text: &'a str,
    ast: &'a Ast,
    options: &'a GbnfOptions<'a>,
    sink: &'s mut Sink,
    grammar: Grammar,
    /// The definition that counts for each name.
    of_name: FxHashMap<&'a str, usize>,
    regular: Vec<Option<Regular>>,
    /// The rules of definitions that are none of terminals.
    rules: Vec<Option<RuleId>>,
    terminals: FxHashMap<RegexId, TerminalId>,
}

/// Lowers a text. `whole` is where a mistake without a place of its own is shown.
pub(crate) fn lower(text: &str, ast: &Ast, options: &GbnfOptions, whole: Span, sink: &mut Sink) -> Grammar {
    let mut grammar = Grammar::new(options.name);
    grammar.options = GrammarOptions {
        lexer: LexerMode::Exact,
        ignore_edges: IgnoreEdges::None,
        unproductive: Unproductive::Allow,
        ..GrammarOptions::default()
    };
    let of_name = names(ast, sink);
    let regular = regular_rules(ast, &of_name, &mut grammar.regexes);
    let rules = vec![None; ast.definitions.len()];
    let mut lowerer =
        Lowerer { text, ast, options, sink, grammar, of_name, regular, rules, terminals: FxHashMap::default() };
    lowerer.check_names();
    let Some(start) = lowerer.start(whole) else { return lowerer.grammar };
    if lowerer.sink.has_errors() {
        return lowerer.grammar;
    }
    lowerer.make_rules(start);
    lowerer.grammar
}

/// The last definition of each name; the others are reported.
fn names<'a>(ast: &'a Ast, sink: &mut Sink) -> FxHashMap<&'a str, usize> {
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
    fn near(&self, name: &str) -> Option<Near> {
        near(name, self.ast.definitions.iter().map(|own| (own.name.as_str(), Some(own.name_span))))
    }

    fn check_names(&mut self) {
        for node in self.ast.nodes.iter() {
            if let NodeKind::Name(name) = &node.kind
                && !self.of_name.contains_key(name.as_str())
            {
                let span = name_in_groups(self.text, name, node.span);
                if let Some(mistake) = self.flag(name, span) {
                    self.sink.report(span, mistake);
                    continue;
                }
                // What is only counted needs no help.
                let near = if self.sink.has_room() { self.near(name) } else { None };
                self.sink.report(span, Mistake::RuleUndefined { name: name.clone(), near });
            }
        }
    }

    /// A name of one letter right behind a string or class was likely meant as a flag.
    fn flag(&self, name: &str, span: Span) -> Option<Mistake> {
        let before = &self.text[..span.start as usize];
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
        let name = self.options.start.unwrap_or("root");
        let found = self.of_name.get(name).copied();
        if found.is_none() {
            let asked = self.options.start.is_some();
            let definitions = &self.ast.definitions;
            let first = match asked {
                true => names_there_are(definitions.iter().map(|own| own.name.as_str())),
                false => definitions.first().map(|own| own.name.clone()),
            };
            // A text in which nothing could be read has been spoken of.
            if first.is_some() || !self.sink.has_errors() {
                let near = self.near(name);
                let place = definitions.first().filter(|_| !asked && near.is_none()).map_or(whole, |own| own.name_span);
                self.sink.report(place, Mistake::StartMissing { name: name.to_owned(), near, first, asked });
            }
        }
        found
    }

    fn make_rules(&mut self, start: usize) {
        let placeholder = self.grammar.expr(ExprKind::sequence([]), self.ast.definitions[start].name_span);
        let wanted: Vec<usize> = (0..self.ast.definitions.len())
            .filter(|&index| self.of_name[self.ast.definitions[index].name.as_str()] == index)
            .filter(|&index| index == start || self.regular[index].is_none())
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
            if self.is_too_large(self.ast.definitions[index].name_span) {
                return;
            }
        }
    }

    fn is_too_large(&mut self, span: Span) -> bool {
        let limits = self.options.limits;
        let mistake = if self.grammar.exprs.len() > limits.grammar_symbols_max {
            Mistake::SymbolsTooMany { limit: limits.grammar_symbols_max }
        } else if self.grammar.regexes.len() > limits.regex_nodes_max {
            Mistake::RegexNodesTooMany { limit: limits.regex_nodes_max }
        } else {
            return false;
        };
        self.sink.report(span, mistake);
        true
    }

    /// A definition's right-hand side.
    fn body(&mut self, index: usize) -> ExprId {
        let Definition { first, name_span, .. } = &self.ast.definitions[index];
        if let Some(regular) = self.regular[index] {
            let name = self.ast.definitions[index].name.clone();
            return self.terminal(regular, *name_span, || name);
        }
        let plain = nodes(self.ast, index, &self.of_name, &self.regular, &mut self.grammar.regexes);
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
                (None, NodeKind::Token { text, negated }) => Lowered::Expr(self.token(text, *negated, span)),
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
                (None, NodeKind::Literal(_) | NodeKind::Class(_)) => {
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
        let regex = regular.regex;
        if *self.grammar.regexes.node(regex) == RegexNode::Literal(Default::default()) {
            return self.grammar.expr(ExprKind::sequence([]), span);
        }
        let is_literal = matches!(self.grammar.regexes.node(regex), RegexNode::Literal(_));
        let terminals = &mut self.grammar.terminals;
        let terminal = *self
            .terminals
            .entry(regex)
            .or_insert_with(|| terminals.push(Terminal { is_literal, ..Terminal::new(name(), span, regex) }));
        self.grammar.expr(ExprKind::Terminal(terminal), span)
    }

    /// What stands side by side, with regexes joined as far as they do not get too large.
    fn sequence(&mut self, parts: Vec<Lowered>, span: Span) -> ExprId {
        let mut joined: Vec<Lowered> = Vec::with_capacity(parts.len());
        for part in parts {
            let both = match (joined.last(), &part) {
                (Some(&Lowered::Regex(left, from)), &Lowered::Regex(right, to)) => {
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
        match parts.as_slice() {
            &[only] => only,
            _ => self.grammar.expr(ExprKind::sequence(parts), span),
        }
    }

    /// Alternatives, with regexes put together as far as they do not get too large.
    fn choice(&mut self, parts: Vec<Lowered>, span: Span) -> ExprId {
        let mut ways: Vec<Lowered> = Vec::with_capacity(parts.len());
        let mut place: Option<usize> = None;
        for part in parts {
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
        match ways.as_slice() {
            &[only] => only,
            _ => {
                let ways = ways.into_iter().map(|expr| Alternative { expr, condition: None });
                self.grammar.expr(ExprKind::choice(ways), span)
            }
        }
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
