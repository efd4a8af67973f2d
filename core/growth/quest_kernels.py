"""The compiled twin of growing by `quest`: a whole tree, depth first, left to right.

Numbers stand row by row, so that one pass over a node's rows adds to the sums of all columns at once. A node's rows are
a piece of one long list, its second child's piece comes first and its first child's after it:

    rows   ... | rows of the node |                    grown next, and everything that it needs
           ... | second | first   | ...                       v
                        ^ popped first: what it writes comes after its own start

`Problem`, `Limits` and `Work` are those of `quest_grow`. Sums run in row order, as in the definition, and cuts come
from its own functions; so both give the same tree.
"""

from math import inf, log

import numpy as np
from numba import int64

from core.compiled_kernels import compiled
from core.criteria.significance import SAME_LOG10_P
from core.criteria.tails_kernels import log_chi_squared_tail, log_f_tail
from core.growth.quest import SAME_STATISTIC
from core.growth.quest_grow import Problem
from core.growth.room_kernels import longer_list, longer_rows
from core.splits.discriminant_kernels import best_cut, discriminant_coordinates
from core.ties import TIE

DONE, STOP = 0, 1  # places in `progress`
LEAF = -1
NOT_TESTED = -1.0  # in place of a statistic
FIRST, SECOND, BOTH = 0, 1, 2  # where a row goes
FAR, NEAR = 0, 1  # whether the rows of a node stand among all others, or only among those of a subtree around it
NEAR_ROWS = 8192


@compiled
def grow_quest(problem, limits, work, progress):
    """Every node's split, share, weight and class weights, how many nodes its subtree has, and groups of categories.

    `of_node` has column, where its groups begin, parent and size; `figures` threshold, share, weight, class weights.
    """
    n_rows = len(problem.classes)
    rows, weights = np.arange(n_rows), problem.weights.copy()
    side, values, classes = np.empty(n_rows, np.int8), np.empty(n_rows), np.empty(n_rows, np.int32)
    kept_rows, kept_weights = np.empty(n_rows, np.int64), np.empty(n_rows)
    waiting, shares = np.empty((64, 5), np.int64), np.empty(64)
    of_node, figures = np.empty((64, 4), np.int64), np.empty((64, 3 + problem.n_classes))
    groups, n_groups, n_nodes, n_waiting = np.empty(64, np.bool_), 0, 0, 1
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3], waiting[0, 4], shares[0] = 0, n_rows, 0, -1, FAR, 1.0
    near = room_near(problem)
    while n_waiting > 0 and progress[STOP] == 0.0:
        n_waiting -= 1
        start, n, depth, parent, distance = waiting[n_waiting]
        if distance == FAR and n <= len(near.classes):
            bring_near(problem, near, rows[start : start + n])
            distance = NEAR
        there = near if distance == NEAR else problem
        of_node, figures = longer_rows(of_node, n_nodes, n_nodes + 1), longer_rows(figures, n_nodes, n_nodes + 1)
        node, n_nodes = n_nodes, n_nodes + 1
        here, here_weights = rows[start : start + n], weights[start : start + n]
        weight, is_pure = add_up_classes(there, here, here_weights, work.class_weights)
        of_node[node, 0], of_node[node, 1], of_node[node, 2], of_node[node, 3] = LEAF, n_groups, parent, 1
        figures[node, 0], figures[node, 1], figures[node, 2] = np.nan, shares[n_waiting], weight
        for k in range(problem.n_classes):
            figures[node, 3 + k] = work.class_weights[k]
        column, threshold = int64(LEAF), np.nan
        if not (is_pure or is_terminal(limits, depth, weight, work.class_weights)):
            column, threshold = chosen_split(there, limits, work, here, here_weights, values, classes, kept_weights)
        if column == LEAF:
            progress[DONE] += weight
            continue
        of_node[node, 0], figures[node, 0] = column, threshold
        if np.isnan(threshold):
            place = place_of(problem.nominal, column)
            n_here = problem.level_start[place + 1] - problem.level_start[place]
            groups = longer_list(groups, n_groups, n_groups + n_here)
            for level in range(n_here):
                groups[n_groups + level] = work.mask[level]
            n_groups += n_here
        first, second = sides_of(there, work, here, here_weights, column, threshold, side)
        rows, weights = longer_list(rows, start + n, start + 2 * n), longer_list(weights, start + n, start + 2 * n)
        first, second = first / (first + second), second / (first + second)
        n_second, n_first = divide(rows, weights, start, n, side, first, second, limits, kept_rows, kept_weights)
        waiting, shares = longer_rows(waiting, n_waiting, n_waiting + 2), longer_list(shares, n_waiting, n_waiting + 2)
        for at, n_child, share in ((start, n_second, second), (start + n_second, n_first, first)):
            waiting[n_waiting, 0], waiting[n_waiting, 1] = at, n_child
            waiting[n_waiting, 2], waiting[n_waiting, 3], waiting[n_waiting, 4] = depth + 1, node, distance
            shares[n_waiting] = share
            n_waiting += 1
    for node in range(n_nodes - 1, 0, -1):
        of_node[of_node[node, 2], 3] += of_node[node, 3]
    return of_node[:n_nodes].copy(), figures[:n_nodes].copy(), groups[:n_groups].copy()


