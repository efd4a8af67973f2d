"""The functions of `discriminant`, compiled as they are, and the compiled twins of `discriminant_cuts`."""

from math import inf

import numpy as np

from core.compiled_kernels import compiled, compiled_with, making_arrays
from core.splits import candidates, discriminant
from core.splits.discriminant_cuts import NARROW
from core.ties import TIE

midpoint = compiled(candidates.midpoint)
super_classes, united = making_arrays(discriminant.super_classes), compiled(discriminant.united)
middle = compiled(discriminant.middle)
equal_density = compiled_with(discriminant.equal_density, middle)
trace_of, divide_by = compiled(discriminant.trace_of), compiled(discriminant.divide_by)


@making_arrays
def products(rows):
    """`discriminant.products`, each added up by itself, in the same order."""
    found = np.zeros((rows.shape[0], rows.shape[0]))
    for i in range(rows.shape[0]):
        for j in range(rows.shape[0]):
            for k in range(rows.shape[1]):
                found[i, j] += rows[i, k] * rows[j, k]
    return found


first_vector = compiled_with(discriminant.first_vector, products, trace_of, divide_by)
first_left_vector = compiled_with(discriminant.first_left_vector, products, first_vector)
discriminant_coordinates = compiled_with(discriminant.discriminant_coordinates, first_left_vector)


@making_arrays
def best_cut(values, classes, weights, n, moments, centre, least):
    """`discriminant_cuts.best_cut` of the first n values, whose weights, means and variations are known; else NaN."""
    class_weights, means, variations = moments[0], moments[1], moments[2]
    n_present = 0
    for k in range(len(class_weights)):
        n_present += class_weights[k] > 0
    if n_present < 2:
        return np.nan
    second = super_classes(class_weights, means)
    weight_a, mean_a, variance_a = united(class_weights, means, variations, ~second)
    weight_b, mean_b, variance_b = united(class_weights, means, variations, second)
    between = centre + middle(mean_a, mean_b)
    a_is_narrow = variance_a <= variance_b
    narrow, wide = (variance_a, variance_b) if a_is_narrow else (variance_b, variance_a)
    if narrow > NARROW * wide and varies(values, classes, n, second, not a_is_narrow):
        wanted = centre + equal_density(weight_a, mean_a, variance_a, weight_b, mean_b, variance_b)
    else:
        smallest, largest = extremes(values, classes, n, second, not a_is_narrow)
        is_below = mean_a < mean_b if a_is_narrow else mean_b < mean_a
        wanted = beside(values, n, largest, True) if is_below else beside(values, n, smallest, False)
    if np.isnan(wanted):
        wanted = between
    if holds_enough(values, weights, n, wanted, least):
        return wanted
    if holds_enough(values, weights, n, between, least):
        return between
    return nearest_cut(values, weights, n, wanted, least)


@compiled
def varies(values, classes, n, second, of_second):
    """Whether a super-class has two values; mostly the first rows tell."""
    one = np.nan
    for i in range(n):
        if second[classes[i]] == of_second:
            if one < values[i] or one > values[i]:
                return True
            one = values[i]
    return False


@compiled
def extremes(values, classes, n, second, of_second):
    """The smallest and the largest value of a super-class."""
    smallest, largest = inf, -inf
    for i in range(n):
        is_member = second[classes[i]] == of_second
        smallest = min(smallest, values[i] if is_member else inf)
        largest = max(largest, values[i] if is_member else -inf)
    return smallest, largest


@compiled
def beside(values, n, edge, above):
    """Halfway from a value to the next one above, or below; NaN where there is none."""
    next_value = inf if above else -inf
    for i in range(n):
        low, high = (edge, next_value) if above else (next_value, edge)
        if low < values[i] < high:
            next_value = values[i]
    if np.isinf(next_value):
        return np.nan
    return midpoint(edge, next_value) if above else midpoint(next_value, edge)


@compiled
def holds_enough(values, weights, n, threshold, least):
    """`discriminant_cuts.holds_enough`"""
    left, right = 0.0, 0.0
    for i in range(n):  # without a branch, which no processor could foresee
        left += weights[i] * (values[i] <= threshold)
        right += weights[i] * (values[i] > threshold)
    return min(left, right) > 0 and min(left, right) >= least - TIE


@compiled
def nearest_cut(values, weights, n, wanted, least):
    """`discriminant_cuts.nearest_cut`; NaN where there is none. Looked for from the side that had too little."""
    left = 0.0
    for i in range(n):
        left += weights[i] * (values[i] <= wanted)
    sign = 1.0 if left < least - TIE or left == 0 else -1.0
    edge, beyond, beyond_weight = sign * outermost(values, weights, n, sign, least), inf, 0.0
    for i in range(n):
        value = sign * values[i]
        beyond = min(beyond, value if value > edge else inf)
        beyond_weight += weights[i] * (value > edge)
    if np.isinf(beyond) or beyond_weight < least - TIE:
        return np.nan
    return midpoint(edge, beyond) if sign > 0 else midpoint(-beyond, -edge)


@making_arrays
def outermost(values, weights, n, sign, least):
    """The first value from below, or from above, up to which there is enough weight; the last if there never is.

    As `np.partition` finds a value: those of one side of some value are left out, until it is that value.
    """
    kept, kept_weights, aside = sign * values[:n], weights[:n].copy(), 0.0
    while True:
        value, below, up_to, n_below, n_up_to = kept[n // 2], aside, aside, 0, 0
        for i in range(n):
            below += kept_weights[i] * (kept[i] < value)
            up_to += kept_weights[i] * (kept[i] <= value)
            n_below += kept[i] < value
            n_up_to += kept[i] <= value
        goes_below = below >= least - TIE and n_below > 0
        if not goes_below and (up_to >= least - TIE or n_up_to == n):
            return sign * value
        aside = aside if goes_below else up_to
        n_kept = 0
        for i in range(n):
            one, weight = kept[i], kept_weights[i]
            kept[n_kept], kept_weights[n_kept] = one, weight
            n_kept += one < value if goes_below else one > value
        n = n_kept
