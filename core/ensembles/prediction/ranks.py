"""Values as ranks among the thresholds that a forest tests on a column.

A forest compares each value with very many thresholds. Once the rank of the value is known, each of these comparisons
is one of small whole numbers:

    threshold        0.3     1.5     4.0                rank of x > rank of t     if and only if     x > t
    rank          1   |   2   |   3   |   4             a threshold has the rank of the values right below it;
                                                        0 is missing, and above nothing

Categories have ranks too, given by their codes. To find a rank quickly, the range of a column is cut into buckets of
equal width, each with few thresholds: only numbers in the same bucket have to be compared.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from core.arithmetic.arrays import FloatArray, RowArray

MISSING_RANK, FIRST_CODE = 0, 2
MOST_BUCKETS, BUCKETS_PER_THRESHOLD = 1 << 16, 4


class ThresholdRanks(NamedTuple):
    """The thresholds of all columns, one after the other, and their buckets.

    start           by column: its first threshold; after its last comes enough padding by infinity for any search
    low, high       the first and the last threshold
    scale           value x, clipped to these two, is in bucket (x - low) * scale, rounded down
    bucket_start    by column: its first bucket; last the number of buckets
    buckets         the number of the column's thresholds before each bucket
    half            by column: the first step of a binary search in its fullest bucket
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
    """The rank of each value among ascending thresholds, 0 where it is missing. The definition."""
    ranks = 1 + np.searchsorted(thresholds, values, side="left")
    return np.where(np.isnan(values), MISSING_RANK, ranks).astype(np.uint32)


def thresholds_of_codes(n_categories: int) -> FloatArray:
    """The thresholds among which the rank of a category is its code plus FIRST_CODE."""
    return np.arange(n_categories, dtype=np.float64) - 0.5


def all_ranks(of_columns: Sequence[FloatArray]) -> ThresholdRanks:
    """The ranks of columns with these thresholds, which ascend without repeats."""
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
    if not 0.0 < scale < np.inf:
        scale, high = 0.0, low  # one threshold, or a distance that is no float: all values are in the first bucket
    bucket = np.minimum((np.minimum(thresholds, high) - low) * scale, n_buckets - 1).astype(np.int64)
    starts = np.searchsorted(bucket, np.arange(n_buckets))
    half = 1 << max(0, int(np.bincount(bucket, minlength=1).max()).bit_length() - 1)
    padding = np.full(2 * half, np.inf)
    return np.append(thresholds, padding), low, high, scale, starts.astype(np.uint32), half
