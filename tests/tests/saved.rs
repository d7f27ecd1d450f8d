//! Grammars that are saved and loaded do what they did: samples, cases, schemas, random grammars. Bytes that are none of
//! a grammar are refused, whatever they are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use larkspur::{
    CompileOptions, CompiledGrammar, Engine, EngineOptions, FORMAT, Limits, Linked, LinkedGrammar, LoadError, Matcher,
    SaveError, Source, SourceMap, TokenMask, Vocabulary,
};
use larkspur_tests::cases::Step;
use larkspur_tests::compare::{feed, vocabulary};
use larkspur_tests::random::{Features, specs, vocabs};
use larkspur_tests::{cases, samples};
use proptest::prelude::*;

/// Tokens of one walk.
const WALK_LEN: usize = 24;

/// Numbers that look random.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % below
    }
}

fn engine(vocabulary: Arc<Vocabulary>) -> Engine {
    Engine::new(vocabulary)
}

/// All that a matcher says of where it is.
#[derive(PartialEq, Debug)]
struct Place {
    mask: Result<Vec<u32>, larkspur::MatcherError>,
    is_accepting: Result<bool, larkspur::MatcherError>,
    forced: Result<Vec<u8>, larkspur::MatcherError>,
    temperature: Result<Option<f32>, larkspur::MatcherError>,
    expected: Result<Vec<String>, larkspur::MatcherError>,
    captures: Result<Vec<(String, Vec<u8>)>, larkspur::MatcherError>,
    tokens_left: Option<u32>,
    text: Vec<u8>,
}

fn place(matcher: &mut Matcher, vocabulary_len: usize) -> Place {
    let mut mask = TokenMask::new(vocabulary_len);
    let computed = matcher.compute_mask(&mut mask);
    let captures = matcher.captures();
    Place {
        mask: computed.map(|()| mask.iter().collect()),
        is_accepting: matcher.is_accepting(),
        forced: matcher.forced_bytes(),
        temperature: matcher.temperature(),
        expected: matcher.expected(),
        captures: captures.map(|all| all.into_iter().map(|capture| (capture.name, capture.bytes)).collect()),
        tokens_left: matcher.tokens_left(),
        text: matcher.text(),
    }
}

/// A grammar that was loaded into another engine, after a look at all that it says of itself.
fn loaded(name: &str, grammar: &CompiledGrammar, vocabulary: &Arc<Vocabulary>) -> CompiledGrammar {
    let bytes = grammar.save().unwrap_or_else(|error| panic!("{name}: {error}"));
    let other = engine(vocabulary.clone());
    let loaded = other.load(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(loaded.save().as_ref() == Ok(&bytes), "{name}: other bytes when it is saved again");
    assert_eq!(loaded.dump_cfg(), grammar.dump_cfg(), "{name}");
    assert_eq!(loaded.dump_lexer(), grammar.dump_lexer(), "{name}");
    assert_eq!(loaded.lexer_mode(), grammar.lexer_mode(), "{name}");
    assert_eq!(loaded.max_tokens(), grammar.max_tokens(), "{name}");
    assert_eq!(loaded.warnings().len(), grammar.warnings().len(), "{name}");
    loaded
}

/// Follows the same steps in both, then walks on at random through the masks.
fn compare(
    name: &str,
    (one, other): (&CompiledGrammar, &CompiledGrammar),
    vocabulary_len: usize,
    steps: &[Step],
    seed: u64,
) {
    let (Ok(mut one), Ok(mut other)) = (one.matcher(), other.matcher()) else {
        panic!("{name}: no matcher");
    };
    let mut numbers = Numbers(seed);
    for index in 0..steps.len() + WALK_LEN {
        let (here, there) = (place(&mut one, vocabulary_len), place(&mut other, vocabulary_len));
        assert_eq!(here, there, "{name}: after {index} steps");
        let step = match (steps.get(index), &here.mask) {
            (Some(step), _) => step.clone(),
            (None, Ok(mask)) if !mask.is_empty() => Step::Token(mask[numbers.next(mask.len())]),
            _ => return,
        };
        let (fed, also) = (feed(&mut one, &step), feed(&mut other, &step));
        assert_eq!(fed, also, "{name}: step {index}");
        if fed.is_err() || one.is_stopped() {
            assert_eq!(one.stop_reason(), other.stop_reason(), "{name}");
            return;
        }
    }
}

fn compile_linked(engine: &Engine, grammar: LinkedGrammar) -> Option<CompiledGrammar> {
    let linked = Linked { grammar, sources: SourceMap::new(), warnings: Vec::new(), max_tokens: None };
    engine.compile_linked(linked).ok()
}

/// Saves and loads, and compares along the texts and a few random walks. False if the grammar does not compile.
fn round_trip(name: &str, linked: LinkedGrammar, vocabulary: &Arc<Vocabulary>, texts: &[Vec<Step>]) -> bool {
    let Some(grammar) = compile_linked(&engine(vocabulary.clone()), linked) else { return false };
    let loaded = loaded(name, &grammar, vocabulary);
    for (seed, steps) in texts.iter().enumerate() {
        compare(name, (&grammar, &loaded), vocabulary.len(), steps, seed as u64);
    }
    for seed in 100..103 {
        compare(name, (&grammar, &loaded), vocabulary.len(), &[], seed);
    }
    true
}

#[test]
fn samples_round_trip() {
    let mut count = 0;
    for sample in samples::all().expect("the samples can be read") {
        if sample.needs.is_some() {
            continue;
        }
        let vocab = sample.byte_vocab();
        let Ok(linked) = sample.link() else { panic!("{} is not linked", sample.name) };
        let texts = sample.accepts.iter().chain(&sample.incomplete).take(4);
        let texts = texts.map(|text| sample.steps(&vocab, text).into_iter().map(|step| step.1).collect());
        let texts: Vec<Vec<Step>> = texts.collect();
        count += usize::from(round_trip(&sample.name, linked, &vocabulary(&vocab), &texts));
    }
    assert!(count > 50, "only {count} samples compile");
}

#[test]
fn cases_round_trip() {
    let mut count = 0;
    for (path, case) in cases::all().expect("the cases can be read") {
        for mode in case.modes() {
            let Ok(linked) = case.link(mode) else { continue };
            let vocab = case.piece_vocab();
            let name = format!("{} {} {mode:?}", path.display(), case.name);
            let texts: Vec<Vec<Step>> = case.texts().into_iter().map(|text| vec![Step::Text(text)]).collect();
            count += usize::from(round_trip(&name, linked, &vocabulary(&vocab), &texts));
        }
    }
    assert!(count > 500, "only {count} cases compile");
}

/// A vocabulary with some pieces of JSON beside the bytes.
fn json_vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255u8 {
        builder.token(byte.into(), [byte]);
    }
    let pieces = ["\":", "\", \"", "{\"", "[\"", "], ", "}, ", "true", "null", "12", "\\u", "a", "name", "\"a\"", "  "];
    for (id, piece) in (256..).zip(pieces) {
        builder.token(id, piece);
    }
    builder.special(300, "<eos>").eos(300);
    Arc::new(builder.build().expect("sound"))
}

