"""Arrays in pages of memory of their own, which are given back to the system as soon as nobody needs them.

What `malloc` has got it mostly keeps. Where many arrays are made one after the other, kept for a while, and joined in
the end, both would be in memory then: the arrays, though nobody has them, and what they were joined to.

The pages are small ones. NumPy asks the system for large ones where an array has 4 MB or more; whoever fills it then
waits until pages of 2 MB are found and cleared, which took three to four times as long on a virtual machine whose
memory was mostly unused. What is written as a whole gets all its small pages in one call: one by one, each when it is
first written to, they took half as long again.
"""

from contextlib import suppress
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

POPULATE_WRITE = 23  # of `madvise`, since Linux 5.14; Python has no name for it


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
    ask_for_pages(moved, 0, len(moved))
    moved[:] = values
    return moved


def ask_for_pages(values: NDArray[Any], start: int, end: int) -> None:
    """Get the pages of some rows of an array in pages, all of which are to be written; else each comes by itself."""
    pages, width = _pages_of(values), values.nbytes // max(len(values), 1)
    if pages is not None and width:
        first = start * width // PAGESIZE * PAGESIZE
        with suppress(OSError):  # a system that does not know the call
            pages.madvise(POPULATE_WRITE, first, end * width - first)


def is_in_pages(values: NDArray[Any]) -> bool:
    """Whether an array is all that is in its pages."""
    return _pages_of(values) is not None


def _pages_of(values: NDArray[Any]) -> mmap | None:
    """The pages that an array is all of; None where it has none."""
    base: Any = values
    while isinstance(base, np.ndarray):
        if base.nbytes != values.nbytes:
            return None
        base = base.base
    is_mapped = isinstance(base, memoryview) and isinstance(base.obj, mmap)
    return base.obj if is_mapped else None
