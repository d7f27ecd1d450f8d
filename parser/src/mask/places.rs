//! Terms of places with all that may follow there, as far as tokens reach, where no text is recorded or read again.
//!
//! There what a place has depends on nothing but pieces, a lexer state and a set. A set that was never met has mostly others behind
//! it that were: what follows an operator is the same behind any operand. So what was found out is kept by place.
//! Pieces that are left behind several lexemes which lead to one set are looked at together: of some four hundred pieces
//! for a mask of C most are met in one of thirty lexer states and sets. What a set says is asked once for all of them;
//! which terms they have, and what is left behind these, is known from the last time that they came together. And
//! lexemes that lead back to the place (`-` before an operand) are followed all at once, or each token of dashes would be
//! another place.

use std::collections::hash_map::Entry;
use std::sync::Arc;

use larkspur_grammar::{LexerMode, define_id};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::after::{After, after, lead_on};
use super::lists::Lists;
use super::pieces::{ALL, PieceId};
use super::terms::{DEAR_TIMES, Dear, TermId, TermIds, Terms};
use super::trace::{PLACE_WORK, PLACES_MAX, WALKS_MAX};
use super::work::Work;
use crate::earley::sets::SetId;
use crate::error::Fault;
use crate::growing::GrowingMap;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::states::{LexStateId, LexemeSetId};
use crate::machine::{Cursor, Machine};
use crate::slicer::Slicer;

/// Lexemes go on like what follows them where they share this part of the bytes that they go on with, one in so many.
const ALIKE_SHARE: u32 = 4;

define_id! {
    /// Some pieces.
    struct PiecesId = "P";
}
define_id! {
    /// The terms of a mask, or a part of one.
    pub(super) struct TermsId = "E";
}
define_id! {
    /// Lexemes that lead from a place back to it.
    struct LoopsId = "L";
}

/// Pieces, the lexer state and the set that they are looked at in.
type Place = (PiecesId, LexStateId, SetId);

/// Sets that lexemes lead to, the lexer states that start there, and the pieces that are left.
type Ends = SmallVec<[(SetId, LexStateId, PiecesId); 16]>;

/// Places whose terms are known.
#[derive(Default, Debug)]
pub(super) struct Places {
    pieces: Lists<PiecesId, PieceId>,
    terms: Lists<TermsId, TermId>,
    loops: Lists<LoopsId, Guarded<LexemeSetId>>,
    joined: GrowingMap<(PiecesId, LexStateId, LoopsId), Arc<Joined>>,
    /// The loops that pieces had in a lexer state the last time.
    last: GrowingMap<(PiecesId, LexStateId), LoopsId>,
    /// Terms of places with all that is behind them, and how many lexeme ends deep that is.
    behind: GrowingMap<Place, (TermsId, u8)>,
    /// Bytes of `joined`, roughly.
    bytes: usize,
}

/// What pieces do in a lexer state, and those that are left of them behind any number of certain lexemes, there again.
#[derive(Debug)]
struct Joined {
    /// Terms with tokens inside.
    inside: TermsId,
    /// Other lexemes that can end on the way, each once, and what is left behind them.
    ends: Box<[(Guarded<LexemeSetId>, PiecesId)]>,
    /// States on the way that may lead nowhere.
    stuck: Box<[LexStateId]>,
    /// How many pieces these are.
    pieces_len: usize,
}

/// A place at which one is.
#[derive(Debug)]
struct Visit {
    place: Place,
    /// Those behind it that were not looked at yet.
    behind: SmallVec<[Place; 8]>,
    /// Terms of the others, and its own.
    terms: SmallVec<[TermsId; 8]>,
    /// How many lexeme ends deep the others are.
    depth: u8,
}

impl Places {
    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> usize {
        let lists = self.pieces.bytes() + self.terms.bytes() + self.loops.bytes();
        lists + self.bytes + self.behind.len() * size_of::<(Place, (TermsId, u8))>()
    }

    /// Some terms, ascending.
    pub fn terms(&self, id: TermsId) -> &[TermId] {
        self.terms.get(id)
    }
}

impl Terms {
    /// The terms of the mask of a place, where no text is recorded or read again, and how many lexeme ends deep it looks. `None` if they
    /// are too many, or if they do not hold there.
    ///
    /// Cost: what was never met. Errors: as [`Terms::of_state`]; limits of sets.
    pub fn of_place(
        &mut self,
        cursor: Cursor,
        machine: &mut Machine,
        slicer: &Slicer,
        work: &mut Work,
    ) -> Result<Option<(TermsId, u8)>, Fault> {
        let all = self.places.pieces.intern(&[ALL]);
        let (mut found, mut depth): (SmallVec<[TermsId; 4]>, u8) = (SmallVec::new(), 0);
        for thread in machine.threads(cursor).iter() {
            match self.behind((all, thread.lex, thread.set), machine, slicer, work)? {
                Some((terms, of_thread)) => {
                    found.push(terms);
                    depth = depth.max(of_thread);
                }
                None => return Ok(None),
            }
        }
        Ok(Some((self.places.terms.union(&mut found), depth)))
    }

