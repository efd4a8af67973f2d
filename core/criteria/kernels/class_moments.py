"""Kernels of `class_moments` and its tests: all columns with an order at once, eight of them side by side in lanes.

The moments of a node's columns are stored in one array, by class, and within a class for eight columns after the other:

    | class 0                                                        | class 1 ...
    | columns 0 to 7                                | columns 8 to 15 ...
    | centre  weight  sum  squares  mean  deviation |                         each of eight numbers

`numbers[row * width:]` are a row's values, NaN where missing; the width is a multiple of eight. Rows are sorted by
class (`Grouped`), those of a class in row order, so that the sums of a class equal those of the definition and stay in
registers until it is complete.
"""

import numpy as np
from numba import int64, types, uint64

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled
from core.compiler.eight_lanes import WIDTH, in_lanes
from core.compiler.row_sums import over_rows

CENTRE, WEIGHT, SUM, SQUARES, MEAN, DEVIATION = (WIDTH * position for position in range(6))
SHIFT, VARIATION = SUM, SQUARES  # what replaces them once all rows are added up
OF_CLASS = 6 * WIDTH
WHOLE, GROUPS, MOMENT, WITHIN, BETWEEN, FIRST_CENTRE, STATISTIC, BETWEEN_DEGREES, WITHIN_DEGREES = (
    WIDTH * position for position in range(9)
)
OF_TEST = 9 * WIDTH
TOGETHER = 3  # blocks of eight columns that one pass over the rows adds up: their sums fit into registers


def adding(formula, *positions):
    """Two kernels of a formula: one for `TOGETHER` blocks of eight columns, and one for a single block."""
    return over_rows(*positions, blocks=TOGETHER, apart=OF_CLASS)(formula), over_rows(*positions)(formula)


@in_lanes(types.void)
def begin(moments, nan, weight):
    """Set a class's weight, and its centre to unknown."""
    moments.put(CENTRE, nan)
    moments.put(WEIGHT, weight)


@in_lanes(types.uint64)
def take_centre(values, moments):
    """Take the first known value of each column as its centre; returns which columns have one now."""
    centre = moments(CENTRE)
    centre = centre.where(centre.is_known(), values(0))
    moments.put(CENTRE, centre)
    return centre.is_known().as_bits()


def of_complete(values, weight, moments):
    """What a row without missing values adds to the sums of its class."""
    apart = values - moments(CENTRE)
    moved = weight * apart
    return moved, moved * apart


def of_known(values, weight, moments):
    """What a row's known values, and their weight, add to the sums of its class."""
    known, apart = values.is_known(), values - moments(CENTRE)
    moved = weight * apart
    return weight.where(known), moved.where(known), (moved * apart).where(known)


def of_distances(values, weight, moments):
    """What a row adds to the sum of distances from the mean of its class."""
    apart = (values - moments(CENTRE) - moments(SHIFT)).size()
    return ((weight * apart).where(values.is_known()),)


complete_blocks, complete_block = adding(of_complete, SUM, SQUARES)
known_blocks, known_block = adding(of_known, WEIGHT, SUM, SQUARES)
distance_blocks, distance_block = adding(of_distances, DEVIATION)


@in_lanes(types.void)
def begin_test(tests, zero):
    """Set the sums of a test to 0."""
    for position in (WHOLE, GROUPS, MOMENT, WITHIN, BETWEEN):
        tests.put(position, zero)


@in_lanes(types.void)
def forget_centre(tests, nan):
    """Set the first centre to unknown."""
    tests.put(FIRST_CENTRE, nan)


@in_lanes(types.void)
def take_first_centre(moments, tests):
    """Take the centre of the first class that has one; means are relative to it."""
    centre = tests(FIRST_CENTRE)
    tests.put(FIRST_CENTRE, centre.where(centre.is_known(), moments(CENTRE)))


@in_lanes(types.void)
def finish_class(moments, tests):
    """Turn a class's sums into its mean and variation, and add it to the analysis of variance."""
    weight, total, centre = moments(WEIGHT), moments(SUM), moments(CENTRE)
    zero, one = weight.all(0.0), weight.all(1.0)
    has_weight = weight > zero
    shift = total / weight.where(has_weight, one)
    variation = moments(SQUARES) - total * shift
    variation = variation.where(variation > zero)
    mean = (centre - tests(FIRST_CENTRE) + shift).where(centre.is_known())
    moments.put(SHIFT, shift)
    moments.put(VARIATION, variation)
    moments.put(MEAN, mean)
    tests.add(WHOLE, weight)
    tests.add(GROUPS, one.where(has_weight))
    tests.add(MOMENT, weight * mean)
    tests.add(WITHIN, variation)


@in_lanes(types.void)
def add_between(moments, tests):
    """Add the weighted square of the distance between a class's mean and the mean of all."""
    apart = moments(MEAN) - tests(MOMENT) / tests(WHOLE)
    tests.add(BETWEEN, moments(WEIGHT) * (apart * apart))


