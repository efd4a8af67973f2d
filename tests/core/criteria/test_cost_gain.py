import pytest

from core.criteria.cost_gain import nunez, tan_schlimmer


def test_tan_and_schlimmer_square_the_gain():
    assert tan_schlimmer(0.5, 2.0) == 0.125
    assert tan_schlimmer(0.5, 0.25) == 1.0


@pytest.mark.parametrize(
    ("gain", "cost", "w", "value"), [(1, 1, 1, 0.5), (1, 3, 0.5, 0.5), (2, 0, 1, 3), (1, 99, 0, 1)]
)
def test_nunez_divides_by_a_power_of_the_cost(gain, cost, w, value):
    assert nunez(gain, cost, w) == pytest.approx(value)


def test_a_gain_that_rounds_below_0_counts_as_none():
    assert tan_schlimmer(-1e-17, 1.0) == nunez(-1e-17, 1.0, 1.0) == 0.0
