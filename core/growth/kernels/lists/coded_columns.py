"""Coded columns: a node's table of sums by code, and the best split of each column by its part of the table.

Each code has a row in the table; in names it is a `level`. `table[level, :]` are the sums of the node's rows with that
code: class weights, or the moments of `NumberTarget`. The codes of all coded columns follow one another, each column
with one more for missing values. Once filled, a column's part is reduced to the codes that the node holds, so that a
small node costs no more than these:

    declared   a b c d e f ?         filled   b e -         held   1 4
    weights    0 3 0 0 5 0 1                  3 5 0 …  1

The code without weight, -, represents all codes that the node does not hold.
"""

from numba import int64, uint32, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, prefetch
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

AHEAD = 16  # how many rows ahead codes are prefetched
ORDERED, MULTIWAY, GROUPS, ONE_VS_REST, ONE_HOT = 0, 1, 2, 3, 4  # how a coded column is split


@compiled
def coded_column(problem, j):
    """The coded column with index j, where columns of codes come before columns of bits."""
    n_codes = problem.codes.shape[1]
    return problem.coded[j] if j < n_codes else problem.bit_columns[j - n_codes]


@compiled
def fill_table(problem, rules, work, counts, rows, start, n, figures):
    """Add up the node's rows by code, in row order, and move the codes that the node holds to the front.

    These stay in declared order. They are followed by a code without weight, which represents all others, if there are
    any. `counts` are those of the node, for rows that count one.
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
    """Fill a column's part of the table, its weights and `held` with the codes that the node holds; returns how many.

    The weight of rows with a missing value stays where it is, after the declared codes.
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
    """Reduce a column's part of the table, which has the sums of all codes, to those the node holds; returns how many.

    Fills its weights and `held`. The weight of rows with a missing value stays where it is, after the declared codes.
    """
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
    """Fill `held` with the codes that have weight, in declared order, and move their weights to the front.

    Returns how many these are.
    """
    n = uint64(0)
    for level in range(held.shape[0]):
        weight = weights[first + level]
        held[n], weights[uint64(first) + n] = level, weight
        n += uint64(weight > 0.0)
    return int64(n)


@compiled
def count_levels(problem, rows, start, n, counts):
    """Count the node's rows by class and code, in small integers, so that more of the counts stay in the cache.

    The codes of later rows are prefetched, since a node's rows are far apart in memory.
    """
    codes, classes, n_coded = problem.codes, problem.classes, problem.codes.shape[1]
    first, bytes_a_row = uint64(codes.ctypes.data), uint64(codes.itemsize * n_coded)
    for k in range(counts.shape[0]):
        for level in range(counts.shape[1]):
            counts[k, level] = 0
    i, end = uint64(start), uint64(start + n)
    while i < end:
        row = rows[i]
        prefetch(first + bytes_a_row * uint64(rows[min(i + uint64(AHEAD), end - uint64(1))]))
        of_class = counts[classes[row]]
        for j in range(n_coded):
            of_class[codes[row, j]] += 1
        i += uint64(1)


