//! What a text in progress holds, for clients that show it while it is made (`larkspur.compat`).

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::matcher::Matcher;

/// A capture: its name, its start and end in the text, and its text.
type Span<'py> = (String, usize, usize, Bound<'py, PyBytes>);

#[pyfunction]
pub(crate) fn unsettled_len(py: Python, matcher: &Bound<Matcher>) -> PyResult<usize> {
    matcher.get().run(py, |matcher| matcher.unsettled_len())
}

#[pyfunction]
pub(crate) fn capture_spans<'py>(py: Python<'py>, matcher: &Bound<'py, Matcher>) -> PyResult<Vec<Span<'py>>> {
    let captures = matcher.get().run(py, |matcher| matcher.captures())?;
    let spans = captures.into_iter().map(|capture| {
        let bytes = PyBytes::new(py, &capture.bytes);
        (capture.name, capture.start, capture.end, bytes)
    });
    Ok(spans.collect())
}
