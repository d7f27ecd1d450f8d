//! The ordinary tokens of a vocabulary as a trie of bytes, in flat arrays.
//!
//! Nodes are numbered depth-first, siblings by byte: the subtree of a node is the range that follows it, and a walk
//! that gives up on a node jumps to the end of that range.

use crate::branches::Branches;
use crate::vocabulary::TokenId;

/// Stands in [`TokenTrie::tokens`] for "no token ends at this node".
pub const NO_TOKEN: TokenId = TokenId::MAX;

/// The node of the empty byte string.
pub const ROOT: u32 = 0;

/// A trie over tokens. Special and empty tokens are never in it; node 0 is the root.
pub struct TokenTrie {
    /// Byte on the edge to the node (0 at the root). The four arrays have one entry per node, in depth-first order.
    bytes: Vec<u8>,
    /// Bytes on the path from the root.
    depths: Vec<u16>,
    /// The first node after the node's subtree.
    subtree_ends: Vec<u32>,
    /// Smallest id of the tokens that end at the node, or [`NO_TOKEN`].
    tokens: Vec<TokenId>,
    /// Child of the root by byte, or 0. Length: 256.
    root_children: Box<[u32; 256]>,
    branches: Branches,
    /// (canonical id, other id) of tokens with equal bytes; see [`TokenTrie::duplicates`].
    duplicates: Vec<(TokenId, TokenId)>,
    depth_max: usize,
    /// One more than the largest id in `tokens`; 0 when there is none.
    id_end: usize,
}

impl TokenTrie {
    /// The trie of `tokens`, which must be sorted by bytes, then id, non-empty and within [`limits`](crate::limits).
    pub(crate) fn from_sorted<'a>(tokens: impl IntoIterator<Item = (&'a [u8], TokenId), IntoIter: Clone>) -> Self {
        let tokens = tokens.into_iter();
        let mut assembler = Assembler::new(tokens.clone().map(|(bytes, _)| bytes.len()).sum());
        for (bytes, id) in tokens {
            assembler.push(bytes, id);
        }
        assembler.finish()
    }

    /// The trie of those tokens that `filter` takes. It is asked about each of several ids with equal bytes.
    ///
    /// Cost: one pass over this trie (5 ms for half of o200k, p50, 2-core AMD EPYC machine).
    pub fn subset(&self, filter: impl Fn(TokenId) -> bool) -> TokenTrie {
        let mut assembler = Assembler::new(self.len());
        let mut path = Vec::with_capacity(self.depth_max);
        // `duplicates` lists the groups in the order of their nodes.
        let mut duplicates = self.duplicates.as_slice();
        for node in 1..self.len() {
            path.truncate(self.depths[node] as usize - 1);
            path.push(self.bytes[node]);
            let token = self.tokens[node];
            if token == NO_TOKEN {
                continue;
            }
            let others = duplicates.iter().take_while(|&&(canonical, _)| canonical == token).count();
            let (group, rest) = duplicates.split_at(others);
            duplicates = rest;
            for id in std::iter::once(token).chain(group.iter().map(|&(_, other)| other)) {
                if filter(id) {
                    assembler.push(&path, id);
                }
            }
        }
        assembler.finish()
    }

    /// Number of nodes, the root included.
    #[allow(clippy::len_without_is_empty, reason = "the root is always there")]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Byte on the edge to each node, depth-first; 0 at the root.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes on the path to each node, depth-first.
    pub fn depths(&self) -> &[u16] {
        &self.depths
    }

    /// For each node, depth-first, the first node after its subtree.
    pub fn subtree_ends(&self) -> &[u32] {
        &self.subtree_ends
    }

    /// For each node, depth-first, the smallest id of the tokens that end there, or [`NO_TOKEN`].
    pub fn tokens(&self) -> &[TokenId] {
        &self.tokens
    }

    /// Bytes of the longest token.
    pub fn depth_max(&self) -> usize {
        self.depth_max
    }

    /// One more than the largest id that a walk can allow; 0 when the trie holds no token.
    pub fn id_end(&self) -> usize {
        self.id_end
    }

    /// The smallest id of the tokens that end at `node`.
    #[inline]
    pub fn token(&self, node: u32) -> Option<TokenId> {
        let token = self.tokens[node as usize];
        (token != NO_TOKEN).then_some(token)
    }

    /// The child of `node` by `byte`.
    #[inline]
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        if node == ROOT {
            let child = self.root_children[byte as usize];
            return (child != ROOT).then_some(child);
        }
        let end = self.subtree_ends[node as usize];
        if let Some((bytes, nodes)) = self.branches.children(node, end) {
            return bytes.iter().position(|&other| other == byte).map(|at| nodes[at]);
        }
        let mut child = node + 1;
        while child < end && self.bytes[child as usize] < byte {
            child = self.subtree_ends[child as usize];
        }
        (child < end && self.bytes[child as usize] == byte).then_some(child)
    }

    /// The children of `node`, by ascending byte.
    pub fn children(&self, node: u32) -> impl Iterator<Item = u32> + '_ {
        let end = self.subtree_ends[node as usize];
        let mut next = node + 1;
        std::iter::from_fn(move || {
            (next < end).then(|| {
                let child = next;
                next = self.subtree_ends[child as usize];
                child
            })
        })
    }

    /// The node that `bytes` lead to.
    pub fn node_of(&self, bytes: &[u8]) -> Option<u32> {
        bytes.iter().try_fold(ROOT, |node, &byte| self.child(node, byte))
    }

    /// The bytes that lead to a node. Cost: its depth times the children of the nodes on the way.
    pub fn path(&self, node: u32) -> Vec<u8> {
        let mut path = Vec::with_capacity(self.depths[node as usize] as usize);
        let mut at = ROOT;
        while at != node {
            if let Some((_, nodes)) = self.branches.children(at, self.subtree_ends[at as usize]) {
                at = nodes[nodes.partition_point(|&child| child <= node) - 1];
            } else {
                at += 1;
                while self.subtree_ends[at as usize] <= node {
                    at = self.subtree_ends[at as usize];
                }
            }
            path.push(self.bytes[at as usize]);
        }
        path
    }

    /// The smallest id of the tokens with exactly these bytes.
    pub fn token_of(&self, bytes: &[u8]) -> Option<TokenId> {
        self.node_of(bytes).and_then(|node| self.token(node))
    }

    /// The longest token that `bytes` begin with, and its length in bytes.
    pub fn longest_match(&self, bytes: &[u8]) -> Option<(TokenId, usize)> {
        let mut node = ROOT;
        let mut longest = None;
        for (at, &byte) in bytes.iter().enumerate() {
            let Some(child) = self.child(node, byte) else { break };
            node = child;
            longest = self.token(node).map(|token| (token, at + 1)).or(longest);
        }
        longest
    }

    /// (canonical id, other id) for each token whose bytes a token with a smaller id has too; the trie knows only the
    /// canonical one. Groups stand in the order of their nodes, ids ascending within each.
    pub fn duplicates(&self) -> &[(TokenId, TokenId)] {
        &self.duplicates
    }

    /// Gives tokens with equal bytes equal bits: that of the canonical id. To be called once, after the last walk.
    ///
    /// Panics if `words` is too short for one of the ids.
    pub fn finish_words(&self, words: &mut [u32]) {
        for &(canonical, other) in &self.duplicates {
            let bit = words[canonical as usize / 32] >> (canonical % 32) & 1;
            let word = &mut words[other as usize / 32];
            *word = *word & !(1 << (other % 32)) | bit << (other % 32);
        }
    }

    /// [`Self::finish_words`] on a [`TokenMask`](crate::TokenMask).
    pub fn finish_mask(&self, mask: &mut crate::TokenMask) {
        self.finish_words(mask.words_mut());
    }
}

