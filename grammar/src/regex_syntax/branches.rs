//! Look-around anywhere, by all ways to read a text at once.
//!
//! A regex becomes a graph whose edges are texts and assertions. A *branch* is a place in it and what its look-aheads still
//! want, as states of their automata; what look-behinds have seen is the same for all branches. A state is the set of
//! branches that a text leads to, so that there are finitely many. A text matches if some branch ends; what that branch's
//! look-aheads still want is what must follow. Slower and larger than [`look`](super::look) and [`loops`](super::loops), whose
//! faults are tried here: assertions in repetitions of any form.
//!
//! Recursive over groups, as deep as `grammar_depth_max`.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::TooLarge;
use super::ast::{Ast, AstId, Tree};
use super::follow::{Automaton, Ending};
use crate::index::IndexVec;
use crate::regex::{ByteSet, RegexId, RegexNode, RegexSet};

/// Places of a graph at most.
const PLACES_MAX: usize = 2_000;
/// States of the result at most, and branches of each.
const STATES_MAX: usize = 2_000;
const BRANCHES_MAX: usize = 256;
/// What may have to follow, in different cases, at most.
const WAYS_MAX: usize = 64;

/// What leads from one place to another.
#[derive(Clone, Copy)]
enum Edge {
    Nothing,
    /// A text of this automaton.
    Text(usize),
    /// What follows must be one of this automaton's texts.
    Ahead(usize),
    /// What was read must (or must not) end in a text of this automaton.
    Behind(usize, bool),
}

/// What look-aheads still want: automata and their states.
type Wants = BTreeSet<(usize, usize)>;

/// A branch in the middle of a text: its automaton and state, where that text leads to.
type Branch = (usize, usize, usize, Wants);

#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    branches: BTreeSet<Branch>,
    /// What must follow if the text ends here, for each branch that has come to the end.
    ends: BTreeSet<Wants>,
    /// The states of the look-behinds' automata.
    behinds: Vec<usize>,
    /// Characters that were read, up to the longest reach of a look-behind.
    read: u64,
}

/// A graph; it begins at place 0.
pub(super) struct Graph {
    edges: Vec<Vec<(Edge, usize)>>,
    texts: Vec<Automaton>,
    by_regex: FxHashMap<RegexId, usize>,
    aheads: Vec<Automaton>,
    /// Of each look-behind its automaton, and how many characters it looks at.
    behinds: Vec<(Automaton, u64)>,
}

impl Graph {
    pub fn new() -> Self {
        Self {
            edges: vec![Vec::new()],
            texts: Vec::new(),
            by_regex: FxHashMap::default(),
            aheads: Vec::new(),
            behinds: Vec::new(),
        }
    }

    fn place(&mut self) -> Result<usize, TooLarge> {
        self.edges.push(Vec::new());
        if self.edges.len() > PLACES_MAX { Err(TooLarge) } else { Ok(self.edges.len() - 1) }
    }

    fn edge(&mut self, from: usize, edge: Edge) -> Result<usize, TooLarge> {
        let to = self.place()?;
        self.edges[from].push((edge, to));
        Ok(to)
    }

    /// Texts from a place on; where they lead to.
    pub fn text(&mut self, from: usize, regex: RegexId, set: &RegexSet) -> Result<usize, TooLarge> {
        if set.info(regex).len_max == Some(0) && *set.node(regex) != RegexNode::Nothing {
            return self.edge(from, Edge::Nothing);
        }
        let automaton = match self.by_regex.get(&regex) {
            Some(&known) => known,
            None => {
                self.texts.push(Automaton::new(set, regex).map_err(|_| TooLarge)?);
                self.by_regex.insert(regex, self.texts.len() - 1);
                self.texts.len() - 1
            }
        };
        self.edge(from, Edge::Text(automaton))
    }

    /// What follows a place is one of `allowed`, a language of any bytes.
    pub fn ahead(&mut self, from: usize, allowed: RegexId, set: &RegexSet) -> Result<usize, TooLarge> {
        self.aheads.push(Automaton::new(set, allowed).map_err(|_| TooLarge)?);
        self.edge(from, Edge::Ahead(self.aheads.len() - 1))
    }

