//! A regex as it was parsed: a table of nodes, children before parents. Only leaves without anchors have several parents.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::define_id;
use crate::index::{Id, IndexVec};
use crate::regex::{ByteSet, CharClass};

define_id! {
    /// A node of a [`Tree`].
    pub(super) struct AstId = "a";
}

/// Where an assertion looks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Ahead,
    Behind,
}

/// Whether what an assertion looks for must stand there or must not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sign {
    Positive,
    Negative,
}

/// One node.
#[derive(Clone, Debug)]
pub(super) enum Ast {
    /// The empty text; also what stands for a mistake.
    Empty,
    /// A range of [`Tree::text`].
    Literal(Range<u32>),
    /// One character.
    Class(CharClass),
    /// One byte.
    Bytes(ByteSet),
    /// One after the other.
    Concat(Box<[AstId]>),
    /// Any of them.
    Or(Box<[AstId]>),
    /// `min` to `max` times.
    Repeat(AstId, u32, Option<u32>),
    /// `(?=…)` and its kin: what must (or must not) stand behind or before this place.
    Look {
        direction: Direction,
        sign: Sign,
        /// What to look for.
        child: AstId,
        /// `(?=`.
        span: Range<usize>,
    },
    /// `\b` (`\B` if negated): of the characters before and after, exactly one is of these.
    Boundary { negated: bool, word: CharClass, span: Range<usize> },
    /// A place where something must stand or end.
    Anchor(Anchor, Range<usize>),
}

/// Where an anchor holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Anchor {
    /// `^`, `\A`.
    TextStart,
    /// `^` with flag `m`.
    LineStart,
    /// `$`, `\z`, and Python's `\Z`.
    TextEnd,
    /// Python's `$`: also before a line break that ends the text.
    TextEndOrFinalNewline,
    /// `$` with flag `m`.
    LineEnd,
}

impl Anchor {
    /// Whether it is about what stands before.
    pub(super) fn is_start(self) -> bool {
        matches!(self, Anchor::TextStart | Anchor::LineStart)
    }
}

/// What a node knows of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct AstInfo {
    /// It can only match the empty text.
    pub zero_width: bool,
    /// There are anchors or other assertions in it.
    pub anchored: bool,
    /// There are assertions in it that are no anchors.
    pub looks: bool,
    /// There are lazy quantifiers in it whose laziness matters.
    pub lazy: bool,
}

/// A parsed regex.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    pub nodes: IndexVec<AstId, Ast>,
    /// Indexed as `nodes`.
    pub infos: IndexVec<AstId, AstInfo>,
    /// The bytes of all literals.
    pub text: Vec<u8>,
    /// `None` if parsing was given up.
    pub root: Option<AstId>,
    /// Repetitions with a lazy quantifier, and where that stands.
    pub lazy: FxHashMap<AstId, Range<usize>>,
    /// Line breaks are also `\r` (Rust's flag `R`) in some `^` or `$` with flag `m`.
    pub crlf_lines: bool,
}

impl Tree {
    pub(super) fn push(&mut self, node: Ast) -> AstId {
        let all = |parts: &[AstId]| AstInfo {
            zero_width: parts.iter().all(|&part| self.infos[part].zero_width),
            anchored: parts.iter().any(|&part| self.infos[part].anchored),
            looks: parts.iter().any(|&part| self.infos[part].looks),
            lazy: parts.iter().any(|&part| self.infos[part].lazy),
        };
        let info = match &node {
            Ast::Empty => AstInfo { zero_width: true, anchored: false, looks: false, lazy: false },
            Ast::Literal(range) => AstInfo { zero_width: range.is_empty(), anchored: false, looks: false, lazy: false },
            Ast::Class(_) | Ast::Bytes(_) => AstInfo { zero_width: false, anchored: false, looks: false, lazy: false },
            Ast::Concat(parts) | Ast::Or(parts) => all(parts),
            Ast::Repeat(child, _, max) => {
                let info = self.infos[*child];
                AstInfo { zero_width: info.zero_width || *max == Some(0), ..info }
            }
            Ast::Anchor(..) => AstInfo { zero_width: true, anchored: true, looks: false, lazy: false },
            Ast::Look { .. } | Ast::Boundary { .. } => {
                AstInfo { zero_width: true, anchored: true, looks: true, lazy: false }
            }
        };
        self.infos.push(info);
        self.nodes.push(node)
    }
    pub(super) fn concat(&mut self, parts: Vec<AstId>) -> AstId {
        match parts.as_slice() {
            [] => self.push(Ast::Empty),
            &[only] => only,
            _ => self.push(Ast::Concat(parts.into())),
        }
    }
    pub(super) fn or(&mut self, parts: Vec<AstId>) -> AstId {
        match parts.as_slice() {
            &[only] => only,
            _ => self.push(Ast::Or(parts.into())),
        }
    }
    /// Empties the nodes that the root does not reach: what they held may have other parents.
    pub(super) fn drop_unused(&mut self) {
        let mut used = vec![false; self.nodes.len()];
        let mut stack: Vec<AstId> = self.root.into_iter().collect();
        while let Some(id) = stack.pop() {
            used[id.index()] = true;
            match &self.nodes[id] {
                Ast::Concat(parts) | Ast::Or(parts) => stack.extend(parts.iter()),
                Ast::Repeat(child, ..) | Ast::Look { child, .. } => stack.push(*child),
                _ => {}
            }
        }
        for (node, _) in self.nodes.iter_mut().zip(used).filter(|(_, used)| !used) {
            *node = Ast::Empty;
        }
    }
    pub(super) fn literal(&mut self, bytes: &[u8]) -> AstId {
        let start = self.text.len() as u32;
        self.text.extend_from_slice(bytes);
        self.push(Ast::Literal(start..self.text.len() as u32))
    }
}
