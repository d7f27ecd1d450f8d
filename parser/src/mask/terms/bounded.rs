//! The term of a text that is bounded in units beside something else: words in so many characters.
//!
//! `^(\S+\s+){0,9}\S+$` with `maxLength: 100` has a state for each count of words and each of characters. A term for the words alone
//! stands for all of them: a token may follow if it may without the bound and is short enough. How many units a token is, is
//! known ([`UnitMap`]), and how many it takes at most to end the text behind any token ([`Completion`]); so only tokens that come
//! this near to the bound are read.

use std::sync::Arc;

use larkspur_grammar::algebra::{Bounded, Shape};
use larkspur_toktrie::mask;
use rustc_hash::FxHashMap;

use super::{ALL, Term, Terms, Work, compact};
use crate::error::Fault;
use crate::lexer::arena::Expr;
use crate::lexer::split::Entry;
use crate::lexer::states::{DEAD, LexStateId, Lexer};
use crate::mask::pieces::PieceId;
use crate::mask::units::UnitMap;
use crate::slicer::{PieceNode, Slicer};

/// Tokens that are read at most; with more each state is looked at by itself: so near to the bound there are few.
const READ_MAX: usize = 4_096;

/// Units to the end of a text at most.
const REST_MAX: u32 = 8;

/// What is looked at of an expression: parts within each other, and parts of a union.
const DEPTH_MAX: u32 = 32;
const UNION_MAX: usize = 32;

/// This part of all nodes, one in so many, is what not to know the units costs with each such state.
const WALKED_SHARE: usize = 2;

/// How many units it takes to match.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Completion {
    /// The fewest of a text.
    least: u32,
    /// The fewest behind what a text begins with, at most, whatever that is; its last unit, if it is begun, is counted with what is
    /// before.
    rest: u32,
}

impl Terms {
    /// The term of what is left of a lexeme, if that is bounded in units that are known.
    pub(super) fn of_bounded(
        &mut self,
        slicer: &Slicer,
        (entry, is_fresh): (Entry, bool),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let Some(expr) = lexer.plain(entry.1).filter(|_| !is_fresh && !lexer.is_known_late(entry.0)) else {
            return Ok(None);
        };
        let Some(bounded) = lexer.arena().bounded(expr) else { return Ok(None) };
        let Some(units) = self.shared.units(bounded.unit, slicer, lexer) else {
            self.shared.walked_units(bounded.unit, (slicer.nodes_len() / WALKED_SHARE) as u64);
            return Ok(None);
        };
        let completion = self.completion_of(bounded.unbounded, &bounded, &units, lexer);
        let Some(Completion { rest, .. }) = completion.filter(|completion| completion.rest <= REST_MAX) else {
            return Ok(None);
        };
        if units.begin_with(bounded.tail) {
            // The text may go on where it could end.
            return Ok(None);
        }
        let near = units.tokens_of(bounded.max.saturating_sub(rest), bounded.max);
        if near.len() > READ_MAX {
            return Ok(None);
        }
        let unbounded = (ALL, (entry.0, bounded.unbounded.to_raw()), false);
        let id = self.of_lexeme(slicer, unbounded, lexer, work)?;
        let Term { inside, ends, late, stuck, .. } = self.get(id);
        if !late.is_empty() || !stuck.is_empty() {
            return Ok(None);
        }
        let (mut words, ends) = (inside.words(slicer.words_len), ends.clone());
        work.visit(near.len() as u64)?;
        let start = lexer.single((entry.0, bounded.unbounded.to_raw()), false)?;
        let mut least_behind: FxHashMap<LexStateId, Option<u32>> = FxHashMap::default();
        for left in 0..rest.min(bounded.max) {
            let whole = bounded.max - left;
            for &token in units.tokens_of(whole - 1, whole) {
                if !mask::is_allowed(&words, token) {
                    continue;
                }
                let bytes = slicer.token_bytes(token);
                let behind = lexer.run(start, bytes)?;
                let least = *least_behind.entry(behind).or_insert_with(|| {
                    let rest = lexer.split(behind)?.regexes.first()?.1;
                    Some(self.completion_of(lexer.plain(rest)?, &bounded, &units, lexer)?.least)
                });
                let is_in_time = match least {
                    Some(least) => least <= left,
                    // It ends within a unit.
                    None => {
                        let start = lexer.single(entry, false)?;
                        lexer.run(start, bytes)? != DEAD
                    }
                };
                if !is_in_time {
                    mask::forbid(&mut words, token);
                }
            }
        }
        units.tokens_of(bounded.max, u32::MAX).iter().for_each(|&token| mask::forbid(&mut words, token));
        let behind = too_far(slicer, &bounded, &units, &mut words);
        let ends = ends.iter().filter_map(|&(ended, piece)| Some((ended, self.but_for(slicer, piece, &behind)?)));
        let ends = ends.collect();
        let inside = Arc::new(compact(slicer, words));
        Ok(Some(Term { inside, ends, late: [].into(), lexeme: None, stuck: [].into() }))
    }

