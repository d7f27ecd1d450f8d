//! The results as Markdown and as JSON.

use std::fmt::Write;

use serde::Serialize;

use crate::child::Answer;
use crate::compare::Comparison;
use crate::growth::{Effort, Measured, Row};
use crate::machine::{Machine, Versions};
use crate::measure::PassSummary;

#[derive(Debug, Serialize)]
pub struct Report {
    pub date: String,
    pub machine: Machine,
    pub versions: Versions,
    pub effort: Effort,
    pub rows: Vec<Row>,
    pub forcing: Vec<ForcingRow>,
    pub cold_process: Vec<ChildRow>,
    pub alternatives: Vec<ChildRow>,
    pub lists: Vec<ChildRow>,
    pub seconds: f64,
}

/// A measurement of one engine in a process of its own.
#[derive(Debug, Serialize)]
pub struct ChildRow {
    pub what: String,
    pub engine: &'static str,
    pub answer: Answer,
}

/// The peer with forcing.
#[derive(Debug, Serialize)]
pub struct ForcingRow {
    pub grammar: &'static str,
    pub size_kb: f64,
    pub measured: Measured,
    pub comparison: Comparison,
}

/// Three digits that count.
pub fn short(value: f64) -> String {
    match value.abs() {
        v if !v.is_finite() => "-".to_owned(),
        v if v >= 99.95 => {
            let digits = format!("{value:.0}");
            let mut grouped = String::new();
            for (index, c) in digits.chars().enumerate() {
                if index > 0 && (digits.len() - index).is_multiple_of(3) && grouped != "-" {
                    grouped.push(',');
                }
                grouped.push(c);
            }
            grouped
        }
        v if v >= 9.995 => format!("{value:.1}"),
        v if v >= 0.9995 || v == 0.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

fn mb(bytes: i64) -> String {
    short(bytes as f64 / 1e6)
}

/// A table; numbers to the right.
pub struct Table {
    text: String,
}

impl Table {
    pub fn new(columns: &[&str], text_columns: usize) -> Self {
        let mut text = format!("| {} |\n|", columns.join(" | "));
        for index in 0..columns.len() {
            text.push_str(if index < text_columns { ":--|" } else { "--:|" });
        }
        text.push('\n');
        Self { text }
    }

    pub fn row(&mut self, cells: &[String]) {
        writeln!(self.text, "| {} |", cells.join(" | ")).unwrap();
    }

    pub fn finish(self, out: &mut String) {
        out.push_str(&self.text);
        out.push('\n');
    }
}

pub fn cell(text: &str) -> String {
    let mut text = text.replace('\n', " ").replace('|', "\\|");
    if let Some((end, _)) = text.char_indices().nth(100) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// A piece of text, so that blanks and line breaks show.
pub fn quote(text: &str) -> String {
    format!("`{}`", format!("{text:?}").replace('`', "'").replace('|', "\\|"))
}

impl Report {
    pub fn markdown(&self) -> String {
        let mut out = String::new();
        self.head(&mut out);
        self.overview(&mut out);
        self.agreement(&mut out);
        self.flatness(&mut out);
        self.details(&mut out, "Cold grammar", "mask", |measured| &measured.cold);
        self.details(&mut out, "Warm", "mask", |measured| &measured.warm);
        self.forcing(&mut out);
        self.cold_process(&mut out);
        self.alternatives(&mut out);
        self.lists(&mut out);
        self.slowest(&mut out);
        self.inside(&mut out);
        out.trim_end().to_owned() + "\n"
    }

    fn head(&self, out: &mut String) {
        let (machine, versions, effort) = (&self.machine, &self.versions, &self.effort);
        writeln!(out, "# Larkspur and llguidance, {}\n", self.date).unwrap();
        writeln!(
            out,
            "{}, {} cores, load average {} before and {} after; the clock itself takes {} ns.",
            machine.cpu, machine.cores, machine.load_begin, machine.load_end, machine.clock_ns
        )
        .unwrap();
        writeln!(
            out,
            "Larkspur {} at {}, llguidance {} (toktrie {}), tiktoken-rs {}, {}. Vocabulary o200k_base.",
            versions.larkspur,
            versions.commit,
            versions.llguidance,
            versions.toktrie,
            versions.tiktoken_rs,
            versions.rustc
        )
        .unwrap();
        writeln!(
            out,
            "Microseconds on one thread, waits for a core left out, per step the least of up to {} passes; a pass ends after {} s. \
             `bench/README.md` says what the words mean. The run took {:.0} s.\n",
            effort.repeats_max, effort.pass_seconds, self.seconds
        )
        .unwrap();
    }

    /// The largest text of each grammar.
    fn largest(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = Vec::new();
        for row in &self.rows {
            match rows.last_mut() {
                Some(last) if last.grammar == row.grammar => *last = row,
                _ => rows.push(row),
            }
        }
        rows
    }

    fn overview(&self, out: &mut String) {
        out.push_str(
            "## Overview\n\nMeans over the longest text. Ratio: the peer's mean over ours, as far as both came.\n\n",
        );
        let columns = [
            "grammar",
            "kB",
            "compile",
            "peer",
            "cold mask",
            "peer",
            "ratio",
            "cold mask + consume",
            "peer",
            "ratio",
            "warm mask",
            "peer",
            "ratio",
            "warm mask + consume",
            "peer",
            "ratio",
            "peer stopped",
        ];
        let mut table = Table::new(&columns, 1);
        for row in self.largest() {
            let value = |measured: &Option<Measured>, f: fn(&Measured) -> f64| {
                measured.as_ref().filter(|m| m.error.is_none()).map_or("-".to_owned(), |measured| short(f(measured)))
            };
            let pair = |f: fn(&Measured) -> f64| [value(&row.larkspur, f), value(&row.llguidance, f)];
            let ratio = |ratio: Option<[f64; 3]>, index: usize| {
                ratio.map_or("-".to_owned(), |ratio| format!("**{}**", short(ratio[index])))
            };
            let mut cells = vec![row.grammar.to_owned(), short(row.size_kb)];
            cells.extend(pair(|m| m.compile_us));
            cells.extend(pair(|m| m.cold.mask.mean));
            cells.push(ratio(row.ratio_cold, 0));
            cells.extend(pair(|m| m.cold.sum.mean));
            cells.push(ratio(row.ratio_cold, 2));
            cells.extend(pair(|m| m.warm.mask.mean));
            cells.push(ratio(row.ratio_warm, 0));
            cells.extend(pair(|m| m.warm.sum.mean));
            cells.push(ratio(row.ratio_warm, 2));
            cells.push(cell(&stopped(&row.llguidance, row)));
            table.row(&cells);
        }
        table.finish(out);
    }

    fn agreement(&self, out: &mut String) {
        out.push_str("## Masks compared\n\nBit by bit, EOS included.\n\n");
        let mut table = Table::new(&["grammar", "kB", "compared", "different", "of these only in EOS", "why"], 1);
        let mut examples = String::new();
        for row in &self.rows {
            let Some(comparison) = &row.comparison else { continue };
            table.row(&[
                row.grammar.to_owned(),
                short(row.size_kb),
                comparison.compared.to_string(),
                comparison.different.to_string(),
                comparison.only_eos.to_string(),
                row.differs.filter(|_| comparison.different > 0).unwrap_or("").to_owned(),
            ]);
            for example in &comparison.examples {
                let side = |tokens: &[String]| tokens.iter().map(|token| quote(token)).collect::<Vec<_>>().join(" ");
                writeln!(
                    examples,
                    "- {} {} kB, before token {}, after {}: only Larkspur {} {}; only llguidance {} {}",
                    row.grammar,
                    short(row.size_kb),
                    example.position,
                    quote(&example.after),
                    example.only_larkspur_count,
                    side(&example.only_larkspur),
                    example.only_peer_count,
                    side(&example.only_peer),
                )
                .unwrap();
            }
        }
        table.finish(out);
        if !examples.is_empty() {
            writeln!(out, "{examples}").unwrap();
        }
    }

    fn flatness(&self, out: &mut String) {
        out.push_str("## Flatness\n\nMean time over the longest text, divided by that over the shortest.\n\n");
        let columns = ["grammar", "texts, kB", "cold mask", "peer", "warm mask", "peer", "warm consume", "peer"];
        let mut table = Table::new(&columns, 2);
        for last in self.largest() {
            let Some(first) = self.rows.iter().find(|row| row.grammar == last.grammar) else { continue };
            if first.size_kb >= last.size_kb {
                continue;
            }
            let ratio = |of: fn(&Row) -> &Option<Measured>, f: fn(&Measured) -> f64| match (of(last), of(first)) {
                (Some(last), Some(first)) => short(f(last) / f(first)),
                _ => "-".to_owned(),
            };
            let mut cells =
                vec![last.grammar.to_owned(), format!("{} / {}", short(last.size_kb), short(first.size_kb))];
            let times: [fn(&Measured) -> f64; 3] =
                [|m| m.cold.mask.mean, |m| m.warm.mask.mean, |m| m.warm.consume.mean];
            for time in times {
                cells.push(ratio(|row| &row.larkspur, time));
                cells.push(ratio(|row| &row.llguidance, time));
            }
            table.row(&cells);
        }
        table.finish(out);
    }

    fn details(&self, out: &mut String, title: &str, what: &str, of: fn(&Measured) -> &PassSummary) {
        writeln!(out, "## {title}\n").unwrap();
        let mut columns = vec!["grammar", "engine", "kB", "masks", "compile"];
        let names: Vec<String> = ["mean", "p50", "p90", "p99", "p99.9", "max"].map(|p| format!("{what} {p}")).into();
        columns.extend(names.iter().map(String::as_str));
        columns.extend([
            "consume mean",
            "p50",
            "p99",
            "p99.9",
            "max",
            "both mean",
            "p50",
            "p90",
            "p99",
            "p99.9",
            "max",
            "stopped",
        ]);
        let mut table = Table::new(&columns, 2);
        for row in &self.rows {
            for (name, measured) in [("larkspur", &row.larkspur), ("llguidance", &row.llguidance)] {
                let Some(measured) = measured else { continue };
                let summary = of(measured);
                let (mask, consume, sum) = (&summary.mask, &summary.consume, &summary.sum);
                let mut cells =
                    vec![row.grammar.to_owned(), name.to_owned(), short(row.size_kb), summary.masks.to_string()];
                let times = [
                    measured.compile_us,
                    mask.mean,
                    mask.p50,
                    mask.p90,
                    mask.p99,
                    mask.p999,
                    mask.max,
                    consume.mean,
                    consume.p50,
                    consume.p99,
                    consume.p999,
                    consume.max,
                    sum.mean,
                    sum.p50,
                    sum.p90,
                    sum.p99,
                    sum.p999,
                    sum.max,
                ];
                cells.extend(times.map(short));
                let stopped = measured.error.as_ref().or(summary.stopped.as_ref());
                cells.push(cell(stopped.map_or("", String::as_str)));
                table.row(&cells);
            }
        }
        table.finish(out);
    }

    fn forcing(&self, out: &mut String) {
        if self.forcing.is_empty() {
            return;
        }
        out.push_str(
            "## The peer as it is by default\n\nWhere the text is forced, the mask is the canonical token alone. \
             The tables above have `no_forcing` and \
             no limit on the work for a mask.\n\n",
        );
        let columns = [
            "grammar",
            "kB",
            "cold mask mean",
            "p50",
            "p99",
            "warm mask mean",
            "p50",
            "p99",
            "masks",
            "other than ours",
            "one token",
            "stopped",
        ];
        let mut table = Table::new(&columns, 1);
        for row in &self.forcing {
            let (cold, warm) = (&row.measured.cold.mask, &row.measured.warm.mask);
            let mut cells = vec![row.grammar.to_owned(), short(row.size_kb)];
            cells.extend([cold.mean, cold.p50, cold.p99, warm.mean, warm.p50, warm.p99].map(short));
            let comparison = &row.comparison;
            cells
                .extend([comparison.compared, comparison.different, comparison.peer_singletons].map(|n| n.to_string()));
            let stopped = row.measured.error.as_ref().or(row.measured.cold.stopped.as_ref());
            cells.push(cell(stopped.map_or("", String::as_str)));
            table.row(&cells);
        }
        table.finish(out);
    }

    fn cold_process(&self, out: &mut String) {
        if self.cold_process.is_empty() {
            return;
        }
        out.push_str("## Cold process\n\nOne pass over 16 kB in a new process. Trie and engine in ms, the rest in us; growth of memory (RSS) in MB.\n\n");
        let columns = [
            "grammar",
            "engine",
            "trie ms",
            "engine ms",
            "compile",
            "first mask",
            "mask mean",
            "p50",
            "p99",
            "max",
            "consume mean",
            "masks",
            "MB trie",
            "MB engine",
            "MB compile",
            "MB pass",
            "MB peak",
            "stopped",
        ];
        let mut table = Table::new(&columns, 2);
        for row in &self.cold_process {
            let answer = &row.answer;
            let (mask, consume) = (&answer.pass.mask, &answer.pass.consume);
            let mut cells = vec![row.what.clone(), row.engine.to_owned()];
            cells.extend([answer.trie_us / 1e3, answer.engine_us / 1e3].map(short));
            cells.extend(
                [answer.compile_us, answer.first_mask_us, mask.mean, mask.p50, mask.p99, mask.max, consume.mean]
                    .map(short),
            );
            cells.push(answer.pass.masks.to_string());
            cells.extend(
                [
                    answer.memory_trie,
                    answer.memory_engine,
                    answer.memory_compile,
                    answer.memory_pass,
                    answer.memory_max,
                ]
                .map(mb),
            );
            cells.push(trouble(answer));
            table.row(&cells);
        }
        table.finish(out);
    }

    fn alternatives(&self, out: &mut String) {
        if self.alternatives.is_empty() {
            return;
        }
        out.push_str(
            "## Alternatives\n\nOne of many strings, each engine in a new process. Milliseconds; memory in MB.\n\n",
        );
        let columns =
            ["grammar", "engine", "compile", "first mask", "max later mask", "MB compile", "MB masks", "stopped"];
        let mut table = Table::new(&columns, 2);
        for row in &self.alternatives {
            let answer = &row.answer;
            let mut cells = vec![row.what.clone(), row.engine.to_owned()];
            cells.extend([answer.compile_us, answer.first_mask_us, answer.pass.mask.max].map(|us| short(us / 1e3)));
            cells.extend([answer.memory_compile, answer.memory_pass].map(mb));
            cells.push(trouble(answer));
            table.row(&cells);
        }
        table.finish(out);
    }

    fn lists(&self, out: &mut String) {
        if self.lists.is_empty() {
            return;
        }
        out.push_str(
            "## Long lists\n\nNumbers and commas, a mask every 1,000 tokens, each engine in a new process.\n\n",
        );
        let columns = [
            "list",
            "engine",
            "lexemes",
            "us a lexeme",
            "mask mean us",
            "mask max us",
            "MB",
            "bytes a lexeme",
            "stopped",
        ];
        let mut table = Table::new(&columns, 2);
        for row in &self.lists {
            let answer = &row.answer;
            let lexemes = answer.lexemes.max(1) as f64;
            table.row(&[
                row.what.clone(),
                row.engine.to_owned(),
                answer.lexemes.to_string(),
                short(answer.consume_total_us / lexemes),
                short(answer.pass.mask.mean),
                short(answer.pass.mask.max),
                mb(answer.memory_pass),
                short(answer.memory_pass as f64 / lexemes),
                trouble(answer),
            ]);
        }
        table.finish(out);
    }

    fn slowest(&self, out: &mut String) {
        out.push_str("## Slowest masks\n\nOf the cold grammar, longest text: microseconds, and the text before.\n\n");
        for row in self.largest() {
            for (name, measured) in [("larkspur", &row.larkspur), ("llguidance", &row.llguidance)] {
                let Some(measured) = measured else { continue };
                let places =
                    measured.slowest.iter().map(|slow| format!("{} {}", short(slow.mask_us), quote(&slow.after)));
                writeln!(out, "- {}, {name}: {}", row.grammar, places.collect::<Vec<_>>().join("; ")).unwrap();
            }
        }
        out.push('\n');
    }

    fn inside(&self, out: &mut String) {
        out.push_str("## What Larkspur has built\n\nAfter both passes over the longest text.\n\n");
        for row in self.largest() {
            let Some(stats) = &row.larkspur_stats else { continue };
            writeln!(out, "- {}: {} tokens, {} different masks; {stats}", row.grammar, row.tokens, row.distinct_masks)
                .unwrap();
        }
    }

    /// Masks that differ without a known reason.
    pub fn different(&self) -> usize {
        let different = |row: &Row| {
            let comparison = row.comparison.as_ref()?;
            Some(comparison.different - row.differs.map_or(0, |_| comparison.only_eos))
        };
        self.rows.iter().filter_map(different).sum()
    }

    /// Whether Larkspur went through every text.
    pub fn is_complete(&self) -> bool {
        self.rows.iter().filter_map(|row| row.larkspur.as_ref()).all(|measured| {
            measured.error.is_none() && measured.cold.stopped.is_none() && measured.warm.stopped.is_none()
        })
    }
}

fn stopped(measured: &Option<Measured>, row: &Row) -> String {
    let Some(measured) = measured else { return String::new() };
    let why = measured.error.as_ref().or(measured.cold.stopped.as_ref());
    why.map_or(String::new(), |why| format!("{why} of {}", row.tokens))
}

fn trouble(answer: &Answer) -> String {
    cell(answer.error.as_ref().or(answer.pass.stopped.as_ref()).map_or("", String::as_str))
}
