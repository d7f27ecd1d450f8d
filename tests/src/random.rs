//! Random small grammars, built directly as IR, over the letters `a`, `b`, `c`.
//!
//! A [`Spec`] is plain data, so that proptest can shrink it and a failure prints as something to read.

use std::fmt;
use std::sync::Arc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{
    Alternative, AutomatonId, CharClass, Embed, EmbedKind, ExprId, ExprKind, Grammar, IgnoreEdges, LexerMode,
    LinkedGrammar, RegexId, RegexSet, Rule, RuleId, SourceId, Span, Tail, Terminal, TerminalId, TokenItem, TokenSet,
    Unproductive, link,
};
use proptest::prelude::*;

use crate::oracle::regex::Regexes;
use crate::oracle::{Token, Vocab};
use crate::toys::{Toy, ToySpec, toy_specs};

/// Grammars of one text: the first is the root, all can be embedded. Its `Debug` is nearly Lark.
#[derive(Clone)]
pub struct Spec {
    /// How lexemes end: one bit for each grammar, set for `exact`.
    pub exact: u8,
    /// `keywords`.
    pub keywords: bool,
    /// `unproductive: allow`.
    pub endless: bool,
    /// The root's ignored text at the edges.
    pub edges: Edges,
    /// The grammars.
    pub grammars: Vec<GrammarSpec>,
}

/// [`Spec::exact`] of all grammars.
pub const EXACT: u8 = u8::MAX;

/// [`IgnoreEdges`] by number.
pub type Edges = u8;

/// One grammar; its first rule is the start.
#[derive(Clone, Debug)]
pub struct GrammarSpec {
    /// Right-hand sides, with `max_tokens` where some.
    pub rules: Vec<(Node, Option<u32>)>,
    /// Terminals.
    pub terminals: Vec<TerminalSpec>,
    /// Ignored terminals.
    pub ignore: Vec<usize>,
    /// `ignore_once`.
    pub ignore_once: bool,
    /// Automata.
    pub toys: Vec<ToySpec>,
}

/// A node of a right-hand side; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub enum Node {
    /// One after the other.
    Sequence(Vec<Node>),
    /// Any of them.
    Choice(Vec<Node>),
    /// So many times.
    Repeat(Box<Node>, u32, Option<u32>),
    /// A rule.
    Rule(usize),
    /// A terminal.
    Terminal(usize),
    /// One token: a range of ids.
    Tokens(u32, u32),
    /// Another grammar.
    Embed(usize),
    /// An automaton, and how many parts it takes to be there already.
    Toy(usize, u32),
}

/// A terminal.
#[derive(Clone, Debug)]
pub struct TerminalSpec {
    /// Its language.
    pub regex: RegexSpec,
    /// Ends at its first match.
    pub lazy: bool,
    /// `suffix` (`false`) or `stop` (`true`).
    pub tail: Option<(RegexSpec, bool)>,
    /// Of those that end together.
    pub priority: i32,
    /// What stands behind it begins with one of these, or (`true`) with none of them.
    pub follow: Option<(RegexSpec, bool)>,
    /// What stands before it ends with one of these, or (`true`) with none of them.
    pub behind: Option<(RegexSpec, bool)>,
}

/// A regex.
#[derive(Clone, Debug)]
pub enum RegexSpec {
    /// A string of `abc`; the empty one only as `(…)?`.
    Literal(String),
    /// `[ab]`, `[^a]`, `é`.
    Class(u8),
    /// One after the other.
    Concat(Vec<RegexSpec>),
    /// Any.
    Or(Vec<RegexSpec>),
    /// Both.
    And(Box<RegexSpec>, Box<RegexSpec>),
    /// All other texts.
    Not(Box<RegexSpec>),
    /// So many times.
    Repeat(Box<RegexSpec>, u32, Option<u32>),
    /// Those without a shorter match.
    Shortest(Box<RegexSpec>),
}

