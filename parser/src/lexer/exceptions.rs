//! Texts that a recorded lexeme leaves out, as tries: what is left of such a lexeme is what is left of the whole one and
//! a node. Where the text leaves the trie, nothing can be left out any more, and what is left is the lexeme's own rest:
//! a thousand sets of exceptions share all lexer states but those along their tries.
//!
//! Nodes are interned, so a set with one text more shares all nodes but those on the text's path.

use larkspur_grammar::hashing::hash_of;
use larkspur_grammar::{ByteSet, define_id};

use crate::growing::{GrowingIds, GrowingVec};

define_id! {
    /// A node of a trie with all below it, which are the texts that are left out.
    pub(crate) struct TrieId = "t";
}

/// No text is left out.
pub(crate) const NO_TEXTS: TrieId = TrieId(0);

/// A node and all below it.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Node {
    /// Whether a text ends here.
    is_leaf: bool,
    /// By ascending byte.
    children: Box<[(u8, TrieId)]>,
    /// Texts that end here and below.
    texts: u32,
}

/// All tries of one grammar and epoch.
#[derive(Debug)]
pub(crate) struct Tries {
    nodes: GrowingVec<TrieId, Node>,
    /// By what they are.
    ids: GrowingIds<TrieId>,
    /// Children of all nodes.
    edges: usize,
}

impl Tries {
    pub fn new() -> Self {
        let mut tries = Self { nodes: GrowingVec::default(), ids: GrowingIds::default(), edges: 0 };
        let empty = tries.intern(Node { is_leaf: false, children: Box::new([]), texts: 0 });
        debug_assert_eq!(empty, NO_TEXTS);
        tries
    }

    fn node(&mut self, is_leaf: bool, children: Box<[(u8, TrieId)]>) -> TrieId {
        let below: u32 = children.iter().map(|&(_, child)| self.nodes[child].texts).sum();
        self.intern(Node { is_leaf, children, texts: below + u32::from(is_leaf) })
    }

    fn intern(&mut self, node: Node) -> TrieId {
        let hash = hash_of(&node);
        if let Some(known) = self.ids.find(hash, |id| self.nodes[id] == node) {
            return known;
        }
        self.edges += node.children.len();
        let id = self.nodes.push(node);
        self.ids.insert(hash, id);
        id
    }

    /// Bytes that the tries take, roughly.
    pub fn bytes(&self) -> usize {
        self.nodes.len() * 80 + self.edges * 8
    }

    /// Whether a text ends at the node.
    pub fn is_leaf(&self, id: TrieId) -> bool {
        self.nodes[id].is_leaf
    }

    /// Number of texts.
    pub fn len(&self, id: TrieId) -> u32 {
        self.nodes[id].texts
    }

    /// The bytes that texts go on with, and what is then left of those.
    pub fn children(&self, id: TrieId) -> &[(u8, TrieId)] {
        &self.nodes[id].children
    }

    /// The bytes that texts go on with.
    pub fn bytes_of(&self, id: TrieId) -> ByteSet {
        let mut bytes = ByteSet::EMPTY;
        self.children(id).iter().for_each(|&(byte, _)| bytes.insert(byte));
        bytes
    }

    /// What is left of the texts after a byte.
    pub fn child(&self, id: TrieId, byte: u8) -> TrieId {
        let children = self.children(id);
        children.binary_search_by_key(&byte, |&(byte, _)| byte).map_or(NO_TEXTS, |index| children[index].1)
    }

    /// The texts and one more. Cost: the text's length, and the children of the nodes on its path.
    pub fn with(&mut self, id: TrieId, text: &[u8]) -> TrieId {
        let mut path = Vec::with_capacity(text.len());
        let mut at = id;
        for &byte in text {
            path.push(at);
            at = self.child(at, byte);
        }
        let children = self.nodes[at].children.clone();
        let mut below = self.node(true, children);
        for (&node, &byte) in path.iter().zip(text).rev() {
            let Node { is_leaf, children, .. } = &self.nodes[node];
            let (is_leaf, mut children) = (*is_leaf, children.to_vec());
            match children.binary_search_by_key(&byte, |&(byte, _)| byte) {
                Ok(index) => children[index].1 = below,
                Err(index) => children.insert(index, (byte, below)),
            }
            below = self.node(is_leaf, children.into());
        }
        below
    }
}
