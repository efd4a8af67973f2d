"""Reduced-error pruning: cuts subtrees that do not help on validation rows.

Bottom-up, the deepest nodes first, left to right within a depth; a subtree becomes a leaf if accuracy strictly rises
(or, on request, stays the same). For numbers the mean squared error is used instead of accuracy, and the mean cost if
wrong answers have costs. Quinlan 1987.
"""

import numpy as np

from core.config.options import OnTie
from core.growth.held_out import HeldOut
from core.growth.samples import Samples
from core.growth.validation_gate import Trial
from core.pruning.held_out_tree import HeldOutTree
from core.tables.progress import Watch, ignore_progress, part_of, watched
from core.tables.target import ClassTarget
from core.tree.history import Decision, Ledger, Method

SENDING = 0.1  # the approximate part of the work that routes the rows


def prune_by_validation(
    ledger: Ledger, validation: Samples, on_tie: OnTie, *, kernels: bool = False, watch: Watch = ignore_progress
) -> None:
    """Decide about every inner node left, and record each decision."""
    tree, view = ledger.tree, ledger.view
    judged = HeldOutTree(view, validation, kernels=kernels, watch=part_of(watch, 0.0, SENDING))
    deepest_first = sorted(view.nodes, key=lambda node: (-tree.depth[node], node))
    for node in watched(deepest_first, part_of(watch, SENDING, 1.0)):
        if view.is_leaf[node]:
            continue
        before, after = judged.held_out.credit, judged.credit_if_cut(node)
        outcome = judged.held_out.compare(after)
        is_cut = outcome > 0 or (outcome == 0 and on_tie is OnTie.CUT)
        if is_cut:
            judged.cut(node)
        record_judgement(ledger, node, Method.REDUCED_ERROR, judged.held_out, is_cut, before, after)


def record_trials(ledger: Ledger, validation: Samples, trials: list[Trial]) -> None:
    """Record the splits that were tried while the tree grew: a refused one is a cut."""
    nothing = np.zeros((len(validation), ledger.tree.values.shape[1]))
    held_out = HeldOut(validation, nothing, nothing[0], ledger.tree.costs)
    for trial in trials:
        is_cut, before, after = not trial.is_made, trial.credit_before, trial.credit_after
        n_branches = len(ledger.tree.children(trial.node))  # those were the leaves when it was tried
        record_judgement(
            ledger, trial.node, Method.VALIDATE_SPLITS, held_out, is_cut, before, after, branch_leaves=n_branches
        )


def record_judgement(
    ledger: Ledger,
    node: int,
    method: Method,
    held_out: HeldOut,
    is_cut: bool,
    before: float,
    after: float,
    *,
    branch_leaves: int | None = None,
) -> None:
    """Record one decision, with the counts behind it."""
    evidence = {"rows": float(len(held_out.samples)), "weight": held_out.weight}
    if branch_leaves is not None:
        evidence["branch_leaves"] = float(branch_leaves)
    if held_out.costs is not None:
        evidence |= {"cost_before": 0.0 - before, "cost_after": 0.0 - after}
    elif isinstance(held_out.samples.target, ClassTarget):
        evidence |= {"correct_before": before, "correct_after": after}
    ledger.record(
        node,
        method,
        Decision.CUT if is_cut else Decision.KEPT,
        before=held_out.measure(before),
        after=held_out.measure(after),
        evidence=evidence,
    )
