//! The passes: new engines, a warm-up, then each schema once cold and once warm, both engines schema by schema.

use std::time::Instant;

use anyhow::Result;
use larkspur::GrammarStats;

use super::batches::Batches;
use super::data::{Plan, Schema};
use super::engines::{Larkspur, LlGuidance, SchemaEngine, Setup};
use super::tokenizer::Tokenizer;
use super::walk::{End, Outcome, Walker};
use crate::measure::brief;

/// Everything that was measured of one engine.
#[derive(Default)]
pub struct Series {
    /// To make the engine from a vocabulary, the least of all repetitions.
    pub start_ns: u64,
    /// The first schemas of the process.
    pub cold_process: Vec<Outcome>,
    /// Schemas that the engine has not seen.
    pub cold: Vec<Outcome>,
    /// The same again.
    pub warm: Vec<Outcome>,
    /// What each grammar held after the cold pass; none of those that were refused.
    pub inside: Vec<GrammarStats>,
    pub batches: Batches,
    /// What reading the clock takes.
    pub clock_ns: u64,
}

/// How much is measured.
#[derive(Clone, Copy)]
pub struct Effort {
    /// New engines.
    pub repeats: usize,
    /// Schemas of the warm-up that count as the beginning of the process.
    pub cold_process: usize,
    pub with_peer: bool,
    pub with_warm: bool,
}

/// Runs both engines over the plan. The peer's series is empty without a peer.
pub fn run(plan: &Plan, tokenizer: &Tokenizer, setup: &Setup, effort: Effort) -> Result<(Series, Series)> {
    let (mut ours, mut theirs) = (Series::default(), Series::default());
    for repeat in 0..effort.repeats.max(1) {
        let mut larkspur: Side<Larkspur> = Side::start(tokenizer, setup, effort, repeat, &mut ours)?;
        let mut peer: Option<Side<LlGuidance>> = None;
        if effort.with_peer {
            peer = Some(Side::start(tokenizer, setup, effort, repeat, &mut theirs)?);
        }
        let begin = Instant::now();
        for (index, schema) in plan.warm_up.iter().enumerate() {
            larkspur.warm_up(index, schema);
            if let Some(peer) = &mut peer {
                peer.warm_up(index, schema);
            }
        }
        for (index, schema) in plan.measured.iter().enumerate() {
            // Neither engine is always the one that finds the other's code and data in the processor's caches; nor, in several
            // repetitions, with any schema.
            let is_first = (index + repeat) % 2 == 0;
            if is_first {
                larkspur.measure(index, schema);
            }
            if let Some(peer) = &mut peer {
                peer.measure(index, schema);
            }
            if !is_first {
                larkspur.measure(index, schema);
            }
            if (index + 1) % 500 == 0 {
                let seconds = begin.elapsed().as_secs_f64();
                eprintln!("repetition {}: {} schemas in {seconds:.0} s", repeat + 1, index + 1);
            }
        }
    }
    Ok((ours, theirs))
}

/// One engine in one repetition.
struct Side<'s, E: SchemaEngine> {
    walker: Walker<E>,
    series: &'s mut Series,
    effort: Effort,
    repeat: usize,
}

impl<'s, E: SchemaEngine> Side<'s, E> {
    fn start(
        tokenizer: &Tokenizer,
        setup: &Setup,
        effort: Effort,
        repeat: usize,
        series: &'s mut Series,
    ) -> Result<Self> {
        let begin = Instant::now();
        let engine = E::start(tokenizer, setup)?;
        let start_ns = begin.elapsed().as_nanos() as u64;
        series.start_ns = if repeat == 0 { start_ns } else { start_ns.min(series.start_ns) };
        let walker = Walker::new(engine, repeat == 0);
        series.clock_ns = walker.clock.cost_ns();
        Ok(Self { walker, series, effort, repeat })
    }

    fn warm_up(&mut self, index: usize, schema: &Schema) {
        let (outcome, _) = self.walker.cold(schema);
        if self.repeat == 0 && index < self.effort.cold_process {
            self.series.cold_process.push(outcome);
        }
    }

    fn measure(&mut self, index: usize, schema: &Schema) {
        let (outcome, grammar) = self.walker.cold(schema);
        let is_first = self.repeat == 0;
        let is_last = self.repeat + 1 == self.effort.repeats.max(1);
        keep(&mut self.series.cold, index, outcome);
        if is_first {
            self.series.inside.extend(grammar.as_ref().and_then(E::inside));
        }
        if !self.effort.with_warm {
            return;
        }
        let Some(grammar) = grammar else {
            // So that the others keep their places.
            let refused = self.series.cold[index].clone();
            return keep(&mut self.series.warm, index, refused);
        };
        let outcome = self.walker.warm(schema, &grammar);
        keep(&mut self.series.warm, index, outcome);
        if is_last {
            let walks = &self.series.warm[index].walks;
            let accepted = |index: usize| schema.instances[index].valid && walks[index].end == End::Accepted;
            let (engine, clock) = (&self.walker.engine, &mut self.walker.clock);
            if let Err(error) = self.series.batches.add(engine, clock, &grammar, schema, accepted) {
                eprintln!("{}: {}: {}", E::NAME, schema.name, brief(&error));
            }
        }
    }
}

fn keep(outcomes: &mut Vec<Outcome>, index: usize, outcome: Outcome) {
    match outcomes.get_mut(index) {
        Some(known) => known.merge(outcome),
        None => outcomes.push(outcome),
    }
}
