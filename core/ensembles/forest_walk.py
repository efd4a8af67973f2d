"""Records down all trees of a forest by compiled kernels: the answers of `forest_predictor`'s definitions, bit for bit.

Importing this module compiles nothing; calling it does, unless compiled code is found on disk.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.block_walk import COPY, as_numbers
from core.ensembles.forest_layout import ForestLayout
from core.ensembles.voting import TreeAnswers, average
from core.prediction import Ends, MissingPolicy
from core.table import BoolArray, FloatArray, Table
from core.tree_layout import IN_FLIGHT

BLOCK_ROWS = 4_096  # that stand near the processor while all trees come by
MOST_COPIES = 16_384  # of the rows of a tile; rows with more holes go down one by one
ROOM = 1_024  # for the leaves of a record to begin with
POLICIES = tuple(MissingPolicy)


class WaitingRoom(NamedTuple):
    """What a record needs that goes down many branches: leaves with weights, and places that wait."""

    places: NDArray[np.uint32]
    weights: FloatArray
    waiting: NDArray[np.uint32]
    waiting_weights: FloatArray

    def larger(self) -> "WaitingRoom":
        """Twice as much; what stood there is gone."""
        return waiting_room(2 * len(self.places))


class BlockRoom(NamedTuple):
    """What a block of rows needs: tiles of values, marks of rows without a value, and copies of such rows."""

    tiles: FloatArray
    totals: FloatArray
    is_open: BoolArray
    is_open_here: BoolArray
    reached: NDArray[np.uint32]
    slots: NDArray[np.uint32]
    copies: NDArray[np.void]
    holes: NDArray[np.uint32]
    cells: FloatArray


class ForestWalk:
    """A forest whose tests each ask for one attribute, ready for kernels."""

    def __init__(self, layout: ForestLayout) -> None:
        self._layout, self._nodes = layout, layout.nodes
        self._only_thresholds, self._n_trees = layout.only_thresholds, len(layout.forest)

    def average(self, table: Table, policy: MissingPolicy, threads: int) -> FloatArray:
        """`forest_predictor.average_of_trees`; blocks of rows are shared out among the threads."""
        from core.ensembles.forest_prediction_kernels import average_block

        if policy is MissingPolicy.LAST_NODE:  # inner nodes answer, and kernels know the answers of leaves only
            return self._average_of_blocks(table, policy)
        sums = np.zeros((table.n_rows, self._nodes.answers.shape[1]))

        def answer(start: int) -> None:
            columns, of_block = self._columns(table, start), sums[start : start + BLOCK_ROWS]
            room, waiting = self._room(len(of_block)), waiting_room(ROOM)
            while not average_block(
                addresses(columns),
                self._nodes,
                self._only_thresholds,
                POLICIES.index(policy),
                room,
                waiting,
                of_block,
            ):
                waiting = waiting.larger()

        in_threads(answer, range(0, table.n_rows, BLOCK_ROWS), threads)
        return sums

    def _average_of_blocks(self, table: Table, policy: MissingPolicy) -> FloatArray:
        """The same from all that the trees say."""
        averages = [np.empty((0, self._nodes.answers.shape[1]))]
        for start in range(0, table.n_rows, BLOCK_ROWS):
            rows = np.arange(start, min(start + BLOCK_ROWS, table.n_rows))
            averages.append(average(self.by_tree(table.take(rows), policy).answers))
        return np.concatenate(averages)

    def by_tree(self, table: Table, policy: MissingPolicy) -> TreeAnswers:
        """`forest_predictor.answers_by_tree`."""
        from core.ensembles.forest_prediction_kernels import reach_block

        nodes, layout = self._nodes, self._layout
        answers = np.empty((self._n_trees, table.n_rows, nodes.answers.shape[1]))
        weights = np.empty((self._n_trees, table.n_rows))
        for start in range(0, table.n_rows, BLOCK_ROWS):
            columns, n_rows = self._columns(table, start), min(BLOCK_ROWS, table.n_rows - start)
            room, rows = self._room(n_rows), slice(start, start + n_rows)
            reached = np.zeros((self._n_trees, len(room.totals)), dtype=np.uint32)
            reach_block(addresses(columns), n_rows, nodes, self._only_thresholds, room, reached)
            places = reached[:, :n_rows]
            answers[:, rows] = nodes.answers[nodes.answer_of[places]]
            weights[:, rows] = layout.weights(layout.order[places].ravel()).reshape(places.shape)
            for row in np.flatnonzero(room.is_open[:n_rows]).tolist():
                values = np.array([*(column[row] for column in columns), 0.0])
                ends = self._ends(values, POLICIES.index(policy))
                answers[:, start + row] = ends.total(layout.answers(ends.nodes))
                weights[:, start + row] = ends.total(layout.weights(ends.nodes)[:, None])[:, 0]
        return TreeAnswers(answers, weights)

    def leaves(self, table: Table) -> tuple[NDArray[np.uint32], BoolArray]:
        """`[tree, row]`: the place of the leaf that a row comes to, and which rows meet a value without a branch.

        What stands there for the latter means nothing.
        """
        from core.ensembles.forest_prediction_kernels import reach_block

        places = np.empty((self._n_trees, table.n_rows), dtype=np.uint32)
        is_open = np.empty(table.n_rows, dtype=np.bool_)
        for start in range(0, table.n_rows, BLOCK_ROWS):
            columns, n_rows = self._columns(table, start), min(BLOCK_ROWS, table.n_rows - start)
            room = self._room(n_rows)
            reached = np.zeros((self._n_trees, len(room.totals)), dtype=np.uint32)
            reach_block(addresses(columns), n_rows, self._nodes, self._only_thresholds, room, reached)
            places[:, start : start + n_rows] = reached[:, :n_rows]
            is_open[start : start + n_rows] = room.is_open[:n_rows]
        return places, is_open

    def one(self, cells: Sequence[float], policy: MissingPolicy) -> tuple[float, ...]:
        """`forest_predictor.average_of_trees` of one record; NaN where a value is missing."""
        from core.ensembles.forest_prediction_kernels import one_record, open_record

        values, answer = self._values(cells), np.empty(self._nodes.answers.shape[1])
        if not (self._only_thresholds and one_record(self._nodes, values, answer)):
            if policy is MissingPolicy.LAST_NODE:
                ends = self._ends(values, POLICIES.index(policy))
                return tuple(average(ends.total(self._layout.answers(ends.nodes))).tolist())
            code, waiting = POLICIES.index(policy), waiting_room(ROOM)
            while not open_record(self._nodes, self._only_thresholds, code, values, waiting, answer):
                waiting = waiting.larger()
        return tuple(answer.tolist())

    def ends(self, cells: Sequence[float], policy: MissingPolicy) -> Ends:
        """The leaves that answer a record, tree by tree; nodes are counted through all trees."""
        return self._ends(self._values(cells), POLICIES.index(policy))

    def possible_ends(self, cells: Sequence[float]) -> Ends:
        """The leaves that a record comes to if every branch is taken where a value is missing."""
        from core.ensembles.forest_prediction_kernels import EVERY_BRANCH

        return self._ends(self._values(cells), EVERY_BRANCH)

    def _ends(self, values: FloatArray, policy: int) -> Ends:
        from core.ensembles.forest_prediction_kernels import forest_ends

        starts, waiting = np.empty(self._n_trees + 1, dtype=np.int64), waiting_room(ROOM)
        while not forest_ends(self._nodes, self._only_thresholds, policy, values, waiting, starts):
            waiting = waiting.larger()
        nodes = self._layout.order[waiting.places[: starts[-1]]].astype(np.int64)
        return Ends(starts, nodes, waiting.weights[: starts[-1]])

    def _values(self, cells: Sequence[float]) -> FloatArray:
        """The cells that tests read, and one 0 more, for leaves."""
        return np.array([*(cells[column] for column in self._layout.tested), 0.0], dtype=np.float64)

    def _columns(self, table: Table, start: int) -> list[FloatArray]:
        """The columns that tests read, of the rows of a block."""
        rows = slice(start, start + BLOCK_ROWS)
        return [as_numbers(table.columns[column][rows]) for column in self._layout.tested]

    def _room(self, n_rows: int) -> BlockRoom:
        """Room for a block of so many rows, in whole tiles."""
        n_tiles, n_columns = -(-n_rows // IN_FLIGHT), len(self._layout.tested) + 1
        return BlockRoom(
            tiles=np.zeros(n_tiles * n_columns * IN_FLIGHT),
            totals=np.empty(n_tiles * IN_FLIGHT),
            is_open=np.zeros(n_tiles * IN_FLIGHT, dtype=np.bool_),
            is_open_here=np.zeros(IN_FLIGHT, dtype=np.bool_),
            reached=np.empty(IN_FLIGHT, dtype=np.uint32),
            slots=np.empty(IN_FLIGHT, dtype=np.uint32),
            copies=np.empty(MOST_COPIES, dtype=COPY),
            holes=np.empty(MOST_COPIES + 1, dtype=np.uint32),
            cells=np.zeros(n_columns),
        )


def waiting_room(n: int) -> WaitingRoom:
    """Room for so many leaves of a record."""
    return WaitingRoom(np.empty(n, dtype=np.uint32), np.empty(n), np.empty(n, dtype=np.uint32), np.empty(n))


def addresses(columns: list[FloatArray]) -> NDArray[np.uint64]:
    """Where columns are in memory."""
    return np.array([cells.__array_interface__["data"][0] for cells in columns], dtype=np.uint64)


def in_threads(work: Callable[[int], None], items: Sequence[int], threads: int) -> None:
    """Do the work of every item, some at the same time."""
    if threads == 1 or len(items) == 1:
        for item in items:
            work(item)
        return
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(work, items):
            pass
