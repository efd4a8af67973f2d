"""Quadratic discriminant analysis: where two groups of classes separate best along a line (QUEST, Loh and Shih 1997).

A class is described by its weight, its mean and its variation, the weighted sum of squares about that mean. More than
two classes are first joined into two super-classes. Categories are placed on a line by their largest discriminant
coordinate.

The kernels compile these very functions. For equal bits, sums therefore run in a fixed order, and squares are written
as products, because a power may differ in the last bit.
"""

import math

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.arithmetic.logarithms import log
from core.arithmetic.ties import TIE

MOST_SQUARINGS = 30  # of a matrix; with more, rounding would choose among eigenvalues that are almost equal


def super_classes(weights: FloatArray, means: FloatArray) -> BoolArray:
    """The classes of the second of two super-classes, as flags."""
    second = np.empty(len(weights), dtype=np.bool_)
    part_classes(weights, means, second)
    return second


def part_classes(weights: FloatArray, means: FloatArray, second: BoolArray) -> None:
    """Flag the classes of the second of two groups, found by 2-means on the class means from the two extremes.

    Every class counts once; one without weight is in neither group. If all means are equal, the heaviest class is set
    against the rest.
    """
    low, high = math.inf, -math.inf
    for k in range(len(weights)):
        if weights[k] > 0:
            low, high = min(low, means[k]), max(high, means[k])
    second[:] = False
    if high - low <= TIE * max(abs(low), abs(high)):
        second[np.argmax(weights)] = True
        return
    moves = True
    while moves:
        moves, n_low, n_high, low_sum, high_sum = False, 0, 0, 0.0, 0.0
        for k in range(len(weights)):
            if weights[k] > 0:
                is_second = abs(means[k] - high) < abs(means[k] - low)
                moves = moves or is_second != second[k]
                second[k] = is_second
                if is_second:
                    n_high, high_sum = n_high + 1, high_sum + means[k]
                else:
                    n_low, low_sum = n_low + 1, low_sum + means[k]
        low, high = low_sum / n_low, high_sum / n_high


def united(
    weights: FloatArray, means: FloatArray, variations: FloatArray, second: BoolArray, is_second: bool
) -> tuple[float, float, float]:
    """The weight, mean and variance of a super-class, which has some weight."""
    weight, moment, variation = 0.0, 0.0, 0.0
    for k in range(len(weights)):
        if second[k] == is_second:
            weight += weights[k]
            moment += weights[k] * means[k]
    mean = moment / weight
    for k in range(len(weights)):
        if second[k] == is_second and weights[k] > 0:
            apart = means[k] - mean
            variation += variations[k] + weights[k] * apart * apart
    return weight, mean, variation / weight


def equal_density(
    weight_a: float, mean_a: float, variance_a: float, weight_b: float, mean_b: float, variance_b: float
) -> float:
    """The point where two normal densities, each times its weight, are equal; both variances are positive.

        log(P_a/s_a) - (x - m_a)^2/2s_a^2  =  log(P_b/s_b) - (x - m_b)^2/2s_b^2

    Of two such points, the one closer to the means: the one closer to one mean is also closer to the other. With equal
    means, the smaller point; the middle of the means if there is no point. Computed in units of the whole spread,
    relative to m_a, and in the form without cancellation, which also serves equal variances.
    """
    apart = mean_b - mean_a
    unit = math.sqrt(variance_a + variance_b + apart * apart)
    a, b, apart = variance_a / unit / unit, variance_b / unit / unit, apart / unit
    odds = log(weight_a) - log(weight_b) + 0.5 * (log(variance_b) - log(variance_a))
    inside = a * b * (apart * apart - 2 * (a - b) * odds)
    if inside < 0 or (apart == 0 and a == b):
        return middle(mean_a, mean_b)
    if apart == 0:
        return mean_a - unit * math.sqrt(inside) / abs(a - b)
    root = math.copysign(math.sqrt(inside), apart)
    return mean_a + unit * (a * (apart * apart + 2 * b * odds) / (a * apart + root))


