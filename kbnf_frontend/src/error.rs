//! Everything that can be wrong with a KBNF text: one [`Mistake`] each, and the [`Sink`] that collects them.

use larkspur_grammar::diagnostic::{Describe, Near, NoStart, TooMuch, shown_character};
use larkspur_grammar::{Diagnostic, Span};

use crate::codes::CODES;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Mistake {
    UnexpectedCharacter {
        found: char,
        is_comment: bool,
    },
    /// `“…”`, with what stands between.
    TypographicQuotes {
        inner: String,
    },
    NameHyphen {
        name: String,
    },
    NameNotAscii {
        name: String,
    },
    UnclosedString {
        quote: char,
    },
    /// `'a\'`.
    EscapedEnd {
        quote: char,
    },
    UnclosedComment,
    UnclosedBracket {
        opened: Span,
        close: char,
    },
    BracketOther {
        found: char,
        close: char,
        opened: Span,
    },
    BracketNotOpen,
    DefinitionSign {
        found: String,
    },
    NameExpected {
        found: String,
    },
    NameDigit {
        name: String,
    },
    SemicolonMissing {
        next: Option<String>,
    },
    EscapeBad {
        escape: String,
        reason: &'static str,
        is_regex: bool,
    },
    Empty {
        what: &'static str,
    },
    RepeatNothing,
    /// With the counts as a regex has them, if they are known.
    Counts {
        meant: Option<String>,
    },
    CommaAlone,
    /// With what follows the `#`, if it is like a regex.
    PatternWithoutText {
        is_comment: bool,
        text: Option<String>,
    },
    /// `[a-z]+`.
    Class {
        class: String,
    },
    PatternKindUnknown {
        prefix: String,
        near: Option<String>,
    },
    SpecialUnknown {
        name: String,
        near: Option<String>,
    },
    ExceptForm {
        reason: &'static str,
    },
    ExceptNothingLeft {
        reason: &'static str,
    },
    ExceptNotStrings {
        name: String,
        part: Span,
    },
    NameUndefined {
        name: String,
        near: Option<Near>,
    },
    StartMissing(NoStart),
    OnlyEmpty {
        name: String,
    },
    TooMuch(TooMuch),
}

/// The diagnostics of one run.
pub(crate) type Sink = larkspur_grammar::diagnostic::Sink<Mistake>;

impl Describe for Mistake {
    const MORE: &'static str = "K099";

    fn diagnostic(self, span: Span) -> Diagnostic {
        let code = self.code();
        debug_assert!(CODES.iter().any(|info| info.code == code), "{code} is in the table of codes");
        let say = |message: String| Diagnostic::error(code, span, message);
        let error = |message: &str| say(message.to_owned());
        match self {
            Mistake::UnexpectedCharacter { is_comment: true, .. } => {
                error("KBNF's comments are of another kind").help("write `(* … *)`")
            }
            Mistake::UnexpectedCharacter { found: '/', .. } => {
                error("KBNF's regexes are strings").help("write `#\"…\"`; a backslash in it is doubled")
            }
            Mistake::UnexpectedCharacter { found, .. } => {
                let diagnostic = say(format!("the character `{}` has no meaning here", shown_character(found)));
                match found {
                    '-' | '^' | '.' => diagnostic.help("classes of characters are regexes: `#\"[a-z]\"`"),
                    _ => diagnostic,
                }
            }
            Mistake::TypographicQuotes { inner } => {
                error("these are typographic quotes").help(format!("write `\"{inner}\"`"))
            }
            Mistake::NameHyphen { name } => say(format!("`{name}` is no name: names have no `-`"))
                .help(format!("write `{}`, here and elsewhere", name.replace('-', "_"))),
            Mistake::NameNotAscii { name } => {
                say(format!("`{name}` is no name: names are of ASCII letters, digits and `_`"))
                    .help("rename it, here and elsewhere")
            }
            Mistake::UnclosedString { quote } => {
                error("this string is not closed").help(format!("close it with `{quote}`; in it write `\\{quote}`"))
            }
            Mistake::EscapedEnd { quote } => error("this quote does not end the string: a backslash stands before it")
                .help(format!("`\\{quote}` is a quote in the string; a backslash is `{quote}\\\\{quote}`")),
            Mistake::UnclosedComment => error("this comment is not closed").help("close it with `*)`"),
            Mistake::UnclosedBracket { opened, close } => error("a bracket is not closed here")
                .also(opened, "opened here")
                .help(format!("close it with `{close}`")),
            Mistake::BracketOther { found, close, opened } => {
                say(format!("`{found}` does not close this bracket, `{close}` does")).also(opened, "opened here")
            }
            Mistake::BracketNotOpen => error("there is no bracket to close"),
            Mistake::DefinitionSign { found } => {
                say(format!("expected `::=` behind the nonterminal's name, found {found}")).help("write `name ::= …;`")
            }
            Mistake::NameExpected { found } => {
                say(format!("expected a nonterminal's name, found {found}")).help("a definition is `name ::= …;`")
            }
            Mistake::NameDigit { name } => say(format!("`{name}` is no name: it begins with a digit"))
                .help("names are of ASCII letters, digits and `_`, and do not begin with a digit"),
            Mistake::SemicolonMissing { next: Some(next) } => {
                say(format!("this definition has no `;` before that of `{next}`")).help("end it with `;`")
            }
            Mistake::SemicolonMissing { next: None } => error("the last definition has no `;`").help("end it with `;`"),
            Mistake::EscapeBad { escape, reason, is_regex } => {
                let diagnostic = say(format!("`{escape}` is no escape: {reason}"));
                match is_regex && escape.len() == 2 {
                    true => diagnostic.help(format!("a backslash that is the regex's own is doubled: `\\{escape}`")),
                    false => diagnostic.help(
                        "the escapes are `\\b`, `\\f`, `\\n`, `\\r`, `\\t`, `\\v`, `\\OOO` (octal), `\\\\`, `\\/`, `\\'`, `\\\"`, `\\xHH`, \
                         `\\uHHHH` and `\\u{H…}`",
                    ),
                }
            }
            Mistake::Empty { what } => say(format!("{what} is empty"))
                .help("the empty text is `''`; what may be left out stands in `[ ]` or before `?`"),
            Mistake::RepeatNothing => error("there is nothing before it that could be repeated"),
            Mistake::Counts { meant } => error("KBNF has no counts outside of regexes")
                .help(format!("write `#\"(…){}\"`, or the parts one by one", meant.as_deref().unwrap_or("{2,5}"))),
            Mistake::CommaAlone => error("a comma stands between two parts"),
            Mistake::PatternWithoutText { text: Some(text), .. } => {
                error("no string follows the `#`").help(format!("a regex stands in quotes: `#\"{text}\"`"))
            }
            Mistake::PatternWithoutText { is_comment: true, .. } => {
                error("no string follows the `#`").help("a regex is `#\"…\"`, a comment `(* … *)`")
            }
            Mistake::PatternWithoutText { is_comment: false, .. } => error("no string follows here")
                .help("write `#\"…\"`, `#e\"…\"`, `#ex\"…\"` or `#substrs\"…\"`, without blanks"),
            Mistake::Class { class } => error("a class of characters stands in a regex")
                .help(format!("write `#\"{}\"`", class.replace('\\', "\\\\"))),
            Mistake::PatternKindUnknown { prefix, near } => meant(
                say(format!("`{prefix}` is no kind of regex")),
                near,
                "the kinds are `#`, `#e`, `#ex` and `#substrs`",
            ),
            Mistake::SpecialUnknown { name, near } => {
                meant(say(format!("there is no `{name}`")), near, "there are `any!` and `except!(…)`")
            }
            Mistake::ExceptForm { reason } => {
                say(reason.to_owned()).help("write `except!('text')`, `except!(name)` or `except!('text', 50)`")
            }
            Mistake::ExceptNothingLeft { reason } => say(format!("this `except!` matches nothing: {reason}")),
            Mistake::ExceptNotStrings { name, part } => {
                say(format!("`except!` takes `{name}` only if that is one string or another"))
                    .also(part, "this is no string")
                    .help("write the strings with `|` between them, or use `#ex\"…\"`, which takes a regex")
            }
            Mistake::NameUndefined { name, near } => {
                say(format!("there is no nonterminal `{name}`")).did_you_mean(near)
            }
            Mistake::StartMissing(no_start) => no_start.diagnostic(code, span, "nonterminal"),
            Mistake::OnlyEmpty { name } => {
                say(format!("`{name}` matches only the empty text, so that nothing is generated"))
            }
            Mistake::TooMuch(too_much) => too_much.diagnostic(code, span),
        }
    }
}

