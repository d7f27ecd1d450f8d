//! Lists with numbers, and what they are together.

use std::hash::Hash;

use larkspur_grammar::IndexVec;
use larkspur_grammar::hashing::hash_of;
use larkspur_grammar::index::Id;

use crate::growing::{GrowingIds, GrowingTable};

/// Ascending lists without repeats, each once. The first is empty.
#[derive(Debug)]
pub(super) struct Lists<L: Id, T> {
    lists: IndexVec<L, Box<[T]>>,
    ids: GrowingIds<L>,
    unions: GrowingTable<Union<L>>,
    bytes: usize,
}

/// What several lists are together.
#[derive(Debug)]
struct Union<L> {
    hash: u64,
    /// Ascending.
    parts: Box<[L]>,
    union: L,
}

impl<L: Id + PartialEq + Ord + Hash, T: Copy + Ord + Hash> Default for Lists<L, T> {
    fn default() -> Self {
        let mut lists =
            Self { lists: IndexVec::new(), ids: GrowingIds::default(), unions: GrowingTable::default(), bytes: 0 };
        lists.intern(&[]);
        lists
    }
}

impl<L: Id + PartialEq + Ord + Hash, T: Copy + Ord + Hash> Lists<L, T> {
    /// Bytes of all, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn get(&self, id: L) -> &[T] {
        &self.lists[id]
    }

    /// The number of a list, which is ascending.
    pub fn intern(&mut self, list: &[T]) -> L {
        let hash = hash_of(list);
        if let Some(known) = self.ids.find(hash, |id| *self.lists[id] == *list) {
            return known;
        }
        self.bytes += size_of_val(list) + size_of::<(Box<[T]>, u64, L)>();
        let id = self.lists.push(list.into());
        self.ids.insert(hash, id);
        id
    }

    /// The number of all that stands in some lists, whose numbers are put in order. Cost: a look-up, if these were put together
    /// before.
    pub fn union(&mut self, parts: &mut [L]) -> L {
        parts.sort_unstable();
        let mut len = 0;
        for at in 0..parts.len() {
            if len == 0 || parts[len - 1] != parts[at] {
                parts[len] = parts[at];
                len += 1;
            }
        }
        let parts = &parts[..len];
        if let &[only] = parts {
            return only;
        }
        let hash = hash_of(parts);
        if let Some(known) = self.unions.find(hash, |other| other.hash == hash && *other.parts == *parts) {
            return known.union;
        }
        let mut all: Vec<T> = parts.iter().flat_map(|&part| self.get(part)).copied().collect();
        all.sort_unstable();
        all.dedup();
        let union = self.intern(&all);
        self.bytes += size_of::<Union<L>>() + size_of_val(parts);
        self.unions.insert_unique(hash, Union { hash, parts: parts.into(), union }, |other| other.hash);
        union
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use larkspur_grammar::define_id;

    define_id! {
        struct ListId = "l";
    }

    #[test]
    fn equal_lists_are_one_and_unions_are_as_others_make_them() {
        let mut lists: Lists<ListId, u32> = Lists::default();
        assert_eq!(lists.intern(&[]), ListId(0));
        let ids = [&[1, 2][..], &[2, 5], &[], &[7]].map(|list| lists.intern(list));
        assert_eq!(lists.intern(&[2, 5]), ids[1]);
        for _ in 0..2 {
            let union = lists.union(&mut [ids[3], ids[0], ids[1], ids[0], ids[2]]);
            assert_eq!(lists.get(union), [1, 2, 5, 7]);
            assert_eq!(lists.union(&mut [ids[1], ids[1]]), ids[1]);
            assert_eq!(lists.union(&mut []), ids[2]);
        }
        let bytes = lists.bytes();
        lists.union(&mut [ids[0], ids[1], ids[2], ids[3]]);
        assert_eq!(lists.bytes(), bytes);
    }
}
