//! The term of a state beside that of another one that it resembles.
//!
//! Free text after half of a trigger is free text again after most bytes; a name where other keywords could stand is a
//! name again once it is no keyword. So where the two states have come together, the tokens below do the same in both,
//! and only where they have not is the trie walked.

use larkspur_toktrie::{TokenTrie, mask};
use rustc_hash::FxHashMap;

use super::draft::{Draft, step};
use super::{ALL, PieceId, Term, TermId, Terms, Work, is_narrow};
use crate::error::Fault;
use crate::lexer::rows::{ASK, REFUSED};
use crate::lexer::split::Entry;
use crate::lexer::states::{DEAD, LexStateId, Lexer, StateKind};
use crate::slicer::{Decided, Open, PieceNode, Slicer};

/// States that a new one is compared with: the last ones of its piece.
const BESIDES_MAX: usize = 8;

/// Nodes of a long walk: a shorter one takes no longer than looking for a state to stand beside.
pub(super) const WIDE: u64 = 2048;

/// A walk beside a state that has more texts is given up after this part of all nodes, one in so many.
pub(super) const WIDER_SHARE: usize = 16;

/// A walk beside another state is given up after this part of the walk alone, one in so many.
const WALK_SHARE: u64 = 3;

/// States whose terms others may be made beside, by piece.
#[derive(Default, Debug)]
pub(super) struct Besides {
    last: FxHashMap<PieceId, Vec<(LexStateId, TermId)>>,
}

impl Besides {
    /// Remembers a term.
    pub fn note(&mut self, piece: PieceId, lex: LexStateId, term: TermId) {
        let last = self.last.entry(piece).or_default();
        if last.len() == BESIDES_MAX {
            last.remove(0);
        }
        last.push((lex, term));
    }
}

/// A piece as a state sees it: the slices that it takes whole, those of which it takes or refuses parts, and the nodes of
/// the piece in tries that are not taken.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub piece: PieceId,
    pub slices: &'a [usize],
    pub parts: &'a [(usize, Decided)],
    pub nodes: &'a [PieceNode],
    /// Whether these are all such nodes; else the state refuses the others.
    pub is_whole: bool,
}

impl View<'_> {
    /// Which nodes of the trie that a node is in are not decided; `None` if none is.
    pub fn open<'s>(&self, slicer: &'s Slicer, node: PieceNode) -> Option<Open<'s>> {
        let index = slicer.index_of(node);
        let &(_, decided) = self.parts.iter().find(|(slice, _)| *slice == index)?;
        Some(slicer.slices[index].parts.as_ref()?.open(decided))
    }

    /// By each byte, how many nodes there are from those on that it enters.
    pub fn weights(&self, slicer: &Slicer) -> [u64; 256] {
        let mut weights = [0; 256];
        let Some(&first) = self.nodes.first() else { return weights };
        let (mut trie, mut root) = slicer.trie_of(first);
        for &node in self.nodes {
            if (node - root) as usize >= trie.len() {
                (trie, root) = slicer.trie_of(node);
            }
            let node = (node - root) as usize;
            weights[usize::from(trie.bytes()[node])] += u64::from(trie.subtree_ends()[node]) - node as u64;
        }
        weights
    }
}

/// A state beside another one, whose term is known.
pub(super) struct Pair {
    lex: LexStateId,
    other: LexStateId,
    term: TermId,
    /// Nodes that may be looked at, and those that were.
    nodes_max: u64,
    nodes: u64,
    /// Nodes at which the two differ: ranges, ascending.
    apart: Vec<(PieceNode, PieceNode)>,
}

impl Terms {
    /// The term of a state, if it resembles one that is known.
    pub(super) fn beside(
        &mut self,
        slicer: &Slicer,
        view: View<'_>,
        lex: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        match self.most_alike(slicer, view, lex, lexer)? {
            Some(pair) => self.beside_known(slicer, view, pair, lexer, work),
            None => Ok(None),
        }
    }

