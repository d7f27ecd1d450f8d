//! Sorting by small keys, in time linear in what is sorted (Knuth, The Art of Computer Programming 3, 5.2, algorithm D).

use larkspur_grammar::index::Id;

/// The items sorted by their keys, those of one key in the order in which they came, and where those of each key begin, with
/// the end of all.
pub(crate) fn by_key(items: impl Iterator<Item = (u8, u32)> + Clone) -> (Box<[u32]>, [u32; 257]) {
    let mut starts = [0u32; 257];
    let sorted = sort(&mut starts, items.map(|(key, item)| (usize::from(key), item)));
    (sorted, starts)
}

/// For each key a list of items, in the order in which they came.
pub(crate) struct Lists<T> {
    starts: Vec<u32>,
    items: Box<[T]>,
}

impl<T: Copy> Lists<T> {
    /// The items of keys below a bound.
    pub fn new<K: Id>(keys_len: usize, items: &[(K, T)]) -> Self {
        let mut starts = vec![0; keys_len + 1];
        let items = sort(&mut starts, items.iter().map(|&(key, item)| (key.index(), item)));
        Self { starts, items }
    }

    /// Those of one key.
    pub fn of(&self, key: impl Id) -> &[T] {
        &self.items[self.starts[key.index()] as usize..self.starts[key.index() + 1] as usize]
    }
}

/// Fills in where the items of each key begin, and the end of all; before, these are 0.
fn sort<T: Copy>(starts: &mut [u32], items: impl Iterator<Item = (usize, T)> + Clone) -> Box<[T]> {
    let Some((_, any)) = items.clone().next() else { return [].into() };
    let mut len = 0;
    items.clone().for_each(|(key, _)| {
        starts[key] += 1;
        len += 1;
    });
    let mut start = 0;
    for count in &mut *starts {
        start += std::mem::replace(count, start);
    }
    let mut sorted = vec![any; len].into_boxed_slice();
    items.for_each(|(key, item)| {
        sorted[starts[key] as usize] = item;
        starts[key] += 1;
    });
    // Each is where those of its key end, which is where the next ones begin.
    starts.copy_within(..starts.len() - 1, 1);
    starts[0] = 0;
    sorted
}

#[cfg(test)]
mod tests {
    use super::{Lists, by_key};
    use crate::cfg::NonterminalId;

    #[test]
    fn items_of_one_key_keep_their_order() {
        let (sorted, starts) = by_key([(3, 30), (255, 7), (0, 1), (3, 10), (3, 20)].into_iter());
        assert_eq!(*sorted, [1, 30, 10, 20, 7]);
        assert_eq!((starts[0], starts[1], starts[3], starts[4], starts[255], starts[256]), (0, 1, 1, 4, 4, 5));
        assert_eq!(by_key(std::iter::empty()).0.len(), 0);
    }

    #[test]
    fn each_key_has_its_list() {
        let lists = Lists::new(4, &[(2, 'x'), (0, 'a'), (2, 'b')].map(|(key, item)| (NonterminalId(key), item)));
        let of = |key| lists.of(NonterminalId(key)).iter().collect::<String>();
        assert_eq!([0, 1, 2, 3].map(of), ["a", "", "xb", ""]);
        assert!(Lists::<char>::new(1, &[] as &[(NonterminalId, char)]).of(NonterminalId(0)).is_empty());
    }
}
