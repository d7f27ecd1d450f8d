//! Boolean combinations of sets of numbers as one automaton over the characters of their plain texts.
//!
//! As regexes, intersections and complements of multiples are a product of states, of which each has to be searched for a
//! text: one for each combination of remainders. Here there is one remainder, by the least common multiple of all divisors,
//! beside where the digits so far stand to each bound and value; states that no text tells apart are then one state.

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use super::multiples::gcd;
use super::{Bound, Decimal, NumberRange};
use crate::dfa::Table;
use crate::regex::{ByteSet, RegexId, RegexSet};

/// Leaves at most.
const LEAVES_MAX: usize = 128;
/// Bounds and values that are told apart at most: two bits of a word each.
const CUTS_MAX: usize = 32;
/// Different divisors at most: a bit of a word each.
const DIVISORS_MAX: usize = 64;
/// The least common multiple of the divisors, at most.
const REMAINDERS_MAX: u64 = 1 << 15;
/// The same of a single one, whose remainders stand beside no others in a regex either.
const REMAINDERS_ALONE_MAX: u64 = 1 << 8;
/// Digits behind the point that count for remainders, at most.
const SCALE_MAX: i64 = 64;
/// States before equal ones are put together, at most.
const STATES_MAX: usize = 1 << 15;

/// The characters of plain texts.
const LETTERS: [u8; 12] = *b"0123456789.-";
const POINT: usize = 10;
const MINUS: usize = 11;
/// In place of a state: no text goes on so.
const NONE: u32 = u32::MAX;
/// In place of a state: it was not asked yet.
const UNKNOWN: u32 = u32::MAX - 1;

/// What numbers are combined of.
#[derive(Clone, Copy, Debug)]
pub enum NumberLeaf<'a> {
    /// Those of a range.
    Range(&'a NumberRange),
    /// These.
    Values(&'a [Decimal]),
}

/// How a number is written, for combinations in which not all ways will do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlainText {
    /// With a point and digits behind it.
    pub has_point: bool,
    /// Without zeros at the end of a fraction, and without the sign of `-0`.
    pub is_shortest: bool,
}

/// A Boolean combination of leaves.
pub trait NumberCombination {
    /// Whether a text is one of the combination's, given which of the leaves have its value. `text` is `None` for what texts begin
    /// with: then the answer is for all that go on so, and what is not known of a leaf is `None`, as is what is not known of the
    /// combination.
    fn holds(&mut self, leaves: &[Option<bool>], text: Option<PlainText>) -> Option<bool>;
    /// Whether [`PlainText::is_shortest`] counts; otherwise it is always true.
    fn asks_for_shortest(&self) -> bool;
}

/// The plain texts (without exponent) of a combination. `None` if the automaton would be too large: then intersections and
/// complements do. States that were made are taken off `states_left`, and no more are made than there are.
///
/// Cost: a third of a microsecond for a state; up to 10 ms.
pub fn combined_numbers(
    leaves: &[NumberLeaf],
    combination: &mut impl NumberCombination,
    states_left: &mut usize,
    set: &mut RegexSet,
) -> Option<RegexId> {
    let reader = Reader::new(leaves, combination.asks_for_shortest())?;
    let listed = Judge::new(&reader, combination, states_left).states()?;
    Some(listed.live().reduced().written(set))
}

/// Whether a combination has a plain text. `None` and cost: as of [`combined_numbers`], but the search ends at the first text.
pub fn is_number_in(
    leaves: &[NumberLeaf],
    combination: &mut impl NumberCombination,
    states_left: &mut usize,
) -> Option<bool> {
    let reader = Reader::new(leaves, combination.asks_for_shortest())?;
    Judge::new(&reader, combination, states_left).has_text()
}

/// A bound or a value without its sign, as digits.
struct Cut {
    value: Decimal,
    whole: Vec<u8>,
    fraction: Vec<u8>,
}

/// A leaf by indices of cuts and divisors.
enum Test {
    Range { low: Option<(usize, bool)>, high: Option<(usize, bool)>, divisor: Option<usize> },
    Values(Vec<usize>),
}

