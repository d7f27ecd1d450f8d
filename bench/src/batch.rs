//! Many matchers at once, on one thread and on several: masks per second, and what sharing costs.
//!
//! In: options. Out: a table on standard output, and a JSON file. What is measured, and how, is in `bench/README.md`.

use std::path::PathBuf;
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, anyhow, ensure};
use serde::Serialize;

use crate::cases::{CASES, Case};
use crate::engines::{Engine, Larkspur, LlGuidance};
use crate::machine::{self, Machine, Versions, voluntary_switches};
use crate::measure::{thread_cpu_ns, us};
use crate::report::{Table, short};
use crate::vocabulary::{for_larkspur, for_llguidance, token_bytes, tokenize};

/// Options of `batch`.
#[derive(clap::Args, Debug)]
pub struct Args {
    /// Numbers of threads.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 2])]
    threads: Vec<usize>,
    /// Matchers in all, dealt to the threads.
    #[arg(long, default_value_t = 16)]
    matchers: usize,
    /// Masks, and tokens after them, of each matcher.
    #[arg(long, default_value_t = 60)]
    steps: usize,
    /// New engines; the fastest counts.
    #[arg(long, value_name = "K", default_value_t = 2)]
    repeat: usize,
    /// Measure this engine beside Larkspur.
    #[arg(long, value_parser = [LlGuidance::NAME])]
    peer: Option<String>,
    /// Write all figures here.
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
}

/// What the matchers share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Sharing {
    /// The grammar.
    Grammar,
    /// The engine; there are as many grammars as [`SEVERAL`], dealt in turn.
    Engine,
    /// Nothing beyond the thread: as the second, but each thread has an engine of its own. What the machine gives.
    Nothing,
}

/// Batches in the warm measurement, which is short.
const WARM_ROUNDS: usize = 4;

/// Grammars of the benchmark.
const ONE: &[&str] = &["json"];
const SEVERAL: &[&str] = &["json", "arithmetic", "sql", "c"];

impl Sharing {
    const ALL: [(Sharing, &'static str); 3] = [
        (Sharing::Grammar, "one grammar"),
        (Sharing::Engine, "several grammars"),
        (Sharing::Nothing, "several, an engine for each thread"),
    ];

    fn names(self) -> &'static [&'static str] {
        if self == Sharing::Grammar { ONE } else { SEVERAL }
    }
}

/// One engine, what is shared, and so many threads.
#[derive(Clone, Debug, Serialize)]
struct Row {
    engine: &'static str,
    sharing: Sharing,
    what: &'static str,
    threads: usize,
    /// Right after compiling.
    cold: Rate,
    /// The same again with new matchers.
    warm: Rate,
}

/// How fast all threads together were.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct Rate {
    /// By the wall clock, which says little while others use the cores.
    masks_per_second: f64,
    /// CPU time of all threads for each mask and the token after it.
    cpu_us: f64,
    /// How often a thread went to sleep, for a lock, per 1,000 masks.
    waits_per_1000: f64,
}

impl Rate {
    /// The better of each figure.
    fn best(self, other: Rate) -> Rate {
        Rate {
            masks_per_second: self.masks_per_second.max(other.masks_per_second),
            cpu_us: self.cpu_us.min(other.cpu_us),
            waits_per_1000: self.waits_per_1000.min(other.waits_per_1000),
        }
    }
}

#[derive(Serialize)]
struct Report {
    date: String,
    machine: Machine,
    versions: Versions,
    matchers: usize,
    steps: usize,
    repeats: usize,
    rows: Vec<Row>,
}

/// A grammar and the tokens that its matchers read.
struct Work {
    case: &'static Case,
    tokens: Vec<u32>,
}

/// Runs the benchmark.
pub fn run(args: &Args) -> Result<()> {
    let tokens = token_bytes()?;
    let vocabulary = for_larkspur(&tokens)?;
    let env = for_llguidance(&tokens);
    let mut machine = Machine::here();
    let mut rows = Vec::new();
    for (sharing, what) in Sharing::ALL {
        let works = works(sharing.names(), args)?;
        for &threads in &args.threads {
            let plan = Plan { sharing, what, works: &works, threads: threads.max(1), args };
            rows.push(plan.row(|| Larkspur::new(&vocabulary))?);
            if args.peer.is_some() {
                rows.push(plan.row(|| LlGuidance::new(&env, false))?);
            }
        }
    }
    machine.load_end = machine::load();
    let report = Report {
        date: machine::date(),
        machine,
        versions: Versions::here(),
        matchers: args.matchers,
        steps: args.steps,
        repeats: args.repeat,
        rows,
    };
    print!("{}", report.markdown());
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&report)? + "\n")?;
    }
    Ok(())
}

