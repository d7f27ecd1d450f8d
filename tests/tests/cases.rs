//! All cases of `tests/cases` and `tests/regressions`.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

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

/// Cost: minutes of work in a debug build, shared by as many threads as there are processors.
fn for_all(check: impl Fn(&Case, &LinkedGrammar) -> anyhow::Result<()> + Sync) {
    let only = std::env::var("LARKSPUR_TEST_CASE").unwrap_or_default();
    let mut tries = Vec::new();
    for (path, case) in all().expect("cases can be read") {
        if case.name.contains(&only) {
            tries.extend(case.modes().into_iter().map(|mode| (path.clone(), case.clone(), mode)));
        }
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failures = Vec::new();
        while let Some((path, case, mode)) = tries.get(next.fetch_add(1, Ordering::Relaxed)) {
            let result = match case.link(*mode) {
                Err(_) if case.error => Ok(()),
                Err(diagnostics) => Err(anyhow::anyhow!("{diagnostics:#?}")),
                Ok(linked) => check(case, &linked),
            };
            if let Err(error) = result {
                failures.push(format!("{} {} {mode:?}: {error:#}", path.display(), case.name));
            }
        }
        failures
    };
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let failures: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("the worker has not panicked")).collect()
    });
    assert!(!tries.is_empty(), "no cases");
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), tries.len(), failures.join("\n"));
}
