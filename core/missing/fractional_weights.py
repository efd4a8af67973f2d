"""A sample whose split attribute is missing goes down every branch with part of its weight.

For attribute a let D~ be the samples of D whose a is known:

    rho  = sum_{D~} w / sum_D w               how much is known
    r_v  = sum_{D~_v} w / sum_{D~} w          the share of branch v, so sum_v r_v = 1

A sample with a known goes to its branch with w unchanged, one without to every branch v with r_v w. The same routing
holds in training, in validation while pruning, and at prediction. C4.5 (Quinlan 1993).
"""

import numpy as np

from core.table import FloatArray, RowArray


def branch_shares(branch_weights: FloatArray) -> FloatArray:
    """r_v of each branch, from the weight of the samples known to go there; some weight is known."""
    return branch_weights / branch_weights.sum()


def send_down(
    rows: RowArray, weights: FloatArray, branch: RowArray, shares: FloatArray
) -> list[tuple[RowArray, FloatArray]]:
    """The rows and weights that each branch receives; `branch` is -1 where the attribute is missing.

    Rows keep their order, so that every later sum runs in row order.
    """
    received = []
    for v, share in enumerate(shares):
        fractions = np.where(branch == v, 1.0, np.where(branch < 0, share, 0.0))
        child_weights = weights * fractions
        kept = child_weights > 0
        received.append((rows[kept], child_weights[kept]))
    return received
