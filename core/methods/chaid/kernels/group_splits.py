"""`merging.best_of_splits`, compiled: the best two-way split of a group that was just merged.

The sums of both sides are updated category by category along an order, so a cut costs no more than its test. Splits
are numbered as in the definition, and `statistics[split]` is the statistic of each.
"""

import numpy as np

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.criteria.kernels.impurity import GINI, SQUARED
from core.criteria.kernels.significance import VARIANCE, is_close, log10_p, statistic_of
from core.methods.chaid.merging import MOST_ORDERS
from core.splits.categorical import EXHAUSTIVE_LEVELS
from core.splits.kernels.categorical import (
    ORDER,
    fill_scatter,
    follow_feature,
    follow_principal_component,
    has_one_direction,
    put_side_by_side,
)


@compiled
def most_splits(n):
    """The largest number of two-way splits that are tested for up to n categories."""
    return max(1 << (EXHAUSTIVE_LEVELS - 1), MOST_ORDERS * n)


@making_arrays
def best_two_way_split(pairs, rules, position, space, statistics, part):
    """`merging.best_of_splits`: flags in `part` the side without the group's first category.

    Returns whether the group is to be split, and whether that is in doubt.
    """
    n = 0
    for v in range(len(pairs.label)):
        n += pairs.label[v] == position
    if n < 3:
        return False, False
    members = np.empty(n, np.int64)
    i = 0
    for v in range(len(pairs.label)):
        part[v] = False
        if pairs.label[v] == position:
            members[i] = v
            i += 1
    orders = np.empty((MOST_ORDERS, n), np.int64)
    n_orders = fill_orders(pairs, rules, members, space, orders)
    has_missing = rules.has_order and members[n - 1] == pairs.missing
    if n_orders == 0:
        n_divisions = test_all_groupings(pairs, rules, members, statistics)
    elif has_missing:
        n_divisions = test_cuts_with_missing(pairs, rules, members, statistics)
    else:
        n_divisions = 0
        for i in range(n_orders):
            n_divisions = test_cuts(pairs, rules, members, orders[i], statistics, n_divisions)
    best = first_of_largest(statistics, n_divisions)
    log = log_of_group(pairs, rules, position, statistics[best])
    if is_close(log, rules.log10_alpha_split):
        return False, True
    if log > rules.log10_alpha_split:
        return False, False
    flag_second_side(members, orders, n_orders, has_missing, best, part)
    return True, False


@making_arrays
def fill_orders(pairs, rules, members, space, orders):
    """Fill in the orders whose cuts are tried; returns their number, 0 if all two-way splits are tried instead."""
    n = len(members)
    if rules.has_order:
        for i in range(n):
            orders[0, i] = i
        return 1
    levels, weights = np.empty((n, pairs.sums.shape[1])), np.empty(n)
    for i in range(n):
        weights[i] = pairs.weights[members[i]]
        for k in range(levels.shape[1]):
            levels[i, k] = pairs.sums[members[i], k]
    criterion = SQUARED if rules.test == VARIANCE else GINI
    whole = put_side_by_side(levels, weights, criterion, 0.0, space)
    if has_one_direction(whole, criterion):
        follow_feature(whole, whole.n_features - 1, space)
        copy_order(space, orders[0])
        return 1
    if n <= EXHAUSTIVE_LEVELS:
        return 0
    fill_scatter(whole, space)
    follow_principal_component(whole, space)
    copy_order(space, orders[0])
    n_orders = min(MOST_ORDERS, 1 + whole.n_features)
    for i in range(1, n_orders):
        follow_feature(whole, i - 1, space)
        copy_order(space, orders[i])
    return n_orders


@compiled
def copy_order(space, order):
    """Copy the current order of the slots."""
    for i in range(len(order)):
        order[i] = space.positions[ORDER, i]


@making_arrays
def test_cuts(pairs, rules, members, order, statistics, n_divisions):
    """Test every cut of an order; returns the number of splits tested so far."""
    n, width = len(order), pairs.sums.shape[1]
    rest = sums_after(pairs, members, order)
    for k in range(width):
        pairs.pair[0, k] = 0.0
    for cut in range(n - 1):
        for k in range(width):
            pairs.pair[0, k] += pairs.sums[members[order[cut]], k]
            pairs.pair[1, k] = rest[cut + 1, k]
        statistics[n_divisions + cut], _, _ = statistic_of(rules.test, pairs.pair, pairs.class_weights)
    return n_divisions + n - 1


