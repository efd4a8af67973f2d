"""The scratch of `methods.quest.kernels.grow`, and the lists to which it writes the tree.

Lists as long as the table share one block of memory. For blocks of 4 MB or more, NumPy asks the system for large pages,
so there are fewer page faults.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray, RowArray
from core.compiler.eight_lanes import WIDTH
from core.criteria.kernels.class_moments import OF_CLASS, OF_TEST
from core.growth.kernels.inputs.row_by_row import LINE

MOST_TABLES, MOST_SUMS = 64, 4_000_000  # the number of tables kept for waiting nodes, and the sums in all of them
FIRST_NODES, FIRST_NUMBERS = 64, 1 << 22  # initial capacity: a node per row, at least 64, at most 2^22 numbers
OF_NODE = 9  # approximate count of numbers in a node besides its class weights


class Work(NamedTuple):
    """Scratch for a node, and the tables of waiting nodes.

    It holds sums by class and ordered column; tables by cell and class; the tests of all columns; the node's rows
    grouped by class, class k from `starts[k]` on; the chosen column's values; two copies of values and weights for
    selection; and rows set aside while others are moved.
    """

    class_weights: FloatArray
    moments: FloatArray
    tests: FloatArray
    tables: FloatArray
    statistics: FloatArray
    degrees: FloatArray
    levene: FloatArray
    logs: FloatArray
    is_left: BoolArray
    mask: BoolArray
    of_classes: FloatArray
    ways: FloatArray
    starts: RowArray
    second_classes: BoolArray
    grouped: RowArray
    grouped_weights: FloatArray
    values: FloatArray
    kept_rows: NDArray[np.uint64]
    kept_weights: FloatArray
    kept: FloatArray
    others: FloatArray
    other_weights: FloatArray


class Grown(NamedTuple):
    """Lists that grow with the tree: rows with their weights, waiting nodes, and finished nodes.

    A row of `waiting` has the start of a node's rows, their number, the node's depth, its parent, whether its rows are
    in the subtree's copy, and whether its tables are filled. `group_start` is where a node's flags begin in `groups`,
    which flags the categories of first groups; `size` counts the nodes of its subtree, `values` are its class weights.
    """

    rows: NDArray[np.uint64]
    weights: FloatArray
    waiting: RowArray
    shares: FloatArray
    column: CodeArray
    parent: CodeArray
    size: CodeArray
    group_start: RowArray
    threshold: FloatArray
    share: FloatArray
    weight: FloatArray
    values: FloatArray
    groups: BoolArray


def node_buffers(
    n_rows: int, n_classes: int, n_attributes: int, width: int, level_start: RowArray, *, keeps_tables: bool
) -> Work:
    """Allocate the scratch for a node and the tables of waiting nodes."""
    n_blocks, n_cells, n_levels = width // WIDTH, int(level_start[-1]) + 1, np.diff(level_start)
    n_tables = max(1, min(MOST_TABLES, MOST_SUMS // (n_cells * n_classes))) if keeps_tables else 1
    kinds = [np.int64, np.float64, np.float64, np.uint64, *[np.float64] * 4]
    grouped, grouped_weights, values, kept_rows, kept_weights, kept, others, other_weights = in_one_piece(
        [(n_rows, kind) for kind in kinds]
    )
    return Work(
        class_weights=np.empty(n_classes),
        moments=np.empty(n_classes * n_blocks * OF_CLASS),
        tests=np.empty(n_blocks * OF_TEST),
        tables=np.empty((n_tables, n_cells, n_classes)),
        statistics=np.empty(n_attributes),
        degrees=np.empty((2, n_attributes)),
        levene=np.empty(n_attributes),
        logs=np.empty(n_attributes),
        is_left=np.empty(n_attributes, dtype=np.bool_),
        mask=np.empty(int(n_levels.max(initial=0)), dtype=np.bool_),
        of_classes=np.empty((4, n_classes)),
        ways=np.empty((2, 3)),
        starts=np.empty(n_classes + 1, dtype=np.int64),
        second_classes=np.empty(n_classes, dtype=np.bool_),
        grouped=grouped,
        grouped_weights=grouped_weights,
        values=values,
        kept_rows=kept_rows,
        kept_weights=kept_weights,
        kept=kept,
        others=others,
        other_weights=other_weights,
    )


def tree_buffers(n_rows: int, n_classes: int) -> Grown:
    """Allocate the lists for partitioning all rows and for the expected number of nodes."""
    n = max(FIRST_NODES, min(n_rows, FIRST_NUMBERS // (OF_NODE + n_classes)))
    rows, weights = in_one_piece([(2 * n_rows, np.uint64), (2 * n_rows, np.float64)])
    kinds = [np.int32, np.int32, np.int32, np.int64, np.float64, np.float64, np.float64]
    column, parent, size, group_start, threshold, share, weight, values = in_one_piece(
        [*((n, kind) for kind in kinds), (n * n_classes, np.float64)]
    )
    return Grown(
        rows=rows,
        weights=weights,
        waiting=np.empty((64, 6), dtype=np.int64),
        shares=np.empty(64),
        column=column,
        parent=parent,
        size=size,
        group_start=group_start,
        threshold=threshold,
        share=share,
        weight=weight,
        values=values.reshape(n, n_classes),
        groups=np.empty(64, dtype=np.bool_),
    )


def in_one_piece(lists: Sequence[tuple[int, DTypeLike]]) -> list[Any]:
    """Arrays of these lengths and types in one block of memory, each aligned to a cache line."""
    n_bytes = [n * np.dtype(kind).itemsize for n, kind in lists]
    starts = np.cumsum([0, *(-(-each // LINE) * LINE for each in n_bytes)]).tolist()
    piece = np.empty(starts[-1], dtype=np.uint8)
    return [
        piece[start : start + size].view(kind) for start, size, (_, kind) in zip(starts, n_bytes, lists, strict=False)
    ]
