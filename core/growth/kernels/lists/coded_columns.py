"""Coded columns: a node's sums by code, and the best split that each such table offers.

`table[level, :]` are the sums of the node's rows with that level: class weights, or the moments of `NumberTarget`. All
coded columns stand below each other, each with one level more for rows that do not know it. Once it is filled, only the
levels that the node holds are in it, so that a small node costs what these cost:

    declared   a b c d e f ?         filled   b e -         held   1 4        the one without weight, -, stands for
    weights    0 3 0 0 5 0 1                  3 5 0 …  1                      all levels that the node does not hold
"""

from numba import int64, uint32, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import ask_for, compiled
from core.criteria.kernels.impurity import GINI, SQUARED
from core.growth.kernels.node.split_list import BOTH, EVERY, LEFT, RIGHT
from core.splits.kernels.categorical import (
    FIRST,
    GAINS,
    OTHER_SCORES,
    SCORES,
    best_one_vs_rest,
    best_two_groups,
    first_within_tie,
    multiway_gain,
    multiway_is_valid,
    one_hot_gains,
)
from core.splits.kernels.numeric import (
    LITTLE,
    NO_CUT,
    gain_of_sides,
    information,
    information_of,
    ratio,
    score_of_moments,
    score_of_sides,
    score_of_whole,
)

AHEAD = 16  # rows: so far further on codes are asked for
ORDERED, MULTIWAY, GROUPS, ONE_VS_REST, ONE_HOT = 0, 1, 2, 3, 4  # how a coded column is split


@compiled
def coded_column(problem, j):
    """The coded column that is meant by j: those with codes first, then those with bits."""
    n_codes = problem.codes.shape[1]
    return problem.coded[j] if j < n_codes else problem.bit_columns[j - n_codes]


@compiled
def fill_table(problem, rules, work, counts, rows, start, n, figures):
    """Sum up the node's rows by level, in row order, and move the levels that the node holds together.

    They stay in declared order; one without weight comes after them, which stands for all others if there are any.
    `counts` are those of the node, where rows count one.
    """
    table, weights = work.table, work.level_weights
    if not rules.is_counted:
        sum_levels(problem, rules, rows, start, n, figures, table)
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        first, n_levels = rules.coded_starts[a], rules.coded_levels[a]
        held = work.held[first : first + n_levels]
        if rules.is_counted:
            n_held = hold_counts(counts, first, held, table, weights)
        else:
            n_held = hold_sums(table, first, held, weights, rules.criterion)
        if n_held < n_levels:
            weights[first + n_held] = 0.0
            for k in range(table.shape[1]):
                table[first + n_held, k] = 0.0
            n_held += 1
        work.n_held[a] = n_held


@compiled
def hold_counts(counts, first, held, table, weights):
    """Fill the table and the weights with the levels of a column that rows count for, and name these; how many.

    The weight of rows that do not know the column stays after all levels that are declared.
    """
    for level in range(first, first + held.shape[0] + 1):
        weights[level] = 0.0
    for k in range(counts.shape[0]):
        for level in range(first, first + held.shape[0] + 1):
            weights[level] += counts[k, level]
    n = list_held(weights, first, held)
    for k in range(counts.shape[0]):
        for i in range(n):
            table[first + i, k] = counts[k, first + held[i]]
    return n


@compiled
def hold_sums(table, first, held, weights, criterion):
    """The same where the table has the sums of all levels."""
    n_parts = 1 if criterion == SQUARED else table.shape[1]
    for level in range(first, first + held.shape[0] + 1):
        weights[level] = 0.0
        for k in range(n_parts):
            weights[level] += table[level, k]
    n = list_held(weights, first, held)
    for i in range(n):
        for k in range(table.shape[1]):
            table[first + i, k] = table[first + held[i], k]
    return n


@compiled
def list_held(weights, first, held):
    """Name the levels that have weight, in declared order, and move their weights together; how many."""
    n = uint64(0)
    for level in range(held.shape[0]):
        weight = weights[first + level]
        held[n], weights[uint64(first) + n] = level, weight
        n += uint64(weight > 0.0)
    return int64(n)


@compiled
def count_levels(problem, rows, start, n, counts):
    """How many of the node's rows each class has by level: small numbers, so that more of them stay in the cache.

    The codes of rows further on are asked for meanwhile: a node's rows stand far from each other.
    """
    codes, classes, n_coded = problem.codes, problem.classes, problem.codes.shape[1]
    first, bytes_a_row = uint64(codes.ctypes.data), uint64(codes.itemsize * n_coded)
    for k in range(counts.shape[0]):
        for level in range(counts.shape[1]):
            counts[k, level] = 0
    i, end = uint64(start), uint64(start + n)
    while i < end:
        row = rows[i]
        ask_for(first + bytes_a_row * uint64(rows[min(i + uint64(AHEAD), end - uint64(1))]))
        of_class = counts[classes[row]]
        for j in range(n_coded):
            of_class[codes[row, j]] += 1
        i += uint64(1)


