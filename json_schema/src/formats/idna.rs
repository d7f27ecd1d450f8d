//! `format: idn-hostname`: names of labels as RFC 5890, section 2.3, has them (ASCII, or U-labels), as an automaton over
//! kinds of characters.
//!
//! Sources: RFC 5891 (hyphens, marks), RFC 5892 (what is allowed: `idna_table`; rules about neighbours: its appendix A),
//! RFC 5893, section 2 (right-to-left names: all labels of a name that has one obey the rule), RFC 1123 (ASCII), UTS 46
//! (the other full stops as separators).
//!
//! Differs, to have few states; what is left out is rejected:
//! - A-labels (`xn--`);
//! - a label's ASCII form is at most 63 octets by a bound ([`DIGITS`]), not by encoding it: 19 characters of one alphabet
//!   fit, 13 of Chinese or Japanese, 11 of any other one, 9 of several, fewer beside ASCII characters; counts go in steps
//!   ([`ASCII_STEP`]);
//! - normalization form C by a bound: no mark that may combine stands behind a character that composes with any;
//! - characters that came after the Unicode of `idna_table`.

use std::sync::{Arc, LazyLock, OnceLock};

use larkspur_grammar::saved::SavedAutomaton;
use larkspur_grammar::{ByteSet, CharClass, Dfa, DfaRef, RegexId, RegexSet};

use super::idna_table::*;

/// How the automata are called: of labels in normalization form C, and of others.
pub(super) const NAME: &str = "idn-hostname";
pub(super) const NAME_IN_ANY_FORM: &str = "idn-hostname, any form";
/// Octets of a label's ASCII form.
const LABEL_OCTETS_MAX: u32 = 63;
/// Octets of a name's ASCII form, separators included.
const NAME_OCTETS_MAX: u32 = 253;

/// What is counted in steps, upwards, so that places in a name share states: the octets of whole labels, ASCII characters
/// of a label before each other one, and others before the first one of another window.
const NAME_STEP: u32 = 16;
const NAME_STEPS: usize = (NAME_OCTETS_MAX / NAME_STEP + 1) as usize;
const ASCII_STEP: u32 = 4;
const OTHERS_STEP: u32 = 3;

/// Characters with which each beginning of a name is one, at most: one that must come, and a letter.
const SHORTEST_REST_MAX: u32 = 2;

/// Canonical combining class of viramas.
const VIRAMA: u8 = 9;
/// Windows of code points, as [`KINDS`] numbers them: none for ASCII, then those with a row in [`DIGITS`].
const ASCII: u8 = 0;
const GREEK_WINDOW: u8 = 2;
const HEBREW_WINDOW: u8 = 5;
const KANA: u8 = 12;
const HAN: u8 = 13;
const WIDE: u8 = 15;

/// Digits of Punycode (RFC 3492) at most, for 1, 2, … characters that are not ASCII of a label, by the window that they are
/// all in. Written by `scripts/punycode-bound.rs`.
const DIGITS: [&[u32]; 15] = [
    // 00B7..=017F
    &[3, 7, 10, 13, 16, 19, 22, 25, 28, 31, 34, 37, 39, 42, 45, 47, 50, 52, 55, 57],
    // 0370..=03FF
    &[4, 8, 11, 14, 17, 19, 22, 25, 28, 31, 34, 36, 39, 41, 44, 46, 48, 51, 53, 56, 58],
    // 0430..=052F
    &[4, 8, 11, 14, 17, 20, 23, 26, 29, 32, 35, 38, 40, 43, 46, 49, 52, 55, 57],
    // 0560..=058F
    &[4, 7, 10, 13, 15, 18, 20, 23, 25, 27, 30, 32, 34, 37, 39, 42, 44, 46, 49, 51, 53, 55, 57, 59],
    // 05D0..=05F4
    &[4, 7, 10, 12, 15, 17, 20, 22, 24, 27, 29, 32, 34, 36, 39, 41, 43, 45, 47, 48, 50, 52, 54, 56, 58],
    // 0620..=06FF
    &[4, 8, 11, 14, 17, 20, 23, 26, 29, 31, 34, 37, 40, 43, 46, 49, 51, 54, 56, 59],
    // 0900..=097F
    &[4, 7, 10, 13, 16, 19, 22, 25, 28, 30, 33, 35, 38, 40, 43, 45, 48, 50, 53, 55, 57],
    // 0980..=09FF
    &[4, 7, 10, 13, 16, 19, 22, 25, 28, 30, 33, 35, 38, 40, 43, 45, 48, 50, 53, 55, 57],
    // 0E00..=0E7F
    &[4, 7, 10, 13, 16, 19, 22, 25, 28, 30, 33, 35, 38, 40, 43, 45, 48, 50, 52, 55, 57],
    // 10D0..=10FF
    &[4, 7, 10, 13, 15, 18, 20, 22, 25, 27, 30, 32, 34, 37, 39, 42, 44, 46, 49, 51, 53, 55, 57, 59],
    // 1E00..=1EFF
    &[5, 9, 12, 15, 18, 21, 24, 27, 30, 32, 35, 38, 41, 44, 47, 49, 52, 55, 57],
    // 3041..=30FF
    &[5, 8, 12, 15, 18, 20, 23, 26, 29, 32, 35, 38, 41, 44, 46, 49, 51, 53, 56, 58],
    // 3041..=9FFF
    &[5, 11, 15, 20, 24, 28, 33, 37, 41, 46, 50, 55, 59],
    // AC00..=D7A3
    &[5, 10, 14, 19, 23, 27, 31, 35, 39, 43, 46, 50, 54, 58],
    // 0080..=3134A
    &[6, 12, 17, 22, 27, 32, 37, 42, 47, 52, 57],
];

