//! Objects whose properties depend on each other.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use larkspur_grammar::RegexId;
use larkspur_grammar::json::JsonId;
use larkspur_grammar::saved::Inconsistent;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use smallvec::{SmallVec, smallvec};

mod fates;
mod search;

use super::Trouble;
use super::alike::Alike;
use super::bits::Bits;
use crate::ir::{ANY, ClauseId, KeyId, NEVER, Named, NodeId, ObjectId, ObjectSpec, Violation, ViolationId};
use crate::normal::Normalizer;
use crate::words::Words;
use fates::{Clause, Fates};
use search::Search;

/// Demands for some property at most, one bit each.
const NEEDS_MAX: usize = 64;
/// Cells of names that are not listed at most.
const CELLS_MAX: usize = 256;

/// What a copy of an alternative counts as work: nested clauses are copied as often as there are ways to them.
const ALTERNATIVE_WORK: u64 = 16;

/// So many comparisons of sets of alternatives count as one of work.
const COMPARED_PER_WORK: usize = 128;
/// Words of sets of alternatives that are copied count as one of work if they are so many.
const WORDS_PER_WORK: usize = 32;
/// To try one way on takes as long as to copy so many words, beside those of the place; so many are one of work.
const WORDS_OF_A_WAY: u64 = 2;
const WAY_WORDS_PER_WORK: u64 = 16;

/// Listed names that are looked for in a language of others, at most.
const NAMES_TRIED_MAX: usize = 16;

/// Names of a cell that are written one by one, at most, and their bytes.
const WRITTEN_NAMES_MAX: usize = 16;
const WRITTEN_BYTES_MAX: u64 = 16;

/// Names of a cell that are counted at most; more are taken to be enough for any object.
const FEW_NAMES_MAX: usize = 4_096;

/// What may stand in an object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ObjectPlan {
    /// In the order of writing.
    pub keys: Vec<PlanKey>,
    /// Names that are not listed: disjoint languages, without the listed names.
    pub cells: Vec<PlanCell>,
    pub min: u64,
    pub max: Option<u64>,
    /// Demands that must be met, one bit each.
    needs: u64,
    /// Of all clauses, one clause after the other; those of an alternative's own clauses stand behind it.
    alternatives: Vec<Alternative>,
    /// The alternatives of each clause of the object itself.
    clauses: Vec<Range<usize>>,
    #[serde(skip)]
    fates: Fates,
    /// The largest count told apart.
    count_top: u64,
    #[serde(skip)]
    search_max: usize,
}

/// A property with a name that is listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlanKey {
    /// For the making; not saved.
    #[serde(skip, default = "no_key")]
    pub key: KeyId,
    required: bool,
    /// The alternatives that require it.
    requiring: Bits,
    pub choices: ObjectChoices,
}

fn no_key() -> KeyId {
    KeyId(u32::MAX)
}

fn no_regex() -> RegexId {
    RegexId(u32::MAX)
}

/// Properties with names that are not listed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PlanCell {
    /// For the making; not saved.
    #[serde(skip, default = "no_regex")]
    pub regex: RegexId,
    /// All names, if these are few.
    pub few: Option<std::sync::Arc<[Box<str>]>>,
    pub choices: ObjectChoices,
}

/// What a property may be; mostly one thing.
pub(crate) type ObjectChoices = SmallVec<[ObjectChoice; 1]>;

/// What a property may be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ObjectChoice {
    pub node: NodeId,
    /// The alternatives that stay possible.
    keep: Bits,
    /// The demands that it meets.
    meets: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Alternative {
    min: u64,
    max: Option<u64>,
    needs: u64,
    /// The alternatives of each of its own clauses.
    clauses: Vec<Range<usize>>,
}

/// The languages that hold the names of a cell, ascending.
type Within = SmallVec<[RegexId; 2]>;

/// How much of an object there is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ObjectProgress {
    /// The listed properties below it are written or will not be; all of them are behind it where the order is free.
    at: u32,
    /// The listed properties that are written, where the order is free.
    seen: Bits,
    /// Properties, as far as they are told apart.
    count: u64,
    met: u64,
    alive: Bits,
    /// How many of each cell's names are written, where these are few.
    used: SmallVec<[u32; 2]>,
}

/// A property by its place: a listed name or a cell of others.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Place {
    Key(u32),
    Cell(u32),
}

impl ObjectProgress {
    /// Properties, as far as they are told apart.
    pub fn count(&self) -> u64 {
        self.count
    }
    /// What looking at it counts: one for each 256 bytes or so.
    fn weight(&self) -> usize {
        1 + self.words() / 32
    }

    fn words(&self) -> usize {
        self.seen.words() + self.alive.words() + self.used.len()
    }
}

