"""Where a column with an order may be cut."""

import math

import numpy as np

from core.table import BoolArray, FloatArray, RowArray


def midpoint(low: float, high: float) -> float:
    """Halfway between two neighbouring values, and always in [low, high): left is `<= t`, so t may not reach high."""
    middle = (low + high) / 2
    if not math.isfinite(middle):
        middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def class_changes(class_weights: FloatArray) -> BoolArray:
    """Between which neighbouring values the class changes: not where all rows of both have one and the same class.

    `class_weights[i]` belongs to the i-th distinct value. The best cut by entropy lies at a change (Fayyad and Irani
    1992), as long as no size limit excludes it.
    """
    present = class_weights > 0
    single = np.where(present.sum(axis=1) == 1, present.argmax(axis=1), -1)
    return (single[:-1] != single[1:]) | (single[:-1] < 0)


def every_cut(n_distinct: int) -> RowArray:
    """All cuts of a column with that many distinct values: cut i lies after the i-th."""
    return np.arange(n_distinct - 1)
