//! The command line: check grammars, match texts, look at masks, generate sentences.
//!
//! Converts arguments, files and errors; what a grammar means is the business of the `larkspur` crate.

#![forbid(unsafe_code)]

mod args;
mod commands;
mod grammar;
mod output;
mod render;
mod sampler;
mod text;
mod vocabulary;

use std::process::ExitCode;

use clap::Parser;

use args::{Cli, Command};

/// Compiling is many small allocations, of which the system's allocators make a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// How a command ended, as the exit code says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    /// 0: clean, accepted, done.
    Good,
    /// 1: errors in a grammar, a text that is not accepted.
    Bad,
    /// 2: the command could not do its work.
    Failed,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        ExitCode::from(match outcome {
            Outcome::Good => 0,
            Outcome::Bad => 1,
            Outcome::Failed => 2,
        })
    }
}

fn main() -> ExitCode {
    let result = match &Cli::parse().command {
        Command::Check(args) => commands::check::run(args),
        Command::Match(args) => commands::match_text::run(args),
        Command::Mask(args) => commands::mask::run(args),
        Command::Trace(args) => commands::trace::run(args),
        Command::Generate(args) => commands::generate::run(args),
        Command::Dump(args) => commands::dump::run(args),
        Command::Convert(args) => commands::convert::run(args),
        Command::Conformance(args) => commands::conformance::run(args),
        Command::Completions(args) => commands::completions::run(args),
    };
    match result {
        Ok(outcome) => outcome.into(),
        // The reader of our output has seen enough.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            render::failure(&error);
            Outcome::Failed.into()
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<std::io::Error>())
        .any(|cause| cause.kind() == std::io::ErrorKind::BrokenPipe)
}
