//! Input that nobody means well, through the whole: everything ends, in bounded memory, with a typed error or a right
//! answer. What ends with a panic, a stack overflow or not at all fails here without an assertion.

use std::sync::Arc;
use std::thread;

use larkspur_grammar::{Diagnostic, LexerMode, Limits, LinkedGrammar, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, parse};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherError, MatcherOptions, Shared, StopReason};
use larkspur_test_support::Random;
use larkspur_toktrie::{TokenMask, Vocabulary};

const MODES: [LexerMode; 2] = [LexerMode::Longest, LexerMode::Exact];

/// The EOS token of [`Vocabulary::single_bytes`].
const EOS: u32 = 256;

fn read(text: &str, mode: LexerMode) -> Result<LinkedGrammar, Vec<Diagnostic>> {
    let limits = Limits::default();
    let mut sources = SourceMap::new();
    let source = sources.add("hostile.lark", text);
    let parsed = parse(&mut sources, source, &LarkOptions { lexer: Some(mode), ..LarkOptions::new(&limits) });
    match parsed.grammar {
        Some(grammar) => link(vec![grammar], |_, _| unreachable!("no schemas")),
        None => Err(parsed.diagnostics),
    }
}

/// Compiles for the single bytes, as everybody does: default limits and slices.
fn compile(text: &str, mode: LexerMode) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    let linked = read(text, mode)?;
    let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &EngineOptions::default()).expect("sound slices");
    CompiledGrammar::compile(&shared, linked)
}

fn matcher(text: &str, mode: LexerMode) -> Matcher {
    let grammar = compile(text, mode).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Matcher::new(&grammar, MatcherOptions::default()).expect("it starts")
}

/// Codes of the errors; empty if it compiles.
fn codes(text: &str, mode: LexerMode) -> Vec<&'static str> {
    let errors = compile(text, mode).err().unwrap_or_default();
    errors.iter().filter(|error| error.is_error()).map(|error| error.code).collect()
}

/// The allowed tokens, those of bytes as characters and EOS as `$`.
fn mask(matcher: &mut Matcher) -> String {
    let mut mask = TokenMask::new(matcher.grammar().shared().vocabulary().len());
    matcher.compute_mask(&mut mask).expect("some token is allowed");
    mask.iter().map(|id| if id == EOS { '$' } else { char::from(id as u8) }).collect()
}

