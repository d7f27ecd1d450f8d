//! Captures: which derivation is preferred, what of a text counts, and that only the history matters.

use std::sync::Arc;

use larkspur_grammar::{LexerMode, Limits, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, parse};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherError, MatcherOptions, Shared};
use larkspur_toktrie::{TokenMask, Vocabulary};

const EOS: u32 = 256;
const THINK: u32 = 257;
const END: u32 = 258;
/// Tokens of several bytes, from id 259 on.
const PIECES: [&str; 8] = ["ab", "foo", "foo<e", "nd>", "<end>", "b,c", "aab", ".."];

fn vocabulary() -> Vocabulary {
    let mut builder = Vocabulary::builder();
    for byte in 0..=255u8 {
        builder.token(byte.into(), [byte]);
    }
    builder.special(EOS, "<eos>").eos(EOS).special(THINK, "<|think|>").special(END, "<|end|>");
    for (index, piece) in PIECES.iter().enumerate() {
        builder.token(259 + index as u32, piece);
    }
    builder.build().expect("the vocabulary is well-formed")
}

fn piece(text: &str) -> u32 {
    259 + PIECES.iter().position(|piece| *piece == text).expect("a piece") as u32
}

fn compile_with(texts: &[(&str, &str)], mode: Option<LexerMode>, limits: Limits) -> CompiledGrammar {
    let mut sources = SourceMap::new();
    let mut grammars = Vec::new();
    for &(name, text) in texts {
        let source = sources.add(name, text);
        let options = LarkOptions { lexer: mode, name, ..LarkOptions::new(&limits) };
        let parsed = parse(&mut sources, source, &options);
        grammars.push(parsed.grammar.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics)));
    }
    let linked = link(grammars, |_, _| unreachable!("no schemas")).expect("it links");
    let options = EngineOptions { limits, slices: Vec::new(), ..EngineOptions::default() };
    let shared = Shared::new(Arc::new(vocabulary()), &options).expect("no slices");
    CompiledGrammar::compile(&shared, linked).unwrap_or_else(|diagnostics| panic!("{diagnostics:#?}"))
}

fn compile(text: &str, mode: LexerMode) -> CompiledGrammar {
    compile_with(&[("", text)], Some(mode), Limits::default())
}

fn matcher(grammar: &CompiledGrammar) -> Matcher {
    Matcher::new(grammar, MatcherOptions::default()).expect("it starts")
}

fn backtracking(grammar: &CompiledGrammar) -> Matcher {
    let options = MatcherOptions { backtracking: true, max_tokens: None };
    Matcher::new(grammar, options).expect("it starts")
}

/// The captures as `name=text`, one after the other.
fn shown(matcher: &Matcher) -> String {
    let captures = matcher.captures().expect("within the limits");
    let text = matcher.text();
    let show = |capture: &larkspur_parser::Capture| {
        assert!(capture.start <= capture.end && capture.end <= text.len(), "{capture:?} is within the text");
        format!("{}={}", capture.name, String::from_utf8_lossy(&capture.bytes))
    };
    captures.iter().map(show).collect::<Vec<_>>().join(" ")
}

