import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.sorting import argsort_nonnegative

NUMBERS = st.one_of(
    st.floats(0.0, allow_nan=False), st.sampled_from([0.0, 5e-324, 0.1, 0.1 + 2**-56, 1.0, 1.0 + 2**-52])
)


@given(st.lists(NUMBERS, max_size=200))
def test_numbers_are_put_in_the_order_that_numpy_finds(numbers: list[float]) -> None:
    values = np.array(numbers, dtype=np.float64)
    assert argsort_nonnegative(values).tolist() == np.argsort(values, kind="stable").tolist()


@pytest.mark.parametrize("n", [1_000, 70_000])
def test_also_many_that_are_equal_up_to_their_last_bits(n: int) -> None:
    chance = np.random.default_rng(n)
    values = chance.integers(0, 50, n) / 49.0 * (1.0 + chance.integers(-2, 3, n) * 2.0**-52)
    assert argsort_nonnegative(values).tolist() == np.argsort(values, kind="stable").tolist()
