//! Look-around anywhere, by all ways to read a text at once.
//!
//! A regex becomes a graph of places; texts, look-aheads and look-behinds lead from one to the next. A *branch* is a place
//! and what its assertions still want: of what follows, states of the look-aheads' automata; of what stands before the whole
//! text, the states of the look-behinds' automata that it must lead to. Reading a byte takes all branches further, so that
//! the sets of branches are the states of a deterministic automaton. A text matches where one of its branches has come to
//! the end, and what that branch still wants is what must stand around the text.
//!
//! What a look-behind has seen is the same for all branches: a map from the state in which it was at the text's start to the
//! one in which it is. An assertion in an assertion is a graph of its own, whose texts are found first.
//!
//! Where nothing stands around the text, or it is searched for a match, a branch may end where the rest may be empty.
//!
//! Larger than what [`look`](super::look) and [`loops`](super::loops) make, whose faults are tried here. Recursive over
//! groups and assertions, as deep as `grammar_depth_max`.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::RegexOptions;
use super::ast::{Ast, AstId, Tree};
use super::error::LookFault;
use super::follow::Automaton;
use super::letters::Letters;
use super::look::{Way, anchors_look, end_allowed, start_allowed};
use super::lower::{any_text, plain_nodes};
use super::undecided::Questions;
use crate::index::IndexVec;
use crate::regex::{ByteSet, RegexId, RegexNode, RegexSet};

/// Places of a graph at most.
const PLACES_MAX: usize = 5_000;
/// States of all automata of a graph at most.
const AUTOMATA_STATES_MAX: usize = 10_000;
/// States of what is made of a graph at most, and branches of each.
const STATES_MAX: usize = 4_000;
const BRANCHES_MAX: usize = 256;
/// What may have to stand around texts, in different cases, at most.
const WAYS_MAX: usize = 64;
/// Branches that are taken further, by a class of bytes each, for one regex at most, and for all of a grammar: 0.4 us each at
/// opt-level 1. `\b` between texts that may be empty takes 0.3 to 1.2 million, since Unicode's words have 400 states.
const STEPS_MAX: usize = 2_000_000;
const STEPS_OF_ALL_MAX: usize = 8_000_000;

/// What leads from one place to another.
#[derive(Clone, Copy)]
enum Edge {
    Nothing,
    /// A text of this automaton.
    Text(usize),
    /// What follows must be one of this automaton's texts.
    Ahead(usize),
    /// What stands before must be one of this automaton's texts or, with `true`, must be none.
    Behind(usize, bool),
}

/// A branch's conditions on what stands around the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
struct Wants {
    /// Automata and states from which what follows must be accepted. Ascending.
    ahead: Vec<(usize, usize)>,
    /// Automata, and to which of their states what stands before the text must lead: a bit each, as in
    /// [`Graph::looks_behind`]. Ascending.
    behind: Vec<(usize, u64)>,
}

impl Wants {
    /// Whether all that meets the other meets this.
    fn follows_from(&self, other: &Self) -> bool {
        let allows =
            |&(at, states): &(usize, u64)| other.behind.iter().any(|&(of, own)| of == at && own & !states == 0);
        self.ahead.iter().all(|ahead| other.ahead.binary_search(ahead).is_ok()) && self.behind.iter().all(allows)
    }

    /// Adds a condition on what stands before the text; false if none of the states is left.
    fn add_behind(&mut self, automaton: usize, states: u64) -> bool {
        let index = self.behind.partition_point(|&(at, _)| at < automaton);
        match self.behind.get_mut(index) {
            Some((at, known)) if *at == automaton => {
                *known &= states;
                *known != 0
            }
            _ => {
                self.behind.insert(index, (automaton, states));
                states != 0
            }
        }
    }

    fn add_ahead(&mut self, automaton: usize, state: usize) {
        if let Err(index) = self.ahead.binary_search(&(automaton, state)) {
            self.ahead.insert(index, (automaton, state));
        }
    }
}

