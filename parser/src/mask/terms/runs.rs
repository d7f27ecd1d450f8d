//! The term of a run: a repetition with something behind it.
//!
//! Inside of it the tokens are known by how many units they are ([`UnitMap`]), so that the trie is walked only where what
//! comes behind the repetition begins. `[^;]{1,20} ";"` is a state for each count, and all of them differ from each other
//! and from what another rule has behind such a run in a few nodes.

use std::sync::Arc;

use super::draft::Draft;
use super::{ALL, Term, Terms, Work};
use crate::error::Fault;
use crate::lexer::arena::Expr;
use crate::lexer::split::Entry;
use crate::lexer::states::{LexStateId, Lexer};
use crate::mask::tokens::are_few;
use crate::mask::units::UnitMap;
use crate::slicer::Slicer;
use larkspur_grammar::algebra::Run;

/// A long walk is over this part of all nodes, one in so many.
const LONG_SHARE: usize = 32;

/// Tails are looked for if they are at this part of the nodes that would be walked else, one in so many.
const TAILS_SHARE: usize = 4;

/// If they are at this part of all nodes, it is not asked which of them would be walked: that takes lexer states.
const FEW_TAILS_SHARE: usize = 32;

/// A run whose tokens are known.
struct Known {
    run: Run,
    units: Arc<UnitMap>,
    /// Where its tail begins.
    tail: LexStateId,
    /// Bytes that it can begin with.
    begins: Vec<u8>,
}

impl Terms {
    /// The term of what is left of a lexeme, if it is runs of units that are known, and perhaps something beside them.
    pub(super) fn of_runs(
        &mut self,
        slicer: &Slicer,
        (entry, is_fresh): (Entry, bool),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let Some((runs, rest)) = runs_of(entry, lexer) else { return Ok(None) };
        let mut known = Vec::with_capacity(runs.len());
        let mut tails = 0;
        for run in runs {
            let Some(units) = self.shared.units(run.unit, slicer, lexer, work) else { return Ok(None) };
            let tail = lexer.single((entry.0, run.tail.to_raw()), false)?;
            let begins: Vec<u8> = lexer.row(tail)?.live.iter().collect();
            tails += begins.iter().map(|&byte| slicer.nodes_from(byte)).sum::<usize>();
            known.push(Known { run, units, tail, begins });
        }
        if tails > slicer.nodes_len() / TAILS_SHARE {
            return Ok(None);
        }
        if tails > slicer.nodes_len() / FEW_TAILS_SHARE {
            let single = lexer.single(entry, is_fresh)?;
            if tails > self.nodes_in_no_slice(slicer, single, lexer)? / TAILS_SHARE {
                return Ok(None);
            }
        }
        let beside = match rest {
            Expr::NOTHING => None,
            _ => {
                let single = lexer.single((entry.0, rest.to_raw()), is_fresh)?;
                Some(self.of_whole(slicer, (ALL, single), lexer, work)?)
            }
        };
        let mut draft = Draft::new(work);
        let mut many = Vec::new();
        for Known { run, units, tail, begins } in known {
            let tokens = units.tokens(run.max);
            match are_few(tokens, slicer) {
                true => draft.tokens.extend(tokens),
                false => many.push(units.mask(run.max)),
            }
            for byte in begins {
                self.walk_tails(&mut draft, slicer, (run, &units), (tail, byte), lexer)?;
            }
        }
        draft.count(work)?;
        Ok(Some(self.merge(slicer, draft, many, beside.as_slice())))
    }

    /// Nodes of the tries but for those of slices that a state takes.
    fn nodes_in_no_slice(&mut self, slicer: &Slicer, lex: LexStateId, lexer: &mut Lexer) -> Result<usize, Fault> {
        let mut nodes = 0;
        for (index, trie) in slicer.tries().enumerate() {
            if index >= slicer.slices.len() || !self.contained.ask(slicer, index, lexer, lex)? {
                nodes += trie.len();
            }
        }
        Ok(nodes)
    }

    /// Walks what begins with a byte behind the units of a run.
    fn walk_tails(
        &mut self,
        draft: &mut Draft,
        slicer: &Slicer,
        (run, units): (Run, &UnitMap),
        (tail, byte): (LexStateId, u8),
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let nodes = slicer.entered_by(byte);
        draft.visited += nodes.len() as u64 / 8;
        let Some(&first) = nodes.first() else { return Ok(()) };
        let (mut trie, mut root) = slicer.trie_of(first);
        for &node in nodes.iter().filter(|&&node| units.is_behind(node, run.min, run.max)) {
            if (node - root) as usize >= trie.len() {
                (trie, root) = slicer.trie_of(node);
            }
            self.walk_node(draft, trie, (root, node - root), |_| true, tail, lexer)?;
        }
        Ok(())
    }

    /// After a walk: if it was long, what tokens are in the units of the state's runs will be worth knowing.
    pub(super) fn note_runs(&self, slicer: &Slicer, entry: Entry, visited: u64, lexer: &mut Lexer) {
        if visited < (slicer.nodes_len() / LONG_SHARE) as u64 {
            return;
        }
        let Some((runs, _)) = runs_of(entry, lexer) else { return };
        runs.iter().for_each(|run| self.shared.walked_units(run.unit, visited));
    }
}

/// The runs of what is left of a lexeme, and what is beside them. None if it leaves out texts, so that a token that goes on in a
/// run may be refused.
fn runs_of(entry: Entry, lexer: &mut Lexer) -> Option<(Vec<Run>, Expr)> {
    let expr = lexer.plain(entry.1)?;
    if lexer.is_known_late(entry.0) {
        return None;
    }
    let (runs, rest) = lexer.arena().runs(expr)?;
    (!runs.is_empty()).then_some((runs, rest))
}
