//! Small automata for random grammars: texts of terminals in any order, some counted, some never repeated, with what
//! follows a text decided by that text.

use std::collections::BTreeSet;

use larkspur_grammar::{
    Automaton, CharClass, Edge, EdgeSymbol, Exceptions, LimitExceeded, RegexId, RegexSet, RuleId, State, TerminalId,
    Untold,
};
use proptest::prelude::*;

use crate::oracle::regex::{Re, Regexes};

/// A toy, as data; numbers are taken modulo what there is.
#[derive(Clone, Debug)]
pub struct ToySpec {
    /// What it reads.
    pub parts: Vec<PartSpec>,
    /// What may follow a part, by the length of a recorded text or 0 (or whether it is the special one): rules, terminals.
    pub follows: [(Option<usize>, Option<usize>); 2],
    /// Fewest and most parts.
    pub min: u32,
    /// Beyond `min`.
    pub more: u32,
    /// Texts that differ only in `a` and `b` count as one.
    pub folds: bool,
    /// Decides what follows, in place of the length.
    pub special: Option<&'static str>,
}

/// One of the terminals that a toy reads in any order.
#[derive(Clone, Copy, Debug)]
pub struct PartSpec {
    /// The terminal.
    pub terminal: usize,
    /// How it is read.
    pub kind: Kind,
    /// How often it may be read, unless it is distinct.
    pub cap: u32,
}

/// How a terminal is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Whatever it matches.
    Plain,
    /// Recorded.
    Recorded,
    /// Recorded and never repeated, nor what another distinct part has read.
    Distinct,
}

/// Random toys.
pub fn toy_specs() -> impl Strategy<Value = ToySpec> {
    let kind = prop_oneof![Just(Kind::Plain), Just(Kind::Recorded), Just(Kind::Distinct), Just(Kind::Distinct)];
    let part = (0..4usize, kind, 1..3u32).prop_map(|(terminal, kind, cap)| PartSpec { terminal, kind, cap });
    let follow = || (prop::option::weighted(0.4, 0..4usize), prop::option::weighted(0.4, 0..4usize));
    let parts = prop::collection::vec(part, 1..4);
    let follows = prop_oneof![(follow(), follow()).prop_map(|(a, b)| [a, b]), follow().prop_map(|a| [a, a])];
    let special = prop::option::of(prop_oneof![Just("a"), Just("b"), Just("aa"), Just("ab"), Just("bc"), Just("c")]);
    (parts, follows, 0..3u32, 0..4u32, any::<bool>(), special)
        .prop_map(|(parts, follows, min, more, folds, special)| ToySpec { parts, follows, min, more, folds, special })
}

/// A toy in a grammar.
#[derive(Debug)]
pub struct Toy {
    parts: Vec<Part>,
    follows: [(Option<RuleId>, Option<TerminalId>); 2],
    min: u32,
    max: u32,
    folds: bool,
    special: Option<Vec<u8>>,
    /// What distinct parts can read, and whether that is all.
    distinct: (BTreeSet<Vec<u8>>, bool),
    terminals: Vec<TerminalId>,
    recorded: Vec<TerminalId>,
    rules: Vec<RuleId>,
}

#[derive(Debug)]
struct Part {
    terminal: TerminalId,
    kind: Kind,
    cap: u32,
}

/// Where a toy is.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Place {
    counts: Vec<u32>,
    count: u32,
    seen: Exceptions,
    /// What may follow here, besides more parts.
    follow: Option<u32>,
}

/// Texts looked at to find those that a terminal matches.
const TEXTS_MAX: usize = 2000;

/// Length of the longest text looked at.
const LEN_MAX: usize = 12;

