//! `larkspur completions SHELL`.

use anyhow::Result;
use clap::CommandFactory;

use crate::Outcome;
use crate::args::{Cli, CompletionsArgs};

pub(crate) fn run(args: &CompletionsArgs) -> Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "larkspur", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(Outcome::Good)
}
