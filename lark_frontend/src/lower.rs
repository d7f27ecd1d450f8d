//! [`Ast`] to [`Grammar`]: names are resolved, terminals become regexes, attributes become tails and captures.
//!
//! Every definition is lowered, used or not, and lowering goes on after a mistake.
//! Nodes are lowered children first from a list of what is left to do, and nested grammars behind what they stand in, so
//! that nothing recurses.

use larkspur_grammar::{
    Alternative, CharClass, Condition, ConditionId, Embed, EmbedId, EmbedKind, Expr, ExprId, ExprKind, Grammar,
    GrammarOptions, Indenter, IndexVec, LazyTail, LexerMode, Limits, ParamExpr, RegexId, Rule, RuleId, SourceMap, Span,
    Terminal, TerminalId, TokenItem, TokenSet, TokenSetId, index::Id,
};
use std::collections::VecDeque;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ast::{Ast, AstGrammar, AstGrammarId, Definition, Item, Name, NodeId, NodeKind};
use crate::error::{
    ImportMistake, LexerMistake, LiteralMistake, NameMistake, Near, NoStart, ParameterMistake, Sink, near,
};
use crate::follows::Follows;
use crate::foreign::{Foreign, is_flag};
use crate::ignored::{blanks, first_ascii, runs, without};
use crate::lexer::class_at;
use crate::terminals::{NamedTerminal, Names, TerminalBody};
use crate::{options, tokens, whole};

/// The rule that a text starts with.
const START: &str = "start";

/// What a nested grammar takes over from the text around it.
#[derive(Clone)]
pub(crate) struct Setting<'a> {
    pub sources: &'a SourceMap,
    pub ast: &'a Ast,
    pub limits: &'a Limits,
    /// Options where the grammar sets none.
    pub defaults: GrammarOptions,
    /// The caller's choice, which beats the grammar's.
    pub lexer: Option<LexerMode>,
    /// Whether this grammar stands in `%lark { … }`.
    pub nested: bool,
}

/// A nested grammar that is still to be lowered.
pub(crate) struct Nested<'a> {
    grammar: AstGrammarId,
    setting: Setting<'a>,
    name: String,
    span: Span,
    /// The embed that it belongs to, in the grammar that it stands in.
    embed: EmbedId,
}

/// Lowers the text's own grammar and those nested in it. `whole` is where a mistake without a place of its own is shown.
/// `look_work` is what look-arounds have taken.
pub(crate) fn lower(
    setting: Setting,
    name: &str,
    start: Option<&str>,
    whole: Span,
    look_work: &mut u64,
    sink: &mut Sink,
) -> Grammar {
    let (root, mut agenda) = lower_one(&setting, AstGrammarId(0), name, start, whole, look_work, sink);
    let mut grammars = vec![root];
    // Where each of `grammars` but the first belongs, and the nested grammars of each.
    let mut places: Vec<(usize, EmbedId)> = Vec::new();
    let mut pending: VecDeque<(usize, Nested)> = agenda.drain(..).map(|nested| (0, nested)).collect();
    while let Some((outer, nested)) = pending.pop_front() {
        let Nested { grammar, setting, name, span, embed } = nested;
        let (inner, more) = lower_one(&setting, grammar, &name, None, span, look_work, sink);
        places.push((outer, embed));
        pending.extend(more.into_iter().map(|nested| (grammars.len(), nested)));
        grammars.push(inner);
    }
    // Each stands behind the one that it belongs in.
    while let Some((outer, embed)) = places.pop() {
        let inner = grammars.pop().expect("one for each place");
        grammars[outer].embeds[embed].kind = EmbedKind::Inline(Box::new(inner));
    }
    grammars.pop().expect("the text's own grammar is left")
}

