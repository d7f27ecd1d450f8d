//! The figures of a run, as JSON and as Markdown.

use std::fmt::Write;
use std::ops::Add;

use larkspur::{GrammarStats, MaskStats, TRACE_DEPTHS};
use serde::Serialize;

use super::Profile;
use super::batches::BatchFigures;
use super::data::Plan;
use super::engines::{Host, Setup};
use super::figures::Figures;
use super::memory::Memory;
use super::passes::Series;
use super::slow::{self, Kind, SlowCompile, SlowSchema, SlowStep};
use super::tokenizer::Tokenizer;
use super::verdicts::{Judge, Verdicts};
use super::walk::Outcome;
use crate::machine::{Machine, Versions};
use crate::measure::us;
use crate::report::{Table, cell, quote, short};

/// Everything.
#[derive(Serialize)]
pub struct Report {
    pub date: String,
    pub machine: Machine,
    pub versions: Versions,
    pub settings: Settings,
    pub larkspur: EngineReport,
    pub llguidance: Option<EngineReport>,
    /// Of this process, which holds both engines, all texts and all times.
    pub peak_rss_mb: f64,
    pub seconds: f64,
}

#[derive(Serialize)]
pub struct Settings {
    pub tokenizer: String,
    pub vocabulary_len: usize,
    pub profile: Profile,
    pub repeat_keys: bool,
    pub host: Option<Host>,
    pub peer_shares: bool,
    pub without: Vec<String>,
    pub repeats: usize,
    pub warm_up: usize,
    pub schemas: usize,
    pub instance_bytes: usize,
    pub instance_tokens: usize,
}

/// One engine.
#[derive(Serialize)]
pub struct EngineReport {
    /// From a vocabulary to an engine.
    pub start_ms: f64,
    pub cold_process: Setting,
    /// The headline.
    pub cold_schema: Setting,
    /// Of these, the schemas that are not near-duplicates of earlier ones, those that are, and those that both engines
    /// compile.
    pub cold_schema_new: Setting,
    pub cold_schema_near_duplicates: Setting,
    pub cold_schema_common: Setting,
    pub warm: Option<Setting>,
    pub batches: Option<BatchFigures>,
    pub inside: Option<Inside>,
    pub memory: Option<Memory>,
    pub kinds: Vec<Kind>,
    pub kinds_warm: Vec<Kind>,
    pub slowest_masks: Vec<SlowStep>,
    pub slowest_consumes: Vec<SlowStep>,
    pub slowest_masks_warm: Vec<SlowStep>,
    pub slowest_schemas: Vec<SlowSchema>,
    pub slowest_compilations: Vec<SlowCompile>,
    pub wrong: Vec<String>,
}

/// One engine in one setting.
#[derive(Serialize)]
pub struct Setting {
    #[serde(flatten)]
    pub figures: Figures,
    pub counts: Verdicts,
}

/// What all grammars held together after the cold pass, and the largest. A grammar that has begun a new epoch tells only of
/// that.
#[derive(Serialize)]
pub struct Inside {
    pub trie_nodes: u64,
    pub scan_hits: u64,
    pub scan_misses: u64,
    pub lexer_states: u64,
    pub lexer_states_max: u64,
    pub earley_sets: u64,
    pub earley_items: u64,
    pub earley_bytes: u64,
    pub earley_bytes_p50: u64,
    pub earley_bytes_max: u64,
    /// Traces of places that were not in the memo, by how many lexeme ends deep they look: how many, and how many were known.
    pub traces: [(u64, u64); TRACE_DEPTHS],
}

