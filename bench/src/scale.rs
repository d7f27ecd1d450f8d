//! Large and hostile JSON Schemas and instances on o200k, each in a process of its own and in both profiles: time to
//! compile, first mask, a mask before every token of an instance, peak memory.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use larkspur::{CompileOptions, Engine, MatcherError, Source, Spelling, TokenMask};

use crate::machine::memory_bytes;
use crate::vocabulary::{for_larkspur, token_bytes, tokenize};

/// A pass over an instance is given up after so long.
const PASS_MAX: Duration = Duration::from_secs(60);

struct ScaleCase {
    name: &'static str,
    schema: fn() -> String,
    /// Valid for the schema.
    instance: fn() -> String,
}

fn joined(count: usize, item: impl Fn(usize) -> String) -> String {
    (0..count).map(item).collect::<Vec<_>>().join(",")
}

fn keys(count: usize) -> String {
    format!("{{{}}}", joined(count, |i| format!(r#""key {i}":{i}"#)))
}

fn properties(count: usize, required: bool) -> String {
    let properties = joined(count, |i| format!(r#""p{i}":{{"type":"integer"}}"#));
    let required = if required { joined(count, |i| format!(r#""p{i}""#)) } else { String::new() };
    format!(r#"{{"type":"object","properties":{{{properties}}},"required":[{required}],"additionalProperties":false}}"#)
}

fn members(count: usize) -> String {
    format!("{{{}}}", joined(count, |i| format!(r#""p{i}":{i}"#)))
}

fn references(last: &str) -> String {
    let links = joined(5_000, |i| {
        format!(r##""d{i}":{{"type":"object","properties":{{"a":{{"$ref":"#/$defs/d{}"}}}}}}"##, i + 1)
    });
    format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{links},"d5000":{last}}}}}"##)
}

fn nested(open: &str, close: &str, count: usize) -> String {
    format!("{}{}", open.repeat(count), close.repeat(count))
}

const CASES: &[ScaleCase] = &[
    ScaleCase {
        name: "10,000 optional properties",
        schema: || properties(10_000, false),
        instance: || r#"{"p3":1,"p7777":2,"p9999":3}"#.into(),
    },
    ScaleCase { name: "2,000 required properties", schema: || properties(2_000, true), instance: || members(2_000) },
    ScaleCase {
        name: "`enum` of 100,000 strings",
        schema: || format!(r#"{{"enum":[{}]}}"#, joined(100_000, |i| format!(r#""value number {i}""#))),
        instance: || r#""value number 99999""#.into(),
    },
    ScaleCase {
        name: "`maxItems` 10^9",
        schema: || r#"{"type":"array","items":{"type":"integer"},"maxItems":1000000000}"#.into(),
        instance: || format!("[{}]", joined(1_000, |i| i.to_string())),
    },
    ScaleCase {
        name: "`maxLength` 10^9",
        schema: || r#"{"type":"string","maxLength":1000000000}"#.into(),
        instance: || format!(r#""{}""#, "some text and ".repeat(300)),
    },
    ScaleCase {
        name: "chain of 5,000 `$ref`",
        schema: || references(r#"{"type":"null"}"#),
        instance: || format!("{}{{}}{}", r#"{"a":"#.repeat(1_000), "}".repeat(1_000)),
    },
    ScaleCase {
        name: "ring of 5,000 `$ref`",
        schema: || references(r##"{"$ref":"#/$defs/d0"}"##),
        instance: || format!("{}{{}}{}", r#"{"a":"#.repeat(6_000), "}".repeat(6_000)),
    },
    ScaleCase {
        name: "union of 2,000 objects",
        schema: || {
            let branch = |i| {
                format!(
                    r#"{{"type":"object","properties":{{"kind":{{"const":"k{i}"}},"v":{{"const":{i}}}}},"required":["kind","v"]}}"#
                )
            };
            format!(r#"{{"anyOf":[{}]}}"#, joined(2_000, branch))
        },
        instance: || r#"{"kind":"k777","v":777}"#.into(),
    },
    ScaleCase {
        name: "24 two-way products of names",
        schema: || {
            let pair = |i: usize| format!(r#"{{"anyOf":[{{"required":["a{i}"]}},{{"required":["b{i}"]}}]}}"#);
            format!(r#"{{"type":"object","allOf":[{}]}}"#, joined(24, pair))
        },
        instance: || format!("{{{}}}", joined(24, |i| format!(r#""{}{i}":1"#, ["a", "b"][i % 2]))),
    },
    ScaleCase {
        name: "24 two-way products of values",
        schema: || {
            let branch = |name: &str, i: usize, n: usize| {
                format!(r#"{{"properties":{{"{name}{i}":{{"type":"integer","maximum":{n}}}}}}}"#)
            };
            let pair = |i: usize| format!(r#"{{"anyOf":[{},{}]}}"#, branch("a", i, i), branch("b", i, 1));
            format!(r#"{{"type":"object","allOf":[{}]}}"#, joined(24, pair))
        },
        instance: || r#"{"a5":5,"b5":9}"#.into(),
    },
    ScaleCase {
        name: "a name of 100 kB",
        schema: || {
            let name = "n".repeat(100_000);
            format!(r#"{{"type":"object","properties":{{"{name}":true}},"required":["{name}"]}}"#)
        },
        instance: || format!(r#"{{"{}":1}}"#, "n".repeat(100_000)),
    },
    ScaleCase {
        name: "10,000 levels of schema text",
        schema: || format!("{}true{}", r#"{"not":"#.repeat(10_000), "}".repeat(10_000)),
        instance: String::new,
    },
    ScaleCase {
        name: "100,000 brackets",
        schema: || r#"{"type":"array"}"#.into(),
        instance: || nested("[", "]", 100_000),
    },
    ScaleCase {
        name: "100,000 braces",
        schema: || r##"{"type":"object","additionalProperties":{"$ref":"#"}}"##.into(),
        instance: || format!("{}{{}}{}", r#"{"a":"#.repeat(100_000), "}".repeat(100_000)),
    },
    ScaleCase {
        name: "`uniqueItems`, 10,000 items",
        schema: || r#"{"type":"array","items":{"type":"integer"},"uniqueItems":true}"#.into(),
        instance: || format!("[{}]", joined(10_000, |i| (7 * i).to_string())),
    },
    ScaleCase {
        name: "`uniqueItems`, 10,000 strings",
        schema: || r#"{"type":"array","items":{"type":"string"},"uniqueItems":true}"#.into(),
        instance: || format!("[{}]", joined(10_000, |i| format!(r#""item {i}""#))),
    },
    ScaleCase { name: "1,000 unlisted keys", schema: || r#"{"type":"object"}"#.into(), instance: || keys(1_000) },
    ScaleCase { name: "10,000 unlisted keys", schema: || r#"{"type":"object"}"#.into(), instance: || keys(10_000) },
    ScaleCase { name: "20,000 unlisted keys", schema: || r#"{"type":"object"}"#.into(), instance: || keys(20_000) },
];

/// Runs all cases whose names contain a text, and prints a table.
pub fn run(wanted: &str) -> Result<()> {
    println!(
        "| case | profile | compile ms | first mask ms | mask p50 us | p99 | max | consume us/token | tokens | peak MB | |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for case in CASES.iter().filter(|case| case.name.contains(wanted)) {
        for profile in ["generate", "validate"] {
            let output = Command::new(std::env::current_exe()?)
                .args(["--scale-child", &format!("{profile}:{}", case.name)])
                .stdin(Stdio::null())
                .output()?;
            let errors = String::from_utf8_lossy(&output.stderr);
            let row = match output.status.success() {
                true => String::from_utf8_lossy(&output.stdout).trim().to_owned(),
                false => format!("{}: {}", output.status, errors.lines().next().unwrap_or("")),
            };
            println!("| {} | {profile} | {row} |", case.name);
        }
    }
    Ok(())
}

/// What a child does: `profile:name`.
pub fn obey(order: &str) -> Result<()> {
    let (profile, name) = order.split_once(':').context("a profile and a name")?;
    let case = CASES.iter().find(|case| case.name == name).context("no such case")?;
    let spelling = if profile == "validate" { Spelling::validator() } else { Spelling::generator() };
    let options = CompileOptions { spelling, ..CompileOptions::default() };
    let tokens = tokenize(&(case.instance)());
    let schema = (case.schema)();
    let engine = Engine::new(for_larkspur(&token_bytes()?)?);
    let before = memory_bytes();
    let begin = Instant::now();
    let compiled = engine.compile_with(&Source::json_schema(schema), &options);
    let compile_ms = begin.elapsed().as_secs_f64() * 1e3;
    // What was taken before is as high as the peak where nothing large was given back.
    let peak = || (memory_bytes().1.max(before.1) - before.0) as f64 / 1e6;
    let grammar = match compiled {
        Ok(grammar) => grammar,
        Err(error) => {
            let error = error.to_string();
            let first = error.lines().next().unwrap_or("").chars().take(120).collect::<String>();
            println!("{compile_ms:.0} | | | | | | | {:.0} | {first}", peak());
            return Ok(());
        }
    };
    let mut matcher = grammar.matcher()?;
    let mut mask = TokenMask::new(engine.vocabulary().len());
    let (mut masks, mut consume, mut said) = (Vec::new(), Duration::ZERO, String::new());
    let pass = Instant::now();
    for (index, &token) in tokens.iter().enumerate() {
        let begin = Instant::now();
        let made = matcher.compute_mask(&mut mask);
        masks.push(begin.elapsed().as_secs_f64() * 1e6);
        let begin = Instant::now();
        let done = made.and_then(|()| {
            if !mask.is_allowed(token) {
                return Err(MatcherError::TokenRejected { token, at_byte: 0 });
            }
            matcher.consume_token(token).map(|_| ())
        });
        consume += begin.elapsed();
        if let Err(error) = done {
            said = format!("token {index}: {error}");
            break;
        }
        if pass.elapsed() > PASS_MAX {
            said = format!("given up at token {index} of {}", tokens.len());
            break;
        }
    }
    if said.is_empty() {
        ensure!(matcher.is_accepting()?, "the instance is not whole");
    }
    let first = masks[0] / 1e3;
    let count = masks.len();
    masks.sort_by(f64::total_cmp);
    let at = |part: f64| masks[((count - 1) as f64 * part) as usize];
    println!(
        "{compile_ms:.0} | {first:.1} | {:.0} | {:.0} | {:.0} | {:.1} | {count} | {:.0} | {said}",
        at(0.5),
        at(0.99),
        at(1.0),
        consume.as_secs_f64() * 1e6 / count as f64,
        peak(),
    );
    Ok(())
}
