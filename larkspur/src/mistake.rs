//! What is wrong with a source before any front end has read it.

use larkspur_grammar::{Diagnostic, Span};

use crate::other_language::Looks;
use crate::source::SourceKind;

/// What the facade itself finds wrong; documented in [`CODES`](crate::CODES).
pub(crate) enum Mistake {
    SchemaWithoutText,
    SourceTooLarge {
        limit: usize,
        used: usize,
    },
    /// Of what has no rules.
    StartWithoutRules {
        what: &'static str,
    },
    NoSyntaxTree,
    NoConversion {
        from: Option<SourceKind>,
        to: SourceKind,
        reason: Option<&'static str>,
    },
    OtherLanguage {
        kind: SourceKind,
        looks: Looks,
    },
    Tags {
        reason: String,
    },
    ListNotObject {
        found: &'static str,
    },
    GrammarsMissing,
    GrammarsNotArray {
        found: &'static str,
    },
    GrammarsEmpty,
    ElementNotObject {
        found: &'static str,
    },
    ElementWithoutGrammar,
    ElementWithTwo {
        other: Span,
    },
    NotString {
        key: &'static str,
        found: &'static str,
    },
    MaxTokens,
    KeyUnknown {
        key: String,
        near: Option<String>,
    },
    NameTwice {
        name: String,
        first: Span,
    },
    /// Of all texts that stand in the source.
    TooMuchInside {
        what: &'static str,
        name: &'static str,
        limit: usize,
    },
}

impl Mistake {
    pub fn diagnostic(self, span: Span) -> Diagnostic {
        let error = |code, message: &str| Diagnostic::error(code, span, message);
        match self {
            Mistake::SchemaWithoutText => error("F002", "the text of this schema is not known")
                .help("give the sources that the grammar's spans point into"),
            Mistake::SourceTooLarge { limit, used } => {
                Diagnostic::error("F003", span, format!("the source has {used} bytes; at most {limit} are possible"))
                    .help("the limit is `source_bytes_max`")
            }
            Mistake::StartWithoutRules { what } => {
                Diagnostic::error("F004", span, format!("a {what} has no rules to start with"))
            }
            Mistake::NoSyntaxTree => error("F005", "only a Lark, GBNF or KBNF text has a syntax tree to show"),
            Mistake::NoConversion { from, to, reason: None } if from == Some(to) => {
                let to = to.title();
                Diagnostic::error("F006", span, format!("there is nothing to convert: this is read as {to} already"))
            }
            Mistake::NoConversion { from, to, reason } => {
                let from = from.map_or("a grammar without text", SourceKind::title);
                let to = to.title();
                match reason {
                    Some(reason) => Diagnostic::error("F006", span, format!("{to} has no words for this: {reason}")),
                    None => Diagnostic::error("F006", span, format!("there is no conversion from {from} to {to}"))
                        .help("GBNF, regexes and JSON Schemas can be written as Lark, and all of them as GBNF"),
                }
            }
            Mistake::OtherLanguage { kind, looks } => {
                let title = kind.title();
                let (seems, help) = match looks {
                    Looks::Kind(other) => {
                        let word = match other {
                            SourceKind::Lark => "lark",
                            SourceKind::Regex => "regex",
                            SourceKind::JsonSchema | SourceKind::List => "json",
                            SourceKind::Gbnf => "gbnf",
                            SourceKind::Kbnf => "kbnf",
                        };
                        let help = match (other, kind) {
                            (SourceKind::Gbnf, SourceKind::Lark) => {
                                "read it as such (`--kind gbnf`, or a name that ends in `.gbnf`), or write it as Lark with \
                                 `larkspur convert --to lark`"
                                    .to_owned()
                            }
                            _ => format!("read it as such: `--kind {word}`, or the function for that language"),
                        };
                        (other.title(), help)
                    }
                    Looks::FileName => ("the name of a file", "give what is in the file".to_owned()),
                    Looks::Yaml => ("YAML", "a JSON Schema is JSON: convert it first".to_owned()),
                };
                Diagnostic::error("F008", span, format!("this looks like {seems}, and is read as {title}")).help(help)
            }
            Mistake::Tags { reason } => Diagnostic::error("F007", span, format!("structural tags: {reason}")),
            Mistake::ListNotObject { found } => {
                Diagnostic::error("F010", span, format!("a list of grammars is an object, not {found}"))
                    .help("write `{\"grammars\": [ … ]}`")
            }
            Mistake::GrammarsMissing => {
                error("F010", "the key `grammars` is missing").help("write `{\"grammars\": [ … ]}`")
            }
            Mistake::GrammarsNotArray { found } => {
                Diagnostic::error("F010", span, format!("`grammars` is an array, not {found}"))
            }
            Mistake::GrammarsEmpty => error("F010", "the list of grammars is empty"),
            Mistake::ElementNotObject { found } => {
                Diagnostic::error("F011", span, format!("an element of the list is an object, not {found}"))
                    .help("write `{\"name\": …, \"lark_grammar\": …}`")
            }
            Mistake::ElementWithoutGrammar => error("F011", "there is no grammar in this element")
                .help("give `lark_grammar`, `json_schema`, `gbnf_grammar`, `kbnf_grammar` or `regex`"),
            Mistake::ElementWithTwo { other } => {
                error("F011", "an element has one grammar").also(other, "given here, too")
            }
            Mistake::NotString { key, found } => {
                Diagnostic::error("F012", span, format!("`{key}` is a string, not {found}"))
            }
            Mistake::MaxTokens => error("F013", "`max_tokens` is a whole number below 2^32"),
            Mistake::KeyUnknown { key, near } => {
                let diagnostic = Diagnostic::warning("F014", span, format!("the key `{key}` has no meaning here"));
                match near {
                    Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
                    None => diagnostic,
                }
            }
            Mistake::TooMuchInside { what, name, limit } => {
                let message = format!("up to here there are more than {limit} {what} within the source");
                Diagnostic::error("F015", span, message).help(format!("the limit is `{name}`"))
            }
            Mistake::NameTwice { name, first } => {
                Diagnostic::error("G002", span, format!("two grammars are named `{name}`")).also(first, "first here")
            }
        }
    }
}
