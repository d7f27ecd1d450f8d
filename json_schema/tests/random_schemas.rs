//! Random schemas of all keywords and random instances, against the `jsonschema` crate; and random walks through the
//! masks, which never come to a dead end and whose texts are valid.
//!
//! Schemas are drawn from `PROPTEST_RNG_SEED`, 1 if it is not set, and there are `LARKSPUR_TEST_FACTOR` times as many.

mod common;

use common::{accepts, compiled_as, shared};
use larkspur_grammar::Limits;
use larkspur_json_schema::{KeyOrder, SchemaOptions, Spelling};
use larkspur_parser::{CompiledGrammar, Matcher, MatcherError, MatcherOptions, Shared};
use larkspur_test_support::Random;
use larkspur_toktrie::TokenMask;
use serde_json::{Map, Value, json};

/// Schemas of one run.
const SCHEMAS: usize = 250;

/// Random values judged by each schema, besides the texts of walks and what comes of them by a change.
const INSTANCES: usize = 12;

/// Walks through the masks of each schema.
const WALKS: usize = 3;

/// Bytes of a walk, after which it makes for the end (now and then with a step aside, so that it goes in no circle), and at
/// which it is given up.
const WANDER_BYTES: usize = 40;
const WALK_BYTES_MAX: usize = 1_200;

const KEYS: [&str; 4] = ["a", "b", "ab", "c"];
const PATTERNS: [&str; 5] = ["^a", "b$", "^[ab]{1,2}$", "a", "^(a|b)*$"];
const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// A value of few possible ones, so that schemas are met.
fn value(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 8 } else { 12 }) {
        0 => Value::Null,
        1 => Value::from(random.one_in(2)),
        2..=4 => Value::from(random.below(8) as i64 - 3),
        5 => random.pick(&[json!(0.5), json!(1.5), json!(-0.25), json!(100)]),
        6 | 7 => Value::from(random.pick(&["", "a", "b", "ab", "aa", "abc", "é"])),
        8 | 9 => (0..random.below(4)).map(|_| value(random, depth - 1)).collect(),
        _ => {
            let count = random.below(4);
            Value::Object((0..count).map(|_| (random.pick(&KEYS).to_owned(), value(random, depth - 1))).collect())
        }
    }
}

/// Draws schemas. Definition `i` refers in place only to later ones, so that no schema is itself.
struct Schemas<'r> {
    random: &'r mut Random,
    definition: usize,
}

const DEFINITIONS: usize = 3;

