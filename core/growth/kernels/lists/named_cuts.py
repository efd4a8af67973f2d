"""Kernel of `numeric.best_cut` where only some gaps are candidates: it finds them, scores them and picks the best.

The scores are those of `splits.kernels.numeric`. Candidates are found in one pass over the list and scored in another.
"""

from numba import int64, uint32, uint64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.randomness import FOR_CUTS
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.criteria.kernels.impurity import ENTROPY, SQUARED
from core.growth.kernels.lists.release8 import distant_values, first_largest, least_side
from core.splits.kernels.candidates import (
    AT_RANDOM,
    CLASS_CHANGES,
    DISTANT_VALUES,
    EQUAL_FREQUENCY,
    EQUAL_WIDTH,
    at_random,
    equal_frequency,
    equal_width,
    first_position,
    midpoints_at_changes,
    n_gaps,
)
from core.splits.kernels.categorical import first_within_tie
from core.splits.kernels.numeric import NO_CUT, last_position, score_of_moments, score_of_sides, score_of_whole


@compiled
def best_position(problem, rules, work, i, entries, start, n, figures, key):
    """The best candidate cut of list i: its gain times the node's weight, and its position; 0 for none.

    Stores for its slot the threshold if that is not a midpoint, and how many cuts leave enough weight on both sides.
    """
    none = uint64(0)
    if n < 2:
        return NO_CUT, none
    slot, totals, n_outputs = problem.list_slots[i], work.totals[i], problem.numbers.shape[1]
    if problem.has_missing:  # totals that are differences may be too inexact for small weights
        sum_list(problem, rules, entries, start, n, figures, totals)
    whole, known = score_of_whole(totals, rules.criterion, rules.n_classes, n_outputs)
    least = rules.min_leaf - TIE
    if rules.way == DISTANT_VALUES:
        least = least_side(least, known, rules.n_classes)
    first, after = allowed_positions(problem, entries, start, n, least)
    n_named = name_positions(problem, rules, work, i, entries, start, n, first, after, key)
    begin, end = 0, n_named
    while begin < end and work.gaps[begin] < first:
        begin += 1
    while end > begin and work.gaps[end - 1] >= after:
        end -= 1
    if begin == end:
        return NO_CUT, none
    score_positions(problem, rules, work, entries, start, begin, end, totals, figures)
    scores = work.gap_scores[begin:end]
    if rules.way == DISTANT_VALUES:
        best = first_largest(scores, whole, figures[0])
    else:
        best = first_within_tie(scores, scores.shape[0], rules.tolerance * known)
    if best < 0:
        return NO_CUT, none
    work.n_allowed[slot] = end - begin
    if rules.way in (EQUAL_WIDTH, AT_RANDOM):
        work.thresholds[slot] = work.gap_thresholds[begin + best]
    return scores[best] - whole, uint64(work.gaps[begin + best])


@compiled
def allowed_positions(problem, entries, start, n, least):
    """The first position at which a cut leaves enough weight on both sides, and the position after the last."""
    row_mask = (uint32(1) << uint32(problem.shift)) - uint32(1)
    first = first_position(entries, start, n, row_mask, problem.weights, least)
    last = last_position(entries, start, n, row_mask, problem.weights, least)
    return int64(first), min(int64(last) + 1, int64(start + n))


@compiled
def count_allowed(problem, rules, entries, start, n):
    """How many gaps of a list leave enough weight on both sides."""
    first, after = allowed_positions(problem, entries, start, n, rules.min_leaf - TIE)
    return n_gaps(entries, first, after)


@compiled
def name_positions(problem, rules, work, i, entries, start, n, first, after, key):
    """`best_split.way_to_choose`: fill `work.gaps` with the candidates of list i; returns how many there are."""
    shift, gaps, thresholds = problem.shift, work.gaps, work.gap_thresholds
    if rules.way == CLASS_CHANGES:
        return midpoints_at_changes(entries, start, n, shift, gaps)
    if rules.way == EQUAL_FREQUENCY:
        return equal_frequency(entries, start, n, shift, problem.weights, rules.n_parts, gaps)
    if rules.way == EQUAL_WIDTH:
        return equal_width(entries, start, n, shift, problem.values[i], rules.n_parts, gaps, thresholds)
    if rules.way == AT_RANDOM:
        for_column = key_of(key_of(key, FOR_CUTS), rules.slot_columns[problem.list_slots[i]])
        return at_random(entries, start, n, shift, problem.values[i], rules.n_parts, for_column, gaps, thresholds)
    return distant_values(entries, first, after, shift, problem.values[i], gaps)


