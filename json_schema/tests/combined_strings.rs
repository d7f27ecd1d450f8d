//! Lengths, patterns and formats of one string under `not`, `allOf`, `anyOf`, `oneOf` and `if`, within each other.

mod common;

use common::{accepts, check, compiled, shared, walk_without_traps};
use larkspur_test_support::Random;
use serde_json::{Value, json};

/// Schemas of the run.
const SCHEMAS: usize = 300;
/// Texts of all letters up to this long are tried, and the others.
const LEN_MAX: usize = 4;
const LETTERS: [char; 3] = ['a', 'b', 'é'];
const OTHERS: [&str; 6] = ["2024-02-29", "2023-02-29", "10.0.0.1", "aaaaaaaaab", "é2024-02-29", "a-b"];

fn atom(random: &mut Random) -> Value {
    let length = |random: &mut Random| random.below(5);
    match random.below(6) {
        0 => json!({"minLength": length(random)}),
        1 => json!({"maxLength": length(random)}),
        2 => {
            let min = length(random);
            json!({"minLength": min, "maxLength": min + random.below(4)})
        }
        3 | 4 => {
            json!({"pattern": random.pick(&["a", "^a", "b$", "^[ab]*$", "^(aa|é)+$", "ab|ba", "^(?!a)", "^.{2}$"])})
        }
        _ => json!({"format": random.pick(&["date", "ipv4", "regex"])}),
    }
}

fn schema(random: &mut Random, depth: usize) -> Value {
    if depth == 0 || random.one_in(4) {
        return atom(random);
    }
    let parts: Vec<Value> = (0..2 + random.below(2)).map(|_| schema(random, depth - 1)).collect();
    match random.below(6) {
        0 | 1 => json!({"not": parts[0]}),
        2 => json!({"allOf": parts}),
        3 => json!({"anyOf": parts}),
        4 => json!({"oneOf": parts}),
        _ => json!({"if": parts[0], "then": parts[1], "else": schema(random, depth - 1)}),
    }
}

fn texts() -> Vec<String> {
    let mut texts = vec![String::new()];
    let mut from = 0;
    for _ in 0..LEN_MAX {
        let longer: Vec<String> =
            texts[from..].iter().flat_map(|text| LETTERS.map(|letter| format!("{text}{letter}"))).collect();
        from = texts.len();
        texts.extend(longer);
    }
    texts.extend(OTHERS.map(str::to_owned));
    texts
}

#[test]
fn combinations_have_the_texts_of_a_validator() {
    let mut random = Random::new(1);
    let texts = texts();
    let (mut with_texts, mut without, mut over_limits) = (0, 0, 0);
    for _ in 0..SCHEMAS {
        let schema = json!({"type": "string", "allOf": [schema(&mut random, 4)]});
        let validator = jsonschema::options().should_validate_formats(true).build(&schema).expect("a schema");
        let valid = |text: &String| validator.is_valid(&Value::from(text.as_str()));
        let grammar = match compiled(&shared(), &schema.to_string()).0 {
            Ok(grammar) => grammar,
            Err(errors) => {
                let codes: Vec<&str> = errors.iter().filter(|error| error.is_error()).map(|error| error.code).collect();
                match codes[..] {
                    ["B002"] => over_limits += 1,
                    ["J020"] => {
                        without += 1;
                        assert_eq!(texts.iter().find(|text| valid(text)), None, "{schema}");
                    }
                    _ => panic!("{schema}: {errors:#?}"),
                }
                continue;
            }
        };
        with_texts += 1;
        for text in &texts {
            let spelled = Value::from(text.as_str()).to_string();
            match accepts(&grammar, &spelled) {
                Ok(accepted) => assert_eq!(accepted, valid(text), "{spelled} of {schema}"),
                Err(_) => {
                    over_limits += 1;
                    break;
                }
            }
        }
    }
    println!("{with_texts} with texts, {without} without, {over_limits} over limits");
    assert!(with_texts > 4 * without && without > 0, "{with_texts} with texts, {without} without");
    assert!(over_limits <= SCHEMAS / 50, "{over_limits} over limits");
}

