"""Rows between rows."""

import numpy as np
import pytest

from core.arithmetic.randomness import stream
from core.ensembles.balance.synthetic import (
    Between,
    between_any,
    between_neighbours,
    drawn_by,
    median_deviation,
    most_frequent,
    near_rows,
    new_rows,
)
from tests.core.building import table_of


def bits(seed=0):
    return stream(seed, "test")


def between(*triples):
    rows, others, positions = zip(*triples, strict=True)
    return Between(np.array(rows), np.array(others), np.array(positions))


def cells(table, column):
    return table.columns[column].tolist()


def test_numbers_lie_between_and_what_one_lacks_the_other_gives():
    table = table_of({"x": [1.0, 5.0, None, None]})
    made = new_rows(table, between((0, 1, 0.25), (0, 2, 0.9), (2, 1, 0.1), (2, 3, 0.5), (1, 1, 0.7)))
    assert cells(made, 0) == pytest.approx([2.0, 1.0, 5.0, np.nan, 5.0], nan_ok=True)


def test_numbers_of_any_size_stay_between_their_rows():
    table = table_of({"x": [-1e308, 1e308, 0.1, 0.1]})
    made = cells(new_rows(table, between((0, 1, 0.5), (0, 1, 0.999), (2, 3, 0.3))), 0)
    assert made == [0.0, pytest.approx(0.998e308), 0.1]


def test_without_neighbours_a_category_is_the_nearer_row_s():
    table = table_of({"colour": ["red", "blue", None]})
    made = new_rows(table, between((0, 1, 0.49), (0, 1, 0.5), (0, 2, 0.9), (2, 1, 0.1)))
    assert cells(made, 0) == [0, 1, 0, 1]


def test_with_neighbours_a_category_is_that_of_most_of_them():
    table = table_of({"colour": ["red", "blue", "blue", "red", None]})
    neighbours = np.array([[1, 2, 3], [0, 2, 4], [4, 4, 4], [0, 1, 2], [0, 1, 4]])
    made = new_rows(table, between((0, 1, 0.1), (1, 0, 0.9), (2, 4, 0.5), (3, 1, 0.0), (4, 0, 0.2)), neighbours)
    # Most; a tie goes to the earlier one; nobody knows, so its own; most; a tie again.
    assert cells(made, 0) == [1, 0, 1, 1, 0]


def test_the_most_frequent_of_known_codes():
    codes = np.array([[0, 1, 1], [-1, -1, 2], [-1, -1, -1], [2, 1, -1]], dtype=np.int32)
    assert most_frequent(codes, 3).tolist() == [1, 2, -1, 1]


def test_rows_are_drawn_by_how_often_they_count():
    assert drawn_by(np.array([2, 0, 1, 1]), np.array([0.0, 0.49, 0.5, 0.74, 0.75, 0.999])).tolist() == [
        0,
        0,
        2,
        2,
        3,
        3,
    ]


def test_pairs_are_of_different_rows_by_how_often_they_count():
    pairs = between_any(np.array([1, 3, 1]), 20_000, bits())
    assert (pairs.rows != pairs.others).all()
    assert np.bincount(pairs.rows) / 20_000 == pytest.approx([0.2, 0.6, 0.2], abs=0.02)
    of_first = np.bincount(pairs.others[pairs.rows == 0], minlength=3)
    assert of_first / of_first.sum() == pytest.approx([0.0, 0.75, 0.25], abs=0.03)
    assert 0 <= pairs.shares.min() < 0.01
    assert 0.99 < pairs.shares.max() < 1


def test_a_single_row_is_its_own_other():
    assert between_any(np.array([4]), 3, bits()).others.tolist() == [0, 0, 0]
    alone = near_rows(table_of({"x": [1.0]}), 5, kernels=False)
    assert alone.shape == (1, 0)
    assert between_neighbours(np.array([4]), alone, 3, bits()).others.tolist() == [0, 0, 0]


def test_others_are_drawn_from_the_neighbours():
    neighbours = np.array([[1, 2], [0, 2], [1, 0]])
    pairs = between_neighbours(np.array([1, 1, 1]), neighbours, 600, bits())
    assert {(row, other) for row, other in zip(pairs.rows.tolist(), pairs.others.tolist(), strict=True)} == {
        (0, 1), (0, 2), (1, 0), (1, 2), (2, 1), (2, 0)
    }  # fmt: skip


def test_categories_are_as_far_apart_as_the_middle_spread_of_numbers():
    assert median_deviation(np.array([[0.0, 0.0, 1.0], [2.0, 20.0, np.nan], [np.nan, 10.0, 1.0]])) == 1.0
    assert median_deviation(np.array([[0.0, 0.0], [2.0, 20.0]])) == 5.5
    assert median_deviation(np.empty((3, 0))) == 1.0
    assert np.isfinite(median_deviation(np.array([[-1e308], [1e308]])) ** 2)


def test_neighbours_look_at_categories_too():
    table = table_of({"x": [0.0, 0.11, 0.2, 4.0], "colour": ["red", "blue", "red", "blue"]})
    # The spread is 1.69: as far as that, another colour is farther than 0.2.
    assert near_rows(table, 1, kernels=False)[:, 0].tolist() == [2, 2, 0, 1]
