//! Many literals as one pattern: a trie stepped by child look-up.

use serde::{Deserialize, Serialize};

/// A trie over byte strings; node 0 is the root.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LiteralTrie {
    /// Byte on the edge to each child, ascending within a node. Length: nodes - 1.
    edge_bytes: Vec<u8>,
    /// Node at the end of each edge. Parallel to `edge_bytes`.
    edge_nodes: Vec<u32>,
    /// First edge of each node, plus one past the end. Length: nodes + 1.
    edge_starts: Vec<u32>,
    /// Whether a literal ends at the node. Length: nodes.
    leaves: Vec<bool>,
}

impl LiteralTrie {
    /// The trie of `literals`, which are not empty. Cost: sorting plus their length.
    pub fn new(mut literals: Vec<&[u8]>) -> Self {
        literals.sort_unstable();
        literals.dedup();
        // Breadth first: a node is a range of sorted literals that share `depth` bytes.
        let shared = |pair: &[&[u8]]| pair[0].iter().zip(pair[1]).take_while(|(a, b)| a == b).count();
        let edges = literals.iter().map(|literal| literal.len()).sum::<usize>()
            - literals.windows(2).map(shared).sum::<usize>();
        let mut trie = Self {
            edge_bytes: Vec::with_capacity(edges),
            edge_nodes: Vec::with_capacity(edges),
            edge_starts: Vec::with_capacity(edges + 2),
            leaves: Vec::with_capacity(edges + 1),
        };
        trie.edge_starts.push(0);
        let mut queue = std::collections::VecDeque::from([(0, literals.len(), 0)]);
        let mut nodes = 1;
        while let Some((mut low, high, depth)) = queue.pop_front() {
            let is_leaf = low < high && literals[low].len() == depth;
            trie.leaves.push(is_leaf);
            low += usize::from(is_leaf);
            while low < high {
                let byte = literals[low][depth];
                let end = low + literals[low..high].partition_point(|literal| literal[depth] == byte);
                trie.edge_bytes.push(byte);
                trie.edge_nodes.push(nodes);
                nodes += 1;
                queue.push_back((low, end, depth + 1));
                low = end;
            }
            trie.edge_starts.push(trie.edge_bytes.len() as u32);
        }
        trie
    }

    /// The edges of a node: byte and child.
    pub fn children(&self, node: u32) -> impl Iterator<Item = (u8, u32)> + '_ {
        let range = self.edge_starts[node as usize] as usize..self.edge_starts[node as usize + 1] as usize;
        range.map(|edge| (self.edge_bytes[edge], self.edge_nodes[edge]))
    }

    /// Whether the table is one that [`new`](Self::new) makes; for one that was read.
    pub fn is_whole(&self) -> bool {
        let Self { edge_bytes, edge_nodes, edge_starts, leaves } = self;
        let (edges, nodes) = (edge_bytes.len(), leaves.len());
        let ends = edge_starts.first() == Some(&0) && edge_starts.last().is_some_and(|&last| last as usize == edges);
        // Breadth first, so that an edge's number is that of the node at its end, less one.
        let lengths = edge_nodes.len() == edges && nodes == edges + 1 && edge_starts.len() == nodes + 1;
        let is_node = |node: usize| {
            let (low, high) = (edge_starts[node] as usize, edge_starts[node + 1] as usize);
            let bytes = edge_bytes.get(low..high);
            // A node is older than its children, and without any it ends a literal.
            low >= node && (high > low || leaves[node]) && bytes.is_some_and(|bytes| bytes.is_sorted_by(|a, b| a < b))
        };
        let is_ordered = || edge_nodes.iter().enumerate().all(|(edge, &node)| node as usize == edge + 1);
        ends && lengths && !leaves[0] && is_ordered() && (0..nodes).all(is_node)
    }

    /// Whether a literal ends at the node.
    pub fn is_leaf(&self, node: u32) -> bool {
        self.leaves[node as usize]
    }
}
