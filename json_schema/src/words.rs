//! The texts of small languages, one by one.

use std::sync::Arc;

use larkspur_grammar::{RegexId, RegexNode};

use crate::emptiness::first_classes;
use crate::normal::Normalizer;

/// Steps of one listing at most. 4,000 = some milliseconds.
const STEPS_MAX: usize = 4_000;

/// How many texts a language has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Words {
    /// Exactly these, sorted.
    These(Arc<[Box<str>]>),
    /// More than were asked for.
    Many,
    /// That could not be found out.
    Unknown,
}

impl Normalizer<'_> {
    /// The texts of a language of characters, if it has `most` at most.
    pub fn words(&mut self, regex: RegexId, most: usize) -> Words {
        if regex == self.any_text {
            return Words::Many;
        }
        if let Some(known) = self.listed.get(&(regex, most)) {
            return known.clone();
        }
        let words = self.list(regex, most);
        self.listed.insert((regex, most), words.clone());
        words
    }

    fn list(&mut self, regex: RegexId, most: usize) -> Words {
        if let Some(mut words) = self.written_out(regex) {
            words.sort_unstable();
            words.dedup();
            return if words.len() > most { Words::Many } else { Words::These(words.into()) };
        }
        match self.count_words(regex, most) {
            None => return Words::Unknown,
            Some(count) if count > most => return Words::Many,
            Some(_) => {}
        }
        let mut words: Vec<Box<str>> = Vec::new();
        let mut stack = vec![(String::new(), regex)];
        while let Some((text, state)) = stack.pop() {
            if self.set.info(state).nullable {
                words.push(text.as_str().into());
            }
            let Some(steps) = self.steps_of(state) else { return Words::Unknown };
            for (low, high, next) in steps {
                let letters = (low..high).filter_map(char::from_u32);
                stack.extend(letters.map(|letter| (format!("{text}{letter}"), next)));
            }
        }
        words.sort_unstable();
        Words::These(words.into())
    }

    /// The texts of a language that is written as a list of them.
    fn written_out(&self, regex: RegexId) -> Option<Vec<Box<str>>> {
        let text = |part: RegexId| match self.set.node(part) {
            RegexNode::Literal(bytes) => String::from_utf8(bytes.to_vec()).ok().map(String::into_boxed_str),
            _ => None,
        };
        match self.set.node(regex) {
            RegexNode::Or(parts) => parts.iter().map(|&part| text(part)).collect(),
            _ => text(regex).map(|text| vec![text]),
        }
    }

    /// The number of texts, or one above `most`; `None` if that takes too long.
    fn count_words(&mut self, regex: RegexId, most: usize) -> Option<usize> {
        // Each state that is reached, with the number of texts that lead there along one path of classes.
        let mut stack = vec![(regex, 1usize)];
        let (mut count, mut steps) = (0usize, 0);
        while let Some((state, paths)) = stack.pop() {
            if self.set.info(state).nullable {
                count = count.saturating_add(paths);
                if count > most {
                    return Some(count);
                }
            }
            let mut next = self.steps_of(state)?;
            steps += 1 + next.len();
            if steps > STEPS_MAX || !self.charge(1) {
                return None;
            }
            // The largest classes are followed first: they show soonest that there are many.
            next.sort_by_key(|&(low, high, _)| high - low);
            let surrogates = |low: u32, high: u32| (high.min(0xE000)).saturating_sub(low.max(0xD800));
            stack.extend(
                next.into_iter().map(|(low, high, next)| {
                    (next, paths.saturating_mul((high - low - surrogates(low, high)) as usize))
                }),
            );
        }
        Some(count)
    }

    /// The classes of characters that may come first, as ranges without their ends, each with what may follow.
    fn steps_of(&mut self, state: RegexId) -> Option<Vec<(u32, u32, RegexId)>> {
        let ends = self.first_ends(state)?;
        let mut steps = Vec::new();
        for pair in ends.windows(2) {
            let &[low, high] = pair else { continue };
            let Some(letter) = (low..high).find_map(char::from_u32) else { continue };
            let next = self.search.derivative(&mut self.set, state, letter)?;
            // What is not known to be empty is followed, until the steps are used up.
            if *self.set.node(next) != RegexNode::Nothing && !self.is_nothing(next) {
                steps.push((low, high, next));
            }
        }
        Some(steps)
    }

    /// Where the classes of the first characters begin and end, in order.
    fn first_ends(&self, regex: RegexId) -> Option<Vec<u32>> {
        let classes = first_classes(&self.set, regex)?;
        let mut ends: Vec<u32> =
            classes.iter().flat_map(|class| class.iter()).flat_map(|&(low, high)| [low, high + 1]).collect();
        if ends.is_empty() {
            return Some(ends);
        }
        // What is in no class may still matter, to complements.
        ends.extend([0, 0x110000]);
        ends.sort_unstable();
        ends.dedup();
        Some(ends)
    }
}
