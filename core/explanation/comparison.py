"""Where two routes of one record part: how two trees, or two missing-value policies, answer it differently.

Both routes are followed from the roots as long as their tests are the same. They part where one answers and the other
goes on, where their tests differ, where a missing value is treated differently, or where only the training samples in
the leaves differ.
"""

from collections import deque
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

import numpy as np

from core.arithmetic.ties import TIE
from core.prediction.record_walk import Reached
from core.prediction.routing import MissingPolicy
from core.splits.split import Split
from core.tree.conditions import Condition, branch_condition, merged, path_conditions
from core.tree.model import Model
from core.tree.tree import TreeView

Name = TypeVar("Name", bound=Hashable)


class PartingKind(StrEnum):
    """Why two routes part."""

    CUT = "cut"  # one was pruned where the other goes on
    TEST = "test"  # the tests differ, or one was never grown further
    MISSING = "missing"  # a missing value is treated differently
    SHARES = "shares"  # a missing value is treated alike, but the branches have other weights
    FIGURES = "figures"  # all tests are the same, but the training samples of the leaves differ
    COSTS = "costs"  # the figures are the same, but misclassification costs differ


@dataclass(frozen=True, slots=True)
class Parting:
    """A pair of nodes where two routes part; `weight` is the part of the record that arrives there."""

    kind: PartingKind
    first: int
    second: int
    weight: float


@dataclass(frozen=True)
class Route:
    """How a record was routed down a tree; `fills` says whether its missing values were filled in first."""

    model: Model
    view: TreeView
    step: int
    policy: MissingPolicy
    fills: bool
    reached: Reached

    @property
    def treatment(self) -> tuple[MissingPolicy, bool]:
        """How missing values are treated."""
        return self.policy, self.fills

    @cached_property
    def weights(self) -> Mapping[int, float]:
        """The record's weight at every node that it visited."""
        weights: dict[int, float] = {}
        for end, weight in self.reached:
            node = end
            while node >= 0:
                weights[node] = weights.get(node, 0.0) + weight
                node = int(self.view.tree.parent[node])
        return weights

    @cached_property
    def ends(self) -> frozenset[int]:
        """The nodes that answer."""
        return frozenset(node for node, _ in self.reached)

    @property
    def unit(self) -> float:
        """The smallest scale of answers: 1 for probabilities, 0 for means."""
        return 1.0 if self.model.classes else 0.0

    def split(self, node: int) -> Split:
        """The split of a node."""
        return self.view.tree.split(node)

    def conditions(self, node: int) -> list[Condition]:
        """The conditions on the path to a node, merged by attribute."""
        return merged(path_conditions(self.view.tree, node, self.model.attributes))

    def taken(self, node: int) -> Condition | None:
        """The condition of the branch that most of the record took; None if it goes no further."""
        below = [child for child in self.children(node) if child in self.weights] if node not in self.ends else []
        if not below:
            return None
        child, split = max(below, key=lambda one: self.weights[one]), self.split(node)
        return branch_condition(split, int(self.view.tree.branch[child]), self.model.attributes[split.column])

    def children(self, node: int) -> list[int]:
        """The children of a node."""
        return self.view.tree.children(node)

    def cut_at(self, node: int) -> int | None:
        """The pruning step that made a node a leaf; None if it was grown as one."""
        step = int(self.model.history.cut_at[node])
        return step if step <= self.step else None

    def answer(self, node: int) -> dict[str, float]:
        """The answer of a node, by class or target."""
        return dict(zip(self.model.classes or self.model.targets, self.view.tree.answers[node].tolist(), strict=True))


def parting(first: Route, second: Route) -> Parting:
    """The parting of largest weight of a record that is answered differently; on a tie the highest and leftmost."""
    found = list(partings(first, second))
    if not found:
        return Parting(PartingKind.COSTS, 0, 0, 1.0)
    return max(found, key=lambda one: one.weight)


def partings(first: Route, second: Route) -> Iterator[Parting]:
    """Every pair of nodes where two routes part, breadth first."""
    waiting = deque([(0, 0)])
    while waiting:
        one, other = waiting.popleft()
        kind = _kind(first, one, second, other)
        if kind is not None:
            yield Parting(kind, one, other, max(first.weights[one], second.weights[other]))
        elif one not in first.ends:
            pairs = zip(first.children(one), second.children(other), strict=True)
            waiting.extend((a, b) for a, b in pairs if a in first.weights and b in second.weights)


def _kind(first: Route, one: int, second: Route, other: int) -> PartingKind | None:
    """Why the routes part at a pair of nodes; None if they go on together, or give the same answer."""
    if one in first.ends and other in second.ends:
        is_same = same_numbers(first.answer(one), second.answer(other), unit=first.unit)
        return None if is_same else PartingKind.FIGURES
    if one in first.ends:
        return _early_end(first, one, second, other)
    if other in second.ends:
        return _early_end(second, other, first, one)
    if not _ask_the_same(first, first.split(one), second, second.split(other)):
        return PartingKind.TEST
    if same_numbers(_shares(first, one), _shares(second, other), unit=1.0):
        return None
    return PartingKind.MISSING if first.treatment != second.treatment else PartingKind.SHARES


def _early_end(ended: Route, node: int, going: Route, other: int) -> PartingKind:
    """Why one route ends at a node where the other goes on."""
    is_leaf, was_cut = ended.view.is_leaf[node], ended.cut_at(node) is not None
    if is_leaf and not was_cut:
        return PartingKind.TEST  # it was never grown further
    if not _ask_the_same(ended, ended.split(node), going, going.split(other)):
        return PartingKind.TEST
    return PartingKind.CUT if is_leaf else PartingKind.MISSING


def _ask_the_same(first: Route, one: Split, second: Route, other: Split) -> bool:
    """Whether two tests are the same, even if the two models number their columns differently."""
    mine, theirs = (
        [(route.model.attributes[column], *told) for column, *told in _asked(split)]
        for route, split in ((first, one), (second, other))
    )
    same_outcomes = (one.kind, one.branch_of, one.cuts) == (other.kind, other.branch_of, other.cuts)
    return mine == theirs and same_outcomes and np.array_equal(one.threshold, other.threshold, equal_nan=True)


def _asked(split: Split) -> list[tuple[int, float, int]]:
    """The columns that a test reads, each with its weight in a sum, and its category code or -1."""
    return [(term.column, term.weight, term.code) for term in split.terms] or [(split.column, 1.0, -1)]


def _shares(route: Route, node: int) -> dict[int, float]:
    """The shares in which the record goes down the branches of a node."""
    arrived = ((branch, route.weights.get(child, 0.0)) for branch, child in enumerate(route.children(node)))
    return {branch: weight / route.weights[node] for branch, weight in arrived if weight > 0}


def same_numbers(one: Mapping[Name, float], other: Mapping[Name, float], *, unit: float) -> bool:
    """Whether the same names have the same numbers up to rounding; a missing name counts as 0."""
    pairs = ((one.get(name, 0.0), other.get(name, 0.0)) for name in {*one, *other})
    return all(abs(mine - theirs) <= TIE * max(abs(mine), abs(theirs), unit) for mine, theirs in pairs)
