"""`merging.Pairs`, compiled: merges and splits groups, and tests again the pairs that this changes.

`pairs` is a `Pairs` of `methods.chaid.kernels.state`, `rules` a `Rules` of `fast_merging`.
"""

from math import inf

from core.compiler.compile import compiled
from core.criteria.kernels.significance import VARIANCE, statistic_of


@compiled
def merge(pairs, rules, n_groups, a, b):
    """Merge the a-th and the b-th group; returns the number of groups left."""
    gone = pairs.positions[b]
    relabel(pairs.label, gone, pairs.positions[a])
    for c in range(b, n_groups - 1):
        pairs.positions[c] = pairs.positions[c + 1]
    add_up(pairs, pairs.positions[a])
    if rules.has_order:
        test_pairs_of(pairs, rules, n_groups - 1, a)
        renew_least(pairs, rules, n_groups - 1)
    else:
        test_all_with(pairs, rules, n_groups - 1, a, gone)
    return n_groups - 1


@compiled
def split_group(pairs, rules, n_groups, a, part):
    """Make the flagged categories of the a-th group a new group; returns the number of groups.

    The first category of the a-th group is not flagged.
    """
    position, new = pairs.positions[a], -1
    for v in range(len(pairs.label)):
        if pairs.label[v] == position and part[v]:
            new = v if new < 0 else new
            pairs.label[v] = new
    b = n_groups
    while pairs.positions[b - 1] > new:
        pairs.positions[b] = pairs.positions[b - 1]
        b -= 1
    pairs.positions[b] = new
    add_up(pairs, position)
    add_up(pairs, new)
    test_pairs_of(pairs, rules, n_groups + 1, a)
    test_pairs_of(pairs, rules, n_groups + 1, b)
    renew_least(pairs, rules, n_groups + 1)
    return n_groups + 1


@compiled
def relabel(label, position, into):
    """Move all categories of one group to another."""
    for v in range(len(label)):
        if label[v] == position:
            label[v] = into


@compiled
def add_up(pairs, position):
    """Compute the sums of a group, in the order of its categories."""
    group_sums = pairs.group_sums[position]
    for k in range(len(group_sums)):
        group_sums[k] = 0.0
    for v in range(len(pairs.label)):
        if pairs.label[v] == position:
            for k in range(len(group_sums)):
                group_sums[k] += pairs.sums[v, k]


@compiled
def after(b, n_groups, has_order):
    """The next index after b that may be merged with an earlier group: with an order the last, which may be missing."""
    return max(b + 1, n_groups - 1) if has_order else b + 1


@compiled
def may_be_merged(pairs, rules, a, b):
    """Whether the groups may be merged; with an order, only neighbours, or any group with missing."""
    return not rules.has_order or b == a + 1 or pairs.positions[b] == pairs.missing


@compiled
def test_every_pair(pairs, rules, n_groups):
    """Test all pairs that may be merged."""
    for a in range(n_groups):
        b = a + 1
        while b < n_groups:
            if may_be_merged(pairs, rules, a, b):
                test_pair(pairs, rules, pairs.positions[a], pairs.positions[b])
            b = after(b, n_groups, rules.has_order)
    renew_least(pairs, rules, n_groups)


@compiled
def test_pairs_of(pairs, rules, n_groups, changed):
    """Test all pairs of one group; the caller updates `least`."""
    for other in range(n_groups):
        a, b = min(changed, other), max(changed, other)
        if a < b and may_be_merged(pairs, rules, a, b):
            test_pair(pairs, rules, pairs.positions[a], pairs.positions[b])


@compiled
def test_all_with(pairs, rules, n_groups, changed, gone):
    """Test all pairs of a group, unordered, after the group at position `gone` was merged into it.

    `least` is computed again only for groups that may have reached it with one of the two.
    """
    position, least = pairs.positions[changed], pairs.least
    for a in range(n_groups):
        i = pairs.positions[a]
        was_least = i < gone and pairs.statistic[i, gone] <= least[i]
        if i < position:
            was_least |= pairs.statistic[i, position] <= least[i]
            test_pair(pairs, rules, i, position)
            least[i] = min(least[i], pairs.statistic[i, position])
        elif i > position:
            test_pair(pairs, rules, position, i)
        if was_least:
            least[i] = least_of(pairs, rules, n_groups, a)
    least[position] = least_of(pairs, rules, n_groups, changed)


@compiled
def renew_least(pairs, rules, n_groups):
    """Compute `least` of all groups."""
    for a in range(n_groups):
        pairs.least[pairs.positions[a]] = least_of(pairs, rules, n_groups, a)


@compiled
def least_of(pairs, rules, n_groups, a):
    """The smallest statistic of a group with a later one that it may be merged with; infinite if there is none."""
    least, i, b = inf, pairs.positions[a], a + 1
    while b < n_groups:
        if may_be_merged(pairs, rules, a, b):
            least = min(least, pairs.statistic[i, pairs.positions[b]])
        b = after(b, n_groups, rules.has_order)
    return least


@compiled
def test_pair(pairs, rules, i, j):
    """Test the groups at two positions."""
    for k in range(pairs.pair.shape[1]):
        pairs.pair[0, k], pairs.pair[1, k] = pairs.group_sums[i, k], pairs.group_sums[j, k]
    statistic, between, within = statistic_of(rules.test, pairs.pair, pairs.class_weights)
    pairs.statistic[i, j], pairs.degrees[i, j] = statistic, within if rules.test == VARIANCE else between
