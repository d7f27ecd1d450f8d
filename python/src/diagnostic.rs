//! Diagnostics as Python sees them: plain values, without the sources that they point into.

use larkspur::{Severity, SourceMap, summary_line};
use pyo3::prelude::*;

/// A mistake or lint, and where it is.
#[pyclass(frozen, get_all, module = "larkspur")]
#[derive(Clone)]
pub(crate) struct Diagnostic {
    pub code: String,
    pub severity: &'static str,
    pub message: String,
    pub source: Option<String>,
    pub span: Option<(u32, u32)>,
    pub line: Option<u32>,
    pub column: Option<u32>,
    pub help: Option<String>,
    pub rendered: String,
    pub summary: String,
}

impl Diagnostic {
    pub fn new(diagnostic: &larkspur::Diagnostic, sources: &SourceMap) -> Self {
        let primary = diagnostic.labels.first();
        let place = primary.map(|label| sources.line_column(label.span.source, label.span.start));
        Self {
            code: diagnostic.code.to_owned(),
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
            },
            message: diagnostic.message.clone(),
            source: primary.map(|label| sources.get(label.span.source).name.clone()),
            span: primary.map(|label| (label.span.start, label.span.end)),
            line: place.map(|(line, _)| line),
            column: place.map(|(_, column)| column),
            help: diagnostic.help.clone(),
            rendered: larkspur_render::rendered(diagnostic, sources, false),
            summary: summary_line(diagnostic, sources),
        }
    }

    /// All of a list.
    pub fn list(diagnostics: &[larkspur::Diagnostic], sources: &SourceMap) -> Vec<Self> {
        diagnostics.iter().map(|diagnostic| Self::new(diagnostic, sources)).collect()
    }

    pub fn is_error(&self) -> bool {
        self.severity == "error"
    }
}

#[pymethods]
impl Diagnostic {
    fn __repr__(&self) -> String {
        format!("<Diagnostic {}>", self.summary)
    }

    fn __str__(&self) -> String {
        self.rendered.clone()
    }
}
