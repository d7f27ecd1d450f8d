//! The slowest masks and compilations, and where the time of all masks goes.

use std::collections::BTreeMap;
use std::time::Instant;

use larkspur::{CompileOptions, Limits};
use serde::Serialize;

use super::data::Schema;
use super::engines::{Setup, Work, source};
use super::tokenizer::Tokenizer;
use super::walk::Outcome;
use crate::measure::{Pass, us};

/// How many are named.
const SLOWEST: usize = 30;

/// Tokens shown before a slow mask.
const TOKENS_BEFORE: usize = 12;

/// A mask, or a token consumed, that took long.
#[derive(Clone, Debug, Serialize)]
pub struct SlowStep {
    pub us: f64,
    pub schema: String,
    pub instance: usize,
    pub position: usize,
    /// The end of the text before it.
    pub after: String,
    /// The token of the text that follows.
    pub token: String,
    /// What the mask took, also where its token is what was slow.
    pub work: Work,
}

/// A schema whose instances took long.
#[derive(Clone, Debug, Serialize)]
pub struct SlowSchema {
    pub schema: String,
    /// All masks and tokens.
    pub us: f64,
    /// Of the time of all schemas.
    pub percent: f64,
    pub masks: usize,
    /// What its masks took together.
    pub work: Work,
}

/// A schema that took long to compile, or to the first mask.
#[derive(Clone, Debug, Serialize)]
pub struct SlowCompile {
    pub us: f64,
    pub first_mask_us: Option<f64>,
    pub schema: String,
    pub bytes: usize,
    /// Of Larkspur's time, what goes into reading the schema, up to the engine's door; measured once more.
    pub front_us: Option<f64>,
    pub refusal: Option<String>,
}

/// Masks that took similar work.
#[derive(Clone, Debug, Serialize)]
pub struct Kind {
    pub what: String,
    pub masks: u64,
    /// Of all masks, and of the time of all, in percent.
    pub masks_percent: f64,
    pub time_percent: f64,
    pub mean_us: f64,
    pub max_us: f64,
    /// Means.
    pub nodes: f64,
    pub lexer_states: f64,
    pub sets: f64,
}

/// The slowest steps of all outcomes, the slowest first: masks or tokens, as `of` chooses.
pub fn steps(
    schemas: &[Schema],
    outcomes: &[Outcome],
    tokenizer: &Tokenizer,
    of: fn(&Pass) -> &[u64],
) -> Vec<SlowStep> {
    let mut slowest: Vec<(u64, usize, usize, usize)> = Vec::new();
    for (schema, outcome) in outcomes.iter().enumerate() {
        for (instance, walk) in outcome.walks.iter().enumerate() {
            let places = of(&walk.pass).iter().enumerate();
            slowest.extend(places.map(|(position, &ns)| (ns, schema, instance, position)));
        }
        // Now and then, so that not all are kept.
        if slowest.len() > 100_000 {
            keep_slowest(&mut slowest);
        }
    }
    keep_slowest(&mut slowest);
    let describe = |(ns, schema, instance, position): (u64, usize, usize, usize)| {
        let tokens = &schemas[schema].instances[instance].tokens;
        let text = |tokens: &[u32]| String::from_utf8_lossy(&tokenizer.vocabulary().decode(tokens)).into_owned();
        SlowStep {
            us: us(ns),
            schema: schemas[schema].name.clone(),
            instance,
            position,
            after: text(&tokens[position.saturating_sub(TOKENS_BEFORE)..position]),
            token: text(&tokens[position..=position]),
            work: outcomes[schema].walks[instance].work.get(position).copied().unwrap_or_default(),
        }
    };
    slowest.into_iter().map(describe).collect()
}

fn keep_slowest<T: Ord>(items: &mut Vec<T>) {
    items.sort_unstable_by(|a, b| b.cmp(a));
    items.truncate(SLOWEST);
}

/// The schemas whose instances took longest, the longest first.
pub fn schemas(schemas: &[Schema], outcomes: &[Outcome]) -> Vec<SlowSchema> {
    let sum = |outcome: &Outcome| {
        let passes = outcome.walks.iter().map(|walk| &walk.pass);
        passes.flat_map(|pass| pass.mask_ns.iter().chain(&pass.consume_ns)).sum::<u64>()
    };
    let mut slowest: Vec<(u64, usize)> = outcomes.iter().map(sum).zip(0..).collect();
    let total = slowest.iter().map(|&(ns, _)| ns).sum::<u64>().max(1);
    keep_slowest(&mut slowest);
    let describe = |(ns, index): (u64, usize)| {
        let walks = &outcomes[index].walks;
        SlowSchema {
            schema: schemas[index].name.clone(),
            us: us(ns),
            percent: 100.0 * ns as f64 / total as f64,
            masks: walks.iter().map(|walk| walk.pass.mask_ns.len()).sum(),
            work: walks.iter().flat_map(|walk| &walk.work).fold(Work::default(), |sum, &work| sum.plus(work)),
        }
    };
    slowest.into_iter().map(describe).collect()
}

