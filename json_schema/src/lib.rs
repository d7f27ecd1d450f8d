//! JSON Schema to the grammar IR, exactly or not at all.
//!
//! In: the text of a schema (drafts 4, 6, 7, 2019-09, 2020-12). Out: [`Parsed`]: a [`Grammar`] of the valid values as
//! JSON texts, or diagnostics that name the keyword, its JSON pointer and its place. A schema is enforced exactly or
//! refused; what has no effect by the specification (annotations, unknown keywords and formats) is a warning where it
//! could be a mistake. How values are written is fixed by the [`Spelling`]; `docs/json_schema.md` has the details.
//! Knows nothing of other front ends, of vocabularies and of parsing with the grammar.
//!
//! Stages: `loader` (documents and the names in them), `reach` (where references lead), `parser` (one schema's keywords to `ast`), `normal` (Boolean nodes to shapes,
//! `ir`), `inhabited` (is there a value at all), `lower` (shapes to rules and terminals).
//!
//! ```
//! use larkspur_grammar::{Limits, SourceMap, Span};
//! use larkspur_json_schema::{SchemaOptions, compile};
//!
//! let text = r#"{"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}"#;
//! let mut sources = SourceMap::new();
//! let source = sources.add("a.json", text);
//! let limits = Limits::default();
//! let parsed = compile(&mut sources, Span::new(source, 0, text.len()), &SchemaOptions::new(&limits));
//! assert!(parsed.diagnostics.is_empty());
//! assert!(parsed.grammar.is_some());
//! ```
#![forbid(unsafe_code)]

mod arrays;
mod ast;
mod automata;
mod codes;
mod constants;
mod contradiction;
mod discriminators;
mod documents;
mod draft;
mod emptiness;
mod error;
mod formats;
mod guidance;
mod hints;
mod inhabited;
mod ir;
mod late;
mod lints;
mod loader;
mod lower;
mod normal;
mod number_automata;
mod number_texts;
mod numbers;
mod objects;
mod once;
mod parser;
mod patterns;
mod places;
mod plan;
mod prelude;
mod reach;
mod refs;
mod saved;
mod shapes;
mod spelling;
mod strings;
mod texts;
mod twins;
mod unevaluated;
mod unused;
mod uri;
mod words;
mod writing;

use larkspur_grammar::json::{JsonDocument, JsonId, parse_json, parse_json_prefix};
use larkspur_grammar::{Diagnostic, Grammar, Limits, SourceMap, Span};

pub use codes::CODES;
pub use documents::Retriever;
pub use draft::Draft;
pub use late::LateWarnings;
pub use places::schemas_at;
pub use saved::{read_automaton, read_dfa};
pub use spelling::{KeyOrder, NumberSpelling, Spelling, StringEscapes, UnknownFormat, Whitespace};

use error::{Excluding, Mistake, Sink};
use formats::Formats;
use guidance::Guidance;
use late::LateList;
use loader::Loader;
use normal::{Mode, Normalizer};
use patterns::between_slashes;
use prelude::Prelude;
use refs::Resources;
use twins::Twins;

/// To look for the keywords that exclude each other, each look takes at most this part of what a schema's work may, and of a regex's.
const WORK_SHARE: u64 = 50;
const FUEL_SHARE: u64 = 10;

/// JSON values of a schema whose warnings wait, which keeps them in memory, at most.
const LATE_VALUES_MAX: usize = 4_096;

/// How to read a schema.
#[derive(Clone, Debug)]
pub struct SchemaOptions<'a> {
    /// Bounds.
    pub limits: &'a Limits,
    /// The grammar's name, for messages and `@name`.
    pub name: &'a str,
    /// The draft of a schema without `$schema`.
    pub draft: Draft,
    /// How values are written; `x-guidance` in the schema beats it.
    pub spelling: Spelling,
    /// The URI of the schema, against which its references are resolved; `$id` in the schema beats it.
    pub uri: &'a str,
    /// Gives the documents that the schema refers to. Without one there are only the meta-schemas, which are built in.
    pub retriever: Option<&'a Retriever>,
    /// `format` is an annotation, as the specification has it by default, and not an assertion.
    pub format_annotation: bool,
    /// What other schemas of the same source have taken: limits hold for all together.
    pub spent: Spent,
}

/// What schemas have taken of the limits that hold for all schemas of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// Of [`Limits::schema_work_max`].
    pub work: u64,
    /// Of [`Limits::schema_nodes_max`].
    pub nodes: usize,
    /// Of [`Limits::look_work_max`], which holds for all texts of a source.
    pub look_work: u64,
}

impl<'a> SchemaOptions<'a> {
    /// A grammar without name, of draft 2020-12, in the generator's spelling.
    pub fn new(limits: &'a Limits) -> Self {
        let spelling = Spelling::default();
        let (name, uri, draft) = ("", "", Draft::Draft2020);
        let spent = Spent::default();
        Self { limits, name, draft, spelling, uri, retriever: None, format_annotation: false, spent }
    }
}

