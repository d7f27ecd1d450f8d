//! What matchers of one grammar read without a lock.
//!
//! The growing tables of an epoch are held by one matcher at a time, which costs 20 ns where nobody else wants them. Once a
//! matcher has had to wait, all publish here what they find out: the masks of places, and where tokens lead. Both hold
//! as long as the epoch lasts. Only who finds nothing here waits for the tables.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use larkspur_toktrie::{TokenId, TokenMask};
use papaya::HashMap;
use rustc_hash::FxBuildHasher;

use crate::machine::Cursor;
use crate::mask::{MaskId, SharedMask};
use crate::token_steps::TokenStep;

/// A map whose readers wait for nobody. It is only added to.
type Map<K, V> = HashMap<K, V, FxBuildHasher>;

/// Places and steps at most. 65,536 steps are 5 MB.
const ENTRIES_MAX: usize = 1 << 16;

/// What is known of places at which no text counts: see [`Machine::records`](crate::machine::Machine::records).
#[derive(Debug)]
pub(crate) struct Published {
    /// Numbers of the masks of places.
    ids: Map<u64, MaskId>,
    masks: Map<MaskId, SharedMask>,
    steps: Map<(u64, TokenId), TokenStep>,
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
            ids: Map::default(),
            masks: Map::default(),
            steps: Map::default(),
            serial: AtomicU64::new(u64::MAX),
            mask_bytes: AtomicUsize::new(0),
            mask_bytes_max,
            hits: AtomicU64::new(0),
        }
    }

    /// Writes the mask of a place; false if it is not known here.
    pub fn write_mask(&self, cursor: Cursor, mask: &mut TokenMask) -> bool {
        let Some(id) = self.ids.pin().get(&cursor.key()).copied() else { return false };
        let is_known = self.write(id, mask);
        if is_known {
            self.hits.fetch_add(1, Ordering::Relaxed);
        }
        is_known
    }

    /// Writes the mask of a number; false if it is not known here, or has another number now.
    pub fn write_numbered(&self, id: MaskId, mask: &mut TokenMask) -> bool {
        self.is_number(id) && self.write(id, mask)
    }

    fn write(&self, id: MaskId, mask: &mut TokenMask) -> bool {
        let masks = self.masks.pin();
        let Some(known) = masks.get(&id) else { return false };
        known.write(mask, |origin| masks.get(&MaskId::of(origin)));
        true
    }

    /// The number of the mask of a place, as long as it has one.
    pub fn mask_id(&self, cursor: Cursor) -> Option<MaskId> {
        let id = self.ids.pin().get(&cursor.key()).copied().filter(|&id| self.is_number(id))?;
        self.hits.fetch_add(1, Ordering::Relaxed);
        Some(id)
    }

    fn is_number(&self, id: MaskId) -> bool {
        id.serial() == self.serial.load(Ordering::Acquire)
    }

    /// Publishes the mask of a place at which no text counts, if there is room. Masks of other serials have no numbers any
    /// more.
    pub fn add_mask(&self, cursor: Cursor, id: MaskId, mask: impl FnOnce() -> SharedMask) {
        self.serial.store(id.serial(), Ordering::Release);
        let masks = self.masks.pin();
        if !masks.contains_key(&id) {
            if self.mask_bytes.load(Ordering::Relaxed) >= self.mask_bytes_max {
                return;
            }
            let mask = mask();
            self.mask_bytes.fetch_add(mask.bytes(), Ordering::Relaxed);
            masks.insert(id, mask);
        }
        if self.ids.len() < ENTRIES_MAX {
            self.ids.pin().insert(cursor.key(), id);
        }
    }

    /// Where a token leads from a place.
    pub fn step(&self, cursor: Cursor, token: TokenId) -> Option<TokenStep> {
        self.steps.pin().get(&(cursor.key(), token)).copied()
    }

    /// Publishes where a token leads from a place, if no text counts at either.
    pub fn add_step(&self, cursor: Cursor, token: TokenId, step: TokenStep) {
        if self.steps.len() < ENTRIES_MAX {
            self.steps.pin().insert((cursor.key(), token), step);
        }
    }

    /// Masks that were found here.
    pub fn hits(&self) -> u64 {
        self.hits.load(Ordering::Relaxed)
    }

    /// Bytes of all of it, roughly.
    pub fn bytes(&self) -> usize {
        let steps = self.steps.len() * size_of::<((u64, TokenId), TokenStep)>() * 2;
        let ids = self.ids.len() * size_of::<(u64, MaskId)>() * 2;
        steps + ids + self.mask_bytes.load(Ordering::Relaxed)
    }
}