/// Texts in which each matcher has its steps, wherever it begins.
fn works(names: &[&str], args: &Args) -> Result<Vec<Work>> {
    let work = |name: &&str| {
        let case = CASES.iter().find(|case| case.name == *name).context("a grammar of the benchmark")?;
        // A token has fewer than 8 bytes in the mean.
        let wanted = args.steps + stride(args) * args.matchers;
        let tokens = tokenize(&(case.text)(wanted * 8));
        ensure!(tokens.len() >= wanted, "the text for {name} is too short");
        Ok(Work { case, tokens })
    };
    names.iter().map(work).collect()
}

/// By so many tokens later than the one before it a matcher begins.
fn stride(args: &Args) -> usize {
    (args.steps / 16).max(1)
}

struct Plan<'a> {
    sharing: Sharing,
    what: &'static str,
    works: &'a [Work],
    threads: usize,
    args: &'a Args,
}

/// A matcher and what it reads.
struct Reader<'a, E: Engine> {
    matcher: E::Matcher,
    tokens: &'a [u32],
}

impl Plan<'_> {
    fn row<E: Engine>(&self, engine: impl Fn() -> Result<E>) -> Result<Row>
    where
        E::Matcher: Send,
        E::Mask: Send,
    {
        eprintln!("{}, {}, {} threads", self.what, E::NAME, self.threads);
        let mut best: Option<(Rate, Rate)> = None;
        for _ in 0..self.args.repeat.max(1) {
            let engine_count = if self.sharing == Sharing::Nothing { self.threads } else { 1 };
            let engines = (0..engine_count).map(|_| engine()).collect::<Result<Vec<E>>>()?;
            let mut grammars = Vec::new();
            for engine in &engines {
                grammars
                    .push(self.works.iter().map(|work| engine.compile(work.case.grammar)).collect::<Result<Vec<_>>>()?);
            }
            let rates = (self.rate(&engines, &grammars, 1)?, self.rate(&engines, &grammars, WARM_ROUNDS)?);
            best = Some(best.map_or(rates, |best| (best.0.best(rates.0), best.1.best(rates.1))));
        }
        let (cold, warm) = best.unwrap_or_default();
        let Self { sharing, what, threads, .. } = *self;
        Ok(Row { engine: E::NAME, sharing, what, threads, cold, warm })
    }

    /// One run of all threads, with new matchers, in so many rounds.
    fn rate<E: Engine>(&self, engines: &[E], grammars: &[Vec<E::Grammar>], rounds: usize) -> Result<Rate>
    where
        E::Matcher: Send,
        E::Mask: Send,
    {
        let hands = (0..self.threads)
            .map(|thread| (0..rounds).map(|_| self.batch(engines, grammars, thread)).collect())
            .collect::<Result<Vec<Vec<Vec<Reader<E>>>>>>()?;
        let masks = (self.args.matchers * self.args.steps * rounds) as f64;
        let barrier = Barrier::new(self.threads);
        let results = thread::scope(|scope| {
            let spawned: Vec<_> = hands
                .into_iter()
                .enumerate()
                .map(|(thread, hand)| {
                    let (barrier, mask) = (&barrier, engines[thread % engines.len()].no_mask());
                    let steps = self.args.steps;
                    scope.spawn(move || {
                        barrier.wait();
                        Spent::of(|| step_all::<E>(hand, mask, steps))
                    })
                })
                .collect();
            spawned.into_iter().map(thread::ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        let panicked = |_| Err(anyhow!("a thread of {} panicked", E::NAME));
        let spent =
            results.into_iter().map(|result| result.unwrap_or_else(panicked)).collect::<Result<Vec<Spent>>>()?;
        let begin = spent.iter().map(|spent| spent.begin).min().context("there is a thread")?;
        let end = spent.iter().map(|spent| spent.end).max().context("there is a thread")?;
        Ok(Rate {
            masks_per_second: masks / (end - begin).as_secs_f64(),
            cpu_us: us(spent.iter().map(|spent| spent.cpu_ns).sum()) / masks,
            waits_per_1000: spent.iter().map(|spent| spent.waits).sum::<u64>() as f64 * 1_000.0 / masks,
        })
    }

    /// The readers of one thread.
    fn batch<E: Engine>(
        &self,
        engines: &[E],
        grammars: &[Vec<E::Grammar>],
        thread: usize,
    ) -> Result<Vec<Reader<'_, E>>> {
        let engine = thread % engines.len();
        let reader = |index: usize| {
            // Each thread gets all grammars.
            let work = index / self.threads % self.works.len();
            self.reader(engines[engine].matcher(&grammars[engine][work])?, index, work)
        };
        (thread..self.args.matchers).step_by(self.threads).map(reader).collect()
    }

    /// Puts a matcher at its place in the text.
    fn reader<E: Engine>(&self, mut matcher: E::Matcher, index: usize, work: usize) -> Result<Reader<'_, E>> {
        let begin = index * stride(self.args);
        let tokens = &self.works[work].tokens;
        for &token in &tokens[..begin] {
            E::consume(&mut matcher, token)?;
        }
        Ok(Reader { matcher, tokens: &tokens[begin..begin + self.args.steps] })
    }
}

