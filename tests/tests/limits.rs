//! Every field of `Limits` is met once, with a small value: the error names it, and the matcher is where it was.

use std::sync::Arc;

use larkspur_grammar::{Diagnostic, LexerMode, Limits, LinkedGrammar, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, Modules, parse};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherError, MatcherOptions, Shared};
use larkspur_toktrie::{TokenMask, Vocabulary};

/// The fields met by the tests of this file, which are named after them.
const MET: [&str; 30] = [
    "source_bytes_max",
    "diagnostics_max",
    "grammar_depth_max",
    "grammar_imports_max",
    "template_instances_max",
    "block_width_max",
    "written_symbols_max",
    "grammar_symbols_max",
    "regex_nodes_max",
    "look_work_max",
    "repeat_max",
    "regex_emptiness_fuel",
    "lexer_row_emptiness_fuel",
    "lexer_row_work_max",
    "lexer_work_max",
    "expressions_max",
    "lexer_states_max",
    "earley_sets_max",
    "earley_bytes_max",
    "earley_set_work_max",
    "earley_work_max",
    "threads_max",
    "ignored_places_max",
    "mask_work_max",
    "param_fuel",
    "mask_cache_bytes_max",
    "term_cache_bytes_max",
    "forced_bytes_max",
    "text_bytes_max",
    "capture_work_max",
];

/// Fields that only the front end for JSON Schema looks at, which this package does not know.
const OF_JSON_SCHEMA: [&str; 8] = [
    "schema_nodes_max",
    "schema_alternatives_max",
    "schema_documents_max",
    "schema_documents_bytes_max",
    "schema_work_max",
    "schema_choices_max",
    "schema_search_max",
    "schema_unique_depth_max",
];

/// Fields of which `larkspur/tests/recent.rs` and `larkspur/tests/inner_texts.rs` have the tests.
const OF_THE_FACADE: [&str; 2] = ["inner_texts_max", "grammars_kept_bytes_max"];

/// A terminal whose automaton has 2^13 states: the thirteenth letter from the end is `a`.
const WIDE: &str = "/[ab]*a[ab]{12}/";

/// The errors of a Lark text.
fn front_end(text: &str, limits: &Limits) -> Vec<Diagnostic> {
    let mut sources = SourceMap::new();
    let source = sources.add("limits.lark", text);
    let parsed = parse(&mut sources, source, &LarkOptions::new(limits));
    parsed.diagnostics.into_iter().filter(Diagnostic::is_error).collect()
}

fn linked(text: &str, mode: LexerMode) -> LinkedGrammar {
    let limits = Limits::default();
    let mut sources = SourceMap::new();
    let source = sources.add("limits.lark", text);
    let parsed = parse(&mut sources, source, &LarkOptions { lexer: Some(mode), ..LarkOptions::new(&limits) });
    let grammar = parsed.grammar.unwrap_or_else(|| panic!("{:#?}", parsed.diagnostics));
    link(vec![grammar], |_, _| unreachable!("no schemas")).expect("nothing to link")
}

/// Compiles for the single bytes, without slices, so that masks walk the whole trie and regexes are the grammar's own.
fn compile(text: &str, mode: LexerMode, limits: Limits) -> Result<CompiledGrammar, Vec<Diagnostic>> {
    let vocabulary = Arc::new(Vocabulary::single_bytes());
    let shared = Shared::new(vocabulary, &EngineOptions { limits, slices: vec![], ..EngineOptions::default() })
        .expect("there are no slices");
    CompiledGrammar::compile(&shared, linked(text, mode))
}

fn matcher(text: &str, mode: LexerMode, limits: Limits) -> Matcher {
    let grammar = compile(text, mode, limits).unwrap_or_else(|errors| panic!("{errors:#?}"));
    Matcher::new(&grammar, MatcherOptions::default()).expect("it starts")
}