@compiled
def count_children(problem, rules, work, rows, start, n, n_kept, at):
    """Turn a node's counts, in place `at`, into those of its bigger child, the smaller one's in the place after it.

    The bigger one has the first `n_kept` of the node's rows. Whole numbers can be subtracted, so that only the others
    have to be counted. Whether it was done: not where there is no room, or where rows do not count one.
    """
    if not rules.is_counted or at + 1 >= work.level_counts.shape[0]:
        return 0
    counts, others = work.level_counts[at], work.level_counts[at + 1]
    count_levels(problem, rows, start + n_kept, n - n_kept, others)
    for k in range(counts.shape[0]):
        for level in range(counts.shape[1]):
            counts[k, level] -= others[k, level]
    return 1


@compiled
def has_codes_below(problem, rules, n_rows, list_rows):
    """Whether a child of so many rows will be searched by codes: in few rows, codes with an order become lists."""
    for j in range(problem.codes.shape[1]):
        if n_rows > list_rows or rules.coded_kinds[problem.coded[j]] != ORDERED:
            return True
    return False


@compiled
def clear_levels(problem, rules, table):
    """Nothing yet in any level of the coded columns."""
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        for level in range(rules.coded_starts[a], rules.coded_starts[a] + rules.coded_levels[a] + 1):
            for k in range(table.shape[1]):
                table[level, k] = 0.0


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
def search_tables(problem, rules, work, spent, at, figures, best):
    """Every coded column's best split, as a candidate in its slot; `best` is the largest gain of the lists.

    Where only the best counts, columns in groups are searched in the order of what they can gain at the most, until
    that is too little; the bound of one is made tighter before it is searched, and then others may come first.
    """
    n_coded, bounds, is_tight = problem.codes.shape[1], work.bounds, work.is_tight
    for j in range(n_coded):
        a = problem.coded[j]
        clear_candidates(rules, work, a)
        bounds[j], is_tight[j] = NO_CUT, False
        if not work.is_drawn[rules.coded_slots[a]]:
            continue
        if not rules.needs_all and rules.coded_kinds[a] == GROUPS:
            levels, weights, known = levels_of(problem, rules, work, j)
            bounds[j] = known / figures[0] * multiway_gain(levels, weights, rules.criterion, work.space)
        elif not spent[at, a]:
            best, _ = search_table(problem, rules, work, figures, j, best, NO_CUT)
    while True:
        first, others = largest_two(bounds, n_coded)
        least = best - 2.0 * rules.tolerance if best > NO_CUT else NO_CUT
        if first < 0 or bounds[first] < least:
            return best
        floor = least if is_tight[first] else max(least, others)
        best, bound = search_table(problem, rules, work, figures, first, best, floor)
        is_tight[first] = True
        bounds[first] = bound if least <= bound < floor else NO_CUT


@compiled
def largest_two(bounds, n):
    """The place of the largest of n bounds, -1 when there are none, and the next largest bound."""
    first, others = -1, NO_CUT
    for j in range(n):
        if bounds[j] > NO_CUT:
            if first < 0 or bounds[j] > bounds[first]:
                others = bounds[first] if first >= 0 else NO_CUT
                first = j
            else:
                others = max(others, bounds[j])
    return first, others


@compiled
def clear_candidates(rules, work, a):
    """Nothing yet in the slots of a coded column."""
    slot = rules.coded_slots[a]
    for s in range(slot, slot + (rules.coded_levels[a] if rules.coded_kinds[a] == ONE_HOT else 1)):
        work.gains[s], work.scores[s] = NO_CUT, NO_CUT


@compiled
def levels_of(problem, rules, work, j):
    """The sums and weights of the levels of a column that the node holds, and the weight of all."""
    a = problem.coded[j]
    first, n_levels = rules.coded_starts[a], work.n_held[a]
    levels, weights = work.table[first : first + n_levels], work.level_weights[first : first + n_levels]
    known = 0.0
    for level in range(n_levels):
        known += weights[level]
    return levels, weights, known


