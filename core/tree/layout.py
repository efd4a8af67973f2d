"""A tree laid out for prediction: its nodes in the order of their parents, so that siblings are adjacent.

    node        0                    position   0 1 2 3 4 5
              / | \\                  node       0 1 4 5 2 3
             1  4  5                 first      1 4 2 3 4 5      the position of the first child; a leaf's own
            / \\
           2   3

Branch v of the node at position p leads to position first[p] + v, and a leaf leads to itself. Views of the tree have
the same positions; a node that was cut is a leaf there. For prediction, a linear test is a threshold on an extra column
of weighted sums.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.missing.surrogates import Surrogate
from core.splits.split import SplitKind, Term
from core.tree.tree import SPLIT_KINDS, Tree, TreeView

# How a branch is found: by comparison, by code, by a search among cuts, or by such a search and then by code.
THRESHOLD, LOOKUP, INTERVALS, LOOKUP_OF_INTERVALS = 0, 1, 2, 3

IN_FLIGHT = 64  # rows that descend together; their values, `tile[column * IN_FLIGHT + row]`, stay in the cache
LANES = 4  # numbers that the processor adds at once

MOST_SUMS = 64  # up to this many linear tests, all their sums are computed beforehand

TEST = np.dtype([("threshold", np.float64), ("first", np.uint32), ("offset", np.uint32)])
CHOICE = np.dtype(
    [
        ("threshold", np.float64),
        ("least", np.float64),
        ("lookup_start", np.int64),
        ("first", np.uint32),
        ("offset", np.uint32),
    ]
)

_FOUND_BY = {
    SplitKind.THRESHOLD: THRESHOLD,
    SplitKind.LINEAR: THRESHOLD,
    SplitKind.INTERVALS: INTERVALS,
    SplitKind.MERGED_INTERVALS: LOOKUP_OF_INTERVALS,
}
FOUND_BY = np.array([_FOUND_BY.get(kind, LOOKUP) for kind in SPLIT_KINDS], dtype=np.uint8)


class Nodes(NamedTuple):
    """The node at each position of a view.

    column      the index of the attribute tested among those read; in a leaf their number
    threshold   NaN unless the kind is THRESHOLD, and in a leaf         kind            how a branch is found
    lookup      at `lookup_start` and on: code -> branch; last a 0      n_branches      0 in a leaf
    cuts        at `cuts_start[column]` and on                          share           r_v, as in the tree
    missing     the branch of a missing value; -1 where it has none of its own
    answers     as in the tree, but never -0.0; with columns of 0 up to a multiple of LANES
    tests       threshold, first and column together in one cache line. The column as the `offset` of its values in a
                tile
    choices     one form for thresholds and lookups, so that no branch on the kind is needed: codes are at `least` 0,
                while no number is at least NaN and reads the last 0 of `lookup`; no code is above a threshold of NaN
    """

    column: NDArray[np.uint32]
    threshold: FloatArray
    first: NDArray[np.uint32]
    n_branches: NDArray[np.uint32]
    kind: NDArray[np.uint8]
    lookup_start: NDArray[np.int64]
    lookup: NDArray[np.int32]
    cuts_start: NDArray[np.int64]
    cuts: FloatArray
    missing: NDArray[np.int32]
    share: FloatArray
    answers: FloatArray
    tests: NDArray[np.void]
    choices: NDArray[np.void]


class SurrogateTests(NamedTuple):
    """The surrogates of all nodes, those of position p from `start[p]` to `start[p + 1]`; the rest as in `Nodes`."""

    start: NDArray[np.int64]
    column: NDArray[np.uint32]
    threshold: FloatArray
    kind: NDArray[np.uint8]
    is_reversed: NDArray[np.uint8]
    lookup_start: NDArray[np.int64]
    lookup: NDArray[np.int32]


@dataclass(frozen=True)
class Layout:
    """The positions of a tree's nodes, shared by all its views."""

    tree: Tree

    @property
    def order(self) -> RowArray:
        """The node at each position."""
        return self.tree.by_parent

    @cached_property
    def tested(self) -> tuple[int, ...]:
        """The columns that tests on one attribute read."""
        return tuple(np.unique(self.tree.column[(self.tree.size > 1) & ~self.is_linear]).tolist())

    @cached_property
    def is_linear(self) -> BoolArray:
        """Which nodes have linear tests."""
        return np.array([bool(terms) for terms in self.tree.terms] or np.zeros(len(self.tree)), dtype=np.bool_)

    @cached_property
    def sums(self) -> tuple[tuple[Term, ...], ...]:
        """The weighted sums that linear tests read, in the order of their nodes; they come after `tested`."""
        return tuple(terms for terms in self.tree.terms if terms)

    @property
    def suits_blocks(self) -> bool:
        """Whether rows are best predicted in blocks, with all weighted sums computed beforehand."""
        return len(self.sums) <= MOST_SUMS

    @cached_property
    def only_surrogates(self) -> tuple[int, ...]:
        """The columns that only surrogates read; they come last."""
        read = {one.split.column for of_node in self.tree.surrogates for one in of_node}
        return tuple(sorted(read.difference(self.tested)))

    @property
    def n_tested(self) -> int:
        """How many columns tests read, weighted sums included."""
        return len(self.tested) + len(self.sums)

    @property
    def n_columns(self) -> int:
        """How many columns are read."""
        return self.n_tested + len(self.only_surrogates)

    @cached_property
    def full(self) -> Nodes:
        """The nodes of the tree as grown."""
        tree, order = self.tree, self.order
        read = (*self.tested, *(None for _ in self.sums), *self.only_surrogates)
        cuts = [(tree.cuts[column] or ()) if tree.cuts and column is not None else () for column in read]
        own = len(self.tested) + np.cumsum(self.is_linear) - 1
        column = np.where(self.is_linear, own, np.searchsorted(np.array(self.tested), tree.column))
        return Nodes(
            column=column[order].astype(np.uint32),
            threshold=tree.threshold[order],
            first=np.minimum(tree.children_start[order], len(tree) - 1).astype(np.uint32),
            n_branches=tree.n_children[order].astype(np.uint32),
            kind=FOUND_BY[tree.kind[order]],
            lookup_start=tree.branch_start[order],
            lookup=np.append(tree.branch_of, np.int32(0)),
            cuts_start=np.cumsum([0, *map(len, cuts), 0], dtype=np.int64),
            cuts=np.array([cut for of_column in cuts for cut in of_column], dtype=np.float64),
            missing=tree.missing_branch[order],
            share=tree.share[order],
            answers=_in_lanes(tree.answers[order] + 0.0),  # a sum that starts with 0 is never -0.0
            tests=np.empty(0, dtype=TEST),  # every view has its own
            choices=np.empty(0, dtype=CHOICE),
        )

    @cached_property
    def surrogate_tests(self) -> SurrogateTests:
        """The surrogates of every node."""
        by_position = [self.tree.surrogates_of(node) for node in self.order.tolist()]
        every = [surrogate for surrogates in by_position for surrogate in surrogates]
        positions = {column: position for position, column in enumerate(self.tested)}
        positions |= {column: self.n_tested + position for position, column in enumerate(self.only_surrogates)}
        return SurrogateTests(
            start=np.cumsum([0, *map(len, by_position)], dtype=np.int64),
            column=np.array([positions[one.split.column] for one in every], dtype=np.uint32),
            threshold=np.array([one.split.threshold for one in every], dtype=np.float64),
            kind=np.array([_found_by(one) for one in every], dtype=np.uint8),
            is_reversed=np.array([one.is_reversed for one in every], dtype=np.uint8),
            lookup_start=np.cumsum([0, *(len(one.split.branch_of) for one in every)], dtype=np.int64),
            lookup=np.array([branch for one in every for branch in one.split.branch_of], dtype=np.int32),
        )

    def nodes_of(self, view: TreeView) -> Nodes:
        """The nodes of a view: those of the tree, with cut nodes made leaves."""
        is_leaf, full = view.is_leaf[self.order], self.full
        nodes = full._replace(
            column=np.where(is_leaf, np.uint32(self.n_columns), full.column),
            threshold=np.where(is_leaf, np.nan, full.threshold),
            first=np.where(is_leaf, np.arange(len(is_leaf), dtype=np.uint32), full.first),
            n_branches=np.where(is_leaf, np.uint32(0), full.n_branches),
            kind=np.where(is_leaf, np.uint8(THRESHOLD), full.kind),
        )
        return nodes._replace(tests=_tests(nodes), choices=_choices(nodes))


def _tests(nodes: Nodes) -> NDArray[np.void]:
    tests = np.empty(len(nodes.first), dtype=TEST)
    tests["threshold"], tests["first"], tests["offset"] = nodes.threshold, nodes.first, nodes.column * IN_FLIGHT
    return tests


def _choices(nodes: Nodes) -> NDArray[np.void]:
    reads_lookup, choices = nodes.kind == LOOKUP, np.empty(len(nodes.first), dtype=CHOICE)
    choices["threshold"], choices["first"] = nodes.threshold, nodes.first
    choices["least"] = np.where(reads_lookup, 0.0, np.nan)
    choices["lookup_start"] = np.where(reads_lookup, nodes.lookup_start, len(nodes.lookup) - 1)
    choices["offset"] = nodes.column * IN_FLIGHT
    return choices


def _in_lanes(answers: FloatArray) -> FloatArray:
    return np.pad(answers, ((0, 0), (0, -answers.shape[1] % LANES)))


def _found_by(surrogate: Surrogate) -> int:
    return THRESHOLD if surrogate.split.kind is SplitKind.THRESHOLD else LOOKUP