/// Switches for [`specs`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Features {
    /// Token sets.
    pub tokens: bool,
    /// `max_tokens`.
    pub budgets: bool,
    /// `stop` and `suffix`.
    pub tails: bool,
    /// Look-aheads beyond terminals.
    pub follows: bool,
    /// Look-behinds beyond terminals.
    pub behinds: bool,
    /// Ignored text.
    pub ignore: bool,
    /// Grammars in grammars.
    pub embeds: bool,
    /// `lazy` lexemes and priorities.
    pub attributes: bool,
    /// Endless texts.
    pub endless: bool,
    /// Automata.
    pub automata: bool,
}

impl Features {
    /// All of them but automata.
    pub const ALL: Features = Features {
        tokens: true,
        budgets: true,
        tails: true,
        follows: false,
        behinds: false,
        ignore: true,
        embeds: true,
        attributes: true,
        endless: true,
        automata: false,
    };
}

/// Random grammars.
pub fn specs(features: Features) -> impl Strategy<Value = Spec> {
    let count = if features.embeds { 1..3usize } else { 1..2 };
    let grammars = prop::collection::vec(grammar_specs(features), count);
    let exact = prop_oneof![2 => Just(0), 2 => Just(EXACT), 1 => any::<u8>()];
    (exact, any::<bool>(), prop::bool::weighted(0.2), 0..4u8, grammars).prop_map(
        move |(exact, keywords, endless, edges, grammars)| Spec {
            exact,
            keywords: keywords && features.attributes,
            endless: endless && features.endless,
            edges,
            grammars: grammars.into_iter().map(|grammar| grammar.restricted(features)).collect(),
        },
    )
}

fn grammar_specs(features: Features) -> impl Strategy<Value = GrammarSpec> {
    let automata = features.automata;
    let budget = prop::option::weighted(0.2, 0..4u32);
    let toys = prop::collection::vec(toy_specs(), if automata { 1..3 } else { 0..1 });
    let rules = prop::collection::vec((nodes(automata), budget), 1..4);
    let terminals = prop::collection::vec(terminal_specs(features), 1..4);
    let ignore = prop::collection::vec(0..4usize, 0..3);
    (rules, terminals, ignore, prop::bool::weighted(0.2), toys).prop_map(
        |(rules, terminals, ignore, ignore_once, toys)| GrammarSpec { rules, terminals, ignore, ignore_once, toys },
    )
}

fn nodes(automata: bool) -> impl Strategy<Value = Node> {
    let toy_weight = if automata { 8 } else { 1 };
    let leaf = prop_oneof![
        8 => (0..4usize).prop_map(Node::Terminal),
        4 => (0..4usize).prop_map(Node::Rule),
        1 => (0..5u32, 0..4u32).prop_map(|(first, more)| Node::Tokens(first, more)),
        1 => (0..3usize).prop_map(Node::Embed),
        toy_weight => (0..3usize, 0..2u32).prop_map(|(toy, start)| Node::Toy(toy, start)),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let repeat = (inner.clone(), 0..3u32, prop::option::of(0..3u32));
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(Node::Sequence),
            3 => prop::collection::vec(inner, 1..4).prop_map(Node::Choice),
            2 => repeat.prop_map(|(node, min, more)| Node::Repeat(Box::new(node), min, more.map(|more| min + more))),
        ]
    })
}

fn terminal_specs(features: Features) -> impl Strategy<Value = TerminalSpec> {
    let lazy = prop::bool::weighted(0.2);
    let priority = prop_oneof![4 => Just(0), 1 => -1..3i32];
    let tail = prop::option::weighted(0.15, (tail_specs(), any::<bool>()));
    let around = |is_on| match is_on {
        true => prop::option::weighted(0.4, (follow_specs(), any::<bool>())).boxed(),
        false => Just(None).boxed(),
    };
    let around = (around(features.follows), around(features.behinds));
    (regex_specs(), lazy, tail, priority, around).prop_map(|(regex, lazy, tail, priority, (follow, behind))| {
        TerminalSpec { regex, lazy, tail, priority, follow, behind }
    })
}

