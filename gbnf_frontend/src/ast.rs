//! A GBNF text as it is written: definitions, and the nodes of their right-hand sides.

use larkspur_grammar::definitions::{self, DumpSymbol};
use larkspur_grammar::{CharClass, Span};

pub(crate) use larkspur_grammar::definitions::{Definition, NodeId};

pub(crate) type Tree = definitions::Tree<Symbol>;
pub(crate) type Node = definitions::Node<Symbol>;
pub(crate) type NodeKind = definitions::NodeKind<Symbol>;

/// A text's definitions and comments, in its order.
#[derive(Clone, Debug)]
pub struct Ast {
    pub(crate) tree: Tree,
    /// From `#` to the end of the line.
    pub(crate) comments: Vec<Span>,
}

/// What is written in one piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    /// `"…"`, decoded.
    Literal(String),
    /// `[…]` and `.`.
    Class(CharClass),
    /// `<name>`, `<[id]>`; with `!` any other token.
    Token { text: String, negated: bool },
}

impl Ast {
    /// The tree as text, a node a line.
    pub fn dump(&self) -> String {
        self.tree.dump()
    }

    /// Its comments, from `#` to the end of the line.
    pub fn comments(&self) -> &[Span] {
        &self.comments
    }

    /// Whether nothing stands behind the sign of some definition.
    pub fn has_empty_rule(&self) -> bool {
        let is_empty = |body| matches!(&self.tree.nodes[body].kind, NodeKind::Sequence(parts) if parts.is_empty());
        self.tree.definitions.iter().any(|definition| is_empty(definition.body))
    }
}

impl DumpSymbol for Symbol {
    const DEFINITION: &'static str = "rule";

    fn line(&self) -> String {
        match self {
            Symbol::Literal(text) => format!("literal {text:?}"),
            Symbol::Class(class) => {
                let ranges: Vec<String> =
                    class.ranges().iter().map(|(low, high)| format!("{low:X}-{high:X}")).collect();
                format!("class {}", ranges.join(" "))
            }
            Symbol::Token { text, negated: false } => format!("token {text}"),
            Symbol::Token { text, negated: true } => format!("no token {text}"),
        }
    }
}
