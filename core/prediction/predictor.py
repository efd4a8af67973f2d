"""Answers to one record or to many, each by the fastest method available: all give the bits of `routing`."""

from contextlib import suppress
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.compiler.permission import KernelNotCompiled
from core.prediction.block_walk import BlockWalk
from core.prediction.record_walk import RecordWalk, TreeLists, cells_of, ends_of_lists
from core.prediction.routing import Ends, MissingPolicy, ends, policy_as_grown, predict
from core.records.columns_in_memory import NumbersOfAttributes
from core.records.records import Cells
from core.tables.table import Table
from core.tree.layout import Layout
from core.tree.tree import Tree, TreeView

FEW_RECORDS = 20  # up to this many records are answered one by one, which is faster than setting up a table
ROWS_PER_NODE = 10  # without kernels: with more rows per node than this, visiting node by node is faster


class TreePredictor:
    """A tree, and the predictors of its views, which share what does not depend on the view."""

    def __init__(self, tree: Tree) -> None:
        self.layout = Layout(tree)

    @cached_property
    def lists(self) -> TreeLists:
        return TreeLists(self.layout)

    def of(self, view: TreeView) -> "Predictor":
        return Predictor(view, self)


class Predictor:
    """A view of a tree, ready to answer. Without a policy records are routed as the tree was grown.

    Kernels are only used if the caller allows it: they may have to be compiled, which takes seconds.
    """

    def __init__(self, view: TreeView, shared: TreePredictor | None = None) -> None:
        self.view, self._shared = view, shared or TreePredictor(view.tree)
        self.as_grown = policy_as_grown(view.tree)

    def one(self, cells: Cells, policy: MissingPolicy | None = None) -> tuple[float, ...]:
        """Class probabilities, or means, for one record; `cells` in the schema's order.

        A cell is a number, or the code of a category; NaN when it is missing.
        """
        return self._record_walk.answer(cells, policy or self.as_grown)

    def leaf(self, cells: Cells) -> int:
        """The leaf of one record; -1 where a value that its path tests is missing."""
        return self._record_walk.leaf(cells)

    def batch(self, table: Table, policy: MissingPolicy | None = None, *, kernels: bool) -> FloatArray:
        """`routing.predict`: class probabilities, or means, for every row."""
        policy = policy or self.as_grown
        if self._is_small(table.n_rows, kernels=kernels):
            answers = [self._record_walk.answer(cells, policy) for cells in cells_of(table)]
            return np.array(answers, dtype=np.float64).reshape(table.n_rows, self.view.tree.values.shape[1])
        if kernels and self._shared.layout.suits_blocks:
            with suppress(KernelNotCompiled):
                return self._block_walk.answers(table, policy)
        return predict(self.view, table, policy)

    def ends(self, table: Table, policy: MissingPolicy | None = None, *, kernels: bool) -> Ends:
        """`routing.ends`: for each row the nodes that answer it, with their weights."""
        policy = policy or self.as_grown
        if self._is_small(table.n_rows, kernels=kernels):
            return ends_of_lists([self._record_walk.reached(cells, policy) for cells in cells_of(table)])
        if kernels and self._shared.layout.suits_blocks:
            with suppress(KernelNotCompiled):
                return self._block_walk.ends(table, policy)
        return ends(self.view, table, policy)

    def leaves_of_numbers(self, read: NumbersOfAttributes) -> RowArray | None:
        """The leaf of each complete record of numbers, by kernels; None for trees where that is not possible."""
        return self._block_walk.leaves_of_numbers(read.addresses, read.n_rows)

    def _is_small(self, n_rows: int, *, kernels: bool) -> bool:
        """Whether records are best answered one by one."""
        return n_rows <= FEW_RECORDS or (not kernels and n_rows <= ROWS_PER_NODE * len(self.view.tree))

    @cached_property
    def _record_walk(self) -> RecordWalk:
        return RecordWalk(self._shared.lists, self.view)

    @cached_property
    def _block_walk(self) -> BlockWalk:
        return BlockWalk(self._shared.layout, self.view)
