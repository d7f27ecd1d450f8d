//! The walk over the trie that makes a term.

use larkspur_grammar::LexerMode;
use larkspur_toktrie::{NO_TOKEN, TokenId, TokenTrie};

use super::beside::View;
use super::{Terms, Work};
use crate::error::Fault;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::rows::{ASK, REFUSED};
use crate::lexer::states::{DEAD, LexStateId, LexemeSetId, Lexer, NO_LEXEMES, StateKind};
use crate::slicer::{PieceNode, Slicer};

/// What a node counts besides, as `Limits::mask_work_max` counts it, where a step takes more than a look-up: the node is mostly
/// noted as the end of lexemes, and sorted with others.
const STEP_WORK: u64 = 4;

/// A term that is being made.
#[derive(Default)]
pub(super) struct Draft {
    pub tokens: Vec<TokenId>,
    pub ends: Vec<(Guarded<LexemeSetId>, Vec<PieceNode>)>,
    pub late: Vec<PieceNode>,
    pub stuck: Vec<LexStateId>,
    pub visited: u64,
    /// Of these nodes those at which a step took more than a look-up.
    stepped: u64,
    /// Past so many it is dear if lexemes end.
    ends_max: u64,
    /// A state in which lexemes end whatever follows, and which of `ends` that is.
    ending: Option<(LexStateId, usize)>,
    /// Whether lexemes end only before what the grammar may have behind them.
    is_settled: bool,
}

impl Draft {
    /// Nothing yet.
    pub fn new(work: &Work) -> Self {
        Self { ends_max: work.ends_max, ..Self::default() }
    }

    /// Nothing yet of a term in which lexemes end only before what the grammar may have behind them, at so many nodes at most.
    pub fn settled(ends_max: u64) -> Self {
        Self { is_settled: true, ends_max, ..Self::default() }
    }

    /// Adds a token, if it is one. No branch: half of the nodes have none, and none could be foreseen (a third of a walk).
    #[inline]
    pub fn take(&mut self, token: TokenId) {
        let len = self.tokens.len() + usize::from(token != NO_TOKEN);
        self.tokens.push(token);
        self.tokens.truncate(len);
    }

    /// Adds what making it took to the work on a mask.
    pub fn count(&self, work: &mut Work) -> Result<(), Fault> {
        work.visit(self.visited)?;
        work.add(self.stepped * STEP_WORK)
    }

    pub fn end(&mut self, ended: Guarded<LexemeSetId>) -> &mut Vec<PieceNode> {
        let at = self.index_of_end(ended);
        &mut self.ends[at].1
    }

    fn index_of_end(&mut self, ended: Guarded<LexemeSetId>) -> usize {
        let known = self.ends.iter().position(|(lexemes, _)| *lexemes == ended);
        known.unwrap_or_else(|| {
            self.ends.push((ended, Vec::new()));
            self.ends.len() - 1
        })
    }
}

impl Terms {
    /// Looks at nodes, which are entered from a lexer state, and at what is below them, but for what is known of parts.
    pub(super) fn walk_nodes(
        &mut self,
        draft: &mut Draft,
        slicer: &Slicer,
        view: View<'_>,
        lex: LexStateId,
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let Some(&first) = view.nodes.first() else { return Ok(()) };
        let (mut trie, mut root) = slicer.trie_of(first);
        let mut open = view.open(slicer, first);
        for &node in view.nodes {
            if (node - root) as usize >= trie.len() {
                (trie, root) = slicer.trie_of(node);
                open = view.open(slicer, node);
            }
            match &open {
                None => self.walk_node(draft, trie, (root, node - root), |_| true, lex, lexer)?,
                Some(open) => self.walk_node(draft, trie, (root, node - root), |at| open.is_open(at), lex, lexer)?,
            }
        }
        Ok(())
    }

