//! One pass of an engine over a text, and what several passes say.

use std::fs::File;
use std::hint::black_box;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::engines::Engine;

/// The times of one pass, or the least of several. Position `i` is before token `i`; the last mask is after the text.
#[derive(Clone, Debug, Default)]
pub struct Pass {
    pub mask_ns: Vec<u64>,
    pub consume_ns: Vec<u64>,
    /// Why the pass did not reach the end of the text.
    pub stopped: Option<String>,
}

/// Steps longer than this may have been interrupted: a scheduler's slice is longer.
const LONG: Duration = Duration::from_micros(100);

/// Measures steps of this thread by the wall clock, less the time for which the thread waited for a core, so that other
/// work on the machine counts less. The wait is asked for only around long steps, since asking takes a microsecond.
pub struct Clock {
    /// Linux tells here how long this thread has waited; without it, the wall clock has to do.
    schedule: Option<File>,
    waited_ns: u64,
    last_end: Instant,
    /// What measuring nothing takes, taken off each step.
    cost_ns: u64,
}

impl Clock {
    pub fn new() -> Self {
        let schedule = File::open("/proc/thread-self/schedstat").ok();
        let mut clock = Self { schedule, waited_ns: 0, last_end: Instant::now(), cost_ns: 0 };
        clock.waited_ns = clock.read();
        clock
    }

    /// A clock that takes its own cost off each step: for steps that are as short as that.
    pub fn calibrated() -> Self {
        let mut clock = Self::new();
        let mut costs: Vec<u64> = (0..10_001).map(|_| clock.time(|| black_box(())).1).collect();
        costs.sort_unstable();
        clock.cost_ns = costs[costs.len() / 2];
        clock
    }

    /// What is taken off each step, in ns.
    pub fn cost_ns(&self) -> u64 {
        self.cost_ns
    }

    fn read(&self) -> u64 {
        let mut text = [0; 80];
        let Some(len) = self.schedule.as_ref().and_then(|file| file.read_at(&mut text, 0).ok()) else { return 0 };
        let text = str::from_utf8(&text[..len]).unwrap_or("");
        text.split_ascii_whitespace().nth(1).and_then(|waited| waited.parse().ok()).unwrap_or(0)
    }

    /// The value and the nanoseconds it took.
    pub fn time<T>(&mut self, f: impl FnOnce() -> T) -> (T, u64) {
        let mut start = Instant::now();
        if start - self.last_end > LONG {
            self.waited_ns = self.read();
            start = Instant::now();
        }
        let value = f();
        let wall = start.elapsed();
        self.last_end = start + wall;
        let mut ns = wall.as_nanos() as u64;
        if wall > LONG {
            let waited_ns = self.read();
            ns = ns.saturating_sub(waited_ns - self.waited_ns);
            self.waited_ns = waited_ns;
            self.last_end = Instant::now();
        }
        (value, ns.saturating_sub(self.cost_ns))
    }
}

/// CPU time of this thread. Asking costs a third of a microsecond: for sums.
pub fn thread_cpu_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Masks and tokens in turn, each timed apart, from a matcher that has just been made. `look` sees each mask, untimed.
///
/// Stops, and says so, when `budget` is spent, when the engine refuses a token or gives an error.
pub fn run<E: Engine>(
    engine: &E,
    grammar: &E::Grammar,
    tokens: &[u32],
    budget: Duration,
    mut look: impl FnMut(usize, &[u32]),
) -> Result<Pass> {
    let mut pass = Pass { mask_ns: Vec::with_capacity(tokens.len() + 1), ..Pass::default() };
    pass.consume_ns.reserve(tokens.len());
    let mut matcher = engine.matcher(grammar)?;
    let mut mask = engine.no_mask();
    let mut clock = Clock::new();
    let mut spent_ns = 0;
    for position in 0..=tokens.len() {
        let (result, mask_ns) = clock.time(|| E::mask(&mut matcher, &mut mask));
        if let Err(error) = result {
            pass.stopped = Some(format!("mask {position}: {}", brief(&error)));
            break;
        }
        pass.mask_ns.push(mask_ns);
        look(position, E::words(&mask));
        let Some(&token) = tokens.get(position) else { break };
        if !is_allowed(E::words(&mask), token) {
            pass.stopped = Some(format!("token {position} is not in the mask"));
            break;
        }
        let (result, consume_ns) = clock.time(|| E::consume(&mut matcher, token));
        if let Err(error) = result {
            pass.stopped = Some(format!("token {position}: {}", brief(&error)));
            break;
        }
        pass.consume_ns.push(consume_ns);
        spent_ns += mask_ns + consume_ns;
        if u128::from(spent_ns) > budget.as_nanos() {
            pass.stopped = Some(format!("{} s spent after {} tokens", budget.as_secs_f32(), position + 1));
            break;
        }
    }
    Ok(pass)
}

