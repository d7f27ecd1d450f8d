//! Grammars that an engine keeps by their sources.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use larkspur::grammar::Limits;
use larkspur::{
    CompileOptions, Engine, EngineOptions, ModuleResolver, ModuleText, Modules, Source, TokenMask, Vocabulary,
};

fn engine(grammars_kept_bytes_max: usize) -> Engine {
    let limits = Limits { grammars_kept_bytes_max, ..Limits::default() };
    let options = EngineOptions { limits, ..EngineOptions::default() };
    Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("the slices are sound")
}

/// Masks that the grammar of the source has made before this one.
fn masks_made(engine: &Engine, source: &Source, options: &CompileOptions) -> u64 {
    let grammar = engine.compile_with(source, options).expect("it compiles");
    let before = grammar.stats().masks.hits + grammar.stats().masks.misses;
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.compute_mask(&mut TokenMask::new(engine.vocabulary().len())).expect("within limits");
    before
}

#[test]
fn the_same_source_is_the_same_grammar() {
    let engine = engine(1 << 20);
    let (a, b) = (Source::lark("start: /[ab]+/\n"), Source::lark("start: /[abc]+/\n"));
    let plain = CompileOptions::default();
    assert_eq!(masks_made(&engine, &a, &plain), 0);
    assert_eq!(masks_made(&engine, &b, &plain), 0);
    assert_eq!(masks_made(&engine, &a, &plain), 1);
    assert_eq!(masks_made(&engine, &a, &plain), 2);
    assert_eq!(masks_made(&engine, &b, &plain), 1);
    // The same text under another name, in another language or with other options is another source.
    let renamed = Source { name: "other.lark".to_owned(), ..a.clone() };
    assert_eq!(masks_made(&engine, &renamed, &plain), 0);
    let faced = CompileOptions { llguidance_face: true, ..CompileOptions::default() };
    assert_eq!(masks_made(&engine, &a, &faced), 0);
    assert_eq!(masks_made(&engine, &Source::regex("[ab]+"), &plain), 0);
}

#[test]
fn those_that_others_have_are_kept_for_nothing() {
    let engine = engine(0);
    let source = Source::lark("start: /[ab]+/\n");
    let plain = CompileOptions::default();
    assert_eq!(masks_made(&engine, &source, &plain), 0);
    assert_eq!(masks_made(&engine, &source, &plain), 1, "the last one was still in use when it was put there");
    let kept = engine.compile(&source).expect("it compiles");
    for number in 0..10 {
        masks_made(&engine, &Source::lark(format!("start: \"{number}\"\n")), &plain);
    }
    assert!(masks_made(&engine, &source, &plain) > 0, "it is still held");
    drop(kept);
    masks_made(&engine, &Source::lark("start: \"x\"\n"), &plain);
    assert_eq!(masks_made(&engine, &source, &plain), 0, "there is no room");
}

/// A file that is another one each time.
struct Changing(AtomicUsize);

impl ModuleResolver for Changing {
    fn roots(&self) -> usize {
        1
    }
    fn load(&self, _: usize, path: &str) -> Result<Option<ModuleText>, String> {
        let text = format!("A: \"{}\"\n", self.0.fetch_add(1, Ordering::Relaxed));
        Ok(Some(ModuleText { name: path.to_owned(), text }))
    }
}

#[test]
fn what_may_depend_on_files_is_compiled_each_time() {
    let engine = engine(1 << 20);
    let modules = Some(Modules::new(Changing(AtomicUsize::new(0))));
    let options = CompileOptions { modules, ..CompileOptions::default() };
    for digit in b'0'..b'3' {
        let grammar = engine.compile_with(&Source::lark("%import .file.A\nstart: A\n"), &options).expect("it compiles");
        let matcher = grammar.matcher().expect("within limits");
        for other in b'0'..b'3' {
            assert_eq!(matcher.is_allowed(other.into()), Ok(other == digit));
        }
    }
}
