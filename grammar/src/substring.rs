//! Any contiguous run of a sequence of chunks (`%regex { "substring_chunks": […] }` in Lark, `#substrs"…"` in KBNF), as a
//! regex of linear size.
//!
//! The suffix automaton of the chunk sequence: A. Blumer et al., Theoretical Computer Science 40, 1985.
//! Differs: its letters are chunks, and each state becomes one regex node, "nothing more, or a chunk and its state".

use rustc_hash::FxHashMap;

use crate::limits::Limits;
use crate::regex::{RegexId, RegexSet};

/// The table of regexes would grow over its limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubstringError {
    /// [`Limits::regex_nodes_max`].
    pub limit: usize,
    /// Nodes that the table would have at worst.
    pub used: usize,
}

/// One state: the chunk runs that end at the same places.
struct State {
    /// Chunks of the longest run of this state.
    len: u32,
    /// The state of the longest suffix that ends in more places; `NO_STATE` for the root.
    link: u32,
    /// Next states, by chunk number.
    next: FxHashMap<u32, u32>,
}

const NO_STATE: u32 = u32::MAX;

/// The regex of `chunks[m..n].join("")` for all `m <= n`, the empty text included. Empty chunks add nothing.
///
/// Errors: [`SubstringError`] before anything is built. Cost: linear in the number of chunks.
pub fn substring<C: AsRef<[u8]> + ?Sized>(
    chunks: &[&C],
    limits: &Limits,
    set: &mut RegexSet,
) -> Result<RegexId, SubstringError> {
    // A suffix automaton of n letters has at most 2n states and 3n transitions; each may be a node, and so may each chunk.
    let used = set.len().saturating_add(chunks.len().saturating_mul(6));
    if used > limits.regex_nodes_max {
        return Err(SubstringError { limit: limits.regex_nodes_max, used });
    }
    let mut numbers: FxHashMap<&[u8], u32> = FxHashMap::default();
    let mut letters: Vec<RegexId> = Vec::new();
    let mut text: Vec<u32> = Vec::with_capacity(chunks.len());
    for chunk in chunks.iter().map(|chunk| chunk.as_ref()).filter(|chunk| !chunk.is_empty()) {
        text.push(*numbers.entry(chunk).or_insert_with(|| {
            letters.push(set.literal(chunk));
            letters.len() as u32 - 1
        }));
    }
    Ok(lower(&automaton(&text), &letters, set))
}

/// The suffix automaton of `text`; state 0 is the root.
fn automaton(text: &[u32]) -> Vec<State> {
    let mut states = vec![State { len: 0, link: NO_STATE, next: FxHashMap::default() }];
    let mut last = 0;
    for &letter in text {
        let new = states.len() as u32;
        let len = states[last as usize].len + 1;
        states.push(State { len, link: 0, next: FxHashMap::default() });
        let mut at = last;
        while at != NO_STATE && !states[at as usize].next.contains_key(&letter) {
            states[at as usize].next.insert(letter, new);
            at = states[at as usize].link;
        }
        if at != NO_STATE {
            let target = states[at as usize].next[&letter];
            states[new as usize].link = split(&mut states, at, letter, target);
        }
        last = new;
    }
    states
}

/// The state for the runs of `target` that end with `letter` after the longest run of `at`: `target` itself, or a copy
/// that takes its shorter runs over.
fn split(states: &mut Vec<State>, at: u32, letter: u32, target: u32) -> u32 {
    let len = states[at as usize].len + 1;
    if states[target as usize].len == len {
        return target;
    }
    let copy = states.len() as u32;
    let (link, next) = (states[target as usize].link, states[target as usize].next.clone());
    states.push(State { len, link, next });
    states[target as usize].link = copy;
    let mut at = at;
    while at != NO_STATE && states[at as usize].next.get(&letter) == Some(&target) {
        states[at as usize].next.insert(letter, copy);
        at = states[at as usize].link;
    }
    copy
}

/// Each state as a node, longest first: a transition always leads to a longer run.
fn lower(states: &[State], letters: &[RegexId], set: &mut RegexSet) -> RegexId {
    let mut order: Vec<u32> = (0..states.len() as u32).collect();
    order.sort_unstable_by_key(|&state| std::cmp::Reverse(states[state as usize].len));
    set.reserve(states.iter().map(|state| 1 + state.next.len()).sum());
    let epsilon = set.epsilon();
    let mut nodes = vec![epsilon; states.len()];
    for state in order {
        let mut edges: Vec<(u32, u32)> = states[state as usize].next.iter().map(|(&c, &to)| (c, to)).collect();
        edges.sort_unstable();
        let mut parts = vec![epsilon];
        parts.extend(edges.iter().map(|&(c, to)| set.concat(&[letters[c as usize], nodes[to as usize]])));
        nodes[state as usize] = set.or(&parts);
    }
    nodes[0]
}

/// The chunks of `substring_words`: runs of white space, runs of letters, digits and `_`, runs of anything else.
pub fn words(text: &str) -> Vec<&str> {
    let kind = |c: char| match c {
        c if c.is_whitespace() => 0,
        c if c.is_alphanumeric() || c == '_' => 1,
        _ => 2,
    };
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, c) in text.char_indices() {
        if before.is_some_and(|before| before != kind(c)) {
            chunks.push(&text[start..at]);
            start = at;
        }
        before = Some(kind(c));
    }
    if start < text.len() {
        chunks.push(&text[start..]);
    }
    chunks
}

/// The chunks of `substring_chars`: each character.
pub fn chars(text: &str) -> Vec<&str> {
    text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]).collect()
}

/// Each byte as a chunk.
pub fn bytes(text: &str) -> Vec<&[u8]> {
    text.as_bytes().chunks(1).collect()
}
