"""Tokenizers of tiktoken."""

from typing import TYPE_CHECKING

from ._ll_tokenizer import EosTokens, LLTokenizer

if TYPE_CHECKING:
    import tiktoken


def lltokenizer_from_encoding(
    encoding: "tiktoken.Encoding",
    *,
    n_vocab: int | None = None,
    eos_token: EosTokens = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """The tokenizer of an encoding; arguments as `LLTokenizer`. Without `eos_token` the text ends with `eot_token`."""
    return LLTokenizer._from_encoding(encoding, n_vocab, eos_token, slices)
