//! The pipeline up to the engine's door: source -> grammars -> lints -> linked.

use std::collections::HashSet;
use std::sync::Arc;

use larkspur_grammar::diagnostic::{DiagnosticList, more_problems};
use larkspur_grammar::lints::{MORE, lint};
use larkspur_grammar::{Diagnostic, Grammar, LexerMode, Limits, LinkedGrammar, Severity, SourceMap, Span, TokenItem};

use larkspur_json_schema::{Draft, LateWarnings, Retriever, Spelling};

use larkspur_lark_frontend::Modules;
use larkspur_toktrie::limits::VOCABULARY_LEN_MAX;
use larkspur_toktrie::{TokenId, Vocabulary, VocabularyError};

use crate::error::CompileError;
use crate::front_ends::inner_text;
use crate::inner_texts::InnerTexts;
use crate::mistake::Mistake;
use crate::other_language::other_language;
use crate::source::{Source, SourceBody};
use crate::tags;

/// How a source is read.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CompileOptions {
    /// The rule to start with; `start` if it is not given. Of a list, the first grammar's.
    pub start: Option<String>,
    /// Beats what the source says.
    pub lexer: Option<LexerMode>,
    /// Read Lark as if it began with `%llguidance {}`: Rust's regexes, JSON's strings, no ignored text at the edges.
    pub llguidance_face: bool,
    /// How JSON values are written, and what is done with what cannot be enforced; options inside a schema beat it.
    pub spelling: Spelling,
    /// Gives the texts that `%import` in Lark names, such as a [`Folder`](crate::Folder). Without it there are only the
    /// libraries that are built in.
    pub modules: Option<Modules>,
    /// Gives the documents that JSON Schemas refer to. Without one there are only the meta-schemas, which are built in.
    pub retriever: Option<Retriever>,
    /// The draft of JSON Schemas without `$schema`; 2020-12 if it is not given.
    pub draft: Option<Draft>,
    /// `format` in JSON Schemas says nothing of which values are valid, as the specification has it by default.
    pub format_annotation: bool,
}

/// A source whose grammars are read and linked, not yet compiled for a vocabulary.
#[derive(Clone, Debug)]
pub struct Linked {
    /// The grammars.
    pub grammar: LinkedGrammar,
    /// What spans point into.
    pub sources: SourceMap,
    /// Lints.
    pub warnings: Vec<Diagnostic>,
    /// Tokens of the whole text at most, as the source says.
    pub max_tokens: Option<u32>,
}

impl Linked {
    /// The names of tokens that the grammars speak of, such as `<|eom_id|>`, in order of first use.
    pub fn token_names(&self) -> Vec<&str> {
        let sets = self.grammar.grammars.iter().flat_map(|grammar| grammar.token_sets.iter());
        let mut seen = HashSet::new();
        let mut names = Vec::new();
        for item in sets.flat_map(|set| &set.items) {
            if let TokenItem::Name(name) = item
                && seen.insert(name.as_str())
            {
                names.push(name.as_str());
            }
        }
        names
    }

    /// A vocabulary for when none is at hand: the single bytes, `<eos>`, and every special token and token id that the
    /// grammars or `names` speak of. Names get ids past all others.
    ///
    /// Errors: [`VocabularyError`], if there are too many of them.
    pub fn byte_vocabulary(&self, names: Vec<String>) -> Result<Vocabulary, VocabularyError> {
        let mut names = names;
        names.extend(self.token_names().into_iter().map(str::to_owned));
        names.sort();
        names.dedup();
        names.retain(|name| name != "<eos>");
        let mut id_max = 256;
        for set in self.grammar.grammars.iter().flat_map(|grammar| grammar.token_sets.iter()) {
            for item in &set.items {
                if let TokenItem::Range(_, high) = item {
                    id_max = id_max.max(*high);
                }
            }
        }
        let mut builder = Vocabulary::builder();
        for byte in 0..=255u8 {
            builder.token(byte.into(), [byte]);
        }
        builder.special(256, "<eos>").eos(256);
        // Past the limit an id is out of any vocabulary; the compiler says so.
        let id_max = id_max.min((VOCABULARY_LEN_MAX - 1 - names.len().min(VOCABULARY_LEN_MAX / 2)) as TokenId);
        builder.len(id_max as usize + 1 + names.len());
        for (id, name) in (id_max + 1..).zip(names) {
            builder.special(id, name);
        }
        builder.tokenizer(Arc::new(|text: &str| text.bytes().map(TokenId::from).collect()));
        builder.build()
    }
}

