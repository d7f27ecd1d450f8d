//! What is wrong in a regex, with its code and its place.

use larkspur_grammar::regex_syntax::CODES;
use larkspur_grammar::{
    Dialect, Limits, RegexOptions, RegexSet, SourceId, SourceMap, TextMap, json::parse_json, parse_lexeme, parse_regex,
};

/// Codes of errors and lints with the text at their primary places.
fn report<'t>(text: &'t str, options: &RegexOptions, limits: &Limits) -> (Vec<(&'static str, &'t str)>, bool) {
    let map = TextMap::verbatim(SourceId(0), 0);
    let mut diagnostics = Vec::new();
    let mut warnings = Vec::new();
    let mut set = RegexSet::new();
    let result = if options.search {
        parse_regex(text, &map, options, limits, &mut set, &mut warnings)
    } else {
        parse_lexeme(text, &map, options, limits, &mut set, &mut warnings).map(|lexeme| lexeme.regex)
    };
    let valid = result.is_ok();
    diagnostics.extend(result.err().unwrap_or_default());
    diagnostics.extend(warnings);
    let shown = |diagnostic: &larkspur_grammar::Diagnostic| {
        assert!(diagnostic.help.is_some() || diagnostic.code == "R020", "{} has no way out", diagnostic.code);
        let span = diagnostic.labels[0].span;
        (diagnostic.code, &text[span.start as usize..span.end as usize])
    };
    (diagnostics.iter().map(shown).collect(), valid)
}

#[track_caller]
fn check(dialect: Dialect, text: &str, expected: &[(&str, &str)]) {
    assert_eq!(report(text, &RegexOptions::new(dialect), &Limits::default()).0, expected, "{text:?}");
}

#[test]
fn python() {
    let check = |text, expected: &[_]| check(Dialect::Python, text, expected);
    check("a(b", &[("R001", "(")]);
    check("é(a))b)", &[("R002", ")"), ("R002", ")")]);
    check("[a-", &[("R003", "[")]);
    check("(a[b)c", &[("R003", "[")]);
    check("x[z-a\\d-q]", &[("R004", "z-a"), ("R005", "\\d")]);
    check("*a|+", &[("R006", "*"), ("R006", "+")]);
    check("a{2}{3}*", &[("R007", "{3}"), ("R007", "*")]);
    check("^*", &[("R006", "*")]);
    check("a{3,2}b{9999999}", &[("R008", "{3,2}"), ("R009", "{9999999}")]);
    check("\\h\\q[\\A]", &[("R011", "\\h"), ("R011", "\\q"), ("R011", "\\A")]);
    check("\\x4\\u12\\U0011", &[("R012", "\\x4"), ("R012", "\\u12"), ("R012", "\\U0011")]);
    check("\\c1[\\c]\\cJ[\\cj]\\c", &[("R012", "\\c"), ("R012", "\\c"), ("R012", "\\c")]);
    check("\\ud800\\U00110000", &[("R013", "\\ud800"), ("R013", "\\U00110000")]);
    check("\\777[\\8]", &[("R014", "\\777"), ("R014", "\\8")]);
    check("\\p{Latn1}\\p{Letters}", &[("R015", "\\p{Latn1}"), ("R015", "\\p{Letters}")]);
    check("a\\", &[("R016", "\\")]);
    check("\\N{EM DASH}a", &[("R017", "\\N{EM DASH}")]);
    check("(?~a)", &[("R018", "(?~")]);
    check("(?P<1>a)(?P<b", &[("R019", "1"), ("R001", "("), ("R019", "b")]);
    check("(?P<a>x)(?P<a>y)", &[("R020", "a")]);
    check("(?iq)a", &[("R021", "q")]);
    check("a(?i)b(?s:c)", &[("R022", "(?i)")]);
    check("(?=\\q)a(?<!b)", &[("R011", "\\q")]);
    check("\\bif", &[]);
    check("(?:ab)*\\bif", &[]);
    check("if\\B", &[]);
    check("[^\\n]*\\bfoo\\b.*", &[]);
    check("\\b\\w+\\b( \\b\\w+\\b)*", &[]);
    check(".{,3}\\b[a-z]+", &[]);
    check(".*(?:.|\\B)", &[]);
    check("a(?=b)", &[]);
    check("(?<!b)a", &[]);
    check("a+(?<=a(?=b))-", &[("R023", "(?=")]);
    check("(?:a(?!b))+[ab]*(?<!ab)a", &[]);
    check("(?:a(?!b))+c", &[]);
    check("(?:a.*?b)+", &[("R025", "*?")]);
    check("(?:a|bc+)*?d", &[("R025", "*?")]);
    check("(?:a|ab).*?c", &[("R025", "*?")]);
    check("a.*?b+", &[("R025", "*?")]);
    check("a.*?(?:b|aba)", &[("R025", "*?")]);
    check("a.*?b$", &[("R025", "*?")]);
    check("a*?b+?c??d{1,2}?e{3}?", &[]);
    check("a^b$c(?:$d)*", &[("R026", "^"), ("R026", "$"), ("R026", "$")]);
    check("(a)\\1(?P=n)\\k<n>", &[("R027", "\\1"), ("R027", "(?P=n)"), ("R027", "\\k<n>")]);
    check("(a)?b(?(1)c|d)", &[("R028", "(?(1)")]);
    check("(?>a)b*+c", &[("R029", "(?>"), ("R029", "*+")]);
    check("a(?R)(?1)(?&n)", &[("R030", "(?R)"), ("R030", "(?1)"), ("R030", "(?&n)")]);
    check("[a&&b][[:alpha:]][a--b]", &[("R004", "a--"), ("R101", "&&"), ("R101", "[:alpha:]"), ("R101", "--")]);
    check("(?x)[a b]", &[("R105", " ")]);
}

