//! A GBNF text as it is written: definitions, and the nodes of their right-hand sides.

use std::fmt::Write;

use larkspur_grammar::{CharClass, IndexVec, Span, define_id};

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
    /// From `#` to the end of the line.
    pub(crate) comments: Vec<Span>,
}

/// `name ::= body`.
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
    /// One after the other; empty for the empty text.
    Sequence(Vec<NodeId>),
    /// Any of them; at least two.
    Choice(Vec<NodeId>),
    /// `min` to `max` times.
    Repeat(NodeId, u32, Option<u32>),
    /// `"…"`, decoded.
    Literal(String),
    /// `[…]` and `.`.
    Class(CharClass),
    /// A rule.
    Name(String),
    /// `<name>`, `<[id]>`; with `!` any other token.
    Token { text: String, negated: bool },
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
                    NodeKind::Class(class) => {
                        let ranges: Vec<String> =
                            class.ranges().iter().map(|(low, high)| format!("{low:X}-{high:X}")).collect();
                        format!("class {}", ranges.join(" "))
                    }
                    NodeKind::Name(name) => format!("rule {name}"),
                    NodeKind::Token { text, negated: false } => format!("token {text}"),
                    NodeKind::Token { text, negated: true } => format!("no token {text}"),
                };
                let _ = writeln!(out, "{}{line}", "  ".repeat(depth));
                stack.extend(kind.children().iter().rev().map(|&child| (child, depth + 1)));
            }
        }
        out
    }
}
