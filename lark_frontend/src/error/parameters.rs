//! What is wrong with parameters of rules.

use larkspur_grammar::diagnostic::near;
use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ParameterMistake {
    Unwanted {
        rule: String,
        defined: Span,
    },
    Missing {
        rule: String,
        defined: Span,
    },
    Unused {
        rule: String,
    },
    Outside {
        what: &'static str,
    },
    Function {
        name: String,
        condition: bool,
    },
    /// With the number as it is written; `is_end`: of a range, where it is one past the last bit.
    BitIndex {
        found: String,
        is_end: bool,
    },
    BitRange {
        start: u64,
        end: u64,
    },
}

impl ParameterMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let say = |code, message: String| Diagnostic::error(code, span, message);
        let warn = |code, message: String| Diagnostic::warning(code, span, message);
        match self {
            ParameterMistake::Unwanted { rule, defined } => say("L070", format!("rule `{rule}` takes no parameter"))
                .also(defined, "defined here")
                .help(format!("define it as `{rule}::_`, or drop the `::…`")),
            ParameterMistake::Missing { rule, defined } => say("L071", format!("rule `{rule}` needs a parameter"))
                .also(defined, "defined here")
                .help(format!("write `{rule}::0` or `{rule}::_`")),
            ParameterMistake::Unused { rule } => warn("L072", format!("rule `{rule}` does not use its parameter"))
                .help("use `::_` or `%if` in it, or drop the `::_`"),
            ParameterMistake::Outside { what } => {
                say("L073", format!("{what} needs a parameter, and this rule has none"))
                    .help("define the rule as `name::_`")
            }
            ParameterMistake::Function { name, condition } => {
                let (what, names) = if condition {
                    ("condition", crate::params::CONDITIONS)
                } else {
                    ("parameter function", crate::params::FUNCTIONS)
                };
                let near = near(&name, names.iter().map(|&name| (name, None)));
                let listed = near.is_none();
                let diagnostic = say("L074", format!("there is no {what} `{name}`")).did_you_mean(near);
                if listed { diagnostic.help(format!("there are {}", names.join(", "))) } else { diagnostic }
            }
            ParameterMistake::BitIndex { found, is_end: false } => {
                say("L075", format!("there is no bit {found}: bits are 0 to 63"))
            }
            ParameterMistake::BitIndex { found, is_end: true } => {
                say("L075", format!("a range of bits ends at 64 at most, not at {found}"))
                    .help("the end is one past the last bit: `[0:64]` is all of them, as is `_`")
            }
            ParameterMistake::BitRange { start, end } => {
                let (low, high) = (start.min(end), start.max(end));
                let bits = if low == high { format!("the bit {low}") } else { format!("the bits {low} to {high}") };
                say("L075", format!("the bits {start} to {end} are none: the end is exclusive"))
                    .help(format!("`[{low}:{}]` is {bits}", high + 1))
            }
        }
    }
}
