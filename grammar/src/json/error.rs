//! What can be wrong in a JSON text.

use crate::diagnostic::{CodeInfo, Diagnostic};
use crate::span::Span;

/// One mistake.
#[derive(Clone, Debug)]
pub(super) enum JsonError {
    ExpectedValue {
        found: String,
    },
    SingleQuotes,
    TypographicQuotes {
        inner: String,
    },
    UnknownWord {
        word: String,
    },
    BadNumber {
        reason: &'static str,
    },
    UnclosedString,
    /// With a quote in it that has no backslash.
    QuoteInside,
    LineBreak,
    ControlCharacter {
        code: u32,
    },
    UnknownEscape {
        escape: String,
    },
    BadUnicodeEscape,
    LoneSurrogate {
        code: u32,
    },
    ExpectedKey {
        found: String,
    },
    UnquotedKey {
        key: String,
    },
    ExpectedColon {
        found: String,
    },
    ExpectedComma {
        found: String,
        open: char,
        opened: Span,
    },
    TrailingComma,
    Unclosed {
        open: char,
        opened: Span,
    },
    WrongBracket {
        found: char,
        open: char,
        opened: Span,
    },
    Comment,
    TrailingText,
    TooDeep {
        limit: usize,
    },
    TooLong {
        limit: usize,
        used: usize,
    },
}

impl JsonError {
    pub(super) fn at(self, span: Span) -> Diagnostic {
        let close = |open: char| if open == '{' { '}' } else { ']' };
        let kind = |open: char| if open == '{' { "object" } else { "array" };
        match self {
            JsonError::ExpectedValue { found } => {
                Diagnostic::error("N001", span, format!("expected a JSON value, found {found}"))
            }
            JsonError::SingleQuotes => {
                Diagnostic::error("N002", span, "JSON strings stand in double quotes").help("write `\"` instead of `'`")
            }
            JsonError::TypographicQuotes { inner } => {
                Diagnostic::error("N002", span, "these are typographic quotes").help(format!("write `\"{inner}\"`"))
            }
            JsonError::UnknownWord { word } => {
                Diagnostic::error("N003", span, format!("`{word}` is not a JSON value")).help(word_help(&word))
            }
            JsonError::BadNumber { reason } => Diagnostic::error("N004", span, format!("malformed number: {reason}")),
            JsonError::UnclosedString => {
                Diagnostic::error("N005", span, "this string is never closed").help("add a `\"` at its end")
            }
            JsonError::QuoteInside => {
                Diagnostic::error("N021", span, "a quote inside a string needs a backslash").help("write `\\\"`")
            }
            JsonError::LineBreak => {
                Diagnostic::error("N006", span, "a line break inside a string").help("write `\\n`, all on one line")
            }
            JsonError::ControlCharacter { code } => {
                Diagnostic::error("N006", span, format!("control character U+{code:04X} inside a string"))
                    .help(format!("write `{}`", control_escape(code)))
            }
            JsonError::UnknownEscape { escape } => {
                Diagnostic::error("N007", span, format!("`{escape}` is not a JSON escape")).help(
                    "JSON has \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX; a backslash itself is written `\\\\`",
                )
            }
            JsonError::BadUnicodeEscape => {
                Diagnostic::error("N008", span, "`\\u` must be followed by four hexadecimal digits")
            }
            JsonError::LoneSurrogate { code } => Diagnostic::error(
                "N009",
                span,
                format!("`\\u{code:04x}` is half of a surrogate pair, and no character by itself"),
            )
            .help("write both halves, or the character itself"),
            JsonError::ExpectedKey { found } => {
                Diagnostic::error("N010", span, format!("expected a key in double quotes, found {found}"))
            }
            JsonError::UnquotedKey { key } => {
                Diagnostic::error("N011", span, format!("the key `{key}` needs double quotes"))
                    .help(format!("write `\"{key}\"`"))
            }
            JsonError::ExpectedColon { found } => {
                Diagnostic::error("N012", span, format!("expected `:` after the key, found {found}"))
            }
            JsonError::ExpectedComma { found, open, opened } => {
                Diagnostic::error("N013", span, format!("expected `,` or `{}`, found {found}", close(open)))
                    .also(opened, format!("the {} begins here", kind(open)))
                    .help("entries have a comma between them: write `,` before this one")
            }
            JsonError::TrailingComma => {
                Diagnostic::error("N014", span, "a comma must be followed by another entry").help("remove the comma")
            }
            JsonError::Unclosed { open, opened } => {
                Diagnostic::error("N015", opened, format!("this {} is never closed", kind(open)))
                    .also(span, format!("expected `{}` here", close(open)))
            }
            JsonError::WrongBracket { found, open, opened } => {
                Diagnostic::error("N016", span, format!("expected `{}`, found `{found}`", close(open)))
                    .also(opened, format!("the {} begins here", kind(open)))
            }
            JsonError::Comment => Diagnostic::error("N017", span, "JSON has no comments").help("remove it"),
            JsonError::TrailingText => Diagnostic::error("N018", span, "text after the end of the JSON value"),
            JsonError::TooDeep { limit } => Diagnostic::error(
                "N019",
                span,
                format!("JSON nested more than {limit} deep (limit `grammar_depth_max`)"),
            )
            .help("raise `grammar_depth_max`, or nest less"),
            JsonError::TooLong { limit, used } => Diagnostic::error(
                "N020",
                span,
                format!("the text has {used} bytes, more than {limit} (limit `source_bytes_max`)"),
            )
            .help("raise `source_bytes_max`, or shorten the text"),
        }
    }
}

