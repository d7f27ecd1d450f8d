//! Warnings of what is wrong in definitions that no reference leads to.
//!
//! They are not read, since nothing depends on them. Only keywords whose values are of the wrong kind are told, which shows
//! at a glance; whoever refers to the definition learns of the rest.

use larkspur_grammar::json::{JsonDocument, JsonId};

use crate::ast::Types;
use crate::draft::Dialect;
use crate::error::Sink;
use crate::parser::parse_member;
use crate::refs::{Resources, schemas_in};

/// Cost: linear in the definitions that are not used.
pub(crate) fn check_unused(document: &JsonDocument, resources: &Resources, sink: &mut Sink) {
    let root = document.root();
    let dialect = resources.dialect(document, root);
    let mut unused = Vec::new();
    for member in document.object(root).unwrap_or_default() {
        if ["$defs", "definitions"].contains(&&*member.key) && dialect.keyword(&member.key).is_some() {
            let definitions = document.object(member.value).unwrap_or_default().iter().map(|member| member.value);
            unused.extend(definitions.filter(|&definition| !resources.is_led_into(document, definition)));
        }
    }
    sink.is_unused = true;
    while let Some(schema) = unused.pop() {
        check(document, resources, dialect, schema, sink);
        unused.extend(schemas_in(document, schema, dialect, true));
    }
    sink.is_unused = false;
}

fn check(document: &JsonDocument, resources: &Resources, dialect: Dialect, schema: JsonId, sink: &mut Sink) {
    for member in document.object(schema).unwrap_or_default() {
        if is_wrong(document, &member.key, member.value) && dialect.keyword(&member.key).is_some() {
            parse_member(document, resources, schema, member, sink);
        }
    }
}

/// Whether a keyword takes another kind of value.
fn is_wrong(document: &JsonDocument, keyword: &str, value: JsonId) -> bool {
    match keyword {
        "type" => {
            let names = document.array(value).unwrap_or(std::slice::from_ref(&value));
            names.iter().any(|&name| document.string(name).and_then(Types::named).is_none())
        }
        // By draft a number or a boolean.
        "exclusiveMinimum" | "exclusiveMaximum" => document.number(value).is_none() && document.bool(value).is_none(),
        "minimum" | "maximum" | "multipleOf" | "minLength" | "maxLength" | "minItems" | "maxItems"
        | "minProperties" | "maxProperties" => document.number(value).is_none(),
        "properties" | "patternProperties" => document.object(value).is_none(),
        "enum" | "allOf" | "anyOf" | "oneOf" => document.array(value).is_none(),
        "pattern" | "format" => document.string(value).is_none(),
        _ => false,
    }
}
