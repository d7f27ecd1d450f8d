//! What `match`, `mask` and `trace` begin with: a compiled grammar and a text for it.

use std::sync::Arc;

use anyhow::{Context, Result};
use larkspur::{ByteSet, CompiledGrammar, InstancePlace, Limits, Source, SourceKind, Vocabulary, instance_place};

use crate::args::{Profile, ReadArgs, TextArgs};
use crate::grammar::compile;
use crate::text::{Text, special_names};
use crate::vocabulary;

/// A grammar and a text.
pub(crate) struct Prepared {
    pub vocabulary: Arc<Vocabulary>,
    pub grammar: CompiledGrammar,
    pub text: Text,
    source: Source,
}

impl Prepared {
    /// Whether the grammar is a JSON Schema.
    pub fn is_schema(&self) -> bool {
        self.source.kind() == Some(SourceKind::JsonSchema)
    }
    /// Where in an instance a byte of the text stands, before which `allowed` could follow, if the grammar is a JSON Schema.
    pub fn place(&self, read: &ReadArgs, at: usize, allowed: &ByteSet) -> Result<Option<InstancePlace>> {
        Ok(instance_place(
            &self.source,
            &read.options(&self.source, Profile::Validate)?,
            &Limits::default(),
            &self.text.shown,
            at,
            allowed,
        ))
    }
}

/// What the vocabulary is, and what the text is cut into, where `--tokenizer` does not say it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Default {
    /// Bytes and bytes; token ids are those of the default vocabulary.
    Bytes,
    /// The default vocabulary, and bytes: budgets of tokens do not count.
    VocabularyAndBytes,
    /// The default vocabulary, and tokens.
    Tokens,
}

impl Default {
    /// Who only wants to know whether a text is valid takes it in any spelling.
    fn profile(self) -> Profile {
        match self {
            Default::Bytes => Profile::Validate,
            Default::VocabularyAndBytes | Default::Tokens => Profile::Generate,
        }
    }
}

/// Reads grammar and text. `None` if the grammar has mistakes, which are then shown.
pub(crate) fn prepare(
    path: &str,
    text: Option<&str>,
    read: &ReadArgs,
    how: &TextArgs,
    default: Default,
) -> Result<Option<Prepared>> {
    how.check_stdin(text, path)?;
    let source = read.source(path)?;
    let Some(linked) = read.linked_source(&source, default.profile())? else { return Ok(None) };
    let bytes = match text.filter(|text| source.kind() == Some(SourceKind::JsonSchema) && is_file(text)) {
        Some(file) => std::fs::read(file).with_context(|| file.to_owned())?,
        None => how.argument(text)?,
    };
    let names: Vec<String> = linked.token_names().into_iter().map(str::to_owned).collect();
    let vocabulary = match &read.tokenizer {
        Some(name) => vocabulary::named(name)?,
        None if default == Default::Bytes && how.token_ids.is_none() => {
            let written = if how.special { special_names(&bytes) } else { Vec::new() };
            Arc::new(linked.byte_vocabulary(written)?)
        }
        None => vocabulary::named_or_default(None)?,
    };
    let Some(grammar) = compile(path, linked, vocabulary.clone())? else { return Ok(None) };
    let tokens = read.tokenizer.is_some() || default == Default::Tokens;
    let text = how.text(bytes, &vocabulary, &names, tokens)?;
    Ok(Some(Prepared { vocabulary, grammar, text, source }))
}

/// Whether the text for a JSON Schema is the name of a file that holds it: no JSON text ends in `.json`.
fn is_file(text: &str) -> bool {
    text.ends_with(".json")
}
