"""Coded columns: a node's sums by code, and the best split that each such table offers.

`table[level, :]` are the sums of the node's rows with that level: class weights, or the moments of `NumberTarget`. All
coded columns stand below each other, each with one level more for rows that do not know it.
"""

from math import log2

from numba import int64

from core.compiled_kernels import compiled
from core.growth.partition_kernels import EVERY
from core.splits.categorical_kernels import (
    best_one_vs_rest,
    best_two_groups,
    multiway_gain,
    multiway_is_valid,
    one_hot_gains,
)
from core.splits.numeric_kernels import NO_CUT, SQUARED, information, score_of_moments, score_of_sides, score_of_whole
from core.ties import TIE

ORDERED, MULTIWAY, GROUPS, ONE_VS_REST, ONE_HOT = 0, 1, 2, 3, 4  # how a coded column is split


@compiled
def fill_table(problem, rules, rows, start, n, figures, table, level_weights):
    """Sum up the node's rows by level, in row order."""
    codes, coded, weights, classes = problem.codes, problem.coded, problem.weights, problem.classes
    numbers, starts, n_levels = problem.numbers, rules.coded_starts, rules.coded_levels
    n_coded, m, is_squared = codes.shape[1], numbers.shape[1], rules.criterion == SQUARED
    for j in range(n_coded):
        a = coded[j]
        for level in range(starts[a], starts[a] + n_levels[a] + 1):
            for k in range(table.shape[1]):
                table[level, k] = 0.0
    for i in range(start, start + n):
        row = rows[i]
        weight = weights[row]
        if is_squared:
            for j in range(n_coded):
                level = starts[coded[j]] + codes[row, j]
                table[level, 0] += weight
                for o in range(m):
                    off = numbers[row, o] - figures[1 + o]
                    table[level, 1 + o] += off * weight
                    table[level, 1 + m + o] += off * off * weight
        else:
            k = classes[row]
            for j in range(n_coded):
                table[starts[coded[j]] + codes[row, j], k] += weight
    for j in range(n_coded):
        a = coded[j]
        for level in range(starts[a], starts[a] + n_levels[a] + 1):
            level_weights[level] = weight_of(table, level, rules.criterion)


@compiled
def weight_of(table, level, criterion):
    """The weight of a level."""
    if criterion == SQUARED:
        return table[level, 0]
    weight = 0.0
    for k in range(table.shape[1]):
        weight += table[level, k]
    return weight


@compiled
def search_tables(problem, rules, work, spent, at, figures, best):
    """Every coded column's best split, as a candidate in its slot; `best` is the largest gain of the lists.

    Where only the best counts, a column is passed over when its bound shows that it cannot have it.
    """
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        slot, kind, n_levels = rules.coded_slots[a], rules.coded_kinds[a], rules.coded_levels[a]
        n_slots = n_levels if kind == ONE_HOT else 1
        for s in range(slot, slot + n_slots):
            work.gains[s], work.scores[s] = NO_CUT, NO_CUT
        if spent[at, a]:
            continue
        first = rules.coded_starts[a]
        levels, weights = work.table[first : first + n_levels], work.level_weights[first : first + n_levels]
        known = 0.0
        for level in range(n_levels):
            known += weights[level]
        if known <= 0.0:
            continue
        rho = known / figures[0]
        if kind == ONE_HOT:
            one_hot_gains(levels, weights, rules.criterion, rules.min_leaf, work.space, work.level_gains)
            for v in range(n_levels):
                if work.level_gains[v] > NO_CUT:
                    keep(work, slot + v, j, v, 0, rho * work.level_gains[v], weights[v], known - weights[v], rules)
                    best = max(best, work.gains[slot + v])
            continue
        if kind == ORDERED:
            gain, low, high, left = scan_levels(problem, rules, work, levels, weights, n_levels, known)
        elif kind == MULTIWAY:
            if not multiway_is_valid(weights, rules.min_leaf):
                continue
            gain, low, high, left = multiway_gain(levels, weights, rules.criterion, work.space), 0, 0, 0.0
        else:
            floor = (best - 2.0 * rules.tolerance) / rho if best > NO_CUT and not rules.needs_all else NO_CUT
            gain, low, high, left = best_division(rules, work, kind, levels, weights, floor), 0, 0, 0.0
            if gain > NO_CUT and rules.is_ratio:
                for v in range(n_levels):
                    left += weights[v] if work.is_in_first[v] else 0.0
        if gain > NO_CUT:
            keep(work, slot, j, low, high, rho * gain, left, known - left, rules)
            if rules.is_ratio and kind == MULTIWAY:
                work.scores[slot] = work.gains[slot] / information_of_levels(weights, known)
            best = max(best, work.gains[slot])
    return best


