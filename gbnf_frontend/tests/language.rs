//! The language of a GBNF text is that of its characters, whatever became a terminal: against a recogniser that reads
//! the text's rules one character at a time.

mod naive;

use larkspur_gbnf_frontend::parse;
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceMap};
use larkspur_test_support::engine;
use larkspur_test_support::sides::{Signs, sides};
use naive::Naive;
use proptest::prelude::*;

/// Accepted by both, or by neither.
fn agree(text: &str, samples: &[&str]) {
    let naive = Naive::new(text);
    let fast = naive::compile(text);
    for sample in samples {
        assert_eq!(engine::accepts(&fast, sample.as_bytes()), naive.accepts(sample), "{text}\non {sample:?}");
    }
}

#[test]
fn what_a_converter_gets_wrong() {
    agree("root ::= word \"x\"\nword ::= [a-z]+", &["abx", "x", "xx", "ab", "abxc"]);
    agree("root ::= a \"c\"?\na ::= \"a\" \"b\"* \"b\"", &["ab", "abbb", "abc", "a"]);
    agree("root ::= (\"a\"|\"ab\") \"bc\"", &["abc", "abbc", "ab", "abcb"]);
    agree("root ::= \"a\" . \"b\"", &["a\nb", "aéb", "ab", "a😀b"]);
    agree("root ::= [a\\-z]+ [+--] [a&&b]", &["a-z+a", "az,b", "a-&", "b"]);
    agree("root ::= \"\\u00e9\" \"\\U0001F600\" \"\\x41\\t\\n\\\\\\\"\"", &["é😀A\t\n\\\"", "é😀a"]);
    agree("root ::= ([x]*)* \"y\"", &["y", "xxy", "xyx"]);
    agree("root ::= (\"0x\" [A-F0-9]{2} \" \"?){3,5}", &["0xFF 0x12 0xAB", "0xFF0x120xAB", "0xFF", "0xFF 0x12 0xAB  "]);
    agree(
        "root ::= start fooBar foo-bar 0x1\nstart ::= \"a\"\nfooBar ::= \"b\"\nfoo-bar ::= \"c\"\n0x1 ::= \"d\"",
        &["abcd"],
    );
}

#[test]
fn recursion_of_every_kind() {
    agree("root ::= root \"a\" | \"b\"", &["b", "baaa", "a", "bb"]);
    agree("root ::= \"a\" root | \"b\"", &["b", "aaab", "ba"]);
    agree("root ::= (\"a\" root)?", &["", "a", "aaa", "b"]);
    agree("root ::= \"a\" root \"b\" | \"\"", &["", "ab", "aabb", "abb", "aab"]);
    agree("root ::= x \"1\"\nx ::= y \"a\" | \"q\"\ny ::= x \"b\" | \"r\"", &["q1", "ra1", "qba1", "rbaba1", "qa1"]);
    agree("root ::= root root | \"a\"", &["a", "aaaa", "ab"]);
    agree(
        "root ::= e\ne ::= t ((\"+\" | \"-\") t)*\nt ::= [0-9]+ | \"(\" e \")\"",
        &["1+(2-3)", "12", "(1", "1+", "()"],
    );
}

#[test]
fn layout() {
    agree("# a comment\nroot ::=   # another\n  \"a\" |\n  \"b\"\n  | \"c\" # the last\n\n", &["a", "b", "c", "d"]);
    agree("root ::= (\n  \"a\"\n  \"b\"\n) \"c\"\r\n\r\nx ::= \"y\"", &["abc", "ab"]);
    agree("root ::= \"a\" |", &["a", "", "b"]);
    agree("root ::= | \"a\"\nb ::= \"c\"", &["a", "", "c"]);
    agree("root ::= \"a\nb\" [c\nd]", &["a\nbc", "a\nb\n", "ab"]);
    agree("root ::= \"\" \"a\"{ 2 , 3 } \"b\"{0} \"c\"{1,}", &["aac", "aaacc", "ac", "aabc"]);
}

#[test]
fn the_last_definition_counts() {
    agree("root ::= \"a\"\nroot ::= \"b\" x\nx ::= \"c\"\nx ::= \"d\"", &["bd", "bc", "a"]);
}

/// In either order, and by one rule that has them all: it must not be asked again and again which of them end.
#[test]
fn chains_of_rules() {
    const COUNT: usize = 100_000;
    let rules = |rule: &dyn Fn(usize) -> String| (1..=COUNT).map(rule).collect::<String>();
    let down = format!("root ::= r1\n{}r{} ::= \"x\"\n", rules(&|i| format!("r{i} ::= \"(\" r{}\n", i + 1)), COUNT + 1);
    let up = format!("root ::= r{COUNT}\nr0 ::= \"x\"\n{}", rules(&|i| format!("r{i} ::= \"(\" r{}\n", i - 1)));
    let any: Vec<String> = (1..=COUNT).map(|i| format!("r{i}")).collect();
    let any = format!("root ::= {}\n{}", any.join(" | "), rules(&|i| format!("r{i} ::= \"x\" r{i}?\n")));
    for text in [down, up, any] {
        let mut sources = SourceMap::new();
        let source = sources.add("hostile.gbnf", &text);
        let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&Limits::default()));
        assert!(parsed.grammar.is_some(), "{:?}", parsed.diagnostics.first());
    }
}

const SIGNS: Signs = Signs {
    between: &[" "],
    around: &[("(", ")*"), ("(", ")+"), ("(", ")?"), ("(", "){2}"), ("(", "){1,3}"), ("(", "){2,}")],
};

/// Right-hand sides over two letters and three rules.
fn side() -> impl Strategy<Value = String> {
    let leaves = vec!["\"a\"", "\"ab\"", "[ab]", "[^a]", "\"\"", "root", "x", "y"];
    sides(prop::sample::select(leaves).prop_map(str::to_owned), SIGNS)
}

proptest! {
    #[test]
    fn random_grammars(root in side(), x in side(), y in side(), text in "[abc]{0,6}") {
        let grammar = format!("root ::= {root}\nx ::= {x}\ny ::= {y}\n");
        agree(&grammar, &[&text, "", "a", "ab", "abab"]);
    }
}
