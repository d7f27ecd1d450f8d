//! How sets of numbers are written: from values to languages of texts.
//!
//! *Plain* texts have no exponent. With exponents a text is `m e k`, of a plain mantissa `m`; its value is in a set iff
//! that of `m` is in the set times `10^-k`, which is a set of the same kind. That holds for each `k`, and only finitely
//! many can be tried, since "so many zeros as the exponent says" is no regular language. Hence the texts that are
//! written with [`NumberSpelling::Any`]:
//!
//! - all texts with an exponent from `-E` to `E`, where `E` is 20; 6 where a set is an intersection or a complement that
//!   arithmetic cannot simplify; 3 where there are more than 4,096 multiples up to a bound and remainders tell them apart, and
//!   1 where the divisor has more than three digits, too; less where it is made of many long numbers beside others;
//! - beyond it, texts in scientific notation (one digit other than 0 before the point) where the exponent alone decides:
//!   every bound and value has its own exponent tried, and between these no number differs from another of its sign;
//! - 0 with any exponent, all numbers with any exponent, integers without a fraction with any exponent from 0 up.
//!
//! Within these texts each set has all the texts of its values, and no others.

use larkspur_grammar::number::{
    Bound, Decimal, NumberKind, NumberRange, number_regex, number_regex_without_minus_zero,
};
use larkspur_grammar::{ByteSet, Limits, RegexId, RegexSet};
use rustc_hash::FxHashMap;

use crate::number_automata::Texts;
use crate::numbers::{NumberSet, NumberTable, Numbers};
use crate::spelling::NumberSpelling;

/// The largest exponent that every mantissa may have, where the set is constrained.
pub(crate) const EXPONENT_MAX: i64 = 20;
/// The same where the texts are intersected: what is empty of an intersection takes a search for each exponent.
const EXPONENT_MAX_SEARCHED: i64 = 6;
/// The same where remainders are computed of bounded numbers, which takes such a search for each number of zeros, too.
const EXPONENT_MAX_BOUNDED: i64 = 3;
/// The same where the divisor has more than [`DIVISOR_DIGITS_FEW`] digits.
const EXPONENT_MAX_BOUNDED_LONG: i64 = 1;
const DIVISOR_DIGITS_FEW: usize = 3;
/// Multiples between two bounds that are listed instead, at most.
const MULTIPLES_MAX: u64 = 4_096;
/// Digits written out for all exponents of one set, about.
const WINDOW_DIGITS_MAX: u64 = 300_000;
/// Exponents beyond the window that are tried one by one, at most, and how far they may be.
const SINGLE_MAX: usize = 8;
const SINGLE_EXPONENT_MAX: i64 = 5_000;
/// Digits behind the point in scientific notation, where these matter.
const FRACTION_MAX: u32 = 20;
/// Digits of an exponent, leading zeros apart, so that every value that is compared can be computed.
const EXPONENT_DIGITS_MAX: u32 = 16;

/// Which of the texts of a set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Extent {
    /// All that can be said.
    All,
    /// Only those of which each value has a regular language: see [`value_texts`].
    Comparable,
}

impl NumberTable {
    /// The texts of a set. Many properties have the same.
    pub fn texts(&mut self, id: Numbers, spelling: NumberSpelling, extent: Extent, set: &mut RegexSet) -> RegexId {
        if let Some(&known) = self.written.get(&(id, spelling, extent)) {
            return known;
        }
        let regex = self.make_texts(id, spelling, extent, set);
        self.written.insert((id, spelling, extent), regex);
        regex
    }

    fn make_texts(&mut self, id: Numbers, spelling: NumberSpelling, extent: Extent, set: &mut RegexSet) -> RegexId {
        match (spelling, extent) {
            (NumberSpelling::Any, Extent::All) if id == Numbers::ALL => free(set),
            (NumberSpelling::Any, _) => {
                let mut ways = Vec::new();
                for part in self.parts_of_texts(id) {
                    ways.extend(self.with_exponents(part, set));
                }
                if id == Numbers::INTEGERS && extent == Extent::All {
                    ways.push(powers_of_integers(set));
                }
                set.or(&ways)
            }
            (NumberSpelling::Plain, Extent::All) => self.written(id, true, set),
            (NumberSpelling::Plain, Extent::Comparable) => self.written(id, false, set),
        }
    }

