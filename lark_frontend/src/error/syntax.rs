//! What is wrong with the order of lexemes.

use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum SyntaxMistake {
    Expected {
        expected: &'static str,
        found: String,
    },
    DefinedOtherwise {
        sign: &'static str,
    },
    ColonMissing {
        name: String,
    },
    /// In the bracket that was opened there.
    BreakInBrackets {
        opened: Span,
    },
    /// `??x: …`.
    MarkTwice {
        mark: &'static str,
    },
    StatementExpected {
        found: String,
        after_body: bool,
    },
    Unclosed {
        what: &'static str,
        opened: Span,
    },
    /// `||`, `a[]`, `a()`.
    NothingBetween {
        signs: &'static str,
    },
    /// A bracket that closes nothing.
    NotOpen {
        close: &'static str,
        open: &'static str,
    },
    RepeatTwice,
    RepeatOrder {
        min: u64,
        max: u64,
    },
    /// With its sign.
    PriorityTooLarge {
        found: String,
    },
    NumberExpected {
        expected: &'static str,
        found: String,
    },
    AliasInGroup,
    AliasOnUnderscoreRule {
        rule: String,
    },
    InlineUnderscoreRule {
        rule: String,
    },
}

impl SyntaxMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        let warn = |code, message: String| Diagnostic::warning(code, span, message);
        match self {
            SyntaxMistake::Expected { expected, found } => say("L010", format!("expected {expected}, found {found}")),
            SyntaxMistake::ColonMissing { name } => say("L010", format!("a `:` is missing behind `{name}`"))
                .help("a definition is `name: …`; a rule goes on in the next line only if that begins with `|`"),
            SyntaxMistake::BreakInBrackets { opened } => error("L011", "a line break stands inside of brackets")
                .also(opened, "opened here")
                .help("write it on one line, end the line with a backslash, or begin the next one with `|` for an alternative"),
            SyntaxMistake::MarkTwice { mark } => say("L010", format!("`{mark}` stands twice before this rule")).help("drop one of them"),
            SyntaxMistake::DefinedOtherwise { sign } => say("L010", format!("a definition is written with `:`, not with `{sign}`"))
                .help(match sign {
                    "<-" => "a rule is `name: …`; PEGs write `<-`",
                    "=>" | "->" => "a rule is `name: …`; `->` names an alternative, behind it",
                    _ => "a rule is `name: …`; GBNF and KBNF write `::=`",
                }),
            SyntaxMistake::StatementExpected { found, after_body } => {
                let diagnostic = say("L011", format!("a definition or a directive is expected here, found {found}"));
                if after_body {
                    diagnostic.help(
                        "a rule goes on in the next line only if that begins with `|`, or if this one ends with a backslash",
                    )
                } else {
                    diagnostic.help("statements look like `name: …`, `NAME: …`, `%ignore …`")
                }
            }
            SyntaxMistake::Unclosed { what, opened } => {
                say("L012", format!("`{what}` is not closed here")).also(opened, "opened here")
            }
            SyntaxMistake::NothingBetween { signs } => warn("L029", format!("`{signs}` is the empty text here")).help(match signs {
                "||" => "one `|` stands between alternatives; for the empty text write `\"\"`",
                _ => "drop it; for the empty text write `\"\"`",
            }),
            SyntaxMistake::NotOpen { close, open } => say("L012", format!("there is no `{open}` that this `{close}` could close"))
                .help(format!("drop it, or open the group with `{open}`; the character is `\"{close}\"`")),
            SyntaxMistake::RepeatTwice => {
                error("L013", "an item takes one repetition").help("put the item and its first repetition in parentheses")
            }
            SyntaxMistake::RepeatOrder { min, max } => say("L014", format!("this repetition wants at least {min} and at most {max}"))
                .help(format!("the smaller count stands first: `~{max}..{min}` or `{{{max},{min}}}`")),
            SyntaxMistake::NumberExpected { expected, found } => {
                let diagnostic = say("L015", format!("expected {expected}, found {found}"));
                match expected {
                    "a count" => diagnostic.help("counts are written `~3`, `~2..5`, `{3}`, `{2,5}` or `{2,}`"),
                    _ => diagnostic,
                }
            }
            SyntaxMistake::PriorityTooLarge { found } => {
                say("L015", format!("a priority is {} to {}, and not {found}", -i32::MAX, i32::MAX))
                    .help("a priority only says what comes before what: small numbers will do")
            }
            SyntaxMistake::AliasInGroup => error("L016", "an alias stands only at the end of a rule's own alternative")
                .at("inside a group")
                .help("give the group a rule of its own"),
            SyntaxMistake::AliasOnUnderscoreRule { rule } => {
                warn("L017", format!("the alias has no effect: `{rule}` begins with `_`"))
                    .help("Lark rejects this; drop the alias or the underscore")
            }
            SyntaxMistake::InlineUnderscoreRule { rule } => {
                say("L018", format!("`{rule}` cannot be marked with `?`, since it begins with `_`")).help("drop one of the two")
            }
        }
    }
}