/// The slowest compilations, first mask included, and refusals, the slowest first; for Larkspur with the share of the
/// front end.
pub fn compilations(schemas: &[Schema], outcomes: &[Outcome], front: Option<&Setup>) -> Vec<SlowCompile> {
    let sum = |outcome: &Outcome| outcome.compile_ns + outcome.first_mask_ns.unwrap_or(0);
    let mut slowest: Vec<(u64, usize)> = outcomes.iter().map(sum).zip(0..).collect();
    keep_slowest(&mut slowest);
    let describe = |(_, index): (u64, usize)| SlowCompile {
        us: us(outcomes[index].compile_ns),
        first_mask_us: outcomes[index].first_mask_ns.map(us),
        schema: schemas[index].name.clone(),
        bytes: schemas[index].source.len(),
        front_us: front.map(|setup| front_us(&schemas[index], setup)),
        refusal: outcomes[index].refusal.as_ref().map(|refusal| refusal.message.clone()),
    };
    slowest.into_iter().map(describe).collect()
}

/// The least of three times to read and link a schema.
fn front_us(schema: &Schema, setup: &Setup) -> f64 {
    let options = CompileOptions { spelling: setup.spelling.clone(), ..CompileOptions::default() };
    let limits = Limits::default();
    let source = source(&schema.source, setup.host);
    let times = (0..3).map(|_| {
        let begin = Instant::now();
        let linked = larkspur::link(&source, &options, &limits);
        let elapsed = begin.elapsed();
        drop(linked);
        elapsed.as_secs_f64() * 1e6
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Bounds of the kinds by trie nodes.
const NODES: [(u64, &str); 6] = [
    (0, "no node"),
    (100, "up to 100 nodes"),
    (1_000, "up to 1,000 nodes"),
    (10_000, "up to 10,000 nodes"),
    (100_000, "up to 100,000 nodes"),
    (u64::MAX, "more nodes"),
];

/// What a mask's kind is called.
fn kind_of(work: Work) -> (usize, usize) {
    let nodes = NODES.iter().position(|&(most, _)| work.nodes <= most).unwrap_or(0);
    let built = match (work.hits, work.lexer_states) {
        (1.., _) => return (0, 0),
        (_, 0) => 1,
        (_, 1..=10) => 2,
        _ => 3,
    };
    (nodes, built)
}

const BUILT: [&str; 4] = ["in the memo", "", "1 to 10 lexer states", "more lexer states"];

/// Masks of one kind, added up.
#[derive(Default)]
struct Group {
    masks: u64,
    ns: u64,
    max_ns: u64,
    work: Work,
}

/// Groups all masks whose work was counted.
pub fn kinds(outcomes: &[Outcome]) -> Vec<Kind> {
    let mut groups: BTreeMap<(bool, usize, usize), Group> = BTreeMap::new();
    let mut all = Group::default();
    for walk in outcomes.iter().flat_map(|outcome| &outcome.walks) {
        for (&ns, &work) in walk.pass.mask_ns.iter().zip(&walk.work) {
            let (nodes, built) = kind_of(work);
            // Those in the memo come first.
            let group = groups.entry((built != 0, nodes, built)).or_default();
            group.masks += 1;
            group.ns += ns;
            group.max_ns = group.max_ns.max(ns);
            group.work = group.work.plus(work);
            all.masks += 1;
            all.ns += ns;
        }
    }
    let describe = |((_, nodes, built), group): ((bool, usize, usize), Group)| {
        let count = group.masks as f64;
        let what = match built {
            0 => BUILT[0].to_owned(),
            1 => NODES[nodes].1.to_owned(),
            _ => format!("{}, {}", NODES[nodes].1, BUILT[built]),
        };
        Kind {
            what,
            masks: group.masks,
            masks_percent: 100.0 * count / all.masks as f64,
            time_percent: 100.0 * group.ns as f64 / all.ns.max(1) as f64,
            mean_us: us(group.ns) / count,
            max_us: us(group.max_ns),
            nodes: group.work.nodes as f64 / count,
            lexer_states: group.work.lexer_states as f64 / count,
            sets: group.work.sets as f64 / count,
        }
    };
    groups.into_iter().map(describe).collect()
}
