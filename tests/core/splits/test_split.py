import numpy as np
import pytest

from core.splits.split import FEW_CUTS, MANY_VALUES, Split, SplitKind, n_below


def test_a_number_at_the_threshold_goes_left():
    split = Split(0, SplitKind.THRESHOLD, 2, threshold=1.5)
    assert split.branches(np.array([1.5, 1.5000000001, -np.inf, np.inf, np.nan])).tolist() == [0, 1, 0, 1, -1]


def test_ordinal_codes_are_compared_with_the_threshold():
    split = Split(0, SplitKind.THRESHOLD, 2, threshold=1.0)
    assert split.branches(np.array([0, 1, 2, -1], dtype=np.int32)).tolist() == [0, 0, 1, -1]


def test_categories_are_looked_up():
    split = Split(0, SplitKind.GROUPS, 2, branch_of=(0, 1, 1))
    assert split.branches(np.array([2, 0, -1, 1], dtype=np.int32)).tolist() == [1, 0, -1, 1]


@pytest.mark.parametrize("n_cuts", [0, 3, FEW_CUTS, FEW_CUTS + 1])
@pytest.mark.parametrize("n_values", [2, MANY_VALUES])
def test_a_number_at_a_cut_is_in_the_interval_before_it(n_cuts, n_values):
    cuts, values = np.arange(float(n_cuts)), np.resize([-np.inf, 0.0, 1e-9, 2.0, 63.5, 1e9], n_values)
    assert n_below(cuts, values).tolist() == [sum(cut < value for cut in cuts) for value in values]
