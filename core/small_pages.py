"""Large arrays in small pages.

NumPy asks the system for large pages where an array has 4 MB or more. Whoever fills one then waits until pages of 2 MB
are found and cleared, which took four times as long as small ones on a virtual machine whose memory was mostly unused.
"""

import mmap
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

LARGE = 1 << 22  # bytes


def empty_in_small_pages(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """`np.empty`, without large pages."""
    n_bytes = prod(shape) * np.dtype(dtype).itemsize
    if n_bytes < LARGE:
        return np.empty(shape, dtype=dtype)
    memory = mmap.mmap(-1, n_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return np.frombuffer(memory, dtype=dtype).reshape(shape)
