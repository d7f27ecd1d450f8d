//! Regex text to [`RegexSet`] nodes, in three dialects.

use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::limits::Limits;
use crate::regex::{ByteSet, CharClass, RegexId, RegexSet};
use crate::text_map::TextMap;

/// Whose meaning a regex has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Dialect {
    /// Python's `re`.
    Python,
    /// The `regex` crate.
    Rust,
    /// ECMA-262 with the `u` flag.
    Ecma,
}

/// How to read a regex.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct RegexOptions {
    /// Whose meaning it has.
    pub dialect: Dialect,
    /// Flag `i`: upper and lower case are alike, by Unicode's simple case folding.
    pub ignore_case: bool,
    /// Flag `m`: `^` and `$` also stand at line breaks.
    pub multi_line: bool,
    /// Flag `s`: `.` is any character, line breaks included.
    pub dot_all: bool,
    /// Flag `x`: white space and comments in the pattern do not count.
    pub verbose: bool,
    /// Python's flag `a`: `\d`, `\w`, `\s` and flag `i` know ASCII only.
    pub ascii: bool,
    /// `allow_invalid_utf8`: `\xFF` and the like are bytes, `.` is any byte.
    pub bytes: bool,
    /// The pattern may match anywhere in the text (JSON Schema); otherwise it matches the whole text.
    pub search: bool,
}

impl RegexOptions {
    /// A dialect without flags; the whole text matches.
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            ignore_case: false,
            multi_line: false,
            dot_all: false,
            verbose: false,
            ascii: false,
            bytes: false,
            search: false,
        }
    }
}

/// Codes of this module.
pub const CODES: &[CodeInfo] = &[];

/// Reads a regex.
pub fn parse_regex(
    text: &str,
    map: &TextMap,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    _warnings: &mut Vec<Diagnostic>,
) -> Result<RegexId, Vec<Diagnostic>> {
    let hir = regex_syntax::ParserBuilder::new()
        .nest_limit(limits.grammar_depth_max as u32)
        .case_insensitive(options.ignore_case)
        .dot_matches_new_line(options.dot_all)
        .ignore_whitespace(options.verbose)
        .unicode(!options.bytes)
        .utf8(!options.bytes)
        .build()
        .parse(text)
        .map_err(|error| vec![Diagnostic::error("R011", map.span(0..text.len()), error.to_string())])?;
    Ok(lower(&hir, set))
}

fn lower(hir: &regex_syntax::hir::Hir, set: &mut RegexSet) -> RegexId {
    use regex_syntax::hir::{Class, HirKind};
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => set.epsilon(),
        HirKind::Literal(literal) => set.literal(&literal.0),
        HirKind::Class(Class::Unicode(class)) => {
            set.class(CharClass::from_ranges(class.iter().map(|r| (r.start() as u32, r.end() as u32))))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let bytes = class.iter().fold(ByteSet::EMPTY, |all, r| all.union(&ByteSet::range(r.start(), r.end())));
            set.bytes(bytes)
        }
        HirKind::Repetition(repetition) => {
            let child = lower(&repetition.sub, set);
            set.repeat(child, repetition.min, repetition.max)
        }
        HirKind::Capture(capture) => lower(&capture.sub, set),
        HirKind::Concat(parts) => {
            let parts: Vec<RegexId> = parts.iter().map(|part| lower(part, set)).collect();
            set.concat(&parts)
        }
        HirKind::Alternation(parts) => {
            let parts: Vec<RegexId> = parts.iter().map(|part| lower(part, set)).collect();
            set.or(&parts)
        }
    }
}