impl ObjectPlan {
    /// The choices at a place.
    pub fn choices_at(&self, place: Place) -> &[ObjectChoice] {
        match place {
            Place::Key(key) => &self.keys[key as usize].choices,
            Place::Cell(cell) => &self.cells[cell as usize].choices,
        }
    }
    /// All nodes that a property may be of, except "anything".
    pub fn choices(&self) -> impl Iterator<Item = NodeId> {
        self.choices_and_any().filter(|&node| node != ANY)
    }
    /// The same with "anything".
    pub fn choices_and_any(&self) -> impl Iterator<Item = NodeId> {
        let keys = self.keys.iter().flat_map(|key| &key.choices);
        let cells = self.cells.iter().flat_map(|cell| &cell.choices);
        keys.chain(cells).map(|choice| choice.node)
    }
    /// The plan of what stands behind all listed names.
    pub fn without_keys(&self) -> Self {
        let (cells, alternatives, clauses) = (self.cells.clone(), self.alternatives.clone(), self.clauses.clone());
        let mut plan = Self { keys: Vec::new(), cells, alternatives, clauses, fates: Fates::default(), ..*self };
        plan.fates = Fates::of(&plan);
        plan
    }
    /// Leaves out the choices whose nodes have no value.
    pub fn prune(&mut self, mut is_inhabited: impl FnMut(NodeId) -> bool) {
        self.keys.iter_mut().for_each(|key| key.choices.retain(|choice| is_inhabited(choice.node)));
        self.cells.iter_mut().for_each(|cell| cell.choices.retain(|choice| is_inhabited(choice.node)));
        self.cells.retain(|cell| !cell.choices.is_empty());
        self.fates = Fates::of(self);
    }
    /// Whether properties must be counted, or chosen with regard to each other.
    pub fn is_plain(&self) -> bool {
        self.clauses.is_empty() && self.needs == 0
    }

    /// Makes a plan that was read ready for use.
    ///
    /// Errors: what a [`Planner`] does not make.
    pub fn read(&mut self, search_max: usize) -> Result<(), Inconsistent> {
        self.search_max = search_max;
        let len = self.alternatives.len();
        let is_clause = |clause: &Range<usize>| clause.start <= clause.end && clause.end <= len;
        let is_choice = |choice: &ObjectChoice| choice.keep.is_of(len);
        let is_key = |key: &PlanKey| key.requiring.is_of(len) && key.choices.iter().all(is_choice);
        let is_cell = |cell: &PlanCell| !cell.choices.is_empty() && cell.choices.iter().all(is_choice);
        let clauses = || self.alternatives.iter().flat_map(|alternative| &alternative.clauses).chain(&self.clauses);
        let holds = self.keys.iter().all(is_key)
            && self.cells.iter().all(is_cell)
            && self.cells.len() <= CELLS_MAX
            && clauses().all(is_clause);
        // Each alternative is of one clause.
        let holds = holds && {
            let mut owned = Bits::none(len);
            clauses().cloned().flatten().for_each(|way| owned.insert(way));
            owned == Bits::all(len) && clauses().map(ExactSizeIterator::len).sum::<usize>() == len
        };
        Inconsistent::unless(holds, "an object's plan has no such properties")?;
        self.fates = Fates::of(self);
        Ok(())
    }
    /// Alternatives of all clauses.
    pub fn alternatives_len(&self) -> usize {
        self.alternatives.len()
    }
    /// Whether no property has more choices.
    pub fn choices_at_most(&self, len: usize) -> bool {
        let keys = self.keys.iter().map(|key| &key.choices);
        keys.chain(self.cells.iter().map(|cell| &cell.choices)).all(|choices| choices.len() <= len)
    }
    /// Somewhere in an object of which `count` properties are written, and no others are told apart; `None` if they are
    /// not counted so far.
    pub fn started(&self, any_order: bool, count: u64) -> Option<ObjectProgress> {
        // There are no more names than that in what was listed, and counts go on from here.
        let top = self.count_top.min(u64::from(u32::MAX));
        (count <= top).then(|| ObjectProgress { count, ..self.start(any_order) })
    }

    /// The empty object. With `any_order`, the listed properties may come in any order.
    pub fn start(&self, any_order: bool) -> ObjectProgress {
        let seen = if any_order { Bits::none(self.keys.len()) } else { Bits::default() };
        let used = smallvec![0; self.cells.len()];
        let mut start =
            ObjectProgress { at: 0, seen, count: 0, met: 0, alive: Bits::all(self.alternatives.len()), used };
        for (index, alternative) in self.alternatives.iter().enumerate().rev() {
            if alternative.clauses.iter().any(|clause| !start.alive.has_any(clause.clone())) {
                start.alive.remove(index);
            }
        }
        self.fates.forget(&mut start.alive, 0);
        start
    }
    /// Behind all listed properties, of which `count` are written.
    pub fn behind_keys(&self, count: u64) -> ObjectProgress {
        let at = self.keys.len() as u32;
        ObjectProgress { at, count: count.min(self.count_top), ..self.start(false) }
    }

