//! Texts of certain numbers of characters, as `minLength` and `maxLength` have them, and all others: ranges again.
//!
//! A search through `~(char{1,255})` beside a large language counts to 255 in each of its states; beside ranges it asks which lengths
//! there are.

use larkspur_grammar::{RegexId, RegexNode, RegexSet};
use smallvec::SmallVec;

use crate::numbers::COUNT_MAX;

/// Numbers of characters, from one up to another; `None` is without bound. Ascending, with others between them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Lengths(SmallVec<[(u32, Option<u32>); 2]>);

impl Lengths {
    /// Those of a regex that says nothing else of its texts; `any_text` has all of them.
    pub fn of(set: &RegexSet, any_text: RegexId, regex: RegexId) -> Option<Self> {
        let &RegexNode::Repeat(char, 0, None) = set.node(any_text) else { return None };
        let range = |regex: RegexId| match *set.node(regex) {
            RegexNode::Repeat(child, min, max) if child == char => Some((min, max)),
            _ => None,
        };
        match set.node(regex) {
            RegexNode::Or(parts) => Some(Self::united(parts.iter().map(|&part| range(part)).collect::<Option<_>>()?)),
            _ => range(regex).map(|range| Self([range].into_iter().collect())),
        }
    }

    /// Whether they are one range, perhaps with the empty text before it. Of several, searches go through each; there, what leaves
    /// lengths out is better left as it is.
    pub fn are_simple(&self) -> bool {
        matches!(*self.0, [] | [_] | [(0, Some(0)), _])
    }

    /// The regex of these.
    pub fn regex(&self, set: &mut RegexSet) -> RegexId {
        let char = set.any_char();
        let ranges: SmallVec<[RegexId; 2]> = self.0.iter().map(|&(min, max)| set.repeat(char, min, max)).collect();
        set.or(&ranges)
    }

    fn united(mut ranges: SmallVec<[(u32, Option<u32>); 2]>) -> Self {
        ranges.sort_unstable();
        let mut united: SmallVec<[(u32, Option<u32>); 2]> = SmallVec::new();
        for (min, max) in ranges {
            match united.last_mut() {
                Some((_, last)) if last.is_none_or(|last| min <= last.saturating_add(1)) => {
                    *last = last.zip(max).map(|(a, b)| a.max(b));
                }
                _ => united.push((min, max)),
            }
        }
        Self(united)
    }

    /// All others; `None` if some are too large for a count.
    pub fn others(&self) -> Option<Self> {
        let mut others = SmallVec::new();
        let mut from = Some(0);
        for &(min, max) in &self.0 {
            others.extend(from.filter(|&from| from < min).map(|from| (from, Some(min - 1))));
            from = max.map(|max| max + 1);
        }
        others.extend(from.map(|from| (from, None)));
        from.is_none_or(|from| from <= COUNT_MAX).then_some(Self(others))
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn ranges() -> impl Strategy<Value = Vec<(u32, Option<u32>)>> {
        vec((0..12u32, prop::option::of(0..4u32)).prop_map(|(min, more)| (min, more.map(|more| min + more))), 1..4)
    }

    fn has(ranges: &[(u32, Option<u32>)], letters: u32) -> bool {
        ranges.iter().any(|&(min, max)| min <= letters && max.is_none_or(|max| letters <= max))
    }

    proptest! {
        #[test]
        fn others_are_all_that_are_not_among_them(a in ranges()) {
            let own = Lengths::united(a.iter().copied().collect());
            let others = own.others().expect("small");
            for letters in 0..20 {
                prop_assert_eq!(has(&own.0, letters), has(&a, letters));
                prop_assert_eq!(has(&others.0, letters), !has(&a, letters));
            }
            prop_assert_eq!(others.others(), Some(own));
        }

        #[test]
        fn regexes_say_lengths_again(a in ranges()) {
            let mut set = RegexSet::new();
            let any_text = set.any_text();
            let lengths = Lengths::united(a.into_iter().collect());
            let regex = lengths.regex(&mut set);
            // `char{0}` and `char{1}` are the empty text and a character.
            if lengths.0.iter().all(|&range| range.1.is_none_or(|max| max > 1)) {
                prop_assert_eq!(Lengths::of(&set, any_text, regex), Some(lengths));
            }
        }
    }

    #[test]
    fn what_is_behind_the_largest_count_is_nobodys() {
        assert_eq!(Lengths::united([(3, Some(COUNT_MAX))].into_iter().collect()).others(), None);
    }
}