@making_arrays
def test_cuts_with_missing(pairs, rules, members, statistics):
    """`merging.two_way_splits_with_missing`: test the cuts with missing before, then after them, then missing alone."""
    n, width = len(members), pairs.sums.shape[1]
    known, missing, so_far = np.arange(n - 1), pairs.sums[members[n - 1]], np.zeros(width)
    rest = sums_after(pairs, members, known)
    for cut in range(n - 2):
        for k in range(width):
            so_far[k] += pairs.sums[members[cut], k]
            pairs.pair[0, k], pairs.pair[1, k] = so_far[k] + missing[k], rest[cut + 1, k]
        statistics[cut], _, _ = statistic_of(rules.test, pairs.pair, pairs.class_weights)
        for k in range(width):
            pairs.pair[0, k], pairs.pair[1, k] = so_far[k], rest[cut + 1, k] + missing[k]
        statistics[n - 2 + cut], _, _ = statistic_of(rules.test, pairs.pair, pairs.class_weights)
    for k in range(width):
        pairs.pair[0, k], pairs.pair[1, k] = so_far[k] + pairs.sums[members[n - 2], k], missing[k]
    statistics[2 * n - 4], _, _ = statistic_of(rules.test, pairs.pair, pairs.class_weights)
    return 2 * n - 3


@making_arrays
def sums_after(pairs, members, order):
    """`[i, :]`: the sums of an order's categories from the i-th on, added up from the end."""
    n, width = len(order), pairs.sums.shape[1]
    rest = np.empty((n, width))
    for i in range(n - 1, -1, -1):
        for k in range(width):
            after = rest[i + 1, k] if i < n - 1 else 0.0
            rest[i, k] = after + pairs.sums[members[order[i]], k]
    return rest


@compiled
def test_all_groupings(pairs, rules, members, statistics):
    """Test every split of `categorical.all_groupings`; returns their number."""
    n, width = len(members), pairs.sums.shape[1]
    n_groupings = (1 << (n - 1)) - 1
    for grouping in range(n_groupings):
        for k in range(width):
            pairs.pair[0, k], pairs.pair[1, k] = 0.0, 0.0
        for i in range(n):
            side = 0 if is_in_first(grouping, i) else 1
            for k in range(width):
                pairs.pair[side, k] += pairs.sums[members[i], k]
        statistics[grouping], _, _ = statistic_of(rules.test, pairs.pair, pairs.class_weights)
    return n_groupings


@compiled
def is_in_first(grouping, i):
    """Whether the i-th category is in the first part of a grouping; the category 0 always is."""
    return i == 0 or (grouping >> (i - 1)) & 1 == 1


@compiled
def first_of_largest(statistics, n):
    """The index of the first statistic that equals the largest up to rounding."""
    largest = 0.0
    for i in range(n):
        largest = max(largest, statistics[i])
    best = 0
    while statistics[best] < largest - TIE * max(1.0, largest):
        best += 1
    return best


@compiled
def log_of_group(pairs, rules, position, statistic):
    """log10 of p for a two-way split of a group; the degrees of freedom are the same for every split."""
    group_sums = pairs.group_sums[position]
    if rules.test == VARIANCE:
        return log10_p(statistic, 1.0, max(group_sums[0] - 2.0, 0.0))
    n_classes = 0
    for k in range(len(group_sums)):
        n_classes += group_sums[k] > 0
    return log10_p(statistic, n_classes - 1.0, 0.0)


@compiled
def flag_second_side(members, orders, n_orders, has_missing, division, part):
    """Flag the categories on the side of a split that does not contain the group's first category."""
    n = len(members)
    if n_orders == 0:
        for i in range(n):
            part[members[i]] = not is_in_first(division, i)
        return
    if has_missing:
        n_cuts = n - 2
        for i in range(n - 1):
            part[members[i]] = division < 2 * n_cuts and i > division % n_cuts
        part[members[n - 1]] = division >= n_cuts
        return
    order, cut = orders[division // (n - 1)], division % (n - 1)
    is_first_before = False
    for i in range(cut + 1):
        is_first_before |= order[i] == 0
    for i in range(n):
        part[members[order[i]]] = (i > cut) == is_first_before
