"""The best cut of a small node among the columns that it draws.

`best_of_drawn` searches one column after the other. `best_of_bounded` does so in lanes: bounds in float32 mostly leave
one cut of one column, and what is left is searched in float64.
"""

from numba import int64, uint64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.randomness import FOR_COLUMNS
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, lowest_bit
from core.criteria.kernels.impurity import SQUARED
from core.growth.kernels.node.column_draw import draw_next, first_of_best, take_back
from core.growth.kernels.node.kept import FIGURES
from core.growth.kernels.node.scan_few import best_of_counts, best_of_numbers, best_of_weights
from core.growth.kernels.small.bound import CLEAR, UNCLEAR, bound_exactly, bound_roughly
from core.growth.kernels.small.order import tag_roughly
from core.growth.kernels.small.scratch import UNKNOWN
from core.growth.kernels.small.skip_light_columns import LIGHT, may_have_cut, take_heavy_rows
from core.splits.kernels.numeric import NO_CUT

LIST, LOW_ROW, HIGH_ROW, POSITION = range(4)  # columns of a cut: its list, the rows on both sides, its position


@compiled
def weigh_rows(work, begin, n):
    """Fill `work.row_weights[row]` with the weights of a node's rows."""
    for j in range(begin, begin + n):
        work.row_weights[work.small_rows[j]] = work.small_weights[j]


@compiled
def sort_rows(work, i, begin, n):
    """Fill `work.ordered` with a node's rows in the order of list i; how many the list has."""
    position, by_position, rows, words, ordered = (
        work.position[i],
        work.by_position[i],
        work.small_rows,
        work.bit_words,
        work.ordered,
    )
    n_words = (work.n_positions[i] + 63) >> 6
    for word in range(n_words):
        words[word] = uint64(0)
    for j in range(uint64(begin), uint64(begin + n)):
        p = uint64(position[rows[j]])
        words[p >> uint64(6)] |= uint64(1) << (p & uint64(63))
    known, unknown = uint64(0), uint64(1) << uint64(UNKNOWN & 63)
    for word in range(n_words):
        bits = words[word] & ~(unknown * uint64(word == UNKNOWN >> 6))
        while bits:
            ordered[known] = by_position[64 * word + lowest_bit(bits)]
            bits &= bits - uint64(1)
            known += uint64(1)
    return int64(known)


@compiled
def take_cut(work, i, j, gain, figure, cut):
    """Store in `cut` the cut of list i before the j-th sorted row; returns its gain, given that times the weight."""
    cut[LIST], cut[LOW_ROW], cut[HIGH_ROW] = i, work.ordered[j - 1], work.ordered[j]
    cut[POSITION] = work.position[i, cut[HIGH_ROW]]
    return gain / figure[FIGURES]


@compiled
def search_small(rules, work, i, begin, n, figure, cut):
    """Find the best cut of list i and store it in `cut`; returns its gain, or NO_CUT."""
    known = sort_rows(work, i, begin, n)
    return search_ordered(rules, work, i, False, begin, n, known, figure, cut) if known >= 2 else NO_CUT


@compiled
def search_ordered(rules, work, i, is_distinct, begin, n, known, figure, cut):
    """Find the best cut of list i, given its sorted rows, and store it in `cut`; returns its gain, or NO_CUT.

    Where all values are distinct, positions tell them apart.
    """
    value, least, is_squared = work.position[i], rules.min_leaf - TIE, rules.criterion == SQUARED
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
    """Fill `totals` for the node's rows in list i: class weights, or the weight and the sum of centred numbers."""
    rows, weights, position, numbers = work.small_rows, work.small_weights, work.position[i], work.row_numbers
    is_squared = rules.criterion == SQUARED
    for k in range(2 if is_squared else rules.n_classes):
        totals[k] = 0.0
    for j in range(begin, begin + n):
        row = rows[j]
        weight = weights[j] * (position[row] != UNKNOWN)
        if is_squared:
            totals[0] += weight
            totals[1] += weight * (numbers[row] - centre)
        else:
            totals[work.row_classes[row]] += weight


