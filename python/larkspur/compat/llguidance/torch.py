"""Masks in torch's tensors: of shape (batch, words), of int32, the bit of token `t` in word `t // 32`."""

import logging

import torch

from ._executor import LLExecutor
from ._interpreter import LLInterpreter
from ._matcher import LLMatcher
from ._util import TokenId

logger = logging.getLogger(__name__)


def get_bitmask_shape(batch_size: int, vocab_size: int) -> tuple[int, int]:
    """The shape of the masks of a batch."""
    return batch_size, (vocab_size + 31) // 32


def allocate_token_bitmask(batch_size: int, vocab_size: int) -> torch.Tensor:
    """Masks that allow everything, on the CPU; in pinned memory if there is a GPU."""
    shape = get_bitmask_shape(batch_size, vocab_size)
    if torch.cuda.is_available():
        try:
            return torch.full(shape, -1, dtype=torch.int32, pin_memory=True)
        except RuntimeError as error:
            logger.warning("no pinned memory for masks: %s", error)
    return torch.full(shape, -1, dtype=torch.int32)


def apply_token_bitmask_inplace_kernel(logits: torch.Tensor, mask: torch.Tensor) -> None:
    """Writes `-inf` where a token is not allowed. `mask` has a bit for every column of `logits`; both on one device."""
    bits = torch.arange(32, device=mask.device, dtype=torch.int32)
    allowed = ((mask.unsqueeze(-1) >> bits) & 1).reshape(mask.shape[0], -1)[:, : logits.shape[1]]
    logits.masked_fill_(allowed == 0, float("-inf"))


def apply_token_bitmask_inplace(logits: torch.Tensor, mask: torch.Tensor) -> None:
    """Writes `-inf` where a token is not allowed, also past the masks' end. Both may be of a single text.

    Raises `AssertionError` for other types and shapes.
    """
    logits = logits.unsqueeze(0) if logits.dim() == 1 else logits
    mask = mask.unsqueeze(0) if mask.dim() == 1 else mask
    assert mask.dtype == torch.int32, "Mask must be int32"
    assert logits.dim() == 2, "Logits must be 2D"
    assert logits.shape[0] == mask.shape[0], "Batch size mismatch"
    known = 32 * mask.shape[1]
    if logits.shape[1] > known:
        logits[:, known:] = float("-inf")
        logits = logits[:, :known]
    apply_token_bitmask_inplace_kernel(logits, mask)


def fill_next_token_bitmask(interp: LLMatcher | LLInterpreter, bitmask: torch.Tensor, index: int = 0) -> None:
    """The next mask of a matcher, into a row. Raises `AssertionError` for other types, shapes and devices."""
    _check(bitmask)
    row = bitmask[index, :]
    assert row.is_contiguous(), "Mask must be contiguous"
    interp.unsafe_compute_mask_ptr(row.data_ptr(), row.numel() * row.element_size())


def fill_next_token_bitmask_par(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int]], bitmask: torch.Tensor
) -> None:
    """The next masks of matchers, each into its row, in parallel. Raises as `fill_next_token_bitmask`."""
    batch, words = _check_all(bitmask)
    executor.unsafe_compute_mask_ptr(matchers, bitmask.data_ptr(), words * 4, batch)


def fill_next_token_bitmask_par_with_draft_tokens(
    executor: LLExecutor, matchers: list[tuple[LLMatcher, int, list[TokenId]]], bitmask: torch.Tensor
) -> None:
    """Masks along drafts, see `LLExecutor`. Raises as `fill_next_token_bitmask`."""
    batch, words = _check_all(bitmask)
    executor.unsafe_compute_mask_ptr_with_draft_token(matchers, bitmask.data_ptr(), words * 4, batch)


def consume_token_par(executor: LLExecutor, matchers: list[tuple[LLMatcher, TokenId]]) -> list[bool]:
    """A token for each matcher, in parallel; whether it was consumed."""
    return executor.consume_token_par(matchers)


def _check(bitmask: torch.Tensor) -> None:
    # Servers pass tensors of other libraries with these few members.
    assert bitmask.dtype == torch.int32, "Mask must be int32"
    assert bitmask.is_cpu, "Mask must be on CPU"
    assert bitmask.dim() == 2, "Mask must be 2D"


def _check_all(bitmask: torch.Tensor) -> tuple[int, int]:
    _check(bitmask)
    assert bitmask.is_contiguous(), "Mask must be contiguous"
    batch, words = bitmask.shape
    return batch, words
