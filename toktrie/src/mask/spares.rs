//! Words that a token mask had before. Masks go to and fro between some, as in and out of strings: what was a copy of the
//! next one already need not be copied again.

use super::{MaskOrigin, TokenMask};

/// Words that a mask keeps besides its own at most.
const SPARES_MAX: usize = 15;

/// So many of one family at most, the mask's own words included.
const FAMILY_MAX: usize = 4;

/// What a mask keeps besides its own words.
#[derive(Default)]
pub(super) struct Spares {
    /// In any order.
    spares: Vec<Spare>,
    /// How often words were put here.
    put: u64,
}

/// A copy of a mask.
struct Spare {
    origin: MaskOrigin,
    words: Box<[u32]>,
    /// When it was put here.
    put: u64,
}

impl TokenMask {
    /// Makes the mask's own the words that are the nearest to a mask of a store's family, and tells what they are a copy of:
    /// that mask, if its number is given and it was copied lately; else one of the family of which `is_near` says that little
    /// is to be written over it; else the oldest one, if there are as many of the family as may be kept. If there is none of
    /// these, all words are to be written. Cost: a mask keeps its last words, sixteen times at most and four times of a family.
    pub fn recall(
        &mut self,
        (store, family): (u64, u32),
        number: Option<u32>,
        is_near: impl Fn(MaskOrigin) -> bool,
    ) -> Option<MaskOrigin> {
        let is_it = |origin: MaskOrigin| origin.store == store && Some(origin.number) == number;
        let is_of_family = |origin: MaskOrigin| origin.store == store && origin.family == family;
        let own = self.origin.filter(|&origin| is_of_family(origin));
        if own.is_some_and(|origin| is_it(origin) || is_near(origin)) {
            return own;
        }
        let spares = &self.spares.spares;
        let of_family = || spares.iter().enumerate().filter(|(_, spare)| is_of_family(spare.origin));
        let near = || of_family().find(|(_, spare)| is_near(spare.origin)).map(|(place, _)| place);
        let is_full = || of_family().count() + usize::from(own.is_some()) >= FAMILY_MAX;
        let stale = || if is_full() { oldest(of_family()) } else { None };
        let copied = spares.iter().position(|spare| is_it(spare.origin));
        self.exchange(copied.or_else(near).or_else(stale))
    }

    /// Puts the own words among the spares, if they are a copy, and takes some in their place: without any, words that may be
    /// overwritten.
    fn exchange(&mut self, place: Option<usize>) -> Option<MaskOrigin> {
        let Spares { spares, put } = &mut self.spares;
        let Some(origin) = self.origin.take() else {
            let spare = spares.swap_remove(place?);
            self.words = spare.words;
            self.origin = Some(spare.origin);
            return self.origin;
        };
        *put += 1;
        let mut own = Spare { origin, words: std::mem::take(&mut self.words), put: *put };
        let taken = place.or_else(|| if spares.len() == SPARES_MAX { oldest(spares.iter().enumerate()) } else { None });
        match taken {
            Some(taken) => {
                std::mem::swap(&mut spares[taken], &mut own);
                self.words = own.words;
                self.origin = place.and(Some(own.origin));
            }
            None => {
                self.words = vec![0; own.words.len()].into();
                spares.push(own);
            }
        }
        self.origin
    }
}

/// The place of what was put here before all others.
fn oldest<'a>(spares: impl Iterator<Item = (usize, &'a Spare)>) -> Option<usize> {
    spares.min_by_key(|(_, spare)| spare.put).map(|(place, _)| place)
}

#[cfg(test)]
mod tests {
    use proptest::{collection, proptest};

    use super::*;

    const WORDS: usize = 8;

    /// The words of a mask of these tests.
    fn words_of(MaskOrigin { store, number, .. }: MaskOrigin) -> [u32; WORDS] {
        [store as u32 * 10_000 + number; WORDS]
    }

    fn write(mask: &mut TokenMask, origin: MaskOrigin, is_near: impl Fn(MaskOrigin) -> bool) -> Option<MaskOrigin> {
        let before = mask.recall((origin.store, origin.family), Some(origin.number), is_near);
        if let Some(before) = before {
            assert_eq!(mask.words(), words_of(before));
            assert_eq!((before.store, before.family), (origin.store, origin.family));
        }
        mask.copy_from(&words_of(origin));
        mask.set_origin(origin);
        before
    }

    /// A number stands for one mask, of whatever family.
    fn of(family: u32, place: u32) -> MaskOrigin {
        MaskOrigin { store: 1, number: family * 100 + place, family }
    }

    /// A mask that is wanted, how far others of its family may be from it, and what is done with it.
    type Step = ((u64, u32, u32), u32, u8);

    fn check(steps: Vec<Step>) {
        let mut mask = TokenMask::new(WORDS * 32);
        for ((store, family, place), distance, then) in steps {
            let origin = MaskOrigin { store, ..of(family, place) };
            let own = mask.origin();
            let before = write(&mut mask, origin, |other| other.number.abs_diff(origin.number) < distance);
            assert!(own != Some(origin) || before == own);
            let spares = &mask.spares.spares;
            assert!(spares.len() <= SPARES_MAX);
            let of_family = spares.iter().filter(|spare| (spare.origin.store, spare.origin.family) == (store, family));
            assert!(of_family.count() < FAMILY_MAX);
            match then {
                0 => mask.allow(3),
                // A new one is to be made over a base.
                1 => {
                    let before = mask.recall((store, family), None, |other| other.number % 4 < distance);
                    assert!(before.is_none_or(|before| mask.words() == words_of(before)));
                    mask.copy_from(&words_of(origin));
                    mask.set_origin(origin);
                }
                _ => {}
            }
        }
    }

    proptest! {
        #[test]
        fn words_that_are_told_are_there(
            steps in collection::vec(((0..2u64, 0..5u32, 0..8u32), 0..4u32, 0..10u8), 0..200),
        ) {
            check(steps);
        }
    }

    #[test]
    fn the_last_masks_are_found_again() {
        let mut mask = TokenMask::new(WORDS * 32);
        let all: Vec<MaskOrigin> = (0..4).flat_map(|family| (0..4).map(move |number| of(family, number))).collect();
        all.iter().for_each(|&origin| assert_eq!(write(&mut mask, origin, |_| false), None));
        for &origin in all.iter().rev().chain(&all) {
            assert_eq!(write(&mut mask, origin, |_| false), Some(origin));
        }
        // A fifth one of a family takes the place of its oldest; one of another family that of the oldest of all.
        assert_eq!(write(&mut mask, of(2, 9), |_| false), Some(of(2, 0)));
        assert_eq!(write(&mut mask, of(9, 0), |_| false), None);
        assert_eq!(write(&mut mask, of(0, 0), |_| false), None);
        // What is near is written over where it stands.
        assert_eq!(write(&mut mask, of(0, 7), |other| other == of(0, 0)), Some(of(0, 0)));
        assert_eq!(write(&mut mask, of(9, 1), |other| other == of(9, 0)), Some(of(9, 0)));
    }

    #[test]
    fn what_was_written_since_is_no_copy() {
        let mut mask = TokenMask::new(WORDS * 32);
        write(&mut mask, of(0, 0), |_| true);
        mask.forbid(0);
        assert_eq!(write(&mut mask, of(0, 0), |_| true), None);
        write(&mut mask, of(1, 0), |_| true);
        mask.words_mut()[0] = 0;
        assert_eq!(write(&mut mask, of(0, 0), |_| true), Some(of(0, 0)));
    }
}
