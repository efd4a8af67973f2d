"""Kernel of `growth.kernels.inputs.row_by_row` for columns of numbers."""

from numba import uint64

from core.compiler.compile import compiled, numbers_at

BLOCK_ROWS = 64  # few enough for the first-level cache, with all their columns


@compiled
def put_row_by_row(addresses, n_rows, width, table):
    """Copy the columns at `addresses` into a table, rows padded with 0 to `width`; returns whether any is missing."""
    n_columns, has_missing = len(addresses), False
    for start in range(0, n_rows, BLOCK_ROWS):
        end = min(start + BLOCK_ROWS, n_rows)
        for position in range(n_columns):
            values, at = numbers_at(addresses[position], n_rows), uint64(start * width + position)
            for row in range(uint64(start), uint64(end)):
                value = values[row]
                table[at] = value
                has_missing |= value != value
                at += uint64(width)
        for row in range(start, end):
            table[row * width + n_columns : (row + 1) * width] = 0.0
    return has_missing
