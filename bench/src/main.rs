//! Larkspur and its peer, llguidance, on the same grammars and texts: times, memory, and every mask compared.
//!
//! In: options. Out: a table on standard output and, unless `--quick`, files in `bench/results/`.
//! What is measured, and how, is in `bench/README.md`.

#![forbid(unsafe_code)]

mod batch;
mod cases;
mod child;
mod compare;
mod conformance;
mod engines;
mod growth;
mod lexing;
mod machine;
mod maskbench;
mod measure;
mod random;
mod report;
mod saved;
mod scale;
mod texts;
mod vocabulary;
mod wide;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::{Args, Parser, Subcommand};

use cases::{CASES, Case};
use child::{Order, Task, order};
use engines::{Engine, Larkspur, LlGuidance};
use growth::{Bench, Effort, peers};
use machine::{Machine, Versions};
use report::{ChildRow, ForcingRow, Report};

/// As in the command line and the Python package; the peer has it, too. Compiling is many small allocations, of which the system's allocators make a third of its time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Compares Larkspur with llguidance: without a command, on context-free grammars and growing texts.
#[derive(Parser, Debug)]
#[command(version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    options: Options,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// MaskBench: JSON Schemas compiled, their instances walked token by token.
    Maskbench(maskbench::Args),
    /// Many matchers at once, on one thread and on several.
    Batch(batch::Args),
    /// GBNF, and what exact lexing costs beside the longest match. Writes no files.
    Lexing(lexing::Args),
    /// Saved grammars: loading beside compiling. Writes no files.
    Saved(saved::Args),
}

#[derive(Args, Debug)]
struct Options {
    /// Only that it runs and that masks agree, in a few seconds. Writes no files.
    #[arg(long)]
    quick: bool,
    /// Grammars to measure; all if none is given.
    #[arg(long, value_delimiter = ',')]
    grammar: Vec<String>,
    /// Lengths of texts in kB.
    #[arg(long, value_delimiter = ',', default_values_t = [1.0, 4.0, 16.0, 64.0])]
    sizes: Vec<f64>,
    /// Only this engine.
    #[arg(long, value_parser = [Larkspur::NAME, LlGuidance::NAME])]
    engine: Option<String>,
    /// Passes over a text at most; the least time of each step counts.
    #[arg(long, default_value_t = 5)]
    repeats: usize,
    /// No more passes are begun when an engine has spent so many seconds on a text.
    #[arg(long, default_value_t = 1.2)]
    repeat_seconds: f64,
    /// A pass is stopped after so many seconds.
    #[arg(long, default_value_t = 6.0)]
    pass_seconds: f64,
    /// Leave out what needs processes of its own: cold process, many alternatives, long lists.
    #[arg(long)]
    no_children: bool,
    /// Leave out the growing texts.
    #[arg(long)]
    no_growth: bool,
    /// A Lark grammar to measure in place of the built-in ones, on `--text`. Writes no files.
    #[arg(long, requires = "text", value_name = "FILE")]
    grammar_file: Option<PathBuf>,
    /// The text for `--grammar-file`.
    #[arg(long, requires = "grammar_file")]
    text: Option<String>,
    /// Where result files go.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/results"))]
    out: PathBuf,
    /// Write no files.
    #[arg(long)]
    no_files: bool,
    /// Judge suites of JSON Schemas in these folders (the official suite, MaskBench) instead. Writes no files.
    #[arg(long, num_args = 1.., value_name = "DIR")]
    conformance: Vec<PathBuf>,
    /// Of these suites only every N-th case.
    #[arg(long, value_name = "N", default_value_t = 1)]
    step: usize,
    /// Measure large and hostile JSON Schemas whose names contain this, or all, instead. Writes no files.
    #[arg(long, num_args = 0..=1, default_missing_value = "", value_name = "NAME")]
    scale: Option<String>,
    #[arg(long, hide = true)]
    child: Option<String>,
    #[arg(long, hide = true)]
    scale_child: Option<String>,
}

fn main() -> Result<()> {
    let Cli { command, mut options } = Cli::parse();
    match command {
        Some(Command::Maskbench(args)) => return maskbench::run(&args),
        Some(Command::Batch(args)) => return batch::run(&args),
        Some(Command::Lexing(args)) => return lexing::measure(&args),
        Some(Command::Saved(args)) => return saved::run(&args),
        None => {}
    }
    if let Some(order) = &options.child {
        return child::obey(order);
    }
    if let Some(order) = &options.scale_child {
        return scale::obey(order);
    }
    if let Some(name) = &options.scale {
        return scale::run(name);
    }
    if !options.conformance.is_empty() {
        return conformance::run(&options.conformance, options.step);
    }
    if options.quick {
        options.sizes = vec![0.5];
        options.repeats = 1;
        options.pass_seconds = 10.0;
        options.no_children = true;
        options.no_files = true;
    }
    if options.grammar_file.is_some() {
        options.no_children = true;
        options.no_files = true;
    }
    let report = measure(&options)?;
    let markdown = report.markdown();
    print!("{markdown}");
    if !options.no_files {
        std::fs::create_dir_all(&options.out)?;
        let name = format!("{}-{}", report.date, report.machine.short_name());
        std::fs::write(options.out.join(format!("{name}.md")), &markdown)?;
        let json = serde_json::to_string_pretty(&report)? + "\n";
        std::fs::write(options.out.join(format!("{name}.json")), json)?;
        eprintln!("written: {name}.md and {name}.json");
    }
    if options.quick {
        ensure!(report.is_complete(), "Larkspur did not reach the end of a text");
        ensure!(report.different() == 0, "{} masks differ", report.different());
    }
    Ok(())
}