/// Lowers one grammar; those nested in it are returned.
fn lower_one<'a>(
    setting: &Setting<'a>,
    id: AstGrammarId,
    name: &str,
    start: Option<&str>,
    whole: Span,
    look_work: &mut u64,
    sink: &mut Sink,
) -> (Grammar, Vec<Nested<'a>>) {
    let grammar = &setting.ast.grammars[id];
    let options::Read { mut options, bindings, indenter } =
        options::read(setting.ast, grammar, setting.defaults.clone(), setting.nested, sink);
    if let Some(lexer) = setting.lexer {
        options.lexer = lexer;
    }
    let whole_lexemes = match options.lexer {
        LexerMode::Longest => whole::regexes(setting.ast, grammar, &indenter.newline),
        LexerMode::Exact => FxHashSet::default(),
    };
    let mut lowerer = Lowerer {
        setting,
        sink,
        whole_lexemes,
        grammar: Grammar { options, ..Grammar::new(name) },
        nested: Vec::new(),
        names: FxHashMap::default(),
        rules: Vec::new(),
        inner_rules: Vec::new(),
        terminals: Vec::new(),
        bindings,
        anonymous: FxHashMap::default(),
        lazy_tails: FxHashMap::default(),
        follows: FxHashMap::default(),
        beside: FxHashMap::default(),
        indenter: None,
        token_sets: FxHashMap::default(),
        rule: RuleContext { parametric: false, uses_parameter: false },
        scope: TerminalScope::Definition,
        joined: 0,
        regexes_reported: false,
    };
    lowerer.grammar.regexes.set_look_work(*look_work);
    lowerer.declare(grammar);
    lowerer.find_blocks(&indenter);
    lowerer.named_terminals();
    lowerer.named_follows();
    lowerer.ignored(grammar);
    lowerer.rule_bodies();
    lowerer.unused_bodies(grammar);
    lowerer.start(start, whole, grammar.has_unread);
    let nested = std::mem::take(&mut lowerer.nested);
    lowerer.blocks(&indenter);
    lowerer.leave_out_ignored_blanks();
    let grammar = lowerer.finish();
    *look_work = grammar.regexes.look_work();
    (grammar, nested)
}

/// What a name stands for.
#[derive(Clone, Copy)]
pub(crate) enum Symbol {
    Rule(usize),
    Terminal(usize),
}

