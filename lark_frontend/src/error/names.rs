//! Names that nothing defines, or several definitions; and the start.

use larkspur_grammar::diagnostic::{Near, NoStart};
use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum NameMistake {
    RuleUndefined { name: String, near: Option<Near> },
    TerminalUndefined { name: String, near: Option<Near> },
    DefinedTwice { name: String, first: Span },
    TerminalRecursive { cycle: Vec<String>, closing: Span },
    NoRules,
    StartMissing(NoStart),
    StartNotRule { name: String },
    StartParametric { name: String },
}

impl NameMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        match self {
            NameMistake::RuleUndefined { name, near } => {
                say("L040", format!("rule `{name}` is used but never defined")).at("not defined").did_you_mean(near)
            }
            NameMistake::TerminalUndefined { name, near } => {
                let diagnostic = say("L041", format!("terminal `{name}` is used but never defined")).at("not defined");
                match near {
                    Some(Near { name: near, defined: None }) if near == name => {
                        diagnostic.help(format!("add `%import common.{name}`"))
                    }
                    Some(Near { name: near, defined: None }) => {
                        diagnostic.help(format!("did you mean `{near}`? It needs `%import common.{near}`"))
                    }
                    near => diagnostic.did_you_mean(near),
                }
            }
            NameMistake::DefinedTwice { name, first } => {
                say("L042", format!("`{name}` is defined twice")).also(first, "first defined here")
            }
            NameMistake::TerminalRecursive { cycle, closing } => {
                say("L044", format!("terminal `{}` refers to itself: {}", cycle[0], cycle.join(" -> ")))
                    .at("terminals are regexes and cannot be recursive")
                    .also(closing, "the circle closes here")
                    .help("write it as a rule, in lower case")
            }
            NameMistake::NoRules => error("L045", "the grammar defines no rules").help("write `start: …`"),
            NameMistake::StartMissing(no_start) => no_start.diagnostic("L045", span, "rule"),
            NameMistake::StartNotRule { name } => {
                say("L046", format!("`{name}` is a terminal; a grammar starts with a rule"))
                    .help(format!("write `start: {name}`"))
            }
            NameMistake::StartParametric { name } => {
                say("L047", format!("the start rule `{name}` takes a parameter, and nobody gives it one"))
                    .help(format!("add a start rule that calls `{name}::0`"))
            }
        }
    }
}
