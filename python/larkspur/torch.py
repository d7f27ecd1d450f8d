"""Masks in torch tensors."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from ._memory import rows_of
from ._native import Executor, Matcher, Vocabulary
from .masks import fill_drafts, fill_rows, words_for

__all__ = ["allocate", "apply", "fill", "fill_drafts"]


def allocate(rows: int, vocabulary: Vocabulary | int, *, pin_memory: bool | None = None) -> torch.Tensor:
    """A table in the CPU's memory that allows everything: int32, shape (rows, words).

    `pin_memory`, by default where CUDA is there, makes the copy to a GPU faster.
    """
    pin = torch.cuda.is_available() if pin_memory is None else pin_memory
    return torch.full((rows, words_for(vocabulary)), -1, dtype=torch.int32, pin_memory=pin)


def fill(
    matchers: Matcher | Sequence[Matcher | None],
    table: torch.Tensor,
    rows: Sequence[int] | None = None,
    *,
    executor: Executor | None = None,
) -> None:
    """Computes the mask of each matcher into its row, as `larkspur.fill`.

    A table on another device is filled through a pinned buffer and one copy.
    """
    if isinstance(matchers, Matcher):
        matchers = [matchers]
    if table.device.type == "cpu":
        fill_rows(matchers, rows_of(table), rows, executor)
        return
    buffer = torch.empty(table.shape, dtype=table.dtype, pin_memory=table.device.type == "cuda")
    buffer.copy_(table)
    try:
        fill_rows(matchers, rows_of(buffer), rows, executor)
    finally:
        table.copy_(buffer)


def allowed(table: torch.Tensor, length: int) -> torch.Tensor:
    """The bits of a table, the first `length` of each row, as bool; past the table nothing is allowed."""
    shifts = torch.arange(32, dtype=torch.int32, device=table.device)
    bits = (table.unsqueeze(-1) >> shifts).bitwise_and_(1).flatten(-2).bool()
    if bits.shape[-1] < length:
        bits = torch.nn.functional.pad(bits, (0, length - bits.shape[-1]))
    return bits[..., :length]


def apply(logits: torch.Tensor, table: torch.Tensor) -> None:
    """Sets the logits of tokens that are not allowed to negative infinity, in place, on the logits' device.

    Shapes (rows, tokens) and (rows, words), or one dimension each. Raises `ValueError` if they don't fit together.
    """
    if logits.shape[:-1] != table.shape[:-1]:
        raise ValueError(f"logits of shape {tuple(logits.shape)} and masks of shape {tuple(table.shape)} don't fit together")
    table = table.to(logits.device, non_blocking=True)
    logits.masked_fill_(~allowed(table, logits.shape[-1]), float("-inf"))
