//! Terms that all grammars of an engine share: what tokens do inside one lexeme depends on what is left of it only, and an
//! expression means the same in all grammars.

use std::collections::hash_map;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use larkspur_grammar::hashing::hash_of;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::pieces::{ALL, Piece, PieceId, PieceRef};
use super::tokens::Tokens;
use super::units::{UnitMap, UnitWalk};
use super::wide::{SharedWides, Wide, WideKey};
use super::work::Work;
use crate::lexer::arena::Expr;
use crate::lexer::joint::{JointKey, Lexemes};
use crate::lexer::states::Lexer;
use crate::shortcut::Shortcuts;
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
    /// Whether it ends only where it does not go on, as in `longest` mode; of one that ends by itself that is not said.
    pub is_greedy: bool,
    /// Whether nothing may stand behind it, so that it is not said where it ends.
    pub is_last: bool,
}

/// What the tokens of a piece do inside a lexeme.
#[derive(Debug)]
pub(super) struct LexemeTerm {
    pub inside: Arc<Tokens>,
    /// What is left behind its end, if it may end on the way.
    pub end: Option<(PieceId, PieceRef)>,
    pub late: Arc<[PieceNode]>,
    /// Of the words of `inside`, where these are a mask that several terms may have.
    mask_hash: Option<u64>,
}

impl LexemeTerm {
    pub fn new(inside: Arc<Tokens>, end: Option<(PieceId, PieceRef)>, late: Arc<[PieceNode]>) -> Self {
        let mask_hash = match &*inside {
            Tokens::Few(_) => None,
            Tokens::Many(words) => Some(hash_of(words)),
        };
        Self { inside, end, late, mask_hash }
    }

    fn bytes(&self) -> usize {
        let inside = if self.mask_hash.is_none() { self.inside.bytes() } else { 0 };
        size_of::<(LexemeKey, Self)>() + inside + size_of_val(&*self.late)
    }
}

/// What the tokens of a piece do in a joint state.
#[derive(Debug)]
pub(super) struct JointTerm {
    pub inside: Arc<Tokens>,
    /// Lexemes that may end on the way, and what is left behind their end.
    pub ends: Box<[(Lexemes, PieceId, PieceRef)]>,
    pub late: Arc<[PieceNode]>,
}

impl JointTerm {
    /// With its pieces, which it may be the only one to have.
    fn bytes(&self) -> usize {
        let piece_bytes = |(_, _, piece): &(Lexemes, PieceId, PieceRef)| match piece {
            PieceRef::All => 0,
            PieceRef::Part(piece) => piece.bytes(),
        };
        let pieces: usize = self.ends.iter().map(piece_bytes).sum();
        size_of::<Self>() + self.inside.bytes() + size_of_val(&*self.ends) + pieces + size_of_val(&*self.late)
    }
}

/// Joint states take this part of all bytes at most, one in so many. They are few: those of the text around values, and of
/// words beside names.
const JOINT_SHARE: usize = 8;

/// Terms of joint states, all of which are dropped when they are too much.
#[derive(Default, Debug)]
struct Joint {
    terms: FxHashMap<(PieceId, JointKey), Arc<JointTerm>>,
    bytes: usize,
}

/// Units of which the tokens are known at most, a megabyte each.
const UNITS_MAX: usize = 12;

/// Units that are walked at a time at most: for each two megabytes are written.
const UNIT_WALKS_MAX: usize = 2;

/// One that nobody asks for any more is dropped after others had to wait so often.
const UNIT_WAITS_MAX: u32 = 32;

/// Dear terms that are counted at most; then counting begins anew.
const DEAR_MAX: usize = 4_096;

/// A unit of which the tokens are being found.
#[derive(Debug)]
struct Walking {
    unit: Expr,
    /// `None` while somebody is at it.
    walk: Option<Box<UnitWalk>>,
    /// How often another unit had to wait since somebody asked for this one.
    waited_for: u32,
}

/// What is next for who asks for a unit that is not known.
#[derive(Debug)]
enum Next {
    Begin,
    GoOn(Box<UnitWalk>),
    /// Another thread is at it, or others are to end before.
    Wait,
}

/// Units, which runs repeat.
#[derive(Default, Debug)]
struct Units {
    /// Those of which the tokens are known. The one that was asked for last is the last one.
    known: Vec<(Expr, Arc<UnitMap>)>,
    /// Nodes of the long walks in runs of others; `None` if the ends of these are not found in tokens.
    walked: FxHashMap<Expr, Option<u64>>,
    /// Those of which the tokens are being found.
    walks: Vec<Walking>,
    bytes: usize,
}

