//! The children of a trie's large nodes, side by side.
//!
//! A child is found by its byte, and in the flat trie children stand as far apart as their subtrees are long: to find `"c…`
//! in o200k took a look at some fifty places in memory. The few thousand nodes with large subtrees have lists of their
//! children here.

use std::ops::Range;

use rustc_hash::FxHashMap;

/// Nodes with smaller subtrees have their children close by.
const SUBTREE_MIN: u32 = 64;

/// Lists of children by node.
#[derive(Default)]
pub(crate) struct Branches {
    /// Where the children of a node stand in the lists.
    of: FxHashMap<u32, Range<u32>>,
    bytes: Vec<u8>,
    nodes: Vec<u32>,
}

impl Branches {
    /// The children of the root and of the large nodes of a trie. Cost: O(such nodes and their children).
    pub fn of(bytes: &[u8], subtree_ends: &[u32]) -> Self {
        let mut branches = Self::default();
        let mut large = vec![0];
        while let Some(node) = large.pop() {
            let end = subtree_ends[node as usize];
            let from = branches.nodes.len() as u32;
            let mut child = node + 1;
            while child < end {
                let next = subtree_ends[child as usize];
                if next - child >= SUBTREE_MIN {
                    large.push(child);
                }
                branches.nodes.push(child);
                child = next;
            }
            branches.of.insert(node, from..branches.nodes.len() as u32);
        }
        branches.bytes = branches.nodes.iter().map(|&node| bytes[node as usize]).collect();
        branches.bytes.shrink_to_fit();
        branches.nodes.shrink_to_fit();
        branches
    }

    /// The children of a large node, by ascending byte, and their bytes. `None` of others.
    #[inline]
    pub fn children(&self, node: u32, subtree_end: u32) -> Option<(&[u8], &[u32])> {
        if subtree_end - node < SUBTREE_MIN {
            return None;
        }
        let Range { start, end } = self.of.get(&node)?;
        let range = *start as usize..*end as usize;
        Some((&self.bytes[range.clone()], &self.nodes[range]))
    }
}
