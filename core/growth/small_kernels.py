"""Subtrees of few rows whose nodes draw some of many columns: the lists of all columns are no longer divided.

Rows are numbered from 0 in row order, and every list becomes the place of each row in it, two bytes.
A node keeps its rows only. A column that it draws is sorted by places: each sets a bit, and bits are read in order.

    list      c a d b          place   a 1, b 3, c 0, d 2
    node      a b d            bits    0 1 1 1   ->   a d b

The compiled twin of `grow.Grower`, as `grow_kernels` is, and with the same bytes. Nodes come out depth first, with the
figures that a tree keeps of them.
"""

import numpy as np
from numba import int64, uint16, uint32, uint64

from core.compiled_kernels import compiled, lowest_bit, making_arrays
from core.growth.division_kernels import copy_figures
from core.growth.drawing_kernels import draw_next, take_back
from core.growth.figure_kernels import gain_of_two
from core.growth.node_kernels import is_leaf, is_one_class
from core.growth.renumber_kernels import original_row
from core.growth.small_division_kernels import (
    divide_sides,
    divide_small,
    has_plain_copies,
    sum_branches,
    sum_rows,
    sum_sides,
)
from core.growth.small_look_kernels import is_looked_at, look_at_cuts, order_rows, tag_rows
from core.growth.small_scan_kernels import best_of_counts, best_of_numbers, best_of_weights
from core.growth.small_state import FIGURES, GAIN, HIGH, LOW, SHARE, SIZE, SLOT, UNKNOWN
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
    in_lanes, least = is_looked_at(rules), 0.0
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
        if in_lanes:
            tag_rows(work, begin, n)
        else:
            weigh_rows(work, begin, n)
        c = best_of_drawn(problem, rules, work, key, begin, n, figure)
        if c < 0 or work.drawn_gains[c] < max(rules.min_gain, rules.min_score) - rules.tolerance:
            continue
        i, border = work.cuts[c, LIST], work.cuts[c, PLACE]
        if in_lanes:
            n_unknown, least = sum_sides(rules, work, i, border, begin, n, sums)
        else:
            n_unknown = sum_branches(rules, work, i, border, begin, n, figure[FIGURES + 1], sums)
        marks[node, SLOT] = problem.list_slots[i]
        marks[node, LOW] = work.row_origin[work.cuts[c, LOW_ROW]]
        marks[node, HIGH] = work.row_origin[work.cuts[c, HIGH_ROW]]
        results[node, GAIN] = gain_of_two(
            sums, rules.criterion, rules.n_classes, figure[FIGURES] if n_unknown > 0 else 0.0
        )
        known = sums[0] + sums[1]
        first_share, second_share = sums[0] / known, sums[1] / known
        is_summed = in_lanes and has_plain_copies(rules, least, first_share, second_share)
        if is_summed:  # the second child waits first
            first_child, second_child = known_figures[n_waiting + 1, FIGURES:], known_figures[n_waiting, FIGURES:]
            n_right, n_left = divide_sides(
                rules, work, begin, n, first_share, second_share, first_child, second_child
            )
        else:
            n_right, n_left = divide_small(rules, work, i, border, begin, n, first_share, second_share)
        for b in range(1, -1, -1):  # the first child is the next, and its rows are the last
            first, size = (begin, n_right) if b else (begin + n_right, n_left)
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
    numbering, in_lanes = work.spare, is_looked_at(rules)
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
        work.list_of[rules.slot_columns[problem.list_slots[i]]], work.n_places[i] = i, known
        if known < n:
            for j in range(n):
                place[j] = UNKNOWN
        if problem.distinct[i] and in_lanes:  # places tell all
            for p in range(uint64(known)):
                place[numbering[entries[begin + p] & mask]] = uint16(p)
            continue
        for p in range(uint64(known)):
            entry = entries[begin + p]
            row = numbering[entry & mask]
            n_values += entry >> uint32(31)
            place[row], value[row], by_place[p] = uint16(p), uint16(n_values), uint16(row)
    return n


