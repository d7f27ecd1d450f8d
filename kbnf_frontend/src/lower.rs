//! [`Ast`] to [`Grammar`]: nonterminals become rules, strings and patterns terminals.

use larkspur_grammar::definitions::{ReadOptions, Terminals, is_too_large};
use larkspur_grammar::diagnostic::{Near, TooMuch};
use larkspur_grammar::substring::{self, substring};
use larkspur_grammar::{
    Dialect, ExprId, ExprKind, Grammar, GrammarOptions, IgnoreEdges, LexerMode, RegexId, RegexOptions, Rule, RuleId,
    Span, Terminal, Unproductive, index::Id, name_in_groups, parse_regex,
};
use rustc_hash::FxHashMap;

use crate::START;
use crate::ast::{Excluded, NodeId, NodeKind, PatternKind, Symbol, Text, Tree};
use crate::error::{Mistake, Sink};
use crate::lexer::is_name;
use crate::only_empty::is_only_empty;

struct Lowerer<'a, 's> {
    text: &'a str,
    ast: &'a Tree,
    options: &'a ReadOptions<'a>,
    sink: &'s mut Sink,
    grammar: Grammar,
    /// The definitions of each name, by index.
    of_name: FxHashMap<&'a str, Vec<usize>>,
    rules: FxHashMap<&'a str, RuleId>,
    terminals: Terminals,
    /// What `except!` excludes by name; `None` for what was reported.
    excluded: FxHashMap<&'a str, Option<RegexId>>,
}

/// Lowers a text. `whole` is where a mistake without a place of its own is shown.
pub(crate) fn lower(text: &str, ast: &Tree, options: &ReadOptions, whole: Span, sink: &mut Sink) -> Grammar {
    let mut grammar = Grammar::new(options.name);
    grammar.regexes.set_look_work(options.look_work);
    grammar.options = GrammarOptions {
        lexer: LexerMode::Exact,
        ignore_edges: IgnoreEdges::None,
        allow_invalid_utf8: true,
        unproductive: Unproductive::Allow,
        ..GrammarOptions::default()
    };
    let mut of_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, definition) in ast.definitions.iter().enumerate() {
        of_name.entry(&definition.name).or_default().push(index);
    }
    let mut lowerer = Lowerer {
        text,
        ast,
        options,
        sink,
        grammar,
        of_name,
        rules: FxHashMap::default(),
        terminals: Terminals::default(),
        excluded: FxHashMap::default(),
    };
    lowerer.check_names();
    let start = lowerer.start(whole);
    lowerer.make_rules(start.unwrap_or_default());
    let Some(start) = start.filter(|_| !lowerer.sink.has_errors()) else { return lowerer.grammar };
    lowerer.grammar.start = lowerer.rules[start];
    if is_only_empty(&lowerer.grammar) {
        let span = lowerer.grammar.rules[lowerer.grammar.start].span;
        lowerer.sink.report(span, Mistake::OnlyEmpty { name: start.to_owned() });
    }
    lowerer.grammar
}

