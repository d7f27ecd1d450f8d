//! Large and hostile schemas: compiled in linear time, or refused with the limit's name; never a panic.

mod common;

use std::fmt::Write;
use std::time::{Duration, Instant};

use common::{accepts, compiled, shared};
use larkspur_grammar::{Limits, SourceMap, Span};
use larkspur_json_schema::{SchemaOptions, compile};

/// The codes of what the front end says, and that it took no longer than a (generous) bound.
fn codes(schema: &str) -> Vec<&'static str> {
    let mut sources = SourceMap::new();
    let source = sources.add("schema.json", schema);
    let limits = Limits::default();
    let start = Instant::now();
    let parsed = compile(&mut sources, Span::new(source, 0, schema.len()), &SchemaOptions::new(&limits));
    let time = start.elapsed();
    println!("front end: {time:?}");
    assert!(time < Duration::from_secs(30), "{time:?}");
    parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

fn checked(schema: &str, accepted: &[&str], rejected: &[&str]) {
    checked_with_codes(schema, &[], accepted, rejected);
}

fn checked_with_codes(schema: &str, said: &[&str], accepted: &[&str], rejected: &[&str]) {
    assert_eq!(codes(schema), said);
    let shared = shared();
    let start = Instant::now();
    let (grammar, _) = compiled(&shared, schema);
    let grammar = grammar.unwrap_or_else(|errors| panic!("{errors:#?}"));
    println!("with the engine: {:?}", start.elapsed());
    let start = Instant::now();
    for text in accepted {
        assert_eq!(accepts(&grammar, text), Ok(true), "{text}");
    }
    for text in rejected {
        assert_eq!(accepts(&grammar, text), Ok(false), "{text}");
    }
    println!("texts: {:?}", start.elapsed());
}

