//! The slicer: masks of unconstrained string contexts, made once per vocabulary.
//!
//! A slice is a regex. Each token belongs to the first slice that matches it, or to the rest. Where a lexer state
//! provably takes every text of a slice, the slice's mask is taken whole; otherwise the trie of its tokens is walked.
//! That a state takes a slice is proved on the product of the two automata, which come from the regex algebra; so it
//! holds for lazy lexemes, counted repetition and free text alike.

mod parts;
mod ways;

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use larkspur_grammar::algebra::Horizon;
use larkspur_grammar::regex_syntax::{Dialect, RegexOptions, parse_regex};
use larkspur_grammar::text_map::TextMap;
use larkspur_grammar::{CharClass, Diagnostic, LexerMode, Limits, RegexId, RegexNode, RegexSet, SourceId};
use larkspur_toktrie::{ROOT, TokenId, TokenTrie, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::counting_sort::by_key;
use crate::error::Fault;
use crate::lexer::arena::{Arena, Expr};
use crate::lexer::states::{Alone, DEAD, LexState, LexStateId, Lexer, StateKind};
use crate::reach::horizon;
pub(crate) use parts::{Alphabet, Decided, Lengths, Open, Parts};
use ways::Behind;

/// The slices that suit JSON, code and free text: string interiors without and with `<` (which begins the end of most
/// tool calls), by length, so that `maxLength` of at least that length takes them, then any text.
pub const DEFAULT_SLICES: [&str; 5] = [
    r#"[^"\\<\x00-\x1F\x7F]{1,10}"#,
    r#"[^"\\<\x00-\x1F\x7F]{1,30}"#,
    r#"[^"\\\x00-\x1F\x7F]{1,30}"#,
    r#"[ \t\r\n]{1,32}"#,
    r"(?s:.){1,32}",
];

/// Slices of an engine at most: each state is asked about each of them. Past a handful they cost more than they spare.
pub const SLICES_MAX: usize = 64;

/// Bytes of a short token.
const SHORT_BYTES_MAX: usize = 32;

/// A slice has parts if it has this part of all nodes, one in so many: so that walks are longer than to find out which parts a
/// state takes.
const PARTED_SHARE: usize = 16;

/// In place of the slice of a token that none matches.
const NO_SLICE: u8 = u8::MAX;
const _: () = assert!(SLICES_MAX < NO_SLICE as usize);

/// States of a slice's automaton; a slice that needs more is refused.
const SLICE_STATES_MAX: usize = 4096;

/// Pairs of states visited to prove containment; past it the trie is walked, which is always right. Of slices of a few
/// hundred states a lexer state that takes them needs hardly more pairs than they have states.
const PAIRS_MAX: usize = 1024;

/// States that go on with so many bytes at most are narrow.
pub(crate) const NARROW: u32 = 24;

/// Of more lexemes side by side, those that are narrow, as words are, are not asked about parts: it takes longer than
/// to walk where they go.
const FEW_LEXEMES: usize = 8;

/// Pairs that are visited before it is looked for plain ways.
const FEW_PAIRS: usize = 32;

/// A slice's automaton.
#[derive(Debug)]
struct Automaton {
    /// States after each byte, 0 being dead and 1 the start.
    rows: Vec<[u16; 256]>,
    /// The same as ranges of bytes that lead to one state, but for the dead one. Few bytes lead on from most states.
    live: Vec<Box<[Live]>>,
    accepting: Vec<bool>,
}

/// From the first to the last of these bytes a state leads to one other.
#[derive(Clone, Copy, Debug)]
struct Live {
    first: u8,
    last: u8,
    to: u16,
}

impl Live {
    /// The ranges of a row.
    fn of(row: &[u16; 256]) -> Box<[Self]> {
        let mut first = 0;
        let ranges = row.chunk_by(|a, b| a == b).map(|run| {
            let last = first + run.len() - 1;
            let live = Self { first: first as u8, last: last as u8, to: run[0] };
            first = last + 1;
            live
        });
        ranges.filter(|live| live.to != 0).collect()
    }

    /// What another automaton's row has for these bytes.
    fn of_row<T>(self, row: &[T; 256]) -> &[T] {
        &row[usize::from(self.first)..=usize::from(self.last)]
    }
}

/// The slices of a vocabulary.
#[derive(Debug)]
pub(crate) struct Slicer {
    pub slices: Vec<Slice>,
    /// Tokens that belong to no slice: the short ones and the long ones, some 160 of 200,000, for which counts matter that
    /// the others cannot reach.
    pub rests: [TokenTrie; 2],
    /// How long the tokens of each trie are at most.
    pub horizons: Vec<Horizon>,
    /// The nodes below the roots of all tries.
    pub roots: Arc<[PieceNode]>,
    /// The numbers of the tries' roots.
    root_of: Vec<PieceNode>,
    by_byte: OnceLock<ByByte>,
    below: OnceLock<[u32; 256]>,
    before: OnceLock<Box<[u8]>>,
    vocabulary: Arc<Vocabulary>,
    /// Words of a mask.
    pub words_len: usize,
}

/// All nodes by the byte that enters them, of each byte ascending, and where those of each byte begin.
type ByByte = (Box<[PieceNode]>, [u32; 257]);

/// A node of one of the tries that the vocabulary is sorted into: those of the slices, then the rests. Their nodes are
/// numbered one trie after the other.
pub(crate) type PieceNode = u32;

/// A slice, its automaton, and the tokens that belong to it.
#[derive(Debug)]
pub(crate) struct Slice {
    automaton: Automaton,
    /// For a slice `X{1,n}` of characters the automaton of `X+`, which has a handful of states, and `n`.
    counted: Option<(Automaton, u32)>,
    pub mask: Vec<u32>,
    pub trie: TokenTrie,
    /// Its tokens by alphabet and length, if it is large and of texts of some characters.
    pub parts: Option<Parts>,
    /// Slices before it all of whose texts are its own: what does not take them does not take it.
    includes: Vec<usize>,
}

/// Why a slicer could not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SliceError {
    /// There are more than [`SLICES_MAX`].
    #[error("{found} slices; at most {limit} are possible")]
    TooMany {
        /// How many there are.
        found: usize,
        /// [`SLICES_MAX`].
        limit: usize,
    },
    /// The slice is not a regex.
    #[error("slice {index} is not a regex: {message}")]
    Regex {
        /// Which one.
        index: usize,
        /// What is wrong with it.
        message: String,
    },
    /// The slice's automaton is too large.
    #[error("slice {index} needs more than {limit} states")]
    TooLarge {
        /// Which one.
        index: usize,
        /// The limit.
        limit: usize,
    },
    /// A limit is too small for a slice, given or of [`DEFAULT_SLICES`].
    #[error("limit `{limit}` of {value} exceeded by slice {index} of the vocabulary's tokens; raise it")]
    LimitExceeded {
        /// Which slice.
        index: usize,
        /// A field of [`Limits`].
        limit: &'static str,
        /// Its value.
        value: u64,
    },
}

