import numpy as np

from core.splits.split import Split, SplitKind


def test_a_number_at_the_threshold_goes_left():
    split = Split(0, SplitKind.THRESHOLD, 2, threshold=1.5)
    assert split.branches(np.array([1.5, 1.5000000001, -np.inf, np.inf, np.nan])).tolist() == [0, 1, 0, 1, -1]


def test_ordinal_codes_are_compared_with_the_threshold():
    split = Split(0, SplitKind.THRESHOLD, 2, threshold=1.0)
    assert split.branches(np.array([0, 1, 2, -1], dtype=np.int32)).tolist() == [0, 0, 1, -1]


def test_categories_are_looked_up():
    split = Split(0, SplitKind.GROUPS, 2, branch_of=(0, 1, 1))
    assert split.branches(np.array([2, 0, -1, 1], dtype=np.int32)).tolist() == [1, 0, -1, 1]
