//! The table of front ends: a new one is one new folder and a row here.

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{
    ByteSet, Dialect, EmbedKind, ExprKind, Grammar, GrammarOptions, IgnoreEdges, LexerMode, Limits, RegexOptions, Rule,
    SourceId, SourceMap, Span, Terminal, TextMap, json, parse_regex,
};
use larkspur_json_schema::{SchemaOptions, Spelling};
use larkspur_lark_frontend::{InnerLanguage, LarkOptions};

use crate::compile::{CompileOptions, Reading};
use crate::list;
use crate::mistake::Mistake;
use crate::source::{Source, SourceBody, SourceKind};

/// One kind of source.
pub(crate) struct FrontEnd {
    pub kind: SourceKind,
    /// As it is called in messages.
    pub title: &'static str,
    /// How files of this kind end.
    pub extension: Option<&'static str>,
    /// Reads a source into grammars, the root first; none if an error was reported.
    pub read: fn(&mut Reading, SourceId) -> Vec<Grammar>,
}

/// One row for each [`SourceKind`], in its order.
pub(crate) const FRONT_ENDS: [FrontEnd; 6] = [
    FrontEnd { kind: SourceKind::Lark, title: "Lark", extension: Some(".lark"), read: lark },
    FrontEnd { kind: SourceKind::Regex, title: "a regex", extension: Some(".regex"), read: regex },
    FrontEnd { kind: SourceKind::JsonSchema, title: "JSON Schema", extension: Some(".json"), read: json_schema },
    FrontEnd { kind: SourceKind::Gbnf, title: "GBNF", extension: Some(".gbnf"), read: gbnf },
    FrontEnd { kind: SourceKind::Kbnf, title: "KBNF", extension: Some(".kbnf"), read: kbnf },
    FrontEnd { kind: SourceKind::List, title: "a list of grammars", extension: None, read: list::read },
];

/// Languages besides JSON whose texts may stand in Lark.
pub(crate) const INNER_LANGUAGES: [InnerLanguage; 2] = [
    InnerLanguage { name: "gbnf", end: larkspur_gbnf_frontend::body_end },
    InnerLanguage { name: "kbnf", end: larkspur_kbnf_frontend::body_end },
];

const _: () = {
    let mut row = 0;
    while row < FRONT_ENDS.len() {
        assert!(FRONT_ENDS[row].kind as usize == row, "rows are in the order of the kinds");
        row += 1;
    }
};

impl SourceKind {
    pub(crate) fn row(self) -> &'static FrontEnd {
        const { &FRONT_ENDS }.get(self as usize).expect("one row for each kind")
    }
}

fn lark(reading: &mut Reading, source: SourceId) -> Vec<Grammar> {
    let start = reading.options.start.clone();
    lark_grammar(reading, source, "", start.as_deref()).into_iter().collect()
}

/// Reads a Lark text as the grammar `name`; the rule to start with is `start` if it is not given.
pub(crate) fn lark_grammar(
    reading: &mut Reading,
    source: SourceId,
    name: &str,
    start: Option<&str>,
) -> Option<Grammar> {
    let options = LarkOptions {
        start,
        limits: reading.limits,
        lexer: reading.options.lexer,
        llguidance_face: reading.options.llguidance_face,
        name,
        modules: reading.options.modules.as_ref(),
        inner_languages: &INNER_LANGUAGES,
        look_work: reading.inner.spent.look_work,
    };
    let parsed = larkspur_lark_frontend::parse(&mut reading.sources, source, &options);
    reading.inner.spent.look_work = parsed.look_work;
    reading.diagnostics.extend(parsed.diagnostics);
    if parsed.grammar.is_none() {
        // It is not going to be linked, which is when they are read: what is wrong with them shows in the same run.
        parsed.inner_texts.into_iter().for_each(|(language, body)| _ = inner_text(reading, language, body));
    }
    parsed.grammar
}

