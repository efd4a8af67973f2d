"""Growing subtrees of few rows whose nodes draw some of many columns, without splitting the lists of all columns.

Rows are numbered from 0 in row order, and every list becomes the position of each row in it, two bytes.
A node stores its rows only. A column that it draws is sorted by positions: each sets a bit, and bits are read in order.

    list      c a d b          position   a 1, b 3, c 0, d 2
    node      a b d            bits       0 1 1 1   ->   a d b

The compiled twin of `grow.Grower`, as `growth.kernels.lists.grow` is, and with the same bytes. Nodes are stored depth
first, with the figures that a tree keeps of them.
"""

import numpy as np
from numba import int64, uint16, uint32, uint64

from core.arithmetic.kernels.randomness import key_of
from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import longer_rows
from core.criteria.kernels.impurity import SQUARED, gain_of_two
from core.growth.kernels.node.kept import FIGURES, GAIN, HIGH, LOW, SHARE, SIZE, SLOT
from core.growth.kernels.node.split_rows import copy_figures
from core.growth.kernels.node.state import original_row
from core.growth.kernels.node.sums import is_leaf, is_one_class
from core.growth.kernels.small.bound import has_bounds
from core.growth.kernels.small.scratch import UNKNOWN
from core.growth.kernels.small.search import (
    HIGH_ROW,
    LIST,
    LOW_ROW,
    POSITION,
    best_of_bounded,
    best_of_drawn,
    weigh_rows,
)
from core.growth.kernels.small.split_rows import (
    has_plain_copies,
    split_by_sides,
    split_small,
    sum_branches,
    sum_rows,
    sum_sides,
)

DEPTH, BEGIN, N_ROWS, KEY = range(4)  # columns of waiting nodes; their figures are stored apart


@making_arrays
def grow_small(problem, rules, work, lists, rows, starts, lengths, at, depth, key, figures, splits, results, n_nodes):
    """`growth.kernels.lists.grow.grow_subtree` of a node with few rows, appending to `splits` and `results`.

    Returns these arrays, which may be longer copies, and the new number of nodes. Of a waiting node all is known but
    its split, and leaves wait too: nodes are stored when their turn comes, and so depth first.
    """
    n, m = number_rows(problem, rules, work, lists, rows, starts, lengths, at), problem.numbers.shape[1]
    waiting, known_figures, sums = work.small_waiting, work.waiting_figures, work.child_sums
    n_figures, first_node, is_squared = figures.shape[0], n_nodes, rules.criterion == SQUARED
    in_lanes, least = has_bounds(rules), 0.0
    waiting[0, DEPTH], waiting[0, BEGIN], waiting[0, N_ROWS], waiting[0, KEY] = depth, 0, n, int64(key)
    known_figures[0, GAIN], known_figures[0, SHARE] = np.nan, 1.0
    for j in range(n_figures):
        known_figures[0, FIGURES + j] = figures[j]
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        depth, begin, n = waiting[n_waiting, DEPTH], waiting[n_waiting, BEGIN], waiting[n_waiting, N_ROWS]
        key, figure, node = uint64(waiting[n_waiting, KEY]), known_figures[n_waiting], n_nodes
        n_nodes += 1
        if n_nodes > splits.shape[0]:
            splits, results = longer_rows(splits, node, n_nodes), longer_rows(results, node, n_nodes)
        splits[node, SLOT] = -1
        for j in range(FIGURES + n_figures):
            results[node, j] = figure[j]
        if n == 0:
            continue
        if in_lanes:
            c = best_of_bounded(problem, rules, work, key, begin, n, figure)
        else:
            weigh_rows(work, begin, n)
            c = best_of_drawn(rules, work, key, begin, n, figure)
        if c < 0 or work.drawn_gains[c] < max(rules.min_gain, rules.min_score) - rules.tolerance:
            continue
        i, border = work.cuts[c, LIST], work.cuts[c, POSITION]
        if in_lanes:
            n_unknown, least = sum_sides(rules, work, i, border, begin, n, sums)
        else:
            n_unknown = sum_branches(rules, work, i, border, begin, n, figure[FIGURES + 1], sums)
        splits[node, SLOT] = problem.list_slots[i]
        splits[node, LOW] = work.row_origin[work.cuts[c, LOW_ROW]]
        splits[node, HIGH] = work.row_origin[work.cuts[c, HIGH_ROW]]
        results[node, GAIN] = gain_of_two(
            sums, rules.criterion, rules.n_classes, figure[FIGURES] if n_unknown > 0 else 0.0
        )
        known = sums[0] + sums[1]
        first_share, second_share = sums[0] / known, sums[1] / known
        is_summed = in_lanes and has_plain_copies(rules, least, first_share, second_share)
        if is_summed:  # the second child comes first in the stack
            first_child, second_child = known_figures[n_waiting + 1, FIGURES:], known_figures[n_waiting, FIGURES:]
            n_right, n_left = split_by_sides(
                rules, work, begin, n, first_share, second_share, first_child, second_child
            )
        else:
            n_right, n_left = split_small(rules, work, i, border, begin, n, first_share, second_share)
        for b in range(1, -1, -1):  # the first child is taken next, and its rows are the last
            first, size = (begin, n_right) if b else (begin + n, n_left)
            known_figures[n_waiting, GAIN] = np.nan
            known_figures[n_waiting, SHARE] = second_share if b else first_share
            child = known_figures[n_waiting, FIGURES:]
            if is_summed:
                is_pure = is_one_class(child, rules.n_classes)
            elif n_unknown == 0 and not is_squared:
                copy_figures(sums, int64(0), int64(2), b, rules.n_classes, child)
                is_pure = is_one_class(child, rules.n_classes)
            else:
                is_pure = sum_rows(rules, work, first, size, child)
            is_open = not is_leaf(child, is_pure, depth + 1, rules, m)
            waiting[n_waiting, DEPTH], waiting[n_waiting, BEGIN] = depth + 1, first
            waiting[n_waiting, N_ROWS], waiting[n_waiting, KEY] = size if is_open else 0, int64(key_of(key, b))
            n_waiting += 1
    fill_sizes(splits, first_node, n_nodes, waiting)
    return splits, results, n_nodes


