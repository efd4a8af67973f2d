"""The best cut of a column in a node of few rows; the first within a tie, as in `splits.kernels.numeric`.

Cuts that cannot exceed the best are skipped without dividing, which takes longer than all the rest.
"""

from numba import int64

from core.compiler.compile import compiled
from core.splits.kernels.numeric import NO_CUT, just_below, ratio, rounding, score_of_sides

NEARLY = 1e-14  # the part of a product that rounding may take


@compiled
def may_exceed(best, part_left, part_right, left, right):
    """False only where part_left / left + part_right / right cannot exceed `best`; needs no division."""
    enough = best * left * right
    return right <= 0.0 or part_left * right + part_right * left > enough - abs(enough) * NEARLY


@compiled
def best_of_counts(work, value, n, n_classes, totals, least, tolerance):
    """The best cut by Gini where weights are whole: its gain times the weight, and its position; 0 for none.

    `work.ordered` holds the rows sorted by the column, and `totals` their class weights. Whole numbers are exact, so
    the sums of squares are updated from row to row.
    """
    ordered, classes, weights, left = work.ordered, work.row_classes, work.row_weights, work.left
    whole, squares, bar = 0.0, 0.0, NO_CUT
    for k in range(n_classes):
        squares += totals[k] * totals[k]
        whole += totals[k]
    undivided, tie = squares / whole, tolerance * whole
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, int64(0), False
        squares_left, squares_right, passed, before = 0.0, squares, 0.0, value[ordered[0]]
        for k in range(n_classes):
            left[k] = 0.0
        for j in range(n):
            row = ordered[j]
            here, right = value[row], whole - passed
            if here != before and may_exceed(best, squares_left, squares_right, passed, right):
                score = squares_left / passed + squares_right / right
                if score > best and passed >= least and right >= least:
                    if is_second:
                        return score - undivided, int64(j)
                    if score - tie > chosen:
                        is_unclear |= best >= score - tie
                        chosen, position = score, int64(j)
                    best = score
            k, weight = classes[row], weights[row]
            squares_left += weight * (2.0 * left[k] + weight)
            squares_right -= weight * (2.0 * (totals[k] - left[k]) - weight)
            left[k] += weight
            passed += weight
            before = here
        if not is_unclear:
            break
        bar = just_below(best - tie)
    return chosen - undivided, position


@compiled
def best_of_weights(work, value, n, criterion, n_classes, totals, least, tolerance):
    """The best cut by Gini for any weights: its gain times the weight, and its position; 0 for none.

    `work.ordered` holds the rows sorted by the column, and `totals` their class weights; the right side is the whole
    minus the left. Sums of squares are updated from row to row and nearly always show that a cut is no better than the
    best; otherwise they are summed anew. `criterion` is Gini, but passed as no literal, since other kernels would be
    compiled once more for one.
    """
    ordered, classes, weights, left = work.ordered, work.row_classes, work.row_weights, work.left
    whole, squares, bar, last = 0.0, 0.0, NO_CUT, last_cut(work, n, least)
    for k in range(n_classes):
        whole += totals[k]
        squares += totals[k] * totals[k]
    undivided, tie, margin = squares / whole, tolerance * whole, rounding(whole, n, n_classes, criterion)
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, int64(0), False
        squares_left, squares_right, passed, before = 0.0, squares, 0.0, value[ordered[0]]
        for k in range(n_classes):
            left[k] = 0.0
        for j in range(min(n, last + 1)):
            row = ordered[j]
            here, right = value[row], whole - passed
            is_high = squares_left * right + squares_right * passed > best * (passed * right) - margin
            if is_high and here != before and passed >= least:
                score = score_of_sides(left, totals[:n_classes], passed, right, criterion)
                if score > best:
                    if is_second:
                        return score - undivided, int64(j)
                    if score - tie > chosen:
                        is_unclear |= best >= score - tie
                        chosen, position = score, int64(j)
                    best = score
            k, weight = classes[row], weights[row]
            squares_left += weight * (2.0 * left[k] + weight)
            squares_right -= weight * (2.0 * (totals[k] - left[k]) - weight)
            left[k] += weight
            passed += weight
            before = here
        if not is_unclear:
            break
        bar = just_below(best - tie)
    return chosen - undivided, position


@compiled
def best_of_numbers(work, value, n, centre, totals, least, tolerance):
    """The best cut where a number is predicted: its gain times the weight, and its position; 0 for none.

    `work.ordered` holds the rows sorted by the column; `totals` are their weight and the sum of the centred numbers.
    """
    ordered, numbers, weights = work.ordered, work.row_numbers, work.row_weights
    whole, whole_sum, bar, last = totals[0], totals[1], NO_CUT, last_cut(work, n, least)
    undivided, tie = whole_sum * whole_sum / whole, tolerance * whole
    for is_second in range(2):
        best, chosen, position, is_unclear = bar, NO_CUT, int64(0), False
        passed, moved, before = 0.0, 0.0, value[ordered[0]]
        for j in range(min(n, last + 1)):
            row = ordered[j]
            here, behind, right = value[row], whole_sum - moved, whole - passed
            if here != before and may_exceed(best, moved * moved, behind * behind, passed, right):
                score = moved * moved / passed + ratio(behind * behind, right)
                if score > best and passed >= least:
                    if is_second:
                        return score - undivided, int64(j)
                    if score - tie > chosen:
                        is_unclear |= best >= score - tie
                        chosen, position = score, int64(j)
                    best = score
            passed += weights[row]
            moved += weights[row] * (numbers[row] - centre)
            before = here
        if not is_unclear:
            break
        bar = just_below(best - tie)
    return chosen - undivided, position


@compiled
def last_cut(work, n, least):
    """The last position with `least` weight behind it, added up from the end: a difference would not be exact."""
    ordered, weights, behind, j = work.ordered, work.row_weights, 0.0, n
    while j > 0 and behind < least:
        j -= 1
        behind += weights[ordered[j]]
    return j
