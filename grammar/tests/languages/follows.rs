//! Look-aheads that see beyond their terminal against Python's `re`, recorded by `follows_oracle.py`.

use larkspur_grammar::{Dialect, Limits, RegexOptions, RegexSet, SourceId, TextMap, parse_lexeme};

use crate::matcher::matches;

#[test]
fn what_may_follow() {
    let mut lines = include_str!("follows.tsv").lines();
    let texts: Vec<String> = serde_json::from_str(lines.next().expect("texts")).expect("JSON");
    let (mut compared, mut refused, mut open) = (0, 0, 0);
    let mut wrong = Vec::new();
    for line in lines {
        let (pattern, expected) = line.split_once('\t').expect("two columns");
        let pattern: String = serde_json::from_str(pattern).expect("JSON");
        let mut expected = expected.chars();
        let mut set = RegexSet::new();
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions::new(Dialect::Python);
        let lexeme = match parse_lexeme(&pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new()) {
            Ok(lexeme) => lexeme,
            // Look-aheads in repetitions.
            Err(errors) => {
                assert!(errors.iter().all(|error| error.code == "R023"), "{pattern:?}: {errors:?}");
                refused += 1;
                continue;
            }
        };
        compared += 1;
        open += usize::from(!lexeme.looking.is_empty());
        for text in &texts {
            for cut in 0..=text.len() {
                let (text, rest) = text.split_at(cut);
                let is = |regex, text: &str| matches(&set, regex, text.as_bytes());
                let is_around = |around: Option<_>, text: &str| around.is_none_or(|around| is(around, text));
                let mut ways = lexeme.looking.iter().filter(|way| is_around(way.behind, ""));
                let found =
                    is(lexeme.regex, text) || ways.any(|way| is(way.texts, text) && is_around(way.follow, rest));
                let expected = expected.next() == Some('1');
                // An oddity of Python before 3.14: no `\B` in the empty text.
                let is_odd = text.is_empty() && rest.is_empty() && pattern.contains("\\B");
                if found != expected && !is_odd {
                    wrong.push(format!("{pattern:?} on {text:?} before {rest:?}: should be {expected}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong[..wrong.len().min(40)].join("\n"));
    assert!(compared > 200 && open > 120, "{compared} patterns compared, {open} open, {refused} refused");
}