@compiled
def count_children(problem, rules, work, rows, start, n, n_kept, at):
    """Turn a node's counts, at index `at`, into those of its bigger child; the smaller one's follow at `at + 1`.

    The bigger child has the first `n_kept` of the node's rows. Whole numbers can be subtracted exactly, so only the
    other rows are counted. Returns 1 if that was done, 0 if the buffer is full or rows do not count one.
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
    """Whether a child of `n_rows` rows will be searched by codes: in few rows, ordered codes become lists."""
    for j in range(problem.codes.shape[1]):
        if n_rows > list_rows or rules.coded_kinds[problem.coded[j]] != ORDERED:
            return True
    return False


@compiled
def clear_levels(problem, rules, table):
    """Set the table to 0 for all codes of the coded columns."""
    for j in range(problem.codes.shape[1]):
        a = problem.coded[j]
        for level in range(rules.coded_starts[a], rules.coded_starts[a] + rules.coded_levels[a] + 1):
            for k in range(table.shape[1]):
                table[level, k] = 0.0


@compiled
def sum_levels(problem, rules, rows, start, n, figures, table):
    """Add up the rows of each code, in row order: class weights, or moments about the node's centres."""
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
    """Find every coded column's best split, as a candidate in its slot; `best` is the largest gain so far.

    Where only the best candidate counts, columns split into two groups are searched in the order of an upper bound on
    their gain, until that is too small. A bound is tightened before its column is searched, and others may then come
    first.
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
    """The index of the largest of n bounds, -1 if there is none, and the second largest bound."""
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
    """Remove the candidates from the slots of a coded column."""
    slot = rules.coded_slots[a]
    for s in range(slot, slot + (rules.coded_levels[a] if rules.coded_kinds[a] == ONE_HOT else 1)):
        work.gains[s], work.scores[s] = NO_CUT, NO_CUT


@compiled
def levels_of(problem, rules, work, j):
    """The sums and weights of the codes of column j that the node holds, and their total weight."""
    a = problem.coded[j]
    first, n_levels = rules.coded_starts[a], work.n_held[a]
    levels, weights = work.table[first : first + n_levels], work.level_weights[first : first + n_levels]
    known = 0.0
    for level in range(n_levels):
        known += weights[level]
    return levels, weights, known


@compiled
def search_table(problem, rules, work, figures, j, best, floor):
    """Find the best split of coded column j; returns the largest gain so far, and a bound on the gain of two groups.

    Two groups that cannot gain as much as the floor are not searched for.
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
        gain, bound = best_of_splits(rules, work, kind, levels, weights, floor / rho, is_in_first)
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
    """Store a candidate of coded column j; `intrinsic` is its intrinsic value, or 1 if gain ratios are not compared."""
    work.gains[slot], work.scores[slot] = gain, gain / intrinsic if intrinsic > 0.0 else gain
    work.details[slot, 0], work.details[slot, 1], work.details[slot, 2], work.details[slot, 3] = j, low, high, 1


@compiled
def is_first(kind, level, low, is_in_first):
    """Whether a code goes down the first branch; `low` is the last (ordered) or the only one (one-hot) that does."""
    if kind == ORDERED:
        return level <= low
    return level == low if kind == ONE_HOT else is_in_first[level]


@compiled
def gain_by_shares(work, kind, levels, weights, low, is_in_first, known):
    """The information gain of a split on the known rows, computed from shares as in `gain_of_sides`."""
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
def best_of_splits(rules, work, kind, levels, weights, floor, is_in_first):
    """Fill `is_in_first` with the best two groups, or the best code against the rest; returns the gain and its bound.

    Two groups that cannot gain as much as the floor are not searched for.
    """
    criterion, tolerance, min_leaf, min_category = rules.criterion, rules.tolerance, rules.min_leaf, rules.min_category
    space = work.space
    if kind == GROUPS:
        return best_two_groups(levels, weights, criterion, tolerance, min_leaf, min_category, floor, space, is_in_first)
    gain = best_one_vs_rest(levels, weights, criterion, tolerance, min_leaf, min_category, space, is_in_first)
    return gain, gain


@compiled
def information_of_levels(weights, known):
    """The intrinsic value of a split with one branch for each code, in bits."""
    total = 0.0
    for v in range(weights.shape[0]):
        if weights[v] > 0.0:
            total += information_of(weights[v] / known)
    return total


@compiled
def scan_levels(problem, rules, work, levels, weights, n_levels, known):
    """The best cut between ordered codes: its gain on the known rows, the codes on both sides, and the left weight.

    It is `numeric.best_cut` on sums by value. Cut i comes after the code at index i.
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
    """Fill row GAINS of `candidates` with the scores of the first n cuts, which are those of `splits.kernels.numeric`.

    Gini is added up class by class.
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
    """Fill `work.branch_of[level]` by the split chosen for a coded column; returns how many branches there are."""
    j, low = work.details[slot, 0], work.details[slot, 1]
    a = coded_column(problem, j)
    kind, n_levels, first = rules.coded_kinds[a], rules.coded_levels[a], rules.coded_starts[a]
    is_in_first, branch_of = work.is_in_first[first:], work.branch_of
    if kind in (GROUPS, ONE_VS_REST):
        last = work.n_held[a] - 1
        for v in range(n_levels):
            branch_of[v] = not is_in_first[last]  # it represents the codes that the node does not hold
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
    """Set the side of each row of the node, and its branch if there are more than two, by its code in column j.

    Rows with a missing value go down all branches.
    """
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
    """How many rows go down the first branch by column j, where rows count one; fills `work.left_counts` by class."""
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
    """`growth.kernels.node.split_rows.branch_figures` of a multiway split by column j, where rows count one.

    Nothing is added up: the figures are the column's part of the table.
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