/// Said by complements within complements, none of these would show a text to a search.
#[test]
fn complements_are_seen_through() {
    let time = r#""2024-01-01T12:00:00Z""#;
    let schema = r#"{"type": "string", "oneOf": [{"minLength": 1}, {"not": {"format": "date-time"}}]}"#;
    check(schema, &[r#""""#, time], &[r#""a""#, r#""2024-01-01""#]);
    let schema = r#"{"type": "string", "oneOf": [
        {"not": {"format": "date-time"}}, {"not": {"maxLength": 100}}, {"not": {"minLength": 200}}]}"#;
    let [long, longest] = [150, 200].map(|len| format!("\"{}\"", "a".repeat(len)));
    check(schema, &[time], &[r#""a""#, &long, &longest]);
    let schema = r#"{"type": "string", "oneOf": [
        {"anyOf": [{"minLength": 10, "maxLength": 219}, {"pattern": "[0-9a-f]{40}"}]}, {"minLength": 3, "maxLength": 224}]}"#;
    let hex = |len: usize| format!("\"{}\"", "0".repeat(len));
    check(schema, &[r#""abc""#, &hex(225), &format!("\"{}\"", "z".repeat(220))], &[r#""ab""#, &hex(40), &hex(224)]);
}

/// Of 27 ways to choose three patterns of nine each one has a text, and only one: that shows of the lengths of their texts all together,
/// not way by way.
#[test]
fn ways_to_choose_patterns_are_counted_together() {
    let any = |ways: [[&str; 3]; 3]| {
        let not = |ways: [&str; 3]| json!({"not": {"allOf": ways.map(|pattern| json!({"pattern": pattern}))}});
        json!({"not": {"allOf": ways.map(not)}})
    };
    let schema = json!({"type": "string", "minLength": 1, "maxLength": 200, "allOf": [
        any([["^.{4}$", "xy1", "y12"], ["^.{4}$", "yz1", "z12"], ["^.{4}$", "zx1", "x12"]]),
        any([["^\\w*$", "\\d\\d", "[xy]"], ["^\\w*$", "\\d\\d", "[yz]"], ["^\\w*$", "\\d\\d", "[zx]"]]),
        any([["^\\w+", "1.*2", "xz"], ["^\\w+", "1.*2", "x2"], ["^\\w+", "1.*2", "x1"]]),
    ]});
    let rejected = [r#""""#, r#""zx1""#, r#""zx123""#, r#""xy12""#, r#""yz12""#, r#""zx21""#];
    check(&schema.to_string(), &[r#""zx12""#], &rejected);
    walk_without_traps(&schema.to_string(), 3);
}

#[test]
fn lengths_that_are_left_out_are_lengths() {
    let others = r#""not": {"minLength": 13, "maxLength": 176}"#;
    let schema = format!(r#"{{"type": "string", "format": "regex", {others}}}"#);
    let long = format!("\"{}\"", "(a)".repeat(59));
    check(&schema, &[r#""(a)""#, &long], &[r#""(""#, r#""(aaaaaaaaaaa)""#, r#""(aaaaaaaaaaaaaaaaaa)""#]);
    let schema = r#"{"type": "string", "oneOf": [
        {"not": {"format": "hostname"}}, {"anyOf": [{"pattern": "required"}, {"maxLength": 1000}]}, {"pattern": "^[a-z0-9]{2,}$"}]}"#;
    check(schema, &[r#""a.b""#, &format!("\"{}\"", "-".repeat(1001))], &[r#""-""#, r#""ab""#]);
}

/// Names of which it takes long to find out that there are none, and names that were listed byte by byte although nobody knew whether
/// there are any.
#[test]
fn names_are_combinations_too() {
    let schema = r#"{"type": "object", "propertyNames": {"not": {"format": "hostname"}, "pattern": "^...*a$"},
        "patternProperties": {"^.*\\.md$": true}, "unevaluatedProperties": {"type": "boolean"}}"#;
    check(schema, &["{}", r#"{"-ba": true}"#], &[r#"{"bba": true}"#, r#"{"-ba": 1}"#, r#"{"-.md": true}"#]);
    let schema = r#"{"type": "object", "propertyNames": {"anyOf": [{"format": "ipv6"}, {"format": "hostname"}], "not": {"format": "hostname"}},
        "additionalProperties": {"type": "integer"}, "minProperties": 1}"#;
    check(schema, &[r#"{"::1": 1}"#], &["{}", r#"{"a.b": 1}"#, r#"{"::1": true}"#]);
    let schema = r#"{"type": "object", "not": {"anyOf": [
        {"type": "object", "propertyNames": {"oneOf": [{"minLength": 5}, {"not": {"minLength": 32}}, {"anyOf": [{"format": "ipv6"}, {"maxLength": 3}]}]},
         "patternProperties": {"^[a-zA-Z0-9-_.]+$": {"type": "integer"}}, "additionalProperties": {"type": "integer"}},
        {"type": "object", "patternProperties": {"/api/v1/user_identities/\\d+/export_files": {"type": "string"}}, "additionalProperties": false}]}}"#;
    check(
        schema,
        &[r#"{"abcde": 1}"#, r#"{"abcd": "x"}"#],
        &["{}", r#"{"abcd": 1}"#, r#"{"/api/v1/user_identities/1/export_files": "x"}"#],
    );
}
