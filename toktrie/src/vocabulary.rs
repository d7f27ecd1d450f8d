//! A model's vocabulary: the bytes of each ordinary token, the names of the special ones, and which of those end
//! the text.

use std::sync::{Arc, OnceLock};

use crate::limits::{TOKEN_BYTES_MAX, TOKEN_LEN_MAX, VOCABULARY_LEN_MAX};
use crate::trie::TokenTrie;

mod builder;
mod fingerprint;
mod stable;
mod tokenize;

pub use builder::VocabularyBuilder;

/// Number of a token in its vocabulary, as the model counts them.
pub type TokenId = u32;

/// Canonical tokenization of a text: the ids that the model's own tokenizer gives for it, without any added at the
/// ends.
pub type TokenizeFn = Arc<dyn Fn(&str) -> Vec<TokenId> + Send + Sync>;

/// Why a vocabulary could not be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VocabularyError {
    /// An id, or the length asked for, is past [`VOCABULARY_LEN_MAX`].
    #[error("a vocabulary of {len} tokens; at most {limit} are possible")]
    TooManyTokens {
        /// The length that was needed.
        len: usize,
        /// [`VOCABULARY_LEN_MAX`].
        limit: usize,
    },
    /// An id was given twice.
    #[error("token {id} is given twice")]
    DuplicateId {
        /// The id.
        id: TokenId,
    },
    /// A token is longer than [`TOKEN_LEN_MAX`].
    #[error("token {id} has {len} bytes; at most {limit} are possible")]
    TokenTooLong {
        /// The token.
        id: TokenId,
        /// Its bytes.
        len: usize,
        /// [`TOKEN_LEN_MAX`].
        limit: usize,
    },
    /// All tokens together are longer than [`TOKEN_BYTES_MAX`].
    #[error("the tokens have {len} bytes in all; at most {limit} are possible")]
    TooManyBytes {
        /// Bytes of all tokens.
        len: usize,
        /// [`TOKEN_BYTES_MAX`].
        limit: usize,
    },
    /// [`VocabularyBuilder::len`] was given less than the ids need.
    #[error("token {id} is past the length {len} given for the vocabulary")]
    LenTooSmall {
        /// The length that was given.
        len: usize,
        /// The largest id.
        id: TokenId,
    },
    /// An EOS id is not a special token.
    #[error("EOS id {id} is not a special token")]
    EosNotSpecial {
        /// The id.
        id: TokenId,
    },
}

/// Token id -> bytes, special tokens, EOS ids, and the trie over the ordinary tokens. Immutable.
pub struct Vocabulary {
    len: usize,
    /// Bytes of all ordinary tokens, by id.
    bytes: Vec<u8>,
    /// Start of each token in `bytes`, plus one past the end. Length: `len + 1`; an empty range is a slot without
    /// bytes or a special token.
    starts: Vec<u32>,
    /// Special tokens by ascending id.
    specials: Vec<(TokenId, Box<str>)>,
    /// Places in `specials` by ascending name, then id.
    specials_by_name: Vec<u32>,
    /// As given, without repetition.
    eos: Vec<TokenId>,
    trie: TokenTrie,
    tokenizer: Option<TokenizeFn>,
    /// Made when it is first asked for.
    fingerprint: OnceLock<[u8; 32]>,
}

impl Vocabulary {
    /// An empty builder.
    pub fn builder() -> VocabularyBuilder {
        VocabularyBuilder::default()
    }

    /// Ids 0 to 255 are the bytes, 256 is the special EOS token `<eos>`; tokenization is byte by byte.
    pub fn single_bytes() -> Vocabulary {
        let mut builder = Vocabulary::builder();
        for byte in 0..=255u8 {
            builder.token(byte.into(), [byte]);
        }
        builder.special(256, "<eos>").eos(256);
        builder.tokenizer(Arc::new(|text: &str| text.bytes().map(TokenId::from).collect()));
        builder.build().expect("256 distinct bytes and one special token")
    }

    /// Bits of a mask: one more than the largest id, or what [`VocabularyBuilder::len`] was given.
    #[allow(clippy::len_without_is_empty, reason = "a vocabulary without tokens is of no use")]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The bytes of an ordinary token, never empty; `None` for a special token, for an id without a token or with an
    /// empty one, and past the end.
    #[inline]
    pub fn token_bytes(&self, id: TokenId) -> Option<&[u8]> {
        let index = id as usize;
        if index >= self.len {
            return None;
        }
        let bytes = &self.bytes[self.starts[index] as usize..self.starts[index + 1] as usize];
        (!bytes.is_empty()).then_some(bytes)
    }

    /// Whether `id` is a special token: one that the model emits as a sign, whose name is not text.
    pub fn is_special(&self, id: TokenId) -> bool {
        self.special_name(id).is_some()
    }

    /// The name of a special token, such as `<|endoftext|>`.
    pub fn special_name(&self, id: TokenId) -> Option<&str> {
        let place = self.specials.binary_search_by_key(&id, |&(id, _)| id).ok()?;
        Some(&self.specials[place].1)
    }

    /// The special token called `name`; the smallest id if several are.
    pub fn special_by_name(&self, name: &str) -> Option<TokenId> {
        let name_at = |place: u32| &*self.specials[place as usize].1;
        let first = self.specials_by_name.partition_point(|&place| name_at(place) < name);
        let &place = self.specials_by_name.get(first)?;
        (name_at(place) == name).then(|| self.specials[place as usize].0)
    }

    /// The special tokens by ascending id.
    pub fn specials(&self) -> impl Iterator<Item = (TokenId, &str)> {
        self.specials.iter().map(|(id, name)| (*id, &**name))
    }

    /// The tokens that end the text, in the order given. All are special.
    pub fn eos(&self) -> &[TokenId] {
        &self.eos
    }

    /// Whether [`tokenize`](Self::tokenize) can give the model's own tokenization.
    pub fn has_tokenizer(&self) -> bool {
        self.tokenizer.is_some()
    }

    /// The trie over the ordinary tokens.
    pub fn trie(&self) -> &TokenTrie {
        &self.trie
    }

    /// Bytes of the longest ordinary token.
    pub fn token_len_max(&self) -> usize {
        self.trie.depth_max()
    }

    /// The text of `ids`, one after the other; special tokens and unknown ids add nothing.
    pub fn decode(&self, ids: &[TokenId]) -> Vec<u8> {
        ids.iter().filter_map(|&id| self.token_bytes(id)).flatten().copied().collect()
    }

    /// A token for human eyes: its text with control characters, backslashes and stray bytes escaped, the name of a
    /// special one as it is, `<[id]>` where there is nothing.
    pub fn display(&self, id: TokenId) -> String {
        match (self.token_bytes(id), self.special_name(id)) {
            (Some(bytes), _) => escape(bytes),
            (None, Some(name)) => name.to_owned(),
            (None, None) => format!("<[{id}]>"),
        }
    }
}

impl std::fmt::Debug for Vocabulary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Vocabulary")
            .field("len", &self.len)
            .field("specials", &self.specials.len())
            .field("eos", &self.eos)
            .field("trie", &self.trie)
            .field("tokenizer", &self.tokenizer.is_some())
            .finish()
    }
}

fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            if character.is_control() || character == '\\' {
                text.extend(character.escape_default());
            } else {
                text.push(character);
            }
        }
        text.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    text
}
