"""A radix sort of numbers, in a third of the time of `np.argsort`; see `arithmetic.kernels.sorting`."""

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)  # the bits of half a word, and the mask of its lower half


def argsort_nonnegative(values: FloatArray) -> RowArray:
    """The positions of the numbers in ascending order, ties in their own order; no number is negative or NaN. Compiled.

    The bits of such numbers sort like the numbers. The keys are sorted by their lower half first, and then, stably, by
    the upper one.
    """
    from core.arithmetic.kernels.sorting import DIGIT, MOST_DIGITS, sort_keys  # imports Numba

    bits, positions = values.view(np.uint64), np.arange(len(values), dtype=np.uint64)
    counts = np.empty((MOST_DIGITS, 1 << DIGIT), dtype=np.uint32)
    for half in (bits & LOW, bits >> HALF):
        keys = (half[positions] << HALF) | positions
        positions = sort_keys(keys, np.empty_like(keys), 32, counts) & LOW
    return positions.astype(np.int64)
