//! `{"grammars": [{"name", "lark_grammar" | "json_schema" | …}, …], "max_tokens"}`: several grammars in one source.

use std::collections::HashMap;

use larkspur_grammar::diagnostic::did_you_mean;
use larkspur_grammar::json::{JsonDocument, JsonId, parse_json};
use larkspur_grammar::{Grammar, SourceId, Span};

use crate::compile::Reading;
use crate::front_ends::{embedded_schema, named_text};
use crate::mistake::Mistake;
use crate::source::SourceKind;

const LIST_KEYS: [&str; 2] = ["grammars", "max_tokens"];
const ELEMENT_KEYS: [&str; 6] = ["name", "lark_grammar", "json_schema", "gbnf_grammar", "kbnf_grammar", "regex"];

/// The keys of [`ELEMENT_KEYS`] that hold a grammar; all but a schema are strings.
const GRAMMAR_KEYS: [(&str, SourceKind); 5] = [
    ("lark_grammar", SourceKind::Lark),
    ("json_schema", SourceKind::JsonSchema),
    ("gbnf_grammar", SourceKind::Gbnf),
    ("kbnf_grammar", SourceKind::Kbnf),
    ("regex", SourceKind::Regex),
];

pub(crate) fn read(reading: &mut Reading, source: SourceId) -> Vec<Grammar> {
    let document = match parse_json(source, &reading.sources.get(source).text, reading.limits) {
        Ok(document) => document,
        Err(errors) => {
            reading.diagnostics.extend(errors);
            return Vec::new();
        }
    };
    reading.diagnostics.extend(document.warnings().iter().cloned());
    let root = document.root();
    if document.object(root).is_none() {
        reading.report(document.span(root), Mistake::ListNotObject { found: kind(&document, root) });
        return Vec::new();
    }
    unknown_keys(reading, &document, root, &LIST_KEYS);
    if let Some(max_tokens) = present(&document, root, "max_tokens") {
        match document.number(max_tokens).and_then(|number| number.parse().ok()) {
            Some(number) => reading.max_tokens = Some(number),
            None => reading.report(document.span(max_tokens), Mistake::MaxTokens),
        }
    }
    let Some(grammars) = present(&document, root, "grammars") else {
        reading.report(document.span(root), Mistake::GrammarsMissing);
        return Vec::new();
    };
    match document.array(grammars) {
        None => reading.report(document.span(grammars), Mistake::GrammarsNotArray { found: kind(&document, grammars) }),
        Some([]) => reading.report(document.span(grammars), Mistake::GrammarsEmpty),
        Some(elements) => return read_elements(reading, source, &document, elements),
    }
    Vec::new()
}

/// Reads every element, also after one with mistakes; all or none are returned.
fn read_elements(
    reading: &mut Reading,
    source: SourceId,
    document: &JsonDocument,
    elements: &[JsonId],
) -> Vec<Grammar> {
    let mut grammars = Vec::with_capacity(elements.len());
    let mut names: HashMap<String, Span> = HashMap::new();
    // Of `grammars`, those that are schemas.
    let mut schemas: Vec<usize> = Vec::new();
    let start = reading.options.start.clone();
    for (index, &element) in elements.iter().enumerate() {
        if !reading.has_room() {
            reading.leaves_out = true;
            break;
        }
        if document.object(element).is_none() {
            reading.report(document.span(element), Mistake::ElementNotObject { found: kind(document, element) });
            continue;
        }
        unknown_keys(reading, document, element, &ELEMENT_KEYS);
        let name = match present(document, element, "name") {
            None => String::new(),
            Some(name) => match document.string(name) {
                Some(text) => {
                    let text = text.to_owned();
                    let first = *names.entry(text.clone()).or_insert(document.span(name));
                    if first != document.span(name) && !text.is_empty() {
                        reading.report(document.span(name), Mistake::NameTwice { name: text.clone(), first });
                    }
                    text
                }
                None => {
                    let found = kind(document, name);
                    reading.report(document.span(name), Mistake::NotString { key: "name", found });
                    String::new()
                }
            },
        };
        let given: Vec<(&'static str, JsonId)> =
            GRAMMAR_KEYS.iter().filter_map(|&(key, _)| Some((key, present(document, element, key)?))).collect();
        let (key, value) = match given.as_slice() {
            [] => {
                reading.report(document.span(element), Mistake::ElementWithoutGrammar);
                continue;
            }
            &[only] => only,
            &[(_, first), (_, second), ..] => {
                reading.report(document.span(second), Mistake::ElementWithTwo { other: document.span(first) });
                continue;
            }
        };
        let kind_of_key = |(known, _): &&(&str, SourceKind)| *known == key;
        let &(_, source_kind) = GRAMMAR_KEYS.iter().find(kind_of_key).expect("a key of the table");
        if source_kind == SourceKind::JsonSchema {
            let read = embedded_schema(reading, document.span(value));
            schemas.extend((0..read.len()).map(|index| grammars.len() + index));
            grammars.extend(read.into_iter().map(|grammar| Grammar { name: name.clone(), ..grammar }));
            continue;
        }
        let Some(text) = document.string(value) else {
            reading.report(document.span(value), Mistake::NotString { key, found: kind(document, value) });
            continue;
        };
        let shown = format!("{}:grammars[{index}]", reading.sources.get(source).name);
        let own = reading.sources.add(shown, text);
        let start = start.as_deref().filter(|_| index == 0);
        grammars.extend(named_text(reading, source_kind, own, &name, start));
    }
    if reading.has_errors() {
        return Vec::new();
    }
    // As in `%json`, a value ends where the root has it.
    let mode = grammars[0].options.lexer;
    schemas.into_iter().for_each(|index| grammars[index].options.lexer = mode);
    grammars
}

/// A member; `null` is none, as programs write it that fill in every field.
fn present(document: &JsonDocument, object: JsonId, key: &str) -> Option<JsonId> {
    document.get(object, key).filter(|&value| document.type_name(value) != "null")
}

fn unknown_keys(reading: &mut Reading, document: &JsonDocument, object: JsonId, known: &[&str]) {
    for member in document.object(object).unwrap_or_default() {
        if !known.contains(&&*member.key) {
            let near = did_you_mean(&member.key, known.iter().copied()).map(str::to_owned);
            reading.report(member.key_span, Mistake::KeyUnknown { key: member.key.to_string(), near });
        }
    }
}

/// The type of a value, for a sentence.
fn kind(document: &JsonDocument, id: JsonId) -> &'static str {
    match document.type_name(id) {
        "array" => "an array",
        "object" => "an object",
        "string" => "a string",
        "number" => "a number",
        "boolean" => "a boolean",
        other => other,
    }
}
