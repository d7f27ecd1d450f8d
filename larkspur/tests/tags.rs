//! Structural tags, through the public door.

use std::sync::Arc;

use larkspur::{
    CompileOptions, CompiledGrammar, Engine, Limits, Mark, Source, StructuralTags, TokenMask, Vocabulary, link,
};
use proptest::prelude::*;

fn compile(tags: StructuralTags) -> CompiledGrammar {
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    engine.compile(&Source::from(tags)).unwrap_or_else(|error| panic!("{error}"))
}

/// Whether the text is accepted; `None` if it is not even the beginning of one that is.
fn verdict(grammar: &CompiledGrammar, text: &str) -> Option<bool> {
    let mut matcher = grammar.matcher().unwrap();
    matcher.consume_bytes(text.as_bytes()).ok()?;
    Some(matcher.is_accepting().unwrap())
}

fn check(grammar: &CompiledGrammar, accepted: &[&str], incomplete: &[&str], rejected: &[&str]) {
    for (texts, expected) in [(accepted, Some(true)), (incomplete, Some(false)), (rejected, None)] {
        texts.iter().for_each(|text| assert_eq!(verdict(grammar, text), expected, "{text:?}"));
    }
}

fn functions() -> StructuralTags {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"], "additionalProperties": false}"#;
    StructuralTags::new()
        .tag("<function=f>", Source::json_schema(schema), "</function>")
        .tag("<function=g>", Source::regex("[a-z]+"), "</function>")
        .trigger("<function=")
}