impl Units {
    fn get(&mut self, unit: Expr) -> Option<Arc<UnitMap>> {
        let at = self.known.iter().position(|&(known, _)| known == unit)?;
        self.known[at..].rotate_left(1);
        self.known.last().map(|(_, units)| units.clone())
    }

    /// Takes a unit's walk to go on with it.
    fn take_walk(&mut self, unit: Expr) -> Next {
        if let Some(walking) = self.walks.iter_mut().find(|walking| walking.unit == unit) {
            walking.waited_for = 0;
            return walking.walk.take().map_or(Next::Wait, Next::GoOn);
        }
        if self.walks.len() == UNIT_WALKS_MAX {
            self.walks.iter_mut().for_each(|walking| walking.waited_for += 1);
            self.walks.retain(|walking| walking.waited_for < UNIT_WAITS_MAX);
        }
        if self.walks.len() == UNIT_WALKS_MAX {
            return Next::Wait;
        }
        self.walks.push(Walking { unit, walk: None, waited_for: 0 });
        Next::Begin
    }

    /// Puts a walk back that is not at its end, unless it was waited for too long.
    fn put_walk(&mut self, unit: Expr, walk: Box<UnitWalk>) {
        if let Some(walking) = self.walks.iter_mut().find(|walking| walking.unit == unit) {
            walking.walk = Some(walk);
        }
    }

    fn end_walk(&mut self, unit: Expr) {
        self.walks.retain(|walking| walking.unit != unit);
    }

    /// Keeps one that is not known in place of those that were not asked for the longest, in so many bytes if it has so few.
    fn keep(&mut self, unit: Expr, map: Arc<UnitMap>, bytes_max: usize) {
        self.bytes += map.bytes();
        while !self.known.is_empty() && (self.known.len() == UNITS_MAX || self.bytes > bytes_max) {
            let (oldest, its_map) = self.known.remove(0);
            self.bytes -= its_map.bytes();
            self.walked.remove(&oldest);
        }
        self.known.push((unit, map));
    }
}

/// Pieces and terms of one epoch of the arena.
#[derive(Debug)]
pub(crate) struct SharedTerms {
    inner: Mutex<Inner>,
    bytes_max: usize,
    /// What masks are made without.
    pub without: Shortcuts,
}

#[derive(Debug)]
struct Inner {
    /// What was made or asked for since the last turn.
    young: Generation,
    /// What was not, though it was before that. It leaves at the next turn.
    old: Generation,
    leaving: Leaving,
    units: Units,
    joint: Joint,
    wides: SharedWides,
    /// How often terms were asked for that are dear to make.
    dear: FxHashMap<LexemeKey, u32>,
    /// Numbers are not used again when pieces are dropped: who still has one means what it was.
    next_piece: PieceId,
}

#[derive(Default, Debug)]
struct Generation {
    terms: FxHashMap<LexemeKey, Arc<LexemeTerm>>,
    /// Masks of these terms by their hashes: of three terms two have the mask of another one.
    masks: FxHashMap<u64, Arc<Tokens>>,
    pieces: FxHashMap<Arc<[PieceNode]>, (PieceId, Arc<Piece>)>,
    bytes: usize,
}

impl Generation {
    /// An empty one in which there is room for as many as in another one, so that its tables do not grow.
    fn of_size(other: &Self) -> Self {
        Self {
            terms: FxHashMap::with_capacity_and_hasher(other.terms.len(), FxBuildHasher),
            masks: FxHashMap::with_capacity_and_hasher(other.masks.len(), FxBuildHasher),
            pieces: FxHashMap::with_capacity_and_hasher(other.pieces.len(), FxBuildHasher),
            bytes: 0,
        }
    }
}

/// A generation that is dropped bit by bit, as the next one grows: all of it at once takes milliseconds.
#[derive(Default, Debug)]
struct Leaving {
    terms: hash_map::IntoIter<LexemeKey, Arc<LexemeTerm>>,
    masks: hash_map::IntoIter<u64, Arc<Tokens>>,
    pieces: hash_map::IntoIter<Arc<[PieceNode]>, (PieceId, Arc<Piece>)>,
    bytes: usize,
}

impl Leaving {
    fn new(generation: Generation) -> Self {
        let Generation { terms, masks, pieces, bytes } = generation;
        Self { terms: terms.into_iter(), masks: masks.into_iter(), pieces: pieces.into_iter(), bytes }
    }

