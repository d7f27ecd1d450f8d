//! The blocks of `docs/kbnf.md` compile without a word.

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceMap};
use larkspur_kbnf_frontend::parse;

#[test]
fn blocks() {
    let page = include_str!("../../docs/kbnf.md");
    let blocks: Vec<&str> = page.split("```kbnf\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        let mut sources = SourceMap::new();
        let source = sources.add("kbnf.md", block);
        let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&Limits::default()));
        assert!(parsed.diagnostics.is_empty(), "{block}\n{:#?}", parsed.diagnostics);
    }
}
