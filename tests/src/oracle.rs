//! The naive oracle: `docs/semantics.md` written as a program, as plainly as it can be.
//!
//! In: a linked grammar and a small vocabulary. Out: which texts are accepted and viable, and the masks.
//! Shares nothing with the engine but the grammar IR. Slow on purpose: regexes are derivatives that are looked up in
//! a hash map, Earley sets are vectors by position, a mask tries every token.

pub mod automata;
pub mod captures;
pub mod earley;
pub mod regex;
pub mod symbols;
pub mod values;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use larkspur_grammar::{LexerMode, LinkedGrammar};

use earley::{Chart, Expected, Item, Set};
use regex::{Re, Regexes};
use symbols::Symbols;

/// One piece of a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Letter {
    /// A byte.
    Byte(u8),
    /// A token given as a token, by its id.
    Token(u32),
}

/// A token of a [`Vocab`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Token {
    /// An ordinary token, which is text.
    Bytes(Vec<u8>),
    /// A special token, which is only ever a letter of its own.
    Special(String),
}

/// A vocabulary: tokens by id, and which of them end a sequence.
#[derive(Clone, Default)]
pub struct Vocab {
    /// Indexed by token id.
    pub tokens: Vec<Token>,
    /// End-of-sequence tokens.
    pub eos: Vec<u32>,
}

impl fmt::Debug for Vocab {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, token) in self.tokens.iter().enumerate() {
            match token {
                Token::Bytes(bytes) => write!(f, "{id} {:?}, ", bytes.escape_ascii().to_string())?,
                Token::Special(name) => write!(f, "{id} {name}, ")?,
            }
        }
        write!(f, "eos {:?}", self.eos)
    }
}

impl Vocab {
    /// The id of a special token.
    pub fn special(&self, name: &str) -> Option<u32> {
        let at = self.tokens.iter().position(|token| matches!(token, Token::Special(n) if n == name))?;
        Some(at as u32)
    }
}

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

/// All that decides what may follow a configuration: what is owed, and each live lexeme with what is left of it and the set
/// that expects it, by its contents and theirs that it refers to; and what is left of what look-behinds look for.
type Future = (Option<Re>, Vec<(Expected, Re, u64)>, Vec<Re>);

/// A lexeme that ends, and where it began.
type Ended = (Expected, usize);

/// Futures looked at to find one in which nothing is owed, or the end of the text: for one question and for all, by an oracle
/// without patience, as random grammars have it; another one takes [`PATIENCE`] times as many.
const FUTURES_MAX: usize = 200;
const ALL_FUTURES_MAX: usize = 2_000;
const FUTURES_TO_AN_END_MAX: usize = 400;
const ALL_FUTURES_TO_AN_END_MAX: usize = 4_000;
const PATIENCE: usize = 10;
/// Ways to have read a prefix; past it the answer is given up.
const CONFIGURATIONS_MAX: usize = 100;
/// Lexemes that end within each other, and texts of a `stop` that are read again; past it the answer is given up. Such a text
/// may be read again without end.
const DEPTH_MAX: usize = 24;
const READ_AGAIN_MAX: usize = 2_000;

/// A viable prefix: all ways in which it was read.
#[derive(Clone)]
pub struct State {
    configurations: Vec<Rc<Configuration>>,
}

/// One way to have read the prefix. In `exact` mode it holds all splits into lexemes at once.
///
/// Either a set stands at the end of the chart and `live` has its lexemes, whole; or lexemes are under way.
#[derive(Clone)]
struct Configuration {
    /// Sets by position; one longer than what was read.
    chart: Chart,
    /// What was read since the start. Length: that of the chart less one.
    letters: Vec<Letter>,
    live: Vec<Live>,
    /// `longest`: the live lexemes are lazy ones that have ended here.
    ended: bool,
    /// Tokens that have ended.
    tokens: u32,
    /// What the text from here on must be, by what look-aheads behind lexemes that have ended saw; `None` is anything.
    guard: Option<Re>,
    /// [`Oracle::after_ends`] by which live lexemes end.
    memo: RefCell<HashMap<Vec<usize>, Vec<Rc<Configuration>>>>,
}

/// A lexeme under way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Live {
    what: Expected,
    /// Position of the set that expected it.
    began: usize,
    /// What may follow.
    rest: Re,
}