    /// Drops what is over so many bytes.
    fn shrink(&mut self, bytes_max: usize) {
        while self.bytes > bytes_max {
            let dropped = if let Some((_, term)) = self.terms.next() {
                term.bytes()
            } else if let Some((_, mask)) = self.masks.next() {
                mask.bytes()
            } else if let Some((_, (_, piece))) = self.pieces.next() {
                piece.bytes()
            } else {
                self.bytes
            };
            self.bytes = self.bytes.saturating_sub(dropped);
        }
    }
}

impl SharedTerms {
    /// At most so many bytes: units take half at most, joint states an eighth, and what is left is for two generations of the others, of which one that
    /// is larger than a generation is not kept.
    pub fn new(bytes_max: usize, without: Shortcuts) -> Self {
        let inner = Inner {
            young: Generation::default(),
            old: Generation::default(),
            leaving: Leaving::default(),
            units: Units::default(),
            joint: Joint::default(),
            wides: SharedWides::default(),
            dear: FxHashMap::default(),
            next_piece: PieceId(ALL.0 + 1),
        };
        Self { inner: Mutex::new(inner), bytes_max, without }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        // It guards caches that are valid after each call.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn get(&self, key: &LexemeKey) -> Option<Arc<LexemeTerm>> {
        let mut inner = self.lock();
        if let Some(term) = inner.young.terms.get(key) {
            return Some(term.clone());
        }
        let term = inner.old.terms.remove(key)?;
        inner.old.bytes -= term.bytes();
        inner.keep_term(*key, term.clone(), self.bytes_max);
        // Who makes the same piece anew would make the terms in it anew, too.
        if let Some((_, PieceRef::Part(piece))) = &term.end {
            inner.known_piece(&piece.nodes, self.bytes_max);
        }
        Some(term)
    }

    /// Keeps a term. Returns its tokens, which may be those of another one that has the same.
    pub(super) fn insert(&self, key: LexemeKey, mut term: LexemeTerm) -> Arc<Tokens> {
        let mut inner = self.lock();
        inner.share_mask(&mut term);
        let inside = term.inside.clone();
        inner.keep_term(key, Arc::new(term), self.bytes_max);
        inside
    }

    /// The term of a joint state in a piece.
    pub(super) fn joint(&self, piece: PieceId, key: &JointKey) -> Option<Arc<JointTerm>> {
        self.lock().joint.terms.get(&(piece, key.clone())).cloned()
    }

    /// Keeps the term of a joint state.
    pub(super) fn insert_joint(&self, key: (PieceId, JointKey), term: JointTerm) {
        let bytes = term.bytes() + key.1.bytes();
        let bytes_max = self.bytes_max / JOINT_SHARE;
        let joint = &mut self.lock().joint;
        if joint.bytes + bytes > bytes_max {
            *joint = Joint::default();
        }
        if bytes <= bytes_max && joint.terms.insert(key, Arc::new(term)).is_none() {
            joint.bytes += bytes;
        }
    }

    /// The tokens of wide terms together.
    pub(super) fn wide(&self, key: WideKey, terms: &[&Arc<Tokens>], words_len: usize) -> Arc<Wide> {
        if let Some(known) = self.lock().wides.get(&key, self.bytes_max) {
            return known;
        }
        let wide = Arc::new(Wide::new(terms, words_len));
        if wide.is_union() {
            self.lock().wides.insert(key, wide.clone(), self.bytes_max);
        }
        wide
    }