@compiled
def search_table(problem, rules, work, figures, j, best, floor):
    """The best split of coded column j: the largest gain so far, and what two groups of it gain at the most.

    Groups that cannot gain as much as the floor are given up.
    """
    a = problem.coded[j]
    slot, kind, first, n_levels = rules.coded_slots[a], rules.coded_kinds[a], rules.coded_starts[a], work.n_held[a]
    levels, weights, known = levels_of(problem, rules, work, j)
    bound = NO_CUT
    if known <= 0.0:
        return best, bound
    rho, is_in_first, held = known / figures[0], work.is_in_first[first:], work.held[first:]
    if kind == ONE_HOT:
        one_hot_gains(levels, weights, rules.criterion, rules.min_leaf, work.space, work.level_gains)
        for v in range(n_levels):
            if work.level_gains[v] > NO_CUT:
                gain, intrinsic = work.level_gains[v], 1.0
                if rules.is_ratio:
                    intrinsic = information(weights[v], known - weights[v])
                    if intrinsic < LITTLE:
                        gain = gain_by_shares(work, kind, levels, weights, v, is_in_first, known)
                keep(work, slot + held[v], j, held[v], 0, rho * gain, intrinsic)
                best = max(best, rho * gain)
        return best, bound
    if kind == ORDERED:
        gain, low, high, left = scan_levels(problem, rules, work, levels, weights, n_levels, known)
    elif kind == MULTIWAY:
        if not multiway_is_valid(weights, rules.min_leaf):
            return best, bound
        gain, low, high, left = multiway_gain(levels, weights, rules.criterion, work.space), 0, 0, 0.0
    else:
        gain, bound = best_division(rules, work, kind, levels, weights, floor / rho, is_in_first)
        bound, low, high, left = rho * bound, 0, 0, 0.0
        if gain > NO_CUT and rules.is_ratio:
            for v in range(n_levels):
                left += weights[v] if is_in_first[v] else 0.0
    if gain > NO_CUT:
        intrinsic = 1.0
        if rules.is_ratio:
            intrinsic = information_of_levels(weights, known) if kind == MULTIWAY else information(left, known - left)
            if intrinsic < LITTLE:
                gain = gain_by_shares(work, kind, levels, weights, low, is_in_first, known)
        keep(work, slot, j, held[low], held[high], rho * gain, intrinsic)
        best = max(best, rho * gain)
    return best, bound


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
    """The best two groups, or the best level against the rest, in `is_in_first`; its gain, and a bound of that.

    Groups that cannot gain as much as the floor are given up.
    """
    criterion, tolerance, min_leaf, min_category = rules.criterion, rules.tolerance, rules.min_leaf, rules.min_category
    space = work.space
    if kind == GROUPS:
        return best_two_groups(levels, weights, criterion, tolerance, min_leaf, min_category, floor, space, is_in_first)
    gain = best_one_vs_rest(levels, weights, criterion, tolerance, min_leaf, min_category, space, is_in_first)
    return gain, gain


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

    The twin of `numeric.best_cut`, sums by value being given. Cut i is after the level in place i.
    """
    totals, candidates, n_outputs = work.before, work.space.candidates, problem.numbers.shape[1]
    n = n_levels if weights[n_levels - 1] > 0.0 else n_levels - 1
    for k in range(levels.shape[1]):
        totals[k] = 0.0
        for v in range(n):
            totals[k] += levels[v, k]
    passed, least = 0.0, rules.min_leaf - TIE
    for i in range(n - 1):
        passed += weights[i]
        candidates[FIRST, i] = passed
    score_cuts(rules, levels, totals, known, n - 1, n_outputs, work.left, candidates)
    i, behind = n - 2, weights[n - 1]
    while i >= 0 and behind < least:
        candidates[GAINS, i] = NO_CUT
        behind += weights[i]
        i -= 1
    i = 0
    while i < n - 1 and candidates[FIRST, i] < least:
        candidates[GAINS, i] = NO_CUT
        i += 1
    best = first_within_tie(candidates[GAINS], n - 1, rules.tolerance * known)
    if best < 0:
        return NO_CUT, 0, 0, 0.0
    whole, _ = score_of_whole(totals, rules.criterion, rules.n_classes, n_outputs)
    return (candidates[GAINS, best] - whole) / known, best, best + 1, candidates[FIRST, best]


@compiled
def score_cuts(rules, levels, totals, known, n, n_outputs, left, candidates):
    """The scores of the first n cuts between levels as `splits.kernels.numeric` has them, in GAINS; by Gini class by
    class.
    """
    width = levels.shape[1]
    for i in range(n):
        candidates[SCORES, i], candidates[OTHER_SCORES, i] = 0.0, 0.0
    for k in range(width):
        left[k] = 0.0
    if rules.criterion == GINI:
        for k in range(width):
            part = 0.0
            for i in range(n):
                part += levels[i, k]
                candidates[SCORES, i] += part * part
                candidates[OTHER_SCORES, i] += (totals[k] - part) * (totals[k] - part)
        for i in range(n):
            passed = candidates[FIRST, i]
            candidates[GAINS, i] = candidates[SCORES, i] / passed + ratio(candidates[OTHER_SCORES, i], known - passed)
        return
    for i in range(n):
        for k in range(width):
            left[k] += levels[i, k]
        passed = candidates[FIRST, i]
        if rules.criterion == SQUARED:
            candidates[GAINS, i] = score_of_moments(left, totals, n_outputs)
        else:
            candidates[GAINS, i] = score_of_sides(left, totals[:width], passed, known - passed, rules.criterion)


@compiled
def branches_of_levels(problem, rules, work, slot):
    """Fill `work.branch_of[level]` by the split chosen for a coded column; how many branches there are."""
    j, low = work.details[slot, 0], work.details[slot, 1]
    a = coded_column(problem, j)
    kind, n_levels, first = rules.coded_kinds[a], rules.coded_levels[a], rules.coded_starts[a]
    is_in_first, branch_of = work.is_in_first[first:], work.branch_of
    if kind in (GROUPS, ONE_VS_REST):
        last = work.n_held[a] - 1
        for v in range(n_levels):
            branch_of[v] = not is_in_first[last]  # which stands for the levels that the node does not hold
        for i in range(last + 1):
            if work.level_weights[first + i] > 0.0:
                branch_of[work.held[first + i]] = not is_in_first[i]
    else:
        for v in range(n_levels):
            branch_of[v] = v if kind == MULTIWAY else not is_first(kind, v, low, is_in_first)
    branch_of[n_levels] = EVERY
    return int64(n_levels) if kind == MULTIWAY else int64(2)


@compiled
def take_branches(problem, rules, work, j, n_branches, rows, start, n):
    """Mark each row of the node with the branch it goes down, or with all, by its level in column j."""
    n_codes, branch_of, side_of, side, branch = (
        problem.codes.shape[1],
        work.branch_of,
        work.side_of,
        work.side,
        work.branch,
    )
    for v in range(rules.coded_levels[coded_column(problem, j)] + 1):
        side_of[v] = BOTH if branch_of[v] == EVERY else LEFT if branch_of[v] == 0 else RIGHT
    if j >= n_codes:
        word, position, bits = (j - n_codes) // 64, uint64((j - n_codes) % 64), problem.bits
        for i in range(start, start + n):
            side[rows[i]] = side_of[(bits[rows[i], word] >> position) & uint64(1)]
        return
    codes, first = problem.codes, uint32(rules.coded_starts[problem.coded[j]])
    for i in range(start, start + n):
        side[rows[i]] = side_of[codes[rows[i], j] - first]
    if n_branches > 2:
        for i in range(start, start + n):
            branch[rows[i]] = branch_of[codes[rows[i], j] - first]


@compiled
def count_left(problem, rules, work, j):
    """How many rows go down the first branch by the levels of column j, where rows count one; of each class too."""
    left_counts, n_codes, n_left = work.left_counts, problem.codes.shape[1], 0
    for k in range(rules.n_classes):
        left_counts[k] = 0
        if j >= n_codes:
            left_counts[k] = work.counts[k] - work.bit_counts[j - n_codes, k]
        else:
            first = rules.coded_starts[problem.coded[j]]
            for i in range(first, first + work.n_held[problem.coded[j]]):
                if work.branch_of[work.held[i]] == 0:
                    left_counts[k] += int64(work.table[i, k])
        n_left += left_counts[k]
    return n_left


@compiled
def counted_levels(problem, rules, work, j, n_branches, out, at):
    """`growth.kernels.node.split_rows.branch_figures` of a branch for each level of column j, where rows count one: its
    table.
    """
    a = problem.coded[j]
    first, n_classes = rules.coded_starts[a], rules.n_classes
    for i in range(at, at + n_branches * (1 + n_classes)):
        out[i] = 0.0
    for i in range(first, first + work.n_held[a]):
        if work.level_weights[i] > 0.0:
            out[at + work.held[i]] = work.level_weights[i]
            for k in range(n_classes):
                out[at + n_branches + work.held[i] * n_classes + k] = work.table[i, k]


@compiled
def n_sent_left(rows, start, n, side):
    """How many rows go down the first branch only."""
    n_left = 0
    for i in range(start, start + n):
        n_left += side[rows[i]] == LEFT
    return n_left
