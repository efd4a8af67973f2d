"""A test on one attribute, with one branch per outcome."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.table import Column, RowArray, is_missing


class SplitKind(StrEnum):
    """What the branches of a split stand for."""

    THRESHOLD = "threshold"  # value <= t, value > t
    MULTIWAY = "multiway"  # one branch per declared value
    GROUPS = "groups"  # two groups of values
    ONE_VS_REST = "one_vs_rest"  # one value, all the others
    INTERVALS = "intervals"  # one branch per interval between cuts found before growth

    @property
    def spends(self) -> bool:
        """Whether the attribute has nothing more to tell below: each branch holds one value, or one interval."""
        return self in (SplitKind.MULTIWAY, SplitKind.INTERVALS)


# By column: where it was cut on all training rows, ascending; None for a column that was not. Empty when none was.
Cuts = tuple[tuple[float, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """`threshold` divides a numeric or ordinal column, `cuts` make intervals of one, `(-inf, cuts[0]]` the first.

    Else `branch_of[code]` is the branch of each declared value.
    """

    column: int
    kind: SplitKind
    n_branches: int
    threshold: float = np.nan
    branch_of: tuple[int, ...] = ()
    cuts: tuple[float, ...] = ()

    def branches(self, values: Column) -> RowArray:
        """The branch each cell takes, -1 where it is missing."""
        if self.kind is SplitKind.THRESHOLD:
            return np.where(is_missing(values), -1, (values > self.threshold).astype(np.int64))
        if self.kind is SplitKind.INTERVALS:
            return np.where(is_missing(values), -1, np.searchsorted(self.cuts, values, side="left"))
        table = np.array([*self.branch_of, -1], dtype=np.int64)  # code -1 reads the last entry
        return table[values.astype(np.int64)]
