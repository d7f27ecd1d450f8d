//! The tokens of a term, as a list or as a mask.

use larkspur_toktrie::{TokenId, mask};

use crate::slicer::{Decided, Slicer};

/// Adding a listed token to a mask takes as long as adding so many words.
const WORDS_PER_TOKEN: usize = 8;

/// Words whose tokens are counted at once.
const WORDS_AT_ONCE: usize = 64;

/// Tokens: a list where they are few, else a mask.
#[derive(PartialEq, Eq, Debug)]
pub(super) enum Tokens {
    Few(Box<[TokenId]>),
    Many(Box<[u32]>),
}

impl Tokens {
    pub fn is_empty(&self) -> bool {
        matches!(self, Tokens::Few(tokens) if tokens.is_empty())
    }
    /// Their words, if they are a mask.
    pub fn many(&self) -> Option<&[u32]> {
        match self {
            Tokens::Few(_) => None,
            Tokens::Many(words) => Some(words),
        }
    }
    /// Whether all tokens of a mask are among them; lists are too short to tell.
    pub fn has_all(&self, mask: &[u32]) -> bool {
        const BLOCK: usize = 64;
        let Some(words) = self.many() else { return false };
        let mut blocks = mask.chunks(BLOCK).zip(words.chunks(BLOCK));
        blocks.all(|(mask, own)| mask.iter().zip(own).fold(0, |missing, (mask, own)| missing | mask & !own) == 0)
    }
    pub fn words(&self, words_len: usize) -> Box<[u32]> {
        match self {
            Tokens::Many(words) => words.clone(),
            Tokens::Few(_) => {
                let mut words: Box<[u32]> = vec![0; words_len].into();
                self.allow_in(&mut words);
                words
            }
        }
    }
    /// Allows them in a mask.
    pub fn allow_in(&self, words: &mut [u32]) {
        match self {
            Tokens::Many(own) => mask::or_assign(words, own),
            Tokens::Few(tokens) => tokens.iter().for_each(|&token| mask::allow(words, token)),
        }
    }
    pub fn bytes(&self) -> usize {
        match self {
            Tokens::Few(tokens) => size_of_val(&**tokens),
            Tokens::Many(words) => size_of_val(&**words),
        }
    }
}

/// Whether a list of tokens is shorter to add to a mask than words.
pub(super) fn are_few(tokens: &[TokenId], slicer: &Slicer) -> bool {
    tokens.len() * WORDS_PER_TOKEN <= slicer.words_len
}

/// The tokens of slices and of parts of slices; `None` if there are none of either.
pub(super) fn taken(slicer: &Slicer, slices: &[usize], parts: &[(usize, Decided)]) -> Option<Box<[u32]>> {
    let has_parts = parts.iter().any(|(_, decided)| decided.taken != 0);
    let mut words: Box<[u32]> = match slices {
        [] if !has_parts => return None,
        [] => vec![0; slicer.words_len].into(),
        [first, ..] => slicer.slices[*first].mask.clone().into(),
    };
    for &slice in slices.iter().skip(1) {
        mask::or_assign(&mut words, &slicer.slices[slice].mask);
    }
    for &(slice, decided) in parts {
        slicer.slices[slice].parts.iter().for_each(|parts| parts.allow(decided.taken, &mut words));
    }
    Some(words)
}

/// Tokens and those that were taken.
pub(super) fn gather(slicer: &Slicer, tokens: &[TokenId], taken: Option<Box<[u32]>>) -> Tokens {
    if taken.is_none() && are_few(tokens, slicer) {
        return Tokens::Few(tokens.into());
    }
    let mut words = taken.unwrap_or_else(|| vec![0; slicer.words_len].into());
    tokens.iter().for_each(|&token| mask::allow(&mut words, token));
    compact(slicer, words)
}

/// A mask as a list, if that is shorter.
pub(super) fn compact(slicer: &Slicer, words: Box<[u32]>) -> Tokens {
    // Most are many, as a look at the first words tells.
    let mut left = slicer.words_len / WORDS_PER_TOKEN;
    let mut is_room = |words: &[u32]| {
        let rest = left.checked_sub(mask::count(words));
        left = rest.unwrap_or(0);
        rest.is_some()
    };
    if words.chunks(WORDS_AT_ONCE).all(&mut is_room) {
        return Tokens::Few(mask::iter(&words).collect());
    }
    Tokens::Many(words)
}
