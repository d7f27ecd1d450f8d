//! From a place in the text to the token mask: the memo of whole masks, terms, walks, token letters, EOS. `docs/mask.md`
//! tells how they go together.

mod after;
mod compose;
mod lists;
mod pieces;
mod places;
pub(crate) mod shared;
mod store;
mod terms;
mod tokens;
mod touched;
mod trace;
mod units;
mod walkers;
mod wide;
mod work;

use std::ops::Add;
use std::sync::Arc;

use larkspur_toktrie::{MaskOrigin, ROOT, TokenMask, TokenTrie, Vocabulary};

use crate::cfg::TokenLetterId;
use crate::error::Fault;
use crate::growing::{GrowingMap, HashedMap};
use crate::machine::{Contents, Cursor, Machine};
use crate::shortcut::Shortcuts;
use crate::slicer::{Alphabet, Decided, Lengths, Parts, Slicer};
use compose::Composed;
use shared::SharedTerms;
pub(crate) use store::SharedMask;
use store::{Base, MaskStore, StoredId};
use terms::Terms;
use touched::Touched;
use trace::{Agenda, Groups, Trace};
use walkers::{Depth, EagerWalker, Part, RecordingWalker, Walker};
use work::Work;

/// Masks made so far, and what they are made of.
#[derive(Debug)]
pub(crate) struct MaskCache {
    /// Masks of places.
    mask_of: GrowingMap<Cursor, StoredId>,
    /// The same for places where the text of a lexeme is recorded, by their threads with that text.
    recorded_mask_of: HashedMap<Contents, StoredId>,
    /// Bytes of texts in `recorded_mask_of`.
    recorded_bytes: usize,
    /// Masks by what they are made of: terms, token letters, and whether the text may end.
    composed: HashedMap<Composition, StoredId>,
    store: MaskStore,
    terms: Terms,
    bytes_max: usize,
    agenda: Agenda,
    /// The words that were written in the mask that is being made. Kept for its room.
    touched: Touched,
    /// A mask of which only the number is wanted.
    scratch: Option<TokenMask>,
    /// Work on the mask that is being made.
    work: Work,
    /// Whether the mask that is being made depends on texts that one who looks ahead has forgotten.
    is_told: bool,
    stats: MaskStats,
}

/// What a mask is made of.
#[derive(PartialEq, Eq, Hash, Debug)]
struct Composition {
    groups: Groups,
    letters: Vec<TokenLetterId>,
    accepts: bool,
}

/// What computing masks has cost so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MaskStats {
    /// Masks found in the memo.
    pub hits: u64,
    /// Masks computed.
    pub misses: u64,
    /// Trie nodes visited for them.
    pub nodes_visited: u64,
    /// Of the masks computed, those whose place has a trace, by how many lexeme ends deep it looks; the last has all that look
    /// deeper, too.
    pub traces: [TraceStats; TRACE_DEPTHS],
}

/// Depths of traces that are told apart.
pub const TRACE_DEPTHS: usize = 6;

/// Traces of places that were not in the memo.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceStats {
    /// All of them.
    pub met: u64,
    /// Those whose mask was known, since another place had the same.
    pub known: u64,
}

impl Add for TraceStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self { met: self.met + other.met, known: self.known + other.known }
    }
}

impl Add for MaskStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            nodes_visited: self.nodes_visited + other.nodes_visited,
            traces: std::array::from_fn(|depth| self.traces[depth] + other.traces[depth]),
        }
    }
}

/// In builds with debug assertions one known mask in so many is made again. With a prime number, the masks of texts that repeat
/// take turns.
const CHECKED: u64 = 61;

/// Work for that at most, as `Limits::mask_work_max` counts it.
const CHECK_WORK_MAX: u64 = 4 << 20;

/// A mask that a grammar keeps: equal ids are equal masks, and mean no other mask as long as the process lives. Masks are
/// dropped when their budget (`mask_cache_bytes_max`) is spent, and then have other ids.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MaskId {
    serial: u64,
    number: StoredId,
}