/// A source being read; what front ends write into.
pub(crate) struct Reading<'a> {
    pub options: &'a CompileOptions,
    pub limits: &'a Limits,
    pub sources: SourceMap,
    /// The spans point into nothing: a program's grammar came without its sources.
    pub is_without_text: bool,
    pub diagnostics: Vec<Diagnostic>,
    /// What is besides to be said of schemas.
    pub late: Vec<LateWarnings>,
    /// There are more diagnostics than are kept.
    pub leaves_out: bool,
    pub inner: InnerTexts,
    pub max_tokens: Option<u32>,
}

impl Reading<'_> {
    /// Keeps a mistake, while there is room.
    pub fn report(&mut self, span: Span, mistake: Mistake) {
        let diagnostic = mistake.diagnostic(span);
        if !diagnostic.is_error() {
            self.warn([diagnostic]);
        } else if self.has_room() {
            self.diagnostics.push(diagnostic);
        } else {
            self.leaves_out = true;
        }
    }
    /// Whether there are fewer errors than are shown.
    pub fn has_room(&self) -> bool {
        let errors = self.diagnostics.iter().filter(|found| found.is_error()).count();
        errors + self.inner.errors < self.limits.diagnostics_max.max(1)
    }
    /// Keeps warnings, while there is room.
    pub fn warn(&mut self, warnings: impl IntoIterator<Item = Diagnostic>) {
        for warning in warnings {
            if self.diagnostics.len() >= self.limits.diagnostics_max.max(1) {
                self.leaves_out = true;
                return;
            }
            self.diagnostics.push(warning);
        }
    }
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Reads and links a source, which needs no vocabulary.
///
/// Errors: everything that is wrong with it, as far as that shows without a vocabulary.
pub fn link(source: &Source, options: &CompileOptions, limits: &Limits) -> Result<Linked, CompileError> {
    let (linked, late) = link_with_late_warnings(source, options, limits)?;
    Ok(Linked { warnings: with_late(linked.warnings, &late), ..linked })
}

/// The same, with warnings that are to be put into words when somebody asks for them.
pub(crate) fn link_with_late_warnings(
    source: &Source,
    options: &CompileOptions,
    limits: &Limits,
) -> Result<(Linked, Vec<LateWarnings>), CompileError> {
    let limits = limits.clone().within_stack();
    let mut reading = Reading {
        options,
        limits: &limits,
        sources: SourceMap::new(),
        is_without_text: matches!(source.body, SourceBody::Grammar { sources: None, .. }),
        diagnostics: Vec::new(),
        late: Vec::new(),
        leaves_out: false,
        inner: InnerTexts::default(),
        max_tokens: None,
    };
    let grammars = read(source, &mut reading);
    let linked = if reading.has_errors() { None } else { lint_and_link(grammars, &mut reading) };
    if reading.is_without_text {
        reading.diagnostics.iter_mut().for_each(|diagnostic| diagnostic.labels.clear());
    }
    sort(&mut reading.diagnostics);
    if reading.leaves_out {
        let severity = if reading.has_errors() { Severity::Error } else { Severity::Warning };
        reading.diagnostics.push(more_problems(MORE, severity, None, None));
    }
    let Reading { sources, diagnostics, late, max_tokens, .. } = reading;
    match linked {
        Some(grammar) => Ok((Linked { grammar, sources, warnings: diagnostics, max_tokens }, late)),
        None => Err(CompileError { diagnostics: with_late(diagnostics, &late), sources }),
    }
}

