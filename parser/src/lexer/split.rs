//! States taken apart. In `exact` mode lexemes that do not compete know nothing of each other: what a state does is what
//! each of its lexemes does, and what one does depends on what is left of it only. So it can be known from another
//! grammar.

use larkspur_grammar::LexerMode;
use smallvec::SmallVec;

use super::arena::Expr;
use super::guards::Guard;
use super::states::{EXCEPTED, LexStateId, Lexer, Rest, StateKey, StateKind};
use crate::cfg::{LexemeId, Pattern};

/// What is left of a lexeme.
pub(crate) type Entry = (LexemeId, Rest);

/// Some lexemes of a state; most states have few.
pub(crate) type Entries = SmallVec<[Entry; 8]>;

/// The lexemes of a state.
#[derive(Debug)]
pub(crate) struct Split {
    pub regexes: Entries,
    /// Ignored text, regexes or not: it goes on as far as it can.
    pub ignored: Entries,
    pub literals: Entries,
    /// No byte of them was read yet, so that they do not match yet.
    pub is_fresh: bool,
}

impl Lexer {
    /// The lexemes of a state, if each goes its own way.
    pub fn split(&self, id: LexStateId) -> Option<Split> {
        let StateKey { entries, kind, guard } = self.key(id);
        let is_independent = |&(lexeme, _): &Entry| {
            let info = &self.cfg.lexemes[lexeme];
            !info.competes && info.follow.is_none()
        };
        // In grammars with traps it depends on the rules where a lexeme may go on.
        let is_free = self.mode() == LexerMode::Exact && !self.cfg.has_traps;
        let is_free = is_free && *guard == Guard::NONE && *kind != StateKind::LazyEnd;
        if !is_free || !entries.iter().all(is_independent) {
            return None;
        }
        let (mut regexes, mut ignored, mut literals) = (Entries::new(), Entries::new(), Entries::new());
        for &entry in entries.iter() {
            let lexeme = &self.cfg.lexemes[entry.0];
            let kind = match lexeme.ignored_by {
                Some(_) => &mut ignored,
                None if lexeme.pattern.is_regex() => &mut regexes,
                None => &mut literals,
            };
            kind.push(entry);
        }
        Some(Split { regexes, ignored, literals, is_fresh: *kind == StateKind::Fresh })
    }

    /// The expression that a state consists of, if it goes its own way and leaves out no texts.
    pub fn only_expr(&self, id: LexStateId) -> Option<Expr> {
        let Split { regexes, ignored, literals, .. } = self.split(id)?;
        match (&*regexes, &*ignored, &*literals) {
            (&[(_, rest)], [], []) => self.plain(rest),
            _ => None,
        }
    }

    /// The expression that a regex's rest is, if no texts are left out.
    pub fn plain(&self, rest: Rest) -> Option<Expr> {
        (rest & EXCEPTED == 0).then(|| Expr::from_raw(rest))
    }

    /// Whether in `exact` mode all lexemes that match in a state end there, whatever byte follows and what it leads to.
    pub fn always_ends(&self, id: LexStateId) -> bool {
        let state = self.state(id);
        self.mode() == LexerMode::Exact && !state.ends_ignored && !state.competes && !state.looks_ahead
    }

    /// How a lexeme is recognised.
    pub fn pattern(&self, lexeme: LexemeId) -> &Pattern {
        &self.cfg.lexemes[lexeme].pattern
    }
}