/// What a separator is: full stops.
const SEPARATORS: [(u32, u32); 4] = [(0x2E, 0x2E), (0x3002, 0x3002), (0xFF0E, 0xFF0E), (0xFF61, 0xFF61)];

/// The names, as a language of characters. `is_composed`: labels are in normalization form C.
pub(super) fn hostname(set: &mut RegexSet, is_composed: bool) -> RegexId {
    let (_, classes) = letters();
    let classes: Vec<RegexId> = classes.into_iter().map(|ranges| set.class(CharClass::from_ranges(ranges))).collect();
    set.dfa(&automaton(is_composed), &classes)
}

/// The automaton, made once.
pub(super) fn automaton(is_composed: bool) -> DfaRef {
    static MADE: [OnceLock<DfaRef>; 2] = [OnceLock::new(), OnceLock::new()];
    let make = || DfaRef::new(Arc::new(Hostname { letters: letters().0, is_composed }));
    MADE[usize::from(is_composed)].get_or_init(make).clone()
}

/// First and last characters.
type Ranges = Vec<(u32, u32)>;

/// Kinds of characters, each with its ranges.
fn letters() -> (Box<[Letter]>, Vec<Ranges>) {
    let one = |c: u32| vec![(c, c)];
    let mut all: Vec<(Letter, Ranges)> = KINDS
        .iter()
        .map(|&(properties, window, combining)| {
            (Letter { properties, window, combining, rule: Rule::None }, Vec::new())
        })
        .collect();
    for (first, last, kind) in RANGES.iter().copied() {
        all[usize::from(kind)].1.push((first, last));
    }
    let mut add =
        |properties, window, rule, ranges| all.push((Letter { properties, window, combining: 0, rule }, ranges));
    add(LEFT | COMPOSES, ASCII, Rule::None, vec![(0x61, 0x6B), (0x6D, 0x7A)]);
    add(LEFT | COMPOSES, ASCII, Rule::SmallL, one(0x6C));
    add(LEFT, ASCII, Rule::Capital, vec![(0x41, 0x5A)]);
    add(EUROPEAN_NUMBER, ASCII, Rule::None, vec![(0x30, 0x39)]);
    add(NEUTRAL, ASCII, Rule::Hyphen, one(0x2D));
    add(NEUTRAL, 1, Rule::MiddleDot, one(0xB7));
    add(NEUTRAL, GREEK_WINDOW, Rule::Keraia, one(0x375));
    add(RIGHT | HEBREW, HEBREW_WINDOW, Rule::Geresh, vec![(0x5F3, 0x5F4)]);
    add(NEUTRAL, KANA, Rule::KatakanaDot, one(0x30FB));
    add(NEUTRAL, WIDE, Rule::NonJoiner, one(0x200C));
    add(NEUTRAL, WIDE, Rule::Joiner, one(0x200D));
    add(0, ASCII, Rule::Separator, SEPARATORS.to_vec());
    let (letters, classes): (Vec<Letter>, Vec<Ranges>) = all.into_iter().unzip();
    (letters.into(), classes)
}

#[derive(Debug)]
struct Hostname {
    letters: Box<[Letter]>,
    is_composed: bool,
}

