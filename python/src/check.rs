//! What needs no vocabulary: checking a grammar, and writing it in another language.

use std::collections::HashMap;
use std::sync::Arc;

use larkspur::{CompileError, EngineOptions, link};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::diagnostic::Diagnostic;
use crate::errors::{build_error, grammar_error};
use crate::options::{limits, reading, target};

/// Everything that is wrong or doubtful in a grammar.
#[pyfunction]
#[pyo3(
    signature = (kind, text, *, limits=None, **options),
    text_signature = "(kind, text, *, name=None, start=None, lexer=None, llguidance_face=False, spelling=None, import_path=None, modules=None, retriever=None, draft=None, format_annotation=False, limits=None)"
)]
pub(crate) fn check(
    py: Python,
    kind: &str,
    text: String,
    limits: Option<HashMap<String, Bound<PyAny>>>,
    options: Option<&Bound<PyDict>>,
) -> PyResult<Vec<Diagnostic>> {
    let reading = reading(kind, text, options)?;
    // No mask is made, so that slices are of no use; limits may be too small for them.
    let options = EngineOptions { limits: self::limits(limits)?, slices: Vec::new(), ..EngineOptions::default() };
    let compiled = py.detach(|| {
        let linked = match link(&reading.source, &reading.options, &options.limits) {
            Ok(linked) => linked,
            Err(error) => return Ok(Err(error)),
        };
        let vocabulary = linked.byte_vocabulary(Vec::new())?;
        let engine = larkspur::Engine::with_options(Arc::new(vocabulary), &options)
            .expect("without slices nothing can be wrong with them");
        Ok(engine.compile_linked(linked))
    });
    reading.check_retriever()?;
    match compiled.map_err(|error| build_error(py, &error))? {
        Ok(grammar) => Ok(Diagnostic::list(grammar.warnings(), grammar.sources())),
        Err(CompileError { diagnostics, sources }) => Ok(Diagnostic::list(&diagnostics, &sources)),
    }
}

/// A grammar in another language, and what could not be carried over.
#[pyfunction]
#[pyo3(
    signature = (kind, text, to, **options),
    text_signature = "(kind, text, to, *, name=None, start=None, lexer=None, llguidance_face=False, spelling=None, import_path=None, modules=None, retriever=None, draft=None, format_annotation=False)"
)]
pub(crate) fn convert(
    py: Python,
    kind: &str,
    text: String,
    to: &str,
    options: Option<&Bound<PyDict>>,
) -> PyResult<(String, Vec<String>)> {
    let reading = reading(kind, text, options)?;
    let to = target(to)?;
    let limits = limits(None)?;
    let converted = py.detach(|| larkspur::convert(&reading.source, to, &reading.options, &limits));
    reading.check_retriever()?;
    match converted {
        Ok(converted) => Ok((converted.text, converted.notes)),
        Err(error) => Err(grammar_error(py, &error)),
    }
}
