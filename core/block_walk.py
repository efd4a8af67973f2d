"""Many records down a tree at once, block by block, by compiled kernels: the answers of `prediction`, bit for bit.

Importing this module compiles nothing; calling it does, unless compiled code is found on disk.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.prediction import MissingPolicy
from core.table import Column, FloatArray, RowArray, Table
from core.tree import Tree, TreeView
from core.tree_layout import THRESHOLD, Layout

BLOCK_ROWS = 24_000  # not a power of 2: columns must not fall on the same lines of the processor's cache
MOST_COPIES = 16_384  # of 64 rows at a time; rows with more holes go down together
POLICIES = tuple(MissingPolicy)

Reached = list[list[tuple[int, float]]]
Arrival = tuple[int, RowArray, FloatArray]


class Copies(NamedTuple):
    """The parts of some rows on their way down; `after[i]` is the next part of the same row, 0 for none."""

    row: NDArray[np.uint32]
    place: NDArray[np.uint32]
    weight: FloatArray
    after: NDArray[np.uint32]
    value: FloatArray
    holes: NDArray[np.uint32]


class Memory(NamedTuple):
    """What a walk of whole nodes works in: lists of rows and weights, nodes that wait, and the visits kept."""

    entries: NDArray[np.uint32]
    weights: FloatArray
    branches: NDArray[np.int32]
    frames: NDArray[np.int64]
    ends: NDArray[np.int64]
    kept_rows: NDArray[np.uint32]
    kept_weights: FloatArray
    kept_places: NDArray[np.uint32]
    kept_ends: NDArray[np.int64]
    counts: NDArray[np.int64]  # of nodes that wait, of rows kept, of visits kept

    def larger(self) -> "Memory":
        """Twice as much, with the same contents."""
        return Memory._make(values if values is self.counts else _doubled(values) for values in self)


@dataclass(frozen=True)
class Block:
    """Some rows of a table: `values[column, row]` of the columns that are read.

    Codes are numbers here, and everything that is missing is NaN; one more column is all 0.
    """

    start: int
    values: FloatArray

    @property
    def n_rows(self) -> int:
        return self.values.shape[1]

    @property
    def rows(self) -> slice:
        """The rows in the table."""
        return slice(self.start, self.start + self.n_rows)


class BlockWalk:
    """A view, ready for tables."""

    def __init__(self, layout: Layout, view: TreeView) -> None:
        self._layout, self._nodes = layout, layout.nodes_of(view)
        self._depth = view.max_depth
        self._only_thresholds = bool((self._nodes.kind == THRESHOLD).all())
        # A category that no branch takes is like a missing value, though the row knows it.
        self._takes_all = bool((layout.tree.branch_of >= 0).all())

    def answers(self, table: Table, policy: MissingPolicy) -> FloatArray:
        """`prediction.predict`; besides the answers it takes no more memory than some blocks do."""
        from core.prediction_kernels import ANSWERS

        out = np.empty((table.n_rows, self._nodes.answers.shape[1]))
        memory, copies = None, new_copies()
        for block in self._blocks(table, BLOCK_ROWS):
            answers = out[block.rows]
            _, rows = self._send_complete(block, answers)
            if policy is MissingPolicy.WEIGHTED and self._only_thresholds:
                rows = self._answer_weighted(block, rows, copies, answers)
            if len(rows):
                answers[rows] = 0.0
                memory = self._walk(block, rows, policy, ANSWERS, answers, memory)
        return out

    def leaves_reached(self, table: Table, policy: MissingPolicy) -> Reached:
        """`prediction.leaves_reached`."""
        from core.prediction_kernels import ENDS

        reached: Reached = []
        for block in self._blocks(table, BLOCK_ROWS):
            places, others = self._send_complete(block, np.empty((0, 0)))
            of_block = [[(leaf, 1.0)] for leaf in self._layout.order[places].tolist()]
            for row in others.tolist():
                of_block[row] = []
            for node, rows, weights in self._kept(block, others, policy, ENDS):
                for row, weight in zip(rows.tolist(), weights.tolist(), strict=True):
                    of_block[row].append((node, weight))
            reached.extend(of_block)
        return reached

    def arrivals(self, table: Table, policy: MissingPolicy) -> Iterator[Arrival]:
        """Node, rows and weights of `prediction.visits`; the whole table is one block."""
        from core.prediction_kernels import VISITS

        for block in self._blocks(table, max(1, table.n_rows)):
            everyone = np.arange(table.n_rows, dtype=np.uint32)
            for node, rows, weights in self._kept(block, everyone, policy, VISITS):
                yield node, rows.astype(np.int64), weights

    def _blocks(self, table: Table, n_rows: int) -> Iterator[Block]:
        """The table, so many rows at a time; a block is good until the next one is asked for."""
        columns = [table.columns[column] for column in self._layout.columns]
        memory = np.empty((len(columns) + 1) * min(n_rows, table.n_rows))
        for start in range(0, table.n_rows, n_rows):
            n = min(n_rows, table.n_rows - start)
            values = memory[: (len(columns) + 1) * n].reshape(len(columns) + 1, n)
            read_columns([cells[start : start + n] for cells in columns], values)
            yield Block(start, values)

    def _send_complete(self, block: Block, answers: FloatArray) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Send complete rows to their leaves: the places of these, and the other rows, which have no place yet.

        Where some category has no branch, a row is never known to be complete.
        """
        from core.prediction_kernels import IN_FLIGHT, send_complete

        reached, others = np.zeros(block.n_rows, dtype=np.uint32), np.arange(block.n_rows, dtype=np.uint32)
        if not self._takes_all:
            return reached, others
        total, n_tested = np.empty(IN_FLIGHT), len(self._layout.tested)
        n = send_complete(
            self._nodes, self._depth, self._only_thresholds, block.values, n_tested, total, reached, others, answers
        )
        return reached, others[:n]

    def _answer_weighted(
        self, block: Block, rows: NDArray[np.uint32], copies: Copies, answers: FloatArray
    ) -> NDArray[np.uint32]:
        """Answer rows with missing values by copies; those that would take too many are left, and given back."""
        from core.prediction_kernels import IN_FLIGHT, weighted_answers

        left = []
        while len(rows):
            rows = rows[weighted_answers(self._nodes, self._depth, block.values, rows, copies, answers) :]
            left.append(rows[:IN_FLIGHT])
            rows = rows[IN_FLIGHT:]
        return np.concatenate(left) if left else rows

    def _kept(
        self, block: Block, rows: NDArray[np.uint32], policy: MissingPolicy, keeps: int
    ) -> Iterator[tuple[int, NDArray[np.uint32], FloatArray]]:
        """What a walk kept: nodes, and the rows and weights at each."""
        memory = self._walk(block, rows, policy, keeps, np.empty((0, 0)), None)
        n_visits = int(memory.counts[2])
        ends, nodes = memory.kept_ends[:n_visits].tolist(), self._layout.order[memory.kept_places[:n_visits]].tolist()
        for node, start, end in zip(nodes, [0, *ends], ends, strict=False):
            yield node, memory.kept_rows[start:end], memory.kept_weights[start:end]

    def _walk(
        self,
        block: Block,
        rows: NDArray[np.uint32],
        policy: MissingPolicy,
        keeps: int,
        answers: FloatArray,
        memory: Memory | None,
    ) -> Memory:
        """The walk of whole nodes, in as much memory as it needs."""
        from core.prediction_kernels import walk

        memory = begun(memory or new_memory(len(rows), self._layout.tree), rows)
        stand_ins, code = self._layout.stand_ins, POLICIES.index(policy)
        while not walk(self._nodes, stand_ins, code, keeps, block.values, answers, memory):
            memory = memory.larger()
        return memory


