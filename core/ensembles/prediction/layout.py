"""A forest laid out for prediction: all trees one after the other, each as in `core.tree.layout`.

The positions of a tree start where its nodes do, and siblings are adjacent: branch v of the node at position p leads to
position first[p] + v, and a leaf leads to itself. A leaf also has the row of its answer in a table, which all leaves of
a single class share; a fully grown tree has no others.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray, RowArray
from core.criteria.impurity import shares
from core.ensembles.forest import AnyArray, Forest, weights_of
from core.ensembles.prediction.ranks import ThresholdRanks, all_ranks, ranks_of, thresholds_of_codes
from core.ensembles.shape import Shape
from core.splits.split import SplitKind
from core.tables.target import Task
from core.tree.layout import FOUND_BY, LOOKUP, THRESHOLD
from core.tree.tree import SPLIT_KINDS

# A test is the position of its first branch, and a key: the rank of its threshold, with the column in the lowest bits.
# The rank of a value, shifted as far, is above the key if and only if it is above the threshold's.
TEST = np.dtype([("first", np.uint32), ("key", np.uint32)])
KEY_BITS = 32

NodeArray = NDArray[np.integer[Any]]


class ForestNodes(NamedTuple):
    """The node at each position. Arrays that only tests other than thresholds need are empty where there are none.

    addresses   of `tests` and `answer_of`
    start       by tree: its first position; last the number of all     depth       by tree: the most tests of a path
    tests       first, and the rank of the threshold with the column in the last `column_bits`; high in leaves
    share       r_v, as in the trees
    answer_of   of leaves: a row of `answers`, which are never -0.0     n_branches  0 in a leaf
    kind        how a branch is found, as in `core.tree.layout`         missing     the branch of a missing value, or -1
    lookup      at `lookup_start` and on: code -> branch
    cuts        ranks, shifted as in keys, from `cuts_start[c]` to `cuts_start[c + 1]`, c the entry of `cuts_of`
    """

    addresses: NDArray[np.uint64]
    start: RowArray
    depth: RowArray
    column_bits: int
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
    cuts: NDArray[np.uint32]


class ForestLayout:
    """The layout of a forest whose tests each read one attribute."""

    def __init__(self, forest: Forest) -> None:
        self.forest, self.shape = forest, Shape(forest.start, forest.columns["size"])

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The columns that tests read; kernels number columns by their index here.

        Where no tree has a test, the first column: leaves compare some value too.
        """
        return tuple(np.unique(self.forest.columns["column"][~self.shape.is_leaf]).tolist()) or (0,)

    @cached_property
    def thresholds(self) -> tuple[FloatArray, ...]:
        """By tested column, all numbers that its values are compared with; of categories, those between codes."""
        columns, found = self.forest.columns, []
        found_by = self._found_by(np.arange(self.forest.n_nodes))
        for column in self.tested:
            is_here = columns["column"] == column
            codes = self.forest.n_codes[is_here & (found_by == LOOKUP)]
            if len(codes):
                found.append(thresholds_of_codes(int(codes.max())))
                continue
            cuts = [of_kind[column] or () for of_kind in self.forest.cuts if of_kind]
            column_tests = columns["threshold"][is_here & (found_by == THRESHOLD)]
            found.append(np.unique(np.concatenate([column_tests.astype(np.float64), *map(np.array, cuts)])))
        return tuple(found)

    @cached_property
    def ranks(self) -> ThresholdRanks:
        """The thresholds prepared for finding the ranks of values."""
        return all_ranks(self.thresholds)

    @property
    def column_bits(self) -> int:
        """The number of bits that hold a column."""
        return max(0, len(self.tested) - 1).bit_length()

    @property
    def suits_keys(self) -> bool:
        """Whether every test fits into its key, with one rank left that no value is above."""
        n_ranks = 1 << max(0, KEY_BITS - self.column_bits)
        return self.forest.n_nodes < 1 << 32 and max(map(len, self.thresholds), default=0) + 2 < n_ranks

    @property
    def order(self) -> NDArray[np.uint32]:
        """The node at each position; nodes are numbered through all trees."""
        return self.shape.by_parent

    @cached_property
    def only_thresholds(self) -> bool:
        """Whether all tests compare a value with a threshold."""
        kinds = self.forest.columns["kind"]
        return bool((kinds <= SPLIT_KINDS.index(SplitKind.THRESHOLD)).all())

    @cached_property
    def nodes(self) -> ForestNodes:
        """The nodes at all positions."""
        (answer_of, answers), tests = self._leaf_answers(), self._tests()
        return ForestNodes(
            addresses=np.array([each.__array_interface__["data"][0] for each in (tests, answer_of)], dtype=np.uint64),
            start=self.forest.start.astype(np.int64),
            depth=self.shape.depths,
            column_bits=self.column_bits,
            tests=tests,
            share=self._shares()[self.order],
            answer_of=answer_of,
            answers=answers,
            **self._other_tests(),
        )

    @property
    def n_outputs(self) -> int:
        """How many numbers an answer has: one for each class, or target."""
        return int(self.forest.columns["values"].shape[1])

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

    def _found_by(self, nodes: NodeArray) -> NDArray[np.uint8]:
        """How the branch of a value is found; leaves count as thresholds."""
        kind = self.forest.columns["kind"][nodes]
        return np.where(kind < 0, THRESHOLD, FOUND_BY[kind]).astype(np.uint8)

    def _tests(self) -> NDArray[np.void]:
        columns, order, shift = self.forest.columns, self.order, self.column_bits
        is_leaf, column = self.shape.is_leaf[order], columns["column"][order]
        tests = np.empty(len(order), dtype=TEST)
        tests["first"] = np.where(is_leaf, np.arange(len(order)), self.shape.first_child[order])
        key = np.full(len(order), (1 << KEY_BITS) - (1 << shift), dtype=np.uint32)
        is_threshold = ~is_leaf & (self._found_by(order) == THRESHOLD)
        threshold = columns["threshold"][order].astype(np.float64)
        for position, (tested, of_column) in enumerate(zip(self.tested, self.thresholds, strict=True)):
            is_here = column == tested
            is_compared = is_here & is_threshold
            key[is_compared] = ranks_of(threshold[is_compared], of_column) << np.uint32(shift)
            key[is_here] |= np.uint32(position)
        tests["key"] = key
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
        """The row of the answer of each leaf, by position, and the answers: first those of a single class."""
        is_leaf = self.shape.is_leaf[self.order]
        answers = self.answers(self.order[is_leaf]) + 0.0  # a sum that starts with 0 is never -0.0
        n_outputs = answers.shape[1]
        is_single = (answers == 1.0).any(axis=1) & (self.forest.task is Task.CLASSIFICATION)
        rows = np.where(is_single, answers.argmax(axis=1), n_outputs + np.cumsum(~is_single) - 1)
        answer_of = np.zeros(len(is_leaf), dtype=np.uint32)
        answer_of[is_leaf] = rows
        return answer_of, np.concatenate([np.eye(n_outputs), answers[~is_single]])

    def _other_tests(self) -> dict[str, AnyArray]:
        """What tests other than thresholds need."""
        forest, order = self.forest, self.order[:0] if self.only_thresholds else self.order
        column = np.searchsorted(np.array(self.tested, dtype=np.int64), np.maximum(forest.columns["column"][order], 0))
        kind_of_tree = np.repeat(forest.member.astype(np.int64), np.diff(forest.start))[order]
        cuts = [self._cuts(of_kind[tested] if of_kind else None, position) for of_kind in forest.cuts
                for position, tested in enumerate(self.tested)]  # fmt: skip
        return {
            "n_branches": self.shape.n_children[order].astype(np.uint32),
            "kind": self._found_by(order),
            "missing": self._missing_branches(order),
            "lookup_start": forest.code_start[order],
            "lookup": forest.branch_of.astype(np.int32),
            "cuts_of": (kind_of_tree * len(self.tested) + column).astype(np.uint32),
            "cuts_start": np.cumsum([0, *map(len, cuts), 0], dtype=np.int64),
            "cuts": np.concatenate([np.empty(0, dtype=np.uint32), *cuts]),
        }

    def _cuts(self, cuts: tuple[float, ...] | None, position: int) -> NDArray[np.uint32]:
        """The ranks of cuts that were found before growth, shifted like those of values."""
        ranks = ranks_of(np.array(cuts or (), dtype=np.float64), self.thresholds[position])
        return ranks << np.uint32(self.column_bits)

    def _missing_branches(self, order: AnyArray) -> NDArray[np.int32]:
        """The branch of its own that a missing value takes; -1 where it has none."""
        kind = self.forest.columns["kind"][order]
        is_merged = (kind >= 0) & np.array([each.is_merged for each in SPLIT_KINDS])[kind]
        branches = np.full(len(order), -1, dtype=np.int32)
        branches[is_merged] = self.forest.branch_of[self.forest.code_start[1:][order][is_merged] - 1]
        return branches
