//! Look-around, word boundaries and inner anchors, as constraints on what stands before and after a place.
//!
//! A walk over the sequence of what is still to match, with the language of all that stands before it. A look-behind
//! intersects that language; a look-ahead intersects the language of all that follows. So alternatives that hold
//! assertions are walked one by one, each with what follows them, and so are the first counts of a repetition. The body
//! of a longer repetition is walked by itself, as is a regex that is part of a longer text (a terminal): then an
//! assertion must be decided by what stands beside it there, by the least length of that and its own greatest, or since no
//! text there is a part of what it looks for ([`undecided`](super::undecided)). Of a lexeme, what look-aheads leave open at
//! its end is told apart instead ([`follow`](super::follow), and mostly not for [`keywords`](super::keywords)), and what stands before its start is asked for ([`Way`]). Bodies that look ahead into what is repeated are
//! [`loops`](super::loops).
//!
//! Assertions at one place commute: those about what is before come first.
//! Recursive over groups and assertions, as deep as `grammar_depth_max` and [`ASSERTIONS_MAX`].

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::ast::{Anchor, Ast, AstId, Direction, Sign, Tree};
use super::error::{LookFault, RegexError};
use super::follow::{Automaton, SPLITS_WORK_MAX};
use super::keywords::Keywords;
use super::loops::Loop;
use super::lower::{any_text, line_breaks};
use super::undecided::{Questions, Side, parts};
use super::{Dialect, RegexOptions};
use crate::index::IndexVec;
use crate::limits::Limits;
use crate::regex::{CharClass, Ending, RegexId, RegexNode, RegexSet};

/// Assertions of one regex at most.
const ASSERTIONS_MAX: usize = 100;
/// Steps of the walk at most; each alternative with assertions is a walk of its own.
const STEPS_MAX: usize = 20_000;
/// Counts up to which a repetition with assertions is written out.
const COPIES_MAX: u32 = 16;

/// What is still to match.
#[derive(Clone, Copy)]
enum Item {
    Node(AstId),
    /// The node so many times, at most [`COPIES_MAX`].
    Copies(AstId, u32, u32),
}

/// Texts, and what must stand around them: [`None`] is anything.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Way {
    pub texts: RegexId,
    /// The texts, of any bytes, that may stand before.
    pub behind: Option<RegexId>,
    /// The texts, of any bytes, that may follow.
    pub follow: Option<RegexId>,
}

impl Way {
    /// Texts around which anything may stand.
    pub fn plain(texts: RegexId) -> Self {
        Self { texts, behind: None, follow: None }
    }

    /// Whether anything may stand around the texts.
    pub fn is_plain(&self) -> bool {
        self.behind.is_none() && self.follow.is_none()
    }
}

/// How far a walk sees.
#[derive(Clone, Copy)]
struct View {
    /// The walk begins where a lexeme does: what is looked for before that becomes a [`Way`]'s.
    at_start: bool,
    /// Text may stand before what the walk knows.
    left_open: bool,
    /// What may stand there.
    left: RegexId,
    right: Right,
    /// What follows the last item.
    end: RegexId,
}

/// What is known of the text after where a walk ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Right {
    /// It is [`View::end`].
    Known,
    /// Any text may stand there, which may decide nothing here.
    Open,
    /// Any text may stand there; what decides something here becomes a [`Way`]'s.
    Follows,
}

/// Why there is no language, and where.
type Fault = (RegexError, Range<usize>);

struct Walk<'a> {
    tree: &'a Tree,
    options: &'a RegexOptions,
    limits: &'a Limits,
    set: &'a mut RegexSet,
    /// Languages of the nodes without assertions.
    plain: &'a IndexVec<AstId, RegexId>,
    any: RegexId,
    /// Any bytes.
    all: RegexId,
    /// Whether anchors look at what stands around the regex.
    anchors_look: bool,
    steps: usize,
    /// What is left of [`SPLITS_WORK_MAX`].
    work: u64,
    lengths: FxHashMap<RegexId, (u64, Option<u64>)>,
    questions: Questions,
}