fn follow_specs() -> impl Strategy<Value = RegexSpec> {
    prop_oneof![
        3 => "[abc]{1,3}".prop_map(RegexSpec::Literal),
        2 => (0..8u8).prop_map(RegexSpec::Class),
        2 => regex_specs(),
    ]
}

fn tail_specs() -> impl Strategy<Value = RegexSpec> {
    prop_oneof![
        3 => "[abc]{1,2}".prop_map(RegexSpec::Literal),
        1 => (0..8u8).prop_map(RegexSpec::Class),
    ]
}

/// Random regexes.
pub fn regex_specs() -> impl Strategy<Value = RegexSpec> {
    let leaf = prop_oneof![
        5 => "[abc]{1,3}".prop_map(RegexSpec::Literal),
        3 => (0..8u8).prop_map(RegexSpec::Class),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let boxed = || inner.clone().prop_map(Box::new);
        let repeat = (boxed(), 0..3u32, prop::option::of(0..3u32));
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(RegexSpec::Concat),
            3 => prop::collection::vec(inner.clone(), 1..4).prop_map(RegexSpec::Or),
            1 => (boxed(), boxed()).prop_map(|(a, b)| RegexSpec::And(a, b)),
            1 => boxed().prop_map(RegexSpec::Not),
            1 => boxed().prop_map(RegexSpec::Shortest),
            4 => repeat.prop_map(|(regex, min, more)| RegexSpec::Repeat(regex, min, more.map(|more| min + more))),
        ]
    })
}

/// Random regexes of a character, or of one and a letter before it; many have no first byte in common.
pub fn short_regex_specs() -> impl Strategy<Value = RegexSpec> {
    let class = || (0..8u8).prop_map(RegexSpec::Class);
    let escaped =
        ("[abc]", class()).prop_map(|(escape, class)| RegexSpec::Concat(vec![RegexSpec::Literal(escape), class]));
    let other = || RegexSpec::Or(vec![RegexSpec::Literal("c".into()), RegexSpec::Class(3)]);
    prop_oneof![
        3 => Just(RegexSpec::Class(0)),
        3 => Just(other()),
        2 => class(),
        1 => escaped,
        4 => "[abc]{1,3}".prop_map(RegexSpec::Literal),
    ]
}

/// A vocabulary: the letters and some others as single bytes, random short tokens, two special tokens, one EOS.
pub fn vocabs() -> impl Strategy<Value = Vocab> {
    prop::collection::vec(prop_oneof![4 => "[abc]{2,4}", 1 => "[abcéè€]{1,2}"], 0..12).prop_map(|texts| {
        let bytes = [b'a', b'b', b'c', b'd', 0xC3, 0xA8, 0xA9].map(|byte| Token::Bytes(vec![byte]));
        let special = ["<|eos|>", "<|x|>"].map(|name| Token::Special(name.into()));
        let mut tokens = Vec::from(bytes);
        tokens.extend(special);
        tokens.extend(texts.into_iter().map(|text| Token::Bytes(text.into_bytes())));
        Vocab { tokens, eos: vec![7] }
    })
}

impl GrammarSpec {
    fn restricted(mut self, features: Features) -> Self {
        for (body, max_tokens) in &mut self.rules {
            body.restrict(features);
            *max_tokens = max_tokens.filter(|_| features.budgets);
        }
        for terminal in &mut self.terminals {
            terminal.tail = terminal.tail.take().filter(|_| features.tails);
            terminal.lazy &= features.attributes;
            let is_plain = terminal.tail.is_none() && !terminal.lazy;
            terminal.follow = terminal.follow.take().filter(|_| features.follows && is_plain);
            terminal.behind = terminal.behind.take().filter(|_| features.behinds && is_plain);
            terminal.priority *= i32::from(features.attributes);
        }
        if !features.ignore {
            self.ignore.clear();
        }
        self
    }
}

