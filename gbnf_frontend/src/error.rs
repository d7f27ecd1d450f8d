//! Everything that can be wrong with a GBNF text: one [`Mistake`] each, and the [`Sink`] that collects them.

use larkspur_grammar::diagnostic::{Describe, Near, NoStart, TooMuch, shown_character};
use larkspur_grammar::{Diagnostic, Span};

use crate::codes::CODES;

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Mistake {
    UnexpectedCharacter {
        found: char,
    },
    /// `“…”`, with what stands between.
    TypographicQuotes {
        inner: String,
    },
    /// `//` or `/*`.
    CommentSign,
    /// `(?:`.
    GroupMark,
    /// `\d` outside of a class.
    RegexEscape {
        class: char,
    },
    /// `[[:alpha:]]`.
    PosixClass {
        name: String,
        negated: bool,
    },
    /// `%json`.
    Directive {
        word: String,
    },
    /// `<root> ::= …`.
    AngleName {
        name: String,
    },
    /// `{"a"}`, with what stands between.
    Braces {
        inner: String,
    },
    /// What xgrammar has in its grammars: `TagDispatch(…)`, `(=…)`.
    TagDispatch,
    LookAhead,
    /// `-> name`.
    Alias,
    /// `/` between alternatives.
    ChoiceSlash,
    /// `"a".."z"`.
    RangeDots {
        low: String,
        high: String,
    },
    /// `"a"-"z"`.
    RangeDash {
        low: String,
        high: String,
    },
    /// `"a"i`, with the same in GBNF, if it is short.
    Flag {
        flag: String,
        meant: Option<String>,
    },
    UnclosedString,
    UnclosedClass,
    /// `"a\"`, `[a-z\]`.
    EscapedEnd {
        end: char,
    },
    UnclosedToken,
    UnclosedGroup {
        opened: Span,
    },
    GroupNotOpen,
    DefinitionSign {
        found: String,
    },
    NameExpected {
        found: String,
    },
    NameNotAscii {
        name: String,
    },
    DefinitionOnLine {
        name: String,
    },
    RuleEmpty {
        name: String,
    },
    EscapeBad {
        escape: String,
        reason: &'static str,
    },
    RangeOrder {
        low: char,
        high: char,
    },
    ClassEmpty,
    RepeatNothing,
    RepeatCounts {
        reason: &'static str,
        meant: Option<String>,
    },
    RepeatOrder {
        min: u32,
        max: u32,
    },
    TokenBad {
        reason: &'static str,
    },
    DefinedTwice {
        name: String,
        first: Span,
    },
    RuleUndefined {
        name: String,
        near: Option<Near>,
    },
    StartMissing(NoStart),
    TooMuch(TooMuch),
}

/// The diagnostics of one run.
pub(crate) type Sink = larkspur_grammar::diagnostic::Sink<Mistake>;

/// What a regex's `\d` and the like are in GBNF.
fn class_help(class: char) -> Option<&'static str> {
    Some(match class {
        'd' => "digits are `[0-9]`",
        'w' => "letters, digits and `_` are `[a-zA-Z0-9_]`",
        's' => "white space is `[ \\t\\r\\n]`",
        'D' => "what is no digit is `[^0-9]`",
        'W' => "what is no letter, digit or `_` is `[^a-zA-Z0-9_]`",
        'S' => "what is no white space is `[^ \\t\\r\\n]`",
        _ => return None,
    })
}

/// The characters of a class of POSIX in GBNF.
fn posix_class(name: &str) -> Option<&'static str> {
    Some(match name {
        "alpha" => "a-zA-Z",
        "digit" => "0-9",
        "alnum" => "a-zA-Z0-9",
        "upper" => "A-Z",
        "lower" => "a-z",
        "space" => " \\t\\r\\n",
        "blank" => " \\t",
        "xdigit" => "0-9a-fA-F",
        "punct" => "!-/:-@\\[-`{-~",
        _ => return None,
    })
}

impl Describe for Mistake {
    const MORE: &'static str = "E099";

