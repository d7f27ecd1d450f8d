//! The facade through its public door.

use std::sync::Arc;
use std::time::{Duration, Instant};

use larkspur::grammar::{Embed, EmbedKind, ExprKind, Rule};
use larkspur::{
    CompileOptions, Engine, EngineOptions, Folder, Grammar, LexerMode, Limits, MatcherError, MatcherOptions,
    NumberSpelling, SLICES_MAX, Source, SourceBody, SourceId, SourceKind, SourceMap, Span, Spelling, StopReason,
    TokenMask, Vocabulary, VocabularyBuilder, Whitespace,
};

fn engine() -> Engine {
    Engine::new(Arc::new(Vocabulary::single_bytes()))
}

/// Whether a text is accepted, or where it is rejected.
fn run(engine: &Engine, source: &Source, options: &CompileOptions, text: &str) -> Result<bool, usize> {
    let grammar = engine.compile_with(source, options).expect("the grammar compiles");
    let mut matcher = grammar.matcher().expect("within limits");
    match matcher.consume_bytes(text.as_bytes()) {
        Ok(()) => Ok(matcher.is_accepting().expect("within limits")),
        Err(MatcherError::TextRejected { at_byte }) => Err(at_byte),
        Err(error) => panic!("{error}"),
    }
}

fn accepts(source: &Source, text: &str) -> Result<bool, usize> {
    run(&engine(), source, &CompileOptions::default(), text)
}

#[test]
fn kinds_by_name() {
    let kind = |name: &str, text: &str| Source::from_path_name(name, text).map(|source| source.kind());
    assert_eq!(kind("a.lark", ""), Ok(Some(SourceKind::Lark)));
    assert_eq!(kind("A.LARK", ""), Ok(Some(SourceKind::Lark)));
    assert_eq!(kind("a.gbnf", ""), Ok(Some(SourceKind::Gbnf)));
    assert_eq!(kind("a.kbnf", ""), Ok(Some(SourceKind::Kbnf)));
    assert_eq!(kind("a.regex", ""), Ok(Some(SourceKind::Regex)));
    assert_eq!(kind("a.json", "{}"), Ok(Some(SourceKind::JsonSchema)));
    assert_eq!(kind("a.json", "{\"properties\": {\"grammars\": {}}}"), Ok(Some(SourceKind::JsonSchema)));
    assert_eq!(kind("a.json", "{\"grammars\": []}"), Ok(Some(SourceKind::List)));
    let error = kind("a.txt", "").expect_err("nobody knows what it is");
    assert_eq!(
        error.to_string(),
        "what `a.txt` holds does not show in its name: it ends in none of .lark, .regex, .json, .gbnf, .kbnf"
    );
}

#[test]
fn byte_order_marks_are_skipped() {
    let grammars = [
        Source::lark("\u{feff}start: \"a\""),
        Source::gbnf("\u{feff}root ::= \"a\""),
        Source::kbnf("\u{feff}start ::= 'a';"),
        Source::json_schema("\u{feff}{\"enum\": [1]}"),
    ];
    for (source, text) in grammars.iter().zip(["a", "a", "a", "1"]) {
        assert_eq!(accepts(source, text), Ok(true), "{source:?}");
        assert_eq!(accepts(source, "\u{feff}"), Err(0), "{source:?}");
    }
    // An editor shows no column for it.
    let texts = [
        (SourceKind::Lark, "start: vaule", "1:8"),
        (SourceKind::Gbnf, "root ::= vaule", "1:10"),
        (SourceKind::Kbnf, "start ::= vaule;", "1:11"),
        (SourceKind::JsonSchema, "{\"type\": 1}", "1:10"),
        (SourceKind::Lark, "start: \"a\"\nb: vaule", "2:4"),
    ];
    for (kind, text, place) in texts {
        let error = engine().compile(&Source::text("text", kind, format!("\u{feff}{text}"))).expect_err(text);
        assert!(error.to_string().starts_with(&format!("text:{place}: ")), "{error}");
    }
}

#[test]
fn regexes_are_whole_texts_in_exact_mode() {
    let source = Source::regex("(ab)*|x+y");
    assert_eq!(accepts(&source, ""), Ok(true));
    assert_eq!(accepts(&source, "abab"), Ok(true));
    assert_eq!(accepts(&source, "aba"), Ok(false));
    assert_eq!(accepts(&source, "abx"), Err(2));
    let grammar = engine().compile(&Source::regex("a")).expect("it compiles");
    assert_eq!(grammar.lexer_mode(), LexerMode::Exact);
    assert_eq!(accepts(&Source::from_path_name("r.regex", "a+\r\n").expect("known"), "aa"), Ok(true));
    assert_eq!(accepts(&Source::regex("a\n"), "a"), Ok(false));
}

#[test]
fn a_start_that_is_not_there_stands_nowhere_in_the_text() {
    let sources = [
        Source::lark("start: value\nvalue: \"a\"\n"),
        Source::gbnf("root ::= value\nvalue ::= \"a\"\n"),
        Source::kbnf("start ::= value; value ::= 'a';"),
    ];
    for source in sources {
        let found = |start: &str| {
            let options = CompileOptions { start: Some(start.into()), ..CompileOptions::default() };
            let error = engine().compile_with(&source, &options).expect_err("it is not there");
            assert_eq!(error.diagnostics.len(), 1, "{error}");
            assert!(error.diagnostics[0].labels.is_empty(), "{error}");
            error.diagnostics[0].help.clone().expect("a way out")
        };
        assert_eq!(found("vlaue"), "the option `start` names it; did you mean `value`?");
        let names = found("nope");
        assert!(names.starts_with("the option `start` names it; there are `") && names.ends_with("`value`"), "{names}");
        assert!(found("").starts_with("the option `start` is the empty text"));
    }
}

