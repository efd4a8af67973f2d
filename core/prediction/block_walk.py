"""Many records down a tree at once, block by block, by compiled kernels: the answers of `routing`, bit for bit.

Importing this module compiles nothing; calling it does, unless compiled code is found on disk.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray, RowArray
from core.compiler.raw_memory import address_of
from core.prediction.routing import Ends, Met, MissingPolicy, ends_of
from core.splits.split import weighted_sums
from core.tables.table import Column, Table
from core.tree.layout import IN_FLIGHT, THRESHOLD, Layout
from core.tree.tree import Tree, TreeView

BLOCK_ROWS = 64_000
WALK_ROWS = 24_000  # not a power of 2, so that columns do not compete for the same cache lines
N_TILES = 16  # read at a time: enough for long runs in memory, few enough to stay in the cache
MOST_COPIES = 16_384  # of a tile's rows; where more are needed, rows go through `walk`
MOST_POSITIONS = 1 << 26  # that fit into the key of a copy
POLICIES = tuple(MissingPolicy)

# A weighted copy of a row on its way down: its position and row, its weight, and the row's next copy, 0 for none.
COPY = np.dtype([("weight", np.float64), ("key", np.uint32), ("after", np.uint32)])

Arrival = tuple[int, RowArray, FloatArray]


class TileBuffers(NamedTuple):
    """Buffers of `kernels.routing.answer_rows`: tiles of values, totals of rows, and copies of incomplete rows."""

    tiles: FloatArray
    totals: FloatArray
    slots: NDArray[np.uint32]
    copies: NDArray[np.void]
    holes: NDArray[np.uint32]


class Memory(NamedTuple):
    """Memory of `kernels.routing.walk`: lists of rows and weights, frames of nodes to visit, and recorded visits."""

    entries: NDArray[np.uint32]
    weights: FloatArray
    branches: NDArray[np.int32]
    frames: NDArray[np.int64]
    ends: NDArray[np.int64]
    kept_rows: NDArray[np.uint32]
    kept_weights: FloatArray
    kept_positions: NDArray[np.uint32]
    kept_ends: NDArray[np.int64]
    counts: NDArray[np.int64]  # of frames, of rows recorded, of visits recorded

    def larger(self) -> "Memory":
        """A copy of twice the size, with the same contents."""
        return Memory._make(values if values is self.counts else _doubled(values) for values in self)


@dataclass(frozen=True)
class Kept:
    """Recorded visits in the order of the walk; visit v has rows and weights from `starts[v]` to `starts[v + 1]`."""

    nodes: RowArray
    starts: NDArray[np.int64]
    rows: NDArray[np.uint32]
    weights: FloatArray

    def __iter__(self) -> Iterator[tuple[int, NDArray[np.uint32], FloatArray]]:
        for node, (start, end) in zip(self.nodes.tolist(), pairwise(self.starts.tolist()), strict=True):
            yield node, self.rows[start:end], self.weights[start:end]

    @property
    def every(self) -> tuple[RowArray, NDArray[np.uint32], FloatArray]:
        """Node, row and weight of every arrival."""
        end = self.starts[-1]
        return np.repeat(self.nodes, np.diff(self.starts)), self.rows[:end], self.weights[:end]


@dataclass(frozen=True)
class Block:
    """The columns of some rows that tests read; codes are numbers here, and NaN is missing."""

    start: int
    n_rows: int
    columns: list[FloatArray]

    @property
    def rows(self) -> slice:
        """The range of table rows in the block."""
        return slice(self.start, self.start + self.n_rows)

    @property
    def addresses(self) -> NDArray[np.uint64]:
        """The addresses of the columns."""
        return np.array([address_of(cells) for cells in self.columns], dtype=np.uint64)

    def values(self, rows: NDArray[np.uint32]) -> FloatArray:
        """`values[column, row]` of some rows, with one more column of zeros."""
        values = np.empty((len(self.columns) + 1, len(rows)))
        for position, cells in enumerate(self.columns):
            np.take(cells, rows, out=values[position])
        values[-1] = 0.0
        return values


class BlockWalk:
    """Predicts tables with a view of a tree."""

    def __init__(self, layout: Layout, view: TreeView) -> None:
        self._layout, self._nodes = layout, layout.nodes_of(view)
        self._depth = view.max_depth
        self._kinds = int(self._nodes.kind.max())
        # A category that no branch takes is like a missing value, though the row knows it.
        self._takes_all = layout.tree.takes_all

    def answers(self, table: Table, policy: MissingPolicy) -> FloatArray:
        """`routing.predict`, block by block, so memory does not grow with the table."""
        from core.prediction.kernels.routing import ANSWERS  # imports Numba

        n_outputs = self._layout.tree.values.shape[1]
        out, memory, buffers = np.empty((table.n_rows, n_outputs)), None, self._buffers()
        by_copies = (
            policy is MissingPolicy.WEIGHTED and self._kinds == THRESHOLD and len(self._nodes.first) <= MOST_POSITIONS
        )
        for block in self._blocks(table, BLOCK_ROWS):
            answers = out[block.rows]
            _, rows = self._answer_quickly(block, buffers, answers, by_copies=by_copies)
            for some in np.split(rows, range(WALK_ROWS, len(rows), WALK_ROWS)):
                of_some = np.zeros((len(some), n_outputs))
                memory = self._walk(block.values(some), policy, ANSWERS, of_some, memory)
                answers[some] = of_some
        return out

    def ends(self, table: Table, policy: MissingPolicy) -> Ends:
        """`routing.ends`."""
        from core.prediction.kernels.routing import ENDS  # imports Numba

        buffers, nothing, met = self._buffers(), np.empty((0, 0)), list[Met]()
        leaves = np.empty(table.n_rows, dtype=np.int64)
        for block in self._blocks(table, BLOCK_ROWS):
            positions, others = self._answer_quickly(block, buffers, nothing, by_copies=False)
            leaves[block.rows] = self._layout.order[positions]
            if len(others):
                leaves[block.start + others] = -1
                nodes, rows, weights = self._kept(block.values(others), policy, ENDS).every
                met.append((nodes, block.start + others[rows].astype(np.int64), weights))
        if not met:
            return Ends(np.arange(table.n_rows + 1), leaves, np.ones(table.n_rows))
        whole = np.flatnonzero(leaves >= 0)
        return ends_of([(leaves[whole], whole, np.ones(len(whole))), *met], table.n_rows)

    def leaves_of_complete(self, table: Table) -> RowArray:
        """The leaf of each row that has every value its path tests; -1 for the others."""
        buffers, nothing = self._buffers(), np.empty((0, 0))
        leaves = np.empty(table.n_rows, dtype=np.int64)
        for block in self._blocks(table, BLOCK_ROWS):
            positions, others = self._answer_quickly(block, buffers, nothing, by_copies=False)
            of_block = leaves[block.rows]
            of_block[:] = self._layout.order[positions]
            of_block[others] = -1
        return leaves

    def leaves_of_numbers(self, columns: NDArray[np.uint64], n_rows: int) -> RowArray | None:
        """The leaves of complete rows whose columns are float64 at these addresses; None with linear tests."""
        if not self._takes_all or self._layout.sums:
            return None
        tested = columns[np.array(self._layout.tested, dtype=np.int64)]
        positions, _ = self._go_down(tested, n_rows, self._buffers(), np.empty((0, 0)), by_copies=False)
        return self._layout.order[positions]

    def arrivals(self, table: Table, policy: MissingPolicy) -> Iterator[Arrival]:
        """Node, rows and weights of `routing.visits`, with the whole table as one block."""
        from core.prediction.kernels.routing import VISITS  # imports Numba

        for block in self._blocks(table, max(1, table.n_rows)):
            everyone = np.arange(table.n_rows, dtype=np.uint32)
            for node, rows, weights in self._kept(block.values(everyone), policy, VISITS):
                yield node, rows.astype(np.int64), weights

    def _blocks(self, table: Table, n_rows: int) -> Iterator[Block]:
        """The table in blocks of `n_rows` rows."""
        layout = self._layout
        for start in range(0, table.n_rows, n_rows):
            rows = slice(start, min(start + n_rows, table.n_rows))
            tested, surrogates = (
                [as_numbers(table.columns[column][rows]) for column in columns]
                for columns in (layout.tested, layout.only_surrogates)
            )
            sums = [weighted_sums(terms, table.columns, rows) for terms in layout.sums]
            yield Block(start, rows.stop - start, [*tested, *sums, *surrogates])

    def _buffers(self) -> TileBuffers:
        """New buffers for `_answer_quickly`."""
        return TileBuffers(
            tiles=np.zeros(N_TILES * (self._layout.n_columns + 1) * IN_FLIGHT),
            totals=np.empty(N_TILES * IN_FLIGHT),
            slots=np.empty(IN_FLIGHT, dtype=np.uint32),
            copies=np.empty(MOST_COPIES, dtype=COPY),
            holes=np.empty(MOST_COPIES + 1, dtype=np.uint32),
        )

    def _answer_quickly(
        self, block: Block, buffers: TileBuffers, answers: FloatArray, *, by_copies: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Answer complete rows, and others by copies if `by_copies`: the positions of leaves, and the rows left.

        Where some category has no branch, all rows are left: a known value may lead nowhere.
        """
        if not self._takes_all:
            return np.zeros(block.n_rows, dtype=np.uint32), np.arange(block.n_rows, dtype=np.uint32)
        tested = block.addresses[: self._layout.n_tested]
        return self._go_down(tested, block.n_rows, buffers, answers, by_copies=by_copies)

    def _go_down(
        self, tested: NDArray[np.uint64], n_rows: int, buffers: TileBuffers, answers: FloatArray, *, by_copies: bool
    ) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        from core.prediction.kernels.routing import answer_rows  # imports Numba

        reached, left = np.zeros(n_rows + IN_FLIGHT, dtype=np.uint32), np.empty(n_rows, dtype=np.uint32)
        n = answer_rows(tested, self._nodes, self._depth, self._kinds, by_copies, buffers, reached, left, answers)
        return reached[:n_rows], left[:n]

    def _kept(self, values: FloatArray, policy: MissingPolicy, keeps: int) -> Kept:
        """What a walk records: nodes, and the rows and weights at each."""
        memory = self._walk(values, policy, keeps, np.empty((0, 0)), None)
        n_visits = int(memory.counts[2])
        nodes = self._layout.order[memory.kept_positions[:n_visits]]
        return Kept(nodes, np.append(0, memory.kept_ends[:n_visits]), memory.kept_rows, memory.kept_weights)

    def _walk(
        self,
        values: FloatArray,
        policy: MissingPolicy,
        keeps: int,
        answers: FloatArray,
        memory: Memory | None,
    ) -> Memory:
        """Run `kernels.routing.walk` on all rows of `values[column, row]`, enlarging its memory as needed."""
        from core.prediction.kernels.routing import walk  # imports Numba

        n_rows = values.shape[1]
        memory = begun(memory or new_memory(n_rows, self._layout.tree), n_rows)
        surrogates, code = self._layout.surrogate_tests, POLICIES.index(policy)
        while not walk(self._nodes, surrogates, code, keeps, values, answers, memory):
            memory = memory.larger()
        return memory


