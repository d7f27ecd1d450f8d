//! Masks with tokens that go on past names and values: what a look-ahead has forgotten must not show. Each mask is
//! compared with what the matcher says of every token alone, which forgets nothing.

mod common;

use std::sync::Arc;

use common::spelled;
use larkspur_grammar::{Limits, SourceMap, Span, link};
use larkspur_json_schema::{KeyOrder, SchemaOptions, Spelling, Whitespace, compile};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherOptions, Shared};
use larkspur_test_support::Random;
use larkspur_toktrie::{TokenMask, Vocabulary};

/// Tokens besides the single bytes.
const TOKENS: &[&str] = &[
    "\":",
    "\":1",
    "\":1,\"",
    "a\":1,\"a\"",
    "a\":1,\"b\":",
    "\"a\":1,\"a\":1",
    "\"a\":1,\"b\":1}",
    "\":{\"a\":",
    "\":{\"a\":1,\"a",
    "\":{}},\"a\"",
    "\":{},\"b\"",
    "1,\"a\":",
    "1},\"a\"",
    ",\"a\"",
    ",\"b\":2,",
    ",\"ab\":[",
    "}}",
    "]}",
    "[1,2",
    "[1,1]",
    "[{\"a\":1},{\"a\":1}",
    "[\"a\",\"b\"",
    ",\"a\",",
    "\",\"",
    "\"a\",\"a\"",
    "\\u0061\":",
    "\"\\u0061\":1,\"a\":",
    "\"x\":\"",
    "x",
    "ab",
    "b\"",
    "\":[{\"b\":1,\"a\":2}],\"",
    "1,",
    ", ",
    "\": ",
    "},\"",
    "}],",
    "1},{\"b",
    "2},{\"b\":2",
    "1,\"b\":",
    "\"b\":1},{\"b\":",
    "x\"},{\"",
    "\"},{\"a\":\"",
    "\"x\"},{\"a\":\"x\"",
    "\"],[\"a",
    "\",\"b\"],[",
    "x\"]",
    "\":\"x\",\"a\":\"",
    "},{\"a",
    "1},{\"a\":",
    "\"},{\"b\":1",
    "1},{\"b\":1},{",
    "1]},{\"x\":[",
    "{\"a\":1},{\"a\":1}",
    "{\"a\":{}},{\"a\":{\"a",
];

const SCHEMAS: &[&str] = &[
    r#"{"type":"object"}"#,
    r#"{}"#,
    r#"{"type":"object","properties":{"a":{"type":"integer"},"x":true},"required":["x"]}"#,
    r#"{"type":"object","properties":{"b":true},"patternProperties":{"^a":{"type":"integer"}},"maxProperties":4}"#,
    r#"{"type":"object","propertyNames":{"enum":["a","b","ab"]},"minProperties":2}"#,
    r#"{"type":"object","propertyNames":{"maxLength":2}}"#,
    r##"{"type":"object","additionalProperties":{"anyOf":[{"type":"integer"},{"$ref":"#"},{"type":"array","items":{"$ref":"#"}}]}}"##,
    r#"{"anyOf":[{"type":"object","required":["a"]},{"type":"object","required":["b"],"additionalProperties":{"type":"integer"}}]}"#,
    r#"{"type":"array","uniqueItems":true}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":["string","integer"]}}"#,
    r#"{"type":"array","items":{"type":"object"},"uniqueItems":true,"contains":{"required":["a"]}}"#,
    r#"{"type":"object","additionalProperties":{"type":"array","uniqueItems":true,"items":{"type":"integer"}}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"enum":[1,2,"a"]}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"properties":{"a":{"type":"string"},"b":{"enum":[1,2]}},"type":"object","additionalProperties":false}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"properties":{"a":{"type":"string","maxLength":1},"b":{"enum":[1,2]}},"type":"object","additionalProperties":false}}"#,
    r#"{"type":"array","uniqueItems":true,"minItems":2,"items":{"type":"object","additionalProperties":{"type":"string"}}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"array","items":{"type":"string"}}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"array","uniqueItems":true,"items":{"enum":["a","b","x"]},"maxItems":2}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"enum":[1,2]},"b":{"enum":[1,2]},"x":{"type":"object"}},"additionalProperties":false}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"anyOf":[{"type":["string","integer"]},{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}},"additionalProperties":false}]},"b":{"type":"integer"},"x":{"type":"array","uniqueItems":true,"items":{"type":"integer"}}},"additionalProperties":false}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":["string","integer"]},"b":{"type":"integer"}},"required":["b"]}}"#,
    r##"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"oneOf":[{"type":"string","minLength":1},{"type":"object","properties":{"a":{"type":"string"},"x":{"$ref":"#"}},"additionalProperties":false}]},"b":{"type":"integer"},"x":{"type":"string"}}}}"##,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","patternProperties":{"^a":{"type":"string"},"b":{"type":["integer","object"]}},"additionalProperties":{"type":"array","uniqueItems":true,"items":{"type":"string"}}}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":"string"},"b":{"enum":[1,2]}},"propertyNames":{"enum":["a","b","ab"]},"maxProperties":2}}"#,
    r#"{"type":"object","propertyNames":{"pattern":"^[ab]{1,2}$"},"additionalProperties":{"enum":[1]}}"#,
    r#"{"type":"object","propertyNames":{"pattern":"^(a{1,4}|b[abx]*)$"},"additionalProperties":{"enum":[1]}}"#,
    r#"{"type":"object","propertyNames":{"pattern":"^([ab]{1,2}|x[a-z]*)$"},"additionalProperties":{"enum":[1]},"minProperties":3}"#,
    r#"{"type":"object","properties":{"a":{"enum":[1]},"ab":{"type":"object"}},"patternProperties":{"^[abx]{1,3}$":{"enum":[1,2]}},"additionalProperties":false}"#,
    r#"{"type":"object","patternProperties":{"^[ab]{1,2}$":{"enum":[1]},"^b[bx]{1,3}$":{"enum":[1,2]}},"additionalProperties":false}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[ab]{1,2}$"}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^([ab]|x[a-z]*)$"}}"#,
    r#"{"type":"array","uniqueItems":true,"items":{"type":"object","properties":{"a":{"type":"string","pattern":"^([ab]|x[a-z]{0,9})$"},"b":{"enum":[1,2]}},"additionalProperties":false}}"#,
];

