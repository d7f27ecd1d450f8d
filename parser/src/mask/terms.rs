//! Term masks: what tokens do inside the lexemes of one lexer state, whatever the Earley set.
//!
//! A *piece* is a part of the trie: the whole of it, or the nodes that are left of tokens behind a lexeme's end. The
//! *term* of a piece and a lexer state says which tokens stay inside lexemes all the way, and for each set of lexemes
//! that can end on the way the piece that is left behind that end. So a token that crosses the ends of three lexemes is
//! met three times, each time with all others that do the same, and what follows an end is asked of the sets once for
//! all of them. Terms know no sets: the next value of an array, the next name of an object have the same ones.

mod beside;
mod bounded;
mod completions;
mod covered;
mod draft;
mod home;
mod literals;
mod runs;

use std::sync::Arc;

use larkspur_grammar::{IndexVec, LexerMode, define_id};
use larkspur_toktrie::{ROOT, TokenId, mask};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use super::pieces::{ALL, Piece, PieceId, PieceRef};
use super::places::Places;
use super::shared::{JointTerm, LexemeKey, LexemeTerm, SharedTerms};
use super::tokens::{Tokens, gather, taken};
use super::work::Work;
use crate::cfg::LexemeId;
use crate::error::Fault;
use crate::growing::GrowingMap;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::split::{Entry, Split};
use crate::lexer::states::{LexStateId, LexemeSetId, Lexer, NO_LEXEMES};
use crate::shortcut::Shortcuts;
use crate::slicer::{Contained, Decided, NARROW, PieceNode, ReadBefore, Slicer};
use beside::{Besides, View, WIDE};
use completions::Completions;
use draft::Draft;
use literals::LiteralTerm;

define_id! {
    /// What the tokens of a piece do in a lexer state.
    pub(super) struct TermId = "e";
}

/// The terms of a state; most states have few.
pub(super) type TermIds = SmallVec<[TermId; 4]>;

/// Lexemes may end at this part of all nodes in a term that is made without a thought, one in so many. Names before operators
/// end at some twenty times as many.
const ENDS_SHARE: usize = 64;

/// So many times something else takes the place of a dear term, in all grammars: a walk takes a fifth of the time.
pub(super) const DEAR_TIMES: u32 = 4;

/// What the term of a lexeme counts besides, as `Limits::lexer_work_max` counts it: rows of its states, slices that it takes;
/// and that of a piece of the trie, of which most are small, or of a lexeme that begins with few bytes, which takes none.
const LEXEME_WORK: u64 = 5_000;
const PIECE_WORK: u64 = 250;

/// Of pieces of so many nodes those are looked for that a state can enter.
const MANY_NODES: usize = 64;

/// What the tokens of a piece do in a lexer state.
#[derive(Debug)]
pub(super) struct Term {
    /// Tokens that end inside lexemes, or where one has just ended.
    pub inside: Arc<Tokens>,
    /// Lexemes that can end on the way with what may then follow, and what is left of the tokens behind their end.
    pub ends: Box<[(Guarded<LexemeSetId>, PieceId)]>,
    /// Nodes at which a lexeme matches that may leave out its text, which is taken to be none of those.
    pub late: Arc<[PieceNode]>,
    /// The lexeme, if it is of one only.
    pub lexeme: Option<LexemeId>,
    /// States on the way that may lead nowhere: the term holds where they lead on.
    pub stuck: Box<[LexStateId]>,
}

impl Term {
    fn bytes(&self) -> usize {
        size_of::<Term>()
            + self.inside.bytes()
            + size_of_val(&*self.ends)
            + size_of_val(&*self.late)
            + size_of_val(&*self.stuck)
    }
}