fn assert_names(diagnostics: &[Diagnostic], code: &str, limit: &str) {
    let quoted = format!("`{limit}`");
    let names = |d: &Diagnostic| d.message.contains(&quoted) || d.help.as_ref().is_some_and(|h| h.contains(&quoted));
    assert!(diagnostics.iter().any(|d| d.is_error() && d.code == code && names(d)), "{limit}: {diagnostics:#?}");
}

fn exceeded(limit: &'static str, value: u64) -> MatcherError {
    MatcherError::LimitExceeded { limit, value }
}

fn mask(matcher: &mut Matcher) -> Result<Vec<u32>, MatcherError> {
    let mut mask = TokenMask::new(matcher.grammar().shared().vocabulary().len());
    let result = matcher.compute_mask(&mut mask);
    assert!(result.is_ok() || mask.is_empty(), "after an error the mask is empty");
    result.map(|()| mask.iter().collect())
}

/// All that can be seen of where a matcher is. Where the tables are full, some of it is out of reach, before and after
/// the limit is met.
#[derive(PartialEq, Debug)]
struct Place {
    text: Vec<u8>,
    steps: usize,
    accepting: Result<bool, MatcherError>,
    mask: Result<Vec<u32>, MatcherError>,
}

fn place(matcher: &mut Matcher) -> Place {
    let accepting = matcher.is_accepting();
    Place { text: matcher.text(), steps: matcher.step_count(), accepting, mask: mask(matcher) }
}

/// Feeds `letters` in turn until one is refused, which must be for the limit; before it and after it the matcher is at
/// the same place, and everything can be taken back.
fn consume_until(matcher: &mut Matcher, letters: impl Iterator<Item = u8>, error: &MatcherError) {
    let at_start = place(matcher);
    let mut met = false;
    for byte in letters {
        let before = place(matcher);
        match matcher.consume_bytes(&[byte]) {
            Ok(()) => continue,
            Err(refused) => assert_eq!(&refused, error),
        }
        assert_eq!(place(matcher), before);
        let token = u32::from(byte);
        assert_eq!(matcher.consume_token(token), Err(error.clone()));
        assert_eq!(matcher.consume_tokens(&[token]), Err(error.clone()));
        assert_eq!(matcher.try_consume_tokens(&[token]), Err(error.clone()));
        assert_eq!(matcher.validate_tokens(&[token]), Err(error.clone()));
        assert_eq!(matcher.is_allowed(token), Err(error.clone()));
        assert_eq!(place(matcher), before);
        if let Some(&last) = before.text.last() {
            matcher.rollback(1).expect("there is one");
            matcher.consume_bytes(&[last]).expect("it is known");
            assert_eq!(place(matcher), before);
        }
        met = true;
        break;
    }
    assert!(met, "{error} is never met");
    matcher.rollback(matcher.step_count()).expect("as many as there are");
    assert_eq!(place(matcher), at_start);
}

#[test]
fn source_bytes_max() {
    let limits = Limits { source_bytes_max: 20, ..Limits::default() };
    assert!(front_end("start: \"123456789\"\n", &limits).is_empty());
    assert_names(&front_end("start: \"123456789012\"\n", &limits), "L090", "source_bytes_max");
}

#[test]
fn diagnostics_max() {
    let limits = Limits { diagnostics_max: 3, ..Limits::default() };
    let errors = front_end("start: a b c d e\n", &limits);
    assert_eq!(errors.len(), 4);
    assert_names(&errors, "L099", "diagnostics_max");
    assert_eq!(front_end("start: a b c\n", &limits).len(), 3);
}

#[test]
fn grammar_depth_max() {
    let limits = Limits { grammar_depth_max: 5, ..Limits::default() };
    for (open, close) in [("(", ")"), ("[", "]")] {
        let nested = |depth| format!("start: {}\"a\"{}\n", open.repeat(depth), close.repeat(depth));
        assert!(front_end(&nested(5), &limits).is_empty());
        assert_names(&front_end(&nested(6), &limits), "L093", "grammar_depth_max");
    }
    let regex = |depth| format!("start: /{}a{}/\n", "(".repeat(depth), ")".repeat(depth));
    assert!(front_end(&regex(5), &limits).is_empty());
    assert_names(&front_end(&regex(6), &limits), "R031", "grammar_depth_max");
}

