"""Rows that represent the others of their class: those nearest to the centres of clusters.

Clusters are those of k-means (Lloyd 1982), for categories of k-prototypes (Huang 1998): a centre has the mean of the
known numbers of its rows and the most frequent of their known categories, and each row belongs to the nearest centre.
Numbers are brought to a spread of 1 first, and two categories that differ are 1 apart.
"""

from itertools import pairwise

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.arithmetic.randomness import fractions, shuffled
from core.ensembles.balance.neighbours import nearest, points_of, squared_distances, standard_deviation
from core.tables.table import Table

ROUNDS = 10  # at most, of moving centres
FAR = 1e200  # a squared distance used in place of infinity where distances are added up
GROUP_ROWS = 2_000  # rows clustered together, so that time grows linearly with the rows


def representatives(table: Table, times: RowArray, n: int, bits: np.random.PCG64, *, kernels: bool) -> RowArray:
    """The n rows, ascending, nearest to the centres of n clusters; `times` is how often each row counts.

    More than GROUP_ROWS rows are dealt out to groups at random, each of which has its part of the clusters.
    """
    is_category = np.array([not attribute.is_numeric for attribute in table.schema])
    points, order = scaled(points_of(table), is_category), shuffled(np.arange(table.n_rows), bits)
    n_groups = -(-table.n_rows // GROUP_ROWS)
    row_ends = [table.n_rows * group // n_groups for group in range(n_groups + 1)]
    kept = []
    for start, end in pairwise(row_ends):
        n_here = n * end // table.n_rows - n * start // table.n_rows
        rows = np.sort(order[start:end])
        kept.append(rows[_of_group(points[rows], times[rows], is_category, n_here, bits, kernels=kernels)])
    return np.sort(np.concatenate(kept))


def scaled(points: FloatArray, is_category: BoolArray) -> FloatArray:
    """The points with the known numbers of each column at a standard deviation of 1, if they vary."""
    columns = [
        values if is_code else _scaled(values) for values, is_code in zip(points.T, is_category.tolist(), strict=True)
    ]
    return np.stack(columns, axis=1)


def _scaled(values: FloatArray) -> FloatArray:
    known = values[~np.isnan(values)]
    largest = np.abs(known).max(initial=0.0)
    if largest == 0:
        return values
    values, known = values / largest, known / largest  # else squares of very large numbers would be infinite
    spread = standard_deviation(known)
    return values / spread if spread > 0 else values


def _of_group(
    points: FloatArray, times: RowArray, is_category: BoolArray, n: int, bits: np.random.PCG64, *, kernels: bool
) -> RowArray:
    """The points that represent a group: of each cluster the nearest to its centre, then those farthest from theirs.

    The latter fill up for clusters without points, which occur if rows are equal.
    """
    if n == 0:
        return np.empty(0, dtype=np.int64)
    penalties = np.where(is_category, 1.0, np.nan)
    centres = points[first_centres(points, times, penalties, n, bits)]
    cluster = nearest(points, centres, penalties, 1, kernels=kernels)[:, 0]
    for _ in range(ROUNDS):
        centres, before = moved(centres, points, times, cluster, is_category), cluster
        cluster = nearest(points, centres, penalties, 1, kernels=kernels)[:, 0]
        if (cluster == before).all():
            break
    apart = squared_distances(points, centres[cluster], penalties)
    by_cluster = np.lexsort((apart, cluster))
    is_first = np.append(True, np.diff(cluster[by_cluster]) > 0)
    kept, others = by_cluster[is_first], by_cluster[~is_first]
    farthest = others[np.lexsort((others, -apart[others]))]
    return np.sort(np.append(kept, farthest[: n - len(kept)]))


def first_centres(
    points: FloatArray, times: RowArray, penalties: FloatArray, n: int, bits: np.random.PCG64
) -> RowArray:
    """n different points, each drawn by its squared distance to those before it (k-means++: Arthur 2007).

    Points equal to a centre are taken only when there are no others left, in their order.
    """
    chosen, apart = list[int](), np.full(len(points), 1.0)
    is_free = np.ones(len(points), dtype=np.bool_)
    for drawn in fractions(bits, n):
        chance = np.cumsum(np.where(is_free, np.minimum(apart, FAR) * times, 0.0))
        if chance[-1] > 0:
            last = int(np.searchsorted(chance, chance[-1]))
            index = min(last, int(np.searchsorted(chance, drawn * chance[-1], side="right")))
        else:
            index = int(np.argmax(is_free))
        chosen.append(index)
        is_free[index] = False
        from_this = squared_distances(points, points[index], penalties)
        apart = from_this if len(chosen) == 1 else np.minimum(apart, from_this)
    return np.array(chosen)


def moved(
    centres: FloatArray, points: FloatArray, times: RowArray, cluster: RowArray, is_category: BoolArray
) -> FloatArray:
    """The centres moved to the middle of their clusters; a coordinate that no row knows stays."""
    found = centres.copy()
    for column, is_code in enumerate(is_category.tolist()):
        known = np.flatnonzero(~np.isnan(points[:, column]))
        values, of, weights = points[known, column], cluster[known], times[known].astype(np.float64)
        weight = np.bincount(of, weights, minlength=len(centres))
        if is_code:
            n_codes = int(values.max(initial=0)) + 1
            by_code = np.bincount(of * n_codes + values.astype(np.int64), weights, minlength=len(centres) * n_codes)
            middle = by_code.reshape(len(centres), n_codes).argmax(axis=1).astype(np.float64)
        else:
            total = np.bincount(of, weights * values, minlength=len(centres))
            middle = total / np.where(weight > 0, weight, 1.0)
        found[:, column] = np.where(weight > 0, middle, centres[:, column])
    return found
