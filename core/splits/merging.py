"""CHAID's groups: categories that do not differ in what they say of the target are taken together.

The pair of groups that differ least is merged while its p is above alpha_merge. A group that was just made of three
categories or more is divided again where its best division has a p of at most alpha_split. Groups that are too small
then join the group they differ from least. Kass 1980, as IBM documents it; the exhaustive variant, which merges on to
two groups and takes the best of all steps, is Biggs, de Ville and Suen 1991.

Categories are numbered in declared order, missing last where it is one of them. Of categories with an order only
neighbours may be merged; missing may be merged with any.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import comb, factorial, log10

import numpy as np

from core.criteria.significance import (
    SAME_LOG10_P,
    Significance,
    Statistics,
    Test,
    log10_p,
    most_significant,
    significance,
)
from core.splits.categorical import EXHAUSTIVE_LEVELS, all_groupings, ordered, splitting_directions
from core.sums import in_row_order
from core.table import BoolArray, FloatArray, RowArray
from core.target import Task
from core.ties import TIE

PAIRS_AT_ONCE = 50_000  # are tested in a little memory

Group = tuple[int, ...]  # categories, ascending
Groups = list[Group]  # by their first categories, ascending


@dataclass(frozen=True)
class Categories:
    """The categories that rows of a node have; `sums[v]` and `weights[v]` belong to the v-th."""

    sums: FloatArray
    weights: FloatArray
    task: Task
    has_order: bool
    has_missing: bool

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def missing(self) -> int:
        """The number of the category that stands for missing; -1 where there is none."""
        return len(self) - 1 if self.has_missing else -1

    def of(self, groups: Sequence[Group]) -> FloatArray:
        """`[group, :]`: the sums of each group, added up in the order of the categories."""
        return np.stack([in_row_order(self.sums[list(group)]) for group in groups])

    def weight_of(self, group: Group) -> float:
        return float(in_row_order(self.weights[list(group)]))


@dataclass(frozen=True, slots=True)
class Merging:
    """How to merge: exhaustively where there is no alpha_merge; nothing is divided again without alpha_split."""

    test: Test
    alpha_merge: float | None
    alpha_split: float | None
    min_weight: float
    bonferroni: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """The groups found, at least two, and how surprising their difference is.

    `log10_adjusted_p` also counts in how many ways groups could have been made.
    """

    groups: tuple[Group, ...]
    significance: Significance
    log10_adjusted_p: float


def merged(categories: Categories, how: Merging) -> Merged | None:
    """The groups of some categories; None when only one is left."""
    merge = merged_exhaustively if how.alpha_merge is None else merged_while_alike
    groups = with_enough_weight(merge(categories, how), categories, how)
    if len(groups) < 2:
        return None
    found = significance(how.test(categories.of(groups)))
    ways = log10_ways(categories, len(groups), exhaustive=how.alpha_merge is None) if how.bonferroni else 0.0
    return Merged(tuple(groups), found, min(0.0, found.log10_p_value + ways))


def merged_while_alike(categories: Categories, how: Merging) -> Groups:
    """Merge the pair of largest p while it is above alpha_merge, also the last two; divide again what differs within.

    A division that would lead back to groups that were there before is not made, so this ends.
    """
    assert how.alpha_merge is not None
    pairs = Pairs(categories, how.test)
    before = {tuple(pairs.groups)}
    while len(pairs.groups) > 1:
        pair = pairs.most_similar()
        if pairs.log10_p(pair) <= log10(how.alpha_merge):
            break
        group = pairs.merge(pair)
        before.add(tuple(pairs.groups))
        parts = None if how.alpha_split is None or len(group) < 3 else best_division(group, categories, how)
        if parts is not None:
            divided = sorted([*(other for other in pairs.groups if other != group), *parts])
            if tuple(divided) not in before:
                before.add(tuple(divided))
                pairs.divide(divided)
    return pairs.groups


def merged_exhaustively(categories: Categories, how: Merging) -> Groups:
    """Merge the pair of largest p until two groups are left, and go back to the step of smallest p.

    On a tie the larger statistic, then the earlier step.
    """
    pairs = Pairs(categories, how.test)
    steps = [list(pairs.groups)]
    while len(pairs.groups) > 2:
        pairs.merge(pairs.most_similar())
        steps.append(list(pairs.groups))
    found = [significance(how.test(categories.of(step))) for step in steps]
    logs, statistics = (np.array(each) for each in zip(*((f.log10_p_value, f.statistic) for f in found), strict=True))
    return steps[most_significant(logs, statistics)]


def with_enough_weight(groups: Groups, categories: Categories, how: Merging) -> Groups:
    """The groups once the lightest has joined the one it differs from least, until each holds enough."""
    while len(groups) > 1:
        weights = np.array([categories.weight_of(group) for group in groups])
        lightest = int(np.argmin(weights))
        if weights[lightest] >= how.min_weight - TIE:
            break
        pairs = Pairs(categories, how.test, groups)
        pairs.merge(pairs.most_similar(of=lightest))
        groups = pairs.groups
    return groups


class Pairs:
    """Groups with the tests of all pairs that may be merged; a pair is tested once, until one of its groups changes."""

    def __init__(self, categories: Categories, test: Test, groups: Groups | None = None) -> None:
        self.categories, self._test = categories, test
        self.groups: Groups = [(v,) for v in range(len(categories))] if groups is None else list(groups)
        self._sums = categories.of(self.groups)
        self._statistic = np.full((len(self.groups), len(self.groups)), np.nan)
        self._degrees = np.empty((*self._statistic.shape, test(self._sums).degrees_of_freedom.shape[-1]))

    def most_similar(self, of: int | None = None) -> tuple[int, int]:
        """The pair of largest p, of one group if told; then of smaller statistic, then first in declared order."""
        first, second = self._allowed()
        if of is not None:
            has_it = (first == of) | (second == of)
            first, second = first[has_it], second[has_it]
        unknown = np.isnan(self._statistic[first, second])
        for start in range(0, np.count_nonzero(unknown), PAIRS_AT_ONCE):
            ones, others = (places[unknown][start : start + PAIRS_AT_ONCE] for places in (first, second))
            found = self._test(np.stack([self._sums[ones], self._sums[others]], axis=1))
            self._statistic[ones, others], self._degrees[ones, others] = found
        place = most_probable(Statistics(self._statistic[first, second], self._degrees[first, second]))
        return int(first[place]), int(second[place])

    def log10_p(self, pair: tuple[int, int]) -> float:
        return log10_p(float(self._statistic[pair]), self._degrees[pair].tolist())

    def merge(self, pair: tuple[int, int]) -> Group:
        """Make one group of two: it stands in the place of the first."""
        one, other = pair
        group = tuple(sorted(self.groups[one] + self.groups[other]))
        left = np.delete(np.arange(len(self.groups)), other)
        self.groups = [group if place == one else self.groups[place] for place in left]
        self._keep(left, [one])
        return group

    def divide(self, divided: Groups) -> None:
        """Put a group's two parts in its place: `divided` are all groups then."""
        new = [place for place, one in enumerate(divided) if one not in self.groups]
        old = [0 if place in new else self.groups.index(one) for place, one in enumerate(divided)]
        self.groups = divided
        self._keep(np.array(old), new)

    def _keep(self, places: RowArray, changed: list[int]) -> None:
        """Keep what is known of the groups that were in these places, but of those that changed."""
        kept = np.ix_(places, places)
        self._sums, self._statistic, self._degrees = self._sums[places], self._statistic[kept], self._degrees[kept]
        self._statistic[changed], self._statistic[:, changed] = np.nan, np.nan
        self._sums[changed] = self.categories.of([self.groups[place] for place in changed])

    def _allowed(self) -> tuple[RowArray, RowArray]:
        """The pairs that may be merged, in declared order."""
        n = len(self.groups)
        if not self.categories.has_order:
            return np.triu_indices(n, k=1)
        pairs = set(pairwise(range(n)))
        if self.groups[-1] == (self.categories.missing,):
            pairs |= {(place, n - 1) for place in range(n - 1)}
        first, second = zip(*sorted(pairs), strict=True)
        return np.array(first), np.array(second)