#[test]
fn grammar_imports_max() {
    let limits = Limits { grammar_imports_max: 3, ..Limits::default() };
    let import = |module: &str| format!("start: A\n%import .{module}.A\n");
    let modules = Modules::map([
        ("one.lark", "A: B C\n%import .two.B\n%import .three.C\n"),
        ("two.lark", "B: C\n%import .three.C\n"),
        ("three.lark", "C: \"c\"\n"),
    ]);
    let errors = |limits: &Limits| {
        let mut sources = SourceMap::new();
        let source = sources.add("limits.lark", import("one"));
        let options = LarkOptions { modules: Some(&modules), ..LarkOptions::new(limits) };
        parse(&mut sources, source, &options).diagnostics
    };
    // `three` is counted twice.
    assert_names(&errors(&limits), "L096", "grammar_imports_max");
    assert_eq!(errors(&Limits { grammar_imports_max: 4, ..Limits::default() }), []);
}

#[test]
fn template_instances_max() {
    let endless = "start: t{\"a\"}\nt{x}: x | t{u{x}}\nu{x}: x x\n";
    assert_names(&front_end(endless, &Limits::default()), "L095", "template_instances_max");
    let limits = Limits { template_instances_max: 2, ..Limits::default() };
    assert!(front_end("start: t{\"a\"} t{\"b\"} t{\"a\"}\nt{x}: x x\n", &limits).is_empty());
    let three = "start: t{\"a\"} t{\"b\"} t{\"c\"}\nt{x}: x x\n";
    assert_names(&front_end(three, &limits), "L095", "template_instances_max");
}

#[test]
fn block_width_max() {
    let text = |width: u32| {
        format!(
            "%larkspur {{ \"indenter\": {{ \"width_max\": {width} }} }}\nstart: \"a\" _NEWLINE [_INDENT start+ _DEDENT]\n\
             _NEWLINE: /\\n */\n%declare _INDENT _DEDENT\n"
        )
    };
    let limits = Limits { block_width_max: 5, ..Limits::default() };
    assert!(front_end(&text(5), &limits).is_empty());
    assert_names(&front_end(&text(6), &limits), "L085", "block_width_max");
}

#[test]
fn written_symbols_max() {
    let limits = Limits { written_symbols_max: 50, ..Limits::default() };
    let rules = |count: usize| (0..count).map(|i| format!("r{i}: r{} \"a\"\n", i + 1)).collect::<String>();
    let chain = |count: usize| format!("start: r0\n{}r{count}: \"b\"\n", rules(count));
    assert!(front_end(&chain(7), &limits).is_empty());
    // Of rules that were not read any more nothing is said.
    let errors = front_end(&chain(20), &limits);
    assert_eq!(errors.len(), 1, "{errors:#?}");
    assert_names(&errors, "L091", "written_symbols_max");
    // What is written out later has a limit of its own.
    assert!(front_end("start: (\"a\" b)~1000\nb: \"b\"\n", &limits).is_empty());
}

