//! Finished masks: many places have the same.

use std::hash::{BuildHasher, Hasher};

use hashbrown::HashTable;
use larkspur_grammar::index::Id;
use larkspur_grammar::{IndexVec, define_id};
use larkspur_toktrie::TokenMask;
use rustc_hash::{FxBuildHasher, FxHasher};

define_id! {
    /// A mask of a [`MaskStore`].
    pub(super) struct StoredId = "m";
}

/// A mask is kept by the words that differ from the others where these are at most one in so many.
const SPARSE_SHARE: usize = 16;

/// Distinct masks with numbers.
#[derive(Default, Debug)]
pub(super) struct MaskStore {
    masks: IndexVec<StoredId, Stored>,
    /// Hashes of contents and numbers, by content.
    ids: HashTable<(u64, StoredId)>,
    bytes: usize,
}

/// A mask as it is kept.
#[derive(Debug)]
enum Stored {
    Words(Box<[u32]>),
    /// All words are like `rest` but for some, by place.
    Sparse {
        len: usize,
        rest: u32,
        words: Box<[(u32, u32)]>,
    },
}

/// A mask that looks for its number: what differs from `rest` if that is little, or all words.
enum Wanted<'a> {
    Sparse { rest: u32, words: Vec<(u32, u32)> },
    Words(&'a [u32]),
}

impl<'a> Wanted<'a> {
    fn of(words: &'a [u32]) -> Self {
        let (mut empty, mut full) = (0, 0);
        for &word in words {
            empty += u32::from(word == 0);
            full += u32::from(word == u32::MAX);
        }
        let few = (words.len() / SPARSE_SHARE) as u32;
        for (rest, like) in [(0, empty), (u32::MAX, full)] {
            let others = words.len() as u32 - like;
            if others <= few {
                return Wanted::Sparse { rest, words: unlike(words, rest, others as usize) };
            }
        }
        Wanted::Words(words)
    }

    fn hash(&self) -> u64 {
        match self {
            Wanted::Words(words) => hash_words(words),
            Wanted::Sparse { rest, words } => FxBuildHasher.hash_one((rest, words)),
        }
    }

    fn into_stored(self, len: usize) -> Stored {
        match self {
            Wanted::Words(words) => Stored::Words(words.into()),
            Wanted::Sparse { rest, words } => Stored::Sparse { len, rest, words: words.into() },
        }
    }
}

/// The words that differ from `rest`, by place.
fn unlike(words: &[u32], rest: u32, count: usize) -> Vec<(u32, u32)> {
    const BLOCK: usize = 16;
    let mut others = Vec::with_capacity(count);
    for (number, block) in words.chunks(BLOCK).enumerate() {
        if block.iter().fold(0, |unlike, word| unlike | word ^ rest) != 0 {
            let places = (number * BLOCK) as u32..;
            others.extend(places.zip(block.iter().copied()).filter(|&(_, word)| word != rest));
        }
    }
    others
}

impl Stored {
    fn is(&self, wanted: &Wanted<'_>, wanted_len: usize) -> bool {
        match (self, wanted) {
            (Stored::Words(own), Wanted::Words(words)) => **own == **words,
            (Stored::Sparse { len, rest, words }, Wanted::Sparse { rest: wanted_rest, words: wanted }) => {
                *len == wanted_len && rest == wanted_rest && **words == **wanted
            }
            _ => false,
        }
    }

    fn write(&self, mask: &mut TokenMask) {
        match self {
            Stored::Words(words) => mask.copy_from(words),
            Stored::Sparse { rest, words, .. } => {
                let all = mask.words_mut();
                all.fill(*rest);
                words.iter().for_each(|&(index, word)| all[index as usize] = word);
            }
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Stored::Words(words) => size_of_val(&**words),
                Stored::Sparse { words, .. } => size_of_val(&**words),
            }
    }
}

impl MaskStore {
    /// Overwrites a mask with a stored one, which must be there.
    pub fn write(&self, id: StoredId, mask: &mut TokenMask) {
        self.masks[id].write(mask);
    }

    /// Whether a mask allows nothing.
    pub fn is_empty(&self, id: StoredId) -> bool {
        matches!(&self.masks[id], Stored::Sparse { rest: 0, words, .. } if words.is_empty())
    }

    /// Whether there is a mask of that number.
    pub fn has(&self, id: StoredId) -> bool {
        id.index() < self.masks.len()
    }

    /// The mask's number. It is compared in full.
    pub fn intern(&mut self, words: &[u32]) -> StoredId {
        let masks = &mut self.masks;
        let wanted = Wanted::of(words);
        let hash = wanted.hash();
        let is_it = |&(other, id): &(u64, StoredId)| other == hash && masks[id].is(&wanted, words.len());
        if let Some(&(_, known)) = self.ids.find(hash, is_it) {
            return known;
        }
        let stored = wanted.into_stored(words.len());
        self.bytes += stored.bytes();
        let id = masks.push(stored);
        self.ids.insert_unique(hash, (hash, id), |&(hash, _)| hash);
        id
    }

    /// Bytes of all masks.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// Eight sums side by side: one would wait for itself, a word after the other.
fn hash_words(words: &[u32]) -> u64 {
    let (blocks, rest) = words.as_chunks::<16>();
    let mut sums = [(); 8].map(|()| FxHasher::default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_kept_by_content() {
        let mut store = MaskStore::default();
        let len = 1_000 * 32 + 7;
        let mut masks = Vec::new();
        for (is_full, step) in [(false, 3), (true, 3), (false, 3_000), (true, 3_000), (false, len), (true, len)] {
            let mut mask = TokenMask::new(len);
            if is_full {
                mask.set_all();
            }
            for id in (0..len as u32).step_by(step) {
                if is_full { mask.forbid(id) } else { mask.allow(id) }
            }
            masks.push(mask);
        }
        let ids: Vec<StoredId> = masks.iter().map(|mask| store.intern(mask.words())).collect();
        let mut out = TokenMask::new(len);
        for (id, mask) in ids.iter().zip(&masks) {
            assert_eq!(store.intern(mask.words()), *id);
            store.write(*id, &mut out);
            assert_eq!(out.words(), mask.words());
        }
        assert!(!store.has(StoredId(masks.len() as u32)));
        assert!(store.bytes() < 3 * 4_100, "two are kept whole: {}", store.bytes());
    }
}
