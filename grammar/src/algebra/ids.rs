//! Numbers of expressions by their hashes, in a table that never stops everything while it grows.

use hashbrown::HashTable;

/// Past so many entries the table is cut into [`SHARDS`], each of which grows by itself: one growth of a table of a
/// million entries takes 10 ms, and some request waits for it.
const WHOLE_MAX: usize = 1 << 14;
const SHARDS: usize = 64;

/// Numbers with their hashes, which tell most that are not equal apart.
#[derive(Debug)]
pub(super) struct Ids {
    /// One, or [`SHARDS`].
    shards: Vec<HashTable<(u32, u32)>>,
    len: usize,
}

/// A hash as a table takes it, which looks at both ends.
fn widened(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

impl Ids {
    pub fn new() -> Self {
        Self { shards: vec![HashTable::new()], len: 0 }
    }

    /// By bits in the middle: tables look at both ends.
    fn shard_of(&self, hash: u32) -> usize {
        (hash >> 13) as usize & (self.shards.len() - 1)
    }

    /// The number with this hash of which `is_it` holds.
    pub fn find(&self, hash: u32, is_it: impl Fn(u32) -> bool) -> Option<u32> {
        let shard = &self.shards[self.shard_of(hash)];
        shard.find(widened(hash), |&(other, id)| other == hash && is_it(id)).map(|&(_, id)| id)
    }

    /// Adds one that is not there.
    pub fn insert(&mut self, hash: u32, id: u32) {
        if self.len == WHOLE_MAX {
            let whole = std::mem::replace(&mut self.shards, vec![HashTable::new(); SHARDS]);
            whole.into_iter().flatten().for_each(|(hash, id)| self.put(hash, id));
        }
        self.put(hash, id);
        self.len += 1;
    }

    fn put(&mut self, hash: u32, id: u32) {
        let shard = self.shard_of(hash);
        self.shards[shard].insert_unique(widened(hash), (hash, id), |&(hash, _)| widened(hash));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_before_and_after_the_cut() {
        let mut ids = Ids::new();
        // Each hash is that of two numbers.
        let hash = |id: u32| (id / 2).wrapping_mul(0x9E37_79B9);
        for id in 0..3 * WHOLE_MAX as u32 {
            assert_eq!(ids.find(hash(id), |other| other == id), None);
            ids.insert(hash(id), id);
        }
        for id in 0..3 * WHOLE_MAX as u32 {
            assert_eq!(ids.find(hash(id), |other| other == id), Some(id));
        }
        assert_eq!(ids.shards.len(), SHARDS);
    }
}
