//! Words of a mask that were written, so that nobody looks at all words to find them.

/// Places of words that may have been written.
#[derive(Debug)]
pub(super) struct Touched {
    /// One bit for each word.
    bits: Vec<u64>,
    /// Any word may.
    all: bool,
}

impl Touched {
    /// None of so many words.
    pub fn none(words_len: usize) -> Self {
        Self { bits: vec![0; words_len.div_ceil(64)], all: false }
    }

    #[inline]
    pub fn insert(&mut self, place: u32) {
        self.bits[place as usize / 64] |= 1 << (place % 64);
    }

    pub fn insert_all(&mut self) {
        self.all = true;
    }

    /// The places, ascending; `None` if any word may have been written.
    pub fn places(&self) -> Option<impl Iterator<Item = u32> + '_> {
        let of_word = |(index, &bits): (usize, &u64)| {
            let mut left = bits;
            std::iter::from_fn(move || {
                let place = (left != 0).then(|| index as u32 * 64 + left.trailing_zeros())?;
                left &= left - 1;
                Some(place)
            })
        };
        (!self.all).then(|| self.bits.iter().enumerate().filter(|&(_, &bits)| bits != 0).flat_map(of_word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_order() {
        let mut touched = Touched::none(200);
        for place in [199, 0, 64, 63, 0] {
            touched.insert(place);
        }
        assert_eq!(touched.places().map(Iterator::collect), Some(vec![0, 63, 64, 199]));
        touched.insert_all();
        assert!(touched.places().is_none());
    }
}
