//! Places that are several threads: lists, of which each is kept once, and the steps between them.

use std::sync::Arc;

use larkspur_grammar::hashing::hash_of;
use larkspur_grammar::{LexerMode, Limits};

use super::{Cursor, Machine, Thread};
use crate::error::Fault;
use crate::growing::{GrowingIds, GrowingMap};

/// Steps that are remembered at most; then all are forgotten. 12 MB.
const STEPS_MAX: usize = 1 << 18;

/// The part of `Limits::earley_bytes_max` that lists may take besides: one in so many.
const LISTS_SHARE: usize = 4;

/// The part of `Limits::mask_cache_bytes_max` past which lists that only a walk over the trie has met are dropped: one in so many.
const WALKED_SHARE: usize = 8;

/// What a list takes besides its threads: where it is, its number, and its header.
const LIST_BYTES: usize = 80;

/// What a step of a list depends on: the list, the byte, in which token, and whether texts may be forgotten.
type Step = (u32, u8, u32, bool);

/// Lists of threads by number, and the steps from them.
#[derive(Default, Debug)]
pub(super) struct Lists {
    lists: Vec<Arc<[Thread]>>,
    /// By content.
    ids: GrowingIds<u32>,
    steps: GrowingMap<Step, Option<Cursor>>,
    bytes: usize,
}

impl Lists {
    pub fn get(&self, id: u32) -> &Arc<[Thread]> {
        &self.lists[id as usize]
    }

    /// The number of a list.
    ///
    /// Errors: `earley_sets_max`, `earley_bytes_max`.
    pub fn intern(&mut self, threads: Vec<Thread>, limits: &Limits) -> Result<u32, Fault> {
        let hash = hash_of(&*threads);
        if let Some(known) = self.ids.find(hash, |id| *self.lists[id as usize] == *threads) {
            return Ok(known);
        }
        if self.lists.len() >= limits.earley_sets_max {
            return Err(Fault::exceeded("earley_sets_max", limits.earley_sets_max as u64));
        }
        if self.bytes > limits.earley_bytes_max / LISTS_SHARE {
            return Err(Fault::exceeded("earley_bytes_max", limits.earley_bytes_max as u64));
        }
        let threads: Arc<[Thread]> = threads.into();
        let id = self.lists.len() as u32;
        self.bytes += LIST_BYTES + size_of_val(&*threads);
        self.lists.push(threads);
        self.ids.insert(hash, id);
        Ok(id)
    }

    /// Drops the lists past the first ones, and what is remembered of all.
    fn truncate(&mut self, len: usize) {
        for (id, threads) in (len as u32..).zip(self.lists.drain(len..)) {
            self.bytes -= LIST_BYTES + size_of_val(&*threads);
            self.ids.remove(hash_of(&*threads), id);
        }
        self.steps = GrowingMap::default();
    }
}

impl Machine {
    /// The step of a list, which is remembered where it depends on nothing but a [`Step`].
    pub(super) fn step_list(&mut self, id: u32, byte: u8) -> Result<Option<Cursor>, Fault> {
        let token = if self.cfg.has_scopes { self.sets.token_now } else { 0 };
        let step = (id, byte, token, self.sets.ahead.is_on);
        let may_be_known = self.reread_depth == 0 && !(self.cfg.has_hidden && self.tape.is_on());
        if let Some(&known) = self.lists.steps.get(&step).filter(|_| may_be_known) {
            return Ok(known);
        }
        let threads = self.lists.get(id).clone();
        let next = self.step_threads(&threads, byte)?;
        let depends_on_text = |threads: &[Thread]| threads.iter().any(|thread| self.lexer.state(thread.lex).records);
        let is_known = may_be_known
            && !(self.tape.is_on()
                && (depends_on_text(&threads) || next.is_some_and(|next| depends_on_text(&self.threads(next)))));
        if is_known {
            if self.lists.steps.len() >= STEPS_MAX {
                self.lists.steps = GrowingMap::default();
            }
            self.lists.steps.insert(step, next);
        }
        Ok(next)
    }

    /// The step of a list's threads.
    pub(super) fn step_threads(&mut self, threads: &[Thread], byte: u8) -> Result<Option<Cursor>, Fault> {
        self.stepped += threads.len() as u64;
        if self.cfg.mode == LexerMode::Exact {
            return self.step_exact(threads.to_vec(), byte);
        }
        let mut next = Vec::new();
        for &thread in threads {
            next.extend(self.step_longest(thread, byte)?);
        }
        self.join(&next)
    }

    /// Bytes of sets, of lists of threads, and of steps of walks, roughly.
    pub fn bytes(&self) -> usize {
        self.sets.bytes() + self.lists.bytes + self.steps.bytes()
    }

    /// How many lists there are, for [`Self::forget_lists`].
    pub fn lists_len(&self) -> usize {
        self.lists.lists.len()
    }

    /// Drops lists that only a walk has met, if they are many: of the text there is one for each token, of a walk there are
    /// some thousand.
    pub fn forget_lists(&mut self, since: usize) {
        // In the other mode, and where texts are read again, more is remembered by place.
        let are_of_walk = self.cfg.mode == LexerMode::Exact && !self.cfg.has_hidden;
        if are_of_walk && self.lists.bytes > self.limits.mask_cache_bytes_max / WALKED_SHARE {
            self.lists.truncate(since);
            self.steps.forget();
        }
    }
}