/// What is remembered of the characters of a number.
struct Reader {
    cuts: Vec<Cut>,
    tests: Vec<Test>,
    /// Of all divisors, in units of the last digit that counts, as the remainders by it are.
    multiple: u64,
    /// By remainder a bit for each divisor: whether it divides such numbers.
    divides: Vec<u64>,
    /// Remainders by this are all that counts before the point: without a fraction that counts it is ten times them.
    remainders: u64,
    /// Digits behind the point that count for remainders.
    scale: u32,
    /// Powers of 10 up to that, by the multiple.
    powers: Vec<u64>,
    /// Digits before and behind the point that count at all.
    whole_max: u32,
    fraction_max: u32,
    /// Index of the cut at 0.
    zero: usize,
    tells_zeros: bool,
    /// There are bounds or values, or `-0` counts.
    tells_signs: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Phase {
    Start,
    Minus,
    Zero,
    Whole,
    Point,
    Fraction,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct State {
    phase: Phase,
    is_negative: bool,
    /// The last digit of the fraction is 0, if that counts.
    ends_in_zero: bool,
    /// Digits before the point, or behind it if that was read, as far as their number counts.
    len: u32,
    /// How the digits so far stand to those of each cut, two bits each: see [`State::order`].
    orders: u64,
    /// As far as it counts for what follows.
    remainder: u64,
    /// A bit for each divisor: whether it divides what was read.
    divides: u64,
}

impl State {
    fn order(self, cut: usize) -> Ordering {
        match self.orders >> (2 * cut) & 3 {
            0 => Ordering::Equal,
            1 => Ordering::Less,
            _ => Ordering::Greater,
        }
    }
    fn set_order(&mut self, cut: usize, order: Ordering) {
        let bits = match order {
            Ordering::Equal => 0,
            Ordering::Less => 1,
            Ordering::Greater => 2,
        };
        self.orders = self.orders & !(3 << (2 * cut)) | bits << (2 * cut);
    }
}

impl Reader {
    /// `None` if there are too many leaves, bounds and values, or divisors.
    fn new(leaves: &[NumberLeaf], tells_zeros: bool) -> Option<Self> {
        if leaves.len() > LEAVES_MAX {
            return None;
        }
        let mut cuts: Vec<Cut> = Vec::new();
        let mut cut = |value: &Decimal| {
            let known = cuts.iter().position(|cut| cut.value == *value);
            known.or_else(|| {
                // The digits are written out, so that they are counted first.
                let len = value.digits.len() as u64 + value.point.unsigned_abs();
                if cuts.len() == CUTS_MAX || len > STATES_MAX as u64 {
                    return None;
                }
                cuts.push(Cut { value: value.clone(), whole: value.whole(), fraction: value.fraction() });
                Some(cuts.len() - 1)
            })
        };
        let zero = cut(&Decimal::zero())?;
        let mut units: Vec<Decimal> = Vec::new();
        let mut tests = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            tests.push(match leaf {
                NumberLeaf::Values(values) => Test::Values(values.iter().map(&mut cut).collect::<Option<_>>()?),
                NumberLeaf::Range(range) => {
                    let mut end = |bound: &Option<Bound>| match bound {
                        Some(bound) => cut(&bound.value).map(|cut| Some((cut, bound.exclusive))),
                        None => Some(None),
                    };
                    let (low, high) = (end(&range.minimum)?, end(&range.maximum)?);
                    let divisor = range.unit().ok()?.map(|unit| {
                        units.iter().position(|known| *known == unit).unwrap_or_else(|| {
                            units.push(unit);
                            units.len() - 1
                        })
                    });
                    Test::Range { low, high, divisor }
                }
            });
        }
        let scale = units.iter().map(|unit| -unit.exponent()).max().unwrap_or(0).max(0);
        if scale > SCALE_MAX {
            return None;
        }
        let divisors = units.iter().map(|unit| {
            let zeros = u32::try_from(unit.exponent() + scale).ok()?;
            unit.mantissa()?.checked_mul(10u64.checked_pow(zeros)?)
        });
        let divisors = divisors.collect::<Option<Vec<u64>>>().filter(|divisors| divisors.len() <= DIVISORS_MAX)?;
        let are_alone = divisors.iter().filter(|&&divisor| divisor > 1).count() <= 1;
        let remainders_max = if are_alone { REMAINDERS_ALONE_MAX } else { REMAINDERS_MAX };
        let multiple = divisors.iter().try_fold(1u64, |multiple, &divisor| {
            let multiple = (multiple / gcd(multiple, divisor)).checked_mul(divisor)?;
            Some(multiple).filter(|&multiple| multiple <= remainders_max)
        })?;
        let mut divides = vec![0; multiple as usize];
        for (index, &divisor) in divisors.iter().enumerate() {
            divides.iter_mut().step_by(divisor as usize).for_each(|bits| *bits |= 1 << index);
        }
        let scale = scale as u32;
        let powers =
            (0..=scale).scan(1 % multiple, |power, _| Some(std::mem::replace(power, *power * 10 % multiple))).collect();
        let longest = |of: fn(&Cut) -> &Vec<u8>| cuts.iter().map(|cut| of(cut).len() as u32).max().unwrap_or(0);
        let remainders = if scale == 0 { multiple / gcd(multiple, 10) } else { multiple };
        let (whole_max, fraction_max) = (longest(|cut| &cut.whole), longest(|cut| &cut.fraction).max(scale));
        let has_cuts = |test: &Test| match test {
            Test::Range { low, high, .. } => low.is_some() || high.is_some(),
            Test::Values(_) => true,
        };
        let tells_signs = tells_zeros || tests.iter().any(has_cuts);
        Some(Self {
            cuts,
            tests,
            multiple,
            divides,
            remainders,
            scale,
            powers,
            whole_max,
            fraction_max,
            zero,
            tells_zeros,
            tells_signs,
        })
    }

    fn start(&self) -> State {
        let (phase, is_negative, ends_in_zero) = (Phase::Start, false, false);
        State { phase, is_negative, ends_in_zero, len: 0, orders: 0, remainder: 0, divides: 0 }
    }

    /// What is remembered after one more character; `None` if no number goes on so.
    fn after(&self, mut state: State, letter: usize) -> Option<State> {
        match (state.phase, letter) {
            (Phase::Start, MINUS) => Some(State { phase: Phase::Minus, is_negative: self.tells_signs, ..state }),
            (Phase::Zero | Phase::Whole, POINT) => Some(self.at_point(state)),
            (_, POINT | MINUS) | (Phase::Zero, _) => None,
            (Phase::Point | Phase::Fraction, digit) => Some(self.after_fraction(state, digit as u8)),
            (Phase::Start | Phase::Minus | Phase::Whole, digit) => {
                let is_zero = digit == 0 && state.phase != Phase::Whole;
                state.phase = if is_zero { Phase::Zero } else { Phase::Whole };
                Some(self.after_whole(state, digit as u8))
            }
        }
    }

    fn after_whole(&self, mut state: State, digit: u8) -> State {
        for (index, cut) in self.cuts.iter().enumerate() {
            match cut.whole.get(state.len as usize) {
                None => state.set_order(index, Ordering::Greater),
                Some(own) if state.order(index) == Ordering::Equal => state.set_order(index, digit.cmp(own)),
                Some(_) => {}
            }
        }
        state.len = (state.len + 1).min(self.whole_max);
        let remainder = self.remainder_after_whole(state.remainder, digit);
        state.divides = self.divides[remainder as usize];
        state.remainder = remainder % self.remainders;
        state
    }

    fn remainder_after_whole(&self, remainder: u64, digit: u8) -> u64 {
        (remainder * 10 + u64::from(digit) * self.powers[self.scale as usize]) % self.multiple
    }

    fn at_point(&self, mut state: State) -> State {
        for (index, cut) in self.cuts.iter().enumerate() {
            if (state.len as usize) < cut.whole.len() {
                state.set_order(index, Ordering::Less);
            }
        }
        self.settled(State { phase: Phase::Point, len: 0, ..state })
    }

    fn after_fraction(&self, mut state: State, digit: u8) -> State {
        for (index, cut) in self.cuts.iter().enumerate() {
            if state.order(index) == Ordering::Equal {
                let own = cut.fraction.get(state.len as usize).copied().unwrap_or(0);
                state.set_order(index, digit.cmp(&own));
            }
        }
        if state.len < self.scale {
            state.remainder = self.remainder_after_fraction(state, digit);
            state.divides = self.divides[state.remainder as usize];
        } else if digit != 0 {
            state.divides = 0;
        }
        state.ends_in_zero = self.tells_zeros && digit == 0;
        state.len = (state.len + 1).min(self.fraction_max);
        self.settled(State { phase: Phase::Fraction, ..state })
    }

    /// Of a digit that counts.
    fn remainder_after_fraction(&self, state: State, digit: u8) -> u64 {
        (state.remainder + u64::from(digit) * self.powers[(self.scale - state.len - 1) as usize]) % self.multiple
    }

    /// Behind the point, without what counts no more.
    fn settled(&self, mut state: State) -> State {
        if state.len >= self.scale {
            state.remainder = 0;
            let is_open = |(index, cut): (usize, &Cut)| {
                state.order(index) == Ordering::Equal && (state.len as usize) < cut.fraction.len()
            };
            if !self.cuts.iter().enumerate().any(is_open) {
                state.len = self.fraction_max;
            }
        }
        state
    }

    /// How the text of a state is written; `None` if it is no number yet.
    fn text(&self, state: State) -> Option<PlainText> {
        let has_point = match state.phase {
            Phase::Start | Phase::Minus | Phase::Point => return None,
            Phase::Zero | Phase::Whole => false,
            Phase::Fraction => true,
        };
        let is_minus_zero = state.is_negative && self.magnitude_to(state, self.zero) == Ordering::Equal;
        Some(PlainText { has_point, is_shortest: !self.tells_zeros || !state.ends_in_zero && !is_minus_zero })
    }

    /// How the number without its sign stands to a cut without its own, if it ends here.
    fn magnitude_to(&self, state: State, cut: usize) -> Ordering {
        let Cut { whole, fraction, .. } = &self.cuts[cut];
        let is_short = match state.phase {
            Phase::Zero | Phase::Whole => (state.len as usize) < whole.len(),
            _ => false,
        };
        let behind_point = if state.phase == Phase::Fraction { state.len as usize } else { 0 };
        match state.order(cut) {
            _ if is_short => Ordering::Less,
            Ordering::Equal if behind_point < fraction.len() => Ordering::Less,
            order => order,
        }
    }

    /// How the number stands to a cut, if it ends here.
    fn order_to(&self, state: State, cut: usize) -> Ordering {
        self.with_sign(state, cut, self.magnitude_to(state, cut))
    }

    fn with_sign(&self, state: State, cut: usize, order: Ordering) -> Ordering {
        match (state.is_negative, self.cuts[cut].value.is_negative()) {
            (false, true) => Ordering::Greater,
            (false, false) => order,
            (true, true) => order.reverse(),
            (true, false) if cut == self.zero => order.reverse(),
            (true, false) => Ordering::Less,
        }
    }

    /// How all numbers that go on so stand to a cut; `None` if not all do the same.
    fn order_to_all(&self, state: State, cut: usize) -> Option<Ordering> {
        let Cut { value, whole, .. } = &self.cuts[cut];
        let is_whole = matches!(state.phase, Phase::Zero | Phase::Whole);
        match state.order(cut) {
            _ if state.phase == Phase::Start => None,
            _ if state.is_negative != value.is_negative() && cut != self.zero => {
                Some(if state.is_negative { Ordering::Less } else { Ordering::Greater })
            }
            Ordering::Equal => None,
            Ordering::Less if state.phase == Phase::Whole => None,
            Ordering::Greater if is_whole && (state.len as usize) < whole.len() => None,
            order => Some(self.with_sign(state, cut, order)),
        }
    }

    /// Which leaves have the number, if it ends here; which have all that go on so, and which none, if it does not.
    fn leaves_at(&self, state: State, is_end: bool, values: &mut Vec<Option<bool>>) {
        let order = |cut| if is_end { Some(self.order_to(state, cut)) } else { self.order_to_all(state, cut) };
        let inside = |end: &Option<(usize, bool)>, wanted: Ordering| match *end {
            None => Some(true),
            Some((cut, is_exclusive)) => order(cut).map(|order| order == wanted || order.is_eq() && !is_exclusive),
        };
        values.clear();
        values.extend(self.tests.iter().map(|test| match test {
            Test::Values(cuts) => any(cuts.iter().map(|&cut| order(cut).map(Ordering::is_eq))),
            Test::Range { low, high, divisor } => {
                let divides = match divisor {
                    None => Some(true),
                    Some(divisor) => is_end.then_some(state.divides >> divisor & 1 == 1),
                };
                let parts = [divides, inside(low, Ordering::Greater), inside(high, Ordering::Less)];
                any(parts.into_iter().map(|part| part.map(|is| !is))).map(|is| !is)
            }
        }));
    }
}

/// Goes through the states.
struct Judge<'a, C> {
    reader: &'a Reader,
    combination: &'a mut C,
    states_left: &'a mut usize,
    states_max: usize,
    /// Kept for its room.
    leaves: Vec<Option<bool>>,
}