def most_probable(tests: Statistics) -> int:
    """The place of the largest p; equal within 1e-9 of log10: of the smaller statistic, then the first.

    Only tests that no other beats by statistic and by degrees of freedom need to be asked for their p: it falls with
    the statistic, and rises with the degrees of chi-squared and as those within the groups of F get fewer.
    """
    statistic, degrees = tests
    kindness = degrees[:, 0] if degrees.shape[1] == 1 else -degrees[:, 1]
    front = unbeaten(statistic, kindness)
    logs = np.array([log10_p(float(statistic[place]), degrees[place].tolist()) for place in front])
    largest = logs.max()
    smallest = statistic[front[logs >= largest - SAME_LOG10_P]].min()
    for place in np.flatnonzero(statistic <= smallest + TIE * max(1.0, smallest)).tolist():
        if log10_p(float(statistic[place]), degrees[place].tolist()) >= largest - SAME_LOG10_P:
            return place
    raise AssertionError("the smallest statistic is near itself")


def unbeaten(statistic: FloatArray, kindness: FloatArray) -> RowArray:
    """The places of which no other has both a smaller statistic and at least the same kindness."""
    smallest = int(np.argmin(statistic))
    if kindness[smallest] == kindness.max():
        return np.array([smallest])
    order = np.lexsort((-kindness, statistic))
    kindest_before = np.append(-np.inf, np.maximum.accumulate(kindness[order])[:-1])
    unbeaten_places: RowArray = order[kindness[order] > kindest_before]
    return unbeaten_places


