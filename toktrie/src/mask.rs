//! The token mask: one bit per token id, in `u32` words, least significant bit first.
//!
//! That is the layout samplers use. [`TokenMask`] owns its words; the functions here do the same on words that
//! belong to somebody else, such as a row of a tensor.

mod spares;

use crate::vocabulary::TokenId;
use spares::Spares;

/// Words that a mask for `vocabulary_len` ids needs.
pub const fn words_for(vocabulary_len: usize) -> usize {
    vocabulary_len.div_ceil(32)
}

/// Allows `id`. Panics if `words` is too short for it.
#[inline]
pub fn allow(words: &mut [u32], id: TokenId) {
    words[id as usize / 32] |= 1 << (id % 32);
}

/// Forbids `id`. Panics if `words` is too short for it.
#[inline]
pub fn forbid(words: &mut [u32], id: TokenId) {
    words[id as usize / 32] &= !(1 << (id % 32));
}

/// Whether `id` is allowed; false past the end of `words`.
#[inline]
pub fn is_allowed(words: &[u32], id: TokenId) -> bool {
    words.get(id as usize / 32).is_some_and(|word| word >> (id % 32) & 1 != 0)
}

/// Allows each id below `vocabulary_len`; the bits after it in the last words become 0.
pub fn set_all(words: &mut [u32], vocabulary_len: usize) {
    let whole = (vocabulary_len / 32).min(words.len());
    words[..whole].fill(u32::MAX);
    words[whole..].fill(0);
    if let Some(word) = words.get_mut(whole) {
        *word = (1 << (vocabulary_len % 32)) - 1;
    }
}

/// How many ids are allowed.
pub fn count(words: &[u32]) -> usize {
    words.iter().map(|word| word.count_ones() as usize).sum()
}

/// The allowed ids, ascending.
pub fn iter(words: &[u32]) -> impl Iterator<Item = TokenId> + '_ {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            (bit < 32).then(|| {
                rest &= rest - 1;
                at as u32 * 32 + bit
            })
        })
    })
}

/// Allows in `words` also what `other` allows. Panics if the lengths differ, as do the functions below.
pub fn or_assign(words: &mut [u32], other: &[u32]) {
    combine(words, other, |word, other| word | other);
}

/// Allows in `words` only what `other` allows too.
pub fn and_assign(words: &mut [u32], other: &[u32]) {
    combine(words, other, |word, other| word & other);
}

/// Forbids in `words` what `other` allows.
pub fn and_not_assign(words: &mut [u32], other: &[u32]) {
    combine(words, other, |word, other| word & !other);
}

#[inline]
fn combine(words: &mut [u32], other: &[u32], operation: impl Fn(u32, u32) -> u32) {
    assert_eq!(words.len(), other.len(), "masks of different vocabularies");
    for (word, &other) in words.iter_mut().zip(other) {
        *word = operation(*word, other);
    }
}

/// The set of allowed tokens, owned by the caller and used again from step to step.
///
/// Cost: a bit for each id, 25 kB for 200,000, and as much for each of up to fifteen copies that it keeps of what matchers wrote
/// into it before ([`recall`](Self::recall)); a clone has none of these.
pub struct TokenMask {
    /// `words_for(vocabulary_len)` words. Bits at and after `vocabulary_len` are 0.
    words: Box<[u32]>,
    vocabulary_len: usize,
    origin: Option<MaskOrigin>,
    spares: Spares,
}

/// What a mask's words were copied from. Whoever keeps masks copies nothing where it is the same again, as it is inside
/// strings, and little where it is nearly the same: 25 kB are a mask of 200,000 tokens.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MaskOrigin {
    /// Who keeps it: a number that nobody else has as long as the process lives.
    pub store: u64,
    /// Which of the masks there; it never changes.
    pub number: u32,
    /// Masks of one family differ in few words.
    pub family: u32,
}

