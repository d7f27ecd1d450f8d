//! What texts have in common that are lists of definitions, each a name and a right-hand side, whatever their signs are:
//! how they are read, the tree of what is written, and the steps from there to a [`Grammar`] that are the same in each.
//!
//! A front end brings the reader, its [symbols](NodeKind::Symbol), and what they and the names mean.

use std::fmt::Write;

use rustc_hash::FxHashMap;

use crate::define_id;
use crate::diagnostic::{Describe, Diagnostic, Near, NoStart, Sink, TooMuch, near};
use crate::index::{Id, IndexVec};
use crate::ir::{ExprId, ExprKind, Grammar, Terminal, TerminalId};
use crate::limits::Limits;
use crate::regex::{RegexId, RegexNode};
use crate::span::Span;

define_id! {
    /// A node of a right-hand side.
    pub struct NodeId = "n";
}

/// How to read a text.
#[derive(Clone, Copy, Debug)]
pub struct ReadOptions<'a> {
    /// The definition to start with; if it is not given, that of the language.
    pub start: Option<&'a str>,
    /// Bounds.
    pub limits: &'a Limits,
    /// The grammar's name, for messages and `@name`.
    pub name: &'a str,
    /// What other texts of the same source have taken of [`Limits::look_work_max`].
    pub look_work: u64,
}

/// What reading a text gives.
#[derive(Debug)]
pub struct Parsed {
    /// The grammar; `None` iff an error is in `diagnostics`.
    pub grammar: Option<Grammar>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// [`ReadOptions::look_work`] and what this text has taken.
    pub look_work: u64,
}

/// A text's definitions, in its order. `S` is what its right-hand sides are made of besides names.
#[derive(Clone, Debug)]
pub struct Tree<S> {
    /// All of them; a language says which one counts where several have one name.
    pub definitions: Vec<Definition>,
    /// Names whose definitions have a mistake that kept them from being read.
    pub unread: Vec<String>,
    /// Children are older than their parents, and the nodes of a definition stand together.
    pub nodes: IndexVec<NodeId, Node<S>>,
}

/// A name and its right-hand side.
#[derive(Clone, Debug)]
pub struct Definition {
    /// As it is written.
    pub name: String,
    /// Where it stands.
    pub name_span: Span,
    /// The right-hand side, whose nodes are those from `first` to here.
    pub body: NodeId,
    /// Its oldest node.
    pub first: NodeId,
}

/// A part of a right-hand side.
#[derive(Clone, Debug)]
pub struct Node<S> {
    /// What it is.
    pub kind: NodeKind<S>,
    /// Where it stands.
    pub span: Span,
}

/// What a part of a right-hand side is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NodeKind<S> {
    /// One after the other; empty for the empty text, and where a mistake was.
    Sequence(Vec<NodeId>),
    /// Any of them; at least two.
    Choice(Vec<NodeId>),
    /// `min` to `max` times.
    Repeat(NodeId, u32, Option<u32>),
    /// What is defined under this name.
    Name(String),
    /// What is written in one piece.
    Symbol(S),
}

/// A symbol in the text of a tree, which has a line for each node.
pub trait DumpSymbol {
    /// How a definition is called here.
    const DEFINITION: &'static str;
    /// On one line.
    fn line(&self) -> String;
}

impl<'a> ReadOptions<'a> {
    /// A grammar without name that starts where its language has it.
    pub fn new(limits: &'a Limits) -> Self {
        Self { start: None, limits, name: "", look_work: 0 }
    }
}

impl Definition {
    /// Its nodes, children first.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> + use<> {
        (self.first.index()..=self.body.index()).map(NodeId::from_index)
    }
}

impl<S> NodeKind<S> {
    /// What it is made of.
    pub fn children(&self) -> &[NodeId] {
        match self {
            NodeKind::Sequence(parts) | NodeKind::Choice(parts) => parts,
            NodeKind::Repeat(child, ..) => std::slice::from_ref(child),
            _ => &[],
        }
    }
}

