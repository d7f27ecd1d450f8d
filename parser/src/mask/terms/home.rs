//! States that most characters lead back to, such as those of a text in which some words must stand or may not.
//!
//! What tokens do in such a *home* shows of the few places at which they leave it. Some bytes lead to a state that does what the
//! home does but before a few others: the first letter of a word, but before the second one. There a token leaves home with both,
//! and what state it is in up to there is seen from the last byte. So all tokens but those of these places follow without a look
//! at each: of o200k's 380,000 nodes of text 15,000 are looked at where one of five words must stand.

use std::ops::RangeInclusive;

use larkspur_grammar::ByteSet;
use larkspur_toktrie::{NO_TOKEN, ROOT, TokenTrie, mask};

use super::beside::{Pair, View, WIDER_SHARE, apart};
use super::draft::{Draft, step};
use super::{ALL, Term, TermId, Terms, Work};
use crate::error::Fault;
use crate::lexer::cuts::{CONTINUATIONS, CharacterRest, lead};
use crate::lexer::rows::{ASK, REFUSED};
use crate::lexer::states::{DEAD, LexStateId, Lexer};
use crate::slicer::Slicer;

/// Bytes of ASCII that lead elsewhere than home, or nowhere, at most.
const AWAY_MAX: usize = 64;

/// Bytes before which a state is another than home, at most; where they are more, all that is behind it is looked at.
const APART_MAX: u32 = 16;

/// Work of the lexer to find out what bytes do at home, eight milliseconds.
const WORK_MAX: u64 = 400_000;

/// Nodes at which tokens leave home are at most this part of all, one in so many.
const LEAVING_SHARE: usize = 8;

/// A state that is left by few bytes.
struct Home {
    state: LexStateId,
    /// The state after each byte in which what follows is as at home, `DEAD` if there is none.
    after: [LexStateId; 256],
    /// Bytes with which a token leaves home.
    leaving: ByteSet,
    /// By a byte, those behind which a token leaves home with it.
    leaving_behind: [ByteSet; 256],
}

impl Home {
    /// The home of a state, if it has one that tokens leave with a byte behind another one.
    fn of(lex: LexStateId, lexer: &mut Lexer) -> Result<Option<Self>, Fault> {
        let row = lexer.row(lex)?.next;
        let mut states: Vec<LexStateId> = row[..0x80].to_vec();
        states.sort_unstable();
        let Some(most) = states.chunk_by(|a, b| a == b).max_by_key(|run| run.len()) else { return Ok(None) };
        let state = most[0];
        if state == DEAD || most.len() < 0x80 - AWAY_MAX {
            return Ok(None);
        }
        let work_max = lexer.work.saturating_add(WORK_MAX);
        lexer.row(state)?;
        let mut home =
            Home { state, after: [DEAD; 256], leaving: ByteSet::EMPTY, leaving_behind: [ByteSet::EMPTY; 256] };
        let quick: [u32; 256] = std::array::from_fn(|byte| lexer.quick_inside(state, byte as u8));
        if quick[..0x80].iter().filter(|&&next| next != state.0).count() > AWAY_MAX {
            return Ok(None);
        }
        for byte in 0..0x80 {
            home.note(byte, &quick, lexer)?;
            if lexer.work > work_max {
                return Ok(None);
            }
        }
        if home.leaving_behind.iter().all(ByteSet::is_empty) {
            return Ok(None);
        }
        home.after[0x80..].fill(state);
        if quick[0x80..].iter().any(|&next| next != state.0) {
            home.note_characters(&quick, lexer)?;
        }
        Ok(Some(home))
    }

    /// Notes what a byte of ASCII does.
    fn note(&mut self, byte: u8, quick: &[u32; 256], lexer: &mut Lexer) -> Result<(), Fault> {
        let next = LexStateId(quick[usize::from(byte)]);
        let apart = match next.0 {
            REFUSED | ASK => None,
            _ => self.apart(next, quick, lexer)?,
        };
        let Some(apart) = apart else {
            self.leaving.insert(byte);
            return Ok(());
        };
        apart.iter().for_each(|at| self.leaving_behind[usize::from(at)].insert(byte));
        self.after[usize::from(byte)] = next;
        Ok(())
    }

