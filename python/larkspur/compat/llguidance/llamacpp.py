"""Vocabularies of llama.cpp, through llama-cpp-python."""

import ctypes

import llama_cpp

from ._ll_tokenizer import EosTokens, LLTokenizer

# A token longer than this is none of a model's.
_TOKEN_LEN_MAX = 16 * 1024


def lltokenizer_from_vocab(
    vocab: llama_cpp.llama_vocab_p,
    n_vocab: int | None = None,
    eos_token: EosTokens = None,
    slices: list[str] | None = None,
) -> LLTokenizer:
    """The tokenizer of a `llama_vocab`; arguments as `LLTokenizer`. Control tokens are special, and such tokens of the
    user's that look like `<…>`. The vocabulary must stay loaded. Raises `ValueError` for tokens that are too long."""
    tokens = [_token(vocab, token) for token in range(llama_cpp.llama_vocab_n_tokens(vocab))]
    tokens += [b""] * ((n_vocab or 0) - len(tokens))
    address = ctypes.cast(llama_cpp.llama_cpp._lib.llama_tokenize, ctypes.c_void_p).value
    assert address is not None
    vocab_address = ctypes.cast(vocab, ctypes.c_void_p).value if not isinstance(vocab, int) else vocab
    assert vocab_address is not None
    return LLTokenizer.from_llamacpp(
        tokens=tokens,
        vocab_ptr=vocab_address,
        tokenize_fptr=address,
        eos_token=llama_cpp.llama_vocab_eos(vocab) if eos_token is None else eos_token,
        slices=slices,
    )


def _token(vocab: llama_cpp.llama_vocab_p, token: int) -> bytes:
    """A token's bytes, behind 0xFF if it is special."""
    buffer = ctypes.create_string_buffer(_TOKEN_LEN_MAX)
    size = llama_cpp.llama_token_to_piece(vocab, token, buffer, len(buffer), 0, True)
    if size < 0:
        raise ValueError(f"Error writing token {token} to buffer of size {len(buffer)}. Error: {size}")
    text = buffer.raw[:size]
    attributes = llama_cpp.llama_token_get_attr(vocab, token)
    looks_special = text.startswith(b"<") and text.endswith(b">")
    is_special = attributes & llama_cpp.LLAMA_TOKEN_ATTR_CONTROL or (
        attributes & llama_cpp.LLAMA_TOKEN_ATTR_USER_DEFINED and looks_special
    )
    return b"\xff" + text if is_special else text