impl MaskId {
    /// Tells the masks that have numbers at a time from all others.
    pub(crate) fn serial(self) -> u64 {
        self.serial
    }
    /// The mask whose words are copies of this.
    pub(crate) fn of(origin: MaskOrigin) -> Self {
        Self { serial: origin.store, number: StoredId(origin.number) }
    }
}

impl MaskCache {
    /// A memo of at most `bytes_max` bytes; what does not hold a single mask switches it off, and each mask is a walk.
    pub fn new(bytes_max: usize, shared: Arc<SharedTerms>) -> Self {
        Self {
            mask_of: GrowingMap::default(),
            recorded_mask_of: HashedMap::default(),
            recorded_bytes: 0,
            composed: HashedMap::default(),
            store: MaskStore::new(!shared.without.contains(Shortcuts::COPIES)),
            terms: Terms::new(shared),
            bytes_max,
            agenda: Agenda::default(),
            touched: Touched::default(),
            scratch: None,
            work: Work::default(),
            is_told: false,
            stats: MaskStats::default(),
        }
    }

    /// An empty one with the same budget, which shares the same terms.
    pub fn another(&self) -> Self {
        Self::new(self.bytes_max, self.terms.shared().clone())
    }

    pub fn stats(&self) -> MaskStats {
        self.stats
    }

    /// Writes the tokens allowed at `cursor`, EOS included. The number of the mask, if it is kept and not empty.
    pub fn mask(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        cursor: Cursor,
        mask: &mut TokenMask,
    ) -> Result<Option<MaskId>, Fault> {
        let ahead = machine.ahead(cursor)?;
        let number = match self.known(machine, ahead, cursor) {
            Some(known) => {
                self.stats.hits += 1;
                self.store.write(known, mask);
                self.check_some(machine, vocabulary, (cursor, ahead), mask);
                Some(known)
            }
            None => self.make_new(machine, vocabulary, slicer, (cursor, ahead), mask)?,
        };
        Ok(number.and_then(|number| self.id_of(number)))
    }

    /// A mask that is kept, for those who have no lock.
    pub fn share(&self, id: MaskId) -> SharedMask {
        self.store.share(id.number)
    }

    /// The number of the mask of the tokens allowed at `cursor`, EOS included; `None` if none is allowed.
    pub fn mask_id(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        cursor: Cursor,
    ) -> Result<Option<MaskId>, Fault> {
        let ahead = machine.ahead(cursor)?;
        let known = self.known(machine, ahead, cursor);
        if let Some(known) = known {
            self.stats.hits += 1;
            if cfg!(debug_assertions) {
                let mut mask = TokenMask::new(vocabulary.len());
                self.store.write(known, &mut mask);
                self.check_some(machine, vocabulary, (cursor, ahead), &mask);
            }
            return Ok(self.id_of(known));
        }
        let mut mask = self.scratch.take().unwrap_or_else(|| TokenMask::new(vocabulary.len()));
        let made = self.make_new(machine, vocabulary, slicer, (cursor, ahead), &mut mask);
        let made = made.map(|made| made.unwrap_or_else(|| self.store.intern(mask.words())));
        self.scratch = Some(mask);
        Ok(self.id_of(made?))
    }

    /// The number of a mask that was made elsewhere; `None` if it is empty.
    pub fn keep(&mut self, mask: &TokenMask) -> Option<MaskId> {
        self.make_room();
        let number = self.store.intern(mask.words());
        self.id_of(number)
    }

    fn id_of(&self, number: StoredId) -> Option<MaskId> {
        (!self.store.is_empty(number)).then_some(MaskId { serial: self.store.serial(), number })
    }

    /// Overwrites a mask with the one that has this number. False if that was dropped, or is of another grammar.
    pub fn write(&self, id: MaskId, mask: &mut TokenMask) -> bool {
        let is_kept = id.serial == self.store.serial() && self.store.has(id.number);
        if is_kept {
            self.store.write(id.number, mask);
        }
        is_kept
    }

