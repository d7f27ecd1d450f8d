//! Whether a language holds a text, whether a text is in it, and what may come first: questions about a [`RegexSet`] that
//! the regex algebra answers ([`larkspur_grammar::algebra`]).
//!
//! Used to find out whether sub-schemas exclude each other, and for the texts of small languages; the engine decides
//! emptiness of the finished terminals. What takes too much work is said to be open.

use larkspur_grammar::algebra::{Algebra, Expr, Lowered};
use larkspur_grammar::{ByteSet, RegexId, RegexNode, RegexSet};

/// Work of one question at most, in steps of 20 ns. 200,000 = 4 ms.
const WORK_MAX: u64 = 200_000;
/// Work for the strings of a value, where [`WORK_MAX`] does not tell whether there is one: what the engine spends on a terminal. Of
/// all such questions of a schema, which are the engine's too and therefore not counted as work.
const VALUE_WORK_MAX: u64 = 2_000_000;
const VALUES_WORK_MAX: u64 = 3 * VALUE_WORK_MAX;
/// Of combinations within each other, how deep they are by how deep they are, for one more step: 40 within each other take
/// about 200 times as long.
const DEPTH_PER_STEP: u64 = 8;
/// Combinations within each other of which it is asked whether they are empty, at most: their expressions are looked through
/// when they are made, which the algebra does not count. A deeper one counts as all the work that a schema may take.
const DEPTH_MAX: usize = 16;
const TOO_DEEP_WORK: u64 = 1 << 32;
/// Expressions of one schema's questions at most, 50 bytes each; past them every question stays open.
const EXPRESSIONS_MAX: usize = 1_000_000;
/// Bytes that [`Search::is_seen_endless`] follows at most.
const PROBE_MAX: usize = 24;

/// What is remembered between questions about one [`RegexSet`].
#[derive(Default, Debug)]
pub(crate) struct Search {
    /// Made for the first question that it takes.
    algebra: Option<Box<Algebra>>,
    lowered: Lowered,
    /// What was counted beside the algebra's own steps.
    more_work: u64,
    /// Steps that are not counted.
    value_work: u64,
}

/// The algebra, made if it is not there yet.
fn made(algebra: &mut Option<Box<Algebra>>) -> &mut Algebra {
    algebra.get_or_insert_with(|| Box::new(Algebra::new(EXPRESSIONS_MAX)))
}

impl Search {
    fn algebra(&mut self) -> &mut Algebra {
        made(&mut self.algebra)
    }

    /// Steps of the algebra.
    fn steps_taken(&self) -> u64 {
        self.algebra.as_ref().map_or(0, |algebra| algebra.work())
    }

    /// Whether the language has no text; `None` if the search was given up.
    pub fn is_empty(&mut self, set: &RegexSet, regex: RegexId) -> Option<bool> {
        self.is_empty_combination(set, regex, 1)
    }

    /// Whether strings of a value certainly have no text. A value that is taken to have one would be offered where none can be.
    pub fn is_empty_value(&mut self, set: &RegexSet, regex: RegexId) -> bool {
        if let Some(known) = self.is_empty(set, regex) {
            return known;
        }
        let Some(start) = self.start(set, regex) else { return false };
        let before = self.steps_taken();
        let left = VALUES_WORK_MAX.saturating_sub(self.value_work);
        let has_text = self.algebra().is_non_empty(start, VALUE_WORK_MAX.min(left));
        self.value_work += self.steps_taken() - before;
        has_text == Ok(false)
    }

    /// The same as [`is_empty`](Self::is_empty) of combinations within each other, so many at most: each step goes through those
    /// inside, in expressions that are the longer for it.
    pub fn is_empty_combination(&mut self, set: &RegexSet, regex: RegexId, depth: usize) -> Option<bool> {
        if set.info(regex).has_text {
            return Some(false);
        }
        if *set.node(regex) == RegexNode::Nothing {
            return Some(true);
        }
        if depth > DEPTH_MAX {
            self.more_work += TOO_DEEP_WORK;
            return None;
        }
        let weight = 1 + (depth * depth) as u64 / DEPTH_PER_STEP;
        let before = self.steps_taken();
        let start = self.start(set, regex)?;
        let has_text = self.algebra().is_non_empty(start, WORK_MAX / weight).ok();
        self.more_work += (self.steps_taken() - before) * (weight - 1);
        has_text.map(|has_text| !has_text)
    }

    /// Whether the text is in the language; `None` if that takes too much work.
    pub fn matches(&mut self, set: &RegexSet, regex: RegexId, text: &str) -> Option<bool> {
        let mut state = self.start(set, regex)?;
        for byte in text.bytes() {
            state = self.after(state, byte)?;
            if state == Expr::NOTHING {
                return Some(false);
            }
        }
        Some(self.algebra().is_nullable(state))
    }

    /// Steps of all questions, 20 ns each.
    pub fn work(&self) -> u64 {
        self.steps_taken() + self.more_work - self.value_work
    }

    /// The state before the first byte; `None` if there are too many expressions.
    pub fn start(&mut self, set: &RegexSet, regex: RegexId) -> Option<Expr> {
        made(&mut self.algebra).lower(set, regex, &mut self.lowered).ok()
    }

    /// Whether a text may end here.
    pub fn is_end(&self, state: Expr) -> bool {
        self.algebra.as_ref().is_some_and(|algebra| algebra.is_nullable(state))
    }

    /// The classes of bytes that may come first, each with what follows it, which may be empty; `None` if that takes too much work.
    pub fn steps(&mut self, state: Expr) -> Option<Vec<(ByteSet, Expr)>> {
        let work_max = self.steps_taken() + WORK_MAX;
        let classes = self.algebra().first_classes(state, work_max).ok()?;
        let mut steps = Vec::with_capacity(classes.len());
        for class in classes {
            let Some(byte) = class.iter().next() else { continue };
            steps.push((class, self.after(state, byte)?));
        }
        Some(steps)
    }

    /// Whether a state is not known to be empty.
    pub fn may_go_on(&mut self, state: Expr) -> bool {
        self.algebra().is_non_empty(state, WORK_MAX) != Ok(false)
    }

    /// Whether one text, gone along with a byte wherever it can be, comes back to where it was: then there are endlessly many.
    /// Most languages without bound show so within some derivatives. False says nothing.
    pub fn is_seen_endless(&mut self, start: Expr) -> bool {
        let mut seen = vec![start];
        let mut state = start;
        let mut byte = b'a';
        while seen.len() <= PROBE_MAX {
            let Some(mut next) = self.after(state, byte) else { return false };
            if next == Expr::NOTHING {
                let work_max = self.steps_taken() + WORK_MAX;
                let Ok(classes) = self.algebra().first_classes(state, work_max) else { return false };
                let largest = classes.iter().max_by_key(|class| class.len()).and_then(|class| class.iter().next());
                let Some(other) = largest else { return false };
                byte = other;
                match self.after(state, byte) {
                    Some(after) => next = after,
                    None => return false,
                }
            }
            if seen.contains(&next) {
                return self.algebra().is_non_empty(next, WORK_MAX) == Ok(true);
            }
            seen.push(next);
            state = next;
        }
        false
    }

    fn after(&mut self, state: Expr, byte: u8) -> Option<Expr> {
        let work_max = self.steps_taken() + WORK_MAX;
        self.algebra().derivative(state, byte, work_max).ok()
    }
}
