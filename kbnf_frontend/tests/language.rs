//! The language of a KBNF text, against a recogniser that reads its rules by a fixed point, byte by byte.

mod naive;

use std::time::{Duration, Instant};

use larkspur_parser::{Matcher, MatcherOptions};
use larkspur_test_support::engine;
use larkspur_test_support::sides::{Signs, sides};
use naive::Naive;
use proptest::prelude::*;

/// Accepted by both, or by neither.
fn agree(text: &str, samples: &[&[u8]]) {
    let naive = Naive::new(text);
    let fast = naive::compile(text);
    for sample in samples {
        let expected = naive.accepts(sample);
        // A grammar of the empty text is refused.
        if fast.is_none() && sample.is_empty() {
            continue;
        }
        assert_eq!(engine::accepts(&fast, sample), expected, "{text}\non {:?}", sample.escape_ascii().to_string());
    }
}

fn texts<'a>(accepted: &[&'a str], rejected: &[&'a str]) -> Vec<(&'a str, bool)> {
    accepted.iter().map(|&text| (text, true)).chain(rejected.iter().map(|&text| (text, false))).collect()
}

/// As stated, and as the naive side has it.
fn judge(text: &str, accepted: &[&str], rejected: &[&str]) {
    let grammar = naive::compile(text);
    for (sample, expected) in texts(accepted, rejected) {
        assert_eq!(engine::accepts(&grammar, sample.as_bytes()), expected, "{text}\non {sample:?}");
        agree(text, &[sample.as_bytes()]);
    }
}

#[test]
fn definitions() {
    judge("start ::= 'a'; start = \"b\";", &["a", "b"], &["ab", ""]);
    judge("start ::= x y_1; x = 'a'; y_1 ::= 'b'; x ::= 'c';", &["ab", "cb"], &["b", "acb"]);
    judge("(* a *)start(* b *)::=(* ( *)'a'(* ;'*)|(*****)'b';(* end *)(**)", &["a", "b"], &[""]);
    judge("start ::= 'a' , 'b', 'c' | 'd';", &["abc", "d"], &["ab", "abd"]);
}

#[test]
fn strings() {
    judge("start ::= '\\t\\n\\r\\\"\\'\\\\' \"é\\u0041\\x42\";", &["\t\n\r\"'\\éAB"], &["\t\n\r\"'\\e\u{301}AB"]);
    judge("start ::= 'a\nb' '' \"it's\" 'a \"word\"';", &["a\nbit'sa \"word\""], &["a b"]);
    let grammar = naive::compile("start ::= '\\141\\0618\\477';");
    assert!(engine::accepts(&grammar, b"a18'7"));
    let grammar = naive::compile("start ::= '\\b\\f\\v\\0\\/\\u{1F600}\\uD83D\\uDE00\\\n';");
    assert!(engine::accepts(&grammar, "\u{8}\u{c}\u{b}\0/😀😀".as_bytes()));
}

#[test]
fn repetition() {
    judge("start ::= 'a' ['b'] {'c' | 'd'} 'e'? 'f'* 'g'+;", &["ag", "abcdcefffgg"], &["abbg", "aeeg", "a"]);
    judge("start ::= ('a' | 'b' 'c')+ ((('d')))? 'x';", &["abcax", "bcdx"], &["x", "bx", "addx"]);
    judge("start ::= 'x' 'a'?+ 'b'+? 'c'+* ['d']* {'e'}+;", &["x", "xaabbccddee"], &["xba", ""]);
    judge("start ::= ('{' start '}')?;", &["{}", "{{{}}}", ""], &["{", "{}{}"]);
}

#[test]
fn patterns() {
    judge("start ::= #'[0-9]+' #\"[a-z]{2}\" #'.*\\n\\n';", &["1ab\n\n", "12abé\n\n"], &["1ab\n\n\n", "ab\n\n"]);
    judge("start ::= #'\\\\d\\u0041\\'';", &["7A'"], &["dA'", "7a'"]);
    judge("start ::= #e'[ab]*b' 'c';", &["bc", "aabc"], &["abbc", "bbc", "c"]);
    judge("start ::= 'x' #e'(ab)*' 'y';", &["xaby"], &["xy", "xababy"]);
    judge("start ::= #ex'ab|c' '.';", &["a.", "ba\n.", "...."], &["ab.", ".", "xabx.", "c."]);
    judge("start ::= '<' #substrs'abca' '>';", &["<>", "<abca>", "<bc>", "<a>"], &["<ac>", "<caa>"]);
    agree("start ::= '<' #substrs'é' '>';", &["<é>".as_bytes(), b"<\xc3>", b"<\xa9>", b"<\xa9\xc3>"]);
    agree("start ::= #ex'a' '.';", &[b"\xff\xc3.", b"\xfe\n.", b"\xffa."]);
}

#[test]
fn legacy() {
    judge("start ::= except!('\\n\\n')'\\n\\n';", &["a\n\n", "\n\n\n", "a\nb\n\n"], &["\n\n", "a\n\n\n\n"]);
    judge(
        "start ::= except!(C)C; C ::= 'A' | \"BB\"; C ::= ('C');",
        &["xA", "BBB", "BC", "xyzC"],
        &["A", "AA", "xBBA"],
    );
    judge("start ::= except!('x', 3)'x';", &["abcx", "éax", "ax"], &["x", "abcdx", "ééx"]);
    judge("start ::= except!( x , 2 ) any! x ; x ::= 'x';", &["abx", "aéx", "a\nx", "axx"], &["ax", "abcdx"]);
    agree("start ::= any! '.';", &["é.".as_bytes(), b"\xc3.", b"\n.", "😀.".as_bytes(), b"\xff."]);
}

