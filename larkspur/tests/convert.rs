//! Converted grammars have the language of what they were made from: the same masks along random walks.

use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::Arc;

use larkspur::{CompileOptions, Engine, Limits, Source, SourceBody, SourceKind, TokenMask, Vocabulary, convert};
use larkspur_test_support::sides::{Signs, sides};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

const STEPS: usize = 12;

fn vocabulary() -> Vocabulary {
    let mut builder = Vocabulary::builder();
    let texts = ["a", "b", "c", "-", "]", "/", "\\", "\"", "\n", "\t", " ", "ab", "ba", "é", "\u{3000}", "0", "^"];
    for (id, text) in texts.iter().enumerate() {
        builder.token(id as u32, text.as_bytes());
    }
    builder.special(40, "<think>").special(41, "[INST]").special(42, "<eos>").eos(42);
    builder.build().expect("a sound vocabulary")
}

fn converted(source: &Source, to: SourceKind) -> String {
    let options = CompileOptions::default();
    convert(source, to, &options, &Limits::default()).unwrap_or_else(|error| panic!("{error}")).text
}

fn to_lark(source: &Source) -> String {
    converted(source, SourceKind::Lark)
}

fn text_of(source: &Source) -> &str {
    match &source.body {
        SourceBody::Text { text, .. } => text,
        SourceBody::Grammar { .. } | SourceBody::Tags(_) => "",
    }
}

/// A walk for each number.
fn walks() -> impl Iterator<Item = Vec<u8>> {
    (0..40u8).map(|walk| (0..STEPS as u8).map(|step| walk.wrapping_mul(31).wrapping_add(step * 7)).collect())
}

/// Compares the masks of a source and of what it is converted to along a walk.
fn agree(source: &Source, choices: &[u8]) {
    agree_with(source, &Source::lark(to_lark(source)), choices);
}

fn agree_with(source: &Source, converted: &Source, choices: &[u8]) {
    let engine = Engine::new(Arc::new(vocabulary()));
    let compile = |source: &Source| engine.compile(source).map_err(|error| error.to_string());
    let written = text_of(converted);
    let converted = compile(converted);
    let original = match compile(source) {
        Ok(original) => original,
        Err(error) => return assert!(converted.is_err(), "{error}\nbut this compiles:\n{written}"),
    };
    let converted = converted.unwrap_or_else(|error| panic!("{error}\n{written}"));
    let (mut one, mut other) = (original.matcher().expect("it starts"), converted.matcher().expect("it starts"));
    let mut text = Vec::new();
    for &choice in choices {
        let mask_of = |matcher: &mut larkspur::Matcher| -> Vec<u32> {
            let mut mask = TokenMask::new(engine.vocabulary().len());
            matcher.compute_mask(&mut mask).map(|()| mask.iter().collect()).unwrap_or_default()
        };
        let (mask, same) = (mask_of(&mut one), mask_of(&mut other));
        assert_eq!(mask, same, "after {text:?}\n{written}");
        let Some(&token) = mask.get(usize::from(choice) % mask.len().max(1)) else { return };
        text.push(token);
        let consumed = one.consume_token(token).expect("it is allowed");
        other.consume_token(token).expect("it is allowed");
        if consumed.stopped {
            return;
        }
    }
}

/// What other converters get wrong.
const CASES: &[&str] = &[
    // Longest matches would lose texts.
    "root ::= word \"x\"\nword ::= [a-z]+",
    "root ::= \"a\" \"b\"* \"b\" \"c\"?",
    "root ::= (\"a\" | \"ab\") \"ba\"",
    // `.` is also a line break; `\\-` in a class.
    "root ::= \"a\" . \"b\"",
    "root ::= [a\\-c]+ \"-\"",
    // Escapes that are longer than two digits, operators of other regex dialects.
    "root ::= \"\\u3000\" [\\U00003000]",
    "root ::= [a&&b]+ [+--]+ [~~^|/]* [\\]\\[\\\\]",
    // Tokens.
    "root ::= <think> !<think> <[41]> !<[3]> !<[INST]x>? \"a\"",
    // Names.
    "root ::= start fooBar foo-bar foo_bar 1x _y START\nstart ::= \"a\"\nfooBar ::= \"b\"\nfoo-bar ::= \"c\"\n\
     foo_bar ::= \"0\"\n1x ::= \"/\"\n_y ::= \" \"\nSTART ::= \"^\"",
    // Stacked quantifiers, raw line breaks in strings, nothing at all.
    "root ::= ([a]*)* (\"b\"?)+ \"c\"{2}{3} \"\t\n\"",
    "root ::= \"\" | () | \"a\" (| \"b\" | \"\") \"c\"{0} ((\"c\")) (((\"a\" | \"b\")))",
    "root ::= \"a\" root | \"b\"",
    "root ::= root \"a\"",
    // What goes on for ever before what derives nothing.
    "root ::= \"a\" ([\\-\\x09 ] | (<think> | root)) foo-bar | \"b\"\nfoo-bar ::= foo-bar",
];

