//! Typed indices: one newtype over `u32` for each table, and vectors that only its own index opens.

use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[doc(hidden)]
pub use serde;

/// An index into an [`IndexVec`]; made by [`define_id!`](crate::define_id).
pub trait Id: Copy + Eq + std::fmt::Debug {
    /// The id of the entry at position `index`. Panics past `u32::MAX - 1`.
    fn from_index(index: usize) -> Self;
    /// The entry's position.
    fn index(self) -> usize;
}

/// Defines a newtype over `u32` that indexes one table and prints as its prefix and number (`R12`).
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis struct $name:ident = $prefix:literal;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(pub u32);
        impl $crate::index::Id for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                assert!(index < u32::MAX as usize, concat!("too many entries for ", stringify!($name)));
                Self(index as u32)
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
        impl $crate::index::serde::Serialize for $name {
            fn serialize<S: $crate::index::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_u32(self.0)
            }
        }
        impl<'de> $crate::index::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::index::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <u32 as $crate::index::serde::Deserialize>::deserialize(deserializer).map(Self)
            }
        }
        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}

/// A vector indexed by one id type.
#[derive(Clone, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IndexVec<I, T> {
    /// An empty table.
    pub const fn new() -> Self {
        Self { raw: Vec::new(), id: PhantomData }
    }
    /// Appends `value` and returns its id.
    #[inline]
    pub fn push(&mut self, value: T) -> I {
        let id = I::from_index(self.raw.len());
        self.raw.push(value);
        id
    }
    /// An empty table with room for so many.
    pub fn with_room(len: usize) -> Self {
        Self { raw: Vec::with_capacity(len), id: PhantomData }
    }
    /// Makes room for so many more.
    pub fn reserve(&mut self, more: usize) {
        self.raw.reserve(more);
    }
    /// Gives back the room that is not needed.
    pub fn shrink(&mut self) {
        self.raw.shrink_to_fit();
    }
    /// The id that the next [`push`](Self::push) will return.
    pub fn next_id(&self) -> I {
        I::from_index(self.raw.len())
    }
    /// Number of entries.
    pub fn len(&self) -> usize {
        self.raw.len()
    }
    /// Whether the table has no entries.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }
    /// The entry, or `None` past the end.
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }
    /// All entries in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }
    /// All entries in order, mutable.
    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.raw.iter_mut()
    }
    /// All ids in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.raw.len()).map(I::from_index)
    }
    /// Ids with their entries, in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.raw.iter().enumerate().map(|(index, value)| (I::from_index(index), value))
    }
    /// The entries in order.
    pub fn into_vec(self) -> Vec<T> {
        self.raw
    }
    /// The entries as a slice.
    pub fn as_slice(&self) -> &[T] {
        &self.raw
    }
}

impl<I: Id, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

/// As the list of its entries.
impl<I, T: Serialize> Serialize for IndexVec<I, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de, I: Id, T: Deserialize<'de>> Deserialize<'de> for IndexVec<I, T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

impl<I: Id, T> From<Vec<T>> for IndexVec<I, T> {
    fn from(raw: Vec<T>) -> Self {
        Self { raw, id: PhantomData }
    }
}

impl<I: Id, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I: Id, T: std::fmt::Debug> std::fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(self.iter_enumerated()).finish()
    }
}

/// What is known of some entries of a table, by their ids. Where that is of many, it takes less time and code than a hash table; the
/// memory is that of all entries up to the last one of which something is known.
#[derive(Clone, Debug)]
pub struct IdMap<I, T> {
    raw: Vec<Option<T>>,
    id: PhantomData<fn(I) -> I>,
}

impl<I: Id, T> IdMap<I, T> {
    /// An empty map.
    pub const fn new() -> Self {
        Self { raw: Vec::new(), id: PhantomData }
    }
    /// An empty map with room for the first so many ids.
    pub fn with_room(len: usize) -> Self {
        Self { raw: Vec::with_capacity(len), id: PhantomData }
    }
    /// What is known of an entry.
    #[inline]
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())?.as_ref()
    }
    /// Whether something is known of an entry.
    #[inline]
    pub fn contains(&self, id: I) -> bool {
        self.get(id).is_some()
    }
    /// Notes what is known of an entry, and returns what was before.
    #[inline]
    pub fn insert(&mut self, id: I, value: T) -> Option<T> {
        self.slot(id).replace(value)
    }
    /// What is known of an entry, which is found out if nothing is.
    #[inline]
    pub fn get_or_insert_with(&mut self, id: I, value: impl FnOnce() -> T) -> &mut T {
        self.slot(id).get_or_insert_with(value)
    }
    /// Where it is noted what is known of an entry.
    #[inline]
    pub fn slot(&mut self, id: I) -> &mut Option<T> {
        if id.index() >= self.raw.len() {
            self.grow(id.index() + 1);
        }
        &mut self.raw[id.index()]
    }
    #[cold]
    fn grow(&mut self, len: usize) {
        // All that there is room for: filling it one by one would be as much work again.
        self.raw.reserve(len - self.raw.len());
        self.raw.resize_with(self.raw.capacity(), || None);
    }
    /// Ids of which something is known, with that, in order.
    pub fn iter(&self) -> impl Iterator<Item = (I, &T)> {
        let all = self.raw.iter().enumerate();
        all.filter_map(|(index, value)| Some((I::from_index(index), value.as_ref()?)))
    }
}

impl<I: Id, T> Default for IdMap<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::IdMap;

    define_id! {
        struct Number = "n";
    }

    #[test]
    fn what_is_known_of_an_entry_is_found_and_nothing_of_others() {
        let mut map: IdMap<Number, &str> = IdMap::with_room(2);
        assert_eq!(map.get(Number(0)), None);
        assert_eq!(map.insert(Number(70), "a"), None);
        assert_eq!(map.insert(Number(3), "b"), None);
        assert_eq!(map.insert(Number(3), "c"), Some("b"));
        assert_eq!(*map.get_or_insert_with(Number(3), || "d"), "c");
        assert_eq!(*map.get_or_insert_with(Number(4), || "d"), "d");
        *map.slot(Number(4)) = Some("e");
        *map.slot(Number(5)) = None;
        assert_eq!(map.iter().collect::<Vec<_>>(), [(Number(3), &"c"), (Number(4), &"e"), (Number(70), &"a")]);
        assert!(!map.contains(Number(71)) && !map.contains(Number(u32::MAX - 1)));
    }
}
