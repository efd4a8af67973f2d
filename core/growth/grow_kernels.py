"""The compiled twin of `grow.Grower.grow_depth_first` for thresholds: a whole subtree in one call.

Every node owns a piece of each column's sorted list (see `numeric_kernels`) and of the list of its rows, which is in
row order. The smaller child of a split is grown first and the bigger one waits, so that few nodes wait at any time:

    lists      [ bigger child | smaller child ]      complete data: both fit into the parent's piece
               [ bigger child | … | smaller  ]       missing values: rows that go both ways make the smaller one wait on
                                                     top of everything else

`weights[row]` is a row's weight in the node being grown. A row that goes both ways has its weight in the node put aside
until the bigger child's turn.
"""

from math import log2
from typing import NamedTuple

import numpy as np
from numba import uint32, uint64

from core.compiled_kernels import compiled
from core.growth.partition_kernels import BOTH, LEFT, RIGHT, divide_list
from core.splits.numeric_kernels import (
    ENTROPY,
    GINI,
    NO_CUT,
    SQUARED,
    scan_counts_entropy,
    scan_counts_gini,
    scan_numbers,
    scan_weights,
    times_log2,
)

PARENT, BRANCH, COLUMN, LOW_ROW, HIGH_ROW, IS_COMPLETE = 0, 1, 2, 3, 4, 5
ABOVE_AVERAGE, BETTER_HALF, NO_FILTER = 0, 1, 2
TIE = 1e-12
WAITING = 128
CACHED_ROWS = 4096


class Problem(NamedTuple):
    """The samples of a subtree, its rows numbered from 0 in row order.

    `lists[c, : lengths[c]]` is the sorted list of column c, `missing[row]` has a bit for each column the row does not
    know. Lists, rows and weights are used up.
    """

    lists: np.ndarray
    lengths: np.ndarray
    rows: np.ndarray
    n_rows: int
    classes: np.ndarray
    numbers: np.ndarray
    weights: np.ndarray
    missing: np.ndarray
    has_missing: bool
    shift: int


class Rules(NamedTuple):
    """How to grow: the criterion, limits, and tables that replace divisions and logarithms of whole numbers."""

    criterion: int
    is_ratio: bool
    gain_filter: int
    n_classes: int
    is_counted: bool
    max_depth: int
    min_split: float
    min_leaf: float
    min_gain: float
    min_score: float
    min_impurity: float
    tolerance: float
    reciprocal: np.ndarray
    small_logs: np.ndarray
    large_logs: np.ndarray
    small_unit: float
    large_unit: float


@compiled
def node_figures(rows, start, n, problem, rules, counts, figures):
    """Weight and sums of a node, added up in row order; the class counts tell whether it is pure.

    Classes: the weight, then each class's. Numbers: the weight, the centre, both moments about it, and the sum of
    squares about the mean. Returns whether all targets are equal.
    """
    weights, classes, numbers = problem.weights, problem.classes, problem.numbers
    weight = 0.0
    if rules.criterion != SQUARED:
        for k in range(rules.n_classes):
            counts[k] = 0
            figures[1 + k] = 0.0
        for i in range(start, start + n):
            row = rows[i]
            k = classes[row]
            counts[k] += 1
            figures[1 + k] += weights[row]
            weight += weights[row]
        figures[0] = weight
        return counts[classes[rows[start]]] == n
    total, first, is_pure = 0.0, numbers[rows[start]], True
    for i in range(start, start + n):
        row = rows[i]
        weight += weights[row]
        total += weights[row] * numbers[row]
        is_pure &= numbers[row] == first
    centre = total / weight
    moment, square = 0.0, 0.0
    for i in range(start, start + n):
        row = rows[i]
        off = numbers[row] - centre
        moment += off * weights[row]
        square += off * off * weights[row]
    mean, around = centre + moment / weight, 0.0
    for i in range(start, start + n):
        row = rows[i]
        off = numbers[row] - mean
        around += weights[row] * (off * off)
    figures[0], figures[1], figures[2], figures[3], figures[4] = weight, centre, moment, square, around
    return is_pure