impl<S> Tree<S> {
    /// The defined name that is nearest to this one.
    pub fn near(&self, name: &str) -> Option<Near> {
        near(name, self.definitions.iter().map(|own| (own.name.as_str(), Some(own.name_span))))
    }

    /// Whether a name has a definition that could not be read.
    pub fn is_unread(&self, name: &str) -> bool {
        self.unread.iter().any(|unread| unread == name)
    }

    /// Says that no definition has the name to start with, `own` if the options name none. Of a text in which nothing could
    /// be read, or not that definition, has been spoken. `whole` is where a mistake without a place of its own is shown.
    pub fn report_no_start<M>(&self, options: &ReadOptions, own: &str, whole: Span, sink: &mut Sink<M>)
    where
        M: Describe + From<NoStart>,
    {
        let wanted = options.start.unwrap_or(own);
        if self.definitions.is_empty() && sink.has_errors() || self.is_unread(wanted) {
            return;
        }
        let near = self.near(wanted);
        let defined = self.definitions.iter().map(|own| (own.name.as_str(), own.name_span));
        sink.report(whole, NoStart::new(options.start, own, near, defined));
    }
}

impl<S: DumpSymbol> Tree<S> {
    /// The tree as text, a node a line.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        for definition in &self.definitions {
            let _ = writeln!(out, "{} ::=", definition.name);
            let mut stack = vec![(definition.body, 1)];
            while let Some((node, depth)) = stack.pop() {
                let kind = &self.nodes[node].kind;
                let line = match kind {
                    NodeKind::Sequence(_) => "sequence".to_owned(),
                    NodeKind::Choice(_) => "choice".to_owned(),
                    NodeKind::Repeat(_, min, Some(max)) => format!("repeat {min}..{max}"),
                    NodeKind::Repeat(_, min, None) => format!("repeat {min}.."),
                    NodeKind::Name(name) => format!("{} {name}", S::DEFINITION),
                    NodeKind::Symbol(symbol) => symbol.line(),
                };
                let _ = writeln!(out, "{}{line}", "  ".repeat(depth));
                stack.extend(kind.children().iter().rev().map(|&child| (child, depth + 1)));
            }
        }
        out
    }
}

/// The terminals of a grammar that is being made, by their regex: equal ones are one.
#[derive(Debug, Default)]
pub struct Terminals {
    known: FxHashMap<RegexId, TerminalId>,
}

impl Terminals {
    /// A terminal where it stands, under this name if it is new; for the empty text none.
    pub fn expr(&mut self, grammar: &mut Grammar, regex: RegexId, span: Span, name: impl FnOnce() -> String) -> ExprId {
        let node = grammar.regexes.node(regex);
        if *node == RegexNode::Literal(Default::default()) {
            return grammar.empty(span);
        }
        let is_literal = matches!(node, RegexNode::Literal(_));
        let terminals = &mut grammar.terminals;
        let terminal = *self
            .known
            .entry(regex)
            .or_insert_with(|| terminals.push(Terminal { is_literal, ..Terminal::new(name(), span, regex) }));
        grammar.expr(ExprKind::Terminal(terminal), span)
    }
}

/// Whether a text is over its limit, which is then reported.
pub fn is_too_long<M: Describe + From<TooMuch>>(body: Span, limits: &Limits, sink: &mut Sink<M>) -> bool {
    let too_much = TooMuch::source_bytes((body.end - body.start) as usize, limits);
    too_much.map(|too_much| sink.report(Span { end: body.start, ..body }, too_much)).is_some()
}

/// Whether a grammar that is being made is over its limits, which is then reported.
pub fn is_too_large<M: Describe + From<TooMuch>>(
    grammar: &Grammar,
    span: Span,
    limits: &Limits,
    sink: &mut Sink<M>,
) -> bool {
    TooMuch::of_grammar(grammar, limits).map(|too_much| sink.report(span, too_much)).is_some()
}
