//! What is wrong with options, and what they ask for.

use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum OptionMistake {
    Unknown { key: String, near: Option<&'static str> },
    Value { key: String, expected: &'static str },
    Nested { key: String },
    BlocksWithoutNewline { name: String },
    BlocksTooWide { limit: u32 },
    NotObject,
}

impl OptionMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        let warn = |code, message: String| Diagnostic::warning(code, span, message);
        match self {
            OptionMistake::Unknown { key, near } => {
                let diagnostic = warn("L080", format!("there is no option `{key}`; it has no effect"));
                match near {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic,
                }
            }
            OptionMistake::Value { key, expected } => say("L081", format!("option `{key}` takes {expected}")),
            OptionMistake::BlocksTooWide { limit } => say("L085", format!("blocks are to be wider than {limit}, the limit `block_width_max`"))
                .help("make `width_max` of the option `indenter` smaller"),
            OptionMistake::BlocksWithoutNewline { name } => say("L084", format!("blocks need the line break `{name}`, which is not defined"))
                .help("define it with the blanks of the next line, `_NEWLINE: /(\\r?\\n[\\t ]*)+/`, or name it with the option `indenter`"),
            OptionMistake::Nested { key } => {
                warn("L082", format!("option `{key}` has no effect in a nested grammar")).help("set it in the outermost one")
            }
            OptionMistake::NotObject => error("L083", "options are a JSON object").help("write `{ \"name\": value }`"),
        }
    }
}
