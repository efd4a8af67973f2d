import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta, binom, binomtest, norm

from core.criteria.binomial import added_errors, two_sided_limits, upper_limits
from tests.examples import examples

LEVELS = (0.25, 0.01, 0.1, 0.5, 1e-4, 0.9)


@pytest.mark.parametrize("cf", LEVELS)
def test_limits_are_those_of_the_beta_distribution(cf):
    chance = np.random.default_rng(7)
    weights = np.concatenate([np.exp(chance.uniform(math.log(1e-3), math.log(1e9), 3_000)), np.full(100, 1e9)])
    errors = weights * chance.random(len(weights)) ** chance.choice([0.1, 1, 5, 30], len(weights))
    expected = beta.ppf(1 - cf, errors + 1, weights - errors)
    assert upper_limits(errors, weights, cf) == pytest.approx(expected, rel=1e-9, abs=0)


@examples(100)
@given(st.integers(1, 500), st.data(), st.sampled_from(LEVELS))
def test_at_the_limit_so_few_errors_are_seen_with_the_given_chance(n, data, cf):
    errors = data.draw(st.integers(0, n - 1))
    (limit,) = upper_limits(np.array([float(errors)]), np.array([float(n)]), cf)
    assert binom.cdf(errors, n, limit) == pytest.approx(cf, rel=1e-9)


def test_the_ends():
    limits = upper_limits(np.array([0.0, 3.0, 0.0, 0.4]), np.array([6.0, 3.0, 0.0, 0.4]), 0.25)
    assert limits.tolist() == [pytest.approx(1 - 0.25 ** (1 / 6), rel=1e-12), 1.0, 0.0, 1.0]


def test_figures_of_quinlans_book():
    # C4.5, section 4.2: U25%(0, 6) = 0.206, U25%(0, 9) = 0.143, U25%(0, 1) = 0.750
    limits = upper_limits(np.zeros(3), np.array([6.0, 9.0, 1.0]), 0.25)
    assert limits == pytest.approx([0.206, 0.143, 0.750], abs=6e-4)


def added(errors: float, n: float, cf: float) -> float:
    """The programs' rule, case by case."""
    if errors < 1:
        base = n * (1 - cf ** (1 / n))
        return base if errors == 0 else base + errors * (added(1.0, n, cf) - base)
    if errors + 0.5 >= n:
        return max(n - errors, 0)
    z, f = norm.ppf(1 - cf), (errors + 0.5) / n
    return (f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n) * n - errors


@given(st.floats(0.5, 1e6), st.floats(0, 1), st.sampled_from([0.25, 0.01, 0.5]))
def test_the_programs_approximation(n, share, cf):
    errors = n * share
    (found,) = added_errors(np.array([errors]), np.array([n]), cf)
    assert found == pytest.approx(added(errors, n, cf), rel=1e-9, abs=1e-9)


def test_nothing_errs_nowhere():
    assert added_errors(np.zeros(1), np.zeros(1), 0.25).tolist() == [0.0]


@examples(100)
@given(st.integers(1, 300), st.data())
def test_two_sided_limits_are_clopper_and_pearsons(n, data):
    counted = data.draw(st.integers(0, n))
    ((lower, upper),) = two_sided_limits(np.array([float(counted)]), np.array([float(n)]), 0.95)
    exact = binomtest(counted, n).proportion_ci(0.95, "exact")
    assert (lower, upper) == pytest.approx((exact.low, exact.high), rel=1e-9, abs=1e-12)


def test_nothing_counted_says_nothing():
    assert two_sided_limits(np.zeros(1), np.zeros(1), 0.95).tolist() == [[0.0, 1.0]]
