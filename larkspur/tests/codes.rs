//! Every code is documented once, and its examples do what they say.

use std::sync::Arc;

use larkspur::{CodeInfo, Diagnostic, Engine, Source, SourceMap, Vocabulary};

#[test]
fn every_code_is_there_once() {
    let codes = larkspur::codes();
    for pair in codes.windows(2) {
        assert!(pair[0].code < pair[1].code, "{} stands twice", pair[1].code);
    }
    for info in &codes {
        assert!(!info.title.is_empty() && !info.explanation.is_empty(), "{} says nothing", info.code);
    }
}

fn diagnostics(engine: &Engine, text: &str) -> (Vec<Diagnostic>, SourceMap) {
    let source = if text.starts_with('{') { Source::list(text) } else { Source::lark(text) };
    match engine.compile(&source) {
        Ok(grammar) => (grammar.warnings().to_vec(), grammar.sources().clone()),
        Err(error) => (error.diagnostics, error.sources),
    }
}

/// The front ends' and the regexes' own tests run theirs; these are the ones that show only when all is put together.
fn is_shown_here(info: &CodeInfo) -> bool {
    ["F", "G0", "P", "V", "B"].iter().any(|start| info.code.starts_with(start))
}

#[test]
fn examples_do_what_they_say() {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    for info in larkspur::codes().into_iter().filter(|info| is_shown_here(info)) {
        if !info.bad.is_empty() {
            let (found, _) = diagnostics(&engine, info.bad);
            assert!(found.iter().any(|diagnostic| diagnostic.code == info.code), "{}: {found:?}", info.code);
        }
        if !info.good.is_empty() {
            let (found, _) = diagnostics(&engine, info.good);
            assert!(found.is_empty(), "{}: {found:?}", info.code);
        }
    }
}
