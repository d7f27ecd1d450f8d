//! Schemas through the front end and the engine, byte by byte.
#![allow(dead_code)]

pub mod respell;

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
    let linked = link(vec![grammar], |_, _| Err(Vec::new())).expect("a schema embeds nothing");
    (CompiledGrammar::compile(shared, linked), parsed.diagnostics)
}

/// The same in a spelling.
pub fn spelled(shared: &Shared, schema: &str, spelling: &Spelling) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    let limits = Limits::default();
    compiled_as(shared, schema, &SchemaOptions { spelling: spelling.clone(), ..SchemaOptions::new(&limits) }).0
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

/// Checks lists of texts against a schema in a spelling.
pub fn check_as(spelling: &Spelling, schema: &str, accepted: &[&str], rejected: &[&str]) {
    let shared = shared();
    let grammar = spelled(&shared, schema, spelling).unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
    for text in accepted {
        assert_eq!(accepts(&grammar, text), Ok(true), "{schema} accepts {text}");
    }
    for text in rejected {
        assert_eq!(accepts(&grammar, text), Ok(false), "{schema} rejects {text}");
    }
}

/// Random walks along the mask: each comes to an end, and the text is valid for the `jsonschema` crate.
pub fn walk_without_traps(schema: &str, walks: u64) {
    let shared = shared();
    let compact = Spelling { whitespace: larkspur_json_schema::Whitespace::Compact, ..Spelling::default() };
    let grammar = spelled(&shared, schema, &compact).unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).expect("JSON")).expect("a schema");
    for seed in 0..walks {
        let mut random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("a matcher");
        let mut mask = larkspur_toktrie::TokenMask::new(257);
        let mut text = Vec::new();
        loop {
            assert!(text.len() < 2_000, "{schema}: {}", String::from_utf8_lossy(&text));
            matcher.compute_mask(&mut mask).expect("a mask");
            let allowed: Vec<u8> = (0..=255u8).filter(|&byte| mask.is_allowed(u32::from(byte))).collect();
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            if matcher.is_accepting().expect("an answer") && (allowed.is_empty() || random % 4 == 0) {
                break;
            }
            assert!(!allowed.is_empty(), "{schema}: trapped behind {}", String::from_utf8_lossy(&text));
            let byte = allowed[(random >> 8) as usize % allowed.len()];
            matcher.consume_bytes(&[byte]).expect("a byte of the mask");
            text.push(byte);
        }
        let value: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        assert!(validator.is_valid(&value), "{schema} allows {value}");
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
