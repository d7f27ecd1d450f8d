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