@in_lanes(types.void)
def add_class_of_levene(moments, tests):
    """Add a class to Levene's test; the variation of distances counts as at least TIE of the sum of their squares."""
    weight, deviation, variation = moments(WEIGHT), moments(DEVIATION), moments(VARIATION)
    zero, one = weight.all(0.0), weight.all(1.0)
    varied, least = variation - deviation * deviation / weight.where(weight > zero, one), variation * weight.all(TIE)
    tests.add(WHOLE, weight)
    tests.add(GROUPS, one.where(weight > zero))
    tests.add(MOMENT, deviation)
    tests.add(WITHIN, varied.where(varied > least, least))


@in_lanes(types.void)
def add_between_of_levene(moments, tests):
    """Add the weighted square of the distance between a class's mean distance and that of all."""
    weight = moments(WEIGHT)
    apart = moments(DEVIATION) / weight - tests(MOMENT) / tests(WHOLE)
    tests.add(BETWEEN, (weight * (apart * apart)).where(weight > weight.all(0.0)))


@in_lanes(types.void)
def finish_test(tests):
    """Compute F and its degrees of freedom; the variation within classes counts as at least TIE of the whole."""
    between, within, whole, groups = tests(BETWEEN), tests(WITHIN), tests(WHOLE), tests(GROUPS)
    zero, one = whole.all(0.0), whole.all(1.0)
    least = whole.all(TIE) * (between + within)
    within = within.where(within > least, least)
    between_degrees, within_degrees = groups - one, whole - groups
    can_differ = (between_degrees > zero) & (within_degrees > zero) & (between > zero)
    statistic = between / between_degrees / (within / within_degrees)
    tests.put(STATISTIC, statistic.where(can_differ))
    tests.put(BETWEEN_DEGREES, between_degrees.where(between_degrees > zero))
    tests.put(WITHIN_DEGREES, within_degrees.where(within_degrees > zero))


@compiled
def add_up_moments(numbers, width, has_missing, grouped, class_weights, moments):
    """The moments of all classes and columns except the deviations, as sums about the centres."""
    n_blocks, rows, weights = width // WIDTH, grouped.rows, grouped.weights
    for k in range(class_weights.shape[0]):
        start, end, b = grouped.starts[k], grouped.starts[k + 1], 0
        take_centres(numbers, width, rows, start, end, moments, k, 0.0 if has_missing else class_weights[k])
        while b < n_blocks:
            at, n_together = (k * n_blocks + b) * OF_CLASS, together(b, n_blocks)
            if has_missing and n_together > 1:
                known_blocks(rows, weights, start, end, numbers, width, b * WIDTH, moments, at)
            elif has_missing:
                known_block(rows, weights, start, end, numbers, width, b * WIDTH, moments, at)
            elif n_together > 1:
                complete_blocks(rows, weights, start, end, numbers, width, b * WIDTH, moments, at)
            else:
                complete_block(rows, weights, start, end, numbers, width, b * WIDTH, moments, at)
            b += n_together


@compiled
def take_centres(numbers, width, rows, start, end, moments, k, weight):
    """Set a class's weight, and its first known value of every column."""
    n_blocks, whole = width // WIDTH, uint64((1 << WIDTH) - 1)
    for b in range(n_blocks):
        at, known, i = (k * n_blocks + b) * OF_CLASS, uint64(0), start
        begin(at, moments, np.nan, weight)
        while i < end and known != whole:
            known = take_centre((int64(rows[i]) * width + b * WIDTH, at), numbers, moments)
            i += 1


@compiled
def together(b, n_blocks):
    """How many blocks are added up at once, from block b on."""
    return TOGETHER if b + TOGETHER <= n_blocks else 1


@compiled
def test_means(width, class_weights, moments, tests):
    """`class_moments.mean_tests`: finishes the moments, writes each column's F and degrees of freedom to `tests`."""
    n_blocks = width // WIDTH
    for b in range(n_blocks):
        begin_test(b * OF_TEST, tests, 0.0)
        forget_centre(b * OF_TEST, tests, np.nan)
        for k in range(class_weights.shape[0]):
            take_first_centre(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        for k in range(class_weights.shape[0]):
            finish_class(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        for k in range(class_weights.shape[0]):
            add_between(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        finish_test(b * OF_TEST, tests)


@compiled
def test_spread(numbers, width, grouped, class_weights, moments, tests):
    """`class_moments.levene_tests`, moments being known: writes each column's F and degrees of freedom to `tests`."""
    n_blocks, rows, weights = width // WIDTH, grouped.rows, grouped.weights
    for k in range(class_weights.shape[0]):
        start, end, b = grouped.starts[k], grouped.starts[k + 1], 0
        while b < n_blocks:
            at, n_together = (k * n_blocks + b) * OF_CLASS, together(b, n_blocks)
            if n_together > 1:
                distance_blocks(rows, weights, start, end, numbers, width, b * WIDTH, moments, at)
            else:
                distance_block(rows, weights, start, end, numbers, width, b * WIDTH, moments, at)
            b += n_together
    for b in range(n_blocks):
        begin_test(b * OF_TEST, tests, 0.0)
        for k in range(class_weights.shape[0]):
            at = (k * n_blocks + b) * OF_CLASS
            add_class_of_levene((at, b * OF_TEST), moments, tests)
        for k in range(class_weights.shape[0]):
            add_between_of_levene(((k * n_blocks + b) * OF_CLASS, b * OF_TEST), moments, tests)
        finish_test(b * OF_TEST, tests)