/// A kind of characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Letter {
    /// As in [`KINDS`].
    properties: u32,
    window: u8,
    combining: u8,
    rule: Rule,
}

/// Rules that hold for single characters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rule {
    None,
    SmallL,
    Capital,
    Hyphen,
    Separator,
    // RFC 5892, appendix A.3, A.4, A.5 and A.6, A.7, A.1, A.2.
    MiddleDot,
    Keraia,
    Geresh,
    KatakanaDot,
    NonJoiner,
    Joiner,
}

impl Letter {
    fn has(self, any_of: u32) -> bool {
        self.properties & any_of != 0
    }
}

numbered! {
    /// The character before.
    enum Before {
        Other,
        SmallL,
        Hyphen,
        Virama,
        Hebrew,
    }
}

numbered! {
    /// What must come next.
    enum Wanted {
        Anything,
        SmallL,
        Greek,
        /// What joins to the character before, behind transparent ones.
        Joining,
    }
}

numbered! {
    /// Whether a label has a Japanese or Chinese character, if it must.
    enum Japanese {
        NotYet,
        Wanted,
        Seen,
    }
}

numbered! {
    /// The direction of a label by its first character.
    enum Direction {
        Left,
        Right,
        /// Neither: in a name with right-to-left labels, such a one must not be.
        Neither,
    }
}

/// A state, unpacked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    /// Octets of the name before the label.
    name_octets: u32,
    /// A label that is done was right-to-left.
    is_bidi: bool,
    /// A label that is done must not be in a name with right-to-left ones.
    is_unfit: bool,
    /// Characters of the label: of ASCII, and others.
    ascii: u32,
    others: u32,
    /// The window of the others.
    window: u8,
    has_capital: bool,
    before: Before,
    wanted: Wanted,
    japanese: Japanese,
    direction: Direction,
    /// The label may end as far as RFC 5893 goes.
    is_end: bool,
    has_european_number: bool,
    has_arabic_number: bool,
    /// Arabic-Indic digits, and extended ones.
    digits: [bool; 2],
    /// Joins what is behind it, but for transparent characters.
    joins: bool,
    /// Combining class of the character before, and whether the last one of class 0 composes.
    combining: u8,
    composes: bool,
}

impl State {
    fn new(name_octets: u32, is_bidi: bool, is_unfit: bool) -> Self {
        Self {
            name_octets,
            is_bidi,
            is_unfit,
            ascii: 0,
            others: 0,
            window: ASCII,
            has_capital: false,
            before: Before::Other,
            wanted: Wanted::Anything,
            japanese: Japanese::NotYet,
            direction: Direction::Neither,
            is_end: false,
            has_european_number: false,
            has_arabic_number: false,
            digits: [false; 2],
            joins: false,
            combining: 0,
            composes: false,
        }
    }

    fn pack(self) -> u128 {
        let flags = [
            self.is_bidi,
            self.is_unfit,
            self.has_capital,
            self.is_end,
            self.has_european_number,
            self.has_arabic_number,
            self.digits[0],
            self.digits[1],
            self.joins,
            self.composes,
        ];
        let flags = flags.iter().fold(0u128, |all, &flag| all << 1 | u128::from(flag));
        let bytes = [
            self.name_octets as u8,
            self.ascii as u8,
            self.others as u8,
            self.window,
            self.before as u8,
            self.wanted as u8,
            self.japanese as u8,
            self.direction as u8,
            self.combining,
        ];
        bytes.iter().fold(flags, |all, &byte| all << 8 | u128::from(byte))
    }
    fn unpack(mut packed: u128) -> Self {
        let mut byte = || {
            let low = packed as u8;
            packed >>= 8;
            low
        };
        let (combining, direction, japanese, wanted, before) = (byte(), byte(), byte(), byte(), byte());
        let (window, others, ascii, name_octets) = (byte(), byte(), byte(), byte());
        let flag = |bit: u32| packed >> bit & 1 == 1;
        Self {
            name_octets: name_octets.into(),
            is_bidi: flag(9),
            is_unfit: flag(8),
            ascii: ascii.into(),
            others: others.into(),
            window,
            has_capital: flag(7),
            before: Before::of_number(before.into()),
            wanted: Wanted::of_number(wanted.into()),
            japanese: Japanese::of_number(japanese.into()),
            direction: Direction::of_number(direction.into()),
            is_end: flag(6),
            has_european_number: flag(5),
            has_arabic_number: flag(4),
            digits: [flag(3), flag(2)],
            joins: flag(1),
            combining,
            composes: flag(0),
        }
    }