/// One rule of one terminal.
fn regex(reading: &mut Reading, source: SourceId) -> Vec<Grammar> {
    let text = &reading.sources.get(source).text;
    let limit = reading.limits.source_bytes_max.min(u32::MAX as usize);
    if text.len() > limit {
        let used = text.len();
        reading.report(Span::new(source, 0, 0), Mistake::SourceTooLarge { limit, used });
        return Vec::new();
    }
    let span = Span::new(source, 0, text.len());
    let mut grammar = Grammar::new("");
    grammar.regexes.set_look_work(reading.inner.spent.look_work);
    grammar.options =
        GrammarOptions { lexer: LexerMode::Exact, ignore_edges: IgnoreEdges::None, ..GrammarOptions::default() };
    let options = RegexOptions { alone: true, ..RegexOptions::new(Dialect::Rust) };
    let map = TextMap::verbatim(source, 0);
    let parsed = parse_regex(text, &map, &options, reading.limits, &mut grammar.regexes, &mut reading.diagnostics);
    reading.inner.spent.look_work = grammar.regexes.look_work();
    let name = format!("/{text}/");
    let regex = match parsed {
        Ok(regex) => regex,
        Err(errors) => {
            reading.diagnostics.extend(errors);
            return Vec::new();
        }
    };
    if reading.options.start.is_some() {
        reading.report(span, Mistake::StartWithoutRules { what: "regex" });
    }
    let terminal = grammar.terminals.push(Terminal::new(name, span, regex));
    let body = grammar.expr(ExprKind::Terminal(terminal), span);
    grammar.start = grammar.rules.push(Rule::new("start", span, body));
    vec![grammar]
}

fn json_schema(reading: &mut Reading, source: SourceId) -> Vec<Grammar> {
    let len = reading.sources.get(source).text.len();
    let limit = reading.limits.source_bytes_max.min(u32::MAX as usize);
    if len > limit {
        reading.report(Span::new(source, 0, 0), Mistake::SourceTooLarge { limit, used: len });
        return Vec::new();
    }
    let span = Span::new(source, 0, len);
    if reading.options.start.is_some() {
        reading.report(span, Mistake::StartWithoutRules { what: "JSON Schema" });
    }
    let spelling = reading.options.spelling.clone();
    schema(reading, span, spelling)
}

fn gbnf(reading: &mut Reading, source: SourceId) -> Vec<Grammar> {
    let start = reading.options.start.clone();
    gbnf_grammar(reading, reading.sources.whole(source), "", start.as_deref()).into_iter().collect()
}

fn gbnf_grammar(reading: &mut Reading, body: Span, name: &str, start: Option<&str>) -> Option<Grammar> {
    let options = ReadOptions { start, name, ..ReadOptions::new(reading.limits) };
    let parsed = larkspur_gbnf_frontend::parse(&reading.sources, body, &options);
    reading.diagnostics.extend(parsed.diagnostics);
    parsed.grammar
}

fn kbnf(reading: &mut Reading, source: SourceId) -> Vec<Grammar> {
    let start = reading.options.start.clone();
    kbnf_grammar(reading, reading.sources.whole(source), "", start.as_deref()).into_iter().collect()
}

fn kbnf_grammar(reading: &mut Reading, body: Span, name: &str, start: Option<&str>) -> Option<Grammar> {
    let look_work = reading.inner.spent.look_work;
    let options = ReadOptions { start, name, look_work, ..ReadOptions::new(reading.limits) };
    let parsed = larkspur_kbnf_frontend::parse(&reading.sources, body, &options);
    reading.inner.spent.look_work = parsed.look_work;
    reading.diagnostics.extend(parsed.diagnostics);
    parsed.grammar
}

/// A text of any kind but a schema or a list, as the grammar `name`.
pub(crate) fn named_text(
    reading: &mut Reading,
    kind: SourceKind,
    source: SourceId,
    name: &str,
    start: Option<&str>,
) -> Option<Grammar> {
    let whole = reading.sources.whole(source);
    if !reading.enters(whole) {
        return None;
    }
    let grammar = match kind {
        SourceKind::Lark => lark_grammar(reading, source, name, start),
        SourceKind::Gbnf => gbnf_grammar(reading, whole, name, start),
        SourceKind::Kbnf => kbnf_grammar(reading, whole, name, start),
        SourceKind::Regex => regex(reading, source).pop().map(|grammar| Grammar { name: name.to_owned(), ..grammar }),
        SourceKind::JsonSchema | SourceKind::List => None,
    }?;
    reading.entered(whole, &grammar);
    Some(grammar)
}