    /// The texts of `integers` without fraction and exponent, and those of `others` with one of them.
    pub fn texts_by_spelling(
        &mut self,
        integers: Numbers,
        others: Numbers,
        spelling: NumberSpelling,
        extent: Extent,
        set: &mut RegexSet,
    ) -> RegexId {
        let integers = self.and(integers, Numbers::INTEGERS);
        // Zero is the only integer with two such texts, of which the plain profile writes one where there are bounds.
        let has_zero = spelling == NumberSpelling::Any && self.contains(integers, &Decimal::zero()) == Some(true);
        let mut integers = self.written(integers, false, set);
        if has_zero {
            let minus_zero = set.literal(b"-0");
            integers = set.or(&[integers, minus_zero]);
        }
        if others == Numbers::NONE {
            return integers;
        }
        let others = self.texts(others, spelling, extent, set);
        let all_integers = self.written(Numbers::INTEGERS, false, set);
        let not_integers = set.not(all_integers);
        let others = set.and(&[others, not_integers]);
        set.or(&[integers, others])
    }

    /// All plain texts of the set's values.
    pub fn closed(&mut self, id: Numbers, set: &mut RegexSet) -> RegexId {
        if let Some(&known) = self.closed.get(&id) {
            return known;
        }
        if let Some(regex) = self.automaton(id, Texts::Closed, set) {
            return regex;
        }
        let mut known = std::mem::take(&mut self.closed);
        for part in self.reachable(id) {
            if known.contains_key(&part) {
                continue;
            }
            let regex = match self.get(part) {
                NumberSet::Range(range) => range_texts(range, set).expect("the range was checked when it was made"),
                NumberSet::Values(values) => values_texts(values, 0, set),
                other => combined(other, |part| Some(known[&part]), set).expect("all parts are known"),
            };
            known.insert(part, regex);
        }
        let regex = known[&id];
        self.closed = known;
        regex
    }

    /// The texts of the plain profile: integers and constants without a fraction of zeros. Each value keeps its shortest
    /// text, so that what is left out is only another way to write it.
    fn written(&mut self, id: Numbers, with_exponents: bool, set: &mut RegexSet) -> RegexId {
        if let Some(regex) = self.automaton(id, Texts::Written, set) {
            return regex;
        }
        let mut known: FxHashMap<Numbers, (RegexId, RegexId)> = FxHashMap::default();
        for part in self.reachable(id) {
            let pair = match self.get(part) {
                NumberSet::All => (all_plain(set), if with_exponents { free(set) } else { all_plain(set) }),
                NumberSet::Range(range) => {
                    (range_texts(range, set).expect("the range was checked when it was made"), range_regex(range, set))
                }
                NumberSet::Values(values) => (values_texts(values, 0, set), shortest_texts(values, set)),
                NumberSet::Not(_) => {
                    let not = combined(self.get(part), |part| Some(known[&part].0), set).expect("known");
                    (not, not)
                }
                other => (
                    combined(other, |part| Some(known[&part].0), set).expect("known"),
                    combined(other, |part| Some(known[&part].1), set).expect("known"),
                ),
            };
            known.insert(part, pair);
        }
        known[&id].1
    }

    /// The texts with and without exponents.
    fn with_exponents(&self, id: Numbers, set: &mut RegexSet) -> Vec<RegexId> {
        if let NumberSet::Values(values) = self.get(id) {
            return vec![all_texts(values, set)];
        }
        let parts = self.reachable(id);
        let window = self.window(&parts, set);
        let mut ways = Vec::new();
        for exponent in -window..=window {
            if let Some(mantissas) = self.mantissas(&parts, exponent, set) {
                let exponent = exponent_text(exponent, set);
                ways.push(set.concat(&[mantissas, exponent]));
            }
        }
        if self.contains(id, &Decimal::zero()) == Some(true) {
            ways.push(zero_texts(set));
        }
        let singles = self.singles(&parts, window);
        for &exponent in singles.iter().flatten() {
            if let Some(mantissas) = self.mantissas(&parts, exponent, set) {
                let scientific = scientific(None, None, set);
                let mantissas = set.and(&[mantissas, scientific]);
                let exponent = exponent_text(exponent, set);
                ways.push(set.concat(&[mantissas, exponent]));
            }
        }
        if let Some(singles) = singles {
            self.between(id, &singles, window, &mut ways, set);
        }
        ways
    }

