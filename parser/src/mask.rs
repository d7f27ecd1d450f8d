//! From a place in the text to the token mask: slices, the trie walk, token letters, EOS; and the memo of whole masks.

use std::hash::{Hash, Hasher};
use std::ops::Add;

use hashbrown::HashTable;
use larkspur_toktrie::{Recognizer, TokenMask, TokenTrie, Vocabulary};
use rustc_hash::{FxHashMap, FxHasher};

use crate::error::Fault;
use crate::lexer::states::LexStateId;
use crate::machine::{Contents, Cursor, Machine, Quick, Word};
use crate::slicer::Slicer;

/// Masks made so far, and which slices lexer states contain.
#[derive(Debug)]
pub(crate) struct MaskCache {
    /// Index into `masks` of the mask of a place.
    mask_of: FxHashMap<Cursor, u32>,
    /// The same for places where the text of a lexeme is recorded, by their threads with that text.
    recorded_mask_of: FxHashMap<Contents, u32>,
    /// Distinct masks: many places have the same.
    masks: Vec<Box<[u32]>>,
    /// Indices into `masks` by content.
    ids: HashTable<u32>,
    bytes: usize,
    bytes_max: usize,
    /// Work of the mask that is being made, as `Limits::mask_work_max` counts it.
    work: u64,
    /// Whether the mask that is being made depends on texts that one who looks ahead has forgotten.
    is_told: bool,
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

impl Add for MaskStats {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            hits: self.hits + other.hits,
            misses: self.misses + other.misses,
            nodes_visited: self.nodes_visited + other.nodes_visited,
        }
    }
}

