//! The sample grammars and the texts beside them.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Diagnostic, LexerMode, Limits, LinkedGrammar, SourceMap, link};
use larkspur_lark_frontend::LarkOptions;
use serde::Deserialize;

use crate::cases::{Reject, Step};
use crate::inner::{INNER_LANGUAGES, read_inner};
use crate::oracle::{Token, Vocab};

/// A sample grammar with its texts.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub struct Sample {
    /// What it is, in a line.
    pub title: String,
    /// The mode that the grammar chooses.
    lexer: Mode,
    /// Start rule.
    pub start: String,
    /// Texts of the language.
    pub accepts: Vec<String>,
    /// Prefixes of such texts at which the text may not end.
    pub incomplete: Vec<String>,
    /// Texts that are not.
    pub rejects: Vec<Reject>,
    /// Names that are tokens where they stand in texts.
    #[serde(default)]
    pub special: Vec<String>,
    /// Real vocabularies that have these tokens.
    #[serde(default)]
    pub vocabularies: Vec<String>,
    /// A front end that it needs besides.
    pub needs: Option<String>,
    /// File name without ending.
    #[serde(skip)]
    pub name: String,
    /// The language that it is written in.
    #[serde(skip)]
    language: Language,
    /// The grammar's text.
    #[serde(skip)]
    pub grammar: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
enum Language {
    #[default]
    Lark,
    Gbnf,
    Kbnf,
}

#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Longest,
    Exact,
}

/// All samples by name.
pub fn all() -> Result<Vec<Sample>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample_grammars");
    let mut samples = Vec::new();
    for entry in fs::read_dir(&folder)? {
        let path = entry?.path();
        let language = match path.extension().and_then(|extension| extension.to_str()) {
            Some("lark") => Language::Lark,
            Some("gbnf") => Language::Gbnf,
            Some("kbnf") => Language::Kbnf,
            _ => continue,
        };
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let facts = fs::read_to_string(path.with_extension("toml")).with_context(|| name.clone())?;
        let mut sample: Sample = toml::from_str(&facts).with_context(|| name.clone())?;
        (sample.name, sample.language, sample.grammar) = (name, language, fs::read_to_string(&path)?);
        samples.push(sample);
    }
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(samples)
}

impl Sample {
    /// The grammar, linked.
    pub fn link(&self) -> Result<LinkedGrammar> {
        let mut sources = SourceMap::new();
        let source = sources.add(&self.name, self.grammar.clone());
        let limits = Limits::default();
        let start = Some(self.start.as_str());
        let (grammar, diagnostics) = match self.language {
            Language::Lark => {
                let options = LarkOptions { start, inner_languages: INNER_LANGUAGES, ..LarkOptions::new(&limits) };
                let parsed = larkspur_lark_frontend::parse(&mut sources, source, &options);
                (parsed.grammar, parsed.diagnostics)
            }
            Language::Gbnf => {
                let options = ReadOptions { start, ..ReadOptions::new(&limits) };
                let parsed = larkspur_gbnf_frontend::parse(&sources, sources.whole(source), &options);
                (parsed.grammar, parsed.diagnostics)
            }
            Language::Kbnf => {
                let options = ReadOptions { start, ..ReadOptions::new(&limits) };
                let parsed = larkspur_kbnf_frontend::parse(&sources, sources.whole(source), &options);
                (parsed.grammar, parsed.diagnostics)
            }
        };
        let errors: Vec<&Diagnostic> = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).collect();
        let grammar = grammar.with_context(|| format!("{errors:?}"))?;
        let expected = if self.lexer == Mode::Exact { LexerMode::Exact } else { LexerMode::Longest };
        ensure!(grammar.options.lexer == expected, "the grammar's lexer mode is not the one that its texts are for");
        link(vec![grammar], |language, body| read_inner(&mut sources, expected, language, body))
            .map_err(|errors| anyhow::anyhow!("{errors:?}"))
    }

    /// The 256 bytes, EOS, and the special tokens of the texts.
    pub fn byte_vocab(&self) -> Vocab {
        let bytes = (0..=255u8).map(|byte| Token::Bytes(vec![byte]));
        let names = std::iter::once("<|eos|>").chain(self.special.iter().map(String::as_str));
        Vocab { tokens: bytes.chain(names.map(|name| Token::Special(name.into()))).collect(), eos: vec![256] }
    }

    /// Splits a text into runs of text and special tokens.
    pub fn pieces<'a>(&'a self, text: &'a str) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        let (mut start, mut at) = (0, 0);
        while at < text.len() {
            match self.special.iter().find(|name| text[at..].starts_with(name.as_str())) {
                Some(name) => {
                    pieces.push(Piece::Text(&text[start..at]));
                    pieces.push(Piece::Special(name));
                    at += name.len();
                    start = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        pieces.push(Piece::Text(&text[start..]));
        pieces
    }

    /// A text byte by byte, special tokens as tokens, with the byte offset of each step.
    pub fn steps(&self, vocab: &Vocab, text: &str) -> Vec<(usize, Step)> {
        let mut steps = Vec::new();
        let mut at = 0;
        for piece in self.pieces(text) {
            match piece {
                Piece::Text(run) => {
                    steps.extend(run.bytes().enumerate().map(|(offset, byte)| (at + offset, Step::Token(byte.into()))));
                    at += run.len();
                }
                Piece::Special(name) => {
                    steps.push((at, Step::Token(vocab.special(name).expect("the vocabulary has the sample's tokens"))));
                    at += name.len();
                }
            }
        }
        steps
    }
}

/// A run of a text.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    /// Bytes.
    Text(&'a str),
    /// A special token.
    Special(&'a str),
}