def best_division(group: Group, categories: Categories, how: Merging) -> tuple[Group, Group] | None:
    """The division of a group in two of smallest p, if that is at most alpha_split; on a tie the first.

    All divisions have the same degrees of freedom, so the largest statistic has the smallest p.
    """
    assert how.alpha_split is not None
    masks, members = divisions(group, categories), np.array(group)
    sums = categories.sums[members]
    sides = np.stack([masks, ~masks], axis=1).astype(np.float64) @ sums
    tests = how.test(sides)
    largest = float(tests.statistic.max())
    best = int(np.argmax(tests.statistic >= largest - TIE * max(1.0, largest)))
    if log10_p(float(tests.statistic[best]), tests.degrees_of_freedom[best].tolist()) > log10(how.alpha_split):
        return None
    one, other = (tuple(members[mask].tolist()) for mask in (masks[best], ~masks[best]))
    return one, other


def divisions(group: Group, categories: Categories) -> BoolArray:
    """`[division, category]`: ways to divide a group in two; True for the part with its first category.

    With an order, every cut, and missing on either side or alone. Without, every division of up to 12 categories; of
    more, or where two classes or one number make sure that the best is among them, the cuts of orders by class shares
    or means.
    """
    n = len(group)
    if not categories.has_order:
        members = list(group)
        directions = splitting_directions(categories.sums[members], categories.weights[members], categories.task)
        if len(directions) > 1 and n <= EXHAUSTIVE_LEVELS:
            return all_groupings(n)
        masks = np.concatenate([cuts_of_order(ordered(direction)) for direction in directions])
        return np.where(masks[:, :1], masks, ~masks)
    if group[-1] != categories.missing:
        return cuts_of_order(np.arange(n))
    cuts = cuts_of_order(np.arange(n - 1))
    left, right = (np.hstack([cuts, np.full((len(cuts), 1), side)]) for side in (True, False))
    return np.concatenate([left, right, np.arange(n)[None] < n - 1])


def cuts_of_order(order: RowArray) -> BoolArray:
    """`[cut, place]`: which places come before each cut of an order."""
    return np.argsort(order)[None, :] <= np.arange(len(order) - 1)[:, None]


def log10_ways(categories: Categories, n_groups: int, *, exhaustive: bool) -> float:
    """The logarithm of Bonferroni's multiplier: in how many ways so many groups can be made of the categories."""
    count = _multiplier(categories, exhaustive=exhaustive)
    return log10(count(len(categories), n_groups))


def _multiplier(categories: Categories, *, exhaustive: bool) -> Callable[[int, int], int]:
    if not categories.has_order:
        return pairs_without_order if exhaustive else ways_without_order
    if categories.has_missing:
        return pairs_with_floating if exhaustive else ways_with_floating
    return pairs_with_order if exhaustive else ways_with_order


@lru_cache(maxsize=4096)
def ways_without_order(c: int, r: int) -> int:
    """sum_{i < r} (-1)^i (r - i)^c / (i! (r - i)!), a Stirling number of the second kind."""
    return sum((-1) ** i * comb(r, i) * (r - i) ** c for i in range(r)) // factorial(r)


def ways_with_order(c: int, r: int) -> int:
    """C(c - 1, r - 1)"""
    return comb(c - 1, r - 1)


def ways_with_floating(c: int, r: int) -> int:
    """C(c - 2, r - 2) + r C(c - 2, r - 1), missing being one of the c categories and in one of the r groups."""
    return comb(c - 2, r - 2) + r * comb(c - 2, r - 1)


def pairs_without_order(c: int, _: int) -> int:
    """sum_{k = 2..c} C(k, 2) = c (c^2 - 1) / 6: the pairs that exhaustive merging looked at, step by step."""
    return c * (c * c - 1) // 6


def pairs_with_order(c: int, _: int) -> int:
    """sum_{k = 2..c} (k - 1) = c (c - 1) / 2: the same for neighbours."""
    return c * (c - 1) // 2


def pairs_with_floating(c: int, _: int) -> int:
    """sum_{k = 2..c} (2k - 3) = (c - 1)^2: the same for neighbours, and missing with any."""
    return (c - 1) ** 2
