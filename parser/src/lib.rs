//! The engine: from the IR to token masks.
//!
//! In: a [`LinkedGrammar`](larkspur_grammar::LinkedGrammar), a vocabulary, limits. Out: a [`CompiledGrammar`], and for
//! each generated sequence a [`Matcher`].
//! Knows no source text: diagnostics carry spans that the front ends made.

mod batch;
mod captures;
mod cfg;
mod codes;
mod compile;
mod counting_sort;
mod dump;
mod eager;
mod earley;
mod engine;
mod error;
mod forcing;
mod growing;
mod history;
mod lexer;
mod literal_trie;
mod machine;
mod mask;
mod matcher;
mod published;
mod reach;
mod saved;
mod shortcut;
mod slicer;
mod swallow;
mod token_steps;
mod unsettled;

pub use batch::compute_masks;
pub use captures::Capture;
pub use codes::{CODES, limit_diagnostic};
pub use eager::EagerMatcher;
pub use engine::{CompiledGrammar, EngineOptions, GrammarStats, Shared};
pub use error::MatcherError;
pub use mask::{MaskId, MaskStats, TRACE_DEPTHS, TraceStats};
pub use matcher::{Consumed, Matcher, MatcherOptions, StopReason};
pub use saved::LoadFault;
pub use shortcut::Shortcuts;
pub use slicer::{DEFAULT_SLICES, SLICES_MAX, SliceError};
