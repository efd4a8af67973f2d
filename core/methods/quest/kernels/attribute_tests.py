"""`quest.tests_of` and `quest.choice`, compiled: the tests of all columns, and the choice among them.

`statistics[column]` and `degrees[:, column]` are those of F or of chi-squared; the latter has 0 within-degrees.
"""

from math import inf

from numba import int64, uint64

from core.compiler.compile import compiled, prefetch
from core.compiler.eight_lanes import WIDTH
from core.compiler.row_sums import AHEAD
from core.criteria.kernels.class_moments import (
    BETWEEN_DEGREES,
    OF_TEST,
    STATISTIC,
    WITHIN_DEGREES,
    add_up_moments,
    test_means,
    test_spread,
)
from core.criteria.kernels.significance import log10_p, pearson
from core.criteria.significance import SAME_LOG10_P
from core.methods.quest.quest import SAME_STATISTIC

LEAF = -1
NOT_TESTED, NOT_ASKED, WAITS = -1.0, 1.0, 2.0  # the first in place of a statistic, the others of log10 p


@compiled
def test_all(problem, work, grouped, tables, has_tables):
    """Test all columns by the first tests, with the sums these need; tables are summed up unless already filled."""
    width = problem.width
    add_up_moments(problem.numbers, width, problem.has_missing, grouped, work.class_weights, work.moments)
    test_means(width, work.class_weights, work.moments, work.tests)
    for position in range(len(problem.ordered)):
        column, at = problem.ordered[position], (position // WIDTH) * OF_TEST + position % WIDTH
        work.statistics[column] = work.tests[at + STATISTIC]
        work.degrees[0, column] = work.tests[at + BETWEEN_DEGREES]
        work.degrees[1, column] = work.tests[at + WITHIN_DEGREES]
    if not has_tables:
        add_up_tables(problem, grouped, tables)
    for position in range(len(problem.nominal)):
        table = tables[problem.level_start[position] : problem.level_start[position + 1]]
        column = problem.nominal[position]
        work.statistics[column], work.degrees[0, column] = pearson(table, work.of_classes[0])
        work.degrees[1, column] = 0.0


@compiled
def add_up_tables(problem, grouped, tables):
    """Sum the weight of every class in every category; rows whose category is missing go to the cell after all others.

    Later rows are prefetched, since the rows of a node are far apart in memory.
    """
    n_nominal = uint64(len(problem.nominal))
    if n_nominal == uint64(0):
        return
    tables[:] = 0.0
    cells, rows, weights = problem.cells, grouped.rows, grouped.weights
    first, bytes_a_row = uint64(cells.ctypes.data), uint64(cells.itemsize) * n_nominal
    for k in range(tables.shape[1]):
        i, end = uint64(grouped.starts[k]), uint64(grouped.starts[k + 1])
        while i < end:
            prefetch(first + bytes_a_row * uint64(rows[min(i + uint64(AHEAD), end - uint64(1))]))
            at, weight = uint64(rows[i]) * n_nominal, weights[i]
            last = at + n_nominal
            while at < last:
                tables[cells[at], k] += weight
                at += uint64(1)
            i += uint64(1)


@compiled
def choice(problem, limits, work, grouped, is_spread_tested):
    """`quest.choice` among the columns left; also returns whether Levene's test, which runs once, has been made."""
    first, smallest = most_significant(work.statistics, work.degrees, work.is_left, work.logs)
    if first == LEAF or smallest < limits.log10_alpha:
        return first, is_spread_tested
    if not is_spread_tested:
        test_spread(problem.numbers, problem.width, grouped, work.class_weights, work.moments, work.tests)
        work.levene[:] = NOT_TESTED
        for position in range(len(problem.ordered)):
            work.levene[problem.ordered[position]] = work.tests[
                (position // WIDTH) * OF_TEST + position % WIDTH + STATISTIC
            ]
    best, smallest = most_significant(work.levene, work.degrees, work.is_left, work.logs)
    if best != LEAF and smallest < limits.log10_levene_alpha:
        return best, True
    return int64(LEAF) if limits.stops_if_insignificant else first, True


@compiled
def most_significant(statistics, degrees, is_left, logs):
    """`significance.most_significant` of the columns left that have a statistic, with its log10 p; `LEAF` if none.

    The largest statistic is examined first. p is not computed for the columns that it beats beyond doubt, and for
    columns of equal statistic only up to the first that is to be chosen.
    """
    for column in range(len(statistics)):
        logs[column] = NOT_ASKED if is_left[column] and statistics[column] >= 0 else inf
    first = largest_unasked(statistics, logs)
    if first == LEAF or statistics[first] <= 0:
        return first, 0.0
    smallest, best = inf, first
    while best != LEAF and statistics[best] > 0:
        logs[best] = log10_p(statistics[best], degrees[0, best], degrees[1, best])
        smallest = min(smallest, logs[best])
        leave_beaten(statistics, degrees, best, logs)
        best = largest_unasked(statistics, logs)
    if best != LEAF:  # the statistics left are 0, so p is 1
        for column in range(len(statistics)):
            logs[column] = 0.0 if logs[column] == NOT_ASKED else logs[column]
    return first_of_equals(statistics, degrees, logs, smallest, logs[first] == smallest), smallest


@compiled
def first_of_equals(statistics, degrees, logs, smallest, is_largest):
    """The first column of the smallest p, and of the largest statistic among those.

    With `is_largest`, the largest statistic of all has the smallest p, so no waiting column has a larger one.
    """
    largest = -inf
    for column in range(len(statistics)):
        if logs[column] == WAITS and not is_largest:
            logs[column] = log10_p(statistics[column], degrees[0, column], degrees[1, column])
        if logs[column] <= smallest + SAME_LOG10_P:
            largest = max(largest, statistics[column])
    for column in range(len(statistics)):
        if statistics[column] >= largest - SAME_STATISTIC * max(1.0, largest):
            if logs[column] == WAITS:
                logs[column] = log10_p(statistics[column], degrees[0, column], degrees[1, column])
            if logs[column] <= smallest + SAME_LOG10_P:
                return int64(column)
    return int64(LEAF)


@compiled
def largest_unasked(statistics, logs):
    """The column of the largest statistic whose p is not known yet; `LEAF` if there is none."""
    found, largest = int64(LEAF), -inf
    for column in range(len(statistics)):
        statistic = statistics[column] if logs[column] == NOT_ASKED else -inf
        is_larger = statistic > largest
        found, largest = int64(column) if is_larger else found, statistic if is_larger else largest
    return found


@compiled
def leave_beaten(statistics, degrees, best, logs):
    """Drop the columns with a clearly smaller statistic than the best that cannot have a smaller p.

    Equal F, or equal chi-squared, with equal degrees of freedom have equal p. With one or two degrees between groups, p
    falls with those within: so do the tails of Student's t, and (1 + 2F/d)^(-d/2). Columns with almost the same
    statistic and the same degrees have no smaller p either; they wait until it is known whether the best has the
    smallest.
    """
    limit, between, within = statistics[best], degrees[0, best], degrees[1, best]
    limit -= SAME_STATISTIC * max(1.0, limit)
    least_within = 0.0 if between <= 2 and within > 0 else within  # of F it is positive, of chi-squared 0
    for column in range(len(statistics)):
        is_asked, is_below = logs[column] != NOT_ASKED, statistics[column] < limit
        is_same = (degrees[0, column] == between) & (degrees[1, column] == within)
        is_alike = (degrees[0, column] == between) & (degrees[1, column] <= within)
        is_alike &= is_same | (degrees[1, column] > least_within)
        found = inf if is_alike & is_below else (WAITS if is_same else NOT_ASKED)
        logs[column] = logs[column] if is_asked else found