    /// Looks at a node, which is entered from a lexer state, and at what is below it, as far as it is open.
    #[inline]
    pub(super) fn walk_node(
        &mut self,
        draft: &mut Draft,
        trie: &TokenTrie,
        (root, first): (PieceNode, u32),
        is_open: impl Fn(usize) -> bool,
        lex: LexStateId,
        lexer: &mut Lexer,
    ) -> Result<(), Fault> {
        let end = trie.subtree_ends()[first as usize] as usize;
        let (bytes, depths) = (&trie.bytes()[..end], &trie.depths()[..end]);
        let (subtree_ends, tokens) = (&trie.subtree_ends()[..end], &trie.tokens()[..end]);
        let base = depths[first as usize] as usize - 1;
        self.states.resize(self.states.len().max(trie.depth_max() + 1), DEAD);
        self.states[0] = lex;
        let mut node = first as usize;
        while node < end {
            draft.visited += 1;
            let level = depths[node] as usize - base;
            let from = self.states[level - 1];
            let quick = match lexer.quick_inside(from, bytes[node]) {
                ASK if draft.is_settled => lexer.settled(from, bytes[node]),
                quick => quick,
            };
            let next = match quick {
                _ if !is_open(node) => None,
                REFUSED => None,
                ASK => step(draft, lexer, from, (trie, root, node as u32))?,
                next => Some(LexStateId(next)),
            };
            let Some(next) = next else {
                node = subtree_ends[node] as usize;
                continue;
            };
            draft.take(tokens[node]);
            self.states[level] = next;
            node += 1;
        }
        Ok(())
    }
}

/// What a node's byte does if it is more than a step inside lexemes: the state in which what is below is looked at, if
/// it is.
#[inline(never)]
pub(super) fn step(
    draft: &mut Draft,
    lexer: &mut Lexer,
    from: LexStateId,
    (trie, root, node): (&TokenTrie, PieceNode, u32),
) -> Result<Option<LexStateId>, Fault> {
    draft.stepped += 1;
    let byte = trie.bytes()[node as usize];
    let next = lexer.next(from, byte)?;
    let entered = lexer.state(next);
    if entered.is_late {
        draft.late.push(root + node);
    }
    let (kind, ends_now, may_be_stuck) = (entered.kind, entered.ends_before_more, entered.may_be_stuck);
    if let Some((state, at)) = draft.ending
        && state == from
        && kind == StateKind::Inside
        && !may_be_stuck
        && draft.stepped <= draft.ends_max
    {
        draft.ends[at].1.push(root + node);
        return Ok((next != DEAD).then_some(next));
    }
    let ended = match lexer.mode() {
        LexerMode::Exact => lexer.ends_before(from, byte, next)?,
        LexerMode::Longest if next == DEAD => lexer.state(from).ends_before_more,
        LexerMode::Longest => NO_LEXEMES,
    };
    if ended != NO_LEXEMES {
        if draft.stepped > draft.ends_max {
            return Err(Fault::Dear { state: from, ended });
        }
        lexer.by_follow(from, ended)?.iter().for_each(|&ended| draft.end(ended).push(root + node));
        if lexer.always_ends(from) {
            draft.ending = Some((from, draft.index_of_end((Guard::NONE, ended))));
        }
    }
    if next == DEAD {
        return Ok(None);
    }
    if let Some(cut) = lexer.cut(from, byte, next)? {
        cut.iter().for_each(|&ended| draft.end(ended).push(root + node));
    }
    if kind == StateKind::LazyEnd {
        draft.tokens.extend(trie.token(node));
        if ends_now != NO_LEXEMES {
            let guard = lexer.guard(next);
            draft.end((guard, ends_now)).extend(trie.children(node).map(|child| root + child));
        }
        return Ok(None);
    }
    if may_be_stuck && lexer.mode() == LexerMode::Exact && !draft.stuck.contains(&next) {
        draft.stuck.push(next);
    }
    Ok(Some(next))
}
