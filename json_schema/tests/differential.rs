//! Whole suites of schemas and instances: what compiles, what is refused and why, and that nothing wrong is accepted.
//!
//! The material is not part of the repository: it is read from `../shared` or the folder that `LARKSPUR_SHARED` names,
//! and skipped with a message where it is not there. A sample is run unless `LARKSPUR_FULL` is set; `LARKSPUR_SHOW` is
//! the number of cases shown for each cause. `LARKSPUR_PROFILE=validate` runs the validator's profile, in which each
//! instance is also judged in other spellings.

mod common;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use common::{accepts, shared};
use larkspur_grammar::Limits;
use larkspur_json_schema::{SchemaOptions, Spelling};
use larkspur_parser::Shared;
use serde_json::Value;

fn folder(name: &str) -> Option<PathBuf> {
    let root = std::env::var("LARKSPUR_SHARED")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = root.join(name);
    if !folder.is_dir() {
        println!("skipped: there is no folder {name}; LARKSPUR_SHARED names the one that it is in");
        return None;
    }
    Some(folder)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    found.sort();
    found
}

/// Figures of one set.
#[derive(Default)]
struct Table {
    schemas: usize,
    compiled: usize,
    all_right: usize,
    tests: usize,
    right: usize,
    /// Tests of schemas that do not compile.
    lost: usize,
    wrong_accepts: Vec<String>,
    wrong_rejects: BTreeMap<String, Vec<String>>,
    refused: BTreeMap<String, Vec<String>>,
    labels: usize,
    /// Valid instances changed at one place.
    mutations: usize,
    compile_time: Vec<(Duration, String)>,
    match_time: Vec<(Duration, String)>,
}

impl Table {
    fn print(&mut self, name: &str) {
        let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
        println!(
            "{name}: {} schemas, {} compiled ({:.1} %), {} all right ({:.1} %); {} tests, {} right ({:.1} %), {} lost; \
             {} mutations; wrong accepts {}, wrong rejects {}, labels that the validator contradicts {}",
            self.schemas,
            self.compiled,
            percent(self.compiled, self.schemas),
            self.all_right,
            percent(self.all_right, self.schemas),
            self.tests,
            self.right,
            percent(self.right, self.tests),
            self.lost,
            self.mutations,
            self.wrong_accepts.len(),
            self.wrong_rejects.values().map(Vec::len).sum::<usize>(),
            self.labels,
        );
        let shown = std::env::var("LARKSPUR_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(2);
        for (title, causes) in [("refused", &self.refused), ("wrong rejects", &self.wrong_rejects)] {
            let mut causes: Vec<_> = causes.iter().collect();
            causes.sort_by_key(|(_, cases)| std::cmp::Reverse(cases.len()));
            for (cause, cases) in causes {
                println!("  {title} {:5}  {cause}", cases.len());
                cases.iter().take(shown).for_each(|case| println!("           {case}"));
            }
        }
        self.wrong_accepts.iter().take(50).for_each(|case| println!("  WRONG ACCEPT {case}"));
        for (what, times) in [("compile", &mut self.compile_time), ("match", &mut self.match_time)] {
            times.sort();
            let at =
                |share: f64| times.get((times.len() as f64 * share) as usize).map_or(0, |(time, _)| time.as_micros());
            println!("  {what} us: p50 {} p90 {} p99 {}", at(0.5), at(0.9), at(0.99));
            times.iter().rev().take(shown).for_each(|(time, case)| println!("    {} us {case}", time.as_micros()));
        }
    }
}

/// In which order keys are written: that of the schema, see `docs/json_schema.md`.
fn reordered(root: &Value, schemas: &[&Value], instance: &Value, depth: usize) -> Value {
    let mut found: Vec<&Value> = Vec::new();
    let mut stack: Vec<&Value> = schemas.iter().rev().copied().collect();
    while let Some(schema) = stack.pop() {
        if found.iter().any(|other| std::ptr::eq(*other, schema)) || found.len() > 500 {
            continue;
        }
        found.push(schema);
        let mut next: Vec<&Value> = Vec::new();
        if let Some(pointer) = schema.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix('#')) {
            next.extend(root.pointer(&pointer.replace("%25", "%").replace("%22", "\"")));
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            next.extend(schema.get(key).and_then(Value::as_array).into_iter().flatten());
        }
        next.extend(["if", "then", "else"].iter().filter_map(|key| schema.get(key)));
        for key in ["dependencies", "dependentSchemas"] {
            next.extend(schema.get(key).and_then(Value::as_object).into_iter().flat_map(|map| map.values()));
        }
        stack.extend(next.into_iter().rev());
    }
    for schema in &found {
        let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
        if let Some(same) = values.into_iter().find(|value| *value == instance) {
            return same.clone();
        }
    }
    if depth > 60 {
        return instance.clone();
    }
    match instance {
        Value::Object(members) => {
            let mut order: Vec<&str> = Vec::new();
            for schema in &found {
                let names = schema.get("properties").and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
                let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
                for name in names.map(String::as_str).chain(required.filter_map(Value::as_str)) {
                    if !order.contains(&name) {
                        order.push(name);
                    }
                }
            }
            let mut entries: Vec<(&String, &Value)> = members.iter().collect();
            entries.sort_by_key(|(name, _)| order.iter().position(|other| other == name).unwrap_or(usize::MAX));
            let child = |name: &str, value: &Value| {
                let mut inner: Vec<&Value> = Vec::new();
                for schema in &found {
                    inner.extend(schema.get("properties").and_then(|map| map.get(name)));
                    inner.extend(
                        schema.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(|m| m.values()),
                    );
                    inner.extend(schema.get("additionalProperties"));
                }
                reordered(root, &inner, value, depth + 1)
            };
            Value::Object(entries.into_iter().map(|(name, value)| (name.clone(), child(name, value))).collect())
        }
        Value::Array(elements) => {
            let mut inner: Vec<&Value> = Vec::new();
            let mut fixed: Vec<Vec<&Value>> = vec![Vec::new(); elements.len()];
            for schema in &found {
                inner.extend(schema.get("additionalItems"));
                for key in ["items", "prefixItems"] {
                    match schema.get(key) {
                        Some(Value::Array(list)) => list.iter().zip(&mut fixed).for_each(|(s, at)| at.push(s)),
                        Some(schema) => inner.push(schema),
                        None => {}
                    }
                }
            }
            let element = |(index, value): (usize, &Value)| {
                let schemas: Vec<&Value> = fixed[index].iter().chain(&inner).copied().collect();
                reordered(root, &schemas, value, depth + 1)
            };
            Value::Array(elements.iter().enumerate().map(element).collect())
        }
        other => other.clone(),
    }
}

