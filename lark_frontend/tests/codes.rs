//! Every code's bad example gets that code and its good example none.

use larkspur_grammar::{CodeInfo, Diagnostic, Limits, SourceMap};
use larkspur_lark_frontend::{CODES, LarkOptions, parse};
use larkspur_test_support::codes::check;

fn diagnostics(info: &CodeInfo, text: &str) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let source = sources.add("example.lark", text);
    let limits = Limits::default();
    // The one code that is about the caller's choice of start.
    let start = (info.code == "L046" && text.contains("# compile with")).then_some("ws");
    let parsed = parse(&mut sources, source, &LarkOptions { start, ..LarkOptions::new(&limits) });
    assert_eq!(parsed.grammar.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    parsed.diagnostics
}

#[test]
fn examples() {
    check(CODES, false, diagnostics);
}