impl Slicer {
    /// Sorts the vocabulary's tokens into slices.
    ///
    /// Errors: [`SliceError`].
    /// Cost: about the length of the vocabulary's tokens for each slice.
    pub fn new(
        vocabulary: &Arc<Vocabulary>,
        slices: &[String],
        arena: &Arena,
        limits: &Limits,
    ) -> Result<Self, SliceError> {
        if slices.len() > SLICES_MAX {
            return Err(SliceError::TooMany { found: slices.len(), limit: SLICES_MAX });
        }
        let mut automata = Vec::with_capacity(slices.len());
        let mut classes = Vec::with_capacity(slices.len());
        for (index, slice) in slices.iter().enumerate() {
            let ending = slice.rsplit_once("{1,").and_then(|(body, count)| Some((body, count.strip_suffix('}')?)));
            let class = ending.map(|(body, _)| class(index, body)).transpose()?.flatten();
            let counted = match (&class, ending.and_then(|(body, count)| Some((body, count.parse().ok()?)))) {
                (Some(_), Some((body, count))) => Some((automaton(index, &format!("{body}+"), arena, limits)?, count)),
                _ => None,
            };
            automata.push((automaton(index, slice, arena, limits)?, counted));
            classes.push(class);
        }
        let mut slice_of: Vec<u8> = vec![NO_SLICE; vocabulary.len()];
        for id in 0..vocabulary.len() as TokenId {
            let Some(bytes) = vocabulary.token_bytes(id) else { continue };
            if let Some(slice) = automata.iter().position(|(automaton, _)| automaton.matches(bytes)) {
                slice_of[id as usize] = slice as u8;
            }
        }
        let trie = vocabulary.trie();
        let mut slices = Vec::with_capacity(automata.len());
        for (index, ((automaton, counted), class)) in automata.into_iter().zip(classes).enumerate() {
            let mut mask = vec![0; vocabulary.len().div_ceil(32)];
            for (id, _) in slice_of.iter().enumerate().filter(|(_, of)| usize::from(**of) == index) {
                mask[id / 32] |= 1 << (id % 32);
            }
            let trie = trie.subset(|id| usize::from(slice_of[id as usize]) == index);
            let includes =
                slices.iter().enumerate().filter(|(_, other): &(usize, &Slice)| automaton.includes(&other.automaton));
            let includes = includes.map(|(other, _)| other).collect();
            let class = class.filter(|_| trie.len() >= vocabulary.trie().len() / PARTED_SHARE);
            let parts = class.map(|class| Parts::new(&trie, &class, mask.len()));
            slices.push(Slice { automaton, counted, mask, trie, parts, includes });
        }
        let is_left = |id: TokenId| slice_of[id as usize] == NO_SLICE;
        let is_long = |id: TokenId| vocabulary.token_bytes(id).is_some_and(|bytes| bytes.len() > SHORT_BYTES_MAX);
        let rests = [trie.subset(|id| is_left(id) && !is_long(id)), trie.subset(|id| is_left(id) && is_long(id))];
        let words_len = vocabulary.len().div_ceil(32);
        let (by_byte, below, before) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let (roots, root_of, horizons) = (Arc::new([]) as Arc<[PieceNode]>, Vec::new(), Vec::new());
        let vocabulary = vocabulary.clone();
        let mut slicer =
            Self { slices, rests, horizons, roots, root_of, by_byte, below, before, vocabulary, words_len };
        slicer.horizons = slicer.tries().map(horizon).collect();
        slicer.root_of =
            slicer.tries().scan(0, |end, trie| Some(std::mem::replace(end, *end + trie.len() as PieceNode))).collect();
        let roots = slicer.rooted_tries().flat_map(|(trie, root)| trie.children(ROOT).map(move |child| root + child));
        slicer.roots = roots.collect();
        Ok(slicer)
    }

