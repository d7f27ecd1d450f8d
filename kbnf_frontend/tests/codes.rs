//! Every code's bad example gets that code and its good example none.

use std::time::{Duration, Instant};

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Diagnostic, Limits, SourceMap};
use larkspur_kbnf_frontend::{CODES, parse};
use larkspur_test_support::codes::{self, check, places};

fn diagnostics(text: &str, limits: &Limits) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let source = sources.add("example.kbnf", text);
    let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(limits));
    assert_eq!(parsed.grammar.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    parsed.diagnostics
}

/// Codes with their places.
fn found(text: &str) -> Vec<(&'static str, u32, u32)> {
    places(diagnostics(text, &Limits::default()))
}

/// Codes with what they point at, and the help.
fn shown(text: &str) -> Vec<(&'static str, String, String)> {
    codes::ways_out(text, diagnostics(text, &Limits::default()))
}

#[test]
fn examples() {
    check(CODES, true, |_, text| diagnostics(text, &Limits::default()));
}

#[test]
fn limits() {
    let met = |text: &str, limits: Limits, code: &str| {
        let found = diagnostics(text, &limits);
        assert!(found.iter().any(|diagnostic| diagnostic.code == code), "{text}: {found:#?}");
    };
    let limits = Limits::default();
    met("start ::= 'a';", Limits { source_bytes_max: 5, ..limits.clone() }, "K090");
    met("start ::= [{('a')}];", Limits { grammar_depth_max: 2, ..limits.clone() }, "K091");
    met("start ::= except!('a', 9) 'a';", Limits { repeat_max: 8, ..limits.clone() }, "K092");
    met("start ::= 'a' start 'b' | 'c';", Limits { grammar_symbols_max: 3, ..limits.clone() }, "K093");
    met("start ::= 'a' start 'b' | 'c';", Limits { regex_nodes_max: 2, ..limits.clone() }, "K094");
    met("start ::= #substrs'abcdef';", Limits { regex_nodes_max: 9, ..limits.clone() }, "K094");
    met("start ::= a b c d e f;", Limits { diagnostics_max: 2, ..limits }, "K099");
}

#[test]
fn all_mistakes_in_one_run_with_their_places() {
    let text = "start ::= vaule '\\q' @ 'x' () ;\n\
                value ::= ('a' ;\n\
                other := 'b' | ;\n\
                + ::= 'c';\n\
                number ::= #'[z-a]' * * , ;\n\
                last ::= #ee'd' any ! exept!('a')";
    assert_eq!(
        found(text),
        [
            ("K020", 10, 15),
            ("K007", 17, 19),
            ("K001", 21, 22),
            ("K008", 27, 29),
            ("K004", 47, 48),
            ("K005", 55, 57),
            ("K008", 64, 65),
            ("K005", 66, 67),
            ("R004", 91, 94),
            ("K011", 101, 102),
            ("K012", 114, 117),
            ("K020", 121, 124),
            ("K001", 125, 126),
            ("K013", 127, 133),
            ("K006", 138, 138),
        ]
    );
}

#[test]
fn ways_out() {
    let help = |text: &str| shown(text).into_iter().map(|(_, _, help)| help).collect::<Vec<_>>().join(" / ");
    assert_eq!(help("start ::= vaule; value ::= 'a';"), "did you mean `value`?");
    assert_eq!(help("begin ::= 'a';"), "rename the first nonterminal, `begin`, to `start`");
    assert_eq!(help("start ::= [a-z]+;"), "write `#\"[a-z]+\"`");
    assert_eq!(found("start ::= (x)? ( y ) ;"), [("K020", 11, 12), ("K020", 17, 18)]);
    assert_eq!(help("start ::= #substr'a';"), "did you mean `#substrs`?");
    assert_eq!(help("start ::= Any!;"), "did you mean `any!`?");
    assert_eq!(help("start ::= #'\\d';"), "a backslash that is the regex's own is doubled: `\\\\d`");
    assert_eq!(help("start ::= /a b/ 'c';"), "write `#\"…\"`; a backslash in it is doubled");
    assert_eq!(
        help("// a comment\nstart ::= 'a'; # another\n/* a third */"),
        "write `(* … *)` / a regex is `#\"…\"`, a comment `(* … *)` / write `(* … *)`"
    );
    assert_eq!(help("start ::= 'a'{3};"), "write `#\"(…){3}\"`, or the parts one by one");
    assert_eq!(
        help("start ::= except!(#'a') 'a';"),
        "write `except!('text')`, `except!(name)` or `except!('text', 50)`"
    );
}