/// Conditions one of which must be met; none follows from another. Ascending.
type Either = Vec<Wants>;

/// Adds a condition; false if that adds nothing.
fn add(either: &mut Either, wants: Wants) -> bool {
    if either.iter().any(|known| known.follows_from(&wants)) {
        return false;
    }
    either.retain(|known| !wants.follows_from(known));
    let index = either.partition_point(|known| *known < wants);
    either.insert(index, wants);
    true
}

/// All branches of a text.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    /// In the middle of a text: its automaton and state, and the place where it leads.
    open: BTreeMap<(usize, usize, usize), Either>,
    /// At the end.
    ends: Either,
    /// As [`Graph::looks_behind`]: by the state at the text's start the state in which an automaton is.
    pasts: Vec<Vec<usize>>,
}

/// A graph; it begins at place 0.
struct Graph {
    edges: Vec<Vec<(Edge, usize)>>,
    automata: Vec<Automaton>,
    by_language: FxHashMap<RegexId, usize>,
    /// Automata that look behind, and the states to which what stands before the text may lead, at most 64.
    looks_behind: BTreeMap<usize, Vec<usize>>,
}

/// A graph, or what is made of it, is too large.
#[derive(Debug)]
struct TooMany;

impl From<TooMany> for LookFault {
    fn from(_: TooMany) -> Self {
        LookFault::TooManyWays { limit: STATES_MAX }
    }
}

impl Graph {
    fn new() -> Self {
        Self {
            edges: vec![Vec::new()],
            automata: Vec::new(),
            by_language: FxHashMap::default(),
            looks_behind: BTreeMap::new(),
        }
    }

    fn place(&mut self) -> Result<usize, TooMany> {
        self.edges.push(Vec::new());
        if self.edges.len() > PLACES_MAX { Err(TooMany) } else { Ok(self.edges.len() - 1) }
    }

    fn edge(&mut self, from: usize, edge: Edge) -> Result<usize, TooMany> {
        let to = self.place()?;
        self.edges[from].push((edge, to));
        Ok(to)
    }

    fn automaton(&mut self, language: RegexId, set: &RegexSet) -> Result<usize, TooMany> {
        if let Some(&known) = self.by_language.get(&language) {
            return Ok(known);
        }
        self.automata.push(Automaton::new(set, language).map_err(|_| TooMany)?);
        if self.automata.iter().map(Automaton::states).sum::<usize>() > AUTOMATA_STATES_MAX {
            return Err(TooMany);
        }
        self.by_language.insert(language, self.automata.len() - 1);
        Ok(self.automata.len() - 1)
    }

    /// A text of a language from a place on; where it leads to.
    fn text(&mut self, from: usize, language: RegexId, set: &RegexSet) -> Result<usize, TooMany> {
        if matches!(set.node(language), RegexNode::Literal(bytes) if bytes.is_empty()) {
            return self.edge(from, Edge::Nothing);
        }
        let automaton = self.automaton(language, set)?;
        self.edge(from, Edge::Text(automaton))
    }

    /// What follows a place is one of `allowed`, a language of any bytes.
    fn ahead(&mut self, from: usize, allowed: RegexId, set: &RegexSet) -> Result<usize, TooMany> {
        let automaton = self.automaton(allowed, set)?;
        self.edge(from, Edge::Ahead(automaton))
    }

    /// What stands before a place is (with `negative`, is not) one of `found`, a language of any bytes; before the text `any`
    /// may stand.
    fn behind(
        &mut self,
        from: usize,
        (found, negative): (RegexId, bool),
        any: RegexId,
        set: &RegexSet,
    ) -> Result<usize, TooMany> {
        let automaton = self.automaton(found, set)?;
        if !self.looks_behind.contains_key(&automaton) {
            let any = self.automaton(any, set)?;
            let starts = self.automata[automaton].led_to(&self.automata[any]);
            if starts.len() > u64::BITS as usize {
                return Err(TooMany);
            }
            self.looks_behind.insert(automaton, starts.into_iter().collect());
        }
        self.edge(from, Edge::Behind(automaton, negative))
    }