#[test]
fn anchors_of_the_text() {
    for text in ["^a$", "\\A(?:a|b)\\Z", "(^a|^b)$", "^^a", "(?:^)a", "^$", "(^a)?", "a(?:$|b)", "(?m)^a$", "^(?:a|b$)"]
    {
        // Those for lines are plain.
        let codes = report(text, &RegexOptions::new(Dialect::Python), &Limits::default()).0;
        let is_warned =
            codes.iter().all(|&(code, anchor)| code == "R106" && ["^", "$", "\\A", "\\Z"].contains(&anchor));
        assert!(is_warned && codes.is_empty() == text.starts_with("(?m)"), "{text:?}: {codes:?}");
        check(Dialect::Rust, &text.replace("\\Z", "\\z"), &[]);
    }
    for text in ["a?^b", "(^a)*", "(a$)+b", "x|(?:a^b)", "(^a|$b)c"] {
        let codes = report(text, &RegexOptions::new(Dialect::Python), &Limits::default()).0;
        assert!(codes.iter().all(|&(code, _)| code == "R026") && codes.len() == 1, "{text:?}: {codes:?}");
    }
}

#[test]
fn rust_and_ecma() {
    check(Dialect::Rust, "{a}", &[("R010", "{")]);
    check(Dialect::Rust, "(?-u:\\xFF.)", &[("R035", "\\xFF"), ("R035", ".")]);
    check(Dialect::Rust, "\\b{start}a\\<", &[("R024", "\\b{start}"), ("R024", "\\<")]);
    check(Dialect::Rust, "[a[b]", &[("R003", "[")]);
    check(Dialect::Rust, "a**{2}", &[]);
    check(Dialect::Rust, "\\c1[\\c-a]", &[("R012", "\\c"), ("R012", "\\c")]);
    check(Dialect::Ecma, "^a\\c$", &[("R012", "\\c")]);
    check(Dialect::Ecma, "[\\c1]", &[("R012", "\\c")]);
    check(Dialect::Ecma, "\\c", &[("R012", "\\c")]);
    check(Dialect::Ecma, "[]]", &[("R102", "[]")]);
    check(Dialect::Ecma, "[^]a]", &[("R102", "[^]")]);
    check(Dialect::Ecma, "[^]|[]", &[("R102", "[^]")]);
    check(Dialect::Ecma, "a[]", &[]);
    check(Dialect::Ecma, "a{,5}", &[("R103", "{,5}")]);
    check(Dialect::Python, r"\d+(\.\d{2)?", &[("R108", "{2")]);
    check(Dialect::Python, "a{1", &[("R108", "{1")]);
    check(Dialect::Python, "a{1,", &[("R108", "{1,")]);
    check(Dialect::Python, "^{1", &[("R106", "^")]);
    for text in ["a{", "{1", "(?:{1)", "b|{1", r"a\{1", "[a{1]", "a{b", "a{1}", "a{1,2}{"] {
        check(Dialect::Python, text, &[]);
    }
    check(Dialect::Ecma, "\\Aa\\Z", &[("R104", "\\A"), ("R104", "\\Z")]);
    check(Dialect::Ecma, "[\\w-.]{1}\\/{x}", &[]);
    for text in ["/^abc$/i", "/^a/", "/a$/gu"] {
        let search = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
        assert_eq!(report(text, &search, &Limits::default()), (vec![("R107", text)], true));
    }
    for text in ["/api/", "/a/i", "^/a/$", "/a\\$/", "/^a/b"] {
        let search = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
        assert_eq!(report(text, &search, &Limits::default()), (vec![], true));
    }
    let alone = RegexOptions { alone: true, ..RegexOptions::new(Dialect::Python) };
    for text in ["/abc/i", "/a b/gi", "/[a-z]+/", "/a\\/b/i"] {
        assert_eq!(report(text, &alone, &Limits::default()), (vec![("R107", text)], true));
    }
    for text in ["/api/", "/usr/lib/i", "//i", "/api/v", "a/b/i"] {
        assert_eq!(report(text, &alone, &Limits::default()), (vec![], true));
    }
    check(
        Dialect::Ecma,
        "[\\ud800-\\udbff][\\udc00-\\udfff]",
        &[("R013", "\\ud800-\\udbff"), ("R013", "\\udc00-\\udfff")],
    );
    let bytes = RegexOptions { bytes: true, ..RegexOptions::new(Dialect::Rust) };
    assert_eq!(report("[^é]\\W", &bytes, &Limits::default()).0, [("R034", "[^é]")]);
    let search = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
    assert_eq!(report("^.*?$", &search, &Limits::default()), (vec![], true));
}

