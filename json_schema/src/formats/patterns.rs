//! `format: regex`: the patterns of ECMA-262 (section 22.2.1) with the flag `u`, as an automaton over characters.
//!
//! Differs, to be regular and small; what is left out is rejected:
//! - groups are nested [`DEPTH_MAX`] deep at most;
//! - a back-reference follows the beginning of its group, and its number is at most [`GROUPS_MAX`];
//! - names of groups are ASCII, and no two of one pattern begin with the same letter in either case, or both with
//!   neither; `\k` refers to the last group before it whose name is one small letter;
//! - in `{n,m}`, `n` is at most [`COUNT_MAX`]; `{n}` and `{n,}` are without bound;
//! - in a class, the ends of a range that are not ASCII differ by the groups of [`OTHERS`], unless they are escapes; a
//!   pair of surrogates is written as `\u{…}`;
//! - no modifiers (`(?i:…)`), and no name of a group twice.

use std::sync::{Arc, OnceLock};

use larkspur_grammar::saved::SavedAutomaton;
use larkspur_grammar::{ByteSet, CharClass, Dfa, DfaRef, RegexId, RegexSet};

use super::properties;

/// How the automaton is called.
pub(super) const NAME: &str = "regex";
/// Groups open at a time, at most: one bit each.
const DEPTH_MAX: u32 = 31;
/// Capturing groups that are counted.
const GROUPS_MAX: u32 = 99;
/// The least count of `{n,m}` at most.
const COUNT_MAX: u32 = 65_535;
const CODE_MAX: u32 = 0x10_FFFF;

/// Characters that are told apart, besides the printable ones of ASCII, by the last of each group: where alphabets, and
/// ranges that patterns have, begin and end.
const OTHERS: [u32; 66] = [
    0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1F, 0x7F, 0xBF, 0xC0, 0xD5, 0xD6, 0xD7, 0xD8, 0xF5, 0xF6, 0xF7, 0xF8, 0xFE, 0xFF,
    0x17E, 0x17F, 0x24E, 0x24F, 0x36F, 0x370, 0x3FE, 0x3FF, 0x400, 0x40F, 0x410, 0x42E, 0x42F, 0x430, 0x44E, 0x44F,
    0x4FF, 0x10FF, 0x1FFF, 0x206F, 0x2FFF, 0x3040, 0x3041, 0x3095, 0x3096, 0x30A0, 0x30A1, 0x30F9, 0x30FA, 0x33FF,
    0x3400, 0x4DFF, 0x4E00, 0x9FA4, 0x9FA5, 0x9FFE, 0x9FFF, 0xABFF, 0xAC00, 0xD7A2, 0xD7A3, 0xD7FF, 0xF8FF, 0xFFFE,
    0xFFFF, 0x10_FFFE, 0x10_FFFF,
];

/// The patterns, as a language of characters.
pub(super) fn regex(set: &mut RegexSet) -> RegexId {
    let classes: Vec<RegexId> = letters().iter().map(|&letter| set.class(CharClass::from_ranges([letter]))).collect();
    set.dfa(&automaton(), &classes)
}

/// The automaton, made once.
pub(super) fn automaton() -> DfaRef {
    static MADE: OnceLock<DfaRef> = OnceLock::new();
    let make = || DfaRef::new(Arc::new(Pattern { letters: letters(), properties: properties::bodies() }));
    MADE.get_or_init(make).clone()
}

/// First and last character of each letter: the printable ones of ASCII, then the groups of [`OTHERS`].
fn letters() -> Box<[(u32, u32)]> {
    let mut all: Vec<(u32, u32)> = (0x20..0x7F).map(|code| (code, code)).collect();
    let mut next = 0;
    for last in OTHERS {
        all.push((next, last));
        next = match last {
            0x1F => 0x7F,
            0xD7FF => 0xE000,
            _ => last + 1,
        };
    }
    all.into()
}

#[derive(Debug)]
struct Pattern {
    letters: Box<[(u32, u32)]>,
    /// What may stand in `\p{…}`, sorted.
    properties: Box<[Box<str>]>,
}