impl MaskCache {
    /// A memo of at most `bytes_max` bytes of masks; 0 switches it off.
    pub fn new(bytes_max: usize) -> Self {
        Self {
            mask_of: FxHashMap::default(),
            recorded_mask_of: FxHashMap::default(),
            masks: Vec::new(),
            ids: HashTable::new(),
            bytes: 0,
            bytes_max,
            work: 0,
            is_told: false,
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
        let ahead = machine.ahead(cursor)?;
        if self.known(machine, ahead, mask) || ahead != cursor && self.known(machine, cursor, mask) {
            self.hits += 1;
            return Ok(());
        }
        self.misses += 1;
        (self.work, self.is_told) = (0, false);
        mask.clear();
        machine.sets.ahead.is_on = machine.tape.is_on();
        let made = self.make(machine, vocabulary, slicer, (cursor, ahead), mask);
        machine.sets.ahead.is_on = false;
        made?;
        self.remember(machine, if self.is_told { cursor } else { ahead }, mask);
        Ok(())
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
        if self.known(machine, cursor, mask) {
            self.hits += 1;
            return Ok(());
        }
        self.misses += 1;
        mask.clear();
        let work_max = machine.limits.mask_work_max;
        let walker = Walker { machine, fault: None, work: 0, work_max };
        let mut eager = EagerWalker { walker, is_complete: FxHashMap::default(), recent: [None; RECENT_PLACES] };
        let visited = vocabulary.trie().walk(&mut eager, (cursor.word(), false), mask);
        self.nodes_visited += visited;
        let Walker { fault, work, .. } = eager.walker;
        match fault {
            Some(fault) => return Err(fault),
            None if work + visited > work_max => return Err(Fault::exceeded("mask_work_max", work_max)),
            None => {}
        }
        vocabulary.trie().finish_mask(mask);
        self.remember(machine, cursor, mask);
        Ok(())
    }

    /// Writes the mask of a place if it is remembered.
    fn known(&self, machine: &Machine, cursor: Cursor, mask: &mut TokenMask) -> bool {
        let known = match machine.records(cursor) {
            true => self.recorded_mask_of.get(&machine.contents(cursor)),
            false => self.mask_of.get(&cursor),
        };
        if let Some(&known) = known {
            mask.copy_from(&self.masks[known as usize]);
        }
        known.is_some()
    }

    /// Makes the mask of a place, looking ahead from another one that stands for it.
    fn make(
        &mut self,
        machine: &mut Machine,
        vocabulary: &Vocabulary,
        slicer: &Slicer,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        self.text_tokens(machine, slicer, (cursor, ahead), mask)?;
        vocabulary.trie().finish_mask(mask);
        for letter in self.told(machine, (cursor, ahead), Machine::token_letters)? {
            mask.or_assign(&machine.cfg.token_letters[letter].bits);
        }
        if self.told(machine, (cursor, ahead), Machine::accepts)? {
            vocabulary.eos().iter().for_each(|&eos| mask.allow(eos));
        }
        Ok(())
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

    fn remember(&mut self, machine: &Machine, cursor: Cursor, mask: &TokenMask) {
        let contents: Option<Contents> = machine.records(cursor).then(|| machine.contents(cursor));
        let words = mask.words();
        let text: usize = contents.iter().flatten().map(|(_, _, text)| text.len() + size_of::<Contents>()).sum();
        let bytes = size_of_val(words) + text;
        if bytes > self.bytes_max {
            return;
        }
        let places_max = self.bytes_max / size_of::<(Cursor, u64, u64)>();
        let places = self.mask_of.len() + self.recorded_mask_of.len();
        if self.bytes > self.bytes_max - bytes || places >= places_max.max(1) {
            self.mask_of.clear();
            self.recorded_mask_of.clear();
            self.masks.clear();
            self.ids.clear();
            self.bytes = 0;
        }
        let masks = &mut self.masks;
        let hash = hash_words(words);
        let id = match self.ids.find(hash, |&id| *masks[id as usize] == *words) {
            Some(&known) => known,
            None => {
                let id = masks.len() as u32;
                masks.push(words.into());
                self.ids.insert_unique(hash, id, |&id| hash_words(&masks[id as usize]));
                self.bytes += size_of_val(words);
                id
            }
        };
        self.bytes += text;
        match contents {
            Some(contents) => _ = self.recorded_mask_of.insert(contents, id),
            None => _ = self.mask_of.insert(cursor, id),
        }
    }

    fn text_tokens(
        &mut self,
        machine: &mut Machine,
        slicer: &Slicer,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        let threads = machine.threads(cursor);
        for (index, slice) in slicer.slices.iter().enumerate() {
            let mut contained = false;
            for thread in threads.iter() {
                contained |= match self.contained.get(&(thread.lex, index)) {
                    Some(&known) => known,
                    None => {
                        let answer = slice.is_contained(&mut machine.lexer, machine.cfg.mode, thread.lex)?;
                        self.contained.insert((thread.lex, index), answer);
                        answer
                    }
                };
            }
            if contained {
                mask.or_assign(&slice.mask);
            } else {
                self.walk_ahead(machine, &slice.trie, 0, (cursor, ahead), mask)?;
            }
        }
        self.walk_ahead(machine, &slicer.rest, 0, (cursor, ahead), mask)
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
        machine.sets.ahead.is_on = machine.tape.is_on();
        let walked = self.walk_ahead(machine, trie, node, (cursor, ahead), mask);
        machine.sets.ahead.is_on = false;
        walked
    }

    fn walk_ahead(
        &mut self,
        machine: &mut Machine,
        trie: &TokenTrie,
        node: u32,
        (cursor, ahead): (Cursor, Cursor),
        mask: &mut TokenMask,
    ) -> Result<(), Fault> {
        let work_max = machine.limits.mask_work_max;
        let mut walker = Walker { machine, fault: None, work: self.work, work_max };
        let visited = if walker.machine.tape.is_on() {
            let here = walker.machine.tape.end();
            let path = vec![0; trie.depth_max() + 1];
            let mut recording = RecordingWalker { here, path, from: cursor, is_told: false, walker };
            let visited = trie.walk_from(node, &mut recording, (ahead.word(), Depth::new(ahead.began(), 0)), mask);
            self.is_told |= recording.is_told;
            walker = recording.walker;
            walker.machine.tape.truncate(here);
            visited
        } else {
            trie.walk_from(node, &mut walker, cursor.word(), mask)
        };
        let fault = walker.fault;
        self.nodes_visited += visited;
        self.work = walker.work + visited;
        match fault {
            Some(fault) => Err(fault),
            None if self.work > work_max => Err(Fault::exceeded("mask_work_max", work_max)),
            None => Ok(()),
        }
    }
}

fn hash_words(words: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    words.as_chunks::<2>().0.iter().for_each(|&[low, high]| hasher.write_u64(u64::from(high) << 32 | u64::from(low)));
    words.as_chunks::<2>().1.iter().for_each(|&word| hasher.write_u32(word));
    hasher.finish()
}

/// The machine as a recognizer of bytes. A fault makes it refuse everything, so that the walk ends soon.
struct Walker<'a> {
    machine: &'a mut Machine,
    fault: Option<Fault>,
    work: u64,
    work_max: u64,
}

/// Where nothing is recorded: there all lexemes begin at 0.
impl Recognizer for Walker<'_> {
    type State = Word;

    #[inline]
    fn step(&mut self, state: Word, byte: u8) -> Option<Word> {
        match self.machine.quick(state, byte) {
            Quick::To(next) => Some(next),
            Quick::Refused => None,
            Quick::Ask => self.step_slow(Cursor::from_word(state, 0), byte).map(Cursor::word),
        }
    }
}

impl Walker<'_> {
    #[inline(never)]
    fn step_slow(&mut self, state: Cursor, byte: u8) -> Option<Cursor> {
        self.work += 16;
        if self.work > self.work_max {
            self.fault = Some(Fault::exceeded("mask_work_max", self.work_max));
        }
        if self.fault.is_some() {
            return None;
        }
        match self.machine.step_slow(state, byte) {
            Ok(next) => next,
            Err(fault) => {
                self.fault = Some(fault);
                None
            }
        }
    }
}

