//! `follow` and `behind` of section "Lexemes" of `docs/semantics.md`: what is owed behind a lexeme, and what must stand before
//! one.

use std::collections::BTreeSet;

use super::configuration::Configuration;
use super::earley::Expected;
use super::ends::Ended;
use super::regex::Re;
use super::{Letter, Oracle};

impl Oracle {
    /// Lexemes that end together, by what may then follow.
    pub(super) fn by_follow(&self, configuration: &Configuration, ended: Vec<Ended>) -> Vec<(Option<Re>, Vec<Ended>)> {
        let mut groups: Vec<(Option<Re>, Vec<Ended>)> = Vec::new();
        for lexeme in ended {
            let both: Vec<Re> = configuration.guard.into_iter().chain(self.lexeme(lexeme.0).follow).collect();
            let guard = match both.as_slice() {
                [] => None,
                &[only] => Some(only),
                _ => Some(self.regexes.borrow_mut().and(both)),
            };
            if guard.is_some_and(|guard| !self.regexes.borrow_mut().nonempty(guard)) {
                continue;
            }
            match groups.iter_mut().find(|(other, _)| *other == guard) {
                Some((_, group)) => group.push(lexeme),
                None => groups.push((guard, vec![lexeme])),
            }
        }
        groups
    }

    /// What the text must be after a byte; `None` if it cannot be that any more.
    pub(super) fn guard_after(&self, guard: Option<Re>, byte: u8) -> Option<Option<Re>> {
        let Some(guard) = guard else { return Some(None) };
        let mut regexes = self.regexes.borrow_mut();
        let after = regexes.derivative(guard, byte);
        let others = regexes.not(after);
        match () {
            () if !regexes.nonempty(after) => None,
            () if !regexes.nonempty(others) => Some(None),
            () => Some(Some(after)),
        }
    }

    /// Whether the text may end at the set here, as far as look-aheads say.
    pub(super) fn may_end(&self, configuration: &Configuration) -> bool {
        configuration.guard.is_none_or(|guard| self.regexes.borrow().nullable(guard))
    }

    /// Whether a lexeme may begin behind what was read, as far as its look-behind says.
    pub(super) fn may_begin(&self, what: Expected, letters: &[Letter]) -> bool {
        let Some(behind) = self.lexeme(what).behind else { return true };
        let left = self.left_after(behind, letters);
        self.regexes.borrow().nullable(left)
    }

    /// What is left of a language after the bytes since the last token letter.
    pub(super) fn left_after(&self, language: Re, letters: &[Letter]) -> Re {
        letters.iter().fold(language, |left, letter| match letter {
            Letter::Byte(byte) => self.regexes.borrow_mut().derivative(left, *byte),
            Letter::Token(_) => language,
        })
    }

    /// What is left of all that look-behinds look for.
    pub(super) fn behinds_left(&self, letters: &[Letter]) -> Vec<Re> {
        let behinds: BTreeSet<Re> = self.symbols.lexemes().iter().filter_map(|lexeme| lexeme.behind).collect();
        behinds.into_iter().map(|behind| self.left_after(behind, letters)).collect()
    }
}