    /// The places of which a property may come next, if the order is that of the keys or free.
    pub fn places(&self, progress: &ObjectProgress, any_order: bool) -> Vec<Place> {
        let mut places = Vec::new();
        if self.max.is_some_and(|max| progress.count >= max) {
            return places;
        }
        let mut blocked = false;
        for index in progress.at as usize..self.keys.len() {
            if any_order && progress.seen.contains(index) {
                continue;
            }
            places.push(Place::Key(index as u32));
            if !any_order && self.keys[index].required {
                blocked = true;
                break;
            }
        }
        if !blocked {
            places.extend((0..self.cells.len() as u32).map(Place::Cell));
        }
        places
    }

    /// The same places as far as the end can be reached from behind them. Cost: in plain objects linear in the names.
    pub fn open_places(&self, progress: &ObjectProgress, any_order: bool) -> Result<Vec<Place>, Trouble> {
        let mut places = self.places(progress, any_order);
        if self.is_plain() {
            let mut left = self.left(progress, any_order, &|_| true);
            let count = (progress.count + 1).min(self.count_top);
            places.retain(|&place| {
                let mut behind = left;
                match place {
                    Place::Key(key) => {
                        let key = &self.keys[key as usize];
                        behind.keys -= u64::from(!key.choices.is_empty());
                        behind.required -= u64::from(key.required);
                        if !any_order {
                            // Those further on leave it out.
                            left = behind;
                        }
                    }
                    Place::Cell(cell) => {
                        if !any_order {
                            (behind.keys, behind.required) = (0, 0);
                        }
                        let few = self.cells[cell as usize].few.as_ref();
                        if few.is_some_and(|few| progress.used[cell as usize] as usize >= few.len()) {
                            return false;
                        }
                        behind.others -= u64::from(few.is_some());
                    }
                }
                !self.choices_at(place).is_empty() && behind.is_enough(self, count)
            });
            return Ok(places);
        }
        let mut search = Search::of_places(self, any_order);
        let mut open = Vec::with_capacity(places.len());
        for place in places {
            // Where the order is free, what may come later may come now.
            let mut is_open = any_order && search.used.contains(&place);
            for choice in self.choices_at(place) {
                is_open = is_open || search.is_open(progress, place, choice)?;
            }
            open.extend(is_open.then_some(place));
        }
        Ok(open)
    }

    /// The numbers of the choices at a place from behind which the end can be reached.
    pub fn open_choices(
        &self,
        progress: &ObjectProgress,
        place: Place,
        any_order: bool,
    ) -> Result<Vec<usize>, Trouble> {
        let mut search = Search::of_places(self, any_order);
        let mut open = Vec::new();
        for (index, choice) in self.choices_at(place).iter().enumerate() {
            open.extend(search.is_open(progress, place, choice)?.then_some(index));
        }
        Ok(open)
    }

    /// Behind a property at `place` with a choice; `None` if there is no way on for certain.
    pub fn after(
        &self,
        progress: &ObjectProgress,
        place: Place,
        choice: &ObjectChoice,
        any_order: bool,
    ) -> Option<ObjectProgress> {
        let mut next = progress.clone();
        match place {
            Place::Key(key) if any_order => next.seen.insert(key as usize),
            Place::Key(key) => {
                self.skip(&mut next, key)?;
                next.at = key + 1;
            }
            Place::Cell(_) if any_order => {}
            Place::Cell(_) => self.skip(&mut next, self.keys.len() as u32)?,
        }
        if let Place::Cell(cell) = place
            && let Some(few) = &self.cells[cell as usize].few
        {
            let used = &mut next.used[cell as usize];
            if *used as usize >= few.len() {
                return None;
            }
            *used += 1;
        }
        next.count = (next.count + 1).min(self.count_top);
        next.met |= choice.meets;
        next.alive.keep(&choice.keep);
        self.is_possible(progress, &mut next).then_some(next)
    }

    /// Leaves out the listed properties below `to`.
    fn skip(&self, progress: &mut ObjectProgress, to: u32) -> Option<()> {
        for key in &self.keys[progress.at as usize..to as usize] {
            if key.required {
                return None;
            }
            progress.alive.drop(&key.requiring);
        }
        progress.at = to;
        Some(())
    }

