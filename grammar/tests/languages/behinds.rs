//! Look-around that sees beyond its terminal against Python's `re`, recorded by `behinds_oracle.py`.

use larkspur_grammar::{Dialect, Limits, RegexOptions, RegexSet, SourceId, TextMap, parse_lexeme};

use crate::matcher::matches;

#[test]
fn what_may_stand_around() {
    let mut lines = include_str!("behinds.tsv").lines();
    let texts: Vec<String> = serde_json::from_str(lines.next().expect("texts")).expect("JSON");
    let (mut compared, mut refused, mut open) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in lines {
        let (pattern, expected) = line.split_once('\t').expect("two columns");
        let (pattern, flags): (String, String) = serde_json::from_str(pattern).expect("JSON");
        let mut expected = expected.chars();
        let mut set = RegexSet::new();
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions { multi_line: flags == "m", ..RegexOptions::new(Dialect::Python) };
        let lexeme = match parse_lexeme(&pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new()) {
            Ok(lexeme) => lexeme,
            // Look-behinds and anchors in the middle.
            Err(errors) => {
                assert!(errors.iter().all(|error| ["R023", "R026"].contains(&error.code)), "{pattern:?}: {errors:?}");
                refused += 1;
                continue;
            }
        };
        compared += 1;
        open += usize::from(lexeme.looking.iter().any(|way| way.behind.is_some()));
        for whole in &texts {
            for start in 0..=whole.len() {
                for cut in start..=whole.len() {
                    let (before, text, rest) = (&whole[..start], &whole[start..cut], &whole[cut..]);
                    let is = |regex, text: &str| matches(&set, regex, text.as_bytes());
                    let is_around = |around: Option<_>, text: &str| around.is_none_or(|around| is(around, text));
                    let found = is(lexeme.regex, text)
                        || lexeme.looking.iter().any(|way| {
                            is(way.texts, text) && is_around(way.behind, before) && is_around(way.follow, rest)
                        });
                    let expected = expected.next() == Some('1');
                    // An oddity of Python before 3.14: no `\B` in the empty text.
                    let is_odd = whole.is_empty() && pattern.contains("\\B");
                    if found != expected && !is_odd {
                        wrong.push(format!(
                            "{pattern:?} {flags:?} on {text:?} between {before:?} and {rest:?}: should be {expected}"
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(compared > 200 && open > 150, "{compared} patterns compared, {open} open, {refused} refused");
}