    /// What stands before a place ends (or does not end) in a text of `found`, of at most `reach` characters.
    fn behind(
        &mut self,
        from: usize,
        found: RegexId,
        reach: u64,
        negative: bool,
        set: &mut RegexSet,
    ) -> Result<usize, TooLarge> {
        let any = set.any_byte();
        let any = set.repeat(any, 0, None);
        let ends = set.concat(&[any, found]);
        self.behinds.push((Automaton::new(set, ends).map_err(|_| TooLarge)?, reach));
        self.edge(from, Edge::Behind(self.behinds.len() - 1, negative))
    }

    /// What `part` adds from a place on, `min` to `max` times.
    pub fn repeat(
        &mut self,
        mut from: usize,
        min: u32,
        max: Option<u32>,
        mut part: impl FnMut(&mut Self, usize) -> Result<usize, TooLarge>,
    ) -> Result<usize, TooLarge> {
        for _ in 0..min {
            from = part(self, from)?;
        }
        let end = self.place()?;
        let times = max.map(|max| max.saturating_sub(min));
        for _ in 0..times.unwrap_or(1) {
            self.edges[from].push((Edge::Nothing, end));
            if times.is_none() {
                let start = self.edge(from, Edge::Nothing)?;
                let next = part(self, start)?;
                self.edges[next].extend([(Edge::Nothing, start), (Edge::Nothing, end)]);
                return Ok(end);
            }
            from = part(self, from)?;
        }
        self.edges[from].push((Edge::Nothing, end));
        Ok(end)
    }

    /// The end of a part that is any of several.
    pub fn join(&mut self, ends: &[usize]) -> Result<usize, TooLarge> {
        let end = self.place()?;
        ends.iter().for_each(|&from| self.edges[from].push((Edge::Nothing, end)));
        Ok(end)
    }

    /// The texts by what must follow them. `end` is where they end.
    ///
    /// Errors: they are too many, or a look-behind sees beyond their start.
    pub fn endings(&self, end: usize, set: &mut RegexSet) -> Result<Vec<Ending>, TooLarge> {
        let classes = self.classes();
        let start = self.start(end)?;
        let mut ids: FxHashMap<State, usize> = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut states = vec![start];
        let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
        let mut at = 0;
        while let Some(state) = states.get(at).cloned() {
            at += 1;
            let mut row = Vec::with_capacity(classes.len());
            for class in &classes {
                let byte = class.iter().next().expect("classes are not empty");
                let next = self.step(&state, byte, end)?;
                row.push(next.map(|next| {
                    *ids.entry(next).or_insert_with_key(|next| {
                        states.push(next.clone());
                        states.len() - 1
                    })
                }));
            }
            if states.len() > STATES_MAX {
                return Err(TooLarge);
            }
            rows.push(row);
        }
        // What must follow, by the states in which it must: all that some branch ends with.
        let mut ways: Vec<(&BTreeSet<Wants>, Vec<bool>)> = Vec::new();
        for (index, state) in states.iter().enumerate().filter(|(_, state)| !state.ends.is_empty()) {
            let way = match ways.iter().position(|(ends, _)| **ends == state.ends) {
                Some(known) => known,
                None => {
                    ways.push((&state.ends, vec![false; states.len()]));
                    ways.len() - 1
                }
            };
            ways[way].1[index] = true;
        }
        if ways.len() > WAYS_MAX {
            return Err(TooLarge);
        }
        let automaton = Automaton::of(classes, rows);
        let mut endings = Vec::with_capacity(ways.len());
        for (ends, states) in ways {
            let texts = automaton.texts(0, states, set);
            let follow = (!ends.contains(&Wants::new())).then(|| {
                let each = ends.iter().map(|wants| {
                    let all = wants.iter().map(|&(ahead, state)| self.aheads[ahead].left(state, set));
                    let all: Vec<RegexId> = all.collect();
                    set.and(&all)
                });
                let each: Vec<RegexId> = each.collect();
                set.or(&each)
            });
            endings.push((texts, follow));
        }
        Ok(endings)
    }

