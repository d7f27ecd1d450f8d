//! What becomes of the alternatives of an object's clauses on the way through it.

use std::ops::Range;

use super::{Alternative, Bits, ObjectPlan};

/// The alternatives of a clause, and the alternative that it is of, if not of the object itself.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub ways: Range<usize>,
    pub owner: Option<usize>,
}

/// What follows from an object's plan for its alternatives.
#[derive(Clone, Default, Debug)]
pub(super) struct Fates {
    pub clauses: Vec<Clause>,
    /// The clause of each alternative.
    pub clause_of: Vec<usize>,
    /// The alternatives that bound the number of properties, with the bound.
    pub bounds: Vec<(usize, u64)>,
    /// Before each listed property, and behind the last one, the alternatives that cannot be lost from there on, but could
    /// before.
    certain: Vec<Vec<usize>>,
    /// For each clause the alternative that is the first to be certain.
    first: Vec<usize>,
}

impl Fates {
    /// Cost: the keys and their choices by the words of a set of alternatives, and the alternatives.
    pub fn of(plan: &ObjectPlan) -> Self {
        let len = plan.alternatives.len();
        if len == 0 {
            return Self::default();
        }
        let owned = plan.alternatives.iter().enumerate().map(|(owner, way)| (Some(owner), &way.clauses));
        let clauses: Vec<Clause> = owned
            .chain([(None, &plan.clauses)])
            .flat_map(|(owner, clauses)| clauses.iter().map(move |ways| Clause { ways: ways.clone(), owner }))
            .collect();
        let mut clause_of = vec![0; len];
        for (index, clause) in clauses.iter().enumerate() {
            clause_of[clause.ways.clone()].fill(index);
        }
        let bounds = plan.alternatives.iter().enumerate().filter_map(|(index, way)| Some((index, way.max?))).collect();
        let from = certain_from(plan);
        let mut certain = vec![Vec::new(); plan.keys.len() + 1];
        for (index, from) in from.iter().enumerate().filter_map(|(index, from)| Some((index, (*from)?))) {
            certain[from].push(index);
        }
        let first =
            |clause: &Clause| clause.ways.clone().min_by_key(|&way| from[way].unwrap_or(usize::MAX)).unwrap_or(0);
        let first = clauses.iter().map(first).collect();
        Self { clauses, clause_of, bounds, certain, first }
    }

    /// Forgets of the clauses that will hold, since an alternative cannot be lost any more behind `at`, which one that is.
    pub fn forget(&self, alive: &mut Bits, at: u32) {
        for &index in self.certain.get(at as usize).into_iter().flatten() {
            if alive.contains(index) {
                let clause = self.clause_of[index];
                alive.remove_range(self.clauses[clause].ways.clone());
                alive.insert(self.first[clause]);
            }
        }
    }
}

/// The listed properties behind which alternatives cannot be lost, how many these are; `None` for those that can to the end.
fn certain_from(plan: &ObjectPlan) -> Vec<Option<usize>> {
    let len = plan.alternatives.len();
    let mut from = vec![None; len];
    let mut left = Bits::none(len);
    for (index, Alternative { min, max, needs, clauses }) in plan.alternatives.iter().enumerate() {
        if *min == 0 && max.is_none() && *needs == 0 && clauses.is_empty() {
            left.insert(index);
        }
    }
    plan.cells.iter().flat_map(|cell| &cell.choices).for_each(|choice| left.keep(&choice.keep));
    for (at, key) in plan.keys.iter().enumerate().rev() {
        let before = left.clone();
        left.drop(&key.requiring);
        key.choices.iter().for_each(|choice| left.keep(&choice.keep));
        let mut lost = before;
        lost.drop(&left);
        lost.iter().for_each(|index| from[index] = Some(at + 1));
    }
    left.iter().for_each(|index| from[index] = Some(0));
    from
}
