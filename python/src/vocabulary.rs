//! Vocabularies from Python's tokenizers.

use std::convert::Infallible;
use std::sync::Arc;

use larkspur::TokenId;
use larkspur::toktrie::{EosChoice, HuggingFaceOptions, SentencePieceOptions, TiktokenOptions, TokenizeFn};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use crate::errors::{build_error, load_error};
use crate::number::optional;
use crate::token::{NewToken, Token, ids};

/// A model's tokens.
#[pyclass(frozen, module = "larkspur")]
pub(crate) struct Vocabulary {
    pub inner: Arc<larkspur::Vocabulary>,
}

/// An EOS token, by id or by name.
pub(crate) enum Eos {
    Id(TokenId),
    Name(String),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Eos {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        match object.extract() {
            Ok(name) => Ok(Eos::Name(name)),
            Err(_) => object.extract::<NewToken>().map(|token| Eos::Id(token.0)),
        }
    }
}

fn choice(eos: Vec<Eos>) -> EosChoice {
    let mut choice = EosChoice::default();
    for eos in eos {
        match eos {
            Eos::Id(id) => choice.ids.push(id),
            Eos::Name(name) => choice.names.push(name),
        }
    }
    choice
}

/// A tokenizer of Python's. What it raises is taken for "cannot be tokenized": longest match does it then.
fn called(tokenize: Py<PyAny>) -> TokenizeFn {
    Arc::new(move |text: &str| {
        Python::attach(|py| tokenize.call1(py, (text,)).and_then(|ids| ids.extract::<Vec<TokenId>>(py)))
            .unwrap_or_default()
    })
}

/// The length of a padded vocabulary.
fn size(size: Option<&Bound<PyAny>>) -> PyResult<Option<usize>> {
    optional("size", size, 0..=u32::MAX).map(|size| size.map(|size| size as usize))
}

