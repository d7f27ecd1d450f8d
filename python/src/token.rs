//! Token ids from Python. What is out of range of a [`TokenId`] is told as an id past the vocabulary's end is.

use larkspur::TokenId;
use pyo3::exceptions::PyOverflowError;
use pyo3::prelude::*;

use crate::errors::{unknown_token, vocabulary_error};

/// A token that a vocabulary is asked for. Errors: `UnknownToken`.
pub(crate) struct Token(pub TokenId);

/// A token that a vocabulary is to have. Errors: `VocabularyError`.
pub(crate) struct NewToken(pub TokenId);

impl<'a, 'py> FromPyObject<'a, 'py> for Token {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        id(object, unknown_token).map(Self)
    }
}

impl<'a, 'py> FromPyObject<'a, 'py> for NewToken {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let error = |object: Borrowed<'a, 'py, PyAny>, message| vocabulary_error(object.py(), message);
        id(object, error).map(Self)
    }
}

fn id<'a, 'py>(
    object: Borrowed<'a, 'py, PyAny>,
    out_of_range: impl FnOnce(Borrowed<'a, 'py, PyAny>, String) -> PyErr,
) -> PyResult<TokenId> {
    object.extract::<TokenId>().map_err(|error| {
        if error.is_instance_of::<PyOverflowError>(object.py()) {
            out_of_range(object, format!("there is no token {}: ids are from 0 to {}", *object, TokenId::MAX))
        } else {
            error
        }
    })
}

/// The ids alone.
pub(crate) fn ids(tokens: Vec<Token>) -> Vec<TokenId> {
    tokens.into_iter().map(|Token(id)| id).collect()
}