impl Inside {
    fn of(stats: &[GrammarStats]) -> Option<Self> {
        let sum = |of: fn(&GrammarStats) -> u64| stats.iter().map(of).sum::<u64>();
        let mut bytes: Vec<u64> = stats.iter().map(|stats| stats.earley_bytes as u64).collect();
        bytes.sort_unstable();
        let masks = stats.iter().map(|stats| stats.masks).fold(MaskStats::default(), Add::add);
        Some(Self {
            trie_nodes: masks.nodes_visited,
            scan_hits: sum(|stats| stats.scan_hits),
            scan_misses: sum(|stats| stats.scan_misses),
            lexer_states: sum(|stats| stats.lexer_states as u64),
            lexer_states_max: stats.iter().map(|stats| stats.lexer_states as u64).max()?,
            earley_sets: sum(|stats| stats.earley_sets as u64),
            earley_items: sum(|stats| stats.earley_items as u64),
            earley_bytes: bytes.iter().sum(),
            earley_bytes_p50: bytes[bytes.len() / 2],
            earley_bytes_max: *bytes.last()?,
            traces: masks.traces.map(|traces| (traces.met, traces.known)),
        })
    }
}

impl EngineReport {
    /// The report on `series`; `ours` is Larkspur's, and `front` given for Larkspur.
    pub fn new(
        plan: &Plan,
        series: &Series,
        (ours, theirs): (&Series, Option<&Series>),
        judge: &mut Judge,
        tokenizer: &Tokenizer,
        front: Option<&Setup>,
    ) -> Self {
        let schemas = &plan.measured;
        let mut setting = |outcomes: &[Outcome], select: &dyn Fn(usize) -> bool| {
            let chosen = || (0..outcomes.len()).filter(|&index| select(index));
            let figures = Figures::of(chosen().map(|index| &outcomes[index]), series.clock_ns);
            let judged = chosen().map(|index| (&schemas[index], &outcomes[index], &ours.cold[index]));
            Setting { figures, counts: Verdicts::count(judged, judge) }
        };
        let is_common = |index: usize| {
            let compiles = |series: &Series| series.cold[index].refusal.is_none();
            compiles(ours) && theirs.is_none_or(compiles)
        };
        let is_new = |index: usize| !schemas[index].is_near_duplicate;
        let cold_schema = setting(&series.cold, &|_| true);
        let cold_schema_new = setting(&series.cold, &is_new);
        let cold_schema_near_duplicates = setting(&series.cold, &|index| !is_new(index));
        let cold_schema_common = setting(&series.cold, &is_common);
        let is_warm = !series.warm.is_empty();
        let warm = is_warm.then(|| setting(&series.warm, &|_| true));
        Self {
            start_ms: us(series.start_ns) / 1e3,
            cold_process: Setting {
                figures: Figures::of(series.cold_process.iter(), series.clock_ns),
                counts: Verdicts::count(
                    plan.warm_up
                        .iter()
                        .zip(&series.cold_process)
                        .zip(&ours.cold_process)
                        .map(|((schema, outcome), ours)| (schema, outcome, ours)),
                    judge,
                ),
            },
            wrong: cold_schema.counts.examples.clone(),
            cold_schema,
            cold_schema_new,
            cold_schema_near_duplicates,
            cold_schema_common,
            warm,
            batches: is_warm.then(|| series.batches.figures()),
            inside: Inside::of(&series.inside),
            memory: None,
            kinds: slow::kinds(&series.cold),
            kinds_warm: slow::kinds(&series.warm),
            slowest_masks: slow::steps(schemas, &series.cold, tokenizer, |pass| &pass.mask_ns),
            slowest_consumes: slow::steps(schemas, &series.cold, tokenizer, |pass| &pass.consume_ns),
            slowest_masks_warm: slow::steps(schemas, &series.warm, tokenizer, |pass| &pass.mask_ns),
            slowest_schemas: slow::schemas(schemas, &series.cold),
            slowest_compilations: slow::compilations(schemas, &series.cold, front),
        }
    }

    /// The settings in the order in which they are shown.
    fn settings(&self) -> impl Iterator<Item = (&'static str, &Setting)> {
        let settings = [
            ("cold process", &self.cold_process),
            ("**cold schema**", &self.cold_schema),
            ("cold schema, new", &self.cold_schema_new),
            ("cold schema, near-duplicates", &self.cold_schema_near_duplicates),
            ("cold schema, both compile", &self.cold_schema_common),
        ];
        settings.into_iter().chain(self.warm.as_ref().map(|warm| ("warm", warm)))
    }
}