    /// The term of a lexeme without some texts, if few tokens begin like one of these: names that do not begin with `x-`. It is made
    /// beside that of the lexeme with these.
    pub(super) fn beside_wider(
        &mut self,
        slicer: &Slicer,
        (entry, is_fresh): (Entry, bool),
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let Some(expr) = lexer.plain(entry.1) else { return Ok(None) };
        let Some(wider) = lexer.arena().without_complements(expr) else { return Ok(None) };
        let wider = (entry.0, wider.to_raw());
        let (lex, other) = (lexer.single(entry, is_fresh)?, lexer.single(wider, is_fresh)?);
        let view = View { piece: ALL, slices: &[], parts: &[], nodes: &slicer.roots, is_whole: true };
        let nodes_max = (slicer.nodes_len() / WIDER_SHARE) as u64;
        let row = lexer.row(lex)?.next;
        if apart(&row, &lexer.row(other)?.next, &view.weights(slicer)) > nodes_max {
            return Ok(None);
        }
        if self.known_lexeme((ALL, wider, is_fresh), lexer).is_err()
            && !self.takes_some(slicer, (wider, is_fresh), lexer)
        {
            return Ok(None);
        }
        let term = self.of_lexeme(slicer, (ALL, wider, is_fresh), lexer, work)?;
        let pair = Pair::new((lex, other), term, nodes_max);
        self.beside_known(slicer, view, pair, lexer, work)
    }

    pub(super) fn beside_known(
        &mut self,
        slicer: &Slicer,
        view: View<'_>,
        mut pair: Pair,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let mut draft = Draft::new(work);
        let is_worth_it = self.walk_pair(&mut draft, &mut pair, slicer, view, lexer)?;
        draft.count(work)?;
        if !is_worth_it {
            return Ok(None);
        }
        let mut words = self.terms[pair.term].inside.words(slicer.words_len);
        for &(first, end) in &pair.apart {
            let (trie, root) = slicer.trie_of(first);
            for node in first - root..end - root {
                trie.token(node).into_iter().for_each(|token| mask::forbid(&mut words, token));
            }
        }
        for (index, (trie, root)) in slicer.rooted_tries().enumerate() {
            if view.slices.contains(&index) {
                mask::or_assign(&mut words, &slicer.slices[index].mask);
                pair.apart.push((root, root + trie.len() as PieceNode));
            }
        }
        pair.apart.sort_unstable();
        let known = &self.terms[pair.term];
        draft.late.extend(pair.shared(&known.late));
        draft.stuck.extend(&known.stuck);
        draft.stuck.sort_unstable();
        draft.stuck.dedup();
        for &(ended, piece) in &known.ends {
            let shared = pair.shared(&self.piece_nodes(slicer, piece));
            if !shared.is_empty() {
                draft.end(ended).extend(shared);
            }
        }
        Ok(Some(self.finish(slicer, Some(words), draft)))
    }

    /// Of the last states of a piece the one that most resembles a new one, if a walk is long.
    fn most_alike(
        &self,
        slicer: &Slicer,
        view: View<'_>,
        lex: LexStateId,
        lexer: &mut Lexer,
    ) -> Result<Option<Pair>, Fault> {
        let Some(last) = self.besides.last.get(&view.piece) else { return Ok(None) };
        if is_narrow(lex, lexer)? {
            return Ok(None);
        }
        let row = lexer.row(lex)?.next;
        let weights = view.weights(slicer);
        let alone: u64 = row.iter().zip(&weights).filter(|(next, _)| **next != DEAD).map(|(_, weight)| weight).sum();
        if alone < WIDE {
            return Ok(None);
        }
        let mut found = None;
        let mut least = u64::MAX;
        for &(other, term) in last.iter().rev() {
            let others = lexer.row(other)?.next;
            let apart = apart(&row, &others, &weights);
            if apart < least {
                let pair = Pair::new((lex, other), term, alone / WALK_SHARE);
                (found, least) = (Some(pair), apart);
            }
        }
        Ok(found)
    }

