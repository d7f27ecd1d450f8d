//! Captures of a whole text in `exact` mode by backtracking: derivations are tried in the order in which they are
//! preferred, so that the first that fits is the one.
//!
//! For grammars without ignored text, tails, token sets, budgets and rule priorities, in which no rule begins with
//! itself.

use std::cell::RefCell;
use std::collections::BTreeSet;

use larkspur_grammar::{
    AutomatonId, EdgeSymbol, ExprId, ExprKind, GrammarId, LinkedGrammar, RegexSet, RuleId, State, TerminalId,
};

use super::regex::Regexes;

/// Name, first byte, one past the last byte.
pub type Capture = (String, usize, usize);

/// Decisions tried before giving up.
const STEPS_MAX: usize = 200_000;

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoAnswer {
    /// The text is not in the language.
    NotAccepted,
    /// A rule begins with itself, or there is too much to try.
    OutOfScope,
}

/// What is called where a part of the derivation ends; says whether the rest fits.
type Then<'a> = &'a dyn Fn(usize) -> bool;

struct Search<'a> {
    linked: &'a LinkedGrammar,
    text: &'a [u8],
    regexes: RefCell<Regexes>,
    /// Rules under way, with where they began.
    open: RefCell<Vec<(GrammarId, RuleId, usize)>>,
    captures: RefCell<Vec<Capture>>,
    found: RefCell<Option<Vec<Capture>>>,
    steps: RefCell<usize>,
    out_of_scope: RefCell<bool>,
}

/// The captures of the preferred derivation of `text`, in the order in which the rules end.
pub fn captures(linked: &LinkedGrammar, text: &[u8]) -> Result<Vec<Capture>, NoAnswer> {
    let search = Search {
        linked,
        text,
        regexes: RefCell::default(),
        open: RefCell::default(),
        captures: RefCell::default(),
        found: RefCell::default(),
        steps: RefCell::default(),
        out_of_scope: RefCell::default(),
    };
    let root = linked.root;
    search.rule(root, linked.grammars[root].start, 0, &|end| {
        let whole = end == text.len();
        if whole {
            *search.found.borrow_mut() = Some(search.captures.borrow().clone());
        }
        whole
    });
    if *search.out_of_scope.borrow() {
        return Err(NoAnswer::OutOfScope);
    }
    search.found.take().ok_or(NoAnswer::NotAccepted)
}

