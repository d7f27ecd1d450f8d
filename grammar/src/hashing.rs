//! Hashes find places in tables and say nothing else: what is found is compared in full. Tests see to that with hashes that
//! collide.

use std::hash::{BuildHasher, Hash, Hasher};
#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU64, Ordering};

use rustc_hash::{FxBuildHasher, FxHasher};

/// Bits of hashes that count. All of them, but for tests.
#[cfg(debug_assertions)]
static COUNTED: AtomicU64 = AtomicU64::new(u64::MAX);

/// From now on, hashes of this process have four values. To be called before there is any table: what is in one already is not
/// found again.
#[cfg(debug_assertions)]
pub fn collide() {
    // Tables look at one half or the other.
    COUNTED.store(1 << 32 | 1, Ordering::Relaxed);
}

/// The hash of a key.
#[inline]
pub fn hash_of<K: Hash + ?Sized>(key: &K) -> u64 {
    counted(FxBuildHasher.hash_one(key))
}

/// What a hasher was given as a hash.
#[inline]
pub fn hash_in(hasher: &FxHasher) -> u64 {
    counted(hasher.finish())
}

#[inline]
fn counted(hash: u64) -> u64 {
    #[cfg(debug_assertions)]
    let hash = hash & COUNTED.load(Ordering::Relaxed);
    hash
}