/// An error without the places in the source that some carry along.
pub fn brief(error: &anyhow::Error) -> String {
    let text = format!("{error:#}");
    text.split("\n<backtrace>").next().unwrap_or("").trim().to_owned()
}

pub fn is_allowed(words: &[u32], token: u32) -> bool {
    words.get(token as usize / 32).is_some_and(|word| word >> (token % 32) & 1 == 1)
}

impl Pass {
    /// Keeps the lesser of two times of the same step: what the engine itself needs.
    pub fn merge(&mut self, other: Pass) {
        if other.mask_ns.len() >= self.mask_ns.len() {
            self.stopped.clone_from(&other.stopped);
        }
        for (ours, theirs) in [(&mut self.mask_ns, other.mask_ns), (&mut self.consume_ns, other.consume_ns)] {
            ours.iter_mut().zip(&theirs).for_each(|(ours, &theirs)| *ours = theirs.min(*ours));
            if theirs.len() > ours.len() {
                ours.extend_from_slice(&theirs[ours.len()..]);
            }
        }
    }

    /// The first `tokens` tokens and the masks before them.
    pub fn prefix(&self, tokens: usize) -> Pass {
        let end = |times: &[u64]| tokens.min(times.len());
        Pass {
            mask_ns: self.mask_ns[..end(&self.mask_ns)].to_vec(),
            consume_ns: self.consume_ns[..end(&self.consume_ns)].to_vec(),
            stopped: None,
        }
    }

    pub fn summary(&self) -> PassSummary {
        let sum_ns: Vec<u64> =
            self.mask_ns.iter().zip(&self.consume_ns).map(|(mask, consume)| mask + consume).collect();
        PassSummary {
            masks: self.mask_ns.len(),
            first_mask_us: self.mask_ns.first().map_or(0.0, |&ns| us(ns)),
            total_seconds: sum_ns.iter().sum::<u64>() as f64 / 1e9,
            mask: Spread::of(&self.mask_ns),
            consume: Spread::of(&self.consume_ns),
            sum: Spread::of(&sum_ns),
            stopped: self.stopped.clone(),
        }
    }
}

/// Times in microseconds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct PassSummary {
    pub masks: usize,
    pub first_mask_us: f64,
    /// All masks and tokens.
    pub total_seconds: f64,
    pub mask: Spread,
    pub consume: Spread,
    /// A mask and the token after it.
    pub sum: Spread,
    pub stopped: Option<String>,
}

/// How times are spread, in microseconds. A percentile is the least time that so many of a hundred do not exceed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Spread {
    pub mean: f64,
    pub p25: f64,
    pub p50: f64,
    pub p75: f64,
    pub p90: f64,
    pub p95: f64,
    pub p99: f64,
    pub p999: f64,
    pub max: f64,
}

impl Spread {
    pub fn of(times_ns: &[u64]) -> Self {
        if times_ns.is_empty() {
            return Self::default();
        }
        let mut sorted = times_ns.to_vec();
        sorted.sort_unstable();
        let rank = |share: f64| us(sorted[((share * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1]);
        Self {
            mean: us(sorted.iter().sum()) / sorted.len() as f64,
            p25: rank(0.25),
            p50: rank(0.5),
            p75: rank(0.75),
            p90: rank(0.9),
            p95: rank(0.95),
            p99: rank(0.99),
            p999: rank(0.999),
            max: rank(1.0),
        }
    }
}

impl Spread {
    /// The same in another unit.
    pub fn scale(&mut self, factor: f64) {
        for value in self.values_mut() {
            *value *= factor;
        }
    }

    fn values_mut(&mut self) -> [&mut f64; 9] {
        let Self { mean, p25, p50, p75, p90, p95, p99, p999, max } = self;
        [mean, p25, p50, p75, p90, p95, p99, p999, max]
    }

    /// In the order in which they are shown.
    pub fn values(mut self) -> [f64; 9] {
        self.values_mut().map(|value| *value)
    }
}

pub fn us(ns: u64) -> f64 {
    ns as f64 / 1000.0
}

/// The value and how long it took, in microseconds.
pub fn timed<T>(f: impl FnOnce() -> T) -> (T, f64) {
    let (value, ns) = Clock::new().time(f);
    (value, us(ns))
}
