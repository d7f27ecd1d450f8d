//! Masks that all grammars of an engine share, by what they are made of. Four fifths of the masks that are new in a grammar are
//! those of another one: what may follow a number, a string of any text, the end of an object are the same tokens in most schemas.

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use larkspur_grammar::hashing::hash_in;
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;

use super::Composition;
use super::store::GivenMask;
use super::terms::Terms;
use super::tokens::{Inside, Tokens};
use super::trace::Group;
use crate::growing::GrowingIds;
use crate::slicer::PieceNode;

/// What a mask is made of, whatever the grammar: the tokens of terms, and whether the text may end.
pub(super) struct Recipe<'a> {
    groups: SmallVec<[RecipeGroup<'a>; 1]>,
    accepts: bool,
    hash: u64,
}

/// As [`Group`], by what terms say.
struct RecipeGroup<'a> {
    left_out: &'a [PieceNode],
    /// Sorted by hash, each once.
    insides: SmallVec<[&'a Inside; 12]>,
}

impl<'a> Recipe<'a> {
    /// `None` for masks with token letters, of which each grammar has its own.
    pub fn of(terms: &'a Terms, composition: &'a Composition) -> Option<Self> {
        if !composition.letters.is_empty() {
            return None;
        }
        let accepts = composition.accepts;
        let mut hasher = FxHasher::default();
        let group = |group: &'a Group| {
            let mut insides: SmallVec<[&Inside; 12]> =
                group.terms.iter().map(|&term| &terms.get(term).inside).collect();
            insides.sort_unstable_by_key(|inside| inside.hash());
            insides.dedup_by(|a, b| a.is(b));
            insides.iter().for_each(|inside| hasher.write_u64(inside.hash()));
            group.left_out.hash(&mut hasher);
            RecipeGroup { left_out: &group.left_out, insides }
        };
        let groups = composition.groups.iter().map(group).collect();
        accepts.hash(&mut hasher);
        Some(Self { groups, accepts, hash: hash_in(&hasher) })
    }
}

/// A mask that was made of a recipe. What is compared is side by side: it was long since anybody looked at it.
#[derive(Debug)]
struct Entry {
    groups: SmallVec<[EntryGroup; 1]>,
    accepts: bool,
    hash: u64,
    mask: GivenMask,
    /// Whether somebody has asked for it since it was put here.
    is_wanted: bool,
}

#[derive(Debug)]
struct EntryGroup {
    left_out: Box<[PieceNode]>,
    insides: SmallVec<[Inside; 6]>,
}

impl Entry {
    fn is(&self, recipe: &Recipe<'_>) -> bool {
        let is_group = |(own, group): (&EntryGroup, &RecipeGroup<'_>)| {
            own.insides.len() == group.insides.len()
                && *own.left_out == *group.left_out
                && own.insides.iter().zip(&group.insides).all(|(own, inside)| own.is(inside))
        };
        self.accepts == recipe.accepts
            && self.groups.len() == recipe.groups.len()
            && self.groups.iter().zip(&recipe.groups).all(is_group)
    }

    /// All masks of tokens that it keeps from being dropped.
    fn insides(&self) -> impl Iterator<Item = &Arc<Tokens>> {
        let of_groups = self.groups.iter().flat_map(|group| &group.insides).map(Inside::tokens);
        of_groups.chain(self.mask.base())
    }

    /// Its bytes without those of [`insides`](Self::insides).
    fn bytes(&self) -> usize {
        let of_group =
            |group: &EntryGroup| size_of::<EntryGroup>() + size_of_val(&*group.left_out) + size_of_val(&*group.insides);
        size_of::<Self>() + self.groups.iter().map(of_group).sum::<usize>() + self.mask.bytes()
    }
}

/// So many wanted masks in a row are put behind the others before one is dropped whether it is wanted or not.
const SPARED_MAX: usize = 8;

/// Places for recipes that were met once: of hashes that have the same place the last one counts.
const MET_LEN: usize = 1 << 12;

/// Masks by recipes that were met twice. The oldest ones that nobody has asked for again are dropped when there are too many.
#[derive(Debug)]
pub(super) struct Recipes {
    /// Hashes of recipes that were met once, by some of their bits. A fifth of them nobody meets again.
    met: Box<[u32]>,
    /// The oldest first.
    entries: VecDeque<Entry>,
    /// The number of the oldest one.
    first: u32,
    ids: GrowingIds<u32>,
    /// Tokens that the entries have, by where they are, and how many entries have them.
    kept: FxHashMap<usize, u32>,
    bytes: usize,
}

impl Default for Recipes {
    fn default() -> Self {
        Self {
            met: vec![0; MET_LEN].into(),
            entries: VecDeque::new(),
            first: 0,
            ids: GrowingIds::default(),
            kept: FxHashMap::default(),
            bytes: 0,
        }
    }
}

impl Recipes {
    pub fn get(&mut self, recipe: &Recipe<'_>) -> Option<GivenMask> {
        let Self { entries, first, ids, .. } = self;
        let place = |id: u32| id.wrapping_sub(*first) as usize;
        let id = ids.find(recipe.hash, |id| entries[place(id)].is(recipe))?;
        let entry = &mut entries[place(id)];
        entry.is_wanted = true;
        Some(entry.mask.clone())
    }

