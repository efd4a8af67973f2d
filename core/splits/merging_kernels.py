"""The compiled twin of `merging`: the groups of a column's categories, of which a node has some.

Every pair of groups is tested once, until one of its groups changes, as in the definition:

    label[v]           the place of the group that category v is in: its first category
    places[:n]         the places of the groups there are, ascending
    statistic[i, j]    the test of the groups in places i < j, where these may be merged
    least[i]           the smallest of these statistics with any j, so that rows of pairs need not be looked through

All sums have the definition's bits. Those of p may differ in the last ones, so whatever they decide alone is called a
doubt, and the column left to the definition.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from core.compiled_kernels import compiled
from core.criteria.significance import SAME_LOG10_P
from core.criteria.significance_kernels import VARIANCE, is_close, log10_p, most_significant
from core.criteria.significance_kernels import tested as test_of
from core.room_kernels import longer_list, longer_rows
from core.splits import merging
from core.splits.categorical_kernels import space_for
from core.splits.merging_division_kernels import best_division, most_divisions
from core.ties import TIE

DOUBT = -1  # instead of a number of groups
ANY = -1  # instead of a group that is to be one of a pair

just_above = compiled(merging.just_above)


class Pairs(NamedTuple):
    """The categories that a node has, and their groups with the tests of all pairs."""

    sums: np.ndarray
    weights: np.ndarray
    label: np.ndarray
    places: np.ndarray
    group_sums: np.ndarray  # [place, :]
    statistic: np.ndarray
    degrees: np.ndarray  # of chi-squared; of F those within, since all have one between
    least: np.ndarray
    pair: np.ndarray  # room for a test
    class_weights: np.ndarray  # the same
    missing: int  # the category that stands for missing; -1 where there is none


@compiled
def merged(table, weights, rules, branch_of):
    """`merging.merged`: the branch of each code in `branch_of`, -1 where no row has it.

    Gives the number of categories, that of groups (fewer than two, or DOUBT: then nothing else counts), whether missing
    is a category, and the logarithm of p, not adjusted. `table[code, :]` and `weights[code]` have a row for missing at
    the end where that may be a category.
    """
    n, has_missing = 0, False
    for code in range(len(weights)):
        branch_of[code] = -1
        n += weights[code] > 0
    if n < 2:
        return n, 0, has_missing, 0.0
    codes, pairs = categories_of(table, weights, rules, n)
    has_missing = pairs.missing >= 0
    test_every_pair(pairs, rules, n)
    n_groups = merge_exhaustively(pairs, rules, n) if rules.is_exhaustive else merge_while_alike(pairs, rules, n)
    if n_groups > 1:
        n_groups = give_enough_weight(pairs, rules, n_groups)
    if n_groups < 2:
        return n, n_groups, has_missing, 0.0
    statistic, between, within = test_of_groups(pairs, rules, n_groups)
    for branch in range(n_groups):
        for v in range(n):
            if pairs.label[v] == pairs.places[branch]:
                branch_of[codes[v]] = branch
    return n, n_groups, has_missing, log10_p(statistic, between, within)


@compiled
def categories_of(table, weights, rules, n):
    """The codes that have weight, and what the rows of each sum up to."""
    width, codes = table.shape[1], np.empty(n, np.int64)
    sums, category_weights = np.empty((n, width)), np.empty(n)
    label, places = np.empty(n, np.int64), np.empty(n, np.int64)
    v = 0
    for code in range(len(weights)):
        if weights[code] > 0:
            codes[v], category_weights[v], label[v], places[v] = code, weights[code], v, v
            for k in range(width):
                sums[v, k] = table[code, k]
            v += 1
    missing = n - 1 if codes[n - 1] == rules.missing_code else -1
    statistic, degrees, least = np.empty((n, n)), np.empty((n, n)), np.empty(n)
    pair, class_weights = np.empty((2, width)), np.empty(width)
    group_sums = sums.copy()
    return codes, Pairs(
        sums, category_weights, label, places, group_sums, statistic, degrees, least, pair, class_weights, missing
    )


@compiled
def merge_while_alike(pairs, rules, n):
    """`merging.merged_while_alike`: how many groups are left, or DOUBT."""
    n_groups, n_before = n, 0
    classes, before = n_present(pairs), np.empty((n + 1 if rules.divides else 0, n), np.int64)
    space = space_for(n if rules.divides else 1, pairs.sums.shape[1])
    part, statistics = np.empty(n, np.bool_), np.empty(most_divisions(n) if rules.divides else 0)
    if rules.divides:
        before, n_before = remembered(before, n_before, pairs.label)
    while n_groups > 1:
        a, b, is_doubtful = most_similar(pairs, rules, n_groups, ANY, classes)
        log = log_of(pairs, rules, pairs.places[a], pairs.places[b])
        if is_doubtful or is_close(log, rules.log10_alpha_merge):
            return DOUBT
        if log <= rules.log10_alpha_merge:
            break
        n_groups = merge(pairs, rules, n_groups, a, b)
        if not rules.divides:
            continue
        before, n_before = remembered(before, n_before, pairs.label)
        found, is_doubtful = best_division(pairs, rules, pairs.places[a], space, statistics, part)
        if is_doubtful:
            return DOUBT
        if found and not is_among(before, n_before, pairs.label, part):
            n_groups = divide(pairs, rules, n_groups, a, part)
            before, n_before = remembered(before, n_before, pairs.label)
    return n_groups


@compiled
def merge_exhaustively(pairs, rules, n):
    """`merging.merged_exhaustively`: how many groups the best step has, or DOUBT."""
    n_groups, n_steps, classes = n, n - 1, n_present(pairs)
    ones, others = np.empty(n, np.int64), np.empty(n, np.int64)
    logs, statistics = np.empty(n_steps), np.empty(n_steps)
    for step in range(n_steps):
        if step > 0:
            a, b, is_doubtful = most_similar(pairs, rules, n_groups, ANY, classes)
            if is_doubtful:
                return DOUBT
            ones[step], others[step] = pairs.places[a], pairs.places[b]
            n_groups = merge(pairs, rules, n_groups, a, b)
        statistics[step], between, within = test_of_groups(pairs, rules, n_groups)
        logs[step] = log10_p(statistics[step], between, within)
    best, is_doubtful = most_significant(logs, statistics, n_steps)
    if is_doubtful:
        return DOUBT
    return go_back(pairs, rules, ones, others, best) if best < n_steps - 1 else n_groups


@compiled
def go_back(pairs, rules, ones, others, n_steps):
    """Make the first steps again, and nothing else; how many groups that leaves."""
    n = len(pairs.label)
    for v in range(n):
        pairs.label[v] = v
    for step in range(1, n_steps + 1):
        relabel(pairs.label, others[step], ones[step])
    n_groups = 0
    for v in range(n):
        if pairs.label[v] == v:
            pairs.places[n_groups] = v
            n_groups += 1
            add_up(pairs, v)
    test_every_pair(pairs, rules, n_groups)
    return n_groups


@compiled
def give_enough_weight(pairs, rules, n_groups):
    """`merging.with_enough_weight`: how many groups are left, or DOUBT."""
    classes = n_present(pairs)
    while n_groups > 1:
        lightest, least = 0, inf
        for a in range(n_groups):
            weight = 0.0
            for v in range(len(pairs.label)):
                if pairs.label[v] == pairs.places[a]:
                    weight += pairs.weights[v]
            if weight < least:
                lightest, least = a, weight
        if least >= rules.min_weight - TIE:
            break
        a, b, is_doubtful = most_similar(pairs, rules, n_groups, lightest, classes)
        if is_doubtful:
            return DOUBT
        n_groups = merge(pairs, rules, n_groups, a, b)
    return n_groups


# Groups


@compiled
def merge(pairs, rules, n_groups, a, b):
    """Make one group of the a-th and the b-th; how many are left."""
    gone = pairs.places[b]
    relabel(pairs.label, gone, pairs.places[a])
    for c in range(b, n_groups - 1):
        pairs.places[c] = pairs.places[c + 1]
    add_up(pairs, pairs.places[a])
    if rules.has_order:
        test_pairs_of(pairs, rules, n_groups - 1, a)
        renew_least(pairs, rules, n_groups - 1)
    else:
        test_all_with(pairs, rules, n_groups - 1, a, gone)
    return n_groups - 1


@compiled
def divide(pairs, rules, n_groups, a, part):
    """Make a group of those that are marked in the a-th, its first category not among them; how many there are."""
    place, new = pairs.places[a], -1
    for v in range(len(pairs.label)):
        if pairs.label[v] == place and part[v]:
            new = v if new < 0 else new
            pairs.label[v] = new
    b = n_groups
    while pairs.places[b - 1] > new:
        pairs.places[b] = pairs.places[b - 1]
        b -= 1
    pairs.places[b] = new
    add_up(pairs, place)
    add_up(pairs, new)
    test_pairs_of(pairs, rules, n_groups + 1, a)
    test_pairs_of(pairs, rules, n_groups + 1, b)
    renew_least(pairs, rules, n_groups + 1)
    return n_groups + 1


@compiled
def relabel(label, place, into):
    """Give the categories of one group to another."""
    for v in range(len(label)):
        if label[v] == place:
            label[v] = into


@compiled
def add_up(pairs, place):
    """The sums of a group, in the order of its categories."""
    group_sums = pairs.group_sums[place]
    for k in range(len(group_sums)):
        group_sums[k] = 0.0
    for v in range(len(pairs.label)):
        if pairs.label[v] == place:
            for k in range(len(group_sums)):
                group_sums[k] += pairs.sums[v, k]


@compiled
def remembered(before, n_before, label):
    """The groups, added to those that were there before."""
    before = longer_rows(before, n_before, n_before + 1)
    for v in range(len(label)):
        before[n_before, v] = label[v]
    return before, n_before + 1


@compiled
def is_among(before, n_before, label, part):
    """Whether the groups, once those that are marked are one of their own, were there before."""
    new = 0
    while not part[new]:
        new += 1
    for i in range(n_before):
        v = 0
        while v < len(label) and before[i, v] == (new if part[v] else label[v]):
            v += 1
        if v == len(label):
            return True
    return False


# Pairs


@compiled
def after(b, n_groups, has_order):
    """Which group may be merged with an earlier one after the b-th: with an order the last, which may be missing."""
    return max(b + 1, n_groups - 1) if has_order else b + 1


@compiled
def may_be_merged(pairs, rules, a, b):
    """Whether the groups are neighbours or one of them is missing, where there is an order."""
    return not rules.has_order or b == a + 1 or pairs.places[b] == pairs.missing


@compiled
def test_every_pair(pairs, rules, n_groups):
    """Test all pairs that may be merged."""
    for a in range(n_groups):
        b = a + 1
        while b < n_groups:
            if may_be_merged(pairs, rules, a, b):
                test_pair(pairs, rules, pairs.places[a], pairs.places[b])
            b = after(b, n_groups, rules.has_order)
    renew_least(pairs, rules, n_groups)


@compiled
def test_pairs_of(pairs, rules, n_groups, changed):
    """Test a group with all that it may be merged with; their least statistics are to be renewed."""
    for other in range(n_groups):
        a, b = min(changed, other), max(changed, other)
        if a < b and may_be_merged(pairs, rules, a, b):
            test_pair(pairs, rules, pairs.places[a], pairs.places[b])


@compiled
def test_all_with(pairs, rules, n_groups, changed, gone):
    """Test a group with all others, which have no order, once the group in another place was merged into it.

    A least statistic is looked for anew only where it may have been with one of the two.
    """
    place, least = pairs.places[changed], pairs.least
    for a in range(n_groups):
        i = pairs.places[a]
        was_least = i < gone and pairs.statistic[i, gone] <= least[i]
        if i < place:
            was_least |= pairs.statistic[i, place] <= least[i]
            test_pair(pairs, rules, i, place)
            least[i] = min(least[i], pairs.statistic[i, place])
        elif i > place:
            test_pair(pairs, rules, place, i)
        if was_least:
            least[i] = least_of(pairs, rules, n_groups, a)
    least[place] = least_of(pairs, rules, n_groups, changed)


@compiled
def renew_least(pairs, rules, n_groups):
    """The least statistics of all groups."""
    for a in range(n_groups):
        pairs.least[pairs.places[a]] = least_of(pairs, rules, n_groups, a)


@compiled
def least_of(pairs, rules, n_groups, a):
    """The least statistic of a group with those after it that it may be merged with; infinite where there is none."""
    least, i, b = inf, pairs.places[a], a + 1
    while b < n_groups:
        if may_be_merged(pairs, rules, a, b):
            least = min(least, pairs.statistic[i, pairs.places[b]])
        b = after(b, n_groups, rules.has_order)
    return least


@compiled
def test_pair(pairs, rules, i, j):
    """Test the groups in two places."""
    for k in range(pairs.pair.shape[1]):
        pairs.pair[0, k], pairs.pair[1, k] = pairs.group_sums[i, k], pairs.group_sums[j, k]
    statistic, between, within = test_of(rules.test, pairs.pair, pairs.class_weights)
    pairs.statistic[i, j], pairs.degrees[i, j] = statistic, within if rules.test == VARIANCE else between


@compiled
def test_of_groups(pairs, rules, n_groups):
    """The test of all groups."""
    table = np.empty((n_groups, pairs.sums.shape[1]))
    for a in range(n_groups):
        for k in range(table.shape[1]):
            table[a, k] = pairs.group_sums[pairs.places[a], k]
    return test_of(rules.test, table, pairs.class_weights)


@compiled
def log_of(pairs, rules, i, j):
    """The logarithm of p of a pair."""
    return log_of_test(rules, pairs.statistic[i, j], kindness_of(pairs, rules, i, j))


@compiled
def log_of_test(rules, statistic, kindness):
    """The same of a test."""
    if rules.test == VARIANCE:
        return log10_p(statistic, 1.0, -kindness)
    return log10_p(statistic, kindness, 0.0)


@compiled
def kindness_of(pairs, rules, i, j):
    """What p rises with: the degrees of chi-squared, and as those within the groups of F get fewer."""
    return -pairs.degrees[i, j] if rules.test == VARIANCE else pairs.degrees[i, j]


@compiled
def n_present(pairs):
    """How many classes have weight."""
    n = 0
    for k in range(pairs.sums.shape[1]):
        total = 0.0
        for v in range(pairs.sums.shape[0]):
            total += pairs.sums[v, k]
        n += total > 0
    return n


# The pair that differs least


@compiled
def most_similar(pairs, rules, n_groups, of, n_classes):
    """`merging.Pairs.most_similar`, of one group if told: the pair, and whether rounding may have chosen it."""
    smallest, _ = next_unbeaten(pairs, rules, n_groups, of, -inf)
    a, b, _ = first_probable(pairs, rules, n_groups, of, just_above(smallest), -inf)
    degrees = pairs.degrees[pairs.places[a], pairs.places[b]]
    if rules.test != VARIANCE and not 0 < degrees < n_classes - 1:  # no p is larger
        return a, b, False
    return most_probable(pairs, rules, n_groups, of)


@compiled
def most_probable(pairs, rules, n_groups, of):
    """`merging.most_probable`: the pair of largest p, and whether rounding may have chosen it.

    Pairs that no other beats are visited by rising statistic, while one as kind as the kindest could still win.
    """
    statistics, logs, n = np.empty(8), np.empty(8), 0
    kindest, largest = most_kindness(pairs, rules, n_groups), -inf
    statistic, kindness = next_unbeaten(pairs, rules, n_groups, of, -inf)
    while statistic < inf and log_of_test(rules, statistic, kindest) >= largest - 2 * SAME_LOG10_P:
        statistics, logs = longer_list(statistics, n, n + 1), longer_list(logs, n, n + 1)
        statistics[n], logs[n] = statistic, log_of_test(rules, statistic, kindness)
        largest = max(largest, logs[n])
        n += 1
        statistic, kindness = next_unbeaten(pairs, rules, n_groups, of, kindness)
    least, first, is_doubtful = largest - SAME_LOG10_P, n, False
    for i in range(n - 1, -1, -1):
        is_doubtful |= is_close(logs[i], least)
        first = i if logs[i] >= least else first
    a, b, is_unsure = first_probable(pairs, rules, n_groups, of, just_above(statistics[first]), least)
    return a, b, is_doubtful or is_unsure


@compiled
def most_kindness(pairs, rules, n_groups):
    """What no pair is kinder than: all classes, or the two lightest groups."""
    if rules.test != VARIANCE:
        return pairs.sums.shape[1] - 1.0
    lightest, second = inf, inf
    for a in range(n_groups):
        weight = pairs.group_sums[pairs.places[a], 0]
        second = min(second, max(weight, lightest))
        lightest = min(lightest, weight)
    return -max((lightest + second) * (1.0 - TIE) - 2.0, 0.0)


@compiled
def next_unbeaten(pairs, rules, n_groups, of, kinder_than):
    """The smallest statistic of pairs that are kinder, with the largest kindness; infinite where there is none."""
    smallest, kindest = inf, kinder_than
    for a in range(n_groups):
        i, b = pairs.places[a], a + 1
        while b < n_groups and pairs.least[i] <= smallest:
            if may_be_merged(pairs, rules, a, b) and (of == ANY or of == a or of == b):
                statistic, kindness = pairs.statistic[i, pairs.places[b]], kindness_of(pairs, rules, i, pairs.places[b])
                if kindness > kinder_than and statistic <= smallest:
                    kindest = max(kindest, kindness) if statistic == smallest else kindness
                    smallest = statistic
            b = after(b, n_groups, rules.has_order)
    return smallest, kindest


@compiled
def first_probable(pairs, rules, n_groups, of, limit, least):
    """The first pair with a statistic up to a limit and at least such a log p, and whether that is in doubt."""
    is_doubtful = False
    for a in range(n_groups):
        i, b = pairs.places[a], a + 1
        while b < n_groups and pairs.least[i] <= limit:
            if may_be_merged(pairs, rules, a, b) and (of == ANY or of == a or of == b):
                if pairs.statistic[i, pairs.places[b]] <= limit:
                    if least == -inf:
                        return a, b, is_doubtful
                    log = log_of(pairs, rules, i, pairs.places[b])
                    is_doubtful |= is_close(log, least)
                    if log >= least:
                        return a, b, is_doubtful
            b = after(b, n_groups, rules.has_order)
    return 0, 0, True
