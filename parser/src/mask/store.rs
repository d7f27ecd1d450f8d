//! Finished masks: many places have the same.

use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use larkspur_grammar::hashing::hash_in;
use larkspur_grammar::index::Id;
use larkspur_grammar::{IndexVec, define_id};
use larkspur_toktrie::{MaskOrigin, TokenMask};
use rustc_hash::{FxHashMap, FxHasher};

use super::compose::Composed;
use super::shared::SharedTerms;
use super::touched::Touched;
use super::wide::{Wide, WideKey, WideTerms, key_of};
use crate::growing::GrowingIds;
use crate::shortcut::Shortcuts;

define_id! {
    /// A mask of a [`MaskStore`].
    pub(super) struct StoredId = "m";
}

/// A mask is kept by the words that differ from the others where these are at most one in so many.
const SPARSE_SHARE: usize = 16;

/// So many words are written faster than another copy is looked up in memory.
const NEAR_MAX: usize = 64;

/// Past so many masks are made over single terms only: in the texts of some grammars nearly each place has terms of its own.
const BASES_MAX: usize = 32;

/// Masks with numbers. Equal masks have one number, unless they were made of other terms.
#[derive(Debug)]
pub(super) struct MaskStore {
    /// Tells the store from all others that there were.
    serial: u64,
    /// Whether words that a mask had before are used again.
    uses_copies: bool,
    masks: IndexVec<StoredId, Stored<Base>>,
    /// Wide terms that masks are over.
    bases: Vec<Arc<Wide>>,
    base_ids: FxHashMap<WideKey, u32>,
    /// By content.
    ids: GrowingIds<StoredId>,
    bytes: usize,
    /// Room for what differs.
    differ: Vec<Written>,
}

/// A word of a mask and its place, in one number, so that many compare at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Written(u64);

impl Written {
    fn new(place: u32, word: u32) -> Self {
        Self(u64::from(place) << 32 | u64::from(word))
    }
    fn place(self) -> usize {
        (self.0 >> 32) as usize
    }
    fn word(self) -> u32 {
        self.0 as u32
    }
}

/// A mask as it is kept.
#[derive(Debug)]
enum Stored<B> {
    Words(Arc<[u32]>),
    /// All words are like those of the base but for some, by place.
    Over(B, Arc<[Written]>),
}

/// What masks differ from in some words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Base {
    /// Words that are all the same.
    Like(u32),
    /// Wide terms, by their place in [`MaskStore::bases`].
    Wide(u32),
}

