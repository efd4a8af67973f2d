"""`oblique.linear_candidate`, compiled: the best test on a sum in a node of a multivariate tree.

`Problem` and `Rules` are those of `methods.oblique.grow`, `Node` is that of `methods.oblique.kernels.grow`.
"""

import numpy as np
from numba import int64

from core.arithmetic.kernels.randomness import key_of
from core.arithmetic.randomness import FOR_DIRECTIONS
from core.compiler.compile import compiled, compiled_with, making_arrays
from core.methods.oblique import linear
from core.methods.oblique.kernels.linear import direction
from core.methods.oblique.kernels.start import sum_over_samples, sums_of_squares
from core.methods.oblique.oblique import KNOWN_PART, LEAST_SPREAD, MOST_ROWS
from core.splits.kernels.unsorted import Labels, best_cut, buffers_for

rounded = compiled(linear.rounded)
of_length_1 = compiled_with(linear.of_length_1, rounded)


@making_arrays
def best_sum(problem, rules, node, progress):
    """The terms' columns and codes, their weights, each row's sum and the threshold, NaN if there is no test."""
    columns, positions = learning_rows(problem, node)
    n_learnt = positions.shape[0]
    weights, classes = np.empty(n_learnt), np.empty(n_learnt, np.int32)
    for i in range(n_learnt):
        weights[i], classes[i] = node.weights[positions[i]], problem.classes[node.rows[positions[i]]]
    n_classes = renumber(classes, problem.n_classes)
    terms, scales, x = features(problem, node, positions, weights, columns)
    sums = np.empty(node.rows.shape[0])
    if terms.shape[0] >= 2:
        part = total(weights) / total(node.weights)
        labels = Labels(classes, weights, n_classes, rules.criterion, rules.min_leaf * part)
        key = key_of(node.key, FOR_DIRECTIONS)
        found = of_length_1(direction(x, labels, rules.fit, rules.max_terms, key, progress) / scales)
        chosen = np.flatnonzero(found)
        if chosen.shape[0] >= 2:
            add_up(problem, node, terms[chosen], found[chosen], sums)
            return terms[chosen], found[chosen], sums, threshold_of(problem, rules, node, sums)
    return terms, scales, sums, np.nan


@making_arrays
def renumber(classes, n_classes):
    """Number the classes that occur from 0 on, in their order; returns how many there are."""
    numbers, n_here = np.full(n_classes, -1, np.int32), 0
    for i in range(classes.shape[0]):
        numbers[classes[i]] = 0
    for k in range(n_classes):
        if numbers[k] == 0:
            numbers[k] = n_here
            n_here += 1
    for i in range(classes.shape[0]):
        classes[i] = numbers[classes[i]]
    return n_here


@compiled
def total(weights):
    """The sum of the weights, in row order."""
    found = 0.0
    for i in range(weights.shape[0]):
        found += weights[i]
    return found


@making_arrays
def learning_rows(problem, node):
    """`oblique.learning_rows`: the columns, and the positions of rows."""
    n, columns = node.rows.shape[0], problem.for_sums
    is_complete, is_taken = np.ones(n, np.bool_), np.ones(columns.shape[0], np.bool_)
    if problem.has_missing:
        weight, known = total(node.weights), np.zeros(columns.shape[0])
        for j in range(columns.shape[0]):
            known[j] = known_weight(problem, node, columns[j], is_complete)
        for j in np.argsort(-known, kind="mergesort"):
            is_taken[j] = known_weight(problem, node, columns[j], is_complete) >= KNOWN_PART * weight
            for i in range(n if is_taken[j] else 0):
                is_complete[i] &= not np.isnan(problem.cells[node.rows[i], columns[j]])
    return columns[is_taken], evenly_spaced(np.flatnonzero(is_complete))


@compiled
def known_weight(problem, node, column, is_chosen):
    """The weight of the chosen rows whose value is known."""
    known = 0.0
    for i in range(node.rows.shape[0]):
        is_known = is_chosen[i] and not np.isnan(problem.cells[node.rows[i], column])
        known += node.weights[i] if is_known else 0.0
    return known


