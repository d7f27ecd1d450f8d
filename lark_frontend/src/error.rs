//! Everything that can be wrong with a Lark text, by topic: one variant for each mistake, with its code and its sentence; and
//! the [`Sink`] that collects them.

mod attributes;
mod imports;
mod lexer;
mod limits;
mod literals;
mod names;
mod options;
mod parameters;
mod syntax;
mod templates;
mod terminals;

use larkspur_grammar::diagnostic::Describe;
use larkspur_grammar::{Diagnostic, Span};

pub(crate) use larkspur_grammar::diagnostic::{Near, NoStart, TooMuch, near};

pub(crate) use attributes::AttributeMistake;
pub(crate) use imports::ImportMistake;
pub(crate) use lexer::LexerMistake;
pub(crate) use limits::LimitMistake;
pub(crate) use literals::LiteralMistake;
pub(crate) use names::NameMistake;
pub(crate) use options::OptionMistake;
pub(crate) use parameters::ParameterMistake;
pub(crate) use syntax::SyntaxMistake;
pub(crate) use templates::TemplateMistake;
pub(crate) use terminals::TerminalMistake;

use crate::codes::CODES;
use crate::foreign::Foreign;

/// Makes [`Mistake`] of the topics.
macro_rules! topics {
    ($($name:ident: $topic:ident,)*) => {
        /// A mistake of the grammar's author, or something that surely is not meant.
        #[derive(Clone, PartialEq, Debug)]
        pub(crate) enum Mistake {
            $($name($topic),)*
        }

        $(impl From<$topic> for Mistake {
            fn from(mistake: $topic) -> Self {
                Mistake::$name(mistake)
            }
        })*

        impl Describe for Mistake {
            const MORE: &'static str = "L099";

            fn diagnostic(self, span: Span) -> Diagnostic {
                let diagnostic = match self {
                    $(Mistake::$name(mistake) => mistake.diagnostic(span),)*
                };
                let code = diagnostic.code;
                debug_assert!(CODES.iter().any(|info| info.code == code), "{code} is in the table of codes");
                diagnostic
            }
        }
    };
}

topics! {
    Foreign: Foreign,
    Lexer: LexerMistake,
    Syntax: SyntaxMistake,
    Attribute: AttributeMistake,
    Template: TemplateMistake,
    Import: ImportMistake,
    Name: NameMistake,
    Terminal: TerminalMistake,
    Literal: LiteralMistake,
    Parameter: ParameterMistake,
    Option: OptionMistake,
    Limit: LimitMistake,
}

/// The diagnostics of one run.
pub(crate) type Sink = larkspur_grammar::diagnostic::Sink<Mistake>;

impl From<NoStart> for Mistake {
    fn from(no_start: NoStart) -> Self {
        NameMistake::StartMissing(no_start).into()
    }
}

impl From<TooMuch> for Mistake {
    fn from(too_much: TooMuch) -> Self {
        LimitMistake::TooMuch(too_much).into()
    }
}

/// The way out for a character class that stands alone.
fn between_slashes(class: &str) -> String {
    format!("a regex stands between slashes: `/{class}/`")
}

impl NameMistake {
    /// A name that nothing defines.
    pub(crate) fn undefined(name: &str, near: Option<Near>) -> Self {
        let name = name.to_string();
        match name.trim_start_matches('_').starts_with(|c: char| c.is_ascii_uppercase()) {
            true => NameMistake::TerminalUndefined { name, near },
            false => NameMistake::RuleUndefined { name, near },
        }
    }
}