/// A mask that looks for its number: what differs from its base if that is little, or all words.
enum Wanted<'a> {
    Over(Base, &'a [Written]),
    Words(&'a [u32]),
}

impl<'a> Wanted<'a> {
    /// `differ` is where what differs is put.
    fn of(words: &'a [u32], differ: &'a mut Vec<Written>) -> Self {
        let (mut empty, mut full) = (0, 0);
        for &word in words {
            empty += u32::from(word == 0);
            full += u32::from(word == u32::MAX);
        }
        for (all, like) in [(0, empty), (u32::MAX, full)] {
            let others = words.len() as u32 - like;
            if others as usize <= few(words) {
                unlike(words, all, differ);
                return Wanted::Over(Base::Like(all), differ);
            }
        }
        Wanted::Words(words)
    }

    fn hash(&self) -> u64 {
        match self {
            Wanted::Words(words) => hash_words(words),
            Wanted::Over(base, words) => hash_over(*base, words),
        }
    }

    fn into_stored(self) -> Stored<Base> {
        match self {
            Wanted::Words(words) => Stored::Words(words.into()),
            Wanted::Over(base, words) => Stored::Over(base, words.into()),
        }
    }
}

/// So many words of a mask are few.
fn few(words: &[u32]) -> usize {
    words.len() / SPARSE_SHARE
}

/// Words that are looked at side by side.
const BLOCK: usize = 16;

/// Adds the words that differ from another mask's, by place.
fn differing(words: &[u32], from: &[u32], differ: &mut Vec<Written>) {
    for (number, (block, from)) in words.chunks(BLOCK).zip(from.chunks(BLOCK)).enumerate() {
        if block.iter().zip(from).fold(0, |unlike, (word, from)| unlike | word ^ from) != 0 {
            let places = (number * BLOCK) as u32..;
            let both = places.zip(block.iter().zip(from));
            differ.extend(
                both.filter(|(_, (word, from))| word != from).map(|(place, (&word, _))| Written::new(place, word)),
            );
        }
    }
}

/// The same of words of which it is known which may differ.
fn written(words: &[u32], touched: &Touched, from: impl Fn(usize) -> u32, differ: &mut Vec<Written>) {
    touched.for_each(|place| {
        let word = words[place as usize];
        if word != from(place as usize) {
            differ.push(Written::new(place, word));
        }
    });
}

/// Adds the words that differ from `rest`, by place.
fn unlike(words: &[u32], rest: u32, differ: &mut Vec<Written>) {
    for (number, block) in words.chunks(BLOCK).enumerate() {
        if block.iter().fold(0, |unlike, word| unlike | word ^ rest) != 0 {
            let places = (number * BLOCK) as u32..;
            let others = places.zip(block.iter().copied()).filter(|&(_, word)| word != rest);
            differ.extend(others.map(|(place, word)| Written::new(place, word)));
        }
    }
}

impl Base {
    /// No token.
    pub const NOTHING: Self = Base::Like(0);

    /// As [`MaskOrigin`] has it.
    fn family(self) -> u32 {
        match self {
            Base::Like(word) => word & 1,
            Base::Wide(wide) => 2 + wide,
        }
    }
}

impl Stored<Base> {
    /// As [`MaskOrigin`] has it; one by itself for a mask that is over none.
    fn family(&self, id: StoredId) -> u32 {
        match self {
            Stored::Words(_) => u32::MAX - id.0,
            Stored::Over(base, _) => base.family(),
        }
    }

    fn is(&self, wanted: &Wanted<'_>) -> bool {
        match (self, wanted) {
            (Stored::Words(own), Wanted::Words(words)) => **own == **words,
            (Stored::Over(own, words), Wanted::Over(base, wanted)) => own == base && **words == **wanted,
            _ => false,
        }
    }
}

impl<B> Stored<B> {
    /// The words that are not the base's, if it has one.
    fn written(&self) -> Option<&[Written]> {
        match self {
            Stored::Words(_) => None,
            Stored::Over(_, written) => Some(written),
        }
    }

    /// How many words are not the base's.
    fn written_len(&self) -> usize {
        self.written().map_or(0, <[Written]>::len)
    }

    /// Whether a copy of another mask over the same base differs in few words.
    fn is_near(&self, other: &Self) -> bool {
        self.written_len() + other.written_len() <= NEAR_MAX
    }

    /// Overwrites a mask, which may be a copy of another one over the same base.
    fn write<'a>(&'a self, before: Option<&Self>, under: impl FnOnce(&'a B) -> Under<'a>, mask: &mut TokenMask) {
        match self {
            Stored::Words(words) => mask.copy_from(words),
            Stored::Over(base, words) => {
                let all = mask.words_mut();
                under(base).restore(before.and_then(Self::written), all);
                words.iter().for_each(|written| all[written.place()] = written.word());
            }
        }
    }

    fn bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Stored::Words(words) => size_of_val(&**words),
                Stored::Over(_, words) => size_of_val(&**words),
            }
    }
}

