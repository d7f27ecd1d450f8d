//! Sets of tokens as ranges of ids: most are one token, or all but one, and a grammar may have thousands.

use larkspur_grammar::ranges;

/// A set of tokens: first and last ids, ascending, with a gap between each two.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct TokenRanges(Box<[(u32, u32)]>);

impl TokenRanges {
    /// The tokens of these ranges, which may overlap and stand in any order.
    pub fn new(ranges: Vec<(u32, u32)>) -> Self {
        Self(ranges::merged(ranges).into())
    }

    /// The tokens below `len` that are not in the set, which has none beyond.
    pub fn others(&self, len: usize) -> Self {
        Self(ranges::gaps(&self.0, len as u32).into())
    }

    /// The ranges.
    pub fn ranges(&self) -> &[(u32, u32)] {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Number of tokens.
    pub fn len(&self) -> usize {
        self.0.iter().map(|(first, last)| (last - first) as usize + 1).sum()
    }

    pub fn contains(&self, token: u32) -> bool {
        ranges::contains(&self.0, token)
    }

    /// The tokens, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|&(first, last)| first..=last)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn sets_are_their_tokens() {
        const LEN: u32 = 40;
        let mut random = larkspur_test_support::Random::new(5);
        for _ in 0..2_000 {
            let count = random.below(6);
            let ranges = (0..count).map(|_| {
                let first = random.below(LEN as usize) as u32;
                (first, (first + random.below(9) as u32).min(LEN - 1))
            });
            let ranges: Vec<(u32, u32)> = ranges.collect();
            let expected: BTreeSet<u32> = ranges.iter().flat_map(|&(first, last)| first..=last).collect();
            let set = TokenRanges::new(ranges);
            assert!(set.iter().eq(expected.iter().copied()));
            assert_eq!((set.len(), set.is_empty()), (expected.len(), expected.is_empty()));
            assert!(set.ranges().windows(2).all(|two| two[0].1 + 1 < two[1].0));
            let others = set.others(LEN as usize);
            for token in 0..LEN + 3 {
                assert_eq!(set.contains(token), expected.contains(&token));
                assert_eq!(others.contains(token), token < LEN && !expected.contains(&token));
            }
            assert_eq!(others.others(LEN as usize), set);
        }
    }
}
