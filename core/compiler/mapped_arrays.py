"""Arrays in pages of memory of their own, which are given back to the system as soon as nobody needs them.

What `malloc` has got it mostly keeps. Where many arrays are made one after the other, kept for a while, and joined in
the end, both would be in memory then: the arrays, though nobody has them, and what they were joined to.

The pages are small ones. NumPy asks the system for large ones where an array has 4 MB or more; whoever fills it then
waits until pages of 2 MB are found and cleared, which took three to four times as long on a virtual machine whose
memory was mostly unused. What is written as a whole gets all its small pages in one call: one by one, each when it is
first written to, they took half as long again. Pages that an array grows by are put after those it has, or those it has
are moved to where there is room, which takes none of what stands in them into another place of memory.
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
    pages = _pages_of(moved)
    if pages is not None:
        _ask_for(pages, 0, len(pages))
    moved[:] = values
    return moved


class GrowingArray:
    """Rows one after the other, in pages of their own, in a type that holds all of them; more can be put at the end."""

    def __init__(self) -> None:
        self._pages, self._n_rows = mmap(-1, PAGESIZE, MAP_PRIVATE | MAP_ANONYMOUS), 0
        self._rows: NDArray[Any] | None = None  # none, of the shape and type that all have

    def add(self, rows: NDArray[Any]) -> None:
        """Put rows at the end."""
        if self._rows is None:
            self._rows = rows[:0].copy()
        kind = np.result_type(self._rows, rows)
        if kind != self._rows.dtype:
            self._change_to(kind)
        begin, self._n_rows = self._n_rows, self._n_rows + len(rows)
        start, end = begin * self._width, self._n_rows * self._width
        if end > len(self._pages):
            # A page that nobody writes to takes no memory.
            self._pages = resized(self._pages, max(end, 2 * len(self._pages)))
        _ask_for(self._pages, start, end)
        self.part(begin, self._n_rows)[:] = rows

    def part(self, begin: int, end: int) -> NDArray[Any]:
        """Some of the rows where they stand; there must be no such part any more when rows are added."""
        assert self._rows is not None
        shape = end - begin, *self._rows.shape[1:]
        if self._width == 0:
            return np.empty(shape, dtype=self._rows.dtype)
        n_numbers = int(np.prod(shape))
        return np.frombuffer(self._pages, self._rows.dtype, n_numbers, begin * self._width).reshape(shape)

    def whole(self) -> NDArray[Any]:
        """All rows, when no more will be added."""
        self._pages = resized(self._pages, max(self._n_rows * self._width, 1))
        return self.part(0, self._n_rows)

    @property
    def _width(self) -> int:
        """How many bytes a row takes."""
        assert self._rows is not None
        return int(np.prod(self._rows.shape[1:])) * self._rows.dtype.itemsize

    def _change_to(self, kind: np.dtype[Any]) -> None:
        changed = GrowingArray()
        changed.add(self.whole().astype(kind))
        self._pages, self._rows = changed._pages, changed._rows


def resized(pages: mmap, n_bytes: int) -> mmap:
    """Pages of another number of bytes with the same in them, as far as there is room."""
    try:
        pages.resize(n_bytes)
    except SystemError:  # other systems than Linux cannot add pages to those that are there
        more = mmap(-1, n_bytes, MAP_PRIVATE | MAP_ANONYMOUS)
        kept = min(n_bytes, len(pages))
        more[:kept] = pages[:kept]
        return more
    return pages


def is_in_pages(values: NDArray[Any]) -> bool:
    """Whether an array is all that is in its pages."""
    return _pages_of(values) is not None


def _ask_for(pages: mmap, start: int, end: int) -> None:
    """Get the pages of these bytes, all of which are to be written; else each comes by itself."""
    first = start // PAGESIZE * PAGESIZE
    if end > first:
        with suppress(OSError):  # a system that does not know the call
            pages.madvise(POPULATE_WRITE, first, end - first)


def _pages_of(values: NDArray[Any]) -> mmap | None:
    """The pages that an array is all of; None where it has none."""
    base: Any = values
    while isinstance(base, np.ndarray):
        if base.nbytes != values.nbytes:
            return None
        base = base.base
    is_mapped = isinstance(base, memoryview) and isinstance(base.obj, mmap)
    return base.obj if is_mapped else None
