//! Hash tables, and a list ([`GrowingVec`]), that grow bit by bit: of the ones that stay as long as a grammar does, and of which
//! some request would have to wait for the growth of the whole (20 to 130 ms at a hundred thousand entries and more, which are cold
//! memory).
//!
//! A table that is full becomes the old one beside an empty one of twice its size, and each entry that is added takes
//! along what stands in the next [`BUCKETS_MOVED`] places of the old one. What is looked up is looked up in both meanwhile. Small
//! tables grow at once.
//! Shards (as in `grammar/src/algebra/ids.rs`) would cost each small table an allocation, or each look-up a branch for either.

mod vec;

use std::hash::Hash;
use std::ops::Index;

use hashbrown::HashTable;
use larkspur_grammar::hashing::hash_of;

pub(crate) use vec::GrowingVec;

/// Tables of fewer places grow at once, which takes some 20 us.
const BUCKETS_MIN: usize = 1 << 11;

/// Tables of fewer places become four times as large at once, and have room for so many entries once they have any: most of a
/// grammar end with some tens.
const BUCKETS_FEW: usize = 1 << 8;
const ENTRIES_MIN: usize = 14;

/// Places of the old table that are emptied for each entry that is added. The new one has room for that: the old one is
/// gone when so much of its size was added again, one in so many.
const BUCKETS_MOVED: usize = 8;

/// Entries by their hashes. What is wanted of [`HashTable`], with the same names.
#[derive(Debug)]
pub(crate) struct GrowingTable<T> {
    /// All entries but those of `old`.
    table: HashTable<T>,
    /// The table from before, until it is empty.
    old: Option<Box<Old<T>>>,
}

#[derive(Debug)]
struct Old<T> {
    table: HashTable<T>,
    /// All places before this one are empty.
    next: usize,
}

impl<T> Default for GrowingTable<T> {
    fn default() -> Self {
        Self { table: HashTable::new(), old: None }
    }
}

impl<T> GrowingTable<T> {
    /// Entries.
    pub fn len(&self) -> usize {
        self.table.len() + self.old.as_ref().map_or(0, |old| old.table.len())
    }

    /// The entry with this hash of which `is_it` holds.
    #[inline]
    pub fn find(&self, hash: u64, mut is_it: impl FnMut(&T) -> bool) -> Option<&T> {
        let found = self.table.find(hash, &mut is_it);
        match &self.old {
            Some(old) if found.is_none() => old.table.find(hash, is_it),
            _ => found,
        }
    }

    /// The same, to be changed.
    #[inline]
    pub fn find_mut(&mut self, hash: u64, mut is_it: impl FnMut(&T) -> bool) -> Option<&mut T> {
        let found = self.table.find_mut(hash, &mut is_it);
        match &mut self.old {
            Some(old) if found.is_none() => old.table.find_mut(hash, is_it),
            _ => found,
        }
    }

    /// Adds an entry that is not there. Cost: a few others are moved, whose hashes are asked; if these are dear, entries have
    /// them beside.
    #[inline]
    pub fn insert_unique(&mut self, hash: u64, entry: T, hasher: impl Fn(&T) -> u64) {
        if self.old.is_some() {
            self.move_some(&hasher);
        } else if self.table.len() == self.table.capacity() {
            match self.table.num_buckets() {
                BUCKETS_MIN.. => self.begin_to_move(),
                0..BUCKETS_FEW => self.widen(&hasher),
                _ => {}
            }
        }
        self.table.insert_unique(hash, entry, hasher);
    }

    /// Takes out the entry with this hash of which `is_it` holds.
    pub fn remove(&mut self, hash: u64, mut is_it: impl FnMut(&T) -> bool) -> Option<T> {
        if let Ok(entry) = self.table.find_entry(hash, &mut is_it) {
            return Some(entry.remove().0);
        }
        Some(self.old.as_mut()?.table.find_entry(hash, is_it).ok()?.remove().0)
    }

    #[cold]
    fn widen(&mut self, hasher: &impl Fn(&T) -> u64) {
        self.table.reserve((3 * self.table.len()).max(ENTRIES_MIN), hasher);
    }

    #[cold]
    fn begin_to_move(&mut self) {
        // After many were taken out, the places of these are full still.
        let room = (2 * self.table.len()).max(self.table.num_buckets() / 2);
        let new = HashTable::with_capacity(room);
        let table = std::mem::replace(&mut self.table, new);
        self.old = Some(Box::new(Old { table, next: 0 }));
    }