    /// Classes of bytes that lead to the same in all automata.
    fn classes(&self) -> Vec<ByteSet> {
        let automata = self.texts.iter().chain(&self.aheads).chain(self.behinds.iter().map(|(automaton, _)| automaton));
        let automata: Vec<&Automaton> = automata.collect();
        let mut columns: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        // Where characters begin is counted.
        let mut classes: Vec<ByteSet> = Vec::new();
        for byte in 0..=255u8 {
            let mut column: Vec<usize> = automata.iter().map(|automaton| automaton.class_of(byte)).collect();
            column.push(usize::from(is_start(byte)));
            let class = *columns.entry(column).or_insert_with(|| {
                classes.push(ByteSet::EMPTY);
                classes.len() - 1
            });
            classes[class].insert(byte);
        }
        classes
    }

    fn start(&self, end: usize) -> Result<State, TooLarge> {
        let behinds = vec![0; self.behinds.len()];
        let mut state = State { branches: BTreeSet::new(), ends: BTreeSet::new(), behinds, read: 0 };
        self.close(vec![(0, Wants::new())], &mut state, end)?;
        Ok(state)
    }

    /// Follows the edges that are no text.
    fn close(&self, mut agenda: Vec<(usize, Wants)>, state: &mut State, end: usize) -> Result<(), TooLarge> {
        let mut seen: BTreeSet<(usize, Wants)> = agenda.iter().cloned().collect();
        while let Some((place, wants)) = agenda.pop() {
            if place == end {
                state.ends.insert(wants.clone());
            }
            for &(edge, to) in &self.edges[place] {
                let mut next = wants.clone();
                match edge {
                    Edge::Nothing => {}
                    Edge::Text(text) => {
                        state.branches.insert((text, 0, to, wants.clone()));
                        if !self.texts[text].accepts(0) {
                            continue;
                        }
                    }
                    Edge::Ahead(ahead) => {
                        if !self.aheads[ahead].is_all(0) {
                            next.insert((ahead, 0));
                        }
                    }
                    Edge::Behind(behind, negative) => {
                        let (automaton, reach) = &self.behinds[behind];
                        if state.read < *reach {
                            return Err(TooLarge);
                        }
                        if automaton.accepts(state.behinds[behind]) == negative {
                            continue;
                        }
                    }
                }
                if seen.insert((to, next.clone())) {
                    agenda.push((to, next));
                }
            }
            if seen.len() > BRANCHES_MAX {
                return Err(TooLarge);
            }
        }
        Ok(())
    }

    fn step(&self, state: &State, byte: u8, end: usize) -> Result<Option<State>, TooLarge> {
        let behinds = self.behinds.iter().zip(&state.behinds);
        let behinds = behinds.map(|((automaton, _), &at)| automaton.step(at, byte).expect("anything may stand before"));
        let reach = self.behinds.iter().map(|&(_, reach)| reach).max().unwrap_or(0);
        let read = reach.min(state.read + u64::from(is_start(byte)));
        let mut next = State { branches: BTreeSet::new(), ends: BTreeSet::new(), behinds: behinds.collect(), read };
        let mut arrived = Vec::new();
        'branches: for (text, at, to, wants) in &state.branches {
            let Some(at) = self.texts[*text].step(*at, byte) else { continue };
            let mut left = Wants::new();
            for &(ahead, at) in wants {
                let Some(at) = self.aheads[ahead].step(at, byte) else { continue 'branches };
                if !self.aheads[ahead].is_all(at) {
                    left.insert((ahead, at));
                }
            }
            if self.texts[*text].accepts(at) {
                arrived.push((*to, left.clone()));
            }
            next.branches.insert((*text, at, *to, left));
        }
        self.close(arrived, &mut next, end)?;
        if next.branches.len() > BRANCHES_MAX {
            return Err(TooLarge);
        }
        Ok((!next.branches.is_empty()).then_some(next))
    }
}

