"""What heavy rows tell of the cuts of a column is true of all its rows."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.arrays import FloatArray
from core.compiler.eight_lanes import WIDTH
from core.growth.kernels.small.scratch import UNKNOWN
from core.growth.kernels.small.skip_light_columns import may_have_cut, take_heavy_rows

pytestmark = pytest.mark.bounds


class Room(NamedTuple):
    """What the kernels look at of their room."""

    position: FloatArray
    small_rows: FloatArray
    small_weights: FloatArray
    heavy_rows: FloatArray
    heavy_weights: FloatArray
    heavy_positions: FloatArray
    rough_limits: FloatArray


def drawn_room(seed: int, n_rows: int, spread: float) -> Room:
    """A node of so many rows of one column, of which some do not know the value."""
    chance = np.random.default_rng(seed)
    position = chance.permutation(n_rows)
    position[chance.random(n_rows) < 0.2] = UNKNOWN
    return Room(
        position[None, :].astype(np.uint16),
        np.arange(n_rows, dtype=np.uint16),
        np.exp(spread * chance.normal(size=n_rows)),
        np.zeros(WIDTH + 1, dtype=np.uint16),
        np.zeros(WIDTH + 1, dtype=np.float32),
        np.zeros(WIDTH, dtype=np.float32),
        np.zeros(5, dtype=np.float32),
    )


def most_on_both_sides(room: Room) -> float:
    """What the cut that leaves most on its lighter side leaves there."""
    position, weights = room.position[0], room.small_weights
    sides = [(weights[position < p].sum(), weights[(position >= p) & (position < UNKNOWN)].sum()) for p in position]
    return float(max(map(min, sides)))


@given(st.integers(0, 2**32), st.integers(2, 60), st.sampled_from([0.5, 3.0, 8.0]), st.floats(0.05, 0.6))
def test_a_column_that_is_passed_over_has_no_cut(seed: int, n_rows: int, spread: float, part: float) -> None:
    room = drawn_room(seed, n_rows, spread)
    weight = float(room.small_weights.sum())
    rest = take_heavy_rows(room, 0, n_rows, weight)
    if not may_have_cut(room, 0, weight, rest, part * weight):
        assert most_on_both_sides(room) < part * weight


@given(st.integers(0, 2**32), st.integers(2, WIDTH), st.floats(0.05, 0.6))
def test_a_column_of_heavy_rows_alone_is_passed_over_where_it_has_no_cut(seed: int, n_rows: int, part: float) -> None:
    room = drawn_room(seed, n_rows, 0.2)
    weight = float(room.small_weights.sum())
    rest = take_heavy_rows(room, 0, n_rows, weight)
    assert abs(rest) < 1e-6 * weight
    if abs(most_on_both_sides(room) - part * weight) > 1e-4 * weight:
        assert may_have_cut(room, 0, weight, rest, part * weight) == (most_on_both_sides(room) >= part * weight)
