"""The samples that a tree is grown from."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray
from core.splits.split import Cuts, Split, SplitKind
from core.tables.table import Table
from core.tables.target import Target


@dataclass(frozen=True)
class Samples:
    """Attributes, target and weight of each row; every target is known, every weight positive.

    `cuts` are those of columns with an order, found on all these rows, if the algorithm needs them.
    """

    attributes: Table
    target: Target
    weights: FloatArray
    cuts: Cuts = ()

    @cached_property
    def categories(self) -> tuple[CodeArray, ...]:
        """Each column as codes: of its categories, or of its intervals if it was cut; one more code is for missing."""
        return tuple(self._categories_of(column) for column in range(len(self.attributes.schema)))

    def n_categories(self, column: int) -> int:
        """How many codes are for known values."""
        cuts = self.cuts[column] if self.cuts else None
        return len(self.attributes.schema[column].categories) if cuts is None else len(cuts) + 1

    def _categories_of(self, column: int) -> CodeArray:
        cuts, values = self.cuts[column] if self.cuts else None, self.attributes.columns[column]
        codes = (
            values if cuts is None else Split(column, SplitKind.INTERVALS, len(cuts) + 1, cuts=cuts).branches(values)
        )
        return np.where(codes < 0, self.n_categories(column), codes).astype(np.int32)

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def rows(self) -> RowArray:
        return np.arange(len(self.weights))
