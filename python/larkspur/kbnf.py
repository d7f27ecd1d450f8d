"""An engine in the shape of KBNF's own, for programs that call that one: `from larkspur.kbnf import Engine`."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ._memory import rows_of
from ._native import KbnfEngine
from ._native import Vocabulary as NativeVocabulary
from .errors import LarkspurError
from .tokenizers import vocabulary_of

__all__ = [
    "AcceptTokenError",
    "AcceptTokenResult",
    "Config",
    "Engine",
    "InvalidLogitsLength",
    "Token",
    "Vocabulary",
]


class AcceptTokenResult(enum.Enum):
    """What accepting has led to."""

    Ongoing = "Ongoing"
    Finished = "Finished"


class AcceptTokenError(LarkspurError, ValueError):
    """A token or text was not accepted: `reason` is `UnknownTokenID`, `Rejected` or `Finished`. The engine stays."""

    def __init__(self, reason: str) -> None:
        said = {
            "UnknownTokenID": "the vocabulary has no such token",
            "Rejected": "it cannot follow here",
            "Finished": "the text is finished",
        }
        super().__init__(f"{reason}: {said[reason]}")
        self.reason = reason


class InvalidLogitsLength(LarkspurError, ValueError):
    """There are fewer logits than tokens."""


class Token(bytes):
    """The bytes of a token."""


@dataclass(frozen=True)
class Vocabulary:
    """Tokens by id, and what they are shown as. Tokens without bytes are never allowed."""

    id_to_token: Mapping[int, bytes]
    id_to_token_string: Mapping[int, str] = field(default_factory=dict)

    def native(self) -> NativeVocabulary:
        """The vocabulary as the rest of this package has it; raises `VocabularyError`."""
        return NativeVocabulary.from_tokens(((id, bytes(token)) for id, token in self.id_to_token.items()), [], [])

    def get_token(self, id: int) -> Token | None:
        """The token's bytes."""
        token = self.id_to_token.get(id)
        return None if token is None else Token(token)

    def get_token_string(self, id: int) -> str | None:
        """What the token is shown as."""
        return self.id_to_token_string.get(id)

    def get_vocab_size(self) -> int:
        """One more than the largest id."""
        return max(self.id_to_token, default=-1) + 1


@dataclass
class Config:
    """How an engine is set up; `limits` are this package's own (docs/limits.md)."""

    start_nonterminal: str = "start"
    finish: str = "eager"
    """`eager`: as soon as the text is complete. `eos`: at an EOS token."""
    cache_enabled: bool = True
    limits: Mapping[str, int] = field(default_factory=dict)


