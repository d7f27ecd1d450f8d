//! `larkspur convert GRAMMAR --to lark`.

use std::io::Write;

use anyhow::Result;
use larkspur::Limits;

use crate::Outcome;
use crate::args::{ConvertArgs, Profile};
use crate::render;

pub(crate) fn run(args: &ConvertArgs) -> Result<Outcome> {
    let source = args.read.source(&args.grammar)?;
    let options = args.read.options(&source, Profile::Generate)?;
    match larkspur::convert(&source, args.to.into(), &options, &Limits::default()) {
        Ok(converted) => {
            converted.notes.iter().for_each(|note| render::note(note));
            std::io::stdout().lock().write_all(converted.text.as_bytes())?;
            Ok(Outcome::Good)
        }
        Err(error) => {
            render::diagnostics(&mut anstream::stderr().lock(), &error.diagnostics, &error.sources)?;
            Ok(Outcome::Failed)
        }
    }
}
