//! The machine as a recognizer of bytes, for walks over the trie that ask it byte by byte.

use std::hash::{Hash, Hasher};

use larkspur_toktrie::{ROOT, Recognizer, TokenMask, TokenTrie};
use rustc_hash::{FxHashMap, FxHasher};

use super::work::Work;
use crate::error::Fault;
use crate::machine::{Cursor, Machine, Quick, Word};
use crate::slicer::{Open, PieceNode, Slicer};

/// What a step counts that is more than a look-up, and for a list each of its threads, as `Limits::mask_work_max` counts it.
const STEP_WORK: u64 = 32;

/// Where a walk goes.
pub(super) enum Part<'a> {
    /// To what is below a node. It begins at that node.
    Below(&'a TokenTrie, u32),
    /// To the nodes of a slice's trie that are open. It begins at the root.
    Open(&'a TokenTrie, Open<'a>),
    /// To these nodes, sorted, and what is below them. It begins at the root.
    Nodes(&'a Slicer, &'a [PieceNode]),
}

impl Part<'_> {
    /// Whether it goes to all of a trie, but for what is decided.
    pub fn is_whole(&self) -> bool {
        matches!(self, Part::Below(_, ROOT) | Part::Open(..))
    }

    /// Bytes of the longest token.
    pub fn depth_max(&self) -> usize {
        match self {
            Part::Below(trie, _) | Part::Open(trie, _) => trie.depth_max(),
            Part::Nodes(slicer, _) => slicer.tries().map(TokenTrie::depth_max).max().unwrap_or(0),
        }
    }

    /// Allows the tokens that a recognizer takes. Returns the nodes visited.
    pub fn walk<R: Recognizer>(self, recognizer: &mut R, start: R::State, mask: &mut TokenMask) -> u64 {
        match self {
            Part::Below(trie, node) => trie.walk_from(node, recognizer, start, mask),
            Part::Open(trie, open) => trie.walk_open(ROOT, |node| open.is_open(node), recognizer, start, mask),
            Part::Nodes(slicer, nodes) => walk_nodes(slicer, nodes, recognizer, start, mask),
        }
    }
}

fn walk_nodes<R: Recognizer>(
    slicer: &Slicer,
    nodes: &[PieceNode],
    recognizer: &mut R,
    start: R::State,
    mask: &mut TokenMask,
) -> u64 {
    let mut visited = 0;
    // The way to the last node, and the states on it as far as it can be gone.
    let mut way: Vec<u8> = Vec::new();
    let mut states = vec![start];
    for &node in nodes {
        let (trie, root) = slicer.trie_of(node);
        let path = trie.path(node - root);
        let shared = way.iter().zip(&path).take_while(|(a, b)| a == b).count();
        states.truncate(shared + 1);
        way = path;
        while let Some(&byte) = way.get(states.len() - 1) {
            visited += 1;
            match recognizer.step(states[states.len() - 1], byte) {
                Some(next) => states.push(next),
                None => break,
            }
        }
        if states.len() == way.len() + 1 {
            trie.token(node - root).into_iter().for_each(|token| mask.allow(token));
            visited += trie.walk_from(node - root, recognizer, states[way.len()], mask);
        }
    }
    visited
}

/// The machine as a recognizer of bytes. A fault makes it refuse everything, so that the walk ends soon.
pub(super) struct Walker<'a> {
    pub machine: &'a mut Machine,
    fault: Option<Fault>,
    work: Work,
    /// Whether steps are remembered, as they are worth it in walks over a whole trie.
    remembers: bool,
}

/// Where nothing is recorded: there all lexemes begin at 0.
impl Recognizer for Walker<'_> {
    type State = Word;

    #[inline]
    fn step(&mut self, state: Word, byte: u8) -> Option<Word> {
        match self.machine.quick(state, byte) {
            Quick::To(next) => Some(next),
            Quick::Refused => None,
            Quick::Ask => match self.remembers.then(|| self.machine.remembered(state, byte)) {
                Some(Quick::To(next)) => Some(next),
                Some(Quick::Refused) => None,
                Some(Quick::Ask) | None => self.step_slow(Cursor::from_word(state, 0), byte).map(Cursor::word),
            },
        }
    }
}

impl<'a> Walker<'a> {
    /// A walker that goes on with work, over a whole trie or a part of it.
    pub fn new(machine: &'a mut Machine, work: Work, is_whole: bool) -> Self {
        Self { remembers: is_whole && machine.may_remember(), machine, fault: None, work }
    }

    /// The work done, after a walk that visited so many nodes, and whether it came to its end.
    pub fn finish(mut self, visited: u64) -> (Work, Result<(), Fault>) {
        let counted = self.work.visit(visited);
        (self.work, self.fault.map_or(counted, Err))
    }

    #[inline(never)]
    fn step_slow(&mut self, state: Cursor, byte: u8) -> Option<Cursor> {
        if self.fault.is_some() {
            return None;
        }
        let stepped = self.machine.stepped;
        let next = match self.remembers {
            true => self.machine.step_of_walk(state, byte),
            false => self.machine.step_slow(state, byte),
        };
        let counted = self.work.add(STEP_WORK * (1 + self.machine.stepped - stepped));
        match counted.and(next) {
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
pub(super) struct EagerWalker<'a> {
    pub walker: Walker<'a>,
    /// Whether the text may end there.
    is_complete: FxHashMap<Cursor, bool>,
    /// The same of some places, by their hash: free text is in few places, again and again.
    recent: [Option<(Cursor, bool)>; RECENT_PLACES],
}

impl<'a> EagerWalker<'a> {
    pub fn new(walker: Walker<'a>) -> Self {
        Self { walker, is_complete: FxHashMap::default(), recent: [None; RECENT_PLACES] }
    }

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
pub(super) struct RecordingWalker<'a> {
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
pub(super) struct Depth(u64);

impl Depth {
    pub fn new(began: u32, depth: usize) -> Self {
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

impl<'a> RecordingWalker<'a> {
    /// A walker from a place, over tokens of at most `depth_max` bytes.
    pub fn new(walker: Walker<'a>, from: Cursor, depth_max: usize) -> Self {
        Self { here: walker.machine.tape.end(), path: vec![0; depth_max + 1], from, is_told: false, walker }
    }

    /// Puts the tape back to where the walk began.
    pub fn finish(self) -> (Walker<'a>, bool) {
        self.walker.machine.tape.truncate(self.here);
        (self.walker, self.is_told)
    }

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