class Engine:
    """One generated sequence. A copy goes on alone; both share what they learn of the grammar."""

    def __init__(self, grammar: str, vocabulary: Any, config: Config | None = None) -> None:
        """`vocabulary` is a `Vocabulary` of this module, or anything that `larkspur.Engine.from_tokenizer` takes.

        Raises `GrammarError`, `VocabularyError`.
        """
        config = config or Config()
        self.vocab = vocabulary
        native = vocabulary.native() if isinstance(vocabulary, Vocabulary) else vocabulary_of(vocabulary)
        self._native = KbnfEngine(
            grammar,
            native,
            start=config.start_nonterminal,
            finish=config.finish,
            cache_enabled=config.cache_enabled,
            limits=config.limits,
        )
        self._size = len(native)

    def try_accept_new_token(self, token_id: int) -> AcceptTokenResult:
        """Accepts a token. What is allowed after it is not computed. Raises `AcceptTokenError`, `LimitExceeded`."""
        if not 0 <= token_id < self._size:
            raise AcceptTokenError("UnknownTokenID")
        return _result(self._native.try_accept_new_token(token_id))

    def try_accept_new_bytes(self, text: bytes) -> AcceptTokenResult:
        """Accepts text that belongs to no token. Raises `AcceptTokenError`, `LimitExceeded`."""
        return _result(self._native.try_accept_new_bytes(text))

    def compute_allowed_token_ids(self) -> None:
        """Computes which tokens are allowed here: none at the end. Raises `LimitExceeded`."""
        self._native.compute_allowed_token_ids()

    def get_allowed_token_ids_from_last_computation(self) -> list[int]:
        """The tokens that were allowed when that was last computed; none before."""
        return self._native.allowed_token_ids()

    def get_disallowed_token_ids_from_last_computation(self) -> list[int]:
        """All others."""
        allowed = set(self._native.allowed_token_ids())
        return [id for id in range(self._size) if id not in allowed]

    def get_number_of_allowed_token_ids(self) -> int:
        """How many were allowed."""
        return len(self._native.allowed_token_ids())

    def get_number_of_disallowed_token_ids(self) -> int:
        """How many were not."""
        return self._size - self.get_number_of_allowed_token_ids()

    def check_if_token_is_allowed(self, token_id: int) -> bool:
        """Whether a token was allowed when that was last computed."""
        return 0 <= token_id < self._size and self._native.is_allowed(token_id)

    def get_index_of_allowed_token_ids(self) -> bytes:
        """The mask as bytes, one bit a token: a key for tables."""
        return self._native.allowed_mask()

    def fill_bitmask(self, row: Any) -> None:
        """The mask of the last computation into an array, tensor or buffer of 32-bit words; the rest of it becomes 0."""
        pointer, row_bytes, rows = rows_of(row)
        if rows != 1:
            raise ValueError(f"one row, not {rows}")
        self._native.write_allowed_mask_at(pointer, row_bytes)

    def mask_logits(self, logits: Any) -> Any:
        """Sets the logits that were not allowed to negative infinity: in place for numpy arrays and torch tensors.

        Anything else that is a sequence of floats is returned as a new list. Raises `InvalidLogitsLength`.
        """
        if len(logits) < self._size:
            raise InvalidLogitsLength(f"{len(logits)} logits for {self._size} tokens")
        if hasattr(logits, "masked_fill_"):
            from . import torch as helpers

            helpers.apply(logits, _words_of(self._native.allowed_mask(), "torch"))
            return logits
        if hasattr(logits, "__array_interface__"):
            from . import numpy as arrays

            arrays.apply(logits, _words_of(self._native.allowed_mask(), "numpy"))
            return logits
        allowed = set(self._native.allowed_token_ids())
        return [logit if id in allowed else float("-inf") for id, logit in enumerate(logits)]

    def update_logits(self, token_id: int, logits: Any) -> tuple[Any, AcceptTokenResult]:
        """Accepts a token, and masks the logits of the next step. At the end they are left as they are.

        Raises `AcceptTokenError`, `InvalidLogitsLength`, `LimitExceeded`, and what logits raise that cannot be written; the engine is then
        as it was.
        """
        if len(logits) < self._size:
            raise InvalidLogitsLength(f"{len(logits)} logits for {self._size} tokens")
        before = self._native.fork()
        result = self.try_accept_new_token(token_id)
        if result is AcceptTokenResult.Finished:
            return logits, result
        try:
            self.compute_allowed_token_ids()
            return self.mask_logits(logits), result
        except Exception:
            self._native = before
            raise

    def is_finished(self) -> bool:
        """Whether the text is finished."""
        return self._native.is_finished()

    def reset(self) -> None:
        """Back to the start of a text. What was learnt of the grammar stays."""
        self._native.reset()

    def get_vocab(self) -> Any:
        """The vocabulary as it was given."""
        return self.vocab

    def __copy__(self) -> Engine:
        copy = object.__new__(Engine)
        copy.vocab, copy._native, copy._size = self.vocab, self._native.fork(), self._size
        return copy

    def __deepcopy__(self, memo: object) -> Engine:
        return self.__copy__()


def _result(name: str) -> AcceptTokenResult:
    if name == "AlreadyFinished":
        raise AcceptTokenError("Finished")
    if name in ("UnknownTokenID", "Rejected"):
        raise AcceptTokenError(name)
    return AcceptTokenResult(name)


def _words_of(mask: bytes, kind: str) -> Any:
    if kind == "torch":
        import torch

        return torch.frombuffer(bytearray(mask), dtype=torch.int32)
    import numpy

    return numpy.frombuffer(mask, dtype=numpy.int32)
