//! The term of literals: their way through the trie, without lexer states.

use std::sync::Arc;

use larkspur_toktrie::{TokenId, TokenTrie};
use smallvec::SmallVec;

use super::{PieceId, Term, Terms};
use crate::error::Fault;
use crate::lexer::guards::{Guard, Guarded};
use crate::lexer::split::Entry;
use crate::lexer::states::{LexemeSetId, Lexer};
use crate::mask::tokens::gather;
use crate::mask::work::Work;
use crate::slicer::{PieceNode, Slicer};

/// What the tokens of a piece do inside one literal. Each place in an object has most names of the place before.
#[derive(Clone, Copy, Debug)]
pub(super) struct LiteralTerm {
    /// Tokens that end inside it, or at its end: the first of them among those of all literals, and their number.
    tokens: (u32, u32),
    /// What is left of the tokens behind its end.
    behind: Option<PieceId>,
}

/// What the term of a literal counts besides, as `Limits::mask_work_max` counts it.
const LITERAL_WORK: u64 = 32;

impl Terms {
    /// What the tokens of a piece do inside literals, of which some bytes may have been read.
    pub(super) fn of_literals(
        &mut self,
        slicer: &Slicer,
        (piece, literals): (PieceId, &[Entry]),
        is_fresh: bool,
        lexer: &mut Lexer,
        work: &mut Work,
    ) -> Result<Term, Fault> {
        work.add(literals.len() as u64)?;
        let mut tokens: SmallVec<[TokenId; 64]> = SmallVec::new();
        let mut ends: SmallVec<[(Guarded<LexemeSetId>, PieceId); 8]> = SmallVec::new();
        for &literal in literals {
            let known = self.literals.get(&(piece, literal)).copied();
            let term = match known {
                Some(known) => known,
                None => self.of_literal(slicer, (piece, literal), is_fresh, lexer, work)?,
            };
            let (first, len) = term.tokens;
            tokens.extend_from_slice(&self.literal_tokens[first as usize..][..len as usize]);
            if let Some(behind) = term.behind {
                ends.push(((Guard::NONE, lexer.lexeme_set(&[literal.0])), behind));
            }
        }
        tokens.sort_unstable();
        tokens.dedup();
        let inside = Arc::new(gather(slicer, &tokens, None));
        Ok(Term { inside, ends: ends.into_vec().into(), late: Arc::default(), lexeme: None, stuck: [].into() })
    }

    /// The term of a literal of which none was made.
    fn of_literal(
        &mut self,
        slicer: &Slicer,
        (piece, literal): (PieceId, Entry),
        is_fresh: bool,
        lexer: &Lexer,
        work: &mut Work,
    ) -> Result<LiteralTerm, Fault> {
        let nodes = self.piece(piece);
        let mut behind: SmallVec<[PieceNode; 64]> = SmallVec::new();
        let mut agenda: SmallVec<[(PieceNode, Entry); 16]> = SmallVec::new();
        let mut entered: SmallVec<[PieceNode; 16]> = SmallVec::new();
        if !is_fresh && is_end(lexer, literal) {
            behind.extend_from_slice(&nodes.nodes(slicer));
        }
        for (byte, next) in children(lexer, literal) {
            nodes.entered_by(slicer, byte, &mut entered);
            agenda.extend(entered.drain(..).map(|node| (node, next)));
        }
        let first = self.literal_tokens.len();
        let mut visited = 0;
        while let Some((node, literal)) = agenda.pop() {
            visited += 1;
            let (trie, root): (&TokenTrie, PieceNode) = slicer.trie_of(node);
            let at = node - root;
            self.literal_tokens.extend(trie.token(at));
            if is_end(lexer, literal) {
                behind.extend(trie.children(at).map(|child| root + child));
            }
            let enter = |(byte, next)| trie.child(at, byte).map(|node| (root + node, next));
            agenda.extend(children(lexer, literal).filter_map(enter));
        }
        work.visit(visited)?;
        work.add(LITERAL_WORK)?;
        let len = self.literal_tokens.len() - first;
        let behind = (!behind.is_empty()).then(|| self.piece_of(slicer, behind.into_vec()));
        let term = LiteralTerm { tokens: (first as u32, len as u32), behind };
        self.bytes += size_of::<((PieceId, Entry), LiteralTerm)>() + len * size_of::<TokenId>();
        self.literals.insert((piece, literal), term);
        Ok(term)
    }
}

fn is_end(lexer: &Lexer, (lexeme, rest): Entry) -> bool {
    lexer.pattern(lexeme).is_literal_end(rest)
}

/// The bytes that a literal takes.
fn children(lexer: &Lexer, (lexeme, rest): Entry) -> impl Iterator<Item = (u8, Entry)> + '_ {
    lexer.pattern(lexeme).literal_children(rest).map(move |(byte, next)| (byte, (lexeme, next)))
}
