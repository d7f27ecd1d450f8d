//! Captures in random grammars against the definition of the preferred derivation, written down plainly: `exact` mode,
//! all spans by a fixed point, decisions top down.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use larkspur_grammar::{LexerMode, Limits, SourceMap, link};
use larkspur_lark_frontend::{LarkOptions, parse};
use larkspur_parser::{CompiledGrammar, EngineOptions, Matcher, MatcherOptions, Shared};
use larkspur_test_support::Random;
use larkspur_toktrie::Vocabulary;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Atom {
    Text(&'static str),
    Rule(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Term {
    atom: Atom,
    /// `?`, `*`, `+`, or a blank.
    suffix: char,
}

#[derive(Debug)]
struct Rule {
    alternatives: Vec<Vec<Term>>,
    is_captured: bool,
    priority: i32,
}

fn random_rules(random: &mut Random) -> Vec<Rule> {
    let count = 2 + random.below(3);
    let mut rules = Vec::new();
    for _ in 0..count {
        let mut alternatives = Vec::new();
        for _ in 0..1 + random.below(3) {
            let terms = (0..1 + random.below(3)).map(|_| Term {
                atom: match random.below(2) {
                    0 => Atom::Text(["a", "b", "ab", "aa"][random.below(4)]),
                    _ => Atom::Rule(random.below(count)),
                },
                suffix: [' ', ' ', ' ', '?', '*', '+'][random.below(6)],
            });
            alternatives.push(terms.collect());
        }
        let priority = if random.below(5) == 0 { random.below(3) as i32 - 1 } else { 0 };
        rules.push(Rule { alternatives, is_captured: random.below(3) > 0, priority });
    }
    rules
}

fn lark(rules: &[Rule]) -> String {
    let mut text = String::from("start: r0\n");
    for (index, rule) in rules.iter().enumerate() {
        let term = |term: &Term| match term.atom {
            Atom::Text(text) => format!("{text:?}{}", term.suffix),
            Atom::Rule(rule) => format!("r{rule}{}", term.suffix),
        };
        let alternative = |terms: &Vec<Term>| terms.iter().map(term).collect::<Vec<_>>().join(" ");
        let alternatives = rule.alternatives.iter().map(alternative).collect::<Vec<_>>().join(" | ");
        let capture = if rule.is_captured { "[capture]" } else { "" };
        text.push_str(&format!("r{index}.{}{capture}: {alternatives}\n", rule.priority));
    }
    text
}

/// Which rules derive some text.
fn productive(rules: &[Rule]) -> Vec<bool> {
    let mut productive = vec![false; rules.len()];
    loop {
        let can = |term: &Term| match term.atom {
            Atom::Rule(rule) => matches!(term.suffix, '?' | '*') || productive[rule],
            Atom::Text(_) => true,
        };
        let next: Vec<bool> =
            rules.iter().map(|rule| rule.alternatives.iter().any(|terms| terms.iter().all(can))).collect();
        if next == productive {
            return productive;
        }
        productive = next;
    }
}

type Found = Vec<(usize, usize, usize)>;

struct Naive<'a> {
    rules: &'a [Rule],
    productive: Vec<bool>,
    text: &'a [u8],
    /// Spans of rules.
    spans: HashSet<(usize, usize, usize)>,
    path: Vec<(usize, usize, usize)>,
    found: Found,
}

/// A rule would derive itself: the definition's circles are tested elsewhere.
struct Circle;

impl<'a> Naive<'a> {
    fn new(rules: &'a [Rule], text: &'a [u8]) -> Self {
        let mut naive = Naive {
            rules,
            productive: productive(rules),
            text,
            spans: HashSet::new(),
            path: Vec::new(),
            found: Vec::new(),
        };
        loop {
            let before = naive.spans.len();
            for (rule, Rule { alternatives, .. }) in rules.iter().enumerate() {
                for start in 0..=text.len() {
                    for end in start..=text.len() {
                        if alternatives.iter().any(|terms| naive.sequence(terms, start, end)) {
                            naive.spans.insert((rule, start, end));
                        }
                    }
                }
            }
            if naive.spans.len() == before {
                return naive;
            }
        }
    }

    fn atom(&self, atom: Atom, start: usize, end: usize) -> bool {
        match atom {
            Atom::Text(text) => &self.text[start..end] == text.as_bytes(),
            Atom::Rule(rule) => self.spans.contains(&(rule, start, end)),
        }
    }

    fn term(&self, term: Term, start: usize, end: usize) -> bool {
        match term.suffix {
            ' ' => self.atom(term.atom, start, end),
            '?' => start == end || self.atom(term.atom, start, end),
            suffix => {
                start == end && (suffix == '*' || self.atom(term.atom, start, end)) || {
                    start < end && !self.elements(term.atom, start, end).is_empty()
                }
            }
        }
    }

    /// Elements that are not empty, each as long as it can be.
    fn elements(&self, atom: Atom, start: usize, end: usize) -> Vec<(usize, usize)> {
        let mut leads = vec![false; end + 1];
        leads[end] = true;
        for at in (start..end).rev() {
            leads[at] = (at + 1..=end).any(|next| leads[next] && self.atom(atom, at, next));
        }
        let mut elements = Vec::new();
        let mut at = start;
        while at < end {
            let Some(next) = (at + 1..=end).rev().find(|&next| leads[next] && self.atom(atom, at, next)) else {
                return Vec::new();
            };
            elements.push((at, next));
            at = next;
        }
        elements
    }

    fn sequence(&self, terms: &[Term], start: usize, end: usize) -> bool {
        match terms {
            [] => start == end,
            [first, rest @ ..] => {
                (start..=end).any(|next| self.term(*first, start, next) && self.sequence(rest, next, end))
            }
        }
    }

    fn derive(&mut self, rule: usize, start: usize, end: usize) -> Result<(), Circle> {
        if self.path.contains(&(rule, start, end)) {
            return Err(Circle);
        }
        self.path.push((rule, start, end));
        let rules = self.rules;
        let priority = |terms: &Vec<Term>| {
            let rules = terms.iter().filter_map(|term| match term.atom {
                Atom::Rule(rule) if self.productive[rule] => Some(rules[rule].priority),
                _ => None,
            });
            rules.max().unwrap_or(0)
        };
        let mut alternatives: Vec<&Vec<Term>> = rules[rule].alternatives.iter().collect();
        alternatives.sort_by_key(|terms| -priority(terms));
        let mut terms =
            &alternatives.into_iter().find(|terms| self.sequence(terms, start, end)).expect("it derives")[..];
        let mut at = start;
        while let [first, rest @ ..] = terms {
            let next = (at..=end).rev().find(|&next| self.term(*first, at, next) && self.sequence(rest, next, end));
            let next = next.expect("the sequence derives");
            if let Atom::Rule(child) = first.atom {
                if matches!(first.suffix, '*' | '+') && at < next {
                    for (from, to) in self.elements(first.atom, at, next) {
                        self.derive(child, from, to)?;
                    }
                } else if self.atom(first.atom, at, next) {
                    self.derive(child, at, next)?;
                }
            }
            (terms, at) = (rest, next);
        }
        if rules[rule].is_captured {
            self.found.push((rule, start, end));
        }
        self.path.pop();
        Ok(())
    }
}

fn compile(shared: &Shared, text: &str, mode: LexerMode) -> Option<CompiledGrammar> {
    let mut sources = SourceMap::new();
    let source = sources.add("", text);
    let limits = Limits::default();
    let options = LarkOptions { lexer: Some(mode), ..LarkOptions::new(&limits) };
    let grammar = parse(&mut sources, source, &options).grammar?;
    let linked = link(vec![grammar], |_, _| unreachable!("no schemas")).ok()?;
    CompiledGrammar::compile(shared, linked).ok()
}

#[test]
fn captures_are_as_defined() {
    let options = EngineOptions { slices: Vec::new(), ..EngineOptions::default() };
    let shared = Shared::new(Arc::new(Vocabulary::single_bytes()), &options).expect("no slices");
    let factor = std::env::var("LARKSPUR_TEST_FACTOR").ok().and_then(|factor| factor.parse().ok()).unwrap_or(1);
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut verdicts: HashMap<&str, usize> = HashMap::new();
    for _ in 0..800 * factor {
        let rules = random_rules(&mut random);
        let text = lark(&rules);
        let Some(exact) = compile(&shared, &text, LexerMode::Exact) else { continue };
        let longest = compile(&shared, &text, LexerMode::Longest);
        for _ in 0..8 {
            let input: Vec<u8> = (0..random.below(7)).map(|_| b"ab"[random.below(2)]).collect();
            for grammar in longest.iter() {
                let mut matcher = Matcher::new(grammar, MatcherOptions::default()).unwrap();
                if matcher.consume_bytes(&input).is_ok() {
                    matcher.captures().expect("within the limits");
                }
            }
            let mut matcher = Matcher::new(&exact, MatcherOptions::default()).unwrap();
            if matcher.consume_bytes(&input).is_err() {
                continue;
            }
            let captures = matcher.captures().expect("within the limits");
            if !matcher.is_accepting().unwrap() {
                *verdicts.entry("in progress").or_default() += 1;
                continue;
            }
            let mut naive = Naive::new(&rules, &input);
            if naive.derive(0, 0, input.len()).is_err() {
                *verdicts.entry("circle").or_default() += 1;
                continue;
            }
            let mut expected = naive.found;
            expected.sort_by_key(|&(_, _, end)| end);
            let number = |name: &str| name[1..].parse().expect("r and a number");
            let found: Found = captures.iter().map(|c| (number(&c.name), c.start, c.end)).collect();
            assert_eq!(found, expected, "{:?} of\n{text}", String::from_utf8_lossy(&input));
            *verdicts.entry("equal").or_default() += 1;
        }
    }
    println!("{verdicts:?}");
    assert!(verdicts["equal"] > 300 * factor, "{verdicts:?}");
}