#[test]
fn grammar_symbols_max() {
    let limits = Limits { grammar_symbols_max: 50, ..Limits::default() };
    let list = format!("start: {}\n", "\"a\" ".repeat(60));
    assert_names(&front_end(&list, &limits), "L091", "grammar_symbols_max");
    // Counts are written out, and scopes copied, only when a grammar is lowered.
    for text in ["start: (\"a\" b)~1000\nb: \"b\"\n", "start: a\na[max_tokens=3]: (\"a\" b)~1000\nb: \"b\"\n"] {
        assert!(front_end(text, &limits).is_empty());
        let few = Limits { grammar_symbols_max: 12, ..Limits::default() };
        for mode in [LexerMode::Longest, LexerMode::Exact] {
            assert_names(&compile(text, mode, few.clone()).unwrap_err(), "B001", "grammar_symbols_max");
        }
    }
    // Each rule goes on for ever if the next one does, which shows one after the other.
    let chain = |len: usize| {
        let mut text = "%larkspur { \"unproductive\": \"allow\" }\nstart: \"b\" | \"x\" x0\n".to_owned();
        for at in 0..len {
            text += &format!("x{at}: \"a\" x{at} x{} | again{at}\nagain{at}: x{at}\n", at + 1);
        }
        text + &format!("x{len}: x{len}\n")
    };
    let compiled = |len, limits| compile(&chain(len), LexerMode::Exact, limits);
    assert!(compiled(200, Limits::default()).is_ok());
    assert_names(&compiled(5_000, Limits::default()).expect_err("too many looks"), "B002", "grammar_symbols_max");
}

#[test]
fn regex_nodes_max() {
    let limits = Limits { regex_nodes_max: 50, ..Limits::default() };
    let strings: String = (0..60).map(|i| format!("\"{i}\" ")).collect();
    assert_names(&front_end(&format!("start: {strings}\n"), &limits), "L092", "regex_nodes_max");
    let regex = format!("start: /{}/\n", "a|[bc]d".repeat(60));
    assert_names(&front_end(&regex, &limits), "R032", "regex_nodes_max");
}

#[test]
fn look_work_max() {
    // Each alone takes less, and all together.
    let text = |count: usize| {
        let names: Vec<String> = (0..count).map(|i| format!("A{i}")).collect();
        let terminals: String =
            (0..count).map(|i| format!("A{i}: /(?=.*[A-Z])(?=.*[0-9]).{{3,{}}}/\n", 9 + i)).collect();
        format!("start: {}\n{terminals}", names.join(" | "))
    };
    let limits = Limits { look_work_max: 200_000, ..Limits::default() };
    assert!(front_end(&text(1), &limits).is_empty());
    assert!(front_end(&text(5), &Limits::default()).is_empty());
    let errors = front_end(&text(5), &limits);
    assert_names(&errors, "R023", "look_work_max");
    assert!(errors.len() < 5, "the first of them are right: {errors:#?}");
    let alone = front_end(&text(1), &Limits { look_work_max: 2_000, ..limits });
    assert_names(&alone, "R023", "look_work_max");
}

#[test]
fn repeat_max() {
    let limits = Limits { repeat_max: 20, ..Limits::default() };
    assert!(front_end("start: \"a\"~20 \"b\"{0,20} /c{20}/\n", &limits).is_empty());
    assert_names(&front_end("start: \"a\"~21\n", &limits), "L094", "repeat_max");
    assert_names(&front_end("start: \"a\"{0,21}\n", &limits), "L094", "repeat_max");
    assert_names(&front_end("start: /a{21}/\n", &limits), "R009", "repeat_max");
}

#[test]
fn regex_emptiness_fuel() {
    let text = format!("start: X\nX: {WIDE} & ~/[ab]*b[ab]{{12}}/\n");
    let limits = Limits { regex_emptiness_fuel: 10, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        assert_names(&compile(&text, mode, limits.clone()).unwrap_err(), "B002", "regex_emptiness_fuel");
    }
}

#[test]
fn lexer_row_emptiness_fuel() {
    // Of so many operands no text is remembered.
    let but_for: String = (3..9).map(|count| format!(" & ~/[ab]*b[ab]{{{count}}}/")).collect();
    let text = format!("start: X\nX: {WIDE}{but_for}\n");
    let limits = Limits { lexer_row_emptiness_fuel: 20, ..Limits::default() };
    assert_names(&compile(&text, LexerMode::Longest, limits.clone()).unwrap_err(), "B002", "lexer_row_emptiness_fuel");
    let mut matcher = matcher(&text, LexerMode::Exact, limits);
    let error = exceeded("lexer_row_emptiness_fuel", 20);
    assert_eq!(mask(&mut matcher), Err(error.clone()));
    consume_until(&mut matcher, b"ab".iter().copied().cycle().take(100), &error);
}

