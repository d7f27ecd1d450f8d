//! Steps between places, remembered: a walk over the trie comes to some thousand places, each by the same bytes again and again.

use larkspur_grammar::{ByteSet, LexerMode};

use super::{Cursor, Machine, Quick, Word};
use crate::error::Fault;
use crate::lexer::states::LexStateId;

/// Places whose steps are remembered at most; a further one takes the room of another. 2 kB each.
const PLACES_MAX: usize = 1 << 12;

/// Steps of a place: one for each byte.
const STEPS: usize = 256;

/// In place of where a step leads: it is not known, or the byte is refused. No place is a thread in the lexer state that
/// nothing leads on from.
const UNKNOWN: u64 = 0;
const REFUSED: u64 = 1 << 32;

/// Steps from places, by a place's number. Room for them is taken where it is first needed.
#[derive(Default, Debug)]
pub(super) struct Steps {
    /// The token in which they were made, if that matters.
    token: u32,
    rows: Vec<Row>,
    /// Rows that have taken room.
    taken: usize,
}

/// Steps of a place.
#[derive(Clone, Default, Debug)]
struct Row {
    place: u64,
    next: Option<Box<[u64; STEPS]>>,
}

impl Steps {
    /// Where a byte leads from a place.
    #[inline]
    pub fn get(&self, Word(place): Word, byte: u8) -> Quick {
        let row = self.rows.get(slot_of(place)).filter(|row| row.place == place);
        match row.and_then(|row| row.next.as_ref()).map_or(UNKNOWN, |next| next[usize::from(byte)]) {
            UNKNOWN => Quick::Ask,
            REFUSED => Quick::Refused,
            next => Quick::To(Word(next)),
        }
    }

    /// Whether what is remembered holds in a token.
    #[inline]
    pub fn hold_in(&self, token: u32) -> bool {
        self.token == token
    }

    /// Remembers the step of some bytes in a token.
    pub fn insert(&mut self, token: u32, Word(place): Word, bytes: &ByteSet, next: Option<Cursor>) {
        if !self.hold_in(token) {
            self.forget();
            self.token = token;
        }
        if self.rows.is_empty() {
            self.rows = vec![Row::default(); PLACES_MAX];
        }
        let row = &mut self.rows[slot_of(place)];
        self.taken += usize::from(row.next.is_none());
        let steps = row.next.get_or_insert_with(|| Box::new([UNKNOWN; STEPS]));
        if row.place != place {
            row.place = place;
            steps.fill(UNKNOWN);
        }
        let next = next.map_or(REFUSED, Cursor::key);
        bytes.iter().for_each(|byte| steps[usize::from(byte)] = next);
    }

    /// Forgets all, since numbers of places will be given anew.
    pub fn forget(&mut self) {
        (self.rows, self.taken) = (Vec::new(), 0);
    }

    /// Bytes that hold steps.
    pub fn bytes(&self) -> usize {
        self.rows.len() * size_of::<Row>() + self.taken * STEPS * size_of::<u64>()
    }
}

/// What a step in `exact` mode has asked of its byte.
#[derive(Default, Debug)]
pub(super) struct Asked {
    /// Lexer states from which it goes on.
    states: Vec<LexStateId>,
    /// Whether it has asked more.
    is_more: bool,
}

impl Asked {
    /// A new step begins.
    pub fn clear(&mut self) {
        self.states.clear();
        self.is_more = false;
    }

    pub fn add(&mut self, lex: LexStateId) {
        self.states.push(lex);
    }

    pub fn add_more(&mut self) {
        self.is_more = true;
    }
}

impl Machine {
    /// The bytes that make the same step as the one before with this byte: from all lexer states that it has asked they lead to the
    /// same ones.
    pub(super) fn alike(&mut self, byte: u8) -> Result<ByteSet, Fault> {
        let only = ByteSet::range(byte, byte);
        if self.asked.is_more || self.cfg.mode != LexerMode::Exact || self.cfg.has_hidden {
            return Ok(only);
        }
        // Many threads are in one state.
        self.asked.states.sort_unstable();
        self.asked.states.dedup();
        let mut alike = ByteSet::ALL;
        for &lex in &self.asked.states {
            if alike == only {
                break;
            }
            let next = &self.lexer.row(lex)?.next;
            let target = next[usize::from(byte)];
            for (word, next) in alike.0.iter_mut().zip(next.chunks(64)) {
                *word &= next.iter().rev().fold(0, |word, next| word << 1 | u64::from(*next == target));
            }
        }
        Ok(alike)
    }
}

/// Multiplicative hashing, by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
fn slot_of(place: u64) -> usize {
    const { assert!(PLACES_MAX.is_power_of_two()) };
    (place.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACES_MAX.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leads_to(steps: &Steps, place: Word, byte: u8) -> Option<Option<u64>> {
        match steps.get(place, byte) {
            Quick::To(Word(next)) => Some(Some(next)),
            Quick::Refused => Some(None),
            Quick::Ask => None,
        }
    }

    #[test]
    fn steps_of_one_context_are_remembered_until_a_place_takes_their_room() {
        let mut steps = Steps::default();
        let (place, next) = (Word(7), Cursor::from_word(Word(5 << 32 | 9), 0));
        assert_eq!(leads_to(&steps, place, b'a'), None);
        steps.insert(0, place, &ByteSet::range(b'a', b'c'), Some(next));
        steps.insert(0, place, &ByteSet::range(b'x', b'x'), None);
        assert_eq!(leads_to(&steps, place, b'b'), Some(Some(next.key())));
        assert_eq!(leads_to(&steps, place, b'x'), Some(None));
        assert_eq!(leads_to(&steps, place, b'd'), None);

        let rival = (8..).find(|&other| slot_of(other) == slot_of(7)).map(Word).expect("there are few rows");
        assert_eq!(leads_to(&steps, rival, b'b'), None);
        steps.insert(0, rival, &ByteSet::range(b'b', b'b'), None);
        assert_eq!(leads_to(&steps, rival, b'b'), Some(None));
        assert_eq!(leads_to(&steps, rival, b'x'), None);
        assert_eq!(leads_to(&steps, place, b'b'), None);

        steps.insert(1, place, &ByteSet::range(b'b', b'b'), Some(next));
        assert!(steps.hold_in(1) && !steps.hold_in(0));
        assert_eq!(leads_to(&steps, rival, b'b'), None);
    }
}
