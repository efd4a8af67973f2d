"""How much a split reduces the impurity, and how attributes are compared by it.

`branches[..., v, :]` holds the sums (class weights, or moments) of the samples that go down branch v.
"""

import numpy as np

from core.arithmetic.arrays import BoolArray, FloatArray
from core.arithmetic.logarithms import log2_each
from core.arithmetic.ties import TIE, first_within_tie
from core.criteria.impurity import Impurity, entropy


def impurity_decrease(impurity: Impurity, branches: FloatArray, branch_weights: FloatArray) -> FloatArray:
    """How much purer the branches are than their union; with entropy, the information gain.

        Gain(D, a) = Ent(D) - sum_v N_v/N Ent(D_v)

    ID3 (Quinlan 1986) with entropy, CART (1984) with Gini.
    """
    total = branch_weights.sum(axis=-1)
    within = np.sum(branch_weights * impurity(branches), axis=-1) / np.where(total > 0, total, 1.0)
    return impurity(branches.sum(axis=-2)) - within


def intrinsic_value(branch_weights: FloatArray) -> FloatArray:
    """How many bits it takes to name the branch of a sample.

    IV(a) = -sum_v N_v/N log2 N_v/N
    """
    return entropy(branch_weights)


def gain_ratio(gain: FloatArray, branch_weights: FloatArray) -> FloatArray:
    """The gain divided by the intrinsic value, so that many small branches are no advantage; IV is positive.

    C4.5 (Quinlan 1993).
    """
    return gain / intrinsic_value(branch_weights)


def corrected_gain(
    gain: FloatArray | float, n_thresholds: FloatArray | int, weight: FloatArray | float
) -> FloatArray | float:
    """The gain of the best of several thresholds, less the cost of naming it: log2(c) / |D|.

    C4.5 release 8 (Quinlan 1996).
    """
    return gain - log2_each(np.asarray(n_thresholds)) / weight


def above_average(gains: FloatArray) -> BoolArray:
    """Which gains are at least the average: among these C4.5 takes the largest ratio."""
    return gains >= gains.mean() - TIE


def better_half(gains: FloatArray) -> BoolArray:
    """The ceil(n/2) candidates of largest gain, ties to the earlier column."""
    left_over, chosen = gains.astype(np.float64), np.zeros(len(gains), dtype=np.bool_)
    for _ in range((len(gains) + 1) // 2):
        best = first_within_tie(left_over)
        chosen[best], left_over[best] = True, -np.inf
    return chosen
