//! Which rules are regular, and as which regexes: what becomes terminals.
//!
//! A rule is taken if all that it uses is regular, and it refers to itself not at all, or only at the end of its
//! alternatives, or only at their beginning: the least solution of `r = A r | B` is `A* B` (D. Arden, 1961), that of
//! `r = r A | B` is `B A*`. In [`LexerMode::Exact`](larkspur_grammar::LexerMode::Exact) every way to split a text into
//! lexemes counts, so that joining what stands side by side keeps the language.

use larkspur_grammar::{RegexId, RegexNode, RegexSet, components, index::Id};
use rustc_hash::FxHashMap;

use crate::ast::{Definition, NodeId, NodeKind, Symbol, Tree};

/// Size of a regex that is made of rules, at most: characters, with repetitions written out. What is larger stays
/// rules, so that the lexer's states stay small.
const SIZE_MAX: u64 = 2_000;

/// Places of a regex at which many characters may stand, at most. A string has three, and what has more is several lexemes side by
/// side: the fields of an object in one lexeme would make each of their places one that no other grammar has. (Of 300 GBNF
/// grammars as llama.cpp makes them of JSON Schemas masks took 24 us in the mean without this, 11 with six, 9 with four,
/// 11 with three, 15 with two.)
const WIDE_MAX: u32 = 4;

/// So many characters are many. JSON's `[eE]` and `[ \t]` are few.
const WIDE_CLASS: u32 = 5;

/// A regular language with its size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regular {
    pub regex: RegexId,
    pub size: u64,
    /// Places in it at which many characters may stand. Those of alternatives count together.
    pub wide: u32,
}

impl Regular {
    fn new(regex: RegexId, size: u64, wide: u32) -> Option<Self> {
        (size <= SIZE_MAX && wide <= WIDE_MAX).then_some(Self { regex, size, wide })
    }
    pub fn concat(parts: &[Regular], set: &mut RegexSet) -> Option<Self> {
        let regexes: Vec<RegexId> = parts.iter().map(|part| part.regex).collect();
        let size = parts.iter().map(|part| part.size).sum();
        Self::new(set.concat(&regexes), size, parts.iter().map(|part| part.wide).sum())
    }
    pub fn or(parts: &[Regular], set: &mut RegexSet) -> Option<Self> {
        let regexes: Vec<RegexId> = parts.iter().map(|part| part.regex).collect();
        // A list of words is as good as one, whatever its length.
        let is_list = regexes.iter().all(|&part| matches!(set.node(part), RegexNode::Literal(_)));
        let size =
            parts.iter().map(|part| part.size).fold(0, |all, one| if is_list { one.max(all) } else { one + all });
        Self::new(set.or(&regexes), size, parts.iter().map(|part| part.wide).sum())
    }
    pub fn repeat(self, min: u32, max: Option<u32>, set: &mut RegexSet) -> Option<Self> {
        // One character many times is counted, not written out.
        let is_letter = matches!(set.node(self.regex), RegexNode::Class(_));
        let times = if is_letter { 1 } else { u64::from(max.unwrap_or(min.max(1))).max(1) };
        Self::new(set.repeat(self.regex, min, max), self.size.saturating_mul(times), self.wide)
    }
}

/// Where a rule refers to itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// `A r | B` or `r A | B`.
#[derive(Clone, Copy)]
struct Linear {
    around: Option<Regular>,
    apart: Option<Regular>,
}

/// The regexes of the regular rules, by the index of their definition; `None` for the others. `of_name` has the definition that
/// counts for each name.
pub(crate) fn regular_rules(ast: &Tree, of_name: &FxHashMap<&str, usize>, set: &mut RegexSet) -> Vec<Option<Regular>> {
    let mut rules: Vec<Option<Regular>> = vec![None; ast.definitions.len()];
    let refers_to: Vec<Vec<usize>> =
        ast.definitions.iter().map(|own| references(ast, own, of_name).collect()).collect();
    // Those that are referred to come first.
    for component in components(refers_to.len(), |rule, index| refers_to[rule].get(index).copied()) {
        // Rules that refer to each other are left as they are.
        let &[rule] = component.as_slice() else { continue };
        rules[rule] = match refers_to[rule].contains(&rule) {
            false => nodes(ast, rule, of_name, &rules, set).last().copied().flatten(),
            true => [Side::Right, Side::Left].into_iter().find_map(|side| solve(ast, rule, of_name, &rules, side, set)),
        };
    }
    rules
}

/// The definitions that one refers to, by index.
fn references<'a>(
    ast: &'a Tree,
    own: &Definition,
    of_name: &'a FxHashMap<&str, usize>,
) -> impl Iterator<Item = usize> + 'a {
    own.nodes().filter_map(|node| match &ast.nodes[node].kind {
        NodeKind::Name(name) => of_name.get(name.as_str()).copied(),
        _ => None,
    })
}

/// The definitions that one leads to, itself among them.
pub(crate) fn reached(ast: &Tree, start: usize, of_name: &FxHashMap<&str, usize>) -> Vec<bool> {
    let mut reached = vec![false; ast.definitions.len()];
    reached[start] = true;
    let mut open = vec![start];
    while let Some(index) = open.pop() {
        for called in references(ast, &ast.definitions[index], of_name) {
            if !std::mem::replace(&mut reached[called], true) {
                open.push(called);
            }
        }
    }
    reached
}

