"""Sums over rows in lanes are those of each column alone, in the order of the rows, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiler.compile import compiled
from core.compiler.eight_lanes import WIDTH
from core.compiler.row_sums import over_rows

pytestmark = pytest.mark.bounds

APART = 4 * WIDTH


def known_weight_and_distance(values, weight, onto):  # type: ignore[no-untyped-def]
    """The weight of known values, and how far they are from what stands between both sums."""
    known = values.is_known()
    return weight.where(known), (weight * (values - onto(WIDTH)).size()).where(known)


of_one_block = over_rows(0, 2 * WIDTH)(known_weight_and_distance)
of_two_blocks = over_rows(0, 2 * WIDTH, blocks=2, apart=APART)(known_weight_and_distance)


@compiled
def add_up(n_blocks, rows, weights, start, end, numbers, stride, offset, onto, at):  # type: ignore[no-untyped-def]
    if n_blocks == 1:
        of_one_block(rows, weights, start, end, numbers, stride, offset, onto, at)
    else:
        of_two_blocks(rows, weights, start, end, numbers, stride, offset, onto, at)


@given(st.integers(0, 10_000), st.sampled_from([1, 2]))
def test_sums_over_some_rows(seed: int, n_blocks: int) -> None:
    chance = np.random.default_rng(seed)
    n, stride, offset, at = int(chance.integers(1, 40)), 3 * WIDTH, WIDTH * int(chance.integers(4 - n_blocks)), WIDTH
    numbers = np.where(chance.random((n, stride)) < 0.2, np.nan, chance.normal(size=(n, stride)))
    rows, weights = chance.integers(0, n, 30), chance.random(30)
    start, end = sorted(chance.integers(0, 31, 2).tolist())
    onto = chance.normal(size=at + 2 * APART)
    expected = onto.copy()
    for block in range(n_blocks):
        columns, sums = slice(offset + block * WIDTH, offset + (block + 1) * WIDTH), expected[at + block * APART :]
        weight, distance = sums[:WIDTH], sums[2 * WIDTH : 3 * WIDTH]
        weight[:] = distance[:] = 0.0
        for i in range(start, end):
            values = numbers[rows[i], columns]
            weight += np.where(np.isnan(values), 0.0, weights[i])
            apart = weights[i] * np.abs(values - sums[WIDTH : 2 * WIDTH])
            distance += np.where(np.isnan(values), 0.0, apart)
    add_up(n_blocks, rows, weights, start, end, numbers.ravel(), stride, offset, onto, at)
    assert onto.tolist() == expected.tolist()
