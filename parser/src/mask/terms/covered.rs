//! Lexemes beside one that takes whole slices: names that match a pattern and those that do not. The tokens of these slices are
//! in the mask whatever they do in the others.

use larkspur_toktrie::ROOT;
use smallvec::SmallVec;

use super::{ALL, PieceId, Term, TermId, TermIds, Terms, Work};
use crate::error::Fault;
use crate::lexer::split::{Entries, Entry};
use crate::lexer::states::Lexer;
use crate::shortcut::Shortcuts;
use crate::slicer::{PieceNode, Slicer};

/// Slices that are a smaller part of all nodes, one in so many, are looked at in any case.
const LARGE_SHARE: usize = 64;

/// Slices whose tokens the first terms of a list have.
#[derive(Default)]
struct Covered {
    slices: SmallVec<[usize; 8]>,
    /// How many terms were looked at.
    terms_len: usize,
}

impl Terms {
    /// Adds the terms of regexes that go their own ways in one state.
    pub(super) fn of_regexes(
        &mut self,
        slicer: &Slicer,
        (piece, regexes, is_fresh): (PieceId, Entries, bool),
        lexer: &mut Lexer,
        work: &mut Work,
        terms: &mut TermIds,
    ) -> Result<(), Fault> {
        let (mut new, is_alone) = (Entries::new(), regexes.len() == 1);
        for entry in regexes {
            match self.known_lexeme((piece, entry, is_fresh), lexer) {
                Ok(known) => terms.push(known),
                Err(_) => new.push(entry),
            }
        }
        let may_cover = piece == ALL && self.uses(Shortcuts::COVERED);
        if may_cover && !is_alone {
            new.sort_by_cached_key(|&entry| !self.takes_some(slicer, (entry, is_fresh), lexer));
        }
        let mut covered = Covered::default();
        for entry in new {
            let piece = match may_cover {
                true => self.uncovered(slicer, (entry, is_fresh), (terms, &mut covered), lexer)?,
                false => piece,
            };
            terms.push(self.of_lexeme(slicer, (piece, entry, is_fresh), lexer, work)?);
        }
        Ok(())
    }

    /// Whether a lexeme takes the first slice, as far as can be seen.
    pub(super) fn takes_some(&mut self, slicer: &Slicer, (entry, is_fresh): (Entry, bool), lexer: &mut Lexer) -> bool {
        let mut takes = |lexer: &mut Lexer| {
            let single = lexer.single(entry, is_fresh)?;
            self.contained.ask(slicer, 0, lexer, single)
        };
        !slicer.slices.is_empty() && takes(lexer).unwrap_or(false)
    }

    /// The trie without slices of which other terms have all tokens, if the lexeme would take long there.
    fn uncovered(
        &mut self,
        slicer: &Slicer,
        (entry, is_fresh): (Entry, bool),
        (terms, covered): (&[TermId], &mut Covered),
        lexer: &mut Lexer,
    ) -> Result<PieceId, Fault> {
        for &term in &terms[covered.terms_len..] {
            self.add_covered(slicer, term, &mut covered.slices);
        }
        covered.terms_len = terms.len();
        if covered.slices.is_empty() {
            return Ok(ALL);
        }
        let single = lexer.single(entry, is_fresh)?;
        let mut is_long = false;
        for &index in &covered.slices {
            is_long = is_long || !self.contained.ask(slicer, index, lexer, single)?;
        }
        if !is_long {
            return Ok(ALL);
        }
        let tries = slicer.rooted_tries().enumerate().filter(|(index, _)| !covered.slices.contains(index));
        let nodes: Vec<PieceNode> =
            tries.flat_map(|(_, (trie, root))| trie.children(ROOT).map(move |child| root + child)).collect();
        Ok(self.piece_of(slicer, nodes))
    }

    /// Adds the large slices of which a term has all tokens.
    fn add_covered(&self, slicer: &Slicer, term: TermId, slices: &mut SmallVec<[usize; 8]>) {
        let Term { inside, late, .. } = &self.terms[term];
        for (index, (trie, root)) in slicer.rooted_tries().enumerate().take(slicer.slices.len()) {
            if slices.contains(&index) || trie.len() < slicer.nodes_len() / LARGE_SHARE {
                continue;
            }
            // What it has there may still be left out of it.
            let from = late.partition_point(|&node| node < root);
            let is_certain = late.get(from).is_none_or(|&node| node >= root + trie.len() as PieceNode);
            if is_certain && inside.has_all(&slicer.slices[index].mask) {
                slices.push(index);
            }
        }
    }
}
