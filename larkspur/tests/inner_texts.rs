//! Texts that stand in others: each keeps to its limits, and all of them together do.

use std::sync::Arc;

use larkspur::{CompileError, Engine, EngineOptions, Limits, Source, StructuralTags, Vocabulary};

fn compile(source: &Source, limits: Limits) -> Result<(), CompileError> {
    let options = EngineOptions { limits, ..EngineOptions::default() };
    let engine = Engine::with_options(Arc::new(Vocabulary::single_bytes()), &options).expect("sound slices");
    engine.compile(source).map(|_| ())
}

/// The errors' codes, and the limit that the first of them names.
fn errors(source: &Source, limits: Limits) -> (Vec<&'static str>, String) {
    let error = compile(source, limits).expect_err("it is too much");
    let errors = error.diagnostics.iter().filter(|found| found.is_error());
    let codes = errors.clone().map(|found| found.code).collect();
    let text = errors
        .clone()
        .next()
        .map_or_else(String::new, |found| format!("{} {}", found.message, found.help.as_deref().unwrap_or_default()));
    let limit = text.split('`').find(|word| Limits::NAMES.contains(word)).unwrap_or_default();
    (codes, limit.to_owned())
}

/// A Lark text of so many texts behind `%language`, each made of its number.
fn lark(count: usize, inner: impl Fn(usize) -> String) -> Source {
    let names: Vec<String> = (0..count).map(|index| format!("r{index}")).collect();
    let rules: String = (0..count).map(|index| format!("r{index}: \"{index}\" {}\n", inner(index))).collect();
    Source::lark(format!("start: {}\n{rules}", names.join(" | ")))
}

#[test]
fn inner_texts_max() {
    let limits = || Limits { inner_texts_max: 3, ..Limits::default() };
    let over = (vec!["F015"], "inner_texts_max".to_owned());
    // Lark's reader says so of JSON, which it reads itself.
    for (inner, code) in [
        (r#"%json {"type": "null"}"#, "L097"),
        ("%gbnf { root ::= \"x\" }", "F015"),
        ("%kbnf { start ::= \"x\"; }", "F015"),
    ] {
        let over = (vec![code], over.1.clone());
        assert!(compile(&lark(3, |_| inner.to_owned()), limits()).is_ok(), "{inner}");
        assert_eq!(errors(&lark(5, |_| inner.to_owned()), limits()), over, "{inner}");
        // Also where the surroundings have a mistake.
        let (codes, _) = errors(&lark(5, |_| format!("{inner} missing")), limits());
        assert!(codes.contains(&code) && codes.contains(&"L040"), "{inner}: {codes:?}");
    }
    for element in [r#"{"json_schema": {}}"#, r#"{"lark_grammar": "start: \"a\""}"#, r#"{"regex": "a"}"#] {
        let list = |count: usize| Source::list(format!(r#"{{"grammars": [{}]}}"#, vec![element; count].join(", ")));
        assert!(compile(&list(3), limits()).is_ok(), "{element}");
        assert_eq!(errors(&list(5), limits()), over, "{element}");
    }
    for content in [Source::json_schema("{}"), Source::lark("start: \"a\""), Source::gbnf("root ::= \"a\"")] {
        let tags = |count: usize| {
            let tag = |tags: StructuralTags, index: usize| tags.tag(format!("<{index}>"), content.clone(), "</>");
            Source::from((0..count).fold(StructuralTags::new(), tag))
        };
        assert!(compile(&tags(3), limits()).is_ok());
        assert_eq!(errors(&tags(5), limits()), over);
    }
}

#[test]
fn limits_of_a_source_hold_for_all_texts_in_it() {
    let schemas = lark(8, |index| {
        let names: Vec<String> = (0..10).map(|name| format!(r#""{index}-{name}": {{"minLength": {name}}}"#)).collect();
        format!(r#"%json {{"type": "object", "properties": {{{}}}}}"#, names.join(", "))
    });
    assert!(compile(&schemas, Limits::default()).is_ok());
    for limits in
        [Limits { schema_work_max: 300, ..Limits::default() }, Limits { schema_nodes_max: 150, ..Limits::default() }]
    {
        let name = if limits.schema_work_max == 300 { "schema_work_max" } else { "schema_nodes_max" };
        // It is said once.
        assert_eq!(errors(&schemas, limits), (vec!["J040"], name.to_owned()));
    }
    let rules = lark(8, |index| format!("%gbnf {{ root ::= \"{index}\" [a-z] root | \"{index}\" }}"));
    assert!(compile(&rules, Limits::default()).is_ok());
    let limits = Limits { regex_nodes_max: 30, ..Limits::default() };
    assert_eq!(errors(&rules, limits), (vec!["F015"], "regex_nodes_max".to_owned()));
    let rules = lark(8, |index| format!("%gbnf {{ root ::= {}[{index}] }}", "\"x\" root \"y\" | ".repeat(10)));
    assert!(compile(&rules, Limits::default()).is_ok());
    let limits = Limits { written_symbols_max: 150, ..Limits::default() };
    assert_eq!(errors(&rules, limits), (vec!["F015"], "written_symbols_max".to_owned()));
}

/// Each reads regexes into a table of its own.
#[test]
fn look_arounds_of_all_texts_have_one_limit() {
    let password = |index: usize| format!("(?=.*[A-Z])(?=.*[0-9]).{{3,{}}}", 9 + index);
    let sources = |count: usize| {
        let element = |index: usize| format!(r#"{{"lark_grammar": "start: /{}/"}}"#, password(index));
        let elements: Vec<String> = (0..count).map(element).collect();
        [
            (300_000, lark(count, |index| format!("%lark {{ start: /{}/ }}", password(index)))),
            (
                20_000,
                lark(count, |index| format!(r#"%json {{"type": "string", "pattern": "^(?:(?!fo*x{index}).)*$"}}"#)),
            ),
            (1_000_000, lark(count, |index| format!("%kbnf {{ start ::= #\"z(y?\\\\b-?)+,{index}\"; }}"))),
            (300_000, Source::list(format!(r#"{{"grammars": [{}]}}"#, elements.join(", ")))),
        ]
    };
    for ((look_work_max, one), (_, many)) in sources(1).into_iter().zip(sources(20)) {
        let limits = || Limits { look_work_max, ..Limits::default() };
        assert!(compile(&many, Limits::default()).is_ok(), "{many:?}");
        assert!(compile(&one, limits()).is_ok(), "{one:?}");
        let error = compile(&many, limits()).expect_err(&format!("{many:?} is too much"));
        let names =
            |found: &larkspur::Diagnostic| found.help.as_ref().is_some_and(|help| help.contains("`look_work_max`"));
        assert!(error.diagnostics.iter().any(|found| found.code == "R023" && names(found)), "{error}");
    }
}

#[test]
fn behind_as_many_errors_as_are_shown_no_text_is_read() {
    let wrong = lark(50, |index| format!(r#"%json {{"type": "x{index}"}}"#));
    let (codes, _) = errors(&wrong, Limits { diagnostics_max: 7, ..Limits::default() });
    assert_eq!(codes, [["J002"; 7].as_slice(), &["G099"]].concat());
    // Nor an element.
    let list = Source::list(format!(r#"{{"grammars": [{}]}}"#, vec![r#"{"nam": "a", "regex": 1}"#; 50].join(", ")));
    let (codes, _) = errors(&list, Limits { diagnostics_max: 7, ..Limits::default() });
    assert_eq!(codes, [["F012"; 7].as_slice(), &["G099"]].concat());
}