fn consume(matcher: &mut Matcher, text: impl AsRef<[u8]>) {
    for (at, &byte) in text.as_ref().iter().enumerate() {
        matcher.consume_token(byte.into()).unwrap_or_else(|error| panic!("at {at}: {error}"));
    }
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

/// Runs on a stack of 256 kB.
fn on_small_stack(f: impl FnOnce() + Send + 'static) {
    on_stack(256 << 10, f);
}

fn on_stack(bytes: usize, f: impl FnOnce() + Send + 'static) {
    let thread = thread::Builder::new().stack_size(bytes).spawn(f).expect("a thread starts");
    thread.join().expect("it does not panic")
}

#[test]
fn nested_parentheses_in_a_source() {
    for (open, close) in [("(", ")"), ("[", "]"), ("(\"b\" ", ")+")] {
        for depth in [201, 100_000] {
            let text = format!("start: {}\"a\"{}\n", open.repeat(depth), close.repeat(depth));
            assert_eq!(codes(&text, LexerMode::Longest), ["L093"], "{open} {depth}");
        }
        let unclosed = format!("start: {}", open.repeat(100_000));
        assert_eq!(codes(&unclosed, LexerMode::Longest).first(), Some(&"L093"));
    }
    let regex = format!("start: /{}a{}/\n", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(codes(&regex, LexerMode::Longest), ["R031"]);
}

#[test]
fn nesting_up_to_the_limit() {
    for mode in MODES {
        on_small_stack(move || {
            let nested = |open: &str, close: &str| format!("{}\"a\"{}", open.repeat(200), close.repeat(200));
            for (open, close, first) in [("(", ")", "a"), ("[", "]", "a$"), ("(\"b\" | ", ")+", "ab")] {
                let mut rules = matcher(&format!("start: {}\n", nested(open, close)), mode);
                assert_eq!(mask(&mut rules), first, "{open}");
                let mut terminals = matcher(&format!("start: A\nA: {}\n", nested(open, close)), mode);
                assert_eq!(mask(&mut terminals), first, "{open}");
            }
            let mut grammars = matcher(&format!("start: {}\n", nested("%lark { start: ", "}")), mode);
            assert_eq!(mask(&mut grammars), "a");
        });
        // The reader of regexes recurses as deep as its limit says: half of what a thread has in Rust is enough.
        on_stack(1 << 20, move || {
            let mut regex = matcher(&format!("start: /{}a{}/\n", "(b|".repeat(200), ")c".repeat(200)), mode);
            assert_eq!(mask(&mut regex), "ab");
            consume(&mut regex, format!("a{}", "c".repeat(200)));
            assert_eq!(regex.stop_reason(), Some(StopReason::NoExtension));
        });
    }
}

#[test]
fn chains_of_rules() {
    const COUNT: usize = 100_000;
    for mode in MODES {
        on_small_stack(move || {
            let chain = |line: &dyn Fn(usize) -> String| {
                format!(
                    "start: r0\n{}r{COUNT}: \"x\"\n",
                    lines(COUNT, |i| line(i).replace('@', &format!("r{}", i + 1)))
                )
            };
            let mut unit = matcher(&chain(&|i| format!("r{i}: @\n")), mode);
            assert_eq!(mask(&mut unit), "x");
            consume(&mut unit, "x");
            assert!(unit.is_stopped());

            let mut left = matcher(&chain(&|i| format!("r{i}: @ \"y\"\n")), mode);
            assert_eq!(mask(&mut left), "x");
            consume(&mut left, "xyyy");
            assert_eq!(mask(&mut left), "y");
            consume(&mut left, vec![b'y'; COUNT - 3]);
            assert!(left.is_stopped());

            let mut right = matcher(&chain(&|i| format!("r{i}: \"y\" @\n")), mode);
            assert_eq!(mask(&mut right), "y");
            consume(&mut right, vec![b'y'; COUNT]);
            consume(&mut right, "x");
            assert!(right.is_stopped());

            let mut optional = matcher(&chain(&|i| format!("r{i}: @?\n")), mode);
            assert_eq!(mask(&mut optional), "x$");
        });
    }
}

#[test]
fn chains_of_terminals() {
    for mode in MODES {
        on_small_stack(move || {
            let chain = |line: &dyn Fn(usize) -> String| {
                format!("start: A0\n{}A50000: \"x\"\n", lines(50_000, |i| line(i).replace('@', &format!("A{}", i + 1))))
            };
            let mut unit = matcher(&chain(&|i| format!("A{i}: @\n")), mode);
            assert_eq!(mask(&mut unit), "x");
            // The front end may copy concatenations; then it says that this is too much.
            for (line, first) in [("@ \"y\"", "x"), ("\"y\" @", "y")] {
                match compile(&chain(&|i| format!("A{i}: {line}\n")), mode) {
                    Ok(grammar) => {
                        let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
                        assert_eq!(mask(&mut matcher), first);
                    }
                    Err(errors) => assert_eq!(errors[0].code, "L092"),
                }
            }
        });
    }
}

#[test]
fn nested_terminals() {
    for mode in MODES {
        on_small_stack(move || {
            let chain = |line: &dyn Fn(usize) -> String| {
                format!("start: A0\n{}A50000: \"x\"\n", lines(50_000, |i| line(i).replace('@', &format!("A{}", i + 1))))
            };
            let mut nested = matcher(&chain(&|i| format!("A{i}: \"y\" (@ | \"z\") \"w\"\n")), mode);
            assert_eq!(mask(&mut nested), "y");
            consume(&mut nested, "yyy");
            assert_eq!(mask(&mut nested), "yz");
        });
    }
}

#[test]
fn nested_complements() {
    for mode in MODES {
        on_small_stack(move || {
            let text = format!("start: A0\n{}A5000: \"x\"\n", lines(5_000, |i| format!("A{i}: ~(A{} \"y\")\n", i + 1)));
            match compile(&text, mode) {
                Ok(grammar) => _ = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts"),
                Err(errors) => assert_eq!(errors[0].code, "B002", "{errors:?}"),
            }
        });
    }
}

#[test]
fn wide_alternatives() {
    const COUNT: usize = 100_000;
    let digits: Vec<String> = (0..10).map(|digit| digit.to_string()).collect();
    let digits = digits.concat();
    let literals: Vec<String> = (0..COUNT).map(|i| format!("\"w{i:05}\"")).collect();
    let names: Vec<String> = (0..COUNT).map(|i| format!("r{i}")).collect();
    let rules = lines(COUNT, |i| format!("r{i}: \"w{i:05}\"\n"));
    let forms = [
        format!("start: {}\n", literals.join(" | ")),
        format!("start: A\nA: {}\n", literals.join(" | ")),
        format!("start: {}\n{rules}", names.join(" | ")),
        format!("start: ({})+\n", literals.join(" | ")),
    ];
    for (form, text) in forms.iter().enumerate() {
        for mode in MODES {
            let mut matcher = matcher(text, mode);
            assert_eq!(mask(&mut matcher), "w", "form {form}");
            consume(&mut matcher, "w1234");
            assert_eq!(mask(&mut matcher), digits, "form {form}");
            consume(&mut matcher, "5");
            assert_eq!(matcher.is_accepting(), Ok(true));
            assert_eq!(matcher.is_stopped(), form < 3);
        }
    }
}

/// Each alone, one by one: that was quadratic in their number.
#[test]
fn many_regexes_side_by_side() {
    const COUNT: usize = 8_000;
    let names: Vec<String> = (0..COUNT).map(|i| format!("T{i}")).collect();
    for (end, follows) in [("[a-z]*", "abcdefghijklmnopqrstuvwxyz"), ("b*", "b")] {
        let terminals = lines(COUNT, |i| format!("T{i}: /w{i:05}{end}/\n"));
        let mut matcher = matcher(&format!("start: {}\n{terminals}", names.join(" | ")), LexerMode::Exact);
        assert_eq!(mask(&mut matcher), "w");
        consume(&mut matcher, "w0234");
        assert_eq!(mask(&mut matcher), "0123456789");
        consume(&mut matcher, "5b");
        assert_eq!(mask(&mut matcher), format!("{follows}$"));
    }
}

/// Tokens that can be split anywhere, and such that hold thousands of lexemes.
#[test]
fn words_that_follow_each_other_within_tokens() {
    let longer =
        |words: Vec<String>| words.iter().flat_map(|word| ["a", "b", "c"].map(|end| format!("{word}{end}"))).collect();
    let words = |len: usize| (0..len).fold(vec![String::new()], |words, _| longer(words));
    let mut builder = Vocabulary::builder();
    let dashes = "-".repeat(5_000);
    let tokens =
        (1..=6).flat_map(words).chain([dashes.clone(), format!("{dashes}a"), format!("{dashes}x"), "ax".into()]);
    tokens.zip(0..).for_each(|(token, id)| _ = builder.token(id, token.as_bytes()));
    let vocabulary = Arc::new(builder.build().expect("the tokens are right"));
    let count = 3 + 9 + 27 + 81 + 243 + 729;
    let some: Vec<String> = (1..=4).flat_map(words).collect();
    let rules = lines(some.len(), |number| format!("r{number}: \"{}\"\n", some[number]));
    let all: Vec<String> = (0..some.len()).map(|number| format!("r{number}")).collect();
    for (start, is_with_dashes) in
        [(format!("({})*", all.join(" | ")), false), (format!("(dashes ({}))*", all.join(" | ")), true)]
    {
        let text = format!("start: {start}\ndashes: \"-\" dashes?\n{rules}");
        for mode in MODES {
            let shared = Shared::new(vocabulary.clone(), &EngineOptions::default()).expect("sound slices");
            let grammar =
                CompiledGrammar::compile(&shared, read(&text, mode).expect("it is right")).expect("it is right");
            let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
            let mut mask = TokenMask::new(vocabulary.len());
            matcher.compute_mask(&mut mask).expect("some token is allowed");
            let expected: Vec<u32> = if is_with_dashes { vec![count, count + 1] } else { (0..count).collect() };
            assert_eq!(mask.iter().collect::<Vec<_>>(), expected, "{mode:?} {start}");
        }
    }
}

#[test]
fn nested_repetition_in_a_regex() {
    for mode in MODES {
        let mut stars = matcher("start: /((a*)*)*b/\n", mode);
        assert_eq!(mask(&mut stars), "ab");
        consume(&mut stars, [b'a'; 1_000]);
        assert_eq!(mask(&mut stars), "ab");
        consume(&mut stars, "b");
        assert!(stars.is_stopped());

        let mut counts = matcher("start: /(a{1,1000}){1,1000}/\n", mode);
        assert_eq!(mask(&mut counts), "a");
        consume(&mut counts, [b'a'; 100]);
        assert_eq!(mask(&mut counts), "a$");

        let mut counts = matcher("start: /(a{1,30}){1,30}/\n", mode);
        consume(&mut counts, [b'a'; 899]);
        assert_eq!(mask(&mut counts), "a$");
        consume(&mut counts, "a");
        assert_eq!(counts.stop_reason(), Some(StopReason::NoExtension));
    }
}

#[test]
fn large_counts() {
    for mode in MODES {
        for text in ["start: /a{1000000}/\n", "start: \"a\"~1000000\n", "start: A\nA: \"a\"~1000000\n"] {
            let mut matcher = matcher(text, mode);
            assert_eq!(mask(&mut matcher), "a", "{text}");
            assert_eq!(matcher.forced_bytes(), Ok(vec![b'a'; 2_048]));
            consume(&mut matcher, vec![b'a'; 10_000]);
            assert_eq!(mask(&mut matcher), "a", "{text}");
        }
        let squared = codes("start: (\"a\"~1000000)~1000000\n", mode);
        assert!(squared.is_empty() || squared == ["B001"], "{squared:?}");
    }
}

/// What is forced here has no end, and each byte of it makes a set with more to go back to.
#[test]
fn endless_forced_text() {
    let mut matcher = matcher("start: (start | b) start* (A | start)\nA: /(?<=a)a/\nb[lazy]: /b/\n", MODES[0]);
    assert_eq!(mask(&mut matcher), "b");
    let forced = matcher.forced_bytes().expect("it ends before a limit");
    assert!(forced.len() >= 100 && forced.iter().all(|&byte| byte == b'b'), "{forced:?}");
    consume(&mut matcher, &forced);
    assert_eq!(mask(&mut matcher), "b");
}

#[test]
fn empty_intersections() {
    for mode in MODES {
        // Whether 2^13 states are too many to decide it is the fuel's business.
        let x = "/[ab]*a[ab]{12}/";
        for other in [x, "/[ab]*a[ab]{6}[ab]{6}/", "/(a|b)*a(a|b){12}/", "/b*(ab*)*a[ab]{12}/"] {
            let found = codes(&format!("start: X\nX: {x} & ~{other}\n"), mode);
            assert!(found == ["P001"] || found == ["B002"], "{other}: {found:?}");
        }
        for width in [4, 20] {
            let found = codes(&format!("start: X\nX: /[ab]*a[ab]{{{width}}}/ & /[ab]*b[ab]{{{width}}}/\n"), mode);
            assert!(found == ["P001"] || width == 20 && found == ["B002"], "{width}: {found:?}");
        }
    }
}

/// Ignored text is reported where it swallows what must follow, not where the text can go on as something else.
#[test]
fn ignored_text_that_swallows() {
    let warnings = |text: &str| -> Vec<&'static str> {
        let linked = read(text, LexerMode::Longest).expect("it can be read");
        let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &EngineOptions::default()).expect("it is sound");
        let grammar = CompiledGrammar::compile(&shared, linked).expect("it compiles");
        grammar.warnings().iter().map(|warning| warning.code).collect()
    };
    let tag =
        |attribute: &str| format!("start: \"<a\" ATTRIBUTE+ \">\"\nATTRIBUTE: /{attribute}/\n%ignore /[ \\n]+/\n");
    assert_eq!(warnings(&tag(" id=[a-z]")), ["P003"]);
    assert_eq!(warnings(&tag("[ \\n]+id=[a-z]")), [""; 0]);
    assert_eq!(warnings("start: \"<\" thought\nthought[suffix=\">\"]: /(.|\\n)*/\n%ignore /[ \\n]+/\n"), [""; 0]);
}

