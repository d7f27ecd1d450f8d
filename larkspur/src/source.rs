//! What a grammar comes from: a text of some kind, or the IR itself.

use larkspur_grammar::json::parse_json;
use larkspur_grammar::{Grammar, Limits, SourceId, SourceMap};

use crate::front_ends::FRONT_ENDS;
use crate::tags::StructuralTags;

/// The language that a source is written in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum SourceKind {
    /// Lark, with llguidance's extensions.
    Lark,
    /// One regex in the syntax of the `regex` crate; it describes whole texts.
    Regex,
    /// JSON Schema.
    JsonSchema,
    /// llama.cpp's GBNF.
    Gbnf,
    /// KBNF.
    Kbnf,
    /// `{"grammars": [{"name"?, "lark_grammar" | "json_schema" | "gbnf_grammar" | "kbnf_grammar" | "regex"}, …],
    /// "max_tokens"?}`: the first grammar is the root; Lark can refer to all of them as `@name`.
    List,
}

impl SourceKind {
    /// As it is called in messages.
    pub fn title(self) -> &'static str {
        self.row().title
    }
    /// The kind that files with this name have by their extension; a `.json` file may also be a [`SourceKind::List`].
    pub fn from_file_name(name: &str) -> Option<SourceKind> {
        let lower = name.to_ascii_lowercase();
        let row = FRONT_ENDS.iter().find(|row| row.extension.is_some_and(|extension| lower.ends_with(extension)))?;
        Some(row.kind)
    }
}

/// A grammar in any of the languages, and the name it is shown under.
#[derive(Clone, Debug)]
pub struct Source {
    /// File name, or a description such as `<lark>`.
    pub name: String,
    /// The text, or the grammar.
    pub body: SourceBody,
}

/// What a [`Source`] holds.
#[derive(Clone, Debug)]
pub enum SourceBody {
    /// A text.
    Text {
        /// The language it is written in.
        kind: SourceKind,
        /// The text.
        text: String,
    },
    /// A grammar built by a program.
    Grammar {
        /// The grammar.
        grammar: Box<Grammar>,
        /// What its spans point into. Where it is missing, diagnostics have no places, and `%json` bodies no text.
        sources: Option<SourceMap>,
    },
    /// Free text with tags.
    Tags(Box<StructuralTags>),
}

/// Structural tags, named `<tags>`.
impl From<StructuralTags> for Source {
    fn from(tags: StructuralTags) -> Self {
        Self { name: "<tags>".to_owned(), body: SourceBody::Tags(Box::new(tags)) }
    }
}

/// A file name that does not say what the file holds.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("what `{name}` holds does not show in its name: it ends in none of {}", extensions())]
pub struct UnknownSourceKind {
    /// The name.
    pub name: String,
}

fn extensions() -> String {
    let known: Vec<&str> = FRONT_ENDS.iter().filter_map(|row| row.extension).collect();
    known.join(", ")
}

impl Source {
    /// A Lark text.
    pub fn lark(text: impl Into<String>) -> Self {
        Self::text("<lark>", SourceKind::Lark, text)
    }
    /// A regex in the syntax of the `regex` crate, which describes whole texts.
    pub fn regex(text: impl Into<String>) -> Self {
        Self::text("<regex>", SourceKind::Regex, text)
    }
    /// A JSON Schema.
    pub fn json_schema(text: impl Into<String>) -> Self {
        Self::text("<schema>", SourceKind::JsonSchema, text)
    }
    /// A GBNF text.
    pub fn gbnf(text: impl Into<String>) -> Self {
        Self::text("<gbnf>", SourceKind::Gbnf, text)
    }
    /// A KBNF text.
    pub fn kbnf(text: impl Into<String>) -> Self {
        Self::text("<kbnf>", SourceKind::Kbnf, text)
    }
    /// A list of grammars, as JSON.
    pub fn list(text: impl Into<String>) -> Self {
        Self::text("<list>", SourceKind::List, text)
    }
    /// A grammar built by a program. Its diagnostics have no places; [`SourceBody::Grammar`] can give them some.
    pub fn grammar(grammar: Grammar) -> Self {
        Self { name: "<grammar>".to_owned(), body: SourceBody::Grammar { grammar: Box::new(grammar), sources: None } }
    }
    /// A text under a name.
    pub fn text(name: impl Into<String>, kind: SourceKind, text: impl Into<String>) -> Self {
        Self { name: name.into(), body: SourceBody::Text { kind, text: text.into() } }
    }
    /// The same under another name.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }
    /// The text of a file, of the kind that its name says: `.lark`, `.gbnf`, `.kbnf`, `.regex`, and `.json` for a JSON
    /// Schema, or for a list of grammars if the text is an object with the key `grammars`.
    /// The line break at the end of a `.regex` file is not part of the regex.
    pub fn from_path_name(name: impl Into<String>, text: impl Into<String>) -> Result<Self, UnknownSourceKind> {
        let (name, text) = (name.into(), text.into());
        match SourceKind::from_file_name(&name) {
            Some(kind) => Ok(Self::from_file(name, kind, text)),
            None => Err(UnknownSourceKind { name }),
        }
    }
    /// The text of a file whose kind is known otherwise, read as [`from_path_name`](Self::from_path_name) reads it.
    pub fn from_file(name: impl Into<String>, kind: SourceKind, text: impl Into<String>) -> Self {
        let mut text = text.into();
        let kind = match kind {
            SourceKind::JsonSchema if is_list(&text) => SourceKind::List,
            SourceKind::Regex => {
                let line = text.strip_suffix('\n').unwrap_or(&text);
                text.truncate(line.strip_suffix('\r').unwrap_or(line).len());
                kind
            }
            _ => kind,
        };
        Self::text(name, kind, text)
    }
    /// The kind of a text; `None` for what a program has built.
    pub fn kind(&self) -> Option<SourceKind> {
        match self.body {
            SourceBody::Text { kind, .. } => Some(kind),
            SourceBody::Grammar { .. } | SourceBody::Tags(_) => None,
        }
    }
}

/// Whether a JSON text is a list of grammars. Where it is not well-formed, the key's name decides.
fn is_list(text: &str) -> bool {
    text.contains("\"grammars\"")
        && parse_json(SourceId(0), text, &Limits::default())
            .map_or(true, |document| document.member(document.root(), "grammars").is_some())
}
