//! The text that a command is given: bytes, and tokens among them.

use std::borrow::Cow;

use anyhow::{Context, Result, bail};
use larkspur::{ByteSet, Matcher, MatcherError, TokenId, Vocabulary};

use crate::args::TextArgs;
use crate::grammar::read_stdin;
use crate::output;

/// A text.
#[derive(Debug)]
pub(crate) struct Text {
    /// As it is shown: tokens by their names.
    pub shown: Vec<u8>,
    /// What is fed to the matcher, in order.
    pub pieces: Vec<Piece>,
}

/// A part of a text.
#[derive(Debug, Clone)]
pub(crate) struct Piece {
    /// Where it begins in [`Text::shown`].
    pub at: usize,
    /// What it is.
    pub kind: PieceKind,
}

#[derive(Debug, Clone)]
pub(crate) enum PieceKind {
    /// Text that belongs to no token.
    Bytes(Vec<u8>),
    /// A token.
    Token(TokenId),
}

/// Where and why a text was refused.
#[derive(Debug)]
pub(crate) struct Rejection {
    /// First byte of [`Text::shown`] that cannot follow.
    pub at: usize,
    /// How many bytes from there on are refused together: those of a token's name.
    pub len: usize,
    /// Terminals and tokens that could stand there.
    pub expected: Vec<String>,
    /// Bytes that could stand there.
    pub allowed: ByteSet,
    /// What else there is to say.
    pub note: Option<String>,
}

impl TextArgs {
    /// Fails if the grammar and the text are both standard input.
    pub fn check_stdin(&self, text: Option<&str>, grammar: &str) -> Result<()> {
        if grammar == "-" && self.token_ids.is_none() && matches!(text, Some("-") | None) {
            bail!("the grammar and the text cannot both be standard input");
        }
        Ok(())
    }

    /// The bytes of an argument: `-` is standard input.
    pub fn argument(&self, text: Option<&str>) -> Result<Vec<u8>> {
        match text {
            _ if self.token_ids.is_some() => Ok(Vec::new()),
            Some("-") | None => read_stdin(),
            Some(text) => Ok(text.as_bytes().to_vec()),
        }
    }

    /// The text of an argument's bytes. `names` are of tokens that count as special although the vocabulary has them as
    /// text. With `tokens`, what is not a special token is tokenized, too.
    pub fn text(&self, bytes: Vec<u8>, vocabulary: &Vocabulary, names: &[String], tokens: bool) -> Result<Text> {
        let mut text = match &self.token_ids {
            Some(ids) => from_ids(ids, vocabulary)?,
            None if self.special => with_specials(bytes, vocabulary, names)?,
            None if bytes.is_empty() => Text { shown: bytes, pieces: Vec::new() },
            None => {
                let pieces = vec![Piece { at: 0, kind: PieceKind::Bytes(bytes.clone()) }];
                Text { shown: bytes, pieces }
            }
        };
        if tokens {
            text.tokenize(vocabulary)?;
        }
        Ok(text)
    }
}

/// What looks like the name of a special token: `<|name|>`.
pub(crate) fn special_names(text: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(text);
    let mut names = Vec::new();
    let mut rest: &str = &text;
    while let Some(start) = rest.find("<|") {
        let inner = &rest[start + 2..];
        match inner.find(['<', '>', ' ', '\n']) {
            Some(end) if inner[..=end].ends_with("|>") && end > 1 => {
                names.push(rest[start..start + 2 + end + 1].to_owned());
                rest = &inner[end + 1..];
            }
            _ => rest = inner,
        }
    }
    names
}

fn from_ids(ids: &[TokenId], vocabulary: &Vocabulary) -> Result<Text> {
    let mut text = Text { shown: Vec::new(), pieces: Vec::new() };
    for &id in ids {
        if id as usize >= vocabulary.len() {
            bail!("token {id} is not in the vocabulary of {} tokens", vocabulary.len());
        }
        text.pieces.push(Piece { at: text.shown.len(), kind: PieceKind::Token(id) });
        match vocabulary.token_bytes(id) {
            Some(bytes) => text.shown.extend_from_slice(bytes),
            None => text.shown.extend_from_slice(vocabulary.display(id).as_bytes()),
        }
    }
    Ok(text)
}

/// Cuts a text at the names of special tokens and at `<[id]>`.
fn with_specials(bytes: Vec<u8>, vocabulary: &Vocabulary, names: &[String]) -> Result<Text> {
    let specials = vocabulary.specials().filter(|(_, name)| !name.is_empty());
    let named = names.iter().filter_map(|name| Some((vocabulary.trie().token_of(name.as_bytes())?, name.as_str())));
    let mut known: Vec<(TokenId, &str)> = specials.chain(named).collect();
    // Of several names the longest counts.
    known.sort_by_key(|(_, name)| std::cmp::Reverse(name.len()));
    let mut pieces = Vec::new();
    let (mut plain, mut at) = (0, 0);
    while let Some(start) = bytes[at..].iter().position(|&byte| byte == b'<').map(|offset| at + offset) {
        let Some((id, len)) = token_at(&bytes[start..], &known, vocabulary.len())? else {
            at = start + 1;
            continue;
        };
        if plain < start {
            pieces.push(Piece { at: plain, kind: PieceKind::Bytes(bytes[plain..start].to_vec()) });
        }
        pieces.push(Piece { at: start, kind: PieceKind::Token(id) });
        at = start + len;
        plain = at;
    }
    if plain < bytes.len() {
        pieces.push(Piece { at: plain, kind: PieceKind::Bytes(bytes[plain..].to_vec()) });
    }
    Ok(Text { shown: bytes, pieces })
}

