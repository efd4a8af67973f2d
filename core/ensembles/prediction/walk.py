"""Records down all trees of a forest by compiled kernels: the answers of `predictor`'s definitions, bit for bit.

Importing this module compiles nothing; calling it does, unless compiled code is found on disk.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray
from core.ensembles.prediction.layout import ForestLayout
from core.ensembles.prediction.ranks import FIRST_CODE
from core.ensembles.voting import TreeAnswers, average
from core.prediction.block_walk import COPY, as_numbers
from core.prediction.routing import Ends, MissingPolicy
from core.tables.table import Table
from core.tree.layout import IN_FLIGHT

BLOCK_ROWS = 8_192  # that stay in the cache while all trees are read
MOST_COPIES = 16_384  # of the rows of a tile; where more are needed, rows descend one by one
N_LEAVES = 1_024  # of a record that buffers hold at first
POLICIES = tuple(MissingPolicy)


class RecordBuffers(NamedTuple):
    """Buffers for a record that takes several branches: its leaves and weights, and the positions still to visit."""

    positions: NDArray[np.uint32]
    weights: FloatArray
    waiting: NDArray[np.uint32]
    waiting_weights: FloatArray

    def larger(self) -> "RecordBuffers":
        """New buffers of twice the size, without the contents."""
        return new_record_buffers(2 * len(self.positions))


class BlockBuffers(NamedTuple):
    """Buffers for a block of rows: tiles of ranks, flags of incomplete rows, and their weighted copies."""

    tiles: NDArray[np.uint32]
    is_incomplete: BoolArray
    has_incomplete: BoolArray
    is_incomplete_here: BoolArray
    is_other: BoolArray
    reached: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    copies: NDArray[np.void]
    holes: NDArray[np.uint32]
    of_row: NDArray[np.uint32]


class ForestWalk:
    """Predicts with kernels for a forest whose tests each read one attribute."""

    def __init__(self, layout: ForestLayout) -> None:
        self._layout, self._ranks, self._nodes = layout, layout.ranks, layout.nodes
        self._only_thresholds, self._n_trees = layout.only_thresholds, len(layout.forest)

    def average(self, table: Table, policy: MissingPolicy, threads: int) -> FloatArray:
        """`ensembles.prediction.predictor.average_of_trees`; threads share the blocks of rows."""
        from core.ensembles.prediction.kernels.predictor import average_block  # imports Numba

        if policy is MissingPolicy.LAST_NODE:  # inner nodes answer, and the kernel only has the answers of leaves
            return self._average_of_blocks(table, policy)
        sums = np.zeros((table.n_rows, self._nodes.answers.shape[1]))

        def answer(start: int) -> None:
            rows = slice(start, start + BLOCK_ROWS)
            columns, of_block = self._columns(table, rows), sums[rows]
            buffers, scratch = self._buffers(len(of_block)), new_record_buffers(N_LEAVES)
            while not average_block(
                addresses(columns),
                self._ranks,
                self._nodes,
                self._only_thresholds,
                POLICIES.index(policy),
                buffers,
                scratch,
                of_block,
            ):
                scratch = scratch.larger()

        in_threads(answer, range(0, table.n_rows, BLOCK_ROWS), threads)
        return sums

    def _average_of_blocks(self, table: Table, policy: MissingPolicy) -> FloatArray:
        """`average` from the answers of all trees, for policies by which inner nodes answer."""
        averages = [np.empty((0, self._nodes.answers.shape[1]))]
        for start in range(0, table.n_rows, BLOCK_ROWS):
            rows = np.arange(start, min(start + BLOCK_ROWS, table.n_rows))
            averages.append(average(self.by_tree(table.take(rows), policy).answers))
        return np.concatenate(averages)

    def running_sums(self, table: Table, policy: MissingPolicy, counted: Iterable[BoolArray]) -> Iterator[FloatArray]:
        """`ensembles.prediction.predictor.running_sums`; all rows stay in memory as ranks."""
        from core.ensembles.prediction.kernels.predictor import add_tree, read_rows  # imports Numba

        buffers, scratch = self._buffers(table.n_rows), new_record_buffers(N_LEAVES)
        columns = self._columns(table, slice(None))
        read_rows(addresses(columns), np.uint64(table.n_rows), self._ranks, self._nodes, buffers)
        sums, added = (np.zeros((table.n_rows, self._nodes.answers.shape[1])) for _ in range(2))
        code, only_thresholds = POLICIES.index(policy), self._only_thresholds
        for tree, counts in enumerate(counted):
            added[:] = 0.0
            while not add_tree(self._nodes, tree, only_thresholds, code, buffers, scratch, counts, added):
                scratch, added = scratch.larger(), np.zeros_like(added)
            sums += added
            yield sums

    def by_tree(self, table: Table, policy: MissingPolicy) -> TreeAnswers:
        """`ensembles.prediction.predictor.answers_by_tree`."""
        from core.ensembles.prediction.kernels.predictor import reach_block  # imports Numba

        nodes, layout = self._nodes, self._layout
        answers = np.empty((self._n_trees, table.n_rows, nodes.answers.shape[1]))
        weights = np.empty((self._n_trees, table.n_rows))
        for start in range(0, table.n_rows, BLOCK_ROWS):
            n_rows = min(BLOCK_ROWS, table.n_rows - start)
            rows, buffers = slice(start, start + n_rows), self._buffers(n_rows)
            columns = self._columns(table, rows)
            reached = np.zeros((self._n_trees, len(buffers.is_incomplete)), dtype=np.uint32)
            reach_block(addresses(columns), n_rows, self._ranks, nodes, self._only_thresholds, buffers, reached)
            positions = reached[:, :n_rows]
            answers[:, rows] = nodes.answers[nodes.answer_of[positions]]
            weights[:, rows] = layout.weights(layout.order[positions].ravel()).reshape(positions.shape)
            for row in np.flatnonzero(buffers.is_incomplete[:n_rows]).tolist():
                ends = self._ends(np.array([column[row] for column in columns]), POLICIES.index(policy))
                answers[:, start + row] = ends.total(layout.answers(ends.nodes))
                weights[:, start + row] = ends.total(layout.weights(ends.nodes)[:, None])[:, 0]
        return TreeAnswers(answers, weights)

    def leaves(self, table: Table) -> tuple[NDArray[np.uint32], BoolArray]:
        """`[tree, row]`: the position of the leaf that a row reaches; and which rows have a value without a branch.

        The positions of the latter mean nothing.
        """
        from core.ensembles.prediction.kernels.predictor import reach_block  # imports Numba

        positions = np.empty((self._n_trees, table.n_rows), dtype=np.uint32)
        is_incomplete = np.empty(table.n_rows, dtype=np.bool_)
        for start in range(0, table.n_rows, BLOCK_ROWS):
            n_rows = min(BLOCK_ROWS, table.n_rows - start)
            rows, buffers = slice(start, start + n_rows), self._buffers(n_rows)
            columns = self._columns(table, rows)
            reached = np.zeros((self._n_trees, len(buffers.is_incomplete)), dtype=np.uint32)
            reach_block(addresses(columns), n_rows, self._ranks, self._nodes, self._only_thresholds, buffers, reached)
            positions[:, rows] = reached[:, :n_rows]
            is_incomplete[rows] = buffers.is_incomplete[:n_rows]
        return positions, is_incomplete

    def one(self, cells: Sequence[float], policy: MissingPolicy) -> tuple[float, ...]:
        """`ensembles.prediction.predictor.average_of_trees` of one record; NaN where a value is missing."""
        from core.ensembles.prediction.kernels.predictor import average_record  # imports Numba

        if policy is MissingPolicy.LAST_NODE:
            ends = self.ends(cells, policy)
            return tuple(average(ends.total(self._layout.answers(ends.nodes))).tolist())
        values, answer, scratch = (
            self._values(cells),
            np.empty(self._nodes.answers.shape[1]),
            new_record_buffers(N_LEAVES),
        )
        code = POLICIES.index(policy)
        while not average_record(values, self._ranks, self._nodes, self._only_thresholds, code, scratch, answer):
            scratch = scratch.larger()
        return tuple(answer.tolist())

    def ends(self, cells: Sequence[float], policy: MissingPolicy) -> Ends:
        """The leaves that answer a record, tree by tree; nodes are numbered through all trees."""
        return self._ends(self._values(cells), POLICIES.index(policy))

    def possible_ends(self, cells: Sequence[float]) -> Ends:
        """The leaves that a record reaches if every branch is taken where a value is missing."""
        from core.ensembles.prediction.kernels.predictor import EVERY_BRANCH  # imports Numba

        return self._ends(self._values(cells), EVERY_BRANCH)

    def _ends(self, values: FloatArray, policy: int) -> Ends:
        from core.ensembles.prediction.kernels.predictor import ends_of_record  # imports Numba

        starts, scratch = np.empty(self._n_trees + 1, dtype=np.int64), new_record_buffers(N_LEAVES)
        while not ends_of_record(values, self._ranks, self._nodes, self._only_thresholds, policy, scratch, starts):
            scratch = scratch.larger()
        nodes = self._layout.order[scratch.positions[: starts[-1]]].astype(np.int64)
        return Ends(starts, nodes, scratch.weights[: starts[-1]])

    def _values(self, cells: Sequence[float]) -> FloatArray:
        """The cells that tests read."""
        return np.array([cells[column] for column in self._layout.tested], dtype=np.float64)

    def _columns(self, table: Table, rows: slice) -> list[FloatArray]:
        """The columns that tests read, of some rows."""
        return [as_numbers(table.columns[column][rows]) for column in self._layout.tested]

    def _buffers(self, n_rows: int) -> BlockBuffers:
        """Buffers for a block of `n_rows` rows, in whole tiles."""
        n_tiles, n_columns = -(-n_rows // IN_FLIGHT), len(self._layout.tested)
        return BlockBuffers(
            tiles=np.full(n_tiles * n_columns * IN_FLIGHT, FIRST_CODE << self._nodes.column_bits, dtype=np.uint32),
            is_incomplete=np.zeros(n_tiles * IN_FLIGHT, dtype=np.bool_),
            has_incomplete=np.zeros(n_tiles, dtype=np.bool_),
            is_incomplete_here=np.zeros(IN_FLIGHT, dtype=np.bool_),
            is_other=np.zeros(IN_FLIGHT, dtype=np.bool_),
            reached=np.empty(IN_FLIGHT, dtype=np.uint32),
            slots=np.empty(IN_FLIGHT, dtype=np.uint32),
            copies=np.empty(MOST_COPIES, dtype=COPY),
            holes=np.empty(MOST_COPIES + 1, dtype=np.uint32),
            of_row=np.zeros(n_columns, dtype=np.uint32),
        )


def new_record_buffers(n: int) -> RecordBuffers:
    """Buffers for n leaves of a record."""
    return RecordBuffers(np.empty(n, dtype=np.uint32), np.empty(n), np.empty(n, dtype=np.uint32), np.empty(n))


def addresses(columns: list[FloatArray]) -> NDArray[np.uint64]:
    """The addresses of columns."""
    return np.array([address_of(cells) for cells in columns], dtype=np.uint64)


def address_of(values: NDArray[Any]) -> int:
    """The address of an array."""
    return int(values.__array_interface__["data"][0])


def in_threads(work: Callable[[int], None], items: Sequence[int], threads: int) -> None:
    """Do the work of every item, in as many threads."""
    if threads == 1 or len(items) == 1:
        for item in items:
            work(item)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, items):
            pass
