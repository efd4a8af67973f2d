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

from core.arithmetic.arrays import FloatArray, RowArray

MISSING_RANK, FIRST_CODE = 0, 2
MOST_BUCKETS, BUCKETS_PER_THRESHOLD = 1 << 16, 4


class ThresholdRanks(NamedTuple):
    """The thresholds of all columns, one after the other, and the buckets that they are in.

    start           by column: its first threshold; after its last there are as many infinite ones as a search may meet
    low, high       the first and the last threshold
    scale           value x, which is brought between these two, is in bucket (x - low) * scale, rounded down
    bucket_start    by column: its first bucket; then how many there are
    buckets         how many thresholds of the column stand before each bucket
    half            of a search by halving, in the fullest bucket of a column: how far the first step goes
    """

    thresholds: FloatArray
    start: RowArray
    low: FloatArray
    high: FloatArray
    scale: FloatArray
    bucket_start: RowArray
    buckets: NDArray[np.uint32]
    half: RowArray


def ranks_of(values: FloatArray, thresholds: FloatArray) -> NDArray[np.uint32]:
    """The level of each value among ascending thresholds, 0 where it is missing. The definition."""
    ranks = 1 + np.searchsorted(thresholds, values, side="left")
    return np.where(np.isnan(values), MISSING_RANK, ranks).astype(np.uint32)


def thresholds_of_codes(n_categories: int) -> FloatArray:
    """The thresholds among which the level of a category is its code and FIRST_CODE more."""
    return np.arange(n_categories, dtype=np.float64) - 0.5


def all_ranks(of_columns: Sequence[FloatArray]) -> ThresholdRanks:
    """The levels of columns, whose thresholds ascend without repeats."""
    each = [_ranks_of_column(thresholds) for thresholds in of_columns]
    padded, low, high, scale, buckets, half = zip(*each, strict=True) if each else ((),) * 6
    return ThresholdRanks(
        thresholds=np.concatenate([np.empty(0), *padded]),
        start=np.cumsum([0, *map(len, padded)], dtype=np.int64),
        low=np.array(low, dtype=np.float64),
        high=np.array(high, dtype=np.float64),
        scale=np.array(scale, dtype=np.float64),
        bucket_start=np.cumsum([0, *map(len, buckets)], dtype=np.int64),
        buckets=np.concatenate([np.empty(0, dtype=np.uint32), *buckets]),
        half=np.array(half, dtype=np.int64),
    )


def _ranks_of_column(thresholds: FloatArray) -> tuple[FloatArray, float, float, float, NDArray[np.uint32], int]:
    """Padded thresholds, the lowest, the highest, the scale, the buckets, and the first step of a search."""
    low, high = (float(thresholds[0]), float(thresholds[-1])) if len(thresholds) else (0.0, 0.0)
    n_buckets = min(MOST_BUCKETS, max(1, BUCKETS_PER_THRESHOLD * len(thresholds)))
    with np.errstate(over="ignore", divide="ignore"):
        scale = float(np.float64(n_buckets) / np.float64(high - low))
    if not np.isfinite(scale):
        scale = 0.0  # then all are in the first bucket
    bucket = np.minimum((thresholds - low) * scale, n_buckets - 1).astype(np.int64)
    starts = np.searchsorted(bucket, np.arange(n_buckets))
    half = 1 << max(0, int(np.bincount(bucket, minlength=1).max()).bit_length() - 1)
    padding = np.full(2 * half, np.inf)
    return np.append(thresholds, padding), low, high, scale, starts.astype(np.uint32), half
