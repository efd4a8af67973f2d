"""Cuts by Fayyad and Irani's minimum description length principle (1993): a cut must pay for its own description."""

import numpy as np

from core.arithmetic.arrays import FloatArray
from core.arithmetic.logarithms import log2
from core.arithmetic.ties import TIE
from core.criteria.gain import impurity_decrease
from core.criteria.impurity import entropy
from core.criteria.objective import Objective
from core.splits.numeric import best_cut
from core.tables.target import Task

BY_ENTROPY = Objective(Task.CLASSIFICATION, entropy)


def mdlp_cuts(values: FloatArray, class_weights: FloatArray) -> tuple[float, ...]:
    """The cuts of a column, ascending; `class_weights[i]` is row i's weight in its class, and all values are known.

    The best cut of a set S by information gain is accepted, and both sides are searched in turn, if

        Gain > log2(N - 1) / N + (log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2)) / N

    N is the weight of S; k, k1 and k2 are the numbers of classes present in S and on either side.
    """
    found = []
    waiting = [np.arange(len(values))]
    while waiting:
        rows = waiting.pop()
        here, sums = values[rows], class_weights[rows]
        cut = best_cut(here, sums, sums.sum(axis=1), BY_ENTROPY, min_weight=0.0) if len(rows) else None
        if cut is None:
            continue
        is_left = here <= cut.threshold
        if is_worth_telling(np.stack([sums[is_left].sum(axis=0), sums[~is_left].sum(axis=0)])):
            found.append(cut.threshold)
            waiting += [rows[is_left], rows[~is_left]]
    return tuple(sorted(found))


def is_worth_telling(sides: FloatArray) -> bool:
    """Whether a cut gains more than its description costs; `sides[s]` are the class weights of side s."""
    whole = sides.sum(axis=0)
    weight = float(whole.sum())
    if weight <= 1:
        return False
    k, k_left, k_right = (int(np.count_nonzero(weights)) for weights in (whole, *sides))
    entropies = k * entropy(whole) - k_left * entropy(sides[0]) - k_right * entropy(sides[1])
    cost = (log2(weight - 1) + log2(3**k - 2) - float(entropies)) / weight
    return float(impurity_decrease(entropy, sides, sides.sum(axis=1))) > cost + TIE
