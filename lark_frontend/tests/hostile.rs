//! Input that nobody means well: limits, depth, length, noise. Nothing panics, everything ends.

use larkspur_grammar::{Diagnostic, Limits, SourceMap, lints};
use larkspur_lark_frontend::{LarkOptions, Modules, Parsed, parse, parse_ast};
use proptest::prelude::*;

fn run(text: &str, limits: &Limits, face: bool) -> Parsed {
    let mut sources = SourceMap::new();
    let source = sources.add("hostile.lark", text);
    let options = LarkOptions { llguidance_face: face, ..LarkOptions::new(limits) };
    let parsed = parse(&mut sources, source, &options);
    assert_eq!(parsed.grammar.is_none(), parsed.diagnostics.iter().any(Diagnostic::is_error));
    assert!(parsed.diagnostics.len() <= limits.diagnostics_max + 1);
    for diagnostic in &parsed.diagnostics {
        for label in &diagnostic.labels {
            let (start, end) = (label.span.start as usize, label.span.end as usize);
            assert!(start <= end && text.get(start..end).is_some(), "{diagnostic:?} is not a place in {text:?}");
        }
    }
    if let Some(grammar) = &parsed.grammar {
        lints::lint(grammar);
        let _ = grammar.to_string();
    }
    let (tree, _) = parse_ast(&sources, source, &options);
    if let Some(tree) = tree {
        let _ = tree.dump(text);
    }
    parsed
}

fn codes(text: &str, limits: &Limits) -> Vec<&'static str> {
    run(text, limits, false).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn every_limit_is_met() {
    let limits = Limits {
        source_bytes_max: 5_000,
        grammar_depth_max: 10,
        grammar_symbols_max: 100,
        regex_nodes_max: 50,
        repeat_max: 20,
        diagnostics_max: 3,
        ..Limits::default()
    };
    assert_eq!(codes(&format!("start: \"{}\"", "a".repeat(5_000)), &limits), ["L090"]);
    let nested = |depth| format!("start: {}\"a\"{}", "(".repeat(depth), ")".repeat(depth));
    assert!(codes(&nested(10), &limits).is_empty());
    assert_eq!(codes(&nested(11), &limits), ["L093"]);
    assert_eq!(codes(&format!("start: {}", "\"a\" ".repeat(200)), &limits), ["L091"]);
    assert_eq!(codes(&format!("start: \"a\"{}", "| ".repeat(200)), &limits), ["L091"]);
    let doubled: String = (0..60).map(|i| format!("A{i}: A{} A{}\n", i + 1, i + 1)).collect();
    assert_eq!(codes(&format!("start: A0\n{doubled}A60: \"x\"\n"), &Limits::default()), ["L092"]);
    let strings: String = (0..60).map(|i| format!("\"{i}\" ")).collect();
    assert_eq!(codes(&format!("start: {strings}"), &limits), ["L092"]);
    assert_eq!(codes("start: \"a\"~20 \"b\"{0,20}", &limits), [""; 0]);
    assert_eq!(codes("start: \"a\"~21", &limits), ["L094"]);
    assert_eq!(codes("start: a b c d e f\n", &limits), ["L040", "L040", "L040", "L099"]);
    assert_eq!(codes(&"$".repeat(100), &limits).last(), Some(&"L099"));
}

/// Names that are long and all alike are not compared, and those of the most letters that are compared are not with all.
#[test]
fn names_alike() {
    for length in [2_000, 58] {
        let stem = "u".repeat(length);
        let used: String = (0..1_000).map(|i| format!(" {stem}{i}")).collect();
        let defined: String = (0..1_000).map(|i| format!("{stem}x{i}: \"a\"\n")).collect();
        let found = run(&format!("start:{used}\n{defined}"), &Limits::default(), false).diagnostics;
        assert!(found.iter().all(|one| one.message.len() < 150), "{length}");
        let near = found.iter().filter(|one| one.code == "L040" && one.help.is_some()).count();
        assert_eq!(near, if length > 64 { 0 } else { 100 });
    }
}

#[test]
fn without_a_rule() {
    for text in ["", "%declare X a\n", "%import common.WS -> ws\n", "t{x}: x\n"] {
        assert_eq!(codes(text, &Limits::default()), ["L045"], "{text}");
    }
}

