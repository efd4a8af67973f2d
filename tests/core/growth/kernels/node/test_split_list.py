"""Sorted lists divided between two children, beside a division row by row."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.node.split_list import BOTH, LEFT, RIGHT, keep_in_list, split_list

pytestmark = pytest.mark.bounds

ROW_BITS = 8
FLAG, ROWS = np.uint32(1 << 31), np.uint32((1 << ROW_BITS) - 1)


@st.composite
def lists(draw: st.DrawFn) -> tuple[Any, Any, Any, bool]:
    """The values of a list in order, its entries, where each row goes, and whether all values differ."""
    n, is_distinct = draw(st.integers(1, 60)), draw(st.booleans())
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = np.sort(np.arange(n) if is_distinct else chance.integers(0, max(1, n // 3), n))
    rows = chance.permutation(1 << ROW_BITS)[:n].astype(np.uint32)
    side = chance.choice([LEFT, RIGHT, BOTH], 1 << ROW_BITS, p=draw(st.sampled_from([(0.5, 0.3, 0.2), (1, 0, 0)])))
    return values, entries_of(values, rows), side.astype(np.uint8), is_distinct


def entries_of(values: Any, rows: Any) -> Any:
    """The list of these rows: an entry is marked where its value is new, and the first never is."""
    return (np.diff(values, prepend=values[:1]) > 0).astype(np.uint32) << np.uint32(31) | rows


def piece(values: Any, entries: Any, side: Any, child: int, mark: int = 0) -> Any:
    """What one child gets; copies are marked."""
    rows = entries & ROWS
    goes = (side[rows] & (LEFT, RIGHT)[child]) > 0
    marks = np.where(side[rows] == BOTH, np.uint32(mark), np.uint32(0))
    return entries_of(values[goes], rows[goes]) | marks[goes]


@given(lists(), st.sampled_from([0, 1]), st.integers(0, 3), st.sampled_from([0, 1 << 12]))
def test_a_list_is_divided_as_its_rows_are(given_list: Any, keeper: int, start: int, mark: int) -> None:
    values, entries, side, is_distinct = given_list
    n, other = len(entries), np.zeros(len(entries) + 1, dtype=np.uint32)
    memory, marks = np.concatenate([np.full(start, FLAG), entries]), np.zeros(1 + BOTH, dtype=np.uint32)
    marks[BOTH] = mark
    kept, moved = split_list(memory, start, n, ROW_BITS, side, keeper, other, is_distinct, marks)
    assert memory[start : start + kept].tolist() == piece(values, entries, side, keeper, mark).tolist()
    assert other[:moved].tolist() == piece(values, entries, side, 1 - keeper, mark).tolist()
    assert (memory[:start] == FLAG).all()


@pytest.mark.parametrize("child", [0, 1])
@given(given_list=lists())
def test_a_list_keeps_what_one_child_gets(given_list: Any, child: int) -> None:
    values, entries, side, is_distinct = given_list
    memory = entries.copy()
    n_kept = keep_in_list(memory, 0, len(entries), ROW_BITS, side, child, is_distinct)
    assert memory[:n_kept].tolist() == piece(values, entries, side, child).tolist()
