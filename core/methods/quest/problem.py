"""What the kernels of QUEST are told: the samples, and when growth stops."""

from typing import NamedTuple

from core.arithmetic.arrays import CodeArray, FloatArray, RowArray


class Problem(NamedTuple):
    """The samples, row by row: numbers and ordinals as float64, categories by their cells in the tables of all of them.

    A row has as many numbers as `width` says, those after the last column are 0. `has_missing` is about numbers.
    `ordered` and `nominal` are the columns that they are. `level_start` is where each category's table begins, and
    where the last one ends: there is the cell of rows that do not know theirs. `counts_ones` says that rows weigh 1
    and know everything: so it is then in every node.
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
    """When growth stops, and how small the logarithms of p must be for the first and for Levene's test."""

    max_depth: int
    min_samples_split: float
    min_samples_leaf: float
    min_impurity: float
    min_copy_weight: float
    log10_alpha: float
    log10_levene_alpha: float
    stops_if_insignificant: bool
