//! The languages that this crate builds from texts, against others' opinion of them.

#[path = "languages/automata.rs"]
mod automata;
#[path = "languages/behinds.rs"]
mod behinds;
#[path = "languages/follows.rs"]
mod follows;
#[path = "languages/keywords.rs"]
mod keywords;
#[path = "languages/lazy.rs"]
mod lazy;
#[path = "languages/matcher.rs"]
mod matcher;
#[path = "languages/numbers.rs"]
mod numbers;
#[path = "languages/recorded.rs"]
mod recorded;
#[path = "languages/rust_regexes.rs"]
mod rust_regexes;

/// Random cases of one property; more of them with `PROPTEST_CASES`.
fn cases(default: u32) -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(default)
}
