"""Sums with a fixed order of addition, mostly row order, so that the same rows always give the same bits."""

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray


def in_row_order(values: FloatArray) -> FloatArray:
    """The sum over the first axis, added up one by one; NumPy's own sum uses another order."""
    total: FloatArray = np.add.accumulate(values, axis=0)[-1]
    return total


def in_column_order(values: FloatArray) -> FloatArray:
    """The sum over the last axis, added up one by one."""
    total: FloatArray = np.add.accumulate(values, axis=-1)[..., -1]
    return total


def matrix_product(left: FloatArray, right: FloatArray) -> FloatArray:
    """`left @ right`, its terms added up one by one; the order of `@` depends on the processor.

    The last axis of `left` is as long as the first of the two of `right`, and not empty.
    """
    total: FloatArray = left[..., 0, None] * right[0]
    for position in range(1, len(right)):
        total += left[..., position, None] * right[position]
    return total


def sum_of_products(weights: FloatArray, values: FloatArray) -> FloatArray:
    """`weights @ values`, by products and NumPy's own sum, whose order is the same on every processor."""
    total: FloatArray = np.sum(weights.reshape(-1, *[1] * (values.ndim - 1)) * values, axis=0)
    return total


def weights_by(groups: RowArray | CodeArray, weights: FloatArray, n_groups: int) -> FloatArray:
    """`[group]`: the sum of the weights of each group."""
    return np.bincount(groups, weights, minlength=n_groups).astype(np.float64)


def sums_by(groups: RowArray | CodeArray, sums: FloatArray, n_groups: int) -> FloatArray:
    """`[group, :]`: the sums of the statistics of each group."""
    width = sums.shape[1]
    cells = (groups[:, None].astype(np.int64) * width + np.arange(width)).ravel()
    return weights_by(cells, sums.ravel(), n_groups * width).reshape(n_groups, width)
