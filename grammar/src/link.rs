//! Linking: all grammars of a source in one table, every embed pointing at its target.

use rustc_hash::FxHashMap;

use crate::diagnostic::{CodeInfo, Diagnostic, did_you_mean};
use crate::indentation;
use crate::index::IndexVec;
use crate::ir::{EmbedKind, Grammar, GrammarId};
use crate::span::Span;

/// Codes of this module.
pub const CODES: &[CodeInfo] = &[
    CodeInfo {
        code: "G001",
        title: "undefined grammar",
        explanation: "`@name` stands for another grammar of the same list. A single text has none; nest it with \
                      `%lark { … }`.",
        bad: "start: @number\n",
        good: "start: %lark {\n  start: /[0-9]+/\n}\n",
    },
    CodeInfo {
        code: "G002",
        title: "two grammars of one name",
        explanation: "The grammars of a list have different names, or none.",
        bad: "{\"grammars\": [{\"name\": \"a\", \"lark_grammar\": \"start: @a\"}, {\"name\": \"a\", \"lark_grammar\": \"start: \\\"x\\\"\"}]}",
        good: "{\"grammars\": [{\"name\": \"a\", \"lark_grammar\": \"start: @b\"}, {\"name\": \"b\", \"lark_grammar\": \"start: \\\"x\\\"\"}]}",
    },
];

/// Grammars that refer to each other by id; every [`Embed::target`](crate::Embed::target) is set.
#[derive(Clone, Debug)]
pub struct LinkedGrammar {
    /// The grammars; the root is not necessarily first.
    pub grammars: IndexVec<GrammarId, Grammar>,
    /// Where the text starts.
    pub root: GrammarId,
}

/// Unknown names for which a like one is looked for; more help nobody.
const NAMES_EXPLAINED_MAX: usize = 20;

/// Names that an unknown one is compared with.
const NAMES_COMPARED_MAX: usize = 10_000;

/// Links `grammars`, of which the first is the root and all can be named as `@name`.
/// `read` turns the text of a `%json` or other body into a grammar; it is given the word behind the `%`.
///
/// Errors: an unknown `@name` (`G001`), two grammars of one name (`G002`), and what `read` reports.
pub fn link(
    grammars: Vec<Grammar>,
    mut read: impl FnMut(&'static str, Span) -> Result<Grammar, Vec<Diagnostic>>,
) -> Result<LinkedGrammar, Vec<Diagnostic>> {
    assert!(!grammars.is_empty(), "there is a root grammar");
    let mut named: FxHashMap<String, GrammarId> = FxHashMap::default();
    let mut diagnostics = Vec::new();
    for (index, grammar) in grammars.iter().enumerate() {
        let name = &grammar.name;
        let is_new = !named.contains_key(name);
        if is_new {
            named.insert(name.clone(), GrammarId(index as u32));
        } else if !name.is_empty() {
            diagnostics.push(Diagnostic::new(
                "G002",
                crate::Severity::Error,
                None,
                format!("two grammars are named `{name}`"),
            ));
        }
    }
    let mut table: IndexVec<GrammarId, Grammar> = grammars.into();
    let mut next = 0;
    while next < table.len() {
        let id = GrammarId(next as u32);
        next += 1;
        for embed_id in table[id].embeds.ids() {
            let embed = &mut table[id].embeds[embed_id];
            let span = embed.span;
            let target = match std::mem::replace(&mut embed.kind, EmbedKind::Named(String::new())) {
                EmbedKind::Named(name) => {
                    let found = named.get(&name).copied();
                    if found.is_none() {
                        let mut diagnostic =
                            Diagnostic::error("G001", span, format!("there is no grammar named `{name}`"));
                        let names = named.keys().map(String::as_str).filter(|name| !name.is_empty());
                        let compared = if diagnostics.len() < NAMES_EXPLAINED_MAX { NAMES_COMPARED_MAX } else { 0 };
                        if let Some(near) = did_you_mean(&name, names.take(compared)) {
                            diagnostic = diagnostic.help(format!("did you mean `@{near}`?"));
                        } else if ["json", "lark", "regex", "gbnf", "kbnf"].contains(&name.as_str()) {
                            diagnostic = diagnostic.help(format!("did you mean `%{name} {{ … }}`?"));
                        }
                        diagnostics.push(diagnostic);
                    }
                    table[id].embeds[embed_id].kind = EmbedKind::Named(name);
                    found
                }
                EmbedKind::Text { language, body } => {
                    table[id].embeds[embed_id].kind = EmbedKind::Text { language, body };
                    match read(language, body) {
                        Ok(grammar) => Some(table.push(grammar)),
                        Err(errors) => {
                            diagnostics.extend(errors);
                            None
                        }
                    }
                }
                EmbedKind::Inline(grammar) => Some(table.push(*grammar)),
            };
            table[id].embeds[embed_id].target = target;
        }
    }
    for id in table.ids() {
        let Some(indenter) = table[id].indenter.clone() else { continue };
        match indentation::rewrite(&table[id], &indenter) {
            Ok((mut outer, inner)) => {
                let target = inner.map(|inner| table.push(inner));
                for embed in outer.embeds.iter_mut().filter(|embed| embed.target.is_none()) {
                    embed.target = target;
                }
                table[id] = outer;
            }
            Err(errors) => diagnostics.extend(errors),
        }
    }
    if diagnostics.is_empty() { Ok(LinkedGrammar { grammars: table, root: GrammarId(0) }) } else { Err(diagnostics) }
}