    /// A piece without nodes in ranges, which are ascending; `None` if none is left.
    fn but_for(&mut self, slicer: &Slicer, piece: PieceId, ranges: &[(PieceNode, PieceNode)]) -> Option<PieceId> {
        let nodes = self.piece_nodes(slicer, piece);
        let is_in = |node: PieceNode| {
            let next = ranges.partition_point(|&(_, end)| end <= node);
            ranges.get(next).is_some_and(|&(start, _)| start <= node)
        };
        if !nodes.iter().any(|&node| is_in(node)) {
            return Some(piece);
        }
        let left: Vec<PieceNode> = nodes.iter().copied().filter(|&node| !is_in(node)).collect();
        (!left.is_empty()).then(|| self.piece_of(slicer, left))
    }

    /// How many units it takes to match what is left of a bounded text without its bound, if that is known.
    fn completion_of(
        &mut self,
        left: Expr,
        bounded: &Bounded,
        units: &UnitMap,
        lexer: &mut Lexer,
    ) -> Option<Completion> {
        let key = (bounded.unit, left);
        if let Some(&known) = self.completions.get(&key) {
            return known;
        }
        let completion = completion(left, (units, Some(bounded.end)), lexer, 0);
        self.bytes += size_of::<((Expr, Expr), Option<Completion>)>() * 2;
        self.completions.insert(key, completion);
        completion
    }
}

/// How many units it takes to match an expression, and its end, if it has one, which is no unit; `None` if it is not made of whole units,
/// as far as that is easily seen.
fn completion(expr: Expr, (units, end): (&UnitMap, Option<Expr>), lexer: &mut Lexer, depth: u32) -> Option<Completion> {
    if depth > DEPTH_MAX {
        return None;
    }
    if Some(expr) == end {
        return Some(Completion { least: 0, rest: 0 });
    }
    if !lexer.arena().nullable(expr) && units.are_all_of(expr, lexer) {
        return Some(Completion { least: 1, rest: 0 });
    }
    let shape = lexer.arena().shape(expr);
    let mut of = |part: Expr, end: Option<Expr>| completion(part, (units, end), lexer, depth + 1);
    match shape {
        Shape::Empty => Some(Completion { least: 0, rest: 0 }),
        Shape::Sequence(first, rest) => {
            let (first, rest) = (of(first, None)?, of(rest, end)?);
            let least = first.least.saturating_add(rest.least);
            Some(Completion { least, rest: rest.rest.max(first.rest.saturating_add(rest.least)) })
        }
        Shape::Union(parts) if parts.len() <= UNION_MAX => {
            let mut parts = parts.iter();
            let first = of(*parts.next()?, end)?;
            parts.try_fold(first, |all, &part| {
                let one = of(part, end)?;
                Some(Completion { least: all.least.min(one.least), rest: all.rest.max(one.rest) })
            })
        }
        Shape::Repetition(child, min) => {
            let child = of(child, None)?;
            let rest = child.rest.saturating_add(child.least.saturating_mul(min.saturating_sub(1)));
            Some(Completion { least: child.least.saturating_mul(min), rest })
        }
        Shape::Union(_) | Shape::Other => None,
    }
}

/// Forbids the tokens that end with the byte behind too many units. What is behind these.
fn too_far(slicer: &Slicer, bounded: &Bounded, units: &UnitMap, words: &mut [u32]) -> Vec<(PieceNode, PieceNode)> {
    let mut behind = Vec::new();
    let nodes = slicer.entered_by(bounded.tail);
    let Some(&first) = nodes.first() else { return behind };
    let (mut trie, mut root) = slicer.trie_of(first);
    for &node in nodes.iter().filter(|&&node| units.is_far_behind(node, bounded.max)) {
        if (node - root) as usize >= trie.len() {
            (trie, root) = slicer.trie_of(node);
        }
        trie.token(node - root).into_iter().for_each(|token| mask::forbid(words, token));
        let end = root + trie.subtree_ends()[(node - root) as usize];
        if end > node + 1 {
            behind.push((node + 1, end));
        }
    }
    behind
}
