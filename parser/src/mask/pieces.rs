//! Pieces: parts of the trie, such as what is left of all tokens behind the end of some lexeme.

use std::sync::{Arc, OnceLock};

use larkspur_grammar::define_id;
use larkspur_toktrie::ROOT;

use crate::counting_sort::by_key;
use crate::slicer::{PieceNode, Slicer};

define_id! {
    /// A part of the trie.
    pub(super) struct PieceId = "t";
}

/// All of the trie.
pub(super) const ALL: PieceId = PieceId(0);

/// The nodes of a piece but for those that are below others of it.
#[derive(Debug)]
pub(super) struct Piece {
    /// Ascending.
    pub nodes: Arc<[PieceNode]>,
    /// The same, sorted by the byte that enters them: of the thousands behind a string's end few begin as the next key does.
    by_byte: Box<[PieceNode]>,
    /// These bytes, ascending, each with the end of its nodes.
    ends: Box<[(u8, u32)]>,
    /// [`Slicer::behind_space`], once that was asked.
    behind_space: OnceLock<Box<[usize]>>,
}

/// Of pieces of fewer nodes it is not asked what they are behind.
const MANY_NODES: usize = 64;

impl Piece {
    pub fn new(nodes: Arc<[PieceNode]>, slicer: &Slicer) -> Self {
        let mut bytes: Vec<u8> = Vec::with_capacity(nodes.len());
        let (mut trie, mut root) = slicer.trie_of(nodes.first().copied().unwrap_or(0));
        for &node in &*nodes {
            if (node - root) as usize >= trie.len() {
                (trie, root) = slicer.trie_of(node);
            }
            bytes.push(trie.bytes()[(node - root) as usize]);
        }
        let (by_byte, starts) = by_key(bytes.into_iter().zip(nodes.iter().copied()));
        let met = (0..=255u8).filter(|&byte| starts[usize::from(byte)] < starts[usize::from(byte) + 1]);
        let ends = met.map(|byte| (byte, starts[usize::from(byte) + 1])).collect();
        Self { nodes, by_byte, ends, behind_space: OnceLock::new() }
    }

    pub fn bytes(&self) -> usize {
        size_of::<Self>() + 2 * size_of_val(&*self.nodes) + size_of_val(&*self.ends)
    }

    /// See [`Slicer::behind_space`].
    pub fn behind_space(&self, slicer: &Slicer) -> &[usize] {
        let find = || slicer.behind_space(&self.nodes).into();
        if self.nodes.len() < MANY_NODES { &[] } else { self.behind_space.get_or_init(find) }
    }

    /// The nodes that a byte enters.
    pub fn entered_by(&self, byte: u8) -> &[PieceNode] {
        match self.ends.binary_search_by_key(&byte, |&(byte, _)| byte) {
            Ok(at) => {
                let first = if at == 0 { 0 } else { self.ends[at - 1].1 };
                &self.by_byte[first as usize..self.ends[at].1 as usize]
            }
            Err(_) => &[],
        }
    }
}

/// A piece, or all of the trie.
#[derive(Clone, Debug)]
pub(super) enum PieceRef {
    All,
    Part(Arc<Piece>),
}

impl PieceRef {
    /// Adds the nodes that a byte enters.
    pub fn entered_by(&self, slicer: &Slicer, byte: u8, nodes: &mut impl Extend<PieceNode>) {
        match self {
            PieceRef::All => {
                nodes.extend(slicer.rooted_tries().filter_map(|(trie, root)| Some(root + trie.child(ROOT, byte)?)));
            }
            PieceRef::Part(piece) => nodes.extend(piece.entered_by(byte).iter().copied()),
        }
    }

    /// All nodes, ascending.
    pub fn nodes(&self, slicer: &Slicer) -> Arc<[PieceNode]> {
        match self {
            PieceRef::All => slicer.roots.clone(),
            PieceRef::Part(piece) => piece.nodes.clone(),
        }
    }
}