    /// Walks a piece in two states at once, as far as they differ. Says whether that was worth it.
    fn walk_pair(
        &mut self,
        draft: &mut Draft,
        pair: &mut Pair,
        slicer: &Slicer,
        view: View<'_>,
        lexer: &mut Lexer,
    ) -> Result<bool, Fault> {
        let mut states = Vec::new();
        let mut reached = 0;
        for &first in view.nodes {
            // Below another node of the piece a token may be left out on one way and allowed on the other.
            if first < reached {
                return Ok(false);
            }
            let (trie, root) = slicer.trie_of(first);
            reached = root + trie.subtree_ends()[(first - root) as usize];
            states.resize(states.len().max(trie.depth_max() + 1), (DEAD, DEAD));
            states[0] = (pair.lex, pair.other);
            self.walk_pair_at(draft, pair, (trie, root, first - root), &mut states, lexer)?;
            if pair.nodes + draft.visited > pair.nodes_max {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn walk_pair_at(
        &mut self,
        draft: &mut Draft,
        pair: &mut Pair,
        (trie, root, first): (&TokenTrie, PieceNode, u32),
        states: &mut [(LexStateId, LexStateId)],
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let base = usize::from(trie.depths()[first as usize]) - 1;
        let end = trie.subtree_ends()[first as usize];
        let mut node = first;
        while node < end {
            draft.visited += 1;
            let level = usize::from(trie.depths()[node as usize]) - base;
            let byte = trie.bytes()[node as usize];
            let below = trie.subtree_ends()[node as usize];
            let (from, other) = states[level - 1];
            let (quick, others) = (lexer.quick_inside(from, byte), lexer.quick_inside(other, byte));
            if quick == others && quick != ASK {
                node = below;
                continue;
            }
            let Some(other_next) = inside_after(lexer, other, byte, others)? else {
                pair.part(root + node, root + below);
                self.walk_node(draft, trie, (root, node), |_| true, from, lexer)?;
                node = below;
                continue;
            };
            let next = match quick {
                REFUSED => None,
                ASK => step(draft, lexer, from, (trie, root, node))?,
                next => Some(LexStateId(next)),
            };
            let Some(next) = next else {
                pair.part(root + node, root + below);
                node = below;
                continue;
            };
            pair.part(root + node, root + node + 1);
            draft.take(trie.tokens()[node as usize]);
            states[level] = (next, other_next);
            node = if next == other_next { below } else { node + 1 };
        }
        Ok(())
    }
}

impl Pair {
    /// A state and another one with its term, of which no node was looked at.
    pub fn new((lex, other): (LexStateId, LexStateId), term: TermId, nodes_max: u64) -> Self {
        Self { lex, other, term, nodes_max, nodes: 0, apart: Vec::new() }
    }

    /// Notes nodes at which the two differ.
    fn part(&mut self, first: PieceNode, end: PieceNode) {
        self.apart.push((first, end));
        self.nodes += u64::from(end - first);
    }

    /// Nodes at which the two do not differ.
    fn shared(&self, nodes: &[PieceNode]) -> Vec<PieceNode> {
        let mut ranges = self.apart.iter().peekable();
        let mut shared = Vec::with_capacity(nodes.len());
        for &node in nodes {
            while ranges.next_if(|(_, end)| *end <= node).is_some() {}
            if ranges.peek().is_none_or(|(first, _)| node < *first) {
                shared.push(node);
            }
        }
        shared
    }
}

/// How many nodes there are from those on that bytes enter which lead to other states.
pub(super) fn apart(row: &[LexStateId], others: &[LexStateId], weights: &[u64; 256]) -> u64 {
    let pairs = row.iter().zip(others).zip(weights);
    pairs.filter(|((a, b), _)| a != b).map(|(_, weight)| weight).sum()
}

/// The state after a byte if what is below is looked at in it.
fn inside_after(lexer: &mut Lexer, from: LexStateId, byte: u8, quick: u32) -> Result<Option<LexStateId>, Fault> {
    let next = match quick {
        REFUSED => return Ok(None),
        ASK => lexer.next(from, byte)?,
        next => LexStateId(next),
    };
    let state = lexer.state(next);
    Ok((next != DEAD && state.kind != StateKind::LazyEnd).then_some(next))
}