    /// The bytes of a token that is in one of the tries.
    pub fn token_bytes(&self, token: TokenId) -> &[u8] {
        self.vocabulary.token_bytes(token).unwrap_or_default()
    }

    /// The tries that the vocabulary is sorted into.
    pub fn tries(&self) -> impl Iterator<Item = &TokenTrie> + Clone {
        self.slices.iter().map(|slice| &slice.trie).chain(&self.rests)
    }

    /// The same with the numbers of their roots.
    pub fn rooted_tries(&self) -> impl Iterator<Item = (&TokenTrie, PieceNode)> + Clone {
        self.tries().zip(self.root_of.iter().copied())
    }

    /// Nodes of all tries together.
    pub fn nodes_len(&self) -> usize {
        self.tries().map(TokenTrie::len).sum()
    }

    /// The nodes that a byte enters, ascending. Cost: one walk over all tries, the first time.
    pub fn entered_by(&self, byte: u8) -> &[PieceNode] {
        let (nodes, starts) = self.by_byte();
        &nodes[starts[usize::from(byte)] as usize..starts[usize::from(byte) + 1] as usize]
    }

    /// How many nodes are behind those that a byte enters, these included; what is behind several counts for each. Cost: as
    /// [`entered_by`](Self::entered_by).
    pub fn nodes_from(&self, byte: u8) -> usize {
        let below = self.below.get_or_init(|| {
            let mut below = [0; 256];
            for (trie, _) in self.rooted_tries() {
                let ends = trie.subtree_ends().iter().zip(0..).zip(trie.bytes()).skip(1);
                ends.for_each(|((end, node), &byte)| below[usize::from(byte)] += end - node);
            }
            below
        });
        below[usize::from(byte)] as usize
    }

