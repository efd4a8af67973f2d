"""In which form the kernels get a column."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.inputs.coding import FEW_VALUES, coding_of_few

pytestmark = pytest.mark.bounds

VALUES = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1 + 2.0**-52, 5e-324, -1e308, np.nan])


@given(st.lists(VALUES, min_size=1, max_size=60))
def test_codes_are_places_among_the_distinct_values(cells: list[float]) -> None:
    values = np.array(cells)
    known, coding = ~np.isnan(values), coding_of_few(values)
    if coding is None:
        assert not known.any()
        return
    distinct, positions = np.unique(values[known], return_inverse=True)
    assert coding.values is not None
    assert np.array_equal(coding.values, distinct)
    assert np.array_equal(coding.codes[known], positions)
    assert np.all(coding.codes[~known] == len(distinct))


@pytest.mark.parametrize(("n_values", "is_coded"), [(FEW_VALUES, True), (FEW_VALUES + 1, False)])
def test_many_values_are_not_coded(n_values: int, is_coded: bool) -> None:
    values = np.random.default_rng(0).permutation(np.tile(np.arange(n_values) * 0.1, 3))
    assert (coding_of_few(values) is not None) == is_coded
