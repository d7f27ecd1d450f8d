//! From a place in the text to the token mask: slices, the trie walk, token letters, EOS; and the memo of whole masks.

use std::sync::Arc;

use larkspur_toktrie::{Recognizer, TokenMask, TokenTrie, Vocabulary};
use rustc_hash::FxHashMap;

use crate::error::Fault;
use crate::lexer::states::LexStateId;
use crate::machine::{Cursor, Machine};
use crate::slicer::Slicer;

/// Masks made so far, and which slices lexer states contain.
#[derive(Debug)]
pub(crate) struct MaskCache {
    masks: FxHashMap<Cursor, Arc<[u32]>>,
    bytes: usize,
    bytes_max: usize,
    contained: FxHashMap<(LexStateId, usize), bool>,
    hits: u64,
    misses: u64,
    nodes_visited: u64,
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
}

impl MaskCache {
    /// A memo of at most `bytes_max` bytes of masks; 0 switches it off.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            masks: FxHashMap::default(),
            bytes: 0,
            bytes_max,
            contained: FxHashMap::default(),
            hits: 0,
            misses: 0,
            nodes_visited: 0,
        }
    }

    pub fn stats(&self) -> MaskStats {
        MaskStats { hits: self.hits, misses: self.misses, nodes_visited: self.nodes_visited }
    }

    /// Writes the tokens allowed at `cursor`, EOS included.
    pub fn mask(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        cursor: Cursor,
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        if let Some(known) = self.masks.get(&cursor) {
            self.hits += 1;
            mask.copy_from(known);
            return Ok(());
        }
        self.misses += 1;
        mask.clear();
        self.text_tokens(machine, slicer, cursor, mask)?;
        vocabulary.trie().finish_mask(mask);
        for letter in machine.token_letters(cursor)? {
            mask.or_assign(&machine.cfg.token_letters[letter].bits);
        }
        if machine.accepts(cursor)? {
            vocabulary.eos().iter().for_each(|&eos| mask.allow(eos));
        }
        self.remember(cursor, mask);
        Ok(())
    }

    fn remember(&mut self, cursor: Cursor, mask: &TokenMask) {
        let bytes = size_of_val(mask.words());
        if bytes > self.bytes_max {
            return;
        }
        if self.bytes + bytes > self.bytes_max {
            self.masks.clear();
            self.bytes = 0;
        }
        self.bytes += bytes;
        self.masks.insert(cursor, mask.words().into());
    }

    fn text_tokens(
        &mut self,
        machine: &mut Machine,
        slicer: &Slicer,
        cursor: Cursor,
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        let threads = machine.threads(cursor);
        for (index, slice) in slicer.slices.iter().enumerate() {
            let mut contained = false;
            for thread in threads.iter() {
                contained |= match self.contained.get(&(thread.lex, index)) {
                    Some(&known) => known,
                    None => {
                        let answer = slice.is_contained(&mut machine.lexer, thread.lex)?;
                        self.contained.insert((thread.lex, index), answer);
                        answer
                    }
                };
            }
            if contained {
                mask.or_assign(&slice.mask);
            } else {
                self.walk(machine, &slice.trie, 0, cursor, mask)?;
            }
        }
        self.walk(machine, &slicer.rest, 0, cursor, mask)
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
        let work_max = machine.limits.mask_work_max;
        let mut walker = Walker { machine, fault: None, work: 0, work_max };
        let visited = trie.walk_from(node, &mut walker, cursor, mask);
        let fault = walker.fault;
        self.nodes_visited += visited;
        fault.map_or(Ok(()), Err)
    }
}

/// The machine as a recognizer of bytes. A fault makes it refuse everything, so that the walk ends soon.
struct Walker<'a> {
    machine: &'a mut Machine,
    fault: Option<Fault>,
    work: u64,
    work_max: u64,
}

impl Recognizer for Walker<'_> {
    type State = Cursor;

    #[inline]
    fn step(&mut self, state: Cursor, byte: u8) -> Option<Cursor> {
        self.work += 1;
        if self.work > self.work_max {
            self.fault = Some(Fault::exceeded("mask_work_max", self.work_max));
        }
        if self.fault.is_some() {
            return None;
        }
        match self.machine.step(state, byte) {
            Ok(next) => next,
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }
}
