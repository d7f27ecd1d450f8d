//! How far tokens reach: what one has of something at most.

use larkspur_grammar::ByteSet;
use larkspur_grammar::algebra::{Horizon, Idle, IdleStep, Turn};
use larkspur_toktrie::{ROOT, TokenTrie};

/// How long the tokens of a trie are at most.
pub(crate) fn horizon(trie: &TokenTrie) -> Horizon {
    let mut chars_of = vec![0u32; trie.depth_max() + 1];
    let mut chars = 0;
    for (&depth, &byte) in trie.depths().iter().zip(trie.bytes()).skip(1) {
        let depth = usize::from(depth);
        chars_of[depth] = chars_of[depth - 1] + u32::from(byte & 0xC0 != 0x80);
        chars = chars.max(chars_of[depth]);
    }
    Horizon { bytes: trie.depth_max() as u32, chars }
}

/// A turn is counted if it may be at one of so many nodes: where texts may end at more, some token has many of them.
const ENDS_SHARE: usize = 8;
const FEW_ENDS: usize = 1_000;

/// In how many places of a token a text may turn into the next one at most; `None` if that is not counted. Cost: a third of a
/// millisecond for 200,000 tokens.
pub(crate) fn most_turns(trie: &TokenTrie, turn: &Turn) -> Option<u32> {
    // From which node a turn has been met, and up to which.
    let mut met: Vec<(u32, u32)> = Vec::new();
    let mut agenda: Vec<(u32, u8)> = Vec::new();
    for end in ends(trie, turn)? {
        let begins = trie.children(end).filter(|&child| turn.begins.contains(trie.bytes()[child as usize]));
        agenda.extend(begins.map(|child| (child, Idle::START)));
        while let Some((node, state)) = agenda.pop() {
            match turn.idle.step(state, trie.bytes()[node as usize]) {
                IdleStep::Read => {}
                IdleStep::Over => met.push((node, trie.subtree_ends()[node as usize])),
                IdleStep::At(state) => {
                    // A token that ends here is not known to be idle.
                    met.extend(trie.token(node).map(|_| (node, node + 1)));
                    agenda.extend(trie.children(node).map(|child| (child, state)));
                }
            }
        }
    }
    met.sort_unstable();
    let mut around: Vec<u32> = Vec::new();
    let mut most = 0;
    for (node, end) in met {
        while around.pop_if(|end| *end <= node).is_some() {}
        around.push(end);
        most = most.max(around.len());
    }
    Some(most as u32)
}

/// The nodes behind which a text may end; `None` if they are many.
fn ends(trie: &TokenTrie, turn: &Turn) -> Option<Vec<u32>> {
    let mut always = ByteSet::EMPTY;
    let mut after = Box::new([ByteSet::EMPTY; 256]);
    for &(last, before) in &turn.ends {
        match before == ByteSet::ALL {
            true => always.insert(last),
            false => before.iter().for_each(|byte| after[usize::from(byte)].insert(last)),
        }
    }
    let mut met = always;
    (0..=255u8).filter(|&byte| !after[usize::from(byte)].is_empty()).for_each(|byte| met.insert(byte));
    let byte_of = |node: u32| trie.bytes()[node as usize];
    // What is before the token may be anything.
    let is_last = |node: &u32| turn.ends.binary_search_by_key(&byte_of(*node), |&(last, _)| last).is_ok();
    let mut ends: Vec<u32> = trie.children(ROOT).filter(is_last).collect();
    let places = places_of(trie.bytes(), &met);
    if places.len() > trie.len() / ENDS_SHARE + FEW_ENDS {
        return None;
    }
    for node in places {
        let byte = byte_of(node);
        if always.contains(byte) && trie.depths()[node as usize] > 1 {
            ends.push(node);
        }
        let lasts = &after[usize::from(byte)];
        if !lasts.is_empty() && node != ROOT {
            let is_other_last = |child: &u32| lasts.contains(byte_of(*child)) && !always.contains(byte_of(*child));
            ends.extend(trie.children(node).filter(is_other_last));
        }
    }
    Some(ends)
}

/// Bytes that are looked at side by side.
const BLOCK: usize = 64;

