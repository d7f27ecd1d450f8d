//! The walk against trying every token, on random vocabularies.

use std::collections::HashMap;

use larkspur_toktrie::{Recognizer, TokenId, TokenMask, Vocabulary};
use proptest::collection::vec;
use proptest::prelude::*;

/// A random automaton: next state by (state, byte), refusing where there is none.
#[derive(Debug, Clone)]
struct Automaton(HashMap<(u8, u8), u8>);

impl Recognizer for Automaton {
    type State = u8;
    fn step(&mut self, state: u8, byte: u8) -> Option<u8> {
        self.0.get(&(state, byte)).copied()
    }
}

impl Automaton {
    fn run(&mut self, start: u8, bytes: &[u8]) -> Option<u8> {
        bytes.iter().try_fold(start, |state, &byte| self.step(state, byte))
    }
}

/// Few different bytes, so that tokens share beginnings and repeat; among them both ends of the range.
fn byte() -> impl Strategy<Value = u8> {
    prop::sample::select(vec![0, b'a', b'b', 0x80, 0xff])
}

fn automaton() -> impl Strategy<Value = Automaton> {
    prop::collection::hash_map((0..4u8, byte()), 0..4u8, 0..20).prop_map(Automaton)
}

/// Tokens by id; `None` is an empty slot, and some are special or empty.
fn vocabulary() -> impl Strategy<Value = Vocabulary> {
    let slot = prop_oneof![8 => vec(byte(), 0..6).prop_map(|bytes| Some((bytes, false))),
                           1 => Just(Some((vec![], true))), 1 => Just(None)];
    (vec(slot, 0..80), 0..40usize).prop_map(|(slots, padding)| {
        let mut builder = Vocabulary::builder();
        builder.len(slots.len() + padding);
        for (id, slot) in (0..).zip(slots) {
            match slot {
                Some((_, true)) => builder.special(id, format!("<{id}>")).eos(id),
                Some((bytes, false)) => builder.token(id, bytes),
                None => &mut builder,
            };
        }
        builder.build().unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn walk_equals_trying_each_token(vocabulary in vocabulary(), mut automaton in automaton()) {
        let mut expected = TokenMask::new(vocabulary.len());
        for id in 0..vocabulary.len() as TokenId {
            if vocabulary.token_bytes(id).is_some_and(|bytes| automaton.run(0, bytes).is_some()) {
                expected.allow(id);
            }
        }
        let trie = vocabulary.trie();
        let mut mask = TokenMask::new(vocabulary.len());
        trie.walk(&mut automaton, 0, &mut mask);
        trie.finish_mask(&mut mask);
        prop_assert_eq!(&mask, &expected);

        // From a node: the tokens that properly continue its path.
        for (node, path) in paths(&vocabulary) {
            let mut expected = TokenMask::new(vocabulary.len());
            for id in 0..vocabulary.len() as TokenId {
                let rest = vocabulary.token_bytes(id).and_then(|bytes| bytes.strip_prefix(path.as_slice()));
                if rest.is_some_and(|rest| !rest.is_empty() && automaton.run(1, rest).is_some()) {
                    expected.allow(id);
                }
            }
            mask.clear();
            trie.walk_from(node, &mut automaton, 1, &mut mask);
            trie.finish_mask(&mut mask);
            prop_assert_eq!(&mask, &expected);
        }
    }

    #[test]
    fn subset_equals_a_vocabulary_of_those_tokens(vocabulary in vocabulary(), keep in vec(any::<bool>(), 120)) {
        let filter = |id: TokenId| keep[id as usize];
        let subset = vocabulary.trie().subset(filter);
        let mut builder = Vocabulary::builder();
        for id in (0..vocabulary.len() as TokenId).filter(|&id| filter(id)) {
            if let Some(bytes) = vocabulary.token_bytes(id) {
                builder.token(id, bytes);
            }
        }
        let rebuilt = builder.build().unwrap();
        let rebuilt = rebuilt.trie();
        prop_assert_eq!(subset.bytes(), rebuilt.bytes());
        prop_assert_eq!(subset.depths(), rebuilt.depths());
        prop_assert_eq!(subset.subtree_ends(), rebuilt.subtree_ends());
        prop_assert_eq!(subset.tokens(), rebuilt.tokens());
        prop_assert_eq!(subset.duplicates(), rebuilt.duplicates());
        prop_assert_eq!(subset.depth_max(), rebuilt.depth_max());
        prop_assert_eq!(subset.id_end(), rebuilt.id_end());
    }

    #[test]
    fn greedy_spells_the_text_or_nothing_does(vocabulary in vocabulary(), text in vec(byte(), 0..12)) {
        let possible = {
            let mut reachable = vec![false; text.len() + 1];
            reachable[0] = true;
            for start in 0..text.len() {
                for id in 0..vocabulary.len() as TokenId {
                    if let Some(bytes) = vocabulary.token_bytes(id)
                        && reachable[start]
                        && text[start..].starts_with(bytes)
                    {
                        reachable[start + bytes.len()] = true;
                    }
                }
            }
            reachable[text.len()]
        };
        let ids = vocabulary.tokenize_greedy(&text);
        prop_assert_eq!(ids.is_some(), possible);
        if let Some(ids) = ids {
            prop_assert_eq!(vocabulary.decode(&ids), text);
        }
    }

    #[test]
    fn mask_is_a_set(ids in prop::collection::btree_set(0..100u32, 0..100), others in prop::collection::btree_set(0..100u32, 0..100)) {
        let mask = |ids: &std::collections::BTreeSet<u32>| {
            let mut mask = TokenMask::new(100);
            ids.iter().for_each(|&id| mask.allow(id));
            mask
        };
        let (mut left, right) = (mask(&ids), mask(&others));
        prop_assert!(left.iter().eq(ids.iter().copied()));
        prop_assert_eq!(left.count(), ids.len());
        left.or_assign(right.words());
        prop_assert!(left.iter().eq(ids.union(&others).copied()));
        left.and_not_assign(right.words());
        prop_assert!(left.iter().eq(ids.difference(&others).copied()));
    }
}

/// The bytes that lead to each node, through the public accessors only.
fn paths(vocabulary: &Vocabulary) -> HashMap<u32, Vec<u8>> {
    let trie = vocabulary.trie();
    let mut paths = HashMap::from([(0, Vec::new())]);
    for node in 0..trie.len() as u32 {
        let path = paths[&node].clone();
        for child in trie.children(node) {
            let mut longer = path.clone();
            longer.push(trie.bytes()[child as usize]);
            assert_eq!(trie.node_of(&longer), Some(child));
            paths.insert(child, longer);
        }
    }
    paths
}
