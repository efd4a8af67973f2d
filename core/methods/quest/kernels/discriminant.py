"""The functions of `discriminant` compiled from their source, and `discriminant_cuts` compiled.

Missing values are NaN, for which every comparison is false, so such rows add no weight to either side. `entries` are
rows packed with their classes (`methods.quest.kernels.packed_rows`).
"""

from math import inf
from typing import NamedTuple

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.arithmetic.kernels.logarithms import log
from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, compiled_with, making_arrays
from core.methods.quest import discriminant
from core.methods.quest.discriminant_cuts import NARROW
from core.methods.quest.kernels.packed_rows import class_of
from core.splits import candidates

ROUNDING = 1e-6  # relative; far more than sums of the same weights in another order can differ by

midpoint = compiled(candidates.midpoint)
part_classes, united = compiled(discriminant.part_classes), compiled(discriminant.united)
middle = compiled(discriminant.middle)
equal_density = compiled_with(discriminant.equal_density, middle, log)
trace_of, divide_by = compiled(discriminant.trace_of), compiled(discriminant.divide_by)


@making_arrays
def products(rows):
    """`discriminant.products`, added up cell by cell in the definition's order."""
    found = np.zeros((rows.shape[0], rows.shape[0]))
    for i in range(rows.shape[0]):
        for j in range(rows.shape[0]):
            for k in range(rows.shape[1]):
                found[i, j] += rows[i, k] * rows[j, k]
    return found


first_vector = compiled_with(discriminant.first_vector, products, trace_of, divide_by)
first_left_vector = compiled_with(discriminant.first_left_vector, products, first_vector)
discriminant_coordinates = compiled_with(discriminant.discriminant_coordinates, first_left_vector)


class Buffers(NamedTuple):
    """Scratch: flags for the classes of the second group, and two copies of a node's values and weights."""

    second: BoolArray
    values: FloatArray
    weights: FloatArray
    other_values: FloatArray
    other_weights: FloatArray


@compiled
def can_be_cut(class_weights, least):
    """Whether there are two classes, and enough weight for two sides; otherwise `best_cut` would find nothing."""
    n_present, whole = 0, 0.0
    for k in range(len(class_weights)):
        n_present += class_weights[k] > 0
        whole += class_weights[k]
    return n_present > 1 and whole * (1 + ROUNDING) >= 2 * (least - TIE)


@compiled
def best_cut(values, entries, weights, moments, centre, least, buffers):
    """`discriminant_cuts.best_cut` from the known class weights, means and variations of a column that `can_be_cut`.

    Returns the threshold, NaN if there is none, and the weights of both sides.
    """
    class_weights, means, variations, second = moments[0], moments[1], moments[2], buffers.second
    part_classes(class_weights, means, second)
    weight_a, mean_a, variance_a = united(class_weights, means, variations, second, False)
    weight_b, mean_b, variance_b = united(class_weights, means, variations, second, True)
    between = centre + middle(mean_a, mean_b)
    a_is_narrow = variance_a <= variance_b
    narrow, wide = (variance_a, variance_b) if a_is_narrow else (variance_b, variance_a)
    if narrow > NARROW * wide and varies(values, entries, second, not a_is_narrow):
        wanted = centre + equal_density(weight_a, mean_a, variance_a, weight_b, mean_b, variance_b)
    else:
        smallest, largest = extremes(values, entries, second, not a_is_narrow)
        is_below = mean_a < mean_b if a_is_narrow else mean_b < mean_a
        wanted = beside(values, largest, True) if is_below else beside(values, smallest, False)
    if np.isnan(wanted):
        wanted = between
    left_of_wanted, right = weights_beside(values, weights, wanted)
    if is_enough(left_of_wanted, right, least):
        return wanted, left_of_wanted, right
    left, right = weights_beside(values, weights, between)
    if is_enough(left, right, least):
        return between, left, right
    nearest = nearest_cut(values, weights, left_of_wanted, least, buffers)
    if np.isnan(nearest):
        return nearest, 0.0, 0.0
    left, right = weights_beside(values, weights, nearest)
    return nearest, left, right