/// What is meant by two quantifiers in a row.
#[test]
fn groups_around_what_is_repeated_twice() {
    let long = "a".repeat(50);
    for (text, meant) in [
        ("a**", vec!["(?:a*)*"]),
        ("xa{2}*", vec!["(?:a{2})*"]),
        ("(?:é|b)+?{3}", vec!["(?:(?:é|b)+?){3}"]),
        ("a{2}{3}*", vec!["(?:a{2}){3}", "(?:(?:a{2}){3})*"]),
        (&format!("({long})*{{2}}"), vec!["(?:…){2}"]),
    ] {
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions::new(Dialect::Python);
        let errors = parse_regex(text, &map, &options, &Limits::default(), &mut RegexSet::new(), &mut Vec::new());
        let help = errors.expect_err("mistakes").into_iter().filter_map(|error| error.help).collect::<Vec<_>>();
        let expected =
            meant.iter().map(|meant| format!("keep one of them, or put the inner one into a group: `{meant}`"));
        assert_eq!(help, expected.collect::<Vec<_>>(), "{text}");
    }
}

/// A regex may stand by itself, where there are no terminals.
#[test]
fn operators_of_terminals_are_those_of_lark() {
    for text in ["a(?=b)", "a(?<!b)", "(?>a)b"] {
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions::new(Dialect::Rust);
        let errors = parse_regex(text, &map, &options, &Limits::default(), &mut RegexSet::new(), &mut Vec::new());
        let help = errors.expect_err("a mistake").remove(0).help.expect("a way out");
        assert!(help.contains("in Lark") && help.contains("of terminals"), "{text}: {help}");
    }
}

#[test]
fn what_is_too_large_says_how_large() {
    let messages = |text: &str| -> Vec<String> {
        let map = TextMap::verbatim(SourceId(0), 0);
        let options = RegexOptions::new(Dialect::Python);
        let result = parse_lexeme(text, &map, &options, &Limits::default(), &mut RegexSet::new(), &mut Vec::new());
        result.err().unwrap_or_default().into_iter().map(|error| format!("{} {}", error.code, error.message)).collect()
    };
    assert_eq!(messages("a(?![ab]*a[ab]{12}c)[ab]*c"), ["R023 what this looks for takes more than 2000 states"]);
}