    /// Notes which bytes that begin a character of several bytes do not lead back with all of these.
    fn note_characters(&mut self, quick: &[u32; 256], lexer: &mut Lexer) -> Result<(), Fault> {
        let (mut known, mut is_back) = (None, false);
        for first in FIRSTS {
            let next = quick[usize::from(first)];
            let (_, rest) = lead(first);
            if known != Some((rest, next)) {
                (known, is_back) = (Some((rest, next)), leads_back(self.state, next, rest, lexer)?);
            }
            if !is_back {
                self.leaving.insert(first);
            }
        }
        Ok(())
    }

    /// The bytes before which another state does not do what the home does; `None` if they are many, or some are not of ASCII.
    fn apart(&self, other: LexStateId, quick: &[u32; 256], lexer: &mut Lexer) -> Result<Option<ByteSet>, Fault> {
        let mut apart = ByteSet::EMPTY;
        if other == self.state {
            return Ok(Some(apart));
        }
        lexer.row(other)?;
        for byte in (0..=0xFF).filter(|&byte| lexer.quick_inside(other, byte) != quick[usize::from(byte)]) {
            apart.insert(byte);
            if byte >= 0x80 || apart.len() > APART_MAX {
                return Ok(None);
            }
        }
        Ok(Some(apart))
    }
}

/// First bytes of characters of several bytes (RFC 3629, section 4).
const FIRSTS: RangeInclusive<u8> = 0xC2..=0xF4;

/// Whether what is left of characters leads from a state to another one, and no other bytes lead anywhere.
fn leads_back(
    home: LexStateId,
    mut next: u32,
    (len, (mut first, mut last)): CharacterRest,
    lexer: &mut Lexer,
) -> Result<bool, Fault> {
    for _ in 0..len {
        if matches!(next, REFUSED | ASK) {
            return Ok(false);
        }
        let from = LexStateId(next);
        lexer.row(from)?;
        next = lexer.quick_inside(from, first);
        let expected = |byte| if (first..=last).contains(&byte) { next } else { REFUSED };
        if !(0..=0xFF).all(|byte| lexer.quick_inside(from, byte) == expected(byte)) {
            return Ok(false);
        }
        (first, last) = CONTINUATIONS;
    }
    Ok(next == home.0)
}

