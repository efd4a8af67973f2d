"""Subtrees of few rows whose nodes draw some of many columns: the lists of all columns are no longer divided.

Rows are numbered from 0 in row order, at most 255 of them, and every list becomes the place of each row in it, a byte.
A node keeps its rows only. A column that it draws is sorted by places: each sets a bit, and bits are read in order.

    list      c a d b          place   a 1, b 3, c 0, d 2
    node      a b d            bits    0 1 1 1   ->   a d b

The compiled twin of `grow.Grower`, as `grow_kernels` is, and with the same bytes.
"""

import numpy as np
from numba import int64, uint8, uint32, uint64

from core.compiled_kernels import compiled, lowest_bit
from core.growth.division_kernels import copy_figures
from core.growth.drawing_kernels import draw_next, take_back
from core.growth.growth_state import (
    BRANCH,
    HIGH,
    IS_CODED,
    IS_COMPLETE,
    KEY,
    LEVELS,
    LOW,
    MISSING,
    N_ALLOWED,
    N_BRANCHES,
    N_MORE,
    PARENT,
    SLOT,
    SUMS,
    THRESHOLD,
)
from core.growth.node_kernels import is_leaf, is_one_class
from core.growth.renumber_kernels import original_row
from core.growth.room_kernels import longer_list, longer_rows
from core.growth.small_scan_kernels import best_of_counts, best_of_numbers, best_of_weights
from core.growth.small_state import UNKNOWN
from core.randomness import FOR_COLUMNS
from core.randomness_kernels import key_of
from core.splits.numeric_kernels import NO_CUT, SQUARED
from core.ties import TIE

NODE, DEPTH, BEGIN, SIZE = range(4)  # columns of what is known of a waiting node
LIST, LOW_ROW, HIGH_ROW, PLACE = range(4)  # columns of a cut: its list, the rows on both sides, where the second is


@compiled
def number_rows(problem, small, numbering, lists, rows, starts, lengths, at):
    """The rows of a node as a small subtree has them; how many."""
    n_lists, mask = problem.lengths.shape[0], (uint32(1) << uint32(problem.shift)) - uint32(1)
    first, n, m = starts[at, n_lists], lengths[at, n_lists], problem.numbers.shape[1]
    for j in range(n):
        row = rows[first + j]
        numbering[row] = j
        small.rows[j], small.weights[j] = j, problem.weights[row]
        small.classes[j], small.origin[j] = problem.classes[row], original_row(problem, row)
        if m > 0:
            small.numbers[j] = problem.numbers[row, 0]
    for i in range(n_lists):
        entries, begin, known = lists[i], uint64(starts[at, i]), lengths[at, i]
        place, value, by_place = small.place[i], small.value[i], small.by_place[i]
        if known < n:
            for j in range(n):
                place[j] = UNKNOWN
        n_values = uint32(0)
        for p in range(uint64(known)):
            entry = entries[begin + p]
            row = numbering[entry & mask]
            n_values += entry >> uint32(31)
            place[row], value[row], by_place[p] = uint8(p), uint8(n_values), uint8(row)
    return n


@compiled
def put_in_order(small, i, begin, n):
    """Fill `small.ordered` with a node's rows in the order of list i; how many are in it."""
    place, by_place, rows, words, ordered = small.place[i], small.by_place[i], small.rows, small.words, small.ordered
    for word in range(words.shape[0]):
        words[word] = uint64(0)
    for j in range(uint64(begin), uint64(begin + n)):
        p = uint64(place[rows[j]])
        words[p >> uint64(6)] |= uint64(1) << (p & uint64(63))
    words[UNKNOWN >> 6] &= ~(uint64(1) << uint64(UNKNOWN & 63))
    known = uint64(0)
    for word in range(words.shape[0]):
        bits = words[word]
        while bits:
            ordered[known] = by_place[64 * word + lowest_bit(bits)]
            bits &= bits - uint64(1)
            known += uint64(1)
    return int64(known)


