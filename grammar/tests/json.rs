//! The JSON reader against `serde_json`, and its spans, maps and messages.

use larkspur_grammar::json::{
    CODES, JsonDocument, JsonId, JsonValue, parse_json, parse_json_prefix, path_at, path_pointer, value_end,
};
use larkspur_grammar::{Limits, SourceId};
use proptest::prelude::*;

fn read(text: &str) -> Result<JsonDocument, Vec<larkspur_grammar::Diagnostic>> {
    parse_json(SourceId(0), text, &Limits::default())
}

/// The value as `serde_json` would have it.
fn converted(document: &JsonDocument, id: JsonId) -> serde_json::Value {
    match document.value(id) {
        JsonValue::Null => serde_json::Value::Null,
        JsonValue::Bool(value) => value.into(),
        JsonValue::Number(text) => serde_json::from_str(text).expect("a number"),
        JsonValue::String(text) => text.to_string().into(),
        JsonValue::Array(elements) => elements.iter().map(|&element| converted(document, element)).collect(),
        JsonValue::Object(members) => {
            members.iter().map(|member| (member.key.to_string(), converted(document, member.value))).collect()
        }
    }
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        "\\PC{0,6}".prop_map(Into::into),
        any::<String>().prop_map(Into::into),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec(("[ab\"\\\\\n~/é]{0,3}", inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]
    #[test]
    fn well_formed(value in value(), pretty in any::<bool>()) {
        let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.expect("JSON");
        let document = read(&text).expect("well-formed");
        // Read again, since `serde_json` rounds when it reads.
        let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        prop_assert_eq!(converted(&document, document.root()), value);
        for index in 0..document.len() {
            let id = JsonId(index as u32);
            prop_assert_eq!(document.resolve(&document.pointer(id)), Some(id));
            let span = document.span(id);
            let part = &text[span.start as usize..span.end as usize];
            prop_assert_eq!(converted(&document, id), serde_json::from_str::<serde_json::Value>(part).expect("a part"));
            if let Some(string) = document.string(id) {
                let map = document.string_map(id);
                for (at, c) in string.char_indices() {
                    let span = map.span(at..at + c.len_utf8());
                    let written = &text[span.start as usize..span.end as usize];
                    prop_assert_eq!(serde_json::from_str::<String>(&format!("\"{written}\"")).expect("one"), c.to_string());
                }
            }
        }
    }

    #[test]
    fn malformed(pieces in prop::collection::vec(prop::sample::select(vec![
        "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"", "\\", "\"\\n\"", "\"\\u00e9\"", "\"\\ud83d\\ude00\"", "\"\\ud83d\"",
        "\"\\x\"", "1", "-0", "01", "1.5e3", "1.", "-", "+1", ".5", "1e", "true", "false", "null", "nul", "True", " ", "\n", "é",
        "'a'", "a", "\"\t\"", "\u{0}", "\u{a0}",
    ]), 0..9)) {
        let text = pieces.concat();
        let ours = read(&text);
        let theirs: Result<serde_json::Value, _> = serde_json::from_str(&text);
        // Beyond what a float holds, `serde_json` refuses numbers.
        prop_assume!(!theirs.as_ref().is_err_and(|error| error.to_string().contains("out of range")));
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}: {:?}", text, ours.err());
        if let (Ok(document), Ok(value)) = (read(&text), theirs) {
            prop_assert_eq!(converted(&document, document.root()), value, "{:?}", text);
        }
        for error in read(&text).err().unwrap_or_default() {
            prop_assert!(!error.labels.is_empty());
            for label in &error.labels {
                prop_assert!(text.get(label.span.start as usize..label.span.end as usize).is_some(), "{:?} {:?}", text, error);
            }
        }
        prop_assert!(text.is_char_boundary(value_end(&text, 0)));
        if let Ok((_, end)) = parse_json_prefix(SourceId(0), &text, 0, &Limits::default()) {
            // Of a word or number, what sticks to it belongs to it.
            let sticks = !text.trim_start().starts_with(['{', '[', '"']);
            prop_assert!(value_end(&text, 0) == end || sticks && value_end(&text, 0) > end, "{:?}", text);
        }
    }

    #[test]
    fn any_text(text in "[\\[\\]{},:\"\\\\a1 /*#é\n-]{0,30}") {
        let _ = read(&text);
        prop_assert!(text.is_char_boundary(value_end(&text, 0)));
    }
}

/// Codes with the text at their primary places.
fn errors(text: &str) -> Vec<(&'static str, &str)> {
    let errors = read(text).err().unwrap_or_default();
    let place = |error: &larkspur_grammar::Diagnostic| error.labels[0].span;
    errors.iter().map(|error| (error.code, &text[place(error).start as usize..place(error).end as usize])).collect()
}

