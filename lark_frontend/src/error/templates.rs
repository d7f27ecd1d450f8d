//! What is wrong with templates and their arguments.

use larkspur_grammar::diagnostic::plural;
use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum TemplateMistake {
    Arguments { name: String, wanted: usize, given: usize, defined: Span },
    Argument,
    ArgumentCalled { name: String, template: bool },
    ParamTwice { name: String, first: Span },
    ParamDefined { name: String, first: Span },
}

impl TemplateMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        match self {
            TemplateMistake::Arguments { name, wanted: 0, defined, .. } => {
                say("L030", format!("rule `{name}` is not a template"))
                    .also(defined, "defined here")
                    .help(format!("write `{name}` without arguments, or define it as `{name}{{x}}: …`"))
            }
            TemplateMistake::Arguments { name, wanted, given, defined } => {
                let given = if given == 0 { "none".to_string() } else { given.to_string() };
                say("L030", format!("template `{name}` takes {}, and is given {given}", plural(wanted, "argument")))
                    .also(defined, "defined here")
            }
            TemplateMistake::Argument => {
                error("L036", "an argument is a name, a literal, a range, a token or a template")
                    .help("give it a rule of its own, and that rule's name as the argument")
            }
            TemplateMistake::ArgumentCalled { name, template: true } => {
                say("L036", format!("`{name}` is given arguments, but stands for no template here"))
                    .help("pass a template's name without braces, as in `apply{list}`")
            }
            TemplateMistake::ArgumentCalled { name, template: false } => {
                say("L036", format!("`{name}` is a parameter of a template and takes none itself"))
                    .help("call the parametric rule in a rule of its own")
            }
            TemplateMistake::ParamTwice { name, first } => {
                say("L035", format!("parameter `{name}` is listed twice")).also(first, "first here")
            }
            TemplateMistake::ParamDefined { name, first } => {
                say("L035", format!("parameter `{name}` is also the name of a rule"))
                    .also(first, "defined here")
                    .help("give one of them another name")
            }
        }
    }
}