def middle(mean_a: float, mean_b: float) -> float:
    """Halfway between two means; used where there is no point of equal density."""
    return mean_a + (mean_b - mean_a) / 2


def discriminant_coordinates(table: FloatArray) -> FloatArray:
    """A coordinate for each category that maximises the share of variance between classes.

        max_x  sum_k N_k (mean of x in k - mean)^2 / sum_i N_i (x_i - mean)^2        `table[i, k]` are weights N_ik

    This is the largest discriminant coordinate of the categories' 0/1 vectors (CRIMCOORD), computed from the first
    singular vector of R_ik = (N_ik - N_i N_k/N) / sqrt(N_i N_k). It is 0 for categories without weight, and for all
    categories if the class is independent of them. Signs are such that the first category with a coordinate other than
    0 is negative.
    """
    n_categories, n_classes = table.shape
    by_category, by_class, whole = np.zeros(n_categories), np.zeros(n_classes), 0.0
    for i in range(n_categories):
        for k in range(n_classes):
            by_category[i] += table[i, k]
            by_class[k] += table[i, k]
        whole += by_category[i]
    residuals = np.zeros((n_categories, n_classes))
    for i in range(n_categories):
        for k in range(n_classes):
            if by_category[i] > 0 and by_class[k] > 0:
                expected = by_category[i] * by_class[k] / whole
                residuals[i, k] = (table[i, k] - expected) / math.sqrt(by_category[i] * by_class[k])
    coordinates, direction = first_left_vector(residuals), 0.0
    for i in range(n_categories):
        if by_category[i] > 0:
            coordinates[i] /= math.sqrt(by_category[i])
            if direction == 0 and abs(coordinates[i]) > TIE:
                direction = -math.copysign(1.0, coordinates[i])
    for i in range(n_categories):
        coordinates[i] *= direction
    return coordinates


def first_left_vector(matrix: FloatArray) -> FloatArray:
    """The left singular vector of the largest singular value, of any length; uses the smaller Gram matrix."""
    n_rows, n_columns = matrix.shape
    if n_rows < n_columns:
        return first_vector(products(matrix))
    right, left = first_vector(products(matrix.T)), np.zeros(n_rows)
    for i in range(n_rows):
        for k in range(n_columns):
            left[i] += matrix[i, k] * right[k]
    return left


def products(rows: FloatArray) -> FloatArray:
    """`[i, j]`: the product of rows i and j, added up from the first column to the last."""
    found = np.zeros((rows.shape[0], rows.shape[0]))
    for k in range(rows.shape[1]):
        found += np.outer(rows[:, k], rows[:, k])
    return found


def first_vector(matrix: FloatArray) -> FloatArray:
    """The eigenvector of the largest eigenvalue of a symmetric positive semidefinite matrix; 0 if all are 0.

    A matrix of trace 1 is squared until only one eigenvalue is left; then all its columns are multiples of the vector.
    If several eigenvalues are the largest, the vector is the projection of an axis onto their space: of the axis with
    the longest projection, on a tie the first.
    """
    n = len(matrix)
    trace, power, vector = trace_of(matrix), matrix, np.zeros(n)
    if trace <= TIE:
        return vector
    for _ in range(MOST_SQUARINGS):
        divide_by(power, trace)
        power = products(power)
        trace = trace_of(power)
        if trace >= 1 - TIE:
            break
    divide_by(power, trace)
    largest, axis = 0.0, -1
    for position in range(n):
        largest = max(largest, power[position, position])
    for position in range(n):
        if axis < 0 and power[position, position] >= largest - TIE:
            axis = position
    for position in range(n):
        vector[position] = power[position, axis]
    return vector


def trace_of(matrix: FloatArray) -> float:
    """The sum of the diagonal, from first to last."""
    trace = 0.0
    for position in range(len(matrix)):
        trace += matrix[position, position]
    return trace


def divide_by(matrix: FloatArray, divisor: float) -> None:
    """Divide every cell in place."""
    for i in range(matrix.shape[0]):
        for j in range(matrix.shape[1]):
            matrix[i, j] /= divisor