impl Search<'_> {
    fn rule(&self, grammar: GrammarId, id: RuleId, from: usize, then: Then) -> bool {
        let rule = &self.linked.grammars[grammar].rules[id];
        let key = (grammar, id, from);
        if self.open.borrow().contains(&key) {
            *self.out_of_scope.borrow_mut() = true;
        }
        self.open.borrow_mut().push(key);
        let fits = self.expr(grammar, rule.body, from, &|end| {
            // What follows is not inside the rule.
            let inside = self.open.borrow_mut().pop().expect("the rule is open");
            self.captures.borrow_mut().extend(rule.capture.iter().map(|name| (name.clone(), from, end)));
            let fits = then(end);
            if rule.capture.is_some() {
                self.captures.borrow_mut().pop();
            }
            self.open.borrow_mut().push(inside);
            fits
        });
        self.open.borrow_mut().pop();
        fits
    }

    fn expr(&self, grammar: GrammarId, id: ExprId, from: usize, then: Then) -> bool {
        *self.steps.borrow_mut() += 1;
        if *self.steps.borrow() > STEPS_MAX {
            *self.out_of_scope.borrow_mut() = true;
        }
        if *self.out_of_scope.borrow() {
            return false;
        }
        let table = &self.linked.grammars[grammar];
        match &table.exprs[id].kind {
            ExprKind::Sequence(parts) => self.sequence(grammar, parts, from, then),
            ExprKind::Choice(alternatives) => {
                alternatives.iter().any(|alternative| self.expr(grammar, alternative.expr, from, then))
            }
            ExprKind::Repeat(child, min, max) => self.repeat(grammar, *child, (*min, *max), from, then),
            ExprKind::Rule(rule, _) => self.rule(grammar, *rule, from, then),
            ExprKind::Terminal(terminal) => self.terminal(grammar, *terminal, from, then),
            ExprKind::Tokens(_) => false,
            &ExprKind::Automaton(id, start) => {
                let start = table.automata[id].start(start);
                let mut ends = BTreeSet::new();
                self.automaton_ends(grammar, id, &start, from, &mut ends);
                ends.into_iter().rev().any(then)
            }
            ExprKind::Embed(embed) => {
                let target = table.embeds[*embed].target.expect("embeds are linked");
                let start = table.embeds[*embed].rule.unwrap_or(self.linked.grammars[target].start);
                self.rule(target, start, from, then)
            }
        }
    }

    /// Where an automaton may end. Nothing inside is captured.
    fn automaton_ends(
        &self,
        grammar: GrammarId,
        id: AutomatonId,
        state: &State,
        from: usize,
        ends: &mut BTreeSet<usize>,
    ) {
        let table = &self.linked.grammars[grammar];
        let automaton = &table.automata[id];
        if automaton.is_final(state) {
            ends.insert(from);
        }
        for edge in automaton.edges(state).expect("within limits") {
            let reached: RefCell<BTreeSet<usize>> = RefCell::default();
            let note = |end: usize| {
                reached.borrow_mut().insert(end);
                false
            };
            let mut excepted: BTreeSet<usize> = BTreeSet::new();
            match &edge.symbol {
                EdgeSymbol::Terminal(terminal) => _ = self.terminal(grammar, *terminal, from, &note),
                EdgeSymbol::Recorded(terminal, exceptions) => {
                    self.terminal(grammar, *terminal, from, &note);
                    for exception in exceptions.iter() {
                        let mut set = RegexSet::new();
                        let regex = automaton.excepted(exception, &mut set);
                        let mut regexes = self.regexes.borrow_mut();
                        let regex = regexes.import(&set, regex);
                        let is_excepted = |end: &usize| regexes.matches(regex, &self.text[from..*end]);
                        excepted.extend((from..=self.text.len()).filter(is_excepted));
                    }
                }
                EdgeSymbol::Rule(rule) => _ = self.rule(grammar, *rule, from, &note),
            }
            for end in reached.into_inner().into_iter().filter(|end| *end > from && !excepted.contains(end)) {
                let text = match edge.symbol {
                    EdgeSymbol::Recorded(..) => &self.text[from..end],
                    _ => &[],
                };
                let next = automaton.next(state, edge.label, text).expect("within limits");
                self.automaton_ends(grammar, id, &next, end, ends);
            }
        }
    }

    fn sequence(&self, grammar: GrammarId, parts: &[ExprId], from: usize, then: Then) -> bool {
        match parts {
            [] => then(from),
            [first, rest @ ..] => self.symbol(grammar, *first, from, &|end| self.sequence(grammar, rest, end, then)),
        }
    }

    /// A symbol of an alternative takes as much text as it can: that is decided before how it derives it.
    fn symbol(&self, grammar: GrammarId, id: ExprId, from: usize, then: Then) -> bool {
        let ends: RefCell<BTreeSet<usize>> = RefCell::default();
        self.expr(grammar, id, from, &|end| {
            ends.borrow_mut().insert(end);
            false
        });
        let mut ends = ends.into_inner().into_iter().rev();
        ends.any(|wanted| self.expr(grammar, id, from, &|end| end == wanted && then(end)))
    }

    /// More before fewer; beyond the minimum each repetition reads something.
    fn repeat(
        &self,
        grammar: GrammarId,
        child: ExprId,
        (min, max): (u32, Option<u32>),
        from: usize,
        then: Then,
    ) -> bool {
        let bounds = (min.saturating_sub(1), max.map(|max| max.saturating_sub(1)));
        let more = max != Some(0)
            && self.symbol(grammar, child, from, &|end| {
                (min > 0 || end > from) && self.repeat(grammar, child, bounds, end, then)
            });
        more || min == 0 && then(from)
    }

    /// Longer before shorter; the shortest only if it is lazy.
    fn terminal(&self, grammar: GrammarId, id: TerminalId, from: usize, then: Then) -> bool {
        let table = &self.linked.grammars[grammar];
        let terminal = &table.terminals[id];
        let mut ends: Vec<usize> = {
            let mut regexes = self.regexes.borrow_mut();
            let regex = regexes.import(&table.regexes, terminal.regex);
            (from..=self.text.len()).filter(|&end| regexes.matches(regex, &self.text[from..end])).collect()
        };
        if terminal.lazy {
            ends.truncate(1);
        }
        ends.into_iter().rev().any(then)
    }
}
