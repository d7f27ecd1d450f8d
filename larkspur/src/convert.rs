//! A grammar of one language written in another.

use larkspur_gbnf_frontend::GbnfOptions;
use larkspur_grammar::{Limits, SourceId, SourceMap, Span};

use crate::compile::{CompileOptions, link};
use crate::error::{CompileError, Mistake};
use crate::source::{Source, SourceBody, SourceKind};

pub use larkspur_gbnf_frontend::Converted;

/// Writes a source as a Lark text of the same language: one of GBNF, a regex, a JSON Schema.
///
/// Errors: the source's mistakes; `F006` where there is no conversion.
pub fn convert(
    source: &Source,
    to: SourceKind,
    options: &CompileOptions,
    limits: &Limits,
) -> Result<Converted, CompileError> {
    let refuse = |reason| {
        let mut diagnostic =
            Mistake::NoConversion { from: source.kind(), to, reason }.diagnostic(Span::new(SourceId(0), 0, 0));
        diagnostic.labels.clear();
        Err(CompileError { diagnostics: vec![diagnostic], sources: SourceMap::new() })
    };
    let (SourceBody::Text { kind, text }, SourceKind::Lark) = (&source.body, to) else { return refuse(None) };
    let plain = |text: String| Ok(Converted { text, notes: Vec::new() });
    match kind {
        SourceKind::Gbnf => {
            let mut sources = SourceMap::new();
            let id = sources.add(&source.name, text);
            let gbnf = GbnfOptions { start: options.start.as_deref(), ..GbnfOptions::new(limits) };
            let (converted, diagnostics) = larkspur_gbnf_frontend::to_lark(&sources, id, &gbnf);
            converted.ok_or(CompileError { diagnostics, sources })
        }
        SourceKind::Regex => {
            link(source, options, limits)?;
            if text.contains(['\n', '\r']) && ignores_blanks(text) {
                return refuse(Some("a line break in it may be ignored, or not"));
            }
            plain(lark_of_regex(text))
        }
        SourceKind::JsonSchema => {
            link(source, options, limits)?;
            plain(format!("start: %json {}\n", text.trim()))
        }
        _ => refuse(None),
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
