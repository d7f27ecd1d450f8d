//! The grammar IR: what every front end produces and what the parser compiles.
//!
//! In: nothing; front ends build the values. Out: [`Grammar`] (rules, terminals, embeds), linked by [`link()`] into a
//! [`LinkedGrammar`], with [`Diagnostic`]s for the author's mistakes and [`Limits`] for everything input can make long.
//! Knows no syntax of any grammar language (only that of regexes and JSON, which several languages share) and no
//! vocabulary.

pub mod algebra;
pub mod automaton;
mod braces;
mod components;
pub mod definitions;
pub mod dfa;
pub mod diagnostic;
mod dump;
pub mod hashing;
pub mod indentation;
pub mod index;
pub mod ir;
pub mod json;
pub mod limits;
pub mod link;
pub mod lints;
pub mod number;
pub mod param;
pub mod passes;
pub mod ranges;
pub mod regex;
pub mod regex_syntax;
pub mod saved;
pub mod span;
pub mod substring;
pub mod text_map;
mod typographic;

pub use automaton::{Automaton, Edge, EdgeSymbol, Exceptions, LimitExceeded, State, Untold};
pub use braces::{behind_unescaped, closing_brace};
pub use components::components;
pub use dfa::{Dfa, DfaRef};
pub use diagnostic::{CodeInfo, Diagnostic, Label, Severity};
pub use index::IndexVec;
pub use ir::*;
pub use limits::Limits;
pub use link::{LinkedGrammar, link};
pub use param::{Comparison, Condition, ConditionId, ParamExpr, ParamRange};
pub use regex::{ByteSet, CharClass, Imported, Parts, RegexBase, RegexId, RegexNode, RegexSet, SavedRegexes, Text};
pub use regex_syntax::{Dialect, LazyTail, LexemeRegex, RegexOptions, parse_lexeme, parse_regex};
pub use span::{Source, SourceId, SourceMap, Span, behind_bom, name_in_groups};
pub use text_map::TextMap;
pub use typographic::typographic;