    #[cold]
    fn move_some(&mut self, hasher: &impl Fn(&T) -> u64) {
        let Some(old) = &mut self.old else { return };
        for _ in 0..BUCKETS_MOVED {
            if let Ok(entry) = old.table.get_bucket_entry(old.next) {
                let (entry, _) = entry.remove();
                self.table.insert_unique(hasher(&entry), entry, hasher);
            }
            old.next += 1;
        }
        if old.table.is_empty() {
            self.old = None;
        }
    }
}

/// Numbers by the hashes of what they stand for, which is elsewhere. A half of each hash is beside its number: most that are
/// not equal are told apart by it, and what was hashed is not read again.
#[derive(Debug)]
pub(crate) struct GrowingIds<I> {
    table: GrowingTable<(u32, I)>,
}

impl<I> Default for GrowingIds<I> {
    fn default() -> Self {
        Self { table: GrowingTable::default() }
    }
}

impl<I: Copy + PartialEq> GrowingIds<I> {
    /// The number with this hash of which `is_it` holds.
    #[inline]
    pub fn find(&self, hash: u64, is_it: impl Fn(I) -> bool) -> Option<I> {
        let found = self.table.find(spread(hash as u32), |&(other, id)| other == hash as u32 && is_it(id));
        found.map(|&(_, id)| id)
    }

    /// Adds one that is not there.
    #[inline]
    pub fn insert(&mut self, hash: u64, id: I) {
        self.table.insert_unique(spread(hash as u32), (hash as u32, id), |&(hash, _)| spread(hash));
    }

    /// Takes out one with its hash.
    pub fn remove(&mut self, hash: u64, id: I) {
        self.table.remove(spread(hash as u32), |&(_, other)| other == id);
    }
}

/// Half of a hash as a table takes it, which looks at both ends.
fn spread(half: u32) -> u64 {
    u64::from(half) << 32 | u64::from(half)
}

/// Values by keys, whose hashes are cheap.
#[derive(Debug)]
pub(crate) struct GrowingMap<K, V> {
    table: GrowingTable<(K, V)>,
}

impl<K, V> Default for GrowingMap<K, V> {
    fn default() -> Self {
        Self { table: GrowingTable::default() }
    }
}

impl<K: Hash + Eq, V> GrowingMap<K, V> {
    /// Entries.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    #[inline]
    pub fn get(&self, key: &K) -> Option<&V> {
        self.table.find(hash_of(key), |(other, _)| other == key).map(|(_, value)| value)
    }

    #[inline]
    pub fn contains_key(&self, key: &K) -> bool {
        self.get(key).is_some()
    }

    /// Sets the value of a key. The one that it had before.
    #[inline]
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let hash = hash_of(&key);
        if let Some((_, known)) = self.table.find_mut(hash, |(other, _)| *other == key) {
            return Some(std::mem::replace(known, value));
        }
        self.table.insert_unique(hash, (key, value), |(key, _)| hash_of(key));
        None
    }
}

impl<K: Hash + Eq + Copy, V: Copy> GrowingMap<K, V> {
    /// The value of a key, which is made if there is none.
    #[inline]
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> V {
        if let Some(&known) = self.get(&key) {
            return known;
        }
        let value = make();
        self.table.insert_unique(hash_of(&key), (key, value), |(key, _)| hash_of(key));
        value
    }
}

impl<K: Hash + Eq, V> Extend<(K, V)> for GrowingMap<K, V> {
    fn extend<I: IntoIterator<Item = (K, V)>>(&mut self, entries: I) {
        entries.into_iter().for_each(|(key, value)| _ = self.insert(key, value));
    }
}

impl<K: Hash + Eq, V> Index<&K> for GrowingMap<K, V> {
    type Output = V;

    fn index(&self, key: &K) -> &V {
        self.get(key).expect("the key has a value")
    }
}

/// The same of keys whose hashes are dear, since they are long or elsewhere in memory: it has them beside.
#[derive(Debug)]
pub(crate) struct HashedMap<K, V> {
    table: GrowingTable<(u64, K, V)>,
}

impl<K, V> Default for HashedMap<K, V> {
    fn default() -> Self {
        Self { table: GrowingTable::default() }
    }
}

