//! Parts of a slice: its tokens by alphabet and by length.
//!
//! A state may take a slice but for the texts that are too long for what is left of a count, or that have a character too
//! many (`[^/]+`, `\S+`, `[a-z0-9-]+`). Then most parts are taken as a whole still, or refused as a whole, which a few states
//! of the product prove as they do for slices; in the trie only the other parts are walked.

use std::hash::Hash;
use std::sync::OnceLock;

use larkspur_grammar::{CharClass, Limits, RegexSet};
use larkspur_toktrie::{NO_TOKEN, Recognizer, TokenTrie, mask};
use rustc_hash::{FxHashMap, FxHashSet};

use super::ways::Behind;
use super::{Automaton, Live};
use crate::error::Fault;
use crate::lexer::arena::Arena;
use crate::lexer::states::{DEAD, LexStateId, Lexer, NO_LEXEMES};

/// Lengths in characters, from one bound up to the next.
const LENGTHS: [u32; 17] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 16, 19, 24];

/// What stands before the characters of an alphabet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lead {
    None,
    Space,
}

/// Characters from one up to another.
type Range = (u32, u32);

/// Characters of an alphabet.
struct Kind {
    ascii: &'static [Range],
    others: &'static [Range],
    /// Whether a text has no other ones.
    has_all: fn(&[u8]) -> bool,
}

/// Kinds of characters, each of which makes two alphabets: with nothing before them, and with a space. A token is of the first one that has
/// all its characters; after these comes one that has all. Nearly all tokens have white space at their begin only, so that texts of
/// some words, or without white space, take all of an alphabet as far as its length goes.
const KINDS: [Kind; 5] = [
    Kind { ascii: &[LOWER], others: &[], has_all: |text| text.iter().all(u8::is_ascii_lowercase) },
    Kind { ascii: &[LOWER, UPPER], others: &[], has_all: |text| text.iter().all(u8::is_ascii_alphabetic) },
    Kind { ascii: &[GRAPHIC], others: &[], has_all: |text| text.iter().all(u8::is_ascii_graphic) },
    Kind {
        ascii: &[LOWER, UPPER],
        others: &WIDE,
        has_all: |text| is_of(text, |c| c.is_ascii_alphabetic() || is_wide(c)),
    },
    Kind { ascii: &[GRAPHIC], others: &WIDE, has_all: |text| is_of(text, |c| c.is_ascii_graphic() || is_wide(c)) },
];
const ALPHABETS_LEN: usize = 2 * KINDS.len() + 1;

/// What stands before the characters of each alphabet, and these.
fn alphabets() -> impl Iterator<Item = (Lead, CharClass)> {
    let of_kind = |Kind { ascii, others, .. }: &Kind| {
        let class = CharClass::from_ranges(ascii.iter().chain(*others).copied());
        [(Lead::None, class.clone()), (Lead::Space, class)]
    };
    KINDS.iter().flat_map(of_kind).chain([(Lead::None, CharClass::all())])
}

const LOWER: Range = ('a' as u32, 'z' as u32);
const UPPER: Range = ('A' as u32, 'Z' as u32);
const GRAPHIC: Range = ('!' as u32, '~' as u32);

/// Characters beyond ASCII that are no white space in any dialect of regexes.
const WIDE: [Range; 9] = [
    (0xA1, 0x167F),
    (0x1681, 0x180D),
    (0x180F, 0x1FFF),
    (0x200B, 0x2027),
    (0x202A, 0x202E),
    (0x2030, 0x205E),
    (0x2060, 0x2FFF),
    (0x3001, 0xFEFE),
    (0xFF00, 0x10_FFFF),
];

/// Pairs of states looked at to find out which texts of an alphabet a state takes.
const TAKEN_PAIRS_MAX: usize = 160;

/// Pairs of states looked at to find out which texts of an alphabet it refuses: one for so many of its tokens, since to walk these
/// takes longer, and some where there are few.
const TOKENS_OF_A_PAIR: usize = 256;
const PAIRS_MIN: usize = 8;
/// Of an alphabet of ASCII these at most. To refuse it takes some pairs for each character; where it takes more, it is mostly not refused.
const ASCII_PAIRS_MAX: usize = 24;
/// Of one of all scripts: of most there are some twenty for each character, one for each beginning of its bytes.
const WIDE_PAIRS_MAX: usize = 160;

