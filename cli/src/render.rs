//! Diagnostics and notes, as text for people and as JSON. Colours are taken away by `anstream` where nobody sees them.

use std::fmt;
use std::io::Write;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use anyhow::Result;
use larkspur::{Diagnostic, Label, Severity, SourceMap};
use serde_json::{Value, json};

/// Writes diagnostics with the lines that they are about.
pub(crate) fn diagnostics(out: &mut impl Write, diagnostics: &[Diagnostic], sources: &SourceMap) -> Result<()> {
    diagnostics_of(out, diagnostics, sources, None)
}

/// The same of one of several files, which is named where a diagnostic has no place.
pub(crate) fn diagnostics_of(
    out: &mut impl Write,
    diagnostics: &[Diagnostic],
    sources: &SourceMap,
    file: Option<&str>,
) -> Result<()> {
    for diagnostic in diagnostics {
        let text = larkspur_render::rendered(diagnostic, sources, true);
        let (title, rest) = text.split_at(text.find('\n').unwrap_or(text.len()));
        match file.filter(|_| diagnostic.labels.is_empty()) {
            Some(file) => writeln!(out, "{title}\n --> {file}{rest}\n")?,
            None => writeln!(out, "{text}\n")?,
        }
    }
    Ok(())
}

/// A diagnostic as JSON; lines and columns count from 1, columns in characters.
pub(crate) fn diagnostic_json(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let labels: Vec<Value> = diagnostic.labels.iter().map(|label| label_json(label, sources)).collect();
    json!({
        "code": diagnostic.code,
        "severity": match diagnostic.severity { Severity::Error => "error", Severity::Warning => "warning" },
        "message": diagnostic.message,
        "labels": labels,
        "help": diagnostic.help,
    })
}

fn label_json(label: &Label, sources: &SourceMap) -> Value {
    let place = |byte: u32| {
        let (line, column) = sources.line_column(label.span.source, byte);
        json!({ "byte": byte, "line": line, "column": column })
    };
    json!({
        "file": sources.get(label.span.source).name,
        "start": place(label.span.start),
        "end": place(label.span.end),
        "message": label.message,
    })
}

/// A diagnostic without a place that keeps a command from its work.
#[derive(Debug)]
pub(crate) struct Unplaced(pub Diagnostic);

impl fmt::Display for Unplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Unplaced {}

/// Says on standard error why a command could not do its work.
pub(crate) fn failure(failure: &anyhow::Error) {
    let Some(Unplaced(diagnostic)) = failure.downcast_ref() else { return error(&format!("{failure:#}")) };
    let text = larkspur_render::rendered(diagnostic, &SourceMap::new(), true);
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// Says on standard error what went wrong.
pub(crate) fn error(message: &str) {
    say(Level::ERROR.primary_title(message));
}

/// Says something on standard error that does not keep the command from going on.
pub(crate) fn note(message: &str) {
    say(Level::NOTE.primary_title(message));
}

fn say(title: annotate_snippets::Title) {
    let text = Renderer::styled().render(&[Group::with_title(title)]);
    // Where nobody can be told, nothing is left to do about it.
    let _ = writeln!(anstream::stderr(), "{text}");
}

/// An excerpt of a text with carets under the bytes `range`, and lines of notes below.
pub(crate) fn excerpt(name: &str, text: &[u8], range: Range<usize>, label: &str, notes: &[String]) -> String {
    let (line_number, mut line, caret) = line_around(text, range);
    if line.len() < caret.end {
        line.push(' ');
    }
    let snippet = Snippet::source(line)
        .line_start(line_number)
        .path(name)
        .annotation(AnnotationKind::Primary.span(caret).label(label));
    let mut group = Group::with_level(Level::ERROR).element(snippet);
    for note in notes {
        group = group.element(Level::NOTE.no_name().message(note.as_str()));
    }
    Renderer::styled().render(&[group]).to_string()
}

/// The line that holds the first byte of `range`, with escapes for what does not show, and where the range stands in it.
fn line_around(text: &[u8], range: Range<usize>) -> (usize, String, Range<usize>) {
    let at = range.start.min(text.len());
    let start = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let end = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |newline| at + newline + 1);
    let number = text[..start].iter().filter(|&&byte| byte == b'\n').count() + 1;
    let mut line = String::new();
    let mut caret: Option<Range<usize>> = None;
    let mut offset = start;
    for chunk in text[start..end].utf8_chunks() {
        let characters = chunk.valid().chars().map(|c| (c.len_utf8(), shown(c)));
        let stray = chunk.invalid().iter().map(|byte| (1, format!("\\x{byte:02x}")));
        for (len, piece) in characters.chain(stray) {
            if offset < range.end && at < offset + len {
                let start = caret.map_or(line.len(), |caret| caret.start);
                caret = Some(start..line.len() + piece.len());
            }
            line.push_str(&piece);
            offset += len;
        }
    }
    let caret = caret.unwrap_or(line.len()..line.len() + 1);
    (number, line, caret)
}

fn shown(c: char) -> String {
    if c.is_control() { c.escape_default().to_string() } else { c.to_string() }
}
