//! Every code's bad example gets that code and its good example none.

use larkspur_gbnf_frontend::{CODES, parse};
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Diagnostic, Limits, SourceMap};
use larkspur_test_support::codes::{check, places};

fn diagnostics(text: &str, limits: &Limits) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let source = sources.add("example.gbnf", text);
    let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(limits));
    assert_eq!(parsed.grammar.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error), "{text}");
    parsed.diagnostics
}

/// Codes with their places.
fn found(text: &str) -> Vec<(&'static str, u32, u32)> {
    places(diagnostics(text, &Limits::default()))
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
    met("root ::= \"a\"\n", Limits { source_bytes_max: 5, ..limits.clone() }, "E090");
    met("root ::= (((\"a\")))\n", Limits { grammar_depth_max: 2, ..limits.clone() }, "E091");
    met("root ::= \"a\"{9}\n", Limits { repeat_max: 8, ..limits.clone() }, "E092");
    met("root ::= \"a\" root \"b\" | \"c\"\n", Limits { grammar_symbols_max: 3, ..limits.clone() }, "E093");
    met("root ::= \"a\" root \"b\" | \"c\"\n", Limits { regex_nodes_max: 2, ..limits.clone() }, "E094");
    met("root ::= a b c d e f\n", Limits { diagnostics_max: 2, ..limits }, "E099");
    let deep = format!("root ::= {}\"a\"{}", "(".repeat(100_000), ")".repeat(100_000));
    met(&deep, Limits::default(), "E091");
}

#[test]
fn all_mistakes_in_one_run_with_their_places() {
    let text =
        "root ::= [z-a] vaule \"\\q\" 'x' {2,1}\nvalue ::= (\"a\"\nother = \"b\" | )\n+ ::= \"c\"\nlast ::= \"d\" ?*";
    assert_eq!(
        found(text),
        [
            ("E009", 10, 13),
            ("E021", 15, 20),
            ("E008", 22, 24),
            ("E001", 26, 27),
            ("E012", 30, 35),
            ("E005", 50, 50),
            ("E006", 57, 58),
            ("E005", 65, 66),
            ("E006", 67, 68),
        ]
    );
}

#[test]
fn what_is_not_closed_does_not_swallow_what_follows() {
    assert_eq!(found("root ::= [a-z\nb ::= c [0-9]\n"), [("E003", 9, 13), ("E021", 20, 21)]);
    assert_eq!(found("root ::= \"a\nb ::= c\n"), [("E002", 9, 10), ("E021", 18, 19)]);
    assert_eq!(found("root ::= (\"a\"\nb ::= c\n"), [("E005", 13, 13), ("E021", 20, 21)]);
    assert_eq!(found("root ::= <a b\nb ::= c\n"), [("E004", 9, 11), ("E021", 20, 21)]);
}

#[test]
fn a_rule_without_right_hand_side_is_one_mistake() {
    assert_eq!(found("root ::=\nfoo ::= \"a\"\n"), [("E014", 0, 8)]);
    assert_eq!(found("root ::= a b\na ::= # nothing\n\n b ::= \"b\"\n"), [("E014", 13, 18)]);
    assert_eq!(found("root =\nfoo ::= \"a\"\n"), [("E014", 0, 6), ("E006", 5, 6)]);
    let help = &diagnostics("root ::=\nfoo ::= \"a\"\n", &Limits::default())[0].help;
    assert_eq!(help.as_deref(), Some("write `\"\"` for the empty text"));
    // What goes on on another line, and alternatives, may be empty.
    for text in ["root ::=\n\"a\"\n", "root ::=\n| \"a\"\n", "root ::= \"a\" |\n", "root ::=\n"] {
        assert_eq!(found(text), [], "{text}");
    }
}

#[test]
fn a_class_of_mistakes_is_not_empty_as_well() {
    let codes = |text| found(text).into_iter().map(|(code, ..)| code).collect::<Vec<_>>();
    assert_eq!(codes("root ::= [\\uD800-\\uDFFF]\n"), ["E008", "E008"]);
    assert_eq!(codes("root ::= [^\\q]\n"), ["E008"]);
    assert_eq!(codes("root ::= [] [^]\n"), ["E010", "E010"]);
}

