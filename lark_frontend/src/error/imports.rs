//! What is wrong with imports, and with what changes a definition.

use larkspur_grammar::diagnostic::Near;
use larkspur_grammar::{Diagnostic, Span};

#[derive(Clone, PartialEq, Debug)]
pub(crate) enum ImportMistake {
    Missing { module: String, file: String, relative: bool, resolved: bool, near: Option<Near> },
    Unreadable { path: String, reason: String },
    Above,
    Unknown { module: String, name: String, near: Option<String>, has: Vec<String> },
    Cycle { cycle: Vec<String> },
    NothingToChange { name: String, extends: bool, near: Option<Near> },
    ExtendUnlike { name: String, reason: &'static str, first: Span },
    DeclaredUnbound { name: String, defined: Span },
}

impl ImportMistake {
    /// The sentence, with its code and places.
    pub(super) fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        let say = |code, message: String| Diagnostic::error(code, span, message);
        match self {
            ImportMistake::Missing { module, file, relative, resolved, near } => {
                let diagnostic = say("L031", format!("there is no `{module}` to import from"));
                if near.is_some() {
                    diagnostic.did_you_mean(near)
                } else if !resolved {
                    diagnostic.help(format!(
                        "built in are {}; for other texts the caller gives `modules`",
                        crate::modules::names()
                    ))
                } else if relative {
                    diagnostic.help(format!("it is sought as `{file}` beside the text that imports it"))
                } else {
                    diagnostic.help(format!(
                        "write `.{module}` for the file `{file}` beside this one; built in are {}",
                        crate::modules::names()
                    ))
                }
            }
            ImportMistake::Unreadable { path, reason } => say("L031", format!("`{path}` cannot be read: {reason}")),
            ImportMistake::Above => error("L031", "an import cannot leave the folder")
                .help("one dot is the folder of this text; move the file there or give its folder as a search path"),
            ImportMistake::NothingToChange { name, extends, near } => {
                let (code, verb) = if extends { ("L033", "extend") } else { ("L032", "override") };
                let diagnostic = say(code, format!("there is no `{name}` to {verb} up to here"));
                match near {
                    Some(Near { name: near, defined: None }) => {
                        diagnostic.help(format!("`{near}` needs `%import common.{near}`"))
                    }
                    None => diagnostic.help("a change stands behind the definition or import that it changes"),
                    near => diagnostic.did_you_mean(near),
                }
            }
            ImportMistake::ExtendUnlike { name, reason, first } => {
                say("L033", format!("`{name}` cannot be extended so: {reason}")).also(first, "first defined here")
            }
            ImportMistake::Cycle { cycle } => {
                say("L037", format!("this import goes in a circle: {}", cycle.join(" -> ")))
                    .help("move what both need into a file that imports neither")
            }
            ImportMistake::Unknown { module, name, near, has } => {
                let diagnostic = say("L043", format!("`{module}` has no `{name}`"));
                match near {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None if has.is_empty() => diagnostic,
                    None if has.len() > 30 => diagnostic.help(format!("it has {}, …", has[..30].join(", "))),
                    None => diagnostic.help(format!("it has {}", has.join(", "))),
                }
            }
            ImportMistake::DeclaredUnbound { name, defined } => {
                let diagnostic = say("L034", format!("`{name}` is declared, and nothing says which token it is"))
                    .also(defined, "declared here");
                // One's own `_INDENT` took the place of the library's.
                let imported = name.strip_prefix('_').and_then(|name| name.split_once("__"));
                if let Some((module, "INDENT" | "DEDENT")) = imported {
                    return diagnostic.help(format!(
                        "blocks have one `_INDENT` and one `_DEDENT`: in place of `%declare` write `%import {module} (_INDENT, _DEDENT)`"
                    ));
                }
                diagnostic.help(format!(
                    "bind it: `%larkspur {{ \"declare\": {{ \"{name}\": \"<token>\" }} }}`, or define it"
                ))
            }
        }
    }
}
