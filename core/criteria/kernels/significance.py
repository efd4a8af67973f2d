"""Kernels of the tests in `significance`, for one table: `groups[i, :]` are the sums of group i.

A test gives its statistic and its degrees of freedom between and within groups; chi-squared has none within. Sums are
added up in the order of the definition, so all but the likelihood ratio have the same bits.
"""

from core.arithmetic.kernels.logarithms import log1p
from core.arithmetic.logarithms import LOG_10
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.criteria.kernels.tails import log_chi_squared_tail, log_f_tail
from core.criteria.significance import SAME_LOG10_P

PEARSON, LIKELIHOOD_RATIO, VARIANCE = range(3)
LAST_BITS = 1e-13, 4e-16  # what the last bits of a logarithm of p may amount to: absolutely, and in proportion to it


@compiled
def statistic_of(test, groups, class_weights):
    """The statistic of the given test and its degrees of freedom.

    `class_weights` is scratch for as many numbers as a group has sums.
    """
    if test == VARIANCE:
        return variance(groups)
    statistic, degrees = pearson(groups, class_weights) if test == PEARSON else likelihood_ratio(groups, class_weights)
    return statistic, degrees, 0.0


@compiled
def pearson(groups, class_weights):
    """`significance.pearson`: chi-squared and its degrees of freedom, both 0 with fewer than two groups or classes."""
    whole, degrees = sides_of(groups, class_weights)
    statistic = 0.0
    if degrees == 0.0:
        return statistic, degrees
    for i in range(groups.shape[0]):
        weight = weight_of(groups, i)
        for k in range(groups.shape[1]):
            expected = weight * (class_weights[k] / whole)
            if expected > 0:
                statistic += (groups[i, k] - expected) ** 2 / expected
    return statistic, degrees


@compiled
def likelihood_ratio(groups, class_weights):
    """`significance.likelihood_ratio`: G^2 and its degrees of freedom, both 0 with fewer than two groups or classes."""
    whole, degrees = sides_of(groups, class_weights)
    statistic = 0.0
    if degrees == 0.0:
        return statistic, degrees
    for i in range(groups.shape[0]):
        weight = weight_of(groups, i)
        for k in range(groups.shape[1]):
            expected = weight * (class_weights[k] / whole)
            term = expected
            if groups[i, k] > 0:
                excess = groups[i, k] / expected - 1
                term = expected * ((1 + excess) * log1p(excess) - excess)
            statistic += 2 * term
    return statistic, degrees


@compiled
def sides_of(groups, class_weights):
    """The weight of the whole and the degrees of freedom; fills `class_weights`."""
    whole, n_groups, n_classes = 0.0, 0, 0
    for k in range(groups.shape[1]):
        class_weights[k] = 0.0
    for i in range(groups.shape[0]):
        weight = weight_of(groups, i)
        n_groups += weight > 0
        whole += weight
        for k in range(groups.shape[1]):
            class_weights[k] += groups[i, k]
    for k in range(groups.shape[1]):
        n_classes += class_weights[k] > 0
    return whole, float(max(n_groups - 1, 0) * max(n_classes - 1, 0))


@compiled
def weight_of(groups, i):
    """The weight of a group, summed over its classes."""
    weight = 0.0
    for k in range(groups.shape[1]):
        weight += groups[i, k]
    return weight


@compiled
def variance(groups):
    """`significance.moment_tests`: F with its degrees of freedom between and within groups."""
    whole, total, squares, between, within, n_groups = 0.0, 0.0, 0.0, 0.0, 0.0, 0
    for i in range(groups.shape[0]):
        weight = groups[i, 0]
        mean = groups[i, 1] / weight if weight > 0 else groups[i, 1]
        n_groups += weight > 0
        whole += weight
        total += weight * mean
        squares += groups[i, 2]
        within += max(groups[i, 2] - weight * mean**2, 0.0)
    centre = total / whole if whole > 0 else total
    for i in range(groups.shape[0]):
        weight = groups[i, 0]
        mean = groups[i, 1] / weight if weight > 0 else groups[i, 1]
        between += weight * (mean - centre) ** 2
    within = max(within, TIE * (between + within))
    of_groups, of_rows = max(n_groups - 1.0, 0.0), max(whole - n_groups, 0.0)
    if of_groups > 0 and of_rows > 0 and between > TIE * TIE * squares:
        return between * of_rows / (within * of_groups), of_groups, of_rows
    return 0.0, of_groups, of_rows


@compiled
def log10_p(statistic, between, within):
    """`significance.log10_p`: of F, or of chi-squared where `within` is 0."""
    if statistic <= 0:
        return 0.0
    tail = log_f_tail(statistic, between, within) if within > 0 else log_chi_squared_tail(statistic, between)
    return tail / LOG_10


@compiled
def most_significant(logs, statistics, n):
    """`significance.most_significant` of the first n, and whether rounding may have decided the choice."""
    smallest, largest, is_doubtful = logs[0], 0.0, False
    for i in range(n):
        smallest = min(smallest, logs[i])
    for i in range(n):
        is_doubtful |= is_close(logs[i], smallest + SAME_LOG10_P)
        if logs[i] <= smallest + SAME_LOG10_P:
            largest = max(largest, statistics[i])
    best = 0
    while logs[best] > smallest + SAME_LOG10_P or statistics[best] < largest - TIE * max(1.0, largest):
        best += 1
    return best, is_doubtful


@compiled
def is_close(log, limit):
    """Whether a logarithm of p is so near to a limit that its last bits decide on which side it is.

    The definition has other last bits: those of another gamma function, and of what is then added to them.
    """
    return abs(log - limit) <= LAST_BITS[0] + LAST_BITS[1] * abs(limit)
