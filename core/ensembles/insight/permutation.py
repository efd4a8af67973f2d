"""The answers of a forest if the values of one attribute are shuffled among the rows.

A tree's answer to a row changes only if the tree tests the attribute on the row's path. So the sum of the trees'
answers is kept, and changes are added to it:

    sum' = sum + sum over the trees t that test the attribute of (answer_t of the shuffled row - answer_t of the row)

Definition and kernel add them in this order, tree by tree.
"""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.compiler.permission import KernelNotCompiled
from core.ensembles.forest import Forest
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.prediction.predictor import policy_as_grown
from core.ensembles.prediction.ranks import MISSING_RANK, ranks_of
from core.ensembles.prediction.walk import N_LEAVES, ForestWalk, new_record_buffers
from core.evaluation.importance import columns_read
from core.prediction.block_walk import as_numbers
from core.prediction.routing import MissingPolicy, predict
from core.tables.table import Column, Table
from core.tree.tree import full_view

INTERVAL = np.dtype([("low", np.uint32), ("high", np.uint32)])
BLOCK_ROWS = 4_096  # that stay in the cache while all trees are read


class Rows(NamedTuple):
    """The rows as the kernel reads them, in blocks of `n_block`.

    order           `[tree, row]`: the rows of each block sorted by leaf, as indices in the block
    ends            `[block, leaf]`: where the rows of a leaf end in `order`
    leaf_start      by tree: its first leaf; last the number of leaves      answer_of   by leaf: a row of all answers
    is_incomplete   by row: whether it lacks a value, or a branch for it; such rows are not in `order`
    answering       `[tree, row]`: whether a tree answers a row, else it is not in `order`; or one column of True
    has_incomplete  whether there are incomplete rows, or values of the shuffled column are missing
    """

    n_block: int
    order: NDArray[np.uint16]
    ends: NDArray[np.uint16]
    leaf_start: RowArray
    answer_of: NDArray[np.uint32]
    is_incomplete: BoolArray
    answering: BoolArray
    has_incomplete: bool


class ColumnTests(NamedTuple):
    """Where the trees test a column.

    first       by leaf: the position of the first test of the column on the path to it
    holds       by leaf: the ranks of the column that lead to it if all other values do, as an interval (low, high]
    is_tested   by tree: whether some node tests the column
    """

    first: NDArray[np.uint32]
    holds: NDArray[np.void]
    is_tested: BoolArray


class ShuffleBuffers(NamedTuple):
    """Buffers of the kernel: the ranks of a block, row by row, the rows that descend again, and two answers."""

    cells: NDArray[np.uint32]
    ranks: NDArray[np.uint32]
    moving: NDArray[np.uint32]
    positions: NDArray[np.uint32]
    answers: NDArray[np.uint32]
    at: NDArray[np.uint32]
    before: FloatArray
    after: FloatArray


