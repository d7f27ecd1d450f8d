//! Parts of a slice: its tokens by alphabet and by length.
//!
//! A state may take a slice but for the texts that are too long for what is left of a count, or that have a character too
//! many (`[^/]+`, `\S+`, `[a-z0-9-]+`). Then most parts are taken as a whole still, or refused as a whole, which a few states
//! of the product prove as they do for slices; in the trie only the other parts are walked.

use std::sync::OnceLock;

use larkspur_grammar::{CharClass, Limits, RegexSet};
use larkspur_toktrie::{NO_TOKEN, TokenTrie, mask};
use rustc_hash::FxHashSet;

use super::Automaton;
use crate::error::Fault;
use crate::lexer::arena::Arena;
use crate::lexer::states::{DEAD, LexStateId, Lexer, NO_LEXEMES};

/// Lengths in characters, from one bound up to the next.
const LENGTHS: [u32; 16] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 16, 19, 24];

/// Alphabets: those with a leading space, then its characters. A token is of the first that has all its characters; the
/// last has all.
const ALPHABETS: [(bool, &[(u32, u32)]); 7] = [
    (false, &[LOWER]),
    (true, &[LOWER]),
    (false, &[LOWER, UPPER]),
    (true, &[LOWER, UPPER]),
    (false, &[(0, 0x7F)]),
    (false, &[(SPACE, SPACE), LOWER, UPPER, (0x80, 0x10_FFFF)]),
    (false, &[(0, 0x10_FFFF)]),
];

const SPACE: u32 = ' ' as u32;
const LOWER: (u32, u32) = ('a' as u32, 'z' as u32);
const UPPER: (u32, u32) = ('A' as u32, 'Z' as u32);

/// Pairs of states looked at for one state.
const PAIRS_MAX: usize = 48;

/// Characters of the longest token that is in a part.
const LENGTH_MAX: u32 = 32;

/// Parts have bits of a `u64`. Tokens beyond them have the last one, and are always walked.
const PARTS_MAX: usize = 63;
const WALKED: u64 = 1 << PARTS_MAX;

/// A slice's tokens, sorted into parts.
#[derive(Debug)]
pub(crate) struct Parts {
    parts: Vec<Part>,
    alphabets: Vec<Alphabet>,
    /// Of each node of the slice's trie the parts that have tokens there or below.
    below: Vec<u64>,
}

/// Tokens of one alphabet and of some lengths.
#[derive(Debug)]
struct Part {
    /// Bounds of the lengths in characters.
    min: u32,
    max: u32,
    mask: Vec<u32>,
}

#[derive(Debug)]
struct Alphabet {
    has_space: bool,
    class: CharClass,
    /// Of all its texts; `None` if it could not be made.
    automaton: OnceLock<Option<Automaton>>,
    /// Its parts, as bits.
    parts: u64,
}

/// What a state does with the texts of an alphabet, by their lengths in characters.
struct Lengths {
    /// It takes those that are not longer.
    taken: u32,
    /// It refuses those that are not shorter.
    refused: u32,
}

/// What a state does with the parts of a slice, as bits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Decided {
    /// Parts whose texts it takes, all of them.
    pub taken: u64,
    /// Parts of whose texts it takes none, nor the beginning of one as a whole lexeme.
    pub refused: u64,
}

