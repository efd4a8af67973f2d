import numpy as np

from core.arithmetic.sums import in_column_order, sums_by, weights_by


def test_weights_by_group_with_empty_groups():
    assert weights_by(np.array([2, 0, 2]), np.array([1.0, 2.0, 0.5]), 4).tolist() == [2.0, 0.0, 1.5, 0.0]
    assert weights_by(np.empty(0, dtype=np.int64), np.empty(0), 2).tolist() == [0.0, 0.0]


def test_statistics_by_group():
    sums = np.array([[1.0, 10.0], [2.0, 20.0], [4.0, 40.0]])
    assert sums_by(np.array([1, 0, 1], dtype=np.int32), sums, 3).tolist() == [[2.0, 20.0], [5.0, 50.0], [0.0, 0.0]]


def test_sums_run_in_row_order():
    rows = np.random.default_rng(0).random(1000)
    one_by_one = 0.0
    for value in rows:
        one_by_one += value
    assert weights_by(np.zeros(1000, dtype=np.int64), rows, 1)[0] == one_by_one


def test_sums_of_columns_run_in_their_order():
    rows = np.random.default_rng(0).random((2, 3, 1000))
    one_by_one = np.zeros((2, 3))
    for column in range(1000):
        one_by_one += rows[..., column]
    assert in_column_order(rows).tolist() == one_by_one.tolist()