#[test]
fn wide_intersections() {
    // As a product of what each operand may do next, one step of this takes seconds and gigabytes.
    let wide = |count: usize| (1..=count).map(|k| format!("/[ab]*a[ab]{{{k}}}/")).collect::<Vec<_>>().join(" & ");
    for mode in MODES {
        assert_eq!(mask(&mut matcher(&format!("start: X\nX: {}\n", wide(30)), mode)), "ab");
        for other in ["/[ab]*b{16}/", "/[ab]*b[ab]{14}/", "~/[ab]{5}.*/"] {
            let found = codes(&format!("start: X\nX: {} & {other}\n", wide(30)), mode);
            assert!(found == ["P001"] || found == ["B002"], "{other}: {found:?}");
        }
    }
}

#[test]
fn nested_counts() {
    for (text, unit, times) in [
        ("/(a{1,1000}){1,1000}/", "a", 3_000),
        ("/(a{1,50}b?){1,50}c/", "aab", 40),
        ("/((a{1,20}b?){1,20}c?){1,20}/", "aabac", 19),
        ("/([ab]{3,40}b?){5,50}c/", "ab", 800),
        ("/(([ab]{1,30}){2,30}b?){5,50}c/", "ab", 800),
    ] {
        for mode in MODES {
            let mut matcher = matcher(&format!("start: {text}\n"), mode);
            consume(&mut matcher, unit.repeat(times));
            assert!(mask(&mut matcher).contains('a'), "{text}");
        }
    }
}

