//! The part before the `@` of internationalised mail addresses: RFC 5321, section 4.1.2, with what RFC 6531, section 3.3,
//! adds, as an automaton over characters. It counts octets of UTF-8, which no repetition of characters does.

use std::sync::Arc;

use larkspur_grammar::saved::SavedAutomaton;
use larkspur_grammar::{Dfa, DfaRef, RegexId, RegexSet};

/// How the automaton is called.
pub(super) const NAME: &str = "idn-email, local part";
/// Octets of the part before the `@`: RFC 5321, section 4.5.3.1.1.
const OCTETS_MAX: u8 = 64;

/// Letters: the octets of each, and its characters.
const LETTERS: [(u8, &str); 8] = [
    // Atoms without what is not ASCII.
    (1, r"[!#-'*+\-/-9=?A-Z^-~]"),
    (1, r"\."),
    (1, "\""),
    (1, r"\\"),
    // What else may be quoted.
    (1, r"[ (),:;<>@\[\]]"),
    (2, r"[\u{80}-\u{7FF}]"),
    (3, r"[\u{800}-\u{FFFF}]"),
    (4, r"[\u{10000}-\u{10FFFF}]"),
];
const ATOM: u8 = 0;
const DOT: u8 = 1;
const QUOTE: u8 = 2;
const BACKSLASH: u8 = 3;
const SPECIAL: u8 = 4;

/// The parts before the `@`, as a language of characters.
pub(super) fn local_part(set: &mut RegexSet) -> RegexId {
    let classes = LETTERS.map(|(_, class)| super::parse(set, class));
    set.dfa(&automaton(), &classes)
}

pub(super) fn automaton() -> DfaRef {
    DfaRef::new(Arc::new(LocalPart))
}

#[derive(Debug)]
struct LocalPart;

numbered! {
    enum Place { Start, Atom, Dot, Quoted, Escape, End }
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

impl Dfa for LocalPart {
    fn name(&self) -> &str {
        NAME
    }
    fn save(&self) -> Option<SavedAutomaton> {
        Some(SavedAutomaton { kind: self.name().to_owned(), bytes: Vec::new() })
    }
    fn letters(&self) -> usize {
        LETTERS.len()
    }
    /// Octets so far, and the place in the last three bits.
    fn start(&self) -> u128 {
        Place::Start as u128
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        let (octets, place) = ((state >> 3) as u8, Place::of_number((state & 7) as usize));
        let next = place.next(letter)?;
        let octets = octets + LETTERS[usize::from(letter)].0;
        (octets + next.missing() <= OCTETS_MAX).then_some(u128::from(octets) << 3 | next as u128)
    }
    fn shortest_rest(&self, state: u128) -> Option<u32> {
        Some(Place::of_number((state & 7) as usize).missing().into())
    }
    fn shortest_rest_max(&self) -> Option<u32> {
        Some(Place::Escape.missing().into())
    }
    fn is_accepting(&self, state: u128) -> bool {
        matches!(Place::of_number((state & 7) as usize), Place::Atom | Place::End)
    }
}
