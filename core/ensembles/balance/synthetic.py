"""New rows for a rare class, at random points between two of its rows.

Numbers are interpolated where both rows know them; what only one of the two knows is taken from it. Everything that
is not a number, ordinals too, is a category, and is never between others.
"""

from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray
from core.arithmetic.randomness import fractions
from core.ensembles.balance.neighbours import nearest, points_of, standard_deviation
from core.tables.table import MISSING_CODE, Column, Table


@dataclass(frozen=True)
class Between:
    """Pairs of rows, and how far from the first to the second each new row is, from 0 to 1."""

    rows: RowArray
    others: RowArray
    shares: FloatArray


def between_any(times: RowArray, n: int, bits: np.random.PCG64) -> Between:
    """n pairs of different rows, both drawn by how often they count; of a single row with itself."""
    first, second, shares = (fractions(bits, n) for _ in range(3))
    rows = drawn_by(times, first)
    # The other is drawn from all but the first row, whose count is skipped.
    begins = np.cumsum(times) - times
    left = times.sum() - times[rows]
    skipped = np.floor(second * left).astype(np.int64)
    skipped += np.where(skipped >= begins[rows], times[rows], 0)
    others = np.where(left > 0, np.searchsorted(np.cumsum(times), skipped, side="right"), rows)
    return Between(rows, others, shares)


def between_neighbours(times: RowArray, neighbours: RowArray, n: int, bits: np.random.PCG64) -> Between:
    """n rows drawn by how often they count, each with one of its neighbours; with itself where it has none.

    Chawla, Bowyer, Hall and Kegelmeyer 2002 (SMOTE), with the rows drawn at random instead of in turn.
    """
    first, second, shares = (fractions(bits, n) for _ in range(3))
    rows, n_near = drawn_by(times, first), neighbours.shape[1]
    others = neighbours[rows, np.floor(second * n_near).astype(np.int64)] if n_near else rows
    return Between(rows, others, shares)


def drawn_by(times: RowArray, fractions_drawn: FloatArray) -> RowArray:
    """A row for each fraction from 0 to 1, by how often the rows count."""
    ends = np.cumsum(times)
    return np.searchsorted(ends, np.floor(fractions_drawn * ends[-1]), side="right")


def near_rows(table: Table, n: int, *, kernels: bool) -> RowArray:
    """`[row, :]`: the n nearest of the other rows, all where there are fewer; as published for SMOTE-NC.

    Numbers as they are, and two categories that differ are as far apart as the median of the standard deviations of
    the numbers; 1 where there are none, so that the number of categories that differ is counted.
    """
    points, is_number = points_of(table), np.array([attribute.is_numeric for attribute in table.schema])
    penalties = np.where(is_number, np.nan, median_deviation(points[:, is_number]) ** 2)
    return nearest(points, points, penalties, min(n, len(points) - 1), but_itself=True, kernels=kernels)


def median_deviation(numbers: FloatArray) -> float:
    """The median of the columns' standard deviations, over known numbers; 1 without any."""
    known = [column[~np.isnan(column)] for column in numbers.T]
    with np.errstate(over="ignore"):
        spreads = [standard_deviation(values) for values in known if len(values)]
    return min(float(np.median(spreads)), 1e150) if spreads else 1.0


def new_rows(table: Table, between: Between, neighbours: RowArray | None = None) -> Table:
    """One new row for each pair.

    A category is that of most of the row's neighbours, ties to the earlier one; without any that know it, and without
    neighbours, that of the row nearer by.
    """
    made: list[Column] = []
    for attribute, cells in zip(table.schema, table.columns, strict=True):
        if attribute.is_numeric:
            made.append(interpolated(cells.astype(np.float64), between))
            continue
        codes = taken(cells.astype(np.int32), between, nearer=neighbours is None)
        if neighbours is not None and neighbours.shape[1]:
            most = most_frequent(cells[neighbours].astype(np.int32), len(attribute.categories))
            codes = np.where(most[between.rows] < 0, codes, most[between.rows])
        made.append(codes.astype(np.int32))
    return Table(table.schema, tuple(made))


def interpolated(numbers: FloatArray, between: Between) -> FloatArray:
    """(1 - u) a + u b, never outside a and b; the known one of both if the other is missing."""
    a, b, u = numbers[between.rows], numbers[between.others], between.shares
    inside = np.clip((1 - u) * a + u * b, np.minimum(a, b), np.maximum(a, b))
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, inside))


def taken(codes: CodeArray, between: Between, *, nearer: bool) -> CodeArray:
    """The category of the first row, or of the nearer of the two; that of the other where it is missing."""
    a, b = codes[between.rows], codes[between.others]
    if nearer:
        is_second = between.shares >= 0.5
        a, b = np.where(is_second, b, a), np.where(is_second, a, b)
    return np.where(a == MISSING_CODE, b, a)


def most_frequent(codes: CodeArray, n_codes: int) -> CodeArray:
    """The most frequent known code of each row, ties to the smaller; missing where none is known."""
    rows, neighbours = np.nonzero(codes >= 0)
    cells = rows * max(1, n_codes) + codes[rows, neighbours]
    counts = np.bincount(cells, minlength=len(codes) * max(1, n_codes)).reshape(len(codes), -1)
    return np.where(counts.any(axis=1), counts.argmax(axis=1), MISSING_CODE).astype(np.int32)