impl std::fmt::Debug for TokenTrie {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let tokens = self.tokens.iter().filter(|&&token| token != NO_TOKEN).count();
        write!(f, "TokenTrie({} nodes, {tokens} tokens, {} duplicates)", self.len(), self.duplicates.len())
    }
}

/// Builds a trie from sorted tokens: each shares a path with the one before and adds the rest as new nodes.
struct Assembler {
    trie: TokenTrie,
    /// Nodes from the root to that of the last token: `path[d]` has depth `d`.
    path: Vec<u32>,
}

impl Assembler {
    /// For at most so many nodes beside the root. Room that is not written takes addresses only, and lists that grow would
    /// leave their former selves behind: 40 MB of them for o200k.
    fn new(nodes_max: usize) -> Self {
        let trie = TokenTrie {
            bytes: with_room(0, nodes_max),
            depths: with_room(0, nodes_max),
            subtree_ends: with_room(0, nodes_max),
            tokens: with_room(NO_TOKEN, nodes_max),
            root_children: Box::new([ROOT; 256]),
            branches: Branches::default(),
            duplicates: Vec::new(),
            depth_max: 0,
            id_end: 0,
        };
        Self { trie, path: vec![ROOT] }
    }

    fn push(&mut self, bytes: &[u8], id: TokenId) {
        debug_assert!(!bytes.is_empty() && bytes.len() <= crate::limits::TOKEN_LEN_MAX);
        let trie = &mut self.trie;
        let shared =
            self.path[1..].iter().zip(bytes).take_while(|&(&node, &byte)| trie.bytes[node as usize] == byte).count();
        for node in self.path.drain(shared + 1..) {
            trie.subtree_ends[node as usize] = trie.bytes.len() as u32;
        }
        for &byte in &bytes[shared..] {
            let node = trie.bytes.len() as u32;
            if self.path.len() == 1 {
                trie.root_children[byte as usize] = node;
            }
            trie.bytes.push(byte);
            trie.depths.push(self.path.len() as u16);
            trie.subtree_ends.push(0);
            trie.tokens.push(NO_TOKEN);
            self.path.push(node);
        }
        trie.depth_max = trie.depth_max.max(bytes.len());
        trie.id_end = trie.id_end.max(id as usize + 1);
        let token = &mut trie.tokens[self.path[bytes.len()] as usize];
        if *token == NO_TOKEN {
            *token = id;
        } else {
            debug_assert!(*token < id, "tokens are sorted");
            trie.duplicates.push((*token, id));
        }
    }

    fn finish(self) -> TokenTrie {
        let mut trie = self.trie;
        for node in self.path {
            trie.subtree_ends[node as usize] = trie.bytes.len() as u32;
        }
        trie.branches = Branches::of(&trie.bytes, &trie.subtree_ends);
        trie.bytes.shrink_to_fit();
        trie.depths.shrink_to_fit();
        trie.subtree_ends.shrink_to_fit();
        trie.tokens.shrink_to_fit();
        trie
    }
}

fn with_room<T>(first: T, more: usize) -> Vec<T> {
    let mut list = Vec::with_capacity(more + 1);
    list.push(first);
    list
}