impl Terms {
    /// The term of a state that has a home.
    pub(super) fn of_home(
        &mut self,
        slicer: &Slicer,
        lex: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<TermId>, Fault> {
        // A limit that is met here may be far from what is asked else.
        let Ok(Some(home)) = Home::of(lex, lexer) else { return Ok(None) };
        let term = match home.state == lex {
            true => self.at_home(slicer, &home, lexer, work)?,
            false => self.beside_home(slicer, lex, home.state, lexer, work)?,
        };
        let Some(term) = term else { return Ok(None) };
        let id = self.push(term);
        self.besides.note(ALL, lex, id);
        self.of_wholes.insert((ALL, lex), id);
        Ok(Some(id))
    }

    /// The term of a home; `None` if it is left in many places.
    fn at_home(
        &mut self,
        slicer: &Slicer,
        home: &Home,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let Some(leaving) = leaving(slicer, home) else { return Ok(None) };
        let mut words: Box<[u32]> = vec![0; slicer.words_len].into();
        let mut draft = Draft::new(work);
        for (index, (trie, root)) in slicer.rooted_tries().enumerate() {
            match slicer.slices.get(index).filter(|slice| slice.is_text()) {
                Some(slice) => {
                    mask::or_assign(&mut words, &slice.mask);
                    let place = (trie, root, slicer.before());
                    walk(&mut draft, (home, &leaving), place, &mut words, lexer)?;
                }
                None => {
                    for child in trie.children(ROOT) {
                        self.walk_node(&mut draft, trie, (root, child), |_| true, home.state, lexer)?;
                    }
                }
            }
        }
        draft.count(work)?;
        Ok(Some(self.finish(slicer, Some(words), draft)))
    }

    /// The term of a state beside its home, if the two differ before few bytes.
    fn beside_home(
        &mut self,
        slicer: &Slicer,
        lex: LexStateId,
        home: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let view = View { piece: ALL, slices: &[], parts: &[], nodes: &slicer.roots, is_whole: true };
        let nodes_max = (slicer.nodes_len() / WIDER_SHARE) as u64;
        if apart(&lexer.known_row(lex).next, &lexer.known_row(home).next, &view.weights(slicer)) > nodes_max {
            return Ok(None);
        }
        let term = self.of_whole(slicer, (ALL, home), lexer, work)?;
        self.beside_known(slicer, view, Pair::new((lex, home), term, nodes_max), lexer, work)
    }
}

/// Looks at the nodes of a trie at which tokens leave home, and at what is below them until they are back, and forbids those
/// that are not taken.
fn walk(
    draft: &mut Draft,
    (home, leaving): (&Home, &Nodes),
    (trie, root, before): (&TokenTrie, u32, &[u8]),
    words: &mut [u32],
    lexer: &mut Lexer,
) -> Result<(), Fault> {
    // Around a node, what ends where, and in which state it was entered; `DEAD` stands for home.
    let mut around = vec![(trie.len(), DEAD)];
    let len = trie.len();
    let (bytes, depths) = (&trie.bytes()[..len], &trie.depths()[..len]);
    let (subtree_ends, tokens) = (&trie.subtree_ends()[..len], &trie.tokens()[..len]);
    let before = &before[root as usize..][..len];
    let mut node = 1;
    while let Some(&(end, state)) = around.last() {
        if state == DEAD {
            node = leaving.next(root as usize + node) - root as usize;
        }
        if node >= end {
            node = end;
            around.pop();
            continue;
        }
        let from = match state {
            DEAD if depths[node] == 1 => home.state,
            DEAD => home.after[usize::from(before[node])],
            state => state,
        };
        draft.visited += 1;
        let (byte, below) = (bytes[node], subtree_ends[node] as usize);
        let next = match lexer.quick_inside(from, byte) {
            REFUSED => None,
            ASK => step(draft, lexer, from, (trie, root, node as u32))?,
            next => Some(LexStateId(next)),
        };
        match next {
            None => {
                let refused = tokens[node..below].iter().filter(|&&token| token != NO_TOKEN);
                refused.for_each(|&token| mask::forbid(words, token));
                node = below;
            }
            Some(next) => {
                node += 1;
                if node < below {
                    // Within a character of several bytes nothing is as at home.
                    let is_home = home.after[usize::from(byte)] == next && bytes[node] & 0xC0 != 0x80;
                    around.push((below, if is_home { DEAD } else { next }));
                }
            }
        }
    }
    Ok(())
}

/// The nodes at which tokens leave home; `None` if they are many.
fn leaving(slicer: &Slicer, home: &Home) -> Option<Nodes> {
    let nodes_max = slicer.nodes_len() / LEAVING_SHARE;
    let mut len: usize = home.leaving.iter().map(|byte| slicer.entered_by(byte).len()).sum();
    if len > nodes_max {
        return None;
    }
    let mut leaving = Nodes::new(slicer.nodes_len());
    let before = slicer.before();
    for byte in home.leaving.iter() {
        slicer.entered_by(byte).iter().for_each(|&node| leaving.insert(node));
    }
    for (byte, behind) in (0..=0xFF).zip(&home.leaving_behind).filter(|(_, behind)| !behind.is_empty()) {
        let is_behind: [bool; 256] = std::array::from_fn(|byte| behind.contains(byte as u8));
        for &node in slicer.entered_by(byte) {
            if is_behind[usize::from(before[node as usize])] {
                leaving.insert(node);
                len += 1;
            }
        }
    }
    (len <= nodes_max).then_some(leaving)
}

/// A set of nodes.
struct Nodes {
    words: Vec<u64>,
}

impl Nodes {
    fn new(len: usize) -> Self {
        Self { words: vec![0; len.div_ceil(64)] }
    }

    fn insert(&mut self, node: u32) {
        self.words[node as usize / 64] |= 1 << (node % 64);
    }

    /// The first one from a node on, or a number past all.
    fn next(&self, from: usize) -> usize {
        let Some(&word) = self.words.get(from / 64) else { return usize::MAX };
        let mut word = word & u64::MAX << (from % 64);
        let mut at = from / 64;
        while word == 0 {
            at += 1;
            match self.words.get(at) {
                Some(&next) => word = next,
                None => return usize::MAX,
            }
        }
        at * 64 + word.trailing_zeros() as usize
    }
}