/// Why something has to be a terminal: decides what is said if it is none.
#[derive(Clone)]
pub(crate) enum TerminalScope {
    /// It stands in a terminal's definition or in `%ignore`.
    Definition,
    /// It is an operand of `&` or `~` in a rule.
    Operator,
    /// It is the body of a rule with this attribute.
    Attribute { attribute: &'static str, rule: String, span: Span },
}

struct RuleContext {
    parametric: bool,
    uses_parameter: bool,
}

pub(crate) struct Lowerer<'a, 's> {
    pub setting: &'s Setting<'a>,
    pub sink: &'s mut Sink,
    /// Regexes that are lexemes as they stand and are taken as long as they go on.
    pub whole_lexemes: FxHashSet<NodeId>,
    pub grammar: Grammar,
    /// Nested grammars met so far.
    nested: Vec<Nested<'a>>,
    /// Symbols by name.
    pub names: Names<'a>,
    /// Definitions of the rules; a rule's id is its index.
    rules: Vec<&'a Definition>,
    /// Rules that lowering adds; their ids follow those of `rules`.
    inner_rules: Vec<Rule>,
    /// Named terminals, in order of definition; a named terminal's id is its index.
    pub terminals: Vec<NamedTerminal<'a>>,
    /// Tokens that declared terminals stand for.
    pub bindings: options::Bindings,
    /// Terminals without attributes by regex, and whether they were written as a string.
    anonymous: FxHashMap<(RegexId, bool), TerminalId>,
    /// How regexes and sequences go on that end with a lazy quantifier.
    pub lazy_tails: FxHashMap<NodeId, LazyTail>,
    /// Texts of regexes, choices and sequences that not everything may follow.
    pub follows: FxHashMap<NodeId, Follows>,
    /// Terminals that stand beside one, for its texts that not everything may follow.
    pub beside: FxHashMap<TerminalId, Vec<TerminalId>>,
    /// The declared terminals that begin and end blocks.
    pub indenter: Option<[usize; 2]>,
    /// Token sets by their text.
    token_sets: FxHashMap<String, TokenSetId>,
    rule: RuleContext,
    pub scope: TerminalScope,
    /// What joining terminals has copied, see [`Lowerer::may_join`].
    pub joined: usize,
    pub regexes_reported: bool,
}

impl<'a> Lowerer<'a, '_> {
    pub fn text(&self, span: Span) -> &'a str {
        &self.setting.sources.get(span.source).text[span.start as usize..span.end as usize]
    }

    /// Whether a text has strings of JSON and regexes of Rust.
    pub fn is_rust(&self, span: Span) -> bool {
        self.setting.ast.rust.contains(&span.source)
    }

    /// Enters every definition under its name; `expand` has seen to it that there is one of each.
    fn declare(&mut self, grammar: &'a AstGrammar) {
        for item in &grammar.items {
            let Item::Definition(definition) = item else { continue };
            let (name, span) = (definition.name.text.as_str(), definition.name.span);
            let symbol = if definition.is_terminal {
                let kind = &self.setting.ast.nodes[definition.body].kind;
                let body = match kind {
                    NodeKind::Error if definition.imported => TerminalBody::Broken,
                    NodeKind::Declared => TerminalBody::Broken,
                    _ => TerminalBody::Defined(definition),
                };
                let is_declared = *kind == NodeKind::Declared;
                let mut terminal = NamedTerminal::new(name, span, body);
                terminal.is_declared = is_declared;
                self.terminals.push(terminal);
                Symbol::Terminal(self.terminals.len() - 1)
            } else {
                self.rules.push(definition);
                Symbol::Rule(self.rules.len() - 1)
            };
            self.names.insert(name, (symbol, span));
        }
    }

    /// Lowers all named terminals, those that others refer to first.
    fn named_terminals(&mut self) {
        for index in self.terminal_order() {
            self.named_terminal(index);
        }
        for named in &self.terminals {
            let terminal = Terminal {
                name: (*named.name).into(),
                span: named.span,
                regex: named.regex,
                priority: named.priority(),
                is_literal: named.is_literal,
                lazy: false,
                tail: None,
                follow: None,
                behind: None,
            };
            let id = self.grammar.terminals.push(terminal);
            if !named.is_broken() && named.follows.is_empty() {
                self.anonymous.entry((named.regex, named.is_literal)).or_insert(id);
            }
        }
    }

    /// Terminals beside the named ones, behind all of them.
    fn named_follows(&mut self) {
        for index in 0..self.terminals.len() {
            let follows = self.terminals[index].follows.clone();
            self.add_follows(TerminalId::from_index(index), follows);
        }
    }

    fn ignored(&mut self, grammar: &AstGrammar) {
        for item in &grammar.items {
            let Item::Ignore(body) = item else { continue };
            self.scope = TerminalScope::Definition;
            let id = match self.named(*body) {
                Some(id) if self.terminals[id.index()].is_declared => {
                    self.not_in_terminal("a declared terminal", self.setting.ast.nodes[*body].span);
                    continue;
                }
                Some(id) => id,
                None => self.lift(*body),
            };
            self.terminal_kind(id, self.setting.ast.nodes[*body].span);
            for id in self.with_beside(id) {
                for id in self.runs_of(id) {
                    if !self.grammar.ignore.contains(&id) {
                        self.grammar.ignore.push(id);
                    }
                }
            }
        }
    }

    /// An ignored terminal as those of which it is a run.
    fn runs_of(&mut self, id: TerminalId) -> Vec<TerminalId> {
        let regex = self.grammar.terminals[id].regex;
        let runs = if self.stays_whole(id) { vec![regex] } else { runs(&mut self.grammar.regexes, regex) };
        runs.into_iter().map(|regex| self.with_regex(id, regex)).collect()
    }

    /// Takes from the begin of ignored terminals what is ignored by itself, but for what other terminals may begin with: these
    /// would keep it from ending.
    fn leave_out_ignored_blanks(&mut self) {
        let Grammar { ignore, terminals, regexes, exprs, .. } = &self.grammar;
        let ignored = ignore.iter().filter(|&&id| !self.stays_whole(id));
        let ignored = ignored.filter_map(|&id| blanks(regexes, terminals[id].regex));
        let ignored = ignored.fold(CharClass::default(), |all, class| all.union(&class));
        let used = exprs.iter().filter_map(|expr| match expr.kind {
            ExprKind::Terminal(id) => Some(terminals[id].regex),
            _ => None,
        });
        let ignored = ignored.intersect(&first_ascii(regexes, used).negate());
        for at in 0..self.grammar.ignore.len() {
            let id = self.grammar.ignore[at];
            if !self.stays_whole(id) {
                let regex = without(&mut self.grammar.regexes, self.grammar.terminals[id].regex, &ignored);
                self.grammar.ignore[at] = self.with_regex(id, regex);
            }
        }
    }

    /// Whether an ignored terminal must not be taken apart: what is looked at before or behind it, and the shortest match, are
    /// the whole's.
    fn stays_whole(&self, id: TerminalId) -> bool {
        let own = &self.grammar.terminals[id];
        own.follow.is_some() || own.behind.is_some() || own.lazy || self.grammar.options.ignore_once
    }

    /// A terminal that is another one but for its regex.
    fn with_regex(&mut self, id: TerminalId, regex: RegexId) -> TerminalId {
        let own = &self.grammar.terminals[id];
        if own.regex == regex {
            return id;
        }
        let other = Terminal { regex, ..own.clone() };
        self.grammar.terminals.push(other)
    }

    /// The named terminal that a node refers to, if it is only that.
    fn named(&self, node: NodeId) -> Option<TerminalId> {
        let (NodeKind::Terminal(name) | NodeKind::Rule(name, None)) = &self.setting.ast.nodes[node].kind else {
            return None;
        };
        match self.names.get(name.as_str()) {
            Some(&(Symbol::Terminal(index), _)) => Some(TerminalId::from_index(index)),
            _ => None,
        }
    }

    /// The node as a terminal: a named one of the same pattern, or a new one.
    fn lift(&mut self, node: NodeId) -> TerminalId {
        let regex = self.terminal(node);
        self.warn_of_lazy_node(node, self.setting.ast.nodes[node].span);
        let is_literal = self.is_literal(node);
        let follows = self.follows_of(node).to_vec();
        if !follows.is_empty() {
            let id = self.new_terminal(node, regex, is_literal);
            self.add_follows(id, follows);
            return id;
        }
        if let Some(&id) = self.anonymous.get(&(regex, is_literal)) {
            return id;
        }
        let id = self.new_terminal(node, regex, is_literal);
        self.anonymous.insert((regex, is_literal), id);
        id
    }

    /// A terminal that is named as it is written.
    fn new_terminal(&mut self, node: NodeId, regex: RegexId, is_literal: bool) -> TerminalId {
        let span = self.setting.ast.nodes[node].span;
        let name = self.text(span).into();
        self.grammar.terminals.push(Terminal {
            name,
            span,
            regex,
            priority: 0,
            is_literal,
            lazy: false,
            tail: None,
            follow: None,
            behind: None,
        })
    }

    fn rule_bodies(&mut self) {
        let count = self.rules.len();
        for index in 0..count {
            let definition = self.rules[index];
            self.rule = RuleContext { parametric: definition.parametric, uses_parameter: false };
            let rule = self.lower_rule(definition);
            // What could not be read may have used it.
            if definition.parametric && !self.rule.uses_parameter && !self.sink.has_errors() {
                self.sink.report(definition.name.span, ParameterMistake::Unused { rule: rule.name.to_string() });
            }
            self.grammar.rules.push(rule);
        }
        for rule in std::mem::take(&mut self.inner_rules) {
            self.grammar.rules.push(rule);
        }
    }

    /// Adds a rule that the text does not define.
    pub fn inner_rule(&mut self, rule: Rule) -> RuleId {
        self.inner_rules.push(rule);
        RuleId::from_index(self.rules.len() + self.inner_rules.len() - 1)
    }

    /// Looks up the start rule. Where a statement or a name could not be read, it may be that.
    fn start(&mut self, start: Option<&str>, whole: Span, has_unread: bool) {
        let name = start.unwrap_or(START);
        match self.names.get(name) {
            Some(&(Symbol::Rule(index), span)) => {
                self.grammar.start = RuleId::from_index(index);
                if self.rules[index].parametric {
                    self.sink.report(span, NameMistake::StartParametric { name: name.to_string() });
                }
            }
            Some(&(Symbol::Terminal(_), span)) => {
                self.sink.report(span, NameMistake::StartNotRule { name: name.to_string() });
            }
            None => {
                let sound = self.rules.iter().filter(|rule| !self.sink.has_error_in(rule.name.span));
                let near = near(name, sound.map(|rule| (rule.name.text.as_str(), Some(rule.name.span))));
                // One that is written as a terminal.
                let upper = name.to_ascii_uppercase();
                let terminal = self.names.get(upper.as_str()).filter(|_| start.is_none());
                let near = near.or_else(|| terminal.map(|&(_, span)| Near { name: upper, defined: Some(span) }));
                let is_unread = self.sink.has_errors() && (has_unread || self.has_unread_names());
                if near.is_none() && is_unread {
                    return;
                }
                let own = self.own_rules(whole);
                let defined = own.iter().map(|name| (name.text.as_str(), name.span));
                match self.rules.is_empty() && near.is_none() {
                    true => self.sink.report(whole, NameMistake::NoRules),
                    false => self.sink.report(whole, NoStart::new(start, START, near, defined)),
                }
            }
        }
    }

    /// The names of the rules that could be the start, in the order of the text.
    fn own_rules(&self, whole: Span) -> Vec<&'a Name> {
        let could = |rule: &Definition| {
            let is_own = !rule.imported && rule.template.is_none() && rule.name.span.source == whole.source;
            is_own && !rule.parametric && !self.sink.has_error_in(rule.name.span)
        };
        let mut own: Vec<&Name> = self.rules.iter().filter(|rule| could(rule)).map(|rule| &rule.name).collect();
        own.sort_by_key(|name| name.span.start);
        own
    }

    /// Whether a definition's name is neither a rule's nor a terminal's.
    fn has_unread_names(&self) -> bool {
        self.rules.iter().any(|rule| self.sink.has_error_in(rule.name.span))
            || self.terminals.iter().any(|terminal| terminal.name.bytes().any(|byte| byte.is_ascii_lowercase()))
    }

    /// Names alike among those of the text, and for terminals also among `common`'s.
    pub fn nearest(&self, name: &str, rules: bool) -> Option<Near> {
        // What an import was to bring and did not is reported there.
        let nodes = &self.setting.ast.nodes;
        let failed = |rule: &Definition| rule.imported && nodes[rule.body].kind == NodeKind::Error;
        let own_rules = self.rules.iter().filter(|rule| !failed(rule));
        let own_rules = own_rules.map(|rule| (rule.name.text.as_str(), Some(rule.name.span)));
        let own_terminals = self.terminals.iter();
        let own_terminals = own_terminals
            .filter(|terminal| terminal.is_declared || !terminal.is_broken())
            .map(|terminal| (terminal.name, Some(terminal.span)));
        let common = crate::common::names().map(|name| (name, None));
        if rules {
            near(name, own_rules.chain(own_terminals))
        } else {
            near(name, own_terminals.chain(common).chain(own_rules))
        }
    }

    /// Drops the named terminals that only other terminals use, and imports that nothing uses.
    fn finish(mut self) -> Grammar {
        let mut used: FxHashSet<TerminalId> = self.grammar.ignore.iter().copied().collect();
        used.extend(self.grammar.exprs.iter().filter_map(|expr| match expr.kind {
            ExprKind::Terminal(id) => Some(id),
            _ => None,
        }));
        used.extend(
            self.grammar.indenter.iter().flat_map(|indenter| [indenter.newline, indenter.indent, indenter.dedent]),
        );
        let keeps = |id: TerminalId, named: Option<&NamedTerminal>| {
            used.contains(&id) || named.is_none_or(|named| named.is_definition() && !named.used_in_terminal)
        };
        let mut new_ids: IndexVec<TerminalId, TerminalId> = IndexVec::new();
        let mut kept: IndexVec<TerminalId, Terminal> = IndexVec::new();
        for (id, terminal) in self.grammar.terminals.iter_enumerated() {
            new_ids.push(kept.next_id());
            if keeps(id, self.terminals.get(id.index())) {
                kept.push(terminal.clone());
            }
        }
        self.grammar.terminals = kept;
        for expr in self.grammar.exprs.iter_mut() {
            if let ExprKind::Terminal(id) = &mut expr.kind {
                *id = new_ids[*id];
            }
        }
        for id in &mut self.grammar.ignore {
            *id = new_ids[*id];
        }
        if let Some(Indenter { newline, indent, dedent, open, close, .. }) = &mut self.grammar.indenter {
            let unused = |id: &TerminalId| keeps(*id, self.terminals.get(id.index()));
            [&mut *open, close].into_iter().for_each(|ids| ids.retain(unused));
            let ids = [newline, indent, dedent].into_iter().chain(open).chain(close);
            ids.for_each(|id| *id = new_ids[*id]);
        }
        self.grammar
    }
}