numbered! {
    /// Where in a pattern a state stands. In the part about classes, a *low* end of a range is known or not.
    enum Mode {
        /// Nothing is before that a quantifier could follow.
        Fresh,
        /// Behind an atom.
        Atom,
        /// Behind a quantifier that may get a `?`.
        Counted,
        /// Behind `\0`.
        Null,
        /// Behind a back-reference; `value` is its number.
        Reference,
        /// Behind `(`, `(?`, `(?<`.
        Paren,
        ParenQuery,
        ParenLess,
        /// Within a group's name; `value` is its first letter, `low` 1 if it has more.
        Name,
        Escape,
        /// Behind `\c`.
        Control,
        /// Behind `\x` or `\u`: `low` digits are missing.
        Hex,
        Unicode,
        /// Within `\u{…}`; `value` is the number so far.
        CodePoint,
        /// Behind `\p`, and within its braces: `value` is the first property that begins so, `low` the length.
        PropertyOpen,
        Property,
        /// Behind `\k`, `\k<`, `\k<n`.
        KeyOpen,
        Key,
        KeyClose,
        /// Behind `{`; `low` is the least count, `value` the greatest one.
        CountOpen,
        CountMin,
        CountMinLarge,
        CountComma,
        CountMax,
        /// The greatest count is at least the least one, whatever follows.
        CountEnd,
        /// Behind `[`.
        ClassOpen,
        /// Nothing is before that could be the low end of a range.
        Class,
        /// Behind a character, `low`.
        ClassLow,
        /// Behind `\0`, or half of a pair.
        ClassNull,
        ClassLead,
        /// Behind a range that ends with half of a pair.
        ClassRangeLead,
        /// Behind a set (`\w`), and a set with `-`.
        ClassSet,
        ClassSetDash,
        /// Behind `low` and `-`.
        ClassDash,
        /// Escapes: of the high end of a range where `low` is known.
        ClassEscape,
        ClassEscapeOfLead,
        ClassControl,
        ClassHex,
        ClassUnicode,
        ClassUnicodeHex,
        ClassCodePoint,
        ClassPropertyOpen,
        ClassProperty,
    }
}

/// A state, unpacked. What a mode does not use is 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct State {
    mode: Mode,
    /// 1, then a bit for each open group: whether a quantifier may follow it.
    open: u32,
    /// Capturing groups so far.
    groups: u32,
    /// First letters of names: a bit for each, and one for others.
    names: u32,
    /// The last name of one small letter, from 1 up.
    key: u32,
    /// 21 bits.
    low: u32,
    has_low: bool,
    /// 21 bits.
    value: u32,
    /// Digits of `value`, up to 3: how many that is depends on the mode.
    digits: u32,
}

impl State {
    const START: State =
        State { mode: Mode::Fresh, open: 1, groups: 0, names: 0, key: 0, low: 0, has_low: false, value: 0, digits: 0 };

    fn pack(self) -> u128 {
        let mut packed = 0u128;
        let fields = [
            (self.open, 32),
            (self.mode as u32, 6),
            (self.groups, 7),
            (self.names, 27),
            (self.key, 5),
            (self.low, 21),
            (u32::from(self.has_low), 1),
            (self.value, 21),
            (self.digits, 2),
        ];
        for (field, bits) in fields {
            debug_assert!(u64::from(field) < 1 << bits);
            packed = packed << bits | u128::from(field);
        }
        packed
    }
    fn unpack(mut packed: u128) -> Self {
        let mut take = |bits: u32| {
            let field = (packed & ((1 << bits) - 1)) as u32;
            packed >>= bits;
            field
        };
        let (digits, value, has_low, low, key) = (take(2), take(21), take(1) == 1, take(21), take(5));
        let (names, groups, mode, open) = (take(27), take(7), Mode::of_number(take(6) as usize), take(32));
        Self { mode, open, groups, names, key, low, has_low, value, digits }
    }