/// The value changed at one place each: another value there, a member or element less or more.
fn mutations(value: &Value) -> Vec<Value> {
    let mut pointers = vec![String::new()];
    let mut next = 0;
    while next < pointers.len() && pointers.len() < 40 {
        let at = pointers[next].clone();
        match value.pointer(&at) {
            Some(Value::Object(members)) => {
                pointers
                    .extend(members.keys().map(|key| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))));
            }
            Some(Value::Array(elements)) => pointers.extend((0..elements.len()).map(|index| format!("{at}/{index}"))),
            _ => {}
        }
        next += 1;
    }
    let scalars =
        [Value::Null, Value::from(-1), Value::from(0.5), Value::from("x"), Value::from(true), Value::from("")];
    let mut out = Vec::new();
    for (index, pointer) in pointers.iter().take(40).enumerate() {
        let mut change = |change: &dyn Fn(&mut Value)| {
            let mut changed = value.clone();
            if let Some(place) = changed.pointer_mut(pointer) {
                change(place);
                out.push(changed);
            }
        };
        change(&|place| *place = scalars[index % scalars.len()].clone());
        change(&|place| *place = scalars[(index + 3) % scalars.len()].clone());
        change(&|place| match place {
            Value::Object(members) => drop(members.shift_remove(&members.keys().next().cloned().unwrap_or_default())),
            Value::Array(elements) => drop(elements.pop()),
            Value::Number(number) => *number = (-number.as_i64().unwrap_or(7) * 1000).into(),
            Value::String(text) => text.push_str("!x"),
            other => *other = Value::Array(Vec::new()),
        });
        change(&|place| match place {
            Value::Object(members) => drop(members.insert("zz_other".to_owned(), Value::from(1))),
            Value::Array(elements) => elements.push(elements.first().cloned().unwrap_or_default()),
            other => *other = Value::Object(serde_json::Map::new()),
        });
    }
    out
}

