//! KBNF through the facade: the engine in KBNF's shape, and what shows only when all is put together.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use larkspur::kbnf::{AcceptTokenError, AcceptTokenResult, Config, Engine, Finish, MaskLogitsError, UpdateLogitsError};
use larkspur::{CompileOptions, Limits, Source, Spelling, Vocabulary};
use proptest::prelude::*;

const OUT: f32 = f32::NEG_INFINITY;

fn vocabulary(tokens: &[(u32, &[u8])]) -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    tokens.iter().for_each(|(id, bytes)| _ = builder.token(*id, bytes));
    Arc::new(builder.build().expect("sound tokens"))
}

fn words(words: &[&str]) -> Arc<Vocabulary> {
    let tokens: Vec<(u32, &[u8])> = words.iter().enumerate().map(|(id, word)| (id as u32, word.as_bytes())).collect();
    vocabulary(&tokens)
}

fn allowed(engine: &mut Engine) -> Vec<u32> {
    engine.compute_allowed_token_ids().expect("within limits");
    engine.allowed_token_ids_from_last_computation().iter().collect()
}

/// The vocabulary of the examples in KBNF's documentation.
fn few_tokens() -> Arc<Vocabulary> {
    vocabulary(&[(1, b"a"), (2, b"hello"), (4, b"\n"), (5, b"\n\n")])
}

const UP_TO_BLANK_LINE: &str = "start ::= except!('\\n\\n')'\\n\\n';";

#[test]
fn example_of_a_whole_text() {
    let tokens: [(u32, &[u8]); 5] = [(1, "你好".as_bytes()), (2, b"hello"), (3, &[250]), (4, b"\n"), (5, b"\n\n")];
    let grammar = "\nstart ::= \"你好\"except!('\\n\\n')'\\n\\n';\n";
    let mut engine = Engine::new(grammar, vocabulary(&tokens)).expect("it compiles");
    let steps = [
        (1, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], "[-inf, 0.0, 0.0, 1.0, 0.0, 0.0]"),
        (3, [0.0, 0.0, 0.0, 0.0, 1.0, 0.0], "[-inf, 0.0, 0.0, 0.0, 1.0, 0.0]"),
        (4, [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], "[-inf, 1.0, 0.0, 0.0, 0.0, -inf]"),
        (1, [0.0, 0.0, 0.0, 0.0, 0.0, 1.0], "[-inf, 0.0, 0.0, 0.0, 0.0, 1.0]"),
    ];
    for (token, mut logits, expected) in steps {
        assert_eq!(engine.update_logits(token, &mut logits), Ok(AcceptTokenResult::Ongoing));
        assert_eq!(format!("{logits:?}"), expected);
    }
    let mut logits = [0.0; 6];
    assert_eq!(engine.update_logits(5, &mut logits), Ok(AcceptTokenResult::Finished));
    assert_eq!(logits, [0.0; 6], "at the end logits are left as they are");
    assert_eq!(engine.update_logits(5, &mut logits), Err(AcceptTokenError::Finished.into()));
}

