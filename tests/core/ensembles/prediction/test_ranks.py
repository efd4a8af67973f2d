"""Ranks of values among thresholds: the kernel agrees with the definition, and ranks compare as numbers do."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from core.ensembles.prediction.kernels.ranks import rank_of, write_ranks
from core.ensembles.prediction.ranks import FIRST_CODE, MISSING_RANK, all_ranks, ranks_of, thresholds_of_codes

pytestmark = pytest.mark.bounds

NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([-1e308, 1e308, 5e-324, -0.0, 0.0, 0.1, 0.30000000000000004, 0.3, 7.0]),
)


@given(st.lists(st.lists(NUMBERS, max_size=40), min_size=1, max_size=3), st.lists(NUMBERS, max_size=30))
@example([[1e308, -7.976931348623158e307]], [0.0])  # farther apart than a float can say
def test_kernels_find_the_rank_of_the_definition(of_columns, others):
    columns = [np.unique(np.array(thresholds, dtype=np.float64)) for thresholds in of_columns]
    ranks = all_ranks(columns)
    for column, thresholds in enumerate(columns):
        values = np.array([*thresholds, *others, np.nan, np.inf, -np.inf])
        expected = ranks_of(values, thresholds)
        assert [rank_of(ranks, np.uint64(column), value) for value in values] == expected.tolist()
        together, positions = np.zeros(len(values) + 1, dtype=np.uint32), np.empty(len(values), dtype=np.uint32)
        shift, n = np.uint32(3), np.uint64(len(values))
        write_ranks(ranks, np.uint64(column), values, np.uint64(0), n, shift, positions, together, np.uint64(1))
        assert together[1:].tolist() == (expected << 3).tolist()


@given(st.lists(NUMBERS, min_size=1, max_size=20), NUMBERS)
def test_a_rank_is_above_that_of_a_threshold_if_the_value_is(thresholds, value):
    ascending = np.unique(np.array(thresholds))
    rank = ranks_of(np.array([value]), ascending)[0]
    assert [rank > of_threshold for of_threshold in ranks_of(ascending, ascending)] == (value > ascending).tolist()


def test_a_missing_value_is_above_nothing():
    assert ranks_of(np.array([np.nan]), np.array([1.0]))[0] == MISSING_RANK
    assert ranks_of(np.array([0.0]), np.array([1.0]))[0] > MISSING_RANK


@pytest.mark.parametrize("threshold", [-1.0, -0.5, 0.0, 0.5, 1.5, 3.0, 9.5])
def test_categories_compare_by_their_codes(threshold):
    thresholds, codes = thresholds_of_codes(4), np.arange(4.0)
    ranks = ranks_of(codes, thresholds)
    assert ranks.tolist() == (codes + FIRST_CODE).tolist()
    assert (ranks > ranks_of(np.array([threshold]), thresholds)[0]).tolist() == (codes > threshold).tolist()
