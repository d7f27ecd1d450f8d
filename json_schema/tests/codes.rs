//! Every code's bad example gets that code and its good example none.

mod common;

use larkspur_grammar::{Diagnostic, Limits, SourceMap, Span};
use larkspur_json_schema::{CODES, SchemaOptions, compile};

fn diagnostics(text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let source = sources.add("schema.json", text);
    let limits = Limits::default();
    let parsed = compile(&mut sources, Span::new(source, 0, text.len()), &SchemaOptions::new(&limits));
    assert_eq!(parsed.grammar.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    parsed.diagnostics
}

#[test]
fn examples() {
    let mut failures = Vec::new();
    for info in CODES {
        let found = |text: &str| -> Vec<_> { diagnostics(text).into_iter().map(|d| (d.code, d.message)).collect() };
        if !info.bad.is_empty() {
            let codes = found(info.bad);
            if codes.is_empty() || codes.iter().any(|(code, _)| *code != info.code) {
                failures.push(format!("{}: bad example gets {codes:?}", info.code));
            }
            let codes = found(info.good);
            if !codes.is_empty() {
                failures.push(format!("{}: good example gets {codes:?}", info.code));
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn codes_are_sorted_and_unique() {
    assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
}

#[test]
fn messages_name_keyword_and_pointer() {
    let text = r#"{"properties": {"a/b": {"const": 1e20000}}}"#;
    let found = diagnostics(text);
    assert_eq!(found.len(), 1);
    let span = found[0].labels[0].span;
    assert_eq!(&text[span.start as usize..span.end as usize], "1e20000");
    assert!(found[0].message.starts_with("`const` at `/properties/a~1b/const` cannot be enforced"));
}

#[test]
fn mistakes_in_patterns_have_their_pointer() {
    for (schema, pointer) in [
        (r#"{"properties":{"a":{"pattern":"(b)\\1"}}}"#, "in `/properties/a/pattern`"),
        (r#"{"items":{"patternProperties":{"a(":true}}}"#, "in `/items/patternProperties`"),
    ] {
        let labels: Vec<String> = diagnostics(schema).into_iter().map(|d| d.labels[0].message.clone()).collect();
        assert_eq!(labels, [pointer], "{schema}");
    }
}

/// Of equal sub-schemas one stands for all, but what is wrong is said of each, at its own place.
#[test]
fn mistakes_of_equal_schemas_are_said_of_each() {
    let mistakes = [
        (r#"{"minLenght":3}"#, "J030", "minLenght"),
        (r#"{"minLength":"3"}"#, "J002", "\"3\""),
        (r#"{"type":"strin"}"#, "J002", "\"strin\""),
        (r#"{"format":"e-mail"}"#, "J031", "\"e-mail\""),
        (r#"{"pattern":"a\\d(b"}"#, "R", "("),
        (r#"{"patternProperties":{"\\u0061[b":true}}"#, "R", "["),
        (r##"{"$ref":"#/$defs/none"}"##, "J004", "\"#/$defs/none\""),
        (r#"{"not":{"uniqueItems":true}}"#, "J012", "{\"uniqueItems\":true}"),
        (r#"{"multipleOf":0}"#, "J002", "0"),
        (r#"{"properties":{"p":1}}"#, "J001", "1"),
    ];
    for (mistake, code, text) in mistakes {
        let inner = format!(r#"{{"type":["object","string","array"],"properties":{{"x":{mistake}}}}}"#);
        // The second one is written in another way, and within one that stands twice itself.
        let spaced = format!(
            "{{ \"title\": \"t\", \"type\": [\"object\" ,\"string\",\"array\"], \"properties\": {{ \"x\":\n{mistake} }} }}"
        );
        let outer = |place: &str| format!(r#"{{"description":"{place}","items":{spaced}}}"#);
        let schema = format!(r#"{{"properties":{{"a":{inner},"b":{},"c":{}}}}}"#, outer("first"), outer("second"));
        let found = diagnostics(&schema);
        let pointers =
            ["/properties/a/properties/x", "/properties/b/items/properties/x", "/properties/c/items/properties/x"];
        assert_eq!(found.len(), pointers.len(), "{schema} {found:#?}");
        for (diagnostic, pointer) in found.iter().zip(pointers) {
            let span = diagnostic.labels[0].span;
            let marked = &schema[span.start as usize..span.end as usize];
            assert!(diagnostic.code.starts_with(code), "{schema} {diagnostic:?}");
            assert!(marked.contains(text) || text.contains(marked), "{marked:?} in {schema}");
            let said = format!("{} {}", diagnostic.message, diagnostic.labels[0].message);
            assert!(said.contains(pointer), "{said:?} of {schema}");
        }
    }
}

#[test]
fn of_equal_schemas_that_one_is_at_fault_which_is_needed() {
    let found = diagnostics(
        r#"{"type":"object","properties":{"a":{"type":"string","enum":[1]},"b":{"type":"string","enum":[1]}},"required":["b"]}"#,
    );
    let [diagnostic] = found.as_slice() else { panic!("{found:#?}") };
    assert!(diagnostic.code == "J020" && diagnostic.message.contains("`/properties/b`"), "{diagnostic:?}");
}

#[test]
fn keywords_that_exclude_each_other_are_named_and_marked() {
    for (schema, reason, marked) in [
        (
            r#"{"minimum":5,"title":"A","type":"integer","maximum":3}"#,
            "`minimum`, `type` and `maximum` exclude each other",
            r#""maximum":3"#,
        ),
        (
            r#"{"type":"integer","minimum":1,"allOf":[{"maximum":0},{"multipleOf":2}]}"#,
            "`type`, `minimum` and `maximum` exclude each other",
            r#""maximum":0"#,
        ),
        (
            r#"{"type":"string","format":"date","minLength":40}"#,
            "`type`, `format` and `minLength` exclude each other",
            r#""minLength":40"#,
        ),
        (
            r#"{"type":"string","pattern":"^a","enum":["b","c"]}"#,
            "`pattern` and `enum` exclude each other",
            r#""enum":["b","c"]"#,
        ),
        (
            r##"{"$defs":{"a":{"enum":[1,2]}},"$ref":"#/$defs/a","minimum":3}"##,
            "`$ref` and `minimum` exclude each other",
            r#""minimum":3"#,
        ),
        (
            r#"{"type":"object","properties":{"a":true},"additionalProperties":false,"required":["a","b"]}"#,
            "`type`, `additionalProperties` and `required` exclude each other",
            r#""required":["a","b"]"#,
        ),
        (r#"{"description":"nothing","not":{}}"#, "`not` leaves none", r#""not":{}"#),
    ] {
        let found = diagnostics(schema);
        let [diagnostic] = found.as_slice() else { panic!("{schema}: {found:#?}") };
        assert_eq!(diagnostic.code, "J020");
        assert_eq!(diagnostic.message, format!("no value is valid for the schema at the root: {reason}"));
        let texts: Vec<&str> =
            diagnostic.labels.iter().map(|label| &schema[label.span.start as usize..label.span.end as usize]).collect();
        assert_eq!(texts[0], marked);
        // The others, in the order in which they are named.
        for text in &texts[1..] {
            assert!(reason.contains(&format!("`{}`", text.trim_matches('"'))), "{text} in {schema}");
        }
        assert_eq!(texts.len(), reason.matches('`').count() / 2);
    }
}

#[test]
fn what_was_perhaps_meant() {
    for (schema, near) in [
        (r#"{"type":"objct"}"#, "object"),
        (r#"{"type":["null","strng"]}"#, "string"),
        (r#"{"type":"int"}"#, "integer"),
        (r#"{"type":"Boolean"}"#, "boolean"),
        (r#"{"format":"emial"}"#, "email"),
        (r#"{"format":"dat-time"}"#, "date-time"),
        (r##"{"$ref":"#/$defs/foo","$defs":{"fooo":{},"bar":{}}}"##, "#/$defs/fooo"),
        (r##"{"$ref":"#/propertis/a","properties":{"a":{}}}"##, "#/properties/a"),
        (r##"{"$ref":"#/$defs/a~1c","$defs":{"a/b":{}}}"##, "#/$defs/a~1b"),
        (r##"{"$ref":"#nmae","$defs":{"a":{"$anchor":"name"}}}"##, "#name"),
    ] {
        let found = diagnostics(schema);
        assert_eq!(found.len(), 1, "{schema}: {found:?}");
        assert_eq!(found[0].help, Some(format!("did you mean `{near}`?")), "{schema}");
    }
    for (reference, rest, near) in [
        ("#/definitions/foo", r#""$defs":{"foo":{}}"#, "#/$defs/foo"),
        ("#/$defs/foo", r#""definitions":{"foo":{}}"#, "#/definitions/foo"),
        ("#/definitions/foo", r#""definitions":{"fob":{}},"$defs":{"foo":{}}"#, "#/$defs/foo"),
        ("#/definitions/foo", r#""$defs":{"fooo":{}}"#, "#/$defs/fooo"),
        ("#/definitions/a/items", r#""$defs":{"a":{"items":{}}}"#, "#/$defs/a/items"),
        ("#definitions/a", r#""definitions":{"a":{}}"#, "#/definitions/a"),
        ("#definitions/a", r#""$defs":{"a":{}}"#, "#/$defs/a"),
    ] {
        let found = diagnostics(&format!(r#"{{"$ref":"{reference}",{rest}}}"#));
        assert_eq!(found.len(), 1, "{reference} {rest}: {found:?}");
        assert_eq!(found[0].help, Some(format!("did you mean `{near}`?")), "{reference} {rest}");
    }
    assert_eq!(diagnostics(r##"{"$ref":"#/$defs/a","$defs":{"quite another":{}}}"##)[0].help, None);
    assert_eq!(diagnostics(r#"{"type":7}"#)[0].help, None);
}

/// Forms of other drafts and of other formats.
#[test]
fn ways_out_of_what_others_write() {
    let draft4 = "http://json-schema.org/draft-04/schema#";
    for (schema, code, help) in [
        (
            r#"{"minimum":5,"exclusiveMinimum":true}"#,
            "J002",
            r#"this is draft 4's form; write `"exclusiveMinimum": 5`, and leave `minimum` out"#,
        ),
        (r#"{"exclusiveMaximum":true}"#, "J002", r#"this is draft 4's form; write `"exclusiveMaximum": <maximum>`"#),
        (r#"{"minimum":5,"exclusiveMinimum":false}"#, "J002", "this is draft 4's form; leave it out"),
        (
            r#"{"properties":{"a/\"b":{"type":"string","required":true}}}"#,
            "J002",
            r#"this is draft 3's form; list the property in its object: `"required": ["a/\"b"]`"#,
        ),
        (
            r#"{"properties":{"a":{"required":false}}}"#,
            "J002",
            "this is draft 3's form; leave it out: only what the object's `required` lists is required",
        ),
        (r#"{"required":true}"#, "J002", r#"list the names of the properties that are required: `"required": ["…"]`"#),
        (r#"{"type":"string","nullable":true}"#, "J030", r#"this is OpenAPI's; write `"type": ["string", "null"]`"#),
        (
            r##"{"$ref":"#/$defs/a","nullable":true,"$defs":{"a":{}}}"##,
            "J030",
            r#"this is OpenAPI's; write `"anyOf": [{…}, {"type": "null"}]`"#,
        ),
        (r#"{"type":["string","null"],"nullable":true}"#, "J030", "this is OpenAPI's; leave it out"),
        (r#"{"type":"string","nullable":false}"#, "J030", "this is OpenAPI's; leave it out"),
        (r#"{"type":"any"}"#, "J002", "leave `type` out where any value is valid"),
        (r#"{"type":"float"}"#, "J002", "did you mean `number`?"),
        (r#"{"type":"None"}"#, "J002", "did you mean `null`?"),
        (r#"{"type":["string",null]}"#, "J002", r#"the name of the type is a string: write `"null"`"#),
        (r#"{"type":"string, null"}"#, "J002", r#"write `["string", "null"]`"#),
        (r#"{"type":"str | None"}"#, "J002", r#"write `["string", "null"]`"#),
        (
            r#"{"schema":{"type":"object"},"description":"d"}"#,
            "J030",
            "this describes a schema or a tool; the schema itself stands at `/schema`: give that alone",
        ),
        (
            r#"{"type":"function","function":{"name":"f","parameters":{}}}"#,
            "J002",
            "this is a tool's definition; the schema itself stands at `/function/parameters`: give that alone",
        ),
        (
            r#"{"type":"function","name":"f","parameters":{}}"#,
            "J002",
            "this is a tool's definition; the schema itself stands at `/parameters`: give that alone",
        ),
        (
            r#"{"type":"json_schema","json_schema":{"name":"n","schema":{}}}"#,
            "J002",
            "this is a response format; the schema itself stands at `/json_schema/schema`: give that alone",
        ),
    ] {
        let found = diagnostics(schema);
        assert!(found.iter().any(|found| found.code == code && found.help.as_deref() == Some(help)), "{found:#?}");
        assert!(found.iter().all(|found| !found.help.as_ref().is_some_and(|help| help.contains("$schema"))));
    }
    // One that is not the root is no wrapper, and draft 4 has its booleans.
    assert_eq!(diagnostics(r#"{"properties":{"a":{"parameters":{}}}}"#)[0].help, None);
    let old = format!(r#"{{"$schema":"{draft4}","minimum":5,"exclusiveMinimum":true}}"#);
    assert_eq!(diagnostics(&old), []);
    let found = diagnostics(&old.replace("true", "\"5\""));
    assert_eq!(found[0].message, "`exclusiveMinimum` at `/exclusiveMinimum` takes a boolean");
    // Of equal schemas each is named.
    let found = diagnostics(r#"{"properties":{"a":{"required":true},"b":{"required":true}}}"#);
    let names = found.iter().map(|found| found.help.clone().unwrap_or_default());
    assert!(names.zip(["[\"a\"]", "[\"b\"]"]).all(|(help, name)| help.contains(name)), "{found:#?}");
}

#[test]
fn names_and_definitions_of_the_wrong_type() {
    for (schema, keyword, expected) in [
        (r#"{"$id":5}"#, "$id", "a string"),
        (r#"{"$anchor":5}"#, "$anchor", "a string"),
        (r#"{"$dynamicAnchor":[]}"#, "$dynamicAnchor", "a string"),
        (r#"{"$defs":[]}"#, "$defs", "an object"),
        (r#"{"definitions":"a"}"#, "definitions", "an object"),
        (r#"{"$schema":"http://json-schema.org/draft-04/schema#","id":5}"#, "id", "a string"),
    ] {
        let found = diagnostics(schema);
        assert_eq!(found.len(), 1, "{schema}: {found:?}");
        assert_eq!(found[0].message, format!("`{keyword}` at `/{keyword}` takes {expected}"));
    }
    // Equal schemas that have no such mistake say nothing of it.
    assert_eq!(diagnostics(r#"{"properties":{"a":{"type":"string"},"b":{"$id":5,"type":"string"}}}"#).len(), 1);
    // Of later drafts it is no keyword.
    assert_eq!(diagnostics(r#"{"id":5}"#), []);
}

#[test]
fn options_that_there_are_not() {
    let schema = r#"{"x-larkspur":{"profil":"generate","other":1}}"#;
    let found = diagnostics(schema);
    let place = |diagnostic: &Diagnostic| {
        let span = diagnostic.labels[0].span;
        &schema[span.start as usize..span.end as usize]
    };
    assert_eq!(found.iter().map(place).collect::<Vec<_>>(), [r#""profil""#, r#""other""#]);
    assert_eq!(found[0].help.as_deref(), Some("did you mean `profile`?"));
    assert_eq!(found[1].help, None);
}

#[test]
fn a_wrong_type_hides_nothing() {
    let schema = r#"{"type":"objct","minLength":-1,"properties":{"a":{"type":"strng","pattern":"("}}}"#;
    let codes: Vec<&str> = diagnostics(schema).iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes.iter().filter(|&&code| code == "J002").count(), 3, "{codes:?}");
    assert_eq!(codes.len(), 4, "{codes:?}");
}

#[test]
fn counts_that_are_too_large() {
    for (schema, keyword) in [
        (r#"{"type":"array","maxItems":1e30}"#, "maxItems"),
        (r#"{"type":"array","minItems":4294967296}"#, "minItems"),
        (r#"{"type":"string","maxLength":1e30}"#, "maxLength"),
    ] {
        let found = diagnostics(schema);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].code, "J040");
        assert_eq!(found[0].message, format!("`{keyword}` at `/{keyword}` is over the limit of 4294967294"));
        let span = found[0].labels[0].span;
        assert!(schema[span.start as usize..span.end as usize].parse::<f64>().is_ok(), "{schema}");
    }
}
