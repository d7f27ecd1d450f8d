//! The main measurement: each grammar over growing texts, grammar cold and warm, masks compared.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use larkspur_toktrie::Vocabulary;
use serde::Serialize;
use toktrie::TokEnv;

use crate::cases::Case;
use crate::compare::{Comparison, Recorded, text_before};
use crate::engines::{Engine, Larkspur, LlGuidance};
use crate::measure::{Pass, PassSummary, brief, run, timed, us};
use crate::vocabulary::tokenize;

/// How long to measure.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Effort {
    /// Repetitions at most, of which the least time of each step counts.
    pub repeats_max: usize,
    /// No more repetitions are begun when an engine has spent this on a text.
    pub repeat_seconds: f64,
    /// A pass is stopped after this.
    pub pass_seconds: f64,
}

/// One grammar and one length of text.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub grammar: &'static str,
    /// Why masks differ in EOS, if they do.
    pub differs: Option<&'static str>,
    pub size_kb: f64,
    pub text_bytes: usize,
    pub tokens: usize,
    pub larkspur: Option<Measured>,
    pub llguidance: Option<Measured>,
    /// Peer's mean over ours, over the tokens that both reached: mask, consume and both; cold and warm.
    pub ratio_cold: Option<[f64; 3]>,
    pub ratio_warm: Option<[f64; 3]>,
    pub comparison: Option<Comparison>,
    /// Different masks of Larkspur.
    pub distinct_masks: usize,
    /// What Larkspur's grammar has built.
    pub larkspur_stats: Option<String>,
}

/// One engine on one text.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Measured {
    pub error: Option<String>,
    pub repeats: usize,
    pub compile_us: f64,
    pub cold: PassSummary,
    pub warm: PassSummary,
    /// The slowest masks of the cold passes.
    pub slowest: Vec<Slow>,
}

/// A mask that took long.
#[derive(Clone, Debug, Serialize)]
pub struct Slow {
    pub mask_us: f64,
    pub position: usize,
    /// The end of the text before it.
    pub after: String,
}

/// How many are named.
const SLOWEST: usize = 4;

/// What is shared by all rows.
pub struct Bench {
    pub vocabulary: Arc<Vocabulary>,
    pub peer: LlGuidance,
    /// The peer as it is by default: masks narrowed where the text is forced, and a bound on the work for a mask.
    pub peer_forcing: LlGuidance,
    pub effort: Effort,
    pub with_larkspur: bool,
    pub with_peer: bool,
}

/// The passes of one engine so far.
struct Series {
    error: Option<String>,
    repeats: usize,
    compile_us: f64,
    cold: Pass,
    warm: Pass,
    spent: f64,
    is_done: bool,
}

impl Series {
    fn new(is_wanted: bool) -> Self {
        Self {
            error: None,
            repeats: 0,
            compile_us: f64::INFINITY,
            cold: Pass::default(),
            warm: Pass::default(),
            spent: 0.0,
            is_done: !is_wanted,
        }
    }

    /// Compiles, then goes over the text twice.
    fn repeat<E: Engine>(
        &mut self,
        engine: &E,
        case: &Case,
        tokens: &[u32],
        effort: &Effort,
        look: impl FnMut(usize, &[u32]),
    ) -> Option<E::Grammar> {
        let (result, us) = timed(|| self.try_repeat(engine, case, tokens, effort, look));
        let seconds = us / 1e6;
        self.spent += seconds;
        self.repeats += 1;
        self.is_done = self.repeats >= effort.repeats_max || self.spent + seconds > effort.repeat_seconds;
        match result {
            Ok(grammar) => Some(grammar),
            Err(error) => {
                self.error = Some(brief(&error));
                self.is_done = true;
                None
            }
        }
    }

    fn try_repeat<E: Engine>(
        &mut self,
        engine: &E,
        case: &Case,
        tokens: &[u32],
        effort: &Effort,
        look: impl FnMut(usize, &[u32]),
    ) -> Result<E::Grammar> {
        let budget = Duration::from_secs_f64(effort.pass_seconds);
        let (grammar, compile_us) = timed(|| engine.compile(case.grammar));
        let grammar = grammar?;
        self.compile_us = self.compile_us.min(compile_us);
        self.cold.merge(run(engine, &grammar, tokens, budget, look)?);
        self.warm.merge(run(engine, &grammar, tokens, budget, |_, _| {})?);
        Ok(grammar)
    }