#[test]
fn errors_go_before_warnings_at_the_limit() {
    let limits = Limits { diagnostics_max: 2, ..Limits::default() };
    assert_eq!(codes("start: \"\\d\" \"\\e\" \"\\g\" nope\n", &limits), ["L061", "L040", "L099"]);
}

/// Runs a test in a thread with a stack of 64 kB: nothing may recurse as deep as the text is nested.
fn on_a_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(test).expect("a thread starts");
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

#[test]
fn deep_nesting() {
    on_a_small_stack(|| nest_deeply(&Limits::default(), 200));
    on_a_small_stack(|| nest_deeply(&Limits { grammar_depth_max: 3_000, ..Limits::default() }, 3_000));
}

/// Texts that are nested as deep as `depth_max`, and deeper.
fn nest_deeply(limits: &Limits, depth_max: usize) {
    let deep = |open: &str, close: &str, depth: usize| format!("{}\"a\"{}", open.repeat(depth), close.repeat(depth));
    for depth in [depth_max - 1, depth_max, depth_max + 1, 5_000] {
        let expected: &[&str] = if depth <= depth_max { &[] } else { &["L093"] };
        for (open, close) in [("(", ")"), ("[", "]"), ("~(", ")"), ("(\"b\" & \"c\" | \"d\" ", "){2}")] {
            let text = format!("start: A\nA: {}\n", deep(open, close, depth));
            assert_eq!(codes(&text, limits), expected, "{open} {depth}");
        }
        for (open, close) in [("(", ")"), ("[\"x\" ", "]"), ("(\"b\" | \"c\" ", ")+")] {
            assert_eq!(codes(&format!("start: {}\n", deep(open, close, depth)), limits), expected, "{open} {depth}");
        }
        let nested = format!("start: {}\n", deep("(%lark { start: ", "})", depth / 2));
        assert_eq!(codes(&nested, limits), if depth <= depth_max + 1 { &[][..] } else { &["L093"] }, "{depth}");
        let conditions = format!("start: a::0\na::_: \"x\" %if {}true{}\n", "not(".repeat(depth), ")".repeat(depth));
        assert_eq!(codes(&conditions, limits), expected, "{depth}");
    }
    let tildes = format!("start: {}\"a\"\n", "~".repeat(100_001));
    assert!(codes(&tildes, limits).is_empty());
}

#[test]
fn long_input_takes_little_time() {
    let limits = Limits::default();
    let many = |count: usize, line: &dyn Fn(usize) -> String| (0..count).map(line).collect::<String>();
    let chain = many(50_000, &|i| format!("A{i}: A{} \"x\"\n", i + 1)) + "A50000: \"y\"\nstart: A0\n";
    let cycle = many(50_000, &|i| format!("A{i}: A{} \"x\"\n", (i + 1) % 50_000)) + "start: A0\n";
    let rules = many(50_000, &|i| format!("r{i}: r{} \"x\" | \"{i}\"\n", i + 1)) + "r50000: \"y\"\nstart: r0\n";
    let undefined = many(50_000, &|i| format!("rule_{i}: rule_x{i}\n"));
    let strings = "start: \"x\"\n".to_string() + &many(100_000, &|i| format!("  | \"literal {i}\"\n"));
    let terminal = "start: A\nA: \"x\"\n".to_string() + &many(100_000, &|i| format!("  | \"literal {i}\"\n"));
    let slashes = "start: \"a\"\n".to_string() + &"/\\/\n".repeat(200_000);
    let quotes = "\"\n".repeat(200_000);
    let angles = "<[\n".repeat(200_000);
    let triple = "\"\"\"".repeat(100_001);
    let json = "%json {".repeat(50_000);
    let braces = "start: %lark {".repeat(50_000);
    let bars = "start: ".to_string() + &"|\n".repeat(300_000);
    let classes = "start: ".to_string() + &"[a-b][c-d] /a/b \"x\"y ".repeat(30_000);
    let slips = "start: ".to_string() + &"/a[/ /*/ «{| ".repeat(30_000);
    let long = [chain, cycle, rules, undefined, strings, terminal, slashes, quotes, angles, triple, json, braces, bars];
    for text in long.into_iter().chain([classes, slips]) {
        let begin = std::time::Instant::now();
        run(&text, &limits, false);
        let took = begin.elapsed();
        println!("{took:?} for {:?}", &text[..40]);
        assert!(took.as_secs() < 20, "{took:?} for {}…", &text[..40]);
    }
}