#[test]
fn what_a_converter_gets_wrong() {
    for case in CASES {
        for walk in walks() {
            agree(&Source::gbnf(*case), &walk);
        }
    }
}

const COMMENTS: &str = "# A list.\nroot ::= item (\",\" item)* # items\n\n# One of them.\nitem ::= [a-z]+ | # letters\n  \
                        fooBar\nfooBar ::= \"x\"\nfooBar ::= \"\\\"\"{2,}\n# The end.\n";

#[test]
fn names_comments_and_notes() {
    let options = CompileOptions::default();
    let converted =
        convert(&Source::gbnf(COMMENTS), SourceKind::Lark, &options, &Limits::default()).expect("it is right");
    let expected = "%larkspur { \"lexer\": \"exact\", \"unproductive\": \"allow\" }\n\n// A list.\n// items\n\
                    start: item (\",\" item)*\n\n// One of them.\n// letters\nitem: /[a-z]/+\n    | foo_bar\n\n\n\
                    foo_bar: \"\\\"\"{2,}\n\n// The end.\n";
    assert_eq!(converted.text, expected);
    let notes = ["`root` is `start`", "`fooBar` is `foo_bar`", "an earlier `fooBar` is left out: the last one counts"];
    assert_eq!(converted.notes, notes);
}

#[test]
fn stacked_quantifiers_do_not_recurse() {
    let text = format!("root ::= \"a\"{}", "*?".repeat(100_000));
    let options = CompileOptions::default();
    let converted = convert(&Source::gbnf(text), SourceKind::Lark, &options, &Limits::default());
    assert!(converted.is_ok_and(|converted| converted.text.ends_with("*)?\n")));
}

fn sample_texts() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../sample_grammars");
    let files = std::fs::read_dir(folder).expect("samples").map(|entry| entry.expect("an entry").path());
    let samples = files.filter(|path| path.extension().is_some_and(|extension| extension == "gbnf"));
    samples.map(|path| std::fs::read_to_string(path).expect("a text")).collect()
}

#[test]
fn samples() {
    let texts = sample_texts();
    assert!(texts.len() >= 6);
    for text in texts {
        let source = Source::gbnf(text);
        for choices in 0..10u8 {
            agree(
                &source,
                &(0..40u8)
                    .map(|step| choices.wrapping_mul(57).wrapping_add(step.wrapping_mul(13)))
                    .collect::<Vec<u8>>(),
            );
        }
    }
}

/// Reads texts as JSON lines, writes what they are converted to.
const DRIVER: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
import gbnf_to_lark
for line in sys.stdin:
    print(json.dumps(gbnf_to_lark.gbnf_to_lark(json.loads(line))))
";

#[test]
fn the_script_writes_the_same() {
    let mut texts: Vec<String> = CASES.iter().map(|&case| case.to_owned()).collect();
    texts.push(COMMENTS.to_owned());
    texts.extend(sample_texts());
    let mut runner = proptest::test_runner::TestRunner::default();
    for _ in 0..300 {
        texts.push(grammar().new_tree(&mut runner).expect("a grammar").current());
    }
    let input: String = texts.iter().map(|text| format!("{}\n", serde_json::json!(text))).collect();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts");
    let child =
        Command::new("python3").args(["-c", DRIVER, folder]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut child) = child else {
        println!("SKIPPED: there is no python3");
        return;
    };
    let mut stdin = child.stdin.take().expect("it is piped");
    let writing = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().expect("it ends");
    writing.join().expect("no panic").expect("it reads all");
    let output = String::from_utf8(output.stdout).expect("UTF-8");
    let lines: Vec<(String, Vec<String>)> =
        output.lines().map(|line| serde_json::from_str(line).expect("text and notes")).collect();
    assert_eq!(lines.len(), texts.len());
    for (text, line) in texts.iter().zip(lines) {
        let options = CompileOptions::default();
        let converted =
            convert(&Source::gbnf(text), SourceKind::Lark, &options, &Limits::default()).expect("it is right");
        assert_eq!((converted.text, converted.notes), line, "{text}");
    }
}

#[test]
fn regexes_and_schemas() {
    for regex in ["a/b|\\/c", "[/]+", "", "a\nb", "a\\\nb", "(?i)AB", "[^\\n]*\"", "\\pL+"] {
        for walk in walks() {
            agree(&Source::regex(regex), &walk);
        }
    }
    let schema = Source::json_schema("{\"enum\": [\"a\", [0, \"b\"]]}\n");
    assert_eq!(to_lark(&schema), "start: %json {\"enum\": [\"a\", [0, \"b\"]]}\n");
    agree(&schema, &[0; STEPS]);
}