impl Configuration {
    fn position(&self) -> usize {
        self.letters.len()
    }
    fn set_here(&self) -> Option<&Set> {
        self.chart[self.position()].as_deref()
    }
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

    /// `longest`, rules 1 to 3.
    fn feed_longest(&self, configuration: &Configuration, byte: u8) -> Vec<Rc<Configuration>> {
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
                results.extend(self.deeper(|| self.feed_longest(&reached, byte)));
            }
        }
        results
    }

    /// `longest`: the texts that begin with a character that begins with the byte and that no lexeme goes on over. `None` if the
    /// byte begins none, or if there are no such characters.
    fn others(&self, stepped: &[Live], byte: u8) -> Option<Re> {
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

    /// `exact`: every lexeme that matches ends, and goes on as well, but for those that compete with others.
    fn feed_exact(&self, configuration: &Configuration, byte: u8) -> Vec<Rc<Configuration>> {
        let reached = self.feed_exact_anywhere(configuration, byte);
        let looks_around = self.symbols.has_follows() || self.symbols.has_behinds();
        let is_viable = |next: &Rc<Configuration>| match looks_around {
            true => self.leads_on(next),
            false => next.live.iter().any(|live| self.can_finish(next, live)),
        };
        reached.into_iter().filter(is_viable).collect()
    }

    /// The same, wherever it leads.
    fn feed_exact_anywhere(&self, configuration: &Configuration, byte: u8) -> Vec<Rc<Configuration>> {
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

    /// What the text must be after a byte; `None` if it cannot be that any more.
    fn guard_after(&self, guard: Option<Re>, byte: u8) -> Option<Option<Re>> {
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
    fn may_end(&self, configuration: &Configuration) -> bool {
        configuration.guard.is_none_or(|guard| self.regexes.borrow().nullable(guard))
    }

    /// In a grammar with look-around beyond terminals: whether a configuration leads to one in which nothing is owed, or to
    /// the end of the text or a token letter. Nothing is owed by a lexeme that is not ignored and that anything may follow,
    /// if anything may follow now. With look-behinds it must be a lexeme that has not begun yet. Where there are no traps, whether
    /// a configuration leads to the end of a text.
    fn leads_on(&self, configuration: &Rc<Configuration>) -> bool {
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
    fn finds_an_end(&self, configuration: &Rc<Configuration>) -> bool {
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

    /// Counts a future that is looked at, of so many for the same question and at most so many for all.
    fn looks_too_far(&self, futures: usize, futures_max: usize, all_max: usize) -> bool {
        self.futures.set(self.futures.get() + 1);
        let is_too_far = futures > futures_max * self.patience || self.futures.get() > all_max * self.patience;
        self.undecided.set(self.undecided.get() || is_too_far);
        is_too_far
    }

    fn finds_a_way_on(&self, configuration: &Rc<Configuration>) -> bool {
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

    /// Lazy lexemes of grammars in `longest` mode that match now drop those that compete with them.
    fn without_losers(&self, live: Vec<Live>) -> Vec<Live> {
        let ends = |live: &Live| self.competes(live) && self.is_lazy(live) && self.is_match(live);
        let won: BTreeSet<usize> = live.iter().filter(|live| ends(live)).map(|live| live.began).collect();
        live.into_iter().filter(|live| !self.competes(live) || !won.contains(&live.began) || ends(live)).collect()
    }

    /// The live lexemes after a byte, without those that cannot go on.
    fn step(&self, live: &[Live], byte: u8) -> Vec<Live> {
        let mut regexes = self.regexes.borrow_mut();
        let mut stepped = Vec::new();
        for lexeme in live {
            let rest = regexes.derivative(lexeme.rest, byte);
            if regexes.nonempty(rest) {
                stepped.push(Live { rest, ..lexeme.clone() });
            }
        }
        stepped
    }

    /// `exact`: whether a live lexeme can be followed up to an accepted text. What the grammar needs afterwards can
    /// stand directly behind a lexeme that is not ignored; an ignored one must end where it cannot go on. Nothing of the
    /// kind is promised of a grammar in `longest` mode.
    fn can_finish(&self, configuration: &Configuration, live: &Live) -> bool {
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

    /// The configurations after the lexemes that match here have ended, before `next` or the end of the text or token.
    fn after_ends(&self, configuration: &Configuration, next: Option<u8>) -> Vec<Rc<Configuration>> {
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

    /// One byte of each class that no lexeme and no look-ahead tells apart here.
    fn distinct_bytes(&self, at: &Configuration) -> Vec<u8> {
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
    fn add_rests(&self, at: &Configuration, rests: &mut Vec<Re>) {
        rests.extend(at.live.iter().map(|live| live.rest).chain(at.guard));
        for reached in self.after_ends(at, None) {
            if reached.position() > at.position() {
                self.deeper(|| self.add_rests(&reached, rests));
            }
        }
    }

    /// Lexemes that end together, by what may then follow.
    fn by_follow(&self, configuration: &Configuration, ended: Vec<Ended>) -> Vec<(Option<Re>, Vec<Ended>)> {
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

    /// Which live lexemes end here.
    fn ends(&self, configuration: &Configuration, next: Option<u8>) -> Vec<usize> {
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

    /// Of lexemes that match and compete, those that end.
    fn keep_winners(&self, live: &[Live], matching: &mut Vec<usize>) {
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

    /// The ended lexemes by the string that `stop` may have read again, none first.
    fn by_text_read_again(&self, configuration: &Configuration, ends: &[usize]) -> Vec<(Vec<u8>, Vec<usize>)> {
        let mut groups: Vec<(Vec<u8>, Vec<usize>)> = Vec::new();
        for &at in ends {
            let text = match configuration.live[at].what {
                Expected::Lexeme(lexeme) => match &self.symbols.lexeme(lexeme).tail {
                    Some(tail) if tail.hidden => tail.string.clone().unwrap_or_default(),
                    _ => vec![],
                },
                Expected::Ignored(..) => vec![],
            };
            match groups.iter_mut().find(|(other, _)| *other == text) {
                Some((_, group)) => group.push(at),
                None => groups.push((text, vec![at])),
            }
        }
        groups.sort();
        groups
    }

    /// Reads `text` once more if it is forced: each byte is the only letter that may follow, nor may the text end.
    fn read_again(&self, reached: Rc<Configuration>, text: &[u8]) -> Vec<Rc<Configuration>> {
        self.read_again.set(self.read_again.get() + 1);
        if self.read_again.get() > READ_AGAIN_MAX {
            self.undecided.set(true);
            return vec![reached];
        }
        self.deeper(|| self.after_reading_again(reached, text))
    }

    /// An answer from further on; none past [`DEPTH_MAX`].
    fn deeper<T: Default>(&self, answer: impl FnOnce() -> T) -> T {
        if self.depth.get() >= DEPTH_MAX {
            self.undecided.set(true);
            return T::default();
        }
        self.depth.set(self.depth.get() + 1);
        let answer = answer();
        self.depth.set(self.depth.get() - 1);
        answer
    }

    fn after_reading_again(&self, reached: Rc<Configuration>, text: &[u8]) -> Vec<Rc<Configuration>> {
        let mut state = State { configurations: vec![reached.clone()] };
        for &byte in text {
            if self.is_accepting(&state) || self.next_letters(&state) != [Letter::Byte(byte)] {
                return vec![reached];
            }
            // The byte is among the next letters, but an answer may have been given up meanwhile.
            let Some(next) = self.feed_byte(&state, byte) else { return vec![reached] };
            state = next;
        }
        state.configurations
    }

    fn accepts(&self, configuration: &Configuration) -> bool {
        match configuration.set_here() {
            Some(set) => self.symbols.is_finished(set) && self.may_end(configuration),
            None => self.after_ends(configuration, None).iter().any(|reached| self.deeper(|| self.accepts(reached))),
        }
    }

    /// The configuration with `set` at its end, whose lexemes are whole.
    fn at_set(
        &self,
        mut chart: Chart,
        letters: Vec<Letter>,
        set: Set,
        tokens: u32,
        guard: Option<Re>,
    ) -> Configuration {
        let began = letters.len();
        let live = (self.symbols.expected(&set, began).into_iter())
            .filter(|&what| self.may_begin(what, &letters))
            .map(|what| Live { what, began, rest: self.lexeme(what).regex })
            .collect();
        chart.truncate(began);
        chart.push(Some(Rc::new(set)));
        Configuration { chart, letters, live, ended: false, tokens, guard, memo: RefCell::default() }
    }

    /// Whether a lexeme may begin behind what was read, as far as its look-behind says.
    fn may_begin(&self, what: Expected, letters: &[Letter]) -> bool {
        let Some(behind) = self.lexeme(what).behind else { return true };
        let left = self.left_after(behind, letters);
        self.regexes.borrow().nullable(left)
    }

    /// What is left of a language after the bytes since the last token letter.
    fn left_after(&self, language: Re, letters: &[Letter]) -> Re {
        letters.iter().fold(language, |left, letter| match letter {
            Letter::Byte(byte) => self.regexes.borrow_mut().derivative(left, *byte),
            Letter::Token(_) => language,
        })
    }

    /// What is left of all that look-behinds look for.
    fn behinds_left(&self, letters: &[Letter]) -> Vec<Re> {
        let behinds: BTreeSet<Re> = self.symbols.lexemes().iter().filter_map(|lexeme| lexeme.behind).collect();
        behinds.into_iter().map(|behind| self.left_after(behind, letters)).collect()
    }

    fn future(&self, at: &Configuration) -> Future {
        let (guard, live) = future(at);
        (guard, live, self.behinds_left(&at.letters))
    }

    /// The scopes of `max_tokens` whose budget is spent end, wherever they are.
    fn token_end_one(&self, configuration: &Configuration) -> Vec<Rc<Configuration>> {
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

    fn end_scopes(&self, mut going_on: Configuration) -> Vec<Rc<Configuration>> {
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
    fn is_due(&self, item: &Item, tokens: u32) -> bool {
        item.marks.iter().any(|&mark| self.mark_is_due(mark, tokens))
    }
    fn mark_is_due(&self, (scope, since): (usize, u32), tokens: u32) -> bool {
        let budget = self.symbols.productions[scope].max_tokens.expect("scopes have a budget");
        tokens - since >= budget
    }

    /// Whether the item of the set at `began` expects a live lexeme, or stands here.
    fn is_under_way(&self, item: &Item, began: usize, configuration: &Configuration) -> bool {
        let set = Set { items: vec![item.clone()], tokens: 0 };
        let lexemes = self.symbols.expected(&set, began);
        let is_live = |live: &Live| live.began == began && lexemes.contains(&live.what);
        began == configuration.position() || configuration.live.iter().any(is_live)
    }

    /// Climbs from an item to the rules whose scopes end; adds the items that wait for them, advanced.
    fn ends_of_scope(&self, item: &Item, chart: &Chart, tokens: u32, advanced: &mut Vec<Item>) {
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

    fn lexeme(&self, what: Expected) -> Rc<symbols::Lexeme> {
        let (Expected::Lexeme(lexeme) | Expected::Ignored(_, lexeme)) = what;
        self.symbols.lexeme(lexeme)
    }
    fn is_lazy(&self, live: &Live) -> bool {
        self.lexeme(live.what).lazy
    }
    fn competes(&self, live: &Live) -> bool {
        self.lexeme(live.what).competes
    }
    fn is_literal(&self, what: Expected) -> bool {
        self.lexeme(what).is_literal
    }
    fn is_match(&self, live: &Live) -> bool {
        self.regexes.borrow().nullable(live.rest)
    }
}

fn future(at: &Configuration) -> (Option<Re>, Vec<(Expected, Re, u64)>) {
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

/// The configuration after a byte, with no set at its end.
fn under_way(
    before: &Configuration,
    byte: u8,
    set: Option<Set>,
    live: Vec<Live>,
    ended: bool,
    guard: Option<Re>,
) -> Configuration {
    let mut chart = before.chart.clone();
    chart[before.position()] = set.map(Rc::new).or(before.chart[before.position()].clone());
    chart.push(None);
    let letters = with(&before.letters, Letter::Byte(byte));
    Configuration { chart, letters, live, ended, tokens: before.tokens, guard, memo: RefCell::default() }
}

fn with(letters: &[Letter], letter: Letter) -> Vec<Letter> {
    let mut letters = letters.to_vec();
    letters.push(letter);
    letters
}

fn state_of(configurations: impl Iterator<Item = Rc<Configuration>>) -> Option<State> {
    let configurations: Vec<Rc<Configuration>> = configurations.collect();
    if configurations.is_empty() { None } else { Some(State { configurations }) }
}