impl Toy {
    /// The toy over terminals, given what each matches and whether it may be recorded, and rules.
    pub fn new(spec: &ToySpec, terminals: &[(Re, bool)], rules: usize, regexes: &mut Regexes) -> Toy {
        let terminal = |number: usize| number % terminals.len();
        let id = |number: usize| TerminalId(terminal(number) as u32);
        let mut toy = Toy {
            parts: Vec::new(),
            follows: spec
                .follows
                .map(|(rule, number)| (rule.map(|rule| RuleId((rule % rules) as u32)), number.map(id))),
            min: spec.min,
            max: spec.min + spec.more,
            folds: spec.folds,
            special: None,
            distinct: (BTreeSet::new(), true),
            terminals: Vec::new(),
            recorded: Vec::new(),
            rules: Vec::new(),
        };
        toy.special = spec.special.map(|text| toy.canonical(text.as_bytes()));
        // One more than can ever be read.
        let wanted = toy.max as usize + 1;
        for part in &spec.parts {
            let (regex, may_be_recorded) = terminals[terminal(part.terminal)];
            let kind = if may_be_recorded { part.kind } else { Kind::Plain };
            let regex = regexes.without_empty(regex);
            if !regexes.nonempty(regex) {
                continue;
            }
            let mut kind = kind;
            if kind == Kind::Distinct {
                match texts(regexes, regex, wanted, |text| toy.canonical(text)) {
                    Some((found, is_all)) => {
                        toy.distinct.0.extend(found);
                        toy.distinct.1 &= is_all;
                    }
                    None => kind = Kind::Recorded,
                }
            }
            toy.parts.push(Part { terminal: id(part.terminal), kind, cap: part.cap });
        }
        toy.min = toy.min.min(toy.capacity(&toy.place(0)));
        let (plain, recorded): (Vec<&Part>, Vec<&Part>) = toy.parts.iter().partition(|part| part.kind == Kind::Plain);
        toy.terminals = plain.iter().map(|part| part.terminal).collect();
        toy.recorded = recorded.iter().map(|part| part.terminal).collect();
        toy.terminals.extend(toy.follows.iter().filter_map(|follow| follow.1));
        toy.rules = toy.follows.iter().filter_map(|follow| follow.0).collect();
        toy
    }

    fn place(&self, count: u32) -> Place {
        Place { counts: vec![0; self.parts.len()], count, seen: Exceptions::default(), follow: None }
    }

    /// What a text counts as.
    fn canonical(&self, text: &[u8]) -> Vec<u8> {
        text.iter().map(|&byte| if self.folds && byte == b'b' { b'a' } else { byte }).collect()
    }

    /// How many more parts can be read, as far as that matters.
    fn capacity(&self, place: &Place) -> u32 {
        let others = self.parts.iter().zip(&place.counts).filter(|(part, _)| part.kind != Kind::Distinct);
        let others: u32 = others.map(|(part, count)| part.cap - count).sum();
        let left = self.distinct.0.iter().filter(|text| !place.seen.contains(text)).count() as u32;
        others + if self.distinct.1 { left } else { self.max }
    }
}

/// What some of the texts are that a language has, each once: all, or `wanted`. `None` if that takes too long to see.
fn texts(
    regexes: &mut Regexes,
    regex: Re,
    wanted: usize,
    canonical: impl Fn(&[u8]) -> Vec<u8>,
) -> Option<(BTreeSet<Vec<u8>>, bool)> {
    let mut found = BTreeSet::new();
    let mut looked_at = 0;
    let mut is_cut = false;
    let mut stack = vec![(regex, Vec::new())];
    while let Some((rest, text)) = stack.pop() {
        looked_at += 1;
        if regexes.nullable(rest) {
            found.insert(canonical(&text));
        }
        if found.len() >= wanted {
            return Some((found, false));
        }
        if looked_at > TEXTS_MAX {
            return None;
        }
        if text.len() == LEN_MAX {
            is_cut = true;
            continue;
        }
        for byte in 0..=255 {
            let next = regexes.derivative(rest, byte);
            if regexes.nonempty(next) {
                stack.push((next, [&text[..], &[byte]].concat()));
            }
        }
    }
    (!is_cut).then_some((found, true))
}

