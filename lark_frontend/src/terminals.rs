//! Terminals to regexes: the order in which they refer to each other, and each construct's regex.

use larkspur_grammar::{
    CharClass, Dialect, LazyTail, LexemeRegex, RegexId, RegexNode, RegexOptions, Span, TextMap, parse_lexeme,
    parse_regex,
};
use rustc_hash::FxHashMap;

use crate::ast::{AstGrammar, Definition, NodeId, NodeKind};
use crate::error::{LimitMistake, LiteralMistake, NameMistake, TerminalMistake};
use crate::follows::Follows;
use crate::lower::{Lowerer, Symbol, Task, TerminalScope};
use crate::strings::{self, Written};
use crate::tokens;

/// Symbols by name, and where they are defined.
pub(crate) type Names<'a> = FxHashMap<&'a str, (Symbol, Span)>;

/// What a named terminal is made of.
#[derive(Clone, Copy)]
pub(crate) enum TerminalBody<'a> {
    Defined(&'a Definition),
    /// It was reported.
    Broken,
}

/// A terminal with a name.
pub(crate) struct NamedTerminal<'a> {
    pub name: &'a str,
    pub span: Span,
    body: TerminalBody<'a>,
    /// Set when its turn comes; until then nothing.
    pub regex: RegexId,
    pub is_literal: bool,
    pub used_in_terminal: bool,
    /// Made by `%declare`: no text matches it.
    pub is_declared: bool,
    /// See [`Common::lazy`](crate::common::Common::lazy); handed on by a terminal that is only another one.
    lazy: bool,
    /// It ends with a lazy quantifier.
    tail: Option<LazyTail>,
    /// Texts that not everything may follow.
    pub follows: Follows,
}

impl<'a> NamedTerminal<'a> {
    pub fn new(name: &'a str, span: Span, body: TerminalBody<'a>) -> Self {
        let regex = RegexId(0);
        Self {
            name,
            span,
            body,
            regex,
            is_literal: false,
            used_in_terminal: false,
            is_declared: false,
            lazy: false,
            tail: None,
            follows: Vec::new(),
        }
    }
    pub fn priority(&self) -> i32 {
        match self.body {
            TerminalBody::Defined(definition) => definition.priority,
            _ => 0,
        }
    }
    pub fn is_definition(&self) -> bool {
        matches!(self.body, TerminalBody::Defined(definition) if !definition.imported)
    }
    pub fn is_broken(&self) -> bool {
        matches!(self.body, TerminalBody::Broken)
    }
}

/// How far the search for cycles is with a terminal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    New,
    Open,
    Done,
}

