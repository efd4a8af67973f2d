"""Arrays in pages of memory of their own, which are given back to the system as soon as nobody needs them.

What `malloc` has got it mostly keeps. Where many arrays are made one after the other, kept for a while, and joined in
the end, both would be in memory then: the arrays, though nobody has them, and what they were joined to.

The pages are small ones. NumPy asks the system for large ones where an array has 4 MB or more; whoever fills it then
waits until pages of 2 MB are found and cleared, which took three to four times as long on a virtual machine whose
memory was mostly unused.
"""

from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


def in_pages(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of zeros; a page that nobody writes to takes no memory."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if n_bytes == 0:
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(mmap(-1, n_bytes, MAP_PRIVATE | MAP_ANONYMOUS), dtype=dtype).reshape(shape)


def moved_to_pages(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in pages of their own; the array itself where it has them already."""
    if is_in_pages(values):
        return values
    moved = in_pages(values.shape, values.dtype)
    moved[:] = values
    return moved


def is_in_pages(values: NDArray[Any]) -> bool:
    """Whether an array is all that is in its pages."""
    base: Any = values
    while isinstance(base, np.ndarray):
        if base.nbytes != values.nbytes:
            return False
        base = base.base
    return isinstance(base, memoryview) and isinstance(base.obj, mmap)
