//! The part before the `@` of internationalised mail addresses: RFC 5321, section 4.1.2, with what RFC 6531, section 3.3,
//! adds, as an automaton over characters. It counts octets of UTF-8, which no repetition of characters does.

use std::sync::Arc;

use larkspur_grammar::{CharClass, Dfa, DfaRef, RegexId, RegexSet};

/// Octets of the part before the `@`: RFC 5321, section 4.5.3.1.1.
const OCTETS_MAX: u8 = 64;

/// Letters: the octets of each, and their ranges.
const LETTERS: [(u8, &[(u32, u32)]); 8] = [
    // Atoms without what is not ASCII.
    (
        1,
        &[
            (0x21, 0x21),
            (0x23, 0x27),
            (0x2A, 0x2B),
            (0x2D, 0x2D),
            (0x2F, 0x39),
            (0x3D, 0x3D),
            (0x3F, 0x3F),
            (0x41, 0x5A),
            (0x5E, 0x7E),
        ],
    ),
    (1, &[(0x2E, 0x2E)]),
    (1, &[(0x22, 0x22)]),
    (1, &[(0x5C, 0x5C)]),
    // What else may be quoted.
    (
        1,
        &[
            (0x20, 0x20),
            (0x28, 0x29),
            (0x2C, 0x2C),
            (0x3A, 0x3C),
            (0x3E, 0x3E),
            (0x40, 0x40),
            (0x5B, 0x5B),
            (0x5D, 0x5D),
        ],
    ),
    (2, &[(0x80, 0x7FF)]),
    (3, &[(0x800, 0xFFFF)]),
    (4, &[(0x1_0000, 0x10_FFFF)]),
];
const ATOM: u8 = 0;
const DOT: u8 = 1;
const QUOTE: u8 = 2;
const BACKSLASH: u8 = 3;
const SPECIAL: u8 = 4;

/// The parts before the `@`, as a language of characters.
pub(super) fn local_part(set: &mut RegexSet) -> RegexId {
    let classes = LETTERS.map(|(_, ranges)| set.class(CharClass::from_ranges(ranges.iter().copied())));
    set.dfa(&DfaRef::new(Arc::new(LocalPart)), &classes)
}

#[derive(Debug)]
struct LocalPart;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Place {
    Start,
    Atom,
    Dot,
    Quoted,
    Escape,
    End,
}

impl Place {
    /// Octets that must still come.
    fn missing(self) -> u8 {
        match self {
            Place::Atom | Place::End => 0,
            Place::Start | Place::Dot | Place::Quoted => 1,
            Place::Escape => 2,
        }
    }
    fn next(self, letter: u8) -> Option<Place> {
        Some(match (self, letter) {
            (Place::Start, QUOTE) => Place::Quoted,
            (Place::Start | Place::Dot | Place::Atom, ATOM | 5..) => Place::Atom,
            (Place::Atom, DOT) => Place::Dot,
            (Place::Quoted, QUOTE) => Place::End,
            (Place::Quoted, BACKSLASH) => Place::Escape,
            (Place::Quoted, _) | (Place::Escape, ..=SPECIAL) => Place::Quoted,
            _ => return None,
        })
    }
}

const PLACES: [Place; 6] = [Place::Start, Place::Atom, Place::Dot, Place::Quoted, Place::Escape, Place::End];

impl Dfa for LocalPart {
    fn name(&self) -> &str {
        "idn-email, local part"
    }
    fn letters(&self) -> usize {
        LETTERS.len()
    }
    /// Octets so far, and the place in the last three bits.
    fn start(&self) -> u128 {
        Place::Start as u128
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        let (octets, place) = ((state >> 3) as u8, PLACES[(state & 7) as usize]);
        let next = place.next(letter)?;
        let octets = octets + LETTERS[usize::from(letter)].0;
        (octets + next.missing() <= OCTETS_MAX).then_some(u128::from(octets) << 3 | next as u128)
    }
    fn is_accepting(&self, state: u128) -> bool {
        matches!(PLACES[(state & 7) as usize], Place::Atom | Place::End)
    }
}
