"""The memory that `methods.quest.kernels.grow` work in, and the lists that they write a tree to.

Lists as long as the table stand in one piece of memory. NumPy asks the system for large pages where a piece has 4 MB or
more, of which there are fewer to wait for.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray, RowArray
from core.compiler.eight_lanes import WIDTH
from core.criteria.kernels.class_moments import OF_CLASS, OF_TEST
from core.growth.kernels.inputs.row_by_row import LINE

MOST_TABLES, MOST_SUMS = 64, 4_000_000  # of nodes that wait
FIRST_NODES, FIRST_NUMBERS = 64, 1 << 22  # room for nodes, to begin with: for one a row, if they have no more numbers
OF_NODE = 9  # numbers in a node besides its class weights, about


class Work(NamedTuple):
    """Room for a node: sums by class and column with an order, tables by cell and class, also for nodes that wait.

    What tests say of columns; its rows class after class, from `starts` on; the values of the column that is chosen,
    and twice those that are looked at, with their weights; rows that are put aside while others take their places.
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
    """Lists that are made longer as the tree grows: rows with their weights, nodes that wait, and those that do not.

    `waiting` has where a node's rows begin, how many there are, its depth and parent, how far its rows are and whether
    its tables are filled. `group_start` is where a node's groups begin in `groups`, the first groups of categories;
    `size` counts the nodes of its subtree, `values` are its class weights.
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
    """Room for a node, and for the tables of those that wait."""
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
    """Room to divide all rows, and for as many nodes as a tree may well have."""
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
    """Lists of such lengths and kinds in one piece of memory, each from a line of the processor's cache on."""
    n_bytes = [n * np.dtype(kind).itemsize for n, kind in lists]
    starts = np.cumsum([0, *(-(-each // LINE) * LINE for each in n_bytes)]).tolist()
    piece = np.empty(starts[-1], dtype=np.uint8)
    return [
        piece[start : start + size].view(kind) for start, size, (_, kind) in zip(starts, n_bytes, lists, strict=False)
    ]