impl Node {
    fn restrict(&mut self, features: Features) {
        match self {
            Node::Sequence(parts) | Node::Choice(parts) => parts.iter_mut().for_each(|part| part.restrict(features)),
            Node::Repeat(child, ..) => child.restrict(features),
            Node::Tokens(..) if !features.tokens => *self = Node::Terminal(0),
            Node::Embed(target) if !features.embeds => *self = Node::Rule(*target),
            Node::Toy(toy, _) if !features.automata => *self = Node::Terminal(*toy),
            Node::Toy(..) => {}
            Node::Rule(_) | Node::Terminal(_) | Node::Tokens(..) | Node::Embed(_) => {}
        }
    }
}

/// Where ignored text may stand, and the option's name of it.
const EDGES: [(IgnoreEdges, &str); 6] = [
    (IgnoreEdges::Both, "both"),
    (IgnoreEdges::Leading, "leading"),
    (IgnoreEdges::Trailing, "trailing"),
    (IgnoreEdges::None, "none"),
    (IgnoreEdges::Open, "open"),
    (IgnoreEdges::LeadingOpen, "leading_open"),
];

impl Spec {
    /// The IR.
    pub fn link(&self) -> LinkedGrammar {
        let grammars = (0..self.grammars.len()).map(|at| self.grammar(at)).collect();
        link(grammars, |_, _| unreachable!("no JSON schemas here")).expect("embeds name grammars that are there")
    }

    fn grammar(&self, at: usize) -> Grammar {
        let spec = &self.grammars[at];
        let mut grammar = Grammar::new(format!("g{at}"));
        grammar.options.lexer = if self.exact >> at & 1 == 1 { LexerMode::Exact } else { LexerMode::Longest };
        grammar.options.keywords = self.keywords;
        grammar.options.unproductive = if self.endless { Unproductive::Allow } else { Unproductive::Error };
        grammar.options.ignore_once = spec.ignore_once;
        grammar.options.ignore_edges = EDGES[usize::from(self.edges) % EDGES.len()].0;
        for (number, terminal) in spec.terminals.iter().enumerate() {
            let regex = terminal.regex.build(&mut grammar.regexes);
            let tail = terminal.tail.as_ref().map(|(regex, hidden)| Tail {
                regex: regex.build(&mut grammar.regexes),
                hidden: *hidden,
                capture: None,
            });
            let follow = terminal.follow.as_ref().map(|(regex, negative)| {
                let regex = regex.build(&mut grammar.regexes);
                let any = grammar.regexes.any_byte();
                let any = grammar.regexes.repeat(any, 0, None);
                let found = grammar.regexes.concat(&[regex, any]);
                if *negative { grammar.regexes.not(found) } else { found }
            });
            let behind = terminal.behind.as_ref().map(|(regex, negative)| {
                let regex = regex.build(&mut grammar.regexes);
                let any = grammar.regexes.any_byte();
                let any = grammar.regexes.repeat(any, 0, None);
                let found = grammar.regexes.concat(&[any, regex]);
                if *negative { grammar.regexes.not(found) } else { found }
            });
            grammar.terminals.push(Terminal {
                name: format!("T{number}").into(),
                span: span(),
                regex,
                priority: terminal.priority,
                is_literal: matches!(terminal.regex, RegexSpec::Literal(_)),
                lazy: terminal.lazy || tail.is_some(),
                tail: tail.map(Box::new),
                follow,
                behind,
            });
        }
        for ignored in &spec.ignore {
            let number = ignored % spec.terminals.len();
            let id = TerminalId(number as u32);
            // As the front ends do: what is ignored has no tail and is not lazy.
            if grammar.terminals[id].tail.is_none() && !grammar.terminals[id].lazy && !grammar.ignore.contains(&id) {
                grammar.ignore.push(id);
            }
        }
        for (number, (body, max_tokens)) in spec.rules.iter().enumerate() {
            let body = self.node(&mut grammar, spec, body);
            grammar.rules.push(Rule {
                name: format!("r{number}").into(),
                span: span(),
                body,
                parametric: false,
                priority: 0,
                capture: None,
                max_tokens: *max_tokens,
                temperature: None,
            });
        }
        let mut regexes = Regexes::default();
        let languages: Vec<_> = (grammar.terminals.iter())
            .map(|terminal| {
                let regex = regexes.import(&grammar.regexes, terminal.regex);
                let whole = match &terminal.tail {
                    Some(tail) => {
                        let tail = regexes.import(&grammar.regexes, tail.regex);
                        regexes.then(regex, tail)
                    }
                    // The empty text is its first match.
                    None if terminal.lazy && regexes.nullable(regex) => regexes.nothing(),
                    None => regex,
                };
                (whole, !terminal.lazy)
            })
            .collect();
        for toy in &spec.toys {
            grammar.automata.push(Arc::new(Toy::new(toy, &languages, spec.rules.len(), &mut regexes)));
        }
        grammar.start = RuleId(0);
        grammar
    }

