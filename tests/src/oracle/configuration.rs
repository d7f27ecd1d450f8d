//! Ways to have read a prefix: a chart, and the lexemes under way in it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::earley::{Chart, Expected, Set};
use super::regex::Re;
use super::symbols::Lexeme;
use super::{Letter, Oracle};

/// One way to have read the prefix. In `exact` mode it holds all splits into lexemes at once.
///
/// Either a set stands at the end of the chart and `live` has its lexemes, whole; or lexemes are under way.
#[derive(Clone)]
pub(super) struct Configuration {
    /// Sets by position; one longer than what was read.
    pub chart: Chart,
    /// What was read since the start. Length: that of the chart less one.
    pub letters: Vec<Letter>,
    pub live: Vec<Live>,
    /// `longest`: the live lexemes are lazy ones that have ended here.
    pub ended: bool,
    /// Tokens that have ended.
    pub tokens: u32,
    /// What the text from here on must be, by what look-aheads behind lexemes that have ended saw; `None` is anything.
    pub guard: Option<Re>,
    /// [`Oracle::after_ends`] by which live lexemes end.
    pub memo: RefCell<HashMap<Vec<usize>, Vec<Rc<Configuration>>>>,
}

/// A lexeme under way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Live {
    pub what: Expected,
    /// Position of the set that expected it.
    pub began: usize,
    /// What may follow.
    pub rest: Re,
}

impl Configuration {
    pub fn position(&self) -> usize {
        self.letters.len()
    }
    pub fn set_here(&self) -> Option<&Set> {
        self.chart[self.position()].as_deref()
    }
}

impl Oracle {
    /// The configuration with `set` at its end, whose lexemes are whole.
    pub(super) fn at_set(
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

    /// The live lexemes after a byte, without those that cannot go on.
    pub(super) fn step(&self, live: &[Live], byte: u8) -> Vec<Live> {
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

    pub(super) fn lexeme(&self, what: Expected) -> Rc<Lexeme> {
        let (Expected::Lexeme(lexeme) | Expected::Ignored(_, lexeme)) = what;
        self.symbols.lexeme(lexeme)
    }

    pub(super) fn is_lazy(&self, live: &Live) -> bool {
        self.lexeme(live.what).lazy
    }

    pub(super) fn competes(&self, live: &Live) -> bool {
        self.lexeme(live.what).competes
    }

    pub(super) fn is_literal(&self, what: Expected) -> bool {
        self.lexeme(what).is_literal
    }

    pub(super) fn is_match(&self, live: &Live) -> bool {
        self.regexes.borrow().nullable(live.rest)
    }
}

/// The configuration after a byte, with no set at its end.
pub(super) fn under_way(
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

pub(super) fn with(letters: &[Letter], letter: Letter) -> Vec<Letter> {
    let mut letters = letters.to_vec();
    letters.push(letter);
    letters
}
