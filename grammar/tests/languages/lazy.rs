//! Lazy quantifiers of lexemes against the first match of Python's `re`, recorded by `lazy_oracle.py`.

use larkspur_grammar::{Dialect, LexemeRegex, Limits, RegexOptions, RegexSet, SourceId, TextMap, parse_lexeme};

use crate::matcher::matches;

#[test]
fn the_first_match() {
    let mut lines = include_str!("lazy.tsv").lines();
    let texts: Vec<String> = serde_json::from_str(lines.next().expect("texts")).expect("JSON");
    let (mut compared, mut refused) = (0, 0);
    let mut wrong = Vec::new();
    for line in lines {
        let (pattern, expected) = line.split_once('\t').expect("two columns");
        let pattern: String = serde_json::from_str(pattern).expect("JSON");
        let mut set = RegexSet::new();
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions::new(Dialect::Python);
        match parse_lexeme(&pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new()) {
            Ok(LexemeRegex { regex, looking, .. }) => {
                compared += 1;
                // For look-around the text begins and ends where it does.
                let is_here = |around: Option<_>| around.is_none_or(|around| set.info(around).nullable);
                let here = looking.iter().filter(|way| is_here(way.behind) && is_here(way.follow));
                let ends: Vec<_> = here.map(|way| way.texts).collect();
                let ways: Vec<_> = ends.into_iter().chain([regex]).collect();
                let regex = set.or(&ways);
                for (text, expected) in texts.iter().zip(expected.chars()) {
                    if matches(&set, regex, text.as_bytes()) != (expected == '1') {
                        wrong.push(format!("{pattern:?} on {text:?}: should be {expected}"));
                    }
                }
            }
            // Lazy quantifiers that are not clear, assertions that look beyond the lexeme, anchors in the middle.
            Err(errors) => {
                let known = ["R025", "R023", "R026"];
                assert!(errors.iter().all(|error| known.contains(&error.code)), "{pattern:?}: {errors:?}");
                refused += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(compared > 250, "{compared} patterns compared, {refused} refused");
}
