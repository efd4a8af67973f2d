import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.arithmetic.sums import sums_by
from core.splits.candidates import (
    DistinctValues,
    at_random,
    class_changes,
    equal_frequency,
    equal_width,
    every_cut,
    found_before,
    midpoint,
)
from tests.golden_tables import golden_samples

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(FINITE, FINITE)
def test_midpoint_separates_its_neighbours(a, b):
    low, high = sorted((a, b))
    if low < high:
        assert low <= midpoint(low, high) < high


@pytest.mark.parametrize(
    ("low", "high", "middle"),
    [
        (1.0, 2.0, 1.5),
        (0.36, 0.403, 0.3815),
        (0.103, 0.149, 0.126),
        (1e308, 1.5e308, 1.25e308),
        (-1.7e308, 1.7e308, 0.0),
        (1.0, math.nextafter(1.0, 2), 1.0),
        (0.0, 5e-324, 0.0),
    ],
)
def test_midpoints(low, high, middle):
    assert midpoint(low, high) == middle


def test_every_cut_lies_between_neighbours():
    assert every_cut(1).tolist() == []
    assert every_cut(4).tolist() == [0, 1, 2]


def test_only_54_and_85_separate_classes_of_temperature():
    samples = golden_samples("temperature")
    values, position = np.unique(samples.attributes.columns[0], return_inverse=True)
    by_value = sums_by(position, samples.target.statistics(samples.rows, samples.weights), len(values))
    cuts = every_cut(len(values))[class_changes(by_value)]
    assert [midpoint(values[cut], values[cut + 1]) for cut in cuts] == [54, 85]


@pytest.mark.parametrize(
    ("by_value", "changes"),
    [
        ([[1, 0], [2, 0]], [False]),  # one and the same class
        ([[1, 0], [0, 1]], [True]),
        ([[1, 1], [1, 1]], [True]),  # the same mix is still a change
        ([[1, 0], [1, 1], [0, 2]], [True, True]),
        ([[0.5, 0], [1e-6, 0], [0, 1]], [False, True]),
    ],
)
def test_class_changes_unless_both_sides_have_one_and_the_same_class(by_value, changes):
    assert class_changes(np.array(by_value, dtype=float)).tolist() == changes


def distinct(values, weights=None):
    weights = np.ones(len(values)) if weights is None else np.array(weights, dtype=float)
    return DistinctValues(np.array(values, dtype=float), weights[:, None], weights)


@pytest.mark.parametrize(
    ("weights", "bins", "gaps"),
    [
        ([1, 1, 1, 1], 2, [1]),
        ([1, 1, 1, 1], 4, [0, 1, 2]),
        ([5, 1, 1, 1], 4, [0, 1]),  # 2 and 4 of 8 are reached by the first value: repeats are dropped
        ([1, 1, 1, 5], 2, []),  # the half is reached only by the last value, and nothing lies after it
        ([0.1] * 10, 10, list(range(9))),  # shares met up to rounding
        ([1], 10, []),
    ],
)
def test_equal_frequency_cuts_after_the_value_that_reaches_each_share(weights, bins, gaps):
    assert equal_frequency(distinct(range(len(weights)), weights), bins).gaps.tolist() == gaps


def test_equal_width_keeps_the_smallest_threshold_of_a_gap():
    positions = equal_width(distinct([0, 1, 10]), 5)  # 2, 4, 6 and 8 lie in one gap
    assert positions.gaps.tolist() == [1]
    assert positions.all_thresholds(np.array([0.0, 1.0, 10.0])) == (2.0,)
    assert equal_width(distinct([0, 2, 4]), 2).all_thresholds(np.array([0.0, 2.0, 4.0])) == (2.0,)
    assert len(equal_width(distinct([3]), 5)) == 0


def test_equal_width_of_numbers_at_both_ends_of_float64():
    values = np.array([-1.7e308, 0.0, 1.7e308])
    thresholds = equal_width(distinct(values), 4).all_thresholds(values)
    assert thresholds == pytest.approx((-0.85e308, 0.0))


@given(st.lists(FINITE, min_size=1, max_size=6, unique=True), st.integers(0, 2**64 - 1), st.integers(1, 20))
def test_random_thresholds_separate_values(values, key, draws):
    ordered = np.sort(np.array(values))
    positions = at_random(distinct(ordered), draws, key)
    for position, gap in enumerate(positions.gaps):
        assert ordered[gap] <= positions.threshold(position, ordered) < ordered[gap + 1]


def test_random_thresholds_spread_evenly():
    values = np.arange(101.0)
    drawn = at_random(distinct(values), 2_000, 7)
    assert len(drawn) == 100  # every gap was met
    assert np.mean(drawn.thresholds - np.floor(drawn.thresholds)) < 0.15  # and the smallest in it kept


def test_cuts_found_before_that_separate_nothing_here_are_left_out():
    values = np.array([2.0, 3.0, 5.0])
    assert found_before(distinct(values), (1.0, 2.0, 2.5, 5.0, 9.0)).all_thresholds(values) == (2.0,)