    /// No fewer letters are left of the term that is read, with what closes a group that has no bit yet.
    fn letters_to_term(self) -> u32 {
        use Mode::*;
        let code_point = 1 + self.digits_to(16, self.low).max(u32::from(self.digits == 0));
        let property = if self.low > 0 { 1 } else { 2 };
        match self.mode {
            Fresh | Atom | Counted | Null | Reference => 0,
            Paren | Escape | Control | KeyClose => 1,
            Property => property,
            ParenQuery | ParenLess | Name | Key => 2,
            PropertyOpen | Unicode | KeyOpen => 3,
            Hex => self.low,
            CodePoint => code_point,
            CountOpen => 2,
            CountMin | CountMinLarge | CountComma | CountEnd => 1,
            CountMax => 1 + self.digits_to(10, self.low),
            ClassOpen | Class | ClassLow | ClassNull | ClassLead | ClassRangeLead | ClassSet | ClassSetDash
            | ClassDash => 1,
            ClassEscape | ClassEscapeOfLead | ClassControl => 2,
            ClassProperty => 1 + property,
            ClassUnicode | ClassPropertyOpen => 4,
            ClassHex => 3 - self.digits,
            ClassUnicodeHex => 5 - self.digits,
            ClassCodePoint => 1 + code_point,
        }
    }

    /// So many digits make the number at least so great.
    fn digits_to(self, base: u64, least: u32) -> u32 {
        let longer = |greatest: &u64| Some(greatest * base + base - 1);
        let is_less = |greatest: &u64| *greatest < u64::from(least);
        std::iter::successors(Some(u64::from(self.value)), longer).take_while(is_less).count() as u32
    }

    /// The same groups in another mode.
    fn to(self, mode: Mode) -> Self {
        Self { mode, low: 0, has_low: false, value: 0, digits: 0, ..self }
    }
    fn with(self, mode: Mode, low: u32, value: u32) -> Self {
        Self { low, value, ..self.to(mode) }
    }
    /// In another mode of an escape in a class, whose low end stays.
    fn within(self, mode: Mode) -> Self {
        Self { mode, value: 0, digits: 0, ..self }
    }
    fn open(self, is_atom: bool) -> Self {
        Self { open: self.open << 1 | u32::from(is_atom), ..self.to(Mode::Fresh) }
    }
    fn counted(self) -> Self {
        Self { groups: (self.groups + 1).min(GROUPS_MAX), ..self }
    }
    fn close(self) -> Option<Self> {
        let closed = Self { open: self.open >> 1, ..self };
        (self.open > 1).then(|| closed.to(if self.open & 1 == 1 { Mode::Atom } else { Mode::Fresh }))
    }
    /// Behind a character of a class whose code is between two.
    fn class_character(self, first: u32, last: u32) -> Option<Self> {
        match self.has_low {
            true => (self.low <= first).then(|| self.to(Mode::Class)),
            false => Some(self.with(Mode::ClassLow, last, 0)),
        }
    }
    /// Behind a set of a class, which is no end of a range.
    fn class_set(self) -> Option<Self> {
        (!self.has_low).then(|| self.to(Mode::ClassSet))
    }
}

impl Dfa for Pattern {
    fn name(&self) -> &str {
        NAME
    }
    fn save(&self) -> Option<SavedAutomaton> {
        Some(SavedAutomaton { kind: self.name().to_owned(), bytes: Vec::new() })
    }
    fn letters(&self) -> usize {
        self.letters.len()
    }
    fn start(&self) -> u128 {
        State::START.pack()
    }
    fn is_accepting(&self, state: u128) -> bool {
        let State { mode, open, .. } = State::unpack(state);
        open == 1 && matches!(mode, Mode::Fresh | Mode::Atom | Mode::Counted | Mode::Null | Mode::Reference)
    }
    fn letters_min(&self, state: u128) -> u32 {
        let state = State::unpack(state);
        state.open.ilog2() + state.letters_to_term()
    }
    /// All groups are closed, behind the name of a property in a class: nothing else that is begun is as long.
    fn shortest_rest_max(&self) -> Option<u32> {
        let property = self.properties.iter().map(|body| body.len() as u32).max();
        Some(DEPTH_MAX + property.unwrap_or(0) + 2)
    }
    fn before_letters(&self, state: u128, letters: &ByteSet) -> u128 {
        use Mode::*;
        // The printable characters of ASCII are the first letters.
        if letters.iter().any(|letter| letter < 0x7F - 0x20) {
            return state;
        }
        let state = State::unpack(state);
        let same = match state.mode {
            Fresh | Atom | Counted | Null | Reference => state.to(Fresh),
            ClassOpen | Class | ClassLow | ClassNull | ClassLead | ClassRangeLead | ClassSet => state.to(Class),
            _ => state,
        };
        same.pack()
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        let (first, last) = self.letters[usize::from(letter)];
        // What is not printable ASCII plays no part in the syntax: any one character stands for it.
        let c = if first == last && (0x20..0x7F).contains(&first) { first as u8 as char } else { '\u{80}' };
        self.step(State::unpack(state), c, (first, last)).map(State::pack)
    }
}

