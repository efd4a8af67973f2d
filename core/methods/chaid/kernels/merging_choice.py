"""`merging.Pairs.most_similar`, compiled: the pair of groups that differ least.

At equal statistic, p rises with a pair's *kindness* (`kindness_of`). The last bits of p may differ from the
definition's, so the functions report whether those bits decided.
"""

from math import inf

import numpy as np

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import longer_list
from core.criteria.kernels.significance import VARIANCE, is_close, log10_p
from core.criteria.significance import SAME_LOG10_P
from core.methods.chaid import merging
from core.methods.chaid.kernels.merging_pairs import after, may_be_merged

ANY = -1  # in place of a group that must be one of the pair

just_above = compiled(merging.just_above)


@compiled
def most_similar(pairs, rules, n_groups, of, n_classes):
    """`merging.Pairs.most_similar`, with group `of` unless ANY: the pair, and whether rounding may have chosen it."""
    smallest, _ = next_unbeaten(pairs, rules, n_groups, of, -inf)
    a, b, _ = first_probable(pairs, rules, n_groups, of, just_above(smallest), -inf)
    degrees = pairs.degrees[pairs.positions[a], pairs.positions[b]]
    if rules.test != VARIANCE and not 0 < degrees < n_classes - 1:  # no pair has a larger p
        return a, b, False
    return most_probable(pairs, rules, n_groups, of)


@making_arrays
def most_probable(pairs, rules, n_groups, of):
    """`merging.most_probable`: the pair of largest p, and whether rounding may have chosen it.

    Pairs that no other beats are visited by rising statistic, until not even the kindest pair possible could win.
    """
    statistics, logs, n = np.empty(8), np.empty(8), 0
    kindest, largest = most_kindness(pairs, rules, n_groups), -inf
    statistic, kindness = next_unbeaten(pairs, rules, n_groups, of, -inf)
    while statistic < inf and log_of_test(rules, statistic, kindest) >= largest - 2 * SAME_LOG10_P:
        statistics, logs = longer_list(statistics, n, n + 1), longer_list(logs, n, n + 1)
        statistics[n], logs[n] = statistic, log_of_test(rules, statistic, kindness)
        largest = max(largest, logs[n])
        n += 1
        statistic, kindness = next_unbeaten(pairs, rules, n_groups, of, kindness)
    least, first, is_doubtful = largest - SAME_LOG10_P, n, False
    for i in range(n - 1, -1, -1):
        is_doubtful |= is_close(logs[i], least)
        first = i if logs[i] >= least else first
    a, b, is_unsure = first_probable(pairs, rules, n_groups, of, just_above(statistics[first]), least)
    return a, b, is_doubtful or is_unsure


@compiled
def is_asked_for(pairs, rules, a, b, of):
    """Whether two groups may be merged, and one of them is the requested group if there is one."""
    return may_be_merged(pairs, rules, a, b) and (of in (ANY, a, b))


@compiled
def most_kindness(pairs, rules, n_groups):
    """An upper bound of every pair's kindness: from all classes, or from the two lightest groups."""
    if rules.test != VARIANCE:
        return pairs.sums.shape[1] - 1.0
    lightest, second = inf, inf
    for a in range(n_groups):
        weight = pairs.group_sums[pairs.positions[a], 0]
        second = min(second, max(weight, lightest))
        lightest = min(lightest, weight)
    return -max((lightest + second) * (1.0 - TIE) - 2.0, 0.0)


@compiled
def next_unbeaten(pairs, rules, n_groups, of, kinder_than):
    """The smallest statistic of pairs kinder than `kinder_than` and its largest kindness; infinite if there is none."""
    smallest, kindest = inf, kinder_than
    for a in range(n_groups):
        i, b = pairs.positions[a], a + 1
        while b < n_groups and pairs.least[i] <= smallest:
            if is_asked_for(pairs, rules, a, b, of):
                statistic, kindness = (
                    pairs.statistic[i, pairs.positions[b]],
                    kindness_of(pairs, rules, i, pairs.positions[b]),
                )
                if kindness > kinder_than and statistic <= smallest:
                    kindest = max(kindest, kindness) if statistic == smallest else kindness
                    smallest = statistic
            b = after(b, n_groups, rules.has_order)
    return smallest, kindest


@compiled
def first_probable(pairs, rules, n_groups, of, limit, least):
    """The first pair with a statistic up to `limit` and a log10 p of at least `least`, and whether that is in doubt."""
    is_doubtful = False
    for a in range(n_groups):
        i, b = pairs.positions[a], a + 1
        while b < n_groups and pairs.least[i] <= limit:
            if is_asked_for(pairs, rules, a, b, of) and pairs.statistic[i, pairs.positions[b]] <= limit:
                if least == -inf:
                    return a, b, is_doubtful
                log = log_of(pairs, rules, i, pairs.positions[b])
                is_doubtful |= is_close(log, least)
                if log >= least:
                    return a, b, is_doubtful
            b = after(b, n_groups, rules.has_order)
    return 0, 0, True


@compiled
def log_of(pairs, rules, i, j):
    """log10 of p of the pair at two positions."""
    return log_of_test(rules, pairs.statistic[i, j], kindness_of(pairs, rules, i, j))


@compiled
def log_of_test(rules, statistic, kindness):
    """log10 of p of a statistic; 0 for F without degrees of freedom within the groups."""
    if rules.test == VARIANCE:
        return log10_p(statistic, 1.0, -kindness) if kindness < 0 else 0.0
    return log10_p(statistic, kindness, 0.0)


@compiled
def kindness_of(pairs, rules, i, j):
    """What p rises with at equal statistic: chi-squared's degrees of freedom, or minus those within groups for F."""
    return -pairs.degrees[i, j] if rules.test == VARIANCE else pairs.degrees[i, j]


@compiled
def n_present(pairs):
    """The number of classes that have weight."""
    n = 0
    for k in range(pairs.sums.shape[1]):
        total = 0.0
        for v in range(pairs.sums.shape[0]):
            total += pairs.sums[v, k]
        n += total > 0
    return n