    fn node(&self, grammar: &mut Grammar, spec: &GrammarSpec, node: &Node) -> ExprId {
        let kind = match node {
            Node::Sequence(parts) => {
                ExprKind::Sequence(parts.iter().map(|part| self.node(grammar, spec, part)).collect())
            }
            Node::Choice(parts) => ExprKind::Choice(
                (parts.iter())
                    .map(|part| Alternative { expr: self.node(grammar, spec, part), condition: None })
                    .collect(),
            ),
            Node::Repeat(child, min, max) => ExprKind::Repeat(self.node(grammar, spec, child), *min, *max),
            Node::Rule(rule) => ExprKind::Rule(RuleId((rule % spec.rules.len()) as u32), None),
            Node::Toy(toy, start) => ExprKind::Automaton(AutomatonId::from_index(toy % spec.toys.len()), *start),
            Node::Terminal(terminal) => ExprKind::Terminal(TerminalId((terminal % spec.terminals.len()) as u32)),
            Node::Tokens(first, more) => {
                let set = TokenSet {
                    text: format!("<[{first}-{}]>", first + more),
                    span: span(),
                    items: vec![TokenItem::Range(*first, first + more)],
                    negated: false,
                    hidden: false,
                };
                ExprKind::Tokens(grammar.token_sets.push(set))
            }
            Node::Embed(target) => {
                let name = format!("g{}", target % self.grammars.len());
                ExprKind::Embed(grammar.embeds.push(Embed {
                    kind: EmbedKind::Named(name),
                    span: span(),
                    target: None,
                    rule: None,
                }))
            }
        };
        grammar.expr(kind, span())
    }
}

impl RegexSpec {
    /// The regex in a table.
    pub fn build(&self, set: &mut RegexSet) -> RegexId {
        match self {
            RegexSpec::Literal(text) => set.literal(text.as_bytes()),
            RegexSpec::Class(number) => {
                let of = |chars: &str| CharClass::from_ranges(chars.chars().map(|c| (c as u32, c as u32)));
                let class = match number {
                    0 => of("ab"),
                    1 => of("bc"),
                    2 => of("a").negate(),
                    3 => of("é"),
                    4 => CharClass::all(),
                    5 => of("abcé"),
                    6 => of("é").negate(),
                    _ => of("è€"),
                };
                set.class(class)
            }
            RegexSpec::Concat(parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| part.build(set)).collect();
                set.concat(&parts)
            }
            RegexSpec::Or(parts) => {
                let parts: Vec<RegexId> = parts.iter().map(|part| part.build(set)).collect();
                set.or(&parts)
            }
            RegexSpec::And(a, b) => {
                let parts = [a.build(set), b.build(set)];
                set.and(&parts)
            }
            RegexSpec::Not(child) => {
                let child = child.build(set);
                set.complement(child)
            }
            RegexSpec::Repeat(child, min, max) => {
                let child = child.build(set);
                set.repeat(child, *min, *max)
            }
            RegexSpec::Shortest(child) => {
                let child = child.build(set);
                set.shortest(child)
            }
        }
    }
}

