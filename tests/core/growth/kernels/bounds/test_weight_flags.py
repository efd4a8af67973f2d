"""What entries weigh by their marks is what their rows weigh, to the last bit."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.bounds import block_sums as blocks
from core.growth.kernels.bounds import weight_flags as marks

pytestmark = pytest.mark.bounds

ROW_BITS = 13


@st.composite
def marked_entries(draw: st.DrawFn) -> tuple[Any, Any, Any, Any]:
    """The path to a node, entries with marks, and the class and the weight of each."""
    n, n_splits = draw(st.integers(blocks.MIDDLING + 1, 1 << ROW_BITS)), draw(st.integers(0, 9))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    path = np.concatenate([[draw(st.sampled_from([1.0, 0.3, 7e5]))], chance.random(n_splits)])
    classes, weights = chance.integers(0, blocks.MOST_LANES, n).astype(np.uint32), np.full(n, path[0])
    entries = chance.permutation(n).astype(np.uint32) | classes << np.uint32(ROW_BITS) | np.uint32(1 << 31)
    for split in range(1, len(path)):
        goes_both_ways = chance.random(n) < 0.3
        weights[goes_both_ways] *= path[split]
        entries[goes_both_ways] |= marks.flag_at(ROW_BITS, split)
    return path, entries, classes, weights


@given(marked_entries())
def test_marks_tell_weights(given_entries: Any) -> None:
    path, entries, classes, weights = given_entries
    n, by_flags = len(entries), np.empty(marks.MOST_KINDS)
    units, scale = np.zeros(marks.MOST_KINDS << marks.CLASS_BITS, dtype=np.uint64), np.empty(2)
    assert marks.has_kinds(len(path), n)
    marks.fill_kinds(path, len(path), n, weights.sum(), by_flags, units, scale)
    assert (by_flags[blocks.position_in(entries, marks.by_flags(ROW_BITS))] == weights).all()
    words = units[blocks.position_in(entries, marks.by_flags_and_class(ROW_BITS))]
    in_units = (words >> (classes.astype(np.uint64) * np.uint64(blocks.LANE))).astype(np.float64)
    assert np.abs(in_units - weights * scale[0]).sum() <= scale[1]
    assert np.sort(in_units)[-int(blocks.block_length(n)) :].sum() < 1 << blocks.LANE


def test_entries_have_room_for_some_marks() -> None:
    one_by_one = [int(marks.flag_at(20, n_path)) for n_path in range(12)]
    assert one_by_one == [0, *(1 << position for position in range(22, 31)), 0, 0]
    assert [marks.flag_at(8, n_path) > 0 for n_path in (1, marks.MOST_FLAGS, marks.MOST_FLAGS + 1)] == [1, 1, 0]


def test_few_rows_are_not_searched_by_marks() -> None:
    assert marks.has_kinds(1, blocks.MIDDLING + 1)
    assert not marks.has_kinds(1, blocks.MIDDLING)
    assert not marks.has_kinds(0, blocks.MIDDLING + 1)
