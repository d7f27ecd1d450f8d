//! Saved grammars through the public door: every kind of source, warnings, vocabularies, limits, versions.

use std::sync::Arc;

use larkspur::grammar::{Automaton, ExprKind, LimitExceeded, Rule, RuleId, State, TerminalId};
use larkspur::{
    CompileOptions, CompiledGrammar, Engine, EngineOptions, FORMAT, Grammar, LexerMode, Limits, LoadError,
    MatcherError, MatcherOptions, SaveError, Source, SourceId, Span, StructuralTags, TokenMask, Vocabulary, codes,
    summary_line,
};

fn engine() -> Engine {
    Engine::new(Arc::new(Vocabulary::single_bytes()))
}

fn saved(engine: &Engine, source: &Source) -> (CompiledGrammar, Vec<u8>) {
    let grammar = engine.compile(source).unwrap_or_else(|error| panic!("{source:?}: {error}"));
    let bytes = grammar.save().expect("it can be saved");
    (grammar, bytes)
}

/// What a grammar's matcher says before each byte of a text and behind it: the mask, what is forced, whether it may end.
fn told(grammar: &CompiledGrammar, text: &str, len: usize) -> Vec<(Vec<u32>, Vec<u8>, bool)> {
    let mut matcher = grammar.matcher().expect("within limits");
    let mut told = Vec::new();
    let mut mask = TokenMask::new(len);
    for byte in text.bytes().map(Some).chain([None]) {
        matcher.compute_mask(&mut mask).expect("within limits");
        let forced = matcher.forced_bytes().expect("within limits");
        told.push((mask.iter().collect(), forced, matcher.is_accepting().expect("within limits")));
        if let Some(byte) = byte {
            matcher.consume_bytes(&[byte]).expect("the text is of the language");
        }
    }
    assert!(told.last().is_some_and(|last| last.2), "{text:?} is whole");
    told
}

