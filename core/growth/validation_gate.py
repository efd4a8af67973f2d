"""Pre-pruning by validation rows: a split is made only if validation accuracy strictly rises.

The split of a node does not depend on the validation rows. So the pre-pruned tree is a part of the tree that grows
without them, and its splits can be tried on the finished tree, in the order of growth.
"""

from dataclasses import dataclass, replace

import numpy as np

from core.arithmetic.arrays import FloatArray, RowArray
from core.growth.best_first import part_of
from core.growth.held_out import HeldOut, origin_of
from core.growth.samples import Samples
from core.missing.fractional_weights import send_down
from core.missing.surrogates import followed
from core.tables.progress import Watch, ignore_progress
from core.tree.tree import Tree, TreeView

Arrived = tuple[RowArray, FloatArray]


@dataclass(frozen=True)
class Trial:
    """A split that was tried: the credit of the validation rows without it, and with it."""

    node: int
    is_made: bool
    credit_before: float
    credit_after: float


def validated(
    tree: Tree, validation: Samples, *, costs: FloatArray | None = None, watch: Watch = ignore_progress
) -> tuple[Tree, list[Trial]]:
    """The part of the tree whose splits were tried, refused ones too, and the trials in their order.

    The order is depth first, left to right; nothing is tried below a refused split.
    """
    gate, trials, decided = ValidationGate(tree, validation, costs), list[Trial](), 0.0
    is_tried, waiting = np.zeros(len(tree), dtype=np.bool_), [0]
    while waiting:
        node = waiting.pop()
        is_tried[node] = tree.size[node] > 1
        if is_tried[node]:
            trials.append(gate.try_split(node))
        if is_tried[node] and trials[-1].is_made:
            waiting.extend(reversed(tree.children(node)))
        else:
            decided += float(tree.weight[node])
            watch(min(1.0, decided / float(tree.weight[0])))
    number = np.cumsum(TreeView(tree, ~is_tried).is_visible) - 1
    return part_of(tree, is_tried), [replace(trial, node=int(number[trial.node])) for trial in trials]


class ValidationGate:
    """Judges each split by the answers of the whole tree, in which undecided nodes are leaves."""

    def __init__(self, tree: Tree, validation: Samples, costs: FloatArray | None) -> None:
        self.tree = tree
        origin, weights = origin_of(tree.answers[0], tree.task), np.ones(len(validation))
        self._answers = tree.answers - origin
        self.held_out = HeldOut(validation, np.outer(weights, self._answers[0]), origin, costs)
        self._arrived: dict[int, Arrived] = {0: (validation.rows, weights)}

    def try_split(self, node: int) -> Trial:
        """Try the split of the root, or of a node whose parent was split; it is made if it helps."""
        rows, weights = self._arrived.pop(node)
        arrivals = self._sent_down(node, rows, weights)
        change = -np.outer(weights, self._answers[node])
        for child, (child_rows, child_weights) in arrivals.items():
            change[np.searchsorted(rows, child_rows)] += np.outer(child_weights, self._answers[child])
        before, after = self.held_out.credit, self.held_out.credit_after(rows, change)
        is_made = self.held_out.compare(after) > 0
        if is_made:
            self.held_out.accept(rows, change)
            self._arrived |= arrivals
        return Trial(node, is_made, before, after)

    def _sent_down(self, node: int, rows: RowArray, weights: FloatArray) -> dict[int, Arrived]:
        """The rows of the node that each child receives, with their weights."""
        attributes, children = self.held_out.samples.attributes, self.tree.children(node)
        shares, branch = self.tree.share[children], self.tree.split(node).branches_of(attributes.columns, rows)
        if self.tree.surrogates:
            branch = followed(attributes, rows, branch, self.tree.surrogates_of(node), shares)
        return dict(zip(children, send_down(rows, weights, branch, shares), strict=True))
