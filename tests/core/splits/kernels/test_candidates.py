"""The kernels name the places and thresholds of the definition, bit for bit."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic import randomness
from core.arithmetic.arrays import CodeArray, FloatArray
from core.arithmetic.kernels import randomness as randomness_kernels
from core.growth.kernels.lists.problem import fill_list
from core.splits import candidates
from core.splits.candidates import CutPositions, DistinctValues
from core.splits.kernels import candidates as candidates_kernels
from core.splits.numeric import distinct_values

pytestmark = pytest.mark.bounds

N_CLASSES = 3
CHOOSE: dict[str, Callable[[DistinctValues, int], CutPositions]] = {
    "changes": lambda distinct, _: candidates.midpoints_at_changes(distinct),
    "frequency": lambda distinct, parts: candidates.equal_frequency(distinct, parts),
    "width": lambda distinct, parts: candidates.equal_width(distinct, parts),
    "random": lambda distinct, parts: candidates.at_random(distinct, parts, key=parts),
}

finite = st.floats(allow_nan=False, allow_infinity=False)
cells = st.one_of(
    st.integers(-3, 3).map(float),  # ties
    st.sampled_from([0.0, -0.0, 1.0, 1.0 + 2**-52, 1.0 - 2**-53, 1.7e308, -1.7e308, 5e-324]),  # and neighbours
    finite,
)


@st.composite
def columns(draw: st.DrawFn) -> tuple[FloatArray, CodeArray, FloatArray]:
    """Values, classes and weights."""
    n = draw(st.integers(1, 60))
    values = np.array(draw(st.lists(cells, min_size=n, max_size=n)))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = draw(st.sampled_from([np.ones(n), chance.random(n) + 0.1, 10.0 ** chance.integers(-3, 4, n)]))
    return values, chance.integers(0, draw(st.integers(1, N_CLASSES)), n).astype(np.int32), weights


def sorted_list(values: FloatArray, classes: CodeArray, before: int) -> tuple[Any, int]:
    """The column's list, which does not begin with the array it stands in, and the bits of its rows."""
    row_bits = max(1, (len(values) - 1).bit_length())
    entries = np.full(before + len(values) + 2, 2**32 - 1, dtype=np.uint32)
    buffers, class_bits = np.empty((2, len(values)), dtype=np.uint64), (N_CLASSES - 1).bit_length()
    n_known, is_distinct = fill_list(values, classes, class_bits, row_bits, buffers, entries[before:])
    assert n_known == len(values)
    assert is_distinct == (len(np.unique(values)) == len(values))
    return entries, row_bits


def by_definition(way: str, values: FloatArray, classes: CodeArray, weights: FloatArray, parts: int) -> Any:
    """Where the cuts lie in the sorted column, and their thresholds."""
    order = np.argsort(values, kind="stable")
    values, sums = values[order], np.eye(N_CLASSES)[classes[order]] * weights[order, None]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    positions = CHOOSE[way](distinct_values(values, sums, weights[order], last), parts)
    return last[positions.gaps] + 1, positions.thresholds


def by_kernel(way: str, entries: Any, start: int, bits: int, column: Any, parts: int) -> Any:
    values, _, weights = column
    n = len(values)
    positions, thresholds = np.zeros(max(n, parts), dtype=np.int64), np.zeros(parts)
    if way == "changes":
        n_positions = candidates_kernels.midpoints_at_changes(entries, start, n, bits, positions)
    elif way == "frequency":
        n_positions = candidates_kernels.equal_frequency(entries, start, n, bits, weights, parts, positions)
    elif way == "width":
        n_positions = candidates_kernels.equal_width(entries, start, n, bits, values, parts, positions, thresholds)
    else:
        key = np.uint64(parts)
        n_positions = candidates_kernels.at_random(entries, start, n, bits, values, parts, key, positions, thresholds)
    return positions[:n_positions] - start, thresholds[:n_positions]


@pytest.mark.parametrize("way", CHOOSE)
@given(column=columns(), parts=st.sampled_from([2, 3, 10, 70]), start=st.sampled_from([0, 5]))
def test_kernels_name_the_candidates_of_the_definition(way: str, column: Any, parts: int, start: int) -> None:
    values, classes, weights = column
    positions, thresholds = by_definition(way, values, classes, weights, parts)
    entries, bits = sorted_list(values, classes, start)
    found_places, found_thresholds = by_kernel(way, entries, start, bits, column, parts)
    assert found_places.tolist() == positions.tolist()
    if thresholds is not None:
        assert found_thresholds.tobytes() == thresholds.tobytes()


@given(columns(), st.sampled_from([0.0, 0.5, 1.0, 2.0, 7.3, 1e9]), st.sampled_from([0, 5]))
def test_a_place_is_allowed_from_the_first_with_enough_weight_before_it(column: Any, least: float, start: int) -> None:
    values, classes, weights = column
    entries, bits = sorted_list(values, classes, start)
    before = np.concatenate([[0.0], np.cumsum(weights[np.argsort(values, kind="stable")])])
    enough = np.flatnonzero(before >= least)
    mask = np.uint32(2**bits - 1)
    first = candidates_kernels.first_position(entries, start, len(values), mask, weights, least)
    assert int(first) - start == (enough[0] if len(enough) else len(values))


@given(columns())
def test_gaps_are_counted_between_two_places(column: Any) -> None:
    values, classes, _ = column
    entries, _ = sorted_list(values, classes, 5)
    is_new = np.diff(np.sort(values), prepend=np.sort(values)[0]) > 0
    assert candidates_kernels.n_gaps(entries, 5, 5 + len(values)) == is_new.sum()
    assert candidates_kernels.n_gaps(entries, 6, 4 + len(values)) == is_new[1:-1].sum()


@given(st.integers(0, 2**64 - 1), st.integers(0, 1_000_000))
def test_keys_name_the_draws_of_the_definition(key: int, number: int) -> None:
    below = randomness_kernels.key_of(np.uint64(key), number)
    assert int(below) == randomness.key_of(key, number)
    assert randomness_kernels.uniform(np.uint64(key)) == randomness.uniform(key)
