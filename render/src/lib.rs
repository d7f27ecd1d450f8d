//! Diagnostics as text for people, with the lines that they are about: what every door shows.
//!
//! In: a [`Diagnostic`] and the sources that its spans point into. Out: text in the manner of rustc.

#![forbid(unsafe_code)]

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use larkspur_grammar::{Diagnostic, Label, Severity, SourceMap};

/// A diagnostic in several lines, without a line break at the end; with colours (ANSI codes) or without.
pub fn rendered(diagnostic: &Diagnostic, sources: &SourceMap, is_coloured: bool) -> String {
    let renderer = if is_coloured { Renderer::styled() } else { Renderer::plain() };
    renderer.render(&[group(diagnostic, sources)]).to_string()
}

fn group<'a>(diagnostic: &'a Diagnostic, sources: &'a SourceMap) -> Group<'a> {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str()).id(diagnostic.code);
    let mut group = Group::with_title(title);
    let mut labels = diagnostic.labels.as_slice();
    // Labels of one source in a row share an excerpt.
    while let Some(first) = labels.first() {
        let together = labels.iter().take_while(|label| label.span.source == first.span.source).count();
        let source = sources.get(first.span.source);
        let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
        for (index, label) in labels[..together].iter().enumerate() {
            let is_primary = together + index == together && labels.len() == diagnostic.labels.len();
            let kind = if is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
            let annotation = kind.span(range(label, &source.text));
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

/// The span of a label within the text and on characters' ends.
fn range(label: &Label, text: &str) -> Range<usize> {
    let mut start = (label.span.start as usize).min(text.len());
    let mut end = (label.span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}