impl<'a> Lowerer<'a, '_> {
    /// Named terminals, each behind those it refers to. Cycles are reported and broken.
    pub(crate) fn terminal_order(&mut self) -> Vec<usize> {
        let mut visits = vec![Visit::New; self.terminals.len()];
        let mut order = Vec::with_capacity(self.terminals.len());
        for root in 0..self.terminals.len() {
            if visits[root] != Visit::New {
                continue;
            }
            visits[root] = Visit::Open;
            // Terminals that are open, with the references that are left, last first, and where the next one stands.
            let mut path = vec![(root, self.terminal_references(root))];
            while let Some((index, references)) = path.last_mut() {
                let index = *index;
                let Some((next, span)) = references.pop() else {
                    visits[index] = Visit::Done;
                    order.push(index);
                    path.pop();
                    continue;
                };
                match visits[next] {
                    Visit::Done => {}
                    Visit::New => {
                        visits[next] = Visit::Open;
                        let references = self.terminal_references(next);
                        path.push((next, references));
                    }
                    Visit::Open => {
                        let begin =
                            path.iter().position(|&(open, _)| open == next).expect("open terminals are on the path");
                        let members: Vec<usize> = path[begin..].iter().map(|&(open, _)| open).collect();
                        self.report_cycle(&members, span);
                    }
                }
            }
        }
        order
    }

    fn report_cycle(&mut self, members: &[usize], closing: Span) {
        let first = members[0];
        let mut cycle: Vec<String> =
            members.iter().take(20).map(|&index| self.terminals[index].name.to_string()).collect();
        if members.len() > 20 {
            cycle.push("…".to_string());
        }
        cycle.push(self.terminals[first].name.to_string());
        let mistake = NameMistake::TerminalRecursive { cycle, closing };
        self.sink.report(self.terminals[first].span, mistake);
        members.iter().for_each(|&index| self.terminals[index].body = TerminalBody::Broken);
    }

    /// The named terminals that a terminal's body refers to, last first, and where.
    fn terminal_references(&self, index: usize) -> Vec<(usize, Span)> {
        let TerminalBody::Defined(definition) = self.terminals[index].body else { return Vec::new() };
        let ast = self.setting.ast;
        let mut found = Vec::new();
        let mut stack = vec![definition.body];
        while let Some(node) = stack.pop() {
            if let NodeKind::Terminal(name) | NodeKind::Rule(name, None) = &ast.nodes[node].kind
                && let Some(&(Symbol::Terminal(next), _)) = self.names.get(name.as_str())
            {
                found.push((next, ast.nodes[node].span));
            }
            stack.extend(ast.children(node));
        }
        found.sort_by_key(|(_, span)| std::cmp::Reverse(span.start));
        found
    }

    /// Lowers a named terminal whose references are lowered.
    pub(crate) fn named_terminal(&mut self, index: usize) {
        let regex = match self.terminals[index].body {
            // Where blocks begin and end there is no text.
            TerminalBody::Broken if self.indenter.is_some_and(|marks| marks.contains(&index)) => {
                self.grammar.regexes.epsilon()
            }
            TerminalBody::Broken => self.grammar.regexes.nothing(),
            TerminalBody::Defined(definition) => {
                if let NodeKind::Common(common) = self.setting.ast.nodes[definition.body].kind {
                    self.terminals[index].lazy = crate::common::get(common).lazy;
                }
                self.scope = TerminalScope::Definition;
                self.terminals[index].is_literal = self.is_literal(definition.body);
                if let Some(inner) = self.only_terminal(definition.body) {
                    self.terminals[index].lazy = self.terminals[inner].lazy;
                }
                let regex = self.terminal(definition.body);
                self.terminals[index].tail = self.tail(definition.body);
                self.terminals[index].follows = self.follows_of(definition.body).to_vec();
                regex
            }
        };
        self.terminals[index].regex = regex;
    }

    /// The named terminal that a node is, in any number of parentheses.
    pub(crate) fn only_terminal(&self, mut node: NodeId) -> Option<usize> {
        loop {
            match &self.setting.ast.nodes[node].kind {
                NodeKind::Group(inner) => node = *inner,
                NodeKind::Terminal(name) | NodeKind::Rule(name, None) => match self.names.get(name.as_str()) {
                    Some(&(Symbol::Terminal(index), _)) => return Some(index),
                    _ => return None,
                },
                _ => return None,
            }
        }
    }

    /// Whether a node is one string, itself or by name.
    pub(crate) fn is_literal(&self, mut node: NodeId) -> bool {
        while let NodeKind::Group(inner) = self.setting.ast.nodes[node].kind {
            node = inner;
        }
        match self.setting.ast.nodes[node].kind {
            NodeKind::String => true,
            _ => self.only_terminal(node).is_some_and(|index| self.terminals[index].is_literal),
        }
    }

    /// How a node goes on that ends with a lazy quantifier.
    fn tail(&self, mut node: NodeId) -> Option<LazyTail> {
        while let NodeKind::Group(inner) = self.setting.ast.nodes[node].kind {
            node = inner;
        }
        match self.only_terminal(node) {
            Some(index) => self.terminals[index].tail,
            None => self.lazy_tails.get(&node).copied(),
        }
    }

    /// A lazy terminal of `common` that nothing follows in its terminal takes what it can, any other one what it must.
    pub(crate) fn warn_of_lazy(&mut self, index: usize, span: Span) {
        let NamedTerminal { name, lazy, tail, .. } = &self.terminals[index];
        if *lazy || tail.is_some() {
            self.sink.report(span, TerminalMistake::LazyAlone { name: name.to_string(), least: !lazy });
        }
    }

    /// The same for a terminal that is written in a rule.
    pub(crate) fn warn_of_lazy_node(&mut self, node: NodeId, span: Span) {
        if self.tail(node).is_some() {
            self.sink.report(span, TerminalMistake::LazyAlone { name: self.text(span).to_string(), least: true });
        }
    }

    /// The regex of a node that is or has to be part of a terminal.
    pub(crate) fn terminal(&mut self, root: NodeId) -> RegexId {
        let ast = self.setting.ast;
        let mut agenda = vec![Task::Enter(root)];
        let mut done: Vec<RegexId> = Vec::new();
        while let Some(visit) = agenda.pop() {
            match visit {
                Task::Enter(node) if self.too_many_nodes(ast.nodes[node].span) => {
                    done.push(self.grammar.regexes.nothing());
                }
                Task::Enter(node) => match &ast.nodes[node].kind {
                    NodeKind::Choice(_) | NodeKind::Sequence(_) | NodeKind::And(_) => {
                        agenda.push(Task::Leave(node));
                        agenda.extend(ast.children(node).into_iter().rev().map(Task::Enter));
                    }
                    NodeKind::Repeat(inner, ..) | NodeKind::Complement(inner) | NodeKind::Group(inner) => {
                        agenda.extend([Task::Leave(node), Task::Enter(*inner)]);
                    }
                    _ => done.push(self.terminal_leaf(node)),
                },
                Task::Leave(node) => {
                    let parts = done.split_off(done.len() - ast.child_count(node));
                    done.push(self.terminal_joined(node, &parts));
                }
            }
        }
        done.pop().expect("the root is done")
    }

    /// A node whose children are lowered.
    fn terminal_joined(&mut self, node: NodeId, parts: &[RegexId]) -> RegexId {
        let ast = self.setting.ast;
        let span = ast.nodes[node].span;
        if !matches!(ast.nodes[node].kind, NodeKind::Sequence(_) | NodeKind::Group(_)) {
            for child in ast.children(node) {
                if self.tail(child).is_some() {
                    self.sink.report(ast.nodes[child].span, TerminalMistake::LazyUnclear { reason: LAZY_PLACE });
                }
            }
        }
        match &ast.nodes[node].kind {
            NodeKind::Choice(_) | NodeKind::Repeat(_, 0, Some(1)) => self.choice_follows(node, &ast.children(node)),
            NodeKind::Sequence(_) | NodeKind::Group(_) => {}
            _ => ast.children(node).into_iter().for_each(|child| self.no_follows(child)),
        }
        match &ast.nodes[node].kind {
            NodeKind::Choice(alternatives) => {
                for alternative in alternatives {
                    if let (Some(alias), TerminalScope::Definition) = (&alternative.alias, &self.scope) {
                        self.sink.report(alias.span, TerminalMistake::AliasInTerminal);
                    }
                    if let Some((_, span)) = alternative.condition {
                        self.sink.report(span, TerminalMistake::ConditionInTerminal);
                    }
                }
                if self.may_join(parts, span) { self.grammar.regexes.or(parts) } else { self.grammar.regexes.nothing() }
            }
            NodeKind::And(_) if self.may_join(parts, span) => self.grammar.regexes.and(parts),
            NodeKind::And(_) => self.grammar.regexes.nothing(),
            NodeKind::Repeat(_, 0, Some(1)) => self.grammar.regexes.optional(parts[0]),
            NodeKind::Repeat(_, min, max) => self.grammar.regexes.repeat(parts[0], *min, *max),
            NodeKind::Complement(_) if self.grammar.options.allow_invalid_utf8 => self.grammar.regexes.not(parts[0]),
            NodeKind::Complement(_) => self.grammar.regexes.complement(parts[0]),
            NodeKind::Group(_) => parts[0],
            NodeKind::Sequence(nodes) => self.terminal_sequence(node, nodes, parts, span),
            _ => unreachable!("has no children to lower"),
        }
    }

    pub fn terminal_leaf(&mut self, node: NodeId) -> RegexId {
        let ast = self.setting.ast;
        let span = ast.nodes[node].span;
        match &ast.nodes[node].kind {
            NodeKind::Rule(name, _) | NodeKind::Terminal(name) => self.terminal_reference(name, span),
            NodeKind::String => self.string_regex(span),
            NodeKind::Regex => self.regex_literal(node, span),
            NodeKind::Range(low, high) => self.range(*low, *high, span),
            NodeKind::RegexJson(json) => self.regex_json(*json, span),
            NodeKind::Common(index) => {
                let regex = crate::common::get(*index).regex;
                self.regex(regex, &TextMap::new(span.source), &RegexOptions::new(Dialect::Python))
            }
            NodeKind::Json(_) => self.not_in_terminal("`%json`", span),
            NodeKind::Inner(..) => self.not_in_terminal("a grammar in another language", span),
            NodeKind::Lark(_) => self.not_in_terminal("`%lark`", span),
            NodeKind::GrammarRef => self.not_in_terminal("a grammar reference", span),
            NodeKind::Token => self.not_in_terminal("a special token", span),
            NodeKind::Broken(names) => {
                self.broken(names);
                self.grammar.regexes.nothing()
            }
            _ => self.grammar.regexes.nothing(),
        }
    }

    /// What follows a lazy terminal ends it: `min(inner rest)`.
    fn terminal_sequence(&mut self, node: NodeId, parts: &[NodeId], regexes: &[RegexId], span: Span) -> RegexId {
        if !self.may_join(regexes, span) {
            return self.grammar.regexes.nothing();
        }
        let follows = parts.iter().any(|&part| !self.follows_of(part).is_empty());
        let last = parts.len().saturating_sub(1);
        // The lazy parts that something follows: those of `common`, and those with a tail.
        let mut lazy_parts: Vec<(usize, Option<LazyTail>)> = Vec::new();
        for (at, &part) in parts.iter().enumerate() {
            let common = self.only_terminal(part).filter(|&index| self.terminals[index].lazy);
            match (common, self.tail(part)) {
                (Some(index), _) if at == last => self.warn_of_lazy(index, self.setting.ast.nodes[part].span),
                (Some(_), _) => lazy_parts.push((at, None)),
                (None, Some(tail)) if at == last && lazy_parts.is_empty() => {
                    let before: Vec<RegexId> = regexes[..at].iter().copied().chain([tail.before]).collect();
                    let before = self.grammar.regexes.concat(&before);
                    self.lazy_tails.insert(node, LazyTail { before, ..tail });
                }
                (None, Some(_)) if at == last => {
                    let place = self.setting.ast.nodes[part].span;
                    self.sink.report(place, TerminalMistake::LazyUnclear { reason: LAZY_PLACE });
                }
                (None, tail) => lazy_parts.extend(tail.map(|tail| (at, Some(tail)))),
            }
        }
        if follows && lazy_parts.is_empty() {
            return self.sequence_follows(node, parts, regexes);
        } else if follows {
            parts.iter().for_each(|&part| self.no_follows(part));
        }
        if lazy_parts.len() > LAZY_PARTS_MAX {
            self.sink.report(span, TerminalMistake::LazyUnclear { reason: "there are too many in one terminal" });
            lazy_parts.clear();
        }
        let mut end = parts.len();
        let mut rest = self.grammar.regexes.epsilon();
        while let Some((at, tail)) = lazy_parts.pop() {
            let start = lazy_parts.last().map_or(0, |&(before, _)| before + 1);
            let set = &mut self.grammar.regexes;
            let behind: Vec<RegexId> = regexes[at + 1..end].iter().copied().chain([rest]).collect();
            let behind = set.concat(&behind);
            let own = tail.map_or(set.epsilon(), |tail| tail.before);
            let before: Vec<RegexId> = regexes[start..at].iter().copied().chain([own]).collect();
            let before = set.concat(&before);
            rest = match tail {
                Some(tail) => match (LazyTail { before, ..tail }).then(behind, set, self.setting.limits) {
                    Ok(regex) => regex,
                    Err(error) => {
                        let place = self.setting.ast.nodes[parts[at]].span;
                        self.sink.report(place, TerminalMistake::LazyUnclear { reason: error.reason() });
                        behind
                    }
                },
                None => {
                    let all = set.concat(&[regexes[at], behind]);
                    let shortest = set.shortest(all);
                    set.concat(&[before, shortest])
                }
            };
            end = start;
        }
        let all: Vec<RegexId> = regexes[..end].iter().copied().chain([rest]).collect();
        self.grammar.regexes.concat(&all)
    }

    pub(crate) fn not_in_terminal(&mut self, what: &'static str, span: Span) -> RegexId {
        let mistake = match &self.scope {
            TerminalScope::Attribute { attribute, rule, span } => {
                TerminalMistake::AttributeNeedsTerminal { attribute, rule: rule.clone(), attribute_span: *span }
            }
            _ => TerminalMistake::NotInTerminal { what },
        };
        self.sink.report(span, mistake);
        self.grammar.regexes.nothing()
    }

    fn terminal_reference(&mut self, name: &str, span: Span) -> RegexId {
        match self.names.get(name) {
            Some(&(Symbol::Terminal(index), _)) if self.terminals[index].is_declared => {
                return self.not_in_terminal("a declared terminal", span);
            }
            Some(&(Symbol::Terminal(index), _)) => {
                self.terminals[index].used_in_terminal = true;
                return self.terminals[index].regex;
            }
            Some(&(Symbol::Rule(_), _)) => {
                let mistake = match &self.scope {
                    TerminalScope::Attribute { attribute, rule, span } => {
                        TerminalMistake::AttributeNeedsTerminal { attribute, rule: rule.clone(), attribute_span: *span }
                    }
                    scope => TerminalMistake::RuleInTerminal {
                        name: name.to_string(),
                        terminal: matches!(scope, TerminalScope::Definition),
                    },
                };
                self.sink.report(span, mistake);
            }
            None => self.undefined(name, span),
        }
        self.grammar.regexes.nothing()
    }
}

