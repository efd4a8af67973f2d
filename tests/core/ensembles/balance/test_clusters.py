"""Rows that stand for clusters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.randomness import stream
from core.ensembles.balance.clusters import GROUP_ROWS, representatives, scaled
from tests.core.building import table_of
from tests.core.strategies import tables


def kept(table, n, times=None, seed=0, kernels=False):
    times = np.ones(table.n_rows, dtype=np.int64) if times is None else np.array(times)
    return representatives(table, times, n, stream(seed, "clusters"), kernels=kernels).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_every_heap_has_its_row_and_that_is_in_its_middle(seed):
    middles = [0.0, 100.0, 1000.0]
    table = table_of({"x": [middle + step for middle in middles for step in (-2.0, -1.0, 0.0, 1.0, 2.0)]})
    assert kept(table, 3, seed=seed) == [2, 7, 12]


def test_categories_make_heaps_too():
    table = table_of({"colour": ["red"] * 4 + ["blue"] * 3 + ["green"] * 2, "x": [0.0] * 9})
    rows = kept(table, 3)
    assert sorted(table.columns[0][rows].tolist()) == [0, 1, 2]


def test_rows_that_count_more_often_pull_the_centre():
    table = table_of({"x": [0.0, 1.0, 2.0, 3.0, 4.0]})
    assert kept(table, 1) == [2]
    assert kept(table, 1, times=[1, 1, 1, 1, 30]) == [4]


@given(tables(min_rows=2), st.data())
def test_as_many_rows_as_asked_for_whatever_the_table(table, data):
    n = data.draw(st.integers(1, table.n_rows))
    rows = kept(table, n)
    assert len(set(rows)) == n
    assert rows == kept(table, n, kernels=True)


def test_many_rows_are_clustered_in_groups():
    chance = np.random.default_rng(0)
    table = table_of({"x": chance.normal(size=2 * GROUP_ROWS + 1).tolist(), "y": chance.normal(size=4001).tolist()})
    rows = kept(table, 100, kernels=True)
    assert len(set(rows)) == 100
    assert table.columns[0][rows].mean() == pytest.approx(0.0, abs=0.35)
    assert table.columns[0][rows].std() == pytest.approx(1.0, abs=0.5)


def test_numbers_are_scaled_and_codes_are_not():
    points = np.array([[1e308, 0.0, 5.0], [-1e308, 2.0, 5.0], [np.nan, 1.0, np.nan]])
    found = scaled(points, np.array([False, True, False]))
    assert found[:2, 0].tolist() == [1.0, -1.0]
    assert found[:, 1].tolist() == [0.0, 2.0, 1.0]
    assert found[:2, 2].tolist() == [1.0, 1.0]