impl fmt::Debug for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let edges = EDGES[usize::from(self.edges) % EDGES.len()].1;
        let unproductive = if self.endless { "allow" } else { "error" };
        write!(f, "ignore_edges {edges}, unproductive {unproductive}, keywords {}", self.keywords)?;
        for (number, grammar) in self.grammars.iter().enumerate() {
            let mode = if self.exact >> number & 1 == 1 { "exact" } else { "longest" };
            write!(f, "\n--- g{number}, lexer {mode}, ignore_once {}", grammar.ignore_once)?;
            let (rules, terminals) = (grammar.rules.len(), grammar.terminals.len());
            for (number, (body, max_tokens)) in grammar.rules.iter().enumerate() {
                let attribute = max_tokens.map(|tokens| format!("[max_tokens={tokens}]")).unwrap_or_default();
                let body = body.show(rules, terminals, self.grammars.len());
                write!(f, "\nr{number}{attribute}: {body}")?;
            }
            for (number, terminal) in grammar.terminals.iter().enumerate() {
                let TerminalSpec { regex, lazy, tail, priority, follow, behind } = terminal;
                let behind = match behind {
                    Some((regex, negative)) => format!("(?<{}{}) ", if *negative { "!" } else { "=" }, regex.show()),
                    None => String::new(),
                };
                let lazy = if *lazy { "[lazy]" } else { "" };
                let tail = match tail {
                    Some((regex, hidden)) => format!("[{}={}]", if *hidden { "stop" } else { "suffix" }, regex.show()),
                    None => String::new(),
                };
                let follow = match follow {
                    Some((regex, negative)) => format!(" (?{}{})", if *negative { "!" } else { "=" }, regex.show()),
                    None => String::new(),
                };
                write!(f, "\nT{number}.{priority}{lazy}{tail}: {behind}{}{follow}", regex.show())?;
            }
            for (number, toy) in grammar.toys.iter().enumerate() {
                write!(f, "\nM{number}: {toy:?}")?;
            }
            for ignored in &grammar.ignore {
                write!(f, "\n%ignore T{}", ignored % terminals)?;
            }
        }
        Ok(())
    }
}

impl Node {
    fn show(&self, rules: usize, terminals: usize, grammars: usize) -> String {
        let all = |parts: &[Node], between: &str| {
            let parts: Vec<String> = parts.iter().map(|part| part.show(rules, terminals, grammars)).collect();
            format!("({})", parts.join(between))
        };
        match self {
            Node::Sequence(parts) => all(parts, " "),
            Node::Choice(parts) => all(parts, " | "),
            Node::Repeat(child, min, max) => {
                let max = max.map(|max| max.to_string()).unwrap_or_default();
                format!("{}{{{min},{max}}}", child.show(rules, terminals, grammars))
            }
            Node::Rule(rule) => format!("r{}", rule % rules),
            Node::Terminal(terminal) => format!("T{}", terminal % terminals),
            Node::Tokens(first, more) => format!("<[{first}-{}]>", first + more),
            Node::Embed(grammar) => format!("@g{}", grammar % grammars),
            Node::Toy(toy, start) => format!("M{toy}.{start}"),
        }
    }
}

impl RegexSpec {
    fn show(&self) -> String {
        let all = |parts: &[RegexSpec], between: &str| {
            let parts: Vec<String> = parts.iter().map(RegexSpec::show).collect();
            format!("({})", parts.join(between))
        };
        match self {
            RegexSpec::Literal(text) => format!("{text:?}"),
            RegexSpec::Class(number) => {
                ["/[ab]/", "/[bc]/", "/[^a]/", "/é/", "/.|\\n/", "/[abcé]/", "/[^é]/", "/[è€]/"][usize::from(*number)]
                    .into()
            }
            RegexSpec::Concat(parts) => all(parts, " "),
            RegexSpec::Or(parts) => all(parts, " | "),
            RegexSpec::And(a, b) => format!("({} & {})", a.show(), b.show()),
            RegexSpec::Not(child) => format!("~{}", child.show()),
            RegexSpec::Repeat(child, min, max) => {
                format!("{}{{{min},{}}}", child.show(), max.map(|max| max.to_string()).unwrap_or_default())
            }
            RegexSpec::Shortest(child) => format!("min({})", child.show()),
        }
    }
}

fn span() -> Span {
    Span::new(SourceId(0), 0, 0)
}
