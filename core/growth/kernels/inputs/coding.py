"""Which form kernels get each column in: a sorted list, or a code for every row.

Columns of categories are coded, and so are columns cut before growth, by their interval, and columns of few distinct
values, by the index of the value among these. But if only some gaps are candidates, ordered columns are lists, on which
the gaps are chosen. A candidate slot is an index in the order of the columns; one-hot, every category has one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import BoolArray, FloatArray, RowArray
from core.config.options import Algorithm, Categorical, Dialect, NumericKind
from core.growth.samples import Samples
from core.splits.candidates import midpoints
from core.splits.split import Split, SplitKind
from core.tables.table import Column

FEW_VALUES, FEW_ROWS = 256, 4096  # a column of at most FEW_VALUES values is coded if it has more than FEW_ROWS rows
MOST_LEVELS = 65_000


@dataclass(frozen=True)
class Coding:
    """A column's codes, where `n_levels` is a missing value; `values[code]` is the value if the codes are numbers.

    `cuts` are those found before growth.
    """

    kind: SplitKind
    n_levels: int
    codes: NDArray[np.uint16]
    values: FloatArray | None = None
    cuts: tuple[float, ...] = ()

    @property
    def is_one_cut(self) -> bool:
        """Whether there is only one cut, between two codes."""
        return self.kind is SplitKind.THRESHOLD and self.n_levels == 2

    def thresholds(self, low: RowArray, high: RowArray) -> FloatArray:
        """The thresholds of cuts between the codes `low` and `high`."""
        if self.values is None:
            return np.array(self.cuts)[low]
        return midpoints(self.values[low], self.values[high])


def is_codable(samples: Samples) -> bool:
    """Whether no column has too many categories to be coded."""
    return all(len(attribute.categories) <= MOST_LEVELS for attribute in samples.attributes.schema)


def coding_of(samples: Samples, algorithm: Algorithm, column: int, *, few_values: bool = True) -> Coding | None:
    """The column as codes; None if it is to be a list. Columns of few numbers are coded only if `few_values` is set."""
    attribute, cells = samples.attributes.schema[column], samples.attributes.columns[column]
    if not attribute.has_order:
        kind = {
            Categorical.MULTIWAY: SplitKind.MULTIWAY,
            Categorical.TWO_GROUPS: SplitKind.GROUPS,
        }.get(algorithm.categorical, SplitKind.ONE_VS_REST)
        n_levels = len(attribute.categories)
        return Coding(kind, n_levels, with_missing(cells, cells < 0, n_levels))
    values = as_numbers(samples, column)
    if algorithm.numeric.is_found_before_growth:
        cuts = samples.cuts[column] or ()
        kind = SplitKind.INTERVALS if algorithm.numeric.makes_intervals else SplitKind.THRESHOLD
        intervals = Split(column, SplitKind.INTERVALS, len(cuts) + 1, cuts=cuts).branches(values)
        return Coding(kind, len(cuts) + 1, with_missing(intervals, intervals < 0, len(cuts) + 1), cuts=cuts)
    is_chosen_by_list = algorithm.dialect is Dialect.RELEASE8 or algorithm.numeric.kind is not NumericKind.EXACT
    if is_chosen_by_list or not few_values or len(values) <= FEW_ROWS:
        return None
    return coding_of_few(values)


def coding_of_few(values: FloatArray) -> Coding | None:
    """The codes of a column of few distinct values, their indices in ascending order; None if there are too many."""
    from core.growth.kernels.inputs.few_values import few_values, renamed  # imports Numba

    distinct, codes = np.empty(FEW_VALUES), np.empty(len(values), dtype=np.uint16)
    n = int(few_values(values, values.view(np.uint64), FEW_VALUES, distinct, codes))
    if not 0 < n <= FEW_VALUES:
        return None
    order, positions = np.argsort(distinct[:n]), np.full(FEW_VALUES + 1, n, dtype=np.uint16)
    positions[order] = np.arange(n)
    renamed(codes, positions)
    return Coding(SplitKind.THRESHOLD, n, codes, values=distinct[:n][order])


def with_missing(codes: Column | RowArray, is_missing: BoolArray, n_levels: int) -> NDArray[np.uint16]:
    """The codes as uint16, missing ones as `n_levels`."""
    return np.where(is_missing, n_levels, codes).astype(np.uint16)


def as_numbers(samples: Samples, column: int) -> FloatArray:
    """A column with an order as numbers, NaN where it is missing."""
    values = samples.attributes.columns[column]
    if samples.attributes.schema[column].is_numeric:
        return for_kernels(values, np.float64)
    return np.where(values < 0, np.nan, values).astype(np.float64)


def for_kernels(values: Any, kind: type[Any]) -> Any:
    """The array as compiled kernels expect it: contiguous, aligned, writable, and in this machine's byte order."""
    return np.require(values, kind, ["C_CONTIGUOUS", "WRITEABLE", "ALIGNED"])


@dataclass(frozen=True)
class NumberColumns:
    """Columns as float64 arrays that kernels read by their addresses; the arrays must outlive the addresses."""

    values: list[FloatArray]

    @property
    def addresses(self) -> Any:
        return np.array([each.ctypes.data for each in self.values], dtype=np.uint64)


def number_columns(samples: Samples, columns: Sequence[int] | None = None) -> NumberColumns:
    """The given columns of the samples, or all of them, as numbers; each has an order."""
    chosen = range(len(samples.attributes.schema)) if columns is None else columns
    return NumberColumns([as_numbers(samples, column) for column in chosen])
