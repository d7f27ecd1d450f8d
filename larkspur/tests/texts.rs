//! Masks within texts that are bounded, lack others, or match in one of several ways: each token is allowed that can be
//! consumed, and no other.

use std::collections::BTreeSet;
use std::sync::Arc;

use larkspur::{CompiledGrammar, Engine, Source, TokenMask, Vocabulary};
use larkspur_test_support::Random;

/// Tokens of one step after the other.
const STEPS: usize = 12;

/// Strings of JSON Schema.
const STRINGS: [&str; 46] = [
    r#""pattern": "^(\\w+\\s?){1,5}$", "maxLength": 40, "minLength": 31"#,
    r#""pattern": "^(\\S+\\s+){0,4}\\S+$", "maxLength": 30"#,
    r#""pattern": "^[A-Z][a-z]+( [A-Z][a-z]+)*$", "maxLength": 16"#,
    r#""pattern": "^\\S(.*\\S)?$", "minLength": 4, "maxLength": 20"#,
    r#""pattern": "^(?=.*[a-z])(?=.*\\d).{4,}$", "maxLength": 24"#,
    r#""pattern": "^(?!.*//)(/[^\\s]+)$", "maxLength": 18"#,
    r#""pattern": "^((?!foo).)*$", "minLength": 9"#,
    r#""pattern": "^(..)*$", "minLength": 7, "maxLength": 15"#,
    r#""pattern": "^([a-z]{3}){2,}$", "maxLength": 14"#,
    r#""pattern": "^(?=[a-z.]{1,8}@)[a-z]+(\\.[a-z]+)*@[a-z]+$", "maxLength": 16"#,
    r#""pattern": "^([^\\n]{1,8}\\n){0,3}[^\\n]{1,8}$", "maxLength": 30"#,
    r#""pattern": "^é*[a-z]*$", "minLength": 3, "maxLength": 9"#,
    r#""pattern": "ab|\\d-", "maxLength": 12"#,
    r#""format": "uri", "maxLength": 20"#,
    r#""format": "iri", "minLength": 9, "maxLength": 24"#,
    r#""format": "email", "maxLength": 14"#,
    r#""format": "email", "minLength": 60"#,
    r#""format": "hostname", "minLength": 5, "maxLength": 12"#,
    r#""not": {"pattern": "foo|--"}, "maxLength": 10"#,
    r#""not": {"pattern": "^(foo|a)"}"#,
    r#""not": {"format": "email"}, "maxLength": 9"#,
    r#""not": {"enum": ["foo", "foobar", "a"]}, "minLength": 2"#,
    r#""allOf": [{"pattern": "a"}, {"pattern": "\\d"}], "minLength": 5, "maxLength": 11"#,
    r#""anyOf": [{"pattern": "^foo.*b$"}, {"pattern": "\\d"}, {"format": "uri"}], "maxLength": 20"#,
    r#""oneOf": [{"pattern": "foo"}, {"pattern": "bar"}, {"pattern": "1"}]"#,
    r#""oneOf": [{"format": "email"}, {"pattern": "a"}], "maxLength": 12"#,
    r#""format": "date-time", "maxLength": 26"#,
    r#""format": "time", "minLength": 14, "maxLength": 21"#,
    r#""format": "idn-hostname", "minLength": 3, "maxLength": 10"#,
    r#""format": "idn-email", "maxLength": 12"#,
    r#""format": "regex", "maxLength": 9"#,
    r#""format": "regex", "maxLength": 79"#,
    r#""pattern": "^[^<>o]{1,50}$", "minLength": 2, "maxLength": 40"#,
    r#""pattern": "^[^<>o]{1,9}$", "minLength": 4, "maxLength": 30"#,
    r#""pattern": "^[a-z ]{3,12}$", "maxLength": 9"#,
    r#""pattern": "^[a-zé]{2,7}$", "minLength": 4"#,
    r#""pattern": "^.{1,30}$""#,
    r#""pattern": "^[^\\s]{1,6}$", "maxLength": 40"#,
    r#""pattern": "^([a-z]{2}){1,9}$", "minLength": 5, "maxLength": 11"#,
    r#""pattern": "^(\\S+\\s+){0,9}\\S+$""#,
    r#""pattern": "^([a-z]+-){4,9}[a-z]*$""#,
    r#""pattern": "^(\\S+ ){5}\\S+$", "maxLength": 40"#,
    r#""pattern": "^(([a-zé]+[ -]){0,6}1\\n?){0,9}$""#,
    r#""pattern": "^([^-]*--?){3,}$", "maxLength": 30"#,
    r#""pattern": "[0-9a-f]", "minLength": 7, "maxLength": 7"#,
    r#""allOf": [{"pattern": "b|\\d"}, {"pattern": "o[^-]"}], "maxLength": 16"#,
];