impl<K: Hash + Eq, V> HashedMap<K, V> {
    /// Entries.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn get(&self, key: &K) -> Option<&V> {
        let hash = hash_of(key);
        let found = self.table.find(hash, |(other, known, _)| *other == hash && known == key);
        found.map(|(_, _, value)| value)
    }

    /// Sets the value of a key. The one that it had before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        let hash = hash_of(&key);
        if let Some((_, _, known)) = self.table.find_mut(hash, |(other, known, _)| *other == hash && *known == key) {
            return Some(std::mem::replace(known, value));
        }
        self.table.insert_unique(hash, (hash, key, value), |&(hash, ..)| hash);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{HashMap, HashSet};

    /// Numbers below a bound, the same ones each time.
    fn random() -> impl FnMut(u32) -> u32 {
        let mut seed = 1u64;
        move |bound| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as u32 % bound
        }
    }

    #[test]
    fn maps_are_as_others_are() {
        let mut random = random();
        // Of few keys, which are mostly there, and of many, which are mostly new.
        for keys in [10, 5_000, 40_000, 1 << 30] {
            let (mut map, mut others) = (GrowingMap::default(), HashMap::new());
            for value in 0..60_000 {
                let key = (random(keys), keys as u8);
                match random(4) {
                    0 => assert_eq!(map.get(&key), others.get(&key)),
                    1 => assert_eq!(map.get_or_insert_with(key, || value), *others.entry(key).or_insert(value)),
                    _ => {
                        map.insert(key, value);
                        others.insert(key, value);
                    }
                }
                assert_eq!(map.contains_key(&key), others.contains_key(&key));
                assert_eq!(map.len(), others.len());
            }
            for (key, value) in &others {
                assert_eq!(map[key], *value);
            }
        }
    }

    #[test]
    fn what_is_taken_out_is_gone_and_makes_room() {
        let mut random = random();
        let (mut table, mut others) = (GrowingTable::default(), HashSet::new());
        let hash = |key: u32| u64::from(key).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        // Some thousand are there, which are others all the time.
        for _ in 0..200_000 {
            let (key, out) = (random(20_000), random(20_000));
            if others.insert(key) {
                table.insert_unique(hash(key), key, |&key| hash(key));
            }
            let taken = table.remove(hash(out), |&other| other == out);
            assert_eq!(taken.is_some(), others.remove(&out));
            assert_eq!(table.len(), others.len());
        }
        for key in 0..20_000 {
            assert_eq!(table.find(hash(key), |&other| other == key).is_some(), others.contains(&key));
        }
        assert!(table.table.num_buckets() <= 1 << 16, "{} places for {}", table.table.num_buckets(), table.len());
    }

    #[test]
    fn small_tables_become_four_times_as_large() {
        let mut table = GrowingTable::default();
        let hasher = |&number: &u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut places = Vec::new();
        for number in 0..1_500 {
            table.insert_unique(hasher(&number), number, hasher);
            places.push(table.table.num_buckets());
        }
        places.dedup();
        assert_eq!(places, [16, 64, 256, 512, 1_024, 2_048]);
    }

    #[test]
    fn entries_of_one_hash_are_told_apart_and_few_are_moved_at_once() {
        let mut table = GrowingTable::default();
        let hash = |number: u32| u64::from(number / 3).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let hashed = std::cell::Cell::new(0);
        let hasher = |&number: &u32| {
            hashed.set(hashed.get() + 1);
            hash(number)
        };
        let (mut moves, mut hashed_max) = (0, 0);
        for number in 0..100_000 {
            assert_eq!(table.find(hash(number), |&other| other == number), None);
            hashed.set(0);
            table.insert_unique(hash(number), number, hasher);
            moves += usize::from(table.old.as_ref().is_some_and(|old| old.next == 0));
            if table.len() >= BUCKETS_MIN {
                hashed_max = hashed_max.max(hashed.get());
            }
            assert_eq!(table.len(), number as usize + 1);
        }
        assert_eq!(moves, 6, "2,048 places become 131,072");
        assert!(hashed_max <= BUCKETS_MOVED, "{hashed_max} entries moved at once");
        for number in 0..100_000 {
            assert_eq!(table.find(hash(number), |&other| other == number), Some(&number));
        }
    }
}