    fn diagnostic(self, span: Span) -> Diagnostic {
        let code = self.code();
        debug_assert!(CODES.iter().any(|info| info.code == code), "{code} is in the table of codes");
        let say = |message: String| Diagnostic::error(code, span, message);
        let error = |message: &str| say(message.to_owned());
        match self {
            Mistake::UnexpectedCharacter { found: '\'' } => {
                error("strings are written with double quotes").help("write `\"…\"`")
            }
            Mistake::UnexpectedCharacter { found: '/' } => {
                error("GBNF has no regexes").help("write classes and repetitions: `[a-z]+`")
            }
            Mistake::UnexpectedCharacter { found: ';' } => {
                error("rules end with their line, not with `;`").help("drop the `;`, here and elsewhere")
            }
            Mistake::UnexpectedCharacter { found: ',' } => error("parts of a sequence have no `,` between them")
                .help("parts stand side by side: `\"a\" \"b\"`; alternatives have a `|`"),
            Mistake::UnexpectedCharacter { found } => {
                say(format!("the character `{}` has no meaning here", shown_character(found)))
            }
            Mistake::AngleName { name } => {
                say(format!("`<{name}>` is a token, and not a rule's name")).help(format!("write `{name} ::= …`, and `{name}` where it is used"))
            }
            Mistake::Braces { inner } => error("braces hold counts, and stand behind what is repeated")
                .help(format!("repetition is `({inner})*`")),
            Mistake::Alias => error("GBNF has no names for alternatives").help("drop the `-> …`; `->` is Lark's"),
            Mistake::TagDispatch => error("GBNF has no `TagDispatch`")
                .help("free text with tags in it is a source of its own, structural tags: see docs/structural-tags.md"),
            Mistake::LookAhead => error("GBNF has no look-ahead `(=…)`")
                .help("what free text with tags needs it for is in structural tags: see docs/structural-tags.md"),
            Mistake::TypographicQuotes { inner } => {
                error("these are typographic quotes").help(format!("write `\"{inner}\"`"))
            }
            Mistake::CommentSign => error("this begins no comment").help("a comment begins with `#` and ends with its line"),
            Mistake::GroupMark => error("`(?:` begins a group in regexes only").help("a group is `(…)`: drop the `?:`"),
            Mistake::RegexEscape { class } => say(format!("`\\{class}` stands in regexes, and GBNF has none"))
                .help(class_help(class).unwrap_or("write classes and repetitions: `[a-z]+`")),
            Mistake::PosixClass { name, negated } => say(format!("GBNF has no named classes such as `[:{name}:]`")).help(
                match posix_class(&name) {
                    Some(class) if negated => format!("write `[^{class}]`"),
                    Some(class) => format!("write `[{class}]`"),
                    None => "write its characters: `[a-z]`".to_owned(),
                },
            ),
            Mistake::Directive { word } => say(format!("GBNF has no `%{word}`")).help(match word.as_str() {
                "json" => "write the grammar in Lark, or convert the schema to rules",
                _ => "directives are Lark's: write the grammar in Lark",
            }),
            Mistake::ChoiceSlash => error("`/` is no choice in GBNF").help("a choice is written `|`"),
            Mistake::RangeDots { low, high } => Diagnostic::warning(code, span, "each of these `.` is any character")
                .help(format!("a range is `[{low}-{high}]`; for any two characters write `. .`")),
            Mistake::RangeDash { low, high } => {
                error("strings have no range between them").help(format!("a range of characters is `[{low}-{high}]`"))
            }
            Mistake::Flag { flag, meant } => say(format!("GBNF has no flags such as `{flag}`")).help(match meant {
                Some(meant) => format!("write `{meant}`"),
                None => "write each letter in both cases, as in `[aA]`".to_owned(),
            }),
            Mistake::UnclosedString => error("this string is not closed").at("opened here").help("close it with `\"`; in it write `\\\"`"),
            Mistake::UnclosedClass => error("this class is not closed").help("close it with `]`; in it write `\\]`"),
            Mistake::EscapedEnd { end: ']' } => {
                error("this bracket does not end the class: a backslash stands before it")
                    .help("`\\]` is a bracket in the class; a backslash is `[\\\\]`")
            }
            Mistake::EscapedEnd { .. } => error("this quote does not end the string: a backslash stands before it")
                .help("`\\\"` is a quote in the string; a backslash is `\"\\\\\"`"),
            Mistake::UnclosedToken => error("this token is not closed on its line").help("close it with `>`"),
            Mistake::UnclosedGroup { opened } => {
                error("a group is not closed here").also(opened, "opened here").help("close it with `)`")
            }
            Mistake::GroupNotOpen => error("there is no group to close"),
            Mistake::DefinitionSign { found } => {
                say(format!("expected `::=` behind the rule's name, found {found}")).help("write `name ::= …`")
            }
            Mistake::NameExpected { found } => say(format!("expected a rule's name, found {found}"))
                .help("a rule is `name ::= …`; it ends with its line, but for groups and behind `|`"),
            Mistake::NameNotAscii { name } => say(format!("`{name}` is no name: names are of ASCII letters, digits, `-` and `_`"))
                .help("rename it, here and elsewhere"),
            Mistake::DefinitionOnLine { name } => {
                say(format!("the rule `{name}` begins in the middle of a line")).help("begin each rule on a line of its own")
            }
            Mistake::RuleEmpty { name } => {
                say(format!("the rule `{name}` has no right-hand side")).help("write `\"\"` for the empty text")
            }
            Mistake::EscapeBad { escape, reason } => say(format!("`{escape}` is no escape: {reason}"))
                .help(escape.chars().nth(1).and_then(class_help).unwrap_or(
                    "the escapes are `\\n`, `\\r`, `\\t`, `\\\\`, `\\\"`, `\\[`, `\\]`, `\\-`, `\\xHH`, `\\uHHHH` and `\\UHHHHHHHH`",
                )),
            Mistake::RangeOrder { low, high } => say(format!(
                "the range from `{}` to `{}` has no characters",
                shown_character(low),
                shown_character(high)
            ))
            .help(format!("write `{}-{}`, or `\\-` for the character `-`", shown_character(high), shown_character(low))),
            Mistake::ClassEmpty => Diagnostic::warning(code, span, "a class without characters is the empty text")
                .help("write `\"\"`, or what should be in it; any character is `.`"),
            Mistake::RepeatNothing => error("there is nothing before it that could be repeated"),
            Mistake::RepeatCounts { reason, meant } => say(reason.to_owned()).help(match meant {
                Some(meant) => format!("write `{meant}`"),
                None => "write `{3}`, `{3,}` or `{0,3}`".to_owned(),
            }),
            Mistake::RepeatOrder { min, max } => {
                say(format!("at least {min} and at most {max} times is never")).help(format!("write `{{{max},{min}}}`"))
            }
            Mistake::TokenBad { reason } => say(reason.to_owned()).help("a token is `<name>` or `<[5]>`, any other one `!<name>`"),
            Mistake::DefinedTwice { name, first } => {
                Diagnostic::warning(code, span, format!("`{name}` is defined again, and only this definition counts"))
                    .also(first, "this one has no effect")
            }
            Mistake::RuleUndefined { name, near } => say(format!("there is no rule `{name}`")).did_you_mean(near),
            Mistake::StartMissing(no_start) => no_start.diagnostic(code, span, "rule"),
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
            Mistake::UnexpectedCharacter { .. }
            | Mistake::TypographicQuotes { .. }
            | Mistake::CommentSign
            | Mistake::ChoiceSlash
            | Mistake::GroupMark
            | Mistake::RegexEscape { .. }
            | Mistake::PosixClass { .. }
            | Mistake::Directive { .. }
            | Mistake::TagDispatch
            | Mistake::Alias
            | Mistake::LookAhead
            | Mistake::RangeDash { .. }
            | Mistake::Flag { .. } => "E001",
            Mistake::RangeDots { .. } => "E015",
            Mistake::UnclosedString | Mistake::EscapedEnd { end: '"' } => "E002",
            Mistake::UnclosedClass | Mistake::EscapedEnd { .. } => "E003",
            Mistake::UnclosedToken => "E004",
            Mistake::UnclosedGroup { .. } | Mistake::GroupNotOpen => "E005",
            Mistake::DefinitionSign { .. }
            | Mistake::NameExpected { .. }
            | Mistake::NameNotAscii { .. }
            | Mistake::AngleName { .. } => "E006",
            Mistake::DefinitionOnLine { .. } => "E007",
            Mistake::EscapeBad { .. } => "E008",
            Mistake::RangeOrder { .. } => "E009",
            Mistake::ClassEmpty => "E010",
            Mistake::RepeatNothing => "E011",
            Mistake::RepeatCounts { .. } | Mistake::RepeatOrder { .. } | Mistake::Braces { .. } => "E012",
            Mistake::TokenBad { .. } => "E013",
            Mistake::RuleEmpty { .. } => "E014",
            Mistake::DefinedTwice { .. } => "E020",
            Mistake::RuleUndefined { .. } => "E021",
            Mistake::StartMissing(_) => "E022",
            Mistake::TooMuch(TooMuch::SourceBytes { .. }) => "E090",
            Mistake::TooMuch(TooMuch::Depth { .. }) => "E091",
            Mistake::TooMuch(TooMuch::Count { .. }) => "E092",
            Mistake::TooMuch(TooMuch::Symbols { .. }) => "E093",
            Mistake::TooMuch(TooMuch::RegexNodes { .. }) => "E094",
        }
    }
}
