//! Masks by what they are made of.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use rustc_hash::FxBuildHasher;

use super::Composition;
use super::store::StoredId;

/// What masks are made of, each once. The entries stay where they are while the table of their hashes grows.
#[derive(Default, Debug)]
pub(super) struct Compositions {
    entries: Vec<(Composition, StoredId)>,
    /// Numbers of entries with their hashes.
    numbers: HashTable<(u64, u32)>,
}

/// The hash of a composition that is not there.
pub(super) struct Missing(u64);

impl Compositions {
    /// The mask that is made of this.
    pub fn get(&self, composition: &Composition) -> Result<StoredId, Missing> {
        let hash = FxBuildHasher.hash_one(composition);
        let is_same = |&(other, number): &(u64, u32)| other == hash && self.entries[number as usize].0 == *composition;
        match self.numbers.find(hash, is_same) {
            Some(&(_, number)) => Ok(self.entries[number as usize].1),
            None => Err(Missing(hash)),
        }
    }

    /// Adds one that was found [missing](Self::get).
    pub fn insert(&mut self, Missing(hash): Missing, composition: Composition, id: StoredId) {
        let number = self.entries.len() as u32;
        self.entries.push((composition, id));
        self.numbers.insert_unique(hash, (hash, number), |&(hash, _)| hash);
    }

    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> usize {
        self.entries.len() * (size_of::<(Composition, StoredId)>() + size_of::<(u64, u32)>())
    }

    pub fn clear(&mut self) {
        self.entries.clear();
        self.numbers.clear();
    }
}
