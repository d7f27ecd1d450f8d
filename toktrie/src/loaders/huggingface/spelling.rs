//! What a token of a `tokenizer.json` spells in the middle of a text, read off the file's decoder.

use serde_json::Value;

use super::plain_text::type_of;
use crate::loaders::{LoadError, fallback_byte};

/// The decoder, as steps on one token.
pub(super) struct Spelling {
    steps: Vec<Step>,
    /// Byte by character of GPT-2's alphabet; indexed by code point, all of which are below 324.
    alphabet: Vec<Option<u8>>,
}

enum Step {
    /// Replace one string with another.
    Replace { from: String, to: String },
    /// `<0xNN>` is a byte.
    FallbackByte,
    /// Each character is a byte, in GPT-2's alphabet; a token with any other character is itself.
    ByteAlphabet,
    /// Take away so many of a character at the token's ends.
    Strip { character: char, start: u64, stop: u64 },
    /// A token without the prefix begins a word, so a blank stands before it; `cleanup` takes some away again.
    WordPiece { prefix: String, cleanup: bool },
    /// A blank stands before each token.
    BlankBefore,
}

/// What WordPiece's cleanup replaces.
const CLEANUP: [(&str, &str); 11] = [
    (" .", "."),
    (" ?", "?"),
    (" !", "!"),
    (" ,", ","),
    (" ' ", "'"),
    (" n't", "n't"),
    (" 'm", "'m"),
    (" do not", " don't"),
    (" 's", "'s"),
    (" 've", "'ve"),
    (" 're", "'re"),
];

impl Spelling {
    pub(super) fn of_decoder(decoder: &Value) -> Result<Self, LoadError> {
        let mut steps = Vec::new();
        // Once the tokens are fused, steps work on the whole text: what they do at its ends is no concern here.
        let mut fused = false;
        let mut pending = vec![decoder];
        while let Some(decoder) = pending.pop() {
            match type_of(decoder) {
                "Sequence" => pending.extend(decoder["decoders"].as_array().into_iter().flatten().rev()),
                "Fuse" => fused = true,
                "Strip" if fused => {}
                _ => steps.push(Step::of(decoder)?),
            }
        }
        Ok(Self { steps, alphabet: byte_alphabet() })
    }

    pub(super) fn bytes_of(&self, token: &str) -> Vec<u8> {
        let mut text = token.to_owned();
        for step in &self.steps {
            match step {
                Step::Replace { from, to } => text = text.replace(from, to),
                Step::FallbackByte => {
                    if let Some(byte) = fallback_byte(&text) {
                        return vec![byte];
                    }
                }
                Step::ByteAlphabet => {
                    let byte_of = |character: char| self.alphabet.get(character as usize).copied().flatten();
                    if let Some(bytes) = text.chars().map(byte_of).collect() {
                        return bytes;
                    }
                }
                Step::Strip { character, start, stop } => text = strip(&text, *character, *start, *stop).to_owned(),
                Step::WordPiece { prefix, cleanup } => {
                    text = match text.strip_prefix(prefix) {
                        Some(rest) => rest.to_owned(),
                        None => format!(" {text}"),
                    };
                    if *cleanup {
                        text = CLEANUP.iter().fold(text, |text, (from, to)| text.replace(from, to));
                    }
                }
                Step::BlankBefore => text.insert(0, ' '),
            }
        }
        text.into_bytes()
    }
}

impl Step {
    fn of(decoder: &Value) -> Result<Self, LoadError> {
        let unsupported = |name: &str| LoadError::UnsupportedDecoder { name: name.to_owned() };
        let text = |key: &str| decoder[key].as_str().map(str::to_owned);
        Ok(match type_of(decoder) {
            // Without a decoder, tokens are joined with a blank.
            "" => Self::BlankBefore,
            "ByteLevel" => Self::ByteAlphabet,
            "ByteFallback" => Self::FallbackByte,
            "Metaspace" => {
                Self::Replace { from: text("replacement").unwrap_or_else(|| "\u{2581}".to_owned()), to: " ".to_owned() }
            }
            "Replace" => Self::Replace {
                from: decoder["pattern"]["String"]
                    .as_str()
                    .filter(|from| !from.is_empty())
                    .ok_or_else(|| unsupported("Replace with a regex"))?
                    .to_owned(),
                to: text("content").unwrap_or_default(),
            },
            "Strip" => Self::Strip {
                character: decoder["content"].as_str().and_then(|text| text.chars().next()).unwrap_or(' '),
                start: decoder["start"].as_u64().unwrap_or(0),
                stop: decoder["stop"].as_u64().unwrap_or(0),
            },
            "WordPiece" => Self::WordPiece {
                prefix: text("prefix").unwrap_or_else(|| "##".to_owned()),
                cleanup: decoder["cleanup"].as_bool().unwrap_or(true),
            },
            "BPEDecoder" => Self::Replace {
                from: text("suffix").filter(|suffix| !suffix.is_empty()).unwrap_or_else(|| "</w>".to_owned()),
                to: " ".to_owned(),
            },
            // CTC merges repeated tokens: what a token spells depends on its neighbours.
            other => return Err(unsupported(other)),
        })
    }
}

fn strip(text: &str, character: char, start: u64, stop: u64) -> &str {
    let mut text = text;
    for _ in 0..start.min(text.len() as u64) {
        text = text.strip_prefix(character).unwrap_or(text);
    }
    for _ in 0..stop.min(text.len() as u64) {
        text = text.strip_suffix(character).unwrap_or(text);
    }
    text
}

/// GPT-2's alphabet: printable Latin-1 characters stand for themselves, the other bytes for U+0100 and up, in order.
fn byte_alphabet() -> Vec<Option<u8>> {
    let mut alphabet = vec![None; 256 + 68];
    let mut next = 256;
    for byte in 0..=255u8 {
        if matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff) {
            alphabet[byte as usize] = Some(byte);
        } else {
            alphabet[next] = Some(byte);
            next += 1;
        }
    }
    alphabet
}