impl Parts {
    /// The parts of a slice of texts of these characters.
    pub fn new(trie: &TokenTrie, class: &CharClass, words_len: usize) -> Self {
        let mut parts = Parts { parts: Vec::new(), alphabets: Vec::new(), below: vec![0; trie.len()] };
        for (has_space, ranges) in ALPHABETS {
            let class = both(class, &CharClass::from_ranges(ranges.iter().copied()));
            parts.alphabets.push(Alphabet { has_space, class, automaton: OnceLock::new(), parts: 0 });
        }
        let mut bits = [[0u64; LENGTHS.len() + 1]; ALPHABETS.len()];
        let mut path: Vec<u8> = Vec::new();
        for node in 1..trie.len() {
            path.truncate(usize::from(trie.depths()[node]) - 1);
            path.push(trie.bytes()[node]);
            let token = trie.tokens()[node];
            if token == NO_TOKEN {
                continue;
            }
            let (alphabet, length) = (alphabet_of(&path), length_of(&path));
            let bit = &mut bits[alphabet][length];
            if *bit == 0 {
                *bit = match LENGTHS.get(length) {
                    Some(_) => parts.add(alphabet, length, words_len),
                    None => WALKED,
                };
            }
            if *bit != WALKED {
                mask::allow(&mut parts.parts[bit.trailing_zeros() as usize].mask, token);
            }
            parts.below[node] = *bit;
        }
        // Nodes come before those below them.
        let mut at_depth = vec![0u64; trie.depth_max() + 2];
        for node in (0..trie.len()).rev() {
            let depth = usize::from(trie.depths()[node]);
            parts.below[node] |= std::mem::take(&mut at_depth[depth + 1]);
            at_depth[depth] |= parts.below[node];
        }
        parts
    }

    /// The bit of a new part.
    fn add(&mut self, alphabet: usize, length: usize, words_len: usize) -> u64 {
        if self.parts.len() == PARTS_MAX {
            return WALKED;
        }
        let bit = 1 << self.parts.len();
        self.alphabets[alphabet].parts |= bit;
        let max = LENGTHS.get(length + 1).map_or(LENGTH_MAX, |next| next - 1);
        self.parts.push(Part { min: LENGTHS[length], max, mask: vec![0; words_len] });
        bit
    }

    /// Of each node of the slice's trie the parts that have tokens there or below.
    pub fn below(&self) -> &[u64] {
        &self.below
    }

    /// Adds the tokens of parts to a mask.
    pub fn allow(&self, parts: u64, words: &mut [u32]) {
        let is_among = |&(index, _): &(usize, &Part)| parts & 1 << index != 0;
        self.parts.iter().enumerate().filter(is_among).for_each(|(_, part)| mask::or_assign(words, &part.mask));
    }

    /// What a state of one lexeme does with the parts. Cost: little where it takes some characters of each alphabet only.
    pub fn decide(&self, lexer: &mut Lexer, lex: LexStateId) -> Result<Decided, Fault> {
        let (arena, limits) = (lexer.arena().clone(), lexer.limits().clone());
        let mut decided = Decided::default();
        let mut pairs = PAIRS_MAX;
        for alphabet in self.alphabets.iter().filter(|alphabet| alphabet.parts != 0) {
            let Some(automaton) = alphabet.automaton(&arena, &limits) else { continue };
            let Lengths { taken, refused } = automaton.lengths(lexer, lex, &mut pairs)?;
            for (index, part) in self.parts.iter().enumerate().filter(|(index, _)| alphabet.parts & 1 << index != 0) {
                decided.taken |= u64::from(part.max <= taken) << index;
                decided.refused |= u64::from(part.min >= refused) << index;
            }
        }
        Ok(decided)
    }
}

impl Alphabet {
    fn automaton(&self, arena: &Arena, limits: &Limits) -> Option<&Automaton> {
        let make = || {
            let mut set = RegexSet::new();
            let one = set.class(self.class.clone());
            let regex = match self.has_space {
                false => set.repeat(one, 1, None),
                true => {
                    let (space, rest) = (set.literal(b" "), set.repeat(one, 0, None));
                    set.concat(&[space, rest])
                }
            };
            Automaton::new(&set, regex, arena, limits).ok().flatten()
        };
        self.automaton.get_or_init(make).as_ref()
    }
}

