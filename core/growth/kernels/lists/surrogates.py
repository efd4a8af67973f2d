"""Kernels of `surrogates.find_surrogates`: which other columns imitate the split of a node best.

`groups[g]` describes the rows with the g-th distinct value that know both columns: the weight that goes to the first
branch, and to the second; the same two weights of all groups from this one on; and the value.
"""

import numpy as np
from numba import int64, uint32

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.growth.kernels.node.split_list import BOTH, LEFT
from core.growth.kernels.node.state import (
    AGREEMENT,
    BRANCHES_AT,
    IS_REVERSED,
    N_OF_SURROGATE,
    SURROGATE,
    SURROGATE_THRESHOLD,
)
from core.missing.surrogates import MOST_SURROGATES
from core.splits.kernels.unsorted import midpoint

FIRST, SECOND, FIRST_ON, SECOND_ON, VALUE, N_OF_GROUP = range(6)
NOT_KEPT = 0.0  # the agreement of a surrogate that is no better than the majority
NOWHERE = 2  # the branch of a category that no row has


@compiled
def find_surrogates(problem, rules, work, lists, rows, starts, lengths, here, primary):
    """Rank the surrogates for a split on column `primary`, once its rows have sides; returns how many there are.

    `work.ranked` are indices of lists, or of coded columns counted after the lists. Each has a threshold, a direction
    and an agreement; the branches of coded columns are in `work.surrogate_branches`.
    """
    n_lists, n_coded, agreements = problem.lengths.shape[0], problem.codes.shape[1], work.agreements
    for i in range(n_lists):
        agreements[i] = NOT_KEPT
        if rules.slot_columns[problem.list_slots[i]] != primary:
            n = group_by_value(
                lists[i],
                starts[here, i],
                lengths[here, i],
                problem.shift,
                work.side,
                problem.weights,
                problem.values[i],
                work.groups,
            )
            work.surrogate_thresholds[i], work.is_reversed[i], agreements[i] = best_threshold(work.groups, n)
    if n_coded > 0:
        sum_sides(problem, rows, starts[here, n_lists], lengths[here, n_lists], work.side, work.level_sides)
    for j in range(n_coded):
        a = problem.coded[j]
        begin, end = rules.coded_starts[a], rules.coded_starts[a] + rules.coded_levels[a]
        work.surrogate_thresholds[n_lists + j], work.is_reversed[n_lists + j] = np.nan, False
        agreements[n_lists + j] = NOT_KEPT
        if rules.slot_columns[rules.coded_slots[a]] != primary:
            agreements[n_lists + j] = best_sides(work.level_sides[begin:end], work.surrogate_branches[begin:end])
    return rank(problem, rules, work, n_lists + n_coded)


@compiled
def rank(problem, rules, work, n):
    """Fill `work.ranked` with the best of n surrogates, best first, ties to the earlier column; returns how many."""
    n_ranked = 0
    while n_ranked < MOST_SURROGATES:
        best = next_best(problem, rules, work.agreements, n)
        if best < 0:
            break
        work.ranked[n_ranked], work.ranked_agreements[n_ranked] = best, work.agreements[best]
        work.agreements[best] = NOT_KEPT
        n_ranked += 1
    return n_ranked


@compiled
def note_surrogates(problem, rules, work, n_ranked, sums, at, levels, first_level, n_levels):
    """Write the surrogates of a node to `sums`, laid out as in `growth.kernels.node.state`; returns the new `n_levels`.

    The branches of surrogates by category are appended to `levels`.
    """
    n_lists = problem.lengths.shape[0]
    sums[at] = n_ranked
    for position in range(n_ranked):
        surrogate, to = work.ranked[position], at + 1 + position * N_OF_SURROGATE
        sums[to + SURROGATE], sums[to + BRANCHES_AT] = column_of(problem, rules, surrogate), -1.0
        sums[to + SURROGATE_THRESHOLD] = work.surrogate_thresholds[surrogate]
        sums[to + IS_REVERSED], sums[to + AGREEMENT] = work.is_reversed[surrogate], work.ranked_agreements[position]
        if surrogate >= n_lists:
            a = problem.coded[surrogate - n_lists]
            sums[to + BRANCHES_AT] = n_levels - first_level
            for level in range(rules.coded_levels[a]):
                levels[n_levels + level] = work.surrogate_branches[rules.coded_starts[a] + level]
            n_levels += rules.coded_levels[a]
    return n_levels


