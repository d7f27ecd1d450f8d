//! All cases of `tests/cases` and `tests/regressions`.

use larkspur_tests::cases::{check_engine, check_oracle, for_each};

/// What the cases say is what the oracle says.
#[test]
fn oracle_agrees_with_the_cases() {
    for_each(1, check_oracle);
}

/// In every state that a case reaches, over two vocabularies, with caches on, off and tiny, the engine says what the
/// oracle says.
#[test]
fn engine_agrees_with_the_oracle() {
    for_each(1, |case, linked| if case.error { Ok(()) } else { check_engine(case, linked) });
}