#[test]
fn examples_of_first_tokens_prompts_and_reuse() {
    let mut engine = Engine::new(UP_TO_BLANK_LINE, few_tokens()).expect("it compiles");
    let expected = "[-inf, 0.0, 0.0, -inf, 0.0, 0.0]";
    let mut logits = [0.0; 6];
    assert_eq!(allowed(&mut engine), [1, 2, 4, 5]);
    engine.mask_logits(&mut logits).expect("as many as tokens");
    assert_eq!(format!("{logits:?}"), expected);

    let mut logits = [0.0; 6];
    assert_eq!(engine.try_accept_new_token(2), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(engine.try_accept_new_token(2), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(allowed(&mut engine), [1, 2, 4, 5]);
    engine.mask_logits(&mut logits).expect("as many as tokens");
    assert_eq!(format!("{logits:?}"), expected);

    assert_eq!(engine.try_accept_new_token(5), Ok(AcceptTokenResult::Finished));
    assert!(allowed(&mut engine).is_empty());
    engine.reset().expect("within limits");
    let mut logits = [0.0; 6];
    assert_eq!(engine.update_logits(2, &mut logits), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(format!("{logits:?}"), expected);
}

#[test]
fn a_token_does_not_run_past_the_end() {
    let vocabulary = words(&["b", "bb", "bbb", "bbbb", "a", "aa"]);
    let mut engine = Engine::new("start ::= ('bb')+;", vocabulary.clone()).expect("it compiles");
    assert_eq!(allowed(&mut engine), [0, 1]);
    assert_eq!(engine.try_accept_new_token(2), Err(AcceptTokenError::Rejected));
    assert!(!engine.is_finished());
    assert_eq!(engine.try_accept_new_bytes(b"bbb"), Err(AcceptTokenError::Rejected));
    assert_eq!(engine.try_accept_new_token(0), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(allowed(&mut engine), [0]);
    assert_eq!(engine.try_accept_new_bytes(b"b"), Ok(AcceptTokenResult::Finished));
    assert!(engine.is_finished());
    let mut engine = Engine::new("start ::= 'a'+;", vocabulary).expect("it compiles");
    assert_eq!(engine.try_accept_new_token(5), Err(AcceptTokenError::Rejected));
    assert_eq!(engine.try_accept_new_token(4), Ok(AcceptTokenResult::Finished));
}

#[test]
fn the_empty_text_is_no_end() {
    let mut engine = Engine::new("start ::= ('{' start '}')?;", words(&["{", "}", "{}", "{{}}"])).expect("it compiles");
    assert_eq!(allowed(&mut engine), [0, 2, 3]);
    assert_eq!(engine.try_accept_new_bytes(b""), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(engine.try_accept_new_token(3), Ok(AcceptTokenResult::Finished));
    assert!(Engine::new("start ::= '';", words(&["a"])).is_err());
}

#[test]
fn errors_leave_everything_as_it_was() {
    let mut engine = Engine::new(UP_TO_BLANK_LINE, few_tokens()).expect("it compiles");
    let before = allowed(&mut engine);
    let (mut few, mut many) = ([1.0; 5], [1.0; 9]);
    let too_few = MaskLogitsError::InvalidLogitsLength { expected: 6, found: 5 };
    assert_eq!(engine.mask_logits(&mut few), Err(too_few));
    assert_eq!(engine.update_logits(1, &mut few), Err(UpdateLogitsError::Mask(too_few)));
    assert_eq!(engine.update_logits(9, &mut many), Err(AcceptTokenError::UnknownTokenId.into()));
    assert_eq!(engine.update_logits(3, &mut many), Err(AcceptTokenError::Rejected.into()), "a slot without a token");
    assert_eq!((few, many), ([1.0; 5], [1.0; 9]));
    assert_eq!(allowed(&mut engine), before);
    engine.mask_logits(&mut many).expect("more than enough");
    assert_eq!(many, [OUT, 1.0, 1.0, OUT, 1.0, 1.0, OUT, OUT, OUT]);
    assert_eq!(engine.try_accept_new_bytes(b"ab\n"), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(engine.try_accept_new_bytes(b"x\n\n\n"), Err(AcceptTokenError::Rejected));
    let mut other = engine.clone();
    assert_eq!(engine.try_accept_new_bytes(b"\n"), Ok(AcceptTokenResult::Finished));
    assert!(!other.is_finished());
    assert_eq!(allowed(&mut other), [1, 2, 4]);

    let limits = Limits { mask_work_max: 20, ..Limits::default() };
    let config = Config { limits, ..Config::default() };
    let mut engine =
        Engine::with_config("start ::= {any!} '.';", Arc::new(Vocabulary::single_bytes()), config).unwrap();
    let mut logits = [0.0; 257];
    for _ in 0..2 {
        let error = engine.update_logits(u32::from(b'a'), &mut logits).expect_err("too much work");
        assert_eq!(error.to_string(), "limit `mask_work_max` of 20 exceeded");
        assert_eq!(logits, [0.0; 257]);
    }
    assert_eq!(engine.try_accept_new_bytes(b"."), Ok(AcceptTokenResult::Finished));
}

#[test]
fn with_an_end_token() {
    let mut builder = Vocabulary::builder();
    builder.token(0, "a").token(1, "aa").token(2, "b").special(3, "</s>").eos(3);
    let vocabulary = Arc::new(builder.build().expect("sound tokens"));
    let config = Config { finish: Finish::Eos, start_nonterminal: "letters".to_owned(), ..Config::default() };
    let mut engine = Engine::with_config("letters ::= 'a'+ 'b'?;", vocabulary.clone(), config.clone()).expect("sound");
    assert_eq!(allowed(&mut engine), [0, 1]);
    assert_eq!(engine.try_accept_new_token(3), Err(AcceptTokenError::Rejected));
    assert_eq!(engine.try_accept_new_token(1), Ok(AcceptTokenResult::Ongoing));
    assert_eq!(allowed(&mut engine), [0, 1, 2, 3]);
    let mut other = engine.clone();
    assert_eq!(engine.try_accept_new_token(3), Ok(AcceptTokenResult::Finished));
    assert_eq!(engine.try_accept_new_token(0), Err(AcceptTokenError::Finished));
    assert!(allowed(&mut engine).is_empty());
    let mut third = other.clone();
    assert_eq!(other.try_accept_new_token(2), Ok(AcceptTokenResult::Finished), "nothing can follow");
    assert_eq!(third.try_accept_new_bytes(b"ab"), Ok(AcceptTokenResult::Finished));
    assert_eq!(third.try_accept_new_bytes(b"b"), Err(AcceptTokenError::Finished));

    let mut endless =
        Engine::with_config("letters ::= 'a' letters;", vocabulary, config).expect("it may go on for ever");
    for _ in 0..3 {
        assert_eq!(allowed(&mut endless), [0, 1], "the end is never offered");
        assert_eq!(endless.try_accept_new_token(1), Ok(AcceptTokenResult::Ongoing));
    }
    let lints: Vec<&str> = endless.grammar().warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(lints, ["G104"]);
}

/// A token, and whether it is refused, goes on or ends the text.
type Verdict = (&'static str, char);

/// One of each kind that the tests of KBNF's engine have: `!` is refused, `+` goes on, `.` is the end.
const VERDICTS: [(&str, &[Verdict]); 18] = [
    ("start ::= 'good day\\n';", &[("b", '!'), ("go", '+'), ("od ", '+'), ("day", '+'), ("\n", '.'), ("\n", '!')]),
    ("start ::= #'good day\n';", &[("b", '!'), ("go", '+'), ("od ", '+'), ("day", '+'), ("\n", '.')]),
    ("start ::= #'[0-9]+' '\\n';", &[("b", '!'), ("1", '+'), (",", '!'), ("1", '+'), ("\n", '.')]),
    ("start ::= 'aaa';", &[("b", '!'), ("a", '+'), ("aa", '.'), ("a", '!')]),
    ("start ::= 'abc';", &[("a", '+'), ("b", '+'), ("a", '!'), ("c", '.')]),
    ("start ::= #'(\\n\\n)+';", &[("b", '!'), ("\n\n", '.'), ("\n\n", '!')]),
    ("start ::= 'bb' | start 'bb';", &[("bb", '.'), ("bb", '!')]),
    ("start ::= c '\\n'; c ::= 'c' | #'c' c;", &[("c", '+'), ("c", '+'), ("b", '!'), ("c", '+'), ("\n", '.')]),
    ("start ::= c '\\n'; c ::= '\\u0020' | #'\\u0020' c;", &[(" ", '+'), (" ", '+'), ("\n", '.')]),
    ("start ::= a '\\n'; a ::= 'x' | 'x' b; b ::= 'y' | 'y' a;", &[("x", '+'), ("x", '!'), ("y", '+'), ("\n", '.')]),
    (
        "start ::= a '\\n'; a ::= 'x' [b]; b ::= 'y' [a];",
        &[("y", '!'), ("x", '+'), ("y", '+'), ("x", '+'), ("\n", '.')],
    ),
    ("start ::= ('{' start '}')?;", &[("}", '!'), ("{", '+'), ("{", '+'), ("}", '+'), ("}", '.')]),
    ("start ::= #\".+\" '\\n';", &[("\n", '!'), ("good", '+'), ("day", '+'), ("\n", '.')]),
    ("start ::= #substrs'abcbc' '\\n';", &[("c", '+'), ("b", '+'), ("a", '!'), ("c", '+'), ("b", '!'), ("\n", '.')]),
    (
        "start ::= #e'(.|\\n)+\\n\\n' 'a';",
        &[("good", '+'), ("\n", '+'), ("day", '+'), ("\n\n", '+'), ("\n", '!'), ("a", '.')],
    ),
    ("start ::= #ex'day|b' 'd' '\\n';", &[("\n", '+'), ("b", '!'), ("day", '!'), ("d", '+'), ("\n", '.')]),
    ("start ::= except!('\\n\\n') '\\n\\n';", &[("\n\n", '+'), ("\n", '.')]),
    (
        "start ::= '{' list; list ::= #'\\\\A( |\\n)*\\\\z' 'a' (list | '}');",
        &[("{", '+'), ("}", '!'), (" ", '+'), ("a", '+'), ("\n", '+'), ("a", '+'), ("}", '.')],
    ),
];

#[test]
fn tokens_of_every_kind_of_grammar() {
    let tokens: std::collections::BTreeSet<&str> =
        VERDICTS.iter().flat_map(|(_, verdicts)| verdicts.iter().map(|&(token, _)| token)).collect();
    let tokens: Vec<&str> = tokens.into_iter().collect();
    for cache_enabled in [true, false] {
        for (grammar, verdicts) in VERDICTS {
            let config = Config { cache_enabled, ..Config::default() };
            let mut engine = Engine::with_config(grammar, words(&tokens), config).expect(grammar);
            // The second time all is known.
            for _ in 0..2 {
                engine.reset().expect("within limits");
                for &(token, expected) in verdicts {
                    let id = tokens.iter().position(|&other| other == token).expect("it is one of them") as u32;
                    assert_eq!(allowed(&mut engine).contains(&id), expected != '!', "{grammar}: {token:?}");
                    let found = match engine.try_accept_new_token(id) {
                        Ok(AcceptTokenResult::Ongoing) => '+',
                        Ok(AcceptTokenResult::Finished) => '.',
                        Err(_) => '!',
                    };
                    assert_eq!(found, expected, "{grammar}: {token:?}");
                }
                assert!(engine.is_finished(), "{grammar}");
            }
        }
    }
}

/// What Formatron makes of its benchmark's classes, as KBNF in the samples, is valid by JSON Schemas of the same classes.
#[test]
fn formatrons_schemas_as_json_schemas() {
    let linked_list = r##"{"$ref": "#/$defs/cell", "$defs": {"cell": {"type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"anyOf": [{"$ref": "#/$defs/cell"}, {"type": "null"}]}},
        "required": ["value", "next"], "additionalProperties": false}}}"##;
    let orders = r##"{"type": "object", "properties": {
            "id": {"type": "integer"},
            "customer": {"type": "object", "properties": {
                "id": {"type": "integer"}, "name": {"type": "string"}, "phone": {"type": "string"},
                "address": {"type": "string"}, "loyalty_points": {"type": "integer"}, "is_active": {"type": "boolean"}},
                "required": ["id", "name", "phone", "address"], "additionalProperties": false},
            "items": {"type": "array", "items": {"type": "object", "properties": {
                "product_id": {"type": "integer"}, "variant_id": {"type": "integer"}, "quantity": {"type": "integer"},
                "price": {"type": "number"}},
                "required": ["product_id", "variant_id", "quantity", "price"], "additionalProperties": false}},
            "total_amount": {"type": "number"}, "status": {"type": "string"}},
        "required": ["id", "customer", "items", "total_amount", "status"], "additionalProperties": false}"##;
    let address = r##"{"type": "object", "properties": {
            "street": {"type": "string"}, "city": {"type": "string"}, "state": {"enum": ["CA", "NY", "WA"]},
            "zip": {"type": "string", "pattern": "^[0-9]{5}(-[0-9]{4})?$"}, "tags": {"type": "array", "items": {"type": "string"}}},
        "required": ["street", "city", "state", "zip"], "additionalProperties": false}"##;
    #[derive(serde::Deserialize)]
    struct Sample {
        accepts: Vec<String>,
        incomplete: Vec<String>,
        rejects: Vec<Reject>,
    }
    #[derive(serde::Deserialize)]
    struct Reject {
        text: String,
    }
    let engine = larkspur::Engine::new(Arc::new(Vocabulary::single_bytes()));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../sample_grammars");
    for (name, schema) in [("kbnf_address", address), ("kbnf_linked_list", linked_list), ("kbnf_orders", orders)] {
        let facts = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("the sample's texts");
        let sample: Sample = toml::from_str(&facts).expect("they are TOML");
        let text = std::fs::read_to_string(folder.join(format!("{name}.kbnf"))).expect("the sample");
        let options = CompileOptions { spelling: Spelling::validator(), ..CompileOptions::default() };
        let grammars = [
            engine.compile(&Source::kbnf(text)).expect("it compiles"),
            engine.compile_with(&Source::json_schema(schema), &options).expect("it compiles"),
        ];
        for grammar in grammars {
            for text in &sample.accepts {
                assert_eq!(judge(&grammar, text.as_bytes()), (true, true), "{name}: {text}");
            }
            for text in sample.incomplete.iter().chain(sample.rejects.iter().map(|reject| &reject.text)) {
                assert!(!judge(&grammar, text.as_bytes()).0, "{name}: {text}");
            }
        }
    }
}