    fn measured(&self, tokens: &[u32]) -> Measured {
        let mut by_time: Vec<usize> = (0..self.cold.mask_ns.len()).collect();
        by_time.sort_by_key(|&position| std::cmp::Reverse(self.cold.mask_ns[position]));
        let slow = |&position: &usize| Slow {
            mask_us: us(self.cold.mask_ns[position]),
            position,
            after: text_before(tokens, position),
        };
        Measured {
            slowest: by_time.iter().take(SLOWEST).map(slow).collect(),
            error: self.error.clone(),
            repeats: self.repeats,
            compile_us: self.compile_us,
            cold: self.cold.summary(),
            warm: self.warm.summary(),
        }
    }
}

impl Bench {
    pub fn row(&self, case: &Case, size: usize) -> Result<Row> {
        let text = (case.text)(size);
        self.row_on(case, &text, size as f64 / 1024.0)
    }

    /// A grammar on a text of the caller's.
    pub fn row_on(&self, case: &Case, text: &str, size_kb: f64) -> Result<Row> {
        let tokens = tokenize(text);
        let (mut ours, mut theirs) = (Series::new(self.with_larkspur), Series::new(self.with_peer));
        let mut recorded = Recorded::default();
        let mut comparison = Comparison::default();
        let mut stats = None;
        while !(ours.is_done && theirs.is_done) {
            if !ours.is_done {
                // Engines share expressions between grammars, so that a grammar is cold only in an engine that has
                // not seen it.
                let engine = warm_larkspur(&self.vocabulary)?;
                let is_first = ours.repeats == 0;
                let look = |_: usize, words: &[u32]| {
                    if is_first {
                        recorded.push(words);
                    }
                };
                let grammar = ours.repeat(&engine, case, &tokens, &self.effort, look);
                stats = grammar.as_ref().and_then(Larkspur::stats);
            }
            if !theirs.is_done {
                let is_first = theirs.repeats == 0;
                let look = |position: usize, words: &[u32]| {
                    if let Some(ours) = recorded.get(position).filter(|_| is_first) {
                        comparison.add(&tokens, position, ours, words);
                    }
                };
                theirs.repeat(&self.peer, case, &tokens, &self.effort, look);
            }
        }
        Ok(Row {
            grammar: case.name,
            differs: case.differs,
            size_kb,
            text_bytes: text.len(),
            tokens: tokens.len(),
            larkspur: self.with_larkspur.then(|| ours.measured(&tokens)),
            llguidance: self.with_peer.then(|| theirs.measured(&tokens)),
            ratio_cold: ratio(&ours.cold, &theirs.cold),
            ratio_warm: ratio(&ours.warm, &theirs.warm),
            comparison: (comparison.compared > 0).then_some(comparison),
            distinct_masks: recorded.distinct(),
            larkspur_stats: stats,
        })
    }

    /// The peer with its default, forcing, on one text; which masks are then narrower than ours.
    pub fn forcing_row(&self, case: &Case, size: usize) -> Result<(Measured, Comparison)> {
        let tokens = tokenize(&(case.text)(size));
        let mut recorded = Recorded::default();
        let engine = warm_larkspur(&self.vocabulary)?;
        let mut ours = Series::new(true);
        ours.repeat(&engine, case, &tokens, &Effort { repeats_max: 1, ..self.effort }, |_, words| recorded.push(words));
        let (mut theirs, mut comparison) = (Series::new(true), Comparison::default());
        while !theirs.is_done {
            let is_first = theirs.repeats == 0;
            theirs.repeat(&self.peer_forcing, case, &tokens, &self.effort, |position, words| {
                if let Some(ours) = recorded.get(position).filter(|_| is_first) {
                    comparison.add(&tokens, position, ours, words);
                }
            });
        }
        Ok((theirs.measured(&tokens), comparison))
    }
}

/// A new engine that has worked already, on a grammar of no importance.
pub fn warm_larkspur(vocabulary: &Arc<Vocabulary>) -> Result<Larkspur> {
    let engine = Larkspur::new(vocabulary)?;
    let grammar = engine.compile("start: \"key\" \"=\" /[a-z]{1,9}/ (\";\" start)?\n")?;
    run(&engine, &grammar, &tokenize("key=value;key=x"), Duration::MAX, |_, _| {})?;
    Ok(engine)
}

fn ratio(ours: &Pass, theirs: &Pass) -> Option<[f64; 3]> {
    let common = ours.consume_ns.len().min(theirs.consume_ns.len());
    if common == 0 {
        return None;
    }
    let (ours, theirs) = (ours.prefix(common).summary(), theirs.prefix(common).summary());
    Some([theirs.mask.mean / ours.mask.mean, theirs.consume.mean / ours.consume.mean, theirs.sum.mean / ours.sum.mean])
}

/// Both vocabularies' engines.
pub fn peers(env: &TokEnv) -> Result<[LlGuidance; 2]> {
    Ok([LlGuidance::new(env, false)?, LlGuidance::new(env, true)?])
}
