//! The naive side of the comparison: an own reader of KBNF, and the texts of a nonterminal by a fixed point over a
//! chart of bytes. Regexes are those of the `regex` crate.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use larkspur_grammar::definitions::ReadOptions;
use larkspur_grammar::{Limits, SourceMap};
use larkspur_kbnf_frontend::parse;
use larkspur_parser::CompiledGrammar;
use larkspur_test_support::engine;
use regex::bytes::Regex;

enum Side {
    Text(Vec<u8>),
    /// One character.
    Any,
    Whole(Regex),
    /// Some bytes that the first regex matches as a whole, and no shorter beginning of them.
    Early(Regex),
    /// So many bytes at most without a match.
    Without(Regex, usize),
    PartOf(Vec<u8>),
    Rule(String),
    Sequence(Vec<Side>),
    Choice(Vec<Side>),
    Repeat(Box<Side>, bool, bool),
}

/// A grammar's rules.
pub struct Naive(BTreeMap<String, Vec<Side>>);

/// The ends of each rule's texts by where they start.
type Chart = BTreeMap<String, Vec<BTreeSet<usize>>>;

impl Naive {
    /// Reads a grammar without mistakes.
    pub fn new(text: &str) -> Self {
        let mut reader = Reader { rest: text.chars().collect() };
        let mut rules: BTreeMap<String, Vec<Side>> = BTreeMap::new();
        while reader.peek().is_some() {
            let name = reader.word();
            reader.peek();
            while reader.rest.front().is_some_and(|c| ":=".contains(*c)) {
                reader.next();
            }
            let side = reader.choice();
            assert_eq!(reader.next(), ';');
            rules.entry(name).or_default().push(side);
        }
        let excluded: BTreeMap<String, String> =
            rules.iter().map(|(name, sides)| (name.clone(), words(sides).join("|"))).collect();
        rules.values_mut().flatten().for_each(|side| exclude(side, &excluded));
        Self(rules)
    }

    /// Whether the text is in the language of `start`.
    pub fn accepts(&self, text: &[u8]) -> bool {
        let mut chart: Chart =
            self.0.keys().map(|name| (name.clone(), vec![BTreeSet::new(); text.len() + 1])).collect();
        loop {
            let mut next = chart.clone();
            for (name, sides) in &self.0 {
                for start in 0..=text.len() {
                    let found = sides.iter().flat_map(|side| ends(side, start, text, &chart));
                    next.get_mut(name).unwrap()[start].extend(found);
                }
            }
            if next == chart {
                return chart["start"][0].contains(&text.len());
            }
            chart = next;
        }
    }
}

/// The strings of a nonterminal as a regex's alternatives.
fn words(sides: &[Side]) -> Vec<String> {
    let of = |side: &Side| match side {
        Side::Text(text) => vec![regex::escape(std::str::from_utf8(text).unwrap())],
        Side::Choice(parts) | Side::Sequence(parts) => words(parts),
        _ => Vec::new(),
    };
    sides.iter().flat_map(of).collect()
}

/// Puts the strings of `except!(name)` in place, which is read as the rule's name between two zeros.
fn exclude(side: &mut Side, words: &BTreeMap<String, String>) {
    match side {
        Side::Sequence(parts) | Side::Choice(parts) => parts.iter_mut().for_each(|part| exclude(part, words)),
        Side::Repeat(part, ..) => exclude(part, words),
        Side::Without(regex, max) => {
            let name = regex.as_str().trim_matches('\0').to_owned();
            if name.len() + 2 == regex.as_str().len() {
                *side = Side::Without(Regex::new(&words[&name]).unwrap(), *max);
            }
        }
        _ => {}
    }
}

fn ends(side: &Side, start: usize, text: &[u8], chart: &Chart) -> BTreeSet<usize> {
    let part = |end: usize| &text[start..end];
    let whole = |regex: &Regex, end: usize| regex.is_match(part(end));
    match side {
        Side::Text(word) => text[start..].starts_with(word).then_some(start + word.len()).into_iter().collect(),
        Side::Any => {
            let is_char = |end: &usize| std::str::from_utf8(part(*end)).is_ok_and(|part| part.chars().count() == 1);
            (start + 1..=text.len()).filter(is_char).collect()
        }
        Side::Whole(regex) => (start..=text.len()).filter(|&end| whole(regex, end)).collect(),
        Side::Early(regex) => (start + 1..=text.len()).find(|&end| whole(regex, end)).into_iter().collect(),
        Side::Without(regex, max) => {
            let last = text.len().min(start.saturating_add(*max));
            (start + 1..=last).filter(|&end| !regex.is_match(part(end))).collect()
        }
        Side::PartOf(of) => (start..=text.len())
            .filter(|&end| end == start || of.windows(end - start).any(|window| window == part(end)))
            .collect(),
        Side::Rule(name) => chart[name][start].clone(),
        Side::Sequence(parts) => parts.iter().fold(BTreeSet::from([start]), |from, part| {
            from.into_iter().flat_map(|at| ends(part, at, text, chart)).collect()
        }),
        Side::Choice(ways) => ways.iter().flat_map(|way| ends(way, start, text, chart)).collect(),
        Side::Repeat(child, may_be_none, may_be_many) => {
            let mut all: BTreeSet<usize> = if *may_be_none { BTreeSet::from([start]) } else { BTreeSet::new() };
            let mut open = ends(child, start, text, chart);
            while let Some(at) = open.pop_first() {
                if all.insert(at) && *may_be_many {
                    open.extend(ends(child, at, text, chart));
                }
            }
            all
        }
    }
}

