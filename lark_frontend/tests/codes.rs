//! Every code's bad example gets that code and its good example none.

use larkspur_grammar::{Diagnostic, Limits, SourceMap};
use larkspur_lark_frontend::{CODES, LarkOptions, parse};

fn diagnostics(code: &str, text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let source = sources.add("example.lark", text);
    let limits = Limits::default();
    // The one code that is about the caller's choice of start.
    let start = (code == "L046" && text.contains("# compile with")).then_some("ws");
    let parsed = parse(&mut sources, source, &LarkOptions { start, ..LarkOptions::new(&limits) });
    assert_eq!(parsed.grammar.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    parsed.diagnostics
}

#[test]
fn examples() {
    let mut failures = Vec::new();
    for info in CODES {
        if !info.bad.is_empty() {
            let codes: Vec<_> = diagnostics(info.code, info.bad).into_iter().map(|d| (d.code, d.message)).collect();
            if codes.is_empty() || codes.iter().any(|(code, _)| *code != info.code) {
                failures.push(format!("{}: bad example gets {codes:?}", info.code));
            }
        }
        let codes: Vec<_> = diagnostics("", info.good).into_iter().map(|d| (d.code, d.message)).collect();
        if !codes.is_empty() {
            failures.push(format!("{}: good example gets {codes:?}", info.code));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn codes_are_sorted_and_unique() {
    assert!(CODES.windows(2).all(|pair| pair[0].code < pair[1].code));
}
