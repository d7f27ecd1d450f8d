//! Tests of the whole: cases as data, random grammars, and the oracle that both are checked against.
//!
//! In: grammars and texts, from `tests/cases` and from generators. Out: the verdicts of [`oracle`], which knows nothing
//! of the engine's algorithms.

pub mod cases;
pub mod compare;
pub mod inner;
pub mod oracle;
pub mod random;
pub mod samples;
pub mod toys;
pub mod walks;

use proptest::test_runner::Config;

/// Settings of a property test: `cases`, times `LARKSPUR_TEST_FACTOR` if that is set. Failures are shrunk and shown; they are
/// kept as cases under `tests/regressions`, not as seeds.
pub fn property_config(cases: u32) -> Config {
    let cases = cases * factor();
    Config { cases, max_global_rejects: cases, failure_persistence: None, ..Config::default() }
}

/// How many times as much long runs try: `LARKSPUR_TEST_FACTOR`, or once.
pub fn factor() -> u32 {
    std::env::var("LARKSPUR_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}
