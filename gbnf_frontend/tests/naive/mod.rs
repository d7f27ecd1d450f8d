//! The naive side of the comparison: an own reader of GBNF, and the texts of a rule by a fixed point over a chart.

use std::collections::{BTreeMap, BTreeSet};

use larkspur_gbnf_frontend::parse;
use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceMap};
use larkspur_parser::CompiledGrammar;
use larkspur_test_support::engine;

enum Side {
    /// One character in one of the ranges, or in none.
    One(Vec<(char, char)>, bool),
    Rule(String),
    Sequence(Vec<Side>),
    Choice(Vec<Side>),
    Repeat(Box<Side>, usize, Option<usize>),
}

/// A grammar's rules.
pub struct Naive(BTreeMap<String, Side>);

/// The ends of each rule's texts by where they start.
type Chart = BTreeMap<String, Vec<BTreeSet<usize>>>;

impl Naive {
    /// Reads a grammar without mistakes.
    pub fn new(text: &str) -> Self {
        let mut reader = Reader { rest: text.chars().collect(), nested: 0 };
        let mut rules = BTreeMap::new();
        reader.space(true);
        while !reader.rest.is_empty() {
            let name = reader.word();
            reader.space(false);
            assert_eq!([(); 3].map(|()| reader.next()), [':', ':', '=']);
            reader.space(true);
            let side = reader.choice();
            rules.insert(name, side);
            reader.space(true);
        }
        Self(rules)
    }

    /// Whether the text is in the language of `root`.
    pub fn accepts(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let mut chart: Chart =
            self.0.keys().map(|name| (name.clone(), vec![BTreeSet::new(); text.len() + 1])).collect();
        loop {
            let mut next = chart.clone();
            for (name, side) in &self.0 {
                for start in 0..=text.len() {
                    next.get_mut(name).unwrap()[start].extend(ends(side, start, &text, &chart));
                }
            }
            if next == chart {
                return chart["root"][0].contains(&text.len());
            }
            chart = next;
        }
    }
}

fn ends(side: &Side, start: usize, text: &[char], chart: &Chart) -> BTreeSet<usize> {
    match side {
        Side::One(ranges, negated) => {
            let fits = |c: &&char| ranges.iter().any(|(low, high)| (low..=high).contains(c)) != *negated;
            text.get(start).filter(fits).map(|_| start + 1).into_iter().collect()
        }
        Side::Rule(name) => chart[name][start].clone(),
        Side::Sequence(parts) => parts.iter().fold(BTreeSet::from([start]), |from, part| {
            from.into_iter().flat_map(|at| ends(part, at, text, chart)).collect()
        }),
        Side::Choice(ways) => ways.iter().flat_map(|way| ends(way, start, text, chart)).collect(),
        Side::Repeat(child, min, max) => {
            let step = |from: &BTreeSet<usize>| -> BTreeSet<usize> {
                from.iter().flat_map(|&at| ends(child, at, text, chart)).collect()
            };
            let mut here = BTreeSet::from([start]);
            for _ in 0..*min {
                here = step(&here);
            }
            let mut all = here.clone();
            // More repetitions than there are positions lead nowhere new.
            for _ in *min..max.unwrap_or(min + text.len() + 1) {
                here = step(&here);
                all.extend(&here);
            }
            all
        }
    }
}

struct Reader {
    rest: std::collections::VecDeque<char>,
    nested: usize,
}

impl Reader {
    fn peek(&self) -> Option<char> {
        self.rest.front().copied()
    }
    fn next(&mut self) -> char {
        self.rest.pop_front().expect("more text")
    }
    fn space(&mut self, lines: bool) {
        while let Some(c) = self.peek() {
            match c {
                '#' => {
                    while self.peek().is_some_and(|c| c != '\n') {
                        self.next();
                    }
                }
                ' ' | '\t' => _ = self.next(),
                '\n' | '\r' if lines => _ = self.next(),
                _ => return,
            }
        }
    }
    fn word(&mut self) -> String {
        let mut word = String::new();
        while self.peek().is_some_and(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            word.push(self.next());
        }
        word
    }
    fn choice(&mut self) -> Side {
        let mut ways = vec![Vec::new()];
        loop {
            self.space(self.nested > 0);
            let last = ways.last_mut().unwrap();
            match self.peek() {
                Some('|') => {
                    self.next();
                    self.space(true);
                    ways.push(Vec::new());
                }
                Some('\n' | '\r') if self.rest.iter().find(|c| !c.is_whitespace()) == Some(&'|') => self.space(true),
                None | Some(')' | '\n' | '\r') => break,
                Some('*' | '+' | '?' | '{') => {
                    let child = Box::new(last.pop().expect("something to repeat"));
                    let (min, max) = self.counts();
                    last.push(Side::Repeat(child, min, max));
                }
                Some(_) => {
                    let one = self.one();
                    ways.last_mut().unwrap().push(one);
                }
            }
        }
        Side::Choice(ways.into_iter().map(Side::Sequence).collect())
    }
    fn counts(&mut self) -> (usize, Option<usize>) {
        match self.next() {
            '*' => (0, None),
            '+' => (1, None),
            '?' => (0, Some(1)),
            _ => {
                let mut inside = String::new();
                while self.peek() != Some('}') {
                    inside.push(self.next());
                }
                self.next();
                let numbers: Vec<&str> = inside.split(',').map(str::trim).collect();
                let min = numbers[0].parse().unwrap();
                (min, numbers.get(1).map_or(Some(min), |max| max.parse().ok()))
            }
        }
    }
    fn one(&mut self) -> Side {
        match self.peek().unwrap() {
            '(' => {
                self.next();
                self.nested += 1;
                let side = self.choice();
                self.nested -= 1;
                assert_eq!(self.next(), ')');
                side
            }
            '"' => {
                self.next();
                let mut parts = Vec::new();
                while self.peek() != Some('"') {
                    let c = self.character();
                    parts.push(Side::One(vec![(c, c)], false));
                }
                self.next();
                Side::Sequence(parts)
            }
            '[' => {
                self.next();
                let negated = self.peek() == Some('^');
                if negated {
                    self.next();
                }
                let mut ranges = Vec::new();
                while self.peek() != Some(']') {
                    let low = self.character();
                    let is_range = self.peek() == Some('-') && self.rest.get(1) != Some(&']');
                    if is_range {
                        self.next();
                    }
                    ranges.push((low, if is_range { self.character() } else { low }));
                }
                self.next();
                Side::One(ranges, negated)
            }
            '.' => {
                self.next();
                Side::One(vec![], true)
            }
            _ => Side::Rule(self.word()),
        }
    }
    fn character(&mut self) -> char {
        match self.next() {
            '\\' => match self.next() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                kind @ ('x' | 'u' | 'U') => {
                    let len = match kind {
                        'x' => 2,
                        'u' => 4,
                        _ => 8,
                    };
                    let digits: String = (0..len).map(|_| self.next()).collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).unwrap()).unwrap()
                }
                c => c,
            },
            c => c,
        }
    }
}

/// The same grammar through the front end; `None` if it matches no text.
pub fn compile(text: &str) -> Option<CompiledGrammar> {
    let limits = Limits::default();
    let mut sources = SourceMap::new();
    let source = sources.add("test.gbnf", text);
    let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&limits));
    let grammar = parsed.grammar.unwrap_or_else(|| panic!("{text}\n{:#?}", parsed.diagnostics));
    engine::compile(grammar, text)
}