#[test]
fn caches_outlive_a_reset() {
    let text = "start ::= '[' {item} ']'; item ::= #'[0-9]+' ',' | start;";
    let mut engine = Engine::new(text, Arc::new(Vocabulary::single_bytes())).expect("it compiles");
    let run = |engine: &mut Engine| {
        engine.reset().expect("within limits");
        for &byte in b"[12,[[3,],],]" {
            if engine.try_accept_new_token(byte.into()).is_ok() {
                let _ = allowed(engine);
            }
        }
        engine.grammar().stats().masks
    };
    let (first, second) = (run(&mut engine), run(&mut engine));
    assert!(first.misses > 0);
    assert_eq!((second.misses, second.nodes_visited), (first.misses, first.nodes_visited));
    let config = Config { cache_enabled: false, ..Config::default() };
    let mut engine = Engine::with_config(text, Arc::new(Vocabulary::single_bytes()), config).expect("it compiles");
    assert!(run(&mut engine).misses < run(&mut engine).misses);
}

#[test]
fn memory_is_bounded_on_long_texts() {
    let text = "start ::= C '\\n'; C ::= 'c' C | 'c';";
    let mut engine = Engine::new(text, words(&["c", "cccccccc", "\n"])).expect("it compiles");
    let mut logits = [0.0; 3];
    for _ in 0..100_000 {
        engine.update_logits(1, &mut logits).expect("any number of them");
    }
    assert_eq!(logits, [0.0; 3]);
    assert!(engine.grammar().stats().earley_sets < 20, "{:?}", engine.grammar().stats());
    assert_eq!(engine.try_accept_new_token(2), Ok(AcceptTokenResult::Finished));
}

