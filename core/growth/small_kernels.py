"""Subtrees of few rows whose nodes draw some of many columns: the lists of all columns are no longer divided.

Rows are numbered from 0 in row order, at most 255 of them, and every list becomes the place of each row in it, a byte.
A node keeps its rows only. A column that it draws is sorted by places: each sets a bit, and bits are read in order.

    list      c a d b          place   a 1, b 3, c 0, d 2
    node      a b d            bits    0 1 1 1   ->   a d b

The compiled twin of `grow.Grower`, as `grow_kernels` is, and with the same bytes. Nodes come out depth first, with the
figures that a tree keeps of them.
"""

import numpy as np
from numba import int64, uint8, uint32, uint64

from core.compiled_kernels import compiled, lowest_bit, making_arrays
from core.growth.division_kernels import copy_figures
from core.growth.drawing_kernels import draw_next, take_back
from core.growth.figure_kernels import gain_of_two
from core.growth.node_kernels import is_leaf, is_one_class
from core.growth.renumber_kernels import original_row
from core.growth.small_scan_kernels import best_of_counts, best_of_numbers, best_of_weights
from core.growth.small_state import FIGURES, GAIN, HIGH, LOW, N_WORDS, SHARE, SIZE, SLOT, UNKNOWN
from core.randomness import FOR_COLUMNS
from core.randomness_kernels import key_of
from core.room_kernels import longer_rows
from core.splits.numeric_kernels import NO_CUT, SQUARED
from core.ties import TIE

DEPTH, BEGIN, N_ROWS, KEY = range(4)  # columns of what is known of a waiting node; its figures are apart
LIST, LOW_ROW, HIGH_ROW, PLACE = range(4)  # columns of a cut: its list, the rows on both sides, where the second is


@making_arrays
def grow_small(problem, rules, work, lists, rows, starts, lengths, at, depth, key, figures, marks, results, n_nodes):
    """`grow_kernels.grow_subtree` of a node with few rows, after the nodes that there are already.

    Returns the arrays of nodes, longer perhaps, and how many there are then. Of a node that waits all is known but its
    split, and a leaf waits too: nodes are written down when their turn comes, so that they stand depth first.
    """
    n, m = number_rows(problem, rules, work, lists, rows, starts, lengths, at), problem.numbers.shape[1]
    waiting, known_figures, sums = work.small_waiting, work.waiting_figures, work.child_sums
    n_figures, first_node, is_squared = figures.shape[0], n_nodes, rules.criterion == SQUARED
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
        if n_nodes > marks.shape[0]:
            marks, results = longer_rows(marks, node, n_nodes), longer_rows(results, node, n_nodes)
        marks[node, SLOT] = -1
        for j in range(FIGURES + n_figures):
            results[node, j] = figure[j]
        if n == 0:
            continue
        for j in range(begin, begin + n):
            work.row_weights[work.small_rows[j]] = work.small_weights[j]
        c = best_of_drawn(rules, work, key, begin, n, figure)
        if c < 0 or work.drawn_gains[c] < max(rules.min_gain, rules.min_score) - rules.tolerance:
            continue
        i, border = work.cuts[c, LIST], work.cuts[c, PLACE]
        n_unknown = sum_branches(rules, work, i, border, begin, n, figure[FIGURES + 1], sums)
        marks[node, SLOT] = problem.list_slots[i]
        marks[node, LOW] = work.row_origin[work.cuts[c, LOW_ROW]]
        marks[node, HIGH] = work.row_origin[work.cuts[c, HIGH_ROW]]
        results[node, GAIN] = gain_of_two(
            sums, rules.criterion, rules.n_classes, figure[FIGURES] if n_unknown > 0 else 0.0
        )
        known = sums[0] + sums[1]
        first_share, second_share = sums[0] / known, sums[1] / known
        n_right, n_left = divide_small(rules, work, i, border, begin, n, first_share, second_share)
        for b in range(1, -1, -1):  # the first child is the next, and its rows are the last
            first, size = (begin, n_right) if b else (begin + n_right, n_left)
            known_figures[n_waiting, GAIN] = np.nan
            known_figures[n_waiting, SHARE] = second_share if b else first_share
            child = known_figures[n_waiting, FIGURES:]
            if n_unknown == 0 and not is_squared:
                copy_figures(sums, int64(0), int64(2), b, rules.n_classes, child)
                is_pure = is_one_class(child, rules.n_classes)
            else:
                is_pure = sum_rows(rules, work, first, size, child)
            is_open = not is_leaf(child, is_pure, depth + 1, rules, m)
            waiting[n_waiting, DEPTH], waiting[n_waiting, BEGIN] = depth + 1, first
            waiting[n_waiting, N_ROWS], waiting[n_waiting, KEY] = size if is_open else 0, int64(key_of(key, b))
            n_waiting += 1
    fill_sizes(marks, first_node, n_nodes, waiting)
    return marks, results, n_nodes