#[test]
fn lexer_row_work_max() {
    let text = "start: X\nX: /[ab]*a[ab]{300}/\n";
    // What a single step may take, too.
    let limits = Limits { lexer_row_work_max: 100, ..Limits::default() };
    let mut matcher = matcher(text, LexerMode::Exact, limits);
    consume_until(&mut matcher, noise().take(1_000), &exceeded("lexer_row_work_max", 100));
}

#[test]
fn lexer_work_max() {
    let text = "start: X\nX: /[ab]*a[ab]{300}/\n";
    let limits = Limits { lexer_work_max: 300, ..Limits::default() };
    let mut matcher = matcher(text, LexerMode::Exact, limits.clone());
    let before = place(&mut matcher);
    let error = matcher.consume_bytes(&[b'a'; 120]).expect_err("it takes more");
    assert_eq!(error, exceeded("lexer_work_max", 300));
    assert!(error.to_string().contains("terminals that may stand here") && error.to_string().contains("raise it"));
    assert_eq!(place(&mut matcher), before);
    // Each question may take as much.
    for _ in 0..120 {
        matcher.consume_bytes(b"a").expect("it is a short one");
    }
    let few = Limits { lexer_work_max: 0, ..limits };
    let mut matcher = self::matcher(text, LexerMode::Exact, few);
    consume_until(&mut matcher, noise().take(1_000), &exceeded("lexer_work_max", 0));
}

#[test]
fn expressions_max() {
    let text = format!("start: X\nX: {WIDE}\n");
    let few = Limits { expressions_max: 3, ..Limits::default() };
    assert_names(&compile(&text, LexerMode::Exact, few).unwrap_err(), "B002", "expressions_max");
    let limits = Limits { expressions_max: 300, ..Limits::default() };
    let mut matcher = matcher(&text, LexerMode::Exact, limits);
    consume_until(&mut matcher, noise().take(100_000), &exceeded("expressions_max", 300));
}

#[test]
fn lexer_states_max() {
    let text = format!("start: X\nX: {WIDE}\n");
    let limits = Limits { lexer_states_max: 200, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher(&text, mode, limits.clone());
        consume_until(&mut matcher, noise().take(100_000), &exceeded("lexer_states_max", 200));
    }
    let few = Limits { lexer_states_max: 1, ..Limits::default() };
    assert_names(&compile(&text, LexerMode::Exact, few).unwrap_err(), "B002", "lexer_states_max");
}

const NESTED: &str = "start: \"(\" start \")\" | \"x\"\n";

#[test]
fn earley_sets_max() {
    let limits = Limits { earley_sets_max: 100, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher(NESTED, mode, limits.clone());
        consume_until(&mut matcher, std::iter::repeat_n(b'(', 1_000), &exceeded("earley_sets_max", 100));
        let few = Limits { earley_sets_max: 1, ..Limits::default() };
        assert_names(&compile(NESTED, mode, few).unwrap_err(), "B002", "earley_sets_max");
    }
    // Lists of threads count as sets.
    let mut matcher = matcher("start: A*\nA: /a{1,500}/\n", LexerMode::Exact, limits);
    consume_until(&mut matcher, std::iter::repeat_n(b'a', 1_000), &exceeded("earley_sets_max", 100));
}

