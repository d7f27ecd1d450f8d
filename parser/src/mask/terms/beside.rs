//! The term of a state beside that of another one that it resembles.
//!
//! Free text after half of a trigger is free text again after most bytes; a name without those that were written is any
//! name after most bytes. So where the two states have come together, the tokens below do the same in both, and only
//! where they have not is the trie walked.

use larkspur_toktrie::{ROOT, TokenTrie};

use super::{Draft, PieceId, Term, TermId, Terms, Tokens, Work, step};
use crate::error::Fault;
use crate::lexer::states::{ASK, DEAD, LexStateId, Lexer, REFUSED, StateKind};
use crate::slicer::{PieceNode, Slicer};

/// States that new ones are compared with: the last ones that took many tokens.
const BESIDES_MAX: usize = 8;

/// States whose terms others may be made beside.
#[derive(Default, Debug)]
pub(super) struct Besides {
    last: Vec<(LexStateId, TermId)>,
    next: usize,
}

/// Nodes of the trie at which two states differ: ranges, ascending.
type Ranges = Vec<(PieceNode, PieceNode)>;

impl Besides {
    pub fn note(&mut self, lex: LexStateId, term: TermId) {
        match self.last.get_mut(self.next % BESIDES_MAX) {
            Some(last) => *last = (lex, term),
            None => self.last.push((lex, term)),
        }
        self.next += 1;
    }

    /// Of the last states the one that most resembles a new one, if it does so enough.
    fn most_alike(
        &self,
        slicer: &Slicer,
        lex: LexStateId,
        lexer: &mut Lexer,
    ) -> Result<Option<(LexStateId, TermId)>, Fault> {
        let row = lexer.row(lex)?.next;
        let weights = slicer.weights.as_slice();
        let alone: u64 = row.iter().zip(weights).filter(|(next, _)| **next != DEAD).map(|(_, &weight)| weight).sum();
        let mut found = None;
        let mut least = alone / 2;
        for &(other, term) in &self.last {
            let others = lexer.row(other)?.next;
            let pairs = row.iter().zip(&others).zip(weights);
            let apart: u64 = pairs.filter(|((a, b), _)| a != b).map(|(_, &weight)| weight).sum();
            if apart < least {
                (found, least) = (Some((other, term)), apart);
            }
        }
        Ok(found)
    }
}

impl Terms {
    /// The term of a state for all of the trie, if it resembles one that is known: what it leaves out of that, and the
    /// draft of what it has besides.
    pub(super) fn beside(
        &mut self,
        slicer: &Slicer,
        lex: LexStateId,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Option<Term>, Fault> {
        let Some((other, term)) = self.besides.most_alike(slicer, lex, lexer)? else { return Ok(None) };
        let mut draft = Draft::default();
        let mut apart = Ranges::new();
        let mut root = 0;
        for trie in slicer.tries() {
            self.walk_pair(&mut draft, &mut apart, (trie, root), (lex, other), lexer)?;
            work.visit(std::mem::take(&mut draft.visited))?;
            root += trie.len() as PieceNode;
        }
        let Tokens::Many(words) = &self.terms[term].inside else { unreachable!("it was noted for that") };
        let mut words = words.clone();
        for &(first, end) in &apart {
            let (trie, root) = slicer.trie_of(first);
            for node in first - root..end - root {
                trie.token(node).into_iter().for_each(|token| larkspur_toktrie::mask::forbid(&mut words, token));
            }
        }
        draft.tokens.iter().for_each(|&token| larkspur_toktrie::mask::allow(&mut words, token));
        let known = &self.terms[term];
        draft.asks.extend(without(&known.asks, &apart));
        draft.ignored.extend(&known.ignored);
        for &(ended, piece) in &known.ends {
            let shared = without(&self.pieces[piece], &apart);
            draft.end(ended).extend(shared);
        }
        draft.asks.sort_unstable();
        draft.ignored.sort_unstable();
        draft.ignored.dedup();
        draft.ends.retain(|(_, nodes)| !nodes.is_empty());
        let ends: Vec<(_, PieceId)> = draft.ends.into_iter().map(|(ended, nodes)| (ended, self.piece(nodes))).collect();
        let inside = Tokens::Many(words);
        Ok(Some(Term { inside, ends: ends.into(), asks: draft.asks.into(), ignored: draft.ignored.into() }))
    }

    /// Walks a trie in two states at once, as far as they differ.
    fn walk_pair(
        &mut self,
        draft: &mut Draft,
        apart: &mut Ranges,
        (trie, root): (&TokenTrie, PieceNode),
        start: (LexStateId, LexStateId),
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let mut pairs = vec![start; trie.depth_max() + 1];
        let mut node = ROOT + 1;
        let end = trie.len() as u32;
        while node < end {
            draft.visited += 1;
            let level = trie.depths()[node as usize] as usize;
            let byte = trie.bytes()[node as usize];
            let below = trie.subtree_ends()[node as usize];
            let (from, other) = pairs[level - 1];
            let (quick, others) = (lexer.quick(from, byte), lexer.quick(other, byte));
            if quick == others && quick != ASK {
                node = below;
                continue;
            }
            let Some(other_next) = inside_after(lexer, other, byte, others)? else {
                apart.push((root + node, root + below));
                self.walk_node(draft, trie, (root, node), from, lexer)?;
                node = below;
                continue;
            };
            let next = match quick {
                REFUSED => None,
                ASK => step(draft, lexer, from, (trie, root, node))?,
                next => Some(LexStateId(next)),
            };
            let Some(next) = next else {
                apart.push((root + node, root + below));
                node = below;
                continue;
            };
            apart.push((root + node, root + node + 1));
            draft.tokens.extend(trie.token(node));
            pairs[level] = (next, other_next);
            node = if next == other_next { below } else { node + 1 };
        }
        Ok(())
    }
}

/// The state after a byte if what is below is looked at in it.
fn inside_after(lexer: &mut Lexer, from: LexStateId, byte: u8, quick: u32) -> Result<Option<LexStateId>, Fault> {
    let next = match quick {
        REFUSED => return Ok(None),
        ASK => lexer.row(from)?.next[usize::from(byte)],
        next => LexStateId(next),
    };
    let state = lexer.state(next);
    Ok((next != DEAD && !state.is_late && state.kind != StateKind::LazyEnd).then_some(next))
}

/// Nodes that are in none of the ranges.
fn without(nodes: &[PieceNode], ranges: &Ranges) -> Vec<PieceNode> {
    let mut ranges = ranges.iter().peekable();
    let mut left = Vec::with_capacity(nodes.len());
    for &node in nodes {
        while ranges.next_if(|(_, end)| *end <= node).is_some() {}
        if ranges.peek().is_none_or(|(first, _)| node < *first) {
            left.push(node);
        }
    }
    left
}
