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

/// What is known of a unit, which runs repeat.
#[derive(Debug)]
enum Unit {
    /// A run of it took a long walk.
    Wanted,
    Known(Arc<UnitMap>),
    /// It is not such that its ends in tokens are found.
    Unclear,
}

/// Units of which the tokens are known at most, a megabyte each.
const UNITS_MAX: usize = 8;

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
    units: FxHashMap<Expr, Unit>,
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
            units: FxHashMap::default(),
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

    /// The tokens of a unit, if it is [wanted](Self::want_units).
    pub(super) fn units(&self, unit: Expr, slicer: &Slicer, lexer: &mut Lexer) -> Option<Arc<UnitMap>> {
        match self.lock().units.get(&unit)? {
            Unit::Known(units) => return Some(units.clone()),
            Unit::Unclear => return None,
            Unit::Wanted => {}
        }
        let made = UnitMap::new(unit, slicer, lexer).map(Arc::new);
        let mut inner = self.lock();
        let bytes = made.as_ref().map_or(0, |units| units.bytes());
        inner.make_room(bytes, self.bytes_max);
        if inner.units.values().filter(|unit| matches!(unit, Unit::Known(_))).count() >= UNITS_MAX {
            inner.drop_units();
        }
        inner.bytes += bytes;
        inner.units.insert(unit, made.clone().map_or(Unit::Unclear, Unit::Known));
        made
    }

    /// Notes that the tokens of a unit are worth knowing.
    pub(super) fn want_units(&self, unit: Expr) {
        self.lock().units.entry(unit).or_insert(Unit::Wanted);
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
            self.units.clear();
            self.bytes = 0;
        }
    }

    fn drop_units(&mut self) {
        for unit in self.units.values_mut() {
            if let Unit::Known(units) = unit {
                self.bytes -= units.bytes();
                *unit = Unit::Wanted;
            }
        }
    }
}