impl<'a, C: NumberCombination> Judge<'a, C> {
    fn new(reader: &'a Reader, combination: &'a mut C, states_left: &'a mut usize) -> Self {
        let states_max = STATES_MAX.min(*states_left);
        Self { reader, combination, states_left, states_max, leaves: Vec::with_capacity(reader.tests.len()) }
    }

    /// False once there are too many states.
    fn pay(&mut self) -> bool {
        let has_left = self.states_max > 0;
        if has_left {
            self.states_max -= 1;
            *self.states_left -= 1;
        }
        has_left
    }

    fn accepts(&mut self, state: State) -> bool {
        let text = self.reader.text(state);
        text.is_some() && {
            self.reader.leaves_at(state, true, &mut self.leaves);
            self.combination.holds(&self.leaves, text) == Some(true)
        }
    }

    /// Whether bounds leave nothing of what goes on so.
    fn is_dead(&mut self, state: State) -> bool {
        self.reader.tells_signs && {
            self.reader.leaves_at(state, false, &mut self.leaves);
            self.combination.holds(&self.leaves, None) == Some(false)
        }
    }

    fn has_text(&mut self) -> Option<bool> {
        // What was found last comes first: bounds may ask for many digits.
        let mut agenda = vec![self.reader.start()];
        let mut seen: FxHashSet<State> = FxHashSet::from_iter(agenda.iter().copied());
        while let Some(state) = agenda.pop() {
            if !self.pay() {
                return None;
            }
            if self.accepts(state) {
                return Some(true);
            }
            if !self.is_dead(state) {
                let next = (0..LETTERS.len()).filter_map(|letter| self.reader.after(state, letter));
                agenda.extend(next.filter(|&next| seen.insert(next)));
            }
        }
        Some(false)
    }

