"""Tokenizers of transformers."""

from copy import copy

import transformers

from ._ll_tokenizer import EosTokens, LLTokenizer


def from_tokenizer(
    hf_tokenizer: transformers.PreTrainedTokenizerFast,
    n_vocab: int | None = None,
    eos_token: EosTokens = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """The tokenizer of a fast tokenizer of transformers, with its added tokens; arguments as `LLTokenizer`.

    Raises `ValueError` for one that is not fast.
    """
    if not isinstance(hf_tokenizer, transformers.PreTrainedTokenizerFast):
        raise ValueError("Only fast tokenizers are supported")
    backend = copy(hf_tokenizer.backend_tokenizer)
    backend.no_padding()
    backend.no_truncation()
    eos = hf_tokenizer.eos_token_id if eos_token is None else eos_token
    return LLTokenizer(backend.to_str(), n_vocab=n_vocab, eos_token=eos, slices=slices)