@compiled
def column_of(problem, rules, surrogate):
    """The column that a surrogate tests."""
    n_lists = problem.lengths.shape[0]
    if surrogate < n_lists:
        return rules.slot_columns[problem.list_slots[surrogate]]
    return rules.slot_columns[rules.coded_slots[problem.coded[surrogate - n_lists]]]


@compiled
def next_best(problem, rules, agreements, n):
    """The surrogate within a tie of the largest agreement whose column is the earliest; -1 if none is left."""
    highest, best = NOT_KEPT, int64(-1)
    for i in range(n):
        highest = max(highest, agreements[i])
    for i in range(n):
        is_equal = agreements[i] > NOT_KEPT and agreements[i] >= highest - TIE
        if is_equal and (best < 0 or column_of(problem, rules, i) < column_of(problem, rules, best)):
            best = int64(i)
    return best


@compiled
def sum_sides(problem, rows, start, n, side, level_sides):
    """Fill `level_sides[level, :]`: the weight that each code of all columns sends to either branch, in row order."""
    codes, weights = problem.codes, problem.weights
    for level in range(level_sides.shape[0]):
        level_sides[level, FIRST], level_sides[level, SECOND] = 0.0, 0.0
    for i in range(start, start + n):
        row = rows[i]
        if side[row] != BOTH:
            to = FIRST if side[row] == LEFT else SECOND
            for j in range(codes.shape[1]):
                level_sides[codes[row, j], to] += weights[row]


@compiled
def group_by_value(entries, start, n, shift, side, weights, values, groups):
    """Add up the rows of a sorted list by value, equal ones in row order; returns how many values there are."""
    mask, flag = (uint32(1) << uint32(shift)) - uint32(1), uint32(1) << uint32(31)
    n_groups, is_new = int64(0), True
    for i in range(start, start + n):
        row, to = entries[i] & mask, side[entries[i] & mask]
        is_new |= (entries[i] & flag) != uint32(0)
        if to == BOTH:
            continue
        if is_new:
            groups[n_groups, FIRST], groups[n_groups, SECOND], groups[n_groups, VALUE] = 0.0, 0.0, values[row]
            n_groups, is_new = n_groups + 1, False
        groups[n_groups - 1, FIRST if to == LEFT else SECOND] += weights[row]
    return n_groups


@compiled
def best_threshold(groups, n):
    """`surrogates.best_threshold`: the threshold, whether it is reversed, and its agreement."""
    if n < 2:
        return np.nan, False, NOT_KEPT
    first, second = 0.0, 0.0
    for g in range(n - 1, -1, -1):
        first, second = first + groups[g, FIRST], second + groups[g, SECOND]
        groups[g, FIRST_ON], groups[g, SECOND_ON] = first, second
    first, second = 0.0, 0.0
    for g in range(n):
        first, second = first + groups[g, FIRST], second + groups[g, SECOND]
    whole, majority = first + second, max(first, second) / (first + second)
    highest, first, second = 0.0, 0.0, 0.0
    for g in range(n - 1):
        first, second = first + groups[g, FIRST], second + groups[g, SECOND]
        agreeing = max(first + groups[g + 1, SECOND_ON], second + groups[g + 1, FIRST_ON])
        highest = max(highest, agreeing / whole)
    first, second = 0.0, 0.0
    for g in range(n - 1):
        first, second = first + groups[g, FIRST], second + groups[g, SECOND]
        same, opposite = (first + groups[g + 1, SECOND_ON]) / whole, (second + groups[g + 1, FIRST_ON]) / whole
        if max(same, opposite) >= highest - TIE:
            is_reversed = same < highest - TIE
            agreement = opposite if is_reversed else same
            threshold = midpoint(groups[g, VALUE], groups[g + 1, VALUE])
            return threshold, is_reversed, agreement if agreement > majority + TIE else NOT_KEPT
    return np.nan, False, NOT_KEPT


@compiled
def best_sides(sides, branch_of):
    """`surrogates.best_sides` of codes that send `sides[level, :]` each way: the agreement; fills `branch_of`."""
    first, second, agreeing = 0.0, 0.0, 0.0
    for level in range(sides.shape[0]):
        left, right = sides[level, FIRST], sides[level, SECOND]
        first, second, agreeing = first + left, second + right, agreeing + max(left, right)
        branch_of[level] = NOWHERE if left + right <= 0.0 else int64(right > left * (1 + TIE))
    whole = first + second
    if whole <= 0.0 or agreeing / whole <= max(first, second) / whole + TIE:
        return NOT_KEPT
    return agreeing / whole
