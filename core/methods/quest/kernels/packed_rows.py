"""Row numbers packed with their class, and rows grouped by class."""

from typing import NamedTuple

from numba import int64, uint64

from core.arithmetic.arrays import FloatArray, RowArray
from core.compiler.compile import compiled

ROW_BITS, CLASS_MASK = uint64(32), uint64((1 << 32) - 1)


class Grouped(NamedTuple):
    """The rows of a node grouped by class, with weights; class k is at `starts[k]` to `starts[k + 1]`, in row order."""

    rows: RowArray
    weights: FloatArray
    starts: RowArray


@compiled
def packed(row, class_):
    """Pack a row number with its class in the lower bits."""
    return uint64(row) << ROW_BITS | uint64(class_)


@compiled
def row_of(entry):
    """The row number of an entry."""
    return entry >> ROW_BITS


@compiled
def class_of(entry):
    """The class of an entry."""
    return entry & CLASS_MASK


@compiled
def group(entries, weights, grouped):
    """Group rows by class; on entry `starts[k]` is where class k begins, on return also where the last one ends."""
    rows, row_weights, starts = grouped.rows, grouped.weights, grouped.starts
    i, n = uint64(0), uint64(entries.shape[0])
    while i < n:
        k = class_of(entries[i])
        position = uint64(starts[k])
        rows[position], row_weights[position] = int64(row_of(entries[i])), weights[i]
        starts[k] += 1
        i += uint64(1)
    for k in range(starts.shape[0] - 1, 0, -1):
        starts[k] = starts[k - 1]
    starts[0] = 0
