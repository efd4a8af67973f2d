"""`best_split.best_split`, compiled for multivariate trees: the best test on one attribute in a node.

Ordered columns are sorted lists of rows, as in `splits.kernels.numeric`, and every midpoint is a candidate; categories
are tested one against the others. `Problem` and `Rules` are those of `methods.oblique.grow`, `Node` is that of
`methods.oblique.kernels.grow`.
"""

import numpy as np
from numba import int64, uint32

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.criteria.kernels.impurity import ENTROPY
from core.growth.kernels.lists.best_split import choose, scan_list
from core.splits import candidates
from core.splits.kernels.numeric import NO_CUT, gain_of_sides, information, score_of_sides, score_of_whole

NONE = -1  # no column, or no category

midpoint = compiled(candidates.midpoint)


@making_arrays
def best_attribute(problem, rules, work, lists, node):
    """The score, column, category and threshold of the best test; `NONE` or NaN for what it does not have.

    The column is `NONE` if there is no test.
    """
    work.gains[:], work.scores[:], work.thresholds[:] = NO_CUT, NO_CUT, np.nan
    for k in range(problem.n_classes):  # for lists that hold all rows
        work.totals[k], work.counts[k] = node.class_weights[k], int64(node.class_weights[k])
    bar = NO_CUT  # the best gain so far, times weight, less a tie
    for position in range(problem.ordered.shape[0]):
        slot = problem.first_slots[problem.ordered[position]]
        gain, threshold = best_of_list(problem, rules, work, lists[position], position, node, bar)
        if not np.isnan(threshold):
            work.thresholds[slot] = threshold
            if rules.is_ratio:
                left, right = add_up_sides(problem, work, node, problem.ordered[position], threshold)
                work.gains[slot], work.scores[slot] = gain_and_score(rules, work.sums, left, right, node.weight)
            else:
                work.gains[slot] = work.scores[slot] = gain / node.weight
                bar = max(bar, gain - 2 * TIE * node.weight)
    for column in problem.nominal:
        add_up_levels(problem, work, node, column)
        note_levels(rules, work, problem.first_slots[column], problem.n_levels[column], node.weight)
    slot = choose(work.gains, work.scores, rules, work.passes)
    if slot < 0:
        return NO_CUT, int64(NONE), int64(NONE), np.nan
    column = int64(np.searchsorted(problem.first_slots, slot, side="right") - 1)
    code = int64(NONE) if np.isfinite(work.thresholds[slot]) else slot - problem.first_slots[column]
    return work.scores[slot], column, code, work.thresholds[slot]


@compiled
def best_of_list(problem, rules, work, entries, position, node, bar):
    """The gain of a list's best cut, times weight, and its threshold; NaN if no cut exceeds the bar."""
    start, n, column = node.starts[position], node.lengths[position], problem.ordered[position]
    gain, at = scan_list(problem, rules, work, entries, start, n, work.totals, work.totals, bar)
    if at == 0:
        return NO_CUT, np.nan
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    low, high = entries[at - 1] & mask, entries[at] & mask
    return gain, midpoint(problem.cells[low, column], problem.cells[high, column])


@compiled
def add_up_sides(problem, work, node, column, threshold):
    """Sum the class weights on both sides of a cut in `work.sums`, left then right; returns the weight of each side."""
    n_classes, left, right = problem.n_classes, 0.0, 0.0
    work.sums[:] = 0.0
    for i in range(node.rows.shape[0]):
        row, value = node.rows[i], problem.cells[node.rows[i], column]
        weight, is_right = (0.0 if np.isnan(value) else node.weights[i]), value > threshold
        work.sums[problem.classes[row] + (n_classes if is_right else 0)] += weight
        left += 0.0 if is_right else weight
        right += weight if is_right else 0.0
    return left, right


@compiled
def add_up_levels(problem, work, node, column):
    """Sum `work.levels[level, class]` and `work.level_weights[level]`, where a level is a category."""
    n_levels = problem.n_levels[column]
    work.levels[:n_levels], work.level_weights[:n_levels] = 0.0, 0.0
    for i in range(node.rows.shape[0]):
        row, value = node.rows[i], problem.cells[node.rows[i], column]
        if not np.isnan(value):
            level = int64(value)
            work.levels[level, problem.classes[row]] += node.weights[i]
            work.level_weights[level] += node.weights[i]


@making_arrays
def note_levels(rules, work, first_slot, n_levels, weight):
    """`best_split.one_hot_candidates`: record each category for which both sides hold enough weight."""
    n_classes = rules.n_classes
    others, other_weights = work.others[:n_levels], work.other_weights[:n_levels]
    others[:], other_weights[:] = 0.0, 0.0
    for level in range(1, n_levels):  # the sum of those before, in this order, plus the sum of those after
        others[level] = others[level - 1] + work.levels[level - 1]
        other_weights[level] = other_weights[level - 1] + work.level_weights[level - 1]
    after, after_weight = work.sums[:n_classes], 0.0
    after[:] = 0.0
    for level in range(n_levels - 2, -1, -1):
        after += work.levels[level + 1]
        after_weight += work.level_weights[level + 1]
        others[level] += after
        other_weights[level] += after_weight
    for level in range(n_levels):
        smaller = min(work.level_weights[level], other_weights[level])
        if smaller > 0 and smaller >= rules.min_leaf - TIE:
            work.sums[:n_classes], work.sums[n_classes:] = work.levels[level], others[level]
            left, right, slot = work.level_weights[level], other_weights[level], first_slot + level
            work.gains[slot], work.scores[slot] = gain_and_score(rules, work.sums, left, right, weight)


@making_arrays
def gain_and_score(rules, sums, left, right, weight):
    """The gain, relative to the node's weight, and the score of a split, from the class weights of both sides."""
    n = rules.n_classes
    if rules.criterion == ENTROPY:
        gain = (left + right) / weight * gain_of_sides(sums, n, left, right)
    else:
        totals = sums[:n] + sums[n:]
        whole, _ = score_of_whole(totals, rules.criterion, n, 0)
        gain = (score_of_sides(sums[:n], totals, left, right, rules.criterion) - whole) / weight
    return gain, (gain / information(left, right) if rules.is_ratio else gain)
