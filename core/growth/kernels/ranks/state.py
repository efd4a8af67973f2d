"""Data that the kernels that grow trees by ranks share: a tree's rows, its nodes, and scratch buffers."""

from typing import Any

import numpy as np

from core.compiler.compile import Struct, StructType, define, structure

MOST_SMALL = 255  # rows of a small subtree: positions are bytes
MOST_BUCKETS = 256
MOST_COUNTED = 256  # rows of a bucket: up to here they are sorted by counting
KEYS_APART = MOST_SMALL + 33  # bytes from one column's keys to the next: 32 are read at once, also beyond the last
LANES = 8  # of a bucket: its sums, and in the last one the weight of its rows
# Fields of a node of many rows: its first child, followed by the second, or -1; the column of its split and the rows on
# both sides of the cut; where its rows begin, their number, 0 for a leaf, its depth, its key.
CHILD, COLUMN, LOW, HIGH, BEGIN, N_ROWS, DEPTH, KEY, N_LINKS = range(9)


SIZE, SLOT, LOW_ROW, HIGH_ROW = range(4)  # columns of a finished node's split


class Nodes(Struct):
    """The nodes of a tree, depth first.

    splits   `[node, :]` the size of its subtree, the column of its split or -1, the rows on both sides of the cut
    weights  `[node, :]` class weights, or the weight of all rows where a number is predicted
    gains    of splits; NaN in leaves

    The other fields are used only where a number is predicted.
    """


@structure
class NodesType(StructType):
    """The compiler's type of `Nodes`."""


define(Nodes, NodesType, "splits weights gains means impurities variances")


class Bag(Struct):
    """The rows of a tree, and scratch buffers that nodes use one after the other.

    `lists` are the sorted lists of all rows. A row's rank is the number of distinct values before its own:
    `ranks[row, column]` holds it without its last `fine_bits[column]` bits, which are `fine[column, row]`.
    The rows of a node are adjacent in `rows`, ascending, and so are their `weights`, and `numbers` or `classes`. In a
    subtree of few rows `position[column, i]` is the position of `rows[i]` in the column's order among the rows of the
    subtree, and `value[column, i]` the number of distinct values before it, unless all values of the column differ.
    """


@structure
class BagType(StructType):
    """The compiler's type of a `Bag`."""


define(
    Bag,
    BagType,
    "lists ranks fine fine_bits distinct shift rows weights numbers classes "
    "spare_rows spare_weights spare_numbers spare_classes "
    "keys keys_of parts unsorted picked picked_ranks labels in_order ids sums before n_buckets ends is_high totals "
    "left order taken keyed drawn gains cuts "
    "position value home begins positions_taken values_taken last_ranks "
    "lane_keys slot_weights slot_parts slot_rows small_rows others bytes ordered words before_word "
    "waiting waiting_figures child_sums centres figure child",
)


def ranked_buffers(n_all_rows: int, n_rows: int, n_columns: int, n_drawn: int, n_sums: int) -> tuple[Any, ...]:
    """The fields of a `Bag` from `keys` on, for trees of at most `n_rows` rows, whose nodes draw `n_drawn` columns."""
    n_small, n_subtrees = MOST_SMALL + 1, n_rows + 1
    shape = n_columns, n_rows + n_small
    return (
        np.empty((n_drawn, n_rows), dtype=np.uint16),
        np.zeros(n_drawn, dtype=np.int64),
        np.empty(n_rows),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.empty(n_rows + 1, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(MOST_COUNTED + 8),
        np.empty(MOST_COUNTED, dtype=np.uint32),
        np.empty((n_drawn, n_rows), dtype=np.uint16),
        np.empty((n_drawn, MOST_BUCKETS, LANES)),
        np.empty((n_drawn, MOST_BUCKETS, LANES)),
        np.zeros(n_drawn, dtype=np.int64),
        np.zeros(MOST_BUCKETS, dtype=np.int64),
        np.zeros(MOST_BUCKETS, dtype=np.uint8),
        np.zeros(LANES),
        np.zeros(LANES),
        np.arange(n_columns),
        np.zeros(n_columns, dtype=np.int64),
        np.zeros(n_columns, dtype=np.int64),
        np.zeros(n_columns, dtype=np.int64),
        np.zeros(n_columns),
        np.zeros(n_columns, dtype=np.int64),
        np.empty(shape, dtype=np.uint8),
        np.empty(shape, dtype=np.uint8),
        np.zeros(n_all_rows, dtype=np.uint32),
        np.zeros(n_subtrees, dtype=np.uint32),
        np.zeros(n_subtrees, dtype=np.uint8),
        np.zeros(n_subtrees, dtype=np.uint8),
        np.zeros(n_subtrees, dtype=np.uint32),
        np.zeros(4 * KEYS_APART, dtype=np.uint8),
        np.empty(4 * n_small),
        np.empty(4 * n_small),
        np.empty(4 * n_small, dtype=np.uint8),
        np.empty(n_small, dtype=np.uint8),
        np.empty(n_small, dtype=np.uint8),
        np.zeros(n_small + 32, dtype=np.uint8),
        np.empty(n_small, dtype=np.uint8),
        np.zeros(4, dtype=np.uint64),
        np.zeros(4, dtype=np.int64),
        np.empty((n_small + 2, 4), dtype=np.int64),
        np.empty((n_small + 2, 5 * n_sums)),
        np.zeros(2 + 5 * n_sums),
        np.zeros(2),
        np.zeros(5 * n_sums),
        np.zeros(5 * n_sums),
    )