@compiled
def impurity_of(figures, rules):
    """The node's impurity, to be compared with its limit."""
    weight = figures[0]
    if rules.criterion == SQUARED:
        mean = figures[2] / weight
        return max(figures[3] / weight - mean * mean, 0.0)
    total = 0.0
    for k in range(rules.n_classes):
        total += figures[1 + k]
    result, most = 0.0, 0.0
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
def known_totals(rows, start, n, problem, rules, figures, totals):
    """`totals[c, :]`: the sums of the node's rows that know column c: those of the node less those of the others."""
    n_lists = problem.lengths.shape[0]
    for c in range(n_lists):
        if rules.criterion == SQUARED:
            totals[c, 0], totals[c, 1] = figures[0], figures[2]
        else:
            for k in range(rules.n_classes):
                totals[c, k] = figures[1 + k]
    if not problem.has_missing:
        return
    for i in range(start, start + n):
        row = rows[i]
        weight = problem.weights[row]
        for word in range(problem.missing.shape[1]):
            bits = problem.missing[row, word]
            column = 64 * word
            while bits:
                if bits & uint64(1):
                    if rules.criterion == SQUARED:
                        totals[column, 0] -= weight
                        totals[column, 1] -= weight * (problem.numbers[row] - figures[1])
                    else:
                        totals[column, problem.classes[row]] -= weight
                bits >>= uint64(1)
                column += 1


@compiled
def scan_list(entries, start, n, problem, rules, figures, counts, totals, left_counts, left_weights, scratch):
    """The best cut of one list by the criterion: its gain times the node's weight, and its place; 0 for none."""
    if n < 2:
        return NO_CUT, uint64(0)
    if rules.criterion == SQUARED:
        whole, whole_sum = totals[0], totals[1]
        tolerance = rules.tolerance * whole
        score, place = scan_numbers(
            entries,
            start,
            n,
            problem.shift,
            whole,
            whole_sum,
            problem.weights,
            problem.numbers,
            figures[1],
            rules.min_leaf - TIE,
            tolerance,
            NO_CUT,
        )
        return (score - whole_sum * whole_sum / whole, place) if place else (NO_CUT, place)
    known = 0.0
    for k in range(rules.n_classes):
        known += totals[k]
    tolerance = rules.tolerance * known
    if rules.is_counted and rules.criterion == GINI:
        least = uint64(max(1.0, np.ceil(rules.min_leaf - TIE)))
        score, place = scan_counts_gini(
            entries, start, n, problem.shift, counts, left_counts, rules.reciprocal, least, tolerance, NO_CUT
        )
    elif rules.is_counted and rules.criterion == ENTROPY:
        least = uint64(max(1.0, np.ceil(rules.min_leaf - TIE)))
        is_small = n < rules.small_logs.shape[0]
        score, place = scan_counts_entropy(
            entries,
            start,
            n,
            problem.shift,
            counts,
            left_counts,
            rules.small_logs if is_small else rules.large_logs,
            rules.small_unit if is_small else rules.large_unit,
            least,
            tolerance,
            NO_CUT,
        )
    else:
        score, place = scan_weights(
            entries,
            start,
            n,
            problem.shift,
            totals,
            left_weights,
            problem.weights,
            rules.criterion,
            rules.min_leaf - TIE,
            tolerance,
            NO_CUT,
            scratch,
        )
    if place == 0:
        return NO_CUT, place
    return score - score_of_whole(totals, rules), place


@compiled
def score_of_whole(totals, rules):
    """The score of the known rows undivided."""
    weight, squares, logs, most = 0.0, 0.0, 0.0, 0.0
    for k in range(rules.n_classes):
        weight += totals[k]
        squares += totals[k] * totals[k]
        most = max(most, totals[k])
        if rules.criterion == ENTROPY:
            logs += times_log2(totals[k])
    if rules.criterion == GINI:
        return squares / weight
    return logs - times_log2(weight) if rules.criterion == ENTROPY else most


@compiled
def known_weights(entries, start, place, n, problem):
    """The weight on each side of a cut."""
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    left, right = 0.0, 0.0
    for i in range(start, place):
        left += problem.weights[entries[i] & mask]
    for i in range(place, start + n):
        right += problem.weights[entries[i] & mask]
    return left, right


@compiled
def choose(gains, scores, rules, passes):
    """The winner among the columns with a cut: the first within a tie of the largest score that passes the filter."""
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
            best = first_best(gains, ~passes, TIE)
            passes[best] = True
    return first_best(scores, passes, rules.tolerance)


@compiled
def first_best(values, is_eligible, tolerance):
    """The first eligible place within a tolerance of the largest eligible value; -1 when there is none."""
    largest = NO_CUT
    for c in range(values.shape[0]):
        if is_eligible[c] and values[c] > largest:
            largest = values[c]
    for c in range(values.shape[0]):
        if is_eligible[c] and values[c] > NO_CUT and values[c] >= largest - tolerance:
            return c
    return -1