#[test]
fn lexemes_that_swallow() {
    assert_eq!(codes("start: /a+/ \"ab\"\n", LexerMode::Longest), ["P004"]);
    let mut exact = matcher("start: /a+/ \"ab\"\n", LexerMode::Exact);
    assert_eq!(exact.forced_bytes(), Ok(b"aa".to_vec()));
    consume(&mut exact, "aaaab");
    assert!(exact.is_stopped());
    for mode in MODES {
        for ignored in ["/[ \\n]+/", "/\\n/", "\"\\n\""] {
            let mut newline = matcher(&format!("start: \"a\" NL \"b\"\nNL: \"\\n\"\n%ignore {ignored}\n"), mode);
            consume(&mut newline, "a");
            assert!(mask(&mut newline).contains('\n'));
            consume(&mut newline, "\n");
            assert!(mask(&mut newline).contains('b'), "{mode:?} {ignored}: {:?}", mask(&mut newline));
            consume(&mut newline, "b");
            assert_eq!(newline.is_accepting(), Ok(true));
        }
    }
}

#[test]
fn ambiguity() {
    for mode in MODES {
        let mut pairs = matcher("start: s\ns: s s | \"a\"\n", mode);
        for at in 0..2_000 {
            assert_eq!(mask(&mut pairs), if at == 0 { "a" } else { "a$" });
            consume(&mut pairs, "a");
        }
        assert_eq!(pairs.is_accepting(), Ok(true));
        assert!(pairs.grammar().stats().earley_sets < 100, "{:?}", pairs.grammar().stats());

        let mut triples = matcher("start: s\ns: s s s | s s | \"a\" | \"aa\" |\n", mode);
        consume(&mut triples, [b'a'; 2_000]);
        assert_eq!(mask(&mut triples), "a$");

        let mut captured = matcher("start: s\ns[capture]: s s | \"a\"\n", mode);
        consume(&mut captured, [b'a'; 2_000]);
        match captured.captures() {
            Ok(captures) => assert_eq!(captures.len(), 3_999),
            Err(error) => assert!(matches!(error, MatcherError::LimitExceeded { limit: "capture_work_max", .. })),
        }
        assert_eq!(mask(&mut captured), "a$");
    }
}

