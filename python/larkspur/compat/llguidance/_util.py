"""Types of arguments and results, and how arguments are checked."""

import operator
from collections.abc import Mapping, Sequence
from typing import Literal

TokenId = int
StopReason = Literal[
    "NotStopped",
    "MaxTokensTotal",
    "MaxTokensParser",
    "ParserTooComplex",
    "LexerTooComplex",
    "NoExtension",
    "NoExtensionBias",
    "EndOfSentence",
    "InternalError",
]

_STOP_REASONS: dict[str | None, StopReason] = {
    None: "NotStopped",
    "end_of_sentence": "EndOfSentence",
    "no_extension": "NoExtension",
    "max_tokens": "MaxTokensTotal",
}


def stop_reason_name(reason: str | None) -> StopReason:
    """llguidance's name of a stop reason of `larkspur.Matcher`."""
    return _STOP_REASONS[reason]


def as_token(value: object) -> TokenId:
    """A token id, in 32 bits. Raises `TypeError` for what is no integer and `OverflowError` for one out of range."""
    return as_unsigned(value, 32)


def as_unsigned(value: object, bits: int = 64) -> int:
    """A number without sign. Raises as `as_token`."""
    number = operator.index(value)  # type: ignore[arg-type]
    if not 0 <= number < 1 << bits:
        raise OverflowError(f"{number} is not from 0 to {(1 << bits) - 1}")
    return number


def as_tokens(values: Sequence[TokenId]) -> list[TokenId]:
    """A list of token ids. Raises as `as_token`, and `TypeError` for what is no sequence."""
    if isinstance(values, Mapping) or not hasattr(values, "__getitem__") or not hasattr(values, "__len__"):
        raise TypeError(f"'{type(values).__name__}' object is not an instance of 'Sequence'")
    return [as_token(value) for value in values]


def expect(value: object, kind: type) -> None:
    """Raises `TypeError` unless `value` is of this type."""
    if not isinstance(value, kind):
        raise TypeError(f"'{type(value).__name__}' object is not an instance of '{kind.__name__}'")


def mask_byte_len(vocab_size: int) -> int:
    """Bytes of a mask with a bit per token, in whole words of 32 bits."""
    return (vocab_size + 31) // 32 * 4


def check_pointer(pointer: object, byte_len: object) -> tuple[int, int]:
    """An address that a mask can be written to, and the bytes there.

    Raises `ValueError` for a null pointer and for one that is not aligned to 4 bytes.
    """
    address, size = as_unsigned(pointer), as_unsigned(byte_len)
    if address == 0:
        raise ValueError("Null pointer")
    if address % 4:
        raise ValueError("Pointer not aligned")
    return address, size