/// A number for a new store.
fn next_serial() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl MaskStore {
    /// A store of no masks, that uses words again that a mask had before, or does not.
    pub fn new(uses_copies: bool) -> Self {
        Self {
            serial: next_serial(),
            uses_copies,
            masks: IndexVec::new(),
            bases: Vec::new(),
            base_ids: FxHashMap::default(),
            ids: GrowingIds::default(),
            bytes: 0,
            differ: Vec::new(),
        }
    }

    /// Tells the store from all others that there were as long as the process lives.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Overwrites a mask with a stored one, which must be there. Cost: nothing if the mask still has a copy; the words that
    /// differ from those of the same base that are written over; else all words.
    pub fn write(&self, id: StoredId, mask: &mut TokenMask) {
        let origin = self.origin(id);
        let stored = &self.masks[id];
        let is_near = |before| stored.is_near(self.stored(before));
        let before = self.recall(mask, origin.family, Some(origin.number), is_near);
        if before == Some(origin) {
            return;
        }
        stored.write(before.map(|before| self.stored(before)), |&base| self.under(base), mask);
        mask.set_origin(origin);
    }

    /// As [`TokenMask::recall`], if copies are used again.
    fn recall(
        &self,
        mask: &mut TokenMask,
        family: u32,
        number: Option<u32>,
        is_near: impl Fn(MaskOrigin) -> bool,
    ) -> Option<MaskOrigin> {
        if self.uses_copies { mask.recall((self.serial, family), number, is_near) } else { None }
    }

    fn stored(&self, origin: MaskOrigin) -> &Stored<Base> {
        &self.masks[StoredId(origin.number)]
    }

    /// Overwrites a mask with what others are to be made over.
    pub fn write_base(&self, base: Base, mask: &mut TokenMask) {
        let is_near = |before| self.stored(before).written_len() <= NEAR_MAX;
        let before = self.recall(mask, base.family(), None, is_near);
        let written = before.and_then(|before| self.stored(before).written());
        self.under(base).restore(written, mask.words_mut());
    }

    fn under(&self, base: Base) -> Under<'_> {
        match base {
            Base::Like(word) => Under::Like(word),
            Base::Wide(wide) => Under::Words(self.bases[wide as usize].words()),
        }
    }

    /// A mask for those who have no store.
    pub fn share(&self, id: StoredId) -> SharedMask {
        let stored = match &self.masks[id] {
            Stored::Words(words) => Stored::Words(words.clone()),
            Stored::Over(Base::Like(word), written) => Stored::Over(SharedBase::Like(*word), written.clone()),
            Stored::Over(Base::Wide(wide), written) => {
                Stored::Over(SharedBase::Wide(self.bases[*wide as usize].clone()), written.clone())
            }
        };
        SharedMask { origin: self.origin(id), stored }
    }

    /// What the words of a mask are a copy of, given that they are those of a stored one.
    pub fn origin(&self, id: StoredId) -> MaskOrigin {
        MaskOrigin { store: self.serial, number: id.0, family: self.masks[id].family(id) }
    }

    /// Whether a mask allows nothing.
    pub fn is_empty(&self, id: StoredId) -> bool {
        matches!(&self.masks[id], Stored::Over(Base::Like(0), words) if words.is_empty())
    }

    /// Whether there is a mask of that number.
    pub fn has(&self, id: StoredId) -> bool {
        id.index() < self.masks.len()
    }

    /// The mask's number. It is compared in full.
    pub fn intern(&mut self, words: &[u32]) -> StoredId {
        let mut differ = std::mem::take(&mut self.differ);
        differ.clear();
        let wanted = Wanted::of(words, &mut differ);
        let id = self.number(wanted.hash(), wanted);
        self.differ = differ;
        id
    }

    /// The same of a mask of which it is known how it was made. Cost: as long as few words differ from what it began with,
    /// these.
    pub fn intern_composed(&mut self, composed: Composed<'_>) -> StoredId {
        let Composed { mask, base, touched } = composed;
        let words = mask.words();
        let mut differ = std::mem::take(&mut self.differ);
        differ.clear();
        match (touched.is_all(), self.under(base)) {
            (false, Under::Like(all)) => written(words, touched, |_| all, &mut differ),
            (false, Under::Words(own)) => written(words, touched, |place| own[place], &mut differ),
            (true, Under::Like(all)) => unlike(words, all, &mut differ),
            (true, Under::Words(own)) => differing(words, own, &mut differ),
        }
        // So that it shows that it is empty. Then it has no word of the base.
        if !differ.is_empty() && differ.iter().all(|written| written.word() == 0) && mask.is_empty() {
            self.differ = differ;
            return self.intern(mask.words());
        }
        // What differs stands for the mask, also where it is too much to be kept: a look at all words would take longer than
        // all else.
        let hash = hash_over(base, &differ);
        let id = match differ.len() <= few(words) {
            true => self.number(hash, Wanted::Over(base, &differ)),
            false => self.number(hash, Wanted::Words(words)),
        };
        self.differ = differ;
        id
    }

    /// What masks with these wide terms are made over. Those that it does not have are taken out.
    pub fn base(&mut self, terms: &mut WideTerms<'_>, shared: &SharedTerms, words_len: usize) -> Base {
        let mut key = key_of(terms);
        let is_known = self.base_ids.contains_key(&key);
        if !is_known && (self.bases.len() >= BASES_MAX || shared.without.contains(Shortcuts::UNIONS)) {
            terms.retain(|tokens| tokens.many().is_some());
            terms.truncate(1);
            key = key_of(terms);
        }
        if key.is_empty() {
            return Base::NOTHING;
        }
        let next = self.bases.len() as u32;
        let index = *self.base_ids.entry(key.clone()).or_insert(next);
        if index == next {
            let wide = shared.wide(key, terms, words_len);
            self.bytes += wide.bytes();
            self.bases.push(wide);
        }
        Base::Wide(index)
    }

    fn number(&mut self, hash: u64, wanted: Wanted<'_>) -> StoredId {
        let masks = &mut self.masks;
        if let Some(known) = self.ids.find(hash, |id| masks[id].is(&wanted)) {
            return known;
        }
        let stored = wanted.into_stored();
        self.bytes += stored.bytes();
        let id = masks.push(stored);
        self.ids.insert(hash, id);
        id
    }

    /// Bytes of all masks.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What a mask is over.