#[test]
fn optional_lists() {
    for mode in MODES {
        let mut options = matcher(&format!("start: {}\n", "\"a\"? ".repeat(200)), mode);
        for _ in 0..200 {
            assert_eq!(mask(&mut options), "a$");
            consume(&mut options, "a");
        }
        assert!(options.is_stopped());
        let distinct: String = (0..200).map(|i| format!("(\"a\" | \"b{i}\")? ")).collect();
        let mut options = matcher(&format!("start: {distinct}\n"), mode);
        consume(&mut options, [b'a'; 199]);
        assert_eq!(mask(&mut options), "ab$");
        consume(&mut options, "b199");
        assert!(options.is_stopped());
    }
}

#[test]
fn long_recursion() {
    const LEN: usize = 100_000;
    for mode in MODES {
        let grammars = [
            "start: \"a\" start | \"a\"\n",
            "start: start \"a\" | \"a\"\n",
            "start: b\nb: \"a\" c |\nc: \"a\" b | \"a\"\n",
            "start: e start | \"a\"\ne: \"a\" |\n",
        ];
        for text in grammars {
            let mut matcher = matcher(text, mode);
            consume(&mut matcher, vec![b'a'; LEN]);
            assert_eq!(mask(&mut matcher), "a$", "{text}");
            let stats = matcher.grammar().stats();
            assert!(stats.earley_sets < 100 && stats.lexer_states < 100, "{text}: {stats:?}");
            matcher.rollback(LEN).expect("there are as many");
            assert_eq!(matcher.step_count(), 0);
        }
    }
}