/// Work of the lexer for that and for those before. Where a row takes this much by itself, as in a text that is a regex, a walk needs
/// fewer of them.
const WORK_MAX: u64 = 4_000;

/// What is left to find out which texts a state refuses, and what has been found out.
struct Refusals {
    /// The lexer's work may grow up to this.
    work_max: u64,
    /// Alphabets of which it is not known to refuse the longer texts.
    open: Alphabets,
}

/// Alphabets, as bits.
type Alphabets = u16;

/// Pairs of states and places looked at to find out which texts of one alphabet may follow: those that are not decided by then would
/// take the room of others.
const PLACES_MAX: usize = 256;

/// Characters of the longest token that is in a part.
const LENGTH_MAX: u32 = 32;

/// Parts, as bits.
type Bits = u128;

/// Tokens beyond these have the last bit, and are always walked.
const PARTS_MAX: usize = 127;
const WALKED: Bits = 1 << PARTS_MAX;

/// Different sets of parts below nodes; nodes of others have the last one, which has all parts.
const SETS_MAX: usize = 1 << 16;

/// A slice's tokens, sorted into parts.
#[derive(Debug)]
pub(crate) struct Parts {
    /// By alphabet, then by length.
    parts: Vec<Part>,
    alphabets: Vec<Alphabet>,
    /// Characters of the longest token.
    length_max: u32,
    /// Of each node of the slice's trie the parts that have tokens there or below, by their place in `sets`.
    below: Vec<u16>,
    sets: Vec<Bits>,
}

/// Tokens of one alphabet and of some lengths.
#[derive(Debug)]
struct Part {
    /// Bounds of the lengths in characters.
    min: u32,
    max: u32,
    /// Its tokens and those of the parts before it that have the same alphabet.
    mask: Vec<u32>,
    /// Whether it is the first one of its alphabet.
    is_first: bool,
}

#[derive(Debug)]
pub(crate) struct Alphabet {
    lead: Lead,
    class: CharClass,
    /// Of all its texts; `None` if it could not be made.
    automaton: OnceLock<Option<Automaton>>,
    /// Its parts.
    parts: Bits,
    /// Tokens of the slice that are of it.
    tokens_len: usize,
    /// Those of whose texts it has all, itself among them.
    within: Alphabets,
}

/// What a state does with the parts of a slice.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Decided {
    /// Parts whose texts it takes, all of them.
    pub taken: Bits,
    /// Parts of whose texts it takes none, nor the beginning of one as a whole lexeme.
    pub refused: Bits,
}

impl Decided {
    /// Every part is refused.
    pub const REFUSED: Self = Self { taken: 0, refused: Bits::MAX };
}

