//! Vocabularies from the files that models come with. A loader takes the bytes of a file, never its path.

use crate::vocabulary::{TokenId, VocabularyError};

#[cfg(feature = "huggingface")]
pub mod huggingface;
pub mod sentencepiece;
pub mod tiktoken;

/// Why a file did not become a vocabulary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A line of a ranks file is not `base64 rank`.
    #[error("line {line} of the ranks: {fault}")]
    RankLine {
        /// Counted from 1.
        line: usize,
        /// What is wrong with it.
        fault: RankFault,
    },
    /// A sentencepiece model is not well-formed.
    #[error("sentencepiece model, byte {at_bytes}: {fault}")]
    Protobuf {
        /// Offset in the file.
        at_bytes: usize,
        /// What is wrong there.
        fault: ProtobufFault,
    },
    /// A sentencepiece model without pieces: most likely another kind of file.
    #[error("the sentencepiece model has no pieces")]
    NoPieces,
    /// A JSON file (which one is named) cannot be read.
    #[error("{file}: {message}")]
    Json {
        /// `tokenizer.json`, `tokenizer_config.json` or `generation_config.json`.
        file: &'static str,
        /// In the words of the library that reads it.
        message: String,
    },
    /// How the tokens of a `tokenizer.json` spell text is unknown.
    #[error("tokenizer.json: the decoder `{name}` is not supported")]
    UnsupportedDecoder {
        /// Its type, or what about it is not supported.
        name: String,
    },
    /// No token has the name of an EOS token that was asked for.
    #[error("there is no token `{name}` to end the text")]
    UnknownEosName {
        /// The name.
        name: String,
    },
    /// There is no token with an EOS id that was asked for.
    #[error("there is no token {id} to end the text")]
    UnknownEosId {
        /// The id.
        id: TokenId,
    },
    /// The tokens do not make a vocabulary.
    #[error(transparent)]
    Vocabulary(#[from] VocabularyError),
}

/// What can be wrong with a line of a ranks file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RankFault {
    /// Not two fields with a blank in between.
    #[error("not of the form `base64 rank`")]
    Fields,
    /// The first field is not base64.
    #[error("the token is not base64")]
    Base64,
    /// The second field is not a number below 2^32.
    #[error("the rank is not a number")]
    Rank,
}

/// What can be wrong with a protobuf message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProtobufFault {
    /// The message ends inside a field.
    #[error("the message ends inside a field")]
    Truncated,
    /// A number of more than 64 bits.
    #[error("a number of more than 64 bits")]
    Varint,
    /// A field number or wire type that does not exist.
    #[error("not a field")]
    Field,
    /// A field of the wrong wire type.
    #[error("a field of the wrong type")]
    Type,
}

/// Which tokens end the text. Left empty, the file's own word is taken, or else the first of
/// [`EOS_NAMES_WELL_KNOWN`] and its companions.
#[derive(Debug, Clone, Default)]
pub struct EosChoice {
    /// By id.
    pub ids: Vec<TokenId>,
    /// By name.
    pub names: Vec<String>,
}

/// Names of special tokens that end the text by themselves, used when nothing else says which do; all that a
/// vocabulary has count. Names that mean something else in some models (`<|end|>`) are not here.
pub const EOS_NAMES_WELL_KNOWN: [&str; 13] = [
    "<|endoftext|>",
    "</s>",
    "<eos>",
    "<|im_end|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<end_of_turn>",
    "<｜end▁of▁sentence｜>",
    "<|return|>",
    "<|call|>",
    "<|END_OF_TURN_TOKEN|>",
    "[EOS]",
];

impl EosChoice {
    fn is_empty(&self) -> bool {
        self.ids.is_empty() && self.names.is_empty()
    }

    /// The ids chosen: `id_of` finds a name, `exists` says whether there is such a token.
    fn resolve(
        &self,
        id_of: impl Fn(&str) -> Option<TokenId>,
        exists: impl Fn(TokenId) -> bool,
    ) -> Result<Vec<TokenId>, LoadError> {
        if let Some(&id) = self.ids.iter().find(|&&id| !exists(id)) {
            return Err(LoadError::UnknownEosId { id });
        }
        let by_name =
            self.names.iter().map(|name| id_of(name).ok_or_else(|| LoadError::UnknownEosName { name: name.clone() }));
        self.ids.iter().map(|&id| Ok(id)).chain(by_name).collect()
    }
}

/// The byte that a byte-fallback token `<0xNN>` stands for.
fn fallback_byte(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2 && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
        .then(|| u8::from_str_radix(digits, 16).ok())
        .flatten()
}
