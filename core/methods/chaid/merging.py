"""CHAID's groups: categories whose target distributions do not differ significantly are merged.

The pair of groups that differ least is merged while its p is above alpha_merge. A merged group of three or more
categories is split in two again if its best two-way split has a p of at most alpha_split. Finally, groups that are too
light are merged with the group they differ from least. Kass 1980, as IBM documents it; the exhaustive variant, which
merges down to two groups and keeps the best of all steps, is Biggs, de Ville and Suen 1991.

Categories are numbered in declared order; missing, if it is a category, comes last. Ordered categories may be merged
only with their neighbours; missing may be merged with any.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import comb, factorial

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.logarithms import log10
from core.arithmetic.sums import in_row_order
from core.arithmetic.ties import TIE
from core.criteria.significance import (
    SAME_LOG10_P,
    Significance,
    Statistics,
    Test,
    log10_p,
    most_significant,
    significance,
)
from core.splits.categorical import EXHAUSTIVE_LEVELS, all_groupings, ordered, splitting_directions, with_earliest
from core.splits.numeric import both_sides
from core.tables.target import Task

NOTHING = 1e-18  # a statistic up to this differs from 0 by rounding only
PAIRS_AT_ONCE = 50_000  # pairs tested in one batch, to limit memory
MOST_ORDERS = 11  # orders of its categories whose cuts are tried when a large group is split

Group = tuple[int, ...]  # categories, ascending
Groups = list[Group]  # ascending by first category


@dataclass(frozen=True)
class Categories:
    """The categories that rows of a node have; `sums[v]` and `weights[v]` are those of category v."""

    sums: FloatArray
    weights: FloatArray
    task: Task
    has_order: bool
    has_missing: bool

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def missing(self) -> int:
        """The number of the category for missing values; -1 if there is none."""
        return len(self) - 1 if self.has_missing else -1

    def of(self, groups: Sequence[Group]) -> FloatArray:
        """`[group, :]`: the sums of each group, added up in the order of its categories."""
        return np.stack([in_row_order(self.sums[list(group)]) for group in groups])

    def weight_of(self, group: Group) -> float:
        return float(in_row_order(self.weights[list(group)]))


@dataclass(frozen=True, slots=True)
class Merging:
    """How to merge; without alpha_merge merging is exhaustive, and without alpha_split no group is split again."""

    test: Test
    alpha_merge: float | None
    alpha_split: float | None
    min_weight: float
    bonferroni: bool


@dataclass(frozen=True, slots=True)
class Merged:
    """The groups found, at least two, and the significance of their difference.

    `log10_adjusted_p` includes Bonferroni's correction for the number of ways to form the groups, if that is used.
    """

    groups: tuple[Group, ...]
    significance: Significance
    log10_adjusted_p: float


def merged(categories: Categories, how: Merging) -> Merged | None:
    """Merge categories into groups; None if only one group is left."""
    merge = merged_exhaustively if how.alpha_merge is None else merged_while_alike
    groups = with_enough_weight(merge(categories, how), categories, how)
    return assessed(groups, categories, how) if len(groups) > 1 else None


def assessed(groups: Sequence[Group], categories: Categories, how: Merging) -> Merged:
    """Test two or more groups against each other."""
    found = significance(how.test(categories.of(groups)))
    ways = log10_ways(categories, len(groups), exhaustive=how.alpha_merge is None) if how.bonferroni else 0.0
    return Merged(tuple(groups), found, min(0.0, found.log10_p_value + ways))


def merged_while_alike(categories: Categories, how: Merging) -> Groups:
    """Merge the pair of largest p while that is above alpha_merge; split merged groups again that differ within.

    The last two groups may be merged too. A split that would lead back to an earlier set of groups is not made, so the
    loop ends.
    """
    assert how.alpha_merge is not None
    pairs = Pairs(categories, how.test)
    before = {frozenset(pairs.groups)}
    while len(pairs) > 1:
        pair = pairs.most_similar()
        if pairs.log10_p(pair) <= log10(how.alpha_merge):
            break
        group = pairs.merge(pair)
        if how.alpha_split is None:
            continue
        before.add(frozenset(pairs.groups))
        parts = best_two_way_split(group, categories, how) if len(group) > 2 else None
        if parts is not None and (divided := frozenset(pairs.groups) - {group} | set(parts)) not in before:
            pairs.split_group(parts)
            before.add(divided)
    return pairs.groups


def merged_exhaustively(categories: Categories, how: Merging) -> Groups:
    """Merge the pair of largest p until two groups are left, and return the groups of the step of smallest p.

    On a tie the step of larger statistic wins, then the earlier one.
    """
    pairs = Pairs(categories, how.test)
    steps = [pairs.groups]
    while len(pairs) > 2:
        pairs.merge(pairs.most_similar())
        steps.append(pairs.groups)
    found = [significance(how.test(categories.of(step))) for step in steps]
    logs, statistics = (np.array(each) for each in zip(*((f.log10_p_value, f.statistic) for f in found), strict=True))
    return steps[most_significant(logs, statistics)]


def with_enough_weight(groups: Groups, categories: Categories, how: Merging) -> Groups:
    """Merge the lightest group with the one it differs from least until each has the minimum weight."""
    enough = how.min_weight - TIE
    if all(categories.weight_of(group) >= enough for group in groups):
        return groups
    pairs = Pairs(categories, how.test, groups)
    while len(pairs) > 1 and categories.weight_of(lightest := min(pairs.groups, key=categories.weight_of)) < enough:
        pairs.merge(pairs.most_similar(of=lightest))
    return pairs.groups


class Pairs:
    """Groups with the tests of all pairs that may be merged; only pairs of changed groups are tested again.

    A group's position is its first category, so positions are in declared order. The statistic of a pair that may not
    be merged is infinite.
    """

    def __init__(self, categories: Categories, test: Test, groups: Sequence[Group] | None = None) -> None:
        self._categories, self._test = categories, test
        groups = [(v,) for v in range(len(categories))] if groups is None else groups
        self._at: dict[int, Group] = {group[0]: group for group in groups}
        self._sums = np.zeros_like(categories.sums)
        whole = test(in_row_order(categories.sums)[None, None])
        self._statistic = np.full((len(categories), len(categories)), np.inf)
        self._degrees = np.zeros((*self._statistic.shape, whole.degrees_of_freedom.shape[-1]))
        # An upper bound for the pairs of a class target; for numbers the degrees differ from pair to pair.
        is_of_classes = categories.task is Task.CLASSIFICATION
        self._most_degrees = np.count_nonzero(categories.sums.sum(axis=0)) - 1 if is_of_classes else np.inf
        self._change(list(self._at))

    @property
    def groups(self) -> Groups:
        """The groups, ascending by first category."""
        return [self._at[position] for position in sorted(self._at)]

    def __len__(self) -> int:
        return len(self._at)

    def most_similar(self, of: Group | None = None) -> tuple[int, int]:
        """The pair of largest p, with group `of` if given; ties by smaller statistic, then by declared order."""
        statistic = self._statistic
        if of is not None:
            is_of = np.arange(len(statistic)) == of[0]
            statistic = np.where(is_of[:, None] | is_of, statistic, np.inf)
        position = divmod(int(np.argmax(statistic <= just_above(float(statistic.min())))), len(statistic))
        if 0 < self._degrees[position][0] < self._most_degrees:  # otherwise no pair has a larger p
            first, second = np.nonzero(np.isfinite(statistic))
            at = most_probable(Statistics(statistic[first, second], self._degrees[first, second]))
            position = int(first[at]), int(second[at])
        return position

    def log10_p(self, pair: tuple[int, int]) -> float:
        return log10_p(float(self._statistic[pair]), self._degrees[pair].tolist())

    def merge(self, pair: tuple[int, int]) -> Group:
        """Merge a pair into one group, and return it."""
        one, other = pair
        group = self._at[one] = tuple(sorted(self._at[one] + self._at.pop(other)))
        self._forget(other)
        self._change([one])
        return group

    def split_group(self, parts: tuple[Group, Group]) -> None:
        """Replace a group by its two parts."""
        self._at |= {part[0]: part for part in parts}
        self._change([part[0] for part in parts])

    def _change(self, positions: list[int]) -> None:
        """Test again all pairs of the groups at these positions."""
        self._sums[positions] = self._categories.of([self._at[position] for position in positions])
        for position in positions:
            self._forget(position)
        every = np.array(sorted(self._at))
        partners = [self._partners(position, every) for position in positions]
        ones, others = np.repeat(positions, [len(each) for each in partners]), np.concatenate(partners)
        first, second = np.minimum(ones, others), np.maximum(ones, others)
        for start in range(0, len(first), PAIRS_AT_ONCE):
            pairs = first[start : start + PAIRS_AT_ONCE], second[start : start + PAIRS_AT_ONCE]
            found = self._test(np.stack([self._sums[position] for position in pairs], axis=1))
            self._statistic[pairs], self._degrees[pairs] = found

    def _forget(self, position: int) -> None:
        self._statistic[position], self._statistic[:, position] = np.inf, np.inf

    def _partners(self, position: int, every: RowArray) -> RowArray:
        """The groups with which one may be merged: with an order its neighbours and missing, otherwise all."""
        missing, at = self._categories.missing, int(np.searchsorted(every, position))
        if not self._categories.has_order or position == missing:
            return np.delete(every, at)
        is_near = np.zeros(len(every), dtype=np.bool_)
        is_near[max(at - 1, 0) : at + 2] = True
        is_near[at], is_near[every == missing] = False, True
        partners: RowArray = every[is_near]
        return partners


def most_probable(tests: Statistics) -> int:
    """The index of the largest p; of those equal within 1e-9 in log10, the first of smallest statistic.

    p falls with the statistic. It rises with the degrees of freedom of chi-squared, and falls with those within the
    groups of F. So p is computed only for tests that no other test beats in both the statistic and the degrees.
    """
    statistic, degrees = tests
    kindness = degrees[:, 0] if degrees.shape[1] == 1 else -degrees[:, 1]
    front = unbeaten(statistic, kindness)
    logs = np.array([log10_p(float(statistic[position]), degrees[position].tolist()) for position in front])
    largest = logs.max()
    smallest = statistic[front[logs >= largest - SAME_LOG10_P]].min()
    for position in np.flatnonzero(statistic <= just_above(float(smallest))).tolist():
        if log10_p(float(statistic[position]), degrees[position].tolist()) >= largest - SAME_LOG10_P:
            return position
    raise AssertionError("the smallest statistic is near itself")


def just_above(statistic: float) -> float:
    """The largest statistic that differs from this one by rounding only; near 0 even small differences change p."""
    return statistic + TIE * statistic + NOTHING


def unbeaten(statistic: FloatArray, kindness: FloatArray) -> RowArray:
    """The indices of tests for which no other has both a smaller statistic and at least the same kindness.

    At equal statistic, p rises with the kindness.
    """
    smallest = int(np.argmin(statistic))
    if kindness[smallest] == kindness.max():
        return np.array([smallest])
    order = np.lexsort((-kindness, statistic))
    kindest_before = np.append(-np.inf, np.maximum.accumulate(kindness[order])[:-1])
    unbeaten_positions: RowArray = order[kindness[order] > kindest_before]
    return unbeaten_positions


def best_two_way_split(group: Group, categories: Categories, how: Merging) -> tuple[Group, Group] | None:
    """The two-way split of a group with the smallest p, if that is at most alpha_split; on a tie the first.

    All two-way splits of a group have the same degrees of freedom, so the largest statistic has the smallest p.
    """
    assert how.alpha_split is not None
    masks, sides = two_way_splits(group, categories)
    statistic, degrees = how.test(sides)
    largest = float(statistic.max())
    best = int(np.argmax(statistic >= largest - TIE * max(1.0, largest)))
    if log10_p(float(statistic[best]), degrees[0].tolist()) > log10(how.alpha_split):
        return None
    mask, members = with_earliest(masks[best]), np.array(group)
    one, other = (tuple(members[part].tolist()) for part in (mask, ~mask))
    return one, other


def two_way_splits(group: Group, categories: Categories) -> tuple[BoolArray, FloatArray]:
    """`[split, category]` and `[split, side, :]`: the two-way splits of a group to try, and the sums of both sides.

    Ordered categories: every cut, with missing on either side or alone. Unordered: all two-way splits of up to 12
    categories. For more, or if the best split is sure to be a cut of one order (two classes, or a number), the cuts of
    some orders: by class share or mean, and along the direction in which the categories differ most.
    """
    n, members = len(group), list(group)
    sums = categories.sums[members]
    if not categories.has_order:
        directions = splitting_directions(sums, categories.weights[members], categories.task)
        if len(directions) > 1 and n <= EXHAUSTIVE_LEVELS:
            return all_groupings(n), sums_of_sides(all_groupings(n), sums)
        orders = [ordered(direction) for direction in directions[:MOST_ORDERS]]
        sides = np.concatenate([both_sides(sums[order], np.arange(n - 1)) for order in orders])
        return np.concatenate([cuts_of_order(order) for order in orders]), sides
    if group[-1] != categories.missing:
        return cuts_of_order(np.arange(n)), both_sides(sums, np.arange(n - 1))
    return two_way_splits_with_missing(sums)


def two_way_splits_with_missing(sums: FloatArray) -> tuple[BoolArray, FloatArray]:
    """The two-way splits of ordered categories and missing, the last: missing before the cut, after it, or alone."""
    known, missing, n = sums[:-1], sums[-1], len(sums)
    cuts, sides = cuts_of_order(np.arange(n - 1)), both_sides(known, np.arange(n - 2))
    masks = [np.hstack([cuts, np.full((len(cuts), 1), side)]) for side in (True, False)]
    with_missing = [sides + np.stack([missing * side, missing * (not side)]) for side in (True, False)]
    alone = np.stack([in_row_order(known), missing])
    return np.concatenate([*masks, np.arange(n)[None] < n - 1]), np.concatenate([*with_missing, alone[None]])


def sums_of_sides(masks: BoolArray, sums: FloatArray) -> FloatArray:
    """`[split, side, :]`: the sums of both sides of each split, added up in the order of the categories."""
    is_in = np.stack([masks.T, ~masks.T], axis=-1)[..., None]
    return in_row_order(np.where(is_in, sums[:, None, None, :], 0.0))


def cuts_of_order(order: RowArray) -> BoolArray:
    """`[cut, position]`: which positions come before each cut of an order."""
    return np.argsort(order)[None, :] <= np.arange(len(order) - 1)[:, None]


def log10_ways(categories: Categories, n_groups: int, *, exhaustive: bool) -> float:
    """The logarithm of Bonferroni's multiplier: the number of ways to form `n_groups` groups of the categories."""
    count = multiplier(has_order=categories.has_order, has_missing=categories.has_missing, exhaustive=exhaustive)
    return log10(count(len(categories), n_groups))