/// Places of which [`EagerWalker`] has the answer at hand.
const RECENT_PLACES: usize = 64;

/// A walker that goes no further than to the first place at which the text is complete. A state says whether it is one.
struct EagerWalker<'a> {
    walker: Walker<'a>,
    /// Whether the text may end there.
    is_complete: FxHashMap<Cursor, bool>,
    /// The same of some places, by their hash: free text is in few places, again and again.
    recent: [Option<(Cursor, bool)>; RECENT_PLACES],
}

impl EagerWalker<'_> {
    #[inline]
    fn is_complete(&mut self, cursor: Cursor) -> bool {
        let mut hasher = FxHasher::default();
        cursor.hash(&mut hasher);
        let slot = hasher.finish() as usize % RECENT_PLACES;
        match self.recent[slot] {
            Some((place, known)) if place == cursor => known,
            _ => {
                let is_complete = self.ask(cursor);
                self.recent[slot] = Some((cursor, is_complete));
                is_complete
            }
        }
    }

    #[inline(never)]
    fn ask(&mut self, cursor: Cursor) -> bool {
        if let Some(&known) = self.is_complete.get(&cursor) {
            return known;
        }
        let machine = &mut *self.walker.machine;
        let accepts = if machine.ends_lexeme(cursor) { machine.accepts(cursor) } else { Ok(false) };
        let accepts = accepts.unwrap_or_else(|fault| {
            self.walker.fault = Some(fault);
            false
        });
        self.is_complete.insert(cursor, accepts);
        accepts
    }
}

impl Recognizer for EagerWalker<'_> {
    type State = (Word, bool);

    #[inline]
    fn step(&mut self, (place, is_complete): (Word, bool), byte: u8) -> Option<(Word, bool)> {
        if is_complete {
            return None;
        }
        let next = self.walker.step(place, byte)?;
        Some((next, self.is_complete(Cursor::from_word(next, 0))))
    }
}

/// A walker for grammars that record lexemes: keeps the path from where the walk began, of which the tape has what is
/// needed only where lexemes end. A state is a place and its depth.
struct RecordingWalker<'a> {
    walker: Walker<'a>,
    /// Where the walk began.
    from: Cursor,
    /// Where the tape ends there.
    here: usize,
    path: Vec<u8>,
    /// Whether something depended on texts that were forgotten.
    is_told: bool,
}

/// How deep below where the walk began, and where the lexemes began: a word, as [`Word`] is.
#[derive(Clone, Copy)]
struct Depth(u64);

impl Depth {
    fn new(began: u32, depth: usize) -> Self {
        Self(u64::from(began) << 32 | depth as u64)
    }
    fn began(self) -> u32 {
        (self.0 >> 32) as u32
    }
    fn depth(self) -> usize {
        self.0 as u32 as usize
    }
    fn deeper(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Recognizer for RecordingWalker<'_> {
    type State = (Word, Depth);

    #[inline]
    fn step(&mut self, (word, depth): (Word, Depth), byte: u8) -> Option<(Word, Depth)> {
        let (next, deeper) = match self.walker.machine.quick(word, byte) {
            Quick::To(next) => (next, depth.deeper()),
            Quick::Refused => return None,
            Quick::Ask => {
                let next = self.step_slow(Cursor::from_word(word, depth.began()), depth.depth(), byte)?;
                (next.word(), Depth::new(next.began(), depth.depth() + 1))
            }
        };
        self.path[depth.depth()] = byte;
        Some((next, deeper))
    }
}

impl RecordingWalker<'_> {
    #[inline(never)]
    fn step_slow(&mut self, cursor: Cursor, depth: usize, byte: u8) -> Option<Cursor> {
        let tape = &mut self.walker.machine.tape;
        tape.truncate(self.here);
        tape.extend(&self.path[..depth]);
        let next = self.walker.step_slow(cursor, byte);
        if self.walker.fault != Some(Fault::Untold) {
            return next;
        }
        self.walker.fault = None;
        self.is_told = true;
        self.walker.machine.sets.ahead.is_on = false;
        let next = self.go_again(depth, byte);
        self.walker.machine.sets.ahead.is_on = true;
        next
    }

    /// The place after the path and a byte, from where the walk began and with nothing forgotten.
    fn go_again(&mut self, depth: usize, byte: u8) -> Option<Cursor> {
        self.walker.machine.tape.truncate(self.here);
        let mut cursor = self.from;
        for index in 0..depth {
            cursor = self.walker.step_slow(cursor, self.path[index])?;
            self.walker.machine.tape.push(self.path[index]);
        }
        self.walker.step_slow(cursor, byte)
    }
}
