//! What look-behinds know of the text so far: what is left of each of their languages after it.
//!
//! A lexeme with [`behind`](crate::cfg::Lexeme::behind) begins only where the text before it is one of that language, which is
//! what is left of it holding the empty text. It is the same for all ways to read a text.

use larkspur_grammar::index::Id;
use larkspur_grammar::{IndexVec, RegexId, define_id};
use rustc_hash::FxHashMap;

use super::arena::{Arena, Expr};
use crate::cfg::{Cfg, LexemeId};
use crate::error::Fault;

define_id! {
    /// What look-behinds know of a text.
    pub(crate) struct Past = "past";
}

impl Past {
    /// There are no look-behinds, or the place is not known yet.
    pub const NONE: Past = Past(0);
}

/// A lexeme that begins anywhere.
const ANYWHERE: u32 = u32::MAX;

#[derive(Debug, Default)]
pub(crate) struct Pasts {
    /// Which of the languages decides where each lexeme begins. Indexed by lexeme; empty without look-behinds.
    behind_of: Vec<u32>,
    /// What is left of each language after a text.
    pasts: IndexVec<Past, Box<[Expr]>>,
    ids: FxHashMap<Box<[Expr]>, Past>,
    next: FxHashMap<(Past, u8), Past>,
}

impl Pasts {
    /// Errors: see [`Arena::lower`].
    pub fn new(cfg: &Cfg, arena: &Arena) -> Result<Self, Fault> {
        let mut pasts = Pasts::default();
        pasts.pasts.push(Box::new([]));
        if !cfg.has_behinds {
            return Ok(pasts);
        }
        let mut behinds: Vec<RegexId> = cfg.lexemes.iter().filter_map(|lexeme| lexeme.behind).collect();
        behinds.sort_unstable();
        behinds.dedup();
        let place = |behind: RegexId| behinds.binary_search(&behind).expect("it is one of them") as u32;
        pasts.behind_of = cfg.lexemes.iter().map(|lexeme| lexeme.behind.map_or(ANYWHERE, place)).collect();
        let start = arena.lower(&cfg.regexes, &behinds)?;
        pasts.intern(start);
        Ok(pasts)
    }

    /// Where a text starts, or goes on behind a token letter.
    pub fn start(&self) -> Past {
        if self.pasts.len() > 1 { Past(1) } else { Past::NONE }
    }

    /// What is left of each language.
    pub fn exprs(&self, past: Past) -> &[Expr] {
        &self.pasts[past]
    }

    pub fn known_after(&self, past: Past, byte: u8) -> Option<Past> {
        self.next.get(&(past, byte)).copied()
    }

    /// Says what is left after a byte.
    ///
    /// Errors: `lexer_states_max`.
    pub fn step(&mut self, past: Past, byte: u8, left: Vec<Expr>, states_max: usize) -> Result<Past, Fault> {
        let next = self.intern(left);
        if self.pasts.len() > states_max {
            return Err(Fault::exceeded("lexer_states_max", states_max as u64));
        }
        self.next.insert((past, byte), next);
        Ok(next)
    }

    /// Whether a lexeme may begin there.
    pub fn may_begin(&self, past: Past, lexeme: LexemeId, arena: &Arena) -> bool {
        match self.behind_of.get(lexeme.index()) {
            None | Some(&ANYWHERE) => true,
            Some(&behind) => arena.nullable(self.pasts[past][behind as usize]),
        }
    }

    fn intern(&mut self, left: Vec<Expr>) -> Past {
        let left: Box<[Expr]> = left.into();
        let pasts = &mut self.pasts;
        *self.ids.entry(left.clone()).or_insert_with(|| pasts.push(left))
    }
}
