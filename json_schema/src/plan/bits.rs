//! Sets of small numbers.

use serde::{Deserialize, Serialize};

/// A set of numbers below a bound that its owner knows. Sets of one owner have the same length.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Bits(Box<[u64]>);

impl Bits {
    /// No number of those below `len`.
    pub fn none(len: usize) -> Self {
        Self(vec![0; len.div_ceil(64)].into())
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
    /// How much room it takes, in words of 8 bytes.
    pub fn words(&self) -> usize {
        self.0.len()
    }
    /// The numbers that are not in the other.
    pub fn without(&self, other: &Self) -> impl Iterator<Item = usize> {
        self.0.iter().zip(&other.0).enumerate().flat_map(|(at, (mine, other))| {
            let mut left = mine & !other;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(at * 64 + bit)
            })
        })
    }
    pub fn is_part_of(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(mine, other)| mine & !other == 0)
    }
    /// Whether any of the range is in it.
    pub fn has_any(&self, range: std::ops::Range<usize>) -> bool {
        range.into_iter().any(|index| self.contains(index))
    }
}
