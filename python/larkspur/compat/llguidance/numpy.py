"""Masks in numpy's arrays: of shape (batch, words), of int32, the bit of token `t` in word `t // 32`."""

import numpy as np
from numpy.typing import NDArray

from ._executor import LLExecutor
from ._interpreter import LLInterpreter
from ._matcher import LLMatcher
from ._util import TokenId


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """The shape of the masks of a batch."""
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> NDArray[np.int32]:
    """Masks that allow everything."""
    return np.full(get_bitmask_shape(batch_size, vocab_size), -1, dtype=np.int32)


def apply_token_bitmask_inplace_kernel(logits: NDArray[np.float32], mask: NDArray[np.int32]) -> None:
    """Writes `-inf` where a token is not allowed. `mask` has a bit for every column of `logits`."""
    bits = np.arange(32, dtype=np.int32)
    allowed = ((mask[:, :, np.newaxis] >> bits) & 1).reshape(mask.shape[0], -1)[:, : logits.shape[1]]
    logits[allowed == 0] = -np.inf


def apply_token_bitmask_inplace(logits: NDArray[np.float32], mask: NDArray[np.int32]) -> None:
    """Writes `-inf` where a token is not allowed, also past the masks' end. Both may be of a single text.

    Raises `AssertionError` for other types and shapes.
    """
    logits = logits[np.newaxis] if logits.ndim == 1 else logits
    mask = mask[np.newaxis] if mask.ndim == 1 else mask
    assert mask.dtype == np.int32, "Mask must be int32"
    assert logits.ndim == 2, "Logits must be 2D"
    assert logits.shape[0] == mask.shape[0], "Batch size mismatch"
    known = 32 * mask.shape[1]
    logits[:, known:] = -np.inf
    apply_token_bitmask_inplace_kernel(logits[:, :known], mask)


def fill_next_token_bitmask(interp: LLMatcher | LLInterpreter, bitmask: NDArray[np.int32], index: int = 0) -> None:
    """The next mask of a matcher, into a row. Raises `AssertionError` for other types and shapes."""
    _check(bitmask)
    row = bitmask[index, :]
    assert row.flags["C_CONTIGUOUS"], "Mask must be contiguous"
    interp.unsafe_compute_mask_ptr(row.ctypes.data, row.nbytes)


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int]], bitmask: NDArray[np.int32]
) -> None:
    """The next masks of matchers, each into its row, in parallel. Raises as `fill_next_token_bitmask`."""
    batch, words = _check_all(bitmask)
    executor.unsafe_compute_mask_ptr(matchers, bitmask.ctypes.data, words * 4, batch)


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int, list[TokenId]]], bitmask: NDArray[np.int32]
) -> None:
    """Masks along drafts, see `LLExecutor`. Raises as `fill_next_token_bitmask`."""
    batch, words = _check_all(bitmask)
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, bitmask.ctypes.data, words * 4, batch)


def consume_token_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, TokenId]]) -> list[bool]:
    """A token for each matcher, in parallel; whether it was consumed."""
    return executor.consume_token_par(matchers)


def _check(bitmask: NDArray[np.int32]) -> None:
    assert bitmask.dtype == np.int32, "Mask must be int32"
    assert bitmask.ndim == 2, "Mask must be 2D"


def _check_all(bitmask: NDArray[np.int32]) -> tuple[int, int]:
    _check(bitmask)
    assert bitmask.flags["C_CONTIGUOUS"], "Mask must be contiguous"
    batch, words = bitmask.shape
    return batch, words
