"""Rows with a missing value go down one branch as a whole, drawn with the shares of the known rows."""

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.randomness import FOR_ROWS, key_of, uniform


def drawn_branches(rows: RowArray, branch: RowArray, shares: FloatArray, node_key: int) -> RowArray:
    """The branch of each row, drawn with probability r_v where it is -1.

    A draw depends only on the seed, the path from the root to the node, and the row's number.
    """
    ends, last = np.cumsum(shares), int(np.flatnonzero(shares > 0)[-1])
    drawn = branch.copy()
    for position in np.flatnonzero(branch < 0):
        chance = uniform(key_of(key_of(node_key, FOR_ROWS), int(rows[position])))
        drawn[position] = min(int(np.searchsorted(ends, chance, side="right")), last)
    return drawn
