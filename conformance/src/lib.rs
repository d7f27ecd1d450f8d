//! Suites of JSON Schemas with instances, an engine that judges them, and the figures.
//!
//! In: a folder in the layout of the official suite or of MaskBench, and an [`Engine`]. Out: a [`Report`]: for each set
//! what compiles, which verdicts are right, and why the others are not.
//! Knows Larkspur by its facade only; other engines are judged by the same code (`bench/`).
//!
//! An instance is judged as a text, as it stands in the suite's file, so that `1.0` stays `1.0`.

#![forbid(unsafe_code)]

mod larkspur_engine;
mod report;
mod run;
mod suite;
#[cfg(feature = "validator")]
mod validator;

pub use larkspur_engine::LarkspurEngine;
pub use report::{Failure, FailureKind, Report, Times};
pub use run::{Engine, Judge, Opinion, Outcome, Refusal, SecondOpinion, Verdict, outcomes, report};
pub use suite::{Case, Suite, SuiteError, Test};
#[cfg(feature = "validator")]
pub use validator::validator;
