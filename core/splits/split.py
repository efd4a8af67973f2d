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
    MERGED = "merged"  # groups of values, missing perhaps in one of them
    MERGED_INTERVALS = "merged_intervals"  # the same of intervals between cuts found before growth

    @property
    def spends(self) -> bool:
        """Whether the attribute has nothing more to tell below: each branch holds one value, or one interval."""
        return self in (SplitKind.MULTIWAY, SplitKind.INTERVALS)

    @property
    def has_cuts(self) -> bool:
        """Whether it looks at intervals between cuts found before growth."""
        return self in (SplitKind.INTERVALS, SplitKind.MERGED_INTERVALS)

    @property
    def is_merged(self) -> bool:
        """Whether it has groups as CHAID makes them, which missing may be in."""
        return self in (SplitKind.MERGED, SplitKind.MERGED_INTERVALS)


# By column: where it was cut on all training rows, ascending; None for a column that was not. Empty when none was.
Cuts = tuple[tuple[float, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Split:
    """`threshold` divides a numeric or ordinal column, `cuts` make intervals of one, `(-inf, cuts[0]]` the first.

    Else `branch_of[code]` is the branch of each declared value. Of merged groups it is that of each value, or of each
    interval, and then that of missing: -1 where missing goes down every branch by weight.
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
            return self.intervals(values)
        missing = () if self.kind.is_merged else (-1,)
        table = np.array([*self.branch_of, *missing], dtype=np.int64)  # code -1 reads the last entry
        return table[self.intervals(values) if self.kind.has_cuts else values.astype(np.int64)]

    def intervals(self, values: Column) -> RowArray:
        """The interval between the cuts that each number is in, -1 where it is missing."""
        return np.where(is_missing(values), -1, np.searchsorted(self.cuts, values, side="left"))

    @property
    def missing_branch(self) -> int:
        """The branch of its own that a missing value takes; -1 where it has none."""
        return self.branch_of[-1] if self.kind.is_merged else -1
