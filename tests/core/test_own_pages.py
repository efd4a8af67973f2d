"""Arrays in pages of their own hold what they are given, and give their memory back."""

import re
from pathlib import Path

import numpy as np
import pytest

from core.own_pages import ask_for_pages, in_pages, is_in_pages, moved_to_pages


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


def test_only_the_pages_of_some_rows_are_asked_for() -> None:
    pages, before = in_pages((1_000_000, 4)), resident_bytes()
    ask_for_pages(pages, 900_000, 1_000_000)
    assert resident_bytes() - before < 5_000_000
    assert not pages[890_000:].any()
    for elsewhere in (np.zeros(3), in_pages(0), pages[:, 0]):
        ask_for_pages(elsewhere, 0, len(elsewhere))
    assert resident_bytes() - before < 10_000_000


def resident_bytes() -> int:
    found = re.search(r"VmRSS:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found is not None
    return 1024 * int(found.group(1))
