//! `larkspur check FILE…`: everything that is wrong with grammars.

use std::io::Write;
use std::sync::Arc;

use anyhow::{Result, bail};
use larkspur::{CompileError, Diagnostic, Engine, Limits, SourceMap};
use serde_json::json;

use crate::Outcome;
use crate::args::{CheckArgs, Output, Profile};
use crate::{output, render, vocabulary};

pub(crate) fn run(args: &CheckArgs) -> Result<Outcome> {
    if let Some(code) = &args.explain {
        return explain(code);
    }
    // Without a vocabulary every special token is taken to be there.
    let engine = match &args.read.tokenizer {
        Some(name) => Some(Engine::new(vocabulary::named(name)?)),
        None => None,
    };
    if args.files.iter().filter(|file| *file == "-").count() > 1 {
        bail!("standard input can be read once only");
    }
    let mut outcome = Outcome::Good;
    let mut all = Vec::new();
    for file in &args.files {
        let (diagnostics, sources) = match check(args, file, engine.as_ref()) {
            Ok(found) => found,
            Err(error) => {
                render::failure(&error);
                outcome = Outcome::Failed;
                continue;
            }
        };
        if outcome == Outcome::Good && diagnostics.iter().any(Diagnostic::is_error) {
            outcome = Outcome::Bad;
        }
        match args.output {
            Output::Text => {
                let name = (args.files.len() > 1).then_some(file.as_str());
                render::diagnostics_of(&mut anstream::stdout().lock(), &diagnostics, &sources, name)?;
            }
            Output::Json => {
                let found = diagnostics.iter().map(|diagnostic| render::diagnostic_json(diagnostic, &sources));
                all.push(json!({ "file": file, "diagnostics": found.collect::<Vec<_>>() }));
            }
        }
    }
    if args.output == Output::Json {
        output::json(&json!(all))?;
    }
    Ok(outcome)
}

fn check(args: &CheckArgs, file: &str, engine: Option<&Engine>) -> Result<(Vec<Diagnostic>, SourceMap)> {
    let source = args.read.source(file)?;
    let linked = match larkspur::link(&source, &args.read.options(&source, Profile::Generate)?, &Limits::default()) {
        Ok(linked) => linked,
        Err(CompileError { diagnostics, sources }) => return Ok((diagnostics, sources)),
    };
    let compiled = match engine {
        Some(engine) => engine.compile_linked(linked),
        None => Engine::new(Arc::new(linked.byte_vocabulary(Vec::new())?)).compile_linked(linked),
    };
    Ok(match compiled {
        Ok(grammar) => (grammar.warnings().to_vec(), grammar.sources().clone()),
        Err(CompileError { diagnostics, sources }) => (diagnostics, sources),
    })
}

fn explain(code: &str) -> Result<Outcome> {
    let codes = larkspur::codes();
    let Some(info) = codes.iter().find(|info| info.code.eq_ignore_ascii_case(code)) else {
        bail!("there is no code `{code}`");
    };
    let mut out = std::io::stdout().lock();
    writeln!(out, "{}: {}\n\n{}", info.code, info.title, info.explanation)?;
    for (title, example) in [("This gets it:", info.bad), ("This does not:", info.good)] {
        if !example.is_empty() {
            writeln!(out, "\n{title}\n")?;
            for line in example.lines() {
                writeln!(out, "    {line}")?;
            }
        }
    }
    Ok(Outcome::Good)
}