    fn states(&mut self) -> Option<Listed> {
        let mut found = Found::new(self.reader);
        let mut listed = Listed { next: Vec::new(), accepting: Vec::new() };
        while let Some(&(frame, residue)) = found.all.get(listed.accepting.len()) {
            if !self.pay() {
                return None;
            }
            let state = found.state(frame, residue);
            let accepts = found.accepts.entry((frame, state.divides)).or_insert_with(|| self.accepts(state));
            listed.accepting.push(*accepts);
            let is_dead = *found.is_dead[frame as usize].get_or_insert_with(|| self.is_dead(state));
            listed.next.push(match is_dead {
                true => [NONE; LETTERS.len()],
                false => std::array::from_fn(|letter| found.after(frame, residue, letter).unwrap_or(NONE)),
            });
        }
        Some(listed)
    }
}

/// The states that were found, numbered. What they remember beside remainders, their *frame*, is one of a few, and goes on
/// whatever the remainders are; these, the *residue*, go on by arithmetic. So a state is found by two numbers.
struct Found<'a> {
    reader: &'a Reader,
    all: Vec<(u32, u32)>,
    ids: FxHashMap<(u32, u32), u32>,
    /// Without remainders.
    frames: Vec<State>,
    frame_ids: FxHashMap<State, u32>,
    /// What follows each frame by each letter, `NONE` if nothing does.
    frames_after: Vec<[u32; LETTERS.len()]>,
    /// Whether bounds leave nothing of what goes on from a frame, once it was asked.
    is_dead: Vec<Option<bool>>,
    /// By frame and what divides the number.
    accepts: FxHashMap<(u32, u64), bool>,
    residues: Residues,
}

