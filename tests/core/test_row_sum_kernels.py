"""Sums over rows in lanes are those of each column alone, in the order of the rows, to the last bit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.compiled_kernels import compiled
from core.lane_kernels import WIDTH
from core.row_sum_kernels import over_rows


@over_rows(0, 2 * WIDTH)
def known_weight_and_distance(values, weight, onto):  # type: ignore[no-untyped-def]
    """The weight of known values, and how far they are from what stands between both sums."""
    known = values.is_known()
    return weight.where(known), (weight * (values - onto(WIDTH)).size()).where(known)


@compiled
def add_up(rows, weights, start, end, numbers, stride, offset, onto, at):  # type: ignore[no-untyped-def]
    known_weight_and_distance(rows, weights, start, end, numbers, stride, offset, onto, at)


@given(st.integers(0, 10_000))
def test_sums_over_some_rows(seed: int) -> None:
    chance = np.random.default_rng(seed)
    n, stride, offset, at = int(chance.integers(1, 40)), 3 * WIDTH, WIDTH * int(chance.integers(3)), WIDTH
    numbers = np.where(chance.random((n, stride)) < 0.2, np.nan, chance.normal(size=(n, stride)))
    rows, weights = chance.integers(0, n, 30), chance.random(30)
    start, end = sorted(chance.integers(0, 31, 2).tolist())
    onto = chance.normal(size=5 * WIDTH)
    before, weight, distance = onto.copy(), np.zeros(WIDTH), np.zeros(WIDTH)
    for i in range(start, end):
        values = numbers[rows[i], offset : offset + WIDTH]
        weight += np.where(np.isnan(values), 0.0, weights[i])
        apart = weights[i] * np.abs(values - before[at + WIDTH : at + 2 * WIDTH])
        distance += np.where(np.isnan(values), 0.0, apart)
    add_up(rows, weights, start, end, numbers.ravel(), stride, offset, onto, at)
    assert onto[at : at + WIDTH].tolist() == weight.tolist()
    assert onto[at + 2 * WIDTH : at + 3 * WIDTH].tolist() == distance.tolist()
    untouched = np.ones(len(onto), dtype=np.bool_)
    untouched[at : at + WIDTH] = untouched[at + 2 * WIDTH : at + 3 * WIDTH] = False
    assert (onto[untouched] == before[untouched]).all()
