"""Masks for MLX arrays, which cannot be written in place: masks are computed into numpy arrays, then applied."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .masks import fill
from .numpy import allocate, allowed

__all__ = ["allocate", "apply", "fill"]


def apply(logits: Any, table: npt.NDArray[np.int32]) -> Any:
    """The logits, with negative infinity for tokens that are not allowed; shapes as `larkspur.numpy.apply`."""
    import mlx.core as mx

    if len(logits.shape) != table.ndim or tuple(logits.shape[:-1]) != table.shape[:-1]:
        raise ValueError(f"logits of shape {tuple(logits.shape)} and masks of shape {table.shape} don't fit together")
    return mx.where(mx.array(allowed(table, logits.shape[-1])), logits, -mx.inf)
