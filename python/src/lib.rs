//! The Python door: `larkspur._native`, which the Python package `larkspur` is built on.
//!
//! In: Python's types. Out: the facade's, called with the GIL released, and its errors as exceptions. Knows no grammar.
//! The stub `python/larkspur/_native.pyi` is its documentation.

mod batch;
mod check;
mod diagnostic;
mod engine;
mod errors;
mod kbnf;
mod matcher;
mod memory;
mod number;
mod options;
mod progress;
mod tags;
mod token;
mod vocabulary;

/// Compiling is many small allocations, of which the system's allocators make a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The module.
#[pyo3::pymodule(gil_used = false)]
mod _native {
    #[pymodule_export]
    use super::batch::Executor;
    #[pymodule_export]
    use super::check::{check, convert};
    #[pymodule_export]
    use super::diagnostic::Diagnostic;
    #[pymodule_export]
    use super::engine::{Engine, Grammar};
    #[pymodule_export]
    use super::kbnf::KbnfEngine;
    #[pymodule_export]
    use super::matcher::{MaskId, Matcher};
    #[pymodule_export]
    use super::progress::{capture_spans, unsettled_len};
    #[pymodule_export]
    use super::vocabulary::Vocabulary;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
