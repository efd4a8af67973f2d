"""The ledger: every decision about cutting, in order, with what it was based on.

A *step* is the tree after a decision; steps count from 1, and step 0 is the full tree. The tree as of any step is a
view of the full tree.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np

from core.table import RowArray
from core.tree import Tree, TreeView

NEVER = np.iinfo(np.int64).max


class Decision(StrEnum):
    """What was decided about a node."""

    CUT = "cut"
    KEPT = "kept"


class Method(StrEnum):
    """Which way of pruning looked at the node."""

    VALIDATE_SPLITS = "validate_splits"
    REDUCED_ERROR = "reduced_error"
    COLLAPSE = "collapse"


@dataclass(frozen=True, slots=True)
class PruningStep:
    """One decision: the measure as things stood (`before`) and with the other choice made (`after`), and its evidence.

    `leaves` and `depth` are those of the tree after the decision.
    """

    number: int
    node: int
    method: Method
    decision: Decision
    before: float
    after: float
    alpha: float | None
    evidence: Mapping[str, float]
    leaves: int
    depth: int


@dataclass(frozen=True)
class History:
    """All steps of a tree; the last one is the tree that is served unless another is asked for."""

    tree: Tree
    steps: tuple[PruningStep, ...] = ()

    @property
    def selected(self) -> int:
        """The step that is served unless another is asked for."""
        return len(self.steps)

    @cached_property
    def cut_at(self) -> RowArray:
        """The step that cut each node; NEVER where none did."""
        cut_at = np.full(len(self.tree), NEVER, dtype=np.int64)
        for step in self.steps:
            if step.decision is Decision.CUT:
                cut_at[step.node] = step.number
        return cut_at

    def view(self, step: int) -> TreeView:
        """The tree as of a step."""
        return TreeView(self.tree, (self.tree.size == 1) | (self.cut_at <= step))

    @cached_property
    def leaves_by_step(self) -> list[int]:
        """How many leaves the tree has as of steps 0, 1, …"""
        return [int(np.count_nonzero(self.tree.size == 1)), *(step.leaves for step in self.steps)]

    def largest_with_leaves(self, n_leaves: int) -> int | None:
        """The first step of the largest tree with at most so many leaves; None when all have more."""
        fitting = [(-leaves, step) for step, leaves in enumerate(self.leaves_by_step) if leaves <= n_leaves]
        return min(fitting)[1] if fitting else None


class Ledger:
    """A history being written: keeps count of the leaves and the depth that are left."""

    def __init__(self, tree: Tree, steps: tuple[PruningStep, ...] = ()) -> None:
        self.tree = tree
        self.steps = list(steps)
        self._is_leaf = History(tree, steps).view(len(steps)).is_leaf.copy()
        view = TreeView(tree, self._is_leaf.copy())
        self._leaves_at_depth = Counter(int(tree.depth[leaf]) for leaf in view.leaves)

    @property
    def view(self) -> TreeView:
        """The tree as it stands."""
        return TreeView(self.tree, self._is_leaf.copy())

    def record(
        self,
        node: int,
        method: Method,
        decision: Decision,
        *,
        before: float,
        after: float,
        evidence: Mapping[str, float],
        alpha: float | None = None,
    ) -> None:
        """Append a decision and, when it is a cut, carry it out."""
        if decision is Decision.CUT:
            self._cut(node)
        leaves, depth = self._leaves_at_depth.total(), max(self._leaves_at_depth)
        number = len(self.steps) + 1
        self.steps.append(PruningStep(number, node, method, decision, before, after, alpha, evidence, leaves, depth))

    def finished(self) -> History:
        return History(self.tree, tuple(self.steps))

    def _cut(self, node: int) -> None:
        """Every leaf below is visited once in the whole pruning: it is gone afterwards."""
        waiting = [node]
        while waiting:
            below = waiting.pop()
            if not self._is_leaf[below]:
                waiting.extend(self.tree.children(below))
            else:
                depth = int(self.tree.depth[below])
                self._leaves_at_depth[depth] -= 1
                if not self._leaves_at_depth[depth]:
                    del self._leaves_at_depth[depth]
        self._is_leaf[node] = True
        self._leaves_at_depth[int(self.tree.depth[node])] += 1