#[test]
fn no_conversion() {
    let options = CompileOptions::default();
    let code = |source: &Source, to| match convert(source, to, &options, &Limits::default()) {
        Ok(converted) => converted.text,
        Err(error) => error.diagnostics[0].code.to_owned(),
    };
    assert_eq!(code(&Source::lark("start: \"a\""), SourceKind::Lark), "F006");
    assert_eq!(code(&Source::regex("(?x)a\nb"), SourceKind::Lark), "F006");
    assert_eq!(code(&Source::gbnf("root ::= rot"), SourceKind::Lark), "E021");
    // `except!` is of any bytes.
    let bytes = Source::kbnf("start ::= '(' except!(')') ')';");
    let error = convert(&bytes, SourceKind::Gbnf, &options, &Limits::default()).unwrap_err();
    assert_eq!(error.diagnostics[0].message, "GBNF has no words for this: texts that need not be UTF-8");
}

#[test]
fn lark_to_gbnf() {
    let cases = [
        "start: a B? (\"c\" | /[^a\\]\\^-]/)~2..3\na: \"(\" a \")\" | /\\d{2,}|x*/\nB: \"b\" | \"B\"i",
        "start: item (\",\" item)*\nitem: <think> | ~<think> | <[3-5]> | <[41]>+ | \"é\"",
        "start: (A B)+ \"]\"\nA: \"a\"\nB: /b+/\n%ignore \" \"\n%ignore /\\n/",
        "start: \"a\" inner*\ninner: %lark {\n  start: \"b\" | \"c\" start\n}",
        "my_rule: \"a\" MY_RULE\nstart: my_rule\nMY_RULE: /[a-c]/",
        "start: start \"a\" | ",
    ];
    for case in cases {
        let exact = Source::lark(format!("%larkspur {{ \"lexer\": \"exact\" }}\n{case}"));
        let gbnf = Source::gbnf(converted(&exact, SourceKind::Gbnf));
        walks().for_each(|walk| agree_with(&exact, &gbnf, &walk));
    }
    let schema = Source::json_schema("{\"type\": [\"integer\", \"null\"], \"minimum\": -5, \"maximum\": 120}");
    let gbnf = Source::gbnf(converted(&schema, SourceKind::Gbnf));
    walks().for_each(|walk| agree_with(&schema, &gbnf, &walk));
    for terminal in ["/[^b]+/ & ~/(.|\\n)*aa(.|\\n)*/", "/a(?!b)[a-ÿ]+/ \"=\"", "/[α-ω]{1,3}/ & ~/..|[γδ]/"] {
        let exact = Source::lark(format!("%larkspur {{ \"lexer\": \"exact\" }}\nstart: (A \";\")+\nA: {terminal}\n"));
        let gbnf = Source::gbnf(converted(&exact, SourceKind::Gbnf));
        walks().for_each(|walk| agree_with(&exact, &gbnf, &walk));
    }
    let object =
        "{\"properties\": {\"a\": {\"type\": \"integer\"}}, \"type\": \"object\", \"additionalProperties\": false}";
    let object = Source::json_schema(object);
    let gbnf = Source::gbnf(converted(&object, SourceKind::Gbnf));
    walks().for_each(|walk| agree_with(&object, &gbnf, &walk));
    let regex = Source::regex("a{2,3}(b|[^c])*");
    assert_eq!(converted(&regex, SourceKind::Gbnf), "root ::= \"a\"{2,3} (\"b\" | [^c])*\n");
}

#[test]
fn what_gbnf_has_no_words_for() {
    let refused = |lark: &str| -> Vec<(u32, u32)> {
        let options = CompileOptions::default();
        let error = convert(&Source::lark(lark), SourceKind::Gbnf, &options, &Limits::default()).expect_err("refused");
        error.diagnostics.iter().map(|one| (one.labels[0].span.start, one.labels[0].span.end)).collect()
    };
    assert_eq!(refused("start: a b\na[max_tokens=3]: \"a\"\nb[lazy]: /b+/"), [(11, 12), (41, 45)]);
    assert_eq!(refused("start: A\nA: ~/(.*a.{20})*/"), [(9, 10)]);
    assert_eq!(refused("start: A \"b\"\nA: /a(?!c)/"), [(7, 8)]);
    assert_eq!(refused("start: \"b\" A\nA: /(?<!c)a/\n%ignore /(?<=b)-/"), [(11, 12), (34, 43)]);
    // At the terminal that it stands in, whatever was written meanwhile.
    assert_eq!(refused("start: A B\nA: /(a|b(?!b))bb/\nB: \"c\""), [(11, 12)]);
    assert_eq!(refused("start: p::0\np::_: \"a\" %if is_zeros(_)"), [(12, 13), (18, 37)]);
}

