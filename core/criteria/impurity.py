"""How mixed a set of samples is.

Every function reads the last axis of an array of sums and keeps the others, so that one formula serves a node, the
branches of a split and all the cuts of a column. A set without weight has impurity 0.
"""

from collections.abc import Callable

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import log2_each

Impurity = Callable[[FloatArray], FloatArray]


def entropy(class_weights: FloatArray) -> FloatArray:
    """Uncertainty of a class distribution, in bits.

        Ent(D) = -sum_k p_k log2 p_k        with 0 log 0 = 0

    Shannon 1948; chooses splits since ID3 (Quinlan 1986).
    """
    p = shares(class_weights)
    return np.sum(p * log2_each(1 / np.where(p > 0, p, 1.0)), axis=-1)


def gini(class_weights: FloatArray) -> FloatArray:
    """Chance that two samples drawn with replacement differ in class.

        Gini(D) = 1 - sum_k p_k^2

    Breiman, Friedman, Olshen and Stone 1984.
    """
    return np.where(class_weights.sum(axis=-1) > 0, 1 - np.sum(shares(class_weights) ** 2, axis=-1), 0.0)


def error_rate(class_weights: FloatArray) -> FloatArray:
    """Share of samples that the majority class gets wrong.

    E(D) = 1 - max_k p_k
    """
    return np.where(class_weights.sum(axis=-1) > 0, 1 - np.max(shares(class_weights), axis=-1), 0.0)


def squared_error(moments: FloatArray) -> FloatArray:
    """Mean squared deviation from the mean, summed over the outputs.

        SE(D) = sum_x w_x (y_x - mean)^2 / sum_x w_x

    `moments[..., 0]` is the weight, then come the weighted sums of each output, then those of its squares. The outputs
    must be centred near their mean beforehand, since the difference of squares would lose digits otherwise.
    """
    weight = moments[..., :1]
    n_outputs = (moments.shape[-1] - 1) // 2
    scaled = moments[..., 1:] / np.where(weight > 0, weight, 1.0)
    means, squares = scaled[..., :n_outputs], scaled[..., n_outputs:]
    return np.sum(np.maximum(squares - means**2, 0.0), axis=-1)


def shares(class_weights: FloatArray) -> FloatArray:
    """p_k: each class's share of the weight; all 0 where there is no weight."""
    total = class_weights.sum(axis=-1, keepdims=True)
    return class_weights / np.where(total > 0, total, 1.0)