    /// Parts of a set of which the texts are made apart: of bounded multiples of which remainders are computed the numbers of each
    /// sign, listed where they are few.
    fn parts_of_texts(&mut self, id: Numbers) -> Vec<Numbers> {
        let is_hard = |this: &Self, part: Numbers| match this.get(part) {
            NumberSet::Range(range) => range.has_remainders() && (range.minimum.is_some() || range.maximum.is_some()),
            _ => false,
        };
        let parts = match self.get(id) {
            NumberSet::Or(parts) if parts.iter().any(|&part| is_hard(self, part)) => parts.to_vec(),
            _ => vec![id],
        };
        let mut apart = Vec::new();
        for part in parts {
            let range = match self.get(part) {
                NumberSet::Range(range) if is_hard(self, part) => NumberRange::clone(range),
                _ => {
                    apart.push(part);
                    continue;
                }
            };
            let signs = [range.clone().at_most(Decimal::zero(), true), range.at_least(Decimal::zero(), false)];
            apart.extend(signs.map(|range| match range.few_values(MULTIPLES_MAX) {
                Some(values) => self.values(values),
                None => self.interval(range),
            }));
        }
        apart.retain(|&part| part != Numbers::NONE);
        apart
    }

    /// How far exponents go that every mantissa may have.
    fn window(&self, parts: &[Numbers], set: &RegexSet) -> i64 {
        let digits = |value: &Decimal| {
            let len = value.digits().len() as u64;
            len.max(value.point().unsigned_abs()).max((len as i64 - value.point()).unsigned_abs()) + 4
        };
        let mut sum = 8;
        for &part in parts {
            sum += match self.get(part) {
                NumberSet::Range(range) => {
                    let bounds = range.minimum.iter().chain(&range.maximum).map(|bound| &bound.value);
                    8 + bounds.chain(&range.multiple_of).map(digits).sum::<u64>()
                }
                NumberSet::Values(values) => values.iter().map(digits).sum(),
                _ => 2,
            };
        }
        let left = Limits::default().regex_nodes_max.saturating_sub(set.len()) as u64 / 16;
        let tries = WINDOW_DIGITS_MAX.min(left) / sum;
        let most = |part: &Numbers| match self.get(*part) {
            NumberSet::And(_) | NumberSet::Not(_) => EXPONENT_MAX_SEARCHED,
            NumberSet::Range(range) if range.has_remainders() && ends(range) => match &range.multiple_of {
                Some(divisor) if divisor.digits().len() > DIVISOR_DIGITS_FEW => EXPONENT_MAX_BOUNDED_LONG,
                _ => EXPONENT_MAX_BOUNDED,
            },
            _ => EXPONENT_MAX,
        };
        let most = parts.iter().map(most).min().unwrap_or(EXPONENT_MAX);
        ((tries.saturating_sub(1) / 2) as i64).min(most)
    }

    /// The exponents outside the window at which bounds and values stand, sorted; `None` if these are too many.
    fn singles(&self, parts: &[Numbers], window: i64) -> Option<Vec<i64>> {
        let mut singles = Vec::new();
        for &part in parts {
            let values: Vec<&Decimal> = match self.get(part) {
                NumberSet::Range(range) => {
                    range.minimum.iter().chain(&range.maximum).map(|bound| &bound.value).collect()
                }
                NumberSet::Values(values) => values.iter().collect(),
                _ => continue,
            };
            for value in values.into_iter().filter(|value| !value.is_zero()) {
                let exponent = value.point() - 1;
                if exponent.abs() > window && !singles.contains(&exponent) {
                    if singles.len() == SINGLE_MAX || exponent.abs() > SINGLE_EXPONENT_MAX {
                        return None;
                    }
                    singles.push(exponent);
                }
            }
        }
        singles.sort_unstable();
        Some(singles)
    }

    /// The mantissas that have values of the set with this exponent; `None` if that cannot be said.
    fn mantissas(&self, parts: &[Numbers], exponent: i64, set: &mut RegexSet) -> Option<RegexId> {
        let mut known: FxHashMap<Numbers, RegexId> = FxHashMap::default();
        for &part in parts {
            let regex = match self.get(part) {
                NumberSet::Range(range) => {
                    let range = range.times_power_of_ten(-exponent).filter(NumberRange::has_cheap_multiples)?;
                    range_texts(&range, set)?
                }
                NumberSet::Values(values) => values_texts(values, -exponent, set),
                other => combined(other, |part| known.get(&part).copied(), set)?,
            };
            known.insert(part, regex);
        }
        parts.last().map(|last| known[last])
    }