/// Masks and tokens of all readers in turn, as a server steps through its batch; then the next batch.
fn step_all<E: Engine>(rounds: Vec<Vec<Reader<E>>>, mut mask: E::Mask, steps: usize) -> Result<()> {
    for mut readers in rounds {
        for step in 0..steps {
            for reader in &mut readers {
                E::mask(&mut reader.matcher, &mut mask)?;
                E::consume(&mut reader.matcher, reader.tokens[step])?;
            }
        }
    }
    Ok(())
}

/// What a thread has spent.
struct Spent {
    begin: Instant,
    end: Instant,
    cpu_ns: u64,
    waits: u64,
}

impl Spent {
    fn of(f: impl FnOnce() -> Result<()>) -> Result<Self> {
        let (waits, cpu_ns, begin) = (voluntary_switches(), thread_cpu_ns(), Instant::now());
        f()?;
        let (end, cpu_ns, waits) = (Instant::now(), thread_cpu_ns() - cpu_ns, voluntary_switches() - waits);
        Ok(Self { begin, end, cpu_ns, waits })
    }
}

impl Report {
    fn markdown(&self) -> String {
        let mut out = format!(
            "# Batches, {}\n\n{}, {} cores, load average {} before and {} after. Larkspur {} at {}, llguidance {}. o200k; {} \
             matchers, {} steps each; the best of {} new engines.\n\n",
            self.date,
            self.machine.cpu,
            self.machine.cores,
            self.machine.load_begin,
            self.machine.load_end,
            self.versions.larkspur,
            self.versions.commit,
            self.versions.llguidance,
            self.matchers,
            self.steps,
            self.repeats
        );
        let columns = [
            "matchers of",
            "engine",
            "threads",
            "cold masks/s",
            "to 1 thread",
            "CPU us",
            "sleeps per 1,000",
            "warm masks/s",
            "to 1 thread",
            "CPU us",
            "sleeps per 1,000",
        ];
        let mut table = Table::new(&columns, 2);
        for row in &self.rows {
            let is_one = |one: &&Row| one.threads == 1 && one.engine == row.engine && one.sharing == row.sharing;
            let one = self.rows.iter().find(is_one);
            let mut cells = vec![row.what.to_owned(), row.engine.to_owned(), row.threads.to_string()];
            for of in [(|row| row.cold) as fn(&Row) -> Rate, |row| row.warm] {
                let rate = of(row);
                cells.push(short(rate.masks_per_second));
                cells.push(one.map_or("-".to_owned(), |one| short(rate.masks_per_second / of(one).masks_per_second)));
                cells.extend([rate.cpu_us, rate.waits_per_1000].map(short));
            }
            table.row(&cells);
        }
        table.finish(&mut out);
        out
    }
}
