//! References: other documents, what is built in, dynamic anchors, vocabularies, and the limits on them.

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{accepts, compiled_as, shared};
use larkspur_grammar::{Diagnostic, Limits};
use larkspur_json_schema::{Retriever, SchemaOptions};
use larkspur_test_support::Random;

/// A retriever of these documents.
fn documents(documents: &[(&str, &str)]) -> Retriever {
    let documents: Vec<(String, String)> = documents.iter().map(|&(uri, text)| (uri.into(), text.into())).collect();
    Retriever::new(move |uri| Ok(documents.iter().find(|(name, _)| name == uri).map(|(_, text)| text.clone())))
}

#[track_caller]
fn check(schema: &str, retriever: Option<&Retriever>, accepted: &[&str], rejected: &[&str]) {
    let limits = Limits::default();
    let (grammar, _) = compiled_as(&shared(), schema, &SchemaOptions { retriever, ..SchemaOptions::new(&limits) });
    let grammar = grammar.unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
    for text in accepted {
        assert_eq!(accepts(&grammar, text), Ok(true), "{schema} accepts {text}");
    }
    for text in rejected {
        assert_eq!(accepts(&grammar, text), Ok(false), "{schema} rejects {text}");
    }
}

#[track_caller]
fn errors(schema: &str, retriever: Option<&Retriever>, limits: &Limits) -> Vec<Diagnostic> {
    let (grammar, _) = compiled_as(&shared(), schema, &SchemaOptions { retriever, ..SchemaOptions::new(limits) });
    let all = grammar.err().unwrap_or_else(|| panic!("{schema} compiles"));
    all.into_iter().filter(Diagnostic::is_error).collect()
}