/// Terms made so far. They hold for one grammar and epoch, since lexer states do.
#[derive(Debug)]
pub(super) struct Terms {
    /// Those of all grammars.
    shared: Arc<SharedTerms>,
    /// All pieces but [`ALL`].
    pieces: GrowingMap<PieceId, Arc<Piece>>,
    piece_ids: FxHashMap<Arc<[PieceNode]>, PieceId>,
    pub(super) terms: IndexVec<TermId, Term>,
    /// Places whose terms are known.
    pub places: Places,
    /// Terms of states: one, or those of its lexemes if each goes its own way.
    of_states: GrowingMap<(PieceId, LexStateId), TermIds>,
    /// Terms of states that are looked at as a whole.
    of_wholes: GrowingMap<(PieceId, LexStateId), TermId>,
    /// Terms of lexemes, by whether no byte of them was read.
    of_lexemes: GrowingMap<(PieceId, Entry, bool), TermId>,
    literals: GrowingMap<(PieceId, Entry), LiteralTerm>,
    /// Tokens of `literals`, one literal's after the other's.
    literal_tokens: Vec<TokenId>,
    /// Which slices lexer states take.
    pub contained: Contained,
    /// The slices that pieces are all of.
    slice_of: FxHashMap<PieceId, usize>,
    besides: Besides,
    /// Units that it takes to match what is left of [bounded](bounded) texts.
    completions: Completions,
    bytes: usize,
    /// The states at the nodes above the one that is looked at. Kept for its room.
    states: Vec<LexStateId>,
    /// Terms that were not made, with the lexeme by which other grammars know what is dear in them.
    dear: FxHashMap<(PieceId, LexStateId), (Dear, Option<LexemeKey>)>,
    /// The lexeme whose term was given up last.
    given_up: Option<LexemeKey>,
}

/// Why a term was not made: lexemes end in it at too many nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dear {
    /// A state in which they do.
    pub state: LexStateId,
    pub ended: LexemeSetId,
    /// How often it was asked for; in all grammars, if it is the term of a lexeme that others may have.
    pub times: u32,
}

impl Terms {
    /// None yet.
    pub fn new(shared: Arc<SharedTerms>) -> Self {
        Self {
            shared,
            pieces: GrowingMap::default(),
            piece_ids: FxHashMap::default(),
            terms: IndexVec::new(),
            places: Places::default(),
            of_states: GrowingMap::default(),
            of_wholes: GrowingMap::default(),
            of_lexemes: GrowingMap::default(),
            literals: GrowingMap::default(),
            literal_tokens: Vec::new(),
            contained: Contained::default(),
            slice_of: FxHashMap::default(),
            besides: Besides::default(),
            completions: Completions::default(),
            bytes: 0,
            states: Vec::new(),
            dear: FxHashMap::default(),
            given_up: None,
        }
    }

    /// The terms of all grammars.
    pub fn shared(&self) -> &Arc<SharedTerms> {
        &self.shared
    }

    /// Whether masks are made with a shortcut.
    #[inline]
    pub fn uses(&self, shortcut: Shortcuts) -> bool {
        !self.shared.without.contains(shortcut)
    }

    /// Drops all terms and pieces. What slices take is small, and stays.
    pub fn clear(&mut self) {
        *self = Self { contained: std::mem::take(&mut self.contained), ..Self::new(self.shared.clone()) };
    }