impl Parts {
    /// The parts of a slice of texts of these characters.
    pub fn new(trie: &TokenTrie, class: &CharClass, words_len: usize) -> Self {
        let mut parts =
            Parts { parts: Vec::new(), alphabets: Vec::new(), length_max: 0, below: Vec::new(), sets: Vec::new() };
        for (lead, other) in alphabets() {
            parts.alphabets.push(Alphabet::new(lead, class.intersect(&other)));
        }
        for at in 0..ALPHABETS_LEN {
            let is_within = |other: &Alphabet| other.is_within(&parts.alphabets[at]);
            let within = parts.alphabets.iter().enumerate().filter(|(_, other)| is_within(other));
            parts.alphabets[at].within = within.fold(0, |bits, (other, _)| bits | 1 << other);
        }
        let kinds = kinds_of(trie);
        kinds.iter().flatten().for_each(|&(alphabet, _)| parts.alphabets[alphabet as usize].tokens_len += 1);
        let mut are_there = [[false; LENGTHS.len() + 1]; ALPHABETS_LEN];
        kinds.iter().flatten().for_each(|&(alphabet, length)| are_there[alphabet as usize][length as usize] = true);
        let bits: [[Bits; LENGTHS.len() + 1]; ALPHABETS_LEN] = std::array::from_fn(|alphabet| {
            std::array::from_fn(|length| match are_there[alphabet][length] {
                true => parts.add(alphabet, length, words_len),
                false => 0,
            })
        });
        let mut below: Vec<Bits> = vec![0; trie.len()];
        for (node, kind) in kinds.iter().enumerate() {
            let Some((alphabet, length)) = *kind else { continue };
            let bit = bits[alphabet as usize][length as usize];
            if bit != WALKED {
                mask::allow(&mut parts.parts[bit.trailing_zeros() as usize].mask, trie.tokens()[node]);
            }
            below[node] = bit;
        }
        for index in 1..parts.parts.len() {
            if let [before, part] = &mut parts.parts[index - 1..=index]
                && !part.is_first
            {
                mask::or_assign(&mut part.mask, &before.mask);
            }
        }
        // Nodes come before those below them.
        let mut at_depth: Vec<Bits> = vec![0; trie.depth_max() + 2];
        for node in (0..trie.len()).rev() {
            let depth = usize::from(trie.depths()[node]);
            below[node] |= std::mem::take(&mut at_depth[depth + 1]);
            at_depth[depth] |= below[node];
        }
        let mut places: FxHashMap<Bits, u16> = FxHashMap::default();
        for set in below {
            let next = parts.sets.len();
            let place = *places.entry(set).or_insert_with(|| {
                match next < SETS_MAX - 1 {
                    true => parts.sets.push(set),
                    false if next < SETS_MAX => parts.sets.push(Bits::MAX),
                    false => {}
                }
                next.min(SETS_MAX - 1) as u16
            });
            parts.below.push(place);
        }
        parts
    }

    /// The bit of a new part.
    fn add(&mut self, alphabet: usize, length: usize, words_len: usize) -> Bits {
        if self.parts.len() == PARTS_MAX || length == LENGTHS.len() {
            return WALKED;
        }
        let bit = 1 << self.parts.len();
        let is_first = self.alphabets[alphabet].parts == 0;
        self.alphabets[alphabet].parts |= bit;
        let max = LENGTHS.get(length + 1).map_or(LENGTH_MAX, |next| next - 1);
        self.length_max = self.length_max.max(max);
        self.parts.push(Part { min: LENGTHS[length], max, mask: vec![0; words_len], is_first });
        bit
    }

    /// Which nodes of the slice's trie have tokens there or below that are not decided.
    pub fn open(&self, Decided { taken, refused }: Decided) -> Open<'_> {
        let is_open = self.sets.iter().map(|set| set & !(taken | refused) != 0).collect();
        Open { below: &self.below, is_open }
    }

    /// Adds the tokens of parts to a mask.
    pub fn allow(&self, parts: Bits, words: &mut [u32]) {
        let is_among = |index: usize| parts & 1 << index != 0;
        for (index, part) in self.parts.iter().enumerate().filter(|(index, _)| is_among(*index)) {
            let next = self.parts.get(index + 1).filter(|next| !next.is_first && is_among(index + 1));
            if next.is_some() {
                continue;
            }
            // All lengths up to this one, but for those before the first one that is among them.
            let before = (0..=index).rev().find(|&at| self.parts[at].is_first || !is_among(at - 1));
            match before.filter(|&first| !self.parts[first].is_first) {
                None => mask::or_assign(words, &part.mask),
                Some(first) => {
                    let others = part.mask.iter().zip(&self.parts[first - 1].mask);
                    words.iter_mut().zip(others).for_each(|(word, (all, shorter))| *word |= all & !shorter);
                }
            }
        }
    }

    /// Notes what is done with the parts of an alphabet where, behind so many characters that were read of them, all texts of at most
    /// `taken` characters are taken and all of `refused` or more refused. Texts that are over by then are not asked for.
    fn decide_parts(&self, alphabet: &Alphabet, (taken, refused): (u32, u32), read: u32, decided: &mut Decided) {
        let is_of = |&(index, part): &(usize, &Part)| alphabet.parts & 1 << index != 0 && part.min > read;
        for (index, part) in self.parts.iter().enumerate().filter(is_of) {
            decided.taken |= Bits::from(part.max - read <= taken) << index;
            decided.refused |= Bits::from(part.min - read >= refused) << index;
        }
    }

    /// What a state of one lexeme does with the parts, if it takes all texts of the slice's characters that are not longer than
    /// `taken_of_all`. Cost: little where it takes some characters of each alphabet only.
    pub fn decide(&self, lexer: &mut Lexer, lex: LexStateId, taken_of_all: u32) -> Result<Decided, Fault> {
        let (arena, limits) = (lexer.arena().clone(), lexer.limits().clone());
        let mut decided = Decided::default();
        let mut refusals = Refusals::new(lexer);
        let mut behind = None;
        for (number, alphabet) in self.alphabets.iter().enumerate().filter(|(_, alphabet)| alphabet.parts != 0) {
            let Some(automaton) = alphabet.automaton(&arena, &limits) else { continue };
            let taken = match automaton.taken(lexer, lex, self.length_max, TAKEN_PAIRS_MAX)? {
                (taken, true) => taken.max(taken_of_all),
                (taken, false) => match behind.get_or_insert_with(|| Behind::of(lexer, lex)) {
                    Some(behind) if automaton.is_before(behind, lexer) => self.length_max,
                    _ => taken.max(taken_of_all),
                },
            };
            let refused = refusals.of(lexer, lex, (number, alphabet), automaton, (taken, self.length_max))?;
            self.decide_parts(alphabet, (taken, refused), 0, &mut decided);
        }
        Ok(decided)
    }
}

