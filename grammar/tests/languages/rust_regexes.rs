//! Dialect `Rust` against the `regex` crate, whole matches and searches, on random patterns.

use larkspur_grammar::{Dialect, Limits, RegexOptions, RegexSet, SourceId, TextMap, parse_regex};
use proptest::prelude::*;

use crate::matcher::matches;

const PIECES: &[&str] = &[
    "a",
    "b",
    "K",
    "s",
    "é",
    "1",
    "_",
    " ",
    "\n",
    "-",
    "ι",
    ".",
    "[a-c]",
    "[^a]",
    "[^\\w]",
    "[\\W]",
    "[a-z&&[^b]]",
    "[a-z--b]",
    "[ab~~bc]",
    "[]a]",
    "[^]a]",
    "[-a]",
    "[a-]",
    "[[:alpha:]_]",
    "[[:^lower:]]",
    "[\\d\\s]",
    "\\d",
    "\\D",
    "\\w",
    "\\W",
    "\\s",
    "\\S",
    "\\p{Lu}",
    "\\P{Lu}",
    "\\pL",
    "[\\P{Ll}]",
    "(",
    "(",
    "(?:",
    ")",
    ")",
    "|",
    "*",
    "+",
    "?",
    "{2}",
    "{1,2}",
    "{0}",
    "{1,}",
    "^",
    "$",
    "\\A",
    "\\z",
    "(?i)",
    "(?i:",
    "(?-i:",
    "(?s)",
    "(?m)",
    "(?s-i:",
    "(?x)",
    "(?x: ",
    "# c\n",
    "\\x41",
    "\\u{e9}",
    "\\u00e9",
    "\\-",
    "\\ ",
    "\\.",
    "]",
    "}",
    "\\n",
    "(?P<n>",
    "[&&a]",
    "[a&&]",
    "[^^]",
    "[a[b]]",
];

/// Texts over characters in which dialects and cases differ.
fn text() -> impl Strategy<Value = String> {
    let letters = [
        "a", "b", "c", "A", "B", "K", "k", "\u{212A}", "s", "ſ", "é", "É", "1", "_", " ", "\n", "\r", "-", "ι",
        "\u{345}", "]", "}", "^", ".",
    ];
    prop::collection::vec(prop::sample::select(letters.to_vec()), 0..5).prop_map(|parts| parts.concat())
}

fn pattern() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..9).prop_map(|pieces| {
        let mut pattern = pieces.concat();
        // Most soups have unequal numbers of parentheses: close what is open.
        let open = pieces.iter().filter(|p| p.starts_with('(') && !p.ends_with(')')).count();
        let closed = pieces.iter().filter(|&&p| p == ")").count();
        pattern.push_str(&")".repeat(open.saturating_sub(closed)));
        pattern
    })
}

/// What we refuse although the `regex` crate takes it.
const NOT_YET: [&str; 3] = ["R023", "R025", "R026"];

fn check(pattern: &str, texts: &[String], search: bool) -> Result<(), TestCaseError> {
    let theirs = if search { regex::Regex::new(pattern) } else { regex::Regex::new(&format!("\\A(?:{pattern})\\z")) };
    let valid = regex::Regex::new(pattern).is_ok() && theirs.is_ok();
    let mut set = RegexSet::new();
    let options = RegexOptions { search, alone: !search, ..RegexOptions::new(Dialect::Rust) };
    let map = TextMap::verbatim(SourceId(0), 0);
    let ours = parse_regex(pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
    match (ours, theirs) {
        (Ok(id), Ok(theirs)) if valid => {
            for text in texts {
                prop_assert_eq!(
                    matches(&set, id, text.as_bytes()),
                    theirs.is_match(text),
                    "{:?} on {:?}",
                    pattern,
                    text
                );
            }
        }
        (Err(errors), _) if valid => {
            let refused = errors.iter().all(|error| NOT_YET.contains(&error.code));
            prop_assert!(refused, "{:?} is refused: {:?}", pattern, errors);
        }
        (ours, _) => prop_assert!(ours.is_err() || has_pythons_groups(pattern), "{:?} is taken", pattern),
    }
    Ok(())
}

/// Comments in groups and the flag `a` are Python's, and taken.
fn has_pythons_groups(pattern: &str) -> bool {
    let mut groups = pattern.split("(?").skip(1);
    groups.any(|group| group.starts_with('#') || group.bytes().take_while(u8::is_ascii_alphabetic).any(|c| c == b'a'))
}

/// Nothing stands around the text.
#[test]
fn boundaries_at_the_edges() {
    let texts = ["", "a", "foo", "foo bar", " foo", "foo ", "1-2", "é", "x1"].map(String::from);
    for pattern in [r"\bfoo\b", r"\ba", r"a\B", r"^\bfoo\b$", r"\d-\d\b", r"\b", r"\B", r".*\bbar\b"] {
        let mut set = RegexSet::new();
        let options = RegexOptions { alone: true, ..RegexOptions::new(Dialect::Rust) };
        let map = TextMap::verbatim(SourceId(0), 0);
        let ours = parse_regex(pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
        assert!(ours.is_ok(), "{pattern}: {ours:?}");
        check(pattern, &texts, false).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(crate::cases(5_000)) })]
    #[test]
    fn whole(pattern in pattern(), texts in prop::collection::vec(text(), 12)) {
        check(&pattern, &texts, false)?;
    }
    #[test]
    fn anywhere(pattern in pattern(), texts in prop::collection::vec(text(), 12)) {
        check(&pattern, &texts, true)?;
    }
}