def begun(memory: Memory, n: int) -> Memory:
    """The memory with n rows at the root, each with weight 1; enlarged if they do not fit."""
    while len(memory.branches) < n:
        memory = memory.larger()
    memory.entries[:n], memory.weights[:n] = np.arange(n), 1.0
    memory.frames[0] = (0, 0, n, 0, 0, n)
    memory.counts[:] = (1, 0, 0)
    return memory


def new_memory(n_rows: int, tree: Tree) -> Memory:
    """Memory for a walk of `n_rows` rows; enough if few values are missing and few nodes have very many branches."""
    from core.prediction.kernels.routing import FIELDS  # imports Numba

    n, most_branches = max(64, n_rows), int(tree.n_children.max())
    return Memory(
        entries=np.empty(4 * n, dtype=np.uint32),
        weights=np.empty(4 * n),
        branches=np.empty(n, dtype=np.int32),
        frames=np.empty((256 + 2 * most_branches, FIELDS), dtype=np.int64),
        ends=np.empty(64 + most_branches, dtype=np.int64),
        kept_rows=np.empty(2 * n, dtype=np.uint32),
        kept_weights=np.empty(2 * n),
        kept_positions=np.empty(256 + len(tree), dtype=np.uint32),
        kept_ends=np.empty(256 + len(tree), dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
    )


def _doubled(values: Any) -> Any:
    larger = np.empty((2 * len(values), *values.shape[1:]), dtype=values.dtype)
    larger[: len(values)] = values
    return larger


def as_numbers(cells: Column) -> FloatArray:
    """Cells as contiguous float64, codes as numbers, NaN for missing; no copy where they are so already."""
    if cells.dtype != np.float64:
        return np.where(cells < 0, np.nan, cells)
    if cells.flags.c_contiguous and cells.flags.aligned:
        return cells.view(np.float64)
    return np.require(cells, np.float64, ("C", "A"))
