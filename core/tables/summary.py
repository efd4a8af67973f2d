"""A summary of each column of a table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.tables.schema import Attribute, Kind
from core.tables.table import Column, Table, is_missing


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """A column's kind and categories, and how many of its cells are known.

    `minimum` and `maximum` are those of the known numbers: None for other kinds and where no number is known.
    """

    name: str
    kind: Kind
    categories: tuple[str, ...]
    n_missing: int
    minimum: float | None
    maximum: float | None
    n_values: int

    def to_json(self) -> dict[str, Any]:
        """The summary as plain values, in the order of its fields."""
        return {
            "name": self.name,
            "kind": self.kind.value,
            "categories": list(self.categories),
            "n_missing": self.n_missing,
            "minimum": self.minimum,
            "maximum": self.maximum,
            "n_values": self.n_values,
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> "ColumnSummary":
        """The summary that `to_json` wrote."""
        return cls(
            name=values["name"],
            kind=Kind(values["kind"]),
            categories=tuple(values["categories"]),
            n_missing=values["n_missing"],
            minimum=values["minimum"],
            maximum=values["maximum"],
            n_values=values["n_values"],
        )


def summarize(table: Table) -> tuple[ColumnSummary, ...]:
    """One summary for each column, in the table's order."""
    return tuple(map(_summarize_column, table.schema, table.columns))


def _summarize_column(attribute: Attribute, values: Column) -> ColumnSummary:
    missing = is_missing(values)
    n_missing = int(np.count_nonzero(missing))
    known = values[~missing] if attribute.is_numeric else values[:0]
    return ColumnSummary(
        name=attribute.name,
        kind=attribute.kind,
        categories=attribute.categories,
        n_missing=n_missing,
        minimum=float(known.min()) if known.size else None,
        maximum=float(known.max()) if known.size else None,
        n_values=len(values) - n_missing,
    )