const SIGNS: Signs = Signs {
    between: &[" "],
    around: &[
        ("(", ")*"),
        ("(", ")+"),
        ("(", ")?"),
        ("(", "){2}"),
        ("(", "){1,3}"),
        ("(", "){2,}"),
        ("(", "){0}"),
        ("", "*"),
        ("", "+"),
        ("", "?"),
        ("", "{1,3}"),
        ("", "{0}"),
    ],
};

fn side() -> impl Strategy<Value = String> {
    let leaves = [
        "\"a\"",
        "\"ab\"",
        "[a-c]",
        "[^a]",
        "[^\\]\\\\/-]",
        "[\\-\\x09 ]",
        ".",
        "\"\"",
        "\"\\\"\\\\/\\n\"",
        "root",
        "fooBar",
        "foo-bar",
        "<think>",
        "!<think>",
        "<[41]>",
        "!<[41]>",
    ];
    let leaf = prop::sample::select(leaves.to_vec()).prop_map(str::to_owned);
    sides(leaf, SIGNS)
}

fn grammar() -> impl Strategy<Value = String> {
    let rules = (side(), side(), side());
    rules.prop_map(|(root, one, two)| format!("root ::= {root}\nfooBar ::= {one} # one\n# two\nfoo-bar ::= {two}\n"))
}

proptest! {
    #[test]
    fn random_grammars(text in grammar(), choices: [u8; STEPS]) {
        agree(&Source::gbnf(text), &choices);
    }
}

#[test]
fn comments_of_lark_stay_with_their_definitions() {
    let lark = "\
// A head.

# What is read.
start: item+   // one or more
     | NUMBER  # not both
// Not in a \"// string\".
item: \"//\" /#[a-z]/
/// The digits.
NUMBER: /[0-9]+/x
unused: \"u\" // gone
//
%ignore \" \"
// The end.
";
    let converted = convert(&Source::lark(lark), SourceKind::Gbnf, &CompileOptions::default(), &Limits::default());
    let text = converted.expect("it has words").text;
    let expected = "\
root ::= ignored start
ignored ::= (x)*
# A head.
# What is read.
# one or more
# not both
start ::= item+ | number ignored
x ::= \" \"
# Not in a \"// string\".
item ::= \"//\" ignored \"#\" [a-z] ignored
# The digits.
number ::= [0-9]+
#
# The end.
";
    assert_eq!(text, expected);
}

#[test]
fn what_no_text_finishes_is_left_out() {
    let lark =
        "%larkspur { \"lexer\": \"exact\", \"unproductive\": \"allow\" }\nstart: \"a\" | r | \"c\" r*\nr: \"b\" r\n";
    let options = CompileOptions::default();
    let written = convert(&Source::lark(lark), SourceKind::Gbnf, &options, &Limits::default()).expect("a conversion");
    assert_eq!(written.text, "root ::= \"a\" | \"c\" \"\"\n");
    assert!(written.notes.contains(&"what no text can finish is left out".to_owned()), "{:?}", written.notes);
}

/// What is regular in GBNF becomes terminals, and stays rules in Lark: neither may make a difference to what goes on for ever.
#[test]
fn what_goes_on_before_what_never_ends() {
    let engine = Engine::new(Arc::new(vocabulary()));
    for gbnf in
        ["root ::= \"a\"* never\nnever ::= \"c\" never\n", "root ::= \"b\" [^a]+ never\nnever ::= \"x\" never [a-c]\n"]
    {
        let source = Source::gbnf(gbnf);
        engine.compile(&source).expect("it goes on for ever");
        walks().for_each(|walk| agree(&source, &walk));
    }
    // A rule that reads nothing is told of where others are left.
    let warnings = |text: &str| {
        let grammar = engine.compile(&Source::gbnf(text)).expect("it has texts");
        grammar.warnings().iter().map(|warning| (warning.code, warning.message.clone())).collect::<Vec<_>>()
    };
    let never = warnings("root ::= \"a\" (\"b\" | root) never | \"c\"\nnever ::= never\n");
    assert_eq!(never, [("G103", "rule `never` derives nothing".to_owned())]);
    assert_eq!(warnings("root ::= \"a\" never | \"c\"\nnever ::= \"x\" never\n"), []);
    // What reads nothing derives nothing, and neither does what it stands in.
    for gbnf in ["root ::= \"a\"* never\nnever ::= never\n", "root ::= \"b\" [^a]{1,9} never\nnever ::= never\n"] {
        let error = engine.compile(&Source::gbnf(gbnf)).expect_err("it derives nothing");
        assert_eq!(error.diagnostics[0].code, "P001");
    }
}