/// What is left to do with a node.
pub(crate) enum Task {
    Enter(NodeId),
    /// Its children are done.
    Leave(NodeId),
}

// Right-hand sides.
impl Lowerer<'_, '_> {
    /// A node of a rule's body.
    pub fn expr(&mut self, root: NodeId) -> ExprId {
        let ast = self.setting.ast;
        let mut agenda = vec![Task::Enter(root)];
        let mut done: Vec<ExprId> = Vec::new();
        while let Some(visit) = agenda.pop() {
            match visit {
                Task::Enter(node) => match &ast.nodes[node].kind {
                    NodeKind::Choice(_) | NodeKind::Sequence(_) | NodeKind::Group(_) | NodeKind::Repeat(..) => {
                        agenda.push(Task::Leave(node));
                        agenda.extend(ast.children(node).into_iter().rev().map(Task::Enter));
                    }
                    _ => done.push(self.leaf(node)),
                },
                Task::Leave(node) => {
                    let parts = done.split_off(done.len() - ast.child_count(node));
                    done.push(self.joined(node, parts));
                }
            }
        }
        done.pop().expect("the root is done")
    }

    /// A node whose children are lowered.
    fn joined(&mut self, node: NodeId, parts: Vec<ExprId>) -> ExprId {
        let ast = self.setting.ast;
        let kind = match &ast.nodes[node].kind {
            NodeKind::Choice(alternatives) => {
                let alternatives = (alternatives.iter().zip(parts))
                    .map(|(alternative, expr)| Alternative {
                        expr,
                        condition: alternative.condition.map(|(id, span)| self.condition(id, span)),
                    })
                    .collect::<Vec<_>>();
                match alternatives.as_slice() {
                    [Alternative { expr, condition: None }] => return *expr,
                    _ => ExprKind::choice(alternatives),
                }
            }
            NodeKind::Repeat(_, min, max) => ExprKind::Repeat(parts[0], *min, *max),
            NodeKind::Group(_) => return parts[0],
            _ => ExprKind::sequence(parts),
        };
        self.grammar.expr(kind, ast.nodes[node].span)
    }