#[test]
fn every_kind_of_source() {
    let schema = Source::json_schema(r#"{"type": "integer"}"#);
    let tags = StructuralTags::new().tag("<a>", schema, "</a>").trigger("<a>");
    let sources = [
        (Source::lark("start: \"x\" t \"!\"\nt[capture]: /[a-z]+/\n"), "xabc!"),
        (Source::gbnf("root ::= \"a\" [0-9]+ | root \"+\" root"), "a1+a22"),
        (Source::kbnf("start ::= #'[a-z]+' {',' 'x'};"), "ab,x,x"),
        (Source::json_schema(r#"{"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": true}"#), "[1,3]"),
        (Source::regex("(?:ab|c){2,5}"), "abcab"),
        (
            Source::list(
                r#"{"grammars": [{"lark_grammar": "start: @b \";\" @b"}, {"name": "b", "json_schema": {"type": "null"}}], "max_tokens": 30}"#,
            ),
            "null;null",
        ),
    ];
    for (source, text) in sources.into_iter().chain([(Source::from(tags), "b <a>12</a> c")]) {
        let engine = engine();
        let (grammar, bytes) = saved(&engine, &source);
        let other = self::engine();
        let loaded = other.load(&bytes).unwrap_or_else(|error| panic!("{text}: {error}"));
        assert_eq!(told(&loaded, text, 257), told(&grammar, text, 257), "{text}");
        assert_eq!(loaded.max_tokens(), grammar.max_tokens());
        assert_eq!(loaded.dump_cfg(), grammar.dump_cfg());
        assert_eq!(loaded.save().as_ref(), Ok(&bytes), "{text}");
    }
}

#[test]
fn equal_grammars_are_equal_bytes() {
    let source = Source::json_schema(
        r#"{"type": "object", "minProperties": 1, "patternProperties": {"^x": {}, "^y": {"type": "null"}}}"#,
    );
    let (first, second) = (saved(&engine(), &source).1, saved(&engine(), &source).1);
    assert!(first == second);
}

#[test]
fn used_grammars_are_saved_as_new_ones() {
    let engine = engine();
    let (grammar, bytes) = saved(&engine, &Source::lark("start: /[a-z]+/ (\",\" /[a-z]+/)*"));
    told(&grammar, "ab,cd,ef", 257);
    assert_eq!(grammar.save(), Ok(bytes));
}

#[test]
fn warnings_come_along_with_their_sources() {
    let engine = engine();
    let (grammar, bytes) = saved(&engine, &Source::lark("start: \"a\" | B\nB: /b/ & /c/\nunused: \"c\"\n"));
    assert!(grammar.warnings().len() > 1, "a lint, and one that the engine found");
    let loaded = engine.load(&bytes).expect("it is whole");
    assert_eq!(loaded.warnings(), grammar.warnings());
    let lines = |grammar: &CompiledGrammar| -> Vec<String> {
        grammar.warnings().iter().map(|warning| summary_line(warning, grammar.sources())).collect()
    };
    assert_eq!(lines(&loaded), lines(&grammar));
}

#[test]
fn budgets_and_captures_are_kept() {
    let engine = engine();
    let (_, bytes) = saved(&engine, &Source::lark("start: t \".\"\nt[capture=\"word\", max_tokens=3]: /[a-z]*/\n"));
    let loaded = engine.load(&bytes).expect("it is whole");
    let mut matcher = loaded.matcher_with(MatcherOptions::default()).expect("within limits");
    for byte in *b"abc." {
        matcher.consume_token(byte.into()).expect("allowed");
    }
    assert_eq!(matcher.capture("word").expect("within limits").as_deref(), Some(&b"abc"[..]));
    matcher.reset().expect("within limits");
    for byte in *b"abc" {
        matcher.consume_token(byte.into()).expect("allowed");
    }
    assert!(!matcher.is_allowed(b'd'.into()).expect("within limits"), "the budget is spent");
}

#[test]
fn modes_are_kept() {
    let engine = engine();
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let options = CompileOptions { lexer: Some(mode), ..CompileOptions::default() };
        let grammar = engine.compile_with(&Source::lark("start: (/a+/ | \"ab\")+"), &options).expect("it compiles");
        let loaded = engine.load(&grammar.save().expect("it can be saved")).expect("it is whole");
        assert_eq!(loaded.lexer_mode(), mode);
    }
}

/// Single bytes, with a special token of this id.
fn vocabulary(eos: u32) -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255u8 {
        builder.token(byte.into(), [byte]);
    }
    builder.special(eos, "<eos>").eos(eos);
    Arc::new(builder.build().expect("sound"))
}

#[test]
fn tokens_are_of_one_vocabulary() {
    let (one, same, other) = (vocabulary(256), vocabulary(256), vocabulary(300));
    assert_eq!(one.fingerprint(), same.fingerprint());
    assert_ne!(one.fingerprint(), other.fingerprint());
    let bytes = saved(&Engine::new(one.clone()), &Source::lark("start: <eos> \"a\"")).1;
    assert!(Engine::new(same).load(&bytes).is_ok());
    let error = Engine::new(other.clone()).load(&bytes).expect_err("the token has another id");
    assert_eq!(error, LoadError::Vocabulary);
    assert_eq!(error.to_string(), "the grammar was saved for another vocabulary than this engine's");
    // A text is the same in any vocabulary.
    let bytes = saved(&Engine::new(one), &Source::lark("start: \"a\"")).1;
    let loaded = Engine::new(other).load(&bytes).expect("it speaks of no token");
    assert_eq!(told(&loaded, "a", 301)[1].0, [300]);
}

#[test]
fn versions_and_limits() {
    let engine = engine();
    let bytes = saved(&engine, &Source::lark("start: \"a\" \"b\" /[d-f]+x/ | /[m-z]+y/ \"h\"")).1;
    let mut newer = bytes.clone();
    newer[8..12].copy_from_slice(&(FORMAT + 1).to_le_bytes());
    let error = engine.load(&newer).expect_err("it is of the future");
    assert_eq!(error, LoadError::Version { found: FORMAT + 1, wanted: FORMAT });
    assert_eq!(
        error.to_string(),
        format!("the grammar was saved in format {}; this version reads format {FORMAT}", FORMAT + 1)
    );
    let with = |limits: Limits| {
        let options = EngineOptions { limits, slices: Vec::new(), ..EngineOptions::default() };
        Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("there are no slices")
    };
    let narrow = with(Limits { grammar_symbols_max: 2, ..Limits::default() });
    let limit = LoadError::LimitExceeded { limit: "grammar_symbols_max", value: 2 };
    assert_eq!(narrow.load(&bytes).expect_err("it is larger"), limit);
    let narrow = with(Limits { expressions_max: 3, ..Limits::default() });
    let limit = LoadError::LimitExceeded { limit: "expressions_max", value: 3 };
    assert_eq!(narrow.load(&bytes).expect_err("its regexes are larger"), limit);
}

/// The engine's limits hold for automata, too, not those of where the grammar was saved.
#[test]
fn automata_meet_the_new_limits() {
    let schema = r#"{"type": "array", "uniqueItems": true}"#;
    let bytes = saved(&engine(), &Source::json_schema(schema)).1;
    let limits = Limits { schema_unique_depth_max: 3, ..Limits::default() };
    let options = EngineOptions { limits, ..EngineOptions::default() };
    let narrow = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("the slices are sound");
    let loaded = narrow.load(&bytes).expect("it is whole");
    let mut matcher = loaded.matcher().expect("within limits");
    let error = matcher.consume_bytes(b"[[[[[1").expect_err("three brackets are open");
    assert_eq!(error, MatcherError::TextRejected { at_byte: 3 });
}

/// An automaton that accepts the empty text only and says nothing of itself.
#[derive(Debug)]
struct Mute;

impl Automaton for Mute {
    fn start(&self, start: u32) -> State {
        State::new(start)
    }
    fn is_final(&self, _: &State) -> bool {
        true
    }
    fn edges(&self, _: &State) -> Result<Vec<larkspur::grammar::Edge>, LimitExceeded> {
        Ok(Vec::new())
    }
    fn next(&self, state: &State, _: u32, _: &[u8]) -> Result<State, LimitExceeded> {
        Ok(state.clone())
    }
    fn terminals(&self) -> &[TerminalId] {
        &[]
    }
    fn recorded(&self) -> &[TerminalId] {
        &[]
    }
    fn rules(&self) -> &[RuleId] {
        &[]
    }
}

#[test]
fn automata_of_programs_are_named() {
    let mut grammar = Grammar::new("");
    let span = Span::new(SourceId(0), 0, 0);
    let automaton = grammar.automata.push(Arc::new(Mute));
    let body = grammar.expr(ExprKind::Automaton(automaton, 0), span);
    grammar.start = grammar.rules.push(Rule::new("start", span, body));
    let source = Source::grammar(grammar);
    let error = engine().compile(&source).expect("it compiles").save().expect_err("it is mute");
    assert_eq!(error, SaveError::NotSavable { what: "the automaton G0/M0".into() });
    assert_eq!(error.code(), "F020");
}

#[test]
fn codes_are_explained() {
    let errors = [
        LoadError::NotSaved,
        LoadError::Version { found: 0, wanted: 1 },
        LoadError::Damaged,
        LoadError::Vocabulary,
        LoadError::Inconsistent { what: "" },
        LoadError::LimitExceeded { limit: "", value: 0 },
    ];
    for error in errors {
        assert!(codes().iter().any(|info| info.code == error.code()), "{error}");
    }
}

/// A change of how grammars are saved comes with another [`FORMAT`]: then change the hash here, too. What lowering makes changes the hash
/// alone.
#[test]
fn format_is_the_same() {
    let sources = [
        Source::lark(
            "start: \"x\" t* <eos>\nt[max_tokens=3, capture]: /[a-c]+(?!d)/ | \"yes\" | \"no\"\n%ignore / /\n",
        ),
        Source::lark("start: a::0\na::_: \"x\" a::incr([0:4]) %if lt([0:4], 5)\n | \"end\"\n"),
        Source::json_schema(r#"{"type": "array", "items": {"enum": [1, [2.5, {"a": "b"}]]}, "uniqueItems": true}"#),
        Source::json_schema(r#"{"type": "object", "properties": {"a": {"multipleOf": 0.3}}, "maxProperties": 2}"#),
    ];
    let engine = engine();
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in sources.iter().flat_map(|source| saved(&engine, source).1) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }
    assert_eq!((FORMAT, format!("{hash:016x}").as_str()), (4, "5a8d437ff9c83741"));
}