#[test]
fn options_choose_start_lexer_and_face() {
    let source = Source::lark("start: /a+/ \"ab\" | \"c\"\nother: \" \" \"b\"\n%ignore \" \"\n");
    let options = CompileOptions { lexer: Some(LexerMode::Exact), ..CompileOptions::default() };
    assert_eq!(run(&engine(), &source, &options, "aaab"), Ok(true));
    let options = CompileOptions { start: Some("other".into()), ..options };
    assert_eq!(run(&engine(), &source, &options, " b"), Ok(true));
    let source = Source::lark("start: \"b\"\n%ignore \" \"\n");
    let options = CompileOptions { llguidance_face: true, ..CompileOptions::default() };
    assert_eq!(run(&engine(), &source, &options, " b"), Err(0));
    assert_eq!(run(&engine(), &source, &CompileOptions::default(), " b"), Ok(true));
}

/// In place of Lark's `start=["sum", "list"]`: one engine, a grammar for each.
#[test]
fn several_starts_are_several_grammars() {
    let source = Source::lark(
        "sum: NUMBER (\"+\" NUMBER)*\nlist: \"[\" sum (\",\" sum)* \"]\"\nname: /[a-z]+/\nNUMBER: /[0-9]+/\n%ignore \" \"\n",
    );
    let engine = engine();
    let options = |start: &str| CompileOptions { start: Some(start.into()), ..CompileOptions::default() };
    for (start, taken, refused) in [("sum", "1 + 2", "[1]"), ("list", "[1 + 2, 3]", "1"), ("name", "abc", "1")] {
        let grammar = engine.compile_with(&source, &options(start)).expect("it compiles");
        assert!(grammar.warnings().is_empty(), "{start}: {:?}", grammar.warnings());
        assert_eq!(run(&engine, &source, &options(start), taken), Ok(true), "{start}");
        assert!(run(&engine, &source, &options(start), refused).is_err(), "{start}");
    }
    let error = engine.compile_with(&source, &options("sums")).expect_err("there is no such rule");
    assert!(error.to_string().contains("sums"), "{error}");
}

const LIST: &str = r#"{
    "grammars": [
        { "lark_grammar": "start: \"<\" @inner \">\"" },
        { "name": "inner", "lark_grammar": "start: /[0-9]+/" }
    ],
    "max_tokens": 3
}"#;

#[test]
fn lists_link_by_name_and_have_a_budget() {
    let grammar = engine().compile(&Source::list(LIST)).expect("it compiles");
    assert_eq!(grammar.max_tokens(), Some(3));
    let mut matcher = grammar.matcher().expect("within limits");
    for byte in *b"<1" {
        assert!(!matcher.consume_token(byte.into()).expect("allowed").stopped);
    }
    assert!(matcher.consume_token(b'2'.into()).expect("allowed").stopped);
    assert_eq!(matcher.stop_reason(), Some(StopReason::MaxTokens));
    let options = MatcherOptions { max_tokens: Some(1), ..MatcherOptions::default() };
    let mut matcher = grammar.matcher_with(options).expect("within limits");
    assert!(matcher.consume_token(b'<'.into()).expect("allowed").stopped);
    let options = MatcherOptions { max_tokens: Some(0), ..MatcherOptions::default() };
    let mut matcher = grammar.matcher_with(options).expect("within limits");
    assert_eq!(matcher.stop_reason(), Some(StopReason::MaxTokens));
    assert_eq!(matcher.is_allowed(b'<'.into()), Ok(false));
    matcher.consume_token(b'<'.into()).expect_err("none is left");
}

#[test]
fn schemas_of_a_list_have_names() {
    let list = r#"{"grammars": [
        {"lark_grammar": "start: \"<\" (call | @name)+ \">\"\ncall[capture]: @args"},
        {"name": "name", "json_schema": {"const": "f"}},
        {"name": "args", "json_schema": {"type": "array", "items": {"type": "integer"}}}
    ]}"#;
    assert_eq!(accepts(&Source::list(list), "<\"f\"[1,2]>"), Ok(true));
    assert_eq!(accepts(&Source::list(list), "<\"f\"[1,true]>"), Err(7));
    let error = engine().compile(&Source::list(list.replace("@name", "@nme"))).expect_err("there is no such grammar");
    assert_eq!(error.diagnostics[0].help.as_deref(), Some("did you mean `@name`?"));
    let error = engine().compile(&Source::list(list.replace("@name", "@n"))).expect_err("there is no such grammar");
    assert_eq!(error.diagnostics[0].help, None, "grammars without a name are none to mean");
}