    /// A node that has no children or is one terminal.
    fn leaf(&mut self, node: NodeId) -> ExprId {
        let ast = self.setting.ast;
        let span = ast.nodes[node].span;
        let kind = match &ast.nodes[node].kind {
            NodeKind::Complement(inner) => match self.complemented_tokens(*inner) {
                Some(set) => ExprKind::Tokens(set),
                None => self.operator(node),
            },
            NodeKind::And(_) => self.operator(node),
            NodeKind::Rule(name, param) => self.reference(name, param.as_deref().copied(), span),
            NodeKind::Terminal(name) => self.reference(name, None, span),
            NodeKind::String if self.text(span).starts_with("\"\"") => ExprKind::sequence([]),
            NodeKind::Template(..) | NodeKind::Declared => unreachable!("expanded before"),
            NodeKind::String | NodeKind::Regex | NodeKind::Range(..) | NodeKind::RegexJson(_) | NodeKind::Common(_) => {
                let id = self.lift(node);
                self.terminal_kind(id, span)
            }
            NodeKind::Json(json) => {
                let block = &ast.json[*json];
                self.embed(EmbedKind::Text { language: "json", body: block.span }, span)
            }
            &NodeKind::Inner(language, body) => self.embed(EmbedKind::Text { language, body }, span),
            NodeKind::Lark(grammar) => self.nested(*grammar, span),
            NodeKind::GrammarRef => self.embed(EmbedKind::Named(self.text(span)[1..].to_string()), span),
            NodeKind::Token => ExprKind::Tokens(self.tokens(span, false)),
            NodeKind::Broken(names) => {
                self.broken(names);
                ExprKind::sequence([])
            }
            NodeKind::Choice(_) | NodeKind::Sequence(_) | NodeKind::Repeat(..) | NodeKind::Group(_) => {
                unreachable!("has children")
            }
            NodeKind::Error => ExprKind::sequence([]),
        };
        self.grammar.expr(kind, span)
    }

