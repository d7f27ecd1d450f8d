//! Automata, as plainly as it can be: each edge is an alternative `edge • N` of a right recursion, and what a recorded
//! terminal is without its exceptions is a lexeme of its own.

use std::collections::HashMap;
use std::rc::Rc;

use larkspur_grammar::index::Id;
use larkspur_grammar::{Automaton, EdgeSymbol, GrammarId, ParamExpr, RegexSet, State};

use super::earley::Item;
use super::regex::Re;
use super::symbols::{Body, Lexeme, Nonterminal, Symbol, Symbols};

/// A number for each state that was met, so that items can be ordered.
pub type StateNumber = usize;

/// An edge that some text takes.
#[derive(Clone, Debug)]
pub struct LiveEdge {
    /// What it reads.
    pub symbol: Symbol,
    /// Whether its text decides the next state.
    pub recorded: bool,
    /// Tells edges apart.
    pub label: u32,
}

/// What was met so far.
#[derive(Default)]
pub struct States {
    states: Vec<State>,
    numbers: HashMap<State, StateNumber>,
    edges: HashMap<(Nonterminal, StateNumber), Rc<Vec<LiveEdge>>>,
    /// The lexemes that terminals are without exceptions, by the terminal's and what is left of it: what an exception stands for
    /// differs from automaton to automaton.
    without: HashMap<(usize, Re), usize>,
}

impl Symbols {
    /// The automaton that a nonterminal is.
    pub fn automaton(&self, nonterminal: Nonterminal) -> Option<(&dyn Automaton, GrammarId)> {
        let production = &self.productions[nonterminal];
        let Body::Automaton(id, _) = production.body else { return None };
        let grammar = production.grammar.expect("an automaton is in a grammar");
        Some((&*self.linked.grammars[grammar].automata[id], grammar))
    }

    /// The state that an automaton starts in.
    pub fn start_of(&self, nonterminal: Nonterminal) -> StateNumber {
        let Body::Automaton(_, start) = self.productions[nonterminal].body else { unreachable!("an automaton") };
        let (automaton, _) = self.automaton(nonterminal).expect("an automaton");
        self.state_number(automaton.start(start))
    }

    /// How many states were met.
    pub fn states_met(&self) -> usize {
        self.states.borrow().states.len()
    }

    fn state_number(&self, state: State) -> StateNumber {
        let States { states, numbers, .. } = &mut *self.states.borrow_mut();
        *numbers.entry(state.clone()).or_insert_with(|| {
            states.push(state);
            states.len() - 1
        })
    }

    fn state(&self, number: StateNumber) -> State {
        self.states.borrow().states[number].clone()
    }

    /// Whether the automaton may end in a state.
    pub fn is_final(&self, nonterminal: Nonterminal, state: StateNumber) -> bool {
        self.automaton(nonterminal).expect("an automaton").0.is_final(&self.state(state))
    }

    /// The edges of a state that some text takes.
    pub fn live_edges(&self, nonterminal: Nonterminal, number: StateNumber) -> Rc<Vec<LiveEdge>> {
        if let Some(known) = self.states.borrow().edges.get(&(nonterminal, number)) {
            return known.clone();
        }
        let live = Rc::new(self.edges_of(nonterminal, &self.state(number)));
        self.states.borrow_mut().edges.insert((nonterminal, number), live.clone());
        live
    }

    /// The same, by what is known so far of what rules derive.
    pub fn edges_of(&self, nonterminal: Nonterminal, state: &State) -> Vec<LiveEdge> {
        let (automaton, grammar) = self.automaton(nonterminal).expect("an automaton");
        let base = &self.bases.grammars[grammar.index()];
        let mut live = Vec::new();
        for edge in automaton.edges(state).expect("within limits") {
            let (symbol, recorded) = match &edge.symbol {
                EdgeSymbol::Terminal(id) => (Symbol::Lexeme(base.lexemes + id.index()), false),
                EdgeSymbol::Recorded(id, exceptions) => {
                    let texts = exceptions.iter().map(<[u8]>::to_vec).collect();
                    (Symbol::Lexeme(self.without(base.lexemes + id.index(), automaton, texts)), true)
                }
                EdgeSymbol::Rule(id) => (Symbol::Rule(base.rules + id.index(), ParamExpr::Same), false),
            };
            let lives = match symbol {
                Symbol::Lexeme(lexeme) => {
                    let lexeme = self.lexeme(lexeme);
                    !lexeme.only_empty && self.regexes.borrow_mut().nonempty(lexeme.regex)
                }
                // The empty text takes no edge.
                symbol => self.nonempty(symbol, 0) || self.endless(symbol, 0),
            };
            if lives {
                live.push(LiveEdge { symbol, recorded, label: edge.label });
            }
        }
        live
    }

    /// The lexeme that a terminal is without exceptions.
    fn without(&self, lexeme: usize, automaton: &dyn Automaton, texts: Vec<Vec<u8>>) -> usize {
        if texts.is_empty() {
            return lexeme;
        }
        let mut regexes = self.regexes.borrow_mut();
        let whole = self.lexeme(lexeme);
        let mut parts = vec![whole.regex];
        for text in &texts {
            let mut set = RegexSet::new();
            let excepted = automaton.excepted(text, &mut set);
            let excepted = regexes.import(&set, excepted);
            parts.push(regexes.not(excepted));
        }
        let regex = regexes.and(parts);
        drop(regexes);
        let key = (lexeme, regex);
        if let Some(&known) = self.states.borrow().without.get(&key) {
            return known;
        }
        let number = self.lexemes.borrow().len();
        self.lexemes.borrow_mut().push(Rc::new(Lexeme { regex, ..Lexeme::clone(&whole) }));
        self.states.borrow_mut().without.insert(key, number);
        number
    }

    /// The items that an automaton predicted in a state has: one for each edge.
    pub fn predict_edges(&self, nonterminal: Nonterminal, state: StateNumber, item: &Item) -> Vec<Item> {
        let count = self.live_edges(nonterminal, state).len();
        (0..count).map(|alternative| Item { nonterminal, alternative, state, from: state, ..item.clone() }).collect()
    }

    /// What stands behind the dot of an automaton's item: the edge, itself in the next state, nothing.
    pub fn next_of_automaton(&self, item: &Item) -> Option<Symbol> {
        match item.dot {
            0 => Some(self.live_edges(item.nonterminal, item.from)[item.alternative].symbol),
            1 => Some(Symbol::Tail(item.nonterminal, item.state)),
            _ => None,
        }
    }

    /// The state behind an item's edge, which has read `text`.
    pub fn state_after(&self, item: &Item, text: &[u8]) -> StateNumber {
        let edge = self.live_edges(item.nonterminal, item.from)[item.alternative].clone();
        let text = if edge.recorded { text } else { &[] };
        let (automaton, _) = self.automaton(item.nonterminal).expect("an automaton");
        self.state_number(automaton.next(&self.state(item.from), edge.label, text).expect("within limits"))
    }
}
