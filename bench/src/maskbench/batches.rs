//! What is too short to be timed alone: consuming a token, forking a matcher, taking tokens back. Means over batches.

use anyhow::Result;
use serde::Serialize;

use super::data::Schema;
use super::engines::SchemaEngine;
use crate::measure::{Clock, Spread};

/// Calls in a batch.
const BATCH: u64 = 1_000;

/// Ids asked for at the end of each text.
const IDS: u64 = 50;

/// Forks at the end of each text.
const FORKS: usize = 50;

/// Mean times of batches, in ns.
#[derive(Clone, Debug, Default)]
pub struct Batches {
    pub consume: Batched,
    /// Of known masks.
    pub mask_id: Batched,
    pub fork: Batched,
    /// All tokens of a text at once.
    pub rollback: Batched,
}

/// The same in microseconds: how the means of the batches are spread.
#[derive(Clone, Debug, Serialize)]
pub struct BatchFigures {
    pub consume: Spread,
    /// Nothing for engines without ids.
    pub mask_id: Option<Spread>,
    pub fork: Spread,
    pub rollback: Spread,
}

/// Batches of one kind of call.
#[derive(Clone, Debug, Default)]
pub struct Batched {
    calls: u64,
    ns: u64,
    /// Mean of each batch, in ps.
    means_ps: Vec<u64>,
}

impl Batched {
    fn add(&mut self, calls: u64, ns: u64) {
        self.calls += calls;
        self.ns += ns;
        if self.calls >= BATCH {
            self.means_ps.push(self.ns * 1_000 / self.calls);
            (self.calls, self.ns) = (0, 0);
        }
    }

    fn spread(&self) -> Spread {
        let mut spread = Spread::of(&self.means_ps);
        spread.scale(1e-3);
        spread
    }
}

impl Batches {
    /// Adds the valid instances of a schema, all of whose tokens `grammar` allows, without masks.
    ///
    /// Errors: what the engine says.
    pub fn add<E: SchemaEngine>(
        &mut self,
        engine: &E,
        clock: &mut Clock,
        grammar: &E::Grammar,
        schema: &Schema,
        accepted: impl Fn(usize) -> bool,
    ) -> Result<()> {
        for (index, instance) in schema.instances.iter().enumerate().filter(|&(index, _)| accepted(index)) {
            debug_assert!(schema.instances[index].valid);
            let mut matcher = engine.warm_matcher(grammar)?;
            let (result, ns) =
                clock.time(|| instance.tokens.iter().try_for_each(|&token| E::consume(&mut matcher, token)));
            result?;
            self.consume.add(instance.tokens.len() as u64, ns);
            // Before the last token, where the text is not over, and known from the second time on.
            let mut before = E::fork(&matcher);
            E::rollback(&mut before, 1)?;
            _ = E::mask_id(&mut before);
            let (id, ns) = clock.time(|| {
                let mut ids = (0..IDS).map(|_| E::mask_id(&mut before));
                ids.find(|id| !matches!(id, Some(Ok(())))).unwrap_or(Some(Ok(())))
            });
            if let Some(result) = id {
                result?;
                self.mask_id.add(IDS, ns);
            }
            let mut forks = Vec::with_capacity(FORKS);
            let ((), ns) = clock.time(|| forks.extend((0..FORKS).map(|_| E::fork(&matcher))));
            self.fork.add(FORKS as u64, ns);
            for fork in forks.iter_mut() {
                let (result, ns) = clock.time(|| E::rollback(fork, instance.tokens.len()));
                result?;
                self.rollback.add(1, ns);
            }
        }
        Ok(())
    }

    pub fn figures(&self) -> BatchFigures {
        let mask_id = (!self.mask_id.means_ps.is_empty()).then(|| self.mask_id.spread());
        BatchFigures {
            consume: self.consume.spread(),
            mask_id,
            fork: self.fork.spread(),
            rollback: self.rollback.spread(),
        }
    }
}
