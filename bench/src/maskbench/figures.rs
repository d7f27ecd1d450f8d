//! Percentiles of one engine in one setting.

use serde::Serialize;

use super::walk::Outcome;
use crate::measure::{Spread, us};

/// Times in microseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Figures {
    /// Schemas that were compiled.
    pub schemas: usize,
    pub masks: usize,
    pub mask: Spread,
    pub consume: Spread,
    /// A mask and the token after it: MaskBench's time between masks.
    pub both: Spread,
    pub compile: Spread,
    /// To compile and to make the first mask of the first instance: MaskBench's time to first mask.
    pub ttfm: Spread,
    /// To refuse the others.
    pub refuse: Spread,
    /// CPU time of all walks, less what the clock takes, for each mask. It holds what the benchmark itself does, too.
    pub cpu_mean: f64,
    /// Masks found in the memo, of those that were counted.
    pub memo_hit_percent: Option<f64>,
    /// Walks, and those of which every repetition was interrupted.
    pub walks: usize,
    pub walks_interrupted: usize,
}

impl Figures {
    /// What [`times`](Self::times) are called.
    pub const TIMES: [&str; 5] = ["mask", "consume", "both", "compile", "to first mask"];

    /// All but refusals, in the order in which they are shown.
    pub fn times(&self) -> [Spread; 5] {
        [self.mask, self.consume, self.both, self.compile, self.ttfm]
    }

    /// The figures of some schemas, given what reading the clock twice takes.
    pub fn of<'a>(outcomes: impl Iterator<Item = &'a Outcome>, clock_ns: u64) -> Self {
        let mut figures = Self::default();
        let (mut mask, mut consume, mut both) = (Vec::new(), Vec::new(), Vec::new());
        let (mut compile, mut ttfm, mut refuse) = (Vec::new(), Vec::new(), Vec::new());
        let (mut cpu_ns, mut hits, mut counted) = (0, 0, 0);
        for outcome in outcomes {
            if outcome.refusal.is_some() {
                refuse.push(outcome.compile_ns);
                continue;
            }
            compile.push(outcome.compile_ns);
            ttfm.extend(outcome.first_mask_ns.map(|ns| outcome.compile_ns + ns));
            for walk in &outcome.walks {
                let pass = &walk.pass;
                mask.extend_from_slice(&pass.mask_ns);
                consume.extend_from_slice(&pass.consume_ns);
                // A token that is refused is not consumed.
                let consumed = pass.consume_ns.iter().copied().chain(std::iter::repeat(0));
                both.extend(pass.mask_ns.iter().zip(consumed).map(|(mask, consume)| mask + consume));
                let steps = (pass.mask_ns.len() + pass.consume_ns.len()) as u64;
                cpu_ns += walk.cpu_ns.saturating_sub(steps * clock_ns);
                hits += walk.work.iter().map(|work| work.hits).sum::<u64>();
                counted += walk.work.len();
                figures.walks += 1;
                figures.walks_interrupted += usize::from(walk.is_interrupted);
            }
        }
        figures.schemas = compile.len();
        figures.masks = mask.len();
        figures.memo_hit_percent = (counted > 0).then(|| 100.0 * hits as f64 / counted as f64);
        figures.cpu_mean = us(cpu_ns) / mask.len().max(1) as f64;
        [figures.mask, figures.consume, figures.both] = [mask, consume, both].map(|times| Spread::of(&times));
        [figures.compile, figures.ttfm, figures.refuse] = [compile, ttfm, refuse].map(|times| Spread::of(&times));
        figures
    }
}
