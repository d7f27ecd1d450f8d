//! From cases to verdicts, and from verdicts to figures.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::report::{Failure, FailureKind, Report};
use crate::suite::Case;

/// What is judged.
pub trait Engine {
    /// As it is called in tables.
    fn name(&self) -> &'static str;
    /// Compiles a case's schema.
    ///
    /// Errors: why not.
    fn compile(&self, case: &Case) -> Result<Box<dyn Judge>, Refusal>;
}

/// A compiled schema.
pub trait Judge {
    /// Whether the whole text is accepted.
    ///
    /// Errors: what kept the engine from knowing.
    fn accepts(&self, text: &str) -> Result<bool, String>;
}

/// A schema that does not compile.
#[derive(Clone, Debug, Default)]
pub struct Refusal {
    /// The same for all schemas with the same cause.
    pub reason: String,
    /// In full.
    pub message: String,
    /// It is refused because no value is valid.
    pub is_unsatisfiable: bool,
}

/// What a validator says of an instance of one schema; `None` if it does not know.
pub type Opinion = Box<dyn Fn(&str) -> Option<bool>>;

/// Makes an [`Opinion`] of a schema, to check labels.
pub type SecondOpinion<'a> = &'a (dyn Fn(&Case) -> Option<Opinion> + Sync);

/// What became of a case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why the schema does not compile, if it does not.
    pub refusal: Option<Refusal>,
    /// To compile, or to refuse.
    pub compile_time: Duration,
    /// All instances.
    pub match_time: Duration,
    /// One for each test.
    pub verdicts: Vec<Verdict>,
}

/// What became of a test.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// As the suite says; or the schema was refused since no value is valid, and the instance is not.
    Right,
    /// A valid instance was rejected.
    WrongReject,
    /// An instance that is not valid was accepted.
    WrongAccept,
    /// The schema was refused.
    Lost,
    /// The engine failed on the instance.
    Failed(String),
    /// The engine contradicts the suite, and so does the validator.
    LabelContradicted,
}

impl Verdict {
    /// Counts as right.
    pub fn is_right(&self) -> bool {
        matches!(self, Verdict::Right | Verdict::LabelContradicted)
    }
}

/// Judges every case, on as many threads, each with an engine of its own. The outcomes are in the order of the cases.
pub fn outcomes<E: Engine>(
    cases: &[Case],
    threads: usize,
    engine: impl Fn() -> E + Sync,
    opinion: Option<SecondOpinion>,
) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            let sender = sender.clone();
            let (next, engine) = (&next, &engine);
            scope.spawn(move || {
                let engine = engine();
                while let Some((index, case)) = claim(next, cases) {
                    if sender.send((index, judge(&engine, case, opinion))).is_err() {
                        return;
                    }
                }
            });
        }
    });
    drop(sender);
    let mut all: Vec<(usize, Outcome)> = receiver.into_iter().collect();
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, outcome)| outcome).collect()
}

fn claim<'c>(next: &AtomicUsize, cases: &'c [Case]) -> Option<(usize, &'c Case)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    cases.get(index).map(|case| (index, case))
}

fn judge(engine: &impl Engine, case: &Case, opinion: Option<SecondOpinion>) -> Outcome {
    let start = Instant::now();
    let compiled = engine.compile(case);
    let compile_time = start.elapsed();
    let start = Instant::now();
    let mut verdicts: Vec<Verdict> = match &compiled {
        Ok(judge) => case.tests.iter().map(|test| verdict(judge.accepts(&test.text), test.valid)).collect(),
        Err(refusal) => {
            // A schema without valid values is refused, and that is right.
            let is_right = |valid: bool| refusal.is_unsatisfiable && !valid;
            let verdict = |valid: bool| if is_right(valid) { Verdict::Right } else { Verdict::Lost };
            case.tests.iter().map(|test| verdict(test.valid)).collect()
        }
    };
    let match_time = start.elapsed();
    let wrong = |verdict: &Verdict| matches!(verdict, Verdict::WrongAccept | Verdict::WrongReject);
    if !case.labels_are_right
        && verdicts.iter().any(wrong)
        && let Some(opinion) = opinion.and_then(|opinion| opinion(case))
    {
        for (verdict, test) in verdicts.iter_mut().zip(&case.tests).filter(|(verdict, _)| wrong(verdict)) {
            if opinion(&test.text) == Some(!test.valid) {
                *verdict = Verdict::LabelContradicted;
            }
        }
    }
    Outcome { refusal: compiled.err(), compile_time, match_time, verdicts }
}

fn verdict(accepted: Result<bool, String>, valid: bool) -> Verdict {
    match accepted {
        Ok(accepted) if accepted == valid => Verdict::Right,
        Ok(true) => Verdict::WrongAccept,
        Ok(false) => Verdict::WrongReject,
        Err(error) => Verdict::Failed(error),
    }
}

/// The figures of each set, in the order of the cases.
pub fn report(engine: &str, cases: &[Case], outcomes: &[Outcome]) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for (case, outcome) in cases.iter().zip(outcomes) {
        let at = match reports.iter().position(|report| report.set == case.set) {
            Some(at) => at,
            None => {
                reports.push(Report::new(engine, &case.set));
                reports.len() - 1
            }
        };
        count(&mut reports[at], case, outcome);
    }
    reports.iter_mut().for_each(Report::finish);
    reports
}

fn count(report: &mut Report, case: &Case, outcome: &Outcome) {
    report.schemas += 1;
    report.tests += case.tests.len();
    report.compile.push(outcome.compile_time);
    let title = if case.name.is_empty() { case.file.clone() } else { format!("{}: {}", case.file, case.name) };
    let all_right = outcome.verdicts.iter().all(Verdict::is_right);
    report.all_right += usize::from(all_right);
    match &outcome.refusal {
        // Rightly refused.
        Some(refusal) if refusal.is_unsatisfiable && all_right => report.compiled += 1,
        Some(refusal) => {
            *report.refusals.entry(refusal.reason.clone()).or_default() += 1;
            let message = refusal.message.clone();
            report.failures.push(Failure { kind: FailureKind::Refused, case: title.clone(), test: None, message });
        }
        None => report.compiled += 1,
    }
    for (test, verdict) in case.tests.iter().zip(&outcome.verdicts) {
        let mut fail = |kind: FailureKind, message: &str| {
            let test = Some((test.name.clone(), test.text.clone()));
            report.failures.push(Failure { kind, case: title.clone(), test, message: message.to_owned() });
        };
        match verdict {
            Verdict::Right => {}
            Verdict::LabelContradicted => fail(FailureKind::LabelContradicted, ""),
            Verdict::WrongAccept => fail(FailureKind::WrongAccept, ""),
            Verdict::WrongReject => fail(FailureKind::WrongReject, ""),
            Verdict::Failed(message) => fail(FailureKind::Failed, message),
            Verdict::Lost => report.lost += 1,
        }
        report.right += usize::from(verdict.is_right());
    }
}