#[test]
fn free_text_and_tags() {
    let grammar = compile(functions());
    assert!(grammar.warnings().is_empty(), "{:?}", grammar.warnings());
    check(
        &grammar,
        &[
            "",
            "some <text> < with <function in it, é\n",
            r#"call: <function=f>{"a": 1}</function> and <function=g>abc</function><function=g>x</function>."#,
            "<<function=g>x</function>",
        ],
        &["<function=", "<function=f>", r#"<function=f>{"a": 1"#, "a<function=g>x</functio"],
        &["<function=h", r#"<function=f>{"b""#, "<function=g>1", "<function=g></"],
    );
}

#[test]
fn how_many() {
    check(&compile(functions().at_least(1)), &["a<function=g>x</function>b"], &["", "text"], &[]);
    let g = "<function=g>x</function>";
    let (one, two) = (format!("a{g}b"), format!("a{g}b{g}"));
    check(&compile(functions().at_most(1)), &["a", &one], &[], &[&two, &format!("{one}<function=")]);
    check(&compile(functions().at_most(0)), &["a", "<function"], &[], &["<function="]);
    let exactly = functions().at_least(2).at_most(2).end_with_last_tag();
    check(&compile(exactly), &[&two], &["", &one], &[&format!("{two}.")]);
    let many = functions().at_least(2);
    check(&compile(many), &[&two, &format!("{two}{two}")], &["", &one], &[]);
}

#[test]
fn excluded_texts() {
    let grammar = compile(functions().exclude("<think>").exclude("<f"));
    check(
        &grammar,
        &["<thin<think", "<function=g>x</function> <"],
        &["a<f", "<function"],
        &["a<think>", "<fa", "<function "],
    );
    // What is excluded from free text may stand in a tag.
    let grammar = compile(StructuralTags::new().text_tag("[", "]").exclude("x"));
    check(&grammar, &["a[x]b", "[[]"], &["[", "[x["], &["x", "[]x"]);
}

#[test]
fn triggers_with_a_common_beginning() {
    let number = || Source::regex("[0-9]+");
    let grammar = compile(StructuralTags::new().tag("<a>", number(), "</a>").tag("<ab>", number(), "</ab>"));
    check(&grammar, &["<a", "<ab", "<<a>1</a><ab>2</ab>"], &["<a>", "<ab>1"], &["<a>1</ab", "<ab>x"]);
    // One beginning is that of another: both are there behind the shorter.
    let grammar = compile(StructuralTags::new().tag("<a", number(), "!").tag("<ab", number(), "?"));
    check(&grammar, &["<a1!", "<ab1?"], &["<a", "<ab"], &["<ac", "<a1?", "<ab1!"]);
    // A beginning that overlaps itself: the first place counts.
    let grammar = compile(StructuralTags::new().tag("aa", Source::regex("b|ab"), "!"));
    check(&grammar, &["aab!", "aaab!", "a"], &["aaa"], &["aaaa", "aa!"]);
}

#[test]
fn any_content() {
    let lark = Source::lark("start: WORD (\",\" WORD)*\nWORD: /[a-z]+/\n%ignore \" \"");
    let kbnf = Source::kbnf("start ::= 'k' {'k'};");
    let inner = StructuralTags::new().tag("(", Source::gbnf("root ::= [0-9]+ | \"(\" root \")\""), ")");
    let grammar = compile(StructuralTags::new().tag("<l>", lark, "</l>").tag("<k>", kbnf, "").tag(
        "<t>",
        inner.at_least(1),
        "</t>",
    ));
    check(
        &grammar,
        &["<l>a , b</l>", "<k>kk", "<k>kkx", "<t>see (1) or ((2))</t>.", "<t>(1)</t></t>"],
        &["<l>a ", "<k>", "<t>(1)</t"],
        &["<l> a", "<k>x", "<t>(a"],
    );
}

#[test]
fn special_tokens() {
    let mut builder = Vocabulary::builder();
    (0..=255u8).for_each(|byte| _ = builder.token(byte.into(), [byte]));
    let ids = [256, 257, 258];
    builder.special(256, "<|eos|>").special(257, "<|call|>").special(258, "<|end|>").eos(256);
    let engine = Engine::new(Arc::new(builder.build().unwrap()));
    let tags = StructuralTags::new()
        .tag(Mark::token("<|call|>"), Source::regex("[a-z]+"), Mark::token("<|end|>"))
        .text_tag("<b>", "</b>")
        .at_least(1);
    let grammar = engine.compile(&Source::from(tags)).unwrap();
    let mut matcher = grammar.matcher().unwrap();
    let mut mask = TokenMask::new(engine.vocabulary().len());
    matcher.consume_bytes(b"let me <|call|> ").unwrap();
    matcher.compute_mask(&mut mask).unwrap();
    assert!(
        mask.is_allowed(ids[1]) && !mask.is_allowed(ids[0]) && !mask.is_allowed(ids[2]) && mask.is_allowed(b'x'.into())
    );
    matcher.consume_token(ids[1]).unwrap();
    matcher.consume_bytes(b"abc").unwrap();
    matcher.compute_mask(&mut mask).unwrap();
    assert!(mask.is_allowed(ids[2]) && mask.is_allowed(b'z'.into()) && !mask.is_allowed(b'<'.into()));
    matcher.consume_token(ids[2]).unwrap();
    matcher.consume_bytes(b" done <b>x</b>").unwrap();
    assert!(matcher.is_accepting().unwrap());
}

#[test]
fn mistakes() {
    let found = |tags: StructuralTags| -> Vec<String> {
        let error = link(&Source::from(tags), &CompileOptions::default(), &Limits::default()).unwrap_err();
        error.diagnostics.iter().map(|diagnostic| format!("{} {}", diagnostic.code, diagnostic.message)).collect()
    };
    let a = || Source::regex("a");
    let tags = |reason: &str| vec![format!("F007 structural tags: {reason}")];
    let new = StructuralTags::new;
    assert_eq!(found(new().tag("<a>", a(), "").trigger("<b")), tags("the tag `<a>` begins with no trigger"));
    assert_eq!(
        found(new().tag("<ab>", a(), "").trigger("<a").trigger("a")),
        tags("the trigger `<a` holds the trigger `a`")
    );
    assert_eq!(found(new().tag("", a(), "x")), tags("a trigger, or the beginning of a tag, is empty"));
    assert_eq!(found(new().exclude("")), tags("an excluded text is empty"));
    assert_eq!(found(new().text_tag("<a>", "")), tags("the tag `<a>` is any text and has no end"));
    assert_eq!(found(functions().at_least(2).at_most(1)), tags("the least number of tags is over the greatest"));
    assert_eq!(
        found(functions().end_with_last_tag()),
        tags("the text is to end with a tag, and no number of them is the greatest")
    );
    assert_eq!(found(new().tag("<a>", Source::list("{}"), "")), tags("the content of `<a>` is a list of grammars"));
    // Mistakes of all contents at once, where they stand.
    let broken = new()
        .tag("<a>", Source::lark("start: nope").named("a.lark"), "")
        .tag("<b>", Source::gbnf("root ::= nope").named("b.gbnf"), "")
        .tag("<c>", Source::json_schema("{\"type\": 1}").named("c.json"), "");
    let error = link(&Source::from(broken), &CompileOptions::default(), &Limits::default()).unwrap_err().to_string();
    let lines: Vec<&str> = error.lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert_eq!(lines, ["a.lark:1:8", "b.gbnf:1:10", "c.json:1:10"], "{error}");
    // Deep nesting meets the limit.
    let deep = (0..300).fold(new(), |inner, _| new().tag("<a>", inner, "</a>"));
    assert_eq!(found(deep).len(), 1);
}

/// A text of tags `<a>b*</a>` and `<ab>b</ab>` behind the trigger `<a`, without `x` in free text, read plainly.
fn is_tagged(text: &str) -> bool {
    let (free, rest) = match text.find("<a") {
        None => (text, None),
        Some(at) => (&text[..at], Some(&text[at..])),
    };
    let ends = |rest: &str, begin: &str, end: &str, most: usize| {
        let Some(content) = rest.strip_prefix(begin) else { return false };
        let len = content.bytes().take_while(|&byte| byte == b'b').count();
        len <= most && content[len..].strip_prefix(end).is_some_and(is_tagged)
    };
    let is_free = !free.contains('x');
    is_free && rest.is_none_or(|rest| ends(rest, "<a>", "</a>", usize::MAX) || ends(rest, "<ab>", "</ab>", 1))
}

proptest! {
    /// Against a plain reading, on texts of pieces that tags are made of.
    #[test]
    fn texts_are_read_plainly(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..12)) {
        let grammar = GRAMMAR.with(Clone::clone);
        let text = pieces.concat();
        prop_assert_eq!(verdict(&grammar, &text) == Some(true), is_tagged(&text), "{}", text);
    }
}

const PIECES: &[&str] =
    &["<a>", "</a>", "<ab>", "</ab>", "b", "<", "a", "x", "<a>bb</a>", "<ab>b</ab>", "<ab></ab>", "é"];

thread_local! {
    static GRAMMAR: CompiledGrammar = compile(
        StructuralTags::new()
            .tag("<a>", Source::regex("b*"), "</a>")
            .tag("<ab>", Source::gbnf("root ::= [b]?"), "</ab>")
            .trigger("<a")
            .exclude("x"),
    );
}
