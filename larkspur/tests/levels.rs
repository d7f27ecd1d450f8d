//! Levels of operators that are taken together: the language is the one that rules have which stay as they are.

use std::sync::Arc;

use larkspur::{Engine, Matcher, Source, TokenMask, Vocabulary};
use larkspur_test_support::Random;

/// A rule that is never reached. With it levels stay as they are, since trees are asked for.
const CAPTURED: &str = "unused[capture]: \"z\"\n";

/// Bytes, and tokens that reach over several lexemes.
fn vocabulary() -> Arc<Vocabulary> {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255u8 {
        builder.token(u32::from(byte), [byte]);
    }
    let longer = [
        "x+", "++", "(x", ")+", "))", "--", " x", "x)", "!!", "x<x", "+(", "<<", "x x", "?x:", "x-x+x", "xx", "+ (",
        ")!)",
    ];
    longer.iter().zip(256..).for_each(|(text, id)| _ = builder.token(id, text.as_bytes()));
    builder.special(300, "<eos>");
    Arc::new(builder.eos(300).build().expect("the tokens are right"))
}

/// A rule `l{n}` over `l{n + 1}`.
fn level(random: &mut Random, n: usize) -> String {
    let operators = [
        "\"+\"",
        "\"-\"",
        "\"<\"",
        "(\"<\" | \"<<\")",
        "\"++\"",
        "\"!\"",
        "\"+\"?",
        "other",
        "\"+\" \"-\"?",
        "/[*!]+/",
    ];
    let (op, other) = (random.pick(&operators), random.pick(&operators));
    let (a, b) = (format!("l{n}"), format!("l{}", n + 1));
    let forms = [
        format!("{b} | {a} {op} {b}"),
        format!("{b} | {b} {op} {a}"),
        format!("{b} ({op} {b})*"),
        format!("{b} ({op} {b} | {other} {b})*"),
        format!("{a} {op} {a} | {b}"),
        format!("{op} {a} | {b}"),
        format!("{a} {op} | {b} | {a} {other} {b}"),
        format!("{b} [{op} start \":\" {a}]"),
        format!("m{n} | {op} {a}\nm{n}: {b} [{other} {a}]"),
        format!("{b} | {b} {op} {b}"),
        format!("{b} | {b} {op} {a} | {a} {other} {b}"),
        format!("{b} | {a} {op} {b} {other} {b} | {b} {op} start"),
        format!("{b} ({op} {b}){{0,2}}"),
        format!("{op}? {b} | {a}? {other} {b}"),
        format!("{a} {a} | {b} | {op} {a} {other}"),
        format!("{b} {op}? {a}? | \"x\""),
        format!("({b} {op})* {b}"),
        format!("{b}+ {op}?"),
    ];
    format!("{a}: {}\n", random.pick(&forms))
}

fn grammar(random: &mut Random) -> String {
    let levels = 2 + random.below(4);
    let mut text = String::new();
    if random.one_in(2) {
        text += "%larkspur { \"lexer\": \"exact\" }\n";
    }
    if random.one_in(2) {
        text += "%ignore \" \"\n";
    }
    text += random.pick(&[
        "start: l0\n",
        "start: l0 (\",\" l0)*\n",
        "start: l0 | start \",\" l0\n",
        "start: l1? l0 \";\"\n",
    ]);
    (0..levels).for_each(|n| text += &level(random, n));
    let atoms = [
        "\"x\"",
        "\"x\" | \"(\" start \")\"",
        "/x+/ | \"(\" l0 \")\"",
        "\"x\" | \"(\" l1 \")\" | \"(\" l0 \"?\" l0 \")\"",
        "\"x\"?",
        "%json { \"const\": 1 } | \"x\"",
    ];
    text + &format!("l{levels}: {}\nother: \"-\" | \"--\" | \"?\"\n", random.pick(&atoms))
}

fn compiled(engine: &Engine, text: &str) -> Option<Matcher> {
    let compiled = engine.compile(&Source::lark(text)).ok()?;
    Some(compiled.matcher().expect("it has a start"))
}

#[test]
fn they_leave_the_language_as_it_is() {
    let (vocabulary, mut random) = (vocabulary(), Random::new(7));
    let engine = Engine::new(vocabulary.clone());
    let (mut masks, mut merged) = (0, 0);
    for _ in 0..400 {
        let text = grammar(&mut random);
        let Some(other) = compiled(&engine, &format!("{text}{CAPTURED}")) else { continue };
        let one = compiled(&engine, &text).unwrap_or_else(|| panic!("{text}"));
        merged += u32::from(one.grammar().dump_cfg().lines().count() > other.grammar().dump_cfg().lines().count());
        for _ in 0..6 {
            let (mut one, mut other) = (one.fork(), other.fork());
            for _ in 0..10 {
                let [mut allowed, mut expected] = [(); 2].map(|()| TokenMask::new(vocabulary.len()));
                one.compute_mask(&mut allowed).expect("no limit is met");
                other.compute_mask(&mut expected).expect("no limit is met");
                assert_eq!(allowed, expected, "{text}");
                masks += 1;
                let tokens: Vec<u32> = allowed.iter().filter(|&token| token != 300).collect();
                if tokens.is_empty() {
                    break;
                }
                let token = random.pick(&tokens);
                one.consume_token(token).expect("it is allowed");
                other.consume_token(token).expect("it is allowed");
            }
        }
    }
    assert!(masks > 5_000 && merged > 100, "{masks} masks, {merged} grammars");
}
