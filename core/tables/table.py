"""A table: typed columns of equal length, every cell known or missing."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.arithmetic.arrays import BoolArray, CodeArray, FloatArray, RowArray
from core.tables.schema import Schema

Column = FloatArray | CodeArray

MISSING_CODE = -1


@dataclass(frozen=True)
class Table:
    """Columns by the schema's order.

    A numeric column is float64 with NaN where it is missing; every other column is int32 codes into its
    attribute's categories, -1 where it is missing.
    """

    schema: Schema
    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        assert len(self.schema) == len(self.columns)
        assert len({len(values) for values in self.columns}) <= 1

    @property
    def n_rows(self) -> int:
        return len(self.columns[0]) if self.columns else 0

    @property
    def has_missing(self) -> bool:
        """Whether any cell is missing."""
        return any(bool(is_missing(values).any()) for values in self.columns)

    def values(self, name: str) -> Column:
        return self.columns[self.schema.column(name)]

    def take(self, rows: RowArray) -> "Table":
        """The table of these rows, in this order."""
        return Table(self.schema, tuple(values[rows] for values in self.columns))

    def select(self, names: Sequence[str]) -> "Table":
        """The table of these columns, in this order."""
        positions = [self.schema.column(name) for name in names]
        return Table(Schema(tuple(self.schema[p] for p in positions)), tuple(self.columns[p] for p in positions))


def is_missing(values: Column) -> BoolArray:
    """Which cells of a column are missing."""
    return np.isnan(values) if values.dtype == np.float64 else values == MISSING_CODE