/// The captures after a text, which is read in one piece and byte by byte.
fn after(grammar: &CompiledGrammar, text: &str) -> String {
    let mut whole = matcher(grammar);
    whole.consume_bytes(text.as_bytes()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
    let mut bytes = matcher(grammar);
    for byte in text.bytes() {
        bytes.consume_token(byte.into()).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        shown(&bytes);
    }
    assert_eq!(shown(&whole), shown(&bytes), "{text:?}");
    shown(&whole)
}

/// Checks the captures after each text, in both lexer modes.
fn check_both(grammar: &str, expected: &[(&str, &str)]) {
    check(grammar, LexerMode::Longest, expected);
    check(grammar, LexerMode::Exact, expected);
}

fn check(grammar: &str, mode: LexerMode, expected: &[(&str, &str)]) {
    let compiled = compile(grammar, mode);
    for (text, captures) in expected {
        assert_eq!(after(&compiled, text), *captures, "{text:?}, {mode:?}, {grammar}");
    }
}

#[test]
fn rules_with_a_tail() {
    let rules = r#"
        with_stop[capture, stop="<end>"]: /.*/
        outer_stop[capture]: with_stop "<end>"
        outer_stop_problem[capture]: with_stop "b"
        with_suffix[capture, suffix="<end>"]: /.*/
        outer_suffix[capture]: with_suffix
        with_lazy[capture, lazy]: /.*<end>/
        outer_lazy[capture]: with_lazy
        with_both[stop="<end>", stop_capture="s"]: /.*/
        regex_stop[capture, stop=/<[a-z]+>/, stop_capture="s"]: /.*/
    "#;
    let case = |start: &str, text: &str, expected: &str| {
        check_both(&format!("start: {start}\n{rules}"), &[(text, expected)]);
    };
    case("with_stop", "foo<end>", "with_stop=foo");
    case("outer_stop", "foo<end>", "with_stop=foo outer_stop=foo<end>");
    case("outer_stop_problem", "foo<end>b", "with_stop=foo outer_stop_problem=foob");
    case("with_suffix", "foo<end>", "with_suffix=foo");
    case("outer_suffix", "foo<end>", "with_suffix=foo outer_suffix=foo<end>");
    case("with_lazy", "foo<end>", "with_lazy=foo<end>");
    case("outer_lazy", "foo<end>", "with_lazy=foo<end> outer_lazy=foo<end>");
    case("with_both", "foo<end>", "s=<end>");
    case("regex_stop \"!\"", "foo<end>!", "regex_stop=foo s=<end>");
    case("with_stop with_suffix", "foo<end>bar<end>", "with_stop=foo with_suffix=bar");
    // In the middle of the lexeme nothing has ended.
    case("outer_suffix", "foo<en", "");
}

#[test]
fn text_that_is_taken_back() {
    let grammar = compile(
        r#"start: outer
           outer[capture]: with_stop "b"
           with_stop[capture, stop="<end>", stop_capture="s"]: /.*/"#,
        LexerMode::Longest,
    );
    let mut matcher = backtracking(&grammar);
    matcher.consume_token(piece("foo<e")).unwrap();
    let consumed = matcher.consume_token(piece("nd>")).unwrap();
    assert_eq!(consumed.backtrack_tokens, 2);
    assert_eq!(matcher.text(), b"foo");
    assert_eq!(shown(&matcher), "with_stop=foo s=<end>");
    matcher.consume_token(piece("foo")).unwrap();
    matcher.consume_token(b'b'.into()).unwrap();
    assert_eq!(matcher.text(), b"foob");
    assert_eq!(shown(&matcher), "with_stop=foo s=<end> outer=foob");
    let captures = matcher.captures().unwrap();
    let spans: Vec<(usize, usize)> = captures.iter().map(|capture| (capture.start, capture.end)).collect();
    assert_eq!(spans, [(0, 3), (3, 3), (0, 4)]);
    assert_eq!(matcher.capture("s").unwrap().as_deref(), Some(&b"<end>"[..]));
}

#[test]
fn lists_and_rollback() {
    let grammar = compile("start: (w \",\")*\nw[capture]: /[a-z]+/", LexerMode::Longest);
    let mut matcher = matcher(&grammar);
    for byte in "ab,ab,c".bytes() {
        matcher.consume_token(byte.into()).unwrap();
    }
    assert_eq!(shown(&matcher), "w=ab w=ab");
    matcher.rollback(3).unwrap();
    assert_eq!(shown(&matcher), "w=ab");
    let mut fork = matcher.fork();
    fork.consume_bytes(b"x,yy,").unwrap();
    matcher.consume_token(piece("b,c")).unwrap();
    matcher.consume_token(b','.into()).unwrap();
    assert_eq!(shown(&matcher), "w=ab w=ab w=c");
    assert_eq!(shown(&fork), "w=ab w=ax w=yy");
    assert_eq!(matcher.capture("w").unwrap().as_deref(), Some(&b"c"[..]));
    assert_eq!(matcher.capture("v").unwrap(), None);
    matcher.consume_token(EOS).unwrap();
    assert_eq!(shown(&matcher), "w=ab w=ab w=c");
    matcher.reset().unwrap();
    assert_eq!(shown(&matcher), "");
}

#[test]
fn nested_rules_and_their_order() {
    check_both(
        "start: pair\npair[capture=\"p\"]: key \"=\" value\nkey[capture=\"k\"]: /[a-z]+/\nvalue[capture=\"v\"]: /[0-9]+/",
        &[("a=12", "k=a v=12 p=a=12"), ("a=", "k=a"), ("a", "")],
    );
    check_both(
        "start: e\ne[capture]: \"(\" e* \")\"",
        &[("(()())", "e=() e=() e=(()())"), ("(()(", "e=()"), ("((())", "e=() e=(())")],
    );
}

#[test]
fn ambiguous_alternatives() {
    check("start: (a | b) \".\"\na[capture]: /x+/\nb[capture]: \"xx\"", LexerMode::Exact, &[("xx.", "a=xx")]);
    check("start: (b | a) \".\"\na[capture]: /x+/\nb[capture]: \"xx\"", LexerMode::Exact, &[("xx.", "b=xx")]);
    check("start: (a | b) \".\"\na[capture]: /x+/\nb.2[capture]: \"xx\"", LexerMode::Exact, &[("xx.", "b=xx")]);
    check(
        "start: a \".\" | b+ \".\"\na[capture]: \"xx\"\nb.1[capture]: \"x\"",
        LexerMode::Exact,
        &[("xx.", "b=x b=x")],
    );
    check("start: a | b\na.-1[capture]: \"x\"\nb[capture]: \"x\"", LexerMode::Exact, &[("x", "b=x")]);
    // Strings that are gathered into one lexeme keep their places.
    check_both("start: (\"a\" | w | \"b\") \".\"\nw[capture]: \"b\"", &[("b.", "w=b"), ("a.", "")]);
    check_both("start: (\"a\" | \"b\" | w | \"c\") \".\"\nw[capture]: \"b\" | \"c\"", &[("b.", ""), ("c.", "w=c")]);
    // Of a text in progress, too.
    check(
        "start: a \".\" | b \"!\"\na[capture]: \"x\"\nb[capture]: \"x\"",
        LexerMode::Exact,
        &[("x", "a=x"), ("x!", "b=x")],
    );
    check_both(
        "start: s\ns[capture]: \"if\" s \"else\" s | \"if\" s | \"x\"",
        &[("ififxelsex", "s=x s=ifx s=x s=ififxelsex")],
    );
}

#[test]
fn longer_earlier_lexemes() {
    check("start: a b\na[capture]: /x+/\nb[capture]: /x+/", LexerMode::Exact, &[("xxx", "a=xx b=x")]);
    check_both("start: a* b*\na[capture]: \"x\"\nb[capture]: \"x\"", &[("xx", "a=x a=x")]);
    check("start: w+\nw[capture]: /xx?/", LexerMode::Exact, &[("xxxx", "w=xx w=xx"), ("xxx", "w=xx w=x")]);
    check("start: w+ \".\"\nw[capture]: /xx?/", LexerMode::Exact, &[("xxxx", "w=xx w=xx"), ("xxx.", "w=xx w=x")]);
    check(
        "start: a? b? c?\na[capture]: /x/\nb[capture]: /xx/\nc[capture]: /x/",
        LexerMode::Exact,
        &[("xxx", "a=x b=xx"), ("xxxx", "a=x b=xx c=x"), ("xx", "a=x c=x")],
    );
}

#[test]
fn empty_captures() {
    check_both("start: \"(\" w \")\"\nw[capture]: \"x\"?", &[("()", "w="), ("(x)", "w=x"), ("(", "")]);
    check_both("start: \"(\" w* \")\"\nw[capture]: \"x\"?", &[("(xx)", "w=x w=x"), ("()", "w=")]);
    check_both("start: a \"!\"\na[capture]: b b\nb[capture]: a | c?\nc[capture]: \"c\"", &[("!", "b= b= a=")]);
    let grammar = compile("start: \"(\" w \")\"\nw[capture]: \"x\"?", LexerMode::Longest);
    let mut matcher = matcher(&grammar);
    matcher.consume_bytes(b"()").unwrap();
    assert_eq!(matcher.captures().unwrap()[0].start, 1);
}

#[test]
fn circles_of_rules() {
    check_both("start: x \".\"\nx[capture]: y | \"a\"\ny[capture]: x | \"b\"", &[("a.", "x=a"), ("b.", "y=b x=b")]);
    check_both("start: x\nx[capture]: x x | \"a\"", &[("a", "x=a"), ("aa", "x=a x=a x=aa")]);
    check_both("start: x \".\"\nx[capture]: (x | \"a\")*", &[("aa.", "x=aa")]);
}

#[test]
fn ignored_text() {
    check_both(
        "start: \"(\" list \")\"\nlist[capture]: \"a\" \"b\" \"c\"?\n%ignore \" \"",
        &[("( a  b )", "list=a  b"), ("(a b c )", "list=a b c"), ("( a b ", "")],
    );
    check_both(
        "start: w+\nw[capture]: /[a-z]+/ \";\"\n%ignore /[ \\n]+/",
        &[(" a ;\n\nbc;  ", "w=a ; w=bc;"), (" a; b", "w=a;")],
    );
    check_both("start: w w\nw[capture]: \"a\"\n%ignore /#[^\\n]*\\n/", &[("a#a\n", "w=a"), ("a#a\na", "w=a w=a")]);
}

#[test]
fn left_and_right_recursion() {
    const COUNT: usize = 10_000;
    for (grammar, name, each) in [
        ("start: list\nlist: list \",\" w | w\nw[capture]: /[a-z]/", "left", 1),
        ("start: list\nlist: w \",\" list | w\nw[capture]: /[a-z]/", "right", 1),
        ("start: (w \",\")* w\nw[capture]: /[a-z]/", "repeated", 1),
        ("start: w (\",\" w)*\nw[capture]: x\nx[capture]: /[a-z]/", "nested", 2),
        ("start: list\nlist[capture]: w \",\" list | w\nw: /[a-z]/", "right, itself", 1),
        ("start: odd\nodd: w \",\" even | w\neven: w \",\" odd | w\nw[capture]: /[a-z]/", "mutual", 1),
    ] {
        for mode in [LexerMode::Longest, LexerMode::Exact] {
            let compiled = compile(grammar, mode);
            let mut matcher = matcher(&compiled);
            let text = vec!["a"; COUNT].join(",");
            matcher.consume_bytes(text.as_bytes()).unwrap();
            let captures = matcher.captures().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(captures.len(), each * COUNT, "{name}");
            // In progress.
            matcher.consume_bytes(b",").unwrap();
            let captures = matcher.captures().unwrap_or_else(|error| panic!("{name}: {error}"));
            let expected = if name == "right, itself" { 0 } else { each * COUNT };
            assert_eq!(captures.len(), expected, "{name} in progress");
        }
    }
}

#[test]
fn deep_nesting() {
    const DEPTH: usize = 10_000;
    let grammar = compile("start: e\ne: \"(\" e \")\" | x\nx[capture]: \"x\"", LexerMode::Longest);
    let mut matcher = matcher(&grammar);
    matcher.consume_bytes(&[b'('; DEPTH]).unwrap();
    assert_eq!(shown(&matcher), "");
    matcher.consume_bytes(b"x").unwrap();
    assert_eq!(shown(&matcher), "x=x");
    matcher.consume_bytes(&[b')'; DEPTH]).unwrap();
    assert_eq!(shown(&matcher), "x=x");
}

#[test]
fn the_limit() {
    let limits = Limits { capture_work_max: 10_000, ..Limits::default() };
    let compiled = compile_with(&[("", "start: w+\nw[capture]: /x+/")], Some(LexerMode::Exact), limits);
    let mut matcher = matcher(&compiled);
    matcher.consume_bytes(&[b'x'; 10]).unwrap();
    assert_eq!(shown(&matcher), "w=xxxxxxxxxx");
    matcher.consume_bytes(&[b'x'; 1000]).unwrap();
    let error = MatcherError::LimitExceeded { limit: "capture_work_max", value: 10_000 };
    assert_eq!(matcher.captures(), Err(error));
}

#[test]
fn tokens_as_letters() {
    let text = "start: <|think|> t <|end|> w*\nt[capture]: /[a-z]*/ | any\nany[capture]: <[0-255]>\nw[capture]: x\nx[capture]: <[259]>";
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let compiled = compile(text, mode);
        let mut matcher = matcher(&compiled);
        matcher.consume_tokens(&[THINK, u32::from(b'a'), u32::from(b'b'), END]).unwrap();
        assert_eq!(shown(&matcher), "t=ab");
        matcher.rollback(4).unwrap();
        // Read as a letter and as text.
        matcher.consume_tokens(&[THINK, u32::from(b'a'), END]).unwrap();
        assert_eq!(shown(&matcher), "t=a");
        matcher.rollback(2).unwrap();
        // Only a letter: no text.
        matcher.consume_tokens(&[u32::from(b'A'), END, piece("ab")]).unwrap();
        assert_eq!(matcher.text(), b"");
        assert_eq!(shown(&matcher), "any= t= x= w=");
    }
}