#[test]
fn what_is_not_closed_does_not_swallow_what_follows() {
    assert_eq!(found("start ::= 'a;\nb ::= c;"), [("K002", 10, 12), ("K020", 20, 21)]);
    assert_eq!(found("start ::= ('a'\nb ::= c;"), [("K004", 14, 14), ("K020", 21, 22)]);
    assert_eq!(found("start ::= 'a'\nb ::= c;"), [("K006", 13, 13), ("K020", 20, 21)]);
    assert_eq!(found("start ::= except!('a' 'b;\nb ::= c;")[2..], [("K020", 32, 33)]);
    assert_eq!(found("start ::= ('a'];\nb ::= c);"), [("K004", 14, 15), ("K020", 23, 24), ("K004", 24, 25)]);
    assert_eq!(found("start 'a';\nb ::= c;"), [("K005", 6, 9), ("K020", 17, 18)]);
}

/// What is right is no mistake, however it looks.
#[test]
fn strings_with_definitions_in_them() {
    for text in
        ["start ::= 'a;\nb ::= ' 'c';", "start ::= 'a;\nb ::= ' 'c\nd ::= ' (* it's *);", "start ::= \"'\nb ::= ''\";"]
    {
        assert_eq!(found(text), [], "{text}");
    }
    let texts = "'\na ::= ' ".repeat(100_000);
    assert_eq!(found(&format!("start ::= {texts};")), []);
}

/// Each ends within a second, with diagnostics or without.
#[test]
fn hostile_texts() {
    let begin = Instant::now();
    let codes = |text: &str| {
        let found: Vec<&str> = diagnostics(text, &Limits::default()).iter().map(|one| one.code).collect();
        assert!(begin.elapsed() < Duration::from_secs(20), "{}…", &text[..20]);
        found
    };
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}")] {
        let deep = format!("start ::= {}'a'{};", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(codes(&deep), ["K091"]);
        assert_eq!(codes(&format!("start ::= {}", open.repeat(100_000))), ["K091"]);
        assert_eq!(codes(&format!("start ::= 'a'{};", close.repeat(100_000))).len(), 101);
    }
    let words: Vec<String> = (0..100_000).map(|number| format!("'w{number}'")).collect();
    assert_eq!(codes(&format!("start ::= {};", words.join(" | "))), [""; 0]);
    assert_eq!(codes(&format!("start ::= {};", words.join(" "))), [""; 0]);
    let rules: String = (0..10_000).map(|number| format!("r{number} ::= r{} | 'x' r{number};\n", number + 1)).collect();
    assert_eq!(codes(&format!("start ::= r0;\n{rules} r10000 ::= 'a';")), [""; 0]);
    assert_eq!(codes(&format!("start ::= r0;\n{rules} r10000 ::= r0;")), [""; 0]);
    assert_eq!(codes(&format!("start ::= '' | r0;\n{rules} r10000 ::= '';")), [""; 0]);
    assert_eq!(codes(&format!("start ::= 'a'{};", "?+*".repeat(300_000))), [""; 0]);
    assert_eq!(codes(&format!("start ::= 'a';{}", "(* *)".repeat(200_000))), [""; 0]);
    assert_eq!(codes(&format!("start ::= 'a';{}", "(*".repeat(200_000))), ["K003"]);
    assert_eq!(codes(&format!("start ::= {};", "\"\\\n".repeat(100_000))).len(), 101);
    assert_eq!(codes(&format!("start ::= {}", "\\\"\n".repeat(100_000))).len(), 101);
    assert_eq!(codes(&"start ::= start;".repeat(60_000)), [""; 0]);
    assert_eq!(codes(&format!("start ::= #substrs'{}';", "ab".repeat(500_000))), ["K094"]);
    assert_eq!(codes(&format!("start ::= {} 'a'; x ::= {};", "except!(x)".repeat(20_000), words.join("|"))), [""; 0]);
    assert_eq!(codes(&"a".repeat(1_000_000)), ["K005"]);
    assert_eq!(codes(&"a ".repeat(500_000)), ["K005"]);
}