impl<'a> Lowerer<'a, '_> {
    fn check_names(&mut self) {
        for node in self.ast.nodes.iter() {
            let (name, span) = match &node.kind {
                NodeKind::Name(name) => (name, name_in_groups(self.text, name, node.span)),
                NodeKind::Symbol(Symbol::Except(Excluded::Name(name, span), _)) => (name, *span),
                _ => continue,
            };
            // What is wrong with a name that is none has been said.
            if !self.of_name.contains_key(name.as_str()) && is_name(name) && !self.ast.is_unread(name) {
                // What is only counted needs no help.
                let near = match name.as_str() {
                    _ if !self.sink.has_room() => None,
                    "any" => Some(Near { name: "any!".to_owned(), defined: None }),
                    "except" => Some(Near { name: "except!(…)".to_owned(), defined: None }),
                    _ => self.ast.near(name),
                };
                self.sink.report(span, Mistake::NameUndefined { name: name.clone(), near });
            }
        }
    }

    /// The name of the start; `None` if it has no definition.
    fn start(&mut self, whole: Span) -> Option<&'a str> {
        let name = self.options.start.unwrap_or(START);
        let found = self.of_name.get_key_value(name).map(|(&name, _)| name);
        if found.is_none() {
            self.ast.report_no_start(self.options, START, whole, self.sink);
        }
        found
    }

    /// One rule for each name. A name that only `except!` uses is none, so that nobody is told that it is not used.
    fn make_rules(&mut self, start: &str) {
        let mut is_excluded: FxHashMap<&str, bool> = FxHashMap::default();
        for node in self.ast.nodes.iter() {
            match &node.kind {
                NodeKind::Symbol(Symbol::Except(Excluded::Name(name, _), _)) => {
                    _ = is_excluded.entry(name).or_insert(true)
                }
                NodeKind::Name(name) => _ = is_excluded.insert(name, false),
                _ => {}
            }
        }
        let Some(first) = self.ast.definitions.first() else { return };
        let placeholder = self.grammar.empty(first.name_span);
        let mut made: Vec<(&'a str, RuleId)> = Vec::new();
        for definition in &self.ast.definitions {
            let name = definition.name.as_str();
            let is_only_excluded = name != start && is_excluded.get(name) == Some(&true);
            if is_only_excluded || self.rules.contains_key(name) {
                continue;
            }
            let rule = self.grammar.rules.push(Rule::new(name, definition.name_span, placeholder));
            self.rules.insert(name, rule);
            made.push((name, rule));
        }
        for (name, rule) in made {
            let definitions = self.of_name[name].clone();
            let bodies: Vec<ExprId> = definitions.into_iter().map(|index| self.body(index)).collect();
            let span = self.grammar.rules[rule].span;
            self.grammar.rules[rule].body = self.grammar.choice(bodies, span);
            if is_too_large(&self.grammar, span, self.options.limits, self.sink) {
                return;
            }
        }
    }

    /// A definition's right-hand side.
    fn body(&mut self, index: usize) -> ExprId {
        let ast = self.ast;
        let first = ast.definitions[index].first;
        let mut lowered: Vec<ExprId> = Vec::new();
        for id in ast.definitions[index].nodes() {
            let span = ast.nodes[id].span;
            let of = |child: &NodeId| lowered[child.index() - first.index()];
            let expr = match &ast.nodes[id].kind {
                NodeKind::Sequence(parts) => {
                    let parts: Vec<ExprId> = parts.iter().map(of).collect();
                    self.grammar.expr(ExprKind::sequence(parts), span)
                }
                NodeKind::Choice(parts) => {
                    let parts = parts.iter().map(of).collect();
                    self.grammar.choice(parts, span)
                }
                NodeKind::Repeat(child, min, max) => {
                    let child = of(child);
                    self.grammar.expr(ExprKind::Repeat(child, *min, *max), span)
                }
                NodeKind::Name(name) => match self.rules.get(name.as_str()) {
                    Some(&rule) => self.grammar.expr(ExprKind::Rule(rule, None), span),
                    None => self.grammar.empty(span),
                },
                NodeKind::Symbol(Symbol::Literal(text)) => {
                    let regex = self.grammar.regexes.literal(text.as_bytes());
                    self.terminal(regex, span)
                }
                NodeKind::Symbol(Symbol::Any) => {
                    let regex = self.grammar.regexes.any_char();
                    self.terminal(regex, span)
                }
                NodeKind::Symbol(Symbol::Pattern(kind, text)) => match self.pattern(*kind, text, span) {
                    Some(regex) => self.terminal(regex, span),
                    None => self.grammar.empty(span),
                },
                NodeKind::Symbol(Symbol::Except(excluded, max)) => match self.except(excluded, *max, span) {
                    Some(regex) => self.terminal(regex, span),
                    None => self.grammar.empty(span),
                },
            };
            lowered.push(expr);
        }
        lowered.pop().expect("the body")
    }

    /// A terminal named by the text's part that it is.
    fn terminal(&mut self, regex: RegexId, span: Span) -> ExprId {
        let written = &self.text[span.start as usize..span.end as usize];
        self.terminals.expr(&mut self.grammar, regex, span, || Terminal::name_as_written(written))
    }

    /// `None` if a mistake was reported.
    fn pattern(&mut self, kind: PatternKind, text: &Text, span: Span) -> Option<RegexId> {
        let limits = self.options.limits;
        let set = &mut self.grammar.regexes;
        if kind == PatternKind::Substrings {
            let regex = substring(&substring::bytes(&text.value), limits, set);
            if let Err(error) = regex {
                self.sink.report(span, TooMuch::RegexNodes { limit: error.limit });
            }
            return regex.ok();
        }
        let mut warnings = Vec::new();
        let options = RegexOptions::new(Dialect::Rust);
        let regex = parse_regex(&text.value, &text.map, &options, limits, set, &mut warnings);
        self.sink.extend(warnings);
        let regex = match regex {
            Ok(regex) => regex,
            Err(errors) => {
                self.sink.extend(errors);
                return None;
            }
        };
        Some(match kind {
            PatternKind::Early => {
                let some = self.some_bytes(None);
                let texts = self.grammar.regexes.and(&[regex, some]);
                self.grammar.regexes.shortest(texts)
            }
            PatternKind::Complement => self.without(regex, None),
            _ => regex,
        })
    }

    /// One byte or more.
    fn some_bytes(&mut self, max: Option<u32>) -> RegexId {
        let any = self.grammar.regexes.any_byte();
        self.grammar.regexes.repeat(any, 1, max)
    }

    /// `.+ & ~(.*regex.*)` over bytes.
    fn without(&mut self, regex: RegexId, max: Option<u32>) -> RegexId {
        let some = self.some_bytes(max);
        let set = &mut self.grammar.regexes;
        let byte = set.any_byte();
        let bytes = set.repeat(byte, 0, None);
        let with = set.concat(&[bytes, regex, bytes]);
        let without = set.not(with);
        set.and(&[some, without])
    }

    /// `None` if a mistake was reported.
    fn except(&mut self, excluded: &'a Excluded, max: Option<u32>, span: Span) -> Option<RegexId> {
        let limit = self.options.limits.repeat_max;
        let regex = match excluded {
            Excluded::Literal(text) => self.grammar.regexes.literal(text.as_ref()?.as_bytes()),
            Excluded::Name(name, place) => match self.excluded.get(name.as_str()) {
                Some(&known) => known?,
                None => {
                    let regex = self.strings(name, *place);
                    self.excluded.insert(name, regex);
                    regex?
                }
            },
        };
        let mistake = if self.grammar.regexes.info(regex).nullable {
            Mistake::ExceptNothingLeft { reason: "every text holds the empty text" }
        } else if max == Some(0) {
            Mistake::ExceptNothingLeft { reason: "it has at least one byte" }
        } else if max.is_some_and(|max| max > limit) {
            TooMuch::Count { limit, what: "byte" }.into()
        } else {
            return Some(self.without(regex, max));
        };
        self.sink.report(span, mistake);
        None
    }

    /// The strings that a nonterminal consists of; `None` if it is not defined, or holds something else, which is then
    /// reported.
    fn strings(&mut self, name: &str, place: Span) -> Option<RegexId> {
        let ast = self.ast;
        let mut texts = Vec::new();
        let mut open: Vec<NodeId> = self.of_name.get(name)?.iter().map(|&index| ast.definitions[index].body).collect();
        while let Some(node) = open.pop() {
            match &ast.nodes[node].kind {
                NodeKind::Symbol(Symbol::Literal(text)) => texts.push(self.grammar.regexes.literal(text.as_bytes())),
                NodeKind::Choice(ways) => open.extend(ways),
                _ => {
                    let part = ast.nodes[node].span;
                    self.sink.report(place, Mistake::ExceptNotStrings { name: name.to_owned(), part });
                    return None;
                }
            }
        }
        Some(self.grammar.regexes.or(&texts))
    }
}