    fn is_empty(&self) -> bool {
        self.ascii + self.others == 0
    }

    /// Octets of the label's ASCII form at most, with so many more characters; `None` if it may be too long.
    fn octets(&self, more_ascii: u32, more_others: u32) -> Option<u32> {
        let (ascii, others) = (self.ascii + more_ascii, self.others + more_others);
        let octets = match others.checked_sub(1) {
            None => ascii,
            Some(last) => {
                let digits = DIGITS[usize::from(self.window) - 1].get(last as usize)?;
                4 + ascii + u32::from(ascii > 0) + digits
            }
        };
        (octets <= LABEL_OCTETS_MAX && self.name_octets + octets <= NAME_OCTETS_MAX).then_some(octets)
    }

    /// Whether the label may end here.
    fn may_end(&self) -> bool {
        let is_ruled = self.is_bidi || self.direction == Direction::Right;
        !self.is_empty()
            && self.before != Before::Hyphen
            && self.wanted == Wanted::Anything
            && self.japanese != Japanese::Wanted
            && (self.is_end || !is_ruled)
    }

    /// Whether there is room for what must come.
    fn can_end(&self) -> bool {
        let (mut ascii, mut others) = match self.wanted {
            Wanted::Anything => (0, 0),
            Wanted::SmallL => (1, 0),
            Wanted::Greek | Wanted::Joining => (0, 1),
        };
        if self.japanese == Japanese::Wanted {
            others += 1;
        }
        if (ascii, others) == (0, 0) && !self.may_end() {
            // A letter in the label's direction.
            match self.direction {
                Direction::Right => others = 1,
                _ => ascii = 1,
            }
        }
        // What is of ASCII comes first.
        let longer = Self { ascii: self.ascii + ascii, ..*self };
        let longer = if others > 0 { longer.in_steps() } else { longer };
        longer.octets(0, others).is_some()
    }

    /// No more characters may follow: each takes an octet at least.
    fn characters_max(&self) -> u32 {
        static LABELS: LazyLock<[u32; NAME_STEPS]> = LazyLock::new(|| {
            let mut labels = [0; NAME_STEPS];
            for step in (0..NAME_STEPS).rev() {
                labels[step] = longest(&labels, step as u32 * NAME_STEP, 0);
            }
            labels
        });
        longest(&*LABELS, self.name_octets, self.octets(0, 0).unwrap_or(0))
    }

    fn next_label(self) -> Option<Self> {
        let octets = self.octets(0, 0).filter(|_| self.may_end())?;
        let is_bidi = self.is_bidi || self.direction == Direction::Right;
        let is_unfit = self.is_unfit || !is_bidi && (self.direction == Direction::Neither || !self.is_end);
        // A separator and one more character.
        name_octets_behind(self.name_octets + octets).map(|name_octets| Self::new(name_octets, is_bidi, is_unfit))
    }

    /// The state behind one more character of the label.
    fn with(mut self, letter: Letter, is_composed: bool) -> Option<Self> {
        if self.is_empty() {
            if letter.has(MARK) {
                return None;
            }
            self.direction = match letter {
                _ if letter.has(LEFT) => Direction::Left,
                _ if letter.has(RIGHT) => Direction::Right,
                _ => Direction::Neither,
            };
        }
        let is_allowed = self.obeys_direction(letter) && self.obeys_neighbours(letter) && self.obeys_digits(letter);
        if !is_allowed || !self.count(letter) || is_composed && !self.compose(letter) {
            return None;
        }
        let is_virama = letter.combining == VIRAMA;
        self.wanted = match letter.rule {
            Rule::MiddleDot => Wanted::SmallL,
            Rule::Keraia => Wanted::Greek,
            Rule::NonJoiner if self.before != Before::Virama => Wanted::Joining,
            _ if self.wanted == Wanted::Joining && letter.has(TRANSPARENT) => Wanted::Joining,
            _ => Wanted::Anything,
        };
        self.before = match letter.rule {
            Rule::SmallL => Before::SmallL,
            Rule::Hyphen => Before::Hyphen,
            _ if is_virama => Before::Virama,
            _ if letter.has(HEBREW) => Before::Hebrew,
            _ => Before::Other,
        };
        if letter.has(JAPANESE) {
            self.japanese = Japanese::Seen;
        } else if letter.rule == Rule::KatakanaDot && self.japanese == Japanese::NotYet {
            self.japanese = Japanese::Wanted;
        }
        if !letter.has(TRANSPARENT) {
            self.joins = letter.has(JOINS_BEFORE);
        }
        self.can_end().then_some(self)
    }

