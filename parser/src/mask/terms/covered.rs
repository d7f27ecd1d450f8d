//! Lexemes beside one that takes whole slices: names that match a pattern and those that do not. What tokens of these slices
//! do in the others changes no mask, as long as none of the others can end there.

use larkspur_toktrie::ROOT;

use super::{ALL, PieceId, TermId, Terms, Work, key_of};
use crate::error::Fault;
use crate::lexer::split::Entry;
use crate::lexer::states::Lexer;
use crate::slicer::{PieceNode, Slicer};

/// Slices that are a smaller part of all nodes, one in so many, are looked at in any case.
const LARGE_SHARE: usize = 64;

impl Terms {
    /// Adds the terms of regexes that go their own ways in one state.
    pub(super) fn of_regexes(
        &mut self,
        slicer: &Slicer,
        (piece, regexes, is_fresh): (PieceId, Vec<Entry>, bool),
        lexer: &mut Lexer,
        work: &mut Work,
        terms: &mut Vec<TermId>,
    ) -> Result<(), Fault> {
        let is_known = |&entry: &Entry| {
            let key = (piece, entry, is_fresh);
            self.of_lexemes.contains_key(&key) || key_of(key, lexer).is_some_and(|key| self.shared.get(&key).is_some())
        };
        let (known, mut new): (Vec<Entry>, Vec<Entry>) = regexes.into_iter().partition(is_known);
        for &entry in &known {
            terms.push(self.of_lexeme(slicer, (piece, entry, is_fresh), lexer, work)?);
        }
        if piece == ALL && known.len() + new.len() > 1 {
            new.sort_by_cached_key(|&entry| !self.takes_some(slicer, (entry, is_fresh), lexer));
        }
        for entry in new {
            let piece = match piece {
                ALL => self.uncovered(slicer, (entry, is_fresh), terms, lexer)?,
                _ => piece,
            };
            terms.push(self.of_lexeme(slicer, (piece, entry, is_fresh), lexer, work)?);
        }
        Ok(())
    }

    /// Whether a lexeme takes the first slice, as far as can be seen.
    fn takes_some(&mut self, slicer: &Slicer, (entry, is_fresh): (Entry, bool), lexer: &mut Lexer) -> bool {
        let mut takes = |lexer: &mut Lexer| {
            let single = lexer.single(entry, is_fresh)?;
            self.contained.ask(slicer, 0, lexer, single)
        };
        !slicer.slices.is_empty() && takes(lexer).unwrap_or(false)
    }

    /// The trie without slices of which other terms have all tokens, if they take long and the lexeme cannot end there.
    fn uncovered(
        &mut self,
        slicer: &Slicer,
        (entry, is_fresh): (Entry, bool),
        terms: &[TermId],
        lexer: &mut Lexer,
    ) -> Result<PieceId, Fault> {
        if terms.is_empty() {
            return Ok(ALL);
        }
        let Some(expr) = lexer.plain(entry.1).filter(|&expr| !lexer.arena().nullable(expr)) else { return Ok(ALL) };
        let last = lexer.arena().last_bytes(expr);
        let single = lexer.single(entry, is_fresh)?;
        let mut is_long = false;
        let mut left_out = Vec::new();
        for (index, slice) in slicer.slices.iter().enumerate() {
            let cannot_end =
                slice.trie.len() >= slicer.nodes_len() / LARGE_SHARE && last.intersect(&slice.alphabet).is_empty();
            if !cannot_end || !terms.iter().any(|&term| self.terms[term].inside.has_all(&slice.mask)) {
                continue;
            }
            left_out.push(index);
            is_long = is_long || !self.contained.ask(slicer, index, lexer, single)?;
        }
        if !is_long {
            return Ok(ALL);
        }
        let tries = slicer.rooted_tries().enumerate().filter(|(index, _)| !left_out.contains(index));
        let nodes: Vec<PieceNode> =
            tries.flat_map(|(_, (trie, root))| trie.children(ROOT).map(move |child| root + child)).collect();
        Ok(self.piece_of(slicer, nodes))
    }
}