impl Pattern {
    fn step(&self, state: State, c: char, codes: (u32, u32)) -> Option<State> {
        use Mode::*;
        match state.mode {
            Fresh | Atom | Counted | Null | Reference => term(state, c),
            Paren | ParenQuery | ParenLess | Name => group(state, c),
            Escape => escape(state, c),
            Control => c.is_ascii_alphabetic().then(|| state.to(Atom)),
            Hex => {
                c.to_digit(16)?;
                Some(if state.low == 1 { state.to(Atom) } else { state.with(Hex, state.low - 1, 0) })
            }
            Unicode => match c {
                '{' => Some(state.to(CodePoint)),
                _ => c.is_ascii_hexdigit().then(|| state.with(Hex, 3, 0)),
            },
            CodePoint => match c {
                '}' => (state.digits > 0).then(|| state.to(Atom)),
                _ => code_point_digit(state, c),
            },
            PropertyOpen | Property | ClassPropertyOpen | ClassProperty => self.property(state, c),
            KeyOpen => (c == '<').then(|| state.to(Key)),
            Key => (c as u32 == state.key + 0x60).then(|| state.to(KeyClose)),
            KeyClose => (c == '>').then(|| state.to(Atom)),
            CountOpen | CountMin | CountMinLarge | CountComma | CountMax | CountEnd => count(state, c),
            _ => class(state, c, codes),
        }
    }

    fn property(&self, state: State, c: char) -> Option<State> {
        let in_class = matches!(state.mode, Mode::ClassPropertyOpen | Mode::ClassProperty);
        let inside = if in_class { Mode::ClassProperty } else { Mode::Property };
        if state.mode != inside {
            return (c == '{').then(|| state.to(inside));
        }
        let length = state.low as usize;
        let from = state.value as usize;
        let prefix = &self.properties[from].as_bytes()[..length];
        if c == '}' {
            let is_whole = length > 0 && self.properties[from].len() == length;
            return is_whole.then(|| state.to(if in_class { Mode::ClassSet } else { Mode::Atom }));
        }
        let longer = [prefix, &[c as u8]].concat();
        let at = self.properties.partition_point(|body| body.as_bytes() < &longer[..]);
        let begins = self.properties.get(at).is_some_and(|body| body.as_bytes().starts_with(&longer));
        (c.is_ascii() && begins).then(|| state.with(inside, state.low + 1, at as u32))
    }
}

/// What may follow a whole term.
fn term(state: State, c: char) -> Option<State> {
    use Mode::*;
    match (state.mode, c) {
        (Null, '0'..='9') => None,
        (Reference, '0'..='9') => reference(state, c),
        (Atom | Null | Reference, '*' | '+' | '?') => Some(state.to(Counted)),
        (Atom | Null | Reference, '{') => Some(state.to(CountOpen)),
        (Counted, '?') => Some(state.to(Fresh)),
        (_, '^' | '$' | '|') => Some(state.to(Fresh)),
        (_, '(') => (state.open >> DEPTH_MAX == 0).then(|| state.to(Paren)),
        (_, ')') => state.close(),
        (_, '[') => Some(state.to(ClassOpen)),
        (_, '\\') => Some(state.to(Escape)),
        (_, '*' | '+' | '?' | '{' | '}' | ']') => None,
        _ => Some(state.to(Atom)),
    }
}

fn reference(state: State, c: char) -> Option<State> {
    let number = state.value * 10 + c.to_digit(10)?;
    (number <= state.groups).then(|| state.with(Mode::Reference, 0, number))
}

