"""`linear.least_squares` and `linear.logistic`, compiled: the initial directions, the same to the last bit.

All sums run from sample to sample. For sums over pairs of features, a sample's features are stored contiguously. All
classes share the matrix of least squares and its elimination.
"""

import numpy as np

from core.arithmetic.kernels.powers import exp
from core.compiler.compile import compiled, compiled_with, making_arrays
from core.methods.oblique import linear
from core.methods.oblique.linear import LOGISTIC_RIDGE, NEWTON_STEPS, RIDGE

LEAST_SQUARES, LOGISTIC, OC1 = range(3)
STOP = 1  # an index into `progress`: the direction is no longer needed

logistic_function = compiled_with(linear.logistic_function, exp)


@making_arrays
def starts_for(scene, squares, labels, fit, progress):
    """`starts[label, feature]` by the chosen fit; `squares` are the covariances of the features, for all classes."""
    starts = np.zeros((labels.shape[0], scene.x.shape[0] - 1))
    for position in range(labels.shape[0]):
        if progress[STOP] != 0.0:
            break
        if fit == LOGISTIC:
            starts[position] = logistic(scene, labels[position])
        else:
            set_right_side(scene, labels[position], starts[position])
    if fit != LOGISTIC:
        solve(squares.copy(), starts)
    return starts


@making_arrays
def squares_of(scene, fit):
    """The upper triangle of the features' covariances plus a small ridge; empty if it is not needed."""
    if fit == LOGISTIC:
        return np.empty((0, 0))
    squares = products(sample_by_sample(scene.x, 0), scene.labels.weights)
    for i in range(squares.shape[0]):
        for j in range(i, squares.shape[0]):
            squares[i, j] = squares[i, j] / scene.weight + (RIDGE if i == j else 0.0)
    return squares


@making_arrays
def without(squares, feature):
    """The covariances without one feature."""
    if squares.shape[0] == 0:
        return squares
    kept = np.append(np.arange(feature), np.arange(feature + 1, squares.shape[0]))
    return squares[kept][:, kept].copy()


@making_arrays
def sample_by_sample(x, n_ones):
    """`[sample, feature]`, followed by `n_ones` columns of ones."""
    n_features = x.shape[0] - 1
    rows = np.ones((x.shape[1], n_features + n_ones))
    for i in range(x.shape[1]):
        for j in range(n_features):
            rows[i, j] = x[j, i]
    return rows


@making_arrays
def products(rows, weights):
    """`linear.products`, the upper triangle with the diagonal."""
    k = rows.shape[1]
    found = np.zeros((k, k))
    for s in range(rows.shape[0]):
        row = rows[s]
        for i in range(k):
            weighted, sums = row[i] * weights[s], found[i]
            for j in range(i, k):
                sums[j] += weighted * row[j]
    return found


@compiled
def set_right_side(scene, label, right):
    """The covariances of the features with a class."""
    weights, classes, y, mean = (
        scene.labels.weights,
        scene.labels.classes,
        scene.sums,
        scene.by_class[label] / scene.weight,
    )
    for i in range(y.shape[0]):
        y[i] = (weights[i] if classes[i] == label else 0.0) - weights[i] * mean
    sum_over_samples(scene.x, y, right)
    for j in range(right.shape[0]):
        right[j] /= scene.weight


@compiled
def sum_over_samples(x, y, sums):
    """Set `sums[j]` to the sum of x[j, i] y[i], for as many features as there are sums.

    Each sum runs from sample to sample; four run at once, so that additions need not wait for each other.
    """
    n_features = sums.shape[0]
    for j in range(0, n_features, 4):
        last = n_features - 1
        x0, x1, x2, x3 = x[j], x[min(j + 1, last)], x[min(j + 2, last)], x[min(j + 3, last)]
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        for i in range(y.shape[0]):
            sum0 += x0[i] * y[i]
            sum1 += x1[i] * y[i]
            sum2 += x2[i] * y[i]
            sum3 += x3[i] * y[i]
        # past the end, the last feature is computed again
        sums[min(j + 3, last)], sums[min(j + 2, last)], sums[min(j + 1, last)], sums[j] = sum3, sum2, sum1, sum0


@making_arrays
def sums_of_squares(x, weights):
    """The weighted sum of each feature's squares; four sums run at once, each from sample to sample."""
    n_features = x.shape[0]
    sums = np.empty(n_features)
    for j in range(0, n_features, 4):
        last = n_features - 1
        x0, x1, x2, x3 = x[j], x[min(j + 1, last)], x[min(j + 2, last)], x[min(j + 3, last)]
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        for i in range(weights.shape[0]):
            sum0 += weights[i] * (x0[i] * x0[i])
            sum1 += weights[i] * (x1[i] * x1[i])
            sum2 += weights[i] * (x2[i] * x2[i])
            sum3 += weights[i] * (x3[i] * x3[i])
        sums[min(j + 3, last)], sums[min(j + 2, last)], sums[min(j + 1, last)], sums[j] = sum3, sum2, sum1, sum0
    return sums


@making_arrays
def solve(matrix, rights):
    """`linear.solved` of each right side, in place; the matrix is overwritten."""
    k, n_rights = matrix.shape[0], rights.shape[0]
    factors = np.empty(k)
    for at in range(k - 1):
        pivot = matrix[at]
        for i in range(at + 1, k):
            factors[i] = pivot[i] / pivot[at]
        for i in range(at + 1, k):
            row, factor = matrix[i], factors[i]
            for j in range(i, k):
                row[j] -= factor * pivot[j]
        for r in range(n_rights):
            w = rights[r]
            for i in range(at + 1, k):
                w[i] -= factors[i] * w[at]
    for r in range(n_rights):
        w = rights[r]
        for at in range(k - 1, -1, -1):
            w[at] /= matrix[at, at]
            for i in range(at):
                w[i] -= matrix[i, at] * w[at]


@making_arrays
def logistic(scene, label):
    """`linear.logistic`."""
    rows = sample_by_sample(scene.x, 1)
    n, k = rows.shape
    w, weights, odds = np.zeros(k), np.empty(n), np.empty(n)
    for _ in range(NEWTON_STEPS):
        slopes = np.zeros((1, k))
        slope = slopes[0]
        for i in range(n):
            odds[i] = rows[i, 0] * w[0]
            for j in range(1, k):
                odds[i] += rows[i, j] * w[j]
            likely, weight = logistic_function(odds[i]), scene.labels.weights[i]
            apart = (weight if scene.labels.classes[i] == label else 0.0) - weight * likely
            weights[i] = weight * likely * (1.0 - likely)
            for j in range(k):
                slope[j] += rows[i, j] * apart
        bend = products(rows, weights)
        for i in range(k):
            ridge = LOGISTIC_RIDGE if i < k - 1 else 0.0
            slope[i] = slope[i] / scene.weight - ridge * w[i]
            for j in range(i, k):
                bend[i, j] = bend[i, j] / scene.weight + (ridge + RIDGE if i == j else 0.0)
        solve(bend, slopes)
        w = w + slope
    return w[:-1].copy()
