"""Arrays that begin where a line of the processor's cache does."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

LINE = 64  # bytes


def in_lines(shape: int | tuple[int, ...], dtype: Any = np.float64, fill: float = 0) -> NDArray[Any]:
    """An array filled with a number. Lanes that are read or written in it from whole eights on lie in one line each."""
    n_bytes = math.prod(np.atleast_1d(shape)) * np.dtype(dtype).itemsize
    buffers = np.empty(int(n_bytes) + LINE, dtype=np.uint8)
    begin = -buffers.ctypes.data % LINE
    array = buffers[begin : begin + int(n_bytes)].view(dtype).reshape(shape)
    array[...] = fill
    return array
