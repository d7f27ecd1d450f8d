//! The codes' examples of the structural lints.

use larkspur_grammar::{Limits, SourceMap, lints};
use larkspur_lark_frontend::{LarkOptions, parse};

#[test]
fn examples_of_the_lints() {
    for info in lints::CODES.iter().filter(|info| !info.bad.is_empty()) {
        let codes = |text: &str| -> Vec<&str> {
            let mut sources = SourceMap::new();
            let source = sources.add("example.lark", text);
            let parsed = parse(&mut sources, source, &LarkOptions::new(&Limits::default()));
            assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
            lints::lint(&parsed.grammar.unwrap()).iter().map(|diagnostic| diagnostic.code).collect()
        };
        assert_eq!(codes(info.bad), [info.code]);
        assert_eq!(codes(info.good), [""; 0], "{}", info.code);
    }
}
