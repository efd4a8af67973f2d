import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from core.criteria.significance import likelihood_ratio, pearson, significance, variance_tests
from tests.examples import examples

CELLS = st.one_of(st.integers(0, 60), st.floats(0.25, 40)).map(float)


@st.composite
def tables(draw):
    n_rows, n_columns = draw(st.integers(1, 6)), draw(st.integers(1, 4))
    return np.array(draw(st.lists(CELLS, min_size=n_rows * n_columns, max_size=n_rows * n_columns))).reshape(
        n_rows, n_columns
    )


@st.composite
def groups_of_numbers(draw):
    numbers = st.lists(st.integers(-30, 30).map(float), min_size=1, max_size=8)
    return draw(st.lists(numbers, min_size=2, max_size=5))


def analysis_of_variance(weights, means, variations):
    return significance(variance_tests(weights, means, variations))


def moments(groups):
    arrays = [np.array(group) for group in groups]
    return (
        np.array([float(len(group)) for group in arrays]),
        np.array([group.mean() for group in arrays]),
        np.array([((group - group.mean()) ** 2).sum() for group in arrays]),
    )


@examples(200)
@given(tables(), st.sampled_from([(pearson, "pearson"), (likelihood_ratio, "log-likelihood")]))
def test_a_table_is_judged_as_scipy_does(table, test):
    ours, lambda_ = test
    full = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    found = ours(table)
    if min(full.shape) < 2:
        assert (found.statistic, found.degrees_of_freedom, found.p_value) == (0.0, (0.0,), 1.0)
        return
    expected = stats.chi2_contingency(full, correction=False, lambda_=lambda_)
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-9)
    assert found.degrees_of_freedom == (expected.dof,)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=1e-290)


@examples(200)
@given(groups_of_numbers())
def test_means_are_compared_as_scipy_does(groups):
    weights, means, variations = moments(groups)
    found = analysis_of_variance(weights, means, variations)
    if weights.sum() <= len(groups):
        assert (found.statistic, found.p_value) == (0.0, 1.0)
        return
    assume(variations.sum() > 0)
    expected = stats.f_oneway(*groups)
    assume(not np.isnan(expected.pvalue))  # where means are equal, rounding makes SciPy's F negative
    assert found.degrees_of_freedom == (len(groups) - 1, weights.sum() - len(groups))
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-8, abs=1e-290)


def test_a_weight_counts_like_so_many_rows():
    whole = analysis_of_variance(*moments([[1.0, 1.0, 2.0], [4.0, 6.0, 6.0]]))
    weights, means = np.array([3.0, 3.0]), np.array([4 / 3, 16 / 3])
    assert analysis_of_variance(weights, means, np.array([2 / 3, 8 / 3])).statistic == pytest.approx(whole.statistic)


def test_groups_without_weight_are_left_out():
    alone = analysis_of_variance(*moments([[1.0, 2.0], [4.0, 6.0]]))
    weights, means, variations = moments([[1.0, 2.0], [4.0, 6.0]])
    assert analysis_of_variance(np.append(weights, 0), np.append(means, 0), np.append(variations, 0)) == alone


def test_groups_that_do_not_vary_have_a_finite_statistic():
    found = analysis_of_variance(np.array([50.0, 50.0]), np.array([0.0, 1.0]), np.zeros(2))
    assert math.isfinite(found.statistic)
    assert math.isfinite(found.log10_p_value)
    assert found.statistic > 1e10


def test_numbers_that_are_all_the_same_differ_in_nothing():
    found = analysis_of_variance(np.array([5.0, 5.0]), np.array([2.0, 2.0]), np.zeros(2))
    assert (found.statistic, found.p_value) == (0.0, 1.0)


def test_p_values_too_small_for_a_float_can_still_be_told_apart():
    tables = [np.array([[n, 0.0], [0.0, n]]) for n in (5_000.0, 6_000.0)]
    smaller, larger = (pearson(table) for table in tables)
    assert smaller.p_value == larger.p_value == 0.0
    assert larger.log10_p_value < smaller.log10_p_value < -2_000
