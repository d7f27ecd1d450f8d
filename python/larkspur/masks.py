"""Tables of masks: a row for each text of a batch, a bit for each token.

A row has `ceil(len(vocabulary) / 32)` 32-bit words, least significant bit first; a set bit is an allowed token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._memory import Rows, rows_of
from ._native import Executor, Matcher, Vocabulary
from .errors import BatchError

_executor: Executor | None = None


def words_for(vocabulary: Vocabulary | int) -> int:
    """32-bit words of a row for a vocabulary or its length."""
    length = vocabulary if isinstance(vocabulary, int) else len(vocabulary)
    return (length + 31) // 32


def allocate(rows: int, vocabulary: Vocabulary | int) -> memoryview:
    """A table that allows nothing: words of type `I`, in two dimensions.

    `larkspur.numpy.allocate` and `larkspur.torch.allocate` make arrays and tensors.
    """
    words = words_for(vocabulary)
    if rows <= 0:
        raise ValueError(f"a table of {rows} rows: Python's own memory views have one at least")
    return memoryview(bytearray(rows * words * 4)).cast("B").cast("I", [rows, words])


def fill(
    matchers: Matcher | Sequence[Matcher | None],
    table: Any,
    rows: Sequence[int] | None = None,
    *,
    executor: Executor | None = None,
) -> None:
    """Computes the mask of each matcher into its row of a table; the GIL is released meanwhile.

    `table` is a numpy array or torch tensor of 32-bit integers, or a writable buffer. `rows` are the rows, the first ones
    in order if not given. `None` in place of a matcher leaves its row as it is. `executor` is by default one with as many
    threads as the machine has processors.

    Raises `BatchError` if masks fail, after all others were written: the rows of those that failed allow nothing.
    Raises `ValueError` or `TypeError` for a wrong table, and `RuntimeError` for a matcher that is given twice or in use in
    another thread; then nothing is written.
    """
    if isinstance(matchers, Matcher):
        matchers = [matchers]
    fill_rows(matchers, rows_of(table), rows, executor)


def fill_rows(
    matchers: Sequence[Matcher | None], table: Rows, rows: Sequence[int] | None, executor: Executor | None
) -> None:
    """`fill`, into memory at an address."""
    places = range(len(matchers)) if rows is None else rows
    if len(places) != len(matchers):
        raise ValueError(f"{len(places)} rows for {len(matchers)} matchers")
    if any(row < 0 for row in places):
        raise ValueError("rows count from 0")
    batch = [(matcher, row) for matcher, row in zip(matchers, places) if matcher is not None]
    errors = (executor or default_executor()).fill_masks_at(batch, *table)
    failed = {row: error for (_, row), error in zip(batch, errors) if error is not None}
    if failed:
        raise BatchError(failed)


def fill_drafts(
    matchers: Sequence[Matcher],
    drafts: Sequence[Sequence[int]],
    table: Any,
    rows: Sequence[int] | None = None,
    *,
    executor: Executor | None = None,
) -> list[int]:
    """Masks along drafts, for speculative decoding: row r before a draft, row r + i + 1 after its token i.

    `rows` are the first rows of the drafts, by default one draft after the other. A draft ends at its first token that is
    not allowed or stands behind the end of the text; the rows after it stay as they are. After a token that ends the text
    there is the mask of EOS tokens. The matchers end where they began.

    Returns how many rows of each draft were written. Raises as `fill`.
    """
    if len(drafts) != len(matchers):
        raise ValueError(f"{len(drafts)} drafts for {len(matchers)} matchers")
    if rows is None:
        rows = []
        for draft in drafts:
            rows.append(rows[-1] + len(drafts[len(rows) - 1]) + 1 if rows else 0)
    batch = list(zip(matchers, rows, drafts, strict=True))
    written = (executor or default_executor()).fill_draft_masks_at(batch, *rows_of(table))
    failed = {row: error for row, error in zip(rows, written) if isinstance(error, Exception)}
    if failed:
        raise BatchError(failed)
    return [count for count in written if isinstance(count, int)]


def default_executor() -> Executor:
    """The one that is used where none is given; made at first use."""
    global _executor
    if _executor is None:
        _executor = Executor()
    return _executor
