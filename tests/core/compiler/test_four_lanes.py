"""Four numbers side by side go step by step where each would go alone."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.compiler.compile import compiled
from core.compiler.four_lanes import FOUR_LANES, four_times, number_in_lane, stepping

pytestmark = pytest.mark.bounds


@stepping
def with_row(fours, numbers, factor, position):  # type: ignore[no-untyped-def]
    """The sum of numbers times a factor, the largest number so far, and its place."""
    total, most, where = fours
    here = numbers(0)
    is_more = here > most
    return total + here * factor, here.where(is_more, most), position.where(is_more, where)


@compiled
def go(numbers, factor, result):  # type: ignore[no-untyped-def]
    fours = four_times(1.0), four_times(-1.0), four_times(-2.0)
    for row in range(numbers.shape[0] // FOUR_LANES):
        fours = with_row(fours, FOUR_LANES * row, numbers, factor, row)
    total, most, where = fours
    for lane in range(FOUR_LANES):
        result[0, lane], result[1, lane] = number_in_lane(total, lane), number_in_lane(most, lane)
        result[2, lane] = number_in_lane(where, lane)


@given(st.lists(st.lists(st.floats(-1e9, 1e9), min_size=FOUR_LANES, max_size=FOUR_LANES), max_size=9), st.floats(-9, 9))
def test_every_lane_is_a_walk_of_its_own(rows: Any, factor: float) -> None:
    result = np.empty((3, FOUR_LANES))
    go(np.array(rows, dtype=np.float64).reshape(-1), factor, result)
    for lane in range(FOUR_LANES):
        total, most, where = 1.0, -1.0, -2.0
        for position, row in enumerate(rows):
            total += row[lane] * factor
            if row[lane] > most:
                most, where = row[lane], position
        assert result[:, lane].tolist() == [total, most, where]