#[derive(Clone, Copy)]
enum Under<'a> {
    Like(u32),
    Words(&'a [u32]),
}

impl Under<'_> {
    /// Overwrites words with these. Those that are given are all that differ.
    fn restore(self, written: Option<&[Written]>, all: &mut [u32]) {
        match (self, written) {
            (Under::Like(word), Some(written)) => written.iter().for_each(|written| all[written.place()] = word),
            (Under::Like(word), None) => all.fill(word),
            (Under::Words(words), Some(written)) => {
                written.iter().for_each(|written| all[written.place()] = words[written.place()]);
            }
            (Under::Words(words), None) => all.copy_from_slice(words),
        }
    }
}

/// A mask by itself, for those who read without the lock of the store.
#[derive(Debug)]
pub(crate) struct SharedMask {
    pub origin: MaskOrigin,
    stored: Stored<SharedBase>,
}

#[derive(Debug)]
enum SharedBase {
    Like(u32),
    Wide(Arc<Wide>),
}

impl SharedMask {
    /// As [`MaskStore::write`]; `by_origin` knows some masks.
    pub fn write<'a>(&'a self, mask: &mut TokenMask, by_origin: impl Fn(MaskOrigin) -> Option<&'a SharedMask>) {
        let MaskOrigin { store, number, family } = self.origin;
        let is_near = |before| by_origin(before).is_some_and(|before| self.stored.is_near(&before.stored));
        let before = mask.recall((store, family), Some(number), is_near);
        if before == Some(self.origin) {
            return;
        }
        let under = |base: &'a SharedBase| match base {
            SharedBase::Like(word) => Under::Like(*word),
            SharedBase::Wide(wide) => Under::Words(wide.words()),
        };
        self.stored.write(before.and_then(&by_origin).map(|before| &before.stored), under, mask);
        mask.set_origin(self.origin);
    }

    /// Its bytes, which its store has as well as long as it keeps the mask.
    pub fn bytes(&self) -> usize {
        self.stored.bytes()
    }
}

fn hash_words(words: &[u32]) -> u64 {
    let (pairs, rest) = words.as_chunks::<2>();
    let mut hasher = hash_lanes::<_, 8>(pairs, |&[low, high]| u64::from(high) << 32 | u64::from(low));
    rest.iter().for_each(|&word| hasher.write_u32(word));
    hash_in(&hasher)
}

/// The same of words that differ from a base, with their places.
fn hash_over(base: Base, written: &[Written]) -> u64 {
    let mut hasher = hash_lanes::<_, 4>(written, |written| written.0);
    base.hash(&mut hasher);
    hash_in(&hasher)
}

