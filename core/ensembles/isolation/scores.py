"""Path lengths of rows in an isolation forest: tree by tree, or by a kernel for many rows at once.

Both give equal bits: the lengths of a row are added up in the order of the trees.
"""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray
from core.compiler.permission import KernelNotCompiled
from core.ensembles.isolation.isolation import IsolationForest
from core.prediction.block_walk import as_numbers
from core.prediction.predictor import Predictor
from core.prediction.routing import MissingPolicy
from core.tables.progress import Watch, ignore_progress, watched
from core.tables.table import Table
from core.tree.layout import IN_FLIGHT, TEST
from core.tree.tree import Tree, full_view

PIECE_ROWS = 4_096  # rows that one thread answers at a time
FEW_ROWS = 8  # up to this many rows are answered tree by tree


class Positions(NamedTuple):
    """The nodes of all trees by position, with siblings adjacent as in `tree.layout`.

    lookup      at `lookup_start` and on: code -> branch, -1 for none; `lookup_start` is -1 where there is a threshold
    lengths     what a leaf answers
    roots, depths, has_lookups      by tree; depths are those of the deepest leaves
    """

    tests: NDArray[np.void]
    lengths: FloatArray
    lookup_start: NDArray[np.int64]
    lookup: NDArray[np.int8]
    roots: NDArray[np.int64]
    depths: NDArray[np.int64]
    has_lookups: BoolArray


class IsolationPredictor:
    """Scores rows with an isolation forest."""

    def __init__(self, isolation: IsolationForest) -> None:
        self.isolation = isolation

    def scores(self, table: Table, *, kernels: bool, threads: int = 1, watch: Watch = ignore_progress) -> FloatArray:
        """`[row]`: from 0 to 1, anomalies near 1."""
        return self.isolation.scores(self.path_lengths(table, kernels=kernels, threads=threads, watch=watch))

    def path_lengths(
        self, table: Table, *, kernels: bool, threads: int = 1, watch: Watch = ignore_progress
    ) -> FloatArray:
        """`[row]`: the mean of its path lengths over the trees."""
        if kernels and table.n_rows > FEW_ROWS:
            with suppress(KernelNotCompiled):
                return self._by_kernel(table, threads, watch)
        return self._tree_by_tree(table, kernels=kernels, watch=watch)

    def _tree_by_tree(self, table: Table, *, kernels: bool, watch: Watch) -> FloatArray:
        """The definition; a row with a missing value goes down both branches by weight."""
        total = np.zeros(table.n_rows)
        for tree in watched(range(len(self.isolation)), watch):
            predictor = Predictor(full_view(self.isolation.forest.tree(tree)))
            total += predictor.batch(table, MissingPolicy.WEIGHTED, kernels=kernels)[:, 0]
        return total / len(self.isolation)

    def _by_kernel(self, table: Table, threads: int, watch: Watch) -> FloatArray:
        """`_tree_by_tree`, with the kernel for rows that have a branch at every test."""
        from core.ensembles.isolation.kernels.scores import add_lengths  # imports Numba

        columns = [as_numbers(cells) for cells in table.columns]
        addresses = np.array([cells.__array_interface__["data"][0] for cells in columns], dtype=np.uint64)
        total = np.empty(table.n_rows)

        def answer(start: int) -> None:
            end = min(start + PIECE_ROWS, table.n_rows)
            tile, sums = np.zeros(len(columns) * IN_FLIGHT), np.empty(IN_FLIGHT)
            add_lengths(addresses, table.n_rows, start, end, self._positions, tile, sums, total)

        first, *others = range(0, table.n_rows, PIECE_ROWS)
        answer(first)  # by this thread alone: it may have to wait for a compiler
        with ThreadPoolExecutor(threads) as pool:
            for done, _ in enumerate(pool.map(answer, others)):
                watch(done / len(others))
        total /= len(self.isolation)
        left = np.flatnonzero(np.isnan(total))
        if len(left):
            total[left] = self._tree_by_tree(table.take(left), kernels=True, watch=ignore_progress)
        return total

    @cached_property
    def _positions(self) -> Positions:
        trees = [self.isolation.forest.tree(tree) for tree in range(len(self.isolation))]
        starts = np.cumsum([0, *map(len, trees)])
        n_codes = np.cumsum([0, *(len(tree.branch_of) for tree in trees)])
        parts = [_positions_of(tree, *at) for tree, *at in zip(trees, starts[:-1], n_codes[:-1], strict=True)]
        tests, lengths, lookup_start = (np.concatenate(each) for each in zip(*parts, strict=True))
        return Positions(
            tests=tests,
            lengths=lengths,
            lookup_start=lookup_start,
            lookup=np.concatenate([tree.branch_of for tree in trees]).astype(np.int8),
            roots=starts[:-1],
            depths=np.array([tree.depth.max() for tree in trees], dtype=np.int64),
            has_lookups=np.array([len(tree.branch_of) > 0 for tree in trees]),
        )


def _positions_of(tree: Tree, start: int, codes_start: int) -> tuple[NDArray[np.void], FloatArray, NDArray[np.int64]]:
    """Tests, lengths and lookups of a tree whose nodes begin at `start` among those of all trees."""
    order, is_leaf = tree.by_parent, tree.size[tree.by_parent] == 1
    positions, lookups = np.arange(len(tree)), tree.branch_start[:-1][order] + codes_start
    tests = np.empty(len(tree), dtype=TEST)
    tests["threshold"] = np.where(is_leaf, np.nan, tree.threshold[order])
    tests["first"] = start + np.where(is_leaf, positions, tree.children_start[order])
    tests["offset"] = np.where(is_leaf, 0, tree.column[order]) * IN_FLIGHT
    has_threshold = is_leaf | ~np.isnan(tree.threshold[order])
    return tests, tree.answers[order, 0], np.where(has_threshold, -1, lookups)
