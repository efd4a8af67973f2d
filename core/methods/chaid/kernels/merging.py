"""`merging.merged`, compiled: the groups of the categories that a node has of one column.

All sums have the definition's bits, but the last bits of p may differ. A decision that rests on those bits alone is
reported as a doubt, and the column is left to the definition.
"""

from math import inf

import numpy as np

from core.arithmetic.ties import TIE
from core.compiler.compile import compiled, making_arrays
from core.compiler.growing_arrays import longer_rows
from core.criteria.kernels.significance import is_close, log10_p, most_significant, statistic_of
from core.methods.chaid.kernels.group_splits import best_two_way_split, most_splits
from core.methods.chaid.kernels.merging_choice import ANY, log_of, most_similar, n_present
from core.methods.chaid.kernels.merging_pairs import add_up, merge, relabel, split_group, test_every_pair
from core.methods.chaid.kernels.state import Pairs
from core.splits.kernels.categorical import scratch_for

DOUBT = -1  # instead of a number of groups


@compiled
def merged(table, weights, rules, branch_of):
    """`merging.merged`: writes the branch of each code to `branch_of`, -1 where no row has it.

    Returns the number of categories, the number of groups (below two or DOUBT: there are no groups to use), whether
    missing is a category, and log10 of p, not adjusted. `table[code, :]` and `weights[code]` end with a row for missing
    if missing may be a category.
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
            if pairs.label[v] == pairs.positions[branch]:
                branch_of[codes[v]] = branch
    return n, n_groups, has_missing, log10_p(statistic, between, within)


@making_arrays
def categories_of(table, weights, rules, n):
    """The codes that have weight, and a `Pairs` in which each is a group of its own."""
    width, codes = table.shape[1], np.empty(n, np.int64)
    sums, category_weights = np.empty((n, width)), np.empty(n)
    label, positions = np.empty(n, np.int64), np.empty(n, np.int64)
    v = 0
    for code in range(len(weights)):
        if weights[code] > 0:
            codes[v], category_weights[v], label[v], positions[v] = code, weights[code], v, v
            for k in range(width):
                sums[v, k] = table[code, k]
            v += 1
    missing = n - 1 if codes[n - 1] == rules.missing_code else -1
    statistic, degrees, least = np.empty((n, n)), np.empty((n, n)), np.empty(n)
    pair, class_weights = np.empty((2, width)), np.empty(width)
    group_sums = sums.copy()
    return codes, Pairs(
        sums, category_weights, label, positions, group_sums, statistic, degrees, least, pair, class_weights, missing
    )


@making_arrays
def merge_while_alike(pairs, rules, n):
    """`merging.merged_while_alike`: returns the number of groups left, or DOUBT."""
    n_groups, n_before = n, 0
    classes, before = n_present(pairs), np.empty((n + 1 if rules.divides else 0, n), np.int64)
    space = scratch_for(n if rules.divides else 1, pairs.sums.shape[1])
    part, statistics = np.empty(n, np.bool_), np.empty(most_splits(n) if rules.divides else 0)
    if rules.divides:
        before, n_before = remembered(before, n_before, pairs.label)
    while n_groups > 1:
        a, b, is_doubtful = most_similar(pairs, rules, n_groups, ANY, classes)
        log = log_of(pairs, rules, pairs.positions[a], pairs.positions[b])
        if is_doubtful or is_close(log, rules.log10_alpha_merge):
            return DOUBT
        if log <= rules.log10_alpha_merge:
            break
        n_groups = merge(pairs, rules, n_groups, a, b)
        if not rules.divides:
            continue
        before, n_before = remembered(before, n_before, pairs.label)
        found, is_doubtful = best_two_way_split(pairs, rules, pairs.positions[a], space, statistics, part)
        if is_doubtful:
            return DOUBT
        if found and not is_among(before, n_before, pairs.label, part):
            n_groups = split_group(pairs, rules, n_groups, a, part)
            before, n_before = remembered(before, n_before, pairs.label)
    return n_groups


@making_arrays
def merge_exhaustively(pairs, rules, n):
    """`merging.merged_exhaustively`: returns the number of groups of the best step, or DOUBT."""
    n_groups, n_steps, classes = n, n - 1, n_present(pairs)
    ones, others = np.empty(n, np.int64), np.empty(n, np.int64)
    logs, statistics = np.empty(n_steps), np.empty(n_steps)
    for step in range(n_steps):
        if step > 0:
            a, b, is_doubtful = most_similar(pairs, rules, n_groups, ANY, classes)
            if is_doubtful:
                return DOUBT
            ones[step], others[step] = pairs.positions[a], pairs.positions[b]
            n_groups = merge(pairs, rules, n_groups, a, b)
        statistics[step], between, within = test_of_groups(pairs, rules, n_groups)
        logs[step] = log10_p(statistics[step], between, within)
    best, is_doubtful = most_significant(logs, statistics, n_steps)
    if is_doubtful:
        return DOUBT
    return go_back(pairs, rules, ones, others, best) if best < n_steps - 1 else n_groups


@compiled
def go_back(pairs, rules, ones, others, n_steps):
    """Start again from single categories and repeat the first `n_steps` merges; returns the number of groups."""
    n = len(pairs.label)
    for v in range(n):
        pairs.label[v] = v
    for step in range(1, n_steps + 1):
        relabel(pairs.label, others[step], ones[step])
    n_groups = 0
    for v in range(n):
        if pairs.label[v] == v:
            pairs.positions[n_groups] = v
            n_groups += 1
            add_up(pairs, v)
    test_every_pair(pairs, rules, n_groups)
    return n_groups


@compiled
def give_enough_weight(pairs, rules, n_groups):
    """`merging.with_enough_weight`: returns the number of groups left, or DOUBT."""
    classes = n_present(pairs)
    while n_groups > 1:
        lightest, least = 0, inf
        for a in range(n_groups):
            weight = 0.0
            for v in range(len(pairs.label)):
                if pairs.label[v] == pairs.positions[a]:
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


@making_arrays
def test_of_groups(pairs, rules, n_groups):
    """The test of all groups against each other: the statistic and its degrees of freedom."""
    table = np.empty((n_groups, pairs.sums.shape[1]))
    for a in range(n_groups):
        for k in range(table.shape[1]):
            table[a, k] = pairs.group_sums[pairs.positions[a], k]
    return statistic_of(rules.test, table, pairs.class_weights)


@making_arrays
def remembered(before, n_before, label):
    """Append the current groups to the list of earlier ones; returns the list and its length."""
    before = longer_rows(before, n_before, n_before + 1)
    for v in range(len(label)):
        before[n_before, v] = label[v]
    return before, n_before + 1


@compiled
def is_among(before, n_before, label, part):
    """Whether splitting off the flagged categories as a group would lead back to an earlier set of groups."""
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
