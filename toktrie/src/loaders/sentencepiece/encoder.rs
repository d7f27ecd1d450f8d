//! Text to pieces, as SentencePiece does it: merges by score (BPE), or the best path (unigram).
//!
//! Follows T. Kudo and J. Richardson, "SentencePiece", EMNLP 2018 (system demonstrations).
//! Differs: works on bytes in which a blank is a blank; pieces marked unused take no part.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

use super::PieceKind;
use crate::trie::{ROOT, TokenTrie};
use crate::vocabulary::TokenId;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Algorithm {
    Bpe,
    Unigram,
}

/// A piece that stands for text.
pub(super) struct Piece {
    pub(super) id: TokenId,
    pub(super) bytes: Vec<u8>,
    pub(super) score: f32,
    pub(super) kind: PieceKind,
}

pub(super) struct Encoder {
    algorithm: Algorithm,
    /// Normal and user-defined pieces.
    pieces: FxHashMap<Box<[u8]>, (TokenId, f32)>,
    /// The same for matching at a place.
    trie: TokenTrie,
    /// Score by id, for `trie`. Length: one more than the largest id.
    scores: Vec<f32>,
    /// Pieces that are taken whole wherever they stand, before anything else.
    user_defined: TokenTrie,
    /// Token by byte, for text without a piece. Length: 256.
    byte_tokens: Vec<Option<TokenId>>,
    /// Of a character without a piece, in a unigram model.
    unknown_score: f32,
}

impl Encoder {
    pub(super) fn new(algorithm: Algorithm, mut pieces: Vec<Piece>) -> Self {
        let mut byte_tokens = vec![None; 256];
        for piece in pieces.iter().filter(|piece| piece.kind == PieceKind::Byte && piece.bytes.len() == 1) {
            byte_tokens[piece.bytes[0] as usize] = Some(piece.id);
        }
        pieces.retain(|piece| {
            matches!(piece.kind, PieceKind::Normal | PieceKind::UserDefined)
                && !piece.bytes.is_empty()
                && piece.bytes.len() <= crate::limits::TOKEN_LEN_MAX
        });
        pieces.sort_unstable_by(|a, b| (&a.bytes, a.id).cmp(&(&b.bytes, b.id)));
        let normal_scores = || pieces.iter().filter(|piece| piece.kind == PieceKind::Normal).map(|piece| piece.score);
        let score_max = normal_scores().reduce(f32::max).unwrap_or(0.0);
        let unknown_score = normal_scores().reduce(f32::min).unwrap_or(0.0) - 10.0;
        for piece in pieces.iter_mut().filter(|piece| piece.kind == PieceKind::UserDefined) {
            // Better than any way to cut the same text.
            piece.score = piece.bytes.len() as f32 * score_max - 0.1;
        }
        let mut scores = vec![0.0; pieces.iter().map(|piece| piece.id as usize + 1).max().unwrap_or(0)];
        for piece in &pieces {
            scores[piece.id as usize] = piece.score;
        }
        let is_user_defined = |piece: &&Piece| piece.kind == PieceKind::UserDefined;
        let trie = TokenTrie::from_sorted(pieces.iter().map(|piece| (piece.bytes.as_slice(), piece.id)));
        let user_defined = TokenTrie::from_sorted(
            pieces.iter().filter(is_user_defined).map(|piece| (piece.bytes.as_slice(), piece.id)),
        );
        // Of equal pieces the first one counts; inserted backwards, it is the last to be written.
        let pieces =
            pieces.into_iter().rev().map(|piece| (piece.bytes.into_boxed_slice(), (piece.id, piece.score))).collect();
        Self { algorithm, pieces, trie, scores, user_defined, byte_tokens, unknown_score }
    }

    /// The pieces of `text`. A character without a piece becomes its bytes' pieces; bytes without one are left out.
    pub(super) fn encode(&self, text: &str) -> Vec<TokenId> {
        match self.algorithm {
            Algorithm::Bpe => self.encode_bpe(text),
            Algorithm::Unigram => self.encode_unigram(text),
        }
    }

    fn push_bytes(&self, bytes: &[u8], ids: &mut Vec<TokenId>) {
        ids.extend(bytes.iter().filter_map(|&byte| self.byte_tokens[byte as usize]));
    }