fn json_files(folder: &Path, found: &mut Vec<PathBuf>) {
    let entries = fs::read_dir(folder).expect("a folder");
    for path in entries.map(|entry| entry.expect("an entry").path()) {
        if path.is_dir() {
            json_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
}

/// Schemas whose automata, formats and look-around are all that is saved in ways of its own.
const SCHEMAS: &[&str] = &[
    r#"{"type": "array", "items": {"enum": [1, "a", [1, {"b": null}], {"a": [], "b": 2}]}, "uniqueItems": true, "minItems": 2}"#,
    r#"{"type": "array", "items": {"type": "string", "maxLength": 2}, "uniqueItems": true}"#,
    r#"{"type": "array", "items": {"type": ["string", "number", "object"]}, "uniqueItems": true}"#,
    r#"{"type": "array", "contains": {"type": "integer"}, "minContains": 2, "maxContains": 3}"#,
    r#"{"type": "array", "contains": {"const": [1]}, "items": {"type": "array", "uniqueItems": true}, "maxItems": 9}"#,
    r#"{"type": "object", "minProperties": 2, "maxProperties": 4, "patternProperties": {"^a": {"type": "integer"}}}"#,
    r#"{"type": "object", "properties": {"a": {}, "b": {}}, "additionalProperties": {"type": "boolean"}, "minProperties": 1}"#,
    r#"{"type": "object", "propertyNames": {"enum": ["x", "y", "z"]}, "minProperties": 2}"#,
    r#"{"type": "object", "dependentRequired": {"a": ["b"]}, "anyOf": [{"required": ["a"]}, {"required": ["c"]}], "additionalProperties": {"type": "integer"}}"#,
    r#"{"x-larkspur": {"key_order": "any"}, "type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}, "required": ["a"]}"#,
    r#"{"x-larkspur": {"whitespace": {"indent": 2}}, "type": "array", "uniqueItems": true, "items": {"type": "array", "items": {"type": "integer"}}}"#,
    r#"{"x-larkspur": {"string_escapes": "any", "number_spelling": "any"}, "type": "array", "uniqueItems": true, "items": {"enum": ["a\n", 1.5, 10]}}"#,
    r#"{"format": "regex", "type": "string"}"#,
    r#"{"format": "idn-hostname", "type": "string"}"#,
    r#"{"format": "idn-email", "type": "string"}"#,
    r#"{"format": "date-time", "type": "string"}"#,
    r#"{"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]+$"}"#,
    r#"{"type": "number", "multipleOf": 0.7, "minimum": -3, "maximum": 20}"#,
];

fn round_trip_source(name: &str, engine: &Engine, source: &Source) -> bool {
    let options = CompileOptions::default();
    let Ok(grammar) = engine.compile_with(source, &options) else { return false };
    let loaded = loaded(name, &grammar, engine.vocabulary());
    assert_eq!(loaded.warnings(), grammar.warnings(), "{name}");
    for seed in 0..4 {
        compare(name, (&grammar, &loaded), engine.vocabulary().len(), &[], seed);
    }
    true
}

#[test]
fn schemas_round_trip() {
    let engine = engine(json_vocabulary());
    let mut compiled = 0;
    for schema in SCHEMAS {
        let is_compiled = round_trip_source(schema, &engine, &Source::json_schema(*schema));
        assert!(is_compiled, "{schema}: {}", engine.compile(&Source::json_schema(*schema)).expect_err("it is wrong"));
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests are in a folder");
    let mut files = Vec::new();
    for folder in ["json_schema/metaschemas", "cli/tests/grammars", "conformance"] {
        json_files(&root.join(folder), &mut files);
    }
    for path in files {
        let text = fs::read_to_string(&path).expect("text");
        // Suites are lists of groups, each with a schema.
        let suite: Option<Vec<serde_json::Value>> = serde_json::from_str(&text).ok();
        let schemas: Vec<String> = match suite {
            Some(groups) => groups.iter().filter_map(|group| Some(group.get("schema")?.to_string())).collect(),
            None => vec![text],
        };
        for schema in schemas {
            compiled +=
                usize::from(round_trip_source(&path.display().to_string(), &engine, &Source::json_schema(schema)));
        }
    }
    assert!(compiled > 20, "only {compiled} schemas compile");
}

fn features() -> Features {
    Features { follows: true, ..Features::ALL }
}

proptest! {
    #![proptest_config(larkspur_tests::property_config(300))]

    /// Random grammars do what they did, unless an automaton that cannot be saved stands in them.
    #[test]
    fn random_grammars_round_trip(spec in specs(features()), vocab in vocabs(), seed: u64) {
        let vocabulary = vocabulary(&vocab);
        if let Some(grammar) = compile_linked(&engine(vocabulary.clone()), spec.link()) {
            let has_toys = spec.link().grammars.iter().any(|grammar| !grammar.automata.is_empty());
            match grammar.save() {
                Err(SaveError::NotSavable { what }) => prop_assert!(has_toys, "{what}"),
                Err(error) => prop_assert!(false, "{error}"),
                Ok(_) => {
                    prop_assert!(!has_toys, "a toy was saved");
                    let loaded = loaded("random", &grammar, &vocabulary);
                    compare("random", (&grammar, &loaded), vocabulary.len(), &[], seed);
                }
            }
        }
    }
}

const HEAD_LEN: usize = 8 + 4 + 32;

/// The same bytes with the hash that they have.
fn hashed(mut bytes: Vec<u8>) -> Vec<u8> {
    if bytes.len() >= HEAD_LEN {
        let hash = blake3::hash(&bytes[HEAD_LEN..]);
        bytes[12..HEAD_LEN].copy_from_slice(hash.as_bytes());
    }
    bytes
}

/// Grammars that between them have every kind of table.
fn various() -> Vec<(Engine, Vec<u8>)> {
    let texts = [
        "start: \"a\" b \"c\"? \"d\"\nb[lazy]: /[a-z]+x/\n%ignore / +/\n",
        "start: a::0\na::_: \"x\" a::incr([0:4]) %if lt([0:4], 5)\n | \"end\" %if and(ge([0:4], 2), not(eq([0:4], 9)))\n",
        "%larkspur { \"lexer\": \"exact\" }\nstart: (\"if\" | \"else\" | \"elif\" | WORD)+ \".\"\nWORD: /\\b[a-z]+(?= |;)/ | / |;/\n",
        "start: <eos> t (\"a\" | <[10-20]>){2,9} u\nt[capture, max_tokens=5]: /.*/\nu[stop=\"end\"]: /.*/\n",
        "start: x (\".\" | \"!\") \"y\"\nx[capture, stop=/[.;]/]: /[a-z]*/\n",
        "start: %json {\"type\": \"array\", \"uniqueItems\": true, \"items\": {\"enum\": [1, [2, {\"a\": 3}]]}} /[0-9]/\n",
    ];
    let mut sources: Vec<Source> = texts.iter().map(|text| Source::lark(*text)).collect();
    sources.extend(SCHEMAS.iter().map(|schema| Source::json_schema(*schema)));
    let limits = Limits {
        expressions_max: 50_000,
        earley_sets_max: 2_000,
        lexer_states_max: 2_000,
        lexer_row_work_max: 50_000,
        lexer_row_emptiness_fuel: 20_000,
        mask_work_max: 1_000_000,
        capture_work_max: 100_000,
        schema_search_max: 500,
        ..Limits::default()
    };
    let mut various = Vec::new();
    for source in sources {
        let engine = engine(json_vocabulary());
        let grammar = engine.compile(&source).unwrap_or_else(|error| panic!("{source:?}: {error}"));
        let bytes = grammar.save().expect("it can be saved");
        let options = EngineOptions { limits: limits.clone(), ..EngineOptions::default() };
        various.push((Engine::with_options(json_vocabulary(), &options).expect("sound"), bytes));
    }
    assert!(various.len() > 20, "only {}", various.len());
    various
}

/// Whatever bytes are changed, if the hash is right the grammar is refused or can be used.
#[test]
fn forged_grammars_are_refused_or_work() {
    let factor = std::env::var("LARKSPUR_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let mut numbers = Numbers(1);
    let (mut refused, mut used) = (BTreeSet::new(), 0);
    for (engine, bytes) in various() {
        for round in 0..250 * factor {
            let mut forged = bytes.clone();
            for _ in 0..1 + numbers.next(3) {
                let at = HEAD_LEN + numbers.next(forged.len() - HEAD_LEN);
                match numbers.next(6) {
                    0 => forged[at] = numbers.next(256) as u8,
                    1 => forged[at] = forged[at].wrapping_add(1),
                    2 => forged[at] = forged[at].wrapping_sub(1),
                    3 => _ = forged.remove(at),
                    4 => forged.insert(at, numbers.next(256) as u8),
                    _ => {
                        // A varint that is long.
                        forged.splice(at..=at, [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]);
                    }
                }
            }
            match engine.load(&hashed(forged)) {
                Err(LoadError::Inconsistent { what }) => _ = refused.insert(what),
                Err(_) => {}
                Ok(grammar) => {
                    used += 1;
                    use_it(&engine, &grammar, round as u64);
                }
            }
        }
    }
    assert!(used > 100 && refused.len() > 10, "{used} are used; refused: {refused:#?}");
}

/// Does what one does with a grammar; errors are as good as answers.
fn use_it(engine: &Engine, grammar: &CompiledGrammar, seed: u64) {
    let _ = (grammar.dump_cfg(), grammar.dump_lexer(), grammar.save(), format!("{:?}", grammar.warnings()));
    let Ok(mut matcher) = grammar.matcher() else { return };
    let mut numbers = Numbers(seed);
    for _ in 0..WALK_LEN {
        let Place { mask: Ok(mask), .. } = place(&mut matcher, engine.vocabulary().len()) else { return };
        if mask.is_empty() || matcher.consume_token(mask[numbers.next(mask.len())]).is_err() || matcher.is_stopped() {
            return;
        }
    }
}

#[test]
fn damaged_grammars_are_refused() {
    let mut numbers = Numbers(2);
    for (engine, bytes) in various() {
        for _ in 0..40 {
            let len = numbers.next(bytes.len());
            let error = engine.load(&bytes[..len]).expect_err("bytes are missing");
            assert!(matches!(error, LoadError::NotSaved | LoadError::Damaged), "{len}: {error}");
            let mut flipped = bytes.clone();
            let at = numbers.next(bytes.len());
            flipped[at] ^= 1 << numbers.next(8);
            let error = engine.load(&flipped).expect_err("a bit is another");
            match at {
                0..8 => assert_eq!(error, LoadError::NotSaved),
                8..12 => assert!(matches!(error, LoadError::Version { wanted: FORMAT, .. }), "{error}"),
                _ => assert_eq!(error, LoadError::Damaged),
            }
            let noise: Vec<u8> = (0..len).map(|_| numbers.next(256) as u8).collect();
            assert_eq!(engine.load(&noise).expect_err("noise"), LoadError::NotSaved);
            let noise = hashed([&bytes[..HEAD_LEN], &noise[..]].concat());
            assert!(matches!(engine.load(&noise), Err(LoadError::Inconsistent { .. })), "noise with a hash");
        }
        assert_eq!(engine.load(&[]).expect_err("nothing"), LoadError::NotSaved);
        let longer = hashed([&bytes[..], &[0]].concat());
        assert!(matches!(engine.load(&longer), Err(LoadError::Inconsistent { .. })), "a byte too many");
    }
}