impl Schemas<'_> {
    fn document(&mut self) -> Value {
        let definitions: Map<String, Value> = (0..DEFINITIONS)
            .map(|index| {
                self.definition = index + 1;
                (format!("d{index}"), self.schema(2, false))
            })
            .collect();
        self.definition = 0;
        let mut schema = match self.schema(3, false) {
            Value::Object(schema) => schema,
            other => Map::from_iter([("allOf".to_owned(), json!([other]))]),
        };
        schema.insert("$defs".to_owned(), definitions.into());
        schema.into()
    }

    /// A schema; `inside` says that it is for something inside the value.
    fn schema(&mut self, depth: usize, inside: bool) -> Value {
        if self.random.one_in(12) {
            return Value::from(!self.random.one_in(3));
        }
        let mut schema = Map::new();
        if self.random.one_in(2) {
            schema.insert("type".to_owned(), self.types());
        }
        for _ in 0..1 + self.random.below(3) {
            self.keyword(&mut schema, depth, inside);
        }
        schema.into()
    }

    fn types(&mut self) -> Value {
        match self.random.one_in(3) {
            true => json!([self.random.pick(&TYPES[..3]), self.random.pick(&TYPES[4..])]),
            false => Value::from(self.random.pick(&TYPES)),
        }
    }

    fn list(&mut self, depth: usize, inside: bool) -> Value {
        (0..1 + self.random.below(3)).map(|_| self.schema(depth - 1, inside)).collect()
    }

    fn map(&mut self, keys: &[&str], depth: usize, inside: bool) -> Value {
        let count = 1 + self.random.below(3);
        let entries: Vec<(String, Value)> =
            (0..count).map(|_| (self.random.pick(keys).to_owned(), self.schema(depth - 1, inside))).collect();
        Value::Object(Map::from_iter(entries))
    }

    fn names(&mut self) -> Value {
        let mut names: Vec<&str> = (0..1 + self.random.below(2)).map(|_| self.random.pick(&KEYS)).collect();
        names.sort_unstable();
        names.dedup();
        names.into()
    }

    fn keyword(&mut self, schema: &mut Map<String, Value>, depth: usize, inside: bool) {
        let small = |random: &mut Random| Value::from(random.below(4));
        // The last two are long ones.
        let kinds = if depth == 0 { 13 } else { 33 + 2 * usize::from(self.random.one_in(3)) };
        let (name, value): (&str, Value) = match self.random.below(kinds) {
            0 => ("const", value(self.random, 2)),
            1 => ("enum", (0..1 + self.random.below(4)).map(|_| value(self.random, 2)).collect()),
            2 => ("minimum", value_number(self.random)),
            3 => ("maximum", value_number(self.random)),
            4 => ("exclusiveMinimum", value_number(self.random)),
            5 => ("multipleOf", self.random.pick(&[json!(2), json!(0.5), json!(3), json!(0.25)])),
            6 => ("minLength", small(self.random)),
            7 => ("maxLength", small(self.random)),
            8 => ("pattern", Value::from(self.random.pick(&PATTERNS))),
            9 => ("required", self.names()),
            10 => ("minItems", small(self.random)),
            11 => ("maxItems", small(self.random)),
            12 => ("uniqueItems", Value::from(true)),
            13 | 14 => ("properties", self.map(&KEYS, depth, true)),
            15 => ("additionalProperties", self.schema(depth - 1, true)),
            16 => ("patternProperties", self.map(&PATTERNS, depth, true)),
            17 => ("propertyNames", self.schema(depth - 1, true)),
            18 => ("minProperties", small(self.random)),
            19 => ("maxProperties", small(self.random)),
            20 => ("dependentRequired", json!({ self.random.pick(&KEYS): self.names() })),
            21 => ("dependentSchemas", self.map(&KEYS, depth, inside)),
            22 => ("items", self.schema(depth - 1, true)),
            23 => ("prefixItems", self.list(depth, true)),
            24 => {
                if self.random.one_in(2) {
                    schema.insert("minContains".to_owned(), small(self.random));
                }
                if self.random.one_in(3) {
                    schema.insert("maxContains".to_owned(), small(self.random));
                }
                ("contains", self.schema(depth - 1, true))
            }
            25 => ("unevaluatedProperties", self.schema(depth - 1, true)),
            26 => ("unevaluatedItems", self.schema(depth - 1, true)),
            27 => ("allOf", self.list(depth, inside)),
            28 => ("anyOf", self.list(depth, inside)),
            29 => ("oneOf", self.list(depth, inside)),
            30 => ("not", self.schema(depth - 1, inside)),
            31 => {
                schema.insert("then".to_owned(), self.schema(depth - 1, inside));
                if self.random.one_in(2) {
                    schema.insert("else".to_owned(), self.schema(depth - 1, inside));
                }
                ("if", self.schema(depth - 1, inside))
            }
            33 => {
                // What tells the branches apart is required here, and not in them.
                let key = self.random.pick(&KEYS);
                let branch = |this: &mut Self| {
                    let mut branch = this.schema(depth - 1, inside);
                    if let Value::Object(keywords) = &mut branch {
                        let properties = keywords.entry("properties").or_insert_with(|| json!({}));
                        properties[key] = json!({"enum": [this.random.below(3), value(this.random, 0)]});
                    }
                    branch
                };
                let branches: Value = (0..2 + self.random.below(3)).map(|_| branch(self)).collect();
                schema.insert("required".to_owned(), json!([key]));
                match self.random.one_in(2) {
                    true => ("oneOf", branches),
                    false => ("allOf", json!([{"oneOf": branches}])),
                }
            }
            34 => {
                // What follows from which constant a property is.
                let key = self.random.pick(&KEYS);
                let case = |this: &mut Self| {
                    let mut holds =
                        json!({"properties": {key: {"enum": [this.random.below(3), value(this.random, 0)]}}});
                    if this.random.one_in(2) {
                        holds["required"] = json!([key]);
                    }
                    let mut case = json!({"if": holds, "then": this.schema(depth - 1, inside)});
                    if this.random.one_in(4) {
                        case["else"] = this.schema(depth - 1, inside);
                    }
                    case
                };
                let cases: Value = (0..2 + self.random.below(3)).map(|_| case(self)).collect();
                if self.random.one_in(2) {
                    schema.insert("required".to_owned(), json!([key]));
                }
                ("allOf", cases)
            }
            _ => {
                let first = if inside { 0 } else { self.definition };
                if first == DEFINITIONS {
                    return;
                }
                ("$ref", Value::from(format!("#/$defs/d{}", first + self.random.below(DEFINITIONS - first))))
            }
        };
        schema.insert(name.to_owned(), value);
    }
}

