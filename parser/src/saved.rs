//! Compiled grammars as bytes: what compiling finds out, without what grows while they are used.
//!
//! Saved is the pruned [`Cfg`](crate::cfg::Cfg). What is left for [`CompiledGrammar::load`] is to check it, to put the lexemes'
//! regexes into the arena, and the first Earley set. See `docs/decisions/saved-grammars.md`.

use std::sync::Arc;

use larkspur_grammar::Diagnostic;
use larkspur_grammar::saved::{AutomatonReader, Inconsistent, NotSavable, decoded, encoded};
use thiserror::Error;

use crate::cfg::{Cfg, ReadError, SavedCfg};
use crate::engine::{CompiledGrammar, Era, Shared, Warnings};
use crate::lexer::states::lower;
use crate::machine::Machine;

/// Why bytes did not become a grammar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum LoadFault {
    /// No grammar was saved so.
    #[error("{what}")]
    Inconsistent {
        /// What is wrong.
        what: &'static str,
    },
    /// A limit was met; see `larkspur_grammar::Limits`.
    #[error("limit `{limit}` of {value} exceeded")]
    LimitExceeded {
        /// Name of the field of `Limits`.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
}

impl From<ReadError> for LoadFault {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Inconsistent(Inconsistent { what }) => LoadFault::Inconsistent { what },
            ReadError::Exceeded(fault) => {
                let (limit, value) = fault.limit();
                LoadFault::LimitExceeded { limit, value }
            }
        }
    }
}

impl CompiledGrammar {
    /// The grammar as bytes, without its warnings. Equal grammars give equal bytes.
    ///
    /// Errors: an automaton that does not say what it is made from.
    pub fn save(&self) -> Result<Vec<u8>, NotSavable> {
        let saved = SavedCfg::new(self.cfg())?;
        encoded(&saved).ok_or_else(|| NotSavable { what: "a table of unknown length".to_owned() })
    }

    /// Whether what is saved holds for this vocabulary only: the grammar speaks of its tokens.
    pub fn is_of_vocabulary(&self) -> bool {
        !self.cfg().token_letters.is_empty()
    }

    /// The grammar that [`save`](Self::save) wrote, with the warnings that it had. If it
    /// [is of a vocabulary](Self::is_of_vocabulary), the caller knows that this is the one.
    ///
    /// Errors: see [`LoadFault`]. Cost: linear in the bytes; mostly that of making the lexemes' regexes expressions.
    pub fn load(
        shared: &Shared,
        bytes: &[u8],
        reader: &dyn AutomatonReader,
        warnings: Vec<Diagnostic>,
    ) -> Result<Self, LoadFault> {
        let limits = shared.limits();
        let saved: SavedCfg<Cfg> = decoded(bytes).map_err(ReadError::from)?;
        let cfg = Arc::new(saved.read(shared.vocabulary().len(), limits, reader)?);
        let Era { arena, terms, .. } = shared.era();
        let machine = lower(&cfg, &arena).and_then(|lowered| Machine::new(cfg.clone(), &lowered, arena, limits));
        let mut machine = machine.map_err(ReadError::from)?;
        machine.start().map_err(ReadError::from)?;
        Ok(Self::new(shared.clone(), cfg, (machine, &terms), Warnings::new(warnings, true)))
    }
}