    /// Drops the alternatives that have too many properties, or a clause without any; whether each clause has one left.
    /// That was so at the place before, so that only the clauses of those that are lost are looked at.
    fn is_possible(&self, before: &ObjectProgress, progress: &mut ObjectProgress) -> bool {
        if self.max.is_some_and(|max| progress.count > max) {
            return false;
        }
        let Fates { clauses, clause_of, bounds, .. } = &self.fates;
        // The clauses that have lost an alternative.
        let mut less: Vec<usize> = Vec::new();
        let mut from = 0;
        while let Some(index) = before.alive.first_without(&progress.alive, from) {
            less.push(clause_of[index]);
            from = clauses[clause_of[index]].ways.end;
        }
        for &(index, _) in bounds.iter().filter(|(_, max)| progress.count > *max) {
            if progress.alive.contains(index) {
                progress.alive.remove(index);
                less.push(clause_of[index]);
            }
        }
        while let Some(clause) = less.pop() {
            let Clause { ways, owner } = &clauses[clause];
            match *owner {
                _ if progress.alive.has_any(ways.clone()) => {}
                Some(owner) if progress.alive.contains(owner) => {
                    progress.alive.remove(owner);
                    less.push(clause_of[owner]);
                }
                Some(_) => {}
                None => return false,
            }
        }
        (before.at + 1..=progress.at).for_each(|at| self.fates.forget(&mut progress.alive, at));
        true
    }

    /// Whether the object may end here.
    pub fn can_close(&self, progress: &ObjectProgress, any_order: bool) -> bool {
        let mut end = progress.clone();
        if any_order {
            for (index, key) in self.keys.iter().enumerate().filter(|&(index, _)| !progress.seen.contains(index)) {
                debug_assert!(index < self.keys.len());
                if key.required {
                    return false;
                }
                end.alive.drop(&key.requiring);
            }
        } else if self.skip(&mut end, self.keys.len() as u32).is_none() {
            return false;
        }
        for (index, alternative) in self.alternatives.iter().enumerate().rev() {
            let holds = alternative.min <= end.count
                && alternative.max.is_none_or(|max| end.count <= max)
                && alternative.needs & !end.met == 0
                && alternative.clauses.iter().all(|clause| end.alive.has_any(clause.clone()));
            if !holds {
                end.alive.remove(index);
            }
        }
        self.needs & !end.met == 0
            && self.min <= end.count
            && self.max.is_none_or(|max| end.count <= max)
            && self.clauses.iter().all(|clause| end.alive.has_any(clause.clone()))
    }

    /// Whether the end can be reached with the choices that `is_usable`.
    pub fn is_live(
        &self,
        progress: &ObjectProgress,
        any_order: bool,
        is_usable: &dyn Fn(NodeId) -> bool,
    ) -> Result<bool, Trouble> {
        Search::new(self, any_order, is_usable).is_live(progress)
    }

    /// The same in the listed order; what that takes is added to `work`, as `Limits::schema_work_max` counts it.
    pub fn is_live_with(
        &self,
        progress: &ObjectProgress,
        is_usable: &dyn Fn(NodeId) -> bool,
        work: &mut u64,
    ) -> Result<bool, Trouble> {
        let mut search = Search::new(self, false, is_usable);
        let is_live = search.is_live(progress);
        *work += search.work as u64 * (WORDS_OF_A_WAY + progress.words() as u64) / WAY_WORDS_PER_WORK;
        is_live
    }

    fn is_live_plain(&self, progress: &ObjectProgress, any_order: bool, is_usable: &dyn Fn(NodeId) -> bool) -> bool {
        self.left(progress, any_order, is_usable).is_enough(self, progress.count)
    }

    /// What is left of a plain object.
    fn left(&self, progress: &ObjectProgress, any_order: bool, is_usable: &dyn Fn(NodeId) -> bool) -> Left {
        let has_value = |choices: &[ObjectChoice]| choices.iter().any(|choice| is_usable(choice.node));
        let mut left = Left::default();
        for (index, key) in self.keys.iter().enumerate().skip(progress.at as usize) {
            if any_order && progress.seen.contains(index) {
                continue;
            }
            let has_value = has_value(&key.choices);
            left.is_lost |= key.required && !has_value;
            left.required += u64::from(key.required);
            left.keys += u64::from(has_value);
        }
        for (cell, &used) in self.cells.iter().zip(&progress.used).filter(|(cell, _)| has_value(&cell.choices)) {
            match &cell.few {
                Some(few) => left.others += few.len() as u64 - u64::from(used),
                None => left.has_many = true,
            }
        }
        left
    }
}