@compiled
def search_small(rules, small, i, begin, n, figures, cut):
    """The best cut of list i: its gain, and in `cut` where it is."""
    known, least, is_squared = put_in_order(small, i, begin, n), rules.min_leaf - TIE, rules.criterion == SQUARED
    if known < 2:
        return NO_CUT
    value, totals = small.value[i], small.totals
    if is_squared:
        totals[0], totals[1] = figures[0], figures[2]
    else:
        for k in range(rules.n_classes):
            totals[k] = figures[1 + k]
    if known < n:
        total_known(rules, small, known, figures[1], totals)
    if is_squared:
        gain, j = best_of_numbers(small, value, known, figures[1], totals, least, rules.tolerance)
    elif rules.is_whole:
        gain, j = best_of_counts(small, value, known, rules.n_classes, totals, least, rules.tolerance)
    else:
        gain, j = best_of_weights(small, value, known, rules.n_classes, totals, least, rules.tolerance)
    if j == 0:
        return NO_CUT
    cut[LIST], cut[LOW_ROW], cut[HIGH_ROW] = i, small.ordered[j - 1], small.ordered[j]
    cut[PLACE] = small.place[i, cut[HIGH_ROW]]
    return gain / figures[0]


@compiled
def total_known(rules, small, n, centre, totals):
    """The class weights of the rows in order, or their weight and the sum of their centred numbers."""
    ordered, weights, numbers, is_squared = small.ordered, small.row_weights, small.numbers, rules.criterion == SQUARED
    for k in range(2 if is_squared else rules.n_classes):
        totals[k] = 0.0
    for j in range(n):
        row = ordered[j]
        if is_squared:
            totals[0] += weights[row]
            totals[1] += weights[row] * (numbers[row] - centre)
        else:
            totals[small.classes[row]] += weights[row]


@compiled
def best_of_drawn(rules, work, small, key, begin, n, figures):
    """The cut to make of a node, as the number of the draw that has it in `small.cuts`; -1 when there is none."""
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        column = draw_next(rules, work.order, work.taken, for_columns, turn)
        small.columns[n_found] = column
        small.gains[n_found] = search_small(rules, small, small.lists[column], begin, n, figures, small.cuts[n_found])
        n_found += small.gains[n_found] > NO_CUT
        turn += 1
    take_back(work.order, work.taken, turn)
    most, winner = NO_CUT, -1
    for c in range(n_found):
        most = max(most, small.gains[c])
    for c in range(n_found):
        if small.gains[c] >= most - rules.tolerance and (winner < 0 or small.columns[c] < small.columns[winner]):
            winner = c
    return winner


@compiled
def sum_branches(rules, small, place, cut, begin, n, figures, out, at):
    """`division_kernels.branch_figures` of a cut; how many rows are not in its list."""
    rows, weights, is_squared = small.rows, small.weights, rules.criterion == SQUARED
    width, n_unknown, border = 3 if is_squared else rules.n_classes, 0, cut[PLACE]
    for j in range(2 + 2 * width):
        out[at + j] = 0.0
    for j in range(begin, begin + n):
        row, weight = rows[j], weights[j]
        p = int64(place[row])
        if p == UNKNOWN:
            n_unknown += 1
            continue
        to = int64(p >= border)
        here = at + 2 + to * width
        out[at + to] += weight
        if is_squared:
            off = small.numbers[row] - figures[1]
            out[here] += weight
            out[here + 1] += off * weight
            out[here + 2] += off * off * weight
        else:
            out[here + small.classes[row]] += weight
    return n_unknown


@compiled
def divide_small(rules, small, place, cut, begin, n, keeper, shares):
    """Give each child its rows: the keeper those from `begin` on, the other the ones after them; how many each.

    `division_kernels.settle_copies` for the rows that are not in the list.
    """
    rows, weights, others, other_weights = small.rows, small.weights, small.others, small.other_weights
    border, heavier = cut[PLACE], 0 if shares[0] >= max(shares[0], shares[1]) - TIE else 1
    here, there = begin, 0
    for j in range(begin, begin + n):
        row, weight = rows[j], weights[j]
        p = int64(place[row])
        if p != UNKNOWN:
            to, kept, moved = int64(p >= border), weight, weight
        else:
            to, kept, moved = 2, weight * shares[keeper], weight * shares[1 - keeper]
            if rules.min_copy > 0.0 and min(kept, moved) < rules.min_copy - TIE:
                to, kept, moved = heavier, weight, weight
            elif min(kept, moved) <= 0.0:
                to = 0 if shares[0] > shares[1] else 1
        rows[here], weights[here] = row, kept
        others[there], other_weights[there] = row, moved
        here += to != 1 - keeper
        there += to != keeper
    for j in range(there):
        rows[here + j], weights[here + j] = others[j], other_weights[j]
    return here - begin, there


