import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.config.options import Numeric, NumericKind
from core.growth.precut import bin_cuts, equal_count_cuts

NUMBERS = st.one_of(st.integers(-5, 5).map(float), st.floats(-1e6, 1e6), st.sampled_from([0.0, -0.0, 5e-324, -5e-324]))


@given(st.lists(NUMBERS, min_size=1, max_size=60), st.integers(2, 20))
def test_bins_of_equal_count_are_bins_of_equal_weight(values, bins):
    values = np.array(values)
    by_weight = bin_cuts(values, np.full(len(values), 2.0), Numeric(NumericKind.QUANTILE, bins=bins))
    assert equal_count_cuts(values, bins) == by_weight
    assert bin_cuts(values, np.ones(len(values)), Numeric(NumericKind.QUANTILE, bins=bins)) == by_weight


def test_the_ends_of_bins_are_those_of_all_rows():
    values = np.random.default_rng(1).permutation(1000).astype(np.float64)
    assert equal_count_cuts(values, 4) == (249.5, 499.5, 749.5)
    assert equal_count_cuts(np.zeros(1000), 4) == ()