/// Sums side by side: one would wait for itself, a word after the other.
fn hash_lanes<T, const LANES: usize>(items: &[T], word: impl Fn(&T) -> u64) -> FxHasher {
    let (blocks, rest) = items.as_chunks::<LANES>();
    let mut sums = [(); LANES].map(|()| FxHasher::default());
    for block in blocks {
        sums.iter_mut().zip(block).for_each(|(sum, item)| sum.write_u64(word(item)));
    }
    let mut hasher = FxHasher::default();
    sums.iter().for_each(|sum| hasher.write_u64(sum.finish()));
    rest.iter().for_each(|item| hasher.write_u64(word(item)));
    hasher
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mask::tokens::Tokens;

    #[test]
    fn a_mask_of_nothing_is_empty_whatever_it_was_made_over() {
        let len = 100 * 32;
        let wide = Arc::new(Tokens::Few((0..100).collect()));
        let mut store = MaskStore::new(true);
        let (mut mask, mut touched) = (TokenMask::new(len), Touched::default());
        for left in [Some(7), None] {
            let base =
                store.base(&mut WideTerms::from_slice(&[&wide]), &SharedTerms::new(0, Shortcuts::default()), 100);
            store.write_base(base, &mut mask);
            touched.clear(100);
            let composed = Composed { mask: &mut mask, base, touched: &mut touched };
            for place in 0..4u32 {
                composed.mask.words_mut()[place as usize] = 0;
                composed.touched.insert(place);
            }
            left.iter().for_each(|&token| composed.mask.allow(token));
            let id = store.intern_composed(composed);
            assert_eq!(store.is_empty(id), left.is_none());
            store.write(id, &mut mask);
            assert_eq!(mask.iter().collect::<Vec<_>>(), Vec::from_iter(left));
        }
    }

    #[test]
    fn masks_are_kept_by_content() {
        let mut store = MaskStore::new(true);
        let len = 1_000 * 32 + 7;
        let mut masks = Vec::new();
        for (is_full, step) in [(false, 3), (true, 3), (false, 3_000), (true, 3_000), (false, len), (true, len)] {
            let mut mask = TokenMask::new(len);
            if is_full {
                mask.set_all();
            }
            for id in (0..len as u32).step_by(step) {
                if is_full { mask.forbid(id) } else { mask.allow(id) }
            }
            masks.push(mask);
        }
        let ids: Vec<StoredId> = masks.iter().map(|mask| store.intern(mask.words())).collect();
        let mut out = TokenMask::new(len);
        for (id, mask) in ids.iter().zip(&masks) {
            assert_eq!(store.intern(mask.words()), *id);
            store.write(*id, &mut out);
            assert_eq!(out.words(), mask.words());
        }
        assert!(!store.has(StoredId(masks.len() as u32)));
        assert!(store.bytes() < 3 * 4_100, "two are kept whole: {}", store.bytes());
    }

    #[test]
    fn masks_over_terms_are_written_from_one_to_another() {
        let (len, mut seed) = (3_000 * 32, 1u64);
        let mut random = |bound: usize| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % bound
        };
        let terms: Vec<Arc<Tokens>> = (0..7)
            .map(|number| match number {
                0 => Arc::new(Tokens::Few((0..200).map(|_| random(len) as u32).collect())),
                _ => Arc::new(Tokens::Many((0..len / 32).map(|_| random(1 << 31) as u32).collect())),
            })
            .collect();
        let shared = SharedTerms::new(1 << 20, Shortcuts::default());
        let mut store = MaskStore::new(true);
        let mut made: Vec<(StoredId, TokenMask)> = Vec::new();
        let mut out = TokenMask::new(len);
        let mut touched = Touched::default();
        for round in 0..600 {
            // Some of few words, some of so many that they are kept whole, some that are there.
            let mut wide: WideTerms<'_> = (0..random(3)).map(|_| &terms[random(terms.len())]).collect();
            let all = wide.clone();
            let base = store.base(&mut wide, &shared, len / 32);
            assert!(wide.iter().all(|&tokens| all.iter().any(|&other| Arc::ptr_eq(tokens, other))));
            store.write_base(base, &mut out);
            let mut union = TokenMask::new(len);
            wide.iter().for_each(|tokens| tokens.allow_in(union.words_mut()));
            assert_eq!(out, union);
            touched.clear(len / 32);
            let composed = Composed { mask: &mut out, base, touched: &mut touched };
            for _ in 0..[0, 3, 20, 90, 4_000][random(5)] {
                let place = random(len / 32) as u32;
                composed.mask.words_mut()[place as usize] = random(3) as u32;
                composed.touched.insert(place);
            }
            let expected = composed.mask.clone();
            let id = store.intern_composed(composed);
            out.set_origin(store.origin(id));
            made.push((id, expected));
            for _ in 0..3 {
                let (id, expected) = &made[random(made.len())];
                store.write(*id, &mut out);
                assert_eq!(out.words(), expected.words(), "round {round}");
                if random(10) == 0 {
                    out.allow(random(len) as u32);
                }
            }
        }
    }
}