    /// The end of a part that is any of several.
    fn join(&mut self, ends: &[usize]) -> Result<usize, TooMany> {
        let end = self.place()?;
        ends.iter().for_each(|&from| self.edges[from].push((Edge::Nothing, end)));
        Ok(end)
    }

    /// The texts that lead to place `end`, by what must stand around them. Of those that everything may stand around there is
    /// one way at most. `steps` are those that are left.
    fn ways(&self, end: usize, set: &mut RegexSet, steps: &mut usize) -> Result<Vec<Way>, LookFault> {
        let (automaton, states) = Reading::new(self, end).explore(steps, |_| Ok(()))?;
        // By what must stand before, and by what must follow, in one of several cases.
        type Around<'a> = (&'a [(usize, u64)], BTreeSet<&'a [(usize, usize)]>);
        let mut ways: BTreeMap<Around, Vec<bool>> = BTreeMap::new();
        for (index, state) in states.iter().enumerate() {
            let mut cases: BTreeMap<&[_], BTreeSet<&[_]>> = BTreeMap::new();
            for Wants { ahead, behind } in &state.ends {
                cases.entry(behind).or_default().insert(ahead);
            }
            for around in cases {
                ways.entry(around).or_insert_with(|| vec![false; states.len()])[index] = true;
            }
            if ways.len() > WAYS_MAX {
                return Err(TooMany.into());
            }
        }
        let mut questions = Questions::new();
        let mut found: BTreeMap<(Option<RegexId>, Option<RegexId>), Vec<bool>> = BTreeMap::new();
        for ((behind, cases), ends) in ways {
            let before = behind.iter().map(|&(at, states)| {
                let starts = self.looks_behind[&at].iter().enumerate();
                let starts = starts.filter(|(bit, _)| states >> bit & 1 == 1).map(|(_, &start)| start).collect();
                self.automata[at].leading_to(&starts, set)
            });
            let before: Vec<RegexId> = before.collect();
            let before = (!before.is_empty()).then(|| set.and(&before));
            let after = (!cases.iter().any(|case| case.is_empty())).then(|| {
                let each = cases.iter().map(|case| {
                    let all: Vec<RegexId> =
                        case.iter().map(|&(at, state)| self.automata[at].left(state, set)).collect();
                    set.and(&all)
                });
                let each: Vec<RegexId> = each.collect();
                set.or(&each)
            });
            // Some conditions are met by everything, or by nothing.
            let mut around = [before, after];
            let mut is_possible = true;
            for side in &mut around {
                let Some(allowed) = *side else { continue };
                is_possible &= !questions.is_empty(set, allowed);
                let forbidden = set.not(allowed);
                if questions.is_empty(set, forbidden) {
                    *side = None;
                }
            }
            if !is_possible {
                continue;
            }
            let all = found.entry((around[0], around[1])).or_insert_with(|| vec![false; states.len()]);
            all.iter_mut().zip(ends).for_each(|(all, ends)| *all |= ends);
        }
        let ways = found.into_iter();
        Ok(ways.map(|((behind, follow), ends)| Way { texts: automaton.texts(0, ends, set), behind, follow }).collect())
    }

    /// The texts that lead to place `end`.
    ///
    /// Errors: it is too large, or what stands around some texts decides whether they match.
    fn texts(&self, end: usize, set: &mut RegexSet, steps: &mut usize) -> Result<RegexId, LookFault> {
        // No other condition stands beside the one that everything meets.
        let (automaton, states) = Reading::new(self, end).explore(steps, |state| match state.ends.first() {
            Some(Wants { behind, .. }) if !behind.is_empty() => Err(LookFault::Before),
            Some(Wants { ahead, .. }) if !ahead.is_empty() => Err(LookFault::After),
            _ => Ok(()),
        })?;
        let ends = states.iter().map(|state| !state.ends.is_empty()).collect();
        Ok(automaton.texts(0, ends, set))
    }

