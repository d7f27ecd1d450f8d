//! Intersections with a number of letters, such as `email & char{10,30} & ~admin`: how many letters the texts have from each state on.
//!
//! With the counter there are thirty times as many states as without, of which a search may have to see most. Here those without are
//! walked once; then, from where texts end backwards, the states of which some text has no letter, one, two, and so on, until the sets
//! of states repeat, as they do within the longest way without a cycle: the lengths of a regular language's texts are periodic
//! in the end (R. Parikh, "On context-free languages", JACM 13(4), 1966, for one letter).

use rustc_hash::FxHashMap;

use super::dfa::WITHIN_WORK_MAX;
use super::{Algebra, Expr, MANY, Node, OverLimit};

/// Counts from here on are worth a table.
const COUNT_MIN: u32 = 8;
/// What is left of a letter is a sequence of so many at most.
const BEGUN_MAX: usize = 8;
/// States of one table at most.
const STATES_MAX: usize = 16_384;
/// Numbers of letters that are told apart at most, where their sets do not repeat before.
const LEVELS_MAX: usize = 4_096;
/// Bytes of the sets of one table at most.
const SETS_BYTES_MAX: usize = 1 << 20;
/// Work for one beside an automaton: those of internationalized names tell so many bytes apart that they never have one.
const AUTOMATON_WORK_MAX: u64 = 1_000_000;
/// Work for tables, beside half of all other work that is done: 0.3 s.
const WORK_MAX: u64 = 15_000_000;
/// Work for one may be so many times what was missed, up to a bound.
const MISSED_TIMES: u64 = 4;
const MISSED_MAX: u64 = 3_000_000;
/// Tables within each other at most.
const NESTED_MAX: u32 = 2;
/// Steps backwards that are as much work as one.
const STEPS_PER_WORK: usize = 8;

/// All tables.
#[derive(Default, Debug)]
pub(super) struct Lengths {
    tables: Vec<Table>,
    /// Where a state is: what is beside the letters, and the letters any number of times, the first perhaps begun.
    states: FxHashMap<(Expr, Expr), (u32, u32)>,
    /// Whether the texts of one expression are those of another, too.
    within: FxHashMap<(Expr, Expr), bool>,
    /// Work that tables took.
    work: u64,
    /// Work that was done for want of a table, and so much when one that was given as much was given up.
    pub(super) missed: u64,
    given_up: u64,
}

/// States, and how many letters their texts have.
#[derive(Debug)]
struct Table {
    /// For each number of letters, the states of which some text has so many, as bits.
    levels: Vec<Box<[u64]>>,
    /// Behind the last level comes this one again. `None`: nobody knows.
    repeats: Option<usize>,
}

impl Table {
    /// Whether a text of a state has so many letters; `None` if that is not known.
    fn has(&self, state: u32, min: u32, max: u32) -> Option<bool> {
        let levels = self.levels.len();
        let level = |letters: usize| match self.repeats {
            Some(first) if letters >= levels => first + (letters - first) % (levels - first),
            _ => letters,
        };
        // One round of what repeats is enough.
        let (min, max) = (min as usize, max as usize);
        let last = match self.repeats {
            Some(_) => max.min(min.max(levels) + levels),
            None => max.min(levels - 1),
        };
        let is_in = |letters: usize| self.levels[level(letters)][state as usize / 64] >> (state % 64) & 1 != 0;
        if (min..=last).any(is_in) {
            return Some(true);
        }
        (self.repeats.is_some() || max < levels).then_some(false)
    }
}

/// An operand that counts letters.
#[derive(Clone, Copy)]
pub(super) struct Count {
    part: Expr,
    pub(super) unit: Expr,
    /// What is left of the first letter, if it was begun.
    pub(super) begun: Expr,
    /// Letters, the first included.
    pub(super) min: u32,
    pub(super) max: u32,
}

/// An intersection with a number of letters.
struct Counted {
    /// What is beside the letters.
    others: Expr,
    /// The letters any number of times, the first perhaps begun.
    letters: Expr,
    min: u32,
    max: u32,
}