/// Texts with one slip each: the one diagnostic that they get, and its help.
#[test]
fn slips() {
    let texts = [
        "start ::= #[a-z]+;",
        "start ::= \"a\" /* c */;",
        "start ::= (* a \"b\";",
        "start ::= tool-call \"a\"; tool-call ::= \"b\";",
        "start ::= #re\"a\";",
        "start ::= any;",
        "start ::= “hello”;",
        "start ::= \"a\"; # comment",
        "start ::= \"a\" // c\n;",
        "start ::= 'a;\nb ::= 'c' foo;\nd ::= 'e';",
        "start ::= 'a;\nb ::= 'c' 'd';",
        "start ::= a;\na \"x\" a?;",
        "start ::= my-rule;",
        "stärt ::= 'a'; start ::= stärt stärt;",
        "Start ::= 'a';",
        "start ::= 'a' \\;",
        "start ::= 'a\\';",
        "start ::= #\"a\\\";",
        "start ::= 'a'{-1,};",
        "start ::= 'a'{1..3};",
        "start ::= 'a'{ 3-1 } 'b'{,5} 'c'{2,};",
        "start ::= 'a'{1.5};",
        "start ::= 'a'{,};",
    ];
    let show = |text: &&str| {
        let found = diagnostics(text, &Limits::default()).into_iter().map(|diagnostic| {
            let span = diagnostic.labels[0].span;
            let help = diagnostic.help.unwrap_or_default();
            format!("{} {}..{} {}; {help}", diagnostic.code, span.start, span.end, diagnostic.message)
        });
        found.collect::<Vec<_>>().join("\n")
    };
    let shown: Vec<String> = texts.iter().map(show).collect();
    let expected: Vec<String> = EXPECTED.iter().map(|&line| line.to_owned()).collect();
    assert_eq!(shown, expected);
}

const EXPECTED: &[&str] = &[
    "K012 10..17 no string follows the `#`; a regex stands in quotes: `#\"[a-z]+\"`",
    "K001 14..15 KBNF's comments are of another kind; write `(* … *)`",
    "K003 10..12 this comment is not closed; close it with `*)`",
    "K005 10..19 `tool-call` is no name: names have no `-`; write `tool_call`, here and elsewhere",
    "K012 10..13 `#re` is no kind of regex; did you mean `#\"…\"`?",
    "K020 10..13 there is no nonterminal `any`; did you mean `any!`?",
    "K001 10..21 these are typographic quotes; write `\"hello\"`",
    "K012 15..16 no string follows the `#`; a regex is `#\"…\"`, a comment `(* … *)`",
    "K001 14..15 KBNF's comments are of another kind; write `(* … *)`",
    "K002 10..12 this string is not closed; close it with `'`; in it write `\\'`\n\
     K020 24..27 there is no nonterminal `foo`; ",
    "K002 10..12 this string is not closed; close it with `'`; in it write `\\'`",
    "K005 15..18 expected `::=` behind the nonterminal's name, found `\"x\"`; write `name ::= …;`",
    "K005 10..17 `my-rule` is no name: names have no `-`; write `my_rule`, here and elsewhere",
    "K005 0..6 `stärt` is no name: names are of ASCII letters, digits and `_`; rename it, here and elsewhere",
    "K021 0..5 there is no nonterminal `start` to start with; rename `Start` to `start`",
    "K001 14..15 the character `\\` has no meaning here; ",
    "K002 12..14 this quote does not end the string: a backslash stands before it; `\\'` is a quote in the string; a backslash is `'\\\\'`",
    "K002 13..15 this quote does not end the string: a backslash stands before it; `\\\"` is a quote in the string; a backslash is `\"\\\\\"`",
    "K010 13..18 KBNF has no counts outside of regexes; write `#\"(…){2,5}\"`, or the parts one by one",
    "K010 13..19 KBNF has no counts outside of regexes; write `#\"(…){1,3}\"`, or the parts one by one",
    "K010 13..20 KBNF has no counts outside of regexes; write `#\"(…){1,3}\"`, or the parts one by one\n\
     K010 24..28 KBNF has no counts outside of regexes; write `#\"(…){0,5}\"`, or the parts one by one\n\
     K010 32..36 KBNF has no counts outside of regexes; write `#\"(…){2,}\"`, or the parts one by one",
    "K010 13..18 KBNF has no counts outside of regexes; write `#\"(…){2,5}\"`, or the parts one by one",
    "K010 13..16 KBNF has no counts outside of regexes; write `#\"(…){2,5}\"`, or the parts one by one",
];
