"""The compiled twin of `grow.Grower.grow_depth_first`: a whole subtree in one call.

A column with an order is a sorted list (see `numeric_kernels`), of which every node owns a piece; a column of
categories, or of few values, is a code for each row, from which a node makes a table of sums by code (see
`table_kernels`). The list of a node's rows is in row order. The smaller child of a binary split is grown first and the
bigger one waits, so that few nodes wait at any time:

    lists      [ bigger child | smaller child ]      complete data: both fit into the parent's piece
               [ bigger child | … | smaller  ]       missing values: rows that go both ways make the smaller one wait on
                                                     top of everything else, as all children of a multiway split do

`weights[row]` is a row's weight in the node being grown. Rows that go down several branches have their weight in each
child put aside until it is that child's turn. A child that is a leaf is known to be one before the lists are divided,
and gets no piece of them.
"""

from math import log2

import numpy as np
from numba import int64, uint32, uint64

from core.compiled_kernels import Struct, StructType, compiled, define, structure
from core.growth.partition_kernels import (
    BOTH,
    EVERY,
    LEFT,
    RIGHT,
    divide_list,
    divide_list_by_branch,
    keep_in_list,
)
from core.growth.table_kernels import (
    MULTIWAY,
    ORDERED,
    branches_of_levels,
    fill_table,
    search_tables,
)
from core.splits.numeric_kernels import (
    ENTROPY,
    GINI,
    NO_CUT,
    SQUARED,
    scan_counts_entropy,
    scan_counts_gini,
    scan_numbers,
    scan_outputs,
    scan_weights,
    times_log2,
)

PARENT, BRANCH, SLOT, IS_CODED, LOW, HIGH, IS_COMPLETE, N_BRANCHES, SUMS, LEVELS = range(10)  # columns of links
NODE, DEPTH, ASIDE, N_ASIDE = range(4)  # columns of what is known of a waiting node
ABOVE_AVERAGE, BETTER_HALF, NO_FILTER = 0, 1, 2
NO_COSTS, TAN_SCHLIMMER, NUNEZ = 0, 1, 2
TIE = 1e-12
CACHED_ROWS = 4096
LIST_ROWS = 4096  # in subtrees of so few rows lists of few values are quicker than tables
DONE, STOP = 0, 1  # places in `progress`


class Problem(Struct):
    """The samples of a subtree, its rows numbered from 0 in row order; `origin` are their numbers in the whole table.

    `lists[i, : lengths[i]]` is the sorted list of the column with candidate slot `list_slots[i]`, `missing[row]` has a
    bit for each list the row is not in. `codes[row, j]` belongs to the coded column `coded[j]`. Lists, rows and weights
    are used up.
    """


class Rules(Struct):
    """How to grow: the criterion, limits, and tables that replace divisions and logarithms of whole numbers.

    A slot is the place of a candidate in the order of the columns. Coded column j has its slot, what its split is like,
    how many levels it has, and where they start in the table of sums.
    """


class Work(Struct):
    """Room that nodes use one after the other; nothing in it outlives a node."""


@structure
class ProblemType(StructType):
    """What kernels know of a `Problem`."""


@structure
class RulesType(StructType):
    """What kernels know of `Rules`."""


@structure
class WorkType(StructType):
    """What kernels know of `Work`."""


define(
    Problem,
    ProblemType,
    "lists lengths list_slots rows n_rows classes numbers weights missing has_missing codes coded origin shift",
)
define(
    Rules,
    RulesType,
    "criterion is_ratio gain_filter n_classes is_counted is_unit max_depth min_split min_leaf min_gain min_score "
    "min_impurity min_copy min_category tolerance cost_kind cost_power slot_costs coded_slots coded_kinds coded_levels "
    "coded_starts reciprocal small_logs large_logs small_unit large_unit",
)
define(
    Work,
    WorkType,
    "counts left_counts left before totals gains scores details passes shares side branch spare numbering table "
    "level_weights is_in_first branch_of places level_gains open_rows open_sizes open_branches parent_starts "
    "parent_lengths parent_tops space",
)


# The sums of a node


@compiled
def node_figures(problem, rules, rows, start, n, side, share, counts, figures):
    """Weight and sums of a node, added up in row order; rows that come down every branch have that share of theirs.

    Classes: the weight, then each class's. Numbers: the weight, then for all outputs the centres, both moments about
    them, and the sums of squares about the means. Returns whether all targets are equal.
    """
    weights, classes, numbers = problem.weights, problem.classes, problem.numbers
    has_copies = share < 1.0
    weight = 0.0
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            counts[k] = 0
            figures[1 + k] = 0.0
        for i in range(start, start + n):
            row = rows[i]
            k = classes[row]
            here = weights[row]
            if has_copies and side[row] >= BOTH:
                here *= share
            counts[k] += 1
            figures[1 + k] += here
            weight += here
        figures[0] = weight
        return counts[classes[rows[start]]] == n
    is_pure = True
    m = numbers.shape[1]
    for j in range(4 * m):
        figures[1 + j] = 0.0
    for i in range(start, start + n):
        row = rows[i]
        here = weights[row]
        if has_copies and side[row] >= BOTH:
            here *= share
        weight += here
        for j in range(m):
            figures[1 + j] += here * numbers[row, j]
            is_pure &= numbers[row, j] == numbers[rows[start], j]
    figures[0] = weight
    for j in range(m):
        figures[1 + j] /= weight
    for i in range(start, start + n):
        row = rows[i]
        here = weights[row]
        if has_copies and side[row] >= BOTH:
            here *= share
        for j in range(m):
            off = numbers[row, j] - figures[1 + j]
            figures[1 + m + j] += off * here
            figures[1 + 2 * m + j] += off * off * here
    for j in range(m):
        mean, around = figures[1 + j] + figures[1 + m + j] / weight, 0.0
        for i in range(start, start + n):
            row = rows[i]
            here = weights[row]
            if has_copies and side[row] >= BOTH:
                here *= share
            off = numbers[row, j] - mean
            around += here * (off * off)
        figures[1 + 3 * m + j] = around
    return is_pure