    /// Makes the lists of nodes by byte, if there are none yet. Cost: then some hundred microseconds for 200,000 tokens.
    pub fn list_by_byte(&self) -> bool {
        let is_new = self.by_byte.get().is_none();
        if is_new {
            self.by_byte();
        }
        is_new
    }

    fn by_byte(&self) -> &ByByte {
        self.by_byte.get_or_init(|| by_key(self.entered()))
    }

    /// By node, the byte that enters the node above it. Cost: one walk over all tries, the first time.
    pub fn before(&self) -> &[u8] {
        self.before.get_or_init(|| {
            let mut before = Vec::with_capacity(self.nodes_len());
            for trie in self.tries() {
                let mut at_depth = vec![0; trie.depth_max() + 2];
                before.extend(trie.depths().iter().zip(trie.bytes()).map(|(&depth, &byte)| {
                    let depth = usize::from(depth);
                    at_depth[depth + 1] = byte;
                    at_depth[depth]
                }));
            }
            before.into()
        })
    }

    /// All nodes with the bytes that enter them. No byte enters the roots.
    fn entered(&self) -> impl Iterator<Item = (u8, PieceNode)> + Clone {
        let below_root = |(trie, root): (_, PieceNode)| {
            let bytes: &[u8] = TokenTrie::bytes(trie);
            (root + 1..).zip(&bytes[1..]).map(|(node, &byte)| (byte, node))
        };
        self.rooted_tries().flat_map(below_root)
    }

    /// The tokens at a node and below it.
    pub fn tokens_from(&self, node: PieceNode) -> impl Iterator<Item = TokenId> {
        let (trie, root) = self.trie_of(node);
        let nodes = node - root..trie.subtree_ends()[(node - root) as usize];
        nodes.filter_map(|node| trie.token(node))
    }

    /// Which of the tries a node is in.
    pub fn index_of(&self, node: PieceNode) -> usize {
        self.root_of.partition_point(|&root| root <= node) - 1
    }

    /// The trie that a node is in, and the number of that trie's root.
    pub fn trie_of(&self, node: PieceNode) -> (&TokenTrie, PieceNode) {
        let index = self.index_of(node);
        let trie = match self.slices.get(index) {
            Some(slice) => &slice.trie,
            None => &self.rests[index - self.slices.len()],
        };
        (trie, self.root_of[index])
    }

    /// The slices with parts of whose tokens, of those that begin with a space and a letter, a piece has all that is behind the space.
    /// The nodes are ascending.
    pub fn behind_space(&self, nodes: &[PieceNode]) -> Vec<usize> {
        let is_behind = |(slice, &root): (&Slice, &PieceNode)| {
            let trie = &slice.trie;
            let Some(space) = trie.child(ROOT, b' ').filter(|_| slice.parts.is_some()) else { return false };
            // What begins before the space or behind a letter would be read from there, too. Parts have letters only.
            let within = |from: u32, end: u32| {
                let from = nodes.partition_point(|&node| node < root + from);
                nodes[from..].iter().take_while(move |&&node| node < root + end)
            };
            let is_letter = |child: &u32| trie.bytes()[*child as usize].is_ascii_alphabetic();
            let has_only = |child: u32| within(child, trie.subtree_ends()[child as usize]).eq(&[root + child]);
            within(space, space + 1).next().is_none() && trie.children(space).filter(is_letter).all(has_only)
        };
        let slices = self.slices.iter().zip(&self.root_of).enumerate();
        slices.filter(|(_, slice)| is_behind(*slice)).map(|(index, _)| index).collect()
    }

    /// The node behind another one after a byte.
    pub fn child(&self, node: PieceNode, byte: u8) -> Option<PieceNode> {
        let (trie, root) = self.trie_of(node);
        Some(root + trie.child(node - root, byte)?)
    }
}

/// Which slices lexer states take, as far as it was asked.
#[derive(Default, Debug)]
pub(crate) struct Contained {
    /// How long in characters the texts of each slice may be that a state takes, all of them.
    taken: FxHashMap<(LexStateId, usize), u32>,
    /// States of which it does not soon show whether they take the first slice.
    unclear: FxHashSet<LexStateId>,
    parts: FxHashMap<(LexStateId, usize, ReadBefore), Decided>,
}

