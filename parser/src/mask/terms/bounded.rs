//! The term of a text that is bounded in units beside something else: words in so many characters.
//!
//! `^(\S+\s+){0,9}\S+$` with `maxLength: 100` has a state for each count of words and each of characters. A term for the words alone
//! stands for all of them: a token may follow if it may without the bounds and is short enough. How many units a token is, is
//! known ([`UnitMap`]), and how many it takes at most to end the text behind any token ([`Completion`]); so only tokens that come
//! this near to the bound are read. Where more units must follow, too, there must be a text of any number of units behind any token.

use std::sync::Arc;

use larkspur_grammar::algebra::Bounded;
use larkspur_toktrie::{TokenId, mask};
use rustc_hash::FxHashMap;

use super::completions::{Completion, NEVER};
use super::{ALL, Term, Terms, Work};
use crate::error::Fault;
use crate::lexer::arena::Expr;
use crate::lexer::split::Entry;
use crate::lexer::states::{DEAD, LexStateId, Lexer};
use crate::mask::pieces::PieceId;
use crate::mask::tokens::compact;
use crate::mask::units::UnitMap;
use crate::slicer::{PieceNode, Slicer};

/// Tokens that are read at most; with more each state is looked at by itself: so near to the bound there are few.
const READ_MAX: usize = 4_096;

/// Units to the end of a text at most: a regex in which all groups are open has 73.
const REST_MAX: u32 = 96;

/// This part of all nodes, one in so many, is what not to know the units costs with each such state.
const WALKED_SHARE: usize = 2;

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
        let ways = lexer.arena().bounded(expr);
        let mut is_known = false;
        for &bounded in &ways {
            let Some((unit, units)) = self.units_of(&bounded, slicer, lexer, work) else { continue };
            is_known = true;
            let bounded = Bounded { unit, ..bounded };
            if let Some(term) = self.within_bounds(slicer, (entry, bounded, &units), lexer, work)? {
                return Ok(Some(term));
            }
        }
        if let Some(way) = ways.first().filter(|way| !is_known && !way.is_run) {
            self.shared.walked_units(way.unit, (slicer.nodes_len() / WALKED_SHARE) as u64);
        }
        Ok(None)
    }

    /// What is known of the tokens in a bounded text's units; for a run also in units among which these are: to count they are the
    /// same, and what the text is made of is said without the bounds.
    fn units_of(
        &mut self,
        bounded: &Bounded,
        slicer: &Slicer,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Option<(Expr, Arc<UnitMap>)> {
        if let Some(units) = self.shared.units(bounded.unit, slicer, lexer, work) {
            return Some((bounded.unit, units));
        }
        let known = if bounded.is_run { self.shared.known_units() } else { Vec::new() };
        known.into_iter().find(|(unit, units)| self.completions.are_units(&[bounded.unit], (units, *unit), lexer))
    }

    /// The term of a text of units between bounds.
    fn within_bounds(
        &mut self,
        slicer: &Slicer,
        (entry, bounded, units): (Entry, Bounded, &UnitMap),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let others = bounded.other_unit.as_slice();
        // With a tail that begins a unit the text may go on where it could end.
        if units.begin_with(bounded.tail) || !self.completions.are_units(others, (units, bounded.unit), lexer) {
            return Ok(None);
        }
        let completion = self.completions.of(bounded.unbounded, &bounded, units, lexer);
        let Some(rest) = completion.map(|completion| rest_of(completion, &bounded)).filter(|rest| *rest <= REST_MAX)
        else {
            return Ok(None);
        };
        let unbounded = (ALL, (entry.0, bounded.unbounded.to_raw()), false);
        let id = self.of_lexeme(slicer, unbounded, lexer, work)?;
        let Term { inside, ends, late, stuck, .. } = self.get(id);
        if !late.is_empty() || !stuck.is_empty() {
            return Ok(None);
        }
        let (mut words, ends) = (inside.words(slicer.words_len), ends.clone());
        let near = units.tokens_of(bounded.max.saturating_sub(rest), bounded.max);
        let near: Vec<TokenId> = near.iter().copied().filter(|&token| mask::is_allowed(&words, token)).collect();
        if near.len() > READ_MAX {
            return Ok(None);
        }
        work.visit(near.len() as u64)?;
        let [start, bounded_start] =
            [bounded.unbounded.to_raw(), entry.1].map(|rest| lexer.single((entry.0, rest), false));
        let (start, bounded_start) = (start?, bounded_start?);
        let mut behind: FxHashMap<LexStateId, Option<Completion>> = FxHashMap::default();
        for token in near {
            let bytes = slicer.token_bytes(token);
            let state = lexer.run(start, bytes)?;
            let completion = *behind.entry(state).or_insert_with(|| {
                let rest = lexer.split(state)?.regexes.first()?.1;
                self.completions.of(lexer.plain(rest)?, &bounded, units, lexer)
            });
            let known = completion.zip(units.count(bytes));
            let may_end = match known.and_then(|(completion, count)| may_end(completion, count, &bounded)) {
                Some(may_end) => may_end,
                None => lexer.run(bounded_start, bytes)? != DEAD,
            };
            if !may_end {
                mask::forbid(&mut words, token);
            }
        }
        units.tokens_of(bounded.max, u32::MAX).iter().for_each(|&token| mask::forbid(&mut words, token));
        let behind = elsewhere(slicer, &bounded, units, &mut words);
        let ends = ends.iter().filter_map(|&(ended, piece)| Some((ended, self.but_for(slicer, piece, &behind)?)));
        let ends = ends.collect();
        let inside = Arc::new(compact(slicer, words));
        Ok(Some(Term { inside, ends, late: Arc::default(), lexeme: None, stuck: [].into() }))
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
}

/// How many units must be left behind a token, so that the text may end within its bounds whatever the token is.
fn rest_of(completion: Completion, bounded: &Bounded) -> u32 {
    if bounded.min == 0 { completion.rest } else { completion.rest_dense }
}

/// Whether a text that has so many units may end within the bounds, if that shows of what is left of it.
fn may_end(completion: Completion, count: u32, bounded: &Bounded) -> Option<bool> {
    let left = bounded.max - count;
    match completion {
        Completion { least, is_exact, .. } if least > left => is_exact.then_some(false),
        Completion { is_exact: false, .. } if count >= bounded.min => Some(true),
        Completion { least, is_exact: true, .. } if least.saturating_add(count) >= bounded.min => Some(true),
        Completion { dense, .. } if dense != NEVER && dense <= left => Some(true),
        _ => None,
    }
}

/// Forbids the tokens that end with the byte behind too few or too many units. What is behind these.
fn elsewhere(slicer: &Slicer, bounded: &Bounded, units: &UnitMap, words: &mut [u32]) -> Vec<(PieceNode, PieceNode)> {
    let mut behind = Vec::new();
    let nodes = slicer.entered_by(bounded.tail);
    let Some(&first) = nodes.first() else { return behind };
    let (mut trie, mut root) = slicer.trie_of(first);
    for &node in nodes.iter().filter(|&&node| units.is_elsewhere(node, bounded.min, bounded.max)) {
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
