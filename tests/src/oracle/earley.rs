//! Earley sets by position.
//! Follows J. Earley, CACM 13(2), 1970; nullable symbols are stepped over when an item is added, as in Aycock and
//! Horspool, Computer Journal 45(6), 2002. Every item is productive.

use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

use larkspur_grammar::GrammarId;
use larkspur_grammar::index::Id;

use super::Letter;
use super::automata::StateNumber;
use super::symbols::{Body, LexemeId, Nonterminal, Symbol, Symbols, eval};

/// Scopes of `max_tokens` that an item is in: the rule, and the number of the token in which it was predicted.
pub type Marks = Vec<(Nonterminal, u32)>;

/// A production that was begun at `origin`, with a dot in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Item {
    /// What it derives.
    pub nonterminal: Nonterminal,
    /// The rule's parameter.
    pub param: u64,
    /// Which alternative of a [`Body::Choice`].
    pub alternative: usize,
    /// Symbols before the dot; for [`Body::Repeat`] repetitions so far, without bound at most the minimum.
    pub dot: u32,
    /// Position of the set in which it was predicted.
    pub origin: usize,
    /// The scopes that it is in.
    pub marks: Marks,
    /// Stands behind ignored text: what could end before that text has ended there.
    pub after_ignored: bool,
    /// Derives texts without end: never ends, and one of its symbols is of this kind.
    pub endless: bool,
    /// An automaton's state; behind an edge the next one.
    pub state: StateNumber,
    /// The state in which an automaton was predicted.
    pub from: StateNumber,
}

/// The items at one position.
#[derive(Clone, Debug)]
pub struct Set {
    /// In no order.
    pub items: Vec<Item>,
    /// Tokens that had ended when it was made; what it predicts is marked with this number.
    pub tokens: u32,
}

/// What a set expects besides token letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Expected {
    /// A lexeme of the text.
    Lexeme(LexemeId),
    /// Ignored text of a grammar.
    Ignored(GrammarId, LexemeId),
}

/// Sets by position; `None` where no lexeme ended.
pub type Chart = Vec<Option<Rc<Set>>>;

fn set_at(chart: &Chart, position: usize) -> &Set {
    chart[position].as_deref().expect("items begin where a set is")
}

impl Symbols {
    /// The first set: `START' → • start`.
    pub fn first_set(&self) -> Set {
        let seeds = self.predict(Symbols::START, None, 0, 0, &vec![]);
        self.close(&vec![], 0, seeds, 0)
    }

    /// The set at `position`, the chart's end, reached by what ended there: each lexeme with where it began. `letters` are
    /// those read so far.
    pub fn scan(&self, chart: &Chart, ended: &[(Expected, usize)], letters: &[Letter], tokens: u32) -> Set {
        let mut seeds = Vec::new();
        for &(expected, began) in ended {
            let bytes = letters[began..].iter().filter_map(|letter| match letter {
                Letter::Byte(byte) => Some(*byte),
                Letter::Token(_) => None,
            });
            let text: Vec<u8> = bytes.collect();
            for item in self.expecting(set_at(chart, began), began, expected) {
                seeds.push(match expected {
                    Expected::Lexeme(_) => self.advance_over(item, &text),
                    Expected::Ignored(..) => Item { after_ignored: true, ..item.clone() },
                });
            }
        }
        self.close(chart, chart.len(), seeds, tokens)
    }

    /// The set behind token `id`, which stands at the chart's last position; `None` if that is not expected.
    pub fn scan_token(&self, chart: &Chart, id: u32, tokens: u32) -> Option<Set> {
        let last = set_at(chart, chart.len() - 1);
        let seeds: Vec<Item> = (last.items.iter())
            .filter(|item| match self.next(item) {
                Some(Symbol::Tokens(set)) => self.token_sets[set].contains(&id),
                _ => false,
            })
            .map(|item| self.advance(item))
            .collect();
        if seeds.is_empty() { None } else { Some(self.close(chart, chart.len(), seeds, tokens)) }
    }

