//! Mistakes that are the same in several grammar languages, and are spoken of in the same words.

use crate::diagnostic::{Diagnostic, Near, Severity, names_there_are};
use crate::ir::Grammar;
use crate::limits::Limits;
use crate::span::Span;

/// What to start with is not defined.
#[derive(Clone, PartialEq, Debug)]
pub struct NoStart {
    name: String,
    near: Option<Near>,
    /// Who named it, and what there is in its place.
    others: Others,
}

#[derive(Clone, PartialEq, Debug)]
enum Others {
    /// The language; the first definition could be renamed.
    First(Option<(String, Span)>),
    /// The caller; the names there are.
    All(Option<String>),
}

impl NoStart {
    /// `asked` is the name that the caller gave, `own` that of the language, and `defined` what could be started with, in
    /// the order of the text.
    pub fn new<'a>(
        asked: Option<&str>,
        own: &str,
        near: Option<Near>,
        defined: impl IntoIterator<Item = (&'a str, Span)>,
    ) -> Self {
        let mut defined = defined.into_iter();
        let others = match asked {
            Some(_) => Others::All(names_there_are(defined.map(|(name, _)| name))),
            None => Others::First(defined.next().map(|(name, span)| (name.to_owned(), span))),
        };
        Self { name: asked.unwrap_or(own).to_owned(), near, others }
    }

    /// The sentence, without a place if the caller named what is missing; `what` is what the language calls a definition,
    /// `whole` the place of the text.
    pub fn diagnostic(self, code: &'static str, whole: Span, what: &str) -> Diagnostic {
        let Self { name, near, others } = self;
        let at = |place| {
            let message = format!("there is no {what} `{name}` to start with");
            Diagnostic::new(code, Severity::Error, place, message)
        };
        match (near, others) {
            // What the caller names stands nowhere in the text.
            (_, Others::All(_)) if name.is_empty() => {
                at(None).help(format!("the option `start` is the empty text: name a {what}, or leave it out"))
            }
            (Some(near), Others::All(_)) => {
                at(None).help(format!("the option `start` names it; did you mean `{}`?", near.name))
            }
            (None, Others::All(Some(names))) => {
                at(None).help(format!("the option `start` names it; there are {names}"))
            }
            (None, Others::All(None)) => at(None).help("the option `start` names it"),
            (None, Others::First(Some((first, place)))) => {
                at(Some(place)).help(format!("rename the first {what}, `{first}`, to `{name}`"))
            }
            (Some(Near { name: near, defined: Some(place) }), Others::First(_)) => {
                at(Some(place)).help(format!("rename `{near}` to `{name}`"))
            }
            (near, Others::First(_)) => at(Some(whole)).did_you_mean(near),
        }
    }
}

/// There is more of something than a limit allows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TooMuch {
    /// [`Limits::source_bytes_max`].
    SourceBytes {
        /// Bytes.
        limit: usize,
        /// Bytes.
        used: usize,
    },
    /// [`Limits::grammar_depth_max`].
    Depth {
        /// So many within each other.
        limit: usize,
        /// What is nested, in the plural.
        what: &'static str,
    },
    /// [`Limits::repeat_max`].
    Count {
        /// The largest count.
        limit: u32,
        /// What is counted, in the singular.
        what: &'static str,
    },
    /// [`Limits::written_symbols_max`], or [`Limits::grammar_symbols_max`] if that is less.
    Symbols {
        /// Symbols.
        limit: usize,
        /// The limit's name.
        name: &'static str,
    },
    /// [`Limits::regex_nodes_max`].
    RegexNodes {
        /// Nodes.
        limit: usize,
    },
}

impl TooMuch {
    /// If a text of so many bytes is over its limit, or over what a [`Span`] can tell.
    pub fn source_bytes(used: usize, limits: &Limits) -> Option<Self> {
        let limit = limits.source_bytes_max.min(u32::MAX as usize);
        (used > limit).then_some(Self::SourceBytes { limit, used })
    }

    /// If a text of so many symbols is over its limit.
    pub fn symbols(used: usize, limits: &Limits) -> Option<Self> {
        let written = (limits.written_symbols_max, "written_symbols_max");
        let (limit, name) = written.min((limits.grammar_symbols_max, "grammar_symbols_max"));
        (used > limit).then_some(Self::Symbols { limit, name })
    }

    /// If a grammar that is being made is over a limit already.
    pub fn of_grammar(grammar: &Grammar, limits: &Limits) -> Option<Self> {
        let nodes = limits.regex_nodes_max;
        let is_over = grammar.regexes.len() > nodes;
        Self::symbols(grammar.exprs.len(), limits).or(is_over.then_some(Self::RegexNodes { limit: nodes }))
    }

    /// The limit's name.
    pub fn limit_name(self) -> &'static str {
        match self {
            Self::SourceBytes { .. } => "source_bytes_max",
            Self::Depth { .. } => "grammar_depth_max",
            Self::Count { .. } => "repeat_max",
            Self::Symbols { name, .. } => name,
            Self::RegexNodes { .. } => "regex_nodes_max",
        }
    }

    /// The sentence.
    pub fn diagnostic(self, code: &'static str, span: Span) -> Diagnostic {
        let message = match self {
            Self::SourceBytes { limit, used } => {
                format!("the grammar has {}, the limit is {limit}", plural(used, "byte"))
            }
            Self::Depth { limit, what } => format!("more than {limit} {what} within each other"),
            Self::Count { limit, what } => format!("more than {}", plural(limit as usize, what)),
            Self::Symbols { limit, .. } => format!("the grammar has more than {}", plural(limit, "symbol")),
            Self::RegexNodes { limit } => format!("the terminals have more than {}", plural(limit, "node")),
        };
        Diagnostic::error(code, span, message).help(format!("the limit is `{}`", self.limit_name()))
    }
}

/// `1 node`, `2 nodes`.
pub fn plural(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

/// A character as it is shown in a message: with an escape only if it could not be seen.
pub fn shown_character(c: char) -> String {
    if matches!(c, '"' | '\'' | '\\') { c.to_string() } else { c.escape_debug().to_string() }
}

/// The only characters of the string that ends a text and of the one that begins another, without blanks between them.
pub fn one_character_each<'a>(before: &'a str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let one = |text: &&str| text.chars().count() == 1 && *text != "\\";
    let low = before.trim_end_matches([' ', '\t']).strip_suffix('"').and_then(|low| low.rsplit_once('"'));
    let high = after.trim_start_matches([' ', '\t']).strip_prefix('"').and_then(|high| high.split_once('"'));
    let (low, high) = (low.map(|(_, low)| low).filter(one)?, high.map(|(high, _)| high).filter(one)?);
    Some((low, high))
}

/// Where in a line a backslash stands before what was likely meant as the end of a string or class: at the line's end, or
/// before what may stand `behind` one.
pub fn escaped_end(line: &str, end: char, behind: &str) -> Option<usize> {
    let mut chars = line.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\'
            && let Some((_, next)) = chars.next()
            && next == end
            && chars.peek().is_none_or(|&(_, next)| behind.contains(next))
        {
            return Some(at);
        }
    }
    None
}
