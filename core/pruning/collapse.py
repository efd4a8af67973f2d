"""Collapsing: subtrees that make no fewer training errors than a leaf in their place are cut.

C4.5 and J48 do so before any pruning, from the root down.
"""

from core.pruning.training_errors import training_errors
from core.tables.progress import Watch, ignore_progress, watched
from core.tree.history import Decision, Ledger, Method

NO_FEWER = 1e-3


def collapse(ledger: Ledger, watch: Watch = ignore_progress) -> None:
    """Cut every such subtree, and record its errors before and after; subtrees that stay are not recorded."""
    view, own = ledger.view, training_errors(ledger.tree)
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