#[test]
fn recursion_of_every_kind() {
    judge("start ::= start 'a' | 'b';", &["b", "baaa"], &["a", "bb", ""]);
    judge("start ::= 'a' start | 'b';", &["b", "aaab"], &["a"]);
    judge("start ::= start start | 'a';", &["a", "aaaaa"], &["", "b"]);
    judge("start ::= x '.'; x ::= 'x' | 'x' y; y ::= 'y' | 'y' x;", &["x.", "xyxy."], &["yx.", "xx."]);
    judge("start ::= n 'a' start n | 'b'; n ::= '' | n;", &["b", "aab"], &["a", ""]);
    judge("start ::= '' | x; x ::= 'x' start x | 'x';", &["", "x", "xxxx"], &["y"]);
}

#[test]
fn texts_without_end() {
    let grammar = naive::compile("start ::= 'A' start;").expect("it may go on for ever");
    let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
    assert!(matcher.consume_bytes(&[b'A'; 1000]).is_ok());
    assert!(!matcher.is_accepting().expect("within limits"));
    assert!(matcher.consume_bytes(b"B").is_err());
    let grammar = naive::compile("start ::= 'x' | 'a' b; b ::= 'b' b;").expect("there is `x`");
    let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
    assert!(matcher.consume_bytes(b"abbb").is_ok());
}

#[test]
fn only_the_empty_text() {
    for refused in [
        "start ::= '';",
        "start ::= x x?; x ::= '' | '' x;",
        "start ::= '' | x; x ::= x 'a';",
        "start ::= '' | x; x ::= 'a' y; y ::= y;",
        "start ::= [#'a{0}'];",
    ] {
        assert!(naive::compile(refused).is_none(), "{refused}");
    }
    for taken in [
        "start ::= '' | 'a';",
        "start ::= '' | x; x ::= 'a' x;",
        "start ::= '' | {'a'} x; x ::= y; y ::= '' x 'b' | 'c' x;",
    ] {
        assert!(naive::compile(taken).is_some(), "{taken}");
    }
}

#[test]
fn twenty_optional_parts_compile_at_once() {
    let parts: String = ('a'..='t').map(|c| format!("'{c}'? ")).collect();
    let text = format!("start ::= {parts} '!';");
    let begin = Instant::now();
    let grammar = naive::compile(&text);
    assert!(begin.elapsed() < Duration::from_millis(500), "{:?}", begin.elapsed());
    assert!(engine::accepts(&grammar, b"acegt!") && engine::accepts(&grammar, b"!"));
    assert!(!engine::accepts(&grammar, b"ca!") && !engine::accepts(&grammar, b"a"));
}

#[test]
fn right_recursion_is_linear() {
    for text in [
        "start ::= C '\\n'; C ::= 'c' | 'c' C;",
        "start ::= A '\\n'; A ::= 'c' | 'c' B; B ::= 'c' | 'c' A;",
        "start ::= A '\\n'; A ::= 'c' [B]; B ::= '' A [''] '';",
        "start ::= 'c' {start} | '\\n';",
    ] {
        let grammar = naive::compile(text).expect("it has texts");
        let time = |len: usize| {
            let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
            let begin = Instant::now();
            matcher.consume_bytes(&vec![b'c'; len]).expect("any number");
            matcher.consume_bytes(b"\n").expect("an end");
            assert!(matcher.is_accepting().expect("within limits"));
            begin.elapsed()
        };
        let (short, long) = (time(50_000), time(1_000_000));
        assert!(long < short * 40 + Duration::from_millis(200), "{text}: {short:?}, {long:?}");
    }
}

const SIGNS: Signs = Signs {
    between: &[" ", " , ", "(*;*)"],
    around: &[("(", ")*"), ("(", ")+"), ("(", ")?"), ("[", "]"), ("[", "]"), ("{", "}"), ("{", "}")],
};

/// Right-hand sides over two letters and three nonterminals.
fn side() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        4 => prop::sample::select(vec!["'a'", "\"ab\"", "''", "'b'", "start", "x", "y"]),
        2 => prop::sample::select(vec!["#'[ab]+'", "#'a*'", "#'b|ab'", "#\".\"", "any!", "#substrs'abb'"]),
        2 => prop::sample::select(vec!["#e'[ab]*b'", "#e'(a|b)*'", "#ex'ab'", "#ex'b+a'", "except!('ab')"]),
        1 => prop::sample::select(vec!["except!('b', 2)", "except!(w)", "except!(w,3)", "w"]),
    ]
    .prop_map(str::to_owned);
    sides(leaf, SIGNS)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]
    #[test]
    fn random_grammars(start in side(), x in side(), y in side(), text in "[abc]{0,6}") {
        let grammar = format!("start ::= {start}; x ::= {x};\ny = {y}; w ::= 'a' | 'bb';");
        agree(&grammar, &[text.as_bytes(), b"", b"a", b"ab", b"abab"]);
    }
}