    /// Adds to `seeds` what they complete and predict.
    pub fn close(&self, chart: &Chart, position: usize, seeds: Vec<Item>, tokens: u32) -> Set {
        let mut set = Set { items: Vec::new(), tokens };
        let mut seen: HashSet<Item> = HashSet::new();
        let mut queue = seeds;
        while let Some(item) = queue.pop() {
            if !seen.insert(item.clone()) {
                continue;
            }
            if self.may_end(&item) && item.origin < position && !item.after_ignored {
                let origin = set_at(chart, item.origin);
                queue.extend(self.waiting(origin, &item).map(|parent| self.advance(parent)));
            }
            let predicts = match self.next(&item) {
                Some(next @ Symbol::Rule(child, argument)) => Some((next, child, None, eval(argument, item.param))),
                Some(next @ Symbol::Tail(child, state)) => Some((next, child, Some(state), item.param)),
                _ => None,
            };
            if let Some((next, child, state, param)) = predicts {
                let marks = self.marks_inside(&item.marks, child, tokens);
                let advanced = self.advance(&item);
                let may_go_on = self.derivable(&advanced);
                queue.extend(
                    self.predict(child, state, param, position, &marks)
                        .into_iter()
                        .filter(|predicted| if predicted.endless { item.endless } else { may_go_on }),
                );
                // Before the ignored text it was stepped over already, as far as that text allows it.
                // An automaton's edge is not taken by the empty text.
                let is_edge = self.automaton(item.nonterminal).is_some() && item.dot == 0;
                if self.nullable(next, item.param) && may_go_on && !item.after_ignored && !is_edge {
                    queue.push(advanced);
                }
            }
            set.items.push(item);
        }
        set
    }

    fn predict(
        &self,
        nonterminal: Nonterminal,
        state: Option<StateNumber>,
        param: u64,
        origin: usize,
        marks: &Marks,
    ) -> Vec<Item> {
        let production = &self.productions[nonterminal];
        if self.automaton(nonterminal).is_some() {
            let state = state.unwrap_or_else(|| self.start_of(nonterminal));
            let item = Item {
                nonterminal,
                param,
                alternative: 0,
                dot: 0,
                origin,
                marks: marks.clone(),
                after_ignored: false,
                endless: false,
                state,
                from: state,
            };
            return self.predict_edges(nonterminal, state, &item);
        }
        let alternatives: Vec<usize> = match &production.body {
            Body::Choice(alternatives) => (0..alternatives.len())
                .filter(|&at| self.holds(production.grammar, alternatives[at].0, param))
                .collect(),
            _ => vec![0],
        };
        let mut items = Vec::new();
        for alternative in alternatives {
            for endless in [false, true] {
                let item = Item {
                    nonterminal,
                    param,
                    alternative,
                    dot: 0,
                    origin,
                    marks: marks.clone(),
                    after_ignored: false,
                    endless,
                    state: 0,
                    from: 0,
                };
                if self.derivable(&item) {
                    items.push(item);
                }
            }
        }
        items
    }

    /// Whether what stands behind the dot can be derived.
    fn derivable(&self, item: &Item) -> bool {
        let rest = self.rest(item);
        if !item.endless {
            return rest.iter().all(|&symbol| self.productive(symbol, item.param));
        }
        if !self.allow_endless() {
            return false;
        }
        let repeats = matches!(self.productions[item.nonterminal].body,
            Body::Repeat(child, _, None) if self.nonempty(child, item.param));
        repeats
            || (0..rest.len()).any(|at| {
                self.endless(rest[at], item.param)
                    && rest[..at].iter().all(|&s| self.productive(s, item.param))
                    && rest[at + 1..].iter().all(|&s| self.is_live(s, item.param))
            })
    }

    /// The symbols that must follow the dot; for a repetition, the next one if there may be one.
    fn rest(&self, item: &Item) -> Vec<Symbol> {
        match &self.productions[item.nonterminal].body {
            Body::Sequence(parts) => parts[item.dot as usize..].to_vec(),
            Body::Choice(alternatives) if item.dot == 0 => vec![alternatives[item.alternative].1],
            Body::Choice(_) => vec![],
            Body::Automaton(..) => self.next_of_automaton(item).into_iter().collect(),
            Body::Repeat(child, min, max) => {
                let possible = max.is_none_or(|max| item.dot < max);
                let wanted = item.dot < *min || self.productive(*child, item.param) || item.endless;
                if possible && wanted { vec![*child] } else { vec![] }
            }
        }
    }

    /// The symbol behind the dot.
    pub fn next(&self, item: &Item) -> Option<Symbol> {
        self.rest(item).first().copied()
    }

    /// Whether nothing need follow the dot.
    pub fn may_end(&self, item: &Item) -> bool {
        !item.endless
            && match &self.productions[item.nonterminal].body {
                Body::Repeat(_, min, _) => item.dot >= *min,
                _ => self.rest(item).is_empty(),
            }
    }

    /// The item with the dot behind the next symbol, whose text has been read.
    pub fn advance(&self, item: &Item) -> Item {
        self.advance_over(item, &[])
    }

