"""`quest.chosen_split`, compiled: the split on the attribute that the tests choose."""

from typing import NamedTuple

import numpy as np
from numba import int64, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays, prefetch
from core.compiler.eight_lanes import WIDTH
from core.compiler.row_sums import AHEAD
from core.criteria.kernels.class_moments import FIRST_CENTRE, MEAN, OF_CLASS, OF_TEST, VARIATION, WEIGHT
from core.methods.quest.kernels.attribute_tests import LEAF, choice, test_all
from core.methods.quest.kernels.discriminant import (
    Buffers,
    best_cut,
    can_be_cut,
    discriminant_coordinates,
    weights_beside,
)
from core.methods.quest.kernels.packed_rows import Grouped, class_of, group, packed, row_of

MIDDLE = 0.5  # between 0 and 1, the numbers of the two groups


class Split(NamedTuple):
    """A column (`LEAF` for no split), its threshold (NaN for groups), and the known weight on both sides.

    `work.values` say where each row of the node goes: left up to the threshold (`MIDDLE` for groups), right above it,
    and both ways if NaN.
    """

    column: int
    threshold: float
    first: float
    second: float


@compiled
def chosen_split(problem, limits, work, rows, weights, tables, has_tables):
    """`quest.chosen_split`: the split of a node; for a nominal column, the first group is flagged in `work.mask`."""
    grouped = Grouped(work.grouped, work.grouped_weights, work.starts)
    group(rows, weights, grouped)
    test_all(problem, work, grouped, tables, has_tables)
    work.is_left[:] = True
    is_spread_tested = False
    while True:
        column, is_spread_tested = choice(problem, limits, work, grouped, is_spread_tested)
        if column == LEAF:
            return Split(int64(LEAF), np.nan, 0.0, 0.0)
        position = position_of(problem.ordered, column)
        if position >= 0:
            threshold, first, second = cut_of(problem, limits, work, rows, weights, position)
            if not np.isnan(threshold):
                return Split(column, threshold, first, second)
        else:
            position = position_of(problem.nominal, column)
            if find_groups(problem, limits, work, tables, position):
                read_groups(problem, work, rows, position)
                first, second = weights_beside(work.values[: len(rows)], weights, MIDDLE)
                return Split(column, np.nan, first, second)
        work.is_left[column] = False


@compiled
def position_of(columns, column):
    """The index of a column in a list of columns; -1 if it is not there."""
    for position in range(len(columns)):
        if columns[position] == column:
            return position
    return -1


@compiled
def cut_of(problem, limits, work, rows, weights, position):
    """The threshold of an ordered column, and the weights of both sides; NaN if there is none."""
    moments, n_blocks = work.of_classes, problem.width // WIDTH
    for k in range(problem.n_classes):
        at = (k * n_blocks + position // WIDTH) * OF_CLASS + position % WIDTH
        moments[0, k], moments[1, k] = work.moments[at + WEIGHT], work.moments[at + MEAN]
        moments[2, k] = work.moments[at + VARIATION]
    if not can_be_cut(moments[0], limits.min_samples_leaf):
        return np.nan, 0.0, 0.0
    values = work.values[: len(rows)]
    read_values(problem, rows, position, values)
    centre = work.tests[position // WIDTH * OF_TEST + FIRST_CENTRE + position % WIDTH]
    return best_cut(values, rows, weights, moments, centre, limits.min_samples_leaf, buffers_of(work))


@compiled
def buffers_of(work):
    """The scratch for discriminant analysis."""
    return Buffers(work.second_classes, work.kept, work.kept_weights, work.others, work.other_weights)


@compiled
def read_values(problem, rows, position, values):
    """Read an ordered column's values for all rows of a node, prefetching some rows ahead."""
    numbers, width, n, position = problem.numbers, uint64(problem.width), uint64(rows.shape[0]), uint64(position)
    first = uint64(numbers.ctypes.data) + uint64(8) * position
    i = uint64(0)
    while i < n:
        prefetch(first + uint64(8) * width * row_of(rows[min(i + uint64(AHEAD), n - uint64(1))]))
        values[i] = numbers[row_of(rows[i]) * width + position]
        i += uint64(1)


@compiled
def read_groups(problem, work, rows, position):
    """Write the group of each row as 0 or 1, which `MIDDLE` separates; NaN if the category is missing."""
    cells, n_nominal, mask, values = problem.cells, uint64(len(problem.nominal)), work.mask, work.values
    start, missing = problem.level_start[position], problem.level_start[len(problem.nominal)]
    for i in range(len(rows)):
        cell = cells[row_of(rows[i]) * n_nominal + uint64(position)]
        values[i] = np.nan if cell == missing else (0.0 if mask[cell - start] else 1.0)


@making_arrays
def find_groups(problem, limits, work, tables, position):
    """`discriminant_cuts.best_groups`, written to `work.mask`; returns whether there are two groups."""
    table = tables[problem.level_start[position] : problem.level_start[position + 1]]
    coordinates, cells = discriminant_coordinates(table), table.size
    values, entries, weights, n = np.empty(cells), np.empty(cells, np.uint64), np.empty(cells), 0
    for level in range(table.shape[0]):
        for k in range(table.shape[1]):
            if table[level, k] > 0:
                values[n], entries[n], weights[n] = coordinates[level], packed(level, k), table[level, k]
                n += 1
    if n == 0:
        return False
    centre, moments, least = (
        add_up_cells(values, entries, weights, n, work.of_classes),
        work.of_classes,
        limits.min_samples_leaf,
    )
    if not can_be_cut(moments[0], least):
        return False
    buffers = Buffers(work.second_classes, np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    threshold, _, _ = best_cut(values[:n], entries[:n], weights[:n], moments, centre, least, buffers)
    if np.isnan(threshold):
        return False
    name_groups(table, coordinates, threshold, work.mask)
    return True


@compiled
def add_up_cells(values, entries, weights, n, moments):
    """`class_moments` of categories' cells: weights, means and variations by class; returns the centre."""
    moments[:] = 0.0
    first_class = moments.shape[1]
    for i in range(n - 1, -1, -1):
        k = int64(class_of(entries[i]))
        moments[3, k] = values[i]
        first_class = min(first_class, k)
    centre = moments[3, first_class]
    for i in range(n):
        k = class_of(entries[i])
        apart = values[i] - moments[3, k]
        moments[0, k] += weights[i]
        moments[1, k] += weights[i] * apart
        moments[2, k] += weights[i] * apart * apart
    for k in range(moments.shape[1]):
        shift = moments[1, k] / (moments[0, k] if moments[0, k] > 0 else 1.0)
        moments[2, k] = max(moments[2, k] - moments[1, k] * shift, 0.0)
        moments[1, k] = moments[3, k] - centre + shift
    return centre


@making_arrays
def name_groups(table, coordinates, threshold, mask):
    """Flag the first group, that of the earliest category in the node; categories without rows join the heavier one."""
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
