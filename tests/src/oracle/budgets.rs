//! Section "`max_tokens`" of `docs/semantics.md`: scopes whose budget is spent end at a token's end.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use super::Oracle;
use super::configuration::{Configuration, Live};
use super::earley::{Chart, Item, Set};

impl Oracle {
    /// The scopes of `max_tokens` whose budget is spent end, wherever they are.
    pub(super) fn token_end_one(&self, configuration: &Configuration) -> Vec<Rc<Configuration>> {
        let mut going_on = Configuration { tokens: configuration.tokens + 1, ..configuration.clone() };
        going_on.memo = RefCell::default();
        if going_on.ended {
            // Lazy lexemes have ended here: the set they lead to stands at this token's end, unless text is read again.
            let here = configuration.position();
            let mut ended: Vec<_> = (self.after_ends(&going_on, None).iter())
                .filter(|reached| reached.position() == here)
                .flat_map(|reached| self.end_scopes(Configuration::clone(reached)))
                .collect();
            for again in self.after_ends(configuration, None).iter().filter(|reached| reached.position() > here) {
                ended.extend(self.deeper(|| self.token_end_one(again)));
            }
            return ended;
        }
        self.end_scopes(going_on)
    }

    pub(super) fn end_scopes(&self, mut going_on: Configuration) -> Vec<Rc<Configuration>> {
        let position = going_on.position();
        let mut begins: BTreeSet<usize> = going_on.live.iter().map(|live| live.began).collect();
        begins.extend(going_on.set_here().map(|_| position));
        let mut advanced = Vec::new();
        // What waits is found before anything is removed, since a scope may wait in a set that loses items, too.
        for &began in &begins {
            let set = going_on.chart[began].as_deref().expect("lexemes begin where a set is");
            for item in &set.items {
                if self.is_due(item, going_on.tokens) && self.is_under_way(item, began, &going_on) {
                    self.ends_of_scope(item, &going_on.chart, going_on.tokens, &mut advanced);
                }
            }
        }
        for &began in &begins {
            let set = going_on.chart[began].as_deref().expect("lexemes begin where a set is");
            let items = set.items.iter().filter(|item| !self.is_due(item, going_on.tokens)).cloned().collect();
            going_on.chart[began] = Some(Rc::new(Set { items, tokens: set.tokens }));
        }
        let chart = going_on.chart.clone();
        going_on.live.retain(|live| {
            let set = chart[live.began].as_deref().expect("lexemes begin where a set is");
            self.symbols.expecting(set, live.began, live.what).next().is_some()
        });
        if advanced.is_empty() {
            return vec![Rc::new(going_on)];
        }
        // The items that waited stand in the set here, together with what stands there otherwise.
        let mut results = Vec::new();
        match going_on.set_here() {
            Some(set) => advanced.extend(set.items.iter().cloned()),
            None if !going_on.live.is_empty() => results.push(Rc::new(going_on.clone())),
            None => {}
        }
        let before = chart[..position].to_vec();
        let set = self.symbols.close(&before, position, advanced, going_on.tokens);
        results.push(Rc::new(self.at_set(before, going_on.letters, set, going_on.tokens, going_on.guard)));
        results
    }

    /// Whether the item is in a scope that ends now.
    pub(super) fn is_due(&self, item: &Item, tokens: u32) -> bool {
        item.marks.iter().any(|&mark| self.mark_is_due(mark, tokens))
    }

    pub(super) fn mark_is_due(&self, (scope, since): (usize, u32), tokens: u32) -> bool {
        let budget = self.symbols.productions[scope].max_tokens.expect("scopes have a budget");
        tokens - since >= budget
    }

    /// Whether the item of the set at `began` expects a live lexeme, or stands here.
    pub(super) fn is_under_way(&self, item: &Item, began: usize, configuration: &Configuration) -> bool {
        let set = Set { items: vec![item.clone()], tokens: 0 };
        let lexemes = self.symbols.expected(&set, began);
        let is_live = |live: &Live| live.began == began && lexemes.contains(&live.what);
        began == configuration.position() || configuration.live.iter().any(is_live)
    }

    /// Climbs from an item to the rules whose scopes end; adds the items that wait for them, advanced.
    pub(super) fn ends_of_scope(&self, item: &Item, chart: &Chart, tokens: u32, advanced: &mut Vec<Item>) {
        let mut seen = BTreeSet::new();
        let mut queue = vec![item.clone()];
        while let Some(item) = queue.pop() {
            if !seen.insert(item.clone()) {
                continue;
            }
            let origin = chart[item.origin].as_deref().expect("items begin where a set is");
            for parent in self.symbols.waiting(origin, &item) {
                if self.is_due(parent, tokens) {
                    queue.push(parent.clone());
                } else {
                    advanced.push(self.symbols.advance(parent));
                }
            }
        }
    }
}
