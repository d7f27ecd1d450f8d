//! Suites of JSON Schemas that others keep, against lists of what is not right: `tests/upstream/`.
//!
//! The lists may only get better. A case that is not listed and goes wrong fails the test, and so does one that is
//! listed and is right; `UPDATE_EXPECT=1` then writes the list anew, and the diff is what is reviewed. An instance that
//! is not valid and is accepted fails the test in any case.
//!
//! The suites are not part of the repository: they are read from `../shared` or the folder that `LARKSPUR_SHARED` names,
//! and skipped with a message where they are not there. MaskBench takes minutes and runs with `LARKSPUR_TEST_FACTOR`
//! above 1, as `.ci/long` sets it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use larkspur_conformance::{
    Case, FailureKind, LarkspurEngine, Outcome, Report, Suite, Verdict, outcomes, report, validator,
};
use serde::{Deserialize, Serialize};

/// What is not right in one set.
#[derive(Serialize, Deserialize, Default, PartialEq, Debug)]
struct Misses {
    #[serde(default)]
    miss: Vec<Miss>,
}

/// What is not right with one schema of a suite.
#[derive(Serialize, Deserialize, Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Miss {
    file: String,
    schema: String,
    /// What the engine says, or what it gets wrong.
    reason: String,
    /// Names of the instances.
    tests: Vec<String>,
}

/// Least figures of MaskBench.
#[derive(Serialize, Deserialize, PartialEq, Debug)]
struct Least {
    schemas: usize,
    compiled: usize,
    all_right: usize,
    tests: usize,
    right: usize,
    labels_contradicted: usize,
}

fn shared(name: &str) -> Option<PathBuf> {
    let root = std::env::var("LARKSPUR_SHARED")
        .map_or_else(|_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared"), PathBuf::from);
    let folder = root.join(name);
    if !folder.is_dir() {
        println!("skipped: there is no folder {name}; LARKSPUR_SHARED names the one that it is in");
        return None;
    }
    Some(folder)
}

fn lists() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("upstream")
}

fn is_update() -> bool {
    std::env::var_os("UPDATE_EXPECT").is_some()
}

fn run(suite: &Suite) -> (Vec<Outcome>, Vec<Report>) {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let judged = outcomes(&suite.cases, threads, || LarkspurEngine::new(&suite.retriever), Some(&validator));
    let reports = report("larkspur", &suite.cases, &judged);
    println!("{}", Report::table(&reports));
    (judged, reports)
}

/// Files with wrong accepts that are meant: what `contentMediaType` and `contentEncoding` say of a string's content is
/// not enforced, as the specification has it from 2019-09 on.
const MEANT: [&str; 1] = ["draft7/optional/content"];

fn assert_no_wrong_accepts(reports: &[Report]) {
    let wrong = |report: &Report| report.count(FailureKind::WrongAccept) > 0;
    let lines: String = reports.iter().filter(|report| wrong(report)).map(Report::failure_lines).collect();
    let accepted: Vec<&str> = lines.lines().filter(|line| line.starts_with("WRONG ACCEPT")).collect();
    let accepted: Vec<&str> =
        accepted.into_iter().filter(|line| !MEANT.iter().any(|file| line.contains(file))).collect();
    assert!(accepted.is_empty(), "instances that are not valid are accepted:\n{}", accepted.join("\n"));
}

/// What is not right in a case.
fn misses(case: &Case, outcome: &Outcome) -> Vec<Miss> {
    let mut by_reason: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (test, verdict) in case.tests.iter().zip(&outcome.verdicts) {
        let reason = match verdict {
            Verdict::Right | Verdict::LabelContradicted => continue,
            Verdict::WrongAccept => "an instance that is not valid is accepted".to_owned(),
            Verdict::WrongReject => "a valid instance is rejected".to_owned(),
            Verdict::Failed(message) => message.clone(),
            Verdict::Lost => outcome.refusal.as_ref().map_or_else(String::new, |refusal| refusal.message.clone()),
        };
        by_reason.entry(reason).or_default().push(test.name.clone());
    }
    let miss = |(reason, tests)| Miss { file: case.file.clone(), schema: case.name.clone(), reason, tests };
    by_reason.into_iter().map(miss).collect()
}

