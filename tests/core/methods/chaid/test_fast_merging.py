from dataclasses import replace
from math import log10

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.criteria.significance import likelihood_ratio_tests, moment_tests, pearson_tests
from core.methods.chaid.fast_merging import fast_merged, rules_of
from core.methods.chaid.kernels.merging import DOUBT
from core.methods.chaid.merging import Categories, Merging, merged
from core.tables.target import Task
from tests.examples import examples

pytestmark = pytest.mark.bounds

TESTS_OF_CLASSES = (pearson_tests, likelihood_ratio_tests)
ALPHAS = st.sampled_from([0.05, 0.2, 0.01, 0.5, 1e-6])


def found_by_kernels(categories, how):
    """The groups by kernels, as `merged` tells them, and the logarithm of the adjusted p; DOUBT where they say so."""
    n = len(categories)
    branch_of = np.empty(n, dtype=np.int64)
    rules = rules_of(how, has_order=categories.has_order, missing_code=n - 1 if categories.has_missing else -1)
    n_groups, log = fast_merged(categories.sums, categories.weights, rules, branch_of, bonferroni=how.bonferroni)
    if n_groups == DOUBT:
        return DOUBT
    groups = tuple(tuple(np.flatnonzero(branch_of == branch).tolist()) for branch in range(n_groups))
    return (groups, log) if n_groups > 1 else None


def assert_same(categories, how):
    found, expected = found_by_kernels(categories, how), merged(categories, how)
    if found == DOUBT:
        return False
    if expected is None or found is None:
        assert found is expected
    else:
        assert found[0] == expected.groups
        assert found[1] == pytest.approx(expected.log10_adjusted_p, rel=1e-12, abs=1e-12)
    return True


@st.composite
def ways_to_merge(draw, tests):
    alpha = draw(ALPHAS)
    alpha_merge = None if draw(st.integers(0, 3)) == 0 else alpha
    alpha_split = alpha if alpha_merge is not None and draw(st.booleans()) else None
    min_weight = float(draw(st.sampled_from([1, 20, 80])))
    return Merging(draw(st.sampled_from(tests)), alpha_merge, alpha_split, min_weight, draw(st.booleans()))


@st.composite
def categories_of_classes(draw, most=18):
    """Few shares for many categories, so that many tests tie; some classes only few categories have."""
    n, n_classes = draw(st.integers(2, most)), draw(st.sampled_from([1, 2, 2, 3, 4, 9]))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    shares = chance.dirichlet(np.full(n_classes, 0.6), size=draw(st.integers(1, 4)))
    rows = chance.integers(1, draw(st.sampled_from([3, 40, 400])), n)
    sums = np.stack([chance.multinomial(k, shares[i % len(shares)]) for i, k in enumerate(rows)]).astype(np.float64)
    if draw(st.booleans()):
        sums *= chance.choice([0.25, 0.7, 1.0, 1.9], size=(n, 1))
    return Categories(sums, sums.sum(axis=1), Task.CLASSIFICATION, draw(st.booleans()), draw(st.booleans()))


@st.composite
def categories_of_numbers(draw, most=18):
    n = draw(st.integers(2, most))
    chance = np.random.default_rng(draw(st.integers(0, 2**32)))
    means, spread = chance.integers(0, 4, n), draw(st.sampled_from([0.0, 0.5, 3.0]))
    numbers = [np.round(chance.normal(mean, spread, chance.integers(1, 30)), 1) for mean in means]
    weights = [chance.choice([0.5, 1.0, 2.5], len(y)) if draw(st.booleans()) else np.ones(len(y)) for y in numbers]
    centre = float(np.concatenate(numbers).mean())
    moments = [[w.sum(), w @ (y - centre), w @ (y - centre) ** 2] for y, w in zip(numbers, weights, strict=True)]
    sums = np.array(moments)
    return Categories(sums, sums[:, 0].copy(), Task.REGRESSION, draw(st.booleans()), draw(st.booleans()))


@examples(400)
@given(categories_of_classes(), ways_to_merge(TESTS_OF_CLASSES))
def test_groups_of_classes_are_those_of_the_definition(categories, how):
    assert_same(categories, how)


@examples(400)
@given(categories_of_numbers(), ways_to_merge((moment_tests,)))
def test_groups_of_numbers_are_those_of_the_definition(categories, how):
    assert_same(categories, how)


@pytest.mark.parametrize("alpha_split", [None, 0.05])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_groups_of_many_categories_are_those_of_the_definition_without_a_doubt(n_classes, alpha_split):
    chance = np.random.default_rng(n_classes)
    shares = chance.dirichlet(np.ones(n_classes), size=5)
    sums = np.stack([chance.multinomial(k, shares[i % 5]) for i, k in enumerate(chance.integers(1, 300, 120))])
    sums = sums.astype(np.float64)
    categories = Categories(sums, sums.sum(axis=1), Task.CLASSIFICATION, has_order=False, has_missing=False)
    for alpha_merge in (0.05, 0.3):
        assert assert_same(categories, Merging(pearson_tests, alpha_merge, alpha_split, 50.0, bonferroni=True))
    assert assert_same(categories, Merging(pearson_tests, None, None, 50.0, bonferroni=True))


def test_groups_divided_again_are_those_of_the_definition():
    # 2 and 3 join 4, then 1 joins them, though 1 by itself differs from the three.
    sums = np.array([[63, 21], [54, 66], [33, 54], [30, 72], [42, 72]], dtype=np.float64)
    categories = Categories(sums, sums.sum(axis=1), Task.CLASSIFICATION, has_order=False, has_missing=False)
    for alpha, groups in ((None, ((0,), (1, 2, 3, 4))), (0.05, ((0,), (1,), (2, 3, 4)))):
        how = Merging(pearson_tests, 0.05, alpha, 1.0, bonferroni=True)
        assert found_by_kernels(categories, how)[0] == groups


def test_codes_without_rows_are_in_no_group():
    sums = np.array([[0, 0], [40, 10], [0, 0], [10, 40], [39, 11], [0, 0]], dtype=np.float64)
    how, branch_of = Merging(pearson_tests, 0.05, 0.05, 1.0, bonferroni=False), np.empty(6, dtype=np.int64)
    rules = rules_of(how, has_order=True, missing_code=5)
    assert fast_merged(sums, sums.sum(axis=1), rules, branch_of, bonferroni=False).n_groups == 3
    assert branch_of.tolist() == [-1, 0, -1, 1, 2, -1]


def test_where_rounding_would_decide_the_kernels_are_in_doubt():
    sums = np.array([[40, 10], [30, 20], [10, 40]], dtype=np.float64)
    categories = Categories(sums, sums.sum(axis=1), Task.CLASSIFICATION, has_order=True, has_missing=False)
    how = Merging(pearson_tests, 0.5, None, 1.0, bonferroni=False)
    pair = merged(replace(categories, sums=sums[:2], weights=categories.weights[:2]), replace(how, alpha_merge=0.99))
    at_the_edge = replace(how, alpha_merge=pair.significance.p_value)
    assert found_by_kernels(categories, at_the_edge) == DOUBT
    assert (
        found_by_kernels(categories, replace(how, alpha_merge=10 ** (log10(at_the_edge.alpha_merge) + 1e-9))) != DOUBT
    )