    /// RFC 5893, section 2; keeps what it needs.
    fn obeys_direction(&mut self, letter: Letter) -> bool {
        let (is_first, is_right) = (self.is_empty(), letter.has(RIGHT | ARABIC_NUMBER));
        let is_end = match self.direction {
            Direction::Left | Direction::Neither if is_right => return false,
            Direction::Neither if is_first && self.is_bidi => return false,
            Direction::Neither => return true,
            Direction::Left => letter.has(LEFT | EUROPEAN_NUMBER),
            Direction::Right if is_first && self.is_unfit || letter.has(LEFT) => return false,
            Direction::Right => {
                self.has_european_number |= letter.has(EUROPEAN_NUMBER);
                self.has_arabic_number |= letter.has(ARABIC_NUMBER);
                if self.has_european_number && self.has_arabic_number {
                    return false;
                }
                letter.has(RIGHT | EUROPEAN_NUMBER | ARABIC_NUMBER)
            }
        };
        if !letter.has(NONSPACING) {
            self.is_end = is_end;
        }
        true
    }

    /// RFC 5892, appendix A.1 to A.7, and hyphens.
    fn obeys_neighbours(&self, letter: Letter) -> bool {
        let is_wanted = match self.wanted {
            Wanted::Anything => true,
            Wanted::SmallL => letter.rule == Rule::SmallL,
            Wanted::Greek => letter.has(GREEK),
            Wanted::Joining => letter.has(TRANSPARENT | JOINS_AFTER),
        };
        is_wanted
            && match letter.rule {
                Rule::Hyphen => {
                    let count = self.ascii + self.others;
                    count > 0 && !(count == 3 && self.before == Before::Hyphen)
                }
                Rule::MiddleDot => self.before == Before::SmallL,
                // What these want is left-to-right.
                Rule::Keraia | Rule::KatakanaDot => self.direction != Direction::Right,
                Rule::Geresh => self.before == Before::Hebrew,
                Rule::NonJoiner => self.before == Before::Virama || self.joins,
                Rule::Joiner => self.before == Before::Virama,
                _ => true,
            }
    }

    /// RFC 5892, appendix A.8 and A.9.
    fn obeys_digits(&mut self, letter: Letter) -> bool {
        self.digits[0] |= letter.has(DIGIT_ARABIC);
        self.digits[1] |= letter.has(DIGIT_EXTENDED);
        self.digits != [true; 2]
    }

    /// What of the state matters to characters of these kinds.
    fn before(mut self, letters: &[Letter]) -> Self {
        if letters.iter().any(|letter| letter.window == ASCII) {
            return self;
        }
        let has = |any_of: u32| letters.iter().any(|letter| letter.has(any_of));
        let has_rule = |rules: &[Rule]| letters.iter().any(|letter| rules.contains(&letter.rule));
        self = self.in_steps();
        if letters.iter().all(|letter| self.joined_window(*letter) == WIDE) {
            self.widen();
        }
        let is_needed = match self.before {
            Before::SmallL => has_rule(&[Rule::MiddleDot]),
            Before::Virama => has_rule(&[Rule::NonJoiner, Rule::Joiner]),
            Before::Hebrew => has_rule(&[Rule::Geresh]),
            Before::Hyphen | Before::Other => false,
        };
        if !is_needed {
            self.before = Before::Other;
        }
        let has_combining = letters.iter().any(|letter| letter.combining != 0);
        self.joins &= has(TRANSPARENT) || has_rule(&[Rule::NonJoiner]);
        self.combining = if has_combining { self.combining } else { 0 };
        self.composes &= has_combining || has(COMBINES);
        self.is_end &= has(NONSPACING);
        self
    }

    /// The window of a label's characters with one more.
    fn joined_window(&self, letter: Letter) -> u8 {
        match (self.window, letter.window) {
            (ASCII, window) => window,
            (one, other) if one == other => one,
            (KANA, HAN) | (HAN, KANA) => HAN,
            _ => WIDE,
        }
    }
    /// Before a character that is not ASCII.
    fn in_steps(self) -> Self {
        Self { ascii: self.ascii.next_multiple_of(ASCII_STEP), ..self }
    }

    /// Counts in steps what is before the first character that is in no common window.
    fn widen(&mut self) {
        if self.window != WIDE {
            self.others = self.others.next_multiple_of(OTHERS_STEP);
            self.window = WIDE;
        }
    }

