"""Arrays in pages of their own hold what they are given, and give their memory back."""

import re
from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap
from pathlib import Path

import numpy as np
import pytest

from core.compiler.mapped_arrays import GrowingArray, in_pages, is_in_pages, moved_to_pages, resized


@pytest.mark.parametrize("shape", [0, 7, (5, 3), (4, 0)])
def test_what_is_moved_stays_the_same(shape: int | tuple[int, ...]) -> None:
    values = np.random.default_rng(0).integers(0, 9, shape).astype(np.int16)
    moved = moved_to_pages(values)
    assert moved.dtype == values.dtype
    assert np.array_equal(moved, values)
    assert moved.flags.writeable
    assert not in_pages(shape).any()


def test_an_array_is_moved_once() -> None:
    pages = in_pages((10, 2))
    assert is_in_pages(pages)
    assert moved_to_pages(pages) is pages
    part = pages[:, 0]  # the rest would stay with it
    assert not is_in_pages(part)
    assert not is_in_pages(np.zeros(3))
    assert np.array_equal(moved_to_pages(part), part)


def test_memory_is_given_back_at_once() -> None:
    before = resident_bytes()
    arrays = [moved_to_pages(np.ones(50_000)) for _ in range(100)]
    assert resident_bytes() - before > 35_000_000
    while arrays:
        arrays.pop()
    assert resident_bytes() - before < 5_000_000


def test_an_array_has_the_rows_that_were_added() -> None:
    growing, parts = GrowingArray(), []
    for n in (0, 5, 40_000, 0, 3, 90_000):
        parts.append(np.random.default_rng(n).integers(0, 9, (n, 2)).astype(np.int16))
        growing.add(parts[-1])
    assert np.array_equal(growing.part(3, 40_000), np.concatenate(parts)[3:40_000])
    whole = growing.whole()
    assert np.array_equal(whole, np.concatenate(parts))
    assert is_in_pages(whole)
    assert whole.flags.writeable


def test_an_array_that_grows_takes_no_more_memory_than_its_rows() -> None:
    rows, before, growing = np.ones(50_000), resident_bytes(), GrowingArray()
    for n_added in range(1, 151):
        growing.add(rows)
        if n_added in (30, 70, 150):
            assert resident_bytes() - before < n_added * rows.nbytes + 5_000_000
    whole = growing.whole()
    del growing, whole
    assert resident_bytes() - before < 5_000_000


def test_an_array_grows_in_a_type_that_holds_all_its_numbers() -> None:
    parts = [np.array([7], np.uint8), np.array([300], np.uint16), np.array([-1], np.int8), np.array([0.5, np.nan])]
    for n_parts in (1, 2, 3, 4):
        growing = GrowingArray()
        for part in parts[:n_parts]:
            growing.add(part)
        wanted = np.concatenate(parts[:n_parts])
        assert growing.whole().dtype == wanted.dtype
        assert growing.whole().tobytes() == wanted.tobytes()


def test_rows_of_no_numbers_can_be_added() -> None:
    growing = GrowingArray()
    growing.add(np.empty((5, 0)))
    growing.add(np.empty((7, 0)))
    assert growing.whole().shape == (12, 0)


def resident_bytes() -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found.group(1))


def test_pages_that_cannot_be_added_to_are_replaced() -> None:
    class Fixed(mmap):
        def resize(self, newsize: int) -> None:  # noqa: ARG002  # as on a system that cannot
            raise SystemError

    pages = Fixed(-1, 10, MAP_PRIVATE | MAP_ANONYMOUS)
    pages[:] = b"0123456789"
    assert resized(pages, 12)[:] == b"0123456789\0\0"
    assert resized(pages, 4)[:] == b"0123"
