"""The best threshold of a column with an order."""

from dataclasses import dataclass

import numpy as np

from core.criteria.objective import Objective
from core.splits.candidates import class_changes, every_cut, midpoint
from core.table import FloatArray, RowArray
from core.ties import TIE, first_within_tie


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold and how many were tried to find it."""

    threshold: float
    n_thresholds: int


def best_cut(
    values: FloatArray,
    sums: FloatArray,
    weights: FloatArray,
    objective: Objective,
    *,
    min_weight: float,
    only_class_changes: bool = False,
) -> Cut | None:
    """The threshold of largest gain; on a tie the smaller one. None when no cut leaves `min_weight` on both sides.

    `sums[i]` are sample i's weighted statistics. Candidates are the midpoints of neighbouring distinct values:

        values     1   1 | 3 | 4   4           sorted, known ones only
        cut            0   1                   left of cut i: everything up to the i-th distinct value
    """
    order = np.argsort(values, kind="stable")
    values, sums, weights = values[order], sums[order], weights[order]
    ends = np.flatnonzero(values[1:] != values[:-1])  # the last sample of each distinct value but the greatest
    cuts = every_cut(len(ends) + 1)
    if only_class_changes:
        cuts = cuts[class_changes(np.add.reduceat(sums, [0, *(ends + 1)], axis=0))]
    ends = ends[cuts]
    sides = both_sides(sums, ends)
    side_weights = both_sides(weights[:, None], ends)[..., 0]
    allowed = np.flatnonzero(side_weights.min(axis=1, initial=np.inf) >= min_weight - TIE)
    if len(allowed) == 0:
        return None
    gains = objective.decrease(sides[allowed], side_weights[allowed])
    end = ends[allowed[first_within_tie(gains, objective.tolerance)]]
    return Cut(midpoint(float(values[end]), float(values[end + 1])), len(cuts))


def both_sides(sums: FloatArray, ends: RowArray) -> FloatArray:
    """`[cut, side, :]`: the sums up to and including each end, and those after it; both added up, never subtracted."""
    left = np.cumsum(sums, axis=0)[ends]
    right = np.cumsum(sums[::-1], axis=0)[::-1][ends + 1]
    return np.stack([left, right], axis=1)
