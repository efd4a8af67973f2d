"""Values by class, beside scipy's tests of the same rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from core.criteria.class_moments import class_moments, levene_tests, mean_tests


def columns(seed):
    """Whole weights, so that a row of weight 3 is three rows; a third class may be absent."""
    chance = np.random.default_rng(seed)
    n = int(chance.integers(8, 60))
    values = (chance.normal(size=n) + chance.choice([0.0, 3.0, 1e3])) * chance.choice([1e-6, 1.0, 1e6])
    classes = np.append([0, 0, 1, 1], chance.integers(0, 2 + chance.integers(2), n - 4)).astype(np.int32)
    return values, classes, chance.integers(1, 4, n).astype(np.float64)


def by_rows(values, classes, weights):
    repeated, of_class = np.repeat(values, weights.astype(int)), np.repeat(classes, weights.astype(int))
    return [repeated[of_class == k] for k in range(3) if (of_class == k).any()]


@given(st.integers(0, 10_000))
def test_both_tests_are_those_of_scipy(seed):
    values, classes, weights = columns(seed)
    moments, groups = class_moments(values, classes, weights, 3), by_rows(values, classes, weights)
    found = mean_tests([moments])[0]
    expected = stats.f_oneway(*groups)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-7)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-300)
    spread, expected = levene_tests([moments])[0], stats.levene(*groups, center="mean")
    assert spread.statistic == pytest.approx(expected.statistic, rel=1e-6, abs=1e-12)
    assert spread.p_value == pytest.approx(expected.pvalue, rel=1e-5)


@pytest.mark.parametrize("value", [0.1, 1e-30, 7.7e12])
def test_a_column_of_one_value_says_nothing_to_the_last_bit(value):
    moments = class_moments(np.full(9, value), np.arange(9, dtype=np.int32) % 2, np.full(9, 0.7), 2)
    assert mean_tests([moments])[0].statistic == 0
    assert levene_tests([moments])[0].statistic == 0


def test_classes_that_vary_alike_do_so_whatever_the_last_bits():
    values = np.array([0.0, 1.0, 0.1, 1.1, 0.0, 1.0, 0.1, 1.1])
    moments = class_moments(values, np.array([0, 0, 1, 1, 0, 0, 1, 1], dtype=np.int32), np.ones(8), 2)
    assert levene_tests([moments])[0].p_value == pytest.approx(1.0)


def test_no_row_at_all():
    moments = class_moments(np.empty(0), np.empty(0, dtype=np.int32), np.empty(0), 2)
    assert mean_tests([moments])[0].log10_p_value == 0
    assert levene_tests([moments])[0].log10_p_value == 0