    /// Keeps a mask in so many bytes of all, if it has not more by itself.
    pub fn insert(&mut self, recipe: &Recipe<'_>, mask: GivenMask, bytes_max: usize) {
        let met = &mut self.met[recipe.hash as usize % MET_LEN];
        if std::mem::replace(met, (recipe.hash >> 32) as u32) != (recipe.hash >> 32) as u32 {
            return;
        }
        // Another thread may have been here.
        if self.get(recipe).is_some() {
            return;
        }
        let group = |group: &RecipeGroup<'_>| EntryGroup {
            left_out: group.left_out.into(),
            insides: group.insides.iter().map(|&inside| inside.clone()).collect(),
        };
        let Recipe { groups, accepts, hash } = recipe;
        let groups = groups.iter().map(group).collect();
        let entry = Entry { groups, accepts: *accepts, hash: *hash, mask, is_wanted: false };
        if entry.bytes() + entry.insides().map(|tokens| tokens.bytes()).sum::<usize>() > bytes_max {
            return;
        }
        self.push(entry);
        let mut spared = 0;
        while self.bytes > bytes_max {
            let Some(mut oldest) = self.pop() else { return };
            if oldest.is_wanted && spared < SPARED_MAX {
                spared += 1;
                oldest.is_wanted = false;
                self.push(oldest);
            }
        }
    }

    fn push(&mut self, entry: Entry) {
        self.bytes += entry.bytes();
        for tokens in entry.insides() {
            let times = self.kept.entry(Arc::as_ptr(tokens) as usize).or_insert(0);
            self.bytes += if *times == 0 { tokens.bytes() } else { 0 };
            *times += 1;
        }
        self.ids.insert(entry.hash, self.first.wrapping_add(self.entries.len() as u32));
        self.entries.push_back(entry);
    }

    fn pop(&mut self) -> Option<Entry> {
        let entry = self.entries.pop_front()?;
        self.ids.remove(entry.hash, self.first);
        self.first = self.first.wrapping_add(1);
        self.bytes -= entry.bytes();
        for tokens in entry.insides() {
            let place = Arc::as_ptr(tokens) as usize;
            let times = self.kept.get_mut(&place).expect("it was counted when it came");
            *times -= 1;
            if *times == 0 {
                self.kept.remove(&place);
                self.bytes -= tokens.bytes();
            }
        }
        Some(entry)
    }

    /// Bytes of all of it, roughly.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use larkspur_toktrie::TokenMask;

    use super::*;
    use crate::mask::store::MaskStore;

    /// A mask of tokens that a recipe of them may stand for, and its store's number.
    fn given(store: &mut MaskStore, number: u32) -> GivenMask {
        let mut mask = TokenMask::new(1_000);
        [number % 1_000, number / 1_000].into_iter().for_each(|token| mask.allow(token));
        store.given(mask.words())
    }

    fn recipe<'a>(insides: &'a [Inside], left_out: &'a [PieceNode], accepts: bool, hash: u64) -> Recipe<'a> {
        Recipe {
            groups: [RecipeGroup { left_out, insides: insides.iter().collect() }].into_iter().collect(),
            accepts,
            hash,
        }
    }

    #[test]
    fn what_differs_in_anything_is_another_recipe_whatever_its_hash() {
        let (mut recipes, mut store) = (Recipes::default(), MaskStore::new(true));
        let insides = [1, 2, 3].map(|token| Inside::new(Tokens::Few([token].into())));
        let nodes: [PieceNode; 2] = [4, 5];
        let all: Vec<Recipe<'_>> = vec![
            recipe(&insides[..1], &[], false, 7),
            recipe(&insides[..1], &[], true, 7),
            recipe(&insides[..2], &[], false, 7),
            recipe(&insides[1..2], &[], false, 7),
            recipe(&insides[..1], &nodes[..1], false, 7),
            recipe(&insides[..1], &nodes[1..], false, 7),
            recipe(&insides[..1], &nodes, false, 7),
        ];
        for (number, recipe) in all.iter().enumerate() {
            assert!(recipes.get(recipe).is_none());
            (0..2).for_each(|_| recipes.insert(recipe, given(&mut store, number as u32), 1 << 20));
        }
        for (number, recipe) in all.iter().enumerate() {
            let found = recipes.get(recipe).expect("there is room for all");
            assert_eq!(store.take(&found), store.take(&given(&mut MaskStore::new(true), number as u32)));
        }
        // The same tokens elsewhere in memory are the same recipe.
        let again = [Inside::new(Tokens::Few([1].into()))];
        assert!(recipes.get(&recipe(&again, &[], true, 7)).is_some());
    }

    #[test]
    fn what_is_met_once_is_not_kept_and_what_is_wanted_stays() {
        let (mut recipes, mut store) = (Recipes::default(), MaskStore::new(true));
        let max = 40_000;
        let many = Inside::new(Tokens::Many([1; 1_000].into()));
        let insides = |number: u32| [many.clone(), Inside::new(Tokens::Few([number].into()))];
        let first = insides(0);
        for number in 0..2_000 {
            let own = insides(number);
            let recipe = recipe(&own, &[], false, u64::from(number + 1) << 32 | 7);
            recipes.insert(&recipe, given(&mut store, number), max);
            assert!(recipes.get(&recipe).is_none(), "met once");
            recipes.insert(&recipe, given(&mut store, number), max);
            assert!(recipes.get(&recipe).is_some());
            assert!(recipes.get(&super::tests::recipe(&first, &[], false, 1 << 32 | 7)).is_some(), "{number}");
            assert!(recipes.bytes() <= max);
        }
        assert!(recipes.get(&recipe(&insides(1), &[], false, 2 << 32 | 7)).is_none());
        while recipes.pop().is_some() {}
        assert_eq!((recipes.bytes(), recipes.kept.len()), (0, 0));
        // What is too much by itself is not kept, and drops nothing.
        (0..2).for_each(|_| recipes.insert(&recipe(&first, &[], false, 3 << 32 | 7), given(&mut store, 0), 4_000));
        assert_eq!(recipes.bytes(), 0);
    }
}