@compiled
def take_sides(problem, entries, list_start, place, list_n, rows, start, n, side):
    """Mark each row of the node with the child it goes to: by the cut, or to both where the value is missing."""
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    if problem.has_missing:
        for i in range(start, start + n):
            side[rows[i]] = BOTH
    for i in range(list_start, place):
        side[entries[i] & mask] = LEFT
    for i in range(place, list_start + list_n):
        side[entries[i] & mask] = RIGHT


@compiled
def branch_figures(problem, rules, rows, start, n, side, centre, out):
    """The known weight and sums that go each way, added up in row order; whether every row is known."""
    width = rules.n_classes if rules.criterion != SQUARED else 3
    for j in range(2 + 2 * width):
        out[j] = 0.0
    is_complete = True
    for i in range(start, start + n):
        row = rows[i]
        to = side[row]
        if to == BOTH:
            is_complete = False
            continue
        weight, at = problem.weights[row], 2 + to * width
        out[to] += weight
        if rules.criterion == SQUARED:
            off = problem.numbers[row] - centre
            out[at] += weight
            out[at + 1] += off * weight
            out[at + 2] += off * off * weight
        else:
            out[at + problem.classes[row]] += weight
    return is_complete


@compiled
def put_aside(problem, rows, start, n, side, first, shares, aside_rows, aside_weights, top):
    """Give the rows that go both ways their part in the child grown first, and keep the other part for the other child.

    A part that rounds to nothing is no part: the row then goes one way only. Returns how many were put aside.
    """
    kept = 0
    for i in range(start, start + n):
        row = rows[i]
        if side[row] == BOTH:
            part, rest = problem.weights[row] * shares[first], problem.weights[row] * shares[1 - first]
            if part > 0.0 and rest > 0.0:
                aside_rows[top + kept] = row
                aside_weights[top + kept] = rest
                kept += 1
                problem.weights[row] = part
            else:
                side[row] = first if part > 0.0 else 1 - first
                problem.weights[row] = part + rest
    return kept


@compiled
def longer_rows(array, n_used, n_needed):
    """The array, or a copy with more rows when there is no room for what is needed."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty((max(n_needed, 2 * array.shape[0]), array.shape[1]), array.dtype)
    longer[:n_used] = array[:n_used]
    return longer


@compiled
def longer_list(array, n_used, n_needed):
    """The same for a list."""
    if n_needed <= array.shape[0]:
        return array
    longer = np.empty(max(n_needed, 2 * array.shape[0]), array.dtype)
    longer[:n_used] = array[:n_used]
    return longer


@compiled
def longer_lists(lists, tops, n_needed):
    """The same for the lists of all columns."""
    if n_needed <= lists.shape[1]:
        return lists
    longer = np.empty((lists.shape[0], max(n_needed, 2 * lists.shape[1])), lists.dtype)
    for c in range(lists.shape[0]):
        longer[c, : tops[c]] = lists[c, : tops[c]]
    return longer


@compiled
def is_worth_renumbering(n_rows, problem):
    """Whether a node's rows are few among those numbered: side by side their weights and marks stay in the cache."""
    return n_rows * 8 <= problem.classes.shape[0] and problem.classes.shape[0] > CACHED_ROWS


@compiled
def renumbered(problem, lists, rows, start, length, numbering):
    """The samples of a node as a problem of its own, its rows numbered from 0 in row order."""
    n_lists, n_rows = problem.lengths.shape[0], length[problem.lengths.shape[0]]
    first = start[n_lists]
    room = n_rows if not problem.has_missing else 2 * n_rows
    classes, numbers, weights = np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(n_rows)
    missing = np.empty((n_rows, problem.missing.shape[1]), np.uint64)
    new_rows, new_lists = np.empty(room, np.uint32), np.empty((n_lists, room), np.uint32)
    for i in range(n_rows):
        row = rows[first + i]
        numbering[row] = i
        new_rows[i] = i
        classes[i], numbers[i], weights[i] = problem.classes[row], problem.numbers[row], problem.weights[row]
        for word in range(missing.shape[1]):
            missing[i, word] = problem.missing[row, word]
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    for c in range(n_lists):
        for i in range(length[c]):
            entry = lists[c, start[c] + i]
            new_lists[c, i] = (entry & ~mask) | numbering[entry & mask]
    return Problem(
        new_lists,
        length[:n_lists].copy(),
        new_rows,
        n_rows,
        classes,
        numbers,
        weights,
        missing,
        problem.has_missing,
        problem.shift,
    )