/// What states remember of remainders: `remainder` and `divides`, numbered.
struct Residues {
    all: Vec<(u64, u64)>,
    /// By remainder by the multiple.
    of: Vec<u32>,
    /// The same where remainders count no more. Indexed by residue.
    settled: Vec<u32>,
    /// Of what nothing divides.
    none: u32,
}

impl Residues {
    fn new(reader: &Reader) -> Self {
        let mut all: Vec<(u64, u64)> = Vec::new();
        let mut ids: FxHashMap<(u64, u64), u32> = FxHashMap::default();
        let mut id = |all: &mut Vec<(u64, u64)>, residue: (u64, u64)| {
            *ids.entry(residue).or_insert_with(|| {
                all.push(residue);
                all.len() as u32 - 1
            })
        };
        let none = id(&mut all, (0, 0));
        let residue_of = |remainder: u64| (remainder % reader.remainders, reader.divides[remainder as usize]);
        let of = (0..reader.multiple).map(|remainder| id(&mut all, residue_of(remainder))).collect();
        let mut settled = Vec::with_capacity(all.len());
        while let Some(&(_, divides)) = all.get(settled.len()) {
            settled.push(id(&mut all, (0, divides)));
        }
        Self { all, of, settled, none }
    }
}

impl<'a> Found<'a> {
    fn new(reader: &'a Reader) -> Self {
        let mut found = Self {
            reader,
            all: Vec::new(),
            ids: FxHashMap::default(),
            frames: Vec::new(),
            frame_ids: FxHashMap::default(),
            frames_after: Vec::new(),
            is_dead: Vec::new(),
            accepts: FxHashMap::default(),
            residues: Residues::new(reader),
        };
        let start = found.frame(reader.start());
        found.id(start, found.residues.none);
        found
    }