@compiled
def room_near(problem):
    """A problem of few rows, with room for those of a subtree: there they stand side by side."""
    n = min(NEAR_ROWS, len(problem.classes) // 4)
    return Problem(
        np.empty((n, problem.numbers.shape[1])),
        problem.has_missing,
        problem.ordered,
        np.empty((n, problem.codes.shape[1]), np.int32),
        problem.nominal,
        problem.level_start,
        np.empty(n, np.int32),
        problem.weights,
        problem.n_classes,
    )


@compiled
def bring_near(problem, near, rows):
    """Copy the rows of a node; they and all below it are numbered by their places there."""
    for i in range(len(rows)):
        row, rows[i] = rows[i], i
        near.classes[i] = problem.classes[row]
        for j in range(problem.numbers.shape[1]):
            near.numbers[i, j] = problem.numbers[row, j]
        for j in range(problem.codes.shape[1]):
            near.codes[i, j] = problem.codes[row, j]


@compiled
def add_up_classes(problem, rows, weights, class_weights):
    """The weight of a node and of its classes, and whether it has one class only, or no rows."""
    class_weights[:] = 0.0
    weight, is_pure = 0.0, True
    for i in range(len(rows)):
        class_weights[problem.classes[rows[i]]] += weights[i]
        weight += weights[i]
        is_pure &= problem.classes[rows[i]] == problem.classes[rows[0]]
    return weight, is_pure


@compiled
def is_terminal(limits, depth, weight, class_weights):
    """`stopping.is_terminal`, and whether two children would have too little."""
    if depth >= limits.max_depth or weight < limits.min_samples_split - TIE:
        return True
    if weight < 2 * (limits.min_samples_leaf - TIE):
        return True
    whole, squares = 0.0, 0.0
    for k in range(len(class_weights)):
        whole += class_weights[k]
    for k in range(len(class_weights)):
        squares += (class_weights[k] / whole) ** 2
    return 1 - squares <= limits.min_impurity


@compiled
def chosen_split(problem, limits, work, rows, weights, values, classes, spare):
    """`quest.chosen_split`: a column with a threshold, or with NaN and the first group in `work.mask`; else `LEAF`."""
    add_up_moments(problem, work, rows, weights)
    add_up_tables(problem, work, rows, weights)
    test_all(problem, work)
    work.is_left[:] = True
    while True:
        column = choice(problem, limits, work)
        if column == LEAF:
            return int64(LEAF), np.nan
        place = place_of(problem.ordered, column)
        if place >= 0:
            threshold = cut_of(problem, limits, work, rows, weights, place, values, classes, spare)
            if not np.isnan(threshold):
                return column, threshold
        elif find_groups(problem, limits, work, place_of(problem.nominal, column)):
            return column, np.nan
        work.is_left[column] = False


@compiled
def place_of(columns, column):
    """Where a column stands among some; -1 where it does not."""
    for place in range(len(columns)):
        if columns[place] == column:
            return place
    return -1


@compiled
def add_up_moments(problem, work, rows, weights):
    """`class_moments` of all columns with an order: one pass for the means, one for what is about them."""
    numbers, classes, centres = problem.numbers, problem.classes, work.centres
    sums, means, variations, deviations = work.weights, work.means, work.variations, work.deviations
    find_centres(numbers, rows, centres)
    sums[:], means[:], variations[:], deviations[:] = 0.0, 0.0, 0.0, 0.0
    if problem.has_missing:
        add_up_known(numbers, rows, weights, classes, sums)
    for i in range(len(rows)):
        row, k, weight = rows[i], classes[rows[i]], weights[i]
        if problem.has_missing:
            for j in range(numbers.shape[1]):
                means[k, j] += 0.0 if np.isnan(numbers[row, j]) else weight * (numbers[row, j] - centres[j])
        else:
            for j in range(numbers.shape[1]):
                means[k, j] += weight * (numbers[row, j] - centres[j])
    for k in range(problem.n_classes):
        for j in range(numbers.shape[1]):
            if not problem.has_missing:
                sums[k, j] = work.class_weights[k]
            means[k, j] /= sums[k, j] if sums[k, j] > 0 else 1.0
    for i in range(len(rows)):
        row, k, weight = rows[i], classes[rows[i]], weights[i]
        for j in range(numbers.shape[1]):
            apart = abs(numbers[row, j] - centres[j] - means[k, j])
            apart = 0.0 if np.isnan(apart) else apart
            variations[k, j] += weight * apart * apart
            deviations[k, j] += weight * apart


@compiled
def add_up_known(numbers, rows, weights, classes, sums):
    """The weight of every class whose value is known, for every column."""
    for i in range(len(rows)):
        row, k, weight = rows[i], classes[rows[i]], weights[i]
        for j in range(numbers.shape[1]):
            sums[k, j] += 0.0 if np.isnan(numbers[row, j]) else weight


@compiled
def find_centres(numbers, rows, centres):
    """The first known value of every column; 0 where there is none."""
    centres[:] = np.nan
    n_unknown = len(centres)
    for i in range(len(rows)):
        for j in range(len(centres)):
            if np.isnan(centres[j]) and not np.isnan(numbers[rows[i], j]):
                centres[j] = numbers[rows[i], j]
                n_unknown -= 1
        if n_unknown == 0:
            return
    for j in range(len(centres)):
        centres[j] = 0.0 if np.isnan(centres[j]) else centres[j]


@compiled
def add_up_tables(problem, work, rows, weights):
    """The weight of every class in every category."""
    work.tables[:] = 0.0
    for i in range(len(rows)):
        k = problem.classes[rows[i]]
        for j in range(problem.codes.shape[1]):
            code = problem.codes[rows[i], j]
            if code >= 0:
                work.tables[problem.level_start[j] + code, k] += weights[i]


@compiled
def test_all(problem, work):
    """The statistics of all columns with their degrees of freedom; those of chi-squared have none within."""
    for place in range(len(problem.ordered)):
        column = problem.ordered[place]
        work.statistics[column], work.degrees[column, 0], work.degrees[column, 1] = analysis_of_variance(work, place)
    work.levene[:] = NOT_TESTED
    for place in range(len(problem.nominal)):
        table = work.tables[problem.level_start[place] : problem.level_start[place + 1]]
        column = problem.nominal[place]
        work.statistics[column], work.degrees[column, 0] = pearson(table, work.moments[0])
        work.degrees[column, 1] = 0.0


@compiled
def analysis_of_variance(work, place):
    """`significance.analysis_of_variance` of a column with an order: F and its degrees of freedom."""
    weights, means = work.weights, work.means
    n_groups, whole, moment, within, between = 0, 0.0, 0.0, 0.0, 0.0
    for k in range(weights.shape[0]):
        if weights[k, place] > 0:
            n_groups += 1
            whole += weights[k, place]
            moment += weights[k, place] * means[k, place]
            within += work.variations[k, place]
    if n_groups < 2 or whole <= n_groups:
        return 0.0, max(0.0, n_groups - 1.0), max(0.0, whole - n_groups)
    for k in range(weights.shape[0]):
        between += weights[k, place] * (means[k, place] - moment / whole) ** 2
    return f_of(between, n_groups - 1.0, within, whole - n_groups), n_groups - 1.0, whole - n_groups


@compiled
def levene(work, place, between_degrees, within_degrees):
    """`levene_test` of a column with an order, whose degrees of freedom are known: F."""
    if between_degrees < 1 or within_degrees <= 0:
        return 0.0
    weights, variations, deviations = work.weights, work.variations, work.deviations
    whole, moment, within, between = 0.0, 0.0, 0.0, 0.0
    for k in range(weights.shape[0]):
        if weights[k, place] > 0:
            whole += weights[k, place]
            moment += deviations[k, place]
            varied = variations[k, place] - deviations[k, place] ** 2 / weights[k, place]
            within += max(varied, TIE * variations[k, place])
    for k in range(weights.shape[0]):
        if weights[k, place] > 0:
            between += weights[k, place] * (deviations[k, place] / weights[k, place] - moment / whole) ** 2
    return f_of(between, between_degrees, within, within_degrees)


@compiled
def f_of(between, between_degrees, within, within_degrees):
    """F, where what varies within counts as at least TIE of the whole."""
    within = max(within, TIE * (between + within))
    return between / between_degrees / (within / within_degrees) if between > 0 else 0.0


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
def choice(problem, limits, work):
    """`quest.choice` among the columns left."""
    first, log10_p = most_significant(work.statistics, work.degrees, work.is_left, work.logs)
    if first == LEAF or log10_p < limits.log10_alpha:
        return first
    for place in range(len(problem.ordered)):
        column = problem.ordered[place]
        if work.levene[column] == NOT_TESTED:
            work.levene[column] = levene(work, place, work.degrees[column, 0], work.degrees[column, 1])
    best, log10_p = most_significant(work.levene, work.degrees, work.is_left, work.logs)
    if best != LEAF and log10_p < limits.log10_levene_alpha:
        return best
    return int64(LEAF) if limits.stops_if_insignificant else first


@compiled
def most_significant(statistics, degrees, is_left, logs):
    """`quest.most_significant` of the columns left that have a statistic, with its log10 p; `LEAF` where none has.

    Of tests with the same degrees of freedom only those of the largest statistic are worth working out p.
    """
    smallest, largest = inf, -inf
    for column in range(len(statistics)):
        logs[column] = inf
        if is_left[column] and statistics[column] >= 0 and not is_beaten(statistics, degrees, is_left, column):
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
def is_beaten(statistics, degrees, is_left, column):
    """Whether another column has the same degrees of freedom and a statistic that is larger beyond doubt."""
    for other in range(len(statistics)):
        if (
            is_left[other]
            and statistics[column] < statistics[other] * (1 - SAME_STATISTIC)
            and degrees[other, 0] == degrees[column, 0]
            and degrees[other, 1] == degrees[column, 1]
        ):
            return True
    return False


@compiled
def log10_p_value(statistic, between, within):
    """The logarithm of p: of F, or of chi-squared where nothing is within."""
    if statistic <= 0:
        return 0.0
    return (log_f_tail(statistic, between, within) if within > 0 else log_chi_squared_tail(statistic, between)) / log(
        10
    )


@compiled
def cut_of(problem, limits, work, rows, weights, place, values, classes, spare):
    """The threshold of a column with an order; NaN where there is none."""
    n = 0
    for i in range(len(rows)):
        value = problem.numbers[rows[i], place]
        if not np.isnan(value):
            values[n], classes[n], spare[n] = value, problem.classes[rows[i]], weights[i]
            n += 1
    for k in range(problem.n_classes):
        work.moments[0, k], work.moments[1, k] = work.weights[k, place], work.means[k, place]
        work.moments[2, k] = work.variations[k, place]
    return best_cut(values, classes, spare, n, work.moments, work.centres[place], limits.min_samples_leaf)


@compiled
def find_groups(problem, limits, work, place):
    """`discriminant_cuts.best_groups` into `work.mask`; whether there are two."""
    table = work.tables[problem.level_start[place] : problem.level_start[place + 1]]
    coordinates, cells = discriminant_coordinates(table), table.size
    values, classes, weights, n = np.empty(cells), np.empty(cells, np.int32), np.empty(cells), 0
    for level in range(table.shape[0]):
        for k in range(table.shape[1]):
            if table[level, k] > 0:
                values[n], classes[n], weights[n] = coordinates[level], k, table[level, k]
                n += 1
    add_up_cells(values, classes, weights, n, work.moments)
    threshold = best_cut(values, classes, weights, n, work.moments, values[0], limits.min_samples_leaf)
    if np.isnan(threshold):
        return False
    name_groups(table, coordinates, threshold, work.mask)
    return True


@compiled
def add_up_cells(values, classes, weights, n, moments):
    """`class_moments` of categories: weights, means and variations by class."""
    moments[:] = 0.0
    for i in range(n):
        moments[0, classes[i]] += weights[i]
        moments[1, classes[i]] += weights[i] * (values[i] - values[0])
    for k in range(moments.shape[1]):
        moments[1, k] /= moments[0, k] if moments[0, k] > 0 else 1.0
    for i in range(n):
        apart = abs(values[i] - values[0] - moments[1, classes[i]])
        moments[2, classes[i]] += weights[i] * apart * apart


@compiled
def name_groups(table, coordinates, threshold, mask):
    """The first group: that of the earliest category in the node; categories that no row has join the heavier one."""
    low, high, is_low_first, is_named = 0.0, 0.0, True, False
    for level in range(table.shape[0]):
        weight = table[level].sum()
        if weight > 0:
            is_low = coordinates[level] <= threshold
            if not is_named:
                is_low_first, is_named = is_low, True
            low, high = (low + weight, high) if is_low else (low, high + weight)
    first, second = (low, high) if is_low_first else (high, low)
    for level in range(table.shape[0]):
        is_present = table[level].sum() > 0
        mask[level] = (coordinates[level] <= threshold) == is_low_first if is_present else first >= second - TIE


@compiled
def sides_of(problem, work, rows, weights, column, threshold, side):
    """Where each row goes, and the known weight that goes each way."""
    first, second = 0.0, 0.0
    is_group = np.isnan(threshold)
    place = place_of(problem.nominal if is_group else problem.ordered, column)
    for i in range(len(rows)):
        if is_group:
            code = problem.codes[rows[i], place]
            side[i] = BOTH if code < 0 else (FIRST if work.mask[code] else SECOND)
        else:
            value = problem.numbers[rows[i], place]
            side[i] = BOTH if np.isnan(value) else (FIRST if value <= threshold else SECOND)
        first += weights[i] if side[i] == FIRST else 0.0
        second += weights[i] if side[i] == SECOND else 0.0
    return first, second


@compiled
def divide(rows, weights, start, n, side, first, second, limits, kept_rows, kept_weights):
    """Put the rows of the second child in the node's place and those of the first after them; how many each has.

    `fractional_weights.send_down`, and `without_light_copies` where light copies are not wanted.
    """
    n_second, n_first = 0, 0
    smallest, heavier = min(first, second), FIRST if first >= second - TIE else SECOND
    for i in range(n):  # a row is written wherever it may go, and stays where it does: no branch to foresee
        row, weight, way = rows[start + i], weights[start + i], side[i]
        if way == BOTH and weight * smallest < limits.min_copy_weight - TIE:
            way = heavier
        to_first, to_second = weight * first if way == BOTH else weight, weight * second if way == BOTH else weight
        rows[start + n_second], weights[start + n_second] = row, to_second
        n_second += way != FIRST and to_second > 0
        kept_rows[n_first], kept_weights[n_first] = row, to_first
        n_first += way != SECOND and to_first > 0
    for i in range(n_first):
        rows[start + n_second + i], weights[start + n_second + i] = kept_rows[i], kept_weights[i]
    return n_second, n_first
