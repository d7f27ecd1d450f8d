//! Compiled grammars as bytes, and back: [`CompiledGrammar::save`] and [`Engine::load`].
//!
//! Eight bytes `LARKSPUR`, four of [`FORMAT`] (least significant first), 32 of the BLAKE3 hash of all that follows, then
//! `Contents` as `postcard` writes it. The hash tells damaged bytes from whole ones; it says nothing of who made them. So
//! all that the engine takes for granted is checked, and still a saved grammar is as trustworthy as where it was got from.

use std::sync::Arc;

use larkspur_grammar::saved::{AutomatonReader, Inconsistent, SavedAutomaton, decoded, encoded};
use larkspur_grammar::{Automaton, DfaRef, Diagnostic, Label, Limits, Severity, SourceMap};
use larkspur_parser::LoadFault;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::codes;
use crate::engine::{CompiledGrammar, Engine, Inner};

const MAGIC: [u8; 8] = *b"LARKSPUR";
const HASH_LEN: usize = blake3::OUT_LEN;
const HEAD_LEN: usize = MAGIC.len() + 4 + HASH_LEN;

/// The version of the format that [`CompiledGrammar::save`] writes and [`Engine::load`] reads. Another one with every change of what
/// is saved, or of what the engine makes of it.
pub const FORMAT: u32 = 4;

/// Why a grammar was not saved.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SaveError {
    /// Something in it does not say what it is made from: an automaton that a program made.
    #[error("the grammar cannot be saved: {what} does not say what it is made from")]
    NotSavable {
        /// What that is.
        what: String,
    },
}

/// Why bytes did not become a grammar.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LoadError {
    /// They do not begin as a saved grammar does.
    #[error("these bytes are no saved grammar")]
    NotSaved,
    /// They are in the format of another version of Larkspur.
    #[error("the grammar was saved in format {found}; this version reads format {wanted}")]
    Version {
        /// Of the bytes.
        found: u32,
        /// [`FORMAT`].
        wanted: u32,
    },
    /// Some are missing, or other ones than those that were saved.
    #[error("the saved grammar is damaged: its hash is another one")]
    Damaged,
    /// The grammar speaks of tokens, of another vocabulary than the engine's.
    #[error("the grammar was saved for another vocabulary than this engine's")]
    Vocabulary,
    /// They are whole, and nothing that was saved.
    #[error("the saved grammar is inconsistent: {what}")]
    Inconsistent {
        /// What is wrong.
        what: &'static str,
    },
    /// The grammar is larger than the engine's limits allow; see [`Limits`].
    #[error("limit `{limit}` of {value} exceeded")]
    LimitExceeded {
        /// Name of the field of `Limits`.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
}

impl SaveError {
    /// Its code, as [`codes`](crate::codes()) explains it.
    pub fn code(&self) -> &'static str {
        match self {
            SaveError::NotSavable { .. } => "F020",
        }
    }
}

impl LoadError {
    /// Its code, as [`codes`](crate::codes()) explains it.
    pub fn code(&self) -> &'static str {
        match self {
            LoadError::NotSaved => "F021",
            LoadError::Version { .. } => "F022",
            LoadError::Damaged => "F023",
            LoadError::Vocabulary => "F024",
            LoadError::Inconsistent { .. } => "F025",
            LoadError::LimitExceeded { .. } => "F026",
        }
    }
}

impl From<Inconsistent> for LoadError {
    fn from(Inconsistent { what }: Inconsistent) -> Self {
        LoadError::Inconsistent { what }
    }
}

/// What is saved.
#[derive(Serialize, Deserialize)]
struct Contents<'a> {
    /// [`Vocabulary::fingerprint`](crate::Vocabulary::fingerprint), if the grammar speaks of tokens.
    vocabulary: Option<[u8; 32]>,
    max_tokens: Option<u32>,
    warnings: Vec<SavedDiagnostic>,
    /// How many of the last warnings are the parser's.
    parser_warnings: u32,
    /// What the warnings' spans point into; empty if there are none.
    sources: SourceMap,
    /// As the parser writes it.
    #[serde(borrow)]
    grammar: &'a [u8],
}

#[derive(Serialize, Deserialize)]
struct SavedDiagnostic {
    code: String,
    message: String,
    labels: Vec<Label>,
    help: Option<String>,
}