/// Objects, whose names are such texts.
const OBJECTS: [&str; 3] = [
    r#""patternProperties": {"^foo": {"type": "null"}}, "additionalProperties": {"type": "boolean"}"#,
    r#""patternProperties": {"^[a-f]+$": {"type": "null"}, "^-": {"type": "boolean"}}, "additionalProperties": false"#,
    r#""properties": {"foo": {}, "fool": {}}, "patternProperties": {"^fo": {"type": "null"}}"#,
];

/// Terminals of Lark, of words, and what is ignored between them.
const WORDS: [&str; 9] = [
    "/[a-z]{1,3}/",
    "/[A-Za-z]+/",
    "/[a-z]{2,}/",
    "/[a-z]{4}|[A-Z]/",
    "/[0-9]+/",
    "/[a-z]+[0-9]?/",
    "/[A-Z][a-z]{0,4}/",
    "/[a-m]+/",
    "/[b-zA-Z]{2}[0-9]/",
];
const IGNORED: [&str; 5] = ["\" \"", "/ +/", "/[ \\t]+/", "/ {2}/", "/ [a-z]?!/"];

/// Grammars of Lark whose terminals are characters.
const CHARACTERS: [&str; 9] = [
    "start: A A \"!\"\nA: /[ab]/",
    "start: A B A B \"!\"\nA: /[a-f]/\nB: /[g-zA-Z]/",
    "start: A+ \"ab!\"\nA: /[a-c]/",
    "start: (A | B)* \"é!\"\nA: /[^é€]/\nB: \"<\" /[a-z]+/ \">\"",
    "start: A (A | B | \"_\")*\nA: /[a-zA-Z]/\nB: /[0-9]/",
    "start: (A | \"(\" start \")\")*\nA: /[a-z ]/\n%ignore /B+/",
    "start: F (\",\" F)*\nF: \"x\"\n",
    "start: field (\",\" field)*\nfield: C* | \"'\" Q* \"'\"\nC: /[^,']/\nQ: /[^']/ | \"''\"",
    "start: w (\" \" w)*\nw: A+\nA: /[a-zé]/",
];

/// Words, parts of characters and what stands between, alone and one behind the other.
fn vocabulary() -> Vocabulary {
    let parts: [&[u8]; 20] = [
        b"foo",
        b"bar",
        b"a",
        b"b",
        b"ab",
        b"Hello",
        b"12",
        b"1",
        b" ",
        b"--",
        b"-",
        b"@",
        b".",
        b"/",
        b"\"",
        b"\\n",
        b"\\",
        b":",
        "é".as_bytes(),
        b"\xC3",
    ];
    let mut tokens: BTreeSet<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for first in parts {
        tokens.insert(first.to_vec());
        for second in parts {
            tokens.insert([first, second].concat());
            tokens.extend(parts.iter().step_by(3).map(|third| [first, second, third].concat()));
        }
    }
    tokens.extend(
        ["foobar foobar a b", "abababababababababab", "Hello Hello", "    ", "ab.ab@ab.ab", "http://a.b/"]
            .map(Vec::from),
    );
    build(&tokens)
}

/// Beginnings of words with each letter, many behind a space.
fn words() -> Vocabulary {
    let mut tokens: BTreeSet<Vec<u8>> = (0..=255).map(|byte| vec![byte]).collect();
    for letter in ('a'..='z').chain('A'..='Z') {
        for rest in ["", "a", "ab", "1", "B", "aB1", " a", "é", "abcd"] {
            tokens.extend(["", " ", "  "].map(|before| format!("{before}{letter}{rest}").into_bytes()));
        }
    }
    build(&tokens)
}

fn build(tokens: &BTreeSet<Vec<u8>>) -> Vocabulary {
    let mut builder = Vocabulary::builder();
    (0..).zip(tokens).for_each(|(id, bytes)| {
        builder.token(id, bytes);
    });
    builder.build().expect("no token is there twice")
}

