//! What loading a saved grammar takes beside compiling it: the schemas of MaskBench, each compiled and loaded in turn by one
//! engine that has met it before.
//!
//! In: options. Out: a table on standard output. What is measured, and how, is in `bench/README.md`.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use larkspur::{CompileOptions, CompiledGrammar, Engine, Limits, Source, TokenMask, link};

use crate::maskbench::data::Plan;
use crate::maskbench::tokenizer::Tokenizer;
use crate::measure::{Clock, Spread};

/// Options of `saved`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// The folder with the schemas.
    dir: PathBuf,
    /// `o200k`, a path, or the name of a folder in `tokenizers/` of the shared material.
    #[arg(long, default_value = "o200k")]
    tokenizer: String,
    /// Measure only so many schemas.
    #[arg(long, value_name = "N", default_value_t = 200)]
    limit: usize,
    /// How often each is compiled and loaded, in turn; the least time counts.
    #[arg(long, value_name = "K", default_value_t = 7)]
    repeat: usize,
    /// Schemas that the engine compiles before the others.
    #[arg(long, value_name = "N", default_value_t = 100)]
    warm_up: usize,
}

/// Times in nanoseconds and sizes in bytes, by schema.
#[derive(Default)]
struct Figures {
    compile: Vec<u64>,
    compile_linked: Vec<u64>,
    save: Vec<u64>,
    load: Vec<u64>,
    compile_and_mask: Vec<u64>,
    load_and_mask: Vec<u64>,
    source_bytes: Vec<u64>,
    saved_bytes: Vec<u64>,
}

/// Runs the benchmark.
pub fn run(args: &Args) -> Result<()> {
    let tokenizer = Tokenizer::named(&args.tokenizer, &args.dir)?;
    let plan = Plan::read(&args.dir, &tokenizer, (args.warm_up, Some(args.limit)), None)?;
    let engine = Engine::new(tokenizer.vocabulary().clone());
    for schema in &plan.warm_up {
        let _ = engine.compile(&Source::json_schema(schema.text.as_str()));
    }
    let mut figures = Figures::default();
    let mut clock = Clock::calibrated();
    let mut refused = 0;
    for schema in &plan.measured {
        let source = Source::json_schema(schema.text.as_str());
        // What is the same for compiling and loading has been met.
        let Ok(grammar) = compile(&engine, &source) else {
            refused += 1;
            continue;
        };
        let bytes = grammar.save()?;
        let mut least = [u64::MAX; 6];
        let mut mask = TokenMask::new(engine.vocabulary().len());
        for _ in 0..args.repeat.max(1) {
            let linked = link(&source, &CompileOptions::default(), &Limits::default())?;
            let (compiled, compile_ns) = clock.time(|| compile(&engine, &source));
            let compiled = compiled?;
            let (mask_result, compiled_mask_ns) = clock.time(|| first_mask(&compiled, &mut mask));
            mask_result?;
            let expected = mask.words().to_vec();
            let (loaded, load_ns) = clock.time(|| engine.load(&bytes));
            let loaded = loaded?;
            let (mask_result, loaded_mask_ns) = clock.time(|| first_mask(&loaded, &mut mask));
            mask_result?;
            ensure!(mask.words() == expected, "{}: the masks differ", schema.name);
            let (lowered, linked_ns) = clock.time(|| engine.compile_linked(linked));
            lowered?;
            let (saved, save_ns) = clock.time(|| compiled.save());
            ensure!(saved? == bytes, "{}: saved differently", schema.name);
            let times =
                [compile_ns, linked_ns, save_ns, load_ns, compile_ns + compiled_mask_ns, load_ns + loaded_mask_ns];
            least.iter_mut().zip(times).for_each(|(least, ns)| *least = ns.min(*least));
        }
        let [compile, linked, save, load, compile_and_mask, load_and_mask] = least;
        figures.compile.push(compile);
        figures.compile_linked.push(linked);
        figures.save.push(save);
        figures.load.push(load);
        figures.compile_and_mask.push(compile_and_mask);
        figures.load_and_mask.push(load_and_mask);
        figures.source_bytes.push(schema.text.len() as u64);
        figures.saved_bytes.push(bytes.len() as u64);
    }
    figures.show(refused);
    Ok(())
}

fn compile(engine: &Engine, source: &Source) -> Result<CompiledGrammar> {
    // Not `compile`, which gives the last grammars again.
    Ok(engine.compile_linked(link(source, &CompileOptions::default(), &Limits::default())?)?)
}

fn first_mask(grammar: &CompiledGrammar, mask: &mut TokenMask) -> Result<()> {
    Ok(grammar.matcher()?.compute_mask(mask)?)
}

impl Figures {
    fn show(&self, refused: usize) {
        println!("{} schemas; {refused} do not compile\n", self.load.len());
        println!("| | mean | p50 | p90 | p99 | max |\n|---|---:|---:|---:|---:|---:|");
        let row = |name: &str, numbers: &[u64], unit: f64| {
            let mut spread = Spread::of(numbers);
            spread.scale(unit);
            let Spread { mean, p50, p90, p99, max, .. } = spread;
            println!("| {name} | {mean:.1} | {p50:.1} | {p90:.1} | {p99:.1} | {max:.1} |");
        };
        row("compile, us", &self.compile, 1.0);
        row("of these from the linked grammar, us", &self.compile_linked, 1.0);
        row("load, us", &self.load, 1.0);
        row("save, us", &self.save, 1.0);
        row("compile and first mask, us", &self.compile_and_mask, 1.0);
        row("load and first mask, us", &self.load_and_mask, 1.0);
        // A spread is in thousands of what it is given.
        row("source, bytes", &self.source_bytes, 1000.0);
        row("saved, bytes", &self.saved_bytes, 1000.0);
    }
}