    /// An automaton, and its states to which the texts lead that lead to place `end` where nothing stands around them, as it
    /// does not before them; behind `found`, if that is a place, all texts match.
    fn whole(&self, end: usize, found: Option<usize>, steps: &mut usize) -> Result<(Automaton, Vec<bool>), LookFault> {
        let reading = Reading { found, ..Reading::new(self, end) };
        let (automaton, states) = reading.explore(steps, |_| Ok(()))?;
        let is_met = |wants: &Wants| wants.ahead.iter().all(|&(at, state)| self.automata[at].accepts(state));
        let ends = states.iter().map(|state| state.ends.iter().any(is_met)).collect();
        Ok((automaton, ends))
    }
}

/// A graph while its states are explored.
struct Reading<'a> {
    graph: &'a Graph,
    end: usize,
    /// The place behind which all texts lead to the end.
    found: Option<usize>,
    /// Bytes that all automata treat alike.
    classes: Vec<ByteSet>,
    /// By class and automaton, the automaton's own class.
    own_classes: Vec<Vec<usize>>,
}

impl<'a> Reading<'a> {
    fn new(graph: &'a Graph, end: usize) -> Self {
        let mut known: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let (mut classes, mut own_classes) = (Vec::new(), Vec::new());
        for byte in 0..=255u8 {
            let own: Vec<usize> = graph.automata.iter().map(|automaton| automaton.class_of(byte)).collect();
            let class = *known.entry(own).or_insert_with_key(|own| {
                classes.push(ByteSet::EMPTY);
                own_classes.push(own.clone());
                classes.len() - 1
            });
            classes[class].insert(byte);
        }
        Self { graph, end, found: None, classes, own_classes }
    }

    /// The automaton of all states, and these; the first is the start. `check` ends it early.
    fn explore(
        self,
        steps: &mut usize,
        check: impl Fn(&State) -> Result<(), LookFault>,
    ) -> Result<(Automaton, Vec<State>), LookFault> {
        let start = self.start(steps)?;
        let mut ids: FxHashMap<State, usize> = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut states = vec![start];
        let mut rows: Vec<Vec<Option<usize>>> = Vec::new();
        while let Some(state) = states.get(rows.len()).cloned() {
            check(&state)?;
            let mut row = Vec::with_capacity(self.classes.len());
            for class in 0..self.classes.len() {
                let next = self.step(&state, class, steps)?;
                row.push(next.map(|next| {
                    *ids.entry(next).or_insert_with_key(|next| {
                        states.push(next.clone());
                        states.len() - 1
                    })
                }));
            }
            if states.len() > STATES_MAX {
                return Err(TooMany.into());
            }
            rows.push(row);
        }
        Ok((Automaton::of(self.classes, rows), states))
    }

    fn start(&self, steps: &mut usize) -> Result<State, TooMany> {
        let pasts = self.graph.looks_behind.values().cloned().collect();
        let mut state = State { open: BTreeMap::new(), ends: Either::new(), pasts };
        self.close(vec![(0, Wants::default())], &mut state, steps)?;
        Ok(state)
    }

