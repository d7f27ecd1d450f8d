//! Words of a mask that were written, so that nobody looks at all words to find them.

/// Places of words that may have been written.
#[derive(Default, Debug)]
pub(super) struct Touched {
    /// One bit for each word.
    bits: Vec<u64>,
    /// Any word may.
    all: bool,
}

impl Touched {
    /// Places that are noted together.
    pub const BLOCK: usize = u64::BITS as usize;

    /// None of so many words, from now on.
    pub fn clear(&mut self, words_len: usize) {
        self.bits.clear();
        self.bits.resize(words_len.div_ceil(Self::BLOCK), 0);
        self.all = false;
    }

    #[inline]
    pub fn insert(&mut self, place: u32) {
        self.bits[place as usize / 64] |= 1 << (place % 64);
    }

    /// Those of so many together that have a bit, the first the lowest one.
    #[inline]
    pub fn insert_block(&mut self, number: usize, places: u64) {
        self.bits[number] |= places;
    }

    pub fn insert_all(&mut self) {
        self.all = true;
    }

    /// Whether any word may have been written, whatever the places are.
    pub fn is_all(&self) -> bool {
        self.all
    }

    /// Calls `f` with each place, ascending.
    #[inline]
    pub fn for_each(&self, mut f: impl FnMut(u32)) {
        for (&bits, first) in self.bits.iter().zip((0..).step_by(64)) {
            let mut left = bits;
            while left != 0 {
                f(first + left.trailing_zeros());
                left &= left - 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_in_order() {
        let mut touched = Touched::default();
        touched.clear(200);
        for place in [199, 0, 64, 63, 0] {
            touched.insert(place);
        }
        let mut places = Vec::new();
        touched.for_each(|place| places.push(place));
        assert_eq!((touched.is_all(), places), (false, vec![0, 63, 64, 199]));
        touched.insert_block(2, 0b101);
        let mut places = Vec::new();
        touched.for_each(|place| places.push(place));
        assert_eq!(places, vec![0, 63, 64, 128, 130, 199]);
        touched.insert_all();
        assert!(touched.is_all());
    }
}