fn value_number(random: &mut Random) -> Value {
    random.pick(&[json!(-2), json!(0), json!(1), json!(2.5), json!(4)])
}

/// Whether keys may stand in the way: an object of several keys, which a schema's order may refuse.
fn has_order(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.len() > 1 || members.values().any(has_order),
        Value::Array(elements) => elements.iter().any(has_order),
        _ => false,
    }
}

/// Follows the mask at random, then makes for the end. `None` if that is not found.
///
/// Panics where no byte is allowed and the text may not end: a dead end.
fn walk(grammar: &CompiledGrammar, random: &mut Random, schema: &str) -> Result<Option<String>, MatcherError> {
    let mut matcher = Matcher::new(grammar, MatcherOptions::default())?;
    let mut mask = TokenMask::new(matcher.grammar().shared().vocabulary().len());
    for step in 0..WALK_BYTES_MAX {
        matcher.compute_mask(&mut mask)?;
        let bytes: Vec<u8> = mask.iter().filter_map(|token| u8::try_from(token).ok()).collect();
        let is_accepting = matcher.is_accepting()?;
        let text = || String::from_utf8_lossy(&matcher.text()).into_owned();
        assert!(is_accepting || !bytes.is_empty(), "a dead end after {:?} in {schema}", text());
        let wanders = step < WANDER_BYTES;
        if is_accepting && (!wanders || bytes.is_empty() || random.one_in(2)) {
            return Ok(Some(text()));
        }
        let visible: Vec<u8> = bytes.iter().copied().filter(|byte| !b" \t\r\n".contains(byte)).collect();
        let visible = if visible.is_empty() { bytes } else { visible };
        // Exponents, which the validator does not compare exactly, only where nothing else can follow.
        let plain: Vec<u8> = visible.iter().copied().filter(|byte| !b"eE".contains(byte)).collect();
        let visible = if plain.is_empty() { visible } else { plain };
        let out = b"\"]}0aeulrstfbn,:".iter().copied().find(|byte| visible.contains(byte));
        let byte = if wanders || random.one_in(8) { random.pick(&visible) } else { out.unwrap_or(visible[0]) };
        matcher.consume_bytes(&[byte])?;
    }
    Ok(None)
}

/// Whether the text has so many digits in a row that the validator, which computes with floats, may be wrong.
fn is_beyond_floats(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_digit() && c != '.').any(|digits| digits.len() > 12)
}

/// Another value, by one change.
fn changed(random: &mut Random, instance: &Value) -> Value {
    let mut changed = instance.clone();
    match &mut changed {
        Value::Object(members) if !random.one_in(4) => {
            let key = random.pick(&KEYS);
            match random.one_in(2) {
                true => drop(members.shift_remove(key)),
                false => drop(members.insert(key.to_owned(), value(random, 1))),
            }
        }
        Value::Array(elements) if !random.one_in(4) => match random.one_in(2) {
            true => drop(elements.pop()),
            false => elements.push(value(random, 1)),
        },
        other => *other = value(random, 2),
    }
    changed
}

