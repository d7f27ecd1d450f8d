//! The term of literals: their way through the trie, without lexer states.

use larkspur_toktrie::TokenTrie;
use smallvec::SmallVec;

use super::{Draft, PieceId, Term, Terms};
use crate::error::Fault;
use crate::lexer::guards::Guard;
use crate::lexer::split::Entry;
use crate::lexer::states::Lexer;
use crate::mask::work::Work;
use crate::slicer::{PieceNode, Slicer};

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
        let mut draft = Draft::default();
        let piece = self.piece(piece);
        let mut agenda: SmallVec<[(PieceNode, Entry); 16]> = SmallVec::new();
        let mut entered: SmallVec<[PieceNode; 16]> = SmallVec::new();
        for &literal in literals {
            if !is_fresh && is_end(lexer, literal) {
                let ended = lexer.lexeme_set(&[literal.0]);
                draft.end((Guard::NONE, ended)).extend(&*piece.nodes(slicer));
            }
            for (byte, next) in children(lexer, literal) {
                piece.entered_by(slicer, byte, &mut entered);
                agenda.extend(entered.drain(..).map(|node| (node, next)));
            }
        }
        while let Some((node, literal)) = agenda.pop() {
            draft.visited += 1;
            let (trie, root): (&TokenTrie, PieceNode) = slicer.trie_of(node);
            let at = node - root;
            draft.tokens.extend(trie.token(at));
            if is_end(lexer, literal) {
                let ended = lexer.lexeme_set(&[literal.0]);
                draft.end((Guard::NONE, ended)).extend(trie.children(at).map(|child| root + child));
            }
            let enter = |(byte, next)| trie.child(at, byte).map(|node| (root + node, next));
            agenda.extend(children(lexer, literal).filter_map(enter));
        }
        draft.count(work)?;
        draft.tokens.sort_unstable();
        draft.tokens.dedup();
        Ok(self.finish(slicer, None, draft))
    }
}

fn is_end(lexer: &Lexer, (lexeme, rest): Entry) -> bool {
    lexer.pattern(lexeme).is_literal_end(rest)
}

/// The bytes that a literal takes.
fn children(lexer: &Lexer, (lexeme, rest): Entry) -> impl Iterator<Item = (u8, Entry)> + '_ {
    lexer.pattern(lexeme).literal_children(rest).map(move |(byte, next)| (byte, (lexeme, next)))
}
