"""A test on one attribute, or on a weighted sum of several, with one branch per outcome."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.tables.table import Column, is_missing

FEW_CUTS, MANY_VALUES = 64, 1000


class SplitKind(StrEnum):
    """What the branches of a split stand for."""

    THRESHOLD = "threshold"  # value <= t, value > t
    MULTIWAY = "multiway"  # one branch per declared category
    GROUPS = "groups"  # two groups of categories
    ONE_VS_REST = "one_vs_rest"  # one category, all the others
    INTERVALS = "intervals"  # one branch per interval between cuts found before growth
    MERGED = "merged"  # groups of categories, one of which may also hold missing values
    MERGED_INTERVALS = "merged_intervals"  # groups of such intervals, one of which may also hold missing values
    LINEAR = "linear"  # weighted sum <= t, weighted sum > t

    @property
    def spends(self) -> bool:
        """Whether the attribute cannot split the nodes below: each branch holds one category, or one interval."""
        return self in (SplitKind.MULTIWAY, SplitKind.INTERVALS)

    @property
    def has_cuts(self) -> bool:
        """Whether it tests intervals between cuts found before growth."""
        return self in (SplitKind.INTERVALS, SplitKind.MERGED_INTERVALS)

    @property
    def is_merged(self) -> bool:
        """Whether its branches are groups merged by CHAID, one of which may hold missing values."""
        return self in (SplitKind.MERGED, SplitKind.MERGED_INTERVALS)


# For each column its cuts on all training rows, ascending; None for a column without cuts. Empty if no column was cut.
Cuts = tuple[tuple[float, ...] | None, ...]


@dataclass(frozen=True, slots=True)
class Term:
    """A term of a weighted sum: weight * number; with a `code`, weight if the category has that code, else 0."""

    column: int
    weight: float
    code: int = -1


@dataclass(frozen=True, slots=True)
class Split:
    """A test of one attribute, or a linear test; which fields it uses depends on its kind.

    `threshold` splits a numeric or ordinal column, and `cuts` make intervals of one, the first being `(-inf, cuts[0]]`.
    For other kinds `branch_of[code]` is the branch of each declared category. For merged groups it holds the branch of
    each category, or of each interval, and last that of missing values: -1 if they go down every branch by weight. A
    linear test has `terms`, in the order of columns, and compares their sum with the threshold; `column` is that of the
    first.
    """

    column: int
    kind: SplitKind
    n_branches: int
    threshold: float = np.nan
    branch_of: tuple[int, ...] = ()
    cuts: tuple[float, ...] = ()
    terms: tuple[Term, ...] = ()

    @property
    def columns(self) -> tuple[int, ...]:
        """The attributes that it tests, each once."""
        return tuple(dict.fromkeys(term.column for term in self.terms)) or (self.column,)

    def branches_of(self, columns: Sequence[Column], rows: RowArray | slice) -> RowArray:
        """The branch of each of these rows of a table, -1 where a value that the test needs is missing."""
        if self.kind is SplitKind.LINEAR:
            sums = weighted_sums(self.terms, columns, rows)
            return np.where(np.isnan(sums), -1, (sums > self.threshold).astype(np.int64))
        return self.branches(columns[self.column][rows])

    def branches(self, values: Column) -> RowArray:
        """The branch of each cell, -1 where it is missing; for tests of one attribute."""
        if self.kind is SplitKind.THRESHOLD:
            return np.where(is_missing(values), -1, (values > self.threshold).astype(np.int64))
        if self.kind is SplitKind.INTERVALS:
            return self.intervals(values)
        missing = () if self.kind.is_merged else (-1,)
        table = np.array([*self.branch_of, *missing], dtype=np.int64)  # code -1 reads the last entry
        return table[self.intervals(values) if self.kind.has_cuts else values.astype(np.int64)]

    def intervals(self, values: Column) -> RowArray:
        """The interval between the cuts that each number is in, -1 where it is missing."""
        return np.where(is_missing(values), -1, n_below(self.cuts, values))

    @property
    def missing_branch(self) -> int:
        """The branch that merged groups give missing values; -1 where there is none."""
        return self.branch_of[-1] if self.kind.is_merged else -1


def n_below(cuts: Sequence[float], values: Column) -> RowArray:
    """How many of the cuts, which ascend, are below each value."""
    if len(cuts) > FEW_CUTS or len(values) < MANY_VALUES:
        return np.searchsorted(cuts, values, side="left")
    below = np.zeros(len(values), dtype=np.uint8)  # comparing all values with a cut is faster than a search for each
    for cut in cuts:
        below += values > cut
    return below.astype(np.int64)


def weighted_sums(terms: Sequence[Term], columns: Sequence[Column], rows: RowArray | slice) -> FloatArray:
    """The sum of the terms for each of these rows, added up in their order; NaN where a value is missing."""
    sums = np.zeros(len(columns[terms[0].column][rows]))
    with np.errstate(over="ignore", invalid="ignore"):
        for term in terms:
            values = columns[term.column][rows]
            amounts = values if term.code < 0 else (values == term.code)
            sums += np.where(is_missing(values), np.nan, term.weight * amounts)
    return sums