struct Case<'a> {
    name: String,
    schema: &'a Value,
    tests: Vec<(&'a Value, bool)>,
    /// What the suite says counts even where the validator does not agree.
    trust_labels: bool,
}

fn run(engine: &Shared, case: &Case, draft: jsonschema::Draft, table: &mut Table) {
    let text = serde_json::to_string(case.schema).expect("JSON");
    table.schemas += 1;
    table.tests += case.tests.len();
    let start = Instant::now();
    let (grammar, _) = compiled_as(engine, &text, draft);
    let time = start.elapsed();
    table.compile_time.push((time, case.name.clone()));
    let grammar = match grammar {
        Ok(grammar) => grammar,
        Err(errors) => {
            let error = errors.iter().find(|error| error.is_error()).expect("an error");
            let cause = cause(error.code, &error.message);
            // A schema without valid values is refused, and that is right.
            if ["J020", "J021"].contains(&error.code) && case.tests.iter().all(|(_, valid)| !valid) {
                table.right += case.tests.len();
                table.all_right += 1;
                table.compiled += 1;
                return;
            }
            table.lost += case.tests.len();
            table.refused.entry(cause).or_default().push(format!("{}: {}", case.name, error.message));
            return;
        }
    };
    table.compiled += 1;
    let validator = jsonschema::options().with_draft(draft).should_validate_formats(true).build(case.schema).ok();
    let mut all_right = true;
    let start = Instant::now();
    for &(instance, valid) in &case.tests {
        let plain = serde_json::to_string(instance).expect("JSON");
        let ordered = serde_json::to_string(&reordered(case.schema, &[case.schema], instance, 0)).expect("JSON");
        let mut verdict =
            accepts(&grammar, &ordered).and_then(|a| Ok(a || (plain != ordered && accepts(&grammar, &plain)?)));
        if is_validator() {
            // Other spellings of a value have the same verdict; if not, it is taken for the wrong one.
            let mut dice = common::respell::Dice::new(table.tests as u64);
            let respelled = common::respell::value(&reordered(case.schema, &[case.schema], instance, 0), &mut dice);
            let other = accepts(&grammar, &respelled);
            if other != verdict && other.is_ok() && verdict.is_ok() && accepts(&grammar, &ordered) == verdict {
                println!("  {}: {ordered} and {respelled} differ", case.name);
                verdict = Ok(!valid);
            }
        }
        let judged = validator.as_ref().map(|validator| validator.is_valid(instance));
        let show = |text: &str| text.chars().take(300).collect::<String>();
        let contradicted = !case.trust_labels && judged.is_some_and(|judged| judged != valid);
        if contradicted {
            table.labels += 1;
        }
        match verdict {
            Ok(accepted) if accepted == valid || contradicted => table.right += 1,
            Ok(true) => {
                all_right = false;
                table.wrong_accepts.push(format!("{}: {}", case.name, show(&ordered)));
            }
            Ok(false) => {
                all_right = false;
                let cause = reject_cause(&ordered, &case.name);
                table.wrong_rejects.entry(cause).or_default().push(format!("{}: {}", case.name, show(&ordered)));
            }
            Err(error) => {
                all_right = false;
                table.wrong_rejects.entry(error.to_string()).or_default().push(case.name.clone());
            }
        }
    }
    table.match_time.push((start.elapsed(), case.name.clone()));
    if let Some(validator) = validator.filter(|_| !case.trust_labels) {
        for &(instance, _) in case.tests.iter().filter(|(_, valid)| *valid).take(4) {
            for changed in mutations(instance) {
                let text = serde_json::to_string(&changed).expect("JSON");
                table.mutations += 1;
                if accepts(&grammar, &text) == Ok(true) && !validator.is_valid(&changed) {
                    all_right = false;
                    table.wrong_accepts.push(format!("{}: changed: {}", case.name, text));
                }
            }
        }
    }
    table.all_right += usize::from(all_right);
}

fn compiled_as(
    engine: &Shared,
    text: &str,
    draft: jsonschema::Draft,
) -> (Result<larkspur_parser::CompiledGrammar, Vec<larkspur_grammar::Diagnostic>>, Vec<larkspur_grammar::Diagnostic>) {
    use larkspur_json_schema::Draft;
    let draft = match draft {
        jsonschema::Draft::Draft4 => Draft::Draft4,
        jsonschema::Draft::Draft6 => Draft::Draft6,
        jsonschema::Draft::Draft7 => Draft::Draft7,
        jsonschema::Draft::Draft201909 => Draft::Draft2019,
        _ => Draft::Draft2020,
    };
    let limits = Limits::default();
    let spelling = if is_validator() { Spelling::validator() } else { Spelling::generator() };
    common::compiled_as(engine, text, &SchemaOptions { draft, spelling, ..SchemaOptions::new(&limits) })
}

