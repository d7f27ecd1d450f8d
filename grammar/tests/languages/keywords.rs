//! Names that are no keyword, as lexemes that are taken whole, against what look-aheads leave open of them otherwise: they end in the same
//! places, behind which neither goes on, and go on over the same characters. All texts of three characters.

use std::collections::HashSet;

use larkspur_grammar::{
    Dialect, LexemeRegex, Limits, RegexId, RegexOptions, RegexSet, SourceId, TextMap, parse_lexeme,
};

use crate::matcher::matches;

const LETTERS: [&str; 4] = ["a", "b", "é", "-"];
const LENGTH: usize = 3;
const KEYWORDS: [&str; 7] = ["ab|ba", "a|ab", "b|bb|ab", "é|aé", "a[ab]?|bb", "a*b", "(?:a|bb)?"];
const BOUNDARIES: [&str; 3] = [r"\b", r"(?!\w)", "(?![-ab])"];
const NAMES: [&str; 13] = [
    r"[ab]\w*",
    "[abé][abé]*",
    "[aé]+",
    r"\w+",
    r"[ab][\w-]*",
    "[-ab][-ab]*",
    r"[ab]\w{0,2}",
    r"[ab]\w?",
    r"\w*",
    r"-?[ab]\w*",
    r"a\w*-",
    r"[ab]\w*\b",
    r"(?!(?:b|ba)\b)[ab]\w*",
];

/// Indices of texts in the language.
type Language = Vec<bool>;

/// A lexeme by the indices of texts.
struct Lexeme {
    ways: Vec<(Language, Option<Language>)>,
    /// The beginnings of its texts.
    beginnings: HashSet<String>,
}

impl Lexeme {
    fn new(pattern: &str, whole: bool, texts: &[String]) -> Option<Self> {
        let mut set = RegexSet::new();
        let options = RegexOptions { ascii: true, whole, ..RegexOptions::new(Dialect::Python) };
        let map = TextMap::verbatim(SourceId(0), 0);
        let read = parse_lexeme(pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
        let LexemeRegex { regex, looking, .. } = read.ok()?;
        let of = |regex: RegexId| texts.iter().map(|text| matches(&set, regex, text.as_bytes())).collect::<Language>();
        let open = looking.iter().map(|way| (of(way.texts), way.follow.map(of)));
        let ways: Vec<(Language, Option<Language>)> = std::iter::once((of(regex), None)).chain(open).collect();
        let all = (0..texts.len()).filter(|&at| ways.iter().any(|(own, _)| own[at]));
        let cuts = |text: &String| {
            text.char_indices().map(|(at, c)| text[..at + c.len_utf8()].to_string()).collect::<Vec<_>>()
        };
        let beginnings = all.flat_map(|at| cuts(&texts[at])).collect();
        Some(Self { ways, beginnings })
    }

    fn ends(&self, text: usize, behind: usize) -> bool {
        self.ways.iter().any(|(own, follow)| own[text] && follow.as_ref().is_none_or(|follow| follow[behind]))
    }
}

#[test]
fn names_without_keywords() {
    let mut texts = vec![String::new()];
    let mut begin = 0;
    for _ in 0..LENGTH {
        let end = texts.len();
        for at in begin..end {
            LETTERS.iter().for_each(|letter| texts.push(format!("{}{letter}", texts[at])));
        }
        begin = end;
    }
    let (mut compared, mut simpler) = (0, 0);
    for keywords in KEYWORDS {
        for boundary in BOUNDARIES {
            for name in NAMES {
                let each: Vec<String> = keywords.split('|').map(|keyword| format!("{keyword}{boundary}")).collect();
                // Both ways to write it.
                let look = match compared % 2 == 0 || keywords.contains('(') {
                    true => format!("(?:{keywords}){boundary}"),
                    false => each.join("|"),
                };
                let pattern = format!("(?!{look}){name}");
                let Some(open) = Lexeme::new(&pattern, false, &texts) else { continue };
                let whole = Lexeme::new(&pattern, true, &texts).expect("no more is left open");
                compared += 1;
                simpler += usize::from(whole.ways.len() < open.ways.len());
                assert!(whole.ways.len() <= open.ways.len(), "{pattern}");
                compare(&pattern, &open, &whole, &texts);
            }
        }
    }
    assert!(compared > 250 && simpler > 80, "{compared} patterns compared, {simpler} are simpler");
}

fn compare(pattern: &str, open: &Lexeme, whole: &Lexeme, texts: &[String]) {
    assert_eq!(open.beginnings, whole.beginnings, "{pattern}");
    // Without the empty text, which is no lexeme.
    for (at, text) in texts.iter().enumerate().skip(1) {
        let next = |letter: &&&str| open.beginnings.contains(&format!("{text}{letter}"));
        let goes_on: Vec<&str> = LETTERS.iter().filter(next).copied().collect();
        for (behind, follow) in texts.iter().enumerate() {
            if text.len() + follow.len() <= LENGTH && !goes_on.iter().any(|letter| follow.starts_with(letter)) {
                let (expected, found) = (open.ends(at, behind), whole.ends(at, behind));
                assert_eq!(expected, found, "{pattern} on {text:?} before {follow:?}");
            }
        }
    }
}