    /// Numbers in scientific notation whose exponents lie between those that are tried.
    fn between(&self, id: Numbers, singles: &[i64], window: i64, ways: &mut Vec<RegexId>, set: &mut RegexSet) {
        let far = 10i64.pow(EXPONENT_DIGITS_MAX);
        let mut cells: Vec<(i64, i64)> = Vec::new();
        for (first, last) in [(-far, -window - 1), (window + 1, far)] {
            let mut low = first;
            for &edge in singles.iter().filter(|single| (first..=last).contains(single)) {
                cells.push((low, edge - 1));
                low = edge + 1;
            }
            cells.push((low, last));
        }
        let has_unit = |set: &NumberSet| match set {
            NumberSet::Range(range) => range.kind == NumberKind::Integer || range.multiple_of.is_some(),
            _ => false,
        };
        let has_units = self.reachable(id).iter().any(|&part| has_unit(self.get(part)));
        let fraction_max = has_units.then_some(FRACTION_MAX);
        for (low, high) in cells.into_iter().filter(|(low, high)| low <= high) {
            for negative in [false, true] {
                if self.judge(id, |leaf| judge_cell(leaf, low, high, negative)) == Some(true) {
                    let mantissas = scientific(Some(negative), fraction_max, set);
                    let exponents = exponents_between(low, high, set);
                    ways.push(set.concat(&[mantissas, exponents]));
                }
            }
        }
    }
}

/// Whether numbers of one sign, which a bound keeps apart from the others, end at some number.
fn ends(range: &NumberRange) -> bool {
    let ends_above = range.maximum.as_ref().is_some_and(|bound| !bound.value.is_zero() && !bound.value.is_negative());
    let ends_below = range.minimum.as_ref().is_some_and(|bound| bound.value.is_negative());
    ends_above || ends_below
}

/// Whether all numbers of a sign in scientific notation with an exponent from `low` to `high` are in a range or among
/// values, or none of them is. No bound and no value is among them.
fn judge_cell(set: &NumberSet, low: i64, high: i64, negative: bool) -> Option<bool> {
    let range = match set {
        NumberSet::Range(range) => range,
        NumberSet::Values(_) => return Some(false),
        _ => return None,
    };
    let some = Decimal::from(if negative { -5 } else { 5 }).times_power_of_ten(low);
    let interval = NumberRange { kind: NumberKind::Number, multiple_of: None, ..NumberRange::clone(range) };
    if interval.contains(&some) == Some(false) {
        return Some(false);
    }
    let one = Decimal::from(1);
    let units: Vec<&Decimal> =
        range.multiple_of.iter().chain((range.kind == NumberKind::Integer).then_some(&one)).collect();
    // The exponents of the last digits; the values are below `10^(high + 1)`.
    if units.iter().any(|unit| high < unit.point() - 1) {
        return Some(false);
    }
    let divides = |unit: &&Decimal| unit.digits() == [1] && low - i64::from(FRACTION_MAX) >= unit.point() - 1;
    if units.iter().all(divides) { Some(true) } else { None }
}

/// The texts of one value, of all that any set has with [`Extent::Comparable`].
pub(crate) fn value_texts(value: &Decimal, spelling: NumberSpelling, set: &mut RegexSet) -> RegexId {
    let values = std::slice::from_ref(value);
    if spelling == NumberSpelling::Plain { values_texts(values, 0, set) } else { all_texts(values, set) }
}

/// All texts of values with exponents.
fn all_texts(values: &[Decimal], set: &mut RegexSet) -> RegexId {
    let texts = set.values(values.iter().filter(|value| !value.is_zero()).cloned(), EXPONENT_MAX as u8);
    if values.iter().any(Decimal::is_zero) {
        let zero = zero_texts(set);
        return set.or(&[zero, texts]);
    }
    texts
}

/// A combination of sets within the plain texts.
fn combined(
    number_set: &NumberSet,
    mut of: impl FnMut(Numbers) -> Option<RegexId>,
    set: &mut RegexSet,
) -> Option<RegexId> {
    let mut all = |parts: &[Numbers]| parts.iter().map(|&part| of(part)).collect::<Option<Vec<RegexId>>>();
    Some(match number_set {
        NumberSet::None => set.nothing(),
        NumberSet::All => all_plain(set),
        NumberSet::And(parts) => set.and(&all(parts)?),
        NumberSet::Or(parts) => set.or(&all(parts)?),
        NumberSet::Not(part) => {
            let (not, any) = (set.not(of(*part)?), all_plain(set));
            set.and(&[not, any])
        }
        NumberSet::Range(_) | NumberSet::Values(_) => return None,
    })
}

