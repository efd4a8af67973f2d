"""Tables stored row by row: what a kernel needs of a row is in few cache lines."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.growth.kernels.inputs.coding import NumberColumns
from core.growth.kernels.inputs.copy_row_by_row import put_row_by_row
from core.tables.table import Column

BLOCK_ROWS = 1024
LINE = 64  # bytes of a cache line


def row_by_row(columns: Sequence[Column], n_rows: int, width: int, kind: type) -> Any:
    """The columns as a table stored row by row, padded with 0 to `width`.

    It is filled some rows at a time, in all columns, so that these stay in the cache.
    """
    table: Any = in_lines((n_rows, width), kind)
    table[:, len(columns) :] = 0
    for start in range(0, n_rows if columns else 0, BLOCK_ROWS):
        rows = slice(start, start + BLOCK_ROWS)
        for position, values in enumerate(columns):
            table[rows, position] = values[rows]
    return table.ravel()


def numbers_row_by_row(columns: NumberColumns, n_rows: int, width: int) -> tuple[FloatArray, bool]:
    """Columns of numbers as a table stored row by row, padded with 0 to `width`; and whether any is missing."""
    table = in_lines((n_rows, width), np.float64).ravel()
    return table, bool(put_row_by_row(columns.addresses, n_rows, width, table))


def in_lines(shape: tuple[int, int], kind: type) -> Any:
    """An array that begins at a cache line of the processor, so that rows of whole lines touch no others."""
    n = shape[0] * shape[1]
    buffers: Any = np.empty(n + LINE, dtype=kind)
    start = -buffers.ctypes.data % LINE // buffers.itemsize
    return buffers[start : start + n].reshape(shape)