#[test]
fn all_mistakes_at_their_places() {
    assert_eq!(
        errors("{a: 1, 'b': True, \"c\" 2 \"d\": 01, \"e\": \"\\d\", \"f\": [1, 2,],}"),
        [
            ("N011", "a"),
            ("N002", "'"),
            ("N003", "True"),
            ("N012", "2"),
            ("N013", "\""),
            ("N004", "01"),
            ("N007", "\\d"),
            ("N014", ","),
            ("N014", ","),
        ]
    );
    assert_eq!(errors("[1, /* one */ 2] x"), [("N017", "/* one */"), ("N018", "x")]);
    assert_eq!(errors("{\"a\": [1}"), [("N015", "[")]);
    assert_eq!(errors("{\"a\": [1, {\"b\""), [("N012", ""), ("N015", "{")]);
    assert_eq!(errors("[\"ab"), [("N005", "\"ab")]);
    assert_eq!(errors("[\"\\ud83dx\", \"\\u12\"]"), [("N009", "\\ud83d"), ("N008", "\\u12")]);
}

/// A string that is not written right is one mistake, and what follows is read.
#[test]
fn broken_strings() {
    let texts: &[(&str, &[(&str, &str)])] = &[
        ("{\"type\": \"str\ning\"}", &[("N006", "")]),
        ("{\"type\": \"str\r\ning\"}", &[("N006", "")]),
        ("{\"type\": \"str\ning\n\", \"a\": [1 2]}", &[("N006", ""), ("N013", "2")]),
        ("{\n \"description\": \"One.\n\nTwo, three: four.\",\n \"a\": 1\n}", &[("N006", "")]),
        ("{\"de\nscription\": 1}", &[("N006", "")]),
        ("{\"type\": \"string, \"minLength\": 1}", &[("N005", "\"string")]),
        ("{\"type\": \"string, \"a\": \"b\", \"c\": \"d\"}", &[("N005", "\"string")]),
        ("{\"type\": \"string,\n \"minLength\": 01}", &[("N005", "\"string"), ("N004", "01")]),
        ("{\"a\": {\"type\": \"string},\n \"b\": {}}", &[("N005", "\"string")]),
        ("{\"a\": [{\"type\": \"string}]}\n", &[("N005", "\"string")]),
        ("{\"a\": [\"b\", \"c],\n \"b\": {}}", &[("N005", "\"c")]),
        ("[\"a, \"b\"]", &[("N005", "\"a")]),
        ("{\"a\": {\"b\": [\"c]}, \"d\": 1}", &[("N005", "\"c")]),
        ("{\"type: \"string\"}", &[("N005", "\"type")]),
        ("{\"type: 1,\n \"a\": 2}", &[("N005", "\"type")]),
        ("{\"a\": \"say \"hi\" now\", \"b\": 1}", &[("N021", "\"")]),
        ("{\"a\": \"\"hi\" and \"ho\"\", \"b\": 1}", &[("N021", "\"")]),
        ("{\"a\": \"hi\" there\", \"b\": 1}", &[("N021", "\"")]),
        ("{“type”: “string”}", &[("N002", "“type”"), ("N002", "“string”")]),
        ("{\"a\": [\"b\", \"c\", \"d\": 1}", &[("N015", "[")]),
        ("{\"a\": [\"b\", \"c\"\n \"d\": 1}", &[("N015", "[")]),
    ];
    for &(text, expected) in texts {
        assert_eq!(errors(text), expected, "{text}");
    }
}

/// A broken document is an error even where none may be shown.
#[test]
fn no_diagnostics_allowed() {
    let limits = Limits { diagnostics_max: 0, ..Limits::default() };
    for text in ["{\"a\" 1}", "[1 2]", "{", "nul", ""] {
        let errors = parse_json(SourceId(0), text, &limits).expect_err("it is broken");
        assert_eq!(errors.len(), 1, "{text}");
    }
}

#[test]
fn every_code_has_its_examples() {
    for info in CODES {
        let limits = match info.code {
            "N019" => Limits { grammar_depth_max: 2, ..Limits::default() },
            "N099" => Limits { diagnostics_max: 1, ..Limits::default() },
            "N020" => Limits { source_bytes_max: 2, ..Limits::default() },
            _ => Limits::default(),
        };
        let found = match parse_json(SourceId(0), info.bad, &limits) {
            Ok(document) => document.warnings().to_vec(),
            Err(errors) => errors,
        };
        assert!(found.iter().any(|diagnostic| diagnostic.code == info.code), "{}: {found:?}", info.code);
        let good = parse_json(SourceId(0), info.good, &limits).expect(info.code);
        assert!(good.warnings().is_empty(), "{}", info.code);
    }
}

