//! What matchers of one grammar read without a lock.
//!
//! The growing tables of an epoch are held by one matcher at a time, which costs 20 ns where nobody else wants them. Once a
//! matcher has had to wait, all publish here what they find out: the masks of places, and where tokens lead. Both hold
//! as long as the epoch lasts. Only who finds nothing here waits for the tables.
//!
//! A [`Table`] only grows. A slot is written once, by who holds the tables, and read by anybody: [`OnceLock`] has all the
//! order of memory that this takes.

use std::hash::{BuildHasher, Hash};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use larkspur_toktrie::{TokenId, TokenMask};
use rustc_hash::FxBuildHasher;

use crate::machine::Cursor;
use crate::mask::{MaskId, SharedMask};

/// Places that a key may be at, side by side.
const PROBES: usize = 8;
/// Slots of the first level, a power of two; each further one has four times as many.
const LEVEL_LEN: usize = 1 << 8;
/// 87,000 slots in all.
const LEVELS: usize = 5;

/// A map that is only added to.
#[derive(Debug)]
struct Table<K, V> {
    levels: [OnceLock<Level<K, V>>; LEVELS],
}

type Slot<K, V> = OnceLock<(K, V)>;
type Level<K, V> = Box<[Slot<K, V>]>;

impl<K: Eq + Hash, V> Table<K, V> {
    fn new() -> Self {
        Self { levels: [const { OnceLock::new() }; LEVELS] }
    }

    /// The slots of a level in which a key may be.
    fn slots<'a>(slots: &'a [Slot<K, V>], key: &K) -> impl Iterator<Item = &'a Slot<K, V>> + use<'a, K, V> {
        // The upper half is the better one.
        let hash = (FxBuildHasher.hash_one(key) >> 32) as usize;
        (0..PROBES).map(move |probe| &slots[(hash + probe) & (slots.len() - 1)])
    }

    fn get(&self, key: &K) -> Option<&V> {
        for level in &self.levels {
            for slot in Self::slots(level.get()?, key) {
                // A key is put into the first slot that is free, and no slot becomes free again.
                let (other, value) = slot.get()?;
                if other == key {
                    return Some(value);
                }
            }
        }
        None
    }

    /// Adds a value, if there is none of the key. False if there is no room. For one thread at a time.
    fn add(&self, key: K, value: V) -> bool {
        let mut entry = (key, value);
        for (number, level) in self.levels.iter().enumerate() {
            let slots = level.get_or_init(|| (0..LEVEL_LEN << (2 * number)).map(|_| OnceLock::new()).collect());
            for slot in Self::slots(slots, &entry.0) {
                match slot.get() {
                    Some((other, _)) if *other == entry.0 => return true,
                    Some(_) => continue,
                    None => {}
                }
                match slot.set(entry) {
                    Ok(()) => return true,
                    Err(refused) => entry = refused,
                }
            }
        }
        false
    }

    fn bytes(&self) -> usize {
        self.levels.iter().filter_map(OnceLock::get).map(|slots| size_of_val(&**slots)).sum()
    }
}

/// Where a token leads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublishedStep {
    pub to: Cursor,
    /// Nothing can follow.
    pub is_last: bool,
}

/// What is known of places at which no text counts: see [`Machine::records`](crate::machine::Machine::records).
#[derive(Debug)]
pub(crate) struct Published {
    masks: Table<u64, SharedMask>,
    /// The places of the masks by number.
    places: Table<(u64, u32), u64>,
    steps: Table<(u64, TokenId), PublishedStep>,
    /// Of the masks that have numbers now.
    serial: AtomicU64,
    /// Bytes of masks, and how many there may be.
    mask_bytes: AtomicUsize,
    mask_bytes_max: usize,
    hits: AtomicU64,
}

impl Published {
    /// Nothing yet; at most so many bytes of masks.
    pub fn new(mask_bytes_max: usize) -> Self {
        Self {
            masks: Table::new(),
            places: Table::new(),
            steps: Table::new(),
            serial: AtomicU64::new(u64::MAX),
            mask_bytes: AtomicUsize::new(0),
            mask_bytes_max,
            hits: AtomicU64::new(0),
        }
    }

