//! Sorting by a byte, in time linear in what is sorted (Knuth, The Art of Computer Programming 3, 5.2, algorithm D).

/// The items sorted by their keys, those of one key in the order in which they came, and where those of each key begin, with
/// the end of all.
pub(crate) fn by_key(items: impl Iterator<Item = (u8, u32)> + Clone) -> (Box<[u32]>, [u32; 257]) {
    let mut starts = [0u32; 257];
    items.clone().for_each(|(key, _)| starts[usize::from(key) + 1] += 1);
    for key in 0..256 {
        starts[key + 1] += starts[key];
    }
    let mut sorted = vec![0; starts[256] as usize].into_boxed_slice();
    let mut next = starts;
    for (key, item) in items {
        let at = &mut next[usize::from(key)];
        sorted[*at as usize] = item;
        *at += 1;
    }
    (sorted, starts)
}

#[cfg(test)]
mod tests {
    use super::by_key;

    #[test]
    fn items_of_one_key_keep_their_order() {
        let (sorted, starts) = by_key([(3, 30), (255, 7), (0, 1), (3, 10), (3, 20)].into_iter());
        assert_eq!(*sorted, [1, 30, 10, 20, 7]);
        assert_eq!((starts[0], starts[1], starts[3], starts[4], starts[255], starts[256]), (0, 1, 1, 4, 4, 5));
        assert_eq!(by_key(std::iter::empty()).0.len(), 0);
    }
}
