//! Regular languages by Brzozowski derivatives, byte by byte.
//! Follows J. Brzozowski, JACM 11(4), 1964; `|` and `&` are kept as sorted sets so that derivatives are finitely many.
//! Emptiness is decided by visiting derivatives until one matches the empty text.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::RangeInclusive;

use larkspur_grammar::{DfaRef, RegexId, RegexNode, RegexSet};

/// A language in [`Regexes`]; equal numbers are equal languages, not the other way round.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Re(u32);

/// Derivatives visited to decide whether one language is empty.
const EMPTINESS_STATES_MAX: usize = 100_000;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
enum Node {
    Nothing,
    Epsilon,
    /// One byte of a set.
    Byte([u64; 4]),
    /// `more` bytes of UTF-8 that are still to come and whose payload is in one of the ranges; 0 means a whole character.
    Character {
        more: u8,
        ranges: Box<[(u32, u32)]>,
    },
    Then(Re, Re),
    Or(Box<[Re]>),
    And(Box<[Re]>),
    Not(Re),
    Repeat(Re, u32, Option<u32>),
    /// The words of an automaton from a state on, behind the rest of one of these letters.
    Words {
        dfa: DfaRef,
        letters: Box<[Re]>,
        state: u128,
        begun: Option<Box<[(u8, Re)]>>,
    },
    /// What is left of a decimal number that must be a multiple of `divisor / 10^scale`.
    Multiple {
        divisor: u64,
        scale: u32,
        place: Place,
    },
}

/// How much of a decimal number was read; the number is the remainder of its digits modulo the divisor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Place {
    Start,
    LeadingZero,
    Integer(u64),
    Point(u64),
    /// After so many digits of the fraction.
    Fraction(u64, u32),
}

/// A growing table of languages.
#[derive(Default)]
pub struct Regexes {
    nodes: Vec<Node>,
    ids: HashMap<Node, Re>,
    derivatives: HashMap<(Re, u8), Re>,
    nonempty: HashMap<Re, bool>,
}

impl Regexes {
    fn intern(&mut self, node: Node) -> Re {
        if let Some(&re) = self.ids.get(&node) {
            return re;
        }
        let re = Re(self.nodes.len() as u32);
        self.nodes.push(node.clone());
        self.ids.insert(node, re);
        re
    }
    fn node(&self, re: Re) -> &Node {
        &self.nodes[re.0 as usize]
    }