#[test]
fn earley_bytes_max() {
    let limits = Limits { earley_bytes_max: 50_000, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher(NESTED, mode, limits.clone());
        consume_until(&mut matcher, std::iter::repeat_n(b'(', 10_000), &exceeded("earley_bytes_max", 50_000));
    }
    // Lists of threads count besides.
    let mut threads = matcher("start: A*\nA: /a{1,500}/\n", LexerMode::Exact, limits.clone());
    consume_until(&mut threads, std::iter::repeat_n(b'a', 1_000), &exceeded("earley_bytes_max", 50_000));
    // A matcher that begins when the tables are half full has new ones.
    let grammar = compile(NESTED, LexerMode::Longest, limits).expect("it compiles");
    for _ in 0..3 {
        let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
        consume_until(&mut matcher, std::iter::repeat_n(b'(', 10_000), &exceeded("earley_bytes_max", 50_000));
    }
}

#[test]
fn earley_set_work_max() {
    let names: Vec<String> = (0..500).map(|i| format!("r{i}")).collect();
    let rules: String = (0..500).map(|i| format!("r{i}: \"a{i}\" | \"b{i}\" start\n")).collect();
    let limits = Limits { earley_set_work_max: 400, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let text = format!("start: {}\n{rules}", names.join(" | "));
        assert_names(&compile(&text, mode, limits.clone()).unwrap_err(), "B002", "earley_set_work_max");
    }
    // In `longest` mode the lint for swallowed text looks ahead, so that the compilation meets the limit.
    let text = format!("start: \"x\" (\"y\" | \"z\" ({}))\n{rules}", names.join(" | "));
    let mut matcher = matcher(&text, LexerMode::Exact, limits);
    consume_until(&mut matcher, b"xzb1".iter().copied(), &exceeded("earley_set_work_max", 400));
}

#[test]
fn earley_work_max() {
    let limits = Limits { earley_work_max: 100, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher(NESTED, mode, limits.clone());
        let before = place(&mut matcher);
        assert_eq!(matcher.consume_bytes(&[b'('; 120]), Err(exceeded("earley_work_max", 100)));
        assert_eq!(place(&mut matcher), before);
        // Each question may take as much.
        for _ in 0..120 {
            matcher.consume_bytes(b"(").expect("it is a short one");
            assert_eq!(mask(&mut matcher), Ok(vec![u32::from(b'('), u32::from(b'x')]));
        }
        let few = Limits { earley_work_max: 1, ..Limits::default() };
        assert_names(&compile(NESTED, mode, few).unwrap_err(), "B002", "earley_work_max");
        // A long text has the bound for each part of it.
        let more = Limits { earley_work_max: 1_000, ..Limits::default() };
        self::matcher(NESTED, mode, more).consume_bytes(&[b'('; 2_000]).expect("no part is long");
    }
}

#[test]
fn threads_max() {
    let limits = Limits { threads_max: 20, ..Limits::default() };
    let mut matcher = matcher("start: (A B?)*\nA: /a{1,50}/\nB: \"b\"\n", LexerMode::Exact, limits);
    consume_until(&mut matcher, std::iter::repeat_n(b'a', 1_000), &exceeded("threads_max", 20));
}

#[test]
fn ignored_places_max() {
    // Ignored text begins with the first `a`, and all that may follow it is one more: it ends at the hundredth.
    let grammar = "start: \"x\" \"a\"\n%ignore /a{1,100}/\n";
    let limits = Limits { ignored_places_max: 20, ..Limits::default() };
    let mut matcher = matcher(grammar, LexerMode::Exact, limits);
    consume_until(&mut matcher, b"xaaa".iter().copied(), &exceeded("ignored_places_max", 20));
}

#[test]
fn mask_work_max() {
    let limits = Limits { mask_work_max: 100, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher("start: /[ab]/ /(?s:.)*/\n", mode, limits.clone());
        let error = exceeded("mask_work_max", 100);
        assert_eq!(mask(&mut matcher), Err(error.clone()));
        matcher.consume_bytes(b"a").expect("consuming makes no mask");
        assert_eq!(mask(&mut matcher), Err(error));
        assert_eq!((matcher.text(), matcher.step_count(), matcher.is_accepting()), (b"a".to_vec(), 1, Ok(true)));
        matcher.rollback(1).expect("there is one");
        assert_eq!(matcher.is_accepting(), Ok(false));
    }
}

