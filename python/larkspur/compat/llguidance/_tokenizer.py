"""`TokenizerWrapper`: any tokenizer by its tokens and a function."""

from collections.abc import Sequence
from typing import Any

from ._util import TokenId


class TokenizerWrapper:
    """A tokenizer with `eos_token_id`, `bos_token_id`, `tokens` (the bytes of each), perhaps `special_token_ids`, and a
    call that tokenizes bytes, or a `str` if it refuses bytes."""

    eos_token_id: TokenId
    bos_token_id: TokenId | None
    tokens: Sequence[bytes]
    special_token_ids: Sequence[int]
    is_tokenizer_wrapper: bool

    def __init__(self, gtokenizer: Any) -> None:
        self.eos_token_id = gtokenizer.eos_token_id
        self.bos_token_id = gtokenizer.bos_token_id
        self.tokens = gtokenizer.tokens
        self.special_token_ids = getattr(gtokenizer, "special_token_ids", [])
        self.is_tokenizer_wrapper = True
        self._gtokenizer = gtokenizer
        try:
            gtokenizer(b"test")
            self._accepts_bytes = True
        except Exception:
            self._accepts_bytes = False

    def _encode_string(self, s: str) -> list[TokenId]:
        """The tokens of a text. As in llguidance, subclasses may call it; `__call__` is this one whatever they make of it."""
        tokens: list[TokenId] = self._gtokenizer(s.encode("utf-8") if self._accepts_bytes else s)
        return tokens

    __call__ = _encode_string
