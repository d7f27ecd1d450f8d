//! What is wrong with attributes of rules.

use larkspur_grammar::diagnostic::near;
use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum AttributeMistake {
    Unknown { name: String },
    Twice { name: String, first: Span },
    Value { name: &'static str, expected: &'static str },
    OnTerminal,
    StopAndSuffix { first: Span },
    StopCaptureAlone,
    OnParametric { attribute: &'static str, rule: String },
    StopNullable { attribute: &'static str },
}

impl AttributeMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        match self {
            AttributeMistake::Unknown { name } => {
                let names = crate::attributes::NAMES.iter().map(|&name| (name, None));
                let near = near(&name, names);
                say("L020", format!("there is no rule attribute `{name}`")).did_you_mean(near)
            }
            AttributeMistake::Twice { name, first } => {
                say("L021", format!("attribute `{name}` is given twice")).also(first, "first here")
            }
            AttributeMistake::Value { name, expected } => say("L022", format!("`{name}` takes {expected}")),
            AttributeMistake::OnTerminal => error("L023", "attributes belong to rules, not to terminals")
                .help("make a rule of the terminal and put them there"),
            AttributeMistake::StopAndSuffix { first } => {
                error("L024", "a rule has one of `stop` and `suffix`").also(first, "the other is here")
            }
            AttributeMistake::StopCaptureAlone => {
                error("L025", "`stop_capture` has nothing to capture").help("add `stop=…` or `suffix=…`")
            }
            AttributeMistake::OnParametric { attribute, rule } => {
                say("L027", format!("`{attribute}` is not possible on the parametric rule `{rule}`"))
                    .help("put it on a rule without parameter that this one calls")
            }
            AttributeMistake::StopNullable { attribute } => say("L028", format!("`{attribute}` matches the empty text")).help(
                "it must match at least one character; `stop=\"\"`, for a text up to the end, is the special case without text",
            ),
        }
    }
}