@compiled
def impurity_of(figures, rules, n_outputs):
    """The node's impurity, to be compared with its limit."""
    weight = figures[0]
    result, most = 0.0, 0.0
    if rules.criterion == SQUARED:
        for j in range(n_outputs):
            mean = figures[1 + n_outputs + j] / weight
            result += max(figures[1 + 2 * n_outputs + j] / weight - mean * mean, 0.0)
        return result
    total = 0.0
    for k in range(rules.n_classes):
        total += figures[1 + k]
    for k in range(rules.n_classes):
        share = figures[1 + k] / total
        if rules.criterion == GINI:
            result += share * share
        elif rules.criterion == ENTROPY and share > 0.0:
            result += share * log2(1.0 / share)
        most = max(most, share)
    if rules.criterion == ENTROPY:
        return result
    return 1.0 - (result if rules.criterion == GINI else most)


@compiled
def is_leaf(figures, is_pure, depth, rules, n_outputs):
    """`stopping.is_terminal`, or nothing left to tell apart."""
    return (
        is_pure
        or depth >= rules.max_depth
        or figures[0] < rules.min_split - TIE
        or impurity_of(figures, rules, n_outputs) <= rules.min_impurity
    )


@compiled
def is_one_class(figures, n_classes):
    """Whether only one class has weight."""
    n = 0
    for k in range(n_classes):
        n += figures[1 + k] > 0.0
    return n == 1


@compiled
def lowest_bit(bits):
    """The place of the lowest bit that is set (de Bruijn: the product has the place in its upper six bits)."""
    return int64(LOWEST[((bits & (~bits + uint64(1))) * uint64(0x03F79D71B4CB0A89)) >> uint64(58)])


LOWEST = np.zeros(64, np.int64)
for _place in range(64):
    LOWEST[((1 << _place) * 0x03F79D71B4CB0A89 % 2**64) >> 58] = _place


@compiled
def known_totals(problem, rules, rows, start, n, figures, totals):
    """`totals[i, :]`: the sums of the node's rows that are in list i: those of the node less those of the others."""
    n_lists, n_outputs, n_classes = problem.lengths.shape[0], problem.numbers.shape[1], rules.n_classes
    is_squared = rules.criterion == SQUARED
    weights, classes, numbers, missing = problem.weights, problem.classes, problem.numbers, problem.missing
    for i in range(n_lists):
        if is_squared:
            totals[i, 0] = figures[0]
            for j in range(n_outputs):
                totals[i, 1 + j] = figures[1 + n_outputs + j]
        else:
            for k in range(n_classes):
                totals[i, k] = figures[1 + k]
    if not problem.has_missing:
        return
    for i in range(start, start + n):
        row = rows[i]
        weight = weights[row]
        for word in range(missing.shape[1]):
            bits = missing[row, word]
            while bits:
                at = 64 * word + lowest_bit(bits)
                bits &= bits - uint64(1)
                if is_squared:
                    totals[at, 0] -= weight
                    for j in range(n_outputs):
                        totals[at, 1 + j] -= weight * (numbers[row, j] - figures[1 + j])
                else:
                    totals[at, classes[row]] -= weight


# The search for the best split


@compiled
def score_of_whole(totals, rules, n_outputs):
    """The score of the known rows undivided, and their weight."""
    weight, squares, logs, most = 0.0, 0.0, 0.0, 0.0
    if rules.criterion == SQUARED:
        for j in range(n_outputs):
            squares += totals[1 + j] * totals[1 + j]
        return squares / totals[0], totals[0]
    for k in range(rules.n_classes):
        weight += totals[k]
        squares += totals[k] * totals[k]
        most = max(most, totals[k])
        if rules.criterion == ENTROPY:
            logs += times_log2(totals[k])
    if rules.criterion == GINI:
        return squares / weight, weight
    return (logs - times_log2(weight) if rules.criterion == ENTROPY else most), weight


@compiled
def scan_list(problem, rules, work, entries, start, n, figures, totals, bar_gain):
    """The best cut of one list by the criterion: its gain times the node's weight, and its place; 0 for none."""
    if n < 2:
        return NO_CUT, uint64(0)
    n_outputs = problem.numbers.shape[1]
    whole, known = score_of_whole(totals, rules, n_outputs)
    tolerance, least = rules.tolerance * known, rules.min_leaf - TIE
    bar = whole + bar_gain if bar_gain > NO_CUT else NO_CUT
    if rules.criterion == SQUARED:
        if n_outputs == 1:
            score, place = scan_numbers(
                entries,
                start,
                n,
                problem.shift,
                totals[0],
                totals[1],
                problem.weights,
                problem.numbers,
                figures[1],
                rules.is_unit,
                least,
                tolerance,
                bar,
            )
        else:
            score, place = scan_outputs(
                entries,
                start,
                n,
                problem.shift,
                totals,
                work.left,
                problem.weights,
                problem.numbers,
                figures[1:],
                least,
                tolerance,
                bar,
            )
    elif rules.is_counted and rules.criterion != 2:
        counted = uint64(max(1.0, np.ceil(least)))
        if rules.criterion == GINI:
            score, place = scan_counts_gini(
                entries,
                start,
                n,
                problem.shift,
                work.counts,
                work.left_counts,
                rules.reciprocal,
                counted,
                tolerance,
                bar,
            )
        else:
            is_small = n < rules.small_logs.shape[0]
            score, place = scan_counts_entropy(
                entries,
                start,
                n,
                problem.shift,
                work.counts,
                work.left_counts,
                rules.small_logs if is_small else rules.large_logs,
                rules.small_unit if is_small else rules.large_unit,
                counted,
                tolerance,
                bar,
            )
    else:
        score, place = scan_weights(
            entries,
            start,
            n,
            problem.shift,
            totals,
            work.left,
            problem.weights,
            rules.criterion,
            least,
            tolerance,
            bar,
            work.before,
        )
    return (score - whole, place) if place else (NO_CUT, place)


