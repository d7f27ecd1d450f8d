//! Sections "`exact`" and "Grammars of both modes in one another" of `docs/semantics.md`: every way to split the text into
//! lexemes counts, but for those that compete.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::Oracle;
use super::configuration::{Configuration, Live, under_way};
use super::earley::Expected;

impl Oracle {
    /// `exact`: every lexeme that matches ends, and goes on as well, but for those that compete with others.
    pub(super) fn feed_exact(&self, configuration: &Configuration, byte: u8) -> Vec<Rc<Configuration>> {
        let reached = self.feed_exact_anywhere(configuration, byte);
        let looks_around = self.symbols.has_follows() || self.symbols.has_behinds();
        let is_viable = |next: &Rc<Configuration>| match looks_around {
            true => self.leads_on(next),
            false => next.live.iter().any(|live| self.can_finish(next, live)),
        };
        if !self.symbols.has_scopes() {
            return reached.into_iter().filter(is_viable).collect();
        }
        // What ends with a scope is only what was viable by itself.
        let viable_parts = |next: Rc<Configuration>| {
            let mut parts: Vec<Rc<Configuration>> = self.parts(&next);
            parts.retain(is_viable);
            let live: Vec<Live> = parts.iter().flat_map(|part| part.live.clone()).collect();
            (!live.is_empty()).then(|| Rc::new(Configuration { live, memo: RefCell::default(), ..(*next).clone() }))
        };
        reached.into_iter().filter_map(viable_parts).collect()
    }

    /// A configuration by the places at which its live lexemes began.
    fn parts(&self, configuration: &Configuration) -> Vec<Rc<Configuration>> {
        let begins: BTreeSet<usize> = configuration.live.iter().map(|live| live.began).collect();
        let part = |began: usize| {
            let live = configuration.live.iter().filter(|live| live.began == began).cloned().collect();
            Rc::new(Configuration { live, memo: RefCell::default(), ..configuration.clone() })
        };
        begins.into_iter().map(part).collect()
    }

    /// The same, wherever it leads.
    pub(super) fn feed_exact_anywhere(&self, configuration: &Configuration, byte: u8) -> Vec<Rc<Configuration>> {
        let Some(guard) = self.guard_after(configuration.guard, byte) else { return vec![] };
        let mut results = Vec::new();
        let mut live = self.step(&configuration.live, byte);
        let mut set_here = configuration.set_here().cloned();
        for reached in self.after_ends(configuration, Some(byte)) {
            let is_alike = reached.position() == configuration.position() && reached.guard == configuration.guard;
            if is_alike && set_here.is_none() {
                // The set here belongs to the same chart: one configuration has all splits.
                live.extend(self.step(&reached.live, byte));
                set_here = reached.set_here().cloned();
            } else {
                results.extend(self.deeper(|| self.feed_exact_anywhere(&reached, byte)));
            }
        }
        live.sort();
        live.dedup();
        let next = under_way(configuration, byte, set_here, self.without_losers(live), false, guard);
        if !next.live.is_empty() {
            results.push(Rc::new(next));
        }
        results
    }

    /// Lazy lexemes of grammars in `longest` mode that match now drop those that compete with them.
    pub(super) fn without_losers(&self, live: Vec<Live>) -> Vec<Live> {
        let ends = |live: &Live| self.competes(live) && self.is_lazy(live) && self.is_match(live);
        let won: BTreeSet<usize> = live.iter().filter(|live| ends(live)).map(|live| live.began).collect();
        live.into_iter().filter(|live| !self.competes(live) || !won.contains(&live.began) || ends(live)).collect()
    }

    /// `exact`: whether a live lexeme can be followed up to an accepted text. What the grammar needs afterwards can
    /// stand directly behind a lexeme that is not ignored; an ignored one must end where it cannot go on. Nothing of the
    /// kind is promised of a grammar in `longest` mode.
    pub(super) fn can_finish(&self, configuration: &Configuration, live: &Live) -> bool {
        let Expected::Ignored(grammar, _) = live.what else { return true };
        if self.competes(live) {
            return true;
        }
        // What follows does not depend on where the ignored text ends.
        let before = configuration.chart[..configuration.position()].to_vec();
        let next = self.symbols.scan(&before, &[(live.what, live.began)], &configuration.letters, configuration.tokens);
        let expected = self.symbols.expected(&next, configuration.position());
        let ends_anywhere = self.symbols.is_finished(&next) || self.symbols.expects_tokens(&next);
        let mut regexes = self.regexes.borrow_mut();
        let mut seen = BTreeSet::from([live.rest]);
        let mut queue = vec![live.rest];
        while let Some(rest) = queue.pop() {
            let matches = regexes.nullable(rest);
            if matches && ends_anywhere {
                return true;
            }
            for byte in 0..=255 {
                let longer = regexes.derivative(rest, byte);
                if regexes.nonempty(longer) {
                    if seen.insert(longer) {
                        queue.push(longer);
                    }
                    continue;
                }
                if !matches {
                    continue;
                }
                for &what in &expected {
                    let begun = regexes.derivative(self.lexeme(what).regex, byte);
                    if regexes.nonempty(begun) {
                        match what {
                            Expected::Ignored(other, _) if other == grammar => {
                                if seen.insert(begun) {
                                    queue.push(begun);
                                }
                            }
                            _ => return true,
                        }
                    }
                }
            }
        }
        false
    }
}
