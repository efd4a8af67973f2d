"""Grows a whole tree by `quest`, depth first and left to right.

Numbers are stored row by row, so one pass over a node's rows adds to the sums of all columns. A node's rows are a slice
of one long list; its second child's slice comes first, its first child's after it:

    rows   ... | rows of the node |                    grown next, with all its descendants
           ... | second | first   | ...                       v
                        ^ popped first: what it writes comes after its own start

`Problem` and `Limits` are those of `methods.quest.problem`, `Work` and `Grown` those of `methods.quest.scratch`. Sums
run in row order, as in the definition, and cuts are found by its own functions, so both give the same tree.
"""

import numpy as np
from numba import int64, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays, prefetch
from core.compiler.row_sums import AHEAD
from core.methods.quest.kernels.attribute_tests import LEAF
from core.methods.quest.kernels.packed_rows import class_of, packed, row_of
from core.methods.quest.kernels.scratch import (
    N_GROUPS,
    N_NODES,
    N_WAITING,
    has_capacity,
    put_waiting,
    with_capacity,
    write_leaf,
    write_split,
)
from core.methods.quest.kernels.split import MIDDLE, chosen_split
from core.methods.quest.kernels.state import Problem, Work

DONE, STOP = 0, 1  # indices into `progress`
FIRST, SECOND, BOTH = 0, 1, 2  # where a row goes
FAR, NEAR = 0, 1  # whether a node's rows are read from the whole table, or from the copy of a subtree
LINE = 8  # float64 numbers in a cache line
NEAR_BYTES = 1 << 19  # fits in a second-level cache


@making_arrays
def grow_quest(problem_fields, limits, work_fields, grown, progress):
    """Grow the tree; returns `grown`, or its longer replacement, with the numbers of nodes and of group flags."""
    problem, work = Problem(*problem_fields), Work(*work_fields)
    begin(problem, grown)
    counts, near = np.array([1, 0, 0]), near_buffers(problem)
    while counts[N_WAITING] > 0 and progress[STOP] == 0.0:
        grown = with_capacity(grown, counts, len(work.mask))
        grow_while_it_fits(problem, near, limits, work, grown, counts, progress)
    for node in range(counts[N_NODES] - 1, 0, -1):
        grown.size[grown.parent[node]] += grown.size[node]
    return grown, counts[N_NODES], counts[N_GROUPS]


@compiled
def begin(problem, grown):
    """Put the root with all rows on the stack; the lists have the capacity for partitioning them."""
    n_rows, waiting = len(problem.classes), grown.waiting
    for row in range(n_rows):
        grown.rows[row], grown.weights[row] = packed(row, problem.classes[row]), problem.weights[row]
    waiting[0, 0], waiting[0, 1], waiting[0, 2], waiting[0, 3], waiting[0, 4], waiting[0, 5] = 0, n_rows, 0, -1, FAR, 0
    grown.shares[0] = 1.0


@compiled
def grow_while_it_fits(problem, near, limits, work, grown, counts, progress):
    """Grow node after node until none waits, or the lists are too short for the next one.

    No arrays are made in here, which saves Numba the reference counts of the many array slices.
    """
    while counts[N_WAITING] > 0 and progress[STOP] == 0.0 and has_capacity(grown, counts, len(work.mask)):
        counts[N_WAITING] -= 1
        n_waiting, node = counts[N_WAITING], counts[N_NODES]
        start, n, depth, parent, distance, has_tables = grown.waiting[n_waiting]
        rows, weights = grown.rows[start : start + n], grown.weights[start : start + n]
        if distance == FAR and n <= len(near.classes):
            bring_near(problem, near, rows)
            distance = NEAR
        there = near if distance == NEAR else problem
        weight, is_pure = add_up_classes(rows, weights, work.class_weights, work.starts)
        write_leaf(grown, counts, parent, grown.shares[n_waiting], weight, work.class_weights)
        if is_pure or is_terminal(limits, depth, weight, work.class_weights):
            progress[DONE] += weight
            continue
        tables = work.tables[min(n_waiting, len(work.tables) - 1)]
        split = chosen_split(there, limits, work, rows, weights, tables, has_tables)
        if split.column == LEAF:
            progress[DONE] += weight
            continue
        write_split(grown, counts, node, split, problem, work.mask)
        whole = split.first + split.second
        first, second = split.first / whole, split.second / whole
        cut = MIDDLE if np.isnan(split.threshold) else split.threshold
        n_second, n_first = split_rows(grown.rows, grown.weights, start, n, cut, first, second, limits, work)
        middle, end = start + n_second, start + n_second + n_first
        has_tables = problem.counts_ones and depth + 1 < limits.max_depth and n_waiting + 2 < len(work.tables)
        if has_tables:
            hand_down(there, work.tables, n_waiting, grown.rows[start:middle], grown.rows[middle:end])
        for at, n_child, share in ((start, n_second, second), (middle, n_first, first)):
            put_waiting(grown, counts, at, n_child, depth + 1, node, distance, has_tables, share)