    /// The names in a body that was given up are reported if nothing defines them and they are not what is wrong with
    /// it; literals and nested grammars are lowered for the sake of their mistakes.
    pub fn broken(&mut self, parts: &[NodeId]) {
        for &id in parts {
            let node = &self.setting.ast.nodes[id];
            match &node.kind {
                NodeKind::Rule(name, _) | NodeKind::Terminal(name)
                    if !self.names.contains_key(name.as_str()) && !self.sink.has_error_in(node.span) =>
                {
                    self.undefined(name, node.span);
                }
                NodeKind::Lark(grammar) => _ = self.nested(*grammar, node.span),
                NodeKind::String | NodeKind::Regex | NodeKind::Range(..) | NodeKind::RegexJson(_) => {
                    self.terminal_leaf(id);
                }
                _ => {}
            }
        }
    }

    /// `&` and `~` in a rule.
    fn operator(&mut self, node: NodeId) -> ExprKind {
        self.scope = TerminalScope::Operator;
        let id = self.lift(node);
        self.scope = TerminalScope::Definition;
        self.terminal_kind(id, self.setting.ast.nodes[node].span)
    }

    fn reference(&mut self, name: &str, param: Option<ParamExpr>, span: Span) -> ExprKind {
        match self.names.get(name) {
            Some(&(Symbol::Rule(index), defined)) => {
                let parametric = self.rules[index].parametric;
                match (parametric, param) {
                    (true, None) => {
                        self.sink.report(span, ParameterMistake::Missing { rule: name.to_string(), defined });
                    }
                    (false, Some(_)) => {
                        self.sink.report(span, ParameterMistake::Unwanted { rule: name.to_string(), defined });
                    }
                    _ => {}
                }
                if !matches!(param, None | Some(ParamExpr::Const(_))) {
                    self.parameter_used("this parameter expression", span);
                }
                ExprKind::Rule(RuleId::from_index(index), param.filter(|_| parametric))
            }
            Some(&(Symbol::Terminal(index), defined)) => {
                if param.is_some() {
                    self.sink.report(span, ParameterMistake::Unwanted { rule: name.to_string(), defined });
                }
                if self.terminals[index].is_declared {
                    return self.declared(index, span);
                }
                self.warn_of_lazy(index, span);
                self.terminal_kind(TerminalId::from_index(index), span)
            }
            None => {
                self.undefined(name, span);
                ExprKind::sequence([])
            }
        }
    }