impl Vocabulary {
    fn of(inner: larkspur::Vocabulary) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Vocabulary {
    #[staticmethod]
    fn single_bytes() -> Self {
        Self::of(larkspur::Vocabulary::single_bytes())
    }

    #[staticmethod]
    #[pyo3(signature = (tokens, specials, eos, *, size=None, tokenize=None))]
    fn from_tokens(
        py: Python,
        tokens: &Bound<PyAny>,
        specials: &Bound<PyAny>,
        eos: Vec<NewToken>,
        size: Option<&Bound<PyAny>>,
        tokenize: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut builder = larkspur::Vocabulary::builder();
        for token in tokens.try_iter()? {
            let (id, bytes): (NewToken, PyBackedBytes) = token?.extract()?;
            builder.token(id.0, &*bytes);
        }
        for special in specials.try_iter()? {
            let (id, name): (NewToken, String) = special?.extract()?;
            builder.special(id.0, name);
        }
        for id in eos {
            builder.eos(id.0);
        }
        if let Some(size) = self::size(size)? {
            builder.len(size);
        }
        if let Some(tokenize) = tokenize {
            builder.tokenizer(called(tokenize));
        }
        py.detach(|| builder.build()).map(Self::of).map_err(|error| build_error(py, &error))
    }

    #[staticmethod]
    #[pyo3(signature = (json, *, tokenizer_config=None, generation_config=None, eos=vec![], special_names=vec![], size=None))]
    fn from_tokenizer_json(
        py: Python,
        json: PyBackedBytes,
        tokenizer_config: Option<PyBackedBytes>,
        generation_config: Option<PyBackedBytes>,
        eos: Vec<Eos>,
        special_names: Vec<String>,
        size: Option<&Bound<PyAny>>,
    ) -> PyResult<Self> {
        let options = HuggingFaceOptions {
            tokenizer_config: tokenizer_config.as_deref(),
            generation_config: generation_config.as_deref(),
            eos: choice(eos),
            special_names,
            len: self::size(size)?,
            ..HuggingFaceOptions::default()
        };
        py.detach(|| larkspur::Vocabulary::from_huggingface(&json, &options))
            .map(Self::of)
            .map_err(|error| load_error(py, &error))
    }

    #[staticmethod]
    #[pyo3(signature = (ranks, *, name=None, specials=None, eos=vec![], size=None, tokenize=None))]
    fn from_tiktoken_ranks(
        py: Python,
        ranks: PyBackedBytes,
        name: Option<&str>,
        specials: Option<Vec<(NewToken, String)>>,
        eos: Vec<Eos>,
        size: Option<&Bound<PyAny>>,
        tokenize: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut options = match name {
            Some("o200k_base") => TiktokenOptions::o200k_base(),
            Some("o200k_harmony") => TiktokenOptions::o200k_harmony(),
            Some("cl100k_base") => TiktokenOptions::cl100k_base(),
            _ => TiktokenOptions::default(),
        };
        if let Some(specials) = specials {
            options.specials = specials.into_iter().map(|(id, name)| (id.0, name)).collect();
        }
        if !eos.is_empty() {
            options.eos = choice(eos);
        }
        options.len = self::size(size)?;
        options.tokenizer = tokenize.map(called);
        py.detach(|| larkspur::Vocabulary::from_tiktoken_ranks(&ranks, &options))
            .map(Self::of)
            .map_err(|error| load_error(py, &error))
    }

    #[staticmethod]
    #[pyo3(signature = (model, *, eos=vec![], size=None))]
    fn from_sentencepiece(
        py: Python,
        model: PyBackedBytes,
        eos: Vec<Eos>,
        size: Option<&Bound<PyAny>>,
    ) -> PyResult<Self> {
        let options =
            SentencePieceOptions { eos: choice(eos), len: self::size(size)?, ..SentencePieceOptions::default() };
        py.detach(|| larkspur::Vocabulary::from_sentencepiece(&model, &options))
            .map(Self::of)
            .map_err(|error| load_error(py, &error))
    }

    #[pyo3(signature = (eos, *, size=None))]
    fn with_eos(&self, py: Python, eos: Vec<NewToken>, size: Option<&Bound<PyAny>>) -> PyResult<Self> {
        let eos: Vec<TokenId> = eos.into_iter().map(|id| id.0).collect();
        let size = self::size(size)?;
        py.detach(|| self.inner.with_eos(&eos, size)).map(Self::of).map_err(|error| build_error(py, &error))
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    fn __repr__(&self) -> String {
        format!("<Vocabulary of {} tokens, EOS {:?}>", self.inner.len(), self.inner.eos())
    }

    #[getter]
    fn eos(&self) -> Vec<TokenId> {
        self.inner.eos().to_vec()
    }

    #[getter]
    fn has_tokenizer(&self) -> bool {
        self.inner.has_tokenizer()
    }

    fn token_bytes<'py>(&self, py: Python<'py>, token: Token) -> Option<Bound<'py, PyBytes>> {
        self.inner.token_bytes(token.0).map(|bytes| PyBytes::new(py, bytes))
    }

    fn special_name(&self, token: Token) -> Option<&str> {
        self.inner.special_name(token.0)
    }

    fn special_by_name(&self, name: &str) -> Option<TokenId> {
        self.inner.special_by_name(name)
    }

    fn specials(&self) -> Vec<(TokenId, &str)> {
        self.inner.specials().collect()
    }

    fn decode<'py>(&self, py: Python<'py>, tokens: Vec<Token>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.inner.decode(&ids(tokens)))
    }

    fn tokenize(&self, py: Python, text: PyBackedBytes) -> Option<Vec<TokenId>> {
        py.detach(|| self.inner.tokenize(&text))
    }

    fn tokenize_greedy(&self, text: &[u8]) -> Option<Vec<TokenId>> {
        self.inner.tokenize_greedy(text)
    }

    fn stable_tokens(&self, tokens: Vec<Token>, text: &[u8]) -> usize {
        let trie = self.inner.trie();
        let below = |node: u32, max| {
            let nodes = node + 1..trie.subtree_ends()[node as usize];
            Ok::<_, Infallible>(nodes.filter_map(|node| trie.token(node)).take(max).collect())
        };
        self.inner.stable_tokens(&ids(tokens), text, below).unwrap_or_else(|never| match never {})
    }

    fn display(&self, token: Token) -> String {
        self.inner.display(token.0)
    }
}