#[test]
fn nested_grammars() {
    check_both(
        "start: \"<\" inner \">\"\ninner[capture]: %lark {\nstart: w (\",\" w)*\nw[capture]: /[a-z]+/\n%ignore \"_\"\n}\n%ignore \" \"",
        &[("< a_,b >", "w=a w=b inner=a_,b"), ("<a,", "w=a")],
    );
    let compiled = compile_with(
        &[("", "start: a \"!\"\na[capture]: @other"), ("other", "start: b+\nb[capture]: \"b\"")],
        None,
        Limits::default(),
    );
    assert_eq!(after(&compiled, "bb!"), "b=b b=b a=bb");
}

#[test]
fn budgets() {
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let compiled = compile("start: t \"!\" w\nt[capture, max_tokens=3]: (w \",\")*\nw[capture]: /[a-z]+/", mode);
        let mut one = matcher(&compiled);
        for byte in "ab,".bytes() {
            one.consume_token(byte.into()).unwrap();
        }
        assert_eq!(shown(&one), "w=ab t=ab,", "{mode:?}");
        one.consume_bytes(b"!x").unwrap();
        one.consume_token(EOS).unwrap();
        assert_eq!(shown(&one), "w=ab t=ab, w=x");
        // In the middle of a lexeme.
        let mut two = matcher(&compiled);
        for byte in "a,b".bytes() {
            two.consume_token(byte.into()).unwrap();
        }
        assert_eq!(shown(&two), "w=a t=a,b", "{mode:?}");
        two.consume_bytes(b"!x").unwrap();
        assert_eq!(shown(&two), "w=a t=a,b w=x");
        // It may end before.
        let mut three = matcher(&compiled);
        three.consume_tokens(&[u32::from(b'!'), u32::from(b'x')]).unwrap();
        assert_eq!(shown(&three), "t= w=x");
    }
    let compiled = compile("start: t \"!\"\nt[capture, max_tokens=2]: t \"a\" | \"a\"", LexerMode::Longest);
    let mut matcher = matcher(&compiled);
    matcher.consume_bytes(b"a").unwrap();
    matcher.consume_tokens(&[u32::from(b'a'), u32::from(b'a')]).unwrap();
    matcher.consume_bytes(b"!").unwrap();
    assert_eq!(shown(&matcher), "t=a t=aa t=aaa");
}