@compiled
def score_positions(problem, rules, work, entries, start, begin, end, totals, figures):
    """Fill `work.gap_scores` from `begin` to `end`; from cut to cut, the entries between them move to the left side."""
    gaps, scores, left, shift = work.gaps, work.gap_scores, work.left, problem.shift
    if rules.criterion == SQUARED:
        centres = figures[1 : 1 + problem.numbers.shape[1]]
        score_by_numbers(
            entries, start, shift, gaps, begin, end, problem.weights, problem.numbers, centres, totals, left, scores
        )
    elif rules.is_counted and rules.criterion == ENTROPY:
        is_small = figures[0] < rules.small_logs.shape[0]
        logs = rules.small_logs if is_small else rules.large_logs
        unit = rules.small_unit if is_small else rules.large_unit
        score_by_counts(entries, start, shift, gaps, begin, end, work.counts, work.left_counts, logs, unit, scores)
    else:
        score_by_weights(
            entries,
            start,
            shift,
            gaps,
            begin,
            end,
            problem.weights,
            rules.is_counted,
            totals[: rules.n_classes],
            left,
            rules.criterion,
            scores,
        )


@compiled
def score_by_counts(entries, start, shift, positions, begin, end, totals, left, logs, unit, scores):
    """Scores of unweighted classes by entropy, as in `scan_counts_entropy`: n log2 n is looked up as an integer."""
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    sum_left, sum_right, n_left, n = int64(0), int64(0), int64(0), int64(0)
    for k in range(totals.shape[0]):
        left[k] = 0
        sum_right += logs[totals[k]]
        n += totals[k]
    i = int64(start)
    for p in range(begin, end):
        while i < positions[p]:
            k = (entries[i] >> uint32(shift)) & mask
            before, behind = left[k], totals[k] - left[k]
            sum_left += logs[before + 1] - logs[before]
            sum_right -= logs[behind] - logs[behind - 1]
            left[k] = before + 1
            i += 1
        n_left = i - start
        scores[p] = (sum_left - logs[n_left] + sum_right - logs[n - n_left]) / unit


@compiled
def score_by_weights(entries, start, shift, positions, begin, end, weights, is_unit, totals, left, criterion, scores):
    """Scores of weighted classes by any criterion of classes; the right side is the whole less the left."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    mask = (uint32(1) << uint32(31 - shift)) - uint32(1)
    passed, whole = 0.0, 0.0
    for k in range(totals.shape[0]):
        left[k] = 0.0
        whole += totals[k]
    i = int64(start)
    for p in range(begin, end):
        while i < positions[p]:
            entry = entries[i]
            weight = 1.0 if is_unit else weights[entry & row_mask]
            left[(entry >> uint32(shift)) & mask] += weight
            passed += weight
            i += 1
        scores[p] = score_of_sides(left, totals, passed, whole - passed, criterion)


@compiled
def score_by_numbers(entries, start, shift, positions, begin, end, weights, numbers, centres, totals, left, scores):
    """Scores of numbers; `totals` and `left` hold the weight, then the sum of each centred output."""
    row_mask = (uint32(1) << uint32(shift)) - uint32(1)
    n_outputs = numbers.shape[1]
    for j in range(1 + n_outputs):
        left[j] = 0.0
    i = int64(start)
    for p in range(begin, end):
        while i < positions[p]:
            row = entries[i] & row_mask
            weight = weights[row]
            left[0] += weight
            for j in range(n_outputs):
                left[1 + j] += weight * (numbers[row, j] - centres[j])
            i += 1
        scores[p] = score_of_moments(left, totals, n_outputs)


@compiled
def sum_list(problem, rules, entries, start, n, figures, totals):
    """Fill `totals` with the sums of a list: weights by class, or the weight and the sum of each centred output."""
    weights, numbers, shift = problem.weights, problem.numbers, uint32(problem.shift)
    row_mask = (uint32(1) << shift) - uint32(1)
    mask = (uint32(1) << uint32(31 - problem.shift)) - uint32(1)
    for k in range(totals.shape[0]):
        totals[k] = 0.0
    for i in range(start, start + n):
        row = entries[i] & row_mask
        if rules.criterion == SQUARED:
            totals[0] += weights[row]
            for j in range(numbers.shape[1]):
                totals[1 + j] += weights[row] * (numbers[row, j] - figures[1 + j])
        else:
            totals[(entries[i] >> shift) & mask] += weights[row]
