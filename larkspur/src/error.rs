//! [`CompileError`]: why a source did not become a grammar.

use std::fmt::{self, Display, Formatter};

use larkspur_grammar::{Diagnostic, Severity, SourceMap, Span};

/// Why a source did not become a grammar.
#[derive(Clone, Debug, thiserror::Error)]
pub struct CompileError {
    /// Everything that was found, warnings included; at least one error.
    pub diagnostics: Vec<Diagnostic>,
    /// What the diagnostics' spans point into.
    pub sources: SourceMap,
}

impl CompileError {
    /// Whether a message about the whole shows one of the diagnostics: an error, or a warning of what an error marks, which
    /// is often its cause.
    pub fn shows(&self, diagnostic: &Diagnostic) -> bool {
        let marks = |error: &Diagnostic, place: Span| {
            let within = |span: Span| span.source == place.source && span.start <= place.start && place.end <= span.end;
            error.is_error() && error.labels.iter().any(|label| within(label.span))
        };
        let place = diagnostic.labels.first().map(|label| label.span);
        diagnostic.is_error() || place.is_some_and(|place| self.diagnostics.iter().any(|error| marks(error, place)))
    }
}

/// One line for each diagnostic.
impl Display for CompileError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, diagnostic) in self.diagnostics.iter().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{}", summary_line(diagnostic, &self.sources))?;
        }
        Ok(())
    }
}

/// A diagnostic in one line: `file:line:column: error[L012]: message`.
pub fn summary_line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    };
    let what = format!("{severity}[{}]: {}", diagnostic.code, diagnostic.message);
    match diagnostic.labels.first() {
        Some(label) => {
            let (line, column) = sources.line_column(label.span.source, label.span.start);
            format!("{}:{line}:{column}: {what}", sources.get(label.span.source).name)
        }
        None => what,
    }
}