#[test]
fn other_documents() {
    let retriever = documents(&[
        ("http://a.b/c/d", r##"{"type": "array", "items": {"$ref": "e#x"}}"##),
        ("http://a.b/c/e", r##"{"$defs": {"x": {"$anchor": "x", "$ref": "#/$defs/y"}, "y": {"type": "integer"}}}"##),
    ]);
    check(r#"{"$id": "http://a.b/c/", "$ref": "d"}"#, Some(&retriever), &["[1]", "[]"], &["1", "[\"\"]"]);
    check(r##"{"$ref": "http://a.b/c/e#/$defs/x"}"##, Some(&retriever), &["1"], &["[]"]);
    // What is in the schema beats what could be loaded.
    check(
        r#"{"$ref": "http://a.b/c/d", "$defs": {"d": {"$id": "http://a.b/c/d", "type": "null"}}}"#,
        Some(&retriever),
        &["null"],
        &["[]"],
    );
    // Without an `$id` of its own, the schema's URI is the caller's.
    let limits = Limits::default();
    let options = SchemaOptions { uri: "http://a.b/c/x", retriever: Some(&retriever), ..SchemaOptions::new(&limits) };
    let (grammar, _) = compiled_as(&shared(), r#"{"$ref": "d"}"#, &options);
    assert_eq!(accepts(&grammar.expect("a grammar"), "[1]"), Ok(true));
}

#[test]
fn documents_are_asked_for_once_and_only_when_they_are_reached() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = calls.clone();
    let retriever = Retriever::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Some(r#"{"type": "integer"}"#.to_owned()))
    });
    let schema = r#"{"properties": {"a": {"$ref": "http://a.b/c"}, "b": {"$ref": "http://a.b/c"}}, "type": "object",
                     "$defs": {"unused": {"$ref": "http://a.b/d"}}}"#;
    check(schema, Some(&retriever), &[r#"{"a":1,"b":2}"#], &[r#"{"a":""}"#]);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
}

#[test]
fn documents_that_are_not_there() {
    let limits = Limits::default();
    let schema = r#"{"properties": {"a": {"$ref": "http://a.b/c"}}}"#;
    let found = errors(schema, None, &limits);
    assert_eq!((found.len(), found[0].code), (1, "J005"));
    assert!(found[0].message.contains("`/properties/a/$ref`") && found[0].message.contains("`http://a.b/c`"));
    assert_eq!(found[0].labels[0].span.start as usize, schema.find(r#""http"#).expect("it is there"));
    assert!(found[0].help.is_some());
    let none = Retriever::new(|_| Ok(None));
    assert!(errors(schema, Some(&none), &limits)[0].message.contains("there is no such document"));
    let broken = Retriever::new(|_| Err("the line is dead".to_owned()));
    assert!(errors(schema, Some(&broken), &limits)[0].message.contains("the line is dead"));
    // What is wrong in a document is shown in its own text.
    let codes = |text: &str| -> Vec<(&'static str, u32)> {
        let retriever = documents(&[("http://a.b/c", text)]);
        errors(schema, Some(&retriever), &limits).iter().map(|e| (e.code, e.labels[0].span.source.0)).collect()
    };
    assert_eq!(codes(r#"{"minLength": -1}"#), [("J002", 1)]);
    assert_eq!(codes(r##"{"$ref": "#/$defs/x"}"##), [("J004", 1)]);
    assert!(codes("{").iter().any(|&(code, source)| code == "J005" && source == 0));
    assert!(codes("{").iter().any(|&(code, source)| code != "J005" && source == 1));
}

#[test]
fn schema_documents_max() {
    // A chain of documents without end.
    let retriever = Retriever::new(|uri| Ok(Some(format!(r#"{{"$ref": "{uri}x"}}"#))));
    let limits = Limits { schema_documents_max: 20, ..Limits::default() };
    let found = errors(r#"{"$ref": "http://a.b/"}"#, Some(&retriever), &limits);
    assert!(found.iter().any(|e| e.code == "J005" && e.message.contains("`schema_documents_max` of 20")), "{found:?}");
    // So do meta-schemas.
    let retriever = Retriever::new(|uri| Ok(Some(format!(r#"{{"$schema": "{uri}x"}}"#))));
    check(r#"{"$schema": "http://a.b/", "type": "null"}"#, Some(&retriever), &["null"], &["1"]);
}

#[test]
fn schema_documents_bytes_max() {
    let retriever = Retriever::new(|_| Ok(Some(" ".repeat(1000) + "{}")));
    let limits = Limits { schema_documents_bytes_max: 1_500, ..Limits::default() };
    let found = errors(r#"{"allOf": [{"$ref": "http://a.b/c"}, {"$ref": "http://a.b/d"}]}"#, Some(&retriever), &limits);
    assert!(found[0].message.contains("`schema_documents_bytes_max` of 1500"), "{found:?}");
}

#[test]
fn meta_schemas_are_built_in() {
    for (uri, wrong) in [
        ("http://json-schema.org/draft-06/schema#", r#"{"required":[1]}"#),
        ("http://json-schema.org/draft-07/schema#", r#"{"type":1}"#),
        ("https://json-schema.org/draft/2019-09/schema", r#"{"minLength":-1}"#),
        ("https://json-schema.org/draft/2020-12/schema", r#"{"properties":{"a":{"$defs":{"b":{"minLength":-1}}}}}"#),
        ("https://json-schema.org/draft/2020-12/meta/core", r#"{"$anchor":"1"}"#),
    ] {
        // The format `regex` is not what this is about.
        let schema = format!(r#"{{"$ref": "{uri}"}}"#);
        let (grammar, _) = common::compiled(&shared(), &schema);
        match grammar {
            Ok(grammar) => {
                assert_eq!(accepts(&grammar, r#"{"type":"string"}"#), Ok(true), "{uri}");
                assert_eq!(accepts(&grammar, wrong), Ok(false), "{uri} {wrong}");
            }
            Err(errors) => assert!(errors.iter().filter(|e| e.is_error()).all(|e| e.code != "J005"), "{errors:#?}"),
        }
    }
}

const LIST: &str = r##""list": {"$id": "list", "type": "array", "items": {"$dynamicRef": "#item"},
    "$defs": {"any": {"$dynamicAnchor": "item"}}}"##;

#[test]
fn dynamic_anchors() {
    let of = |kind: &str| {
        format!(
            r#"{{"$id": "{kind}s", "$ref": "list", "$defs": {{"i": {{"$dynamicAnchor": "item", "type": "{kind}"}}}}}}"#
        )
    };
    // The same list in two scopes.
    let schema = format!(
        r#"{{"$id": "http://a.b/", "type": "object", "properties": {{"a": {{"$ref": "integers"}}, "b": {{"$ref": "strings"}}, "c": {{"$ref": "list"}}}},
            "$defs": {{"integers": {}, "strings": {}, {LIST}}}}}"#,
        of("integer"),
        of("string")
    );
    check(&schema, None, &[r#"{"a":[1],"b":["x"],"c":[null]}"#], &[r#"{"a":["x"]}"#, r#"{"b":[1]}"#, r#"{"c":1}"#]);
    // A reference that is not resolved names its pointer, also in a copy.
    let found = errors(
        &schema.replace(r##""type": "array","##, r##""type": "array", "minItems": -1,"##),
        None,
        &Limits::default(),
    );
    assert_eq!(found.len(), 1);
    assert!(found[0].message.contains("`/$defs/list/minItems`"), "{found:?}");
}

#[test]
fn resources_inside_resources_have_their_scope() {
    // `inner` stands in `outer`, which is met with and without the anchor of `wide`.
    let schema = r##"{"$id": "http://a.b/", "type": "object",
        "properties": {"p": {"$ref": "wide"}, "q": {"$ref": "outer"}},
        "$defs": {
            "wide": {"$id": "wide", "$ref": "outer", "$defs": {"x": {"$dynamicAnchor": "v", "type": "string"}}},
            "outer": {"$id": "outer", "type": "object", "properties": {
                "in": {"$id": "inner", "type": "array", "items": {"$dynamicRef": "#v"}, "$defs": {"v": {"$dynamicAnchor": "v", "type": "null"}}}}}
        }}"##;
    check(
        schema,
        None,
        &[r#"{"p":{"in":["x"]},"q":{"in":[null]}}"#],
        &[r#"{"p":{"in":[null]}}"#, r#"{"q":{"in":["x"]}}"#],
    );
}

/// Resources within each other, with references across them.
struct Resources(Vec<Resource>);

struct Resource {
    /// The one that it stands in, which is an earlier one.
    parent: usize,
    /// Whether it stands where it is used; else there is a reference to it, or it is used by others only.
    is_used: bool,
    keyword: &'static str,
    is_dynamic: bool,
    y: usize,
    w: usize,
}

impl Resources {
    fn new(random: &mut Random) -> Self {
        let len = 2 + random.below(4);
        let resource = |at: usize, random: &mut Random| Resource {
            parent: random.below(at.max(1)),
            is_used: random.one_in(2),
            keyword: random.pick(&["$anchor", "$dynamicAnchor", "$dynamicAnchor"]),
            is_dynamic: !random.one_in(4),
            y: random.below(len),
            w: random.below(len),
        };
        Self((0..len).map(|at| resource(at, random)).collect())
    }

    /// The schema; with `inline`, what is used stands where it is used.
    fn schema(&self, at: usize, inline: bool) -> String {
        let Resource { keyword, is_dynamic, y, w, .. } = self.0[at];
        let reference = if is_dynamic { r##""$dynamicRef": "#n""## } else { r##""$ref": "#n""## };
        let mut properties = format!(r#""x": {{{reference}}}, "y": {{"$ref": "/r{y}"}}, "w": {{"$ref": "/r{w}"}}"#);
        let mut definitions = format!(r#""n": {{"{keyword}": "n", "const": {at}}}"#);
        for (other, child) in self.0.iter().enumerate().skip(1).filter(|(_, child)| child.parent == at) {
            let text = self.schema(other, inline);
            if child.is_used && inline {
                properties += &format!(r#", "z{other}": {text}"#);
                continue;
            }
            if child.is_used {
                properties += &format!(r#", "z{other}": {{"$ref": "/r{other}"}}"#);
            }
            definitions += &format!(r#", "d{other}": {text}"#);
        }
        format!(
            r#"{{"$id": "http://a.b/r{at}", "type": "object", "properties": {{{properties}}}, "additionalProperties": false,
                "$defs": {{{definitions}}}}}"#
        )
    }

    /// A value of a resource, often but not always a valid one.
    fn value(&self, at: usize, depth: usize, random: &mut Random) -> String {
        let mut members = Vec::new();
        if random.one_in(2) {
            members.push(format!(r#""x":{}"#, random.below(self.0.len())));
        }
        let Resource { y, w, .. } = self.0[at];
        let used = self.0.iter().enumerate().skip(1).filter(|(_, child)| child.parent == at && child.is_used);
        let used = used.map(|(other, _)| (format!("z{other}"), other));
        for (key, other) in [("y".to_owned(), y), ("w".to_owned(), w)].into_iter().chain(used) {
            if depth > 0 && random.one_in(3) {
                members.push(format!(r#""{key}":{}"#, self.value(other, depth - 1, random)));
            }
        }
        format!("{{{}}}", members.join(","))
    }
}

/// A resource that stands where it is used is what a reference leads to: what is met in several scopes may hold, or stand in,
/// what was copied for one of them.
#[test]
fn resources_that_stand_where_they_are_used_are_as_references_to_them() {
    let limits = Limits::default();
    let mut random = Random::new(7);
    let (mut accepted, mut all) = (0, 0);
    for _ in 0..200 {
        let resources = Resources::new(&mut random);
        let [inline, apart] = [true, false].map(|inline| {
            let schema = resources.schema(0, inline);
            let (grammar, _) = compiled_as(&shared(), &schema, &SchemaOptions::new(&limits));
            grammar.unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"))
        });
        for _ in 0..20 {
            let value = resources.value(0, 3, &mut random);
            let verdict = accepts(&apart, &value);
            assert_eq!(accepts(&inline, &value), verdict, "{value} of {}", resources.schema(0, true));
            (accepted, all) = (accepted + usize::from(verdict == Ok(true)), all + 1);
        }
    }
    assert!(accepted > all / 3 && accepted < all, "{accepted} of {all}");
}

#[test]
fn recursive_anchors() {
    let schema = |anchor: bool| {
        format!(
            r##"{{"$schema": "https://json-schema.org/draft/2019-09/schema", "$id": "http://a.b/strict", "$recursiveAnchor": {anchor},
            "$ref": "tree", "properties": {{"n": {{"type": "integer"}}}},
            "$defs": {{"tree": {{"$id": "tree", "$recursiveAnchor": true, "type": "object", "properties": {{"c": {{"$recursiveRef": "#"}}}}}}}}}}"##
        )
    };
    check(&schema(true), None, &[r#"{"n":1,"c":{"n":1}}"#], &[r#"{"n":"","c":{}}"#, r#"{"n":1,"c":{"n":""}}"#]);
    check(&schema(false), None, &[r#"{"n":1,"c":{"n":""}}"#], &[r#"{"n":""}"#, r#"{"c":1}"#]);
}

#[test]
fn scopes_meet_a_limit() {
    // Each resource adds its anchor or does not: 2^n scopes.
    let links: String = (0..24)
        .map(|i| {
            let next = i + 1;
            format!(
                r##""s{i}": {{"$id": "s{i}", "anyOf": [{{"$ref": "a{i}"}}, {{"items": {{"$ref": "s{next}"}}}}]}},
                    "a{i}": {{"$id": "a{i}", "items": {{"$ref": "s{next}"}}, "$defs": {{"x": {{"$dynamicAnchor": "x{i}"}}}}}},"##
            )
        })
        .collect();
    let schema = format!(r##"{{"$id": "http://a.b/", "$ref": "s0", "$defs": {{{links} "end": {{"$id": "s24"}}}}}}"##);
    let found = errors(&schema, None, &Limits { schema_nodes_max: 20_000, ..Limits::default() });
    assert!(found.iter().any(|e| e.code == "J040" && e.message.contains("`schema_nodes_max`")), "{found:?}");
}

#[test]
fn vocabularies() {
    let meta = |vocabularies: &str| {
        format!(
            r##"{{"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "http://a.b/meta", "$vocabulary": {{{vocabularies}}}}}"##
        )
    };
    let vocabulary = |name: &str| format!(r#""https://json-schema.org/draft/2020-12/vocab/{name}": true"#);
    let applicator = format!("{}, {}", vocabulary("core"), vocabulary("applicator"));
    let schema = r#"{"$schema": "http://a.b/meta", "type": "object", "properties": {"a": false, "b": {"minimum": 3}}}"#;
    let retriever = documents(&[("http://a.b/meta", &meta(&applicator))]);
    check(schema, Some(&retriever), &[r#"{"b":1}"#, "1"], &[r#"{"a":1}"#]);
    let all = format!(r#"{applicator}, {}, "http://a.b/own": false"#, vocabulary("validation"));
    let retriever = documents(&[("http://a.b/meta", &meta(&all))]);
    check(schema, Some(&retriever), &[r#"{"b":4}"#], &[r#"{"b":1}"#, "1", r#"{"a":1}"#]);
    let unknown = meta(&format!(r#"{all}, "http://a.b/must": true"#));
    let found = errors(schema, Some(&documents(&[("http://a.b/meta", &unknown)])), &Limits::default());
    assert_eq!(found[0].code, "J003");
    assert!(found[0].message.contains("`http://a.b/must`"));
    // Without the meta-schema, the schema is read as 2020-12, with a warning.
    let (grammar, warnings) = common::compiled(&shared(), schema);
    assert_eq!(accepts(&grammar.expect("a grammar"), "1"), Ok(false));
    assert_eq!(warnings.iter().map(|warning| warning.code).collect::<Vec<_>>(), ["J003"]);
}

#[test]
fn drafts_by_document() {
    let retriever = documents(&[
        (
            "http://a.b/7",
            r#"{"$schema": "http://json-schema.org/draft-07/schema#", "prefixItems": [{"type": "string"}]}"#,
        ),
        ("http://a.b/none", r#"{"prefixItems": [{"type": "string"}]}"#),
    ]);
    check(r#"{"type": "array", "$ref": "http://a.b/7"}"#, Some(&retriever), &["[1]"], &["1"]);
    check(r#"{"type": "array", "$ref": "http://a.b/none"}"#, Some(&retriever), &["[\"\"]"], &["[1]"]);
}

/// Links in their thousands: the work is linear in them. The bound is generous, for slow machines.
#[track_caller]
fn checked_in_time(schema: &str, accepted: &str, rejected: &str) {
    let start = std::time::Instant::now();
    check(schema, None, &[accepted], &[rejected]);
    let time = start.elapsed();
    println!("{time:?} for {} bytes", schema.len());
    assert!(time < std::time::Duration::from_secs(20), "{time:?}");
}

#[test]
fn thousands_of_references() {
    let joined = |item: &dyn Fn(usize) -> String| (0..5_000).map(item).collect::<Vec<_>>().join(",");
    // By pointers, each to a table of 5,000 entries.
    let pointers = joined(&|i| format!(r##""p{i}":{{"$ref":"#/$defs/d{}"}}"##, 4_999 - i));
    let definitions = joined(&|i| format!(r#""d{i}":{{"const":{i}}}"#));
    let schema = format!(r#"{{"type":"object","properties":{{{pointers}}},"$defs":{{{definitions}}}}}"#);
    checked_in_time(&schema, r#"{"p0":4999,"p4999":0}"#, r#"{"p0":0}"#);
    // A chain of resources, by their URIs.
    let resources = joined(&|i| format!(r#""{i}":{{"$id":"r{i}","$ref":"r{}"}}"#, i + 1));
    let schema =
        format!(r#"{{"$id":"http://a.b/","$ref":"r0","$defs":{{{resources},"end":{{"$id":"r5000","type":"null"}}}}}}"#);
    checked_in_time(&schema, "null", "1");
    // A chain of anchors, and a ring of dynamic ones.
    let anchors = joined(&|i| format!(r##""{i}":{{"$anchor":"a{i}","$ref":"#a{}"}}"##, i + 1));
    let schema = format!(r##"{{"$ref":"#a0","$defs":{{{anchors},"end":{{"$anchor":"a5000","type":"null"}}}}}}"##);
    checked_in_time(&schema, "null", "1");
    let dynamic = joined(&|i| format!(r##""{i}":{{"$dynamicAnchor":"a{i}","$dynamicRef":"#a{}"}}"##, (i + 1) % 5_000));
    let schema = format!(r##"{{"$ref":"#a0","$defs":{{{dynamic}}}}}"##);
    assert_eq!(errors(&schema, None, &Limits::default())[0].code, "J006");
}

/// What nothing leads to is not looked at, not even for a schema that says the same.
#[test]
fn equal_schemas_of_which_one_is_not_reached() {
    common::check(
        r##"{"$defs":{"unused":{"properties":{"a":{"$ref":"#/$defs/n"}}},"n":{"type":"integer"}},
            "properties":{"x":{"properties":{"a":{"$ref":"#/$defs/n"}}},"y":{"items":{"properties":{"a":{"$ref":"#/$defs/n"}}}}}}"##,
        &[r#"{"x":{"a":1},"y":[{"a":2}]}"#],
        &[r#"{"x":{"a":"1"}}"#, r#"{"y":[{"a":"1"}]}"#],
    );
}
