//! Python's keyword arguments as the facade's options.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use larkspur::{
    CompileOptions, Draft, Folder, LexerMode, Limits, Modules, Retriever, Source, SourceBody, SourceKind, Spelling,
};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value};

use crate::number::number;

/// A grammar's text and how it is read.
pub(crate) struct Reading {
    pub source: Source,
    pub options: CompileOptions,
    /// What a retriever raised that is no error but for whoever called, such as `KeyboardInterrupt`.
    interrupt: Interrupt,
}

/// The first interrupt, until it is raised again.
type Interrupt = Arc<Mutex<Option<PyErr>>>;

/// Reads the arguments of `compile`, `check` and `convert`.
pub(crate) fn reading(kind: &str, text: String, arguments: Option<&Bound<PyDict>>) -> PyResult<Reading> {
    let name = arguments.map(|arguments| arguments.get_item("name")).transpose()?.flatten();
    let source = match (kind, name) {
        ("file", Some(name)) => Source::from_path_name(name.extract::<String>()?, text)
            .map_err(|error| PyValueError::new_err(error.to_string()))?,
        _ => source(kind, text)?,
    };
    reading_of(source, arguments)
}

/// The same for a source that is made already.
pub(crate) fn reading_of(source: Source, arguments: Option<&Bound<PyDict>>) -> PyResult<Reading> {
    let mut reading = Reading { source, options: CompileOptions::default(), interrupt: Interrupt::default() };
    for (key, value) in arguments.into_iter().flatten() {
        if !value.is_none() {
            let key: String = key.extract()?;
            reading.set(&key, &value).map_err(|error| named(&key, &value, error))?;
        }
    }
    reading.check_lexer()?;
    Ok(reading)
}

/// The error of an argument of the wrong type, with its name.
fn named(key: &str, value: &Bound<PyAny>, error: PyErr) -> PyErr {
    let message = error.value(value.py()).to_string();
    if !error.is_instance_of::<PyTypeError>(value.py()) || message.contains(key) {
        return error;
    }
    PyTypeError::new_err(format!("{key}: {message}"))
}