    /// The tokens of a unit, if it [was walked](Self::walked_units) for longer than it takes to find them, and enough masks have
    /// asked for them since: with each a part is found.
    pub(super) fn units(
        &self,
        unit: Expr,
        slicer: &Slicer,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Option<Arc<UnitMap>> {
        let next = {
            let units = &mut self.lock().units;
            if let Some(known) = units.get(unit) {
                return Some(known);
            }
            let walked = units.walked.get(&unit).copied().flatten();
            if work.unit_nodes == 0 || walked.is_none_or(|nodes| nodes < slicer.nodes_len() as u64) {
                return None;
            }
            units.take_walk(unit)
        };
        let walk = match next {
            Next::Begin => UnitWalk::new(unit, slicer, lexer).map(Box::new),
            Next::GoOn(walk) => Some(walk),
            Next::Wait => return None,
        };
        let Some(mut walk) = walk else {
            let units = &mut self.lock().units;
            units.end_walk(unit);
            units.walked.insert(unit, None);
            return None;
        };
        let all = std::mem::take(&mut work.unit_nodes);
        // What begins behind units is looked up by byte. To list that takes as long as a part of the walk, and so does to finish.
        let left = if slicer.list_by_byte() { 0 } else { walk.go_on(slicer, all) };
        if left < all / 2 {
            self.lock().units.put_walk(unit, walk);
            return None;
        }
        let made = Arc::new(walk.finish(slicer));
        let units = &mut self.lock().units;
        units.end_walk(unit);
        // Another thread may have been here.
        if units.get(unit).is_none() {
            units.keep(unit, made.clone(), self.bytes_max / 2);
        }
        Some(made)
    }

    /// The units of which the tokens are known, the one that was asked for last first.
    pub(super) fn known_units(&self) -> Vec<(Expr, Arc<UnitMap>)> {
        self.lock().units.known.iter().rev().cloned().collect()
    }

    /// Notes a long walk in a run of a unit.
    pub(super) fn walked_units(&self, unit: Expr, nodes: u64) {
        if let Some(walked) = self.lock().units.walked.entry(unit).or_insert(Some(0)) {
            *walked += nodes;
        }
    }

    /// Notes that a term was asked for which is dear to make. How often that was so, in all grammars.
    pub(super) fn asked_dear(&self, key: LexemeKey) -> u32 {
        let dear = &mut self.lock().dear;
        if dear.len() >= DEAR_MAX {
            dear.clear();
        }
        let times = dear.entry(key).or_insert(0);
        *times = times.saturating_add(1);
        *times
    }

    /// A part of the trie and its number, by its nodes, ascending.
    pub(super) fn piece(&self, nodes: Box<[PieceNode]>, slicer: &Slicer) -> (PieceId, Arc<Piece>) {
        if let Some(known) = self.lock().known_piece(&nodes, self.bytes_max) {
            return known;
        }
        let piece = Arc::new(Piece::new(nodes.into(), slicer));
        let mut inner = self.lock();
        // Another thread may have been here.
        if let Some(known) = inner.known_piece(&piece.nodes, self.bytes_max) {
            return known;
        }
        let id = inner.next_piece;
        inner.next_piece.0 += 1;
        inner.keep_piece(id, piece.clone(), self.bytes_max);
        (id, piece)
    }
}

impl Inner {
    fn known_piece(&mut self, nodes: &[PieceNode], bytes_max: usize) -> Option<(PieceId, Arc<Piece>)> {
        if let Some(known) = self.young.pieces.get(nodes) {
            return Some(known.clone());
        }
        let (id, piece) = self.old.pieces.remove(nodes)?;
        self.old.bytes -= piece.bytes();
        self.keep_piece(id, piece.clone(), bytes_max);
        Some((id, piece))
    }

    fn keep_piece(&mut self, id: PieceId, piece: Arc<Piece>, bytes_max: usize) {
        if self.make_room(piece.bytes(), bytes_max) {
            self.young.bytes += piece.bytes();
            self.young.pieces.insert(piece.nodes.clone(), (id, piece));
        }
    }

    /// Gives a term the mask of another one if that is equal.
    fn share_mask(&self, term: &mut LexemeTerm) {
        let Some(hash) = term.mask_hash else { return };
        if let Some(known) = self.young.masks.get(&hash).or_else(|| self.old.masks.get(&hash)) {
            if **known == *term.inside {
                term.inside = known.clone();
            } else {
                term.mask_hash = None;
            }
        }
    }

    fn keep_term(&mut self, key: LexemeKey, term: Arc<LexemeTerm>, bytes_max: usize) {
        let mask_bytes = term.mask_hash.map_or(0, |_| term.inside.bytes());
        if !self.make_room(term.bytes() + mask_bytes, bytes_max) {
            return;
        }
        if let Some(hash) = term.mask_hash
            && self.young.masks.insert(hash, term.inside.clone()).is_none()
        {
            self.young.bytes += mask_bytes;
            if self.old.masks.remove(&hash).is_some() {
                self.old.bytes -= mask_bytes;
            }
        }
        let bytes = term.bytes();
        if self.young.terms.insert(key, term).is_none() {
            self.young.bytes += bytes;
        }
    }

