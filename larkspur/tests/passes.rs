//! The simplifications that run before lowering: each by itself, and what they leave alone.

use std::sync::Arc;

use larkspur::grammar::passes::{PASSES, simplify};
use larkspur::{CompileOptions, Engine, Limits, Matcher, Source, Vocabulary, ir_dump, link};

/// The lines of a grammar's rules and terminals after the passes up to `last`.
fn after(source: &Source, last: &str) -> Vec<String> {
    let mut linked = link(source, &CompileOptions::default(), &Limits::default()).expect("it is right");
    simplify(&mut linked.grammar, Some(last));
    ir_dump(&linked).lines().filter(|line| line.starts_with(['R', 'T'])).map(str::to_owned).collect()
}

fn before(source: &Source) -> Vec<String> {
    let linked = link(source, &CompileOptions::default(), &Limits::default()).expect("it is right");
    ir_dump(&linked).lines().filter(|line| line.starts_with(['R', 'T'])).map(str::to_owned).collect()
}

#[test]
fn they_run_in_this_order() {
    assert_eq!(PASSES.iter().map(|pass| pass.name).collect::<Vec<_>>(), ["units", "strings", "equal", "runs"]);
}

#[test]
fn units_are_followed_through() {
    let source = Source::lark("start: a \"x\" | a\na: b\nb: (c)\nc: \"y\" a? \"z\"\nd: e\ne: d\n");
    assert_eq!(after(&source, "units")[0], "R0 start = (R3 T0) | R3");
    // A capture, a budget and another priority stay; so do those that go in a circle.
    for kept in ["a[capture]: b", "a[max_tokens=3]: b", "a.2: b", "a[temperature=0.5]: b"] {
        let source = Source::lark(format!("start: a \"x\"\n{kept}\nb: \"y\"\n"));
        assert_eq!(after(&source, "units"), before(&source), "{kept}");
    }
    let source = Source::lark("start: \"x\" | a\na: b\nb: a\n");
    assert_eq!(after(&source, "units"), before(&source));
}

#[test]
fn strings_side_by_side_are_one_in_exact_mode() {
    let grammar = "start: \"a\" \"b\" start \"c\" \"d\" \"e\" | \"x\"\n";
    let exact = Source::lark(format!("%larkspur {{\"lexer\": \"exact\"}}\n{grammar}"));
    let rules = after(&exact, "strings");
    assert_eq!(rules[0], "R0 start = (T6 R0 T7) | T5");
    assert!(rules.contains(&"T7 \"cde\" literal = \"cde\"".to_owned()), "{rules:#?}");
    let longest = Source::lark(grammar);
    let ignoring = Source::lark(format!("%larkspur {{\"lexer\": \"exact\"}}\n{grammar}%ignore \" \"\n"));
    let captured = Source::lark("%larkspur {\"lexer\": \"exact\"}\nstart: a\na[capture]: \"a\" \"b\"\n");
    let limited = Source::lark("%larkspur {\"lexer\": \"exact\"}\nstart: a\na[max_tokens=1]: \"a\" \"b\"\n");
    for source in [longest, ignoring, captured, limited] {
        assert_eq!(after(&source, "strings"), after(&source, "units"));
    }
}

#[test]
fn equal_rules_are_one() {
    // Two of them refer to each other as the third does to itself, and their parts are written alike.
    let source = Source::lark(
        "start: a \"1\" | b \"2\" | c \"3\"\na: \"(\" (a | \"x\")* \")\"\nb: \"(\" (c | \"x\")* \")\"\nc: \"(\" (b | \"x\")* \")\"\n",
    );
    assert_eq!(after(&source, "equal")[0], "R0 start = (R1 T0) | (R1 T1) | (R1 T2)");
    // What is told apart further on is not equal.
    let source = Source::lark("start: a | b\na: \"(\" c \")\"\nb: \"(\" d \")\"\nc: \"x\" | a\nd: \"y\" | b\n");
    assert_eq!(after(&source, "equal"), before(&source));
    // Where something is captured, which rule it was counts.
    let source = Source::lark("start: a | b\na: \"x\" c\nb: \"x\" c\nc[capture]: \"y\"\n");
    assert_eq!(after(&source, "equal"), before(&source));
}