@compiled
def fill_sizes(marks, first, after, sizes):
    """The size of every subtree of nodes that stand depth first; `sizes` has room for those not part of another yet."""
    n = 0
    for node in range(after - 1, first - 1, -1):
        size = int64(1)
        if marks[node, SLOT] >= 0:  # the first child's is the last
            size += sizes[n - 1, 0] + sizes[n - 2, 0]
            n -= 2
        marks[node, SIZE] = size
        sizes[n, 0] = size
        n += 1


@compiled
def number_rows(problem, rules, work, lists, rows, starts, lengths, at):
    """The rows of a node as a small subtree has them; how many."""
    n_lists, mask = problem.lengths.shape[0], (uint32(1) << uint32(problem.shift)) - uint32(1)
    first, n, m = starts[at, n_lists], lengths[at, n_lists], problem.numbers.shape[1]
    numbering = work.spare
    for j in range(n):
        row = rows[first + j]
        numbering[row] = j
        work.small_rows[j], work.small_weights[j] = j, problem.weights[row]
        work.row_classes[j], work.row_origin[j] = problem.classes[row], original_row(problem, row)
        if m > 0:
            work.row_numbers[j] = problem.numbers[row, 0]
    for i in range(n_lists):
        entries, begin, known = lists[i], uint64(starts[at, i]), lengths[at, i]
        place, value, by_place, n_values = work.place[i], work.value[i], work.by_place[i], uint32(0)
        work.list_of[rules.slot_columns[problem.list_slots[i]]] = i
        if known < n:
            for j in range(n):
                place[j] = UNKNOWN
        for p in range(uint64(known)):
            entry = entries[begin + p]
            row = numbering[entry & mask]
            n_values += entry >> uint32(31)
            place[row], value[row], by_place[p] = uint8(p), uint8(n_values), uint8(row)
    return n


@compiled
def put_in_order(work, i, begin, n):
    """Fill `work.ordered` with a node's rows in the order of list i; how many are in it."""
    place, by_place, rows, words, ordered = (
        work.place[i],
        work.by_place[i],
        work.small_rows,
        work.bit_words,
        work.ordered,
    )
    for word in range(N_WORDS):
        words[word] = uint64(0)
    for j in range(uint64(begin), uint64(begin + n)):
        p = uint64(place[rows[j]])
        words[p >> uint64(6)] |= uint64(1) << (p & uint64(63))
    words[UNKNOWN >> 6] &= ~(uint64(1) << uint64(UNKNOWN & 63))
    known = uint64(0)
    for word in range(N_WORDS):
        bits = words[word]
        while bits:
            ordered[known] = by_place[64 * word + lowest_bit(bits)]
            bits &= bits - uint64(1)
            known += uint64(1)
    return int64(known)


@compiled
def search_small(rules, work, i, begin, n, figure, cut):
    """The best cut of list i: its gain, and in `cut` where it is."""
    known, least, is_squared = put_in_order(work, i, begin, n), rules.min_leaf - TIE, rules.criterion == SQUARED
    if known < 2:
        return NO_CUT
    value, totals, centre = work.value[i], work.before, figure[FIGURES + 1]
    if known < n:
        total_known(rules, work, i, begin, n, centre, totals)
    elif is_squared:
        totals[0], totals[1] = figure[FIGURES], figure[FIGURES + 2]
    else:
        for k in range(rules.n_classes):
            totals[k] = figure[FIGURES + 1 + k]
    if is_squared:
        gain, j = best_of_numbers(work, value, known, centre, totals, least, rules.tolerance)
    elif rules.is_whole:
        gain, j = best_of_counts(work, value, known, rules.n_classes, totals, least, rules.tolerance)
    else:
        gain, j = best_of_weights(work, value, known, rules.criterion, rules.n_classes, totals, least, rules.tolerance)
    if j == 0:
        return NO_CUT
    cut[LIST], cut[LOW_ROW], cut[HIGH_ROW] = i, work.ordered[j - 1], work.ordered[j]
    cut[PLACE] = work.place[i, cut[HIGH_ROW]]
    return gain / figure[FIGURES]


@compiled
def total_known(rules, work, i, begin, n, centre, totals):
    """The class weights of the node's rows in list i, or their weight and the sum of their centred numbers."""
    rows, weights, place, numbers = work.small_rows, work.small_weights, work.place[i], work.row_numbers
    is_squared = rules.criterion == SQUARED
    for k in range(2 if is_squared else rules.n_classes):
        totals[k] = 0.0
    for j in range(begin, begin + n):
        row = rows[j]
        weight = weights[j] * (place[row] != UNKNOWN)
        if is_squared:
            totals[0] += weight
            totals[1] += weight * (numbers[row] - centre)
        else:
            totals[work.row_classes[row]] += weight