/// Eight bytes that are 0 or 1 as bits, the first one lowest.
fn bits_of(bytes: u64) -> u64 {
    bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Where bytes of a set stand, ascending.
fn places_of(bytes: &[u8], set: &ByteSet) -> Vec<u32> {
    let is_among = |byte: u8| set.contains(byte);
    let firsts = (0..=255u8).filter(|&byte| is_among(byte) && (byte == 0 || !is_among(byte - 1)));
    let range = |first: u8| (first, ((first..=255).take_while(|&byte| is_among(byte)).count() - 1) as u8);
    let ranges: Vec<(u8, u8)> = firsts.map(range).collect();
    let mut places = Vec::new();
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for (block, start) in blocks.iter().zip((0u32..).step_by(BLOCK)) {
        let mut is_met = [0u8; BLOCK];
        for &(first, more) in &ranges {
            let both = block.iter().zip(&mut is_met);
            both.for_each(|(byte, is_met)| *is_met |= u8::from(byte.wrapping_sub(first) <= more));
        }
        let words = is_met.as_chunks::<8>().0.iter().zip((0..).step_by(8));
        let mut left = words.fold(0, |all, (word, first)| all | bits_of(u64::from_le_bytes(*word)) << first);
        while left != 0 {
            places.push(start + left.trailing_zeros());
            left &= left - 1;
        }
    }
    let rest = ((bytes.len() - rest.len()) as u32..).zip(rest);
    places.extend(rest.filter(|(_, byte)| is_among(**byte)).map(|(place, _)| place));
    places
}

#[cfg(test)]
mod tests {
    use larkspur_grammar::algebra::{Algebra, Lowered};
    use larkspur_grammar::{RegexId, RegexSet};
    use larkspur_toktrie::Vocabulary;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use rustc_hash::FxHashMap;

    use super::*;

    fn texts(len: usize) -> impl Strategy<Value = Vec<Vec<u8>>> {
        let byte = prop::sample::select(&[b'a', b'b', 0x80, 0xE3, 0xFF][..]);
        vec(vec(byte, 1..len), 1..4)
    }

    /// The turn between texts that are some of `firsts` and then some of `lasts`.
    fn turn_of(firsts: &[Vec<u8>], lasts: &[Vec<u8>]) -> Option<Turn> {
        let mut set = RegexSet::new();
        let [first, last] = [firsts, lasts].map(|texts| {
            let texts: Vec<RegexId> = texts.iter().map(|text| set.literal(text)).collect();
            let one = set.or(&texts);
            set.repeat(one, 1, None)
        });
        let text = set.concat(&[first, last]);
        let texts = set.repeat(text, 0, Some(20));
        let mut algebra = Algebra::new(10_000);
        let texts = algebra.lower(&set, texts, &mut Lowered::default()).expect("small");
        algebra.clamped(texts, Horizon::bytes(40), &mut FxHashMap::default()).err()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn turns_are_counted_in_all_tokens_at_once(tokens in texts(8), more in vec(texts(8), 0..8), firsts in texts(3), lasts in texts(4)) {
            let tokens: Vec<&Vec<u8>> = tokens.iter().chain(more.iter().flatten()).collect();
            let Some(turn) = turn_of(&firsts, &lasts) else { return Ok(()) };
            let mut vocabulary = Vocabulary::builder();
            for (token, id) in tokens.iter().zip(0..) {
                vocabulary.token(id, token);
            }
            let vocabulary = vocabulary.build().expect("some tokens");
            let expected = tokens.iter().map(|token| turn.count(token)).max();
            prop_assert_eq!(most_turns(vocabulary.trie(), &turn), expected);
        }
    }

    #[test]
    fn bytes_of_a_set_are_found_at_each_place() {
        for len in [0, 1, 63, 64, 65, 200] {
            let bytes: Vec<u8> = (0..len).map(|place| (place * 37 % 251) as u8).collect();
            let sets =
                [ByteSet::range(0, 3), ByteSet::range(250, 255), ByteSet::range(7, 7), ByteSet::ALL, ByteSet::EMPTY];
            for set in sets.map(|set| set.union(&ByteSet::range(100, 120))) {
                let expected: Vec<u32> = (0..len).filter(|&place| set.contains(bytes[place as usize])).collect();
                assert_eq!(places_of(&bytes, &set), expected);
            }
        }
    }
}
