//! Where tokens lead: half of the tokens that are consumed were consumed at the same place before.

use larkspur_toktrie::TokenId;

use crate::growing::GrowingMap;
use crate::machine::Cursor;

/// Where a token leads from a place. What was found once holds as long as the epoch, if no text counts at either place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct TokenStep {
    pub to: Cursor,
    /// Nothing can follow.
    pub is_last: bool,
}

/// Steps at most, some 500 kB; then they are forgotten. Few grammars see a thousand.
const STEPS_MAX: usize = 1 << 13;

/// What the matchers of an epoch know of such steps.
#[derive(Debug)]
pub(crate) struct TokenSteps {
    is_on: bool,
    known: GrowingMap<(u64, TokenId), TokenStep>,
}

impl TokenSteps {
    /// None yet; none ever if switched off.
    pub fn new(is_on: bool) -> Self {
        Self { is_on, known: GrowingMap::default() }
    }

    #[inline]
    pub fn get(&self, from: Cursor, token: TokenId) -> Option<TokenStep> {
        self.known.get(&(from.key(), token)).copied()
    }

    /// Remembers a step between places at which no text counts.
    pub fn add(&mut self, from: Cursor, token: TokenId, step: TokenStep) {
        if !self.is_on {
            return;
        }
        if self.known.len() >= STEPS_MAX {
            self.known = GrowingMap::default();
        }
        self.known.insert((from.key(), token), step);
    }

    /// Bytes of all of them, roughly.
    pub fn bytes(&self) -> usize {
        self.known.len() * size_of::<((u64, TokenId), TokenStep)>() * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_steps_are_known_and_many_are_forgotten() {
        let place = Cursor::numbered;
        let step = |number: u32| TokenStep { to: place(number + 1), is_last: number.is_multiple_of(3) };
        let (mut on, mut off) = (TokenSteps::new(true), TokenSteps::new(false));
        for number in 0..3 * STEPS_MAX as u32 {
            for steps in [&mut on, &mut off] {
                steps.add(place(number % 5), number, step(number));
            }
            assert_eq!(on.get(place(number % 5), number), Some(step(number)));
            assert_eq!(on.get(place((number + 1) % 5), number), None);
            assert_eq!(off.get(place(number % 5), number), None);
            assert!(on.bytes() < 1 << 20, "{} bytes", on.bytes());
        }
    }
}