/// Targets of mask and consume (mean, p50, p90, p99, p99.9, max), and of compile (p50, p99, max).
const TARGETS: [f64; 9] = [2.0, 0.2, 4.0, 20.0, 120.0, 1_000.0, 60.0, 1_500.0, 20_000.0];

/// What is shown of a spread, in the order of a spread's values.
const PERCENTILES: [&str; 9] = ["mean", "p25", "p50", "p75", "p90", "p95", "p99", "p99.9", "max"];

impl Report {
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.headline(&mut out);
        self.details(&mut out);
        self.counts(&mut out);
        self.others(&mut out);
        for (name, engine) in self.engines() {
            kinds(&mut out, name, engine);
        }
        for (name, engine) in self.engines() {
            slowest(&mut out, name, engine);
        }
        out.trim_end().to_owned() + "\n"
    }

    fn engines(&self) -> impl Iterator<Item = (&'static str, &EngineReport)> {
        self.llguidance.iter().map(|engine| ("llguidance", engine)).chain([("larkspur", &self.larkspur)])
    }

    fn head(&self, out: &mut String) {
        let (machine, versions, settings) = (&self.machine, &self.versions, &self.settings);
        _ = writeln!(out, "# MaskBench, {}, {}\n", settings.tokenizer, self.date);
        _ = writeln!(
            out,
            "{}, {} cores, load average {} before and {} after. Larkspur {} at {}, llguidance {}, {}.",
            machine.cpu,
            machine.cores,
            machine.load_begin,
            machine.load_end,
            versions.larkspur,
            versions.commit,
            versions.llguidance,
            versions.rustc
        );
        let mut profile = match settings.profile {
            Profile::Generator => "the generator's profile".to_owned(),
            Profile::Validator => "the validator's profile".to_owned(),
        };
        if settings.repeat_keys {
            profile.push_str(", keys may repeat");
        }
        if !settings.without.is_empty() {
            _ = write!(profile, ", without {}", settings.without.join(", "));
        }
        if let Some(Host::Lark) = settings.host {
            profile.push_str(", each schema the `%json` of a tool call in a Lark grammar");
        }
        _ = writeln!(
            out,
            "{} tokens; {} schemas after {} of warm-up, {} bytes of instances in {} tokens; {profile}; the least of \
             {} new engines. Microseconds of one thread unless said otherwise. `bench/README.md` says what the words mean. \
             The run took {:.0} s.\n",
            settings.vocabulary_len,
            settings.schemas,
            settings.warm_up,
            settings.instance_bytes,
            settings.instance_tokens,
            settings.repeats,
            self.seconds
        );
    }

    fn headline(&self, out: &mut String) {
        out.push_str("## Cold schema in a warm process\n\nMask and consume, and compile, in us.\n\n");
        let columns =
            ["", "mean", "p50", "p90", "p99", "p99.9", "max", "compile p50", "p99", "max", "schemas all right"];
        let mut table = Table::new(&columns, 1);
        for (name, engine) in self.engines() {
            let (figures, counts) = (&engine.cold_schema.figures, &engine.cold_schema.counts);
            let (both, compile) = (figures.both, figures.compile);
            let values = [both.mean, both.p50, both.p90, both.p99, both.p999, both.max];
            let mut cells = vec![name.to_owned()];
            cells.extend(values.into_iter().chain([compile.p50, compile.p99, compile.max]).map(short));
            cells.push(format!("{} of {}", counts.all_right, counts.schemas));
            table.row(&cells);
        }
        let mut cells = vec!["target".to_owned()];
        cells.extend(TARGETS.map(short));
        cells.push(String::new());
        table.row(&cells);
        table.finish(out);
    }

    fn details(&self, out: &mut String) {
        out.push_str("## All settings\n\n");
        let columns: Vec<&str> = ["setting", "engine", "what"].into_iter().chain(PERCENTILES).collect();
        let mut table = Table::new(&columns, 3);
        for (wanted, _) in self.larkspur.settings() {
            for (index, what) in Figures::TIMES.into_iter().enumerate() {
                for (name, engine) in self.engines() {
                    let Some((_, setting)) = engine.settings().find(|(setting, _)| *setting == wanted) else {
                        continue;
                    };
                    let mut cells = vec![wanted.to_owned(), name.to_owned(), what.to_owned()];
                    cells.extend(setting.figures.times()[index].values().map(short));
                    table.row(&cells);
                }
            }
        }
        table.finish(out);
    }

    fn counts(&self, out: &mut String) {
        out.push_str("## Verdicts\n\n");
        let columns = [
            "setting",
            "engine",
            "schemas",
            "compiled",
            "refused",
            "rightly",
            "all right",
            "but for spelling",
            "instances judged",
            "right",
            "wrong accepts",
            "wrong rejects",
            "spelling",
            "labels contradicted",
            "failed",
            "masks",
            "CPU us a mask",
            "walks interrupted",
        ];
        let mut table = Table::new(&columns, 2);
        for (name, engine) in self.engines() {
            for (setting, Setting { figures, counts }) in engine.settings() {
                let mut cells = vec![setting.to_owned(), name.to_owned()];
                let numbers = [
                    counts.schemas,
                    counts.compiled,
                    counts.refused,
                    counts.refused_rightly,
                    counts.all_right,
                    counts.all_right_but_spelling,
                    counts.judged,
                    counts.right,
                    counts.wrong_accepts,
                    counts.wrong_rejects,
                    counts.spelling_rejects,
                    counts.labels_contradicted,
                    counts.failed,
                    figures.masks,
                ];
                cells.extend(numbers.map(|number| number.to_string()));
                cells.push(short(figures.cpu_mean));
                cells.push(format!("{} of {}", figures.walks_interrupted, figures.walks));
                table.row(&cells);
            }
        }
        table.finish(out);
        for (name, engine) in self.engines() {
            for wrong in &engine.wrong {
                _ = writeln!(out, "- {name}: {}", cell(wrong));
            }
        }
        out.push('\n');
    }

    fn others(&self, out: &mut String) {
        out.push_str("## Start, memory, batches\n\nBatches: means of 1,000 calls each, of warm grammars.\n\n");
        let mut table = Table::new(
            &["engine", "start ms", "call", "mean us", "p50", "p99", "max", "MB with engine", "after all", "peak"],
            1,
        );
        for (name, engine) in self.engines() {
            let memory = engine.memory.clone().unwrap_or_default();
            let mb = [memory.engine_mb, memory.end_mb, memory.peak_mb];
            let Some(batches) = &engine.batches else { continue };
            let calls = [
                ("consume", Some(batches.consume)),
                ("id of a known mask", batches.mask_id),
                ("fork", Some(batches.fork)),
                ("rollback of a text", Some(batches.rollback)),
            ];
            for (what, spread) in calls.into_iter().filter_map(|(what, spread)| Some((what, spread?))) {
                let mut cells = vec![name.to_owned(), short(engine.start_ms), what.to_owned()];
                cells.extend([spread.mean, spread.p50, spread.p99, spread.max].map(short));
                cells.extend(mb.map(|mb| if mb > 0.0 { short(mb) } else { "-".to_owned() }));
                table.row(&cells);
            }
        }
        table.finish(out);
        if let Some(inside) = &self.larkspur.inside {
            _ = writeln!(
                out,
                "- larkspur's grammars after the cold pass: {} trie nodes; scans {} of which new {}; {} lexer states (most \
                 {}); {} Earley sets, {} items, {} bytes (p50 {}, most {})",
                inside.trie_nodes,
                inside.scan_hits + inside.scan_misses,
                inside.scan_misses,
                inside.lexer_states,
                inside.lexer_states_max,
                inside.earley_sets,
                inside.earley_items,
                inside.earley_bytes,
                inside.earley_bytes_p50,
                inside.earley_bytes_max
            );
            let shown = inside.traces.iter().enumerate().map(|(depth, &(met, known))| {
                let percent = short(known as f64 * 100.0 / met.max(1) as f64);
                format!("{depth}: {met}, {percent} %")
            });
            _ = writeln!(
                out,
                "- larkspur's traces of places that are not in the memo, by how many lexeme ends deep they look (the last: or \
                 deeper), and how many of these had a mask: {}",
                shown.collect::<Vec<_>>().join("; ")
            );
        }
        let memo = |setting: &Setting| short(setting.figures.memo_hit_percent.unwrap_or(0.0));
        let warm = self.larkspur.warm.as_ref().map_or("-".to_owned(), memo);
        _ = writeln!(
            out,
            "- larkspur's memo of masks: {} % hits in a cold process, {} % of cold schemas, {warm} % warm",
            memo(&self.larkspur.cold_process),
            memo(&self.larkspur.cold_schema)
        );
        _ = writeln!(out, "- this process, with both engines, all texts and all times: {:.0} MB\n", self.peak_rss_mb);
    }
}

