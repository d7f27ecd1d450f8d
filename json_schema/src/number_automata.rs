//! Combinations of sets of numbers as automata ([`combined_numbers`]), where as regexes they would have to be searched.

use larkspur_grammar::number::{NumberCombination, NumberKind, NumberLeaf, PlainText, combined_numbers, is_number_in};
use larkspur_grammar::{RegexId, RegexSet};

use crate::numbers::{NumberSet, NumberTable, Numbers, decided};

/// Parts of a set at most, as often as they stand in others: all are judged in each state of an automaton.
const PARTS_MAX: usize = 1_024;

/// Which plain texts of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Texts {
    /// All of its values.
    Closed,
    /// Those that the plain profile writes: see [`NumberTable::texts`].
    Written,
}

impl NumberTable {
    /// The plain texts of an intersection, a complement, or a union with multiples. `None` if the set is none of these, or
    /// an automaton would be too large.
    pub(crate) fn automaton(&mut self, id: Numbers, texts: Texts, set: &mut RegexSet) -> Option<RegexId> {
        let mut combination = self.combination(id, texts)?;
        let writes_all = combination.writes_all;
        if let Some(&known) = self.closed.get(&id).filter(|_| writes_all) {
            return Some(known);
        }
        let mut states_left = self.states_left;
        let leaves = std::mem::take(&mut combination.leaves);
        let regex = combined_numbers(&leaves, &mut combination, &mut states_left, set);
        self.states_left = states_left;
        if let Some(regex) = regex.filter(|_| writes_all || texts == Texts::Closed) {
            self.closed.insert(id, regex);
        }
        regex
    }

    /// Whether such a set has a number; `None` as of [`automaton`](Self::automaton).
    pub(crate) fn has_number(&mut self, id: Numbers) -> Option<bool> {
        if let Some(&known) = self.inhabited.get(&id) {
            return known;
        }
        let mut combination = self.combination(id, Texts::Closed)?;
        let mut states_left = self.states_left;
        let leaves = std::mem::take(&mut combination.leaves);
        let answer = is_number_in(&leaves, &mut combination, &mut states_left);
        self.states_left = states_left;
        self.inhabited.insert(id, answer);
        answer
    }

    fn combination(&self, id: Numbers, texts: Texts) -> Option<Combination<'_>> {
        let parts = self.reachable(id);
        if parts.iter().map(|&part| 1 + self.get(part).parts().len()).sum::<usize>() > PARTS_MAX {
            return None;
        }
        let is_searched = |&part: &Numbers| matches!(self.get(part), NumberSet::And(_) | NumberSet::Not(_));
        let is_multiple = |&part: &Numbers| match self.get(part) {
            NumberSet::Range(range) => range.multiple_of.is_some(),
            _ => false,
        };
        let is_union = matches!(self.get(id), NumberSet::Or(_));
        let is_worth_it = parts.iter().any(is_searched) || is_union && parts.iter().any(is_multiple);
        if !is_worth_it {
            return None;
        }
        let index = |part: &Numbers| parts.binary_search(part).expect("all parts are there");
        let mut combination =
            Combination { leaves: Vec::new(), steps: Vec::new(), texts, writes_all: true, known: Vec::new() };
        for &part in &parts {
            combination.steps.push(match self.get(part) {
                NumberSet::None => Step::Known(false),
                NumberSet::All => Step::Known(true),
                NumberSet::Range(range) => {
                    combination.leaves.push(NumberLeaf::Range(range));
                    combination.writes_all &= range.kind == NumberKind::Number;
                    Step::Range(range.kind)
                }
                NumberSet::Values(values) => {
                    combination.leaves.push(NumberLeaf::Values(values));
                    combination.writes_all = false;
                    Step::Values
                }
                NumberSet::And(parts) => Step::And(parts.iter().map(index).collect()),
                NumberSet::Or(parts) => Step::Or(parts.iter().map(index).collect()),
                NumberSet::Not(part) => Step::Not(index(part)),
            });
        }
        Some(combination)
    }
}

/// A set as it is judged, parts first.
struct Combination<'a> {
    leaves: Vec<NumberLeaf<'a>>,
    steps: Vec<Step>,
    texts: Texts,
    /// All texts of its values are written.
    writes_all: bool,
    /// What is known of each step, kept for its room.
    known: Vec<Judged>,
}

/// Of a set, as far as it is known, whether the value is in it, and whether the text is one that is written.
#[derive(Clone, Copy)]
struct Judged {
    closed: Option<bool>,
    written: Option<bool>,
}

/// Parts are indices of steps before.
enum Step {
    Known(bool),
    /// Of the next leaf.
    Range(NumberKind),
    Values,
    And(Box<[usize]>),
    Or(Box<[usize]>),
    Not(usize),
}

impl NumberCombination for Combination<'_> {
    fn asks_for_shortest(&self) -> bool {
        self.texts == Texts::Written && self.steps.iter().any(|step| matches!(step, Step::Values))
    }

    fn holds(&mut self, leaves: &[Option<bool>], text: Option<PlainText>) -> Option<bool> {
        self.known.clear();
        let mut leaves = leaves.iter();
        for step in &self.steps {
            let mut leaf = |is_written: bool| {
                let closed = *leaves.next().expect("as many leaves as there are in the steps");
                Judged { closed, written: if is_written { closed } else { Some(false) } }
            };
            let of = |parts: &[usize], decides: bool| Judged {
                closed: decided(parts.iter().map(|&part| self.known[part].closed), decides),
                written: decided(parts.iter().map(|&part| self.known[part].written), decides),
            };
            let judged = match step {
                Step::Known(is) => Judged { closed: Some(*is), written: Some(*is) },
                Step::Range(kind) => leaf(*kind == NumberKind::Number || text.is_none_or(|text| !text.has_point)),
                Step::Values => leaf(text.is_none_or(|text| text.is_shortest)),
                Step::And(parts) => of(parts, false),
                Step::Or(parts) => of(parts, true),
                Step::Not(part) => {
                    let not = self.known[*part].closed.map(|is| !is);
                    Judged { closed: not, written: not }
                }
            };
            self.known.push(judged);
        }
        let judged = self.known.last()?;
        if self.texts == Texts::Closed { judged.closed } else { judged.written }
    }
}