@compiled
def best_of_drawn(rules, work, key, begin, n, figure):
    """The best cut of the columns that a node draws, as its index in `work.cuts`; -1 if there is none."""
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    drawn, gains, most = work.drawn, work.drawn_gains, NO_CUT
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        column = draw_next(rules, work.order, work.taken, for_columns, turn)
        turn += 1
        if n == 2 and n_found > 0 and column > drawn[0]:
            continue  # all cuts between two rows are the same: the first column wins
        gains[n_found] = search_small(rules, work, work.list_of[column], begin, n, figure, work.cuts[n_found])
        most = max(most, gains[n_found])
        drawn[n_found] = column
        if n == 2 and n_found > 0 and gains[n_found] > NO_CUT:
            drawn[0], gains[0], n_found = column, gains[n_found], 0
            for j in range(work.cuts.shape[1]):
                work.cuts[0, j] = work.cuts[1, j]
        n_found += gains[n_found] > NO_CUT
    take_back(work.order, work.taken, turn)
    return first_of_best(work.drawn, gains, n_found, most, rules.tolerance)


@compiled
def best_of_bounded(problem, rules, work, key, begin, n, figure):
    """`best_of_drawn` in lanes, where `has_bounds` holds: columns are bounded in float32 first."""
    n_columns, for_columns, n_found, turn = rules.open_columns.shape[0], key_of(key, FOR_COLUMNS), 0, 0
    drawn, gains, slacks, most, weight = work.drawn, work.drawn_gains, work.drawn_slacks, NO_CUT, figure[FIGURES]
    least, is_light, rest = rules.min_leaf - TIE, weight < LIGHT * rules.min_leaf, 0.0
    if is_light:
        rest = take_heavy_rows(work, begin, n, weight)
    tag_roughly(work, begin, n)
    while turn < n_columns and (turn < rules.n_drawn or n_found == 0):
        column = draw_next(rules, work.order, work.taken, for_columns, turn)
        turn += 1
        i, cut = work.list_of[column], work.cuts[n_found]
        if is_light and not may_have_cut(work, i, weight, rest, least):
            continue
        bar = (most - 2.0 * rules.tolerance) * weight if n_found > 0 else NO_CUT
        gain, position, slack, told = bound_roughly(rules, work, i, problem.distinct[i], begin, n, bar)
        work.is_clear[n_found] = told == CLEAR
        if told == UNCLEAR:
            gain, slack = search_exactly(problem, rules, work, i, begin, n, figure, cut) * weight, 0.0
        elif gain > NO_CUT:
            take_cut(work, i, position, gain, figure, cut)
        if gain > NO_CUT:
            drawn[n_found], gains[n_found], slacks[n_found] = column, gain / weight, slack / weight
            most = max(most, gains[n_found] - slacks[n_found])
            n_found += 1
    take_back(work.order, work.taken, turn)
    return best_of_near(problem, rules, work, n_found, most, begin, n, figure)


@compiled
def best_of_near(problem, rules, work, n_found, most, begin, n, figure):
    """The cut that the bounds have left, or the best of several, searched exactly: its index in `work.cuts`, or -1."""
    gains, slacks, n_near, near = work.drawn_gains, work.drawn_slacks, 0, 0
    for c in range(n_found):
        if gains[c] + slacks[c] >= most - 2.0 * rules.tolerance:
            n_near, near = n_near + 1, c
    if n_near == 1 and work.is_clear[near] and most > max(rules.min_gain, rules.min_score):
        return near
    nearly, most = most - 2.0 * rules.tolerance, NO_CUT
    for c in range(n_found):
        if gains[c] + slacks[c] < nearly:
            gains[c] = NO_CUT
            continue
        gains[c] = search_exactly(problem, rules, work, work.list_of[work.drawn[c]], begin, n, figure, work.cuts[c])
        most = max(most, gains[c])
    return first_of_best(work.drawn, gains, n_found, most, rules.tolerance)


@compiled
def search_exactly(problem, rules, work, i, begin, n, figure, cut):
    """`search_small` in lanes, unless rounding could decide: then row by row."""
    is_distinct = problem.distinct[i]
    known, gain, position, told = bound_exactly(rules, work, i, is_distinct, begin, n)
    if told == CLEAR:
        return take_cut(work, i, position, gain, figure, cut) if position else NO_CUT
    weigh_rows(work, begin, n)
    return search_ordered(rules, work, i, is_distinct, begin, n, known, figure, cut)