    /// The same; `text` is what the symbol has read, if it is a lexeme.
    fn advance_over(&self, item: &Item, text: &[u8]) -> Item {
        if self.automaton(item.nonterminal).is_some() {
            let state = if item.dot == 0 { self.state_after(item, text) } else { item.state };
            return Item { dot: item.dot + 1, state, after_ignored: false, ..item.clone() };
        }
        let dot = match self.productions[item.nonterminal].body {
            Body::Repeat(_, min, None) => (item.dot + 1).min(min),
            _ => item.dot + 1,
        };
        Item { dot, after_ignored: false, ..item.clone() }
    }

    /// The items of `origin`, the set where `child` began, that wait for it.
    pub fn waiting<'a>(&'a self, origin: &'a Set, child: &'a Item) -> impl Iterator<Item = &'a Item> {
        origin.items.iter().filter(move |parent| match self.next(parent) {
            Some(Symbol::Rule(nonterminal, argument)) => {
                nonterminal == child.nonterminal
                    && eval(argument, parent.param) == child.param
                    && self.marks_inside(&parent.marks, nonterminal, origin.tokens) == child.marks
                    && (self.automaton(nonterminal).is_none() || self.start_of(nonterminal) == child.from)
                    && if child.endless { parent.endless } else { self.derivable(&self.advance(parent)) }
            }
            Some(Symbol::Tail(nonterminal, state)) => {
                nonterminal == child.nonterminal
                    && state == child.from
                    && parent.param == child.param
                    && parent.marks == child.marks
            }
            _ => false,
        })
    }

    /// A rule with `max_tokens` is a scope, unless it stands in a scope of the same rule, which ends no later.
    fn marks_inside(&self, marks: &Marks, nonterminal: Nonterminal, tokens: u32) -> Marks {
        let mut marks = marks.clone();
        let is_scope = self.productions[nonterminal].max_tokens.is_some();
        if is_scope && marks.iter().all(|&(scope, _)| scope != nonterminal) {
            marks.push((nonterminal, tokens));
        }
        marks
    }

    /// The lexemes and ignored terminals that a set at `position` expects.
    pub fn expected(&self, set: &Set, position: usize) -> BTreeSet<Expected> {
        let mut expected = BTreeSet::new();
        for item in &set.items {
            if let Some(Symbol::Lexeme(lexeme)) = self.next(item) {
                expected.insert(Expected::Lexeme(lexeme));
            }
            let is_end = self.productions[item.nonterminal].grammar.is_none() && item.dot > 0;
            if is_end && !self.options().ignore_edges.trailing() {
                continue;
            }
            if let Some(grammar) = self.ignores(item, position) {
                let ignored = &self.ignored[grammar.index()];
                expected.extend(ignored.iter().map(|&lexeme| Expected::Ignored(grammar, lexeme)));
            }
        }
        expected
    }

    /// The items of a set at `position` that expect this.
    pub fn expecting<'a>(
        &'a self,
        set: &'a Set,
        position: usize,
        expected: Expected,
    ) -> impl Iterator<Item = &'a Item> {
        set.items.iter().filter(move |item| match expected {
            Expected::Lexeme(lexeme) => self.next(item) == Some(Symbol::Lexeme(lexeme)),
            Expected::Ignored(grammar, _) => self.ignores(item, position) == Some(grammar),
        })
    }

    /// The grammar whose ignored text may stand at the item's dot: that of a kernel item behind whose dot text can
    /// follow; at the edges of the whole text the root's, if it may stand there.
    fn ignores(&self, item: &Item, position: usize) -> Option<GrammarId> {
        let edges = self.options().ignore_edges;
        let text_follows = self.next(item).is_some_and(|next| item.endless || self.nonempty(next, item.param));
        let (grammar, stands) = match self.productions[item.nonterminal].grammar {
            None if item.dot == 0 => (self.linked.root, edges.leading() && text_follows),
            None => (self.linked.root, edges.may_end_open()),
            Some(grammar) => (grammar, item.origin < position && text_follows),
        };
        let again = !(item.after_ignored && self.linked.grammars[grammar].options.ignore_once);
        (stands && again).then_some(grammar)
    }

    /// Whether a set expects token letters.
    pub fn expects_tokens(&self, set: &Set) -> bool {
        set.items.iter().any(|item| matches!(self.next(item), Some(Symbol::Tokens(_))))
    }

    /// Whether the text may end here.
    pub fn is_finished(&self, set: &Set) -> bool {
        set.items.iter().any(|item| item.nonterminal == Symbols::START && self.may_end(item))
    }
}
