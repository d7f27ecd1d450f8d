//! Arrays and objects that are automata: elements that are counted or differ, properties that depend on each other.

mod common;

use common::{accepts, check, check_as, compiled_as, refused, shared};
use larkspur_grammar::Limits;
use larkspur_json_schema::{KeyOrder, SchemaOptions, Spelling};
use larkspur_parser::{Matcher, MatcherOptions};
use larkspur_toktrie::TokenMask;

fn any_order() -> Spelling {
    Spelling { key_order: KeyOrder::Any, ..Spelling::default() }
}

#[test]
fn counted_elements() {
    let contains = |more: &str| format!(r#"{{"type": "array", "contains": {{"type": "integer"}}{more}}}"#);
    check(
        &contains(r#", "minContains": 2, "maxContains": 3"#),
        &["[1,2]", r#"["a",1,"b",2,3]"#, "[1,1,1]"],
        &["[]", "[1]", r#"["a",1]"#, "[1,2,3,4]", r#"["a","b"]"#],
    );
    check(&contains(r#", "minContains": 0, "maxContains": 1"#), &["[]", r#"["a"]"#, r#"[1,"a"]"#], &["[1,2]"]);
    check(
        &contains(r#", "prefixItems": [{"type": "string"}], "maxItems": 2"#),
        &[r#"["a",1]"#],
        &["[]", r#"["a"]"#, "[1]", r#"["a","b"]"#, r#"["a",1,1]"#],
    );
    check(&contains(r#", "minItems": 100"#), &[], &["[1]"]);
    check(
        r#"{"type": "array", "allOf": [{"contains": {"minimum": 5}}, {"contains": {"maximum": 3}}], "items": {"type": "integer"}}"#,
        &["[5,3]", "[3,4,5]"],
        &["[5]", "[3]", "[4,4]"],
    );
    check(
        r#"{"type": "array", "not": {"contains": {"const": 1}, "minContains": 2}}"#,
        &["[]", "[1]", "[1,2]"],
        &["[1,1]", "[1,2,1]"],
    );
    check(
        r#"{"type": "array", "items": {"type": "integer"}, "contains": {"const": 1}, "minContains": 2, "maxItems": 3}"#,
        &["[1,1]", "[2,1,1]", "[1,2,1]"],
        &["[2,2]", "[1,2,2]", "[2,1]"],
    );
    check(
        r#"{"type": "array", "not": {"prefixItems": [{"const": 1}, {"const": 2}], "items": {"const": 3}}}"#,
        &["[2]", "[1,3]", "[1,2,4]", "[1,2,3,4]"],
        &["[]", "[1]", "[1,2]", "[1,2,3]"],
    );
    assert_eq!(refused(&contains(r#", "items": {"type": "string"}"#)), ["J020"]);
    assert_eq!(refused(&contains(r#", "minContains": 3, "maxItems": 2"#)), ["J020"]);
    check(&contains(r#", "minContains": 1000000000"#), &[], &["[1]"]);
}

#[test]
fn elements_that_differ() {
    let unique = |more: &str| format!(r#"{{"type": "array", "uniqueItems": true{more}}}"#);
    check(
        &unique(""),
        &["[]", "[1,2]", r#"[1,true,"1",null,false,0]"#, "[[1],[2],[]]", r#"[{"a":1},{"a":2},{"b":1}]"#, "[[1],[[1]]]"],
        &[
            "[1,1]",
            "[1,2,1.0]",
            "[0,-0]",
            r#"["a","a"]"#,
            "[[1],[1]]",
            "[[1,[2]],[1,[2]]]",
            r#"[{"a":1},{"a":1}]"#,
            r#"[{"a":1,"b":2},{"b":2,"a":1}]"#,
            "[null,null]",
            "[{},{}]",
            "[[],[]]",
            r#"[{"a":[1,{"b":2}]},1,{"a":[1.0,{"b":2}]}]"#,
        ],
    );
    check(
        &unique(r#", "items": {"enum": ["a", "b", [1], {"c": 1}]}"#),
        &[r#"["a","b"]"#, r#"[[1],{"c":1},"a","b"]"#],
        &[r#"["a","a"]"#, "[[1],[1]]", r#"["a","b",[1],{"c":1},"a"]"#],
    );
    check(&unique(r#", "items": {"type": "boolean"}"#), &["[true,false]"], &["[true,true]", "[true,false,true]"]);
    check(
        &unique(r#", "items": {"enum": [1, 2, 3]}, "minItems": 3"#),
        &["[3,1,2]"],
        &["[1,2]", "[1,2,3,1]", "[1,1,2]"],
    );
    assert_eq!(refused(&unique(r#", "items": {"enum": [1, 2, 3]}, "minItems": 4"#)), ["J020"]);
    // The first element must leave the second its only value.
    check(
        &unique(r#", "prefixItems": [{"enum": [1, 2]}, {"enum": [1]}], "minItems": 2"#),
        &["[2,1]", "[2,1,3]"],
        &["[1,1]", "[1]", "[1,2]"],
    );
    check(
        &unique(
            r#", "items": {"type": "object", "properties": {"id": {"type": "string"}, "kind": {"enum": ["a", "b"]}}, "required": ["id", "kind"], "additionalProperties": false}"#,
        ),
        &[r#"[{"id":"x","kind":"a"},{"id":"x","kind":"b"},{"id":"y","kind":"a"}]"#],
        &[r#"[{"id":"x","kind":"a"},{"id":"x","kind":"a"}]"#],
    );
    check(&unique(r#", "items": {"type": "integer", "minimum": 1, "maximum": 2}"#), &["[1,2]"], &["[1,2,1]", "[2,2]"]);
    check(
        &unique(r#", "items": {"type": "array", "uniqueItems": true, "items": {"type": "integer"}}"#),
        &["[[1,2],[2,1],[]]"],
        &["[[1,1]]", "[[1,2],[1,2]]"],
    );
    check(
        &unique(r#", "contains": {"const": 1}, "items": {"type": "integer"}"#),
        &["[1,2]", "[2,1]"],
        &["[2]", "[1,1]"],
    );
}

/// What cannot be finished is closed before it is entered: the walk over the mask never ends in a trap.
/// Each branch without the others: arrays whose elements differ are never such that some are equal.
#[test]
fn one_of_several_with_elements_that_differ() {
    let set = r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#;
    let with = |name: &str| format!(r#"{{"type":"object","properties":{{"kind":{{"const":"{name}"}},"tags":{set}}}}}"#);
    check(
        &format!(r#"{{"oneOf":[{},{}]}}"#, with("a"), with("b")),
        &[r#"{"kind": "a", "tags": ["x", "y"]}"#, r#"{"kind": "b"}"#],
        &[r#"{"tags": []}"#, "{}", r#"{"kind": "a", "tags": ["x", "x"]}"#, r#"{"kind": "c"}"#],
    );
    let of = |items: &str, more: &str| format!(r#"{{"type":"array","items":{items},"uniqueItems":true{more}}}"#);
    check(
        &format!(r#"{{"oneOf":[{},{}]}}"#, of(r#"{"type":"string"}"#, ""), of(r#"{"type":"integer"}"#, "")),
        &[r#"["a"]"#, "[1, 2]"],
        &["[]", "[1, 1]", r#"["a", 1]"#],
    );
    check(
        &format!(
            r#"{{"oneOf":[{},{}]}}"#,
            of(r#"{"type":"string"}"#, r#","maxItems":2"#),
            of("{}", r#","minItems":2"#)
        ),
        &["[]", r#"["a"]"#, "[1, 2]", r#"["a", "b", "c"]"#],
        &[r#"["a", "b"]"#, r#"["a", "a", "b"]"#, "[1]"],
    );
}

#[test]
fn no_traps_among_few_values() {
    let unique =
        |items: &str, more: &str| format!(r#"{{"type": "array", "uniqueItems": true, "items": {items}{more}}}"#);
    for schema in [
        unique(r#"{"enum": ["a", "ab", "b"]}"#, ""),
        unique(r#"{"enum": [[1], [1, 2], [2]]}"#, ""),
        unique(r#"{"enum": [{"a": 1}, {"a": 1, "b": 2}, {}]}"#, r#", "minItems": 2"#),
        unique(r#"{"type": "array", "items": {"enum": [0, 1]}, "maxItems": 1}"#, ""),
        unique(r#"{"type": "object", "properties": {"a": {"const": 1}}, "additionalProperties": false}"#, ""),
        unique(r#"{"type": "array", "uniqueItems": true, "items": {"enum": [0, 1]}}"#, r#", "minItems": 3"#),
        unique(
            r#"{"type": "object", "patternProperties": {"^[ab]$": {"const": 1}}, "additionalProperties": false}"#,
            "",
        ),
    ] {
        common::walk_without_traps(&schema, 40);
    }
}

#[test]
fn names_do_not_repeat() {
    check(
        r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
        &[r#"{"a":1,"b":2}"#, r#"{"a":1,"aa":2}"#, r#"{"\n":1,"n":2}"#],
        &[r#"{"a":1,"a":2}"#, r#"{"a":1,"b":1,"a":1}"#, r#"{"\n":1,"\n":1}"#],
    );
    check(
        r#"{"type": "object", "patternProperties": {"^a": {"type": "string"}, "b$": true}}"#,
        &[r#"{"a":"","ab":"","b":1,"c":1}"#],
        &[r#"{"ab":"","ab":""}"#, r#"{"c":1,"c":1}"#],
    );
    let repeating = Spelling { unique_keys: false, ..Spelling::default() };
    check_as(&repeating, "true", &[r#"{"a":1,"a":2}"#], &[]);
    check_as(&repeating, r#"{"properties": {"a": true}}"#, &[r#"{"b":1,"b":2}"#], &[r#"{"a":1,"a":2}"#]);
}

#[test]
fn names_that_patterns_split() {
    let has = |pattern: &str| format!(r#"{{"not": {{"propertyNames": {{"not": {{"pattern": "{pattern}"}}}}}}}}"#);
    let all = |parts: &[&str]| format!(r#"{{"type": "object", "allOf": [{}]}}"#, parts.join(", "));
    let (a, b, c) = (has("a"), has("b"), has("c"));
    let two = r#"{"propertyNames": {"pattern": "^..$"}}"#;
    check(
        &all(&[&a, &b, &c, two]),
        &[r#"{"ab":1,"cc":1}"#, r#"{"xa":1,"bx":1,"ac":1}"#, r#"{"ca":1,"ac":1,"cb":1}"#, r#"{"éa":1,"bc":1}"#],
        &["{}", r#"{"ab":1}"#, r#"{"abc":1}"#, r#"{"ab":1,"c":1}"#, r#"{"ca":1,"ac":1}"#, r#"{"ab":1,"ca":1,"ab":1}"#],
    );
    // One name would have to have three letters.
    assert_eq!(refused(&all(&[&a, &b, &c, two, r#"{"maxProperties": 1}"#])), ["J020"]);
    // Listed names are in some of the cells; these have others, too, or not.
    let listed = r#"{"properties": {"ab": {"type": "null"}, "x": {"type": "null"}}}"#;
    let integers = r#"{"additionalProperties": {"type": "integer"}, "properties": {"ab": true, "x": true}}"#;
    check(
        &all(&[&a, &b, listed, integers]),
        &[r#"{"ab":null}"#, r#"{"ba":1}"#, r#"{"x":null,"a":1,"b":2}"#, r#"{"ab":null,"x":null}"#],
        &[r#"{"ab":1}"#, r#"{"x":null}"#, r#"{"x":1,"ab":null}"#, r#"{"a":1}"#, r#"{"ba":null}"#],
    );
    // The only name of both letters is listed.
    let only_ab = r#"{"propertyNames": {"pattern": "^(ab|a|c)$"}}"#;
    check(
        &all(&[&a, &b, listed, only_ab]),
        &[r#"{"ab":null}"#, r#"{"ab":null,"c":1}"#, r#"{"ab":null,"a":1}"#],
        &[r#"{"a":1}"#, r#"{"ab":1}"#, r#"{"ab":null,"x":null}"#, r#"{"ab":null,"b":1}"#],
    );
    // A pattern within another one, and two that no name has together.
    let patterns = r#"{"patternProperties": {"^a": {"minimum": 1}, "^ab": {"maximum": 5}, "^b": {"type": "null"}}}"#;
    check(
        &all(&[patterns, r#"{"minProperties": 1}"#, &c]),
        &[r#"{"abc":3}"#, r#"{"ac":9}"#, r#"{"bc":null}"#, r#"{"ab":1,"c":0}"#],
        &[r#"{"abc":6}"#, r#"{"abc":0}"#, r#"{"ac":0}"#, r#"{"bc":1}"#, r#"{"ab":1}"#],
    );
}

#[test]
fn any_order_of_properties() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}, "c": true}, "required": ["b"], "additionalProperties": {"type": "null"}}"#;
    check_as(
        &any_order(),
        schema,
        &[r#"{"b":""}"#, r#"{"c":1,"b":"","a":1}"#, r#"{"x":null,"b":"","y":null,"a":2}"#],
        &["{}", r#"{"a":1}"#, r#"{"b":"","b":""}"#, r#"{"b":1}"#, r#"{"x":1,"b":""}"#, r#"{"x":null,"b":"","x":null}"#],
    );
    check_as(
        &any_order(),
        r#"{"enum": [{"a": 1, "b": [{"c": 1, "d": 2}]}]}"#,
        &[r#"{"b":[{"d":2,"c":1}],"a":1}"#],
        &[r#"{"a":1}"#, r#"{"a":1,"b":[{"c":2,"d":2}]}"#],
    );
    let many: Vec<String> = (0..200).map(|i| format!(r#""p{i}":{{"const":{i}}}"#)).collect();
    let backwards: Vec<String> = (0..200).rev().map(|i| format!(r#""p{i}":{i}"#)).collect();
    let schema =
        format!(r#"{{"type":"object","properties":{{{}}},"required":["p7"],"maxProperties":200}}"#, many.join(","));
    let all = format!("{{{}}}", backwards.join(","));
    check_as(&any_order(), &schema, &[&all, r#"{"p7":7}"#], &[r#"{"p8":8}"#, r#"{"p7":8}"#]);
    check_as(
        &any_order(),
        r#"{"type": "object", "uniqueItems": true, "properties": {"l": {"type": "array", "uniqueItems": true}}}"#,
        &[r#"{"l":[{"a":1,"b":2},{"b":2,"a":2}]}"#],
        &[r#"{"l":[{"a":1,"b":2},{"b":2,"a":1}]}"#],
    );
    check_as(
        &any_order(),
        r#"{"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}], "maxProperties": 2}"#,
        &[r#"{"x":1,"a":1}"#, r#"{"b":1,"x":1}"#],
        &[r#"{"a":1,"b":1}"#, r#"{"x":1,"y":1}"#, "{}"],
    );
}

#[test]
fn alternatives_that_are_not_multiplied_out() {
    let pair = |i: usize| format!(r#"{{"anyOf":[{{"required":["a{i}"]}},{{"required":["b{i}"]}}]}}"#);
    let pairs: Vec<String> = (0..24).map(pair).collect();
    let schema = format!(r#"{{"type":"object","allOf":[{}]}}"#, pairs.join(","));
    let members = |skip: usize| {
        let names: Vec<String> =
            (0..24).filter(|&i| i != skip).map(|i| format!(r#""{}{i}":1"#, ["a", "b"][i % 2])).collect();
        format!("{{{}}}", names.join(","))
    };
    check(&schema, &[&members(99)], &[&members(5), "{}"]);
    // Values that decide.
    let kind = |key: &str| {
        let branches: Vec<String> = (0..9)
            .map(|i| {
                format!(
                    r#"{{"properties":{{"{key}":{{"const":{i}}},"{key}v":{{"minimum":{i}}}}},"required":["{key}"]}}"#
                )
            })
            .collect();
        format!(r#"{{"anyOf":[{}]}}"#, branches.join(","))
    };
    check(
        &format!(r#"{{"type":"object","allOf":[{},{}]}}"#, kind("k"), kind("l")),
        &[r#"{"k":3,"kv":3,"l":5,"lv":6}"#, r#"{"k":0,"l":8}"#],
        &[r#"{"k":3,"kv":2,"l":5}"#, r#"{"k":3}"#, r#"{"k":9,"l":1}"#, r#"{"k":3,"kv":3,"l":5,"lv":4}"#],
    );
    // Optional discriminators.
    let branches: Vec<String> =
        (0..7).map(|i| format!(r#"{{"properties":{{"t":{{"const":{i}}},"u{i}":{{"type":"null"}}}}}}"#)).collect();
    check(
        &format!(r#"{{"type":"object","oneOf":[{}]}}"#, branches.join(",")),
        &[r#"{"t":3}"#, r#"{"t":3,"u3":null}"#, r#"{"t":3,"u4":1}"#],
        &["{}", r#"{"t":9}"#, r#"{"t":3,"u3":1}"#],
    );
}

/// Branches without `required` share the objects that lack what tells them apart. Where the schema around them requires
/// it, they must not be multiplied with each other's opposites: here, in an `allOf`, behind references.
#[test]
fn discriminators_that_are_required_outside() {
    let branch = |i: usize| {
        let value =
            format!(r#"{{"type":"object","properties":{{"v{i}":{{"minimum":{i}}}}},"additionalProperties":false}}"#);
        format!(r#"{{"type":"object","properties":{{"type":{{"enum":["t{i}"]}},"value":{value}}}}}"#)
    };
    let branches: Vec<String> = (0..40).map(branch).collect();
    let definitions: Vec<String> = branches.iter().enumerate().map(|(i, it)| format!(r#""d{i}":{it}"#)).collect();
    let referred: Vec<String> = (0..40).map(|i| format!(r##"{{"$ref":"#/$defs/d{i}"}}"##)).collect();
    let required = r#""type":"object","required":["type","value"]"#;
    let schemas = [
        format!(r#"{{{required},"oneOf":[{}]}}"#, branches.join(",")),
        format!(
            r##"{{{required},"allOf":[{{"$ref":"#/$defs/base"}},{{"oneOf":[{}]}}],"$defs":{{"base":{{"properties":{{"n":{{"type":"null"}}}}}},{}}}}}"##,
            referred.join(","),
            definitions.join(",")
        ),
        format!(
            r##"{{"allOf":[{{{required}}},{{"$ref":"#/$defs/any"}}],"$defs":{{"any":{{"oneOf":[{}]}},{}}}}}"##,
            referred.join(","),
            definitions.join(",")
        ),
    ];
    for schema in &schemas {
        check(
            schema,
            &[r#"{"type":"t3","value":{"v3":3}}"#, r#"{"type":"t39","value":{}}"#, r#"{"type":"t0","value":{},"x":1}"#],
            &[
                "{}",
                r#"{"type":"t3"}"#,
                r#"{"value":{}}"#,
                r#"{"type":"t3","value":{"v4":4}}"#,
                r#"{"type":"t4","value":{"v4":3}}"#,
                r#"{"type":"t40","value":{}}"#,
            ],
        );
    }
    // Not all of what overlaps is told apart.
    check(
        r#"{"type":"object","required":["t"],"oneOf":[
            {"properties":{"t":{"enum":[1,2]},"u":{"type":"null"}}}, {"properties":{"t":{"enum":[2,3]}}}]}"#,
        &[r#"{"t":1}"#, r#"{"t":3}"#, r#"{"t":2,"u":1}"#],
        &[r#"{"t":2}"#, r#"{"t":2,"u":null}"#, r#"{"t":1,"u":1}"#, "{}"],
    );
    // Other values than objects are of each branch.
    check(
        r#"{"required":["t"],"oneOf":[{"properties":{"t":{"const":1}}},{"properties":{"t":{"const":2}}}]}"#,
        &[r#"{"t":1}"#, r#"{"t":2}"#],
        &["1", "[]", "{}", r#"{"t":3}"#],
    );
}

/// What many branches say of one property by a constant is told apart value by value, not by each set of branches.
#[test]
fn constants_that_many_branches_leave_out() {
    let joined = |make: &dyn Fn(usize) -> String| (0..40).map(make).collect::<Vec<_>>().join(",");
    let branch = |i| {
        format!(
            r#"{{"properties":{{"kind":{{"const":"k{i}"}},"p{i}":{{"type":"integer"}}}},"required":["kind","p{i}"]}}"#
        )
    };
    let branches = joined(&branch);
    // The last branch has objects of each kind, which then must not be of that kind's.
    check(
        &format!(r#"{{"type":"object","oneOf":[{branches},{{"required":["kind","x"]}}]}}"#),
        &[
            r#"{"kind":"k3","p3":1}"#,
            r#"{"kind":"k3","x":1}"#,
            r#"{"kind":"other","p3":1,"x":1}"#,
            r#"{"kind":"k3","p4":1,"x":1}"#,
            r#"{"kind":1,"x":1}"#,
        ],
        &[
            r#"{"kind":"k3","p3":1,"x":1}"#,
            r#"{"kind":"k3"}"#,
            r#"{"kind":"k3","p4":1}"#,
            r#"{"kind":"other","p3":1}"#,
            r#"{"x":1}"#,
        ],
    );
    let without = joined(&|i| {
        format!(r#"{{"not":{{"properties":{{"kind":{{"const":"k{i}"}}}},"additionalProperties":{{"const":{i}}}}}}}"#)
    });
    check(
        &format!(r#"{{"type":"object","allOf":[{without}]}}"#),
        &[r#"{"kind":"other"}"#, r#"{"kind":"k3","x":4}"#, r#"{"kind":"k3","x":4,"y":3}"#, r#"{"x":4,"y":3}"#],
        &[r#"{"kind":"k3"}"#, r#"{"kind":"k3","x":3}"#, r#"{"x":3}"#, "{}"],
    );
    // As one of several ways, which is followed beside others.
    let few = |any: &str| {
        let branches: Vec<String> = (0..12).map(branch).collect();
        format!(r#"{{"oneOf":[{},{{"required":["kind","{any}"]}}]}}"#, branches.join(","))
    };
    check(
        &format!(
            r#"{{"type":"object","allOf":[{{"anyOf":[{},{{"required":["z"]}}]}},{{"anyOf":[{},{{"required":["q"]}}]}}]}}"#,
            few("x"),
            few("y")
        ),
        &[r#"{"kind":"k3","p3":1}"#, r#"{"z":1,"q":1}"#, r#"{"kind":"k3","p3":1,"x":1,"z":1}"#],
        &[r#"{"kind":"k3","p3":1,"x":1}"#, r#"{"z":1}"#, r#"{"kind":"other","x":1}"#, "{}"],
    );
}

/// An array must contain a whole list: elements that count for one of it are told apart, not followed beside those that do not.
#[test]
fn lists_to_contain() {
    let lists = |count: usize, contains: &dyn Fn(usize) -> String, more: &str| {
        let parts: Vec<String> = (0..count).map(|i| format!(r#"{{"contains":{}{more}}}"#, contains(i))).collect();
        format!(r#"{{"type":"array","allOf":[{}]}}"#, parts.join(","))
    };
    let elements = |elements: &mut dyn Iterator<Item = String>| format!("[{}]", elements.collect::<Vec<_>>().join(","));
    let named = |i: usize| format!(r#"{{"name":"k{i}"}}"#);
    let constant = |i: usize| format!(r#"{{"const":"k{i}"}}"#);
    for count in [3, 40] {
        let texts = |i: usize| format!(r#""k{i}""#);
        let all = elements(&mut (0..count).map(texts));
        let twice = elements(&mut (0..count).chain(1..2).map(texts));
        let [less, others] = [elements(&mut (1..count).map(texts)), elements(&mut (1..=count).map(texts))];
        check(&lists(count, &constant, ""), &[&all, &twice], &[&less, &others]);
        check(&lists(count, &constant, r#","maxContains":1"#), &[&all], &[&twice, &less, &others]);
        let property =
            |i| format!(r#"{{"type":"object","properties":{{"name":{}}},"required":["name"]}}"#, constant(i));
        let all = elements(&mut (0..count).rev().map(named).chain(["1".to_string(), named(1)]));
        let less = elements(&mut (1..count).map(named).chain([r#""k0""#.to_string()]));
        check(&lists(count.min(14), &property, ""), &[&all], &[&less, "[]"]);
    }
    // Elements that count for several.
    let least = |i: usize| format!(r#"{{"minimum":{i}}}"#);
    check(&lists(9, &least, ""), &["[8]", r#"["a"]"#, "[1,9]"], &["[7]", "[]", "[0,1,2]"]);
    let pair = |i: usize| format!(r#"{{"enum":[{i},{}]}}"#, i + 1);
    check(&lists(9, &pair, ""), &["[1,3,5,7,9]", "[0,1,2,3,4,5,6,7,8]"], &["[1,3,5,7]", "[0,2,4,6]"]);
    // Not all that overlaps is told apart: there are too many ways, or few are followed side by side.
    let of_names = |i: usize| format!(r#"{{"required":["k{i}"]}}"#);
    check(&lists(5, &of_names, ""), &["[1]", r#"[{"k0":1,"k1":1,"k2":1,"k3":1},{"k4":1}]"#], &[r#"[{"k0":1}]"#, "[]"]);
    assert_eq!(refused(&lists(20, &of_names, "")), ["J040"]);
}

/// A long list of `if` and `then` that ask for one property means as many cases, not all combinations.
#[test]
fn cases_by_a_constant() {
    let case = |i: usize| {
        let then =
            format!(r#"{{"properties":{{"value":{{"type":"object","required":["v{i}"]}}}},"required":["value"]}}"#);
        format!(r#"{{"if":{{"properties":{{"kind":{{"const":"k{i}"}}}},"required":["kind"]}},"then":{then}}}"#)
    };
    let cases: Vec<String> = (0..60).map(case).collect();
    let listed = format!(r#"{{"type":"object","allOf":[{}]}}"#, cases.join(","));
    let nested = cases.iter().rev().fold("true".to_owned(), |rest, case| {
        format!(r#"{},"else":{rest}}}"#, case.strip_suffix('}').expect("an object"))
    });
    for schema in [listed, nested] {
        check(
            &schema,
            &["{}", r#"{"kind":"k7","value":{"v7":1}}"#, r#"{"kind":"other","value":1}"#, r#"{"value":1}"#],
            &[r#"{"kind":"k7"}"#, r#"{"kind":"k7","value":{"v8":1}}"#, r#"{"kind":"k59","value":1}"#],
        );
    }
    // Numbers by their value, and other types than the constants have.
    check(
        r#"{"type":"object","allOf":[
            {"if":{"properties":{"k":{"const":1}},"required":["k"]},"then":{"required":["a"]}},
            {"if":{"properties":{"k":{"type":["string","null"],"enum":["1",null,2]}},"required":["k"]},"then":{"required":["b"]}},
            {"if":{"properties":{"k":{"enum":[[1],2]}},"required":["k"]},"then":{"required":["c"]}}]}"#,
        &[
            r#"{"k":1,"a":0}"#,
            r#"{"k":"1","b":0}"#,
            r#"{"k":null,"b":0}"#,
            r#"{"k":2,"c":0}"#,
            r#"{"k":[1],"c":0}"#,
            r#"{"k":[2]}"#,
        ],
        &[r#"{"k":1}"#, r#"{"k":"1","a":0}"#, r#"{"k":null}"#, r#"{"k":2,"b":0}"#, r#"{"k":[1]}"#],
    );
}

#[test]
fn what_is_left_over() {
    check(
        r#"{"type": "object", "properties": {"a": true}, "allOf": [{"properties": {"b": true}}], "unevaluatedProperties": false}"#,
        &["{}", r#"{"a":1,"b":1}"#],
        &[r#"{"c":1}"#],
    );
    check(
        r#"{"type": "object", "anyOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {"const": 2}}, "required": ["b"]}], "unevaluatedProperties": false}"#,
        &[r#"{"a":1}"#, r#"{"b":2}"#, r#"{"a":1,"b":2}"#],
        &["{}", r#"{"a":1,"b":1}"#, r#"{"a":1,"c":1}"#],
    );
    check(
        r#"{"type": "object", "if": {"properties": {"a": {"const": 1}}, "required": ["a"]}, "then": {"properties": {"b": true}}, "else": {"properties": {"c": true}}, "unevaluatedProperties": {"type": "null"}}"#,
        &[r#"{"a":1,"b":1}"#, r#"{"c":1}"#, r#"{"a":null}"#, r#"{"a":1,"c":null}"#],
        &[r#"{"a":2}"#, r#"{"a":1,"c":1}"#, r#"{"b":1}"#],
    );
    check(
        r##"{"$ref": "#/$defs/x", "unevaluatedProperties": false, "$defs": {"x": {"type": "object", "patternProperties": {"^x": true}}}}"##,
        &["{}", r#"{"xa":1}"#],
        &[r#"{"a":1}"#],
    );
    check(
        r#"{"type": "array", "prefixItems": [true], "allOf": [{"prefixItems": [true, {"type": "string"}]}], "unevaluatedItems": false}"#,
        &["[]", "[1]", r#"[1,"a"]"#],
        &["[1,2]", r#"[1,"a",1]"#],
    );
    check(
        r#"{"type": "array", "contains": {"type": "string"}, "unevaluatedItems": {"type": "integer"}}"#,
        &[r#"["a"]"#, r#"[1,"a",2,"b"]"#],
        &["[1]", r#"["a",null]"#],
    );
    check(
        r#"{"type": "object", "dependentSchemas": {"a": {"properties": {"b": true}}}, "properties": {"a": true}, "unevaluatedProperties": false}"#,
        &["{}", r#"{"a":1,"b":1}"#],
        &[r#"{"b":1}"#],
    );
}

#[test]
fn limits_of_containers() {
    let with = |schema: &str, limits: &Limits| {
        compiled_as(&shared(), schema, &SchemaOptions::new(limits)).0.map_err(|errors| {
            assert_eq!(errors[0].code, "J040", "{}", errors[0].message);
            errors[0].message.clone()
        })
    };
    let pair = |i: usize| {
        format!(
            r#"{{"anyOf":[{{"properties":{{"k":{{"minimum":{i}}}}}}},{{"properties":{{"l":{{"maximum":{i}}}}}}}]}}"#
        )
    };
    let pairs: Vec<String> = (0..9).map(pair).collect();
    let schema = format!(r#"{{"type":"object","allOf":[{}]}}"#, pairs.join(","));
    assert!(with(&schema, &Limits::default()).is_ok());
    let message = with(&schema, &Limits { schema_choices_max: 20, ..Limits::default() }).expect_err("too many");
    assert!(message.contains("`schema_choices_max` of 20"), "{message}");
    // Where a `oneOf` may be what asks for much, the way out is named.
    let limits = Limits { schema_work_max: 100, ..Limits::default() };
    for (keyword, is_named) in [("oneOf", true), ("anyOf", false)] {
        let schema = schema.replacen("anyOf", keyword, 1);
        let errors = compiled_as(&shared(), &schema, &SchemaOptions::new(&limits)).0.expect_err("too much");
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert_eq!(help.contains(r#""x-guidance": {"coerce_one_of": true}"#), is_named, "{help}");
    }
    let message = with(&schema, &Limits { schema_search_max: 1, ..Limits::default() }).expect_err("too far");
    assert!(message.contains("`schema_search_max` of 1"), "{message}");

    let limits = Limits { schema_unique_depth_max: 3, ..Limits::default() };
    let grammar =
        with(r#"{"type": "array", "uniqueItems": true}"#, &limits).unwrap_or_else(|message| panic!("{message}"));
    // Brackets that go too deep are left out, and what is beside them is not.
    for (text, is_accepted) in [("[[[1]],[[2]]]", true), ("[[[]]]", true), ("[[[{}]]]", false), ("[[[[]]]]", false)] {
        assert_eq!(accepts(&grammar, text), Ok(is_accepted), "{text}");
    }
    let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("a matcher");
    matcher.consume_bytes(b"[[[").expect("three are open");
    let mut mask = TokenMask::new(257);
    matcher.compute_mask(&mut mask).expect("a mask");
    let allowed = |byte: u8| mask.is_allowed(u32::from(byte));
    assert!(allowed(b']') && allowed(b'1') && allowed(b'"') && !allowed(b'[') && !allowed(b'{'));
    // An error where nothing else would be left.
    let nested = r#"{"type":"array","uniqueItems":true,"minItems":1,"items":{"type":"array","minItems":1,
        "items":{"type":"array","minItems":1,"items":{"type":"array","minItems":1}}}}"#;
    let grammar = with(nested, &limits).unwrap_or_else(|message| panic!("{message}"));
    let error = accepts(&grammar, "[[[[1]]]]").expect_err("too deep");
    assert!(error.to_string().contains("schema_unique_depth_max"), "{error}");
}

/// Elements that are containers of some thousand values: that their values are many is seen before they are listed, which took
/// all memory.
#[test]
fn containers_of_thousands_of_values() {
    let unique = |items: &str, more: &str| format!(r#"{{"type":"array","uniqueItems":true,"items":{items}{more}}}"#);
    let words = r#"{"type":"string","pattern":"^[a-p]{3}$"}"#;
    let objects =
        r#"{"type":"object","properties":{"a":<>,"b":<>,"c":<>},"required":["a","b"],"additionalProperties":false}"#;
    for elements in
        [unique(words, ""), unique(words, r#","minItems":2"#), unique(words, r#","minItems":2,"maxItems":9"#)]
    {
        check(
            &unique(&elements, ""),
            &["[]", r#"[["abc","abd"],["abd","abc"]]"#],
            &[r#"[["abc","abd"],["abc","abd"]"#],
        );
    }
    check(
        &unique(&objects.replace("<>", words), ""),
        &[r#"[{"a":"aaa","b":"aaa"},{"a":"aaa","b":"aab"}]"#],
        &[r#"[{"a":"aaa","b":"aaa"},{"a":"aaa","b":"aaa"}]"#],
    );
    let mixed = format!(r#"{{"anyOf":[{words},{}]}}"#, unique(words, r#","minItems":2"#));
    check(&unique(&mixed, r#","minItems":2"#), &[r#"["abc",["abc","abd"]]"#], &[r#"["abc","abc""#]);
}

/// Arrays of more different elements than there are: left out where something else is valid, or an error.
#[test]
fn too_few_values_to_differ() {
    let few = [
        r#""minItems":3,"items":{"type":"boolean"}"#,
        r#""minItems":2,"items":{"type":"null"}"#,
        r#""minItems":2,"items":{"const":{"a":1}}"#,
        r#""minItems":4,"items":{"enum":[1,2,"3"]}"#,
        r#""minItems":4,"items":{"type":"integer","minimum":0,"maximum":2}"#,
        r#""minItems":2,"items":{"type":"string","maxLength":0}"#,
        r#""minItems":2,"items":{"type":"object","additionalProperties":false}"#,
        r#""minItems":2,"prefixItems":[{"const":1},{"const":1}]"#,
        r#""contains":{"const":1},"minContains":2"#,
        r#""items":{"type":["boolean","null"]},"contains":{"type":["boolean","string"]},"minContains":3"#,
    ];
    for keywords in few {
        let array = format!(r#"{{"type":"array","uniqueItems":true,{keywords}}}"#);
        assert_eq!(refused(&array), ["J020"], "{array}");
        let either = format!(r#"{{"type":["array","null"],"uniqueItems":true,{keywords}}}"#);
        check(&either, &["null"], &["["]);
        check(&format!(r#"{{"anyOf":[{array},{{"type":"integer"}}]}}"#), &["1"], &["["]);
        let within = format!(r#"{{"type":"object","properties":{{"a":{either},"b":{array}}},"required":["a"]}}"#);
        check(&within, &[r#"{"a":null}"#], &[r#"{"a":["#, r#"{"a":null,"b""#]);
        check(&format!(r#"{{"type":"array","items":{either}}}"#), &["[]", "[null,null]"], &["[[", "[null,["]);
        let unique = format!(r#"{{"type":"array","uniqueItems":true,"items":{either}}}"#);
        check(&unique, &["[]", "[null]"], &["[[", "[null,"]);
    }
    check(
        r#"{"type":["array","null"],"uniqueItems":true,"contains":{"type":"boolean"},"minContains":2}"#,
        &["null", "[true,1,false]"],
        &["[true,true]"],
    );
}
