//! One engine on one schema: compiled, then each instance walked token by token, each step timed apart.

use std::time::{Duration, Instant};

use anyhow::Result;

use super::data::{Instance, Schema};
use super::engines::{SchemaEngine, Work};
use crate::engines::Engine;
use crate::measure::{Clock, Pass, brief, is_allowed, thread_cpu_ns};

/// An instance is given up after so long.
const WALK_MAX: Duration = Duration::from_secs(60);

/// A walk that took so much longer by the wall clock than by CPU time was interrupted.
const INTERRUPTION: Duration = Duration::from_micros(20);

/// What became of a schema.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// To compile, or to refuse.
    pub compile_ns: u64,
    /// The first mask of all.
    pub first_mask_ns: Option<u64>,
    pub refusal: Option<Refusal>,
    /// One for each instance; none if the schema was refused.
    pub walks: Vec<Walk>,
}

/// Why a schema does not compile.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub message: String,
    pub is_unsatisfiable: bool,
}

/// What became of an instance.
#[derive(Clone, Debug)]
pub struct Walk {
    pub pass: Pass,
    pub end: End,
    /// What each mask took, if it was counted.
    pub work: Vec<Work>,
    /// CPU time of all steps and of measuring them.
    pub cpu_ns: u64,
    /// The thread had to wait meanwhile.
    pub is_interrupted: bool,
}

/// How a walk ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// All tokens were allowed, and the text is complete.
    Accepted,
    /// All tokens were allowed, but the text is not complete.
    Incomplete,
    /// The last mask forbids the token.
    Refused,
    /// The engine gave an error, or took too long.
    Failed(String),
}

impl Outcome {
    /// Of two times of the same step the lesser counts: what the engine itself needs.
    pub fn merge(&mut self, other: Outcome) {
        self.compile_ns = self.compile_ns.min(other.compile_ns);
        self.first_mask_ns = [self.first_mask_ns, other.first_mask_ns].into_iter().flatten().min();
        for (ours, theirs) in self.walks.iter_mut().zip(other.walks) {
            ours.cpu_ns = ours.cpu_ns.min(theirs.cpu_ns);
            ours.is_interrupted &= theirs.is_interrupted;
            ours.pass.merge(theirs.pass);
        }
    }
}

/// Makes the matcher of an instance.
type MakeMatcher<E> = fn(&E, &<E as Engine>::Grammar) -> Result<<E as Engine>::Matcher>;

/// What a walk needs besides the grammar.
pub struct Walker<E: SchemaEngine> {
    pub engine: E,
    pub clock: Clock,
    mask: E::Mask,
    /// Count the work of each mask, which disturbs the times by a few cache lines.
    pub counts: bool,
}

impl<E: SchemaEngine> Walker<E> {
    pub fn new(engine: E, counts: bool) -> Self {
        Self { mask: engine.no_mask(), engine, clock: Clock::calibrated(), counts }
    }

    /// Compiles a schema and walks its instances. The grammar is returned for more.
    pub fn cold(&mut self, schema: &Schema) -> (Outcome, Option<E::Grammar>) {
        let (result, compile_ns) = self.clock.time(|| self.engine.compile(&schema.source));
        match result {
            Ok(grammar) => (self.walked(&grammar, schema, compile_ns, E::matcher), Some(grammar)),
            Err(error) => {
                let is_unsatisfiable = E::is_unsatisfiable(&error);
                let refusal = Some(Refusal { message: brief(&error), is_unsatisfiable });
                (Outcome { compile_ns, refusal, ..Outcome::default() }, None)
            }
        }
    }

    /// The same schema again: compiled anew by the same engine, walked with the grammar that knows it.
    pub fn warm(&mut self, schema: &Schema, grammar: &E::Grammar) -> Outcome {
        let (result, compile_ns) = self.clock.time(|| self.engine.compile(&schema.source));
        drop(result);
        if !self.engine.shares() {
            // The first walk only teaches the lexer that the second shares.
            self.walks(grammar, schema, E::warm_matcher);
        }
        self.walked(grammar, schema, compile_ns, E::warm_matcher)
    }

    fn walked(&mut self, grammar: &E::Grammar, schema: &Schema, compile_ns: u64, matcher: MakeMatcher<E>) -> Outcome {
        let walks = self.walks(grammar, schema, matcher);
        let first_mask_ns = match walks.first() {
            Some(walk) => walk.pass.mask_ns.first().copied(),
            // Some schemas have no instances.
            None => matcher(&self.engine, grammar).ok().map(|mut matcher| {
                let (result, ns) = self.clock.time(|| E::mask(&mut matcher, &mut self.mask));
                // What it says is not asked for.
                drop(result);
                ns
            }),
        };
        Outcome { compile_ns, first_mask_ns, refusal: None, walks }
    }

    fn walks(&mut self, grammar: &E::Grammar, schema: &Schema, matcher: MakeMatcher<E>) -> Vec<Walk> {
        schema.instances.iter().map(|instance| self.walk(grammar, matcher(&self.engine, grammar), instance)).collect()
    }

    fn walk(&mut self, grammar: &E::Grammar, matcher: Result<E::Matcher>, instance: &Instance) -> Walk {
        let len = instance.tokens.len();
        let mut pass = Pass { mask_ns: Vec::with_capacity(len), consume_ns: Vec::with_capacity(len), stopped: None };
        let mut work = Vec::with_capacity(if self.counts { len } else { 0 });
        let (begin, cpu_begin) = (Instant::now(), thread_cpu_ns());
        let end = matcher.and_then(|matcher| self.steps(grammar, matcher, &instance.tokens, &mut pass, &mut work));
        let cpu_ns = thread_cpu_ns() - cpu_begin;
        let is_interrupted = begin.elapsed() > Duration::from_nanos(cpu_ns) + INTERRUPTION;
        let end = end.unwrap_or_else(|error| End::Failed(brief(&error)));
        Walk { pass, end, work, cpu_ns, is_interrupted }
    }

    fn steps(
        &mut self,
        grammar: &E::Grammar,
        mut matcher: E::Matcher,
        tokens: &[u32],
        pass: &mut Pass,
        work: &mut Vec<Work>,
    ) -> Result<End> {
        let begin = Instant::now();
        for &token in tokens {
            let before = if self.counts { E::work_so_far(grammar) } else { Work::default() };
            let (result, mask_ns) = self.clock.time(|| E::mask(&mut matcher, &mut self.mask));
            pass.mask_ns.push(mask_ns);
            if self.counts {
                work.push(E::work_of_mask(grammar, &matcher, before));
            }
            result?;
            if !is_allowed(E::words(&self.mask), token) {
                return Ok(End::Refused);
            }
            let (result, consume_ns) = self.clock.time(|| E::consume(&mut matcher, token));
            pass.consume_ns.push(consume_ns);
            result?;
            // Time is asked for only where it may be up.
            if mask_ns + consume_ns > 1_000_000 && begin.elapsed() > WALK_MAX {
                return Ok(End::Failed(format!("given up after {} tokens", pass.mask_ns.len())));
            }
        }
        Ok(if E::is_accepting(&mut matcher)? { End::Accepted } else { End::Incomplete })
    }
}