/// The beginning of a group.
fn group(state: State, c: char) -> Option<State> {
    use Mode::*;
    match (state.mode, c) {
        (Paren, '?') => Some(state.to(ParenQuery)),
        (Paren, _) => term(state.open(true).counted(), c),
        (ParenQuery, ':') => Some(state.open(true)),
        (ParenQuery | ParenLess, '=' | '!') => Some(state.open(false)),
        (ParenQuery, '<') => Some(state.to(ParenLess)),
        (ParenLess, 'a'..='z' | 'A'..='Z' | '_' | '$') => {
            let is_free = state.names >> name_bit(c as u32) & 1 == 0;
            is_free.then(|| state.with(Name, 0, c as u32))
        }
        (Name, 'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '$') => Some(state.with(Name, 1, state.value)),
        (Name, '>') => {
            let is_key = state.low == 0 && (0x61..0x7B).contains(&state.value);
            let key = if is_key { state.value - 0x60 } else { state.key };
            let names = state.names | 1 << name_bit(state.value);
            Some(State { key, names, ..state.open(true).counted() })
        }
        _ => None,
    }
}

/// The bit of a name by its first letter.
fn name_bit(first: u32) -> u32 {
    match (first as u8).to_ascii_lowercase() {
        letter @ b'a'..=b'z' => u32::from(letter - b'a'),
        _ => 26,
    }
}

fn is_syntax(c: char) -> bool {
    "^$\\.*+?()[]{}|/".contains(c)
}

fn escape(state: State, c: char) -> Option<State> {
    use Mode::*;
    match c {
        'd' | 'D' | 's' | 'S' | 'w' | 'W' | 'f' | 'n' | 'r' | 't' | 'v' => Some(state.to(Atom)),
        'b' | 'B' => Some(state.to(Fresh)),
        '0' => Some(state.to(Null)),
        '1'..='9' => reference(state, c),
        'c' => Some(state.to(Control)),
        'x' => Some(state.with(Hex, 2, 0)),
        'u' => Some(state.to(Unicode)),
        'p' | 'P' => Some(state.to(PropertyOpen)),
        'k' => (state.key > 0).then(|| state.to(KeyOpen)),
        _ => is_syntax(c).then(|| state.to(Atom)),
    }
}

/// A digit of `\u{…}`; that there is one is kept, and the low end of a range.
fn code_point_digit(state: State, c: char) -> Option<State> {
    let value = state.value * 16 + c.to_digit(16)?;
    let can_reach = !state.has_low || greatest(value) >= state.low;
    (value <= CODE_MAX && can_reach).then_some(State { value, digits: 1, ..state })
}

/// The greatest code point that begins with these digits.
fn greatest(mut value: u32) -> u32 {
    if value == 0 || (0..6).any(|digits| CODE_MAX >> (4 * digits) == value) {
        return CODE_MAX;
    }
    while value * 16 <= CODE_MAX {
        value = (value * 16 + 15).min(CODE_MAX);
    }
    value
}

fn count(state: State, c: char) -> Option<State> {
    use Mode::*;
    let State { mode, low, value, .. } = state;
    match (mode, c) {
        (CountMin | CountMinLarge | CountEnd, '}') => Some(state.to(Counted)),
        (CountComma, '}') => Some(state.to(Counted)),
        (CountMin, ',') => Some(state.with(CountComma, low, 0)),
        // Past what is counted there is no greatest count.
        (CountMinLarge, ',') => Some(state.with(CountComma, COUNT_MAX + 1, 0)),
        (CountOpen | CountMin, '0'..='9') => {
            let least = low * 10 + c.to_digit(10)?;
            Some(if least > COUNT_MAX { state.to(CountMinLarge) } else { state.with(CountMin, least, 0) })
        }
        (CountMinLarge, '0'..='9') => Some(state),
        (CountComma, _) if low > COUNT_MAX => None,
        (CountComma | CountMax, '0'..='9') => {
            let most = value * 10 + c.to_digit(10)?;
            Some(if most >= low { state.to(CountEnd) } else { state.with(CountMax, low, most) })
        }
        (CountEnd, '0'..='9') => Some(state),
        _ => None,
    }
}

/// Within brackets.
fn class(state: State, c: char, (first, last): (u32, u32)) -> Option<State> {
    use Mode::*;
    match (state.mode, c) {
        (ClassOpen, '^') => Some(state.to(Class)),
        (mode, ']') if !is_escape(mode) => Some(state.to(Atom)),
        (ClassSetDash, _) => None,
        (ClassNull, '0'..='9') => None,
        (ClassLow | ClassNull | ClassLead, '-') => Some(State { has_low: true, ..state.with(ClassDash, state.low, 0) }),
        (ClassSet, '-') => Some(state.to(ClassSetDash)),
        (ClassDash, '\\') => Some(state.within(ClassEscape)),
        (ClassLead | ClassRangeLead, '\\') => Some(state.to(ClassEscapeOfLead)),
        (ClassOpen | Class | ClassLow | ClassNull | ClassSet, '\\') => Some(state.to(ClassEscape)),
        (mode, _) if !is_escape(mode) => state.class_character(first, last),
        (ClassEscape | ClassEscapeOfLead, _) => class_escape(state, c),
        (ClassControl, _) => {
            let code = c as u32 % 32;
            if c.is_ascii_alphabetic() { state.class_character(code, code) } else { None }
        }
        (ClassUnicode, '{') => Some(state.within(ClassCodePoint)),
        (ClassUnicode | ClassUnicodeHex | ClassHex, _) => class_digit(state, c),
        (ClassCodePoint, '}') if state.digits > 0 => state.class_character(state.value, state.value),
        (ClassCodePoint, _) => code_point_digit(state, c),
        _ => None,
    }
}

/// Whether the mode stands within an escape of a class.
fn is_escape(mode: Mode) -> bool {
    mode as u8 >= Mode::ClassEscape as u8
}

fn class_escape(state: State, c: char) -> Option<State> {
    use Mode::*;
    let code = |code: u32| state.class_character(code, code);
    match c {
        'd' | 'D' | 's' | 'S' | 'w' | 'W' => state.class_set(),
        'p' | 'P' => state.class_set().map(|state| state.to(ClassPropertyOpen)),
        'b' => code(0x08),
        't' => code(0x09),
        'n' => code(0x0A),
        'v' => code(0x0B),
        'f' => code(0x0C),
        'r' => code(0x0D),
        '0' => (!state.has_low).then(|| state.to(ClassNull)),
        'c' => (state.low <= 26).then(|| state.within(ClassControl)),
        'x' => (state.low <= 0xFF).then(|| state.within(ClassHex)),
        'u' => (state.mode == ClassEscape).then(|| state.within(ClassUnicode)),
        _ if is_syntax(c) || c == '-' => code(c as u32),
        _ => None,
    }
}

/// A digit of `\xHH` or `\uHHHH`. Behind the first half of a pair, what could be the second is left out.
fn class_digit(state: State, c: char) -> Option<State> {
    let value = state.value * 16 + c.to_digit(16)?;
    let missing = if state.mode == Mode::ClassHex { 1 } else { 3 } - state.digits;
    if state.has_low && ((value + 1) << (4 * missing)) - 1 < state.low {
        return None;
    }
    if missing > 0 {
        let mode = if state.mode == Mode::ClassHex { Mode::ClassHex } else { Mode::ClassUnicodeHex };
        return Some(State { mode, value, digits: state.digits + 1, ..state });
    }
    let behind = state.class_character(value, value)?;
    Some(match (0xD800..0xDC00).contains(&value) {
        true if state.has_low => behind.to(Mode::ClassRangeLead),
        true => behind.with(Mode::ClassLead, value, 0),
        false => behind,
    })
}

#[cfg(test)]
mod tests {
    use rustc_hash::FxHashSet;

    use super::*;

    /// A letter takes at most one of those that are missing, so that no word is shorter than it says.
    #[test]
    fn no_letter_takes_two_of_those_that_are_missing() {
        let dfa = automaton();
        let (mut seen, mut agenda) = (FxHashSet::from_iter([dfa.start()]), vec![dfa.start()]);
        let mut at = 0;
        while at < agenda.len().min(20_000) {
            let state = agenda[at];
            at += 1;
            let left = dfa.letters_min(state);
            assert!(left == 0 || !dfa.is_accepting(state), "{:?}", State::unpack(state));
            for letter in 0..dfa.letters() {
                let Some(next) = dfa.next(state, letter as u8) else { continue };
                assert!(left <= 1 + dfa.letters_min(next), "{:?}, {letter}", State::unpack(state));
                if seen.insert(next) {
                    agenda.push(next);
                }
            }
        }
    }
}