struct Reader {
    rest: VecDeque<char>,
}

impl Reader {
    /// The next character that is no blank and stands in no comment.
    fn peek(&mut self) -> Option<char> {
        loop {
            match self.rest.front()? {
                c if c.is_whitespace() => _ = self.next(),
                '(' if self.rest.get(1) == Some(&'*') => {
                    self.next();
                    while self.next() != '*' || self.rest[0] != ')' {}
                    self.next();
                }
                &c => return Some(c),
            }
        }
    }
    fn next(&mut self) -> char {
        self.rest.pop_front().expect("more text")
    }
    fn word(&mut self) -> String {
        let mut word = String::new();
        while self.rest.front().is_some_and(|c| c.is_ascii_alphanumeric() || *c == '_') {
            word.push(self.next());
        }
        word
    }
    /// Alternatives, up to what ends them.
    fn choice(&mut self) -> Side {
        let mut ways = vec![Vec::new()];
        while let Some(c) = self.peek() {
            let last = ways.last_mut().unwrap();
            match c {
                ';' | ')' | ']' | '}' => break,
                '|' => {
                    self.next();
                    ways.push(Vec::new());
                }
                ',' => _ = self.next(),
                '?' | '*' | '+' => {
                    let child = Box::new(last.pop().expect("something to repeat"));
                    let sign = self.next();
                    last.push(Side::Repeat(child, sign != '+', sign != '?'));
                }
                _ => {
                    let one = self.one();
                    ways.last_mut().unwrap().push(one);
                }
            }
        }
        Side::Choice(ways.into_iter().map(Side::Sequence).collect())
    }
    fn one(&mut self) -> Side {
        match self.peek().unwrap() {
            open @ ('(' | '[' | '{') => {
                self.next();
                let side = self.choice();
                self.next();
                if open == '(' { side } else { Side::Repeat(Box::new(side), true, open == '{') }
            }
            '"' | '\'' => Side::Text(self.string().into_bytes()),
            '#' => {
                self.next();
                let kind = self.word();
                let text = self.string();
                let regex = |pattern: String| Regex::new(&pattern).unwrap();
                match kind.as_str() {
                    "" => Side::Whole(regex(format!(r"\A(?:{text})\z"))),
                    "e" => Side::Early(regex(format!(r"\A(?:{text})\z"))),
                    "ex" => Side::Without(regex(text), usize::MAX),
                    _ => Side::PartOf(text.into_bytes()),
                }
            }
            _ => {
                let word = self.word();
                if self.rest.front() != Some(&'!') {
                    return Side::Rule(word);
                }
                self.next();
                if word == "any" {
                    return Side::Any;
                }
                assert_eq!(self.peek(), Some('('));
                self.next();
                let text = match self.peek().unwrap() {
                    '"' | '\'' => regex::escape(&self.string()),
                    _ => format!("\0{}\0", self.word()),
                };
                let mut max = usize::MAX;
                if self.peek() == Some(',') {
                    self.next();
                    self.peek();
                    max = self.word().parse().unwrap();
                }
                assert_eq!(self.peek(), Some(')'));
                self.next();
                Side::Without(Regex::new(&text).unwrap(), max)
            }
        }
    }
    fn string(&mut self) -> String {
        let quote = self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                '\\' => match self.next() {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    kind @ ('x' | 'u') => {
                        let digits: String = (0..if kind == 'x' { 2 } else { 4 }).map(|_| self.next()).collect();
                        text.extend(char::from_u32(u32::from_str_radix(&digits, 16).unwrap()));
                    }
                    c => text.push(c),
                },
                c if c == quote => return text,
                c => text.push(c),
            }
        }
    }
}

/// The same grammar through the front end; `None` if it matches no text, or only the empty one.
pub fn compile(text: &str) -> Option<CompiledGrammar> {
    let limits = Limits::default();
    let mut sources = SourceMap::new();
    let source = sources.add("test.kbnf", text);
    let parsed = parse(&sources, sources.whole(source), &ReadOptions::new(&limits));
    let Some(grammar) = parsed.grammar else {
        let codes: Vec<&str> = parsed.diagnostics.iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(codes, ["K022"], "{text}\n{:#?}", parsed.diagnostics);
        return None;
    };
    engine::compile(grammar, text)
}