#[test]
fn deep_brackets() {
    const DEPTH: usize = 20_000;
    for mode in MODES {
        on_small_stack(move || {
            let mut matcher = matcher("start: \"(\" start \")\" | \"[\" start \"]\" | \"x\"\n", mode);
            let opened: Vec<u8> = (0..DEPTH).map(|i| b"(["[i % 3 % 2]).collect();
            for (at, byte) in opened.iter().enumerate() {
                if at % 100 == 0 {
                    assert_eq!(mask(&mut matcher), "([x");
                }
                consume(&mut matcher, [*byte]);
            }
            consume(&mut matcher, "x");
            for (at, byte) in opened.iter().rev().enumerate() {
                let close = if *byte == b'(' { ")" } else { "]" };
                if at % 100 == 0 {
                    assert_eq!(mask(&mut matcher), close);
                }
                consume(&mut matcher, close);
            }
            assert_eq!(matcher.stop_reason(), Some(StopReason::NoExtension));
        });
    }
}

#[test]
fn deep_captures() {
    const DEPTH: usize = 8_000;
    for mode in MODES {
        on_small_stack(move || {
            let mut matcher = matcher("start: s\ns[capture]: \"(\" s \")\" | \"x\"\n", mode);
            consume(&mut matcher, [b'('; DEPTH]);
            consume(&mut matcher, "x");
            consume(&mut matcher, [b')'; DEPTH]);
            let captures = matcher.captures().expect("it is not over the limit");
            assert_eq!(captures.len(), DEPTH + 1);
            assert_eq!((captures[0].start, captures[0].end), (DEPTH, DEPTH + 1));
            assert_eq!((captures[DEPTH].start, captures[DEPTH].end), (0, 2 * DEPTH + 1));
        });
    }
}

#[test]
fn dangling_else() {
    const DEPTH: usize = 1_000;
    for mode in MODES {
        let mut matcher = matcher("start: s\ns: \"i\" s | \"i\" s \"e\" s | \"x\"\n", mode);
        consume(&mut matcher, [b'i'; DEPTH]);
        assert_eq!(mask(&mut matcher), "ix");
        consume(&mut matcher, "x");
        for _ in 0..DEPTH {
            assert_eq!(mask(&mut matcher), "e$");
            consume(&mut matcher, "ex");
        }
        assert_eq!(matcher.stop_reason(), Some(StopReason::NoExtension));
    }
}

/// Everything can be empty and every nesting can end everywhere.
#[test]
fn nested_repetition_of_optional_rules() {
    for mode in MODES {
        let mut matcher = matcher("start: (b* c?)+\nb: c*\nc: (\"a\" b)*\n", mode);
        for len in 1..=1_000 {
            consume(&mut matcher, "a");
            if len % 250 == 0 {
                assert_eq!(mask(&mut matcher), "a$");
            }
        }
    }
}

/// Sets of megabytes, of which the search for lexemes that swallow others once made hundreds.
#[test]
fn optional_rules_that_call_each_other() {
    const RULES: usize = 10_000;
    let rules = lines(RULES, |i| {
        let (one, other) = (i * 7_919 % RULES, (i * i + 3) % RULES);
        format!("r{i}: [r{one}] [r{other}] \"x{i};\"\n")
    });
    for mode in MODES {
        let mut matcher = matcher(&format!("start: r1\n{rules}"), mode);
        assert_eq!(mask(&mut matcher), "x");
        // The one that the text starts with, or one inside of it.
        consume(&mut matcher, "x1;");
        assert_eq!(mask(&mut matcher), "x$");
    }
}