@compiled
def weigh_rows(work, begin, n):
    """`work.row_weights[row]`: what the rows of a node weigh."""
    for j in range(begin, begin + n):
        work.row_weights[work.small_rows[j]] = work.small_weights[j]


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
    n_words = (work.n_places[i] + 63) >> 6
    for word in range(n_words):
        words[word] = uint64(0)
    for j in range(uint64(begin), uint64(begin + n)):
        p = uint64(place[rows[j]])
        words[p >> uint64(6)] |= uint64(1) << (p & uint64(63))
    known, unknown = uint64(0), uint64(1) << uint64(UNKNOWN & 63)
    for word in range(n_words):
        bits = words[word] & ~(unknown * uint64(word == UNKNOWN >> 6))
        while bits:
            ordered[known] = by_place[64 * word + lowest_bit(bits)]
            bits &= bits - uint64(1)
            known += uint64(1)
    return int64(known)


@compiled
def look_at_list(rules, work, i, is_distinct, begin, n, figure, cut, bar):
    """`search_small` in lanes; a cut that gains less than the bar is none."""
    known, least = order_rows(work, i, begin, n), rules.min_leaf - TIE
    if known < 2:
        return NO_CUT
    gain, j, is_sure = look_at_cuts(work, i, is_distinct, known, least, rules.tolerance, bar * figure[FIGURES])
    if is_sure:
        return take_cut(work, i, j, gain, figure, cut) if j else NO_CUT
    weigh_rows(work, begin, n)
    return search_ordered(rules, work, i, is_distinct, begin, n, known, figure, cut)


@compiled
def take_cut(work, i, j, gain, figure, cut):
    """Write down the cut before the j-th row in order; its gain."""
    cut[LIST], cut[LOW_ROW], cut[HIGH_ROW] = i, work.ordered[j - 1], work.ordered[j]
    cut[PLACE] = work.place[i, cut[HIGH_ROW]]
    return gain / figure[FIGURES]


@compiled
def search_small(rules, work, i, begin, n, figure, cut):
    """The best cut of list i: its gain, and in `cut` where it is."""
    known = put_in_order(work, i, begin, n)
    return search_ordered(rules, work, i, False, begin, n, known, figure, cut) if known >= 2 else NO_CUT


@compiled
def search_ordered(rules, work, i, is_distinct, begin, n, known, figure, cut):
    """The same of rows that are in order; places tell values apart where all are distinct."""
    value, least, is_squared = work.place[i], rules.min_leaf - TIE, rules.criterion == SQUARED
    if not is_distinct:
        value = work.value[i]
    totals, centre = work.before, figure[FIGURES + 1]
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
    return take_cut(work, i, j, gain, figure, cut) if j else NO_CUT


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
def best_of_drawn(problem, rules, work, key, begin, n, figure):
    """The cut to make of a node, as its place in `work.cuts`; -1 when there is none."""
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    drawn, gains, in_lanes, most = work.drawn, work.drawn_gains, is_looked_at(rules), NO_CUT
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        column = draw_next(rules, work.order, work.taken, for_columns, turn)
        turn += 1
        if n == 2 and n_found > 0 and column > drawn[0]:
            continue  # every cut between two rows is the same: the earlier column is taken
        i, cut = work.list_of[column], work.cuts[n_found]
        if in_lanes:
            bar = most - 2.0 * rules.tolerance
            gains[n_found] = look_at_list(rules, work, i, problem.distinct[i], begin, n, figure, cut, bar)
        else:
            gains[n_found] = search_small(rules, work, i, begin, n, figure, cut)
        most = max(most, gains[n_found])
        drawn[n_found] = column
        if n == 2 and n_found > 0 and gains[n_found] > NO_CUT:
            drawn[0], gains[0], n_found = column, gains[n_found], 0
            for j in range(work.cuts.shape[1]):
                work.cuts[0, j] = work.cuts[1, j]
        n_found += gains[n_found] > NO_CUT
    take_back(work.order, work.taken, turn)
    winner = -1
    for c in range(n_found):
        if gains[c] >= most - rules.tolerance and (winner < 0 or drawn[c] < drawn[winner]):
            winner = c
    return winner
