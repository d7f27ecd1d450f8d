//! The naive oracle: `docs/semantics.md` written as a program, as plainly as it can be.
//!
//! In: a linked grammar and a small vocabulary. Out: which texts are accepted and viable, and the masks.
//! Shares nothing with the engine but the grammar IR. Slow on purpose: regexes are derivatives that are looked up in
//! a hash map, Earley sets are vectors by position, a mask tries every token.
//!
//! Read it beside that page:
//!
//! | section | file |
//! |---|---|
//! | Text | [`text`] |
//! | Lexemes | [`symbols`], [`regex`], [`values`]; look-around in `look_around.rs` |
//! | what a set expects, ignored text, Parameters | [`earley`], [`symbols`] |
//! | `longest` | `longest.rs`; which lexemes end in `ends.rs` |
//! | `exact`, Grammars of both modes | `exact.rs`; which lexemes end in `ends.rs`, which prefixes are viable in `viable.rs` |
//! | Texts without end | [`symbols`] |
//! | Masks | this file |
//! | `max_tokens` | `budgets.rs` |
//! | `stop` | `stop.rs` |
//! | Automata | [`automata`] |
//! | Captures | [`captures`] |
//!
//! `configuration.rs` is how they all see the prefix that was read. Eager ends have an oracle of their own, in
//! `larkspur/tests/kbnf.rs`.

pub mod automata;
mod budgets;
pub mod captures;
mod configuration;
pub mod earley;
mod ends;
mod exact;
mod longest;
mod look_around;
pub mod regex;
mod stop;
pub mod symbols;
pub mod text;
pub mod values;
mod viable;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use larkspur_grammar::{LexerMode, LinkedGrammar};

use configuration::{Configuration, with};
use regex::Regexes;
use symbols::Symbols;
use viable::{Future, PATIENCE};

pub use text::{Letter, Token, Vocab};

/// A grammar whose texts can be followed letter by letter.
pub struct Oracle {
    symbols: Symbols,
    vocab: Vocab,
    regexes: Rc<RefCell<Regexes>>,
    /// [`Oracle::leads_on`] as far as it is known.
    leads_on: RefCell<HashMap<Future, bool>>,
    undecided: Cell<bool>,
    /// Futures looked at.
    futures: Cell<usize>,
    /// How many times [`FUTURES_MAX`] and the like may be looked at.
    patience: usize,
    /// Lexemes that are being ended within each other: more than two only where the text of a `stop` is read again.
    depth: Cell<usize>,
    /// Texts of a `stop` that were read again.
    read_again: Cell<usize>,
}

/// Ways to have read a prefix; past it the answer is given up.
const CONFIGURATIONS_MAX: usize = 100;

/// A viable prefix: all ways in which it was read.
#[derive(Clone)]
pub struct State {
    configurations: Vec<Rc<Configuration>>,
}

impl Oracle {
    /// Lowers a grammar. Errors: its start derives nothing; an unknown special token; too many parameters.
    pub fn new(linked: &LinkedGrammar, vocab: &Vocab) -> Result<Oracle, String> {
        let regexes: Rc<RefCell<Regexes>> = Rc::default();
        let symbols = Symbols::new(linked, vocab, regexes.clone())?;
        let leads_on = RefCell::default();
        let (undecided, futures) = (Cell::default(), Cell::default());
        let (depth, read_again) = (Cell::default(), Cell::default());
        let vocab = vocab.clone();
        let patience = PATIENCE;
        Ok(Oracle { symbols, vocab, regexes, leads_on, undecided, futures, patience, depth, read_again })
    }