@compiled
def fill_sizes(splits, first, after, sizes):
    """Set the size of each node's subtree, for nodes in depth-first order; `sizes` is a stack of scratch memory."""
    n = 0
    for node in range(after - 1, first - 1, -1):
        size = int64(1)
        if splits[node, SLOT] >= 0:  # the first child's is on top
            size += sizes[n - 1, 0] + sizes[n - 2, 0]
            n -= 2
        splits[node, SIZE] = size
        sizes[n, 0] = size
        n += 1


@compiled
def number_rows(problem, rules, work, lists, rows, starts, lengths, at):
    """Number the rows of a node from 0 and fill the buffers of its small subtree; how many rows there are."""
    n_lists, mask = problem.lengths.shape[0], (uint32(1) << uint32(problem.shift)) - uint32(1)
    first, n, m = starts[at, n_lists], lengths[at, n_lists], problem.numbers.shape[1]
    numbering, in_lanes = work.spare, has_bounds(rules)
    for j in range(n):
        row = rows[first + j]
        numbering[row] = j
        work.small_rows[j], work.small_weights[j] = j, problem.weights[row]
        work.row_classes[j], work.row_origin[j] = problem.classes[row], original_row(problem, row)
        if m > 0:
            work.row_numbers[j] = problem.numbers[row, 0]
    for i in range(n_lists):
        entries, begin, known = lists[i], uint64(starts[at, i]), lengths[at, i]
        position, value, by_position, n_values = work.position[i], work.value[i], work.by_position[i], uint32(0)
        work.list_of[rules.slot_columns[problem.list_slots[i]]], work.n_positions[i] = i, known
        if known < n:
            for j in range(n):
                position[j] = UNKNOWN
        if problem.distinct[i] and in_lanes:  # positions alone tell values apart
            for p in range(uint64(known)):
                position[numbering[entries[begin + p] & mask]] = uint16(p)
            continue
        for p in range(uint64(known)):
            entry = entries[begin + p]
            row = numbering[entry & mask]
            n_values += entry >> uint32(31)
            position[row], value[row], by_position[p] = uint16(p), uint16(n_values), uint16(row)
    return n
