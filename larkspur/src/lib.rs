//! Grammars to token masks: the front door.
//!
//! In: a [`Source`] (Lark, GBNF or KBNF text, a JSON Schema, a regex, a list of grammars, or a grammar built by a program) and
//! a model's [`Vocabulary`]. Out: a [`CompiledGrammar`], and for each generated sequence a [`Matcher`] that says which
//! tokens keep the text inside the language.
//!
//! ```
//! use std::sync::Arc;
//! use larkspur::{Engine, Source, TokenMask, Vocabulary};
//!
//! let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
//! let grammar = engine.compile(&Source::lark("start: \"yes\" | \"no\""))?;
//! let mut matcher = grammar.matcher()?;
//! let mut mask = TokenMask::new(engine.vocabulary().len());
//! matcher.compute_mask(&mut mask)?;
//! assert_eq!(mask.iter().collect::<Vec<_>>(), [u32::from(b'n'), u32::from(b'y')]);
//! matcher.consume_token(b'n'.into())?;
//! assert_eq!(matcher.forced_bytes()?, b"o");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Knows every front end and the engine, and does no algorithm: it chooses the front end by [`SourceKind`], links the
//! grammars, and hands them to the engine.

#![forbid(unsafe_code)]

mod codes;
mod compile;
mod convert;
mod engine;
mod error;
mod folder;
mod front_ends;
mod inner_texts;
pub mod kbnf;
mod list;
mod mistake;
mod other_language;
mod recent;
mod saved;
mod source;
mod stages;
mod tags;

pub use codes::{CODES, codes};
pub use compile::{CompileOptions, Linked, link};
pub use convert::{Converted, convert};
pub use engine::{CompiledGrammar, Engine};
pub use error::{CompileError, summary_line};
pub use folder::Folder;
pub use front_ends::{InstancePlace, instance_place};
pub use saved::{FORMAT, LoadError, SaveError};
pub use source::{Source, SourceBody, SourceKind, UnknownSourceKind};
pub use stages::{ast_dump, ir_dump};
pub use tags::{Mark, StructuralTags};

/// The IR that front ends produce, for grammars built by programs.
pub use larkspur_grammar as grammar;
pub use larkspur_grammar::{
    ByteSet, CodeInfo, Diagnostic, Grammar, Label, LexerMode, Limits, LinkedGrammar, Severity, SourceId, SourceMap,
    Span,
};
pub use larkspur_json_schema::{
    Draft, KeyOrder, NumberSpelling, Retriever, Spelling, StringEscapes, UnknownFormat, Whitespace,
};
pub use larkspur_lark_frontend::{ModuleResolver, ModuleText, Modules};
pub use larkspur_parser::{
    Capture, Consumed, DEFAULT_SLICES, EngineOptions, GrammarStats, MaskId, MaskStats, Matcher, MatcherError,
    MatcherOptions, SLICES_MAX, Shortcuts, SliceError, StopReason, TRACE_DEPTHS, TraceStats, compute_masks,
};
/// Vocabularies, their loaders, tries and masks.
pub use larkspur_toktrie as toktrie;
pub use larkspur_toktrie::{TokenId, TokenMask, Vocabulary, VocabularyBuilder, VocabularyError};
