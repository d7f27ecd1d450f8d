"""Where tensors, arrays and buffers have their 32-bit words."""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple


# How a buffer's format begins whose words have their bytes the other way round.
_FOREIGN_ORDER = (">", "!") if sys.byteorder == "little" else ("<",)


class Rows(NamedTuple):
    """A table of masks in memory that somebody else owns."""

    pointer: int
    row_bytes: int
    rows: int


def rows_of(table: Any) -> Rows:
    """The memory of a torch tensor, a numpy array or any writable buffer, of 32-bit words in one or two dimensions.

    A plain buffer without words, such as a `bytearray`, is one row. Raises `TypeError` or `ValueError` if masks cannot be
    written there.
    """
    if hasattr(table, "data_ptr"):
        return _tensor(table)
    if hasattr(table, "__array_interface__"):
        return _array(table)
    return _buffer(table)


def _tensor(tensor: Any) -> Rows:
    if tensor.element_size() != 4 or tensor.dtype.is_floating_point:
        raise TypeError(f"masks are 32-bit words (torch.int32), not {tensor.dtype}")
    if tensor.device.type != "cpu":
        raise ValueError(f"masks are computed in the memory of the CPU, not of {tensor.device}; use `larkspur.torch.fill`")
    if not tensor.is_contiguous():
        raise ValueError("the words of a mask must lie one after the other: make the tensor contiguous")
    return Rows(tensor.data_ptr(), *_row_shape(tuple(tensor.shape)))


def _array(array: Any) -> Rows:
    if array.dtype.itemsize != 4 or array.dtype.kind not in "iu":
        raise TypeError(f"masks are 32-bit words (numpy.int32), not {array.dtype}")
    if not array.dtype.isnative:
        raise TypeError(f"masks are words in the machine's byte order (numpy.int32), not {array.dtype.str}")
    if not array.flags.c_contiguous:
        raise ValueError("the words of a mask must lie one after the other: make the array C-contiguous")
    if not array.flags.writeable:
        raise ValueError("the array is read-only")
    return Rows(array.ctypes.data, *_row_shape(array.shape))


def _buffer(buffer: Any) -> Rows:
    view = memoryview(buffer)
    if view.readonly:
        raise ValueError("the buffer is read-only")
    if view.itemsize > 1 and view.format.startswith(_FOREIGN_ORDER):
        raise TypeError(f"masks are words in the machine's byte order, not {view.format}")
    if not view.contiguous:
        raise ValueError("the words of a mask must lie one after the other: the buffer is not contiguous")
    address = ctypes.addressof(ctypes.c_char.from_buffer(view)) if view.nbytes else 0
    if view.itemsize == 4 and view.format in ("i", "I", "l", "L") and view.shape is not None:
        return Rows(address, *_row_shape(tuple(view.shape)))
    if view.nbytes % 4:
        raise ValueError(f"a buffer of {view.nbytes} bytes does not hold 32-bit words")
    return Rows(address, view.nbytes, 1)


def _row_shape(shape: tuple[int, ...]) -> tuple[int, int]:
    if len(shape) == 1:
        return shape[0] * 4, 1
    if len(shape) == 2:
        return shape[1] * 4, shape[0]
    raise ValueError(f"a table of masks has two dimensions (rows, words), or one for a single mask, not {len(shape)}")
