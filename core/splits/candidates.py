"""Candidate cuts of a column with an order.

A function that chooses them takes the distinct known values of a node, ascending, and returns gaps between neighbours:

    values     1   3   4               cut i comes after the i-th value
    gaps         0   1

It also returns a threshold in each gap, unless that is the midpoint. Values `<= t` go left.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.randomness import key_of, uniform
from core.arithmetic.ties import TIE


@dataclass(frozen=True)
class DistinctValues:
    """The distinct known values of a column in a node, ascending; `sums[i]` and `weights[i]` belong to the i-th."""

    values: FloatArray
    sums: FloatArray
    weights: FloatArray


@dataclass(frozen=True)
class CutPositions:
    """The gaps to cut in, ascending, with a threshold each; without thresholds, these are the midpoints."""

    gaps: RowArray
    thresholds: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.gaps)

    def threshold(self, position: int, values: FloatArray) -> float:
        """The threshold of the cut at a position, in [value before the gap, value after it)."""
        if self.thresholds is not None:
            return float(self.thresholds[position])
        gap = self.gaps[position]
        return midpoint(float(values[gap]), float(values[gap + 1]))

    def all_thresholds(self, values: FloatArray) -> tuple[float, ...]:
        return tuple(self.threshold(position, values) for position in range(len(self)))


Choose = Callable[[DistinctValues], CutPositions]


def midpoint(low: float, high: float) -> float:
    """Halfway between two neighbouring values, and always in [low, high): left is `<= t`, so t may not reach high."""
    middle = (low + high) / 2
    if not math.isfinite(middle):
        middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def midpoints(low: FloatArray, high: FloatArray) -> FloatArray:
    """The `midpoint` of each of many pairs."""
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where((low <= middle) & (middle < high), middle, low)


def class_changes(class_weights: FloatArray) -> BoolArray:
    """Between which neighbouring values the class changes: False only where all rows of both have the same class.

    `class_weights[i]` belongs to the i-th distinct value. The best cut by entropy is at a change (Fayyad and Irani
    1992), as long as no size limit excludes it.
    """
    present = class_weights > 0
    single = np.where(present.sum(axis=1) == 1, present.argmax(axis=1), -1)
    return (single[:-1] != single[1:]) | (single[:-1] < 0)


def every_cut(n_distinct: int) -> RowArray:
    """All cuts of a column with `n_distinct` distinct values: cut i comes after the i-th."""
    return np.arange(n_distinct - 1)


def every_midpoint(distinct: DistinctValues) -> CutPositions:
    """`exact`: the midpoint of every gap."""
    return CutPositions(every_cut(len(distinct.values)))


def midpoints_at_changes(distinct: DistinctValues) -> CutPositions:
    """`boundary`: the midpoints of gaps where the class changes."""
    return CutPositions(every_cut(len(distinct.values))[class_changes(distinct.sums)])


def equal_frequency(distinct: DistinctValues, bins: int) -> CutPositions:
    """`quantile`: bins of equal weight.

    For j = 1..b-1 the midpoint after the first value at which the cumulative weight reaches j/b of the whole, up to
    rounding.
    """
    so_far = np.cumsum(distinct.weights)
    wanted = np.arange(1, bins) * so_far[-1] / bins - TIE * so_far[-1]
    gaps = np.unique(np.searchsorted(so_far, wanted, side="left"))
    return CutPositions(gaps[gaps < len(distinct.values) - 1])


def equal_width(distinct: DistinctValues, bins: int) -> CutPositions:
    """`uniform`: bins of equal width, cut at min + j (max - min) / b for j = 1..b-1."""
    low, high = float(distinct.values[0]), float(distinct.values[-1])
    return one_per_gap(distinct.values, [equal_width_threshold(low, high, j, bins) for j in range(1, bins)])


def equal_width_threshold(low: float, high: float, j: int, bins: int) -> float:
    """The upper end of the j-th of `bins` bins of equal width."""
    threshold = low + j * (high - low) / bins
    return threshold if math.isfinite(threshold) else low * (1 - j / bins) + high * (j / bins)


def at_random(distinct: DistinctValues, draws: int, key: int) -> CutPositions:
    """`random`: draws from the uniform distribution between the smallest and the largest value."""
    low, high = float(distinct.values[0]), float(distinct.values[-1])
    return one_per_gap(distinct.values, [random_threshold(low, high, key_of(key, draw)) for draw in range(draws)])


def random_threshold(low: float, high: float, key: int) -> float:
    """The threshold drawn with a key; `low` where rounding would make it `high`."""
    share = uniform(key)
    threshold = low + share * (high - low)
    if not math.isfinite(threshold):
        threshold = low * (1 - share) + high * share
    return threshold if low <= threshold < high else low


def found_before(distinct: DistinctValues, cuts: Sequence[float]) -> CutPositions:
    """Those of the cuts found before growth, on all training rows, that separate values of the node."""
    return one_per_gap(distinct.values, cuts)


def one_per_gap(values: FloatArray, thresholds: Sequence[float]) -> CutPositions:
    """The smallest threshold in each gap that has one; thresholds outside the values are left out."""
    ordered = np.sort(np.array(thresholds, dtype=np.float64))
    gap_of = np.searchsorted(values, ordered, side="right") - 1  # values[gap] <= t < values[gap + 1]
    inside = (gap_of >= 0) & (gap_of < len(values) - 1)
    gaps, first = np.unique(gap_of[inside], return_index=True)
    return CutPositions(gaps, ordered[inside][first])