impl CompiledGrammar {
    /// The grammar as bytes, which [`Engine::load`] reads: what compiling found out, without the source and what matchers
    /// have built. Equal grammars give equal bytes. Cost: linear in the grammar. Half of the schemas of MaskBench are under 2,300
    /// bytes.
    ///
    /// Errors: [`SaveError::NotSavable`] for a grammar that a program made of automata of its own.
    pub fn save(&self) -> Result<Vec<u8>, SaveError> {
        let not_savable = |what: String| SaveError::NotSavable { what };
        let compiled = self.compiled();
        let grammar = compiled.save().map_err(|error| not_savable(error.what))?;
        let fingerprint = || *compiled.shared().vocabulary().fingerprint();
        let warnings = self.warnings();
        let contents = Contents {
            vocabulary: compiled.is_of_vocabulary().then(fingerprint),
            max_tokens: self.max_tokens(),
            warnings: warnings.iter().map(|warning| SavedDiagnostic::new(warning, self.sources())).collect(),
            parser_warnings: compiled.warnings().len() as u32,
            sources: if warnings.is_empty() { SourceMap::new() } else { self.sources().clone() },
            grammar: &grammar,
        };
        let payload = encoded(&contents).ok_or_else(|| not_savable("a table of unknown length".to_owned()))?;
        let mut bytes = Vec::with_capacity(HEAD_LEN + payload.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(blake3::hash(&payload).as_bytes());
        bytes.extend_from_slice(&payload);
        Ok(bytes)
    }
}

impl Engine {
    /// The grammar that [`CompiledGrammar::save`] wrote, with its warnings; it does what it did where it was saved. A
    /// grammar that speaks of tokens loads only with the vocabulary that it was compiled for, every other one with any. The
    /// sources come along only if there are warnings.
    ///
    /// Whatever the bytes are, this does not panic, and takes memory in proportion to their length (sets of tokens and places
    /// where automata start are bounded apart). Bytes that
    /// somebody made up can still be a grammar that nobody wrote: load them from where you would load a model from.
    ///
    /// Errors: [`LoadError`]. Cost: some tens of microseconds for a schema; no regex is read, and no rule is looked at
    /// twice.
    pub fn load(&self, bytes: &[u8]) -> Result<CompiledGrammar, LoadError> {
        let contents: Contents = decoded(payload(bytes)?)?;
        if contents.vocabulary.is_some_and(|fingerprint| fingerprint != *self.vocabulary().fingerprint()) {
            return Err(LoadError::Vocabulary);
        }
        let sources = contents.sources;
        let warnings = contents.warnings.into_iter().map(|warning| warning.read(&sources));
        let mut read_warnings = warnings.collect::<Result<Vec<Diagnostic>, _>>()?;
        let own = read_warnings.len().checked_sub(contents.parser_warnings as usize);
        let own = own.ok_or(Inconsistent { what: "there are fewer warnings" })?;
        let parser_warnings = read_warnings.split_off(own);
        let compiled =
            larkspur_parser::CompiledGrammar::load(self.shared(), contents.grammar, &Automata, parser_warnings);
        let compiled = compiled.map_err(|fault| match fault {
            LoadFault::Inconsistent { what } => LoadError::Inconsistent { what },
            LoadFault::LimitExceeded { limit, value } => LoadError::LimitExceeded { limit, value },
        })?;
        if compiled.is_of_vocabulary() && contents.vocabulary.is_none() {
            return Err(LoadError::Vocabulary);
        }
        Ok(CompiledGrammar::new(Inner::new(compiled, sources, read_warnings, contents.max_tokens)))
    }
}

/// What stands behind the head, if that is whole.
fn payload(bytes: &[u8]) -> Result<&[u8], LoadError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(LoadError::NotSaved)?;
    let (version, rest) = rest.split_first_chunk().ok_or(LoadError::Damaged)?;
    let found = u32::from_le_bytes(*version);
    if found != FORMAT {
        return Err(LoadError::Version { found, wanted: FORMAT });
    }
    let (hash, payload) = rest.split_first_chunk::<HASH_LEN>().ok_or(LoadError::Damaged)?;
    if blake3::hash(payload) == *hash { Ok(payload) } else { Err(LoadError::Damaged) }
}

impl SavedDiagnostic {
    /// Without places of texts that are not known: a program may give a grammar without its sources.
    fn new(diagnostic: &Diagnostic, sources: &SourceMap) -> Self {
        let Diagnostic { code, message, mut labels, help, .. } = diagnostic.clone();
        labels.retain(|label| sources.contains(label.span));
        Self { code: code.to_owned(), message, labels, help }
    }

    /// The warning. Errors: a code that there is not, a place that is not in the sources.
    fn read(self, sources: &SourceMap) -> Result<Diagnostic, Inconsistent> {
        let Self { code, message, labels, help } = self;
        let code = codes::code(&code);
        let code = code.ok_or(Inconsistent { what: "a warning has no code" })?;
        let holds = labels.iter().all(|label| sources.contains(label.span));
        Inconsistent::unless(holds, "a warning is of no source")?;
        Ok(Diagnostic { code, severity: Severity::Warning, message, labels, help })
    }
}

/// The automata of JSON Schemas; no other front end has any.
struct Automata;

impl AutomatonReader for Automata {
    fn automaton(&self, saved: &SavedAutomaton, limits: &Limits) -> Result<Arc<dyn Automaton>, Inconsistent> {
        let unknown = Err(Inconsistent { what: "an automaton is of no known kind" });
        larkspur_json_schema::read_automaton(saved, limits).unwrap_or(unknown)
    }

    fn dfa(&self, saved: &SavedAutomaton) -> Result<DfaRef, Inconsistent> {
        larkspur_json_schema::read_dfa(saved).ok_or(Inconsistent { what: "an automaton is of no known kind" })
    }
}
