//! What is wrong with characters, comments and the names of things.

use larkspur_grammar::diagnostic::{Near, shown_character};
use larkspur_grammar::{Diagnostic, Span};

use super::between_slashes;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum LexerMistake {
    UnexpectedCharacter {
        found: char,
    },
    UnclosedString,
    UnclosedRegex,
    UnclosedToken,
    /// `\"` before what was meant as a string's end.
    EscapedQuote,
    /// `\/` before what was meant as a regex's end.
    EscapedSlash,
    SlashInRegex,
    SlashesTouch {
        comment: bool,
    },
    /// `%ignore` alone.
    IgnoreMissing,
    /// `C: //.*/`: the definition is a comment.
    OnlyComment {
        what: String,
        comment: String,
    },
    TripleQuotes,
    NameNotAscii {
        found: char,
    },
    NameOfMixedCase {
        name: String,
        class: Option<String>,
    },
    FlagsRunIntoName {
        word: String,
    },
    UnknownDirective {
        word: String,
        near: Option<Near>,
    },
    InnerUnclosed {
        language: &'static str,
        inside: Option<Span>,
    },
    JsonMissing,
}

impl LexerMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        let warn = |code, message: String| Diagnostic::warning(code, span, message);
        match self {
            LexerMistake::UnexpectedCharacter { found: '\'' } => {
                error("L001", "strings are written with double quotes").at("not a quote in Lark").help("write `\"…\"`")
            }
            LexerMistake::UnexpectedCharacter { found } => {
                say("L001", format!("the character `{}` has no meaning here", shown_character(found)))
            }
            LexerMistake::UnclosedString => error("L002", "this string is not closed on its line")
                .at("opened here")
                .help("close it with `\"`; a line break in a string is written `\\n`"),
            LexerMistake::UnclosedRegex => error("L003", "this regex is not closed on its line")
                .at("opened here")
                .help("close it with `/`; only a regex with flag `x` may go over several lines"),
            LexerMistake::EscapedQuote => {
                error("L002", "this quote does not end the string: a backslash stands before it")
                    .help("`\\\"` is a quote in the string; a backslash is `\"\\\\\"`")
            }
            LexerMistake::EscapedSlash => {
                error("L003", "this slash does not end the regex: a backslash stands before it")
                    .help("`\\/` is a slash in the regex; a backslash is `/\\\\/`")
            }
            LexerMistake::SlashInRegex => {
                error("L019", "a `/` ends the regex, also inside a class").at("ends it here").help("write `\\/`")
            }
            LexerMistake::SlashesTouch { comment: true } => {
                warn("L019", "this `/` ends the regex, and what follows is a comment".into())
                    .help("in a regex write `\\/` for a slash; before a comment write a blank")
            }
            LexerMistake::SlashesTouch { comment: false } => {
                warn("L019", "this `/` ends the regex, and the next one begins another".into())
                    .help("in a regex write `\\/` for a slash; between two regexes write a blank")
            }
            LexerMistake::IgnoreMissing => {
                error("L010", "nothing stands behind `%ignore`").help("name what to ignore: `%ignore /[ \\t\\n]+/`")
            }
            LexerMistake::OnlyComment { what, comment } => {
                let inner = comment.trim_start_matches('/').trim_end_matches(|c| "imslux".contains(c));
                let inner = inner.trim_end_matches('/');
                say("L010", format!("{what} is empty: `//` begins a comment"))
                    .help(format!("in a regex write `\\/` for a slash: `/\\/\\/{}/`", inner.replace('/', "\\/")))
            }
            LexerMistake::UnclosedToken => error("L004", "this special token is not closed")
                .at("opened here")
                .help("write `<name>` without blanks, or `<[ids]>`; the string is `\"<\"`"),
            LexerMistake::TripleQuotes => {
                error("L005", "Lark has no strings with three quotes").help("write `\"…\"`, with `\\n` for line breaks")
            }
            LexerMistake::NameNotAscii { found } => {
                say("L006", format!("names are of ASCII letters, digits, `_` and `-`; `{found}` is none"))
            }
            LexerMistake::NameOfMixedCase { name, class } => {
                let diagnostic = say("L006", format!("the name `{name}` is neither a rule's nor a terminal's"))
                    .at("rules are written in lower case, terminals in upper case, beginning with a letter");
                if let Some(class) = class {
                    return diagnostic.help(between_slashes(&class));
                }
                match (name.to_ascii_lowercase(), name.to_ascii_uppercase()) {
                    (lower, upper) if lower == upper => diagnostic,
                    (lower, upper) => diagnostic.help(format!("write `{lower}` for a rule, `{upper}` for a terminal")),
                }
            }
            LexerMistake::FlagsRunIntoName { word } => {
                let diagnostic = say("L007", format!("`{word}` is not a flag, and not apart from the literal"));
                diagnostic.help(match word.as_str() {
                    "a" => "for the ASCII meaning of `\\w`, `\\d` and the like write `(?a:…)` within the regex",
                    _ => "put a blank before a name; flags are `i` for strings and `imsux` for regexes",
                })
            }
            LexerMistake::UnknownDirective { word, near } => {
                say("L008", format!("there is no directive `{word}`")).did_you_mean(near)
            }
            LexerMistake::InnerUnclosed { language, inside } => {
                let diagnostic = say("L012", format!("the `{{` of this `%{language}` is not closed"));
                match inside {
                    Some(inside) => diagnostic.also(inside, "what begins here goes on to the end of the text"),
                    None => diagnostic.help("a brace in a comment does not count: put `}` on a line of its own"),
                }
            }
            LexerMistake::JsonMissing => error("L009", "a JSON value is expected here").help("write `{ … }`"),
        }
    }
}