/// The texts that the regex matches (with [`RegexOptions::search`], that have a match in them). Only with `follows` may
/// what follows them count.
pub(super) fn lower(
    tree: &Tree,
    root: AstId,
    options: &RegexOptions,
    limits: &Limits,
    set: &mut RegexSet,
    plain: &IndexVec<AstId, RegexId>,
    follows: bool,
) -> Result<Vec<Way>, Fault> {
    let is_assertion = |node: &Ast| matches!(node, Ast::Look { .. } | Ast::Boundary { .. });
    if let Some(last) = tree.nodes.iter().filter(|node| is_assertion(node)).nth(ASSERTIONS_MAX) {
        let fault = LookFault::TooMany { limit: ASSERTIONS_MAX };
        return Err((RegexError::Look { fault }, span(last)));
    }
    let any = any_text(options, set);
    let all = set.any_byte();
    let all = set.repeat(all, 0, None);
    let epsilon = set.epsilon();
    let (lengths, questions) = (FxHashMap::default(), Questions::new());
    let anchors_look = options.sees_edges() || follows && anchors_look(options);
    let (steps, work) = (0, SPLITS_WORK_MAX);
    let mut walk = Walk { tree, options, limits, set, plain, any, all, anchors_look, steps, work, lengths, questions };
    let items = vec![Item::Node(root)];
    if options.search {
        let view = View { at_start: false, left_open: false, left: epsilon, right: Right::Known, end: any };
        walk.walk(items, any, view)
    } else if options.alone {
        let view = View { at_start: false, left_open: false, left: epsilon, right: Right::Known, end: epsilon };
        walk.walk(items, epsilon, view)
    } else {
        walk.walk(
            items,
            epsilon,
            View {
                at_start: follows,
                left_open: true,
                left: any,
                right: if follows { Right::Follows } else { Right::Open },
                end: epsilon,
            },
        )
    }
}

/// Whether anchors at a lexeme's edges look at what stands around it: Python's do. Those of Rust's regexes stand at the edges
/// of what llguidance matches, and say nothing.
pub(super) fn anchors_look(options: &RegexOptions) -> bool {
    options.dialect == Dialect::Python
}

/// The texts that an anchor for a start allows before it, `any` being all texts.
pub(super) fn start_allowed(anchor: Anchor, any: RegexId, options: &RegexOptions, set: &mut RegexSet) -> RegexId {
    let epsilon = set.epsilon();
    if anchor == Anchor::TextStart {
        return epsilon;
    }
    let line = set.class(CharClass::from_ranges(line_breaks(options).iter().copied()));
    let line = set.concat(&[any, line]);
    set.or(&[epsilon, line])
}

/// The texts that an anchor for an end allows, `any` being all texts, and how many characters it looks at.
pub(super) fn end_allowed(anchor: Anchor, any: RegexId, options: &RegexOptions, set: &mut RegexSet) -> (RegexId, u64) {
    let epsilon = set.epsilon();
    match anchor {
        Anchor::TextEndOrFinalNewline => {
            let newline = set.literal(b"\n");
            (set.or(&[epsilon, newline]), 2)
        }
        Anchor::LineEnd => {
            let line = set.class(CharClass::from_ranges(line_breaks(options).iter().copied()));
            let line = set.concat(&[line, any]);
            (set.or(&[epsilon, line]), 1)
        }
        _ => (epsilon, 1),
    }
}

fn span(node: &Ast) -> Range<usize> {
    match node {
        Ast::Look { span, .. } | Ast::Boundary { span, .. } | Ast::Anchor(_, span) => span.clone(),
        _ => 0..0,
    }
}