/// What of the texts of a slice was read before a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ReadBefore {
    Nothing,
    /// A space; only texts that begin with one count.
    Space,
}

impl Contained {
    /// What a state does with the parts of a slice, by its number, that it does not take.
    pub fn parts(
        &mut self,
        slicer: &Slicer,
        (index, before): (usize, ReadBefore),
        lexer: &mut Lexer,
        lex: LexStateId,
    ) -> Result<Decided, Fault> {
        let Some(parts) = &slicer.slices[index].parts else { return Ok(Decided::default()) };
        let lex = lexer.clamped_to(lex, slicer.horizons[index])?;
        if let Some(&known) = self.parts.get(&(lex, index, before)) {
            return Ok(known);
        }
        let decided = match lexer.alone(lex)? {
            Alone::TooMany => Decided::default(),
            Alone::Each(alone) => {
                // Literals, which are not among these, take no part as a whole, but may take some of it.
                let has_literals = lexer.live_lexemes(lex).any(|lexeme| !lexer.pattern(lexeme).is_regex());
                let mut all = if has_literals { Decided::default() } else { Decided::REFUSED };
                let are_few = alone.len() <= FEW_LEXEMES;
                for lex in alone {
                    if !are_few && lexer.first_bytes(lex).len() <= NARROW {
                        all.refused = 0;
                        continue;
                    }
                    let Decided { taken, refused } = self.parts(slicer, (index, before), lexer, lex)?;
                    all = Decided { taken: all.taken | taken, refused: all.refused & refused };
                }
                all
            }
            Alone::Whole if before == ReadBefore::Space => parts.decide_behind_space(lexer, lex)?,
            Alone::Whole => {
                let taken_of_all = self.taken(slicer, index, lexer, lex)?;
                parts.decide(lexer, lex, taken_of_all)?
            }
        };
        self.parts.insert((lex, index, before), decided);
        Ok(decided)
    }

    /// Whether every text of the first slice keeps the lexemes of a lexer state live, if that soon shows.
    pub fn soon_takes_first(&mut self, slicer: &Slicer, lexer: &mut Lexer, lex: LexStateId) -> Result<bool, Fault> {
        let Some(slice) = slicer.slices.first() else { return Ok(false) };
        let lex = lexer.clamped_to(lex, slicer.horizons[0])?;
        if let Some(&known) = self.taken.get(&(lex, 0)) {
            return Ok(known == slice.longest());
        }
        if self.unclear.contains(&lex) {
            return Ok(false);
        }
        match lexer.alone(lex)? {
            Alone::TooMany => return Ok(false),
            Alone::Each(alone) => {
                for lex in alone {
                    if self.soon_takes_first(slicer, lexer, lex)? {
                        return Ok(true);
                    }
                }
            }
            Alone::Whole => {
                if let Some(taken) = slice.soon_taken(lexer, lex)? {
                    self.taken.insert((lex, 0), taken);
                    return Ok(taken == slice.longest());
                }
            }
        }
        self.unclear.insert(lex);
        Ok(false)
    }

    /// Whether every text of a slice, by its number, keeps the lexemes of a lexer state live, without ending any, as far as its
    /// tokens go.
    pub fn ask(&mut self, slicer: &Slicer, index: usize, lexer: &mut Lexer, lex: LexStateId) -> Result<bool, Fault> {
        Ok(self.taken(slicer, index, lexer, lex)? == slicer.slices[index].longest())
    }

