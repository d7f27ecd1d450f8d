//! States taken apart. In `exact` mode lexemes that do not compete know nothing of each other, in `longest` mode those that are
//! [apart](super::apart): what a state does is what each of its lexemes does, and what one does depends on what is left of
//! it only. So it can be known from another grammar.

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
    /// Those that are looked at as states of their own: ignored text, which goes on as far as it can, and in `longest` mode many
    /// literals in one lexeme.
    pub wholes: Entries,
    pub literals: Entries,
    /// No byte of them was read yet, so that they do not match yet.
    pub is_fresh: bool,
}

impl Lexer {
    /// The lexemes of a state, if each goes its own way.
    pub fn split(&mut self, id: LexStateId) -> Option<Split> {
        let key = self.states[id].key.clone();
        let StateKey { entries, kind, guard } = &*key;
        let is_longest = self.mode() == LexerMode::Longest;
        let is_independent = |&(lexeme, _): &Entry| {
            let info = &self.cfg.lexemes[lexeme];
            info.follow.is_none() && if is_longest { !info.lazy } else { !info.competes }
        };
        // In grammars with traps it depends on the rules where a lexeme may go on.
        let is_free = !self.cfg.has_traps && *guard == Guard::NONE && *kind != StateKind::LazyEnd;
        if !is_free || !entries.iter().all(is_independent) || is_longest && !self.are_apart(id) {
            return None;
        }
        let (mut regexes, mut wholes, mut literals) = (Entries::new(), Entries::new(), Entries::new());
        for &entry in entries.iter() {
            let lexeme = &self.cfg.lexemes[entry.0];
            let kind = match (&lexeme.pattern, lexeme.ignored_by) {
                (_, Some(_)) => &mut wholes,
                (Pattern::Regex(_), None) => &mut regexes,
                (Pattern::Literals(_), None) if is_longest => &mut wholes,
                (Pattern::Literal(_) | Pattern::Literals(_), None) => &mut literals,
            };
            kind.push(entry);
        }
        Some(Split { regexes, wholes, literals, is_fresh: *kind == StateKind::Fresh })
    }

    /// The expression that a state consists of, if it goes its own way and leaves out no texts.
    pub fn only_expr(&mut self, id: LexStateId) -> Option<Expr> {
        let is_only = self.key(id).entries.len() == 1;
        let Split { regexes, .. } = is_only.then(|| self.split(id))??;
        regexes.first().and_then(|&(_, rest)| self.plain(rest))
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