#[test]
fn circles_of_rules() {
    let circles = [
        ("start: start | \"a\"\n", "a"),
        ("start: b | \"a\"\nb: c\nc: start\n", "a"),
        ("start: b* \"a\"\nb: c*\nc: b?\n", "a"),
        ("start: b\nb: b b | c |\nc: b | \"a\"\n", "a$"),
        ("start: (((\"a\"*)*)*)*\n", "a$"),
        ("start: b*\nb: \"a\"?\n", "a$"),
        ("start: (b* c?)+\nb: c*\nc: (\"a\" b)*\n", "a$"),
        ("start: b~3..1000\nb: (\"a\"?)~0..1000\n", "a$"),
        ("start: b b b b b b b b \"a\"\nb: b? b? |\n", "a"),
    ];
    for mode in MODES {
        for (text, first) in circles {
            let mut matcher = matcher(text, mode);
            assert_eq!(mask(&mut matcher), first, "{text}");
            consume(&mut matcher, "a");
            assert_eq!(matcher.is_accepting(), Ok(true));
            if first.contains('$') {
                consume(&mut matcher, [b'a'; 200]);
                assert_eq!(mask(&mut matcher), "a$", "{text}");
            }
        }
        for text in ["start: start\n", "start: \"a\" start\n", "start: b\nb: c \"a\"\nc: b\n"] {
            assert_eq!(codes(text, mode), ["P001"], "{text}");
        }
    }
}

#[test]
fn parameters_with_many_values() {
    for mode in MODES {
        let mut permutation = {
            let bits = lines(60, |i| {
                let letter = char::from(b'0' + i as u8);
                format!("  | /\\x{:02x}/ perm::set_bit({i}) %if bit_clear({i})\n", letter as u8)
            });
            matcher(&format!("start: perm::0\nperm::_: \"\" %if is_ones([0:60])\n{bits}"), mode)
        };
        let all: Vec<u8> = (0..60).map(|i| b'0' + (i * 7 % 60) as u8).collect();
        consume(&mut permutation, &all[..59]);
        assert_eq!(mask(&mut permutation), char::from(all[59]).to_string());
        consume(&mut permutation, &all[59..]);
        assert!(permutation.is_stopped());

        // `.` first, so that each value is finished at once.
        let mut counter = matcher("start: n::0\nn::_: \".\" | \"x\" n::incr([0:64]) %if lt(_, 1000000000000)\n", mode);
        consume(&mut counter, [b'x'; 5_000]);
        assert_eq!(mask(&mut counter), ".x");

        let nowhere = "start: n::0\nn::_: \"x\" n::incr([0:64]) %if lt(_, 1000000000000)\n";
        let found = codes(nowhere, mode);
        assert!(found == ["P001"] || found == ["B002"], "{found:?}");
    }
}

#[test]
fn random_tokens() {
    let text = "start: value\nvalue: \"[\" [value (\",\" value)*] \"]\" | /[0-9]+/ | /\"[^\"]*\"/ | <[256]> \"!\"\n";
    for mode in MODES {
        let mut matcher = matcher(text, mode);
        let mut random = Random::new(1);
        for _ in 0..50_000 {
            let wide = random.any();
            let token = match wide >> 60 {
                0 => wide as u32,
                1 => [255, 256, 257, 258, u32::MAX, u32::MAX - 1, 1 << 31][wide as usize % 7],
                2..=7 => b"[],0\"19x"[wide as usize % 8].into(),
                8 => {
                    let (wanted, available) = (wide as usize % 5, matcher.step_count());
                    match matcher.rollback(wanted) {
                        Ok(()) => assert_eq!(matcher.step_count(), available - wanted),
                        Err(error) => assert_eq!(error, MatcherError::RollbackTooFar { wanted, available }),
                    }
                    continue;
                }
                _ => (wide % 257) as u32,
            };
            let (steps, len) = (matcher.step_count(), matcher.text().len());
            let allowed = matcher.is_allowed(token);
            match matcher.consume_token(token) {
                Ok(_) => assert_eq!((allowed, matcher.step_count()), (Ok(true), steps + 1)),
                Err(error) => {
                    assert_eq!((matcher.step_count(), matcher.text().len()), (steps, len));
                    match error {
                        MatcherError::UnknownToken { .. } => assert!(token > EOS && allowed == Err(error)),
                        MatcherError::TokenRejected { .. } => assert!(token <= EOS && allowed == Ok(false)),
                        MatcherError::Stopped => assert!(allowed == Ok(false)),
                        other => panic!("{other}"),
                    }
                }
            }
            if matcher.is_stopped() && random.one_in(2) {
                matcher.reset().expect("it starts");
            }
        }
    }
}

