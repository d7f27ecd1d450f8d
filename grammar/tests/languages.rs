//! The languages that this crate builds from texts, against others' opinion of them.

#[path = "languages/matcher.rs"]
mod matcher;
#[path = "languages/rust_regexes.rs"]
mod rust_regexes;
