//! How values are written: the validator's profile, and single options.

mod common;

use common::{accepts, check, check_in, compiled, refused, shared, spelled};
use larkspur_json_schema::{Spelling, Whitespace};

fn validate(schema: &str, accepted: &[&str], rejected: &[&str]) {
    check_in(&Spelling::validator(), schema, accepted, rejected);
}

#[test]
fn numbers_in_any_spelling() {
    validate(
        "true",
        &["1e999999999999999999999", "-0.000E+00", "12.50e-3", "0"],
        &["01", "1e", "+1", ".5", "1.", "1e1.5", "--1"],
    );
    validate(
        r#"{"type": "integer"}"#,
        &[
            "1.0",
            "1e3",
            "15e1",
            "1.5e1",
            "150E-1",
            "-0",
            "0.0",
            "0e-999",
            "100E-2",
            "1E+0020",
            "12e500",
            "1.25e300",
            "-7.000",
            "1e00",
            "0.1e1",
            "0.00001e5",
            "0.00001e+000000006",
        ],
        &["1.5", "15e-1", "1e-1", "150E-2", "1.25e1", "0.1", "1e-30", "0.00001e4"],
    );
    validate(
        r#"{"const": 1.5}"#,
        &["1.5", "1.50", "15e-1", "0.15e1", "150e-2", "0.00015E+04", "15000e-4", "1.5e0", "1.500e-00"],
        &["15", "-1.5", "15e1", "1.5e1", "0.15e0", "1.51", "15e-01e", "1.5e"],
    );
    validate(
        r#"{"const": 0}"#,
        &["0", "-0", "0.0", "-0.00e+17", "0e99999999999999999999"],
        &["1", "0.1", "00", "1e-5"],
    );
    validate(
        r#"{"enum": [1000, -2, 0.5, 9007199254740993, 1e308, 5e-324]}"#,
        &[
            "1e3",
            "1000",
            "1000.0",
            "10e2",
            "0.1e4",
            "-2.0",
            "-20e-1",
            "5e-1",
            "0.50",
            "9007199254740993",
            "9007199254740993.0",
            "9.007199254740993e15",
            "90071992547409930e-1",
            "1e308",
            "1.0E+308",
            "5e-324",
            "5.00e-0324",
        ],
        &[
            "1e2",
            "2",
            "-0.2",
            "9007199254740992",
            "9.007199254740992e15",
            "1e307",
            "1e309",
            "1.1e308",
            "5e-323",
            "4e-324",
            "0",
            "-1e308",
        ],
    );
}