// Literals.
impl Lowerer<'_, '_> {
    fn written(&self, node: NodeId) -> Written<'_> {
        let span = self.setting.ast.nodes[node].span;
        Written { text: self.text(span), span }
    }

    /// The text of a string that is a name.
    pub(crate) fn string_value(&mut self, node: NodeId) -> String {
        let span = self.setting.ast.nodes[node].span;
        let text = self.text(span);
        Written { text, span }.decode(self.is_rust(span), self.sink)
    }

    fn string_regex(&mut self, span: Span) -> RegexId {
        let written = Written { text: self.text(span), span };
        let text = written.decode(self.is_rust(span), self.sink);
        if written.ignores_case() {
            strings::ignore_case(&text, &mut self.grammar.regexes)
        } else {
            self.grammar.regexes.literal(text.as_bytes())
        }
    }

    /// Literals that stand in no rule, for the sake of their mistakes.
    pub(crate) fn unused_bodies(&mut self, grammar: &AstGrammar) {
        let ast = self.setting.ast;
        let mut stack = grammar.unused.clone();
        while let Some(node) = stack.pop() {
            match ast.nodes[node].kind {
                NodeKind::String | NodeKind::Regex | NodeKind::Range(..) | NodeKind::RegexJson(_) => {
                    self.terminal_leaf(node);
                }
                NodeKind::Token => {
                    _ = tokens::token_set(self.text(ast.nodes[node].span), ast.nodes[node].span, self.sink)
                }
                _ => stack.extend(ast.children(node)),
            }
        }
    }

    fn range(&mut self, low: NodeId, high: NodeId, span: Span) -> RegexId {
        let mut bounds = Vec::new();
        for node in [low, high] {
            let flagged = self.written(node).ignores_case();
            let place = self.setting.ast.nodes[node].span;
            let mut text = self.string_value(node);
            if flagged {
                self.sink.report(place, LiteralMistake::RangeFlag);
            }
            match (text.pop(), text.is_empty()) {
                (Some(c), true) => bounds.push(c),
                _ if self.sink.has_error_in(place) => {}
                _ => self.sink.report(place, LiteralMistake::RangeBound),
            }
        }
        match *bounds.as_slice() {
            [low, high] if low <= high => {
                self.grammar.regexes.class(CharClass::from_ranges([(low as u32, high as u32)]))
            }
            [low, high] => {
                self.sink.report(span, LiteralMistake::RangeOrder { low, high });
                self.grammar.regexes.nothing()
            }
            _ => self.grammar.regexes.nothing(),
        }
    }

    fn regex_literal(&mut self, node: NodeId, span: Span) -> RegexId {
        let text = self.text(span);
        let end = text.rfind('/').expect("a regex has two slashes");
        let (pattern, flags) = (&text[1..end], &text[end + 1..]);
        if let Some(at) = flags.find('l') {
            let start = span.start as usize + end + 1 + at;
            self.sink.report(Span::new(span.source, start, start + 1), LiteralMistake::RegexFlag);
        }
        let options = RegexOptions {
            ignore_case: flags.contains('i'),
            multi_line: flags.contains('m'),
            dot_all: flags.contains('s'),
            verbose: flags.contains('x'),
            bytes: self.grammar.options.allow_invalid_utf8,
            whole: self.whole_lexemes.contains(&node),
            ..RegexOptions::new(if self.is_rust(span) { Dialect::Rust } else { Dialect::Python })
        };
        let map = TextMap::verbatim(span.source, span.start as usize + 1);
        let mut warnings = Vec::new();
        let limits = self.setting.limits;
        let result = parse_lexeme(pattern, &map, &options, limits, &mut self.grammar.regexes, &mut warnings);
        self.sink.extend(warnings);
        match result {
            Ok(LexemeRegex { regex, tail, looking }) => {
                if let Some(tail) = tail {
                    self.lazy_tails.insert(node, tail);
                }
                self.set_follows(node, looking);
                regex
            }
            Err(diagnostics) => {
                self.sink.extend(diagnostics);
                self.grammar.regexes.nothing()
            }
        }
    }

    /// A regex without lazy quantifiers.
    fn regex(&mut self, text: &str, map: &TextMap, options: &RegexOptions) -> RegexId {
        let mut warnings = Vec::new();
        let result = parse_regex(text, map, options, self.setting.limits, &mut self.grammar.regexes, &mut warnings);
        self.sink.extend(warnings);
        match result {
            Ok(id) => id,
            Err(diagnostics) => {
                self.sink.extend(diagnostics);
                self.grammar.regexes.nothing()
            }
        }
    }

    /// Whether the table of regexes is over its limit, which is said once.
    fn too_many_nodes(&mut self, span: Span) -> bool {
        let limit = self.setting.limits.regex_nodes_max;
        let over = self.grammar.regexes.len() > limit || self.joined > limit.saturating_mul(COPIES_PER_NODE);
        if over && !self.regexes_reported {
            self.regexes_reported = true;
            self.sink.report(span, LimitMistake::RegexNodesTooMany { limit });
        }
        over
    }

    /// Counts what joining `parts` copies, since literals are joined and lists are flattened: terminals that refer to
    /// each other twice would double with each step.
    fn may_join(&mut self, parts: &[RegexId], span: Span) -> bool {
        let size = |&part: &RegexId| match self.grammar.regexes.node(part) {
            RegexNode::Literal(bytes) => bytes.len() / 4,
            node => node.children().len(),
        };
        self.joined = parts.iter().map(size).fold(self.joined, usize::saturating_add);
        !self.too_many_nodes(span)
    }
}

/// Where a regex that ends with a lazy quantifier has no meaning.
const LAZY_PLACE: &str = "what ends it does not stand right behind it in its terminal";

/// Parts of one sequence that end with lazy quantifiers at most.
const LAZY_PARTS_MAX: usize = 16;

/// Four bytes of a literal count as one copy; more copies than these for each node that is allowed are a limit, too.
const COPIES_PER_NODE: usize = 8;
