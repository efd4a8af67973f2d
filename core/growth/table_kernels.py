"""Coded columns: a node's sums by code, and the best split that each such table offers.

`table[level, :]` are the sums of the node's rows with that level: class weights, or the moments of `NumberTarget`. All
coded columns stand below each other, each with one level more for rows that do not know it.
"""

from numba import int64, uint64

from core.compiled_kernels import compiled
from core.growth.partition_kernels import EVERY
from core.splits.categorical_kernels import (
    best_one_vs_rest,
    best_two_groups,
    multiway_gain,
    multiway_is_valid,
    one_hot_gains,
)
from core.splits.numeric_kernels import (
    LITTLE,
    NO_CUT,
    SQUARED,
    gain_of_sides,
    information,
    information_of,
    score_of_moments,
    score_of_sides,
    score_of_whole,
)
from core.ties import TIE

ORDERED, MULTIWAY, GROUPS, ONE_VS_REST, ONE_HOT = 0, 1, 2, 3, 4  # how a coded column is split


@compiled
def coded_column(problem, j):
    """The coded column that is meant by j: those with codes first, then those with bits."""
    n_codes = problem.codes.shape[1]
    return problem.coded[j] if j < n_codes else problem.bit_columns[j - n_codes]


@compiled
def code_of(problem, rules, row, j):
    """The row's level in column j, counted in the same way."""
    n_codes = problem.codes.shape[1]
    if j < n_codes:
        return int64(problem.codes[row, j]) - rules.coded_starts[problem.coded[j]]
    b = j - n_codes
    return int64((problem.bits[row, b // 64] >> uint64(b % 64)) & uint64(1))


@compiled
def fill_table(problem, rules, work, rows, start, n, figures):
    """Sum up the node's rows by level, in row order."""
    coded, starts, n_levels, table = problem.coded, rules.coded_starts, rules.coded_levels, work.table
    if rules.is_counted:
        count_levels(problem, rules, rows, start, n, work.level_counts)
    else:
        sum_levels(problem, rules, rows, start, n, figures, table)
    for j in range(problem.codes.shape[1]):
        a = coded[j]
        for level in range(starts[a], starts[a] + n_levels[a] + 1):
            if rules.is_counted:
                for k in range(table.shape[1]):
                    table[level, k] = work.level_counts[level, k]
            work.level_weights[level] = weight_of(table, level, rules.criterion)


@compiled
def clear_levels(problem, rules, table):
    """Nothing yet in any level of the coded columns."""
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        for level in range(rules.coded_starts[a], rules.coded_starts[a] + rules.coded_levels[a] + 1):
            for k in range(table.shape[1]):
                table[level, k] = 0


@compiled
def count_levels(problem, rules, rows, start, n, counts):
    """How many of the node's rows each level has, by class: small numbers, so that more of them stay in the cache."""
    codes, classes, n_coded = problem.codes, problem.classes, problem.codes.shape[1]
    clear_levels(problem, rules, counts)
    for i in range(start, start + n):
        row = rows[i]
        k = classes[row]
        for j in range(n_coded):
            counts[codes[row, j], k] += 1


@compiled
def sum_levels(problem, rules, rows, start, n, figures, table):
    """The sums of each level, in row order: class weights, or moments about the node's centres."""
    codes, weights, classes, numbers = problem.codes, problem.weights, problem.classes, problem.numbers
    n_coded, m, is_squared = codes.shape[1], numbers.shape[1], rules.criterion == SQUARED
    clear_levels(problem, rules, table)
    for i in range(start, start + n):
        row = rows[i]
        weight = weights[row]
        if is_squared:
            for j in range(n_coded):
                level = codes[row, j]
                table[level, 0] += weight
                for o in range(m):
                    off = numbers[row, o] - figures[1 + o]
                    table[level, 1 + o] += off * weight
                    table[level, 1 + m + o] += off * off * weight
        else:
            k = classes[row]
            for j in range(n_coded):
                table[codes[row, j], k] += weight


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

    Where only the best counts, a column is passed over when its bound shows that it cannot have it; the one with the
    largest bound comes first.
    """
    n_coded, first = problem.codes.shape[1], -1
    for j in range(n_coded):
        work.bounds[j] = -NO_CUT
        if not rules.needs_all and rules.coded_kinds[problem.coded[j]] == GROUPS:
            levels, weights, known = levels_of(problem, rules, work, j)
            work.bounds[j] = known / figures[0] * multiway_gain(levels, weights, rules.criterion, work.space)
            if first < 0 or work.bounds[j] > work.bounds[first]:
                first = j
    if first >= 0:
        best = search_table(problem, rules, work, spent, at, figures, first, best)
    for j in range(n_coded):
        if j != first:
            best = search_table(problem, rules, work, spent, at, figures, j, best)
    return best


@compiled
def levels_of(problem, rules, work, j):
    """The sums and weights of a column's levels, and the weight of all."""
    a = problem.coded[j]
    first, n_levels = rules.coded_starts[a], rules.coded_levels[a]
    levels, weights = work.table[first : first + n_levels], work.level_weights[first : first + n_levels]
    known = 0.0
    for level in range(n_levels):
        known += weights[level]
    return levels, weights, known


@compiled
def search_table(problem, rules, work, spent, at, figures, j, best):
    """The best split of coded column j; the largest gain so far."""
    a = problem.coded[j]
    slot, kind, n_levels = rules.coded_slots[a], rules.coded_kinds[a], rules.coded_levels[a]
    for s in range(slot, slot + (n_levels if kind == ONE_HOT else 1)):
        work.gains[s], work.scores[s] = NO_CUT, NO_CUT
    levels, weights, known = levels_of(problem, rules, work, j)
    least = best - 2.0 * rules.tolerance if best > NO_CUT and not rules.needs_all else NO_CUT
    if spent[at, a] or known <= 0.0 or work.bounds[j] < least:
        return best
    rho, is_in_first = known / figures[0], work.is_in_first[rules.coded_starts[a] :]
    if kind == ONE_HOT:
        one_hot_gains(levels, weights, rules.criterion, rules.min_leaf, work.space, work.level_gains)
        for v in range(n_levels):
            if work.level_gains[v] > NO_CUT:
                gain, intrinsic = work.level_gains[v], 1.0
                if rules.is_ratio:
                    intrinsic = information(weights[v], known - weights[v])
                    if intrinsic < LITTLE:
                        gain = gain_by_shares(work, kind, levels, weights, v, is_in_first, known)
                keep(work, slot + v, j, v, 0, rho * gain, intrinsic)
                best = max(best, work.gains[slot + v])
        return best
    if kind == ORDERED:
        gain, low, high, left = scan_levels(problem, rules, work, levels, weights, n_levels, known)
    elif kind == MULTIWAY:
        if not multiway_is_valid(weights, rules.min_leaf):
            return best
        gain, low, high, left = multiway_gain(levels, weights, rules.criterion, work.space), 0, 0, 0.0
    else:
        floor = least / rho if least > NO_CUT else NO_CUT
        gain, low, high, left = best_division(rules, work, kind, levels, weights, floor, is_in_first), 0, 0, 0.0
        if gain > NO_CUT and rules.is_ratio:
            for v in range(n_levels):
                left += weights[v] if is_in_first[v] else 0.0
    if gain > NO_CUT:
        intrinsic = 1.0
        if rules.is_ratio:
            intrinsic = information_of_levels(weights, known) if kind == MULTIWAY else information(left, known - left)
            if intrinsic < LITTLE:
                gain = gain_by_shares(work, kind, levels, weights, low, is_in_first, known)
        keep(work, slot, j, low, high, rho * gain, intrinsic)
        best = max(best, work.gains[slot])
    return best


@compiled
def keep(work, slot, j, low, high, gain, intrinsic):
    """A candidate of coded column j; its score is the gain over the intrinsic value, which is 1 unless that counts."""
    work.gains[slot], work.scores[slot] = gain, gain / intrinsic if intrinsic > 0.0 else gain
    work.details[slot, 0], work.details[slot, 1], work.details[slot, 2], work.details[slot, 3] = j, low, high, 1


@compiled
def is_first(kind, level, low, is_in_first):
    """Whether a level goes to the first of two groups, of which `low` is the last or the only level if that is so."""
    if kind == ORDERED:
        return level <= low
    return level == low if kind == ONE_HOT else is_in_first[level]


@compiled
def gain_by_shares(work, kind, levels, weights, low, is_in_first, known):
    """The information gain of the split on the known rows, as `gain_of_sides` has it."""
    n_classes, sums, gain, left = levels.shape[1], work.left, 0.0, 0.0
    for k in range(2 * n_classes):
        sums[k] = 0.0
    for v in range(levels.shape[0]):
        if weights[v] > 0.0:
            is_left = kind == MULTIWAY or is_first(kind, v, low, is_in_first)
            left += weights[v] if is_left else 0.0
            for k in range(n_classes):
                sums[k if is_left else n_classes + k] += levels[v, k]
                gain -= weights[v] / known * information_of(levels[v, k] / weights[v])
    if kind != MULTIWAY:
        return gain_of_sides(sums, n_classes, left, known - left)
    for k in range(n_classes):
        gain += information_of(sums[k] / known)
    return gain


@compiled
def best_division(rules, work, kind, levels, weights, floor, is_in_first):
    """The best two groups, or the best level against the rest, in `is_in_first`; its gain.

    Groups that cannot gain more than the floor may be given up.
    """
    criterion, tolerance, min_leaf, min_category = rules.criterion, rules.tolerance, rules.min_leaf, rules.min_category
    space = work.space
    if kind == GROUPS:
        return best_two_groups(levels, weights, criterion, tolerance, min_leaf, min_category, floor, space, is_in_first)
    return best_one_vs_rest(levels, weights, criterion, tolerance, min_leaf, min_category, space, is_in_first)


@compiled
def information_of_levels(weights, known):
    """The intrinsic value of one branch for each level, in bits."""
    total = 0.0
    for v in range(weights.shape[0]):
        if weights[v] > 0.0:
            total += information_of(weights[v] / known)
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
    whole, _ = score_of_whole(totals, rules.criterion, rules.n_classes, n_outputs)
    largest, chosen, low, high, weight_low, is_unclear = NO_CUT, NO_CUT, 0, 0, 0.0, False
    for is_second in range(2):  # as in `numeric_kernels`, a second pass only where the first does not tell
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
                    return (score - whole) / known, before, v, passed
                if score > largest:
                    if score - tolerance > chosen:
                        is_unclear |= largest >= score - tolerance
                        chosen, low, high, weight_low = score, before, v, passed
                    largest = score
            for k in range(width):
                left[k] += levels[v, k]
            passed += weights[v]
            before = v
        if not is_unclear:
            break
    return (NO_CUT if chosen == NO_CUT else (chosen - whole) / known), low, high, weight_low


@compiled
def branches_of_levels(problem, rules, work, slot):
    """Fill `work.branch_of[level]` by the split chosen for a coded column; how many branches there are."""
    j, low = work.details[slot, 0], work.details[slot, 1]
    a = coded_column(problem, j)
    kind, n_levels, is_in_first = rules.coded_kinds[a], rules.coded_levels[a], work.is_in_first[rules.coded_starts[a] :]
    for v in range(n_levels):
        work.branch_of[v] = v if kind == MULTIWAY else not is_first(kind, v, low, is_in_first)
    work.branch_of[n_levels] = EVERY
    return int64(n_levels) if kind == MULTIWAY else int64(2)
