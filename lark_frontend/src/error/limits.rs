//! What is more than a limit allows.

use larkspur_grammar::diagnostic::{TooMuch, plural};
use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum LimitMistake {
    ImportsTooDeep { limit: usize },
    RepeatTooLarge { count: String, limit: u32 },
    TooMuch(TooMuch),
    RegexNodesTooMany { limit: usize },
    TemplatesTooMany { limit: usize },
    ImportsTooMany { limit: usize },
    JsonTooMany { limit: usize },
}

impl LimitMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let say = |code, message: String| Diagnostic::error(code, span, message);
        match self {
            LimitMistake::ImportsTooDeep { limit } => {
                say("L093", format!("more than {limit} texts import each other in a row"))
                    .help("the limit is `grammar_depth_max`")
            }
            LimitMistake::RepeatTooLarge { count, limit } => {
                say("L094", format!("the count {count} is over the limit of {limit}")).help("the limit is `repeat_max`")
            }
            LimitMistake::TooMuch(too_much) => {
                let code = match too_much {
                    TooMuch::SourceBytes { .. } => "L090",
                    TooMuch::Symbols { .. } => "L091",
                    TooMuch::RegexNodes { .. } => "L092",
                    TooMuch::Depth { .. } => "L093",
                    TooMuch::Count { .. } => "L094",
                };
                too_much.diagnostic(code, span)
            }
            LimitMistake::RegexNodesTooMany { limit } => say(
                "L092",
                format!("the terminals have more than {}, or copy each other too often", plural(limit, "node")),
            )
            .help("the limit is `regex_nodes_max`"),
            LimitMistake::TemplatesTooMany { limit } => say(
                "L095",
                format!("the templates have more than {limit} different lists of arguments"),
            )
            .at("one more here")
            .help("the limit is `template_instances_max`; a template that gives itself longer arguments has no end"),
            LimitMistake::JsonTooMany { limit } => {
                say("L097", format!("the grammar has more than {}", plural(limit, "JSON value")))
                    .help("the limit is `inner_texts_max`")
            }
            LimitMistake::ImportsTooMany { limit } => {
                say("L096", format!("the grammar has more than {}", plural(limit, "import")))
                    .help("the limit is `grammar_imports_max`; what several texts import is read for each of them")
            }
        }
    }
}
