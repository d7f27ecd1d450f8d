//! Figures of one set, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

/// Characters of an instance that are shown.
const SHOWN_MAX: usize = 300;

/// What became of the cases of one set.
#[derive(Clone, Debug)]
pub struct Report {
    /// Who was judged.
    pub engine: String,
    /// The set.
    pub set: String,
    /// Schemas in all.
    pub schemas: usize,
    /// Those that compile, and those that are rightly refused since no value is valid.
    pub compiled: usize,
    /// Those of which every verdict is right.
    pub all_right: usize,
    /// Instances in all.
    pub tests: usize,
    /// Right verdicts.
    pub right: usize,
    /// Instances of schemas that are refused.
    pub lost: usize,
    /// Schemas that are refused, by reason.
    pub refusals: BTreeMap<String, usize>,
    /// All that is not right, and the labels that are contradicted.
    pub failures: Vec<Failure>,
    /// Times to compile, refusals included; in order once the report is finished.
    pub compile: Vec<Duration>,
}

/// Something that is not right.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What.
    pub kind: FailureKind,
    /// File and name of the case.
    pub case: String,
    /// Name and text of the instance.
    pub test: Option<(String, String)>,
    /// What the engine says.
    pub message: String,
}

/// Kinds of failures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FailureKind {
    /// An instance that is not valid was accepted.
    WrongAccept,
    /// A valid instance was rejected.
    WrongReject,
    /// The engine failed on the instance.
    Failed,
    /// The schema was refused.
    Refused,
    /// The suite's label is contradicted by a validator; counted as right.
    LabelContradicted,
}

impl FailureKind {
    fn title(self) -> &'static str {
        match self {
            FailureKind::WrongAccept => "WRONG ACCEPT",
            FailureKind::WrongReject => "wrong reject",
            FailureKind::Failed => "failed",
            FailureKind::Refused => "refused",
            FailureKind::LabelContradicted => "label contradicted",
        }
    }
}

/// Percentiles in microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Times {
    /// Median.
    pub p50: u128,
    /// 90 of 100 are faster.
    pub p90: u128,
    /// 99 of 100 are faster.
    pub p99: u128,
    /// The slowest.
    pub max: u128,
}

impl Report {
    pub(crate) fn new(engine: &str, set: &str) -> Self {
        Self {
            engine: engine.to_owned(),
            set: set.to_owned(),
            schemas: 0,
            compiled: 0,
            all_right: 0,
            tests: 0,
            right: 0,
            lost: 0,
            refusals: BTreeMap::new(),
            failures: Vec::new(),
            compile: Vec::new(),
        }
    }

    pub(crate) fn finish(&mut self) {
        self.compile.sort_unstable();
        self.failures.sort_by_key(|failure| failure.kind);
    }

    /// How many failures of a kind there are.
    pub fn count(&self, kind: FailureKind) -> usize {
        self.failures.iter().filter(|failure| failure.kind == kind).count()
    }

    /// Times to compile, or to refuse.
    pub fn times(&self) -> Times {
        let at = |share: f64| {
            let index = (self.compile.len() as f64 * share) as usize;
            self.compile.get(index.min(self.compile.len().saturating_sub(1))).map_or(0, Duration::as_micros)
        };
        Times { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1.0) }
    }

    /// A table with a row for each report, in Markdown.
    pub fn table(reports: &[Report]) -> String {
        let mut out = String::from(
            "| engine | set | schemas | compiled | all right | tests | right | lost to refusals | wrong accepts | \
             wrong rejects | failed | labels contradicted | compile us p50 | p90 | p99 | max |\n\
             |---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
        );
        for report in reports {
            let percent = |part: usize, whole: usize| 100.0 * part as f64 / whole.max(1) as f64;
            let Times { p50, p90, p99, max } = report.times();
            let _ = writeln!(
                out,
                "| {} | {} | {} | {} ({:.2} %) | {} ({:.2} %) | {} | {} ({:.2} %) | {} | {} | {} | {} | {} | {p50} | {p90} | {p99} | {max} |",
                report.engine,
                report.set,
                report.schemas,
                report.compiled,
                percent(report.compiled, report.schemas),
                report.all_right,
                percent(report.all_right, report.schemas),
                report.tests,
                report.right,
                percent(report.right, report.tests),
                report.lost,
                report.count(FailureKind::WrongAccept),
                report.count(FailureKind::WrongReject),
                report.count(FailureKind::Failed),
                report.count(FailureKind::LabelContradicted),
            );
        }
        out
    }

    /// Refusals by reason, the most frequent first.
    pub fn reasons(&self) -> String {
        let mut reasons: Vec<(&String, &usize)> = self.refusals.iter().collect();
        reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
        reasons.iter().fold(String::new(), |mut out, (reason, count)| {
            let _ = writeln!(out, "{count:6}  {reason}");
            out
        })
    }

    /// Every failure, a line each.
    pub fn failure_lines(&self) -> String {
        let short = |text: &str| {
            text.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(SHOWN_MAX).collect::<String>()
        };
        self.failures.iter().fold(String::new(), |mut out, failure| {
            let _ = write!(out, "{}: {}", failure.kind.title(), failure.case);
            if let Some((name, text)) = &failure.test {
                let _ = write!(out, ": {name}: {}", short(text));
            }
            let _ = writeln!(out, "{}{}", if failure.message.is_empty() { "" } else { ": " }, short(&failure.message));
            out
        })
    }

    /// All figures; with `failures`, each failure.
    pub fn json(&self, failures: bool) -> Value {
        let Times { p50, p90, p99, max } = self.times();
        let us = |time: u128| u64::try_from(time).unwrap_or(u64::MAX);
        let mut value = json!({
            "engine": self.engine,
            "set": self.set,
            "schemas": self.schemas,
            "compiled": self.compiled,
            "all_right": self.all_right,
            "tests": self.tests,
            "right": self.right,
            "lost": self.lost,
            "wrong_accepts": self.count(FailureKind::WrongAccept),
            "wrong_rejects": self.count(FailureKind::WrongReject),
            "failed": self.count(FailureKind::Failed),
            "labels_contradicted": self.count(FailureKind::LabelContradicted),
            "refusals": self.refusals,
            "compile_us": {"p50": us(p50), "p90": us(p90), "p99": us(p99), "max": us(max)},
        });
        if failures {
            let list = self.failures.iter().map(|failure| {
                let (test, text) = failure.test.clone().unzip();
                json!({"kind": failure.kind.title(), "case": failure.case, "test": test, "text": text, "message": failure.message})
            });
            value["failures"] = list.collect();
        }
        value
    }
}