    /// [`Slice::taken`] of a slice, by its number, as far as its tokens go.
    fn taken(&mut self, slicer: &Slicer, index: usize, lexer: &mut Lexer, lex: LexStateId) -> Result<u32, Fault> {
        let lex = lexer.clamped_to(lex, slicer.horizons[index])?;
        if let Some(&known) = self.taken.get(&(lex, index)) {
            return Ok(known);
        }
        for &other in &slicer.slices[index].includes {
            if !self.ask(slicer, other, lexer, lex)? {
                self.taken.insert((lex, index), 0);
                return Ok(0);
            }
        }
        let longest = slicer.slices[index].longest();
        let taken = match lexer.alone(lex)? {
            // Where one lexeme goes on, so does the state. Lexemes side by side seldom take a slice together that none takes
            // alone; to find that out would take a state for each place in each of them.
            Alone::TooMany => 0,
            Alone::Each(alone) => {
                let mut taken = 0;
                for lex in alone {
                    taken = if taken == longest { longest } else { taken.max(self.taken(slicer, index, lexer, lex)?) };
                }
                taken
            }
            Alone::Whole => {
                let slice = &slicer.slices[index];
                let is_asked = index == 0 && self.unclear.contains(&lex);
                let soon = if is_asked { None } else { slice.soon_taken(lexer, lex)? };
                soon.map_or_else(|| slice.taken(lexer, lex), Ok)?
            }
        };
        self.taken.insert((lex, index), taken);
        Ok(taken)
    }
}

/// A slice's regex. It is the program's own: limits of what users write, which may be narrow, do not hold for it.
fn parse(index: usize, text: &str) -> Result<(RegexSet, RegexId), SliceError> {
    let mut set = RegexSet::new();
    let options = RegexOptions::new(Dialect::Rust);
    let map = TextMap::verbatim(SourceId(0), 0);
    let regex = parse_regex(text, &map, &options, &Limits::default(), &mut set, &mut Vec::new());
    let message = |errors: Vec<Diagnostic>| errors.into_iter().next().map_or_else(String::new, |error| error.message);
    let regex = regex.map_err(|errors| SliceError::Regex { index, message: message(errors) })?;
    Ok((set, regex))
}

fn automaton(index: usize, text: &str, arena: &Arena, limits: &Limits) -> Result<Automaton, SliceError> {
    let (set, regex) = parse(index, text)?;
    let refused = |fault: Fault| {
        let (limit, value) = fault.limit();
        SliceError::LimitExceeded { index, limit, value }
    };
    let automaton = Automaton::new(&set, regex, arena, limits).map_err(refused)?;
    automaton.ok_or(SliceError::TooLarge { index, limit: SLICE_STATES_MAX })
}

/// The characters of a regex that is one of some.
fn class(index: usize, text: &str) -> Result<Option<CharClass>, SliceError> {
    let (set, regex) = parse(index, text)?;
    Ok(match set.node(regex) {
        RegexNode::Class(class) => Some(class.clone()),
        _ => None,
    })
}

/// Whether more happens in a state than that lexemes go on. In `exact` mode ignored text must be able to end, and
/// look-aheads to hold.
fn is_special(state: &LexState, mode: LexerMode) -> bool {
    state.kind == StateKind::LazyEnd || state.is_late || mode == LexerMode::Exact && state.may_be_stuck
}

impl Slice {
    /// Characters of its longest text, if it says so.
    fn longest(&self) -> u32 {
        self.counted.as_ref().map_or(u32::MAX, |(_, longest)| *longest)
    }

    /// Whether its texts are known to be of whole characters.
    pub fn is_text(&self) -> bool {
        self.counted.is_some()
    }

    /// How long in characters the texts of the slice may be that keep the lexemes of a lexer state live, without ending any, all
    /// of them; `None` if that does not soon show. Of a slice that does not count, all or none.
    fn soon_taken(&self, lexer: &mut Lexer, lex: LexStateId) -> Result<Option<u32>, Fault> {
        let mode = lexer.mode();
        // Exceptions are finitely many texts: where something endless stays live without them, it does with them. That
        // spares the states along the exceptions' tries.
        if let Some(plain) = lexer.without_exceptions(lex)? {
            let automata = self.counted.iter().map(|(automaton, _)| automaton).chain([&self.automaton]);
            for automaton in automata {
                if automaton.is_in_product(lexer, mode, plain, true)? {
                    return Ok(Some(self.longest()));
                }
            }
        }
        let Some((automaton, longest)) = &self.counted else { return Ok(None) };
        // Most have few pairs of states.
        if let (taken, true) = automaton.taken(lexer, lex, *longest, FEW_PAIRS)? {
            return Ok(Some(taken));
        }
        let is_taken = Behind::of(lexer, lex).is_some_and(|behind| automaton.is_before(&behind, lexer));
        Ok(is_taken.then_some(*longest))
    }