impl Refusals {
    fn new(lexer: &Lexer) -> Self {
        Self { work_max: lexer.work.saturating_add(WORK_MAX), open: 0 }
    }

    /// How long the texts of an alphabet, or those behind a space, must be so that a state refuses them, as
    /// [`Automaton::refused`]. Not asked where it takes all up to the longest, nor where those of a smaller alphabet are not refused.
    fn of(
        &mut self,
        lexer: &mut Lexer,
        lex: LexStateId,
        (number, alphabet): (usize, &Alphabet),
        automaton: &Automaton,
        (taken, length_max): (u32, u32),
    ) -> Result<u32, Fault> {
        let refused = match taken < length_max && self.open & alphabet.within == 0 {
            true => automaton.refused(lexer, lex, length_max, (alphabet.refusal_pairs(), self.work_max))?,
            false => u32::MAX,
        };
        self.open |= Alphabets::from(refused == u32::MAX) << number;
        Ok(refused)
    }
}

impl Parts {
    /// What a state of one lexeme does behind a space with the parts whose texts begin with one.
    pub fn decide_behind_space(&self, lexer: &mut Lexer, lex: LexStateId) -> Result<Decided, Fault> {
        let (arena, limits) = (lexer.arena().clone(), lexer.limits().clone());
        let mut decided = Decided::default();
        let mut refusals = Refusals::new(lexer);
        let length_max = self.length_max.saturating_sub(1);
        let alphabets = self.alphabets.iter().enumerate();
        for (number, alphabet) in alphabets.filter(|(_, other)| other.lead == Lead::Space && other.parts != 0) {
            let is_bare = |other: &&Alphabet| other.lead == Lead::None && other.class == alphabet.class;
            let bare = self.alphabets.iter().find(is_bare).and_then(|bare| bare.automaton(&arena, &limits));
            let Some(automaton) = bare else { continue };
            let (taken, _) = automaton.taken(lexer, lex, length_max, TAKEN_PAIRS_MAX)?;
            let refused = refusals.of(lexer, lex, (number, alphabet), automaton, (taken, length_max))?;
            self.decide_parts(alphabet, (taken, refused), 1, &mut decided);
        }
        Ok(decided)
    }

    /// What a place does with the parts of whose texts a recognizer says whether they may follow there: what it takes and refuses
    /// is so whatever lexemes end on the way. What is found out of alphabets is kept in `known`, for other slices in that place.
    /// Cost: some steps for each alphabet, most of which a walk would take, too.
    pub fn decide_by<'a, R: Recognizer<State: Ord + Hash>>(
        &'a self,
        recognizer: &mut R,
        place: R::State,
        (arena, limits): (&Arena, &Limits),
        known: &mut Vec<(&'a Alphabet, Lengths)>,
    ) -> Decided {
        let mut decided = Decided::default();
        for alphabet in self.alphabets.iter().filter(|alphabet| alphabet.parts != 0) {
            let has_same_texts =
                |(other, _): &&(&Alphabet, _)| (other.lead, &other.class) == (alphabet.lead, &alphabet.class);
            let Lengths { taken, refused } = match known.iter().find(has_same_texts) {
                Some(&(_, lengths)) => lengths,
                None => {
                    let Some(automaton) = alphabet.automaton(arena, limits) else { continue };
                    let lengths = automaton.lengths(recognizer, place);
                    known.push((alphabet, lengths));
                    lengths
                }
            };
            self.decide_parts(alphabet, (taken, refused), 0, &mut decided);
        }
        decided
    }
}