impl Walk<'_> {
    /// The texts that begin with a text of `history` and then match the items, the last of which is on top.
    fn walk(&mut self, mut items: Vec<Item>, mut history: RegexId, view: View) -> Result<Vec<Way>, Fault> {
        loop {
            self.steps += 1;
            if self.steps > STEPS_MAX || self.set.len() > self.limits.regex_nodes_max {
                let error = if self.steps > STEPS_MAX {
                    RegexError::Look { fault: LookFault::TooManySteps { limit: STEPS_MAX } }
                } else {
                    RegexError::TooManyNodes { limit: self.limits.regex_nodes_max }
                };
                return Err((error, 0..0));
            }
            let id = match items.pop() {
                None => return Ok(vec![Way::plain(self.set.concat(&[history, view.end]))]),
                Some(Item::Copies(_, _, 0)) => continue,
                Some(Item::Copies(child, min, max)) => {
                    let mut longer = items.clone();
                    longer.extend([Item::Copies(child, min.saturating_sub(1), max - 1), Item::Node(child)]);
                    if min > 0 {
                        items = longer;
                        continue;
                    }
                    let longer = self.walk(longer, history, view)?;
                    let shorter = self.walk(items, history, view)?;
                    return Ok(self.union([longer, shorter].concat()));
                }
                Some(Item::Node(id)) => id,
            };
            if !self.tree.infos[id].anchored {
                history = self.set.concat(&[history, self.plain[id]]);
                continue;
            }
            match &self.tree.nodes[id] {
                Ast::Concat(parts) => items.extend(parts.iter().rev().map(|&part| Item::Node(part))),
                Ast::Or(parts) => return self.alternatives(parts, &items, history, view),
                // Assertions once or never, at the same place.
                &Ast::Repeat(child, min, _) if self.tree.infos[child].zero_width => {
                    items.extend((min > 0).then_some(Item::Node(child)));
                }
                &Ast::Repeat(child, min, max) => match max.filter(|&max| max <= COPIES_MAX) {
                    Some(max) => items.push(Item::Copies(child, min, max)),
                    None => {
                        let epsilon = self.set.epsilon();
                        let inside =
                            View { at_start: false, left_open: true, left: self.any, right: Right::Open, end: epsilon };
                        match self.walk(vec![Item::Node(child)], epsilon, inside) {
                            Ok(body) => {
                                let body = body[0].texts;
                                let repeated = self.set.repeat(body, min, max);
                                history = self.set.concat(&[history, repeated]);
                            }
                            Err(fault) => {
                                let rest = (min <= 1 && max.is_none())
                                    .then(|| self.repeated_with_rest(child, min == 1, &items, history, view))
                                    .flatten();
                                let rest = rest.ok_or(fault)?;
                                return Ok(vec![Way::plain(self.set.concat(&[history, rest]))]);
                            }
                        }
                    }
                },
                _ => {
                    let assertion = self.first_assertion(id, &mut items);
                    match self.assert(assertion, &items, history, view)? {
                        Asserted::Before(narrowed) => history = narrowed,
                        Asserted::Around(pasts) => {
                            let mut ways = Vec::new();
                            for (history, behind) in pasts {
                                let beyond = self.walk(items.clone(), history, view)?;
                                ways.extend(self.behind_too(beyond, behind));
                            }
                            return Ok(self.union(ways));
                        }
                        Asserted::Both(ways) => return Ok(ways),
                    }
                }
            }
        }
    }

    /// A repetition whose body looks ahead into what follows it, and what does follow; `None` if that is not understood.
    fn repeated_with_rest(
        &mut self,
        body: AstId,
        at_least_once: bool,
        items: &[Item],
        history: RegexId,
        view: View,
    ) -> Option<RegexId> {
        if self.options.bytes {
            return None;
        }
        let body = Loop::read(self.tree, body, self.set, self.plain)?;
        let rest = self.rest(items, history, view).ok()?;
        let &[Way { texts: rest, behind: None, follow: None }] = rest.as_slice() else { return None };
        let questions = &mut self.questions;
        let is_open = |set: &mut RegexSet, undecided| view.right != Right::Known && !questions.is_empty(set, undecided);
        body.solve(self.set, at_least_once, rest, self.any, is_open)
    }

    /// Each alternative with what follows; those without assertions together.
    fn alternatives(
        &mut self,
        parts: &[AstId],
        items: &[Item],
        history: RegexId,
        view: View,
    ) -> Result<Vec<Way>, Fault> {
        let (anchored, plain): (Vec<AstId>, Vec<AstId>) =
            parts.iter().partition(|&&part| self.tree.infos[part].anchored);
        let mut ways = Vec::with_capacity(anchored.len() + 1);
        if !plain.is_empty() {
            let plain: Vec<RegexId> = plain.into_iter().map(|part| self.plain[part]).collect();
            let plain = self.set.or(&plain);
            let history = self.set.concat(&[history, plain]);
            ways.extend(self.walk(items.to_vec(), history, view)?);
        }
        for part in anchored {
            let mut items = items.to_vec();
            items.push(Item::Node(part));
            ways.extend(self.walk(items, history, view)?);
        }
        Ok(self.union(ways))
    }

    /// What both allow to follow.
    fn both(&mut self, one: Option<RegexId>, other: Option<RegexId>) -> Option<RegexId> {
        match (one, other) {
            (Some(one), Some(other)) => Some(self.set.and(&[one, other])),
            (one, other) => one.or(other),
        }
    }

    /// Ways with the same around them are one. There is always one.
    fn union(&mut self, ways: Vec<Way>) -> Vec<Way> {
        let mut united: Vec<(Way, Vec<RegexId>)> = Vec::new();
        for way in ways {
            match united.iter_mut().find(|(other, _)| (other.behind, other.follow) == (way.behind, way.follow)) {
                Some((_, all)) => all.push(way.texts),
                None => united.push((way, vec![way.texts])),
            }
        }
        if united.is_empty() {
            return vec![Way::plain(self.set.nothing())];
        }
        united.into_iter().map(|(way, texts)| Way { texts: self.set.or(&texts), ..way }).collect()
    }

    /// Ways before which something must stand, too.
    fn behind_too(&mut self, mut ways: Vec<Way>, behind: Option<RegexId>) -> Vec<Way> {
        let Some(behind) = behind else { return ways };
        for way in &mut ways {
            way.behind = Some(way.behind.map_or(behind, |other| self.set.and(&[other, behind])));
        }
        ways
    }

    /// Of the assertions at this place the one to look at first: about what is before, then word boundaries. The others
    /// are put back.
    fn first_assertion(&self, id: AstId, items: &mut Vec<Item>) -> AstId {
        let mut here = vec![id];
        while let Some(&Item::Node(next)) = items.last() {
            match &self.tree.nodes[next] {
                Ast::Concat(parts) if self.tree.infos[next].anchored => {
                    items.pop();
                    items.extend(parts.iter().rev().map(|&part| Item::Node(part)));
                }
                Ast::Look { .. } | Ast::Boundary { .. } | Ast::Anchor(..) => {
                    items.pop();
                    here.push(next);
                }
                _ => break,
            }
        }
        let rank = |&id: &AstId| match &self.tree.nodes[id] {
            Ast::Look { direction: Direction::Behind, .. } => 0,
            Ast::Anchor(anchor, _) if anchor.is_start() => 0,
            Ast::Boundary { .. } => 1,
            _ => 2,
        };
        // Stable, so that of equal ones the first is first.
        here.sort_by_key(rank);
        items.extend(here[1..].iter().rev().map(|&id| Item::Node(id)));
        here[0]
    }

    fn assert(&mut self, id: AstId, items: &[Item], history: RegexId, view: View) -> Result<Asserted, Fault> {
        let tree = self.tree;
        let node = &tree.nodes[id];
        match node {
            // Of what is no lexeme only the edges have these, where they say nothing.
            Ast::Anchor(..) if !self.anchors_look => Ok(Asserted::Before(history)),
            Ast::Anchor(anchor, _) if anchor.is_start() => {
                let text = start_allowed(*anchor, self.any, self.options, self.set);
                let bytes = start_allowed(*anchor, self.all, self.options, self.set);
                self.before(history, Before { text, bytes, reach: Some(1) }, view, node)
            }
            &Ast::Look { direction: Direction::Behind, sign, child, .. } => {
                let (found, reach) = self.behind(child, self.any)?;
                let text = if sign == Sign::Negative { self.complement(found) } else { found };
                let bytes = match view.at_start {
                    true => {
                        let found = self.behind(child, self.all)?.0;
                        if sign == Sign::Negative { self.set.not(found) } else { found }
                    }
                    false => text,
                };
                let reach = self.is_decided_before(history, child, found, view).then_some(0).or(reach);
                self.before(history, Before { text, bytes, reach }, view, node)
            }
            Ast::Anchor(anchor, _) => {
                let (end, reach) = end_allowed(*anchor, self.any, self.options, self.set);
                let bytes = end_allowed(*anchor, self.all, self.options, self.set).0;
                let rest = self.rest(items, history, view)?;
                let allowed = Allowed { text: end, bytes, reach: Some(reach), child: None };
                self.after(history, allowed, rest, view, node).map(Asserted::Both)
            }
            &Ast::Look { direction: Direction::Ahead, sign, child, .. } => {
                let rest = self.rest(items, history, view)?;
                if sign == Sign::Negative
                    && let Some(ways) = self.keywords_left_out(child, &rest, history, view)
                {
                    return Ok(Asserted::Both(ways));
                }
                let (found, reach) = self.ahead(child, history, view, self.any)?;
                let text = if sign == Sign::Negative { self.complement(found) } else { found };
                let bytes = match view.right == Right::Follows || view.end == self.all {
                    true => {
                        let found = self.ahead(child, history, view, self.all)?.0;
                        if sign == Sign::Negative { self.set.not(found) } else { found }
                    }
                    false => text,
                };
                let allowed = Allowed { text, bytes, reach, child: Some((child, found)) };
                self.after(history, allowed, rest, view, node).map(Asserted::Both)
            }
            Ast::Boundary { negated, word, .. } => {
                let word = self.set.class(word.clone());
                let rest = self.rest(items, history, view)?;
                let after_bytes = self.set.concat(&[word, self.all]);
                let no_after_bytes = self.set.not(after_bytes);
                let before_bytes = self.set.concat(&[self.all, word]);
                let no_before_bytes = self.set.not(before_bytes);
                let (before, after) = (self.set.concat(&[self.any, word]), self.set.concat(&[word, self.any]));
                let (no_before, no_after) = (self.complement(before), self.complement(after));
                let (after, no_after) = ((after, after_bytes), (no_after, no_after_bytes));
                let before = Before { text: before, bytes: before_bytes, reach: Some(1) };
                let no_before = Before { text: no_before, bytes: no_before_bytes, reach: Some(1) };
                let pairs = if *negated {
                    [(before, after), (no_before, no_after)]
                } else {
                    [(before, no_after), (no_before, after)]
                };
                let mut ways = Vec::with_capacity(2);
                for (before, (text, bytes)) in pairs {
                    let pasts = match self.before(history, before, view, node)? {
                        Asserted::Before(history) => vec![(history, None)],
                        Asserted::Around(pasts) => pasts,
                        Asserted::Both(_) => unreachable!("what follows was not looked at"),
                    };
                    for (history, behind) in pasts {
                        let allowed = Allowed { text, bytes, reach: Some(1), child: None };
                        let beyond = self.after(history, allowed, rest.clone(), view, node)?;
                        ways.extend(self.behind_too(beyond, behind));
                    }
                }
                Ok(Asserted::Both(self.union(ways)))
            }
            _ => unreachable!("only assertions come here"),
        }
    }

    /// The texts of `history` that the assertion allows before it.
    fn before(&mut self, history: RegexId, allowed: Before, view: View, node: &Ast) -> Result<Asserted, Fault> {
        if !view.left_open || allowed.reach.is_some_and(|reach| self.length(history).0 >= reach) {
            let narrowed = match history {
                history if history == self.all => allowed.bytes,
                history if history == self.any => allowed.text,
                _ => self.set.and(&[history, allowed.text]),
            };
            return Ok(Asserted::Before(narrowed));
        }
        let fault = || (RegexError::Look { fault: LookFault::Before }, span(node));
        if !view.at_start {
            return Err(fault());
        }
        let split = split_behind(history, allowed.bytes, self.set, &mut self.questions).ok_or_else(fault)?;
        let mut pasts = Vec::with_capacity(2);
        if split.may_be_empty {
            pasts.push((self.set.epsilon(), Some(allowed.bytes)));
        }
        if *self.set.node(split.decided) != RegexNode::Nothing {
            pasts.push((split.decided, None));
        }
        Ok(Asserted::Around(pasts))
    }

    /// `history`, then those texts of `rest` that the assertion allows.
    fn after(
        &mut self,
        history: RegexId,
        allowed: Allowed,
        rest: Vec<Way>,
        view: View,
        node: &Ast,
    ) -> Result<Vec<Way>, Fault> {
        let fault = |fault: LookFault| (RegexError::Look { fault }, span(node));
        let mut automaton = None;
        let mut ways = Vec::with_capacity(rest.len());
        for Way { texts: rest, behind, follow } in rest {
            let is_decided = view.right == Right::Known
                || allowed.reach.is_some_and(|reach| self.length(rest).0 >= reach)
                || allowed.child.is_some_and(|(child, found)| self.is_decided_after(rest, child, found));
            if is_decided {
                let rest = match rest {
                    rest if rest == self.all => allowed.bytes,
                    rest if rest == self.any => allowed.text,
                    // In what another look-ahead looks for, before any bytes.
                    _ if view.end == self.all => self.set.and(&[rest, allowed.bytes]),
                    _ => self.set.and(&[rest, allowed.text]),
                };
                ways.push(Way { texts: self.set.concat(&[history, rest]), behind, follow });
                continue;
            }
            if view.right == Right::Open {
                return Err(fault(LookFault::After));
            }
            for (rest, left) in self.split(rest, allowed.bytes, &mut automaton).map_err(fault)? {
                if self.questions.is_empty(self.set, rest) {
                    continue;
                }
                let follow = self.both(follow, left);
                ways.push(Way { texts: self.set.concat(&[history, rest]), behind, follow });
            }
        }
        Ok(self.union(ways))
    }

    /// What the texts of `rest` say of whether they, with what follows, are `allowed`, whose automaton is made if it is not known.
    fn split(
        &mut self,
        rest: RegexId,
        allowed: RegexId,
        automaton: &mut Option<Automaton>,
    ) -> Result<Box<[Ending]>, LookFault> {
        if let Some(known) = self.set.splits.get(&(rest, allowed)) {
            return Ok(known.clone());
        }
        let automaton = match automaton {
            Some(automaton) => automaton,
            unknown => unknown.insert(Automaton::new(self.set, allowed)?),
        };
        let endings: Box<[Ending]> = automaton.split(rest, allowed, self.set, &mut self.work)?.into();
        self.set.splits.insert((rest, allowed), endings.clone());
        Ok(endings)
    }

    /// `history`, then those texts of `rest` that begin with no keyword, if the lexeme is taken whole and that is what is looked for.
    fn keywords_left_out(&mut self, child: AstId, rest: &[Way], history: RegexId, view: View) -> Option<Vec<Way>> {
        if view.right != Right::Follows || !self.options.whole || self.options.bytes {
            return None;
        }
        let keywords = Keywords::read(self.tree, child, self.set, self.plain)?;
        let mut ways = Vec::with_capacity(rest.len());
        for &way in rest {
            for Way { texts, follow, .. } in keywords.left_out(way.texts, self.set)? {
                let texts = self.set.concat(&[history, texts]);
                let follow = self.both(way.follow, follow);
                ways.push(Way { texts, follow, ..way });
            }
        }
        Some(self.union(ways))
    }

    /// Whether no text of `history` could be the end of what is looked for, or what may stand before it never begins
    /// that.
    fn is_decided_before(&mut self, history: RegexId, child: AstId, found: RegexId, view: View) -> bool {
        if !view.left_open || self.tree.infos[child].anchored {
            return false;
        }
        let endings = parts(self.set, self.plain[child], Side::Endings, self.any);
        let not_found = self.complement(found);
        let undecided = self.set.and(&[history, endings, not_found]);
        let completed = self.set.concat(&[view.left, undecided]);
        let completed = self.set.and(&[completed, found]);
        self.questions.is_empty(self.set, undecided) || self.questions.is_empty(self.set, completed)
    }

    /// Whether no text of `rest` could be the beginning of what is looked for.
    fn is_decided_after(&mut self, rest: RegexId, child: AstId, found: RegexId) -> bool {
        if self.tree.infos[child].anchored {
            return false;
        }
        let beginnings = parts(self.set, self.plain[child], Side::Beginnings, self.any);
        let not_found = self.complement(found);
        let undecided = self.set.and(&[rest, beginnings, not_found]);
        self.questions.is_empty(self.set, undecided)
    }

    /// What follows this place. Of what is before it, it is only known whether that is nothing at all.
    fn rest(&mut self, items: &[Item], history: RegexId, view: View) -> Result<Vec<Way>, Fault> {
        let epsilon = self.set.epsilon();
        let left = self.set.concat(&[view.left, history]);
        let is_start = history == epsilon;
        let view = View { at_start: view.at_start && is_start, left_open: view.left_open || !is_start, left, ..view };
        self.walk(items.to_vec(), epsilon, view)
    }

    /// The texts that a look-ahead finds, `end` being what follows what it looks for.
    fn ahead(
        &mut self,
        child: AstId,
        history: RegexId,
        view: View,
        end: RegexId,
    ) -> Result<(RegexId, Option<u64>), Fault> {
        let epsilon = self.set.epsilon();
        let left = self.set.concat(&[view.left, history]);
        let left_open = view.left_open || history != epsilon;
        let inside = View { at_start: false, left_open, left, right: Right::Known, end };
        let language = self.walk(vec![Item::Node(child)], epsilon, inside)?[0].texts;
        Ok((language, self.reach(child)))
    }

    /// The texts that a look-behind allows to stand before, `any` being what stands before what it looks for.
    fn behind(&mut self, child: AstId, any: RegexId) -> Result<(RegexId, Option<u64>), Fault> {
        let epsilon = self.set.epsilon();
        let inside = View { at_start: false, left_open: false, left: epsilon, right: Right::Open, end: epsilon };
        let language = self.walk(vec![Item::Node(child)], any, inside)?[0].texts;
        Ok((language, self.reach(child)))
    }

    /// How many characters what an assertion looks for may have, if no other assertion is in it.
    fn reach(&mut self, child: AstId) -> Option<u64> {
        if self.tree.infos[child].anchored { None } else { self.length(self.plain[child]).1 }
    }

    fn complement(&mut self, language: RegexId) -> RegexId {
        if self.options.bytes { self.set.not(language) } else { self.set.complement(language) }
    }

    /// Bounds of the number of characters of a text (bytes, where characters are bytes).
    fn length(&mut self, regex: RegexId) -> (u64, Option<u64>) {
        let mut stack = vec![regex];
        while let Some(&top) = stack.last() {
            if self.lengths.contains_key(&top) {
                stack.pop();
                continue;
            }
            let node = self.set.node(top);
            let before = stack.len();
            stack.extend(node.children().iter().copied().filter(|child| !self.lengths.contains_key(child)));
            if stack.len() > before {
                continue;
            }
            let length = self.length_of(node);
            self.lengths.insert(top, length);
            stack.pop();
        }
        self.lengths[&regex]
    }
    fn length_of(&self, node: &RegexNode) -> (u64, Option<u64>) {
        let of = |child: &RegexId| self.lengths[child];
        let is_start = |byte: &&u8| self.options.bytes || (**byte as i8) >= -0x40;
        match node {
            RegexNode::Nothing => (u64::MAX, Some(0)),
            RegexNode::Literal(bytes) => {
                let count = bytes.iter().filter(is_start).count() as u64;
                (count, Some(count))
            }
            RegexNode::Class(_) | RegexNode::Bytes(_) => (1, Some(1)),
            RegexNode::Concat(parts) => parts.iter().map(of).fold((0, Some(0)), |(min, max), part| {
                (min.saturating_add(part.0), max.zip(part.1).map(|(a, b)| a.saturating_add(b)))
            }),
            RegexNode::Or(parts) => (
                parts.iter().map(|part| of(part).0).min().unwrap_or(0),
                parts.iter().map(|part| of(part).1).reduce(|a, b| a.zip(b).map(|(a, b)| a.max(b))).flatten(),
            ),
            RegexNode::And(parts) => (
                parts.iter().map(|part| of(part).0).max().unwrap_or(0),
                parts.iter().filter_map(|part| of(part).1).min(),
            ),
            RegexNode::Repeat(child, min, max) => {
                let (least, most) = of(child);
                let most = match (most, max) {
                    (Some(0), _) => Some(0),
                    (Some(most), Some(max)) => Some(most.saturating_mul(u64::from(*max))),
                    _ => None,
                };
                (least.saturating_mul(u64::from(*min)), most)
            }
            RegexNode::Not(_)
            | RegexNode::Shortest(_)
            | RegexNode::MultipleOf { .. }
            | RegexNode::Values { .. }
            | RegexNode::Dfa(..) => (0, None),
        }
    }
}

