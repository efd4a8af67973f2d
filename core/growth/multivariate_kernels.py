"""The compiled twins of what `multivariate` computes of a node's rows, and of the search for one attribute.

`values[column, row]` are the cells of a node, NaN where they are missing; categories are their codes.
"""

import numpy as np
from numba import int64

from core.compiled_kernels import compiled
from core.growth.multivariate import KNOWN_PART, LEAST_SPREAD
from core.splits.linear_kernels import STOP
from core.splits.numeric_kernels import ENTROPY, gain_of_sides, information, score_of_sides, score_of_whole
from core.splits.unsorted_kernels import best_cut, room_for
from core.ties import TIE


@compiled
def best_of_columns(values, marks, n_levels, first_slots, progress):
    """Every attribute's best split: its gain, NaN where there is none, its intrinsic value, and of a cut the threshold.

    Last comes among how many cuts it is. A column with an order, which has no levels here, has one slot; one-hot, each
    value of the others has one.
    """
    n_slots, n_classes = first_slots[-1], marks.n_classes
    gains, bits, thresholds = np.full(n_slots, np.nan), np.full(n_slots, np.nan), np.full(n_slots, np.nan)
    n_cuts, sums = np.zeros(n_slots, np.int64), np.empty(2 * n_classes)
    room, weight = room_for(values.shape[1], n_classes), total(marks.weights)
    for column in range(values.shape[0]):
        slot, n_here = first_slots[column], n_levels[column]
        if progress[STOP] != 0.0:
            break
        if n_here == 0:
            _, thresholds[slot], n_cuts[slot] = best_cut(values[column], marks, room)
            if not np.isnan(thresholds[slot]):
                left, right = add_up_sides(values[column], marks, thresholds[slot], sums)
                gains[slot], bits[slot] = gain_and_bits(sums, left, right, marks, weight)
            continue
        levels, level_weights = add_up_levels(values[column], marks, n_here)
        others, other_weights = sums_of_others(levels), sums_of_others(level_weights)
        for level in range(n_here):
            left, right = level_weights[level, 0], other_weights[level, 0]
            if min(left, right) > 0 and min(left, right) >= marks.min_weight - TIE:
                sums[:n_classes], sums[n_classes:] = levels[level], others[level]
                gains[slot + level], bits[slot + level] = gain_and_bits(sums, left, right, marks, weight)
    return gains, bits, thresholds, n_cuts


@compiled
def total(weights):
    """The sum, in row order."""
    found = 0.0
    for i in range(weights.shape[0]):
        found += weights[i]
    return found


@compiled
def add_up_sides(values, marks, threshold, sums):
    """The class weights on both sides of a cut, one after the other in `sums`; the weight of each side."""
    left, right = 0.0, 0.0
    sums[:] = 0.0
    for i in range(values.shape[0]):
        weight, is_right = (0.0 if np.isnan(values[i]) else marks.weights[i]), values[i] > threshold
        sums[marks.classes[i] + (marks.n_classes if is_right else 0)] += weight
        left += 0.0 if is_right else weight
        right += weight if is_right else 0.0
    return left, right


@compiled
def add_up_levels(values, marks, n_levels):
    """`[level, class]`, and `[level, 0]`: the weights of each level."""
    levels, weights = np.zeros((n_levels, marks.n_classes)), np.zeros((n_levels, 1))
    for i in range(values.shape[0]):
        if not np.isnan(values[i]):
            level = int64(values[i])
            levels[level, marks.classes[i]] += marks.weights[i]
            weights[level, 0] += marks.weights[i]
    return levels, weights


@compiled
def sums_of_others(sums):
    """`categorical.sums_of_others`."""
    others = np.zeros(sums.shape)
    before, after = np.zeros(sums.shape[1]), np.zeros(sums.shape[1])
    n = sums.shape[0]
    for i in range(n):
        for k in range(sums.shape[1]):
            others[i, k] += before[k]
            before[k] += sums[i, k]
    for i in range(n - 1, -1, -1):
        for k in range(sums.shape[1]):
            others[i, k] += after[k]
            after[k] += sums[i, k]
    return others