impl Alphabet {
    fn new(lead: Lead, class: CharClass) -> Self {
        Self { lead, class, automaton: OnceLock::new(), parts: 0, tokens_len: 0, within: 0 }
    }

    /// Whether another one has all of its texts.
    fn is_within(&self, other: &Alphabet) -> bool {
        let has_lead = self.lead == other.lead || other.lead == Lead::None && other.class.contains(' ');
        has_lead && self.class.intersect(&other.class) == self.class
    }

    /// Pairs of states that are looked at to find out which texts a state refuses.
    fn refusal_pairs(&self) -> usize {
        let is_ascii = self.class.ranges().last().is_none_or(|range| range.1 < 0x80);
        let pairs_max = if is_ascii { ASCII_PAIRS_MAX } else { WIDE_PAIRS_MAX };
        (self.tokens_len / TOKENS_OF_A_PAIR).clamp(PAIRS_MIN, pairs_max)
    }

    fn automaton(&self, arena: &Arena, limits: &Limits) -> Option<&Automaton> {
        let make = || {
            let mut set = RegexSet::new();
            let one = set.class(self.class.clone());
            let some = set.repeat(one, 1, None);
            let behind_space = {
                let (space, rest) = (set.literal(b" "), set.repeat(one, 0, None));
                set.concat(&[space, rest])
            };
            let regex = match self.lead {
                Lead::None => some,
                Lead::Space => behind_space,
            };
            Automaton::new(&set, regex, arena, limits).ok().flatten()
        };
        self.automaton.get_or_init(make).as_ref()
    }
}

/// Nodes of a slice's trie whose tokens are not all decided.
pub(crate) struct Open<'a> {
    below: &'a [u16],
    is_open: Box<[bool]>,
}

impl Open<'_> {
    /// Whether some token at a node or below it is not decided.
    #[inline]
    pub fn is_open(&self, node: usize) -> bool {
        self.is_open[usize::from(self.below[node])]
    }
}