#[test]
fn prefixes_keys_and_depth() {
    let text = "x: %json {\"a\\n\": 1, \"a\\n\": [2]}{}";
    let (document, end) = parse_json_prefix(SourceId(4), text, 8, &Limits::default()).expect("an object");
    assert_eq!(&text[end..], "{}");
    let members = document.object(document.root()).expect("an object");
    assert_eq!(members.len(), 1);
    let span = document.key_map(&members[0]).span(1..2);
    assert_eq!((span.source, &text[span.start as usize..span.end as usize]), (SourceId(4), "\\n"));
    assert_eq!(span.start, 22);
    assert_eq!(document.warnings()[0].code, "N101");
    let element = document.resolve("/a\n/0").expect("an element");
    assert_eq!(document.number(element), Some("2"));
    assert_eq!(document.parent(element).map(|parent| document.pointer(parent)), Some("/a\n".into()));
    let deep = "[".repeat(100_000);
    assert_eq!(errors(&deep)[0].0, "N019");
    let long = format!("[{}1]", "1,".repeat(200_000));
    assert_eq!(read(&long).expect("long").len(), 200_002);
}

/// Of a repeated key the last value counts, and nothing of the others is left.
#[test]
fn repeated_keys() {
    let text = r#"{"a": {"b": [1, {"c": 2, "c": {}}]}, "d": [{}, {"e": [], "e": "\n"}], "\u0061": {"f": {"g": true}}, "a": [3]}"#;
    let document = read(text).expect("well-formed");
    let expected = serde_json::json!({"a": [3], "d": [{}, {"e": "\n"}]});
    assert_eq!(converted(&document, document.root()), expected);
    assert_eq!(document.warnings().len(), 3);
    assert_eq!(document.len(), 7);
    for id in (0..7).map(JsonId) {
        assert_eq!(document.resolve(&document.pointer(id)), Some(id));
        let span = document.span(id);
        let (part, value) = (&text[span.start as usize..span.end as usize], converted(&document, id));
        assert_eq!(value, serde_json::from_str::<serde_json::Value>(part).expect("a part"));
    }
}

#[test]
fn escapes_have_their_places_in_texts_that_were_appended() {
    let text = r#"["a\u0062c", "\n"]"#;
    let read = |source| parse_json(SourceId(source), text, &Limits::default()).expect("JSON");
    let mut document = read(1);
    let root = document.root();
    // The last text is there already.
    let roots = [1, 0, 2, 2].map(|source| (source, if source == 1 { root } else { document.append(read(source)) }));
    for (source, root) in roots {
        let strings = document.array(root).expect("an array");
        let written = |element: usize, decoded| {
            let span = document.string_map(strings[element]).span(decoded);
            assert_eq!(span.source, SourceId(source));
            &text[span.start as usize..span.end as usize]
        };
        assert_eq!([written(0, 0..1), written(0, 1..2), written(0, 2..3)], ["a", r"\u0062", "c"]);
        assert_eq!([written(0, 0..3), written(1, 0..1)], [r"a\u0062c", r"\n"]);
    }
}

#[test]
fn places_in_a_text() {
    let path = |text: &str| {
        let at = text.find('^').expect("a mark");
        path_pointer(&path_at(text.replace('^', "").as_bytes(), at, true))
    };
    for (text, expected) in [
        ("^1", ""),
        ("1^", ""),
        ("[^1]", "/0"),
        ("[^]", ""),
        ("[1^]", ""),
        ("[1^2]", "/0"),
        ("[1,^]", "/1"),
        ("[1,[2, ^3]]", "/1/1"),
        (r#"{"a^":1}"#, ""),
        (r#"{"a"^:1}"#, ""),
        (r#"{"a":^}"#, "/a"),
        (r#"{"a":1^}"#, ""),
        (r#"{"a":1,^"b":2}"#, ""),
        (r#"{"a/b":{"c\u0064\"":["x^"]}}"#, r#"/a~1b/cd"/0"#),
        (r#"{"a":{"b":[]}^}"#, ""),
        (r#"{"a":{"b":[]^}}"#, "/a"),
        (r#"{"a":"},{"^}"#, ""),
        // Not JSON at all.
        ("}]:,\"^", ""),
    ] {
        assert_eq!(path(text), expected, "{text}");
    }
    let unfinished = |text: &[u8], at: usize| path_pointer(&path_at(text, at, false));
    assert_eq!(unfinished(br#"{"a":1}"#, 6), "/a");
    assert_eq!(unfinished(b"[[1],2]", 6), "/1");
    assert_eq!(unfinished(br#"{"a":1,}"#, 7), "");
}
