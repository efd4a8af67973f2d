"""The scratch buffers of a thread."""

from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.compiler.cache_lines import in_lines
from core.compiler.eight_lanes import WIDTH
from core.config.options import Algorithm, CriterionKind, MissingStrategy
from core.growth.kernels.bounds.block_sums import LONGEST_OF_WORDS, length_of_lefts, most_blocks
from core.growth.kernels.bounds.bound import n_lines_of
from core.growth.kernels.bounds.search import MOST_AT_ONCE
from core.growth.kernels.bounds.weight_flags import CLASS_BITS, MOST_KINDS
from core.growth.kernels.inputs.columns import Column, Weighing, n_classes_of, n_sums_of
from core.growth.kernels.lists.rules import criterion_of, is_bounded, way_of
from core.growth.kernels.lists.surrogates import N_OF_GROUP
from core.growth.kernels.node.split_list import BOTH
from core.growth.kernels.small.scratch import small_buffers
from core.growth.samples import Samples
from core.missing.surrogates import MOST_SURROGATES
from core.splits.kernels import candidates as ways
from core.splits.kernels.categorical import scratch_for
from core.splits.kernels.numeric import BLOCK
from core.tables.target import ClassTarget

MOST_COUNTS = 4_000_000  # counts that are kept for waiting nodes