/// Pieces of grammars, so that noise gets past the lexer.
const PIECES: &[&str] = &[
    "start",
    "a",
    "A",
    "b::_",
    "b::1",
    "::",
    ":",
    ": ",
    "|",
    "&",
    "~",
    "~2..3",
    "{2,3}",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "?",
    "*",
    "+",
    "\"x\"",
    "\"y\"i",
    "\"\\",
    "/r/",
    "/[/",
    "/(a|b)*/i",
    "//",
    "#",
    "..",
    ".",
    "->",
    "-> c",
    "%ignore ",
    "%import common.WS",
    "%import common (INT, ",
    "%json {\"a\": 1}",
    "%json {",
    "%regex { \"substring_chars\": \"ab\" }",
    "%lark {",
    "%lark { start: \"z\" }",
    "%llguidance {}",
    "%larkspur { \"lexer\": \"exact\" }",
    "%if ",
    "%if is_ones(_)",
    "%if and(true,",
    "<a>",
    "<[1-2]>",
    "<[^*",
    "@g",
    "[capture]",
    "[stop=\"x\", lazy]",
    "[max_tokens=3]",
    "\n",
    "\n  | ",
    "\n: ",
    ";",
    "“x”",
    "«",
    "[^a-z]+",
    "[a-é",
    "/a/b/",
    "/[/]/",
    "/*",
    "*/",
    "--",
    "def ",
    "(x): ",
    "(x=",
    "%import common.*",
    "import ",
    " ",
    "\\\n",
    "start: ",
    "\nA: ",
    "\na: ",
    "\nb::_: ",
    "1",
    "0xF",
    "é",
    "\r\n",
    "%declare X",
    "%override ",
    ".2",
    "_",
    ",",
    "=",
    "!",
    "?a",
    "-",
    "\u{0}",
    "\u{feff}",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise(bytes in proptest::collection::vec(any::<u8>(), 0..200), face: bool) {
        run(&String::from_utf8_lossy(&bytes), &Limits::default(), face);
    }

    #[test]
    fn pieces(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60), face: bool) {
        run(&pieces.concat(), &Limits::default(), face);
    }

    #[test]
    fn pieces_with_small_limits(pieces in proptest::collection::vec(proptest::sample::select(PIECES), 0..60), size in 1usize..20) {
        let limits = Limits {
            diagnostics_max: size, grammar_depth_max: size, grammar_symbols_max: size, regex_nodes_max: size, repeat_max: 2,
            ..Limits::default()
        };
        run(&pieces.concat(), &limits, false);
    }

    #[test]
    fn mutated_cases(topic in 0usize..4, cut in any::<prop::sample::Index>(), length in 0usize..40, at in any::<prop::sample::Index>()) {
        let texts = [
            include_str!("cases/rules.lark"), include_str!("cases/terminals.lark"),
            include_str!("cases/dialect.lark"), include_str!("cases/mistakes.lark"),
        ];
        let mut chars: Vec<char> = texts[topic].chars().collect();
        let cut = cut.index(chars.len());
        let piece: Vec<char> = chars.splice(cut..(cut + length).min(texts[topic].chars().count()), []).collect();
        let at = at.index(chars.len());
        chars.splice(at..at, piece);
        // A window, so that one mistake does not hide all others.
        let begin = at.saturating_sub(300);
        let text: String = chars[begin..(at + 300).min(chars.len())].iter().collect();
        run(&text, &Limits::default(), false);
    }
}