#[test]
fn long_texts_are_read_in_linear_time() {
    let words: Vec<String> = (0..50_000).map(|number| format!("\"w{number}\"")).collect();
    assert_eq!(found(&format!("root ::= {}\n", words.join(" | "))), []);
    assert_eq!(found(&format!("root ::= [{}]\n", "\n".repeat(200_000))), []);
    assert_eq!(found(&format!("root ::= [{}]\n", "\n#".repeat(200_000))), []);
}

/// Texts with slips: the one diagnostic that each gets, and its help.
#[test]
fn slips() {
    let texts = [
        "root ::= \"a\"i",
        "root ::= \"if 1\"i",
        "root ::= “hello”",
        "root ::= \"abc\nb ::= \"c\"",
        "root ::= b \"abc\nb ::= [0-9]",
        "root ::= \"a\" // b",
        "// a\nroot ::= \"a\"",
        "root ::= \"a\" /* b */ \"c\"",
        "root ::= \"a\" / \"b\"",
        "root ::= \"\\d\"",
        "root ::= [\\w]",
        "root ::= \"a\"..\"z\"",
        "root <- \"a\"",
        "root => \"a\"",
        "root ::= (\"a\"\nbaz = \"x\"",
        "root ::= \\d+ \"a\"",
        "root ::= [a-z] \\w+\\.\\w*",
        "root ::= (?:\"a\" | \"b\")+",
        "root ::= [[:alpha:]]+ [^[:space:]]",
        "root ::= \"a\" %json {\"type\":\n \"object\"} \"b\"",
        "root ::= \"a\";",
        "root ::= \"a\", \"b\"",
        "<root> ::= \"a\"",
        "root ::= \"a\" (* b *) \"c\"",
        "(* b *)\nroot ::= \"c\"",
        "root ::= {\"a\"}",
        "root ::= TagDispatch((\"<a>\", x), stop_eos=true)\nx ::= \"a\"",
        "root ::= \"a\" (=\"b\")",
        "root ::= (x) (y)* ( z )",
        "begin ::= \"a\"",
        "root ::= \"a\" -> x",
        "root ::= a\na  \"x\" a?\n",
        "root \"a\"",
        "rööt ::= \"a\"\nroot ::= rööt rööt",
        "root ::= \"x\" <[12>",
        "root ::= \"a\"-\"z\" \"b\" - \"y\"",
        "Root ::= \"a\"",
        "root ::= \"a\" \\",
        "root ::= \"a\\\"",
        "root ::= \"a\\\" | b\nb ::= [x]\n",
        "root ::= [a-z\\]",
        "root ::= [a-z\\]+ b\nb ::= [x]\n",
        "root ::= \"a\"{1..3} \"b\"",
        "root ::= \"a\"{1.5}",
        "root ::= \"a\"{-1,}",
        "root ::= \"a\"{,5}",
        "root ::= { \"a\" } \"b\"",
        "root ::= \"a\"{1,\nb ::= \"c\"",
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
    "E001 12..13 GBNF has no flags such as `i`; write `[aA]`",
    "E001 15..16 GBNF has no flags such as `i`; write `[iI] [fF] \" \" \"1\"`",
    "E001 9..20 these are typographic quotes; write `\"hello\"`",
    "E002 9..10 this string is not closed; close it with `\"`; in it write `\\\"`",
    "E002 11..12 this string is not closed; close it with `\"`; in it write `\\\"`",
    "E001 13..15 this begins no comment; a comment begins with `#` and ends with its line",
    "E001 0..2 this begins no comment; a comment begins with `#` and ends with its line",
    "E001 13..15 this begins no comment; a comment begins with `#` and ends with its line",
    "E001 13..14 `/` is no choice in GBNF; a choice is written `|`",
    "E008 10..12 `\\d` is no escape: the letter has no meaning behind a backslash; digits are `[0-9]`",
    "E008 10..12 `\\w` is no escape: the letter has no meaning behind a backslash; letters, digits and `_` are `[a-zA-Z0-9_]`",
    "E015 12..14 each of these `.` is any character; a range is `[a-z]`; for any two characters write `. .`",
    "E006 5..7 expected `::=` behind the rule's name, found `<-`; write `name ::= …`",
    "E006 5..7 expected `::=` behind the rule's name, found `=>`; write `name ::= …`",
    "E005 13..13 a group is not closed here; close it with `)`\n\
     E006 18..19 expected `::=` behind the rule's name, found `=`; write `name ::= …`",
    "E001 9..12 `\\d` stands in regexes, and GBNF has none; digits are `[0-9]`",
    "E001 15..23 `\\w` stands in regexes, and GBNF has none; letters, digits and `_` are `[a-zA-Z0-9_]`",
    "E001 9..12 `(?:` begins a group in regexes only; a group is `(…)`: drop the `?:`",
    "E001 9..20 GBNF has no named classes such as `[:alpha:]`; write `[a-zA-Z]`\n\
     E001 22..34 GBNF has no named classes such as `[:space:]`; write `[^ \\t\\r\\n]`",
    "E001 13..18 GBNF has no `%json`; write the grammar in Lark, or convert the schema to rules",
    "E001 12..13 rules end with their line, not with `;`; drop the `;`, here and elsewhere",
    "E001 12..13 parts of a sequence have no `,` between them; parts stand side by side: `\"a\" \"b\"`; alternatives have a `|`",
    "E006 0..6 `<root>` is a token, and not a rule's name; write `root ::= …`, and `root` where it is used",
    "E001 13..15 this begins no comment; a comment begins with `#` and ends with its line",
    "E001 0..2 this begins no comment; a comment begins with `#` and ends with its line",
    "E012 9..10 braces hold counts, and stand behind what is repeated; repetition is `(\"a\")*`",
    "E001 9..20 GBNF has no `TagDispatch`; free text with tags in it is a source of its own, structural tags: see docs/structural-tags.md",
    "E001 13..15 GBNF has no look-ahead `(=…)`; what free text with tags needs it for is in structural tags: see docs/structural-tags.md",
    "E021 10..11 there is no rule `x`; \n\
     E021 14..15 there is no rule `y`; \n\
     E021 20..21 there is no rule `z`; ",
    "E022 0..5 there is no rule `root` to start with; rename the first rule, `begin`, to `root`",
    "E001 13..17 GBNF has no names for alternatives; drop the `-> …`; `->` is Lark's",
    "E006 14..15 expected `::=` behind the rule's name, found `\"`; write `name ::= …`",
    "E006 5..6 expected `::=` behind the rule's name, found `\"`; write `name ::= …`",
    "E006 0..6 `rööt` is no name: names are of ASCII letters, digits, `-` and `_`; rename it, here and elsewhere",
    "E013 13..18 the id of a token is closed with `]`; a token is `<name>` or `<[5]>`, any other one `!<name>`",
    "E001 12..13 strings have no range between them; a range of characters is `[a-z]`\n\
     E001 21..22 strings have no range between them; a range of characters is `[b-y]`",
    "E022 0..4 there is no rule `root` to start with; rename `Root` to `root`",
    "E001 13..14 the character `\\` has no meaning here; ",
    "E002 11..13 this quote does not end the string: a backslash stands before it; `\\\"` is a quote in the string; a backslash is `\"\\\\\"`",
    "E002 11..13 this quote does not end the string: a backslash stands before it; `\\\"` is a quote in the string; a backslash is `\"\\\\\"`",
    "E003 13..15 this bracket does not end the class: a backslash stands before it; `\\]` is a bracket in the class; a backslash is `[\\\\]`",
    "E003 13..15 this bracket does not end the class: a backslash stands before it; `\\]` is a bracket in the class; a backslash is `[\\\\]`",
    "E012 12..18 counts are whole numbers with a comma between them; write `{1,3}`",
    "E012 12..17 counts are whole numbers with a comma between them; write `{3}`, `{3,}` or `{0,3}`",
    "E012 12..17 counts are whole numbers with a comma between them; write `{3}`, `{3,}` or `{0,3}`",
    "E012 12..16 the smallest count is missing; write `{0,5}`",
    "E012 9..10 braces hold counts, and stand behind what is repeated; repetition is `(\"a\")*`",
    "E012 12..15 counts in braces are not closed on their line; write `{3}`, `{3,}` or `{0,3}`",
];
