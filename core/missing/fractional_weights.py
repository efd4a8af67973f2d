"""A sample whose split attribute is missing goes down every branch with part of its weight.

For attribute a let D~ be the samples of D whose a is known:

    rho  = sum_{D~} w / sum_D w               the known share of the weight
    r_v  = sum_{D~_v} w / sum_{D~} w          the share of branch v, so sum_v r_v = 1

A sample whose a is known goes to its branch with weight w, any other to every branch v with r_v w. Rows are routed in
this way in training, in validation while pruning, and at prediction. C4.5 (Quinlan 1993).
"""

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.arithmetic.sums import in_row_order
from core.arithmetic.ties import TIE, first_within_tie


def branch_shares(branch_weights: FloatArray) -> FloatArray:
    """r_v of each branch, from the weight of the samples known to go there, which is not 0 in all."""
    return branch_weights / in_row_order(branch_weights)


def without_light_copies(weights: FloatArray, branch: RowArray, shares: FloatArray, min_copy_weight: float) -> RowArray:
    """The branches, where rows whose smallest part would weigh too little are sent to the heaviest branch as a whole.

    This limits how many copies of a row there can be.
    """
    smallest = shares[shares > 0].min()
    is_light = (branch < 0) & (weights * smallest < min_copy_weight - TIE)
    return np.where(is_light, first_within_tie(shares), branch)


def send_down(
    rows: RowArray, weights: FloatArray, branch: RowArray, shares: FloatArray
) -> list[tuple[RowArray, FloatArray]]:
    """The rows and weights that each branch receives; `branch` is -1 where the attribute is missing.

    Rows keep their order, so that every later sum runs in row order.
    """
    known, unknown = np.flatnonzero(branch >= 0), np.flatnonzero(branch < 0)
    # Sorted once instead of searched for each branch: an attribute may have a branch for every row. NumPy sorts short
    # integers by counting.
    of_known = branch[known].astype(np.min_scalar_type(len(shares)))
    by_branch = known[np.argsort(of_known, kind="stable")]
    ends = np.cumsum(np.bincount(of_known, minlength=len(shares)))
    received = []
    for positions, share in zip(np.split(by_branch, ends[:-1]), shares, strict=True):
        if len(unknown) == 0 or share == 0:
            received.append((rows[positions], weights[positions]))
            continue
        both = np.sort(np.concatenate([positions, unknown]))
        child_weights = weights[both] * np.where(branch[both] < 0, share, 1.0)
        kept = child_weights > 0
        received.append((rows[both[kept]], child_weights[kept]))
    return received
