import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import nan_euclidean_distances

from core.ensembles.balance.neighbours import nearest, points_of, squared_distances, standard_deviation
from tests.core.building import table_of
from tests.core.strategies import tables

NUMBERS = np.array([np.nan, np.nan, np.nan])


def test_distances_of_numbers_with_holes_are_those_of_scikit_learn():
    chance = np.random.default_rng(0)
    points = np.where(chance.random((40, 3)) < 0.2, np.nan, chance.normal(size=(40, 3)))
    found = squared_distances(points[None], points[:, None], NUMBERS)
    wanted = nan_euclidean_distances(points, squared=True)
    is_known = ~np.isnan(wanted)
    np.fill_diagonal(is_known, False)
    assert found[is_known] == pytest.approx(wanted[is_known])
    assert np.isinf(found[np.isnan(wanted)]).all()


def test_categories_that_differ_cost_their_penalty():
    """The worked example of SMOTE-NC: 1 2 3 A B C, 4 6 5 A D E and 3 5 6 A B K (Chawla and others 2002)."""
    columns = {"a": [1, 4, 3], "b": [2, 6, 5], "c": [3, 5, 6], "d": ["A", "A", "A"], "e": ["B", "D", "B"]}
    points = points_of(table_of(columns | {"f": ["C", "E", "K"]}))
    median = 1.5
    penalties = np.array([np.nan, np.nan, np.nan, median**2, median**2, median**2])
    apart = squared_distances(points, points[0], penalties)
    assert apart.tolist() == [0.0, 9 + 16 + 4 + 2 * median**2, 4 + 9 + 9 + median**2]


def test_the_nearest_come_first_and_equals_in_their_order():
    points = np.array([[0.0], [2.0], [1.0], [1.0], [9.0]])
    found = nearest(points, points, np.array([np.nan]), 3, but_itself=True, kernels=False)
    assert found.tolist() == [[2, 3, 1], [2, 3, 0], [3, 0, 1], [2, 0, 1], [1, 2, 3]]


@given(tables(min_rows=3), st.integers(0, 2), st.sampled_from([0.0, 0.25, 1.0]), st.booleans())
def test_the_kernel_finds_the_same(table, n, penalty, but_itself):
    points = points_of(table)
    penalties = np.array([np.nan if attribute.is_numeric else penalty for attribute in table.schema])
    by_definition, by_kernel = (
        nearest(points, points, penalties, n, but_itself=but_itself, kernels=kernels) for kernels in (False, True)
    )
    assert by_definition.shape == (len(points), n)
    assert by_kernel.tolist() == by_definition.tolist()


def test_the_spread_of_numbers():
    assert standard_deviation(np.array([1.0, 3.0, 5.0])) == pytest.approx(np.sqrt(8 / 3))