/// What has been checked when a range was made is not checked again.
fn unlimited() -> Limits {
    Limits { regex_nodes_max: usize::MAX, ..Limits::default() }
}

/// The shortest texts of a range's values, and those with zeros behind a fraction; without bounds also `-0`.
fn range_regex(range: &NumberRange, set: &mut RegexSet) -> RegexId {
    let is_bounded = range.minimum.is_some() || range.maximum.is_some();
    let regex = if is_bounded { number_regex_without_minus_zero } else { number_regex };
    regex(range, &unlimited(), set).expect("the range was checked when it was made")
}

/// All plain texts of a range's values; `None` if its divisor is too long.
fn range_texts(range: &NumberRange, set: &mut RegexSet) -> Option<RegexId> {
    if *range == NumberRange::all(NumberKind::Number) {
        return Some(all_plain(set));
    }
    if range.is_empty() {
        return Some(set.nothing());
    }
    let regex = number_regex(range, &unlimited(), set).ok()?;
    Some(if range.kind == NumberKind::Integer { with_zeros(set, regex) } else { regex })
}

/// All plain texts of the values times `10^power`.
fn values_texts(values: &[Decimal], power: i64, set: &mut RegexSet) -> RegexId {
    let (mut whole, mut fractions) = (Vec::new(), Vec::new());
    for value in values {
        let value = value.times_power_of_ten(power);
        if value.is_zero() {
            whole.push(set.literal(b"0"));
            whole.push(set.literal(b"-0"));
        } else if value.is_integer() {
            whole.push(shortest(&value, set));
        } else {
            fractions.push(shortest(&value, set));
        }
    }
    let (whole, fractions) = (set.or(&whole), set.or(&fractions));
    let whole = with_zeros(set, whole);
    let zero = set.literal(b"0");
    let zeros = set.repeat(zero, 0, None);
    let fractions = set.concat(&[fractions, zeros]);
    set.or(&[whole, fractions])
}

fn shortest_texts(values: &[Decimal], set: &mut RegexSet) -> RegexId {
    let texts: Vec<RegexId> = values.iter().map(|value| shortest(value, set)).collect();
    set.or(&texts)
}

/// The shortest plain text; long runs of zeros are counted, not written out.
fn shortest(value: &Decimal, set: &mut RegexSet) -> RegexId {
    const WRITTEN_OUT: i64 = 64;
    let (len, point) = (value.digits().len() as i64, value.point());
    let digits: Vec<u8> = value.digits().iter().map(|digit| b'0' + digit).collect();
    let sign = set.literal(if value.is_negative() { b"-" } else { b"" });
    let zeros = |count: i64, set: &mut RegexSet| {
        if count <= WRITTEN_OUT {
            return set.literal("0".repeat(count as usize).as_bytes());
        }
        let (zero, count) = (set.literal(b"0"), u32::try_from(count).unwrap_or(u32::MAX - 1));
        set.repeat(zero, count, Some(count))
    };
    if value.is_zero() {
        set.literal(b"0")
    } else if point <= 0 {
        let (point, zeros, digits) = (set.literal(b"0."), zeros(-point, set), set.literal(&digits));
        set.concat(&[sign, point, zeros, digits])
    } else if point >= len {
        let (digits, zeros) = (set.literal(&digits), zeros(point - len, set));
        set.concat(&[sign, digits, zeros])
    } else {
        let (whole, fraction) = digits.split_at(point as usize);
        let text = set.literal(&[whole, b".", fraction].concat());
        set.concat(&[sign, text])
    }
}

fn digits(low: u8, high: u8, min: u32, max: Option<u32>, set: &mut RegexSet) -> RegexId {
    let digit = set.bytes(ByteSet::range(low, high));
    set.repeat(digit, min, max)
}

fn one_of(bytes: &[u8], set: &mut RegexSet) -> RegexId {
    let mut all = ByteSet::EMPTY;
    bytes.iter().for_each(|&byte| all.insert(byte));
    set.bytes(all)
}