impl Automaton {
    /// How long in characters the texts may be that a lexer state takes, all of them, up to a bound, and whether it does not take all
    /// longer ones. Goes from one character to the next, to each pair of states the shortest way, and gives up after so many of
    /// these.
    pub(super) fn taken(
        &self,
        lexer: &mut Lexer,
        lex: LexStateId,
        length_max: u32,
        pairs_max: usize,
    ) -> Result<(u32, bool), Fault> {
        let mode = lexer.mode();
        let mut visited: FxHashSet<(u16, LexStateId)> = FxHashSet::default();
        let mut now = vec![(1u16, lex)];
        let mut pairs = 0;
        for length in 0..length_max {
            let mut next: Vec<(u16, LexStateId)> = Vec::new();
            let mut agenda = now;
            while let Some((state, lex)) = agenda.pop() {
                pairs += 1;
                if pairs > pairs_max {
                    return Ok((length, false));
                }
                for live in &self.live[usize::from(state)] {
                    let is_whole = self.accepting[usize::from(live.to)];
                    lexer.row_of(lex, live.first, live.last)?;
                    for target in each_once(live.of_row(&lexer.known_row(lex).next)) {
                        if target == DEAD || super::is_special(lexer.state(target), mode) {
                            return Ok((length, true));
                        }
                        if visited.insert((live.to, target)) {
                            if is_whole { &mut next } else { &mut agenda }.push((live.to, target));
                        }
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            now = next;
        }
        Ok((length_max, true))
    }

    /// How long in characters the texts must be so that a lexer state refuses all of them, and no beginning of one is a whole
    /// lexeme; `u32::MAX` if that is not so of any length up to a bound. Goes from one character to the next with all states
    /// that one can be in, and gives up after so many pairs of these and so much work of the lexer.
    fn refused(
        &self,
        lexer: &mut Lexer,
        lex: LexStateId,
        length_max: u32,
        (mut pairs, work_max): (usize, u64),
    ) -> Result<u32, Fault> {
        let mode = lexer.mode();
        if lexer.state(lex).ends_before_more != NO_LEXEMES {
            return Ok(u32::MAX);
        }
        let mut now = vec![(1u16, lex)];
        for length in 1..=length_max {
            let mut next: Vec<(u16, LexStateId)> = Vec::new();
            let mut visited: FxHashSet<(u16, LexStateId)> = FxHashSet::default();
            let mut agenda = now.clone();
            while let Some((state, lex)) = agenda.pop() {
                pairs = match pairs.checked_sub(1) {
                    Some(left) if lexer.work < work_max => left,
                    _ => return Ok(u32::MAX),
                };
                for live in &self.live[usize::from(state)] {
                    lexer.row_of(lex, live.first, live.last)?;
                    let targets = each_once(live.of_row(&lexer.known_row(lex).next));
                    for target in targets.filter(|&target| target != DEAD) {
                        let entered = lexer.state(target);
                        if super::is_special(entered, mode) || entered.ends_before_more != NO_LEXEMES {
                            return Ok(u32::MAX);
                        }
                        if self.accepting[usize::from(live.to)] {
                            next.push((live.to, target));
                        } else if visited.insert((live.to, target)) {
                            agenda.push((live.to, target));
                        }
                    }
                }
            }
            if next.is_empty() {
                return Ok(length);
            }
            next.sort_unstable();
            next.dedup();
            if next == now {
                break;
            }
            now = next;
        }
        Ok(u32::MAX)
    }
}

/// Of the texts of an alphabet, by length in characters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lengths {
    /// All up to this length may follow.
    taken: u32,
    /// None of this length or more may; `u32::MAX` if that is not so of any length up to a bound.
    refused: u32,
}

impl Automaton {
    /// Which texts may follow at a place. Goes from one character to the next with all places that one can be in, and gives up
    /// after so many pairs.
    fn lengths<R: Recognizer<State: Ord + Hash>>(&self, recognizer: &mut R, place: R::State) -> Lengths {
        let mut lengths = Lengths { taken: LENGTH_MAX, refused: u32::MAX };
        let mut pairs = PLACES_MAX;
        let mut now = vec![(1u16, place)];
        for length in 1..=LENGTH_MAX {
            let mut next: Vec<(u16, R::State)> = Vec::new();
            let mut visited: FxHashSet<(u16, R::State)> = FxHashSet::default();
            let mut agenda = now.clone();
            while let Some((state, place)) = agenda.pop() {
                let Some(left) = pairs.checked_sub(1) else {
                    lengths.taken = lengths.taken.min(length - 1);
                    return lengths;
                };
                pairs = left;
                for &Live { first, last, to } in &self.live[usize::from(state)] {
                    for byte in first..=last {
                        match recognizer.step(place, byte).map(|place| (to, place)) {
                            None => lengths.taken = lengths.taken.min(length - 1),
                            Some(pair) if !visited.insert(pair) => {}
                            Some(pair) if self.accepting[usize::from(to)] => next.push(pair),
                            Some(pair) => agenda.push(pair),
                        }
                    }
                }
            }
            if next.is_empty() {
                lengths.refused = length;
                break;
            }
            next.sort_unstable();
            if next == now {
                break;
            }
            now = next;
        }
        lengths
    }
}

/// Those that are not as the one before them.
fn each_once(targets: &[LexStateId]) -> impl Iterator<Item = LexStateId> {
    targets.chunk_by(|a, b| a == b).map(|run| run[0])
}

/// The alphabet and the length of each node's token, by their numbers.
fn kinds_of(trie: &TokenTrie) -> Vec<Option<(u8, u8)>> {
    let mut path: Vec<u8> = Vec::new();
    let mut kinds = vec![None; trie.len()];
    for (node, kind) in kinds.iter_mut().enumerate().skip(1) {
        path.truncate(usize::from(trie.depths()[node]) - 1);
        path.push(trie.bytes()[node]);
        if trie.tokens()[node] != NO_TOKEN {
            *kind = Some((alphabet_of(&path) as u8, length_of(&path) as u8));
        }
    }
    kinds
}

/// The number of the first one of [`alphabets`] that has all characters of a text.
fn alphabet_of(text: &[u8]) -> usize {
    let word = text.strip_prefix(b" ");
    let of = |(number, kind): (usize, &Kind)| match word {
        _ if (kind.has_all)(text) => Some(2 * number),
        Some(word) if (kind.has_all)(word) => Some(2 * number + 1),
        _ => None,
    };
    KINDS.iter().enumerate().find_map(of).unwrap_or(ALPHABETS_LEN - 1)
}

/// Whether a text is of such characters.
fn is_of(text: &[u8], is_one: fn(char) -> bool) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.chars().all(is_one))
}