#[test]
fn parameters() {
    check_both(
        "start: list::0\nlist::_: a list::incr([0:2]) %if lt([0:2], 2) | b %if eq([0:2], 2)\na[capture]: \"x\"\nb[capture]: \"x\"",
        &[("xxx", "a=x a=x b=x"), ("xx", "a=x a=x")],
    );
}

#[test]
fn texts_in_progress() {
    // A lexeme that may go on has not ended; one that cannot has.
    check_both("start: w \".\"\nw[capture]: /[a-z]+/", &[("ab", ""), ("ab.", "w=ab")]);
    check_both("start: w \".\"\nw[capture]: \"ab\"", &[("a", ""), ("ab", "w=ab")]);
    // An accepted text is whole.
    check_both("start: w\nw[capture]: /[a-z]+/", &[("ab", "w=ab")]);
    check_both(
        "start: a b \".\"\na[capture]: w w?\nb[capture]: w\nw[capture]: \"x\"",
        &[("x", "w=x"), ("xx", "w=x w=x a=xx")],
    );
    check_both(
        "start: r+ \".\"\nr[capture]: k \":\" v \";\"\nk[capture]: /[a-z]+/\nv[capture]: /[0-9]+/",
        &[("a:1;b", "k=a v=1 r=a:1;"), ("a:1;b:", "k=a v=1 r=a:1; k=b"), ("a:1;b:2", "k=a v=1 r=a:1; k=b")],
    );
}