    fn state(&self, frame: u32, residue: u32) -> State {
        let (remainder, divides) = self.residues.all[residue as usize];
        State { remainder, divides, ..self.frames[frame as usize] }
    }

    fn id(&mut self, frame: u32, residue: u32) -> u32 {
        *self.ids.entry((frame, residue)).or_insert_with(|| {
            self.all.push((frame, residue));
            self.all.len() as u32 - 1
        })
    }

    fn frame(&mut self, state: State) -> u32 {
        let frame = State { remainder: 0, divides: 0, ..state };
        *self.frame_ids.entry(frame).or_insert_with(|| {
            self.frames.push(frame);
            self.frames_after.push([UNKNOWN; LETTERS.len()]);
            self.is_dead.push(None);
            self.frames.len() as u32 - 1
        })
    }

    /// The state after one more character: what [`Reader::after`] says.
    fn after(&mut self, frame: u32, residue: u32, letter: usize) -> Option<u32> {
        let mut next = self.frames_after[frame as usize][letter];
        if next == UNKNOWN {
            next = self.reader.after(self.frames[frame as usize], letter).map_or(NONE, |next| self.frame(next));
            self.frames_after[frame as usize][letter] = next;
        }
        (next != NONE).then(|| {
            let residue = self.residue_after(frame, residue, letter);
            self.id(next, residue)
        })
    }

