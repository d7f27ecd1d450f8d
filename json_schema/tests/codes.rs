//! Every code's bad example gets that code and its good example none.

mod common;

use larkspur_grammar::{Diagnostic, Limits, SourceMap, Span};
use larkspur_json_schema::{CODES, SchemaOptions, compile};
use larkspur_test_support::codes::check;

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
    check(CODES, false, |_, text| diagnostics(text));
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
            "`type`, `minimum` and `maximum` at `/allOf/0/maximum` exclude each other",
            r#""maximum":0"#,
        ),
        (
            r#"{"allOf":[{"type":"string"},{"type":"integer"}]}"#,
            "`type` at `/allOf/0/type` and `type` at `/allOf/1/type` exclude each other",
            r#""type":"integer""#,
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
        (r#"{"type":"string","pattern":"$a"}"#, "no text matches `pattern`", r#""pattern":"$a""#),
        (r#"{"pattern":"[]","type":"string","minLength":1}"#, "no text matches `pattern`", r#""pattern":"[]""#),
        (r#"{"pattern":"(?!)","enum":["a"]}"#, "no text matches `pattern`", r#""pattern":"(?!)""#),
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
        assert_eq!(texts.len(), (reason.matches('`').count() - reason.matches("`/").count() * 2) / 2);
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
    for (reference, rest, near) in [
        ("Foo", r#""$defs":{"Foo":{}}"#, "#/$defs/Foo"),
        ("Foo", r#""definitions":{"Foo":{}}"#, "#/definitions/Foo"),
        ("#Foo", r#""$defs":{"Foo":{}}"#, "#/$defs/Foo"),
        ("#/Foo", r#""$defs":{"Foo":{}}"#, "#/$defs/Foo"),
        ("$defs/Foo", r#""$defs":{"Foo":{}}"#, "#/$defs/Foo"),
        ("/definitions/Foo", r#""definitions":{"Foo":{}}"#, "#/definitions/Foo"),
        ("a~b", r#""$defs":{"a~b":{}}"#, "#/$defs/a~0b"),
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
        (r#"{"type":"date"}"#, "J002", r#"`date` is a format: write `{"type": "string", "format": "date"}`"#),
        (
            r#"{"type":"DateTime"}"#,
            "J002",
            r#"`date-time` is a format: write `{"type": "string", "format": "date-time"}`"#,
        ),
        (r#"{"additionalProperties":"false"}"#, "J001", "write `false`, without quotes"),
        (r#"{"uniqueItems":"true"}"#, "J002", "write `true`, without quotes"),
        (r#"{"minLength":"3"}"#, "J002", "write `3`, without quotes"),
        (r#"{"minimum":"-1.5"}"#, "J002", "write `-1.5`, without quotes"),
        (r#"{"required":"a\"b"}"#, "J002", r#"write `["a\"b"]`"#),
        (r#"{"properties":{"a":"string"}}"#, "J001", r#"write `{"type": "string"}`"#),
        (r#"{"properties":{"type":"string"}}"#, "J001", r#"write `{"type": "string"}`"#),
        (r#"{"x-guidance":{"lenint":true}}"#, "J032", "did you mean `lenient`?"),
        (
            r#"{"a":{"type":"string"},"b":{"type":"integer"}}"#,
            "J030",
            r#"if it is the name of a property, put it into `properties`: `"properties": {"b": {…}}`"#,
        ),
        (
            r#"{"openapi":"3.0.0","info":{},"components":{"schemas":{"A/B":{"type":"null"}}}}"#,
            "J030",
            r##"this is an OpenAPI document; pick one of its schemas: `"$ref": "#/components/schemas/A~1B"`"##,
        ),
        (
            r#"{"swagger":"2.0","definitions":{"A":{}}}"#,
            "J030",
            r##"this is an OpenAPI document; pick one of its schemas: `"$ref": "#/definitions/A"`"##,
        ),
        (r#"{"$defs":{"A":{}}}"#, "J030", r##"refer to the definition that is meant: `"$ref": "#/…/…"`"##),
        (
            r#"{"$schema":"https://json-schema.org/draft-2019-09/schema#"}"#,
            "J003",
            "did you mean `https://json-schema.org/draft/2019-09/schema`?",
        ),
        (
            r#"{"$schema":"HTTP://json-schema.org/draft-07/schema#"}"#,
            "J003",
            "did you mean `http://json-schema.org/draft-07/schema#`?",
        ),
        (r#"{"dependencies":{"a":"b"}}"#, "J001", r#"write `["b"]`"#),
        (
            r#"{"type":"record","name":"A","fields":[]}"#,
            "J002",
            r#"`record` is a type of Avro, which is another language; in JSON Schema write `{"type": "object", "properties": {"…": {"type": "…"}}, "required": ["…"]}`"#,
        ),
        (
            r#"{"type":"enum","symbols":["A"]}"#,
            "J002",
            r#"`enum` is a type of Avro, which is another language; in JSON Schema write `{"enum": ["…"]}`"#,
        ),
        (r#"{"type":"enum"}"#, "J002", r#"`enum` is a keyword of its own: write `"enum": ["…"]`"#),
        (
            r##"{"items":{"$ref":"#/components/schemas/A"}}"##,
            "J004",
            "this is out of an OpenAPI document: bring its `components` along, beside the schema",
        ),
        (r#"{"type":"integer","format":"uint8"}"#, "J031", "write its bounds: `\"minimum\": 0, \"maximum\": 255`"),
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
        assert!(
            found.iter().any(|found| found.code == code && found.help.as_deref() == Some(help)),
            "{schema} {found:#?}"
        );
        assert!(found.iter().all(|found| !found.help.as_ref().is_some_and(|help| help.contains("$schema"))));
    }
    // The right place alone is named.
    for schema in [
        r#"{"type":"json_schema","json_schema":{"name":"n","schema":{}}}"#,
        r#"{"json_schema":{"name":"n","schema":{}}}"#,
    ] {
        let helps: Vec<String> = diagnostics(schema).into_iter().filter_map(|found| found.help).collect();
        assert!(!helps.is_empty() && helps.iter().all(|help| help.contains("`/json_schema/schema`")), "{helps:?}");
    }
    // OpenAPI's annotations.
    assert_eq!(
        diagnostics(r#"{"example":1,"xml":{},"externalDocs":{"url":"u"},"discriminator":{"propertyName":"t"}}"#),
        []
    );
    assert_eq!(diagnostics(r#"{"type":"string","format":"ulid"}"#)[0].help, None);
    // One that is chosen is no longer to be picked.
    let chosen =
        r##"{"openapi":"3.0.0","$ref":"#/components/schemas/A","components":{"schemas":{"A":{"type":"null"}}}}"##;
    assert_eq!(diagnostics(chosen).into_iter().map(|found| found.help).collect::<Vec<_>>(), [None]);
    assert_eq!(diagnostics(r#"{"$schema":"http://json-schema.org/draft-07/hyper-schema#","if":true}"#), []);
    for format in ["int32", "int64", "float", "double"] {
        assert_eq!(diagnostics(&format!(r#"{{"type":"number","format":"{format}"}}"#)), []);
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
fn keywords_without_effect() {
    let draft7 = r#""$schema":"http://json-schema.org/draft-07/schema#""#;
    for (schema, said, marked) in [
        (
            format!(
                r##"{{{draft7},"title":"t","default":1,"$ref":"#/definitions/a","minimum":3,"definitions":{{"a":{{}}}}}}"##
            ),
            "`minimum` at `/minimum` has no effect beside `$ref`",
            "\"minimum\"",
        ),
        (
            r#"{"prefixItems":[{}],"additionalItems":false}"#.to_owned(),
            "`additionalItems` at `/additionalItems` has no effect beside `prefixItems`",
            "\"additionalItems\"",
        ),
        (
            r#"{"minContains":1}"#.to_owned(),
            "`minContains` at `/minContains` has no effect without `contains`",
            "\"minContains\"",
        ),
        (
            r#"{"maxContains":1}"#.to_owned(),
            "`maxContains` at `/maxContains` has no effect without `contains`",
            "\"maxContains\"",
        ),
        (r#"{"then":{}}"#.to_owned(), "`then` at `/then` has no effect without `if`", "\"then\""),
        (r#"{"else":{}}"#.to_owned(), "`else` at `/else` has no effect without `if`", "\"else\""),
    ] {
        let found = diagnostics(&schema);
        let [found] = found.as_slice() else { panic!("{schema}: {found:#?}") };
        assert_eq!((found.code, found.is_error(), found.message.as_str()), ("J030", false, said));
        let span = found.labels[0].span;
        assert_eq!(&schema[span.start as usize..span.end as usize], marked);
    }
    for schema in [
        r##"{"$ref":"#/$defs/a","minimum":3,"$defs":{"a":{}}}"##,
        r#"{"contains":{},"minContains":2,"maxContains":3}"#,
        r#"{"if":{},"then":{},"else":{}}"#,
        r#"{"items":[{}],"additionalItems":false}"#,
    ] {
        assert_eq!(diagnostics(schema), [], "{schema}");
    }
    let integers = diagnostics(r#"{"type":"integer","format":"positive"}"#);
    assert_eq!(integers.iter().map(|found| found.code).collect::<Vec<_>>(), ["J031"]);
}

/// What a reference leads to has an effect, wherever it stands.
#[test]
fn places_that_references_lead_to() {
    let draft7 = r#""$schema":"http://json-schema.org/draft-07/schema#""#;
    let x = r#"{"type":"string"}"#;
    for schema in [
        format!(r##"{{{draft7},"items":{{"$ref":"#/$defs/x"}},"$defs":{{"x":{x}}}}}"##),
        format!(r##"{{{draft7},"$ref":"#/$defs/x","$defs":{{"x":{{"items":{{"$ref":"#/$defs/y"}}}},"y":{x}}}}}"##),
        format!(r##"{{"$ref":"#/components/schemas/x","components":{{"schemas":{{"x":{x}}}}}}}"##),
        format!(r##"{{{draft7},"$ref":"#/properties/x","properties":{{"x":{x}}}}}"##),
        format!(r##"{{"items":{{"$ref":"#/then"}},"then":{x}}}"##),
        // Equal schemas, of which the second one holds it.
        format!(
            r##"{{"properties":{{"a":{{"b":[{x}]}},"c":{{"b":[{x}]}},"d":{{"$ref":"#/properties/c/b/0"}}}},"x-a":0}}"##
        ),
    ] {
        let found = diagnostics(&schema);
        // Only the first one of the equal schemas says nothing.
        let pointers: Vec<&str> = found.iter().filter_map(|found| found.message.split('`').nth(3)).collect();
        let expected: &[&str] = if schema.contains("x-a") { &["/properties/a/b"] } else { &[] };
        assert_eq!(pointers, expected, "{schema}: {found:#?}");
    }
    // What leads there is not reached itself.
    let schema = format!(r##"{{{draft7},"$defs":{{"x":{{"$ref":"#/$defs/y"}},"y":{x}}}}}"##);
    assert_eq!(diagnostics(&schema).iter().map(|found| found.code).collect::<Vec<_>>(), ["J030"]);
}

/// What an object or array can do without, and must, is probably not meant.
#[test]
fn schemas_without_values_that_are_not_needed() {
    let empty = r#"{"type":"string","minLength":5,"maxLength":3}"#;
    for (schema, pointer) in [
        (r#"{"properties":{"x":<>}}"#, "/properties/x"),
        (r#"{"type":"object","properties":{"x":{"enum":[]}},"additionalProperties":false}"#, "/properties/x"),
        (r##"{"properties":{"x":{"$ref":"#/$defs/a"}},"$defs":{"a":<>}}"##, "/properties/x"),
        (r#"{"additionalProperties":<>}"#, "/additionalProperties"),
        (r#"{"patternProperties":{"^a":<>}}"#, "/patternProperties/^a"),
        (r#"{"items":{"anyOf":[<>,false]}}"#, "/items"),
        (r#"{"type":"object","propertyNames":{"type":"integer","enum":[1,2]}}"#, "/propertyNames"),
        (
            r##"{"properties":{"x":{"$ref":"#/$defs/n"}},
                "$defs":{"n":{"type":"object","required":["n"],"properties":{"n":{"$ref":"#/$defs/n"}}}}}"##,
            "/properties/x",
        ),
        (r##"{"properties":{"x":{"type":"object","required":["y"],"properties":{"y":<>}}}}"##, "/properties/x"),
    ] {
        let found = diagnostics(&schema.replace("<>", empty));
        let said: Vec<_> =
            found.iter().map(|found| (found.code, found.message.split('`').nth(1).unwrap_or(""))).collect();
        assert_eq!(said, [("J022", pointer)], "{schema}");
    }
    // Branches without values beside others that have some.
    for (schema, pointer) in [
        (r#"{"anyOf":[{"type":"number"},<>]}"#, "/anyOf/1"),
        (r#"{"properties":{"x":{"anyOf":[<>,{"type":"null"}]}}}"#, "/properties/x/anyOf/0"),
        (r#"{"items":{"oneOf":[<>,{"type":"number"}]}}"#, "/items/oneOf/0"),
        (r##"{"anyOf":[{"$ref":"#/$defs/a"},{"type":"null"}],"$defs":{"a":<>}}"##, "/anyOf/0"),
        (r#"{"anyOf":[{"type":"array","minItems":3,"maxItems":1},false,{"type":"null"}]}"#, "/anyOf/0"),
        // What must be there has no value.
        (r#"{"anyOf":[{"type":"object","properties":{"x":<>},"required":["x"]},{"type":"null"}]}"#, "/anyOf/0"),
        (r#"{"anyOf":[{"type":"string"},{"type":"object","required":["a"],"properties":{"a":false}}]}"#, "/anyOf/1"),
        (r#"{"oneOf":[{"type":"object","required":["a"],"additionalProperties":false},{"type":"null"}]}"#, "/oneOf/0"),
        (
            r##"{"anyOf":[{"type":"null"},{"required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}},"type":"object"}],
                "$defs":{"a":{"type":"object","required":["b"],"properties":{"b":{"not":{}}}}}}"##,
            "/anyOf/1",
        ),
        (r#"{"anyOf":[{"type":"null"},{"type":"array","minItems":1,"items":{"not":{}}}]}"#, "/anyOf/1"),
    ] {
        let found = diagnostics(&schema.replace("<>", empty));
        let [found] = found.as_slice() else { panic!("{schema}: {found:?}") };
        let message = format!("no value is valid for the schema at `{pointer}`, so that this branch is never taken");
        assert_eq!((found.code, &found.message), ("J022", &message));
    }
    // Each of equal schemas, as what it is.
    let found = diagnostics(
        &r#"{"properties":{"x":<>,"y":{"anyOf":[<>,{"type":"null"}]}},"required":["z"]}"#.replace("<>", empty),
    );
    let said: Vec<_> = found.iter().map(|found| found.message.rsplit(' ').next().unwrap_or("")).collect();
    assert_eq!(said, ["property", "taken"]);
    let found = diagnostics(&r#"{"properties":{"x":<>,"y":<>}}"#.replace("<>", empty));
    assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), ["J022", "J022"]);
    for schema in [
        r#"{"properties":{"x":false,"y":{"not":{}}},"additionalProperties":false,"items":false}"#,
        r##"{"properties":{"x":{"$ref":"#/$defs/never"}},"propertyNames":{"$ref":"#/$defs/string"},
            "$defs":{"never":false,"string":{"minLength":1}}}"##,
        r#"{"anyOf":[{"type":"object","properties":{"x":{"type":"string"},"y":false},"required":["x"]},{"type":"null"}]}"#,
        r#"{"anyOf":[{"type":["object","boolean"],"properties":{"x":false},"required":["x"]},{"type":"null"}]}"#,
        r#"{"anyOf":[{"type":["object","string"],"properties":{"x":false},"required":["x"]},{"type":"null"}]}"#,
        r#"{"allOf":[{"properties":{"x":{"type":"string"}}},{"properties":{"x":{"type":"null"}}}]}"#,
    ] {
        assert_eq!(diagnostics(&schema.replace("<>", empty)), [], "{schema}");
    }
}

#[test]
fn an_array_in_items_behind_prefix_items() {
    let schema = r#"{"type":"array","prefixItems":[{"type":"integer"}],"items":[{"type":"string"}]}"#;
    let found = diagnostics(schema);
    let [found] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(found.message, "`items` at `/items` takes one schema for what stands behind `prefixItems`");
    let span = found.labels[0].span;
    assert_eq!(&schema[span.start as usize..span.end as usize], r#"[{"type":"string"}]"#);
    // Before 2020-12 there is no `prefixItems`.
    let old = schema.replacen('{', r#"{"$schema":"http://json-schema.org/draft-07/schema#","#, 1);
    assert_eq!(diagnostics(&old).iter().map(|found| found.code).collect::<Vec<_>>(), ["J030"]);
}

#[test]
fn keywords_inside_properties() {
    let belongs = |keyword: &str| {
        format!("the keyword `{keyword}` belongs beside `properties`, not inside it, where names of properties stand")
    };
    for (schema, code, message, help) in [
        (
            r#"{"properties":{"a":{},"required":["a"]}}"#,
            "J001",
            "a schema is an object or a boolean; at `/properties/required` stands an array",
            belongs("required"),
        ),
        (
            r#"{"properties":{"type":"object","properties":{"a":{},"b":{}}}}"#,
            "J001",
            "a schema is an object or a boolean; at `/properties/type` stands a string",
            belongs("type"),
        ),
        (
            r#"{"type":"object","properties":{"a":{},"additionalProperties":false}}"#,
            "J030",
            "`additionalProperties` at `/properties/additionalProperties` is the name of a property, which no object may \
             then have",
            "the keyword `additionalProperties` belongs beside `properties`, not inside it".to_owned(),
        ),
    ] {
        let found = diagnostics(schema);
        let [found] = found.as_slice() else { panic!("{schema}: {found:#?}") };
        assert_eq!((found.code, found.message.as_str(), found.help.clone()), (code, message, Some(help)));
    }
    // Properties that are called so.
    assert_eq!(diagnostics(r#"{"properties":{"type":{},"properties":{"title":"t"},"additionalProperties":{}}}"#), []);
}

#[test]
fn white_space_that_there_is_not() {
    use larkspur_json_schema::Spelling;
    for options in [r#"{"whitespace":"compact"}"#, r#"{"profile":"validate","whitespace":"compact"}"#] {
        let schema = format!(r#"{{"type":"integer","x-larkspur":{options}}}"#);
        for spelling in [Spelling::generator(), Spelling::validator()] {
            let grammar = common::spelled(&common::shared(), &schema, &spelling).expect("it compiles");
            assert_eq!(grammar.warnings(), [], "{schema}");
        }
    }
}

/// The bounds are those of work and of alternatives, which double with each `if`.
#[test]
fn unevaluated_properties_of_many_branches() {
    let with = |count: usize| {
        let branch = |at: usize| {
            format!(
                r#"{{"if":{{"properties":{{"k{at}":{{"const":1}}}},"required":["k{at}"]}},"then":{{"properties":{{"v{at}":true}}}}}}"#
            )
        };
        let branches: Vec<String> = (0..count).map(branch).collect();
        let names: Vec<String> = (0..count).map(|at| format!(r#""k{at}":true"#)).collect();
        format!(
            r#"{{"type":"object","properties":{{{}}},"allOf":[{}],"unevaluatedProperties":false}}"#,
            names.join(","),
            branches.join(",")
        )
    };
    assert_eq!(diagnostics(&with(8)), []);
    let found = diagnostics(&with(9));
    let [found] = found.as_slice() else { panic!("{found:#?}") };
    assert_eq!(found.code, "J040");
    assert!(found.help.as_ref().is_some_and(|help| help.starts_with("`unevaluatedProperties` asks")), "{found:?}");
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
