//! Regex text to [`RegexSet`] nodes, in three dialects of one syntax.
//!
//! What only one dialect has is read as that one means it; where two differ, the chosen one counts and a lint says so.
//! What is not regular (back-references) or cannot be decided where it stands (a look-around that sees beyond a terminal,
//! a lazy quantifier whose end is not clear) is an error at its place, never something else. The tables of Unicode come from the `regex-syntax` crate.
//!
//! Stages: `parser` (text -> `ast`), then `lower` (anchors, then nodes), with `look` for all other assertions, `branches` for
//! those that `look` does not decide (over `letters`, where that is a whole text), `follow` for what they leave open at a lexeme's end, and `lazy` for lazy quantifiers of
//! lexemes.
//!
//! Anchors: a regex describes whole texts, so `^` and `$` at its edges say nothing; with [`RegexOptions::search`] they
//! decide whether text may stand before and after; there, and with [`RegexOptions::alone`], they may stand anywhere.
//!
//! Known differences: Python's `re` knows the Unicode version of its interpreter, we that of `regex-syntax`; JavaScript's
//! strings have lone surrogates, our texts do not.

mod ast;
mod branches;
mod class;
mod error;
mod escape;
mod follow;
mod group;
mod keywords;
mod lazy;
mod letters;
mod look;
mod loops;
mod lower;
mod parser;
mod undecided;
mod unicode;

use crate::diagnostic::Diagnostic;
use crate::limits::Limits;
use crate::regex::{RegexId, RegexSet};
use crate::text_map::TextMap;

pub use error::CODES;
pub(crate) use follow::Automaton;
pub use lazy::{LazyError, LazyTail};
pub(crate) use undecided::Questions;

/// Whose meaning a regex has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Dialect {
    /// Python's `re`.
    Python,
    /// The `regex` crate.
    Rust,
    /// ECMA-262 with the `u` flag, read as leniently as JSON Schema's authors write it.
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
    /// `allow_invalid_utf8`: `\xFF` and the like are bytes, `.` and negated classes are any byte, and `ascii` holds.
    pub bytes: bool,
    /// The pattern may match anywhere in the text (JSON Schema); otherwise it matches the whole text.
    pub search: bool,
    /// Nothing stands before or behind the text, so that look-around and anchors are decided.
    pub alone: bool,
    /// The regex is a lexeme of `longest` mode, and not lazy: it ends only where none of its texts goes on with what follows.
    pub whole: bool,
}

impl RegexOptions {
    /// Whether look-around sees the whole text.
    pub(crate) fn sees_edges(&self) -> bool {
        self.search || self.alone
    }

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
            alone: false,
            whole: false,
        }
    }
}

/// What a regex matches from where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LexemeRegex {
    /// The texts that it matches whatever follows them.
    pub regex: RegexId,
    /// How it goes on if it ends with a lazy quantifier.
    pub tail: Option<LazyTail>,
    /// Further texts, of which look-around sees what stands around them.
    pub looking: Vec<Looking>,
}

/// Texts that are matches only where certain others, of any bytes, stand around them; [`None`] is any.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Looking {
    /// The texts themselves.
    pub texts: RegexId,
    /// What may stand before them, from the beginning of the text or the last token letter on.
    pub behind: Option<RegexId>,
    /// What may follow them, up to the next token letter or the end of the text.
    pub follow: Option<RegexId>,
}

/// Tells apart the texts of `history` behind which a look-behind stands, `allowed` being what may stand before it, a language
/// of any bytes: those that are not empty and after which it holds whatever stands before them, and the empty text.
///
/// Errors: for some text it depends on what stands before it.
pub fn split_behind(history: RegexId, allowed: RegexId, set: &mut RegexSet) -> Result<SplitBehind, Undecided> {
    let split = look::split_behind(history, allowed, set, &mut undecided::Questions::new()).ok_or(Undecided)?;
    Ok(SplitBehind { decided: split.decided, may_be_empty: split.may_be_empty })
}

