"""Arrays in memory pages of their own, which return to the operating system as soon as an array is freed.

`malloc` keeps most of what is freed. If many arrays are made one after the other, kept for a while and joined in the
end, it would hold both the freed arrays and the joined one.

The pages are small ones. For arrays of 4 MB or more NumPy asks the system for large pages; the first write to one then
waits until 2 MB are found and cleared, which took three to four times as long on a virtual machine with mostly unused
memory. An array that will be written as a whole gets all its small pages in one call; one by one, each on its first
write, they took half as long again. An array grows by pages that are mapped after its own; if there is no space, its
pages are mapped elsewhere, without copying their content.
"""

from contextlib import suppress
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, PAGESIZE, mmap
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

POPULATE_WRITE = 23  # an advice for `madvise`, since Linux 5.14; Python has no name for it


def in_pages(shape: int | tuple[int, ...], dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """An array of zeros; a page takes no memory until it is written to."""
    n_bytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    if n_bytes == 0:
        return np.zeros(shape, dtype=dtype)
    return np.frombuffer(mmap(-1, n_bytes, MAP_PRIVATE | MAP_ANONYMOUS), dtype=dtype).reshape(shape)


def moved_to_pages(values: NDArray[Any]) -> NDArray[Any]:
    """A copy of the numbers in pages of their own; the array itself if it has such pages already."""
    if is_in_pages(values):
        return values
    moved = in_pages(values.shape, values.dtype)
    pages = _pages_of(moved)
    if pages is not None:
        _ask_for(pages, 0, len(pages))
    moved[:] = values
    return moved


class GrowingArray:
    """An array in pages of its own, to which rows can be appended; its type widens to hold all of them."""

    def __init__(self) -> None:
        self._pages, self._n_rows = mmap(-1, PAGESIZE, MAP_PRIVATE | MAP_ANONYMOUS), 0
        self._rows: NDArray[Any] | None = None  # an array of no rows, with the shape and type of all rows

    def add(self, rows: NDArray[Any]) -> None:
        """Append rows."""
        if self._rows is None:
            self._rows = rows[:0].copy()
        kind = np.result_type(self._rows, rows)
        if kind != self._rows.dtype:
            self._change_to(kind)
        begin, self._n_rows = self._n_rows, self._n_rows + len(rows)
        start, end = begin * self._width, self._n_rows * self._width
        if end > len(self._pages):
            # A page takes no memory until it is written to.
            self._pages = resized(self._pages, max(end, 2 * len(self._pages)))
        _ask_for(self._pages, start, end)
        self.part(begin, self._n_rows)[:] = rows

    def part(self, begin: int, end: int) -> NDArray[Any]:
        """A view of some rows; no such view may exist any more when rows are added."""
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
        """The size of a row in bytes."""
        assert self._rows is not None
        return int(np.prod(self._rows.shape[1:])) * self._rows.dtype.itemsize

    def _change_to(self, kind: np.dtype[Any]) -> None:
        changed = GrowingArray()
        changed.add(self.whole().astype(kind))
        self._pages, self._rows = changed._pages, changed._rows


def resized(pages: mmap, n_bytes: int) -> mmap:
    """Pages of another size with the same content, as far as it fits."""
    try:
        pages.resize(n_bytes)
    except SystemError:  # only Linux can resize a mapping
        more = mmap(-1, n_bytes, MAP_PRIVATE | MAP_ANONYMOUS)
        kept = min(n_bytes, len(pages))
        more[:kept] = pages[:kept]
        return more
    return pages


def is_in_pages(values: NDArray[Any]) -> bool:
    """Whether an array has pages of its own and fills them."""
    return _pages_of(values) is not None


def _ask_for(pages: mmap, start: int, end: int) -> None:
    """Allocate the pages of these bytes at once, since all will be written; else each is allocated on first write."""
    first = start // PAGESIZE * PAGESIZE
    if end > first:
        with suppress(OSError):  # a system without this advice
            pages.madvise(POPULATE_WRITE, first, end - first)


def _pages_of(values: NDArray[Any]) -> mmap | None:
    """The pages that an array fills; None where it has none of its own."""
    base: Any = values
    while isinstance(base, np.ndarray):
        if base.nbytes != values.nbytes:
            return None
        base = base.base
    is_mapped = isinstance(base, memoryview) and isinstance(base.obj, mmap)
    return base.obj if is_mapped else None