/// `-?(0|[1-9][0-9]*)`.
fn integer(set: &mut RegexSet) -> RegexId {
    let minus = set.literal(b"-");
    let sign = set.optional(minus);
    let (first, more, zero) =
        (digits(b'1', b'9', 1, Some(1), set), digits(b'0', b'9', 0, None, set), set.literal(b"0"));
    let long = set.concat(&[first, more]);
    let whole = set.or(&[zero, long]);
    set.concat(&[sign, whole])
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?`.
fn all_plain(set: &mut RegexSet) -> RegexId {
    let (integer, point, fraction) = (integer(set), set.literal(b"."), digits(b'0', b'9', 1, None, set));
    let fraction = set.concat(&[point, fraction]);
    let fraction = set.optional(fraction);
    set.concat(&[integer, fraction])
}

/// Every JSON number.
fn free(set: &mut RegexSet) -> RegexId {
    let all = NumberRange::all(NumberKind::Number);
    number_regex(&all, &unlimited(), set).expect("all numbers have a regex")
}

/// `integers(\.0+)?`.
fn with_zeros(set: &mut RegexSet, integers: RegexId) -> RegexId {
    let (point, zeros) = (set.literal(b"."), digits(b'0', b'0', 1, None, set));
    let fraction = set.concat(&[point, zeros]);
    let fraction = set.optional(fraction);
    set.concat(&[integers, fraction])
}

/// `integer(\.0+)?[eE]\+?[0-9]+`.
fn powers_of_integers(set: &mut RegexSet) -> RegexId {
    let integer = integer(set);
    let mantissa = with_zeros(set, integer);
    let (e, plus, digits) = (one_of(b"eE", set), set.literal(b"+"), digits(b'0', b'9', 1, None, set));
    let plus = set.optional(plus);
    set.concat(&[mantissa, e, plus, digits])
}

/// `-?0(\.0+)?`, with any exponent or none.
fn zero_texts(set: &mut RegexSet) -> RegexId {
    let zero = set.literal(b"0");
    let minus_zero = set.literal(b"-0");
    let zero = set.or(&[zero, minus_zero]);
    let zero = with_zeros(set, zero);
    let (e, sign, digits) = (one_of(b"eE", set), one_of(b"+-", set), digits(b'0', b'9', 1, None, set));
    let sign = set.optional(sign);
    let exponent = set.concat(&[e, sign, digits]);
    let exponent = set.optional(exponent);
    set.concat(&[zero, exponent])
}

/// One digit other than 0 before the point, and so many behind it; of one sign if that is given.
fn scientific(negative: Option<bool>, fraction_max: Option<u32>, set: &mut RegexSet) -> RegexId {
    let minus = set.literal(b"-");
    let sign = match negative {
        None => set.optional(minus),
        Some(true) => minus,
        Some(false) => set.epsilon(),
    };
    let (first, point, fraction) =
        (digits(b'1', b'9', 1, Some(1), set), set.literal(b"."), digits(b'0', b'9', 1, fraction_max, set));
    let fraction = set.concat(&[point, fraction]);
    let fraction = set.optional(fraction);
    set.concat(&[sign, first, fraction])
}

/// All ways to write an exponent; 0 may also be left out.
fn exponent_text(exponent: i64, set: &mut RegexSet) -> RegexId {
    let value = Decimal::from(exponent.abs());
    let digits = shortest(&value, set);
    signed_exponent(exponent.signum(), digits, set)
}

/// All ways to write the exponents from `low` to `high`, which have one sign.
fn exponents_between(low: i64, high: i64, set: &mut RegexSet) -> RegexId {
    let (from, to) = (low.abs().min(high.abs()), low.abs().max(high.abs()));
    let bound = |value: i64| Some(Bound { value: Decimal::from(value), exclusive: false });
    let range = NumberRange { minimum: bound(from), maximum: bound(to), ..NumberRange::all(NumberKind::Integer) };
    let digits = number_regex(&range, &unlimited(), set).expect("the bounds are in order");
    signed_exponent(low.signum(), digits, set)
}

fn signed_exponent(sign: i64, value: RegexId, set: &mut RegexSet) -> RegexId {
    let (e, zeros) = (one_of(b"eE", set), digits(b'0', b'0', 0, None, set));
    let mark = match sign {
        0 => one_of(b"+-", set),
        1 => set.literal(b"+"),
        _ => set.literal(b"-"),
    };
    let mark = if sign < 0 { mark } else { set.optional(mark) };
    let text = set.concat(&[e, mark, zeros, value]);
    if sign == 0 { set.optional(text) } else { text }
}
