"""Subtrees that make no fewer training errors than their root would as a leaf are taken back.

C4.5 and J48 do so before any pruning, from the root down.
"""

import numpy as np

from core.progress import Watch, nobody, watched
from core.pruning.history import Decision, Ledger, Method
from core.table import FloatArray

NO_FEWER = 1e-3


def collapse(ledger: Ledger, watch: Watch = nobody) -> None:
    """Cut every such subtree, and write down its errors before and after; those that stay are not mentioned."""
    view, own = ledger.view, training_errors(ledger)
    below = own.copy()
    for node in watched(view.nodes[::-1], watch):  # children come after their parent
        if not view.is_leaf[node]:
            below[node] = sum(below[child] for child in ledger.tree.children(node))
    waiting = [0]
    while waiting:
        node = waiting.pop()
        if view.is_leaf[node]:
            continue
        if below[node] >= own[node] - NO_FEWER:
            before, after, weight = float(below[node]), float(own[node]), float(ledger.tree.weight[node])
            ledger.record(node, Method.COLLAPSE, Decision.CUT, before=before, after=after, evidence={"weight": weight})
        else:
            waiting.extend(reversed(ledger.tree.children(node)))


def training_errors(ledger: Ledger) -> FloatArray:
    """The weight of the training samples that each node's own label gets wrong; 0 where it received nothing."""
    tree = ledger.tree
    return tree.weight - tree.values[np.arange(len(tree)), tree.labels]