/// Compares masks along a random text, and says how many.
fn compare(grammar: &CompiledGrammar, vocabulary: &Vocabulary, (source, random): (&str, &mut Random)) -> usize {
    let mut matcher = grammar.matcher().expect("within limits");
    let mut mask = TokenMask::new(vocabulary.len());
    let mut text = Vec::new();
    for step in 1..=STEPS {
        matcher.compute_mask(&mut mask).expect("within limits");
        for token in 0..vocabulary.len() as u32 {
            let is_consumed = matcher.fork().consume_token(token).is_ok();
            let bytes = vocabulary.token_bytes(token).expect("all are texts");
            let shown = |bytes: &[u8]| bytes.escape_ascii().to_string();
            assert_eq!(mask.is_allowed(token), is_consumed, "{source} {} {}", shown(&text), shown(bytes));
        }
        let allowed: Vec<u32> = mask.iter().collect();
        if allowed.is_empty() {
            return step;
        }
        let token = random.pick(&allowed);
        matcher.consume_token(token).expect("the mask has it");
        text.extend(vocabulary.token_bytes(token).expect("all are texts"));
    }
    STEPS
}

#[test]
fn masks_behind_ignored_spaces_are_what_tokens_say() {
    let vocabulary = Arc::new(words());
    let engine = Engine::new(vocabulary.clone());
    let mut random = Random::new(1);
    for (word, ignored) in WORDS.iter().flat_map(|word| IGNORED.map(|ignored| (word, ignored))) {
        let options = ["", "%larkspur {\"lexer\": \"exact\"}\n"];
        for (options, start) in
            options.iter().flat_map(|options| ["W+", "W (W | \":\")*"].map(|start| (options, start)))
        {
            let source = format!("{options}start: {start}\nW: {word}\n%ignore {ignored}\n");
            let grammar = engine.compile(&Source::lark(&source)).expect("it compiles");
            let compared = compare(&grammar, &vocabulary, (&source, &mut random));
            assert_eq!(compared, STEPS, "{source}");
        }
    }
}

#[test]
fn masks_of_characters_are_what_tokens_say() {
    let vocabulary = Arc::new(words());
    let engine = Engine::new(vocabulary.clone());
    let mut random = Random::new(1);
    let compared: usize = (CHARACTERS.iter().cycle().take(4 * CHARACTERS.len()))
        .map(|source| {
            let grammar = engine.compile(&Source::lark(*source)).expect("it compiles");
            compare(&grammar, &vocabulary, (source, &mut random))
        })
        .sum();
    assert!(compared > 200, "{compared}");
}

#[test]
fn masks_of_texts_are_what_tokens_say() {
    let vocabulary = Arc::new(vocabulary());
    let engine = Engine::new(vocabulary.clone());
    let strings = STRINGS.map(|keywords| format!(r#"{{"type": "string", {keywords}}}"#));
    let objects = OBJECTS.map(|keywords| format!(r#"{{"type": "object", {keywords}}}"#));
    let mut random = Random::new(1);
    let mut compared = 0;
    // The second time more is known of the units that are counted.
    for schema in strings.iter().chain(&objects).chain(&strings) {
        let grammar = engine.compile(&Source::json_schema(schema)).expect("it compiles");
        compared += compare(&grammar, &vocabulary, (schema, &mut random));
    }
    assert!(compared > 300, "{compared}");
}

/// What an engine keeps of texts that are the last ones of a grammar is not what it needs of the same ones before others.
#[test]
fn masks_of_what_is_last_are_not_those_of_what_is_not() {
    let vocabulary = Arc::new(words());
    let mut random = Random::new(1);
    let lasts = ["W", "\"ab\" | W", "\"ab\"i | W", "W | X", "\"a\" (W | X)"];
    for lexer in ["longest", "exact"] {
        for is_last_first in [true, false] {
            let engine = Engine::new(vocabulary.clone());
            for last in lasts {
                let last = format!("({last})");
                let mut starts = [last.clone(), format!("{last} \" \" {last}"), format!("{last} (\"1\" {last})*")];
                if !is_last_first {
                    starts.reverse();
                }
                for start in starts {
                    let source = format!(
                        "%larkspur {{\"lexer\": \"{lexer}\"}}\nstart: {start}\nW: /[a-z]+/\nX: /[a-zA-Z]{{1,4}}/\n"
                    );
                    let grammar = engine.compile(&Source::lark(&source)).expect("it compiles");
                    for _ in 0..4 {
                        compare(&grammar, &vocabulary, (&source, &mut random));
                    }
                }
            }
        }
    }
}
