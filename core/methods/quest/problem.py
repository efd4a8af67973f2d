"""The input of QUEST's kernels: the samples and the limits of growth."""

from typing import NamedTuple

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray


class Problem(NamedTuple):
    """The samples stored row by row: ordered attributes as float64, categories as cells of one table of all categories.

    A row has `width` numbers; those after the last column are 0. `has_missing` refers to the numbers. `ordered` and
    `nominal` are the column indices of both kinds. `level_start` is where each column's categories begin in the table,
    and where the last one's end; the cell there is for rows with a missing category. `counts_ones` is set if all rows
    weigh 1 and have no missing value, which then holds in every node.
    """

    numbers: FloatArray
    width: int
    has_missing: bool
    ordered: RowArray
    cells: CodeArray
    nominal: RowArray
    level_start: RowArray
    classes: CodeArray
    weights: FloatArray
    counts_ones: bool
    n_classes: int


class Limits(NamedTuple):
    """When growth stops, and the log10 of alpha for the first tests and for Levene's."""

    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    min_impurity: float
    min_copy_weight: float
    log10_alpha: float
    log10_levene_alpha: float
    stops_if_insignificant: bool
