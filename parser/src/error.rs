//! Errors of a matcher: enums with numbers in them. After an error the matcher is where it was.

use larkspur_toktrie::TokenId;
use thiserror::Error;

use crate::lexer::states::{LexStateId, LexemeSetId};

/// Why a matcher refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MatcherError {
    /// The token would leave the language.
    #[error("token {token} is not allowed here: its byte {at_byte} cannot follow")]
    TokenRejected {
        /// The token.
        token: TokenId,
        /// First byte of the token that cannot follow; 0 for a special token.
        at_byte: usize,
    },
    /// The text would leave the language.
    #[error("the byte at {at_byte} cannot follow")]
    TextRejected {
        /// First byte that cannot follow, counted in the bytes given.
        at_byte: usize,
    },
    /// The id is not one of the vocabulary's.
    #[error("token {token} is not in the vocabulary of {vocabulary_len} tokens")]
    UnknownToken {
        /// The token.
        token: TokenId,
        /// Length of the vocabulary.
        vocabulary_len: usize,
    },
    /// The text has ended.
    #[error("the text has ended; only an EOS token or a rollback is possible")]
    Stopped,
    /// More steps to take back than there are: tokens, and texts that belong to none.
    #[error("cannot take back {wanted} tokens: there are {available}")]
    RollbackTooFar {
        /// Steps asked for.
        wanted: usize,
        /// Steps there are.
        available: usize,
    },
    /// No token is allowed, although the text is not complete: the vocabulary cannot spell what must follow.
    #[error("no token of the vocabulary can follow here")]
    NoToken,
    /// A limit was met; see `larkspur_grammar::Limits`.
    #[error("limit `{limit}` of {value} exceeded{}", way_out(limit))]
    LimitExceeded {
        /// Name of the field of `Limits`.
        limit: &'static str,
        /// Its value.
        value: u64,
    },
}

/// What to do where a terminal that may stand here takes too much; of the other limits their names say it.
fn way_out(limit: &str) -> &'static str {
    match limit {
        "lexer_work_max" => {
            ": the terminals that may stand here take long; ask again, which goes on from here, give them smaller counts and \
             less of `&` and `~`, or raise it"
        }
        "lexer_row_work_max" | "lexer_row_emptiness_fuel" => {
            ": a terminal that may stand here takes long for a single byte; give it smaller counts and less of `&` and `~`, or \
             raise it"
        }
        _ => "",
    }
}

/// Why something deep inside the engine was not done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// A limit was met.
    Exceeded { limit: &'static str, value: u64 },
    /// Only for those who look ahead with states that have forgotten the texts that were read: these count now.
    Untold,
    /// Only for who makes the terms of a mask: one is dear, since on many ways these lexemes end in this state.
    Dear { state: LexStateId, ended: LexemeSetId },
}

impl Fault {
    pub fn exceeded(limit: &'static str, value: u64) -> Self {
        Fault::Exceeded { limit, value }
    }

    /// The limit and its value.
    pub fn limit(self) -> (&'static str, u64) {
        match self {
            Fault::Exceeded { limit, value } => (limit, value),
            Fault::Untold => unreachable!("who looks ahead goes the same way again"),
            Fault::Dear { .. } => unreachable!("who follows terms is told what is dear"),
        }
    }
}

impl From<Fault> for MatcherError {
    fn from(fault: Fault) -> Self {
        let (limit, value) = fault.limit();
        MatcherError::LimitExceeded { limit, value }
    }
}
