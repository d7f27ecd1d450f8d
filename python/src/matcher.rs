//! Matchers.

use std::sync::{Mutex, MutexGuard, TryLockError};

use larkspur::{MatcherError, StopReason, TokenId, TokenMask};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::engine::Grammar;
use crate::errors::{in_use, matcher_error};
use crate::memory::Table;
use crate::number::number;
use crate::token::{Token, ids};

/// What a byte of [`Matcher::compute_bias`] is for an allowed token.
const BIAS_ALLOWED: u8 = 200;

/// One text being generated.
#[pyclass(frozen, module = "larkspur")]
pub(crate) struct Matcher {
    inner: Mutex<larkspur::Matcher>,
    grammar: Grammar,
}

impl Matcher {
    pub fn new(inner: larkspur::Matcher, grammar: Grammar) -> Self {
        Self { inner: Mutex::new(inner), grammar }
    }

    /// The matcher, for one thread at a time.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, larkspur::Matcher>> {
        match self.inner.try_lock() {
            Ok(matcher) => Ok(matcher),
            // After an error, and so after a panic, the matcher is where it was.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(in_use()),
        }
    }

    pub fn vocabulary_len(&self) -> usize {
        self.grammar.vocabulary.len()
    }

    /// Runs `f` with the GIL released.
    pub fn run<T: Send>(
        &self,
        py: Python,
        f: impl FnOnce(&mut larkspur::Matcher) -> Result<T, MatcherError> + Send,
    ) -> PyResult<T> {
        match py.detach(|| self.lock().map(|mut matcher| f(&mut matcher)))? {
            Ok(value) => Ok(value),
            Err(error) => Err(matcher_error(py, error)),
        }
    }

    fn mask(&self, py: Python) -> PyResult<TokenMask> {
        let mut mask = TokenMask::new(self.vocabulary_len());
        self.run(py, |matcher| matcher.compute_mask(&mut mask))?;
        Ok(mask)
    }
}

/// A mask as bytes.
fn words<'py>(py: Python<'py>, mask: &TokenMask) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, mask.words().len() * 4, |bytes| {
        for (bytes, word) in bytes.chunks_exact_mut(4).zip(mask.words()) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        Ok(())
    })
}

/// Which mask it is.
#[pyclass(frozen, eq, hash, module = "larkspur")]
#[derive(PartialEq, Eq, Hash)]
pub struct MaskId(larkspur::MaskId);

#[pymethods]
impl Matcher {
    /// The grammar that it follows.
    #[getter]
    fn grammar(&self) -> Grammar {
        self.grammar.clone()
    }

    /// Another matcher at the same place, for the same price whatever the length of the text.
    fn fork(&self, py: Python) -> PyResult<Self> {
        let inner = self.run(py, |matcher| Ok(matcher.fork()))?;
        Ok(Self::new(inner, self.grammar.clone()))
    }

    fn __copy__(&self, py: Python) -> PyResult<Self> {
        self.fork(py)
    }

    fn __deepcopy__(&self, py: Python, _memo: &Bound<PyAny>) -> PyResult<Self> {
        self.fork(py)
    }

    /// Back to the start of the text.
    fn reset(&self, py: Python) -> PyResult<()> {
        self.run(py, larkspur::Matcher::reset)
    }

    /// Takes the last `tokens` tokens back, EOS among them. Raises `RollbackTooFar` where there are not so many.
    fn rollback(&self, py: Python, tokens: &Bound<PyAny>) -> PyResult<()> {
        let tokens = number("tokens", tokens, 0..=usize::MAX)?;
        self.run(py, |matcher| matcher.rollback(tokens))
    }

    /// How many tokens were taken, each call of `consume_bytes` counting as one.
    #[getter]
    fn step_count(&self) -> PyResult<usize> {
        Ok(self.lock()?.step_count())
    }

    /// How many tokens `max_tokens` leaves; `None` without it.
    #[getter]
    fn tokens_left(&self) -> PyResult<Option<u32>> {
        Ok(self.lock()?.tokens_left())
    }

    /// Whether the text may end here.
    fn is_accepting(&self, py: Python) -> PyResult<bool> {
        self.run(py, |matcher| matcher.is_accepting())
    }

    /// Whether the text has ended: `stop_reason` says why. Only `rollback` and `reset` lead on.
    fn is_stopped(&self) -> PyResult<bool> {
        Ok(self.lock()?.is_stopped())
    }

