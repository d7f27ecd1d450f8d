//! Whether there is a way from a place in an object to its end.

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ObjectChoice, ObjectPlan, ObjectProgress, Place};
use crate::ir::NodeId;
use crate::plan::Trouble;

/// What is asked of many places at once may take as much work as so many searches.
const SEARCHES_MAX: usize = 16;
/// A place counts as much as so many ways on that are tried.
const WAYS_OF_A_PLACE: usize = 16;

/// A search for ways to the end of an object.
pub(super) struct Search<'p> {
    plan: &'p ObjectPlan,
    any_order: bool,
    /// Whether choices may be used.
    is_usable: &'p dyn Fn(NodeId) -> bool,
    /// Whether there is a way from places.
    known: FxHashMap<ObjectProgress, bool>,
    /// The properties on the ways that were found.
    pub used: FxHashSet<Place>,
    /// Ways that were tried.
    pub work: usize,
    work_max: usize,
}

/// A place on the way that is tried, from which no way is known yet.
struct Step {
    progress: ObjectProgress,
    /// The property that led there, if one did.
    by: Option<Place>,
    next: Next,
}

/// Which way on from a place is tried next: the number of a kind of property, and of its choice.
#[derive(Default)]
struct Next {
    kind: u32,
    choice: usize,
}

impl<'p> Search<'p> {
    /// A search from one place.
    pub fn new(plan: &'p ObjectPlan, any_order: bool, is_usable: &'p dyn Fn(NodeId) -> bool) -> Self {
        let (known, used) = Default::default();
        let work_max = plan.search_max.saturating_mul(WAYS_OF_A_PLACE);
        Self { plan, any_order, is_usable, known, used, work: 0, work_max }
    }

    /// One from many, with all choices.
    pub fn of_places(plan: &'p ObjectPlan, any_order: bool) -> Self {
        let one = Self::new(plan, any_order, &|_| true);
        Self { work_max: one.work_max.saturating_mul(SEARCHES_MAX), ..one }
    }

    /// Whether there is a way from behind a property with a choice.
    pub fn is_open(&mut self, from: &ObjectProgress, by: Place, choice: &ObjectChoice) -> Result<bool, Trouble> {
        let next = self.plan.after(from, by, choice, self.any_order);
        next.map_or(Ok(false), |next| self.is_live(&next))
    }

    /// Whether there is a way from a place. Cost: the places on the way that were not met before.
    ///
    /// The order does not matter for what there is in the end: the listed properties are tried one after the other, then
    /// others. So no place is met again behind itself, but for one that a property leaves as it is.
    pub fn is_live(&mut self, start: &ObjectProgress) -> Result<bool, Trouble> {
        if self.plan.is_plain() {
            return Ok(self.plan.is_live_plain(start, self.any_order, self.is_usable));
        }
        let mut way: Vec<Step> = Vec::new();
        let mut reached = Some((start.clone(), None));
        loop {
            if let Some((progress, by)) = reached.take() {
                let is_end = || progress.at as usize == self.plan.keys.len() && self.plan.can_close(&progress, false);
                match self.known.get(&progress) {
                    Some(true) => {
                        self.used.extend(by);
                        break;
                    }
                    Some(false) => {}
                    None if is_end() => {
                        way.push(Step { progress, by, next: Next::default() });
                        break;
                    }
                    None => {
                        self.charge(progress.weight() * WAYS_OF_A_PLACE)?;
                        way.push(Step { progress, by, next: Next::default() });
                    }
                }
            }
            let Some(last) = way.last_mut() else { return Ok(false) };
            match self.try_next(&last.progress, &mut last.next) {
                Some(next) => {
                    reached = next.filter(|(next, _)| *next != last.progress);
                    self.charge(1)?;
                }
                None => self.known.extend(way.pop().map(|step| (step.progress, false))),
            }
        }
        self.used.extend(way.iter().filter_map(|step| step.by));
        self.known.extend(way.into_iter().map(|step| (step.progress, true)));
        Ok(true)
    }

    fn charge(&mut self, work: usize) -> Result<(), Trouble> {
        self.work += work;
        if self.work > self.work_max { Err(Trouble::SearchGivenUp) } else { Ok(()) }
    }

    /// Where the next way on leads, if anywhere, and by which property; `None` if there is no more. Of a listed property first
    /// its choices, then to leave it out.
    fn try_next(
        &self,
        progress: &ObjectProgress,
        Next { kind, choice }: &mut Next,
    ) -> Option<Option<(ObjectProgress, Option<Place>)>> {
        let plan = self.plan;
        let at = progress.at as usize;
        let is_seen = self.any_order && at < plan.keys.len() && progress.seen.contains(at);
        loop {
            let place = if at == plan.keys.len() {
                if *kind as usize == plan.cells.len() {
                    return None;
                }
                Place::Cell(*kind)
            } else if *kind == 0 && !is_seen {
                Place::Key(progress.at)
            } else if *kind <= 1 {
                *kind = 2;
                return Some(self.without_key(progress, is_seen).map(|next| (next, None)));
            } else {
                return None;
            };
            if let Some(next) = plan.choices_at(place).get(*choice) {
                *choice += 1;
                let is_usable = (self.is_usable)(next.node);
                let next = is_usable.then(|| plan.after(progress, place, next, false)).flatten();
                return Some(next.map(|next| (next, Some(place))));
            }
            *kind += 1;
            *choice = 0;
        }
    }

    /// The place behind the next listed property, which is written already or left out.
    fn without_key(&self, progress: &ObjectProgress, is_seen: bool) -> Option<ObjectProgress> {
        let mut next = progress.clone();
        if is_seen {
            next.seen.remove(progress.at as usize);
            next.at += 1;
        } else {
            self.plan.skip(&mut next, progress.at + 1)?;
        }
        self.plan.is_possible(progress, &mut next).then_some(next)
    }
}
