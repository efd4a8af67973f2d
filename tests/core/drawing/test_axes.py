import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.drawing.axes import Axis, amount_axis, count_axis


def assert_usable(axis: Axis, *numbers: float) -> None:
    """Every number and tick stands on the line, and there are neither too few nor too many ticks."""
    first, last = sorted((axis.start, axis.end))
    for number in (*numbers, *axis.ticks):
        assert first - 1e-6 <= axis.position(number) <= last + 1e-6
    assert 1 <= len(axis.ticks) <= 12
    assert list(axis.ticks) == sorted(set(axis.ticks))


@given(st.integers(1, 10**6), st.integers(0, 10**6))
def test_counts(smallest, more):
    axis = count_axis(smallest, smallest + more, 80.0, 800.0)
    assert_usable(axis, smallest, smallest + more)
    assert all(tick == int(tick) for tick in axis.ticks)
    assert axis.is_logarithmic == (smallest + more > 20 * smallest)


@given(st.floats(0, 1e12), st.floats(0, 1e12))
def test_amounts(one, other):
    smallest, largest = sorted((one, other))
    axis = amount_axis(smallest, largest, 400.0, 80.0)
    assert_usable(axis, largest)
    assert axis.position(axis.low) == pytest.approx(400)
    assert axis.low == 0 or axis.low <= smallest * (1 + 1e-9)


@pytest.mark.parametrize(
    ("smallest", "largest", "ticks"),
    [
        (0.0, 0.37, (0.0, 0.1, 0.2, 0.3, 0.4)),
        (0.0, 0.0, (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        (0.3, 0.35, (0.3, 0.31, 0.32, 0.33, 0.34, 0.35)),
        (5.0, 5.0, (0.0, 1.0, 2.0, 3.0, 4.0, 5.0)),
    ],
)
def test_ticks_are_round_numbers(smallest, largest, ticks):
    assert amount_axis(smallest, largest, 400.0, 80.0).ticks == pytest.approx(ticks)


def test_few_counts_are_all_named_and_many_by_powers_of_ten():
    assert count_axis(1, 6, 80.0, 800.0).ticks == (1, 2, 3, 4, 5, 6)
    assert count_axis(2, 300, 80.0, 800.0).ticks == (2, 5, 10, 20, 50, 100, 200)
    assert count_axis(1, 40_000, 80.0, 800.0).ticks == (1, 10, 100, 1_000, 10_000)
