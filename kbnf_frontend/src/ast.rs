//! A KBNF text as it is written: definitions, and the nodes of their right-hand sides.

use std::fmt::Write;

use larkspur_grammar::{IndexVec, Span, TextMap, define_id};

define_id! {
    /// A node of a right-hand side.
    pub(crate) struct NodeId = "n";
}

/// A text's definitions, in its order.
#[derive(Clone, Debug, Default)]
pub struct Ast {
    pub(crate) definitions: Vec<Definition>,
    /// Children are older than their parents, and the nodes of a definition stand together.
    pub(crate) nodes: IndexVec<NodeId, Node>,
}

/// `name ::= body;`.
#[derive(Clone, Debug)]
pub(crate) struct Definition {
    pub name: String,
    pub name_span: Span,
    /// Its nodes are those from `first` to here.
    pub body: NodeId,
    pub first: NodeId,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub kind: NodeKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NodeKind {
    /// One after the other; empty only where a mistake was.
    Sequence(Vec<NodeId>),
    /// Any of them; at least two.
    Choice(Vec<NodeId>),
    /// `?` and `[ ]` are 0 to 1 times, `*` and `{ }` 0 or more, `+` 1 or more.
    Repeat(NodeId, u32, Option<u32>),
    /// `"…"`, decoded.
    Literal(String),
    /// `#"…"`, decoded.
    Pattern(PatternKind, Text),
    /// A nonterminal.
    Name(String),
    /// `any!`.
    Any,
    /// `except!(…)`, and of how many bytes at most.
    Except(Excluded, Option<u32>),
}

/// What `#`, `#e`, `#ex` and `#substrs` make of their text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PatternKind {
    /// What the regex matches.
    Regex,
    /// Up to the regex's first match.
    Early,
    /// What holds no match of the regex.
    Complement,
    /// A part of the text.
    Substrings,
}

/// A decoded string, with where its bytes stand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Text {
    pub value: String,
    pub map: TextMap,
}

/// What `except!` excludes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Excluded {
    /// `None` where a mistake was.
    Literal(Option<String>),
    Name(String, Span),
}

impl PatternKind {
    /// As it is written before the quote.
    pub fn prefix(self) -> &'static str {
        match self {
            PatternKind::Regex => "#",
            PatternKind::Early => "#e",
            PatternKind::Complement => "#ex",
            PatternKind::Substrings => "#substrs",
        }
    }
}

impl NodeKind {
    pub fn children(&self) -> &[NodeId] {
        match self {
            NodeKind::Sequence(parts) | NodeKind::Choice(parts) => parts,
            NodeKind::Repeat(child, ..) => std::slice::from_ref(child),
            _ => &[],
        }
    }
}

impl Ast {
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
                    NodeKind::Literal(text) => format!("literal {text:?}"),
                    NodeKind::Pattern(kind, text) => format!("{}{:?}", kind.prefix(), text.value),
                    NodeKind::Name(name) => format!("nonterminal {name}"),
                    NodeKind::Any => "any!".to_owned(),
                    NodeKind::Except(excluded, max) => {
                        let excluded = match excluded {
                            Excluded::Literal(text) => format!("{:?}", text.as_deref().unwrap_or_default()),
                            Excluded::Name(name, _) => name.clone(),
                        };
                        let max = max.map_or_else(String::new, |max| format!(" of {max} bytes at most"));
                        format!("except! {excluded}{max}")
                    }
                };
                let _ = writeln!(out, "{}{line}", "  ".repeat(depth));
                stack.extend(kind.children().iter().rev().map(|&child| (child, depth + 1)));
            }
        }
        out
    }
}
