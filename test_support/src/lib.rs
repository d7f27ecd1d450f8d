//! What the tests of several crates share: random numbers, regexes and right-hand sides, and checks that are the same for
//! each front end.
//!
//! In: what is a language's own. Out: values for tests, and panics where something is not as it should be.
//! Knows no front end. Random whole grammars and the oracle are in the crate `tests`, which knows them all.
#![forbid(unsafe_code)]

pub mod codes;
#[cfg(feature = "engine")]
pub mod engine;
mod random;
pub mod regexes;
pub mod sides;

pub use random::Random;

/// The blocks of a page of documentation that are of this language.
pub fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    let blocks: Vec<&str> = page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty(), "the page has no blocks of {language}");
    blocks
}