/// Has nothing but the words.
impl Clone for TokenMask {
    fn clone(&self) -> Self {
        let Self { words, vocabulary_len, origin, .. } = self;
        Self { words: words.clone(), vocabulary_len: *vocabulary_len, origin: *origin, spares: Spares::default() }
    }
}

impl PartialEq for TokenMask {
    fn eq(&self, other: &Self) -> bool {
        (&self.words, self.vocabulary_len) == (&other.words, other.vocabulary_len)
    }
}

impl Eq for TokenMask {}

impl TokenMask {
    /// A mask for ids below `vocabulary_len` that allows none.
    pub fn new(vocabulary_len: usize) -> Self {
        let words = vec![0; words_for(vocabulary_len)].into();
        Self { words, vocabulary_len, origin: None, spares: Spares::default() }
    }

    /// How many ids the mask has a bit for.
    pub fn vocabulary_len(&self) -> usize {
        self.vocabulary_len
    }

    /// Forbids every id.
    pub fn clear(&mut self) {
        self.origin = None;
        self.words.fill(0);
    }

    /// Allows every id below [`Self::vocabulary_len`].
    pub fn set_all(&mut self) {
        self.origin = None;
        set_all(&mut self.words, self.vocabulary_len);
    }

    /// Allows `id`. Panics if it is not below [`Self::vocabulary_len`].
    #[inline]
    pub fn allow(&mut self, id: TokenId) {
        self.origin = None;
        assert!((id as usize) < self.vocabulary_len, "token {id} in a mask of {}", self.vocabulary_len);
        allow(&mut self.words, id);
    }

    /// Forbids `id`; one past the mask's end is forbidden already.
    #[inline]
    pub fn forbid(&mut self, id: TokenId) {
        self.origin = None;
        if (id as usize) < self.vocabulary_len {
            forbid(&mut self.words, id);
        }
    }

    /// Whether `id` is allowed; false past the mask's end.
    #[inline]
    pub fn is_allowed(&self, id: TokenId) -> bool {
        is_allowed(&self.words, id)
    }

    /// What the words were copied from, unless they were written since.
    pub fn origin(&self) -> Option<MaskOrigin> {
        self.origin
    }

    /// Says what the words are a copy of.
    pub fn set_origin(&mut self, origin: MaskOrigin) {
        self.origin = Some(origin);
    }

    /// How many ids are allowed.
    pub fn count(&self) -> usize {
        count(&self.words)
    }

    /// Whether no id is allowed.
    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&word| word == 0)
    }

    /// The allowed ids, ascending.
    pub fn iter(&self) -> impl Iterator<Item = TokenId> + '_ {
        iter(&self.words)
    }

    /// The words, least significant bit first; `ceil(vocabulary_len / 32)` of them.
    #[inline]
    pub fn words(&self) -> &[u32] {
        &self.words
    }

    /// The words, to write. Bits at and after [`Self::vocabulary_len`] must stay 0.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u32] {
        self.origin = None;
        &mut self.words
    }

    /// Allows also what `other` allows. Panics if the number of words differs, as do the methods below.
    pub fn or_assign(&mut self, other: &[u32]) {
        self.origin = None;
        or_assign(&mut self.words, other);
    }

    /// Allows only what `other` allows too.
    pub fn and_assign(&mut self, other: &[u32]) {
        self.origin = None;
        and_assign(&mut self.words, other);
    }

    /// Forbids what `other` allows.
    pub fn and_not_assign(&mut self, other: &[u32]) {
        self.origin = None;
        and_not_assign(&mut self.words, other);
    }

    /// Overwrites this mask with `other`.
    pub fn copy_from(&mut self, other: &[u32]) {
        self.origin = None;
        self.words.copy_from_slice(other);
    }
}

/// Number and first ids: a mask in full fills pages.
impl std::fmt::Debug for TokenMask {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 16;
        let first: Vec<TokenId> = self.iter().take(SHOWN).collect();
        let more = if self.count() > SHOWN { ", …" } else { "" };
        write!(f, "TokenMask({} of {}: {first:?}{more})", self.count(), self.vocabulary_len)
    }
}