@compiled
def best_of_drawn(rules, work, key, begin, n, figure):
    """The cut to make of a node, as its place in `work.cuts`; -1 when there is none."""
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    drawn, gains = work.drawn, work.drawn_gains
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        column = draw_next(rules, work.order, work.taken, for_columns, turn)
        turn += 1
        if n == 2 and n_found > 0 and column > drawn[0]:
            continue  # every cut between two rows is the same: the earlier column is taken
        gains[n_found] = search_small(rules, work, work.list_of[column], begin, n, figure, work.cuts[n_found])
        drawn[n_found] = column
        if n == 2 and n_found > 0 and gains[n_found] > NO_CUT:
            drawn[0], gains[0], n_found = column, gains[n_found], 0
            for j in range(work.cuts.shape[1]):
                work.cuts[0, j] = work.cuts[1, j]
        n_found += gains[n_found] > NO_CUT
    take_back(work.order, work.taken, turn)
    most, winner = NO_CUT, -1
    for c in range(n_found):
        most = max(most, gains[c])
    for c in range(n_found):
        if gains[c] >= most - rules.tolerance and (winner < 0 or drawn[c] < drawn[winner]):
            winner = c
    return winner


@compiled
def sum_branches(rules, work, i, border, begin, n, centre, out):
    """`division_kernels.branch_figures` of a cut before a place; how many rows are not in the list."""
    rows, weights, place, is_squared = work.small_rows, work.small_weights, work.place[i], rules.criterion == SQUARED
    width, n_unknown = 3 if is_squared else rules.n_classes, 0
    for j in range(2 + 2 * width):
        out[j] = 0.0
    for j in range(begin, begin + n):
        row, weight = rows[j], weights[j]
        p = int64(place[row])
        if p == UNKNOWN:
            n_unknown += 1
            continue
        to = int64(p >= border)
        here = 2 + to * width
        out[to] += weight
        if is_squared:
            off = work.row_numbers[row] - centre
            out[here] += weight
            out[here + 1] += off * weight
            out[here + 2] += off * off * weight
        else:
            out[here + work.row_classes[row]] += weight
    return n_unknown


@compiled
def divide_small(rules, work, i, border, begin, n, first_share, second_share):
    """Give the second child its rows, from `begin` on, and the first its own after them; how many each.

    What of a row that is not in the list goes where is as in `division_kernels.settle_copies`.
    """
    rows, weights, others, other_weights = work.small_rows, work.small_weights, work.others, work.other_weights
    place, heavier = work.place[i], 0 if first_share >= max(first_share, second_share) - TIE else 1
    here, there = begin, 0
    for j in range(begin, begin + n):
        row, weight = rows[j], weights[j]
        p = int64(place[row])
        to, left, right = int64(p >= border), weight, weight
        if p == UNKNOWN:
            to, left, right = 2, weight * first_share, weight * second_share
            if rules.min_copy > 0.0 and min(left, right) < rules.min_copy - TIE:
                to, left, right = heavier, weight, weight
            elif min(left, right) <= 0.0:
                to = 0 if first_share > second_share else 1
        rows[here], weights[here] = row, right
        others[there], other_weights[there] = row, left
        here += to != 0
        there += to != 1
    for j in range(there):
        rows[here + j], weights[here + j] = others[j], other_weights[j]
    return here - begin, there


@compiled
def sum_rows(rules, work, begin, n, figures):
    """`node_kernels.node_figures`: whether all targets are equal."""
    rows, weights, weight, is_pure = work.small_rows, work.small_weights, 0.0, True
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            figures[1 + k] = 0.0
        for j in range(begin, begin + n):
            figures[1 + work.row_classes[rows[j]]] += weights[j]
            weight += weights[j]
        figures[0] = weight
        return is_one_class(figures, rules.n_classes)
    numbers, centre, moment, square, around = work.row_numbers, 0.0, 0.0, 0.0, 0.0
    first = numbers[rows[begin]]
    for j in range(begin, begin + n):
        weight += weights[j]
        centre += weights[j] * numbers[rows[j]]
        is_pure &= numbers[rows[j]] == first
    centre /= weight
    for j in range(begin, begin + n):
        off = numbers[rows[j]] - centre
        moment += off * weights[j]
        square += off * off * weights[j]
    mean = centre + moment / weight
    for j in range(begin, begin + n):
        off = numbers[rows[j]] - mean
        around += weights[j] * (off * off)
    figures[0], figures[1], figures[2], figures[3], figures[4] = weight, centre, moment, square, around
    return is_pure
