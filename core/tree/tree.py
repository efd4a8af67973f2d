"""A finished tree: flat arrays, one entry per node.

Nodes are numbered depth first, left to right, so a subtree is a range of ids:

    node           0
                 / | \\
                1  4  5            size  6 3 1 1 1 1
               / \\                 the children of n: n+1, then on by each child's size, until n + size[n]
              2   3
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.ties import majorities
from core.criteria.impurity import shares
from core.criteria.misclassification import cheapest_classes
from core.missing.surrogates import Surrogate
from core.splits.split import Cuts, Split, SplitKind, Term
from core.tables.target import Task

LEAF = -1
SPLIT_KINDS = tuple(SplitKind)


@dataclass(frozen=True)
class RaisedBranch:
    """A child that replaced its parent, with all the parent's samples sent through it.

    The node keeps its number and takes the child's test; the child and its siblings are gone. `nodes` are the node and
    all those left below it, with their new figures.
    """

    node: int
    child: int
    nodes: RowArray
    weight: FloatArray
    share: FloatArray
    impurity: FloatArray
    values: FloatArray


@dataclass(frozen=True)
class Tree:
    """Every node as grown, before any pruning.

    column      the attribute tested (of a linear test the first one), -1 in a leaf
    kind        of the split, an index into SPLIT_KINDS
    threshold   NaN unless the split has one                branch_of   codes -> branch, rows of `branch_start`
    share       r_v: the part of the parent's known weight that came here; 1 at the root
    weight      of the samples here                         impurity    by the criterion
    gain, score of the chosen split, NaN in a leaf
    values      class weights (classification) or means (regression); `variances` empty or of each output
    cuts        by column, found before growth; empty when there are none
    costs       `[actual, predicted]` of wrong answers; None when all cost the same
    surrogates  of each node, best first; empty unless the tree was grown with surrogates
    terms       of the linear test of each node; empty unless the tree has such tests
    gone        flags of nodes that raised branches have replaced; None where none was raised
    """

    task: Task
    size: NDArray[np.int32]
    column: NDArray[np.int32]
    kind: NDArray[np.int8]
    threshold: FloatArray
    branch_start: NDArray[np.int64]
    branch_of: NDArray[np.int32]
    share: FloatArray
    weight: FloatArray
    impurity: FloatArray
    gain: FloatArray
    score: FloatArray
    values: FloatArray
    variances: FloatArray
    cuts: Cuts = ()
    surrogates: tuple[tuple[Surrogate, ...], ...] = ()
    costs: FloatArray | None = None
    gone: BoolArray | None = None
    terms: tuple[tuple[Term, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.size)

    @cached_property
    def depth(self) -> NDArray[np.int32]:
        """The depth of each node: the number of tests that lead to it."""
        return times_covered(self.size, self.there).astype(np.int32)

    @cached_property
    def there(self) -> RowArray:
        """The nodes that no raised branch has replaced."""
        return np.arange(len(self)) if self.gone is None else np.flatnonzero(~self.gone)

    @cached_property
    def parent(self) -> NDArray[np.int32]:
        """The parent of each node; -1 for the root. A node that is gone is its own parent."""
        return parents_of(self.size, self.gone)

    @cached_property
    def branch(self) -> NDArray[np.int32]:
        """Which of its parent's children the node is; 0 for the root."""
        branches = np.empty(len(self), dtype=np.int32)
        positions, parents = np.arange(len(self)), self.parent[self.by_parent]
        branches[self.by_parent] = positions - np.searchsorted(parents, parents)
        return branches

    @cached_property
    def by_parent(self) -> RowArray:
        """All nodes in the order of their parents, so that siblings are adjacent; the root comes first."""
        return np.argsort(self.parent, kind="stable")

    @cached_property
    def n_children(self) -> RowArray:
        """How many nodes are right below each node."""
        return np.bincount(self.parent[1:], minlength=len(self))

    def children(self, node: int) -> list[int]:
        """The nodes right below, in branch order."""
        start = self.children_start[node]
        return self.by_parent[start : start + self.n_children[node]].tolist()

    @cached_property
    def children_start(self) -> RowArray:
        """Where each node's children begin in `by_parent`."""
        return 1 + np.cumsum(self.n_children) - self.n_children

    def with_raised(self, branches: Iterable[RaisedBranch]) -> "Tree":
        """The tree with these branches raised, one after the other; the tree itself if there are none."""
        raised = tuple(branches)
        if not raised:
            return self
        figures = {name: getattr(self, name).copy() for name in ("weight", "share", "impurity", "values")}
        tested_by = np.arange(len(self))  # the node whose test a node has taken
        gone = np.zeros(len(self), dtype=np.bool_) if self.gone is None else self.gone.copy()
        for branch in raised:
            node, child = branch.node, branch.child
            tested_by[node] = tested_by[child]
            gone[node + 1 : child + 1] = True
            gone[child + self.size[child] : node + self.size[node]] = True
            for name, values in figures.items():
                values[branch.nodes] = getattr(branch, name)
        tests = {name: getattr(self, name)[tested_by] for name in ("column", "kind", "threshold", "gain", "score")}
        lengths = np.diff(self.branch_start)[tested_by]
        starts = np.append(0, np.cumsum(lengths))
        codes = np.arange(starts[-1]) + np.repeat(self.branch_start[tested_by] - starts[:-1], lengths)
        surrogates = tuple(self.surrogates[node] for node in tested_by) if self.surrogates else ()
        terms = tuple(self.terms[node] for node in tested_by) if self.terms else ()
        taken = {"branch_start": starts, "branch_of": self.branch_of[codes], "surrogates": surrogates, "gone": gone}
        return replace(self, **figures, **tests, **taken, terms=terms)

    def surrogates_of(self, node: int) -> tuple[Surrogate, ...]:
        """The surrogates for a node's split, best first."""
        return self.surrogates[node] if self.surrogates else ()

    @cached_property
    def has_linear_tests(self) -> bool:
        """Whether some node has a linear test."""
        return any(self.terms)

    def split(self, node: int) -> Split:
        """The test of an inner node."""
        if node not in self._splits:
            self._splits[node] = self._read_split(node)
        return self._splits[node]

    @cached_property
    def _splits(self) -> dict[int, Split]:
        return {}

    def _read_split(self, node: int) -> Split:
        start, end = self.branch_start[node], self.branch_start[node + 1]
        column, kind = int(self.column[node]), SPLIT_KINDS[self.kind[node]]
        return Split(
            column=column,
            kind=kind,
            n_branches=len(self.children(node)),
            threshold=float(self.threshold[node]),
            branch_of=tuple(int(branch) for branch in self.branch_of[start:end]),
            cuts=(self.cuts[column] or ()) if kind.has_cuts else (),
            terms=self.terms[node] if self.terms else (),
        )

    @cached_property
    def missing_branch(self) -> NDArray[np.int32]:
        """The branch of its own that a missing value takes at each node; -1 where it has none."""
        branches = np.full(len(self), -1, dtype=np.int32)
        branches[self._is_merged] = self.branch_of[self.branch_start[1:][self._is_merged] - 1]
        return branches

    @cached_property
    def _is_merged(self) -> BoolArray:
        return (self.kind >= 0) & np.array([kind.is_merged for kind in SPLIT_KINDS])[self.kind]

    def without_missing_branches(self) -> "Tree":
        """The tree without branches for missing values: they go down every branch by weight at every test."""
        if not self._is_merged.any():
            return self
        branch_of = self.branch_of.copy()
        branch_of[self.branch_start[1:][self._is_merged] - 1] = -1
        return replace(self, branch_of=branch_of)

    @property
    def takes_all(self) -> bool:
        """Whether every known value has a branch at every test."""
        n_of_missing = np.count_nonzero(self.missing_branch[self._is_merged] < 0)
        return bool(np.count_nonzero(self.branch_of < 0) == n_of_missing)

    @cached_property
    def answering(self) -> RowArray:
        """The node whose samples answer for each node: itself, or its parent where it received nothing."""
        answering = np.where(self.weight > 0, np.arange(len(self)), self.parent)
        return answering if self.gone is None else np.where(self.gone, 0, answering)  # nodes that are gone never answer

    @cached_property
    def answers(self) -> FloatArray:
        """What each node answers as a leaf: class shares, or means."""
        values = self.values[self.answering]
        return shares(values) if self.task is Task.CLASSIFICATION else values

    @cached_property
    def labels(self) -> RowArray:
        """The majority class of each node (with costs the cheapest), the parent's where it received nothing."""
        if self.costs is not None:
            return cheapest_classes(self.answers, self.costs)
        return majorities(self.values[self.answering])