/// Chains that only more rounds would tell apart stay as they are, in time.
#[test]
fn long_chains_take_no_time() {
    let rules: String = (0..20_000).map(|n| format!("a{n}: \"x\" a{}\n", n + 1)).collect();
    let source = Source::lark(format!("start: a0\n{rules}a20000: \"y\"\n"));
    let started = std::time::Instant::now();
    assert_eq!(after(&source, "equal"), before(&source));
    assert!(started.elapsed().as_secs() < 20, "it took {:?}", started.elapsed());
    let rules: String = (0..20_000).map(|n| format!("a{n}: a{}\n", n + 1)).collect();
    let source = Source::lark(format!("start: a0 \"x\"\n{rules}a20000: \"y\"\n"));
    after(&source, "equal");
}

#[test]
fn a_repeated_run_does_not_stand_beside_itself_in_exact_mode() {
    let rules = |text: &str| after(&Source::gbnf(text), "runs");
    assert_eq!(rules("root ::= \"(\" (root | [^()]+)* \")\"")[0], "R0 root = T1 ((T0? (R0))* T0?) T2");
    let once = rules("root ::= (\"<\" root \">\" | text)+\ntext ::= [^<>]+");
    assert_eq!(once[0], "R0 root = ((T2? ((T0 R0 T1)))+ T2?) | T2");
    // Behind names of rules, and before blanks.
    let lisp = rules("root ::= s*\ns ::= (atom | \"(\" root \")\") ws\natom ::= [a-z]+\nws ::= [ ]*");
    assert_eq!(lisp[0], "R0 root = ((T2? ((T0 R0 T1)) T3) | (T2 T4))* T2?");
    // One character at a time has no other way, and in `longest` mode there is none.
    for kept in ["root ::= (\"a\" | [^a])*", "root ::= (\"ab\" | [^a]+){2,}", "root ::= [^a]+ \"a\""] {
        assert_eq!(rules(kept), after(&Source::gbnf(kept), "equal"), "{kept}");
    }
    let longest = Source::lark("start: (\"a\" | /[^a]+/)*\n");
    assert_eq!(after(&longest, "runs"), after(&longest, "equal"));
}

/// What a capture, which no text reaches, keeps the pass from is the same language: all texts of few bytes, and what may follow them.
#[test]
fn runs_leave_the_language_as_it_is() {
    let elements = [
        "(r | \"(\" start \")\")",
        "(r | \"ab\" | \"b\"?)",
        "(r | /[b ]+/) w",
        "(r | \"(\" start \")\") blanks",
        "r w",
        "(r | \"a \" start \"b\") w",
        "(\"b\" | r) blanks",
    ];
    let rules = "w: / */\nblanks: (\" \" | \"b \")*\nunused[capture]: \"z\"\n";
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    for (element, run) in
        elements.iter().flat_map(|element| ["/[ab]+/", "/(ab)+/", "/[a ]+/"].map(|run| (element, run)))
    {
        for times in ["*", "+"] {
            let inline = format!("start: ({element}){times}\nr: {run}\n");
            let named = format!("start: e{times}\ne: {element}\nr: {run}\n");
            for text in [inline, named] {
                let exact = format!("%larkspur {{ \"lexer\": \"exact\" }}\n{text}{rules}");
                let plain = exact.replace("unused[capture]", "unused");
                assert_ne!(after(&Source::lark(plain.clone()), "runs"), after(&Source::lark(plain.clone()), "equal"));
                let matcher = |text: String| {
                    engine.compile(&Source::lark(text)).expect("it is right").matcher().expect("it has a start")
                };
                let (mut one, mut other) = (matcher(plain), matcher(exact));
                same_texts(&mut one, &mut other, 5, &text);
            }
        }
    }
}

fn same_texts(one: &mut Matcher, other: &mut Matcher, bytes_max: usize, grammar: &str) {
    assert_eq!(one.is_accepting(), other.is_accepting(), "{grammar}");
    let allowed = one.allowed_bytes().expect("no limit is met");
    assert_eq!(Ok(allowed), other.allowed_bytes(), "{grammar}");
    if bytes_max == 0 {
        return;
    }
    for byte in allowed.iter() {
        one.consume_bytes(&[byte]).expect("it is allowed");
        other.consume_bytes(&[byte]).expect("it is allowed");
        same_texts(one, other, bytes_max - 1, grammar);
        one.rollback(1).expect("it was read");
        other.rollback(1).expect("it was read");
    }
}
