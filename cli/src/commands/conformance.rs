//! `larkspur conformance DIR…`: suites of JSON Schemas with instances, and how many verdicts are right.

use std::io::Write;

use anyhow::{Result, bail};
use larkspur_conformance::{Case, FailureKind, LarkspurEngine, Report, Suite, outcomes, report};
use serde_json::Value;

use crate::Outcome;
use crate::args::{ConformanceArgs, Output};
use crate::{output, render};

pub(crate) fn run(args: &ConformanceArgs) -> Result<Outcome> {
    let mut reports = Vec::new();
    for folder in &args.folders {
        if !folder.is_dir() {
            bail!("there is no folder `{}`", folder.display());
        }
        let suite = Suite::read(folder)?;
        let mut cases: Vec<Case> = suite.cases.into_iter().step_by(args.step.max(1)).collect();
        if let Some(only) = &args.only {
            cases.retain(|case| case.set.contains(only.as_str()) || case.file.contains(only.as_str()));
        }
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let judged = outcomes(&cases, threads, || LarkspurEngine::new(&suite.retriever), None);
        reports.extend(report("larkspur", &cases, &judged));
    }
    match args.output {
        Output::Json => output::json(&Value::from_iter(reports.iter().map(|report| report.json(args.failures))))?,
        Output::Text => show(&reports, args.failures)?,
    }
    if args.output == Output::Text && reports.is_empty() {
        render::note("no case is left");
    }
    let accepted: usize = reports.iter().map(|report| report.count(FailureKind::WrongAccept)).sum();
    Ok(if accepted == 0 { Outcome::Good } else { Outcome::Bad })
}

fn show(reports: &[Report], failures: bool) -> Result<()> {
    let mut out = std::io::stdout().lock();
    write!(out, "{}", Report::table(reports))?;
    for report in reports.iter().filter(|report| !report.refusals.is_empty()) {
        write!(out, "\nrefused in {}:\n{}", report.set, report.reasons())?;
    }
    if failures {
        for report in reports.iter().filter(|report| !report.failures.is_empty()) {
            write!(out, "\nfailures in {}:\n{}", report.set, report.failure_lines())?;
        }
    }
    Ok(())
}
