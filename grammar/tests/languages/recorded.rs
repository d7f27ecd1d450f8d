//! Dialects `Python` and `Ecma` against the answers of Python's `re` and of JavaScript, recorded by `oracle.py`.

use larkspur_grammar::{Dialect, Limits, RegexOptions, RegexSet, SourceId, TextMap, parse_regex};

use crate::matcher::matches;

/// What is refused on purpose though the original takes it: possessive quantifiers, anchors in the middle.
const NOT_YET: [&str; 3] = ["R026", "R029", "R027"];

/// Compares all lines of a recording; `taken` says which patterns we take though the original does not.
fn compare(recording: &str, dialect: Dialect, search: bool, taken: impl Fn(&str) -> bool) {
    let mut lines = recording.lines();
    let texts: Vec<String> = serde_json::from_str(lines.next().expect("texts")).expect("JSON");
    let mut compared = 0;
    let mut wrong = Vec::new();
    for line in lines {
        let mut columns = line.split('\t');
        let pattern: String = serde_json::from_str(columns.next().expect("a pattern")).expect("JSON");
        let (expected, flags) = (columns.next().expect("answers"), columns.next().unwrap_or(""));
        let options = RegexOptions {
            search,
            ignore_case: flags.contains('i'),
            dot_all: flags.contains('s'),
            multi_line: flags.contains('m'),
            ..RegexOptions::new(dialect)
        };
        let mut set = RegexSet::new();
        let map = TextMap::verbatim(SourceId(0), 0);
        let regex = parse_regex(&pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
        match regex {
            Ok(_) if expected == "error" => {
                if !taken(&pattern) {
                    wrong.push(format!("{pattern:?} is taken"));
                }
            }
            Ok(regex) => {
                compared += 1;
                for (text, expected) in texts.iter().zip(expected.chars()) {
                    if matches(&set, regex, text.as_bytes()) != (expected == '1') {
                        wrong.push(format!("{pattern:?} {flags} on {text:?}: should be {expected}"));
                    }
                }
            }
            Err(errors) => {
                if expected != "error" && !errors.iter().all(|error| NOT_YET.contains(&error.code)) {
                    wrong.push(format!("{pattern:?} is refused: {errors:?}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(compared > 500, "only {compared} patterns compared");
}

#[test]
fn python() {
    // What only other dialects have.
    let taken = |pattern: &str| pattern.contains("\\z");
    compare(include_str!("python.tsv"), Dialect::Python, false, taken);
}

#[test]
fn ecma() {
    // Equal names, which ECMA-262 allows in different alternatives; what is in the groups is not asked for. And flags inside.
    let taken = |pattern: &str| pattern.matches("(?<n>").count() > 1 || pattern.contains("(?i)");
    compare(include_str!("ecma.tsv"), Dialect::Ecma, true, taken);
}