/// Figures of a run.
#[derive(Default, Debug)]
struct Counts {
    compiled: usize,
    refused: usize,
    unsatisfiable: usize,
    valid: usize,
    invalid: usize,
    walks: usize,
    walks_not_ended: usize,
    wrong_accepts: Vec<String>,
    wrong_rejects: Vec<String>,
    limits: usize,
}

fn judge(engine: &Shared, random: &mut Random, counts: &mut Counts) {
    let schema = Schemas { random, definition: 0 }.document();
    let text = schema.to_string();
    let limits = Limits::default();
    let key_order = if random.one_in(2) { KeyOrder::Schema } else { KeyOrder::Any };
    let spelling = Spelling { key_order, ..Spelling::validator() };
    let is_ordered = spelling.key_order == KeyOrder::Schema;
    let (grammar, _) = compiled_as(engine, &text, &SchemaOptions { spelling, ..SchemaOptions::new(&limits) });
    let validator = || jsonschema::draft202012::new(&schema).expect("the schema is one");
    let grammar = match grammar {
        Ok(grammar) => grammar,
        Err(errors) => {
            let codes: Vec<&str> = errors.iter().filter(|error| error.is_error()).map(|error| error.code).collect();
            assert!(!codes.is_empty(), "{text}");
            if !codes.iter().all(|code| ["J020", "J021"].contains(code)) {
                counts.refused += 1;
                return;
            }
            counts.unsatisfiable += 1;
            let validator = validator();
            for _ in 0..INSTANCES {
                let instance = value(random, 2);
                assert!(!validator.is_valid(&instance), "{instance} is valid, but nothing is said to be: {text}");
            }
            return;
        }
    };
    counts.compiled += 1;
    let validator = validator();
    let mut instances: Vec<Value> = (0..INSTANCES).map(|_| value(random, 2)).collect();
    for _ in 0..WALKS {
        match walk(&grammar, random, &text) {
            Ok(Some(walked)) => {
                counts.walks += 1;
                if is_beyond_floats(&walked) {
                    continue;
                }
                let instance: Value = serde_json::from_str(&walked)
                    .unwrap_or_else(|error| panic!("{walked:?} of {text} is not JSON: {error}"));
                if !validator.is_valid(&instance) {
                    counts.wrong_accepts.push(format!("walk {walked} of {text}"));
                }
                instances.push(changed(random, &instance));
            }
            Ok(None) => counts.walks_not_ended += 1,
            Err(_) => counts.limits += 1,
        }
    }
    for instance in instances {
        let valid = validator.is_valid(&instance);
        *(if valid { &mut counts.valid } else { &mut counts.invalid }) += 1;
        match accepts(&grammar, &instance.to_string()) {
            Ok(true) if !valid => counts.wrong_accepts.push(format!("{instance} of {text}")),
            Ok(false) if valid && !(is_ordered && has_order(&instance)) => {
                counts.wrong_rejects.push(format!("{instance} of {text}"));
            }
            Ok(_) => {}
            Err(_) => counts.limits += 1,
        }
    }
}

#[test]
fn random_schemas_agree_with_a_validator() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<f64>().ok());
    let factor = number("LARKSPUR_TEST_FACTOR").unwrap_or(1.0);
    let mut random = Random::new(number("PROPTEST_RNG_SEED").unwrap_or(1.0) as u64);
    let mut engine = shared();
    let mut counts = Counts::default();
    for index in 0..(SCHEMAS as f64 * factor) as usize {
        if index % 200 == 0 {
            engine = shared();
        }
        judge(&engine, &mut random, &mut counts);
    }
    let (accepts, rejects) = (std::mem::take(&mut counts.wrong_accepts), std::mem::take(&mut counts.wrong_rejects));
    println!("{counts:?}");
    assert!(accepts.is_empty(), "wrong accepts: {:#?}", accepts.iter().take(10).collect::<Vec<_>>());
    assert!(rejects.is_empty(), "wrong rejects: {:#?}", rejects.iter().take(10).collect::<Vec<_>>());
    assert!(counts.valid > counts.compiled && counts.invalid > counts.compiled, "{counts:?}");
    assert!(counts.walks > 10 * counts.walks_not_ended, "{counts:?}");
}
