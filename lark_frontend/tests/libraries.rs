//! The libraries that are built in: everything in them is read, imported and lowered.

use larkspur_grammar::{Diagnostic, Limits, SourceMap, lints};
use larkspur_lark_frontend::{LarkOptions, parse};

/// The mistakes of a grammar.
fn lower(text: &str, start: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let source = sources.add("test.lark", text);
    let limits = Limits::default();
    let parsed = parse(&mut sources, source, &LarkOptions { start: Some(start), ..LarkOptions::new(&limits) });
    let lints = parsed.grammar.iter().flat_map(lints::lint).filter(Diagnostic::is_error);
    parsed.diagnostics.into_iter().chain(lints).map(|diagnostic| diagnostic.message).collect()
}

/// The names that a library defines, but for templates.
fn names(library: &str) -> Vec<&str> {
    let head = |line: &str| line.find(|c: char| !(c.is_ascii_alphanumeric() || "_!?".contains(c)));
    let heads = library.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_alphabetic() || "_!?".contains(c)));
    heads
        .filter_map(|line| Some(&line[..head(line)?]).filter(|name| !line[name.len()..].starts_with('{')))
        .map(|name| name.trim_start_matches(['!', '?']))
        .collect()
}

#[test]
fn every_definition_compiles() {
    let libraries = [
        ("lark", include_str!("../libraries/lark.lark")),
        ("python", include_str!("../libraries/python.lark")),
        ("unicode", include_str!("../libraries/unicode.lark")),
    ];
    let bound = "%larkspur { \"declare\": { \"_python__INDENT\": \"<in>\", \"_python__DEDENT\": \"<out>\" } }\n";
    for (library, text) in libraries {
        let names = names(text);
        assert!(names.len() > 1, "{names:?}");
        for name in &names {
            let grammar = format!("{bound}begin: {name}\n%import {library}.{name}\n");
            assert_eq!(lower(&grammar, "begin"), [""; 0], "{library}.{name}");
        }
    }
}
