//! What cannot stand in a terminal, and terminals whose edges are not clear.

use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TerminalMistake {
    AttributeNeedsTerminal {
        attribute: &'static str,
        rule: String,
        attribute_span: Span,
    },
    RuleInTerminal {
        name: String,
        terminal: bool,
    },
    NotInTerminal {
        what: &'static str,
    },
    AliasInTerminal,
    ConditionInTerminal,
    LazyAlone {
        name: String,
        least: bool,
    },
    /// `t[lazy]: /.*/`.
    LazyEndless {
        rule: String,
        is_empty: bool,
    },
    LazyUnclear {
        reason: &'static str,
    },
    LookUnclear,
    LookEmpty,
    /// With the regex as it is meant.
    LookEdges {
        meant: String,
    },
}

impl TerminalMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        let warn = |code, message: String| Diagnostic::warning(code, span, message);
        match self {
            TerminalMistake::AttributeNeedsTerminal { attribute, rule, attribute_span } => {
                say("L026", format!("`{attribute}` is for rules that are one terminal, and `{rule}` is not"))
                    .at("not part of a terminal")
                    .also(attribute_span, "asked for here")
            }
            TerminalMistake::RuleInTerminal { name, terminal: true } => {
                say("L050", format!("`{name}` is a rule and cannot stand in a terminal"))
                    .help("terminals are regexes: write this definition, or that one, in the other case")
            }
            TerminalMistake::RuleInTerminal { name, terminal: false } => {
                say("L050", format!("`{name}` is a rule; `&` and `~` are for terminals"))
                    .help("write it in upper case, as a terminal")
            }
            TerminalMistake::NotInTerminal { what } => {
                say("L051", format!("{what} cannot stand in a terminal")).help("use it in a rule, in lower case")
            }
            TerminalMistake::AliasInTerminal => {
                error("L052", "terminals have no aliases").help("drop it; what is skipped is named by `%ignore NAME`")
            }
            TerminalMistake::ConditionInTerminal => error("L053", "`%if` cannot stand in a terminal"),
            TerminalMistake::LazyAlone { name, least } => match least {
                true => {
                    warn("L068", format!("`{name}` takes as little as it can here: its lazy quantifier is its end"))
                }
                false => warn("L068", format!("`{name}` takes as much as it can here, in Lark as little as it can")),
            }
            .help("put what ends it behind it, in the same terminal"),
            TerminalMistake::LazyEndless { rule, is_empty } => match is_empty {
                true => warn(
                    "L068",
                    format!("`{rule}` is always empty: `lazy` ends it where it first matches, at its start"),
                ),
                false => warn(
                    "L068",
                    format!("`{rule}` never repeats more than it must: `lazy` ends it where it first matches"),
                ),
            }
            .help("say what ends it, with `stop=…` or `suffix=…` in place of `lazy`, or at the end of the terminal"),
            TerminalMistake::LazyUnclear { reason } => {
                say("L069", format!("where the lazy quantifier at the end of this ends is not clear: {reason}"))
                    .help("write both as one regex, or say what may be repeated: `/[^\"]*/` for `/.*?/`")
            }
            TerminalMistake::LookUnclear => {
                say("L054", "look-around at an edge of this sees beyond it, where it must be decided".to_string()).help(
                    "only a terminal's edges may be open so, without `&`, `~`, repetition, `lazy`, `stop` and `suffix`",
                )
            }
            TerminalMistake::LookEmpty => {
                say("L054", "look-around in this sees beyond it where it may be empty".to_string())
                    .help("let the terminal match at least one character, and let the rules say where it is left out")
            }
            TerminalMistake::LookEdges { meant } => {
                say("L054", "`^` and `$` are the edges of the whole text, and this may be empty there".to_string())
                    .help(format!("drop them, since a terminal matches as a whole: `{meant}`"))
            }
        }
    }
}
