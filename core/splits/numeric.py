"""The best threshold of a column with an order."""

from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.ties import TIE, first_within_tie
from core.criteria.objective import Objective
from core.splits.candidates import Choose, DistinctValues, every_midpoint, midpoint

NO_GAIN = -1.0  # where there is no cut


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold, how many were tried to find it, and how many of these left enough weight on both sides."""

    threshold: float
    n_thresholds: int
    n_allowed: int


def best_cut(
    values: FloatArray,
    sums: FloatArray,
    weights: FloatArray,
    objective: Objective,
    *,
    min_weight: float,
    choose: Choose = every_midpoint,
) -> Cut | None:
    """The threshold of largest gain, on a tie the smaller one; None when no cut leaves `min_weight` on both sides.

    `sums[i]` are sample i's weighted statistics; all values are known. `choose` returns the candidates:

        values     1   1 | 3 | 4   4           sorted
        cut            0   1                   left of cut i: everything up to the i-th distinct value
    """
    order = np.argsort(values, kind="stable")
    values, sums, weights = values[order], sums[order], weights[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # the last sample of each distinct value
    distinct = distinct_values(values, sums, weights, last)
    positions = choose(distinct)
    ends = last[positions.gaps]
    sides = both_sides(sums, ends)
    side_weights = both_sides(weights[:, None], ends)[..., 0]
    allowed = np.flatnonzero(side_weights.min(axis=1, initial=np.inf) >= min_weight - TIE)
    if len(allowed) == 0:
        return None
    gains = objective.decrease(sides[allowed], side_weights[allowed])
    best = int(allowed[first_within_tie(gains, objective.tolerance)])
    return Cut(positions.threshold(best, distinct.values), len(positions), len(allowed))


def best_cuts(
    values: FloatArray, sums: FloatArray, weights: FloatArray, objective: Objective, *, min_weight: float
) -> list[Cut | None]:
    """`best_cut` of several columns at once, every midpoint being a candidate; a small node then takes few NumPy calls.

    `values[column, row]` are NaN where they are missing. Such rows are sorted last and add nothing to a sum:

        values     1   1   3   4  nan
        a cut          x   x                   wherever the next value is larger
    """
    columns = np.arange(len(values))
    order = np.argsort(values, axis=1, kind="stable")
    values = np.take_along_axis(values, order, axis=1)
    known = ~np.isnan(values)
    sums, weights = np.where(known[..., None], sums[order], 0.0), np.where(known, weights[order], 0.0)
    column, end = np.nonzero(values[:, :-1] < values[:, 1:])
    sides, side_weights = ends_of_columns(sums, column, end), ends_of_columns(weights[..., None], column, end)[..., 0]
    n_thresholds = np.bincount(column, minlength=len(columns))
    allowed = side_weights.min(axis=1) >= min_weight - TIE
    column, end = column[allowed], end[allowed]
    gains = objective.decrease(sides[allowed], side_weights[allowed])
    bounds = np.searchsorted(column, [*columns, len(columns)])
    cuts: list[Cut | None] = []
    for number, start, stop in zip(columns, bounds, bounds[1:], strict=False):
        if start == stop:
            cuts.append(None)
            continue
        best = end[start + first_within_tie(gains[start:stop], objective.tolerance)]
        threshold = midpoint(float(values[number, best]), float(values[number, best + 1]))
        cuts.append(Cut(threshold, int(n_thresholds[number]), int(stop - start)))
    return cuts


def ends_of_columns(sums: FloatArray, column: RowArray, end: RowArray) -> FloatArray:
    """`both_sides` for each `end` in its `column`, from `sums[column, row, :]`."""
    left = np.cumsum(sums, axis=1)[column, end]
    right = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1][column, end + 1]
    return np.stack([left, right], axis=1)


def distinct_values(values: FloatArray, sums: FloatArray, weights: FloatArray, last: RowArray) -> DistinctValues:
    """The distinct values of a sorted column, with their sums and weights; `last` is the last sample of each value."""
    first = np.append(0, last[:-1] + 1)
    return DistinctValues(values[last], np.add.reduceat(sums, first, axis=0), np.add.reduceat(weights, first))


def both_sides(sums: FloatArray, ends: RowArray) -> FloatArray:
    """`[cut, side, :]`: the sums up to and including each end, and those after it; both added up, never subtracted."""
    left = np.cumsum(sums, axis=0)[ends]
    right = np.cumsum(sums[::-1], axis=0)[::-1][ends + 1]
    return np.stack([left, right], axis=1)
