"""Vocabularies of llama.cpp models, through llama-cpp-python's own functions."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ._native import Vocabulary
from .errors import VocabularyError

_PIECE_LEN = 64
"""Bytes of nearly all tokens; longer ones are asked for again."""


def vocabulary_of_llama(model: Any, *, eos: Sequence[int | str] = (), size: int | None = None) -> Vocabulary:
    """The vocabulary of a `llama_cpp.Llama` or of the pointer that `llama_model_get_vocab` returns.

    Control tokens are special; those that end a generation (`llama_vocab_is_eog`) end the text. Raises `VocabularyError`.
    """
    import llama_cpp

    vocab = model
    if hasattr(model, "_model"):
        vocab = model._model.vocab
    len_ = llama_cpp.llama_vocab_n_tokens(vocab)
    ordinary, specials, ends = [], [], []
    for token in range(len_):
        name = _piece(llama_cpp, vocab, token, special=True)
        if llama_cpp.llama_vocab_is_eog(vocab, token):
            ends.append(token)
        if llama_cpp.llama_vocab_is_control(vocab, token) or token in ends:
            specials.append((token, name.decode(errors="replace")))
        else:
            ordinary.append((token, name))
    names = {name: token for token, name in specials}
    for end in eos:
        if isinstance(end, str) and end not in names:
            raise VocabularyError(f"no special token is called {end!r}")
    wanted = [end if isinstance(end, int) else names[end] for end in eos]

    def tokenize(text: str) -> list[int]:
        return _tokenize(llama_cpp, vocab, text.encode())

    return Vocabulary.from_tokens(ordinary, specials, wanted or ends, size=size, tokenize=tokenize)


def _piece(llama_cpp: Any, vocab: Any, token: int, *, special: bool) -> bytes:
    space = _PIECE_LEN
    while True:
        buffer = (ctypes.c_char * space)()
        length = llama_cpp.llama_token_to_piece(vocab, token, buffer, space, 0, special)
        if length >= 0:
            return buffer.raw[:length]
        if -length <= space:
            raise VocabularyError(f"llama.cpp cannot spell token {token}")
        space = -length


def _tokenize(llama_cpp: Any, vocab: Any, text: bytes) -> list[int]:
    """Text as it stands: no special tokens are read or added."""
    space = len(text) + 8
    while True:
        buffer = (llama_cpp.llama_token * space)()
        count = llama_cpp.llama_tokenize(vocab, text, len(text), buffer, space, False, False)
        if count >= 0:
            return list(buffer[:count])
        if -count <= space:
            return []
        space = -count
