import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.kernels.significance import LIKELIHOOD_RATIO, PEARSON, VARIANCE, statistic_of
from core.criteria.kernels.significance import log10_p as fast_log10_p
from core.criteria.kernels.significance import most_significant as fast_most_significant
from core.criteria.significance import likelihood_ratio_tests, log10_p, moment_tests, most_significant, pearson_tests
from tests.examples import examples

pytestmark = pytest.mark.bounds

CELLS = st.one_of(st.integers(0, 60), st.floats(0.25, 40)).map(float)


@st.composite
def tables(draw, n_columns):
    n, width = draw(st.integers(1, 12)), draw(n_columns)
    return np.array(draw(st.lists(CELLS, min_size=n * width, max_size=n * width))).reshape(n, width)


def by_kernel(test, table):
    return statistic_of(test, table, np.empty(table.shape[1]))


@examples(200)
@given(tables(st.integers(1, 12)))
def test_pearson_has_the_bits_of_the_definition(table):
    expected = pearson_tests(table)
    assert by_kernel(PEARSON, table) == (float(expected.statistic), float(expected.degrees_of_freedom[0]), 0.0)


@examples(200)
@given(tables(st.integers(1, 12)))
def test_likelihood_ratios_are_those_of_the_definition(table):
    expected = likelihood_ratio_tests(table)
    statistic, degrees, within = by_kernel(LIKELIHOOD_RATIO, table)
    assert statistic == pytest.approx(float(expected.statistic), rel=1e-12, abs=1e-12)
    assert (degrees, within) == (float(expected.degrees_of_freedom[0]), 0.0)


@examples(200)
@given(tables(st.just(2)), st.data())
def test_variance_has_the_bits_of_the_definition(table, data):
    weights, spread = table.T
    means = np.array(data.draw(st.lists(st.floats(-5, 5), min_size=len(table), max_size=len(table))))
    moments = np.stack([weights, weights * means, weights * means**2 + spread], axis=1)
    expected = moment_tests(moments)
    assert by_kernel(VARIANCE, moments) == (float(expected.statistic), *expected.degrees_of_freedom.tolist())


@examples(200)
@given(st.floats(0, 400), st.floats(1, 40), st.one_of(st.just(0.0), st.floats(0.25, 300)))
def test_logarithms_are_those_of_the_definition(statistic, between, within):
    degrees = (between,) if within == 0 else (between, within)
    expected = log10_p(statistic, degrees)
    assert fast_log10_p(statistic, between, within) == pytest.approx(expected, rel=1e-13, abs=1e-14)


@examples(200)
@given(st.lists(st.tuples(st.sampled_from([-3.0, -3.0 + 1e-10, -2.9, -1.0]), st.sampled_from([4.0, 4.5])), min_size=1))
def test_the_most_significant_is_that_of_the_definition(tests):
    logs, statistics = (np.array(each) for each in zip(*tests, strict=True))
    assert fast_most_significant(logs, statistics, len(logs)) == (most_significant(logs, statistics), False)


def test_a_logarithm_at_the_edge_of_equality_is_in_doubt():
    logs = np.array([-3.0, -3.0 + 1e-9])
    assert fast_most_significant(logs, np.array([4.0, 5.0]), 2)[1]
