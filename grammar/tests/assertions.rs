//! Look-around, word boundaries and anchors against a matcher that tries everything.

use larkspur_grammar::algebra::{Algebra, Expr, Lowered};
use larkspur_grammar::{Dialect, Limits, RegexOptions, RegexSet, SourceId, TextMap, parse_lexeme, parse_regex};
use larkspur_test_support::Random;

/// A pattern as it is made: its text, and what it matches.
enum Pattern {
    Text(&'static str),
    /// `[ab]`, `.`: the characters.
    Class(&'static str, &'static str),
    Sequence(Vec<Pattern>),
    Either(Vec<Pattern>),
    Repeat(Box<Pattern>, usize, Option<usize>),
    Look {
        behind: bool,
        negative: bool,
        inner: Box<Pattern>,
    },
    Boundary(bool),
    Start,
    End,
}

impl Pattern {
    fn write(&self, out: &mut String) {
        match self {
            Pattern::Text(text) => out.push_str(text),
            Pattern::Class(text, _) => out.push_str(text),
            Pattern::Sequence(parts) => parts.iter().for_each(|part| part.write(out)),
            Pattern::Either(parts) => {
                out.push_str("(?:");
                for (index, part) in parts.iter().enumerate() {
                    if index > 0 {
                        out.push('|');
                    }
                    part.write(out);
                }
                out.push(')');
            }
            Pattern::Repeat(inner, min, max) => {
                out.push_str("(?:");
                inner.write(out);
                match max {
                    None => out.push_str(&format!("){{{min},}}")),
                    Some(max) => out.push_str(&format!("){{{min},{max}}}")),
                }
            }
            Pattern::Look { behind, negative, inner } => {
                let kind = match (behind, negative) {
                    (false, false) => "(?=",
                    (false, true) => "(?!",
                    (true, false) => "(?<=",
                    (true, true) => "(?<!",
                };
                out.push_str(kind);
                inner.write(out);
                out.push(')');
            }
            Pattern::Boundary(negated) => out.push_str(if *negated { "\\B" } else { "\\b" }),
            Pattern::Start => out.push('^'),
            Pattern::End => out.push('$'),
        }
    }

