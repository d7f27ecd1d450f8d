//! The trie numbered level by level: what a walk over a whole level at a time reads in a straight line.
//!
//! The parent of a node has a smaller number, the children of a node are a range, and the children of a range of
//! nodes are a range too.

use super::{ROOT, TokenTrie};
use crate::vocabulary::TokenId;

/// A [`TokenTrie`] in level order. Number 0 is the root; within a level, nodes stand in the order of their paths.
#[derive(Debug)]
pub struct LevelOrder {
    /// Number of the parent (0 at the root). Length: nodes, as of the next three.
    parents: Vec<u32>,
    /// Byte on the edge to the node (0 at the root).
    bytes: Vec<u8>,
    /// Smallest id of the tokens that end at the node, or [`NO_TOKEN`](super::NO_TOKEN).
    tokens: Vec<TokenId>,
    /// The node in depth-first order.
    depth_first: Vec<u32>,
    /// First child of each node, plus one past the last node: children of `n` are `child_starts[n]..child_starts[n + 1]`.
    child_starts: Vec<u32>,
    /// First node of each level, plus one past the last node. Length: levels + 1; indexed by depth.
    level_starts: Vec<u32>,
}

impl LevelOrder {
    /// Cost: two passes over the trie.
    pub(super) fn of(trie: &TokenTrie) -> Self {
        let len = trie.len();
        let mut order = Self {
            parents: vec![0; len],
            bytes: vec![0; len],
            tokens: vec![super::NO_TOKEN; len],
            depth_first: vec![0; len],
            child_starts: vec![0; len + 1],
            level_starts: level_starts(trie),
        };
        // Depth-first order keeps the nodes of one level in the order of their paths: each goes to its level's next
        // free place, and its parent is the node last placed on the level above.
        let mut next = order.level_starts.clone();
        for node in ROOT as usize..len {
            let depth = trie.depths[node] as usize;
            let place = next[depth] as usize;
            next[depth] += 1;
            order.bytes[place] = trie.bytes[node];
            order.tokens[place] = trie.tokens[node];
            order.depth_first[place] = node as u32;
            order.parents[place] = if depth == 0 { 0 } else { next[depth - 1] - 1 };
            // All earlier nodes of this level have their children placed, and this one's come next.
            order.child_starts[place] = next[depth + 1];
        }
        order.child_starts[len] = len as u32;
        order
    }

    /// Number of nodes, the root included.
    #[allow(clippy::len_without_is_empty, reason = "the root is always there")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Number of the parent of each node; 0 at the root.
    pub fn parents(&self) -> &[u32] {
        &self.parents
    }

    /// Byte on the edge to each node; 0 at the root.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// For each node the smallest id of the tokens that end there, or [`NO_TOKEN`](super::NO_TOKEN).
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// For each node its number in the [`TokenTrie`].
    pub fn depth_first(&self) -> &[u32] {
        &self.depth_first
    }

    /// First child of each node, plus one past the last node; the children of `n` end where those of `n + 1` start.
    pub fn child_starts(&self) -> &[u32] {
        &self.child_starts
    }

    /// First node of each level, plus one past the last node; indexed by depth, the root's is 0.
    pub fn level_starts(&self) -> &[u32] {
        &self.level_starts
    }
}

/// First node of each level in level order, plus one past the last node.
fn level_starts(trie: &TokenTrie) -> Vec<u32> {
    let mut starts = vec![0; trie.depth_max + 2];
    for &depth in &trie.depths {
        starts[depth as usize + 1] += 1;
    }
    let mut total = 0;
    for start in &mut starts {
        total += *start;
        *start = total;
    }
    starts
}
