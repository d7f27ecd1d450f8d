//! Many matchers at once, on threads of their own.

use std::collections::HashSet;
use std::sync::MutexGuard;

use larkspur::{MatcherError, TokenId, TokenMask};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{given_twice, matcher_error};
use crate::matcher::Matcher;
use crate::memory::Table;
use crate::number::{Row, optional};
use crate::token::{Token, ids};

/// More threads than this wait for memory, not for processors: so many are made if no number is given.
const THREADS_MAX: usize = 32;

/// So many threads may be asked for.
const THREADS_ASKED_MAX: usize = 1_024;

/// Threads that compute masks.
#[pyclass(frozen, module = "larkspur")]
pub(crate) struct Executor {
    pool: ThreadPool,
}

/// A matcher of a batch, with what is to be done.
struct Job<'a, T> {
    matcher: &'a mut larkspur::Matcher,
    vocabulary_len: usize,
    what: T,
}

impl Executor {
    /// Does `f` to every matcher of a batch, with the GIL released. Nothing is done if one of them is in use, or given
    /// twice.
    fn each<T: Send, R: Send>(
        &self,
        py: Python,
        batch: Vec<(Py<Matcher>, T)>,
        f: impl Fn(Job<T>) -> R + Sync + Send,
    ) -> PyResult<Vec<R>> {
        let (owners, whats): (Vec<Py<Matcher>>, Vec<T>) = batch.into_iter().unzip();
        let mut seen = HashSet::new();
        if !owners.iter().all(|owner| seen.insert(owner.as_ptr())) {
            return Err(given_twice());
        }
        py.detach(|| {
            let guards = owners.iter().map(|owner| owner.get().lock()).collect::<PyResult<Vec<MutexGuard<_>>>>();
            let mut guards = guards?;
            let jobs: Vec<Job<T>> = (owners.iter().zip(&mut guards).zip(whats))
                .map(|((owner, guard), what)| {
                    let vocabulary_len = owner.get().vocabulary_len();
                    Job { matcher: &mut *guard, vocabulary_len, what }
                })
                .collect();
            Ok(if jobs.len() < 2 {
                jobs.into_iter().map(f).collect()
            } else {
                self.pool.install(|| jobs.into_par_iter().map(f).collect())
            })
        })
    }
}

fn mask_into(
    table: Table,
    row: usize,
    matcher: &mut larkspur::Matcher,
    vocabulary_len: usize,
) -> Result<(), MatcherError> {
    let mut mask = TokenMask::new(vocabulary_len);
    let result = matcher.compute_mask(&mut mask);
    table.write(row, &mask);
    result
}

/// Checks the rows of a batch: they are there, long enough, and no row is written twice.
fn check<'a>(table: Table, rows: impl Iterator<Item = (&'a Py<Matcher>, usize)>) -> PyResult<()> {
    let mut seen = HashSet::new();
    for (matcher, row) in rows {
        table.check(row, matcher.get().vocabulary_len())?;
        if !seen.insert(row) {
            return Err(PyValueError::new_err(format!("row {row} is given twice")));
        }
    }
    Ok(())
}

/// Masks before a draft and after each of its tokens. Returns how many. Unlike [`larkspur::Matcher::compute_draft_masks`], as
/// llguidance does it: what stands before a mistake is written, and nothing is tried behind the end of a text, not even EOS.
fn draft_masks(table: Table, job: Job<(usize, Vec<TokenId>)>) -> Result<usize, MatcherError> {
    let Job { matcher, vocabulary_len, what: (row, draft) } = job;
    // What is tried belongs to nobody: the matcher itself stays, whatever happens.
    let mut ahead = matcher.fork();
    mask_into(table, row, &mut ahead, vocabulary_len)?;
    for (index, &token) in draft.iter().enumerate() {
        if ahead.is_stopped() || ahead.try_consume_tokens(&[token])? == 0 {
            return Ok(index + 1);
        }
        mask_into(table, row + index + 1, &mut ahead, vocabulary_len)?;
    }
    Ok(draft.len() + 1)
}

#[pymethods]
impl Executor {
    #[new]
    #[pyo3(signature = (threads=None))]
    fn new(threads: Option<&Bound<PyAny>>) -> PyResult<Self> {
        let available = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = optional("threads", threads, 1..=THREADS_ASKED_MAX)?.unwrap_or(available.min(THREADS_MAX));
        let pool =
            ThreadPoolBuilder::new().num_threads(threads).thread_name(|index| format!("larkspur-{index}")).build();
        let pool = pool.map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
        Ok(Self { pool })
    }

    #[getter]
    fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }

    fn fill_masks_at(
        &self,
        py: Python,
        batch: Vec<(Py<Matcher>, Row)>,
        pointer: usize,
        row_bytes: usize,
        rows: usize,
    ) -> PyResult<Vec<Option<PyErr>>> {
        let table = Table::new(pointer, row_bytes, rows)?;
        check(table, batch.iter().map(|(matcher, row)| (matcher, row.0)))?;
        let results = self.each(py, batch, |job| mask_into(table, job.what.0, job.matcher, job.vocabulary_len))?;
        Ok(results.into_iter().map(|result| result.err().map(|error| matcher_error(py, error))).collect())
    }

    fn fill_draft_masks_at<'py>(
        &self,
        py: Python<'py>,
        batch: Vec<(Py<Matcher>, Row, Vec<Token>)>,
        pointer: usize,
        row_bytes: usize,
        rows: usize,
    ) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let table = Table::new(pointer, row_bytes, rows)?;
        let rows_of = batch.iter().flat_map(|(matcher, row, draft)| {
            // A row past the end is found by the check, whichever it is.
            let len = draft.len().min(table.rows());
            (0..=len).map(move |index| (matcher, row.0.saturating_add(index)))
        });
        check(table, rows_of)?;
        let batch = batch.into_iter().map(|(matcher, row, draft)| (matcher, (row.0, ids(draft)))).collect();
        let results = self.each(py, batch, |job| draft_masks(table, job))?;
        let shown = results.into_iter().map(|result| match result {
            Ok(written) => Ok(written.into_pyobject(py)?.into_any()),
            Err(error) => Ok(matcher_error(py, error).into_value(py).into_bound(py).into_any()),
        });
        shown.collect()
    }

    fn consume_tokens(&self, py: Python, batch: Vec<(Py<Matcher>, Token)>) -> PyResult<Vec<Option<PyErr>>> {
        let results = self.each(py, batch, |job| job.matcher.consume_token(job.what.0).map(|_| ()))?;
        Ok(results.into_iter().map(|result| result.err().map(|error| matcher_error(py, error))).collect())
    }
}
