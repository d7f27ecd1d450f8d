//! MaskBench: each schema compiled, each instance walked token by token, each token checked against the mask.
//!
//! In: a folder of schemas with instances. Out: a table on standard output, and a JSON file. What is measured, and how, is
//! in `bench/README.md`.

mod batches;
mod check;
pub mod data;
mod engines;
mod figures;
mod memory;
mod passes;
mod report;
mod respell;
mod slow;
pub mod tokenizer;
mod verdicts;
mod walk;

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::ValueEnum;
use larkspur::Spelling;
use serde::Serialize;

use crate::engines::Engine;
use crate::machine::{self, Machine, Versions};
use data::Plan;
use engines::{Host, Setup, options_without};
use passes::Effort;
use report::{EngineReport, Report, Settings};
use tokenizer::Tokenizer;
use verdicts::Judge;

/// Options of `maskbench`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder with the schemas.
    dir: PathBuf,
    /// `o200k`, a path, or the name of a folder in `tokenizers/` of the shared material.
    #[arg(long, default_value = "o200k")]
    tokenizer: String,
    /// Measure this engine beside Larkspur.
    #[arg(long, value_parser = [engines::LlGuidance::NAME])]
    peer: Option<String>,
    /// Measure only so many schemas.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// New engines; of each step the least time counts.
    #[arg(long, value_name = "K", default_value_t = 1)]
    repeat: usize,
    /// Schemas that each new engine runs before the others.
    #[arg(long, value_name = "N", default_value_t = 500)]
    warm_up: usize,
    /// The first of these, in the first repetition, are the setting `cold_process`.
    #[arg(long, value_name = "N", default_value_t = 50)]
    cold_process: usize,
    /// How JSON is spelled: as generators write it, which is the peer's language, or in any way.
    #[arg(long, value_enum, default_value_t = Profile::Generator)]
    profile: Profile,
    /// Values are part of a text in place of all of it, and schemas of a grammar: as calls of tools are.
    #[arg(long, value_enum, value_name = "HOST")]
    within: Option<Host>,
    /// Objects may repeat keys in Larkspur, too, as in the peer; by default its masks do not allow that.
    #[arg(long)]
    repeat_keys: bool,
    /// The peer's matchers share the lexer in the cold settings, too. MaskBench gives each instance a copy.
    #[arg(long)]
    peer_shares: bool,
    /// Larkspur does without these (`docs/mask.md`): to measure what they are worth.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    without: Vec<String>,
    /// Measure nothing: compare the masks before the first so many tokens of each instance with those of an engine that keeps
    /// nothing.
    #[arg(long, value_name = "TOKENS")]
    check: Option<usize>,
    /// Leave out the setting `warm`, and what is measured in batches.
    #[arg(long)]
    no_warm: bool,
    /// Run each engine once more in a process of its own, to see its memory.
    #[arg(long)]
    memory: bool,
    /// Write all figures here.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    #[arg(long, hide = true)]
    memory_child: Option<String>,
}

/// Ways to spell JSON.
#[derive(Clone, Copy, Debug, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
enum Profile {
    Generator,
    Validator,
}

/// Runs the benchmark.
pub fn run(args: &Args) -> Result<()> {
    let begin = Instant::now();
    let mut machine = Machine::here();
    let mut spelling = match args.profile {
        Profile::Generator => Spelling::generator(),
        Profile::Validator => Spelling::validator(),
    };
    spelling.unique_keys &= !args.repeat_keys;
    let setup =
        Setup { spelling, host: args.within, peer_shares: args.peer_shares, options: options_without(&args.without)? };
    if let Some(engine) = &args.memory_child {
        return memory::obey(engine, &setup);
    }
    let tokenizer = Tokenizer::named(&args.tokenizer, &args.dir)?;
    let plan = Plan::read(&args.dir, &tokenizer, (args.warm_up, args.limit), args.within)?;
    if let Some(tokens_max) = args.check {
        return check::check(&plan, &tokenizer, &setup, tokens_max);
    }
    let effort = Effort {
        repeats: args.repeat.max(1),
        cold_process: args.cold_process,
        with_peer: args.peer.is_some(),
        with_warm: !args.no_warm,
    };
    let (ours, theirs) = passes::run(&plan, &tokenizer, &setup, effort)?;
    let mut judge = Judge::default();
    let both = (&ours, effort.with_peer.then_some(&theirs));
    let mut larkspur = EngineReport::new(&plan, &ours, both, &mut judge, &tokenizer, Some(&setup));
    let mut llguidance = both.1.map(|theirs| EngineReport::new(&plan, theirs, both, &mut judge, &tokenizer, None));
    if args.memory {
        let profile = args.profile.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned());
        let mut arguments = ["--profile", &profile].map(str::to_owned).to_vec();
        if args.repeat_keys {
            arguments.push("--repeat-keys".to_owned());
        }
        if !args.without.is_empty() {
            arguments.extend(["--without".to_owned(), args.without.join(",")]);
        }
        if let Some(host) = args.within.and_then(|host| host.to_possible_value()) {
            arguments.extend(["--within", host.get_name()].map(str::to_owned));
        }
        let (folder, vocabulary) = (&args.dir, tokenizer.vocabulary());
        let schemas = || plan.warm_up.iter().chain(&plan.measured);
        larkspur.memory = Some(memory::measure(engines::Larkspur::NAME, folder, &arguments, vocabulary, schemas())?);
        if let Some(peer) = &mut llguidance {
            peer.memory = Some(memory::measure(engines::LlGuidance::NAME, folder, &arguments, vocabulary, schemas())?);
        }
    }
    machine.load_end = machine::load();
    let (instance_bytes, instance_tokens) = plan.size();
    let report = Report {
        date: machine::date(),
        machine,
        versions: Versions::here(),
        settings: Settings {
            tokenizer: tokenizer.name.clone(),
            vocabulary_len: tokenizer.vocabulary().len(),
            profile: args.profile,
            repeat_keys: args.repeat_keys,
            host: args.within,
            peer_shares: args.peer_shares,
            without: args.without.clone(),
            repeats: effort.repeats,
            warm_up: plan.warm_up.len(),
            schemas: plan.measured.len(),
            instance_bytes,
            instance_tokens,
        },
        larkspur,
        llguidance,
        peak_rss_mb: machine::memory_bytes().1 as f64 / 1e6,
        seconds: begin.elapsed().as_secs_f64(),
    };
    print!("{}", report.markdown());
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(())
}