    /// The terms of a place and all behind it. Nothing recurses: a token may be as long as one likes.
    fn behind(
        &mut self,
        place: Place,
        machine: &mut Machine,
        slicer: &Slicer,
        work: &mut Work,
    ) -> Result<Option<(TermsId, u8)>, Fault> {
        let mut visits: Vec<Visit> = Vec::new();
        let (mut next, mut visited) = (Some(place), 0);
        loop {
            let known = match next {
                Some(place) => self.places.behind.get(&place).copied(),
                None => Some(self.leave(&mut visits, work)?),
            };
            if let (None, Some(place)) = (known, next) {
                let is_long = visited > PLACES_MAX || work.done() > WALKS_MAX * slicer.nodes_len() as u64;
                let visit = if is_long { None } else { self.visit(place, machine, slicer, work)? };
                let Some((visit, pieces)) = visit else { return Ok(None) };
                visits.push(visit);
                visited += pieces;
            }
            let Some(visit) = visits.last_mut() else { return Ok(known) };
            if let Some((terms, depth)) = known {
                visit.terms.push(terms);
                visit.depth = visit.depth.max(depth.saturating_add(1));
            }
            next = visit.behind.pop();
        }
    }

    /// Ends the last visit. The terms of its place.
    fn leave(&mut self, visits: &mut Vec<Visit>, work: &mut Work) -> Result<(TermsId, u8), Fault> {
        let Visit { place, mut terms, depth, .. } = visits.pop().expect("one was begun");
        let terms = self.places.terms.union(&mut terms);
        work.add(self.places.terms.get(terms).len() as u64)?;
        self.places.behind.insert(place, (terms, depth));
        Ok((terms, depth))
    }

    /// Begins to look at a place, and says of how many pieces. `None` if terms do not hold there.
    fn visit(
        &mut self,
        place: Place,
        machine: &mut Machine,
        slicer: &Slicer,
        work: &mut Work,
    ) -> Result<Option<(Visit, usize)>, Fault> {
        let (pieces, start, set) = place;
        let lex = machine.repeated(start, set)?;
        let lex = machine.lexer.clamped(lex)?;
        let mut ends: Ends = SmallVec::new();
        let known = self.places.last.get(&(pieces, lex)).copied();
        let known = known.map(|loops| (loops, self.places.joined[&(pieces, lex, loops)].clone()));
        let joined = match known {
            Some((loops, joined)) if self.has_loops((start, set), (loops, &joined), machine, (work, &mut ends))? => {
                joined
            }
            _ => {
                let Some((loops, joined)) = self.join((pieces, lex), (start, set), machine, slicer, work)? else {
                    return Ok(None);
                };
                self.places.last.insert((pieces, lex), loops);
                let has_them = self.has_loops((start, set), (loops, &joined), machine, (work, &mut ends))?;
                debug_assert!(has_them, "they were found here");
                joined
            }
        };
        work.add(PLACE_WORK)?;
        if !lead_on(machine, &joined.stuck, set)? {
            return Ok(None);
        }
        ends.sort_unstable();
        let mut visit =
            Visit { place, behind: SmallVec::new(), terms: SmallVec::from_slice(&[joined.inside]), depth: 0 };
        let mut rests: SmallVec<[PiecesId; 16]> = SmallVec::new();
        for same in ends.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            rests.clear();
            rests.extend(same.iter().map(|&(.., rest)| rest));
            visit.behind.push((self.places.pieces.union(&mut rests), same[0].1, same[0].0));
        }
        Ok(Some((visit, joined.pieces_len)))
    }

    /// Whether these lexemes, and no others of them, lead back to a place. Finds out where the others lead.
    fn has_loops(
        &self,
        (start, set): (LexStateId, SetId),
        (loops, joined): (LoopsId, &Joined),
        machine: &mut Machine,
        (work, ends): (&mut Work, &mut Ends),
    ) -> Result<bool, Fault> {
        ends.clear();
        work.add(self.places.loops.get(loops).len() as u64 + joined.ends.len() as u64)?;
        for &ended in self.places.loops.get(loops) {
            if !matches!(after(machine, set, ended, false)?, After::Set(next, behind) if (next, behind) == (set, start))
            {
                return Ok(false);
            }
        }
        for &(ended, rest) in &joined.ends {
            match after(machine, set, ended, false)? {
                After::Nothing => {}
                After::Set(next, behind) if (next, behind) != (set, start) => ends.push((next, behind, rest)),
                After::Set(..) | After::Ask => return Ok(false),
            }
        }
        Ok(true)
    }

    /// What pieces do in a lexer state, with the lexemes that lead from a place back to it. `None` if a walk is to take the place of
    /// their terms.
    fn join(
        &mut self,
        (pieces, lex): (PiecesId, LexStateId),
        (start, set): (LexStateId, SetId),
        machine: &mut Machine,
        slicer: &Slicer,
        work: &mut Work,
    ) -> Result<Option<(LoopsId, Arc<Joined>)>, Fault> {
        let mut agenda = self.places.pieces.get(pieces).to_vec();
        let mut seen: FxHashSet<PieceId> = agenda.iter().copied().collect();
        let mut join = Join::default();
        let mut is_loop: FxHashMap<Guarded<LexemeSetId>, bool> = FxHashMap::default();
        while let Some(piece) = agenda.pop() {
            work.add(PLACE_WORK)?;
            let is_long = seen.len() > PLACES_MAX || work.done() > WALKS_MAX * slicer.nodes_len() as u64;
            let of_piece = if is_long { None } else { self.of_piece((piece, lex, set), machine, slicer, work)? };
            let Some(of_piece) = of_piece else { return Ok(None) };
            for id in of_piece {
                let term = &self.terms[id];
                debug_assert!(term.late.is_empty(), "only what is recorded may leave out its text");
                work.add(term.ends.len() as u64)?;
                join.stuck.extend(&*term.stuck);
                if !term.inside.is_empty() {
                    join.inside.push(id);
                }
                for &(ended, rest) in &term.ends {
                    let is_loop = match is_loop.entry(ended) {
                        Entry::Occupied(known) => *known.get(),
                        Entry::Vacant(new) => *new.insert(match after(machine, set, ended, false)? {
                            After::Ask => return Ok(None),
                            After::Nothing => false,
                            After::Set(next, behind) => (next, behind) == (set, start),
                        }),
                    };
                    match is_loop {
                        true if seen.insert(rest) => agenda.push(rest),
                        true => {}
                        false => join.end(ended, self.places.pieces.intern(&[rest])),
                    }
                }
            }
        }
        let mut loops: Vec<_> = is_loop.into_iter().filter_map(|(ended, is_loop)| is_loop.then_some(ended)).collect();
        loops.sort_unstable();
        let loops = self.places.loops.intern(&loops);
        let key = (pieces, lex, loops);
        // Another set may have had the same, and the last one others.
        if let Some(known) = self.places.joined.get(&key) {
            return Ok(Some((loops, known.clone())));
        }
        let joined = Arc::new(join.finish(seen.len(), &mut self.places));
        self.places.joined.insert(key, joined.clone());
        Ok(Some((loops, joined)))
    }

    /// The terms of a piece in a lexer state. `None` if a walk is to take their place.
    pub(super) fn of_piece(
        &mut self,
        (piece, lex, set): (PieceId, LexStateId, SetId),
        machine: &mut Machine,
        slicer: &Slicer,
        work: &mut Work,
    ) -> Result<Option<TermIds>, Fault> {
        // Where texts are recorded, walks are dear, too; where the longest lexeme counts, few nodes end one.
        if machine.may_remember()
            && machine.cfg.mode == LexerMode::Exact
            && let Err(dear) = self.of_state(slicer, (piece, lex), &mut machine.lexer, work)?
            && (dear.times <= DEAR_TIMES || goes_on_alike(machine, set, dear)?)
        {
            return Ok(None);
        }
        self.of_dear_state(slicer, (piece, lex), &mut machine.lexer, work).map(Some)
    }
}

