"""The compiled twin of the tests of `quest`, and of its choice of an attribute.

`statistics[column]` and `degrees[column, :]` are those of F, or of chi-squared, which has no degrees of freedom within.
"""

from math import inf, log

from numba import int64, uint64

from core.compiled_kernels import ask_for, compiled
from core.criteria.class_moments_kernels import (
    AHEAD,
    BETWEEN_DEGREES,
    OF_TEST,
    STATISTIC,
    WITHIN_DEGREES,
    add_up_moments,
    class_of,
    row_of,
    test_spread,
)
from core.criteria.significance import SAME_LOG10_P
from core.criteria.tails_kernels import log_chi_squared_tail, log_f_tail
from core.growth.quest import SAME_STATISTIC
from core.lane_kernels import WIDTH

LEAF = -1
NOT_TESTED = -1.0  # in place of a statistic


@compiled
def test_all(problem, work, rows, weights):
    """The first tests of all columns, and the sums that they are made of."""
    add_up_moments(problem, rows, weights, work.class_weights, work.moments, work.tests)
    for place in range(len(problem.ordered)):
        column, at = problem.ordered[place], (place // WIDTH) * OF_TEST + place % WIDTH
        work.statistics[column] = work.tests[at + STATISTIC]
        work.degrees[column, 0] = work.tests[at + BETWEEN_DEGREES]
        work.degrees[column, 1] = work.tests[at + WITHIN_DEGREES]
    add_up_tables(problem, work, rows, weights)
    for place in range(len(problem.nominal)):
        table = work.tables[problem.level_start[place] : problem.level_start[place + 1]]
        column = problem.nominal[place]
        work.statistics[column], work.degrees[column, 0] = pearson(table, work.of_classes[0])
        work.degrees[column, 1] = 0.0


@compiled
def add_up_tables(problem, work, rows, weights):
    """The weight of every class in every category; of rows that do not know theirs in one after all others."""
    cells, tables, n_nominal = problem.cells, work.tables, uint64(len(problem.nominal))
    if n_nominal == uint64(0):
        return
    tables[:] = 0.0
    first, bytes_a_row = uint64(cells.ctypes.data), uint64(cells.itemsize) * n_nominal
    i, n = uint64(0), uint64(rows.shape[0])
    while i < n:
        at, k, weight = row_of(rows[i]) * n_nominal, class_of(rows[i]), weights[i]
        ask_for(first + bytes_a_row * row_of(rows[min(i + AHEAD, n - uint64(1))]))
        end = at + n_nominal
        while at < end:
            tables[cells[at], k] += weight
            at += uint64(1)
        i += uint64(1)


@compiled
def pearson(table, class_weights):
    """`significance.pearson`: chi-squared and its degrees of freedom, both 0 where nothing can depend."""
    class_weights[:] = 0.0
    whole, n_levels, n_classes, statistic = 0.0, 0, 0, 0.0
    for level in range(table.shape[0]):
        level_weight = 0.0
        for k in range(table.shape[1]):
            class_weights[k] += table[level, k]
            level_weight += table[level, k]
        n_levels += level_weight > 0
        whole += level_weight
    for k in range(table.shape[1]):
        n_classes += class_weights[k] > 0
    if n_levels < 2 or n_classes < 2:
        return 0.0, 0.0
    for level in range(table.shape[0]):
        level_weight = 0.0
        for k in range(table.shape[1]):
            level_weight += table[level, k]
        for k in range(table.shape[1]):
            expected = level_weight * (class_weights[k] / whole)
            if expected > 0:
                statistic += (table[level, k] - expected) ** 2 / expected
    return statistic, float((n_levels - 1) * (n_classes - 1))


@compiled
def choice(problem, limits, work, rows, weights, is_spread_tested):
    """`quest.choice` among the columns left; whether Levene's test was needed, which is made once."""
    first, log10_p = most_significant(work.statistics, work.degrees, work.is_left, work.logs)
    if first == LEAF or log10_p < limits.log10_alpha:
        return first, is_spread_tested
    if not is_spread_tested:
        test_spread(problem, rows, weights, work.class_weights, work.moments, work.tests)
        work.levene[:] = NOT_TESTED
        for place in range(len(problem.ordered)):
            work.levene[problem.ordered[place]] = work.tests[(place // WIDTH) * OF_TEST + place % WIDTH + STATISTIC]
    best, log10_p = most_significant(work.levene, work.degrees, work.is_left, work.logs)
    if best != LEAF and log10_p < limits.log10_levene_alpha:
        return best, True
    return int64(LEAF) if limits.stops_if_insignificant else first, True


@compiled
def most_significant(statistics, degrees, is_left, logs):
    """`quest.most_significant` of the columns left that have a statistic, with its log10 p; `LEAF` where none has.

    Of tests with the same degrees of freedom only those of the largest statistic are worth working out p.
    """
    f, chi_squared = largest_of(statistics, degrees, is_left, True), largest_of(statistics, degrees, is_left, False)
    smallest, largest = inf, -inf
    for column in range(len(statistics)):
        logs[column] = inf
        best = f if degrees[column, 1] > 0 else chi_squared
        if is_left[column] and statistics[column] >= 0 and not is_beaten(statistics, degrees, column, best):
            logs[column] = log10_p_value(statistics[column], degrees[column, 0], degrees[column, 1])
            smallest = min(smallest, logs[column])
    for column in range(len(statistics)):
        if logs[column] <= smallest + SAME_LOG10_P and logs[column] < inf:
            largest = max(largest, statistics[column])
    for column in range(len(statistics)):
        is_equal = logs[column] <= smallest + SAME_LOG10_P and logs[column] < inf
        if is_equal and statistics[column] >= largest * (1 - SAME_STATISTIC):
            return int64(column), smallest
    return int64(LEAF), smallest


@compiled
def largest_of(statistics, degrees, is_left, is_f):
    """The column of the largest F, or chi-squared; -1 where there is none."""
    found = int64(-1)
    for column in range(len(statistics)):
        if is_left[column] and statistics[column] >= 0 and (degrees[column, 1] > 0) == is_f:
            if found < 0 or statistics[column] > statistics[found]:
                found = column
    return found


@compiled
def is_beaten(statistics, degrees, column, best):
    """Whether that one has the same degrees of freedom and a statistic that is larger beyond doubt."""
    return (
        statistics[column] < statistics[best] * (1 - SAME_STATISTIC)
        and degrees[best, 0] == degrees[column, 0]
        and degrees[best, 1] == degrees[column, 1]
    )


@compiled
def log10_p_value(statistic, between, within):
    """The logarithm of p: of F, or of chi-squared where nothing is within."""
    if statistic <= 0:
        return 0.0
    return (log_f_tail(statistic, between, within) if within > 0 else log_chi_squared_tail(statistic, between)) / log(
        10
    )
