"""What the columns of a table mean.

An attribute is numeric, ordinal (a declared order) or categorical; an ignored column is kept but never learnt from.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property


class Kind(StrEnum):
    """How the values of a column are read."""

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    IGNORE = "ignore"


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column's name and kind; `categories` in declared order (an ordinal: from low to high), none for numbers."""

    name: str
    kind: Kind
    categories: tuple[str, ...] = ()

    @property
    def is_numeric(self) -> bool:
        return self.kind is Kind.NUMERIC

    @property
    def has_order(self) -> bool:
        """Whether a threshold makes sense: numbers, and categories with a declared order."""
        return self.kind in (Kind.NUMERIC, Kind.ORDINAL)


@dataclass(frozen=True)
class Schema:
    """The columns of a table, in order; names are unique."""

    columns: tuple[Attribute, ...]

    def __len__(self) -> int:
        return len(self.columns)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.columns)

    def __getitem__(self, column: int) -> Attribute:
        return self.columns[column]

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {attribute.name: column for column, attribute in enumerate(self.columns)}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(attribute.name for attribute in self.columns)

    def column(self, name: str) -> int:
        """The index of a column; KeyError if there is none of that name."""
        return self._columns[name]
