//! The facade's errors as the exceptions of `larkspur.errors`.

use larkspur::toktrie::LoadError;
use larkspur::{CompileError, MatcherError, VocabularyError};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList};

use crate::diagnostic::Diagnostic;

/// An exception of `larkspur.errors`.
fn exception<'py>(
    py: Python<'py>,
    class: &str,
    message: String,
    fields: impl FnOnce(&Bound<'py, PyDict>) -> PyResult<()>,
) -> PyErr {
    static MODULE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();
    let make = || {
        let module = MODULE.get_or_try_init(py, || PyResult::Ok(py.import("larkspur.errors")?.unbind()))?;
        let arguments = PyDict::new(py);
        fields(&arguments)?;
        module.bind(py).getattr(class)?.call((message,), Some(&arguments))
    };
    match make() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// A `GrammarError`, with every diagnostic.
pub(crate) fn grammar_error(py: Python, error: &CompileError) -> PyErr {
    let diagnostics: Vec<Diagnostic> =
        error.diagnostics.iter().map(|diagnostic| Diagnostic::new(diagnostic, &error.sources)).collect();
    let shown = diagnostics.iter().zip(&error.diagnostics).filter(|(_, diagnostic)| error.shows(diagnostic));
    let message = shown.map(|(diagnostic, _)| diagnostic.rendered.as_str()).collect::<Vec<_>>().join("\n\n");
    exception(py, "GrammarError", message, |fields| {
        let list = PyList::empty(py);
        for diagnostic in diagnostics {
            list.append(Bound::new(py, diagnostic)?)?;
        }
        fields.set_item("diagnostics", list)
    })
}

/// The `MatcherError` of the class that says what kind it is.
pub(crate) fn matcher_error(py: Python, error: MatcherError) -> PyErr {
    let message = error.to_string();
    match error {
        MatcherError::TokenRejected { token, at_byte } => exception(py, "TokenRejected", message, |fields| {
            fields.set_item("token", token)?;
            fields.set_item("at_byte", at_byte)
        }),
        MatcherError::TextRejected { at_byte } => {
            exception(py, "TextRejected", message, |fields| fields.set_item("at_byte", at_byte))
        }
        MatcherError::UnknownToken { token, .. } => {
            exception(py, "UnknownToken", message, |fields| fields.set_item("token", token))
        }
        MatcherError::Stopped => exception(py, "Stopped", message, |_| Ok(())),
        MatcherError::RollbackTooFar { .. } => exception(py, "RollbackTooFar", message, |_| Ok(())),
        MatcherError::NoToken => exception(py, "NoToken", message, |_| Ok(())),
        MatcherError::LimitExceeded { limit, value } => exception(py, "LimitExceeded", message, |fields| {
            fields.set_item("limit", limit)?;
            fields.set_item("value", value)
        }),
        _ => exception(py, "MatcherError", message, |_| Ok(())),
    }
}

/// An `UnknownToken` for an integer that is no id at all.
pub(crate) fn unknown_token(token: Borrowed<PyAny>, message: String) -> PyErr {
    exception(token.py(), "UnknownToken", message, |fields| fields.set_item("token", token))
}

/// A `SavedGrammarError`.
pub(crate) fn saved_grammar_error(py: Python, code: &str, message: String) -> PyErr {
    exception(py, "SavedGrammarError", message, |fields| fields.set_item("code", code))
}

/// A `VocabularyError`.
pub(crate) fn vocabulary_error(py: Python, message: String) -> PyErr {
    exception(py, "VocabularyError", message, |_| Ok(()))
}

pub(crate) fn load_error(py: Python, error: &LoadError) -> PyErr {
    vocabulary_error(py, error.to_string())
}

pub(crate) fn build_error(py: Python, error: &VocabularyError) -> PyErr {
    vocabulary_error(py, error.to_string())
}

/// What a second thread gets.
pub(crate) fn in_use() -> PyErr {
    PyRuntimeError::new_err("another thread uses this matcher; fork it, or call it from one thread at a time")
}

/// What a batch gets that has a matcher twice.
pub(crate) fn given_twice() -> PyErr {
    PyRuntimeError::new_err("the same matcher is given twice; fork it, and give the fork for the other text")
}