/// What was said of a source, with what is besides to be said of its schemas.
pub(crate) fn with_late(mut diagnostics: Vec<Diagnostic>, late: &[LateWarnings]) -> Vec<Diagnostic> {
    let surroundings = diagnostics.len();
    for late in late.iter().flat_map(LateWarnings::diagnostics) {
        // What surrounds a schema has read the same JSON, and said what is wrong with it.
        if !diagnostics[..surroundings].contains(&late) {
            diagnostics.push(late);
        }
    }
    sort(&mut diagnostics);
    diagnostics
}

/// In the order of the text. What stands in another text was read for itself.
fn sort(diagnostics: &mut [Diagnostic]) {
    let place =
        |found: &Diagnostic| found.labels.first().map(|label| (label.span.source, label.span.start, label.span.end));
    diagnostics.sort_by_key(|found| (place(found).is_none(), place(found)));
}

fn read(source: &Source, reading: &mut Reading) -> Vec<Grammar> {
    match &source.body {
        SourceBody::Text { kind, text } => {
            let id = reading.sources.add(&source.name, text);
            let grammars = (kind.row().read)(reading, id);
            if reading.has_errors()
                && let Some(other) = other_language(*kind, text, id, reading.limits)
            {
                reading.diagnostics = vec![other];
                reading.late.clear();
            }
            grammars
        }
        SourceBody::Grammar { grammar, sources } => {
            if let Some(sources) = sources {
                reading.sources = sources.clone();
            }
            vec![Grammar::clone(grammar)]
        }
        SourceBody::Tags(built) => tags::read(reading, &source.name, built, 0).into_iter().collect(),
    }
}

/// `None` if an error was reported.
fn lint_and_link(mut grammars: Vec<Grammar>, reading: &mut Reading) -> Option<LinkedGrammar> {
    assert!(!grammars.is_empty(), "a front end reports an error or returns a grammar");
    // A rule that this start does not lead to may be there for another.
    let starts_elsewhere = reading.options.start.is_some();
    for grammar in grammars.iter().filter(|grammar| !grammar.options.is_made) {
        let mut lints = DiagnosticList::new(reading.limits);
        let found = lint(grammar).into_iter().filter(|found| !(starts_elsewhere && found.code == "G101"));
        found.for_each(|found| lints.push(found));
        reading.diagnostics.extend(lints.finish(MORE));
    }
    if let Some(mode) = reading.options.lexer {
        grammars[0].options.lexer = mode;
    }
    let mode = grammars[0].options.lexer;
    let linked = larkspur_grammar::link(grammars, |language, body| inner(reading, language, body, mode));
    match linked {
        Ok(linked) => (!reading.has_errors()).then_some(linked),
        Err(errors) => {
            reading.diagnostics.extend(errors);
            None
        }
    }
}

/// The grammar of a text that stands in another. Its errors are returned, its warnings reported; without either the text was
/// not read, since something was wrong with those before it. A JSON value ends where
/// its surroundings, which are in `mode`, have it.
fn inner(reading: &mut Reading, language: &str, body: Span, mode: LexerMode) -> Result<Grammar, Vec<Diagnostic>> {
    if reading.is_without_text {
        return Err(vec![Mistake::SchemaWithoutText.diagnostic(body)]);
    }
    let before = reading.diagnostics.len();
    let grammar = inner_text(reading, language, body).map(|mut grammar| {
        match grammar.options.is_made {
            true => grammar.options.lexer = mode,
            false => reading.warn(lint(&grammar)),
        }
        grammar
    });
    let (errors, warnings): (Vec<_>, Vec<_>) = reading.diagnostics.drain(before..).partition(Diagnostic::is_error);
    reading.warn(warnings);
    reading.inner.errors += errors.len();
    grammar.filter(|_| errors.is_empty()).ok_or(errors)
}