@compiled
def gain_and_bits(sums, left, right, marks, weight):
    """The gain of a division of what is known, as a share of all weight, and its intrinsic value."""
    n, bits = marks.n_classes, information(left, right)
    if marks.criterion == ENTROPY:
        return (left + right) / weight * gain_of_sides(sums, n, left, right), bits
    totals = sums[:n] + sums[n:]
    whole, _ = score_of_whole(totals, marks.criterion, n, 0)
    return (score_of_sides(sums[:n], totals, left, right, marks.criterion) - whole) / weight, bits


@compiled
def known_together(values, weights, columns):
    """`multivariate.learning_rows`: which of the columns are taken, and which rows know all of these."""
    n, weight = values.shape[1], total(weights)
    by_column, is_taken = np.zeros(columns.shape[0]), np.zeros(columns.shape[0], np.bool_)
    is_complete = np.ones(n, np.bool_)
    for place in range(columns.shape[0]):
        for i in range(n):
            by_column[place] += 0.0 if np.isnan(values[columns[place], i]) else weights[i]
    for place in np.argsort(-by_column, kind="mergesort"):
        known = 0.0
        for i in range(n):
            known += weights[i] if is_complete[i] and not np.isnan(values[columns[place], i]) else 0.0
        if known >= KNOWN_PART * weight:
            is_taken[place] = True
            for i in range(n):
                is_complete[i] &= not np.isnan(values[columns[place], i])
    return is_taken, is_complete


@compiled
def features(values, places, weights, columns, n_levels):
    """`multivariate.features_of`: column and code of each, its scale, and them standardised with a row of -1 below."""
    n_most = columns.shape[0] + n_levels[columns].sum()
    x, terms, scales = np.empty((n_most + 1, places.shape[0])), np.empty((n_most, 2), np.int64), np.empty(n_most)
    weight, n = total(weights), 0
    for column in columns:
        for code in codes_of(values[column], places, n_levels[column]):
            for i in range(places.shape[0]):
                x[n, i] = amount_of(values[column, places[i]], code)
            scales[n] = standardise(x[n], weights, weight)
            if scales[n] > 0:
                terms[n, 0], terms[n, 1] = column, code
                n += 1
    x[n] = -1.0
    return terms[:n], scales[:n], x[: n + 1]


@compiled
def amount_of(value, code):
    """What a term multiplies by its weight: a number, or 1 where a category has the code; NaN where it is missing."""
    if code < 0 or np.isnan(value):
        return value
    return 1.0 if value == code else 0.0


@compiled
def codes_of(values, places, n_levels):
    """The levels that the rows have, but for the last; -1 alone for a number, which has none."""
    if n_levels == 0:
        return np.full(1, -1)
    is_present = np.zeros(n_levels, np.bool_)
    for i in range(places.shape[0]):
        is_present[int64(values[places[i]])] = True
    return np.flatnonzero(is_present)[:-1]


@compiled
def standardise(values, weights, weight):
    """`multivariate.standardised` in place; the unit that the values had, 0 where they do not vary."""
    largest, mean, square = 0.0, 0.0, 0.0
    for i in range(values.shape[0]):
        largest = max(largest, abs(values[i]))
    if largest == 0:
        return 0.0
    for i in range(values.shape[0]):
        values[i] = values[i] / largest
        mean += weights[i] * values[i]
    mean /= weight
    for i in range(values.shape[0]):
        values[i] -= mean
        square += weights[i] * (values[i] * values[i])
    spread = np.sqrt(square / weight)
    if spread <= LEAST_SPREAD:
        return 0.0
    for i in range(values.shape[0]):
        values[i] /= spread
    return spread * largest


@compiled
def sums_of(values, columns, codes, weights):
    """`split.weighted_sums`."""
    sums = np.zeros(values.shape[1])
    for term in range(columns.shape[0]):
        cells, code, weight = values[columns[term]], codes[term], weights[term]
        for i in range(sums.shape[0]):
            sums[i] += weight * amount_of(cells[i], code)
    return sums


@compiled
def best_cut_of_sums(sums, marks):
    """The best threshold among sums that are finite, and how many there are; NaN for none."""
    known = np.empty(sums.shape[0])
    for i in range(sums.shape[0]):
        known[i] = sums[i] if np.isfinite(sums[i]) else np.nan
    _, threshold, n_cuts = best_cut(known, marks, room_for(sums.shape[0], marks.n_classes))
    return threshold, n_cuts