    /// Makes a mask that is not known. Its number, if it is kept.
    fn make_new(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<Option<StoredId>, Fault> {
        self.stats.misses += 1;
        self.make_room();
        self.work = Work::up_to(machine.limits.mask_work_max);
        self.is_told = false;
        machine.sets.ahead.is_on = machine.tape.is_on();
        let made = match size_of_val(mask.words()) > self.bytes_max {
            true => self.walked(machine, vocabulary, slicer, (cursor, ahead), mask).map(|()| None),
            false => self.make(machine, vocabulary, slicer, (cursor, ahead), mask).map(Some),
        };
        if let Ok(Some(number)) = made {
            mask.set_origin(self.store.origin(number));
        }
        machine.sets.ahead.is_on = false;
        self.stats.nodes_visited += self.work.visited();
        made
    }

    /// Writes the tokens that can follow and do not run past the first place at which the text is complete. The grammar
    /// records nothing and names no tokens.
    pub fn eager_mask(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        cursor: Cursor,
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        if let Some(&known) = self.mask_of.get(&cursor) {
            self.stats.hits += 1;
            self.store.write(known, mask);
            return Ok(());
        }
        self.stats.misses += 1;
        self.make_room();
        mask.clear();
        let work = Work::up_to(machine.limits.mask_work_max);
        let lists = machine.lists_len();
        let mut eager = EagerWalker::new(Walker::new(machine, work, true));
        let visited = vocabulary.trie().walk(&mut eager, (cursor.word(), false), mask);
        self.stats.nodes_visited += visited;
        let walked = eager.walker.finish(visited).1;
        machine.forget_lists(lists);
        walked?;
        vocabulary.trie().finish_mask(mask);
        if size_of_val(mask.words()) <= self.bytes_max {
            let id = self.store.intern(mask.words());
            self.mask_of.insert(cursor, id);
        }
        Ok(())
    }

    /// In builds with debug assertions, makes one known mask in [`CHECKED`] again, by a walk over the whole trie, and panics if
    /// the two differ. What meets a limit says nothing.
    fn check_some(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        (cursor, ahead): (Cursor, Cursor),
        known: &TokenMask,
    ) {
        if !cfg!(debug_assertions) || !self.stats.hits.is_multiple_of(CHECKED) {
            return;
        }
        let (stats, is_told) = (self.stats, std::mem::take(&mut self.is_told));
        let mut again = TokenMask::new(vocabulary.len());
        self.work = Work::up_to(machine.limits.mask_work_max.min(CHECK_WORK_MAX));
        machine.sets.ahead.is_on = machine.tape.is_on();
        let whole = Part::Below(vocabulary.trie(), ROOT);
        let walked = self
            .walk_ahead(machine, whole, (cursor, ahead), &mut again)
            .and_then(|()| self.finish_walk(machine, vocabulary, (cursor, ahead), &mut again));
        machine.sets.ahead.is_on = false;
        (self.stats, self.is_told) = (stats, is_told);
        assert!(walked.is_err() || known.words() == again.words(), "a known mask is not what a walk says");
    }

    /// The mask of a place, by what stands for it or by itself.
    fn known(&self, machine: &Machine, ahead: Cursor, cursor: Cursor) -> Option<StoredId> {
        if !self.terms.uses(Shortcuts::MEMO) {
            return None;
        }
        let by_place = |place: Cursor| self.mask_of.get(&place.without_text()).copied();
        let by_text = |place: Cursor| match machine.records(place) && !self.recorded_mask_of.is_empty() {
            true => self.recorded_mask_of.get(&machine.contents(place)).copied(),
            false => None,
        };
        let of = |place: Cursor| by_place(place).or_else(|| by_text(place));
        of(ahead).or_else(|| if ahead == cursor { None } else { of(cursor) })
    }

    /// Makes the mask of a place, looking ahead from another one that stands for it.
    fn make(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<StoredId, Fault> {
        let is_followed = machine.tape.is_on() || machine.cfg.has_hidden || !self.terms.uses(Shortcuts::PLACES);
        let trace = match is_followed {
            true => Trace::of(ahead, machine, &mut self.terms, slicer, (&mut self.work, &mut self.agenda))?,
            false => {
                let terms = self.terms.of_place(ahead, machine, slicer, &mut self.work)?;
                terms.map(|(terms, depth)| Trace::plain(self.terms.places.terms(terms), depth))
            }
        };
        let Some(Trace { groups, asks, depends_on_text, depth }) = trace else {
            self.walked(machine, vocabulary, slicer, (cursor, ahead), mask)?;
            let id = self.store.intern(mask.words());
            self.remember(machine, (cursor, ahead), true, id);
            return Ok(id);
        };
        let depth = usize::from(depth).min(TRACE_DEPTHS - 1);
        self.stats.traces[depth].met += 1;
        let letters = self.told(machine, (cursor, ahead), Machine::token_letters)?;
        let accepts = self.told(machine, (cursor, ahead), Machine::accepts)?;
        let composition = Composition { groups, letters, accepts };
        if asks.is_empty()
            && self.terms.uses(Shortcuts::TRACES)
            && let Some(&known) = self.composed.get(&composition)
        {
            self.stats.traces[depth].known += 1;
            self.store.write(known, mask);
            self.remember(machine, (cursor, ahead), depends_on_text, known);
            return Ok(known);
        }
        let mut touched = std::mem::take(&mut self.touched);
        let parts = (&self.terms, &mut self.store);
        let mut composed = Composed::new(slicer, parts, &composition.groups, (mask, &mut touched));
        if !asks.is_empty() {
            self.walk_ahead(machine, Part::Nodes(slicer, &asks), (cursor, ahead), composed.mask)?;
            composed.touch(slicer, &asks);
        }
        composed.finish(machine, vocabulary, &composition);
        let id = self.store.intern_composed(composed);
        self.touched = touched;
        let depends_on_text = depends_on_text || !asks.is_empty();
        if asks.is_empty() {
            self.composed.insert(composition, id);
        }
        self.remember(machine, (cursor, ahead), depends_on_text, id);
        Ok(id)
    }

    /// Makes a mask by a walk from a place.
    fn walked(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        mask.clear();
        let threads = machine.threads(ahead);
        let mut alphabets = Vec::new();
        for (index, slice) in slicer.slices.iter().enumerate() {
            let mut is_contained = false;
            for thread in threads.iter() {
                // What a state takes may be used up.
                is_contained |= machine.lexer.counted_lexemes(thread.lex).is_empty()
                    && self.terms.contained.ask(slicer, index, &mut machine.lexer, thread.lex)?;
            }
            if is_contained {
                mask.or_assign(&slice.mask);
                continue;
            }
            let part = match &slice.parts {
                Some(parts) if machine.may_remember() && self.terms.uses(Shortcuts::PARTS) => {
                    let decided = self.decide(machine, parts, ahead, &mut alphabets)?;
                    parts.allow(decided.taken, mask.words_mut());
                    Part::Open(&slice.trie, parts.open(decided))
                }
                _ => Part::Below(&slice.trie, ROOT),
            };
            self.walk_ahead(machine, part, (cursor, ahead), mask)?;
        }
        for rest in &slicer.rests {
            self.walk_ahead(machine, Part::Below(rest, 0), (cursor, ahead), mask)?;
        }
        self.finish_walk(machine, vocabulary, (cursor, ahead), mask)
    }

    /// Adds to what walks have found token letters and the end.
    fn finish_walk(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        let letters = self.told(machine, (cursor, ahead), Machine::token_letters)?;
        let accepts = self.told(machine, (cursor, ahead), Machine::accepts)?;
        let composition = Composition { groups: Groups::new(), letters, accepts };
        self.touched.clear(mask.words().len());
        Composed { mask, base: Base::NOTHING, touched: &mut self.touched }.finish(machine, vocabulary, &composition);
        Ok(())
    }

    /// What a place does with the parts of a slice. What was found out of alphabets is known.
    fn decide<'a>(
        &mut self,
        machine: &mut Machine,
        parts: &'a Parts,
        place: Cursor,
        alphabets: &mut Vec<(&'a Alphabet, Lengths)>,
    ) -> Result<Decided, Fault> {
        let (arena, limits) = (machine.lexer.arena().clone(), machine.limits.clone());
        let lists = machine.lists_len();
        let mut walker = Walker::new(machine, self.work, true);
        let decided = parts.decide_by(&mut walker, place.word(), (&arena, &limits), alphabets);
        let (work, decides) = walker.finish(0);
        machine.forget_lists(lists);
        self.work = work;
        decides.map(|()| decided)
    }

    /// What the machine says of the place that stands for another one, or of that if it cannot say.
    fn told<T>(
        &mut self,
        machine: &mut Machine,
        (cursor, ahead): (Cursor, Cursor),
        ask: impl Fn(&mut Machine, Cursor) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        match ask(machine, ahead) {
            Err(Fault::Untold) => {
                self.is_told = true;
                let looks_ahead = std::mem::take(&mut machine.sets.ahead.is_on);
                let answer = ask(machine, cursor);
                machine.sets.ahead.is_on = looks_ahead;
                answer
            }
            answer => answer,
        }
    }

    /// Remembers a mask for all places that are like this one.
    fn remember(&mut self, machine: &Machine, (cursor, ahead): (Cursor, Cursor), by_text: bool, id: StoredId) {
        let place = if self.is_told { cursor } else { ahead };
        if !machine.records(place) || !by_text && !self.is_told && Machine::single(place).is_some() {
            self.mask_of.insert(place.without_text(), id);
            return;
        }
        let contents = machine.contents(place);
        self.recorded_bytes += contents.iter().map(|(_, _, text)| text.len() + size_of::<Contents>()).sum::<usize>();
        self.recorded_mask_of.insert(contents, id);
    }

    /// Bytes of all masks and of what they are made of, roughly.
    pub fn bytes(&self) -> usize {
        let places = self.mask_of.len() * size_of::<(Cursor, u64, u64)>();
        let terms = self.terms.bytes() + self.composed.len() * size_of::<Composition>() * 2;
        places + terms + self.recorded_bytes + self.store.bytes()
    }

    /// Drops everything once it is too much.
    fn make_room(&mut self) {
        if self.bytes() > self.bytes_max {
            self.mask_of = GrowingMap::default();
            self.recorded_mask_of = HashedMap::default();
            self.recorded_bytes = 0;
            self.composed = HashedMap::default();
            self.store = MaskStore::new(self.terms.uses(Shortcuts::COPIES));
            self.terms.clear();
        }
    }

    /// Allows the tokens below `node` that can follow at `cursor`.
    pub fn walk(
        &mut self,
        machine: &mut Machine,
        trie: &TokenTrie,
        node: u32,
        cursor: Cursor,
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        let ahead = machine.ahead(cursor)?;
        self.work = Work::up_to(machine.limits.mask_work_max);
        machine.sets.ahead.is_on = machine.tape.is_on();
        let walked = self.walk_ahead(machine, Part::Below(trie, node), (cursor, ahead), mask);
        machine.sets.ahead.is_on = false;
        self.stats.nodes_visited += self.work.visited();
        walked
    }

    fn walk_ahead(
        &mut self,
        machine: &mut Machine,
        part: Part<'_>,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        let lists = machine.lists_len();
        let mut walker = Walker::new(machine, self.work, part.is_whole());
        let visited = if walker.machine.tape.is_on() {
            let mut recording = RecordingWalker::new(walker, cursor, part.depth_max());
            let visited = part.walk(&mut recording, (ahead.word(), Depth::new(ahead.began(), 0)), mask);
            let (finished, is_told) = recording.finish();
            self.is_told |= is_told;
            walker = finished;
            visited
        } else {
            part.walk(&mut walker, cursor.word(), mask)
        };
        let (work, walked) = walker.finish(visited);
        machine.forget_lists(lists);
        self.work = work;
        walked
    }
}
