"""Masks in numpy arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ._native import Vocabulary
from .masks import fill, fill_drafts, words_for

__all__ = ["allocate", "apply", "fill", "fill_drafts"]


def allocate(rows: int, vocabulary: Vocabulary | int) -> npt.NDArray[np.int32]:
    """A table that allows everything: int32, shape (rows, words)."""
    return np.full((rows, words_for(vocabulary)), -1, dtype=np.int32)


def allowed(table: npt.NDArray[np.int32], length: int) -> npt.NDArray[np.bool_]:
    """The bits of a table or row, the first `length` of each row; past the table nothing is allowed."""
    rows = np.atleast_2d(table)
    bits = np.unpackbits(np.ascontiguousarray(rows).view(np.uint8), axis=1, bitorder="little").astype(np.bool_)
    if bits.shape[1] < length:
        bits = np.pad(bits, ((0, 0), (0, length - bits.shape[1])))
    bits = bits[:, :length]
    return bits if table.ndim == 2 else bits[0]


def apply(logits: npt.NDArray[np.floating], table: npt.NDArray[np.int32]) -> None:
    """Sets the logits of tokens that are not allowed to negative infinity, in place.

    Shapes (rows, tokens) and (rows, words), or one dimension each. Raises `ValueError` if they don't fit together, and
    `TypeError` for logits of a type without infinity.
    """
    if logits.dtype.kind in "biuOSUMm":
        raise TypeError(f"logits of type {logits.dtype} cannot be negative infinity; they are floats")
    if logits.ndim != table.ndim or logits.shape[:-1] != table.shape[:-1]:
        raise ValueError(f"logits of shape {logits.shape} and masks of shape {table.shape} don't fit together")
    logits[~allowed(table, logits.shape[-1])] = -np.inf