/// A key that stands twice in one object.
pub(super) fn repeated_key(key: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::warning("N101", span, format!("the key `{key}` stands twice in this object; only this one counts"))
        .also(first, "first here")
        .help("remove one of them")
}

fn word_help(word: &str) -> String {
    match word {
        "True" | "TRUE" => "write `true`".into(),
        "False" | "FALSE" => "write `false`".into(),
        "None" | "nil" | "undefined" | "NULL" | "Null" => "write `null`".into(),
        "NaN" | "Infinity" | "inf" => "JSON numbers are finite".into(),
        _ => "JSON has `true`, `false` and `null`; text stands in double quotes".into(),
    }
}

fn control_escape(code: u32) -> String {
    match code {
        0x08 => "\\b".into(),
        0x09 => "\\t".into(),
        0x0A => "\\n".into(),
        0x0C => "\\f".into(),
        0x0D => "\\r".into(),
        _ => format!("\\u{code:04x}"),
    }
}

/// Everything that [`parse_json`](super::parse_json) reports.
pub const CODES: &[CodeInfo] = &[
    CodeInfo::new(
        "N001",
        "value expected",
        "Something that begins no JSON value stands where one must.",
        "{\"a\": }",
        "{\"a\": 1}",
    ),
    CodeInfo::new("N002", "other quotes", "JSON strings stand in double quotes only.", "{'a': 1}", "{\"a\": 1}"),
    CodeInfo::new(
        "N003",
        "unknown word",
        "The words of JSON are true, false and null, in lower case.",
        "{\"a\": True}",
        "{\"a\": true}",
    ),
    CodeInfo::new(
        "N004",
        "malformed number",
        "A number is an optional minus, digits without leading zeros, and optionally a fraction and an exponent.",
        "[.5, 01, 1.]",
        "[0.5, 1, 1.0]",
    ),
    CodeInfo::new("N005", "string not closed", "A string ends with a double quote.", "{\"a: 1}", "{\"a\": 1}"),
    CodeInfo::new(
        "N006",
        "control character in a string",
        "Characters below U+0020, line breaks among them, are written as escapes inside strings.",
        "[\"a\tb\"]",
        "[\"a\\tb\"]",
    ),
    CodeInfo::new(
        "N007",
        "unknown escape",
        "JSON has few escapes; a regex inside a JSON string needs its backslashes doubled.",
        "{\"pattern\": \"\\d+\"}",
        "{\"pattern\": \"\\\\d+\"}",
    ),
    CodeInfo::new(
        "N008",
        "malformed \\u escape",
        "\\u is followed by exactly four hexadecimal digits.",
        "[\"\\u41\"]",
        "[\"\\u0041\"]",
    ),
    CodeInfo::new(
        "N009",
        "half of a surrogate pair",
        "A character above U+FFFF is written as two \\u escapes; one of them alone is no character.",
        "[\"\\ud83d\"]",
        "[\"\\ud83d\\ude00\"]",
    ),
    CodeInfo::new("N010", "key expected", "The keys of an object are strings.", "{1: 2}", "{\"1\": 2}"),
    CodeInfo::new(
        "N011",
        "key without quotes",
        "The keys of an object stand in double quotes.",
        "{a: 1}",
        "{\"a\": 1}",
    ),
    CodeInfo::new("N012", "colon expected", "A colon stands between a key and its value.", "{\"a\" 1}", "{\"a\": 1}"),
    CodeInfo::new("N013", "comma expected", "Entries are separated by commas.", "[1 2]", "[1, 2]"),
    CodeInfo::new("N014", "comma at the end", "A comma stands only between entries.", "[1, 2,]", "[1, 2]"),
    CodeInfo::new("N015", "bracket not closed", "Every `{` and `[` is closed.", "{\"a\": [1}", "{\"a\": [1]}"),
    CodeInfo::new("N016", "wrong bracket", "`{` is closed by `}`, `[` by `]`.", "[1}", "[1]"),
    CodeInfo::new("N017", "comment", "JSON has no comments.", "{\"a\": 1 /* one */}", "{\"a\": 1}"),
    CodeInfo::new("N018", "text after the value", "A JSON text is one value.", "{} {}", "[{}, {}]"),
    CodeInfo::new("N019", "nested too deeply", "Nesting has the limit `grammar_depth_max`.", "[[[…]]]", "[]"),
    CodeInfo::new("N020", "too long", "A source has at most `source_bytes_max` bytes.", "…", "{}"),
    CodeInfo::new(
        "N021",
        "quote in a string",
        "A string ends at the next quote without a backslash.",
        "[\"say \"hi\" now\"]",
        "[\"say \\\"hi\\\" now\"]",
    ),
    CodeInfo::new("N099", "more problems", "There are more problems than `diagnostics_max`.", "[1 2 3]", "[1, 2, 3]"),
    CodeInfo::new(
        "N101",
        "repeated key",
        "Of equal keys in one object only the last counts; the others are most likely mistakes.",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": 2}",
    ),
];