/// The schema in the validator's profile.
fn validating(schema: &str) -> String {
    let rest = schema.strip_prefix('{').expect("an object");
    format!(r#"{{"x-larkspur":{{"profile":"validate"}},{rest}"#)
}

fn joined(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

#[test]
fn many_optional_properties() {
    let properties = joined(10_000, |i| format!(r#""property{i}":{{"type":"integer"}}"#));
    let schema = format!(r#"{{"type":"object","properties":{{{properties}}},"additionalProperties":false}}"#);
    checked(&schema, &["{}", r#"{"property3":1,"property9999":2}"#], &[r#"{"property5":1,"property3":1}"#]);
}

#[test]
fn many_patterns() {
    let patterns = joined(1_000, |i| format!(r#""^key{i}[a-z]*$":{{"type":"integer","minimum":{i}}}"#));
    let schema = format!(r#"{{"type":"object","patternProperties":{{{patterns}}},"additionalProperties":false}}"#);
    checked(
        &schema,
        &["{}", r#"{"key1":1,"key10a":10,"key999zz":1000}"#],
        &[r#"{"key10a":9}"#, r#"{"key1000":1000}"#, r#"{"key":1}"#],
    );
    // Each set of them may be those that a name matches.
    let patterns = joined(24, |i| format!(r#""a{i}b":{{"maximum":{i}}}"#));
    assert_eq!(codes(&format!(r#"{{"patternProperties":{{{patterns}}}}}"#)), ["J040"]);
}

#[test]
fn many_required_properties() {
    let properties = joined(2_000, |i| format!(r#""p{i}":{{"type":"integer"}}"#));
    let required = joined(2_000, |i| format!(r#""p{i}""#));
    let schema = format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}]}}"#);
    let instance = format!("{{{}}}", joined(2_000, |i| format!(r#""p{i}":{i}"#)));
    checked(&schema, &[&instance], &["{}", r#"{"p0":1,"p2":1}"#]);
}

#[test]
fn large_enumeration() {
    let values = joined(100_000, |i| format!(r#""value number {i}""#));
    checked(&format!(r#"{{"enum":[{values}]}}"#), &[r#""value number 99999""#], &[r#""value number 100000""#]);
}

#[test]
fn large_counts() {
    checked(r#"{"type":"string","maxLength":1000000000}"#, &[r#""abc""#], &["1"]);
    checked(r#"{"type":"array","items":{"type":"null"},"maxItems":1000000000,"minItems":1}"#, &["[null]"], &["[]"]);
}

#[test]
fn chains_and_rings_of_references() {
    let chain = |last: &str| {
        let links = joined(5_000, |i| format!(r##""d{i}":{{"$ref":"#/$defs/d{}"}}"##, i + 1));
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{links},"d5000":{last}}}}}"##)
    };
    checked(&chain(r#"{"type":"null"}"#), &["null"], &["1"]);
    assert_eq!(codes(&chain(r##"{"$ref":"#/$defs/d0"}"##)), ["J006"]);
    let nested = joined(5_000, |i| {
        format!(r##""d{i}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{}"}}}},"required":["a"]}}"##, i + 1)
    });
    let schema = format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{nested},"d5000":{{"type":"null"}}}}}}"##);
    checked(&schema, &[], &["{}"]);
    let ring = schema.replace(r#""d5000":{"type":"null"}"#, r##""d5000":{"$ref":"#/$defs/d0"}"##);
    assert_eq!(codes(&ring), ["J021"]);
}

#[test]
fn wide_unions() {
    let branches = joined(2_000, |i| {
        format!(
            r#"{{"type":"object","properties":{{"kind":{{"const":"k{i}"}},"v":{{"const":{i}}}}},"required":["kind","v"]}}"#
        )
    });
    let schema = format!(r#"{{"anyOf":[{branches}]}}"#);
    checked(&schema, &[r#"{"kind":"k7","v":7}"#], &[r#"{"kind":"k7","v":8}"#]);
    let valid = [r#"{"kind":"k7","v":7}"#, r#"{"v":70e-1,"other":[],"k\u0069nd":"k\u0037"}"#];
    checked(&validating(&schema), &valid, &[r#"{"kind":"k7","v":8}"#, r#"{"v":7.1,"kind":"k7"}"#]);
}

/// Each value taken is one more that no spelling of a later element may have.
#[test]
fn elements_that_differ() {
    let schema = validating(r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#);
    let items = joined(1_000, |i| (i * i * 7919 % 1_000_003).to_string());
    let with = |last: &str| format!("[{items},{last}]");
    checked(&schema, &[&with("-7919")], &[&with("7919"), &with("79190e-1"), &with("0.00"), &with("0.7919E+4")]);
    let schema = validating(r#"{"type":"array","uniqueItems":true}"#);
    let items = joined(300, |i| format!(r#"{i},"{i}",[{i}],-{i}.5"#));
    let with = |last: &str| format!("[{items},{last}]");
    let repeated = ["2e0", r#""\u0032""#, "[2.0]", "-25E-1"].map(with);
    checked(&schema, &[&with("[]"), &with("2.25")], &repeated.each_ref().map(|text| &text[..]));
}

#[test]
fn products_are_not_multiplied_out() {
    let pair = |i: usize| format!(r#"{{"anyOf":[{{"required":["a{i}"]}},{{"required":["b{i}"]}}]}}"#);
    let schema = format!(r#"{{"type":"object","allOf":[{}]}}"#, joined(24, pair));
    let instance = |count: usize| format!("{{{}}}", joined(count, |i| format!(r#""{}{i}":1"#, ["a", "b"][i % 2])));
    checked(&schema, &[&instance(24)], &[&instance(23)]);
    // Values decide: which of the branches holds is not known before all properties are read.
    let pair = |i: usize| {
        let branch = |name: &str, n: usize| format!(r#"{{"properties":{{"{name}{i}":{{"maximum":{n}}}}}}}"#);
        format!(r#"{{"anyOf":[{},{}]}}"#, branch("a", i), branch("b", 1))
    };
    let schema = format!(r#"{{"type":"object","allOf":[{}]}}"#, joined(24, pair));
    checked(&schema, &["{}", r#"{"a5":5,"b5":9}"#, r#"{"a5":9,"b5":1}"#], &[r#"{"a5":6,"b5":2}"#]);
}

#[test]
fn a_long_name() {
    let name = "n".repeat(100_000);
    let schema = format!(r#"{{"type":"object","properties":{{"{name}":true}},"required":["{name}"]}}"#);
    let valid = format!(r#"{{"{name}":1}}"#);
    checked(&schema, &[&valid], &["{}"]);
    checked(&validating(&schema), &[&valid], &["{}"]);
}

#[test]
fn nested_negations() {
    let mut schema = String::from(r#"{"type":"string"}"#);
    for _ in 0..190 {
        let mut outer = String::new();
        write!(outer, r#"{{"not":{schema}}}"#).expect("a string");
        schema = outer;
    }
    checked(&schema, &["\"\""], &["1"]);
}

#[test]
fn opposites_within_each_other() {
    // Each asks whether two branches have a value in common, where a branch is again such an opposite.
    let mut schema = String::from(r#"{"type":"object","required":["a"]}"#);
    for i in 0..60 {
        schema = format!(r#"{{"not":{{"oneOf":[{{"required":["b{i}"]}},{schema}]}}}}"#);
    }
    println!("{:?}", codes(&schema));
    let links = joined(2_000, |i| {
        format!(r##""d{i}":{{"not":{{"oneOf":[{{"required":["b"]}},{{"$ref":"#/$defs/d{}"}}]}}}}"##, i + 1)
    });
    println!("{:?}", codes(&format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{links},"d2000":{{"type":"null"}}}}}}"##)));
    let own = r##"{"oneOf":[{"required":["a"]},{"not":{"$ref":"#"}}]}"##;
    for schema in [own.to_owned(), format!(r#"{{"not":{own}}}"#)] {
        let codes = codes(&schema);
        assert!(!codes.is_empty() && codes.iter().all(|&code| code == "J006"), "{schema}: {codes:?}");
    }
}

/// What is multiplied out in vain meets a limit soon, and before it takes memory.
#[test]
fn branches_that_overlap() {
    let one_of = |branch: &dyn Fn(usize) -> String| {
        codes(&format!(r#"{{"type":"object","oneOf":[{}]}}"#, joined(1_000, branch)))
    };
    let in_two = |i| format!(r#"{{"properties":{{"a{i}":{{"const":{i}}},"b{i}":{{"const":{i}}}}}}}"#);
    assert_eq!(one_of(&in_two), ["J040"]);
    let open = |i| {
        let value = format!(r#"{{"properties":{{"p{i}":{{"type":"string"}}}},"required":["p{i}"]}}"#);
        format!(r#"{{"properties":{{"type":{{"const":{i}}},"value":{value}}}}}"#)
    };
    assert_eq!(one_of(&open), ["J040"]);
}

/// Each property asks for the next one. Which of them may come is one search, not one for each.
#[test]
fn properties_that_ask_for_others() {
    let asks = joined(1_000, |i| format!(r#""p{i}":["p{}"]"#, i + 1));
    let properties = joined(1_001, |i| format!(r#""p{i}":{{}}"#));
    let schema = format!(r#"{{"type":"object","dependentRequired":{{{asks}}},"properties":{{{properties}}}}}"#);
    let from = |first: usize| format!("{{{}}}", joined(1_001 - first, |i| format!(r#""p{}":{i}"#, first + i)));
    checked(&schema, &["{}", &from(900), r#"{"other":1}"#], &[r#"{"p3":1}"#, r#"{"p3":1,"p5":1}"#]);
    let valid = [r#"{"p1000":1,"p999":1,"p998":1}"#, r#"{"x":1,"p999":1,"y":2,"p1000":2}"#];
    checked(&validating(&schema), &valid, &[r#"{"p999":1}"#, r#"{"p998":1,"p1000":1}"#]);
}

/// Each value of a property is a way of its own, and another property must fit it.
#[test]
fn ways_that_a_value_decides() {
    let kinds = joined(3_000, |i| format!(r#"{{"properties":{{"kind":{{"const":{i}}},"v":{{"minimum":{i}}}}}}}"#));
    let others = joined(20, |i| format!(r#"{{"required":["q{i}"]}}"#));
    let schema = format!(
        r#"{{"type":"object","properties":{{"kind":{{}},"v":{{}}}},"allOf":[{{"anyOf":[{kinds}]}},{{"anyOf":[{others}]}}]}}"#
    );
    let valid = [r#"{"kind":7,"v":7,"q3":1}"#, r#"{"kind":2999,"v":3000,"q19":{}}"#, r#"{"v":0,"q0":0}"#];
    let invalid =
        [r#"{"kind":7,"v":6,"q3":1}"#, r#"{"kind":7,"v":7}"#, r#"{"kind":3000,"q3":1}"#, r#"{"v":-1,"q0":0}"#];
    checked(&schema, &valid, &invalid);
}

/// Each search for an object is within its limit, or given up, and all together are within that of the schema.
#[test]
fn searches_for_many_objects() {
    // Of two properties of a pair one may be there.
    let objects = |count: usize, pairs: usize, least: usize| {
        let properties = |j: usize| joined(2 * pairs, |i| format!(r#""p{i}":{{"type":"integer","minimum":{j}}}"#));
        let apart = joined(pairs, |i| format!(r#"{{"not":{{"required":["p{i}","p{}"]}}}}"#, i + pairs));
        let object = |j| {
            let properties = properties(j);
            format!(
                r#"{{"type":"object","properties":{{{properties}}},"additionalProperties":false,"minProperties":{least},"allOf":[{apart}]}}"#
            )
        };
        let arrays = joined(count, |j| format!(r#"{{"type":"array","items":{},"minItems":1}}"#, object(j)));
        format!(r#"{{"anyOf":[{{"const":1}},{arrays}]}}"#)
    };
    checked(&objects(10, 3, 3), &["1", r#"[{"p0":9,"p1":9,"p2":9}]"#], &["[]", r#"[{"p0":9,"p1":9,"p3":9}]"#, "[{}]"]);
    let schema = objects(100, 11, 12);
    let limits = Limits::default();
    let mut sources = SourceMap::new();
    let source = sources.add("schema.json", schema.as_str());
    let parsed = compile(&mut sources, Span::new(source, 0, schema.len()), &SchemaOptions::new(&limits));
    let said: Vec<_> = parsed.diagnostics.iter().map(|diagnostic| (diagnostic.code, &diagnostic.message)).collect();
    assert!(matches!(said[..], [("J040", message)] if message.contains("schema_work_max")), "{said:?}");
}

/// Thousands of divisors are looked through once; a mask of them meets a limit.
#[test]
fn many_divisors() {
    let none_of = |count: usize| {
        let divisors = joined(count, |i| format!(r#"{{"multipleOf":{}}}"#, i + 2));
        format!(r#"{{"type":"integer","not":{{"anyOf":[{divisors}]}}}}"#)
    };
    checked(&none_of(4), &["1", "7", "-77"], &["0", "2", "-9", "25"]);
    assert_eq!(codes(&none_of(4_000)), [""; 0]);
    for schema in [r#"{"multipleOf":1e-50000}"#, r#"{"not":{"multipleOf":1e-50000}}"#, r#"{"multipleOf":1e50000}"#] {
        println!("{:?}", codes(&format!(r#"{{"type":"number","allOf":[{schema}]}}"#)));
    }
}

/// Ranges and constants of which each value is of one branch at most, or is counted.
#[test]
fn branches_of_scalars() {
    let one_of = |around: &str, count: usize, branch: &dyn Fn(usize) -> String| {
        format!(r#"{{{around}"oneOf":[{}]}}"#, joined(count, branch))
    };
    let apart =
        one_of(r#""type":"integer","#, 1_000, &|i| format!(r#"{{"minimum":{},"maximum":{}}}"#, i * 10, i * 10 + 5));
    checked(&apart, &["0", "15", "9995"], &["-1", "6", "19", "9996"]);
    checked(&validating(&apart), &["1.5e1", "9995.0"], &["6.0", "0.5"]);
    let half_open = |i| format!(r#"{{"minimum":{},"exclusiveMaximum":{}}}"#, i * 10, i * 10 + 10);
    checked(&one_of(r#""type":"number","#, 500, &half_open), &["0", "10", "4999.5"], &["-1", "5000"]);
    // Two branches have those in common that end in 0 to 5.
    let overlapping = |i| format!(r#"{{"minimum":{},"maximum":{}}}"#, i * 10, i * 10 + 15);
    checked(
        &one_of(r#""type":"integer","#, 1_000, &overlapping),
        &["0", "9", "16", "10005"],
        &["10", "15", "9990", "10006"],
    );
    let mixed = |i| format!(r#"{{"minimum":{},"maximum":{},"multipleOf":{}}}"#, i * 10, i * 10 + 15, i % 3 + 1);
    checked(&one_of(r#""type":"integer","#, 10, &mixed), &["3", "11", "16", "27"], &["10", "14", "19", "30"]);
    checked(&one_of("", 5_000, &|i| format!(r#"{{"const":{i}}}"#)), &["0", "4999"], &["5000", "-1", "\"1\""]);
    checked(&one_of("", 20_000, &|i| format!(r#"{{"const":"v{i}"}}"#)), &["\"v0\"", "\"v19999\""], &["\"v\"", "1"]);
    let twice = |i: usize| format!(r#"{{"enum":["v{i}","v{}",{i},{}]}}"#, i + 1, i + 2);
    checked(&one_of("", 1_000, &twice), &["\"v0\"", "\"v1000\"", "0", "1", "1000", "1001"], &["\"v1\"", "2", "999"]);
}

#[test]
fn opposites_of_many_constants() {
    for value in ["", "\""] {
        let opposites = joined(5_000, |i| format!(r#"{{"not":{{"const":{value}{i}{value}}}}}"#));
        let text = |i: usize| format!("{value}{i}{value}");
        checked(&format!(r#"{{"allOf":[{opposites}]}}"#), &[&text(5_000), "null"], &[&text(0), &text(4_999)]);
    }
}

/// Each branch is all that the other is, but for some.
#[test]
fn branches_within_each_other() {
    let chain = |keyword: &dyn Fn(usize) -> String| {
        let link = |i: usize| {
            let next = format!(r##""$ref":"#/$defs/d{}""##, i + 1);
            format!(r#""d{i}":{{"oneOf":[{{{next}}},{{{next},{}}}]}}"#, keyword(i))
        };
        format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{},"d42":{{"type":"integer"}}}}}}"##, joined(42, link))
    };
    // All but the innermost of the second branches have no value.
    checked_with_codes(&chain(&|_| r#""minimum":0"#.to_owned()), &["J022"; 41], &["-1"], &["0", "1"]);
    println!("{:?}", codes(&chain(&|i| format!(r#""multipleOf":{}"#, i + 2))));
}

#[test]
fn bounds_of_many_digits() {
    for digits in ["9", "1", "90", "123456789"] {
        let text = |count: usize| digits.repeat(count / digits.len());
        let (whole, fraction) = (text(9_900), format!("0.{}", text(9_900)));
        checked(&format!(r#"{{"type":"integer","minimum":{whole}}}"#), &[&whole, &format!("{whole}0")], &["9"]);
        checked(
            &format!(r#"{{"type":"number","maximum":{fraction}}}"#),
            &["0", &fraction],
            &["1", &format!("{fraction}1")],
        );
        for keyword in ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"] {
            assert_eq!(codes(&format!(r#"{{"{keyword}":{}}}"#, text(20_000))), ["J010"]);
        }
    }
}

/// Branches that ask for constants of one property are one way each, not one for each set of them.
#[test]
fn discriminators_with_unevaluated_properties() {
    const KINDS: usize = 150;
    let accepted = [r#"{"t":"t7","p7":1}"#, r#"{"t":"t149","p149":-1}"#];
    let rejected =
        [r#"{"t":"t7","p8":1}"#, r#"{"t":"t7","p7":1,"p8":1}"#, r#"{"t":"t7","p7":1,"q":1}"#, r#"{"t":"u","p7":1}"#];
    let kinds = joined(KINDS, |i| format!(r#""t{i}""#));
    let base = |rest: &str| {
        let keys = r#""type":"object","required":["t"],"unevaluatedProperties":false"#;
        format!(r#"{{{keys},"properties":{{"t":{{"enum":[{kinds}]}}}},{rest}}}"#)
    };
    let then = |i: usize| format!(r#"{{"properties":{{"p{i}":{{"type":"integer"}}}},"required":["p{i}"]}}"#);
    for required in [r#","required":["t"]"#, ""] {
        let list = joined(KINDS, |i| {
            format!(r#"{{"if":{{"properties":{{"t":{{"const":"t{i}"}}}}{required}}},"then":{}}}"#, then(i))
        });
        checked(&base(&format!(r#""allOf":[{list}]"#)), &accepted, &rejected);
    }
    for keyword in ["oneOf", "anyOf"] {
        let list = joined(KINDS, |i| {
            format!(
                r#"{{"properties":{{"t":{{"const":"t{i}"}},"p{i}":{{"type":"integer"}}}},"required":["t","p{i}"]}}"#
            )
        });
        checked(&base(&format!(r#""{keyword}":[{list}]"#)), &accepted, &rejected);
    }
    // In a chain, whose last branch is open.
    let mut chain = "true".to_owned();
    for i in 0..64 {
        let condition = format!(r#"{{"properties":{{"t":{{"const":"t{i}"}}}}}}"#);
        chain = format!(r#"{{"if":{condition},"then":{},"else":{chain}}}"#, then(i));
    }
    checked(
        &base(&format!(r#""allOf":[{chain}]"#)),
        &[r#"{"t":"t7","p7":1}"#, r#"{"t":"t100"}"#],
        &[r#"{"t":"t7"}"#, r#"{"t":"t100","p7":1}"#, r#"{"t":"t7","p8":1}"#],
    );
}

/// What other values than objects are stays open, and so do conditions that hold together.
#[test]
fn conditions_of_other_values() {
    let branch = |i: usize, more: &str| {
        format!(
            r#"{{"if":{{"properties":{{"t":{{"const":{i}}}}},"required":["t"{more}]}},"then":{{"properties":{{"p{i}":true}}}}}}"#
        )
    };
    let schema = format!(
        r#"{{"allOf":[{},{}],"anyOf":[{{"minLength":2}},{{"minItems":1}}],"unevaluatedProperties":{{"type":"null"}}}}"#,
        branch(1, ""),
        branch(2, r#","u""#)
    );
    checked(
        &schema,
        &["1", r#""ab""#, "[]", r#"{"p1":null}"#, r#"{"t":null}"#, r#"{"t":1,"p1":1}"#],
        &[r#"{"t":1,"p2":1}"#, r#"{"t":3}"#, r#"{"p1":1}"#],
    );
    let both = r#"{"properties":{"t":{"type":"integer"}},"anyOf":[
        {"properties":{"t":{"enum":[1,2]},"a":true},"required":["t"]},
        {"properties":{"t":{"enum":[2,3]},"b":true},"required":["t"]},
        {"properties":{"t":{"enum":[3]},"c":true}}],"unevaluatedProperties":false}"#;
    checked(
        both,
        &[r#"{"t":2,"a":1,"b":1}"#, r#"{"t":1,"a":1}"#, r#"{"t":3,"b":1,"c":1}"#, r#"{"c":1}"#, "[]", "{}"],
        &[r#"{"t":1,"b":1}"#, r#"{"t":2,"c":1}"#, r#"{"t":3,"a":1}"#, r#"{"a":1}"#, r#"{"t":4}"#],
    );
}