@compiled
def varies(values, entries, second, of_second):
    """Whether a super-class has two different values; usually the first rows show it."""
    one = np.nan
    for i in range(len(values)):
        if second[class_of(entries[i])] == of_second and not np.isnan(values[i]):
            if one < values[i] or one > values[i]:
                return True
            one = values[i]
    return False


@compiled
def extremes(values, entries, second, of_second):
    """The smallest and the largest value of a super-class."""
    smallest, largest = inf, -inf
    for i in range(len(values)):
        is_member = (second[class_of(entries[i])] == of_second) & (not np.isnan(values[i]))
        smallest = min(smallest, values[i] if is_member else inf)
        largest = max(largest, values[i] if is_member else -inf)
    return smallest, largest


@compiled
def beside(values, edge, above):
    """The midpoint between a value and the next one above, or below; NaN if there is none."""
    next_value = inf if above else -inf
    for i in range(len(values)):
        low, high = (edge, next_value) if above else (next_value, edge)
        if low < values[i] < high:
            next_value = values[i]
    if np.isinf(next_value):
        return np.nan
    return midpoint(edge, next_value) if above else midpoint(next_value, edge)


@compiled
def weights_beside(values, weights, threshold):
    """The weight up to a threshold, and the weight above it."""
    left, right = 0.0, 0.0
    for i in range(len(values)):  # branch-free, since a branch here would be unpredictable
        left += weights[i] * (values[i] <= threshold)
        right += weights[i] * (values[i] > threshold)
    return left, right


@compiled
def is_enough(left, right, least):
    """`discriminant_cuts.holds_enough`."""
    return min(left, right) > 0 and min(left, right) >= least - TIE


@compiled
def nearest_cut(values, weights, left, least, buffers):
    """`discriminant_cuts.nearest_cut`; `left` is the weight left of the wanted cut; NaN if there is none.

    The search runs from the side with too little weight.
    """
    sign = 1.0 if left < least - TIE or left == 0 else -1.0
    edge, beyond, beyond_weight = outermost(values, weights, sign, least, buffers), inf, 0.0
    for i in range(len(values)):
        value = sign * values[i]
        beyond = min(beyond, value if value > edge else inf)
        beyond_weight += weights[i] * (value > edge)
    if np.isinf(beyond) or beyond_weight < least - TIE:
        return np.nan
    return midpoint(edge, beyond) if sign > 0 else midpoint(-beyond, -edge)


@compiled
def outermost(values, weights, sign, least, buffers):
    """The smallest value up to which there is enough weight; the largest if there never is. Some value is known.

    Values are multiplied by `sign` first. A quickselect, as in `np.partition`: the values on one side of a pivot are
    dropped until the pivot is the value.
    """
    kept, kept_weights, others, other_weights = (
        buffers.values,
        buffers.weights,
        buffers.other_values,
        buffers.other_weights,
    )
    n, aside = 0, 0.0
    for i in range(len(values)):
        kept[n], kept_weights[n] = sign * values[i], weights[i]
        n += not np.isnan(values[i])
    while True:
        value, below, up_to, n_below, n_above = kept[n // 2], aside, aside, 0, 0
        for i in range(n):
            one, weight = kept[i], kept_weights[i]
            below += weight * (one < value)
            up_to += weight * (one <= value)
            kept[n_below], kept_weights[n_below] = one, weight
            n_below += one < value
            others[n_above], other_weights[n_above] = one, weight
            n_above += one > value
        goes_below = below >= least - TIE and n_below > 0
        if not goes_below and (up_to >= least - TIE or n_above == 0):
            return value
        if goes_below:
            n = n_below
        else:
            n, aside = n_above, up_to
            kept, kept_weights, others, other_weights = others, other_weights, kept, kept_weights
