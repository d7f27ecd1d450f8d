//! Sets of numbers, by value: ranges, multiples, single values, and their Boolean combinations.
//!
//! A set is an entry of a [`NumberTable`], not yet a language of texts: that is made when the set is written
//! ([`number_texts`](crate::number_texts)), so that all that is said of a set holds by value, whatever ways of writing a
//! number the profile has. What can be said in arithmetic is simplified at once: intersections of ranges, values
//! within a set, opposites of intervals.

use larkspur_grammar::number::{Bound, Decimal, NumberError, NumberKind, NumberRange, number_regex};
use larkspur_grammar::{IndexVec, Limits, RegexId, RegexSet, define_id};
use rustc_hash::FxHashMap;

use crate::emptiness::Search;
use crate::number_texts::Extent;
use crate::once::{is_of_unit, opposite};
use crate::spelling::NumberSpelling;

/// Digits of a constant that is written out, at most.
pub(crate) const DIGITS_MAX: i64 = 10_000;

/// Ranges that an intersection of unions is multiplied out to, at most.
const PRODUCT_MAX: usize = 16;

/// Values of a union compared with its other parts, at most; beyond it all stay.
const COMPARED_MAX: usize = 10_000;

/// States of all automata of combinations, at most; beyond it they are written as regexes. 65,536 = 60 ms.
const STATES_MAX: usize = 1 << 16;

define_id! {
    /// A set of numbers.
    pub(crate) struct Numbers = "num";
}

impl Numbers {
    /// No number.
    pub const NONE: Numbers = Numbers(0);
    /// Every number.
    pub const ALL: Numbers = Numbers(1);
    /// Numbers without a fraction.
    pub const INTEGERS: Numbers = Numbers(2);
}

/// What a set is made of; its parts are older entries of the table.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum NumberSet {
    None,
    All,
    /// Not empty; has constraints.
    Range(Box<NumberRange>),
    /// Sorted, at least one.
    Values(Box<[Decimal]>),
    /// All of them; at least two, sorted.
    And(Box<[Numbers]>),
    /// Any of them; at least two, sorted.
    Or(Box<[Numbers]>),
    Not(Numbers),
}

impl NumberSet {
    pub fn parts(&self) -> &[Numbers] {
        match self {
            NumberSet::And(parts) | NumberSet::Or(parts) => parts,
            NumberSet::Not(part) => std::slice::from_ref(part),
            _ => &[],
        }
    }
}

/// All sets of one run; equal ones are one entry.
#[derive(Clone, Debug)]
pub(crate) struct NumberTable {
    sets: IndexVec<Numbers, NumberSet>,
    ids: FxHashMap<NumberSet, Numbers>,
    /// All plain texts of a set's values.
    pub(crate) closed: FxHashMap<Numbers, RegexId>,
    /// The texts of a set as they are written.
    pub(crate) written: FxHashMap<(Numbers, NumberSpelling, Extent), RegexId>,
    /// Whether combinations have numbers, as far as automata say.
    pub(crate) inhabited: FxHashMap<Numbers, Option<bool>>,
    /// States of automata that may yet be made.
    pub(crate) states_left: usize,
}

/// Why a range cannot be written.
pub(crate) enum RangeError {
    NotPositive,
    DivisorTooLarge,
    TooLarge { limit: usize },
}

impl NumberTable {
    pub fn new() -> Self {
        let mut table = Self {
            sets: IndexVec::new(),
            ids: FxHashMap::default(),
            closed: FxHashMap::default(),
            written: FxHashMap::default(),
            inhabited: FxHashMap::default(),
            states_left: STATES_MAX,
        };
        let none = table.intern(NumberSet::None);
        let all = table.intern(NumberSet::All);
        let integers = table.intern(NumberSet::Range(Box::new(NumberRange::all(NumberKind::Integer))));
        debug_assert_eq!((none, all, integers), (Numbers::NONE, Numbers::ALL, Numbers::INTEGERS));
        table
    }
    fn intern(&mut self, set: NumberSet) -> Numbers {
        if let Some(&known) = self.ids.get(&set) {
            return known;
        }
        let id = self.sets.push(set.clone());
        self.ids.insert(set, id);
        id
    }
    pub fn get(&self, id: Numbers) -> &NumberSet {
        &self.sets[id]
    }

