"""A test on one attribute, with one branch per outcome."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.table import MISSING_CODE, Column, RowArray


class SplitKind(StrEnum):
    """What the branches of a split stand for."""

    THRESHOLD = "threshold"  # value <= t, value > t
    MULTIWAY = "multiway"  # one branch per declared value
    GROUPS = "groups"  # two groups of values
    ONE_VS_REST = "one_vs_rest"  # one value, all the others


@dataclass(frozen=True, slots=True)
class Split:
    """`threshold` divides a numeric or ordinal column; else `branch_of[code]` is the branch of each declared value."""

    column: int
    kind: SplitKind
    n_branches: int
    threshold: float = np.nan
    branch_of: tuple[int, ...] = ()

    def branches(self, values: Column) -> RowArray:
        """The branch each cell takes, -1 where it is missing."""
        if self.kind is SplitKind.THRESHOLD:
            missing = np.isnan(values) if values.dtype == np.float64 else values == MISSING_CODE
            return np.where(missing, -1, (values > self.threshold).astype(np.int64))
        table = np.array([*self.branch_of, -1], dtype=np.int64)  # code -1 reads the last entry
        return table[values.astype(np.int64)]
