"""The compiled twin of `quest.chosen_split`: the split of the attribute that the tests choose."""

import numpy as np
from numba import int64, uint64

from core.compiled_kernels import ask_for, compiled, making_arrays
from core.criteria.class_moments_kernels import FIRST_CENTRE, MEAN, OF_CLASS, OF_TEST, VARIATION, WEIGHT
from core.growth.packed_row_kernels import Grouped, class_of, group, row_of
from core.growth.quest_tests_kernels import LEAF, choice, test_all
from core.lane_kernels import WIDTH
from core.row_sum_kernels import AHEAD
from core.splits.discriminant_kernels import best_cut, discriminant_coordinates
from core.ties import TIE


@making_arrays
def chosen_split(problem, limits, work, rows, weights, tables, has_tables):
    """A column with a threshold, its values looked up, or with NaN and the first group in `work.mask`; else `LEAF`."""
    grouped = Grouped(work.grouped, work.grouped_weights, work.starts)
    group(rows, weights, grouped)
    test_all(problem, work, grouped, tables, has_tables)
    work.is_left[:] = True
    is_spread_tested = False
    while True:
        column, is_spread_tested = choice(problem, limits, work, grouped, is_spread_tested)
        if column == LEAF:
            return int64(LEAF), np.nan
        place = place_of(problem.ordered, column)
        if place >= 0:
            threshold = cut_of(problem, limits, work, rows, weights, place)
            if not np.isnan(threshold):
                return column, threshold
        elif find_groups(problem, limits, work, tables, place_of(problem.nominal, column)):
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
def cut_of(problem, limits, work, rows, weights, place):
    """The threshold of a column with an order; NaN where there is none."""
    values, classes = work.values, work.known_classes
    look_up(problem, rows, place, values)
    n = uint64(rows.shape[0])
    known, known_weights = values, weights
    if problem.has_missing:
        known, known_weights = work.known, work.known_weights
        n = keep_known(rows, weights, values, known, classes, known_weights)
    else:
        for i in range(len(rows)):
            classes[i] = class_of(rows[i])
    moments, n_blocks = work.of_classes, problem.width // WIDTH
    for k in range(problem.n_classes):
        at = (k * n_blocks + place // WIDTH) * OF_CLASS + place % WIDTH
        moments[0, k], moments[1, k] = work.moments[at + WEIGHT], work.moments[at + MEAN]
        moments[2, k] = work.moments[at + VARIATION]
    centre = work.tests[place // WIDTH * OF_TEST + FIRST_CENTRE + place % WIDTH]
    return best_cut(known, classes, known_weights, int64(n), moments, centre, limits.min_samples_leaf)


@compiled
def keep_known(rows, weights, values, known, classes, known_weights):
    """The values that are known, with their classes and weights; how many."""
    n, i, end = uint64(0), uint64(0), uint64(rows.shape[0])
    while i < end:
        value = values[i]
        known[n], classes[n], known_weights[n] = value, class_of(rows[i]), weights[i]
        n += uint64(value == value)
        i += uint64(1)
    return n


@compiled
def look_up(problem, rows, place, values):
    """The values of a column with an order, in all rows of a node; asked for some rows ahead."""
    numbers, width, n, place = problem.numbers, uint64(problem.width), uint64(rows.shape[0]), uint64(place)
    first = uint64(numbers.ctypes.data) + uint64(8) * place
    i = uint64(0)
    while i < n:
        ask_for(first + uint64(8) * width * row_of(rows[min(i + uint64(AHEAD), n - uint64(1))]))
        values[i] = numbers[row_of(rows[i]) * width + place]
        i += uint64(1)


@making_arrays
def find_groups(problem, limits, work, tables, place):
    """`discriminant_cuts.best_groups` into `work.mask`; whether there are two."""
    table = tables[problem.level_start[place] : problem.level_start[place + 1]]
    coordinates, cells = discriminant_coordinates(table), table.size
    values, classes, weights, n = np.empty(cells), np.empty(cells, np.int32), np.empty(cells), 0
    for level in range(table.shape[0]):
        for k in range(table.shape[1]):
            if table[level, k] > 0:
                values[n], classes[n], weights[n] = coordinates[level], k, table[level, k]
                n += 1
    if n == 0:
        return False
    centre = add_up_cells(values, classes, weights, n, work.of_classes)
    threshold = best_cut(values, classes, weights, n, work.of_classes, centre, limits.min_samples_leaf)
    if np.isnan(threshold):
        return False
    name_groups(table, coordinates, threshold, work.mask)
    return True


@compiled
def add_up_cells(values, classes, weights, n, moments):
    """`class_moments` of some cells of categories: weights, means and variations by class; returns the centre."""
    moments[:] = 0.0
    first_class = moments.shape[1]
    for i in range(n - 1, -1, -1):
        moments[3, classes[i]] = values[i]
        first_class = min(first_class, classes[i])
    centre = moments[3, first_class]
    for i in range(n):
        apart = values[i] - moments[3, classes[i]]
        moments[0, classes[i]] += weights[i]
        moments[1, classes[i]] += weights[i] * apart
        moments[2, classes[i]] += weights[i] * apart * apart
    for k in range(moments.shape[1]):
        shift = moments[1, k] / (moments[0, k] if moments[0, k] > 0 else 1.0)
        moments[2, k] = max(moments[2, k] - moments[1, k] * shift, 0.0)
        moments[1, k] = moments[3, k] - centre + shift
    return centre


@making_arrays
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
