//! The limits of this crate: what a vocabulary, and a file one is read from, may be at most.
//!
//! They are far above every vocabulary in use (the largest have 262,144 tokens) and keep a hostile file from taking
//! memory out of proportion to its own size.

/// Ids of a vocabulary, and so bits of a mask: 16,777,216 (a mask of 2 MiB).
pub const VOCABULARY_LEN_MAX: usize = 1 << 24;

/// Bytes of one token: what the trie's 16-bit depth can count. The longest in use have a few hundred.
pub const TOKEN_LEN_MAX: usize = u16::MAX as usize;

/// Bytes of all tokens together, and so nodes of the trie: 256 MiB. In use: about 2 MiB.
pub const TOKEN_BYTES_MAX: usize = 1 << 28;
