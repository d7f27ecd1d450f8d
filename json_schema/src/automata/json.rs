//! Values that were read, for the comparison with others: equal iff JSON Schema calls them equal.
//!
//! A value's depth is bounded by the automaton's stack ([`Limits::schema_unique_depth_max`](larkspur_grammar::Limits)),
//! so that comparing and dropping it may recurse.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use larkspur_grammar::hashing::hash_in;
use rustc_hash::FxHasher;

/// A value, shared.
#[derive(Clone, Debug)]
pub(crate) struct Json(Arc<Hashed>);

#[derive(Debug)]
struct Hashed {
    hash: u64,
    kind: JsonKind,
}

/// What a value is.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum JsonKind {
    /// In canonical form, see [`writing`](crate::writing).
    Scalar(Arc<[u8]>),
    Array(Vec<Json>),
    Object(BTreeMap<Arc<str>, Json>),
}

impl Json {
    pub fn new(kind: JsonKind) -> Self {
        let mut hasher = FxHasher::default();
        kind.hash(&mut hasher);
        Self(Arc::new(Hashed { hash: hash_in(&hasher), kind }))
    }
    pub fn scalar(canonical: impl Into<Arc<[u8]>>) -> Self {
        Self::new(JsonKind::Scalar(canonical.into()))
    }
    pub fn kind(&self) -> &JsonKind {
        &self.0.kind
    }
    pub fn as_scalar(&self) -> Option<&Arc<[u8]>> {
        match self.kind() {
            JsonKind::Scalar(canonical) => Some(canonical),
            _ => None,
        }
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.kind == other.0.kind)
    }
}

impl Eq for Json {}

impl Hash for Json {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u64(self.0.hash);
    }
}

impl PartialOrd for Json {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Json {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if Arc::ptr_eq(&self.0, &other.0) {
            return std::cmp::Ordering::Equal;
        }
        self.0.hash.cmp(&other.0.hash).then_with(|| self.0.kind.cmp(&other.0.kind))
    }
}
