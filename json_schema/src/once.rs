//! Numbers and texts of exactly one of several sets: what `oneOf` says of scalars.
//!
//! Said with Boolean operations alone, each set is what the others are not, which nests as deep as there are sets. Most sets
//! can be counted instead: single values and texts one by one, and ranges of one unit by their ends in order (a sweep).
//! Sets of numbers that lie apart need no more than their union.

use indexmap::IndexMap;
use larkspur_grammar::number::{Bound, Decimal, NumberKind, NumberRange};
use larkspur_grammar::{RegexId, RegexNode};
use rustc_hash::FxBuildHasher;

use crate::normal::Normalizer;
use crate::numbers::{NumberSet, NumberTable, Numbers};

/// Sets within each other that are looked through for their ends, at most.
const DEPTH_MAX: usize = 3;

/// A place between numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Cut {
    /// Below all numbers.
    Least,
    /// Before the number, or behind it.
    At(Decimal, bool),
    /// Above all numbers.
    Most,
}

/// What lies between two cuts.
pub(crate) type Stretch = (Cut, Cut);

/// What ranges have in common besides their bounds.
pub(crate) type Unit = (NumberKind, Option<Decimal>);

/// Numbers of exactly one of some sets, and those of any of them.
#[derive(Clone, Copy)]
struct Counted {
    once: Numbers,
    any: Numbers,
}

fn stretch_of(range: &NumberRange) -> Stretch {
    let low = range.minimum.as_ref().map_or(Cut::Least, |bound| Cut::At(bound.value.clone(), bound.exclusive));
    let high = range.maximum.as_ref().map_or(Cut::Most, |bound| Cut::At(bound.value.clone(), !bound.exclusive));
    (low, high)
}

/// The numbers of a unit within a stretch.
fn range_of((low, high): Stretch, (kind, multiple_of): &Unit) -> NumberRange {
    let bound = |cut: Cut, is_low: bool| match cut {
        Cut::At(value, is_behind) => Some(Bound { value, exclusive: is_behind == is_low }),
        Cut::Least | Cut::Most => None,
    };
    NumberRange {
        kind: *kind,
        minimum: bound(low, true),
        maximum: bound(high, false),
        multiple_of: multiple_of.clone(),
    }
}

/// The stretches of which so many of the others are on top of each other as `is_wanted` says. Cost: that of sorting them.
fn swept(stretches: &[Stretch], is_wanted: impl Fn(usize) -> bool) -> Vec<Stretch> {
    let mut ends: Vec<(&Cut, bool)> = Vec::with_capacity(2 * stretches.len());
    for (low, high) in stretches.iter().filter(|(low, high)| low < high) {
        ends.extend([(low, true), (high, false)]);
    }
    ends.sort_unstable();
    let (mut out, mut open): (Vec<Stretch>, Option<&Cut>) = (Vec::new(), None);
    let mut depth = 0;
    for (at, &(cut, opens)) in ends.iter().enumerate() {
        if opens {
            depth += 1
        } else {
            depth -= 1
        }
        if ends.get(at + 1).is_some_and(|(next, _)| *next == cut) {
            continue;
        }
        match (open, is_wanted(depth)) {
            (None, true) => open = Some(cut),
            (Some(low), false) => {
                out.push((low.clone(), cut.clone()));
                open = None;
            }
            _ => {}
        }
    }
    out
}

/// What lies between and beside stretches that are in order and apart.
pub(crate) fn opposite(stretches: Vec<Stretch>) -> Vec<Stretch> {
    let mut out = Vec::with_capacity(stretches.len() + 1);
    let mut low = Cut::Least;
    for (from, to) in stretches {
        out.push((low, from));
        low = to;
    }
    out.push((low, Cut::Most));
    out.retain(|(low, high)| low < high);
    out
}

/// Whether all numbers of the range's kind and divisor are of the unit.
pub(crate) fn is_of_unit(range: &NumberRange, (kind, multiple_of): &Unit) -> bool {
    (*kind == NumberKind::Number || *kind == range.kind) && (multiple_of.is_none() || *multiple_of == range.multiple_of)
}

impl NumberTable {
    /// Numbers of exactly one of the sets. `pay` is told of parts that are put together; once it is false, the answer is
    /// of no use.
    pub fn of_exactly_one(&mut self, sets: &[Numbers], mut pay: impl FnMut(usize) -> bool) -> Numbers {
        let mut placed: Vec<(Stretch, Numbers)> = Vec::with_capacity(sets.len());
        for &numbers in sets.iter().filter(|&&numbers| numbers != Numbers::NONE) {
            placed.push((self.ends(numbers, 0), numbers));
        }
        placed.sort_by(|a, b| a.0.cmp(&b.0));
        let mut once = Vec::with_capacity(placed.len());
        let mut rest = placed.as_slice();
        while let Some(((_, high), _)) = rest.first() {
            // Those that lie one upon the other.
            let (mut len, mut high) = (1, high);
            while let Some(((_, other), _)) = rest.get(len).filter(|((low, _), _)| low < high) {
                high = high.max(other);
                len += 1;
            }
            let (group, others) = rest.split_at(len);
            let group: Vec<Numbers> = group.iter().map(|(_, numbers)| *numbers).collect();
            once.push(self.of_exactly_one_overlapping(&group, &mut pay));
            rest = others;
        }
        self.union(&once)
    }