/// An upper bound of the characters of a text. Recursive as `parts` of [`undecided`](super::undecided).
fn characters_max(regex: RegexId, set: &RegexSet) -> Option<u64> {
    match set.node(regex) {
        RegexNode::Class(_) | RegexNode::Bytes(_) => Some(1),
        RegexNode::Literal(bytes) => Some(bytes.iter().filter(|&&byte| is_start(byte)).count() as u64),
        RegexNode::Concat(parts) => parts.iter().map(|&part| characters_max(part, set)).sum(),
        RegexNode::Or(parts) => parts.iter().map(|&part| characters_max(part, set)).try_fold(0, |a, b| Some(a.max(b?))),
        &RegexNode::Repeat(child, _, Some(max)) => characters_max(child, set)?.checked_mul(max.into()),
        _ => set.info(regex).len_max,
    }
}

/// Whether a character begins with the byte.
fn is_start(byte: u8) -> bool {
    (byte as i8) >= -0x40
}

/// The texts of a tree by what must follow them. `plain` are the languages of nodes without assertions.
///
/// Errors: as [`Graph::endings`]; or there are anchors in it, or assertions in assertions.
pub(super) fn lower(
    tree: &Tree,
    root: AstId,
    set: &mut RegexSet,
    plain: &IndexVec<AstId, RegexId>,
) -> Result<Vec<Ending>, TooLarge> {
    let mut reader = Reader { tree, set, plain, graph: Graph::new() };
    let end = reader.node(root, 0)?;
    reader.graph.endings(end, set)
}

struct Reader<'a> {
    tree: &'a Tree,
    set: &'a mut RegexSet,
    plain: &'a IndexVec<AstId, RegexId>,
    graph: Graph,
}

impl Reader<'_> {
    fn node(&mut self, id: AstId, from: usize) -> Result<usize, TooLarge> {
        if !self.tree.infos[id].anchored {
            return self.graph.text(from, self.plain[id], self.set);
        }
        match &self.tree.nodes[id] {
            Ast::Concat(parts) => parts.iter().try_fold(from, |from, &part| self.node(part, from)),
            Ast::Or(parts) => {
                let ends = parts.iter().map(|&part| self.node(part, from));
                let ends: Vec<usize> = ends.collect::<Result<_, _>>()?;
                self.graph.join(&ends)
            }
            &Ast::Repeat(child, min, _) if self.tree.infos[child].zero_width => {
                if min > 0 {
                    self.node(child, from)
                } else {
                    Ok(from)
                }
            }
            &Ast::Repeat(child, min, max) => {
                let mut graph = std::mem::replace(&mut self.graph, Graph::new());
                let end = graph.repeat(from, min, max, |graph, from| {
                    std::mem::swap(&mut self.graph, graph);
                    let end = self.node(child, from);
                    std::mem::swap(&mut self.graph, graph);
                    end
                });
                self.graph = graph;
                end
            }
            &Ast::Look { behind, negative, child, .. } => {
                if self.tree.infos[child].anchored {
                    return Err(TooLarge);
                }
                self.look(self.plain[child], behind, negative, from)
            }
            Ast::Boundary { negated, word, .. } => {
                let word = self.set.class(word.clone());
                let mut ends = Vec::with_capacity(2);
                for before in [true, false] {
                    let at = self.look(word, true, !before, from)?;
                    ends.push(self.look(word, false, before != *negated, at)?);
                }
                self.graph.join(&ends)
            }
            _ => Err(TooLarge),
        }
    }

    fn look(&mut self, found: RegexId, behind: bool, negative: bool, from: usize) -> Result<usize, TooLarge> {
        if behind {
            let reach = characters_max(found, self.set).ok_or(TooLarge)?;
            return self.graph.behind(from, found, reach, negative, self.set);
        }
        let any = self.set.any_byte();
        let any = self.set.repeat(any, 0, None);
        let found = self.set.concat(&[found, any]);
        let allowed = if negative { self.set.not(found) } else { found };
        self.graph.ahead(from, allowed, self.set)
    }
}
