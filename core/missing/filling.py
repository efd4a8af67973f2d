"""Fills missing cells before growth: with the most frequent category, or the median of the known numbers.

`majority` computes them from all training rows, `class_majority` from those of the row's own class. The fills that are
stored with the model, and used at prediction, are always the former: a record's class is not known then.
"""

import numpy as np

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray
from core.arithmetic.sums import weights_by
from core.arithmetic.ties import TIE, first_within_tie
from core.splits.candidates import midpoint
from core.tables.schema import Attribute
from core.tables.table import Column, Table, is_missing

# For each column a number, or the code of a category; None where the value is missing in all training rows.
Fills = tuple[float | None, ...]


def fills_of(table: Table, weights: FloatArray) -> Fills:
    """The value that fills the missing cells of each column."""
    return tuple(fill_of(a, cells, weights) for a, cells in zip(table.schema, table.columns, strict=True))


def fill_of(attribute: Attribute, cells: Column, weights: FloatArray) -> float | None:
    """The most frequent category by weight, ties in declared order, or the weighted median of the known numbers."""
    known = ~is_missing(cells)
    if not known.any():
        return None
    if attribute.is_numeric:
        return weighted_median(cells[known].astype(np.float64), weights[known])
    by_category = weights_by(cells[known].astype(np.int64), weights[known], len(attribute.categories))
    return float(first_within_tie(by_category / by_category.sum()))


def weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The value at which the cumulative weight exceeds half; if it is exactly half, the midpoint to the next value."""
    order = np.argsort(values, kind="stable")
    so_far = np.cumsum(weights[order])
    half, tolerance = so_far[-1] / 2, TIE * so_far[-1]
    position = int(np.argmax(so_far >= half - tolerance))
    value = float(values[order[position]])
    if so_far[position] > half + tolerance:
        return value
    later = float(values[order[position + 1]])
    return value if later == value else midpoint(value, later)


def filled(table: Table, fills: Fills, where: BoolArray | None = None) -> Table:
    """The table with missing cells filled in these rows, by default all; columns without a fill stay as they are."""
    rows = np.ones(table.n_rows, dtype=np.bool_) if where is None else where
    columns = (_filled(cells, fill, rows) for cells, fill in zip(table.columns, fills, strict=True))
    return Table(table.schema, tuple(columns))


def _filled(cells: Column, fill: float | None, rows: BoolArray) -> Column:
    if fill is None:
        return cells
    completed = cells.copy()
    completed[is_missing(cells) & rows] = fill
    return completed


def filled_by_class(table: Table, classes: CodeArray, weights: FloatArray) -> Table:
    """Each row's missing cells filled from the rows of its class, or from all rows where these have no known value."""
    overall, completed = fills_of(table, weights), table
    for code in np.unique(classes):
        rows = classes == code
        own = fills_of(table.take(np.flatnonzero(rows)), weights[rows])
        fills = tuple(every if one is None else one for one, every in zip(own, overall, strict=True))
        completed = filled(completed, fills, rows)
    return completed