    /// No text.
    pub fn nothing(&mut self) -> Re {
        self.intern(Node::Nothing)
    }
    /// The empty text.
    pub fn epsilon(&mut self) -> Re {
        self.intern(Node::Epsilon)
    }
    /// Every byte string.
    pub fn anything(&mut self) -> Re {
        let nothing = self.nothing();
        self.not(nothing)
    }
    /// One byte of a range.
    pub fn bytes(&mut self, range: RangeInclusive<u8>) -> Re {
        let mut set = [0; 4];
        range.for_each(|byte| set[usize::from(byte / 64)] |= 1 << (byte % 64));
        self.intern(Node::Byte(set))
    }
    /// Texts of so many bytes that are the rest of a character, which goes on with one of `first`, and that the texts of `re`
    /// begin with.
    pub fn characters(&mut self, re: Re, len: u32, first: RangeInclusive<u8>) -> Re {
        if len == 0 {
            return if self.nonempty(re) { self.epsilon() } else { self.nothing() };
        }
        let mut by_rest: BTreeMap<Re, Vec<u8>> = BTreeMap::new();
        first.for_each(|byte| by_rest.entry(self.derivative(re, byte)).or_default().push(byte));
        let mut parts = Vec::new();
        for (rest, bytes) in by_rest {
            let bytes: Vec<Re> = bytes.into_iter().map(|byte| self.bytes(byte..=byte)).collect();
            let (bytes, rest) = (self.or(bytes), self.characters(rest, len - 1, 0x80..=0xBF));
            parts.push(self.then(bytes, rest));
        }
        self.or(parts)
    }
    /// One after the other.
    pub fn then(&mut self, first: Re, second: Re) -> Re {
        match (self.node(first).clone(), self.node(second).clone()) {
            (Node::Nothing, _) | (_, Node::Epsilon) => first,
            (_, Node::Nothing) | (Node::Epsilon, _) => second,
            (Node::Then(a, b), _) => {
                let rest = self.then(b, second);
                self.then(a, rest)
            }
            _ => self.intern(Node::Then(first, second)),
        }
    }
    /// Either.
    pub fn or(&mut self, parts: impl IntoIterator<Item = Re>) -> Re {
        let (nothing, anything) = (self.nothing(), self.anything());
        let mut set = BTreeSet::new();
        for part in parts {
            match self.node(part) {
                Node::Or(inner) => set.extend(inner.iter().copied()),
                _ => drop(set.insert(part)),
            }
        }
        set.remove(&nothing);
        match set.len() {
            0 => nothing,
            1 => *set.first().expect("one part"),
            _ if set.contains(&anything) => anything,
            _ => self.intern(Node::Or(set.into_iter().collect())),
        }
    }
    /// Both.
    pub fn and(&mut self, parts: impl IntoIterator<Item = Re>) -> Re {
        let (nothing, anything) = (self.nothing(), self.anything());
        let mut set = BTreeSet::new();
        for part in parts {
            match self.node(part) {
                Node::And(inner) => set.extend(inner.iter().copied()),
                _ => drop(set.insert(part)),
            }
        }
        set.remove(&anything);
        match set.len() {
            0 => anything,
            1 => *set.first().expect("one part"),
            _ if set.contains(&nothing) => nothing,
            _ => self.intern(Node::And(set.into_iter().collect())),
        }
    }
    /// Every byte string that is not in the language.
    pub fn not(&mut self, child: Re) -> Re {
        match *self.node(child) {
            Node::Not(inner) => inner,
            _ => self.intern(Node::Not(child)),
        }
    }
    /// `child` `min` to `max` times.
    pub fn repeat(&mut self, child: Re, min: u32, max: Option<u32>) -> Re {
        let min = if self.nullable(child) { 0 } else { min };
        match (self.node(child), min, max) {
            (_, _, Some(0)) | (Node::Epsilon, ..) | (Node::Nothing, 0, _) => self.epsilon(),
            (Node::Nothing, ..) => child,
            (_, 1, Some(1)) => child,
            _ => self.intern(Node::Repeat(child, min, max)),
        }
    }
    /// `L \ {ε}`.
    pub fn without_empty(&mut self, re: Re) -> Re {
        if !self.nullable(re) {
            return re;
        }
        let epsilon = self.epsilon();
        let not_empty = self.not(epsilon);
        self.and([re, not_empty])
    }
    /// `min(L) = L & ~(L·Σ+)`.
    pub fn shortest(&mut self, re: Re) -> Re {
        let anything = self.anything();
        let something = self.without_empty(anything);
        let longer = self.then(re, something);
        let not_longer = self.not(longer);
        self.and([re, not_longer])
    }
    /// The language of an IR node.
    pub fn import(&mut self, set: &RegexSet, id: RegexId) -> Re {
        match set.node(id) {
            RegexNode::Nothing => self.nothing(),
            RegexNode::Literal(bytes) => {
                let epsilon = self.epsilon();
                bytes.iter().rev().fold(epsilon, |rest, &byte| {
                    let mut one = [0; 4];
                    one[usize::from(byte / 64)] |= 1 << (byte % 64);
                    let first = self.intern(Node::Byte(one));
                    self.then(first, rest)
                })
            }
            RegexNode::Class(class) if class.is_empty() => self.nothing(),
            RegexNode::Class(class) => self.intern(Node::Character { more: 0, ranges: class.ranges().into() }),
            RegexNode::Bytes(bytes) if bytes.is_empty() => self.nothing(),
            RegexNode::Bytes(bytes) => self.intern(Node::Byte(bytes.0)),
            RegexNode::Concat(parts) => {
                let epsilon = self.epsilon();
                parts.iter().rev().fold(epsilon, |rest, &part| {
                    let first = self.import(set, part);
                    self.then(first, rest)
                })
            }
            RegexNode::Or(parts) => {
                let parts: Vec<Re> = parts.iter().map(|&part| self.import(set, part)).collect();
                self.or(parts)
            }
            RegexNode::And(parts) => {
                let parts: Vec<Re> = parts.iter().map(|&part| self.import(set, part)).collect();
                self.and(parts)
            }
            RegexNode::Not(child) => {
                let child = self.import(set, *child);
                self.not(child)
            }
            RegexNode::Repeat(child, min, max) => {
                let child = self.import(set, *child);
                self.repeat(child, *min, *max)
            }
            RegexNode::Shortest(child) => {
                let child = self.import(set, *child);
                self.shortest(child)
            }
            RegexNode::Values { values, exponent_max } => {
                let mut own = RegexSet::new();
                let spelled_out = super::values::spelled_out(values, *exponent_max, &mut own);
                self.import(&own, spelled_out)
            }
            RegexNode::Dfa(dfa, letters) => {
                let letters = letters.iter().map(|&letter| self.import(set, letter)).collect();
                self.intern(Node::Words { dfa: dfa.clone(), letters, state: dfa.start(), begun: None })
            }
            &RegexNode::MultipleOf { divisor, scale } => {
                self.intern(Node::Multiple { divisor, scale, place: Place::Start })
            }
        }
    }