    fn residue_after(&self, frame: u32, residue: u32, letter: usize) -> u32 {
        let (reader, Residues { all, of, settled, none }) = (self.reader, &self.residues);
        let State { phase, len, .. } = self.frames[frame as usize];
        match (phase, letter) {
            (_, MINUS) => residue,
            (_, POINT) => {
                if reader.scale == 0 {
                    settled[residue as usize]
                } else {
                    residue
                }
            }
            (Phase::Point | Phase::Fraction, 0) if len >= reader.scale => residue,
            (Phase::Point | Phase::Fraction, _) if len >= reader.scale => *none,
            (Phase::Point | Phase::Fraction, digit) => {
                let remainder = reader.remainder_after_fraction(self.state(frame, residue), digit as u8);
                let residue = of[remainder as usize];
                if len + 1 < reader.scale { residue } else { settled[residue as usize] }
            }
            (_, digit) => of[reader.remainder_after_whole(all[residue as usize].0, digit as u8) as usize],
        }
    }
}

/// Whether one of these is true, as far as that is known.
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut is_known = true;
    for part in parts {
        match part {
            Some(true) => return Some(true),
            Some(false) => {}
            None => is_known = false,
        }
    }
    is_known.then_some(false)
}

/// An automaton over [`LETTERS`], from the first state on.
struct Listed {
    next: Vec<[u32; LETTERS.len()]>,
    accepting: Vec<bool>,
}

impl Listed {
    /// Without edges to where nothing is accepted.
    fn live(mut self) -> Self {
        let mut is_live = self.accepting.clone();
        let mut is_done = false;
        while !is_done {
            is_done = true;
            // Most edges lead to states that were found later.
            for (state, row) in self.next.iter().enumerate().rev() {
                if !is_live[state] && row.iter().any(|&next| next != NONE && is_live[next as usize]) {
                    is_live[state] = true;
                    is_done = false;
                }
            }
        }
        for next in self.next.iter_mut().flatten() {
            if *next != NONE && !is_live[*next as usize] {
                *next = NONE;
            }
        }
        self
    }

    /// With one state for all that no text tells apart: Moore's algorithm. Cost: linear in the states and the length of the
    /// texts that are needed.
    fn reduced(self) -> Self {
        let mut class_of: Vec<u32> = self.accepting.iter().map(|&accepts| u32::from(accepts)).collect();
        let mut count = 0;
        loop {
            let mut ids: FxHashMap<(u32, [u32; LETTERS.len()]), u32> = FxHashMap::default();
            let mut finer = Vec::with_capacity(class_of.len());
            for (row, &class) in self.next.iter().zip(&class_of) {
                let row = row.map(|next| if next == NONE { NONE } else { class_of[next as usize] });
                let id = ids.len() as u32;
                finer.push(*ids.entry((class, row)).or_insert(id));
            }
            class_of = finer;
            if ids.len() == count {
                break;
            }
            count = ids.len();
        }
        // Classes are numbered as their first states are.
        let mut reduced = Self { next: Vec::with_capacity(count), accepting: Vec::with_capacity(count) };
        for (state, &class) in class_of.iter().enumerate() {
            if class as usize == reduced.next.len() {
                let row = self.next[state];
                reduced.next.push(row.map(|next| if next == NONE { NONE } else { class_of[next as usize] }));
                reduced.accepting.push(self.accepting[state]);
            }
        }
        reduced
    }

    /// As a regex, whose letters are characters that nothing tells apart.
    fn written(self, set: &mut RegexSet) -> RegexId {
        let mut letters: Vec<(usize, ByteSet)> = Vec::new();
        for (letter, &byte) in LETTERS.iter().enumerate() {
            let is_same = |other: usize| self.next.iter().all(|row| row[letter] == row[other]);
            match letters.iter_mut().find(|(other, _)| is_same(*other)) {
                Some((_, bytes)) => bytes.insert(byte),
                None => letters.push((letter, ByteSet::range(byte, byte))),
            }
        }
        letters.retain(|&(letter, _)| self.next.iter().any(|row| row[letter] != NONE));
        if letters.is_empty() {
            return set.nothing();
        }
        let next = self.next.iter().flat_map(|row| letters.iter().map(|&(letter, _)| row[letter]));
        let next = next.map(|next| (next != NONE).then_some(next as usize));
        let dfa = Table::new(letters.len(), 0, next, self.accepting.clone());
        let letters: Vec<RegexId> = letters.iter().map(|&(_, bytes)| set.bytes(bytes)).collect();
        set.dfa(&dfa, &letters)
    }
}