/// Texts behind which all names or elements that begin with a character are used up, though some end there or begin otherwise.
const USED_UP: &[(&str, &str, u8)] = &[
    (r#"{"type":"object","propertyNames":{"pattern":"^[ab]{1,2}$"}}"#, r#"{"a":1,"aa":1,"ab":1,""#, b'a'),
    (
        r#"{"type":"object","propertyNames":{"pattern":"^[ab]{1,2}$"}}"#,
        r#"{"a":1,"aa":1,"ab":1,"b":1,"ba":1,"bb":1"#,
        b',',
    ),
    (
        r#"{"type":"object","propertyNames":{"pattern":"^[a-c]{1,8}$"}}"#,
        r#"{"aaaaaaaa":1,"aaaaaaab":1,"aaaaaaac":1,"aaaaaaa"#,
        b'a',
    ),
    (
        r#"{"type":"object","propertyNames":{"pattern":"^[a-c]{1,8}$"}}"#,
        r#"{"aaaaaaaa":1,"aaaaaaab":1,"aaaaaaac":1,"aaaaaaa":1,"aaaaaa"#,
        b'a',
    ),
    (
        r#"{"type":"object","propertyNames":{"pattern":"^[a-z]{1,20}$"}}"#,
        r#"{"aaaaaaaaaaaaaaaaaaaa":1,"ab":1,"aaaaaaaaaaaaaaaaaaa"#,
        b'a',
    ),
    (
        r#"{"type":"object","propertyNames":{"pattern":"^[a-z]{2,40}$"}}"#,
        r#"{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1,"ab":1,"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"#,
        b'a',
    ),
    (r#"{"type":"object","propertyNames":{"pattern":"^([ab]{2}|x[a-z]*)$"}}"#, r#"{"ab":1,"xa":1,"aa":1,""#, b'a'),
    (
        r#"{"type":"object","properties":{"aa":{"type":"integer"}},"patternProperties":{"^([ab]{2}|x[a-z]*)$":true},"additionalProperties":false}"#,
        r#"{"aa":1,"ab":1,""#,
        b'a',
    ),
    (r#"{"type":"object","propertyNames":{"pattern":"^x{1,140}$"}}"#, r#"{"x":1,"xx":1,"xxx":1,"xx"#, b'"'),
    (
        r#"{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^[a-z]{12}$"}}"#,
        r#"["aaaaaaaaaaaa","baaaaaaaaaaa","aaaaaaaaaaa"#,
        b'a',
    ),
    (
        r#"{"type":"array","uniqueItems":true,"items":{"type":"string","pattern":"^([ab]{2}|x[a-z]*)$"}}"#,
        r#"["aa","xa","ab",""#,
        b'a',
    ),
    // Names whose escapes have hexadecimal digits in both cases.
    (r#"{"type":"object","propertyNames":{"pattern":"^[\\x0e]$"}}"#, r#"{"\u000e":1"#, b','),
    (r#"{"type":"object","propertyNames":{"pattern":"^[\\x0e\\x0f]{1,2}$"}}"#, r#"{"\u000e":1,"\u000E"#, b'"'),
    (r#"{"type":"object","propertyNames":{"pattern":"^[a\\n\\\\]$"}}"#, r#"{"a":1,"\n":1,"\\":1"#, b','),
    // Elements of which only some are strings.
    (
        r#"{"type":"array","uniqueItems":true,"items":{"anyOf":[{"type":"string","pattern":"^[ab]$"},{"type":"integer","minimum":10,"maximum":11}]}}"#,
        r#"["a",10,"b",1"#,
        b'0',
    ),
    // Many texts of one name, where characters have several spellings.
    (
        r#"{"type":"object","propertyNames":{"pattern":"^[ab]a{40}$"}}"#,
        r#"{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1,""#,
        b'a',
    ),
];

fn engine(tokens: &[&str]) -> Shared {
    let mut builder = Vocabulary::builder();
    (0..=255u8).for_each(|byte| _ = builder.token(u32::from(byte), [byte]));
    tokens.iter().enumerate().for_each(|(index, token)| _ = builder.token(256 + index as u32, token.as_bytes()));
    builder.special(1_000, "<eos>");
    let vocabulary = builder.eos(1_000).build().expect("sound tokens");
    Shared::new(Arc::new(vocabulary), &EngineOptions::default()).expect("sound slices")
}

/// Follows the masks at random, long tokens first, and compares each with all tokens tried alone.
fn walk(grammar: &CompiledGrammar, random: &mut Random, what: &str) {
    let mut matcher = Matcher::new(grammar, MatcherOptions::default()).expect("a matcher");
    let len = grammar.shared().vocabulary().len();
    let mut mask = TokenMask::new(len);
    let mut text = Vec::new();
    for _ in 0..25 {
        if matcher.is_stopped() {
            return;
        }
        matcher.compute_mask(&mut mask).expect("a mask");
        let tokens = 0..256 + TOKENS.len() as u32;
        for token in tokens.clone() {
            let alone = matcher.is_allowed(token).expect("an answer");
            let bytes = grammar.shared().vocabulary().token_bytes(token).map(String::from_utf8_lossy);
            assert_eq!(mask.is_allowed(token), alone, "{what}: {bytes:?} behind {}", String::from_utf8_lossy(&text));
        }
        let long: Vec<u32> = tokens.clone().skip(256).filter(|&token| mask.is_allowed(token)).collect();
        let short: Vec<u32> = tokens.take(256).filter(|&token| mask.is_allowed(token)).collect();
        // Structure is more likely than any character.
        let marks: Vec<u32> = short.iter().copied().filter(|&byte| b"\"{}[]:,ab1".contains(&(byte as u8))).collect();
        let choices = match random.below(8) {
            0 if !short.is_empty() => short,
            1..4 if !long.is_empty() => long,
            _ if !marks.is_empty() => marks,
            _ if !short.is_empty() => short,
            _ => return,
        };
        let token = choices[random.below(choices.len())];
        matcher.consume_token(token).expect("a token of the mask");
        text.extend_from_slice(grammar.shared().vocabulary().token_bytes(token).expect("bytes"));
    }
}

/// Writes a text byte by byte and compares each mask with all tokens tried alone, as far as it goes.
fn write(grammar: &CompiledGrammar, text: &str, what: &str) -> Matcher {
    let mut matcher = Matcher::new(grammar, MatcherOptions::default()).expect("a matcher");
    let vocabulary = grammar.shared().vocabulary();
    let mut mask = TokenMask::new(vocabulary.len());
    for (index, byte) in text.bytes().map(Some).chain([None]).enumerate() {
        matcher.compute_mask(&mut mask).expect("a mask");
        for token in (0..1_000).filter(|&token| vocabulary.token_bytes(token).is_some_and(|bytes| !bytes.is_empty())) {
            let alone = matcher.is_allowed(token).expect("an answer");
            let bytes = vocabulary.token_bytes(token).map(String::from_utf8_lossy);
            assert_eq!(mask.is_allowed(token), alone, "{what}: {bytes:?} behind {}", &text[..index]);
        }
        let mut follow = (0..=255u8).filter(|&byte| mask.is_allowed(byte.into()));
        if let (Some(only), None, false) = (follow.next(), follow.next(), mask.is_allowed(1_000)) {
            let forced = matcher.forced_bytes().expect("an answer");
            assert_eq!(forced.first(), Some(&only), "{what}: the only byte behind {}", &text[..index]);
        }
        if let Some(byte) = byte {
            matcher.consume_token(byte.into()).unwrap_or_else(|error| panic!("{what}: {error} at {index} of {text}"));
        }
    }
    matcher
}

#[test]
fn names_that_begin_so_are_used_up() {
    let mut tokens = TOKENS.to_vec();
    tokens.extend([
        "aa",
        "aaa",
        "aaaa",
        "aaaaaaaa",
        "aaaaaaaaaaaa",
        "aa\":1",
        "aaaa\"",
        "\"aa",
        ",\"aaaaaaa",
        "\"aaaaaaaa\":1,\"aaaaaaaa\"",
    ]);
    tokens.extend(["xx", "xxxx", "xxxxxxxx", "xxxxxxxxxxxxxxxx\":", "aab", "ba\"", "1,\"aa"]);
    let shared = engine(&tokens);
    let compact = Spelling { whitespace: Whitespace::Compact, ..Spelling::default() };
    for spelling in [Spelling::generator(), compact, Spelling::validator()] {
        for &(schema, text, refused) in USED_UP {
            // The tokens' white space is as it stands there in compact texts.
            let text = match spelling.whitespace {
                Whitespace::Compact => text.to_owned(),
                _ => text.replace(":", ": ").replace(",", ", "),
            };
            let mut grammars = vec![spelled(&shared, schema, &spelling).expect("a sound schema")];
            if spelling == Spelling::generator() {
                grammars.push(longest(&shared, schema));
            }
            for grammar in grammars {
                let matcher = write(&grammar, &text, schema);
                let follows = matcher.is_allowed(refused.into());
                assert_eq!(follows, Ok(false), "{schema}: {} behind {text}", char::from(refused));
            }
        }
    }
}

#[test]
fn masks_are_what_tokens_alone_say() {
    let shared = engine(TOKENS);
    let any_order = Spelling { key_order: KeyOrder::Any, ..Spelling::default() };
    let compact = Spelling { whitespace: Whitespace::Compact, ..Spelling::default() };
    for spelling in [Spelling::generator(), Spelling::validator(), any_order, compact] {
        for schema in SCHEMAS {
            let grammar = spelled(&shared, schema, &spelling).unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
            let mut random = Random::new(0x9E37_79B9_7F4A_7C15);
            let walks = if schema.contains("uniqueItems") || schema.contains("^") { 40 } else { 12 };
            for _ in 0..walks {
                walk(&grammar, &mut random, schema);
            }
        }
    }
}

/// What is kept of `count` members of an object, one token each, with a mask before each: Earley sets and lexer states.
fn kept(count: usize, spelling: &Spelling) -> (usize, usize) {
    // Some end a name, and none a second one behind it.
    let shared = engine(&["\":", "\":1", "\":{\"a\":", "1,\"", "ab\":\"", "\",\"", "\":[{\"x"]);
    let grammar = spelled(&shared, r#"{"type":"object"}"#, spelling).expect("a sound schema");
    let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("a matcher");
    let mut mask = TokenMask::new(shared.vocabulary().len());
    let text = format!("{{{}", (0..count).map(|i| format!(r#""key {i:04}":1,"#)).collect::<String>());
    for byte in text.bytes() {
        matcher.compute_mask(&mut mask).expect("a mask");
        assert!(mask.is_allowed(byte.into()));
        matcher.consume_token(byte.into()).expect("a token of the mask");
    }
    let stats = grammar.stats();
    (stats.earley_sets, stats.lexer_states)
}

#[test]
fn names_cost_what_is_consumed() {
    for spelling in [Spelling::generator(), Spelling::validator()] {
        // Behind some names each state that is left often has its row.
        let (few, many) = (kept(150, &spelling), kept(250, &spelling));
        assert_eq!(few.1, many.1, "lexer states are the same for all names");
        let sets_each = (many.0 - few.0) / 100;
        assert!(sets_each <= 12, "{sets_each} sets for each name");
    }
}

/// The grammar of a schema in `longest` mode; schemas are in `exact` mode by themselves.
fn longest(shared: &Shared, schema: &str) -> CompiledGrammar {
    let limits = Limits::default();
    let mut sources = SourceMap::new();
    let source = sources.add("schema.json", schema);
    let parsed = compile(&mut sources, Span::new(source, 0, schema.len()), &SchemaOptions::new(&limits));
    let mut grammar = parsed.grammar.expect("a sound schema");
    grammar.options.lexer = larkspur_grammar::LexerMode::Longest;
    let linked = link(vec![grammar], |_, _| Err(Vec::new())).expect("a schema embeds nothing");
    CompiledGrammar::compile(shared, linked).expect("within limits")
}

#[test]
fn in_longest_mode() {
    let shared = engine(TOKENS);
    for schema in SCHEMAS {
        let grammar = longest(&shared, schema);
        let mut random = Random::new(0x2545_F491_4F6C_DD1D);
        for _ in 0..12 {
            walk(&grammar, &mut random, schema);
        }
    }
}