#[test]
fn bounds_in_any_spelling() {
    validate(
        r#"{"minimum": 1.5, "exclusiveMaximum": 200, "type": "number"}"#,
        &["1.5", "15e-1", "1.99e2", "199.999", "0.15e1", "1999999e-4", "20e0", "0.00002e6"],
        &["1.49", "149e-2", "2e2", "200.0", "1e3", "-2", "0", "0e5", "1e-9", "1e50", "1.5e-300", "0.00002e7"],
    );
    validate(
        r#"{"type": "number", "minimum": 0}"#,
        &["0", "-0", "-0.0e-5", "1e300", "1.5e-300", "3E+22", "0.000"],
        &["-1", "-1e300", "-1e-300", "-0.1e-3", "-3e22"],
    );
    validate(
        r#"{"type": "number", "exclusiveMinimum": 0, "maximum": 1e308}"#,
        &["1e308", "1e-308", "5e307", "5e200", "1"],
        &["0", "0.0e5", "1.1e308", "2e308", "1e309", "-1", "-5e200"],
    );
    validate(
        r#"{"type": "integer", "minimum": 9223372036854775808, "maximum": 18446744073709551615}"#,
        &["9223372036854775808", "18446744073709551615", "1e19", "9223372036854775808.0", "1.8446744073709551615e19"],
        &[
            "9223372036854775807",
            "18446744073709551616",
            "1e18",
            "9223372036854775808.5",
            "2e19",
            "1.8446744073709551616e19",
        ],
    );
    validate(
        r#"{"type": "number", "exclusiveMinimum": 5e-324}"#,
        &["6e-324", "5.1e-324", "1e-323", "1", "1e5"],
        &["5e-324", "4e-324", "0", "-1", "5.0e-0324"],
    );
    validate(
        r#"{"not": {"type": "integer"}}"#,
        &["1.5", "15e-1", "null"],
        &["1", "1.0", "10e-1", "1e3", "0.1e1", "-0.0"],
    );
    let draft4 = |rest: &str| format!(r#"{{"$schema": "http://json-schema.org/draft-04/schema#", {rest}}}"#);
    validate(&draft4(r#""type": "integer""#), &["1", "-0", "1000"], &["1.0", "10e-1", "1e3", "0.1e1", "-0.0", "1.5"]);
    validate(&draft4(r#""not": {"type": "integer"}"#), &["1.5", "1.0", "1e3", "-0.0", "null"], &["1", "-0", "1000"]);
    validate(&draft4(r#""type": "number", "minimum": 3"#), &["3", "3.0", "3e1"], &["2", "2.0", "2e0"]);
    validate(
        &draft4(r#""oneOf": [{"type": "integer", "minimum": 3}, {"minimum": 5}]"#),
        &["3", "4", "5.0", "5.5", "\"a\""],
        &["5", "3.0", "2", "50"],
    );
    validate(&draft4(r#""enum": [1, 2.5, 3], "type": "integer""#), &["1", "3"], &["1.0", "2.5", "30e-1"]);
    validate(r#"{"type": "number", "not": {"const": 1}}"#, &["2", "1.1", "1e1", "0"], &["1", "1.0", "10e-1", "0.1e1"]);
    validate(
        r#"{"type": "number", "not": {"enum": [1, 1e308]}}"#,
        &["2", "1e307", "2e308"],
        &["1.0", "1e308", "1.0e308"],
    );
}

#[test]
fn multiples_in_any_spelling() {
    validate(
        r#"{"type": "number", "multipleOf": 0.01}"#,
        &["0.07", "7e-2", "0.070", "1e10", "0.7e-1", "70e-3", "0", "12345.67"],
        &["0.071", "71e-3", "7e-3", "0.07e-1"],
    );
    validate(r#"{"type": "number", "multipleOf": 1e-8}"#, &["1e-8", "0.00000001", "12e-8", "5"], &["1e-9", "15e-9"]);
    validate(
        r#"{"type": "number", "multipleOf": 1.5}"#,
        &["1.5", "15e-1", "3", "0.3e1", "30e-1", "-4.50", "0e7", "3e5"],
        &["1", "2", "25e-1", "1.6", "0.15"],
    );
    validate(
        r#"{"type": "integer", "multipleOf": 1000003}"#,
        &["1000003", "1000003.0", "2000006e0", "1.000003e6", "10000030e-1"],
        &["1000004", "1e6", "1.000003e5"],
    );
    validate(
        r#"{"type": "number", "multipleOf": 0.123456789}"#,
        &["0.123456789", "12345.6789e-5", "123.456789e6", "0"],
        &["0.1", "1e308", "1.23456789e-3"],
    );
    validate(
        r#"{"type": "integer", "multipleOf": 2147483648}"#,
        &["2147483648", "4294.967296e6"],
        &["1", "2147483649.0"],
    );
    validate(
        r#"{"type": "integer", "multipleOf": 3, "minimum": 4, "maximum": 30}"#,
        &["6", "6.0", "60e-1", "3e1", "0.3e2", "27"],
        &["3", "7", "33", "3.3e1", "65e-1"],
    );
    validate(r#"{"type": "integer", "not": {"multipleOf": 3}}"#, &["1", "4.0", "1e1"], &["3", "30e-1", "3e1", "0"]);
    validate(
        r#"{"multipleOf": 3.6, "maximum": 100}"#,
        &["3.6", "36e-1", "0.00036e4", "97.2", "-3.60e7", "-0", "0e5", "\"a\""],
        &["3", "30", "100.8", "36e2", "-3.5"],
    );
    validate(
        r#"{"type": "number", "multipleOf": 0.35, "minimum": -5, "exclusiveMaximum": 375000}"#,
        &["374999.8", "37.1e3", "35e-2", "-4.9", "-490e-2"],
        &["375000.15", "375e3", "374999.9", "-5.25", "-35"],
    );
}

#[test]
fn plain_numbers_are_exact() {
    check(
        r#"{"enum": [1e308, 5e-324]}"#,
        &[&("1".to_owned() + &"0".repeat(308)), &format!("0.{}5", "0".repeat(323))],
        &["1", "0"],
    );
    check(
        r#"{"type": "number", "maximum": 1e308, "exclusiveMinimum": 5e-324}"#,
        &["1", &("1".to_owned() + &"0".repeat(308)), &format!("0.{}51", "0".repeat(323))],
        &[
            "0",
            &("1".to_owned() + &"0".repeat(307) + "1"),
            &format!("0.{}5", "0".repeat(323)),
            &format!("0.{}50", "0".repeat(323)),
        ],
    );
    for value in ["9007199254740993", "9223372036854775808", "18446744073709551616"] {
        let near = |change: i32| (value.parse::<u128>().expect("a number") as i128 + i128::from(change)).to_string();
        check(&format!(r#"{{"const": {value}}}"#), &[value], &[&near(1), &near(-1)]);
        let bounded = format!(r#"{{"type": "integer", "minimum": {value}}}"#);
        check(&bounded, &[value, &near(1)], &[&near(-1)]);
    }
}

#[test]
fn strings_in_any_spelling() {
    validate(
        r#"{"const": "aé/😀\n\""}"#,
        &[r#""aé/😀\n\"""#, r#""\u0061\u00e9\/\uD83D\ude00\u000A\u0022""#, r#""a\u00E9\u002f😀\n\u0022""#],
        &[
            r#""aé/😀\n\u0023""#,
            r#""ae/😀\n\"""#,
            r#""aé/\ud83d\n\"""#,
            r#""aé/\ude00\ud83d\n\"""#,
            "\"aé/😀\n\\\"\"",
            r#""\a""#,
            r#""\u006""#,
            r#""\U0061""#,
        ],
    );
    validate(
        r#"{"type": "string"}"#,
        &[r#""\u0000""#, r#""\uFFFF""#, r#""\udbff\uDFFF""#],
        &[r#""\ud800""#, r#""\udc00""#, r#""\ud800\u0041""#, r#""\ud800\ud800""#, "\"\t\""],
    );
    validate(
        r#"{"type": "string", "maxLength": 1}"#,
        &[r#""\ud83d\ude00""#, r#""\u0041""#, r#""\/""#],
        &[r#""\u0041b""#],
    );
    validate(r#"{"type": "string", "pattern": "^[b-d]+$"}"#, &[r#""\u0062c\u0064""#], &[r#""\u0061""#, r#""\u0065""#]);
    validate(r#"{"type": "string", "not": {"const": "a"}}"#, &[r#""\u0062""#, r#""aa""#], &[r#""\u0061""#, r#""a""#]);
    validate(
        r#"{"type": "string", "format": "date"}"#,
        &[r#""2024\u002d02-\u0032\u0039""#],
        &[r#""2023-02-\u0032\u0039""#],
    );
    validate(
        r#"{"enum": ["abc", "abd", "ab", "x", "", "éa", "éb"]}"#,
        &[r#""abc""#, r#""ab\u0064""#, r#""\u0061b""#, r#""\u0078""#, r#""""#, r#""\u00e9b""#],
        &[r#""a""#, r#""abe""#, r#""é""#, r#""\u0079""#],
    );
}

#[test]
fn names_in_any_spelling() {
    validate(
        r#"{"type": "object", "properties": {"a": {"type": "integer"}, "/x": {"type": "null"}}, "required": ["a"], "additionalProperties": {"type": "string"}}"#,
        &[r#"{"\u0061":1}"#, r#"{"a":1.0,"\/x":null}"#, r#"{"a":1,"\u0062":"\u0062"}"#],
        &[r#"{"a":1,"\u0061":"x"}"#, r#"{"\u0061":"x"}"#, r#"{"\u0062":"x"}"#, r#"{"a":1,"\u002fx":1}"#],
    );
}

#[test]
fn white_space_of_both_profiles() {
    let much = format!("[{}1\r\n\t ,{0}2]", "\n".repeat(50));
    validate("true", &[" 1 ", "\n[ ]\t", &much, "\r\n{ \"a\" :\t1 }"], &["\u{a0}1", "[1\u{b},2]", " "]);
    check("true", &["[\n\n1]"], &[" 1", "1 ", "[ ]\n", &much, "[\n\n\n1]"]);
}

#[test]
fn lines_of_their_own() {
    let values = [
        r#"{}"#,
        r#"{"a":[],"b":{},"c":1}"#,
        r#"{"a":[1,[2,[]],{"x":{"y":null}}],"b":{"q":{"r":"\n{"}}}"#,
        r#"{"a":[[[[[1.5]]]]],"z":true,"y":[{},{"k":[0]}]}"#,
    ];
    let schemas = [
        "true",
        r#"{"type": "object", "properties": {"a": {"type": "array"}, "b": {"type": "object"}}}"#,
        r#"{"type": "object", "properties": {"a": {"contains": true, "minContains": 0, "maxContains": 9}},
            "maxProperties": 3}"#,
        r#"{"type": "object", "properties": {"a": {"uniqueItems": true}, "b": {"additionalProperties": true}}}"#,
        r##"{"type": "object", "additionalProperties": {"$ref": "#/$defs/t"}, "$defs": {"t": {"anyOf": [
            {"type": ["null", "boolean", "number", "string"]},
            {"type": "array", "items": {"$ref": "#/$defs/t"}, "uniqueItems": true},
            {"type": "object", "additionalProperties": {"$ref": "#/$defs/t"}}]}}}"##,
    ];
    for base in [Spelling::generator(), Spelling { whitespace_outside: false, ..Spelling::validator() }] {
        for (spaces, indent) in [(0, ""), (1, " "), (2, "  "), (4, "    ")] {
            let spelling = Spelling { whitespace: Whitespace::Indent(spaces), ..base.clone() };
            for schema in schemas {
                for value in values {
                    let value: serde_json::Value = serde_json::from_str(value).unwrap();
                    let right = pretty(&value, indent);
                    let wrong: Vec<String> = std::iter::once(serde_json::to_string(&value).unwrap())
                        .chain(["\n", "\n "].map(|end| right.replacen('\n', end, 1) + end))
                        .chain([right.replacen(": ", ":", 1), right.replacen("\n", "\n\n", 1)])
                        .chain([right.replacen(",\n", ", \n", 1), right.replacen("\n", "\n ", 1)])
                        .chain(right.rfind('\n').map(|at| format!("{} {}", &right[..=at], &right[at + 1..])))
                        .filter(|text| *text != right)
                        .collect();
                    let wrong: Vec<&str> = wrong.iter().map(String::as_str).collect();
                    check_in(&spelling, schema, &[&right], &wrong);
                }
            }
        }
    }
}

/// What Python's `json.dumps` writes, by serde_json.
fn pretty(value: &serde_json::Value, indent: &str) -> String {
    let mut out = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, formatter);
    serde::Serialize::serialize(value, &mut serializer).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn escapes_that_are_chosen() {
    let with = |options: &str| format!(r#"{{"type": "string", "x-guidance": {options}}}"#);
    check(
        &with(r#"{"json_allowed_escapes": "nu\\\""}"#),
        &[r#""\n""#, r#""\u000a\u0009\"\\""#],
        &[r#""\t""#, r#""\u0041""#, r#""\/""#],
    );
    check(&with(r#"{"json_allowed_escapes": "n"}"#), &[r#""\n\t\"\\\u0000""#], &[r#""\u000a""#, r#""\u0009""#]);
    check(
        &with(r#"{"json_allow_general_unicode_escapes": true}"#),
        &[r#""\n\t\u0041\ud83d\ude00😀""#],
        &[r#""\/""#, r#""\ud800""#],
    );
}

#[test]
fn options_inside_a_schema() {
    let with = |options: &str| format!(r#"{{"type": ["integer", "array"], "x-larkspur": {options}}}"#);
    check(&with(r#"{"profile": "validate"}"#), &[" 1.0 ", "[\n\n\n\n]"], &["1.5"]);
    check(&with(r#"{"profile": "validate", "whitespace": "compact"}"#), &["1.0", "[1e0,2]"], &["[1, 2]", " 1"]);
    check(&with(r#"{"number_spelling": "any"}"#), &["1.0", "[ ]"], &[" 1"]);
    check(&with(r#"{"whitespace": {"pattern": " "}, "item_separator": ";"}"#), &["[1 ; 2]"], &["[1,2]", "[1  ;2]"]);
    check(&with(r#"{"whitespace": {"indent": 3}}"#), &["[\n   1,\n   2\n]", "[]"], &["[1]", "[\n]", "[\n  1\n]"]);
    check(&with(r#"{"string_escapes": {"chosen": {"letters": "/"}}}"#), &[r#"["\/"]"#], &[r#"["\n\u0041"]"#]);
    check(
        r#"{"type": "array", "x-guidance": {"whitespace_flexible": false, "whitespace_pattern": "  "}}"#,
        &["[  1]", "[]"],
        &["[ 1]"],
    );
    for bad in [
        r#"{"number_spelling": "some"}"#,
        r#"{"other": 1}"#,
        r#"{"string_escapes": {"chosen": {"letters": "q"}}}"#,
        "1",
    ] {
        assert_eq!(refused(&with(bad)), ["J002"], "{bad}");
    }
    assert_eq!(refused(&with(r#"{"whitespace": {"pattern": "("}}"#)).len(), 1);
    assert_eq!(refused(r#"{"format": "phone", "x-larkspur": {"unknown_format": "error"}}"#), ["J031"]);
}

#[test]
fn what_cannot_be_enforced_is_a_warning_if_lenient() {
    let schema = r#"{"type": "integer", "multipleOf": 0.1234567890123456789012, "x-guidance": {"lenient": true}}"#;
    let (grammar, diagnostics) = compiled(&shared(), schema);
    let grammar = grammar.unwrap_or_else(|errors| panic!("{errors:#?}"));
    assert_eq!(accepts(&grammar, "5"), Ok(true));
    assert_eq!(accepts(&grammar, "5.5"), Ok(false));
    assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["J010"]);
    assert!(diagnostics[0].message.ends_with("it is not enforced"), "{}", diagnostics[0].message);
    assert_eq!(refused(&schema.replace("true", "false")), ["J010"]);
}

/// What spellings have in common is kept for the last of them: these are more, each in turn, one with a long regex.
#[test]
fn spellings_are_kept_apart() {
    let shared = shared();
    let separators: Vec<String> = ('a'..='j').map(String::from).chain([format!("({})?,", "x".repeat(300))]).collect();
    for separator in separators.iter().cycle().take(3 * separators.len()) {
        let spelling = Spelling { item_separator: Some(separator.clone()), ..Spelling::generator() };
        let grammar = spelled(&shared, r#"{"type": "array"}"#, &spelling).expect("it compiles");
        for mark in ["a", "b", "j", ",", ";"] {
            let is_right = separator.ends_with(mark);
            let text = format!(r#"[1{mark} "x"{mark} true{mark} {{"k": null}}]"#);
            assert_eq!(accepts(&grammar, &text), Ok(is_right), "{separator}: {text}");
        }
    }
}

/// The digits of a divisor of integers are those of its multiples without a fraction.
#[test]
fn integers_and_small_divisors() {
    for divisor in ["1e-19", "1e-20", "5e-20", "25e-22", "5e-324", "1e-17000"] {
        let integers = format!(r#"{{"type":"integer","multipleOf":{divisor}}}"#);
        check_in(&Spelling::validator(), &integers, &["1", "-3.0", "10e-1", "1e30"], &["0.5", "1e-1"]);
        let others = format!(r#"{{"type":"number","not":{integers}}}"#);
        check_in(&Spelling::validator(), &others, &["0.5", "5e-1"], &["1", "10e-1"]);
    }
    let thirds = r#"{"type":"integer","multipleOf":3e-20}"#;
    check_in(&Spelling::validator(), thirds, &["3", "30e-1", "-9e2"], &["1", "0.3", "10"]);
}
