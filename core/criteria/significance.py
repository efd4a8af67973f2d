"""Tests of whether the classes of a table, or the means of numbers, depend on groups.

A test gives a statistic, its degrees of freedom and p, the probability of a statistic at least as large by chance. The
logarithm of p is kept, so that even the smallest p can be compared.

A `Test` computes many tests at once: `groups[..., i, :]` are the sums of group i, class weights or moments. Groups and
classes without weight are left out; where fewer than two of either remain, the statistic is 0 and p is 1. All sums are
added up in the order of groups and classes, so that the definition and the kernels get the same bits.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import LOG_10, log1p_each
from core.arithmetic.powers import power
from core.arithmetic.sums import in_column_order
from core.arithmetic.ties import TIE
from core.criteria.tails import log_chi_squared_tail, log_f_tail

SAME_LOG10_P = 1e-9  # two log10 p that differ by no more are equal


class Statistics(NamedTuple):
    """`statistic[...]` and `degrees_of_freedom[..., :]` of many tests: one number for chi-squared, two for F."""

    statistic: FloatArray
    degrees_of_freedom: FloatArray


Test = Callable[[FloatArray], Statistics]


@dataclass(frozen=True, slots=True)
class Significance:
    """The result of a test; the degrees of freedom are one number for chi-squared, between and within for F."""

    statistic: float
    degrees_of_freedom: tuple[float, ...]
    log10_p_value: float

    @property
    def p_value(self) -> float:
        """The probability itself; 0 where it is too small for a float."""
        return power(10.0, self.log10_p_value)


def significance(found: Statistics) -> Significance:
    """One test with its p-value."""
    statistic, degrees = float(found.statistic), tuple(found.degrees_of_freedom.tolist())
    return Significance(statistic, degrees, log10_p(statistic, degrees))


def significances(found: Statistics) -> list[Significance]:
    """Many tests, each with its p-value."""
    return [significance(Statistics(*one)) for one in zip(found.statistic, found.degrees_of_freedom, strict=True)]


def log10_p(statistic: float, degrees: Sequence[float]) -> float:
    """log10 of the probability of such a statistic by chance: chi-squared if there is one number of degrees, else F."""
    if min(degrees) <= 0:
        return 0.0
    tail = log_chi_squared_tail(statistic, *degrees) if len(degrees) == 1 else log_f_tail(statistic, *degrees)
    return tail / LOG_10


def most_significant(logs: FloatArray, statistics: FloatArray, tolerance: float = TIE) -> int:
    """The position of the smallest p, given as log10; among equal ones of the largest statistic, then the first.

    Statistics above 1 are equal within the tolerance in proportion.
    """
    is_equal = logs <= logs.min() + SAME_LOG10_P
    largest = statistics[is_equal].max()
    return int(np.argmax(is_equal & (statistics >= largest - tolerance * max(1.0, largest))))


def pearson(table: FloatArray) -> Significance:
    """Pearson's test of whether the columns of a table of weights depend on its rows."""
    return significance(pearson_tests(table))


def likelihood_ratio(table: FloatArray) -> Significance:
    """The likelihood-ratio test of whether the columns of a table of weights depend on its rows."""
    return significance(likelihood_ratio_tests(table))


def pearson_tests(groups: FloatArray) -> Statistics:
    """Whether classes depend on groups.

        chi^2 = sum_ik (O_ik - E_ik)^2 / E_ik        E_ik = weight of group i times weight of class k over the whole

    Pearson 1900.
    """
    sides = sides_of(groups)
    expected = expected_weights(*sides)
    return tests_of_tables(*sides, (groups - expected) ** 2 / np.where(expected > 0, expected, 1.0))


def likelihood_ratio_tests(groups: FloatArray) -> Statistics:
    """Whether classes depend on groups, by the ratio of likelihoods.

        G^2 = 2 sum_ik O_ik ln(O_ik / E_ik)        with 0 ln 0 = 0

    Wilks 1938. O - E sums to 0, so each term may have it subtracted: then no term is negative, and none cancel.
    """
    sides, some = sides_of(groups), groups > 0
    expected = expected_weights(*sides)
    excess = np.where(some, groups / np.where(some, expected, 1.0) - 1, 0.0)
    terms = np.where(some, expected * ((1 + excess) * log1p_each(excess) - excess), expected)
    return tests_of_tables(*sides, 2 * terms)


def sides_of(groups: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The weights of the groups, and those of the classes."""
    return in_column_order(groups), in_column_order(np.swapaxes(groups, -1, -2))


def expected_weights(of_groups: FloatArray, of_classes: FloatArray) -> FloatArray:
    """What each cell would weigh if classes did not depend on groups, from the weights of groups and of classes."""
    whole = in_column_order(of_groups)[..., None]
    return of_groups[..., :, None] * (of_classes / np.where(whole > 0, whole, 1.0))[..., None, :]


def tests_of_tables(of_groups: FloatArray, of_classes: FloatArray, terms: FloatArray) -> Statistics:
    """The tests whose statistic is the sum of the terms of all cells.

    They have (groups - 1) (classes - 1) degrees of freedom, counting groups and classes with some weight.
    """
    n_groups, n_classes = (of_groups > 0).sum(axis=-1), (of_classes > 0).sum(axis=-1)
    degrees = np.maximum(n_groups - 1, 0.0) * np.maximum(n_classes - 1, 0.0)
    statistic = in_column_order(terms.reshape(*terms.shape[:-2], -1))
    return Statistics(np.where(degrees > 0, statistic, 0.0), degrees[..., None])


def moment_tests(groups: FloatArray) -> Statistics:
    """`variance_tests` of moments: `groups[..., i, :]` are weight, weighted sum and weighted sum of squares.

    Means that differ by less than TIE of the numbers' size differ by rounding only, so the statistic is 0: otherwise
    two groups of one and the same number could differ beyond doubt.
    """
    weights = groups[..., 0]
    means = groups[..., 1] / np.where(weights > 0, weights, 1.0)
    rounding = TIE * TIE * in_column_order(groups[..., 2])
    return variance_tests(weights, means, np.maximum(groups[..., 2] - weights * means**2, 0.0), rounding)


def variance_tests(
    weights: FloatArray, means: FloatArray, variations: FloatArray, rounding: FloatArray | float = 0.0
) -> Statistics:
    """Whether groups of numbers differ in their means: analysis of variance. `variations` are the S_i.

        F = (sum_i N_i (m_i - m)^2 / (r - 1)) / (sum_i S_i / (N - r))        r groups of N_i, N in all

    Fisher 1925. Where the weight is no larger than the number of groups, the statistic is 0. The variation within the
    groups counts as at least TIE of the whole, so that F is finite. A variation between the groups of at most
    `rounding` counts as none.
    """
    whole, n_groups = in_column_order(weights), np.count_nonzero(weights > 0, axis=-1)
    mean = in_column_order(weights * means) / np.where(whole > 0, whole, 1.0)
    between = in_column_order(weights * (means - mean[..., None]) ** 2)
    within = in_column_order(variations)
    within = np.maximum(within, TIE * (between + within))
    degrees = np.stack([np.maximum(n_groups - 1.0, 0.0), np.maximum(whole - n_groups, 0.0)], axis=-1)
    can_differ = (degrees > 0).all(axis=-1) & (between > rounding)
    unit = np.where(can_differ, within * degrees[..., 0], 1.0)
    return Statistics(np.where(can_differ, between * degrees[..., 1] / unit, 0.0), degrees)