    /// Writes the mask of a place; false if it is not known here.
    pub fn write_mask(&self, cursor: Cursor, mask: &mut TokenMask) -> bool {
        let Some(known) = self.masks.get(&cursor.key()) else { return false };
        self.hits.fetch_add(1, Ordering::Relaxed);
        self.write(known, mask);
        true
    }

    /// Writes the mask of a number; false if it is not known here.
    pub fn write_numbered(&self, id: MaskId, mask: &mut TokenMask) -> bool {
        let known = self.places.get(&id.place()).filter(|_| self.has_numbers_of(id));
        let Some(known) = known.and_then(|place| self.masks.get(place)) else { return false };
        self.write(known, mask);
        true
    }

    fn write(&self, known: &SharedMask, mask: &mut TokenMask) {
        known.write(mask, |origin| self.masks.get(self.places.get(&(origin.store, origin.number))?));
    }

    /// The number of the mask of a place, as long as it has one.
    pub fn mask_id(&self, cursor: Cursor) -> Option<MaskId> {
        let id = MaskId::of(self.masks.get(&cursor.key())?.origin);
        self.has_numbers_of(id).then(|| {
            self.hits.fetch_add(1, Ordering::Relaxed);
            id
        })
    }

    fn has_numbers_of(&self, id: MaskId) -> bool {
        id.place().0 == self.serial.load(Ordering::Acquire)
    }

    /// Publishes the mask of a place at which no text counts, if there is room. Masks of other serials have no numbers any
    /// more.
    pub fn add_mask(&self, cursor: Cursor, serial: u64, mask: impl FnOnce() -> SharedMask) {
        self.serial.store(serial, Ordering::Release);
        let key = cursor.key();
        if self.mask_bytes.load(Ordering::Relaxed) >= self.mask_bytes_max || self.masks.get(&key).is_some() {
            return;
        }
        let mask = mask();
        let (bytes, place) = (mask.bytes(), MaskId::of(mask.origin).place());
        if self.masks.add(key, mask) {
            self.mask_bytes.fetch_add(bytes, Ordering::Relaxed);
            self.places.add(place, key);
        }
    }

    /// Where a token leads from a place.
    pub fn step(&self, cursor: Cursor, token: TokenId) -> Option<PublishedStep> {
        self.steps.get(&(cursor.key(), token)).copied()
    }

    /// Publishes where a token leads from a place, if no text counts at either.
    pub fn add_step(&self, cursor: Cursor, token: TokenId, step: PublishedStep) {
        self.steps.add((cursor.key(), token), step);
    }

    /// Masks that were found here.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Bytes of all of it.
    pub fn bytes(&self) -> usize {
        self.masks.bytes() + self.places.bytes() + self.steps.bytes() + self.mask_bytes.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_added_is_found_while_more_is_added() {
        let table: Table<u64, u64> = Table::new();
        let added = AtomicU64::new(0);
        let of = |key: u64| key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..30_000 {
                    assert!(table.add(of(number), number), "there is room");
                    added.store(number + 1, Ordering::Release);
                }
            });
            for reader in 0..3 {
                let (table, added) = (&table, &added);
                scope.spawn(move || {
                    let mut at = reader;
                    loop {
                        let known = added.load(Ordering::Acquire);
                        if known == 30_000 {
                            break;
                        }
                        if known > 0 {
                            at = (at * 7 + 3) % known;
                            assert_eq!(table.get(&of(at)), Some(&at));
                        }
                        assert_eq!(table.get(&of(40_000 + at)), None);
                    }
                });
            }
        });
        assert!((0..30_000).all(|number| table.get(&of(number)) == Some(&number)));
        assert!(table.add(of(7), 8), "it is there");
        assert_eq!(table.get(&of(7)), Some(&7));
    }

    #[test]
    fn a_full_table_says_so() {
        /// A key whose hash is that of all.
        #[derive(PartialEq, Eq)]
        struct Same(usize);
        impl Hash for Same {
            fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
                state.write_u32(0);
            }
        }
        let table = Table::new();
        let added = (0..100).filter(|&number| table.add(Same(number), number)).count();
        assert_eq!(added, PROBES * LEVELS);
        assert!((0..added).all(|number| table.get(&Same(number)) == Some(&number)));
        assert_eq!(table.get(&Same(added)), None);
    }
}
