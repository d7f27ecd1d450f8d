//! Which lexemes end at a place, by the rules of their mode, and what they lead to.

use std::collections::BTreeSet;
use std::rc::Rc;

use larkspur_grammar::LexerMode;

use super::Oracle;
use super::configuration::{Configuration, Live};
use super::earley::Expected;
use super::regex::Re;

/// A lexeme that ends, and where it began.
pub(super) type Ended = (Expected, usize);

impl Oracle {
    /// Which live lexemes end here.
    pub(super) fn ends(&self, configuration: &Configuration, next: Option<u8>) -> Vec<usize> {
        let live = &configuration.live;
        let mut matching: Vec<usize> = (0..live.len()).filter(|&at| self.is_match(&live[at])).collect();
        match self.symbols.mode() {
            LexerMode::Longest if configuration.ended => {}
            LexerMode::Longest => self.keep_winners(live, &mut matching),
            LexerMode::Exact => {
                let takes = |live: &Live| {
                    let mut regexes = self.regexes.borrow_mut();
                    next.is_some_and(|byte| {
                        let longer = regexes.derivative(live.rest, byte);
                        regexes.nonempty(longer)
                    })
                };
                let began: BTreeSet<usize> = matching.iter().map(|&at| live[at].began).collect();
                let (competing, mut others): (Vec<usize>, _) =
                    matching.into_iter().partition(|&at| self.competes(&live[at]));
                // Ignored text is taken whole.
                others.retain(|&at| !matches!(live[at].what, Expected::Ignored(..)) || !takes(&live[at]));
                for began in began {
                    let mut together: Vec<usize> =
                        competing.iter().copied().filter(|&at| live[at].began == began).collect();
                    if !live.iter().any(|live| live.began == began && self.competes(live) && takes(live)) {
                        self.keep_winners(live, &mut together);
                        others.extend(together);
                    }
                }
                others.sort();
                matching = others;
            }
        }
        matching
    }

    /// The configurations after the lexemes that match here have ended, before `next` or the end of the text or token.
    pub(super) fn after_ends(&self, configuration: &Configuration, next: Option<u8>) -> Vec<Rc<Configuration>> {
        let ends = self.ends(configuration, next);
        if ends.is_empty() {
            return vec![];
        }
        if let Some(known) = configuration.memo.borrow().get(&ends) {
            return known.clone();
        }
        let mut reached = Vec::new();
        let before = configuration.chart[..configuration.position()].to_vec();
        let at = |ended: &[Ended], guard| {
            let set = self.symbols.scan(&before, ended, &configuration.letters, configuration.tokens);
            Rc::new(self.at_set(before.clone(), configuration.letters.clone(), set, configuration.tokens, guard))
        };
        // Those whose text is not read again end together.
        let mut together: Vec<(Option<Re>, Vec<Ended>)> = Vec::new();
        for (again, group) in self.by_text_read_again(configuration, &ends) {
            let ended = group.iter().map(|&at| (configuration.live[at].what, configuration.live[at].began)).collect();
            for (guard, ended) in self.by_follow(configuration, ended) {
                let after = if again.is_empty() { vec![] } else { self.read_again(at(&ended, guard), &again) };
                if after.iter().any(|after| after.position() > configuration.position()) {
                    reached.extend(after);
                    continue;
                }
                match together.iter_mut().find(|(other, _)| *other == guard) {
                    Some((_, group)) => group.extend(ended),
                    None => together.push((guard, ended)),
                }
            }
        }
        reached.extend(together.into_iter().map(|(guard, ended)| at(&ended, guard)));
        configuration.memo.borrow_mut().insert(ends, reached.clone());
        reached
    }
}