/// What may still come in a plain object.
#[derive(Clone, Copy, Default)]
struct Left {
    /// Listed properties that must come.
    required: u64,
    /// Listed properties that may come.
    keys: u64,
    /// Other properties that may come, where these are few.
    others: u64,
    /// There are always more.
    has_many: bool,
    /// One that must come has no value.
    is_lost: bool,
}

impl Left {
    /// Whether the counts can be met behind `count` properties.
    fn is_enough(&self, plan: &ObjectPlan, count: u64) -> bool {
        let possible = self.keys + self.others;
        !self.is_lost
            && plan.max.is_none_or(|max| count.saturating_add(self.required) <= max)
            && (self.has_many || count.saturating_add(possible) >= plan.min)
    }
}

/// The names that a plan lists, and all others.
struct Listed {
    names: Vec<KeyId>,
    others: RegexId,
}

/// Makes a plan.
pub(crate) struct Planner<'n, 'a> {
    normalizer: &'n mut Normalizer<'a>,
    origin: JsonId,
    base: ObjectSpec,
    /// The alternatives of all clauses.
    specs: Vec<ObjectSpec>,
    named: Vec<FxHashMap<KeyId, NodeId>>,
    /// All clauses, each with the alternative that it is of; those of the object itself have none.
    clauses: Vec<(Range<usize>, Option<usize>)>,
    needs: Vec<ViolationId>,
    alike: Alike,
}

