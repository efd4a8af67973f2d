import numpy as np
import pytest
from scipy import stats

from core.criteria.student import mean_limits, student_quantiles


@pytest.mark.parametrize("beyond", [0.05, 0.01, 0.5])
def test_quantiles_are_those_of_students_distribution(beyond):
    degrees = np.array([1, 1.5, 2, 3.25, 10, 30, 999.5, 1e5, 1e8])
    assert student_quantiles(degrees, beyond) == pytest.approx(stats.t.ppf(1 - beyond / 2, degrees), rel=1e-9)


def test_limits_of_a_mean_are_the_textbooks():
    numbers = np.array([3.0, 5.0, 4.0, 8.0])
    limits = mean_limits(np.array([[numbers.mean()]]), np.array([[numbers.var()]]), np.array([4.0]), 0.95)
    expected = stats.t.interval(0.95, 3, numbers.mean(), stats.sem(numbers))
    assert limits[0, 0] == pytest.approx(expected, rel=1e-12)


def test_one_sample_says_nothing():
    assert np.isnan(mean_limits(np.ones((2, 1)), np.zeros((2, 1)), np.array([1.0, 0.0]), 0.95)).all()
