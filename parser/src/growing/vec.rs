//! A list that grows without being copied.

use std::marker::PhantomData;
use std::ops::Index;

use larkspur_grammar::index::Id;

/// Entries of a chunk.
const CHUNK_LEN: usize = 1 << CHUNK_BITS;
const CHUNK_BITS: u32 = 12;

/// An [`IndexVec`](larkspur_grammar::IndexVec) for tables that may become large: past [`CHUNK_LEN`] entries the further ones are in
/// chunks that stay where they are. To copy 24 MB took 16 ms.
#[derive(Debug)]
pub(crate) struct GrowingVec<I, T> {
    /// The first chunk, which grows by and by: most tables need no second one.
    first: Vec<T>,
    /// The others, which have their room from the start. All but the last one are full.
    others: Vec<Vec<T>>,
    id: PhantomData<fn(I) -> I>,
}

impl<I, T> Default for GrowingVec<I, T> {
    fn default() -> Self {
        Self { first: Vec::new(), others: Vec::new(), id: PhantomData }
    }
}

impl<I: Id, T> GrowingVec<I, T> {
    /// Number of entries.
    #[inline]
    pub fn len(&self) -> usize {
        match self.others.last() {
            Some(last) => self.others.len() * CHUNK_LEN + last.len(),
            None => self.first.len(),
        }
    }

    /// The id that the next [`push`](Self::push) will return.
    pub fn next_id(&self) -> I {
        I::from_index(self.len())
    }

    /// Appends an entry and returns its id.
    #[inline]
    pub fn push(&mut self, entry: T) -> I {
        let id = self.next_id();
        match self.first.len() < CHUNK_LEN {
            true => self.first.push(entry),
            false => self.push_other(entry),
        }
        id
    }

    fn push_other(&mut self, entry: T) {
        if self.others.last().is_none_or(|last| last.len() == CHUNK_LEN) {
            self.others.push(Vec::with_capacity(CHUNK_LEN));
        }
        self.others.last_mut().expect("there is one").push(entry);
    }
}

impl<I: Id, T> Index<I> for GrowingVec<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        let index = id.index();
        match self.first.get(index) {
            Some(entry) => entry,
            None => &self.others[(index >> CHUNK_BITS).wrapping_sub(1)][index % CHUNK_LEN],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::states::LexStateId;

    #[test]
    fn entries_are_found_and_stay_where_they_are() {
        let mut list = GrowingVec::default();
        assert_eq!(list.len(), 0);
        let mut places = Vec::new();
        for number in 0..3 * CHUNK_LEN as u32 + 5 {
            assert_eq!(list.next_id(), LexStateId(number));
            assert_eq!(list.push(u64::from(number)), LexStateId(number));
            assert_eq!(list.len(), number as usize + 1);
            if list.len() > CHUNK_LEN {
                places.push(&raw const list[LexStateId(number)]);
            }
        }
        for number in 0..list.len() as u32 {
            let id = LexStateId(number);
            assert_eq!(list[id], u64::from(number));
            if let Some(&place) = (number as usize).checked_sub(CHUNK_LEN).and_then(|other| places.get(other)) {
                assert_eq!(place, &raw const list[id]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "out of bounds")]
    fn nothing_is_past_the_end() {
        let mut list = GrowingVec::default();
        list.push(1);
        _ = list[LexStateId(1)];
    }
}