def work_for(
    samples: Samples, algorithm: Algorithm, columns: list[Column], weighing: Weighing, *, has_draws: bool = False
) -> tuple[Any, ...]:
    """The scratch buffers of one thread: the fields of the kernels' `Work`."""
    n_rows, n_slots = len(samples), sum(column.n_slots for column in columns)
    n_lists, n_classes, n_sums = len(columns), n_classes_of(samples), n_sums_of(samples)
    n_levels = [column.coding.n_levels for column in columns if column.coding is not None]
    most_levels, n_all_levels = max(n_levels, default=0), sum(n_levels) + len(n_levels)
    n_branches = max(2, most_levels)
    n_gaps, n_thresholds = most_positions(samples, algorithm)
    n_blocks = most_blocks(n_rows) if is_bounded(samples, algorithm) else 0
    n_together = most_blocks(min(n_rows, MOST_AT_ONCE)) if n_blocks else 0
    n_lines, n_words = n_lines_of(criterion_of(algorithm)), LONGEST_OF_WORDS + WIDTH
    has_counts_only = weighing.is_unit and algorithm.criterion.kind is not CriterionKind.ERROR_RATE
    return (
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(n_classes, dtype=np.int64),
        np.zeros(2 * n_sums),
        np.zeros(n_sums),
        np.empty((0 if has_counts_only else max(n_rows // BLOCK, n_blocks) + 4, n_sums)),
        np.empty((n_lists, n_lines, length_of_lefts(n_together)), dtype=np.float32),
        np.empty((n_lines, length_of_lefts(n_blocks)), dtype=np.float32),
        np.empty(n_blocks, dtype=np.int64),
        np.empty(0 if weighing.is_counted else max(length_of_lefts(n_together), n_words), dtype=np.uint64),
        np.empty(MOST_KINDS if weighing.has_missing else 0),
        np.zeros(MOST_KINDS << CLASS_BITS if weighing.has_missing else 0, dtype=np.uint64),
        np.empty(WIDTH, dtype=np.uint64),
        np.empty(0 if weighing.is_counted or not n_blocks else n_rows, dtype=np.uint64),
        np.ones(2),
        np.zeros(n_lists),
        np.zeros(n_lists),
        np.zeros((n_lists, n_sums)),
        np.zeros(n_slots),
        np.zeros(n_slots),
        np.zeros((n_slots, 4), dtype=np.int64),
        np.zeros(n_slots, dtype=np.bool_),
        np.zeros(n_branches),
        np.zeros(n_rows, dtype=np.uint8),
        np.zeros(n_rows if most_levels else 0, dtype=np.uint16),
        np.zeros(1 + BOTH, dtype=np.uint32),
        np.empty(0 if weighing.is_counted else n_rows, dtype=np.uint32),
        np.zeros((2, 4)),
        ways_of_rows(),
        ways_of_rows(),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.zeros((sum(column.is_bit for column in columns), n_classes), dtype=np.uint32),
        np.zeros(counts_for(weighing, n_rows, n_classes, n_all_levels), dtype=np.uint32),
        np.zeros((n_all_levels, n_sums)),
        np.zeros(n_all_levels),
        np.zeros(n_all_levels, dtype=np.int64),
        np.zeros(len(n_levels), dtype=np.int64),
        np.zeros(len(n_levels)),
        np.zeros(len(n_levels), dtype=np.bool_),
        np.zeros(n_all_levels, dtype=np.bool_),
        np.zeros(most_levels + 1, dtype=np.uint16),
        np.zeros(most_levels + 1, dtype=np.uint8),
        np.zeros((4, n_branches), dtype=np.int64),
        np.zeros(most_levels),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_branches, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        np.zeros(n_lists + 1, dtype=np.int64),
        scratch_for(max(1, most_levels), n_sums),
        np.full(n_slots, np.nan),
        np.zeros(n_slots),
        np.zeros(n_gaps, dtype=np.int64),
        np.zeros(n_thresholds),
        np.zeros(n_gaps),
        np.ones(n_slots, dtype=np.bool_),
        np.arange(len(columns)),
        np.zeros(len(columns), dtype=np.int64),
        np.empty((n_rows if has_draws and has_pairs(samples, weighing) else 0, 2)),
        *small_buffers(len(columns), n_rows, n_sums),
        *surrogate_buffers(algorithm, n_rows, len(columns), n_all_levels),
    )


def surrogate_buffers(algorithm: Algorithm, n_rows: int, n_columns: int, n_levels: int) -> tuple[Any, ...]:
    """Buffers for a node's rows by value, for the codes of all coded columns, and for the surrogate of each column."""
    if algorithm.missing is not MissingStrategy.SURROGATE:
        n_rows, n_columns, n_levels = 0, 0, 0
    return (
        np.empty((n_rows, N_OF_GROUP)),
        np.empty((n_levels, 2)),
        np.empty(n_columns),
        np.empty(n_columns),
        np.empty(n_columns, dtype=np.bool_),
        np.empty(n_levels, dtype=np.uint8),
        np.empty(MOST_SURROGATES, dtype=np.int64),
        np.empty(MOST_SURROGATES),
    )


def has_pairs(samples: Samples, weighing: Weighing) -> bool:
    """Whether a row's weight and number are stored as a pair: where one number is predicted and weights differ."""
    target = samples.target
    return not isinstance(target, ClassTarget) and target.numbers.shape[1] == 1 and not weighing.is_unit


def ways_of_rows() -> FloatArray:
    """Factors for `compiler.eight_lanes.plus_products`: how much of a row's weight is added to each of eight sums.

    There are eight for each way that rows go (left 1, right 2, both 3) and class: the branch's weight, then the weights
    of its classes, for the left branch and then the right one. A row that goes both ways adds nothing until its shares
    are filled in.
    """
    ways = in_lines((4, 4, 2, 4))
    for branch in range(2):
        ways[1 + branch, :, branch, 0] = 1.0
        for k in range(3):
            ways[1 + branch, k, branch, 1 + k] = 1.0
    return ways.reshape(-1)


def counts_for(weighing: Weighing, n_rows: int, n_classes: int, n_levels: int) -> tuple[int, int, int]:
    """The shape of the counts kept for waiting nodes, by class and code.

    There is one table for each node that can wait in a binary tree, but fewer if that were more than `MOST_COUNTS`
    counts. The smaller child is grown first, so the number of rows is at least halved with every node that waits.
    """
    if not weighing.is_counted:
        return 1, 0, 0
    return min(n_rows.bit_length() + 1, 1 + MOST_COUNTS // max(1, n_classes * n_levels)), n_classes, n_levels


def most_positions(samples: Samples, algorithm: Algorithm) -> tuple[int, int]:
    """The largest number of a list's cuts that are named at once, and of thresholds that are not midpoints."""
    way, n_parts = way_of(algorithm)
    if way == ways.EVERY_GAP:
        return 0, 0
    return (n_parts, n_parts) if way in (ways.EQUAL_WIDTH, ways.AT_RANDOM) else (len(samples), 0)
