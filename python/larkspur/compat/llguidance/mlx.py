"""Masks for MLX: filled in numpy's arrays, applied to MLX's."""

import mlx.core as mx
import numpy as np
from numpy.typing import NDArray

from .numpy import allocate_token_bitmask, fill_next_token_bitmask, get_bitmask_shape

__all__ = [
    "allocate_token_bitmask",
    "apply_token_bitmask",
    "apply_token_bitmask_kernel",
    "fill_next_token_bitmask",
    "get_bitmask_shape",
]


def apply_token_bitmask_kernel(data: mx.array, mask: mx.array) -> mx.array:
    """`data` of shape (batch, tokens) with `-inf` where a token is not allowed, also past the masks' end."""
    bits = mx.arange(32, dtype=mx.int32)
    allowed = ((mx.expand_dims(mask, -1) >> bits) & 1).reshape(mask.shape[0], -1)
    missing = data.shape[1] - allowed.shape[1]
    if missing > 0:
        allowed = mx.pad(allowed, [(0, 0), (0, missing)])
    return mx.where(allowed[:, : data.shape[1]] == 1, data, mx.array(-float("inf"), dtype=data.dtype))


def apply_token_bitmask(logits: mx.array, mask_np: NDArray[np.int32]) -> mx.array:
    """As `apply_token_bitmask_kernel`, of shape (batch, tokens); both may be of a single text.

    Raises `AssertionError` for other types and shapes.
    """
    mask = mx.array(mask_np)
    logits = mx.expand_dims(logits, 0) if len(logits.shape) == 1 else logits
    mask = mx.expand_dims(mask, 0) if len(mask.shape) == 1 else mask
    assert mask.dtype == mx.int32, "Mask must be int32"
    assert len(logits.shape) == 2, "Logits must be 2D"
    assert logits.shape[0] == mask.shape[0], "Batch size mismatch"
    return apply_token_bitmask_kernel(logits, mask)
