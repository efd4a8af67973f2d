"""Grows a whole multivariate tree, depth first and left to right; equals `growth.grow` with `oblique`.

A node's rows are a slice of one long list, with their weights in another, and it has a slice of every column's sorted
list. Its second child's slice comes first, its first child's after it:

    list   ... | slice of the node |                   grown next, with all its descendants
           ... | second | first    | ...                      v
                        ^ popped first: what it writes comes after its own start

`Problem` and `Rules` are those of `methods.oblique.grow`. The kernels choose the tests and sum up both sides in row
order; `methods.oblique.assemble` computes the figures by the definitions.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import int64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import longer_list, longer_lists, longer_rows
from core.growth.kernels.node.split_list import BOTH, LEFT, RIGHT, split_list
from core.growth.kernels.node.sums import is_leaf
from core.methods.oblique.kernels.attribute import NONE, best_attribute, gain_and_score
from core.methods.oblique.kernels.oblique import best_sum
from core.methods.oblique.kernels.start import STOP
from core.splits.kernels.numeric import BLOCK, NO_CUT

DONE = 0  # an index into `progress`
COLUMN, CODE, TERMS, PARENT, SIZE, N_LINKS = range(6)  # columns of `links`
# Columns of `figures`. The node's class weights follow the named ones, then the class weights of both sides.
THRESHOLD, SHARE, IS_COMPLETE, LEFT_WEIGHT, RIGHT_WEIGHT, WEIGHT, N_FIGURES = range(7)
START, LENGTH, DEPTH, ABOVE, N_INFOS = range(5)  # columns of `infos`, the waiting nodes


class Node(NamedTuple):
    """The node being grown: its rows and their weights, in row order, and its slices of the lists."""

    rows: Any
    weights: Any
    weight: Any
    class_weights: Any
    starts: Any
    lengths: Any
    key: Any


class Work(NamedTuple):
    """Scratch shared by all nodes; `ways` is by row, `side` by position in the node.

    `pairs` is empty and `flags` is 0; shared kernels expect them.
    """

    ways: Any
    side: Any
    kept_rows: Any
    kept_weights: Any
    other: Any
    blocks: Any
    left: Any
    before: Any
    totals: Any
    counts: Any
    left_counts: Any
    sums: Any
    gains: Any
    scores: Any
    thresholds: Any
    passes: Any
    levels: Any
    level_weights: Any
    others: Any
    other_weights: Any
    pairs: Any
    flags: Any


@making_arrays
def work_for(problem):
    """Allocate the scratch for the nodes of a tree."""
    n_rows, n_classes, n_slots = len(problem.classes), problem.n_classes, problem.first_slots[-1]
    n_levels = problem.n_levels.max()
    return Work(
        np.empty(n_rows, np.uint8),
        np.empty(n_rows, np.uint8),
        np.empty(n_rows, np.int64),
        np.empty(n_rows),
        np.empty(n_rows, np.uint32),
        np.empty((n_rows // BLOCK + 4, n_classes)),
        np.empty(2 * n_classes),
        np.empty(n_classes),
        np.empty(n_classes),
        np.empty(n_classes, np.int64),
        np.empty(n_classes, np.int64),
        np.empty(2 * n_classes),
        np.empty(n_slots),
        np.empty(n_slots),
        np.empty(n_slots),
        np.empty(n_slots, np.bool_),
        np.empty((n_levels, n_classes)),
        np.empty(n_levels),
        np.empty((n_levels, n_classes)),
        np.empty(n_levels),
        np.empty((0, 2)),
        np.zeros(1 + BOTH, np.uint32),
    )


@making_arrays
def grow_multivariate(problem, rules, progress):
    """The links and figures of every node, and column, code and weight of all terms; their columns are named above."""
    n_rows, n_lists, n_classes, work = len(problem.classes), len(problem.lengths), problem.n_classes, work_for(problem)
    rows, weights, lists = np.arange(n_rows), problem.weights.copy(), problem.lists
    infos, shares, keys = np.empty((64, N_INFOS), np.int64), np.empty(64), np.empty(64, np.uint64)
    starts, lengths = np.empty((64, n_lists), np.int64), np.empty((64, n_lists), np.int64)
    links, figures = np.empty((64, N_LINKS), np.int64), np.empty((64, N_FIGURES + 3 * n_classes))
    terms, term_weights, n_terms, n_nodes, n_waiting = np.empty((64, 2), np.int64), np.empty(64), 0, 0, 1
    infos[0, START], infos[0, LENGTH], infos[0, DEPTH], infos[0, ABOVE] = 0, n_rows, 0, -1
    shares[0], keys[0], starts[0], lengths[0] = 1.0, rules.root_key, 0, problem.lengths
    while n_waiting > 0 and progress[STOP] == 0.0:
        n_waiting -= 1
        start, n, depth = infos[n_waiting, START], infos[n_waiting, LENGTH], infos[n_waiting, DEPTH]
        links, figures = longer_rows(links, n_nodes, n_nodes + 1), longer_rows(figures, n_nodes, n_nodes + 1)
        number, n_nodes, here = n_nodes, n_nodes + 1, figures[n_nodes]
        links[number, COLUMN], links[number, CODE], links[number, TERMS] = NONE, NONE, n_terms
        links[number, PARENT], links[number, SIZE] = infos[n_waiting, ABOVE], 1
        here[:], here[SHARE] = np.nan, shares[n_waiting]
        is_pure = add_up_classes(problem, rows[start : start + n], weights[start : start + n], here)
        column, is_sum = int64(NONE), False
        if not is_leaf(here[WEIGHT:], is_pure, depth, rules, 0):
            node = Node(
                rows[start : start + n],
                weights[start : start + n],
                here[WEIGHT],
                here[N_FIGURES : N_FIGURES + n_classes],
                starts[n_waiting],
                lengths[n_waiting],
                keys[n_waiting],
            )
            if problem.has_missing:
                for i in range(n):
                    problem.weights[node.rows[i]] = node.weights[i]
            column, code, new_terms, new_weights, is_sum = split_of(problem, rules, work, lists, node, here, progress)
            links[number, COLUMN], links[number, CODE] = column, code
        if column == NONE:
            progress[DONE] += here[WEIGHT]
            continue
        if is_sum:
            n_more = n_terms + new_weights.shape[0]
            terms, term_weights = longer_rows(terms, n_terms, n_more), longer_list(term_weights, n_terms, n_more)
            terms[n_terms:n_more], term_weights[n_terms:n_more] = new_terms, new_weights
            n_terms = n_more
        first, second = here[LEFT_WEIGHT], here[RIGHT_WEIGHT]
        first, second = first / (first + second), second / (first + second)
        rows, weights = longer_list(rows, start + n, start + 2 * n), longer_list(weights, start + n, start + 2 * n)
        n_second, n_first, n_both = split_rows(rules, work, rows, weights, start, n, first, second)
        infos, shares = longer_rows(infos, n_waiting, n_waiting + 2), longer_list(shares, n_waiting, n_waiting + 2)
        keys = longer_list(keys, n_waiting, n_waiting + 2)
        starts = longer_rows(starts, n_waiting + 1, n_waiting + 2)
        lengths = longer_rows(lengths, n_waiting + 1, n_waiting + 2)
        lists = longer_lists(lists, starts[n_waiting], lengths[n_waiting], n_both)
        split_lists(problem, work, lists, starts[n_waiting : n_waiting + 2], lengths[n_waiting : n_waiting + 2])
        key = keys[n_waiting]
        for branch, at, n_child, share in ((1, start, n_second, second), (0, start + n_second, n_first, first)):
            infos[n_waiting, START], infos[n_waiting, LENGTH] = at, n_child
            infos[n_waiting, DEPTH], infos[n_waiting, ABOVE] = depth + 1, number
            shares[n_waiting], keys[n_waiting] = share, key_of(key, branch)
            n_waiting += 1
    for number in range(n_nodes - 1, 0, -1):
        links[links[number, PARENT], SIZE] += links[number, SIZE]
    return links[:n_nodes].copy(), figures[:n_nodes].copy(), terms[:n_terms].copy(), term_weights[:n_terms].copy()


@compiled
def add_up_classes(problem, rows, weights, here):
    """Write the weight of a node and of its classes; returns whether it is pure or empty."""
    weight, is_pure, by_class = 0.0, True, here[N_FIGURES : N_FIGURES + problem.n_classes]
    by_class[:] = 0.0
    for i in range(len(rows)):
        by_class[problem.classes[rows[i]]] += weights[i]
        weight += weights[i]
        is_pure &= problem.classes[rows[i]] == problem.classes[rows[0]]
    here[WEIGHT] = weight
    return is_pure


@making_arrays
def split_of(problem, rules, work, lists, node, here, progress):
    """`oblique.best_split`: column and category of the test, or column and terms of a sum; column `NONE` if no split.

    Also writes the figures of the split, and the side of each row to `work.side`.
    """
    score, column, code, threshold = best_attribute(problem, rules, work, lists, node)
    terms, weights, sums, sum_threshold = best_sum(problem, rules, node, progress)
    is_sum, gain = False, NO_CUT
    if not np.isnan(sum_threshold):
        for i in range(len(sums)):
            work.side[i] = BOTH if np.isnan(sums[i]) else (RIGHT if sums[i] > sum_threshold else LEFT)
        gain, sum_score = note_sides(problem, rules, work, node, here)
        is_sum = sum_score > score + TIE
        if is_sum:
            score, column, code, threshold = sum_score, terms[0, 0], int64(NONE), sum_threshold
    if not is_sum and column != NONE:
        for i in range(len(node.rows)):
            value = problem.cells[node.rows[i], column]
            is_right = value > threshold if code == NONE else value != code
            work.side[i] = BOTH if np.isnan(value) else (RIGHT if is_right else LEFT)
        gain, score = note_sides(problem, rules, work, node, here)
    if gain < rules.min_gain - TIE or score < rules.min_score - TIE:
        return int64(NONE), int64(NONE), terms, weights, False
    here[THRESHOLD] = threshold
    return column, code, terms, weights, is_sum


@compiled
def note_sides(problem, rules, work, node, here):
    """Write the weight and class weights of both sides, and whether all rows have a side; returns gain and score."""
    n_classes, is_complete, left, right = problem.n_classes, True, 0.0, 0.0
    sums = here[N_FIGURES + n_classes :]
    sums[:] = 0.0
    for i in range(len(node.rows)):
        weight, side = node.weights[i], work.side[i]
        k = problem.classes[node.rows[i]]
        if side == BOTH:
            is_complete = False
        elif side == LEFT:
            sums[k] += weight
            left += weight
        else:
            sums[n_classes + k] += weight
            right += weight
    here[LEFT_WEIGHT], here[RIGHT_WEIGHT], here[IS_COMPLETE] = left, right, is_complete
    return gain_and_score(rules, sums, left, right, node.weight)


@compiled
def split_rows(rules, work, rows, weights, start, n, first, second):
    """Partition a node's rows: the second child's to its start, the first child's after them.

    Returns the number of rows of the second child, of the first, and of both. `fractional_weights.send_down`, with
    `without_light_copies` if light copies are not wanted. `work.ways` receives where each row goes, for the lists.
    """
    n_second, n_first, smallest, heavier = 0, 0, min(first, second), LEFT if first >= second - TIE else RIGHT
    for i in range(n):  # branch-free: a row is written to both sides, and only its counters advance
        row, weight, way = rows[start + i], weights[start + i], work.side[i]
        if way == BOTH and weight * smallest < rules.min_copy - TIE:
            way = heavier
        to_first, to_second = weight * first if way == BOTH else weight, weight * second if way == BOTH else weight
        goes_first, goes_second = way != RIGHT and to_first > 0, way != LEFT and to_second > 0
        rows[start + n_second], weights[start + n_second] = row, to_second
        work.kept_rows[n_first], work.kept_weights[n_first] = row, to_first
        n_second += goes_second
        n_first += goes_first
        work.ways[row] = (LEFT if goes_first else 0) | (RIGHT if goes_second else 0)
    for i in range(n_first):
        rows[start + n_second + i], weights[start + n_second + i] = work.kept_rows[i], work.kept_weights[i]
    return n_second, n_first, n_second + n_first - n


@compiled
def split_lists(problem, work, lists, starts, lengths):
    """Partition the sorted lists; row 0 of `starts` and `lengths` becomes the second child's, row 1 the first's."""
    for c in range(lists.shape[0]):
        start, n, keeper = starts[0, c], lengths[0, c], int64(1)
        n_second, n_first = split_list(
            lists[c], start, n, problem.shift, work.ways, keeper, work.other, problem.distinct[c], work.flags
        )
        for i in range(n_first):
            lists[c, start + n_second + i] = work.other[i]
        lengths[0, c], starts[1, c], lengths[1, c] = n_second, start + n_second, n_first
