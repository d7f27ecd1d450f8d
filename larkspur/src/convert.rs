//! A grammar of one language written in another.

use larkspur_gbnf_frontend::Comment;
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceId, SourceMap, Span};
use larkspur_lark_frontend::LarkOptions;

use crate::compile::{CompileOptions, link};
use crate::error::CompileError;
use crate::front_ends::INNER_LANGUAGES;
use crate::mistake::Mistake;
use crate::source::{Source, SourceBody, SourceKind};

pub use larkspur_gbnf_frontend::Converted;

/// Writes a source in another language: GBNF, regexes and JSON Schemas as Lark, anything as GBNF. The language of texts is
/// the same but for what the notes say.
///
/// Errors: the source's mistakes; `F006` where there is no conversion, or where GBNF has no words for something.
pub fn convert(
    source: &Source,
    to: SourceKind,
    options: &CompileOptions,
    limits: &Limits,
) -> Result<Converted, CompileError> {
    let limits = &limits.clone().within_stack();
    match (&source.body, to) {
        (SourceBody::Text { kind, text }, SourceKind::Lark) => lark(source, *kind, text, options, limits),
        (_, SourceKind::Gbnf) if source.kind() != Some(SourceKind::Gbnf) => {
            let linked = link(source, options, limits)?;
            let comments = comments(source, &linked.sources, limits);
            larkspur_gbnf_frontend::from_ir(&linked.grammar, &comments, limits).map_err(|refusals| {
                let mistake = |reason| Mistake::NoConversion { from: source.kind(), to, reason: Some(reason) };
                let diagnostics = refusals.into_iter().map(|(span, reason)| mistake(reason).diagnostic(span)).collect();
                CompileError { diagnostics, sources: linked.sources }
            })
        }
        _ => Err(refused(source, to, None)),
    }
}

/// The comments of a Lark text, which is the first source.
fn comments(source: &Source, sources: &SourceMap, limits: &Limits) -> Vec<Comment> {
    if source.kind() != Some(SourceKind::Lark) {
        return Vec::new();
    }
    let options = LarkOptions { inner_languages: &INNER_LANGUAGES, ..LarkOptions::new(limits) };
    let text = &sources.get(SourceId(0)).text;
    let spans = larkspur_lark_frontend::comments(sources, SourceId(0), &options);
    let comment = |span: Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let said = text[start..end].trim_start_matches(['/', '#']).trim().replace('\r', " ");
        Comment { span, is_alone: text[line..start].trim().is_empty(), text: said }
    };
    spans.into_iter().map(comment).collect()
}

fn refused(source: &Source, to: SourceKind, reason: Option<&'static str>) -> CompileError {
    let nowhere = Span::new(SourceId(0), 0, 0);
    let mut diagnostic = Mistake::NoConversion { from: source.kind(), to, reason }.diagnostic(nowhere);
    diagnostic.labels.clear();
    CompileError { diagnostics: vec![diagnostic], sources: SourceMap::new() }
}

fn lark(
    source: &Source,
    kind: SourceKind,
    text: &str,
    options: &CompileOptions,
    limits: &Limits,
) -> Result<Converted, CompileError> {
    let plain = |text: String| Ok(Converted { text, notes: Vec::new() });
    match kind {
        SourceKind::Gbnf => {
            let mut sources = SourceMap::new();
            let id = sources.add(&source.name, text);
            let gbnf = ReadOptions { start: options.start.as_deref(), ..ReadOptions::new(limits) };
            let (converted, diagnostics) = larkspur_gbnf_frontend::to_lark(&sources, id, &gbnf);
            converted.ok_or(CompileError { diagnostics, sources })
        }
        SourceKind::Regex => {
            link(source, options, limits)?;
            if text.contains(['\n', '\r']) && ignores_blanks(text) {
                return Err(refused(source, SourceKind::Lark, Some("a line break that may be ignored, or not")));
            }
            plain(lark_of_regex(text))
        }
        SourceKind::JsonSchema => {
            link(source, options, limits)?;
            plain(format!("start: %json {}\n", text.trim()))
        }
        _ => Err(refused(source, SourceKind::Lark, None)),
    }
}

/// Whether a flag `x` is set somewhere; true also where it only looks like that.
fn ignores_blanks(text: &str) -> bool {
    text.split("(?").skip(1).any(|group| group.chars().take_while(char::is_ascii_alphabetic).any(|flag| flag == 'x'))
}

fn lark_of_regex(text: &str) -> String {
    let mut regex = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '/' => regex.push_str("\\/"),
            '\n' => regex.push_str("\\n"),
            '\r' => regex.push_str("\\r"),
            '\\' => {
                regex.push('\\');
                // An escaped line break is one.
                match chars.next() {
                    Some('\n') => regex.push('n'),
                    Some('\r') => regex.push('r'),
                    Some(other) => regex.push(other),
                    None => {}
                }
            }
            _ => regex.push(c),
        }
    }
    if regex.is_empty() {
        return "start: \"\"\n".to_owned();
    }
    // The text of a regex source is in the dialect that this line sets.
    format!("%llguidance {{}}\n\nstart: /{regex}/\n")
}