#[test]
fn after_the_end() {
    for mode in MODES {
        let mut matcher = matcher("start: \"ab\"\n", mode);
        assert_eq!(matcher.rollback(1), Err(MatcherError::RollbackTooFar { wanted: 1, available: 0 }));
        consume(&mut matcher, "ab");
        assert_eq!(matcher.stop_reason(), Some(StopReason::NoExtension));
        assert_eq!(matcher.consume_token(b'a'.into()), Err(MatcherError::Stopped));
        assert_eq!(mask(&mut matcher), "$");
        assert!(matcher.consume_token(EOS).expect("EOS still follows").stopped);
        for token in [b'a'.into(), EOS] {
            assert_eq!(matcher.consume_token(token), Err(MatcherError::Stopped));
            assert_eq!(matcher.is_allowed(token), Ok(false));
        }
        assert_eq!(matcher.consume_bytes(b"a"), Err(MatcherError::Stopped));
        assert_eq!(matcher.forced_bytes(), Ok(vec![]));
        let too_far = MatcherError::RollbackTooFar { wanted: usize::MAX, available: 3 };
        assert_eq!(matcher.rollback(usize::MAX), Err(too_far));
        assert_eq!(matcher.step_count(), 3);
        matcher.rollback(3).expect("there are three");
        assert_eq!(mask(&mut matcher), "a");
        let unknown = MatcherError::UnknownToken { token: 257, vocabulary_len: 257 };
        assert_eq!(matcher.process_prompt(&[97, 257]), Err(unknown));
        assert_eq!(mask(&mut matcher), "a");
    }
}

#[test]
fn long_histories() {
    for mode in MODES {
        on_small_stack(move || {
            let mut matcher = matcher("start: /a*/\n", mode);
            consume(&mut matcher, vec![b'a'; 1_000_000]);
            let fork = matcher.fork();
            drop(matcher);
            let mut other = fork.fork();
            drop(fork);
            other.rollback(999_999).expect("there are as many");
            assert_eq!(other.text(), b"a");
        });
    }
}

#[test]
fn forced_without_end() {
    let endless = "%larkspur { \"unproductive\": \"allow\" }\nstart: \"a\" start\n";
    for mode in MODES {
        let mut matcher = matcher(endless, mode);
        assert_eq!(mask(&mut matcher), "a");
        assert_eq!(matcher.forced_bytes(), Ok(vec![b'a'; 2_048]));
        assert_eq!(matcher.forced_tokens().map(|tokens| tokens.len() <= 2_048), Ok(true));
        consume(&mut matcher, [b'a'; 3_000]);
        assert_eq!(mask(&mut matcher), "a");
        matcher.reset().expect("it starts");
        matcher.process_prompt(b"prompt".map(u32::from).as_ref()).expect("the tokens are known");
    }
}

/// Behind the text of a `stop` that is read again stands that text, which is read again.
#[test]
fn stops_read_again_without_end() {
    let endless = "%larkspur { \"unproductive\": \"allow\" }\nstart: a start\na[stop=\"x\"]: \"\"";
    for mode in MODES {
        let mut matcher = matcher(endless, mode);
        for _ in 0..3 {
            assert_eq!(mask(&mut matcher), "x");
            assert_eq!(matcher.forced_bytes(), Ok(vec![b'x'; 2_048]));
            consume(&mut matcher, "x");
        }
        matcher.captures().expect("it is read anew");
    }
    for nested in [
        "start: a start \"y\" | \"x\"\na[stop=\"x\"]: \"\"",
        "start: a start \"y\" | b start \"z\" | \"x\"\na[stop=\"x\"]: \"\"\nb[stop=\"xx\"]: \"\"",
    ] {
        let mut matcher = matcher(nested, LexerMode::Exact);
        assert_eq!(matcher.forced_bytes(), Ok(b"x".to_vec()), "{nested}");
        consume(&mut matcher, "x");
        assert_eq!(matcher.is_accepting(), Ok(true), "{nested}");
        let mask = mask(&mut matcher);
        assert!(mask.contains('$'), "{nested}: {mask}");
        matcher.captures().expect("it is read anew");
    }
}

/// Each byte that is forced may belong to any of as many rules as there were bytes before it.
#[test]
fn forced_text_of_ambiguous_rules() {
    let text = "start: r T\nr: T r T | T | r\nT: /a(?=a)/\n%ignore T\n";
    let forced = matcher(text, LexerMode::Longest).forced_bytes().expect("it ends");
    assert!((64..2_048).contains(&forced.len()), "{}", forced.len());
    assert!(forced.iter().all(|&byte| byte == b'a'));
}