@compiled
def grow_subtree(problem, rules, depth, progress):
    """All nodes below and including the one that holds the problem's rows, in the order they were grown.

    Returns for each node its links and cut (`PARENT` … `IS_COMPLETE`, the rows on both sides of the cut standing for
    the threshold) and its figures: those of `node_figures`, then those of `branch_figures`. `progress[0]` grows by the
    weight of every leaf.
    """
    n_lists = problem.lengths.shape[0]
    n_figures = 5 if rules.criterion == SQUARED else 1 + rules.n_classes
    n_sums = 2 + 2 * (3 if rules.criterion == SQUARED else rules.n_classes)
    lists, rows, n_classes = problem.lists, problem.rows, max(1, rules.n_classes)
    starts = np.zeros((WAITING, n_lists + 1), np.int64)  # the last one is that of the rows
    lengths = np.zeros((WAITING, n_lists + 1), np.int64)
    tops = np.zeros((WAITING, n_lists + 1), np.int64)
    depths, parents, branches = np.zeros(WAITING, np.int64), np.full(WAITING, -1), np.zeros(WAITING, np.int64)
    aside_starts, aside_lengths = np.zeros(WAITING, np.int64), np.zeros(WAITING, np.int64)
    lengths[0, :n_lists], lengths[0, n_lists] = problem.lengths, problem.n_rows
    tops[0] = lengths[0]
    depths[0] = depth
    aside_rows, aside_weights = np.empty(64, np.uint32), np.empty(64, np.float64)
    side = np.zeros(problem.classes.shape[0], np.uint8)
    spare = np.empty(problem.n_rows + 1, np.uint32)
    counts, left_counts = np.zeros(n_classes, np.int64), np.zeros(n_classes, np.int64)
    left_weights, scratch = np.zeros(n_classes, np.float64), np.zeros((2, n_classes), np.float64)
    passes = np.zeros(n_lists, np.bool_)
    start, length, top = starts[0].copy(), lengths[0].copy(), tops[0].copy()
    totals = np.zeros((n_lists, max(2, n_classes)), np.float64)
    gains, scores, places = np.zeros(n_lists), np.zeros(n_lists), np.zeros(n_lists, np.int64)
    shares = np.zeros(2, np.float64)
    links, figures = np.empty((64, 6), np.int64), np.empty((64, n_figures + n_sums), np.float64)
    numbering = np.empty(problem.classes.shape[0], np.uint32)
    mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    n_nodes, waiting = 0, 1
    while waiting > 0:
        waiting -= 1
        for c in range(n_lists + 1):
            start[c], length[c], top[c] = starts[waiting, c], lengths[waiting, c], tops[waiting, c]
        here, aside_top = depths[waiting], aside_starts[waiting]
        for j in range(aside_top, aside_top + aside_lengths[waiting]):
            problem.weights[aside_rows[j]] = aside_weights[j]
        links, figures = longer_rows(links, n_nodes, n_nodes + 1), longer_rows(figures, n_nodes, n_nodes + 1)
        node = n_nodes
        row_start, n_rows = start[n_lists], length[n_lists]
        if is_worth_renumbering(n_rows, problem) and here < rules.max_depth:
            local = renumbered(problem, lists, rows, start, length, numbering)
            below, figures_below = grow_subtree(local, rules, here, progress)
            links = longer_rows(links, n_nodes, n_nodes + below.shape[0])
            figures = longer_rows(figures, n_nodes, n_nodes + below.shape[0])
            for i in range(below.shape[0]):
                links[node + i] = below[i]
                figures[node + i] = figures_below[i]
                links[node + i, PARENT] = below[i, PARENT] + node
                if below[i, COLUMN] >= 0:
                    links[node + i, LOW_ROW] = rows[row_start + below[i, LOW_ROW]]
                    links[node + i, HIGH_ROW] = rows[row_start + below[i, HIGH_ROW]]
            links[node, PARENT], links[node, BRANCH] = parents[waiting], branches[waiting]
            n_nodes += below.shape[0]
            continue
        n_nodes += 1
        link, figure = links[node], figures[node]
        link[PARENT], link[BRANCH], link[COLUMN] = parents[waiting], branches[waiting], -1
        is_pure = node_figures(rows, row_start, n_rows, problem, rules, counts, figure)
        weight = figure[0]
        if (
            is_pure
            or here >= rules.max_depth
            or weight < rules.min_split - TIE
            or impurity_of(figure, rules) <= rules.min_impurity
        ):
            progress[0] += weight
            continue
        known_totals(rows, row_start, n_rows, problem, rules, figure, totals)
        for c in range(n_lists):
            gain, place = scan_list(
                lists[c],
                start[c],
                length[c],
                problem,
                rules,
                figure,
                counts,
                totals[c],
                left_counts,
                left_weights,
                scratch,
            )
            places[c], gains[c], scores[c] = place, NO_CUT, NO_CUT
            if place:
                gains[c] = gain / weight
                scores[c] = gains[c]
                if rules.is_ratio:
                    left, right = known_weights(lists[c], start[c], place, length[c], problem)
                    whole = left + right
                    scores[c] /= (times_log2(whole) - times_log2(left) - times_log2(right)) / whole
        best = choose(gains, scores, rules, passes)
        if (
            best < 0
            or gains[best] < rules.min_gain - rules.tolerance
            or scores[best] < rules.min_score - rules.tolerance
        ):
            progress[0] += weight
            continue
        place = places[best]
        link[COLUMN], link[LOW_ROW], link[HIGH_ROW] = best, lists[best, place - 1] & mask, lists[best, place] & mask
        take_sides(problem, lists[best], start[best], place, length[best], rows, row_start, n_rows, side)
        centre = figure[1] if rules.criterion == SQUARED else 0.0
        link[IS_COMPLETE] = branch_figures(problem, rules, rows, row_start, n_rows, side, centre, figure[n_figures:])
        shares[0] = figure[n_figures] / (figure[n_figures] + figure[n_figures + 1])
        shares[1] = figure[n_figures + 1] / (figure[n_figures] + figure[n_figures + 1])
        n_left = place - start[best]
        keeper = 0 if n_left >= length[best] - n_left else 1
        n_aside = 0
        if not link[IS_COMPLETE]:
            aside_rows = longer_list(aside_rows, aside_top, aside_top + n_rows)
            aside_weights = longer_list(aside_weights, aside_top, aside_top + n_rows)
            n_aside = put_aside(
                problem, rows, row_start, n_rows, side, 1 - keeper, shares, aside_rows, aside_weights, aside_top
            )
        if problem.has_missing:
            # One place more than needed: `divide_list` writes before it knows whether an entry goes there.
            lists = longer_lists(lists, top, top[:n_lists].max() + length[:n_lists].max() + 1)
            rows = longer_list(rows, top[n_lists], top[n_lists] + n_rows + 1)
        bigger, smaller = waiting, waiting + 1
        for c in range(n_lists + 1):
            entries = rows if c == n_lists else lists[c]
            if c < n_lists and here + 1 >= rules.max_depth:
                kept, moved, place = 0, 0, start[c]
            elif problem.has_missing:
                place = top[c]
                kept, moved = divide_list(entries, start[c], length[c], problem.shift, side, keeper, entries, place)
            else:
                kept, moved = divide_list(entries, start[c], length[c], problem.shift, side, keeper, spare, 0)
                place = start[c] + kept
                for j in range(moved):
                    entries[place + j] = spare[j]
            starts[bigger, c], lengths[bigger, c], tops[bigger, c] = start[c], kept, top[c]
            starts[smaller, c], lengths[smaller, c] = place, moved
            tops[smaller, c] = place + moved if problem.has_missing else top[c]
        for child in range(2):
            at = bigger if child == keeper else smaller
            depths[at], parents[at], branches[at] = here + 1, node, child
        aside_starts[bigger], aside_lengths[bigger] = aside_top, n_aside
        aside_starts[smaller], aside_lengths[smaller] = aside_top + n_aside, 0
        waiting += 2
    return links[:n_nodes], figures[:n_nodes]


@compiled
def depth_first(links):
    """The size of every subtree, and which node was grown as which: parents before children, left before right."""
    n_nodes = links.shape[0]
    sizes, first = np.ones(n_nodes, np.int32), np.full(n_nodes, -1, np.int64)
    for node in range(n_nodes - 1, 0, -1):  # children are grown after their parent
        sizes[links[node, PARENT]] += sizes[node]
        if links[node, BRANCH] == 0:
            first[links[node, PARENT]] = node
    numbers = np.zeros(n_nodes, np.int64)
    for node in range(1, n_nodes):
        parent = links[node, PARENT]
        numbers[node] = numbers[parent] + 1 + (0 if links[node, BRANCH] == 0 else sizes[first[parent]])
    ordered_sizes, order = np.empty(n_nodes, np.int32), np.empty(n_nodes, np.int64)
    for node in range(n_nodes):
        order[numbers[node]] = node
        ordered_sizes[numbers[node]] = sizes[node]
    return ordered_sizes, order
