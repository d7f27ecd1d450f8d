//! Token vocabulary as a flat trie, and the walk that turns a byte recognizer into a token mask.
//!
//! In: a [`Vocabulary`] (token id -> bytes, special tokens, EOS ids). Out: a [`TokenMask`].
//!
//! ```
//! use larkspur_toktrie::{Recognizer, TokenMask, Vocabulary};
//!
//! /// Takes any number of digits.
//! struct Digits;
//! impl Recognizer for Digits {
//!     type State = ();
//!     fn step(&mut self, _state: (), byte: u8) -> Option<()> {
//!         byte.is_ascii_digit().then_some(())
//!     }
//! }
//!
//! let vocabulary = Vocabulary::builder()
//!     .token(0, b"1")
//!     .token(1, b"12")
//!     .token(2, b"1x")
//!     .special(3, "<eos>")
//!     .eos(3)
//!     .build()?;
//! let mut mask = TokenMask::new(vocabulary.len());
//! vocabulary.trie().walk(&mut Digits, (), &mut mask);
//! assert_eq!(mask.iter().collect::<Vec<_>>(), [0, 1]);
//! # Ok::<(), larkspur_toktrie::VocabularyError>(())
//! ```
//!
//! Knows nothing of grammars and regexes; any [`Recognizer`] over bytes can drive [`TokenTrie::walk`].
//! Knows no files either: [`loaders`] take bytes that the caller has read (tiktoken ranks, SentencePiece models and,
//! with feature `huggingface`, `tokenizer.json`).

#![forbid(unsafe_code)]

mod branches;
pub mod limits;
pub mod loaders;
pub mod mask;
pub mod trie;
pub mod vocabulary;
pub mod walk;

#[cfg(feature = "huggingface")]
pub use loaders::huggingface::{HuggingFaceOptions, Normalizers};
pub use loaders::sentencepiece::SentencePieceOptions;
pub use loaders::tiktoken::TiktokenOptions;
pub use loaders::{EosChoice, LoadError};
pub use mask::{MaskOrigin, TokenMask};
pub use trie::{NO_TOKEN, ROOT, TokenTrie};
pub use vocabulary::{TokenId, TokenizeFn, Vocabulary, VocabularyBuilder, VocabularyError};
pub use walk::Recognizer;