@compiled
def search_lists(problem, rules, work, lists, starts, lengths, at, figures):
    """Every list's best cut, as a candidate in its slot; the largest gain found.

    Where only the best counts, a list is left as soon as it cannot have more than the best so far.
    """
    best = NO_CUT
    weight = figures[0]
    needs_all = rules.is_ratio or rules.cost_kind != NO_COSTS
    for i in range(problem.lengths.shape[0]):
        slot = problem.list_slots[i]
        work.gains[slot], work.scores[slot] = NO_CUT, NO_CUT
        bar = NO_CUT if needs_all or best == NO_CUT else (best - 2.0 * rules.tolerance) * weight
        start, n = starts[at, i], lengths[at, i]
        entries = lists[i]
        gain, place = scan_list(problem, rules, work, entries, start, n, figures, work.totals[i], bar)
        if place:
            work.gains[slot] = gain / weight
            work.scores[slot] = work.gains[slot]
            work.details[slot, 0], work.details[slot, 1], work.details[slot, 3] = i, place, 0
            best = max(best, work.gains[slot])
            if rules.is_ratio:
                left, right = known_weights(problem, entries, start, place, n)
                work.scores[slot] /= information(left, right)
    return best


@compiled
def known_weights(problem, entries, start, place, n):
    """The weight on each side of a cut."""
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    left, right, weights = 0.0, 0.0, problem.weights
    for i in range(start, place):
        left += weights[entries[i] & mask]
    for i in range(place, start + n):
        right += weights[entries[i] & mask]
    return left, right


@compiled
def information(left, right):
    """The intrinsic value of two branches, in bits."""
    left, right = left / (left + right), right / (left + right)
    return left * log2(1.0 / left) + right * log2(1.0 / right)


@compiled
def weigh_costs(rules, gains, scores):
    """`cost_gain`: gains weighed against what the attributes cost."""
    for slot in range(gains.shape[0]):
        if gains[slot] > NO_CUT and rules.cost_kind == TAN_SCHLIMMER:
            scores[slot] = max(gains[slot], 0.0) ** 2 / rules.slot_costs[slot]
        elif gains[slot] > NO_CUT and rules.cost_kind == NUNEZ:
            scores[slot] = (2.0 ** max(gains[slot], 0.0) - 1.0) / (rules.slot_costs[slot] + 1.0) ** rules.cost_power