    /// Counts a character; false if it must not be beside those before. Capitals are only in labels of ASCII.
    fn count(&mut self, letter: Letter) -> bool {
        if letter.window == ASCII {
            self.ascii += 1;
            self.has_capital |= letter.rule == Rule::Capital;
            return !self.has_capital || self.others == 0;
        }
        let window = self.joined_window(letter);
        *self = self.in_steps();
        if window == WIDE {
            self.widen();
        }
        self.window = window;
        self.others += 1;
        !self.has_capital
    }

    /// Normalization form C, or less.
    fn compose(&mut self, letter: Letter) -> bool {
        if letter.combining != 0 && letter.combining < self.combining || letter.has(COMBINES) && self.composes {
            return false;
        }
        self.combining = letter.combining;
        if letter.combining == 0 {
            self.composes = letter.has(COMPOSES);
        }
        true
    }
}

/// Octets before a label behind so many and a separator, in steps; `None` if there is no room for it.
fn name_octets_behind(octets: u32) -> Option<u32> {
    let octets = (octets + 1).next_multiple_of(NAME_STEP);
    (octets < NAME_OCTETS_MAX).then_some(octets)
}

/// Characters of a name's rest at most, within a label that has so many octets; `labels`: those of further labels, by the steps before.
fn longest(labels: &[u32], name_octets: u32, label_octets: u32) -> u32 {
    let room = LABEL_OCTETS_MAX.min(NAME_OCTETS_MAX - name_octets) - label_octets;
    let of = |more: u32| {
        let behind = name_octets_behind(name_octets + label_octets + more);
        more + behind.map_or(0, |octets| 1 + labels[(octets / NAME_STEP) as usize])
    };
    (0..=room).map(of).max().unwrap_or(0)
}

impl Dfa for Hostname {
    fn name(&self) -> &str {
        if self.is_composed { NAME } else { NAME_IN_ANY_FORM }
    }
    fn save(&self) -> Option<SavedAutomaton> {
        Some(SavedAutomaton { kind: self.name().to_owned(), bytes: Vec::new() })
    }
    fn letters(&self) -> usize {
        self.letters.len()
    }
    fn start(&self) -> u128 {
        State::new(0, false, false).pack()
    }
    fn is_accepting(&self, state: u128) -> bool {
        State::unpack(state).may_end()
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        let (state, letter) = (State::unpack(state), self.letters[usize::from(letter)]);
        let next = match letter.rule {
            Rule::Separator => state.next_label(),
            _ => state.with(letter, self.is_composed),
        };
        next.map(State::pack)
    }
    fn shortest_rest_max(&self) -> Option<u32> {
        Some(SHORTEST_REST_MAX)
    }
    fn letters_max(&self, state: u128) -> u32 {
        State::unpack(state).characters_max()
    }
    fn before_letters(&self, state: u128, letters: &ByteSet) -> u128 {
        let letters: Vec<Letter> = letters.iter().map(|letter| self.letters[usize::from(letter)]).collect();
        State::unpack(state).before(&letters).pack()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every character leaves room for one less at least, and the longest name is as long as is said.
    #[test]
    fn no_more_characters_follow_than_said() {
        let dfa = automaton(true);
        let letters: Vec<u8> = (0..dfa.letters()).map(|letter| letter as u8).collect();
        for seed in 0..500usize {
            let (mut state, mut at) = (dfa.start(), seed);
            loop {
                let next: Vec<u128> = letters.iter().filter_map(|&letter| dfa.next(state, letter)).collect();
                let left = dfa.letters_max(state);
                assert!(next.iter().all(|&next| dfa.letters_max(next) < left), "{:?}", State::unpack(state));
                at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                match next.get((at >> 33) % next.len().max(1)) {
                    Some(&next) => state = next,
                    None => break,
                }
            }
        }
        let (kinds, _) = super::letters();
        let of =
            |rule: Rule| kinds.iter().position(|kind| kind.window == ASCII && kind.rule == rule).expect("is one") as u8;
        let mut name: Vec<u8> = [of(Rule::SmallL)].repeat(253);
        [63, 127, 191].into_iter().for_each(|at| name[at] = of(Rule::Separator));
        let mut state = dfa.start();
        for (read, &letter) in name.iter().enumerate() {
            assert_eq!(dfa.letters_max(state) as usize, name.len() - read);
            state = dfa.next(state, letter).expect("is in the name");
        }
        assert!(dfa.is_accepting(state));
        assert_eq!(dfa.letters_max(state), 0);
    }
}
