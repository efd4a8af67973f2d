import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.splits.candidates import class_changes, every_cut, midpoint
from core.sums import sums_by
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
    values, place = np.unique(samples.attributes.columns[0], return_inverse=True)
    by_value = sums_by(place, samples.target.statistics(samples.rows, samples.weights), len(values))
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
