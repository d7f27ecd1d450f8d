//! States taken apart. In `exact` mode lexemes that do not compete know nothing of each other: what a state does is what
//! each of its lexemes does, and what one does depends on what is left of it only. So it can be known from another
//! grammar.

use larkspur_grammar::LexerMode;

use super::arena::Expr;
use super::states::{EXCEPTED, Guard, LexStateId, Lexer, Rest, StateKey, StateKind};
use crate::cfg::{LexemeId, Pattern};

/// What is left of a lexeme.
pub(crate) type Entry = (LexemeId, Rest);

/// The lexemes of a state.
#[derive(Debug)]
pub(crate) struct Split {
    pub regexes: Vec<Entry>,
    pub literals: Vec<Entry>,
    /// No byte of them was read yet, so that they do not match yet.
    pub is_fresh: bool,
}

impl Lexer {
    /// The lexemes of a state, if each goes its own way.
    pub fn split(&self, id: LexStateId) -> Option<Split> {
        let StateKey { entries, kind, guard } = self.key(id);
        let is_independent = |&(lexeme, _): &Entry| {
            let info = &self.cfg.lexemes[lexeme];
            !info.competes && info.ignored_by.is_none() && info.follow.is_none()
        };
        let is_free = self.mode() == LexerMode::Exact && *guard == Guard::NONE && *kind != StateKind::LazyEnd;
        if !is_free || !entries.iter().all(is_independent) {
            return None;
        }
        let is_regex = |entry: &Entry| matches!(self.cfg.lexemes[entry.0].pattern, Pattern::Regex(_));
        let (regexes, literals) = entries.iter().copied().partition(is_regex);
        Some(Split { regexes, literals, is_fresh: *kind == StateKind::Fresh })
    }

    /// The expression that a regex's rest is, if no texts are left out.
    pub fn plain(&self, rest: Rest) -> Option<Expr> {
        (rest & EXCEPTED == 0).then(|| Expr::from_raw(rest))
    }

    /// What is left of literals after a byte; `None` if they do not take it.
    pub fn literal_after(&self, (lexeme, rest): Entry, byte: u8) -> Option<Entry> {
        let next = match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Literal(bytes) => (bytes.get(rest as usize) == Some(&byte)).then_some(rest + 1),
            Pattern::Literals(trie) => trie.children(rest).find(|child| child.0 == byte).map(|child| child.1),
            Pattern::Regex(_) => unreachable!("a literal"),
        };
        next.map(|next| (lexeme, next))
    }

    /// The bytes that literals take, each with what is then left.
    pub fn literal_children(&self, (lexeme, rest): Entry) -> Vec<(u8, Entry)> {
        match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Literal(bytes) => {
                bytes.get(rest as usize).map(|&byte| (byte, (lexeme, rest + 1))).into_iter().collect()
            }
            Pattern::Literals(trie) => trie.children(rest).map(|(byte, child)| (byte, (lexeme, child))).collect(),
            Pattern::Regex(_) => unreachable!("a literal"),
        }
    }

    /// Whether a literal ends here.
    pub fn is_literal_end(&self, (lexeme, rest): Entry) -> bool {
        match &self.cfg.lexemes[lexeme].pattern {
            Pattern::Literal(bytes) => rest as usize == bytes.len(),
            Pattern::Literals(trie) => trie.is_leaf(rest),
            Pattern::Regex(_) => unreachable!("a literal"),
        }
    }
}