    /// The same where it does not soon show.
    fn taken(&self, lexer: &mut Lexer, lex: LexStateId) -> Result<u32, Fault> {
        let Some((automaton, longest)) = &self.counted else {
            let mode = lexer.mode();
            let is_taken = self.automaton.is_in_product(lexer, mode, lex, false)?;
            return Ok(if is_taken { self.longest() } else { 0 });
        };
        // What is open behind other texts than these, such as `.*x` behind all but line separators, is seldom so in another way.
        match Behind::of(lexer, lex).is_none() && automaton.is_in_some_way(lexer, lex) {
            true => Ok(*longest),
            false => Ok(automaton.taken(lexer, lex, *longest, PAIRS_MAX)?.0),
        }
    }
}

impl Automaton {
    /// The automaton of a regex; `None` if it is too large.
    fn new(set: &RegexSet, regex: RegexId, arena: &Arena, limits: &Limits) -> Result<Option<Self>, Fault> {
        let start = arena.lower(set, &[regex])?[0];
        let mut work = 0;
        let mut automaton = Automaton { rows: vec![[0; 256]], live: vec![[].into()], accepting: vec![false] };
        let mut ids: FxHashMap<Expr, u16> = FxHashMap::from_iter([(Expr::NOTHING, 0), (start, 1)]);
        let mut queue = VecDeque::from([start]);
        while let Some(expr) = queue.pop_front() {
            let row = arena.row(expr, &mut work, limits)?;
            let mut next = [0; 256];
            for byte in 0..=255u8 {
                let target = row.next(byte);
                let count = ids.len();
                next[usize::from(byte)] = *ids.entry(target).or_insert_with(|| {
                    queue.push_back(target);
                    count as u16
                });
            }
            if ids.len() > SLICE_STATES_MAX {
                return Ok(None);
            }
            automaton.rows.push(next);
            automaton.live.push(Live::of(&next));
            automaton.accepting.push(arena.nullable(expr));
        }
        Ok(Some(automaton))
    }

    fn matches(&self, bytes: &[u8]) -> bool {
        let mut state = 1;
        for &byte in bytes {
            state = self.rows[state][usize::from(byte)] as usize;
            if state == 0 {
                return false;
            }
        }
        self.accepting[state]
    }

    /// Whether each text of another one is one of this.
    fn includes(&self, other: &Automaton) -> bool {
        let mut visited: FxHashSet<(u16, u16)> = FxHashSet::from_iter([(1, 1)]);
        let mut agenda = vec![(1u16, 1u16)];
        while let Some((own, its)) = agenda.pop() {
            if other.accepting[usize::from(its)] && !self.accepting[usize::from(own)] {
                return false;
            }
            for (&own, &its) in self.rows[usize::from(own)].iter().zip(&other.rows[usize::from(its)]) {
                // From each of its states but the dead one a text leads on.
                if its != 0 && own == 0 {
                    return false;
                }
                if its != 0 && visited.insert((own, its)) {
                    agenda.push((own, its));
                }
            }
        }
        true
    }

    /// With `endless`, in each state something must be live that matches texts without end.
    fn is_in_product(&self, lexer: &mut Lexer, mode: LexerMode, lex: LexStateId, endless: bool) -> Result<bool, Fault> {
        let mut visited: FxHashSet<(u16, LexStateId)> = FxHashSet::default();
        let mut agenda = vec![(1u16, lex)];
        while let Some((state, lex)) = agenda.pop() {
            if !visited.insert((state, lex)) {
                continue;
            }
            if visited.len() > PAIRS_MAX {
                return Ok(false);
            }
            for live in &self.live[usize::from(state)] {
                lexer.row_of(lex, live.first, live.last)?;
                let mut last = None;
                for at in live.first..=live.last {
                    let target = lexer.known_row(lex).next[usize::from(at)];
                    if last.replace(target) == Some(target) {
                        continue;
                    }
                    let is_live = target != DEAD && !is_special(lexer.state(target), mode);
                    if !is_live || endless && !lexer.is_endless(target)? {
                        return Ok(false);
                    }
                    agenda.push((live.to, target));
                }
            }
        }
        Ok(true)
    }
}
