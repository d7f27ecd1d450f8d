//! Sets of small numbers. The crate `fixedbitset` has them, too, but in reading a saved one takes as much memory as the file says;
//! so does a `SmallVec`, for which a saved one is a boxed slice.

use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

/// A set of numbers below a bound that its owner knows. Sets of one owner have the same length.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Box<[u64]>", into = "Box<[u64]>")]
pub(crate) struct Bits(SmallVec<[u64; 2]>);

impl From<Box<[u64]>> for Bits {
    fn from(words: Box<[u64]>) -> Self {
        Self(words.into_vec().into())
    }
}

impl From<Bits> for Box<[u64]> {
    fn from(bits: Bits) -> Self {
        bits.0.into_boxed_slice()
    }
}

impl Bits {
    /// No number of those below `len`.
    pub fn none(len: usize) -> Self {
        Self(smallvec![0; len.div_ceil(64)])
    }
    /// Whether it is a set of numbers below `len`; for one that was read.
    pub fn is_of(&self, len: usize) -> bool {
        let rest = len % 64;
        let is_within = rest == 0 || self.0.last().is_none_or(|word| word >> rest == 0);
        self.0.len() == len.div_ceil(64) && is_within
    }
    /// All numbers below `len`.
    pub fn all(len: usize) -> Self {
        let mut bits = Self::none(len);
        (0..len).for_each(|index| bits.insert(index));
        bits
    }
    pub fn insert(&mut self, index: usize) {
        self.0[index / 64] |= 1 << (index % 64);
    }
    pub fn remove(&mut self, index: usize) {
        self.0[index / 64] &= !(1 << (index % 64));
    }
    pub fn contains(&self, index: usize) -> bool {
        self.0[index / 64] >> (index % 64) & 1 == 1
    }
    /// With what is in the other.
    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
    }
    /// Only what is in the other, too.
    pub fn keep(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine &= other);
    }
    /// Without what is in the other.
    pub fn drop(&mut self, other: &Self) {
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine &= !other);
    }
    /// How many numbers are in it.
    pub fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }
    /// How much room it takes, in words of 8 bytes.
    pub fn words(&self) -> usize {
        self.0.len()
    }
    pub fn remove_range(&mut self, range: std::ops::Range<usize>) {
        words_of(range).for_each(|(at, word)| self.0[at] &= !word);
    }
    /// The first number from `from` on that is not in the other.
    pub fn first_without(&self, other: &Self, from: usize) -> Option<usize> {
        let words = self.0.iter().zip(&other.0).enumerate().skip(from / 64);
        let mut left = words.map(|(at, (mine, other))| {
            let from = if at == from / 64 { !0 << (from % 64) } else { !0 };
            (at, mine & !other & from)
        });
        let (at, word) = left.find(|(_, word)| *word != 0)?;
        Some(at * 64 + word.trailing_zeros() as usize)
    }
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(at, &word)| (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit))
    }
    pub fn is_part_of(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, other)| mine & !other == 0)
    }
    /// Whether any of the range is in it.
    pub fn has_any(&self, range: std::ops::Range<usize>) -> bool {
        words_of(range).any(|(at, word)| self.0[at] & word != 0)
    }
}

/// The words that hold a range, with its bits in them.
fn words_of(range: std::ops::Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let first = range.start / 64;
    let end = if range.is_empty() { first } else { range.end.div_ceil(64) };
    (first..end).map(move |at| {
        let above = if at == first { !0 << (range.start % 64) } else { !0 };
        let below = !0 >> (64 - (range.end - at * 64).min(64));
        (at, above & below)
    })
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn ranges() {
        for index in 0..200 {
            let mut bits = Bits::none(200);
            bits.insert(index);
            for start in 0..200 {
                for end in 0..=200 {
                    let is_within = (start..end).contains(&index);
                    assert_eq!(bits.has_any(start..end), is_within, "{index} in {start}..{end}");
                    let mut left = bits.clone();
                    left.remove_range(start..end);
                    assert_eq!(left.iter().next(), (!is_within).then_some(index), "{index} but for {start}..{end}");
                    assert_eq!(bits.first_without(&left, 0), is_within.then_some(index));
                }
                assert_eq!(bits.first_without(&Bits::none(200), start), (start <= index).then_some(index));
            }
        }
    }
}
