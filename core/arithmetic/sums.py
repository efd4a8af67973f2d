"""Sums by group, always added up in row order, so that the same rows give the same bits whoever adds them."""

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray


def in_row_order(values: FloatArray) -> FloatArray:
    """The sum over the first axis, one after the other: NumPy's own sum adds in an order of its own."""
    total: FloatArray = np.add.accumulate(values, axis=0)[-1]
    return total


def in_column_order(values: FloatArray) -> FloatArray:
    """The sum over the last axis, one after the other too."""
    total: FloatArray = np.add.accumulate(values, axis=-1)[..., -1]
    return total


def weights_by(groups: RowArray | CodeArray, weights: FloatArray, n_groups: int) -> FloatArray:
    """`[group]`: the weights of each group."""
    return np.bincount(groups, weights, minlength=n_groups).astype(np.float64)


def sums_by(groups: RowArray | CodeArray, sums: FloatArray, n_groups: int) -> FloatArray:
    """`[group, :]`: the statistics of each group."""
    width = sums.shape[1]
    cells = (groups[:, None].astype(np.int64) * width + np.arange(width)).ravel()
    return weights_by(cells, sums.ravel(), n_groups * width).reshape(n_groups, width)
