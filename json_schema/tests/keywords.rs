//! Each keyword: what is accepted, what is rejected, what is refused.

mod common;

use common::{accepts, check, compiled, refused, shared};

#[test]
fn types() {
    check(
        "true",
        &["null", "1", "-1.5e3", "\"a\"", "[]", "{}", "[1,{\"a\":[]}]", "{ \"a\" : 1 , \"b\":[ ] }"],
        &["", "nul", "01", "[1,]"],
    );
    check(r#"{"type": "null"}"#, &["null"], &["0", "\"null\""]);
    check(r#"{"type": "boolean"}"#, &["true", "false"], &["null", "1"]);
    check(r#"{"type": "integer"}"#, &["0", "-0", "12"], &["1.5", "01", "1e3", "\"1\""]);
    check(r#"{"type": "number"}"#, &["0", "1.5", "1e3", "-2.50"], &["true", ".5", "1."]);
    check(
        r#"{"type": "string"}"#,
        &[r#""""#, r#""a\n\"\\é""#, r#""\u001f""#, r#""\u001F""#],
        &["a", "\"\n\"", r#""\u0041""#],
    );
    check(r#"{"type": ["string", "null"]}"#, &["null", "\"\""], &["1", "[]"]);
    check(r#"{"type": "array"}"#, &["[]", "[1, \"a\"]"], &["{}"]);
    check(r#"{"type": "object"}"#, &["{}", r#"{"a":1,"b":{}}"#], &["[]"]);
}

#[test]
fn values() {
    check(r#"{"const": 1.50}"#, &["1.5"], &["1.50", "15", "1"]);
    check(r#"{"const": 1e3}"#, &["1000"], &["1e3", "1"]);
    check(r#"{"const": 9007199254740993}"#, &["9007199254740993"], &["9007199254740992"]);
    check(
        r#"{"enum": ["a", null, 5, [1, "x"], {"k": 1, "l": []}]}"#,
        &["\"a\"", "null", "5", "[1,\"x\"]", r#"{"k":1, "l":[]}"#],
        &["\"b\"", "6", "[1]", "{\"k\":1}"],
    );
    check(r#"{"enum": ["a", 1, 2, "bb"], "type": "string", "minLength": 2}"#, &["\"bb\""], &["1", "\"a\""]);
    check(r#"{"enum": [1.0, 2.5], "type": "integer"}"#, &["1"], &["2.5", "1.0"]);
    check(r#"{"const": "a\"\u001f"}"#, &[r#""a\"\u001f""#, r#""a\"\u001F""#], &[r#""a""#]);
}

#[test]
fn strings() {
    check(
        r#"{"type": "string", "minLength": 2, "maxLength": 3}"#,
        &[r#""ab""#, r#""é\n😀""#],
        &[r#""a""#, r#""abcd""#],
    );
    check(r#"{"type": "string", "pattern": "b+"}"#, &[r#""abc""#], &[r#""ac""#]);
    check(r#"{"type": "string", "pattern": "^a\\nb$"}"#, &[r#""a\nb""#], &[r#""anb""#]);
    check(r#"{"type": "string", "pattern": "^\\d+$", "maxLength": 3}"#, &[r#""123""#], &[r#""1234""#, r#""""#]);
    check(r#"{"type": "string", "not": {"pattern": "^a"}}"#, &[r#""ba""#, r#""""#], &[r#""ab""#]);
    check(r#"{"type": "string", "not": {"const": "\u001f"}}"#, &[r#""""#], &[r#""\u001f""#, r#""\u001F""#]);
}

#[test]
fn formats() {
    let format = |format: &str, good: &[&str], bad: &[&str]| {
        let quote = |texts: &[&str]| texts.iter().map(|text| format!("\"{text}\"")).collect::<Vec<_>>();
        let (good, bad) = (quote(good), quote(bad));
        let good: Vec<&str> = good.iter().map(String::as_str).collect();
        let bad: Vec<&str> = bad.iter().map(String::as_str).collect();
        check(&format!(r#"{{"type": "string", "format": "{format}"}}"#), &good, &bad);
    };
    format(
        "date",
        &["2024-02-29", "2000-02-29", "1999-12-31"],
        &["2023-02-29", "1900-02-29", "2024-04-31", "2024-1-01"],
    );
    format("time", &["12:00:00Z", "23:59:60Z", "01:02:03.4+05:30"], &["24:00:00Z", "12:00:00", "12:00:60Z"]);
    format("date-time", &["2024-02-29T12:00:00Z"], &["2024-02-30T12:00:00Z", "2024-02-29"]);
    format("duration", &["P1D", "PT5M", "P1Y2M3DT4H5M6S", "P2W"], &["P", "1D", "P1YT", "P1D2H"]);
    format("email", &["a.b@c.de", "a@[127.0.0.1]"], &["a", "a..b@c", ".a@b", "a@-b"]);
    format(
        "hostname",
        &["example.com", "a", "ab", "abc", "test", "a--b", "a-b.c"],
        &["ab--c", "abcd-", "-a", "a_b", "xn--a", ".a"],
    );
    format("ipv4", &["127.0.0.1"], &["127.0.0.256", "01.0.0.0", "1.2.3"]);
    format(
        "ipv6",
        &["::", "::1", "1::", "1:2:3:4:5:6:7:8", "::ffff:1.2.3.4", "1:2::7:8"],
        &["1:2:3:4:5:6:7", ":::", "1::2::3", "12345::"],
    );
    format("uuid", &["2EB8AA08-aa98-11ea-b4aa-73b441d16380"], &["2eb8aa08aa9811eab4aa73b441d16380"]);
    format("json-pointer", &["", "/a/~0~1", "/"], &["a", "/~2"]);
    format("relative-json-pointer", &["0", "1/a", "0#"], &["/a", "01/a", "-1/a"]);
    format(
        "uri",
        &["http://a.b/c?d=e#f", "mailto:a@b", "urn:x:y", "http://[::1]:80/"],
        &["a", "//a", "http://a b", "http://[1]"],
    );
    format("uri-reference", &["", "a", "//a/b", "#f", "http://a"], &["a b", "1:a", "%zz"]);
    format("iri", &["http://ä.b/ö"], &["ä"]);
    format(
        "uri-template",
        &["", "a%41'b", "http://a/{x:1}/{+y*,z.a}", "{%41}", "{v:9999}", "ü😀"],
        &["{}", "{a", "a}", "{a,,b}", "{v:0}", "{v:10000}", "{a..b}", "{,+a}", "a b", "{a=b}"],
    );
    format(
        "time",
        &["23:59:60Z", "23:59:60-00:00", "01:29:60+01:30", "00:29:60.25-23:30", "00:00:60+00:01"],
        &["22:59:60Z", "23:59:60+01:00", "23:59:60-00:30", "01:29:60-01:30", "00:29:60Z"],
    );
    format("date-time", &["1998-12-31T15:59:60.123-08:00"], &["1998-12-31T15:59:60.123-07:00", "1998-12-31T"]);
    check(r#"{"type": "string", "format": "email", "maxLength": 1024}"#, &[r#""a@b.c""#], &[r#""a""#]);
    check(
        r#"{"type": "string", "format": "email", "maxLength": 100, "minLength": 6}"#,
        &[r#""aa@b.c""#],
        &[r#""a@b.c""#],
    );
    format("phone", &["anything"], &[]);
}

#[test]
fn numbers() {
    check(
        r#"{"type": "integer", "minimum": -3, "exclusiveMaximum": 12}"#,
        &["-3", "0", "11"],
        &["-4", "12", "1.0", "-0"],
    );
    check(r#"{"type": "number", "minimum": 0}"#, &["0", "0.0", "0.5"], &["-0", "-0.0", "-0.5"]);
    check(r#"{"type": "number", "maximum": 9}"#, &["0", "-0.5"], &["-0", "-0.0"]);
    check(r#"{"type": "number", "multipleOf": 3}"#, &["0", "-0", "-3"], &["-1"]);
    check(r#"{"minimum": 1.5}"#, &["1.5", "1.50", "2", "\"a\"", "null"], &["1.4", "-2"]);
    check(r#"{"type": "number", "multipleOf": 0.01}"#, &["0.07", "0.070", "3"], &["0.071"]);
    check(r#"{"type": "integer", "multipleOf": 3, "minimum": 4}"#, &["6"], &["3", "7"]);
    check(r#"{"type": "number", "not": {"type": "integer"}}"#, &["1.5"], &["1", "1.0", "-0.0"]);
    check(r#"{"type": "number", "not": {"minimum": 3}}"#, &["2.9", "-5"], &["3", "3.0", "4"]);
    check(
        r#"{"$schema": "http://json-schema.org/draft-04/schema#", "type": "integer", "minimum": 3, "exclusiveMinimum": true}"#,
        &["4"],
        &["3"],
    );
    check(r#"{"type": "number", "multipleOf": 1e-10}"#, &["0.0000000001", "7", "0.10"], &["0.00000000001"]);
    check(r#"{"type": "number", "multipleOf": 0.25}"#, &["0.5", "0.75", "10.250", "3"], &["0.2", "0.251", "0.26"]);
    check(r#"{"type": "integer", "multipleOf": 7.5}"#, &["0", "15", "-30"], &["7", "5"]);
    check(
        r#"{"type": "number", "multipleOf": 0.123456789}"#,
        &["0.123456789", "0.370370367", "0"],
        &["0.12345678", "0.1"],
    );
    check(r#"{"type": "integer", "multipleOf": 2147483648}"#, &["2147483648", "6442450944"], &["2147483647"]);
    check(r#"{"multipleOf": 0.0000000001}"#, &["1", "0.0000000003", "0.50000000030"], &["0.00000000003"]);
    let bounds = r#"{"type": "integer", "multipleOf": 1000003, "minimum": 5000000, "maximum": 600000000}"#;
    check(bounds, &["5000015", "599001797"], &["1000003", "5000016", "600001800"]);
    let both = r#"{"type": "integer", "multipleOf": 12345678901234567, "not": {"multipleOf": 10}}"#;
    check(both, &["12345678901234567", "24691357802469134"], &["123456789012345670", "0", "12345678901234568"]);
    assert_eq!(refused(r#"{"multipleOf": 1234567890123456789012345}"#), ["J010"]);
    assert_eq!(refused(r#"{"type": "integer", "minimum": 3, "maximum": 2}"#), ["J020"]);
    check(r#"{"type": "integer", "format": "int32"}"#, &["2147483647"], &["2147483648"]);
}

#[test]
fn arrays() {
    check(r#"{"type": "array", "items": {"type": "integer"}}"#, &["[]", "[1]", "[ 1 , 2 ]"], &["[\"a\"]", "[,]"]);
    check(
        r#"{"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}"#,
        &["[1,2]", "[1,2,3]"],
        &["[1]", "[]", "[1,2,3,4]"],
    );
    check(
        r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false}"#,
        &["[]", "[1]", "[1,\"a\"]"],
        &["[\"a\"]", "[1,\"a\",1]"],
    );
    check(
        r#"{"type": "array", "prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 3}, "minItems": 1, "maxItems": 4}"#,
        &["[1]", "[1,2]", "[1,2,3]", "[1,2,3,3]"],
        &["[]", "[2]", "[1,3]", "[1,2,3,3,3]"],
    );
    check(
        r#"{"type": "array", "items": [{"const": 1}], "additionalItems": {"const": 2}}"#,
        &["[]", "[1,2,2]"],
        &["[2]", "[1,1]"],
    );
    check(r#"{"type": "array", "prefixItems": [true, false]}"#, &["[]", "[1]"], &["[1,2]"]);
    check(r#"{"type": "array", "items": {"const": 0}, "maxItems": 1000000000}"#, &["[]", "[0,0,0]"], &["[1]"]);
    check(r#"{"not": {"type": "array", "minItems": 1}}"#, &["[]", "1"], &["[1]"]);
    check(r#"{"type": "array", "uniqueItems": true, "maxItems": 1}"#, &["[]", "[1]"], &["[1,1]"]);
    let contains = |more: &str| format!(r#"{{"type": "array", "contains": {{"const": 1}}{more}}}"#);
    check(&contains(""), &["[1]", "[0,1,0,1]", "[1,2]", "[2,1]"], &["[]", "[0]"]);
    check(
        &contains(r#", "minItems": 3"#),
        &["[1,0,0]", "[0,0,1]", "[0,1,0]", "[0,0,0,1]", "[1,0,0,0]"],
        &["[1]", "[0,1]", "[0,0,0]"],
    );
    check(&contains(r#", "maxItems": 2"#), &["[1]", "[1,0]", "[0,1]"], &["[]", "[0,0,1]", "[0]", "[1,0,0]"]);
    check(&contains(r#", "minContains": 0"#), &["[]", "[0]"], &["1"]);
    check(
        r#"{"type": "array", "not": {"items": {"type": "string"}}}"#,
        &["[1]", "[\"a\",1]", "[1,\"a\"]"],
        &["[]", "[\"a\"]"],
    );
    check(
        r#"{"oneOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array", "minItems": 1}]}"#,
        &["[]", "[1]", "[\"a\",1]"],
        &["[\"a\"]"],
    );
    check(r#"{"type": "array", "contains": {}, "maxContains": 2}"#, &["[1]", "[1,2]"], &["[]", "[1,2,3]"]);
}

#[test]
fn objects() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": true}, "required": ["b"]}"#;
    check(
        schema,
        &[r#"{"b":""}"#, r#"{"a":1,"b":""}"#, r#"{"b":"","c":[],"d":1}"#, r#"{ "a": 1, "b": "", "x": 1, "y": 2 }"#],
        &[
            "{}",
            r#"{"a":1}"#,
            r#"{"b":1}"#,
            r#"{"a":"","b":""}"#,
            r#"{"b":"","a":1}"#,
            r#"{"b":"","b":""}"#,
            r#"{"b":"","\u0061":"x"}"#,
        ],
    );
    check(
        r#"{"type": "object", "properties": {"a": true}, "additionalProperties": false}"#,
        &["{}", r#"{"a":1}"#],
        &[r#"{"b":1}"#, r#"{"a":1,"a":1}"#],
    );
    check(
        r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
        &["{}", r#"{"x":1,"y":2}"#],
        &[r#"{"x":"a"}"#],
    );
    check(
        r#"{"type": "object", "properties": {"ab": {"minimum": 5}}, "patternProperties": {"^a": {"type": "integer"}, "b$": {"maximum": 9}}, "additionalProperties": false}"#,
        &[r#"{"ab":7}"#, r#"{"ax":100}"#, r#"{"xb":"s"}"#, r#"{"aab":9}"#],
        &[r#"{"ab":10}"#, r#"{"ab":4}"#, r#"{"aab":10}"#, r#"{"x":1}"#, r#"{"ax":"s"}"#],
    );
    check(
        r#"{"type": "object", "propertyNames": {"pattern": "^a"}, "properties": {"b": true, "ac": true}}"#,
        &["{}", r#"{"ac":1,"ab":2}"#],
        &[r#"{"b":1}"#],
    );
    check(r#"{"type": "object", "required": ["x"]}"#, &[r#"{"x":1}"#, r#"{"x":1,"y":2}"#], &["{}", r#"{"y":1}"#]);
    check(r#"{"type": "object", "properties": {"a": false}}"#, &["{}", r#"{"b":1}"#], &[r#"{"a":1}"#]);
    check(
        r#"{"type": "object", "unevaluatedProperties": false, "properties": {"a": true}}"#,
        &[r#"{"a":1}"#],
        &[r#"{"b":1}"#],
    );
}

/// Each name up to three letters, with each type of value: patterns that begin alike or not, within each other or not.
#[test]
fn names_of_several_patterns() {
    type IsMatch = fn(&str) -> bool;
    let patterns: [(&str, IsMatch, &[&str]); 7] = [
        ("^a", |name| name.starts_with('a'), &["integer", "null", "string"]),
        ("^ab", |name| name.starts_with("ab"), &["integer", "null"]),
        ("^abb?$", |name| name == "ab" || name == "abb", &["integer", "string"]),
        ("^b", |name| name.starts_with('b'), &["null", "boolean", "string"]),
        ("^ba$", |name| name == "ba", &["boolean"]),
        ("a$", |name| name.ends_with('a'), &["integer", "boolean", "string"]),
        ("bb", |name| name.contains("bb"), &["string", "integer", "null"]),
    ];
    let values = [("integer", "1"), ("null", "null"), ("string", "\"\""), ("boolean", "true")];
    let mut names = vec![String::new()];
    for from in 0..7 {
        names.extend(["a", "b"].map(|letter| format!("{}{letter}", names[from])));
    }
    assert_eq!(names.len(), 15);
    for left_out in 0..patterns.len() {
        let used = || patterns.iter().enumerate().filter(|&(index, _)| index != left_out).map(|(_, pattern)| pattern);
        let members: Vec<String> =
            used().map(|(regex, _, types)| format!("\"{regex}\": {{\"type\": {types:?}}}")).collect();
        let schema = format!(
            r#"{{"type": "object", "patternProperties": {{{}}}, "additionalProperties": {{"type": "null"}}}}"#,
            members.join(", ")
        );
        let (mut accepted, mut rejected) = (Vec::new(), Vec::new());
        for name in &names {
            for (kind, value) in values {
                let mut allowed = used().filter(|(_, is_match, _)| is_match(name)).map(|(.., types)| types).peekable();
                let is_valid = match allowed.peek() {
                    Some(_) => allowed.all(|types| types.contains(&kind)),
                    None => kind == "null",
                };
                let list = if is_valid { &mut accepted } else { &mut rejected };
                list.push(format!("{{\"{name}\":{value}}}"));
            }
        }
        let [accepted, rejected] =
            [&accepted, &rejected].map(|list| list.iter().map(String::as_str).collect::<Vec<_>>());
        check(&schema, &accepted, &rejected);
    }
}

#[test]
fn counted_properties() {
    check(r#"{"type": "object", "minProperties": 1}"#, &[r#"{"a":1}"#, r#"{"a":1,"b":1}"#], &["{}"]);
    check(r#"{"type": "object", "maxProperties": 1}"#, &["{}", r#"{"a":1}"#], &[r#"{"a":1,"b":1}"#]);
    check(r#"{"type": "object", "maxProperties": 0}"#, &["{}"], &[r#"{"a":1}"#]);
    let schema = r#"{"type": "object", "properties": {"a": true, "b": true, "c": true, "d": true}, "required": ["c"], "additionalProperties": false, "minProperties": 2, "maxProperties": 3}"#;
    check(
        schema,
        &[r#"{"a":1,"c":1}"#, r#"{"c":1,"d":1}"#, r#"{"a":1,"b":1,"c":1}"#],
        &[r#"{"c":1}"#, r#"{"a":1,"b":1}"#, r#"{"a":1,"b":1,"c":1,"d":1}"#],
    );
    check(
        r#"{"type": "object", "properties": {"a": true, "b": true}, "maxProperties": 2}"#,
        &["{}", r#"{"a":1,"b":1}"#, r#"{"a":1,"x":1}"#, r#"{"x":1,"y":1}"#],
        &[r#"{"a":1,"b":1,"c":1}"#, r#"{"x":1,"y":1,"z":1}"#],
    );
    check(
        r#"{"type": "object", "minProperties": 2}"#,
        &[r#"{"a":1,"b":1}"#, r#"{"a":1,"b":1,"c":1}"#],
        &["{}", r#"{"a":1}"#, r#"{"a":1,"a":1}"#],
    );
    check(
        r#"{"type": "object", "patternProperties": {"^[ab]$": true}, "additionalProperties": false, "minProperties": 2}"#,
        &[r#"{"b":1,"a":1}"#, r#"{"a":1,"b":1}"#],
        &[r#"{"a":1}"#, r#"{"a":1,"a":1}"#, r#"{"a":1,"b":1,"c":1}"#],
    );
    assert_eq!(
        refused(
            r#"{"type": "object", "patternProperties": {"^[ab]$": true}, "additionalProperties": false, "minProperties": 3}"#
        ),
        ["J020"]
    );
    assert_eq!(refused(r#"{"type": "object", "additionalProperties": false, "minProperties": 2}"#), ["J020"]);
}

#[test]
fn dependencies() {
    check(
        r#"{"type": "object", "properties": {"a": true, "b": true}, "dependentRequired": {"a": ["b"]}}"#,
        &["{}", r#"{"b":1}"#, r#"{"a":1,"b":1}"#],
        &[r#"{"a":1}"#],
    );
    check(
        r#"{"type": "object", "properties": {"a": true, "b": true}, "dependencies": {"a": {"required": ["c"]}}}"#,
        &["{}", r#"{"a":1,"c":1}"#],
        &[r#"{"a":1}"#],
    );
    check(
        r#"{"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}}}"#,
        &["1", r#"{"b":""}"#, r#"{"a":1,"b":1}"#],
        &[r#"{"a":1,"b":""}"#],
    );
}

#[test]
fn combinations() {
    check(r#"{"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 5}]}"#, &["3", "5"], &["2", "6", "3.5"]);
    check(
        r#"{"allOf": [{"properties": {"a": {"type": "integer"}}}, {"properties": {"a": {"minimum": 3}}, "required": ["a"]}], "type": "object"}"#,
        &[r#"{"a":3}"#],
        &[r#"{"a":2}"#, "{}"],
    );
    check(r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#, &["1", "\"\""], &["1.5", "null"]);
    check(
        r#"{"type": "object", "properties": {"a": true, "b": true}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
        &[r#"{"a":1}"#, r#"{"b":1}"#, r#"{"a":1,"b":1}"#],
        &["{}", r#"{"c":1}"#],
    );
    check(
        r#"{"type": "object", "properties": {"a": true, "b": true}, "oneOf": [{"required": ["a"]}, {"required": ["b"]}]}"#,
        &[r#"{"a":1}"#, r#"{"b":1}"#],
        &["{}", r#"{"a":1,"b":1}"#],
    );
    check(r#"{"oneOf": [{"type": "integer"}, {"minimum": 2}]}"#, &["1", "2.5", "\"a\""], &["3", "1.5"]);
    check(
        r#"{"oneOf": [{"type": "object", "properties": {"t": {"const": "x"}, "v": {"type": "integer"}}, "required": ["t"]}, {"type": "object", "properties": {"t": {"enum": ["y", "z"]}}, "required": ["t"]}]}"#,
        &[r#"{"t":"x","v":1}"#, r#"{"t":"y","v":""}"#],
        &[r#"{"t":"x","v":""}"#, r#"{"t":"q"}"#],
    );
    check(r#"{"not": {"type": ["string", "object"]}}"#, &["1", "null", "[]"], &["\"\"", "{}"]);
    check(r#"{"type": "object", "not": {"required": ["a"]}}"#, &["{}", r#"{"b":1}"#], &[r#"{"a":1}"#]);
    check(r#"{"enum": [1, 2, 3], "not": {"enum": [2]}}"#, &["1", "3"], &["2"]);
    check(
        r#"{"if": {"properties": {"k": {"const": "a"}}, "required": ["k"]}, "then": {"required": ["x"]}, "else": {"required": ["y"]}, "type": "object", "properties": {"k": true, "x": true, "y": true}}"#,
        &[r#"{"k":"a","x":1}"#, r#"{"k":"b","y":1}"#, r#"{"y":1}"#],
        &[r#"{"k":"a","y":1}"#, r#"{"k":"b"}"#, "{}"],
    );
    assert_eq!(refused(r#"{"not": {}}"#), ["J020"]);
    for impossible in [
        r#""format": "date-time", "maxLength": 19"#,
        r#""format": "date-time", "pattern": "\\.com$""#,
        r#""format": "time", "maxLength": 8"#,
        r#""format": "email", "pattern": "é""#,
    ] {
        assert_eq!(refused(&format!(r#"{{"type": "string", {impossible}}}"#)), ["J020"], "{impossible}");
    }
    check(
        r#"{"type": "object", "not": {"additionalProperties": {"type": "string"}}}"#,
        &[r#"{"a":1}"#, r#"{"a":"","b":1}"#, r#"{"b":1,"a":""}"#],
        &["{}", r#"{"a":""}"#, r#"{"a":1,"a":""}"#, r#"{"a":"","a":1}"#],
    );
    check(
        r#"{"type": "object", "properties": {"n": true, "k": true}, "not": {"properties": {"k": {"const": 1}}, "additionalProperties": false}}"#,
        &[r#"{"n":1}"#, r#"{"n":1,"k":1}"#, r#"{"k":2}"#, r#"{"x":1}"#, r#"{"k":1,"x":1}"#],
        &["{}", r#"{"k":1}"#],
    );
    check(
        r#"{"oneOf": [{"additionalProperties": {"type": "string"}}, {"required": ["a"]}], "type": "object", "properties": {"a": true, "b": true}}"#,
        &["{}", r#"{"b":""}"#, r#"{"a":1}"#, r#"{"a":"","b":1}"#, r#"{"a":"","x":1}"#],
        &[r#"{"a":""}"#, r#"{"b":1}"#, r#"{"x":1}"#],
    );
    let any = |n: usize| format!(r#"{{"not": {{"additionalProperties": {{"maximum": {n}}}}}}}"#);
    check(
        &format!(r#"{{"type": "object", "allOf": [{}, {}]}}"#, any(1), any(2)),
        &[r#"{"a":3}"#, r#"{"a":0,"b":3}"#, r#"{"a":2,"b":3}"#],
        &["{}", r#"{"a":2}"#, r#"{"a":2,"b":1}"#],
    );
    check(
        r#"{"oneOf": [{"prefixItems": [{"const": 1}], "items": {"type": "string"}}, {"minItems": 1}], "type": "array"}"#,
        &["[]", "[2]", "[1,2]", r#"[1,"a",2]"#],
        &["[1]", r#"[1,"a"]"#],
    );
}

#[test]
fn references() {
    check(r##"{"$ref": "#/$defs/a%25b", "$defs": {"a%b": {"type": "integer"}}}"##, &["1"], &["\"\""]);
    check(
        r##"{"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#"}}, "additionalProperties": false}"##,
        &["{}", r#"{"v":1,"next":{"next":{}}}"#],
        &[r#"{"next":{"v":""}}"#],
    );
    check(r##"{"$ref": "#/definitions/a", "maximum": 3, "definitions": {"a": {"type": "integer"}}}"##, &["3"], &["4"]);
    check(
        r##"{"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"x": {"$ref": "#/definitions/a", "maximum": 3}}, "definitions": {"a": {"type": "integer"}}}"##,
        &[r#"{"x":4}"#],
        &[r#"{"x":"a"}"#],
    );
    check(
        r##"{"$ref": "item", "$id": "http://x.y/z/root", "$defs": {"i": {"$id": "item", "$ref": "#n", "$defs": {"k": {"$anchor": "n", "type": "null"}}}}}"##,
        &["null"],
        &["1"],
    );
    assert_eq!(refused(r##"{"$ref": "#/$defs/b"}"##), ["J004"]);
    assert_eq!(refused(r##"{"$ref": "#"}"##), ["J006"]);
    assert_eq!(refused(r#"{"$ref": "http://x.y/z"}"#), ["J005"]);
    assert_eq!(refused(r##"{"type": "object", "properties": {"n": {"$ref": "#"}}, "required": ["n"]}"##), ["J021"]);
}

#[test]
fn white_space() {
    check(
        r#"{"type": "array"}"#,
        &["[\n\n          ]", "[ 1\r\n,\t2]"],
        &[" []", "[] ", "[\n\n\n]", "[1                     ]"],
    );
    let compact = r#"{"type": "array", "x-guidance": {"whitespace_flexible": false, "item_separator": ", "}}"#;
    check(compact, &["[1, 2]", "[]"], &["[1,2]", "[ 1]"]);
}

#[test]
fn assertions_in_patterns() {
    let password = r#"{"type": "string", "pattern": "^(?=.*[A-Z])(?=.*\\d).{4,}$", "maxLength": 6}"#;
    check(password, &[r#""aB12""#, r#""1\"\"B""#], &[r#""ab12""#, r#""B1""#, r#""aaaaaB1""#]);
    check(r#"{"type": "string", "pattern": "\\bcat\\b"}"#, &[r#""a cat""#, r#""\ncat""#], &[r#""cats""#]);
    let labels = r#"{"type": "string", "pattern": "^((?!-)[a-z-]{1,63}(?<!-)\\.)+[a-z]+$"}"#;
    check(labels, &[r#""a-b.c""#], &[r#""-a.b""#, r#""a-.b""#]);
    let names =
        r#"{"type": "object", "patternProperties": {"^(?!x-)": {"type": "null"}}, "additionalProperties": false}"#;
    check(names, &["{}", r#"{"a": null}"#], &[r#"{"x-a": null}"#, r#"{"a": 1}"#]);
    let without = r#"{"type": "string", "pattern": "^(?:(?!foo).)*$"}"#;
    check(without, &[r#""""#, r#""fo foa""#], &[r#""afoo""#, r#""\u0066oo""#]);
    let without = r#"{"type": "string", "pattern": "^(?:(?!fo*x).)*$"}"#;
    check(without, &[r#""""#, r#""fooo x""#], &[r#""afoox""#, r#""fx""#]);
}

/// Names are strings: what a schema says of names has no part in what it says of them.
#[test]
fn names_of_the_schema_itself() {
    check(
        r##"{"type":["object","string"],"propertyNames":{"$ref":"#"},"maxLength":2}"##,
        &[r#""ab""#, "{}", r#"{"ab":1}"#],
        &[r#""abc""#, r#"{"abc":1}"#],
    );
    let names = r##"{"type":"object","propertyNames":{"not":{"$ref":"#/$defs/n"}},
        "$defs":{"n":{"oneOf":[{"maxLength":1},{"pattern":"^a"}],"propertyNames":{"$ref":"#/$defs/n"}}}}"##;
    check(names, &[r#"{"a":1}"#, r#"{"bb":1}"#], &[r#"{"b":1}"#, r#"{"ab":1}"#]);
    assert_eq!(refused(r##"{"propertyNames":{"allOf":[{"$ref":"#/propertyNames"}]}}"##), ["J006"]);
}

/// Of a repeated key the last value counts; what the others name is not there.
#[test]
fn repeated_keys() {
    let shared = shared();
    let checked = |schema: &str, accepted: &str, rejected: &str| {
        let (grammar, warnings) = compiled(&shared, schema);
        let codes: Vec<&str> = warnings.iter().map(|warning| warning.code).filter(|&code| code != "J030").collect();
        assert_eq!(codes, ["N101"], "{schema}");
        let grammar = grammar.unwrap_or_else(|errors| panic!("{schema}: {errors:#?}"));
        assert_eq!(accepts(&grammar, accepted), Ok(true), "{schema} accepts {accepted}");
        assert_eq!(accepts(&grammar, rejected), Ok(false), "{schema} rejects {rejected}");
    };
    let (text, number) = (r#"{"type":"string"}"#, r#"{"type":"number"}"#);
    for (schema, accepted, rejected) in [
        (r##"{"$ref":"#/$defs/a","$defs":{"a":<1>,"a":<2>}}"##, "1", "\"\""),
        (r#"{"items":<1>,"items":<2>}"#, "[1]", "[\"\"]"),
        (r#"{"properties":{"a":<1>,"a":<2>}}"#, r#"{"a":1}"#, r#"{"a":""}"#),
        (r#"{"properties":{"a":<1>,"\u0061":<2>}}"#, r#"{"a":1}"#, r#"{"a":""}"#),
        (r#"{"properties":{"a":<1>,"b":<2>,"a":<2>}}"#, r#"{"a":1,"b":1}"#, r#"{"a":""}"#),
        (r#"{"allOf":[<1>],"allOf":[{},<2>]}"#, "1", "\"\""),
        (r#"{"patternProperties":{"^a":<1>,"^a":<2>}}"#, r#"{"ab":1}"#, r#"{"ab":""}"#),
        (r#"{"dependentSchemas":{"a":{"minProperties":9},"a":{"minProperties":2}}}"#, r#"{"a":1,"b":1}"#, r#"{"a":1}"#),
        (r##"{"$ref":"#/x","x":<1>,"x":<2>}"##, "1", "\"\""),
        (r##"{"$ref":"#/x/y","x":{"y":<1>,"y":<2>}}"##, "1", "\"\""),
        (r##"{"$ref":"#a","$defs":{"b":{"$anchor":"a"},"b":{"$anchor":"a","type":"number"}}}"##, "1", "\"\""),
        (
            r#"{"$ref":"http://a/","$defs":{"b":{"$id":"http://a/"},"b":{"$id":"http://a/","type":"null"}}}"#,
            "null",
            "1",
        ),
        (r#"{"const":{"a":[<1>],"a":null}}"#, r#"{"a":null}"#, r#"{"a":[{"type":"string"}]}"#),
        (r#"{"x-guidance":{"a":{}},"x-guidance":{"whitespace_flexible":false},"type":"array"}"#, "[1,2]", "[1, 2]"),
    ] {
        checked(&schema.replace("<1>", text).replace("<2>", number), accepted, rejected);
    }
    // What does not count has no names, and no mistakes.
    assert_eq!(refused(r##"{"$ref":"#a","$defs":{"b":{"$anchor":"a"},"b":{}}}"##), ["J004", "N101"]);
    assert_eq!(refused(r#"{"$ref":"http://a/","$defs":{"b":{"$id":"http://a/"},"b":{}}}"#), ["J005", "N101"]);
    checked(r#"{"properties":{"a":{"type":"text"},"a":{"type":"null"}}}"#, r#"{"a":null}"#, r#"{"a":1}"#);
    // The mistake is said of the value that counts, and its place is that.
    let schema = r#"{"properties":{"a":{},"a":{"minLength":""},"b":{"minLength":""}}}"#;
    let errors = compiled(&shared, schema).0.expect_err("minLength takes a number");
    let pointers: Vec<&str> = errors.iter().filter_map(|error| error.message.split('`').nth(3)).collect();
    assert_eq!(pointers, ["/properties/a/minLength", "/properties/b/minLength"]);
}