/// What [`split_behind`] tells apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SplitBehind {
    /// Texts after which the look-behind holds.
    pub decided: RegexId,
    /// Whether the text may be empty, so that the look-behind is one of what stands before all of it.
    pub may_be_empty: bool,
}

/// A look-behind that sees beyond a text of several bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undecided;

/// Tells apart the texts of `rest` that stand before what must be in `allowed`, a language of any bytes: those after which
/// everything may follow, and others, each with what may.
///
/// Errors: `allowed` is too large.
pub fn split_follow(rest: RegexId, allowed: RegexId, set: &mut RegexSet) -> Result<SplitFollow, TooLarge> {
    let automaton = follow::Automaton::new(set, allowed).map_err(|_| TooLarge)?;
    let mut split = SplitFollow { decided: set.nothing(), follows: Vec::new() };
    let mut questions = undecided::Questions::new();
    let mut work = follow::SPLITS_WORK_MAX;
    for (texts, left) in automaton.split(rest, allowed, set, &mut work).map_err(|_| TooLarge)? {
        match left {
            _ if questions.is_empty(set, texts) => {}
            None => split.decided = texts,
            Some(left) => split.follows.push((texts, left)),
        }
    }
    Ok(split)
}

/// What [`split_follow`] tells apart.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SplitFollow {
    /// Texts that everything may follow.
    pub decided: RegexId,
    /// Others, and what may follow them.
    pub follows: Vec<(RegexId, RegexId)>,
}

/// A look-ahead that needs too many states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// Reads a regex and adds its nodes to `set`. `map` says where the bytes of `text` stand in the source.
///
/// `warnings` receives the lints, also when there are errors.
/// Errors: all mistakes, of codes [`CODES`], at most `limits.diagnostics_max`; among them the limits `source_bytes_max`,
/// `grammar_depth_max`, `regex_nodes_max` and `repeat_max`. `set` may then hold nodes that nobody needs.
/// Cost: linear in the text, but for case folding of classes.
pub fn parse_regex(
    text: &str,
    map: &TextMap,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    warnings: &mut Vec<Diagnostic>,
) -> Result<RegexId, Vec<Diagnostic>> {
    read(text, map, options, limits, set, warnings, lower::lower)
}

/// The same for a lexeme: what is matched from where it begins, so that lazy quantifiers end it where what follows them
/// first matches (for [`parse_regex`] they are like greedy ones). If the regex ends with one, it matches as little as it
/// can, and [`LazyTail`] says how it goes on if something follows it in its terminal. Look-aheads may see beyond it.
///
/// Errors: those of [`parse_regex`], and quantifiers whose end is not clear. `options.search` must not be set.
pub fn parse_lexeme(
    text: &str,
    map: &TextMap,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    warnings: &mut Vec<Diagnostic>,
) -> Result<LexemeRegex, Vec<Diagnostic>> {
    debug_assert!(!options.search, "a lexeme begins where it begins");
    read(text, map, options, limits, set, warnings, lower::lower_lexeme)
}

/// A pass from the tree to its languages.
type Lowering<T> = fn(&ast::Tree, &RegexOptions, &Limits, &mut RegexSet, &mut error::Report) -> Option<T>;

fn read<T>(
    text: &str,
    map: &TextMap,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    warnings: &mut Vec<Diagnostic>,
    lowering: Lowering<T>,
) -> Result<T, Vec<Diagnostic>> {
    let mut report = error::Report::new(map, limits);
    set.look_work_max = Some(limits.look_work_max);
    let tree = parser::parse(text, options, limits, &mut report);
    let regex = lowering(&tree, options, limits, set, &mut report);
    let (mut errors, lints) = report.finish();
    warnings.extend(lints);
    match regex {
        Some(regex) if errors.is_empty() => Ok(regex),
        _ => {
            errors.sort_by_key(|error| error.labels.first().map_or((0, 0), |label| (label.span.start, label.span.end)));
            Err(errors)
        }
    }
}
