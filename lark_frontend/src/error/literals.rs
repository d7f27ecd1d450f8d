//! What is wrong within strings, ranges, regexes and tokens.

use larkspur_grammar::{Diagnostic, Span};

use super::between_slashes;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum LiteralMistake {
    EscapeBad {
        escape: String,
        reason: &'static str,
    },
    /// With what is written between the quotes.
    EscapeKept {
        escape: String,
        inner: String,
    },
    RangeBound,
    RangeOrder {
        low: char,
        high: char,
    },
    RangeFlag,
    RegexFlag,
    TokenList {
        reason: String,
    },
    RegexJson {
        reason: String,
    },
}

impl LiteralMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        let warn = |code, message: String| Diagnostic::warning(code, span, message);
        match self {
            LiteralMistake::EscapeBad { escape, reason } => {
                say("L060", format!("`{escape}` is not an escape: {reason}"))
            }
            LiteralMistake::EscapeKept { escape, inner } => {
                let bare = escape.chars().nth(1).unwrap_or('\\');
                let help = match bare {
                    'd' | 'w' | 's' | 'D' | 'W' | 'S' | 'B' => {
                        format!(
                            "{}; or write `\\\\{bare}` if this is meant",
                            between_slashes(&inner.replace('/', "\\/"))
                        )
                    }
                    'b' if inner.len() > 2 && inner.contains(['[', '+', '*'])
                        || inner.len() > 2 && inner.ends_with("\\b") =>
                    {
                        between_slashes(&inner.replace('/', "\\/"))
                    }
                    'b' => "write `\\x08` for a backspace, or `\\\\b` if this is meant".to_string(),
                    'v' => "write `\\x0b` for a vertical tab, or `\\\\v` if this is meant".to_string(),
                    '0' => "write `\\x00` for the character 0, or `\\\\0` if this is meant".to_string(),
                    _ => format!("write `{bare}`, or `\\\\{bare}` if this is meant"),
                };
                warn("L061", format!("`{escape}` stands for a backslash and `{bare}`, as in Lark")).help(help)
            }
            LiteralMistake::RangeBound => error("L062", "each side of a range is one character"),
            LiteralMistake::RangeOrder { low, high } => {
                say("L063", format!("the range from `{low}` to `{high}` is the wrong way round"))
            }
            LiteralMistake::RangeFlag => {
                error("L064", "a range takes no flags").help("write both ranges: `\"a\"..\"z\" | \"A\"..\"Z\"`")
            }
            LiteralMistake::RegexFlag => {
                error("L065", "flag `l` depends on the machine's language and is not supported")
            }
            LiteralMistake::TokenList { reason } => {
                say("L066", reason).help("write `<[1]>`, `<[1-9,12]>`, `<[^1-9]>`, `<[^<name>]>` or `<[*]>`")
            }
            LiteralMistake::RegexJson { reason } => {
                let is_form = ["there is no field `substring", "`type` is", "`%regex` takes"]
                    .iter()
                    .any(|start| reason.starts_with(start));
                let diagnostic = say("L067", reason);
                match is_form {
                    true => diagnostic.help("write `%regex {\"substring_words\": \"one two\"}` or `%regex {\"type\": \"integer\", \"minimum\": 1}`"),
                    false => diagnostic,
                }
            }
        }
    }
}
