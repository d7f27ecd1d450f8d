//! Masks of one engine kept, and those of the other compared with them bit by bit.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

use crate::measure::is_allowed;
use crate::vocabulary::{EOS, tokenizer};

/// Examples of differing masks kept for a text.
const EXAMPLES_MAX: usize = 3;

/// Tokens named on each side of an example.
const TOKENS_MAX: usize = 8;

/// The masks of a pass, each different one kept once.
#[derive(Default)]
pub struct Recorded {
    /// Which mask, by position.
    ids: Vec<u32>,
    masks: Vec<Box<[u32]>>,
    by_hash: FxHashMap<u64, Vec<u32>>,
}

impl Recorded {
    pub fn push(&mut self, words: &[u32]) {
        let mut hasher = FxHasher::default();
        words.hash(&mut hasher);
        let candidates = self.by_hash.entry(hasher.finish()).or_default();
        let known = candidates.iter().copied().find(|&id| *self.masks[id as usize] == *words);
        let id = known.unwrap_or_else(|| {
            let id = self.masks.len() as u32;
            self.masks.push(words.into());
            candidates.push(id);
            id
        });
        self.ids.push(id);
    }

    pub fn distinct(&self) -> usize {
        self.masks.len()
    }

    pub fn get(&self, position: usize) -> Option<&[u32]> {
        Some(&self.masks[*self.ids.get(position)? as usize])
    }
}

/// What comparing masks has shown.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Comparison {
    pub compared: usize,
    pub different: usize,
    /// Masks that differ in EOS alone.
    pub only_eos: usize,
    /// Masks that allow only one token where the other allows more.
    pub peer_singletons: usize,
    pub examples: Vec<Example>,
}

/// A position where masks differ.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Example {
    /// Tokens before it.
    pub position: usize,
    /// The end of the text before it.
    pub after: String,
    pub only_larkspur_count: usize,
    pub only_peer_count: usize,
    /// Some of the tokens, as text.
    pub only_larkspur: Vec<String>,
    pub only_peer: Vec<String>,
}

impl Comparison {
    /// Compares the masks before token `position` of `tokens`.
    pub fn add(&mut self, tokens: &[u32], position: usize, ours: &[u32], theirs: &[u32]) {
        self.compared += 1;
        if same(ours, theirs) {
            return;
        }
        self.different += 1;
        let mut with_eos = ours.to_vec();
        with_eos[EOS as usize / 32] ^= 1 << (EOS % 32);
        if same(&with_eos, theirs) {
            self.only_eos += 1;
        }
        if theirs.iter().map(|word| word.count_ones()).sum::<u32>() == 1 {
            self.peer_singletons += 1;
        }
        if self.examples.len() == EXAMPLES_MAX {
            return;
        }
        let ids = 0..(ours.len().max(theirs.len()) * 32) as u32;
        let only = |a: &[u32], b: &[u32]| -> Vec<u32> {
            ids.clone().filter(|&id| is_allowed(a, id) && !is_allowed(b, id)).collect()
        };
        let (only_larkspur, only_peer) = (only(ours, theirs), only(theirs, ours));
        let is_known = self.examples.iter().any(|example| {
            example.only_larkspur_count == only_larkspur.len() && example.only_peer_count == only_peer.len()
        });
        if is_known {
            return;
        }
        self.examples.push(Example {
            position,
            after: text_before(tokens, position),
            only_larkspur_count: only_larkspur.len(),
            only_peer_count: only_peer.len(),
            only_larkspur: only_larkspur.iter().take(TOKENS_MAX).map(|&token| show(token)).collect(),
            only_peer: only_peer.iter().take(TOKENS_MAX).map(|&token| show(token)).collect(),
        });
    }
}

/// One may have more words, if these are empty.
fn same(ours: &[u32], theirs: &[u32]) -> bool {
    let common = ours.len().min(theirs.len());
    ours[..common] == theirs[..common] && ours[common..].iter().chain(&theirs[common..]).all(|&word| word == 0)
}

/// The last tokens before a position.
pub fn text_before(tokens: &[u32], position: usize) -> String {
    tokens[position.saturating_sub(12)..position].iter().map(|&token| show(token)).collect()
}

fn show(token: u32) -> String {
    if token == EOS {
        return "<eos>".to_owned();
    }
    match tokenizer().decode_bytes(&[token]) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(_) => format!("<[{token}]>"),
    }
}