    /// Where a set begins and ends at most.
    fn ends(&self, numbers: Numbers, depth: usize) -> Stretch {
        let at = |value: &Decimal, is_behind: bool| Cut::At(value.clone(), is_behind);
        match self.get(numbers) {
            NumberSet::Range(range) => stretch_of(range),
            NumberSet::Values(values) => {
                let ends = values.first().zip(values.last());
                ends.map_or((Cut::Least, Cut::Most), |(first, last)| (at(first, false), at(last, true)))
            }
            NumberSet::Or(parts) if depth < DEPTH_MAX => {
                let all = parts.iter().map(|&part| self.ends(part, depth + 1));
                all.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or((Cut::Least, Cut::Most))
            }
            NumberSet::And(parts) if depth < DEPTH_MAX => {
                let all = parts.iter().map(|&part| self.ends(part, depth + 1));
                all.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1))).unwrap_or((Cut::Least, Cut::Most))
            }
            _ => (Cut::Least, Cut::Most),
        }
    }

    fn of_exactly_one_overlapping(&mut self, sets: &[Numbers], pay: &mut impl FnMut(usize) -> bool) -> Numbers {
        if let &[only] = sets {
            return only;
        }
        let mut counted = Vec::new();
        let mut values: IndexMap<Decimal, usize, FxBuildHasher> = IndexMap::default();
        let mut by_unit: IndexMap<Unit, Vec<Stretch>, FxBuildHasher> = IndexMap::default();
        for &numbers in sets {
            if let NumberSet::Values(listed) = self.get(numbers) {
                listed.iter().for_each(|value| *values.entry(value.clone()).or_default() += 1);
            } else if let Some((unit, stretches)) = self.stretches(numbers) {
                by_unit.entry(unit).or_default().extend(stretches);
            } else {
                counted.push(Counted { once: numbers, any: numbers });
            }
        }
        if !values.is_empty() {
            let once = values.iter().filter(|&(_, &count)| count == 1).map(|(value, _)| value.clone()).collect();
            let once = self.values(once);
            counted.push(Counted { once, any: self.values(values.into_keys().collect()) });
        }
        for (unit, stretches) in by_unit {
            let once = self.ranges(swept(&stretches, |depth| depth == 1), &unit);
            counted.push(Counted { once, any: self.ranges(swept(&stretches, |depth| depth > 0), &unit) });
        }
        let mut both = Counted { once: Numbers::NONE, any: Numbers::NONE };
        for more in counted {
            let parts = [both.once, both.any, more.once, more.any].map(|numbers| 1 + self.get(numbers).parts().len());
            if !pay(parts.into_iter().sum()) {
                break;
            }
            both = self.either_once(both, more);
        }
        both.once
    }

    fn either_once(&mut self, a: Counted, b: Counted) -> Counted {
        let (not_a, not_b) = (self.not(a.any), self.not(b.any));
        let (of_a, of_b) = (self.and(a.once, not_b), self.and(b.once, not_a));
        Counted { once: self.union(&[of_a, of_b]), any: self.union(&[a.any, b.any]) }
    }

    /// A range, or a union of ranges of one unit: what they cover.
    pub fn stretches(&self, numbers: Numbers) -> Option<(Unit, Vec<Stretch>)> {
        let unit = |range: &NumberRange| (range.kind, range.multiple_of.clone());
        match self.get(numbers) {
            NumberSet::Range(range) => Some((unit(range), vec![stretch_of(range)])),
            NumberSet::Or(parts) => {
                let ranges: Option<Vec<&NumberRange>> = parts.iter().map(|&part| self.as_range(part)).collect();
                let ranges = ranges?;
                let common = unit(ranges.first()?);
                let stretches: Vec<Stretch> = ranges.iter().map(|range| stretch_of(range)).collect();
                let is_common = ranges.iter().all(|range| unit(range) == common);
                is_common.then(|| (common, swept(&stretches, |depth| depth > 0)))
            }
            _ => None,
        }
    }

    /// The numbers of a unit within any of the stretches.
    pub fn ranges(&mut self, stretches: Vec<Stretch>, unit: &Unit) -> Numbers {
        let ranges: Vec<Numbers> =
            stretches.into_iter().map(|stretch| self.interval(range_of(stretch, unit))).collect();
        self.union(&ranges)
    }
}

impl Normalizer<'_> {
    /// Numbers of exactly one of the sets.
    pub fn one_number_set(&mut self, sets: &[Numbers]) -> Numbers {
        if !self.charge(sets.len() as u64) {
            return Numbers::NONE;
        }
        let left = self.work_left();
        let mut work = 0;
        let once = self.numbers.of_exactly_one(sets, |parts| {
            work += parts as u64;
            work <= left
        });
        if self.charge(work) { once } else { Numbers::NONE }
    }

    /// Texts of exactly one of the languages.
    pub fn one_language(&mut self, languages: &[RegexId]) -> RegexId {
        let mut listed: IndexMap<RegexId, usize, FxBuildHasher> = IndexMap::default();
        let mut others = Vec::new();
        for &language in languages.iter().filter(|&&language| *self.set.node(language) != RegexNode::Nothing) {
            match self.literals(language) {
                Some(texts) => texts.into_iter().for_each(|text| *listed.entry(text).or_default() += 1),
                None => others.push(language),
            }
        }
        self.charge(listed.len() as u64);
        let once: Vec<RegexId> = listed.iter().filter(|&(_, &count)| count == 1).map(|(&text, _)| text).collect();
        let mut once = self.set.or(&once);
        let mut any = self.set.or(&listed.into_keys().collect::<Vec<_>>());
        for language in others {
            let parts = [once, any].map(|regex| match self.set.node(regex) {
                RegexNode::Or(parts) => parts.len() as u64,
                _ => 1,
            });
            if !self.charge(parts.into_iter().sum()) {
                return self.set.nothing();
            }
            let (fresh, other) = (self.not_text(any), self.not_text(language));
            let new = self.and_text(language, fresh);
            let still = self.and_text(once, other);
            once = self.set.or(&[new, still]);
            any = if language == self.any_text { language } else { self.set.or(&[any, language]) };
        }
        once
    }
}