#[test]
fn places_inside_a_json_string() {
    let mut sources = SourceMap::new();
    let text = r#"{"pattern": "\u0061\\d(\\q"}"#;
    let source = sources.add("schema", text);
    let document = parse_json(source, text, &Limits::default()).expect("JSON");
    let id = document.get(document.root(), "pattern").expect("a pattern");
    let regex = document.string(id).expect("a string");
    let options = RegexOptions { search: true, ..RegexOptions::new(Dialect::Ecma) };
    let mut set = RegexSet::new();
    let errors = parse_regex(regex, &document.string_map(id), &options, &Limits::default(), &mut set, &mut Vec::new());
    let spans = errors.expect_err("mistakes").into_iter().map(|error| {
        let span = error.labels[0].span;
        (error.code, &text[span.start as usize..span.end as usize])
    });
    assert_eq!(spans.collect::<Vec<_>>(), [("R001", "("), ("R011", r"\\q")]);
}

#[test]
fn limits_are_met_and_nothing_overflows() {
    let options = RegexOptions::new(Dialect::Rust);
    let limits = Limits::default();
    let codes = |text: &str, limits: &Limits| {
        report(text, &options, limits).0.into_iter().map(|(code, _)| code).collect::<Vec<_>>()
    };
    for hostile in
        ["(".repeat(300_000), "[".repeat(300_000), format!("a{}", "{1}".repeat(300_000)), "(?:a|".repeat(100_000)]
    {
        assert_eq!(codes(&hostile, &limits), ["R031"], "{:?}", &hostile[..10]);
    }
    let closed = codes(&")".repeat(100_000), &limits);
    assert_eq!((&closed[..100], &closed[100..]), (&["R002"; 100][..], &["R099"][..]));
    let few = Limits { regex_nodes_max: 50, ..Limits::default() };
    assert_eq!(codes(&"ab*".repeat(100), &few), ["R032"]);
    let classes: String = ('一'..='十').map(|c| format!("[\\w{c}]")).collect();
    assert_eq!(codes(&classes, &few), ["R032"]);
    let short = Limits { source_bytes_max: 5, ..Limits::default() };
    assert_eq!(codes("aaaaaa", &short), ["R033"]);
    let long = vec!["\\w\\p{L}(?i:straße)[^\\d]"; 20_000].join("|");
    assert_eq!(codes(&long, &limits), [""; 0]);
    // Lazy quantifiers: many alternatives, many in a row, much before and after, and each of these with assertions.
    let start = std::time::Instant::now();
    for around in ["", "y\\Bz"] {
        assert_eq!(codes(&format!("{around}{}b", "(?:a|b*?c)".repeat(30)), &limits), ["R025"]);
        assert_eq!(codes(&format!("{around}{}b", "a*?c".repeat(30)), &limits), ["R025"]);
        assert_eq!(codes(&format!("{around}(?:{})c*?d", "[ab]c*".repeat(30_000)), &limits), ["R025"]);
        assert_eq!(codes(&format!("{around}a*?(?:{})", "[ab]c*".repeat(1_500)), &limits), ["R025"]);
        assert_eq!(codes(&format!("{around}a*?[ab]*a[ab]{{30}}"), &limits), ["R025"]);
    }
    assert!(start.elapsed().as_secs() < 20, "{:?}, in a debug build", start.elapsed());
    let nested = format!("{}a{}", "(?:".repeat(200), "){0,1000000}".repeat(200));
    assert_eq!(codes(&nested, &limits), [""; 0]);
}

/// The regex of `start: /…/flags`.
fn of_grammar(grammar: &str) -> Option<(&str, &str)> {
    let (text, flags) = grammar.split_once('/')?.1.rsplit_once('/')?;
    flags.chars().all(|c| c.is_ascii_alphabetic()).then_some((text, flags))
}

#[test]
fn every_code_has_its_examples() {
    let mut checked = 0;
    for info in CODES.iter().filter(|info| !info.bad.contains('…') && !info.bad.contains("%json")) {
        let dialect =
            if info.bad.contains("%llguidance") || info.code == "R035" { Dialect::Rust } else { Dialect::Python };
        let bytes = info.bad.contains("allow_invalid_utf8");
        let Some((bad, flags)) = of_grammar(info.bad) else { continue };
        let options = RegexOptions { bytes, verbose: flags.contains('x'), ..RegexOptions::new(dialect) };
        let (found, _) = report(bad, &options, &Limits::default());
        assert!(found.iter().any(|&(code, _)| code == info.code), "{}: {found:?}", info.code);
        checked += 1;
        if let Some((good, _)) = of_grammar(info.good) {
            let good_options = RegexOptions { bytes: false, ..options };
            assert_eq!(report(good, &good_options, &Limits::default()), (vec![], true), "{}", info.code);
        }
    }
    assert!(checked > 25, "{checked}");
}
