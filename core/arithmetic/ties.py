"""The rule for ties, shared by all searches.

The winner is the first candidate, in the documented order, whose value is within a tolerance of the largest. So neither
the order in which candidates are visited nor the last bits of their sums matter.
"""

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray

TIE = 1e-12


def first_within_tie(values: FloatArray, tolerance: float = TIE) -> int:
    """The first position whose value is within the tolerance of the largest; there is at least one value."""
    return int(np.argmax(values >= values.max() - tolerance))


def majorities(class_weights: FloatArray) -> RowArray:
    """The class of largest share in each row, ties to the earlier one; every total weight is positive."""
    shares = class_weights / class_weights.sum(axis=1, keepdims=True)
    return np.argmax(shares >= shares.max(axis=1, keepdims=True) - TIE, axis=1)