    /// Bytes of all terms and pieces, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes + self.places.bytes() + self.completions.bytes()
    }

    pub fn get(&self, id: TermId) -> &Term {
        &self.terms[id]
    }

    /// A piece by its number.
    pub fn piece(&self, id: PieceId) -> PieceRef {
        if id == ALL { PieceRef::All } else { PieceRef::Part(self.pieces[&id].clone()) }
    }

    /// The nodes of a piece, ascending.
    pub fn piece_nodes(&self, slicer: &Slicer, id: PieceId) -> Arc<[PieceNode]> {
        self.piece(id).nodes(slicer)
    }

    /// What the tokens of a piece do in a lexer state: all that these terms say. The nodes visited for that are added to
    /// `work`. What is [`Dear`] is not made: lexemes may end at a part of all nodes, one in [`ENDS_SHARE`].
    ///
    /// Cost: a look-up, or a walk over the piece. Errors: as [`Lexer::row`]; `mask_work_max`.
    pub fn of_state(
        &mut self,
        slicer: &Slicer,
        place: (PieceId, LexStateId),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Result<TermIds, Dear>, Fault> {
        if let Some(known) = self.of_states.get(&place) {
            return Ok(Ok(known.clone()));
        }
        if let Some((dear, lexeme)) = self.dear.get_mut(&place) {
            dear.times = lexeme.map_or(dear.times.saturating_add(1), |lexeme| self.shared.asked_dear(lexeme));
            return Ok(Err(*dear));
        }
        work.ends_max = (slicer.nodes_len() / ENDS_SHARE) as u64;
        self.given_up = None;
        let made = self.of_new_state(slicer, place, lexer, work);
        work.ends_max = u64::MAX;
        let Err(Fault::Dear { state, ended }) = made else { return made.map(Ok) };
        let lexeme = self.given_up;
        let times = lexeme.map_or(1, |lexeme| self.shared.asked_dear(lexeme));
        // Made for all grammars it is dear once, and for each grammar the other.
        if times <= DEAR_TIMES
            && let Some(term) = self.of_settled(slicer, place, lexer, work)?
        {
            return Ok(Ok(self.note_state(place, smallvec![term])));
        }
        let dear = Dear { state, ended, times };
        self.bytes += size_of::<((PieceId, LexStateId), (Dear, Option<LexemeKey>))>();
        self.dear.insert(place, (dear, lexeme));
        Ok(Err(dear))
    }

    /// The same, also if it is dear.
    pub fn of_dear_state(
        &mut self,
        slicer: &Slicer,
        place: (PieceId, LexStateId),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<TermIds, Fault> {
        match self.of_states.get(&place) {
            Some(known) => Ok(known.clone()),
            None => self.of_new_state(slicer, place, lexer, work),
        }
    }

    fn of_new_state(
        &mut self,
        slicer: &Slicer,
        (piece, lex): (PieceId, LexStateId),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<TermIds, Fault> {
        let mut terms = TermIds::new();
        match lexer.split(lex).filter(|_| self.uses(Shortcuts::SPLIT)) {
            None => terms.push(self.of_joint(slicer, (piece, lex), lexer, work)?),
            Some(Split { regexes, wholes, literals, is_fresh }) => {
                for entry in wholes {
                    let single = lexer.single(entry, is_fresh)?;
                    terms.push(self.of_whole(slicer, (piece, single), lexer, work)?);
                }
                self.of_regexes(slicer, (piece, regexes, is_fresh), lexer, work, &mut terms)?;
                if !literals.is_empty() {
                    let term = self.of_literals(slicer, (piece, &literals), is_fresh, lexer, work)?;
                    terms.push(self.push(term));
                }
            }
        }
        Ok(self.note_state((piece, lex), terms))
    }

    fn note_state(&mut self, place: (PieceId, LexStateId), terms: TermIds) -> TermIds {
        let spilled = if terms.spilled() { terms.capacity() * size_of::<TermId>() } else { 0 };
        self.bytes += size_of::<((PieceId, LexStateId), TermIds)>() + spilled;
        self.of_states.insert(place, terms.clone());
        terms
    }

    /// The term of a state in which lexemes end at many nodes, though only before a few bytes in this grammar: of a word that no
    /// letter may follow but its own. `None` if they are many even so.
    fn of_settled(
        &mut self,
        slicer: &Slicer,
        (piece, lex): (PieceId, LexStateId),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<TermId>, Fault> {
        let (mut slices, mut parts, mut near) = (Vec::new(), Vec::new(), Vec::new());
        if !lexer.knows_after() || lexer.state(lex).records {
            return Ok(None);
        }
        let nodes = match piece {
            ALL => self.roots(slicer, lex, lexer, work, (&mut slices, &mut parts, &mut near))?,
            _ => self.piece_nodes(slicer, piece),
        };
        if !near.is_empty() {
            return Ok(None);
        }
        let view = View { piece, slices: &slices, parts: &parts, nodes: &nodes, is_whole: true };
        let ends_max = (slicer.nodes_len() / ENDS_SHARE) as u64;
        let mut draft = Draft::settled(ends_max);
        let walked = self.walk_nodes(&mut draft, slicer, view, lex, lexer);
        draft.count(work)?;
        match walked {
            Err(Fault::Dear { .. }) => return Ok(None),
            walked => walked?,
        }
        let term = self.finish(slicer, taken(slicer, view.slices, view.parts), draft);
        Ok(Some(self.push(term)))
    }

    fn push(&mut self, term: Term) -> TermId {
        self.bytes += term.bytes();
        self.terms.push(term)
    }

    /// The term of a lexeme, of which this is left.
    fn of_lexeme(
        &mut self,
        slicer: &Slicer,
        (piece, entry, is_fresh): (PieceId, Entry, bool),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<TermId, Fault> {
        let key = match self.known_lexeme((piece, entry, is_fresh), lexer) {
            Ok(known) => return Ok(known),
            Err(key) => key,
        };
        let made = self.of_new_lexeme(slicer, (piece, entry, is_fresh), lexer, work);
        if let Err(Fault::Dear { .. }) = made {
            self.given_up = key;
        }
        let id = made?;
        self.terms[id].lexeme = Some(entry.0);
        if let Some(key) = key.filter(|key| !key.is_greedy || !lexer.may_be_cut(entry.0)) {
            self.share(key, id);
        }
        self.note_lexeme((piece, entry, is_fresh), id);
        Ok(id)
    }

    /// The term of a lexeme if it was made, also by another grammar; else how other grammars know it, if they can.
    fn known_lexeme(
        &mut self,
        (piece, entry, is_fresh): (PieceId, Entry, bool),
        lexer: &mut Lexer,
    ) -> Result<TermId, Option<LexemeKey>> {
        if let Some(&known) = self.of_lexemes.get(&(piece, entry, is_fresh)) {
            return Ok(known);
        }
        let key = key_of((piece, entry, is_fresh), lexer).ok_or(None)?;
        let shared = self.shared.get(&key).ok_or(Some(key))?;
        let ended = lexer.lexeme_set(&[entry.0]);
        let end = shared.end.as_ref().map(|&(id, ref piece)| {
            self.know_piece(id, piece);
            ((Guard::NONE, ended), id)
        });
        let (inside, late) = (shared.inside.clone(), shared.late.clone());
        let lexeme = Some(entry.0);
        let id = self.push(Term { inside, ends: end.into_iter().collect(), late, lexeme, stuck: [].into() });
        self.note_lexeme((piece, entry, is_fresh), id);
        Ok(id)
    }

    fn note_lexeme(&mut self, place: (PieceId, Entry, bool), id: TermId) {
        self.bytes += size_of::<((PieceId, Entry, bool), TermId)>();
        self.of_lexemes.insert(place, id);
    }

    /// The term of a lexeme of which no grammar has made it.
    fn of_new_lexeme(
        &mut self,
        slicer: &Slicer,
        (piece, entry, is_fresh): (PieceId, Entry, bool),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<TermId, Fault> {
        let may_be_long = piece == ALL && lexer.first_of(&entry).len() > NARROW;
        lexer.work += if may_be_long { LEXEME_WORK } else { PIECE_WORK };
        if is_greedy(entry, lexer) {
            let single = lexer.single(entry, is_fresh)?;
            return self.of_whole(slicer, (piece, single), lexer, work);
        }
        if piece == ALL
            && self.uses(Shortcuts::RUNS)
            && let Some(term) = self.of_runs(slicer, (entry, is_fresh), lexer, work)?
        {
            return Ok(self.push(term));
        }
        if piece == ALL
            && self.uses(Shortcuts::BOUNDED)
            && let Some(term) = self.of_bounded(slicer, (entry, is_fresh), lexer, work)?
        {
            return Ok(self.push(term));
        }
        if piece == ALL
            && self.uses(Shortcuts::BESIDE)
            && let Some(term) = self.beside_wider(slicer, (entry, is_fresh), lexer, work)?
        {
            return Ok(self.push(term));
        }
        let single = lexer.single(entry, is_fresh)?;
        let before = (work.visited(), lexer.work);
        let id = self.of_whole(slicer, (piece, single), lexer, work)?;
        self.note_runs(slicer, entry, work.visited() - before.0, lexer);
        self.completions.missed(lexer.work - before.1);
        Ok(id)
    }

    /// Gives the term of a lexeme to all grammars.
    fn share(&mut self, key: LexemeKey, id: TermId) {
        let Term { inside, ends, late, stuck, .. } = &self.terms[id];
        let end = match **ends {
            [] => None,
            [(_, id)] => Some((id, self.piece(id))),
            _ => unreachable!("one lexeme ends in one way"),
        };
        debug_assert!(stuck.is_empty(), "a lexeme that splits is not stuck");
        self.terms[id].inside = self.shared.insert(key, LexemeTerm::new(inside.clone(), end, late.clone()));
    }

    /// The term of a state whose lexemes get in each other's way; other grammars may have made it.
    fn of_joint(
        &mut self,
        slicer: &Slicer,
        (piece, lex): (PieceId, LexStateId),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<TermId, Fault> {
        let is_known = self.of_wholes.contains_key(&(piece, lex));
        let Some((key, lexemes)) = lexer.joint(lex).filter(|_| !is_known) else {
            return self.of_whole(slicer, (piece, lex), lexer, work);
        };
        if let Some(shared) = self.shared.joint(piece, &key) {
            let mut ends = Vec::with_capacity(shared.ends.len());
            for (ended, id, part) in &shared.ends {
                self.know_piece(*id, part);
                ends.push(((Guard::NONE, lexer.lexemes_of(*ended, &lexemes)), *id));
            }
            let (inside, late) = (shared.inside.clone(), shared.late.clone());
            let id = self.push(Term { inside, ends: ends.into(), late, lexeme: None, stuck: [].into() });
            self.of_wholes.insert((piece, lex), id);
            return Ok(id);
        }
        let id = self.of_whole(slicer, (piece, lex), lexer, work)?;
        let Term { inside, ends, late, stuck, .. } = &self.terms[id];
        let is_same = stuck.is_empty() && !lexemes.iter().any(|&lexeme| lexer.may_be_cut(lexeme));
        if is_same && ends.iter().all(|((guard, _), _)| *guard == Guard::NONE) {
            let end = |&((_, ended), id): &_| (lexer.places_of(ended, &lexemes), id, self.piece(id));
            let term = JointTerm { inside: inside.clone(), ends: ends.iter().map(end).collect(), late: late.clone() };
            self.shared.insert_joint((piece, key), term);
        }
        Ok(id)
    }

    /// Notes a piece that other grammars know.
    fn know_piece(&mut self, id: PieceId, piece: &PieceRef) {
        if let PieceRef::Part(piece) = piece
            && self.pieces.insert(id, piece.clone()).is_none()
        {
            self.bytes += size_of::<(PieceId, Arc<Piece>)>() + piece.bytes();
        }
    }

    /// The term of a state as a whole.
    fn of_whole(
        &mut self,
        slicer: &Slicer,
        (piece, lex): (PieceId, LexStateId),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<TermId, Fault> {
        if let Some(&known) = self.of_wholes.get(&(piece, lex)) {
            return Ok(known);
        }
        if piece == ALL
            && self.uses(Shortcuts::HOMES)
            && !self.contained.soon_takes_first(slicer, lexer, lex)?
            && let Some(id) = self.of_home(slicer, lex, lexer, work)?
        {
            return Ok(id);
        }
        let (mut slices, mut parts, mut near) = (Vec::new(), Vec::new(), Vec::new());
        let (nodes, is_whole) = match piece {
            ALL => (self.roots(slicer, lex, lexer, work, (&mut slices, &mut parts, &mut near))?, true),
            _ => {
                if let Some(&slice) = self.slice_of.get(&piece) {
                    self.decide(slicer, (slice, ReadBefore::Nothing), lex, lexer, &mut parts)?;
                }
                match self.entered(piece, lex, lexer)? {
                    Some(entered) => (entered.into(), false),
                    None => (self.piece_nodes(slicer, piece), true),
                }
            }
        };
        let view = View { piece, slices: &slices, parts: &parts, nodes: &nodes, is_whole };
        let id = match &*near {
            [] => {
                let (term, is_wide) = self.make(slicer, view, lex, lexer, work)?;
                let id = self.push(term);
                if is_wide {
                    self.besides.note(piece, lex, id);
                }
                id
            }
            near => {
                let term = self.make_with(slicer, view, near, lex, lexer, work)?;
                self.push(term)
            }
        };
        self.of_wholes.insert((piece, lex), id);
        Ok(id)
    }

    /// A term of which those of some tries are known.
    fn make_with(
        &mut self,
        slicer: &Slicer,
        view: View<'_>,
        known: &[TermId],
        lex: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Term, Fault> {
        let mut draft = Draft::new(work);
        self.walk_nodes(&mut draft, slicer, view, lex, lexer)?;
        draft.count(work)?;
        let many = taken(slicer, view.slices, view.parts).into_iter().collect();
        Ok(self.merge(slicer, draft, many, known))
    }

    /// A term of what was found, of masks of tokens that stay inside, and of all that other terms say.
    fn merge(&mut self, slicer: &Slicer, mut draft: Draft, mut many: Vec<Box<[u32]>>, known: &[TermId]) -> Term {
        for &id in known {
            let Term { inside, ends, late, stuck, .. } = &self.terms[id];
            match &**inside {
                Tokens::Few(tokens) => draft.tokens.extend(tokens),
                Tokens::Many(words) => many.push(words.clone()),
            }
            for &(ended, piece) in ends {
                draft.end(ended).extend(&*self.piece_nodes(slicer, piece));
            }
            draft.late.extend(&**late);
            draft.stuck.extend(stuck);
        }
        draft.stuck.sort_unstable();
        draft.stuck.dedup();
        let taken = many.pop().map(|mut words| {
            many.iter().for_each(|other| mask::or_assign(&mut words, other));
            words
        });
        self.finish(slicer, taken, draft)
    }

    /// A term, and whether it takes a long walk to make it.
    fn make(
        &mut self,
        slicer: &Slicer,
        view: View<'_>,
        lex: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<(Term, bool), Fault> {
        if view.parts.is_empty()
            && view.is_whole
            && self.uses(Shortcuts::BESIDE)
            && let Some(term) = self.beside(slicer, view, lex, lexer, work)?
        {
            return Ok((term, true));
        }
        let mut parts = view.parts.to_vec();
        if let PieceRef::Part(piece) = self.piece(view.piece) {
            // What is beside another state takes less than the parts that are left.
            for &slice in piece.behind_space(slicer) {
                self.decide(slicer, (slice, ReadBefore::Space), lex, lexer, &mut parts)?;
            }
        }
        let view = View { parts: &parts, ..view };
        let mut draft = Draft::new(work);
        self.walk_nodes(&mut draft, slicer, view, lex, lexer)?;
        draft.count(work)?;
        let is_wide = draft.visited >= WIDE;
        Ok((self.finish(slicer, taken(slicer, view.slices, view.parts), draft), is_wide))
    }

    /// The term of what was found and the tokens that were taken without a look at each.
    fn finish(&mut self, slicer: &Slicer, taken: Option<Box<[u32]>>, draft: Draft) -> Term {
        let inside = gather(slicer, &draft.tokens, taken);
        let ends = draft.ends.into_iter().map(|(ended, nodes)| (ended, self.piece_of(slicer, nodes))).collect();
        let mut late = draft.late;
        late.sort_unstable();
        Term { inside: Arc::new(inside), ends, late: nodes_of(late), lexeme: None, stuck: draft.stuck.into() }
    }

    /// The nodes of a piece that a state can enter, if they are few of many. Nothing ends in the state.
    fn entered(&self, piece: PieceId, lex: LexStateId, lexer: &mut Lexer) -> Result<Option<Vec<PieceNode>>, Fault> {
        let PieceRef::Part(piece) = self.piece(piece) else { return Ok(None) };
        if piece.nodes.len() < MANY_NODES || lexer.state(lex).ends_before_more != NO_LEXEMES {
            return Ok(None);
        }
        let entered = lexer.row(lex)?.live.iter().map(|byte| piece.entered_by(byte));
        let len: usize = entered.clone().map(<[PieceNode]>::len).sum();
        if len > piece.nodes.len() / 2 {
            return Ok(None);
        }
        let mut nodes: Vec<PieceNode> = entered.flatten().copied().collect();
        nodes.sort_unstable();
        Ok(Some(nodes))
    }

    /// The nodes below the roots of the tries, but for those of slices that a state takes, and those whose tokens are too
    /// short for all that the state counts, of which the terms are given: of another state, which counts less and so stands
    /// for many. Of slices of which it takes or refuses some parts, these.
    fn roots(
        &mut self,
        slicer: &Slicer,
        lex: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
        (slices, parts, near): (&mut Vec<usize>, &mut Vec<(usize, Decided)>, &mut Vec<TermId>),
    ) -> Result<Arc<[PieceNode]>, Fault> {
        let mut nodes = Vec::new();
        for (index, (trie, root)) in slicer.rooted_tries().enumerate() {
            if index < slicer.slices.len() && self.contained.ask(slicer, index, lexer, lex)? {
                slices.push(index);
                continue;
            }
            let children = trie.children(ROOT).map(|child| root + child);
            let nearer = lexer.clamped_to(lex, slicer.horizons[index])?;
            if nearer == lex {
                self.decide(slicer, (index, ReadBefore::Nothing), lex, lexer, parts)?;
                nodes.extend(children);
            } else {
                let piece = self.piece_of(slicer, children.collect());
                self.slice_of.insert(piece, index);
                near.push(self.of_whole(slicer, (piece, nearer), lexer, work)?);
            }
        }
        Ok(nodes.into())
    }

    /// Adds what a state does with the parts of a trie, if that is a slice's and there is anything to say.
    fn decide(
        &mut self,
        slicer: &Slicer,
        (index, before): (usize, ReadBefore),
        lex: LexStateId,
        lexer: &mut Lexer,
        parts: &mut Vec<(usize, Decided)>,
    ) -> Result<(), Fault> {
        if index < slicer.slices.len() && self.uses(Shortcuts::PARTS) && !is_narrow(lex, lexer)? {
            let decided = self.contained.parts(slicer, (index, before), lexer, lex)?;
            parts.extend((decided != Decided::default()).then_some((index, decided)));
        }
        Ok(())
    }

    fn piece_of(&mut self, slicer: &Slicer, mut nodes: Vec<PieceNode>) -> PieceId {
        // A few runs, each sorted.
        nodes.sort();
        nodes.dedup();
        if *nodes == *slicer.roots {
            return ALL;
        }
        if let Some(&known) = self.piece_ids.get(&*nodes) {
            return known;
        }
        let (id, piece) = self.shared.piece(nodes.into(), slicer);
        self.bytes += piece.bytes() + 2 * size_of::<(Arc<Piece>, PieceId)>();
        self.piece_ids.insert(piece.nodes.clone(), id);
        self.pieces.insert(id, piece);
        id
    }
}

/// What the term of a lexeme is shared by, of which this is left; `None` if it leaves out texts of the grammar's.
fn key_of((piece, entry, is_fresh): (PieceId, Entry, bool), lexer: &mut Lexer) -> Option<LexemeKey> {
    let expr = lexer.plain(entry.1)?;
    let (is_late, is_last) = (lexer.is_known_late(entry.0), lexer.is_last(entry.0));
    Some(LexemeKey { piece, expr, is_fresh, is_late, is_greedy: is_greedy(entry, lexer), is_last })
}

/// Whether a lexeme ends only where it does not go on, and may go on where it could end.
fn is_greedy((_, rest): Entry, lexer: &mut Lexer) -> bool {
    lexer.mode() == LexerMode::Longest && !lexer.plain(rest).is_some_and(|expr| lexer.ends_itself(expr))
}

/// Whether a state goes on with few bytes, as those of words and of most formats do. These are walked faster than it takes to
/// find out which parts they take, or what they resemble.
fn is_narrow(lex: LexStateId, lexer: &mut Lexer) -> Result<bool, Fault> {
    Ok(lexer.row(lex)?.live.len() <= NARROW)
}

/// Nodes, most often none, which all share.
fn nodes_of(nodes: Vec<PieceNode>) -> Arc<[PieceNode]> {
    if nodes.is_empty() { Arc::default() } else { nodes.into() }
}