#[test]
fn param_fuel() {
    let limits = Limits { param_fuel: 50, ..Limits::default() };
    let counter = "start: n::0\nn::_: \"x\" n::incr([0:64]) %if lt(_, 1000)\n | \".\" %if eq(_, 1000)\n";
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        assert_names(&compile(counter, mode, limits.clone()).unwrap_err(), "B002", "param_fuel");
    }
    // Not in the first set: `m` is finished by its first alternative. The lint of `longest` mode would look ahead.
    let later = format!("start: \"ab\" m::0 | \"c\"\nm::_: \"e\" | \"d\" n::0\n{}", &counter["start: n::0\n".len()..]);
    let mut matcher = matcher(&later, LexerMode::Exact, limits);
    consume_until(&mut matcher, b"abdx".iter().copied(), &exceeded("param_fuel", 50));
}

/// No error: masks are forgotten, and made again.
#[test]
fn mask_cache_bytes_max() {
    let hits = |bytes: usize| {
        let limits = Limits { mask_cache_bytes_max: bytes, ..Limits::default() };
        let mut matcher = matcher("start: \"a\" \"b\" \"c\"\n", LexerMode::Longest, limits);
        for _ in 0..2 {
            for (byte, expected) in [(b'a', 97), (b'b', 98)] {
                assert_eq!(mask(&mut matcher), Ok(vec![expected]));
                assert_eq!(mask(&mut matcher), Ok(vec![expected]));
                matcher.consume_token(byte.into()).expect("the mask allows it");
            }
            matcher.rollback(2).expect("there are two");
        }
        matcher.grammar().stats().masks.hits
    };
    let one_mask = TokenMask::new(Vocabulary::single_bytes().len()).words().len() * 4;
    assert_eq!(hits(0), 0);
    assert_eq!(hits(one_mask - 1), 0);
    assert_eq!(hits(one_mask), 4);
    assert_eq!(hits(1 << 16), 6);
}

/// No error: what tokens do inside lexemes is forgotten, and found out again for the next grammar.
#[test]
fn term_cache_bytes_max() {
    let visited = |bytes: usize| {
        let options = EngineOptions {
            limits: Limits { term_cache_bytes_max: bytes, ..Limits::default() },
            slices: vec![],
            ..EngineOptions::default()
        };
        let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &options).expect("there are no slices");
        ["start: A \"x\"\nA: /[a-z]{3}/\n", "start: \"(\" B \")\" | B\nB: /[a-z]{3}/\n"].map(|text| {
            let grammar = CompiledGrammar::compile(&shared, linked(text, LexerMode::Exact)).expect("it is sound");
            let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
            let masks = [0, 1].map(|_| {
                let allowed = mask(&mut matcher).expect("it is within the limits");
                matcher.consume_token(b'a'.into()).expect("the mask allows it");
                allowed.len()
            });
            (masks, grammar.stats().masks.nodes_visited)
        })
    };
    let [first, second] = visited(1 << 20);
    assert_eq!((first.0, second.0), ([26, 26], [27, 26]));
    assert!(second.1 < 100 && first.1 > 500, "{first:?} {second:?}");
    let [first, second] = visited(0);
    assert_eq!((first.0, second.0), ([26, 26], [27, 26]));
    assert!(second.1 > 500 && first.1 > 500, "{first:?} {second:?}");
}

