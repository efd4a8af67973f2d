"""Numbers put in order by their digits, which takes a third of the time of `np.argsort`; see
`arithmetic.kernels.sorting`.
"""

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)  # of a word: the bits of half a number, and the place it has


def positions_in_order(values: FloatArray) -> RowArray:
    """The places of the numbers, ascending, equal ones in their own order; none is negative or NaN. Compiled.

    The bits of such numbers are in the same order as they are. First the lower half of these is put in order, then,
    without disturbing that, the upper one.
    """
    from core.arithmetic.kernels.sorting import DIGIT, MOST_DIGITS, sort_keys  # imports Numba

    bits, positions = values.view(np.uint64), np.arange(len(values), dtype=np.uint64)
    counts = np.empty((MOST_DIGITS, 1 << DIGIT), dtype=np.uint32)
    for half in (bits & LOW, bits >> HALF):
        keys = (half[positions] << HALF) | positions
        positions = sort_keys(keys, np.empty_like(keys), 32, counts) & LOW
    return positions.astype(np.int64)
