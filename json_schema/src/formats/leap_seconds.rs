//! Times of a leap second with a numeric offset (RFC 3339, section 5.7): the local time of 23:59:60 in UTC, which for each
//! of the 1,440 offsets is another one. As an automaton: written out they are 1,440 texts, which took 10 ms to compile.

use std::sync::Arc;

use larkspur_grammar::saved::SavedAutomaton;
use larkspur_grammar::{Dfa, DfaRef, RegexId, RegexSet};

/// How the automaton is called.
pub(super) const NAME: &str = "leap second";
/// The letters: ten digits, then these.
const OTHERS: &[u8] = b":.+-";
const MINUTES: u32 = 24 * 60;

#[derive(Debug)]
struct LeapSecond;

numbered! {
    /// What comes next.
    enum Place {
        Hour,
        /// `value` is the first digit.
        HourEnd,
        /// `value` is the hour.
        Colon,
        Minute,
        /// `value` is the hour times six, and the first digit of the minute.
        MinuteEnd,
        /// `value` is the local time in minutes.
        SecondColon,
        Six,
        Null,
        /// A point or a sign.
        Behind,
        FractionStart,
        /// A digit or a sign.
        Fraction,
        /// `value` is the offset in minutes, from here on.
        OffsetHour,
        OffsetHourEnd,
        /// `value` is the minutes of the offset, from here on.
        OffsetColon,
        OffsetMinute,
        /// `value` is the last digit.
        OffsetMinuteEnd,
        End,
    }
}

fn pack(place: Place, value: u32) -> u128 {
    u128::from(value) << 8 | place as u128
}

impl Dfa for LeapSecond {
    fn name(&self) -> &str {
        NAME
    }
    fn shortest_rest(&self, state: u128) -> Option<u32> {
        use Place::*;
        Some(match Place::of_number((state & 0xFF) as usize) {
            Hour => 14,
            HourEnd => 13,
            Colon => 12,
            Minute => 11,
            MinuteEnd => 10,
            SecondColon => 9,
            Six => 8,
            Null | FractionStart => 7,
            Behind | Fraction => 6,
            OffsetHour => 5,
            OffsetHourEnd => 4,
            OffsetColon => 3,
            OffsetMinute => 2,
            OffsetMinuteEnd => 1,
            End => 0,
        })
    }
    fn shortest_rest_max(&self) -> Option<u32> {
        self.shortest_rest(self.start())
    }
    fn save(&self) -> Option<SavedAutomaton> {
        Some(SavedAutomaton { kind: self.name().to_owned(), bytes: Vec::new() })
    }
    fn letters(&self) -> usize {
        10 + OTHERS.len()
    }
    fn start(&self) -> u128 {
        pack(Place::Hour, 0)
    }
    fn is_accepting(&self, state: u128) -> bool {
        state == pack(Place::End, 0)
    }
    fn next(&self, state: u128, letter: u8) -> Option<u128> {
        use Place::*;
        let value = (state >> 8) as u32;
        let digit = Some(u32::from(letter)).filter(|&digit| digit < 10);
        let is = |other: u8| letter >= 10 && OTHERS[usize::from(letter) - 10] == other;
        let just = |wanted: bool, place: Place, value: u32| wanted.then(|| pack(place, value));
        match Place::of_number((state & 0xFF) as usize) {
            Hour => digit.filter(|&digit| digit <= 2).map(|digit| pack(HourEnd, digit)),
            HourEnd => digit.map(|digit| value * 10 + digit).filter(|&hour| hour < 24).map(|hour| pack(Colon, hour)),
            Colon => just(is(b':'), Minute, value),
            Minute => digit.filter(|&digit| digit < 6).map(|digit| pack(MinuteEnd, value * 6 + digit)),
            MinuteEnd => digit.map(|digit| pack(SecondColon, value * 10 + digit)),
            SecondColon => just(is(b':'), Six, value),
            Six => just(digit == Some(6), Null, value),
            Null => just(digit == Some(0), Behind, value),
            Behind if is(b'.') => Some(pack(FractionStart, value)),
            FractionStart => digit.map(|_| pack(Fraction, value)),
            Fraction if digit.is_some() => Some(state),
            Behind | Fraction => {
                // 23:59 in UTC is this much behind the local time, or ahead of it.
                let behind = (value + 1) % MINUTES;
                let ahead = (MINUTES - behind) % MINUTES;
                if is(b'+') { Some(pack(OffsetHour, behind)) } else { just(is(b'-'), OffsetHour, ahead) }
            }
            OffsetHour => just(digit == Some(value / 600), OffsetHourEnd, value),
            OffsetHourEnd => just(digit == Some(value / 60 % 10), OffsetColon, value % 60),
            OffsetColon => just(is(b':'), OffsetMinute, value),
            OffsetMinute => just(digit == Some(value / 10), OffsetMinuteEnd, value % 10),
            OffsetMinuteEnd => just(digit == Some(value), End, 0),
            End => None,
        }
    }
}

/// The times, as a language of characters.
pub(super) fn regex(set: &mut RegexSet) -> RegexId {
    let letters: Vec<RegexId> = (b'0'..=b'9').chain(OTHERS.iter().copied()).map(|byte| set.literal(&[byte])).collect();
    set.dfa(&automaton(), &letters)
}

pub(super) fn automaton() -> DfaRef {
    DfaRef::new(Arc::new(LeapSecond))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(text: &str) -> bool {
        let letter = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            _ => OTHERS.iter().position(|&other| other == byte).map(|at| at as u8 + 10),
        };
        let end = text.bytes().try_fold(LeapSecond.start(), |state, byte| LeapSecond.next(state, letter(byte)?));
        end.is_some_and(|end| LeapSecond.is_accepting(end))
    }

    /// By the definition: the local time less the offset is 23:59.
    #[test]
    fn all_times_and_offsets() {
        let mut accepted = 0;
        for local in 0..MINUTES {
            for offset in 0..MINUTES {
                for (sign, utc) in [('+', local + MINUTES - offset), ('-', local + offset)] {
                    let text =
                        format!("{:02}:{:02}:60{sign}{:02}:{:02}", local / 60, local % 60, offset / 60, offset % 60);
                    let expected = utc % MINUTES == MINUTES - 1;
                    assert_eq!(accepts(&text), expected, "{text}");
                    accepted += u32::from(expected);
                }
            }
        }
        assert_eq!(accepted, 2 * MINUTES);
    }

    /// The shortest word has as many letters as are said, step by step.
    #[test]
    fn shortest_rests() {
        let mut left = "23:59:60+00:00".len() as u32;
        let mut state = LeapSecond.start();
        for byte in "23:59:60+00:00".bytes() {
            assert_eq!(LeapSecond.letters_min(state), left);
            let other = || OTHERS.iter().position(|&other| other == byte).map(|at| at as u8 + 10);
            let letter = if byte.is_ascii_digit() { Some(byte - b'0') } else { other() };
            state = LeapSecond.next(state, letter.expect("a letter")).expect("a way on");
            left -= 1;
        }
        assert!(LeapSecond.is_accepting(state) && LeapSecond.letters_min(state) == 0);
    }

    #[test]
    fn fractions_and_mistakes() {
        for text in ["23:59:60+00:00", "23:59:60.5-00:00", "00:59:60.123+01:00", "18:59:60-05:00"] {
            assert!(accepts(text), "{text}");
        }
        for text in
            ["", "23:59:60", "23:59:60.+00:00", "23:59:61+00:00", "24:00:60+00:00", "23:60:60+00:00", "23:59:60+00:000"]
        {
            assert!(!accepts(text), "{text}");
        }
    }
}
