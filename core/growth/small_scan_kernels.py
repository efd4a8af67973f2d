"""The best cut of a column in a node of few rows: of every place a score, and then the first within a tie."""

from numba import int64

from core.compiled_kernels import compiled
from core.splits.numeric_kernels import NO_CUT, score_of_sums


@compiled
def best_of_counts(small, value, n, n_classes, totals, least, tolerance):
    """The best cut by Gini where weights are whole: its gain times the weight, and its place; 0 for none.

    `small.ordered` are the rows in the order of the column, of which `totals` are the class weights. Whole numbers are
    exact: squares are kept on the way.
    """
    ordered, classes, weights = small.ordered, small.classes, small.row_weights
    left, scores = small.left_counts, small.scores
    squares_left, squares_right, whole, passed = int64(0), int64(0), int64(0), int64(0)
    for k in range(n_classes):
        left[k] = 0
        here = int64(totals[k])
        squares_right += here * here
        whole += here
    undivided, best, before = squares_right / whole, NO_CUT, value[ordered[0]]
    for j in range(n):
        row = ordered[j]
        here = value[row]
        scores[j] = NO_CUT
        if here != before and passed >= least and whole - passed >= least:
            scores[j] = squares_left / passed + squares_right / (whole - passed)
            best = max(best, scores[j])
        k, weight = classes[row], int64(weights[row])
        squares_left += weight * (2 * left[k] + weight)
        squares_right -= weight * (2 * (int64(totals[k]) - left[k]) - weight)
        left[k] += weight
        passed += weight
        before = here
    return first_of(scores, best, tolerance * whole, undivided)


@compiled
def best_of_weights(small, value, n, n_classes, totals, least, tolerance):
    """The same for any weights: the right side is the whole less the left."""
    ordered, classes, weights = small.ordered, small.classes, small.row_weights
    left, scores, last = small.left, small.scores, last_cut(small, n, least)
    whole, squares, passed = 0.0, 0.0, 0.0
    for k in range(n_classes):
        left[k] = 0.0
        whole += totals[k]
        squares += totals[k] * totals[k]
    undivided, best, before = squares / whole, NO_CUT, value[ordered[0]]
    for j in range(n):
        row = ordered[j]
        here = value[row]
        scores[j] = NO_CUT
        if here != before and passed >= least and j <= last:
            squares_left, squares_right, right = 0.0, 0.0, whole - passed
            for k in range(n_classes):
                behind = totals[k] - left[k]
                squares_left += left[k] * left[k]
                squares_right += behind * behind
            scores[j] = squares_left / passed + (squares_right / right if right > 0.0 else 0.0)
            best = max(best, scores[j])
        left[classes[row]] += weights[row]
        passed += weights[row]
        before = here
    return first_of(scores, best, tolerance * whole, undivided)


@compiled
def best_of_numbers(small, value, n, centre, totals, least, tolerance):
    """The same for a number to predict: `totals` are the weight and the sum of the centred numbers."""
    ordered, numbers, weights = small.ordered, small.numbers, small.row_weights
    scores, last = small.scores, last_cut(small, n, least)
    whole, whole_sum, passed, moved = totals[0], totals[1], 0.0, 0.0
    undivided, best, before = whole_sum * whole_sum / whole, NO_CUT, value[ordered[0]]
    for j in range(n):
        row = ordered[j]
        here = value[row]
        scores[j] = NO_CUT
        if here != before and passed >= least and j <= last:
            scores[j] = score_of_sums(moved, whole_sum, passed, whole)
            best = max(best, scores[j])
        passed += weights[row]
        moved += weights[row] * (numbers[row] - centre)
        before = here
    return first_of(scores, best, tolerance * whole, undivided)


@compiled
def last_cut(small, n, least):
    """The last place with enough weight behind it, added up from the end: a difference would not be exact."""
    ordered, weights, behind, j = small.ordered, small.row_weights, 0.0, n
    while j > 0 and behind < least:
        j -= 1
        behind += weights[ordered[j]]
    return j


@compiled
def first_of(scores, best, tolerance, undivided):
    """The first place within a tie of the best, and what it gains; 0 for none."""
    if best == NO_CUT:
        return NO_CUT, int64(0)
    j = int64(1)
    while scores[j] < best - tolerance:
        j += 1
    return scores[j] - undivided, j