/// Compares with a list, or writes it. The reasons are for readers and are not compared.
fn compare(name: &str, found: &[Miss]) {
    let path = lists().join(format!("{name}.toml"));
    let plain = |misses: &[Miss]| -> Vec<(String, String, String)> {
        let mut all: Vec<_> = misses
            .iter()
            .flat_map(|miss| miss.tests.iter().map(|test| (miss.file.clone(), miss.schema.clone(), test.clone())))
            .collect();
        all.sort();
        all
    };
    let list = std::fs::read_to_string(&path).unwrap_or_default();
    let listed: Misses = toml::from_str(&list).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let (now, before) = (plain(found), plain(&listed.miss));
    if is_update() {
        let header = "# What is not right yet, with what the engine says. Written by\n# UPDATE_EXPECT=1 cargo test -p larkspur-tests --test upstream\n\n";
        let text = toml::to_string(&Misses { miss: found.to_vec() }).expect("TOML");
        std::fs::write(&path, format!("{header}{text}")).expect("the list can be written");
        return;
    }
    let worse: Vec<_> = now.iter().filter(|miss| !before.contains(miss)).collect();
    let better: Vec<_> = before.iter().filter(|miss| !now.contains(miss)).collect();
    assert!(worse.is_empty(), "{name}: these were right: {worse:#?}");
    assert!(better.is_empty(), "{name}: these are right now, UPDATE_EXPECT=1 takes them off the list: {better:#?}");
}

#[test]
fn official_suite() {
    let Some(folder) = shared("json-schema-test-suite") else { return };
    let suite = Suite::read(&folder).expect("the suite");
    let (judged, reports) = run(&suite);
    let mut by_draft: BTreeMap<String, Vec<Miss>> = BTreeMap::new();
    for (case, outcome) in suite.cases.iter().zip(&judged) {
        let draft = case.set.split(' ').next().unwrap_or_default();
        by_draft.entry(draft.to_owned()).or_default().extend(misses(case, outcome));
    }
    assert_eq!(by_draft.len(), 5, "one list for each draft");
    assert_no_wrong_accepts(&reports);
    by_draft.iter().for_each(|(draft, found)| compare(draft, found));
}

#[test]
fn maskbench() {
    let factor: f64 = std::env::var("LARKSPUR_TEST_FACTOR").ok().and_then(|text| text.parse().ok()).unwrap_or(1.0);
    if factor <= 1.0 {
        println!("skipped: MaskBench runs with LARKSPUR_TEST_FACTOR above 1");
        return;
    }
    let Some(folder) = shared("maskbench") else { return };
    let suite = Suite::read(&folder).expect("the suite");
    let (_, reports) = run(&suite);
    let [report] = reports.as_slice() else { panic!("one set") };
    println!("{}{}", report.reasons(), report.failure_lines());
    assert_no_wrong_accepts(&reports);
    let now = Least {
        schemas: report.schemas,
        compiled: report.compiled,
        all_right: report.all_right,
        tests: report.tests,
        right: report.right,
        labels_contradicted: report.count(FailureKind::LabelContradicted),
    };
    let path = lists().join("maskbench.toml");
    if is_update() {
        std::fs::write(&path, toml::to_string(&now).expect("TOML")).expect("the figures can be written");
        return;
    }
    let text = std::fs::read_to_string(&path).expect("the figures");
    let least: Least = toml::from_str(&text).expect("TOML");
    assert_eq!((now.schemas, now.tests), (least.schemas, least.tests), "the suite is another one");
    for (what, now, least) in [
        ("compiled", now.compiled, least.compiled),
        ("all right", now.all_right, least.all_right),
        ("right", now.right, least.right),
    ] {
        assert!(now >= least, "{what}: {now}, and it has been {least}; UPDATE_EXPECT=1 notes what is better");
    }
    assert!(now.labels_contradicted <= least.labels_contradicted, "more labels are said to be wrong");
}