/// The profile in which the suites run.
fn is_validator() -> bool {
    std::env::var("LARKSPUR_PROFILE").is_ok_and(|profile| profile == "validate")
}

/// The code and, where the message names one, the keyword or format.
fn cause(code: &str, message: &str) -> String {
    let word = |at: usize| message.split('`').nth(at).unwrap_or_default();
    match code {
        "J010" => format!("{code} {} {}", word(1), message.rsplit(": ").next().unwrap_or_default()),
        "J011" | "J012" => format!("{code} {}", word(1)),
        _ => format!("{code} {}", message.chars().take(60).collect::<String>()),
    }
}

fn reject_cause(text: &str, name: &str) -> String {
    let bytes = text.as_bytes();
    let is_number = |at: usize| at > 0 && bytes[at - 1].is_ascii_digit();
    let exponent = (1..bytes.len()).any(|at| {
        (bytes[at] | 32) == b'e' && is_number(at) && bytes.get(at + 1).is_some_and(|b| b.is_ascii_digit() || *b == b'-')
    });
    if name.contains("format") {
        "format".to_owned()
    } else if text.contains(".0") {
        "number spelled with .0 (perhaps)".to_owned()
    } else if exponent {
        "number spelled with an exponent (perhaps)".to_owned()
    } else {
        "other".to_owned()
    }
}

fn is_full() -> bool {
    std::env::var_os("LARKSPUR_FULL").is_some()
}

#[test]
fn official_suite() {
    let Some(folder) = folder("json-schema-test-suite/tests") else { return };
    let engine = shared();
    let mut wrong_accepts = 0;
    for (name, draft) in [
        ("draft4", jsonschema::Draft::Draft4),
        ("draft6", jsonschema::Draft::Draft6),
        ("draft7", jsonschema::Draft::Draft7),
        ("draft2019-09", jsonschema::Draft::Draft201909),
        ("draft2020-12", jsonschema::Draft::Draft202012),
    ] {
        for part in ["", "optional/format"] {
            if !is_full() && (name != "draft2020-12" && name != "draft7") {
                continue;
            }
            let mut table = Table::default();
            for path in files(&folder.join(name).join(part)) {
                let file = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
                let groups: Value =
                    serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
                for group in groups.as_array().into_iter().flatten() {
                    let tests = group["tests"].as_array().into_iter().flatten();
                    let tests = tests.map(|test| (&test["data"], test["valid"] == true)).collect();
                    let title = format!("{file}: {}", group["description"].as_str().unwrap_or_default());
                    let case = Case { name: title, schema: &group["schema"], tests, trust_labels: true };
                    run(&engine, &case, draft, &mut table);
                }
            }
            table.print(&format!("{name} {part}"));
            wrong_accepts += table.wrong_accepts.len();
        }
    }
    assert_eq!(wrong_accepts, 0);
}

#[test]
fn maskbench() {
    let Some(folder) = folder("maskbench") else { return };
    let engine = shared();
    let mut table = Table::default();
    let step: usize = std::env::var("LARKSPUR_STEP").ok().and_then(|n| n.parse().ok()).unwrap_or(40);
    let only = std::env::var("LARKSPUR_ONLY").ok();
    for path in files(&folder).into_iter().step_by(if is_full() || only.is_some() { 1 } else { step }) {
        let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        if only.as_ref().is_some_and(|only| !name.contains(only.as_str())) {
            continue;
        }
        let file: Value = serde_json::from_str(&std::fs::read_to_string(&path).expect("a file")).expect("JSON");
        let tests = file["tests"].as_array().into_iter().flatten();
        let tests = tests.map(|test| (&test["data"], test["valid"] == true)).collect();
        let case = Case { name, schema: &file["schema"], tests, trust_labels: false };
        let draft = jsonschema::Draft::default().detect(&file["schema"]);
        run(&engine, &case, draft, &mut table);
    }
    table.print("maskbench");
    assert_eq!(table.wrong_accepts.len(), 0);
}