@dataclass(frozen=True)
class TreeView:
    """The tree with some subtrees cut off: a view, not a copy. `is_leaf[n]` holds for leaves and for cut nodes."""

    tree: Tree
    is_leaf: BoolArray

    @cached_property
    def is_visible(self) -> BoolArray:
        """Which nodes are left: all but those below a cut, and those that a raised branch has replaced."""
        is_above = times_covered(self.tree.size, np.flatnonzero(self.is_leaf)) == 0
        return is_above if self.tree.gone is None else is_above & ~self.tree.gone

    @property
    def nodes(self) -> list[int]:
        """The ids of the nodes left, in order."""
        return np.flatnonzero(self.is_visible).tolist()

    @property
    def leaves(self) -> list[int]:
        """The ids of the leaves, left to right."""
        return np.flatnonzero(self.is_visible & self.is_leaf).tolist()

    @property
    def max_depth(self) -> int:
        return int(self.tree.depth[self.is_visible].max())


def full_view(tree: Tree) -> TreeView:
    """The tree as grown."""
    return TreeView(tree, tree.size == 1)


def times_covered(size: NDArray[np.int32], nodes: RowArray) -> RowArray:
    """How many of these nodes each node is below: a subtree is a range of ids, so ranges are counted."""
    begins = np.bincount(nodes + 1, minlength=len(size) + 1)
    ends = np.bincount(nodes + size[nodes], minlength=len(size) + 1)
    return np.cumsum(begins - ends)[: len(size)]


def parents_of(size: NDArray[np.int32], gone: BoolArray | None = None) -> NDArray[np.int32]:
    """The parent of each node; -1 for the root. A node that is gone is its own parent."""
    nodes = np.arange(len(size))
    there = nodes if gone is None else np.flatnonzero(~gone)
    depth = times_covered(size, there)
    # By depth, then by id: the parent is the last node one depth up that comes before its child.
    order = there[np.argsort(depth[there], kind="stable")]
    levels = depth * len(size)
    above = np.searchsorted((levels + nodes)[order], levels - len(size) + nodes) - 1
    parents = np.where(nodes == 0, -1, order[above])
    return (parents if gone is None else np.where(gone, nodes, parents)).astype(np.int32)