    fn stop_reason(&self) -> PyResult<Option<&'static str>> {
        Ok(self.lock()?.stop_reason().map(|reason| match reason {
            StopReason::EndOfSentence => "end_of_sentence",
            StopReason::NoExtension => "no_extension",
            StopReason::MaxTokens => "max_tokens",
        }))
    }

    /// The temperature that the grammar's rules have here, the highest of them; `None` where they have none.
    fn temperature(&self, py: Python) -> PyResult<Option<f32>> {
        self.run(py, |matcher| matcher.temperature())
    }

    fn compute_mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        words(py, &self.mask(py)?)
    }

    fn compute_mask_id(&self, py: Python) -> PyResult<MaskId> {
        self.run(py, |matcher| matcher.compute_mask_id().map(MaskId))
    }

    fn mask_by_id<'py>(&self, py: Python<'py>, id: &MaskId) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let mut mask = TokenMask::new(self.vocabulary_len());
        let is_kept = self.run(py, |matcher| Ok(matcher.mask_by_id(id.0, &mut mask)))?;
        is_kept.then(|| words(py, &mask)).transpose()
    }

    fn compute_bias<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mask = self.mask(py)?;
        PyBytes::new_with(py, self.vocabulary_len(), |bytes| {
            for token in mask.iter() {
                bytes[token as usize] = BIAS_ALLOWED;
            }
            Ok(())
        })
    }

    fn fill_mask_at(&self, py: Python, pointer: usize, byte_len: usize) -> PyResult<()> {
        let table = Table::new(pointer, byte_len, 1)?;
        table.check(0, self.vocabulary_len())?;
        let mut mask = TokenMask::new(self.vocabulary_len());
        self.run(py, |matcher| {
            let result = matcher.compute_mask(&mut mask);
            table.write(0, &mask);
            result
        })
    }

    /// The ids of the allowed tokens, ascending.
    fn allowed_tokens(&self, py: Python) -> PyResult<Vec<TokenId>> {
        Ok(self.mask(py)?.iter().collect())
    }

    /// Whether one token is allowed, without a mask.
    fn is_allowed(&self, py: Python, token: Token) -> PyResult<bool> {
        self.run(py, |matcher| matcher.is_allowed(token.0))
    }

    fn consume_token(&self, py: Python, token: Token) -> PyResult<usize> {
        self.run(py, |matcher| Ok(matcher.consume_token(token.0)?.backtrack_tokens))
    }

    /// Takes all of the tokens, or raises and takes none.
    fn consume_tokens(&self, py: Python, tokens: Vec<Token>) -> PyResult<()> {
        self.run(py, |matcher| matcher.consume_tokens(&ids(tokens)).map(|_| ()))
    }

    /// Takes the tokens up to the first one that is not allowed; returns how many.
    fn try_consume_tokens(&self, py: Python, tokens: Vec<Token>) -> PyResult<usize> {
        self.run(py, |matcher| matcher.try_consume_tokens(&ids(tokens)))
    }

    /// How many of the tokens could be taken, up to the first one that is not allowed. Takes none.
    fn validate_tokens(&self, py: Python, tokens: Vec<Token>) -> PyResult<usize> {
        self.run(py, |matcher| matcher.validate_tokens(&ids(tokens)))
    }

    /// Takes text, cut into tokens at no particular places. Raises `TextRejected` and takes none of it.
    fn consume_bytes(&self, py: Python, text: PyBackedBytes) -> PyResult<()> {
        self.run(py, |matcher| matcher.consume_bytes(&text))
    }

    /// The text that must follow, up to the first choice.
    fn forced_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.run(py, |matcher| matcher.forced_bytes())?))
    }

    /// The tokens that must follow: those in which the tokenizer spells the text that must, as far as nothing that comes after
    /// could change them (without a tokenizer, none), and those that the grammar names by themselves.
    fn forced_tokens(&self, py: Python) -> PyResult<Vec<TokenId>> {
        self.run(py, |matcher| matcher.forced_tokens())
    }

    /// The prompt without tokens at its end that the tokenizer could make longer with the text to come (token healing), and
    /// with forced ones. The matcher must be at the start of its text; else the prompt is returned as it is.
    fn process_prompt(&self, py: Python, prompt: Vec<Token>) -> PyResult<Vec<TokenId>> {
        self.run(py, |matcher| matcher.process_prompt(&ids(prompt)))
    }

    /// The text so far.
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.lock()?.text()))
    }

    /// Names of what may come next, for messages.
    fn expected(&self, py: Python) -> PyResult<Vec<String>> {
        self.run(py, |matcher| matcher.expected())
    }

    /// The last text captured under a name; `None` if there is none.
    fn capture<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let bytes = self.run(py, |matcher| matcher.capture(name))?;
        Ok(bytes.map(|bytes| PyBytes::new(py, &bytes)))
    }

    /// The captured texts with their names, in the order of their ends.
    fn captures<'py>(&self, py: Python<'py>) -> PyResult<Vec<(String, Bound<'py, PyBytes>)>> {
        let captures = self.run(py, |matcher| matcher.captures())?;
        Ok(captures.into_iter().map(|capture| (capture.name, PyBytes::new(py, &capture.bytes))).collect())
    }

    fn __repr__(&self) -> String {
        match self.lock() {
            Ok(matcher) => format!("<Matcher after {} steps>", matcher.step_count()),
            Err(_) => "<Matcher in use>".to_owned(),
        }
    }
}