/// What [`compile`] returns.
#[derive(Debug)]
pub struct Parsed {
    /// The grammar; `None` iff an error is in `diagnostics`.
    pub grammar: Option<Grammar>,
    /// Errors and warnings, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
    /// [`SchemaOptions::spent`] and what this schema has taken.
    pub spent: Spent,
}

/// Reads the schema whose text stands at `body` and turns it into a grammar. The texts of other documents that it refers
/// to are added to `sources`.
pub fn compile(sources: &mut SourceMap, body: Span, options: &SchemaOptions) -> Parsed {
    let (mut parsed, late) = compile_with_late_warnings(sources, body, options);
    if let Some(late) = late {
        parsed.diagnostics = late.diagnostics();
    }
    parsed
}

/// The same, with warnings that are put into words when somebody asks for them: `diagnostics` is empty where there are such.
pub fn compile_with_late_warnings(
    sources: &mut SourceMap,
    body: Span,
    options: &SchemaOptions,
) -> (Parsed, Option<LateWarnings>) {
    let document = match read(sources, body, options.limits) {
        Ok(document) => document,
        Err(diagnostics) => return (Parsed { grammar: None, diagnostics, spent: options.spent }, None),
    };
    let SchemaOptions { limits, retriever, draft, uri, .. } = *options;
    let mut spent = options.spent;
    let mut loader = Loader::new(document, sources, limits, retriever, draft, uri);
    let resolved = reach::resolve(&mut loader).is_ok();
    let (grammar, list, document) = lowered(loader, resolved, options, &mut spent);
    if list.has_errors() || !list.has_warnings() || document.len() > LATE_VALUES_MAX {
        return (Parsed { grammar, diagnostics: list.say(&document), spent }, None);
    }
    (Parsed { grammar, diagnostics: Vec::new(), spent }, Some(LateWarnings::new(document, list)))
}

/// The grammar of what was loaded, and what is to be said of it; `None` iff there are errors.
fn lowered(
    loader: Loader,
    is_resolved: bool,
    options: &SchemaOptions,
    spent: &mut Spent,
) -> (Option<Grammar>, LateList, JsonDocument) {
    let limits = options.limits;
    let Loader { document, resources, mistakes, diagnostics, .. } = loader;
    let mut sink = Sink::new(&document, limits);
    document.warnings().iter().chain(&diagnostics).for_each(|diagnostic| sink.push(diagnostic.clone()));
    mistakes.into_iter().for_each(|(place, mistake)| sink.report(place, mistake));
    check_schema_keyword(&document, &mut sink);
    if !is_resolved {
        return (None, sink.finish(), document);
    }
    parser::check_definitions(&document, &resources, &mut sink);
    unused::check_unused(&document, &resources, &mut sink);
    let guidance = guidance::read(&document, &options.spelling, &mut sink);
    let spelling = &guidance.spelling;
    let formats = match options.format_annotation {
        true => Formats::default(),
        false => Formats::named_in(&document),
    };
    let prelude = match Prelude::of(spelling, formats, limits) {
        Ok(prelude) => prelude,
        Err((field, errors)) => {
            let (keyword, field, place) = guidance::place(&document, field);
            for error in errors {
                let reason = format!("the regex of `{field}` is wrong: {}", error.message);
                sink.report(place, Mistake::Refused { keyword, reason });
            }
            return (None, sink.finish(), document);
        }
    };
    let reading = Reading { resources: &resources, prelude: &prelude, guidance: &guidance, options };
    // What was said so far was said of each place.
    sink.take_said();
    let mut schemas = reading.schemas(&document, Twins::find(&document, &resources), limits, sink);
    schemas.before = *spent;
    schemas.set.set_look_work(spent.look_work);
    let root = schemas.schema(document.root());
    let inhabited = schemas.is_inhabited(root, Mode::Exact);
    // Lowering reaches every sub-schema, so that all mistakes are found in one run.
    let grammar = inhabited.then(|| lower::lower(&mut schemas, root, options.name, spelling, &prelude));
    schemas.repeat_for_twins();
    let regexes = grammar.as_ref().map_or(&schemas.set, |grammar| &grammar.regexes);
    *spent = Spent { look_work: regexes.look_work(), ..schemas.spent() };
    let mut sink = schemas.sink;
    if !inhabited && !sink.has_errors() {
        // Of equal schemas only one may be at fault.
        let mut schemas = reading.schemas(&document, Twins::default(), limits, Sink::new(&document, limits));
        let root = schemas.schema(document.root());
        let (fault, is_endless) = schemas.fault(root);
        let again = schemas.spent();
        spent.work += again.work;
        spent.look_work += again.look_work;
        let place = schemas.ir.origin(fault);
        if is_endless {
            sink.report(place, Mistake::NeverFinished);
        } else {
            reading.report_unsatisfiable(&document, place, &mut sink);
        }
    }
    let list = sink.finish();
    (grammar.filter(|_| !list.has_errors()), list, document)
}

