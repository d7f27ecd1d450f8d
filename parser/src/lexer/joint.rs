//! States whose lexemes get in each other's way, as other grammars know them: by what is left of each lexeme, and by what decides
//! which of them ends.

use larkspur_grammar::{LexerMode, Text};
use smallvec::SmallVec;

use super::arena::Expr;
use super::guards::Guard;
use super::split::Entry;
use super::states::{LexStateId, LexemeSetId, Lexer, StateKey, StateKind};
use crate::cfg::{LexemeId, Pattern};

/// Lexemes of a state that others know, at most: each has a bit of a [`Lexemes`].
const LEXEMES_MAX: usize = 16;

/// Some lexemes of a joint state, by their places in [`JointKey::lexemes`].
pub(crate) type Lexemes = u16;

/// A state, whatever its lexemes are called: what is read in it depends on no more than this, as long as no lexeme
/// [may be cut](Lexer::may_be_cut).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct JointKey {
    mode: LexerMode,
    keywords: bool,
    is_fresh: bool,
    /// Sorted, each once.
    lexemes: SmallVec<[JointLexeme; 4]>,
}

/// A lexeme of a joint state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
struct JointLexeme {
    left: Left,
    priority: i32,
    is_literal: bool,
    lazy: bool,
    competes: bool,
    is_ignored: bool,
    /// Whether nothing may stand behind it.
    is_last: bool,
    /// Whether it may leave out its text where it matches.
    is_late: bool,
}

/// What is left of a lexeme.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
enum Left {
    Regex(Expr),
    Literal(Text),
}

impl JointKey {
    /// Bytes that it takes, roughly.
    pub fn bytes(&self) -> usize {
        size_of::<Self>() + self.lexemes.len() * size_of::<JointLexeme>()
    }
}

impl Lexer {
    /// A state as other grammars know it, and its lexemes in that order. `None` if what is read in it depends on more.
    pub fn joint(&self, id: LexStateId) -> Option<(JointKey, SmallVec<[LexemeId; 4]>)> {
        let StateKey { entries, kind, guard } = self.key(id);
        let is_free =
            *guard == Guard::NONE && *kind != StateKind::LazyEnd && !self.cfg.has_traps && !self.cfg.has_behinds;
        if !is_free || entries.len() > LEXEMES_MAX {
            return None;
        }
        let lexemes: Option<Vec<(JointLexeme, LexemeId)>> =
            entries.iter().map(|&entry| self.joint_lexeme(entry)).collect();
        let mut lexemes = lexemes?;
        lexemes.sort_unstable();
        if lexemes.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let (lexemes, ids) = lexemes.into_iter().unzip();
        let is_fresh = *kind == StateKind::Fresh;
        Some((JointKey { mode: self.mode(), keywords: self.cfg.keywords, is_fresh, lexemes }, ids))
    }

    /// The places of lexemes among those of a joint state.
    pub fn places_of(&self, lexemes: LexemeSetId, all: &[LexemeId]) -> Lexemes {
        let is_in = |(_, id): &(usize, &LexemeId)| self.lexemes(lexemes).contains(id);
        all.iter().enumerate().filter(is_in).fold(0, |places, (place, _)| places | 1 << place)
    }

    /// The lexemes at these places.
    pub fn lexemes_of(&mut self, places: Lexemes, all: &[LexemeId]) -> LexemeSetId {
        let at = |(place, &id): (usize, &LexemeId)| (places & 1 << place != 0).then_some(id);
        let mut lexemes: SmallVec<[LexemeId; 4]> = all.iter().enumerate().filter_map(at).collect();
        lexemes.sort_unstable();
        lexemes.dedup();
        self.lexeme_set(&lexemes)
    }

    fn joint_lexeme(&self, (id, rest): Entry) -> Option<(JointLexeme, LexemeId)> {
        let lexeme = &self.cfg.lexemes[id];
        let left = match &lexeme.pattern {
            Pattern::Regex(_) => Left::Regex(self.plain(rest)?),
            Pattern::Literal(text) => Left::Literal(text[rest as usize..].into()),
            Pattern::Literals(_) => return None,
        };
        let is_ignored = lexeme.ignored_by.is_some();
        // Whether ignored text must be able to end depends on what else the grammar has.
        if lexeme.follow.is_some() || is_ignored && self.mode() == LexerMode::Exact {
            return None;
        }
        let joint = JointLexeme {
            left,
            priority: lexeme.priority,
            is_literal: lexeme.is_literal,
            lazy: lexeme.lazy,
            competes: lexeme.competes,
            is_ignored,
            is_last: self.is_last(id),
            is_late: self.is_known_late(id),
        };
        Some((joint, id))
    }
}