/// No error: what is forced is cut there.
/// A term in which lexemes end at most nodes is made when it was asked for some times in all grammars, and then they share it.
#[test]
fn term_cache_bytes_max_of_a_term_that_is_dear() {
    let visited = |bytes: usize| {
        let options = EngineOptions {
            limits: Limits { term_cache_bytes_max: bytes, ..Limits::default() },
            slices: vec![],
            ..EngineOptions::default()
        };
        let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &options).expect("there are no slices");
        let visited = ["x", "y", "z", "0", "1", "2", "3"].map(|end| {
            let text = format!("start: A \"{end}\" | \"(\" A \")\"\nA: /[A-Z]+/\n");
            let grammar = CompiledGrammar::compile(&shared, linked(&text, LexerMode::Exact)).expect("it is sound");
            let mut matcher = Matcher::new(&grammar, MatcherOptions::default()).expect("it starts");
            assert_eq!(mask(&mut matcher).map(|allowed| allowed.len()), Ok(27));
            matcher.consume_token(b'A'.into()).expect("the mask allows it");
            let allowed = mask(&mut matcher).expect("it is within the limits");
            assert_eq!(allowed.len(), 27);
            assert!(allowed.contains(&end.as_bytes()[0].into()), "{end} ends it");
            grammar.stats().masks.nodes_visited
        });
        visited.map(|nodes| nodes > 250)
    };
    assert_eq!(visited(1 << 20), [true, true, true, true, true, false, false]);
    assert_eq!(visited(0), [true; 7]);
}

#[test]
fn forced_bytes_max() {
    let limits = Limits { forced_bytes_max: 10, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher("start: \"0123456789abcdef\"\n", mode, limits.clone());
        assert_eq!(matcher.forced_bytes(), Ok(b"0123456789".to_vec()));
        matcher.consume_bytes(b"0123456789").expect("it is forced");
        assert_eq!(matcher.forced_bytes(), Ok(b"abcdef".to_vec()));
    }
}

#[test]
fn text_bytes_max() {
    let limits = Limits { text_bytes_max: 10, ..Limits::default() };
    for mode in [LexerMode::Longest, LexerMode::Exact] {
        let mut matcher = matcher("start: /a*/\n", mode, limits.clone());
        consume_until(&mut matcher, std::iter::repeat_n(b'a', 100), &exceeded("text_bytes_max", 10));
        assert_eq!(matcher.consume_bytes(&[b'a'; 11]), Err(exceeded("text_bytes_max", 10)));
        matcher.consume_bytes(&[b'a'; 10]).expect("that many fit");
        assert_eq!(matcher.is_accepting(), Ok(true));
    }
}

#[test]
fn capture_work_max() {
    let limits = Limits { capture_work_max: 10_000, ..Limits::default() };
    let mut matcher = matcher("start: w+\nw[capture]: /x+/\n", LexerMode::Exact, limits);
    matcher.consume_bytes(&[b'x'; 10]).expect("it follows");
    assert_eq!(matcher.captures().map(|captures| captures.len()), Ok(1));
    matcher.consume_bytes(&[b'x'; 1000]).expect("it follows");
    let before = place(&mut matcher);
    assert_eq!(matcher.captures(), Err(exceeded("capture_work_max", 10_000)));
    assert_eq!(place(&mut matcher), before);
    matcher.rollback(1).expect("there are two");
    assert_eq!(matcher.captures().map(|captures| captures.len()), Ok(1));
}

/// The same letters every time.
fn noise() -> impl Iterator<Item = u8> {
    let mut state = 1u64;
    std::iter::from_fn(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Some(b"ab"[(state >> 20) as usize % 2])
    })
}

#[test]
fn every_field_is_met() {
    let known: Vec<&str> = MET.iter().chain(&OF_JSON_SCHEMA).chain(&OF_THE_FACADE).copied().collect();
    assert_eq!(Limits::NAMES, known);
    let tests = include_str!("limits.rs");
    for name in MET {
        assert!(tests.contains(&format!("#[test]\nfn {name}() {{")), "no test is named {name}");
    }
    for name in OF_THE_FACADE {
        let tests =
            [include_str!("../../larkspur/tests/recent.rs"), include_str!("../../larkspur/tests/inner_texts.rs")];
        assert!(tests.iter().any(|test| test.contains(&format!("{name}: "))), "no test sets {name}");
    }
}