    /// Follows the edges that read nothing.
    fn close(&self, mut agenda: Vec<(usize, Wants)>, state: &mut State, steps: &mut usize) -> Result<(), TooMany> {
        let mut seen: FxHashMap<usize, Either> = FxHashMap::default();
        let mut branches = 0;
        agenda.retain(|(place, wants)| add(seen.entry(*place).or_default(), wants.clone()));
        while let Some((place, wants)) = agenda.pop() {
            if Some(place) == self.found && wants == Wants::default() {
                self.forget_all(state, place);
                return Ok(());
            }
            if place == self.end {
                add(&mut state.ends, wants.clone());
            }
            for &(edge, to) in &self.graph.edges[place] {
                *steps = steps.checked_sub(1).ok_or(TooMany)?;
                if let Edge::Text(text) = edge {
                    if self.graph.automata[text].goes_on(0) {
                        add(state.open.entry((text, 0, to)).or_default(), wants.clone());
                    }
                    if !self.graph.automata[text].accepts(0) {
                        continue;
                    }
                }
                let Some(wants) = self.with(wants.clone(), edge, state) else { continue };
                if add(seen.entry(to).or_default(), wants.clone()) {
                    branches += 1;
                    agenda.push((to, wants));
                }
            }
            if branches > BRANCHES_MAX.max(self.graph.edges.len()) {
                return Err(TooMany);
            }
        }
        Ok(())
    }

    /// Leaves of a state only that a match was found, so that all these states are one.
    fn forget_all(&self, state: &mut State, found: usize) {
        let nowhere = |(&at, past): (&usize, &mut Vec<usize>)| past.fill(self.graph.automata[at].states());
        self.graph.looks_behind.keys().zip(&mut state.pasts).for_each(nowhere);
        state.open.clear();
        for &(edge, to) in &self.graph.edges[found] {
            if let Edge::Text(text) = edge {
                state.open.insert((text, 0, to), vec![Wants::default()]);
            }
        }
        state.ends = vec![Wants::default()];
    }

    /// What a branch wants behind an edge; [`None`] if that cannot be met.
    fn with(&self, mut wants: Wants, edge: Edge, state: &State) -> Option<Wants> {
        match edge {
            Edge::Nothing | Edge::Text(_) => {}
            Edge::Ahead(at) => {
                let automaton = &self.graph.automata[at];
                if !automaton.accepts(0) && !automaton.goes_on(0) {
                    return None;
                }
                if !automaton.is_all(0) {
                    wants.add_ahead(at, 0);
                }
            }
            Edge::Behind(at, negative) => {
                let automaton = &self.graph.automata[at];
                let mut pasts = self.graph.looks_behind.keys().zip(&state.pasts);
                let (_, past) = pasts.find(|(other, _)| **other == at).expect("it looks behind");
                let is_found = |state| state < automaton.states() && automaton.accepts(state);
                let holds = |&state: &usize| is_found(state) != negative;
                let allowed = past.iter().enumerate().filter(|(_, state)| holds(state));
                let allowed = allowed.fold(0, |all, (bit, _)| all | 1 << bit);
                let is_any = past.iter().all(holds);
                if !is_any && !wants.add_behind(at, allowed) {
                    return None;
                }
            }
        }
        Some(wants)
    }

    /// The state behind a byte of a class.
    fn step(&self, state: &State, class: usize, steps: &mut usize) -> Result<Option<State>, TooMany> {
        let own = &self.own_classes[class];
        *steps = steps.checked_sub(1).ok_or(TooMany)?;
        // One behind the last of an automaton's states is where nothing matches any more.
        let past = |((&at, _), past): ((&usize, &Vec<usize>), &Vec<usize>)| {
            let automaton = &self.graph.automata[at];
            let next = |&state: &usize| match state {
                state if state < automaton.states() => automaton.step(state, own[at]).unwrap_or(automaton.states()),
                nowhere => nowhere,
            };
            past.iter().map(next).collect()
        };
        let pasts = self.graph.looks_behind.iter().zip(&state.pasts).map(past).collect();
        let mut next = State { open: BTreeMap::new(), ends: Either::new(), pasts };
        let mut arrived = Vec::new();
        for (&(text, at, to), either) in &state.open {
            *steps = steps.checked_sub(either.len()).ok_or(TooMany)?;
            let Some(at) = self.graph.automata[text].step(at, own[text]) else { continue };
            for wants in either.iter().filter_map(|wants| self.behind_byte(wants, own)) {
                if self.graph.automata[text].accepts(at) {
                    arrived.push((to, wants.clone()));
                }
                if self.graph.automata[text].goes_on(at) {
                    add(next.open.entry((text, at, to)).or_default(), wants);
                }
            }
        }
        self.close(arrived, &mut next, steps)?;
        if next.open.values().map(Vec::len).sum::<usize>() + next.ends.len() > BRANCHES_MAX {
            return Err(TooMany);
        }
        Ok((!next.open.is_empty() || !next.ends.is_empty()).then_some(next))
    }

