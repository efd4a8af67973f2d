"""CHAID's merging as the text says it: slow, with scipy's tests, every pair tested anew at every step."""

import math
from itertools import combinations

import numpy as np
from scipy import stats


def table_test(table, kind):
    """p and statistic of rows of class weights."""
    table = np.array(table, dtype=float)
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    if min(table.shape) < 2:
        return 1.0, 0.0
    lambda_ = {"pearson": "pearson", "likelihood_ratio": "log-likelihood"}[kind]
    found = stats.chi2_contingency(table, correction=False, lambda_=lambda_)
    return float(found.pvalue), float(found.statistic)


def numbers_test(groups):
    """p and statistic of lists of numbers."""
    n, r = sum(map(len, groups)), len(groups)
    if r < 2 or n <= r:
        return 1.0, 0.0
    means = [sum(group) / len(group) for group in groups]
    mean = sum(map(sum, groups)) / n
    between = sum(len(g) * (m - mean) ** 2 for g, m in zip(groups, means, strict=True))
    within = sum((y - m) ** 2 for g, m in zip(groups, means, strict=True) for y in g)
    if between < 1e-18 * (between + within + 1):
        return 1.0, 0.0
    statistic = between / (r - 1) / (max(within, 1e-12 * (between + within)) / (n - r))
    return float(stats.f.sf(statistic, r - 1, n - r)), statistic


class Reference:
    """`joint(groups)` gives what the test takes for groups of categories."""

    def __init__(self, categories, test, weight, *, has_order, missing=None):
        self.categories, self.test, self.weight = categories, test, weight
        self.has_order, self.missing = has_order, missing

    def may_merge(self, groups, i, j):
        if not self.has_order or self.missing is None:
            return not self.has_order or j == i + 1
        alone = (self.missing,)
        if alone in (groups[i], groups[j]):
            return True
        runs = [group for group in groups if group != alone]
        return runs.index(groups[j]) == runs.index(groups[i]) + 1

    def most_similar(self, groups, having=None):
        """The pair of largest p: within 1e-9 of log10 the smaller statistic, then the first."""
        found = []
        for i, j in combinations(range(len(groups)), 2):
            if self.may_merge(groups, i, j) and (having is None or having in (i, j)):
                p, statistic = self.test([groups[i], groups[j]])
                found.append((math.log10(max(p, 1e-300)), statistic, i, j))
        largest = max(log for log, *_ in found)
        near = [one for one in found if one[0] >= largest - 1e-9]
        smallest = min(one[1] for one in near)
        _, _, i, j = next(one for one in near if one[1] <= smallest + 1e-12 * max(1, smallest))
        return i, j

    def joined(self, groups, i, j):
        others = [group for position, group in enumerate(groups) if position not in (i, j)]
        return sorted([*others, tuple(sorted(groups[i] + groups[j]))])

    def divisions(self, group):
        for size in range(1, len(group)):
            for part in combinations(group, size):
                rest = tuple(v for v in group if v not in part)
                if part[0] == group[0] and (not self.has_order or self.are_runs(part, rest, group)):
                    yield part, rest

    def are_runs(self, part, rest, group):
        known = [v for v in group if v != self.missing]
        for side in (part, rest):
            positions = [known.index(v) for v in side if v != self.missing]
            if positions and positions != list(range(positions[0], positions[-1] + 1)):
                return False
        return True

    def merged(self, alpha_merge, alpha_split, min_weight):
        groups = [(v,) for v in self.categories]
        before = {tuple(groups)}
        while len(groups) > 1:
            i, j = self.most_similar(groups)
            if self.test([groups[i], groups[j]])[0] <= alpha_merge:
                break
            group = tuple(sorted(groups[i] + groups[j]))
            groups = self.joined(groups, i, j)
            before.add(tuple(groups))
            if alpha_split is not None and len(group) >= 3:
                best = max((self.test(list(parts))[1], parts) for parts in self.divisions(group))
                if self.test(list(best[1]))[0] <= alpha_split:
                    divided = sorted([*(one for one in groups if one != group), *best[1]])
                    if tuple(divided) not in before:
                        groups = divided
                        before.add(tuple(groups))
        return self.large_enough(groups, min_weight)

    def exhaustively(self, min_weight):
        groups = [(v,) for v in self.categories]
        steps = [groups]
        while len(groups) > 2:
            groups = self.joined(groups, *self.most_similar(groups))
            steps.append(groups)
        found = [self.test(step) for step in steps]
        logs = [math.log10(max(p, 1e-300)) for p, _ in found]
        near = [position for position in range(len(steps)) if logs[position] <= min(logs) + 1e-9]
        largest = max(found[position][1] for position in near)
        best = next(position for position in near if found[position][1] >= largest - 1e-12 * max(1, largest))
        return self.large_enough(steps[best], min_weight)

    def large_enough(self, groups, min_weight):
        while len(groups) > 1:
            weights = [sum(self.weight[v] for v in group) for group in groups]
            lightest = weights.index(min(weights))
            if weights[lightest] >= min_weight:
                break
            groups = self.joined(groups, *self.most_similar(groups, having=lightest))
        return groups


def reference_of_table(table, kind, *, has_order=False, has_missing=False):
    table = np.array(table, dtype=float)
    categories = list(range(len(table)))

    def test(groups):
        return table_test([table[list(group)].sum(axis=0) for group in groups], kind)

    missing = categories[-1] if has_missing else None
    return Reference(categories, test, table.sum(axis=1), has_order=has_order, missing=missing)


def reference_of_numbers(numbers, *, has_order=False, has_missing=False):
    """`numbers[v]`: the target's values in category v."""
    categories = list(range(len(numbers)))

    def test(groups):
        return numbers_test([[y for v in group for y in numbers[v]] for group in groups])

    missing = categories[-1] if has_missing else None
    return Reference(categories, test, list(map(len, numbers)), has_order=has_order, missing=missing)