    /// Gives up soon, where a case that is not decided may be dropped.
    pub fn without_patience(self) -> Self {
        Oracle { patience: 1, ..self }
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Vocab {
        &self.vocab
    }

    /// Whether some answer was given up, which says nothing of any answer since: what look-aheads want may be anywhere in what
    /// follows, a `stop` was read again and again within itself, or there are too many ways to have read a text.
    pub fn is_undecided(&self) -> bool {
        self.undecided.get()
    }

    /// How many states of automata were met so far: every way to split a text may lead to another.
    pub fn automaton_states(&self) -> usize {
        self.symbols.states_met()
    }

    /// The empty prefix.
    pub fn start(&self) -> State {
        let set = self.symbols.first_set();
        State { configurations: vec![Rc::new(self.at_set(vec![], vec![], set, 0, None))] }
    }

    /// The prefix with one more letter; `None` if that is not viable.
    pub fn feed(&self, state: &State, letter: Letter) -> Option<State> {
        self.undecided.set(self.undecided.get() || state.configurations.len() > CONFIGURATIONS_MAX);
        if self.undecided.get() {
            return None;
        }
        state_of(state.configurations.iter().flat_map(|configuration| self.feed_one(configuration, letter)))
    }

    /// The prefix with one more byte; `None` if that is not viable.
    pub fn feed_byte(&self, state: &State, byte: u8) -> Option<State> {
        self.feed(state, Letter::Byte(byte))
    }

    /// The prefix with one more token, in both readings, before the token's end; `None` if that is not viable.
    pub fn feed_token(&self, state: &State, id: u32) -> Option<State> {
        let as_letter = self.feed(state, Letter::Token(id));
        let as_bytes = match self.vocab.tokens.get(id as usize)? {
            // A token without bytes would leave everything as it is, for ever.
            Token::Bytes(bytes) if !bytes.is_empty() && !self.vocab.eos.contains(&id) => {
                bytes.iter().try_fold(state.clone(), |state, &byte| self.feed_byte(&state, byte))
            }
            _ => None,
        };
        state_of(as_letter.into_iter().chain(as_bytes).flat_map(|state| state.configurations))
    }

    /// What a token's end does: budgets of `max_tokens` act.
    pub fn token_end(&self, state: &State) -> State {
        let configurations = state.configurations.iter().flat_map(|configuration| self.token_end_one(configuration));
        state_of(configurations).expect("what waits for the end of a scope goes on")
    }

    /// Whether the prefix is an accepted text.
    pub fn is_accepting(&self, state: &State) -> bool {
        state.configurations.iter().any(|configuration| self.accepts(configuration))
    }

    /// The allowed tokens.
    pub fn mask(&self, state: &State) -> BTreeSet<u32> {
        let mut prefixes: HashMap<&[u8], Option<State>> = HashMap::from([(&[][..], Some(state.clone()))]);
        let ids = 0..self.vocab.tokens.len() as u32;
        ids.filter(|&id| {
            let is_eos = self.vocab.eos.contains(&id);
            let as_bytes = match &self.vocab.tokens[id as usize] {
                Token::Bytes(bytes) if !bytes.is_empty() && !is_eos => self.feed_shared(&mut prefixes, bytes),
                _ => false,
            };
            as_bytes || is_eos && self.is_accepting(state) || self.feed(state, Letter::Token(id)).is_some()
        })
        .collect()
    }

    /// Feeds bytes; tokens that begin alike share the work.
    fn feed_shared<'a>(&self, prefixes: &mut HashMap<&'a [u8], Option<State>>, bytes: &'a [u8]) -> bool {
        for end in 1..=bytes.len() {
            if !prefixes.contains_key(&bytes[..end]) {
                let before = prefixes[&bytes[..end - 1]].clone();
                let after = before.and_then(|state| self.feed_byte(&state, bytes[end - 1]));
                prefixes.insert(&bytes[..end], after);
            }
            if prefixes[&bytes[..end]].is_none() {
                return false;
            }
        }
        true
    }

    /// The letters that may follow: bytes, and ids of tokens in expected token sets.
    pub fn next_letters(&self, state: &State) -> Vec<Letter> {
        let bytes = (0..=255).map(Letter::Byte);
        let tokens = (0..self.vocab.tokens.len() as u32).map(Letter::Token);
        bytes.chain(tokens).filter(|&letter| self.feed(state, letter).is_some()).collect()
    }

    fn feed_one(&self, configuration: &Configuration, letter: Letter) -> Vec<Rc<Configuration>> {
        match (letter, self.symbols.mode()) {
            (Letter::Token(id), _) => self.feed_token_letter(configuration, id),
            (Letter::Byte(byte), LexerMode::Longest) => self.feed_longest(configuration, byte),
            (Letter::Byte(byte), LexerMode::Exact) => self.feed_exact(configuration, byte),
        }
    }

    /// A token letter ends the lexemes that match, and is scanned by the set reached.
    fn feed_token_letter(&self, configuration: &Configuration, id: u32) -> Vec<Rc<Configuration>> {
        if configuration.set_here().is_none() {
            let reached = self.after_ends(configuration, None);
            return reached.iter().flat_map(|reached| self.deeper(|| self.feed_token_letter(reached, id))).collect();
        }
        // For look-aheads the text ends here.
        if !self.may_end(configuration) {
            return vec![];
        }
        // The set stands at the token's end, so that it counts for the next one.
        let scanned = self.symbols.scan_token(&configuration.chart, id, configuration.tokens + 1);
        let next = scanned.map(|set| {
            let letters = with(&configuration.letters, Letter::Token(id));
            Rc::new(self.at_set(configuration.chart.clone(), letters, set, configuration.tokens, None))
        });
        next.into_iter().collect()
    }

    fn accepts(&self, configuration: &Configuration) -> bool {
        match configuration.set_here() {
            Some(set) => self.symbols.is_finished(set) && self.may_end(configuration),
            None => self.after_ends(configuration, None).iter().any(|reached| self.deeper(|| self.accepts(reached))),
        }
    }
}

fn state_of(configurations: impl Iterator<Item = Rc<Configuration>>) -> Option<State> {
    let configurations: Vec<Rc<Configuration>> = configurations.collect();
    if configurations.is_empty() { None } else { Some(State { configurations }) }
}