/// Whether a character is in [`WIDE`].
fn is_wide(c: char) -> bool {
    let code = c as u32;
    let at = WIDE.partition_point(|range| range.1 < code);
    WIDE.get(at).is_some_and(|range| range.0 <= code)
}

/// Which of [`LENGTHS`] a text in UTF-8 has; one more than there are if it is too long.
fn length_of(text: &[u8]) -> usize {
    let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
    let length = text.iter().filter(is_first).count() as u32;
    if length > LENGTH_MAX { LENGTHS.len() } else { LENGTHS.partition_point(|&bound| bound <= length) - 1 }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use larkspur_toktrie::Vocabulary;

    use super::*;
    use crate::shortcut::Shortcuts;

    #[test]
    fn tokens_are_in_the_languages_of_their_parts() {
        let mut vocabulary = Vocabulary::builder();
        vocabulary.token(0, [b'a'; 64]);
        let arena =
            Arena::new(&Limits::default(), Arc::new(vocabulary.build().expect("a token")), Shortcuts::default());
        let texts =
            ["a", " ", " a", "bcd", " Abc", "A", "x-1", " x-1", "a b", "é", " naïve", "日本語", "«é»1", "ABCDEFGHIJKL"];
        for text in texts.into_iter().chain(["\u{a0}", "a\u{2028}b", "  ", " \u{3000}", "\u{180e}", "\u{feff}"]) {
            let (lead, class) = alphabets().nth(alphabet_of(text.as_bytes())).expect("there are so many");
            let alphabet = Alphabet::new(lead, class);
            let automaton = alphabet.automaton(&arena, &Limits::default()).expect("small");
            assert!(automaton.matches(text.as_bytes()), "{text}");
            let (length, chars) = (length_of(text.as_bytes()), text.chars().count() as u32);
            assert!(LENGTHS[length] <= chars && LENGTHS.get(length + 1).is_none_or(|&next| chars < next), "{text}");
        }
    }

    #[test]
    fn alphabets_have_all_texts_of_those_within() {
        let texts = ["a", " ", " a", "bcd", " Abc", "A", "x-1", " x-1", "a b", "é", " naïve", "日本語", "«é»1", " -é"];
        let mut vocabulary = Vocabulary::builder();
        (0..).zip(texts).for_each(|(id, text)| _ = vocabulary.token(id, text));
        let vocabulary = Arc::new(vocabulary.build().expect("some tokens"));
        let arena = Arena::new(&Limits::default(), vocabulary.clone(), Shortcuts::default());
        let Parts { alphabets, .. } = Parts::new(vocabulary.trie(), &CharClass::all(), 1);
        let has = |at: usize, text: &str| {
            let automaton = alphabets[at].automaton(&arena, &Limits::default()).expect("small");
            automaton.matches(text.as_bytes())
        };
        for (at, alphabet) in alphabets.iter().enumerate() {
            let within: Vec<usize> = (0..alphabets.len()).filter(|other| alphabet.within >> other & 1 != 0).collect();
            assert!(within.contains(&at), "it has its own texts");
            for text in texts.iter().filter(|text| !has(at, text)) {
                assert!(!within.iter().any(|&other| has(other, text)), "{text} in {within:?} of {at}");
            }
        }
        assert_eq!(alphabets[ALPHABETS_LEN - 1].within, (1 << ALPHABETS_LEN) - 1);
        assert_eq!(alphabets.iter().map(|alphabet| alphabet.tokens_len).sum::<usize>(), texts.len());
    }
}
