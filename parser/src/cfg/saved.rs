//! A lowered grammar as bytes: its tables as they are, with what they refer to beside them.

use std::sync::Arc;

use larkspur_grammar::saved::{AutomatonReader, Inconsistent, NotSavable, SavedAutomaton};
use larkspur_grammar::{Automaton, Condition, ConditionId, GrammarId, IndexVec, Limits, SavedRegexes};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};

use super::token_ranges::TokenRanges;
use super::{Cfg, GrammarOrigin};
use crate::error::Fault;

/// A [`Cfg`] as it is saved. `C` is it, or a reference to it, without what stands beside it here.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SavedCfg<C> {
    regexes: SavedRegexes,
    /// Of each grammar: conditions, automata.
    origins: Vec<(IndexVec<ConditionId, Condition>, Vec<SavedAutomaton>)>,
    /// First and last ids of the tokens of each letter, ascending.
    letters: Vec<Vec<(u32, u32)>>,
    cfg: C,
}

/// Why a lowered grammar was not read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ReadError {
    /// No grammar was saved so.
    Inconsistent(Inconsistent),
    /// It is larger than the engine's limits allow.
    Exceeded(Fault),
}

impl From<Inconsistent> for ReadError {
    fn from(inconsistent: Inconsistent) -> Self {
        ReadError::Inconsistent(inconsistent)
    }
}

impl From<Fault> for ReadError {
    fn from(fault: Fault) -> Self {
        ReadError::Exceeded(fault)
    }
}

impl<'a> SavedCfg<&'a Cfg> {
    /// Errors: an automaton that does not say what it is made from.
    pub fn new(cfg: &'a Cfg) -> Result<Self, NotSavable> {
        let mut origins = Vec::with_capacity(cfg.origins.len());
        for (grammar, origin) in cfg.origins.iter_enumerated() {
            let mut automata = Vec::with_capacity(origin.automata.len());
            for (id, automaton) in origin.automata.iter_enumerated() {
                let saved = automaton.save();
                automata.push(saved.ok_or_else(|| NotSavable { what: format!("the automaton {grammar}/{id}") })?);
            }
            origins.push((origin.conditions.clone(), automata));
        }
        let letters = cfg.token_letters.iter().map(|letter| letter.tokens.ranges().to_vec()).collect();
        Ok(Self { regexes: cfg.regexes.saved()?, origins, letters, cfg })
    }
}

impl SavedCfg<Cfg> {
    /// The lowered grammar, for a vocabulary of so many tokens.
    ///
    /// Errors: see [`ReadError`]. Cost: linear in what was read.
    pub fn read(self, vocabulary_len: usize, limits: &Limits, reader: &dyn AutomatonReader) -> Result<Cfg, ReadError> {
        let Self { regexes, origins, letters, mut cfg } = self;
        let symbols = cfg.nonterminals.len() + cfg.dots.len().saturating_sub(3);
        if symbols > limits.grammar_symbols_max {
            return Err(Fault::exceeded("grammar_symbols_max", limits.grammar_symbols_max as u64).into());
        }
        cfg.regexes = regexes.read(reader)?;
        cfg.origins = read_origins(&origins, limits, reader)?;
        let len = cfg.token_letters.len();
        Inconsistent::unless(len == letters.len(), "there are other sets of tokens")?;
        for (letter, ranges) in cfg.token_letters.iter_mut().zip(letters) {
            let is_within = |&(first, last): &(u32, u32)| first <= last && (last as usize) < vocabulary_len;
            Inconsistent::unless(ranges.iter().all(is_within), "a set of tokens is not of the vocabulary")?;
            letter.tokens = TokenRanges::new(ranges);
        }
        cfg.note_features();
        cfg.check()?;
        Ok(cfg)
    }
}

type SavedOrigin = (IndexVec<ConditionId, Condition>, Vec<SavedAutomaton>);

fn read_origins(
    saved: &[SavedOrigin],
    limits: &Limits,
    reader: &dyn AutomatonReader,
) -> Result<IndexVec<GrammarId, GrammarOrigin>, Inconsistent> {
    let mut origins = IndexVec::new();
    for (conditions, automata) in saved {
        let read = |saved: &SavedAutomaton| reader.automaton(saved, limits);
        let automata = automata.iter().map(read).collect::<Result<Vec<Arc<dyn Automaton>>, _>>()?;
        origins.push(GrammarOrigin {
            conditions: conditions.clone(),
            automata: automata.into(),
            ..GrammarOrigin::default()
        });
    }
    Ok(origins)
}

/// Writes a map by ascending keys, so that equal maps are equal bytes.
pub(super) fn in_order<K: Ord + Serialize, V: Serialize, S: Serializer>(
    map: &FxHashMap<K, V>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut entries: Vec<(&K, &V)> = map.iter().collect();
    entries.sort_unstable_by_key(|entry| entry.0);
    serializer.collect_map(entries)
}
