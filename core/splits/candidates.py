"""Where a column with an order may be cut.

A way to choose looks at the distinct known values of a node, ascending, and names gaps between neighbours:

    values     1   3   4               cut i lies after the i-th value
    gaps         0   1

and, unless it means their midpoints, a threshold in each. Left is `<= t`.
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
    """Gaps to cut in, ascending, with the threshold of each; without thresholds the midpoints are meant."""

    gaps: RowArray
    thresholds: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.gaps)

    def threshold(self, position: int, values: FloatArray) -> float:
        """The threshold that stands for a place, in [value before the gap, value after it)."""
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
    """`midpoint`, for many pairs at once."""
    with np.errstate(over="ignore"):
        middle = (low + high) / 2
    middle = np.where(np.isfinite(middle), middle, low / 2 + high / 2)
    return np.where((low <= middle) & (middle < high), middle, low)


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


def every_midpoint(distinct: DistinctValues) -> CutPositions:
    """`exact`: the midpoint of every gap."""
    return CutPositions(every_cut(len(distinct.values)))


def midpoints_at_changes(distinct: DistinctValues) -> CutPositions:
    """`boundary`: the midpoints of gaps where the class changes."""
    return CutPositions(every_cut(len(distinct.values))[class_changes(distinct.sums)])


def equal_frequency(distinct: DistinctValues, bins: int) -> CutPositions:
    """`quantile`: bins of equal weight.

    For j = 1..b-1 the midpoint after the first value at which the weight so far reaches j/b of the whole. A share that
    is met up to rounding is met.
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
    """The upper end of the j-th of equally wide bins."""
    threshold = low + j * (high - low) / bins
    return threshold if math.isfinite(threshold) else low * (1 - j / bins) + high * (j / bins)


def at_random(distinct: DistinctValues, draws: int, key: int) -> CutPositions:
    """`random`: draws from the uniform distribution between the smallest and the largest value."""
    low, high = float(distinct.values[0]), float(distinct.values[-1])
    return one_per_gap(distinct.values, [random_threshold(low, high, key_of(key, draw)) for draw in range(draws)])


def random_threshold(low: float, high: float, key: int) -> float:
    """The draw of that key; where rounding would put it on the upper end, the lower one."""
    share = uniform(key)
    threshold = low + share * (high - low)
    if not math.isfinite(threshold):
        threshold = low * (1 - share) + high * share
    return threshold if low <= threshold < high else low


def found_before(distinct: DistinctValues, cuts: Sequence[float]) -> CutPositions:
    """Cuts found once on all training rows: those that separate values of the node."""
    return one_per_gap(distinct.values, cuts)


def one_per_gap(values: FloatArray, thresholds: Sequence[float]) -> CutPositions:
    """The smallest threshold in each gap that has one; those outside of the values separate nothing."""
    ordered = np.sort(np.array(thresholds, dtype=np.float64))
    gap_of = np.searchsorted(values, ordered, side="right") - 1  # values[gap] <= t < values[gap + 1]
    inside = (gap_of >= 0) & (gap_of < len(values) - 1)
    gaps, first = np.unique(gap_of[inside], return_index=True)
    return CutPositions(gaps, ordered[inside][first])
