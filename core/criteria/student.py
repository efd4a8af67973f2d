"""Confidence limits of a mean, given the spread of its samples (Student 1908)."""

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.criteria.binomial import beta_quantiles


def student_quantiles(degrees_of_freedom: FloatArray, beyond: float) -> FloatArray:
    """The t that |T| exceeds with probability `beyond`, from 1 degree of freedom on.

    t^2 / (v + t^2) has a beta distribution with 1/2 and v/2, so t follows from the quantiles of that.
    """
    v = degrees_of_freedom
    b = beta_quantiles(np.full_like(v, 0.5), v / 2, beyond)
    return np.sqrt(v * b / (1 - b))


def mean_limits(means: FloatArray, variances: FloatArray, weights: FloatArray, share: float) -> FloatArray:
    """`[i, output, (lower, upper)]`: the limits of each mean; weights count as samples. NaN below two samples.

    mean +- t sqrt(variance / (N - 1))        with N - 1 degrees of freedom
    """
    is_enough = weights >= 2
    degrees = np.where(is_enough, weights - 1, 1.0)
    reach = student_quantiles(degrees, 1 - share)[:, None] * np.sqrt(variances / degrees[:, None])
    reach = np.where(is_enough[:, None], reach, np.nan)
    return np.stack([means - reach, means + reach], axis=-1)