    /// What is left of what a branch wants; [`None`] if the byte may not follow.
    fn behind_byte(&self, wants: &Wants, own: &[usize]) -> Option<Wants> {
        let mut left = Wants { ahead: Vec::new(), behind: wants.behind.clone() };
        for &(at, state) in &wants.ahead {
            let automaton = &self.graph.automata[at];
            let next = automaton.step(state, own[at])?;
            if !automaton.is_all(next) {
                left.add_ahead(at, next);
            }
        }
        Some(left)
    }
}

/// What one regex is read with.
struct Source<'a> {
    tree: &'a Tree,
    options: &'a RegexOptions,
    set: &'a mut RegexSet,
    /// Languages of the nodes without assertions.
    plain: &'a IndexVec<AstId, RegexId>,
    /// Whether anchors look at what stands around the regex.
    anchors_look: bool,
    steps: usize,
}

/// The texts of a tree, by what must stand around them if `follows`. There is always one way.
///
/// Errors: it is too large, or an assertion in a look-behind, or without `follows` any, sees beyond what it is in.
pub(super) fn lower(
    tree: &Tree,
    root: AstId,
    options: &RegexOptions,
    set: &mut RegexSet,
    plain: &IndexVec<AstId, RegexId>,
    follows: bool,
) -> Result<Vec<Way>, LookFault> {
    debug_assert!(!options.sees_edges(), "what stands around it is known");
    let anchors_look = follows && anchors_look(options);
    let mut source = Source::new((tree, plain), options, set, anchors_look);
    let ways = if follows { source.ways(root) } else { source.texts(root).map(|texts| vec![Way::plain(texts)]) };
    source.finish();
    let ways = ways?;
    Ok(if ways.is_empty() { vec![Way::plain(set.nothing())] } else { ways })
}

/// The texts of a tree around which nothing stands, or that have a match in them.
///
/// Errors: it is too large, or an assertion in a look-behind sees beyond that.
pub(super) fn whole(
    tree: &Tree,
    root: AstId,
    options: &RegexOptions,
    set: &mut RegexSet,
    plain: &IndexVec<AstId, RegexId>,
) -> Result<RegexId, LookFault> {
    let read = |tree, options, set: &mut RegexSet, plain| {
        let mut source = Source::new((tree, plain), options, set, true);
        let whole = source.whole(root);
        source.finish();
        whole
    };
    let Some((letters, lettered)) = Letters::read(tree, options) else {
        // What is searched is spelled by characters (JSON).
        if options.search && !options.bytes {
            return Err(TooMany.into());
        }
        let (automaton, ends) = read(tree, options, set, plain)?;
        return Ok(automaton.texts(0, ends, set));
    };
    // Letters are bytes.
    let options = RegexOptions { bytes: true, ..*options };
    let mut of_letters = RegexSet::new();
    of_letters.look_steps = set.look_steps;
    let plain = plain_nodes(&lettered, &mut of_letters);
    let whole = read(&lettered, &options, &mut of_letters, &plain);
    set.look_steps = of_letters.look_steps;
    let (automaton, ends) = whole?;
    Ok(letters.texts(&automaton, ends, set))
}

