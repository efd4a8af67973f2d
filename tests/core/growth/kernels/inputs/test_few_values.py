"""Codes of a column of few values are those of `np.unique`, in the order in which values are met."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.growth.kernels.inputs.few_values import few_values, renamed
from tests.examples import examples

pytestmark = pytest.mark.bounds


@given(st.integers(0, 2**32), st.integers(1, 40), st.integers(1, 9))
@examples(40)
def test_values_are_numbered_as_they_are_met(seed: int, n: int, most: int) -> None:
    chance = np.random.default_rng(seed)
    values = chance.choice([0.0, -0.0, 1.0, -1.5, 1e300, 5e-324, 2.0, 3.0, np.nan, -7.0, 8.0], n)
    distinct, codes = np.full(most, np.nan), np.zeros(n, dtype=np.uint16)
    found = few_values(values, values.view(np.uint64), most, distinct, codes)
    met = list(dict.fromkeys(value + 0.0 for value in values[~np.isnan(values)].tolist()))
    if len(met) > most:
        assert found == most + 1
        return
    assert found == len(met)
    assert distinct[:found].tolist() == met
    assert codes.tolist() == [most if np.isnan(value) else met.index(value) for value in values]


def test_codes_get_new_names() -> None:
    codes = np.array([2, 0, 1, 3, 2], dtype=np.uint16)
    renamed(codes, np.array([5, 6, 7, 9], dtype=np.uint16))
    assert codes.tolist() == [7, 5, 6, 9, 7]