@making_arrays
def near_buffers(problem):
    """A `Problem` for a subtree's rows, stored contiguously, with capacity for few rows."""
    n_nominal = len(problem.nominal)
    n = min(NEAR_BYTES // (8 * problem.width + 4 * n_nominal), len(problem.classes) // 4)
    return Problem(
        np.empty(n * problem.width),
        problem.width,
        problem.has_missing,
        problem.ordered,
        np.empty(n * n_nominal, np.uint32),
        problem.nominal,
        problem.level_start,
        np.empty(n, np.int32),
        problem.weights,
        problem.counts_ones,
        problem.n_classes,
    )


@compiled
def bring_near(problem, near, rows):
    """Copy the rows of a node to `near`; below it, row numbers are indices into the copy."""
    width, n_nominal, n = problem.width, len(problem.nominal), len(rows)
    numbers, near_numbers, cells, near_cells = problem.numbers, near.numbers, problem.cells, near.cells
    for i in range(n):
        row, later = int64(row_of(rows[i])), row_of(rows[min(i + AHEAD, n - 1)])
        for j in range(0, width, LINE):
            prefetch(uint64(numbers.ctypes.data) + uint64(8) * (later * uint64(width) + uint64(j)))
        for j in range(width):
            near_numbers[i * width + j] = numbers[row * width + j]
        for j in range(n_nominal):
            near_cells[i * n_nominal + j] = cells[row * n_nominal + j]
        rows[i] = packed(i, class_of(rows[i]))


@compiled
def add_up_classes(rows, weights, class_weights, starts):
    """The weight of a node, whether it is pure or empty, and, in place, its class weights.

    `starts[k]` becomes the index where class k begins once rows are grouped by class.
    """
    class_weights[:], starts[:] = 0.0, 0
    weight, n = 0.0, uint64(rows.shape[0])
    i = uint64(0)
    while i < n:
        k = class_of(rows[i])
        class_weights[k] += weights[i]
        starts[k] += 1
        weight += weights[i]
        i += uint64(1)
    n_present, position = 0, 0
    for k in range(starts.shape[0]):
        n_present += starts[k] > 0
        starts[k], position = position, position + starts[k]
    return weight, n_present < 2


@compiled
def is_terminal(limits, depth, weight, class_weights):
    """`stopping.is_terminal`, or whether the weight is too small for two children."""
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
def hand_down(problem, tables, at, second_rows, first_rows):
    """Turn a node's tables at index `at` into those of its second child, and those at `at + 1` into the first's.

    Only the rows of the smaller child are counted; since counts are whole numbers, the rest is an exact difference.
    """
    is_second = len(second_rows) < len(first_rows)
    whole, part = tables[at], tables[at + 1]
    count_cells(problem, second_rows if is_second else first_rows, part)
    for cell in range(whole.shape[0]):
        for k in range(whole.shape[1]):
            rest = whole[cell, k] - part[cell, k]
            whole[cell, k], part[cell, k] = (part[cell, k], rest) if is_second else (rest, part[cell, k])


@compiled
def count_cells(problem, rows, tables):
    """Count the rows of every class in every category."""
    tables[:] = 0.0
    cells, n_nominal = problem.cells, uint64(len(problem.nominal))
    first, bytes_a_row = uint64(cells.ctypes.data), uint64(cells.itemsize) * n_nominal
    i, n = uint64(0), uint64(rows.shape[0])
    while i < n:
        prefetch(first + bytes_a_row * row_of(rows[min(i + uint64(AHEAD), n - uint64(1))]))
        at, k = row_of(rows[i]) * n_nominal, class_of(rows[i])
        end = at + n_nominal
        while at < end:
            tables[cells[at], k] += 1.0
            at += uint64(1)
        i += uint64(1)


@compiled
def split_rows(rows, weights, start, n, cut, first, second, limits, work):
    """Partition a node's rows: the second child's to its start, the first child's after them; returns both numbers.

    `fractional_weights.send_down`, with `without_light_copies` if light copies are not wanted.
    """
    n_second, n_first, values, ways = uint64(0), uint64(0), work.values, work.ways
    kept_rows, kept_weights = work.kept_rows, work.kept_weights
    smallest, heavier = min(first, second), FIRST if first >= second - TIE else SECOND
    second_rows, second_weights = rows[start:], weights[start:]
    to_first, to_second = ways[0], ways[1]
    to_first[FIRST], to_first[SECOND], to_first[BOTH] = 1.0, 0.0, first
    to_second[FIRST], to_second[SECOND], to_second[BOTH] = 0.0, 1.0, second
    i, end = uint64(0), uint64(n)
    while i < end:  # branch-free: a row is written to both sides, and only its counters advance
        row, weight, way = second_rows[i], second_weights[i], BOTH - (values[i] > cut) - 2 * (values[i] <= cut)
        is_light = (way == BOTH) & (weight * smallest < limits.min_copy_weight - TIE)
        way = uint64(heavier if is_light else way)
        of_first, of_second = weight * to_first[way], weight * to_second[way]  # from a table, to avoid a branch
        second_rows[n_second], second_weights[n_second] = row, of_second
        n_second += uint64(of_second > 0)
        kept_rows[n_first], kept_weights[n_first] = row, of_first
        n_first += uint64(of_first > 0)
        i += uint64(1)
    for i in range(int64(n_first)):
        rows[start + int64(n_second) + i], weights[start + int64(n_second) + i] = kept_rows[i], kept_weights[i]
    return int64(n_second), int64(n_first)