/// States, with the steps to each from those from which a letter is finished by them, and from the others.
#[derive(Default)]
struct Graph {
    states: Vec<(Expr, Expr)>,
    finishing: Vec<(u32, u32)>,
    within: Vec<(u32, u32)>,
    /// States behind which letters are counted otherwise, too, such as those of a name in an address, with where they are.
    leaves: Vec<(u32, (u32, u32), Counted)>,
}

impl Algebra {
    /// Whether an intersection with a number of letters has a text, as far as tables say.
    pub(super) fn has_text_of_letters(&mut self, intersection: Expr) -> Option<bool> {
        if self.lengths.tables.is_empty() {
            return None;
        }
        let counted = self.letters_in(intersection)?;
        self.look_up(&counted)
    }

    /// Whether an intersection has a number of letters that are worth a table.
    pub(super) fn is_worth_a_table(&mut self, intersection: Expr) -> bool {
        let before = self.work;
        let is_worth = self.letters_in(intersection).is_some_and(|counted| counted.is_bound());
        self.work = before;
        is_worth
    }

    /// The same as [`has_text_of_letters`](Self::has_text_of_letters), where a table is made if there is none, with so much work for it,
    /// or some times what was missed before. Cost: that, which nobody pays for.
    pub(super) fn count_letters(&mut self, intersection: Expr, work: u64) -> Option<bool> {
        if self.lengths.work > WORK_MAX + self.work / 2 {
            return None;
        }
        // A table has many states, each of which may be asked for by a search that is over before it would be worth it.
        let missed = (MISSED_TIMES * self.lengths.missed).min(MISSED_MAX);
        let is_worth_more = missed > work && missed >= 2 * self.lengths.given_up;
        let work = if is_worth_more { missed } else { work };
        let before = self.work;
        let counted = self.letters_in(intersection);
        let answer = counted.and_then(|counted| {
            let has_automaton = self.place_in(intersection).is_some();
            let work_max = before + if has_automaton { work.min(AUTOMATON_WORK_MAX) } else { work };
            let made = counted.is_bound().then(|| self.lengths_of(&counted, NESTED_MAX, work_max));
            made.and_then(|made| made.ok()).and_then(|_| self.look_up(&counted))
        });
        if is_worth_more && answer.is_none() {
            self.lengths.given_up = work;
        }
        self.lengths.work += self.work - before;
        self.work = before;
        answer
    }

    fn look_up(&self, counted: &Counted) -> Option<bool> {
        let &(table, state) = self.lengths.states.get(&counted.key())?;
        self.lengths.tables[table as usize].has(state, counted.min, counted.max)
    }

    /// The intersection as one with a number of letters.
    fn letters_in(&mut self, intersection: Expr) -> Option<Counted> {
        let Node::And(parts) = self.node(intersection) else { return None };
        let parts = parts.to_vec();
        let counts = parts.iter().filter_map(|&part| self.count_in(part));
        let counts: Vec<Count> = counts.filter(|count| count.max != MANY || count.min > 1).collect();
        // The one that has the fewest letters counts for those that have more.
        let (first, counted) = counts
            .iter()
            .map(|first| {
                (first, counts.iter().filter(|other| self.has_letters_of(other, first)).copied().collect::<Vec<_>>())
            })
            .max_by_key(|(first, counted)| (counted.len(), first.unit))?;
        let others = parts.into_iter().filter(|&part| counted.iter().all(|count| count.part != part)).collect();
        let min = counted.iter().map(|count| count.min).max()?;
        let max = counted.iter().map(|count| count.max).min()?;
        let letters = self.repeat(first.unit, 0, MANY);
        let letters = self.concat(first.begun, letters);
        Some(Counted { others: self.and(others), letters, min, max })
    }

    /// The repetition that a sequence ends with, as one of letters.
    fn count_in(&mut self, part: Expr) -> Option<Count> {
        let count = self.run_in(part)?;
        self.is_count(&count).then_some(count)
    }

    /// Whether what is repeated are letters.
    pub(super) fn is_count(&mut self, run: &Count) -> bool {
        self.is_code(run.unit) && (run.begun == Expr::EPSILON || self.is_code(run.begun))
    }