/// Each compiles or is refused within a second.
#[test]
fn hostile_texts() {
    let engine = larkspur::Engine::new(Arc::new(Vocabulary::single_bytes()));
    let chain: String = (0..10_000).map(|number| format!("r{number} ::= r{} | 'x' r{number};\n", number + 1)).collect();
    let words: Vec<String> = (0..100_000).map(|number| format!("'w{number}'")).collect();
    let texts = [
        (format!("start ::= r0;\n{chain} r10000 ::= 'a';"), true),
        (format!("start ::= r0;\n{chain} r10000 ::= r0;"), true),
        (format!("start ::= {};", words.join("|")), true),
        (format!("start ::= {};", words.join(" ")), true),
        (format!("start ::= {};", "[".repeat(100_000)), false),
        (format!("start ::= except!(w)'.'; w ::= {};", words[..10_000].join("|")), true),
        (format!("start ::= {} '!';", "'a'?".repeat(1_000)), true),
        (format!("start ::= {} '!';", "#ex'ab'".repeat(1_000)), true),
        ("start ::= #'(a{1000}){1000}' #ex'(a|b){1000}a' '.';".to_owned(), true),
    ];
    for (text, compiles) in texts {
        let begin = Instant::now();
        let compiled = engine.compile(&Source::kbnf(text.as_str()));
        let took = begin.elapsed();
        assert_eq!(compiled.is_ok(), compiles, "{:.60}…: {:?}", text, compiled.err());
        // A debug build on a machine with other work.
        assert!(took < Duration::from_secs(10), "{text:.60}…: {took:?}");
        println!("{text:.60}…: {took:?}");
    }
}

