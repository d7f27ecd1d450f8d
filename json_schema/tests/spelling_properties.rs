//! Random values and schemas in the validator's profile: every spelling of a valid value is accepted, and none of any
//! other. What is valid is found out by arithmetic on thousandths.

mod common;

use common::respell::{Dice, number, string};
use common::{accepts, compiled_as, shared};
use larkspur_grammar::Limits;
use larkspur_json_schema::{SchemaOptions, Spelling};
use larkspur_parser::CompiledGrammar;
use proptest::prelude::*;

fn compiled(schema: &str) -> Result<CompiledGrammar, Vec<larkspur_grammar::Diagnostic>> {
    let limits = Limits::default();
    let options = SchemaOptions { spelling: Spelling::validator(), ..SchemaOptions::new(&limits) };
    compiled_as(&shared(), schema, &options).0
}

/// `LARKSPUR_CASES` times as many cases.
fn cases(count: u32) -> ProptestConfig {
    let factor = std::env::var("LARKSPUR_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(count * factor) }
}

/// A number of thousandths as a plain decimal.
fn written(thousandths: i64) -> String {
    let sign = if thousandths < 0 { "-" } else { "" };
    let (whole, fraction) = (thousandths.abs() / 1000, thousandths.abs() % 1000);
    format!("{sign}{whole}.{fraction:03}")
}

/// A schema of numbers, and which thousandths are valid for it.
#[derive(Clone, Debug)]
enum Wanted {
    Integer,
    Const(Vec<i64>),
    Range { min: Option<(i64, bool)>, max: Option<(i64, bool)> },
    Multiple(i64),
    All(Box<Wanted>, Box<Wanted>),
    Any(Box<Wanted>, Box<Wanted>),
    Not(Box<Wanted>),
}

impl Wanted {
    fn schema(&self) -> String {
        match self {
            Wanted::Integer => r#"{"type": "integer"}"#.to_owned(),
            Wanted::Const(values) => {
                let values: Vec<String> = values.iter().map(|&value| written(value)).collect();
                format!(r#"{{"enum": [{}]}}"#, values.join(", "))
            }
            Wanted::Range { min, max } => {
                let bound = |name: &str, exclusive: &str, bound: &Option<(i64, bool)>| {
                    bound.map(|(value, is_exclusive)| {
                        format!(r#""{}": {}"#, if is_exclusive { exclusive } else { name }, written(value))
                    })
                };
                let low = bound("minimum", "exclusiveMinimum", min);
                let high = bound("maximum", "exclusiveMaximum", max);
                format!("{{{}}}", low.into_iter().chain(high).collect::<Vec<_>>().join(", "))
            }
            Wanted::Multiple(divisor) => format!(r#"{{"multipleOf": {}}}"#, written(*divisor)),
            Wanted::All(a, b) => format!(r#"{{"allOf": [{}, {}]}}"#, a.schema(), b.schema()),
            Wanted::Any(a, b) => format!(r#"{{"anyOf": [{}, {}]}}"#, a.schema(), b.schema()),
            Wanted::Not(a) => format!(r#"{{"not": {}}}"#, a.schema()),
        }
    }
    fn has(&self, value: i64) -> bool {
        match self {
            Wanted::Integer => value % 1000 == 0,
            Wanted::Const(values) => values.contains(&value),
            Wanted::Range { min, max } => {
                min.is_none_or(|(low, exclusive)| value > low || (value == low && !exclusive))
                    && max.is_none_or(|(high, exclusive)| value < high || (value == high && !exclusive))
            }
            Wanted::Multiple(divisor) => value % divisor == 0,
            Wanted::All(a, b) => a.has(value) && b.has(value),
            Wanted::Any(a, b) => a.has(value) || b.has(value),
            Wanted::Not(a) => !a.has(value),
        }
    }
}

fn thousandths() -> impl Strategy<Value = i64> {
    prop_oneof![-3_000i64..3_000, (-40i64..40).prop_map(|n| n * 500), -2_000_000i64..2_000_000]
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let bound = || prop::option::of((thousandths(), any::<bool>()));
    let leaf = prop_oneof![
        Just(Wanted::Integer),
        prop::collection::vec(thousandths(), 1..5).prop_map(Wanted::Const),
        (bound(), bound()).prop_map(|(min, max)| Wanted::Range { min, max }),
        prop::sample::select(vec![1i64, 10, 20, 250, 500, 1000, 2000, 5000, 125, 100_000]).prop_map(Wanted::Multiple),
    ];
    leaf.prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Wanted::All(Box::new(a), Box::new(b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Wanted::Any(Box::new(a), Box::new(b))),
            inner.prop_map(|a| Wanted::Not(Box::new(a))),
        ]
    })
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn numbers(wanted in wanted(), values in prop::collection::vec(thousandths(), 12), seed in any::<u64>()) {
        let schema = format!(r#"{{"type": "number", "allOf": [{}]}}"#, wanted.schema());
        let grammar = match compiled(&schema) {
            Ok(grammar) => grammar,
            Err(errors) => {
                // Nothing but an empty set is refused.
                let codes: Vec<_> = errors.iter().map(|error| error.code).collect();
                prop_assert!(codes == ["J020"] || codes == ["P001"], "{schema}: {errors:?}");
                prop_assert!(!values.iter().any(|&value| wanted.has(value)), "{schema}");
                return Ok(());
            }
        };
        let mut dice = Dice::new(seed);
        for value in values {
            for _ in 0..6 {
                let text = number(&written(value), &mut dice);
                prop_assert_eq!(accepts(&grammar, &text), Ok(wanted.has(value)), "{} for {}", text, schema);
            }
        }
    }

    #[test]
    fn strings(
        values in prop::collection::vec("[ab/\"\\\\\n\u{1}é😀]{0,3}", 1..5),
        others in prop::collection::vec("[ab/\"\\\\\n\u{1}é😀]{0,3}", 6),
        seed in any::<u64>(),
    ) {
        let mut dice = Dice::new(seed);
        let list: Vec<String> = values.iter().map(|text| serde_json::to_string(text).expect("JSON")).collect();
        let is_one = compiled(&format!(r#"{{"enum": [{}]}}"#, list.join(", "))).expect("it compiles");
        let is_none =
            compiled(&format!(r#"{{"type": "string", "not": {{"enum": [{}]}}}}"#, list.join(", "))).expect("it compiles");
        let short = compiled(r#"{"type": "string", "maxLength": 2, "pattern": "^[^b]*$"}"#).expect("it compiles");
        for text in values.iter().chain(&others) {
            for _ in 0..4 {
                let written = string(text, &mut dice);
                prop_assert_eq!(accepts(&is_one, &written), Ok(values.contains(text)), "{}", written);
                prop_assert_eq!(accepts(&is_none, &written), Ok(!values.contains(text)), "{}", written);
                let is_short = text.chars().count() <= 2 && !text.contains('b');
                prop_assert_eq!(accepts(&short, &written), Ok(is_short), "{}", written);
            }
        }
    }
}