@compiled
def choose(gains, scores, rules, passes):
    """The winner among the slots with a split: the first within a tie of the largest score that passes the filter."""
    n, average = 0, 0.0
    for c in range(gains.shape[0]):
        if gains[c] > NO_CUT:
            n += 1
            average += gains[c]
    if n == 0:
        return -1
    average /= n
    for c in range(gains.shape[0]):
        passes[c] = gains[c] > NO_CUT and (
            not rules.is_ratio
            or rules.gain_filter == NO_FILTER
            or (rules.gain_filter == ABOVE_AVERAGE and gains[c] >= average - TIE)
        )
    if rules.is_ratio and rules.gain_filter == BETTER_HALF:
        for _ in range((n + 1) // 2):
            passes[first_best(gains, passes, False, TIE)] = True
    return first_best(scores, passes, True, rules.tolerance)


@compiled
def first_best(values, marks, mark, tolerance):
    """The first place with that mark within a tolerance of the largest value so marked; -1 when there is none."""
    largest = NO_CUT
    for c in range(values.shape[0]):
        if marks[c] == mark and values[c] > largest:
            largest = values[c]
    for c in range(values.shape[0]):
        if marks[c] == mark and values[c] > NO_CUT and values[c] >= largest - tolerance:
            return c
    return -1


# The division of a node


@compiled
def take_sides(problem, entries, list_start, place, list_n, rows, start, n, side, left_counts):
    """Mark each row of the node with the child it goes to: by the cut, or to both where the value is missing.

    Counts the classes on the left on the way.
    """
    shift = uint32(problem.shift)
    mask = (uint32(1) << shift) - uint32(1)
    class_mask = (uint32(1) << uint32(31 - problem.shift)) - uint32(1)
    if problem.has_missing:
        for i in range(start, start + n):
            side[rows[i]] = BOTH
    for k in range(left_counts.shape[0]):
        left_counts[k] = 0
    for i in range(list_start, place):
        side[entries[i] & mask] = LEFT
        left_counts[(entries[i] >> shift) & class_mask] += 1
    for i in range(place, list_start + list_n):
        side[entries[i] & mask] = RIGHT


@compiled
def take_branches(problem, j, branch_of, rows, start, n, side, branch):
    """The same by the codes of a coded column, with as many branches as there may be; how many go down the first."""
    codes, n_left = problem.codes, 0
    for i in range(start, start + n):
        row = rows[i]
        to = branch_of[codes[row, j]]
        branch[row] = to
        side[row] = BOTH if to == EVERY else min(to, 1)
        n_left += to == 0
    return n_left


@compiled
def branch_figures(problem, rules, rows, start, n, side, branch, n_branches, figures, out, at):
    """From `out[at]` on: the known weight of each branch, then its sums, added up in row order.

    Returns whether every row is known.
    """
    weights, classes, numbers = problem.weights, problem.classes, problem.numbers
    m, is_squared = numbers.shape[1], rules.criterion == SQUARED
    width = 1 + 2 * m if is_squared else rules.n_classes
    for j in range(n_branches * (1 + width)):
        out[at + j] = 0.0
    is_complete = True
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            is_complete = False
            continue
        to = int64(side[row]) if n_branches == 2 else int64(branch[row])
        weight = weights[row]
        place = at + n_branches + to * width
        out[at + to] += weight
        if is_squared:
            out[place] += weight
            for j in range(m):
                off = numbers[row, j] - figures[1 + j]
                out[place + 1 + j] += off * weight
                out[place + 1 + m + j] += off * off * weight
        else:
            out[place + classes[row]] += weight
    return is_complete


@compiled
def counted_branches(counts, left_counts, out, at):
    """`branch_figures` of two branches where every weight is 1: whole numbers, exact in any order."""
    n_classes = counts.shape[0]
    out[at], out[at + 1] = 0.0, 0.0
    for k in range(n_classes):
        right = counts[k] - left_counts[k]
        out[at + 2 + k] = left_counts[k]
        out[at + 2 + n_classes + k] = right
        out[at] += left_counts[k]
        out[at + 1] += right


@compiled
def copy_figures(sums, at, n_branches, b, n_classes, figures):
    """The figures of a child all of whose rows are known: those of its branch."""
    figures[0] = sums[at + b]
    for k in range(n_classes):
        figures[1 + k] = sums[at + n_branches + b * n_classes + k]


@compiled
def settle_copies(problem, rules, rows, start, n, side, branch, shares, n_branches):
    """Rows that would go down every branch, but should not: those whose parts weigh too little go the heavier way.

    A part that rounds to nothing is no part: with two branches the row then goes one way. Returns how many are left.
    """
    smallest, largest = 1.0, 0.0
    for b in range(n_branches):
        largest = max(largest, shares[b])
        if shares[b] > 0.0:
            smallest = min(smallest, shares[b])
    heavier = 0
    while shares[heavier] < largest - TIE:
        heavier += 1
    n_left = 0
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            weight, to = problem.weights[row], -1
            if rules.min_copy > 0.0 and weight * smallest < rules.min_copy - TIE:
                to = heavier
            elif n_branches == 2 and min(weight * shares[0], weight * shares[1]) <= 0.0:
                to = 0 if shares[0] > shares[1] else 1
                problem.weights[row] = weight * shares[to]
            if to < 0:
                n_left += 1
            else:
                side[row] = min(to, 1)
                if n_branches > 2:
                    branch[row] = to
    return n_left


@compiled
def put_aside(problem, rows, start, n, side, share, aside_rows, aside_weights, at):
    """Keep what the rows that go down every branch weigh in one of them; how many."""
    kept, weights = 0, problem.weights
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            aside_rows[at + kept] = row
            aside_weights[at + kept] = weights[row] * share
            kept += 1
    return kept


# Room that grows


@compiled
def longer_rows(array, n_used, n_needed):
    """The array, or a copy with more rows when there is no room for what is needed."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty((max(n_needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    for i in range(n_used):
        for j in range(array.shape[1]):
            longer[i, j] = array[i, j]
    return longer


@compiled
def longer_list(array, n_used, n_needed):
    """The same for a list."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty(max(n_needed, 2 * array.shape[0]), array.dtype)
    for i in range(n_used):
        longer[i] = array[i]
    return longer


@compiled
def longer_lists(lists, tops, at, n_needed):
    """The same for the lists of all columns."""
    if n_needed <= lists.shape[1]:
        return lists
    longer = np.empty((lists.shape[0], max(n_needed, 2 * lists.shape[1])), lists.dtype)
    for c in range(lists.shape[0]):
        for i in range(tops[at, c]):
            longer[c, i] = lists[c, i]
    return longer


# A subtree of its own


@compiled
def is_worth_renumbering(n_rows, problem):
    """Whether a node's rows are few among those numbered: side by side their weights and marks stay in the cache."""
    n = problem.classes.shape[0]
    return (n_rows * 8 <= n and n > CACHED_ROWS) or (n_rows <= LIST_ROWS < n and problem.codes.shape[1] > 0)


@compiled
def renumbered(problem, rules, lists, rows, starts, lengths, at, numbering):
    """The samples of a node as a problem of its own, its rows numbered from 0 in row order.

    When they are few, coded columns with an order become lists.
    """
    n_lists, n_coded = problem.lengths.shape[0], problem.codes.shape[1]
    n_rows, first = lengths[at, n_lists], starts[at, n_lists]
    is_short = n_rows <= LIST_ROWS
    n_turned = 0
    for j in range(n_coded):
        n_turned += is_short and rules.coded_kinds[problem.coded[j]] == ORDERED
    n_new = n_lists + n_turned
    room = n_rows if not problem.has_missing else 2 * n_rows
    classes, weights, origin = np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(n_rows, np.uint32)
    numbers = np.empty((n_rows, problem.numbers.shape[1]))
    missing = np.zeros((n_rows, (n_new + 63) // 64), np.uint64)
    new_rows, new_lists = np.empty(room, np.uint32), np.empty((n_new, room), np.uint32)
    new_lengths, list_slots = np.zeros(n_new, np.int64), np.empty(n_new, np.int64)
    codes, coded = np.empty((n_rows, n_coded - n_turned), np.uint16), np.empty(n_coded - n_turned, np.int64)
    old_classes, old_weights, old_origin = problem.classes, problem.weights, problem.origin
    old_numbers, old_missing, old_codes = problem.numbers, problem.missing, problem.codes
    for i in range(n_rows):
        row = rows[first + i]
        numbering[row] = i
        new_rows[i] = i
        classes[i], weights[i], origin[i] = old_classes[row], old_weights[row], old_origin[row]
        for j in range(numbers.shape[1]):
            numbers[i, j] = old_numbers[row, j]
        for word in range(old_missing.shape[1]):
            missing[i, word] = old_missing[row, word]
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    for c in range(n_lists):
        list_slots[c] = problem.list_slots[c]
        new_lengths[c] = lengths[at, c]
        for i in range(lengths[at, c]):
            entry = lists[c, starts[at, c] + i]
            new_lists[c, i] = (entry & ~mask) | numbering[entry & mask]
    turned, kept = n_lists, 0
    for j in range(n_coded):
        a = problem.coded[j]
        if is_short and rules.coded_kinds[a] == ORDERED:
            list_slots[turned] = rules.coded_slots[a]
            new_lengths[turned] = list_of_codes(
                problem, rules.coded_levels[a], j, rows, first, n_rows, classes, missing, turned, new_lists[turned]
            )
            turned += 1
        else:
            coded[kept] = a
            for i in range(n_rows):
                codes[i, kept] = old_codes[rows[first + i], j]
            kept += 1
    return Problem(
        new_lists,
        new_lengths,
        list_slots,
        new_rows,
        n_rows,
        classes,
        numbers,
        weights,
        missing,
        problem.has_missing,
        codes,
        coded,
        origin,
        problem.shift,
    )


@compiled
def list_of_codes(problem, n_levels, j, rows, first, n_rows, classes, missing, at, entries):
    """The sorted list of coded column j, rows counted from 0; rows that do not know it are marked. How long it is."""
    ends, codes, shift = np.zeros(n_levels + 2, np.int64), problem.codes, uint32(problem.shift)
    for i in range(n_rows):
        ends[codes[rows[first + i], j] + 1] += 1
    n_known = n_rows - ends[n_levels + 1]
    for v in range(n_levels):
        ends[v + 1] += ends[v]
    for i in range(n_rows):
        code = codes[rows[first + i], j]
        if code == n_levels:
            missing[i, at // 64] |= uint64(1) << uint64(at % 64)
        else:
            entries[ends[code]] = (uint32(classes[i]) << shift) | uint32(i)
            ends[code] += 1
    for v in range(n_levels - 1):
        if 0 < ends[v] < n_known:
            entries[ends[v]] |= uint32(1) << uint32(31)
    return n_known


# Growth


@compiled
def open_child(problem, rules, work, rows, start, n, sums, at, n_branches, b, is_known, depth, figures):
    """The figures of a child whose rows are in place; whether it is to be split any further."""
    m = problem.numbers.shape[1]
    if n == 0:
        for j in range(figures.shape[0]):
            figures[j] = 0.0
        return False
    if is_known and rules.criterion != SQUARED:
        copy_figures(sums, at, n_branches, b, rules.n_classes, figures)
        is_pure = is_one_class(figures, rules.n_classes)
    else:
        share = 1.0 if is_known else work.shares[b]
        is_pure = node_figures(problem, rules, rows, start, n, work.side, share, work.left_counts, figures)
    return not is_leaf(figures, is_pure, depth, rules, m)


@compiled
def divide_in_two(
    problem, rules, work, stack, lists, rows, here, depth, first_node, figures, sums, at, is_known, keeper
):
    """Give both children their rows and, unless they are leaves, their pieces of the lists; how many wait then.

    The keeper, which has more rows, stays in the parent's place and waits longer.
    """
    starts, lengths, tops, infos, spent = stack
    n_lists, side, shift = problem.lengths.shape[0], work.side, problem.shift
    start, n, top = starts[here, n_lists], lengths[here, n_lists], tops[here, n_lists]
    if problem.has_missing:
        place = top
        kept, moved = divide_list(rows, start, n, shift, side, keeper, rows, place)
    else:
        kept, moved = divide_list(rows, start, n, shift, side, keeper, work.spare, 0)
        place = start + kept
        for i in range(moved):
            rows[place + i] = work.spare[i]
    keeps = open_child(
        problem, rules, work, rows, start, kept, sums, at, 2, keeper, is_known, depth, figures[first_node + keeper]
    )
    moves = open_child(
        problem,
        rules,
        work,
        rows,
        place,
        moved,
        sums,
        at,
        2,
        1 - keeper,
        is_known,
        depth,
        figures[first_node + 1 - keeper],
    )
    bigger, smaller = here, here + 1 if keeps else here
    if moves:
        starts[smaller, n_lists], lengths[smaller, n_lists] = place, moved
        tops[smaller, n_lists] = place + moved if problem.has_missing else top
        infos[smaller, NODE], infos[smaller, DEPTH] = first_node + 1 - keeper, depth
        for a in range(spent.shape[1]):
            spent[smaller, a] = spent[here, a]
    if keeps:
        lengths[bigger, n_lists] = kept
        infos[bigger, NODE], infos[bigger, DEPTH] = first_node + keeper, depth
    for c in range(n_lists):
        list_start, list_n, list_top = starts[here, c], lengths[here, c], tops[here, c]
        if keeps and moves:
            if problem.has_missing:
                place = list_top
                kept, moved = divide_list(lists[c], list_start, list_n, shift, side, keeper, lists[c], place)
            else:
                kept, moved = divide_list(lists[c], list_start, list_n, shift, side, keeper, work.spare, 0)
                place = list_start + kept
                for i in range(moved):
                    lists[c, place + i] = work.spare[i]
            lengths[bigger, c] = kept
            starts[smaller, c], lengths[smaller, c] = place, moved
            tops[smaller, c] = place + moved if problem.has_missing else list_top
        elif keeps or moves:
            child = keeper if keeps else 1 - keeper
            lengths[here, c] = keep_in_list(lists[c], list_start, list_n, shift, side, child)
    return here + int64(keeps) + int64(moves)


@compiled
def divide_by_branch(
    problem, rules, work, stack, lists, rows, here, depth, first_node, n_branches, figures, sums, at, is_known
):
    """The same for a multiway split; its coded column has nothing more to tell below."""
    starts, lengths, tops, infos, spent = stack
    n_lists, places = problem.lengths.shape[0], work.places
    start, n = starts[here, n_lists], lengths[here, n_lists]
    for b in range(n_branches):
        places[0, b] = 0
    begin = place_branches(problem, work, rows, start, n, tops[here, n_lists], n_branches)
    divide_list_by_branch(
        rows,
        start,
        n,
        problem.shift,
        work.branch,
        n_branches,
        places,
        work.shares,
        problem.weights,
        rows if problem.has_missing else work.spare,
    )
    if not problem.has_missing:
        for i in range(n):
            rows[start + i] = work.spare[i]
        begin = start
    n_open, place = 0, begin
    for b in range(n_branches):
        size = places[2, b]
        is_open = open_child(
            problem, rules, work, rows, place, size, sums, at, n_branches, b, is_known, depth, figures[first_node + b]
        )
        work.open_rows[n_open], work.open_sizes[n_open], work.open_branches[n_open] = place, size, b
        places[3, b] = is_open
        n_open += is_open
        place += size
    row_top = place if problem.has_missing else tops[here, n_lists]
    for c in range(n_lists + 1):
        work.parent_starts[c], work.parent_lengths[c], work.parent_tops[c] = (
            starts[here, c],
            lengths[here, c],
            tops[here, c],
        )
    for e in range(n_open - 1, -1, -1):
        for a in range(spent.shape[1]):
            spent[here + e, a] = spent[here, a]
        infos[here + e, NODE], infos[here + e, DEPTH] = first_node + work.open_branches[e], depth
        starts[here + e, n_lists], lengths[here + e, n_lists] = work.open_rows[e], work.open_sizes[e]
        tops[here + e, n_lists] = row_top
    if n_open == 0:
        return here
    for c in range(n_lists):
        list_start, list_n, list_top = work.parent_starts[c], work.parent_lengths[c], work.parent_tops[c]
        begin = place_branches(problem, work, lists[c], list_start, list_n, list_top, n_branches)
        place = begin
        for b in range(n_branches):
            size = places[2, b]
            places[0, b] = place if places[3, b] else -1
            place += size if places[3, b] else 0
        e = 0
        for b in range(n_branches):
            if places[3, b]:
                at_b = places[0, b]
                starts[here + e, c] = at_b if problem.has_missing else list_start + at_b
                lengths[here + e, c] = places[2, b]
                tops[here + e, c] = place if problem.has_missing else list_top
                e += 1
        divide_list_by_branch(
            lists[c],
            list_start,
            list_n,
            problem.shift,
            work.branch,
            n_branches,
            places,
            work.shares,
            problem.weights,
            lists[c] if problem.has_missing else work.spare,
        )
        if not problem.has_missing:
            for i in range(place):
                lists[c, list_start + i] = work.spare[i]
    return here + n_open


@compiled
def place_branches(problem, work, entries, start, n, top, n_branches):
    """Where each branch's entries will stand, one branch after the other, and how many they are; the first place."""
    places, branch, weights, shares = work.places, work.branch, problem.weights, work.shares
    row_mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    for b in range(n_branches):
        places[1, b], places[2, b] = -1, 0
    for i in range(start, start + n):
        row = entries[i] & row_mask
        to = branch[row]
        if to == EVERY:
            for b in range(n_branches):
                places[2, b] += weights[row] * shares[b] > 0.0
        else:
            places[2, to] += 1
    begin = top if problem.has_missing else 0
    place = begin
    for b in range(n_branches):
        places[0, b] = place
        place += places[2, b]
    return begin


@compiled
def grow_subtree(problem, rules, work, root_figures, is_open, depth, root_spent, progress):
    """All nodes below and including the one that holds the problem's rows, parents before children.

    Returns for each node its links (`PARENT` … `LEVELS`; for a cut in a list the original rows on both sides of it
    stand for the threshold) and its figures; then the branch figures and the branches of levels that the links point
    to. `progress[DONE]` grows by the weight of every leaf; a `progress[STOP]` that is not 0 ends growth.
    """
    n_lists, n_coded, m = problem.lengths.shape[0], problem.codes.shape[1], problem.numbers.shape[1]
    n_figures = 1 + 4 * m if rules.criterion == SQUARED else 1 + rules.n_classes
    width = 1 + 2 * m if rules.criterion == SQUARED else rules.n_classes
    lists, rows = problem.lists, problem.rows
    starts, lengths, tops = (
        np.zeros((64, n_lists + 1), np.int64),  # the last column is that of the rows
        np.zeros((64, n_lists + 1), np.int64),
        np.zeros((64, n_lists + 1), np.int64),
    )
    infos, spent = np.zeros((64, 4), np.int64), np.zeros((64, rules.coded_slots.shape[0]), np.bool_)
    for c in range(n_lists):
        lengths[0, c] = problem.lengths[c]
        tops[0, c] = problem.lengths[c]
    lengths[0, n_lists], tops[0, n_lists], infos[0, DEPTH] = problem.n_rows, problem.n_rows, depth
    for a in range(spent.shape[1]):
        spent[0, a] = root_spent[a]
    aside_rows, aside_weights = np.empty(64, np.uint32), np.empty(64, np.float64)
    links, figures = np.zeros((64, 10), np.int64), np.empty((64, n_figures), np.float64)
    sums, levels = np.empty(64 * (2 + 2 * width), np.float64), np.empty(64, np.uint16)
    n_sums, n_levels = 0, 0
    side, branch, shares = work.side, work.branch, work.shares
    for j in range(n_figures):
        figures[0, j] = root_figures[j]
    links[0, PARENT], links[0, SLOT] = -1, -1
    n_nodes, waiting = 1, 1 if is_open else 0
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    while waiting > 0 and progress[STOP] == 0.0:
        waiting -= 1
        here = waiting  # its place is free once its children are made: read what is needed before
        node, node_depth = infos[here, NODE], infos[here, DEPTH]
        aside = infos[here, ASIDE]
        for i in range(aside, aside + infos[here, N_ASIDE]):
            problem.weights[aside_rows[i]] = aside_weights[i]
        row_start, n_rows = starts[here, n_lists], lengths[here, n_lists]
        figure = figures[node]
        if is_worth_renumbering(n_rows, problem):
            local = renumbered(problem, rules, lists, rows, starts, lengths, here, work.numbering)
            below, figures_below, sums_below, levels_below = grow_subtree(
                local, rules, work, figure, is_open, node_depth, spent[here], progress
            )
            n_below = below.shape[0]
            links, figures = (
                longer_rows(links, n_nodes, n_nodes + n_below),
                longer_rows(figures, n_nodes, n_nodes + n_below),
            )
            sums = longer_list(sums, n_sums, n_sums + sums_below.shape[0])
            levels = longer_list(levels, n_levels, n_levels + levels_below.shape[0])
            for i in range(n_below):
                to = node if i == 0 else n_nodes + i - 1
                for j in range(2 if i == 0 else 0, 10):  # where the root stands is known here
                    links[to, j] = below[i, j]
                if i > 0:
                    parent = below[i, PARENT]
                    links[to, PARENT] = node if parent == 0 else n_nodes + parent - 1
                links[to, SUMS] += n_sums
                links[to, LEVELS] += n_levels
                for j in range(n_figures):
                    figures[to, j] = figures_below[i, j]
            for i in range(sums_below.shape[0]):
                sums[n_sums + i] = sums_below[i]
            for i in range(levels_below.shape[0]):
                levels[n_levels + i] = levels_below[i]
            n_nodes += n_below - 1
            n_sums += sums_below.shape[0]
            n_levels += levels_below.shape[0]
            continue
        if rules.criterion != SQUARED:
            for k in range(rules.n_classes):
                work.counts[k] = int64(figure[1 + k])
        best_gain = NO_CUT
        known_totals(problem, rules, rows, row_start, n_rows, figure, work.totals)
        if n_lists > 0:
            best_gain = search_lists(problem, rules, work, lists, starts, lengths, here, figure)
        if n_coded > 0:
            fill_table(problem, rules, rows, row_start, n_rows, figure, work.table, work.level_weights)
            best_gain = search_tables(problem, rules, work, spent, here, figure, best_gain)
        weigh_costs(rules, work.gains, work.scores)
        slot = choose(work.gains, work.scores, rules, work.passes)
        if (
            slot < 0
            or work.gains[slot] < rules.min_gain - rules.tolerance
            or work.scores[slot] < rules.min_score - rules.tolerance
        ):
            progress[DONE] += figure[0]
            continue
        link = links[node]
        link[SLOT], link[IS_CODED] = slot, work.details[slot, 3]
        n_branches = 2
        if link[IS_CODED]:
            j = work.details[slot, 0]
            a = problem.coded[j]
            n_branches = branches_of_levels(problem, rules, work, slot)
            n_left = take_branches(problem, j, work.branch_of, rows, row_start, n_rows, side, branch)
            keeper = 0 if 2 * n_left >= n_rows else 1
            if rules.coded_kinds[a] == ORDERED:
                link[LOW], link[HIGH] = work.details[slot, 1], work.details[slot, 2]
            elif rules.coded_kinds[a] != MULTIWAY:
                levels = longer_list(levels, n_levels, n_levels + rules.coded_levels[a])
                link[LEVELS] = n_levels
                for v in range(rules.coded_levels[a]):
                    levels[n_levels + v] = work.branch_of[v]
                n_levels += rules.coded_levels[a]
        else:
            i, place = work.details[slot, 0], work.details[slot, 1]
            entries = lists[i]
            keeper = 0 if 2 * (place - starts[here, i]) >= lengths[here, i] else 1
            link[LOW] = problem.origin[entries[place - 1] & mask]
            link[HIGH] = problem.origin[entries[place] & mask]
            take_sides(
                problem,
                entries,
                starts[here, i],
                place,
                lengths[here, i],
                rows,
                row_start,
                n_rows,
                side,
                work.left_counts,
            )
        link[N_BRANCHES], link[SUMS] = n_branches, n_sums
        sums = longer_list(sums, n_sums, n_sums + n_branches * (1 + width))
        if rules.is_counted and not link[IS_CODED]:
            counted_branches(work.counts, work.left_counts, sums, n_sums)
            link[IS_COMPLETE] = True
        else:
            link[IS_COMPLETE] = branch_figures(
                problem, rules, rows, row_start, n_rows, side, branch, n_branches, figure, sums, n_sums
            )
        known = 0.0
        for b in range(n_branches):
            known += sums[n_sums + b]
        for b in range(n_branches):
            shares[b] = sums[n_sums + b] / known
        n_copied = 0
        if not link[IS_COMPLETE]:
            n_copied = settle_copies(problem, rules, rows, row_start, n_rows, side, branch, shares, n_branches)
        links, figures = (
            longer_rows(links, n_nodes, n_nodes + n_branches),
            longer_rows(figures, n_nodes, n_nodes + n_branches),
        )
        needed = here + n_branches + 1
        if needed > infos.shape[0]:
            starts, lengths, tops = (
                longer_rows(starts, here + 1, needed),
                longer_rows(lengths, here + 1, needed),
                longer_rows(tops, here + 1, needed),
            )
            infos, spent = longer_rows(infos, here + 1, needed), longer_rows(spent, here + 1, needed)
        if problem.has_missing:
            grown = 1
            if n_branches > 2:
                grown = n_branches
            most = tops[here, n_lists] + n_rows + n_copied * grown + 1
            rows = longer_list(rows, tops[here, n_lists], most)
            longest = int64(0)
            for c in range(n_lists):
                longest = max(longest, tops[here, c])
            lists = longer_lists(lists, tops, here, longest + n_rows + n_copied * grown + 1)
        for b in range(n_branches):
            links[n_nodes + b, PARENT], links[n_nodes + b, BRANCH] = node, b
            links[n_nodes + b, SLOT], links[n_nodes + b, SUMS], links[n_nodes + b, LEVELS] = -1, 0, 0
        is_known = bool(links[node, IS_COMPLETE])
        stack = (starts, lengths, tops, infos, spent)
        if n_branches == 2:
            waiting = divide_in_two(
                problem,
                rules,
                work,
                stack,
                lists,
                rows,
                here,
                node_depth + 1,
                n_nodes,
                figures,
                sums,
                n_sums,
                is_known,
                keeper,
            )
        else:
            spent[here, a] = True
            waiting = divide_by_branch(
                problem,
                rules,
                work,
                stack,
                lists,
                rows,
                here,
                node_depth + 1,
                n_nodes,
                n_branches,
                figures,
                sums,
                n_sums,
                is_known,
            )
        for b in range(n_branches):
            progress[DONE] += figures[n_nodes + b, 0]
        for at in range(here, waiting):
            progress[DONE] -= figures[infos[at, NODE], 0]
        is_waiting = waiting > here
        if n_copied > 0 and is_waiting:
            needed = aside + n_copied * (waiting - here)
            aside_rows, aside_weights = (
                longer_list(aside_rows, aside, needed),
                longer_list(aside_weights, aside, needed),
            )
            for at in range(here, waiting):
                infos[at, ASIDE] = aside
                share = shares[links[infos[at, NODE], BRANCH]]
                infos[at, N_ASIDE] = put_aside(
                    problem,
                    rows,
                    starts[at, n_lists],
                    lengths[at, n_lists],
                    side,
                    share,
                    aside_rows,
                    aside_weights,
                    aside,
                )
                aside += infos[at, N_ASIDE]
        else:
            for at in range(here, waiting):
                infos[at, ASIDE], infos[at, N_ASIDE] = aside, 0
        n_sums += n_branches * (1 + width)
        n_nodes += n_branches
    return links[:n_nodes], figures[:n_nodes], sums[:n_sums], levels[:n_levels]


@compiled
def grow_tree(problem_fields, rules_fields, work_fields, progress):
    """The whole tree; see `grow_subtree`. Structs are made here: to make them, Python would have to compile."""
    problem, rules, work = Problem(*problem_fields), Rules(*rules_fields), Work(*work_fields)
    m, first, depth = problem.numbers.shape[1], int64(0), int64(0)  # not literals: these would be compiled once more
    figures = np.zeros(1 + 4 * m if rules.criterion == SQUARED else 1 + rules.n_classes)
    is_pure = node_figures(
        problem, rules, problem.rows, first, problem.n_rows, work.side, 1.0, work.left_counts, figures
    )
    is_open = not is_leaf(figures, is_pure, depth, rules, m)
    nothing_spent = np.zeros(rules.coded_slots.shape[0], np.bool_)
    return grow_subtree(problem, rules, work, figures, is_open, depth, nothing_spent, progress)


@compiled
def depth_first(links):
    """The size of every subtree, and which node was grown as which: parents before children, in branch order."""
    n_nodes = links.shape[0]
    sizes, before = np.ones(n_nodes, np.int32), np.zeros(n_nodes, np.int64)
    for node in range(n_nodes - 1, 0, -1):  # children stand after their parent, next to each other in branch order
        sizes[links[node, PARENT]] += sizes[node]
    for node in range(1, n_nodes):
        if links[node, BRANCH] > 0:
            before[node] = before[node - 1] + sizes[node - 1]
    numbers = np.zeros(n_nodes, np.int64)
    for node in range(1, n_nodes):
        numbers[node] = numbers[links[node, PARENT]] + 1 + before[node]
    ordered_sizes, order = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int64)
    for node in range(n_nodes):
        order[numbers[node]] = node
        ordered_sizes[numbers[node]] = sizes[node]
    return ordered_sizes, order
