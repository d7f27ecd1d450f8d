//! Which prefixes are viable where look-around sees beyond lexemes (section "`exact`" of `docs/semantics.md`): what may follow
//! is tried, up to a bound behind which the answer is given up.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use super::Oracle;
use super::configuration::{Configuration, Live};
use super::earley::{Expected, Item};
use super::regex::Re;

/// All that decides what may follow a configuration: what is owed, and each live lexeme with what is left of it and the set
/// that expects it, by its contents and theirs that it refers to; and what is left of what look-behinds look for.
pub(super) type Future = (Option<Re>, Vec<(Expected, Re, u64)>, Vec<Re>);

/// Futures looked at to find one in which nothing is owed, or the end of the text: for one question and for all, by an oracle
/// without patience, as random grammars have it; another one takes [`PATIENCE`] times as many.
const FUTURES_MAX: usize = 200;
const ALL_FUTURES_MAX: usize = 2_000;
const FUTURES_TO_AN_END_MAX: usize = 400;
const ALL_FUTURES_TO_AN_END_MAX: usize = 4_000;
pub(super) const PATIENCE: usize = 10;

impl Oracle {
    /// In a grammar with look-around beyond terminals: whether a configuration leads to one in which nothing is owed, or to
    /// the end of the text or a token letter. Nothing is owed by a lexeme that is not ignored and that anything may follow,
    /// if anything may follow now. With look-behinds it must be a lexeme that has not begun yet. Where there are no traps, whether
    /// a configuration leads to the end of a text.
    pub(super) fn leads_on(&self, configuration: &Rc<Configuration>) -> bool {
        if self.undecided.get() {
            return true;
        }
        let start = self.future(configuration);
        if let Some(&known) = self.leads_on.borrow().get(&start) {
            return known;
        }
        let found = match self.symbols.has_no_traps() {
            true => self.finds_an_end(configuration),
            false => self.finds_a_way_on(configuration),
        };
        self.leads_on.borrow_mut().insert(start, found);
        found
    }

    /// Whether a text leads from a configuration to where it may end: each is tried, the shorter ones first.
    pub(super) fn finds_an_end(&self, configuration: &Rc<Configuration>) -> bool {
        let mut seen = BTreeSet::from([self.future(configuration)]);
        let mut queue = VecDeque::from([configuration.clone()]);
        while let Some(at) = queue.pop_front() {
            let known = self.leads_on.borrow().get(&self.future(&at)).copied();
            if known == Some(true) || known.is_none() && self.accepts(&at) {
                return true;
            }
            if known == Some(false) {
                continue;
            }
            for byte in self.distinct_bytes(&at) {
                for next in self.feed_exact_anywhere(&at, byte) {
                    if seen.insert(self.future(&next)) {
                        queue.push_back(next);
                    }
                    if self.looks_too_far(seen.len(), FUTURES_TO_AN_END_MAX, ALL_FUTURES_TO_AN_END_MAX) {
                        return true;
                    }
                }
            }
        }
        self.leads_on.borrow_mut().extend(seen.into_iter().map(|dead| (dead, false)));
        false
    }

    pub(super) fn finds_a_way_on(&self, configuration: &Rc<Configuration>) -> bool {
        let mut seen: BTreeSet<Future> = BTreeSet::new();
        let mut queue = VecDeque::from([configuration.clone()]);
        let first = if self.symbols.has_behinds() { configuration.position() } else { 0 };
        while let Some(at) = queue.pop_front() {
            let is_free = |live: &Live| {
                self.competes(live)
                    || live.began >= first
                        && at.guard.is_none()
                        && matches!(live.what, Expected::Lexeme(_))
                        && self.lexeme(live.what).follow.is_none()
            };
            if at.live.iter().any(is_free) || self.accepts(&at) {
                return true;
            }
            let tokens = 0..self.vocab.tokens.len() as u32;
            if tokens.into_iter().any(|id| !self.feed_token_letter(&at, id).is_empty()) {
                return true;
            }
            for byte in self.distinct_bytes(&at) {
                for next in self.feed_exact_anywhere(&at, byte) {
                    if seen.insert(self.future(&next)) {
                        queue.push_back(next);
                    }
                    if self.looks_too_far(seen.len(), FUTURES_MAX, ALL_FUTURES_MAX) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Counts a future that is looked at, of so many for the same question and at most so many for all.
    pub(super) fn looks_too_far(&self, futures: usize, futures_max: usize, all_max: usize) -> bool {
        self.futures.set(self.futures.get() + 1);
        let is_too_far = futures > futures_max * self.patience || self.futures.get() > all_max * self.patience;
        self.undecided.set(self.undecided.get() || is_too_far);
        is_too_far
    }

    /// One byte of each class that no lexeme and no look-ahead tells apart here.
    pub(super) fn distinct_bytes(&self, at: &Configuration) -> Vec<u8> {
        let left = self.behinds_left(&at.letters);
        let mut told: Vec<Re> = Vec::new();
        self.add_rests(at, &mut told);
        let mut regexes = self.regexes.borrow_mut();
        for lexeme in self.symbols.lexemes() {
            told.extend([lexeme.regex].into_iter().chain(lexeme.follow));
        }
        told.extend(left);
        told.sort();
        told.dedup();
        let mut seen: BTreeSet<Vec<Re>> = BTreeSet::new();
        let mut is_new = |&byte: &u8| seen.insert(told.iter().map(|&re| regexes.derivative(re, byte)).collect());
        (0..=255).filter(|byte| is_new(byte)).collect()
    }

    /// What is left of the lexemes that are live here, or behind the text of a `stop` that is read again here, and what
    /// look-aheads want.
    pub(super) fn add_rests(&self, at: &Configuration, rests: &mut Vec<Re>) {
        rests.extend(at.live.iter().map(|live| live.rest).chain(at.guard));
        for reached in self.after_ends(at, None) {
            if reached.position() > at.position() {
                self.deeper(|| self.add_rests(&reached, rests));
            }
        }
    }

    pub(super) fn future(&self, at: &Configuration) -> Future {
        let (guard, live) = future(at);
        (guard, live, self.behinds_left(&at.letters))
    }
}

pub(super) fn future(at: &Configuration) -> (Option<Re>, Vec<(Expected, Re, u64)>) {
    let mut contents: Vec<u64> = Vec::with_capacity(at.chart.len());
    for (position, set) in at.chart.iter().enumerate() {
        let mut items: Vec<(Item, Option<u64>)> = Vec::new();
        for item in set.iter().flat_map(|set| &set.items) {
            let origin = (item.origin != position).then(|| contents[item.origin]);
            items.push((Item { origin: 0, ..item.clone() }, origin));
        }
        items.sort();
        let mut hasher = DefaultHasher::new();
        items.hash(&mut hasher);
        contents.push(hasher.finish());
    }
    let mut live: Vec<_> = at.live.iter().map(|live| (live.what, live.rest, contents[live.began])).collect();
    live.sort();
    live.dedup();
    (at.guard, live)
}