    /// The young ones become old where one more would be too much. False if it would be by itself.
    fn make_room(&mut self, bytes: usize, bytes_max: usize) -> bool {
        let room = bytes_max.saturating_sub(self.units.bytes + self.joint.bytes + self.wides.bytes()) / 2;
        if bytes > room {
            return false;
        }
        if self.young.bytes + bytes > room {
            let young = Generation::of_size(&self.young);
            let old = std::mem::replace(&mut self.old, std::mem::replace(&mut self.young, young));
            self.leaving = Leaving::new(old);
        }
        // Gone when the young ones take half of their room.
        self.leaving.shrink(room.saturating_sub(2 * (self.young.bytes + bytes)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u32) -> LexemeKey {
        let (is_late, is_greedy, is_last) = (false, false, false);
        LexemeKey { piece: ALL, expr: Expr::from_raw(number), is_fresh: false, is_late, is_greedy, is_last }
    }

    fn term(word: u32) -> LexemeTerm {
        LexemeTerm::new(Arc::new(Tokens::Many([word; 100].into())), None, [].into())
    }

    fn bytes(terms: &SharedTerms) -> usize {
        let inner = terms.lock();
        inner.young.bytes + inner.old.bytes + inner.leaving.bytes
    }

    #[test]
    fn a_unit_waits_for_those_that_are_begun_as_long_as_somebody_asks_for_them() {
        let [a, b, c] = [5, 6, 7].map(Expr::from_raw);
        let mut units = Units::default();
        let is_begun = |units: &mut Units, unit| matches!(units.take_walk(unit), Next::Begin);
        let waits = |units: &mut Units, unit| matches!(units.take_walk(unit), Next::Wait);
        assert!(is_begun(&mut units, a) && is_begun(&mut units, b));
        // The walks were not put back.
        assert!(waits(&mut units, a) && waits(&mut units, b));
        for _ in 0..2 * UNIT_WAITS_MAX {
            assert!([c, a, b].into_iter().all(|unit| waits(&mut units, unit)));
        }
        units.end_walk(a);
        assert!(is_begun(&mut units, c));
        let waited = (0..).take_while(|_| waits(&mut units, a)).count();
        assert_eq!(waited, UNIT_WAITS_MAX as usize - 1);
    }

    #[test]
    fn what_is_asked_for_stays_and_the_others_go() {
        let max = 20_000;
        let terms = SharedTerms::new(max, Shortcuts::default());
        for number in 0..1_000 {
            terms.insert(key(number), term(number));
            let first = terms.get(&key(0)).expect("it was asked for a moment ago");
            assert_eq!(*first.inside, Tokens::Many([0; 100].into()));
            assert!(bytes(&terms) <= max);
            let leaving = &terms.lock().leaving;
            assert_eq!(leaving.bytes == 0, leaving.terms.len() + leaving.masks.len() == 0);
        }
        assert!(terms.get(&key(1)).is_none());
        assert!(terms.get(&key(999)).is_some());
    }

    #[test]
    fn what_is_larger_than_a_generation_is_not_kept() {
        let terms = SharedTerms::new(2 * (term(0).bytes() + 400) - 1, Shortcuts::default());
        assert_eq!(*terms.insert(key(0), term(0)), Tokens::Many([0; 100].into()));
        assert!(terms.get(&key(0)).is_none() && bytes(&terms) == 0);
        let terms = SharedTerms::new(2 * (term(0).bytes() + 400), Shortcuts::default());
        terms.insert(key(0), term(0));
        assert!(terms.get(&key(0)).is_some());
    }

    #[test]
    fn equal_masks_are_one_and_counted_once() {
        let terms = SharedTerms::new(1 << 20, Shortcuts::default());
        let masks: Vec<_> = (0..100).map(|number| terms.insert(key(number), term(number % 2))).collect();
        assert!(masks.iter().skip(2).step_by(2).all(|mask| Arc::ptr_eq(mask, &masks[0])));
        assert!(!Arc::ptr_eq(&masks[0], &masks[1]));
        assert_eq!(bytes(&terms), 100 * term(0).bytes() + 2 * 400);
    }

    #[test]
    fn masks_with_equal_hashes_are_told_apart() {
        let terms = SharedTerms::new(1 << 20, Shortcuts::default());
        for number in 0..4 {
            let inside = terms.insert(key(number), LexemeTerm { mask_hash: Some(7), ..term(number) });
            assert_eq!(*inside, Tokens::Many([number; 100].into()));
        }
        (0..4).for_each(|number| {
            assert_eq!(*terms.get(&key(number)).expect("there is room").inside, Tokens::Many([number; 100].into()));
        });
    }
}
