//! A KBNF text as it is written: definitions, and the nodes of their right-hand sides.

use larkspur_grammar::definitions::{self, DumpSymbol};
use larkspur_grammar::{Span, TextMap};

pub(crate) use larkspur_grammar::definitions::{Definition, NodeId};

pub(crate) type Tree = definitions::Tree<Symbol>;
pub(crate) type Node = definitions::Node<Symbol>;
/// `?` and `[ ]` are 0 to 1 times, `*` and `{ }` 0 or more, `+` 1 or more.
pub(crate) type NodeKind = definitions::NodeKind<Symbol>;

/// A text's definitions, in its order.
#[derive(Clone, Debug)]
pub struct Ast {
    pub(crate) tree: Tree,
}

/// What is written in one piece.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Symbol {
    /// `"…"`, decoded.
    Literal(String),
    /// `#"…"`, decoded.
    Pattern(PatternKind, Text),
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

impl Ast {
    /// The tree as text, a node a line.
    pub fn dump(&self) -> String {
        self.tree.dump()
    }
}

impl DumpSymbol for Symbol {
    const DEFINITION: &'static str = "nonterminal";

    fn line(&self) -> String {
        match self {
            Symbol::Literal(text) => format!("literal {text:?}"),
            Symbol::Pattern(kind, text) => format!("{}{:?}", kind.prefix(), text.value),
            Symbol::Any => "any!".to_owned(),
            Symbol::Except(excluded, max) => {
                let excluded = match excluded {
                    Excluded::Literal(text) => format!("{:?}", text.as_deref().unwrap_or_default()),
                    Excluded::Name(name, _) => name.clone(),
                };
                let max = max.map_or_else(String::new, |max| format!(" of {max} bytes at most"));
                format!("except! {excluded}{max}")
            }
        }
    }
}
