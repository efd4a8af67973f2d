"""How surprising a table, or a difference of means, would be if nothing depended on anything.

A test gives a statistic, its degrees of freedom and p, the probability of a statistic at least as large by chance. p is
kept as its logarithm, so that tests which are all but certain can still be told apart.
"""

import math
from dataclasses import dataclass

import numpy as np

from core.criteria.tails import log_chi_squared_tail, log_f_tail
from core.table import FloatArray
from core.ties import TIE


@dataclass(frozen=True, slots=True)
class Significance:
    """What a test found; the degrees of freedom are one number for chi-squared, between and within for F."""

    statistic: float
    degrees_of_freedom: tuple[float, ...]
    log10_p_value: float

    @property
    def p_value(self) -> float:
        """The probability itself: 0 where it is too small to be told from 0."""
        return 10.0**self.log10_p_value


def pearson(table: FloatArray) -> Significance:
    """Pearson's test that the columns of a table of weights do not depend on its rows.

        chi^2 = sum_ij (O_ij - E_ij)^2 / E_ij        E_ij = row sum times column sum over the whole

    Pearson 1900. Rows and columns without weight are left out; with fewer than two of either nothing can depend.
    """
    observed = without_empty(table)
    expected = expected_weights(observed)
    return chi_squared(float(((observed - expected) ** 2 / expected).sum()), observed)


def likelihood_ratio(table: FloatArray) -> Significance:
    """The same by the ratio of likelihoods.

        G^2 = 2 sum_ij O_ij ln(O_ij / E_ij)        with 0 ln 0 = 0

    Wilks 1938.
    """
    observed = without_empty(table)
    some = observed > 0
    ratios = observed[some] / expected_weights(observed)[some]
    return chi_squared(max(0.0, 2 * float(observed[some] @ np.log(ratios))), observed)


def without_empty(table: FloatArray) -> FloatArray:
    """The table without its rows and columns of no weight."""
    return table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]


def expected_weights(table: FloatArray) -> FloatArray:
    """What each cell would weigh if columns did not depend on rows; the table has some weight."""
    return np.outer(table.sum(axis=1), table.sum(axis=0) / table.sum()) if table.size else table


def chi_squared(statistic: float, table: FloatArray) -> Significance:
    """A statistic of a table that has no empty rows or columns."""
    if min(table.shape) < 2:
        return Significance(0.0, (0.0,), 0.0)
    degrees = (table.shape[0] - 1) * (table.shape[1] - 1)
    return Significance(statistic, (float(degrees),), log_chi_squared_tail(statistic, degrees) / math.log(10))


def analysis_of_variance(weights: FloatArray, means: FloatArray, variations: FloatArray) -> Significance:
    """The test that groups of numbers have one mean; `variations` are the sums of squares about each group's own.

        F = (sum_i N_i (m_i - m)^2 / (r - 1)) / (sum_i S_i / (N - r))        r groups of N_i, N in all

    Fisher 1925. Groups without weight are left out; with fewer than two, or no more weight than groups, nothing can
    differ. What varies within the groups counts as at least TIE of the whole, so that F is finite.
    """
    some = weights > 0
    weights, means, variations = weights[some], means[some], variations[some]
    between_degrees, within_degrees = float(len(weights) - 1), float(weights.sum() - len(weights))
    if between_degrees < 1 or within_degrees <= 0:
        return Significance(0.0, (max(0.0, between_degrees), max(0.0, within_degrees)), 0.0)
    between = float(weights @ (means - weights @ means / weights.sum()) ** 2)
    within = max(float(variations.sum()), TIE * (between + float(variations.sum())))
    statistic = between / between_degrees / (within / within_degrees) if between > 0 else 0.0
    log10_p = log_f_tail(statistic, between_degrees, within_degrees) / math.log(10)
    return Significance(statistic, (between_degrees, within_degrees), log10_p)
