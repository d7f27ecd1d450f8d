//! The texts of small languages, one by one.

use std::sync::Arc;

use larkspur_grammar::algebra::Expr;
use larkspur_grammar::{ByteSet, RegexId, RegexNode};
use rustc_hash::FxHashSet;

use crate::normal::Normalizer;

/// States of one listing at most, as often as they are come to. 2,000 = some milliseconds.
const STATES_MAX: usize = 2_000;

/// The bytes of texts, one class after the other.
type Way = Vec<ByteSet>;

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
        if self.is_surely_endless(regex) {
            return Words::Many;
        }
        if let Some(known) = self.listed.get(&(regex, most)) {
            return known.clone();
        }
        let words = self.list(regex, most);
        self.listed.insert((regex, most), words.clone());
        words
    }

    /// Whether it shows without a search that there are endlessly many texts: all but those of bounded lengths, as an
    /// object's other names, or repetitions of a class.
    fn is_surely_endless(&self, regex: RegexId) -> bool {
        let is_almost_all = |part: RegexId| match *self.set.node(part) {
            RegexNode::Not(left_out) => self.set.info(left_out).len_max.is_some(),
            _ => part == self.any_text,
        };
        match *self.set.node(regex) {
            RegexNode::And(ref parts) => parts.iter().all(|&part| is_almost_all(part)),
            RegexNode::Repeat(child, _, None) => matches!(self.set.node(child), RegexNode::Class(_)),
            _ => is_almost_all(regex),
        }
    }

    fn list(&mut self, regex: RegexId, most: usize) -> Words {
        if let Some(mut words) = self.written_out(regex) {
            words.sort_unstable();
            words.dedup();
            return if words.len() > most { Words::Many } else { Words::These(words.into()) };
        }
        let Some(start) = self.search.start(&self.set, regex) else { return Words::Unknown };
        if self.search.is_seen_endless(start) {
            return Words::Many;
        }
        let ways = match self.ways_to_end(start, most) {
            Ok(ways) => ways,
            Err(answer) => return answer,
        };
        let mut words: Vec<Box<str>> = Vec::new();
        for way in ways {
            let mut texts = vec![Vec::new()];
            for class in way {
                let longer =
                    |text: &Vec<u8>| class.iter().map(|byte| [&text[..], &[byte]].concat()).collect::<Vec<_>>();
                texts = texts.iter().flat_map(longer).collect();
            }
            let word = |text| String::from_utf8(text).expect("languages of strings are UTF-8").into_boxed_str();
            words.extend(texts.into_iter().map(word));
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

    /// All texts, each with others of the same classes of bytes.
    ///
    /// Only ways that were seen to come to an end are told: of others nobody may know that they do not, and their bytes one by
    /// one would be endlessly many.
    ///
    /// Errors: [`Words::Many`] if there are more than `most`, [`Words::Unknown`].
    fn ways_to_end(&mut self, start: Expr, most: usize) -> Result<Vec<Way>, Words> {
        // Each state that is reached, with the class that led there and the number of texts that do along one path of classes,
        // and how many states are on the way to it.
        let mut stack = vec![(start, ByteSet::EMPTY, 1usize, 0usize)];
        let (mut way, mut on_way): (Vec<(Expr, ByteSet)>, FxHashSet<Expr>) = Default::default();
        let (mut ends, mut count, mut states) = (Vec::new(), 0usize, 0);
        while let Some((state, class, paths, depth)) = stack.pop() {
            // Asked of those that are come to: where there are many texts, that are few.
            if !self.search.may_go_on(state) {
                continue;
            }
            for (left, _) in way.drain(depth..) {
                on_way.remove(&left);
            }
            way.push((state, class));
            on_way.insert(state);
            if self.search.is_end(state) {
                count = count.saturating_add(paths);
                if count > most {
                    return Err(Words::Many);
                }
                ends.push(way[1..].iter().map(|&(_, class)| class).collect());
            }
            let mut next = self.search.steps(state).ok_or(Words::Unknown)?;
            // What goes on and comes back to where it was does so as often as one likes.
            if next.iter().any(|(_, next)| on_way.contains(next)) {
                return Err(Words::Many);
            }
            states += 1;
            if states > STATES_MAX || !self.charge(1) {
                return Err(Words::Unknown);
            }
            // The largest classes are followed first: they show soonest that there are many.
            next.sort_by_key(|(class, _)| class.len());
            let paths_by = |class: &ByteSet| paths.saturating_mul(class.len() as usize);
            stack.extend(next.iter().map(|(class, next)| (*next, *class, paths_by(class), depth + 1)));
        }
        Ok(ends)
    }
}
