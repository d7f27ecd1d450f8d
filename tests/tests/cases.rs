//! All cases of `tests/cases` and `tests/regressions`.

use larkspur_grammar::LinkedGrammar;
use larkspur_tests::cases::{Case, all, check_engine, check_oracle};

/// What the cases say is what the oracle says.
#[test]
fn oracle_agrees_with_the_cases() {
    for_all(check_oracle);
}

/// In every state that a case reaches, over two vocabularies, with caches on, off and tiny, the engine says what the
/// oracle says.
#[test]
fn engine_agrees_with_the_oracle() {
    for_all(|case, linked| if case.error { Ok(()) } else { check_engine(case, linked) });
}

fn for_all(check: impl Fn(&Case, &LinkedGrammar) -> anyhow::Result<()>) {
    let only = std::env::var("LARKSPUR_TEST_CASE").unwrap_or_default();
    let mut failures = Vec::new();
    let mut count = 0;
    for (path, case) in all().expect("cases can be read") {
        if !case.name.contains(&only) {
            continue;
        }
        for mode in case.modes() {
            count += 1;
            let result = match case.link(mode) {
                Err(_) if case.error => Ok(()),
                Err(diagnostics) => Err(anyhow::anyhow!("{diagnostics:#?}")),
                Ok(linked) => check(&case, &linked),
            };
            if let Err(error) = result {
                failures.push(format!("{} {} {mode:?}: {error:#}", path.display(), case.name));
            }
        }
    }
    assert!(count > 0, "no cases");
    assert!(failures.is_empty(), "{} of {count}:\n{}", failures.len(), failures.join("\n"));
}