impl From<NoStart> for Mistake {
    fn from(no_start: NoStart) -> Self {
        Mistake::StartMissing(no_start)
    }
}

impl From<TooMuch> for Mistake {
    fn from(too_much: TooMuch) -> Self {
        Mistake::TooMuch(too_much)
    }
}

impl Mistake {
    /// The mistake's code; [`CODES`] explains each.
    fn code(&self) -> &'static str {
        match self {
            Mistake::UnexpectedCharacter { .. } | Mistake::TypographicQuotes { .. } => "K001",
            Mistake::UnclosedString { .. } | Mistake::EscapedEnd { .. } => "K002",
            Mistake::UnclosedComment => "K003",
            Mistake::UnclosedBracket { .. } | Mistake::BracketOther { .. } | Mistake::BracketNotOpen => "K004",
            Mistake::DefinitionSign { .. }
            | Mistake::NameExpected { .. }
            | Mistake::NameDigit { .. }
            | Mistake::NameHyphen { .. }
            | Mistake::NameNotAscii { .. } => "K005",
            Mistake::SemicolonMissing { .. } => "K006",
            Mistake::EscapeBad { .. } => "K007",
            Mistake::Empty { .. } => "K008",
            Mistake::RepeatNothing => "K009",
            Mistake::Counts { .. } => "K010",
            Mistake::CommaAlone => "K011",
            Mistake::PatternWithoutText { .. } | Mistake::PatternKindUnknown { .. } | Mistake::Class { .. } => "K012",
            Mistake::SpecialUnknown { .. } => "K013",
            Mistake::ExceptForm { .. } => "K014",
            Mistake::ExceptNothingLeft { .. } => "K015",
            Mistake::ExceptNotStrings { .. } => "K016",
            Mistake::NameUndefined { .. } => "K020",
            Mistake::StartMissing(_) => "K021",
            Mistake::OnlyEmpty { .. } => "K022",
            Mistake::TooMuch(TooMuch::SourceBytes { .. }) => "K090",
            Mistake::TooMuch(TooMuch::Depth { .. }) => "K091",
            Mistake::TooMuch(TooMuch::Count { .. }) => "K092",
            Mistake::TooMuch(TooMuch::Symbols { .. }) => "K093",
            Mistake::TooMuch(TooMuch::RegexNodes { .. }) => "K094",
        }
    }
}

fn meant(diagnostic: Diagnostic, near: Option<String>, otherwise: &str) -> Diagnostic {
    diagnostic.help(near.map_or_else(|| otherwise.to_owned(), |near| format!("did you mean `{near}`?")))
}
