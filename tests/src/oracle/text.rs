//! Section "Text" of `docs/semantics.md`: letters, and the vocabulary that tokens are from.

use std::fmt;

/// One piece of a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Letter {
    /// A byte.
    Byte(u8),
    /// A token given as a token, by its id.
    Token(u32),
}

/// A token of a [`Vocab`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// An ordinary token, which is text.
    Bytes(Vec<u8>),
    /// A special token, which is only ever a letter of its own.
    Special(String),
}

/// A vocabulary: tokens by id, and which of them end a sequence.
#[derive(Clone, Default)]
pub struct Vocab {
    /// Indexed by token id.
    pub tokens: Vec<Token>,
    /// End-of-sequence tokens.
    pub eos: Vec<u32>,
}

impl fmt::Debug for Vocab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Bytes(bytes) => write!(f, "{id} {:?}, ", bytes.escape_ascii().to_string())?,
                Token::Special(name) => write!(f, "{id} {name}, ")?,
            }
        }
        write!(f, "eos {:?}", self.eos)
    }
}

impl Vocab {
    /// The id of a special token.
    pub fn special(&self, name: &str) -> Option<u32> {
        let at = self.tokens.iter().position(|token| matches!(token, Token::Special(n) if n == name))?;
        Some(at as u32)
    }
}