    /// The same, whatever is repeated.
    pub(super) fn run_in(&mut self, part: Expr) -> Option<Count> {
        let mut last = part;
        for _ in 0..BEGUN_MAX {
            match self.node(last) {
                Node::Concat(_, tail) | Node::Literal(_, tail) => last = tail,
                _ => break,
            }
        }
        let Node::Repeat(unit, min, max) = self.node(last) else { return None };
        let mut begun = Vec::new();
        let mut at = part;
        while at != last {
            let (head, tail) = self.split_first(at);
            begun.push(head);
            at = tail;
        }
        let begun = begun.into_iter().rev().fold(Expr::EPSILON, |behind, head| self.concat(head, behind));
        let more = u32::from(begun != Expr::EPSILON);
        let max = if max == MANY { MANY } else { max + more };
        Some(Count { part, unit, begun, min: min + more, max })
    }

    /// Whether all texts of the letters that `first` counts are as many letters for `other`: of two prefix codes, one in the other.
    pub(super) fn has_letters_of(&mut self, other: &Count, first: &Count) -> bool {
        self.has_texts_within(first.unit, other.unit) && self.has_texts_within(first.begun, other.begun)
    }

    /// Whether all texts of one expression are texts of another, as far as that is found out with little work.
    pub(super) fn has_texts_within(&mut self, expr: Expr, other: Expr) -> bool {
        if expr == other {
            return true;
        }
        if let Some(&known) = self.lengths.within.get(&(expr, other)) {
            return known;
        }
        // What is asked meanwhile is told no.
        self.lengths.within.insert((expr, other), false);
        let answer = self.unpaid(|this| {
            let not = this.not(other);
            let outside = this.and(vec![expr, not]);
            this.is_non_empty(outside, WITHIN_WORK_MAX) == Ok(false)
        });
        self.lengths.within.insert((expr, other), answer);
        answer
    }

    /// Where a state is in a table, which is made if there is none.
    fn lengths_of(&mut self, counted: &Counted, nested: u32, work_max: u64) -> Result<(u32, u32), OverLimit> {
        if let Some(&known) = self.lengths.states.get(&counted.key()) {
            return Ok(known);
        }
        let graph = self.lengths_graph(counted.key(), nested, work_max)?;
        let table = self.levels(&graph, work_max)?;
        let id = self.lengths.tables.len() as u32;
        self.lengths.tables.push(table);
        // Equal states of other tables have the same texts.
        for (index, &state) in graph.states.iter().enumerate() {
            self.lengths.states.entry(state).or_insert((id, index as u32));
        }
        Ok(self.lengths.states[&counted.key()])
    }

    /// The states from one on.
    fn lengths_graph(&mut self, root: (Expr, Expr), nested: u32, work_max: u64) -> Result<Graph, OverLimit> {
        let size_max = self.size().saturating_add(self.size_max / 8);
        let mut graph = Graph { states: vec![root], ..Graph::default() };
        let mut ids: FxHashMap<(Expr, Expr), u32> = FxHashMap::from_iter([(root, 0)]);
        let mut at = 0;
        while let Some(&(others, letters)) = graph.states.get(at) {
            if let Some(counted) = self.counted_otherwise(others, letters, nested) {
                let leaf = self.lengths_of(&counted, nested - 1, work_max)?;
                graph.leaves.push((at as u32, leaf, counted));
                at += 1;
                continue;
            }
            let mut next: Vec<(Expr, Expr)> = Vec::new();
            for class in self.common_classes(vec![others, letters], work_max)? {
                let byte = class.iter().next().expect("classes are not empty");
                let letters = self.derivative(letters, byte, work_max)?;
                if letters == Expr::NOTHING {
                    continue;
                }
                let others = self.derivative(others, byte, work_max)?;
                if others != Expr::NOTHING {
                    next.push((others, letters));
                }
                self.check(work_max)?;
            }
            next.sort_unstable();
            next.dedup();
            for state in next {
                let new = graph.states.len() as u32;
                let id = *ids.entry(state).or_insert(new);
                if id == new {
                    graph.states.push(state);
                }
                // Behind a letter any number of them may follow, or none.
                let steps = if self.is_nullable(state.1) { &mut graph.finishing } else { &mut graph.within };
                steps.push((id, at as u32));
            }
            if graph.states.len() > STATES_MAX || self.size() > size_max {
                return Err(OverLimit::Size);
            }
            at += 1;
        }
        Ok(graph)
    }