impl Automaton for Toy {
    fn start(&self, start: u32) -> State {
        State::new(self.place(start))
    }

    fn is_final(&self, state: &State) -> bool {
        state.get::<Place>().count >= self.min
    }

    fn edges(&self, state: &State) -> Result<Vec<Edge>, LimitExceeded> {
        let place: &Place = state.get();
        let mut edges = Vec::new();
        if let Some(follow) = place.follow {
            let (rule, terminal) = self.follows[follow as usize];
            edges.extend(rule.map(|rule| Edge { symbol: EdgeSymbol::Rule(rule), label: 100 }));
            edges.extend(terminal.map(|terminal| Edge { symbol: EdgeSymbol::Terminal(terminal), label: 101 }));
        }
        for (label, part) in self.parts.iter().enumerate() {
            if place.count >= self.max || part.kind != Kind::Distinct && place.counts[label] >= part.cap {
                continue;
            }
            let symbol = match part.kind {
                Kind::Plain => EdgeSymbol::Terminal(part.terminal),
                Kind::Recorded => EdgeSymbol::Recorded(part.terminal, Exceptions::default()),
                Kind::Distinct => EdgeSymbol::Recorded(part.terminal, place.seen.clone()),
            };
            edges.push(Edge { symbol, label: label as u32 });
        }
        Ok(edges)
    }

    fn next(&self, state: &State, label: u32, text: &[u8]) -> Result<State, LimitExceeded> {
        let mut place: Place = state.get::<Place>().clone();
        if label >= 100 {
            place.follow = None;
            return Ok(State::new(place));
        }
        let part = &self.parts[label as usize];
        place.count += 1;
        place.follow = Some(match &self.special {
            _ if self.follows[0] == self.follows[1] => 0,
            Some(special) => u32::from(self.canonical(text) == *special),
            None => (text.len() % 2) as u32,
        });
        if part.kind == Kind::Distinct {
            assert!(!text.is_empty(), "a recorded text is there");
            place.seen = place.seen.with(&self.canonical(text));
        } else {
            place.counts[label as usize] += 1;
        }
        Ok(State::new(place))
    }

    fn terminals(&self) -> &[TerminalId] {
        &self.terminals
    }

    fn recorded(&self) -> &[TerminalId] {
        &self.recorded
    }

    fn rules(&self) -> &[RuleId] {
        &self.rules
    }

    fn excepted(&self, exception: &[u8], set: &mut RegexSet) -> RegexId {
        if !self.folds {
            return set.literal(exception);
        }
        let parts: Vec<RegexId> = (exception.iter())
            .map(|&byte| match byte {
                b'a' => set.class(CharClass::from_ranges([(u32::from(b'a'), u32::from(b'b'))])),
                byte => set.literal(&[byte]),
            })
            .collect();
        set.concat(&parts)
    }

    fn exception(&self, text: &[u8]) -> Vec<u8> {
        self.canonical(text)
    }

    fn are_single_texts(&self, _: &Exceptions) -> bool {
        !self.folds
    }

    fn untold(&self, state: &State) -> State {
        let mut place: Place = state.get::<Place>().clone();
        if !place.seen.is_empty() {
            place.seen = Exceptions::untold();
        }
        State::new(place)
    }

    /// Only where the length of the text decides nothing.
    fn next_untold(&self, state: &State, label: u32) -> Option<Untold> {
        let [even, odd] = self.follows;
        let but_for = match &self.special {
            _ if even == odd => Exceptions::default(),
            Some(special) => Exceptions::default().with(special),
            None => return None,
        };
        let mut place: Place = state.get::<Place>().clone();
        place.count += 1;
        place.follow = Some(0);
        match self.parts[label as usize].kind {
            Kind::Distinct => place.seen = Exceptions::untold(),
            _ => place.counts[label as usize] += 1,
        }
        Some(Untold { state: self.untold(&State::new(place)), but_for })
    }
}