    /// The numbers of a range.
    ///
    /// Errors: why it cannot be written.
    pub fn range(&mut self, range: NumberRange, set: &mut RegexSet, limits: &Limits) -> Result<Numbers, RangeError> {
        match number_regex(&range, limits, set) {
            Ok(_) => Ok(self.interval(range)),
            Err(NumberError::Empty) => Ok(Numbers::NONE),
            Err(NumberError::DivisorNotPositive) => Err(RangeError::NotPositive),
            Err(NumberError::DivisorTooLong) => Err(RangeError::DivisorTooLarge),
            Err(NumberError::TooLarge { limit, .. }) => Err(RangeError::TooLarge { limit }),
        }
    }
    /// A range that can be written.
    pub(crate) fn interval(&mut self, range: NumberRange) -> Numbers {
        if range.is_empty() {
            return Numbers::NONE;
        }
        let range = range.tightened();
        if let (Some(low), Some(high)) = (&range.minimum, &range.maximum)
            && low.value == high.value
        {
            let only = low.value.clone();
            return self.values(vec![only]);
        }
        match range == NumberRange::all(NumberKind::Number) {
            true => Numbers::ALL,
            false => self.intern(NumberSet::Range(Box::new(range))),
        }
    }
    /// These values.
    pub fn values(&mut self, mut values: Vec<Decimal>) -> Numbers {
        values.sort_unstable();
        values.dedup();
        if values.is_empty() { Numbers::NONE } else { self.intern(NumberSet::Values(values.into())) }
    }

