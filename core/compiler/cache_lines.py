"""Arrays that begin at a line of the processor's cache."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes


def in_lines(shape: int | tuple[int, ...], dtype: Any = np.float64, fill: float = 0) -> NDArray[Any]:
    """An array that begins at a cache line, filled with a number.

    Eight consecutive numbers whose first index is a multiple of eight are then within one cache line.
    """
    n_bytes = math.prod(np.atleast_1d(shape)) * np.dtype(dtype).itemsize
    buffers = np.empty(int(n_bytes) + LINE, dtype=np.uint8)
    begin = -buffers.ctypes.data % LINE
    array = buffers[begin : begin + int(n_bytes)].view(dtype).reshape(shape)
    array[...] = fill
    return array