/// What schemas are read with.
struct Reading<'a> {
    resources: &'a Resources,
    prelude: &'a Prelude,
    guidance: &'a Guidance,
    options: &'a SchemaOptions<'a>,
}

impl Reading<'_> {
    fn schemas<'b>(
        &'b self,
        document: &'b JsonDocument,
        twins: Twins,
        limits: &'b Limits,
        sink: Sink<'b>,
    ) -> Normalizer<'b> {
        let spelling = &self.guidance.spelling;
        let mut schemas = Normalizer::new(document, self.resources, twins, limits, sink, self.prelude);
        schemas.coerce_one_of = self.guidance.coerce_one_of;
        schemas.format_annotation = self.options.format_annotation;
        schemas.has_any_spelling = spelling.number_spelling == NumberSpelling::Any;
        schemas.unknown_format = spelling.unknown_format;
        schemas.sink.lenient = spelling.lenient;
        schemas
    }

    /// Says that a schema has no value, and why as far as that is found out.
    fn report_unsatisfiable(&self, document: &JsonDocument, place: JsonId, sink: &mut Sink) {
        let mut limits = self.options.limits.clone();
        limits.schema_work_max /= WORK_SHARE;
        limits.look_work_max /= WORK_SHARE;
        limits.regex_emptiness_fuel /= FUEL_SHARE;
        let is_empty = |document: &JsonDocument| {
            let mut schemas = self.schemas(document, Twins::default(), &limits, Sink::new(document, &limits));
            let schema = schemas.schema(place);
            !schemas.is_inhabited(schema, Mode::Exact) && !schemas.sink.has_errors()
        };
        let mut keywords = contradiction::contradiction(document, place, is_empty);
        let mut help = self.spelled_by_others(document, place, &limits);
        // A pattern that no text matches needs nothing beside it.
        let mut schemas = self.schemas(document, Twins::default(), &limits, Sink::new(document, &limits));
        let alone = keywords.iter().position(|Excluding { member, .. }| {
            member.key == "pattern" && document.string(member.value).is_some() && schemas.matches_nothing(member.value)
        });
        if let Some(alone) = alone {
            keywords = vec![keywords.swap_remove(alone)];
        }
        let patterns = keywords.iter().filter(|keyword| keyword.member.key == "pattern");
        let mut texts = patterns.filter_map(|keyword| document.string(keyword.member.value));
        if let Some(meant) = texts.find_map(between_slashes) {
            help = Some(format!("the slashes are characters of the pattern; write `{meant}`"));
        }
        let span = keywords
            .last()
            .map(|last| &last.member)
            .map_or(document.span(place), |last| Span { end: document.span(last.value).end, ..last.key_span });
        sink.report_at(place, span, Mistake::Unsatisfiable { keywords, help });
    }

    /// What is to be said of a schema that has values of which the plain profile writes none: numbers that are no integers
    /// of draft 4 only by their spelling.
    fn spelled_by_others(&self, document: &JsonDocument, place: JsonId, limits: &Limits) -> Option<String> {
        let has_draft4 = self.resources.about.values().any(|resource| resource.dialect.draft == Draft::Draft4);
        if !has_draft4 || self.guidance.spelling.number_spelling == NumberSpelling::Any {
            return None;
        }
        let mut schemas = self.schemas(document, Twins::default(), limits, Sink::new(document, limits));
        schemas.has_any_spelling = true;
        let schema = schemas.schema(place);
        let is_inhabited = schemas.is_inhabited(schema, Mode::Exact) && !schemas.sink.has_errors();
        is_inhabited.then(|| {
            "in draft 4 `1.0` is no integer, but only numbers of this kind are left, and this profile does not write them; \
             set `number_spelling` to `any`"
                .to_owned()
        })
    }
}

/// The JSON text at `body`. A body that is the whole source holds nothing but the schema.
fn read(sources: &SourceMap, body: Span, limits: &Limits) -> Result<JsonDocument, Vec<Diagnostic>> {
    let text = &sources.get(body.source).text;
    if body.start == 0 && body.end as usize == text.len() {
        return parse_json(body.source, text, limits);
    }
    let end = (body.end as usize).min(text.len());
    let text = text.get(..end).unwrap_or(text);
    parse_json_prefix(body.source, text, body.start as usize, limits).map(|(document, _)| document)
}

fn check_schema_keyword(document: &JsonDocument, sink: &mut Sink) {
    let place = document.get(document.root(), "$schema");
    if let Some(place) = place.filter(|&place| document.string(place).is_none()) {
        sink.report(place, Mistake::KeywordValue { keyword: "$schema", expected: "a string", hint: None });
    }
}
