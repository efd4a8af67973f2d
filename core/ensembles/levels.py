"""Values as levels: how many of the thresholds that a forest asks for on a column lie below them.

A forest compares each value with very many thresholds. Once it is known between which two of them a value lies, every
one of these comparisons is one of small whole numbers:

    threshold        0.3     1.5     4.0                level of x > level of t     just when     x > t
    level         1   |   2   |   3   |   4             a threshold's own level is that of the values right below it;
                                                        0 stands for missing, and is above nothing

Categories are levels too, told by their codes. To find a level quickly a column is divided evenly into buckets, each
with few thresholds; which of two numbers is the larger, their buckets tell as well, unless they are the same.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.table import FloatArray, RowArray

MISSING_LEVEL, FIRST_CODE = 0, 2
LEVEL_BITS = 24  # of the word that a test is kept in
MOST_LEVELS = (1 << LEVEL_BITS) - 2  # the last one is that of leaves: nothing is above it
MOST_BUCKETS = 1 << 16


class Levels(NamedTuple):
    """The thresholds of all columns, one after the other, and the buckets that they are in.

    start           by column: its first threshold; then how many there are
    low, scale      value x is in bucket (x - low) * scale, rounded down
    bucket_start    by column: its first bucket; then how many there are, with one more for each column
    buckets         the first threshold in each bucket, counted from the column's first; at last how many there are
    n_steps         of a search by halving, in the fullest bucket of a column
    """

    thresholds: FloatArray
    start: RowArray
    low: FloatArray
    scale: FloatArray
    bucket_start: RowArray
    buckets: NDArray[np.uint32]
    n_steps: RowArray


def levels_of(values: FloatArray, thresholds: FloatArray) -> NDArray[np.int32]:
    """The level of each value among ascending thresholds, 0 where it is missing. The definition."""
    levels = 1 + np.searchsorted(thresholds, values, side="left")
    return np.where(np.isnan(values), MISSING_LEVEL, levels).astype(np.int32)


def thresholds_of_codes(n_categories: int) -> FloatArray:
    """The thresholds among which the level of a category is its code and FIRST_CODE more."""
    return np.arange(n_categories) - 0.5


def all_levels(of_columns: Sequence[FloatArray]) -> Levels:
    """The levels of columns, whose thresholds ascend without repeats."""
    low, scale, buckets, n_steps = [], [], [], []
    for thresholds in of_columns:
        n_buckets = min(MOST_BUCKETS, max(1, 2 * len(thresholds)))
        first, factor = _grid(thresholds, n_buckets)
        found = np.searchsorted(bucket_of(thresholds, thresholds, first, factor, n_buckets), np.arange(n_buckets + 1))
        low.append(first)
        scale.append(factor)
        buckets.append(found.astype(np.uint32))
        n_steps.append(int(np.diff(found).max()).bit_length())
    return Levels(
        thresholds=np.concatenate([np.empty(0), *of_columns]),
        start=np.cumsum([0, *map(len, of_columns)], dtype=np.int64),
        low=np.array(low, dtype=np.float64),
        scale=np.array(scale, dtype=np.float64),
        bucket_start=np.cumsum([0, *map(len, buckets)], dtype=np.int64),
        buckets=np.concatenate([np.empty(0, dtype=np.uint32), *buckets]),
        n_steps=np.array(n_steps, dtype=np.int64),
    )


def bucket_of(values: FloatArray, thresholds: FloatArray, low: float, scale: float, n_buckets: int) -> RowArray:
    """The bucket of each value that is known; it never falls as values rise."""
    within = np.clip(values, thresholds[0], thresholds[-1]) if len(thresholds) else np.zeros_like(values)
    return np.minimum((within - low) * scale, n_buckets - 1).astype(np.int64)


def _grid(thresholds: FloatArray, n_buckets: int) -> tuple[float, float]:
    """Where buckets begin, and how many there are to a whole; none, where that is no number."""
    if not len(thresholds):
        return 0.0, 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        scale = float(n_buckets / (thresholds[-1] - thresholds[0]))
    return float(thresholds[0]), scale if np.isfinite(scale) else 0.0