    /// What is beside the letters, if it counts them itself: its texts are then so many of its letters.
    fn counted_otherwise(&mut self, others: Expr, letters: Expr, nested: u32) -> Option<Counted> {
        if nested == 0 {
            return None;
        }
        let counted = self.letters_in(others)?;
        let (ours, its) = (self.count_in(letters)?, self.count_in(counted.letters)?);
        (counted.is_bound() && counted.max != MANY && self.has_letters_of(&ours, &its)).then_some(counted)
    }

    /// The states by the letters of their texts, from those where one ends.
    fn levels(&mut self, graph: &Graph, work_max: u64) -> Result<Table, OverLimit> {
        let states = graph.states.len();
        let (finishing, within) = (before(states, &graph.finishing), before(states, &graph.within));
        let mut ends: Vec<bool> =
            graph.states.iter().map(|state| self.is_nullable(state.0) && self.is_nullable(state.1)).collect();
        graph.leaves.iter().for_each(|leaf| ends[leaf.0 as usize] = false);
        let mut level: Vec<u32> = (0..states as u32).filter(|&state| ends[state as usize]).collect();
        let mut levels: Vec<Box<[u64]>> = Vec::new();
        let mut known: FxHashMap<Box<[u64]>, usize> = FxHashMap::default();
        let leaves_max = graph.leaves.iter().map(|leaf| leaf.2.max as usize).max();
        loop {
            let letters = levels.len() as u32;
            for (state, (table, place), counted) in &graph.leaves {
                let is_in = (counted.min..=counted.max).contains(&letters);
                if is_in && self.lengths.tables[*table as usize].has(*place, letters, letters).ok_or(OverLimit::Work)? {
                    level.push(*state);
                }
            }
            let mut set = vec![0u64; states.div_ceil(64)].into_boxed_slice();
            let insert = |set: &mut [u64], state: u32| {
                let (word, bit) = (&mut set[state as usize / 64], 1 << (state % 64));
                let is_new = *word & bit == 0;
                *word |= bit;
                is_new
            };
            level.retain(|&state| insert(&mut set, state));
            let (mut at, mut steps) = (0, graph.leaves.len());
            while let Some(&state) = level.get(at) {
                level.extend(within[state as usize].iter().copied().filter(|&state| insert(&mut set, state)));
                steps += within[state as usize].len() + finishing[state as usize].len();
                at += 1;
            }
            // Before, leaves may still add to it.
            if leaves_max.is_none_or(|max| levels.len() > max) {
                if let Some(&first) = known.get(&set) {
                    return Ok(Table { levels, repeats: Some(first) });
                }
                known.insert(set.clone(), levels.len());
            }
            if levels.len() >= LEVELS_MAX || levels.len() * set.len() * 8 >= SETS_BYTES_MAX {
                return Ok(Table { levels, repeats: None });
            }
            levels.push(set);
            self.pay((steps + states) / STEPS_PER_WORK);
            self.check(work_max)?;
            level = level.iter().flat_map(|&state| finishing[state as usize].iter().copied()).collect();
        }
    }
}

impl Counted {
    fn key(&self) -> (Expr, Expr) {
        (self.others, self.letters)
    }
    /// Whether it is worth a table.
    fn is_bound(&self) -> bool {
        self.min >= COUNT_MIN || self.max >= COUNT_MIN && self.max != MANY
    }
}