def multiplier(*, has_order: bool, has_missing: bool, exhaustive: bool) -> Callable[[int, int], int]:
    """The function that counts the ways to form r groups of c categories."""
    if not has_order:
        return pairs_without_order if exhaustive else ways_without_order
    if has_missing:
        return pairs_with_floating if exhaustive else ways_with_floating
    return pairs_with_order if exhaustive else ways_with_order


@lru_cache(maxsize=4096)
def ways_without_order(c: int, r: int) -> int:
    """sum_{i < r} (-1)^i (r - i)^c / (i! (r - i)!), a Stirling number of the second kind."""
    return sum((-1) ** i * comb(r, i) * (r - i) ** c for i in range(r)) // factorial(r)


def ways_with_order(c: int, r: int) -> int:
    """C(c - 1, r - 1)."""
    return comb(c - 1, r - 1)


def ways_with_floating(c: int, r: int) -> int:
    """C(c - 2, r - 2) + r C(c - 2, r - 1), where missing is one of the c categories and in one of the r groups."""
    return comb(c - 2, r - 2) + r * comb(c - 2, r - 1)


def pairs_without_order(c: int, _: int) -> int:
    """sum_{k = 2..c} C(k, 2) = c (c^2 - 1) / 6: the pairs that exhaustive merging compares in all its steps."""
    return c * (c * c - 1) // 6


def pairs_with_order(c: int, _: int) -> int:
    """sum_{k = 2..c} (k - 1) = c (c - 1) / 2: the pairs of neighbours that exhaustive merging compares."""
    return c * (c - 1) // 2


def pairs_with_floating(c: int, _: int) -> int:
    """sum_{k = 2..c} (2k - 3) = (c - 1)^2: the pairs compared of ordered categories and missing, which may join any."""
    return (c - 1) ** 2
