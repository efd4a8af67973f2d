"""Trees of a forest by ranks: as every node draws some of many columns, no tree needs sorted lists of its own."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray
from core.arithmetic.ties import TIE
from core.growth.kernels.inputs.coding import NumberColumns
from core.growth.kernels.inputs.columns import Weighing, n_classes_of, n_sums_of
from core.growth.kernels.lists.threads import GrowthEnded
from core.growth.kernels.ranks.grow import STOP, error_of, fill_thresholds, grow_ranked
from core.growth.kernels.ranks.local_ranks import fill_ranks
from core.growth.kernels.ranks.state import LOW_ROW, ranked_buffers
from core.growth.samples import Samples
from core.growth.tree_sample import TreeSample
from core.tables.target import Task
from core.tree.finished_nodes import FinishedNodes

MOST_ROWS = 1 << 24  # of a table whose subtrees can be numbered
COARSE_BITS = 16  # of a rank, which are read for every row; at most 8 more follow
MORE = 64  # buffers have capacity for 1/64 more rows than a tree needs: the next tree may have a few more


@dataclass(frozen=True)
class RankedTable:
    """The samples of all trees: the fields of the kernels' `Problem`, and the ranks of a `Bag`."""

    samples: Samples
    columns: NumberColumns
    problem: Any
    ranks: NDArray[np.uint16]
    fine: NDArray[np.uint8]
    fine_bits: NDArray[np.int64]


def is_ranked(samples: Samples, weighing: Weighing) -> bool:
    """Whether trees with column draws whose small subtrees are stored apart can be grown by ranks."""
    return weighing.is_whole and float(samples.weights.min()) >= 1 and len(samples) < MOST_ROWS


def ranked_table(samples: Samples, columns: NumberColumns, problem: Any) -> RankedTable:
    """The samples with their ranks, computed once for all trees."""
    lists, shift = problem[0], problem[16]
    most = [int(np.count_nonzero(entries >> 31)) for entries in lists]  # every entry with a new value has that bit
    fine_bits = np.array([max(0, rank.bit_length() - COARSE_BITS) for rank in most])
    ranks = np.empty((len(samples), len(lists)), dtype=np.uint16)
    fine = np.empty(lists.shape if fine_bits.any() else (len(lists), 0), dtype=np.uint8)
    for column, entries in enumerate(lists):
        fill_ranks(entries, shift, column, ranks, fine_bits[column], fine[column])
    return RankedTable(samples, columns, problem, ranks, fine, fine_bits)


class RankedScratch:
    """Scratch buffers in which a thread grows its trees, one after the other."""

    def __init__(self, samples: Samples) -> None:
        self.samples, self.is_number = samples, samples.target.task is Task.REGRESSION
        self.n_rows = -1

    def make(self, n_rows: int, n_drawn: int) -> None:
        """Make the buffers large enough for a tree of `n_rows` rows; `n_drawn` is the same for all trees."""
        if n_rows > self.n_rows:
            n_classes, n_columns = n_classes_of(self.samples), len(self.samples.attributes.schema)
            self.n_rows = n_rows + n_rows // MORE
            n_numbers, n_codes = (self.n_rows, 0) if self.is_number else (0, self.n_rows)
            self.spare = (
                np.empty(self.n_rows, dtype=np.uint32),
                np.empty(self.n_rows),
                np.empty(n_numbers),
                np.empty(n_codes, dtype=np.int32),
            )
            self.bag = ranked_buffers(len(self.samples), self.n_rows, n_columns, n_drawn, n_sums_of(self.samples))
            self.splits = np.empty((2 * self.n_rows, 4), dtype=np.int32)
            self.weights = np.empty((2 * self.n_rows, 1 if self.is_number else n_classes))
            n_errors = 2 * n_numbers
            self.numbers = [np.empty(n) for n in (2 * self.n_rows, n_errors, n_errors, n_errors)]


def tolerance_of(table: RankedTable, sample: TreeSample) -> float:
    """How close gains count as equal in the tree of a sample, as `best_split.objective_for` computes it."""
    if table.samples.target.task is Task.CLASSIFICATION:
        return TIE
    return TIE * float(error_of(table.problem[7], sample.rows, sample.weights))


def grow_by_ranks(
    table: RankedTable, sample: TreeSample, rules: Any, scratch: RankedScratch, progress: FloatArray
) -> FinishedNodes:
    """Grow the tree of a sample; its arrays may be overwritten when the next tree is grown."""
    problem, rows = table.problem, sample.rows
    assert sample.draw is not None
    scratch.make(len(rows), sample.draw.n_drawn)
    lists, distinct, shift, classes, numbers = problem[0], problem[2], problem[16], problem[6], problem[7]
    of_rows = (
        rows.astype(np.uint32),
        sample.weights,  # growth reorders them with the rows
        numbers[rows, 0] if scratch.is_number else np.empty(0),
        np.empty(0, dtype=np.int32) if scratch.is_number else classes[rows],
    )
    bag = lists, table.ranks, table.fine, table.fine_bits, distinct, shift, *of_rows, *scratch.spare, *scratch.bag
    n = int(grow_ranked(bag, rules, (scratch.splits, scratch.weights, *scratch.numbers), progress))
    if progress[STOP]:
        raise GrowthEnded
    del bag, of_rows  # their memory is reused for the narrowed arrays
    splits, weights, kinds = scratch.splits[:n], scratch.weights[:n], np.empty(n, dtype=np.int8)
    thresholds = splits.view(np.float64)[:, LOW_ROW // 2]  # in the memory of both rows
    fill_thresholds(splits, table.columns.addresses, len(table.samples), thresholds, kinds)
    gains, means, impurities, variances = (each[:n] for each in scratch.numbers)
    weights = weights.astype(np.min_scalar_type(int(weights[0].max())))  # whole numbers, the root's the largest
    kept = {"size": splits[:, 0], "column": splits[:, 1], "kind": kinds, "threshold": thresholds, "gain": gains}
    if scratch.is_number:
        kept |= {"weight": weights[:, 0], "impurity": impurities}
        kept |= {"values": means[:, None], "variances": variances[:, None]}
    else:
        kept |= {"values": weights, "variances": np.empty((n, 0))}
    return FinishedNodes(table.samples.target.task, kept)
