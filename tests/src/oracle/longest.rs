//! Section "`longest`" of `docs/semantics.md`: one lexeme wins over others.

use std::cell::RefCell;
use std::rc::Rc;

use super::Oracle;
use super::configuration::{Configuration, Live, under_way};
use super::earley::Expected;
use super::regex::Re;

impl Oracle {
    /// `longest`, rules 1 to 3.
    pub(super) fn feed_longest(&self, configuration: &Configuration, byte: u8) -> Vec<Rc<Configuration>> {
        let Some(guard) = self.guard_after(configuration.guard, byte) else { return vec![] };
        let stepped = if configuration.ended { vec![] } else { self.step(&configuration.live, byte) };
        if stepped.is_empty() {
            // Rule 2. The set reached expects only whole lexemes, none of which matches: this goes one deep, unless the text of
            // a `stop` was read again.
            let reached = self.after_ends(configuration, Some(byte));
            return reached.iter().flat_map(|reached| self.deeper(|| self.feed_longest(reached, byte))).collect();
        }
        let lazy: Vec<Live> =
            stepped.iter().filter(|live| self.is_lazy(live) && self.is_match(live)).cloned().collect();
        let ended = !lazy.is_empty();
        let others = self.others(&stepped, byte);
        let next = under_way(configuration, byte, None, if ended { lazy } else { stepped }, ended, guard);
        let mut results = vec![Rc::new(next)];
        if let Some(others) = others {
            for reached in self.after_ends(configuration, Some(byte)) {
                let guard = self.regexes.borrow_mut().and(reached.guard.into_iter().chain([others]));
                let reached = Configuration { guard: Some(guard), memo: RefCell::default(), ..(*reached).clone() };
                let fed = self.deeper(|| self.feed_longest(&reached, byte));
                results.extend(fed.into_iter().filter(|fed| self.goes_on_over_others(fed)));
            }
        }
        results
    }

    /// Whether some lexeme goes on over a character that may follow.
    fn goes_on_over_others(&self, configuration: &Configuration) -> bool {
        let mut regexes = self.regexes.borrow_mut();
        configuration.live.iter().any(|live| {
            let both = regexes.and(configuration.guard.into_iter().chain([live.rest]));
            regexes.nonempty(both)
        })
    }

    /// `longest`: the texts that begin with a character that begins with the byte and that no lexeme goes on over. `None` if the
    /// byte begins none, or if there are no such characters.
    pub(super) fn others(&self, stepped: &[Live], byte: u8) -> Option<Re> {
        let (len, first) = match byte {
            0xC2..=0xDF => (1, 0x80..=0xBF),
            0xE0 => (2, 0xA0..=0xBF),
            0xED => (2, 0x80..=0x9F),
            0xE1..=0xEF => (2, 0x80..=0xBF),
            0xF0 => (3, 0x90..=0xBF),
            0xF1..=0xF3 => (3, 0x80..=0xBF),
            0xF4 => (3, 0x80..=0x8F),
            _ => return None,
        };
        let mut regexes = self.regexes.borrow_mut();
        let rests = regexes.or(stepped.iter().map(|live| live.rest));
        let taken = regexes.characters(rests, len, first.clone());
        let anything = regexes.anything();
        let all = regexes.characters(anything, len, first);
        let not_taken = regexes.not(taken);
        let left = regexes.and([all, not_taken]);
        if !regexes.nonempty(left) {
            return None;
        }
        let taken = regexes.then(taken, anything);
        let byte = regexes.bytes(byte..=byte);
        let taken = regexes.then(byte, taken);
        Some(regexes.not(taken))
    }

    /// Of lexemes that match and compete, those that end.
    pub(super) fn keep_winners(&self, live: &[Live], matching: &mut Vec<usize>) {
        let priority = |at: &usize| match live[*at].what {
            Expected::Lexeme(lexeme) => self.symbols.lexeme(lexeme).priority,
            Expected::Ignored(..) => 0,
        };
        let highest = matching.iter().map(priority).max();
        matching.retain(|at| Some(priority(at)) == highest);
        let is_literal = |at: &usize| self.is_literal(live[*at].what);
        if self.symbols.options().keywords && matching.iter().any(is_literal) {
            matching.retain(is_literal);
        }
    }
}