/// The regexes of a definition's nodes, from its first one on, as far as they are regular.
pub(crate) fn nodes(
    ast: &Tree,
    rule: usize,
    of_name: &FxHashMap<&str, usize>,
    rules: &[Option<Regular>],
    set: &mut RegexSet,
) -> Vec<Option<Regular>> {
    let definition = &ast.definitions[rule];
    let mut known: Vec<Option<Regular>> = Vec::new();
    for node in definition.nodes() {
        let of = |child: &NodeId| known[child.index() - definition.first.index()];
        let all = |children: &[NodeId]| children.iter().map(of).collect::<Option<Vec<Regular>>>();
        let regular = match &ast.nodes[node].kind {
            NodeKind::Symbol(Symbol::Literal(text)) => {
                // What is written in one piece is one lexeme, whatever its length.
                Some(Regular { regex: set.literal(text.as_bytes()), size: (text.len() as u64).min(SIZE_MAX), wide: 0 })
            }
            NodeKind::Symbol(Symbol::Class(class)) => {
                let characters: u32 = class.ranges().iter().map(|(first, last)| last - first + 1).sum();
                let wide = u32::from(characters >= WIDE_CLASS);
                Some(Regular { regex: set.class(class.clone()), size: 1, wide })
            }
            NodeKind::Name(name) => of_name.get(name.as_str()).and_then(|&rule| rules[rule]),
            NodeKind::Symbol(Symbol::Token { .. }) => None,
            NodeKind::Sequence(parts) => all(parts).and_then(|parts| Regular::concat(&parts, set)),
            NodeKind::Choice(parts) => all(parts).and_then(|parts| Regular::or(&parts, set)),
            NodeKind::Repeat(child, min, max) => of(child).and_then(|child| child.repeat(*min, *max, set)),
        };
        known.push(regular);
    }
    known
}

/// The regex of a rule that refers to itself on one side only.
fn solve(
    ast: &Tree,
    rule: usize,
    of_name: &FxHashMap<&str, usize>,
    rules: &[Option<Regular>],
    side: Side,
    set: &mut RegexSet,
) -> Option<Regular> {
    let definition = &ast.definitions[rule];
    let plain = nodes(ast, rule, of_name, rules, set);
    let empty = Regular { regex: set.epsilon(), size: 0, wide: 0 };
    let mut known: Vec<Option<Linear>> = Vec::with_capacity(plain.len());
    for node in definition.nodes() {
        let at = node.index() - definition.first.index();
        if let Some(apart) = plain[at] {
            known.push(Some(Linear { around: None, apart: Some(apart) }));
            continue;
        }
        let of = |child: &NodeId| known[child.index() - definition.first.index()];
        let linear = match &ast.nodes[node].kind {
            NodeKind::Name(name) if of_name.get(name.as_str()) == Some(&rule) => {
                Some(Linear { around: Some(empty), apart: None })
            }
            NodeKind::Sequence(parts) => {
                let edge = match side {
                    Side::Left => parts.split_first(),
                    Side::Right => parts.split_last(),
                };
                edge.and_then(|(edge, others)| {
                    let others: Vec<Regular> = others
                        .iter()
                        .map(|child| plain[child.index() - definition.first.index()])
                        .collect::<Option<_>>()?;
                    let Linear { around, apart } = of(edge)?;
                    let mut join = |part: Option<Regular>| match part {
                        None => Some(None),
                        Some(part) => {
                            let parts = match side {
                                Side::Left => [&[part], &*others].concat(),
                                Side::Right => [&*others, &[part]].concat(),
                            };
                            Regular::concat(&parts, set).map(Some)
                        }
                    };
                    Some(Linear { around: join(around)?, apart: join(apart)? })
                })
            }
            NodeKind::Choice(parts) => parts.iter().map(of).collect::<Option<Vec<Linear>>>().and_then(|ways| {
                let mut union = |parts: Vec<Regular>| match parts.as_slice() {
                    [] => Some(None),
                    parts => Regular::or(parts, set).map(Some),
                };
                let around = union(ways.iter().filter_map(|way| way.around).collect())?;
                Some(Linear { around, apart: union(ways.iter().filter_map(|way| way.apart).collect())? })
            }),
            NodeKind::Repeat(child, 0, Some(1)) => of(child).and_then(|Linear { around, apart }| {
                let apart: Vec<Regular> = apart.into_iter().chain([empty]).collect();
                Some(Linear { around, apart: Some(Regular::or(&apart, set)?) })
            }),
            _ => None,
        };
        known.push(linear);
    }
    // Without `B` the rule never ends, and stays one.
    let Linear { around, apart } = known.last().copied().flatten()?;
    let (around, apart) = (around?.repeat(0, None, set)?, apart?);
    match side {
        Side::Left => Regular::concat(&[apart, around], set),
        Side::Right => Regular::concat(&[around, apart], set),
    }
}
