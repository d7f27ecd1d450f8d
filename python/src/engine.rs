//! Engines and compiled grammars.

use std::collections::HashMap;
use std::sync::Arc;

use larkspur::{EngineOptions, LexerMode, MatcherOptions};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::diagnostic::Diagnostic;
use crate::errors::{grammar_error, matcher_error, saved_grammar_error};
use crate::matcher::Matcher;
use crate::number::optional;
use crate::options::{Reading, limits, reading, reading_of};
use crate::tags::{Around, TagArguments, tags_source};
use crate::vocabulary::Vocabulary;

/// What all grammars of one vocabulary share.
#[pyclass(frozen, subclass, module = "larkspur._native")]
pub(crate) struct Engine {
    inner: larkspur::Engine,
}

#[pymethods]
impl Engine {
    #[new]
    #[pyo3(signature = (vocabulary, *, limits=None, slices=None))]
    fn new(
        py: Python,
        vocabulary: &Vocabulary,
        limits: Option<HashMap<String, Bound<PyAny>>>,
        slices: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let mut options = EngineOptions { limits: self::limits(limits)?, ..EngineOptions::default() };
        if let Some(slices) = slices {
            options.slices = slices;
        }
        let vocabulary = vocabulary.inner.clone();
        py.detach(|| larkspur::Engine::with_options(vocabulary, &options))
            .map(|inner| Self { inner })
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    #[getter]
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary { inner: self.inner.vocabulary().clone() }
    }

    #[pyo3(
        signature = (kind, text, **options),
        text_signature = "($self, kind, text, *, name=None, start=None, lexer=None, llguidance_face=False, spelling=None, import_path=None, modules=None, retriever=None, draft=None, format_annotation=False)"
    )]
    fn compile(&self, py: Python, kind: &str, text: String, options: Option<&Bound<PyDict>>) -> PyResult<Grammar> {
        self.compile_reading(py, reading(kind, text, options)?)
    }

    fn load(&self, py: Python, data: &[u8]) -> PyResult<Grammar> {
        match py.detach(|| self.inner.load(data)) {
            Ok(inner) => Ok(Grammar { inner, vocabulary: self.inner.vocabulary().clone() }),
            Err(error) => Err(saved_grammar_error(py, error.code(), error.to_string())),
        }
    }

    #[pyo3(
        signature = (tags, *, triggers=vec![], excludes=vec![], at_least=None, at_most=None, end_with_last_tag=false, **options),
        text_signature = "($self, tags, *, triggers=..., excludes=..., at_least=0, at_most=None, end_with_last_tag=False, name=None, lexer=None, llguidance_face=False, spelling=None, import_path=None, modules=None, retriever=None, draft=None, format_annotation=False)"
    )]
    #[allow(clippy::too_many_arguments, reason = "they are keyword arguments of Python's")]
    fn compile_tags(
        &self,
        py: Python,
        tags: Vec<TagArguments>,
        triggers: Vec<String>,
        excludes: Vec<String>,
        at_least: Option<&Bound<PyAny>>,
        at_most: Option<&Bound<PyAny>>,
        end_with_last_tag: bool,
        options: Option<&Bound<PyDict>>,
    ) -> PyResult<Grammar> {
        let at_least = optional("at_least", at_least, 0..=u8::MAX)?.unwrap_or_default();
        let at_most = optional("at_most", at_most, 0..=u8::MAX)?;
        let around = Around { triggers, excludes, at_least, at_most, end_with_last_tag };
        self.compile_reading(py, reading_of(tags_source(tags, around)?, options)?)
    }
}

impl Engine {
    fn compile_reading(&self, py: Python, reading: Reading) -> PyResult<Grammar> {
        let compiled = py.detach(|| self.inner.compile_with(&reading.source, &reading.options));
        reading.check_retriever()?;
        match compiled {
            Ok(inner) => Ok(Grammar { inner, vocabulary: self.inner.vocabulary().clone() }),
            Err(error) => Err(grammar_error(py, &error)),
        }
    }
}

/// A compiled grammar.
#[pyclass(frozen, module = "larkspur")]
#[derive(Clone)]
pub(crate) struct Grammar {
    pub inner: larkspur::CompiledGrammar,
    pub vocabulary: Arc<larkspur::Vocabulary>,
}

#[pymethods]
impl Grammar {
    #[getter]
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary { inner: self.vocabulary.clone() }
    }

    #[getter]
    fn warnings(&self, py: Python) -> Vec<Diagnostic> {
        Diagnostic::list(py.detach(|| self.inner.warnings()), self.inner.sources())
    }

    #[getter]
    fn max_tokens(&self) -> Option<u32> {
        self.inner.max_tokens()
    }

    #[getter]
    fn lexer_mode(&self) -> &'static str {
        match self.inner.lexer_mode() {
            LexerMode::Longest => "longest",
            LexerMode::Exact => "exact",
        }
    }

    #[pyo3(signature = (*, backtracking=false, max_tokens=None))]
    fn matcher(&self, py: Python, backtracking: bool, max_tokens: Option<&Bound<PyAny>>) -> PyResult<Matcher> {
        let max_tokens = optional("max_tokens", max_tokens, 0..=u32::MAX)?;
        let options = MatcherOptions { backtracking, max_tokens };
        match py.detach(|| self.inner.matcher_with(options)) {
            Ok(matcher) => Ok(Matcher::new(matcher, self.clone())),
            Err(error) => Err(matcher_error(py, error)),
        }
    }

    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        match py.detach(|| self.inner.save()) {
            Ok(bytes) => Ok(PyBytes::new(py, &bytes)),
            Err(error) => Err(saved_grammar_error(py, error.code(), error.to_string())),
        }
    }

    fn dump_lexer(&self, py: Python) -> String {
        py.detach(|| self.inner.dump_lexer())
    }

    fn dump_cfg(&self, py: Python) -> String {
        py.detach(|| self.inner.dump_cfg())
    }

    fn __repr__(&self, py: Python) -> String {
        let warnings = py.detach(|| self.inner.warnings().len());
        format!("<Grammar, {} lexer, {warnings} warnings>", self.lexer_mode())
    }
}
