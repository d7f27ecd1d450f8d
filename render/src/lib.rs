//! Diagnostics as text for people, with the lines that they are about: what every door shows.
//!
//! In: a [`Diagnostic`] and the sources that its spans point into. Out: text in the manner of rustc.

#![forbid(unsafe_code)]

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use larkspur_grammar::{Diagnostic, Label, Severity, SourceMap, behind_bom};

/// Longer excerpts are cut: a hundred mistakes on a line of a megabyte took twenty seconds to show.
const EXCERPT_BYTES_MAX: usize = 8_192;
/// What is then shown before and behind where a label begins. No window is wider.
const AROUND_BYTES: usize = 400;

/// A diagnostic in several lines, without a line break at the end; with colours (ANSI codes) or without.
pub fn rendered(diagnostic: &Diagnostic, sources: &SourceMap, is_coloured: bool) -> String {
    let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
    let mut cut = Vec::new();
    let mut text = renderer.render(&[group(diagnostic, sources, &mut cut)]).to_string();
    for Cut { seen, place } in cut {
        text = text.replacen(&seen, &place, 1);
    }
    if diagnostic.labels.is_empty() { without_bar(&text) } else { text }
}

/// Without the line that leads from a title to an excerpt, where there is none.
fn without_bar(text: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let is_bar = |line: &&str| {
        let styles = line.split('\x1b').enumerate();
        let shown =
            styles.map(|(at, part)| if at == 0 { part } else { part.split_once('m').map_or("", |(_, shown)| shown) });
        shown.collect::<String>().trim() == "|"
    };
    if let Some(bar) = lines.iter().position(is_bar) {
        lines.remove(bar);
    }
    lines.join("\n")
}

/// Where an excerpt begins within a line: the place as the renderer counts it, and as it is.
struct Cut {
    seen: String,
    place: String,
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap, cut: &mut Vec<Cut>) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let mut group = Group::with_title(title);
    let mut labels = diagnostic.labels.as_slice();
    // Labels of one source in a row share an excerpt, if that is not long.
    while let Some(first) = labels.first() {
        let source = sources.get(first.span.source);
        let text = source.text.as_str();
        let mut together = labels.iter().take_while(|label| label.span.source == first.span.source).count();
        if lines(&labels[..together], text).len() > EXCERPT_BYTES_MAX {
            together = 1;
        }
        let excerpt = excerpt(&labels[..together], text);
        let line_start = text[..excerpt.start].matches('\n').count() + 1;
        let mut snippet = Snippet::source(&text[excerpt.clone()]).line_start(line_start).path(source.name.as_str());
        if excerpt.start > 0 && !text[..excerpt.start].ends_with('\n') {
            let (line, column) = sources.line_column(first.span.source, first.span.start);
            let before = &text[excerpt.start..range(first, text).start];
            let seen = format!("{}:{line}:{}", source.name, before.chars().count() + 1);
            cut.push(Cut { seen, place: format!("{}:{line}:{column}", source.name) });
        }
        for (index, label) in labels[..together].iter().enumerate() {
            let is_primary = together + index == together && labels.len() == diagnostic.labels.len();
            let kind = if is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let Range { start, end } = range(label, text);
            let annotation = kind.span(start - excerpt.start..end.min(excerpt.end) - excerpt.start);
            snippet = snippet.annotation(match label.message.as_str() {
                "" => annotation,
                message => annotation.label(message),
            });
        }
        group = group.element(snippet);
        labels = &labels[together..];
    }
    match &diagnostic.help {
        Some(help) => group.element(Level::HELP.message(help.as_str())),
        None => group,
    }
}

/// The lines that labels are about.
fn lines(labels: &[Label], text: &str) -> Range<usize> {
    let ranges = labels.iter().map(|label| range(label, text));
    let (start, end) = ranges.fold((text.len(), 0), |all, one| (all.0.min(one.start), all.1.max(one.end)));
    let start = text[..start].rfind('\n').map_or(behind_bom(text), |newline| newline + 1);
    let end = end + text[end..].find('\n').map_or(text.len() - end, |newline| newline + 1);
    start..end
}

/// What is shown of the text: the labels' lines, or if these are long, what is around the only label's beginning.
fn excerpt(labels: &[Label], text: &str) -> Range<usize> {
    let lines = lines(labels, text);
    if lines.len() <= EXCERPT_BYTES_MAX {
        return lines;
    }
    let at = range(&labels[0], text).start;
    let start = on_characters(text, at.saturating_sub(AROUND_BYTES)..at).start.max(lines.start);
    start..on_characters(text, at..at.saturating_add(AROUND_BYTES)).end.min(lines.end)
}

/// The span of a label within the text, behind its byte order mark, and on characters' ends.
fn range(label: &Label, text: &str) -> Range<usize> {
    let begin = behind_bom(text);
    on_characters(text, begin.max(label.span.start as usize)..begin.max(label.span.end as usize))
}

fn on_characters(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text.floor_char_boundary(range.start);
    start..text.ceil_char_boundary(range.end.min(text.len())).max(start)
}