    /// Whether the empty text is in the language.
    pub fn nullable(&self, re: Re) -> bool {
        match self.node(re) {
            Node::Nothing | Node::Byte(_) | Node::Character { .. } => false,
            Node::Epsilon => true,
            Node::Then(a, b) => self.nullable(*a) && self.nullable(*b),
            Node::Or(parts) => parts.iter().any(|&part| self.nullable(part)),
            Node::And(parts) => parts.iter().all(|&part| self.nullable(part)),
            Node::Not(child) => !self.nullable(*child),
            Node::Repeat(child, min, _) => *min == 0 || self.nullable(*child),
            Node::Words { dfa, state, begun, .. } => begun.is_none() && dfa.is_accepting(*state),
            &Node::Multiple { divisor, scale, place } => match place {
                Place::Start | Place::Point(_) => false,
                Place::LeadingZero => true,
                Place::Integer(remainder) => multiply(remainder, scale, divisor) == 0,
                Place::Fraction(remainder, digits) => multiply(remainder, scale.saturating_sub(digits), divisor) == 0,
            },
        }
    }

    /// What may follow `byte`.
    pub fn derivative(&mut self, re: Re, byte: u8) -> Re {
        if let Some(&known) = self.derivatives.get(&(re, byte)) {
            return known;
        }
        let derivative = match self.node(re).clone() {
            Node::Nothing | Node::Epsilon => self.nothing(),
            Node::Byte(set) if set[usize::from(byte / 64)] >> (byte % 64) & 1 == 1 => self.epsilon(),
            Node::Byte(_) => self.nothing(),
            Node::Character { more, ranges } => self.character_derivative(more, &ranges, byte),
            Node::Then(first, second) => {
                let stepped = self.derivative(first, byte);
                let within = self.then(stepped, second);
                if self.nullable(first) {
                    let after = self.derivative(second, byte);
                    self.or([within, after])
                } else {
                    within
                }
            }
            Node::Or(parts) => {
                let parts: Vec<Re> = parts.iter().map(|&part| self.derivative(part, byte)).collect();
                self.or(parts)
            }
            Node::And(parts) => {
                let parts: Vec<Re> = parts.iter().map(|&part| self.derivative(part, byte)).collect();
                self.and(parts)
            }
            Node::Not(child) => {
                let child = self.derivative(child, byte);
                self.not(child)
            }
            Node::Repeat(child, min, max) => {
                let stepped = self.derivative(child, byte);
                let rest = self.repeat(child, min.saturating_sub(1), max.map(|max| max - 1));
                self.then(stepped, rest)
            }
            Node::Words { dfa, letters, state, begun } => {
                let ways = begun.unwrap_or_else(|| (0..).zip(letters.iter().copied()).collect());
                let mut left = Vec::new();
                for &(letter, text) in &ways {
                    let Some(next) = dfa.next(state, letter) else { continue };
                    let rest = self.derivative(text, byte);
                    if self.nullable(rest) {
                        // Letters are a prefix code: no other one is left.
                        let words = Node::Words { dfa, letters, state: next, begun: None };
                        return self.intern(words);
                    }
                    if self.nonempty(rest) {
                        left.push((letter, rest));
                    }
                }
                match left.is_empty() {
                    true => self.nothing(),
                    false => self.intern(Node::Words { dfa, letters, state, begun: Some(left.into()) }),
                }
            }
            Node::Multiple { divisor, scale, place } => match place.after(byte, divisor, scale) {
                Some(place) => self.intern(Node::Multiple { divisor, scale, place }),
                None => self.nothing(),
            },
        };
        self.derivatives.insert((re, byte), derivative);
        derivative
    }

