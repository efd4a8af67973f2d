"""A forest laid out for walking down: all trees one after the other, each as `core.tree_layout` has it.

The places of a tree begin where its nodes do, and siblings stand side by side: branch v of the node at place p leads to
place first[p] + v, and a leaf leads to itself. Of leaves there is one number besides, that of their answer in a table:
leaves of a single class all have the same one, and in a tree grown to the end there are no others.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.criteria.impurity import shares
from core.ensembles.forest import AnyArray, Forest, weights_of
from core.ensembles.forest_shape import Shape
from core.splits.split import SplitKind
from core.table import FloatArray, RowArray
from core.target import Task
from core.tree import SPLIT_KINDS
from core.tree_layout import FOUND_BY, IN_FLIGHT, TEST, THRESHOLD

NodeArray = NDArray[np.integer[Any]]


class ForestNodes(NamedTuple):
    """What stands at each place. What only other tests than thresholds need is empty where there are no others.

    start       by tree: its first place; then how many there are       depth       by tree: the most tests of a path
    tests       threshold, first, and the column as its offset in a tile of values; the last column is all 0, for leaves
    share       r_v, as in the trees
    answer_of   of leaves: a row of `answers`, which are never -0.0     n_branches  0 in a leaf
    kind        how a branch is found, as in `core.tree_layout`         missing     the branch of a missing value, or -1
    lookup      at `lookup_start` and on: code -> branch
    cuts        from `cuts_start[c]` to `cuts_start[c + 1]`, c the entry of `cuts_of`
    """

    start: RowArray
    depth: RowArray
    tests: NDArray[np.void]
    share: FloatArray
    answer_of: NDArray[np.uint32]
    answers: FloatArray
    n_branches: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    missing: NDArray[np.int32]
    lookup_start: NDArray[np.int64]
    lookup: NDArray[np.int32]
    cuts_of: NDArray[np.uint32]
    cuts_start: RowArray
    cuts: FloatArray


class ForestLayout:
    """The places of a forest whose tests each ask for one attribute."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self.shape = forest, Shape(forest.start, forest.columns["size"])

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The columns that tests read; where tests are told by column, it is by their places here."""
        return tuple(np.unique(self.forest.columns["column"][~self.shape.is_leaf]).tolist())

    @property
    def order(self) -> NDArray[np.uint32]:
        """The node at each place; nodes of all trees are counted through."""
        return self.shape.by_parent

    @cached_property
    def only_thresholds(self) -> bool:
        """Whether all tests compare a value with a threshold."""
        kinds = self.forest.columns["kind"]
        return bool((kinds <= SPLIT_KINDS.index(SplitKind.THRESHOLD)).all())

    @cached_property
    def nodes(self) -> ForestNodes:
        """All places."""
        answer_of, answers = self._leaf_answers()
        return ForestNodes(
            start=self.forest.start.astype(np.int64),
            depth=self.shape.depths,
            tests=self._tests(),
            share=self._shares()[self.order],
            answer_of=answer_of,
            answers=answers,
            **self._other_tests(),
        )

    def answers(self, nodes: NodeArray) -> FloatArray:
        """What nodes answer as leaves: class shares, or means; those of their parents where they received nothing."""
        behind = np.where(self.weights(nodes) > 0, nodes, self.shape.parent[nodes])
        values = self.forest.columns["values"][behind].astype(np.float64)
        return shares(values) if self.forest.task is Task.CLASSIFICATION else values

    def weights(self, nodes: NodeArray) -> FloatArray:
        """The training weight of nodes."""
        weight = self.forest.columns.get("weight")
        if weight is None:
            return weights_of(self.forest.columns["values"][nodes].astype(np.float64))
        return weight[nodes].astype(np.float64)

    def _tests(self) -> NDArray[np.void]:
        columns, order = self.forest.columns, self.order
        is_leaf = self.shape.is_leaf[order]
        tests = np.empty(len(order), dtype=TEST)
        is_threshold = columns["kind"][order] == SPLIT_KINDS.index(SplitKind.THRESHOLD)
        tests["threshold"] = np.where(is_threshold, columns["threshold"][order], np.nan)
        tests["first"] = np.where(is_leaf, np.arange(len(order)), self.shape.first_child[order])
        places = np.searchsorted(np.array(self.tested, dtype=np.int64), columns["column"][order])
        tests["offset"] = np.where(is_leaf, len(self.tested), places) * IN_FLIGHT
        return tests

    def _shares(self) -> FloatArray:
        """r_v of every node."""
        share = self.forest.columns.get("share")
        if share is not None:
            return share.astype(np.float64)
        weight = self.weights(np.arange(self.forest.n_nodes))
        with np.errstate(invalid="ignore", divide="ignore"):
            share = weight / weight[self.shape.parent]
        share[self.forest.start[:-1]] = 1.0
        return share

    def _leaf_answers(self) -> tuple[NDArray[np.uint32], FloatArray]:
        """For each place of a leaf the row of its answer, and the answers: first those of a single class."""
        is_leaf = self.shape.is_leaf[self.order]
        answers = self.answers(self.order[is_leaf]) + 0.0  # a sum that begins with 0 is never -0.0
        n_outputs = answers.shape[1]
        is_single = (answers == 1.0).any(axis=1) & (self.forest.task is Task.CLASSIFICATION)
        rows = np.where(is_single, answers.argmax(axis=1), n_outputs + np.cumsum(~is_single) - 1)
        answer_of = np.zeros(len(is_leaf), dtype=np.uint32)
        answer_of[is_leaf] = rows
        return answer_of, np.concatenate([np.eye(n_outputs), answers[~is_single]])

    def _other_tests(self) -> dict[str, AnyArray]:
        """What tests other than thresholds need."""
        forest, order = self.forest, self.order
        if self.only_thresholds:
            order = order[:0]
        columns, n_columns = forest.columns, max(self.tested, default=0) + 1
        cuts = [(of_kind or (None,) * n_columns)[:n_columns] for of_kind in forest.cuts]
        flat = [of_column or () for of_kind in cuts for of_column in of_kind]
        tree = np.repeat(np.arange(len(forest)), np.diff(forest.start))[order]
        row = forest.member[tree].astype(np.int64) * n_columns + np.maximum(columns["column"][order], 0)
        kind = columns["kind"][order]
        return {
            "n_branches": self.shape.n_children[order].astype(np.uint32),
            "kind": np.where(kind < 0, THRESHOLD, FOUND_BY[kind]).astype(np.uint8),
            "missing": self._missing_branches(order),
            "lookup_start": forest.code_start[order],
            "lookup": forest.branch_of.astype(np.int32),
            "cuts_of": row.astype(np.uint32),
            "cuts_start": np.cumsum([0, *map(len, flat)], dtype=np.int64),
            "cuts": np.array([cut for of_column in flat for cut in of_column], dtype=np.float64),
        }

    def _missing_branches(self, order: AnyArray) -> NDArray[np.int32]:
        """The branch of its own that a missing value takes; -1 where it has none."""
        kind = self.forest.columns["kind"][order]
        is_merged = (kind >= 0) & np.array([each.is_merged for each in SPLIT_KINDS])[kind]
        branches = np.full(len(order), -1, dtype=np.int32)
        branches[is_merged] = self.forest.branch_of[self.forest.code_start[1:][order][is_merged] - 1]
        return branches