/// What was asked of a grammar before numbers its states otherwise, which must not decide between readings of a text.
#[test]
fn captures_depend_on_nothing_but_the_text() {
    let masks = |grammar: &CompiledGrammar, tokens: &[u32]| {
        let mut other = matcher(grammar);
        let mut mask = TokenMask::new(grammar.shared().vocabulary().len());
        other.compute_mask(&mut mask).expect("a mask");
        for &token in tokens {
            other.consume_token(token).expect("it is allowed");
            other.compute_mask(&mut mask).expect("a mask");
        }
    };
    let byte = |text: &str| -> Vec<u32> { text.bytes().map(u32::from).collect() };
    let budget = "start[max_tokens=1]: r+ U\nr[capture]: \"ab\" | \"a\"\nU: /[a-c]{2}/";
    let cases = [
        ("start: (/[ac]/ | p) \"c\"\np[capture]: <[97]>", byte("a"), vec![], ""),
        ("start: (\"a\" | p) \"c\"\np[capture]: <[97]>", byte("a"), vec![], ""),
        (budget, vec![piece("ab")], vec![], "r=a"),
        (budget, vec![piece("aab")], vec![], "r=a r=a"),
        ("start: r \"c\"\nr[capture]: (\"b.\" | /[b]/ | r) \".\"", byte("b."), byte("b."), ""),
        ("start: r \"c\"\nr[capture]: (\"b.\" | /[b]/ | r) \".\"", byte("b."), vec![98, piece("..")], ""),
    ];
    for (text, tokens, others, expected) in cases {
        for asked in [false, true] {
            let grammar = compile(text, LexerMode::Exact);
            if asked {
                masks(&grammar, &[]);
                masks(&grammar, &others);
            }
            let mut matcher = matcher(&grammar);
            for &token in &tokens {
                matcher.consume_token(token).expect("it is allowed");
            }
            assert_eq!(shown(&matcher), expected, "{text} asked: {asked}");
        }
    }
}
