import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy import stats

from core.criteria.tails import log_chi_squared_tail, log_f_tail


def chi_squared_cases():
    chance = np.random.default_rng(7)
    degrees = np.exp(chance.uniform(math.log(0.3), math.log(2e4), 1_500))
    degrees = np.where(chance.random(1_500) < 0.7, np.ceil(degrees), degrees)
    return degrees * np.exp(chance.uniform(-3, 5, 1_500)), degrees


def f_cases():
    chance = np.random.default_rng(7)
    between = np.ceil(np.exp(chance.uniform(0, math.log(300), 1_500)))
    within = np.exp(chance.uniform(-2, math.log(1e6), 1_500))
    return np.exp(chance.uniform(-4, 5, 1_500)), between, within


def test_chi_squared_tails_are_those_of_scipy():
    statistics, degrees = chi_squared_cases()
    expected = stats.chi2.sf(statistics, degrees)
    is_float = expected > 1e-250  # below, scipy's own digits go
    tails = [math.exp(log_chi_squared_tail(*case)) for case in zip(statistics, degrees, strict=True)]
    assert is_float.sum() > 500
    assert np.array(tails)[is_float] == pytest.approx(expected[is_float], rel=1e-9, abs=0)


def test_f_tails_are_those_of_scipy():
    statistics, between, within = f_cases()
    expected = stats.f.sf(statistics, between, within)
    is_float = expected > 1e-250
    tails = [math.exp(log_f_tail(*case)) for case in zip(statistics, between, within, strict=True)]
    assert is_float.sum() > 500
    assert np.array(tails)[is_float] == pytest.approx(expected[is_float], rel=1e-9, abs=0)


@pytest.mark.parametrize(("statistic", "degrees"), [(3.0, 4), (20_000.0, 4), (27_256.7, 19_454), (1e5, 60), (1e6, 2)])
def test_far_tails_of_chi_squared_are_finite_sums(statistic, degrees):
    with localcontext(prec=50):
        x, term, total = Decimal(statistic) / 2, Decimal(1), Decimal(0)
        for k in range(degrees // 2):  # e^-x sum_k x^k / k!
            total, term = total + term, term * x / (k + 1)
        expected = float(total.ln() - x)
    assert log_chi_squared_tail(statistic, degrees) == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize(
    ("statistic", "between", "within"),
    [(1e-3, 4, 7.0), (3.0, 2, 1e6), (115.07, 40, 747.18), (22.15, 68, 22_899.8), (1_000.0, 10, 1e5), (1e13, 4, 5e5)],
)
def test_far_tails_of_f_are_finite_sums(statistic, between, within):
    with localcontext(prec=50):
        f, d1, d2 = Decimal(statistic), Decimal(between), Decimal(within)
        y, term, total = d2 / (d2 + d1 * f), Decimal(1), Decimal(0)
        for k in range(between // 2):  # y^a sum_k (a)_k / k! (1 - y)^k
            total, term = total + term, term * (d2 / 2 + k) / (k + 1) * (1 - y)
        expected = float(d2 / 2 * y.ln() + total.ln())
    assert log_f_tail(statistic, between, within) == pytest.approx(expected, rel=1e-13)


def test_everything_lies_above_nothing():
    assert log_chi_squared_tail(0.0, 3.0) == 0.0
    assert log_f_tail(0.0, 2.0, 9.0) == 0.0
