//! Finished masks: many places have the same.

use std::hash::Hasher;

use hashbrown::HashTable;
use larkspur_grammar::{IndexVec, define_id};
use rustc_hash::FxHasher;

define_id! {
    /// A mask of a [`MaskStore`].
    pub(super) struct StoredId = "m";
}

/// Distinct masks with numbers.
#[derive(Default, Debug)]
pub(super) struct MaskStore {
    masks: IndexVec<StoredId, Box<[u32]>>,
    /// Numbers by content.
    ids: HashTable<StoredId>,
    bytes: usize,
}

impl MaskStore {
    pub fn get(&self, id: StoredId) -> &[u32] {
        &self.masks[id]
    }

    /// The mask's number. It is compared in full.
    pub fn intern(&mut self, words: &[u32]) -> StoredId {
        let masks = &mut self.masks;
        let hash = hash_words(words);
        if let Some(&known) = self.ids.find(hash, |&id| *masks[id] == *words) {
            return known;
        }
        let id = masks.push(words.into());
        self.ids.insert_unique(hash, id, |&id| hash_words(&masks[id]));
        self.bytes += size_of_val(words);
        id
    }

    /// Bytes of all masks.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Four sums side by side: one would wait for itself, a word after the other.
fn hash_words(words: &[u32]) -> u64 {
    let (blocks, rest) = words.as_chunks::<8>();
    let mut sums = [FxHasher::default(), FxHasher::default(), FxHasher::default(), FxHasher::default()];
    for block in blocks {
        for (sum, &[low, high]) in sums.iter_mut().zip(block.as_chunks::<2>().0) {
            sum.write_u64(u64::from(high) << 32 | u64::from(low));
        }
    }
    let mut hasher = FxHasher::default();
    sums.iter().for_each(|sum| hasher.write_u64(sum.finish()));
    rest.iter().for_each(|&word| hasher.write_u32(word));
    hasher.finish()
}