const GRAMMARS: [&str; 12] = [
    "start ::= ('bb')+;",
    "start ::= ['a'] {'ab' | 'b'} 'a';",
    "start ::= except!('ab') 'ab';",
    "start ::= #ex'b' | 'b' start;",
    "start ::= #e'[ab]*b' #'a*' 'c';",
    "start ::= ('a' start 'b')?;",
    "start ::= 'a' start | 'c';",
    "start ::= x 'c'; x ::= x x | 'a' | 'bb';",
    "start ::= 'a' start;",
    "start ::= except!(w, 3) w; w ::= 'b' | 'ca';",
    "start ::= #substrs'abcab' 'cc';",
    "start ::= any! {any!} 'é';",
];

/// Whether the text is complete, and whether it can be completed; by the plain matcher.
fn judge(grammar: &larkspur::CompiledGrammar, text: &[u8]) -> (bool, bool) {
    let mut matcher = grammar.matcher().expect("it starts");
    let is_viable = matcher.consume_bytes(text).is_ok();
    (is_viable && matcher.is_accepting().expect("within limits"), is_viable)
}

proptest! {
    /// In every state a token is allowed iff no place within it is an end, and what follows can be completed.
    #[test]
    fn eager_masks_are_those_of_the_shortest_texts(
        number in 0..GRAMMARS.len(),
        tokens in prop::collection::vec("[abc]{1,4}|é|a\u{e9}b", 1..12),
        choices in prop::collection::vec(0..1000usize, 8),
    ) {
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let plain = larkspur::Engine::new(Arc::new(Vocabulary::single_bytes()));
        let plain = plain.compile(&Source::kbnf(GRAMMARS[number])).expect("it compiles");
        let mut engine = Engine::new(GRAMMARS[number], words(&tokens)).expect("it compiles");
        let mut text: Vec<u8> = Vec::new();
        for choice in choices {
            let is_end = !text.is_empty() && judge(&plain, &text).0;
            prop_assert_eq!(engine.is_finished(), is_end, "after {:?}", text);
            let expected: Vec<u32> = (0..tokens.len() as u32).filter(|&id| {
                let longer = [text.as_slice(), tokens[id as usize].as_bytes()].concat();
                let runs_past = |len: usize| judge(&plain, &longer[..len]).0;
                !is_end && judge(&plain, &longer).1 && !(text.len() + 1..longer.len()).any(runs_past)
            }).collect();
            let found = allowed(&mut engine);
            // Of tokens with equal bytes all are allowed.
            prop_assert_eq!(&found, &expected, "after {:?} of {:?}", text, tokens);
            for id in 0..tokens.len() as u32 {
                prop_assert_eq!(engine.clone().try_accept_new_token(id).is_ok(), found.contains(&id));
            }
            let Some(&id) = found.get(choice % found.len().max(1)) else { break };
            engine.try_accept_new_token(id).expect("it is allowed");
            text.extend_from_slice(tokens[id as usize].as_bytes());
        }
    }
}