def begun(memory: Memory, rows: NDArray[np.uint32]) -> Memory:
    """The memory with these rows waiting at the root, each with weight 1; larger where they do not fit."""
    n = len(rows)
    while len(memory.branches) < n:
        memory = memory.larger()
    memory.entries[:n], memory.weights[:n] = rows, 1.0
    memory.frames[0] = (0, 0, n, 0, 0, n)
    memory.counts[:] = (1, 0, 0)
    return memory


def new_memory(n_rows: int, tree: Tree) -> Memory:
    """Enough for a walk of so many rows, if few of them lack values and nodes of very many branches are rare."""
    from core.prediction_kernels import FIELDS

    n, most_branches = max(64, n_rows), int(tree.n_children.max())
    return Memory(
        entries=np.empty(4 * n, dtype=np.uint32),
        weights=np.empty(4 * n),
        branches=np.empty(n, dtype=np.int32),
        frames=np.empty((256 + 2 * most_branches, FIELDS), dtype=np.int64),
        ends=np.empty(64 + most_branches, dtype=np.int64),
        kept_rows=np.empty(2 * n, dtype=np.uint32),
        kept_weights=np.empty(2 * n),
        kept_places=np.empty(256 + len(tree), dtype=np.uint32),
        kept_ends=np.empty(256 + len(tree), dtype=np.int64),
        counts=np.zeros(3, dtype=np.int64),
    )


def new_copies() -> Copies:
    """Room for copies."""
    return Copies(
        row=np.empty(MOST_COPIES, dtype=np.uint32),
        place=np.empty(MOST_COPIES, dtype=np.uint32),
        weight=np.empty(MOST_COPIES),
        after=np.empty(MOST_COPIES, dtype=np.uint32),
        value=np.empty(MOST_COPIES),
        holes=np.empty(MOST_COPIES + 1, dtype=np.uint32),
    )


def _doubled(values: Any) -> Any:
    larger = np.empty((2 * len(values), *values.shape[1:]), dtype=values.dtype)
    larger[: len(values)] = values
    return larger


def read_columns(columns: list[Column], values: FloatArray) -> None:
    """Fill a block: all columns as numbers, NaN where they are missing, and one more of 0."""
    if columns:
        np.concatenate(columns, out=values[:-1].reshape(-1))
    for place, cells in enumerate(columns):
        if cells.dtype != np.float64:
            values[place, cells < 0] = np.nan
    values[-1] = 0.0
