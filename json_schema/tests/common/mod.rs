//! Schemas through the front end and the engine, byte by byte.
#![allow(dead_code)]

use std::sync::Arc;

use larkspur_grammar::{Diagnostic, Limits, SourceMap, Span, link};
use larkspur_json_schema::{Draft, SchemaOptions, Spelling, compile};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherError, MatcherOptions, Shared};
use larkspur_toktrie::Vocabulary;

/// An engine over single bytes.
pub fn shared() -> Shared {
    let options = EngineOptions { slices: Vec::new(), ..EngineOptions::default() };
    Shared::new(Arc::new(Vocabulary::single_bytes()), &options).expect("no slices, no mistakes")
}

/// A schema as a compiled grammar, or what is wrong with it; and the warnings.
pub fn compiled(shared: &Shared, schema: &str) -> (Result<CompiledGrammar, Vec<Diagnostic>>, Vec<Diagnostic>) {
    compiled_with(shared, schema, Draft::Draft2020)
}

/// The same for a draft.
pub fn compiled_with(
    shared: &Shared,
    schema: &str,
    draft: Draft,
) -> (Result<CompiledGrammar, Vec<Diagnostic>>, Vec<Diagnostic>) {
    let limits = Limits::default();
    compiled_as(shared, schema, &SchemaOptions { draft, ..SchemaOptions::new(&limits) })
}

/// The same with all options.
pub fn compiled_as(
    shared: &Shared,
    schema: &str,
    options: &SchemaOptions,
) -> (Result<CompiledGrammar, Vec<Diagnostic>>, Vec<Diagnostic>) {
    let mut sources = SourceMap::new();
    let source = sources.add("schema.json", schema);
    let parsed = compile(&mut sources, Span::new(source, 0, schema.len()), options);
    let Some(grammar) = parsed.grammar else { return (Err(parsed.diagnostics.clone()), parsed.diagnostics) };
    let linked = link(vec![grammar], |_| Err(Vec::new())).expect("a schema embeds nothing");
    (CompiledGrammar::compile(shared, linked), parsed.diagnostics)
}

/// Whether the text is accepted.
pub fn accepts(grammar: &CompiledGrammar, text: &str) -> Result<bool, MatcherError> {
    let mut matcher = Matcher::new(grammar, MatcherOptions::default())?;
    match matcher.consume_bytes(text.as_bytes()) {
        Ok(()) => matcher.is_accepting(),
        Err(MatcherError::TextRejected { .. } | MatcherError::Stopped) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Checks lists of texts against a schema.
pub fn check(schema: &str, accepted: &[&str], rejected: &[&str]) {
    check_in(&Spelling::default(), schema, accepted, rejected);
}

/// Checks lists of texts against a schema in a profile.
pub fn check_in(spelling: &Spelling, schema: &str, accepted: &[&str], rejected: &[&str]) {
    let shared = shared();
    let limits = Limits::default();
    let options = SchemaOptions { spelling: spelling.clone(), ..SchemaOptions::new(&limits) };
    let (grammar, _) = compiled_as(&shared, schema, &options);
    let grammar = grammar.unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
    for text in accepted {
        assert_eq!(accepts(&grammar, text), Ok(true), "{schema} accepts {text}");
    }
    for text in rejected {
        assert_eq!(accepts(&grammar, text), Ok(false), "{schema} rejects {text}");
    }
}

/// The codes of a schema that is refused.
pub fn refused(schema: &str) -> Vec<&'static str> {
    let shared = shared();
    match compiled(&shared, schema) {
        (Ok(_), _) => panic!("{schema} compiles"),
        (Err(errors), _) => errors.iter().map(|error| error.code).collect(),
    }
}