    /// Where matches from `at` end: bit by bit.
    fn ends(&self, text: &[u8], at: usize) -> u32 {
        let all = |starts: u32, pattern: &Pattern| {
            (0..=text.len()).filter(|at| starts >> at & 1 == 1).fold(0, |ends, at| ends | pattern.ends(text, at))
        };
        let here = |holds: bool| if holds { 1 << at } else { 0 };
        let is_word = |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(u8::is_ascii_alphanumeric);
        match self {
            Pattern::Text(literal) => {
                if text[at..].starts_with(literal.as_bytes()) {
                    1 << (at + literal.len())
                } else {
                    0
                }
            }
            Pattern::Class(_, letters) => {
                if text.get(at).is_some_and(|byte| letters.as_bytes().contains(byte)) {
                    1 << (at + 1)
                } else {
                    0
                }
            }
            Pattern::Sequence(parts) => parts.iter().fold(1 << at, all),
            Pattern::Either(parts) => parts.iter().fold(0, |ends, part| ends | part.ends(text, at)),
            Pattern::Repeat(inner, min, max) => {
                let (mut now, mut ends) = (1u32 << at, 0);
                for count in 0..=max.unwrap_or(min + text.len() + 1) {
                    if count >= *min {
                        ends |= now;
                    }
                    now = all(now, inner);
                }
                ends
            }
            Pattern::Look { behind: false, negative, inner } => here((inner.ends(text, at) != 0) != *negative),
            Pattern::Look { behind: true, negative, inner } => {
                let found = (0..=at).any(|start| inner.ends(text, start) >> at & 1 == 1);
                here(found != *negative)
            }
            Pattern::Boundary(negated) => here((is_word(at.checked_sub(1)) != is_word(Some(at))) != *negated),
            Pattern::Start => here(at == 0),
            Pattern::End => here(at == text.len()),
        }
    }
}

struct Patterns(Random);

impl Patterns {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Without assertions if `plain`.
    fn pattern(&mut self, depth: u32, plain: bool, anchors: bool) -> Pattern {
        let kinds = if depth == 0 { 3 } else { 12 };
        match self.below(kinds) {
            0 => Pattern::Text(["a", "b", "-", "ab", "a-"][self.below(5)]),
            1 => Pattern::Class("[ab]", "ab"),
            2 => Pattern::Class(".", "ab-"),
            3..=5 => {
                let count = 2 + self.below(3);
                Pattern::Sequence((0..count).map(|_| self.pattern(depth - 1, plain, anchors)).collect())
            }
            6 => {
                let count = 2 + self.below(2);
                Pattern::Either((0..count).map(|_| self.pattern(depth - 1, plain, anchors)).collect())
            }
            7 => {
                let (min, more) = (self.below(3), self.below(3));
                let max = if self.below(2) == 0 { None } else { Some(min + more) };
                Pattern::Repeat(Box::new(self.pattern(depth - 1, plain, anchors)), min, max)
            }
            _ if plain => self.pattern(depth - 1, plain, anchors),
            8 | 9 => {
                let (behind, negative) = (self.below(2) == 0, self.below(2) == 0);
                let nested = self.below(4) == 0;
                Pattern::Look { behind, negative, inner: Box::new(self.pattern(depth - 1, !nested, anchors)) }
            }
            10 => Pattern::Boundary(self.below(2) == 0),
            _ if !anchors => Pattern::Boundary(true),
            _ => [Pattern::Start, Pattern::End].into_iter().nth(self.below(2)).expect("one of two"),
        }
    }
}

impl Patterns {
    /// A repetition whose body forbids what comes next, with something around it.
    fn loop_that_looks_ahead(&mut self) -> Pattern {
        let count = 1 + self.below(2);
        let body = (0..count).map(|_| {
            let mut parts = vec![self.pattern(1, true, false)];
            for _ in 0..self.below(3) {
                let inner = Box::new(self.pattern(1, true, false));
                let at = self.below(parts.len() + 1);
                parts.insert(at, Pattern::Look { behind: false, negative: true, inner });
            }
            Pattern::Sequence(parts)
        });
        let body = Box::new(Pattern::Either(body.collect()));
        let repeated = Pattern::Repeat(body, self.below(2), None);
        Pattern::Sequence(vec![self.pattern(1, true, false), repeated, self.pattern(2, true, false)])
    }
}

impl Patterns {
    /// Repetitions whose bodies hold look-aheads, look-behinds and word boundaries anywhere, with something around them.
    fn loop_that_looks_around(&mut self, depth: u32) -> Pattern {
        let ways = 1 + self.below(2);
        let body = (0..ways).map(|_| {
            let mut parts = vec![self.pattern(1, true, false)];
            for _ in 0..1 + self.below(2) {
                let at = self.below(parts.len() + 1);
                let part = match self.below(8) {
                    0 => Pattern::Boundary(self.below(2) == 0),
                    1 if depth > 0 => self.loop_that_looks_around(depth - 1),
                    2 => self.pattern(1, true, false),
                    kind => {
                        let inner = Box::new(self.pattern(2, kind != 3, false));
                        Pattern::Look { behind: self.below(3) == 0, negative: self.below(2) == 0, inner }
                    }
                };
                parts.insert(at, part);
            }
            Pattern::Sequence(parts)
        });
        let body = Box::new(Pattern::Either(body.collect()));
        let min = self.below(3);
        let max = (self.below(3) == 0).then(|| min + self.below(3));
        let repeated = Pattern::Repeat(body, min, max);
        Pattern::Sequence(vec![self.pattern(1, true, false), repeated, self.pattern(2, true, false)])
    }
}

fn texts() -> Vec<Vec<u8>> {
    let mut all = vec![Vec::new()];
    let mut start = 0;
    for _ in 0..5 {
        let end = all.len();
        for index in start..end {
            for letter in *b"ab-" {
                let mut text: Vec<u8> = all[index].clone();
                text.push(letter);
                all.push(text);
            }
        }
        start = end;
    }
    all
}

/// The regex's verdict of each text; `None` if it is refused.
fn verdicts(text: &str, options: &RegexOptions, texts: &[Vec<u8>]) -> Option<Vec<bool>> {
    let mut set = RegexSet::new();
    let map = TextMap::verbatim(SourceId(0), 0);
    let parsed = parse_regex(text, &map, options, &Limits::default(), &mut set, &mut Vec::new());
    let regex = match parsed {
        Ok(regex) => regex,
        Err(errors) => {
            assert!(errors.iter().all(|error| error.code == "R023"), "{text}: {errors:#?}");
            return None;
        }
    };
    let mut algebra = Algebra::new(10_000_000);
    let root = algebra.lower(&set, regex, &mut Lowered::default()).expect("it is small");
    let matches = |text: &Vec<u8>| {
        let after = |state: Expr, &byte: &u8| algebra.derivative(state, byte, u64::MAX).expect("it is small");
        let state = text.iter().fold(root, after);
        algebra.is_nullable(state)
    };
    Some(texts.iter().map(matches).collect())
}

#[test]
fn random_patterns_match_what_they_should() {
    let mut random = Patterns(Random::new(3 + seed()));
    let patterns = (0..4_000).map(|_| random.pattern(4, false, true));
    let (taken, refused) = check_searches(patterns);
    assert!(taken > 20 * refused && taken > 1_000, "{taken} taken, {refused} refused");
}

#[test]
fn random_searches_for_loops_that_look_around() {
    let mut random = Patterns(Random::new(9 + seed()));
    let patterns = 100 * factor();
    let (taken, refused) = check_searches((0..patterns).map(|_| random.loop_that_looks_around(1)));
    assert!(taken > 2 * refused, "{taken} taken, {refused} refused");
}

/// Where nothing stands around a text, that decides what looks beyond it.
#[test]
fn random_texts_that_stand_alone() {
    let mut random = Patterns(Random::new(11 + seed()));
    let texts = texts();
    let options = RegexOptions { alone: true, ..RegexOptions::new(Dialect::Python) };
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..300 * factor() {
        let pattern = random.pattern(4, false, true);
        let mut text = String::new();
        pattern.write(&mut text);
        let text = text.replace('$', "\\Z");
        let Some(verdicts) = verdicts(&text, &options, &texts) else {
            refused += 1;
            continue;
        };
        taken += 1;
        for (subject, verdict) in texts.iter().zip(verdicts) {
            let expected = pattern.ends(subject, 0) >> subject.len() & 1 == 1;
            assert_eq!(verdict, expected, "{text} on {}", String::from_utf8_lossy(subject));
        }
    }
    assert!(taken > 20 * refused, "{taken} taken, {refused} refused");
}

/// Another one for other patterns, from `PROPTEST_RNG_SEED`.
fn seed() -> u64 {
    std::env::var("PROPTEST_RNG_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0)
}

/// How many times as many patterns are drawn of those that take long, from `LARKSPUR_TEST_FACTOR`.
fn factor() -> usize {
    std::env::var("LARKSPUR_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1)
}

/// Compares what patterns find in texts with the matcher. Returns how many were taken, and how many refused.
fn check_searches(patterns: impl Iterator<Item = Pattern>) -> (usize, usize) {
    let texts = texts();
    let options = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
    let (mut taken, mut refused) = (0, 0);
    for pattern in patterns {
        let mut text = String::new();
        pattern.write(&mut text);
        if !["(?=", "(?!", "(?<", "\\b", "\\B", "^", "$"].iter().any(|sign| text.contains(sign)) {
            continue;
        }
        let Some(verdicts) = verdicts(&text, &options, &texts) else {
            refused += 1;
            continue;
        };
        taken += 1;
        for (subject, verdict) in texts.iter().zip(verdicts) {
            let expected = (0..=subject.len()).any(|at| pattern.ends(subject, at) != 0);
            assert_eq!(verdict, expected, "{text} on {}", String::from_utf8_lossy(subject));
        }
    }
    (taken, refused)
}

#[test]
fn random_terminals_do_not_depend_on_what_is_around_them() {
    let mut random = Patterns(Random::new(4 + seed()));
    let patterns = 150 * factor();
    let taken = check_terminals((0..patterns).map(|_| random.pattern(4, false, false)));
    assert!(taken > patterns / 40, "{taken} taken");
}

#[test]
fn random_loops_that_look_ahead() {
    let mut random = Patterns(Random::new(5 + seed()));
    let taken = check_terminals((0..3_000).map(|_| random.loop_that_looks_ahead()));
    assert!(taken > 600, "{taken} taken");
}

#[test]
fn random_loops_that_look_around() {
    let mut random = Patterns(Random::new(7 + seed()));
    let patterns = 80 * factor();
    let taken = check_terminals((0..patterns).map(|_| random.loop_that_looks_around(1)));
    assert!(taken > patterns / 8, "{taken} taken");
}

/// More characters than there are letters: bytes are read then, where nothing must be spelled as JSON.
#[test]
fn many_characters_beside_look_around() {
    let many: String = ('一'..).take(200).map(|c| format!("|{c}")).collect();
    let alone = RegexOptions { alone: true, ..RegexOptions::new(Dialect::Python) };
    let texts = ["a", "ba", "b", "一丁b", "ab", "x"].map(|text| text.as_bytes().to_vec());
    let found = verdicts(&format!("(?:a\\Z|b{many})*"), &alone, &texts);
    assert_eq!(found, Some(vec![true, true, true, true, false, false]));
    let search = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
    assert_eq!(verdicts(&format!("^(?:a$|b{many})*$"), &search, &texts), None);
}

/// Compares what terminals match with the matcher, in several surroundings. Returns how many were taken.
fn check_terminals(patterns: impl Iterator<Item = Pattern>) -> usize {
    let texts = texts();
    let options = RegexOptions::new(Dialect::Python);
    let mut taken = 0;
    for pattern in patterns {
        let mut text = String::new();
        pattern.write(&mut text);
        if !["(?=", "(?!", "(?<", "\\b", "\\B"].iter().any(|sign| text.contains(sign)) {
            continue;
        }
        let Some(verdicts) = verdicts(&text, &options, &texts) else { continue };
        taken += 1;
        for (subject, verdict) in texts.iter().zip(verdicts).filter(|(subject, _)| subject.len() < 5) {
            for (before, after) in [("", ""), ("a", "-"), ("-", "b"), ("ba", "ab")] {
                let whole = [before.as_bytes(), subject, after.as_bytes()].concat();
                let end = before.len() + subject.len();
                let expected = pattern.ends(&whole, before.len()) >> end & 1 == 1;
                assert_eq!(verdict, expected, "{text} on {}", String::from_utf8_lossy(&whole));
            }
        }
    }
    taken
}

/// What people write in terminals.
#[test]
fn terminals_that_look_around() {
    let check = |pattern: &str, accepted: &[&str], rejected: &[&str]| {
        let options = RegexOptions::new(Dialect::Python);
        let bytes = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
        let verdict =
            |texts| verdicts(pattern, &options, &bytes(texts)).unwrap_or_else(|| panic!("{pattern} is refused"));
        assert!(verdict(accepted).iter().all(|&verdict| verdict), "{pattern}");
        assert!(!verdict(rejected).iter().any(|&verdict| verdict), "{pattern}");
    };
    let comments = ["/**/", "/* a * b / c **/", "/***/"];
    check(r"/\*(\*(?!/)|[^*])*\*/", &comments, &["/*/", "/* */ */", "/**", "/* **/ /"]);
    check(r"/\*((?!\*/)(.|\n))*\*/", &comments, &["/*/", "/* */ */", "/**"]);
    check(r#""""((?!""")(.|\n))*""""#, &[r#""""a"b""""#, r#""""""""#], &[r#""""a""""""#, r#""""""#]);
    check(r"[^{}]+|\{(?!\{)[a-z]+\}", &["ab", "{ab}"], &["{{ab}", "{}"]);
    check(r"(?![ \t]*!end)[^\n]*\n", &["\n", "a !end\n", " !en\n"], &[" !end\n", "!endx\n", "a"]);
    check(r#""(?!").*?(?<!\\)(\\\\)*?""#, &[r#""a""#, r#""a\"b""#, r#""\\""#], &[r#""a\""#, r#""""#]);
    for refused in [r"if(?!\w)", r"if\b", r"(?<=a)b", r"((?!ab).)*", r"(?:a(?!b))*"] {
        assert!(verdicts(refused, &RegexOptions::new(Dialect::Python), &[]).is_none(), "{refused}");
    }
}

/// Lexemes of public grammars, with look-around in repetitions: they are read, and in bounded time.
#[test]
fn lexemes_that_look_around() {
    let options = RegexOptions { ignore_case: true, ..RegexOptions::new(Dialect::Python) };
    let map = TextMap::verbatim(SourceId(0), 0);
    for pattern in [
        r#"((?!\${)([^"\\]|\\.))+"#,
        r"(?:(?!-->).)*",
        r"(?:(?!-->)[\s\S])+",
        r"(?!\b(SELECT|FROM)\b)[a-z_]+",
        r"(?:a(?!b(?<=ab)c)|b(?=\w))*",
    ] {
        let mut set = RegexSet::new();
        let read = parse_lexeme(pattern, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
        assert!(read.is_ok(), "{pattern}: {read:?}");
    }
}

#[test]
fn patterns_of_schemas() {
    let check = |pattern: &str, accepted: &[&str], rejected: &[&str]| {
        let options = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
        let bytes = |texts: &[&str]| texts.iter().map(|text| text.as_bytes().to_vec()).collect::<Vec<_>>();
        let verdict =
            |texts| verdicts(pattern, &options, &bytes(texts)).unwrap_or_else(|| panic!("{pattern} is refused"));
        assert!(verdict(accepted).iter().all(|&verdict| verdict), "{pattern}");
        assert!(!verdict(rejected).iter().any(|&verdict| verdict), "{pattern}");
    };
    check("^(?=.*[A-Z])(?=.*\\d).{8,}$", &["Passw0rd", "é1234567Z"], &["password1", "Passwor1\nx", "Pass1"]);
    check("^(?!pattern$).*$", &["pattern2", ""], &["pattern"]);
    check("^(?!.*\\/)^(.*[^.]+.*)$", &["a.b"], &["a/b", "..."]);
    check("^(?=[^=]+$)(?!\\s+$)(.|\\n)+$", &["a b", " a"], &["a=b", "  ", ""]);
    check("((?:[^/]*/)*)(?=\\.(yaml|yml|json))", &["a/b.yml", ".json"], &["a/byml"]);
    check("^(?!^lucene\\.|builtin\\.).*", &["x", "lucene"], &["lucene.x", "builtin."]);
    check(
        "^(?!.*://)(?=.{1,255}$)((.{1,63}\\.){1,127}(?![0-9]*$)[a-z0-9-]+\\.?)$",
        &["a.b", "1.2c"],
        &["1.2", "a://b.c"],
    );
    check("^(https?://|/?.?-?(?!\\w+://)\\w).+\\.ya?ml$", &["https://a.yml", "dir/a.yaml"], &["ftp://a.yaml", "a"]);
    check("[a-z]{1,6}\\b([-a-z]*)$", &["ab-c", "-abc"], &["abc_", ""]);
    check("^((?!-)[a-z0-9-]{1,63}(?<!-)\\.)+[a-z]{2,6}$", &["a.bc", "a-b.c.de"], &["-a.bc", "a-.bc", "a"]);
    check("\\bcat\\b", &["a cat", "cat", "cat-"], &["cats", "concat"]);
    check("^a|b$|c(?!d)", &["ax", "xb", "ce"], &["xa", "bx", "cd"]);
    // Repetitions that end, or begin, where the text does.
    check("^([^,]+(,|$)){3,}$", &["a,b,c", "a,b,c,", "é,中,😀,d"], &["a,b", "a,,b,c", "a,b,c,,"]);
    check("^(?:(?<=^|, )\\w+(?:, |$))+$", &["a", "a, b", "a, "], &["a,b", ", a", ""]);
    check("(?:(?:^[*]|[a-z])\\.)*x$", &["*.x", "a.b.x", "é*.x"], &["*.y", "x."]);
    check("a\\b.*\\bb", &["a b", "xa, 中 bc"], &["ab", "a cb"]);
    check("^(\\b\\w+\\b\\s*){2}$", &["a b", "ab  cd "], &["a", "a b c", "ab", " a b"]);
    check("(?!^)é", &["aé", "éé"], &["é", "éa", ""]);
    check("a(?=\\b)", &["a", "ba-", "aé"], &["ab", "a1"]);
}