fn measure(options: &Options) -> Result<Report> {
    let begin = Instant::now();
    let wanted = |name: &str| options.engine.as_deref().is_none_or(|only| only == name);
    let mut selected: Vec<&Case> = CASES.iter().collect();
    if !options.grammar.is_empty() {
        let find = |name: &String| CASES.iter().find(|case| case.name == name);
        selected = options
            .grammar
            .iter()
            .map(|name| find(name).with_context(|| format!("no grammar is called {name}")))
            .collect::<Result<_>>()?;
    }
    let effort = Effort {
        repeats_max: options.repeats.max(1),
        repeat_seconds: options.repeat_seconds,
        pass_seconds: options.pass_seconds,
    };
    let mut report = Report {
        date: machine::date(),
        machine: Machine::here(),
        versions: Versions::here(),
        effort,
        rows: Vec::new(),
        forcing: Vec::new(),
        cold_process: Vec::new(),
        alternatives: Vec::new(),
        lists: Vec::new(),
        seconds: 0.0,
    };
    if !options.no_growth {
        growing(options, &selected, effort, &mut report)?;
    }
    if !options.no_children {
        let engines: Vec<&'static str> =
            [Larkspur::NAME, LlGuidance::NAME].into_iter().filter(|name| wanted(name)).collect();
        children(&selected, &engines, &mut report);
    }
    report.machine.load_end = machine::load();
    report.seconds = begin.elapsed().as_secs_f64();
    Ok(report)
}

fn growing(options: &Options, selected: &[&Case], effort: Effort, report: &mut Report) -> Result<()> {
    let tokens = vocabulary::token_bytes()?;
    let env = vocabulary::for_llguidance(&tokens);
    let [peer, peer_forcing] = peers(&env)?;
    let wanted = |name: &str| options.engine.as_deref().is_none_or(|only| only == name);
    let bench = Bench {
        vocabulary: vocabulary::for_larkspur(&tokens)?,
        peer,
        peer_forcing,
        effort,
        with_larkspur: wanted(Larkspur::NAME),
        with_peer: wanted(LlGuidance::NAME),
    };
    if let (Some(file), Some(text)) = (&options.grammar_file, &options.text) {
        let grammar = std::fs::read_to_string(file).with_context(|| file.display().to_string())?;
        // One for the whole run.
        let case = Case { name: "given", grammar: grammar.leak(), text: |_| String::new(), differs: None };
        report.rows.push(bench.row_on(&case, text, text.len() as f64 / 1024.0)?);
        return Ok(());
    }
    for case in selected {
        for &size_kb in &options.sizes {
            eprintln!("{} {size_kb} kB", case.name);
            report.rows.push(bench.row(case, (size_kb * 1024.0) as usize)?);
        }
        if options.quick || options.engine.is_some() {
            continue;
        }
        let size_kb = options.sizes.iter().copied().find(|&size| size >= 4.0).unwrap_or(options.sizes[0]);
        let (measured, comparison) = bench.forcing_row(case, (size_kb * 1024.0) as usize)?;
        report.forcing.push(ForcingRow { grammar: case.name, size_kb, measured, comparison });
    }
    Ok(())
}

fn children(selected: &[&Case], engines: &[&'static str], report: &mut Report) {
    let run = |rows: &mut Vec<ChildRow>, what: String, task: Task, seconds: u64| {
        for &engine in engines {
            eprintln!("{what}, {engine}, in a process of its own");
            let answer = order(&Order { engine: engine.to_owned(), task: task.clone() }, Duration::from_secs(seconds));
            rows.push(ChildRow { what: what.clone(), engine, answer });
        }
    };
    for case in selected {
        let task = Task::Cold { grammar: case.name.to_owned(), size: 16 * 1024, seconds: 5.0 };
        run(&mut report.cold_process, case.name.to_owned(), task, 60);
    }
    for count in [10_000, 100_000] {
        for form in [wide::Form::Rule, wide::Form::Terminal] {
            let what = format!("{count} strings, {}", if form == wide::Form::Rule { "rule" } else { "terminal" });
            run(&mut report.alternatives, what, Task::Alternatives { count, form }, 40);
        }
    }
    for kind in wide::ListKind::ALL {
        let task = Task::List { kind, lexemes: 1_000_000, seconds: 6.0 };
        run(&mut report.lists, format!("{kind:?}"), task, 60);
    }
}