impl Automaton {
    /// How long the texts of an alphabet are that a lexer state takes, and that it refuses. Goes from one character to the
    /// next with all states that one can be in.
    fn lengths(&self, lexer: &mut Lexer, lex: LexStateId, pairs: &mut usize) -> Result<Lengths, Fault> {
        let mode = lexer.mode();
        let mut lengths = Lengths { taken: 0, refused: u32::MAX };
        let (mut all_live, mut none_ends) = (true, lexer.state(lex).ends == NO_LEXEMES);
        let mut now = vec![(1u16, lex)];
        for length in 1..=LENGTH_MAX {
            let mut next: Vec<(u16, LexStateId)> = Vec::new();
            let mut visited: FxHashSet<(u16, LexStateId)> = now.iter().copied().collect();
            let mut agenda = now.clone();
            while let Some((state, lex)) = agenda.pop() {
                let Some(left) = pairs.checked_sub(1) else { return Ok(lengths) };
                *pairs = left;
                let targets = lexer.row(lex)?.next;
                let mut last = (0, DEAD);
                for (&to, &target) in self.rows[usize::from(state)].iter().zip(&targets) {
                    if to == 0 || (to, target) == last {
                        continue;
                    }
                    last = (to, target);
                    let entered = lexer.state(target);
                    if target == DEAD {
                        all_live = false;
                    } else if super::is_special(entered, mode) {
                        return Ok(lengths);
                    } else {
                        none_ends &= entered.ends == NO_LEXEMES;
                        let is_whole = self.accepting[usize::from(to)];
                        if is_whole {
                            next.push((to, target));
                        } else if visited.insert((to, target)) {
                            agenda.push((to, target));
                        }
                    }
                }
                if !all_live && !none_ends {
                    return Ok(lengths);
                }
            }
            next.sort_unstable();
            next.dedup();
            if all_live {
                lengths.taken = if next == now { u32::MAX } else { length };
            }
            if next.is_empty() {
                lengths.refused = if none_ends { length } else { u32::MAX };
                break;
            }
            if next == now {
                break;
            }
            now = next;
        }
        Ok(lengths)
    }
}

/// Characters of both classes.
fn both(a: &CharClass, b: &CharClass) -> CharClass {
    let (a, b) = (a.negate(), b.negate());
    CharClass::from_ranges(a.ranges().iter().chain(b.ranges()).copied()).negate()
}

/// The first of [`ALPHABETS`] that has all characters of a text.
fn alphabet_of(text: &[u8]) -> usize {
    let word = text.strip_prefix(b" ");
    let is_lower = |text: &[u8]| text.iter().all(u8::is_ascii_lowercase);
    let is_alphabetic = |text: &[u8]| text.iter().all(u8::is_ascii_alphabetic);
    let is_wide = |byte: &u8| *byte == b' ' || byte.is_ascii_alphabetic() || !byte.is_ascii();
    match word {
        _ if is_lower(text) => 0,
        Some(word) if is_lower(word) => 1,
        _ if is_alphabetic(text) => 2,
        Some(word) if is_alphabetic(word) => 3,
        _ if text.is_ascii() => 4,
        _ if text.iter().all(is_wide) => 5,
        _ => 6,
    }
}

/// Which of [`LENGTHS`] a text in UTF-8 has; one more than there are if it is too long.
fn length_of(text: &[u8]) -> usize {
    let is_first = |byte: &&u8| **byte & 0xC0 != 0x80;
    let length = text.iter().filter(is_first).count() as u32;
    if length > LENGTH_MAX { LENGTHS.len() } else { LENGTHS.partition_point(|&bound| bound <= length) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_in_the_languages_of_their_parts() {
        let arena = Arena::new(&Limits::default(), 64);
        for text in ["a", " ", " a", "bcd", " Abc", "A", "x-1", "a b", "é", " naïve", "日本語", "«é»1", "ABCDEFGHIJKL"]
        {
            let (has_space, ranges) = ALPHABETS[alphabet_of(text.as_bytes())];
            let class = CharClass::from_ranges(ranges.iter().copied());
            let alphabet = Alphabet { has_space, class, automaton: OnceLock::new(), parts: 0 };
            let automaton = alphabet.automaton(&arena, &Limits::default()).expect("small");
            assert!(automaton.matches(text.as_bytes()), "{text}");
            let (length, chars) = (length_of(text.as_bytes()), text.chars().count() as u32);
            assert!(LENGTHS[length] <= chars && LENGTHS.get(length + 1).is_none_or(|&next| chars < next), "{text}");
        }
    }
}
