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

mod graph;
mod states;

use super::RegexOptions;
use super::ast::{Ast, AstId, Direction, Sign, Tree};
use super::error::LookFault;
use super::follow::Automaton;
use super::letters::Letters;
use super::look::{Way, anchors_look, end_allowed, start_allowed};
use super::lower::{any_text, plain_nodes};
use crate::index::IndexVec;
use crate::regex::{RegexId, RegexSet};
use graph::{Edge, Graph, TooMany};

/// Branches that are taken further, by a class of bytes each, for one regex at most, and for all of a grammar: 0.4 us each at
/// opt-level 1. `\b` between texts that may be empty takes 0.3 to 1.2 million, since Unicode's words have 400 states.
const STEPS_MAX: usize = 2_000_000;
/// What one of them takes of the work that there is for the look-arounds of all regexes.
const STEP_WORK: u64 = 10;

/// What one regex is read with.
struct Source<'a> {
    tree: &'a Tree,
    options: &'a RegexOptions,
    set: &'a mut RegexSet,
    /// Languages of the nodes without assertions.
    plain: &'a IndexVec<AstId, RegexId>,
    /// Whether anchors look at what stands around the regex.
    anchors_look: bool,
    /// Those that are left of what was given.
    steps: usize,
    given: usize,
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
    (of_letters.look_work, of_letters.look_work_max) = (set.look_work, set.look_work_max);
    let plain = plain_nodes(&lettered, &mut of_letters);
    let whole = read(&lettered, &options, &mut of_letters, &plain);
    set.look_work = of_letters.look_work;
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
        let steps = STEPS_MAX.min((set.look_work_left() / STEP_WORK) as usize);
        Self { tree, options, set, plain, anchors_look, steps, given: steps }
    }

    /// Counts the steps that were taken.
    fn finish(self) {
        self.set.look_work += (self.given - self.steps) as u64 * STEP_WORK;
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
            &Ast::Look { direction: Direction::Behind, sign, child, .. } => {
                let found = self.source.found_behind(child)?;
                self.behind(from, found, sign)
            }
            &Ast::Look { direction: Direction::Ahead, sign: Sign::Positive, child, .. } => {
                let mut ends = Vec::new();
                for (before, after) in self.source.found_ahead(child)? {
                    let here = before.map_or(Ok(from), |before| self.behind(from, before, Sign::Positive))?;
                    ends.push(self.ahead(here, after, Sign::Positive)?);
                }
                Ok(self.graph.join(&ends)?)
            }
            &Ast::Look { direction: Direction::Ahead, sign: Sign::Negative, child, .. } => {
                let mut here = from;
                for (before, after) in self.source.found_ahead(child)? {
                    let mut ends = vec![self.ahead(here, after, Sign::Negative)?];
                    if let Some(before) = before {
                        ends.push(self.behind(here, before, Sign::Negative)?);
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
                for (sign, other) in [(Sign::Positive, Sign::Negative), (Sign::Negative, Sign::Positive)] {
                    let here = self.behind(from, before, sign)?;
                    ends.push(self.ahead(here, after, if *negated { sign } else { other })?);
                }
                Ok(self.graph.join(&ends)?)
            }
            Ast::Anchor(..) if !self.source.anchors_look => Ok(from),
            Ast::Anchor(anchor, _) if anchor.is_start() => {
                let all = self.source.all();
                let allowed = start_allowed(*anchor, all, self.source.options, self.source.set);
                self.behind(from, allowed, Sign::Positive)
            }
            Ast::Anchor(anchor, _) => {
                let all = self.source.all();
                let allowed = end_allowed(*anchor, all, self.source.options, self.source.set).0;
                self.ahead(from, allowed, Sign::Positive)
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

    /// What stands before is (or is not) one of `found`.
    fn behind(&mut self, from: usize, found: RegexId, sign: Sign) -> Result<usize, LookFault> {
        Ok(self.graph.behind(from, (found, sign), self.before, self.source.set)?)
    }

    /// The same of what follows.
    fn ahead(&mut self, from: usize, found: RegexId, sign: Sign) -> Result<usize, LookFault> {
        let allowed = if sign == Sign::Negative { self.source.set.not(found) } else { found };
        Ok(self.graph.ahead(from, allowed, self.source.set)?)
    }
}
