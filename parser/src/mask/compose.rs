//! From terms to a mask. Most masks are one term's tokens and some others: which words these are in is noted, so that nobody
//! looks at all words to keep the mask.

use std::sync::Arc;

use larkspur_toktrie::{TokenId, TokenMask, Vocabulary};

use super::Composition;
use super::store::{Base, MaskStore};
use super::terms::Terms;
use super::tokens::Tokens;
use super::touched::Touched;
use super::trace::Group;
use super::wide::{WideTerms, is_wide};
use crate::machine::Machine;
use crate::slicer::{PieceNode, Slicer};

/// What is below so many nodes takes as long as a look at all words.
const NODES_MAX: usize = 512;

/// A mask that is being made.
#[derive(Debug)]
pub(super) struct Composed<'a> {
    pub mask: &'a mut TokenMask,
    /// What it began with.
    pub base: Base,
    /// The words in which it may differ from that.
    pub touched: &'a mut Touched,
}

/// The tokens of a group's terms.
fn insides<'t>(terms: &'t Terms, group: &'t Group) -> impl Iterator<Item = &'t Arc<Tokens>> {
    group.terms.iter().map(|&term| &terms.get(term).inside)
}

/// The tokens that a group leaves out.
fn left_out<'t>(slicer: &'t Slicer, group: &'t Group) -> impl Iterator<Item = TokenId> + 't {
    group.left_out.iter().flat_map(|&node| slicer.tokens_from(node))
}

impl<'a> Composed<'a> {
    /// Overwrites a mask with what terms allow.
    pub fn new(
        slicer: &Slicer,
        (terms, store): (&Terms, &mut MaskStore),
        groups: &[Group],
        (mask, touched): (&'a mut TokenMask, &'a mut Touched),
    ) -> Self {
        let with =
            |is: fn(&Tokens) -> bool| groups.iter().position(|group| insides(terms, group).any(|inside| is(inside)));
        let first = with(|inside| inside.many().is_some()).or_else(|| with(is_wide)).unwrap_or(0);
        let mut wide: WideTerms<'_> = groups
            .get(first)
            .into_iter()
            .flat_map(|group| insides(terms, group))
            .filter(|inside| is_wide(inside))
            .collect();
        let base = store.base(&mut wide, terms.shared(), mask.words().len());
        store.write_base(base, mask);
        touched.clear(mask.words().len());
        let mut composed = Self { mask, base, touched };
        if let Some(group) = groups.get(first) {
            let is_there = |inside: &Arc<Tokens>| wide.iter().any(|tokens| Arc::ptr_eq(tokens, inside));
            insides(terms, group).filter(|inside| !is_there(inside)).for_each(|inside| composed.allow_all(inside));
            left_out(slicer, group).for_each(|token| composed.forbid(token));
        }
        // What it leaves out is not left out of the others.
        for (_, group) in groups.iter().enumerate().filter(|(index, _)| *index != first) {
            let mut left_out: Vec<TokenId> = left_out(slicer, group).collect();
            left_out.sort_unstable();
            for inside in insides(terms, group) {
                match &**inside {
                    tokens if left_out.is_empty() => composed.allow_all(tokens),
                    Tokens::Few(tokens) => {
                        let stay = tokens.iter().filter(|token| left_out.binary_search(token).is_err());
                        stay.for_each(|&token| composed.allow(token));
                    }
                    Tokens::Many(words) => {
                        let mut words = words.clone();
                        left_out.iter().for_each(|&token| larkspur_toktrie::mask::forbid(&mut words, token));
                        composed.allow_words(&words);
                    }
                }
            }
        }
        composed
    }

    fn allow_all(&mut self, tokens: &Tokens) {
        match tokens {
            Tokens::Few(tokens) => {
                let words = self.mask.words_mut();
                for &token in tokens {
                    words[token as usize / 32] |= 1 << (token % 32);
                    self.touched.insert(token / 32);
                }
            }
            Tokens::Many(words) => self.allow_words(words),
        }
    }

    fn allow(&mut self, token: TokenId) {
        self.write(token, |word, bit| word | bit);
    }

    fn forbid(&mut self, token: TokenId) {
        self.write(token, |word, bit| word & !bit);
    }

    fn write(&mut self, token: TokenId, change: impl Fn(u32, u32) -> u32) {
        let place = token / 32;
        let word = &mut self.mask.words_mut()[place as usize];
        let changed = change(*word, 1 << (token % 32));
        if changed != *word {
            *word = changed;
            self.touched.insert(place);
        }
    }

    fn allow_words(&mut self, others: &[u32]) {
        // Without a branch for each word: the tokens of a term are all over the mask.
        let blocks = self.mask.words_mut().chunks_mut(Touched::BLOCK).zip(others.chunks(Touched::BLOCK));
        for (number, (words, others)) in blocks.enumerate() {
            let mut touched = 0;
            for ((word, other), place) in words.iter_mut().zip(others).zip(0..) {
                touched |= u64::from(other & !*word != 0) << place;
                *word |= other;
            }
            self.touched.insert_block(number, touched);
        }
    }

    fn allow_range(&mut self, (first, last): (TokenId, TokenId)) {
        let words = self.mask.words_mut();
        for place in first / 32..=last / 32 {
            let low = u32::MAX << first.saturating_sub(place * 32);
            let high = u32::MAX >> (31 - (last - place * 32).min(31));
            let word = &mut words[place as usize];
            if low & high & !*word != 0 {
                *word |= low & high;
                self.touched.insert(place);
            }
        }
    }

    /// Says that tokens at nodes, which are sorted, and below them may have been written.
    pub fn touch(&mut self, slicer: &Slicer, nodes: &[PieceNode]) {
        let (mut end, mut below) = (0, 0);
        for &node in nodes {
            // What is below another one was written with that.
            if node < end {
                continue;
            }
            let (trie, root) = slicer.trie_of(node);
            end = root + trie.subtree_ends()[(node - root) as usize];
            below += (end - node) as usize;
            if below > NODES_MAX {
                return self.touched.insert_all();
            }
            slicer.tokens_from(node).for_each(|token| self.touched.insert(token / 32));
        }
    }

    /// Adds to the tokens of the trie what they are spelled like, token letters and the end.
    pub fn finish(&mut self, machine: &Machine, vocabulary: &Vocabulary, composition: &Composition) {
        for &(canonical, other) in vocabulary.trie().duplicates() {
            if self.mask.is_allowed(canonical) {
                self.allow(other);
            } else {
                self.forbid(other);
            }
        }
        for &letter in &composition.letters {
            let ranges = machine.cfg.token_letters[letter].tokens.ranges();
            ranges.iter().for_each(|&range| self.allow_range(range));
        }
        if composition.accepts {
            vocabulary.eos().iter().for_each(|&eos| self.allow(eos));
        }
    }
}