@compiled
def keep(work, slot, j, low, high, gain, left, right, rules):
    """A candidate of coded column j, with its gain ratio if that counts; none where the split tells nothing."""
    work.gains[slot], work.scores[slot] = gain, gain
    work.details[slot, 0], work.details[slot, 1], work.details[slot, 2], work.details[slot, 3] = j, low, high, 1
    if rules.is_ratio and right > 0.0 and left > 0.0:
        work.scores[slot] /= information(left, right)


@compiled
def best_division(rules, work, kind, levels, weights, floor):
    """The best two groups, or the best level against the rest, in `work.is_in_first`; its gain.

    Groups that cannot gain more than the floor may be given up.
    """
    criterion, tolerance, min_leaf, min_category = rules.criterion, rules.tolerance, rules.min_leaf, rules.min_category
    space, is_in_first = work.space, work.is_in_first
    if kind == GROUPS:
        return best_two_groups(levels, weights, criterion, tolerance, min_leaf, min_category, floor, space, is_in_first)
    return best_one_vs_rest(levels, weights, criterion, tolerance, min_leaf, min_category, space, is_in_first)


@compiled
def information_of_levels(weights, known):
    """The intrinsic value of one branch for each level, in bits."""
    total = 0.0
    for v in range(weights.shape[0]):
        if weights[v] > 0.0:
            total += weights[v] / known * log2(known / weights[v])
    return total


@compiled
def scan_levels(problem, rules, work, levels, weights, n_levels, known):
    """The best cut between levels with an order: its gain on the known rows, the levels on both sides, the left weight.

    The twin of `numeric.best_cut`, sums by value being given.
    """
    left, totals, width, n_outputs = work.left, work.before, levels.shape[1], problem.numbers.shape[1]
    for k in range(width):
        left[k], totals[k] = 0.0, 0.0
        for v in range(n_levels):
            totals[k] += levels[v, k]
    least, tolerance = rules.min_leaf - TIE, rules.tolerance * known
    last, behind = n_levels, 0.0
    while last > 0 and behind < least:
        last -= 1
        behind += weights[last]
    largest = NO_CUT
    for is_second in range(2):  # the first pass finds the largest score, the second the first within a tie of it
        passed, before = 0.0, -1
        for k in range(width):
            left[k] = 0.0
        for v in range(n_levels):
            if weights[v] <= 0.0:
                continue
            if before >= 0 and passed >= least and v <= last:
                if rules.criterion == SQUARED:
                    score = score_of_moments(left, totals, n_outputs)
                else:
                    score = score_of_sides(left, totals[:width], passed, known - passed, rules.criterion)
                if is_second and score >= largest - tolerance:
                    whole, _ = score_of_whole(totals, rules.criterion, rules.n_classes, n_outputs)
                    return (score - whole) / known, before, v, passed
                largest = max(largest, score)
            for k in range(width):
                left[k] += levels[v, k]
            passed += weights[v]
            before = v
        if largest == NO_CUT:
            break
    return NO_CUT, 0, 0, 0.0


@compiled
def branches_of_levels(problem, rules, work, slot):
    """Fill `work.branch_of[level]` by the split chosen for a coded column; how many branches there are."""
    j, low = work.details[slot, 0], work.details[slot, 1]
    a = problem.coded[j]
    kind, n_levels, first = rules.coded_kinds[a], rules.coded_levels[a], rules.coded_starts[a]
    if kind in (GROUPS, ONE_VS_REST):
        best_division(
            rules,
            work,
            kind,
            work.table[first : first + n_levels],
            work.level_weights[first : first + n_levels],
            NO_CUT,
        )
    for v in range(n_levels):
        if kind == ORDERED:
            work.branch_of[v] = v > low
        elif kind == MULTIWAY:
            work.branch_of[v] = v
        elif kind == ONE_HOT:
            work.branch_of[v] = v != low
        else:
            work.branch_of[v] = not work.is_in_first[v]
    work.branch_of[n_levels] = EVERY
    return int64(n_levels) if kind == MULTIWAY else int64(2)
