"""QUEST's binary splits of a column by discriminant analysis (Loh and Shih 1997); the left side is `<= t`."""

from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE
from core.criteria.class_moments import class_moments
from core.methods.quest.discriminant import discriminant_coordinates, equal_density, middle, super_classes, united
from core.splits.candidates import midpoint
from core.splits.categorical import with_earliest

NARROW = 1e-100  # a variance smaller than this times the other one counts as 0


def best_cut(
    values: FloatArray, classes: CodeArray, weights: FloatArray, n_classes: int, *, min_weight: float
) -> float | None:
    """Cut a column in two where its super-classes are equally likely; None if no cut is allowed.

    A cut is allowed if it leaves enough weight on both sides. If that point is not, the middle of the super-classes'
    means is tried, and then the allowed cut nearest to the first one tried.
    """
    moments = class_moments(values, classes, weights, n_classes)
    if np.count_nonzero(moments.weights) < 2:
        return None
    second = super_classes(moments.weights, moments.means)
    sides = [
        Side(
            *united(moments.weights, moments.means, moments.variations, second, is_second),
            *extremes(values, second[classes] == is_second),
        )
        for is_second in (False, True)
    ]
    between = moments.centre + middle(sides[0].mean, sides[1].mean)
    wanted = wanted_cut(values, moments.centre, *sides)
    tried = [between] if wanted is None else [wanted, between]
    for threshold in tried:
        if holds_enough(values <= threshold, weights, min_weight):
            return float(threshold)
    return nearest_cut(values, weights, tried[0], min_weight)


@dataclass(frozen=True, slots=True)
class Side:
    """A super-class along a column; `mean` is relative to the centre of the column's moments."""

    weight: float
    mean: float
    variance: float
    smallest: float
    largest: float


def extremes(values: FloatArray, chosen: BoolArray) -> tuple[float, float]:
    """The smallest and the largest of the chosen values."""
    return float(values[chosen].min()), float(values[chosen].max())


def wanted_cut(values: FloatArray, centre: float, a: Side, b: Side) -> float | None:
    """The point of equal density; if one side does not vary, right beside it, towards the other's mean."""
    narrow, wide = (a, b) if a.variance <= b.variance else (b, a)
    if narrow.smallest < narrow.largest and narrow.variance > NARROW * wide.variance:
        return centre + equal_density(a.weight, a.mean, a.variance, b.weight, b.mean, b.variance)
    if narrow.mean < wide.mean:
        above = values[values > narrow.largest]
        return midpoint(narrow.largest, float(above.min())) if len(above) else None
    below = values[values < narrow.smallest]
    return midpoint(float(below.max()), narrow.smallest) if len(below) else None


def holds_enough(first: BoolArray, weights: FloatArray, min_weight: float) -> bool:
    """Whether both sides have rows and enough weight."""
    left, right = float(weights[first].sum()), float(weights[~first].sum())
    return min(left, right) > 0 and min(left, right) >= min_weight - TIE


def nearest_cut(values: FloatArray, weights: FloatArray, wanted: float, min_weight: float) -> float | None:
    """The allowed midpoint of neighbouring values nearest to a threshold that leaves too little weight on one side.

    The allowed midpoints are consecutive, and all above that threshold or all below.
    """
    distinct, position = np.unique(values, return_inverse=True)
    up_to = np.cumsum(weights_by(position, weights, len(distinct)))
    smaller = np.minimum(up_to[:-1], up_to[-1] - up_to[:-1])
    gaps = np.flatnonzero(smaller >= min_weight - TIE)
    if len(gaps) == 0:
        return None
    gap = gaps[0] if distinct[gaps[0]] > wanted else gaps[-1]
    return midpoint(float(distinct[gap]), float(distinct[gap + 1]))


def best_groups(table: FloatArray, *, min_weight: float) -> BoolArray | None:
    """The categories of the first of two groups, split along their discriminant coordinate; `table[category, class]`.

    The earliest category in the node is in the first group; categories that no row has join the heavier group.
    """
    coordinates, level_weights = discriminant_coordinates(table), table.sum(axis=1)
    level, class_ = np.nonzero(table)  # one row with the whole weight of each category and class
    threshold = best_cut(
        coordinates[level], class_.astype(np.int32), table[level, class_], table.shape[1], min_weight=min_weight
    )
    if threshold is None:
        return None
    is_present = level_weights > 0
    weights, first = level_weights[is_present], with_earliest((coordinates <= threshold)[is_present])
    mask = np.full(len(table), bool(weights[first].sum() >= weights[~first].sum() - TIE))
    mask[is_present] = first
    return mask