impl<'n, 'a> Planner<'n, 'a> {
    pub fn new(normalizer: &'n mut Normalizer<'a>, object: ObjectId, origin: JsonId) -> Self {
        let base = normalizer.ir.objects.get(object).clone();
        let mut specs: Vec<ObjectSpec> = Vec::new();
        let mut clauses = Vec::new();
        let mut waiting: std::collections::VecDeque<(ClauseId, Option<usize>)> =
            base.clauses.iter().map(|&clause| (clause, None)).collect();
        'clauses: while let Some((clause, owner)) = waiting.pop_front() {
            let start = specs.len();
            let list = normalizer.ir.clauses.get(clause).clone();
            for way in list {
                let spec = normalizer.ir.objects.get(way).clone();
                if !normalizer.charge(ALTERNATIVE_WORK + spec.named.len() as u64) {
                    break 'clauses;
                }
                waiting.extend(spec.clauses.iter().map(|&clause| (clause, Some(specs.len()))));
                specs.push(spec);
            }
            clauses.push((start..specs.len(), owner));
        }
        let mut needs: Vec<ViolationId> = base.some.to_vec();
        needs.extend(specs.iter().flat_map(|spec| &spec.some));
        needs.sort_unstable();
        needs.dedup();
        let named = specs.iter().map(|spec| spec.named.iter().map(|named| (named.key, named.node)).collect()).collect();
        Self { normalizer, origin, base, specs, named, clauses, needs, alike: Alike::default() }
    }

    pub fn plan(mut self) -> Result<ObjectPlan, Trouble> {
        if self.needs.len() > NEEDS_MAX {
            return Err(Trouble::TooManyChoices);
        }
        let keys = self.keys()?;
        let cells = self.cells(&keys)?;
        let mask = |needs: &[ViolationId], of: &[ViolationId]| {
            needs.iter().enumerate().filter(|(_, need)| of.contains(need)).map(|(bit, _)| 1u64 << bit).sum::<u64>()
        };
        let alternatives: Vec<Alternative> = self
            .specs
            .iter()
            .enumerate()
            .map(|(index, spec)| Alternative {
                min: spec.min,
                max: spec.max,
                needs: mask(&self.needs, &spec.some),
                clauses: self.clauses_of(Some(index)),
            })
            .collect();
        let bounds = |min: u64, max: Option<u64>| min.max(max.map_or(0, |max| max.saturating_add(1)));
        let count_top = alternatives.iter().map(|a| bounds(a.min, a.max)).max().unwrap_or(0);
        let mut plan = ObjectPlan {
            keys,
            cells,
            min: self.base.min,
            max: self.base.max,
            needs: mask(&self.needs, &self.base.some),
            alternatives,
            clauses: self.clauses_of(None),
            count_top: count_top.max(bounds(self.base.min, self.base.max)),
            fates: Fates::default(),
            search_max: self.normalizer.limits.schema_search_max,
        };
        plan.fates = Fates::of(&plan);
        Ok(plan)
    }

    fn clauses_of(&self, owner: Option<usize>) -> Vec<Range<usize>> {
        self.clauses.iter().filter(|clause| clause.1 == owner).map(|clause| clause.0.clone()).collect()
    }

    /// All names that anything lists, each once.
    fn keys(&mut self) -> Result<Vec<PlanKey>, Trouble> {
        if self.clauses.is_empty() && self.needs.is_empty() {
            // Nothing else lists names.
            if !self.normalizer.charge(self.base.named.len() as u64) {
                return Err(Trouble::Reported);
            }
            let key = |&Named { key, node, required }: &Named| {
                let choices = smallvec![ObjectChoice { node, keep: Bits::none(0), meets: 0 }];
                PlanKey { key, required, requiring: Bits::none(0), choices }
            };
            return Ok(self.base.named.iter().map(key).collect());
        }
        // The base's own order; then names as they were first seen, since each alternative has only some of them.
        let mut order: Vec<KeyId> = self.base.named.iter().map(|named| named.key).collect();
        let first = order.len();
        order.extend(self.specs.iter().flat_map(|spec| spec.named.iter().map(|named| named.key)));
        for &need in &self.needs {
            order.extend(self.normalizer.ir.violations.get(need).excluded.iter().copied());
        }
        order[first..].sort_unstable();
        let mut seen = FxHashSet::default();
        order.retain(|&key| seen.insert(key));
        let in_base: FxHashMap<KeyId, (NodeId, bool)> =
            self.base.named.iter().map(|named| (named.key, (named.node, named.required))).collect();
        let len = self.specs.len();
        let mut requiring: FxHashMap<KeyId, Bits> = FxHashMap::default();
        for (index, spec) in self.specs.iter().enumerate() {
            for named in spec.named.iter().filter(|named| named.required) {
                requiring.entry(named.key).or_insert_with(|| Bits::none(len)).insert(index);
            }
        }
        let mut keys = Vec::with_capacity(order.len());
        for key in order {
            if !self.normalizer.charge(1 + (len + self.needs.len()) as u64) {
                return Err(Trouble::Reported);
            }
            let name = self.normalizer.ir.keys.get(key).clone();
            let (node, required) = match in_base.get(&key) {
                Some(&known) => known,
                None => (self.normalizer.property(&self.base.cells, &name), false),
            };
            let mut says = Vec::with_capacity(len);
            for (named, spec) in self.named.iter().zip(&self.specs) {
                says.push(match named.get(&key) {
                    Some(&node) => node,
                    None => self.normalizer.property(&spec.cells, &name),
                });
            }
            let mut wrong = Vec::with_capacity(self.needs.len());
            for index in 0..self.needs.len() {
                let Violation { excluded, cells } = self.normalizer.ir.violations.get(self.needs[index]).clone();
                wrong.push(if excluded.binary_search(&key).is_ok() {
                    NEVER
                } else {
                    let node = self.normalizer.property(&cells, &name);
                    self.normalizer.ir.not(node, self.origin)
                });
            }
            let choices = self.choices(node, &says, &wrong)?;
            let requiring = requiring.remove(&key).unwrap_or_else(|| Bits::none(len));
            keys.push(PlanKey { key, required, requiring, choices });
        }
        Ok(keys)
    }

    /// What a property may be if the base says `node`, the alternatives `says`, and it meets the demands as `wrong`.
    fn choices(&mut self, node: NodeId, says: &[NodeId], wrong: &[NodeId]) -> Result<ObjectChoices, Trouble> {
        let len = self.specs.len();
        if self.clauses.is_empty() && wrong.is_empty() {
            return Ok(smallvec![ObjectChoice { node, keep: Bits::none(0), meets: 0 }]);
        }
        let mut made: Vec<(NodeId, Bits)> = vec![(node, Bits::none(len))];
        let choices_max = self.normalizer.limits.schema_choices_max;
        let copy_work = 1 + (len / 64 / WORDS_PER_WORK) as u64;
        for at in 0..self.clauses.len() {
            let (clause, owner) = self.clauses[at].clone();
            // Most clauses say nothing of most properties.
            if owner.is_none() && clause.clone().all(|index| says[index] == ANY) {
                if !self.normalizer.charge(copy_work * made.len() as u64) {
                    return Err(Trouble::Reported);
                }
                for (_, keep) in &mut made {
                    clause.clone().for_each(|index| keep.insert(index));
                }
                continue;
            }
            // What the alternatives say, each once, with those that stay possible then.
            let mut groups: BTreeMap<NodeId, Bits> = BTreeMap::new();
            for index in clause.clone().filter(|&index| says[index] != NEVER) {
                groups.entry(says[index]).or_insert_with(|| Bits::none(len)).insert(index);
            }
            let silent = groups.remove(&ANY);
            if let Some(silent) = &silent {
                groups.values_mut().for_each(|group| group.add(silent));
                // All but some constants keep more, so that only these are left to keep less.
                let besides = |&group: &NodeId| self.normalizer.constants_besides(group, self.origin);
                let rest: Vec<NodeId> = groups.keys().filter_map(besides).collect();
                let rest = self.normalizer.ir.all(&rest, self.origin);
                groups.entry(rest).or_insert_with(|| silent.clone());
            }
            let mut next: Vec<(NodeId, Bits)> = Vec::new();
            for (before, keep) in &made {
                for (&group, stays) in &groups {
                    let mut keep = keep.clone();
                    keep.add(stays);
                    let node = self.normalizer.ir.all(&[*before, group], self.origin);
                    if node != NEVER {
                        next.push((node, keep));
                    }
                    if !self.normalizer.charge(copy_work) {
                        return Err(Trouble::Reported);
                    }
                    if next.len() > choices_max {
                        return Err(Trouble::TooManyChoices);
                    }
                }
                // Where its alternative is not followed, a clause says nothing; as does one that goes on without a word.
                if owner.is_some() && silent.is_none() {
                    self.normalizer.charge(copy_work);
                    next.push((*before, keep.clone()));
                }
            }
            made = self.distinct(next);
        }
        let mut choices: Vec<ObjectChoice> =
            made.into_iter().map(|(node, keep)| ObjectChoice { node, keep, meets: 0 }).collect();
        for (bit, &wrong) in wrong.iter().enumerate().filter(|&(_, &wrong)| wrong != NEVER) {
            let right = self.normalizer.constants_besides(wrong, self.origin);
            for index in 0..choices.len() {
                let ObjectChoice { node, ref keep, meets } = choices[index];
                let keep = keep.clone();
                let both = self.normalizer.ir.all(&[node, wrong], self.origin);
                let (both, meets) = (self.representative(both), meets | 1 << bit);
                // Where all its values meet the demand, it does.
                if both == self.representative(node) {
                    choices[index].meets = meets;
                } else if both != NEVER {
                    choices.push(ObjectChoice { node: both, keep, meets });
                    if let Some(right) = right {
                        let rest = self.normalizer.ir.all(&[node, right], self.origin);
                        choices[index].node = self.representative(rest);
                    }
                }
            }
            choices.retain(|choice| choice.node != NEVER);
            if choices.len() > choices_max {
                return Err(Trouble::TooManyChoices);
            }
        }
        // What keeps and meets more with the same values is better, and is tried first.
        choices.reverse();
        let mut kept = ObjectChoices::with_capacity(choices.len());
        let mut same: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        for choice in choices {
            let others = same.entry(choice.node).or_default();
            let is_worse = |a: &ObjectChoice, b: &ObjectChoice| a.keep.is_part_of(&b.keep) && a.meets & !b.meets == 0;
            if !others.iter().any(|&other| is_worse(&choice, &kept[other])) {
                others.push(kept.len());
                kept.push(choice);
            }
        }
        Ok(kept)
    }

    /// Without choices that have no value, and those that keep less than others with the same values; these have one node.
    fn distinct(&mut self, mut choices: Vec<(NodeId, Bits)>) -> Vec<(NodeId, Bits)> {
        if choices.len() < 2 {
            return choices;
        }
        choices.iter_mut().for_each(|(node, _)| *node = self.representative(*node));
        // Behind those that keep the most few are left, with which the others are compared.
        let mut order: Vec<usize> = (0..choices.len()).filter(|&at| choices[at].0 != NEVER).collect();
        order.sort_by_cached_key(|&at| Reverse(choices[at].1.len()));
        let mut same: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        let mut is_kept = vec![false; choices.len()];
        let mut compared = 0;
        for at in order {
            let (node, keep) = &choices[at];
            let others = same.entry(*node).or_default();
            compared += others.len();
            if !others.iter().any(|&other| keep.is_part_of(&choices[other].1)) {
                others.push(at);
                is_kept[at] = true;
            }
        }
        self.normalizer.charge((compared / COMPARED_PER_WORK) as u64);
        let mut is_kept = is_kept.into_iter();
        choices.retain(|_| is_kept.next().unwrap_or(false));
        choices
    }

    /// See [`Alike::node`].
    fn representative(&mut self, node: NodeId) -> NodeId {
        self.alike.node(self.normalizer, node)
    }

    /// The names of the keys.
    fn listed(&mut self, keys: &[PlanKey]) -> Listed {
        let names: Vec<KeyId> = keys.iter().map(|key| key.key).collect();
        let Normalizer { ir, set, .. } = &mut *self.normalizer;
        let literals: Vec<RegexId> = names.iter().map(|&name| set.literal(ir.keys.get(name).as_bytes())).collect();
        let all = set.or(&literals);
        Listed { others: self.normalizer.not_text(all), names }
    }

    /// The names of a language that are not listed; `None` if there are certainly none.
    fn unlisted(&mut self, regex: RegexId, listed: &Listed) -> Option<RegexId> {
        // Most languages of patterns have none of the names. Objects that list different ones have such in common.
        let is_tried = regex != self.normalizer.any_text && listed.names.len() <= NAMES_TRIED_MAX;
        let may_match = |normalizer: &mut Normalizer, name: KeyId| {
            let name = normalizer.ir.keys.get(name).clone();
            normalizer.may_match(regex, &name)
        };
        let has_none = is_tried && !listed.names.iter().any(|&name| may_match(self.normalizer, name));
        let regex = if has_none { regex } else { self.normalizer.and_text(regex, listed.others) };
        // Among the names of `^..$` with two letters in them are hardly any: one by one they need no more searches.
        if self.normalizer.set.info(regex).len_max.is_some_and(|len| len <= WRITTEN_BYTES_MAX) {
            match self.normalizer.words(regex, FEW_NAMES_MAX) {
                Words::These(words) if words.len() <= WRITTEN_NAMES_MAX => {
                    let set = &mut self.normalizer.set;
                    let names: Vec<RegexId> = words.iter().map(|word| set.literal(word.as_bytes())).collect();
                    return (!names.is_empty()).then(|| set.or(&names));
                }
                Words::These(_) | Words::Many => return Some(regex),
                Words::Unknown => {}
            }
        }
        (!self.normalizer.is_nothing(regex)).then_some(regex)
    }

    /// The names that are not listed, split wherever anything tells them apart.
    fn cells(&mut self, keys: &[PlanKey]) -> Result<Vec<PlanCell>, Trouble> {
        if self.base.cells.is_empty() {
            return Ok(Vec::new());
        }
        let listed = self.listed(keys);
        let mut splitters: Vec<RegexId> = self.specs.iter().flat_map(|spec| spec.cells.iter().map(|c| c.0)).collect();
        for &need in &self.needs {
            splitters.extend(self.normalizer.ir.violations.get(need).cells.iter().map(|cell| cell.0));
        }
        let mut seen = FxHashSet::default();
        splitters.retain(|&regex| regex != self.normalizer.any_text && seen.insert(regex));
        // Each with the splitters that hold it.
        let any_text = self.normalizer.any_text;
        let mut cells: SmallVec<[(RegexId, NodeId, Within); 2]> = SmallVec::new();
        for index in 0..self.base.cells.len() {
            let (regex, node) = self.base.cells[index];
            if let Some(regex) = self.unlisted(regex, &listed) {
                cells.push((regex, node, smallvec![any_text]));
            }
        }
        for splitter in splitters {
            let not = self.normalizer.not_text(splitter);
            let mut split = SmallVec::with_capacity(cells.len());
            for (regex, node, within) in cells {
                // A cell that is not split stays as it is written: what is asked of it next was asked of others.
                let inside = self.normalizer.and_text(regex, splitter);
                let Some(inside) = self.unlisted(inside, &listed) else {
                    split.push((regex, node, within));
                    continue;
                };
                let mut with_splitter = within.clone();
                // Each is met once.
                let at = with_splitter.partition_point(|&other| other < splitter);
                with_splitter.insert(at, splitter);
                let outside = self.normalizer.and_text(regex, not);
                match self.unlisted(outside, &listed) {
                    Some(outside) => split.extend([(inside, node, with_splitter), (outside, node, within)]),
                    None => split.push((regex, node, with_splitter)),
                }
            }
            cells = split;
            if cells.len() > CELLS_MAX {
                return Err(Trouble::TooManyChoices);
            }
            if !self.normalizer.charge(cells.len() as u64) {
                return Err(Trouble::Reported);
            }
        }
        let mut out = Vec::with_capacity(cells.len());
        for (regex, node, within) in cells {
            let says = |cells: &[(RegexId, NodeId)]| {
                cells.iter().find(|cell| within.binary_search(&cell.0).is_ok()).map_or(NEVER, |cell| cell.1)
            };
            let alternatives: SmallVec<[NodeId; 4]> = self.specs.iter().map(|spec| says(&spec.cells)).collect();
            let mut wrong: SmallVec<[NodeId; 4]> = SmallVec::with_capacity(self.needs.len());
            for &need in &self.needs {
                let node = says(&self.normalizer.ir.violations.get(need).cells);
                wrong.push(self.normalizer.ir.not(node, self.origin));
            }
            let choices = self.choices(node, &alternatives, &wrong)?;
            let few = match self.normalizer.words(regex, FEW_NAMES_MAX) {
                Words::These(words) => Some(words),
                Words::Many | Words::Unknown => None,
            };
            out.push(PlanCell { regex, few, choices });
        }
        Ok(out)
    }
}
