//! The blocks of `docs/gbnf.md` compile without a word.

use larkspur_gbnf_frontend::parse;
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceMap};
use larkspur_test_support::blocks;

#[test]
fn all_blocks() {
    for block in blocks(include_str!("../../docs/gbnf.md"), "gbnf") {
        let mut sources = SourceMap::new();
        let source = sources.add("gbnf.md", block);
        let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&Limits::default()));
        assert!(parsed.diagnostics.is_empty(), "{block}\n{:#?}", parsed.diagnostics);
    }
}