    /// Numbers of both.
    pub fn and(&mut self, a: Numbers, b: Numbers) -> Numbers {
        let mut parts: Vec<Numbers> = Vec::new();
        for part in [a, b] {
            match self.get(part) {
                NumberSet::None => return Numbers::NONE,
                NumberSet::All => {}
                NumberSet::And(inner) => parts.extend(inner),
                _ => parts.push(part),
            }
        }
        self.replace_opposites(&mut parts);
        parts.sort_unstable();
        parts.dedup();
        if let Some(filtered) = self.filtered(&parts) {
            return filtered;
        }
        if let Some(product) = self.product(&parts) {
            return product;
        }
        let parts = self.merged(parts);
        let opposite =
            |part: &Numbers| matches!(self.get(*part), NumberSet::Not(of) if parts.binary_search(of).is_ok());
        if parts.contains(&Numbers::NONE) || parts.iter().any(opposite) {
            return Numbers::NONE;
        }
        match parts.as_slice() {
            [] => Numbers::ALL,
            &[only] => only,
            _ => self.intern(NumberSet::And(parts.into())),
        }
    }
    /// A set that is one range.
    pub(crate) fn as_range(&self, numbers: Numbers) -> Option<&NumberRange> {
        match self.get(numbers) {
            NumberSet::Range(range) => Some(range),
            _ => None,
        }
    }
    /// Of single values those that are in all the parts.
    fn filtered(&mut self, parts: &[Numbers]) -> Option<Numbers> {
        let values = parts.iter().find_map(|&part| match self.get(part) {
            NumberSet::Values(values) => Some(values.clone()),
            _ => None,
        })?;
        let mut kept = Vec::new();
        for value in &values {
            let mut inside = true;
            for &part in parts {
                inside = inside && self.contains(part, value)?;
            }
            if inside {
                kept.push(value.clone());
            }
        }
        Some(self.values(kept))
    }
    /// Of a small union of ranges, and ranges: the union of the intersections.
    fn product(&mut self, parts: &[Numbers]) -> Option<Numbers> {
        let is_simple =
            |this: &Self, part: Numbers| matches!(this.get(part), NumberSet::Range(_) | NumberSet::Values(_));
        if !parts.iter().any(|&part| matches!(self.get(part), NumberSet::Or(_))) {
            return None;
        }
        let mut ways = vec![Numbers::ALL];
        for &part in parts {
            let alternatives: Vec<Numbers> = match self.get(part) {
                NumberSet::Or(inner) if inner.iter().all(|&part| is_simple(self, part)) => inner.to_vec(),
                _ if is_simple(self, part) => vec![part],
                _ => return None,
            };
            let is_product = ways.len().min(alternatives.len()) > 1;
            if is_product && ways.len() * alternatives.len() > PRODUCT_MAX {
                return None;
            }
            let mut next = Vec::with_capacity(ways.len() * alternatives.len());
            for &way in &ways {
                // None of these is a union, so that this is not called again.
                next.extend(alternatives.iter().map(|&other| self.and(way, other)));
            }
            ways = next;
        }
        Some(self.union(&ways))
    }
    /// The parts with one opposite of values in place of several.
    fn left_out(&mut self, mut parts: Vec<Numbers>) -> Vec<Numbers> {
        let listed = |this: &Self, part: Numbers| match *this.get(part) {
            NumberSet::Not(of) if matches!(this.get(of), NumberSet::Values(_)) => Some(of),
            _ => None,
        };
        let lists: Vec<Numbers> = parts.iter().filter_map(|&part| listed(self, part)).collect();
        if lists.len() > 1 {
            parts.retain(|&part| listed(self, part).is_none());
            let all = self.union(&lists);
            parts.push(self.not(all));
        }
        parts
    }
    /// Of the opposites of ranges only the bounds count, where all numbers beside them have the kind and the divisor of
    /// these.
    fn replace_opposites(&mut self, parts: &mut [Numbers]) {
        if !parts.iter().any(|&part| self.as_range(part).is_some()) {
            return;
        }
        let ranges: Vec<NumberRange> = parts.iter().filter_map(|&part| self.as_range(part).cloned()).collect();
        for part in parts {
            let NumberSet::Not(of) = *self.get(*part) else { continue };
            // Most have a divisor that no range has; that is seen without a copy.
            let is_foreign = |divisor: &Decimal| ranges.iter().all(|range| range.multiple_of.as_ref() != Some(divisor));
            if self.as_range(of).and_then(|range| range.multiple_of.as_ref()).is_some_and(is_foreign) {
                continue;
            }
            let Some((unit, stretches)) = self.stretches(of) else { continue };
            if ranges.iter().any(|range| is_of_unit(range, &unit)) {
                let inside = self.ranges(stretches, &(NumberKind::Number, None));
                *part = self.not(inside);
            }
        }
    }
    /// The parts with ranges put together where arithmetic can.
    fn merged(&mut self, parts: Vec<Numbers>) -> Vec<Numbers> {
        let (mut out, mut ranges): (Vec<Numbers>, Vec<NumberRange>) = (Vec::new(), Vec::new());
        for part in self.left_out(parts) {
            let NumberSet::Range(range) = self.get(part).clone() else {
                out.push(part);
                continue;
            };
            let both = ranges.iter().enumerate().find_map(|(at, other)| {
                let both = other.intersection(&range).filter(NumberRange::can_be_written)?;
                Some((at, both))
            });
            match both {
                Some((at, both)) => ranges[at] = both,
                None => ranges.push(*range),
            }
        }
        for range in ranges {
            out.push(self.interval(range));
        }
        out.retain(|&part| part != Numbers::ALL);
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Numbers of any of the sets.
    pub fn union(&mut self, sets: &[Numbers]) -> Numbers {
        let (mut parts, mut values): (Vec<Numbers>, Vec<Decimal>) = (Vec::new(), Vec::new());
        for &part in sets {
            let inner = match self.get(part) {
                NumberSet::Or(inner) => inner.to_vec(),
                _ => vec![part],
            };
            for part in inner {
                match self.get(part) {
                    NumberSet::All => return Numbers::ALL,
                    NumberSet::None => {}
                    NumberSet::Values(more) => values.extend(more.iter().cloned()),
                    _ => parts.push(part),
                }
            }
        }
        parts.sort_unstable();
        parts.dedup();
        if values.len() * parts.len() <= COMPARED_MAX {
            values.retain(|value| !parts.iter().any(|&part| self.contains(part, value) == Some(true)));
        }
        if parts.iter().any(|&part| matches!(self.get(part), NumberSet::Not(of) if parts.binary_search(of).is_ok())) {
            return Numbers::ALL;
        }
        if !values.is_empty() {
            parts.push(self.values(values));
            parts.sort_unstable();
        }
        match parts.as_slice() {
            [] => Numbers::NONE,
            &[only] => only,
            _ => self.intern(NumberSet::Or(parts.into())),
        }
    }

    /// Numbers that are not in the set.
    pub fn not(&mut self, a: Numbers) -> Numbers {
        match self.get(a).clone() {
            NumberSet::None => Numbers::ALL,
            NumberSet::All => Numbers::NONE,
            NumberSet::Not(inner) => inner,
            NumberSet::Range(range) if range.kind == NumberKind::Number && range.multiple_of.is_none() => {
                let all = NumberRange::all(NumberKind::Number);
                let opposite = |bound: &Bound| Bound { value: bound.value.clone(), exclusive: !bound.exclusive };
                let mut outside = Vec::with_capacity(2);
                if let Some(low) = &range.minimum {
                    outside.push(self.interval(NumberRange { maximum: Some(opposite(low)), ..all.clone() }));
                }
                if let Some(high) = &range.maximum {
                    outside.push(self.interval(NumberRange { minimum: Some(opposite(high)), ..all }));
                }
                self.union(&outside)
            }
            NumberSet::Or(_) => match self.stretches(a) {
                Some((unit, stretches)) if unit == (NumberKind::Number, None) => {
                    self.ranges(opposite(stretches), &unit)
                }
                _ => self.intern(NumberSet::Not(a)),
            },
            _ => self.intern(NumberSet::Not(a)),
        }
    }

    /// The entries that a set is made of, itself included, parts first.
    pub fn reachable(&self, id: Numbers) -> Vec<Numbers> {
        let mut seen = rustc_hash::FxHashSet::from_iter([id]);
        let mut stack = vec![id];
        while let Some(top) = stack.pop() {
            stack.extend(self.get(top).parts().iter().copied().filter(|&part| seen.insert(part)));
        }
        let mut all: Vec<Numbers> = seen.into_iter().collect();
        all.sort_unstable();
        all
    }
    /// How many combinations stand within each other.
    fn depth(&self, id: Numbers) -> usize {
        let mut depths: FxHashMap<Numbers, usize> = FxHashMap::default();
        for part in self.reachable(id) {
            let inner = self.get(part).parts().iter().map(|part| depths[part]);
            depths.insert(part, inner.max().map_or(0, |depth| depth + 1));
        }
        depths[&id]
    }
    /// Whether the value is in the set; `None` if a divisor has too many digits to tell.
    pub fn contains(&self, id: Numbers, value: &Decimal) -> Option<bool> {
        self.judge(id, |set| match set {
            NumberSet::Range(range) => range.contains(value),
            NumberSet::Values(values) => Some(values.binary_search(value).is_ok()),
            _ => None,
        })
    }
    /// Whether all of some numbers are in the set, none of them, or (`None`) that is not known; `leaf` says it of ranges
    /// and values.
    pub fn judge(&self, id: Numbers, leaf: impl Fn(&NumberSet) -> Option<bool>) -> Option<bool> {
        let mut known: FxHashMap<Numbers, Option<bool>> = FxHashMap::default();
        for part in self.reachable(id) {
            let set = self.get(part);
            let of = |decides: bool| decided(set.parts().iter().map(|part| known[part]), decides);
            let answer = match set {
                NumberSet::None => Some(false),
                NumberSet::All => Some(true),
                NumberSet::And(_) => of(false),
                NumberSet::Or(_) => of(true),
                NumberSet::Not(part) => known[part].map(|is| !is),
                leaf_set => leaf(leaf_set),
            };
            known.insert(part, answer);
        }
        known[&id]
    }
    /// Whether there is certainly no number in the set.
    pub fn is_empty(&mut self, id: Numbers, set: &mut RegexSet, search: &mut Search) -> bool {
        match self.get(id) {
            NumberSet::None => true,
            NumberSet::All | NumberSet::Range(_) | NumberSet::Values(_) => false,
            NumberSet::Or(parts) => parts.clone().iter().all(|&part| self.is_empty(part, set, search)),
            NumberSet::And(_) | NumberSet::Not(_) => match self.has_number(id) {
                Some(has_number) => !has_number,
                None => {
                    let closed = self.closed(id, set);
                    search.is_empty_combination(set, closed, self.depth(id)) == Some(true)
                }
            },
        }
    }
}

/// What one of the parts decides if it is so; otherwise that none does, if all are known.
pub(crate) fn decided(parts: impl Iterator<Item = Option<bool>>, decides: bool) -> Option<bool> {
    let mut is_known = true;
    for part in parts {
        match part {
            Some(is) if is == decides => return Some(decides),
            Some(_) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(!decides)
}

/// The shortest plain text of a value; `None` if it has over [`DIGITS_MAX`] digits.
pub(crate) fn shortest_text(value: &Decimal) -> Option<String> {
    let (digits, point) = (value.digits(), value.point());
    let len = digits.len() as i64;
    if point.abs() > DIGITS_MAX || len > DIGITS_MAX {
        return None;
    }
    let digits: String = digits.iter().map(|digit| char::from(b'0' + digit)).collect();
    let sign = if value.is_negative() { "-" } else { "" };
    Some(if value.is_zero() {
        "0".to_owned()
    } else if point <= 0 {
        format!("{sign}0.{}{digits}", "0".repeat(-point as usize))
    } else if point >= len {
        format!("{sign}{digits}{}", "0".repeat((point - len) as usize))
    } else {
        let (whole, fraction) = digits.split_at(point as usize);
        format!("{sign}{whole}.{fraction}")
    })
}

/// The greatest count of repeated elements or characters.
pub(crate) const COUNT_MAX: u32 = u32::MAX - 1;

/// A count (`minLength` and the like): a whole number from 0 up, `2.0` included; past 64 bits it is the greatest there.
/// `None` if the number is none.
pub(crate) fn count(number: &str) -> Option<u64> {
    let value = Decimal::parse(number)?;
    if value.is_negative() || !value.is_integer() {
        return None;
    }
    Some(shortest_text(&value).and_then(|text| text.parse().ok()).unwrap_or(u64::MAX))
}
