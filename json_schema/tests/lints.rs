//! Warnings that lead to what was meant, and where they must not come.

mod common;

use common::{accepts, compiled_as, compiled_with, shared};
use larkspur_grammar::{Diagnostic, Limits};
use larkspur_json_schema::{Draft, SchemaOptions, Spelling};

const DRAFT4: &str = r#""$schema":"http://json-schema.org/draft-04/schema#""#;
const DRAFT7: &str = r#""$schema":"http://json-schema.org/draft-07/schema#""#;

fn diagnostics(schema: &str) -> Vec<Diagnostic> {
    compiled_with(&shared(), schema, Draft::Draft2020).1
}

/// What is said of the schema, in short: code, and what stands in the first two places for names.
fn said(schema: &str) -> Vec<(&'static str, String)> {
    let names = |found: &Diagnostic| found.message.split('`').skip(1).step_by(2).take(1).collect::<String>();
    diagnostics(schema).iter().map(|found| (found.code, names(found))).collect()
}

#[test]
fn keywords_of_other_types() {
    for (schema, keyword) in [
        (r#"{"type":"integer","minLength":3}"#, "minLength"),
        (r#"{"type":["integer","null"],"pattern":"a"}"#, "pattern"),
        (r#"{"type":"array","properties":{"a":{}}}"#, "properties"),
        (r#"{"type":"object","items":{"type":"string"}}"#, "items"),
        (r#"{"type":"integer","format":"date"}"#, "format"),
        (r#"{"type":"string","minimum":1}"#, "minimum"),
        (r#"{"type":"string","uniqueItems":true}"#, "uniqueItems"),
        (r#"{"not":{"type":"string","required":["a"]}}"#, "required"),
    ] {
        assert_eq!(said(schema), [("J030", keyword.to_owned())], "{schema}");
        assert!(diagnostics(schema)[0].message.ends_with("has no effect beside `type`"), "{schema}");
    }
    for schema in [
        r#"{"type":["integer","string"],"minLength":3}"#,
        r#"{"type":"integer","format":"int64"}"#,
        r#"{"type":"string","format":"int64"}"#,
        r#"{"type":"integer","multipleOf":2,"maximum":10}"#,
        r#"{"minLength":3,"anyOf":[{"type":"integer"},{"type":"string"}]}"#,
        // What programs write that fill in every field.
        r#"{"type":"string","properties":{},"required":[],"minItems":0,"uniqueItems":false,"additionalProperties":true}"#,
        r##"{"type":"array","properties":{"a":{"type":"string"}},"items":{"$ref":"#/properties/a"}}"##,
    ] {
        assert_eq!(said(schema), [], "{schema}");
    }
}

#[test]
fn conditions_and_elements_that_say_nothing() {
    assert_eq!(said(r#"{"if":{"type":"string"}}"#), [("J030", "if".to_owned())]);
    assert_eq!(said(r#"{"if":{"required":["a"]},"unevaluatedProperties":false}"#), []);
    assert_eq!(said(r#"{"allOf":[{"if":{"required":["a"]}}],"unevaluatedProperties":false}"#), []);
    let schema = format!(r#"{{{DRAFT7},"items":{{"type":"string"}},"additionalItems":false}}"#);
    assert_eq!(said(&schema), [("J030", "additionalItems".to_owned())]);
    assert_eq!(said(r#"{"additionalItems":false}"#), [("J030", "additionalItems".to_owned())]);
    assert_eq!(said(r#"{"items":[{"type":"string"}],"additionalItems":false}"#), []);
}

#[test]
fn required_names_that_are_nearly_properties() {
    let found = diagnostics(r#"{"properties":{"C":{"type":"string"}},"required":["c"]}"#);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].help.as_deref(), Some("did you mean the property `C`?"));
    for schema in [
        r#"{"properties":{"C":{}},"patternProperties":{"^c":{"type":"string"}},"required":["c"]}"#,
        r#"{"properties":{"C":{}},"required":["c","C"]}"#,
        r#"{"properties":{"C":{}},"required":["c"],"anyOf":[{"properties":{"c":{"type":"string"}}},{"maxProperties":3}]}"#,
        r#"{"properties":{"C":{}},"required":["d"]}"#,
        // Names may differ little: of three characters by one, and of many by two.
        r#"{"properties":{"guid":{}},"required":["gid"]}"#,
        r#"{"properties":{"created":{}},"required":["created_at"]}"#,
        r#"{"properties":{"npmRepository":{}},"required":["repository"]}"#,
        r#"{"properties":{"name":{}},"required":["nane","name"]}"#,
    ] {
        assert_eq!(said(schema), [], "{schema}");
    }
}

#[test]
fn required_names_with_a_slip_of_the_pen() {
    for (properties, required, near) in [
        (r#""name":{"type":"string"}"#, "nane", "name"),
        (r#""name":{"type":"string"}"#, "nmae", "name"),
        (r#""lastUpdateData":{},"lastUpdate":{}"#, "lastUpdateDate", "lastUpdateData"),
        (r#""Buckets":{},"Basket":{}"#, "Bucket", "Buckets"),
    ] {
        let schema = format!(r#"{{"properties":{{{properties}}},"required":["{required}"]}}"#);
        let found = diagnostics(&schema);
        let [found] = found.as_slice() else { panic!("{schema}: {found:?}") };
        let span = found.labels[0].span;
        assert_eq!(&schema[span.start as usize..span.end as usize], format!("\"{required}\""));
        assert_eq!((found.code, found.is_error()), ("J034", false), "{schema}");
        assert_eq!(found.help, Some(format!("did you mean the property `{near}`?")), "{schema}");
    }
    // Where no other property may be there, more is a slip.
    let schema = r#"{"properties":{"created":{"type":"string"}},"required":["creatdd"],"additionalProperties":false}"#;
    let closed = |required: &str| said(&schema.replace("creatdd", required));
    for required in ["creatdd", "craeted_", "gcraeted"] {
        assert_eq!(closed(required), [("J034", required.to_owned())], "{required}");
    }
    assert_eq!(closed("published"), []);
    // What is compared is bounded.
    let names = |prefix: &str| (0..5_000).map(|i| format!("{prefix}{i:05}")).collect::<Vec<_>>();
    let properties: Vec<String> = names("property").iter().map(|name| format!("\"{name}\":{{}}")).collect();
    let schema =
        format!(r#"{{"properties":{{{}}},"required":["{}"]}}"#, properties.join(","), names("propertx").join("\",\""));
    let begin = std::time::Instant::now();
    diagnostics(&schema);
    assert!(begin.elapsed() < std::time::Duration::from_secs(5), "{:?}", begin.elapsed());
}

/// What no reference leads to is not read, but wrong values are told.
#[test]
fn definitions_that_are_not_used() {
    for (definition, wrong) in [
        (r#"{"type":"strng"}"#, "\"strng\""),
        (r#"{"type":["string","nul"]}"#, "\"nul\""),
        (r#"{"minimum":"a"}"#, "\"a\""),
        (r#"{"properties":{"x":{"items":{"maxLength":true}}}}"#, "true"),
        (r#"{"anyOf":[{"type":"string"},{"properties":[]}]}"#, "[]"),
        (r#"{"exclusiveMaximum":"3"}"#, "\"3\""),
        (r##"{"$ref":"#/$defs/other","pattern":7}"##, "7"),
    ] {
        let schema = format!(r#"{{"type":"string","$defs":{{"x":{definition},"other":{{"type":"null"}}}}}}"#);
        let found = diagnostics(&schema);
        let [found] = found.as_slice() else { panic!("{schema}: {found:?}") };
        let span = found.labels[0].span;
        assert_eq!(&schema[span.start as usize..span.end as usize], wrong, "{schema}");
        assert!(!found.is_error() && found.message.ends_with("; no reference leads to this definition"), "{found:?}");
    }
    let found = diagnostics(r#"{"type":"string","definitions":{"x":{"type":"strng"}}}"#);
    assert_eq!(found[0].help.as_deref(), Some("did you mean `string`?"));
    for schema in [
        // Names and data, other drafts, and what is an annotation or unknown.
        r#"{"type":"string","$defs":{"x":{"properties":{"type":{"type":"string"},"minimum":{}},"default":{"type":"x"}}}}"#,
        r#"{"type":"string","$defs":{"x":{"enum":[{"type":"x"}],"const":{"minimum":"x"},"x-y":{"type":"x"}}}}"#,
        r#"{"$schema":"http://json-schema.org/draft-04/schema#","type":"string",
            "definitions":{"x":{"minimum":1,"exclusiveMinimum":true}}}"#,
        r#"{"type":"string","$defs":{"x":{"markdownDescription":"d","required":["a"],"minLength":3}}}"#,
    ] {
        assert_eq!(diagnostics(schema), [], "{schema}");
    }
    // What is used is an error.
    let found = diagnostics(r##"{"$ref":"#/$defs/x","$defs":{"x":{"type":"strng"}}}"##);
    assert!(found.iter().any(|found| found.is_error()));
    assert_eq!(found.len(), 1);
}

#[test]
fn equal_branches() {
    let codes = |schema: &str| said(schema).into_iter().map(|(code, _)| code).collect::<Vec<_>>();
    // Annotations make no difference.
    assert_eq!(codes(r#"{"oneOf":[{"type":"string","title":"a"},{"type":"null"},{"type":"string"}]}"#), ["J035"]);
    assert_eq!(codes(r#"{"oneOf":[{"type":"string"},{"type":"null"},false,false]}"#), Vec::<&str>::new());
    assert_eq!(codes(r#"{"anyOf":[{"type":"string"},{"type":"string"}]}"#), Vec::<&str>::new());
    assert_eq!(
        codes(r#"{"oneOf":[{"type":"string"},{"type":"string"},{"type":"null"}],"x-guidance":{"coerce_one_of":true}}"#),
        Vec::<&str>::new()
    );
}

#[test]
fn patterns_as_in_code() {
    let found = diagnostics(r#"{"type":"string","pattern":"/^abc$/i"}"#);
    let error = found.iter().find(|found| found.is_error()).expect("no text matches");
    assert_eq!(error.help.as_deref(), Some("the slashes are characters of the pattern; write `^abc$`"));
    for (pattern, text) in
        [(r"\\d{3", "{3"), (r"^a{2,3$", "{2,3"), (r"(a|b){3x}", "{3"), (r"^\\u{1F600}{3$", "{3"), (r"\\(é{3", "{3")]
    {
        let schema = format!(r#"{{"type":"string","pattern":"{pattern}"}}"#);
        let found = diagnostics(&schema);
        let span = found[0].labels[0].span;
        assert_eq!(&schema[span.start as usize..span.end as usize], text);
        assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), ["J036"], "{pattern}");
        assert!(found[0].message.starts_with(&format!("`{text}` in the pattern at `/pattern`")), "{pattern}");
    }
    for pattern in [r"\\d{3}", r"\\{3", r"[{3]", r"^{3", r"\\u{41}", r"^\\u{1F600}$", "a{b", "{2", "a{,3"] {
        assert_eq!(said(&format!(r#"{{"type":"string","pattern":"{pattern}"}}"#)), [], "{pattern}");
    }
    // In a name's pattern, and in each of two schemas that are equal.
    let schema =
        r#"{"patternProperties":{"a{3":{"type":"string","pattern":"b{3"},"c":{"type":"string","pattern":"b{3"}}}"#;
    let mut places: Vec<&str> = diagnostics(schema)
        .iter()
        .map(|found| &schema[found.labels[0].span.start as usize..found.labels[0].span.end as usize])
        .collect();
    places.sort_unstable();
    assert_eq!(places, ["{3", "{3", "{3"]);
}

#[test]
fn one_way_out_of_definitions_that_are_called_otherwise() {
    let found = diagnostics(r##"{"$ref":"#/$defs/A","defs":{"A":{"type":"string"}}}"##);
    let helps: Vec<&str> = found.iter().filter_map(|found| found.help.as_deref()).collect();
    assert_eq!(helps, ["`defs` is no keyword: rename it to `$defs`", "did you mean `$defs`?"]);
}

#[test]
fn what_was_meant() {
    for (schema, help) in [
        (r#"{"type":"integer","min":3}"#.to_owned(), "did you mean `minimum`?"),
        (r#"{"type":"string","min":3}"#.to_owned(), "did you mean `minLength`?"),
        (r#"{"type":"array","max":3}"#.to_owned(), "did you mean `maxItems`?"),
        (r#"{"type":"string","length":3}"#.to_owned(), "write `minLength` and `maxLength`"),
        (r#"{"type":"string","maximum_length":3}"#.to_owned(), "did you mean `maxLength`?"),
        (r#"{"type":"string","regex":"a"}"#.to_owned(), "did you mean `pattern`?"),
        (r#"{"type":"array","unique":true}"#.to_owned(), "did you mean `uniqueItems`?"),
        (r#"{"optional":true}"#.to_owned(), "a property is optional unless its object lists it in `required`"),
        (r#"{"choices":["a"]}"#.to_owned(), "did you mean `enum`?"),
        (r#"{"allowedValues":["a"]}"#.to_owned(), "did you mean `enum`?"),
        (
            r#"{"type":"string","format":"ip"}"#.to_owned(),
            r#"write `"anyOf": [{"format": "ipv4"}, {"format": "ipv6"}]`, or one of them"#,
        ),
        (r#"{"$schema":"draft-07"}"#.to_owned(), "did you mean `http://json-schema.org/draft-07/schema#`?"),
        (format!(r#"{{{DRAFT7},"$defs":{{"a":{{}}}}}}"#), "write `definitions`"),
        (format!(r#"{{{DRAFT7},"dependentRequired":{{"a":["b"]}}}}"#), "write `dependencies`"),
        (format!(r#"{{{DRAFT7},"prefixItems":[{{}}]}}"#), "write `items` with this array"),
        (format!(r#"{{{DRAFT4},"const":1}}"#), "write `\"enum\": […]` with this value alone"),
        (
            format!(r#"{{{DRAFT4},"if":{{"type":"string"}}}}"#),
            "it is a keyword of draft 7 and others; name that in `$schema`: `http://json-schema.org/draft-07/schema#`",
        ),
        (
            r#"{"type":{"$ref":"other"}}"#.to_owned(),
            "if it is the name of a property, put it into `properties`: `\"properties\": {\"type\": {…}}`",
        ),
        (
            r#"{"type":["null",{"enum":[1]}]}"#.to_owned(),
            "a type is a name; alternatives that are schemas stand in `\"anyOf\": [{…}]`",
        ),
        (
            format!(r#"{{{DRAFT4},"exclusiveMinimum":5}}"#),
            "write `\"minimum\": 5, \"exclusiveMinimum\": true`, or name a later draft in `$schema`",
        ),
    ] {
        let found = diagnostics(&schema);
        let helps: Vec<&str> = found.iter().filter_map(|found| found.help.as_deref()).collect();
        assert_eq!(helps, [help], "{schema}: {found:#?}");
    }
}

/// `-0` has neither fraction nor exponent, so that it is an integer of draft 4, too.
#[test]
fn minus_zero_of_draft_4() {
    let limits = Limits::default();
    let options = SchemaOptions { spelling: Spelling::validator(), ..SchemaOptions::new(&limits) };
    for (schema, text) in [
        (r#""type":"integer""#, "-0"),
        (r#""type":"integer","minimum":0"#, "-0"),
        (r#""type":"integer","maximum":1"#, "-0"),
        (r#""type":"integer","enum":[0]"#, "-0"),
        (r#""type":"integer","multipleOf":2,"minimum":-4"#, "-0"),
        (r#""type":["integer","string"],"minimum":-1"#, "-0"),
        (r#""type":"integer","not":{"enum":[5]}"#, "-0"),
        (r#""patternProperties":{"^x":{"maximum":1}},"properties":{"x y":{"type":"integer"}}"#, r#"{"x y":-0}"#),
    ] {
        let grammar = compiled_as(&shared(), &format!("{{{DRAFT4},{schema}}}"), &options).0.expect("it has values");
        assert_eq!(accepts(&grammar, text), Ok(true), "{schema}");
        for other in ["-0.0", "-0e1", "0.0"] {
            assert_eq!(accepts(&grammar, &text.replace("-0", other)), Ok(false), "{schema} {other}");
        }
    }
    for schema in [r#""type":"integer","minimum":1"#, r#""type":"integer","not":{"enum":[0]}"#] {
        let grammar = compiled_as(&shared(), &format!("{{{DRAFT4},{schema}}}"), &options).0.expect("it has values");
        assert_eq!(accepts(&grammar, "-0"), Ok(false), "{schema}");
    }
}

/// Numbers that are no integers of draft 4 only by how they are written, of which the generator's profile has none.
#[test]
fn values_of_another_profile() {
    let schema = format!(r#"{{{DRAFT4},"type":"number","not":{{"type":"integer"}},"multipleOf":3,"minimum":2}}"#);
    let found = diagnostics(&schema);
    assert_eq!(found.len(), 1);
    let help = found[0].help.as_deref().unwrap_or_default();
    assert!(
        help.starts_with("in draft 4 `1.0` is no integer") && help.ends_with("set `number_spelling` to `any`"),
        "{help}"
    );
    // And there is none.
    let found = diagnostics(&schema.replace("draft-04", "draft-07"));
    assert!(found[0].help.as_deref().unwrap_or_default().starts_with("change one of them"));
}

/// What can be done without is a warning, and the rest holds.
#[test]
fn lenient() {
    let limits = Limits::default();
    let spelling = Spelling { lenient: true, ..Spelling::default() };
    let options = SchemaOptions { spelling, ..SchemaOptions::new(&limits) };
    for (schema, code, accepted, rejected) in [
        (r#"{"type":"integer","allOf":[]}"#, "J002", "1", "\"\""),
        (r#"{"type":"integer","multipleOf":-1,"minimum":3}"#, "J002", "3", "2"),
        (r#"{"type":"string","pattern":"(a)\\1"}"#, "R027", "\"b\"", "1"),
        (r#"{"type":"object","patternProperties":{"(a)\\1":{"type":"null"}}}"#, "R027", r#"{"b":1}"#, "1"),
        (r#"{"type":"string","maxLength":10000000000}"#, "J040", "\"b\"", "1"),
        (r#"{"type":"array","minItems":1,"maxItems":10000000000}"#, "J040", "[1,2]", "[]"),
        (r#"{"type":"integer","allOf":[{"$ref":"https://example.com/a"}]}"#, "J005", "1", "\"\""),
    ] {
        let (grammar, found) = compiled_as(&shared(), schema, &options);
        let grammar = grammar.unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
        assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [code], "{schema}");
        assert!(found[0].message.ends_with("; it is not enforced"), "{schema}: {}", found[0].message);
        assert_eq!((accepts(&grammar, accepted), accepts(&grammar, rejected)), (Ok(true), Ok(false)), "{schema}");
        let strict = SchemaOptions::new(&limits);
        assert!(compiled_as(&shared(), schema, &strict).0.is_err(), "{schema}");
    }
    // There is no value without it.
    assert!(compiled_as(&shared(), r#"{"anyOf":[]}"#, &options).0.is_err());
}