    /// Cost: O(bytes · log bytes), times the longest piece.
    fn encode_bpe(&self, text: &str) -> Vec<TokenId> {
        let bytes = text.as_bytes();
        let mut symbols = self.symbols(text);
        let mut merges = BinaryHeap::new();
        for left in 0..symbols.len().saturating_sub(1) {
            self.propose(bytes, &symbols, left, &mut merges);
        }
        while let Some(merge) = merges.pop() {
            let (left, right) = (symbols[merge.left], symbols[merge.right]);
            // A merge is stale if either side has meanwhile been merged with something else.
            if left.start == left.end || right.start == right.end || right.end - left.start != merge.len {
                continue;
            }
            symbols[merge.left].end = right.end;
            symbols[merge.left].next = right.next;
            symbols[merge.right].start = right.end;
            if let Some(after) = symbols.get_mut(right.next) {
                after.previous = merge.left;
            }
            if left.previous != NONE {
                self.propose(bytes, &symbols, left.previous, &mut merges);
            }
            self.propose(bytes, &symbols, merge.left, &mut merges);
        }
        let mut ids = Vec::new();
        for symbol in symbols.iter().filter(|symbol| symbol.start < symbol.end) {
            let symbol_bytes = &bytes[symbol.start..symbol.end];
            match self.pieces.get(symbol_bytes) {
                Some(&(id, _)) => ids.push(id),
                None => self.push_bytes(symbol_bytes, &mut ids),
            }
        }
        ids
    }

    /// Characters and user-defined pieces.
    fn symbols(&self, text: &str) -> Vec<Symbol> {
        let mut symbols: Vec<Symbol> = Vec::with_capacity(text.len());
        let mut start = 0;
        while let Some(character) = text[start..].chars().next() {
            let whole = self.user_defined.longest_match(&text.as_bytes()[start..]);
            let end = start + whole.map_or(character.len_utf8(), |(_, len)| len);
            let at = symbols.len();
            symbols.push(Symbol {
                start,
                end,
                previous: at.checked_sub(1).unwrap_or(NONE),
                next: at + 1,
                frozen: whole.is_some(),
            });
            start = end;
        }
        symbols
    }

    /// Puts the merge of `left` with what follows it on the heap, if that is a piece.
    fn propose(&self, bytes: &[u8], symbols: &[Symbol], left: usize, merges: &mut BinaryHeap<Merge>) {
        let right = symbols[left].next;
        let Some(right_symbol) = symbols.get(right) else { return };
        if symbols[left].frozen || right_symbol.frozen {
            return;
        }
        if let Some(&(_, score)) = self.pieces.get(&bytes[symbols[left].start..right_symbol.end]) {
            merges.push(Merge { score, left, right, len: right_symbol.end - symbols[left].start });
        }
    }

    /// Cost: O(bytes · longest piece).
    fn encode_unigram(&self, text: &str) -> Vec<TokenId> {
        let bytes = text.as_bytes();
        // The best way to each place: its score, where its last piece starts, and that piece (`None`: unknown).
        let mut best: Vec<(f32, usize, Option<TokenId>)> = vec![(f32::NEG_INFINITY, 0, None); bytes.len() + 1];
        best[0].0 = 0.0;
        for (start, character) in text.char_indices() {
            let (here, ..) = best[start];
            let mut offer = |end: usize, score: f32, id| {
                if here + score > best[end].0 || best[end].0 == f32::NEG_INFINITY {
                    best[end] = (here + score, start, id);
                }
            };
            let mut node = ROOT;
            let mut known = false;
            for (at, &byte) in bytes.iter().enumerate().skip(start) {
                let Some(child) = self.trie.child(node, byte) else { break };
                node = child;
                if let Some(id) = self.trie.token(node) {
                    offer(at + 1, self.scores[id as usize], Some(id));
                    known |= at + 1 == start + character.len_utf8();
                }
            }
            if !known {
                offer(start + character.len_utf8(), self.unknown_score, None);
            }
        }
        let mut path = Vec::new();
        let mut end = bytes.len();
        while end > 0 {
            let (_, start, id) = best[end];
            path.push((start, end, id));
            end = start;
        }
        let mut ids = Vec::with_capacity(path.len());
        for &(start, end, id) in path.iter().rev() {
            match id {
                Some(id) => ids.push(id),
                None => self.push_bytes(&bytes[start..end], &mut ids),
            }
        }
        ids
    }
}

/// No symbol before this one.
const NONE: usize = usize::MAX;

/// A stretch of text in a doubly linked list; empty once it is merged into the one before.
#[derive(Clone, Copy)]
struct Symbol {
    start: usize,
    end: usize,
    /// Place of the symbol before, or [`NONE`].
    previous: usize,
    /// Place of the symbol behind; past the end at the last.
    next: usize,
    /// User-defined pieces are not merged.
    frozen: bool,
}

/// Two neighbours that could become one; the greatest is the one with the best score, then the leftmost.
struct Merge {
    score: f32,
    left: usize,
    right: usize,
    /// Bytes of both.
    len: usize,
}

impl Ord for Merge {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.left.cmp(&self.left)).then(self.len.cmp(&other.len))
    }
}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Merge {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merge {}