impl<'a> Source<'a> {
    fn new(
        (tree, plain): (&'a Tree, &'a IndexVec<AstId, RegexId>),
        options: &'a RegexOptions,
        set: &'a mut RegexSet,
        anchors_look: bool,
    ) -> Self {
        let steps = STEPS_MAX.min(STEPS_OF_ALL_MAX.saturating_sub(set.look_steps));
        // Those that are left will be given back.
        set.look_steps += steps;
        Self { tree, options, set, plain, anchors_look, steps }
    }

    /// Gives back the steps that were not taken.
    fn finish(self) {
        self.set.look_steps -= self.steps;
    }

    /// The texts of a node, by itself.
    fn ways(&mut self, id: AstId) -> Result<Vec<Way>, LookFault> {
        let (graph, end) = self.graph(id)?;
        graph.ways(end, self.set, &mut self.steps)
    }

    /// The same where nothing around them may decide.
    fn texts(&mut self, id: AstId) -> Result<RegexId, LookFault> {
        let (graph, end) = self.graph(id)?;
        graph.texts(end, self.set, &mut self.steps)
    }

    /// An automaton of the whole regex, and where it ends.
    fn whole(&mut self, root: AstId) -> Result<(Automaton, Vec<bool>), LookFault> {
        let (any, before, is_search) = (any_text(self.options, self.set), self.set.epsilon(), self.options.search);
        let mut reader = Reader { graph: Graph::new(), before, source: self };
        let start = if is_search { reader.graph.text(0, any, reader.source.set)? } else { 0 };
        let found = reader.node(root, start)?;
        let end = if is_search { reader.graph.text(found, any, reader.source.set)? } else { found };
        reader.graph.whole(end, is_search.then_some(found), &mut self.steps)
    }

    /// The graph of a node, and where it ends.
    fn graph(&mut self, id: AstId) -> Result<(Graph, usize), LookFault> {
        let before = any_text(self.options, self.set);
        let mut reader = Reader { graph: Graph::new(), before, source: self };
        let end = reader.node(id, 0)?;
        Ok((reader.graph, end))
    }

    /// Any bytes.
    fn all(&mut self) -> RegexId {
        let byte = self.set.any_byte();
        self.set.repeat(byte, 0, None)
    }

    /// What stands before a place where the look-behind finds its child.
    fn found_behind(&mut self, child: AstId) -> Result<RegexId, LookFault> {
        let all = self.all();
        if !self.tree.infos[child].anchored {
            return Ok(self.set.concat(&[all, self.plain[child]]));
        }
        let mut found = Vec::new();
        for Way { texts, behind, follow } in self.ways(child)? {
            if follow.is_some() {
                return Err(LookFault::After);
            }
            found.push(self.set.concat(&[behind.unwrap_or(all), texts]));
        }
        Ok(self.set.or(&found))
    }

    /// In each case in which a look-ahead finds its child, what stands before it and what follows.
    fn found_ahead(&mut self, child: AstId) -> Result<Vec<(Option<RegexId>, RegexId)>, LookFault> {
        let all = self.all();
        if !self.tree.infos[child].anchored {
            return Ok(vec![(None, self.set.concat(&[self.plain[child], all]))]);
        }
        let ways = self.ways(child)?;
        Ok(ways.into_iter().map(|way| (way.behind, self.set.concat(&[way.texts, way.follow.unwrap_or(all)]))).collect())
    }
}

/// A graph while it is made of a tree.
struct Reader<'a, 's> {
    graph: Graph,
    /// What may stand before the text.
    before: RegexId,
    source: &'a mut Source<'s>,
}