/// A text that stands in no other text, as it is embedded. Those that are read when they are linked are only read here if
/// they are not going to be.
pub(crate) fn content_text(reading: &mut Reading, kind: SourceKind, source: SourceId) -> Option<EmbedKind> {
    let language = match kind {
        SourceKind::Lark | SourceKind::Regex => {
            return named_text(reading, kind, source, "", None).map(|grammar| EmbedKind::Inline(Box::new(grammar)));
        }
        SourceKind::JsonSchema => "json",
        SourceKind::Gbnf => "gbnf",
        SourceKind::Kbnf => "kbnf",
        SourceKind::List => return None,
    };
    let body = reading.sources.whole(source);
    if reading.has_errors() {
        inner_text(reading, language, body);
    }
    Some(EmbedKind::Text { language, body })
}

/// A text that stands in a Lark text, behind `%language`.
pub(crate) fn inner_text(reading: &mut Reading, language: &str, body: Span) -> Option<Grammar> {
    if language == "json" {
        return embedded_schema(reading, body).pop();
    }
    if !reading.enters(body) {
        return None;
    }
    let grammar = match language {
        "gbnf" => gbnf_grammar(reading, body, "%gbnf", None),
        _ => kbnf_grammar(reading, body, "%kbnf", None),
    }?;
    reading.entered(body, &grammar);
    Some(grammar)
}

/// A schema that stands inside another source: a `%json` body, or an element of a list. What stands around its values is
/// for that source to say.
pub(crate) fn embedded_schema(reading: &mut Reading, span: Span) -> Vec<Grammar> {
    if !reading.enters(span) {
        return Vec::new();
    }
    let spelling = Spelling { whitespace_outside: false, ..reading.options.spelling.clone() };
    let grammars = schema(reading, span, spelling);
    grammars.iter().for_each(|grammar| reading.entered(span, grammar));
    grammars
}

fn schema(reading: &mut Reading, span: Span, spelling: Spelling) -> Vec<Grammar> {
    let spent = reading.inner.spent;
    let options = SchemaOptions { spelling, spent, ..schema_options(reading.options, reading.limits) };
    let (parsed, late) = larkspur_json_schema::compile_with_late_warnings(&mut reading.sources, span, &options);
    reading.took(parsed.spent, parsed.grammar.is_none());
    if reading.late.len() < reading.limits.diagnostics_max.max(1) {
        reading.late.extend(late);
    } else {
        reading.leaves_out |= late.is_some();
    }
    // What surrounds the schema has read the same JSON, and said what is wrong with it.
    let mut diagnostics = parsed.diagnostics;
    diagnostics.retain(|diagnostic| !reading.diagnostics.contains(diagnostic));
    reading.diagnostics.append(&mut diagnostics);
    parsed.grammar.into_iter().collect()
}

fn schema_options<'a>(options: &'a CompileOptions, limits: &'a Limits) -> SchemaOptions<'a> {
    let defaults = SchemaOptions::new(limits);
    SchemaOptions {
        retriever: options.retriever.as_ref(),
        draft: options.draft.unwrap_or(defaults.draft),
        format_annotation: options.format_annotation,
        spelling: options.spelling.clone(),
        ..defaults
    }
}

/// A place in a text that is meant to be an instance of a JSON Schema.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InstancePlace {
    /// The value that the byte belongs to, as a JSON pointer.
    pub pointer: String,
    /// The schemas that say something of that value: `#/properties/a`, with the name of its document before it if that
    /// is another one. Of branches (`anyOf` and the like) all are listed.
    pub schemas: Vec<String>,
}

/// Where in an instance the byte `at` of its text stands, and what applies there; `None` if the source is no JSON
/// Schema. What stands before `at` is taken to be the beginning of a JSON text; `allowed` is what could have followed it.
pub fn instance_place(
    source: &Source,
    options: &CompileOptions,
    limits: &Limits,
    text: &[u8],
    at: usize,
    allowed: &ByteSet,
) -> Option<InstancePlace> {
    let SourceBody::Text { kind: SourceKind::JsonSchema, text: schema } = &source.body else { return None };
    let mut sources = SourceMap::new();
    let id = sources.add(&source.name, schema);
    let path = json::path_at(text, at, b",]} \t\n\r".iter().any(|&byte| allowed.contains(byte)));
    let body = Span::new(id, 0, schema.len());
    let schemas = larkspur_json_schema::schemas_at(&mut sources, body, &schema_options(options, limits), &path);
    Some(InstancePlace { pointer: json::path_pointer(&path), schemas })
}