#[test]
fn templates() {
    on_a_small_stack(|| {
        let limits = Limits::default();
        let template = "t{x}: x | u{x}\nu{x}: \"(\" x \")\"\n";
        // As deep as brackets may be, and deeper.
        let nested = |depth| format!("start: {}\"a\"{}\n{template}", "t{".repeat(depth), "}".repeat(depth));
        assert_eq!(codes(&nested(200), &limits), [""; 0]);
        assert_eq!(codes(&nested(201), &limits), ["L093"]);
        assert_eq!(codes(&nested(100_000), &limits), ["L093"]);
        // Longer arguments each time, one and two of them.
        assert_eq!(codes("start: t{\"a\"}\nt{x}: t{u{x}}\nu{x}: x\n", &limits), ["L095"]);
        assert_eq!(codes("start: t{\"a\"}\nt{x}: t{u{x, x}}\nu{x, y}: x y\n", &limits), ["L095"]);
        // A long body in each instance.
        let long = format!("start: t{{\"a\"}}\nt{{x}}: t{{u{{x}}}} {}\nu{{x}}: x\n", "x ".repeat(5_000));
        assert_eq!(codes(&long, &limits), ["L091"]);
        // Many, each of the next.
        let chain: String = (0..9_000).map(|i| format!("t{i}{{x}}: \"(\" t{}{{x}} \")\"\n", i + 1)).collect();
        assert_eq!(codes(&format!("start: t0{{\"a\"}}\n{chain}t9000{{x}}: x\n"), &limits), [""; 0]);
        let uses: String = (0..20_000).map(|i| format!(" | t{{\"{i}\"}}")).collect();
        assert_eq!(codes(&format!("start: {}\nt{{x}}: x x\n", &uses[3..]), &limits), ["L095"]);
    });
}

#[test]
fn imports() {
    let import = |files: &[(String, String)], text: &str| -> Vec<&'static str> {
        let mut sources = SourceMap::new();
        let source = sources.add("hostile.lark", text);
        let (limits, modules) = (Limits::default(), Modules::map(files.iter().cloned()));
        let options = LarkOptions { modules: Some(&modules), ..LarkOptions::new(&limits) };
        parse(&mut sources, source, &options).diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    };
    let file = |name: String, text: String| (format!("{name}.lark"), text);
    on_a_small_stack(move || {
        let chain = |len: usize| -> Vec<(String, String)> {
            let link = |i: usize| file(format!("m{i}"), format!("a: b\nb: a | c\n%import .m{}.a -> c\n", i + 1));
            (0..len).map(link).chain([file(format!("m{len}"), "a: \"a\"".to_string())]).collect()
        };
        assert_eq!(import(&chain(199), "start: a\n%import .m0.a\n"), [""; 0]);
        assert_eq!(import(&chain(5_000), "start: a\n%import .m0.a\n"), ["L093"]);
        // Each imports two, which both import the next.
        let doubled: Vec<(String, String)> = (0..60)
            .flat_map(|i| {
                let both = format!("a: b c\n%import .l{i}.a -> b\n%import .r{i}.a -> c\n");
                let next = format!("a: b\n%import .m{}.a -> b\n", i + 1);
                [("m", both), ("l", next.clone()), ("r", next)].map(|(name, text)| file(format!("{name}{i}"), text))
            })
            .collect();
        assert_eq!(import(&doubled, "start: a\n%import .m0.a\n"), ["L096"]);
        let itself = vec![file("m".to_string(), "a: \"a\"\n%import .m.a -> b\n".to_string())];
        assert_eq!(import(&itself, "start: a\n%import .m.a\n"), ["L037"]);
        let wide: String = (0..10_000).map(|i| format!("r{i}: r{} \"x\"\n", (i + 1) % 10_000)).collect();
        let wide = vec![file("wide".to_string(), wide + "%override r9999: \"end\"\n")];
        assert_eq!(import(&wide, "start: r0\n%import .wide.r0\n"), [""; 0]);
        // A second name copies the definition.
        let large = vec![file("a".to_string(), format!("x: {}\n", "\"a\" ".repeat(5_000)))];
        let names: String = (0..999).map(|i| format!("%import .a.x -> x{i}\n")).collect();
        assert_eq!(import(&large, &format!("start: x0\n{names}")), ["L091"]);
        let many: Vec<(String, String)> = (0..900)
            .map(|i| {
                file(format!("m{i}"), (0..500).map(|j| format!("r{j}: r{} \"a\" \"b\"\n", (j + 1) % 500)).collect())
            })
            .collect();
        let names: String = (0..900).map(|i| format!("%import .m{i}.r0 -> x{i}\n")).collect();
        assert_eq!(import(&many, &format!("start: x0\n{names}")), ["L091"]);
        let missing: String = (0..10_000).map(|i| format!("%import .m{i}.a{i}\n")).collect();
        let found = import(&[], &format!("start: \"a\"\n{missing}"));
        assert_eq!((found.len(), found[99], found[100]), (101, "L031", "L099"));
    });
}