impl Reader<'_, '_> {
    /// Adds a node behind a place.
    fn node(&mut self, id: AstId, from: usize) -> Result<usize, LookFault> {
        let tree = self.source.tree;
        if !tree.infos[id].anchored {
            return Ok(self.graph.text(from, self.source.plain[id], self.source.set)?);
        }
        match &tree.nodes[id] {
            Ast::Concat(parts) => parts.iter().try_fold(from, |from, &part| self.node(part, from)),
            Ast::Or(parts) => {
                let ends: Vec<usize> = parts.iter().map(|&part| self.node(part, from)).collect::<Result<_, _>>()?;
                Ok(self.graph.join(&ends)?)
            }
            &Ast::Repeat(child, min, _) if tree.infos[child].zero_width => {
                if min > 0 {
                    self.node(child, from)
                } else {
                    Ok(from)
                }
            }
            &Ast::Repeat(child, min, max) => self.repeat(child, min, max, from),
            &Ast::Look { behind: true, negative, child, .. } => {
                let found = self.source.found_behind(child)?;
                self.behind(from, found, negative)
            }
            &Ast::Look { behind: false, negative: false, child, .. } => {
                let mut ends = Vec::new();
                for (before, after) in self.source.found_ahead(child)? {
                    let here = before.map_or(Ok(from), |before| self.behind(from, before, false))?;
                    ends.push(self.ahead(here, after, false)?);
                }
                Ok(self.graph.join(&ends)?)
            }
            &Ast::Look { behind: false, negative: true, child, .. } => {
                let mut here = from;
                for (before, after) in self.source.found_ahead(child)? {
                    let mut ends = vec![self.ahead(here, after, true)?];
                    if let Some(before) = before {
                        ends.push(self.behind(here, before, true)?);
                    }
                    here = self.graph.join(&ends)?;
                }
                Ok(here)
            }
            Ast::Boundary { negated, word, .. } => {
                let all = self.source.all();
                let word = self.source.set.class(word.clone());
                let (before, after) = (self.source.set.concat(&[all, word]), self.source.set.concat(&[word, all]));
                let mut ends = Vec::with_capacity(2);
                for is_word_before in [true, false] {
                    let here = self.behind(from, before, !is_word_before)?;
                    ends.push(self.ahead(here, after, is_word_before != *negated)?);
                }
                Ok(self.graph.join(&ends)?)
            }
            Ast::Anchor(..) if !self.source.anchors_look => Ok(from),
            Ast::Anchor(anchor, _) if anchor.is_start() => {
                let all = self.source.all();
                let allowed = start_allowed(*anchor, all, self.source.options, self.source.set);
                self.behind(from, allowed, false)
            }
            Ast::Anchor(anchor, _) => {
                let all = self.source.all();
                let allowed = end_allowed(*anchor, all, self.source.options, self.source.set).0;
                self.ahead(from, allowed, false)
            }
            _ => unreachable!("no assertions are in other nodes"),
        }
    }

    /// Adds a node so many times.
    fn repeat(&mut self, child: AstId, min: u32, max: Option<u32>, mut from: usize) -> Result<usize, LookFault> {
        for _ in 0..min {
            from = self.node(child, from)?;
        }
        let end = self.graph.place()?;
        let Some(max) = max else {
            let start = self.graph.edge(from, Edge::Nothing)?;
            let again = self.node(child, start)?;
            self.graph.edges[again].push((Edge::Nothing, start));
            self.graph.edges[start].push((Edge::Nothing, end));
            return Ok(end);
        };
        for _ in min..max {
            self.graph.edges[from].push((Edge::Nothing, end));
            from = self.node(child, from)?;
        }
        self.graph.edges[from].push((Edge::Nothing, end));
        Ok(end)
    }

    /// What stands before is (with `negative`, is not) one of `found`.
    fn behind(&mut self, from: usize, found: RegexId, negative: bool) -> Result<usize, LookFault> {
        Ok(self.graph.behind(from, (found, negative), self.before, self.source.set)?)
    }

    /// The same of what follows.
    fn ahead(&mut self, from: usize, found: RegexId, negative: bool) -> Result<usize, LookFault> {
        let allowed = if negative { self.source.set.not(found) } else { found };
        Ok(self.graph.ahead(from, allowed, self.source.set)?)
    }
}
