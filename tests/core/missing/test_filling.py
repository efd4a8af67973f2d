import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.missing.filling import filled, filled_by_class, fills_of, weighted_median
from core.tables.schema import Attribute, Kind
from tests.core.building import table_of
from tests.core.strategies import tables

KINDS = {
    "grade": Attribute("grade", Kind.ORDINAL, ("low", "high")),
    "colour": Attribute("colour", Kind.CATEGORICAL, ("red", "green", "blue")),
}


def test_the_heaviest_category_and_the_weighted_median_fill():
    table = table_of(
        {"size": [1, 5, 2, None], "colour": ["red", "blue", None, "blue"], "grade": ["high", "low", None, None]}, KINDS
    )
    assert fills_of(table, np.array([1.0, 1.0, 1.0, 1.0])) == (2.0, 2.0, 0.0)  # low and high are even: the earlier
    assert fills_of(table, np.array([9.0, 1.0, 1.0, 1.0])) == (1.0, 0.0, 1.0)


def test_a_column_that_nobody_knows_stays_missing():
    table = table_of({"size": [None, None]})
    assert fills_of(table, np.ones(2)) == (None,)
    assert np.isnan(filled(table, (None,)).columns[0]).all()


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=9))
def test_with_equal_weights_the_median_is_the_ordinary_one(values):
    numbers = np.array(values, dtype=float)
    assert weighted_median(numbers, np.full(len(values), 0.1)) == np.median(numbers)


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=7))
def test_whole_weights_count_like_repeated_rows(rows):
    values, weights = (np.array(part, dtype=float) for part in zip(*rows, strict=True))
    assert weighted_median(values, weights) == np.median(np.repeat(values, weights.astype(int)))


def test_each_class_fills_from_its_own_rows_and_from_all_where_it_knows_none():
    table = table_of({"size": [1, None, 9, None, 9, None], "colour": ["red", "red", "blue", None, "blue", None]}, KINDS)
    classes = np.array([0, 0, 1, 1, 1, 2], dtype=np.int32)
    completed = filled_by_class(table, classes, np.ones(6))
    assert completed.columns[0].tolist() == [1, 1, 9, 9, 9, 9]
    assert completed.columns[1].tolist() == [0, 0, 2, 2, 2, 0]


@given(tables())
def test_filling_changes_missing_cells_only_and_leaves_none_where_any_is_known(table):
    fills = fills_of(table, np.ones(table.n_rows))
    completed = filled(table, fills)
    for before, after, fill in zip(table.columns, completed.columns, fills, strict=True):
        missing = np.isnan(before) if before.dtype == np.float64 else before < 0
        assert (after[~missing] == before[~missing]).all()
        assert after.dtype == before.dtype
        assert missing.all() if fill is None else (after[missing] == fill).all()


def test_a_median_between_the_largest_numbers_is_a_number():
    assert weighted_median(np.array([1.6e308, 1.7e308]), np.ones(2)) == pytest.approx(1.65e308)