/// What a look-ahead allows.
struct Allowed {
    /// Within valid UTF-8, unless characters are bytes.
    text: RegexId,
    /// The same with any bytes behind what was looked for.
    bytes: RegexId,
    /// How many characters it looks at; `None` is any number.
    reach: Option<u64>,
    /// What it looks for, and the texts in which that is found.
    child: Option<(AstId, RegexId)>,
}

/// What a look-behind allows.
#[derive(Clone, Copy)]
struct Before {
    /// Within valid UTF-8, unless characters are bytes.
    text: RegexId,
    /// The same with any bytes before what was looked for.
    bytes: RegexId,
    /// How many characters it looks at; `None` is any number.
    reach: Option<u64>,
}

/// What [`split_behind`] tells apart.
pub(super) struct Split {
    /// The texts, not empty, that decide that it may stand there.
    pub decided: RegexId,
    /// Whether the empty text is one of them, which decides nothing.
    pub may_be_empty: bool,
}

/// Tells apart the texts of `history` by what they say of whether any bytes with one of them behind are in `allowed`; `None`
/// if some text that is not empty does not decide it.
pub(super) fn split_behind(
    history: RegexId,
    allowed: RegexId,
    set: &mut RegexSet,
    questions: &mut Questions,
) -> Option<Split> {
    let byte = set.any_byte();
    let (some, all) = (set.repeat(byte, 1, None), set.repeat(byte, 0, None));
    let may_be_empty = set.info(history).nullable;
    let forbidden = set.not(allowed);
    let nonempty = if may_be_empty { set.and(&[history, some]) } else { history };
    let mut decided = set.and(&[nonempty, allowed]);
    let mut refused = set.and(&[nonempty, forbidden]);
    // Most often it is the same for all of them.
    if questions.is_empty(set, refused) {
        (decided, refused) = (nonempty, set.nothing());
    } else if questions.is_empty(set, decided) {
        (decided, refused) = (set.nothing(), nonempty);
    }
    for (texts, other) in [(decided, forbidden), (refused, allowed)] {
        let longer = set.concat(&[all, texts]);
        let undecided = set.and(&[longer, other]);
        if *set.node(texts) != RegexNode::Nothing && !questions.is_empty(set, undecided) {
            return None;
        }
    }
    Some(Split { decided, may_be_empty })
}

/// What came of an assertion.
enum Asserted {
    /// It said something of what is before; what follows is still to match.
    Before(RegexId),
    /// The same, which depends on what stands before the lexeme: what was read of it, and that.
    Around(Vec<(RegexId, Option<RegexId>)>),
    /// All that matches, with what follows.
    Both(Vec<Way>),
}