/// The states before each.
fn before(states: usize, steps: &[(u32, u32)]) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); states];
    steps.iter().for_each(|&(to, from)| before[to as usize].push(from));
    before
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use rustc_hash::FxHashSet;

    use super::*;
    use crate::algebra::random::{LETTERS, expr, set_of};
    use crate::regex::ByteSet;

    /// Whether there is a text, by all derivatives; `None` if these are many.
    pub fn has_text(algebra: &mut Algebra, expr: Expr) -> Option<bool> {
        let mut open = vec![expr];
        let mut seen = FxHashSet::from_iter([expr]);
        while let Some(state) = open.pop() {
            if algebra.is_nullable(state) {
                return Some(true);
            }
            for class in algebra.first_classes(state, u64::MAX).expect("small") {
                let byte = class.iter().next().expect("classes are not empty");
                let next = algebra.derivative(state, byte, u64::MAX).expect("small");
                if next != Expr::NOTHING && seen.insert(next) {
                    open.push(next);
                }
            }
            if seen.len() > 3_000 {
                return None;
            }
        }
        Some(false)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]
        #[test]
        fn tables_say_what_derivatives_do(
            program in vec(any::<u8>(), 1..14),
            counts in vec((0u32..14, 0u32..10, 0usize..3), 3),
            before in 0u32..4,
        ) {
            let (mut algebra, body) = expr(&program);
            let any = algebra.byte_set(set_of(&LETTERS));
            let (a, few) = (algebra.byte_set(set_of(b"a")), algebra.byte_set(set_of(b"b\x7F")));
            // Letters of one byte, some of them only, and letters of one byte or two.
            let two = algebra.concat(few, any);
            let code = algebra.or(vec![a, two]);
            let units = [any, few, code];
            let mut parts: Vec<Expr> =
                counts.iter().map(|&(min, more, unit)| algebra.repeat(units[unit], min, min + more)).collect();
            // Letters that are counted behind others.
            let name = algebra.and(vec![parts.pop().expect("three"), body]);
            let prefix = algebra.repeat(any, before, before + 2);
            let address = algebra.concat(prefix, name);
            let (min, more, _) = counts[0];
            let alone = vec![algebra.repeat(code, min, min + more)];
            for (mut parts, others) in [(parts.clone(), body), (parts, address), (alone, body)] {
                parts.push(others);
                let intersection = algebra.and(parts);
                let Some(expected) = has_text(&mut algebra, intersection) else { continue };
                if let Some(answer) = algebra.count_letters(intersection, 3_000_000) {
                    prop_assert_eq!(answer, expected);
                }
                // And from there on.
                for byte in LETTERS.repeat(2) {
                    let next = algebra.derivative(intersection, byte, u64::MAX).expect("small");
                    if let (Some(answer), Some(expected)) = (algebra.has_text_of_letters(next), has_text(&mut algebra, next)) {
                        prop_assert_eq!(answer, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn what_nobody_pays_for_is_little() {
        let mut algebra = Algebra::new(1_000);
        let before = algebra.work();
        (0..10).for_each(|_| algebra.unpaid(|this| this.pay(1_000_000)));
        // Two, and one more after the first that was paid for and after each four more.
        assert_eq!(algebra.work() - before, 6_000_000);
    }

    #[test]
    fn a_name_of_so_many_letters() {
        let mut algebra = Algebra::new(100_000);
        let (letter, any) = (ByteSet::range(b'a', b'z'), ByteSet::range(b' ', b'~'));
        let (letter, any) = (algebra.byte_set(letter), algebra.byte_set(any));
        let dot = algebra.byte_set(ByteSet::range(b'.', b'.'));
        // Labels of 63 letters at most, 253 characters in all.
        let label = algebra.repeat(letter, 1, 63);
        let more = algebra.concat(dot, label);
        let more = algebra.repeat(more, 0, MANY);
        let (name, all) = (algebra.concat(label, more), algebra.repeat(any, 0, 253));
        for (min, max, expected) in [(200, MANY, true), (253, 253, true), (254, MANY, false), (64, 64, true)] {
            let asked = algebra.repeat(any, min, max);
            let intersection = algebra.and(vec![name, all, asked]);
            assert_eq!(
                algebra.count_letters(intersection, 3_000_000),
                (max != MANY || min < 254).then_some(expected),
                "{min}"
            );
        }
    }
}