@making_arrays
def evenly_spaced(positions):
    """`oblique.evenly_spaced`."""
    n = positions.shape[0]
    if n <= MOST_ROWS:
        return positions
    step, found = (n - 1) / (MOST_ROWS - 1), np.empty(MOST_ROWS, np.int64)
    for i in range(MOST_ROWS - 1):
        found[i] = positions[int64(i * step)]
    found[MOST_ROWS - 1] = positions[n - 1]
    return found


@making_arrays
def features(problem, node, positions, weights, columns):
    """`oblique.features_of`: terms, scales, and the standardised features as rows of `x`, with a last row of -1."""
    terms, n = possible_terms(problem, node, positions, columns), 0
    x = np.empty((terms.shape[0] + 1, positions.shape[0]))
    for i in range(positions.shape[0]):
        cells = problem.cells[node.rows[positions[i]]]
        for t in range(terms.shape[0]):
            x[t, i] = amount_of(cells[terms[t, 0]], terms[t, 1])
    scales = standardise(x[:-1], weights)
    for t in range(terms.shape[0]):
        if scales[t] > 0:
            if n < t:
                terms[n], scales[n], x[n] = terms[t], scales[t], x[t]
            n += 1
    x[n] = -1.0
    return terms[:n].copy(), scales[:n].copy(), x[: n + 1].copy()


@making_arrays
def possible_terms(problem, node, positions, columns):
    """Column and code of each number, and of each category that the rows have except a column's last."""
    terms, n = np.empty((columns.shape[0] + problem.n_levels[columns].sum(), 2), np.int64), 0
    for column in columns:
        for code in codes_of(problem, node, positions, column):
            terms[n, 0], terms[n, 1] = column, code
            n += 1
    return terms[:n].copy()


@making_arrays
def codes_of(problem, node, positions, column):
    """The categories that the rows have, except the last; for a number, only -1."""
    if problem.n_levels[column] == 0:
        return np.full(1, -1)
    is_present = np.zeros(problem.n_levels[column], np.bool_)
    for i in range(positions.shape[0]):
        is_present[int64(problem.cells[node.rows[positions[i]], column])] = True
    return np.flatnonzero(is_present)[:-1]


@compiled
def amount_of(value, code):
    """What a term's weight is multiplied by: the number, or 1 if the category has the code; NaN if missing."""
    if code < 0 or np.isnan(value):
        return value
    return 1.0 if value == code else 0.0


@making_arrays
def standardise(x, weights):
    """`oblique.standardised` of each feature, in place; returns the scales, 0 for a feature that does not vary."""
    n_features, weight = x.shape[0], total(weights)
    largest, means, scales = np.zeros(n_features), np.empty(n_features), np.zeros(n_features)
    for j in range(n_features):
        for i in range(x.shape[1]):
            largest[j] = max(largest[j], abs(x[j, i]))
        x[j] /= largest[j] if largest[j] > 0 else 1.0
    sum_over_samples(x, weights, means)
    for j in range(n_features):
        x[j] -= means[j] / weight
    squares = sums_of_squares(x, weights)
    for j in range(n_features):
        spread = np.sqrt(squares[j] / weight)
        if spread > LEAST_SPREAD:
            x[j] /= spread
            scales[j] = spread * largest[j]
    return scales


@compiled
def add_up(problem, node, terms, weights, sums):
    """`split.weighted_sums` of the node's rows."""
    for i in range(sums.shape[0]):
        cells, found = problem.cells[node.rows[i]], 0.0
        for t in range(weights.shape[0]):
            found += weights[t] * amount_of(cells[terms[t, 0]], terms[t, 1])
        sums[i] = found


@making_arrays
def threshold_of(problem, rules, node, sums):
    """The best threshold among finite sums; NaN if there is none."""
    known, classes = np.empty(sums.shape[0]), np.empty(sums.shape[0], np.int32)
    for i in range(sums.shape[0]):
        known[i] = sums[i] if np.isfinite(sums[i]) else np.nan
        classes[i] = problem.classes[node.rows[i]]
    labels = Labels(classes, node.weights, problem.n_classes, rules.criterion, rules.min_leaf)
    _, threshold, _ = best_cut(known, labels, buffers_for(sums.shape[0], problem.n_classes))
    return threshold