fn kinds(out: &mut String, name: &str, engine: &EngineReport) {
    for (setting, kinds) in [("cold schema", &engine.kinds), ("warm", &engine.kinds_warm)] {
        _ = writeln!(out, "## Where the time of masks goes, {name}, {setting}\n");
        let columns = ["kind", "masks", "% of masks", "% of time", "mean us", "max", "nodes", "lexer states", "sets"];
        let mut table = Table::new(&columns, 1);
        for kind in kinds {
            let mut cells = vec![kind.what.clone(), kind.masks.to_string()];
            cells.extend([kind.masks_percent, kind.time_percent, kind.mean_us, kind.max_us].map(short));
            cells.extend([kind.nodes, kind.lexer_states, kind.sets].map(short));
            table.row(&cells);
        }
        table.finish(out);
    }
}

/// Of the steps that are not the headline's masks, so many are shown; the JSON has all.
const SHOWN: usize = 10;

fn slowest(out: &mut String, name: &str, engine: &EngineReport) {
    steps(out, &format!("Slowest masks, {name}, cold schema"), &engine.slowest_masks);
    let shown = |steps: &'_ [SlowStep]| steps[..steps.len().min(SHOWN)].to_vec();
    steps(out, &format!("Slowest tokens to consume, {name}, cold schema"), &shown(&engine.slowest_consumes));
    steps(out, &format!("Slowest masks, {name}, warm"), &shown(&engine.slowest_masks_warm));
    _ = writeln!(out, "## Schemas that took most time, {name}, cold schema\n");
    let columns = ["ms", "% of all", "schema", "masks", "in the memo", "nodes", "lexer states", "sets", "scan misses"];
    let mut table = Table::new(&columns, 0);
    for slow in &engine.slowest_schemas[..engine.slowest_schemas.len().min(SHOWN)] {
        let work = slow.work;
        let mut cells = vec![short(slow.us / 1e3), short(slow.percent), slow.schema.clone(), slow.masks.to_string()];
        cells.extend(
            [work.hits, work.nodes, work.lexer_states, work.sets, work.scan_misses].map(|count| count.to_string()),
        );
        table.row(&cells);
    }
    table.finish(out);
    _ = writeln!(out, "## Slowest compilations, {name}\n");
    let mut table = Table::new(&["us", "first mask", "schema", "bytes", "front end us", "refused"], 0);
    for slow in &engine.slowest_compilations {
        let [front, first] = [slow.front_us, slow.first_mask_us].map(|us| us.map_or("-".to_owned(), short));
        let refusal = cell(slow.refusal.as_deref().unwrap_or(""));
        table.row(&[short(slow.us), first, slow.schema.clone(), slow.bytes.to_string(), front, refusal]);
    }
    table.finish(out);
}

fn steps(out: &mut String, title: &str, steps: &[SlowStep]) {
    if steps.is_empty() {
        return;
    }
    _ = writeln!(out, "## {title}\n");
    let columns =
        ["us", "schema", "instance", "token", "after", "then", "nodes", "lexer states", "sets", "scan misses", "memo"];
    let mut table = Table::new(&columns, 0);
    for slow in steps {
        let work = slow.work;
        let mut cells = vec![short(slow.us), slow.schema.clone(), slow.instance.to_string(), slow.position.to_string()];
        cells.extend([quote(&slow.after), quote(&slow.token)]);
        cells.extend(
            [work.nodes, work.lexer_states, work.sets, work.scan_misses, work.hits].map(|count| count.to_string()),
        );
        table.row(&cells);
    }
    table.finish(out);
}