/// The bytes allowed, whether the text is finished, and the byte taken.
type Step = (Vec<u8>, bool, Option<u8>);

#[derive(serde::Deserialize)]
struct Case {
    grammar: String,
    walks: Vec<Vec<Step>>,
}

/// A Python that has the package: `LARKSPUR_LARK_PYTHON`, or `python3`.
fn python() -> Option<PathBuf> {
    let candidates = [std::env::var_os("LARKSPUR_LARK_PYTHON").map(PathBuf::from), Some("python3".into())];
    candidates.into_iter().flatten().find(|python| {
        let output = Command::new(python).args(["-c", "import kbnf"]).output();
        output.is_ok_and(|output| output.status.success())
    })
}

#[test]
fn the_engine_allows_what_kbnfs_engine_allows() {
    let Some(python) = python() else {
        println!("skipped: no Python with the package `kbnf`");
        return;
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/kbnf_oracle.py");
    let seed = std::env::var("LARKSPUR_TEST_SEED").unwrap_or_else(|_| "1".into());
    let factor = std::env::var("LARKSPUR_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1_u32);
    let count = 120 * factor;
    let output = Command::new(python).arg(script).args([seed, count.to_string()]).output().expect("Python runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let cases: Vec<Case> = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
    assert_eq!(cases.len(), count as usize, "the script prints as many as it was asked for");
    let mut failures = Vec::new();
    for Case { grammar, walks } in cases {
        let mut engine = match Engine::new(&grammar, Arc::new(Vocabulary::single_bytes())) {
            Ok(engine) => engine,
            Err(error) => {
                // KBNF takes a grammar without texts, and allows nothing.
                let is_empty = error.diagnostics.iter().any(|one| ["P001", "K022"].contains(&one.code));
                if !is_empty || walks.iter().any(|walk| !walk[0].0.is_empty()) {
                    failures.push(format!("{grammar}\nis refused: {error}"));
                }
                continue;
            }
        };
        for walk in walks {
            engine.reset().expect("within limits");
            let mut text = Vec::new();
            for (theirs, is_finished, taken) in walk {
                // Of the bytes that KBNF was asked about.
                let is_known = |byte: &u8| b"abc\n\xc3\xa9\xfa".contains(byte);
                let ours: Vec<u8> = allowed(&mut engine).into_iter().map(|id| id as u8).filter(is_known).collect();
                if (&ours, engine.is_finished()) != (&theirs, is_finished) {
                    let after = text.escape_ascii();
                    let (ours, theirs) = (ours.escape_ascii().to_string(), theirs.escape_ascii().to_string());
                    failures.push(format!("{grammar}\nafter {after}: `{ours}`, KBNF `{theirs}` {is_finished}"));
                    break;
                }
                let Some(taken) = taken else { break };
                text.push(taken);
                engine.try_accept_new_token(taken.into()).expect("it is allowed");
            }
        }
    }
    assert!(failures.is_empty(), "{} differ:\n{}", failures.len(), failures[..failures.len().min(8)].join("\n\n"));
}

/// Limits that are too small for the slices, which nobody gave, are told as others are; they were a panic.
#[test]
fn limits_too_small_for_slices() {
    let limits = Limits { expressions_max: 10, ..Limits::default() };
    let config = Config { finish: Finish::Eos, limits, ..Config::default() };
    let error = Engine::with_config("start ::= 'a';", few_tokens(), config).expect_err("a limit");
    assert_eq!(error.to_string(), "error[B002]: the limit `expressions_max` of 10 is exceeded");
}
