//! KBNF's engine.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use larkspur::kbnf::{AcceptTokenError, AcceptTokenResult, Config, Engine, Finish, LimitExceeded};
use larkspur::{MatcherError, TokenId};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::{grammar_error, in_use, matcher_error};
use crate::memory::Table;
use crate::options::limits;
use crate::token::Token;
use crate::vocabulary::Vocabulary;

/// One generated sequence, as KBNF's programs know it.
#[pyclass(frozen, module = "larkspur")]
pub(crate) struct KbnfEngine {
    inner: Mutex<Engine>,
}

/// The name of `AcceptTokenResult` or `AcceptTokenError` in Python.
type Accepted = Result<&'static str, LimitExceeded>;

fn accepted(result: Result<AcceptTokenResult, AcceptTokenError>) -> Accepted {
    Ok(match result {
        Ok(AcceptTokenResult::Ongoing) => "Ongoing",
        Ok(AcceptTokenResult::Finished) => "Finished",
        Err(AcceptTokenError::UnknownTokenId) => "UnknownTokenID",
        Err(AcceptTokenError::Rejected) => "Rejected",
        Err(AcceptTokenError::Finished) => "AlreadyFinished",
        Err(AcceptTokenError::Limit(limit)) => return Err(limit),
    })
}

impl KbnfEngine {
    fn lock(&self) -> PyResult<MutexGuard<'_, Engine>> {
        match self.inner.try_lock() {
            Ok(engine) => Ok(engine),
            Err(TryLockError::Poisoned(poisoned)) => Ok(PoisonError::into_inner(poisoned)),
            Err(TryLockError::WouldBlock) => Err(in_use()),
        }
    }

    fn run<T: Send>(&self, py: Python, f: impl FnOnce(&mut Engine) -> Result<T, LimitExceeded> + Send) -> PyResult<T> {
        match py.detach(|| self.lock().map(|mut engine| f(&mut engine)))? {
            Ok(value) => Ok(value),
            Err(LimitExceeded { limit, value }) => Err(matcher_error(py, MatcherError::LimitExceeded { limit, value })),
        }
    }
}

#[pymethods]
impl KbnfEngine {
    #[new]
    #[pyo3(signature = (grammar, vocabulary, *, start="start", finish="eager", cache_enabled=true, limits=None))]
    fn new(
        py: Python,
        grammar: &str,
        vocabulary: &Vocabulary,
        start: &str,
        finish: &str,
        cache_enabled: bool,
        limits: Option<HashMap<String, Bound<PyAny>>>,
    ) -> PyResult<Self> {
        let finish = match finish {
            "eager" => Finish::Eager,
            "eos" => Finish::Eos,
            _ => return Err(PyValueError::new_err(format!("finish is \"eager\" or \"eos\", not {finish:?}"))),
        };
        let limits = self::limits(limits)?;
        let config = Config { start_nonterminal: start.to_owned(), finish, cache_enabled, limits };
        let vocabulary = vocabulary.inner.clone();
        match py.detach(|| Engine::with_config(grammar, vocabulary, config)) {
            Ok(engine) => Ok(Self { inner: Mutex::new(engine) }),
            Err(error) => Err(grammar_error(py, &error)),
        }
    }

    #[getter]
    fn vocabulary(&self) -> PyResult<Vocabulary> {
        Ok(Vocabulary { inner: self.lock()?.vocab().clone() })
    }

    fn try_accept_new_token(&self, py: Python, token: Token) -> PyResult<&'static str> {
        self.run(py, |engine| accepted(engine.try_accept_new_token(token.0)))
    }

    fn try_accept_new_bytes(&self, py: Python, text: PyBackedBytes) -> PyResult<&'static str> {
        self.run(py, |engine| accepted(engine.try_accept_new_bytes(&text)))
    }

    fn compute_allowed_token_ids(&self, py: Python) -> PyResult<()> {
        self.run(py, Engine::compute_allowed_token_ids)
    }

    fn allowed_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let engine = self.lock()?;
        let words = engine.allowed_token_ids_from_last_computation().words();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    fn allowed_token_ids(&self) -> PyResult<Vec<TokenId>> {
        Ok(self.lock()?.allowed_token_ids_from_last_computation().iter().collect())
    }

    fn is_allowed(&self, token: Token) -> PyResult<bool> {
        Ok(self.lock()?.allowed_token_ids_from_last_computation().is_allowed(token.0))
    }

    fn write_allowed_mask_at(&self, pointer: usize, byte_len: usize) -> PyResult<()> {
        let engine = self.lock()?;
        let table = Table::new(pointer, byte_len, 1)?;
        table.check(0, engine.vocab().len())?;
        table.write(0, engine.allowed_token_ids_from_last_computation());
        Ok(())
    }

    fn is_finished(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_finished())
    }

    fn reset(&self, py: Python) -> PyResult<()> {
        self.run(py, Engine::reset)
    }

    fn fork(&self) -> PyResult<Self> {
        Ok(Self { inner: Mutex::new(self.lock()?.clone()) })
    }
}