@compiled
def sum_rows(rules, small, begin, n, figures):
    """`node_kernels.node_figures`: whether all targets are equal."""
    rows, weights, weight, is_pure = small.rows, small.weights, 0.0, True
    for j in range(figures.shape[0]):
        figures[j] = 0.0
    if rules.criterion != SQUARED:
        for j in range(begin, begin + n):
            figures[1 + small.classes[rows[j]]] += weights[j]
            weight += weights[j]
        figures[0] = weight
        return is_one_class(figures, rules.n_classes)
    numbers, centre, moment, square, around = small.numbers, 0.0, 0.0, 0.0, 0.0
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


@compiled
def grow_small(problem, rules, work, lists, rows, starts, lengths, at, node, depth, tree, sizes):
    """`grow_kernels.grow_subtree` of a node with few rows, into a tree that has so many nodes and sums already.

    Returns the arrays of the tree, longer perhaps, and their sizes.
    """
    links, figures, sums = tree
    n_nodes, n_sums = sizes
    small, waiting = work.small, work.small.waiting
    n = number_rows(problem, small, work.spare, lists, rows, starts, lengths, at)
    for i in range(problem.lengths.shape[0]):
        small.lists[rules.slot_columns[problem.list_slots[i]]] = i
    m, is_squared = problem.numbers.shape[1], rules.criterion == SQUARED
    width = 3 if is_squared else rules.n_classes
    waiting[0, NODE], waiting[0, DEPTH], waiting[0, BEGIN], waiting[0, SIZE] = node, depth, 0, n
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        node, depth, begin, n = (
            waiting[n_waiting, 0],
            waiting[n_waiting, 1],
            waiting[n_waiting, 2],
            waiting[n_waiting, 3],
        )
        for j in range(begin, begin + n):
            small.row_weights[small.rows[j]] = small.weights[j]
        figure, key = figures[node], uint64(links[node, KEY])
        c = best_of_drawn(rules, work, small, key, begin, n, figure)
        if c < 0 or small.gains[c] < max(rules.min_gain, rules.min_score) - rules.tolerance:
            continue
        cut = small.cuts[c]
        place, link = small.place[cut[LIST]], links[node]
        n_more = n_sums + 2 * (1 + width)
        sums = longer_list(sums, n_sums, n_more + N_MORE)
        is_known = sum_branches(rules, small, place, cut, begin, n, figure, sums, n_sums) == 0
        link[SLOT], link[IS_CODED] = problem.list_slots[cut[LIST]], 0
        link[LOW], link[HIGH] = small.origin[cut[LOW_ROW]], small.origin[cut[HIGH_ROW]]
        link[N_BRANCHES], link[SUMS], link[IS_COMPLETE] = 2, n_sums, is_known
        sums[n_more + THRESHOLD], sums[n_more + N_ALLOWED], sums[n_more + MISSING] = np.nan, 0.0, 0.0
        known = sums[n_sums] + sums[n_sums + 1]
        small.shares[0], small.shares[1] = sums[n_sums] / known, sums[n_sums + 1] / known
        n_left = 0
        for j in range(begin, begin + n):
            n_left += place[small.rows[j]] < cut[PLACE]
        keeper = 0 if 2 * n_left >= n else 1
        kept, moved = divide_small(rules, small, place, cut, begin, n, keeper, small.shares)
        links, figures = longer_rows(links, n_nodes, n_nodes + 2), longer_rows(figures, n_nodes, n_nodes + 2)
        for turn in range(2):
            b = keeper if turn == 0 else 1 - keeper
            child, first, size = n_nodes + b, begin if turn == 0 else begin + kept, kept if turn == 0 else moved
            links[child, PARENT], links[child, BRANCH], links[child, SLOT] = node, b, -1
            links[child, SUMS], links[child, LEVELS], links[child, KEY] = 0, 0, int64(key_of(key, b))
            if is_known and not is_squared:
                copy_figures(sums, n_sums, 2, b, rules.n_classes, figures[child])
                is_pure = is_one_class(figures[child], rules.n_classes)
            else:
                is_pure = sum_rows(rules, small, first, size, figures[child])
            if not is_leaf(figures[child], is_pure, depth + 1, rules, m):
                waiting[n_waiting, NODE], waiting[n_waiting, DEPTH] = child, depth + 1
                waiting[n_waiting, BEGIN], waiting[n_waiting, SIZE] = first, size
                n_waiting += 1
        n_sums = n_more + N_MORE
        n_nodes += 2
    return links, figures, sums, n_nodes, n_sums
