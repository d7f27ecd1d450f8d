//! Every limit at its smallest and largest through every door: what comes of it is an error that says so, never a panic.

use std::sync::Arc;

use larkspur::{
    CompileOptions, CompiledGrammar, Engine, EngineOptions, Limits, MatcherError, Source, SourceKind, TokenMask,
    Vocabulary, kbnf, link,
};

const LARK: &str = r#"
start: "a" list | %json {"type": "array", "uniqueItems": true, "items": {"enum": [1, [2]]}} | WORD body
list: "[" [list ("," list)*] "]"
WORD: /[a-z]{2,5}/ & ~/if/
body[capture, stop=/;+/]: /(.|\n)*/
%ignore / +/
"#;
const KBNF: &str = "start ::= 'a' {'b'} #'[c-e]{1,3}' except!('\\n\\n')'\\n\\n';";

/// What is not the fault of a limit must not be said.
fn assert_limit(error: &MatcherError) {
    assert!(matches!(error, MatcherError::LimitExceeded { .. }), "{error}");
}

/// A mask, tokens, a rollback, captures.
fn run(grammar: &CompiledGrammar, vocabulary: &Vocabulary) -> Result<(), MatcherError> {
    let mut matcher = grammar.matcher()?;
    let mut mask = TokenMask::new(vocabulary.len());
    for &byte in b"word text;" {
        matcher.compute_mask(&mut mask)?;
        matcher.consume_token(byte.into())?;
    }
    matcher.forced_bytes()?;
    matcher.captures()?;
    matcher.rollback(3)?;
    matcher.reset()
}

fn kbnf_engine(finish: kbnf::Finish, limits: &Limits) {
    let config = kbnf::Config { finish, limits: limits.clone(), ..kbnf::Config::default() };
    let vocabulary = Arc::new(Vocabulary::single_bytes());
    let Ok(mut engine) = kbnf::Engine::with_config(KBNF, vocabulary, config) else { return };
    let _ = engine.compute_allowed_token_ids();
    let _ = engine.update_logits(b'a'.into(), &mut [0.0; 300]);
    let _ = engine.try_accept_new_bytes(b"bbc");
    let _ = engine.reset();
}

#[test]
fn no_limit_makes_a_door_panic() {
    let vocabulary = Arc::new(Vocabulary::single_bytes());
    let source = Source::lark(LARK);
    let saved = Engine::new(vocabulary.clone()).compile(&source).expect("it compiles").save().expect("it can be saved");
    for (&name, value) in Limits::NAMES.iter().flat_map(|name| [0, 1, 10, u64::MAX].map(|value| (name, value))) {
        let mut limits = Limits::default();
        assert!(limits.set(name, value));
        println!("{name} = {value}");

        // Checking a grammar needs no slices.
        let options = EngineOptions { limits: limits.clone(), slices: Vec::new(), ..EngineOptions::default() };
        let without_slices = Engine::with_options(vocabulary.clone(), &options).expect("there are no slices");
        if let Ok(linked) = link(&source, &Default::default(), &limits) {
            let _ = without_slices.compile_linked(linked);
        }
        let options = EngineOptions { limits: limits.clone(), ..EngineOptions::default() };
        let with_slices = Engine::with_options(vocabulary.clone(), &options).ok();
        for engine in with_slices.iter().chain([&without_slices]) {
            let grammars = [engine.compile(&source).ok(), engine.load(&saved).ok()];
            for grammar in grammars.iter().flatten() {
                if let Err(error) = run(grammar, &vocabulary) {
                    assert_limit(&error);
                }
            }
        }
        kbnf_engine(kbnf::Finish::Eager, &limits);
        kbnf_engine(kbnf::Finish::Eos, &limits);
    }
}

/// Nesting is read by recursion: the limit stops where the stack of a thread does, however high it is set. It was a crash.
#[test]
fn deepest_nesting_fits_a_stack() {
    let limits = Limits { grammar_depth_max: usize::MAX, schema_unique_depth_max: usize::MAX, ..Limits::default() };
    let engine = Engine::with_options(
        Arc::new(Vocabulary::single_bytes()),
        &EngineOptions { limits: limits.clone(), slices: Vec::new(), ..EngineOptions::default() },
    );
    let engine = engine.expect("there are no slices");
    type Read = fn(String) -> Source;
    let sources: [(Read, [&str; 5]); 11] = [
        (Source::regex, ["", "[a", "b", "]", ""]),
        (Source::regex, ["", "(?:a|", "b", ")*", ""]),
        (Source::regex, ["", "(?:a(?:(?!c)[^b])*?b|", "b", ")+?", ""]),
        (Source::lark, ["start: ", "(\"a\" ", "\"b\"", ")*", "\n"]),
        (Source::lark, ["start: A\nA: ", "(\"a\" ", "\"b\"", ")*", "\n"]),
        (Source::gbnf, ["root ::= ", "(\"a\" ", "\"b\"", ")*", "\n"]),
        (Source::kbnf, ["start ::= ", "{'a' ", "'b'", "}", ";"]),
        (Source::json_schema, ["", r#"{"items":"#, "true", "}", ""]),
        (Source::json_schema, ["", r#"{"anyOf":[{"type":"null"},"#, "true", "]}", ""]),
        (Source::json_schema, [r#"{"const":"#, "[", "1", "]", "}"]),
        (Source::json_schema, [r#"{"uniqueItems":true,"items":"#, r#"{"items":"#, "true", "}", "}"]),
    ];
    for (index, (source, [head, open, inner, close, end])) in sources.into_iter().enumerate() {
        for depth in [Limits::DEPTH_MAX - 5, 100_000] {
            let source = source([head, &open.repeat(depth), inner, &close.repeat(depth), end].concat());
            println!("{index}, {depth} deep");
            let compiled = engine.compile(&source);
            if depth > Limits::DEPTH_MAX {
                assert!(compiled.is_err());
            }
            let _ = larkspur::convert(&source, SourceKind::Gbnf, &CompileOptions::default(), &limits);
        }
    }
}