impl Reading {
    /// Raises what interrupted a retriever.
    pub fn check_retriever(&self) -> PyResult<()> {
        self.interrupt.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    /// Only Lark has a choice of lexer modes (docs/lexing.md); a list may hold Lark.
    fn check_lexer(&self) -> PyResult<()> {
        match (&self.source.body, self.options.lexer) {
            (SourceBody::Text { kind: SourceKind::Lark | SourceKind::List, .. }, _) => Ok(()),
            (SourceBody::Text { kind, .. }, Some(LexerMode::Longest)) => Err(PyValueError::new_err(format!(
                "{} is always read with lexer=\"exact\"; \"longest\" is for Lark",
                kind.title()
            ))),
            _ => Ok(()),
        }
    }

    fn set(&mut self, key: &str, value: &Bound<PyAny>) -> PyResult<()> {
        let options = &mut self.options;
        match key {
            "name" => self.source.name = value.extract()?,
            "start" => options.start = Some(value.extract()?),
            "lexer" => options.lexer = Some(lexer(value.extract()?)?),
            "llguidance_face" => options.llguidance_face = value.extract()?,
            "spelling" => options.spelling = spelling(value)?,
            "import_path" => options.modules = Some(Modules::from(Folder::new(value.extract::<String>()?))),
            "modules" => options.modules = Some(Modules::map(value.extract::<HashMap<String, String>>()?)),
            "retriever" if !value.is_callable() => {
                return Err(PyTypeError::new_err(format!("retriever: {value} cannot be called")));
            }
            "retriever" => options.retriever = Some(retriever(value.clone().unbind(), self.interrupt.clone())),
            "draft" => options.draft = Some(draft(value.extract()?)?),
            "format_annotation" => options.format_annotation = value.extract()?,
            _ => return Err(PyTypeError::new_err(format!("there is no argument {key:?}"))),
        }
        Ok(())
    }
}

/// What others call the kinds of grammars.
const KINDS_ELSEWHERE: [(&str, &[&str]); 4] = [
    ("json_schema", &["json", "schema", "jsonschema", "json-schema", "json schema"]),
    ("gbnf", &["ebnf", "cfg", "bnf", "grammar"]),
    ("regex", &["regexp", "re", "pattern"]),
    ("list", &["llguidance", "grammars"]),
];

/// A text of a kind.
pub(crate) fn source(kind: &str, text: String) -> PyResult<Source> {
    Ok(match kind {
        "lark" => Source::lark(text),
        "gbnf" => Source::gbnf(text),
        "kbnf" => Source::kbnf(text),
        "regex" => Source::regex(text),
        "json_schema" => Source::json_schema(text),
        "list" => Source::list(text),
        _ => {
            let known = "lark, gbnf, kbnf, regex, json_schema, list, and file with a name";
            let meant = KINDS_ELSEWHERE.iter().find(|(_, names)| names.contains(&kind.to_lowercase().as_str()));
            let meant = meant.map_or(String::new(), |(name, _)| format!("; did you mean {name:?}?"));
            return Err(unknown("kind of grammar", kind, &format!("{known}{meant}")));
        }
    })
}

/// A language that grammars can be written in.
pub(crate) fn target(name: &str) -> PyResult<SourceKind> {
    match name {
        "lark" => Ok(SourceKind::Lark),
        "gbnf" => Ok(SourceKind::Gbnf),
        _ => Err(unknown("language to convert to", name, "lark and gbnf")),
    }
}

fn lexer(name: &str) -> PyResult<LexerMode> {
    match name {
        "longest" => Ok(LexerMode::Longest),
        "exact" => Ok(LexerMode::Exact),
        _ => Err(unknown("lexer mode", name, "longest and exact")),
    }
}

fn draft(name: &str) -> PyResult<Draft> {
    match name {
        "4" => Ok(Draft::Draft4),
        "6" => Ok(Draft::Draft6),
        "7" => Ok(Draft::Draft7),
        "2019-09" => Ok(Draft::Draft2019),
        "2020-12" => Ok(Draft::Draft2020),
        _ => Err(unknown("draft of JSON Schema", name, "4, 6, 7, 2019-09 and 2020-12")),
    }
}

/// A profile's name, or a mapping of options, which change those of its `profile`.
fn spelling(value: &Bound<PyAny>) -> PyResult<Spelling> {
    if let Ok(name) = value.extract::<&str>() {
        return profile(name);
    }
    let wrong = |error: serde_json::Error| PyValueError::new_err(format!("spelling: {error}"));
    let json: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
    let mut given: Map<String, Value> = serde_json::from_str(&json).map_err(wrong)?;
    let base = match given.remove("profile") {
        Some(Value::String(name)) => profile(&name)?,
        Some(other) => return Err(unknown("spelling", &other.to_string(), "generate and validate")),
        None => Spelling::default(),
    };
    let mut fields: Map<String, Value> = serde_json::to_value(base).and_then(serde_json::from_value).map_err(wrong)?;
    fields.extend(given);
    serde_json::from_value(Value::Object(fields)).map_err(wrong)
}

fn profile(name: &str) -> PyResult<Spelling> {
    match name {
        "generate" => Ok(Spelling::generator()),
        "validate" => Ok(Spelling::validator()),
        _ => Err(unknown("spelling", name, "generate and validate")),
    }
}

/// An `Exception` that it raises is shown with the reference. Anything else is kept for the caller, and ends all.
fn retriever(function: Py<PyAny>, interrupt: Interrupt) -> Retriever {
    Retriever::new(move |uri| {
        Python::attach(|py| {
            let interrupted = || interrupt.lock().unwrap_or_else(PoisonError::into_inner);
            if interrupted().is_some() {
                return Err("interrupted".to_owned());
            }
            let text = function.call1(py, (uri,)).and_then(|text| text.extract::<Option<String>>(py));
            text.map_err(|error: PyErr| {
                let shown = error.to_string();
                if !error.is_instance_of::<PyException>(py) {
                    *interrupted() = Some(error);
                }
                shown
            })
        })
    })
}

/// Limits by name; those not given have their defaults.
pub(crate) fn limits(given: Option<HashMap<String, Bound<PyAny>>>) -> PyResult<Limits> {
    let mut limits = Limits::default();
    for (name, value) in given.into_iter().flatten() {
        let value = number(&format!("limit {name:?}"), &value, 0..=u64::MAX)?;
        if !limits.set(&name, value) {
            return Err(unknown("limit", &name, &Limits::NAMES.join(", ")));
        }
    }
    Ok(limits)
}

/// Of a name so many characters are shown.
const SHOWN_MAX: usize = 60;

fn unknown(what: &str, name: &str, known: &str) -> PyErr {
    let mut shown: String = name.chars().take(SHOWN_MAX).collect();
    if shown.len() < name.len() {
        shown.push('…');
    }
    let name = shown;
    PyValueError::new_err(format!("there is no {what} {name:?}; there are {known}"))
}
