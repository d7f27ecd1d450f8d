//! The walk: which tokens does a recognizer take?
//!
//! Depth-first over [`TokenTrie`], with the recognizer's states on a stack indexed by depth; where it refuses a byte,
//! the walk jumps over that node's whole subtree.

use crate::mask::TokenMask;
use crate::trie::{NO_TOKEN, ROOT, TokenTrie};

/// Something that reads bytes one at a time and can go back to any state it has been in.
pub trait Recognizer {
    /// A place in the text. Small, since the walk keeps one per byte of the longest token.
    type State: Copy;

    /// The state after `byte`, or `None` if it cannot follow.
    fn step(&mut self, state: Self::State, byte: u8) -> Option<Self::State>;
}

/// Longest token for which the states live on the machine's stack; vocabularies with longer ones allocate per walk.
/// It is that of o200k, cl100k, llama-3.1, qwen3, deepseek-v3 and gpt2.
const DEPTH_INLINE: usize = 128;

impl TokenTrie {
    /// Allows in `mask` each token whose bytes `recognizer` takes from `start`; other bits stay as they are.
    /// Of tokens with equal bytes only the canonical one: see [`TokenTrie::finish_mask`].
    ///
    /// Returns the nodes visited (those that [`Recognizer::step`] was asked about).
    /// Panics if `mask` is too short for this trie's tokens.
    pub fn walk<R: Recognizer>(&self, recognizer: &mut R, start: R::State, mask: &mut TokenMask) -> u64 {
        self.walk_from(ROOT, recognizer, start, mask)
    }

    /// As [`Self::walk`], for the tokens below `node`: `start` is the state after the bytes that lead to `node`, and a
    /// token that ends at `node` itself is left alone. For pending bytes and token healing.
    pub fn walk_from<R: Recognizer>(
        &self,
        node: u32,
        recognizer: &mut R,
        start: R::State,
        mask: &mut TokenMask,
    ) -> u64 {
        self.walk_open(node, |_| true, recognizer, start, mask)
    }

    /// As [`Self::walk_from`], for the nodes that are open: what is below another one is left alone.
    pub fn walk_open<R: Recognizer>(
        &self,
        node: u32,
        is_open: impl Fn(usize) -> bool,
        recognizer: &mut R,
        start: R::State,
        mask: &mut TokenMask,
    ) -> u64 {
        assert!(self.id_end() <= mask.vocabulary_len(), "a mask of {} bits is too short", mask.vocabulary_len());
        let depth = self.depths()[node as usize] as usize;
        let levels = self.depth_max() - depth + 1;
        if levels <= DEPTH_INLINE + 1 {
            self.walk_with(node, is_open, recognizer, &mut [start; DEPTH_INLINE + 1], mask.words_mut())
        } else {
            self.walk_with(node, is_open, recognizer, &mut vec![start; levels], mask.words_mut())
        }
    }

    /// `states[0]` is the state at `node`; there is one place for each level below it.
    ///
    /// o200k, every byte taken, 421,660 nodes, one thread of a 2-core AMD EPYC (Zen 5) machine, p50: 0.99 ns per node
    /// with a recognizer without state, 1.7 ns with a table of next states (0.7 ms for the whole trie).
    /// The bit is written without a branch, which half of the nodes would mispredict (3.1 and 4.0 ns). Slices of equal
    /// length spare the bounds checks but those of `states` and `words`; without these too, in unsafe code, it is 0.90
    /// and 1.5 ns, not enough for `unsafe`.
    fn walk_with<R: Recognizer>(
        &self,
        node: u32,
        is_open: impl Fn(usize) -> bool,
        recognizer: &mut R,
        states: &mut [R::State],
        words: &mut [u32],
    ) -> u64 {
        let end = self.subtree_ends()[node as usize] as usize;
        let (bytes, depths) = (&self.bytes()[..end], &self.depths()[..end]);
        let (subtree_ends, tokens) = (&self.subtree_ends()[..end], &self.tokens()[..end]);
        let base = depths[node as usize] as usize;
        let mut next = node as usize + 1;
        let mut visited = 0;
        while next < end {
            visited += 1;
            let level = depths[next] as usize - base;
            let step = if is_open(next) { recognizer.step(states[level - 1], bytes[next]) } else { None };
            let Some(state) = step else {
                next = subtree_ends[next] as usize;
                continue;
            };
            states[level] = state;
            let token = tokens[next];
            // No token: no bit, into the first word.
            let ends_token = token != NO_TOKEN;
            let word = if ends_token { token as usize / 32 } else { 0 };
            words[word] |= u32::from(ends_token) << (token % 32);
            next += 1;
        }
        visited
    }
}