/// What is being joined.
#[derive(Default, Debug)]
struct Join {
    inside: Vec<TermId>,
    stuck: Vec<LexStateId>,
    /// In the order in which they were met.
    ends: Vec<(Guarded<LexemeSetId>, SmallVec<[PiecesId; 4]>)>,
    numbers: FxHashMap<Guarded<LexemeSetId>, usize>,
}

impl Join {
    fn end(&mut self, ended: Guarded<LexemeSetId>, rest: PiecesId) {
        let number = *self.numbers.entry(ended).or_insert(self.ends.len());
        if number == self.ends.len() {
            self.ends.push((ended, SmallVec::new()));
        }
        self.ends[number].1.push(rest);
    }

    fn finish(mut self, pieces_len: usize, places: &mut Places) -> Joined {
        self.stuck.sort_unstable();
        self.stuck.dedup();
        self.inside.sort_unstable();
        self.inside.dedup();
        let inside = places.terms.intern(&self.inside);
        let ends = self.ends.into_iter().map(|(ended, mut rests)| (ended, places.pieces.union(&mut rests)));
        let joined = Joined { inside, ends: ends.collect(), stuck: self.stuck.into(), pieces_len };
        let lists = size_of_val(&*joined.ends) + size_of_val(&*joined.stuck);
        places.bytes += size_of::<(PiecesId, LexStateId, LoopsId, Joined)>() + lists;
        joined
    }
}

/// Whether most of what lexemes go on with in a state may also follow when they end there. Then most tokens can be split at each
/// of their bytes, which a walk that joins threads does once, and terms anew for what is left behind each end.
fn goes_on_alike(machine: &mut Machine, set: SetId, Dear { state, ended, .. }: Dear) -> Result<bool, Fault> {
    Ok(match after(machine, set, (Guard::NONE, ended), true)? {
        After::Nothing => false,
        After::Ask => true,
        After::Set(_, start) => {
            let (inside, behind) = (machine.lexer.row(state)?.live, machine.lexer.row(start)?.live);
            inside.intersect(&behind).len() > inside.len() / ALIKE_SHARE
        }
    })
}
