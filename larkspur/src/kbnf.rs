//! An engine in the shape of KBNF's own: for programs that call that one.
//!
//! In: a KBNF text and a vocabulary. Out: an [`Engine`], which is one generated sequence and masks the logits of each step.
//! It is done as soon as the text is complete, or, with [`Finish::Eos`], at an EOS token. Knows nothing that
//! [`Matcher`] does not know; forks, rollbacks and forced text are to be had there.
//!
//! ```
//! use std::sync::Arc;
//! use larkspur::Vocabulary;
//! use larkspur::kbnf::{AcceptTokenResult, Engine};
//!
//! let vocabulary = Vocabulary::builder().token(0, "a").token(1, "b").token(2, "ab").build()?;
//! let mut engine = Engine::new("start ::= 'a' {'a'} 'b';", Arc::new(vocabulary))?;
//! let mut logits = [0.0; 3];
//! assert_eq!(engine.update_logits(0, &mut logits)?, AcceptTokenResult::Ongoing);
//! assert_eq!(logits, [0.0; 3]);
//! assert_eq!(engine.update_logits(2, &mut logits)?, AcceptTokenResult::Finished);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use larkspur_grammar::{Limits, SourceMap};
use larkspur_parser::{EagerMatcher, EngineOptions, Matcher, MatcherError, SliceError, limit_diagnostic};
use larkspur_toktrie::{TokenId, TokenMask, Vocabulary};
use thiserror::Error;

use crate::compile::CompileOptions;
use crate::engine::CompiledGrammar;
use crate::error::CompileError;
use crate::source::Source;

/// When a text is finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub enum Finish {
    /// As soon as it is complete, as in KBNF. A token that runs past that place is not allowed, nor is an EOS token.
    #[default]
    Eager,
    /// When an EOS token was accepted, which is allowed where the text is complete; and where nothing can follow.
    Eos,
}

/// How an [`Engine`] is set up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Config {
    /// The nonterminal to start with.
    pub start_nonterminal: String,
    /// When a text is finished.
    pub finish: Finish,
    /// Keep masks for when their place comes again.
    pub cache_enabled: bool,
    /// Bounds: of memory (`expressions_max`, `lexer_states_max`, `earley_bytes_max`, `mask_cache_bytes_max`), of the
    /// text (`text_bytes_max`), of work (`mask_work_max`), and of the grammar.
    pub limits: Limits,
}

impl Default for Config {
    fn default() -> Self {
        let start_nonterminal = "start".to_owned();
        Self { start_nonterminal, finish: Finish::default(), cache_enabled: true, limits: Limits::default() }
    }
}

/// What accepting has led to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum AcceptTokenResult {
    /// More tokens can be accepted.
    Ongoing,
    /// The text is finished: no more tokens can be accepted.
    Finished,
}

/// A limit of [`Config::limits`] was met.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("limit `{limit}` of {value} exceeded")]
pub struct LimitExceeded {
    /// Name of the field of [`Limits`].
    pub limit: &'static str,
    /// Its value.
    pub value: u64,
}

/// Why a token or text was not accepted. The engine is then where it was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum AcceptTokenError {
    /// The vocabulary has no such token.
    #[error("the vocabulary has no such token")]
    UnknownTokenId,
    /// It cannot follow here.
    #[error("it cannot follow here")]
    Rejected,
    /// The text is finished.
    #[error("the text is finished")]
    Finished,
    /// A limit was met.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
}

/// Why logits were not masked. They are then as they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum MaskLogitsError {
    /// There are fewer logits than tokens.
    #[error("{found} logits for {expected} tokens")]
    InvalidLogitsLength {
        /// Tokens of the vocabulary.
        expected: usize,
        /// Logits given.
        found: usize,
    },
}

