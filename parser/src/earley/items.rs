//! The items of all sets.

use larkspur_grammar::IndexVec;

use super::sets::{Item, SetId};

/// Items of a chunk; a set of more has one of its own.
const CHUNK_LEN: usize = 1 << 14;

/// The items of all sets, in chunks that stay where they are: a single list would be copied as it grows, and have half of its
/// room empty.
#[derive(Default, Debug)]
pub(super) struct ItemTable {
    chunks: Vec<Vec<Item>>,
    /// Where each set's items are.
    places: IndexVec<SetId, Place>,
    len: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    chunk: u32,
    start: u32,
    len: u32,
}

impl ItemTable {
    /// Items of all sets.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn get(&self, id: SetId) -> &[Item] {
        let Place { chunk, start, len } = self.places[id];
        &self.chunks[chunk as usize][start as usize..][..len as usize]
    }

    /// Adds the items of the next set.
    pub fn push(&mut self, items: &[Item]) -> SetId {
        let has_room = |chunk: &Vec<Item>| chunk.is_empty() || chunk.len() + items.len() <= CHUNK_LEN;
        if !self.chunks.last().is_some_and(has_room) {
            // The first grows by and by: most grammars need no second one.
            let room = if self.chunks.is_empty() { 0 } else { CHUNK_LEN };
            self.chunks.push(Vec::with_capacity(room.max(items.len())));
        }
        let chunk = self.chunks.last_mut().expect("there is one");
        let place = Place { chunk: 0, start: chunk.len() as u32, len: items.len() as u32 };
        chunk.extend_from_slice(items);
        self.len += items.len();
        self.places.push(Place { chunk: self.chunks.len() as u32 - 1, ..place })
    }

    /// Bytes, roughly.
    pub fn bytes(&self) -> usize {
        self.len * size_of::<Item>() + self.places.len() * size_of::<Place>()
    }
}