    /// A terminal of `%declare`: the token that it stands for.
    fn declared(&mut self, index: usize, span: Span) -> ExprKind {
        let (name, defined) = (self.terminals[index].name, self.terminals[index].span);
        if self.indenter.is_some_and(|marks| marks.contains(&index)) {
            return ExprKind::Terminal(TerminalId::from_index(index));
        }
        let Some((text, place)) = self.bindings.get(name).cloned() else {
            self.sink.report(span, ImportMistake::DeclaredUnbound { name: name.to_string(), defined });
            return ExprKind::sequence([]);
        };
        if let Some(&id) = self.token_sets.get(&text) {
            return ExprKind::Tokens(id);
        }
        // The value's place is that of its quotes.
        let set = tokens::token_set(&text, Span { start: place.start + 1, ..place }, self.sink);
        let id = self.grammar.token_sets.push(set);
        self.token_sets.insert(text, id);
        ExprKind::Tokens(id)
    }

    /// Reports a name that nothing defines.
    pub fn undefined(&mut self, name: &str, span: Span) {
        let is_terminal = name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase());
        // The parameter is not part of the name that is missing.
        let span = Span { end: span.start + name.len() as u32, ..span };
        if self.sink.has_error_in(span) {
            // The name itself is a mistake.
            return;
        }
        if self.setting.ast.excused.contains(&name.to_ascii_lowercase()) && self.sink.has_errors() {
            return;
        }
        let text = &self.setting.sources.get(span.source).text;
        let at = span.start as usize;
        if is_flag(text, at, name) {
            return self.sink.report(span, LexerMistake::FlagsRunIntoName { word: name.to_string() });
        }
        if let Some(foreign) = Foreign::name(text, name, at) {
            return self.sink.report(span, foreign);
        }
        let near = if self.sink.has_room() { self.nearest(name, !is_terminal) } else { None };
        if let Some(class) = class_at(text, at) {
            let span = Span::new(span.source, at - 1, at - 1 + class.len());
            return self.sink.report(span, Foreign::Class { class });
        }
        self.sink.report(span, NameMistake::undefined(name, near));
    }

    fn parameter_used(&mut self, what: &'static str, span: Span) {
        self.rule.uses_parameter = true;
        if !self.rule.parametric {
            self.sink.report(span, ParameterMistake::Outside { what });
        }
    }

    /// Copies a condition of the text to the grammar, children first.
    fn condition(&mut self, id: ConditionId, span: Span) -> ConditionId {
        self.parameter_used("`%if`", span);
        self.copy_condition(id)
    }

    /// Conditions are younger than those in them, and so are their copies.
    fn copy_condition(&mut self, root: ConditionId) -> ConditionId {
        let conditions = &self.setting.ast.conditions;
        let mut used = vec![root];
        let mut next = 0;
        while let Some(&id) = used.get(next) {
            next += 1;
            match conditions[id] {
                Condition::And(a, b) | Condition::Or(a, b) => used.extend([a, b]),
                Condition::Not(a) => used.push(a),
                _ => {}
            }
        }
        used.sort_unstable();
        let mut copies: FxHashMap<ConditionId, ConditionId> = FxHashMap::default();
        for id in used {
            let copied = match conditions[id].clone() {
                Condition::And(a, b) => Condition::And(copies[&a], copies[&b]),
                Condition::Or(a, b) => Condition::Or(copies[&a], copies[&b]),
                Condition::Not(a) => Condition::Not(copies[&a]),
                leaf => leaf,
            };
            copies.insert(id, self.grammar.conditions.push(copied));
        }
        copies[&root]
    }

    fn tokens(&mut self, span: Span, complement: bool) -> TokenSetId {
        let text = self.text(span);
        let key = if complement { format!("~{text}") } else { text.to_string() };
        if let Some(&id) = self.token_sets.get(&key) {
            return id;
        }
        let mut set = tokens::token_set(text, span, self.sink);
        if complement {
            set.negated = !set.negated;
            set.text.clone_from(&key);
            if set.negated && set.items.contains(&TokenItem::Any) {
                self.sink
                    .report(span, LiteralMistake::TokenList { reason: "no token is outside all tokens".to_string() });
            }
        }
        let id = self.grammar.token_sets.push(set);
        self.token_sets.insert(key, id);
        id
    }

    /// `~<name>` is a token set, not a regex.
    fn complemented_tokens(&mut self, inner: NodeId) -> Option<TokenSetId> {
        let node = &self.setting.ast.nodes[inner];
        matches!(node.kind, NodeKind::Token).then(|| self.tokens(node.span, true))
    }

    /// The tokens that end the sequence: what `stop=""` waits for. Those that are `hidden` are taken back from the output.
    pub fn end_tokens(&mut self, span: Span, hidden: bool) -> ExprId {
        let text = self.text(span).to_string();
        let set = TokenSet { text, span, items: vec![TokenItem::Eos], negated: false, hidden };
        let id = self.grammar.token_sets.push(set);
        self.grammar.expr(ExprKind::Tokens(id), span)
    }

    fn embed(&mut self, kind: EmbedKind, span: Span) -> ExprKind {
        ExprKind::Embed(self.grammar.embeds.push(Embed { kind, span, target: None, rule: None }))
    }

    fn nested(&mut self, grammar: AstGrammarId, span: Span) -> ExprKind {
        let own = &self.grammar.options;
        let defaults = GrammarOptions {
            ignore_edges: self.setting.defaults.ignore_edges,
            ignore_once: self.setting.defaults.ignore_once,
            ..own.clone()
        };
        let setting = Setting { defaults, nested: true, ..self.setting.clone() };
        let name = format!("{}/%lark", self.grammar.name);
        let kind = EmbedKind::Named(String::new());
        let embed = self.grammar.embeds.push(Embed { kind, span, target: None, rule: None });
        self.nested.push(Nested { grammar, setting, name, span, embed });
        ExprKind::Embed(embed)
    }

    /// The expression of a terminal.
    pub fn terminal_expr(&mut self, id: TerminalId, span: Span) -> ExprId {
        self.grammar.exprs.push(Expr { kind: ExprKind::Terminal(id), span })
    }

    /// A terminal of its own for a rule with attributes.
    pub fn own_terminal(&mut self, node: NodeId) -> TerminalId {
        let regex = self.terminal(node);
        self.no_follows(node);
        let is_literal = self.is_literal(node);
        let id = self.new_terminal(node, regex, is_literal);
        if let Some(named) = self.named(node) {
            self.grammar.terminals[id].priority = self.grammar.terminals[named].priority;
        }
        id
    }
}