    /// UTF-8 on the fly: the lead byte says how many bytes follow, each byte narrows the ranges to its payload.
    fn character_derivative(&mut self, more: u8, ranges: &[(u32, u32)], byte: u8) -> Re {
        let code = u32::from(byte);
        let (more, low, high) = match (more, byte) {
            (0, 0..=0x7F) => (0, code, code),
            (0, 0xC2..=0xDF) => (1, (code & 0x1F) << 6, 0x3F),
            (0, 0xE0..=0xEF) => (2, (code & 0xF) << 12, 0xFFF),
            (0, 0xF0..=0xF4) => (3, (code & 7) << 18, 0x3FFFF),
            (1.., 0x80..=0xBF) => (more - 1, (code & 0x3F) << (6 * (more - 1)), (1 << (6 * (more - 1))) - 1),
            _ => return self.nothing(),
        };
        let base = low;
        let high = low | high;
        let shortest_form = match byte {
            0xE0 => 0x800,
            0xF0 => 0x10000,
            _ => 0,
        };
        let low = low.max(shortest_form);
        let narrowed: Box<[(u32, u32)]> = (ranges.iter())
            .filter(|&&(first, last)| first <= high && low <= last)
            .map(|&(first, last)| (first.max(low) - base, last.min(high) - base))
            .collect();
        match (narrowed.is_empty(), more) {
            (true, _) => self.nothing(),
            (false, 0) => self.epsilon(),
            (false, _) => self.intern(Node::Character { more, ranges: narrowed }),
        }
    }

    /// Whether the language has a text.
    pub fn nonempty(&mut self, re: Re) -> bool {
        if let Some(&known) = self.nonempty.get(&re) {
            return known;
        }
        let nonempty = match self.node(re).clone() {
            Node::Nothing => false,
            Node::Epsilon | Node::Byte(_) | Node::Character { .. } => true,
            Node::Then(a, b) => self.nonempty(a) && self.nonempty(b),
            Node::Or(parts) => parts.iter().any(|&part| self.nonempty(part)),
            Node::Repeat(child, min, _) => min == 0 || self.nonempty(child),
            Node::Words { .. } => true,
            Node::And(_) | Node::Not(_) | Node::Multiple { .. } => self.explore(re),
        };
        self.nonempty.insert(re, nonempty);
        nonempty
    }

    fn explore(&mut self, re: Re) -> bool {
        let nothing = self.nothing();
        let mut seen = BTreeSet::from([re, nothing]);
        let mut queue = vec![re];
        while let Some(next) = queue.pop() {
            assert!(seen.len() < EMPTINESS_STATES_MAX, "the oracle cannot decide emptiness of so large a regex");
            match self.nonempty.get(&next) {
                Some(true) => return true,
                Some(false) => continue,
                None if self.nullable(next) => return true,
                None => {}
            }
            for byte in 0..=255 {
                let derivative = self.derivative(next, byte);
                if seen.insert(derivative) {
                    queue.push(derivative);
                }
            }
        }
        self.nonempty.extend(seen.into_iter().map(|re| (re, false)));
        false
    }

    /// Whether `text` is in the language.
    pub fn matches(&mut self, re: Re, text: &[u8]) -> bool {
        let rest = text.iter().fold(re, |re, &byte| self.derivative(re, byte));
        self.nullable(rest)
    }
}

impl Place {
    fn after(self, byte: u8, divisor: u64, scale: u32) -> Option<Place> {
        if byte == b'.' {
            return match self {
                Place::LeadingZero => Some(Place::Point(0)),
                Place::Integer(remainder) => Some(Place::Point(remainder)),
                _ => None,
            };
        }
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        let push = |remainder: u64| ((u128::from(remainder) * 10 + u128::from(digit)) % u128::from(divisor)) as u64;
        match self {
            Place::Start if digit == 0 => Some(Place::LeadingZero),
            Place::Start => Some(Place::Integer(push(0))),
            Place::LeadingZero => None,
            Place::Integer(remainder) => Some(Place::Integer(push(remainder))),
            Place::Point(remainder) if scale > 0 => Some(Place::Fraction(push(remainder), 1)),
            Place::Fraction(remainder, digits) if digits < scale => Some(Place::Fraction(push(remainder), digits + 1)),
            // Past the divisor's own digits only zeros keep the value a multiple.
            Place::Point(remainder) | Place::Fraction(remainder, _) => {
                (digit == 0).then_some(Place::Fraction(remainder, scale))
            }
        }
    }
}

/// `remainder · 10^zeros` modulo `divisor`.
fn multiply(remainder: u64, zeros: u32, divisor: u64) -> u64 {
    (0..zeros).fold(remainder % divisor, |r, _| (u128::from(r) * 10 % u128::from(divisor)) as u64)
}
