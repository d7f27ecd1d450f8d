//! Terms that all grammars of an engine share: what tokens do inside one lexeme depends on what is left of it only, and an
//! expression means the same in all grammars.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;

use super::pieces::{ALL, Piece, PieceId, PieceRef};
use super::terms::Tokens;
use super::units::UnitMap;
use crate::lexer::arena::Expr;
use crate::lexer::states::Lexer;
use crate::slicer::{PieceNode, Slicer};

/// A lexeme in a piece, whatever its name is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct LexemeKey {
    pub piece: PieceId,
    /// What is left of it.
    pub expr: Expr,
    /// Whether no byte of it was read, so that it does not match yet.
    pub is_fresh: bool,
    /// Whether it may leave out its text where it matches.
    pub is_late: bool,
}

/// What the tokens of a piece do inside a lexeme.
#[derive(Debug)]
pub(super) struct LexemeTerm {
    pub inside: Arc<Tokens>,
    /// What is left behind its end, if it may end on the way.
    pub end: Option<(PieceId, PieceRef)>,
    pub late: Arc<[PieceNode]>,
}

impl LexemeTerm {
    fn bytes(&self) -> usize {
        size_of::<(LexemeKey, Self)>() + self.inside.bytes() + size_of_val(&*self.late)
    }
}

/// Units of which the tokens are known at most, a megabyte each.
const UNITS_MAX: usize = 12;

/// Units, which runs repeat.
#[derive(Default, Debug)]
struct Units {
    /// Those of which the tokens are known. The one that was asked for last is the last one.
    known: Vec<(Expr, Arc<UnitMap>)>,
    /// Nodes of the long walks in runs of others; `None` if the ends of these are not found in tokens.
    walked: FxHashMap<Expr, Option<u64>>,
}

impl Units {
    fn get(&mut self, unit: Expr) -> Option<Arc<UnitMap>> {
        let at = self.known.iter().position(|&(known, _)| known == unit)?;
        self.known[at..].rotate_left(1);
        self.known.last().map(|(_, units)| units.clone())
    }
}

/// Pieces and terms of one epoch of the arena.
#[derive(Debug)]
pub(crate) struct SharedTerms {
    inner: Mutex<Inner>,
    bytes_max: usize,
}

#[derive(Debug)]
struct Inner {
    terms: FxHashMap<LexemeKey, Arc<LexemeTerm>>,
    pieces: FxHashMap<Arc<[PieceNode]>, (PieceId, Arc<Piece>)>,
    units: Units,
    /// Numbers are not used again when pieces are dropped: who still has one means what it was.
    next_piece: PieceId,
    bytes: usize,
}

impl SharedTerms {
    /// At most so many bytes, beyond which all are dropped.
    pub fn new(bytes_max: usize) -> Self {
        let inner = Inner {
            terms: FxHashMap::default(),
            pieces: FxHashMap::default(),
            units: Units::default(),
            next_piece: PieceId(ALL.0 + 1),
            bytes: 0,
        };
        Self { inner: Mutex::new(inner), bytes_max }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // It guards caches that are valid after each call.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &LexemeKey) -> Option<Arc<LexemeTerm>> {
        self.lock().terms.get(key).cloned()
    }

    pub(super) fn insert(&self, key: LexemeKey, term: LexemeTerm) {
        let mut inner = self.lock();
        inner.make_room(term.bytes(), self.bytes_max);
        inner.bytes += term.bytes();
        inner.terms.insert(key, Arc::new(term));
    }

    /// The tokens of a unit, if it [was walked](Self::walked_units) for longer than it takes to make them.
    pub(super) fn units(&self, unit: Expr, slicer: &Slicer, lexer: &mut Lexer) -> Option<Arc<UnitMap>> {
        {
            let units = &mut self.lock().units;
            if let Some(known) = units.get(unit) {
                return Some(known);
            }
            let walked = units.walked.get(&unit).copied().flatten();
            if walked.is_none_or(|nodes| nodes < slicer.nodes_len() as u64) {
                return None;
            }
        }
        let made = UnitMap::new(unit, slicer, lexer).map(Arc::new);
        let mut inner = self.lock();
        let Some(made) = made else {
            inner.units.walked.insert(unit, None);
            return None;
        };
        // Another thread may have been here.
        if inner.units.get(unit).is_none() {
            inner.make_room(made.bytes(), self.bytes_max);
            if inner.units.known.len() == UNITS_MAX {
                let (unit_of_oldest, oldest) = inner.units.known.remove(0);
                inner.bytes -= oldest.bytes();
                inner.units.walked.remove(&unit_of_oldest);
            }
            inner.bytes += made.bytes();
            inner.units.known.push((unit, made.clone()));
        }
        Some(made)
    }

    /// Notes a long walk in a run of a unit.
    pub(super) fn walked_units(&self, unit: Expr, nodes: u64) {
        if let Some(walked) = self.lock().units.walked.entry(unit).or_insert(Some(0)) {
            *walked += nodes;
        }
    }

    /// A part of the trie and its number, by its nodes, ascending.
    pub(super) fn piece(&self, nodes: Box<[PieceNode]>, slicer: &Slicer) -> (PieceId, Arc<Piece>) {
        if let Some((id, piece)) = self.lock().pieces.get(&*nodes) {
            return (*id, piece.clone());
        }
        let piece = Arc::new(Piece::new(nodes.into(), slicer));
        let mut inner = self.lock();
        // Another thread may have been here.
        if let Some((id, piece)) = inner.pieces.get(&piece.nodes) {
            return (*id, piece.clone());
        }
        inner.make_room(piece.bytes(), self.bytes_max);
        inner.bytes += piece.bytes();
        let id = inner.next_piece;
        inner.next_piece.0 += 1;
        inner.pieces.insert(piece.nodes.clone(), (id, piece.clone()));
        (id, piece)
    }
}

impl Inner {
    fn make_room(&mut self, bytes: usize, bytes_max: usize) {
        if self.bytes + bytes > bytes_max {
            self.terms.clear();
            self.pieces.clear();
            self.units = Units::default();
            self.bytes = 0;
        }
    }
}
