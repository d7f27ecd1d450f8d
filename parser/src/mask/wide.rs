//! What masks are made over: the tokens of the terms that have many, together. White space and the signs around it are the same
//! before all names of an object, so that few words of a mask are left to be written, told apart and kept.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::tokens::Tokens;

/// A list of so many tokens takes longer to write, and what was written to look at, than a copy of another mask over the same.
const WIDE_MIN: usize = 64;

/// Unions take this part of the bytes for what grammars share at most, one in so many.
const BYTES_SHARE: usize = 12;

/// Wide terms, by where they are in memory, each once.
pub(super) type WideTerms<'a> = SmallVec<[&'a Arc<Tokens>; 4]>;

/// Where they are.
pub(super) type WideKey = SmallVec<[usize; 4]>;

/// Whether a term is wide.
pub(super) fn is_wide(tokens: &Tokens) -> bool {
    match tokens {
        Tokens::Few(tokens) => tokens.len() >= WIDE_MIN,
        Tokens::Many(_) => true,
    }
}

/// The key of wide terms, which are sorted for it.
pub(super) fn key_of(terms: &mut WideTerms<'_>) -> WideKey {
    terms.sort_unstable_by_key(|tokens| Arc::as_ptr(tokens));
    terms.dedup_by_key(|tokens| Arc::as_ptr(tokens));
    terms.iter().map(|tokens| Arc::as_ptr(tokens) as usize).collect()
}

/// The tokens of wide terms together.
#[derive(Debug)]
pub(super) struct Wide {
    /// Kept, so that nothing else is where they are.
    terms: Box<[Arc<Tokens>]>,
    /// Their words, if these are not those of a term that is alone.
    union: Option<Box<[u32]>>,
}

impl Wide {
    pub fn new(terms: &[&Arc<Tokens>], words_len: usize) -> Self {
        let is_mask = matches!(terms, [only] if only.many().is_some());
        let union = (!is_mask).then(|| {
            let mut words: Box<[u32]> = vec![0; words_len].into();
            terms.iter().for_each(|tokens| tokens.allow_in(&mut words));
            words
        });
        Self { terms: terms.iter().map(|&tokens| tokens.clone()).collect(), union }
    }

    /// Whether its words are not those of a term.
    pub fn is_union(&self) -> bool {
        self.union.is_some()
    }

    pub fn words(&self) -> &[u32] {
        self.union.as_deref().or_else(|| self.terms[0].many()).expect("a mask that is alone has no union")
    }

    /// Its bytes, with those of its terms, which nobody else may have any more.
    pub fn bytes(&self) -> usize {
        let terms: usize = self.terms.iter().map(|tokens| size_of::<Arc<Tokens>>() + tokens.bytes()).sum();
        size_of::<Self>() + terms + self.union.as_ref().map_or(0, |words| size_of_val(&**words))
    }
}

/// Unions that all grammars of an engine share: most have the same white space.
#[derive(Default, Debug)]
pub(super) struct SharedWides {
    /// What was made or asked for since the last turn.
    young: WideMap,
    /// What was not, though it was before that.
    old: WideMap,
}

#[derive(Default, Debug)]
struct WideMap {
    wides: FxHashMap<WideKey, Arc<Wide>>,
    bytes: usize,
}

impl SharedWides {
    pub fn bytes(&self) -> usize {
        self.young.bytes + self.old.bytes
    }

    /// One that is known; `bytes_max` as in [`insert`](Self::insert).
    pub fn get(&mut self, key: &WideKey, bytes_max: usize) -> Option<Arc<Wide>> {
        if let Some(known) = self.young.wides.get(key) {
            return Some(known.clone());
        }
        let known = self.old.wides.remove(key)?;
        self.old.bytes -= known.bytes();
        self.insert(key.clone(), known.clone(), bytes_max);
        Some(known)
    }

    /// Keeps one, if there is room for it in so many bytes for all that is shared.
    pub fn insert(&mut self, key: WideKey, wide: Arc<Wide>, bytes_max: usize) {
        let (bytes, room) = (wide.bytes(), bytes_max / BYTES_SHARE / 2);
        if bytes > room {
            return;
        }
        if self.young.bytes + bytes > room {
            self.old = std::mem::take(&mut self.young);
        }
        if self.young.wides.insert(key, wide).is_none() {
            self.young.bytes += bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: usize = 100;

    fn few(first: u32) -> Arc<Tokens> {
        Arc::new(Tokens::Few((first..first + WIDE_MIN as u32).collect()))
    }

    fn wide(terms: &[&Arc<Tokens>]) -> (WideKey, Arc<Wide>) {
        let key = key_of(&mut terms.iter().copied().collect());
        (key, Arc::new(Wide::new(terms, WORDS)))
    }

    #[test]
    fn a_union_has_what_its_terms_have() {
        let (a, b) = (few(3), few(1_000));
        let many = Arc::new(Tokens::Many([1 << 31; WORDS].into()));
        for terms in [&[&a][..], &[&b, &many], &[&a, &b, &many], &[&many]] {
            let wide = Wide::new(terms, WORDS);
            let mut expected = [0; WORDS];
            terms.iter().for_each(|tokens| tokens.allow_in(&mut expected));
            assert_eq!(wide.words(), expected);
            assert_eq!(wide.is_union(), !std::ptr::eq(terms[0], &many));
        }
        let key = |terms: &[&Arc<Tokens>]| key_of(&mut terms.iter().copied().collect());
        assert_eq!(key(&[&a, &b, &a]), key(&[&b, &a]));
        assert_ne!(key(&[&a]), key(&[&b]));
        assert!(is_wide(&a) && is_wide(&many) && !is_wide(&Tokens::Few([7].into())));
    }

    #[test]
    fn what_is_asked_for_stays_and_the_others_go() {
        let terms: Vec<Arc<Tokens>> = (0..300).map(few).collect();
        let (first, of_first) = wide(&[&terms[0]]);
        let max = 20 * of_first.bytes() * BYTES_SHARE;
        let mut shared = SharedWides::default();
        shared.insert(first.clone(), of_first.clone(), max);
        for term in &terms[1..] {
            let (key, wide) = wide(&[term]);
            shared.insert(key, wide, max);
            let known = shared.get(&first, max).expect("it was asked for a moment ago");
            assert!(Arc::ptr_eq(&known, &of_first));
            let wides: usize =
                shared.young.wides.values().chain(shared.old.wides.values()).map(|wide| wide.bytes()).sum();
            assert_eq!(shared.bytes(), wides);
            assert!(wides <= max / BYTES_SHARE);
        }
        assert!(shared.get(&wide(&[&terms[1]]).0, max).is_none());
        assert!(shared.get(&wide(&[&terms[299]]).0, max).is_some());
        // Where there is no room for one, none is kept.
        let mut none = SharedWides::default();
        none.insert(first.clone(), of_first, BYTES_SHARE);
        assert!(none.get(&first, BYTES_SHARE).is_none());
    }
}
