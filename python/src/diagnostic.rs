//! Diagnostics as Python sees them: plain values, without the sources that they point into.

use larkspur::{Severity, SourceMap, summary_line};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyType;

/// A mistake or lint, and where it is.
#[pyclass(frozen, get_all, eq, hash, module = "larkspur")]
#[derive(Clone, PartialEq, Eq, Hash)]
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
}

/// The arguments that make a diagnostic, in order.
type Fields = (
    String,
    &'static str,
    String,
    Option<String>,
    Option<(u32, u32)>,
    Option<u32>,
    Option<u32>,
    Option<String>,
    String,
    String,
);

#[pymethods]
impl Diagnostic {
    /// Of its parts; for [`Self::__reduce__`].
    #[new]
    #[allow(clippy::too_many_arguments, reason = "they are the attributes")]
    fn of_fields(
        code: String,
        severity: &str,
        message: String,
        source: Option<String>,
        span: Option<(u32, u32)>,
        line: Option<u32>,
        column: Option<u32>,
        help: Option<String>,
        rendered: String,
        summary: String,
    ) -> PyResult<Self> {
        let severity = match severity {
            "error" => "error",
            "warning" => "warning",
            _ => return Err(PyValueError::new_err(format!("a severity is error or warning, not {severity:?}"))),
        };
        Ok(Self { code, severity, message, source, span, line, column, help, rendered, summary })
    }

    /// For `pickle` and `copy`.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> (Bound<'py, PyType>, Fields) {
        let Self { code, severity, message, source, span, line, column, help, rendered, summary } = slf.get().clone();
        let fields = (code, severity, message, source, span, line, column, help, rendered, summary);
        (slf.get_type(), fields)
    }

    fn __repr__(&self) -> String {
        format!("<Diagnostic {}>", self.summary)
    }

    fn __str__(&self) -> String {
        self.rendered.clone()
    }
}