/// The token whose name or `<[id]>` the text begins with, and how long that is.
fn token_at(text: &[u8], known: &[(TokenId, &str)], vocabulary_len: usize) -> Result<Option<(TokenId, usize)>> {
    if let Some(rest) = text.strip_prefix(b"<[")
        && let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        && digits > 0
        && rest[digits..].starts_with(b"]>")
    {
        let id = std::str::from_utf8(&rest[..digits])?.parse().context("a token id")?;
        if id as usize >= vocabulary_len {
            bail!("token {id} is not in the vocabulary of {vocabulary_len} tokens");
        }
        return Ok(Some((id, digits + 4)));
    }
    let found = known.iter().find(|(_, name)| text.starts_with(name.as_bytes()));
    Ok(found.map(|&(id, name)| (id, name.len())))
}

impl Text {
    /// Cuts the bytes between tokens into tokens.
    fn tokenize(&mut self, vocabulary: &Vocabulary) -> Result<()> {
        let mut pieces = Vec::new();
        for piece in std::mem::take(&mut self.pieces) {
            let PieceKind::Bytes(bytes) = &piece.kind else {
                pieces.push(piece);
                continue;
            };
            let tokens = vocabulary.tokenize(bytes).or_else(|| vocabulary.tokenize_greedy(bytes));
            let tokens = tokens.context("the vocabulary has no tokens that make up the text")?;
            let mut at = piece.at;
            for token in tokens {
                pieces.push(Piece { at, kind: PieceKind::Token(token) });
                at += vocabulary.token_bytes(token).map_or(0, <[u8]>::len);
            }
        }
        self.pieces = pieces;
        Ok(())
    }

    /// Feeds the whole text to a matcher.
    pub fn feed(&self, matcher: &mut Matcher, vocabulary: &Vocabulary) -> Result<Option<Rejection>> {
        for piece in &self.pieces {
            if let Some(rejection) = self.feed_piece(piece, matcher, vocabulary)? {
                return Ok(Some(rejection));
            }
        }
        Ok(None)
    }

    /// Feeds one piece.
    pub fn feed_piece(
        &self,
        piece: &Piece,
        matcher: &mut Matcher,
        vocabulary: &Vocabulary,
    ) -> Result<Option<Rejection>> {
        let result = match &piece.kind {
            PieceKind::Bytes(bytes) => matcher.consume_bytes(bytes),
            PieceKind::Token(token) => matcher.consume_token(*token).map(drop),
        };
        let inside = match result {
            Ok(()) => return Ok(None),
            Err(MatcherError::TextRejected { at_byte } | MatcherError::TokenRejected { at_byte, .. }) => at_byte,
            Err(MatcherError::Stopped) => {
                let reason = matcher.stop_reason();
                return Ok(Some(Rejection {
                    at: piece.at,
                    len: 1,
                    expected: Vec::new(),
                    allowed: ByteSet::EMPTY,
                    note: Some(match reason {
                        Some(larkspur::StopReason::MaxTokens) => "the budget of tokens is used up here".to_owned(),
                        _ => "the text has ended here".to_owned(),
                    }),
                }));
            }
            Err(error) => return Err(error).context(format!("at byte {}", piece.at)),
        };
        let bytes: Cow<[u8]> = match &piece.kind {
            PieceKind::Bytes(bytes) => bytes.into(),
            PieceKind::Token(token) => vocabulary.token_bytes(*token).unwrap_or_default().into(),
        };
        // The way to the byte that was refused goes byte by byte.
        let mut there = matcher.fork();
        there.consume_bytes(&bytes[..inside.min(bytes.len())])?;
        let at = piece.at + inside;
        let last_newline = at + 1 == self.shown.len() && self.shown.ends_with(b"\n") && there.is_accepting()?;
        let special = match piece.kind {
            PieceKind::Token(token) => vocabulary.special_name(token),
            PieceKind::Bytes(_) => None,
        };
        Ok(Some(Rejection {
            at,
            len: special.map_or(1, str::len),
            expected: there.expected()?,
            allowed: there.allowed_bytes()?,
            note: if last_newline {
                Some("without the line break at its end, the text would be accepted".to_owned())
            } else {
                self.special_note(at, &there.expected()?)
            },
        }))
    }
}

impl Text {
    /// A hint where the name of an expected token was read as text.
    fn special_note(&self, at: usize, expected: &[String]) -> Option<String> {
        let rest = self.shown.get(at..)?;
        let name = expected.iter().find(|name| name.starts_with('<') && rest.starts_with(name.as_bytes()))?;
        Some(format!("`{name}` is a token of the grammar and text here; with `--special` it is the token"))
    }
}

impl Rejection {
    /// What is wrong at the place, in words.
    pub fn label(&self, text: &Text) -> String {
        match text.shown.get(self.at) {
            Some(_) if self.len > 1 => "this token cannot follow".to_owned(),
            Some(&byte) if byte.is_ascii() => format!("{} cannot follow", output::byte(byte)),
            _ => "cannot follow".to_owned(),
        }
    }

    /// What could stand there, in words, a line each.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = expectation(&self.expected, &self.allowed);
        if notes.is_empty() && self.note.is_none() {
            notes.push("nothing can follow".to_owned());
        }
        notes.extend(self.note.clone());
        notes
    }
}

/// What can follow, in words, a line each.
pub(crate) fn expectation(expected: &[String], allowed: &ByteSet) -> Vec<String> {
    let mut lines = Vec::new();
    if !expected.is_empty() {
        lines.push(format!("expected: {}", output::names(expected)));
    }
    if !allowed.is_empty() {
        lines.push(format!("bytes: {}", output::byte_set(allowed)));
    }
    lines
}