class ShuffledAnswers:
    """The answers of a forest to these rows with one column at a time shuffled; records are routed as grown.

    `answering[tree, row]` says which trees answer a row, all unless given; at least one does. With kernels the leaf of
    each row in each tree is kept: 6 bytes per pair.
    """

    def __init__(self, forest: Forest, table: Table, answering: BoolArray | None = None, *, kernels: bool) -> None:
        self.forest, self.table, self.policy = forest, table, policy_as_grown(forest)
        self._answering = np.ones((len(forest), 1), dtype=np.bool_) if answering is None else answering
        n_trees = np.broadcast_to(self._answering, (len(forest), table.n_rows)).sum(axis=0)
        self._n_trees: FloatArray = n_trees.astype(np.float64)[:, None]
        self._layout = ForestLayout(forest)
        suits_kernels = self.policy is MissingPolicy.WEIGHTED and not forest.terms and self._layout.suits_keys
        self._uses_kernels = kernels and suits_kernels

    def plain(self) -> FloatArray:
        """`[row, output]`: the answers without shuffling."""
        return self._sums / self._n_trees

    def when_shuffled(self, column: int) -> Callable[[RowArray], FloatArray]:
        """A function of an order, `[row, output]`: the answers with row r given the column's value of row `order[r]`.

        What does not depend on the order is computed here, once.
        """
        by_kernel: Callable[[RowArray], FloatArray] | None = None
        if self._uses_kernels:
            with suppress(KernelNotCompiled):
                by_kernel = self._change_by_kernel(column)

        def answers(order: RowArray) -> FloatArray:
            if by_kernel is not None:
                with suppress(KernelNotCompiled):
                    return by_kernel(order) / self._n_trees
            return self._changed(column, self.table.columns[column][order]) / self._n_trees

        return answers

    @cached_property
    def _sums(self) -> FloatArray:
        """The sum of the trees' answers to each row."""
        if self._uses_kernels:
            with suppress(KernelNotCompiled):
                return self._sums_by_kernel()
        sums = self._nothing(self.table.n_rows)
        for tree in range(len(self.forest)):
            answers = predict(full_view(self.forest.tree(tree)), self.table, self.policy)
            sums += np.where(self._answering[tree][:, None], answers, 0.0)
        return sums

    def _nothing(self, n_rows: int) -> FloatArray:
        return np.zeros((n_rows, self.forest.columns["values"].shape[1]))

    def _sums_by_kernel(self) -> FloatArray:
        """The sums from the leaves of complete rows, and from the answers of each tree for incomplete ones."""
        from core.ensembles.insight.kernels.permutation import add_answers  # imports Numba

        (leaves, is_incomplete), sums = self._leaves, self._nothing(self.table.n_rows)
        add_answers(leaves, self._layout.nodes.answers, self._rows, sums)
        rows = np.flatnonzero(is_incomplete)
        for some in np.split(rows, range(BLOCK_ROWS, len(rows), BLOCK_ROWS)) if len(rows) else ():
            for tree, answers in enumerate(self._walk.by_tree(self.table.take(some), self.policy).answers):
                sums[some] += np.where(self._of_rows(tree, some), answers, 0.0)
        return sums

    def _of_rows(self, tree: int, rows: RowArray) -> BoolArray:
        """`[row, 0]`: whether a tree answers these rows."""
        answering = self._answering[tree]
        return (answering if len(answering) == 1 else answering[rows])[:, None]

    def _changed(self, column: int, cells: Column) -> FloatArray:
        """The sums of the answers with these cells in a column: the definition."""
        sums = self._sums.copy()
        shuffled = Table(self.table.schema, (*self.table.columns[:column], cells, *self.table.columns[column + 1 :]))
        for tree in range(len(self.forest)):
            view = full_view(self.forest.tree(tree))
            if column in columns_read(view):
                change = predict(view, shuffled, self.policy) - predict(view, self.table, self.policy)
                sums += np.where(self._answering[tree][:, None], change, 0.0)
        return sums

    def _change_by_kernel(self, column: int) -> Callable[[RowArray], FloatArray]:
        """`_changed` by kernel: complete rows continue from the first test of the column on their path."""
        from core.ensembles.insight.kernels.permutation import add_changes  # imports Numba

        layout = self._layout
        if column not in layout.tested:
            return lambda _: self._sums
        at, column_tests = layout.tested.index(column), self._column_tests(layout.tested.index(column))

        def changed(order: RowArray) -> FloatArray:
            after = self._ranks[order, at]
            rows = self._rows._replace(has_incomplete=bool(self._rows.has_incomplete or (after == MISSING_RANK).any()))
            nodes, only_thresholds, buffers, scratch = (
                layout.nodes,
                layout.only_thresholds,
                self._buffers(),
                new_record_buffers(N_LEAVES),
            )
            while True:
                sums = self._sums.copy()
                if add_changes(
                    self._ranks, after, at, nodes, only_thresholds, rows, column_tests, buffers, scratch, sums
                ):
                    return sums
                scratch = scratch.larger()

        return changed

    @cached_property
    def _ranks(self) -> NDArray[np.uint32]:
        """`[row, index of the column among those tested]`: the ranks of all values."""
        layout = self._layout
        columns = [
            ranks_of(as_numbers(self.table.columns[column]), thresholds) << np.uint32(layout.column_bits)
            for column, thresholds in zip(layout.tested, layout.thresholds, strict=True)
        ]
        return np.stack(columns, axis=1)

    @cached_property
    def _leaves(self) -> tuple[NDArray[np.uint32], BoolArray]:
        """`[tree, row]`: the leaf of each row; and which rows are incomplete."""
        positions, is_incomplete = self._walk.leaves(self.table)
        number = np.zeros(self.forest.n_nodes, dtype=np.uint32)
        number[self._leaf_at] = np.arange(len(self._leaf_at))
        return number[positions], is_incomplete

    @cached_property
    def _rows(self) -> Rows:
        from core.ensembles.insight.kernels.permutation import sort_by_leaf  # imports Numba

        (leaves, is_incomplete), n_blocks = self._leaves, -(-self.table.n_rows // BLOCK_ROWS)
        rows = Rows(
            n_block=BLOCK_ROWS,
            order=np.zeros(leaves.shape, dtype=np.uint16),
            ends=np.zeros((n_blocks, len(self._leaf_at)), dtype=np.uint16),
            leaf_start=np.searchsorted(self._leaf_at, self.forest.start),
            answer_of=self._layout.nodes.answer_of[self._leaf_at],
            is_incomplete=is_incomplete,
            answering=self._answering,
            has_incomplete=bool(is_incomplete.any()),
        )
        sort_by_leaf(leaves, is_incomplete, self._answering, rows)
        return rows

    @cached_property
    def _walk(self) -> ForestWalk:
        return ForestWalk(self._layout)

    @cached_property
    def _leaf_at(self) -> RowArray:
        """The position of each leaf; leaves are numbered through all trees, without gaps."""
        return np.flatnonzero(self._layout.shape.is_leaf[self._layout.order])

    def _column_tests(self, at: int) -> ColumnTests:
        """Where the trees test the column with index `at` among those tested."""
        from core.ensembles.insight.kernels.permutation import find_all_first_tests  # imports Numba

        n_nodes, n_leaves = self.forest.n_nodes, len(self._leaf_at)
        of_positions = np.empty(n_nodes, dtype=np.uint32), np.empty(n_nodes, dtype=INTERVAL)
        found = ColumnTests(
            np.empty(n_leaves, dtype=np.uint32),
            np.empty(n_leaves, dtype=INTERVAL),
            np.empty(len(self.forest), dtype=np.bool_),
        )
        nodes, only_thresholds = self._layout.nodes, self._layout.only_thresholds
        find_all_first_tests(nodes, only_thresholds, at, self._leaf_at, *of_positions, found)
        return found

    def _buffers(self) -> ShuffleBuffers:
        n_columns, n_outputs = len(self._layout.tested), self._sums.shape[1]
        moving, positions, answers, at = (np.empty(BLOCK_ROWS + 1, dtype=np.uint32) for _ in range(4))
        return ShuffleBuffers(
            cells=np.zeros((BLOCK_ROWS, n_columns), dtype=np.uint32),
            ranks=np.empty(BLOCK_ROWS, dtype=np.uint32),
            moving=moving,
            positions=positions,
            answers=answers,
            at=at,
            before=np.empty(n_outputs),
            after=np.empty(n_outputs),
        )