#[test]
fn spellings_of_schemas() {
    let schema = r#"{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "number"}}}"#;
    let verdicts = |source: &Source, spelling: &Spelling| {
        let options = CompileOptions { spelling: spelling.clone(), ..CompileOptions::default() };
        ["{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1.0}", " {}", "{\n \"a\": 1\n}"]
            .map(|text| run(&engine(), source, &options, text))
    };
    let source = Source::json_schema(schema);
    assert_eq!(verdicts(&source, &Spelling::default()), [Ok(true), Err(9), Err(0), Ok(true)]);
    assert_eq!(verdicts(&source, &Spelling::validator()), [Ok(true), Ok(true), Ok(true), Ok(true)]);
    let read = |text: &str| serde_json::from_str::<Spelling>(text);
    let lines = read(r#"{"whitespace": {"indent": 1}, "number_spelling": "any"}"#).expect("a spelling");
    assert_eq!(
        lines,
        Spelling { number_spelling: NumberSpelling::Any, whitespace: Whitespace::Indent(1), ..Spelling::generator() }
    );
    assert_eq!(verdicts(&source, &lines), [Err(1), Err(1), Err(0), Ok(true)]);
    assert!(read(r#"{"white_space": "any"}"#).is_err());
    // Options inside a schema beat those of the caller, and a `%json` body has no white space outside.
    let compact = Source::json_schema(schema.replacen('{', r#"{"x-larkspur": {"whitespace": "compact"}, "#, 1));
    assert_eq!(verdicts(&compact, &Spelling::validator()), [Ok(true), Ok(true), Err(0), Err(1)]);
    let embedded = Source::lark(format!("start: %json {schema}"));
    assert_eq!(verdicts(&embedded, &Spelling::validator()), [Ok(true), Ok(true), Err(0), Ok(true)]);
}

#[test]
fn values_on_lines_are_captured() {
    let schema =
        r#"{"type": "array", "items": {"type": "object"}, "minItems": 1, "x-larkspur": {"whitespace": {"indent": 2}}}"#;
    let grammar = engine()
        .compile(&Source::lark(format!("start: \"<\" value \">\"\nvalue[capture]: %json {schema}")))
        .expect("it compiles");
    let value = "[\n  {\n    \"a\": [\n      1,\n      {}\n    ],\n    \"b\": {\n      \"c\": null\n    }\n  }\n]";
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.consume_bytes(format!("<{value}>").as_bytes()).expect("it is in the language");
    let captures = matcher.captures().expect("within limits");
    let found: Vec<(&str, &[u8])> = captures.iter().map(|capture| (&*capture.name, &*capture.bytes)).collect();
    assert_eq!(found, [("value", value.as_bytes())]);
}

#[test]
fn errors_say_where() {
    let text = LIST.replace("@inner", "@innner");
    let error = engine().compile(&Source::list(text).named("list.json")).expect_err("there is no such grammar");
    assert_eq!(error.to_string(), "list.json:grammars[0]:1:12: error[G001]: there is no grammar named `innner`");
    let error = engine().compile(&Source::lark("start: x\n  | y z\n").named("g.lark")).expect_err("not defined");
    assert_eq!(
        error.to_string(),
        "g.lark:1:8: error[L040]: rule `x` is used but never defined\n\
         g.lark:2:5: error[L040]: rule `y` is used but never defined\n\
         g.lark:2:7: error[L040]: rule `z` is used but never defined"
    );
    let error = engine().compile(&Source::kbnf("start ::= 'a' |;")).expect_err("an alternative is missing");
    assert_eq!(error.to_string(), "<kbnf>:1:16: error[K008]: this alternative is empty");
}

#[test]
fn schemas_are_read_beside_other_mistakes() {
    let source = Source::lark("start: missing %json {\"type\": \"strng\"}\n");
    let error = engine().compile(&source).expect_err("two mistakes");
    let codes: Vec<&str> = error.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["L040", "J002"], "{error}");
}

#[test]
fn warnings_come_with_the_grammar() {
    let grammar = engine().compile(&Source::lark("start: \"a\"\nb: \"b\"\n")).expect("it compiles");
    let lines: Vec<String> =
        grammar.warnings().iter().map(|warning| larkspur::summary_line(warning, grammar.sources())).collect();
    assert_eq!(lines, ["<lark>:2:1: warning[G101]: rule `b` is never used"]);
    // Those that become terminals where they are used, too.
    let grammar =
        engine().compile(&Source::gbnf("root ::= a\na ::= \"a\"\nb ::= c \"b\"\nc ::= [c]+\n")).expect("it compiles");
    let spans: Vec<u32> = grammar.warnings().iter().map(|warning| warning.labels[0].span.start).collect();
    assert_eq!((grammar.warnings()[0].code, spans), ("G101", vec![21, 33]));
}

#[test]
fn warnings_of_many_schemas_come_in_the_order_of_the_text() {
    // Read with room for all that follows, they took seconds and gigabytes.
    let names: Vec<String> = (0..4_000).map(|index| format!("r{index}")).collect();
    let rules: String = names.iter().map(|name| format!("{name}: %json {{\"requird\": \"{name}\"}}\n")).collect();
    let source = Source::lark(format!("start: {}\n{rules}", names.join(" | ")));
    for (diagnostics_max, are_all) in [(4_000, true), (Limits::default().diagnostics_max, false)] {
        let limits = Limits { diagnostics_max, ..Limits::default() };
        let options = EngineOptions { limits, ..EngineOptions::default() };
        let engine = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("sound slices");
        let grammar = engine.compile(&source).expect("it compiles");
        let (warnings, more) = grammar.warnings().split_at(diagnostics_max);
        assert_eq!(more.iter().map(|more| more.code).collect::<Vec<_>>(), if are_all { vec![] } else { vec!["G099"] });
        let help = Some("did you mean `required`?");
        assert!(warnings.iter().all(|warning| warning.code == "J030" && warning.help.as_deref() == help));
        assert!(warnings.is_sorted_by_key(|warning| warning.labels[0].span.start));
    }
}

#[test]
fn traps_come_with_a_text_and_with_who_goes_on() {
    let trap = |text: &str| {
        let grammar = engine().compile(&Source::lark(text)).expect("it compiles");
        let [warning] = grammar.warnings() else { panic!("{:?}", grammar.warnings()) };
        (warning.message.clone(), warning.labels[0].message.clone())
    };
    let (message, label) =
        trap("start: \"//\" [USER \"@\"] HOST [\":\" PORT]\nUSER: /[a-z:]+/\nHOST: /[a-z.]+/\nPORT: /[0-9]+/\n");
    assert_eq!(message, "USER swallows what must follow HOST (\":\")");
    assert_eq!(label, "in \"a:\" USER goes on over the last character");
    let (message, label) = trap("start: \"<\" /.*/ \">\"\n");
    assert_eq!(message, "/.*/ swallows what must follow it (\">\")");
    assert_eq!(label, "in \"a>\" the match goes on over the last character");
}

/// `start: %json …` as a program builds it; its spans point into a source that the facade may not know.
fn built(body: Option<Span>) -> Grammar {
    let span = Span::new(SourceId(7), 3, 9);
    let mut grammar = Grammar::new("built");
    let kind = match body {
        Some(body) => {
            let embed =
                Embed { kind: EmbedKind::Text { language: "json", body }, span: body, target: None, rule: None };
            ExprKind::Embed(grammar.embeds.push(embed))
        }
        None => ExprKind::sequence([]),
    };
    let body = grammar.expr(kind, span);
    grammar.start = grammar.rules.push(Rule::new("start", span, body));
    grammar
}

#[test]
fn grammars_built_by_programs() {
    assert_eq!(accepts(&Source::grammar(built(None)), ""), Ok(true));
    let body = Span::new(SourceId(7), 0, 2);
    let error = engine().compile(&Source::grammar(built(Some(body)))).expect_err("the schema has no text");
    assert_eq!(error.to_string(), "error[F002]: the text of this schema is not known");
    let mut sources = SourceMap::new();
    let id = sources.add("schema", "{}");
    let grammar = Box::new(built(Some(Span::new(id, 0, 2))));
    let source = Source { name: "built".into(), body: SourceBody::Grammar { grammar, sources: Some(sources) } };
    assert_eq!(accepts(&source, "[1]"), Ok(true));
}

/// Thousands of lexemes that begin at one place are each looked at by themselves, which a limit bounds.
#[test]
fn many_lexemes_at_one_place() {
    let rules: String = (0..400).map(|number| format!("r{number} ::= \"{number}\"? [a-z]* [0-9] root?\n")).collect();
    let names: Vec<String> = (0..400).map(|number| format!("r{number}")).collect();
    let source = Source::gbnf(format!("root ::= {}\n{rules}", names.join(" | ")));
    let mut options = EngineOptions { slices: Vec::new(), ..EngineOptions::default() };
    options.limits.lexer_work_max = 1_000_000;
    let engine = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("there are no slices");
    let mut matcher = engine.compile(&source).expect("it compiles").matcher().expect("within limits");
    let mut mask = TokenMask::new(engine.vocabulary().len());
    let limit = MatcherError::LimitExceeded { limit: "lexer_work_max", value: 1_000_000 };
    assert_eq!(matcher.compute_mask(&mut mask), Err(limit));
    assert!(mask.is_empty());
    // What was made stays, so that asking again comes to an end.
    assert!((0..10).any(|_| matcher.compute_mask(&mut mask).is_ok()));
    let allowed: Vec<u32> = mask.iter().collect();
    let expected: Vec<u32> = (b'0'..=b'9').chain(b'a'..=b'z').map(u32::from).collect();
    assert_eq!(allowed, expected);
}

#[test]
fn limits_are_those_of_the_engine() {
    let mut options = EngineOptions { slices: Vec::new(), ..EngineOptions::default() };
    options.limits.source_bytes_max = 8;
    let vocabulary = Arc::new(Vocabulary::single_bytes());
    let engine = Engine::with_options(vocabulary.clone(), &options).expect("the slices are fine");
    for source in [Source::lark("start: \"a\"\n"), Source::regex("aaaaaaaaa"), Source::list(LIST)] {
        let error = engine.compile(&source).expect_err("too long");
        assert!(error.diagnostics[0].message.contains("8"), "{error}");
    }
    let options = EngineOptions { slices: vec!["(".into()], ..EngineOptions::default() };
    assert!(Engine::with_options(vocabulary, &options).is_err());
}

#[test]
fn a_token_may_be_named_in_the_grammar() {
    let mut builder = VocabularyBuilder::default();
    builder.token(0, b"a").special(1, "<|call|>").special(2, "<eos>").eos(2);
    let engine = Engine::new(Arc::new(builder.build().expect("a vocabulary")));
    let grammar = engine.compile(&Source::lark("start: <|call|> \"a\"")).expect("it compiles");
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.consume_tokens(&[1, 0]).expect("allowed");
    assert!(matcher.is_accepting().expect("within limits"));
    let error = engine.compile(&Source::lark("start: <|cal|> \"a\"")).expect_err("no such token");
    assert_eq!(error.diagnostics[0].code, "V001");
    assert_eq!(error.diagnostics[0].help.as_deref(), Some("did you mean `<|call|>`?"));
    let error = engine.compile(&Source::lark("start: a <y>\na: <x>")).expect_err("no such tokens");
    let places: Vec<u32> = error.diagnostics.iter().map(|diagnostic| diagnostic.labels[0].span.start).collect();
    assert_eq!(places, [9, 16], "in the order of the text");
}

fn is_send_and_sync<T: Send + Sync + Clone>() {}

#[test]
fn grammars_are_shared_between_threads() {
    is_send_and_sync::<Engine>();
    is_send_and_sync::<larkspur::CompiledGrammar>();
    is_send_and_sync::<larkspur::Matcher>();
}

/// A folder of the disk that is removed at the end.
struct Scratch(std::path::PathBuf);

impl Scratch {
    fn new(files: &[(&str, &str)]) -> Self {
        let root = std::env::temp_dir().join(format!("larkspur-imports-{}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("below the root")).expect("the disk is writable");
            std::fs::write(path, text).expect("the disk is writable");
        }
        Self(root)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn imports_from_folders() {
    let scratch = Scratch::new(&[
        ("outside.lark", "NAME: \"outside\"\n"),
        ("lib/shared.lark", "NAME: \"shared\"\n%import .more.MORE\n"),
        ("lib/more.lark", "MORE: \"more\"\n"),
        ("grammars/parts/names.lark", "NAME: LETTER+\n%import .letters.LETTER\n"),
        ("grammars/parts/letters.lark", "LETTER: \"a\"..\"z\"\n"),
        ("grammars/latin.lark", ""),
        ("grammars/folder.lark/x", ""),
    ]);
    std::fs::write(scratch.0.join("grammars/latin.lark"), b"A: \"\xe9\"").expect("the disk is writable");
    #[cfg(unix)]
    std::os::unix::fs::symlink("../outside.lark", scratch.0.join("grammars/link.lark")).expect("links can be made");
    #[cfg(unix)]
    std::os::unix::fs::symlink("parts", scratch.0.join("grammars/again")).expect("links can be made");
    let folder = Folder::beside(scratch.0.join("grammars/main.lark")).search(scratch.0.join("lib"));
    let options = CompileOptions { modules: Some(folder.into()), ..CompileOptions::default() };
    let import = |path: &str| Source::lark(format!("start: NAME\n%import {path}.NAME\n"));
    assert_eq!(run(&engine(), &import(".parts.names"), &options, "abc"), Ok(true));
    assert_eq!(run(&engine(), &import("shared"), &options, "shared"), Ok(true));
    assert_eq!(run(&engine(), &import(".shared"), &options, "shared"), Ok(true));
    let error = |source: &Source| -> String {
        let error = engine().compile_with(source, &options).expect_err("it cannot be imported");
        error.diagnostics.iter().map(|diagnostic| format!("{} {}\n", diagnostic.code, diagnostic.message)).collect()
    };
    assert_eq!(error(&import("parts.names")), "L031 there is no `parts.names` to import from\n");
    assert_eq!(error(&import(".outside")), "L031 there is no `outside` to import from\n");
    assert_eq!(error(&import("..outside")), "L031 an import cannot leave the folder\n");
    assert_eq!(error(&import(".latin")), "L031 `latin.lark` cannot be read: it is not UTF-8\n");
    assert_eq!(error(&import(".folder")), "L031 `folder.lark` cannot be read: it is not a file\n");
    if cfg!(unix) {
        assert_eq!(error(&import(".link")), "L031 `link.lark` cannot be read: it leads out of its folder\n");
        assert_eq!(run(&engine(), &import(".again.names"), &options, "abc"), Ok(true));
    }
    let none = engine().compile(&import(".parts.names")).expect_err("nothing is read without modules");
    assert_eq!(none.diagnostics[0].code, "L031");
}

/// Where the errors of a Lark text are: code, and what is written there.
fn errors(text: &str) -> Vec<(&'static str, String)> {
    let error =
        larkspur::link(&Source::lark(text), &CompileOptions::default(), &larkspur::Limits::default()).unwrap_err();
    let place = |diagnostic: &larkspur::Diagnostic| {
        let span = diagnostic.labels[0].span;
        (diagnostic.code, text[span.start as usize..span.end as usize].to_string())
    };
    error.diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).map(place).collect()
}

#[test]
fn mistakes_inside_other_languages() {
    let gbnf = "start: a | b\na: %gbnf { root ::= \"x\" nope\n  other ::= ( }\nb: %kbnf { start ::= missing; }\n";
    let expected = [("E021", "nope"), ("E005", ""), ("K020", "missing")];
    assert_eq!(errors(gbnf), expected.map(|(code, text)| (code, text.to_string())));
    // Also where the Lark text has some of its own, and in an empty body.
    let both = "start: a undefined\na: %gbnf { root ::= nope }\nb: %gbnf { }\n";
    let expected = [("L040", "undefined"), ("E021", "nope"), ("E022", "")];
    assert_eq!(errors(both), expected.map(|(code, text)| (code, text.to_string())));
    // What is not closed does not hide what follows its line with a brace.
    for body in ["root ::= \"x", "root ::= [a", "root ::= \"x\" # }", "root ::= <t"] {
        let open = format!("start: a nope\na: %gbnf {{ {body}\n}}\nb: \"x\"\n");
        let found = errors(&open);
        let is_closed = body.ends_with('}');
        assert_eq!(found.iter().any(|(code, _)| *code == "L012"), !is_closed, "{body}: {found:?}");
        assert!(found.contains(&("L040", "nope".to_string())), "{body}: {found:?}");
    }
    assert_eq!(errors("start: %gbnf \"a\"\n")[0].0, "L010");
    assert_eq!(errors("start: A\nA: %gbnf { root ::= \"a\" }\n")[0].0, "L051");
    assert_eq!(errors("start: %gnbf { root ::= \"a\" }\n")[0], ("L008", "%gnbf".to_string()));
}

#[test]
fn lists_of_several_languages() {
    let list = r#"{"grammars": [
        {"lark_grammar": "start: @g | @k | @r | @j\n%ignore \" \""},
        {"name": "g", "gbnf_grammar": "root ::= \"g\" [0-9]+"}, {"name": "k", "kbnf_grammar": "start ::= 'k' 'k';"},
        {"name": "r", "regex": "r+"}, {"name": "j", "json_schema": {"type": "boolean"}}]}"#;
    let engine = Engine::new(Arc::new(Vocabulary::single_bytes()));
    let grammar = engine.compile(&Source::list(list)).unwrap();
    for (text, expected) in
        [(" g12 ", true), ("kk", true), ("rrr", true), ("true", true), ("g 1", false), ("k k", false)]
    {
        let mut matcher = grammar.matcher().unwrap();
        let accepted = matcher.consume_bytes(text.as_bytes()).is_ok() && matcher.is_accepting().unwrap();
        assert_eq!(accepted, expected, "{text}");
    }
    let two = r#"{"grammars": [{"regex": "a", "gbnf_grammar": "root ::= \"a\""}, {"regex": 1}]}"#;
    let error = engine.compile(&Source::list(two)).unwrap_err();
    let codes: Vec<&str> = error.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
    assert_eq!(codes, ["F011", "F012"]);
}

/// What cannot be matched says nothing of how long it takes to match what stands beside it.
#[test]
fn ways_without_texts_under_a_bound() {
    let engine = engine();
    let patterns = [
        r#""pattern": "\\d\\d|_(?<=\\d)""#,
        r#""anyOf": [{"pattern": "\\d\\d"}, {"allOf": [{"pattern": "a$"}, {"pattern": "b$"}]}]"#,
    ];
    for pattern in patterns {
        let schema = format!(r#"{{"type": "string", "maxLength": 3, {pattern}}}"#);
        let grammar = engine.compile(&Source::json_schema(schema)).expect("it compiles");
        let mut mask = TokenMask::new(engine.vocabulary().len());
        for text in ["\"", "\"n", "\"n6", "\"8", "\"n68", "\"68"] {
            let mut matcher = grammar.matcher().expect("it starts");
            matcher.consume_bytes(text.as_bytes()).expect("it may begin so");
            matcher.compute_mask(&mut mask).expect("a mask");
            for byte in 0..=255 {
                assert_eq!(mask.is_allowed(byte), matcher.is_allowed(byte).expect("an answer"), "{byte} after {text}");
            }
        }
    }
}

/// Where one part of a format has ended and another goes on there is no text, which is found out without counting how long.
#[test]
fn formats_beside_bounds_have_masks() {
    let engine = engine();
    let schemas = [
        (r#"{"type": "string", "format": "email", "minLength": 6}"#, r#""\"a\"@b.c"#),
        (r#"{"type": "string", "format": "email", "minLength": 10, "maxLength": 80}"#, r#""\"\\\"\"@example.com"#),
        (r#"{"type": "string", "pattern": "^(?!.*--)[a-z0-9-]+$", "maxLength": 5000}"#, r#""-a-b"#),
        (r#"{"type": "string", "format": "email", "pattern": "example"}"#, r#""\"a\"@x.example.com""#),
        (r#"{"type": "string", "format": "email", "pattern": "\\.com$"}"#, r#""a@b.com""#),
        (r#"{"type": "string", "format": "email", "minLength": 200}"#, r#""a@b."#),
        (r#"{"type": "string", "format": "email", "minLength": 40, "not": {"pattern": "a"}}"#, r#""b@c.d"#),
        (r#"{"type": "string", "format": "hostname", "minLength": 40, "pattern": "^(?!.*--)"}"#, r#""a.b-c"#),
        (r#"{"type": "string", "format": "uri", "maxLength": 20, "pattern": "^(?!.*--)"}"#, r#""http://a.example/-a""#),
        (
            r#"{"type": "string", "format": "iri", "minLength": 10, "maxLength": 30, "not": {"pattern": "^[a-z]"}}"#,
            r#""A:/123ä7890""#,
        ),
        (r#"{"type": "string", "format": "time", "minLength": 200}"#, r#""16:01:12.345"#),
        (r#"{"type": "string", "format": "regex", "maxLength": 255}"#, r#""a((?<x>b){39871,40000}[a-z])""#),
        (r#"{"type": "string", "format": "regex", "minLength": 5, "not": {"pattern": "admin"}}"#, r#""((a))""#),
        (r#"{"type": "string", "maxLength": 2, "not": {"pattern": "\\P{L}{2}|/"}}"#, r#""aé""#),
        (r#"{"type": "string", "pattern": "(é?\\S\\p{L})?", "not": {"pattern": "[^\\w]+"}}"#, r#""ab""#),
        (
            r#"{"type": "string", "pattern": "^(?!.*\\p{L}\\P{L})", "allOf": [{"pattern": "(\\p{L})\\s|-"}], "maxLength": 3}"#,
            r#""-é""#,
        ),
        (r#"{"type": "string", "format": "regex", "maxLength": 20, "pattern": "^(?!.*--)"}"#, r#""((-)-a)""#),
        (r#"{"type": "string", "format": "regex", "minLength": 40, "not": {"pattern": "a"}}"#, r#""((b)[^b-c]"#),
        (
            r#"{"type": "string", "format": "regex", "pattern": "\\.(com|org|net)$", "maxLength": 100}"#,
            r#""(e.com).org""#,
        ),
        (r#"{"type": "string", "format": "idn-hostname", "minLength": 5, "maxLength": 60}"#, r#""例え.com""#),
        (r#"{"type": "string", "format": "idn-hostname", "minLength": 200}"#, r#""kాలకు.例え."#),
        (r#"{"type": "string", "format": "idn-hostname", "minLength": 40, "not": {"pattern": "a"}}"#, r#""例え.com"#),
        (
            r#"{"type": "string", "format": "idn-hostname", "allOf": [{"pattern": "^a"}, {"pattern": "z$"}], "maxLength": 64}"#,
            r#""a例え.comz""#,
        ),
        (r#"{"type": "string", "format": "idn-email", "maxLength": 20, "pattern": "^(?!.*--)"}"#, r#""é-e@例え.com""#),
        (r#"{"type": "string", "format": "idn-email", "minLength": 40, "not": {"pattern": "a"}}"#, r#""é-e@例え.com"#),
    ];
    let mut mask = TokenMask::new(engine.vocabulary().len());
    for (schema, text) in schemas {
        let mut matcher =
            engine.compile(&Source::json_schema(schema)).expect("it compiles").matcher().expect("it starts");
        for byte in text.bytes() {
            matcher.compute_mask(&mut mask).unwrap_or_else(|error| panic!("{schema}: {error}"));
            assert!(mask.is_allowed(byte.into()), "{schema}: {}", char::from(byte));
            matcher.consume_token(byte.into()).expect("it is allowed");
        }
    }
}

/// What has no value is not begun.
#[test]
fn properties_without_values_are_not_offered() {
    let engine = engine();
    for value in [
        r#""format": "date-time", "maxLength": 19"#,
        r#""format": "time", "pattern": "example""#,
        r#""minLength": 5, "not": {"pattern": "^|a"}"#,
    ] {
        let schema = format!(r#"{{"type": "object", "additionalProperties": {{"type": "string", {value}}}}}"#);
        for spelling in [Spelling::generator(), Spelling::validator()] {
            let options = CompileOptions { spelling, ..CompileOptions::default() };
            let grammar = engine.compile_with(&Source::json_schema(&*schema), &options).expect("it compiles");
            let mut matcher = grammar.matcher().expect("it starts");
            matcher.consume_bytes(b"{").expect("an object");
            assert_eq!(matcher.is_allowed(b'"'.into()), Ok(false), "{value}");
            assert_eq!(matcher.is_allowed(b'}'.into()), Ok(true), "{value}");
        }
    }
}

/// Near a bound few multiples are left, of which any number of zeros and an exponent may make texts.
#[test]
fn bounded_multiples_have_masks() {
    let engine = engine();
    let options = CompileOptions { spelling: Spelling::validator(), ..CompileOptions::default() };
    let schemas = [
        (r#"{"multipleOf": 3.6, "maximum": 100}"#, "30.24e-8"),
        (r#"{"type": "number", "multipleOf": 123.456, "minimum": -255, "maximum": 255}"#, "-246.912e0"),
        (r#"{"type": "number", "multipleOf": 0.75, "minimum": 2, "maximum": 37.5}"#, "0.00283500e4"),
        (r#"{"type": "integer", "multipleOf": 97, "maximum": 1000000}"#, "440186e0"),
        (r#"{"type": "number", "multipleOf": 13.7, "maximum": 1e12}"#, "396144741624.3e3"),
        (r#"{"type": "number", "multipleOf": 1.001, "maximum": 1e6}"#, "702962.3"),
    ];
    let mut mask = TokenMask::new(engine.vocabulary().len());
    for (schema, text) in schemas {
        let grammar = engine.compile_with(&Source::json_schema(schema), &options).expect("it compiles");
        let mut matcher = grammar.matcher().expect("it starts");
        for byte in text.bytes() {
            matcher.compute_mask(&mut mask).unwrap_or_else(|error| panic!("{schema}: {error}"));
            if !mask.is_allowed(byte.into()) {
                break;
            }
            matcher.consume_token(byte.into()).expect("it is allowed");
        }
    }
}

/// A text that has spent the expressions which grammars share spoils no other text.
#[test]
fn matchers_after_one_that_met_expressions_max() {
    let limits = larkspur::Limits { expressions_max: 60_000, ..larkspur::Limits::default() };
    let options = EngineOptions { limits, ..EngineOptions::default() };
    let engine = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("sound slices");
    let schema = r#"{"type": "array", "uniqueItems": true, "items": {"type": "integer"}}"#;
    let grammar = engine.compile(&Source::json_schema(schema)).expect("it compiles");
    let mut long = grammar.matcher().expect("it starts");
    long.consume_bytes(b"[0").expect("an array");
    let met = (1..10_000).find_map(|number| long.consume_bytes(format!(",{number}").as_bytes()).err());
    let exceeded = MatcherError::LimitExceeded { limit: "expressions_max", value: 60_000 };
    assert_eq!(met, Some(exceeded));
    let mut other = grammar.matcher().expect("it starts");
    other.consume_bytes(b"[1,2,3]").expect("another text");
    assert_eq!(other.is_accepting(), Ok(true));
}

/// Slices are numbered in a byte: of more than it holds some were taken for each other, and masks were wrong.
#[test]
fn too_many_slices() {
    let mut builder = Vocabulary::builder();
    let lens = 1..SLICES_MAX as u32 + 2;
    lens.clone().for_each(|len| _ = builder.token(len, "a".repeat(len as usize)));
    let vocabulary = Arc::new(builder.build().expect("sound tokens"));
    let with = |count: usize| {
        let slices = (1..=count).map(|len| format!("a{{{len}}}")).collect();
        Engine::with_options(vocabulary.clone(), &EngineOptions { slices, ..EngineOptions::default() })
    };
    let engine = with(SLICES_MAX).expect("as many as are possible");
    let mut matcher = engine.compile(&Source::regex("a+")).expect("it compiles").matcher().expect("within limits");
    let mut mask = TokenMask::new(vocabulary.len());
    matcher.compute_mask(&mut mask).expect("within limits");
    assert_eq!(mask.iter().collect::<Vec<u32>>(), lens.collect::<Vec<u32>>());
    let error = with(300).expect_err("too many");
    assert_eq!(error.to_string(), "300 slices; at most 64 are possible");
}

/// The mistake is the limit's, not that of slices that nobody gave.
#[test]
fn limits_too_small_for_slices() {
    let limits = larkspur::Limits { expressions_max: 200, ..larkspur::Limits::default() };
    let options = EngineOptions { limits, ..EngineOptions::default() };
    let error = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect_err("a limit");
    assert!(error.to_string().starts_with("limit `expressions_max` of 200 exceeded"), "{error}");
}

/// A message about the whole shows what may be the cause of an error, and no other warnings.
#[test]
fn warnings_of_what_an_error_marks() {
    let schema = r#"{"type":"string","pattern":"/^[a-z]+$/","titel":"t"}"#;
    let error = engine().compile(&Source::json_schema(schema)).expect_err("no text matches");
    let codes: Vec<(&str, bool)> = error.diagnostics.iter().map(|found| (found.code, error.shows(found))).collect();
    assert_eq!(codes, [("J020", true), ("R107", true), ("J030", false)]);
}

/// A schema within another text is read twice; what is wrong with its JSON is said once.
#[test]
fn repeated_keys_of_a_schema_in_lark() {
    let lark = r#"start: %json {"properties": {"a": {}, "a": {"type": "null"}}}"#;
    let grammar = engine().compile(&Source::lark(lark)).expect("the last one counts");
    let codes: Vec<&str> = grammar.warnings().iter().map(|warning| warning.code).collect();
    assert_eq!(codes, ["N101"]);
}

/// Where a `stop` begins is found in one pass, however many of its beginnings the text has: they were tried one by one.
#[test]
fn beginnings_of_a_stop() {
    let source = Source::lark("start: t\nt[capture, stop=/a*b[0-9]/]: /(.|\\n)*/\n");
    let grammar = engine().compile(&source).expect("it compiles");
    let text = format!("{}cab1", "a".repeat(16_000));
    let start = Instant::now();
    let mut matcher = grammar.matcher().expect("within limits");
    matcher.consume_bytes(text.as_bytes()).expect("it may follow");
    assert_eq!(matcher.captures().expect("within limits")[0].bytes.len(), 16_001);
    let mut matcher = grammar.matcher_with(backtracking()).expect("within limits");
    let (last, before) = text.as_bytes().split_last().expect("there is text");
    matcher.consume_bytes(before).expect("it may follow");
    assert_eq!(matcher.unsettled_len(), Ok(2));
    matcher.consume_token((*last).into()).expect("it may follow");
    assert_eq!(matcher.text().len(), 16_001);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

/// Beginnings that are all unlike each other are work, which has a limit. The matcher is then where it was.
#[test]
fn beginnings_of_a_stop_have_a_limit() {
    let limits = larkspur::Limits { lexer_work_max: 100_000, ..larkspur::Limits::default() };
    let options = EngineOptions { limits, slices: Vec::new(), ..EngineOptions::default() };
    let engine = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("there are no slices");
    let source = Source::lark("start: t\nt[stop=/a{300}b/]: /(.|\\n)*/\n");
    let mut matcher = engine.compile(&source).expect("it compiles").matcher_with(backtracking()).expect("it starts");
    matcher.consume_bytes("a".repeat(1_000).as_bytes()).expect("it may follow");
    let exceeded = MatcherError::LimitExceeded { limit: "lexer_work_max", value: 100_000 };
    assert_eq!(matcher.unsettled_len(), Err(exceeded.clone()));
    assert_eq!(matcher.consume_token(b'b'.into()), Err(exceeded));
    assert_eq!(matcher.text().len(), 1_000);
}

fn backtracking() -> MatcherOptions {
    MatcherOptions { backtracking: true, ..MatcherOptions::default() }
}

/// Lazy repetitions of many alternatives are refused or read at once; 3,000 took 16 s.
#[test]
fn lazy_repetitions_of_many_alternatives() {
    for count in [100, 250, 3_000] {
        let words: Vec<String> = (0..count).map(|number| format!("ab{number}c")).collect();
        let start = Instant::now();
        let _ = engine().compile(&Source::lark(format!("start: A\nA: /({})*?x/\n", words.join("|"))));
        assert!(start.elapsed() < Duration::from_secs(4), "{count}: {:?}", start.elapsed());
    }
}

fn mistakes(kind: SourceKind, text: &str) -> Vec<larkspur::Diagnostic> {
    match engine().compile(&Source::text("text", kind, text)) {
        Ok(grammar) => panic!("{} compiles", grammar.sources().get(SourceId(0)).name),
        Err(error) => error.diagnostics,
    }
}

/// Where more is wrong than is shown, that is said in every language.
#[test]
fn there_are_more_problems() {
    let lines = |line: fn(usize) -> String| (0..150).map(line).collect::<String>();
    let texts = [
        (SourceKind::Lark, format!("start: \"x\"\n{}", lines(|at| format!("r{at} ::= \"a\"\n"))), "L099"),
        (SourceKind::Gbnf, format!("root ::= \"x\"\n{}", lines(|at| format!("r{at} : \"a\"\n"))), "E099"),
        (SourceKind::Kbnf, format!("start ::= \"x\";\n{}", lines(|at| format!("r{at} ::= /a/;\n"))), "K099"),
        (SourceKind::Regex, lines(|_| "\\y".to_owned()), "R099"),
        (SourceKind::JsonSchema, format!("{{{}}}", lines(|at| format!("'p{at}':1,"))), "N099"),
    ];
    for (kind, text, code) in texts {
        let found = mistakes(kind, &text);
        let last = found.last().expect("a diagnostic");
        assert_eq!((found.len(), last.code), (101, code));
        assert_eq!(last.message, "there are more problems, which are not shown");
    }
    let undefined = |count: usize| (0..count).map(|at| format!(" u{at}")).collect::<String>();
    let found = mistakes(SourceKind::Lark, &format!("start:{}\n", undefined(101)));
    assert_eq!(found.last().map(|last| &*last.message), Some("1 more problem is not shown"));
    assert_eq!(mistakes(SourceKind::Lark, &format!("start:{}\n", undefined(100))).len(), 100);
}

/// A text in another language is one mistake.
#[test]
fn other_languages() {
    let gbnf = "root ::= a [b-c]+\na ::= \"a\"\n";
    let kbnf = "start ::= a 'b';\na ::= \"a\";\n";
    let lark = "start: a /b+/\na: \"a\"\n";
    let schema = "{\"type\": \"object\"}";
    let texts = [
        (SourceKind::Lark, gbnf, "GBNF"),
        (SourceKind::Lark, kbnf, "KBNF"),
        (SourceKind::Lark, schema, "JSON Schema"),
        (SourceKind::Lark, "/x/g.lark", "the name of a file"),
        (SourceKind::Gbnf, lark, "Lark"),
        (SourceKind::Gbnf, kbnf, "KBNF"),
        (SourceKind::Gbnf, "/x/g.gbnf", "the name of a file"),
        (SourceKind::Kbnf, gbnf, "GBNF"),
        (SourceKind::JsonSchema, lark, "Lark"),
        (SourceKind::JsonSchema, "/x/s.json", "the name of a file"),
        (SourceKind::JsonSchema, "type: object\nproperties:\n  a:\n    type: string\n", "YAML"),
    ];
    for (kind, text, looks) in texts {
        let found = mistakes(kind, text);
        let message = format!("this looks like {looks}, and is read as {}", kind.title());
        assert_eq!((found.len(), &found[0].message), (1, &message), "{text}");
    }
    // With a mistake of its own it is what it was given out for.
    assert_ne!(mistakes(SourceKind::Lark, "start: a\nb ::= \"a\"\n")[0].code, "F008");
    // What is a comment in GBNF may be a regex of KBNF.
    let texts = [
        ("start ::= #\"[0-9\";\n", "R003"),
        ("start ::= #\"a\\d+\";", "K007"),
        ("start ::= #'(a)\\\\1';", "R027"),
        ("start ::= #'a{2,1}';", "R008"),
        ("start ::= #sub'abc';", "K012"),
        ("start ::= \"a\" | \"b\"\n", "K006"),
        ("root ::= #e'[';\n", "R003"),
        ("root ::= \"a\" #\"[\";\n", "R003"),
    ];
    for (text, code) in texts {
        assert!(mistakes(SourceKind::Kbnf, text).iter().any(|found| found.code == code), "{text}");
    }
    assert_eq!(mistakes(SourceKind::Kbnf, "root ::= \"#\" # a comment\n")[0].code, "F008");
}