/// Why a token was not accepted and logits were not masked. Text and logits are then as they were; what was allowed may be
/// forgotten: see [`Engine::update_logits`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum UpdateLogitsError {
    /// The token was not accepted, or what follows it could not be computed.
    #[error(transparent)]
    Accept(#[from] AcceptTokenError),
    /// The logits are too few.
    #[error(transparent)]
    Mask(#[from] MaskLogitsError),
}

/// One generated sequence. A clone goes on alone; both share what they learn of the grammar, as do all sequences after
/// a [`reset`](Self::reset).
#[derive(Clone, Debug)]
pub struct Engine {
    grammar: CompiledGrammar,
    vocabulary: Arc<Vocabulary>,
    sequence: Sequence,
    is_finished: bool,
    /// As of the last computation.
    allowed: TokenMask,
}

#[derive(Clone, Debug)]
enum Sequence {
    Eager(EagerMatcher),
    Eos(Matcher),
}

impl Sequence {
    fn new(grammar: &CompiledGrammar, finish: Finish) -> Result<Self, MatcherError> {
        Ok(match finish {
            Finish::Eager => Sequence::Eager(EagerMatcher::new(grammar.compiled())?),
            Finish::Eos => Sequence::Eos(grammar.matcher()?),
        })
    }
}

impl Engine {
    /// An engine at the start of a text.
    ///
    /// Errors: everything that is wrong with the grammar, with the places.
    pub fn new(grammar: &str, vocabulary: Arc<Vocabulary>) -> Result<Self, CompileError> {
        Self::with_config(grammar, vocabulary, Config::default())
    }

    /// An engine that is set up as the caller wishes.
    ///
    /// Errors: as [`new`](Self::new).
    pub fn with_config(grammar: &str, vocabulary: Arc<Vocabulary>, config: Config) -> Result<Self, CompileError> {
        let Config { start_nonterminal, finish, cache_enabled, mut limits } = config;
        if !cache_enabled {
            limits.mask_cache_bytes_max = 0;
        }
        // Slices are of no use where each token's bytes are looked at.
        let options = match finish {
            Finish::Eager => EngineOptions { limits, slices: Vec::new(), ..EngineOptions::default() },
            Finish::Eos => EngineOptions { limits, ..EngineOptions::default() },
        };
        let engine = crate::Engine::with_options(vocabulary.clone(), &options).map_err(|error| match error {
            SliceError::LimitExceeded { limit, value, .. } => {
                CompileError { diagnostics: vec![limit_diagnostic(limit, value, None)], sources: SourceMap::new() }
            }
            _ => unreachable!("the default slices are few regexes of small automata"),
        })?;
        let source = Source::kbnf(grammar);
        let options = CompileOptions { start: Some(start_nonterminal), ..CompileOptions::default() };
        let grammar = engine.compile_with(&source, &options)?;
        let sequence = Sequence::new(&grammar, finish).map_err(|error| {
            let LimitExceeded { limit, value } = limit_exceeded(error);
            let diagnostics = vec![limit_diagnostic(limit, value, None)];
            CompileError { diagnostics, sources: grammar.sources().clone() }
        })?;
        let allowed = TokenMask::new(vocabulary.len());
        Ok(Self { grammar, vocabulary, sequence, is_finished: false, allowed })
    }

    /// Accepts a token. What is allowed after it is not computed.
    ///
    /// Errors: [`AcceptTokenError`].
    pub fn try_accept_new_token(&mut self, token: TokenId) -> Result<AcceptTokenResult, AcceptTokenError> {
        if token as usize >= self.vocabulary.len() {
            return Err(AcceptTokenError::UnknownTokenId);
        }
        if self.is_finished {
            return Err(AcceptTokenError::Finished);
        }
        self.is_finished = match &mut self.sequence {
            Sequence::Eager(matcher) => matcher.consume_token(token).map_err(accept_error)?,
            Sequence::Eos(matcher) => matcher.consume_token(token).map_err(accept_error)?.stopped,
        };
        Ok(self.result())
    }

    /// Accepts text that belongs to no token.
    ///
    /// Errors: [`AcceptTokenError`].
    pub fn try_accept_new_bytes(&mut self, bytes: &[u8]) -> Result<AcceptTokenResult, AcceptTokenError> {
        if self.is_finished {
            return Err(AcceptTokenError::Finished);
        }
        self.is_finished = match &mut self.sequence {
            Sequence::Eager(matcher) => matcher.consume_bytes(bytes).map_err(accept_error)?,
            Sequence::Eos(matcher) => {
                let mut next = matcher.fork();
                let consumed = next.consume_bytes(bytes).and_then(|()| is_at_end(&next));
                let is_finished = consumed.map_err(accept_error)?;
                *matcher = next;
                is_finished
            }
        };
        Ok(self.result())
    }

    fn result(&self) -> AcceptTokenResult {
        if self.is_finished { AcceptTokenResult::Finished } else { AcceptTokenResult::Ongoing }
    }

    /// Computes which tokens are allowed here: none at the end, nor where the vocabulary cannot spell what must follow.
    ///
    /// Errors: [`LimitExceeded`]; no token is allowed then.
    pub fn compute_allowed_token_ids(&mut self) -> Result<(), LimitExceeded> {
        if self.is_finished {
            self.allowed.clear();
            return Ok(());
        }
        let computed = match &mut self.sequence {
            Sequence::Eager(matcher) => matcher.compute_mask(&mut self.allowed),
            Sequence::Eos(matcher) => matcher.compute_mask(&mut self.allowed),
        };
        match computed {
            Ok(()) | Err(MatcherError::NoToken) => Ok(()),
            Err(error) => Err(limit_exceeded(error)),
        }
    }

    /// The tokens that were allowed when that was last computed; none before.
    pub fn allowed_token_ids_from_last_computation(&self) -> &TokenMask {
        &self.allowed
    }

    /// Sets the logits of all tokens that were not allowed when that was last computed to negative infinity, and those
    /// past the vocabulary.
    ///
    /// Errors: [`MaskLogitsError`].
    pub fn mask_logits(&self, logits: &mut [f32]) -> Result<(), MaskLogitsError> {
        self.check(logits)?;
        let words = self.allowed.words();
        for (chunk, logits) in logits.chunks_mut(32).enumerate() {
            let word = words.get(chunk).copied().unwrap_or_default();
            if word != u32::MAX {
                for (bit, logit) in logits.iter_mut().enumerate() {
                    if word >> bit & 1 == 0 {
                        *logit = f32::NEG_INFINITY;
                    }
                }
            }
        }
        Ok(())
    }

    fn check(&self, logits: &[f32]) -> Result<(), MaskLogitsError> {
        let (expected, found) = (self.vocabulary.len(), logits.len());
        if found < expected { Err(MaskLogitsError::InvalidLogitsLength { expected, found }) } else { Ok(()) }
    }

    /// Accepts a token, and masks the logits of the next step. At the end they are left as they are.
    ///
    /// Errors: [`UpdateLogitsError`]. Text and logits are then as they were; if it is a limit that what follows the token has
    /// met, no token counts as allowed until that is computed again.
    pub fn update_logits(
        &mut self,
        token: TokenId,
        logits: &mut [f32],
    ) -> Result<AcceptTokenResult, UpdateLogitsError> {
        self.check(logits)?;
        let before = self.sequence.clone();
        let result = self.try_accept_new_token(token)?;
        if result == AcceptTokenResult::Ongoing {
            if let Err(limit) = self.compute_allowed_token_ids() {
                self.sequence = before;
                return Err(AcceptTokenError::Limit(limit).into());
            }
            self.mask_logits(logits)?;
        }
        Ok(result)
    }

    /// Whether the text is finished.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Back to the start of a text. What was learnt of the grammar stays, and so does the last computation.
    ///
    /// Errors: [`LimitExceeded`]; the engine is then where it was.
    pub fn reset(&mut self) -> Result<(), LimitExceeded> {
        let reset = match &mut self.sequence {
            Sequence::Eager(matcher) => matcher.reset(),
            Sequence::Eos(matcher) => matcher.reset(),
        };
        reset.map_err(limit_exceeded)?;
        self.is_finished = false;
        Ok(())
    }

    /// The vocabulary.
    pub fn vocab(&self) -> &Arc<Vocabulary> {
        &self.vocabulary
    }

    /// The grammar, with its warnings and figures.
    pub fn grammar(&self) -> &CompiledGrammar {
        &self.grammar
    }
}

/// Whether the text is complete and nothing can follow.
fn is_at_end(matcher: &Matcher) -> Result<bool, MatcherError> {
    Ok(matcher.is_accepting()? && matcher.allowed_bytes()?.is_empty())
}

/// The limit of an error of what refuses nothing but for limits.
fn limit_exceeded(error: MatcherError) -> LimitExceeded {
    match error {
        MatcherError::LimitExceeded { limit, value } => LimitExceeded { limit, value },
        _ => unreachable!("nothing was consumed: {error}"),
    }
}

fn accept_error(error: MatcherError) -> AcceptTokenError {
    match error {
        MatcherError::UnknownToken { .. } => AcceptTokenError::UnknownTokenId,
        MatcherError::LimitExceeded { limit, value } => AcceptTokenError::Limit(LimitExceeded { limit, value }),
        MatcherError::Stopped => AcceptTokenError::Finished,
        MatcherError::TokenRejected { .. } | MatcherError::TextRejected { .. } => AcceptTokenError::Rejected,
        _ => unreachable!("something was consumed: {error}"),
    }
}
