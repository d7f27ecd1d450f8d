"""`LLExecutor`: masks of many matchers at once."""

import os
from collections.abc import Sequence
from typing import Any

from larkspur import Executor, MatcherError, UnknownToken

from ._matcher import LLMatcher
from ._util import TokenId, as_token, as_tokens, as_unsigned, check_pointer, expect, mask_byte_len

_THREADS_MAX = 32
# More are not made: each takes memory.
_THREADS_ASKED_MAX = 1_024


class LLExecutor:
    """Threads for masks: 4 of 5 processors, at most 32, if `num_threads` is not given (or 0)."""

    def __init__(self, num_threads: int | None = None) -> None:
        threads = as_unsigned(num_threads) if num_threads is not None else 0
        if threads == 0:
            threads = max(1, min(_THREADS_MAX, (os.cpu_count() or 1) * 4 // 5))
        self._executor = Executor(min(threads, _THREADS_ASKED_MAX))

    def unsafe_compute_mask_ptr(
        self,
        interpreters: list[tuple[LLMatcher, int]],
        trg_ptr: int,
        one_mask_bytes: int,
        trg_batch_size: int,
    ) -> None:
        """The masks of matchers, each into its row of a table in memory, which must be there.

        Raises `ValueError` for an empty list, rows past the end, and rows of another size than a mask; `RuntimeError`
        for a matcher that is given twice.
        """
        address, size = check_pointer(trg_ptr, one_mask_bytes)
        rows = as_unsigned(trg_batch_size)
        batch = _batch(interpreters, 2, "No interpreters")
        for matcher, row in batch:
            _check_row(matcher, as_unsigned(row), size, rows)
        sound = [(matcher, row) for matcher, row in batch if not matcher._error]
        if sound:
            native = [(matcher._matcher, row) for matcher, row in sound]
            failures = self._executor.fill_masks_at(native, address, size, rows)
            for (matcher, _), failure in zip(sound, failures, strict=True):
                _settle(matcher, failure)
        for matcher, row in batch:
            if matcher._error:
                matcher._write_eos_mask(address + row * size)

    def unsafe_compute_mask_ptr_with_draft_token(
        self,
        interpreters: list[tuple[LLMatcher, int, list[TokenId]]],
        trg_ptr: int,
        one_mask_bytes: int,
        trg_batch_size: int,
    ) -> None:
        """Masks along drafts: row `r` before the draft, row `r + i + 1` after its token `i`. Rows after a token that
        cannot follow, or after the end of the text, stay as they are. The matchers end where they began.

        Raises as `unsafe_compute_mask_ptr`, and `ValueError` for an empty draft and for rows that two drafts share.
        """
        address, size = check_pointer(trg_ptr, one_mask_bytes)
        rows = as_unsigned(trg_batch_size)
        batch = [
            (matcher, as_unsigned(row), as_tokens(draft))
            for matcher, row, draft in _batch(interpreters, 3, "No interpreters")
        ]
        for matcher, row, draft in batch:
            if not draft:
                raise ValueError("Draft tokens must not be empty")
            _check_row(matcher, row, size, rows)
            _check_row(matcher, row + len(draft), size, rows)
        written: set[int] = set()
        sound = [part for part in batch if not part[0]._error]
        if sound:
            native = [(matcher._matcher, row, draft) for matcher, row, draft in sound]
            results = self._executor.fill_draft_masks_at(native, address, size, rows)
            for (matcher, _, _), result in zip(sound, results, strict=True):
                _settle(matcher, result if isinstance(result, Exception) else None)
                if isinstance(result, UnknownToken):
                    # The row before the draft has its mask.
                    written.add(id(matcher))
        for matcher, row, _ in batch:
            if matcher._error and id(matcher) not in written:
                matcher._write_eos_mask(address + row * size)

    def consume_token_par(self, matchers_and_tokens: list[tuple[LLMatcher, TokenId]]) -> list[bool]:
        """A token for each matcher; whether it was consumed, as `LLMatcher.consume_token` says.

        Raises `ValueError` for an empty list.
        """
        batch = [(matcher, as_token(token)) for matcher, token in _batch(matchers_and_tokens, 2, "No matchers")]
        done: dict[int, bool] = {}
        native = []
        for index, (matcher, token) in enumerate(batch):
            if matcher.is_stopped():
                # Nothing to compute: an error, or EOS after the end of the text.
                done[index] = matcher.consume_token(token)
            else:
                native.append((index, matcher, token))
        if native:
            failures = self._executor.consume_tokens([(matcher._matcher, token) for _, matcher, token in native])
            for (index, matcher, token), failure in zip(native, failures, strict=True):
                if failure is None:
                    matcher._tokens.append(token)
                else:
                    _settle(matcher, failure, token)
                done[index] = failure is None
        return [done[index] for index in range(len(batch))]


def _batch(items: Sequence[Any], width: int, if_empty: str) -> Sequence[Any]:
    if not items:
        raise ValueError(if_empty)
    seen: set[int] = set()
    for item in items:
        expect(item, tuple)
        if len(item) != width:
            raise ValueError(f"Expecting a tuple of {width} elements, not of {len(item)}")
        expect(item[0], LLMatcher)
        if id(item[0]) in seen:
            raise RuntimeError("Already borrowed: a matcher is given twice")
        seen.add(id(item[0]))
    return items


def _check_row(matcher: LLMatcher, row: int, size: int, rows: int) -> None:
    if size != mask_byte_len(matcher._tokenizer.vocab_size):
        raise ValueError("Invalid buffer size")
    if row >= rows:
        raise ValueError("Target index out of bounds")


def _settle(matcher: LLMatcher, failure: Exception | None, *tokens: TokenId) -> None:
    if isinstance(failure, MatcherError):
        matcher._fail(failure, *tokens)
    elif failure is not None:
        raise failure
