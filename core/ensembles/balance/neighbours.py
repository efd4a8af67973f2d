"""Distances between rows whose attributes are numbers or categories, and whose cells may be missing.

Rows are points of float64, a coordinate for each attribute: a number, or the code of a category; NaN if missing. The
`penalties` distinguish both: the squared distance of two different categories, NaN for a number.

    d2(a, b) = n/n_known * sum_j  (a_j - b_j)^2          numbers
                                  penalty_j [a_j != b_j] categories

The sum goes over the n_known of n coordinates that both rows know, in their order; infinite if there are none.
"""

from contextlib import suppress

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import in_row_order
from core.compiler.permission import KernelNotCompiled
from core.tables.table import Column, Table, is_missing

ROWS_AT_A_TIME = 256  # rows whose distances to all others are in memory at once


def points_of(table: Table) -> FloatArray:
    """`[row, column]`: numbers, and codes as numbers; NaN where a cell is missing."""
    return np.stack([_coordinates(cells) for cells in table.columns], axis=1)


def _coordinates(cells: Column) -> FloatArray:
    return np.where(is_missing(cells), np.nan, cells)


def standard_deviation(numbers: FloatArray) -> float:
    """The standard deviation of at least one number; sums are taken in their order."""
    mean = in_row_order(numbers) / len(numbers)
    return float(np.sqrt(in_row_order((numbers - mean) ** 2) / len(numbers)))


def squared_distances(points: FloatArray, point: FloatArray, penalties: FloatArray) -> FloatArray:
    """`[..., row]`: from each point to one, or to several where `point` has more axes than coordinates."""
    apart = np.zeros(np.broadcast_shapes(points.shape, point.shape)[:-1])
    n_known = np.zeros(apart.shape, dtype=np.int64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        for column, penalty in enumerate(penalties.tolist()):
            one, other = points[..., column], point[..., column]
            is_known = ~np.isnan(one) & ~np.isnan(other)
            by = (one - other) ** 2 if np.isnan(penalty) else penalty * (one != other)
            apart += np.where(is_known, by, 0.0)
            n_known += is_known
        return np.where(n_known > 0, apart * (len(penalties) / n_known), np.inf)


def nearest(
    points: FloatArray, others: FloatArray, penalties: FloatArray, n: int, *, but_itself: bool = False, kernels: bool
) -> RowArray:
    """`[point, :]`: the n nearest of the others, nearest first, ties to the earlier one; there are as many.

    With `but_itself` the others are the points, and none is its own neighbour.
    """
    if kernels:
        with suppress(KernelNotCompiled):
            return _by_kernel(points, others, penalties, n, but_itself=but_itself)
    blocks = [np.empty((0, n), dtype=np.int64)]
    for start in range(0, len(points), ROWS_AT_A_TIME):
        block = points[start : start + ROWS_AT_A_TIME]
        apart = squared_distances(others[None, :, :], block[:, None, :], penalties)
        order = np.argsort(apart, axis=1, kind="stable")
        if but_itself:
            is_other = order != np.arange(start, start + len(block))[:, None]
            order = order[is_other].reshape(len(block), -1)
        blocks.append(order[:, :n])
    return np.concatenate(blocks)


def _by_kernel(points: FloatArray, others: FloatArray, penalties: FloatArray, n: int, *, but_itself: bool) -> RowArray:
    from core.ensembles.balance.kernels.neighbours import nearest as by_kernel  # imports Numba

    found = np.empty((len(points), n), dtype=np.int64)
    by_kernel(np.ascontiguousarray(points), np.ascontiguousarray(others), penalties, but_itself, found, np.empty(n))
    return found
